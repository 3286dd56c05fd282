/* lives.h - how long registers live: names that hold one value after another, and values that are carried over phases.
 *
 * A LIFE is all definitions of one register that meet in some use, and their uses: what a compiler would give one name. Two lives
 * of one register have nothing to do with each other: the name is reused. A life goes, in the order of the text, from its first definition to
 * its last use, or to the end of the loop around that use when it is defined outside.
 */
#ifndef PTX_INSPECT_LIVES_H
#define PTX_INSPECT_LIVES_H

#include "ptx/inspect/phases.h"

typedef struct pti_life {
    uint32_t reg;
    uint32_t first, last;              /* instructions: first definition (0 for what it holds at entry), last use */
    uint32_t ndefinitions, nuses;
    bool at_entry;                     /* what the register holds at entry is part of it */
    bool constant;                     /* all definitions are mov of constants or special registers: it could be made anew anywhere */
    bool round_loop;                   /* some value of it comes round a loop */
    uint32_t from, to;                 /* epilogues or phases that these are in: pti_phases_before */
} pti_life;

typedef struct pti_lives {
    uint32_t count;
    pti_life *list;                    /* by register, then first definition */
    uint32_t *of_value;                /* life of each value of the flow */
    uint32_t *of_reg;                  /* nregisters + 1: lives of a register are of_reg[r] … of_reg[r + 1] - 1 */
    uint32_t nreused;                  /* registers with several lives */
    uint32_t nphases;
    uint32_t *across;                  /* nphases: 32-bit words of registers that live when a phase begins */
    ptx_arena arena;
} pti_lives;

/* False when memory is exhausted. Free it whatever the answer. */
bool pti_find_lives(const pti_statements *s, const pti_flow *flow, const pti_phases *phases, pti_lives *out);
void pti_free_lives(pti_lives *l);

/* Lives that are defined before one phase and used behind a later one, together with others of the same way. */
typedef struct pti_carried {
    uint32_t from, to;                 /* as in pti_life */
    uint32_t count, first_life;
    uint32_t example[4];               /* lives */
} pti_carried;

/* Lives with to - from >= distance that are not constant, grouped, the longest ways first; the list is the caller's to free.
 * *n = PTI_NONE: no memory. */
pti_carried *pti_carried_lives(const pti_lives *l, uint32_t distance, uint32_t *n);

#endif
