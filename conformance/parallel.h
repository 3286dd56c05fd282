/* parallel.h - a loop over several threads. */
#ifndef CONFORM_PARALLEL_H
#define CONFORM_PARALLEL_H

#include <stdint.h>

/* Processors that this process may use. */
uint32_t conform_processors(void);

/* Calls work(user, i) for each i below `count`, on up to `threads` threads of which the caller is one; returns after the last call. */
void conform_parallel(uint32_t threads, uint32_t count, void (*work)(void *user, uint32_t i), void *user);

#endif
