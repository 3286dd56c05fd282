/* shared.h - shared memory between barriers: what is written and read where, what runs over, and which barriers matter.
 *
 * In a loop that has a barrier in every turn, two warps are never further apart than from one barrier to the next: what a turn accesses is held
 * against what the same turn accesses, and behind the last barrier of the turn against what the next one does before its first. Other loops are
 * run through.
 *
 * An INTERVAL is what a thread may execute from one barrier (or the entry) until the next. Barriers that all threads of the block take part in
 * are the only ones that are understood. Two accesses CONFLICT when they stand in one interval, two warps make them, at least one
 * writes, not both are strong (atomic, volatile, relaxed …), and they share a byte. Lanes of one warp are not held against each other. A barrier is NEEDED when an
 * access that may come last before it and one that may come first behind it would conflict without it.
 */
#ifndef PTX_INSPECT_SHARED_H
#define PTX_INSPECT_SHARED_H

#include "ptx/inspect/addresses.h"

enum { PTI_MAX_RANGES = 6, PTI_MAX_CONFLICTS = 256 };

typedef struct pti_ranges {
    uint64_t bytes;
    uint32_t count;                    /* runs of bytes; the first ones are kept */
    pti_gap list[PTI_MAX_RANGES];      /* in the shared memory of the block */
} pti_ranges;

/* How an access is met on the way from a barrier. */
typedef enum pti_way {
    PTI_SAME_TURN,                     /* of the loop that the barrier is in */
    PTI_NEXT_TURN,                     /* of it; backwards from a barrier: the one before */
    PTI_FIRST_TURN,                    /* of another loop */
    PTI_ANY_TURN
} pti_way;

typedef struct pti_member { uint32_t access; pti_way way; uint32_t loop; } pti_member;

typedef struct pti_interval {
    uint32_t barrier;                  /* the instruction that it begins behind, PTI_NONE: the entry */
    uint32_t first, count;             /* accesses, in shared->members */
    uint32_t nreads, nwrites, nopen;
    pti_ranges read, written;
    uint32_t nconflicts;
} pti_interval;

typedef struct pti_conflict {
    uint32_t interval;
    uint32_t a, b;                     /* accesses */
    int64_t byte;                      /* an example */
    uint32_t warp_a, warp_b;
    bool both_write;
    bool uncertain;                    /* as pti_access has it, of either */
} pti_conflict;

typedef enum pti_verdict { PTI_NEEDED, PTI_REDUNDANT, PTI_UNDECIDED } pti_verdict;

typedef struct pti_barrier {
    uint32_t insn;
    pti_verdict verdict;
    uint32_t before, behind;           /* NEEDED: accesses that it orders, an example */
} pti_barrier;

typedef struct pti_overrun { uint32_t access; int64_t low, high; uint64_t size; bool uncertain; } pti_overrun;

typedef struct pti_shared {
    uint64_t size;                     /* static bytes of the module, as laid out */
    uint32_t naccesses, nopen;         /* to shared memory, or by generic addresses that may be of it; whose addresses are not known */
    bool decided;                      /* conflicts and verdicts were worked out, else why not: */
    const char *why_not;
    uint32_t nintervals, nbarriers, nconflicts, noverruns;
    bool more_conflicts;
    pti_interval *intervals;
    pti_member *members;               /* accesses of intervals; in two ways maybe */
    pti_barrier *barriers;
    pti_conflict *conflicts;
    pti_overrun *overruns;
    ptx_arena arena;
} pti_shared;

/* Free it whatever the answer. `loops` may be NULL. */
pti_status pti_find_shared(const ptx_module *m, pti_symbols *s, pti_loops *loops, const pti_addresses *a, pti_shared *out);
void pti_free_shared(pti_shared *s);

#endif
