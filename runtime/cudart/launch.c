/* launch.c - configurations, launches, attributes of functions, occupancy. */
#include <string.h>
#include "runtime/cudart/internal.h"

/* Attributes of devices and functions that are asked for here. */
enum {
    ATTRIBUTE_MAX_THREADS = 1, ATTRIBUTE_MAX_BLOCK_X = 2, ATTRIBUTE_MAX_GRID_X = 5,
    FUNCTION_MAX_THREADS = 0, FUNCTION_SHARED = 1, FUNCTION_CONST = 2, FUNCTION_LOCAL = 3, FUNCTION_REGISTERS = 4, FUNCTION_PTX = 5,
    FUNCTION_BINARY = 6, FUNCTION_CACHE_CA = 7, FUNCTION_DYNAMIC_SHARED = 8, FUNCTION_CARVEOUT = 9, FUNCTION_CLUSTER_MUST = 10,
    FUNCTION_CLUSTER_WIDTH = 11, FUNCTION_NON_PORTABLE = 14, FUNCTION_CLUSTER_POLICY = 15
};

/* ------------------------------------------------------------ configurations of <<<…>>> */

API uint32_t __cudaPushCallConfiguration(cudart_dim3 grid, cudart_dim3 block, size_t shared_bytes, cudart_stream stream)
{
    if (thread.nsetups == NESTED_LAUNCHES)
        return (uint32_t)record(RT_cudaErrorMissingConfiguration);
    thread.setups[thread.nsetups++] = (launch_setup){grid, block, shared_bytes, stream};
    return 0;
}

API cudart_error __cudaPopCallConfiguration(cudart_dim3 *grid, cudart_dim3 *block, size_t *shared_bytes, void *stream)
{
    if (thread.nsetups == 0)
        return record(RT_cudaErrorMissingConfiguration);
    const launch_setup *setup = &thread.setups[--thread.nsetups];
    *grid = setup->grid;
    *block = setup->block;
    *shared_bytes = setup->shared_bytes;
    *(cudart_stream *)stream = setup->stream;
    return RT_cudaSuccess;
}

/* ------------------------------------------------------------ launches */

/* The driver has one code for all bad arguments; the runtime distinguishes a block or grid that no kernel may have. */
static bool is_bad_shape(cudart_dim3 grid, cudart_dim3 block)
{
    int device, most[7] = {0};
    if (current_device(&device))
        return false;
    for (int i = 0; i < 7; i++)
        if (driver.cuDeviceGetAttribute(&most[i], ATTRIBUTE_MAX_THREADS + i, device))
            return false;
    uint32_t given[6] = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
    for (int i = 0; i < 6; i++)
        if (given[i] == 0 || given[i] > (uint32_t)most[1 + i])
            return true;
    return (uint64_t)block.x * block.y * block.z > (uint64_t)most[0];
}

static bool is_kernel(cu_kernel kernel)
{
    const char *name;
    return !driver.cuKernelGetName(&name, kernel) || !driver.cuFuncGetName(&name, (cu_function)kernel);
}

static cudart_error launch_error(cu_result result, cu_kernel kernel, cudart_dim3 grid, cudart_dim3 block)
{
    if (result == CUABI_CUDA_ERROR_INVALID_HANDLE && is_kernel(kernel))
        return RT_cudaErrorInvalidResourceHandle;        /* it was the stream */
    if (result == CUABI_CUDA_ERROR_INVALID_VALUE && is_bad_shape(grid, block))
        return RT_cudaErrorInvalidConfiguration;
    return kernel_error(result);
}

static cudart_error launch(const void *function, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes,
                           cudart_stream stream, bool cooperative)
{
    cu_kernel kernel;
    TRY(kernel_of(function, &kernel));
    if (shared_bytes > UINT32_MAX)
        return RT_cudaErrorInvalidValue;
    cu_function f = (cu_function)kernel;  /* the driver takes either handle */
    cu_result result =
        cooperative ? driver.cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, (uint32_t)shared_bytes,
                                                       stream, args)
                    : driver.cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, (uint32_t)shared_bytes, stream, args,
                                            NULL);
    return launch_error(result, kernel, grid, block);
}

