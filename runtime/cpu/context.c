/* context.c - contexts: setting a block up, and running its warps in turn.
 *
 * A warp runs until it waits, ends, or has used its quantum. A block whose warps used their quanta
 * several times with no barrier completed and no warp ended is taken to spin on another block, and
 * gives way: soon when it polls memory (atomics, volatile loads, fences), late when it only computes.
 * Barriers may stand inside such a loop, so after many rounds of them a block gives way as well.
 * Windows of shared and local memory lie in the arena; they and the register files are kept for the next
 * block and the next launch of the same kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime/cpu/context.h"

enum { PATIENCE = 4000, POLLING = 500, ROUNDS = 20000, POLLING_ROUND = 20, MOST_CONTEXTS = 512, MOST_TEXT = 256 << 20 };

uint32_t cpu_contexts_limit(const cpu_job *job)
{
    uint64_t each = job->local_bytes * job->nwarps * CPU_LANES + job->code->file_bytes * (uint64_t)job->nwarps + job->shared_bytes + 1;
    uint64_t fit = (1ull << 30) / each;
    return fit < 1 ? 1 : fit > MOST_CONTEXTS ? MOST_CONTEXTS : (uint32_t)fit;
}

static void release_windows(cpu_context *c)
{
    cpu_device *d = c->worker->device;
    pthread_mutex_lock(&d->lock);
    if (c->shared_address)
        cpu_region_free(&d->window, c->shared_address);
    if (c->local_address)
        cpu_region_free(&d->local, c->local_address);
    pthread_mutex_unlock(&d->lock);
    c->shared_address = c->local_address = 0;
    free(c->files);
    c->files = NULL;
    for (uint32_t k = 0; k < CPU_MAX_WARPS; k++)
        cpu_frames_drop(&c->warps[k]);
    c->frame_bytes = 0;
}

static bool acquire_windows(cpu_context *c, const cpu_job *job)
{
    cpu_device *d = c->worker->device;
    uint64_t file = (job->code->file_bytes + 63) & ~63ull;
    pthread_mutex_lock(&d->lock);
    c->shared_address = job->shared_bytes ? cpu_region_alloc(&d->window, (job->shared_bytes + 1023) & ~1023ull) : 0;   /* aligned for any shared variable */
    c->local_address = job->local_stride ? cpu_region_alloc(&d->local, job->local_stride * job->nwarps * CPU_LANES) : 0;
    pthread_mutex_unlock(&d->lock);
    c->files = aligned_alloc(CPU_PAGE, (file * job->nwarps + CPU_PAGE - 1) & ~(size_t)(CPU_PAGE - 1));
    return c->files && (c->shared_address || !job->shared_bytes) && (c->local_address || !job->local_stride);
}

/* What stays the same for all blocks of a launch. */
static void set_up_warp(cpu_context *c, const cpu_job *job, uint32_t k)
{
    cpu_device *d = c->worker->device;
    cpu_warp *w = &c->warps[k];
    uint32_t threads = job->threads - k * CPU_LANES;
    w->ops = d->ops;
    w->context = c;
    w->index = k;
    w->exists = threads >= CPU_LANES ? UINT32_MAX : (1u << threads) - 1;
    w->arena = d->arena;
    w->arena_limit = d->arena_bytes - 1;
    w->shared_base = c->shared_address;
    w->shared_bytes = job->shared_bytes;
    w->local_stride = job->local_stride;
    w->local_bytes = job->local_bytes;
    w->local_base = c->local_address + (uint64_t)k * CPU_LANES * job->local_stride;
    w->param_base = job->param_base;
    w->param_bytes = job->launch->param_bytes;
    w->check = job->launch->check;
    uint64_t file = (job->code->file_bytes + 63) & ~63ull;
    w->root = (cpu_frame){.r = c->files + file * k, .code = job->code, .local_top = job->code->local_bytes};
    cpu_frame_fill(w, &w->root, true);
    cpu_frames_drop(w);      /* their %tid and %ntid may be another launch's */
}

