/* compare.c - setp, set, selp, slct (PTX ISA, "Comparison and Selection Instructions", "Half Precision Comparison Instructions").
 *
 * A comparison gives a predicate per lane. The ordered comparisons are false and the
 * unordered ones (equ ... geu, nan) true when an operand is NaN. setp's second result is the complement,
 * each combined with the predicate c; for packed operands the two results are those of the
 * low and of the high half.
 */
#include "lane.h"
#include "float_bits.h"
#include "half.h"

/* ---- comparisons of integers and of f32 and f64, as predicates ---- */

#define CMP_INT_eq(a, b) PRED((a) == (b))
#define CMP_INT_ne(a, b) PRED((a) != (b))
#define CMP_INT_lt(a, b) PRED((a) < (b))
#define CMP_INT_le(a, b) PRED((a) <= (b))
#define CMP_INT_gt(a, b) PRED((a) > (b))
#define CMP_INT_ge(a, b) PRED((a) >= (b))

#define CMP_FLOAT_eq(a, b) PRED((a) == (b))
#define CMP_FLOAT_ne(a, b) (PRED((a) < (b)) | PRED((a) > (b)))
#define CMP_FLOAT_lt(a, b) PRED((a) < (b))
#define CMP_FLOAT_le(a, b) PRED((a) <= (b))
#define CMP_FLOAT_gt(a, b) PRED((a) > (b))
#define CMP_FLOAT_ge(a, b) PRED((a) >= (b))
#define CMP_FLOAT_equ(a, b) PRED_NOT(CMP_FLOAT_ne(a, b))
#define CMP_FLOAT_neu(a, b) PRED((a) != (b))
#define CMP_FLOAT_ltu(a, b) PRED_NOT(CMP_FLOAT_ge(a, b))
#define CMP_FLOAT_leu(a, b) PRED_NOT(CMP_FLOAT_gt(a, b))
#define CMP_FLOAT_gtu(a, b) PRED_NOT(CMP_FLOAT_le(a, b))
#define CMP_FLOAT_geu(a, b) PRED_NOT(CMP_FLOAT_lt(a, b))
#define CMP_FLOAT_num(a, b) (PRED((a) == (a)) & PRED((b) == (b)))
#define CMP_FLOAT_nan(a, b) (PRED((a) != (a)) | PRED((b) != (b)))

/* Halves compare as integers in their order, where both zeros are 0. */
PXL_INLINE L_s16 half_order(L_u16 x)
{
    L_s16 s = as_s16(x), size = s & (int16_t)0x7fff;
    return SEL(s < (int16_t)0, (L_s16)(SPLAT(L_s16, 0) - size), size);
}

PXL_INLINE L_u16 half_flush(L_u16 x)
{
    L_u16 exponent = x & (uint16_t)F16_INF;
    return SEL(exponent == 0, (L_u16)(x & (uint16_t)0x8000), x);
}

PXL_INLINE L_pred half_is_nan(L_u16 x, int16_t infinity)
{
    L_s16 size = as_s16(x) & (int16_t)0x7fff;
    return PRED(size > infinity);
}

#define CMP_HALF_NUM(a, b, inf) PRED_NOT(half_is_nan(a, inf) | half_is_nan(b, inf))
#define CMP_HALF_eq(a, b, inf) (PRED(half_order(a) == half_order(b)) & CMP_HALF_NUM(a, b, inf))
#define CMP_HALF_ne(a, b, inf) (PRED(half_order(a) != half_order(b)) & CMP_HALF_NUM(a, b, inf))
#define CMP_HALF_lt(a, b, inf) (PRED(half_order(a) < half_order(b)) & CMP_HALF_NUM(a, b, inf))
#define CMP_HALF_le(a, b, inf) (PRED(half_order(a) <= half_order(b)) & CMP_HALF_NUM(a, b, inf))
#define CMP_HALF_gt(a, b, inf) (PRED(half_order(a) > half_order(b)) & CMP_HALF_NUM(a, b, inf))
#define CMP_HALF_ge(a, b, inf) (PRED(half_order(a) >= half_order(b)) & CMP_HALF_NUM(a, b, inf))
#define CMP_HALF_equ(a, b, inf) PRED_NOT(CMP_HALF_ne(a, b, inf))
#define CMP_HALF_neu(a, b, inf) PRED_NOT(CMP_HALF_eq(a, b, inf))
#define CMP_HALF_ltu(a, b, inf) PRED_NOT(CMP_HALF_ge(a, b, inf))
#define CMP_HALF_leu(a, b, inf) PRED_NOT(CMP_HALF_gt(a, b, inf))
#define CMP_HALF_gtu(a, b, inf) PRED_NOT(CMP_HALF_le(a, b, inf))
#define CMP_HALF_geu(a, b, inf) PRED_NOT(CMP_HALF_lt(a, b, inf))
#define CMP_HALF_num(a, b, inf) CMP_HALF_NUM(a, b, inf)
#define CMP_HALF_nan(a, b, inf) (half_is_nan(a, inf) | half_is_nan(b, inf))

