// sin.approx, cos.approx and tanh.approx of f32 in [-pi, pi].
extern "C" __global__ void approx_trig(const float *a, float *sin_cos, float *tanh, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i];
    asm("sin.approx.f32 %0, %1;" : "=f"(sin_cos[i]) : "f"(x));
    asm("cos.approx.ftz.f32 %0, %1;" : "=f"(sin_cos[n + i]) : "f"(x));
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh[i]) : "f"(x));
}
