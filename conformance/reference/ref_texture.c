/* ref_texture.c - see ref_texture.h. */
#include "ref_texture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reference.h"

static uint32_t bits_of(float x) { uint32_t u; memcpy(&u, &x, 4); return isnan(x) ? 0x7fffffff : u; }
static float float_of(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }

static int dimensions(ref_geometry g)
{
    switch (g) {
    case REF_1D: case REF_A1D: return 1;
    case REF_3D: return 3;
    default: return 2;
    }
}
static bool is_array(ref_geometry g) { return g == REF_A1D || g == REF_A2D || g == REF_ACUBE; }
static bool is_cube(ref_geometry g) { return g == REF_CUBE || g == REF_ACUBE; }
static int component_bytes(ref_texel k) { return k < REF_TEXEL_U16 ? 1 : k < REF_TEXEL_U32 || k == REF_TEXEL_F16 ? 2 : 4; }
static bool gives_float(const ref_texture *t)
{
    return t->texel == REF_TEXEL_F16 || t->texel == REF_TEXEL_F32 || (t->read_normalized && component_bytes(t->texel) <= 2);
}
static int extent(int n, int level) { int e = n >> level; return e < 1 ? 1 : e; }

/* ---- texels ---- */

/* IEC 61966-2-1 */
static double linear_light(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }

static uint32_t component(const ref_texture *t, const uint8_t *p, int c)
{
    uint32_t u = 0;
    int n = component_bytes(t->texel);
    memcpy(&u, p + c * n, (size_t)n);
    int64_t value = u;
    if (t->texel == REF_TEXEL_S8)
        value = (int8_t)u;
    if (t->texel == REF_TEXEL_S16)
        value = (int16_t)u;
    switch (t->texel) {
    case REF_TEXEL_F32: return u;
    case REF_TEXEL_F16: return bits_of((float)ref_value(ref_find_format("f16", 3), u));
    case REF_TEXEL_U32: case REF_TEXEL_S32: return u;
    default: break;
    }
    if (!t->read_normalized)
        return (uint32_t)value;
    double most = t->texel == REF_TEXEL_U8 ? 255 : t->texel == REF_TEXEL_S8 ? 127 : t->texel == REF_TEXEL_U16 ? 65535 : 32767;
    double real = fmax((double)value / most, -1);
    if (t->srgb && t->texel == REF_TEXEL_U8 && c < 3)
        real = linear_light(real);
    return bits_of((float)real);
}

/* Texel (or border, when an index is −1) of one slice of a level. */
static void texel_at(const ref_texture *t, int level, int64_t slice, int64_t x, int64_t y, uint32_t out[4])
{
    bool border = x < 0 || y < 0 || slice < 0;
    const ref_level *l = &t->level[level];
    for (int c = 0; c < 4; c++) {
        if (c >= t->channels)
            out[c] = c < 3 ? 0 : gives_float(t) ? bits_of(1) : 1;
        else if (border)
            out[c] = t->border[c];
        else
            out[c] = component(t, l->texels + (uint64_t)slice * l->slice_pitch + (uint64_t)y * l->row_pitch +
                                      (uint64_t)x * (uint64_t)(component_bytes(t->texel) * t->channels), c);
    }
}

static bool is_signed(ref_texel k) { return k == REF_TEXEL_S8 || k == REF_TEXEL_S16 || k == REF_TEXEL_S32; }

/* What a sample sees of a texel: its components, or whether the depth does not exceed them. */
static void element_at(const ref_texture *t, const ref_sample *s, int level, int64_t slice, int64_t x, int64_t y, uint32_t out[4])
{
    texel_at(t, level, slice, x, y, out);
    for (int c = 0; s->compared && c < 4; c++) {
        double value = gives_float(t) ? float_of(out[c]) : is_signed(t->texel) ? (float)(int32_t)out[c] : (float)out[c];
        out[c] = c < t->channels ? bits_of(s->depth <= value) : bits_of(c == 3);
    }
}

/* ---- addresses ---- */

