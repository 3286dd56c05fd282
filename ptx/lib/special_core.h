/* special_core.h - rcp, rsqrt, ex2, lg2, sin, cos and tanh of f32 numbers in f64, a chunk of lanes at a time.
 *
 * Only + - * / and sqrt of f64 and f32 and integer operations, none of them contracted, so that every level and
 * every target gives the same bits. Each function is within 2^-49 of the real one, relatively. With s_off_middle that gives the
 * correctly rounded f32 for every argument: all 2^32 were tried.
 * Special operands are left to special.c.
 */
#ifndef PXL_SPECIAL_CORE_H
#define PXL_SPECIAL_CORE_H

#include "ptx/lib/lane.h"

#if PXL_WIDTH == 32
typedef float    S_f32 __attribute__((ext_vector_type(8), may_alias));
typedef uint32_t S_u32 __attribute__((ext_vector_type(8), may_alias));
typedef int32_t  S_s32 __attribute__((ext_vector_type(8), may_alias));
typedef double   S_f64 __attribute__((ext_vector_type(8), may_alias));
typedef uint64_t S_u64 __attribute__((ext_vector_type(8), may_alias));
#define S_BITS(type, x) ((type)(x))
#define S_CONVERT(type, x) __builtin_convertvector((x), type)
#define S_ANY(c) (__builtin_reduce_or(c) != 0)
enum { S_CHUNKS = 4, S_LANES = 8 };
#define S_LANE(x, i) ((x)[i])
#else
typedef float S_f32;
typedef uint32_t S_u32;
typedef int32_t S_s32;
typedef double S_f64;
typedef uint64_t S_u64;
#define S_BITS(type, x) PXL_BITS(type, x)
#define S_CONVERT(type, x) ((type)(x))
#define S_ANY(c) (c)
enum { S_CHUNKS = 1, S_LANES = 1 };
#define S_LANE(x, i) (*((void)(i), &(x)))
#endif

/* Adding it to |x| < 2^51 leaves the nearest integer in the low bits. */
#define S_ROUND 0x1.8p52
#define S_NONE __builtin_nan("")    /* no argument: it equals nothing */

/* c[n-1] x^(n-1) + ... + c[0], n even, as a polynomial in x² of pairs, for shorter chains. */
PXL_INLINE S_f64 s_polynomial(S_f64 x, const double *c, int n)
{
    const S_f64 x2 = x * x;
    S_f64 r = c[n - 1] * x + c[n - 2];
#pragma clang loop unroll(full)
    for (int i = n - 4; i >= 0; i -= 2)
        r = r * x2 + (c[i + 1] * x + c[i]);
    return r;
}

/* 2^n from the sum that S_ROUND was added to. */
PXL_INLINE S_f64 s_power(S_f64 rounded)
{
    return S_BITS(S_f64, (S_BITS(S_u64, rounded) << 52) + (1023ull << 52));
}

/* Of all 2^32 arguments those at which a sum below rounds to the middle of two f32, and the tie then goes to the wrong one, were found by
 * trying all (MPFR being the judge): two of ex2, one of sin and two of cos, beside their opposites. There the sum moves one place away
 * from zero, or toward it. */
PXL_INLINE S_f64 s_off_middle(S_f64 sum, S_f64 x, double up, double up_too, double down)
{
    const S_u64 one = SEL((x == up) | (x == up_too), (S_u64)1, (S_u64)0), back = SEL(x == down, (S_u64)1, (S_u64)0);
    return S_BITS(S_f64, S_BITS(S_u64, sum) + one - back);
}

/* 2^x, for x cut to [-300, 300]: n + r with |r| ≤ 1/2; a Chebyshev fit of 2^r, 2^-58 from it. */
PXL_INLINE S_f64 s_ex2(S_f32 x)
{
    static const double c[12] = {
        0x1p+0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5aep-3, 0x1.c6b08d704a0c6p-5, 0x1.3b2ab6fb9f1a5p-7, 0x1.5d87fe78a3f9cp-10,
        0x1.430913112c61bp-13, 0x1.ffcbfc6da6ed1p-17, 0x1.62bfc2c86d7p-20, 0x1.b524ebd13a55fp-24, 0x1.e6228acd1c6e5p-28, 0x1.e9ec1fcb69a7fp-32};
    x = SEL(x > 300.0f, (S_f32)300.0f, x);
    x = SEL(x < -300.0f, (S_f32)-300.0f, x);
    const S_f64 y = S_CONVERT(S_f64, x), t = y + S_ROUND, r = y - (t - S_ROUND);
    return s_off_middle(s_polynomial(r, c, 12), y, 0x1.853a6ep-9, -0x1.e7526ep-6, S_NONE) * s_power(t);
}

/* log2 of a positive finite x: e + log2(m) with m in [√½, √2), and log2(m) = 2/ln 2 · atanh((m - 1) / (m + 1)). */
PXL_INLINE S_f64 s_lg2(S_f32 x)
{
    static const double c[12] = {1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23};
    const S_f32 scaled = SEL(x < 0x1p-126f, x * 0x1p24f, x);
    const S_s32 lowered = SEL(x < 0x1p-126f, (S_s32)-24, (S_s32)0);
    /* Exponent such that the rest lies in [√½, √2). */
    const S_u32 bits = S_BITS(S_u32, scaled), offset = bits - 0x3f3504f3u;
    const S_s32 e = S_BITS(S_s32, offset) >> 23;
    const S_f64 m = S_CONVERT(S_f64, S_BITS(S_f32, bits - (S_BITS(S_u32, e) << 23)));
    const S_f64 s = (m - 1.0) / (m + 1.0);
    return s * s_polynomial(s * s, c, 12) * 0x1.71547652b82fep+1 + S_CONVERT(S_f64, e + lowered);
}

