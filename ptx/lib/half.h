/* half.h - f16 and bf16: conversions, and f16 arithmetic in chunks.
 *
 * Bits, not values: f16 lanes are taken as 16-bit integers, and arithmetic on them widens to f32.
 * The hardware converts where it can (F16C, AVX-512, AMD); elsewhere integer code does, with
 * the same bits. At width 32 a register of halves is worked on 16 numbers at a time, so
 * that intermediate f32 values stay in machine registers; a packed register is simply
 * twice as many numbers. At width 1 a chunk is one number.
 */
#ifndef PXL_HALF_H
#define PXL_HALF_H

#include "lane.h"
#include "float_bits.h"
#include "round.h"

#define F16_INF 0x7c00u
#define F16_NAN 0x7fffu
#define BF16_INF 0x7f80u
#define BF16_NAN 0x7fffu

#if PXL_WIDTH == 32
typedef uint16_t C_u16 __attribute__((ext_vector_type(16), may_alias));
typedef int16_t  C_s16 __attribute__((ext_vector_type(16), may_alias));
typedef _Float16 C_f16 __attribute__((ext_vector_type(16), may_alias));
typedef uint32_t C_u32 __attribute__((ext_vector_type(16), may_alias));
typedef int32_t  C_s32 __attribute__((ext_vector_type(16), may_alias));
typedef float    C_f32 __attribute__((ext_vector_type(16), may_alias));
#define C_BITS(type, x) ((type)(x))
enum { HALF_CHUNKS = 2 };
#else
typedef uint16_t C_u16 __attribute__((may_alias));
typedef int16_t  C_s16;
typedef _Float16 C_f16;
typedef uint32_t C_u32;
typedef int32_t  C_s32;
typedef float    C_f32;
#define C_BITS(type, x) PXL_BITS(type, x)
enum { HALF_CHUNKS = 1 };
#endif
enum { PAIR_CHUNKS = 2 * HALF_CHUNKS };

#if defined(__F16C__) || defined(__AMDGCN__) || defined(__aarch64__)
#define PXL_HARDWARE_F16 1
#else
#define PXL_HARDWARE_F16 0
#endif

/* ---- one chunk ---- */

PXL_INLINE C_u16 c_nan_canonical(C_u16 x, uint16_t infinity)
{
    C_s16 size = C_BITS(C_s16, x) & (int16_t)0x7fff; /* signed comparisons are the cheaper ones */
    return SEL(size > (int16_t)infinity, SPLAT(C_u16, 0x7fff), x);
}

/* Subnormal f16 to zero of the same sign. */
PXL_INLINE C_u16 c_f16_flush(C_u16 x)
{
    C_u16 exponent = x & (uint16_t)F16_INF;
    return SEL(exponent == 0, (C_u16)(x & (uint16_t)0x8000), x);
}

/* Without hardware: the exponent moved by a multiplication, which is exact and normalises subnormals. */
PXL_INLINE C_f32 c_f16_widen(C_u16 x)
{
#if PXL_HARDWARE_F16
    return CONVERT(C_f32, C_BITS(C_f16, x));
#else
    C_u32 b = CONVERT(C_u32, x), size = (b & 0x7fff) << 13, sign = (b & 0x8000) << 16;
    C_u32 number = C_BITS(C_u32, C_BITS(C_f32, size) * SPLAT(C_f32, 0x1p112f));
    return C_BITS(C_f32, SEL(size >= (F16_INF << 13), size | F32_INF, number) | sign);
#endif
}

/* To nearest even; NaNs become canonical. */
PXL_INLINE C_u16 c_f16_narrow(C_f32 x)
{
#if PXL_HARDWARE_F16
    return c_nan_canonical(C_BITS(C_u16, CONVERT(C_f16, x)), F16_INF);
#else
    /* As round_to_code_nearest: adding the power of two (step) 13 binary orders above x, whose last f32 bit is the last
     * f16 bit of x, rounds there and leaves the rounded significand at the bottom of the sum. */
    C_u32 b = C_BITS(C_u32, x), size = b & ~F32_SIGN, sign = (b & F32_SIGN) >> 16;
    C_u32 big = SEL(size > (143u << 23), SPLAT(C_u32, 143u << 23), size); /* 2^16 and above become infinity */
    C_u32 step = (big & F32_INF) + (13u << 23), least_step = SPLAT(C_u32, 126u << 23);
    step = SEL(step < least_step, least_step, step);
    C_u32 significand = C_BITS(C_u32, C_BITS(C_f32, big) + C_BITS(C_f32, step)) - step;
    C_u32 r = ((step - least_step) >> 13) + significand;
    r = SEL(r > F16_INF, SPLAT(C_u32, F16_INF), r);
    r = SEL(size > F32_INF, SPLAT(C_u32, F16_NAN), r | sign);
    return CONVERT(C_u16, r);
#endif
}

