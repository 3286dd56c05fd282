// e4m3 matrix product, mma m16n8k32 with f16 accumulators; rows beyond m are zero.
extern "C" __global__ void fp8_gemm_f16(const unsigned *a, const unsigned *bt, unsigned *c, int m,
                                        int n, int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4, kw = k / 4, row = blockIdx.y * 16 + g;
    const unsigned *pa = a + row * kw + q, *pb = bt + (blockIdx.x * 8 + g) * kw + q;
    unsigned c0 = 0, c1 = 0;
    bool lo = row < m, hi = row + 8 < m;
    for (int k0 = 0; k0 < kw; k0 += 8)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%0,%1}, {%2,%3,%4,%5}, "
                     "{%6,%7}, {%0,%1};"
                     : "+r"(c0), "+r"(c1)
                     : "r"(lo ? pa[k0] : 0), "r"(hi ? pa[8 * kw + k0] : 0), "r"(lo ? pa[k0 + 4] : 0),
                       "r"(hi ? pa[8 * kw + k0 + 4] : 0), "r"(pb[k0]), "r"(pb[k0 + 4]));
    unsigned *pc = c + row * (n / 2) + blockIdx.x * 4 + q;
    if (lo)
        pc[0] = c0;
    if (hi)
        pc[8 * (n / 2)] = c1;
}