static int64_t modulo(int64_t a, int64_t b) { int64_t r = a % b; return r < 0 ? r + b : r; }

static int64_t place(ref_address mode, int64_t i, int64_t n)
{
    switch (mode) {
    case REF_WRAP: return modulo(i, n);
    case REF_MIRROR: return modulo(i, 2 * n) < n ? modulo(i, 2 * n) : 2 * n - 1 - modulo(i, 2 * n);
    case REF_BORDER: return i < 0 || i >= n ? -1 : i;
    default: return i < 0 ? 0 : i >= n ? n - 1 : i;
    }
}

/* One coordinate: the two texels and the fraction in 256ths between them. */
typedef struct span { int64_t low, high; int fraction; } span;

static span span_of(const ref_texture *t, int axis, float at, bool normalized, bool linear, int n, int32_t offset)
{
    double u = normalized ? (double)(float)((double)at * (double)n) : (double)at;
    ref_address mode = t->address[axis];
    if (!normalized && mode != REF_BORDER)
        mode = REF_CLAMP;
    int64_t off = modulo((int64_t)offset + 8, 16) - 8;
    u = isnan(u) ? 0 : fmin(fmax(u, -1073741824.0), 1073741824.0);
    if (!linear) {
        int64_t i = place(mode, (int64_t)floor(u) + off, n);
        return (span){i, i, 0};
    }
    /* u − 0.5 in long double is exact for all that could be near to a boundary. */
    long double b = (long double)u - 0.5L, low = floorl(b);
    return (span){place(mode, (int64_t)low + off, n), place(mode, (int64_t)low + 1 + off, n), (int)floorl((b - low) * 256 + 0.5L)};
}

/* ---- filtering ---- */

static float mix(float a, float b, int fraction)
{
    double alpha = fraction / 256.0;
    float left = (float)((double)a * (1 - alpha)), right = (float)((double)b * alpha);
    return (float)((double)left + (double)right);
}

typedef struct place3 { float at[3]; int64_t slice; bool normalized; } place3;

static void sample_level(const ref_texture *t, const ref_sample *sample, const place3 *p, int level, uint32_t out[4])
{
    ref_geometry g = sample->geometry;
    int dims = dimensions(g), size[3] = {extent(t->width, level), extent(t->height, level), extent(t->depth, level)};
    bool linear = t->linear && gives_float(t);
    span s[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < dims; i++)
        s[i] = span_of(t, i, p->at[i], p->normalized, linear, size[i], sample->offset[i]);
    if (!linear) {
        element_at(t, sample, level, g == REF_3D ? s[2].low : p->slice, s[0].low, s[1].low, out);
        return;
    }
    float cell[2][2][2][4];
    for (int k = 0; k < 8; k++) {
        uint32_t texel[4];
        int64_t x = k & 1 ? s[0].high : s[0].low, y = k & 2 ? s[1].high : s[1].low, z = k & 4 ? s[2].high : s[2].low;
        element_at(t, sample, level, g == REF_3D ? z : p->slice, x, y, texel);
        for (int c = 0; c < 4; c++)
            cell[k >> 2][k >> 1 & 1][k & 1][c] = float_of(texel[c]);
    }
    for (int c = 0; c < 4; c++) {
        float plane[2];
        for (int z = 0; z < 2; z++) {
            float row0 = mix(cell[z][0][0][c], cell[z][0][1][c], s[0].fraction), row1 = mix(cell[z][1][0][c], cell[z][1][1][c], s[0].fraction);
            plane[z] = dims >= 2 ? mix(row0, row1, s[1].fraction) : row0;
        }
        out[c] = bits_of(dims == 3 ? mix(plane[0], plane[1], s[2].fraction) : plane[0]);
    }
}

/* ---- cubes ---- */

/* CUDA C++ Programming Guide, "Cubemap Textures": face, m, s, t; equal components: z before y before x. */
static int face_of(const float v[3])
{
    float x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]);
    int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
    return 2 * axis + (v[axis] < 0);
}

