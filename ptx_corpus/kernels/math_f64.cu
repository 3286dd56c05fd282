// libdevice f64 functions as nvcc inlines them: exp, log, sin, cos, pow, cbrt, atan2, tanh, erf.
extern "C" __global__ void math_f64(const double *a, const double *b, double *exact, double *close,
                                    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i], ax = fabs(x), *e = exact + i * 6, *o = close + i * 12;
    e[0] = sqrt(ax), e[1] = x / y, e[2] = fmod(x, y), e[3] = floor(x), e[4] = __fma_rn(x, y, 1.0);
    e[5] = 1.0 / y;
    o[0] = exp(y), o[1] = log(ax), o[2] = sin(x), o[3] = cos(x), o[4] = pow(ax, y * 0.25);
    o[5] = cbrt(x), o[6] = atan2(y, x), o[7] = tanh(y), o[8] = erf(y), o[9] = exp2(y);
    o[10] = sin(x * 1e6), o[11] = log1p(ax);
}
