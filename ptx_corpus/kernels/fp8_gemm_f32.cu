// mma m16n8k32 with f32 accumulators: e4m3 x e4m3, and e5m2 x e4m3 over the same bytes.
extern "C" __global__ void fp8_gemm_f32(const unsigned *a, const unsigned *bt, float *c, float *c52,
                                        int n, int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4, kw = k / 4;
    const unsigned *pa = a + (blockIdx.y * 16 + g) * kw + q, *pb = bt + (blockIdx.x * 8 + g) * kw + q;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0, e0 = 0, e1 = 0, e2 = 0, e3 = 0;
    for (int k0 = 0; k0 < kw; k0 += 8) {
        unsigned a0 = pa[k0], a1 = pa[8 * kw + k0], a2 = pa[k0 + 4], a3 = pa[8 * kw + k0 + 4];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(pb[k0]), "r"(pb[k0 + 4]));
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(e0), "+f"(e1), "+f"(e2), "+f"(e3)
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(pb[k0]), "r"(pb[k0 + 4]));
    }
    int at = (blockIdx.y * 16 + g) * n + blockIdx.x * 8 + q * 2;
    c[at] = d0, c[at + 1] = d1, c[at + 8 * n] = d2, c[at + 8 * n + 1] = d3;
    c52[at] = e0, c52[at + 1] = e1, c52[at + 8 * n] = e2, c52[at + 8 * n + 1] = e3;
}
