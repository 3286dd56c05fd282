/* dump_image.c - texture and surface objects of a launch, and the arrays behind them, as a case file has them.
 *
 * A case's texture or surface has texels of its own, or those of another one, or lies over a buffer (docs/case_files.md). So each array that is
 * used goes to one surface or texture that sees all of it, and others name that one; where none sees all of it, to a surface that no kernel
 * is given. Surfaces come first, because what they write is expected of them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/array.h"
#include "runtime/driver/array.h"
#include "runtime/driver/dump_case.h"
#include "runtime/driver/texture.h"

#define now dump_now

/* ------------------------------------------------------------ arrays */

static uint64_t texels_of(const cu_array3d_desc *d)
{
    return (uint64_t)d->width * (d->height ? d->height : 1) * (d->depth ? d->depth : 1);
}

static cu_array level_of(const dump_image *x, uint32_t level)
{
    return x->mipmap ? now.source->level(now.source, x->mipmap, level) : x->array;
}

static uint64_t level_bytes(const dump_image *x, uint32_t level)
{
    cu_array3d_desc d;
    return now.source->describe(now.source, level_of(x, level), &d) ? texels_of(&d) * pxl_texel_bytes(x->format, x->channels) : 0;
}

/* All levels, one after another. */
static bool read_image(const dump_image *x, unsigned char *to)
{
    for (uint32_t i = 0; i < x->levels; i++) {
        uint64_t bytes = level_bytes(x, i);
        if (!bytes || !now.source->texels(now.source, level_of(x, i), to, bytes))
            return false;
        to += bytes;
    }
    return true;
}

/* Index of a new image, -1 when it cannot be had. */
static int add_image(dump_image x)
{
    bool normalised;
    if (!x.levels || !now.source->describe(now.source, level_of(&x, 0), &x.desc)) {
        dump_lose("a texture or surface of an array that is no longer there");
        return -1;
    }
    if (!dr_format_of(x.desc.format, x.desc.channels, &x.format, &x.channels, &normalised)) {
        dump_lose("texels of format 0x%x are not carried over", x.desc.format);
        return -1;
    }
    if (now.nimages == DUMP_MOST_IMAGES) {
        dump_lose("it uses more than %d arrays", DUMP_MOST_IMAGES);
        return -1;
    }
    for (uint32_t i = 0; i < x.levels; i++)
        x.bytes += level_bytes(&x, i);
    x.before = x.bytes <= RT_ARRAY_LIMIT ? malloc(x.bytes) : NULL;
    if (!x.before || !read_image(&x, x.before)) {
        free(x.before);
        dump_lose("an array of %" PRIu64 " bytes could not be read", x.bytes);
        return -1;
    }
    now.images[now.nimages] = x;
    return now.nimages++;
}

/* The image of an array, which may be a level of one. */
static int image_of_array(cu_array array, uint32_t *level)
{
    *level = 0;
    for (int i = 0; i < now.nimages; i++) {
        const dump_image *x = &now.images[i];
        for (*level = 0; x->before && *level < x->levels; ++*level)
            if (level_of(x, *level) == array)
                return i;
    }
    *level = 0;
    return add_image((dump_image){.array = array, .levels = 1});
}

/* Arrays that came before, and are its levels, become part of it. */
static int image_of_mipmap(cu_mipmap mipmap)
{
    for (int i = 0; i < now.nimages; i++)
        if (now.images[i].mipmap == mipmap)
            return i;
    int found = add_image((dump_image){.mipmap = mipmap, .levels = now.source->levels(now.source, mipmap)});
    for (uint32_t level = 0; found >= 0 && level < now.images[found].levels; level++)
        for (int i = 0; i < found; i++) {
            dump_image *x = &now.images[i];
            if (!x->before || x->mipmap || x->array != level_of(&now.images[found], level))
                continue;
            for (int e = 0; e < now.nentries; e++)
                if (now.entries[e].image == i) {
                    now.entries[e].image = found;
                    now.entries[e].first_level = now.entries[e].last_level = level;
                }
            free(x->before);
            x->before = NULL;
        }
    return found;
}

static bool is_layered(const cu_array3d_desc *d)
{
    return d->flags & (CUABI_CUDA_ARRAY3D_LAYERED | CUABI_CUDA_ARRAY3D_CUBEMAP);
}

static uint32_t layers_of(const cu_array3d_desc *d)
{
    return is_layered(d) ? (uint32_t)d->depth : 1;
}

/* ------------------------------------------------------------ textures and surfaces */

