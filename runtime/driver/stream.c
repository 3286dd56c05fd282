/* stream.c - queues of work with a thread each, and the order between them.
 *
 * Order inside a stream is that of tickets: the work with ticket `completed + 1` runs next. Order between streams is a list of
 * points that work waits for: what cuStreamWaitEvent names, and the rule of the legacy stream (CUDA Programming Guide,
 * "Default Stream"): its work waits for all that blocking streams of its context were given before, and theirs waits for its.
 *
 * A call that waits for its own work does it in the calling thread when nothing is before it; it takes a ticket all the same,
 * so that others stay behind it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/driver/driver.h"

/* Work in a queue. */
typedef struct dr_op {
    struct dr_op *next;
    uint64_t ticket;
    dr_work work;
    uint32_t npoints;
    dr_point points[];             /* what has to be done before */
} dr_op;

/* Something was completed that somebody may wait for. */
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static uint32_t waiting;           /* on `progress`, under dr_lock */
static uint64_t last_stream;

uint64_t dr_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_progress(void)
{
    waiting++;
    pthread_cond_wait(&progress, &dr_lock);
    waiting--;
}

bool dr_point_done(dr_point point)
{
    return !point.stream || atomic_load_explicit(&point.stream->completed, memory_order_acquire) >= point.ticket;
}

void dr_point_wait(dr_point point)
{
    /* Short kernels end while a thread would fall asleep and be woken. */
    for (int i = 0; i < 2000; i++) {
        if (dr_point_done(point))
            return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&dr_lock);
    while (!dr_point_done(point))
        wait_progress();
    pthread_mutex_unlock(&dr_lock);
}

static void unlink_stream(dr_stream *s)
{
    dr_stream **p = &s->context->streams;
    while (*p && *p != s)
        p = &(*p)->next;
    if (*p)
        *p = s->next;
}

static void complete(dr_stream *s, uint64_t ticket)
{
    atomic_store_explicit(&s->completed, ticket, memory_order_release);
    if (s->dying && s->completed == s->enqueued)
        unlink_stream(s);
    if (waiting)
        pthread_cond_broadcast(&progress);
    if (s->sleeping && (s->first || s->dying))
        pthread_cond_signal(&s->wake);
    if (s->dying && !s->started && s->completed == s->enqueued)
        dr_object_free(s, DR_STREAM);
}

/* ------------------------------------------------------------ the thread of a stream */

static bool ready(const dr_stream *s, const dr_op *op)
{
    if (op->ticket != s->completed + 1)
        return false;
    for (uint32_t i = 0; i < op->npoints; i++)
        if (!dr_point_done(op->points[i]))
            return false;
    return true;
}

static void free_op(dr_op *op)
{
    dr_work_free(&op->work);
    free(op);
}

static void *stream_main(void *argument)
{
    dr_stream *s = argument;
    pthread_mutex_lock(&dr_lock);
    for (;;) {
        dr_op *op = s->first;
        if (!op) {
            if (s->dying && s->completed == s->enqueued)
                break;
            s->sleeping = true;
            pthread_cond_wait(&s->wake, &dr_lock);
            s->sleeping = false;
        } else if (!ready(s, op))
            wait_progress();
        else {
            s->first = op->next;
            if (!s->first)
                s->last = NULL;
            pthread_mutex_unlock(&dr_lock);
            dr_work_run(s->context, s, &op->work);
            uint64_t ticket = op->ticket;
            free_op(op);
            pthread_mutex_lock(&dr_lock);
            complete(s, ticket);
        }
    }
    s->started = false;
    pthread_mutex_unlock(&dr_lock);
    dr_object_free(s, DR_STREAM);
    return NULL;
}

