/* trace_walk.h - two streams of one thread, side by side (internal to trace*.c).
 *
 * Addresses, handles and clocks differ between devices though both are right. A value that differs is EXCUSED when it
 * is one of them or made of one: it comes from an instruction that gives an address or a clock; or all that it is made
 * of is excused; or it was loaded, and differs by the distance between the two places of one allocation. LINEAR is an
 * address moved by the same amount on both sides, which is checked; OPAQUE is anything else made of excused values,
 * which is not.
 *
 * What an atomic operation, a volatile or relaxed load, an mbarrier or activemask gives depends on the order of threads. A difference
 * there is RACED: kept as the answer when nothing firmer is found, and OPAQUE from then on. A collective that differs in a warp with a RACED
 * value may have it from another lane, and is OPAQUE too.
 */
#ifndef RUNTIME_TRACE_WALK_H
#define RUNTIME_TRACE_WALK_H

#include "runtime/trace.h"

enum { WALK_DISTANCES = 16 };

/* What is known of a thread between two windows. */
typedef struct walk_thread {
    uint8_t *flags;                /* two bits for each register of the module; NULL: all clean */
    uint64_t distances[WALK_DISTANCES];   /* of addresses that only this thread has (shared, local, malloc) */
    uint32_t ndistances;
    bool opaque, over;             /* an OPAQUE value was seen; nothing more of it is compared */
    bool warp_raced, block_raced;  /* a thread of its warp, of its block, has a RACED value, which collectives spread */
    bool raced;
    uint64_t raced_record;         /* the first one, and its instruction */
    uint32_t raced_number;
} walk_thread;

typedef struct walker {
    const ptx_module *module;
    const case_launch *launch;
    uint32_t *register_bases, nregisters;   /* module-wide numbers of registers */
    uint64_t *distances;           /* value of side 0 minus value of side 1, for each allocation and variable */
    uint32_t ndistances;
    uint64_t records, excused, left;
    bool no_memory, may_race;      /* the module has instructions that can be RACED */
} walker;

/* The first difference of a thread in its records [begin, end). */
typedef struct walk_difference {
    rt_finding_kind kind;
    uint64_t record;
    uint32_t number[2];            /* instruction of each side, 0 = none */
} walk_difference;

typedef struct walk_stream { const uint32_t *words; uint32_t used; uint64_t executed; } walk_stream;

bool walk_thread_compare(walker *w, walk_thread *t, const walk_stream streams[2], uint64_t begin, uint64_t end,
                         walk_difference *out);

/* Can the instruction's result be RACED? And is one in these records? */
bool walk_races(const ptx_insn *insn);
bool walk_thread_races(const walker *w, const walk_stream streams[2]);

/* The walker learns what records say of the distance of two addresses. */
void walk_add_distance(walker *w, uint64_t side0, uint64_t side1);

#endif
