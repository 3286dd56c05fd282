/* texture.c - texture and surface instructions (PTX ISA, "Texture Instructions" and "Surface Instructions").
 *
 * A handle is the address of a pxl_texture, see texture.h; whoever runs the instruction has checked it. Lanes outside the
 * mask of executing lanes are not read through; their results are 0. There are thousands of forms, so a meaning is a
 * small function that hands its operands and a number to one of a few shared ones. The plain tex forms have a meaning for each geometry;
 * for the others geometry and options are a number too, made by ptx/isa_texture.def. TEXTURES.md states the choices.
 */
#include <stddef.h>
#include "texture_sample.h"
#include "texture_warp.h"

/* Operands of any form; NULL is 0. Coordinates as bits. dx and dy are the gradients. */
typedef struct texture_operands {
    const L_u64 *handle;
    const L_u32 *layer, *x, *y, *z;
    const L_f32 *lod, *dx[3], *dy[3];
} texture_operands;

#define TEXTURE_AT(p, i) ((p) ? LANE(*(p), i) : 0)
#define TEXTURE_BITS(p) ((const L_u32 *)(const void *)(p))
#define TEXTURE_POINTER(a) ((texture_ptr)(uintptr_t)(a))

/* At width 32 what forms share is a function of its own. At width 1 only the sampler is, with its operands in registers. */
#if PXL_WIDTH == 32
#define TEXTURE_SHARED static __attribute__((noinline, unused))
#define TEXTURE_LANE PXL_INLINE
#else
#define TEXTURE_SHARED PXL_INLINE
#define TEXTURE_LANE static __attribute__((noinline, unused))
#endif

/* ------------------------------------------------------------ tex, tld4 */

TEXTURE_LANE float texture_lod_call(texture_ptr t, uint32_t what, float x, float y, float z, float ax, float ay, float az, float bx, float by, float bz)
{
    const float dx[3] = {ax, ay, az}, dy[3] = {bx, by, bz};
    return texture_lod_of(t, what, x, y, z, dx, dy);
}
TEXTURE_LANE texel_u32 texture_lane_call(texture_ptr t, uint32_t what, uint32_t layer, uint32_t x, uint32_t y, uint32_t z, float lod)
{
    return texture_lane(t, what, layer, x, y, z, lod);
}

PXL_INLINE texel_u32 texture_operands_lane(const texture_operands *o, uint32_t what, uint32_t i)
{
    const texture_ptr t = TEXTURE_POINTER(LANE(*o->handle, i));
    const uint32_t x = TEXTURE_AT(o->x, i), y = TEXTURE_AT(o->y, i), z = TEXTURE_AT(o->z, i);
    float lod = TEXTURE_AT(o->lod, i);
    if (what & TEXTURE_GRADIENT)
        lod = texture_lod_call(t, what, texture_float(x), texture_float(y), texture_float(z), TEXTURE_AT(o->dx[0], i), TEXTURE_AT(o->dx[1], i),
                               TEXTURE_AT(o->dx[2], i), TEXTURE_AT(o->dy[0], i), TEXTURE_AT(o->dy[1], i), TEXTURE_AT(o->dy[2], i));
    return texture_lane_call(t, what, TEXTURE_AT(o->layer, i), x, y, z, lod);
}

/* A .f16 result: the f32 rounded once; of a texture that gives integers, the low half. */
PXL_INLINE L_u16 texture_narrow(L_u32 r, L_pred integers)
{
#if PXL_WIDTH == 32
    L_u16 h;
    h.lo = c_f16_narrow((C_f32)r.lo);
    h.hi = c_f16_narrow((C_f32)r.hi);
#else
    L_u16 h = c_f16_narrow(as_f32(r));
#endif
    return SEL(COND16(integers), CONVERT(L_u16, r), h);
}

/* The four components in 32 bits; returns the lanes whose texture gives integers. */
#if PXL_WIDTH == 32
TEXTURE_SHARED L_pred texture_run(const texture_operands *o, uint32_t what, L_pred exec, L_u32 out[4])
{
    _Alignas(64) warp_results r;
    L_pred integers = 0;
    if (exec && warp_is_uniform(o->handle, exec) && warp_is_plain(TEXTURE_POINTER((*o->handle)[__builtin_ctz(exec)]), what)) {
        warp_plain(TEXTURE_POINTER((*o->handle)[__builtin_ctz(exec)]), what, o->x, o->y, exec, &r);
    } else {
        FOR_LANES(i) if (PRED_LANE(exec, i)) {
            const texel_u32 v = texture_operands_lane(o, what, i);
            __builtin_memcpy(r.value[i], &v, sizeof v);
            integers |= (texture_reads_float(TEXTURE_POINTER((*o->handle)[i])) ? 0u : 1u) << i;
        }
    }
    warp_transpose(&r, out);
    for (uint32_t c = 0; c < 4; c++)
        out[c] = SEL(COND32(exec), out[c], SPLAT(L_u32, 0));
    return integers;
}
#else
TEXTURE_SHARED L_pred texture_run(const texture_operands *o, uint32_t what, L_pred exec, L_u32 out[4])
{
    texel_u32 v = 0;
    if (exec)
        v = texture_operands_lane(o, what, 0);
    for (uint32_t c = 0; c < 4; c++)
        out[c] = v[c];
    return exec && !texture_reads_float(TEXTURE_POINTER(*o->handle));
}
#endif

