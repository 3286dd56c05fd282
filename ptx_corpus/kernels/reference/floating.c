// References of f32, f64, f16 and bf16 arithmetic, and of mathematical functions.
// Rounding modes are the host's own (fesetround), with volatile operands to hold operations in place.
#include "ref.h"
#include <fenv.h>

static const int host_mode[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

// f32 inputs: special values first, then random significands with a spread of exponents.
static float *mixed_f32(uint64_t seed, int n, bool nan)
{
    static const uint32_t special[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001,
                                       0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff,
                                       0xff7fffff, 0x7f800000, 0xff800000, 0x3fffffff, 0x33800000};
    enum { SPECIALS = sizeof special / sizeof *special };
    float *x = zeros((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) {
        uint64_t r = splitmix64(seed + (uint64_t)i);
        if (i % 4 == 0) x[i] = float_of(special[r % SPECIALS]);
        else if (i % 4 == 1) x[i] = float_of((uint32_t)r & 0x807fffff) * 1.5f; // subnormal
        else x[i] = float_of(((uint32_t)r & 0x807fffff) | (uint32_t)(107 + (r >> 32) % 40) << 23);
        if (nan && i % 23 == 11) x[i] = float_of(0x7fffffff);
    }
    return x;
}

static void f32_rounding(void)
{
    enum { N = 200 };
    float *a = mixed_f32(8200000, N, true), *b = mixed_f32(8210000, N, true);
    float *c = mixed_f32(8220000, N, false), *out = zeros(N * 28 * 4);
    // The product cancels c in part: the fused result differs from two roundings.
    for (int i = 3; i < N; i += 8) c[i] = -(a[i] * b[i]);
    OUT_F32("f32_rounding_a", a, N);
    OUT_F32("f32_rounding_b", b, N);
    OUT_F32("f32_rounding_c", c, N);
    for (int i = 0; i < N; i++)
        for (int m = 0; m < 4; m++) {
            volatile float x = a[i], y = b[i], z = c[i], one = 1.0f, r[7];
            fesetround(host_mode[m]);
            r[0] = x + y;
            r[1] = x - y;
            r[2] = x * y;
            r[3] = fmaf(x, y, z);
            r[4] = x / y;
            r[5] = one / x;
            r[6] = sqrtf(x);
            fesetround(FE_TONEAREST);
            for (int op = 0; op < 7; op++) out[i * 28 + op * 4 + m] = canon(r[op]);
        }
    OUT_F32("f32_rounding_out", out, N * 28);
}

static void f64_rounding(void)
{
    enum { N = 120 };
    double a[N], b[N], c[N], *out = zeros(N * 28 * 8);
    for (int i = 0; i < N; i++) { // a >= 0 and b != 0: no NaN, whose f64 bits PTX leaves open
        uint64_t r = splitmix64(8230000 + (uint64_t)i), s = splitmix64(8240000 + (uint64_t)i);
        a[i] = double_of((r >> 12) | (uint64_t)(983 + r % 80) << 52);
        b[i] = double_of((s & 0x800fffffffffffff) | (uint64_t)(983 + (s >> 52) % 80) << 52);
        c[i] = double_of(splitmix64(r) >> 12 | (uint64_t)(983 + s % 80) << 52);
        if (i % 6 == 1) a[i] *= 0x1p-1022; // subnormal
        if (i % 6 == 2) b[i] *= 0x1p-1000;
        if (i % 6 == 3) a[i] *= 0x1p+1010;
        if (i % 6 == 4) c[i] = -(a[i] * b[i]);
    }
    a[0] = 0;
    OUT_F64("f64_rounding_a", a, N);
    OUT_F64("f64_rounding_b", b, N);
    OUT_F64("f64_rounding_c", c, N);
    for (int i = 0; i < N; i++)
        for (int m = 0; m < 4; m++) {
            volatile double x = a[i], y = b[i], z = c[i], one = 1.0, r[7];
            fesetround(host_mode[m]);
            r[0] = x + y;
            r[1] = x - y;
            r[2] = x * y;
            r[3] = fma(x, y, z);
            r[4] = x / y;
            r[5] = one / x;
            r[6] = sqrt(x);
            fesetround(FE_TONEAREST);
            for (int op = 0; op < 7; op++) out[i * 28 + op * 4 + m] = r[op];
        }
    OUT_F64("f64_rounding_out", out, N * 28);
}

static float ftz(float x) { return x != 0 && fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }

static float sat(float x)
{
    return x > 1 ? 1.0f : x > 0 ? x : 0.0f; // NaN and negatives give +0
}

// PTX minimum and maximum: -0 below +0; a NaN loses unless nan is set.
static float least(float x, float y, bool nan)
{
    if (x != x || y != y) return nan || (x != x && y != y) ? float_of(0x7fffffff) : x != x ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static float greatest(float x, float y, bool nan) { return x != x || y != y ? least(x, y, nan) : -least(-x, -y, nan); }

static uint32_t compare_flags(float x, float y, float z, uint32_t i)
{
    bool un = x != x || y != y, r = z > y, s = z >= y;
    (void)i;
    uint32_t m = (uint32_t)(isfinite(x) != 0) | (uint32_t)(isinf(x) != 0) << 1;
    m |= (uint32_t)(x == x) << 2 | (uint32_t)(x != x) << 3 | (uint32_t)(isnormal(x) != 0 || x == 0) << 4; // testp: zeros are normal
    m |= (uint32_t)(fpclassify(x) == FP_SUBNORMAL) << 5;
    m |= (uint32_t)(x < y) << 6 | (uint32_t)(un || x <= y) << 7 | (uint32_t)(ftz(x) == ftz(y)) << 8;
    m |= (uint32_t)(un || x != y) << 9 | (uint32_t)!un << 10 | (uint32_t)un << 11;
    m |= (uint32_t)(un || x > y) << 12 | (uint32_t)(x >= y) << 13;
    // p = (x < y) and r; q = !(x < y) and r
    m |= ((uint32_t)(x < y && r) + 2u * (uint32_t)(!(x < y) && r)) << 14;
    // set.ne (ordered) xor s gives all ones or zero
    m |= ((!un && x != y) != s ? 3u : 0u) << 16;
    return m;
}

static void f32_ftz_sat(void)
{
    enum { N = 200 };
    float *a = mixed_f32(8250000, N, true), *b = mixed_f32(8260000, N, true);
    float *c = mixed_f32(8270000, N, false), *out = zeros(N * 22 * 4);
    uint32_t flags[N];
    OUT_F32("f32_ftz_sat_a", a, N);
    OUT_F32("f32_ftz_sat_b", b, N);
    OUT_F32("f32_ftz_sat_c", c, N);
    for (int i = 0; i < N; i++) {
        float x = a[i], y = b[i], z = c[i], *o = out + i * 22, xn = x == x ? x : z;
        float fx = ftz(x), fy = ftz(y), fz = ftz(z);
        o[0] = ftz(fx + fy);
        volatile float vx = fx, vy = fy, d;
        fesetround(FE_TOWARDZERO);
        d = vx - vy;
        fesetround(FE_TONEAREST);
        o[1] = ftz(d);
        o[2] = ftz(fx * fy);
        o[3] = ftz(fmaf(fx, fy, fz));
        o[4] = sat(x + y);
        o[5] = sat(ftz(fx * fy));
        o[6] = sat(fmaf(x, y, z));
        o[7] = least(x, y, false);
        o[8] = greatest(x, y, false);
        o[9] = least(x, y, true);
        o[10] = greatest(fx, fy, false);
        o[11] = copysignf(fminf(fabsf(xn), fabsf(z)), signbit(xn) != signbit(z) ? -1.0f : 1.0f);
        o[12] = greatest(fx, fy, true);
        o[13] = copysignf(z, xn);
        o[14] = fabsf(ftz(xn));
        o[15] = -xn;
        o[16] = z >= 0 ? x : y;
        o[17] = i % 3 - 1 >= 0 ? x : y;
        o[18] = x < y ? 1.0f : 0.0f;
        o[19] = ftz(fx / fy);
        o[20] = ftz(sqrtf(fx));
        o[21] = ftz(1.0f / fx);
        for (int k = 0; k < 22; k++) o[k] = canon(o[k]);
        flags[i] = compare_flags(x, y, z, (uint32_t)i);
    }
    OUT_F32("f32_ftz_sat_out", out, N * 22);
    OUT_U32("f32_ftz_sat_flags", flags, N);
}

// a*b + c rounded to odd in f64, from which one rounding to a small format is right.
static double fma_odd(double a, double b, double c)
{
    double p = a * b; // exact for small formats
    double s = p + c;
    if (!isfinite(s)) return s;
    double bb = s - p, err = (p - (s - bb)) + (c - bb);
    uint64_t u;
    memcpy(&u, &s, 8);
    if (err != 0 && !(u & 1)) u += (err > 0) == (s > 0) ? 1 : (uint64_t)-1;
    return double_of(u);
}

static uint16_t small_min(const struct format *f, uint16_t x, uint16_t y, bool max, bool nan)
{
    float a = (float)decode(f, x), b = (float)decode(f, y);
    return (uint16_t)encode(f, max ? greatest(a, b, nan) : least(a, b, nan), RN);
}

static void small_arithmetic(const struct format *f, uint16_t x, uint16_t y, uint16_t z, uint16_t o[9], bool bf16)
{
    double a = decode(f, x), b = decode(f, y), c = decode(f, z), fused = fma_odd(a, b, c);
    o[0] = (uint16_t)encode(f, fma_odd(1, a, b), RN);
    o[1] = (uint16_t)encode(f, fma_odd(1, a, -b), RN);
    o[2] = (uint16_t)encode(f, a * b, RN);
    o[3] = (uint16_t)encode(f, fused, RN);
    o[4] = fused < 0 || (fused == 0 && signbit(fused)) ? 0 : o[3];
    o[5] = small_min(f, x, y, false, bf16); // min.NaN for bf16, max.NaN for f16
    o[6] = small_min(f, x, y, true, !bf16);
    o[7] = x ^ 0x8000;
    o[8] = z & 0x7fff;
}

// Halves: random encodings, with specials; NaN only where `nan`.
static uint16_t *small_inputs(const struct format *f, uint64_t seed, int n, bool nan)
{
    uint16_t special[6] = {0, 0x8000, 1, (uint16_t)f->inf, (uint16_t)f->largest, (uint16_t)(f->inf | 0x8000)};
    uint16_t *p = zeros((size_t)n * 2);
    for (int i = 0; i < n; i++) {
        uint64_t r = splitmix64(seed + (uint64_t)i);
        uint32_t bias = (uint32_t)f->bias, span = bias / 2;
        uint32_t exp = bias - span / 2 + (uint32_t)(r >> 20) % span;
        p[i] = (uint16_t)((r & 0x8000) | exp << f->man_bits | (r >> 40 & ((1u << f->man_bits) - 1)));
        if (i % 5 == 0) p[i] = special[r % 6];
        if (i % 5 == 1) p[i] = (uint16_t)(r & (0x8000 | ((1u << f->man_bits) - 1))); // subnormal
        if (nan && i % 17 == 3) p[i] = 0x7fff;
    }
    return p;
}

static void bf16_half2(void)
{
    enum { N = 75 };
    uint16_t in[2][6 * N], *out = zeros(N * 18 * 4);
    const struct format *formats[2] = {&F16, &BF16};
    for (int k = 0; k < 2; k++)
        for (int v = 0; v < 3; v++)
            memcpy(in[k] + v * 2 * N, small_inputs(formats[k], 8280000 + 10000 * (uint64_t)(k * 3 + v), 2 * N, v == 1),
                   4 * N);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 2; k++)
            for (int h = 0; h < 2; h++) {
                uint16_t o[9], *p = in[k] + 2 * i + h;
                small_arithmetic(formats[k], p[0], p[2 * N], p[4 * N], o, k == 1);
                for (int op = 0; op < 9; op++) out[(i * 18 + k * 9 + op) * 2 + h] = o[op];
            }
    OUT_F16("bf16_half2_h", in[0], 6 * N);
    OUT_U16("bf16_half2_b", in[1], 6 * N);
    OUT_U16("bf16_half2_out", out, N * 36);
}

static uint64_t pack(float lo, float hi) { return bits_f32(lo) | (uint64_t)bits_f32(hi) << 32; }

static void packed_f32x2(void)
{
    enum { N = 75 };
    float *a = rand_f32(8350000, 2 * N, -4, 4), *b = rand_f32(8360000, 2 * N, -4, 4);
    float *c = rand_f32(8370000, 2 * N, -4, 4), m3[3 * N];
    uint64_t out[4 * N];
    for (int i = 0; i < N; i++) {
        float z[2], *x = a + 2 * i, *y = b + 2 * i, *w = c + 2 * i;
        for (int h = 0; h < 2; h++) {
            volatile float p = x[h], q = y[h], s = w[h];
            fesetround(FE_TOWARDZERO);
            z[h] = fmaf(p, q, s);
            fesetround(FE_TONEAREST);
        }
        out[i] = pack(x[0] + y[0], x[1] + y[1]);
        out[N + i] = pack(x[0] * y[0], x[1] * y[1]);
        out[2 * N + i] = pack(fmaf(x[0], y[0], w[0]), fmaf(x[1], y[1], w[1]));
        out[3 * N + i] = pack(z[0], z[1]);
        float third = i % 7 == 0 ? float_of(0x7fffffff) : w[0];
        m3[i] = least(least(x[0], y[0], false), third, false);
        m3[N + i] = greatest(greatest(x[0], y[0], false), third, false);
        m3[2 * N + i] = greatest(greatest(x[0], y[0], true), third, true);
    }
    OUT_U64("packed_f32x2_out", out, 4 * N);
    OUT_F32("packed_f32x2_m3", m3, 3 * N);
}

static void float_atomics(void)
{
    enum { N = 300, BLOCK = 64, GRID = 5 };
    int32_t *x = rand_s32(8380000, N, 0, 1000);
    float f[4 + GRID] = {0};
    double d[2 + GRID] = {0}, h[2] = {0}, b[2] = {0};
    for (int i = 0; i < N; i++) {
        int k = x[i];
        f[k & 3] += (float)k * 0.25f;
        d[k & 1] += k * 1048576.125;
        h[0] += k & 1;
        h[1] += k & 2 ? -0.5 : 0.5;
        b[0] += k & 4 ? 1 : 0;
        b[1] -= k & 8 ? 1 : 0;
        f[4 + i / BLOCK] += (float)k * 0.5f;
        d[2 + i / BLOCK] += k;
    }
    uint16_t hb[2] = {(uint16_t)encode(&F16, h[0], RN), (uint16_t)encode(&F16, h[1], RN)};
    uint16_t bb[2] = {(uint16_t)encode(&BF16, b[0], RN), (uint16_t)encode(&BF16, b[1], RN)};
    OUT_F32("float_atomics_f", f, 4 + GRID);
    OUT_F64("float_atomics_d", d, 2 + GRID);
    OUT_F16("float_atomics_h", hb, 2);
    OUT_U16("float_atomics_b", bb, 2);
}

static void approx_f32(void)
{
    enum { N = 200 };
    float a[N], b[N], *out = zeros(N * 10 * 4);
    static const float special[] = {0.0f,     -0.0f,  1.0f,    -1.0f,    INFINITY, -INFINITY,   0x1p-140f, -0x1p-130f,
                                    0x1p100f, 127.5f, -126.5f, -140.25f, -200.0f,  0x1.8p-127f, 4.0f,      0.25f};
    for (int i = 0; i < N; i++) {
        double u = random_unit(8390000, (size_t)i), v = random_unit(8400000, (size_t)i);
        // Away from 1, where lg2's bound is absolute.
        a[i] = (float)ldexp(2 + 2 * u, (int)(v * 10) - (i & 1 ? 13 : 0));
        b[i] = (float)(i & 2 ? -1 - v : 1 + v * 5);
        if (i < 16) a[i] = special[i];
        if (i == 16) a[i] = float_of(0x7fffffff);
    }
    OUT_F32("approx_f32_a", a, N);
    OUT_F32("approx_f32_b", b, N);
    for (int i = 0; i < N; i++) {
        double x = a[i], fx = ftz(a[i]);
        float *o = out + i * 10;
        o[0] = (float)exp2(x);
        o[1] = ftz((float)exp2(fx));
        o[2] = (float)log2(x);
        o[3] = (float)log2(fx);
        o[4] = ftz((float)(1 / fx));
        o[5] = (float)(1 / sqrt(x));
        o[6] = (float)(1 / sqrt(fx));
        o[7] = (float)sqrt(x);
        o[8] = (float)sqrt(fx);
        o[9] = (float)(x / b[i]);
        for (int k = 0; k < 10; k++) o[k] = canon(o[k]);
    }
    OUT_F32("approx_f32_out", out, N * 10);
}

static void approx_trig(void)
{
    enum { N = 150 };
    float *a = rand_f32(8410000, N, -3.14159, 3.14159), sc[2 * N], th[N];
    for (int i = 0; i < N; i++) {
        sc[i] = (float)sin(a[i]);
        sc[N + i] = (float)cos(a[i]);
        th[i] = (float)tanh(a[i]);
    }
    OUT_F32("approx_trig_sin_cos", sc, 2 * N);
    OUT_F32("approx_trig_tanh", th, N);
}

static void math_f32(void)
{
    enum { N = 100 };
    float *a = rand_f32(8420000, N, -100, 100), *b = rand_f32(8430000, N, -8, 8);
    float *exact = zeros(N * 9 * 4), *close = zeros(N * 24 * 4);
    for (int i = 0; i < N; i++) {
        float x = a[i], y = b[i], ax = fabsf(x), *e = exact + i * 9;
        int k;
        e[0] = floorf(x);
        e[1] = ceilf(x);
        e[2] = rintf(x);
        e[3] = truncf(x);
        e[4] = roundf(x);
        e[5] = fmodf(x, y);
        e[6] = remainderf(x, y);
        e[7] = ldexpf(x, (int)y);
        e[8] = frexpf(x, &k);
        e[8] += (float)k;
        float u = x / (1.0f + ax), big = y * 100000.0f;
        double dx = x, dy = y, da = ax, du = u;
        double r[24] = {sin(dx),   cos(dx),       tan(dx),  exp(dy),       exp2(dy),  pow(10, dy),
                        expm1(dy), log(da),       log2(da), log10(da),     log1p(da), pow(da, dy / 8),
                        cbrt(dx),  hypot(dx, dy), atan(dx), atan2(dy, dx), asin(du),  acos(du),
                        sinh(dy),  cosh(dy),      tanh(dy), erf(dy),       sqrt(da),  sin(big)};
        for (int j = 0; j < 24; j++) close[i * 24 + j] = (float)r[j];
    }
    OUT_F32("math_f32_exact", exact, N * 9);
    OUT_F32("math_f32_close", close, N * 24);
}

static void math_f64(void)
{
    enum { N = 60 };
    double *a = rand_f64(8440000, N, -100, 100), *b = rand_f64(8450000, N, -8, 8);
    double exact[N * 6], close[N * 12];
    for (int i = 0; i < N; i++) {
        double x = a[i], y = b[i], ax = fabs(x), *e = exact + i * 6, *o = close + i * 12, big = x * 1e6;
        e[0] = sqrt(ax);
        e[1] = x / y;
        e[2] = fmod(x, y);
        e[3] = floor(x);
        e[4] = fma(x, y, 1.0);
        e[5] = 1.0 / y;
        long double lx = x, ly = y, la = ax;
        long double r[12] = {expl(ly),       logl(la),  sinl(lx), cosl(lx),  powl(la, ly / 4),       cbrtl(lx),
                             atan2l(ly, lx), tanhl(ly), erfl(ly), exp2l(ly), sinl((long double)big), log1pl(la)};
        for (int j = 0; j < 12; j++) o[j] = (double)r[j];
    }
    OUT_F64("math_f64_exact", exact, N * 6);
    OUT_F64("math_f64_close", close, N * 12);
}

void ref_floating(void)
{
    f32_rounding();
    f64_rounding();
    f32_ftz_sat();
    bf16_half2();
    packed_f32x2();
    float_atomics();
    approx_f32();
    approx_trig();
    math_f32();
    math_f64();
}
