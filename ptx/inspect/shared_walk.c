/* shared_walk.c - which accesses a thread may come to between barriers, and in which turn of their loops. */
#include "ptx/inspect/shared_internal.h"

#include <stdlib.h>

enum { SAME, NEXT, ELSEWHERE, PLACES };

/* ------------------------------------------------------------ loops with barriers */

/* Some barrier stands on every way round: its block dominates all ends of the loop. */
static bool has_barrier(const pti_walk *w, uint32_t loop, const uint32_t *barriers, uint32_t n)
{
    const pti_loops *l = w->loops;
    const pti_block *head = &w->flow->blocks[l->list[loop].head];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t block = w->flow->block_of[barriers[i]];
        bool all = pti_in_loop(l, block, loop);
        for (uint32_t k = 0; all && k < head->npredecessors; k++)
            all = head->predecessors[k] == PTI_NONE || !pti_in_loop(l, head->predecessors[k], loop) ||
                  pti_dominates(&l->dominators, block, head->predecessors[k]);
        if (all)
            return true;
    }
    return false;
}

static bool find_loops_with_barriers(pti_walk *w)
{
    uint32_t n = 0, ninsns = w->flow->function->ninsns, *barriers = malloc(((size_t)ninsns + 1) * sizeof *barriers);
    w->has_barrier = calloc(w->loops ? (size_t)w->loops->count + 1 : 1, 1);
    bool done = barriers && w->has_barrier;
    for (uint32_t i = 0; done && i < ninsns; i++)
        if (w->barrier_of[i])
            barriers[n++] = i;
    for (uint32_t i = 0; done && w->loops && i < w->loops->count && (w->walked += n) < PTI_MOST_WALK; i++)
        w->has_barrier[i] = has_barrier(w, i, barriers, n);
    w->walked = 0;
    free(barriers);
    return done;
}

bool pti_open_walk(pti_walk *w)
{
    size_t blocks = (size_t)PLACES * w->flow->nblocks + 1, accesses = (size_t)PLACES * w->a->count + 1;
    w->seen_access = calloc(accesses, sizeof *w->seen_access);
    w->found = calloc(accesses, sizeof *w->found);
    w->seen_block = calloc(blocks, sizeof *w->seen_block);
    w->stack = calloc(blocks, sizeof *w->stack);
    return w->seen_access && w->found && w->seen_block && w->stack && find_loops_with_barriers(w);
}

void pti_close_walk(pti_walk *w)
{
    free(w->has_barrier);
    free(w->seen_access);
    free(w->found);
    free(w->seen_block);
    free(w->stack);
}

/* The innermost loop around a block that has a barrier in every turn. */
static uint32_t loop_of(const pti_walk *w, uint32_t block)
{
    uint32_t loop = w->loops ? w->loops->of_block[block] : PTI_NONE;
    while (loop != PTI_NONE && !w->has_barrier[loop])
        loop = w->loops->list[loop].parent;
    return loop;
}

/* ------------------------------------------------------------ walks */

/* Forward into a loop that the walk did not begin in, the first turn is met: a second one stands behind its barrier. */
static pti_member member(const pti_walk *w, uint32_t access, int place, uint32_t start)
{
    uint32_t block = w->flow->block_of[w->a->list[access].insn], own = loop_of(w, block);
    if (place != ELSEWHERE)
        return (pti_member){access, place == SAME ? PTI_SAME_TURN : PTI_NEXT_TURN, w->loop};
    bool other = own != PTI_NONE && (start == PTI_NONE || !pti_in_loop(w->loops, start, own));
    return (pti_member){access, other && !w->back ? PTI_FIRST_TURN : PTI_ANY_TURN, other && !w->back ? own : PTI_NONE};
}

static void take_accesses(pti_walk *w, uint32_t insn, int place, uint32_t start)
{
    for (uint32_t x = pti_access_of_insn(w->a, insn); x != PTI_NONE && x < w->a->count && w->a->list[x].insn == insn; x++) {
        if (!w->is_shared[x] || w->seen_access[(size_t)PLACES * x + place] == w->round)
            continue;
        w->seen_access[(size_t)PLACES * x + place] = w->round;
        w->found[w->nfound++] = member(w, x, place, start);
    }
}

/* Instructions [first, end) of a block until a barrier; true when the other end is reached. */
static bool walk_block(pti_walk *w, uint32_t first, uint32_t end, int place, uint32_t start)
{
    for (uint32_t n = end - first; n > 0; n--, w->walked++) {
        uint32_t i = w->back ? first + n - 1 : end - n;
        if (w->barrier_of[i])
            return false;
        take_accesses(w, i, place, start);
    }
    return true;
}

/* The place behind an edge of the walk. */
static int follow(const pti_walk *w, uint32_t from, uint32_t to, int place)
{
    if (place == ELSEWHERE || !pti_in_loop(w->loops, to, w->loop))
        return ELSEWHERE;
    return (w->back ? from : to) == w->loops->list[w->loop].head ? place + 1 : place;
}

static void push(pti_walk *w, uint32_t from, uint32_t to, int place, uint32_t *depth)
{
    if (to == PTI_NONE)
        return;
    size_t node = (size_t)PLACES * to + (size_t)follow(w, from, to, place);
    if (w->seen_block[node] == w->round)
        return;
    w->seen_block[node] = w->round;
    w->stack[(*depth)++] = (uint32_t)node;
}

void pti_walk_from(pti_walk *w, uint32_t barrier, bool back)
{
    const pti_flow *flow = w->flow;
    uint32_t depth = 0, at = barrier == PTI_NONE ? 0 : flow->block_of[barrier], start = barrier == PTI_NONE ? PTI_NONE : at;
    const pti_block *b = &flow->blocks[at];
    w->loop = barrier == PTI_NONE ? PTI_NONE : loop_of(w, at);
    w->back = back;
    w->round++;
    w->nfound = 0;
    int place = w->loop == PTI_NONE ? ELSEWHERE : SAME;
    bool on = back ? walk_block(w, b->first, barrier, place, start) : walk_block(w, barrier == PTI_NONE ? b->first : barrier + 1, b->end, place, start);
    for (;;) {
        uint32_t n = back ? b->npredecessors : b->nsuccessors;
        for (uint32_t k = 0; on && k < n; k++)
            push(w, at, back ? b->predecessors[k] : b->successors[k], place, &depth);
        if (depth == 0 || w->walked > PTI_MOST_WALK)
            return;
        at = w->stack[--depth] / PLACES;
        place = (int)(w->stack[depth] % PLACES);
        b = &flow->blocks[at];
        on = walk_block(w, b->first, b->end, place, start);
    }
}
