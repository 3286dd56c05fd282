/* texture_sample.h - what one lane of a texture instruction returns. TEXTURES.md states the choices.
 *
 * CUDA C++ Programming Guide, "Texture Fetching". Whatever coordinates, layers, levels and gradients hold, only texels
 * that the descriptor describes are read: every index passes texture_index() or a clamp.
 */
#ifndef PXL_TEXTURE_SAMPLE_H
#define PXL_TEXTURE_SAMPLE_H

#include "texel_format.h"

/* What an instruction asks for: a pxl_geometry and these. */
enum {
    TEXTURE_GEOMETRY = 7,
    TEXTURE_INDEX = 8,             /* .s32 coordinates: the texel with that index, unfiltered */
    TEXTURE_LEVEL = 16,            /* .level */
    TEXTURE_GRADIENT = 32,         /* .grad */
    TEXTURE_GATHER = 64,           /* tld4, of the component in the two bits above */
    TEXTURE_COMPONENT = 7,
    TEXTURE_OFFSET = 512,          /* operand e */
    TEXTURE_COMPARE = 1024,        /* operand f */
    TEXTURE_SAMPLES = 2048         /* .2dms, .a2dms */
};

/* What few forms have: texels to go on by after the texel is found, and a depth to compare texels with. */
typedef struct texture_extra { int32_t shift[3]; bool compare; float depth; } texture_extra;
static const texture_extra texture_nothing = {{0, 0, 0}, false, 0.0f};

/* One axis of a footprint: two texels (−1: the border) and the second one's share in 256ths. */
typedef struct texture_axis { int32_t low, high; uint32_t weight; } texture_axis;

PXL_INLINE uint32_t texture_dims(uint32_t what)
{
    const uint32_t g = what & TEXTURE_GEOMETRY;
    return g == PXL_1D || g == PXL_A1D ? 1 : g == PXL_3D ? 3 : 2;
}
PXL_INLINE bool texture_is_cube(uint32_t what) { return (what & TEXTURE_GEOMETRY) >= PXL_CUBE; }
PXL_INLINE uint32_t texture_extent(uint32_t extent, uint32_t level) { return extent >> level ? extent >> level : 1; }

/* The texel that index i means among n; −1 for the border. */
PXL_INLINE int32_t texture_index(uint32_t mode, int32_t i, uint32_t n)
{
    const uint32_t u = (uint32_t)i, folded = i < 0 ? ~u : u;
    if (u < n)
        return i;
    switch (mode) {
    case PXL_ADDRESS_WRAP: {
        const uint32_t r = folded % n;
        return (int32_t)(i < 0 ? n - 1 - r : r);
    }
    case PXL_ADDRESS_MIRROR: {
        const uint32_t r = folded % (2 * n);
        return (int32_t)(r < n ? r : 2 * n - 1 - r);
    }
    case PXL_ADDRESS_BORDER: return -1;
    default: return i < 0 ? 0 : (int32_t)(n - 1);
    }
}

/* A coordinate in texels: scaled when it is normalised, NaN as 0, and small enough for an int. */
PXL_INLINE float texture_coordinate(float x, bool normalized, uint32_t n)
{
    float u = normalized ? x * (float)n : x;
    u = u == u ? u : 0.0f;
    u = u > -0x1p30f ? u : -0x1p30f;
    return u < 0x1p30f ? u : 0x1p30f;
}

/* floor(u − 1/2), and its fraction to the nearest 256th (ties up; 256 is possible). Everything here is exact but u − 1/2, which
 * is therefore never formed: the 256ths of u are taken apart instead. */
PXL_INLINE int32_t texture_split(float u, uint32_t *weight)
{
    const float v = u * 256.0f, whole = __builtin_elementwise_floor(v), texel = __builtin_elementwise_floor(whole * 0x1p-8f);
    const int32_t part = (int32_t)(whole - texel * 256.0f) - 128;
    *weight = (uint32_t)(part & 255) + (v - whole >= 0.5f ? 1 : 0);
    return (int32_t)texel - (part < 0 ? 1 : 0);
}

/* The address mode that counts: wrap and mirror need normalised coordinates (CUDA Runtime API, cudaTextureDesc). */
PXL_INLINE uint32_t texture_mode(texture_ptr t, uint32_t axis, bool normalized)
{
    const uint32_t mode = t->address[axis];
    return !normalized && (mode == PXL_ADDRESS_WRAP || mode == PXL_ADDRESS_MIRROR) ? PXL_ADDRESS_CLAMP : mode;
}

