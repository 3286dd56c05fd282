/* cuda_launch.c - launches on the NVIDIA device: parameters, waiting with a time limit, and what kernels print.
 *
 * Nothing can stop a running kernel but the end of the process. A launch that exceeds its time limit is reported, and
 * the device is given up: every further call would wait for the kernel.
 *
 * The driver writes a kernel's printf to the process's standard output when the host synchronises. For a caller that
 * wants the text, file descriptor 1 leads to a temporary file meanwhile; what other threads print in that time
 * is taken as well. It is done only for modules that call vprintf, by one launch at a time.
 */
#include "runtime/cuda/cuda.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------ printf */

static pthread_mutex_t stdout_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct capture {
    FILE *file;                    /* NULL: not capturing */
    int saved;
} capture;

static pxb_status start_capture(pxb_device *device, capture *c)
{
    pthread_mutex_lock(&stdout_lock);
    fflush(stdout);
    c->file = tmpfile();
    c->saved = c->file ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
    if (c->saved >= 0 && dup2(fileno(c->file), STDOUT_FILENO) >= 0)
        return PXB_OK;
    pxb_status status = rt_fail(device->context, PXB_IO, "what the kernel prints cannot be captured: %s", strerror(errno));
    if (c->saved >= 0)
        close(c->saved);
    if (c->file)
        fclose(c->file);
    c->file = NULL;
    pthread_mutex_unlock(&stdout_lock);
    return status;
}

static void end_capture(capture *c, const pxb_launch_options *o)
{
    char piece[4096];
    if (!c->file)
        return;
    fflush(stdout); /* the driver may print by the C library */
    dup2(c->saved, STDOUT_FILENO);
    close(c->saved);
    pthread_mutex_unlock(&stdout_lock);
    rewind(c->file);
    for (size_t n; (n = fread(piece, 1, sizeof piece, c->file)) > 0;)
        o->print(o->print_user, piece, n);
    fclose(c->file);
    c->file = NULL;
}

/* ------------------------------------------------------------ waiting */

static void pause_for(long nanoseconds)
{
    struct timespec t = {0, nanoseconds};
    nanosleep(&t, NULL);
}

static pxb_status timed_out(pxb_device *device, const cuda_kernel *kernel, uint32_t limit)
{
    cuda_state *s = cuda_state_of(device);
    char reason[200];
    s->lost = PXB_FAULT_TIMEOUT;
    s->hung = true;
    snprintf(s->lost_by, sizeof s->lost_by, "%.*s", (int)sizeof s->lost_by - 1, kernel->ptx->name);
    snprintf(reason, sizeof reason,
             "the launch ran longer than its time limit of %u ms; a GPU's kernel cannot be stopped from outside: it "
             "runs on, and the device is given up",
             limit);
    pxb_error e = {.status = PXB_FAULT_TIMEOUT,
                   .reason = reason,
                   .file = kernel->owner->ptx->file,
                   .kernel = kernel->ptx->name};
    return rt_fail_with(device->context, &e);
}

/* Polls, first often and then every millisecond, until the event behind the kernel has happened. */
static pxb_status wait_limited(pxb_device *device, const cuda_kernel *kernel, uint32_t limit)
{
    const cuda_state *s = cuda_state_of(device);
    double end = rt_now_ms() + limit;
    long step = 10000;
    cu_result result = s->cu->cuEventRecord(s->done, NULL);
    if (result)
        return cuda_fault(device, kernel, result);
    while ((result = s->cu->cuEventQuery(s->done)) == CUABI_CUDA_ERROR_NOT_READY) {
        if (rt_now_ms() > end)
            return timed_out(device, kernel, limit);
        pause_for(step);
        step = step < 500000 ? step * 2 : 1000000;
    }
    return result ? cuda_fault(device, kernel, result) : PXB_OK;
}

static pxb_status wait_for(pxb_device *device, const cuda_kernel *kernel, uint32_t limit)
{
    const cuda_state *s = cuda_state_of(device);
    pxb_status status = limit ? wait_limited(device, kernel, limit) : PXB_OK;
    if (status)
        return status;
    /* Also after the event: this is where the driver hands out what was printed. */
    cu_result result = s->cu->cuCtxSynchronize();
    return result ? cuda_fault(device, kernel, result) : PXB_OK;
}

/* ------------------------------------------------------------ launching */

