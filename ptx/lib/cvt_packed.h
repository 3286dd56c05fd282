/* cvt_packed.h - conversions to and from the 8-, 6- and 4-bit formats, and cvt.pack. Part of cvt.c.
 *
 * To these formats .satfinite is obligatory: what is too large, infinities included, becomes the
 * largest number. A NaN becomes 0x7f in e4m3 and e5m2, and the largest positive number in the formats
 * that have no NaN (e2m3, e3m2, e2m1). The first source goes to the upper part.
 */
#ifndef PXL_CVT_PACKED_H
#define PXL_CVT_PACKED_H

#include "half.h"
#include "round.h"

/* ---- f32 to small formats ---- */

#define SMALL_FORMATS(X, ...) \
    X(e4m3, FORMAT_E4M3, 7, 0x7f, __VA_ARGS__) X(e5m2, FORMAT_E5M2, 7, 0x7f, __VA_ARGS__) \
    X(e2m3, FORMAT_E2M3, 5, 0x1f, __VA_ARGS__) X(e3m2, FORMAT_E3M2, 5, 0x1f, __VA_ARGS__) X(e2m1, FORMAT_E2M1, 3, 0x07, __VA_ARGS__)

/* The code with its sign at bit sign_at. */
PXL_INLINE L_u32 small_finish(L_f32 x, L_u32 code, uint32_t largest, int sign_at, uint32_t nan, bool relu)
{
    L_u32 sign = as_u32(x) >> 31;
    code = SEL(code > largest, SPLAT(L_u32, largest), code);
    code = relu ? SEL(sign != 0, SPLAT(L_u32, 0), code) : code | (sign << sign_at);
    return SEL(x != x, SPLAT(L_u32, nan), code);
}

PXL_INLINE L_u32 small_from_f32(L_f32 x, pxl_format f, int sign_at, uint32_t nan, bool relu)
{
    return small_finish(x, round_to_code_nearest(as_u32(x), f), f.largest, sign_at, nan, relu);
}

PXL_INLINE L_u32 small_from_f32_random(L_f32 x, pxl_format f, L_u32 random, int count, int sign_at, uint32_t nan, bool relu)
{
    return small_finish(x, round_to_code_random(as_u32(x), f, random, count), f.largest, sign_at, nan, relu);
}

