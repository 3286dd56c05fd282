/* stream.c - streams, events, and capture. */
#include <stdlib.h>
#include "runtime/cudart/internal.h"

/* ------------------------------------------------------------ streams */

API cudart_error cudaStreamCreate(cudart_stream *stream)
{
    return CALL(driver.cuStreamCreate(stream, 0));
}

API cudart_error cudaStreamCreateWithFlags(cudart_stream *stream, uint32_t flags)
{
    return CALL(driver.cuStreamCreate(stream, flags));
}

API cudart_error cudaStreamCreateWithPriority(cudart_stream *stream, uint32_t flags, int priority)
{
    return CALL(driver.cuStreamCreateWithPriority(stream, flags, priority));
}

/* The default streams are not made and cannot be destroyed. */
API cudart_error cudaStreamDestroy(cudart_stream stream)
{
    if ((uintptr_t)stream <= (uintptr_t)STREAM_PER_THREAD)
        return record(RT_cudaErrorInvalidResourceHandle);
    return CALL(driver.cuStreamDestroy_v2(stream));
}

API cudart_error cudaStreamSynchronize(cudart_stream stream)
{
    return CALL(driver.cuStreamSynchronize(stream));
}
PTSZ(cudaStreamSynchronize, (cudart_stream stream), (stream))

API cudart_error cudaStreamQuery(cudart_stream stream)
{
    return CALL(driver.cuStreamQuery(stream));
}
PTSZ(cudaStreamQuery, (cudart_stream stream), (stream))

API cudart_error cudaStreamWaitEvent(cudart_stream stream, cu_event event, uint32_t flags)
{
    return CALL(driver.cuStreamWaitEvent(stream, event, flags));
}
PTSZ(cudaStreamWaitEvent, (cudart_stream stream, cu_event event, uint32_t flags), (stream, event, flags))

API cudart_error cudaStreamGetPriority(cudart_stream stream, int *priority)
{
    return CALL(driver.cuStreamGetPriority(stream, priority));
}
PTSZ(cudaStreamGetPriority, (cudart_stream stream, int *priority), (stream, priority))

API cudart_error cudaStreamGetFlags(cudart_stream stream, uint32_t *flags)
{
    return CALL(driver.cuStreamGetFlags(stream, flags));
}
PTSZ(cudaStreamGetFlags, (cudart_stream stream, uint32_t *flags), (stream, flags))

API cudart_error cudaStreamGetId(cudart_stream stream, uint64_t *id)
{
    return CALL(driver.cuStreamGetId(stream, id));
}
PTSZ(cudaStreamGetId, (cudart_stream stream, uint64_t *id), (stream, id))

API cudart_error cudaStreamGetDevice(cudart_stream stream, int *device)
{
    return CALL(driver.cuStreamGetDevice(stream, device));
}
PTSZ(cudaStreamGetDevice, (cudart_stream stream, int *device), (stream, device))

/* Not CALL: the two names differ in the order of their parameters. */
API cudart_error cudaStreamCopyAttributes(cudart_stream to, cudart_stream from)
{
    return CALL(driver.cuStreamCopyAttributes(to, from));
}

API cudart_error cudaStreamCopyAttributes_ptsz(cudart_stream to, cudart_stream from)
{
    return cudaStreamCopyAttributes(to ? to : STREAM_PER_THREAD, from ? from : STREAM_PER_THREAD);
}

API cudart_error cudaStreamGetAttribute(cudart_stream stream, int32_t attribute, void *value)
{
    return CALL(driver.cuStreamGetAttribute(stream, attribute, value));
}
PTSZ(cudaStreamGetAttribute, (cudart_stream stream, int32_t attribute, void *value), (stream, attribute, value))

API cudart_error cudaStreamSetAttribute(cudart_stream stream, int32_t attribute, const void *value)
{
    return CALL(driver.cuStreamSetAttribute(stream, attribute, value));
}
PTSZ(cudaStreamSetAttribute, (cudart_stream stream, int32_t attribute, const void *value), (stream, attribute, value))

