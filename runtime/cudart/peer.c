/* peer.c - copies between devices, and many copies by one call. */
#include <string.h>
#include "runtime/cudart/internal.h"

static cudart_error copy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes, bool now, cudart_stream stream)
{
    cu_context target, source;
    cu_address to_address = (cu_address)(uintptr_t)to, from_address = (cu_address)(uintptr_t)from;
    TRY(primary_of(to_device, &target));
    TRY(primary_of(from_device, &source));
    if (!bytes)
        return RT_cudaSuccess;
    return now ? driver.cuMemcpyPeer(to_address, target, from_address, source, bytes)
               : driver.cuMemcpyPeerAsync(to_address, target, from_address, source, bytes, stream);
}

API cudart_error cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return record(copy_peer(to, to_device, from, from_device, bytes, true, NULL));
}

API cudart_error cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, cudart_stream stream)
{
    return record(copy_peer(to, to_device, from, from_device, bytes, false, stream));
}

/* The driver's form has the contexts in the places that are reserved in cuMemcpy3D's. */
static cudart_error copy_peer_3d(const cudart_copy3d_peer *copy, bool now, cudart_stream stream)
{
    cu_memcpy3d converted;
    if (!copy)
        return RT_cudaErrorInvalidValue;
    cudart_copy3d same = {.source_array = copy->source_array, .source_pos = copy->source_pos, .source = copy->source,
                          .target_array = copy->target_array, .target_pos = copy->target_pos, .target = copy->target,
                          .extent = copy->extent, .kind = RT_cudaMemcpyDeviceToDevice};
    cu_context target, source;
    TRY(primary_of(copy->target_device, &target));
    TRY(primary_of(copy->source_device, &source));
    TRY(convert_copy(&same, &converted));
    converted.target.reserved = target;
    converted.source.reserved = source;
    if (!converted.width_bytes || !converted.height || !converted.depth)
        return RT_cudaSuccess;
    return now ? driver.cuMemcpy3DPeer(&converted) : driver.cuMemcpy3DPeerAsync(&converted, stream);
}

API cudart_error cudaMemcpy3DPeer(const cudart_copy3d_peer *copy)
{
    return record(copy_peer_3d(copy, true, NULL));
}

API cudart_error cudaMemcpy3DPeerAsync(const cudart_copy3d_peer *copy, cudart_stream stream)
{
    return record(copy_peer_3d(copy, false, stream));
}
PTSZ(cudaMemcpy3DPeerAsync, (const cudart_copy3d_peer *copy, cudart_stream stream), (copy, stream))

API cudart_error cudaMemcpy3DPeer_ptds(const cudart_copy3d_peer *copy)
{
    cudart_error error = cudaMemcpy3DPeerAsync(copy, STREAM_PER_THREAD);
    return error ? error : CALL(driver.cuStreamSynchronize(STREAM_PER_THREAD));
}

/* ------------------------------------------------------------ batches */

/* Attributes are the driver's. CUDA 12 has a place for the index of the copy that failed. */
#if CUDART_MAJOR >= 13
API cudart_error cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count, void *attributes, size_t *indices,
                                      size_t nattributes, cudart_stream stream)
{
    return CALL(driver.cuMemcpyBatchAsync_v2((cu_address *)(void *)to, (cu_address *)(void *)from, sizes, count, attributes, indices,
                                             nattributes, stream));
}
PTSZ(cudaMemcpyBatchAsync,
     (void **to, void **from, size_t *sizes, size_t count, void *attributes, size_t *indices, size_t nattributes, cudart_stream stream),
     (to, from, sizes, count, attributes, indices, nattributes, stream))

API cudart_error cudaMemcpy3DBatchAsync(size_t count, cu_batch_copy *copies, uint64_t flags, cudart_stream stream)
{
    return CALL(driver.cuMemcpy3DBatchAsync_v2(count, copies, flags, stream));
}
PTSZ(cudaMemcpy3DBatchAsync, (size_t count, cu_batch_copy *copies, uint64_t flags, cudart_stream stream), (count, copies, flags, stream))

API cudart_error cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count, cu_location *places, size_t *indices,
                                           size_t nplaces, uint64_t flags, cudart_stream stream)
{
    return CALL(driver.cuMemPrefetchBatchAsync((cu_address *)(void *)pointers, sizes, count, places, indices, nplaces, flags, stream));
}
PTSZ(cudaMemPrefetchBatchAsync,
     (void **pointers, size_t *sizes, size_t count, cu_location *places, size_t *indices, size_t nplaces, uint64_t flags, cudart_stream stream),
     (pointers, sizes, count, places, indices, nplaces, flags, stream))

API cudart_error cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count, uint64_t flags, cudart_stream stream)
{
    return CALL(driver.cuMemDiscardBatchAsync((cu_address *)(void *)pointers, sizes, count, flags, stream));
}
PTSZ(cudaMemDiscardBatchAsync, (void **pointers, size_t *sizes, size_t count, uint64_t flags, cudart_stream stream),
     (pointers, sizes, count, flags, stream))

API cudart_error cudaMemDiscardAndPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count, cu_location *places, size_t *indices,
                                                     size_t nplaces, uint64_t flags, cudart_stream stream)
{
    return CALL(driver.cuMemDiscardAndPrefetchBatchAsync((cu_address *)(void *)pointers, sizes, count, places, indices, nplaces, flags,
                                                         stream));
}
PTSZ(cudaMemDiscardAndPrefetchBatchAsync,
     (void **pointers, size_t *sizes, size_t count, cu_location *places, size_t *indices, size_t nplaces, uint64_t flags, cudart_stream stream),
     (pointers, sizes, count, places, indices, nplaces, flags, stream))
#else
API cudart_error cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count, void *attributes, size_t *indices,
                                      size_t nattributes, size_t *failed, cudart_stream stream)
{
    return CALL(driver.cuMemcpyBatchAsync((cu_address *)(void *)to, (cu_address *)(void *)from, sizes, count, attributes, indices,
                                          nattributes, failed, stream));
}
PTSZ(cudaMemcpyBatchAsync,
     (void **to, void **from, size_t *sizes, size_t count, void *attributes, size_t *indices, size_t nattributes, size_t *failed,
      cudart_stream stream),
     (to, from, sizes, count, attributes, indices, nattributes, failed, stream))

API cudart_error cudaMemcpy3DBatchAsync(size_t count, cu_batch_copy *copies, size_t *failed, uint64_t flags, cudart_stream stream)
{
    return CALL(driver.cuMemcpy3DBatchAsync(count, copies, failed, flags, stream));
}
PTSZ(cudaMemcpy3DBatchAsync, (size_t count, cu_batch_copy *copies, size_t *failed, uint64_t flags, cudart_stream stream),
     (count, copies, failed, flags, stream))
#endif

/* ------------------------------------------------------------ pools by location */

#if CUDART_MAJOR >= 13
API cudart_error cudaMemGetDefaultMemPool(cu_pool *pool, cu_location *location, int32_t type)
{
    return CALL(driver.cuMemGetDefaultMemPool(pool, location, type));
}

API cudart_error cudaMemGetMemPool(cu_pool *pool, cu_location *location, int32_t type)
{
    return CALL(driver.cuMemGetMemPool(pool, location, type));
}

API cudart_error cudaMemSetMemPool(cu_location *location, int32_t type, cu_pool pool)
{
    return CALL(driver.cuMemSetMemPool(location, type, pool));
}
#endif
