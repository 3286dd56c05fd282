// Block-scaled product with f32 sums, .kind::mxf8f6f4: e4m3 x e2m1 (in bytes) and e3m2 x e5m2, ue8m0 scales of 32 of k.
// a: m x k bytes; bt: n x k; sa: m x k/32 scales; sb: n x k/32. One warp: 16 rows, 8 columns; k is a multiple of 128.
template <int KIND> __device__ void product(const unsigned char *a, const unsigned char *sa, const unsigned char *bt,
                                            const unsigned char *sb, float *c, int m, int n, int k)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
    float d[4] = {};
    for (int k0 = 0; k0 < k; k0 += 128) {
        // Four scales of a row in a word. Thread pairs and threads are chosen below: 2 and 3 have those of A, 1 those of B.
        int r = row + g + 8 * (t & 1);
        unsigned wa = t >= 2 && r < m ? *(const unsigned *)(sa + r * (k / 32) + k0 / 32) : 0xffffffff;
        unsigned wb = t == 1 && col + g < n ? *(const unsigned *)(sb + (col + g) * (k / 32) + k0 / 32) : 0xffffffff;
        for (unsigned short step = 0; step < 4; step++) {
            unsigned af[4], bf[2];
            for (int i = 0; i < 4; i++) {
                int q = row + g + (i & 1) * 8;
                af[i] = q < m ? *(const unsigned *)(a + q * k + k0 + step * 32 + t * 4 + (i >> 1) * 16) : 0;
            }
            for (int i = 0; i < 2; i++)
                bf[i] = col + g < n ? *(const unsigned *)(bt + (col + g) * k + k0 + step * 32 + t * 4 + i * 16) : 0;
            if (KIND == 0)
                asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e2m1.f32.ue8m0 "
                             "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {%12, 1}, {%11}, {%12, 1};"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                             : "r"(af[0]), "r"(af[1]), "r"(af[2]), "r"(af[3]), "r"(bf[0]), "r"(bf[1]), "r"(wa), "r"(wb), "h"(step));
            else
                asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e5m2.f32.ue8m0 "
                             "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, %10, {%12, 1}, %11, {%12, 1};"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                             : "r"(af[0]), "r"(af[1]), "r"(af[2]), "r"(af[3]), "r"(bf[0]), "r"(bf[1]), "r"(wa), "r"(wb), "h"(step));
        }
    }
    for (int i = 0; i < 4; i++) {
        int r = row + g + (i >> 1) * 8, q = col + t * 2 + (i & 1);
        if (r < m && q < n) c[r * n + q] = d[i];
    }
}
extern "C" __global__ void mxfp8_gemm(const unsigned char *a, const unsigned char *sa, const unsigned char *bt,
                                      const unsigned char *sb, float *c, float *c32, int m, int n, int k)
{
    product<0>(a, sa, bt, sb, c, m, n, k);
    product<1>(a, sa, bt, sb, c32, m, n, k);
}
