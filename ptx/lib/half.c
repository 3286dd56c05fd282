/* half.c - f16, f16x2, bf16 and bf16x2 arithmetic (PTX ISA, "Half Precision Floating Point Instructions").
 *
 * Each operation rounds once, to nearest even. Sums and products go through f32, which is
 * innocuous (24 >= 2 * 11 + 2 bits); fma keeps the exact sum until its one rounding. NaN
 * results are 0x7fff, those of neg and abs too.
 */
#include "lane.h"
#include "float_bits.h"
#include "round.h"
#include "half.h"

/* A meaning over n chunks of 16-bit numbers: all chunks are computed before any is stored. */
#define HALF_1(name, L, chunks, expression) \
    PXL_INLINE void name(L *d, const L *pa) \
    { \
        union { L whole; C_u16 part[chunks]; } r; \
        _Pragma("clang loop unroll(full)") for (int k = 0; k < chunks; k++) { \
            C_u16 a = ((const C_u16 *)(const void *)pa)[k]; \
            r.part[k] = expression; \
        } \
        *d = r.whole; \
    }
#define HALF_2(name, L, chunks, expression) \
    PXL_INLINE void name(L *d, const L *pa, const L *pb) \
    { \
        union { L whole; C_u16 part[chunks]; } r; \
        _Pragma("clang loop unroll(full)") for (int k = 0; k < chunks; k++) { \
            C_u16 a = ((const C_u16 *)(const void *)pa)[k], b = ((const C_u16 *)(const void *)pb)[k]; \
            r.part[k] = expression; \
        } \
        *d = r.whole; \
    }
#define HALF_3(name, L, chunks, expression) \
    PXL_INLINE void name(L *d, const L *pa, const L *pb, const L *pc) \
    { \
        union { L whole; C_u16 part[chunks]; } r; \
        _Pragma("clang loop unroll(full)") for (int k = 0; k < chunks; k++) { \
            C_u16 a = ((const C_u16 *)(const void *)pa)[k], b = ((const C_u16 *)(const void *)pb)[k], c = ((const C_u16 *)(const void *)pc)[k]; \
            r.part[k] = expression; \
        } \
        *d = r.whole; \
    }

/* The scalar and the packed form of one meaning. */
#define F16_FORMS(n, name, expression) HALF_##n(name##_f16, L_f16, HALF_CHUNKS, expression) HALF_##n(name##_f16x2, L_u32, PAIR_CHUNKS, expression)
#define BF16_FORMS(n, name, expression) HALF_##n(name##_bf16, L_u16, HALF_CHUNKS, expression) HALF_##n(name##_bf16x2, L_u32, PAIR_CHUNKS, expression)

/* ---- f16 ---- */

PXL_INLINE C_u16 c_f16_in(C_u16 x, bool ftz) { return ftz ? c_f16_flush(x) : x; }
PXL_INLINE C_u16 c_f16_out(C_u16 x, bool ftz, bool sat, bool relu)
{
    x = ftz ? c_f16_flush(x) : x;
    x = sat ? c_half_saturate(x, F16_INF, 0x3c00) : x;
    return relu ? c_half_relu(x) : x;
}

PXL_INLINE C_u16 c_f16_add(C_u16 a, C_u16 b) { return c_f16_narrow(c_f16_widen(a) + c_f16_widen(b)); }
PXL_INLINE C_u16 c_f16_sub(C_u16 a, C_u16 b) { return c_f16_narrow(c_f16_widen(a) - c_f16_widen(b)); }
PXL_INLINE C_u16 c_f16_mul(C_u16 a, C_u16 b) { return c_f16_narrow(c_f16_widen(a) * c_f16_widen(b)); }