static void on_face(int face, const float v[3], float *m, float *s, float *t)
{
    static const int from[6][3] = {{1, -3, -2}, {-1, 3, -2}, {2, 1, 3}, {-2, 1, -3}, {3, 1, -2}, {-3, -1, -2}};
    float *to[3] = {m, s, t};
    for (int i = 0; i < 3; i++) {
        int k = from[face][i];
        *to[i] = k > 0 ? v[k - 1] : -v[-k - 1];
    }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static place3 locate(const ref_texture *t, const ref_sample *s)
{
    place3 p = {{s->at[0], s->at[1], s->at[2]}, 0, t->normalized_coords};
    if (is_cube(s->geometry)) {
        float m, a, b;
        int face = face_of(s->at);
        on_face(face, s->at, &m, &a, &b);
        p.at[0] = (a / m + 1.0f) * 0.5f;
        p.at[1] = (b / m + 1.0f) * 0.5f;
        p.normalized = true;
        int64_t cubes = t->layers / 6 > 0 ? t->layers / 6 : 1, cube = is_array(s->geometry) ? least(s->layer, cubes - 1) : 0;
        p.slice = least(6 * cube + face, t->layers - 1);
    } else if (is_array(s->geometry))
        p.slice = least(s->layer, t->layers - 1);
    return p;
}

/* ---- levels of detail ---- */

/* log2 of the longer gradient in texels, to 8 fractional bits. */
static float lod_of(const ref_texture *t, const ref_sample *s)
{
    int dims = dimensions(s->geometry), size[3] = {t->width, t->height, t->depth};
    float square[2];
    for (int d = 0; d < 2; d++) {
        const float *v = d ? s->dy : s->dx;
        float g[3] = {v[0], v[1], v[2]};
        if (is_cube(s->geometry)) {
            float m, a, b, dm, da, db;
            int face = face_of(s->at);
            on_face(face, s->at, &m, &a, &b);
            on_face(face, v, &dm, &da, &db);
            float u = a / m, w = b / m, um = u * dm, wm = w * dm;
            g[0] = (da - um) / m * 0.5f;
            g[1] = (db - wm) / m * 0.5f;
        }
        float sum = 0;
        for (int i = 0; i < dims; i++) {
            float texels = (t->normalized_coords && !s->indexed) || is_cube(s->geometry) ? g[i] * (float)size[i] : g[i];
            float power = texels * texels;
            sum = i ? sum + power : power;
        }
        square[d] = sum;
    }
    if (isnan(square[0]) || isnan(square[1]))
        return 0;
    float longer = fmaxf(square[0], square[1]);
    if (longer < 0x1p-126f)
        return -64;
    if (isinf(longer))
        return 64;
    return (float)(floor(log2((double)longer) * 128) / 256);
}

/* In 256ths of a level. */
static int detail_of(const ref_texture *t, const ref_sample *s)
{
    float lod = s->mode == REF_GRADIENTS ? lod_of(t, s) : s->lod;
    double l = (double)(float)((double)lod + (double)t->lod_bias);
    l = isnan(l) ? 0 : l;
    l = fmin(fmax(l, (double)t->lod_min), (double)t->lod_max);
    l = fmin(fmax(l, 0), t->levels - 1);
    return (int)floor(l * 256 + 0.5);
}

static void sample_detail(const ref_texture *t, const ref_sample *s, const place3 *p, uint32_t out[4])
{
    int q = detail_of(t, s), level = q / 256, fraction = q % 256;
    if (!t->mip_linear || !gives_float(t)) {
        sample_level(t, s, p, (q + 128) / 256, out);
        return;
    }
    sample_level(t, s, p, level, out);
    if (fraction == 0)
        return;
    uint32_t next[4];
    sample_level(t, s, p, level + 1, next);
    for (int c = 0; c < 4; c++)
        out[c] = bits_of(mix(float_of(out[c]), float_of(next[c]), fraction));
}

/* ---- instructions ---- */

static void sample_index(const ref_texture *t, const ref_sample *s, uint32_t out[4])
{
    int level = 0;
    if (s->mode == REF_LOD)
        level = s->level < 0 ? 0 : s->level >= t->levels ? t->levels - 1 : s->level;
    if (s->mode == REF_GRADIENTS && t->levels > 1)
        level = (detail_of(t, s) + 128) / 256;
    int64_t i[3] = {0, 0, 0}, size[3] = {extent(t->width, level), extent(t->height, level), extent(t->depth, level)};
    for (int k = 0; k < dimensions(s->geometry); k++) {
        int64_t off = modulo((int64_t)s->offset[k] + 8, 16) - 8, sum = s->index[k] + off; /* 32 bits of it */
        i[k] = place(t->address[k], modulo(sum + 0x80000000, 0x100000000) - 0x80000000, size[k]);
    }
    int64_t slice = is_array(s->geometry) ? least(s->layer, t->layers - 1) : i[2];
    if (s->multisample) {
        int64_t samples = t->samples > 0 ? t->samples : 1, images = t->layers / samples > 0 ? t->layers / samples : 1;
        int64_t image = is_array(s->geometry) ? least(s->layer, images - 1) : 0;
        slice = least(image * samples + least(s->sample, samples - 1), t->layers - 1);
    }
    element_at(t, s, level, slice, i[0], i[1], out);
}

void ref_texture_sample(const ref_texture *t, const ref_sample *s, uint32_t out[4])
{
    if (s->indexed) {
        sample_index(t, s, out);
        return;
    }
    place3 p = locate(t, s);
    if (s->mode == REF_BASE || t->levels == 1)
        sample_level(t, s, &p, 0, out);
    else
        sample_detail(t, s, &p, out);
}

void ref_texture_half(const ref_texture *t, const ref_sample *s, const uint32_t in[4], uint16_t out[4])
{
    for (int c = 0; c < 4; c++)
        out[c] = !gives_float(t) && !s->compared ? (uint16_t)in[c] : (uint16_t)ref_round_by_mpfr(ref_find_format("f16", 3), (double)float_of(in[c]), REF_RN);
}

void ref_texture_gather(const ref_texture *t, const ref_sample *s, int k, uint32_t out[4])
{
    place3 p = locate(t, s);
    span x = span_of(t, 0, p.at[0], p.normalized, true, t->width, s->offset[0]);
    span y = span_of(t, 1, p.at[1], p.normalized, true, t->height, s->offset[1]);
    int64_t corner[4][2] = {{x.low, y.high}, {x.high, y.high}, {x.high, y.low}, {x.low, y.low}};
    for (int i = 0; i < 4; i++) {
        uint32_t texel[4];
        element_at(t, s, 0, p.slice, corner[i][0], corner[i][1], texel);
        out[i] = texel[k];
    }
}

/* PTX ISA, "Channel Data Type and Channel Order Fields" */
static uint32_t data_type(const ref_texture *t)
{
    static const uint32_t plain[] = {0x10da, 0x10d7, 0x10db, 0x10d8, 0x10dc, 0x10d9, 0x10dd, 0x10de};
    static const uint32_t normal[] = {0x10d2, 0x10d0, 0x10d3, 0x10d1, 0x10dc, 0x10d9, 0x10dd, 0x10de};
    return (t->read_normalized ? normal : plain)[t->texel];
}

bool ref_texture_query(const ref_texture *t, const char *query, uint32_t level, uint32_t *out)
{
    static const uint32_t modes[] = {0, 3, 1, 4};
    int images = t->layers / (t->cube ? 6 : t->samples > 1 ? t->samples : 1);
    struct { const char *name; int64_t value; } all[] = {
        {"width", extent(t->width, (int)(level & 15))}, {"height", extent(t->height, (int)(level & 15))}, {"depth", extent(t->depth, (int)(level & 15))},
        {"channel_data_type", data_type(t)}, {"channel_order", t->channels == 1 ? 0x10b0 : t->channels == 2 ? 0x10b2 : 0x10b5},
        {"normalized_coords", t->normalized_coords}, {"array_size", images > 1 ? images : 0}, {"num_mipmap_levels", t->levels == 1 ? 0 : t->levels},
        {"num_samples", t->samples < 2 ? 0 : t->samples}, {"force_unnormalized_coords", 0}, {"filter_mode", t->linear}, {"addr_mode_0", modes[t->address[0]]},
        {"addr_mode_1", modes[t->address[1]]}, {"addr_mode_2", modes[t->address[2]]}, {"memory_layout", 1},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, query)) {
            *out = level < (uint32_t)t->levels ? (uint32_t)all[i].value : 0;
            return true;
        }
    return false;
}

