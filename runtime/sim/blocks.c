/* blocks.c - runs the blocks of a launch over threads: waves in turn, deadlock, time limit, the lowest block's fault.
 *
 * A worker runs one block at a time. When a block takes long and others have not begun, the worker takes up another
 * and alternates between them, so that a block that waits for a later one (a grid barrier, a ticket) makes progress on few
 * threads. After a fault, blocks above it are given up; those below still run, as one of them may fault too.
 *
 * A cooperative launch begins with all of its blocks, and every one has a turn of its waves in turn: they may wait for each other at any
 * time. After a fault all are given up, since others may wait for the one that is no more.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "ptx/host.h"
#include "runtime/sim/state.h"

enum {
    TURN = 4096,                         /* instructions of a wave before the next one's turn */
    SLICE = 1 << 20,                     /* of a block before the next resident block's turn, save in cooperative launches */
    MAX_RESIDENT = 32,                   /* blocks of a worker */
    DYNAMIC_STACK = 16384                /* scratch of a kernel whose stack LLVM does not know; LLVM assumes as much for calls */
};

typedef struct launch_state {
    const sim_kernel *kernel;
    const sim_launch *launch;
    uint64_t kernarg, packet, total, deadline;
    uint32_t nwaves, lds_bytes, scratch_bytes;
    uint64_t slice;                      /* instructions of a block before the next resident block's turn */
    uint64_t share;                      /* blocks that a worker begins with */
    _Atomic uint64_t next;               /* block to begin next */
    _Atomic uint64_t limit;              /* blocks from here on are given up */
    pthread_mutex_t lock;                /* guards what follows */
    sim_error *error;
    uint64_t fault_block;
    sim_counts counts;
} launch_state;

/* A block with its memory; kept for the worker's next block. */
typedef struct resident {
    sim_block block;
    uint64_t number;
    bool busy;
} resident;

/* ------------------------------------------------------------ faults */

/* A time limit gives way to a fault of any block. */
static void report(launch_state *s, uint64_t number, const sim_error *e)
{
    pthread_mutex_lock(&s->lock);
    bool timeout = e->status == SIM_FAULT_TIMEOUT, had = s->error->status != SIM_OK;
    if (!had || (s->error->status == SIM_FAULT_TIMEOUT && !timeout) ||
        ((s->error->status == SIM_FAULT_TIMEOUT) == timeout && number < s->fault_block)) {
        *s->error = *e;
        s->fault_block = number;
    }
    uint64_t limit = timeout || s->launch->cooperative ? 0 : number, now = atomic_load(&s->limit);
    if (limit < now) atomic_store(&s->limit, limit);
    pthread_mutex_unlock(&s->lock);
}

