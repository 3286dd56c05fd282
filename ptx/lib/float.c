/* float.c - f32, f64 and f32x2 arithmetic (PTX ISA, "Floating Point Instructions", "Mixed Precision Floating-Point Instructions").
 *
 * Every operation is correctly rounded under its own rounding. .ftz flushes subnormal
 * operands and the rounded result; .sat clamps to [+0, 1] with NaN to +0; NaN results are
 * canonical. abs, neg and copysign touch the sign bit only, of NaNs too.
 */
#include "lane.h"
#include "float_bits.h"
#include "f64_exact.h"
#include "half.h"

/* All roundings, or all roundings with .ftz and .sat: X(rounding, ftz, sat, name of the modifiers). */
#define FLOAT_ROUNDINGS(X, ...) X(rn, __VA_ARGS__) X(rz, __VA_ARGS__) X(rm, __VA_ARGS__) X(rp, __VA_ARGS__)
#define FLOAT_F32_MODES(X, ...) \
    FLOAT_ROUNDINGS(X, 0, 0, , __VA_ARGS__) FLOAT_ROUNDINGS(X, 1, 0, _ftz, __VA_ARGS__) \
    FLOAT_ROUNDINGS(X, 0, 1, _sat, __VA_ARGS__) FLOAT_ROUNDINGS(X, 1, 1, _ftz_sat, __VA_ARGS__)

/* ---- f32: add sub mul div fma mad rcp sqrt ---- */

