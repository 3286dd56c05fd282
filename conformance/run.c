/* run.c - cases on a device, in modules of some dozens, compared with the reference.
 *
 * A module holds many cases because a device may spend long on each module (a translation and a link) and little on
 * one more kernel. Where our own code runs the kernels, several workers, each with a context and device of its own, take modules from a
 * queue; in a long run one worker compares on several threads, because there a single case takes minutes.
 */
#include "conformance/conform.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance/memory.h"
#include "conformance/parallel.h"
#include "conformance/runner.h"
#include "conformance/snippets.h"
#include "conformance/state.h"
#include "conformance/texture.h"
#include "conformance/wmma.h"
#include "runtime/device.h"

enum { BATCH = 48, MOST_WORKERS = 16 };

/* The queue that workers share. */
typedef struct queue {
    const conform_options *options;
    conform_result *results;
    uint32_t count, at;
    bool *done;                          /* taken over from the state file */
    FILE *state;
    uint32_t threads;                    /* of each worker */
    pxb_context *first;                  /* the caller's context, the first worker's */
    pxb_status status;                   /* of the worker that failed first */
    char why[400];
    pthread_mutex_t lock;
} queue;

/* ------------------------------------------------------------ a batch */

static void run_case(conform_runner *r, pxb_module *module, uint32_t number, conform_result *out)
{
    static pxb_status (*const kinds[CONFORM_KINDS])(conform_runner *, pxb_kernel *, const conform_case *, conform_result *) = {
        conform_run_lanes, conform_run_warps, conform_run_mma, conform_run_wmma, conform_run_texture, NULL, conform_run_snippet};
    char name[32];
    pxb_kernel *kernel;
    const double start = rt_now_ms();
    snprintf(name, sizeof name, "conform_%u", number);
    out->digest = CONFORM_DIGEST_START;
    pxb_status status = pxb_kernel_get(r->device, module, name, &kernel);
    if (!status)
        status = out->c->kind == CONFORM_MEMORY ? conform_run_memory(r, module, kernel, out->c, out) : kinds[out->c->kind](r, kernel, out->c, out);
    if (status)
        snprintf(out->message, sizeof out->message, "%s", pxb_last_error(r->ctx)->message);
    if (out->verdict != CONFORM_BROKEN)
        out->verdict = status ? CONFORM_BROKEN : out->differing ? CONFORM_FAILED : CONFORM_PASSED;
    out->ms = rt_now_ms() - start;
}

static void all_broken(conform_runner *r, conform_result *results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        results[i].verdict = CONFORM_BROKEN;
        snprintf(results[i].message, sizeof results[i].message, "%s", pxb_last_error(r->ctx)->message);
    }
}

static void keep(queue *q, const conform_result *results, uint32_t count)
{
    pthread_mutex_lock(&q->lock);
    conform_keep(q->state, results, count);
    pthread_mutex_unlock(&q->lock);
}

static void run_batch(conform_runner *r, queue *q, conform_result *results, uint32_t count)
{
    const conform_case *cases[BATCH];
    for (uint32_t i = 0; i < count; i++)
        cases[i] = results[i].c;
    char *text = conform_module(cases, count);
    pxb_module *module = NULL;
    const bool rewritten = !text || !q->options->rewrite || q->options->rewrite(q->options->rewrite_user, &text);
    pxb_status status = !text ? rt_no_memory(r->ctx) : !rewritten ? rt_fail(r->ctx, PXB_INTERNAL, "the text of the case is not what was expected")
                      : pxb_module_load_text(r->ctx, text, strlen(text), "conform.ptx", &module);
    if (status)
        all_broken(r, results, count);
    for (uint32_t i = 0; !status && i < count; i++) {
        run_case(r, module, i, &results[i]);
        keep(q, &results[i], 1);         /* at once: a case may have taken minutes */
    }
    pxb_module_free(module);
    free(text);
}

/* How many of the next results go into one module. */
static uint32_t batch_length(const conform_result *results, uint32_t left)
{
    uint32_t n = 1;
    while (n < left && n < BATCH && conform_era_of(results[n].c) == conform_era_of(results[0].c))
        n++;
    return n;
}

/* ------------------------------------------------------------ workers */

