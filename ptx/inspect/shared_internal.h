/* shared_internal.h - used by shared*.c. */
#ifndef PTX_INSPECT_SHARED_INTERNAL_H
#define PTX_INSPECT_SHARED_INTERNAL_H

#include "ptx/inspect/shared.h"

/* Who touches a byte: two warps of each kind are enough to find a conflict with a third. Accesses + 1; 0 is none. */
typedef struct pti_byte {
    uint32_t writer[2], reader[2];
    uint8_t writer_warp[2], reader_warp[2];
} pti_byte;

typedef struct pti_byte_map {
    pti_symbols *s;
    pti_loops *loops;
    const pti_addresses *a;
    pti_byte *bytes;
    uint8_t *uncertain;                /* of each access, as it was entered last */
    int64_t size;
    int64_t low, high;                 /* touched since it was cleared */
    int64_t *values;
    uint64_t *set;
    uint64_t work;                     /* done so far; conflicts are given up above a limit */
} pti_byte_map;

bool pti_open_map(pti_byte_map *map);
void pti_close_map(pti_byte_map *map);
void pti_clear_map(pti_byte_map *map);
bool pti_map_is_spent(const pti_byte_map *map);

/* Where an access begins in the shared memory of the block, for a computed one. */
int64_t pti_shared_offset(const pti_symbols *s, const pti_addresses *a, const pti_access *x);

/* Enters an access, at the given turn of a loop or at all of them. With `found` it is first held against what is there: called for each byte where it conflicts; stops when
 * that returns false. */
typedef bool (*pti_on_conflict)(void *user, uint32_t before, uint32_t behind, int64_t byte, uint32_t warp_a, uint32_t warp_b);
void pti_map_access(pti_byte_map *map, uint32_t access, const pti_given *given, bool enter, pti_on_conflict found, void *user);

/* ------------------------------------------------------------ shared_walk.c */

typedef struct pti_walk {
    const pti_flow *flow;
    const pti_addresses *a;
    const pti_loops *loops;            /* may be NULL */
    const uint32_t *barrier_of;        /* for each instruction: its number among barriers + 1, or 0 */
    const uint8_t *is_shared;          /* for each access */
    uint8_t *has_barrier;              /* of loops: there is one in every turn */
    uint32_t *seen_block, *seen_access, round;     /* three for each: same turn, next turn, elsewhere */
    uint32_t *stack;
    uint32_t loop;                     /* of the barrier that the walk begins at */
    bool back;
    pti_member *found;
    uint32_t nfound;
    uint64_t walked;
} pti_walk;

enum { PTI_MOST_WALK = 1 << 26 };

/* The first four members are given. False when memory is exhausted. */
bool pti_open_walk(pti_walk *w);
void pti_close_walk(pti_walk *w);

/* The accesses from behind a barrier (or the entry, PTI_NONE) to the next ones; or from before it back to the ones before. */
void pti_walk_from(pti_walk *w, uint32_t barrier, bool back);

void pti_ranges_of_map(const pti_byte_map *map, bool written, pti_ranges *out);

#endif
