/* dominators.h - which blocks every path to a block goes through, and every path from it to the end.
 *
 * Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2001). Control dependence is that of Ferrante, Ottenstein and
 * Warren (1987): a block depends on a branch when one way out of the branch always comes to the block and another may not.
 */
#ifndef PTX_INSPECT_DOMINATORS_H
#define PTX_INSPECT_DOMINATORS_H

#include "ptx/inspect/flow.h"

typedef struct pti_dominators {
    uint32_t n;                        /* blocks; of postdominators the end is block number n */
    uint32_t *parent;                  /* the closest dominator; PTI_NONE of the first one and of what no path reaches */
    uint32_t *enter, *size;            /* numbers in the tree and of the subtree, so that a question takes no time */
    ptx_arena arena;
} pti_dominators;

/* PTI_LIMIT: the graph takes too long. Free it whatever the answer. */
pti_status pti_find_dominators(const pti_flow *flow, pti_dominators *out);
pti_status pti_find_postdominators(const pti_flow *flow, pti_dominators *out);
void pti_free_dominators(pti_dominators *d);

/* Also of a block and itself. */
static inline bool pti_dominates(const pti_dominators *d, uint32_t a, uint32_t b)
{
    return d->size[b] && d->enter[b] >= d->enter[a] && d->enter[b] < d->enter[a] + d->size[a];
}

#endif
