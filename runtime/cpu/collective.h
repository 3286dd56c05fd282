/* collective.h - used by engine.c, split.c and the decoder. */
#ifndef CPU_COLLECTIVE_H
#define CPU_COLLECTIVE_H

#include "runtime/cpu/internal.h"

/* What an operand of a collective is; `extra` of CPU_K_COLLECTIVE is an array of them, one an operand. */
typedef struct cpu_operand_class { uint8_t class; bool use, exec, raw; } cpu_operand_class;

/* Living lanes that a collective under `mask` must wait for. */
uint32_t cpu_collective_members(const char *r, const cpu_insn *i, uint32_t mask, uint32_t alive);
void cpu_collective_run(const cpu_warp *w, char *r, const cpu_insn *i, uint32_t mask);
/* When no split can run: lets splits that wait at different instructions for each other act together. False if none can. */
bool cpu_collective_meet(cpu_warp *w);

#endif
