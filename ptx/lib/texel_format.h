/* texel_format.h - one texel from memory to the four 32-bit components that a texture instruction returns.
 *
 * Integers read as elements are zero- or sign-extended; f16, f32 and normalised integers give f32. Components
 * that the format lacks are 0, and the fourth is 1 (as OpenCL, whose channel orders PTX uses, has it).
 * Callers see to it that the address is that of a texel.
 */
#ifndef PXL_TEXEL_FORMAT_H
#define PXL_TEXEL_FORMAT_H

#include "half.h"
#include "lane.h"
#include "texel_srgb.h"
#include "texture.h"

typedef float    texel_f32 __attribute__((ext_vector_type(4)));
typedef uint32_t texel_u32 __attribute__((ext_vector_type(4)));
typedef int32_t  texel_s32 __attribute__((ext_vector_type(4)));
typedef const PXL_TEXTURE_SPACE pxl_texture *texture_ptr;

#define TEXEL_NAN 0x7fffffffu

PXL_INLINE texel_u32 texel_bits(texel_f32 x) { return (texel_u32)x; }
PXL_INLINE texel_f32 texel_floats(texel_u32 x) { return (texel_f32)x; }
PXL_INLINE uint32_t texture_bits(float x) { uint32_t r; __builtin_memcpy(&r, &x, 4); return r; }
PXL_INLINE float texture_float(uint32_t x) { float r; __builtin_memcpy(&r, &x, 4); return r; }

PXL_INLINE texel_f32 texel_canonical(texel_f32 x)
{
    return texel_floats(x != x ? (texel_u32)TEXEL_NAN : texel_bits(x));
}

/* Whether reads give f32 (and may be filtered). */
PXL_INLINE bool texture_reads_float(texture_ptr t)
{
    return t->format >= PXL_TEXEL_F16 || (t->read && t->format <= PXL_TEXEL_S16);
}

/* f16 to f32, exactly; without hardware by moving the exponent with a multiplication. */
PXL_INLINE texel_f32 texel_from_f16(texel_u32 b)
{
#if PXL_HARDWARE_F16
    typedef uint16_t bits4 __attribute__((ext_vector_type(4)));
    typedef _Float16 half4 __attribute__((ext_vector_type(4)));
    return texel_canonical(__builtin_convertvector((half4)__builtin_convertvector(b, bits4), texel_f32));
#else
    const texel_u32 size = (b & 0x7fffu) << 13, sign = (b & 0x8000u) << 16;
    const texel_u32 number = texel_bits(texel_floats(size) * 0x1p112f) | sign;
    const texel_u32 infinite = size | F32_INF | sign;
    return texel_floats(size > (F16_INF << 13) ? (texel_u32)TEXEL_NAN : size == (F16_INF << 13) ? infinite : number);
#endif
}

/* The components in memory, zero-extended. */
#define TEXEL_READ(name, type) \
    PXL_INLINE texel_u32 name(uint64_t address, uint32_t channels) \
    { \
        const PXL_TEXTURE_SPACE type *p = (const PXL_TEXTURE_SPACE type *)address; \
        texel_u32 r = {p[0], 0, 0, 0}; \
        if (channels >= 2) \
            r.y = p[1]; \
        if (channels == 4) { \
            r.z = p[2]; \
            r.w = p[3]; \
        } \
        return r; \
    }
TEXEL_READ(texel_read8, uint8_t)
TEXEL_READ(texel_read16, uint16_t)
TEXEL_READ(texel_read32, uint32_t)

/* CUDA C++ Programming Guide, cudaReadModeNormalizedFloat: the full range of the integer maps to [0, 1] or [-1, 1]. */
PXL_INLINE texel_f32 texel_normalize(texel_u32 b, uint32_t format)
{
    const texel_s32 s = (texel_s32)b;
    const float most = format == PXL_TEXEL_U8 ? 255.0f : format == PXL_TEXEL_S8 ? 127.0f : format == PXL_TEXEL_U16 ? 65535.0f : 32767.0f;
    const texel_f32 r = __builtin_convertvector(s, texel_f32) / most;
    return r < -1.0f ? (texel_f32)-1.0f : r;
}

/* sRGB concerns colour, not alpha. */
PXL_INLINE texel_f32 texel_linear_light(texel_u32 b, texel_f32 normalized)
{
    const texel_u32 r = {texel_srgb[b.x & 255], texel_srgb[b.y & 255], texel_srgb[b.z & 255], 0};
    texel_f32 f = texel_floats(r);
    f.w = normalized.w;
    return f;
}

/* Puts 0, 0, 1 behind the components that there are. */
PXL_INLINE texel_u32 texel_fill(texel_u32 r, uint32_t channels, uint32_t one)
{
    if (channels == 4)
        return r;
    return (texel_u32){r.x, channels >= 2 ? r.y : 0, 0, one};
}

