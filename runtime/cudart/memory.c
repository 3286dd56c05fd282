/* memory.c - allocations of all kinds, pools, sets, what is known of a pointer. */
#include <string.h>
#include "runtime/cudart/internal.h"

enum { PITCH_ELEMENT = 4 };              /* cuMemAllocPitch's hint: 4, 8 or 16 */

static cu_address address_of(const void *pointer)
{
    return (cu_address)(uintptr_t)pointer;
}

/* ------------------------------------------------------------ allocations */

/* A size of 0 is no error for the runtime: the pointer is NULL. */
API cudart_error cudaMalloc(void **pointer, size_t bytes)
{
    if (!pointer)
        return record(RT_cudaErrorInvalidValue);
    *pointer = NULL;
    cu_address address = 0;
    cudart_error error = CALL(bytes ? driver.cuMemAlloc_v2(&address, bytes) : sound());
    *pointer = (void *)(uintptr_t)address;
    return error;
}

API cudart_error cudaFree(void *pointer)
{
    return CALL(pointer ? driver.cuMemFree_v2(address_of(pointer)) : sound());
}

API cudart_error cudaMallocHost(void **pointer, size_t bytes)
{
    if (!pointer)
        return record(RT_cudaErrorInvalidValue);
    *pointer = NULL;
    return CALL(bytes ? driver.cuMemHostAlloc(pointer, bytes, 0) : sound());
}

API cudart_error cudaHostAlloc(void **pointer, size_t bytes, uint32_t flags)
{
    if (!pointer)
        return record(RT_cudaErrorInvalidValue);
    *pointer = NULL;
    return CALL(bytes ? driver.cuMemHostAlloc(pointer, bytes, flags) : sound());
}

API cudart_error cudaFreeHost(void *pointer)
{
    return CALL(pointer ? driver.cuMemFreeHost(pointer) : sound());
}

API cudart_error cudaHostRegister(void *pointer, size_t bytes, uint32_t flags)
{
    return CALL(driver.cuMemHostRegister_v2(pointer, bytes, flags));
}

API cudart_error cudaHostUnregister(void *pointer)
{
    return CALL(driver.cuMemHostUnregister(pointer));
}

API cudart_error cudaHostGetDevicePointer(void **device, void *host, uint32_t flags)
{
    cu_address address = 0;
    cudart_error error = device ? CALL(driver.cuMemHostGetDevicePointer_v2(&address, host, flags)) : record(RT_cudaErrorInvalidValue);
    if (device)
        *device = (void *)(uintptr_t)address;
    return error;
}

API cudart_error cudaHostGetFlags(uint32_t *flags, void *pointer)
{
    return CALL(driver.cuMemHostGetFlags(flags, pointer));
}

API cudart_error cudaMallocManaged(void **pointer, size_t bytes, uint32_t flags)
{
    cu_address address = 0;
    if (!pointer || bytes == 0)
        return record(RT_cudaErrorInvalidValue);
    cudart_error error = CALL(driver.cuMemAllocManaged(&address, bytes, flags));
    *pointer = (void *)(uintptr_t)address;
    return error;
}

API cudart_error cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    cu_address address = 0;
    if (!pointer || !pitch)
        return record(RT_cudaErrorInvalidValue);
    *pointer = NULL;
    *pitch = 0;
    if (width == 0 || height == 0)
        return CALL(sound());
    cudart_error error = CALL(driver.cuMemAllocPitch_v2(&address, pitch, width, height, PITCH_ELEMENT));
    *pointer = (void *)(uintptr_t)address;
    return error;
}

