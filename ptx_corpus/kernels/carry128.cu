// 128-bit integers from the compiler, and add.cc/addc/sub.cc/subc/mad.lo.cc/madc.hi chains.
extern "C" __global__ void carry128(const unsigned long long *a, const unsigned long long *b,
                                    unsigned long long *out, unsigned *words, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned __int128 x = (unsigned __int128)a[2 * i + 1] << 64 | a[2 * i];
    unsigned __int128 y = (unsigned __int128)b[2 * i + 1] << 64 | b[2 * i];
    unsigned __int128 r[5] = {x + y, x - y, x * y, x >> (i % 128), x << (i % 128)};
    for (int k = 0; k < 5; k++) {
        out[i * 10 + 2 * k] = (unsigned long long)r[k];
        out[i * 10 + 2 * k + 1] = (unsigned long long)(r[k] >> 64);
    }
    unsigned a0 = a[2 * i], a1 = a[2 * i] >> 32, b0 = b[2 * i], b1 = b[2 * i] >> 32, *w = words + i * 12;
    asm("add.cc.u32 %0, %3, %5; addc.cc.u32 %1, %4, %6; addc.u32 %2, 0, 0;"
        : "=&r"(w[0]), "=&r"(w[1]), "=r"(w[2])
        : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
    asm("sub.cc.u32 %0, %3, %5; subc.cc.u32 %1, %4, %6; subc.u32 %2, 0, 0;"
        : "=&r"(w[3]), "=&r"(w[4]), "=r"(w[5])
        : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
    asm("mul.lo.u32 %0, %4, %6; mul.hi.u32 %1, %4, %6; mad.lo.cc.u32 %1, %5, %6, %1; "
        "madc.hi.u32 %2, %5, %6, 0; mad.lo.cc.u32 %1, %4, %7, %1; madc.hi.cc.u32 %2, %4, %7, %2; "
        "addc.u32 %3, 0, 0; mad.lo.cc.u32 %2, %5, %7, %2; madc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(w[6]), "=&r"(w[7]), "=&r"(w[8]), "=&r"(w[9])
        : "r"(a0), "r"(a1), "r"(b0), "r"(b1));
    unsigned long long lo, hi;
    asm("add.cc.u64 %0, %2, %3; addc.u64 %1, 0, 0;" : "=&l"(lo), "=l"(hi) : "l"(a[2 * i]), "l"(b[2 * i]));
    w[10] = (unsigned)(lo >> 32);
    w[11] = (unsigned)hi;
}
