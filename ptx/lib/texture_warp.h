/* texture_warp.h - a warp's sample of one plain 2D texture: what texture_lane() gives, for 32 lanes at once.
 *
 * Plain means: one handle in all executing lanes, level 0, four f16, f32 or normalised u8 components or one f32, and
 * less than 2 GiB, so that offsets fit 32 bits. Lanes that do not execute read the texel at offset 0.
 */
#ifndef PXL_TEXTURE_WARP_H
#define PXL_TEXTURE_WARP_H

#include "texture_sample.h"

#if PXL_WIDTH == 32

typedef uint64_t texture_u64x4 __attribute__((ext_vector_type(4)));
typedef float texture_f32x16 __attribute__((ext_vector_type(16)));

/* Two texels of an axis for every lane: their byte offsets, whether they are the border, and the share of the second. */
typedef struct warp_axis { L_u32 low, high; L_s32 low_out, high_out; L_f32 weight; } warp_axis;

/* Executing lanes have the handle of the first of them. */
PXL_INLINE bool warp_is_uniform(const L_u64 *handle, L_pred exec)
{
    const L_u64 all = *handle, first = SPLAT(L_u64, ((const uint64_t *)handle)[__builtin_ctz(exec)]);
    return (PRED(all != first) & exec) == 0;
}

static bool warp_is_plain(texture_ptr t, uint32_t what)
{
    const bool format = t->format == PXL_TEXEL_F32 ? t->channels != 2
                                                   : t->channels == 4 && (t->format == PXL_TEXEL_F16 || (t->format == PXL_TEXEL_U8 && t->read && !t->srgb));
    return (what | TEXTURE_INDEX) == (PXL_2D | TEXTURE_INDEX) && format && t->pitch[0] * t->height < 0x7fffffffu;
}

/* Indices to offsets; out is all ones in lanes whose texel is the border. */
PXL_INLINE L_u32 warp_offset(L_s32 i, uint32_t mode, uint32_t extent, uint32_t pitch, L_pred exec, L_s32 *out)
{
    const L_s32 last = SPLAT(L_s32, (int32_t)extent - 1), none = SPLAT(L_s32, 0);
    L_s32 inside = __builtin_elementwise_max(__builtin_elementwise_min(i, last), none);
    uint32_t beyond = PRED(inside != i) & exec;
    if (beyond && (mode == PXL_ADDRESS_WRAP || mode == PXL_ADDRESS_MIRROR))
        for (; beyond; beyond &= beyond - 1) {
            int32_t *at = (int32_t *)&inside + __builtin_ctz(beyond);
            *at = texture_index(mode, ((const int32_t *)&i)[__builtin_ctz(beyond)], extent);
        }
    *out = mode == PXL_ADDRESS_BORDER ? (L_s32)(inside != i) : none;
    return SEL(COND32(exec), (L_u32)inside * pitch, SPLAT(L_u32, 0));
}

PXL_INLINE L_f32 warp_coordinate(const L_f32 *x, bool normalized, uint32_t n)
{
    L_f32 u = *x;
    if (normalized)
        u *= (float)n;
    u = SEL(u == u, u, SPLAT(L_f32, 0.0f));
    u = SEL(u > -0x1p30f, u, SPLAT(L_f32, -0x1p30f));
    return SEL(u < 0x1p30f, u, SPLAT(L_f32, 0x1p30f));
}

/* texture_axis_of() */
PXL_INLINE warp_axis warp_axis_of(texture_ptr t, uint32_t axis, const void *x, bool index, bool linear, uint32_t n, uint32_t pitch, L_pred exec)
{
    const uint32_t mode = texture_mode(t, axis, index || t->normalized); /* indices wrap whatever the coordinates are */
    warp_axis a;
    a.weight = SPLAT(L_f32, 0.0f);
    if (index || !linear) {
        const L_s32 i = index ? *(const L_s32 *)x : CONVERT(L_s32, __builtin_elementwise_floor(warp_coordinate(x, t->normalized, n)));
        a.low = a.high = warp_offset(i, mode, n, pitch, exec, &a.low_out);
        a.high_out = a.low_out;
        return a;
    }
    const L_f32 v = warp_coordinate(x, t->normalized, n) * 256.0f, whole = __builtin_elementwise_floor(v);
    const L_f32 texel = __builtin_elementwise_floor(whole * 0x1p-8f);
    const L_s32 part = CONVERT(L_s32, whole - texel * 256.0f) - 128;
    const L_s32 weight = (part & 255) - (L_s32)(v - whole >= 0.5f), i = CONVERT(L_s32, texel) + (L_s32)(part < 0);
    a.weight = CONVERT(L_f32, weight) * 0x1p-8f;
    a.low = warp_offset(i, mode, n, pitch, exec, &a.low_out);
    a.high = warp_offset(i + 1, mode, n, pitch, exec, &a.high_out);
    return a;
}

