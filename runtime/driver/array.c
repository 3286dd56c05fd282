/* array.c - cuArray… and cuMipmappedArray…: images in device memory whose layout the program does not see. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/array.h"

enum { LEVEL_ALIGNMENT = 512 };

bool dr_format_of(uint32_t format, uint32_t channels, uint32_t *texel, uint32_t *channels_out, bool *normalised)
{
    static const struct { uint32_t format, texel; } plain[] = {
        {CUABI_CU_AD_FORMAT_UNSIGNED_INT8, PXL_TEXEL_U8},   {CUABI_CU_AD_FORMAT_UNSIGNED_INT16, PXL_TEXEL_U16},
        {CUABI_CU_AD_FORMAT_UNSIGNED_INT32, PXL_TEXEL_U32}, {CUABI_CU_AD_FORMAT_SIGNED_INT8, PXL_TEXEL_S8},
        {CUABI_CU_AD_FORMAT_SIGNED_INT16, PXL_TEXEL_S16},   {CUABI_CU_AD_FORMAT_SIGNED_INT32, PXL_TEXEL_S32},
        {CUABI_CU_AD_FORMAT_HALF, PXL_TEXEL_F16},           {CUABI_CU_AD_FORMAT_FLOAT, PXL_TEXEL_F32},
    };
    *normalised = false;
    *channels_out = channels;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].format == format) {
            *texel = plain[i].texel;
            return channels == 1 || channels == 2 || channels == 4;
        }
    /* UNORM_INT8X1 … SNORM_INT16X4: three sizes of four kinds, always read as [0, 1] or [-1, 1] */
    if (format < CUABI_CU_AD_FORMAT_UNORM_INT8X1 || format > CUABI_CU_AD_FORMAT_SNORM_INT16X4)
        return false;
    static const uint32_t kinds[] = {PXL_TEXEL_U8, PXL_TEXEL_U16, PXL_TEXEL_S8, PXL_TEXEL_S16};
    uint32_t n = format - CUABI_CU_AD_FORMAT_UNORM_INT8X1;
    *texel = kinds[n / 3];
    *channels_out = 1u << n % 3;
    *normalised = true;
    return true;
}

static uint32_t at_level(size_t extent, uint32_t level)
{
    size_t n = extent >> level;
    return n ? (uint32_t)n : 1;
}

/* Sizes of a level; layers do not shrink. */
static void shape(dr_array *a, const cu_array3d_desc *d, uint32_t level)
{
    bool layered = d->flags & (CUABI_CUDA_ARRAY3D_LAYERED | CUABI_CUDA_ARRAY3D_CUBEMAP);
    a->width = at_level(d->width, level);
    a->height = at_level(d->height, level);
    a->layers = layered ? (uint32_t)d->depth : at_level(d->depth, level);
    a->pitch = (uint64_t)a->width * a->texel_bytes;
    a->slice = a->pitch * a->height;
    a->level = level;
    a->desc = *d;
    a->desc.width = a->width;
    a->desc.height = d->height ? a->height : 0;
    a->desc.depth = d->depth ? a->layers : 0;
}

/* Numbers of CUdevice_attribute: the largest width, height and depth or layers of each kind of image, as texture and as surface. */
static const struct { uint32_t cube, layered, dims; int texture[3], surface[3]; } limits[] = {
    {0, 0, 1, {21}, {55}},         {0, 0, 2, {22, 23}, {56, 57}}, {0, 0, 3, {24, 25, 26}, {58, 59, 60}}, {0, 1, 1, {42, 0, 43}, {61, 0, 62}},
    {0, 1, 2, {27, 28, 29}, {63, 64, 65}}, {1, 0, 2, {52, 52}, {66, 66}}, {1, 1, 2, {53, 53, 54}, {67, 67, 68}},
};
static const int gathered[3] = {45, 46}, alternative_3d[3] = {47, 48, 49};

static bool within(const cu_array3d_desc *d, const int attributes[3], const dr_device *device)
{
    const size_t extent[3] = {d->width, d->height, d->depth};
    int most;
    for (int i = 0; i < 3; i++)
        if (attributes[i] && !impl_cuDeviceGetAttribute(&most, attributes[i], device->ordinal) && extent[i] > (size_t)most)
            return false;
    return true;
}

/* cuda.h, cuArray3DCreate: the extents that must be met. */
static bool extents_exist(const cu_array3d_desc *d, const dr_device *device)
{
    bool cube = d->flags & CUABI_CUDA_ARRAY3D_CUBEMAP, layered = d->flags & CUABI_CUDA_ARRAY3D_LAYERED;
    uint32_t dims = cube ? 2 : d->depth && !layered ? 3 : d->height ? 2 : 1;
    bool exist = !(d->flags & CUABI_CUDA_ARRAY3D_TEXTURE_GATHER) || within(d, gathered, device);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].cube == cube && limits[i].layered == layered && limits[i].dims == dims) {
            exist &= within(d, limits[i].texture, device) || (dims == 3 && within(d, alternative_3d, device));
            exist &= !(d->flags & CUABI_CUDA_ARRAY3D_SURFACE_LDST) || within(d, limits[i].surface, device);
        }
    return exist;
}

