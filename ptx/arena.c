/* arena.c - chunks of growing size; large blocks get a chunk of their own.
 *
 * Half of the time of parsing a large file was spent on page faults, so large chunks ask for huge pages.
 */
#ifdef __linux__
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif
#include "ptx/arena.h"

#include <stdlib.h>

enum { FIRST_CHUNK = 16 << 10, HUGE_PAGE = 2 << 20, LARGEST_CHUNK = 4 << 20 };

struct ptx_chunk {
    struct ptx_chunk *older;
    void *block;                   /* what to free: the chunk itself or an adopted block */
};

void ptx_arena_init(ptx_arena *arena, size_t limit)
{
    *arena = (ptx_arena){.limit = limit, .chunk_size = FIRST_CHUNK};
}

void ptx_arena_free(ptx_arena *arena)
{
    struct ptx_chunk *chunk = arena->chunks;
    while (chunk) {
        /* The record of an adopted block lies in an older chunk, so read it before anything is freed. */
        struct ptx_chunk *older = chunk->older;
        free(chunk->block);
        chunk = older;
    }
    *arena = (ptx_arena){0};
}

static bool take(ptx_arena *arena, size_t size)
{
    arena->over_limit = size > arena->limit - arena->taken;
    if (arena->over_limit)
        return false;
    arena->taken += size;
    return true;
}

static void *huge_block(size_t size)
{
    void *block = aligned_alloc(HUGE_PAGE, size);
#ifdef MADV_HUGEPAGE
    if (block)
        madvise(block, size, MADV_HUGEPAGE);   /* a hint: its failure changes nothing */
#endif
    return block;
}

static void *take_block(ptx_arena *arena, size_t size, bool zeroed)
{
    if (!take(arena, size))
        return NULL;
    void *block = zeroed ? calloc(1, size) : size % HUGE_PAGE == 0 ? huge_block(size) : malloc(size);
    if (!block)
        arena->taken -= size;
    return block;
}

static void link_chunk(ptx_arena *arena, struct ptx_chunk *chunk, void *block)
{
    chunk->block = block;
    chunk->older = arena->chunks;
    arena->chunks = chunk;
}

void *ptx_arena_refill(ptx_arena *arena, size_t size, size_t align)
{
    size_t needed = sizeof(struct ptx_chunk) + size + align;
    if (needed < size)
        return NULL;
    bool own = needed > arena->chunk_size / 4;
    size_t chunk_size = own ? needed : arena->chunk_size;
    struct ptx_chunk *chunk = take_block(arena, chunk_size, false);
    if (!chunk)
        return NULL;
    link_chunk(arena, chunk, chunk);
    uintptr_t at = ((uintptr_t)(chunk + 1) + (align - 1)) & ~(uintptr_t)(align - 1);
    if (!own) {
        arena->next = (char *)at + size;
        arena->end = (char *)chunk + chunk_size;
        if (arena->chunk_size < LARGEST_CHUNK)
            arena->chunk_size *= arena->chunk_size < HUGE_PAGE / 4 ? 4 : 2;
    }
    return (void *)at;
}

void *ptx_arena_resize(ptx_arena *arena, void *block, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        free(block);
        arena->taken -= old_size;
        return NULL;
    }
    if (new_size > old_size && !take(arena, new_size - old_size))
        return NULL;
    void *moved = realloc(block, new_size);
    if (new_size > old_size) {
        if (!moved)
            arena->taken -= new_size - old_size;
    } else if (moved) {
        arena->taken -= old_size - new_size;
    }
    return moved;
}

void *ptx_arena_zeroed(ptx_arena *arena, size_t size)
{
    void *block = take_block(arena, size, true);
    if (block && !ptx_arena_adopt(arena, block)) {
        free(block);
        arena->taken -= size;
        return NULL;
    }
    return block;
}

bool ptx_arena_adopt(ptx_arena *arena, void *block)
{
    struct ptx_chunk *record = ptx_arena_alloc(arena, sizeof *record, _Alignof(struct ptx_chunk));
    if (record)
        link_chunk(arena, record, block);
    return record != NULL;
}
