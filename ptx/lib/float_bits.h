/* float_bits.h - f32 and f64 as bits: constants, flushing, canonical NaNs, exact conversions and directed rounding.
 *
 * Nothing here changes a rounding mode. Directed rounding comes from exact arithmetic:
 *   - an f32 operation is carried out in f64, where it is exact or "rounded to
 *     odd" (cut, with the last bit set when anything was cut off), and then converted
 *     with the wanted rounding: 53 >= 24 + 2 bits make that one rounding;
 *   - an f64 operation is carried out on integers (see f64_exact.h).
 * Every NaN result is the canonical one: 0x7fffffff, 0x7ff8000000000000.
 */
#ifndef PXL_FLOAT_BITS_H
#define PXL_FLOAT_BITS_H

#include "lane.h"

/* Names of the roundings as PTX spells them, so that macros can paste them. */
enum pxl_rounding { PXL_rn, PXL_rz, PXL_rm, PXL_rp, PXL_rna, PXL_odd };

#define F32_SIGN 0x80000000u
#define F32_INF  0x7f800000u
#define F32_NAN  0x7fffffffu
#define F64_SIGN 0x8000000000000000ull
#define F64_INF  0x7ff0000000000000ull
#define F64_NAN  0x7ff8000000000000ull

/* For long functions that many meanings use: compiled once at width 32, inlined as everything else at width 1. */
#if PXL_WIDTH == 1
#define PXL_SHARED PXL_INLINE
#else
#define PXL_SHARED static __attribute__((noinline, unused))
#endif

/* A condition between values of one size, made fit to select values of another. */
#if PXL_WIDTH == 1
#define AS_COND16(c) (c)
#define AS_COND32(c) (c)
#define AS_COND64(c) (c)
#else
#define AS_COND16(c) __builtin_convertvector((c), L_s16)
#define AS_COND32(c) __builtin_convertvector((c), L_s32)
#define AS_COND64(c) __builtin_convertvector((c), L_s64)
#endif

/* Subnormals to zero of the same sign (.ftz). */
PXL_INLINE L_f32 f32_flush(L_f32 x)
{
    L_u32 b = as_u32(x);
    return as_f32(SEL((b & F32_INF) == 0, b & F32_SIGN, b));
}

PXL_INLINE L_f32 f32_canonical(L_f32 x)
{
    return as_f32(SEL(x != x, SPLAT(L_u32, F32_NAN), as_u32(x)));
}

PXL_INLINE L_f64 f64_canonical(L_f64 x)
{
    return as_f64(SEL(x != x, SPLAT(L_u64, F64_NAN), as_u64(x)));
}

PXL_INLINE L_f32 f32_in(L_f32 x, bool ftz) { return ftz ? f32_flush(x) : x; }

/* .sat: to [+0, 1], NaN to +0. The comparison is false for NaN, for -0 and for negatives. */
PXL_INLINE L_f32 f32_saturate(L_f32 x)
{
    L_u32 b = SEL(x > SPLAT(L_f32, 0), as_u32(x), SPLAT(L_u32, 0));
    return SEL(as_f32(b) > SPLAT(L_f32, 1), SPLAT(L_f32, 1), as_f32(b));
}

PXL_INLINE L_f64 f64_saturate(L_f64 x)
{
    L_u64 b = SEL(x > SPLAT(L_f64, 0), as_u64(x), SPLAT(L_u64, 0));
    return SEL(as_f64(b) > SPLAT(L_f64, 1), SPLAT(L_f64, 1), as_f64(b));
}

PXL_INLINE L_f32 f32_out(L_f32 x, bool ftz, bool sat)
{
    if (ftz)
        x = f32_flush(x);
    return sat ? f32_saturate(x) : f32_canonical(x);
}

/* Moves f32 bits one step away from zero (or toward it) in the lanes of a condition. */
#define F32_STEP_OUT(c, b) SEL(c, (b) + 1, b)
#define F32_STEP_IN(c, b) SEL(c, (b) - 1, b)

/* f64 to f32 under any rounding. `x` is exact, or rounded to odd from an exact value.
 * The nearest f32 is corrected by one step when it lies on the wrong side; stepping down
 * from infinity gives the largest number and from the smallest subnormal zero, as it should. */
PXL_INLINE L_f32 f32_from_f64(L_f64 x, enum pxl_rounding rounding)
{
    L_f32 r = CONVERT(L_f32, x);
    if (rounding == PXL_rn)
        return r;
    L_f64 back = CONVERT(L_f64, r);
    L_u32 b = as_u32(r), negative = b & F32_SIGN;
    L_f64 size = as_f64(as_u64(x) & ~F64_SIGN), back_size = as_f64(as_u64(back) & ~F64_SIGN);
    if (rounding == PXL_rz || rounding == PXL_odd)
        b = F32_STEP_IN(AS_COND32(back_size > size), b);
    if (rounding == PXL_odd)
        b |= SEL(AS_COND32(back != x) & AS_COND32(x == x), SPLAT(L_u32, 1), SPLAT(L_u32, 0));
    if (rounding == PXL_rm || rounding == PXL_rp) {
        L_u32 wrong = rounding == PXL_rm ? negative : F32_SIGN - negative; /* sign that rounds away from zero */
        b = SEL(wrong != 0, F32_STEP_OUT(AS_COND32(back_size < size), b), F32_STEP_IN(AS_COND32(back_size > size), b));
    }
    return as_f32(b);
}

