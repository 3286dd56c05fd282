/* device.c - devices: choice, limits, attributes, peers, the whole's beginning and end. */
#include <string.h>
#include "runtime/cudart/internal.h"

enum { RUNTIME_VERSION = CUDART_MAJOR >= 13 ? 13000 : 12090 };

API cudart_error cudaDriverGetVersion(int *version)
{
    if (!version)
        return record(RT_cudaErrorInvalidValue);
    *version = 0;                        /* the documented answer where there is no driver */
    cudart_error error = start_driver();
    if (error == RT_cudaErrorInsufficientDriver)
        return RT_cudaSuccess;
    return record(error ? error : driver.cuDriverGetVersion(version));
}

API cudart_error cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return record(RT_cudaErrorInvalidValue);
    *version = RUNTIME_VERSION;
    return RT_cudaSuccess;
}

/* ------------------------------------------------------------ choice */

API cudart_error cudaGetDeviceCount(int *count)
{
    if (!count)
        return record(RT_cudaErrorInvalidValue);
    *count = 0;
    cudart_error error = start_driver();
    if (!error)
        error = driver.cuDeviceGetCount(count);
    if (!error && *count == 0)
        error = RT_cudaErrorNoDevice;
    return record(error);
}

API cudart_error cudaGetDevice(int *device)
{
    return record(device ? current_device(device) : RT_cudaErrorInvalidValue);
}

API cudart_error cudaSetDevice(int device)
{
    return record(use_device(device));
}

API cudart_error cudaInitDevice(int device, uint32_t device_flags, uint32_t flags)
{
    enum { FLAGS_GIVEN = 1 };            /* cudaInitDeviceFlagsAreValid */
    cudart_error error = start_driver();
    if (!error && (flags & FLAGS_GIVEN))
        error = driver.cuDevicePrimaryCtxSetFlags_v2(device, device_flags);
    int now = thread.device;
    if (!error)
        error = use_device(device);
    if (!error && now != device)
        error = use_device(now);
    return record(error);
}

API cudart_error cudaSetValidDevices(int *devices, int count)
{
    int all = 0;
    cudart_error error = cudaGetDeviceCount(&all);
    if (error)
        return error;
    if (count < 0 || (count && !devices))
        return record(RT_cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (devices[i] < 0 || devices[i] >= all)
            return record(RT_cudaErrorInvalidDevice);
    if (count)                           /* the first of the list serves a thread that has not chosen */
        thread.device = devices[0];
    return RT_cudaSuccess;
}

API cudart_error cudaSetDeviceFlags(uint32_t flags)
{
    cudart_error error = start_driver();
    return record(error ? error : driver.cuDevicePrimaryCtxSetFlags_v2(thread.device, flags));
}

API cudart_error cudaGetDeviceFlags(uint32_t *flags)
{
    return CALL(driver.cuCtxGetFlags(flags));
}

API cudart_error cudaDeviceReset(void)
{
    int device;
    cudart_error error = current_device(&device);
    if (error)
        return record(error);
    error = driver.cuDevicePrimaryCtxReset_v2(device);
    forget_device(device);
    return record(error);
}

API cudart_error cudaDeviceSynchronize(void)
{
    return CALL(driver.cuCtxSynchronize());
}

/* ------------------------------------------------------------ limits, attributes, caches */

API cudart_error cudaDeviceSetLimit(int32_t limit, size_t value)
{
    return CALL(driver.cuCtxSetLimit(limit, value));
}

API cudart_error cudaDeviceGetLimit(size_t *value, int32_t limit)
{
    return CALL(driver.cuCtxGetLimit(value, limit));
}

API cudart_error cudaDeviceGetCacheConfig(int32_t *config)
{
    return CALL(driver.cuCtxGetCacheConfig(config));
}

API cudart_error cudaDeviceSetCacheConfig(int32_t config)
{
    return CALL(driver.cuCtxSetCacheConfig(config));
}

API cudart_error cudaDeviceGetSharedMemConfig(int32_t *config)
{
    return CALL(driver.cuCtxGetSharedMemConfig(config));
}

API cudart_error cudaDeviceSetSharedMemConfig(int32_t config)
{
    return CALL(driver.cuCtxSetSharedMemConfig(config));
}

API cudart_error cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    return CALL(driver.cuCtxGetStreamPriorityRange(least, greatest));
}