PXL_INLINE texture_axis texture_axis_of(texture_ptr t, uint32_t axis, float x, bool normalized, bool linear, uint32_t n, int32_t shift)
{
    const float u = texture_coordinate(x, normalized, n);
    const uint32_t mode = texture_mode(t, axis, normalized);
    texture_axis a = {0, 0, 0};
    if (linear) {
        const int32_t i = texture_split(u, &a.weight) + shift;
        a.low = texture_index(mode, i, n);
        a.high = texture_index(mode, i + 1, n);
    } else {
        a.low = a.high = texture_index(mode, (int32_t)__builtin_elementwise_floor(u) + shift, n);
    }
    return a;
}

PXL_INLINE uint64_t texture_slice(texture_ptr t, uint32_t level, uint32_t slice)
{
    return t->base + t->offset[level] + slice * t->slice[level];
}

/* At width 1 a texel is decoded in one place: a footprint of inlined ones fills the instruction cache. */
#if PXL_WIDTH == 1
#define TEXTURE_PART static __attribute__((noinline, unused))
#else
#define TEXTURE_PART PXL_INLINE
#endif

/* One texel of a level; `base` is where its slice 0 (or its layer) starts. */
TEXTURE_PART texel_u32 texture_texel(texture_ptr t, uint32_t level, uint64_t base, int32_t x, int32_t y, int32_t z)
{
    if ((x | y | z) < 0)
        return texel_border(t);
    const uint64_t at = (uint64_t)(uint32_t)z * t->slice[level] + (uint64_t)(uint32_t)y * t->pitch[level] +
                        (uint64_t)(uint32_t)x * pxl_texel_bytes(t->format, t->channels);
    return texel_decode(t, base + at);
}

/* PTX ISA, tex, operand f: 1.0 for each component that the depth does not exceed, else 0.0 (also for NaN). */
PXL_INLINE texel_u32 texel_compare(texture_ptr t, texel_u32 v, float depth)
{
    const texel_f32 integer = texel_is_signed(t) ? __builtin_convertvector((texel_s32)v, texel_f32) : __builtin_convertvector(v, texel_f32);
    const texel_f32 x = texture_reads_float(t) ? texel_floats(v) : integer;
    return texel_fill((texel_f32)depth <= x ? (texel_u32)0x3f800000u : (texel_u32)0, t->channels, 0x3f800000u);
}

PXL_INLINE texel_u32 texture_value(texture_ptr t, uint32_t level, uint64_t base, int32_t x, int32_t y, int32_t z, const texture_extra *e)
{
    const texel_u32 v = texture_texel(t, level, base, x, y, z);
    return e->compare ? texel_compare(t, v, e->depth) : v;
}

/* a·(1 − w) + b·w with each operation rounded to f32: the order is part of the result. */
PXL_INLINE texel_f32 texture_lerp(texel_f32 a, texel_f32 b, uint32_t weight)
{
    const float w = (float)weight * 0x1p-8f;
    const texel_f32 left = a * (1.0f - w), right = b * w;
    return left + right;
}

PXL_INLINE texel_f32 texture_row(texture_ptr t, uint32_t level, uint64_t base, texture_axis x, int32_t y, int32_t z, const texture_extra *e)
{
    return texture_lerp(texel_floats(texture_value(t, level, base, x.low, y, z, e)),
                        texel_floats(texture_value(t, level, base, x.high, y, z, e)), x.weight);
}

/* Along x first, then along y, then along z. */
PXL_INLINE texel_f32 texture_filter(texture_ptr t, uint32_t level, uint64_t base, uint32_t dims, texture_axis x, texture_axis y, texture_axis z,
                                    const texture_extra *e)
{
    texel_f32 r = texture_row(t, level, base, x, y.low, z.low, e);
    if (dims >= 2)
        r = texture_lerp(r, texture_row(t, level, base, x, y.high, z.low, e), y.weight);
    if (dims == 3) {
        const texel_f32 low = texture_row(t, level, base, x, y.low, z.high, e), high = texture_row(t, level, base, x, y.high, z.high, e);
        r = texture_lerp(r, texture_lerp(low, high, y.weight), z.weight);
    }
    return texel_canonical(r);
}

/* Where the coordinates of a sample lie: texels of a layer or volume, in every level. */
typedef struct texture_place { float x, y, z; uint32_t slice; bool normalized; } texture_place;