/* Byte offsets of a corner, and all ones in the lanes that take the border instead. Arrays, since lanes are picked out by number. */
typedef struct warp_corner { _Alignas(64) uint32_t offset[32], border[32]; } warp_corner;
typedef struct warp_weights { _Alignas(64) float x[32], y[32]; } warp_weights;
#define WARP_STORE(array, v) __builtin_memcpy(array, &(v), sizeof(v))

PXL_INLINE void warp_corner_set(warp_corner *c, L_u32 x, L_s32 x_out, L_u32 y, L_s32 y_out)
{
    const L_u32 offset = x + y, border = (L_u32)(x_out | y_out);
    WARP_STORE(c->offset, offset);
    WARP_STORE(c->border, border);
}

/* ---- texels of four lanes side by side, 4 components each ---- */

/* Element 4k + c comes from x[k]. */
PXL_INLINE texture_f32x16 warp_spread(const void *x)
{
    texel_f32 v;
    __builtin_memcpy(&v, x, sizeof v);
    return __builtin_shufflevector(v, v, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}

PXL_INLINE uint64_t warp_load64(uint64_t address)
{
    uint64_t v;
    __builtin_memcpy(&v, (const void *)(uintptr_t)address, 8);
    return v;
}

PXL_INLINE C_u16 warp_half4(uint64_t base, const warp_corner *c, uint32_t at)
{
    const texture_u64x4 v = {warp_load64(base + c->offset[at]), warp_load64(base + c->offset[at + 1]),
                             warp_load64(base + c->offset[at + 2]), warp_load64(base + c->offset[at + 3])};
    return (C_u16)v;
}

PXL_INLINE texture_f32x16 warp_float4(uint64_t base, const warp_corner *c, uint32_t at)
{
    texel_f32 v[4];
    for (uint32_t k = 0; k < 4; k++)
        __builtin_memcpy(&v[k], (const void *)(uintptr_t)(base + c->offset[at + k]), 16);
    typedef float f32x8 __attribute__((ext_vector_type(8)));
    const f32x8 low = __builtin_shufflevector(v[0], v[1], 0, 1, 2, 3, 4, 5, 6, 7), high = __builtin_shufflevector(v[2], v[3], 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}

PXL_INLINE texture_f32x16 warp_single(uint64_t base, const warp_corner *c, uint32_t at)
{
    float v[4];
    for (uint32_t k = 0; k < 4; k++)
        __builtin_memcpy(&v[k], (const void *)(uintptr_t)(base + c->offset[at + k]), 4);
    return (texture_f32x16){v[0], 0, 0, 1, v[1], 0, 0, 1, v[2], 0, 0, 1, v[3], 0, 0, 1};
}

/* Four u8 as [0, 1]. */
PXL_INLINE texture_f32x16 warp_byte4(uint64_t base, const warp_corner *c, uint32_t at)
{
    typedef uint8_t u8x16 __attribute__((ext_vector_type(16)));
    texel_u32 v;
    for (uint32_t k = 0; k < 4; k++)
        __builtin_memcpy((char *)&v + 4 * k, (const void *)(uintptr_t)(base + c->offset[at + k]), 4);
    return __builtin_convertvector((u8x16)v, texture_f32x16) / 255.0f;
}

enum warp_kind { WARP_HALF4, WARP_FLOAT4, WARP_SINGLE, WARP_BYTE4 };

PXL_INLINE texture_f32x16 warp_texels(enum warp_kind kind, uint64_t base, const warp_corner *c, uint32_t at, texture_f32x16 outside, bool border)
{
    texture_f32x16 r = kind == WARP_HALF4 ? (texture_f32x16)c_f16_widen(warp_half4(base, c, at))
                     : kind == WARP_FLOAT4 ? warp_float4(base, c, at)
                     : kind == WARP_BYTE4 ? warp_byte4(base, c, at) : warp_single(base, c, at);
    if (!border)
        return r;
    const C_s32 take = (C_s32)warp_spread(c->border + at);
    return take != 0 ? outside : r;
}

PXL_INLINE texture_f32x16 warp_lerp(texture_f32x16 a, texture_f32x16 b, texture_f32x16 w)
{
    const texture_f32x16 left = a * (1.0f - w), right = b * w;
    return left + right;
}

PXL_INLINE texture_f32x16 warp_canonical(texture_f32x16 x)
{
    return (texture_f32x16)(x != x ? (C_u32)(TEXEL_NAN) : (C_u32)x);
}

/* Results: [lane][component]. */
typedef struct warp_results { _Alignas(64) uint32_t value[32][4]; } warp_results;

/* Results by component, four lanes at a time. */
PXL_INLINE void warp_transpose(const warp_results *r, L_u32 out[4])
{
    for (uint32_t at = 0; at < 32; at += 4) {
        texel_u32 v[4];
        __builtin_memcpy(v, r->value[at], sizeof v);
        const texel_u32 a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5), b = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
        const texel_u32 c = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5), d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
        const texel_u32 t[4] = {__builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(a, c, 2, 3, 6, 7),
                                __builtin_shufflevector(b, d, 0, 1, 4, 5), __builtin_shufflevector(b, d, 2, 3, 6, 7)};
        for (uint32_t k = 0; k < 4; k++)
            __builtin_memcpy((char *)&out[k] + 4 * at, &t[k], sizeof t[k]);
    }
}

