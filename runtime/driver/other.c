/* other.c - small questions and settings that belong nowhere else. */
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/limits.h"

/* Profilers are started and stopped from outside; there is none. */
cu_result impl_cuProfilerStart(void)
{
    DR_USE(c);
    return CUABI_SUCCESS;
}

cu_result impl_cuProfilerStop(void)
{
    DR_USE(c);
    return CUABI_SUCCESS;
}

cu_result impl_cuDeviceGetTexture1DLinearMaxWidth(size_t *max_width_in_elements, int32_t format, uint32_t num_channels, cu_device device)
{
    DR_NEED(max_width_in_elements && num_channels && format > 0);
    if (dr_ready())
        return dr_ready();
    if (!dr_device_at(device))
        return DR_ERROR(INVALID_DEVICE);
    *max_width_in_elements = 1u << 28;
    return CUABI_SUCCESS;
}

/* Multiprocessors are not given out. */
cu_result impl_cuDeviceGetExecAffinitySupport(int *value, int32_t type, cu_device device)
{
    DR_NEED(value && type >= 0);
    if (dr_ready())
        return dr_ready();
    *value = 0;
    return dr_device_at(device) ? CUABI_SUCCESS : DR_ERROR(INVALID_DEVICE);
}

cu_result impl_cuStreamGetCtx_v2(cu_stream stream, cu_context *context, void **green_ctx)
{
    if (green_ctx)
        *green_ctx = NULL;
    return impl_cuStreamGetCtx(stream, context);
}

/* ------------------------------------------------------------ attributes of streams: hints, and the priority */

static cu_result use_stream(cu_stream handle, dr_stream **out)
{
    DR_USE(c);
    return dr_stream_of(c, handle, out);
}

cu_result impl_cuStreamGetAttribute(cu_stream stream, int32_t attr, cu_launch_value *value_out)
{
    DR_NEED(value_out);
    dr_stream *s;
    cu_result result = use_stream(stream, &s);
    if (result)
        return result;
    memset(value_out, 0, sizeof *value_out);
    if (attr == 3)                     /* how the host waits: automatic */
        value_out->priority = 1;
    else if (attr == CUABI_CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value_out->priority = s->priority;
    else if (attr != 1 && attr != 9 && attr != 10)
        return DR_ERROR(INVALID_VALUE);
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamSetAttribute(cu_stream stream, int32_t attr, const cu_launch_value *value)
{
    DR_NEED(value);
    dr_stream *s;
    cu_result result = use_stream(stream, &s);
    if (!result && attr == CUABI_CU_LAUNCH_ATTRIBUTE_PRIORITY)
        s->priority = value->priority;
    return result ? result : attr == 1 || attr == 3 || (attr >= 8 && attr <= 10) ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuStreamCopyAttributes(cu_stream to, cu_stream from)
{
    dr_stream *a, *b;
    cu_result result = use_stream(to, &a);
    if (!result)
        result = use_stream(from, &b);
    if (!result)
        a->priority = b->priority;
    return result;
}

/* ------------------------------------------------------------ clusters: of one block */

cu_result impl_cuOccupancyMaxPotentialClusterSize(int *cluster_size, cu_function function, const cu_launch_config *config)
{
    DR_NEED(cluster_size && config);
    DR_USE(c);
    dr_function *f;
    cu_result result = dr_function_of(function, c, &f);
    if (!result)
        *cluster_size = 1;
    return result;
}

/* ------------------------------------------------------------ memory of graphs: it is ordinary memory */

cu_result impl_cuDeviceGraphMemTrim(cu_device device)
{
    if (dr_ready())
        return dr_ready();
    return dr_device_at(device) ? CUABI_SUCCESS : DR_ERROR(INVALID_DEVICE);
}

cu_result impl_cuDeviceGetGraphMemAttribute(cu_device device, int32_t attr, void *value)
{
    DR_NEED(value);
    if (dr_ready())
        return dr_ready();
    dr_device *d = dr_device_at(device);
    if (!d)
        return DR_ERROR(INVALID_DEVICE);
    if (attr < CUABI_CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT || attr > CUABI_CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return DR_ERROR(INVALID_VALUE);
    /* Nothing is given back before the context ends: current and highest are the same. */
    uint64_t bytes = atomic_load(&d->graph_memory);
    memcpy(value, &bytes, sizeof bytes);
    return CUABI_SUCCESS;
}

/* Only the highest values can be set, to 0; they start again from the current ones. */
cu_result impl_cuDeviceSetGraphMemAttribute(cu_device device, int32_t attr, void *value)
{
    uint64_t bytes;
    DR_NEED(value);
    if (dr_ready())
        return dr_ready();
    memcpy(&bytes, value, sizeof bytes);
    if (!dr_device_at(device))
        return DR_ERROR(INVALID_DEVICE);
    bool highest = attr == CUABI_CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CUABI_CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    return highest && bytes == 0 ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}