static cu_result check(const cu_array3d_desc *d, const dr_device *device, uint32_t *texel_bytes)
{
    uint32_t texel, channels;
    bool normalised;
    const uint32_t known = CUABI_CUDA_ARRAY3D_LAYERED | CUABI_CUDA_ARRAY3D_SURFACE_LDST | CUABI_CUDA_ARRAY3D_CUBEMAP |
                           CUABI_CUDA_ARRAY3D_TEXTURE_GATHER;
    if (d->flags & ~0x1ffu)        /* what cuda.h knows */
        return DR_ERROR(INVALID_VALUE);
    if (d->flags & ~known)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "an array with flags 0x%x", d->flags);
    if (!dr_format_of(d->format, d->channels, &texel, &channels, &normalised))
        return dr_fail(d->channels == 3 || d->channels > 4 || !d->channels ? DR_ERROR(INVALID_VALUE) : DR_ERROR(NOT_SUPPORTED),
                       "an array of %u channels of format 0x%x", d->channels, d->format);
    if (!d->width)
        return DR_ERROR(INVALID_VALUE);
    bool cube = d->flags & CUABI_CUDA_ARRAY3D_CUBEMAP, layered = d->flags & CUABI_CUDA_ARRAY3D_LAYERED;
    if (cube && (d->width != d->height || (layered ? d->depth == 0 || d->depth % 6 : d->depth != 6)))
        return DR_ERROR(INVALID_VALUE);
    if ((layered || cube) ? d->depth == 0 : d->depth && !d->height)
        return DR_ERROR(INVALID_VALUE);
    if (!extents_exist(d, device))
        return dr_fail(DR_ERROR(INVALID_VALUE), "an array of %zu x %zu x %zu with flags 0x%x is larger than the device allows", d->width, d->height,
                       d->depth, d->flags);
    *texel_bytes = pxl_texel_bytes(texel, channels);
    return CUABI_SUCCESS;
}

static uint64_t bytes_of(const dr_array *a)
{
    return a->slice > UINT64_MAX / 4 / a->layers ? UINT64_MAX / 4 : a->slice * a->layers;
}

cu_result impl_cuArray3DCreate_v2(cu_array *array, const cu_array3d_desc *desc)
{
    DR_NEED(array && desc);
    DR_USE_UNCAPTURED(c);
    uint32_t texel_bytes;
    cu_result result = check(desc, c->device, &texel_bytes);
    dr_array *a = result ? NULL : dr_object_new(DR_ARRAY, sizeof *a);
    if (!a)
        return result ? result : DR_ERROR(OUT_OF_MEMORY);
    a->context = c;
    a->texel_bytes = texel_bytes;
    shape(a, desc, 0);
    a->desc = *desc;
    result = dr_memory_new(c, bytes_of(a), DR_MEMORY_DEVICE, 0, true, &a->base);
    if (result)
        dr_object_free(a, DR_ARRAY);
    else
        *array = a;
    return result;
}

cu_result impl_cuArrayCreate_v2(cu_array *array, const cu_array_desc *desc)
{
    DR_NEED(desc);
    cu_array3d_desc d = {.width = desc->width, .height = desc->height, .format = desc->format, .channels = desc->channels};
    return impl_cuArray3DCreate_v2(array, &d);
}

cu_result impl_cuArrayDestroy(cu_array array)
{
    DR_USE_UNCAPTURED(c);
    dr_array *a = dr_object_of(array, DR_ARRAY);
    if (!a || a->mipmap)
        return DR_ERROR(INVALID_HANDLE);
    dr_context_wait(a->context);
    dr_memory_free(a->base, true);
    dr_object_free(a, DR_ARRAY);
    return CUABI_SUCCESS;
}

cu_result impl_cuArray3DGetDescriptor_v2(cu_array3d_desc *desc, cu_array array)
{
    DR_NEED(desc);
    DR_USE(c);
    dr_array *a = dr_object_of(array, DR_ARRAY);
    if (!a)
        return DR_ERROR(INVALID_HANDLE);
    *desc = a->desc;
    return CUABI_SUCCESS;
}

cu_result impl_cuArrayGetDescriptor_v2(cu_array_desc *desc, cu_array array)
{
    DR_NEED(desc);
    DR_USE(c);
    dr_array *a = dr_object_of(array, DR_ARRAY);
    if (!a)
        return DR_ERROR(INVALID_HANDLE);
    *desc = (cu_array_desc){a->desc.width, a->desc.height, a->desc.format, a->desc.channels};
    return CUABI_SUCCESS;
}