/* a * b + c with one rounding to f16. The product is exact in f32; the sum is rounded
 * to odd (its error decides the last bit), and 24 >= 11 + 2 bits allow one more rounding. */
PXL_INLINE C_u16 c_f16_fma(C_u16 pa, C_u16 pb, C_u16 pc)
{
#if defined(__AMDGCN__)
    return c_nan_canonical(C_BITS(C_u16, __builtin_elementwise_fma(C_BITS(C_f16, pa), C_BITS(C_f16, pb), C_BITS(C_f16, pc))), F16_INF);
#else
    C_f32 p = c_f16_widen(pa) * c_f16_widen(pb), c = c_f16_widen(pc), s = p + c;
    C_f32 c_part = s - p, p_part = s - c_part, error = (p - p_part) + (c - c_part);
    C_u32 bits = C_BITS(C_u32, s), opposite = (C_BITS(C_u32, error) ^ bits) >> 31;
    C_u32 odd = (bits - opposite) | 1;
    /* the error of infinities is a NaN, and compares false */
    return c_f16_narrow(C_BITS(C_f32, SEL((error < SPLAT(C_f32, 0)) | (error > SPLAT(C_f32, 0)), odd, bits)));
#endif
}

/* .sat: [+0, 1], NaN to +0. */
PXL_INLINE C_u16 c_half_saturate(C_u16 x, uint16_t infinity, uint16_t one)
{
    C_u16 r = SEL(x > one, SPLAT(C_u16, one), x);
    return SEL(x > infinity, SPLAT(C_u16, 0), r); /* negative numbers and NaNs have greater bits than infinity */
}

/* .relu: negative numbers and -0 to +0. NaNs are canonical, hence positive. */
PXL_INLINE C_u16 c_half_relu(C_u16 x)
{
    return SEL(x >= (uint16_t)0x8000, SPLAT(C_u16, 0), x);
}

/* Bits as integers in the order of the numbers, -0 just under +0. */
PXL_INLINE C_s16 c_half_key(C_u16 x)
{
    C_s16 s = C_BITS(C_s16, x);
    return s ^ ((s >> (int16_t)15) & (int16_t)0x7fff);
}

/* The lesser (or greater) of two; NaN operands lose, or win when `nan` is set. */
PXL_INLINE C_u16 c_half_lesser(C_u16 a, C_u16 b, bool greater, bool nan, uint16_t infinity)
{
    C_s16 ka = c_half_key(a), kb = c_half_key(b);
    C_u16 r = greater ? SEL(ka > kb, a, b) : SEL(ka < kb, a, b);
    C_s16 size_a = C_BITS(C_s16, a) & (int16_t)0x7fff, size_b = C_BITS(C_s16, b) & (int16_t)0x7fff;
    r = SEL(size_a > (int16_t)infinity, nan ? a : b, r);
    r = SEL(size_b > (int16_t)infinity, nan ? b : a, r);
    return c_nan_canonical(r, infinity);
}

/* ---- whole lanes ---- */

PXL_INLINE L_f32 f32_from_f16(L_u16 x)
{
#if PXL_HARDWARE_F16
    return CONVERT(L_f32, as_f16(x));
#else
    L_f32 r;
    C_f32 part[HALF_CHUNKS];
    for (int k = 0; k < HALF_CHUNKS; k++)
        part[k] = c_f16_widen(((const C_u16 *)(const void *)&x)[k]);
    __builtin_memcpy(&r, part, sizeof r);
    return r;
#endif
}

PXL_INLINE L_u16 f16_from_f32(L_f32 x)
{
#if PXL_HARDWARE_F16
    L_u16 r = as_u16(CONVERT(L_f16, x));
    L_s16 size = as_s16(r) & (int16_t)0x7fff;
    return SEL(size > (int16_t)F16_INF, SPLAT(L_u16, F16_NAN), r);
#else
    L_u16 r;
    C_u16 part[HALF_CHUNKS];
    for (int k = 0; k < HALF_CHUNKS; k++)
        part[k] = c_f16_narrow(((const C_f32 *)(const void *)&x)[k]);
    __builtin_memcpy(&r, part, sizeof r);
    return r;
#endif
}

PXL_INLINE L_f32 f32_from_bf16(L_u16 x) { return as_f32(CONVERT(L_u32, x) << 16); }

/* The conversions under the names that other families use. NaNs come out canonical from narrowing only. */
PXL_INLINE L_f32 pxl_f16_to_f32(L_f16 x) { return f32_from_f16(as_u16(x)); }
PXL_INLINE L_f16 pxl_f32_to_f16(L_f32 x) { return as_f16(f16_from_f32(x)); }

#endif
