/* mma_dot.h - one element of a matrix product, bit for bit as tensor cores compute it.
 *
 * Scalar C that shares nothing with lane types: every lane runs it at width 1,
 * and at width 32 it serves the tiles that hold NaN or infinity. The rules are
 * those of MMA-Sim (arXiv 2511.10909); README.md says which of them are guesses.
 *
 * One step is a fused sum of K products and the accumulator c:
 *   E = the largest exponent of a product (e_a + e_b, not normalised) or of c,
 *       terms that are zero taking no part;
 *   every term is cut toward zero to `fraction` bits below 2^E, and the cut terms
 *   are summed exactly;
 *   an f16 result is rounded once to nearest even, an f32 result is cut toward zero
 *   to `keep` bits. A zero sum is +0.
 */
#ifndef PXL_MMA_DOT_H
#define PXL_MMA_DOT_H

#include "ptx/lib/lane.h"

enum { MODEL_ADA, MODEL_HOPPER, MODEL_BLACKWELL, MODEL_AMPERE, MODEL_TURING, MODEL_VOLTA, MODEL_IEEE };
/* Multiplicand formats. e3m2 and e2m3 lie in the lower six bits of a byte, e2m1 in the middle four (PTX ISA, "mma": packing of
 * .kind::f8f6f4); they have no infinity and no NaN. */
enum { MMA_E4M3, MMA_E5M2, MMA_F16, MMA_BF16, MMA_TF32, MMA_E3M2, MMA_E2M3, MMA_E2M1 };

typedef uint32_t pxl_u32x4 __attribute__((ext_vector_type(4)));
typedef float pxl_f32x4 __attribute__((ext_vector_type(4)));

/* How a model computes one kind of mma. */
typedef struct pxl_mma_rule {
    int32_t fraction;     /* F: bits kept below the largest exponent */
    int32_t keep;         /* significand bits after the point that an f32 result keeps */
    bool split;           /* one step per register pair ("slab") of A instead of one in all */
    bool halves;          /* Hopper's fp8: see pxl_mma_rule_of */
    int32_t scale;        /* added to the exponent of every product: block scales */
    int32_t least;        /* E is not below it */
} pxl_mma_rule;

enum { MMA_NAN16 = 0x7fff, MMA_NAN32 = 0x7fffffff };
enum { MMA_NO_EXPONENT = -10000 };      /* below every exponent */

PXL_INLINE bool pxl_mma_is_fp8(int type) { return type == MMA_E4M3 || type == MMA_E5M2; }
PXL_INLINE bool pxl_mma_is_narrow(int type) { return type >= MMA_E3M2; }
PXL_INLINE int pxl_mma_bits(int type) { return pxl_mma_is_fp8(type) || pxl_mma_is_narrow(type) ? 8 : type == MMA_TF32 ? 32 : 16; }
PXL_INLINE int pxl_mma_elements(int type) { return 32 / pxl_mma_bits(type); }
PXL_INLINE int pxl_mma_fraction(int type)
{
    switch (type) {
    case MMA_E4M3: case MMA_E2M3: return 3;
    case MMA_E5M2: case MMA_E3M2: return 2;
    case MMA_E2M1: return 1;
    case MMA_BF16: return 7;
    default:       return 10;
    }
}
PXL_INLINE int pxl_mma_exponent_bits(int type)
{
    switch (type) {
    case MMA_E4M3: return 4;
    case MMA_E5M2: case MMA_F16: return 5;
    case MMA_E3M2: return 3;
    case MMA_E2M3: case MMA_E2M1: return 2;
    default:       return 8;
    }
}
/* Where element i of a register begins. */
PXL_INLINE uint32_t pxl_mma_shift(int type, uint32_t i)
{
    return type == MMA_TF32 ? 13 : i * (uint32_t)pxl_mma_bits(type) + (type == MMA_E2M1 ? 2 : 0);
}
PXL_INLINE int pxl_mma_bias(int type) { return (1 << (pxl_mma_exponent_bits(type) - 1)) - 1; }

/* The table of models. sm_90 has no fp8 mma.sync in hardware: ptxas widens the operands to f16
 * and issues two HMMA from zero, over bytes 0 and 1 of every register and then over bytes 2
 * and 3, and adds c at the end with one ordinary addition ("halves"). */
