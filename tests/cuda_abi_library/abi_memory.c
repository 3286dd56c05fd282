/* abi_memory.c - device memory, and arrays with their textures and surfaces. */
#include "abi.h"

#include <stdlib.h>
#include <string.h>

cu_result cuMemGetInfo_v2(size_t *left, size_t *total)
{
    ABI_BEGIN_IN(cuMemGetInfo_v2, c);
    *left = *total = (size_t)8 << 30;
    return CUABI_SUCCESS;
}

/* An allocation. */
typedef struct abi_block { cu_address address; size_t bytes; struct abi_block *next; } block;

cu_result cuMemAlloc_v2(cu_address *address, size_t bytes)
{
    ABI_BEGIN_IN(cuMemAlloc_v2, c);
    pxb_status status = pxb_memory_alloc(c->device, bytes, address);
    block *b = status ? NULL : malloc(sizeof *b);
    if (b) {
        *b = (block){*address, bytes, c->blocks};
        c->blocks = b;
    }
    return abi_result(status);
}

cu_result cuMemFree_v2(cu_address address)
{
    ABI_BEGIN_IN(cuMemFree_v2, c);
    for (block **p = &c->blocks; *p; p = &(*p)->next)
        if ((*p)->address == address) {
            block *b = *p;
            *p = b->next;
            free(b);
            break;
        }
    return abi_result(pxb_memory_free(c->device, address));
}

void abi_free_blocks(abi_context *c)
{
    while (c->blocks) {
        block *next = c->blocks->next;
        free(c->blocks);
        c->blocks = next;
    }
}

cu_result cuMemGetAddressRange_v2(cu_address *base, size_t *size, cu_address address)
{
    ABI_BEGIN_IN(cuMemGetAddressRange_v2, c);
    for (const block *b = c->blocks; b; b = b->next)
        if (address - b->address < b->bytes) {
            *base = b->address;
            *size = b->bytes;
            return CUABI_SUCCESS;
        }
    return CUABI_CUDA_ERROR_NOT_FOUND;
}

cu_result cuMemcpyHtoD_v2(cu_address to, const void *from, size_t bytes)
{
    ABI_BEGIN_IN(cuMemcpyHtoD_v2, c);
    return abi_result(pxb_memory_write(c->device, to, from, bytes));
}

cu_result cuMemcpyDtoH_v2(void *to, cu_address from, size_t bytes)
{
    ABI_BEGIN_IN(cuMemcpyDtoH_v2, c);
    return abi_result(pxb_memory_read(c->device, to, from, bytes));
}

/* A driver's result is undefined when the ranges overlap; here it is an error, so that the tests see it. */
cu_result cuMemcpyDtoD_v2(cu_address to, cu_address from, size_t bytes)
{
    ABI_BEGIN_IN(cuMemcpyDtoD_v2, c);
    if (to < from + bytes && from < to + bytes)
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    return abi_result(pxb_memory_copy(c->device, to, from, bytes));
}

cu_result cuMemsetD8_v2(cu_address to, uint8_t value, size_t bytes)
{
    ABI_BEGIN_IN(cuMemsetD8_v2, c);
    return abi_result(pxb_memory_set(c->device, to, value, bytes));
}

/* ------------------------------------------------------------ arrays */

typedef struct object {
    struct object *next;
    pxb_handle handle;
    bool surface;
} object;

typedef struct abi_array {
    pxb_image *image;
    pxb_image_desc desc;
    bool for_surfaces;
    object *objects;
    struct abi_array *next;
} array;

static bool texel_of(uint32_t format, pxb_texel *out)
{
    switch (format) {
    case CUABI_CU_AD_FORMAT_UNSIGNED_INT8: *out = PXB_TEXEL_U8; return true;
    case CUABI_CU_AD_FORMAT_UNSIGNED_INT16: *out = PXB_TEXEL_U16; return true;
    case CUABI_CU_AD_FORMAT_UNSIGNED_INT32: *out = PXB_TEXEL_U32; return true;
    case CUABI_CU_AD_FORMAT_SIGNED_INT8: *out = PXB_TEXEL_S8; return true;
    case CUABI_CU_AD_FORMAT_SIGNED_INT16: *out = PXB_TEXEL_S16; return true;
    case CUABI_CU_AD_FORMAT_SIGNED_INT32: *out = PXB_TEXEL_S32; return true;
    case CUABI_CU_AD_FORMAT_HALF: *out = PXB_TEXEL_F16; return true;
    case CUABI_CU_AD_FORMAT_FLOAT: *out = PXB_TEXEL_F32; return true;
    }
    return false;
}

cu_result cuArray3DCreate_v2(cu_array *out, const cu_array3d_desc *desc)
{
    ABI_BEGIN_IN(cuArray3DCreate_v2, c);
    pxb_texel texel;
    if (!texel_of(desc->format, &texel) || (desc->depth && !desc->height))
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    array *a = calloc(1, sizeof *a);
    if (!a)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    a->desc = (pxb_image_desc){.dims = desc->depth ? 3 : desc->height ? 2 : 1,
                               .width = (uint32_t)desc->width,
                               .height = desc->height ? (uint32_t)desc->height : 1,
                               .depth = desc->depth ? (uint32_t)desc->depth : 1,
                               .channels = desc->channels,
                               .texel = texel};
    a->for_surfaces = desc->flags & CUABI_CUDA_ARRAY3D_SURFACE_LDST;
    pxb_status status = pxb_image_create(c->device, &a->desc, &a->image);
    if (status) {
        free(a);
        return abi_result(status);
    }
    /* A driver's array holds what was there before. */
    size_t bytes = pxb_image_bytes(a->image);
    void *noise = malloc(bytes);
    if (noise) {
        memset(noise, 0xa5, bytes);
        pxb_image_write(a->image, noise, bytes);
        free(noise);
    }
    a->next = c->arrays;
    c->arrays = a;
    *out = a;
    return CUABI_SUCCESS;
}