TEXTURE_SHARED void texture_run_bits(L_u32 *d0, L_u32 *d1, L_u32 *d2, L_u32 *d3, const texture_operands *o, uint32_t what, L_pred exec)
{
    L_u32 r[4];
    texture_run(o, what, exec, r);
    *d0 = r[0];
    *d1 = r[1];
    *d2 = r[2];
    *d3 = r[3];
}

TEXTURE_SHARED void texture_run_half(L_u16 *d0, L_u16 *d1, L_u16 *d2, L_u16 *d3, const texture_operands *o, uint32_t what, L_pred exec)
{
    L_u32 r[4];
    const L_pred integers = texture_run(o, what, exec, r);
    *d0 = texture_narrow(r[0], integers);
    *d1 = texture_narrow(r[1], integers);
    *d2 = texture_narrow(r[2], integers);
    *d3 = texture_narrow(r[3], integers);
}

/* ---- any form: four coordinates, of which the geometry says what they are ---- */

typedef struct texture_general_operands {
    const L_u64 *handle;
    const L_u32 *c[4], *lod;       /* lod: bits */
    const L_f32 *dx[3], *dy[3];
    const L_s32 *e[3];
    const L_f32 *f;
} texture_general_operands;

TEXTURE_LANE texel_u32 texture_general_call(texture_ptr t, uint32_t what, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t lod, uint32_t x,
                                            uint32_t y, uint32_t z, float depth)
{
    const uint32_t at[4] = {a, b, c, d};
    const texture_extra extra = {{(int32_t)x, (int32_t)y, (int32_t)z}, what & TEXTURE_COMPARE, depth};
    return texture_general(t, what, at, lod, &extra);
}

/* PTX ISA, tex, operand e: −8 to 7. Of other numbers the low four bits count. */
PXL_INLINE uint32_t texture_shift(const L_s32 *e, uint32_t i) { return (((uint32_t)LANE(*e, i) & 15u) ^ 8u) - 8u; }

PXL_INLINE texel_u32 texture_general_lane(const texture_general_operands *o, uint32_t what, uint32_t i)
{
    const texture_ptr t = TEXTURE_POINTER(LANE(*o->handle, i));
    const uint32_t g = what & TEXTURE_GEOMETRY, first = g == PXL_A1D || g == PXL_A2D || g == PXL_ACUBE;
    const uint32_t c[4] = {LANE(*o->c[0], i), LANE(*o->c[1], i), LANE(*o->c[2], i), LANE(*o->c[3], i)};
    uint32_t lod = TEXTURE_AT(o->lod, i);
    if (what & TEXTURE_GRADIENT)
        lod = texture_bits(texture_lod_call(t, what, texture_float(first ? c[1] : c[0]), texture_float(first ? c[2] : c[1]), texture_float(first ? c[3] : c[2]),
                                            LANE(*o->dx[0], i), LANE(*o->dx[1], i), LANE(*o->dx[2], i), LANE(*o->dy[0], i), LANE(*o->dy[1], i),
                                            LANE(*o->dy[2], i)));
    return texture_general_call(t, what, c[0], c[1], c[2], c[3], lod, texture_shift(o->e[0], i), texture_shift(o->e[1], i), texture_shift(o->e[2], i),
                                LANE(*o->f, i));
}

/* A form with nothing but a predicate goes the plain way, which knows warps. */
PXL_INLINE bool texture_is_plain(uint32_t what)
{
    const bool level = what & (TEXTURE_LEVEL | TEXTURE_GRADIENT);
    return !(what & (TEXTURE_OFFSET | TEXTURE_COMPARE | TEXTURE_SAMPLES)) && !(what & TEXTURE_INDEX && level);
}

PXL_INLINE L_pred texture_run_plain(const texture_general_operands *o, uint32_t what, L_pred exec, L_u32 out[4])
{
    const uint32_t g = what & TEXTURE_GEOMETRY;
    const bool array = g == PXL_A1D || g == PXL_A2D || g == PXL_ACUBE;
    texture_operands p = {.handle = o->handle, .lod = (const L_f32 *)(const void *)o->lod};
    p.layer = o->c[0];
    p.x = array ? o->c[1] : o->c[0];
    p.y = array ? o->c[2] : o->c[1];
    p.z = array ? o->c[3] : o->c[2];
    for (uint32_t k = 0; k < 3; k++) {
        p.dx[k] = o->dx[k];
        p.dy[k] = o->dy[k];
    }
    return texture_run(&p, what, exec, out);
}

