/* context.h - contexts, the places where blocks run; used by pool.c and launch.c. */
#ifndef CPU_CONTEXT_H
#define CPU_CONTEXT_H

#include "runtime/cpu/internal.h"

/* Context number `index` of a worker, set up for its job; NULL when memory is exhausted. */
cpu_context *cpu_context_get(cpu_worker *worker, uint32_t index);
void cpu_context_begin(cpu_context *c, uint64_t block);
/* True when the block has ended, false when it makes no progress and others should run. Raises. */
bool cpu_context_run(cpu_context *c);
/* After a fault: what the block printed is kept, its frames are freed. */
void cpu_context_abandon(cpu_context *c);
/* Blocks that one worker may hold at once. */
uint32_t cpu_contexts_limit(const cpu_job *job);
void cpu_contexts_free(cpu_worker *worker);

#endif
