/* launch.c - cuLaunch…: checks what a program asks for, and copies its parameters before the call returns. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/launch.h"
#include "runtime/driver/library.h"
#include "runtime/driver/limits.h"

/* ------------------------------------------------------------ parameters */

/* The packed form: a list of marks and values. */
static cu_result read_extra(void **extra, const void **block, size_t *bytes)
{
    *block = NULL;
    *bytes = 0;
    for (int i = 0; extra[i] != CUABI_LAUNCH_PARAM_END; i += 2) {
        if (i >= 8 || !extra[i + 1])
            return DR_ERROR(INVALID_VALUE);
        if (extra[i] == CUABI_LAUNCH_PARAM_BUFFER_POINTER)
            *block = extra[i + 1];
        else if (extra[i] == CUABI_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[i + 1];
        else
            return DR_ERROR(INVALID_VALUE);
    }
    return CUABI_SUCCESS;
}

cu_result dr_params_copy(const ptx_function *f, void **params, void **extra, void **out)
{
    const void *block = NULL;
    size_t bytes = 0, whole = (size_t)f->param_size;
    *out = NULL;
    if (params && extra)
        return DR_ERROR(INVALID_VALUE);
    if (whole == 0)
        return CUABI_SUCCESS;          /* the arrays may be anything */
    if (!params && !extra)
        return dr_fail(DR_ERROR(INVALID_VALUE), "kernel \"%s\" takes %u parameters, the launch gives none", f->name, f->prototype.nparams);
    cu_result result = extra ? read_extra(extra, &block, &bytes) : CUABI_SUCCESS;
    if (result || (extra && (!block || bytes < whole)))
        return dr_fail(DR_ERROR(INVALID_VALUE), "kernel \"%s\" takes %zu bytes of parameters, the launch gives %zu", f->name, whole, bytes);
    unsigned char *copy = calloc(1, whole);
    if (!copy)
        return DR_ERROR(OUT_OF_MEMORY);
    if (extra)
        memcpy(copy, block, whole);
    for (uint32_t i = 0; params && i < f->prototype.nparams; i++) {
        const ptx_variable *v = f->prototype.params[i];
        if (!params[i]) {
            free(copy);
            return dr_fail(DR_ERROR(INVALID_VALUE), "the pointer to parameter %u of kernel \"%s\" is NULL", i, f->name);
        }
        memcpy(copy + v->offset, params[i], (size_t)v->size);
    }
    *out = copy;
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ checks */

static cu_result check_shape(const dr_function *f, const dr_launch *l)
{
    const uint32_t *grid = l->grid, *block = l->block;
    uint64_t threads = 1;
    bool required = false, equal = true;
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || block[i] == 0 || block[i] > DR_MAX_THREADS)
            return dr_fail(DR_ERROR(INVALID_VALUE), "a launch of \"%s\" with a grid of %u x %u x %u blocks of %u x %u x %u threads", f->ptx->name,
                           grid[0], grid[1], grid[2], block[0], block[1], block[2]);
        threads *= block[i];
        required |= f->ptx->reqntid[i] != 0;
        equal &= block[i] == (f->ptx->reqntid[i] ? f->ptx->reqntid[i] : 1);
    }
    if (block[2] > 64 || threads > DR_MAX_THREADS || grid[0] > DR_MAX_GRID_X || grid[1] > DR_MAX_GRID_YZ || grid[2] > DR_MAX_GRID_YZ)
        return dr_fail(DR_ERROR(INVALID_VALUE), "a launch of \"%s\" with a grid of %u x %u x %u blocks of %u x %u x %u threads", f->ptx->name,
                       grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    if (required && !equal)
        return dr_fail(DR_ERROR(INVALID_VALUE), "\"%s\" requires another block (.reqntid)", f->ptx->name);
    if (threads > dr_function_max_threads(f))
        return dr_fail(DR_ERROR(LAUNCH_OUT_OF_RESOURCES), "\"%s\" allows blocks of at most %u threads (.maxntid)", f->ptx->name,
                       dr_function_max_threads(f));
    if ((int64_t)l->shared_bytes > f->max_dynamic_shared)
        return dr_fail(DR_ERROR(INVALID_VALUE), "\"%s\" may have %d bytes of dynamic shared memory, the launch asks for %u", f->ptx->name,
                       f->max_dynamic_shared, l->shared_bytes);
    return CUABI_SUCCESS;
}

/* All blocks of a cooperative grid are there at once: no more than the occupancy that this library reports. */
static cu_result check_cooperative(dr_function *f, const dr_launch *l)
{
    dr_device *d = f->module->device;
    if (!l->cooperative)
        return CUABI_SUCCESS;
    const char *why = rt_why_not_cooperative(d->device);
    if (why)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "cooperative launch: \"%s\" cannot run all blocks of a grid at once: %s", d->choice, why);
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint32_t at_once = dr_occupancy(f, l->block[0] * l->block[1] * l->block[2], l->shared_bytes);
    return blocks > (uint64_t)at_once * d->processors ? DR_ERROR(COOPERATIVE_LAUNCH_TOO_LARGE) : CUABI_SUCCESS;
}

