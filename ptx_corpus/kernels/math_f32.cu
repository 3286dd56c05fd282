// libdevice f32 functions as nvcc inlines them, including large-argument reduction in local memory.
extern "C" __global__ void math_f32(const float *a, const float *b, float *exact, float *close,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], ax = fabsf(x), *e = exact + i * 9, *o = close + i * 24;
    int k;
    e[0] = floorf(x), e[1] = ceilf(x), e[2] = rintf(x), e[3] = truncf(x), e[4] = roundf(x);
    e[5] = fmodf(x, y), e[6] = remainderf(x, y), e[7] = ldexpf(x, (int)y), e[8] = frexpf(x, &k);
    e[8] += k;
    float u = x / (1.0f + ax);
    o[0] = sinf(x), o[1] = cosf(x), o[2] = tanf(x), o[3] = expf(y), o[4] = exp2f(y);
    o[5] = exp10f(y), o[6] = expm1f(y), o[7] = logf(ax), o[8] = log2f(ax), o[9] = log10f(ax);
    o[10] = log1pf(ax), o[11] = powf(ax, y * 0.125f), o[12] = cbrtf(x), o[13] = hypotf(x, y);
    o[14] = atanf(x), o[15] = atan2f(y, x), o[16] = asinf(u), o[17] = acosf(u);
    o[18] = sinhf(y), o[19] = coshf(y), o[20] = tanhf(y), o[21] = erff(y);
    o[22] = sqrtf(ax), o[23] = sinf(y * 100000.0f);
}
