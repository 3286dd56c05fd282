/* old.c - launches as CUDA had them before version 4: a function carries its block, its shared memory and its parameters. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/launch.h"

enum { MOST_BYTES = 4096 };

#define USE_FUNCTION(f, handle)                                                                                        \
    DR_USE(f##_context_);                                                                                              \
    dr_function *f = dr_object_of(handle, DR_FUNCTION);                                                                \
    if (!f)                                                                                                            \
    return DR_ERROR(INVALID_HANDLE)

cu_result impl_cuFuncSetBlockShape(cu_function function, int x, int y, int z)
{
    USE_FUNCTION(f, function);
    DR_NEED(x > 0 && y > 0 && z > 0);
    memcpy(f->old_block, (uint32_t[]){(uint32_t)x, (uint32_t)y, (uint32_t)z}, sizeof f->old_block);
    return CUABI_SUCCESS;
}

cu_result impl_cuFuncSetSharedSize(cu_function function, uint32_t bytes)
{
    USE_FUNCTION(f, function);
    f->old_shared = bytes;
    return CUABI_SUCCESS;
}

cu_result impl_cuParamSetSize(cu_function function, uint32_t numbytes)
{
    USE_FUNCTION(f, function);
    DR_NEED(numbytes <= MOST_BYTES);
    f->old_bytes = numbytes;
    return CUABI_SUCCESS;
}

static cu_result set_param(cu_function function, int offset, const void *value, uint32_t bytes)
{
    USE_FUNCTION(f, function);
    DR_NEED(value && offset >= 0 && bytes <= MOST_BYTES && (uint32_t)offset <= MOST_BYTES - bytes);
    if (!f->old_params)
        f->old_params = calloc(1, MOST_BYTES);
    if (!f->old_params)
        return DR_ERROR(OUT_OF_MEMORY);
    memcpy(f->old_params + offset, value, bytes);
    return CUABI_SUCCESS;
}

cu_result impl_cuParamSeti(cu_function function, int offset, uint32_t value)
{
    return set_param(function, offset, &value, sizeof value);
}

cu_result impl_cuParamSetf(cu_function function, int offset, float value)
{
    return set_param(function, offset, &value, sizeof value);
}

cu_result impl_cuParamSetv(cu_function function, int offset, void *address, uint32_t numbytes)
{
    return set_param(function, offset, address, numbytes);
}

cu_result impl_cuLaunchGridAsync(cu_function function, int grid_width, int grid_height, cu_stream stream)
{
    USE_FUNCTION(f, function);
    DR_NEED(grid_width > 0 && grid_height > 0);
    static unsigned char nothing[MOST_BYTES];
    size_t bytes = f->old_bytes;
    void *extra[] = {CUABI_LAUNCH_PARAM_BUFFER_POINTER, f->old_params ? f->old_params : nothing, CUABI_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CUABI_LAUNCH_PARAM_END};
    return impl_cuLaunchKernel(function, (uint32_t)grid_width, (uint32_t)grid_height, 1, f->old_block[0], f->old_block[1], f->old_block[2],
                               f->old_shared, stream, NULL, extra);
}

cu_result impl_cuLaunchGrid(cu_function function, int grid_width, int grid_height)
{
    return impl_cuLaunchGridAsync(function, grid_width, grid_height, NULL);
}

cu_result impl_cuLaunch(cu_function function)
{
    return impl_cuLaunchGrid(function, 1, 1);
}