static array *find_array(abi_context *c, cu_array handle)
{
    array *a = c->arrays;
    while (a && a != handle)
        a = a->next;
    return a;
}

static void free_array(array *a)
{
    while (a->objects) {
        object *next = a->objects->next;
        free(a->objects);
        a->objects = next;
    }
    pxb_image_destroy(a->image);
    free(a);
}

void abi_free_arrays(abi_context *c)
{
    while (c->arrays) {
        array *next = c->arrays->next;
        free_array(c->arrays);
        c->arrays = next;
    }
}

cu_result cuArrayDestroy(cu_array handle)
{
    ABI_BEGIN_IN(cuArrayDestroy, c);
    for (array **p = &c->arrays; *p; p = &(*p)->next) {
        array *a = *p;
        if (a != handle)
            continue;
        *p = a->next;
        free_array(a);
        return CUABI_SUCCESS;
    }
    return CUABI_CUDA_ERROR_INVALID_HANDLE;
}

/* Whole arrays from and to packed host memory: what runtime/cuda/ asks for. */
static bool whole(const array *a, const cu_memcpy3d *copy, const cu_copy_end *host)
{
    size_t row = pxb_image_bytes(a->image) / a->desc.height / a->desc.depth;
    return copy->width_bytes == row && copy->height == a->desc.height && copy->depth == a->desc.depth &&
           host->pitch == row && host->height == a->desc.height && !host->x_bytes && !host->y && !host->z && !host->lod;
}

cu_result cuMemcpy3D_v2(const cu_memcpy3d *copy)
{
    ABI_BEGIN_IN(cuMemcpy3D_v2, c);
    bool out = copy->source.memory_type == CUABI_CU_MEMORYTYPE_ARRAY;
    const cu_copy_end *host = out ? &copy->target : &copy->source, *device = out ? &copy->source : &copy->target;
    array *a = find_array(c, device->array);
    if (!a || host->memory_type != CUABI_CU_MEMORYTYPE_HOST || device->memory_type != CUABI_CU_MEMORYTYPE_ARRAY ||
        !whole(a, copy, host) || device->x_bytes || device->y || device->z || device->lod)
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    size_t bytes = pxb_image_bytes(a->image);
    return abi_result(out ? pxb_image_read(a->image, host->host.to, bytes)
                          : pxb_image_write(a->image, host->host.from, bytes));
}

/* ------------------------------------------------------------ objects */

static cu_result note_object(array *a, pxb_handle handle, bool surface, cu_object *out)
{
    object *o = calloc(1, sizeof *o);
    if (!o)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    *o = (object){a->objects, handle, surface};
    a->objects = o;
    *out = handle;
    return CUABI_SUCCESS;
}

static array *array_of(abi_context *c, const cu_resource_desc *resource)
{
    return resource->type == CUABI_CU_RESOURCE_TYPE_ARRAY && !resource->flags ? find_array(c, resource->resource.array)
                                                                              : NULL;
}

cu_result cuTexObjectCreate(cu_object *out, const cu_resource_desc *resource, const cu_texture_desc *desc, const void *view)
{
    ABI_BEGIN_IN(cuTexObjectCreate, c);
    array *a = array_of(c, resource);
    bool is_float = a && (a->desc.texel == PXB_TEXEL_F16 || a->desc.texel == PXB_TEXEL_F32);
    bool as_integer = desc->flags & CUABI_CU_TRSF_READ_AS_INTEGER;
    if (!a || view || desc->filter > 1 || (is_float && as_integer))
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    pxb_sampler s = {.filter = desc->filter ? PXB_FILTER_LINEAR : PXB_FILTER_POINT,
                     .read = is_float || as_integer ? PXB_READ_ELEMENT : PXB_READ_NORMALIZED_FLOAT,
                     .normalized_coords = desc->flags & CUABI_CU_TRSF_NORMALIZED_COORDINATES};
    for (int i = 0; i < 3; i++)
        s.address[i] = (pxb_address_mode)desc->address[i];
    pxb_handle handle = 0;
    pxb_status status = pxb_texture_create(a->image, &s, &handle);
    return status ? abi_result(status) : note_object(a, handle, false, out);
}

cu_result cuSurfObjectCreate(cu_object *out, const cu_resource_desc *resource)
{
    ABI_BEGIN_IN(cuSurfObjectCreate, c);
    array *a = array_of(c, resource);
    pxb_handle handle = 0;
    if (!a || !a->for_surfaces)
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    pxb_status status = pxb_surface_create(a->image, &handle);
    return status ? abi_result(status) : note_object(a, handle, true, out);
}

static cu_result destroy_object(abi_context *c, cu_object handle, bool surface)
{
    for (array *a = c->arrays; a; a = a->next) {
        for (object **p = &a->objects; *p; p = &(*p)->next) {
            object *o = *p;
            if (o->handle != handle || o->surface != surface)
                continue;
            *p = o->next;
            free(o);
            return abi_result(pxb_handle_destroy(a->image, handle));
        }
    }
    return CUABI_CUDA_ERROR_INVALID_HANDLE;
}

cu_result cuTexObjectDestroy(cu_object texture)
{
    ABI_BEGIN_IN(cuTexObjectDestroy, c);
    return destroy_object(c, texture, false);
}

cu_result cuSurfObjectDestroy(cu_object surface)
{
    ABI_BEGIN_IN(cuSurfObjectDestroy, c);
    return destroy_object(c, surface, true);
}
