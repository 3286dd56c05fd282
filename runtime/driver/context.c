/* context.c - contexts, the primary one of each device, and the stack of current contexts that each thread has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/driver/driver.h"

/* ------------------------------------------------------------ the current context */

typedef struct stack { dr_context **at; size_t count, capacity; } stack;

static _Thread_local stack current;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;

static dr_context *contexts;       /* all that live, under dr_lock */
static uint64_t last_id;

static void drop_stack(void *at)
{
    free(at);
}

static void make_stack_key(void)
{
    pthread_key_create(&stack_key, drop_stack);
}

static cu_result push(dr_context *c)
{
    if (current.count == current.capacity) {
        size_t capacity = current.capacity ? 2 * current.capacity : 8;
        dr_context **more = realloc(current.at, capacity * sizeof *more);
        if (!more)
            return DR_ERROR(OUT_OF_MEMORY);
        current.at = more;
        current.capacity = capacity;
        pthread_once(&stack_once, make_stack_key);
        pthread_setspecific(stack_key, more);
    }
    current.at[current.count++] = c;
    return CUABI_SUCCESS;
}

dr_context *dr_context_current(void)
{
    return current.count ? current.at[current.count - 1] : NULL;
}

cu_result dr_context_look(dr_context **out)
{
    *out = dr_context_current();
    if (dr_in_callback)                /* it would wait for itself */
        return dr_fail(DR_ERROR(NOT_PERMITTED), "a call of the driver in a host function or callback of a stream");
    if (!*out)
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_CONTEXT);
    return dr_kind_of(*out) == DR_CONTEXT ? CUABI_SUCCESS : DR_ERROR(CONTEXT_IS_DESTROYED);
}

cu_result dr_context_use(dr_context **out)
{
    cu_result result = dr_context_look(out);
    return result ? result : atomic_load_explicit(&(*out)->sticky, memory_order_acquire);
}

/* ------------------------------------------------------------ making and ending */

