/* case_texture.c - a case's textures and surfaces on the device.
 *
 * What the public interface can say (1D, 2D and 3D images of one level, each object seeing all of its image) is made through it, and so
 * runs on every device. Layers, cubes, levels, views, colours of borders and texels in buffers are descriptors of ptx/lib/texture.h over
 * device memory, for devices that have those.
 */
#include "runtime/case_live.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static pxb_status bad(const case_live *r, const case_array *a, const char *format, ...) RT_PRINTF(3, 4);

static pxb_status bad(const case_live *r, const case_array *a, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return rt_fail_at(r->ctx, PXB_BAD_INPUT, r->file->path, a->image.line, a->image.column, "%s \"%.80s\" %s", case_array_kind_name(a->kind), a->name,
                      reason);
}

/* ------------------------------------------------------------ what an image is */

/* Does it see all of another's texels as they are, with a sampler of the public interface? */
static bool sees_all(const case_image *x)
{
    return !x->extended && !x->has_format && !x->channels && !x->first_level && !x->first_layer && x->last_level == CASE_LAST &&
           x->last_layer == CASE_LAST;
}

static bool needs_descriptor(const case_live *r, const case_array *a)
{
    const case_image *x = &a->image;
    if (x->kind > CASE_3D || x->levels > 1 || x->extended)
        return true;
    for (uint32_t i = 0; i < r->file->narrays; i++)
        if (r->file->arrays[i].image.of == a && !sees_all(&r->file->arrays[i].image))
            return true;
    return false;
}

/* Format and extents of level 0, from the text or else from the array: 2 to 4 of them, the last one the channels. */
static pxb_status find_shape(const case_live *r, const case_resident *x, pxb_texel *texel, uint32_t *ndim, uint32_t n[4])
{
    const case_image *m = &x->array->image;
    const rt_array *data = &x->initial;
    const bool raw = x->array->source.kind == CASE_RAW && m->has_format;
    char text[128];
    rt_array_describe(data, text, sizeof text);
    *ndim = m->ndim ? m->ndim : data->ndim;
    if (*ndim < 2 || *ndim > 4)
        return bad(r, x->array, "is %s; it needs a shape (W,C), (H,W,C) or (D,H,W,C)", text);
    if (raw)
        *texel = m->format;
    else if (!case_texel_of_dtype(data->dtype, texel))
        return bad(r, x->array, "is %s; texels are u8 s8 u16 s16 u32 s32 f16 or f32", text);
    else if (m->has_format && m->format != *texel)
        return bad(r, x->array, "is %s, which its format does not match", text);
    for (uint32_t i = 0; i < *ndim; i++)
        n[i] = m->ndim ? m->shape[i] : data->shape[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)data->shape[i];
    return PXB_OK;
}

/* Kinds by their extents, without the channels. */
static const struct { const char *name, *shape; uint32_t extents; bool layered, cube; } kinds[] = {
    [CASE_1D] = {"1d", "(W,C)", 1, false, false},
    [CASE_2D] = {"2d", "(H,W,C)", 2, false, false},
    [CASE_3D] = {"3d", "(D,H,W,C)", 3, false, false},
    [CASE_1D_LAYERED] = {"1d_layered", "(L,W,C)", 2, true, false},
    [CASE_2D_LAYERED] = {"2d_layered", "(L,H,W,C)", 3, true, false},
    [CASE_CUBE] = {"cube", "(6,W,W,C)", 3, true, true},
    [CASE_CUBE_LAYERED] = {"cube_layered", "(6L,W,W,C)", 3, true, true},
};

static pxb_status find_kind(const case_live *r, const case_array *a, uint32_t ndim, const uint32_t n[4], case_image_kind *kind)
{
    *kind = a->image.kind ? a->image.kind : (case_image_kind)(CASE_1D + ndim - 2);
    bool square = n[0] % 6 == 0 && n[1] == n[2] && (*kind != CASE_CUBE || n[0] == 6);
    if (kinds[*kind].extents + 1 != ndim || (kinds[*kind].cube && !square))
        return bad(r, a, "has another shape than %s, which its kind \"%s\" has", kinds[*kind].shape, kinds[*kind].name);
    return PXB_OK;
}

