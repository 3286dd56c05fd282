/* array.c - arrays, mipmapped arrays and descriptions of channels. */
#include <string.h>
#include "runtime/cudart/internal.h"

/* ------------------------------------------------------------ channels */

typedef struct format_row { uint32_t format; int bits; int32_t kind; } format_row;

/* Numbers of CUarray_format. */
static const format_row plain_formats[] = {
    {CUABI_CU_AD_FORMAT_UNSIGNED_INT8, 8, RT_cudaChannelFormatKindUnsigned},
    {CUABI_CU_AD_FORMAT_UNSIGNED_INT16, 16, RT_cudaChannelFormatKindUnsigned},
    {CUABI_CU_AD_FORMAT_UNSIGNED_INT32, 32, RT_cudaChannelFormatKindUnsigned},
    {CUABI_CU_AD_FORMAT_SIGNED_INT8, 8, RT_cudaChannelFormatKindSigned},
    {CUABI_CU_AD_FORMAT_SIGNED_INT16, 16, RT_cudaChannelFormatKindSigned},
    {CUABI_CU_AD_FORMAT_SIGNED_INT32, 32, RT_cudaChannelFormatKindSigned},
    {CUABI_CU_AD_FORMAT_HALF, 16, RT_cudaChannelFormatKindFloat},
    {CUABI_CU_AD_FORMAT_FLOAT, 32, RT_cudaChannelFormatKindFloat}};
enum { PLAIN_FORMATS = sizeof plain_formats / sizeof *plain_formats };

/* cudaChannelFormatKindUnsignedNormalized8X1 … SignedNormalized16X4 are 5 to 16, the driver's formats 0xc0 to 0xcb in the same order. */
enum { NORMALIZED_FIRST_KIND = 5, NORMALIZED_LAST_KIND = 16, NORMALIZED_FIRST_FORMAT = 0xc0 };

bool format_of(const cudart_channels *c, uint32_t *format, uint32_t *count)
{
    int bits[] = {c->x, c->y, c->z, c->w};
    uint32_t n = 0;
    while (n < 4 && bits[n])
        n++;
    for (uint32_t i = 0; i < 4; i++)
        if (bits[i] != (i < n ? bits[0] : 0))
            return false;
    if (n == 0 || n == 3)
        return false;
    *count = n;
    if (c->kind >= NORMALIZED_FIRST_KIND && c->kind <= NORMALIZED_LAST_KIND) {
        *format = (uint32_t)(NORMALIZED_FIRST_FORMAT + c->kind - NORMALIZED_FIRST_KIND);
        return bits[0] == ((c->kind - NORMALIZED_FIRST_KIND) / 3 % 2 ? 16 : 8);
    }
    for (int i = 0; i < PLAIN_FORMATS; i++)
        if (plain_formats[i].bits == bits[0] && plain_formats[i].kind == c->kind) {
            *format = plain_formats[i].format;
            return true;
        }
    return false;
}

static int bits_of(uint32_t format, int32_t *kind)
{
    if (format >= NORMALIZED_FIRST_FORMAT && format <= NORMALIZED_FIRST_FORMAT + NORMALIZED_LAST_KIND - NORMALIZED_FIRST_KIND) {
        *kind = (int32_t)(format - NORMALIZED_FIRST_FORMAT) + NORMALIZED_FIRST_KIND;
        return (format - NORMALIZED_FIRST_FORMAT) / 3 % 2 ? 16 : 8;
    }
    for (int i = 0; i < PLAIN_FORMATS; i++)
        if (plain_formats[i].format == format) {
            *kind = plain_formats[i].kind;
            return plain_formats[i].bits;
        }
    *kind = RT_cudaChannelFormatKindNone;
    return 0;
}

void channels_of(uint32_t format, uint32_t count, cudart_channels *c)
{
    *c = (cudart_channels){0};
    int bits = bits_of(format, &c->kind);
    int *to[] = {&c->x, &c->y, &c->z, &c->w};
    for (uint32_t i = 0; i < count && i < 4; i++)
        *to[i] = bits;
}

uint32_t element_bytes(uint32_t format, uint32_t channels)
{
    int32_t kind;
    return (uint32_t)bits_of(format, &kind) / 8 * channels;
}