int64_t ref_surface_offset(const ref_texture *t, ref_geometry g, const char *clamp, const int32_t at[3], int unit, int bytes)
{
    int64_t row = (int64_t)t->width * t->channels * component_bytes(t->texel), limit[3] = {row / bytes, 1, 1};
    /* x counts accesses from here on: alignment drops its low bits */
    int64_t i[3] = {(int64_t)floor((double)at[0] * unit / bytes), 0, 0};
    if (dimensions(g) >= 2) {
        limit[1] = t->height;
        i[1] = at[1];
    }
    if (g == REF_3D || is_array(g)) {
        limit[2] = g == REF_3D ? t->depth : t->layers;
        i[2] = is_array(g) ? (int64_t)(uint32_t)at[2] : at[2];
    }
    for (int k = 0; k < 3; k++) {
        bool outside = i[k] < 0 || i[k] >= limit[k];
        if (outside && (strcmp(clamp, "clamp") || limit[k] == 0))
            return -1;
        i[k] = i[k] < 0 ? 0 : i[k] >= limit[k] ? limit[k] - 1 : i[k];
    }
    return i[2] * (int64_t)t->level[0].slice_pitch + i[1] * (int64_t)t->level[0].row_pitch + i[0] * bytes;
}

int ref_texel_bytes(const ref_texture *t) { return component_bytes(t->texel) * t->channels; }

