/* cvt_scaled.h - conversions of PTX ISA 9.1: packed bf16 and f16 to the 8-, 6- and 4-bit formats, and s2f6. Part of cvt.c.
 *
 * s2f6 is a fixed-point number: a two's complement byte that counts 64ths. Scales are ue8m0 (powers of two, 255 is NaN); without
 * one they are 1. On the way to s2f6 the source is divided by its scale and rounded once; what is then beyond 127/64 in size
 * becomes ±127/64, never -2, since .satfinite gives MAX_NORM with the source's sign; NaN becomes 127/64 (PTX ISA, "cvt").
 * From s2f6 everything but -2 * 2^127 is exact.
 */
#ifndef PXL_CVT_SCALED_H
#define PXL_CVT_SCALED_H

/* ---- packed halves to small formats ---- */

#define UPPER_bf16(a) as_f32((a) & 0xffff0000u)
#define LOWER_bf16(a) as_f32((a) << 16)
#define UPPER_f16(a) f32_from_f16(CONVERT(L_u16, (a) >> 16))
#define LOWER_f16(a) f32_from_f16(CONVERT(L_u16, (a) & 0xffff))
#define CVT_SMALL_PACKED(type, format, sign_at, nan, mods, relu, from) \
    PXL_INLINE void cvt_rn_satfinite##mods##_##type##x2_##from##x2(SMALL_X2_##type *d, const L_u32 *a) \
    { \
        L_u32 x = *a, high = small_from_f32(UPPER_##from(x), format, sign_at, nan, relu); \
        L_u32 low = small_from_f32(LOWER_##from(x), format, sign_at, nan, relu); \
        *d = CONVERT(SMALL_X2_##type, (high << SMALL_STEP_##type) | low); \
    }
SMALL_FORMATS(CVT_SMALL_PACKED, , 0, bf16) SMALL_FORMATS(CVT_SMALL_PACKED, _relu, 1, bf16)
#define CVT_SMALL_F16(mods, relu) \
    CVT_SMALL_PACKED(e2m3, FORMAT_E2M3, 5, 0x1f, mods, relu, f16) CVT_SMALL_PACKED(e3m2, FORMAT_E3M2, 5, 0x1f, mods, relu, f16) \
    CVT_SMALL_PACKED(e2m1, FORMAT_E2M1, 3, 0x07, mods, relu, f16)
CVT_SMALL_F16(, 0) CVT_SMALL_F16(_relu, 1)

/* ---- s2f6 ---- */

/* 2^(exponent); NaN where the scale is. */
PXL_INLINE L_f64 power_of_two(L_u32 exponent_of_f64, L_u32 scale)
{
    L_u64 bits = CONVERT(L_u64, exponent_of_f64) << 52, nan = SPLAT(L_u64, 0x7ff8000000000000ull);
    return as_f64(SEL(CONVERT(L_u64, scale) == 255, nan, bits));
}

/* f64 holds the quotient of an f32 and a power of two. */
PXL_INLINE L_u32 s2f6_from_f32(L_f32 x, L_u32 scale, bool relu)
{
    L_f64 q = CONVERT(L_f64, x) * power_of_two(1023 + 127 + 6 - scale, scale);
    L_f64 least = relu ? SPLAT(L_f64, 0) : SPLAT(L_f64, -127), most = SPLAT(L_f64, 127), r = __builtin_elementwise_roundeven(q);
    r = SEL(r < least, least, r);
    r = SEL(r > most, most, r);
    r = SEL(q == q, r, most);
    return as_u32(CONVERT(L_s32, r)) & 0xff;
}

PXL_INLINE L_u16 bf16_from_s2f6(L_u32 code, L_u32 scale, bool finite, bool relu)
{
    L_s32 x = as_s32(code << 24) >> 24;
    L_f64 v = CONVERT(L_f64, x) * power_of_two(1023 - 127 - 6 + scale, scale);
    L_u32 bits = SEL(scale == 255, SPLAT(L_u32, BF16_NAN), as_u32(f32_from_f64(v, PXL_rn)) >> 16);
    return half_options(CONVERT(L_u16, bits), finite, relu, BF16_INF);
}

#define UNIT_SCALES SPLAT(L_u32, 0x7f7f)
#define CVT_S2F6(mods, relu, scaled, scales, ...) \
    PXL_INLINE void cvt_rn_satfinite##mods##scaled##_s2f6x2_f32(L_u16 *d, const L_f32 *a, const L_f32 *b __VA_ARGS__) \
    { \
        L_u32 s = scales; \
        *d = CONVERT(L_u16, (s2f6_from_f32(*a, s >> 8, relu) << 8) | s2f6_from_f32(*b, s & 0xff, relu)); \
    } \
    PXL_INLINE void cvt_rn_satfinite##mods##scaled##_s2f6x2_bf16x2(L_u16 *d, const L_u32 *a __VA_ARGS__) \
    { \
        L_u32 s = scales, x = *a; \
        *d = CONVERT(L_u16, (s2f6_from_f32(UPPER_bf16(x), s >> 8, relu) << 8) | s2f6_from_f32(LOWER_bf16(x), s & 0xff, relu)); \
    }
#define CVT_FROM_S2F6(mods, finite, relu, scaled, scales, ...) \
    PXL_INLINE void cvt_rn##mods##scaled##_bf16x2_s2f6x2(L_u32 *d, const L_u16 *a __VA_ARGS__) \
    { \
        L_u32 s = scales, x = CONVERT(L_u32, *a); \
        *d = pack_halves(bf16_from_s2f6(x >> 8, s >> 8, finite, relu), bf16_from_s2f6(x & 0xff, s & 0xff, finite, relu)); \
    }
#define CVT_S2F6_ALL(scaled, scales, ...) \
    CVT_S2F6(, 0, scaled, scales, __VA_ARGS__) CVT_S2F6(_relu, 1, scaled, scales, __VA_ARGS__) \
    CVT_FROM_S2F6(, 0, 0, scaled, scales, __VA_ARGS__) CVT_FROM_S2F6(_relu, 0, 1, scaled, scales, __VA_ARGS__) \
    CVT_FROM_S2F6(_satfinite, 1, 0, scaled, scales, __VA_ARGS__) CVT_FROM_S2F6(_satfinite_relu, 1, 1, scaled, scales, __VA_ARGS__)
CVT_S2F6_ALL(, UNIT_SCALES, )
#define COMMA ,
CVT_S2F6_ALL(_scaled_n2_ue8m0, CONVERT(L_u32, *c), COMMA const L_u16 *c)
#undef COMMA

#endif