/* Faults that no handler raises: they need the wave's error record and place. */
static void raise_fault(launch_state *s, const resident *r, sim_wave *w, sim_status status, const char *why)
{
    sim_error e;
    jmp_buf back;
    w->error = &e;
    w->fault = &back;
    if (!setjmp(back)) sim_fault(w, status, -1, "%s", why);
    report(s, r->number, &e);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------ a block */

static void free_resident(resident *r)
{
    for (uint32_t k = 0; r->block.waves && k < r->block.nwaves; k++)
        free(r->block.waves[k].scratch);
    free(r->block.waves);
    free(r->block.lds);
}

static bool make_resident(launch_state *s, resident *r)
{
    *r = (resident){.block = {.kernel = s->kernel, .launch = s->launch, .nwaves = s->nwaves, .lds_bytes = s->lds_bytes}};
    r->block.waves = aligned_alloc(_Alignof(sim_wave), s->nwaves * sizeof(sim_wave));
    r->block.lds = malloc(s->lds_bytes + 1);
    if (!r->block.waves || !r->block.lds) return false;
    memset(r->block.waves, 0, s->nwaves * sizeof(sim_wave));
    for (uint32_t k = 0; k < s->nwaves; k++) {
        sim_wave *w = &r->block.waves[k];
        w->device = s->kernel->module->device;
        w->target = &w->device->info;
        w->index = k;
        w->block = &r->block;
        w->scratch_bytes = s->scratch_bytes;
        w->scratch = malloc((size_t)s->kernel->lanes * s->scratch_bytes + 1);
        if (!w->scratch) return false;
    }
    return true;
}

/* Registers and memory begin as zero, so that a kernel that reads what it never wrote gives the same result every time. */
static void clear_wave(sim_wave *w, const sim_kernel *k)
{
    uint32_t rows = k->info.vgprs && k->info.vgprs < 256 ? k->info.vgprs : 256;
    memset(w->vgpr, 0, rows * sizeof w->vgpr[0]);
    if (w->target->generation == SIM_GFX9) memset(w->vgpr[256], 0, rows * sizeof w->vgpr[0]);
    memset(w->scratch, 0, (size_t)k->lanes * w->scratch_bytes);
    memset(&w->counts, 0, sizeof w->counts);
    w->executed = 0;
}

static void begin_block(launch_state *s, resident *r, uint64_t number)
{
    const uint32_t *grid = s->launch->grid;
    sim_block *b = &r->block;
    r->number = number;
    r->busy = true;
    b->id[0] = (uint32_t)(number % grid[0]);
    b->id[1] = (uint32_t)(number / grid[0] % grid[1]);
    b->id[2] = (uint32_t)(number / grid[0] / grid[1]);
    b->phase = 0;
    memset(b->lds, 0, b->lds_bytes);
    for (uint32_t k = 0; k < b->nwaves; k++) {
        clear_wave(&b->waves[k], s->kernel);
        sim_wave_start(&b->waves[k], s->kernel, s->kernarg, s->packet, NULL);
    }
}

static void end_block(launch_state *s, resident *r, sim_counts *counts)
{
    (void)s;
    r->busy = false;
    for (uint32_t k = 0; k < r->block.nwaves; k++)
        for (uint32_t c = 0; c < SIM_CLASS_COUNT; c++)
            counts->executed[c] += r->block.waves[k].counts.executed[c];
}

/* One turn of every wave that can run. True while the block goes on. */
static bool run_round(launch_state *s, resident *r, uint64_t *turns)
{
    sim_block *b = &r->block;
    uint32_t ended = 0;
    sim_wave *waiting = NULL;
    bool ran = false;
    for (uint32_t k = 0; k < b->nwaves; k++) {
        sim_wave *w = &b->waves[k];
        if (w->state == WAVE_READY) {
            sim_error e;
            w->error = &e;
            ran = true;
            if (!sim_wave_run(w, TURN)) {
                report(s, r->number, &e);
                return false;
            }
            *turns += TURN;                  /* also one that ended early: a wave that polls is not to keep other blocks waiting */
        }
        if (w->state == WAVE_BARRIER && !waiting) waiting = w;
        ended += w->state == WAVE_ENDED;
    }
    if (ended == b->nwaves) return false;
    if (!ran && waiting) {
        raise_fault(s, r, waiting, SIM_FAULT_DEADLOCK, "every wave of the block waits at a barrier that cannot complete");
        return false;
    }
    if (s->deadline && now_ms() >= s->deadline) {
        raise_fault(s, r, waiting ? waiting : &b->waves[0], SIM_FAULT_TIMEOUT, "the launch takes longer than its time limit");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------ workers */

static bool next_block(launch_state *s, uint64_t *number)
{
    uint64_t n = atomic_load(&s->next);
    /* Short blocks never come to the test in run_round. */
    if (s->deadline && n % 16 == 0 && now_ms() >= s->deadline && n < atomic_load(&s->limit) && n < s->total) {
        sim_error e = {.status = SIM_FAULT_TIMEOUT, .reason = "the launch takes longer than its time limit"};
        report(s, n, &e);
        return false;
    }
    do {
        if (n >= s->total || n >= atomic_load(&s->limit)) return false;
    } while (!atomic_compare_exchange_weak(&s->next, &n, n + 1));
    *number = n;
    return true;
}

/* Runs a resident block for a slice; false when it is over, by its end, a fault, or a lower block's fault. */
static bool run_slice(launch_state *s, resident *r)
{
    for (uint64_t turns = 0; turns < s->slice;) {
        if (r->number >= atomic_load(&s->limit)) return false;
        if (!run_round(s, r, &turns)) return false;
    }
    return true;
}

typedef struct worker {
    launch_state *state;
    resident blocks[MAX_RESIDENT];
    uint32_t made;
    sim_counts counts;
} worker;

/* A free place; a new one only while memory is there. NULL: go on with what runs. */
static resident *free_place(worker *w)
{
    for (uint32_t k = 0; k < w->made; k++)
        if (!w->blocks[k].busy) return &w->blocks[k];
    if (w->made == MAX_RESIDENT) return NULL;
    if (make_resident(w->state, &w->blocks[w->made])) return &w->blocks[w->made++];
    free_resident(&w->blocks[w->made]);
    return NULL;
}

static void report_no_memory(launch_state *s)
{
    sim_error e = {.status = SIM_NO_MEMORY, .reason = "no memory for the waves of a block"};
    report(s, 0, &e);
}

/* The blocks of a cooperative launch, of which each worker has its share from the start. */
static void begin_share(worker *w)
{
    uint64_t number;
    for (uint64_t k = 0; k < w->state->share; k++) {
        resident *place = free_place(w);
        if (!place) {
            report_no_memory(w->state);
            return;
        }
        if (!next_block(w->state, &number)) return;
        begin_block(w->state, place, number);
    }
}

static void *work(void *argument)
{
    worker *w = argument;
    launch_state *s = w->state;
    ptx_host host;                       /* the caller's, also in other threads, which begin with it */
    ptx_host_leave(&host);
    begin_share(w);
    for (bool busy = true; busy;) {
        uint64_t number;
        resident *place = s->launch->cooperative ? NULL : free_place(w);
        if (!place && !w->made) {
            report_no_memory(s);
            break;
        }
        busy = false;
        if (place && next_block(s, &number)) begin_block(s, place, number);
        for (uint32_t k = 0; k < w->made; k++) {
            if (!w->blocks[k].busy) continue;
            if (run_slice(s, &w->blocks[k])) busy = true;
            else end_block(s, &w->blocks[k], &w->counts), busy = true;
        }
    }
    pthread_mutex_lock(&s->lock);
    for (uint32_t c = 0; c < SIM_CLASS_COUNT; c++)
        s->counts.executed[c] += w->counts.executed[c];
    pthread_mutex_unlock(&s->lock);
    for (uint32_t k = 0; k < w->made; k++)
        free_resident(&w->blocks[k]);
    ptx_host_return(&host);
    return NULL;
}

static void run_workers(launch_state *s, uint32_t threads)
{
    pthread_t ids[256];
    worker *workers = calloc(threads, sizeof *workers);
    uint32_t started = 0;
    if (!workers) {
        sim_set_error(s->error, SIM_NO_MEMORY, "no memory");
        return;
    }
    for (uint32_t k = 0; k < threads; k++)
        workers[k].state = s;
    /* The caller is worker 0; without a thread the others' blocks are its own. */
    while (started + 1 < threads && !pthread_create(&ids[started], NULL, work, &workers[started + 1]))
        started++;
    if (s->launch->cooperative && started + 1 < threads) report_no_memory(s);
    work(&workers[0]);
    for (uint32_t k = 0; k < started; k++)
        pthread_join(ids[k], NULL);
    free(workers);
}

uint64_t sim_blocks_at_once(const sim_device *device) { return (uint64_t)MAX_RESIDENT * device->threads; }

sim_status sim_run_blocks(const sim_kernel *k, const sim_launch *launch, uint64_t kernarg, uint64_t packet, sim_error *error)
{
    const uint32_t *block = launch->block, *grid = launch->grid;
    launch_state s = {.kernel = k, .launch = launch, .kernarg = kernarg, .packet = packet, .error = error, .fault_block = UINT64_MAX};
    s.total = (uint64_t)grid[0] * grid[1] * grid[2];
    s.nwaves = (block[0] * block[1] * block[2] + k->lanes - 1) / k->lanes;
    s.lds_bytes = k->info.lds_bytes + launch->dynamic_lds;
    s.scratch_bytes = k->info.scratch_bytes + (k->dynamic_stack ? DYNAMIC_STACK : 0);
    s.deadline = launch->timeout_ms ? now_ms() + launch->timeout_ms : 0;
    s.slice = launch->cooperative ? TURN : SLICE;
    atomic_store(&s.limit, UINT64_MAX);
    pthread_mutex_init(&s.lock, NULL);
    uint32_t threads = k->module->device->threads;
    if (s.total < threads) threads = (uint32_t)s.total;
    s.share = launch->cooperative ? (s.total + threads - 1) / threads : 0;
    run_workers(&s, threads);
    for (uint32_t c = 0; launch->counts && c < SIM_CLASS_COUNT; c++)
        launch->counts->executed[c] += s.counts.executed[c];
    pthread_mutex_destroy(&s.lock);
    return error->status;
}
