/* int_bits.h - integer helpers over lanes: shifts past the width, masks, quotients, pairs of 16-bit lanes. */
#ifndef PXL_INT_BITS_H
#define PXL_INT_BITS_H

#include "lane.h"

/* A register of two 16-bit numbers as neighbouring 16-bit lanes: 64 of them at width 32, 2 at width 1. */
typedef uint16_t P_u16 __attribute__((ext_vector_type(2 * PXL_WIDTH)));
typedef int16_t P_s16 __attribute__((ext_vector_type(2 * PXL_WIDTH)));
PXL_INLINE P_u16 AS_P_u16(L_u32 x) { P_u16 r; __builtin_memcpy(&r, &x, sizeof r); return r; }
PXL_INLINE P_s16 AS_P_s16(L_u32 x) { P_s16 r; __builtin_memcpy(&r, &x, sizeof r); return r; }
PXL_INLINE L_u32 P_AS_u32(P_u16 x) { L_u32 r; __builtin_memcpy(&r, &x, sizeof r); return r; }

/* Operands of products and sums in a type that wraps: a 16-bit product would overflow int at width 1. */
#if PXL_WIDTH == 1
#define WRAP_u16(x) ((uint32_t)(uint16_t)(x))
#else
#define WRAP_u16(x) ((L_u16)(x))
#endif
#define WRAP_u32(x) ((L_u32)(x))
#define WRAP_u64(x) ((L_u64)(x))

/* Shifts by any amount: nothing is left when it reaches the width. */
#define INT_SHIFTS(size) \
    PXL_INLINE L_u##size shift_left_u##size(L_u##size x, L_u##size n) \
    { \
        return SEL(n < size, (L_u##size)(x << (n & (size - 1))), SPLAT(L_u##size, 0)); \
    } \
    PXL_INLINE L_u##size shift_right_u##size(L_u##size x, L_u##size n) \
    { \
        return SEL(n < size, (L_u##size)(x >> (n & (size - 1))), SPLAT(L_u##size, 0)); \
    } \
    PXL_INLINE L_s##size shift_right_s##size(L_s##size x, L_u##size n) \
    { \
        L_u##size k = SEL(n < size, n, SPLAT(L_u##size, size - 1)); \
        return (L_s##size)(x >> (L_s##size)k); \
    } \
    /* The n low bits set, all of them when n reaches the width. */ \
    PXL_INLINE L_u##size low_mask_u##size(L_u##size n) \
    { \
        L_u##size one = SPLAT(L_u##size, 1); \
        return shift_left_u##size(one, n) - 1; \
    }
INT_SHIFTS(16) INT_SHIFTS(32) INT_SHIFTS(64)

PXL_INLINE L_u32 leading_zeros_u32(L_u32 x) { return __builtin_elementwise_clzg(x, SPLAT(L_u32, 32)); }
PXL_INLINE L_u64 leading_zeros_u64(L_u64 x) { return __builtin_elementwise_clzg(x, SPLAT(L_u64, 64)); }

/* Upper half of a 64 x 64-bit product. */
PXL_INLINE L_u64 u64_high_product(L_u64 a, L_u64 b)
{
    L_u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
    L_u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    L_u64 middle = (p00 >> 32) + (p01 & 0xffffffffu) + (p10 & 0xffffffffu);
    return p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

/* Quotients for divisors other than zero. Vector units have no integer division; the
 * floating quotient of integers of half its precision, cut, is exact: below an integer k it is
 * at most k - 1/b, and 1/(k b) is more than the rounding error. */
#if PXL_WIDTH == 1
PXL_INLINE L_u16 quotient_u16(L_u16 a, L_u16 b) { return a / b; }
PXL_INLINE L_u32 quotient_u32(L_u32 a, L_u32 b) { return a / b; }
#else
PXL_INLINE L_u16 quotient_u16(L_u16 a, L_u16 b)
{
    return CONVERT(L_u16, CONVERT(L_s32, CONVERT(L_f32, CONVERT(L_s32, a)) / CONVERT(L_f32, CONVERT(L_s32, b))));
}
PXL_INLINE L_u32 quotient_u32(L_u32 a, L_u32 b) { return CONVERT(L_u32, CONVERT(L_f64, a) / CONVERT(L_f64, b)); }
#endif
PXL_INLINE L_u64 quotient_u64(L_u64 a, L_u64 b) { return a / b; }

#endif
