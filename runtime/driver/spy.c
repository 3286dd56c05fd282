/* spy.c - what `ptxbridge exec --stats` and `--dump` (dump.c) want to know of launches. */
#include "runtime/driver/spy.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_KERNELS = 4096, DEFAULT_LAUNCHES = 10, PATIENCE_S = 5 };

bool dr_spying;

typedef struct kernel_count { char *name; uint64_t launches, dumped, ns, longest; } kernel_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *dump_folder;
static bool wants_stats;
static const dr_dump_source *dumped;        /* the launch that a case is made of, or NULL */
static _Atomic bool disturbed;             /* memory was changed by something else since the launch began */
static uint64_t most_launches = DEFAULT_LAUNCHES;
static kernel_count *kernels;
static size_t nkernels;
static kernel_count others = {.name = "(launches of further kernels)", .dumped = UINT64_MAX};      /* beyond MOST_KERNELS, or without memory: never dumped */

static bool read_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno;
}

bool dr_spy_start(void)
{
    const char *stats = getenv("PTXBRIDGE_STATS"), *most = getenv("PTXBRIDGE_DUMP_LAUNCHES");
    dump_folder = getenv("PTXBRIDGE_DUMP");
    if (dump_folder && !*dump_folder)
        dump_folder = NULL;
    wants_stats = stats && *stats && strcmp(stats, "0") != 0;
    if (most && *most && !read_number(most, &most_launches)) {
        fprintf(stderr, "ptxbridge: PTXBRIDGE_DUMP_LAUNCHES=%s is not a number of launches\n", most);
        return false;
    }
    dr_spying = wants_stats || dump_folder;
    return true;
}

static kernel_count *count_of(const char *name)
{
    for (size_t i = 0; i < nkernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    kernel_count *more = nkernels < MOST_KERNELS ? realloc(kernels, (nkernels + 1) * sizeof *more) : NULL;
    if (!more)
        return &others;
    kernels = more;
    kernels[nkernels] = (kernel_count){.name = strdup(name)};
    return kernels[nkernels].name ? &kernels[nkernels++] : &others;
}

/* ------------------------------------------------------------ statistics */

static int by_time(const void *a, const void *b)
{
    uint64_t x = ((const kernel_count *)a)->ns, y = ((const kernel_count *)b)->ns;
    return (x < y) - (x > y);
}

__attribute__((destructor)) static void print_stats(void)
{
    if (!wants_stats || dr_forked || pthread_mutex_trylock(&lock))
        return;
    uint64_t launches = 0, ns = 0;
    if (nkernels)
        qsort(kernels, nkernels, sizeof *kernels, by_time);
    fprintf(stderr, "ptxbridge: %12s %12s %12s %12s  kernel\n", "launches", "total ms", "mean ms", "longest ms");
    for (size_t i = 0; i < nkernels + (others.launches > 0); i++) {
        const kernel_count *k = i < nkernels ? &kernels[i] : &others;
        if (k->launches == 0)
            continue;              /* met, and refused */
        fprintf(stderr, "ptxbridge: %12" PRIu64 " %12.3f %12.4f %12.3f  %s\n", k->launches, (double)k->ns / 1e6,
                (double)k->ns / 1e6 / (double)k->launches, (double)k->longest / 1e6, k->name);
        launches += k->launches;
        ns += k->ns;
    }
    fprintf(stderr, "ptxbridge: %12" PRIu64 " %12.3f  in all\n", launches, (double)ns / 1e6);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------ around a launch */

bool dr_spy_dumps(void)
{
    return dump_folder != NULL;
}

bool dr_spy_dumps_kernel(const char *kernel)
{
    if (!dump_folder)
        return false;
    pthread_mutex_lock(&lock);
    bool wanted = count_of(kernel)->dumped < most_launches;
    pthread_mutex_unlock(&lock);
    return wanted;
}

/* Under the lock. */
static void add(kernel_count *k, uint64_t ns)
{
    k->launches++;
    k->ns += ns;
    k->longest = ns > k->longest ? ns : k->longest;
}

void dr_spy_note(const char *kernel, uint64_t ns)
{
    pthread_mutex_lock(&lock);
    add(count_of(kernel), ns);
    pthread_mutex_unlock(&lock);
}

void dr_spy_count(const char *kernel)
{
    dr_spy_note(kernel, 0);
}

void dr_spy_begin(dr_spied *launch)
{
    if (!dump_folder)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&disturbed, false);
    kernel_count *k = count_of(launch->kernel);
    dumped = k->dumped < most_launches ? launch->describe(launch) : NULL;
    if (dumped && !dr_dump_before(dumped, dump_folder))
        dumped = NULL;
    if (dumped)
        k->dumped++;
}

void dr_spy_end(dr_spied *launch, uint64_t ns, cu_result result)
{
    if (!dump_folder)
        pthread_mutex_lock(&lock);
    add(count_of(launch->kernel), ns);
    if (dumped)
        dr_dump_after(dumped, result, launch->fault, atomic_load(&disturbed));
    dumped = NULL;
    pthread_mutex_unlock(&lock);
}

void dr_spy_drop(dr_spied *launch)
{
    if (!dump_folder)
        return;
    if (dumped) {
        count_of(launch->kernel)->dumped--;
        dr_dump_drop();
    }
    dumped = NULL;
    pthread_mutex_unlock(&lock);
}

bool dr_spy_hold(void)
{
    struct timespec until;
    if (!dump_folder)
        return false;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (pthread_mutex_timedlock(&lock, &until) == 0)
        return true;
    atomic_store(&disturbed, true);
    return false;
}

void dr_spy_release(bool held)
{
    if (held)
        pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------ launches on our own devices */

typedef struct own_launch { dr_spied head; const dr_launch *launch; } own_launch;

static const dr_dump_source *describe_own(dr_spied *launch)
{
    return dr_dump_own(((own_launch *)launch)->launch);
}

void dr_spy_before(const dr_launch *l)
{
    dr_spy_begin(&(own_launch){{.kernel = l->function->ptx->name, .describe = describe_own}, l}.head);
}

void dr_spy_after(const dr_launch *l, uint64_t ns, pxb_status status, cu_result result)
{
    dr_spy_end(&(own_launch){{.kernel = l->function->ptx->name, .fault = rt_fault_name(status), .describe = describe_own}, l}.head, ns, result);
}
