// Sparse integer mma with metadata in any order: m16n8k64 s8 x u8, m16n8k128 s4 x s4 with saturation, m16n8k16 tf32 of whole numbers.
extern "C" __global__ void sparse_imma(const unsigned *a, const unsigned *e, const unsigned *bt, const unsigned *e32,
                                       const float *a32, const float *bt32, int *out, float *out32)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    // a: 16 rows of 8 words; bt: 8 columns of 16 words; e: 16 rows of 2 words, of which this lane holds one.
    const unsigned *pa = a + g * 8 + t, *pb = bt + g * 16 + t;
    unsigned a0 = pa[0], a1 = pa[64], a2 = pa[4], a3 = pa[68], b0 = pb[0], b1 = pb[4], b2 = pb[8], b3 = pb[12];
    unsigned meta = e[(g + 8 * (t & 1)) * 2 + t / 2];
    int d[2][4] = {{1, -2, 3, -4}, {2147483647, -2147483647 - 1, 2147483000, -2147483000}};
    asm volatile("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0;"
                 : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(meta));
    asm volatile("mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.s4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0;"
                 : "+r"(d[1][0]), "+r"(d[1][1]), "+r"(d[1][2]), "+r"(d[1][3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(b2), "r"(b3), "r"(meta));
    // tf32: 16 rows of 8 stored elements, whose 4 bits each are the row's word of e32; 8 columns of 16.
    const float *fa = a32 + g * 8 + t, *fb = bt32 + g * 16 + t;
    unsigned low = e32[g], high = e32[g + 8], half = t & 1;
    unsigned meta32 = half ? low >> 16 | (high & 0xffff0000) : (low & 0xffff) | high << 16;
    float f[4] = {};
    asm volatile("mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 1;"
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
                 : "r"(__float_as_uint(fa[0])), "r"(__float_as_uint(fa[64])), "r"(__float_as_uint(fa[4])),
                   "r"(__float_as_uint(fa[68])), "r"(__float_as_uint(fb[0])), "r"(__float_as_uint(fb[4])),
                   "r"(__float_as_uint(fb[8])), "r"(__float_as_uint(fb[12])), "r"(meta32));
    for (int i = 0; i < 4; i++) {
        int at = (g + (i >> 1) * 8) * 8 + t * 2 + (i & 1);
        out[at] = d[0][i];
        out[128 + at] = d[1][i];
        out32[at] = f[i];
    }
}
