/* texture.c - see texture.h.
 *
 * What an instruction asks for is read from its modifiers and operands, not from the numbers that the table gives its meaning, so that a row
 * with a wrong number fails. Threads have different images, or the same; those that do not execute have a handle that cannot be
 * read. No two threads store to the same bytes, since the order of threads is not defined; aligned reductions may meet.
 */
#include "conformance/texture.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance/image.h"
#include "conformance/parallel.h"
#include "runtime/internal.h"

enum { IMAGES = 6, TRIES = 30, PARTS = 16 };
static const uint64_t unreadable = 0xdead000000001000u;

/* Elements from `first` on; a count of 0: the instruction has no such operand. */
typedef struct range { uint32_t first, count; } range;

typedef struct roles {
    ref_geometry geometry;
    bool layered, multisample, indexed, is_texture, is_query, is_surface, stores, reduces, samples_x;
    range results, predicate, handle, at, level, gradient[2], offset, depth, data;
} roles;

/* ------------------------------------------------------------ what the operands are */

static bool has(const conform_case *c, const char *word)
{
    for (uint32_t g = 0; g < c->form->ngroups; g++)
        if (c->tuple.choice[g] && !strcmp(c->form->groups[g].choices[c->tuple.choice[g] - 1], word))
            return true;
    return false;
}

/* The first of the words, which end with NULL, that the opcode has. */
static const char *one_of(const conform_case *c, const char *const *words)
{
    while (*words && !has(c, *words))
        words++;
    return *words;
}

static void set_geometry(const conform_case *c, roles *f)
{
    static const struct { const char *word; ref_geometry geometry; bool layered, multisample; } all[] = {
        {"1d", REF_1D, false, false}, {"2d", REF_2D, false, false}, {"3d", REF_3D, false, false}, {"a1d", REF_A1D, true, false},
        {"a2d", REF_A2D, true, false}, {"cube", REF_CUBE, false, false}, {"acube", REF_ACUBE, true, false}, {"2dms", REF_2D, false, true},
        {"a2dms", REF_A2D, true, true}};
    f->geometry = REF_2D;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (has(c, all[i].word)) {
            f->geometry = all[i].geometry;
            f->layered = all[i].layered;
            f->multisample = all[i].multisample;
        }
}

static void place_source(const conform_case *c, roles *f, uint32_t operand, range at, bool *level)
{
    const bool vector = c->form->operands[operand].kind == ISA_OPERAND_SRC_VECTOR;
    if (vector && f->is_texture) {
        const bool integers = isa_operand_type(c->form, &c->tuple, operand) == PTX_TYPE_S32;
        *(integers ? &f->offset : &f->gradient[f->gradient[0].count > 0]) = at;
    } else if (!strcmp(c->form->mnemonic, "istypep"))
        f->handle = at;
    else if (!f->is_texture && !f->is_query)
        f->data = at;
    else {
        *(*level ? &f->level : &f->depth) = at;
        *level = false;
    }
}

static roles roles_of(const conform_case *c)
{
    const char *m = c->form->mnemonic;
    roles f = {.is_texture = !strcmp(m, "tex") || !strcmp(m, "tld4"), .is_query = !strcmp(m, "txq") || !strcmp(m, "suq"),
               .stores = !strcmp(m, "sust"), .reduces = !strcmp(m, "sured"), .samples_x = has(c, "p")};
    bool level = has(c, "level");
    f.is_surface = f.stores || f.reduces || !strcmp(m, "suld");
    set_geometry(c, &f);
    for (uint32_t i = 0, e = 0; i < c->form->noperands; i++) {
        const isa_operand *o = &c->form->operands[i];
        const uint32_t all = conform_operand_elements(c->form, &c->tuple, i), n = isa_operand_count(c->form, &c->tuple, i);
        switch (o->kind) {
        case ISA_OPERAND_DST: case ISA_OPERAND_DST_PRED: f.results = (range){e, 1}; break;
        case ISA_OPERAND_DST_VECTOR:
            f.results = (range){e, n};
            f.predicate = (range){e + n, o->with_pred};
            break;
        case ISA_OPERAND_TEXTURE:
            f.handle = (range){e, 1};
            f.at = (range){e + 1, n};
            f.indexed = f.is_surface || isa_operand_type(c->form, &c->tuple, i) == PTX_TYPE_S32;
            break;
        case ISA_OPERAND_SRC_VECTOR: case ISA_OPERAND_SRC: place_source(c, &f, i, (range){e, all}, &level); break;
        default: break;
        }
        e += all;
    }
    return f;
}