#define CVT_SMALL_PAIR(type, format, sign_at, nan, mods, relu) \
    PXL_INLINE void cvt_rn_satfinite##mods##_##type##x2_f32(SMALL_X2_##type *d, const L_f32 *a, const L_f32 *b) \
    { \
        L_u32 high = small_from_f32(*a, format, sign_at, nan, relu), low = small_from_f32(*b, format, sign_at, nan, relu); \
        *d = CONVERT(SMALL_X2_##type, (high << SMALL_STEP_##type) | low); \
    }
#define SMALL_X2_e4m3 L_u16
#define SMALL_X2_e5m2 L_u16
#define SMALL_X2_e2m3 L_u16
#define SMALL_X2_e3m2 L_u16
#define SMALL_X2_e2m1 L_u8
#define SMALL_STEP_e4m3 8
#define SMALL_STEP_e5m2 8
#define SMALL_STEP_e2m3 8
#define SMALL_STEP_e3m2 8
#define SMALL_STEP_e2m1 4
SMALL_FORMATS(CVT_SMALL_PAIR, , 0) SMALL_FORMATS(CVT_SMALL_PAIR, _relu, 1)

/* Four at once, stochastically: the random number of a and b is the upper half of rbits, that of e and f the
 * lower half. For e2m1 it has 8 bits: the upper bytes of the halves for a (upper half) and b, the lower ones for e and f. */
#define CVT_SMALL_RANDOM(type, format, sign_at, nan, mods, relu) \
    PXL_INLINE void cvt_rs_satfinite##mods##_##type##x4_f32(SMALL_X4_##type *d, const L_f32 *a, const L_f32 *b, const L_f32 *e, const L_f32 *f, const L_u32 *r) \
    { \
        enum { COUNT = SMALL_STEP_##type == 4 ? 8 : 16, STEP = SMALL_STEP_##type }; \
        L_u32 upper = *r >> 16, lower = *r & 0xffff; \
        L_u32 ra = COUNT == 8 ? upper >> 8 : upper, rb = COUNT == 8 ? lower >> 8 : upper; \
        L_u32 re = COUNT == 8 ? upper & 0xff : lower, rf = COUNT == 8 ? lower & 0xff : lower; \
        L_u32 ca = small_from_f32_random(*a, format, ra, COUNT, sign_at, nan, relu), cb = small_from_f32_random(*b, format, rb, COUNT, sign_at, nan, relu); \
        L_u32 ce = small_from_f32_random(*e, format, re, COUNT, sign_at, nan, relu), cf = small_from_f32_random(*f, format, rf, COUNT, sign_at, nan, relu); \
        *d = CONVERT(SMALL_X4_##type, (ca << (3 * STEP)) | (cb << (2 * STEP)) | (ce << STEP) | cf); \
    }
#define SMALL_X4_e4m3 L_u32
#define SMALL_X4_e5m2 L_u32
#define SMALL_X4_e2m3 L_u32
#define SMALL_X4_e3m2 L_u32
#define SMALL_X4_e2m1 L_u16
SMALL_FORMATS(CVT_SMALL_RANDOM, , 0) SMALL_FORMATS(CVT_SMALL_RANDOM, _relu, 1)

/* ---- f16x2 to e4m3x2 and e5m2x2, on chunks of 16-bit numbers ---- */

/* Rounds the 7 low bits of f16 bits away; numbers below 2^-6, e4m3's subnormals, get their rounding
 * to multiples of 2^-9 from an f32 addition of 2^14, whose last bit that is. */
PXL_INLINE C_u16 c_e4m3_from_f16(C_u16 x, bool relu)
{
    C_u16 size = x & (uint16_t)0x7fff, lsb = (size >> (uint16_t)7) & (uint16_t)1;
    C_u16 normal = ((size + (uint16_t)0x3f + lsb) >> (uint16_t)7) - (uint16_t)64;
    C_u16 tiny = CONVERT(C_u16, C_BITS(C_u32, c_f16_widen(size) + SPLAT(C_f32, 0x1p14f)) & 0xf);
    C_s16 order = C_BITS(C_s16, size);
    C_u16 code = SEL(order < (int16_t)0x2400, tiny, normal);
    C_s16 code_order = C_BITS(C_s16, code);
    code = SEL(code_order > (int16_t)0x7e, SPLAT(C_u16, 0x7e), code);
    C_u16 sign = (x >> (uint16_t)8) & (uint16_t)0x80;
    code = relu ? (C_u16)SEL(sign != 0, SPLAT(C_u16, 0), code) : (C_u16)(code | sign);
    return SEL(order > (int16_t)F16_INF, SPLAT(C_u16, 0x7f), code);
}

/* e5m2 is the upper byte of an f16, rounded; its subnormals too. */
PXL_INLINE C_u16 c_e5m2_from_f16(C_u16 x, bool relu)
{
    C_u16 size = x & (uint16_t)0x7fff, lsb = (size >> (uint16_t)8) & (uint16_t)1;
    C_u16 code = (size + (uint16_t)0x7f + lsb) >> (uint16_t)8;
    C_s16 order = C_BITS(C_s16, size), code_order = C_BITS(C_s16, code);
    code = SEL(code_order > (int16_t)0x7b, SPLAT(C_u16, 0x7b), code);
    C_u16 sign = (x >> (uint16_t)8) & (uint16_t)0x80;
    code = relu ? (C_u16)SEL(sign != 0, SPLAT(C_u16, 0), code) : (C_u16)(code | sign);
    return SEL(order > (int16_t)F16_INF, SPLAT(C_u16, 0x7f), code);
}

/* Codes of neighbouring halves into the bytes of a 16-bit lane. */
#if PXL_WIDTH == 32
typedef uint8_t C_u8 __attribute__((ext_vector_type(16), may_alias));
#else
typedef uint8_t C_u8 __attribute__((may_alias));
#endif
#define CVT_F16X2_TO(type, mods, relu) \
    PXL_INLINE void cvt_rn_satfinite##mods##_##type##x2_f16x2(L_u16 *d, const L_u32 *a) \
    { \
        union { L_u16 whole; C_u8 part[PAIR_CHUNKS]; } r; \
        for (int k = 0; k < PAIR_CHUNKS; k++) \
            r.part[k] = CONVERT(C_u8, c_##type##_from_f16(((const C_u16 *)(const void *)a)[k], relu)); \
        *d = r.whole; \
    }
CVT_F16X2_TO(e4m3, , 0) CVT_F16X2_TO(e4m3, _relu, 1) CVT_F16X2_TO(e5m2, , 0) CVT_F16X2_TO(e5m2, _relu, 1)

/* ---- small formats to f16x2: exact ---- */

/* f16 bits of a size in a format of `fraction` bits. A subnormal is its top bit i, at exponent 16 - bias - fraction + i, and what follows. */
PXL_INLINE C_u16 c_f16_from_small(C_u16 size, int fraction, int bias)
{
    C_u16 r = (size << (uint16_t)(10 - fraction)) + (uint16_t)((15 - bias) << 10);
    for (int i = fraction - 1; i >= 0; i--) {
        C_u16 subnormal = ((size & (uint16_t)((1 << i) - 1)) << (uint16_t)(10 - i)) + (uint16_t)((16 - bias - fraction + i) << 10);
        C_s16 order = C_BITS(C_s16, size);
        r = SEL(order < (int16_t)(2 << i), subnormal, r);
    }
    return SEL(size == 0, SPLAT(C_u16, 0), r);
}

PXL_INLINE C_u16 c_f16_from_e5m2(C_u8 b) { C_u16 x = CONVERT(C_u16, b); return c_nan_canonical(x << (uint16_t)8, F16_INF); }
PXL_INLINE C_u16 c_f16_from_e2m3(C_u8 b) { C_u16 x = CONVERT(C_u16, b); return c_f16_from_small(x & (uint16_t)0x1f, 3, 1) | (C_u16)((x & (uint16_t)0x20) << (uint16_t)10); }
PXL_INLINE C_u16 c_f16_from_e3m2(C_u8 b) { C_u16 x = CONVERT(C_u16, b); return c_f16_from_small(x & (uint16_t)0x1f, 2, 3) | (C_u16)((x & (uint16_t)0x20) << (uint16_t)10); }
PXL_INLINE C_u16 c_f16_from_e2m1(C_u8 b) { C_u16 x = CONVERT(C_u16, b); return c_f16_from_small(x & (uint16_t)0x07, 1, 1) | (C_u16)((x & (uint16_t)0x08) << (uint16_t)12); }

#define CVT_TO_F16X2(type, mods, relu) \
    PXL_INLINE void cvt_rn##mods##_f16x2_##type##x2(L_u32 *d, const L_u16 *a) \
    { \
        union { L_u32 whole; C_u16 part[PAIR_CHUNKS]; } r; \
        for (int k = 0; k < PAIR_CHUNKS; k++) { \
            C_u16 x = c_f16_from_##type(((const C_u8 *)(const void *)a)[k]); \
            r.part[k] = relu ? c_half_relu(x) : x; \
        } \
        *d = r.whole; \
    }
CVT_TO_F16X2(e5m2, , 0) CVT_TO_F16X2(e5m2, _relu, 1)
CVT_TO_F16X2(e2m3, , 0) CVT_TO_F16X2(e2m3, _relu, 1) CVT_TO_F16X2(e3m2, , 0) CVT_TO_F16X2(e3m2, _relu, 1)

/* e4m3, the one that matters most, in bytes and a whole register at once. The upper byte of the f16 is 0x20 + size / 2; that of a
 * subnormal (size below 8) is 0, 0x18, 0x1c, 0x1e, 0x20 ... 0x23, and its lower byte is 0. */
typedef uint8_t P_u8 __attribute__((ext_vector_type(2 * PXL_WIDTH)));
typedef int8_t P_s8 __attribute__((ext_vector_type(2 * PXL_WIDTH)));
typedef uint16_t P_u16 __attribute__((ext_vector_type(2 * PXL_WIDTH)));
PXL_INLINE L_u32 f16x2_from_e4m3x2(L_u16 x)
{
    P_u8 bytes, zero = 0;
    __builtin_memcpy(&bytes, &x, sizeof bytes);
    P_u8 size = bytes & (uint8_t)0x7f, half = (size >> (uint8_t)1) & (uint8_t)0x3f;
    P_s8 order = (P_s8)size;
    P_u8 tiny = order < (int8_t)4 ? size + size + (uint8_t)0x18 : size + (uint8_t)0x1c;
    tiny = order < (int8_t)2 ? (size == zero ? zero : (P_u8)0x18) : tiny;
    P_u8 high = order < (int8_t)8 ? tiny : half + (uint8_t)0x20;
    P_u8 low = (size & (uint8_t)1) == zero ? zero : (P_u8)0x80;
    low = order < (int8_t)8 ? zero : low;
    high = high | (bytes & (uint8_t)0x80);
    high = size == (P_u8)0x7f ? (P_u8)0x7f : high;
    low = size == (P_u8)0x7f ? (P_u8)0xff : low;
    P_u16 r = __builtin_convertvector(low, P_u16) | (__builtin_convertvector(high, P_u16) << (uint16_t)8);
    L_u32 d;
    __builtin_memcpy(&d, &r, sizeof d);
    return d;
}
PXL_INLINE L_u32 halves_relu(L_u32 x)
{
    P_u16 h;
    __builtin_memcpy(&h, &x, sizeof h);
    h = h >= (uint16_t)0x8000 ? (P_u16)0 : h;
    __builtin_memcpy(&x, &h, sizeof x);
    return x;
}
PXL_INLINE void cvt_rn_f16x2_e4m3x2(L_u32 *d, const L_u16 *a) { *d = f16x2_from_e4m3x2(*a); }
PXL_INLINE void cvt_rn_relu_f16x2_e4m3x2(L_u32 *d, const L_u16 *a) { *d = halves_relu(f16x2_from_e4m3x2(*a)); }

/* Two e2m1 share a byte: they are spread to the bytes of a 16-bit lane first. */
#define CVT_TO_F16X2_E2M1(mods) \
    PXL_INLINE void cvt_rn##mods##_f16x2_e2m1x2(L_u32 *d, const L_u8 *a) \
    { \
        L_u16 x = CONVERT(L_u16, *a), spread = (x | (x << (uint16_t)4)) & (uint16_t)0x0f0f; \
        cvt_rn##mods##_f16x2_e2m1_bytes(d, &spread); \
    }
PXL_INLINE void cvt_rn_f16x2_e2m1_bytes(L_u32 *d, const L_u16 *a)
{
    union { L_u32 whole; C_u16 part[PAIR_CHUNKS]; } r;
    for (int k = 0; k < PAIR_CHUNKS; k++)
        r.part[k] = c_f16_from_e2m1(((const C_u8 *)(const void *)a)[k]);
    *d = r.whole;
}
PXL_INLINE void cvt_rn_relu_f16x2_e2m1_bytes(L_u32 *d, const L_u16 *a)
{
    L_u32 r;
    cvt_rn_f16x2_e2m1_bytes(&r, a);
    L_u32 low_sign = (r >> 15) & 1, high_sign = r >> 31; /* there are no NaNs */
    *d = SEL(low_sign != 0, r & 0xffff0000u, r) & SEL(high_sign != 0, SPLAT(L_u32, 0xffff), SPLAT(L_u32, 0xffffffffu));
}
CVT_TO_F16X2_E2M1() CVT_TO_F16X2_E2M1(_relu)

/* ---- ue8m0: powers of two, the sign of the source is ignored ---- */

/* Code n is 2^(n - 127); 255 is NaN, which infinity becomes without .satfinite. Up (.rp), what is not a power of two goes to the next;
 * 2^-127, an f32 subnormal, is the least: all that is not above it is code 0. */
PXL_INLINE L_u32 ue8m0_from_f32(L_u32 bits, bool up, bool finite)
{
    L_u32 size = bits & ~F32_SIGN, code = size >> 23, one = SPLAT(L_u32, 1), zero = SPLAT(L_u32, 0);
    if (up) {
        L_u32 inexact = SEL((size & 0x7fffff) != 0, one, zero);
        L_u32 above_least = SEL(size > 0x400000, one, zero), number = SEL(size < F32_INF, one, zero);
        code += inexact & above_least & number;
    }
    if (finite)
        code = SEL((code == 255) & (size <= F32_INF), SPLAT(L_u32, 254), code);
    return code;
}

#define CVT_UE8M0(rnd, mods, up, finite) \
    PXL_INLINE void cvt_##rnd##mods##_ue8m0x2_f32(L_u16 *d, const L_f32 *a, const L_f32 *b) \
    { \
        *d = CONVERT(L_u16, (ue8m0_from_f32(as_u32(*a), up, finite) << 8) | ue8m0_from_f32(as_u32(*b), up, finite)); \
    } \
    PXL_INLINE void cvt_##rnd##mods##_ue8m0x2_bf16x2(L_u16 *d, const L_u32 *a) \
    { \
        L_u32 x = *a; \
        *d = CONVERT(L_u16, (ue8m0_from_f32(x & 0xffff0000u, up, finite) << 8) | ue8m0_from_f32(x << 16, up, finite)); \
    }
CVT_UE8M0(rz, , 0, 0) CVT_UE8M0(rz, _satfinite, 0, 1) CVT_UE8M0(rp, , 1, 0) CVT_UE8M0(rp, _satfinite, 1, 1)

PXL_INLINE L_u32 bf16_from_ue8m0(L_u32 code)
{
    L_u32 r = SEL(code == 0, SPLAT(L_u32, 0x40), code << 7);
    return SEL(code == 255, SPLAT(L_u32, BF16_NAN), r);
}
PXL_INLINE void cvt_rn_bf16x2_ue8m0x2(L_u32 *d, const L_u16 *a)
{
    L_u32 x = CONVERT(L_u32, *a);
    *d = (bf16_from_ue8m0(x >> 8) << 16) | bf16_from_ue8m0(x & 0xff);
}

/* ---- cvt.pack: saturated integers, a above b, above them the low bits of c ---- */

PXL_INLINE L_u32 clamp_to(L_s32 x, int32_t least, int32_t most, int bits)
{
    L_s32 r = SEL(x < least, SPLAT(L_s32, least), x);
    r = SEL(r > most, SPLAT(L_s32, most), r);
    return as_u32(r) & (uint32_t)((1ull << bits) - 1);
}
#define CVT_PACK16(type, least, most) \
    PXL_INLINE void cvt_pack_sat_##type##_s32(L_u32 *d, const L_s32 *a, const L_s32 *b) \
    { \
        *d = (clamp_to(*a, least, most, 16) << 16) | clamp_to(*b, least, most, 16); \
    }
#define CVT_PACK(type, bits, least, most) \
    PXL_INLINE void cvt_pack_sat_##type##_s32_b32(L_u32 *d, const L_s32 *a, const L_s32 *b, const L_u32 *c) \
    { \
        *d = (*c << (2 * bits)) | (clamp_to(*a, least, most, bits) << bits) | clamp_to(*b, least, most, bits); \
    }
CVT_PACK16(u16, 0, 65535) CVT_PACK16(s16, -32768, 32767)
CVT_PACK(u8, 8, 0, 255) CVT_PACK(s8, 8, -128, 127) CVT_PACK(u4, 4, 0, 15) CVT_PACK(s4, 4, -8, 7) CVT_PACK(u2, 2, 0, 3) CVT_PACK(s2, 2, -2, 1)

#endif
