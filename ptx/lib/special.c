/* special.c - the approximate functions (PTX ISA, "Floating Point Instructions": rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, div).
 *
 * PTX bounds their errors and leaves the bits open. Here each gives the correctly rounded result of the real
 * function (see special_core.h), the special values of the ISA's tables, and the canonical NaN. With .ftz,
 * subnormal operands and results become zeros of their sign.
 */
#include "ptx/lib/float_bits.h"
#include "ptx/lib/half.h"
#include "ptx/lib/special_core.h"

#define S_INF (__builtin_inff())

PXL_INLINE S_f32 s_flush(S_f32 x, bool ftz)
{
    const S_u32 b = S_BITS(S_u32, x);
    return ftz ? S_BITS(S_f32, SEL((b & 0x7f800000u) == 0, b & 0x80000000u, b)) : x;
}
/* r where the condition holds, else the canonical NaN. Chosen among bits: between two NaNs of floating type a compiler may take either. */
#define S_NUMBER_IF(c, r) S_BITS(S_f32, SEL(c, S_BITS(S_u32, r), (S_u32)0x7fffffffu))
PXL_INLINE S_f32 s_canonical(S_f32 r) { return S_NUMBER_IF(r == r, r); }
PXL_INLINE S_f32 s_copy_sign(S_f32 size, S_f32 sign)
{
    return S_BITS(S_f32, S_BITS(S_u32, size) | (S_BITS(S_u32, sign) & 0x80000000u));
}

/* ---- f32 functions of one chunk; x is flushed already where that is asked for ---- */

PXL_INLINE S_f32 s_rcp_f32(S_f32 x) { return s_canonical(1.0f / x); }
PXL_INLINE S_f32 s_sqrt_f32(S_f32 x)
{
    /* By way of |x|: see f32_sqrt_nearest in float_bits.h. */
    const S_f32 r = s_copy_sign(__builtin_elementwise_sqrt(S_BITS(S_f32, S_BITS(S_u32, x) & 0x7fffffffu)), x);
    return S_NUMBER_IF(x >= 0.0f, r);
}
PXL_INLINE S_f32 s_rsqrt_f32(S_f32 x)
{
    S_f32 r = S_CONVERT(S_f32, s_rsqrt(x));
    r = SEL(x == 0.0f, s_copy_sign((S_f32)S_INF, x), r);
    r = SEL(x == S_INF, (S_f32)0.0f, r);
    return S_NUMBER_IF(x >= 0.0f, r);
}
PXL_INLINE S_f32 s_ex2_f32(S_f32 x)
{
    const S_f32 r = S_CONVERT(S_f32, s_ex2(x));
    return S_NUMBER_IF(x == x, r);
}
PXL_INLINE S_f32 s_lg2_f32(S_f32 x)
{
    S_f32 r = S_CONVERT(S_f32, s_lg2(x));
    r = SEL(x == 0.0f, (S_f32)-S_INF, r);
    r = SEL(x == S_INF, (S_f32)S_INF, r);
    return S_NUMBER_IF(x >= 0.0f, r);
}
/* Below 2^-13 sin x and tanh x round to x or its neighbour; x itself is kept for zeros. */
PXL_INLINE S_f32 s_sin_f32(S_f32 x)
{
    const S_f32 r = SEL(x == 0.0f, x, S_CONVERT(S_f32, s_sin(x, 0)));
    return S_NUMBER_IF(x - x == 0.0f, r);
}
PXL_INLINE S_f32 s_cos_f32(S_f32 x)
{
    const S_f32 r = S_CONVERT(S_f32, s_sin(x, 1));
    return S_NUMBER_IF(x - x == 0.0f, r);
}
PXL_INLINE S_f32 s_tanh_f32(S_f32 x)
{
    const S_f32 r = S_CONVERT(S_f32, s_tanh(x));
    return S_NUMBER_IF(x == x, r);
}
/* Correctly rounded quotients; div.approx gives 0 for 2^126 < |b| < 2^128, and NaN when a is infinite. */
PXL_INLINE S_f32 s_div_full_f32(S_f32 a, S_f32 b) { return s_canonical(a / b); }
PXL_INLINE S_f32 s_div_approx_f32(S_f32 a, S_f32 b)
{
    const S_f32 q = a / b, size = S_BITS(S_f32, S_BITS(S_u32, b) & 0x7fffffffu);
    const S_f32 zero = S_BITS(S_f32, (S_BITS(S_u32, a) ^ S_BITS(S_u32, b)) & 0x80000000u);
    const S_f32 r = S_NUMBER_IF(a - a == 0.0f, zero);
    return s_canonical(SEL((size > 0x1p126f) & (size < S_INF), r, q));
}