cu_result dr_array_end(const cu_copy_end *e, const cu_memcpy3d *copy, dr_end *out)
{
    const dr_array *a = dr_object_of(e->array, DR_ARRAY);
    if (!a)
        return DR_ERROR(INVALID_HANDLE);
    if (e->x_bytes > a->pitch || copy->width_bytes > a->pitch - e->x_bytes || e->y > a->height || copy->height > a->height - e->y ||
        e->z > a->layers || copy->depth > a->layers - e->z)
        return dr_fail(DR_ERROR(INVALID_VALUE), "a copy of %zu bytes x %zu x %zu at %zu, %zu, %zu leaves an array of %llu bytes x %u x %u",
                       copy->width_bytes, copy->height, copy->depth, e->x_bytes, e->y, e->z, (unsigned long long)a->pitch, a->height, a->layers);
    *out = (dr_end){.address = a->base + e->z * a->slice + e->y * a->pitch + e->x_bytes, .device = true, .owner = a->context->device,
                    .pitch = a->pitch, .slice = a->slice};
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ mipmaps */

static void drop_levels(dr_mipmap *m)
{
    for (uint32_t i = 0; i < m->nlevels; i++)
        dr_object_free(m->levels[i], DR_ARRAY);
}

/* Levels one after another; all in one allocation, so that a texture has one base. */
static cu_result place_levels(dr_mipmap *m, uint32_t texel_bytes, uint64_t *bytes)
{
    *bytes = 0;
    for (uint32_t i = 0; i < m->nlevels; i++) {
        dr_array *a = m->levels[i] = dr_object_new(DR_ARRAY, sizeof *a);
        if (!a)
            return DR_ERROR(OUT_OF_MEMORY);
        a->context = m->context;
        a->mipmap = m;
        a->texel_bytes = texel_bytes;
        shape(a, &m->desc, i);
        a->base = *bytes;              /* an offset until the memory is there */
        *bytes += (bytes_of(a) + LEVEL_ALIGNMENT - 1) & ~(uint64_t)(LEVEL_ALIGNMENT - 1);
    }
    return CUABI_SUCCESS;
}

cu_result impl_cuMipmappedArrayCreate(cu_mipmap *handle, const cu_array3d_desc *desc, uint32_t num_mipmap_levels)
{
    DR_NEED(handle && desc && num_mipmap_levels);
    DR_USE_UNCAPTURED(c);
    uint32_t texel_bytes, most = 1;
    uint64_t bytes;
    cu_result result = check(desc, c->device, &texel_bytes);
    dr_mipmap *m = result ? NULL : dr_object_new(DR_MIPMAP, sizeof *m);
    if (!m)
        return result ? result : DR_ERROR(OUT_OF_MEMORY);
    bool solid = !(desc->flags & (CUABI_CUDA_ARRAY3D_LAYERED | CUABI_CUDA_ARRAY3D_CUBEMAP));
    while (desc->width >> most || desc->height >> most || (solid && desc->depth >> most))
        most++;
    m->context = c;
    m->desc = *desc;
    m->nlevels = num_mipmap_levels < most ? num_mipmap_levels : most;
    m->nlevels = m->nlevels < PXL_TEXTURE_LEVELS ? m->nlevels : PXL_TEXTURE_LEVELS;
    result = place_levels(m, texel_bytes, &bytes);
    if (!result)
        result = dr_memory_new(c, bytes, DR_MEMORY_DEVICE, 0, true, &m->base);
    if (result) {
        drop_levels(m);
        dr_object_free(m, DR_MIPMAP);
        return result;
    }
    for (uint32_t i = 0; i < m->nlevels; i++)
        m->levels[i]->base += m->base;
    *handle = m;
    return CUABI_SUCCESS;
}

cu_result impl_cuMipmappedArrayGetLevel(cu_array *level_array, cu_mipmap mipmapped_array, uint32_t level)
{
    DR_NEED(level_array);
    DR_USE(c);
    dr_mipmap *m = dr_object_of(mipmapped_array, DR_MIPMAP);
    if (!m)
        return DR_ERROR(INVALID_HANDLE);
    if (level >= m->nlevels)
        return DR_ERROR(INVALID_VALUE);
    *level_array = m->levels[level];
    return CUABI_SUCCESS;
}

cu_result impl_cuMipmappedArrayDestroy(cu_mipmap mipmapped_array)
{
    DR_USE_UNCAPTURED(c);
    dr_mipmap *m = dr_object_of(mipmapped_array, DR_MIPMAP);
    if (!m)
        return DR_ERROR(INVALID_HANDLE);
    dr_context_wait(m->context);
    drop_levels(m);
    dr_memory_free(m->base, true);
    dr_object_free(m, DR_MIPMAP);
    return CUABI_SUCCESS;
}