static bool set_up(cpu_context *c, const cpu_job *job)
{
    bool same = c->files && c->code_id == job->code->id && c->nwarps == job->nwarps && c->shared_size == job->shared_bytes &&
                c->local_stride == job->local_stride;
    if (!same) {
        release_windows(c);
        c->code_id = 0;
        if (!acquire_windows(c, job)) {
            release_windows(c);
            return false;
        }
    }
    c->code_id = job->code->id;
    c->nwarps = job->nwarps;
    c->shared_size = job->shared_bytes;
    c->local_stride = job->local_stride;
    c->serial = job->serial;
    c->frame_bytes = 0;
    for (uint32_t k = 0; k < c->nwarps; k++)
        set_up_warp(c, job, k);
    return true;
}

cpu_context *cpu_context_get(cpu_worker *worker, uint32_t index)
{
    if (index >= worker->context_capacity) {
        uint32_t capacity = worker->context_capacity ? worker->context_capacity * 2 : 4;
        cpu_context **grown = realloc(worker->contexts, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        worker->contexts = grown;
        worker->context_capacity = capacity;
    }
    if (index >= worker->ncontexts) {
        cpu_context *fresh = aligned_alloc(64, (sizeof *fresh + 63) & ~(size_t)63);
        if (!fresh)
            return NULL;
        memset(fresh, 0, sizeof *fresh);
        fresh->worker = worker;
        fresh->barriers_used = UINT32_MAX;     /* they are set up with the first block */
        worker->contexts[worker->ncontexts++] = fresh;
    }
    cpu_context *c = worker->contexts[index];
    if (c->serial != worker->job->serial && !set_up(c, worker->job))
        return NULL;
    return c;
}

void cpu_contexts_free(cpu_worker *worker)
{
    for (uint32_t k = 0; k < worker->ncontexts; k++) {
        release_windows(worker->contexts[k]);
        free(worker->contexts[k]->text.data);
        free(worker->contexts[k]);
    }
    free(worker->contexts);
    worker->contexts = NULL;
    worker->ncontexts = worker->context_capacity = 0;
}

void cpu_context_begin(cpu_context *c, uint64_t block)
{
    const cpu_launch *l = c->worker->job->launch;
    c->busy = true;
    c->block_number = block;
    c->block[0] = (uint32_t)(block % l->grid[0]);
    c->block[1] = (uint32_t)(block / l->grid[0] % l->grid[1]);
    c->block[2] = (uint32_t)(block / l->grid[0] / l->grid[1]);
    c->live_warps = c->nwarps;
    c->progress = 0;
    if (c->barriers_used) {
        memset(c->barriers, 0, sizeof c->barriers);
        for (uint32_t k = 0; k < CPU_BARRIERS; k++)
            c->barriers[k].all = 1;
        c->barriers_used = 0;
    }
    for (uint32_t k = 0; k < c->nwarps; k++) {
        cpu_warp *w = &c->warps[k];
        w->alive = w->exists;
        w->state = CPU_WARP_READY;
        w->nsplits = 0;
        w->current = 0;
        w->at = NULL;
        w->frame = &w->root;
        w->root.mask = w->exists;
        w->root.local_top = w->root.code->local_bytes;
        cpu_frame_fill(w, &w->root, false);
        cpu_frame_clear(&w->root);
        w->splits[w->nsplits++] = (cpu_split){.frame = &w->root, .mask = w->exists, .state = CPU_S_READY};
    }
}

static bool reserve_text(cpu_job *job)
{
    if (job->ntexts < job->text_capacity)
        return true;
    uint64_t capacity = job->text_capacity ? job->text_capacity * 2 : 64;
    cpu_block_text *grown = realloc(job->texts, capacity * sizeof *grown);
    if (!grown)
        return false;
    job->texts = grown;
    job->text_capacity = capacity;
    return true;
}

/* Text goes to the job. */
static void hand_over_text(cpu_context *c)
{
    cpu_job *job = c->worker->job;
    if (c->text.length + c->text.lost == 0)
        return;
    pthread_mutex_lock(&job->lock);
    job->text_lost += c->text.lost;
    if (c->text.length && job->text_bytes + c->text.length <= MOST_TEXT && reserve_text(job)) {
        char *shrunk = realloc(c->text.data, c->text.length);
        c->text.data = shrunk ? shrunk : c->text.data;
        job->texts[job->ntexts++] = (cpu_block_text){c->block_number, c->text};
        job->text_bytes += c->text.length;
        c->text = (cpu_text){0};
    } else
        job->text_lost += c->text.length;
    pthread_mutex_unlock(&job->lock);
    c->text.length = c->text.lost = 0;
}

void cpu_context_abandon(cpu_context *c)
{
    hand_over_text(c);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        /* Frames that were in use are found through the splits; each is freed once, by its last lane. */
        cpu_warp *w = &c->warps[k];
        while (w->nsplits) {
            cpu_split s = w->splits[w->nsplits - 1];
            w->nsplits--;
            cpu_call_exit(w, s.frame, s.mask);
        }
    }
}

