// Approximate f32 functions: ex2, lg2, rcp, rsqrt, sqrt, div with and without .ftz; special values.
#define A1(k, op) asm(op " %0, %1;" : "=f"(o[k]) : "f"(x))
extern "C" __global__ void approx_f32(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], *o = out + i * 10;
    A1(0, "ex2.approx.f32");
    A1(1, "ex2.approx.ftz.f32");
    A1(2, "lg2.approx.f32");
    A1(3, "lg2.approx.ftz.f32");
    A1(4, "rcp.approx.ftz.f32");
    A1(5, "rsqrt.approx.f32");
    A1(6, "rsqrt.approx.ftz.f32");
    A1(7, "sqrt.approx.f32");
    A1(8, "sqrt.approx.ftz.f32");
    asm("div.approx.f32 %0, %1, %2;" : "=f"(o[9]) : "f"(x), "f"(y));
}
