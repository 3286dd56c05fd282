/* cuda_image.c - images as CUDA arrays, textures and surfaces as CUDA's own objects.
 *
 * An array's layout is the driver's secret: texels go in and out by copies. Arrays are made for surface access, so
 * that one image serves both. A kernel takes the object's 64 bits as its handle.
 */
#include "runtime/cuda/cuda.h"

#include <stdlib.h>

_Static_assert((int)PXB_ADDRESS_WRAP == CUABI_CU_TR_ADDRESS_MODE_WRAP &&
                   (int)PXB_ADDRESS_CLAMP == CUABI_CU_TR_ADDRESS_MODE_CLAMP &&
                   (int)PXB_ADDRESS_MIRROR == CUABI_CU_TR_ADDRESS_MODE_MIRROR &&
                   (int)PXB_ADDRESS_BORDER == CUABI_CU_TR_ADDRESS_MODE_BORDER &&
                   (int)PXB_FILTER_POINT == CUABI_CU_TR_FILTER_MODE_POINT &&
                   (int)PXB_FILTER_LINEAR == CUABI_CU_TR_FILTER_MODE_LINEAR,
               "samplers have the driver's numbers");

static cu_array array_of(pxb_address image)
{
    return (cu_array)(uintptr_t)image;
}

static uint32_t format_of(pxb_texel texel)
{
    switch (texel) {
    case PXB_TEXEL_U8: return CUABI_CU_AD_FORMAT_UNSIGNED_INT8;
    case PXB_TEXEL_S8: return CUABI_CU_AD_FORMAT_SIGNED_INT8;
    case PXB_TEXEL_U16: return CUABI_CU_AD_FORMAT_UNSIGNED_INT16;
    case PXB_TEXEL_S16: return CUABI_CU_AD_FORMAT_SIGNED_INT16;
    case PXB_TEXEL_U32: return CUABI_CU_AD_FORMAT_UNSIGNED_INT32;
    case PXB_TEXEL_S32: return CUABI_CU_AD_FORMAT_SIGNED_INT32;
    case PXB_TEXEL_F16: return CUABI_CU_AD_FORMAT_HALF;
    case PXB_TEXEL_F32: return CUABI_CU_AD_FORMAT_FLOAT;
    }
    return 0;
}

static size_t row_bytes(const pxb_image_desc *d)
{
    return (size_t)d->width * d->channels * rt_texel_bytes(d->texel);
}

static void fill_end(cu_copy_end *end, const pxb_image_desc *d)
{
    end->memory_type = CUABI_CU_MEMORYTYPE_HOST;
    end->pitch = row_bytes(d);
    end->height = d->height;
}

static pxb_status copy(pxb_device *device, const pxb_image_desc *d, cu_memcpy3d *c, const char *doing)
{
    const cuda_state *s = cuda_state_of(device);
    c->width_bytes = row_bytes(d);
    c->height = d->height;
    c->depth = d->depth;
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_result result = s->cu->cuMemcpy3D_v2(c);
    cuda_leave(device);
    return result ? cuda_fail(device, result, doing) : PXB_OK;
}

pxb_status cuda_image_write(pxb_device *device, const pxb_image_desc *desc, pxb_address image, const void *from)
{
    cu_memcpy3d c = {0};
    fill_end(&c.source, desc);
    c.source.host.from = from;
    c.target.memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
    c.target.array = array_of(image);
    return copy(device, desc, &c, "writing an image");
}

pxb_status cuda_image_read(pxb_device *device, const pxb_image_desc *desc, pxb_address image, void *to)
{
    cu_memcpy3d c = {0};
    fill_end(&c.target, desc);
    c.target.host.to = to;
    c.source.memory_type = CUABI_CU_MEMORYTYPE_ARRAY;
    c.source.array = array_of(image);
    return copy(device, desc, &c, "reading an image");
}

static pxb_status clear(pxb_device *device, const pxb_image_desc *desc, pxb_address image)
{
    void *zeros = calloc((size_t)desc->height * desc->depth, row_bytes(desc));
    pxb_status status = zeros ? cuda_image_write(device, desc, image, zeros) : rt_no_memory(device->context);
    free(zeros);
    return status;
}