/* Texels without gaps: level by level, in each layer by layer. */
static pxb_status lay_out(const case_live *r, const case_array *a, pxl_texture *t, uint64_t *bytes)
{
    const uint32_t texel = pxl_texel_bytes(t->format, t->channels);
    uint32_t largest = t->width > t->height ? t->width : t->height;
    if (t->depth > largest)
        largest = t->depth;
    if (t->levels > 1 && largest >> (t->levels - 1) == 0)
        return bad(r, a, "has %u levels; an image of this size has at most %d", t->levels, 32 - __builtin_clz(largest));
    *bytes = 0;
    for (uint32_t i = 0; i < t->levels; i++) {
        uint64_t w = t->width >> i ? t->width >> i : 1, h = t->height >> i ? t->height >> i : 1, d = t->depth >> i ? t->depth >> i : 1;
        uint64_t limit = r->ctx->array_limit, slices = d * t->layers;
        t->offset[i] = *bytes;
        t->pitch[i] = w * texel;
        t->slice[i] = h > limit / t->pitch[i] ? limit + 1 : t->pitch[i] * h;
        if (slices > limit / t->slice[i] || t->slice[i] * slices > limit - *bytes)
            return bad(r, a, "would be larger than the limit of %" PRIu64 " bytes", limit);
        *bytes += t->slice[i] * slices;
    }
    return PXB_OK;
}

/* Own texels, all checked but for the sampler. */
static pxb_status describe(const case_live *r, const case_resident *x, pxl_texture *out, uint32_t *dims)
{
    const case_array *a = x->array;
    uint32_t ndim, n[4] = {1, 1, 1, 1};
    uint64_t bytes = 0;
    pxb_texel texel;
    case_image_kind kind;
    pxb_status status = find_shape(r, x, &texel, &ndim, n);
    if (!status)
        status = find_kind(r, a, ndim, n, &kind);
    if (status)
        return status;
    uint32_t channels = n[ndim - 1], outer = n[0];
    for (uint32_t i = 0; i < ndim; i++)
        if (n[i] < 1 || n[i] > 1u << 28)
            return bad(r, a, "has an extent of %u; 1 to %u are possible", n[i], 1u << 28);
    if (channels != 1 && channels != 2 && channels != 4)
        return bad(r, a, "has %u channels; 1, 2 and 4 are possible", channels);
    const bool layered = kinds[kind].layered;
    *dims = kinds[kind].extents - layered;
    *out = pxl_texture_describe(0, n[ndim - 2], *dims > 1 ? n[ndim - 3] : 1, *dims > 2 ? outer : 1, texel, channels);
    out->layers = layered ? outer : 1;
    out->cube = kinds[kind].cube;
    out->levels = a->image.levels;
    out->surface = a->kind == CASE_SURFACE;
    status = lay_out(r, a, out, &bytes);
    if (!status && bytes != x->initial.bytes)
        status = bad(r, a, "is %zu bytes of texels, and %" PRIu64 " by its shape", x->initial.bytes, bytes);
    return status;
}

/* ------------------------------------------------------------ texels of others */

static pxb_status take_view(const case_live *r, const case_array *a, pxl_texture *t)
{
    const case_image *x = &a->image;
    const uint32_t bytes = pxl_texel_bytes(t->format, t->channels);
    const uint32_t last_level = x->last_level == CASE_LAST ? t->levels - 1 : x->last_level;
    const uint32_t last_layer = x->last_layer == CASE_LAST ? t->layers - 1 : x->last_layer;
    if (x->has_format)
        t->format = x->format;
    if (x->channels)
        t->channels = x->channels;
    if (t->channels == 3 || pxl_texel_bytes(t->format, t->channels) != bytes)
        return bad(r, a, "sees texels of %u bytes, and \"%.80s\" has texels of %u", pxl_texel_bytes(t->format, t->channels), x->of->name, bytes);
    t->surface = a->kind == CASE_SURFACE;
    return pxl_texture_view(t, x->first_level, last_level, x->first_layer, last_layer)
               ? PXB_OK
               : bad(r, a, "sees levels %u to %u and layers %u to %u; \"%.80s\" has %u and %u", x->first_level, last_level, x->first_layer,
                     last_layer, x->of->name, t->levels, t->layers);
}

static pxb_status describe_memory(const case_live *r, const case_array *a, const case_resident *buffer, pxl_texture *t)
{
    const case_image *x = &a->image;
    const uint32_t channels = x->shape[x->ndim - 1], width = x->shape[x->ndim - 2], height = x->ndim == 3 ? x->shape[0] : 1;
    if (channels != 1 && channels != 2 && channels != 4)
        return bad(r, a, "has %u channels; 1, 2 and 4 are possible", channels);
    *t = pxl_texture_describe(buffer->address + x->offset, width, height, 1, x->format, channels);
    const uint64_t row = t->pitch[0], size = buffer->initial.bytes;
    if (x->pitch) {
        t->pitch[0] = x->pitch;
        t->slice[0] = x->pitch * height;
    }
    if (t->pitch[0] < row || (x->offset | t->pitch[0]) % pxl_channel_bytes(x->format))
        return bad(r, a, "has rows of %" PRIu64 " bytes, %" PRIu64 " apart from byte %" PRIu64 ": they overlap, or components are not aligned", row,
                   t->pitch[0], x->offset);
    if (x->offset > size || row > size - x->offset || (height > 1 && t->pitch[0] > (size - x->offset - row) / (height - 1)))
        return bad(r, a, "does not lie in buffer \"%.80s\" of %" PRIu64 " bytes", x->of->name, size);
    t->surface = a->kind == CASE_SURFACE;
    return PXB_OK;
}