PXL_INLINE texel_u32 texel_decode(texture_ptr t, uint64_t address)
{
    const uint32_t format = t->format, channels = t->channels;
    texel_u32 b;
    switch (format) {
    case PXL_TEXEL_U8: case PXL_TEXEL_S8: b = texel_read8(address, channels); break;
    case PXL_TEXEL_U16: case PXL_TEXEL_S16: case PXL_TEXEL_F16: b = texel_read16(address, channels); break;
    default: b = texel_read32(address, channels); break;
    }
    if (format == PXL_TEXEL_S8)
        b = (b ^ 0x80u) - 0x80u;
    if (format == PXL_TEXEL_S16)
        b = (b ^ 0x8000u) - 0x8000u;
    const bool is_float = texture_reads_float(t);
    if (format == PXL_TEXEL_F16)
        b = texel_bits(texel_from_f16(b));
    else if (is_float && format != PXL_TEXEL_F32) {
        texel_f32 f = texel_normalize(b, format);
        if (t->srgb && format == PXL_TEXEL_U8)
            f = texel_linear_light(b, f);
        b = texel_bits(f);
    }
    return texel_fill(b, channels, is_float ? 0x3f800000u : 1u);
}

PXL_INLINE bool texel_is_signed(texture_ptr t)
{
    return t->format == PXL_TEXEL_S8 || t->format == PXL_TEXEL_S16 || t->format == PXL_TEXEL_S32;
}

/* f32 to a normalised integer: limited to what it holds, NaN as 0, to nearest even. The product is exact in f64. */
PXL_INLINE uint32_t texel_quantize(float x, uint32_t format)
{
    const bool is_signed = format == PXL_TEXEL_S8 || format == PXL_TEXEL_S16;
    const double most = format == PXL_TEXEL_U8 ? 255.0 : format == PXL_TEXEL_S8 ? 127.0 : format == PXL_TEXEL_U16 ? 65535.0 : 32767.0;
    const float least = is_signed ? -1.0f : 0.0f, y = x > least ? x : x == x ? least : 0.0f;
    return (uint32_t)(int32_t)__builtin_elementwise_roundeven((y < 1.0f ? y : 1.0f) * most);
}

PXL_INLINE uint32_t texel_to_f16(uint32_t x)
{
#if PXL_WIDTH == 32
    const C_u32 v = (C_u32)(x);
    return c_f16_narrow((C_f32)v)[0];
#else
    return c_f16_narrow(texture_float(x));
#endif
}

/* One component as the format holds it, PTX ISA, sust.p: from f32 for normalised integers and floats, else from u32 or s32, limited. */
PXL_INLINE uint32_t texel_encode_one(texture_ptr t, uint32_t x)
{
    const uint32_t format = t->format, bits = 8 * pxl_channel_bytes(format);
    if (format == PXL_TEXEL_F16)
        return texel_to_f16(x);
    if (bits == 32)
        return x;
    if (t->read)
        return texel_quantize(texture_float(x), format);
    if (texel_is_signed(t)) {
        const int32_t most = (1 << (bits - 1)) - 1, s = (int32_t)x;
        return (uint32_t)(s > most ? most : s < -most - 1 ? -most - 1 : s);
    }
    const uint32_t most = (1u << bits) - 1;
    return x < most ? x : most;
}

PXL_INLINE texel_u32 texel_encode(texture_ptr t, texel_u32 v)
{
    return (texel_u32){texel_encode_one(t, v.x), texel_encode_one(t, v.y), texel_encode_one(t, v.z), texel_encode_one(t, v.w)};
}

/* The components that the format has; rows of any length follow each other, so addresses may be odd. */
#define TEXEL_WRITE(name, type) \
    PXL_INLINE void name(uint64_t address, uint32_t channels, texel_u32 v) \
    { \
        typedef type loose __attribute__((aligned(1))); \
        PXL_TEXTURE_SPACE loose *p = (PXL_TEXTURE_SPACE loose *)address; \
        p[0] = (type)v.x; \
        if (channels >= 2) \
            p[1] = (type)v.y; \
        if (channels == 4) { \
            p[2] = (type)v.z; \
            p[3] = (type)v.w; \
        } \
    }
TEXEL_WRITE(texel_write8, uint8_t)
TEXEL_WRITE(texel_write16, uint16_t)
TEXEL_WRITE(texel_write32, uint32_t)

PXL_INLINE void texel_write(texture_ptr t, uint64_t address, texel_u32 v)
{
    switch (pxl_channel_bytes(t->format)) {
    case 1: texel_write8(address, t->channels, v); break;
    case 2: texel_write16(address, t->channels, v); break;
    default: texel_write32(address, t->channels, v); break;
    }
}

PXL_INLINE texel_u32 texel_border(texture_ptr t)
{
    const texel_u32 b = {t->border[0], t->border[1], t->border[2], t->border[3]};
    return texel_fill(b, t->channels, texture_reads_float(t) ? 0x3f800000u : 1u);
}

#endif