/* The comparison as a function per type: compare_lt_s32(a, b) and so on; _ftz where it exists. */
#define COMPARE_INT(cmp, T) PXL_INLINE L_pred compare_##cmp##_##T(L_##T a, L_##T b) { return CMP_INT_##cmp(a, b); }
#define COMPARE_FLOAT(cmp) \
    PXL_INLINE L_pred compare_##cmp##_f32(L_f32 a, L_f32 b) { return CMP_FLOAT_##cmp(a, b); } \
    PXL_INLINE L_pred compare_##cmp##_ftz_f32(L_f32 x, L_f32 y) { L_f32 a = f32_flush(x), b = f32_flush(y); return CMP_FLOAT_##cmp(a, b); } \
    PXL_INLINE L_pred compare_##cmp##_f64(L_f64 a, L_f64 b) { return CMP_FLOAT_##cmp(a, b); } \
    PXL_INLINE L_pred compare_##cmp##_bits_f16(L_u16 a, L_u16 b) { return CMP_HALF_##cmp(a, b, (int16_t)F16_INF); } \
    PXL_INLINE L_pred compare_##cmp##_ftz_bits_f16(L_u16 x, L_u16 y) { L_u16 a = half_flush(x), b = half_flush(y); return CMP_HALF_##cmp(a, b, (int16_t)F16_INF); } \
    PXL_INLINE L_pred compare_##cmp##_f16(L_f16 a, L_f16 b) { return compare_##cmp##_bits_f16(as_u16(a), as_u16(b)); } \
    PXL_INLINE L_pred compare_##cmp##_ftz_f16(L_f16 a, L_f16 b) { return compare_##cmp##_ftz_bits_f16(as_u16(a), as_u16(b)); } \
    PXL_INLINE L_pred compare_##cmp##_bf16(L_u16 a, L_u16 b) { return CMP_HALF_##cmp(a, b, (int16_t)BF16_INF); }

/* The same out of line, for the many forms that combine the result with a predicate. */
#define COMPARED(cmp, ftz, T) \
    PXL_SHARED L_pred compared_##cmp##ftz##_##T(const L_##T *a, const L_##T *b) { return compare_##cmp##ftz##_##T(*a, *b); } \
    PXL_INLINE L_pred inlined_##cmp##ftz##_##T(const L_##T *a, const L_##T *b) { return compare_##cmp##ftz##_##T(*a, *b); }

#define EQUALITIES(X, ...) X(eq, __VA_ARGS__) X(ne, __VA_ARGS__)
#define ORDERS(X, ...) EQUALITIES(X, __VA_ARGS__) X(lt, __VA_ARGS__) X(le, __VA_ARGS__) X(gt, __VA_ARGS__) X(ge, __VA_ARGS__)
#define FLOAT_ORDERS(X, ...) \
    ORDERS(X, __VA_ARGS__) X(equ, __VA_ARGS__) X(neu, __VA_ARGS__) X(ltu, __VA_ARGS__) X(leu, __VA_ARGS__) \
    X(gtu, __VA_ARGS__) X(geu, __VA_ARGS__) X(num, __VA_ARGS__) X(nan, __VA_ARGS__)