API cudart_error cudaMalloc3D(cudart_pitched *out, cudart_extent extent)
{
    size_t rows;
    if (!out || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return record(RT_cudaErrorInvalidValue);
    *out = (cudart_pitched){.xsize = extent.width, .ysize = extent.height};
    return cudaMallocPitch(&out->ptr, &out->pitch, extent.width, rows);
}

API cudart_error cudaMemGetInfo(size_t *left, size_t *total)
{
    return CALL(driver.cuMemGetInfo_v2(left, total));
}

/* ------------------------------------------------------------ pools and allocations in stream order */

API cudart_error cudaMallocAsync(void **pointer, size_t bytes, cudart_stream stream)
{
    cu_address address = 0;
    if (!pointer)
        return record(RT_cudaErrorInvalidValue);
    cudart_error error = CALL(bytes ? driver.cuMemAllocAsync(&address, bytes, stream) : sound());
    *pointer = (void *)(uintptr_t)address;
    return error;
}
PTSZ(cudaMallocAsync, (void **pointer, size_t bytes, cudart_stream stream), (pointer, bytes, stream))

API cudart_error cudaMallocFromPoolAsync(void **pointer, size_t bytes, cu_pool pool, cudart_stream stream)
{
    cu_address address = 0;
    if (!pointer)
        return record(RT_cudaErrorInvalidValue);
    cudart_error error = CALL(bytes ? driver.cuMemAllocFromPoolAsync(&address, bytes, pool, stream) : sound());
    *pointer = (void *)(uintptr_t)address;
    return error;
}
PTSZ(cudaMallocFromPoolAsync, (void **pointer, size_t bytes, cu_pool pool, cudart_stream stream), (pointer, bytes, pool, stream))

API cudart_error cudaFreeAsync(void *pointer, cudart_stream stream)
{
    return CALL(pointer ? driver.cuMemFreeAsync(address_of(pointer), stream) : sound());
}
PTSZ(cudaFreeAsync, (void *pointer, cudart_stream stream), (pointer, stream))

API cudart_error cudaMemPoolTrimTo(cu_pool pool, size_t keep)
{
    return CALL(driver.cuMemPoolTrimTo(pool, keep));
}

API cudart_error cudaMemPoolSetAttribute(cu_pool pool, int32_t attribute, void *value)
{
    return CALL(driver.cuMemPoolSetAttribute(pool, attribute, value));
}

API cudart_error cudaMemPoolGetAttribute(cu_pool pool, int32_t attribute, void *value)
{
    return CALL(driver.cuMemPoolGetAttribute(pool, attribute, value));
}

API cudart_error cudaMemPoolSetAccess(cu_pool pool, const void *access, size_t count)
{
    return CALL(driver.cuMemPoolSetAccess(pool, access, count));
}

API cudart_error cudaMemPoolGetAccess(int32_t *flags, cu_pool pool, cudart_location *location)
{
    return CALL(driver.cuMemPoolGetAccess(flags, pool, (void *)location));
}

API cudart_error cudaMemPoolCreate(cu_pool *pool, const cudart_pool_props *props)
{
    return CALL(driver.cuMemPoolCreate(pool, (const void *)props));
}

API cudart_error cudaMemPoolDestroy(cu_pool pool)
{
    return CALL(driver.cuMemPoolDestroy(pool));
}

API cudart_error cudaDeviceGetDefaultMemPool(cu_pool *pool, int device)
{
    return CALL(driver.cuDeviceGetDefaultMemPool(pool, device));
}

API cudart_error cudaDeviceSetMemPool(int device, cu_pool pool)
{
    return CALL(driver.cuDeviceSetMemPool(device, pool));
}

API cudart_error cudaDeviceGetMemPool(cu_pool *pool, int device)
{
    return CALL(driver.cuDeviceGetMemPool(pool, device));
}

/* ------------------------------------------------------------ sets */

API cudart_error cudaMemset(void *pointer, int value, size_t bytes)
{
    return CALL(bytes ? driver.cuMemsetD8_v2(address_of(pointer), (uint8_t)value, bytes) : sound());
}

API cudart_error cudaMemsetAsync(void *pointer, int value, size_t bytes, cudart_stream stream)
{
    return CALL(bytes ? driver.cuMemsetD8Async(address_of(pointer), (uint8_t)value, bytes, stream) : sound());
}
PTSZ(cudaMemsetAsync, (void *pointer, int value, size_t bytes, cudart_stream stream), (pointer, value, bytes, stream))

API cudart_error cudaMemset_ptds(void *pointer, int value, size_t bytes)
{
    return cudaMemsetAsync(pointer, value, bytes, STREAM_PER_THREAD);
}

API cudart_error cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    return CALL(width && height ? driver.cuMemsetD2D8_v2(address_of(pointer), pitch, (uint8_t)value, width, height) : sound());
}

API cudart_error cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudart_stream stream)
{
    return CALL(width && height ? driver.cuMemsetD2D8Async(address_of(pointer), pitch, (uint8_t)value, width, height, stream) : sound());
}
PTSZ(cudaMemset2DAsync, (void *pointer, size_t pitch, int value, size_t width, size_t height, cudart_stream stream),
     (pointer, pitch, value, width, height, stream))

API cudart_error cudaMemset2D_ptds(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(pointer, pitch, value, width, height, STREAM_PER_THREAD);
}