#define F32_BINARY(rnd, ftz, sat, mods, op) \
    PXL_INLINE void op##_##rnd##mods##_f32(L_f32 *d, const L_f32 *a, const L_f32 *b) \
    { \
        *d = f32_out(f32_##op(f32_in(*a, ftz), f32_in(*b, ftz), PXL_##rnd), ftz, sat); \
    }
FLOAT_F32_MODES(F32_BINARY, add) FLOAT_F32_MODES(F32_BINARY, sub) FLOAT_F32_MODES(F32_BINARY, mul)
FLOAT_ROUNDINGS(F32_BINARY, 0, 0, , div) FLOAT_ROUNDINGS(F32_BINARY, 1, 0, _ftz, div)

#define F32_FMA(rnd, ftz, sat, mods, op) \
    PXL_INLINE void op##_##rnd##mods##_f32(L_f32 *d, const L_f32 *a, const L_f32 *b, const L_f32 *c) \
    { \
        *d = f32_out(f32_fma(f32_in(*a, ftz), f32_in(*b, ftz), f32_in(*c, ftz), PXL_##rnd), ftz, sat); \
    }
FLOAT_F32_MODES(F32_FMA, fma)

#define F32_ROOT(rnd, ftz, mods) \
    PXL_INLINE void rcp_##rnd##mods##_f32(L_f32 *d, const L_f32 *a) \
    { \
        *d = f32_out(f32_div(SPLAT(L_f32, 1), f32_in(*a, ftz), PXL_##rnd), ftz, 0); \
    } \
    PXL_INLINE void sqrt_##rnd##mods##_f32(L_f32 *d, const L_f32 *a) \
    { \
        *d = f32_out(f32_sqrt(f32_in(*a, ftz), PXL_##rnd), ftz, 0); \
    }
FLOAT_ROUNDINGS(F32_ROOT, 0, ) FLOAT_ROUNDINGS(F32_ROOT, 1, _ftz)

/* ---- f64 ---- */

#define F64_ALL(rnd, unused) \
    PXL_INLINE void add_##rnd##_f64(L_f64 *d, const L_f64 *a, const L_f64 *b) { *d = f64_canonical(f64_add(*a, *b, PXL_##rnd)); } \
    PXL_INLINE void sub_##rnd##_f64(L_f64 *d, const L_f64 *a, const L_f64 *b) { *d = f64_canonical(f64_sub(*a, *b, PXL_##rnd)); } \
    PXL_INLINE void mul_##rnd##_f64(L_f64 *d, const L_f64 *a, const L_f64 *b) { *d = f64_canonical(f64_mul(*a, *b, PXL_##rnd)); } \
    PXL_INLINE void div_##rnd##_f64(L_f64 *d, const L_f64 *a, const L_f64 *b) { *d = f64_canonical(f64_div(*a, *b, PXL_##rnd)); } \
    PXL_INLINE void rcp_##rnd##_f64(L_f64 *d, const L_f64 *a) { *d = f64_canonical(f64_div(SPLAT(L_f64, 1), *a, PXL_##rnd)); } \
    PXL_INLINE void sqrt_##rnd##_f64(L_f64 *d, const L_f64 *a) { *d = f64_canonical(f64_sqrt(*a, PXL_##rnd)); } \
    PXL_INLINE void fma_##rnd##_f64(L_f64 *d, const L_f64 *a, const L_f64 *b, const L_f64 *c) \
    { \
        *d = f64_canonical(f64_fma(*a, *b, *c, PXL_##rnd)); \
    }
FLOAT_ROUNDINGS(F64_ALL, )

/* ---- f32x2: the low f32 is the low half ---- */

#define F32X2_LOW(x) as_f32(CONVERT(L_u32, (x)))
#define F32X2_HIGH(x) as_f32(CONVERT(L_u32, (x) >> 32))
PXL_INLINE L_u64 f32x2_of(L_f32 low, L_f32 high)
{
    return CONVERT(L_u64, as_u32(low)) | (CONVERT(L_u64, as_u32(high)) << 32);
}

#define F32X2_BINARY(rnd, ftz, mods, op) \
    PXL_INLINE void op##_##rnd##mods##_f32x2(L_u64 *d, const L_u64 *a, const L_u64 *b) \
    { \
        L_f32 low = f32_##op(f32_in(F32X2_LOW(*a), ftz), f32_in(F32X2_LOW(*b), ftz), PXL_##rnd); \
        L_f32 high = f32_##op(f32_in(F32X2_HIGH(*a), ftz), f32_in(F32X2_HIGH(*b), ftz), PXL_##rnd); \
        *d = f32x2_of(f32_out(low, ftz, 0), f32_out(high, ftz, 0)); \
    }
#define F32X2_FMA(rnd, ftz, mods) \
    PXL_INLINE void fma_##rnd##mods##_f32x2(L_u64 *d, const L_u64 *a, const L_u64 *b, const L_u64 *c) \
    { \
        L_f32 low = f32_fma(f32_in(F32X2_LOW(*a), ftz), f32_in(F32X2_LOW(*b), ftz), f32_in(F32X2_LOW(*c), ftz), PXL_##rnd); \
        L_f32 high = f32_fma(f32_in(F32X2_HIGH(*a), ftz), f32_in(F32X2_HIGH(*b), ftz), f32_in(F32X2_HIGH(*c), ftz), PXL_##rnd); \
        *d = f32x2_of(f32_out(low, ftz, 0), f32_out(high, ftz, 0)); \
    }
#define F32X2_ALL(ftz, mods) \
    FLOAT_ROUNDINGS(F32X2_BINARY, ftz, mods, add) FLOAT_ROUNDINGS(F32X2_BINARY, ftz, mods, sub) \
    FLOAT_ROUNDINGS(F32X2_BINARY, ftz, mods, mul) FLOAT_ROUNDINGS(F32X2_FMA, ftz, mods)
F32X2_ALL(0, ) F32X2_ALL(1, _ftz)

/* ---- f32 with f16 and bf16 operands: widened exactly, then the f32 operation ---- */

#define MIXED_BINARY(rnd, sat, mods, op, half) \
    PXL_INLINE void op##_##rnd##mods##_f32_##half(L_f32 *d, const MIXED_##half *a, const L_f32 *c) \
    { \
        *d = f32_out(f32_##op(MIXED_WIDEN_##half(*a), *c, PXL_##rnd), 0, sat); \
    }
#define MIXED_FMA(rnd, sat, mods, half) \
    PXL_INLINE void fma_##rnd##mods##_f32_##half(L_f32 *d, const MIXED_##half *a, const MIXED_##half *b, const L_f32 *c) \
    { \
        *d = f32_out(f32_fma(MIXED_WIDEN_##half(*a), MIXED_WIDEN_##half(*b), *c, PXL_##rnd), 0, sat); \
    }
#define MIXED_f16 L_f16
#define MIXED_bf16 L_u16
#define MIXED_WIDEN_f16(x) f32_from_f16(as_u16(x))
#define MIXED_WIDEN_bf16(x) f32_from_bf16(x)
#define MIXED_ALL(sat, mods, half) \
    FLOAT_ROUNDINGS(MIXED_BINARY, sat, mods, add, half) FLOAT_ROUNDINGS(MIXED_BINARY, sat, mods, sub, half) \
    FLOAT_ROUNDINGS(MIXED_FMA, sat, mods, half)
MIXED_ALL(0, , f16) MIXED_ALL(1, _sat, f16) MIXED_ALL(0, , bf16) MIXED_ALL(1, _sat, bf16)

/* ---- signs ---- */

PXL_INLINE void abs_f32(L_f32 *d, const L_f32 *a) { *d = as_f32(as_u32(*a) & ~F32_SIGN); }
PXL_INLINE void neg_f32(L_f32 *d, const L_f32 *a) { *d = as_f32(as_u32(*a) ^ F32_SIGN); }
PXL_INLINE void abs_ftz_f32(L_f32 *d, const L_f32 *a) { *d = as_f32(as_u32(f32_flush(*a)) & ~F32_SIGN); }
PXL_INLINE void neg_ftz_f32(L_f32 *d, const L_f32 *a) { *d = as_f32(as_u32(f32_flush(*a)) ^ F32_SIGN); }
PXL_INLINE void abs_f64(L_f64 *d, const L_f64 *a) { *d = as_f64(as_u64(*a) & ~F64_SIGN); }
PXL_INLINE void neg_f64(L_f64 *d, const L_f64 *a) { *d = as_f64(as_u64(*a) ^ F64_SIGN); }
PXL_INLINE void copysign_f32(L_f32 *d, const L_f32 *a, const L_f32 *b)
{
    *d = as_f32((as_u32(*a) & F32_SIGN) | (as_u32(*b) & ~F32_SIGN));
}
PXL_INLINE void copysign_f64(L_f64 *d, const L_f64 *a, const L_f64 *b)
{
    *d = as_f64((as_u64(*a) & F64_SIGN) | (as_u64(*b) & ~F64_SIGN));
}

/* ---- min and max: -0 < +0; NaN operands lose, or win with .NaN ---- */

/* Bits as integers in the order of the numbers: -0 just under +0. */
PXL_INLINE L_s32 f32_key(L_f32 x) { return as_s32(x) ^ as_s32(as_u32(as_s32(x) >> 31) >> 1); }
PXL_INLINE L_s64 f64_key(L_f64 x) { return as_s64(x) ^ as_s64(as_u64(as_s64(x) >> 63) >> 1); }

#define FLOAT_LESSER(type, bits, NAN_BITS) \
    PXL_INLINE L_##type type##_min(L_##type a, L_##type b, bool nan) \
    { \
        L_##type r = SEL(type##_key(a) < type##_key(b), a, b); \
        r = SEL(a != a, nan ? a : b, r); \
        return type##_canonical(SEL(b != b, nan ? b : a, r)); \
    } \
    PXL_INLINE L_##type type##_max(L_##type a, L_##type b, bool nan) \
    { \
        L_##type r = SEL(type##_key(a) > type##_key(b), a, b); \
        r = SEL(a != a, nan ? a : b, r); \
        return type##_canonical(SEL(b != b, nan ? b : a, r)); \
    }
FLOAT_LESSER(f32, u32, F32_NAN) FLOAT_LESSER(f64, u64, F64_NAN)

PXL_INLINE void min_f64(L_f64 *d, const L_f64 *a, const L_f64 *b) { *d = f64_min(*a, *b, 0); }
PXL_INLINE void max_f64(L_f64 *d, const L_f64 *a, const L_f64 *b) { *d = f64_max(*a, *b, 0); }

PXL_INLINE L_f32 f32_size(L_f32 x) { return as_f32(as_u32(x) & ~F32_SIGN); }
/* The number r with the sign `sign`; NaN stays canonical. */
PXL_INLINE L_f32 f32_signed(L_f32 r, L_u32 sign) { return as_f32(as_u32(r) | SEL(r == r, sign & F32_SIGN, SPLAT(L_u32, 0))); }

#define F32_LESSER(op, ftz, nan, mods) \
    PXL_INLINE void op##mods##_f32(L_f32 *d, const L_f32 *a, const L_f32 *b) \
    { \
        *d = f32_##op(f32_in(*a, ftz), f32_in(*b, ftz), nan); \
    } \
    PXL_INLINE void op##mods##_xorsign_abs_f32(L_f32 *d, const L_f32 *pa, const L_f32 *pb) \
    { \
        L_f32 a = f32_in(*pa, ftz), b = f32_in(*pb, ftz); \
        *d = f32_signed(f32_##op(f32_size(a), f32_size(b), nan), as_u32(a) ^ as_u32(b)); \
    } \
    PXL_INLINE void op##mods##_abs_f32(L_f32 *d, const L_f32 *a, const L_f32 *b) \
    { \
        *d = f32_##op(f32_size(f32_in(*a, ftz)), f32_size(f32_in(*b, ftz)), nan); \
    } \
    PXL_INLINE void op##3##mods##_f32(L_f32 *d, const L_f32 *a, const L_f32 *b, const L_f32 *c) \
    { \
        *d = f32_##op(f32_##op(f32_in(*a, ftz), f32_in(*b, ftz), nan), f32_in(*c, ftz), nan); \
    } \
    PXL_INLINE void op##3##mods##_abs_f32(L_f32 *d, const L_f32 *pa, const L_f32 *pb, const L_f32 *pc) \
    { \
        L_f32 a = f32_in(*pa, ftz), b = f32_in(*pb, ftz), c = f32_in(*pc, ftz); \
        *d = f32_##op(f32_##op(f32_size(a), f32_size(b), nan), f32_size(c), nan); \
    }
#define F32_LESSER_MODES(op) \
    F32_LESSER(op, 0, 0, ) F32_LESSER(op, 1, 0, _ftz) F32_LESSER(op, 0, 1, _nan) F32_LESSER(op, 1, 1, _ftz_nan)
F32_LESSER_MODES(min) F32_LESSER_MODES(max)

/* ---- testp; zeros count as normal ---- */

#define FLOAT_TEST(type, u, SIGN, INF) \
    PXL_INLINE void testp_finite_##type(L_pred *p, const L_##type *a) { *p = PRED((as_##u(*a) & ~SIGN) < INF); } \
    PXL_INLINE void testp_infinite_##type(L_pred *p, const L_##type *a) { *p = PRED((as_##u(*a) & ~SIGN) == INF); } \
    PXL_INLINE void testp_number_##type(L_pred *p, const L_##type *a) { *p = PRED((as_##u(*a) & ~SIGN) <= INF); } \
    PXL_INLINE void testp_notanumber_##type(L_pred *p, const L_##type *a) { *p = PRED((as_##u(*a) & ~SIGN) > INF); } \
    PXL_INLINE void testp_subnormal_##type(L_pred *p, const L_##type *a) \
    { \
        *p = PRED((as_##u(*a) & INF) == 0) & PRED((as_##u(*a) & ~SIGN) != 0); \
    } \
    PXL_INLINE void testp_normal_##type(L_pred *p, const L_##type *a) \
    { \
        *p = (PRED((as_##u(*a) & INF) != 0) & PRED((as_##u(*a) & ~SIGN) < INF)) | PRED((as_##u(*a) & ~SIGN) == 0); \
    }
FLOAT_TEST(f32, u32, F32_SIGN, F32_INF) FLOAT_TEST(f64, u64, F64_SIGN, F64_INF)

#include "gen/isa_wrap_float.h"