PXL_INLINE pxl_mma_rule pxl_mma_rule_of(bool fp8, uint32_t model)
{
    pxl_mma_rule r = {24, 23, true, false, 0, MMA_NO_EXPONENT};
    switch (model) {
    case MODEL_HOPPER:    r.fraction = 25; r.split = false; r.halves = fp8; break;
    case MODEL_BLACKWELL: r.fraction = 25; r.split = false; break;
    case MODEL_VOLTA:     r.fraction = fp8 ? 13 : 23; r.keep = fp8 ? 13 : 23; break;
    default:              if (fp8) { r.fraction = 13; r.keep = 13; } break;
    }
    return r;
}

/* One operand taken apart: value = ±m · 2^(e - fraction bits of its format). */
typedef struct pxl_number {
    uint32_t m;
    int32_t e;
    bool negative, infinite, nan;
} pxl_number;

/* A format, and where element i of a register begins: at first + i · step. `largest` is the largest code without sign that is no NaN. */
typedef struct pxl_format {
    uint32_t fraction, exponent_bits, first, step, infinity, largest;
} pxl_format;

enum { MMA_NO_CODE = 0x7fffffff };

PXL_INLINE pxl_format pxl_format_of(int type)
{
    const uint32_t fraction = (uint32_t)pxl_mma_fraction(type), exponent = (uint32_t)pxl_mma_exponent_bits(type);
    const uint32_t infinity = ((1u << exponent) - 1) << fraction;
    pxl_format f = {fraction, exponent, type == MMA_TF32 ? 13 : type == MMA_E2M1 ? 2 : 0, (uint32_t)pxl_mma_bits(type), infinity, infinity};
    if (type == MMA_E4M3) {
        f.infinity = MMA_NO_CODE;
        f.largest = 0x7e;
    } else if (pxl_mma_is_narrow(type)) {
        f.infinity = f.largest = MMA_NO_CODE;
    }
    return f;
}
/* Of c, f16 or f32. */
PXL_INLINE pxl_format pxl_format_of_c(bool f32)
{
    return (pxl_format){f32 ? 23 : 10, f32 ? 8 : 5, 0, 0, f32 ? 0x7f800000u : 0x7c00u, f32 ? 0x7f800000u : 0x7c00u};
}

/* Element i of a register, or a number whose code begins there. */
PXL_INLINE pxl_number pxl_number_of(pxl_format format, uint32_t word, uint32_t i)
{
    const uint32_t bits = word >> (format.first + i * format.step), ones = (1u << format.exponent_bits) - 1;
    const uint32_t f = bits & ((1u << format.fraction) - 1), x = bits >> format.fraction & ones, body = x << format.fraction | f;
    pxl_number n;
    n.m = x ? f | 1u << format.fraction : f;
    n.e = (int32_t)(x ? x : 1) - (int32_t)(ones >> 1);
    n.negative = bits >> (format.fraction + format.exponent_bits) & 1;
    n.nan = body > format.largest;
    n.infinite = body == format.infinity;
    return n;
}

/* Places mag · 2^scale on the grid 2^q; `odd` tells whether bits were lost. */
PXL_INLINE uint32_t pxl_place(uint64_t mag, int32_t shift, bool *half, bool *rest)
{
    *half = *rest = false;
    if (shift <= 0)
        return (uint32_t)(mag << -shift);
    if (shift > 40) {
        *rest = true;
        return 0;
    }
    *half = mag >> (shift - 1) & 1;
    *rest = (mag & ((1ull << (shift - 1)) - 1)) != 0;
    return (uint32_t)(mag >> shift);
}
/* sum · 2^scale as f16, rounded once to nearest even. |sum| < 2^40. */
PXL_INLINE uint32_t pxl_round_f16(int64_t sum, int32_t scale)
{
    if (sum == 0)
        return 0;
    const uint32_t sign = sum < 0 ? 0x8000 : 0;
    const uint64_t mag = (uint64_t)(sum < 0 ? -sum : sum);
    const int32_t e = 63 - __builtin_clzll(mag) + scale;
    if (e > 15)
        return sign | 0x7c00;
    const int32_t q = (e < -14 ? -14 : e) - 10;
    bool half, rest;
    uint32_t m = pxl_place(mag, q - scale, &half, &rest);
    m += half && (rest || (m & 1));
    return sign | (((uint32_t)(q + 24) << 10) + m);
}
/* sum · 2^scale as f32, cut toward zero to `keep` bits after the point; infinity from 2^128. */
PXL_INLINE uint32_t pxl_cut_f32(int64_t sum, int32_t scale, int32_t keep)
{
    if (sum == 0)
        return 0;
    const uint32_t sign = sum < 0 ? 0x80000000u : 0;
    const uint64_t mag = (uint64_t)(sum < 0 ? -sum : sum);
    const int32_t e = 63 - __builtin_clzll(mag) + scale;
    if (e > 127)
        return sign | 0x7f800000;
    const int32_t q = (e < -126 ? -126 : e) - 23;
    bool half, rest;
    const uint32_t m = pxl_place(mag, q - scale, &half, &rest);
    return sign | ((((uint32_t)(q + 149) << 23) + m) & (0xffffffffu << (23 - keep)));
}

