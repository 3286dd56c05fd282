// Video instructions by inline PTX: scalar v* with byte selectors, two- and four-lane forms.
#define V4(k, op) asm(op " %0, %1, %2, %3;" : "=r"(o[k]) : "r"(x), "r"(y), "r"(z))
extern "C" __global__ void video(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], z = a[(i + 1) % n], *o = out + i * 28;
    V4(0, "vadd4.u32.u32.u32");
    V4(1, "vadd4.s32.s32.s32.sat");
    V4(2, "vsub4.s32.s32.s32.sat");
    V4(3, "vabsdiff4.u32.u32.u32.add");
    V4(4, "vabsdiff4.s32.s32.s32");
    V4(5, "vmin4.s32.s32.s32");
    V4(6, "vmax4.u32.u32.u32");
    V4(7, "vavrg4.u32.u32.u32");
    V4(8, "vavrg4.s32.s32.s32");
    V4(9, "vset4.u32.u32.gt");
    V4(10, "vset4.s32.s32.le");
    V4(11, "vadd2.s32.s32.s32.sat");
    V4(12, "vsub2.u32.u32.u32.sat");
    V4(13, "vabsdiff2.s32.s32.s32");
    V4(14, "vmax2.s32.s32.s32");
    V4(15, "vmin2.u32.u32.u32");
    V4(16, "vavrg2.u32.u32.u32");
    V4(17, "vset2.s32.s32.lt");
    asm("vadd.s32.u32.s32 %0, %1.b1, %2.h1;" : "=r"(o[18]) : "r"(x), "r"(y));
    asm("vsub.u32.u32.u32.sat %0, %1.h0, %2.b3;" : "=r"(o[19]) : "r"(x), "r"(y));
    asm("vabsdiff.s32.s32.s32.add %0, %1.b0, %2.b2, %3;" : "=r"(o[20]) : "r"(x), "r"(y), "r"(z));
    asm("vmin.s32.s32.s32.max %0, %1, %2, %3;" : "=r"(o[21]) : "r"(x), "r"(y), "r"(z));
    asm("vshl.u32.u32.u32.clamp %0, %1, %2.b0;" : "=r"(o[22]) : "r"(x), "r"(y));
    asm("vshr.s32.s32.u32.wrap %0, %1.h1, %2.b1;" : "=r"(o[23]) : "r"(x), "r"(y));
    asm("vmad.s32.s32.s32 %0, %1.b1, %2.h0, %3;" : "=r"(o[24]) : "r"(x), "r"(y), "r"(z));
    asm("vset.s32.u32.lt %0, %1.b2, %2.h0;" : "=r"(o[25]) : "r"(x), "r"(y));
    asm("vadd.u32.u32.u32 %0.b2, %1.b0, %2.b1, %3;" : "=r"(o[26]) : "r"(x), "r"(y), "r"(z));
    asm("vmax.s32.s32.s32 %0.h1, %1.h0, %2.h1, %3;" : "=r"(o[27]) : "r"(x), "r"(y), "r"(z));
}