API cudart_error cudaLaunchKernel(const void *function, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes,
                                  cudart_stream stream)
{
    return record(launch(function, grid, block, args, shared_bytes, stream, false));
}
PTSZ(cudaLaunchKernel, (const void *function, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes, cudart_stream stream),
     (function, grid, block, args, shared_bytes, stream))

/* What the stubs of nvcc 12.9 and later call. `kernel` comes from __cudaGetKernel(). */
API cudart_error __cudaLaunchKernel(cu_kernel kernel, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes,
                                    cudart_stream stream)
{
    return record(launch((const void *)kernel, grid, block, args, shared_bytes, stream, false));
}
PTSZ(__cudaLaunchKernel, (cu_kernel kernel, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes, cudart_stream stream),
     (kernel, grid, block, args, shared_bytes, stream))

API cudart_error cudaLaunchCooperativeKernel(const void *function, cudart_dim3 grid, cudart_dim3 block, void **args,
                                             size_t shared_bytes, cudart_stream stream)
{
    return record(launch(function, grid, block, args, shared_bytes, stream, true));
}
PTSZ(cudaLaunchCooperativeKernel,
     (const void *function, cudart_dim3 grid, cudart_dim3 block, void **args, size_t shared_bytes, cudart_stream stream),
     (function, grid, block, args, shared_bytes, stream))

static cudart_error convert_config(const cudart_launch_config *config, cu_launch_config *to)
{
    if (!config || config->shared_bytes > UINT32_MAX)
        return RT_cudaErrorInvalidValue;
    *to = (cu_launch_config){.grid = {config->grid.x, config->grid.y, config->grid.z},
                             .block = {config->block.x, config->block.y, config->block.z},
                             .shared_bytes = (uint32_t)config->shared_bytes, .stream = config->stream,
                             .attributes = config->attributes, .attribute_count = config->nattributes};
    return RT_cudaSuccess;
}

static cudart_error launch_config(const cudart_launch_config *config, const void *function, void **args, cudart_stream stream)
{
    cu_kernel kernel;
    cu_launch_config converted;
    TRY(convert_config(config, &converted));
    converted.stream = stream;
    TRY(kernel_of(function, &kernel));
    return launch_error(driver.cuLaunchKernelEx(&converted, (cu_function)kernel, args, NULL), kernel, config->grid, config->block);
}

API cudart_error cudaLaunchKernelExC(const cudart_launch_config *config, const void *function, void **args)
{
    return record(launch_config(config, function, args, config ? config->stream : NULL));
}

API cudart_error cudaLaunchKernelExC_ptsz(const cudart_launch_config *config, const void *function, void **args)
{
    return record(launch_config(config, function, args, config && config->stream ? config->stream : STREAM_PER_THREAD));
}

API cudart_error cudaLaunchHostFunc(cudart_stream stream, void (*function)(void *), void *user)
{
    return CALL(driver.cuLaunchHostFunc(stream, function, user));
}
PTSZ(cudaLaunchHostFunc, (cudart_stream stream, void (*function)(void *), void *user), (stream, function, user))

/* ------------------------------------------------------------ attributes */