PXL_INLINE texel_u32 texture_sample_level(texture_ptr t, uint32_t what, uint32_t level, texture_place p, const texture_extra *e)
{
    const uint32_t dims = texture_dims(what);
    const bool linear = t->filter == PXL_FILTER_LINEAR && texture_reads_float(t);
    const uint64_t base = texture_slice(t, level, p.slice);
    const texture_axis none = {0, 0, 0};
    const texture_axis x = texture_axis_of(t, 0, p.x, p.normalized, linear, texture_extent(t->width, level), e->shift[0]);
    const texture_axis y = dims < 2 ? none : texture_axis_of(t, 1, p.y, p.normalized, linear, texture_extent(t->height, level), e->shift[1]);
    const texture_axis z = dims < 3 ? none : texture_axis_of(t, 2, p.z, p.normalized, linear, texture_extent(t->depth, level), e->shift[2]);
    if (linear)
        return texel_bits(texture_filter(t, level, base, dims, x, y, z, e));
    return texture_value(t, level, base, x.low, y.low, z.low, e);
}

/* ---- cubes: CUDA C++ Programming Guide, "Cubemap Textures" ---- */

typedef struct texture_face { uint32_t face; float m, s, t; } texture_face;

/* The vector's component along the face's axis, and the two within the face. Of components of equal size z counts before y before x. */
PXL_INLINE texture_face texture_project(uint32_t face, float x, float y, float z)
{
    switch (face) {
    case 0: return (texture_face){0, x, -z, -y};
    case 1: return (texture_face){1, -x, z, -y};
    case 2: return (texture_face){2, y, x, z};
    case 3: return (texture_face){3, -y, x, -z};
    case 4: return (texture_face){4, z, x, -y};
    default: return (texture_face){5, -z, -x, -y};
    }
}

PXL_INLINE uint32_t texture_face_of(float x, float y, float z)
{
    const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
    if (az >= ax && az >= ay)
        return z < 0.0f ? 5 : 4;
    if (ay >= ax)
        return y < 0.0f ? 3 : 2;
    return x < 0.0f ? 1 : 0;
}

/* ---- mipmaps ---- */

/* log2(sqrt(x)) to 8 fractional bits, rounded down; −64 for 0 and subnormals, 64 for infinity, 0 for NaN. Squaring in f64
 * errs by 2^-45 at most, and no f32 but a power of two is that near to a 128th power of 2. */
PXL_INLINE float texture_half_log2(float x)
{
    const uint32_t bits = texture_bits(x), exponent = bits >> 23 & 255;
    if (exponent == 0)
        return -64.0f;
    if (exponent == 255)
        return bits == 0x7f800000u ? 64.0f : 0.0f;
    double m = texture_float((bits & 0x7fffffu) | 0x3f800000u);
    int32_t r = (int32_t)exponent - 127;
    for (int i = 0; i < 7; i++) {
        m *= m;
        const bool bit = m >= 2.0;
        m = bit ? m * 0.5 : m;
        r = 2 * r + (bit ? 1 : 0);
    }
    return (float)r * 0x1p-8f;
}

/* The longer of the two gradients, in texels, squared. */
PXL_INLINE float texture_longer(const float a[3], const float b[3])
{
    const float pa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], pb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    return pa != pa || pb != pb ? pa + pb : pa > pb ? pa : pb;
}

/* The level of detail of .grad: log2 of the longer gradient in texels of level 0. */
PXL_INLINE float texture_lod_of(texture_ptr t, uint32_t what, float x, float y, float z, const float dx[3], const float dy[3])
{
    const uint32_t dims = texture_dims(what);
    const bool cube = texture_is_cube(what), scale = (t->normalized && !(what & TEXTURE_INDEX)) || cube;
    const float n[3] = {scale ? (float)t->width : 1.0f, scale ? (float)t->height : 1.0f, scale ? (float)t->depth : 1.0f};
    float a[3] = {dx[0], dx[1], dx[2]}, b[3] = {dy[0], dy[1], dy[2]};
    if (cube) {
        /* With u = s / m: du = (ds − u·dm) / m, and half of it, since the face spans u from −1 to 1. */
        const texture_face f = texture_project(texture_face_of(x, y, z), x, y, z);
        const texture_face fa = texture_project(f.face, dx[0], dx[1], dx[2]), fb = texture_project(f.face, dy[0], dy[1], dy[2]);
        const float u = f.s / f.m, v = f.t / f.m;
        a[0] = (fa.s - u * fa.m) / f.m * 0.5f;
        a[1] = (fa.t - v * fa.m) / f.m * 0.5f;
        b[0] = (fb.s - u * fb.m) / f.m * 0.5f;
        b[1] = (fb.t - v * fb.m) / f.m * 0.5f;
    }
    for (uint32_t i = 0; i < 3; i++) {
        a[i] = i < dims ? a[i] * n[i] : 0.0f;
        b[i] = i < dims ? b[i] * n[i] : 0.0f;
    }
    return texture_half_log2(texture_longer(a, b));
}

