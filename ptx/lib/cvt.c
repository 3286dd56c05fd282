/* cvt.c - conversions between scalar types (PTX ISA, "Data Movement and Conversion: cvt"); packed ones are in cvt_packed.h.
 *
 * Every conversion rounds once: a source wider than f32 goes to f32 "to odd" on its way to a
 * 16-bit format (float_bits.h). Floats become integers clamped to the destination's range. A NaN
 * becomes 0, but 1 << (width - 1) where the source is f64 or the destination has 64 bits
 * (ISA, cvt, "Float-to-integer conversions"). NaNs that stay floats become canonical.
 */
#include "lane.h"
#include "float_bits.h"
#include "half.h"
#include "round.h"
#include "cvt_packed.h"

#define ALL_INTS(X, ...) \
    X(u8, __VA_ARGS__) X(u16, __VA_ARGS__) X(u32, __VA_ARGS__) X(u64, __VA_ARGS__) \
    X(s8, __VA_ARGS__) X(s16, __VA_ARGS__) X(s32, __VA_ARGS__) X(s64, __VA_ARGS__)

/* ---- integer to integer ---- */

#define LEAST_u8 0
#define LEAST_u16 0
#define LEAST_u32 0
#define LEAST_u64 0
#define LEAST_s8 (-128)
#define LEAST_s16 (-32768)
#define LEAST_s32 (-2147483647 - 1)
#define LEAST_s64 (-9223372036854775807ll - 1)
#define MOST_u8 255
#define MOST_u16 65535
#define MOST_u32 4294967295u
#define MOST_u64 18446744073709551615ull
#define MOST_s8 127
#define MOST_s16 32767
#define MOST_s32 2147483647
#define MOST_s64 9223372036854775807ll
/* The part of D's range that S can hold, as values of S. */
#define WITHIN_LEAST(D, S) ((__int128)LEAST_##D > (__int128)LEAST_##S ? (__int128)LEAST_##D : (__int128)LEAST_##S)
#define WITHIN_MOST(D, S) ((__int128)MOST_##D < (__int128)MOST_##S ? (__int128)MOST_##D : (__int128)MOST_##S)
typedef uint8_t E_u8; typedef uint16_t E_u16; typedef uint32_t E_u32; typedef uint64_t E_u64;
typedef int8_t E_s8;  typedef int16_t E_s16;  typedef int32_t E_s32;  typedef int64_t E_s64;