/* A slice after the other: the rows of a slice are `ysize` apart, of which `height` are set. */
API cudart_error cudaMemset3DAsync(cudart_pitched to, int value, cudart_extent extent, cudart_stream stream)
{
    for (size_t z = 0; z < extent.depth; z++)
        TRY(cudaMemset2DAsync((char *)to.ptr + z * to.ysize * to.pitch, to.pitch, value, extent.width, extent.height, stream));
    return RT_cudaSuccess;
}
PTSZ(cudaMemset3DAsync, (cudart_pitched to, int value, cudart_extent extent, cudart_stream stream), (to, value, extent, stream))

API cudart_error cudaMemset3D(cudart_pitched to, int value, cudart_extent extent)
{
    for (size_t z = 0; z < extent.depth; z++)
        TRY(cudaMemset2D((char *)to.ptr + z * to.ysize * to.pitch, to.pitch, value, extent.width, extent.height));
    return RT_cudaSuccess;
}

API cudart_error cudaMemset3D_ptds(cudart_pitched to, int value, cudart_extent extent)
{
    return cudaMemset3DAsync(to, value, extent, STREAM_PER_THREAD);
}

/* ------------------------------------------------------------ pointers and managed memory */

/* The runtime's classes of memory are the driver's (1 host, 2 device), with managed memory apart. */
API cudart_error cudaPointerGetAttributes(cudart_pointer_attributes *out, const void *pointer)
{
    enum { TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, MANAGED = 8, ORDINAL = 9 };
    if (!out)
        return record(RT_cudaErrorInvalidValue);
    uint32_t type = 0, managed = 0;
    int ordinal = -2;
    cu_address device = 0;
    void *host = NULL;
    int32_t wanted[] = {TYPE, DEVICE_POINTER, HOST_POINTER, MANAGED, ORDINAL};
    void *values[] = {&type, &device, &host, &managed, &ordinal};
    cudart_error error = CALL(driver.cuPointerGetAttributes(5, wanted, values, address_of(pointer)));
    *out = (cudart_pointer_attributes){0};
    if (error)
        return error;
    out->type = managed ? RT_cudaMemoryTypeManaged : (int32_t)type;
    out->device = ordinal;
    out->device_pointer = (void *)(uintptr_t)device;
    out->host_pointer = host;
    if (type == 0) {                     /* the driver knows nothing of it */
        out->device = -2;
        out->device_pointer = NULL;
        out->host_pointer = (void *)(uintptr_t)pointer;
    }
    return RT_cudaSuccess;
}

API cudart_error cudaMemRangeGetAttribute(void *data, size_t size, int32_t attribute, const void *pointer, size_t bytes)
{
    return CALL(driver.cuMemRangeGetAttribute(data, size, attribute, address_of(pointer), bytes));
}

API cudart_error cudaMemRangeGetAttributes(void **data, size_t *sizes, int32_t *attributes, size_t count, const void *pointer,
                                           size_t bytes)
{
    return CALL(driver.cuMemRangeGetAttributes(data, sizes, attributes, count, address_of(pointer), bytes));
}

API cudart_error cudaStreamAttachMemAsync(cudart_stream stream, void *pointer, size_t bytes, uint32_t flags)
{
    return CALL(driver.cuStreamAttachMemAsync(stream, address_of(pointer), bytes, flags));
}
PTSZ(cudaStreamAttachMemAsync, (cudart_stream stream, void *pointer, size_t bytes, uint32_t flags), (stream, pointer, bytes, flags))

/* ------------------------------------------------------------ sharing with other processes */

API cudart_error cudaIpcGetEventHandle(cu_ipc *handle, cu_event event)
{
    return CALL(driver.cuIpcGetEventHandle((void *)handle, event));
}

API cudart_error cudaIpcOpenEventHandle(cu_event *event, cu_ipc handle)
{
    return CALL(driver.cuIpcOpenEventHandle(event, handle));
}

API cudart_error cudaIpcGetMemHandle(cu_ipc *handle, void *pointer)
{
    return CALL(driver.cuIpcGetMemHandle((void *)handle, address_of(pointer)));
}

API cudart_error cudaIpcOpenMemHandle(void **pointer, cu_ipc handle, uint32_t flags)
{
    return CALL(driver.cuIpcOpenMemHandle_v2((cu_address *)pointer, handle, flags));
}

API cudart_error cudaIpcCloseMemHandle(void *pointer)
{
    return CALL(driver.cuIpcCloseMemHandle(address_of(pointer)));
}