TEXTURE_SHARED L_pred texture_run_general(const texture_general_operands *o, uint32_t what, L_pred exec, L_u32 out[4])
{
    if (texture_is_plain(what))
        return texture_run_plain(o, what, exec, out);
    L_u32 r[4] = {SPLAT(L_u32, 0), SPLAT(L_u32, 0), SPLAT(L_u32, 0), SPLAT(L_u32, 0)};
    L_pred integers = 0;
    FOR_LANES(i) if (PRED_LANE(exec, i)) {
        const texel_u32 v = texture_general_lane(o, what, i);
        for (uint32_t c = 0; c < 4; c++)
            LANE(r[c], i) = v[c];
        const bool is_integer = !(what & TEXTURE_COMPARE) && !texture_reads_float(TEXTURE_POINTER(LANE(*o->handle, i)));
        integers |= (L_pred)((is_integer ? 1u : 0u) << i);
    }
    for (uint32_t c = 0; c < 4; c++)
        out[c] = r[c];
    return integers;
}

TEXTURE_SHARED void texture_general_bits(L_u32 *d0, L_u32 *d1, L_u32 *d2, L_u32 *d3, L_pred *p, const texture_general_operands *o, uint32_t what, L_pred exec)
{
    L_u32 r[4];
    texture_run_general(o, what, exec, r);
    *d0 = r[0];
    *d1 = r[1];
    *d2 = r[2];
    *d3 = r[3];
    *p = exec;
}

TEXTURE_SHARED void texture_general_half(L_u16 *d0, L_u16 *d1, L_u16 *d2, L_u16 *d3, L_pred *p, const texture_general_operands *o, uint32_t what, L_pred exec)
{
    L_u32 r[4];
    const L_pred integers = texture_run_general(o, what, exec, r);
    *d0 = texture_narrow(r[0], integers);
    *d1 = texture_narrow(r[1], integers);
    *d2 = texture_narrow(r[2], integers);
    *d3 = texture_narrow(r[3], integers);
    *p = exec;
}

TEXTURE_SHARED void texture_general_pair(L_u32 *d0, L_u32 *d1, L_pred *p, const texture_general_operands *o, uint32_t what, L_pred exec)
{
    L_u16 h[4];
    texture_general_half(&h[0], &h[1], &h[2], &h[3], p, o, what, exec);
    *d0 = CONVERT(L_u32, h[0]) | (CONVERT(L_u32, h[1]) << 16);
    *d1 = CONVERT(L_u32, h[2]) | (CONVERT(L_u32, h[3]) << 16);
}

typedef L_u32 L_b32;
#define TEXTURE_DST(T) L_##T *d0, L_##T *d1, L_##T *d2, L_##T *d3
#define RUN_b32(...) texture_run_bits(TEXTURE_D32(d0), TEXTURE_D32(d1), TEXTURE_D32(d2), TEXTURE_D32(d3), __VA_ARGS__)
#define RUN_f32 RUN_b32
#define RUN_f16(...) texture_run_half(TEXTURE_D16(d0), TEXTURE_D16(d1), TEXTURE_D16(d2), TEXTURE_D16(d3), __VA_ARGS__)
#define TEXTURE_D32(p) ((L_u32 *)(void *)(p))
#define TEXTURE_D16(p) ((L_u16 *)(void *)(p))

/* Parameters and operands of coordinates, by geometry, and of gradients, by their length. */
#define ARGS_1(C) const L_##C *x
#define ARGS_2(C) ARGS_1(C), const L_##C *y
#define ARGS_3(C) ARGS_2(C), const L_##C *z
#define ARGS_A1(C) const L_u32 *layer, ARGS_1(C)
#define ARGS_A2(C) const L_u32 *layer, ARGS_2(C)
#define ARGS_A3(C) const L_u32 *layer, ARGS_3(C)
#define INIT_1 .handle = h, .x = TEXTURE_BITS(x)
#define INIT_2 INIT_1, .y = TEXTURE_BITS(y)
#define INIT_3 INIT_2, .z = TEXTURE_BITS(z)
#define INIT_A1 INIT_1, .layer = layer
#define INIT_A2 INIT_2, .layer = layer
#define INIT_A3 INIT_3, .layer = layer
#define GRAD_1 const L_f32 *ax, const L_f32 *bx
#define GRAD_2 const L_f32 *ax, const L_f32 *ay, const L_f32 *bx, const L_f32 *by
#define GRAD_4 const L_f32 *ax, const L_f32 *ay, const L_f32 *az, const L_f32 *aw, const L_f32 *bx, const L_f32 *by, const L_f32 *bz, const L_f32 *bw
#define GRAD_INIT_1 .dx = {ax, NULL, NULL}, .dy = {bx, NULL, NULL}
#define GRAD_INIT_2 .dx = {ax, ay, NULL}, .dy = {bx, by, NULL}
#define GRAD_INIT_4 .dx = {ax, ay, az}, .dy = {bx, by, bz}
#define GRAD_UNUSED_1
#define GRAD_UNUSED_2
#define GRAD_UNUSED_4 (void)aw, (void)bw;     /* PTX ISA, tex: the fourth element is ignored */

