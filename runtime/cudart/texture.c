/* texture.c - texture and surface objects: the driver's, with descriptions converted both ways. */
#include <string.h>
#include "runtime/cudart/internal.h"

static cudart_error convert_resource(const cudart_resource *from, cu_resource *to)
{
    *to = (cu_resource){.type = (uint32_t)from->type};
    switch (from->type) {
    case RT_cudaResourceTypeArray:
        to->of.array = from->of.array;
        return RT_cudaSuccess;
    case RT_cudaResourceTypeMipmappedArray:
        to->of.mipmap = from->of.mipmap;
        return RT_cudaSuccess;
    case RT_cudaResourceTypeLinear:
        to->of.linear.address = (cu_address)(uintptr_t)from->of.linear.base;
        to->of.linear.bytes = from->of.linear.bytes;
        return format_of(&from->of.linear.channels, &to->of.linear.format, &to->of.linear.channels)
                   ? RT_cudaSuccess
                   : RT_cudaErrorInvalidChannelDescriptor;
    case RT_cudaResourceTypePitch2D:
        to->of.pitched.address = (cu_address)(uintptr_t)from->of.pitch2d.base;
        to->of.pitched.width = from->of.pitch2d.width;
        to->of.pitched.height = from->of.pitch2d.height;
        to->of.pitched.pitch = from->of.pitch2d.pitch;
        return format_of(&from->of.pitch2d.channels, &to->of.pitched.format, &to->of.pitched.channels)
                   ? RT_cudaSuccess
                   : RT_cudaErrorInvalidChannelDescriptor;
    default:
        return RT_cudaErrorInvalidValue;
    }
}

static void give_resource(const cu_resource *from, cudart_resource *to)
{
    memset(to, 0, sizeof *to);
    to->type = (int32_t)from->type;
    switch (from->type) {
    case CUABI_CU_RESOURCE_TYPE_LINEAR:
        to->of.linear.base = (void *)(uintptr_t)from->of.linear.address;
        to->of.linear.bytes = from->of.linear.bytes;
        channels_of(from->of.linear.format, from->of.linear.channels, &to->of.linear.channels);
        break;
    case CUABI_CU_RESOURCE_TYPE_PITCH2D:
        to->of.pitch2d.base = (void *)(uintptr_t)from->of.pitched.address;
        to->of.pitch2d.width = from->of.pitched.width;
        to->of.pitch2d.height = from->of.pitched.height;
        to->of.pitch2d.pitch = from->of.pitched.pitch;
        channels_of(from->of.pitched.format, from->of.pitched.channels, &to->of.pitch2d.channels);
        break;
    default:
        to->of.array = from->of.array;
    }
}

/* ------------------------------------------------------------ textures */

typedef struct flag_pair { int given; uint32_t flag; } flag_pair;