/* One operand, two operands; each chunk is read before it is written. */
#define SPECIAL_1(name, f) \
    PXL_INLINE void pxl_##name(L_f32 *d, const L_f32 *a, bool ftz) \
    { \
        for (uint32_t i = 0; i < S_CHUNKS; i++) \
            ((S_f32 *)d)[i] = s_flush(f(s_flush(((const S_f32 *)a)[i], ftz)), ftz); \
    } \
    PXL_INLINE void name##_f32(L_f32 *d, const L_f32 *a) { pxl_##name(d, a, false); } \
    PXL_INLINE void name##_ftz_f32(L_f32 *d, const L_f32 *a) { pxl_##name(d, a, true); }
#define SPECIAL_2(name, f) \
    PXL_INLINE void pxl_##name(L_f32 *d, const L_f32 *a, const L_f32 *b, bool ftz) \
    { \
        for (uint32_t i = 0; i < S_CHUNKS; i++) \
            ((S_f32 *)d)[i] = s_flush(f(s_flush(((const S_f32 *)a)[i], ftz), s_flush(((const S_f32 *)b)[i], ftz)), ftz); \
    } \
    PXL_INLINE void name##_f32(L_f32 *d, const L_f32 *a, const L_f32 *b) { pxl_##name(d, a, b, false); } \
    PXL_INLINE void name##_ftz_f32(L_f32 *d, const L_f32 *a, const L_f32 *b) { pxl_##name(d, a, b, true); }
SPECIAL_1(rcp_approx, s_rcp_f32)
SPECIAL_1(sqrt_approx, s_sqrt_f32)
SPECIAL_1(rsqrt_approx, s_rsqrt_f32)
SPECIAL_1(ex2_approx, s_ex2_f32)
SPECIAL_1(lg2_approx, s_lg2_f32)
SPECIAL_1(sin_approx, s_sin_f32)
SPECIAL_1(cos_approx, s_cos_f32)
SPECIAL_2(div_approx, s_div_approx_f32)
SPECIAL_2(div_full, s_div_full_f32)
PXL_INLINE void tanh_approx_f32(L_f32 *d, const L_f32 *a)
{
    for (uint32_t i = 0; i < S_CHUNKS; i++)
        ((S_f32 *)d)[i] = s_tanh_f32(((const S_f32 *)a)[i]);
}

/* ---- f16 and bf16: the f64 value to f32 rounded to odd, and that to nearest, is one rounding ---- */