/* A term m · 2^(e - fraction bits), cut to F bits below 2^top. */
PXL_INLINE int64_t pxl_cut_term(uint32_t m, int32_t e, int fraction, bool negative, int32_t F, int32_t top)
{
    const int32_t s = top - e, up = F - fraction;
    uint32_t t = up >= 0 ? m << up : m >> -up;
    t = s > 31 ? 0 : t >> s;
    return negative ? -(int64_t)t : (int64_t)t;
}

/* The parts of a row of A and a column of B that one lane multiplies: one or two slabs of four
 * registers each, and the range of elements inside each register that take part. */
typedef struct pxl_mma_span {
    uint32_t slabs, first, last;
} pxl_mma_span;

typedef struct pxl_mma_scan {
    int32_t top;
    bool nan, plus, minus;
} pxl_mma_scan;

PXL_INLINE void pxl_scan_product(pxl_mma_scan *s, pxl_number a, pxl_number b, int32_t scale)
{
    const bool zero_a = a.m == 0 && !a.infinite && !a.nan, zero_b = b.m == 0 && !b.infinite && !b.nan;
    const bool inf = a.infinite || b.infinite, negative = a.negative != b.negative;
    s->nan |= a.nan || b.nan || (inf && (zero_a || zero_b));
    s->plus |= inf && !negative;
    s->minus |= inf && negative;
    const int32_t e = a.e + b.e + scale;
    if (!zero_a && !zero_b && e > s->top)
        s->top = e;
}

/* One step of the model for one element; c and the result are f16 or f32 bits. */
PXL_INLINE uint32_t pxl_dot_step(pxl_format fa, pxl_format fb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, pxl_mma_span span,
                                 uint32_t c, bool f32, pxl_mma_rule rule)
{
    const pxl_number n = pxl_number_of(pxl_format_of_c(f32), c, 0);
    pxl_mma_scan s = {n.m && n.e > rule.least ? n.e : rule.least, n.nan, n.infinite && !n.negative, n.infinite && n.negative};
    pxl_u32x4 a = a0, b = b0;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < 4 * span.slabs; w++) {
        if (w == 4) { a = a1; b = b1; }
#pragma clang loop unroll(disable)
        for (uint32_t i = span.first; i < span.last; i++)
            pxl_scan_product(&s, pxl_number_of(fa, a.x, i), pxl_number_of(fb, b.x, i), rule.scale);
        a = a.yzwx;
        b = b.yzwx;
    }
    if (s.nan || (s.plus && s.minus))
        return f32 ? MMA_NAN32 : MMA_NAN16;
    if (s.plus || s.minus)
        return (s.minus ? (f32 ? 0x80000000u : 0x8000u) : 0) | (f32 ? 0x7f800000u : 0x7c00u);

    const int fraction = (int)(fa.fraction + fb.fraction);
    int64_t sum = pxl_cut_term(n.m, n.e, f32 ? 23 : 10, n.negative, rule.fraction, s.top);
    a = a0;
    b = b0;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < 4 * span.slabs; w++) {
        if (w == 4) { a = a1; b = b1; }
#pragma clang loop unroll(disable)
        for (uint32_t i = span.first; i < span.last; i++) {
            const pxl_number x = pxl_number_of(fa, a.x, i), y = pxl_number_of(fb, b.x, i);
            sum += pxl_cut_term(x.m * y.m, x.e + y.e + rule.scale, fraction, x.negative != y.negative, rule.fraction, s.top);
        }
        a = a.yzwx;
        b = b.yzwx;
    }
    return f32 ? pxl_cut_f32(sum, s.top - rule.fraction, rule.keep) : pxl_round_f16(sum, s.top - rule.fraction);
}

