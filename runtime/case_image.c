/* case_image.c - textures and surfaces of a case file: what the text says of them. case_texture.c makes them. */
#include "runtime/case_json.h"

#include <string.h>
#include "ptx/lib/texture.h"

/* Keys of each way in which an image can be given; those of samplers follow where it is a texture. */
static const char *const own_keys[] = {"npy", "npz", "member", "raw", "png", "random", "zeros", "values", "format", "kind", "shape", "levels", NULL};
static const char *const image_keys[] = {"image", "format", "channels", "first_level", "last_level", "first_layer", "last_layer", NULL};
static const char *const buffer_keys[] = {"buffer", "buffer_offset", "format", "shape", "pitch", NULL};
static const char *const sampler_keys[] = {"address", "filter", "normalized_coords", "read", "border", "srgb", "mipmap_filter", "lod_bias", "min_lod",
                                           "max_lod", NULL};
static const char *const no_keys[] = {NULL};
enum { MOST_KEYS = 32 };
_Static_assert((sizeof own_keys + sizeof sampler_keys) / sizeof *own_keys <= MOST_KEYS, "all keys have room");

static pxb_status check_keys(const case_parser *p, const case_node *n, case_array_kind kind)
{
    const char *keys[MOST_KEYS];
    const char *const *from = json_object_get(n->json, "image") ? image_keys : json_object_get(n->json, "buffer") ? buffer_keys : own_keys;
    size_t count = 0;
    for (; *from; from++)
        keys[count++] = *from;
    for (from = kind == CASE_TEXTURE ? sampler_keys : no_keys; *from; from++)
        keys[count++] = *from;
    keys[count] = NULL;
    return case_check_keys(p, n, keys);
}

/* ------------------------------------------------------------ samplers */

static const char *const address_names[] = {"wrap", "clamp", "mirror", "border", NULL};
static const char *const filter_names[] = {"point", "linear", NULL};
static const char *const read_names[] = {"element", "normalized_float", NULL};

static pxb_status parse_address_modes(const case_parser *p, const case_node *n, pxb_sampler *s)
{
    int mode = PXB_ADDRESS_CLAMP;
    pxb_status status = PXB_OK;
    if (!json_is_array(n->json)) {
        status = case_choice(p, n, address_names, "address mode: wrap, clamp, mirror, border", &mode);
        for (int i = 0; i < 3; i++)
            s->address[i] = (pxb_address_mode)mode;
        return status;
    }
    if (json_array_size(n->json) < 1 || json_array_size(n->json) > 3)
        return case_fail(p, n, "1 to 3 address modes are wanted, one per dimension");
    for (int i = 0; i < 3 && !status; i++) {
        case_node e = case_element(n, (size_t)i);
        status = case_choice(p, &e, address_names, "address mode: wrap, clamp, mirror, border", &mode);
        s->address[i] = (pxb_address_mode)mode; /* the last one also for the dimensions that follow */
    }
    return status;
}

static pxb_status parse_border(const case_parser *p, const case_node *n, case_image *out)
{
    if (!n->json)
        return PXB_OK;
    pxb_status status = case_want(p, n, JSON_ARRAY, "a list of four numbers");
    if (!status && json_array_size(n->json) != 4)
        status = case_fail(p, n, "a border colour has four components");
    for (size_t i = 0; i < 4 && !status; i++) {
        case_node e = case_element(n, i);
        uint64_t bits;
        status = case_element_bits(p, &e, RT_F64, &bits);
        memcpy(&out->border[i], status ? &out->border[i] : (const void *)&bits, sizeof bits);
    }
    out->extended = true;
    return status;
}

static pxb_status parse_lod(const case_parser *p, const case_node *n, const char *key, case_image *image, float *out)
{
    case_node at = case_member(n, key);
    uint64_t bits = 0;
    if (!at.json)
        return PXB_OK;
    image->extended = true;
    pxb_status status = case_element_bits(p, &at, RT_F32, &bits);
    memcpy(out, &(uint32_t){(uint32_t)bits}, sizeof *out);
    return status;
}

