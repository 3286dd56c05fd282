/* parallel.c - see parallel.h. */
#include "conformance/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "conformance/reference/reference.h"

enum { MOST_THREADS = 64 };

typedef struct loop {
    atomic_uint next;
    uint32_t count;
    void (*work)(void *user, uint32_t i);
    void *user;
} loop;

uint32_t conform_processors(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (uint32_t)n;
}

static void take_turns(loop *l)
{
    for (uint32_t i; (i = atomic_fetch_add(&l->next, 1)) < l->count;)
        l->work(l->user, i);
}

static void *helper(void *user)
{
    take_turns(user);
    ref_thread_end();
    return NULL;
}

void conform_parallel(uint32_t threads, uint32_t count, void (*work)(void *user, uint32_t i), void *user)
{
    loop l = {.count = count, .work = work, .user = user};
    pthread_t started[MOST_THREADS];
    uint32_t n = 0;
    while (n + 1 < threads && n + 1 < count && n < MOST_THREADS && !pthread_create(&started[n], NULL, helper, &l))
        n++;                             /* without a thread the caller does more */
    take_turns(&l);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(started[i], NULL);
}