static cu_result make(dr_device *device, uint32_t flags, bool primary, dr_context **out)
{
    dr_context *c = dr_object_new(DR_CONTEXT, sizeof *c);
    if (!c)
        return DR_ERROR(OUT_OF_MEMORY);
    c->device = device;
    c->flags = flags;
    c->primary = primary;
    c->api_version = 3020;
    c->limits[CUABI_CU_LIMIT_STACK_SIZE] = 1024;
    c->limits[CUABI_CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    c->limits[CUABI_CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    c->limits[CUABI_CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    c->limits[CUABI_CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    c->limits[CUABI_CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    pthread_mutex_init(&c->print_lock, NULL);
    cu_result result = dr_stream_new(c, 0, 0, &c->legacy);
    if (result) {
        dr_object_free(c, DR_CONTEXT);
        return result;
    }
    pthread_mutex_lock(&dr_lock);
    c->id = ++last_id;
    c->next = contexts;
    contexts = c;
    pthread_mutex_unlock(&dr_lock);
    *out = c;
    return CUABI_SUCCESS;
}

static void unlink_context(dr_context *c)
{
    pthread_mutex_lock(&dr_lock);
    for (dr_context **p = &contexts; *p; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            break;
        }
    }
    pthread_mutex_unlock(&dr_lock);
}

/* A fault may have ended the device with the context: it comes back when its last context is gone. */
static void recover(dr_device *d)
{
    bool used = false;
    pthread_mutex_lock(&dr_lock);
    for (dr_context *c = contexts; c; c = c->next)
        used |= c->device == d;
    pthread_mutex_unlock(&dr_lock);
    if (used || !d->device->ops->recover)
        return;
    pthread_mutex_lock(&d->lock);
    dr_fail_pxb(d->pxb, d->device->ops->recover(d->device), "recovery");
    pthread_mutex_unlock(&d->lock);
}

static void release_streams(dr_context *c)
{
    for (;;) {
        pthread_mutex_lock(&dr_lock);
        dr_stream *s = c->streams;
        while (s && s->dying)
            s = s->next;
        pthread_mutex_unlock(&dr_lock);
        if (!s)
            break;
        dr_stream_release(s);
    }
    dr_context_wait(c);
}

static void end(dr_context *c)
{
    dr_device *device = c->device;
    dr_context_wait(c);
    unlink_context(c);
    while (c->modules)
        dr_module_free(c->modules);
    release_streams(c);
    dr_textures_leave(c);
    dr_memory_leave(c);
    pthread_mutex_destroy(&c->print_lock);
    free(c->printed);
    dr_object_free(c, DR_CONTEXT);
    recover(device);
}

cu_result dr_context_wait(dr_context *c)
{
    /* Streams come and go while we wait: one that has something left at a time. */
    for (;;) {
        dr_point point = {0};
        pthread_mutex_lock(&dr_lock);
        for (dr_stream *s = c->streams; s && !point.stream; s = s->next)
            if (s->completed < s->enqueued)
                point = (dr_point){s, s->enqueued};
        pthread_mutex_unlock(&dr_lock);
        if (!point.stream)
            break;
        dr_point_wait(point);
    }
    dr_print_flush(c);
    return atomic_load(&c->sticky);
}

void dr_device_wait(dr_device *d)
{
    for (;;) {
        dr_point point = {0};
        pthread_mutex_lock(&dr_lock);
        for (dr_context *c = contexts; c && !point.stream; c = c->next)
            for (dr_stream *s = c->device == d ? c->streams : NULL; s && !point.stream; s = s->next)
                if (s->completed < s->enqueued)
                    point = (dr_point){s, s->enqueued};
        pthread_mutex_unlock(&dr_lock);
        if (!point.stream)
            break;
        dr_point_wait(point);
    }
}

/* ------------------------------------------------------------ printf */

/* CUDA prints what kernels wrote when the host synchronises, and programs' output is ordered by that. */
void dr_print(void *user, const char *text, size_t length)
{
    dr_context *c = user;
    pthread_mutex_lock(&c->print_lock);
    if (c->nprinted + length > c->print_capacity) {
        size_t capacity = c->print_capacity ? c->print_capacity : 4096;
        while (capacity < c->nprinted + length)
            capacity *= 2;
        char *more = realloc(c->printed, capacity);
        if (more) {
            c->printed = more;
            c->print_capacity = capacity;
        }
    }
    if (c->nprinted + length <= c->print_capacity) {
        memcpy(c->printed + c->nprinted, text, length);
        c->nprinted += length;
    } else
        fwrite(text, 1, length, stdout);       /* no memory to keep it: early is better than never */
    pthread_mutex_unlock(&c->print_lock);
}

void dr_print_flush(dr_context *c)
{
    pthread_mutex_lock(&c->print_lock);
    if (c->nprinted) {
        fwrite(c->printed, 1, c->nprinted, stdout);
        fflush(stdout);
        c->nprinted = 0;
    }
    pthread_mutex_unlock(&c->print_lock);
}

/* After fork(): the thread has no context, and what kernels of the parent printed is the parent's to show. */
void dr_contexts_forked(void)
{
    current.count = 0;
    contexts = NULL;
}

/* Without a lock that a thread of the past may hold. */
static bool something_runs(void)
{
    bool runs = false;
    if (pthread_mutex_trylock(&dr_lock))
        return true;
    for (dr_context *c = contexts; c; c = c->next)
        for (dr_stream *s = c->streams; s; s = s->next)
            runs |= s->completed < s->enqueued;
    pthread_mutex_unlock(&dr_lock);
    return runs;
}

/* A program that ends without synchronising still gets its text, of kernels that end soon; those that do not are not waited for. */
__attribute__((destructor)) static void flush_all(void)
{
    enum { MOST_MS = 1000 };
    for (int ms = 0; ms < MOST_MS && contexts && something_runs(); ms++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    for (dr_context *c = contexts; c; c = c->next)
        if (pthread_mutex_trylock(&c->print_lock) == 0) {
            if (c->nprinted)
                fwrite(c->printed, 1, c->nprinted, stdout);
            c->nprinted = 0;
            pthread_mutex_unlock(&c->print_lock);
        }
    fflush(stdout);
}

/* ------------------------------------------------------------ cuCtx… */

/* One way to wait at most (spin, yield, block), and what else cuda.h knows. */
static bool are_flags(uint32_t flags)
{
    uint32_t schedule = flags & CUABI_CU_CTX_SCHED_MASK;
    return (flags & ~(uint32_t)CUABI_CU_CTX_FLAGS_MASK) == 0 && (schedule & (schedule - 1)) == 0;
}

cu_result impl_cuCtxCreate_v2(cu_context *context, uint32_t flags, cu_device device)
{
    DR_NEED(context);
    cu_result result = dr_ready();
    if (result)
        return result;
    dr_device *d = dr_device_at(device);
    if (!d)
        return DR_ERROR(INVALID_DEVICE);
    if (!are_flags(flags))
        return DR_ERROR(INVALID_VALUE);
    dr_context *c;
    result = make(d, flags, false, &c);
    if (!result)
        result = push(c);
    if (!result)
        *context = c;
    return result;
}

cu_result impl_cuCtxCreate(cu_context *context, uint32_t flags, cu_device device)
{
    return impl_cuCtxCreate_v2(context, flags, device);
}

/* Execution affinity divides multiprocessors among contexts; there is nothing to divide here. */
cu_result impl_cuCtxCreate_v3(cu_context *context, void *params_array, int num_params, uint32_t flags, cu_device device)
{
    return params_array || num_params ? DR_ERROR(NOT_SUPPORTED) : impl_cuCtxCreate_v2(context, flags, device);
}

cu_result impl_cuCtxCreate_v4(cu_context *context, cu_context_params *ctx_create_params, uint32_t flags, cu_device device)
{
    const cu_context_params *p = ctx_create_params;
    if (p && (p->affinities || p->affinity_count || p->graphics))
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "contexts with execution affinity or for graphics");
    return impl_cuCtxCreate_v2(context, flags, device);
}

cu_result impl_cuCtxDestroy_v2(cu_context context)
{
    dr_context *c = dr_object_of(context, DR_CONTEXT);
    if (!c)
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_CONTEXT);
    if (c->primary)
        return DR_ERROR(INVALID_CONTEXT);
    if (dr_context_current() == c)
        current.count--;
    end(c);
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxDestroy(cu_context context)
{
    return impl_cuCtxDestroy_v2(context);
}

cu_result impl_cuCtxPushCurrent_v2(cu_context context)
{
    cu_result ready = dr_ready();
    if (ready)
        return ready;
    return dr_object_of(context, DR_CONTEXT) ? push(context) : DR_ERROR(INVALID_CONTEXT);
}

cu_result impl_cuCtxPushCurrent(cu_context context)
{
    return impl_cuCtxPushCurrent_v2(context);
}

cu_result impl_cuCtxPopCurrent_v2(cu_context *context)
{
    if (!dr_context_current())
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_CONTEXT);
    if (context)
        *context = dr_context_current();
    current.count--;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxPopCurrent(cu_context *context)
{
    return impl_cuCtxPopCurrent_v2(context);
}

cu_result impl_cuCtxSetCurrent(cu_context context)
{
    cu_result ready = dr_ready();
    if (ready)
        return ready;
    if (context && !dr_object_of(context, DR_CONTEXT))
        return DR_ERROR(INVALID_CONTEXT);
    if (current.count)
        current.count--;
    return context ? push(context) : CUABI_SUCCESS;
}

cu_result impl_cuCtxGetCurrent(cu_context *context)
{
    DR_NEED(context);
    cu_result ready = dr_ready();
    if (!ready)
        *context = dr_context_current();
    return ready;
}

cu_result impl_cuCtxGetDevice(cu_device *device)
{
    DR_NEED(device);
    dr_context *c;
    cu_result result = dr_context_look(&c);
    if (!result)
        *device = c->device->ordinal;
    return result;
}

cu_result impl_cuCtxGetDevice_v2(cu_device *device, cu_context context)
{
    DR_NEED(device);
    if (!context)
        return impl_cuCtxGetDevice(device);
    dr_context *c = dr_object_of(context, DR_CONTEXT);
    if (!c)
        return DR_ERROR(INVALID_CONTEXT);
    *device = c->device->ordinal;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetFlags(uint32_t *flags)
{
    DR_NEED(flags);
    dr_context *c;
    cu_result result = dr_context_look(&c);
    if (!result)
        *flags = c->flags;
    return result;
}

cu_result impl_cuCtxSetFlags(uint32_t flags)
{
    if (!are_flags(flags))
        return DR_ERROR(INVALID_VALUE);
    DR_USE(c);
    c->flags = flags;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetId(cu_context context, uint64_t *ctx_id)
{
    DR_NEED(ctx_id);
    dr_context *c = context ? dr_object_of(context, DR_CONTEXT) : dr_context_current();
    if (!c)
        return DR_ERROR(CONTEXT_IS_DESTROYED);
    *ctx_id = c->id;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxSynchronize(void)
{
    dr_context *c;
    cu_result result = dr_context_look(&c);
    if (result)
        return result;
    result = dr_capture_forbids_waiting(c);
    return result ? result : dr_context_wait(c);
}

cu_result impl_cuCtxSynchronize_v2(cu_context context)
{
    if (!context)
        return impl_cuCtxSynchronize();
    dr_context *c = dr_object_of(context, DR_CONTEXT);
    if (dr_in_callback)
        return DR_ERROR(NOT_PERMITTED);
    if (!c)
        return DR_ERROR(INVALID_CONTEXT);
    cu_result result = dr_capture_forbids_waiting(c);
    return result ? result : dr_context_wait(c);
}

cu_result impl_cuCtxSetLimit(int32_t limit, size_t value)
{
    DR_USE(c);
    if (limit < 0 || limit > CUABI_CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
        return limit < 10 ? DR_ERROR(UNSUPPORTED_LIMIT) : DR_ERROR(INVALID_VALUE);
    if (limit == CUABI_CU_LIMIT_STACK_SIZE && value > 512 << 10)
        return DR_ERROR(INVALID_VALUE);
    c->limits[limit] = value;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetLimit(size_t *value, int32_t limit)
{
    DR_NEED(value);
    DR_USE(c);
    if (limit < 0 || limit > CUABI_CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
        return limit < 10 ? DR_ERROR(UNSUPPORTED_LIMIT) : DR_ERROR(INVALID_VALUE);
    *value = c->limits[limit];
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetCacheConfig(int32_t *pconfig)
{
    DR_NEED(pconfig);
    DR_USE(c);
    *pconfig = c->cache_config;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxSetCacheConfig(int32_t config)
{
    DR_USE(c);
    if (config < 0 || config > 3)
        return DR_ERROR(INVALID_VALUE);
    c->cache_config = config;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetSharedMemConfig(int32_t *config)
{
    DR_NEED(config);
    DR_USE(c);
    *config = c->shared_config ? c->shared_config : 1;      /* banks of four bytes */
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxSetSharedMemConfig(int32_t config)
{
    DR_USE(c);
    if (config < 0 || config > 2)
        return DR_ERROR(INVALID_VALUE);
    c->shared_config = config;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetApiVersion(cu_context context, uint32_t *version)
{
    DR_NEED(version);
    dr_context *c = context ? dr_object_of(context, DR_CONTEXT) : dr_context_current();
    if (!c)
        return DR_ERROR(INVALID_CONTEXT);
    *version = c->api_version;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxGetStreamPriorityRange(int *least_priority, int *greatest_priority)
{
    DR_USE(c);
    if (least_priority)
        *least_priority = 0;
    if (greatest_priority)
        *greatest_priority = -5;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxResetPersistingL2Cache(void)
{
    DR_USE(c);
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ primary contexts */

static cu_result with_device(cu_device ordinal, dr_device **out)
{
    cu_result ready = dr_ready();
    *out = ready ? NULL : dr_device_at(ordinal);
    return ready ? ready : *out ? CUABI_SUCCESS : DR_ERROR(INVALID_DEVICE);
}

/* One thread at a time makes or ends a primary context. */
static pthread_mutex_t primary_lock = PTHREAD_MUTEX_INITIALIZER;

cu_result impl_cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    DR_NEED(context);
    dr_device *d;
    cu_result result = with_device(device, &d);
    if (result)
        return result;
    pthread_mutex_lock(&primary_lock);
    if (!d->primary)
        result = make(d, d->primary_flags, true, &d->primary);
    if (!result) {
        d->primary_count++;
        *context = d->primary;
    }
    pthread_mutex_unlock(&primary_lock);
    return result;
}

static cu_result release(cu_device device, bool all)
{
    dr_device *d;
    cu_result result = with_device(device, &d);
    if (result)
        return result;
    pthread_mutex_lock(&primary_lock);
    if (!all && d->primary_count == 0)
        result = DR_ERROR(INVALID_CONTEXT);
    else {
        if (!all)
            d->primary_count--;
        /* A reset ends the context under those who have retained it; their count stays. */
        if (d->primary && (all || d->primary_count == 0)) {
            end(d->primary);
            d->primary = NULL;
            d->primary_count = 0;
        }
    }
    pthread_mutex_unlock(&primary_lock);
    return result;
}

cu_result impl_cuDevicePrimaryCtxRelease_v2(cu_device device) { return release(device, false); }
cu_result impl_cuDevicePrimaryCtxRelease(cu_device device) { return release(device, false); }
cu_result impl_cuDevicePrimaryCtxReset_v2(cu_device device) { return release(device, true); }
cu_result impl_cuDevicePrimaryCtxReset(cu_device device) { return release(device, true); }

cu_result impl_cuDevicePrimaryCtxSetFlags_v2(cu_device device, uint32_t flags)
{
    dr_device *d;
    cu_result result = with_device(device, &d);
    if (result)
        return result;
    if (!are_flags(flags))
        return DR_ERROR(INVALID_VALUE);
    pthread_mutex_lock(&primary_lock);
    d->primary_flags = flags;
    if (d->primary)
        d->primary->flags = flags;
    pthread_mutex_unlock(&primary_lock);
    return CUABI_SUCCESS;
}

cu_result impl_cuDevicePrimaryCtxSetFlags(cu_device device, uint32_t flags)
{
    return impl_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

cu_result impl_cuDevicePrimaryCtxGetState(cu_device device, uint32_t *flags, int *active)
{
    DR_NEED(flags && active);
    dr_device *d;
    cu_result result = with_device(device, &d);
    if (result)
        return result;
    pthread_mutex_lock(&primary_lock);
    *flags = d->primary_flags;
    *active = d->primary != NULL;
    pthread_mutex_unlock(&primary_lock);
    return CUABI_SUCCESS;
}

/* cuCtxAttach and cuCtxDetach count uses; they have been out of use since CUDA 4 and here a context has one user. */
cu_result impl_cuCtxAttach(cu_context *context, uint32_t flags)
{
    DR_NEED(context && flags == 0);
    DR_USE(c);
    *context = c;
    return CUABI_SUCCESS;
}

cu_result impl_cuCtxDetach(cu_context context)
{
    return dr_object_of(context, DR_CONTEXT) ? CUABI_SUCCESS : DR_ERROR(INVALID_CONTEXT);
}
