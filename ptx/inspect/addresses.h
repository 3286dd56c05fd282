/* addresses.h - every access to memory as base + formula, and what is touched of each base.
 *
 * The BASE of an address is the pointer in it: a variable, a pointer parameter, or a pointer that was itself loaded. The OFFSET is the
 * rest, in bytes. Accesses of one base whose offsets differ by a constant alone have one PATTERN. Where the offset depends on the
 * thread and on turns of bounded loops alone it is computed for each thread that may come there and each turn, so that extent, touched bytes and gaps are exact; other accesses are
 * counted as open, with the reason in `open`.
 */
#ifndef PTX_INSPECT_ADDRESSES_H
#define PTX_INSPECT_ADDRESSES_H

#include "ptx/inspect/loops.h"

typedef struct pti_access {
    uint32_t insn;
    ptx_space space;
    bool reads, writes;
    bool strong;                       /* volatile, relaxed, acquire, release: meant to meet others (PTX ISA, "Strong operations") */
    bool assumed;                      /* right if no index wraps */
    bool computed;                     /* for each thread */
    bool uncertain;                    /* computed, but branches that depend on more may keep threads away */
    uint32_t bytes;                    /* that one thread moves; 0: not known here (bulk copies, wmma tiles) */
    uint32_t words;                    /* registers that it fills or empties */
    uint32_t base, pattern;
    pti_poly offset;
    int64_t low, high;                 /* computed: bytes [low, high) from the base, of all threads; low = high: no thread comes there */
} pti_access;

typedef struct pti_pattern {
    uint32_t base;
    pti_poly form;                     /* the offset without its constant */
    bool reads, writes;
    uint32_t bytes;                    /* of one access; 0: of several sizes */
    uint32_t first, count;             /* in by_base */
    int64_t least, most;               /* constants */
    int64_t step;                      /* between sorted constants; 0: one only, or not regular */
} pti_pattern;

typedef struct pti_gap { int64_t from, to; } pti_gap;
enum { PTI_MAX_GAPS = 8 };

typedef struct pti_base_info {
    uint32_t atom;                     /* PTI_NONE: no pointer was found in the address */
    ptx_space space;                   /* of its first access; of the variable */
    uint32_t first, count;             /* in by_base */
    uint32_t first_pattern, npatterns;
    uint32_t nreads, nwrites;          /* accesses; atomics count in both */
    uint32_t slots;                    /* distinct registers' worth of memory: equal formula and offset count once */
    uint32_t nopen;                    /* accesses that are not computed */
    uint32_t open_on;                  /* what their offsets depend on beside the thread (PTI_ON_…) */
    int64_t low, high;                 /* of the computed ones */
    uint64_t touched, repeated;        /* bytes in it: by any access, by several instructions; 0 when it is too large to map */
    bool mapped;
    uint32_t ngaps;                    /* runs of bytes in [low, high) that nothing touches; the first ones are kept */
    uint64_t gap_bytes;
    pti_gap gaps[PTI_MAX_GAPS];
} pti_base_info;

typedef struct pti_addresses {
    uint32_t count;
    pti_access *list;                  /* in the order of the text; ld.param of an entry is not among them */
    uint32_t *by_base;                 /* accesses, by base, then pattern, then constant */
    uint32_t nbases, npatterns;
    pti_base_info *bases;
    pti_pattern *patterns;
    ptx_arena arena;
} pti_addresses;

/* Free it whatever the answer. `loops` may be NULL: then nothing is computed. */
pti_status pti_find_addresses(pti_symbols *s, pti_loops *loops, pti_addresses *out);
void pti_free_addresses(pti_addresses *a);

/* The accesses of an instruction: returns the first one's index, PTI_NONE when it has none. */
uint32_t pti_access_of_insn(const pti_addresses *a, uint32_t insn);

#endif
