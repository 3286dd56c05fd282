/* loops.h - loops, how often they come round, and formulas that depend on that.
 *
 * A LOOP is what edges back to a block that dominates their start enclose. turn(head) counts from 0. How often a thread comes round follows
 * from a branch out of the loop that every turn executes: its condition is computed for turn 0, 1, 2 … of each thread, where it depends
 * on the thread and on turns alone; with parameters in it the number of turns is a formula. Registers that a loop brings round and that are no
 * sums (s >>= 1) are computed along, as STATES of the loop.
 */
#ifndef PTX_INSPECT_LOOPS_H
#define PTX_INSPECT_LOOPS_H

#include "ptx/inspect/dominators.h"
#include "ptx/inspect/symbols.h"

enum { PTI_MAX_TURNS = 1024, PTI_MAX_PERIOD = 64, PTI_MAX_NEST = 3 };

typedef struct pti_state {
    uint32_t atom;                     /* the phi's; what it begins with, and what comes round */
    pti_poly init, update;
    uint32_t rows;                     /* turns that it is known for */
    size_t room;
    int64_t *table;                    /* of each turn, of each thread */
} pti_state;

typedef struct pti_loop {
    uint32_t head, parent;             /* block; the loop around it, or PTI_NONE */
    uint32_t number, inside;           /* in the tree of loops, and how many are in it, itself among them */
    uint32_t turn;                     /* the atom of turn(head), PTI_NONE: no formula has it */
    uint32_t first_block, exits;       /* of its own blocks; ways out, the first few of them */
    uint32_t last_insn;                /* of the text that belongs to it */
    uint32_t test;                     /* the branch that ends it, PTI_NONE: none was understood */
    bool test_leads;                   /* its body stands behind the test: it is executed once less than the test */
    bool single;                       /* it is left nowhere else */
    pti_poly condition;                /* of the branch; */
    bool goes_on_if;                   /* what it is where the loop goes on */
    int64_t most;                      /* the last turn that any thread begins; -1: not known */
    int32_t *last;                     /* of each thread; -1: it does not come there. NULL: not known */
    pti_poly count;                    /* the turns of the body are count / divisor, rounded up; PTI_NONE: not known so */
    int64_t divisor;
    uint32_t nstates;
    pti_state *states;
} pti_loop;

typedef struct pti_loops {
    pti_symbols *s;
    const pti_threads *threads;        /* may be NULL */
    uint32_t count;
    pti_loop *list;                    /* outer loops before inner ones */
    uint32_t *of_block;                /* the innermost loop, or PTI_NONE */
    uint32_t *at_head;                 /* of a block that is a head: its loop, else PTI_NONE */
    pti_dominators dominators, postdominators;
    int64_t *turn;                     /* of each loop: where formulas are computed; -1: nowhere, -2: when it has ended */
    /* of atoms, at this point */
    uint32_t now, room;
    uint32_t *stamp;
    int64_t **values;
    uint64_t work;
    ptx_arena arena;
} pti_loops;

/* Free it whatever the answer. `threads` may be NULL: then no formula is computed. */
pti_status pti_find_loops(pti_symbols *s, const pti_threads *threads, pti_loops *out);
void pti_free_loops(pti_loops *l);

/* Is the block in the loop, or in one inside of it? */
bool pti_in_loop(const pti_loops *l, uint32_t block, uint32_t loop);

/* The number of its first turns that are different for a formula: all of them, or those after which it repeats itself; 0: not known. */
uint32_t pti_turns_of(const pti_loops *l, pti_poly p, uint32_t loop);

/* ------------------------------------------------------------ computing (turns.c) */

/* The values of each thread at the turns in l->turn; call pti_change_turns when these have changed. */
bool pti_evaluate_turn(pti_loops *l, pti_poly p, int64_t *out);
void pti_change_turns(pti_loops *l);

/* One formula of an instruction, over all turns of the loops that it depends on. */
typedef struct pti_turns {
    pti_loops *l;
    uint32_t insn;
    pti_poly p;
    uint32_t nloops;                   /* that it depends on and that enclose the instruction */
    uint32_t loop[PTI_MAX_NEST], end[PTI_MAX_NEST], at[PTI_MAX_NEST];
    uint32_t nended, ended_loop[PTI_MAX_NEST];     /* and that the instruction stands behind */
    uint32_t ngiven, given;            /* a loop whose turn stays */
    bool exact;                        /* it is that one, and not one for all */
    uint32_t nguards;
    pti_poly guard[8];                 /* conditions of branches that the instruction depends on, and its own; */
    bool holds[8];                     /* what they are where it is executed */
    bool uncertain;                    /* there are conditions that are not known: some threads may not come there */
    bool begun, ended;
    bool failed;                       /* it could not be computed everywhere, or takes too long */
} pti_turns;

/* A loop whose turn is given; PTI_NONE: none. `exact`: that very turn, where else it may stand for others that are like it. */
typedef struct pti_given { uint32_t loop; int64_t turn; bool exact; } pti_given;

/* False when the formula cannot be computed. */
bool pti_begin_turns(pti_loops *l, uint32_t insn, pti_poly p, const pti_given *given, pti_turns *out);
/* The next point: values of all threads, and those that may come there. False: there is none left, or it failed. A walk is gone through to its end,
 * and one at a time. */
bool pti_next_turn(pti_turns *t, int64_t *values, uint64_t *set);

#endif
