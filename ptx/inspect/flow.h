/* flow.h - basic blocks of a function, and which definition of a register each use reads.
 *
 * The chains are in static single assignment form: each definition is a VALUE, and where several definitions of one register meet
 * there is a phi value (Cytron et al. 1991; pruned, so that phis stand only where the register is read later). A definition under a guard
 * does not end the one before it: it is `partial`, and `previous` is the value that stays where the guard is false. A list of reaching
 * definitions for each use would be quadratic in bad inputs; values are linear in the text, save for deeply nested loops.
 */
#ifndef PTX_INSPECT_FLOW_H
#define PTX_INSPECT_FLOW_H

#include "ptx/arena.h"
#include "ptx/inspect/statements.h"

typedef struct pti_block {
    uint32_t first, end;           /* instructions [first, end) */
    uint32_t npredecessors, nsuccessors;
    const uint32_t *predecessors;  /* blocks; the first block's begin with PTI_NONE, the entry, when it has others */
    const uint32_t *successors;
    uint32_t order;                /* place in a reverse postorder; what no path reaches comes last */
    bool reached;                  /* there is a path from the entry */
} pti_block;

typedef enum pti_value_kind {
    PTI_VALUE_INSN,                /* written by instruction `at` */
    PTI_VALUE_ENTRY,               /* what the register holds when the function begins */
    PTI_VALUE_PHI                  /* meets at the start of block `at`; operands are in the order of its predecessors */
} pti_value_kind;

typedef struct pti_value {
    pti_value_kind kind;
    bool partial;                  /* INSN under a guard */
    uint32_t reg;
    uint32_t at;
    uint32_t previous;             /* partial: the value that stays; else PTI_NONE */
    uint32_t noperands;            /* PHI */
    uint32_t *operands;
    uint32_t nusers;               /* reads by instructions, and by other values */
    const uint32_t *users;         /* an instruction, or PTI_BY_VALUE | value: a phi's operand, a partial value's previous */
} pti_value;

enum { PTI_BY_VALUE = 1 << 30, PTI_MAX_VALUES = 1 << 22 };

typedef struct pti_use { uint32_t reg, value; } pti_use;

typedef struct pti_flow {
    const ptx_function *function;
    uint32_t nblocks;
    pti_block *blocks;
    uint32_t *ordered;             /* blocks in reverse postorder */
    uint32_t *block_of;            /* of each instruction */
    uint32_t nvalues;
    pti_value *values;             /* those of kind INSN first, in the order of the instructions */
    uint32_t *first_def;           /* ninsns + 1: an instruction writes values first_def[i] … first_def[i + 1] - 1 */
    uint32_t *first_use;           /* ninsns + 1: places in uses */
    pti_use *uses;                 /* of each instruction, each register once, the guard first */
    ptx_arena arena;
} pti_flow;

typedef enum pti_status { PTI_OK, PTI_MEMORY, PTI_LIMIT } pti_status;

/* LIMIT: more than PTI_MAX_VALUES values, or too many registers that live in too many blocks. Free it whatever the answer. */
pti_status pti_find_flow(const ptx_function *f, pti_flow *out);
void pti_free_flow(pti_flow *flow);

/* The value of `reg` that an instruction reads; PTI_NONE when it does not read it. Likewise the value that it writes. */
uint32_t pti_value_read(const pti_flow *flow, uint32_t insn, uint32_t reg);
uint32_t pti_value_written(const pti_flow *flow, uint32_t insn, uint32_t reg);

/* Instructions whose definitions may be what `value` is, through phis and guards, ascending; at most `room` are given. Returns their
 * number, which may be larger. *entry tells that the register's content at entry may be it, too. PTI_NONE: memory is exhausted. */
uint32_t pti_reaching(const pti_flow *flow, uint32_t value, uint32_t *insns, uint32_t room, bool *entry);

#endif