/* What the object sees of its image. */
static void take_view(dump_entry *e)
{
    const dump_image *x = &now.images[e->image];
    const cu_view_desc *v = &e->of.view;
    uint32_t format;
    e->format = x->format;
    e->channels = x->channels;
    dr_format_of(x->desc.format, x->desc.channels, &format, &e->channels, &e->normalised);
    e->last_layer = layers_of(&x->desc) - 1;
    if (!e->of.has_view)
        return;
    dr_view_format(v->format, &e->format, &e->channels);       /* none: as before */
    e->last_level = e->first_level + v->last_level;
    e->first_level += v->first_level;
    e->first_layer = v->first_layer;
    e->last_layer = v->last_layer;
}

static bool take_array(dump_entry *e)
{
    const cu_resource *r = &e->of.resource;
    if (r->type == CUABI_CU_RESOURCE_TYPE_ARRAY) {
        e->image = image_of_array(r->of.array, &e->first_level);
        e->last_level = e->first_level;
    } else {
        e->image = image_of_mipmap(r->of.mipmap);
        e->last_level = e->image >= 0 ? now.images[e->image].levels - 1 : 0;
    }
    if (e->image >= 0)
        take_view(e);
    return e->image >= 0;
}

static bool take_memory(dump_entry *e)
{
    const cu_resource *r = &e->of.resource;
    uint32_t format = r->of.linear.format, channels = r->of.linear.channels;       /* at the same place in both kinds */
    e->piece = dump_piece_of(r->of.linear.address);
    bool known = e->piece >= 0 && !now.pieces[e->piece].variable && !now.pieces[e->piece].heap && dr_format_of(format, channels, &e->format, &e->channels, &e->normalised);
    if (!known)
        dump_lose("a texture over memory that the case does not have is not carried over");
    return known;
}

/* Index of a new entry, -1 when it cannot be had. */
static int add_entry(dump_entry e)
{
    uint32_t type = e.of.resource.type;
    e.image = e.piece = -1;
    if (now.nentries == DUMP_MOST_IMAGES) {
        dump_lose("it uses more than %d textures and surfaces", DUMP_MOST_IMAGES);
        return -1;
    }
    bool array = type == CUABI_CU_RESOURCE_TYPE_ARRAY || type == CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    if (!(array ? take_array(&e) : take_memory(&e)))
        return -1;
    now.entries[now.nentries] = e;
    return now.nentries++;
}

int dump_known_entry(uint64_t handle)
{
    if (handle < now.source->first_handle || handle > now.source->last_handle)
        return -1;
    for (int i = 0; i < now.nentries; i++)
        if (now.entries[i].handle == handle && !now.entries[i].reference)
            return i;
    return -1;
}

int dump_entry_of(uint64_t handle)
{
    dump_entry e = {.handle = handle};
    int i = dump_known_entry(handle);
    if (i >= 0 || handle < now.source->first_handle || handle > now.source->last_handle || !now.source->object(now.source, handle, &e.of))
        return i;
    return add_entry(e);
}

void dump_take_references(void)
{
    const ptx_module *m = now.source->module;
    for (uint32_t i = 0; i < m->nvariables; i++) {
        const ptx_variable *v = m->variables[i];
        dump_entry e = {.reference = v->name};
        if (v->type == PTX_TYPE_SAMPLERREF)
            dump_lose("sampler references are not carried over");
        else if ((v->type == PTX_TYPE_TEXREF || v->type == PTX_TYPE_SURFREF) && now.source->reference(now.source, v, &e.of))
            add_entry(e);
    }
}

/* ------------------------------------------------------------ writing */

static const char *format_name(uint32_t format)
{
    static const char *const names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "f16", "f32"};
    return names[format];
}

static char letter(const dump_entry *e)
{
    return e->of.surface ? 's' : 't';
}

static bool sees_all(const dump_entry *e)
{
    const dump_image *x = &now.images[e->image];
    return e->format == x->format && e->channels == x->channels && e->first_level == 0 && e->last_level == x->levels - 1 && e->first_layer == 0 &&
           e->last_layer == layers_of(&x->desc) - 1;
}

/* The entry that the case gives an image's texels to; -1: a surface for this alone. */
static int owner_of(int image)
{
    bool surfaces = false;
    for (int i = 0; i < now.nentries; i++) {
        const dump_entry *e = &now.entries[i];
        if (e->image == image && e->of.surface && sees_all(e))
            return i;
        surfaces |= e->image == image && e->of.surface;
    }
    for (int i = 0; i < now.nentries && !surfaces; i++)
        if (now.entries[i].image == image && sees_all(&now.entries[i]))
            return i;
    return -1;
}

/* Does an image go to a surface for it alone? */
static bool is_apart(int image)
{
    return now.images[image].before && owner_of(image) < 0;
}