/* Signals are the program's own threads' business. */
bool dr_thread_start(void *(*body)(void *), void *argument)
{
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    bool started = pthread_create(&thread, &attributes, body, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static bool start_thread(dr_stream *s)
{
    if (!s->has_wake && pthread_cond_init(&s->wake, NULL))
        return false;
    s->has_wake = true;
    s->started = dr_thread_start(stream_main, s);
    return s->started;
}

/* ------------------------------------------------------------ giving work */

static bool busy(const dr_stream *s)
{
    return s->completed < s->enqueued;
}

/* The points that the legacy stream's rule asks of new work. `out` may be NULL to count. */
static uint32_t legacy_points(const dr_stream *s, dr_point *out)
{
    dr_context *c = s->context;
    uint32_t n = 0;
    if (s != c->legacy) {
        if (s->blocking && busy(c->legacy) && n++ < UINT32_MAX && out)
            out[0] = (dr_point){c->legacy, c->legacy->enqueued};
        return n;
    }
    for (dr_stream *other = c->streams; other; other = other->next)
        if (other != s && other->blocking && busy(other)) {
            if (out)
                out[n] = (dr_point){other, other->enqueued};
            n++;
        }
    return n;
}

/* Under dr_lock, which it gives up meanwhile: runs work in this thread when its turn comes. */
static cu_result run_here(dr_stream *s, const dr_work *work, const dr_point *points, uint32_t npoints, uint64_t ticket)
{
    while (s->completed + 1 != ticket)
        wait_progress();
    for (uint32_t i = 0; i < npoints; i++)
        while (!dr_point_done(points[i]))
            wait_progress();
    pthread_mutex_unlock(&dr_lock);
    cu_result result = dr_work_run(s->context, s, work);
    pthread_mutex_lock(&dr_lock);
    complete(s, ticket);
    return result;
}

typedef enum how { LATER, HERE, AT_ONCE_OR_LATER } how;

/* Takes over the work. LATER: by the stream's thread. HERE: by this one, and waits. AT_ONCE_OR_LATER: by this one if nothing is before
 * it. */
static cu_result give(dr_stream *s, const dr_work *work, const dr_point *after, how how, dr_point *done)
{
    cu_result result = CUABI_SUCCESS;
    pthread_mutex_lock(&dr_lock);
    uint32_t more = after && !dr_point_done(*after), npoints = legacy_points(s, NULL) + more;
    dr_op *op = malloc(sizeof *op + npoints * sizeof *op->points);
    if (!op) {
        pthread_mutex_unlock(&dr_lock);
        dr_work lost = *work;
        dr_work_free(&lost);
        return DR_ERROR(OUT_OF_MEMORY);
    }
    *op = (dr_op){.ticket = s->enqueued + 1, .work = *work, .npoints = npoints};
    if (more)
        op->points[0] = *after;
    legacy_points(s, op->points + more);
    bool first = !busy(s) && npoints == 0;
    s->enqueued++;
    if (done)
        *done = (dr_point){s, op->ticket};
    bool here = how == HERE || (how == AT_ONCE_OR_LATER && first);
    if (!here && !s->started && !start_thread(s))
        here = true;               /* no thread is to be had: late is better than never */
    if (here) {
        result = run_here(s, &op->work, op->points, op->npoints, op->ticket);
        pthread_mutex_unlock(&dr_lock);
        free_op(op);
        return result;
    }
    if (s->last)
        s->last->next = op;
    else
        s->first = op;
    s->last = op;
    if (s->sleeping)
        pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&dr_lock);
    return result;
}

cu_result dr_stream_submit(dr_stream *s, const dr_work *work, const dr_point *after, dr_point *done)
{
    if (dr_stream_captured(s))
        return dr_capture_add(s, work);
    if (s == s->context->legacy && atomic_load_explicit(&s->context->captures, memory_order_relaxed)) {
        dr_work lost = *work;
        dr_work_free(&lost);
        dr_capture_invalidate(s->context);
        return DR_ERROR(STREAM_CAPTURE_IMPLICIT);
    }
    return give(s, work, after, LATER, done);
}

cu_result dr_stream_do(dr_stream *s, const dr_work *work)
{
    dr_context *c = s->context;
    cu_result result = give(s, work, NULL, HERE, NULL);
    dr_print_flush(c);
    int32_t sticky = atomic_load(&c->sticky);
    return result ? result : sticky;
}

cu_result dr_stream_note(dr_stream *s, const dr_work *work, const dr_point *after, dr_point *done)
{
    return give(s, work, after, AT_ONCE_OR_LATER, done);
}

dr_point dr_stream_end(dr_stream *s)
{
    pthread_mutex_lock(&dr_lock);
    dr_point point = {s, s->enqueued};
    pthread_mutex_unlock(&dr_lock);
    return point;
}

/* ------------------------------------------------------------ making and ending */

cu_result dr_stream_new(dr_context *c, uint32_t flags, int priority, dr_stream **out)
{
    dr_stream *s = dr_object_new(DR_STREAM, sizeof *s);
    *out = s;
    if (!s)
        return DR_ERROR(OUT_OF_MEMORY);
    /* `completed` and `enqueued` stay, so that points of an earlier stream in this memory remain done. */
    s->context = c;
    s->flags = flags;
    s->priority = priority;
    s->started = s->dying = s->sleeping = false;
    s->first = s->last = NULL;
    s->capture = NULL;
    s->nodes = NULL;
    s->nnodes = 0;
    s->blocking = !(flags & CUABI_CU_STREAM_NON_BLOCKING);
    pthread_mutex_lock(&dr_lock);
    s->id = ++last_stream;
    s->next = c->streams;
    c->streams = s;
    pthread_mutex_unlock(&dr_lock);
    return CUABI_SUCCESS;
}

/* The handle is dead at once; what it was given is still done, and until then waited for with its context and by the legacy stream. */
void dr_stream_release(dr_stream *s)
{
    bool idle;
    dr_capture_abandon(s);
    pthread_mutex_lock(&dr_lock);
    if (!busy(s))
        unlink_stream(s);
    atomic_store(&s->head.kind, DR_DEAD);
    s->dying = true;
    idle = !s->started && !busy(s);
    if (s->sleeping)
        pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&dr_lock);
    if (idle)
        dr_object_free(s, DR_STREAM);
}

