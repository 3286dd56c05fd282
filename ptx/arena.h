/* arena.h - the memory of one module.
 *
 * Objects are taken from chunks and are freed all together. An arena counts every byte that it
 * takes from malloc, also for the scratch buffers of the parser, and refuses to go over its limit,
 * so that a hostile input cannot take the machine's memory. Failure is NULL, never an exit.
 */
#ifndef PTX_ARENA_H
#define PTX_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_chunk;

typedef struct ptx_arena {
    char *next, *end;              /* free part of the newest chunk */
    struct ptx_chunk *chunks;
    size_t taken, limit;           /* bytes taken from malloc, and the most that may be */
    size_t chunk_size;             /* of the next chunk */
    bool over_limit;               /* the last failure was the limit, not malloc */
} ptx_arena;

void ptx_arena_init(ptx_arena *arena, size_t limit);
void ptx_arena_free(ptx_arena *arena);

/* The road taken when the newest chunk is full. */
void *ptx_arena_refill(ptx_arena *arena, size_t size, size_t align);

/* NULL when memory or the limit is exhausted. The bytes are not cleared. */
static inline void *ptx_arena_alloc(ptx_arena *arena, size_t size, size_t align)
{
    uintptr_t at = ((uintptr_t)arena->next + (align - 1)) & ~(uintptr_t)(align - 1);
    if (at <= (uintptr_t)arena->end && size <= (uintptr_t)arena->end - at) {
        arena->next = (char *)at + size;
        return (void *)at;
    }
    return ptx_arena_refill(arena, size, align);
}

/* realloc that counts against the limit; the block belongs to the caller, who frees it with size 0. */
void *ptx_arena_resize(ptx_arena *arena, void *block, size_t old_size, size_t new_size);

/* A zeroed block of its own for large data, freed with the arena; pages that are never written cost nothing. */
void *ptx_arena_zeroed(ptx_arena *arena, size_t size);

/* Gives a block from ptx_arena_resize to the arena, which frees it at its end. False when the record cannot be made. */
bool ptx_arena_adopt(ptx_arena *arena, void *block);

#endif
