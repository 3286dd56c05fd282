/* pool.c - the worker threads of a device, which live as long as it.
 *
 * Workers sleep until a launch, take blocks in ascending order from one counter, and sleep again. A
 * worker runs one block after the other; only when a block makes no progress (it spins on something
 * that another block has to do) does the worker hold several and take turns. A launch of one block
 * runs on the thread that launches: waking a worker and waiting for it takes longer than many a kernel.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "runtime/cpu/internal.h"
#include "runtime/cpu/context.h"

uint64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The fault of the lowest block is the launch's, so that a deterministic kernel has a deterministic error. */
static void report(cpu_job *job, uint64_t block, const cpu_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (job->error.status == CPU_OK || block < job->error_block) {
        job->error = *error;
        job->error_block = block;
    }
    if (block < job->limit)
        job->limit = block;
    pthread_mutex_unlock(&job->lock);
}

static bool next_block(cpu_job *job, uint64_t *block)
{
    if (job->next >= job->blocks)
        return false;
    *block = job->next++;
    return *block < job->blocks && *block < job->limit;
}

static bool blocks_remain(const cpu_job *job)
{
    return job->next < job->blocks && job->next < job->limit;
}

/* Runs blocks until none is left. Contexts [0, held) are in use; `turn` is the one that runs. */
static void work(cpu_worker *worker, cpu_job *job)
{
    volatile uint32_t held = 0, turn = 0;
    cpu_context *volatile c = NULL;
    int jumped = sigsetjmp(worker->jump, 0);
    if (jumped) {
        if (jumped == 2)
            cpu_signal_fault(worker);
        report(job, c->block_number, &worker->raised);
        cpu_context_abandon(c);
        c->busy = false;
    }
    worker->guarded = 1;
    for (;;) {
        /* Contexts that ended move to the end of those in use. */
        for (uint32_t k = 0; k < held;)
            if (worker->contexts[k]->busy)
                k++;
            else {
                cpu_context *ended = worker->contexts[k];
                worker->contexts[k] = worker->contexts[held - 1];
                worker->contexts[held - 1] = ended;
                held--;
            }
        uint64_t block;
        bool stalled = held > 0;
        if ((!stalled || (held < cpu_contexts_limit(job) && blocks_remain(job))) && next_block(job, &block)) {
            cpu_context *fresh = cpu_context_get(worker, held);
            if (!fresh) {
                cpu_error error;
                cpu_error_set(&error, CPU_NO_MEMORY, "no memory for a running block: %llu bytes of local memory for each of its %u threads",
                              (unsigned long long)job->local_bytes, job->threads);
                snprintf(error.kernel, sizeof error.kernel, "%s", job->kernel->function->name);
                report(job, block, &error);
                continue;
            }
            cpu_context_begin(fresh, block);
            held++;
            turn = held - 1;
        } else if (held == 0)
            break;
        else
            turn = (turn + 1) % held;
        c = worker->contexts[turn];
        if (cpu_context_run(c))
            c->busy = false;
    }
    worker->guarded = 0;
    worker->running = NULL;
}

static void *worker_main(void *argument)
{
    cpu_worker *worker = argument;
    cpu_device *d = worker->device;
    uint64_t seen = 0;
    cpu_this_worker = worker;
    fesetenv(FE_DFL_ENV);                /* a thread begins with its maker's rounding and flushing */
    pthread_mutex_lock(&d->pool_lock);
    for (;;) {
        while (!d->pool_stop && (d->pool_serial == seen || worker->index >= d->pool_wanted))
            pthread_cond_wait(&d->pool_start, &d->pool_lock);
        if (d->pool_stop)
            break;
        seen = d->pool_serial;
        cpu_job *job = d->pool_job;
        if (!job)
            continue;
        d->pool_running++;
        pthread_mutex_unlock(&d->pool_lock);
        worker->job = job;
        work(worker, job);
        worker->job = NULL;
        pthread_mutex_lock(&d->pool_lock);
        if (--d->pool_running == 0)
            pthread_cond_signal(&d->pool_done);
    }
    pthread_mutex_unlock(&d->pool_lock);
    return NULL;
}

