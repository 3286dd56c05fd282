// sm_100+ packed f32: add.f32x2, mul.f32x2, fma.f32x2 with rounding modes; three-input min and max.
extern "C" __global__ void packed_f32x2(const unsigned long long *a, const unsigned long long *b,
                                        const unsigned long long *c, unsigned long long *out,
                                        float *m3, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long s, p, f, z;
    asm("add.rn.f32x2 %0, %1, %2;" : "=l"(s) : "l"(a[i]), "l"(b[i]));
    asm("mul.rn.f32x2 %0, %1, %2;" : "=l"(p) : "l"(a[i]), "l"(b[i]));
    asm("fma.rn.f32x2 %0, %1, %2, %3;" : "=l"(f) : "l"(a[i]), "l"(b[i]), "l"(c[i]));
    asm("fma.rz.f32x2 %0, %1, %2, %3;" : "=l"(z) : "l"(a[i]), "l"(b[i]), "l"(c[i]));
    out[i] = s, out[n + i] = p, out[2 * n + i] = f, out[3 * n + i] = z;
    float x = __int_as_float((int)a[i]), y = __int_as_float((int)b[i]), w = __int_as_float((int)c[i]);
    if (i % 7 == 0)
        w = __int_as_float(0x7fffffff);
    float lo, hi, nan;
    asm("min.f32 %0, %1, %2, %3;" : "=f"(lo) : "f"(x), "f"(y), "f"(w));
    asm("max.f32 %0, %1, %2, %3;" : "=f"(hi) : "f"(x), "f"(y), "f"(w));
    asm("max.NaN.f32 %0, %1, %2, %3;" : "=f"(nan) : "f"(x), "f"(y), "f"(w));
    m3[i] = lo, m3[n + i] = hi, m3[2 * n + i] = nan;
}
