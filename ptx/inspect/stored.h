/* stored.h - over shared memory: which stores a load from it reads, and what these store.
 *
 * Without running the kernel this is a judgement, and printed as one: of the stores to the same variable that stand before the load's
 * barrier in the text, the newest interval between barriers that has any (whose bytes overlap, where both are known) is taken.
 */
#ifndef PTX_INSPECT_STORED_H
#define PTX_INSPECT_STORED_H

#include "ptx/inspect/addresses.h"
#include "ptx/inspect/sources.h"

typedef struct pti_stored {
    uint32_t nloads;                   /* from shared memory, that stores were found for */
    uint32_t nstores;
    uint32_t *stores;                  /* instructions, ascending */
    pti_sources data;                  /* what they store; copies that run beside the thread (cp.async) are loads of it */
} pti_stored;

/* Stores to shared memory and barriers of a function, in the order of the text. */
typedef struct pti_exchange {
    const pti_addresses *addresses;
    const pti_opcodes *opcodes;
    uint32_t nstores, *stores;         /* accesses */
    uint32_t nbarriers, *barriers;     /* instructions */
    uint8_t *taken;                    /* of the stores, for one search */
    uint64_t budget;
    ptx_arena arena;
} pti_exchange;

/* False when memory is exhausted. Free it whatever the answer. */
bool pti_find_exchange(const ptx_function *f, const pti_addresses *addresses, const pti_opcodes *opcodes, pti_exchange *out);
void pti_free_exchange(pti_exchange *x);

/* For the loads among `from`; nstores is 0 when none is from shared memory or nothing was found. False: memory. */
bool pti_find_stored(pti_exchange *x, pti_search *search, const pti_sources *from, pti_stored *out);

#endif
