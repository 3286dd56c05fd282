// fp4 with block scales and f32 sums: .kind::mxf4nvf4 with ue4m3 scales of 16 of k, and .kind::mxf4 with ue8m0 scales of 32.
// a: m x k/2 bytes of two elements; bt: n x k/2; sa, sb: a row of k/16 scales; xa, xb: of k/32. One warp: 16 rows, 8 columns.
extern "C" __global__ void nvfp4_gemm(const unsigned *a, const unsigned *sa, const unsigned *xa, const unsigned *bt,
                                      const unsigned *sb, const unsigned *xb, float *c, float *cx, int m, int n, int k)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4, row = blockIdx.y * 16, col = blockIdx.x * 8;
    float d[4] = {}, x[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    for (int k0 = 0; k0 < k; k0 += 64) {
        unsigned af[4], bf[2];
        for (int i = 0; i < 4; i++) {
            int r = row + g + (i & 1) * 8;
            af[i] = r < m ? a[r * (k / 8) + k0 / 8 + t + (i >> 1) * 4] : 0;
        }
        for (int i = 0; i < 2; i++)
            bf[i] = col + g < n ? bt[(col + g) * (k / 8) + k0 / 8 + t + i * 4] : 0;
        int r = row + g + 8 * (t & 1);
        // Thread pair 0 and thread 2 have the scales of the one, pair 1 and thread 3 of the other.
        unsigned wa = r >= m ? 0 : t < 2 ? sa[r * (k / 64) + k0 / 64] : xa[r * (k / 128) + k0 / 128];
        unsigned wb = col + g >= n ? 0 : t == 2 ? sb[(col + g) * (k / 64) + k0 / 64] : xb[(col + g) * (k / 128) + k0 / 128];
        unsigned short upper = k0 & 64 ? 2 : 0;
        asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 2};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(af[0]), "r"(af[1]), "r"(af[2]), "r"(af[3]), "r"(bf[0]), "r"(bf[1]), "r"(wa), "r"(wb));
        asm volatile("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, %10, {%12, 1}, %11, {%12, 3};"
                     : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
                     : "r"(af[0]), "r"(af[1]), "r"(af[2]), "r"(af[3]), "r"(bf[0]), "r"(bf[1]), "r"(wa), "r"(wb), "h"(upper));
    }
    for (int i = 0; i < 4; i++) {
        int r = row + g + (i >> 1) * 8, q = col + t * 2 + (i & 1);
        if (r < m && q < n) {
            c[r * n + q] = d[i];
            cx[r * n + q] = x[i];
        }
    }
}