#define CVT_INT_INT(D, S) \
    PXL_INLINE void cvt_##D##_##S(L_##D *d, const L_##S *a) { *d = CONVERT(L_##D, *a); } \
    PXL_INLINE void cvt_sat_##D##_##S(L_##D *d, const L_##S *a) \
    { \
        L_##S least = SPLAT(L_##S, (E_##S)WITHIN_LEAST(D, S)), most = SPLAT(L_##S, (E_##S)WITHIN_MOST(D, S)), x = *a; \
        x = SEL(x < least, least, x); \
        x = SEL(x > most, most, x); \
        *d = CONVERT(L_##D, x); \
    }
#define CVT_INT_FROM(D, unused) \
    CVT_INT_INT(D, u8) CVT_INT_INT(D, u16) CVT_INT_INT(D, u32) CVT_INT_INT(D, u64) \
    CVT_INT_INT(D, s8) CVT_INT_INT(D, s16) CVT_INT_INT(D, s32) CVT_INT_INT(D, s64)
ALL_INTS(CVT_INT_FROM, )

/* ---- float to integer ---- */

#define ROUND_rni(x) __builtin_elementwise_roundeven(x)
#define ROUND_rzi(x) __builtin_elementwise_trunc(x)
#define ROUND_rmi(x) __builtin_elementwise_floor(x)
#define ROUND_rpi(x) __builtin_elementwise_ceil(x)
#define INT_ROUNDINGS(X, ...) X(rni, __VA_ARGS__) X(rzi, __VA_ARGS__) X(rmi, __VA_ARGS__) X(rpi, __VA_ARGS__)

/* Clamping happens before the conversion where the float type holds the limits. via: an integer type to convert to. */
#define CLAMPED(F, x, D, nan) \
    L_##F least = SPLAT(L_##F, LEAST_##D), most = SPLAT(L_##F, MOST_##D); \
    L_##F clamped = SEL(x < least, least, x); \
    clamped = SEL(clamped > most, most, clamped); \
    clamped = SEL(x == x, clamped, SPLAT(L_##F, nan))
#define INT_FROM_FLOAT(F, D, via, nan) \
    PXL_INLINE L_##D D##_from_##F(L_##F x) { CLAMPED(F, x, D, nan); return CONVERT(L_##D, CONVERT(L_##via, clamped)); }
INT_FROM_FLOAT(f32, u8, s32, 0) INT_FROM_FLOAT(f32, u16, s32, 0) INT_FROM_FLOAT(f32, s8, s32, 0) INT_FROM_FLOAT(f32, s16, s32, 0)
INT_FROM_FLOAT(f64, u8, s32, 0x80) INT_FROM_FLOAT(f64, u16, s32, 0x8000) INT_FROM_FLOAT(f64, u32, u32, 0x80000000u)
INT_FROM_FLOAT(f64, s8, s32, -0x80) INT_FROM_FLOAT(f64, s16, s32, -0x8000) INT_FROM_FLOAT(f64, s32, s32, LEAST_s32)

/* The limit is 2^n there, which the integer type does not hold: chosen after the conversion of what is inside. */
#define INT_FROM_FLOAT_WIDE(F, D, limit, nan) \
    PXL_INLINE L_##D D##_from_##F(L_##F x) \
    { \
        L_##F least = SPLAT(L_##F, LEAST_##D), end = SPLAT(L_##F, limit); \
        L_##F inside = SEL(x >= least, SEL(x < end, x, SPLAT(L_##F, 0)), SPLAT(L_##F, 0)); \
        L_##D r = CONVERT(L_##D, inside); \
        r = SEL(x < least, SPLAT(L_##D, LEAST_##D), r); \
        r = SEL(x >= end, SPLAT(L_##D, MOST_##D), r); \
        return SEL(x == x, r, SPLAT(L_##D, nan)); \
    }
INT_FROM_FLOAT_WIDE(f32, u32, 0x1p32f, 0) INT_FROM_FLOAT_WIDE(f32, s32, 0x1p31f, 0)
INT_FROM_FLOAT_WIDE(f64, u64, 0x1p64, 1ull << 63) INT_FROM_FLOAT_WIDE(f64, s64, 0x1p63, LEAST_s64)
PXL_INLINE L_u64 u64_from_f32(L_f32 x) { return u64_from_f64(CONVERT(L_f64, x)); }
PXL_INLINE L_s64 s64_from_f32(L_f32 x) { return s64_from_f64(CONVERT(L_f64, x)); }

typedef L_u16 L_bf16;
/* The source as the float type that it is rounded in. */
#define WIDE_f64(x) (x)
#define WIDE_f32(x) (x)
#define WIDE_f16(x) f32_from_f16(as_u16(x))
#define WIDE_bf16(x) f32_from_bf16(x)

/* Clamping is the rule, so .sat adds nothing. */
#define CVT_TO_INT(rnd, D, S, F) \
    PXL_INLINE void cvt_##rnd##_##D##_##S(L_##D *d, const L_##S *a) { *d = D##_from_##F(ROUND_##rnd(WIDE_##S(*a))); } \
    PXL_INLINE void cvt_##rnd##_sat_##D##_##S(L_##D *d, const L_##S *a) { cvt_##rnd##_##D##_##S(d, a); }
#define CVT_TO_INT_FTZ(rnd, D) \
    PXL_INLINE void cvt_##rnd##_ftz_##D##_f32(L_##D *d, const L_f32 *a) { *d = D##_from_f32(ROUND_##rnd(f32_flush(*a))); } \
    PXL_INLINE void cvt_##rnd##_ftz_sat_##D##_f32(L_##D *d, const L_f32 *a) { cvt_##rnd##_ftz_##D##_f32(d, a); }
#define CVT_TO_INT_ALL(D, unused) \
    INT_ROUNDINGS(CVT_TO_INT, D, f32, f32) INT_ROUNDINGS(CVT_TO_INT_FTZ, D) INT_ROUNDINGS(CVT_TO_INT, D, f64, f64) \
    INT_ROUNDINGS(CVT_TO_INT, D, f16, f32) INT_ROUNDINGS(CVT_TO_INT, D, bf16, f32)
ALL_INTS(CVT_TO_INT_ALL, )

/* ---- rounding to an f16 or bf16 in 16-bit lanes ---- */

PXL_INLINE L_u16 f16_round(L_f32 x, enum pxl_rounding rounding)
{
    return rounding == PXL_rn ? f16_from_f32(x) : CONVERT(L_u16, f16_code_from_f32(x, rounding));
}
PXL_INLINE L_u16 bf16_round(L_f32 x, enum pxl_rounding rounding) { return CONVERT(L_u16, bf16_code_from_f32(x, rounding)); }

PXL_INLINE L_u16 f16_saturate(L_u16 x)
{
    L_u16 r = SEL(x > (uint16_t)0x3c00, SPLAT(L_u16, 0x3c00), x);
    return SEL(x > (uint16_t)F16_INF, SPLAT(L_u16, 0), r); /* negatives and NaNs lie above infinity as integers */
}
PXL_INLINE L_u16 half_relu(L_u16 x) { return SEL(x >= (uint16_t)0x8000, SPLAT(L_u16, 0), x); }
/* Infinities of either sign to the largest number. */
PXL_INLINE L_u16 half_finite(L_u16 x, uint16_t infinity)
{
    L_u16 size = x & (uint16_t)0x7fff;
    return SEL(size == infinity, (L_u16)(x - 1), x);
}

/* ---- integer to float ---- */

/* f64 of a magnitude and a sign, both of 64 bits: two exact halves, whose sum and its error f64 holds. */
PXL_INLINE L_f64 f64_from_magnitude(L_u64 size, L_u64 sign, enum pxl_rounding rounding)
{
    L_f64 high = as_f64((size >> 32) | 0x4530000000000000ull) - SPLAT(L_f64, 0x1p84);
    L_f64 low = as_f64((size & 0xffffffffu) | 0x4330000000000000ull) - SPLAT(L_f64, 0x1p52);
    L_f64 sum = high + low, error = low - (sum - high), zero = SPLAT(L_f64, 0);
    L_u64 bits = as_u64(sum);
    if (rounding == PXL_rz || rounding == PXL_odd)
        bits = SEL(error < zero, bits - 1, bits);
    if (rounding == PXL_odd)
        bits |= SEL(error < zero, SPLAT(L_u64, 1), SEL(error > zero, SPLAT(L_u64, 1), SPLAT(L_u64, 0)));
    if (rounding == PXL_rm || rounding == PXL_rp) {
        L_u64 outward = rounding == PXL_rm ? sign : F64_SIGN - sign;
        L_u64 up = SEL(error > zero, bits + 1, bits), down = SEL(error < zero, bits - 1, bits);
        bits = SEL(outward != 0, up, down);
    }
    return as_f64(bits | sign);
}

PXL_INLINE L_f64 f64_of_u64(L_u64 x, enum pxl_rounding rounding) { return f64_from_magnitude(x, SPLAT(L_u64, 0), rounding); }
PXL_INLINE L_f64 f64_of_s64(L_s64 x, enum pxl_rounding rounding)
{
    L_u64 sign = as_u64(x) & F64_SIGN, flip = as_u64(x >> 63);
    return f64_from_magnitude((as_u64(x) ^ flip) - flip, sign, rounding);
}
#define F64_OF_SMALL(S) PXL_INLINE L_f64 f64_of_##S(L_##S x, enum pxl_rounding rounding) { (void)rounding; return CONVERT(L_f64, x); }
F64_OF_SMALL(u8) F64_OF_SMALL(s8) F64_OF_SMALL(u16) F64_OF_SMALL(s16) F64_OF_SMALL(u32) F64_OF_SMALL(s32)

/* f32 by the way of f64, which is exact or odd; directly where the hardware rounds it right. */
#define F32_OF(S, direct) \
    PXL_INLINE L_f32 f32_of_##S(L_##S x, enum pxl_rounding rounding) \
    { \
        return direct ? CONVERT(L_f32, x) : f32_from_f64(f64_of_##S(x, PXL_odd), rounding); \
    }
F32_OF(u8, 1) F32_OF(s8, 1) F32_OF(u16, 1) F32_OF(s16, 1)
F32_OF(u32, rounding == PXL_rn) F32_OF(s32, rounding == PXL_rn) F32_OF(u64, 0) F32_OF(s64, 0)

#define FLOAT_ROUNDINGS(X, ...) X(rn, __VA_ARGS__) X(rz, __VA_ARGS__) X(rm, __VA_ARGS__) X(rp, __VA_ARGS__)
#define CVT_FROM_INT(rnd, S) \
    PXL_INLINE void cvt_##rnd##_f32_##S(L_f32 *d, const L_##S *a) { *d = f32_of_##S(*a, PXL_##rnd); } \
    PXL_INLINE void cvt_##rnd##_sat_f32_##S(L_f32 *d, const L_##S *a) { *d = f32_saturate(f32_of_##S(*a, PXL_##rnd)); } \
    PXL_INLINE void cvt_##rnd##_f64_##S(L_f64 *d, const L_##S *a) { *d = f64_of_##S(*a, PXL_##rnd); } \
    PXL_INLINE void cvt_##rnd##_sat_f64_##S(L_f64 *d, const L_##S *a) { *d = f64_saturate(f64_of_##S(*a, PXL_##rnd)); } \
    PXL_INLINE void cvt_##rnd##_f16_##S(L_f16 *d, const L_##S *a) { *d = as_f16(f16_round(f32_of_##S(*a, PXL_odd), PXL_##rnd)); } \
    PXL_INLINE void cvt_##rnd##_sat_f16_##S(L_f16 *d, const L_##S *a) \
    { \
        *d = as_f16(f16_saturate(f16_round(f32_of_##S(*a, PXL_odd), PXL_##rnd))); \
    } \
    PXL_INLINE void cvt_##rnd##_bf16_##S(L_u16 *d, const L_##S *a) { *d = bf16_round(f32_of_##S(*a, PXL_odd), PXL_##rnd); }
#define CVT_FROM_INT_ALL(S, unused) FLOAT_ROUNDINGS(CVT_FROM_INT, S)
ALL_INTS(CVT_FROM_INT_ALL, )

/* ---- float to an integral value of the same type; without a rounding a copy ---- */

#define ROUND_none(x) (x)
#define CVT_SAME(rnd, mods, ftz, sat) \
    PXL_INLINE void cvt##mods##_f32_f32(L_f32 *d, const L_f32 *a) { *d = f32_out(ROUND_##rnd(f32_in(*a, ftz)), 0, sat); }
#define CVT_SAME_ALL(rnd, mod) \
    CVT_SAME(rnd, mod, 0, 0) CVT_SAME(rnd, mod##_ftz, 1, 0) CVT_SAME(rnd, mod##_sat, 0, 1) CVT_SAME(rnd, mod##_ftz_sat, 1, 1) \
    PXL_INLINE void cvt##mod##_f64_f64(L_f64 *d, const L_f64 *a) { *d = f64_canonical(ROUND_##rnd(*a)); } \
    PXL_INLINE void cvt##mod##_sat_f64_f64(L_f64 *d, const L_f64 *a) { *d = f64_saturate(ROUND_##rnd(*a)); } \
    PXL_INLINE void cvt##mod##_f16_f16(L_f16 *d, const L_f16 *a) { *d = as_f16(f16_from_f32(ROUND_##rnd(WIDE_f16(*a)))); } \
    PXL_INLINE void cvt##mod##_sat_f16_f16(L_f16 *d, const L_f16 *a) { *d = as_f16(f16_saturate(f16_from_f32(ROUND_##rnd(WIDE_f16(*a))))); } \
    PXL_INLINE void cvt##mod##_bf16_bf16(L_u16 *d, const L_u16 *a) { *d = bf16_round(ROUND_##rnd(WIDE_bf16(*a)), PXL_rn); }
CVT_SAME_ALL(none, ) CVT_SAME_ALL(rni, _rni) CVT_SAME_ALL(rzi, _rzi) CVT_SAME_ALL(rmi, _rmi) CVT_SAME_ALL(rpi, _rpi)

/* ---- float to a wider float: exact ---- */

#define CVT_WIDER(mods, ftz, sat) \
    PXL_INLINE void cvt##mods##_f32_f16(L_f32 *d, const L_f16 *a) { *d = f32_out(WIDE_f16(*a), 0, sat); } \
    PXL_INLINE void cvt##mods##_f32_bf16(L_f32 *d, const L_u16 *a) { *d = f32_out(WIDE_bf16(*a), ftz, sat); } \
    PXL_INLINE void cvt##mods##_f64_f32(L_f64 *d, const L_f32 *a) \
    { \
        L_f64 r = CONVERT(L_f64, f32_in(*a, ftz)); \
        *d = sat ? f64_saturate(r) : f64_canonical(r); \
    }
CVT_WIDER(, 0, 0) CVT_WIDER(_ftz, 1, 0) CVT_WIDER(_sat, 0, 1) CVT_WIDER(_ftz_sat, 1, 1)
#define CVT_F64_FROM(S) \
    PXL_INLINE void cvt_f64_##S(L_f64 *d, const L_##S *a) { *d = f64_canonical(CONVERT(L_f64, WIDE_##S(*a))); } \
    PXL_INLINE void cvt_sat_f64_##S(L_f64 *d, const L_##S *a) { *d = f64_saturate(CONVERT(L_f64, WIDE_##S(*a))); }
CVT_F64_FROM(f16) CVT_F64_FROM(bf16)

/* ---- float to a narrower float ---- */

#define CVT_NARROWER(rnd, unused) \
    CVT_F32_F64(rnd, , 0, 0) CVT_F32_F64(rnd, _ftz, 1, 0) CVT_F32_F64(rnd, _sat, 0, 1) CVT_F32_F64(rnd, _ftz_sat, 1, 1) \
    CVT_F16_F32(rnd, , 0, 0) CVT_F16_F32(rnd, _ftz, 1, 0) CVT_F16_F32(rnd, _sat, 0, 1) CVT_F16_F32(rnd, _ftz_sat, 1, 1) \
    PXL_INLINE void cvt_##rnd##_f16_f64(L_f16 *d, const L_f64 *a) { *d = as_f16(f16_round(f32_from_f64(*a, PXL_odd), PXL_##rnd)); } \
    PXL_INLINE void cvt_##rnd##_sat_f16_f64(L_f16 *d, const L_f64 *a) \
    { \
        *d = as_f16(f16_saturate(f16_round(f32_from_f64(*a, PXL_odd), PXL_##rnd))); \
    } \
    PXL_INLINE void cvt_##rnd##_bf16_f32(L_u16 *d, const L_f32 *a) { *d = bf16_round(*a, PXL_##rnd); } \
    PXL_INLINE void cvt_##rnd##_bf16_f64(L_u16 *d, const L_f64 *a) { *d = bf16_round(f32_from_f64(*a, PXL_odd), PXL_##rnd); } \
    PXL_INLINE void cvt_##rnd##_bf16_f16(L_u16 *d, const L_f16 *a) { *d = bf16_round(WIDE_f16(*a), PXL_##rnd); } \
    PXL_INLINE void cvt_##rnd##_f16_bf16(L_f16 *d, const L_u16 *a) { *d = as_f16(f16_round(WIDE_bf16(*a), PXL_##rnd)); }
#define CVT_F32_F64(rnd, mods, ftz, sat) \
    PXL_INLINE void cvt_##rnd##mods##_f32_f64(L_f32 *d, const L_f64 *a) { *d = f32_out(f32_from_f64(*a, PXL_##rnd), ftz, sat); }
#define CVT_F16_F32(rnd, mods, ftz, sat) \
    PXL_INLINE void cvt_##rnd##mods##_f16_f32(L_f16 *d, const L_f32 *a) \
    { \
        L_u16 r = f16_round(f32_in(*a, ftz), PXL_##rnd); \
        *d = as_f16(typed_u16(sat ? f16_saturate(r) : r)); \
    }
PXL_INLINE L_u16 typed_u16(L_u16 x) { return x; }
FLOAT_ROUNDINGS(CVT_NARROWER, )

/* .satfinite and .relu. tf32 is an f32 without its 13 low bits. */
PXL_INLINE L_u32 tf32_finite(L_u32 x) { return SEL((x & ~F32_SIGN) == F32_INF, x - 0x2000, x); }
PXL_INLINE L_u32 f32_bits_relu(L_u32 x) { return SEL(x >= F32_SIGN, SPLAT(L_u32, 0), x); }
#define CVT_FINITE(rnd, unused) \
    PXL_INLINE void cvt_##rnd##_relu_f16_f32(L_f16 *d, const L_f32 *a) { *d = as_f16(half_relu(f16_round(*a, PXL_##rnd))); } \
    PXL_INLINE void cvt_##rnd##_satfinite_f16_f32(L_f16 *d, const L_f32 *a) { *d = as_f16(half_finite(f16_round(*a, PXL_##rnd), F16_INF)); } \
    PXL_INLINE void cvt_##rnd##_satfinite_relu_f16_f32(L_f16 *d, const L_f32 *a) \
    { \
        *d = as_f16(half_relu(half_finite(f16_round(*a, PXL_##rnd), F16_INF))); \
    } \
    PXL_INLINE void cvt_##rnd##_relu_bf16_f32(L_u16 *d, const L_f32 *a) { *d = half_relu(bf16_round(*a, PXL_##rnd)); } \
    PXL_INLINE void cvt_##rnd##_satfinite_bf16_f32(L_u16 *d, const L_f32 *a) { *d = half_finite(bf16_round(*a, PXL_##rnd), BF16_INF); } \
    PXL_INLINE void cvt_##rnd##_satfinite_relu_bf16_f32(L_u16 *d, const L_f32 *a) \
    { \
        *d = half_relu(half_finite(bf16_round(*a, PXL_##rnd), BF16_INF)); \
    } \
    CVT_TF32(rnd) \
    PXL_INLINE void cvt_##rnd##_relu_tf32_f32(L_u32 *d, const L_f32 *a) { *d = f32_bits_relu(f32_drop_bits(*a, 13, PXL_##rnd)); } \
    PXL_INLINE void cvt_##rnd##_satfinite_relu_tf32_f32(L_u32 *d, const L_f32 *a) \
    { \
        *d = f32_bits_relu(tf32_finite(f32_drop_bits(*a, 13, PXL_##rnd))); \
    }
#define CVT_TF32(rnd) \
    PXL_INLINE void cvt_##rnd##_tf32_f32(L_u32 *d, const L_f32 *a) { *d = f32_drop_bits(*a, 13, PXL_##rnd); } \
    PXL_INLINE void cvt_##rnd##_satfinite_tf32_f32(L_u32 *d, const L_f32 *a) { *d = tf32_finite(f32_drop_bits(*a, 13, PXL_##rnd)); }
CVT_FINITE(rn, ) CVT_FINITE(rz, ) CVT_TF32(rna)

/* Two f32 into a register: a above, b below. */
#define CVT_PAIR(rnd, mods, finite, relu) \
    PXL_INLINE void cvt_##rnd##mods##_f16x2_f32(L_u32 *d, const L_f32 *a, const L_f32 *b) \
    { \
        L_u16 high = f16_round(*a, PXL_##rnd), low = f16_round(*b, PXL_##rnd); \
        *d = pack_halves(half_options(high, finite, relu, F16_INF), half_options(low, finite, relu, F16_INF)); \
    } \
    PXL_INLINE void cvt_##rnd##mods##_bf16x2_f32(L_u32 *d, const L_f32 *a, const L_f32 *b) \
    { \
        L_u32 high = bf16_bits_options(f32_drop_bits(*a, 16, PXL_##rnd), finite, relu), low = bf16_bits_options(f32_drop_bits(*b, 16, PXL_##rnd), finite, relu); \
        *d = (high & 0xffff0000u) | (low >> 16); \
    }
PXL_INLINE L_u16 half_options(L_u16 x, bool finite, bool relu, uint16_t infinity)
{
    x = finite ? half_finite(x, infinity) : x;
    return relu ? half_relu(x) : x;
}
PXL_INLINE L_u32 pack_halves(L_u16 high, L_u16 low) { return (CONVERT(L_u32, high) << 16) | CONVERT(L_u32, low); }
/* The same of a bf16 in the upper half of its f32. */
PXL_INLINE L_u32 bf16_bits_options(L_u32 x, bool finite, bool relu)
{
    x = finite ? SEL((x & 0x7fff0000) == F32_INF, x - 0x10000, x) : x;
    return relu ? f32_bits_relu(x) : x;
}
#define CVT_PAIR_ALL(rnd) CVT_PAIR(rnd, , 0, 0) CVT_PAIR(rnd, _relu, 0, 1) CVT_PAIR(rnd, _satfinite, 1, 0) CVT_PAIR(rnd, _satfinite_relu, 1, 1)
CVT_PAIR_ALL(rn) CVT_PAIR_ALL(rz)

/* .rs: 13 random bits for an f16, 16 for a bf16; a takes the upper half of rbits. */
PXL_INLINE L_u16 f16_round_random(L_f32 x, L_u32 random)
{
    L_u32 bits = as_u32(x), code = limit_code(round_to_code_random(bits, FORMAT_F16, random & 0x1fff, 13), bits, 0x7bff, PXL_rn);
    return CONVERT(L_u16, SEL(x != x, SPLAT(L_u32, F16_NAN), code | ((bits & F32_SIGN) >> 16)));
}
PXL_INLINE L_u16 bf16_round_random(L_f32 x, L_u32 random)
{
    L_u32 size = as_u32(x) & ~F32_SIGN, sign = (as_u32(x) & F32_SIGN) >> 16;
    return CONVERT(L_u16, SEL(x != x, SPLAT(L_u32, BF16_NAN), ((size + (random & 0xffff)) >> 16) | sign));
}
#define CVT_RANDOM(mods, finite, relu) \
    PXL_INLINE void cvt_rs##mods##_f16x2_f32(L_u32 *d, const L_f32 *a, const L_f32 *b, const L_u32 *r) \
    { \
        L_u16 high = f16_round_random(*a, *r >> 16), low = f16_round_random(*b, *r); \
        *d = pack_halves(half_options(high, finite, relu, F16_INF), half_options(low, finite, relu, F16_INF)); \
    } \
    PXL_INLINE void cvt_rs##mods##_bf16x2_f32(L_u32 *d, const L_f32 *a, const L_f32 *b, const L_u32 *r) \
    { \
        L_u16 high = bf16_round_random(*a, *r >> 16), low = bf16_round_random(*b, *r); \
        *d = pack_halves(half_options(high, finite, relu, BF16_INF), half_options(low, finite, relu, BF16_INF)); \
    }
CVT_RANDOM(, 0, 0) CVT_RANDOM(_relu, 0, 1) CVT_RANDOM(_satfinite, 1, 0) CVT_RANDOM(_satfinite_relu, 1, 1)

/* .ftz flushes the f32 only. */
#define CVT_BF16_FTZ(rnd, unused) \
    PXL_INLINE void cvt_##rnd##_ftz_bf16_f32(L_u16 *d, const L_f32 *a) { *d = bf16_round(f32_flush(*a), PXL_##rnd); }
FLOAT_ROUNDINGS(CVT_BF16_FTZ, )

#include "cvt_scaled.h"
#include "gen/isa_wrap_cvt.h"
