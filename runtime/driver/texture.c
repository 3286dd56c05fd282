/* texture.c - cuTexObject… and cuSurfObject…: a resource, a sampler and a view become one descriptor of ptx/lib/texture.h. */
#include "runtime/driver/texture.h"

#include <stdlib.h>
#include <string.h>

typedef struct dr_texture {
    dr_object head;
    dr_device *device;
    dr_context *context;
    pxb_handle handle;
    bool surface, has_view;
    cu_resource resource;
    cu_texture_desc desc;
    cu_view_desc view;
    struct dr_texture *next;       /* all */
} dr_texture;

static pthread_mutex_t texture_lock = PTHREAD_MUTEX_INITIALIZER;
static dr_texture *textures;

/* ------------------------------------------------------------ from resources to descriptors */

static void describe_level(pxl_texture *t, uint32_t level, const dr_array *a, uint64_t base)
{
    t->offset[level] = a->base - base;
    t->pitch[level] = a->pitch;
    t->slice[level] = a->slice;
}

static void describe_shape(pxl_texture *t, const cu_array3d_desc *d)
{
    bool layered = d->flags & (CUABI_CUDA_ARRAY3D_LAYERED | CUABI_CUDA_ARRAY3D_CUBEMAP);
    t->width = (uint32_t)d->width;
    t->height = d->height ? (uint32_t)d->height : 1;
    t->depth = layered || !d->depth ? 1 : (uint32_t)d->depth;
    t->layers = layered ? (uint32_t)d->depth : 1;
    t->cube = (d->flags & CUABI_CUDA_ARRAY3D_CUBEMAP) != 0;
}