#define F16_ARITHMETIC(mods, ftz, sat) \
    F16_FORMS(2, add_rn##mods, c_f16_out(c_f16_add(c_f16_in(a, ftz), c_f16_in(b, ftz)), ftz, sat, 0)) \
    F16_FORMS(2, sub_rn##mods, c_f16_out(c_f16_sub(c_f16_in(a, ftz), c_f16_in(b, ftz)), ftz, sat, 0)) \
    F16_FORMS(2, mul_rn##mods, c_f16_out(c_f16_mul(c_f16_in(a, ftz), c_f16_in(b, ftz)), ftz, sat, 0)) \
    F16_FORMS(3, fma_rn##mods, c_f16_out(c_f16_fma(c_f16_in(a, ftz), c_f16_in(b, ftz), c_f16_in(c, ftz)), ftz, sat, 0))
F16_ARITHMETIC(, 0, 0) F16_ARITHMETIC(_ftz, 1, 0) F16_ARITHMETIC(_sat, 0, 1) F16_ARITHMETIC(_ftz_sat, 1, 1)

F16_FORMS(3, fma_rn_relu, c_f16_out(c_f16_fma(a, b, c), 0, 0, 1))
F16_FORMS(3, fma_rn_ftz_relu, c_f16_out(c_f16_fma(c_f16_in(a, 1), c_f16_in(b, 1), c_f16_in(c, 1)), 1, 0, 1))

/* .oob: zero when a or b is the NaN with which tensor copies fill out-of-bounds elements. The ISA
 * does not give its bits; all ones is taken here: no arithmetic result has them, canonical NaNs being positive. */
#define OOB_NAN ((uint16_t)0xffff)
PXL_INLINE C_u16 c_half_oob(C_u16 a, C_u16 b, C_u16 r)
{
    C_u16 zero = SPLAT(C_u16, 0);
    return SEL(a == OOB_NAN, zero, SEL(b == OOB_NAN, zero, r));
}
F16_FORMS(3, fma_rn_oob, c_half_oob(a, b, c_f16_fma(a, b, c)))
F16_FORMS(3, fma_rn_oob_relu, c_half_oob(a, b, c_half_relu(c_f16_fma(a, b, c))))

F16_FORMS(1, neg, c_nan_canonical(a ^ (uint16_t)0x8000, F16_INF))
F16_FORMS(1, neg_ftz, c_nan_canonical(c_f16_flush(a) ^ (uint16_t)0x8000, F16_INF))
F16_FORMS(1, abs, c_nan_canonical(a & (uint16_t)0x7fff, F16_INF))
F16_FORMS(1, abs_ftz, c_nan_canonical(c_f16_flush(a) & (uint16_t)0x7fff, F16_INF))
BF16_FORMS(1, neg, c_nan_canonical(a ^ (uint16_t)0x8000, BF16_INF))
BF16_FORMS(1, abs, c_nan_canonical(a & (uint16_t)0x7fff, BF16_INF))

/* ---- min and max ---- */

/* The size of r with the sign of a times b; NaN stays canonical. */
PXL_INLINE C_u16 c_half_xorsign(C_u16 a, C_u16 b, C_u16 r, uint16_t infinity)
{
    C_u16 sign = (a ^ b) & (uint16_t)0x8000;
    return SEL(r > infinity, r, (C_u16)(r | sign));
}

#define HALF_LESSER(FORMS, op, greater, nan, mods, IN, infinity) \
    FORMS(2, op##mods, c_half_lesser(IN(a), IN(b), greater, nan, infinity)) \
    FORMS(2, op##mods##_xorsign_abs, c_half_xorsign(IN(a), IN(b), \
        c_half_lesser(IN(a) & (uint16_t)0x7fff, IN(b) & (uint16_t)0x7fff, greater, nan, infinity), infinity))
#define HALF_LESSER_MODES(op, greater) \
    HALF_LESSER(F16_FORMS, op, greater, 0, , , F16_INF) HALF_LESSER(F16_FORMS, op, greater, 1, _nan, , F16_INF) \
    HALF_LESSER(F16_FORMS, op, greater, 0, _ftz, c_f16_flush, F16_INF) \
    HALF_LESSER(F16_FORMS, op, greater, 1, _ftz_nan, c_f16_flush, F16_INF) \
    HALF_LESSER(BF16_FORMS, op, greater, 0, , , BF16_INF) HALF_LESSER(BF16_FORMS, op, greater, 1, _nan, , BF16_INF)
HALF_LESSER_MODES(min, 0) HALF_LESSER_MODES(max, 1)

/* ---- bf16: a bf16 is the upper half of an f32 ---- */

PXL_INLINE L_u32 bf16_add(L_f32 a, L_f32 b) { return f32_drop_bits(a + b, 16, PXL_rn); }
PXL_INLINE L_u32 bf16_sub(L_f32 a, L_f32 b) { return f32_drop_bits(a - b, 16, PXL_rn); }
PXL_INLINE L_u32 bf16_mul(L_f32 a, L_f32 b) { return f32_drop_bits(a * b, 16, PXL_rn); }
/* The product may leave f32's range, so the exact sum is taken in f64, to odd, and cut to f32, to odd again. */
PXL_INLINE L_u32 bf16_fma(L_f32 a, L_f32 b, L_f32 c, bool relu)
{
    L_f64 sum = f64_add_odd(CONVERT(L_f64, a) * CONVERT(L_f64, b), CONVERT(L_f64, c));
    L_u32 r = f32_drop_bits(f32_from_f64(sum, PXL_odd), 16, PXL_rn);
    return relu ? SEL(as_s32(r) < 0, SPLAT(L_u32, 0), r) : r;
}
PXL_INLINE L_u32 bf16_oob(L_f32 a, L_f32 b, L_u32 r)
{
    L_u32 zero = SPLAT(L_u32, 0);
    return SEL(as_u32(a) == 0xffff0000u, zero, SEL(as_u32(b) == 0xffff0000u, zero, r));
}

/* Operands as f32, result as f32 bits whose low half is not used. */
#define BF16_LOW(x) as_f32((x) << 16)
#define BF16_HIGH(x) as_f32((x) & 0xffff0000u)
#define BF16_PACK(low, high) (((low) >> 16) | ((high) & 0xffff0000u))
#define BF16_2(op) \
    PXL_INLINE void op##_rn_bf16(L_u16 *d, const L_u16 *a, const L_u16 *b) \
    { \
        *d = CONVERT(L_u16, bf16_##op(f32_from_bf16(*a), f32_from_bf16(*b)) >> 16); \
    } \
    PXL_INLINE void op##_rn_bf16x2(L_u32 *d, const L_u32 *a, const L_u32 *b) \
    { \
        L_u32 low = bf16_##op(BF16_LOW(*a), BF16_LOW(*b)), high = bf16_##op(BF16_HIGH(*a), BF16_HIGH(*b)); \
        *d = BF16_PACK(low, high); \
    }
BF16_2(add) BF16_2(sub) BF16_2(mul)

#define BF16_3(mods, expression) \
    PXL_INLINE L_u32 bf16_fma##mods(L_f32 a, L_f32 b, L_f32 c) { return expression; } \
    PXL_INLINE void fma_rn##mods##_bf16(L_u16 *d, const L_u16 *a, const L_u16 *b, const L_u16 *c) \
    { \
        *d = CONVERT(L_u16, bf16_fma##mods(f32_from_bf16(*a), f32_from_bf16(*b), f32_from_bf16(*c)) >> 16); \
    } \
    PXL_INLINE void fma_rn##mods##_bf16x2(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c) \
    { \
        L_u32 low = bf16_fma##mods(BF16_LOW(*a), BF16_LOW(*b), BF16_LOW(*c)); \
        L_u32 high = bf16_fma##mods(BF16_HIGH(*a), BF16_HIGH(*b), BF16_HIGH(*c)); \
        *d = BF16_PACK(low, high); \
    }
BF16_3(_relu, bf16_fma(a, b, c, 1))
BF16_3(_oob, bf16_oob(a, b, bf16_fma(a, b, c, 0)))
BF16_3(_oob_relu, bf16_oob(a, b, bf16_fma(a, b, c, 1)))

PXL_INLINE void fma_rn_bf16(L_u16 *d, const L_u16 *a, const L_u16 *b, const L_u16 *c)
{
    *d = CONVERT(L_u16, bf16_fma(f32_from_bf16(*a), f32_from_bf16(*b), f32_from_bf16(*c), 0) >> 16);
}

PXL_INLINE void fma_rn_bf16x2(L_u32 *d, const L_u32 *a, const L_u32 *b, const L_u32 *c)
{
    L_u32 low = bf16_fma(BF16_LOW(*a), BF16_LOW(*b), BF16_LOW(*c), 0), high = bf16_fma(BF16_HIGH(*a), BF16_HIGH(*b), BF16_HIGH(*c), 0);
    *d = BF16_PACK(low, high);
}

#include "gen/isa_wrap_half.h"