PXL_INLINE S_f32 s_to_odd(S_f64 v)
{
    const S_f32 f = S_CONVERT(S_f32, v);
    const S_f64 back = S_CONVERT(S_f64, f), size = S_BITS(S_f64, S_BITS(S_u64, v) & 0x7fffffffffffffffull);
    const S_f64 back_size = S_BITS(S_f64, S_BITS(S_u64, back) & 0x7fffffffffffffffull);
    const S_u64 larger = SEL(back_size > size, (S_u64)1, (S_u64)0), odd = SEL(back != v, (S_u64)1, (S_u64)0);
    return S_BITS(S_f32, (S_BITS(S_u32, f) - S_CONVERT(S_u32, larger)) | S_CONVERT(S_u32, odd));
}
/* f: 0 is ex2, 1 is tanh. */
PXL_INLINE L_f32 pxl_half_function(L_f32 x, int f)
{
    L_f32 r;
    for (uint32_t i = 0; i < S_CHUNKS; i++) {
        const S_f32 c = ((const S_f32 *)&x)[i];
        const S_f32 v = s_to_odd(f ? s_tanh(c) : s_ex2(c));
        ((S_f32 *)&r)[i] = S_NUMBER_IF(c == c, v);
    }
    return SEL(x == 0.0f, f ? x : SPLAT(L_f32, 1.0f), r);
}
#if PXL_WIDTH == 32
#define PXL_ONCE static __attribute__((noinline))
#else
#define PXL_ONCE PXL_INLINE
#endif
PXL_ONCE L_u16 pxl_special_f16(L_u16 x, int f)
{
    return CONVERT(L_u16, f16_code_from_f32(pxl_half_function(f32_from_f16(x), f), PXL_rn));
}
PXL_ONCE L_u16 pxl_special_bf16(L_u16 x, int f)
{
    const L_f32 y = f32_from_bf16(x);
    return CONVERT(L_u16, bf16_code_from_f32(f32_in(pxl_half_function(f32_in(y, f == 0), f), f == 0), PXL_rn));
}
#define SPECIAL_HALF(name, type, f) \
    PXL_INLINE L_u32 pxl_##name##_pair(L_u32 x) \
    { \
        const L_u16 lo = CONVERT(L_u16, x & 0xffffu), hi = CONVERT(L_u16, x >> 16); \
        return CONVERT(L_u32, pxl_special_##type(lo, f)) | CONVERT(L_u32, pxl_special_##type(hi, f)) << 16; \
    } \
    PXL_INLINE void name##x2(L_u32 *d, const L_u32 *a) { *d = pxl_##name##_pair(*a); }
SPECIAL_HALF(ex2_approx_f16, f16, 0)
SPECIAL_HALF(tanh_approx_f16, f16, 1)
SPECIAL_HALF(ex2_approx_ftz_bf16, bf16, 0)
SPECIAL_HALF(tanh_approx_bf16, bf16, 1)
PXL_INLINE void ex2_approx_f16(L_f16 *d, const L_f16 *a) { *d = as_f16(pxl_special_f16(as_u16(*a), 0)); }
PXL_INLINE void tanh_approx_f16(L_f16 *d, const L_f16 *a) { *d = as_f16(pxl_special_f16(as_u16(*a), 1)); }
PXL_INLINE void ex2_approx_ftz_bf16(L_u16 *d, const L_u16 *a) { *d = pxl_special_bf16(*a, 0); }
PXL_INLINE void tanh_approx_bf16(L_u16 *d, const L_u16 *a) { *d = pxl_special_bf16(*a, 1); }

/* ---- f64 ---- */

/* The .ftz forms see only the upper word of the operand (20 fraction bits) and give a result of that kind. */
PXL_INLINE L_f64 pxl_gross(L_f64 x)
{
    const L_u64 b = as_u64(x) & 0xffffffff00000000ull;
    return as_f64(SEL((b & F64_INF) == 0, b & F64_SIGN, b));
}
PXL_INLINE L_f64 pxl_gross_result(L_f64 r)
{
    L_u64 b = as_u64(r);
    b = SEL((b & F64_INF) == F64_INF, b, (b + 0x7fffffffull + ((b >> 32) & 1u)) & 0xffffffff00000000ull);
    b = SEL((b & F64_INF) == 0, b & F64_SIGN, b);
    return as_f64(SEL(r != r, SPLAT(L_u64, F64_NAN), b));
}
PXL_INLINE L_f64 pxl_rsqrt_f64(L_f64 x)
{
    const L_f64 r = SPLAT(L_f64, 1.0) / __builtin_elementwise_sqrt(x);
    return SEL(x == 0.0, as_f64((as_u64(x) & F64_SIGN) | F64_INF), r);
}
PXL_INLINE void rcp_approx_ftz_f64(L_f64 *d, const L_f64 *a)
{
    *d = pxl_gross_result(SPLAT(L_f64, 1.0) / pxl_gross(*a));
}
PXL_INLINE void rsqrt_approx_ftz_f64(L_f64 *d, const L_f64 *a)
{
    *d = pxl_gross_result(pxl_rsqrt_f64(pxl_gross(*a)));
}
PXL_INLINE void rsqrt_approx_f64(L_f64 *d, const L_f64 *a)
{
    *d = f64_canonical(pxl_rsqrt_f64(*a));
}

#include "gen/isa_wrap_special.h"
