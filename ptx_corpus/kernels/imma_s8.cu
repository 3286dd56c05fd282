// Integer mma m16n8k32: s8 x s8 wrapping, s8 x s8 .satfinite from a large accumulator, u8 x s8.
extern "C" __global__ void imma_s8(const unsigned *a, const unsigned *bt, int *c, int *sat,
                                   int *mixed, int n, int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4, kw = k / 4;
    const unsigned *pa = a + (blockIdx.y * 16 + g) * kw + q, *pb = bt + (blockIdx.x * 8 + g) * kw + q;
    int d[4] = {2147483000, 0, -2147483000, 5}, e[4] = {2147483000, 0, -2147483000, 5}, f[4] = {};
    for (int k0 = 0; k0 < kw; k0 += 8) {
        unsigned a0 = pa[k0], a1 = pa[8 * kw + k0], a2 = pa[k0 + 4], a3 = pa[8 * kw + k0 + 4];
        unsigned b0 = pb[k0], b1 = pb[k0 + 4];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(f[0]), "+r"(f[1]), "+r"(f[2]), "+r"(f[3])
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    int at = (blockIdx.y * 16 + g) * n + blockIdx.x * 8 + q * 2;
    for (int i = 0; i < 4; i++) {
        int p = at + (i >> 1) * 8 * n + (i & 1);
        c[p] = d[i];
        sat[p] = e[i];
        mixed[p] = f[i];
    }
}