PXL_INLINE void warp_filter(enum warp_kind kind, bool linear, bool border, texture_f32x16 outside, uint64_t base, const warp_axis *x, const warp_axis *y,
                            warp_results *out)
{
    warp_corner c[4];
    warp_weights w;
    WARP_STORE(w.x, x->weight);
    WARP_STORE(w.y, y->weight);
    warp_corner_set(&c[0], x->low, x->low_out, y->low, y->low_out);
    if (linear) {
        warp_corner_set(&c[1], x->high, x->high_out, y->low, y->low_out);
        warp_corner_set(&c[2], x->low, x->low_out, y->high, y->high_out);
        warp_corner_set(&c[3], x->high, x->high_out, y->high, y->high_out);
    }
    for (uint32_t at = 0; at < 32; at += 4) {
        texture_f32x16 r = warp_texels(kind, base, &c[0], at, outside, border);
        if (linear) {
            const texture_f32x16 wx = warp_spread(w.x + at), wy = warp_spread(w.y + at);
            const texture_f32x16 top = warp_lerp(r, warp_texels(kind, base, &c[1], at, outside, border), wx);
            const texture_f32x16 bottom = warp_lerp(warp_texels(kind, base, &c[2], at, outside, border),
                                                    warp_texels(kind, base, &c[3], at, outside, border), wx);
            r = warp_lerp(top, bottom, wy);
        }
        if (linear || kind == WARP_HALF4)
            r = warp_canonical(r);
        __builtin_memcpy(out->value[at], &r, sizeof r);
    }
}

PXL_INLINE void warp_kinds(enum warp_kind kind, bool linear, bool border, texture_f32x16 outside, uint64_t base, const warp_axis *x, const warp_axis *y,
                           warp_results *out)
{
    if (linear && border)
        warp_filter(kind, true, true, outside, base, x, y, out);
    else if (linear)
        warp_filter(kind, true, false, outside, base, x, y, out);
    else
        warp_filter(kind, false, true, outside, base, x, y, out);
}

static __attribute__((noinline)) void warp_plain(texture_ptr t, uint32_t what, const L_u32 *px, const L_u32 *py, L_pred exec, warp_results *out)
{
    const bool index = what & TEXTURE_INDEX, linear = !index && t->filter == PXL_FILTER_LINEAR;
    const bool border = t->address[0] == PXL_ADDRESS_BORDER || t->address[1] == PXL_ADDRESS_BORDER;
    const uint64_t base = texture_slice(t, 0, 0);
    const warp_axis x = warp_axis_of(t, 0, px, index, linear, t->width, pxl_texel_bytes(t->format, t->channels), exec);
    const warp_axis y = warp_axis_of(t, 1, py, index, linear, t->height, (uint32_t)t->pitch[0], exec);
    const texel_u32 b = texel_border(t);
    const texture_f32x16 outside = (texture_f32x16)__builtin_shufflevector(b, b, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    if (t->format == PXL_TEXEL_F16)
        warp_kinds(WARP_HALF4, linear, border, outside, base, &x, &y, out);
    else if (t->format == PXL_TEXEL_U8)
        warp_kinds(WARP_BYTE4, linear, border, outside, base, &x, &y, out);
    else if (t->channels == 4)
        warp_kinds(WARP_FLOAT4, linear, border, outside, base, &x, &y, out);
    else
        warp_kinds(WARP_SINGLE, linear, border, outside, base, &x, &y, out);
}

#endif
#endif
