// f16 matrix product with f32 sums: mma m16n8k16, ldmatrix and ldmatrix.trans, zero-padded tiles.
#include <cuda_fp16.h>
extern "C" __global__ void hgemm_mma(const __half *a, const __half *b, float *c, int m, int n,
                                     int k)
{
    __shared__ __align__(16) __half ta[32][24], tb[16][24];
    int t = threadIdx.x, warp = t >> 5, lane = t & 31;
    int row0 = blockIdx.y * 32, col0 = blockIdx.x * 16;
    float acc[2][4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int i = t; i < 32 * 16; i += 64) {
            int r = row0 + i / 16, q = k0 + i % 16;
            ta[i / 16][i % 16] = r < m && q < k ? a[r * k + q] : __ushort_as_half(0);
        }
        for (int i = t; i < 16 * 16; i += 64) {
            int q = k0 + i / 16, r = col0 + i % 16;
            tb[i / 16][i % 16] = q < k && r < n ? b[q * n + r] : __ushort_as_half(0);
        }
        __syncthreads();
        unsigned af[4], bf[4];
        unsigned pa = __cvta_generic_to_shared(&ta[warp * 16 + (lane & 15)][(lane >> 4) * 8]);
        unsigned pb = __cvta_generic_to_shared(&tb[lane & 15][(lane >> 4) * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(af[0]), "=r"(af[1]), "=r"(af[2]), "=r"(af[3])
                     : "r"(pa));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(bf[0]), "=r"(bf[1]), "=r"(bf[2]), "=r"(bf[3])
                     : "r"(pb));
        for (int j = 0; j < 2; j++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                         "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                         : "r"(af[0]), "r"(af[1]), "r"(af[2]), "r"(af[3]), "r"(bf[2 * j]),
                           "r"(bf[2 * j + 1]));
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        for (int e = 0; e < 4; e++) {
            int r = row0 + warp * 16 + lane / 4 + (e >> 1) * 8;
            int q = col0 + j * 8 + lane % 4 * 2 + (e & 1);
            if (r < m && q < n)
                c[r * n + q] = acc[j][e];
        }
}
