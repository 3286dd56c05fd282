// mma m16n8k8 and m16n8k4 of tf32, operands rounded by cvt.rna.tf32.f32.
__device__ unsigned to_tf32(float x)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
extern "C" __global__ void tf32_mma(const float *a, const float *bt, float *c, float *c4, int n,
                                    int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4;
    const float *pa = a + (blockIdx.y * 16 + g) * k + q, *pb = bt + (blockIdx.x * 8 + g) * k + q;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0, e0 = 1, e1 = 2, e2 = 3, e3 = 4;
    for (int k0 = 0; k0 < k; k0 += 8)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                     : "r"(to_tf32(pa[k0])), "r"(to_tf32(pa[8 * k + k0])),
                       "r"(to_tf32(pa[k0 + 4])), "r"(to_tf32(pa[8 * k + k0 + 4])),
                       "r"(to_tf32(pb[k0])), "r"(to_tf32(pb[k0 + 4])));
    for (int k0 = 0; k0 < k; k0 += 4)
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, "
                     "{%6}, {%0,%1,%2,%3};"
                     : "+f"(e0), "+f"(e1), "+f"(e2), "+f"(e3)
                     : "r"(to_tf32(pa[k0])), "r"(to_tf32(pa[8 * k + k0])), "r"(to_tf32(pb[k0])));
    int at = (blockIdx.y * 16 + g) * n + blockIdx.x * 8 + q * 2;
    c[at] = d0, c[at + 1] = d1, c[at + 8 * n] = d2, c[at + 8 * n + 1] = d3;
    c4[at] = e0, c4[at + 1] = e1, c4[at + 8 * n] = e2, c4[at + 8 * n + 1] = e3;
}