void conform_texture_case(conform_case *c)
{
    const roles f = roles_of(c);
    for (uint32_t i = 0, e = 0; i < c->form->noperands; i++) {
        const uint32_t n = conform_operand_elements(c->form, &c->tuple, i);
        for (uint32_t k = e; k < e + n && c->form->operands[i].kind == ISA_OPERAND_ZERO; k++)
            c->elems[k].role = ISA_ROLE_IMM;
        e += n;
    }
    const size_t n = strlen(c->name);
    snprintf(c->name + n, sizeof c->name - n, "%s%s%s", f.predicate.count ? " p" : "", f.offset.count ? " e" : "",
             f.depth.count ? " f" : "");
}

/* ------------------------------------------------------------ one launch */

typedef struct sampling {
    conform_runner *r;
    const conform_case *c;
    roles f;
    conform_random random;
    conform_image images[IMAGES];
    uint32_t count;
    uint8_t *after[IMAGES], *touched[IMAGES];   /* what a surface should hold afterwards; bytes that some thread stores to */
    uint32_t n;
    uint8_t *which, *executes;                  /* of each thread */
    uint64_t (*values)[ISA_MAX_ELEMS];
    conform_result parts[PARTS];
} sampling;

static uint32_t bits_of(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static float float_of(uint64_t u) { float f; uint32_t low = (uint32_t)u; memcpy(&f, &low, 4); return f; }
static double unit(conform_random *r) { return (double)conform_next(r) * 0x1p-64; }
static int dimensions(ref_geometry g) { return g == REF_1D || g == REF_A1D ? 1 : g == REF_2D || g == REF_A2D ? 2 : 3; }

/* ------------------------------------------------------------ operands */

static float coordinate(uint32_t n, bool normalized, conform_random *r)
{
    static const float special[] = {0, -0.0f, NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, 1e-30f, -1e-30f, 1e-42f, -1e-42f, 0x1p24f, -0x1p24f, 0x1p30f,
                                    0x1p31f, -0x1p31f, 1e12f};
    float x;
    switch (conform_below(r, 6)) {
    case 0: return special[conform_below(r, sizeof special / sizeof *special)];
    case 1: return float_of(conform_next(r));
    case 2: x = (float)((int)conform_below(r, n * 6 + 4) - (int)(n * 2)) / 2; break;               /* edges and centres */
    case 3: x = (float)((int)conform_below(r, n * 4 * 512) - (int)(n * 512)) / 512; break;         /* ties of the weight */
    default: x = (float)(unit(r) * 4 * n - 1.5 * n); break;
    }
    if (conform_below(r, 4) == 0)
        x = nextafterf(x, conform_below(r, 2) ? INFINITY : -INFINITY);
    return normalized ? x / (float)n : x;
}

static int32_t texel_index(uint32_t n, conform_random *r)
{
    static const int32_t special[] = {INT32_MIN, INT32_MAX, -1, INT32_MIN + 1};
    switch (conform_below(r, 6)) {
    case 0: return (int32_t)conform_next(r);
    case 1: return special[conform_below(r, 4)];
    default: return (int32_t)conform_below(r, 4 * n) - (int32_t)n;
    }
}

static void pick_place(sampling *s, const ref_texture *t, bool inside, uint64_t *v)
{
    const roles *f = &s->f;
    conform_random *r = &s->random;
    const bool cube = f->geometry == REF_CUBE || f->geometry == REF_ACUBE;
    const uint32_t size[3] = {(uint32_t)t->width, (uint32_t)t->height, (uint32_t)t->depth}, layers = (uint32_t)t->layers;
    uint32_t e = f->at.first;
    if (f->at.count && f->layered)
        v[e++] = inside ? conform_below(r, layers) : conform_below(r, 8) ? conform_below(r, layers + 2) : conform_next(r) & 0xffffffff;
    if (f->at.count && f->multisample)
        v[e++] = conform_below(r, 8) ? conform_below(r, (uint32_t)t->samples + 2) : conform_next(r) & 0xffffffff;
    for (int k = 0; f->at.count && k < dimensions(f->geometry); k++, e++) {
        if (!f->indexed) {
            v[e] = bits_of(coordinate(cube ? 2 : size[k], t->normalized_coords && !cube, r));
            continue;
        }
        int32_t i = inside ? (int32_t)conform_below(r, size[k]) : texel_index(size[k], r);
        if (f->is_surface && k == 0 && !f->samples_x && (inside || conform_below(r, 8)))           /* in bytes */
            i = (int32_t)((uint32_t)i * (uint32_t)ref_texel_bytes(t)) + (conform_below(r, 4) ? 0 : (int32_t)conform_below(r, 4));
        v[e] = (uint32_t)i;
    }
    if (cube && conform_below(r, 3) == 0)                                                           /* components of equal size */
        v[e - 1] = v[e - 2 - conform_below(r, 2)] ^ (conform_below(r, 2) ? 0x80000000u : 0);
}

/* Often near to the limits of formats. */
static uint64_t stored_value(sampling *s)
{
    static const float limits[] = {0, -0.0f, 1, -1, 0.5f, -0.5f, NAN, INFINITY, -INFINITY, 65520, 65519, 1e-8f, 6e-8f};
    conform_random *r = &s->random;
    if (!s->f.samples_x || s->f.reduces || conform_below(r, 4) == 0)
        return conform_next(r);
    switch (conform_below(r, 5)) {
    case 0: return bits_of(limits[conform_below(r, sizeof limits / sizeof *limits)]);
    case 1: return (uint32_t)((int32_t)conform_below(r, 200000) - 100000);
    case 2: return bits_of(((float)conform_below(r, 600) + 0.5f) / (conform_below(r, 2) ? 255 : 127) - 1);    /* ties */
    default: return bits_of((float)(unit(r) * 3 - 1.5));
    }
}

/* Often what a texel holds. */
static uint32_t pick_depth(sampling *s, const conform_image *i)
{
    const ref_texture *t = &i->reference;
    conform_random *r = &s->random;
    const uint32_t bytes = (uint32_t)(ref_texel_bytes(t) / t->channels);
    uint32_t u = 0;
    memcpy(&u, i->bytes + conform_below(r, (uint32_t)(i->size / bytes)) * bytes, bytes);
    const float number = t->texel == REF_TEXEL_F32 ? float_of(u) : t->texel == REF_TEXEL_F16 ? (float)ref_value(ref_find_format("f16", 3), u)
                       : t->read_normalized && bytes <= 2 ? (float)u / 255 : (float)u;
    return bits_of(conform_below(r, 3) ? number : conform_below(r, 2) ? (float)conform_below(r, 3) / 2 : coordinate(2, false, r));
}

static void pick_others(sampling *s, const conform_image *i, uint64_t *v)
{
    const roles *f = &s->f;
    conform_random *r = &s->random;
    if (f->level.count && (f->is_query || f->indexed))
        v[f->level.first] = conform_below(r, 4) ? (conform_below(r, 7) - !f->is_query) & 0xffffffffu : conform_next(r) & 0xffffffffu;
    else if (f->level.count)
        v[f->level.first] = bits_of(conform_below(r, 5) ? (float)(unit(r) * 8 - 2) : coordinate(4, false, r));
    for (int d = 0; d < 2; d++)
        for (uint32_t k = 0; k < f->gradient[d].count; k++)
            v[f->gradient[d].first + k] = bits_of(conform_below(r, 8) ? ldexpf((float)conform_next(r), (f->indexed ? 7 : 3) - 64 - (int)conform_below(r, 10))
                                                                      : coordinate(4, false, r));
    for (uint32_t k = 0; k < f->offset.count; k++)
        v[f->offset.first + k] = conform_below(r, 8) ? (conform_below(r, 16) - 8) & 0xffffffffu : conform_next(r) & 0xffffffffu;
    if (f->depth.count)
        v[f->depth.first] = pick_depth(s, i);
    for (uint32_t k = 0; k < f->data.count; k++)
        v[f->data.first + k] = stored_value(s);
}

/* ------------------------------------------------------------ expectations of textures */

static void expect_sample(const sampling *s, const conform_image *i, uint64_t *v)
{
    static const char *const components[] = {"r", "g", "b", "a"};
    const roles *f = &s->f;
    ref_sample x = {.geometry = f->geometry, .multisample = f->multisample, .indexed = f->indexed,
                    .mode = has(s->c, "level") ? REF_LOD : has(s->c, "grad") ? REF_GRADIENTS : REF_BASE};
    uint32_t e = f->at.first, out[4];
    if (f->layered)
        x.layer = (uint32_t)v[e++];
    if (f->multisample)
        x.sample = (uint32_t)v[e++];
    for (int k = 0; k < dimensions(f->geometry); k++, e++) {
        x.index[k] = (int32_t)(uint32_t)v[e];
        x.at[k] = float_of(v[e]);
    }
    if (f->level.count) {
        x.lod = float_of(v[f->level.first]);
        x.level = (int32_t)(uint32_t)v[f->level.first];
    }
    for (uint32_t k = 0; k < f->gradient[0].count && k < 3; k++) {
        x.dx[k] = float_of(v[f->gradient[0].first + k]);
        x.dy[k] = float_of(v[f->gradient[1].first + k]);
    }
    for (uint32_t k = 0; k < f->offset.count && k < 3; k++)
        x.offset[k] = (int32_t)(uint32_t)v[f->offset.first + k];
    x.compared = f->depth.count > 0;
    if (x.compared)
        x.depth = float_of(v[f->depth.first]);
    if (!strcmp(s->c->form->mnemonic, "tex"))
        ref_texture_sample(&i->reference, &x, out);
    else
        for (int k = 0; k < 4; k++)
            if (has(s->c, components[k]))
                ref_texture_gather(&i->reference, &x, k, out);
    if (has(s->c, "f16") || has(s->c, "f16x2")) {
        uint16_t half[4];
        ref_texture_half(&i->reference, &x, out, half);
        for (int k = 0; k < 4; k++)
            out[k] = half[k];
    }
    if (has(s->c, "f16x2")) {
        out[0] |= out[1] << 16;
        out[1] = out[2] | out[3] << 16;
    }
    for (uint32_t k = 0; k < f->results.count; k++)
        v[k] = out[k];
    if (f->predicate.count)
        v[f->predicate.first] = 1;
}

static void expect_query(const sampling *s, const conform_image *i, uint64_t *v)
{
    const char *query = isa_choice(s->c->form, &s->c->tuple, "q");
    uint32_t out = 0;
    ref_texture_query(&i->reference, query, s->f.level.count ? (uint32_t)v[s->f.level.first] : 0, &out);
    v[0] = out;
}

static void expect_type(const sampling *s, const conform_image *i, uint64_t *v)
{
    const bool handle = v[s->f.handle.first] == i->handle;
    v[0] = handle && (has(s->c, "texref") ? !i->surface : has(s->c, "surfref") ? i->surface : false);
}

/* ------------------------------------------------------------ expectations of surfaces */

/* Where in the image the access lies and how many bytes it has; -1: nowhere. */
static int64_t access_of(const sampling *s, const conform_image *i, const uint64_t *v, int *bytes)
{
    static const char *const clamps[] = {"trap", "clamp", "zero", NULL};
    const roles *f = &s->f;
    const range data = f->data.count ? f->data : f->results;
    const int one = (int)ptx_type_bytes(s->c->elems[data.first].type);
    int32_t where[3] = {0, 0, 0};
    uint32_t e = f->at.first;
    if (f->layered)
        where[2] = (int32_t)(uint32_t)v[e++];
    for (int k = 0; k < dimensions(f->geometry); k++)
        where[k] = (int32_t)(uint32_t)v[e++];
    *bytes = f->stores && f->samples_x ? ref_texel_bytes(&i->reference) : one * (int)data.count;
    return ref_surface_offset(&i->reference, f->geometry, one_of(s->c, clamps), where, f->samples_x ? *bytes : 1, *bytes);
}

static void reduce(const sampling *s, const conform_image *i, const uint64_t *v, uint8_t *memory, size_t bytes)
{
    static const char *const operations[] = {"add", "min", "max", "and", "or", NULL}, *const types[] = {"u32", "s32", "u64", "s64", "b32", "b64", NULL};
    uint64_t old = 0, value = 0;
    memcpy(&old, memory, bytes);
    memcpy(&value, &v[s->f.data.first], bytes);
    const uint64_t result = ref_surface_reduce(&i->reference, one_of(s->c, operations), one_of(s->c, types), old, value);
    memcpy(memory, &result, bytes);
}

/* False: the access would fault, or meet that of another thread. */
static bool expect_surface(sampling *s, uint32_t which, uint64_t *v)
{
    const roles *f = &s->f;
    const conform_image *i = &s->images[which];
    int bytes;
    const int64_t offset = access_of(s, i, v, &bytes);
    for (uint32_t k = 0; k < f->results.count; k++)
        v[f->results.first + k] = 0;
    if (offset < 0)
        return !has(s->c, "trap");
    uint8_t *memory = s->after[which] + offset, *touched = s->touched[which] + offset;
    /* A reduction is atomic where its address is aligned, which rows may prevent (ptx/lib/TEXTURES.md, C23). */
    if ((f->stores || (f->reduces && offset % bytes)) && memchr(touched, 1, (size_t)bytes))
        return false;
    memset(touched, 1, (size_t)bytes);
    if (f->reduces)
        reduce(s, i, v, memory, (size_t)bytes);
    else if (f->stores && f->samples_x) {
        uint32_t in[4] = {0, 0, 0, 0};
        for (uint32_t k = 0; k < f->data.count; k++)
            in[k] = (uint32_t)v[f->data.first + k];
        ref_surface_encode(&i->reference, in, memory);
    } else {
        const range data = f->stores ? f->data : f->results;
        const size_t one = (size_t)bytes / data.count;
        for (uint32_t k = 0; k < data.count; k++)
            memcpy(f->stores ? (void *)(memory + k * one) : (void *)&v[data.first + k], f->stores ? (void *)&v[data.first + k] : (void *)(memory + k * one), one);
    }
    return true;
}

/* ------------------------------------------------------------ running */

static void pick_thread(sampling *s, uint32_t thread)
{
    uint64_t *v = s->values[thread];
    const bool istypep = !strcmp(s->c->form->mnemonic, "istypep");
    memset(v, 0, sizeof s->values[thread]);
    s->which[thread] = (uint8_t)conform_below(&s->random, s->count);
    s->executes[thread] = conform_below(&s->random, 8) != 0;
    const conform_image *i = &s->images[s->which[thread]];
    for (int tries = 0; s->executes[thread] && tries < TRIES; tries++) {
        v[s->f.handle.first] = istypep && conform_below(&s->random, 3) == 0 ? 0 : i->handle;
        pick_place(s, &i->reference, tries > 3, v);
        pick_others(s, i, v);
        if (!s->f.is_surface || expect_surface(s, s->which[thread], v))
            return;
    }
    s->executes[thread] = 0;
    memset(v, 0, sizeof s->values[thread]);
    v[s->f.handle.first] = unreadable;
}

static void compare_part(void *user, uint32_t part)
{
    sampling *s = user;
    s->parts[part] = (conform_result){.c = s->c, .digest = CONFORM_DIGEST_START};
    for (uint32_t i = s->n * part / PARTS; i < s->n * (part + 1) / PARTS; i++) {
        const conform_image *image = &s->images[s->which[i]];
        if (!s->executes[i]) {}
        else if (s->f.is_texture) expect_sample(s, image, s->values[i]);
        else if (s->f.is_query) expect_query(s, image, s->values[i]);
        else if (!s->f.is_surface) expect_type(s, image, s->values[i]);
        conform_judge_lane(s->r, s->c, s->values[i], i, s->n, "", &s->parts[part]);
    }
}

static pxb_status compare_images(sampling *s, conform_result *out)
{
    pxb_status status = PXB_OK;
    for (uint32_t k = 0; !status && k < s->count && (s->f.stores || s->f.reduces); k++) {
        const conform_image *i = &s->images[k];
        status = conform_image_read(s->r, i, s->touched[k]);
        size_t at = 0;
        while (!status && at < i->size && s->touched[k][at] == s->after[k][at])
            at++;
        if (!status && at < i->size && out->differing++ == 0)
            snprintf(out->message, sizeof out->message, "byte %zu of a surface of %dx%dx%d texels of %d bytes and %d layers is 0x%02x, not 0x%02x", at,
                     i->reference.width, i->reference.height, i->reference.depth, ref_texel_bytes(&i->reference), i->reference.layers,
                     s->touched[k][at], s->after[k][at]);
    }
    return status;
}

static void fill_sources(const sampling *s)
{
    uint64_t *to = s->r->sources;
    for (uint32_t e = 0; e < s->c->nelems; e++) {
        if (s->c->elems[e].role != ISA_ROLE_SRC)
            continue;
        for (uint32_t i = 0; i < s->n; i++)
            to[i] = s->values[i][e];
        to += s->n;
    }
    for (uint32_t i = 0; i < s->n; i++)
        to[i] = s->executes[i] ? ~0ull : 0;
}

static pxb_status make_images(sampling *s)
{
    const bool is_type = !s->f.is_texture && !s->f.is_query && !s->f.is_surface;
    const bool surface = s->f.is_surface || !strcmp(s->c->form->mnemonic, "suq");
    pxb_status status = PXB_OK;
    for (s->count = 0; !status && s->count < IMAGES;) {
        const uint32_t k = s->count++;
        conform_image *i = &s->images[k];
        const bool levels = s->f.is_texture && (s->f.level.count || s->f.gradient[0].count) && k % 2;
        status = conform_image_make(s->r, s->f.geometry, is_type ? conform_below(&s->random, 2) : surface, !s->f.stores && !s->f.reduces, levels, &s->random, i);
        if (status)
            break;
        s->after[k] = malloc(i->size + 8);
        s->touched[k] = calloc(i->size + 8, 1);
        if (!s->after[k] || !s->touched[k])
            return rt_no_memory(s->r->ctx);
        memcpy(s->after[k], i->bytes, i->size);
    }
    return status;
}

static pxb_status run_launch(sampling *s, pxb_kernel *kernel, conform_result *out)
{
    pxb_status status = make_images(s);
    for (uint32_t i = 0; !status && i < s->n; i++)
        pick_thread(s, i);
    if (!status) {
        fill_sources(s);
        status = conform_launch(s->r, kernel, s->c, s->n, PXB_MMA_ADA);
    }
    if (!status) {
        conform_parallel(s->r->threads, PARTS, compare_part, s);
        for (uint32_t i = 0; i < PARTS; i++)
            conform_merge(out, &s->parts[i]);
        status = compare_images(s, out);
    }
    for (uint32_t k = 0; k < s->count; k++) {
        conform_image_free(s->r, &s->images[k]);
        free(s->after[k]);
        free(s->touched[k]);
        s->after[k] = s->touched[k] = NULL;
    }
    return status;
}

pxb_status conform_run_texture(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    const uint64_t wanted = r->options->exhaustive ? 65536 : r->options->random / 4 < 128 ? 128 : r->options->random / 4;
    sampling s = {.r = r, .c = c, .f = roles_of(c), .random = {r->options->seed}, .n = 256};
    for (const char *p = c->name; *p; p++)
        s.random.state = s.random.state * 31 + (uint8_t)*p;
    s.which = malloc(s.n);
    s.executes = malloc(s.n);
    s.values = malloc(s.n * sizeof *s.values);
    pxb_status status = s.which && s.executes && s.values ? PXB_OK : rt_no_memory(r->ctx);
    for (out->inputs = 0; !status && out->inputs < wanted; out->inputs += s.n)
        status = run_launch(&s, kernel, out);
    free(s.which);
    free(s.executes);
    free(s.values);
    return status;
}
