/* spy.h - statistics of kernels and dumps of launches, for `ptxbridge exec --stats` and `--dump`. */
#ifndef DRIVER_SPY_H
#define DRIVER_SPY_H

#include "runtime/driver/driver.h"

/* Somebody wants to know: set by cuInit, before the first launch. */
extern bool dr_spying;

/* Reads PTXBRIDGE_STATS, PTXBRIDGE_DUMP and PTXBRIDGE_DUMP_LAUNCHES; false, and said on stderr, when the last is no number. */
bool dr_spy_start(void);
/* Around a launch; when launches are dumped, one at a time is between the two. */
void dr_spy_before(const dr_launch *launch);
void dr_spy_after(const dr_launch *launch, uint64_t ns, cu_result result);

/* dump.c: what is there before a launch, and the case that it makes with what is there afterwards. Under the lock of spy.c. */
bool dr_dump_before(const dr_launch *launch, const char *folder);
void dr_dump_after(const dr_launch *launch, cu_result result);

#endif
