// Black-Scholes prices: logf, expf, sqrtf, fabsf, divisions and a polynomial.
__device__ float cnd(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = k * (0.31938153f +
                   k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    p *= 0.39894228f * expf(-0.5f * d * d);
    return d > 0.0f ? 1.0f - p : p;
}
extern "C" __global__ void black_scholes(const float *spot, const float *strike, const float *years,
                                         float *call, float *put, float rate, float vol, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float root = sqrtf(years[i]);
        float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * vol * vol) * years[i]) / (vol * root);
        float d2 = d1 - vol * root, pv = expf(-rate * years[i]) * strike[i];
        float c1 = cnd(d1), c2 = cnd(d2);
        call[i] = spot[i] * c1 - pv * c2;
        put[i] = pv * (1.0f - c2) - spot[i] * (1.0f - c1);
    }
}
