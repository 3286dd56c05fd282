/* epilogues.h - what stands between phases: counts, shapes, and what each seems to do, with the evidence. */
#ifndef PTX_INSPECT_EPILOGUES_H
#define PTX_INSPECT_EPILOGUES_H

#include "ptx/inspect/sources.h"

typedef struct pti_count { uint32_t opcode, count; } pti_count;

/* One thing that an epilogue does. */
typedef struct pti_guess {
    const char *name;              /* "RMS norm" */
    const char *evidence;          /* counts, statements, constants */
} pti_guess;

typedef struct pti_epilogue {
    uint32_t first, end;           /* statements [first, end) */
    uint32_t ninsns, nlabels;
    uint32_t nops;
    pti_count *ops;                /* most frequent first */
    uint32_t work[PTI_WORKS];      /* instructions of each kind */
    uint64_t shape;                /* of the sequence of opcodes; registers, constants and offsets do not count */
    uint32_t like;                 /* the first epilogue of this shape, maybe itself */
    uint32_t nlike;                /* of the first: how many have it */
    uint32_t nguesses;
    pti_guess *guesses;            /* the weightiest first */
} pti_epilogue;

typedef struct pti_epilogues {
    uint32_t count;                /* phases->count + 1 */
    pti_epilogue *list;
    ptx_arena arena;
} pti_epilogues;

/* False when memory is exhausted. Free it whatever the answer. */
bool pti_find_epilogues(const pti_statements *s, const pti_phases *phases, const pti_opcodes *opcodes, pti_epilogues *out);
void pti_free_epilogues(pti_epilogues *e);

/* The opcodes of statements [first, end), most frequent first; *ops is allocated from the arena. */
bool pti_count_opcodes(const pti_statements *s, const pti_opcodes *opcodes, uint32_t first, uint32_t end, ptx_arena *arena, pti_count **ops,
                       uint32_t *nops);

#endif