/* The level of detail in 256ths of a level, nearest, ties up. */
PXL_INLINE uint32_t texture_clamped_lod(texture_ptr t, float lod)
{
    const float last = (float)(t->levels - 1);
    float l = lod + t->lod_bias;
    l = l == l ? l : 0.0f;
    l = l > t->lod_min ? l : t->lod_min;
    l = l < t->lod_max ? l : t->lod_max;
    l = l > 0.0f ? l : 0.0f;
    l = l < last ? l : last;
    const float v = l * 256.0f, whole = __builtin_elementwise_floor(v);
    return (uint32_t)whole + (v - whole >= 0.5f ? 1 : 0);
}

PXL_INLINE texel_u32 texture_sample_lod(texture_ptr t, uint32_t what, texture_place p, float lod, const texture_extra *e)
{
    const uint32_t q = texture_clamped_lod(t, lod);
    const bool blend = t->mip_filter == PXL_FILTER_LINEAR && texture_reads_float(t);
    const uint32_t level = blend ? q >> 8 : (q + 128) >> 8, weight = blend ? q & 255 : 0;
    const texel_u32 r = texture_sample_level(t, what, level, p, e);
    if (weight == 0)
        return r;
    return texel_bits(texel_canonical(texture_lerp(texel_floats(r), texel_floats(texture_sample_level(t, what, level + 1, p, e)), weight)));
}

/* ---- one lane ---- */

PXL_INLINE uint32_t texture_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

PXL_INLINE texture_place texture_place_of(texture_ptr t, uint32_t what, uint32_t layer, float x, float y, float z)
{
    const uint32_t g = what & TEXTURE_GEOMETRY, last = t->layers - 1;
    texture_place p = {x, y, z, 0, t->normalized};
    if (g == PXL_A1D || g == PXL_A2D)
        p.slice = texture_least(layer, last);
    if (texture_is_cube(what)) {
        const texture_face f = texture_project(texture_face_of(x, y, z), x, y, z);
        const uint32_t cubes = t->layers >= 6 ? t->layers / 6 : 1;
        p.x = (f.s / f.m + 1.0f) * 0.5f;
        p.y = (f.t / f.m + 1.0f) * 0.5f;
        p.normalized = true;
        p.slice = texture_least((g == PXL_ACUBE ? texture_least(layer, cubes - 1) * 6 : 0) + f.face, last);
    }
    return p;
}

/* tld4: the same component of the four texels that a linear filter would read, counter-clockwise from the lower left one. */
PXL_INLINE texel_u32 texture_gather(texture_ptr t, uint32_t component, texture_place p, const texture_extra *e)
{
    const uint64_t base = texture_slice(t, 0, p.slice);
    const texture_axis x = texture_axis_of(t, 0, p.x, p.normalized, true, t->width, e->shift[0]);
    const texture_axis y = texture_axis_of(t, 1, p.y, p.normalized, true, t->height, e->shift[1]);
    const texel_u32 low_left = texture_value(t, 0, base, x.low, y.high, 0, e), low_right = texture_value(t, 0, base, x.high, y.high, 0, e);
    const texel_u32 right = texture_value(t, 0, base, x.high, y.low, 0, e), left = texture_value(t, 0, base, x.low, y.low, 0, e);
    return (texel_u32){low_left[component], low_right[component], right[component], left[component]};
}

