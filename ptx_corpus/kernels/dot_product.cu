// dp4a and dp2a of every signedness, and SIMD intrinsics that become ordinary arithmetic.
extern "C" __global__ void dot_product(const unsigned *a, const unsigned *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = a[i], y = b[i], *o = out + i * 14, r;
    o[0] = __dp4a(x, y, -5);
    o[1] = __dp4a((unsigned)x, (unsigned)y, 7u);
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i));
    o[2] = r;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i));
    o[3] = r;
    o[4] = __dp2a_lo(x, y, 100);
    o[5] = __dp2a_hi((unsigned)x, (unsigned)y, 100u);
    asm("dp2a.lo.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i));
    o[6] = r;
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(i));
    o[7] = r;
    o[8] = __vadd4(x, y);
    o[9] = __vabsdiffu4(x, y);
    o[10] = __vcmpgts2(x, y);
    o[11] = __vavgu4(x, y);
    o[12] = __usad(x, y, 9);
    o[13] = __sad(x, y, 9u);
}