API cudart_error cudaCtxResetPersistingL2Cache(void)
{
    return CALL(driver.cuCtxResetPersistingL2Cache());
}

/* The runtime's callback type has the driver's parameters, and the codes agree. */
API cudart_error cudaStreamAddCallback(cudart_stream stream, void (*callback)(cudart_stream, cudart_error, void *), void *user,
                                       uint32_t flags)
{
    return CALL(driver.cuStreamAddCallback(stream, callback, user, flags));
}
PTSZ(cudaStreamAddCallback,
     (cudart_stream stream, void (*callback)(cudart_stream, cudart_error, void *), void *user, uint32_t flags),
     (stream, callback, user, flags))

/* ------------------------------------------------------------ events */

API cudart_error cudaEventCreate(cu_event *event)
{
    return CALL(driver.cuEventCreate(event, 0));
}

API cudart_error cudaEventCreateWithFlags(cu_event *event, uint32_t flags)
{
    return CALL(driver.cuEventCreate(event, flags));
}

API cudart_error cudaEventDestroy(cu_event event)
{
    return CALL(driver.cuEventDestroy_v2(event));
}

API cudart_error cudaEventRecord(cu_event event, cudart_stream stream)
{
    return CALL(driver.cuEventRecord(event, stream));
}
PTSZ(cudaEventRecord, (cu_event event, cudart_stream stream), (event, stream))

API cudart_error cudaEventRecordWithFlags(cu_event event, cudart_stream stream, uint32_t flags)
{
    return CALL(driver.cuEventRecordWithFlags(event, stream, flags));
}
PTSZ(cudaEventRecordWithFlags, (cu_event event, cudart_stream stream, uint32_t flags), (event, stream, flags))

API cudart_error cudaEventQuery(cu_event event)
{
    return CALL(driver.cuEventQuery(event));
}

API cudart_error cudaEventSynchronize(cu_event event)
{
    return CALL(driver.cuEventSynchronize(event));
}

API cudart_error cudaEventElapsedTime(float *milliseconds, cu_event start, cu_event end)
{
    return CALL(driver.cuEventElapsedTime(milliseconds, start, end));
}

/* ------------------------------------------------------------ capture */

API cudart_error cudaStreamBeginCapture(cudart_stream stream, int32_t mode)
{
    return CALL(driver.cuStreamBeginCapture_v2(stream, mode));
}
PTSZ(cudaStreamBeginCapture, (cudart_stream stream, int32_t mode), (stream, mode))

API cudart_error cudaStreamBeginCaptureToGraph(cudart_stream stream, cu_graph graph, const cu_node *dependencies,
                                               const cudart_edge *edges, size_t count, int32_t mode)
{
    return CALL(driver.cuStreamBeginCaptureToGraph(stream, graph, dependencies, (const void *)edges, count, mode));
}
PTSZ(cudaStreamBeginCaptureToGraph,
     (cudart_stream stream, cu_graph graph, const cu_node *dependencies, const cudart_edge *edges, size_t count, int32_t mode),
     (stream, graph, dependencies, edges, count, mode))

API cudart_error cudaThreadExchangeStreamCaptureMode(int32_t *mode)
{
    return CALL(driver.cuThreadExchangeStreamCaptureMode(mode));
}

API cudart_error cudaStreamEndCapture(cudart_stream stream, cu_graph *graph)
{
    return CALL(driver.cuStreamEndCapture(stream, graph));
}
PTSZ(cudaStreamEndCapture, (cudart_stream stream, cu_graph *graph), (stream, graph))

API cudart_error cudaStreamIsCapturing(cudart_stream stream, int32_t *status)
{
    return CALL(driver.cuStreamIsCapturing(stream, status));
}
PTSZ(cudaStreamIsCapturing, (cudart_stream stream, int32_t *status), (stream, status))