/* Integers are read as such unless normalised floats are asked for: the driver's flag is the negation of the runtime's mode. */
static void convert_texture(const cudart_texture *from, cu_texture_desc *to)
{
    *to = (cu_texture_desc){.filter = (uint32_t)from->filter, .max_anisotropy = from->max_anisotropy,
                            .mip_filter = (uint32_t)from->mip_filter, .mip_bias = from->mip_bias, .mip_min = from->mip_min,
                            .mip_max = from->mip_max};
    memcpy(to->address, from->address, sizeof to->address);
    memcpy(to->border, from->border, sizeof to->border);
    const flag_pair pairs[] = {{from->read == RT_cudaReadModeElementType, CUABI_CU_TRSF_READ_AS_INTEGER},
                               {from->normalized, CUABI_CU_TRSF_NORMALIZED_COORDINATES},
                               {from->srgb, CUABI_CU_TRSF_SRGB},
                               {from->no_trilinear_optimization, CUABI_CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION},
                               {from->seamless_cubemap, CUABI_CU_TRSF_SEAMLESS_CUBEMAP}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        to->flags |= pairs[i].given ? pairs[i].flag : 0;
}

static void give_texture(const cu_texture_desc *from, cudart_texture *to)
{
    *to = (cudart_texture){.filter = (int32_t)from->filter, .max_anisotropy = from->max_anisotropy,
                           .mip_filter = (int32_t)from->mip_filter, .mip_bias = from->mip_bias, .mip_min = from->mip_min,
                           .mip_max = from->mip_max};
    memcpy(to->address, from->address, sizeof to->address);
    memcpy(to->border, from->border, sizeof to->border);
    to->read = from->flags & CUABI_CU_TRSF_READ_AS_INTEGER ? RT_cudaReadModeElementType : RT_cudaReadModeNormalizedFloat;
    to->normalized = !!(from->flags & CUABI_CU_TRSF_NORMALIZED_COORDINATES);
    to->srgb = !!(from->flags & CUABI_CU_TRSF_SRGB);
    to->no_trilinear_optimization = !!(from->flags & CUABI_CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
    to->seamless_cubemap = !!(from->flags & CUABI_CU_TRSF_SEAMLESS_CUBEMAP);
}

static cudart_error create_texture(cu_object *out, const cudart_resource *resource, const cudart_texture *texture,
                                   const cudart_view *view)
{
    if (!out || !resource || !texture)
        return RT_cudaErrorInvalidValue;
    cu_resource converted;
    cu_texture_desc desc;
    cu_view_desc seen = {0};
    TRY(enter());
    TRY(convert_resource(resource, &converted));
    convert_texture(texture, &desc);
    if (view)                            /* the same fields; 12 has no room at the end */
        memcpy(&seen, view, sizeof *view);
    return driver.cuTexObjectCreate(out, (const cu_resource_desc *)(const void *)&converted, &desc, view ? &seen : NULL);
}

API cudart_error cudaCreateTextureObject(cu_object *out, const cudart_resource *resource, const cudart_texture *texture,
                                         const cudart_view *view)
{
    return record(create_texture(out, resource, texture, view));
}

API cudart_error cudaDestroyTextureObject(cu_object texture)
{
    return CALL(texture ? driver.cuTexObjectDestroy(texture) : sound());
}

API cudart_error cudaGetTextureObjectResourceDesc(cudart_resource *out, cu_object texture)
{
    cu_resource resource = {0};
    cudart_error error = CALL(driver.cuTexObjectGetResourceDesc((cu_resource_desc *)(void *)&resource, texture));
    if (!error)
        give_resource(&resource, out);
    return error;
}

API cudart_error cudaGetTextureObjectTextureDesc(cudart_texture *out, cu_object texture)
{
    cu_texture_desc desc = {0};
    cudart_error error = CALL(driver.cuTexObjectGetTextureDesc(&desc, texture));
    if (!error)
        give_texture(&desc, out);
    return error;
}

API cudart_error cudaGetTextureObjectResourceViewDesc(cudart_view *out, cu_object texture)
{
    cu_view_desc view = {0};
    cudart_error error = CALL(driver.cuTexObjectGetResourceViewDesc(&view, texture));
    if (!error)
        memcpy(out, &view, sizeof *out);
    return error;
}

/* ------------------------------------------------------------ surfaces */

API cudart_error cudaCreateSurfaceObject(cu_object *out, const cudart_resource *resource)
{
    cu_resource converted;
    if (!out || !resource || resource->type != RT_cudaResourceTypeArray)
        return record(RT_cudaErrorInvalidValue);
    cudart_error error = convert_resource(resource, &converted);
    return error ? record(error) : CALL(driver.cuSurfObjectCreate(out, (const cu_resource_desc *)(const void *)&converted));
}

API cudart_error cudaDestroySurfaceObject(cu_object surface)
{
    return CALL(surface ? driver.cuSurfObjectDestroy(surface) : sound());
}

API cudart_error cudaGetSurfaceObjectResourceDesc(cudart_resource *out, cu_object surface)
{
    cu_resource resource = {0};
    cudart_error error = CALL(driver.cuSurfObjectGetResourceDesc((cu_resource_desc *)(void *)&resource, surface));
    if (!error)
        give_resource(&resource, out);
    return error;
}
