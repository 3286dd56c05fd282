/* work.c - does what streams were given. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/graph.h"
#include "runtime/driver/spy.h"

/* ------------------------------------------------------------ kernels */

/* What an assertion of a kernel writes, as programs under NVIDIA's driver have it on stderr. */
static bool is_assertion(const pxb_error *e)
{
    return e->status == PXB_FAULT_TRAP && e->reason && strncmp(e->reason, "assertion `", 11) == 0;
}

static cu_result faulted(dr_context *c, const pxb_context *errors, pxb_status status)
{
    const pxb_error *e = pxb_last_error(errors);
    cu_result result = dr_result(status);
    if (is_assertion(e)) {
        result = DR_ERROR(ASSERT);
        fprintf(stderr, "%s: block: [%u,%u,%u], thread: [%u,%u,%u] %s\n", e->kernel ? e->kernel : "kernel", e->block[0], e->block[1],
                e->block[2], e->thread[0], e->thread[1], e->thread[2], e->reason);
    }
    dr_fail(result, "%s", e->message);
    int32_t none = 0;
    if (pxb_is_fault(status))
        atomic_compare_exchange_strong(&c->sticky, &none, result);
    return result;
}

enum { LEAST_STACK = 16 << 10 };       /* what the engine gives in any case */

static cu_result launch(dr_context *c, const dr_launch *l)
{
    dr_function *f = l->function;
    dr_device *d = c->device;
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    memcpy(o.grid, l->grid, sizeof o.grid);
    memcpy(o.block, l->block, sizeof o.block);
    o.shared_bytes = l->shared_bytes;
    o.mma_model = d->mma_model;
    o.cooperative = l->cooperative;
    o.print = dr_print;
    o.print_user = c;
    o.stack_bytes = c->limits[CUABI_CU_LIMIT_STACK_SIZE] > LEAST_STACK ? (uint32_t)c->limits[CUABI_CU_LIMIT_STACK_SIZE] : 0;
    pxb_kernel *kernel = atomic_load_explicit(&f->kernel, memory_order_acquire);
    uint64_t started = 0;
    if (dr_spying) {
        dr_spy_before(l);
        started = dr_now_ns();
    }
    /* Beside other launches with errors of one's own; or alone, with the device's. */
    pxb_context *errors = d->concurrent ? dr_thread_errors() : d->pxb;
    pxb_device view;
    dr_device_view(d, errors, &view);
    pxb_device *on = d->concurrent ? &view : d->device;
    if (!d->concurrent)
        pthread_mutex_lock(&d->lock);
    pxb_status status = on->ops->launch(on, kernel->state, &o, l->params);
    uint64_t ns = dr_spying ? dr_now_ns() - started : 0;
    cu_result result = status ? faulted(c, errors, status) : CUABI_SUCCESS;
    if (!d->concurrent)
        pthread_mutex_unlock(&d->lock);
    if (dr_spying)
        dr_spy_after(l, ns, status, result);
    return result;
}

/* ------------------------------------------------------------ values in memory that streams wait for and write */

static uint64_t load_value(uint64_t address, bool wide)
{
    return wide ? __atomic_load_n((uint64_t *)(uintptr_t)address, __ATOMIC_ACQUIRE)
                : __atomic_load_n((uint32_t *)(uintptr_t)address, __ATOMIC_ACQUIRE);
}

static bool value_is_there(const dr_work *w)
{
    uint64_t have = load_value(w->of.value.address, w->of.value.wide), want = w->of.value.value;
    bool wide = w->of.value.wide;
    switch (w->of.value.flags & 3) {
    case CUABI_CU_STREAM_WAIT_VALUE_GEQ: return wide ? (int64_t)(have - want) >= 0 : (int32_t)((uint32_t)have - (uint32_t)want) >= 0;
    case CUABI_CU_STREAM_WAIT_VALUE_EQ: return have == (wide ? want : (uint32_t)want);
    case CUABI_CU_STREAM_WAIT_VALUE_AND: return (have & want) != 0;
    default: return (wide ? ~(have | want) : (uint32_t)~(have | want)) != 0;
    }
}

static void wait_value(dr_context *c, const dr_work *w)
{
    for (uint32_t turn = 0; !value_is_there(w) && !atomic_load(&c->sticky); turn++) {
        if (turn < 100)
            sched_yield();
        else
            nanosleep(&(struct timespec){0, 50000}, NULL);
    }
}

static void write_value(const dr_work *w)
{
    if (w->of.value.wide)
        __atomic_store_n((uint64_t *)(uintptr_t)w->of.value.address, w->of.value.value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)(uintptr_t)w->of.value.address, (uint32_t)w->of.value.value, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------ all kinds */

_Thread_local bool dr_in_callback;

/* A copy or set whose addresses turned out wrong is for the device what a wild access is, unless the caller waits and can be told. */
static cu_result note_failure(dr_context *c, cu_result result)
{
    int32_t none = 0;
    if (result == DR_ERROR(INVALID_VALUE))
        return result;
    if (result)
        atomic_compare_exchange_strong(&c->sticky, &none, result);
    return result;
}

cu_result dr_work_run(dr_context *c, dr_stream *stream, const dr_work *w)
{
    int32_t sticky = atomic_load_explicit(&c->sticky, memory_order_acquire);
    if (w->kind == DR_WORK_RECORD) {
        dr_event_happened(w->of.record.event, w->of.record.serial);
        if (w->of.record.shared)
            dr_shared_happened(w->of.record.shared, w->of.record.number);
        return CUABI_SUCCESS;
    }
    if (w->kind == DR_WORK_CALLBACK) {
        dr_in_callback = true;
        w->of.callback.call(w->of.callback.stream, sticky, w->of.callback.user);
        dr_in_callback = false;
        return CUABI_SUCCESS;
    }
    if (sticky)
        return sticky;
    switch (w->kind) {
    case DR_WORK_LAUNCH: return launch(c, &w->of.launch);
    case DR_WORK_COPY: return note_failure(c, dr_copy_run(&w->of.copy));
    case DR_WORK_SET: return note_failure(c, dr_set_run(&w->of.set));
    case DR_WORK_HOST:
        dr_in_callback = true;
        w->of.host.call(w->of.host.user);
        dr_in_callback = false;
        break;
    case DR_WORK_FREE: return dr_pool_free_done(w->of.address);
    case DR_WORK_WAIT_VALUE: wait_value(c, w); break;
    case DR_WORK_WRITE_VALUE: write_value(w); break;
    case DR_WORK_WAIT_EVENT: dr_shared_wait(w->of.wait_event.shared, w->of.wait_event.number, &c->sticky); break;
    case DR_WORK_EXEC: return dr_exec_run(c, stream, w->of.run);
    case DR_WORK_NONE:
    case DR_WORK_RECORD:
    case DR_WORK_CALLBACK: break;
    }
    return CUABI_SUCCESS;
}

void dr_work_free(dr_work *w)
{
    switch (w->kind) {
    case DR_WORK_LAUNCH: free(w->of.launch.params); break;
    case DR_WORK_COPY: free(w->of.copy.staged); break;
    case DR_WORK_EXEC: dr_exec_run_free(w->of.run); break;
    case DR_WORK_RECORD: dr_shared_drop(w->of.record.shared); break;
    case DR_WORK_WAIT_EVENT: dr_shared_drop(w->of.wait_event.shared); break;
    default: break;
    }
}