/* The next batch; 0: there is none. */
static uint32_t take_batch(queue *q, uint32_t *first)
{
    uint32_t n = 0;
    pthread_mutex_lock(&q->lock);
    while (q->at < q->count && q->done[q->at])
        q->at++;
    if (!q->status && q->at < q->count) {
        uint32_t left = 0;
        while (q->at + left < q->count && !q->done[q->at + left])
            left++;
        n = batch_length(q->results + q->at, left);
        *first = q->at;
        if (q->options->progress)
            q->options->progress(q->options->progress_user, q->results[q->at].c->name, q->at, q->count);
        q->at += n;
    }
    pthread_mutex_unlock(&q->lock);
    return n;
}

static void set_status(queue *q, pxb_context *ctx, pxb_status status)
{
    pthread_mutex_lock(&q->lock);
    if (status && !q->status) {
        q->status = status;
        snprintf(q->why, sizeof q->why, "%s", ctx ? pxb_last_error(ctx)->message : "out of memory");
    }
    pthread_mutex_unlock(&q->lock);
}

static void work(void *user, uint32_t worker)
{
    queue *q = user;
    pxb_context *ctx = q->first;
    conform_runner r = {.ctx = NULL};
    pxb_status status = worker ? pxb_context_create(&ctx) : PXB_OK;
    if (status)
        ctx = NULL;
    else
        status = conform_runner_open(&r, ctx, q->options, q->threads);
    set_status(q, ctx, status);
    for (uint32_t first, n; !status && (n = take_batch(q, &first)) > 0;)
        run_batch(&r, q, q->results + first, n);
    conform_runner_close(&r);
    if (worker)
        pxb_context_destroy(ctx);
}

/* ------------------------------------------------------------ the whole run */

static uint32_t select_cases(const conform_list *list, const conform_options *o, conform_result *results)
{
    uint32_t n = 0;
    memset(results, 0, list->count * sizeof *results);
    for (uint32_t i = 0; i < list->count; i++)
        if (!o->shards || i % o->shards == o->shard)
            results[n++].c = &list->cases[i];
    return n;
}

/* Ours are the devices whose code this process executes: those on which workers do not wait for each other. */
static bool is_ours(const char *device)
{
    return !device || !strncmp(device, "cpu", 3) || !strncmp(device, "sim", 3);
}

static pxb_status open_state(queue *q, pxb_context *ctx)
{
    const conform_options *o = q->options;
    bool is_new;
    if (!o->state)
        return PXB_OK;
    if (!conform_take_over(o, q->results, q->count, q->done, &is_new))
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "the state file \"%.200s\" is of a run with another device, version or options", o->state);
    q->state = fopen(o->state, "a");
    if (!q->state)
        return rt_fail(ctx, PXB_IO, "the state file \"%.200s\" cannot be written", o->state);
    char head[512];
    conform_state_head(o, head, sizeof head);
    fprintf(q->state, is_new ? "%s\n" : "\n", head);    /* the empty line ends one that was torn */
    return PXB_OK;
}

pxb_status conform_run(pxb_context *ctx, const conform_list *list, const conform_options *options, conform_result *results,
                       uint32_t *nresults)
{
    conform_options o = *options;
    if (!o.random)
        o.random = 4096;
    const uint32_t jobs = o.jobs ? o.jobs : conform_processors();
    const bool spread = is_ours(o.device) && !o.exhaustive && !o.prepare;
    const uint32_t most = jobs < MOST_WORKERS ? jobs : MOST_WORKERS, count = *nresults = select_cases(list, &o, results);
    queue q = {.options = &o, .results = results, .count = count, .first = ctx, .threads = spread ? 1 : jobs, .lock = PTHREAD_MUTEX_INITIALIZER};
    q.done = calloc(count + 1, sizeof *q.done);
    pxb_status status = q.done ? open_state(&q, ctx) : rt_no_memory(ctx);
    if (!status) {
        conform_parallel(spread ? most : 1, spread ? most : 1, work, &q);
        if (q.status)
            status = rt_fail(ctx, q.status, "%s", q.why);
    }
    if (q.state) {
        bool torn = ferror(q.state) != 0;
        if ((fclose(q.state) != 0 || torn) && !status)
            status = rt_fail(ctx, PXB_IO, "the state file \"%.200s\" could not be written: it is not complete", o.state);
    }
    free(q.done);
    return status;
}