/* 1 / √x of a positive finite x: an f32 estimate and one step of third order; the residual of the estimate is exact enough
 * without fma, since (x · y) is exact in f64. */
PXL_INLINE S_f64 s_rsqrt(S_f32 x)
{
    const S_f32 small = SEL(x < 0x1p-126f, x * 0x1p24f, x);
    const S_f64 back = S_CONVERT(S_f64, SEL(x < 0x1p-126f, (S_f32)0x1p12f, (S_f32)1.0f));
    const S_f32 estimate = 1.0f / __builtin_elementwise_sqrt(small);
    const S_f64 y = S_CONVERT(S_f64, estimate), e = 1.0 - (S_CONVERT(S_f64, small) * y) * y;
    return (y + y * (e * (0.5 + 0.375 * e))) * back;
}

/* ---- sin and cos ---- */

/* A finite |x| ≥ 2^25 as quarter turns: the nearest number of them modulo 4, and the rest in radians. x is m · 2^e with 24-bit m;
 * of m · 2^e · 2/π the bits that stand for whole turns are left out beforehand. */
PXL_INLINE uint32_t s_reduce_large(uint32_t bits, double *rest)
{
    static const uint32_t two_over_pi[9] = {0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au};
    const uint32_t m = (bits & 0x7fffff) | 0x800000, e = (bits >> 23 & 255) - 150;    /* e is 2 to 104 */
    const uint32_t at = e - 2, word = at / 32, shift = at % 32;
    uint32_t w[4];
    for (uint32_t i = 0; i < 4; i++)
        w[i] = (uint32_t)(((uint64_t)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1]) << shift >> 32);
    /* m · w modulo 2^128; its top two bits count quarters. */
    const uint64_t p3 = (uint64_t)m * w[3], p2 = (uint64_t)m * w[2] + (p3 >> 32), p1 = (uint64_t)m * w[1] + (p2 >> 32);
    const uint32_t high = m * w[0] + (uint32_t)(p1 >> 32);
    const uint64_t upper = (uint64_t)high << 32 | (uint32_t)p1, lower = (p2 << 32) | (uint32_t)p3;
    const int64_t part = (int64_t)(upper << 2 | lower >> 62);           /* of a quarter, in units of 2^-64; signed: to the nearest */
    *rest = ((double)part + (double)(uint32_t)(lower << 2 >> 32) * 0x1p-32) * (0x1.921fb54442d18p+0 * 0x1p-64);
    return (uint32_t)(upper >> 62) + (part < 0);
}

/* x as quarter turns n (in the low bits) and the rest in [-π/4, π/4]: π/2 in three parts, of which n times the first two is exact. */
PXL_INLINE S_u64 s_reduce(S_f32 x, S_f64 *rest)
{
    const S_f64 y = S_CONVERT(S_f64, x), t = y * 0x1.45f306dc9c883p-1 + S_ROUND, n = t - S_ROUND;
    *rest = ((y - n * 0x1.921fb54p+0) - n * 0x1.10b461p-30) - n * 0x1.a62633145c06ep-58;
    S_u64 quarters = S_BITS(S_u64, t);
    const S_u32 bits = S_BITS(S_u32, x) & 0x7fffffffu;
    if (S_ANY(bits >= 0x4c000000u))
        for (uint32_t i = 0; i < S_LANES; i++) {
            const uint32_t b = S_LANE(bits, i);
            if (b < 0x4c000000u || b >= 0x7f800000u)
                continue;
            double r;
            const uint32_t q = s_reduce_large(b, &r), negative = S_LANE(x, i) < 0;
            S_LANE(quarters, i) = negative ? 0 - (uint64_t)q : q;
            S_LANE(*rest, i) = negative ? -r : r;
        }
    return quarters;
}
/* sin(x + shift quarter turns) of a finite x. */
PXL_INLINE S_f64 s_sin(S_f32 x, uint32_t shift)
{
    static const double sine[8] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
    static const double cosine[10] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0, 1.0 / 20922789888000.0, 0.0};
    S_f64 r;
    const S_u64 n = s_reduce(x, &r) + shift;
    const S_f64 r2 = r * r, s = r * s_polynomial(r2, sine, 8), c = s_polynomial(r2, cosine, 10);
    const S_f64 size = S_CONVERT(S_f64, S_BITS(S_f32, S_BITS(S_u32, x) & 0x7fffffffu)), sum = SEL((n & 1u) != 0, c, s);
    const S_f64 v = shift ? s_off_middle(sum, size, 0x1.2b9622p+67, S_NONE, 0x1.3170fp+63) : s_off_middle(sum, size, S_NONE, S_NONE, 0x1.33333p+13);
    return S_BITS(S_f64, S_BITS(S_u64, v) ^ (n << 62 & (1ull << 63)));
}

/* tanh|x| = t / (t + 2) with t = e^(2|x|) - 1; 1 beyond 20. */
PXL_INLINE S_f64 s_tanh(S_f32 x)
{
    static const double c[14] = {1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
                                 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0, 1.0 / 87178291200.0};
    S_f32 size = S_BITS(S_f32, S_BITS(S_u32, x) & 0x7fffffffu);
    size = SEL(size < 20.0f, size, (S_f32)20.0f);
    const S_f64 y = S_CONVERT(S_f64, size) * 2.0, k = y * 0x1.71547652b82fep+0 + S_ROUND, n = k - S_ROUND;
    const S_f64 r = (y - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33, scale = s_power(k);
    const S_f64 t = scale * (r * s_polynomial(r, c, 14)) + (scale - 1.0), v = t / (t + 2.0);
    return S_BITS(S_f64, S_BITS(S_u64, v) | (S_CONVERT(S_u64, S_BITS(S_u32, x) >> 31) << 63));
}

#endif
