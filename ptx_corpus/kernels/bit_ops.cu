// popc, clz, brev, ffs, bfind (all forms), bfe, bfi, fns, bmsk, szext, mul24, sad, of 32 and 64 bits.
#define OP2(k, op) asm(op " %0, %1, %2;" : "=r"(o[k]) : "r"(x), "r"(y))
extern "C" __global__ void bit_ops(const unsigned *a, const unsigned *b, unsigned *out,
                                   unsigned long long *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], *o = out + i * 24;
    unsigned long long v = (unsigned long long)x << 32 | y, *w = wide + i * 6;
    o[0] = __popc(x);
    o[1] = __clz(x);
    o[2] = __brev(x);
    o[3] = __ffs(x & y);
    asm("bfind.u32 %0, %1;" : "=r"(o[4]) : "r"(x >> (y & 31)));
    asm("bfind.s32 %0, %1;" : "=r"(o[5]) : "r"((int)x >> (y & 31)));
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(o[6]) : "r"(x & y & 0xffff));
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(o[7]) : "r"(x), "r"(y), "r"(y >> 8));
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(o[8]) : "r"(x), "r"(y & 31), "r"(y >> 9 & 31));
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(o[9]) : "r"(x), "r"(y), "r"(y >> 3 & 31), "r"(x >> 7 & 31));
    asm("fns.b32 %0, %1, %2, %3;" : "=r"(o[10]) : "r"(x), "r"(y & 31), "r"((int)(y >> 28) - 7));
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(o[11]) : "r"(x & 63), "r"(y & 63));
    asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(o[12]) : "r"(x & 63), "r"(y & 63));
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(o[13]) : "r"(x), "r"(y & 63));
    asm("szext.wrap.u32 %0, %1, %2;" : "=r"(o[14]) : "r"(x), "r"(y & 63));
    OP2(15, "mul24.lo.s32");
    OP2(16, "mul24.hi.u32");
    asm("mad24.lo.u32 %0, %1, %2, %3;" : "=r"(o[17]) : "r"(x), "r"(y), "r"(7));
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(o[18]) : "r"(x), "r"(y), "r"(3));
    OP2(19, "shl.b32");
    OP2(20, "shr.s32");
    asm("shr.u32 %0, %1, %2;" : "=r"(o[21]) : "r"(x), "r"(y & 63));
    asm("cnot.b32 %0, %1;" : "=r"(o[22]) : "r"(x & y & 3));
    asm("abs.s32 %0, %1;" : "=r"(o[23]) : "r"(x));
    w[0] = __popcll(v) * 100 + __clzll(v);
    w[1] = __brevll(v);
    w[2] = __ffsll(v & ~255ull);
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(w[3]) : "l"(v), "r"(y & 63), "r"(x & 63));
    asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(w[4]) : "l"(v), "l"(~v * 3), "r"(x & 63), "r"(y & 63));
    unsigned f;
    asm("bfind.u64 %0, %1;" : "=r"(f) : "l"(v >> (x & 63)));
    w[5] = f;
}
