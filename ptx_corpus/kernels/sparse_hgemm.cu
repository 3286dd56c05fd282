// 2:4 sparse f16 product with f32 sums: mma.sp m16n8k32, two tiles of rows share the metadata registers of a warp.
#include <cuda_fp16.h>
// a: m x k/2 stored elements; e: 2 bits for each of them, 32 bits of a row for 32 of k; bt: n x k. One warp: 32 rows, 8 columns.
extern "C" __global__ void sparse_hgemm(const __half *a, const unsigned *e, const __half *bt, float *c,
                                        int m, int n, int k)
{
    int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
    int row0 = (blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32) * 32, col = blockIdx.x * 8 + g;
    float acc[2][4] = {};
    for (int k0 = 0; k0 < k; k0 += 32) {
        unsigned af[2][4], bf[4];
        for (int tile = 0; tile < 2; tile++)
            for (int i = 0; i < 4; i++) {
                int r = row0 + tile * 16 + g + (i & 1) * 8, q = k0 / 2 + t * 2 + (i >> 1) * 8;
                af[tile][i] = r < m ? *(const unsigned *)(a + r * (k / 2) + q) : 0;
            }
        for (int i = 0; i < 4; i++)
            bf[i] = col < n ? *(const unsigned *)(bt + col * k + k0 + t * 2 + i * 8) : 0;
        // Threads 0 and 1 have the metadata of the first tile, 2 and 3 of the second: rows g and g + 8 of 16 k.
        int r = row0 + t / 2 * 16 + g, half = t & 1;
        unsigned low = r < m ? e[r * (k / 32) + k0 / 32] : 0x44444444;
        unsigned high = r + 8 < m ? e[(r + 8) * (k / 32) + k0 / 32] : 0x44444444;
        unsigned meta = half ? low >> 16 | (high & 0xffff0000) : (low & 0xffff) | high << 16;
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
                     : "+f"(acc[0][0]), "+f"(acc[0][1]), "+f"(acc[0][2]), "+f"(acc[0][3])
                     : "r"(af[0][0]), "r"(af[0][1]), "r"(af[0][2]), "r"(af[0][3]), "r"(bf[0]), "r"(bf[1]),
                       "r"(bf[2]), "r"(bf[3]), "r"(meta));
        asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x1;"
                     : "+f"(acc[1][0]), "+f"(acc[1][1]), "+f"(acc[1][2]), "+f"(acc[1][3])
                     : "r"(af[1][0]), "r"(af[1][1]), "r"(af[1][2]), "r"(af[1][3]), "r"(bf[0]), "r"(bf[1]),
                       "r"(bf[2]), "r"(bf[3]), "r"(meta));
    }
    for (int tile = 0; tile < 2; tile++)
        for (int i = 0; i < 4; i++) {
            int r = row0 + tile * 16 + g + (i >> 1) * 8, q = blockIdx.x * 8 + t * 2 + (i & 1);
            if (r < m && q < n) c[r * n + q] = acc[tile][i];
        }
}
