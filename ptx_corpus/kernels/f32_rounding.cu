// f32 add, sub, mul, fma, div, rcp, sqrt with .rn .rz .rd .ru, over subnormals and special values.
#define FOUR(k, f, ...)                                                                            \
    o[k] = f##_rn(__VA_ARGS__), o[k + 1] = f##_rz(__VA_ARGS__), o[k + 2] = f##_rd(__VA_ARGS__),    \
           o[k + 3] = f##_ru(__VA_ARGS__)
extern "C" __global__ void f32_rounding(const float *a, const float *b, const float *c, float *out,
                                        int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], z = c[i], *o = out + i * 28;
    FOUR(0, __fadd, x, y);
    FOUR(4, __fsub, x, y);
    FOUR(8, __fmul, x, y);
    FOUR(12, __fmaf, x, y, z);
    FOUR(16, __fdiv, x, y);
    FOUR(20, __frcp, x);
    FOUR(24, __fsqrt, x);
}