static void name_owner(int image, char *name, size_t room)
{
    int owner = owner_of(image);
    if (owner >= 0)
        snprintf(name, room, "%c%d", letter(&now.entries[owner]), owner);
    else
        snprintf(name, room, "image%d", image);
}

void dump_print_entry(FILE *f, int entry)
{
    const dump_entry *e = &now.entries[entry];
    fprintf(f, "\"%s\": \"%c%d\"", e->of.surface ? "surface" : "texture", letter(e), entry);
}

void dump_print_real(FILE *f, float value)
{
    if (value == 0 && signbit(value))
        fprintf(f, "-0.0");        /* -0 is an integer to JSON, without a sign */
    else if (isfinite(value))
        fprintf(f, "%.9g", (double)value);
    else
        fprintf(f, "\"%s\"", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

/* Border colours are floats, or integers where reads give integers. */
static void print_border(FILE *f, const pxl_texture *t)
{
    const char *comma = "";
    fprintf(f, ", \"border\": [");
    for (uint32_t i = 0; i < 4; i++, comma = ", ") {
        float value;
        memcpy(&value, &t->border[i], sizeof value);
        fprintf(f, "%s", comma);
        if (t->format < PXL_TEXEL_F16 && t->read == PXL_READ_ELEMENT)
            fprintf(f, "%" PRId64, t->format & 1 ? (int64_t)(int32_t)t->border[i] : (int64_t)t->border[i]);
        else
            dump_print_real(f, value);
    }
    fprintf(f, "]");
}

static void print_levels_of_detail(FILE *f, const pxl_texture *t)
{
    fprintf(f, ", \"mipmap_filter\": \"%s\", \"lod_bias\": ", t->mip_filter ? "linear" : "point");
    dump_print_real(f, t->lod_bias);
    fprintf(f, ", \"min_lod\": ");
    dump_print_real(f, t->lod_min);
    fprintf(f, ", \"max_lod\": ");
    dump_print_real(f, t->lod_max);
}

static void print_sampler(FILE *f, const dump_entry *e)
{
    static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};
    pxl_texture t = pxl_texture_describe(0, 1, 1, 1, e->format, e->channels);
    if (e->of.surface)
        return;
    if (dr_apply_sampler(&e->of.desc, e->normalised, &t)) {
        dump_lose("a texture's sampler is not carried over");
        return;
    }
    fprintf(f, ", \"address\": [\"%s\", \"%s\", \"%s\"], \"filter\": \"%s\"", modes[t.address[0]], modes[t.address[1]], modes[t.address[2]],
            t.filter ? "linear" : "point");
    fprintf(f, ", \"normalized_coords\": %s, \"read\": \"%s\"", t.normalized ? "true" : "false", t.read ? "normalized_float" : "element");
    if (t.address[0] == PXL_ADDRESS_BORDER || t.address[1] == PXL_ADDRESS_BORDER || t.address[2] == PXL_ADDRESS_BORDER)
        print_border(f, &t);
    if (t.srgb)
        fprintf(f, ", \"srgb\": true");
    if (e->image >= 0 && e->last_level > e->first_level)
        print_levels_of_detail(f, &t);
}

/* "kind": the arrays' of the same name; "shape": level 0 as an array. */
static void print_geometry(FILE *f, const dump_image *x)
{
    const cu_array3d_desc *d = &x->desc;
    bool layered = d->flags & CUABI_CUDA_ARRAY3D_LAYERED, cube = d->flags & CUABI_CUDA_ARRAY3D_CUBEMAP;
    const char *kind = cube ? (layered ? "cube_layered" : "cube") : layered ? (d->height ? "2d_layered" : "1d_layered") : d->depth ? "3d" : d->height ? "2d" : "1d";
    fprintf(f, "\"format\": \"%s\", \"kind\": \"%s\", \"shape\": [", format_name(x->format), kind);
    if (d->depth)
        fprintf(f, "%zu, ", d->depth);
    if (d->height)
        fprintf(f, "%zu, ", d->height);
    fprintf(f, "%zu, %u]", d->width, x->channels);
    if (x->levels > 1)
        fprintf(f, ", \"levels\": %u", x->levels);
}

static void print_texels(FILE *f, int image)
{
    const dump_image *x = &now.images[image];
    char name[64];
    snprintf(name, sizeof name, "case%" PRIu64 "_image%d.bin", now.number, image);
    if (!dump_write_file(name, x->before, x->bytes))
        dump_lose("%s could not be written", name);
    fprintf(f, "{\"raw\": \"%s\", ", name);
    print_geometry(f, x);
}

/* Another's texels. */
static void print_alias(FILE *f, const dump_entry *e)
{
    const dump_image *x = &now.images[e->image];
    char name[32];
    name_owner(e->image, name, sizeof name);
    fprintf(f, "{\"image\": \"%s\"", name);
    if (e->format != x->format || e->channels != x->channels)
        fprintf(f, ", \"format\": \"%s\", \"channels\": %u", format_name(e->format), e->channels);
    if (e->first_level != 0 || e->last_level != x->levels - 1)
        fprintf(f, ", \"first_level\": %u, \"last_level\": %u", e->first_level, e->last_level);
    if (e->first_layer != 0 || e->last_layer != layers_of(&x->desc) - 1)
        fprintf(f, ", \"first_layer\": %u, \"last_layer\": %u", e->first_layer, e->last_layer);
}

static void print_memory(FILE *f, const dump_entry *e)
{
    const cu_resource *r = &e->of.resource;
    const uint32_t texel = pxl_texel_bytes(e->format, e->channels);
    fprintf(f, "{\"buffer\": \"b%d\", \"buffer_offset\": %" PRIu64 ", \"format\": \"%s\", ", e->piece,
            r->of.linear.address - now.pieces[e->piece].base, format_name(e->format));
    if (r->type == CUABI_CU_RESOURCE_TYPE_LINEAR)
        fprintf(f, "\"shape\": [%zu, %u]", r->of.linear.bytes / texel, e->channels);
    else
        fprintf(f, "\"shape\": [%zu, %zu, %u]", r->of.pitched.height, r->of.pitched.width, e->channels);
    if (r->type == CUABI_CU_RESOURCE_TYPE_PITCH2D && r->of.pitched.height > 1)     /* the pitch of a single row means nothing */
        fprintf(f, ", \"pitch\": %zu", r->of.pitched.pitch);
}

static void print_section(FILE *f, bool surfaces)
{
    const char *comma = "";
    bool any = false;
    for (int i = 0; i < now.nentries; i++)
        any |= now.entries[i].of.surface == surfaces;
    for (int i = 0; i < now.nimages && surfaces; i++)
        any |= is_apart(i);
    if (!any)
        return;
    fprintf(f, "  \"%s\": {", surfaces ? "surfaces" : "textures");
    for (int i = 0; i < now.nentries; i++) {
        const dump_entry *e = &now.entries[i];
        if (e->of.surface != surfaces)
            continue;
        fprintf(f, "%s\n    \"%c%d\": ", comma, letter(e), i);
        if (e->piece >= 0)
            print_memory(f, e);
        else if (owner_of(e->image) == i)
            print_texels(f, e->image);
        else
            print_alias(f, e);
        print_sampler(f, e);
        fprintf(f, "}");
        comma = ",";
    }
    for (int i = 0; i < now.nimages && surfaces; i++) {
        if (!is_apart(i))
            continue;
        fprintf(f, "%s\n    \"image%d\": ", comma, i);
        print_texels(f, i);
        fprintf(f, "}");
        comma = ",";
    }
    fprintf(f, "\n  },\n");
}

void dump_print_images(FILE *f)
{
    print_section(f, false);
    print_section(f, true);
}

void dump_print_references(FILE *f, const char **comma)
{
    for (int i = 0; i < now.nentries; i++) {
        if (!now.entries[i].reference)
            continue;
        fprintf(f, "%s\n    \"%s\": {\"zeros\": {\"dtype\": \"u64\", \"shape\": [1]}, \"pointers\": [{\"offset\": 0, ", *comma, now.entries[i].reference);
        dump_print_entry(f, i);
        fprintf(f, "}]}");
        *comma = ",";
    }
}

void dump_print_image_expectations(FILE *f, const char **comma)
{
    for (int i = 0; i < now.nimages; i++) {
        const dump_image *x = &now.images[i];
        unsigned char *after = x->before ? malloc(x->bytes) : NULL;
        char name[64], owner[32];
        snprintf(name, sizeof name, "case%" PRIu64 "_image%d_after.bin", now.number, i);
        name_owner(i, owner, sizeof owner);
        if (x->before && (!after || !read_image(x, after)))
            dump_lose("an array of %" PRIu64 " bytes could not be read after the launch", x->bytes);
        else if (x->before && memcmp(after, x->before, x->bytes) != 0) {
            if (!dump_write_file(name, after, x->bytes))
                dump_lose("%s could not be written", name);
            if (owner[0] == 't')
                dump_lose("an array that only textures of the case lead to has changed");
            else
                fprintf(f, "%s\n    {\"surface\": \"%s\", \"raw\": \"%s\"}", *comma, owner, name);
            *comma = owner[0] == 't' ? *comma : ",";
        }
        free(after);
    }
}

void dump_free_images(void)
{
    for (int i = 0; i < now.nimages; i++)
        free(now.images[i].before);
    now.nimages = now.nentries = 0;
}