/* ------------------------------------------------------------ the default stream of a thread */

typedef struct own { dr_stream *stream; uint64_t stream_id, context_id; struct own *next; } own;

static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static pthread_key_t own_key;
static _Thread_local own *own_streams;

static void drop_own(void *list)
{
    for (own *o = list, *next; o; o = next) {
        next = o->next;
        /* Its context may have ended, and the memory be another stream's. */
        if (dr_object_of(o->stream, DR_STREAM) && o->stream->id == o->stream_id)
            dr_stream_release(o->stream);
        free(o);
    }
}

static void make_own_key(void)
{
    pthread_key_create(&own_key, drop_own);
}

static cu_result own_stream(dr_context *c, dr_stream **out)
{
    for (own *o = own_streams; o; o = o->next)
        if (o->context_id == c->id) {
            *out = o->stream;
            return CUABI_SUCCESS;
        }
    own *o = malloc(sizeof *o);
    if (!o)
        return DR_ERROR(OUT_OF_MEMORY);
    cu_result result = dr_stream_new(c, 0, 0, &o->stream);
    if (result) {
        free(o);
        return result;
    }
    o->stream_id = o->stream->id;
    o->context_id = c->id;
    o->next = own_streams;
    own_streams = o;
    pthread_once(&own_once, make_own_key);
    pthread_setspecific(own_key, o);
    *out = o->stream;
    return CUABI_SUCCESS;
}

cu_result dr_stream_of(dr_context *c, cu_stream handle, dr_stream **out)
{
    if (handle == CUABI_STREAM_PER_THREAD || (!handle && dr_per_thread))
        return own_stream(c, out);
    *out = handle && handle != CUABI_STREAM_LEGACY ? dr_object_of(handle, DR_STREAM) : c->legacy;
    return *out ? CUABI_SUCCESS : DR_ERROR(INVALID_HANDLE);
}

/* ------------------------------------------------------------ cuStream… */

cu_result impl_cuStreamCreateWithPriority(cu_stream *stream, uint32_t flags, int priority)
{
    DR_NEED(stream && flags <= CUABI_CU_STREAM_NON_BLOCKING);
    DR_USE(c);
    dr_stream *s;
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    cu_result result = dr_stream_new(c, flags, priority, &s);
    if (!result)
        *stream = s;
    return result;
}

