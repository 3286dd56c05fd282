/* sources.h - where values come from: backwards through arithmetic and moves to loads, to results of earlier phases, to constants. */
#ifndef PTX_INSPECT_SOURCES_H
#define PTX_INSPECT_SOURCES_H

#include "ptx/inspect/opcodes.h"
#include "ptx/inspect/phases.h"

typedef enum pti_origin_kind {
    PTI_ORIGIN_LOAD,               /* instruction `at` reads memory, a texture or a surface, or is an atomic */
    PTI_ORIGIN_PHASE,              /* D of phase `at`, from 0 */
    PTI_ORIGIN_CONSTANT,           /* instruction `at` reads no register: constants, addresses of variables */
    PTI_ORIGIN_SPECIAL,            /* likewise, but of a special register */
    PTI_ORIGIN_UNWRITTEN           /* register `at` is read before anything is written to it */
} pti_origin_kind;

typedef struct pti_root { pti_origin_kind kind; uint32_t at; } pti_root;

/* What some values are made of. */
typedef struct pti_sources {
    uint32_t nroots;
    pti_root *roots;               /* by kind, then ascending */
    uint32_t nthrough;
    uint32_t *through;             /* instructions on the way, plain moves and packing of words apart, ascending */
    bool direct;                   /* moves only on the way */
    bool cut;                      /* the search was given up: there is more */
} pti_sources;

enum { PTI_ROLE_A, PTI_ROLE_B, PTI_ROLE_C, PTI_ROLES };

/* Keeps what searches share; one at a time. */
typedef struct pti_search {
    const pti_flow *flow;
    const pti_phases *phases;
    const pti_opcodes *opcodes;
    uint32_t *stamp, now;          /* of values */
    uint32_t *stack, depth;
    uint32_t *seen, nseen;         /* values of this search */
    uint64_t budget;               /* values that all searches together may still visit */
    ptx_arena *arena;              /* of results */
    ptx_arena own;
} pti_search;

bool pti_begin_search(const pti_flow *flow, const pti_phases *phases, const pti_opcodes *opcodes, ptx_arena *arena, pti_search *out);
void pti_end_search(pti_search *s);

/* False when memory is exhausted. Values that are PTI_NONE are passed over. */
bool pti_find_sources(pti_search *s, const uint32_t *values, uint32_t n, pti_sources *out);

/* What the A, B or C fragments of a phase are made of; of C, those that do not come from the phase itself. */
bool pti_sources_of_phase(pti_search *s, uint32_t phase, int role, pti_sources *out);

#endif
