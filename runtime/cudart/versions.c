/* versions.c - functions whose parameters differ between CUDA 12 and 13. In 12 the plain name has the old parameters and …_v2 (or …_v3) has
 * what is the plain name in 13.
 */
#include "runtime/cudart/internal.h"

#if CUDART_MAJOR >= 13
#define NOW(name, number) name
#else
#define NOW(name, number) name##_v##number
#endif

/* ------------------------------------------------------------ managed memory */

#if CUDART_MAJOR < 13
enum { LOCATION_DEVICE = 1, LOCATION_HOST = 2, DEVICE_CPU = -1 };

static cudart_location location_of(int device)
{
    return (cudart_location){device == DEVICE_CPU ? LOCATION_HOST : LOCATION_DEVICE, device == DEVICE_CPU ? 0 : device};
}
#endif

API cudart_error NOW(cudaMemAdvise, 2)(const void *pointer, size_t bytes, int32_t advice, cu_location where)
{
    return CALL(driver.cuMemAdvise_v2((cu_address)(uintptr_t)pointer, bytes, advice, where));
}

static cudart_error prefetch(const void *pointer, size_t bytes, cu_location where, uint32_t flags, cudart_stream stream)
{
    return CALL(driver.cuMemPrefetchAsync_v2((cu_address)(uintptr_t)pointer, bytes, where, flags, stream));
}

API cudart_error NOW(cudaMemPrefetchAsync, 2)(const void *pointer, size_t bytes, cu_location where, uint32_t flags,
                                              cudart_stream stream)
{
    return prefetch(pointer, bytes, where, flags, stream);
}

#if CUDART_MAJOR >= 13
API cudart_error cudaMemPrefetchAsync_ptsz(const void *pointer, size_t bytes, cu_location where, uint32_t flags, cudart_stream stream)
#else
API cudart_error cudaMemPrefetchAsync_v2_ptsz(const void *pointer, size_t bytes, cu_location where, uint32_t flags,
                                              cudart_stream stream)
#endif
{
    return prefetch(pointer, bytes, where, flags, stream ? stream : STREAM_PER_THREAD);
}

#if CUDART_MAJOR < 13
API cudart_error cudaMemAdvise(const void *pointer, size_t bytes, int32_t advice, int device)
{
    cudart_location where = location_of(device);
    return cudaMemAdvise_v2(pointer, bytes, advice, (cu_location){where.type, where.id});
}

API cudart_error cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudart_stream stream)
{
    cudart_location where = location_of(device);
    return prefetch(pointer, bytes, (cu_location){where.type, where.id}, 0, stream);
}
PTSZ(cudaMemPrefetchAsync, (const void *pointer, size_t bytes, int device, cudart_stream stream), (pointer, bytes, device, stream))

API cudart_error cudaEventElapsedTime(float *milliseconds, cu_event start, cu_event end);
API cudart_error cudaEventElapsedTime_v2(float *milliseconds, cu_event start, cu_event end)
{
    return cudaEventElapsedTime(milliseconds, start, end);
}
#endif

/* ------------------------------------------------------------ edges of graphs */

API cudart_error NOW(cudaGraphGetEdges, 2)(cu_graph graph, cu_node *from, cu_node *to, cu_edge_data *edges, size_t *count)
{
    return CALL(driver.cuGraphGetEdges_v2(graph, from, to, edges, count));
}

API cudart_error NOW(cudaGraphNodeGetDependencies, 2)(cu_node node, cu_node *nodes, cu_edge_data *edges, size_t *count)
{
    return CALL(driver.cuGraphNodeGetDependencies_v2(node, nodes, edges, count));
}

API cudart_error NOW(cudaGraphNodeGetDependentNodes, 2)(cu_node node, cu_node *nodes, cu_edge_data *edges, size_t *count)
{
    return CALL(driver.cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count));
}

API cudart_error NOW(cudaGraphAddDependencies, 2)(cu_graph graph, const cu_node *from, const cu_node *to, const cu_edge_data *edges,
                                                  size_t count)
{
    return CALL(driver.cuGraphAddDependencies_v2(graph, from, to, edges, count));
}

API cudart_error NOW(cudaGraphRemoveDependencies, 2)(cu_graph graph, const cu_node *from, const cu_node *to,
                                                     const cu_edge_data *edges, size_t count)
{
    return CALL(driver.cuGraphRemoveDependencies_v2(graph, from, to, edges, count));
}

#if CUDART_MAJOR < 13
API cudart_error cudaGraphGetEdges(cu_graph graph, cu_node *from, cu_node *to, size_t *count)
{
    return CALL(driver.cuGraphGetEdges(graph, from, to, count));
}

API cudart_error cudaGraphNodeGetDependencies(cu_node node, cu_node *nodes, size_t *count)
{
    return CALL(driver.cuGraphNodeGetDependencies(node, nodes, count));
}

API cudart_error cudaGraphNodeGetDependentNodes(cu_node node, cu_node *nodes, size_t *count)
{
    return CALL(driver.cuGraphNodeGetDependentNodes(node, nodes, count));
}

API cudart_error cudaGraphAddDependencies(cu_graph graph, const cu_node *from, const cu_node *to, size_t count)
{
    return CALL(driver.cuGraphAddDependencies(graph, from, to, count));
}