#define COMPARE_FLOAT_(cmp, unused) COMPARE_FLOAT(cmp)
ORDERS(COMPARE_INT, u16) ORDERS(COMPARE_INT, s16) ORDERS(COMPARE_INT, u32) ORDERS(COMPARE_INT, s32)
ORDERS(COMPARE_INT, u64) ORDERS(COMPARE_INT, s64)
FLOAT_ORDERS(COMPARE_FLOAT_, )

#define BOOL_and(t, c) ((t) & (c))
#define BOOL_or(t, c) ((t) | (c))
#define BOOL_xor(t, c) ((t) ^ (c))

typedef L_u16 L_bf16;
ORDERS(COMPARED, , s16) ORDERS(COMPARED, , s32) ORDERS(COMPARED, , s64) ORDERS(COMPARED, , u16) ORDERS(COMPARED, , u32) ORDERS(COMPARED, , u64)
FLOAT_ORDERS(COMPARED, , f32) FLOAT_ORDERS(COMPARED, _ftz, f32) FLOAT_ORDERS(COMPARED, , f64)
FLOAT_ORDERS(COMPARED, , f16) FLOAT_ORDERS(COMPARED, _ftz, f16) FLOAT_ORDERS(COMPARED, , bf16)

/* ---- setp ---- */

#define SETP_BOOL(op, name, compared, T) \
    PXL_INLINE void setp_##name(L_pred *p, L_pred *q, const L_##T *a, const L_##T *b, const L_pred *c) \
    { \
        L_pred with = *c, t = compared(a, b); \
        *p = BOOL_##op(t, with); \
        *q = BOOL_##op(PRED_NOT(t), with); \
    }