cu_result impl_cuStreamCreate(cu_stream *stream, uint32_t flags)
{
    return impl_cuStreamCreateWithPriority(stream, flags, 0);
}

cu_result impl_cuStreamDestroy_v2(cu_stream stream)
{
    DR_USE(c);
    dr_stream *s = dr_object_of(stream, DR_STREAM);
    if (!s || s == s->context->legacy)
        return DR_ERROR(INVALID_HANDLE);
    dr_stream_release(s);
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamDestroy(cu_stream stream)
{
    return impl_cuStreamDestroy_v2(stream);
}

#define USE_STREAM(c, s, handle)                                                                                       \
    DR_USE(c);                                                                                                         \
    dr_stream *s;                                                                                                      \
    cu_result s##_result_ = dr_stream_of(c, handle, &s);                                                               \
    if (s##_result_)                                                                                                   \
    return s##_result_

cu_result impl_cuStreamGetPriority(cu_stream stream, int *priority)
{
    DR_NEED(priority);
    USE_STREAM(c, s, stream);
    *priority = s->priority;
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamGetFlags(cu_stream stream, uint32_t *flags)
{
    DR_NEED(flags);
    USE_STREAM(c, s, stream);
    *flags = s->flags;
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamGetId(cu_stream stream, uint64_t *stream_id)
{
    DR_NEED(stream_id);
    USE_STREAM(c, s, stream);
    *stream_id = s->id;
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamGetCtx(cu_stream stream, cu_context *context)
{
    DR_NEED(context);
    USE_STREAM(c, s, stream);
    *context = s->context;
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamGetDevice(cu_stream stream, cu_device *device)
{
    DR_NEED(device);
    USE_STREAM(c, s, stream);
    *device = s->context->device->ordinal;
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamQuery(cu_stream stream)
{
    USE_STREAM(c, s, stream);
    if (dr_stream_captured(s))
        return dr_capture_spoil(s);
    /* The legacy stream has done its work when those that it waits for have. */
    pthread_mutex_lock(&dr_lock);
    bool pending = busy(s) || (s == c->legacy && legacy_points(s, NULL));
    pthread_mutex_unlock(&dr_lock);
    if (!pending)
        dr_print_flush(s->context);
    return pending ? DR_ERROR(NOT_READY) : (cu_result)atomic_load(&s->context->sticky);
}

cu_result impl_cuStreamSynchronize(cu_stream stream)
{
    USE_STREAM(c, s, stream);
    if (dr_stream_captured(s))
        return dr_capture_spoil(s);
    if (s == s->context->legacy)
        while (true) {
            /* Work of the legacy stream would wait for the blocking streams, and so does its end. */
            dr_point point = {0};
            pthread_mutex_lock(&dr_lock);
            for (dr_stream *other = s->context->streams; other && !point.stream; other = other->next)
                if (other->blocking && busy(other))
                    point = (dr_point){other, other->enqueued};
            pthread_mutex_unlock(&dr_lock);
            if (!point.stream)
                break;
            dr_point_wait(point);
        }
    else
        dr_point_wait(dr_stream_end(s));
    dr_print_flush(s->context);
    return atomic_load(&s->context->sticky);
}

cu_result impl_cuStreamAddCallback(cu_stream stream, cu_stream_callback callback, void *user_data, uint32_t flags)
{
    DR_NEED(callback && flags == 0);
    USE_STREAM(c, s, stream);
    if (dr_stream_captured(s))
        return dr_capture_spoil(s);
    dr_work work = {.kind = DR_WORK_CALLBACK, .of.callback = {callback, stream, user_data}};
    return dr_stream_submit(s, &work, NULL, NULL);
}

cu_result impl_cuLaunchHostFunc(cu_stream stream, cu_host_fn callback, void *user_data)
{
    DR_NEED(callback);
    USE_STREAM(c, s, stream);
    dr_work work = {.kind = DR_WORK_HOST, .of.host = {callback, user_data}};
    return dr_stream_submit(s, &work, NULL, NULL);
}
