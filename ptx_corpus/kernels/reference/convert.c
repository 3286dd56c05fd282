// References of conversions: fp8, f16 and bf16 by arithmetic, integers and floats by definition.
#include "ref.h"
#include <fenv.h>

static uint32_t relu(const struct format *f, double x)
{
    return x < 0 || (x == 0 && signbit(x)) ? 0 : encode(f, x, RN);
}

static void fp8_convert(void)
{
    enum { N = 2000 };
    uint32_t h2[N], back[256];
    float f[2 * N];
    uint16_t out[6 * N];
    static const float special[] = {0.0f,      -0.0f,    INFINITY,   -INFINITY, 448.0f, 464.0f,
                                    464.1f,    57344.0f, 61440.0f,   1e30f,     -1e30f, 0x1p-10f,
                                    0x1.8p-9f, 0x1p-17f, 0x1.8p-16f, -0x1p-30f, 17.0f,  19.0f};
    enum { SPECIALS = sizeof special / sizeof *special };
    for (int i = 0; i < N; i++) h2[i] = (uint32_t)(i * 33 & 0xffff) | (uint32_t)((i * 33 + 17 + i % 7) & 0xffff) << 16;
    for (int i = 0; i < 2 * N; i++) {
        uint64_t r = splitmix64(8500000 + (uint64_t)i);
        f[i] = float_of(((uint32_t)r & 0x807fffff) | (uint32_t)(105 + (r >> 32) % 42) << 23);
        if (i < SPECIALS) f[i] = special[i];
        if (i % 101 == 40) f[i] = float_of(0x7fffffff);
    }
    for (int i = 0; i < N; i++) {
        double lo = decode(&F16, h2[i] & 0xffff), hi = decode(&F16, h2[i] >> 16);
        double a = f[2 * i], b = f[2 * i + 1]; // a goes to the upper byte
        out[i] = (uint16_t)(encode(&E4M3, lo, RN) | encode(&E4M3, hi, RN) << 8);
        out[N + i] = (uint16_t)(encode(&E5M2, lo, RN) | encode(&E5M2, hi, RN) << 8);
        out[2 * N + i] = (uint16_t)(relu(&E4M3, lo) | relu(&E4M3, hi) << 8);
        out[3 * N + i] = (uint16_t)(encode(&E4M3, b, RN) | encode(&E4M3, a, RN) << 8);
        out[4 * N + i] = (uint16_t)(encode(&E5M2, b, RN) | encode(&E5M2, a, RN) << 8);
        out[5 * N + i] = (uint16_t)(relu(&E5M2, b) | relu(&E5M2, a) << 8);
    }
    uint16_t bytes[128];
    for (uint32_t i = 0; i < 128; i++) {
        bytes[i] = (uint16_t)(2 * i | (2 * i + 1) << 8);
        for (int k = 0; k < 2; k++) {
            const struct format *from = k ? &E5M2 : &E4M3;
            back[128 * (uint32_t)k + i] =
                encode(&F16, decode(from, 2 * i), RN) | encode(&F16, decode(from, 2 * i + 1), RN) << 16;
        }
    }
    OUT_U32("fp8_convert_h2", h2, N);
    OUT_F32("fp8_convert_f", f, 2 * N);
    OUT_U16("fp8_convert_bytes", bytes, 128);
    OUT_U16("fp8_convert_out", out, 6 * N);
    OUT_U32("fp8_convert_back", back, 256);
}

