/* launch.c - checks a launch, runs it on the workers, and hands out what it printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/context.h"
#include "runtime/cpu/internal.h"

enum { STACK_BYTES = 16 << 10, MOST_PARAMS = 64 << 10, WORKSPACE_BYTES = 4096 };

static bool reject(cpu_error *error, const cpu_kernel *k, const char *text)
{
    cpu_error_set(error, CPU_BAD_ARGUMENT, "%s", text);
    snprintf(error->kernel, sizeof error->kernel, "%s", k->function->name);
    return false;
}

static uint64_t shared_bytes(const cpu_kernel *k, const cpu_launch *l)
{
    return l->dynamic_shared ? ((k->module->ptx->shared_size + 15) & ~15ull) + l->dynamic_shared : k->shared_end;
}

static bool check_launch(const cpu_kernel *k, const cpu_launch *l, cpu_error *error)
{
    const ptx_function *f = k->function;
    char text[256];
    uint64_t threads = 1, blocks = 1, most = 1;
    bool limited = false, required = false, equal = true;
    for (uint32_t i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->block[i] == 0)
            return reject(error, k, "a dimension of the grid or block is 0");
        threads = threads > CPU_MAX_BLOCK ? threads : threads * l->block[i];
        if (blocks > UINT64_MAX / 2 / l->grid[i])
            return reject(error, k, "the grid has too many blocks");
        blocks *= l->grid[i];
        most *= f->maxntid[i] ? f->maxntid[i] : 1;
        limited |= f->maxntid[i] != 0;
        required |= f->reqntid[i] != 0;
        equal &= l->block[i] == (f->reqntid[i] ? f->reqntid[i] : 1);
    }
    if (threads > CPU_MAX_BLOCK)
        return reject(error, k, "a block has at most 1024 threads");
    if (limited && threads > most) {
        snprintf(text, sizeof text, "the kernel allows at most %" PRIu64 " threads a block (.maxntid), the launch has %" PRIu64, most, threads);
        return reject(error, k, text);
    }
    if (required && !equal) {
        snprintf(text, sizeof text, "the kernel requires blocks of %u x %u x %u threads (.reqntid)", f->reqntid[0],
                 f->reqntid[1] ? f->reqntid[1] : 1, f->reqntid[2] ? f->reqntid[2] : 1);
        return reject(error, k, text);
    }
    if (l->param_bytes != f->param_size || f->param_size > MOST_PARAMS) {
        snprintf(text, sizeof text, "the parameter block has %" PRIu64 " bytes, the kernel takes %" PRIu64, l->param_bytes, f->param_size);
        return reject(error, k, text);
    }
    if (l->dynamic_shared > CPU_MAX_SHARED || shared_bytes(k, l) > CPU_MAX_SHARED)
        return reject(error, k, l->dynamic_shared && k->static_shared + l->dynamic_shared <= CPU_MAX_SHARED
                                    ? "a block has at most 1 MiB of shared memory; that of other kernels of the module lies before its dynamic memory"
                                    : "a block has at most 1 MiB of shared memory");
    return true;
}

/* The parameter block has a place of its own in the arena, used by one launch after the other. */
static bool place_params(cpu_device *d, const cpu_launch *l, cpu_job *job)
{
    if (!d->param_address) {
        pthread_mutex_lock(&d->lock);
        d->param_address = cpu_region_alloc(&d->window, MOST_PARAMS);
        pthread_mutex_unlock(&d->lock);
    }
    job->param_base = d->param_address;
    if (d->param_address && l->param_bytes)
        memcpy((void *)(uintptr_t)d->param_address, l->params, l->param_bytes);
    return d->param_address != 0;
}

/* A cooperative grid's workspace, of zeros, in the layout that cooperative groups expect: its size, then their barrier. */
static bool place_workspace(cpu_device *d, cpu_job *job)
{
    if (!job->launch->cooperative)
        return true;
    uint64_t at_once = (uint64_t)(job->launch->trace ? 1 : d->nworkers) * cpu_contexts_limit(job);
    if (job->blocks > at_once) {
        cpu_error_set(&job->error, CPU_BAD_ARGUMENT, "%" PRIu64 " blocks of a cooperative launch; at most %" PRIu64 " can run at once",
                      job->blocks, at_once);
        return false;
    }
    if (!d->workspace)
        d->workspace = cpu_alloc(d, WORKSPACE_BYTES);
    job->workspace = d->workspace;
    if (!d->workspace) {
        cpu_error_set(&job->error, CPU_NO_MEMORY, "no room for the workspace of a cooperative launch");
        return false;
    }
    memset((void *)(uintptr_t)d->workspace, 0, WORKSPACE_BYTES);
    *(uint32_t *)(uintptr_t)d->workspace = WORKSPACE_BYTES;
    return true;
}