/* What pxb_sampler does not have. */
static pxb_status parse_further(const case_parser *p, const case_node *n, case_image *out)
{
    case_node border = case_member(n, "border"), srgb = case_member(n, "srgb"), filter = case_member(n, "mipmap_filter");
    int filter_mode = PXB_FILTER_POINT;
    out->max_lod = PXL_TEXTURE_LEVELS;
    pxb_status status = parse_border(p, &border, out);
    if (!status && srgb.json)
        status = case_bool(p, &srgb, &out->srgb);
    if (!status)
        status = case_choice(p, &filter, filter_names, "filter: point, linear", &filter_mode);
    out->level_filter = (pxb_filter)filter_mode;
    out->extended |= filter.json || out->srgb;
    if (!status)
        status = parse_lod(p, n, "lod_bias", out, &out->lod_bias);
    if (!status)
        status = parse_lod(p, n, "min_lod", out, &out->min_lod);
    return status ? status : parse_lod(p, n, "max_lod", out, &out->max_lod);
}

static pxb_status parse_sampler(const case_parser *p, const case_node *n, case_image *out)
{
    case_node address = case_member(n, "address"), filter = case_member(n, "filter");
    case_node normalized = case_member(n, "normalized_coords"), read = case_member(n, "read");
    int filter_mode = PXB_FILTER_POINT, read_mode = PXB_READ_ELEMENT;
    pxb_status status = parse_address_modes(p, &address, &out->sampler);
    if (!status)
        status = case_choice(p, &filter, filter_names, "filter: point, linear", &filter_mode);
    if (!status)
        status = case_choice(p, &read, read_names, "read mode: element, normalized_float", &read_mode);
    if (!status && normalized.json)
        status = case_bool(p, &normalized, &out->sampler.normalized_coords);
    out->sampler.filter = (pxb_filter)filter_mode;
    out->sampler.read = (pxb_read_mode)read_mode;
    return status ? status : parse_further(p, n, out);
}

/* ------------------------------------------------------------ texels */

static pxb_status parse_small(const case_parser *p, const case_node *n, const char *key, uint32_t most, uint32_t *out)
{
    case_node at = case_member(n, key);
    uint64_t value = *out;
    pxb_status status = at.json ? case_unsigned(p, &at, most, &value) : PXB_OK;
    *out = status ? 0 : (uint32_t)value;
    return status;
}

static pxb_status parse_format(const case_parser *p, const case_node *n, case_image *out)
{
    case_node at = case_member(n, "format");
    const char *name = NULL;
    if (!at.json)
        return PXB_OK;
    pxb_status status = case_string(p, &at, &name);
    if (!status && !case_texel_from_name(name, &out->format))
        status = case_fail(p, &at, "\"%.40s\" is no texel format: u8 s8 u16 s16 u32 s32 f16 f32", name);
    out->has_format = true;
    return status;
}

static pxb_status parse_shape(const case_parser *p, const case_node *n, case_image *out)
{
    case_node at = case_member(n, "shape");
    if (!at.json)
        return PXB_OK;
    pxb_status status = case_want(p, &at, JSON_ARRAY, "a list of extents");
    if (!status && (json_array_size(at.json) < 2 || json_array_size(at.json) > 4))
        status = case_fail(p, &at, "the shape of an image has 2 to 4 extents, of which the last one is the channels");
    for (out->ndim = 0; !status && out->ndim < json_array_size(at.json); out->ndim++) {
        case_node e = case_element(&at, out->ndim);
        uint64_t extent = 0;
        status = case_unsigned(p, &e, 1u << 28, &extent);
        if (!status && extent == 0)
            status = case_fail(p, &e, "an extent must be at least 1");
        out->shape[out->ndim] = (uint32_t)extent;
    }
    return status;
}