static const int host_mode[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static double integral(double x, enum rounding mode)
{
    return mode == RN ? nearbyint(x) : mode == RZ ? trunc(x) : mode == RD ? floor(x) : ceil(x);
}

// Saturating conversion of an integral value; NaN gives `nan`. Bounds beyond f64 are compared first.
static int64_t to_signed(double x, int bits, int64_t nan)
{
    double limit = ldexp(1, bits - 1);
    if (x != x) return nan;
    if (x >= limit) return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    if (x < -limit) return -(int64_t)((uint64_t)1 << (bits - 2)) * 2;
    return (int64_t)x;
}

static uint64_t to_unsigned(double x, int bits, uint64_t nan)
{
    if (x != x) return nan;
    if (x >= ldexp(1, bits)) return ~0ull >> (64 - bits);
    return x > 0 ? (uint64_t)x : 0;
}

static float values_f32(uint64_t seed, int i)
{
    static const float special[] = {
        0.0f,     -0.0f,    0.5f,      -0.5f,         1.5f,           2.5f,          -2.5f,       1e10f,
        -1e10f,   INFINITY, -INFINITY, 2147483648.0f, -2147483648.0f, 4294967040.0f, 65504.0f,    65519.9f,
        65520.0f, 0x1p-24f, 0x1p-25f,  0x1.8p-25f,    0x1.004p0f,     0x1.00c002p0f, 0x1.fffp15f, 9.3e18f};
    enum { SPECIALS = sizeof special / sizeof *special };
    if (i < SPECIALS) return special[i];
    uint64_t r = splitmix64(seed + (uint64_t)i);
    if (i % 31 == 30) return float_of(0x7fffffff);
    return float_of(((uint32_t)r & 0x807fffff) | (uint32_t)(100 + (r >> 32) % 60) << 23);
}

static double values_f64(uint64_t seed, int i)
{
    // 1 + 2^-11 + 2^-40 and its like: rounding to f16 or f32 by way of another format goes wrong.
    static const double special[] = {0x1.0020000001p0,
                                     0x1.002p0,
                                     0x1.006p0,
                                     0x1.0000010000001p0,
                                     -0x1.0020000001p0,
                                     2147483647.5,
                                     -2147483648.5,
                                     4294967295.5,
                                     0.5,
                                     1.5,
                                     -0.5,
                                     1e300,
                                     -1e300,
                                     65519.999,
                                     65520.0,
                                     0x1p-25};
    enum { SPECIALS = sizeof special / sizeof *special };
    if (i < SPECIALS) return special[i];
    uint64_t r = splitmix64(seed + (uint64_t)i);
    return double_of((r & 0x800fffffffffffff) | (uint64_t)(1000 + (r >> 52) % 50) << 52);
}

static void half_convert(void)
{
    enum { N = 150 };
    float f[N], wide[2 * N];
    double d[N];
    int32_t s[N], ints[4 * N];
    uint16_t out[12 * N];
    for (int i = 0; i < N; i++) {
        f[i] = values_f32(8510000, i);
        d[i] = values_f64(8520000, i);
        s[i] = (int32_t)((int64_t)splitmix64(8530000 + (uint64_t)i) >> (32 + i % 32));
    }
    OUT_F32("half_convert_f", f, N);
    OUT_F64("half_convert_d", d, N);
    OUT_S32("half_convert_s", s, N);
    for (int i = 0; i < N; i++) {
        uint16_t *o = out + 12 * i;
        float next = f[(i + 1) % N];
        for (int m = 0; m < 4; m++) o[m] = (uint16_t)encode(&F16, f[i], (enum rounding)m);
        o[4] = (uint16_t)encode(&F16, d[i], RN);
        o[5] = (uint16_t)encode(&F16, s[i], RN);
        o[6] = (uint16_t)encode(&F16, (uint32_t)s[i], RZ);
        o[7] = (uint16_t)encode(&BF16, f[i], RN);
        o[8] = (uint16_t)encode(&BF16, f[i], RZ);
        o[9] = o[0];
        o[10] = (uint16_t)encode(&F16, next, RN);
        o[11] = (uint16_t)encode(&BF16, next, RN);
        double h = decode(&F16, o[0]);
        ints[4 * i] = (int32_t)to_signed(integral(h, RN), 32, 0);
        ints[4 * i + 1] = (int32_t)to_unsigned(integral(h, RZ), 32, 0);
        ints[4 * i + 2] = (int32_t)to_signed(integral(h, RD), 16, 0);
        ints[4 * i + 3] = (h > 0.5) + 2 * (h != h) + 4 * !(h > 1);
        wide[2 * i] = f[i] == f[i] ? (float)h : 0.0f;
        wide[2 * i + 1] = f[i] == f[i] ? (float)decode(&BF16, o[7]) : 0.0f;
    }
    OUT_F16("half_convert_out", out, 12 * N);
    OUT_S32("half_convert_ints", ints, 4 * N);
    OUT_F32("half_convert_wide", wide, 2 * N);
}

static int64_t clamped(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

static void convert_ints(float x, double y, int64_t z, uint32_t o[16])
{
    double fx = x != 0 && fabsf(x) < 0x1p-126f ? copysign(0.0, x) : (double)x;
    int32_t lo = (int32_t)z, hi = (int32_t)(z >> 32);
    for (int m = 0; m < 4; m++) // rni rzi rmi rpi
        o[m] = (uint32_t)to_signed(integral(x, (enum rounding)m), 32, 0);
    o[4] = (uint32_t)to_unsigned(integral(x, RN), 32, 0);
    o[5] = (uint32_t)to_unsigned(integral(fx, RZ), 32, 0);
    o[6] = (uint32_t)to_unsigned(integral(x, RU), 32, 0);
    o[7] = (uint32_t)to_signed(integral(y, RN), 32, INT32_MIN);
    o[8] = (uint32_t)to_unsigned(integral(y, RZ), 32, 0x80000000);
    o[9] = (uint32_t)to_signed(integral(x, RZ), 16, 0);
    o[10] = (uint32_t)to_unsigned(integral(x, RN), 16, 0);
    o[11] = (uint32_t)clamped(lo, -128, 127);
    o[12] = (uint32_t)clamped(lo, 0, 65535);
    o[13] = (uint32_t)clamped(z, 0, 0xffffffff);
    o[14] = (uint32_t)clamped(lo, -32768, 32767) << 16 | (uint16_t)clamped(hi, -32768, 32767);
    o[15] = o[14] << 16 | (uint32_t)clamped(lo, 0, 255) << 8 | (uint32_t)clamped(hi, 0, 255);
}

static void convert_floats(float x, double y, int64_t z, float q[14], double p[8])
{
    volatile int32_t lo = (int32_t)z;
    volatile double d = y;
    volatile int64_t wide = z;
    for (int m = 0; m < 4; m++) {
        fesetround(host_mode[m]);
        volatile float a = (float)lo, b = (float)d;
        volatile double c = (double)wide;
        fesetround(FE_TONEAREST);
        q[m] = a;
        q[7 + m] = b;
        if (m < 2) p[1 + m] = c;
    }
    q[4] = (float)(uint32_t)z;
    q[5] = (float)z;
    // Toward +infinity for u64: the least float that is not below, found from the long double value.
    long double u = (uint64_t)z;
    q[6] = (float)u;
    if (q[6] < u) q[6] = nextafterf(q[6], INFINITY);
    p[3] = (double)u;
    if (p[3] < u) p[3] = nextafter(p[3], INFINITY);
    float flushed = x != 0 && fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
    q[11] = canon(nearbyintf(x));
    q[12] = canon(floorf(flushed));
    q[13] = x > 1 ? 1.0f : x > 0 ? x : 0.0f;
    p[0] = x == x ? x : 0; // the f64 bits of a NaN are not specified
    p[4] = (int32_t)z;
    p[5] = nearbyint(y);
    p[6] = floor(y);
    p[7] = trunc(y);
}

static void convert(void)
{
    enum { N = 150 };
    float f[N], fo[14 * N];
    double d[N], dn[8 * N];
    int64_t s[N], wide[6 * N];
    uint32_t out[16 * N];
    for (int i = 0; i < N; i++) {
        f[i] = values_f32(8540000, i);
        if (i % 16 == 13) f[i] = float_of(0x00000123u * (uint32_t)i); // subnormal
        d[i] = values_f64(8550000, i);
        s[i] = (int64_t)splitmix64(8560000 + (uint64_t)i) >> (i * 5 % 64);
    }
    OUT_F32("convert_f", f, N);
    OUT_F64("convert_d", d, N);
    OUT_S64("convert_s", s, N);
    for (int i = 0; i < N; i++) {
        int64_t *w = wide + 6 * i;
        convert_ints(f[i], d[i], s[i], out + 16 * i);
        convert_floats(f[i], d[i], s[i], fo + 14 * i, dn + 8 * i);
        w[0] = to_signed(integral(f[i], RN), 64, INT64_MIN);
        w[1] = (int64_t)to_unsigned(integral(f[i], RU), 64, 1ull << 63);
        w[2] = to_signed(integral(d[i], RD), 64, INT64_MIN);
        w[3] = (int64_t)to_unsigned(integral(d[i], RN), 64, 1ull << 63);
        w[4] = (int8_t)s[i];
        w[5] = (uint16_t)s[i];
    }
    OUT_U32("convert_out", out, 16 * N);
    OUT_F32("convert_fo", fo, 14 * N);
    OUT_F64("convert_dn", dn, 8 * N);
    OUT_S64("convert_wide", wide, 6 * N);
}

void ref_convert(void)
{
    fp8_convert();
    half_convert();
    convert();
}