/* The mma model is an immediate operand of decoded instructions. */
void cpu_code_set_model(cpu_code *code, uint32_t model)
{
    if (__atomic_load_n(&code->model, __ATOMIC_ACQUIRE) == model)
        return;
    pthread_mutex_lock(&code->module->lock);
    for (uint32_t k = 0; k < code->nmodels; k++)
        *code->models[k] = model;
    __atomic_store_n(&code->model, model, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&code->module->lock);
}

static void size_memory(const cpu_kernel *k, const cpu_launch *l, cpu_job *job)
{
    uint64_t used = k->static_shared;
    job->shared_used = l->dynamic_shared ? ((used + 15) & ~15ull) + l->dynamic_shared : used;
    job->shared_bytes = shared_bytes(k, l);
    job->local_bytes = k->code->local_bytes;
    if (k->code->calls)
        job->local_bytes += l->max_local ? (l->max_local + 15) & ~15ull : STACK_BYTES;
    /* An odd number of cache lines between lanes keeps them out of each other's cache sets. */
    uint64_t lines = (job->local_bytes + 63) / 64;
    job->local_stride = lines ? (lines | 1) * 64 : 0;
}

static int by_block(const void *a, const void *b)
{
    uint64_t p = ((const cpu_block_text *)a)->block, q = ((const cpu_block_text *)b)->block;
    return p < q ? -1 : p > q;
}

static void print_texts(cpu_job *job)
{
    const cpu_launch *l = job->launch;
    if (job->ntexts)
        qsort(job->texts, job->ntexts, sizeof *job->texts, by_block);
    for (uint64_t k = 0; k < job->ntexts; k++) {
        cpu_text *t = &job->texts[k].text;
        if (t->length && l->print)
            l->print(l->print_user, t->data, t->length);
        else if (t->length)
            fwrite(t->data, 1, t->length, stdout);
        free(t->data);
    }
    if (job->texts && !l->print)
        fflush(stdout);
    free(job->texts);
    if (job->text_lost)
        fprintf(stderr, "ptxbridge: printf of kernel \"%s\": %" PRIu64 " bytes beyond the limit for captured text are lost\n",
                job->kernel->function->name, job->text_lost);
}

cpu_status cpu_run(cpu_kernel *k, const cpu_launch *l, cpu_error *error)
{
    cpu_error unused;
    cpu_device *d = k->module->device;
    if (!error)
        error = &unused;
    memset(error, 0, sizeof *error);
    if (!check_launch(k, l, error))
        return error->status;
    pthread_mutex_lock(&d->launch_lock);
    cpu_code *code = l->trace ? cpu_code_of(k->module, k->function, true, error) : k->code;
    if (!code) {
        pthread_mutex_unlock(&d->launch_lock);
        return error->status;
    }
    cpu_job job = {.kernel = k, .launch = l, .code = code, .serial = ++d->launches};
    job.blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    job.limit = UINT64_MAX;
    job.threads = l->block[0] * l->block[1] * l->block[2];
    job.nwarps = (job.threads + CPU_LANES - 1) / CPU_LANES;
    job.deadline_ns = l->timeout_ms ? cpu_now_ns() + (uint64_t)l->timeout_ms * 1000000u : 0;
    pthread_mutex_init(&job.lock, NULL);
    size_memory(k, l, &job);
    cpu_code_set_model(code, l->mma_model);
    if (!place_params(d, l, &job))
        cpu_error_set(&job.error, CPU_NO_MEMORY, "no room for the parameters of a launch");
    else if (place_workspace(d, &job))
        cpu_pool_run(d, &job);
    *error = job.error;
    pthread_mutex_destroy(&job.lock);
    pthread_mutex_unlock(&d->launch_lock);
    /* Last and without the lock: the callback may use the device. */
    print_texts(&job);
    return job.error.status;
}