/* More dynamic shared memory than the 48 KiB that every GPU gives has to be asked for (CUDA Programming Guide,
 * "Shared Memory"). */
static pxb_status allow_shared(pxb_device *device, const cuda_kernel *kernel, uint32_t bytes)
{
    const cuda_state *s = cuda_state_of(device);
    int fixed = 0, most = 0;
    cu_result result = s->cu->cuFuncGetAttribute(&fixed, CUABI_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function);
    if (result)
        return cuda_fail(device, result, "cuFuncGetAttribute");
    if ((uint64_t)fixed + bytes <= 48 << 10)
        return PXB_OK;
    result = s->cu->cuDeviceGetAttribute(&most, CUABI_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, s->device);
    if (result)
        return cuda_fail(device, result, "cuDeviceGetAttribute");
    if ((uint64_t)fixed + bytes > (uint64_t)most)
        return rt_fail(device->context, PXB_BAD_ARGUMENT,
                       "%u bytes of dynamic beside %d of static shared memory; this GPU gives a block at most %d", bytes,
                       fixed, most);
    result = s->cu->cuFuncSetAttribute(kernel->function, CUABI_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    return result ? cuda_fail(device, result, "cuFuncSetAttribute") : PXB_OK;
}

/* Known once the kernel has the shared memory that the launch asks for. */
static pxb_status check_at_once(pxb_device *device, const cuda_kernel *kernel, const pxb_launch_options *o)
{
    const cuda_state *s = cuda_state_of(device);
    int each = 0, threads = (int)(o->block[0] * o->block[1] * o->block[2]);
    cu_result result = s->cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel->function, threads, o->shared_bytes);
    if (result)
        return cuda_fail(device, result, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return rt_check_at_once(device->context, o, (uint64_t)each * (uint64_t)s->units);
}

/* This launch takes the parameters one by one only. */
static pxb_status submit_cooperative(pxb_device *device, const cuda_kernel *kernel, const pxb_launch_options *o, const void *params)
{
    const cuda_state *s = cuda_state_of(device);
    const ptx_prototype *p = &kernel->ptx->prototype;
    void **list = calloc((size_t)p->nparams + 1, sizeof *list);
    if (!list)
        return rt_no_memory(device->context);
    for (uint32_t i = 0; i < p->nparams; i++)
        list[i] = (char *)(uintptr_t)params + p->params[i]->offset;
    cu_result result =
        s->cu->cuLaunchCooperativeKernel(kernel->function, o->grid[0], o->grid[1], o->grid[2], o->block[0], o->block[1],
                                         o->block[2], o->shared_bytes, NULL, p->nparams ? list : NULL);
    free(list);
    return result ? cuda_fault(device, kernel, result) : PXB_OK;
}

static pxb_status submit(pxb_device *device, const cuda_kernel *kernel, const pxb_launch_options *o, const void *params)
{
    const cuda_state *s = cuda_state_of(device);
    size_t bytes = (size_t)kernel->ptx->param_size;
    void *extra[] = {CUABI_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)params, CUABI_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CUABI_LAUNCH_PARAM_END};
    cu_result result =
        s->cu->cuLaunchKernel(kernel->function, o->grid[0], o->grid[1], o->grid[2], o->block[0], o->block[1], o->block[2],
                              o->shared_bytes, NULL, NULL, bytes ? extra : NULL);
    return result ? cuda_fault(device, kernel, result) : PXB_OK;
}

static pxb_status launch_here(pxb_device *device, const cuda_kernel *kernel, const pxb_launch_options *o,
                              const void *params)
{
    capture c = {0};
    pxb_status status = allow_shared(device, kernel, o->shared_bytes);
    if (!status && o->cooperative)
        status = check_at_once(device, kernel, o);
    if (!status && o->print && kernel->owner->prints)
        status = start_capture(device, &c);
    if (!status)
        status = o->cooperative ? submit_cooperative(device, kernel, o, params) : submit(device, kernel, o, params);
    if (!status)
        status = wait_for(device, kernel, o->timeout_ms);
    end_capture(&c, o);
    return status;
}

pxb_status cuda_launch(pxb_device *device, void *kernel, const pxb_launch_options *options, const void *params)
{
    if (options->check)
        return rt_fail(device->context, PXB_UNSUPPORTED,
                       "a GPU does not check accesses against exact bounds; device \"cpu\" does");
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    status = launch_here(device, kernel, options, params);
    cuda_leave(device);
    return status;
}