/* Kernels raise no signals for the host program: those go to its own threads, and wait while one of them runs a kernel. */
static void block_signals(sigset_t *old)
{
    static const int wanted[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t mask;
    sigfillset(&mask);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        sigdelset(&mask, wanted[i]);
    pthread_sigmask(SIG_SETMASK, &mask, old);
}

/* The same on a thread of the program's, but those by which a user ends or stops it stay as they were: a kernel may never end, and there may be no
 * other thread. A second call only where the program blocks what kernels need. */
static void block_signals_here(sigset_t *old)
{
    static const int stay[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    enum { USERS = 5, STAY = sizeof stay / sizeof *stay };
    sigset_t mask;
    bool blocked = false;
    sigfillset(&mask);
    for (int i = 0; i < STAY; i++)
        sigdelset(&mask, stay[i]);
    pthread_sigmask(SIG_BLOCK, &mask, old);
    sigemptyset(&mask);
    for (int i = USERS; i < STAY; i++) {
        sigaddset(&mask, stay[i]);
        blocked |= sigismember(old, stay[i]) == 1;
    }
    if (blocked)
        pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
}

bool cpu_pool_start(cpu_device *d, cpu_error *error)
{
    pthread_mutex_init(&d->pool_lock, NULL);
    pthread_cond_init(&d->pool_start, NULL);
    pthread_cond_init(&d->pool_done, NULL);
    uint32_t wanted = d->nworkers;
    d->workers = calloc(wanted, sizeof *d->workers);
    d->nworkers = 0;
    if (!d->workers) {
        cpu_error_set(error, CPU_NO_MEMORY, "out of memory");
        return false;
    }
    sigset_t old;
    block_signals(&old);
    for (uint32_t k = 0; k < wanted; k++) {
        cpu_worker *worker = &d->workers[k];
        worker->device = d;
        worker->index = k;
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
            break;
        d->nworkers++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (d->nworkers == 0) {
        cpu_error_set(error, CPU_NO_MEMORY, "cannot start a thread");
        free(d->workers);
        d->workers = NULL;
        return false;
    }
    return true;
}

void cpu_pool_stop(cpu_device *d)
{
    pthread_mutex_lock(&d->pool_lock);
    d->pool_stop = true;
    pthread_cond_broadcast(&d->pool_start);
    pthread_mutex_unlock(&d->pool_lock);
    for (uint32_t k = 0; k < d->nworkers; k++) {
        pthread_join(d->workers[k].thread, NULL);
        cpu_contexts_free(&d->workers[k]);
    }
    free(d->workers);
    pthread_mutex_destroy(&d->pool_lock);
    pthread_cond_destroy(&d->pool_start);
    pthread_cond_destroy(&d->pool_done);
}

/* In the place of the first worker, which sleeps: launches take turns, and none is in the pool now. */
static void run_here(cpu_device *d, cpu_job *job)
{
    cpu_worker *worker = &d->workers[0], *before = cpu_this_worker;
    sigset_t old;
    fenv_t environment;
    block_signals_here(&old);
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    cpu_this_worker = worker;
    worker->job = job;
    work(worker, job);
    worker->job = NULL;
    cpu_this_worker = before;
    fesetenv(&environment);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void cpu_pool_run(cpu_device *d, cpu_job *job)
{
    if (job->blocks == 1) {
        run_here(d, job);
        return;
    }
    pthread_mutex_lock(&d->pool_lock);
    uint64_t useful = job->launch->trace ? 1 : job->blocks;
    d->pool_wanted = useful < d->nworkers ? (uint32_t)useful : d->nworkers;
    d->pool_job = job;
    d->pool_serial++;
    pthread_cond_broadcast(&d->pool_start);
    /* A worker may come late and find nothing to do: the launch is over when all blocks were taken and nobody works. */
    while (d->pool_running > 0 || blocks_remain(job))
        pthread_cond_wait(&d->pool_done, &d->pool_lock);
    d->pool_job = NULL;
    pthread_mutex_unlock(&d->pool_lock);
}