/* The texel with that index in a level. Indices are added as 32-bit numbers. */
PXL_INLINE texel_u32 texture_fetch(texture_ptr t, uint32_t what, uint32_t level, uint32_t slice, uint32_t x, uint32_t y, uint32_t z, const texture_extra *e)
{
    const uint32_t dims = texture_dims(what);
    const int32_t i = (int32_t)(x + (uint32_t)e->shift[0]), j = (int32_t)(y + (uint32_t)e->shift[1]), k = (int32_t)(z + (uint32_t)e->shift[2]);
    return texture_value(t, level, texture_slice(t, level, slice), texture_index(t->address[0], i, texture_extent(t->width, level)),
                         dims >= 2 ? texture_index(t->address[1], j, texture_extent(t->height, level)) : 0,
                         dims >= 3 ? texture_index(t->address[2], k, texture_extent(t->depth, level)) : 0, e);
}

PXL_INLINE uint32_t texture_layer(texture_ptr t, uint32_t what, uint32_t layer)
{
    const uint32_t g = what & TEXTURE_GEOMETRY;
    return g == PXL_A1D || g == PXL_A2D ? texture_least(layer, t->layers - 1) : 0;
}

/* The layer that holds a sample of a multisample image. */
PXL_INLINE uint32_t texture_sample_layer(texture_ptr t, uint32_t image, uint32_t sample)
{
    const uint32_t samples = t->samples ? t->samples : 1, images = t->layers >= samples ? t->layers / samples : 1;
    return texture_least(texture_least(image, images - 1) * samples + texture_least(sample, samples - 1), t->layers - 1);
}

/* Coordinates are the bits of f32, or of s32 with TEXTURE_INDEX; lod is read with TEXTURE_LEVEL and TEXTURE_GRADIENT. */
PXL_INLINE texel_u32 texture_lane(texture_ptr t, uint32_t what, uint32_t layer, uint32_t x, uint32_t y, uint32_t z, float lod)
{
    if (what & TEXTURE_INDEX)
        return texture_fetch(t, what, 0, texture_layer(t, what, layer), x, y, z, &texture_nothing);
    const texture_place p = texture_place_of(t, what, layer, texture_float(x), texture_float(y), texture_float(z));
    if (what & TEXTURE_GATHER)
        return texture_gather(t, what >> TEXTURE_COMPONENT & 3, p, &texture_nothing);
    if (what & (TEXTURE_LEVEL | TEXTURE_GRADIENT) && t->levels > 1)
        return texture_sample_lod(t, what, p, lod, &texture_nothing);
    return texture_sample_level(t, what, 0, p, &texture_nothing);
}

/* The level of an .s32 lod as it is, or the nearest one of a gradient. */
PXL_INLINE uint32_t texture_index_level(texture_ptr t, uint32_t what, uint32_t lod)
{
    if (t->levels == 1 || !(what & (TEXTURE_LEVEL | TEXTURE_GRADIENT)))
        return 0;
    if (what & TEXTURE_GRADIENT)
        return (texture_clamped_lod(t, texture_float(lod)) + 128) >> 8;
    return (int32_t)lod < 0 ? 0 : texture_least(lod, t->levels - 1);
}

/* Any form: four coordinates as the instruction has them, and lod as bits of the coordinates' type (of f32 with TEXTURE_GRADIENT). */
PXL_INLINE texel_u32 texture_general(texture_ptr t, uint32_t what, const uint32_t c[4], uint32_t lod, const texture_extra *e)
{
    const uint32_t g = what & TEXTURE_GEOMETRY;
    const bool array = g == PXL_A1D || g == PXL_A2D || g == PXL_ACUBE, samples = what & TEXTURE_SAMPLES;
    const uint32_t first = (array ? 1 : 0) + (samples ? 1 : 0);
    const uint32_t x = first == 0 ? c[0] : first == 1 ? c[1] : c[2], y = first == 0 ? c[1] : first == 1 ? c[2] : c[3], z = first == 0 ? c[2] : c[3];
    if (what & TEXTURE_INDEX) {
        const uint32_t slice = samples ? texture_sample_layer(t, array ? c[0] : 0, array ? c[1] : c[0]) : texture_layer(t, what, c[0]);
        return texture_fetch(t, what, texture_index_level(t, what, lod), slice, x, y, z, e);
    }
    const texture_place p = texture_place_of(t, what, c[0], texture_float(x), texture_float(y), texture_float(z));
    if (what & TEXTURE_GATHER)
        return texture_gather(t, what >> TEXTURE_COMPONENT & 3, p, e);
    if (what & (TEXTURE_LEVEL | TEXTURE_GRADIENT) && t->levels > 1)
        return texture_sample_lod(t, what, p, texture_float(lod), e);
    return texture_sample_level(t, what, 0, p, e);
}

#endif