/* ftz: empty or _ftz */
#define SETP(cmp, ftz, T) \
    PXL_INLINE void setp_##cmp##ftz##_##T(L_pred *p, L_pred *q, const L_##T *a, const L_##T *b) \
    { \
        L_pred t = compare_##cmp##ftz##_##T(*a, *b); \
        *p = t; \
        *q = PRED_NOT(t); \
    } \
    SETP_BOOL(and, cmp##_and##ftz##_##T, SETP_HOW_##T(cmp, ftz), T) \
    SETP_BOOL(or, cmp##_or##ftz##_##T, SETP_HOW_##T(cmp, ftz), T) \
    SETP_BOOL(xor, cmp##_xor##ftz##_##T, SETP_HOW_##T(cmp, ftz), T)
/* In line for the types that kernels compare most. */
#define SETP_HOW_s32(cmp, ftz) inlined_##cmp##_s32
#define SETP_HOW_u32(cmp, ftz) inlined_##cmp##_u32
#define SETP_HOW_f32(cmp, ftz) inlined_##cmp##ftz##_f32
#define SETP_HOW_s16(cmp, ftz) compared_##cmp##_s16
#define SETP_HOW_u16(cmp, ftz) compared_##cmp##_u16
#define SETP_HOW_s64(cmp, ftz) compared_##cmp##_s64
#define SETP_HOW_u64(cmp, ftz) compared_##cmp##_u64
#define SETP_HOW_f64(cmp, ftz) compared_##cmp##_f64
#define SETP_HOW_f16(cmp, ftz) compared_##cmp##ftz##_f16
#define SETP_HOW_bf16(cmp, ftz) compared_##cmp##_bf16
ORDERS(SETP, , s16) ORDERS(SETP, , s32) ORDERS(SETP, , s64) ORDERS(SETP, , u16) ORDERS(SETP, , u32) ORDERS(SETP, , u64)
FLOAT_ORDERS(SETP, , f32) FLOAT_ORDERS(SETP, _ftz, f32) FLOAT_ORDERS(SETP, , f64)
FLOAT_ORDERS(SETP, , f16) FLOAT_ORDERS(SETP, _ftz, f16) FLOAT_ORDERS(SETP, , bf16)

#define PAIR_LOW(x) CONVERT(L_u16, x)
#define PAIR_HIGH(x) CONVERT(L_u16, (x) >> 16)
/* Both halves' results. */
typedef struct pair_result { L_pred low, high; } pair_result;
#define COMPARED_PAIR(cmp, ftz, half, compare) \
    PXL_SHARED pair_result compared_##cmp##ftz##_##half##x2(const L_u32 *a, const L_u32 *b) \
    { \
        return (pair_result){compare(PAIR_LOW(*a), PAIR_LOW(*b)), compare(PAIR_HIGH(*a), PAIR_HIGH(*b))}; \
    }
#define COMPARED_PAIRS(cmp, unused) \
    COMPARED_PAIR(cmp, , f16, compare_##cmp##_bits_f16) COMPARED_PAIR(cmp, _ftz, f16, compare_##cmp##_ftz_bits_f16) \
    COMPARED_PAIR(cmp, , bf16, compare_##cmp##_bf16)
FLOAT_ORDERS(COMPARED_PAIRS, )

#define SETP_PAIR_BOOL(op, cmp, ftz, half) \
    PXL_INLINE void setp_##cmp##_##op##ftz##_##half##x2(L_pred *p, L_pred *q, const L_u32 *a, const L_u32 *b, const L_pred *c) \
    { \
        L_pred with = *c; \
        pair_result r = compared_##cmp##ftz##_##half##x2(a, b); \
        *p = BOOL_##op(r.low, with); \
        *q = BOOL_##op(r.high, with); \
    }
#define SETP_PAIR(cmp, ftz, half) \
    PXL_INLINE void setp_##cmp##ftz##_##half##x2(L_pred *p, L_pred *q, const L_u32 *a, const L_u32 *b) \
    { \
        pair_result r = compared_##cmp##ftz##_##half##x2(a, b); \
        *p = r.low; \
        *q = r.high; \
    } \
    SETP_PAIR_BOOL(and, cmp, ftz, half) SETP_PAIR_BOOL(or, cmp, ftz, half) SETP_PAIR_BOOL(xor, cmp, ftz, half)
FLOAT_ORDERS(SETP_PAIR, , f16) FLOAT_ORDERS(SETP_PAIR, _ftz, f16) FLOAT_ORDERS(SETP_PAIR, , bf16)

/* ---- set: all ones or 0 for integer destinations, 1.0 or 0.0 for floating ones ---- */

#define SET_LANE_u16 L_u16
#define SET_LANE_u32 L_u32
#define SET_LANE_f32 L_f32
#define SET_LANE_f16 L_f16
#define SET_LANE_bf16 L_u16
#define SET_VALUE_u16(p) SEL(COND16(p), SPLAT(L_u16, 0xffff), SPLAT(L_u16, 0))
#define SET_VALUE_u32(p) SEL(COND32(p), SPLAT(L_u32, 0xffffffffu), SPLAT(L_u32, 0))
#define SET_VALUE_f32(p) SEL(COND32(p), SPLAT(L_f32, 1), SPLAT(L_f32, 0))
#define SET_VALUE_f16(p) as_f16(typed_u16(SEL(COND16(p), SPLAT(L_u16, 0x3c00), SPLAT(L_u16, 0))))
#define SET_VALUE_bf16(p) SEL(COND16(p), SPLAT(L_u16, 0x3f80), SPLAT(L_u16, 0))
PXL_INLINE L_u16 typed_u16(L_u16 x) { return x; }

#define SET_BOOL(op, cmp, ftz, D, T) \
    PXL_INLINE void set_##cmp##_##op##ftz##_##D##_##T(SET_LANE_##D *d, const L_##T *a, const L_##T *b, const L_pred *c) \
    { \
        L_pred t = BOOL_##op(compared_##cmp##ftz##_##T(a, b), *c); \
        *d = SET_VALUE_##D(t); \
    }
#define SET(cmp, ftz, D, T) \
    PXL_INLINE void set_##cmp##ftz##_##D##_##T(SET_LANE_##D *d, const L_##T *a, const L_##T *b) \
    { \
        L_pred t = compare_##cmp##ftz##_##T(*a, *b); \
        *d = SET_VALUE_##D(t); \
    } \
    SET_BOOL(and, cmp, ftz, D, T) SET_BOOL(or, cmp, ftz, D, T) SET_BOOL(xor, cmp, ftz, D, T)

#define SET_INT(D) \
    ORDERS(SET, , D, s16) ORDERS(SET, , D, s32) ORDERS(SET, , D, s64) ORDERS(SET, , D, u16) ORDERS(SET, , D, u32) ORDERS(SET, , D, u64)
#define SET_WIDE(D) FLOAT_ORDERS(SET, , D, f32) FLOAT_ORDERS(SET, _ftz, D, f32) FLOAT_ORDERS(SET, , D, f64)
#define SET_HALF(D) FLOAT_ORDERS(SET, , D, f16) FLOAT_ORDERS(SET, _ftz, D, f16) FLOAT_ORDERS(SET, , D, bf16)
SET_INT(u32) SET_INT(f32) SET_INT(f16) SET_INT(bf16)
SET_WIDE(u32) SET_WIDE(f32) SET_WIDE(f16) SET_WIDE(bf16)
SET_HALF(u16) SET_HALF(u32)
FLOAT_ORDERS(SET, , f16, f16) FLOAT_ORDERS(SET, _ftz, f16, f16) FLOAT_ORDERS(SET, , bf16, bf16)

/* Packed: each half of the result has 16 bits of its own. */
#define SET_HALF_ONE_u32 0xffffu
#define SET_HALF_ONE_f16x2 0x3c00u
#define SET_HALF_ONE_bf16x2 0x3f80u
#define SET_PAIR_VALUE(D, low, high) \
    (SEL(COND32(low), SPLAT(L_u32, SET_HALF_ONE_##D), SPLAT(L_u32, 0)) | SEL(COND32(high), SPLAT(L_u32, SET_HALF_ONE_##D << 16), SPLAT(L_u32, 0)))
#define SET_PAIR_BOOL(op, cmp, ftz, D, half) \
    PXL_INLINE void set_##cmp##_##op##ftz##_##D##_##half##x2(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_pred *c) \
    { \
        pair_result r = compared_##cmp##ftz##_##half##x2(a, b); \
        L_pred low = BOOL_##op(r.low, *c), high = BOOL_##op(r.high, *c); \
        *d = SET_PAIR_VALUE(D, low, high); \
    }
#define SET_PAIR(cmp, ftz, D, half) \
    PXL_INLINE void set_##cmp##ftz##_##D##_##half##x2(L_u32 *d, const L_u32 *a, const L_u32 *b) \
    { \
        pair_result r = compared_##cmp##ftz##_##half##x2(a, b); \
        *d = SET_PAIR_VALUE(D, r.low, r.high); \
    } \
    SET_PAIR_BOOL(and, cmp, ftz, D, half) SET_PAIR_BOOL(or, cmp, ftz, D, half) SET_PAIR_BOOL(xor, cmp, ftz, D, half)
FLOAT_ORDERS(SET_PAIR, , u32, f16) FLOAT_ORDERS(SET_PAIR, _ftz, u32, f16) FLOAT_ORDERS(SET_PAIR, , u32, bf16)
FLOAT_ORDERS(SET_PAIR, , f16x2, f16) FLOAT_ORDERS(SET_PAIR, _ftz, f16x2, f16) FLOAT_ORDERS(SET_PAIR, , bf16x2, bf16)

/* ---- selp, slct ---- */

/* slct takes a when c >= 0. -0 counts as 0; a NaN takes b. */
#define SELECT(size) \
    PXL_INLINE void selp_b##size(L_u##size *d, const L_u##size *a, const L_u##size *b, const L_pred *c) { *d = SEL(COND##size(*c), *a, *b); } \
    PXL_INLINE void slct_b##size##_s32(L_u##size *d, const L_u##size *a, const L_u##size *b, const L_s32 *c) \
    { \
        L_s32 x = *c; \
        *d = SEL(AS_COND##size(x >= 0), *a, *b); \
    } \
    PXL_INLINE void slct_b##size##_f32(L_u##size *d, const L_u##size *a, const L_u##size *b, const L_f32 *c) \
    { \
        L_f32 x = *c; \
        *d = SEL(AS_COND##size(x >= SPLAT(L_f32, 0)), *a, *b); \
    } \
    PXL_INLINE void slct_ftz_b##size##_f32(L_u##size *d, const L_u##size *a, const L_u##size *b, const L_f32 *c) \
    { \
        L_f32 x = f32_flush(*c); \
        *d = SEL(AS_COND##size(x >= SPLAT(L_f32, 0)), *a, *b); \
    }
SELECT(16) SELECT(32) SELECT(64)

#include "gen/isa_wrap_compare.h"