#define TEXTURE_FLOAT(g, G, N, n, T) \
    PXL_INLINE void tex_##g##_v4_##T##_f32(TEXTURE_DST(T), const L_u64 *h, ARGS_##N(f32), L_pred exec) \
    { const texture_operands o = {INIT_##N}; RUN_##T(&o, G, exec); } \
    PXL_INLINE void tex_level_##g##_v4_##T##_f32(TEXTURE_DST(T), const L_u64 *h, ARGS_##N(f32), const L_f32 *lod, L_pred exec) \
    { const texture_operands o = {INIT_##N, .lod = lod}; RUN_##T(&o, G | TEXTURE_LEVEL, exec); } \
    PXL_INLINE void tex_grad_##g##_v4_##T##_f32(TEXTURE_DST(T), const L_u64 *h, ARGS_##N(f32), GRAD_##n, L_pred exec) \
    { GRAD_UNUSED_##n const texture_operands o = {INIT_##N, GRAD_INIT_##n}; RUN_##T(&o, G | TEXTURE_GRADIENT, exec); }
#define TEXTURE_INTEGER(g, G, N, T) \
    PXL_INLINE void tex_##g##_v4_##T##_s32(TEXTURE_DST(T), const L_u64 *h, ARGS_##N(s32), L_pred exec) \
    { const texture_operands o = {INIT_##N}; RUN_##T(&o, G | TEXTURE_INDEX, exec); }
#define TEXTURE_EACH(T) \
    TEXTURE_FLOAT(1d, PXL_1D, 1, 1, T) TEXTURE_FLOAT(2d, PXL_2D, 2, 2, T) TEXTURE_FLOAT(3d, PXL_3D, 3, 4, T) \
    TEXTURE_FLOAT(a1d, PXL_A1D, A1, 1, T) TEXTURE_FLOAT(a2d, PXL_A2D, A2, 2, T) \
    TEXTURE_FLOAT(cube, PXL_CUBE, 3, 4, T) TEXTURE_FLOAT(acube, PXL_ACUBE, A3, 4, T) \
    TEXTURE_INTEGER(1d, PXL_1D, 1, T) TEXTURE_INTEGER(2d, PXL_2D, 2, T) TEXTURE_INTEGER(3d, PXL_3D, 3, T) \
    TEXTURE_INTEGER(a1d, PXL_A1D, A1, T) TEXTURE_INTEGER(a2d, PXL_A2D, A2, T)
TEXTURE_EACH(b32) TEXTURE_EACH(f32) TEXTURE_EACH(f16)

/* The others: coordinates, offset, depth. */
#define GENERAL_C const L_u64 *h, const L_u32 *c0, const L_u32 *c1, const L_u32 *c2, const L_u32 *c3
#define GENERAL_E const L_s32 *e0, const L_s32 *e1, const L_s32 *e2, const L_s32 *e3, const L_f32 *f, uint32_t what, L_pred exec
#define GENERAL_INIT .handle = h, .c = {c0, c1, c2, c3}, .e = {e0, e1, e2}, .f = f
#define GENERAL_b32 GENERAL_BITS
#define GENERAL_f32 GENERAL_BITS
#define GENERAL_BITS(o) texture_general_bits(TEXTURE_D32(d0), TEXTURE_D32(d1), TEXTURE_D32(d2), TEXTURE_D32(d3), p, o, what, exec)
#define GENERAL_f16(o) texture_general_half(TEXTURE_D16(d0), TEXTURE_D16(d1), TEXTURE_D16(d2), TEXTURE_D16(d3), p, o, what, exec)
#define GENERAL_f16x2(o) texture_general_pair(d0, d1, p, o, what, exec)
#define TEXTURE_GENERAL(suffix, T, DST) \
    PXL_INLINE void tex_general_##suffix(DST, L_pred *p, GENERAL_C, GENERAL_E) \
    { (void)e3; const texture_general_operands o = {GENERAL_INIT}; GENERAL_##T(&o); } \
    PXL_INLINE void tex_level_general_##suffix(DST, L_pred *p, GENERAL_C, const L_u32 *lod, GENERAL_E) \
    { (void)e3; const texture_general_operands o = {GENERAL_INIT, .lod = lod}; GENERAL_##T(&o); } \
    PXL_INLINE void tex_grad_general_##suffix(DST, L_pred *p, GENERAL_C, GRAD_4, GENERAL_E) \
    { (void)e3; GRAD_UNUSED_4 const texture_general_operands o = {GENERAL_INIT, GRAD_INIT_4}; GENERAL_##T(&o); }
#define TEXTURE_DST_PAIR L_u32 *d0, L_u32 *d1
TEXTURE_GENERAL(v4_b32, b32, TEXTURE_DST(b32)) TEXTURE_GENERAL(v4_f32, f32, TEXTURE_DST(f32)) TEXTURE_GENERAL(v4_f16, f16, TEXTURE_DST(f16))
TEXTURE_GENERAL(v2_f16x2, f16x2, TEXTURE_DST_PAIR)

#define TEXTURE_GATHER_FORM(T) \
    PXL_INLINE void tld4_v4_##T(TEXTURE_DST(T), L_pred *p, GENERAL_C, GENERAL_E) \
    { (void)e3; const texture_general_operands o = {GENERAL_INIT}; GENERAL_##T(&o); }
TEXTURE_GATHER_FORM(b32) TEXTURE_GATHER_FORM(f32)

/* ------------------------------------------------------------ txq, suq */

typedef enum texture_query {
    QUERY_width, QUERY_height, QUERY_depth, QUERY_channel_data_type, QUERY_channel_order, QUERY_normalized_coords, QUERY_array_size,
    QUERY_num_mipmap_levels, QUERY_num_samples, QUERY_force_unnormalized_coords, QUERY_filter_mode,
    QUERY_addr_mode_0, QUERY_addr_mode_1, QUERY_addr_mode_2, QUERY_memory_layout
} texture_query;

/* PTX ISA, "Channel Data Type and Channel Order Fields": the numbers are those of OpenCL. */
PXL_INLINE uint32_t texture_data_type(texture_ptr t)
{
    enum { SNORM8 = 0x10d0, SNORM16, UNORM8, UNORM16, SIGNED8 = 0x10d7, SIGNED16, SIGNED32, UNSIGNED8, UNSIGNED16, UNSIGNED32, HALF, FLOAT };
    const bool normal = t->read == PXL_READ_NORMALIZED;
    switch (t->format) {
    case PXL_TEXEL_U8: return normal ? UNORM8 : UNSIGNED8;
    case PXL_TEXEL_S8: return normal ? SNORM8 : SIGNED8;
    case PXL_TEXEL_U16: return normal ? UNORM16 : UNSIGNED16;
    case PXL_TEXEL_S16: return normal ? SNORM16 : SIGNED16;
    case PXL_TEXEL_U32: return UNSIGNED32;
    case PXL_TEXEL_S32: return SIGNED32;
    case PXL_TEXEL_F16: return HALF;
    default: return FLOAT;
    }
}

PXL_INLINE uint32_t texture_channel_order(texture_ptr t)
{
    enum { R = 0x10b0, RG = 0x10b2, RGBA = 0x10b5 };
    return t->channels == 1 ? R : t->channels == 2 ? RG : RGBA;
}

/* wrap, mirror, clamp_ogl, clamp_to_edge and clamp_to_border in the order in which the ISA lists them. */
PXL_INLINE uint32_t texture_address_number(uint32_t mode)
{
    return mode == PXL_ADDRESS_WRAP ? 0 : mode == PXL_ADDRESS_MIRROR ? 1 : mode == PXL_ADDRESS_CLAMP ? 3 : 4;
}

/* PTX ISA, txq: 0 for what is no array. */
PXL_INLINE uint32_t texture_array_size(texture_ptr t)
{
    const uint32_t n = t->cube ? t->layers / 6 : t->samples > 1 ? t->layers / t->samples : t->layers;
    return n > 1 ? n : 0;
}

PXL_INLINE uint32_t texture_answer(texture_ptr t, texture_query q, uint32_t level)
{
    if (level >= t->levels)
        return 0;
    switch (q) {
    case QUERY_width: return texture_extent(t->width, level);
    case QUERY_height: return texture_extent(t->height, level);
    case QUERY_depth: return texture_extent(t->depth, level);
    case QUERY_channel_data_type: return texture_data_type(t);
    case QUERY_channel_order: return texture_channel_order(t);
    case QUERY_normalized_coords: return t->normalized;
    case QUERY_array_size: return texture_array_size(t);
    case QUERY_num_mipmap_levels: return t->levels > 1 ? t->levels : 0;
    case QUERY_num_samples: return t->samples > 1 ? t->samples : 0;
    case QUERY_force_unnormalized_coords: return 0;
    case QUERY_filter_mode: return t->filter;
    case QUERY_addr_mode_0: return texture_address_number(t->address[0]);
    case QUERY_addr_mode_1: return texture_address_number(t->address[1]);
    case QUERY_addr_mode_2: return texture_address_number(t->address[2]);
    case QUERY_memory_layout: return 1;      /* linear */
    }
    return 0;
}

TEXTURE_SHARED void texture_ask(L_u32 *d, const L_u64 *handle, const L_u32 *level, texture_query q, L_pred exec)
{
    L_u32 r = SPLAT(L_u32, 0);
    FOR_LANES(i) if (PRED_LANE(exec, i))
        LANE(r, i) = texture_answer(TEXTURE_POINTER(LANE(*handle, i)), q, TEXTURE_AT(level, i));
    *d = r;
}

#define TEXTURE_QUERY(instruction, q) \
    PXL_INLINE void instruction##_##q##_b32(L_u32 *d, const L_u64 *h, L_pred exec) { texture_ask(d, h, NULL, QUERY_##q, exec); }
#define TEXTURE_QUERY_LEVEL(q) \
    PXL_INLINE void txq_level_##q##_b32(L_u32 *d, const L_u64 *h, const L_u32 *level, L_pred exec) { texture_ask(d, h, level, QUERY_##q, exec); }
TEXTURE_QUERY(txq, width) TEXTURE_QUERY(txq, height) TEXTURE_QUERY(txq, depth) TEXTURE_QUERY(txq, channel_data_type)
TEXTURE_QUERY(txq, channel_order) TEXTURE_QUERY(txq, normalized_coords) TEXTURE_QUERY(txq, array_size) TEXTURE_QUERY(txq, num_mipmap_levels)
TEXTURE_QUERY(txq, num_samples) TEXTURE_QUERY(txq, force_unnormalized_coords) TEXTURE_QUERY(txq, filter_mode) TEXTURE_QUERY(txq, addr_mode_0)
TEXTURE_QUERY(txq, addr_mode_1) TEXTURE_QUERY(txq, addr_mode_2)
TEXTURE_QUERY_LEVEL(width) TEXTURE_QUERY_LEVEL(height) TEXTURE_QUERY_LEVEL(depth)
TEXTURE_QUERY(suq, width) TEXTURE_QUERY(suq, height) TEXTURE_QUERY(suq, depth) TEXTURE_QUERY(suq, channel_data_type)
TEXTURE_QUERY(suq, channel_order) TEXTURE_QUERY(suq, array_size) TEXTURE_QUERY(suq, memory_layout)

/* The handle is one, or 0: a device that can tell masks the other lanes out. Samplers are part of textures here. */
PXL_INLINE void istypep(L_pred *p, const L_u64 *a, uint32_t type, L_pred exec)
{
    enum { TEXREF = 1, SAMPLERREF, SURFREF };
    L_pred r = 0;
    FOR_LANES(i) if (PRED_LANE(exec, i) && LANE(*a, i)) {
        const texture_ptr t = TEXTURE_POINTER(LANE(*a, i));
        const bool is = t->magic == PXL_TEXTURE_MAGIC && type == (t->surface ? SURFREF : TEXREF);
        r |= (L_pred)((is ? 1u : 0u) << i);
    }
    *p = r;
}

/* ------------------------------------------------------------ surfaces: where an access goes */

enum { SURFACE_trap, SURFACE_clamp, SURFACE_zero };
#define SURFACE_CLAMP 3    /* bits of the geometry before */

/* Four coordinates, of which the geometry says what they are. */
typedef struct surface_operands { const L_u64 *handle; const L_u32 *c[4]; } surface_operands;
#define SURFACE_C const L_u64 *h, const L_u32 *c0, const L_u32 *c1, const L_u32 *c2, const L_u32 *c3
#define SURFACE_INIT {h, {c0, c1, c2, c3}}

/* Moves coordinates to the nearest access inside. */
PXL_INLINE void surface_clamp(texture_ptr t, pxl_geometry g, int64_t *x, uint32_t *y, uint32_t *z, uint32_t bytes)
{
    const int64_t row = (int64_t)t->width * pxl_texel_bytes(t->format, t->channels);
    const int64_t last = row >= bytes ? (row - bytes) & ~(int64_t)(bytes - 1) : 0;
    *x = *x < 0 ? 0 : *x > last ? last : *x;
    *y = (uint32_t)texture_index(PXL_ADDRESS_CLAMP, (int32_t)*y, t->height);
    *z = g == PXL_3D ? (uint32_t)texture_index(PXL_ADDRESS_CLAMP, (int32_t)*z, t->depth) : texture_least(*z, t->layers - 1);
}

/* The address of an access of `bytes` bytes, 0 when there is none: outside under .zero and .trap, or a
 * surface narrower than the access. x is in bytes. */
PXL_INLINE uint64_t surface_address(texture_ptr t, uint32_t what, int64_t x, uint32_t y, uint32_t z, uint32_t bytes)
{
    const pxl_geometry g = (pxl_geometry)(what & TEXTURE_GEOMETRY);
    const bool sliced = g == PXL_3D || g == PXL_A1D || g == PXL_A2D;
    if (what >> SURFACE_CLAMP == SURFACE_clamp)
        surface_clamp(t, g, &x, &y, &z, bytes);
    if (!pxl_surface_contains(t, g, x, y, z, bytes))
        return 0;
    return texture_slice(t, 0, sliced ? z : 0) + (texture_dims(what) >= 2 ? y * t->pitch[0] : 0) + (uint64_t)(x & ~(int64_t)(bytes - 1));
}

/* x counts pieces of `scale` bytes: 1 in .b, samples in .p. Of a1d and a2d the layer, of 3d z. */
PXL_INLINE uint64_t surface_lane(const surface_operands *o, uint32_t what, uint32_t bytes, uint32_t scale, uint32_t i)
{
    const uint32_t g = what & TEXTURE_GEOMETRY;
    const bool array = g == PXL_A1D || g == PXL_A2D;
    const uint32_t a = LANE(*o->c[0], i), b = LANE(*o->c[1], i), c = LANE(*o->c[2], i);
    const int64_t x = (int64_t)(int32_t)(array ? b : a) * scale;
    return surface_address(TEXTURE_POINTER(LANE(*o->handle, i)), what, x, array ? c : b, array ? a : c, bytes);
}

/* An access need not be aligned in memory: rows of any length follow each other. */
typedef uint16_t surface_u16 __attribute__((aligned(1)));
typedef uint32_t surface_u32 __attribute__((aligned(1)));
typedef uint64_t surface_u64 __attribute__((aligned(1)));

/* ------------------------------------------------------------ suld.b, sust.b */

#define SURFACE_D_1(T) L_##T *d0
#define SURFACE_D_2(T) L_##T *d0, L_##T *d1
#define SURFACE_D_4(T) L_##T *d0, L_##T *d1, L_##T *d2, L_##T *d3
#define SURFACE_V_1(T) const L_##T *d0
#define SURFACE_V_2(T) const L_##T *d0, const L_##T *d1
#define SURFACE_V_4(T) const L_##T *d0, const L_##T *d1, const L_##T *d2, const L_##T *d3
#define SURFACE_LIST_1 d0
#define SURFACE_LIST_2 d0, d1
#define SURFACE_LIST_4 d0, d1, d2, d3

/* One function for each type and vector. Results are written last, since a destination may be a coordinate. */
#define SURFACE_ACCESS(T, type, n) \
    TEXTURE_SHARED void surface_load_##T##_##n(SURFACE_D_##n(T), const surface_operands *o, uint32_t what, L_pred exec) \
    { \
        L_##T *const d[n] = {SURFACE_LIST_##n}; \
        L_##T r[n]; \
        for (uint32_t k = 0; k < n; k++) \
            r[k] = SPLAT(L_##T, 0); \
        FOR_LANES(i) if (PRED_LANE(exec, i)) { \
            const uint64_t at = surface_lane(o, what, n * sizeof(type), 1, i); \
            const PXL_TEXTURE_SPACE type *p = (const PXL_TEXTURE_SPACE type *)at; \
            if (at) \
                for (uint32_t k = 0; k < n; k++) \
                    LANE(r[k], i) = p[k]; \
        } \
        for (uint32_t k = 0; k < n; k++) \
            *d[k] = r[k]; \
    } \
    TEXTURE_SHARED void surface_store_##T##_##n(SURFACE_V_##n(T), const surface_operands *o, uint32_t what, L_pred exec) \
    { \
        const L_##T *const d[n] = {SURFACE_LIST_##n}; \
        FOR_LANES(i) if (PRED_LANE(exec, i)) { \
            const uint64_t at = surface_lane(o, what, n * sizeof(type), 1, i); \
            PXL_TEXTURE_SPACE type *p = (PXL_TEXTURE_SPACE type *)at; \
            if (at) \
                for (uint32_t k = 0; k < n; k++) \
                    p[k] = LANE(*d[k], i); \
        } \
    }
SURFACE_ACCESS(u8, uint8_t, 1) SURFACE_ACCESS(u8, uint8_t, 2) SURFACE_ACCESS(u8, uint8_t, 4)
SURFACE_ACCESS(u16, surface_u16, 1) SURFACE_ACCESS(u16, surface_u16, 2) SURFACE_ACCESS(u16, surface_u16, 4)
SURFACE_ACCESS(u32, surface_u32, 1) SURFACE_ACCESS(u32, surface_u32, 2) SURFACE_ACCESS(u32, surface_u32, 4)
SURFACE_ACCESS(u64, surface_u64, 1) SURFACE_ACCESS(u64, surface_u64, 2)

/* s: what the name has for the vector and the type. */
#define SURFACE_FORM(s, T, n) \
    PXL_INLINE void suld_b##s(SURFACE_D_##n(T), SURFACE_C, uint32_t what, L_pred exec) \
    { const surface_operands o = SURFACE_INIT; surface_load_##T##_##n(SURFACE_LIST_##n, &o, what, exec); } \
    PXL_INLINE void sust_b##s(SURFACE_C, SURFACE_V_##n(T), uint32_t what, L_pred exec) \
    { const surface_operands o = SURFACE_INIT; surface_store_##T##_##n(SURFACE_LIST_##n, &o, what, exec); }
SURFACE_FORM(_b8, u8, 1) SURFACE_FORM(_v2_b8, u8, 2) SURFACE_FORM(_v4_b8, u8, 4)
SURFACE_FORM(_b16, u16, 1) SURFACE_FORM(_v2_b16, u16, 2) SURFACE_FORM(_v4_b16, u16, 4)
SURFACE_FORM(_b32, u32, 1) SURFACE_FORM(_v2_b32, u32, 2) SURFACE_FORM(_v4_b32, u32, 4)
SURFACE_FORM(_b64, u64, 1) SURFACE_FORM(_v2_b64, u64, 2)

/* ------------------------------------------------------------ sust.p */

TEXTURE_SHARED void surface_store_texel(const L_u32 *const d[4], uint32_t n, const surface_operands *o, uint32_t what, L_pred exec)
{
    FOR_LANES(i) if (PRED_LANE(exec, i)) {
        const texture_ptr t = TEXTURE_POINTER(LANE(*o->handle, i));
        const uint32_t bytes = pxl_texel_bytes(t->format, t->channels);
        const uint64_t at = surface_lane(o, what, bytes, bytes, i);
        texel_u32 v = 0;
        for (uint32_t k = 0; k < n; k++)
            v[k] = LANE(*d[k], i);
        if (at)
            texel_write(t, at, texel_encode(t, v));
    }
}

#define SURFACE_FORMATTED(s, n, ...) \
    PXL_INLINE void sust_p##s(SURFACE_C, SURFACE_V_##n(u32), uint32_t what, L_pred exec) \
    { const surface_operands o = SURFACE_INIT; const L_u32 *const d[4] = {__VA_ARGS__}; surface_store_texel(d, n, &o, what, exec); }
SURFACE_FORMATTED(_b32, 1, d0) SURFACE_FORMATTED(_v2_b32, 2, d0, d1) SURFACE_FORMATTED(_v4_b32, 4, d0, d1, d2, d3)

/* ------------------------------------------------------------ sured */

enum { SURFACE_ADD, SURFACE_MIN, SURFACE_MAX, SURFACE_AND, SURFACE_OR, SURFACE_OPERATION = 7, SURFACE_SIGNED = 8, SURFACE_SAMPLES = 16 };

/* Atomic between all threads of the device. An address that is not aligned in memory (rows of odd length) is changed by a load
 * and a store: the ISA leaves such accesses undefined. */
#define SURFACE_REDUCE(T, U, S, loose) \
    PXL_INLINE U surface_result_##T(uint32_t op, U old, U v) \
    { \
        switch (op) { \
        case SURFACE_ADD: return old + v; \
        case SURFACE_MIN: return v < old ? v : old; \
        case SURFACE_MAX: return v > old ? v : old; \
        case SURFACE_AND: return old & v; \
        case SURFACE_OR: return old | v; \
        case SURFACE_MIN | SURFACE_SIGNED: return (S)v < (S)old ? v : old; \
        default: return (S)v > (S)old ? v : old; \
        } \
    } \
    PXL_INLINE void surface_atomic_##T(uint32_t op, uint64_t at, U v) \
    { \
        PXL_TEXTURE_SPACE U *p = (PXL_TEXTURE_SPACE U *)at; \
        switch (op) { \
        case SURFACE_ADD: __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        case SURFACE_MIN: __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        case SURFACE_MAX: __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        case SURFACE_AND: __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        case SURFACE_OR: __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        case SURFACE_MIN | SURFACE_SIGNED: __scoped_atomic_fetch_min((PXL_TEXTURE_SPACE S *)p, (S)v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        default: __scoped_atomic_fetch_max((PXL_TEXTURE_SPACE S *)p, (S)v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); break; \
        } \
    } \
    TEXTURE_SHARED void surface_reduce_##T(const L_##T *d, const surface_operands *o, uint32_t what, uint32_t how, L_pred exec) \
    { \
        FOR_LANES(i) if (PRED_LANE(exec, i)) { \
            const texture_ptr t = TEXTURE_POINTER(LANE(*o->handle, i)); \
            const bool samples = how & SURFACE_SAMPLES, is_signed = samples ? texel_is_signed(t) : how & SURFACE_SIGNED; \
            const uint32_t op = how & SURFACE_OPERATION; \
            const uint32_t full = op | (is_signed && (op == SURFACE_MIN || op == SURFACE_MAX) ? SURFACE_SIGNED : 0); \
            const uint64_t at = surface_lane(o, what, sizeof(U), samples ? sizeof(U) : 1, i); \
            PXL_TEXTURE_SPACE loose *p = (PXL_TEXTURE_SPACE loose *)at; \
            if (at & (sizeof(U) - 1)) \
                *p = surface_result_##T(full, *p, LANE(*d, i)); \
            else if (at) \
                surface_atomic_##T(full, at, LANE(*d, i)); \
        } \
    }
SURFACE_REDUCE(u32, uint32_t, int32_t, surface_u32)
SURFACE_REDUCE(u64, uint64_t, int64_t, surface_u64)

PXL_INLINE void sured_b32(SURFACE_C, const L_u32 *d, uint32_t what, uint32_t how, L_pred exec)
{
    const surface_operands o = SURFACE_INIT;
    surface_reduce_u32(d, &o, what, how, exec);
}
PXL_INLINE void sured_b64(SURFACE_C, const L_u64 *d, uint32_t what, uint32_t how, L_pred exec)
{
    const surface_operands o = SURFACE_INIT;
    surface_reduce_u64(d, &o, what, how, exec);
}

#include "gen/isa_wrap_texture.h"
