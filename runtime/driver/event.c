/* event.c - points of streams with a name and a time. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"

/* An event that is destroyed before it happened goes its way: the object is used again, with another serial. */
static _Atomic uint64_t last_serial;

cu_result dr_event_new(dr_context *c, uint32_t flags, dr_event **out)
{
    dr_event *e = *out = dr_object_new(DR_EVENT, sizeof *e);
    if (!e)
        return DR_ERROR(OUT_OF_MEMORY);
    e->context = c;
    e->flags = flags;
    return CUABI_SUCCESS;
}

cu_result impl_cuEventCreate(cu_event *event, uint32_t flags)
{
    DR_NEED(event && (flags & ~7u) == 0);
    const bool shared = flags & CUABI_CU_EVENT_INTERPROCESS;
    DR_NEED(!shared || flags & CUABI_CU_EVENT_DISABLE_TIMING);
    DR_USE(c);
    if (shared && !c->device->device->ops->share)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "events of several processes on \"%s\"", c->device->choice);
    dr_event *e;
    cu_result result = dr_event_new(c, flags, &e);
    if (!result && shared && !(e->shared = dr_shared_new(-1))) {
        dr_object_free(e, DR_EVENT);
        result = DR_ERROR(OUT_OF_MEMORY);
    }
    if (!result)
        *event = e;
    return result;
}

cu_result impl_cuEventDestroy_v2(cu_event event)
{
    dr_event *e = dr_object_of(event, DR_EVENT);
    if (!e)
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE);
    pthread_mutex_lock(&dr_lock);
    e->serial = ++last_serial;
    free(e->nodes);
    e->nodes = NULL;
    dr_shared_drop(e->shared);
    e->shared = NULL;
    pthread_mutex_unlock(&dr_lock);
    dr_object_free(e, DR_EVENT);
    return CUABI_SUCCESS;
}

cu_result impl_cuEventDestroy(cu_event event)
{
    return impl_cuEventDestroy_v2(event);
}

void dr_event_happened(dr_event *e, uint64_t serial)
{
    pthread_mutex_lock(&dr_lock);
    if (e->serial == serial)
        e->time_ns = dr_now_ns();
    pthread_mutex_unlock(&dr_lock);
}

/* For events of graphs: it happens now; it is done when a launch is; where it is done. */
void dr_event_stamp(dr_event *e)
{
    pthread_mutex_lock(&dr_lock);
    e->time_ns = dr_now_ns();
    pthread_mutex_unlock(&dr_lock);
}

void dr_event_promise(dr_event *e, dr_point point)
{
    pthread_mutex_lock(&dr_lock);
    e->serial = ++last_serial;
    e->capture_id = 0;
    e->point = point;
    pthread_mutex_unlock(&dr_lock);
}

dr_point dr_event_point(dr_event *e)
{
    pthread_mutex_lock(&dr_lock);
    dr_point point = e->point;
    pthread_mutex_unlock(&dr_lock);
    return point;
}

cu_result impl_cuEventRecordWithFlags(cu_event event, cu_stream stream, uint32_t flags)
{
    DR_NEED((flags & ~1u) == 0);
    DR_USE(c);
    dr_event *e = dr_object_of(event, DR_EVENT);
    dr_stream *s;
    if (!e)
        return DR_ERROR(INVALID_HANDLE);
    cu_result result = dr_stream_of(c, stream, &s);
    if (result)
        return result;
    if (s->context != e->context)
        return dr_fail(DR_ERROR(INVALID_HANDLE), "an event of another context than the stream's");
    if (dr_stream_captured(s))
        return dr_capture_record(s, e, flags);
    pthread_mutex_lock(&dr_lock);
    uint64_t serial = e->serial = ++last_serial;
    e->capture_id = 0;
    dr_work work = {.kind = DR_WORK_RECORD, .of.record = {.event = e, .serial = serial}};
    if (e->shared) {
        work.of.record.shared = dr_shared_hold(e->shared);
        work.of.record.number = atomic_fetch_add(&e->shared->count->given, 1) + 1;
    }
    pthread_mutex_unlock(&dr_lock);
    dr_point done;
    result = dr_stream_note(s, &work, NULL, &done);
    pthread_mutex_lock(&dr_lock);
    if (!result && e->serial == serial)
        e->point = done;
    pthread_mutex_unlock(&dr_lock);
    return result;
}