/* The runtime's numbers of attributes are the driver's. */
API cudart_error cudaDeviceGetAttribute(int *value, int32_t attribute, int device)
{
    cudart_error error = start_driver();
    return record(error ? error : driver.cuDeviceGetAttribute(value, attribute, device));
}

API cudart_error cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    cudart_error error = start_driver();
    return record(error ? error : driver.cuDeviceGetByPCIBusId(device, id));
}

API cudart_error cudaDeviceGetPCIBusId(char *id, int size, int device)
{
    cudart_error error = start_driver();
    return record(error ? error : driver.cuDeviceGetPCIBusId(id, size, device));
}

API cudart_error cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const cudart_channels *channels, int device)
{
    uint32_t format, count;
    if (!channels || !format_of(channels, &format, &count))
        return record(RT_cudaErrorInvalidChannelDescriptor);
    return CALL(driver.cuDeviceGetTexture1DLinearMaxWidth(width, (int32_t)format, count, device));
}

API cudart_error cudaDeviceFlushGPUDirectRDMAWrites(int32_t target, int32_t scope)
{
    return CALL(driver.cuFlushGPUDirectRDMAWrites(target, scope));
}

/* ------------------------------------------------------------ peers */

API cudart_error cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudart_error error = start_driver();
    return record(error ? error : driver.cuDeviceCanAccessPeer(can, device, peer));
}

API cudart_error cudaDeviceGetP2PAttribute(int *value, int32_t attribute, int from, int to)
{
    cudart_error error = start_driver();
    return record(error ? error : driver.cuDeviceGetP2PAttribute(value, attribute, from, to));
}

API cudart_error cudaDeviceEnablePeerAccess(int peer, uint32_t flags)
{
    cu_context context;
    int device;
    cudart_error error = primary_of(peer, &context);
    if (!error)
        error = current_device(&device);
    if (!error && peer == device)        /* which is not its own peer */
        error = RT_cudaErrorInvalidDevice;
    return record(error ? error : driver.cuCtxEnablePeerAccess(context, flags));
}

API cudart_error cudaDeviceDisablePeerAccess(int peer)
{
    cu_context context;
    cudart_error error = primary_of(peer, &context);
    return record(error ? error : driver.cuCtxDisablePeerAccess(context));
}

/* ------------------------------------------------------------ the driver's functions by name */

static cudart_error entry_point(const char *symbol, void **function, int version, uint64_t flags, int32_t *status)
{
    if (!symbol || !function)
        return RT_cudaErrorInvalidValue;
    TRY(start_driver());
    int32_t found = 0;
    cu_result result = driver.cuGetProcAddress_v2(symbol, function, version, flags, &found);
    if (status)
        *status = found;
    /* A name that is not there is an answer, given through the status, when the caller asks for one. */
    return result == CUABI_CUDA_ERROR_NOT_FOUND && status ? RT_cudaSuccess : result;
}

API cudart_error cudaGetDriverEntryPoint(const char *symbol, void **function, uint64_t flags, int32_t *status)
{
    return record(entry_point(symbol, function, RUNTIME_VERSION, flags, status));
}

API cudart_error cudaGetDriverEntryPointByVersion(const char *symbol, void **function, uint32_t version, uint64_t flags, int32_t *status)
{
    return record(entry_point(symbol, function, (int)version, flags, status));
}

enum { GET_PER_THREAD = 2 };             /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

API cudart_error cudaGetDriverEntryPoint_ptsz(const char *symbol, void **function, uint64_t flags, int32_t *status)
{
    return cudaGetDriverEntryPoint(symbol, function, flags ? flags : GET_PER_THREAD, status);
}

API cudart_error cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **function, uint32_t version, uint64_t flags,
                                                       int32_t *status)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, version, flags ? flags : GET_PER_THREAD, status);
}

/* ------------------------------------------------------------ profiler: there is none to start */

API cudart_error cudaProfilerStart(void)
{
    return CALL(driver.cuProfilerStart());
}

API cudart_error cudaProfilerStop(void)
{
    return CALL(driver.cuProfilerStop());
}
