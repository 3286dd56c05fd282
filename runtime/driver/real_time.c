/* real_time.c - times of launches on a real driver, from two events around each: nothing is waited for.
 *
 * What became of the events is asked at later launches, when their context goes, and at the program's end.
 */
#include "runtime/driver/real.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/spy.h"

/* A launch whose events have not happened when they were last asked, or, without a name, events for the next one. */
typedef struct timed {
    struct timed *next;
    cu_context context;
    cu_event events[2];
    char *kernel;
} timed;

enum { AT_ONCE = 32 };                 /* asked at a launch */

static timed *pending, **pending_end = &pending, *unused;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy(timed *t)
{
    for (int i = 0; i < 2; i++)
        if (t->events[i] && DR_REAL(cuEventDestroy_v2))
            DR_REAL(cuEventDestroy_v2)(t->events[i]);
    free(t->kernel);
    free(t);
}

/* Events of the current context. */
static timed *new_timed(void)
{
    cu_context context = dr_real_context();
    pthread_mutex_lock(&lock);
    timed **p = &unused, *t;
    while (*p && (*p)->context != context)
        p = &(*p)->next;
    t = *p;
    if (t)
        *p = t->next;
    pthread_mutex_unlock(&lock);
    if (t || !DR_REAL(cuEventCreate) || !DR_REAL(cuEventQuery) || !DR_REAL(cuEventElapsedTime) || !(t = calloc(1, sizeof *t)))
        return t;
    t->context = context;
    if (DR_REAL(cuEventCreate)(&t->events[0], 0) == CUABI_SUCCESS && DR_REAL(cuEventCreate)(&t->events[1], 0) == CUABI_SUCCESS)
        return t;
    destroy(t);
    return NULL;
}

static void keep_unused(timed *t)
{
    pthread_mutex_lock(&lock);
    t->next = unused;
    unused = t;
    pthread_mutex_unlock(&lock);
}

void *dr_real_time_begin(cu_stream stream)
{
    timed *t = new_timed();
    if (t && DR_NEXT(cuEventRecord) && DR_NEXT(cuEventRecord)(t->events[0], stream) == CUABI_SUCCESS)
        return t;
    if (t)
        keep_unused(t);
    return NULL;
}

void dr_real_time_drop(void *time)
{
    keep_unused(time);
}

void dr_real_time_end(void *time, cu_stream stream, const char *kernel)
{
    timed *t = time;
    t->kernel = strdup(kernel);
    if (!t->kernel || DR_NEXT(cuEventRecord)(t->events[1], stream) != CUABI_SUCCESS) {
        dr_spy_count(kernel);
        free(t->kernel);
        t->kernel = NULL;
        keep_unused(t);
        return;
    }
    t->next = NULL;
    pthread_mutex_lock(&lock);
    *pending_end = t;
    pending_end = &t->next;
    pthread_mutex_unlock(&lock);
}

/* What the events say; false: not yet. A launch that failed, or whose driver has ended, is counted without a time. */
static bool read_time(const timed *t, bool last)
{
    float ms = 0;
    cu_result result = DR_REAL(cuEventQuery)(t->events[1]);
    if (result == DR_ERROR(NOT_READY) && !last)
        return false;
    if (!result)
        result = DR_REAL(cuEventElapsedTime)(&ms, t->events[0], t->events[1]);
    if (!result && ms >= 0)
        dr_spy_note(t->kernel, (uint64_t)((double)ms * 1e6));
    else
        dr_spy_count(t->kernel);
    return true;
}

/* The first of those that are waited for; with a context, of that one. */
static timed *take_pending(cu_context context)
{
    pthread_mutex_lock(&lock);
    timed **p = &pending;
    while (*p && context && (*p)->context != context)
        p = &(*p)->next;
    timed *t = *p;
    if (t) {
        *p = t->next;
        if (!*p)
            pending_end = p;
    }
    pthread_mutex_unlock(&lock);
    return t;
}

static void put_back(timed *t)
{
    pthread_mutex_lock(&lock);
    t->next = pending;
    pending = t;
    if (!t->next)
        pending_end = &t->next;
    pthread_mutex_unlock(&lock);
}

void dr_real_times_collect(void)
{
    for (int i = 0; i < AT_ONCE; i++) {
        timed *t = take_pending(NULL);
        if (!t)
            return;
        if (!read_time(t, false)) {
            put_back(t);
            return;
        }
        free(t->kernel);
        t->kernel = NULL;
        keep_unused(t);
    }
}

void dr_real_times_leave(cu_context context)
{
    timed *t;
    while ((t = take_pending(context)) != NULL) {
        read_time(t, true);
        destroy(t);
    }
    pthread_mutex_lock(&lock);
    for (timed **p = &unused; *p;) {
        t = *p;
        if (t->context == context) {
            *p = t->next;
            destroy(t);
        } else
            p = &t->next;
    }
    pthread_mutex_unlock(&lock);
}

void dr_real_times_end(void)
{
    for (timed *t; (t = take_pending(NULL)) != NULL && !dr_forked; free(t->kernel), free(t))
        read_time(t, true);
}