pxb_status cuda_image_create(pxb_device *device, const pxb_image_desc *desc, pxb_address *out)
{
    const cuda_state *s = cuda_state_of(device);
    cu_array array = NULL;
    cu_array3d_desc d = {
        .width = desc->width,
        .height = desc->dims > 1 ? desc->height : 0,
        .depth = desc->dims > 2 ? desc->depth : 0,
        .format = format_of(desc->texel),
        .channels = desc->channels,
        .flags = CUABI_CUDA_ARRAY3D_SURFACE_LDST,
    };
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_result result = s->cu->cuArray3DCreate_v2(&array, &d);
    cuda_leave(device);
    if (result)
        return cuda_fail(device, result, "making an image");
    *out = (uintptr_t)array;
    status = clear(device, desc, *out);
    if (status)
        cuda_image_destroy(device, *out);
    return status;
}

void cuda_image_destroy(pxb_device *device, pxb_address image)
{
    const cuda_state *s = cuda_state_of(device);
    if (s->lost || s->cu->cuCtxPushCurrent_v2(s->context))
        return; /* it goes with its context */
    s->cu->cuArrayDestroy(array_of(image));
    cuda_leave(device);
}

/* ------------------------------------------------------------ textures and surfaces */

static bool is_integer(pxb_texel texel)
{
    return texel != PXB_TEXEL_F16 && texel != PXB_TEXEL_F32;
}

/* Notes what kind of object a handle is: they are destroyed by different calls. */
static pxb_status note_handle(pxb_device *device, cu_object object, bool surface, pxb_handle *out)
{
    cuda_state *s = cuda_state_of(device);
    cuda_handle *more = realloc(s->handles, (s->nhandles + 1) * sizeof *more);
    if (!more) {
        if (surface)
            s->cu->cuSurfObjectDestroy(object);
        else
            s->cu->cuTexObjectDestroy(object);
        return rt_no_memory(device->context);
    }
    s->handles = more;
    more[s->nhandles++] = (cuda_handle){object, surface};
    *out = object;
    return PXB_OK;
}

pxb_status cuda_texture(pxb_device *device, const pxb_image_desc *desc, pxb_address image, const pxb_sampler *sampler,
                        pxb_handle *out)
{
    const cuda_state *s = cuda_state_of(device);
    cu_resource_desc resource = {.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .resource.array = array_of(image)};
    cu_texture_desc t = {.filter = sampler->filter};
    for (int i = 0; i < 3; i++)
        t.address[i] = (uint32_t)i < desc->dims ? sampler->address[i] : CUABI_CU_TR_ADDRESS_MODE_CLAMP;
    if (is_integer(desc->texel) && sampler->read == PXB_READ_ELEMENT)
        t.flags |= CUABI_CU_TRSF_READ_AS_INTEGER;
    if (sampler->normalized_coords)
        t.flags |= CUABI_CU_TRSF_NORMALIZED_COORDINATES;
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_object object = 0;
    cu_result result = s->cu->cuTexObjectCreate(&object, &resource, &t, NULL);
    status = result ? cuda_fail(device, result, "making a texture") : note_handle(device, object, false, out);
    cuda_leave(device);
    return status;
}

pxb_status cuda_surface(pxb_device *device, const pxb_image_desc *desc, pxb_address image, pxb_handle *out)
{
    (void)desc;
    const cuda_state *s = cuda_state_of(device);
    cu_resource_desc resource = {.type = CUABI_CU_RESOURCE_TYPE_ARRAY, .resource.array = array_of(image)};
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_object object = 0;
    cu_result result = s->cu->cuSurfObjectCreate(&object, &resource);
    status = result ? cuda_fail(device, result, "making a surface") : note_handle(device, object, true, out);
    cuda_leave(device);
    return status;
}

void cuda_handle_destroy(pxb_device *device, pxb_handle handle)
{
    cuda_state *s = cuda_state_of(device);
    size_t i = 0;
    while (i < s->nhandles && s->handles[i].object != handle)
        i++;
    if (i == s->nhandles)
        return;
    bool surface = s->handles[i].surface;
    s->handles[i] = s->handles[--s->nhandles];
    if (s->lost || s->cu->cuCtxPushCurrent_v2(s->context))
        return; /* it goes with its context */
    if (surface)
        s->cu->cuSurfObjectDestroy(handle);
    else
        s->cu->cuTexObjectDestroy(handle);
    cuda_leave(device);
}