API cudart_channels cudaCreateChannelDesc(int x, int y, int z, int w, int32_t kind)
{
    return (cudart_channels){x, y, z, w, kind};
}

/* ------------------------------------------------------------ arrays */

static cudart_error describe(const cudart_channels *channels, cudart_extent extent, uint32_t flags, cu_array3d_desc *out)
{
    *out = (cu_array3d_desc){.width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
    if (!channels)
        return RT_cudaErrorInvalidValue;
    return format_of(channels, &out->format, &out->channels) ? RT_cudaSuccess : RT_cudaErrorInvalidChannelDescriptor;
}

API cudart_error cudaMalloc3DArray(cu_array *array, const cudart_channels *channels, cudart_extent extent, uint32_t flags)
{
    cu_array3d_desc desc;
    cudart_error error = array ? describe(channels, extent, flags, &desc) : RT_cudaErrorInvalidValue;
    if (error)
        return record(error);
    *array = NULL;
    return CALL(driver.cuArray3DCreate_v2(array, &desc));
}

API cudart_error cudaMallocArray(cu_array *array, const cudart_channels *channels, size_t width, size_t height, uint32_t flags)
{
    return cudaMalloc3DArray(array, channels, (cudart_extent){width, height, 0}, flags);
}

API cudart_error cudaFreeArray(cu_array array)
{
    return CALL(array ? driver.cuArrayDestroy(array) : sound());
}

API cudart_error cudaMallocMipmappedArray(cu_mipmap *mipmap, const cudart_channels *channels, cudart_extent extent, uint32_t levels,
                                          uint32_t flags)
{
    cu_array3d_desc desc;
    cudart_error error = mipmap ? describe(channels, extent, flags, &desc) : RT_cudaErrorInvalidValue;
    if (error)
        return record(error);
    *mipmap = NULL;
    return CALL(driver.cuMipmappedArrayCreate(mipmap, &desc, levels));
}

API cudart_error cudaFreeMipmappedArray(cu_mipmap mipmap)
{
    return CALL(mipmap ? driver.cuMipmappedArrayDestroy(mipmap) : sound());
}

API cudart_error cudaGetMipmappedArrayLevel(cu_array *array, cu_mipmap mipmap, uint32_t level)
{
    return CALL(driver.cuMipmappedArrayGetLevel(array, mipmap, level));
}

API cudart_error cudaArrayGetInfo(cudart_channels *channels, cudart_extent *extent, uint32_t *flags, cu_array array)
{
    cu_array3d_desc desc = {0};
    cudart_error error = CALL(driver.cuArray3DGetDescriptor_v2(&desc, array));
    if (error)
        return error;
    if (channels)
        channels_of(desc.format, desc.channels, channels);
    if (extent)
        *extent = (cudart_extent){desc.width, desc.height, desc.depth};
    if (flags)
        *flags = desc.flags;
    return RT_cudaSuccess;
}

API cudart_error cudaGetChannelDesc(cudart_channels *channels, cu_array array)
{
    return channels ? cudaArrayGetInfo(channels, NULL, NULL, array) : record(RT_cudaErrorInvalidValue);
}

API cudart_error cudaArrayGetPlane(cu_array *plane, cu_array array, uint32_t index)
{
    return CALL(driver.cuArrayGetPlane(plane, array, index));
}

API cudart_error cudaArrayGetMemoryRequirements(void *requirements, cu_array array, int device)
{
    return CALL(driver.cuArrayGetMemoryRequirements(requirements, array, device));
}

API cudart_error cudaMipmappedArrayGetMemoryRequirements(void *requirements, cu_mipmap mipmap, int device)
{
    return CALL(driver.cuMipmappedArrayGetMemoryRequirements(requirements, mipmap, device));
}

API cudart_error cudaArrayGetSparseProperties(void *properties, cu_array array)
{
    return CALL(driver.cuArrayGetSparseProperties(properties, array));
}

API cudart_error cudaMipmappedArrayGetSparseProperties(void *properties, cu_mipmap mipmap)
{
    return CALL(driver.cuMipmappedArrayGetSparseProperties(properties, mipmap));
}
