/* branches.c - runs the steps of an instantiated graph: those that do not depend on each other side by side.
 *
 * The stream's thread does steps itself. What becomes ready beside them goes to helpers, threads that all graphs share, so every ready
 * step has a thread and steps of two branches may wait for each other. Where no helper is to be had the stream's thread comes round to
 * the step, later. A graph that is one chain needs none of this.
 */
#include <stdlib.h>
#include "runtime/driver/graph.h"

enum { MOST_HELPERS = 64 };

/* One launch on its way, on the stack of the stream's thread. All under `lock`. */
typedef struct walk {
    struct dr_exec_run *run;
    dr_context *context;
    dr_stream *stream;
    uint32_t *waits;               /* of each step: how many before it are not done */
    uint32_t *ready;               /* a step goes in once, so this never wraps */
    uint32_t first, last, done;
    cu_result result;
    pthread_cond_t changed;        /* something is ready, or all is done */
    struct walk *next;             /* of those that are on their way */
} walk;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static uint32_t helpers, idle;
static walk *walks;

static bool is_ready(const walk *w)
{
    return w->first < w->last;
}

static walk *find_ready(void)
{
    walk *w = walks;
    while (w && !is_ready(w))
        w = w->next;
    return w;
}

static void *help(void *unused);

/* Somebody else for a step that is ready, if there is one. Whoever takes it calls the next, so that a wide graph of short steps wakes
 * only as many as find something to do. */
static void call_helper(void)
{
    if (!find_ready())
        return;
    if (idle)
        pthread_cond_signal(&wanted);
    else if (helpers < MOST_HELPERS && dr_thread_start(help, NULL))
        helpers++;
}

/* Takes a ready step and does it; the lock is given up meanwhile. After a failure nothing more is done. */
static void do_step(walk *w)
{
    const dr_step *s = &w->run->steps[w->ready[w->first++]];
    cu_result result = CUABI_SUCCESS;
    call_helper();
    if (!w->result) {
        pthread_mutex_unlock(&lock);
        result = dr_step_run(w->context, w->stream, s);
        pthread_mutex_lock(&lock);
    }
    if (result && !w->result)
        w->result = result;
    for (uint32_t i = 0; i < s->nafter; i++)
        if (--w->waits[s->after[i]] == 0)
            w->ready[w->last++] = s->after[i];
    w->done++;
    pthread_cond_signal(&w->changed);
}

static void *help(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        walk *w = find_ready();
        if (w)
            do_step(w);
        else {
            idle++;
            pthread_cond_wait(&wanted, &lock);
            idle--;
        }
    }
    return unused;
}

static void leave(const walk *w)
{
    walk **p = &walks;
    while (*p != w)
        p = &(*p)->next;
    *p = w->next;
}

static cu_result run_branches(walk *w)
{
    const struct dr_exec_run *run = w->run;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < run->count; i++) {
        w->waits[i] = run->steps[i].nbefore;
        if (w->waits[i] == 0)
            w->ready[w->last++] = i;
    }
    w->next = walks;
    walks = w;
    while (w->done < run->count) {
        if (is_ready(w))
            do_step(w);
        else
            pthread_cond_wait(&w->changed, &lock);
    }
    leave(w);
    pthread_mutex_unlock(&lock);
    return w->result;
}

static cu_result run_in_order(dr_context *c, dr_stream *stream, const struct dr_exec_run *run)
{
    cu_result result = CUABI_SUCCESS;
    for (uint32_t i = 0; i < run->count && !result; i++)
        result = dr_step_run(c, stream, &run->steps[run->order[i]]);
    return result;
}

cu_result dr_exec_run(dr_context *c, dr_stream *stream, struct dr_exec_run *run)
{
    cu_result started = dr_conditions_start(run);
    if (started || !run->branches)
        return started ? started : run_in_order(c, stream, run);
    walk w = {.run = run, .context = c, .stream = stream, .changed = PTHREAD_COND_INITIALIZER};
    w.waits = malloc(2 * run->count * sizeof *w.waits);
    if (!w.waits)
        return run_in_order(c, stream, run);
    w.ready = w.waits + run->count;
    cu_result result = run_branches(&w);
    pthread_cond_destroy(&w.changed);
    free(w.waits);
    return result;
}
