// mma m16n8k16 and m16n8k8 of bf16 with f32 accumulators.
extern "C" __global__ void bf16_mma(const unsigned *a, const unsigned *bt, float *c, float *c8,
                                    int n, int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4, kw = k / 2;
    const unsigned *pa = a + (blockIdx.y * 16 + g) * kw + q, *pb = bt + (blockIdx.x * 8 + g) * kw + q;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0, e0 = 1, e1 = 2, e2 = 3, e3 = 4;
    for (int k0 = 0; k0 < kw; k0 += 8)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                     : "r"(pa[k0]), "r"(pa[8 * kw + k0]), "r"(pa[k0 + 4]), "r"(pa[8 * kw + k0 + 4]),
                       "r"(pb[k0]), "r"(pb[k0 + 4]));
    for (int k0 = 0; k0 < kw; k0 += 4)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, "
                     "{%6}, {%0,%1,%2,%3};"
                     : "+f"(e0), "+f"(e1), "+f"(e2), "+f"(e3)
                     : "r"(pa[k0]), "r"(pa[8 * kw + k0]), "r"(pb[k0]));
    int at = (blockIdx.y * 16 + g) * n + blockIdx.x * 8 + q * 2;
    c[at] = d0, c[at + 1] = d1, c[at + 8 * n] = d2, c[at + 8 * n + 1] = d3;
    c8[at] = e0, c8[at + 1] = e1, c8[at + 8 * n] = e2, c8[at + 8 * n + 1] = e3;
}
