// Scalar f16 and bf16: conversions with every rounding, integers to and from f16, comparisons.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half_convert(const float *f, const double *d, const int *s,
                                        unsigned short *out, int *to_int, float *wide, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned short *o = out + i * 12;
    o[0] = __half_as_ushort(__float2half_rn(f[i]));
    o[1] = __half_as_ushort(__float2half_rz(f[i]));
    o[2] = __half_as_ushort(__float2half_rd(f[i]));
    o[3] = __half_as_ushort(__float2half_ru(f[i]));
    o[4] = __half_as_ushort(__double2half(d[i]));
    o[5] = __half_as_ushort(__int2half_rn(s[i]));
    o[6] = __half_as_ushort(__uint2half_rz((unsigned)s[i]));
    o[7] = __bfloat16_as_ushort(__float2bfloat16_rn(f[i]));
    o[8] = __bfloat16_as_ushort(__float2bfloat16_rz(f[i]));
    __half2 both = __floats2half2_rn(f[i], f[(i + 1) % n]);
    o[9] = __half_as_ushort(__low2half(both));
    o[10] = __half_as_ushort(__high2half(both));
    __nv_bfloat162 pair = __floats2bfloat162_rn(f[i], f[(i + 1) % n]);
    o[11] = __bfloat16_as_ushort(__high2bfloat16(pair));
    __half h = __ushort_as_half(o[0]);
    to_int[i * 4] = __half2int_rn(h);
    to_int[i * 4 + 1] = (int)__half2uint_rz(h);
    to_int[i * 4 + 2] = __half2short_rd(h);
    to_int[i * 4 + 3] = (h > __ushort_as_half(0x3800)) + 2 * __hisnan(h) + 4 * __hleu(h, __int2half_rn(1));
    bool number = f[i] == f[i];
    wide[i * 2] = number ? __half2float(h) : 0.0f;
    wide[i * 2 + 1] = number ? __bfloat162float(__ushort_as_bfloat16(o[7])) : 0.0f;
}