static pxb_status parse_own(const case_parser *p, const case_node *n, case_array *out)
{
    static const char *const kinds[] = {"", "1d", "2d", "3d", "1d_layered", "2d_layered", "cube", "cube_layered", NULL};
    case_node kind = case_member(n, "kind"), levels = case_member(n, "levels");
    int kind_number = CASE_BY_SHAPE;
    out->image.own = true;
    pxb_status status = case_parse_source(p, n, &out->source);
    if (!status)
        status = case_choice(p, &kind, kinds, "kind of image: 1d, 2d, 3d, 1d_layered, 2d_layered, cube, cube_layered", &kind_number);
    if (!status && kind.json && kind_number == CASE_BY_SHAPE)
        status = case_fail(p, &kind, "\"\" is no kind of image: 1d, 2d, 3d, 1d_layered, 2d_layered, cube, cube_layered");
    out->image.kind = (case_image_kind)kind_number;
    if (!status)
        status = parse_small(p, n, "levels", PXL_TEXTURE_LEVELS, &out->image.levels);
    if (!status && out->image.levels == 0)
        status = case_fail(p, &levels, "an image has at least 1 level");
    if (!status && out->image.levels > 1 && !out->image.ndim)
        status = case_fail(p, n, "\"shape\", of level 0, is wanted beside \"levels\"");
    return status;
}

static pxb_status parse_view(const case_parser *p, const case_node *n, case_image *out)
{
    case_node channels = case_member(n, "channels");
    pxb_status status = parse_small(p, n, "channels", 4, &out->channels);
    if (!status && channels.json && out->channels != 1 && out->channels != 2 && out->channels != 4)
        status = case_fail(p, &channels, "a texel has 1, 2 or 4 channels");
    out->last_level = out->last_layer = CASE_LAST;
    if (!status)
        status = parse_small(p, n, "first_level", PXL_TEXTURE_LEVELS, &out->first_level);
    if (!status)
        status = parse_small(p, n, "last_level", CASE_LAST, &out->last_level);
    if (!status)
        status = parse_small(p, n, "first_layer", 1u << 28, &out->first_layer);
    return status ? status : parse_small(p, n, "last_layer", CASE_LAST, &out->last_layer);
}

static pxb_status parse_over_buffer(const case_parser *p, const case_node *n, case_image *out)
{
    case_node offset = case_member(n, "buffer_offset"), pitch = case_member(n, "pitch");
    if (!out->has_format || out->ndim < 2 || out->ndim > 3)
        return case_fail(p, n, "\"format\", and \"shape\" of [W, C] or [H, W, C], are wanted beside \"buffer\"");
    pxb_status status = offset.json ? case_unsigned(p, &offset, UINT64_MAX / 4, &out->offset) : PXB_OK;
    if (!status && pitch.json)
        status = case_unsigned(p, &pitch, UINT64_MAX / 4, &out->pitch);
    return status || !pitch.json || out->pitch ? status : case_fail(p, &pitch, "a pitch of 0 would give all rows the same texels");
}

pxb_status case_parse_image(const case_parser *p, const case_node *n, case_array *out)
{
    case_image *x = &out->image;
    x->levels = 1;
    case_position(p, n, &x->line, &x->column);
    pxb_status status = check_keys(p, n, out->kind);
    if (!status)
        status = parse_format(p, n, x);
    if (!status)
        status = parse_shape(p, n, x);
    if (!status && out->kind == CASE_TEXTURE)
        status = parse_sampler(p, n, x);
    if (status)
        return status;
    if (json_object_get(n->json, "image"))
        return parse_view(p, n, x);
    return json_object_get(n->json, "buffer") ? parse_over_buffer(p, n, x) : parse_own(p, n, out);
}

/* An image's name means a surface, or else a texture. */
pxb_status case_parse_image_source(const case_parser *p, const case_node *n, case_array *out)
{
    case_node image = case_member(n, "image"), buffer = case_member(n, "buffer"), *at = image.json ? &image : &buffer;
    const char *name = NULL;
    if (!at->json)
        return PXB_OK;
    pxb_status status = case_string(p, at, &name);
    if (status)
        return status;
    const case_array *of = at == &buffer ? case_find(p->file, CASE_BUFFER, name) : case_find(p->file, CASE_SURFACE, name);
    if (!of && at == &image)
        of = case_find(p->file, CASE_TEXTURE, name);
    if (!of)
        return case_fail(p, at, "there is no %s \"%.80s\" in this case", at == &buffer ? "buffer" : "surface or texture", name);
    if (of->kind != CASE_BUFFER && !of->image.own)
        return case_fail(p, at, "\"%.80s\" has no texels of its own", name);
    if (of->heap)
        return case_fail(p, at, "\"%.80s\" lies in the heap of kernels' malloc, which textures and surfaces do not reach", name);
    out->image.of = of;
    return PXB_OK;
}
