// cvt between integers and floats with every rounding, saturation, cvt.pack, f32 to f64 and back.
#define I(k, op) asm(op " %0, %1;" : "=r"(o[k]) : "f"(x))
extern "C" __global__ void convert(const float *f, const double *d, const long long *s, int *out,
                                   float *fo, double *dn, long long *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = f[i], *q = fo + i * 14;
    double y = d[i], *p = dn + i * 8;
    long long z = s[i], *w = wide + i * 6;
    int *o = out + i * 16;
    I(0, "cvt.rni.s32.f32");
    I(1, "cvt.rzi.s32.f32");
    I(2, "cvt.rmi.s32.f32");
    I(3, "cvt.rpi.s32.f32");
    I(4, "cvt.rni.u32.f32");
    I(5, "cvt.rzi.ftz.u32.f32");
    I(6, "cvt.rpi.sat.u32.f32");
    o[7] = __double2int_rn(y);
    o[8] = (int)__double2uint_rz(y);
    asm("{ .reg .s16 t; cvt.rzi.s16.f32 t, %1; cvt.s32.s16 %0, t; }" : "=r"(o[9]) : "f"(x));
    asm("{ .reg .u16 t; cvt.rni.u16.f32 t, %1; cvt.u32.u16 %0, t; }" : "=r"(o[10]) : "f"(x));
    asm("{ .reg .s16 t; cvt.sat.s8.s32 t, %1; cvt.s32.s8 %0, t; }" : "=r"(o[11]) : "r"((int)z));
    asm("{ .reg .u16 t; cvt.sat.u16.s32 t, %1; cvt.u32.u16 %0, t; }" : "=r"(o[12]) : "r"((int)z));
    asm("cvt.sat.u32.s64 %0, %1;" : "=r"(o[13]) : "l"(z));
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(o[14]) : "r"((int)z), "r"((int)(z >> 32)));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(o[15])
        : "r"((int)z), "r"((int)(z >> 32)), "r"(o[14]));
    q[0] = __int2float_rn((int)z), q[1] = __int2float_rz((int)z);
    q[2] = __int2float_rd((int)z), q[3] = __int2float_ru((int)z);
    q[4] = __uint2float_rn((unsigned)z), q[5] = __ll2float_rn(z), q[6] = __ull2float_ru(z);
    q[7] = __double2float_rn(y), q[8] = __double2float_rz(y);
    q[9] = __double2float_rd(y), q[10] = __double2float_ru(y);
    asm("cvt.rni.f32.f32 %0, %1;" : "=f"(q[11]) : "f"(x));
    asm("cvt.rmi.ftz.f32.f32 %0, %1;" : "=f"(q[12]) : "f"(x));
    asm("cvt.sat.f32.f32 %0, %1;" : "=f"(q[13]) : "f"(x));
    p[0] = x == x ? (double)x : 0.0, p[1] = __ll2double_rn(z), p[2] = __ll2double_rz(z), p[3] = __ull2double_ru(z);
    p[4] = (double)(int)z, p[5] = rint(y), p[6] = floor(y), p[7] = trunc(y);
    w[0] = __float2ll_rn(x), w[1] = (long long)__float2ull_ru(x), w[2] = __double2ll_rd(y);
    w[3] = (long long)__double2ull_rn(y), w[4] = (signed char)z, w[5] = (unsigned short)z;
}
