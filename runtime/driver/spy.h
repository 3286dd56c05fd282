/* spy.h - statistics of kernels and dumps of launches, for `ptxbridge exec --stats` and `--dump`. */
#ifndef DRIVER_SPY_H
#define DRIVER_SPY_H

#include "runtime/driver/dump.h"

/* Somebody wants to know: set by cuInit, before the first launch. */
extern bool dr_spying;

/* Reads PTXBRIDGE_STATS, PTXBRIDGE_DUMP and PTXBRIDGE_DUMP_LAUNCHES; false, and said on stderr, when the last is no number. */
bool dr_spy_start(void);
/* Launches are dumped, too; another one of this kernel is to be. */
bool dr_spy_dumps(void);
bool dr_spy_dumps_kernel(const char *kernel);

/* A launch on any device. `describe` is asked when a case is to be made of it; NULL: that cannot be. What it gives stays until the end. */
typedef struct dr_spied dr_spied;
struct dr_spied {
    const char *kernel;
    const char *fault;             /* at the end: what stopped it, as case files name it; NULL: nothing, or only the result tells */
    const dr_dump_source *(*describe)(dr_spied *launch);
};

/* Around a launch; when launches are dumped, one at a time is between the two. */
void dr_spy_begin(dr_spied *launch);
void dr_spy_end(dr_spied *launch, uint64_t ns, cu_result result);
/* In place of the end: it was refused, and nothing ran. */
void dr_spy_drop(dr_spied *launch);
/* A launch that is counted and no more; one that is timed as well. */
void dr_spy_count(const char *kernel);
void dr_spy_note(const char *kernel, uint64_t ns);

/* The same for a launch on our own devices. */
void dr_spy_before(const dr_launch *launch);
void dr_spy_after(const dr_launch *launch, uint64_t ns, pxb_status status, cu_result result);

/* Around what else changes memory: it waits for a launch of which a case is made, which would have to say what this does; not for long, since
 * the launch may wait for it. The case says then that it is not whole. dr_spy_hold gives what dr_spy_release wants. */
bool dr_spy_hold(void);
void dr_spy_release(bool held);

/* dump_own.c: a launch on our own devices, for dump.h. It stays until the next one is asked for, under the lock of spy.c. */
const dr_dump_source *dr_dump_own(const dr_launch *launch);

#endif