cu_result impl_cuEventRecord(cu_event event, cu_stream stream)
{
    return impl_cuEventRecordWithFlags(event, stream, 0);
}

/* Of an event that several processes have, the last record counts, whoever made it. */
static bool is_done(const dr_event *e, dr_point point)
{
    return e->shared ? dr_shared_done(e->shared, atomic_load(&e->shared->count->given)) : dr_point_done(point);
}

static dr_point point_of(dr_event *e, bool *captured)
{
    pthread_mutex_lock(&dr_lock);
    dr_point point = e->point;
    *captured = e->capture_id != 0;
    pthread_mutex_unlock(&dr_lock);
    return point;
}

cu_result impl_cuEventQuery(cu_event event)
{
    DR_USE(c);
    dr_event *e = dr_object_of(event, DR_EVENT);
    bool captured;
    if (!e)
        return DR_ERROR(INVALID_HANDLE);
    dr_point point = point_of(e, &captured);
    if (captured)
        return dr_capture_spoil_event(e);
    cu_result forbidden = dr_capture_forbids_unsafe();
    if (forbidden)
        return forbidden;
    if (!is_done(e, point))
        return DR_ERROR(NOT_READY);
    dr_print_flush(e->context);
    return atomic_load(&e->context->sticky);
}

cu_result impl_cuEventSynchronize(cu_event event)
{
    DR_USE(c);
    dr_event *e = dr_object_of(event, DR_EVENT);
    bool captured;
    if (!e)
        return DR_ERROR(INVALID_HANDLE);
    dr_point point = point_of(e, &captured);
    if (captured)
        return dr_capture_spoil_event(e);
    cu_result forbidden = dr_capture_forbids_unsafe();
    if (forbidden)
        return forbidden;
    if (e->shared)
        dr_shared_wait(e->shared, atomic_load(&e->shared->count->given), &e->context->sticky);
    else
        dr_point_wait(point);
    dr_print_flush(e->context);
    return atomic_load(&e->context->sticky);
}

cu_result impl_cuEventElapsedTime(float *milliseconds, cu_event start, cu_event end)
{
    DR_NEED(milliseconds);
    dr_event *a = dr_object_of(start, DR_EVENT), *b = dr_object_of(end, DR_EVENT);
    if (!a || !b)
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE);
    if ((a->flags | b->flags) & CUABI_CU_EVENT_DISABLE_TIMING || a->context->device != b->context->device)
        return DR_ERROR(INVALID_HANDLE);
    pthread_mutex_lock(&dr_lock);
    bool recorded = a->point.stream && b->point.stream, done = recorded && dr_point_done(a->point) && dr_point_done(b->point);
    int64_t ns = (int64_t)(b->time_ns - a->time_ns);
    pthread_mutex_unlock(&dr_lock);
    if (!recorded) {                   /* a context that ended with an error records nothing */
        int32_t sticky = atomic_load(&b->context->sticky);
        return sticky ? sticky : DR_ERROR(INVALID_HANDLE);
    }
    if (!done)
        return DR_ERROR(NOT_READY);
    *milliseconds = (float)((double)ns / 1e6);
    return CUABI_SUCCESS;
}

cu_result impl_cuEventElapsedTime_v2(float *milliseconds, cu_event start, cu_event end)
{
    return impl_cuEventElapsedTime(milliseconds, start, end);
}

cu_result impl_cuStreamWaitEvent(cu_stream stream, cu_event event, uint32_t flags)
{
    DR_NEED((flags & ~1u) == 0);
    DR_USE(c);
    dr_event *e = dr_object_of(event, DR_EVENT);
    dr_stream *s;
    bool captured;
    if (!e)
        return DR_ERROR(INVALID_HANDLE);
    cu_result result = dr_stream_of(c, stream, &s);
    if (result)
        return result;
    dr_point point = point_of(e, &captured);
    if (captured || dr_stream_captured(s))
        return dr_capture_wait(s, e, flags);
    if (is_done(e, point))
        return CUABI_SUCCESS;
    if (e->shared) {
        dr_work wait = {.kind = DR_WORK_WAIT_EVENT, .of.wait_event = {dr_shared_hold(e->shared), atomic_load(&e->shared->count->given)}};
        return dr_stream_submit(s, &wait, NULL, NULL);
    }
    dr_work work = {.kind = DR_WORK_NONE};
    return dr_stream_note(s, &work, &point, NULL);
}