static cu_result describe_array(const dr_array *a, pxl_texture *t, bool *normalised)
{
    if (!a)
        return DR_ERROR(INVALID_HANDLE);
    t->base = a->base;
    describe_shape(t, &a->desc);
    describe_level(t, 0, a, a->base);
    return dr_format_of(a->desc.format, a->desc.channels, &t->format, &t->channels, normalised) ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

static cu_result describe_mipmap(const dr_mipmap *m, pxl_texture *t, bool *normalised)
{
    if (!m)
        return DR_ERROR(INVALID_HANDLE);
    t->base = m->base;
    t->levels = m->nlevels;
    describe_shape(t, &m->desc);
    for (uint32_t i = 0; i < m->nlevels; i++)
        describe_level(t, i, m->levels[i], m->base);
    return dr_format_of(m->desc.format, m->desc.channels, &t->format, &t->channels, normalised) ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* Texels in memory of the program's own. */
static cu_result describe_memory(cu_address address, uint32_t format, uint32_t channels, size_t width, size_t height, size_t pitch,
                                 pxl_texture *t, bool *normalised)
{
    dr_range range;
    if (!address || !dr_format_of(format, channels, &t->format, &t->channels, normalised))
        return DR_ERROR(INVALID_VALUE);
    uint32_t texel = pxl_texel_bytes(t->format, t->channels);
    if (width == 0 || width > 1u << 28 || height == 0 || height > 1u << 26 || address % pxl_channel_bytes(t->format) ||
        (height > 1 && (pitch < width * texel || pitch % pxl_channel_bytes(t->format))))
        return DR_ERROR(INVALID_VALUE);
    if (!dr_range_find(address, &range))
        return dr_fail(DR_ERROR(INVALID_VALUE), "a texture over 0x%llx, where no memory of CUDA is", (unsigned long long)address);
    uint64_t room = range.bytes - (address - range.base);
    if ((height > 1 && pitch > room / (height - 1)) || width * texel > room - (height - 1) * pitch)
        return dr_fail(DR_ERROR(INVALID_VALUE), "a texture of %zu x %zu texels over %llu bytes of memory", width, height, (unsigned long long)room);
    t->base = address;
    t->width = (uint32_t)width;
    t->height = (uint32_t)height;
    t->pitch[0] = height > 1 ? pitch : width * texel;
    t->slice[0] = t->pitch[0] * height;
    return CUABI_SUCCESS;
}

cu_result dr_describe_resource(const cu_resource *r, pxl_texture *t, bool *normalised, dr_context **owner)
{
    *t = pxl_texture_describe(0, 1, 1, 1, PXL_TEXEL_U8, 1);
    *owner = NULL;
    switch (r->type) {
    case CUABI_CU_RESOURCE_TYPE_ARRAY: {
        const dr_array *a = dr_object_of(r->of.array, DR_ARRAY);
        *owner = a ? a->context : NULL;
        return describe_array(a, t, normalised);
    }
    case CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
        const dr_mipmap *m = dr_object_of(r->of.mipmap, DR_MIPMAP);
        *owner = m ? m->context : NULL;
        return describe_mipmap(m, t, normalised);
    }
    case CUABI_CU_RESOURCE_TYPE_LINEAR: {
        uint32_t texel, channels;
        if (!dr_format_of(r->of.linear.format, r->of.linear.channels, &texel, &channels, normalised))
            return DR_ERROR(INVALID_VALUE);
        return describe_memory(r->of.linear.address, r->of.linear.format, r->of.linear.channels,
                               r->of.linear.bytes / pxl_texel_bytes(texel, channels), 1, 0, t, normalised);
    }
    case CUABI_CU_RESOURCE_TYPE_PITCH2D:
        return describe_memory(r->of.pitched.address, r->of.pitched.format, r->of.pitched.channels, r->of.pitched.width, r->of.pitched.height,
                               r->of.pitched.pitch, t, normalised);
    }
    return DR_ERROR(INVALID_VALUE);
}

/* ------------------------------------------------------------ views */

/* Kinds of three, with 1, 2 and 4 channels. */
bool dr_view_format(uint32_t format, uint32_t *texel, uint32_t *channels)
{
    static const uint32_t kinds[] = {PXL_TEXEL_U8, PXL_TEXEL_S8, PXL_TEXEL_U16, PXL_TEXEL_S16, PXL_TEXEL_U32, PXL_TEXEL_S32, PXL_TEXEL_F16,
                                     PXL_TEXEL_F32};
    if (format < 1 || format > CUABI_CU_RES_VIEW_FORMAT_FLOAT_4X32)
        return false;
    *texel = kinds[(format - 1) / 3];
    *channels = 1u << (format - 1) % 3;
    return true;
}

static cu_result apply_view(const cu_view_desc *v, pxl_texture *t)
{
    uint32_t texel, channels;
    if (v->format != CUABI_CU_RES_VIEW_FORMAT_NONE) {
        if (!dr_view_format(v->format, &texel, &channels))
            return dr_fail(DR_ERROR(NOT_SUPPORTED), "a view of block-compressed texels (format %u)", v->format);
        if (pxl_texel_bytes(texel, channels) != pxl_texel_bytes(t->format, t->channels))
            return DR_ERROR(INVALID_VALUE);
        t->format = texel;
        t->channels = channels;
    }
    return pxl_texture_view(t, v->first_level, v->last_level, v->first_layer, v->last_layer) ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* ------------------------------------------------------------ samplers */

static uint32_t border_bits(float value, bool is_float)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return is_float ? bits : value < 0 ? (uint32_t)(int32_t)value : (uint32_t)value;
}

cu_result dr_apply_sampler(const cu_texture_desc *d, bool normalised, pxl_texture *t)
{
    bool integer = t->format < PXL_TEXEL_F16, narrow = t->format <= PXL_TEXEL_S16;
    const uint32_t known = CUABI_CU_TRSF_READ_AS_INTEGER | CUABI_CU_TRSF_NORMALIZED_COORDINATES | CUABI_CU_TRSF_SRGB |
                           CUABI_CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CUABI_CU_TRSF_SEAMLESS_CUBEMAP;
    if ((d->flags & ~known) || d->filter > 1 || d->mip_filter > 1)
        return DR_ERROR(INVALID_VALUE);
    t->normalized = (d->flags & CUABI_CU_TRSF_NORMALIZED_COORDINATES) != 0;
    t->read = narrow && (normalised || !(d->flags & CUABI_CU_TRSF_READ_AS_INTEGER)) ? PXL_READ_NORMALIZED : PXL_READ_ELEMENT;
    t->filter = d->filter;
    t->mip_filter = d->mip_filter;
    t->srgb = (d->flags & CUABI_CU_TRSF_SRGB) && t->format == PXL_TEXEL_U8 && t->read == PXL_READ_NORMALIZED;
    if (t->filter == PXL_FILTER_LINEAR && integer && t->read == PXL_READ_ELEMENT)
        return DR_ERROR(INVALID_VALUE);
    for (int i = 0; i < 3; i++) {
        if (d->address[i] > PXL_ADDRESS_BORDER)
            return DR_ERROR(INVALID_VALUE);
        /* Wrap and mirror mean something for normalised coordinates only; the hardware clamps otherwise. */
        bool turns = d->address[i] == PXL_ADDRESS_WRAP || d->address[i] == PXL_ADDRESS_MIRROR;
        t->address[i] = turns && !t->normalized ? PXL_ADDRESS_CLAMP : d->address[i];
    }
    for (int i = 0; i < 4; i++)
        t->border[i] = border_bits(d->border[i], !integer || t->read == PXL_READ_NORMALIZED);
    t->lod_bias = d->mip_bias;
    t->lod_min = d->mip_min;
    t->lod_max = d->mip_max;
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ handles */

cu_result dr_handle_new(dr_device *d, const pxl_texture *t, pxb_handle *out)
{
    const rt_device_ops *ops = d->device->ops;
    if (!ops->descriptor)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "textures on \"%s\"", d->choice);
    pthread_mutex_lock(&d->lock);
    pxb_status status = ops->descriptor(d->device, t, out);
    cu_result result = dr_fail_pxb(d->pxb, status, "texture");
    pthread_mutex_unlock(&d->lock);
    return result;
}

void dr_handle_free(dr_device *d, pxb_handle handle)
{
    pthread_mutex_lock(&d->lock);
    d->device->ops->handle_destroy(d->device, handle);
    pthread_mutex_unlock(&d->lock);
}

static cu_result make(dr_context *c, const pxl_texture *t, const cu_resource *resource, const cu_texture_desc *desc, const cu_view_desc *view,
                      bool surface, cu_object *out)
{
    dr_texture *x = dr_object_new(DR_TEXTURE, sizeof *x);
    if (!x)
        return DR_ERROR(OUT_OF_MEMORY);
    x->device = c->device;
    x->context = c;
    x->resource = *resource;
    x->surface = surface;
    x->has_view = view != NULL;
    if (desc)
        x->desc = *desc;
    if (view)
        x->view = *view;
    cu_result result = dr_handle_new(c->device, t, &x->handle);
    if (result) {
        dr_object_free(x, DR_TEXTURE);
        return result;
    }
    pthread_mutex_lock(&texture_lock);
    x->next = textures;
    textures = x;
    pthread_mutex_unlock(&texture_lock);
    *out = x->handle;
    return CUABI_SUCCESS;
}

bool dr_texture_object(uint64_t handle, const dr_device *device, dr_dump_object *out)
{
    bool found = false;
    pthread_mutex_lock(&texture_lock);
    for (const dr_texture *x = textures; x && !found; x = x->next) {
        found = x->handle == handle && x->device == device;
        if (found)
            *out = (dr_dump_object){.surface = x->surface, .has_view = x->has_view, .resource = x->resource, .desc = x->desc, .view = x->view};
    }
    pthread_mutex_unlock(&texture_lock);
    return found;
}

void dr_texture_bounds(uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    pthread_mutex_lock(&texture_lock);
    for (const dr_texture *x = textures; x; x = x->next) {
        *low = x->handle < *low ? x->handle : *low;
        *high = x->handle > *high ? x->handle : *high;
    }
    pthread_mutex_unlock(&texture_lock);
}

void dr_textures_leave(dr_context *c)
{
    for (;;) {
        dr_texture *found = NULL;
        pthread_mutex_lock(&texture_lock);
        for (dr_texture **p = &textures; *p; p = &(*p)->next)
            if ((*p)->context == c) {
                found = *p;
                *p = found->next;
                break;
            }
        pthread_mutex_unlock(&texture_lock);
        if (!found)
            return;
        dr_handle_free(found->device, found->handle);
        dr_object_free(found, DR_TEXTURE);
    }
}

static cu_result destroy(cu_object handle, bool surface)
{
    dr_texture *found = NULL;
    DR_USE(c);
    pthread_mutex_lock(&texture_lock);
    for (dr_texture **p = &textures; *p && !found; p = &(*p)->next)
        if ((*p)->handle == handle && (*p)->surface == surface && (*p)->device == c->device) {
            found = *p;
            *p = found->next;
            break;
        }
    pthread_mutex_unlock(&texture_lock);
    if (!found)
        return DR_ERROR(INVALID_VALUE);
    dr_context_wait(found->context);
    dr_handle_free(found->device, found->handle);
    dr_object_free(found, DR_TEXTURE);
    return CUABI_SUCCESS;
}

/* A copy of what a handle was made from. */
static cu_result look_up(cu_object handle, bool surface, dr_texture *out)
{
    bool found = false;
    DR_USE(c);
    pthread_mutex_lock(&texture_lock);
    for (dr_texture *x = textures; x && !found; x = x->next)
        if (x->handle == handle && x->surface == surface) {
            memcpy((char *)out + sizeof out->head, (char *)x + sizeof x->head, sizeof *x - sizeof x->head);
            found = true;
        }
    pthread_mutex_unlock(&texture_lock);
    return found ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

_Static_assert(sizeof(cu_resource) == sizeof(cu_resource_desc), "two descriptions of CUDA_RESOURCE_DESC");

cu_result impl_cuTexObjectCreate(cu_object *texture, const cu_resource_desc *resource, const cu_texture_desc *desc, const cu_view_desc *view)
{
    DR_NEED(texture && resource && desc);
    DR_USE(c);
    cu_resource r;
    pxl_texture t;
    dr_context *owner;
    bool normalised;
    memcpy(&r, resource, sizeof r);
    cu_result result = dr_describe_resource(&r, &t, &normalised, &owner);
    if (!result && view)
        result = r.type == CUABI_CU_RESOURCE_TYPE_ARRAY || r.type == CUABI_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY ? apply_view(view, &t)
                                                                                                            : DR_ERROR(INVALID_VALUE);
    if (!result)
        result = dr_apply_sampler(desc, normalised, &t);
    return result ? result : make(c, &t, &r, desc, view, false, texture);
}

cu_result impl_cuTexObjectDestroy(cu_object texture)
{
    return destroy(texture, false);
}

cu_result impl_cuTexObjectGetResourceDesc(cu_resource_desc *resource, cu_object texture)
{
    DR_NEED(resource);
    dr_texture x;
    cu_result result = look_up(texture, false, &x);
    if (!result)
        memcpy(resource, &x.resource, sizeof x.resource);
    return result;
}

cu_result impl_cuTexObjectGetTextureDesc(cu_texture_desc *desc, cu_object texture)
{
    DR_NEED(desc);
    dr_texture x;
    cu_result result = look_up(texture, false, &x);
    if (!result)
        *desc = x.desc;
    return result;
}

cu_result impl_cuTexObjectGetResourceViewDesc(cu_view_desc *view, cu_object texture)
{
    DR_NEED(view);
    dr_texture x;
    cu_result result = look_up(texture, false, &x);
    if (!result && !x.has_view)
        return DR_ERROR(INVALID_VALUE);
    if (!result)
        *view = x.view;
    return result;
}

cu_result impl_cuSurfObjectCreate(cu_object *surface, const cu_resource_desc *resource)
{
    DR_NEED(surface && resource);
    DR_USE(c);
    cu_resource r;
    pxl_texture t;
    dr_context *owner;
    bool normalised;
    memcpy(&r, resource, sizeof r);
    if (r.type != CUABI_CU_RESOURCE_TYPE_ARRAY)
        return DR_ERROR(INVALID_VALUE);
    cu_result result = dr_describe_resource(&r, &t, &normalised, &owner);
    if (result)
        return result;
    if (!(((const dr_array *)r.of.array)->desc.flags & CUABI_CUDA_ARRAY3D_SURFACE_LDST))
        return dr_fail(DR_ERROR(INVALID_VALUE), "a surface over an array that was not made for surfaces");
    t.surface = 1;
    return make(c, &t, &r, NULL, NULL, true, surface);
}

cu_result impl_cuSurfObjectDestroy(cu_object surface)
{
    return destroy(surface, true);
}

cu_result impl_cuSurfObjectGetResourceDesc(cu_resource_desc *resource, cu_object surface)
{
    DR_NEED(resource);
    dr_texture x;
    cu_result result = look_up(surface, true, &x);
    if (!result)
        memcpy(resource, &x.resource, sizeof x.resource);
    return result;
}
