// f32 .ftz and .sat forms, min/max with NaN and signed zero, abs, neg, copysign, testp, slct, set.
#define F2(k, op) asm(op " %0, %1, %2;" : "=f"(o[k]) : "f"(x), "f"(y))
#define F3(k, op) asm(op " %0, %1, %2, %3;" : "=f"(o[k]) : "f"(x), "f"(y), "f"(z))
#define TESTP(bit, what)                                                                           \
    asm("{ .reg .pred p; testp." what ".f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(t) : "f"(x));     \
    m |= t << bit
#define SETP(bit, what)                                                                            \
    asm("{ .reg .pred p; setp." what ".f32 p, %1, %2; selp.u32 %0, 1, 0, p; }"                     \
        : "=r"(t)                                                                                  \
        : "f"(x), "f"(y));                                                                         \
    m |= t << bit
extern "C" __global__ void f32_ftz_sat(const float *a, const float *b, const float *c, float *out,
                                       unsigned *flags, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], z = c[i], *o = out + i * 22;
    F2(0, "add.ftz.f32");
    F2(1, "sub.rz.ftz.f32");
    F2(2, "mul.ftz.f32");
    F3(3, "fma.rn.ftz.f32");
    F2(4, "add.sat.f32");
    F2(5, "mul.ftz.sat.f32");
    F3(6, "fma.rn.sat.f32");
    F2(7, "min.f32");
    F2(8, "max.f32");
    F2(9, "min.NaN.f32");
    F2(10, "max.ftz.f32");
    float xn = x == x ? x : z;
    asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(o[11]) : "f"(xn), "f"(z));
    F2(12, "max.ftz.NaN.f32");
    asm("copysign.f32 %0, %1, %2;" : "=f"(o[13]) : "f"(xn), "f"(z));
    asm("abs.ftz.f32 %0, %1;" : "=f"(o[14]) : "f"(xn));
    asm("neg.f32 %0, %1;" : "=f"(o[15]) : "f"(xn));
    asm("slct.f32.f32 %0, %1, %2, %3;" : "=f"(o[16]) : "f"(x), "f"(y), "f"(z));
    asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(o[17]) : "f"(x), "f"(y), "r"(i % 3 - 1));
    asm("set.lt.f32.f32 %0, %1, %2;" : "=f"(o[18]) : "f"(x), "f"(y));
    F2(19, "div.rn.ftz.f32");
    asm("sqrt.rn.ftz.f32 %0, %1;" : "=f"(o[20]) : "f"(x));
    asm("rcp.rn.ftz.f32 %0, %1;" : "=f"(o[21]) : "f"(x));
    unsigned m = 0, t;
    TESTP(0, "finite");
    TESTP(1, "infinite");
    TESTP(2, "number");
    TESTP(3, "notanumber");
    TESTP(4, "normal");
    TESTP(5, "subnormal");
    SETP(6, "lt");
    SETP(7, "leu");
    SETP(8, "eq.ftz");
    SETP(9, "neu");
    SETP(10, "num");
    SETP(11, "nan");
    SETP(12, "gtu");
    SETP(13, "ge");
    asm("{ .reg .pred p, q, r; setp.gt.f32 r, %3, %2; setp.lt.and.f32 p|q, %1, %2, r; "
        "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2; }"
        : "=r"(t)
        : "f"(x), "f"(y), "f"(z));
    m |= t << 14;
    asm("{ .reg .pred r; setp.ge.f32 r, %3, %2; set.ne.xor.u32.f32 %0, %1, %2, r; }"
        : "=r"(t)
        : "f"(x), "f"(y), "f"(z));
    m |= (t & 3) << 16;
    flags[i] = m;
}
