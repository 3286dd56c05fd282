// mma m16n8k8 with f16 accumulators (sm_75), fragments straight from global memory.
extern "C" __global__ void hgemm_f16acc(const unsigned *a, const unsigned *bt, unsigned *c, int n,
                                        int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4, kw = k / 2;
    const unsigned *pa = a + (blockIdx.y * 16 + g) * kw + q, *pb = bt + (blockIdx.x * 8 + g) * kw + q;
    unsigned c0 = 0, c1 = 0;
    for (int k0 = 0; k0 < kw; k0 += 4)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, "
                     "{%0,%1};"
                     : "+r"(c0), "+r"(c1)
                     : "r"(pa[k0]), "r"(pa[8 * kw + k0]), "r"(pb[k0]));
    unsigned *pc = c + (blockIdx.y * 16 + g) * (n / 2) + blockIdx.x * 4 + q;
    pc[0] = c0;
    pc[8 * (n / 2)] = c1;
}
