// f16x2 and bf16x2 arithmetic: add, sub, mul, fma, relu, min/max with and without NaN, neg, abs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ unsigned bits(__half2 x)
{
    return *(unsigned *)&x;
}
__device__ unsigned bits(__nv_bfloat162 x)
{
    return *(unsigned *)&x;
}
extern "C" __global__ void bf16_half2(const __half2 *h, const __nv_bfloat162 *b, unsigned *out,
                                      int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 x = h[i], y = h[n + i], z = h[2 * n + i];
    unsigned *o = out + i * 18;
    o[0] = bits(__hadd2_rn(x, y));
    o[1] = bits(__hsub2_rn(x, y));
    o[2] = bits(__hmul2_rn(x, y));
    o[3] = bits(__hfma2(x, y, z));
    o[4] = bits(__hfma2_relu(x, y, z));
    o[5] = bits(__hmin2(x, y));
    o[6] = bits(__hmax2_nan(x, y));
    o[7] = bits(__hneg2(x));
    o[8] = bits(__habs2(z));
    __nv_bfloat162 p = b[i], q = b[n + i], r = b[2 * n + i];
    o[9] = bits(__hadd2_rn(p, q));
    o[10] = bits(__hsub2_rn(p, q));
    o[11] = bits(__hmul2_rn(p, q));
    o[12] = bits(__hfma2(p, q, r));
    o[13] = bits(__hfma2_relu(p, q, r));
    o[14] = bits(__hmin2_nan(p, q));
    o[15] = bits(__hmax2(p, q));
    o[16] = bits(__hneg2(p));
    o[17] = bits(__habs2(r));
}
