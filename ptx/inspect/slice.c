/* slice.c - see slice.h. */
#include "ptx/inspect/slice.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPENDENCES = 1 << 24 };

/* ------------------------------------------------------------ control dependence */

/* For each block the blocks whose last instruction decides whether it is executed. */
typedef struct control {
    uint32_t *first, *list;            /* list[first[b]] … list[first[b + 1] - 1] */
} control;

static bool leaves(const ptx_insn *i)
{
    return i->operation && (strcmp(i->operation, "ret") == 0 || strcmp(i->operation, "exit") == 0 || strcmp(i->operation, "trap") == 0);
}

/* The ways out of a block: the last one is the end of the function, n, where it may leave. */
static uint32_t way(const pti_flow *flow, uint32_t block, uint32_t k)
{
    const pti_block *b = &flow->blocks[block];
    if (k < b->nsuccessors)
        return b->successors[k];
    return k == b->nsuccessors && (b->nsuccessors == 0 || leaves(&flow->function->insns[b->end - 1])) ? flow->nblocks : PTI_NONE;
}

/* From each way out of a branch up the tree of postdominators, until one that lies on all ways (Ferrante, Ottenstein and Warren 1987).
 * Counts with list NULL, and fills places from first[b] on otherwise. False: there are too many. */
static bool list_dependences(const pti_flow *flow, const pti_dominators *post, uint32_t *first, uint32_t *list)
{
    size_t n = 0;
    for (uint32_t c = 0; c < flow->nblocks; c++) {
        if (way(flow, c, 1) == PTI_NONE || !post->size[c])
            continue;
        for (uint32_t k = 0, to; (to = way(flow, c, k)) != PTI_NONE; k++)
            for (uint32_t b = to; b != post->parent[c] && b < flow->nblocks && post->size[b]; b = post->parent[b]) {
                if (++n > MOST_DEPENDENCES)
                    return false;
                if (list)
                    list[first[b]] = c;
                first[b]++;
            }
    }
    return true;
}

static pti_status find_control(const pti_flow *flow, control *out)
{
    pti_dominators post;
    pti_status status = pti_find_postdominators(flow, &post);
    size_t n = (size_t)flow->nblocks + 1;
    out->first = calloc(n, sizeof *out->first);
    if (status == PTI_OK && !out->first)
        status = PTI_MEMORY;
    if (status == PTI_OK && !list_dependences(flow, &post, out->first, NULL))
        status = PTI_LIMIT;
    for (uint32_t b = 0, sum = 0; status == PTI_OK && b <= flow->nblocks; b++) {       /* counts become places */
        uint32_t count = out->first[b];
        out->first[b] = sum;
        sum += count;
    }
    if (status == PTI_OK && !(out->list = malloc(((size_t)out->first[flow->nblocks] + 1) * sizeof *out->list)))
        status = PTI_MEMORY;
    if (status == PTI_OK) {
        list_dependences(flow, &post, out->first, out->list);
        memmove(out->first + 1, out->first, flow->nblocks * sizeof *out->first);       /* each has moved to the next one's */
        out->first[0] = 0;
    }
    pti_free_dominators(&post);
    return status;
}

/* ------------------------------------------------------------ slices */

typedef struct slicer {
    const pti_flow *flow;
    uint8_t *seen, *seen_block, *marks;
    uint32_t *stack, depth;
    uint32_t *taken, ntaken;           /* blocks that hold what is marked, and have not been looked at */
    control control;
    uint32_t follow;
} slicer;

static void push(slicer *s, uint32_t value)
{
    if (value == PTI_NONE || s->seen[value])
        return;
    s->seen[value] = 1;
    s->stack[s->depth++] = value;
}

/* A register that a load reads is part of its address, the guard aside. */
static bool is_followed(const slicer *s, const ptx_insn *i, uint32_t reg)
{
    bool load = i->operation && (strcmp(i->operation, "ld") == 0 || strcmp(i->operation, "ldmatrix") == 0 ||
                                 strcmp(i->operation, "wmma_load") == 0);
    return (s->follow & PTI_SLICE_ADDRESSES) || !load || (i->guarded && i->guard == reg);
}

static void take_insn(slicer *s, uint32_t insn)
{
    if (s->marks[insn])
        return;
    s->marks[insn] = 1;
    if (!s->seen_block[s->flow->block_of[insn]]) {
        s->seen_block[s->flow->block_of[insn]] = 1;
        s->taken[s->ntaken++] = s->flow->block_of[insn];
    }
    for (uint32_t u = s->flow->first_use[insn]; u < s->flow->first_use[insn + 1]; u++)
        if (is_followed(s, &s->flow->function->insns[insn], s->flow->uses[u].reg))
            push(s, s->flow->uses[u].value);
}

/* What decides whether a block is executed. */
static void take_block(slicer *s, uint32_t block)
{
    if (!s->control.list)
        return;
    for (uint32_t k = s->control.first[block]; k < s->control.first[block + 1]; k++)
        take_insn(s, s->flow->blocks[s->control.list[k]].end - 1);
}

/* Which value a phi is depends on the way that was taken to it. */
static void take_ways(slicer *s, uint32_t block)
{
    const pti_block *b = &s->flow->blocks[block];
    for (uint32_t k = 0; k < b->npredecessors && (s->follow & PTI_SLICE_BRANCHES); k++) {
        if (b->predecessors[k] == PTI_NONE)
            continue;
        if (way(s->flow, b->predecessors[k], 1) != PTI_NONE)
            take_insn(s, s->flow->blocks[b->predecessors[k]].end - 1);
        if (!s->seen_block[b->predecessors[k]]) {
            s->seen_block[b->predecessors[k]] = 1;
            s->taken[s->ntaken++] = b->predecessors[k];
        }
    }
}

static void visit(slicer *s, const pti_value *v)
{
    push(s, v->previous);
    for (uint32_t k = 0; k < v->noperands; k++)
        push(s, v->operands[k]);
    if (v->kind == PTI_VALUE_INSN)
        take_insn(s, v->at);
    else if (v->kind == PTI_VALUE_PHI)
        take_ways(s, v->at);
}

/* Until nothing is new: a branch that is taken in stands in a block that may depend on others. */
static void follow_all(slicer *s)
{
    while (s->depth || s->ntaken) {
        while (s->depth)
            visit(s, &s->flow->values[s->stack[--s->depth]]);
        if (s->ntaken)
            take_block(s, s->taken[--s->ntaken]);
    }
}

pti_status pti_backward_slice(const pti_flow *flow, uint32_t value, uint32_t follow, uint8_t *marks)
{
    slicer s = {.flow = flow, .marks = marks, .follow = follow};
    s.seen = calloc((size_t)flow->nvalues + 1, 1);
    s.seen_block = calloc((size_t)flow->nblocks + 1, 1);
    s.stack = malloc(((size_t)flow->nvalues + 1) * sizeof *s.stack);
    s.taken = malloc(((size_t)flow->nblocks + 1) * sizeof *s.taken);
    pti_status status = s.seen && s.seen_block && s.stack && s.taken ? PTI_OK : PTI_MEMORY;
    if (status == PTI_OK && (follow & PTI_SLICE_BRANCHES))
        status = find_control(flow, &s.control);
    if (status == PTI_OK) {
        push(&s, value);
        follow_all(&s);
    }
    free(s.control.first);
    free(s.control.list);
    free(s.seen);
    free(s.seen_block);
    free(s.stack);
    free(s.taken);
    return status;
}
