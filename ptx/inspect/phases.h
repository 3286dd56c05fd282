/* phases.h - the matrix products of a function: phases, what each multiplies, and the epilogues between them.
 *
 * A PHASE is a maximal run of statements that are nothing but mma or wmma.mma. The EPILOGUE of phase n is what stands between it and
 * phase n + 1 in the text; epilogue 0, the prologue, is what stands before phase 1. Phases are numbered from 1 where they are printed.
 *
 * M, N and K follow from which values the instructions read and write, registers' names aside. A CHAIN is a list of mma each of which
 * adds to the result of the one before: one tile of D. Tiles that read a common A fragment lie in one row of tiles, tiles that read a
 * common B fragment in one column, and the steps of chains that read a common fragment are one slice of k.
 */
#ifndef PTX_INSPECT_PHASES_H
#define PTX_INSPECT_PHASES_H

#include "ptx/inspect/flow.h"

/* One mma of a phase. */
typedef struct pti_mma {
    uint32_t insn;
    uint32_t m, n, k;              /* shape of the instruction */
    uint32_t a, b;                 /* numbers of its fragments among the distinct ones of the phase */
    uint32_t tile;                 /* which D tile of the phase */
    uint32_t step;                 /* place in its chain, from 0 */
    uint32_t row, column, slice;   /* of tiles, in the product that it belongs to; see pti_product */
    uint32_t product;
} pti_mma;

/* Tiles that share fragments, directly or through others: one matrix product. Most phases are one. */
typedef struct pti_product {
    uint32_t first;                /* its first mma, in the phase's list */
    uint32_t count;                /* mma */
    uint32_t rows, columns, slices;/* tiles, and steps of k */
    uint32_t tiles;                /* D tiles; fewer than rows * columns where a tile is left out */
    uint32_t M, N, K;              /* elements */
    bool full;                     /* rows * columns * slices mma, each at its own place */
} pti_product;

typedef struct pti_phase {
    uint32_t first, last;          /* statements */
    uint32_t nmma;
    pti_mma *mma;                  /* in the order of the text */
    uint32_t ntiles, na, nb;       /* D tiles, distinct A fragments and B fragments */
    uint32_t nproducts;
    pti_product *products;
    uint32_t M, N, K;              /* of the product when there is one, or of all when they are equal; else 0 */
    bool full;                     /* every product is */
    bool mixed;                    /* instructions of several shapes or types */
    uint32_t continues;            /* the phase (from 0) before it whose D tiles are all its accumulators, or PTI_NONE */
    uint32_t loop_from;            /* this phase or a later one whose D comes round a loop as accumulator, or PTI_NONE */
    uint32_t group;                /* phases that continue one another are one group */
    uint32_t next;                 /* phase of the group, or PTI_NONE */
} pti_phase;

/* Phases each of which accumulates onto the one before: one larger product, its k spread over them. */
typedef struct pti_group {
    uint32_t first, last, count;   /* its first phase and its last, and how many */
    uint32_t M, N, K;              /* K summed over the phases; of one turn when it loops. 0 when the phases differ in M or N */
    bool loops;
} pti_group;

/* A product that several phases of one basic block make together because they share fragments, not only accumulators: what a compiler
 * has spread over a loop's body. Those that are a group and no more are left out. */
typedef struct pti_join {
    uint32_t nphases;
    uint32_t *phases;
    uint32_t nmma, M, N, K;
    bool full, loops;
} pti_join;

typedef struct pti_phases {
    uint32_t count;
    pti_phase *list;
    uint32_t ngroups;
    pti_group *groups;
    uint32_t njoins;
    pti_join *joins;
    uint32_t *of_insn;             /* phase (from 0) of each instruction that is an mma of one, else PTI_NONE */
    ptx_arena arena;
} pti_phases;

/* False when memory is exhausted. Free it whatever the answer. */
bool pti_find_phases(const pti_statements *s, const pti_flow *flow, pti_phases *out);
void pti_free_phases(pti_phases *p);

bool pti_is_mma(const ptx_insn *insn);

/* The value that a value is a copy of, through plain moves; itself otherwise. PTI_NONE stays. */
uint32_t pti_origin(const pti_flow *flow, uint32_t value);

/* How many phases end before this statement: the number of its epilogue, or of the phase that it belongs to, less one. */
uint32_t pti_phases_before(const pti_phases *p, uint32_t statement);

/* Statements [*first, *end) of epilogue e, 0 to phases->count. */
void pti_epilogue_range(const pti_phases *p, const pti_statements *s, uint32_t e, uint32_t *first, uint32_t *end);

#endif
