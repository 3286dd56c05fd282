/* spy.h - statistics of kernels and dumps of launches, for `ptxbridge exec --stats` and `--dump`. */
#ifndef DRIVER_SPY_H
#define DRIVER_SPY_H

#include "runtime/driver/driver.h"

/* Somebody wants to know: set once, before the first launch. */
extern bool dr_spying;

void dr_spy_start(void);
void dr_spy_module(dr_module *module);
void dr_spy_launch(const dr_launch *launch);
void dr_spy_launched(dr_function *function, uint64_t ns);

#endif