cu_result dr_launch_check(dr_function *f, const dr_launch *l)
{
    cu_result result = check_shape(f, l);
    if (!result)
        result = check_cooperative(f, l);
    return result ? result : dr_function_load(f);
}

cu_result dr_launch_make(dr_context *c, const void *handle, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes,
                         bool cooperative, void **params, void **extra, dr_launch *out)
{
    memset(out, 0, sizeof *out);
    cu_result result = dr_function_of(handle, c, &out->function);
    if (result)
        return result;
    if (out->function->module->context != c)
        return DR_ERROR(INVALID_HANDLE);
    memcpy(out->grid, grid, sizeof out->grid);
    memcpy(out->block, block, sizeof out->block);
    out->shared_bytes = shared_bytes;
    out->cooperative = cooperative;
    result = dr_launch_check(out->function, out);
    return result ? result : dr_params_copy(out->function->ptx, params, extra, &out->params);
}

static cu_result submit(const void *function, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes, cu_stream handle,
                        bool cooperative, void **params, void **extra)
{
    DR_USE(c);
    dr_stream *s;
    cu_result result = dr_stream_of(c, handle, &s);
    dr_work work = {.kind = DR_WORK_LAUNCH};
    /* CUDA Programming Guide, "Stream and Event Behavior": copies may go to another device's stream, launches may not. */
    if (!result && s->context != c)
        result = dr_fail(DR_ERROR(INVALID_HANDLE), "a launch in a stream of another context than the current one");
    if (!result)
        result = dr_launch_make(s->context, function, grid, block, shared_bytes, cooperative, params, extra, &work.of.launch);
    return result ? result : dr_stream_submit(s, &work, NULL, NULL);
}

/* ------------------------------------------------------------ cuLaunch… */

cu_result impl_cuLaunchKernel(cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                              uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params, void **extra)
{
    return submit(function, (uint32_t[]){grid_x, grid_y, grid_z}, (uint32_t[]){block_x, block_y, block_z}, shared_bytes, stream, false, params,
                  extra);
}

cu_result impl_cuLaunchCooperativeKernel(cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                                         uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params)
{
    return submit(function, (uint32_t[]){grid_x, grid_y, grid_z}, (uint32_t[]){block_x, block_y, block_z}, shared_bytes, stream, true, params,
                  NULL);
}

/* What attributes mean here: a cooperative grid; a cluster, of one block only. Hints about scheduling and memory change nothing. */
static cu_result read_attributes(const cu_launch_config *config, bool *cooperative)
{
    for (uint32_t i = 0; i < config->attribute_count; i++) {
        const cu_launch_attribute *a = &config->attributes[i];
        if (a->id == CUABI_CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            *cooperative = a->value.cooperative != 0;
        if (a->id == CUABI_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
            (a->value.cluster.x > 1 || a->value.cluster.y > 1 || a->value.cluster.z > 1))
            return dr_fail(DR_ERROR(NOT_SUPPORTED), "clusters of more than one block");
        if (a->id == CUABI_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT || a->id == CUABI_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT ||
            a->id == CUABI_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            return dr_fail(DR_ERROR(NOT_SUPPORTED), "launch attribute %d", a->id);
    }
    return CUABI_SUCCESS;
}

cu_result impl_cuLaunchKernelEx(const cu_launch_config *config, cu_function function, void **params, void **extra)
{
    DR_NEED(config && (config->attributes || !config->attribute_count));
    bool cooperative = false;
    cu_result result = read_attributes(config, &cooperative);
    return result ? result : submit(function, config->grid, config->block, config->shared_bytes, config->stream, cooperative, params, extra);
}