/* ------------------------------------------------------------ samplers */

static pxb_status take_border(const case_live *r, const case_array *a, pxl_texture *t)
{
    const bool integers = t->format < PXL_TEXEL_F16 && t->read == PXL_READ_ELEMENT;
    for (int i = 0; i < 4; i++) {
        double value = a->image.border[i];
        float rounded = (float)value;
        memcpy(&t->border[i], &rounded, sizeof rounded);
        if (integers && !(value >= INT32_MIN && value <= UINT32_MAX && value == floor(value)))
            return bad(r, a, "has a border of %g; reads give integers of 32 bits", value);
        if (integers)
            t->border[i] = (uint32_t)(int64_t)value;
    }
    return PXB_OK;
}

static pxb_status take_sampler(const case_live *r, const case_array *a, pxl_texture *t)
{
    const case_image *x = &a->image;
    if (a->kind == CASE_SURFACE)
        return PXB_OK;
    pxb_status status = rt_check_sampler(r->ctx, (pxb_texel)t->format, 3, &x->sampler);
    if (status)
        return bad(r, a, "cannot be sampled so: %s", pxb_last_error(r->ctx)->message);
    for (int i = 0; i < 3; i++)
        t->address[i] = x->sampler.address[i];
    t->filter = x->sampler.filter;
    t->read = x->sampler.read;
    t->normalized = x->sampler.normalized_coords;
    t->mip_filter = x->level_filter;
    t->lod_bias = x->lod_bias;
    t->lod_min = x->min_lod;
    t->lod_max = x->max_lod;
    t->srgb = x->srgb;
    if (x->srgb && (t->format != PXL_TEXEL_U8 || t->read != PXL_READ_NORMALIZED))
        return bad(r, a, "decodes sRGB from %s; that is for u8 texels that are read as normalized_float",
                   t->format == PXL_TEXEL_U8 ? "integers" : "other texels than u8");
    return take_border(r, a, t);
}

/* ------------------------------------------------------------ making them */

static pxb_status make_handle(case_live *r, case_resident *x)
{
    const rt_device_ops *ops = r->device->ops;
    pxb_status status = take_sampler(r, x->array, &x->texels);
    if (!status && !ops->descriptor)
        status = rt_fail(r->ctx, PXB_UNSUPPORTED,
                         "%s \"%.80s\": the device \"%s\" makes textures and surfaces of whole 1D, 2D and 3D images only",
                         case_array_kind_name(x->array->kind), x->array->name, ops->name);
    if (!status)
        status = ops->descriptor(r->device, &x->texels, &x->handle);
    x->made = !status;
    return status;
}

/* Through the public interface. */
static pxb_status make_plain_handle(const case_array *a, pxb_image *image, pxb_handle *out)
{
    return a->kind == CASE_TEXTURE ? pxb_texture_create(image, &a->image.sampler, out) : pxb_surface_create(image, out);
}

static pxb_status make_own(case_live *r, case_resident *x)
{
    pxl_texture t;
    uint32_t dims = 0;
    pxb_status status = describe(r, x, &t, &dims);
    if (status)
        return status;
    if (!needs_descriptor(r, x->array)) {
        const pxb_image_desc desc = {.dims = dims, .width = t.width, .height = t.height, .depth = t.depth, .channels = t.channels,
                                     .texel = (pxb_texel)t.format};
        status = pxb_image_create(r->device, &desc, &x->image);
        return status ? status : make_plain_handle(x->array, x->image, &x->handle);
    }
    status = pxb_memory_alloc(r->device, x->initial.bytes, &x->address);
    x->texels = t;
    x->texels.base = x->address;
    return status ? status : make_handle(r, x);
}

static pxb_status make_of_other(case_live *r, case_resident *x)
{
    const case_resident *of = case_resident_of(r, x->array->image.of);
    if (of->image)
        return make_plain_handle(x->array, of->image, &x->handle);
    x->texels = of->texels;
    pxb_status status = of->array->kind == CASE_BUFFER ? describe_memory(r, x->array, of, &x->texels) : take_view(r, x->array, &x->texels);
    return status ? status : make_handle(r, x);
}

pxb_status case_make_images(case_live *r)
{
    pxb_status status = PXB_OK;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < r->nresidents && !status; i++) {
            case_resident *x = &r->residents[i];
            const bool image = x->array->kind == CASE_TEXTURE || x->array->kind == CASE_SURFACE;
            if (image && x->array->image.own == (pass == 0))
                status = pass == 0 ? make_own(r, x) : make_of_other(r, x);
        }
    return status;
}