/* A time limit, or a fault of an earlier block, ends this one. Returns true in the second case. */
static bool out_of_time(cpu_context *c, cpu_warp *w)
{
    cpu_job *job = c->worker->job;
    if (job->deadline_ns && cpu_now_ns() > job->deadline_ns) {
        if (w->nsplits) {
            const cpu_split *s = &w->splits[w->current < w->nsplits ? w->current : 0];
            w->frame = s->frame;
            w->at = &s->frame->code->insns[s->pc];
            cpu_raise(w, CPU_FAULT_TIMEOUT, (uint32_t)__builtin_ctz(s->mask), 0, "the launch ran longer than its limit of %u ms",
                      job->launch->timeout_ms);
        }
        cpu_raise(w, CPU_FAULT_TIMEOUT, 0, 0, "the launch ran longer than its limit of %u ms", job->launch->timeout_ms);
    }
    return job->limit < c->block_number;
}

bool cpu_context_run(cpu_context *c)
{
    cpu_job *job = c->worker->job;
    const bool traced = job->launch->trace != NULL;
    int32_t patience = PATIENCE, rounds = ROUNDS;
    if (job->deadline_ns && out_of_time(c, &c->warps[0])) {
        cpu_context_abandon(c);
        return true;
    }
    while (c->live_warps) {
        uint64_t progress = c->progress;
        bool ran = false, yielded = false, polled = false;
        for (uint32_t k = 0; k < c->nwarps; k++) {
            cpu_warp *w = &c->warps[k];
            if (w->state != CPU_WARP_READY)
                continue;
            ran = true;
            w->quantum = CPU_QUANTUM;
            c->worker->running = w;
            switch (traced ? cpu_warp_run_traced(w) : cpu_warp_run(w)) {
            case CPU_RAN_DONE:
                w->state = CPU_WARP_DONE;
                c->live_warps--;
                c->progress++;
                break;
            case CPU_RAN_BLOCKED:
                w->state = CPU_WARP_BLOCKED;
                break;
            case CPU_RAN_YIELDED:
                yielded = true;
                break;
            }
            polled |= w->polls != 0;
            w->polls = 0;
            /* A loop over barriers may never use up a quantum. */
            if (w->state != CPU_WARP_DONE && out_of_time(c, w)) {
                cpu_context_abandon(c);
                return true;
            }
        }
        if (!ran && c->live_warps)
            cpu_deadlock(c);
        if (yielded && c->progress == progress) {
            patience -= polled ? POLLING : 1;
            if (patience <= 0)
                return false;
        } else
            patience = PATIENCE;
        rounds -= polled ? POLLING_ROUND : 1;
        if (rounds <= 0 && c->live_warps)
            return false;
    }
    hand_over_text(c);
    return true;
}