static cudart_error function_attributes(cudart_function_attributes *out, const void *function)
{
    cu_kernel kernel;
    int device;
    if (!out)
        return RT_cudaErrorInvalidValue;
    TRY(kernel_of(function, &kernel));
    TRY(current_device(&device));
    *out = (cudart_function_attributes){0};
    int shared, constant, local;
    const struct { int *to; int attribute; } wanted[] = {
        {&out->max_threads, FUNCTION_MAX_THREADS}, {&shared, FUNCTION_SHARED}, {&constant, FUNCTION_CONST}, {&local, FUNCTION_LOCAL},
        {&out->registers, FUNCTION_REGISTERS}, {&out->ptx_version, FUNCTION_PTX}, {&out->binary_version, FUNCTION_BINARY},
        {&out->cache_mode_ca, FUNCTION_CACHE_CA}, {&out->max_dynamic_shared, FUNCTION_DYNAMIC_SHARED},
        {&out->carveout, FUNCTION_CARVEOUT}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        TRY(kernel_error(driver.cuKernelGetAttribute(wanted[i].to, wanted[i].attribute, kernel, device)));
    /* Clusters came with a later driver interface: a driver that does not know them leaves zeros. */
    int *cluster[] = {&out->cluster_must_be_set, &out->cluster_width, &out->cluster_height, &out->cluster_depth,
                      &out->non_portable_cluster, &out->cluster_policy};
    for (int i = 0; i < 6; i++)
        if (driver.cuKernelGetAttribute(cluster[i], FUNCTION_CLUSTER_MUST + i, kernel, device))
            *cluster[i] = 0;
    out->shared_bytes = (size_t)shared;
    out->const_bytes = (size_t)constant;
    out->local_bytes = (size_t)local;
    return RT_cudaSuccess;
}

API cudart_error cudaFuncGetAttributes(cudart_function_attributes *out, const void *function)
{
    return record(function_attributes(out, function));
}

static cudart_error set_attribute(const void *function, int32_t attribute, int value)
{
    cu_kernel kernel;
    int device;
    TRY(kernel_of(function, &kernel));
    TRY(current_device(&device));
    return kernel_error(driver.cuKernelSetAttribute(attribute, value, kernel, device));
}

API cudart_error cudaFuncSetAttribute(const void *function, int32_t attribute, int value)
{
    return record(set_attribute(function, attribute, value));
}

API cudart_error cudaKernelSetAttributeForDevice(cu_kernel kernel, int32_t attribute, int value, int device)
{
    return CALL(kernel_error(driver.cuKernelSetAttribute(attribute, value, kernel, device)));
}

API cudart_error cudaFuncSetCacheConfig(const void *function, int32_t config)
{
    cu_kernel kernel;
    int device;
    cudart_error error = kernel_of(function, &kernel);
    if (!error)
        error = current_device(&device);
    return record(error ? error : kernel_error(driver.cuKernelSetCacheConfig(kernel, config, device)));
}

/* The width of shared-memory banks is a property of devices of 2012; the call has been without effect since. */
API cudart_error cudaFuncSetSharedMemConfig(const void *function, int32_t config)
{
    (void)config;
    cu_kernel kernel;
    return record(kernel_of(function, &kernel));
}

API cudart_error cudaFuncGetName(const char **name, const void *function)
{
    cu_kernel kernel;
    cudart_error error = name ? kernel_of(function, &kernel) : RT_cudaErrorInvalidValue;
    return record(error ? error : kernel_error(driver.cuKernelGetName(name, kernel)));
}

API cudart_error cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size)
{
    cu_kernel kernel;
    cudart_error error = kernel_of(function, &kernel);
    return record(error ? error : driver.cuKernelGetParamInfo(kernel, index, offset, size));
}

/* ------------------------------------------------------------ occupancy */

#define OCCUPANCY(function, call)                                                                                      \
    ({                                                                                                                 \
        cu_kernel kernel;                                                                                              \
        cudart_error error_ = kernel_of(function, &kernel);                                                            \
        record(error_ ? error_ : kernel_error(call));                                                                  \
    })

API cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block, size_t shared_bytes)
{
    return OCCUPANCY(function,
                     driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (cu_function)kernel, block, shared_bytes));
}

API cudart_error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int block,
                                                                        size_t shared_bytes, uint32_t flags)
{
    return OCCUPANCY(function, driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (cu_function)kernel, block,
                                                                                           shared_bytes, flags));
}

API cudart_error cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, const void *function, int blocks, int block)
{
    return OCCUPANCY(function,
                     driver.cuOccupancyAvailableDynamicSMemPerBlock(shared_bytes, (cu_function)kernel, blocks, block));
}

API cudart_error cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const cudart_launch_config *config)
{
    cu_launch_config converted;
    cudart_error error = convert_config(config, &converted);
    return error ? record(error)
                 : OCCUPANCY(function, driver.cuOccupancyMaxPotentialClusterSize(size, (cu_function)kernel, &converted));
}

API cudart_error cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const cudart_launch_config *config)
{
    cu_launch_config converted;
    cudart_error error = convert_config(config, &converted);
    return error ? record(error) : OCCUPANCY(function, driver.cuOccupancyMaxActiveClusters(clusters, (cu_function)kernel, &converted));
}