/* The nearest of the numbers that the format has; of two equally near ones the even one. */
static int64_t nearest_even(double x)
{
    double low = floor(x), part = x - low;
    return (int64_t)low + (part > 0.5 || (part == 0.5 && fmod(low, 2) != 0));
}

static uint32_t encoded(const ref_texture *t, uint32_t in)
{
    int bits = 8 * component_bytes(t->texel);
    double f = float_of(in), most = ldexp(1, is_signed(t->texel) ? bits - 1 : bits) - 1, least_one = is_signed(t->texel) ? -most - 1 : 0;
    if (t->texel == REF_TEXEL_F16)
        return (uint32_t)ref_round_by_mpfr(ref_find_format("f16", 3), f, REF_RN);
    if (bits == 32)
        return in;
    double x = is_signed(t->texel) ? (double)(int32_t)in : (double)in;
    if (t->read_normalized) {
        x = isnan(f) ? 0 : fmin(fmax(f, -1), 1) * most;
        least_one = is_signed(t->texel) ? -most : 0;
    }
    return (uint32_t)nearest_even(fmin(fmax(x, least_one), most));
}

void ref_surface_encode(const ref_texture *t, const uint32_t in[4], uint8_t *texel)
{
    for (int c = 0; c < t->channels; c++) {
        uint32_t u = encoded(t, in[c]);
        memcpy(texel + c * component_bytes(t->texel), &u, (size_t)component_bytes(t->texel));
    }
}

uint64_t ref_surface_reduce(const ref_texture *t, const char *op, const char *type, uint64_t old, uint64_t value)
{
    int bits = atoi(type + 1);
    bool negative = type[0] == 's' || (type[0] == 'b' && is_signed(t->texel));
    /* A number's sign bit flipped orders signed numbers as unsigned ones. */
    uint64_t flip = negative ? (uint64_t)1 << (bits - 1) : 0;
    if (!strcmp(op, "add"))
        return bits == 64 ? old + value : (old + value) & 0xffffffff;
    if (!strcmp(op, "and"))
        return old & value;
    if (!strcmp(op, "or"))
        return old | value;
    bool below = (value ^ flip) < (old ^ flip);
    return below == !strcmp(op, "min") ? value : old;
}