PXL_INLINE float pxl_bits_f32(uint32_t b) { float f; __builtin_memcpy(&f, &b, 4); return f; }
PXL_INLINE uint32_t pxl_f32_bits(float f) { uint32_t b; __builtin_memcpy(&b, &f, 4); return f != f ? (uint32_t)MMA_NAN32 : b; }

/* The value of a multiplicand of at most 16 bits with at most 5 of exponent. */
PXL_INLINE float pxl_small_value(pxl_format format, uint32_t word, uint32_t i)
{
    const pxl_number n = pxl_number_of(format, word, i);
    if (n.nan || n.infinite)
        return pxl_bits_f32((n.negative ? 0x80000000u : 0) | 0x7f800000u | n.nan);
    const uint32_t scale = (uint32_t)(n.e - (int32_t)format.fraction + 127) << 23;
    const float f = (float)n.m * pxl_bits_f32(scale);
    return n.negative ? -f : f;
}
/* The value of a multiplicand; every format is exact in f32. */
PXL_INLINE float pxl_mma_value(int type, uint32_t word, uint32_t i)
{
    if (type == MMA_TF32)
        return pxl_bits_f32(word & 0xffffe000u);
    if (type == MMA_BF16)
        return pxl_bits_f32(word >> (16 * i) << 16);
    return pxl_small_value(pxl_format_of(type), word, i);
}
/* f16 from f32 to nearest even, NaN canonical; in integers, since not every level has the instruction. */
PXL_INLINE uint32_t pxl_f16_from_f32(float f)
{
    uint32_t b;
    __builtin_memcpy(&b, &f, 4);
    const uint32_t sign = b >> 16 & 0x8000, x = b & 0x7fffffff;
    if (x > 0x7f800000)
        return MMA_NAN16;
    if (x == 0x7f800000)
        return sign | 0x7c00;
    const pxl_number n = pxl_number_of(pxl_format_of_c(true), x, 0);
    return sign | pxl_round_f16((int64_t)n.m, n.e - 23);
}
PXL_INLINE float pxl_f32_from_f16(uint32_t h)
{
    return pxl_mma_value(MMA_F16, h, 0);
}

/* p + c rounded once to f32, by way of an f64 sum rounded to odd; p has at most 28 significand bits. */
PXL_INLINE float pxl_add_once(double p, float c)
{
    const double s = p + (double)c, t = s - p;
    const double lost = (p - (s - t)) + ((double)c - t);
    uint64_t u;
    __builtin_memcpy(&u, &s, 8);
    if (lost != 0 && !(u & 1) && (u & 0x7ff0000000000000u) != 0x7ff0000000000000u)
        u += (lost > 0) == !(u >> 63) ? 1 : (uint64_t)-1;
    double r;
    __builtin_memcpy(&r, &u, 8);
    return (float)r;
}
/* a · b + c rounded once. Products of two multiplicands are exact in f64 (at most 22 significand bits). */
PXL_INLINE float pxl_mma_fma(float a, float b, float c)
{
#if PXL_WIDTH == 1 && defined(__AMDGCN__) || defined(__FMA__) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return pxl_add_once((double)a * (double)b, c);
#endif
}

/* The ieee model: a chain of f32 fma in k order, rounded once more for an f16 result. */
PXL_INLINE uint32_t pxl_dot_ieee(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t slabs,
                                 uint32_t c, bool f32)
{
    float sum = f32 ? pxl_bits_f32(c) : pxl_f32_from_f16(c);
    pxl_u32x4 a = a0, b = b0;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < 4 * slabs; w++) {
        if (w == 4) { a = a1; b = b1; }
#pragma clang loop unroll(disable)
        for (uint32_t i = 0; i < (uint32_t)pxl_mma_elements(ta); i++)
            sum = pxl_mma_fma(pxl_mma_value(ta, a.x, i), pxl_mma_value(tb, b.x, i), sum);
        a = a.yzwx;
        b = b.yzwx;
    }
    return f32 ? pxl_f32_bits(sum) : pxl_f16_from_f32(sum);
}

/* What a block scale does to its row or column: the exponent to add, or NaN (PTX ISA, "Block Scaling for mma.sync"). */
enum { MMA_SCALE_NAN = 0x4000 };
PXL_INLINE int32_t pxl_scale_ue8m0(uint32_t byte) { return (byte & 0xff) == 0xff ? MMA_SCALE_NAN : (int32_t)(byte & 0xff) - 127; }

