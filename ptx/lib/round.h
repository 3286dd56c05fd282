/* round.h - rounding f32 bits to the smaller formats, under every rounding, and widening them again.
 *
 * A format is its number of fraction bits and its exponent bias; codes without their sign
 * are unsigned integers in the order of the numbers. The input may be exact or an f32
 * rounded to odd (float_bits.h): all formats here have at most 22 significant bits, so that
 * the result is rounded once.
 */
#ifndef PXL_ROUND_H
#define PXL_ROUND_H

#include "float_bits.h"

/* Fraction bits, bias, code of the largest number. */
typedef struct pxl_format { int fraction, bias; uint32_t largest; } pxl_format;
#define FORMAT_F16  ((pxl_format){10, 15, 0x7bff})
#define FORMAT_E4M3 ((pxl_format){3, 7, 0x7e})
#define FORMAT_E5M2 ((pxl_format){2, 15, 0x7b})
#define FORMAT_E2M3 ((pxl_format){3, 1, 0x1f})
#define FORMAT_E3M2 ((pxl_format){2, 3, 0x1f})
#define FORMAT_E2M1 ((pxl_format){1, 1, 0x07})

/* 1 where a value with these sign bits, cut to (q, rest of `half` * 2), is to be rounded away from zero. */
PXL_INLINE L_u32 round_up(L_u32 q, L_u32 rest, L_u32 half, L_u32 sign, enum pxl_rounding rounding)
{
    L_u32 one = SPLAT(L_u32, 1), zero = SPLAT(L_u32, 0);
    switch (rounding) {
    case PXL_rn:  return SEL(rest + (q & 1) > half, one, zero);
    case PXL_rna: return SEL(rest >= half, one, zero);
    case PXL_rm:  return SEL(rest != 0, one, zero) & (sign >> 31);
    case PXL_rp:  return SEL(rest != 0, one, zero) & ~(sign >> 31);
    default:      return zero;
    }
}

/* The code of |x| in a format with a narrower exponent range than f32. `bits` are the f32 bits, not of a NaN.
 * Codes run on past the largest; the caller limits them. */
PXL_INLINE L_u32 round_to_code(L_u32 bits, pxl_format f, enum pxl_rounding rounding)
{
    L_u32 x = bits & ~F32_SIGN, e = x >> 23, least = SPLAT(L_u32, (uint32_t)(128 - f.bias)); /* exponent of the smallest normal number */
    L_u32 deficit = SEL(e < least, least - e, SPLAT(L_u32, 0));
    L_u32 significand = (x & 0x7fffff) | 0x800000; /* an f32 subnormal is less than half of anything, and stays so */
    significand = SEL(x == 0, SPLAT(L_u32, 0), significand);
    L_u32 shift = deficit + (uint32_t)(23 - f.fraction);
    shift = SEL(shift > 31, SPLAT(L_u32, 31), shift);
    L_u32 q = significand >> shift, one = SPLAT(L_u32, 1);
    L_u32 rest = significand - (q << shift), half = one << (shift - 1);
    L_u32 base = SEL(e < least, SPLAT(L_u32, 0), (e - least) << f.fraction);
    return base + q + round_up(q, rest, half, bits & F32_SIGN, rounding);
}

/* The same to nearest even, faster: adding the power of two (step) whose last f32 bit is the number's last bit in the format
 * rounds there, and leaves the rounded significand as an integer at the bottom of the sum. */
PXL_INLINE L_u32 round_to_code_nearest(L_u32 bits, pxl_format f)
{
    const uint32_t beyond = (uint32_t)(128 + (int)(f.largest >> f.fraction) - f.bias) << 23;  /* above the largest number */
    const uint32_t least_step = (uint32_t)(151 - f.bias - f.fraction) << 23;                  /* of the subnormal numbers */
    L_u32 size = bits & ~F32_SIGN;
    size = SEL(size > beyond, SPLAT(L_u32, beyond), size);
    L_u32 step = (size & F32_INF) + ((uint32_t)(23 - f.fraction) << 23);
    step = SEL(step < least_step, SPLAT(L_u32, least_step), step);
    L_u32 significand = as_u32(as_f32(size) + as_f32(step)) - step;
    return ((step - least_step) >> (23 - f.fraction)) + significand;
}

/* Stochastic rounding: `random`, of `count` bits, is added at the top of the bits to be cut off. */
PXL_INLINE L_u32 round_to_code_random(L_u32 bits, pxl_format f, L_u32 random, int count)
{
    L_u32 x = bits & ~F32_SIGN, e = x >> 23, least = SPLAT(L_u32, (uint32_t)(128 - f.bias));
    L_u32 deficit = SEL(e < least, least - e, SPLAT(L_u32, 0));
    L_u32 significand = SEL(x == 0, SPLAT(L_u32, 0), (x & 0x7fffff) | 0x800000);
    L_u32 shift = deficit + (uint32_t)(23 - f.fraction);
    /* beyond 31 places the significand is cut first: random numbers have far fewer places */
    L_u32 excess = SEL(shift > 31, shift - 31, SPLAT(L_u32, 0));
    significand = significand >> SEL(excess > 31, SPLAT(L_u32, 31), excess);
    shift = SEL(shift > 31, SPLAT(L_u32, 31), shift);
    L_u32 q = (significand + (random << (shift - (uint32_t)count))) >> shift;
    L_u32 base = SEL(e < least, SPLAT(L_u32, 0), (e - least) << f.fraction);
    return base + q;
}

/* Limits a code: to the largest number where the rounding goes toward zero, else to infinity, its successor. */
PXL_INLINE L_u32 limit_code(L_u32 code, L_u32 bits, uint32_t largest, enum pxl_rounding rounding)
{
    L_u32 limit = SPLAT(L_u32, largest + 1), negative = bits >> 31;
    if (rounding == PXL_rz)
        limit = limit - 1;
    if (rounding == PXL_rm)
        limit = limit - (negative ^ 1);
    if (rounding == PXL_rp)
        limit = limit - negative;
    limit = SEL((bits & ~F32_SIGN) == F32_INF, SPLAT(L_u32, largest + 1), limit);
    return SEL(code > limit, limit, code);
}

/* f16 bits, in 32-bit lanes, of f32 bits; the canonical NaN for NaNs. */
PXL_INLINE L_u32 f16_code_from_f32(L_f32 x, enum pxl_rounding rounding)
{
    L_u32 bits = as_u32(x), code = limit_code(round_to_code(bits, FORMAT_F16, rounding), bits, 0x7bff, rounding);
    return SEL(x != x, SPLAT(L_u32, 0x7fff), code | ((bits & F32_SIGN) >> 16));
}

/* Formats with the exponent range of f32 lose `drop` low bits (bf16: 16, tf32: 13); carries run into the
 * exponent and up to infinity by themselves. The low bits of the result are zero. NaNs become 0x7fffffff. */
PXL_INLINE L_u32 f32_drop_bits(L_f32 x, uint32_t drop, enum pxl_rounding rounding)
{
    L_u32 bits = as_u32(x), q = bits >> drop, rest = bits & ((1u << drop) - 1);
    q += round_up(q, rest, SPLAT(L_u32, 1u << (drop - 1)), bits & F32_SIGN, rounding);
    return SEL(x != x, SPLAT(L_u32, F32_NAN), q << drop);
}

/* bf16 bits in 32-bit lanes. */
PXL_INLINE L_u32 bf16_code_from_f32(L_f32 x, enum pxl_rounding rounding)
{
    return f32_drop_bits(x, 16, rounding) >> 16;
}

#endif