API cudart_error cudaGraphRemoveDependencies(cu_graph graph, const cu_node *from, const cu_node *to, size_t count)
{
    return CALL(driver.cuGraphRemoveDependencies(graph, from, to, count));
}
#endif

/* ------------------------------------------------------------ capture */

static cudart_error capture_info(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph, const cu_node **after,
                                 const cu_edge_data **edges, size_t *count)
{
    return CALL(driver.cuStreamGetCaptureInfo_v3(stream, status, id, graph, after, edges, count));
}

static cudart_error update_capture(cudart_stream stream, cu_node *after, const cu_edge_data *edges, size_t count, uint32_t flags)
{
    return CALL(driver.cuStreamUpdateCaptureDependencies_v2(stream, after, edges, count, flags));
}

#define OWN(stream) ((stream) ? (stream) : STREAM_PER_THREAD)

#if CUDART_MAJOR >= 13
API cudart_error cudaStreamGetCaptureInfo(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph, const cu_node **after,
                                          const cu_edge_data **edges, size_t *count)
{
    return capture_info(stream, status, id, graph, after, edges, count);
}

API cudart_error cudaStreamGetCaptureInfo_ptsz(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph,
                                               const cu_node **after, const cu_edge_data **edges, size_t *count)
{
    return capture_info(OWN(stream), status, id, graph, after, edges, count);
}

API cudart_error cudaStreamUpdateCaptureDependencies(cudart_stream stream, cu_node *after, const cu_edge_data *edges, size_t count,
                                                     uint32_t flags)
{
    return update_capture(stream, after, edges, count, flags);
}

API cudart_error cudaStreamUpdateCaptureDependencies_ptsz(cudart_stream stream, cu_node *after, const cu_edge_data *edges,
                                                          size_t count, uint32_t flags)
{
    return update_capture(OWN(stream), after, edges, count, flags);
}
#else
API cudart_error cudaStreamGetCaptureInfo(cudart_stream stream, int32_t *status, uint64_t *id)
{
    return capture_info(stream, status, id, NULL, NULL, NULL, NULL);
}

API cudart_error cudaStreamGetCaptureInfo_ptsz(cudart_stream stream, int32_t *status, uint64_t *id)
{
    return capture_info(OWN(stream), status, id, NULL, NULL, NULL, NULL);
}

API cudart_error cudaStreamGetCaptureInfo_v2(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph,
                                             const cu_node **after, size_t *count)
{
    return capture_info(stream, status, id, graph, after, NULL, count);
}

API cudart_error cudaStreamGetCaptureInfo_v2_ptsz(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph,
                                                  const cu_node **after, size_t *count)
{
    return capture_info(OWN(stream), status, id, graph, after, NULL, count);
}

API cudart_error cudaStreamGetCaptureInfo_v3(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph,
                                             const cu_node **after, const cu_edge_data **edges, size_t *count)
{
    return capture_info(stream, status, id, graph, after, edges, count);
}

API cudart_error cudaStreamGetCaptureInfo_v3_ptsz(cudart_stream stream, int32_t *status, uint64_t *id, cu_graph *graph,
                                                  const cu_node **after, const cu_edge_data **edges, size_t *count)
{
    return capture_info(OWN(stream), status, id, graph, after, edges, count);
}

API cudart_error cudaStreamUpdateCaptureDependencies(cudart_stream stream, cu_node *after, size_t count, uint32_t flags)
{
    return update_capture(stream, after, NULL, count, flags);
}

API cudart_error cudaStreamUpdateCaptureDependencies_ptsz(cudart_stream stream, cu_node *after, size_t count, uint32_t flags)
{
    return update_capture(OWN(stream), after, NULL, count, flags);
}

API cudart_error cudaStreamUpdateCaptureDependencies_v2(cudart_stream stream, cu_node *after, const cu_edge_data *edges, size_t count,
                                                        uint32_t flags)
{
    return update_capture(stream, after, edges, count, flags);
}

API cudart_error cudaStreamUpdateCaptureDependencies_v2_ptsz(cudart_stream stream, cu_node *after, const cu_edge_data *edges,
                                                             size_t count, uint32_t flags)
{
    return update_capture(OWN(stream), after, edges, count, flags);
}

/* ------------------------------------------------------------ names of CUDA 3 that 12 still has */

API cudart_error cudaDeviceReset(void);
API cudart_error cudaDeviceSynchronize(void);
API cudart_error cudaDeviceSetLimit(int32_t limit, size_t value);
API cudart_error cudaDeviceGetLimit(size_t *value, int32_t limit);
API cudart_error cudaDeviceGetCacheConfig(int32_t *config);
API cudart_error cudaDeviceSetCacheConfig(int32_t config);

API cudart_error cudaThreadExit(void)
{
    return cudaDeviceReset();
}

API cudart_error cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

API cudart_error cudaThreadSetLimit(int32_t limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

API cudart_error cudaThreadGetLimit(size_t *value, int32_t limit)
{
    return cudaDeviceGetLimit(value, limit);
}

API cudart_error cudaThreadGetCacheConfig(int32_t *config)
{
    return cudaDeviceGetCacheConfig(config);
}

API cudart_error cudaThreadSetCacheConfig(int32_t config)
{
    return cudaDeviceSetCacheConfig(config);
}
#endif