PXL_INLINE double pxl_power_of_two(int32_t e)
{
    const uint64_t u = (uint64_t)(1023 + e) << 52;
    double d;
    __builtin_memcpy(&d, &u, 8);
    return d;
}
/* The chain with scaled products, which f32 cannot hold. */
PXL_INLINE uint32_t pxl_scaled_dot_ieee(pxl_format fa, pxl_format fb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, int32_t scale)
{
    float sum = pxl_bits_f32(c);
    const double power = pxl_power_of_two(scale);
    pxl_u32x4 a = a0, b = b0;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < 8; w++) {
        if (w == 4) { a = a1; b = b1; }
#pragma clang loop unroll(disable)
        for (uint32_t i = 0; i < 4; i++)
            sum = pxl_add_once((double)pxl_small_value(fa, a.x, i) * (double)pxl_small_value(fb, b.x, i) * power, sum);
        a = a.yzwx;
        b = b.yzwx;
    }
    return pxl_f32_bits(sum);
}
/* One element of .kind::mxf8f6f4, by the rule of Blackwell, which alone has it: the scales add to the exponents of the products, and E
 * is not below that of the smallest normal f32 (a zero c has that exponent in MMA-Sim). */
PXL_INLINE uint32_t pxl_scaled_dot(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, int32_t scale_a,
                                   int32_t scale_b, bool ieee)
{
    if (scale_a == MMA_SCALE_NAN || scale_b == MMA_SCALE_NAN)
        return MMA_NAN32;
    if (ieee)
        return pxl_scaled_dot_ieee(pxl_format_of(ta), pxl_format_of(tb), a0, b0, a1, b1, c, scale_a + scale_b);
    const pxl_mma_span span = {2, 0, 4};
    const pxl_mma_rule rule = {25, 23, false, false, scale_a + scale_b, -126};
    return pxl_dot_step(pxl_format_of(ta), pxl_format_of(tb), a0, b0, a1, b1, span, c, true, rule);
}

/* One element of .kind::f8f6f4, which only Blackwell has, or under ieee; written for types that are known at run time only. */
PXL_INLINE uint32_t pxl_f8f6f4_dot(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, bool f32, bool ieee)
{
    const pxl_format fa = pxl_format_of(ta), fb = pxl_format_of(tb);
    const pxl_mma_span span = {2, 0, 4};
    if (!ieee)
        return pxl_dot_step(fa, fb, a0, b0, a1, b1, span, c, f32, pxl_mma_rule_of(true, MODEL_BLACKWELL));
    float sum = f32 ? pxl_bits_f32(c) : pxl_f32_from_f16(c);
    pxl_u32x4 a = a0, b = b0;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < 8; w++) {
        if (w == 4) { a = a1; b = b1; }
#pragma clang loop unroll(disable)
        for (uint32_t i = 0; i < 4; i++)
            sum = pxl_mma_fma(pxl_small_value(fa, a.x, i), pxl_small_value(fb, b.x, i), sum);
        a = a.yzwx;
        b = b.yzwx;
    }
    return f32 ? pxl_f32_bits(sum) : pxl_f16_from_f32(sum);
}

/* One element under any model. */
PXL_INLINE uint32_t pxl_dot(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t slabs, uint32_t c,
                            bool f32, uint32_t model)
{
    if (model == MODEL_IEEE)
        return pxl_dot_ieee(ta, tb, a0, b0, a1, b1, slabs, c, f32);
    const pxl_mma_rule rule = pxl_mma_rule_of(pxl_mma_is_fp8(ta), model);
    const uint32_t n = (uint32_t)pxl_mma_elements(ta), steps = rule.halves ? 2 : rule.split ? slabs : 1;
    const pxl_format fa = pxl_format_of(ta), fb = pxl_format_of(tb);
    uint32_t d = rule.halves ? 0 : c;
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < steps; i++) {
        const pxl_mma_span span = {rule.split ? 1 : slabs, rule.halves ? 2 * i : 0, rule.halves ? 2 * i + 2 : n};
        const bool second = rule.split && i == 1;
        d = pxl_dot_step(fa, fb, second ? a1 : a0, second ? b1 : b0, a1, b1, span, d, f32, rule);
    }
    if (rule.halves)
        d = f32 ? pxl_f32_bits(pxl_bits_f32(c) + pxl_bits_f32(d)) : pxl_f16_from_f32(pxl_f32_from_f16(c) + pxl_f32_from_f16(d));
    return d;
}

#endif
