// f64 add, sub, mul, fma, div, rcp, sqrt with .rn .rz .rd .ru, over subnormals and special values.
#define FOUR(k, f, ...)                                                                            \
    o[k] = f##_rn(__VA_ARGS__), o[k + 1] = f##_rz(__VA_ARGS__), o[k + 2] = f##_rd(__VA_ARGS__),    \
           o[k + 3] = f##_ru(__VA_ARGS__)
extern "C" __global__ void f64_rounding(const double *a, const double *b, const double *c,
                                        double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i], z = c[i], *o = out + i * 28;
    FOUR(0, __dadd, x, y);
    FOUR(4, __dsub, x, y);
    FOUR(8, __dmul, x, y);
    FOUR(12, __fma, x, y, z);
    FOUR(16, __ddiv, x, y);
    FOUR(20, __drcp, x);
    FOUR(24, __dsqrt, x);
}