/* a + b in f64, rounded to odd, for operands whose sum cannot overflow. The error of a
 * sum is itself an f64 (Knuth's TwoSum), and tells on which side of it the exact sum lies. */
PXL_INLINE L_f64 f64_add_odd(L_f64 a, L_f64 b)
{
    L_f64 s = a + b;
    L_f64 b_part = s - a, a_part = s - b_part;
    L_f64 error = (a - a_part) + (b - b_part);
    L_u64 bits = as_u64(s);
    L_u64 toward_zero = (as_u64(error) ^ bits) >> 63;
    L_u64 odd = (bits - toward_zero) | 1;
    return as_f64(SEL((error < SPLAT(L_f64, 0)) | (error > SPLAT(L_f64, 0)), odd, bits)); /* an invalid error (infinities) changes nothing */
}

/* a * b + c of f32 values with one rounding; the product is exact in f64. */
PXL_INLINE L_f32 f32_fma_by_f64(L_f32 a, L_f32 b, L_f32 c, enum pxl_rounding rounding)
{
    L_f64 product = CONVERT(L_f64, a) * CONVERT(L_f64, b);
    L_f64 sum = f64_add_odd(product, CONVERT(L_f64, c));
    L_u32 r = as_u32(f32_from_f64(sum, rounding));
    /* An exact zero sum of opposite signs is -0 when rounding down. */
    if (rounding == PXL_rm) {
        L_u64 signs = as_u64(product) & as_u64(CONVERT(L_f64, c)) & F64_SIGN, either = (as_u64(product) | as_u64(CONVERT(L_f64, c))) & F64_SIGN;
        r = SEL(AS_COND32(sum == SPLAT(L_f64, 0)) & AS_COND32(either != signs), SPLAT(L_u32, F32_SIGN), r);
    }
    return as_f32(r);
}

PXL_INLINE L_f32 f32_fma(L_f32 a, L_f32 b, L_f32 c, enum pxl_rounding rounding)
{
#if defined(__FMA__) || defined(__AMDGCN__) || defined(__aarch64__)
    if (rounding == PXL_rn)
        return __builtin_elementwise_fma(a, b, c);
#endif
    return f32_fma_by_f64(a, b, c, rounding);
}

PXL_INLINE L_f32 f32_add(L_f32 a, L_f32 b, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? a + b : f32_fma_by_f64(a, SPLAT(L_f32, 1), b, rounding);
}

PXL_INLINE L_f32 f32_sub(L_f32 a, L_f32 b, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? a - b : f32_fma_by_f64(b, SPLAT(L_f32, -1), a, rounding);
}

PXL_INLINE L_f32 f32_mul(L_f32 a, L_f32 b, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? a * b : f32_from_f64(CONVERT(L_f64, a) * CONVERT(L_f64, b), rounding);
}

/* A quotient of f32 values that is no f32 lies further from every f32 than f64's rounding
 * error (its distance is at least 2^-48 of it), so rounding the rounded quotient is safe. */
PXL_INLINE L_f32 f32_div(L_f32 a, L_f32 b, enum pxl_rounding rounding)
{
#if defined(__AMDGCN__)                  /* see f64_div in f64_exact.h */
    if (rounding == PXL_rn && (~as_u32(b) & 0x7fffff) == 0)
        return f32_from_f64(CONVERT(L_f64, a) / CONVERT(L_f64, b), PXL_rn);
#endif
    return rounding == PXL_rn ? a / b : f32_from_f64(CONVERT(L_f64, a) / CONVERT(L_f64, b), rounding);
}

/* The hardware's square root, NaN for negative numbers. Written by way of |a|: LLVM knows that the root of a
 * negative number is a NaN, takes any NaN to be as good, and would drop a later choice of the canonical one. */
PXL_INLINE L_f32 f32_sqrt_nearest(L_f32 a)
{
    L_u32 root = as_u32(__builtin_elementwise_sqrt(as_f32(as_u32(a) & ~F32_SIGN))) | (as_u32(a) & F32_SIGN);
    return as_f32(SEL(a < SPLAT(L_f32, 0), SPLAT(L_u32, F32_NAN), root));
}

PXL_INLINE L_f64 f64_sqrt_nearest(L_f64 a)
{
    L_u64 root = as_u64(__builtin_elementwise_sqrt(as_f64(as_u64(a) & ~F64_SIGN))) | (as_u64(a) & F64_SIGN);
    return as_f64(SEL(a < SPLAT(L_f64, 0), SPLAT(L_u64, F64_NAN), root));
}

/* As with the quotient, a root that is no f32 is far from all of them: 2^-49 of it at least. */
PXL_INLINE L_f32 f32_sqrt(L_f32 a, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? f32_sqrt_nearest(a) : f32_from_f64(f64_sqrt_nearest(CONVERT(L_f64, a)), rounding);
}

#endif
