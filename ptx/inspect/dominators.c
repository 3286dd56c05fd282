/* dominators.c - see dominators.h. Both directions are one graph walk: from the first block forward, or from an end behind all exits back. */
#include "ptx/inspect/dominators.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t most_work = UINT64_C(1) << 28;

/* `from` are the edges that a walk from the root follows, `to` the same backwards. */
typedef struct graph {
    uint32_t n, root;
    uint32_t *first_from, *from, *first_to, *to;
    uint32_t *ordered, *place;         /* reverse postorder; PTI_NONE: not reached */
    uint32_t count;                    /* reached */
    ptx_arena arena;
} graph;

/* ------------------------------------------------------------ edges */

typedef struct pair { uint32_t a, b; } pair;

static bool leaves(const pti_flow *flow, uint32_t block)
{
    const ptx_insn *last = &flow->function->insns[flow->blocks[block].end - 1];
    const char *op = last->operation ? last->operation : "";
    return flow->blocks[block].nsuccessors == 0 || strcmp(op, "ret") == 0 || strcmp(op, "exit") == 0 || strcmp(op, "trap") == 0;
}

static size_t list_edges(const pti_flow *flow, bool back, pair *list)
{
    size_t n = 0;
    for (uint32_t b = 0; b < flow->nblocks; b++) {
        for (uint32_t k = 0; k < flow->blocks[b].nsuccessors; k++, n++)
            if (list)
                list[n] = back ? (pair){flow->blocks[b].successors[k], b} : (pair){b, flow->blocks[b].successors[k]};
        if (back && leaves(flow, b)) {
            if (list)
                list[n] = (pair){flow->nblocks, b};
            n++;
        }
    }
    return n;
}

static bool sort_edges(graph *g, const pair *list, size_t n, bool reverse, uint32_t **first, uint32_t **ends)
{
    *first = pti_take(&g->arena, (size_t)g->n + 1, sizeof **first);
    *ends = pti_take(&g->arena, n, sizeof **ends);
    uint32_t *at = calloc((size_t)g->n + 1, sizeof *at);
    bool done = *first && *ends && at;
    for (size_t i = 0; done && i < n; i++)
        (*first)[(reverse ? list[i].b : list[i].a) + 1]++;
    for (uint32_t b = 0; done && b < g->n; b++) {
        (*first)[b + 1] += (*first)[b];
        at[b] = (*first)[b];
    }
    for (size_t i = 0; done && i < n; i++)
        (*ends)[at[reverse ? list[i].b : list[i].a]++] = reverse ? list[i].a : list[i].b;
    free(at);
    return done;
}

/* Depth first without recursion. */
static bool order(graph *g)
{
    uint32_t *stack = malloc(((size_t)g->n + 1) * sizeof *stack), *next = malloc(((size_t)g->n + 1) * sizeof *next), depth = 0, left = g->n;
    g->ordered = pti_take(&g->arena, g->n, sizeof *g->ordered);
    g->place = pti_take(&g->arena, g->n, sizeof *g->place);
    bool done = stack && next && g->ordered && g->place;
    if (done) {
        memset(g->place, 0xff, g->n * sizeof *g->place);
        stack[0] = g->root;
        next[0] = g->first_from[g->root];
        g->place[g->root] = 0;
        for (;;) {
            uint32_t b = stack[depth];
            if (next[depth] < g->first_from[b + 1]) {
                uint32_t to = g->from[next[depth]++];
                if (g->place[to] != PTI_NONE)
                    continue;
                g->place[to] = 0;
                stack[++depth] = to;
                next[depth] = g->first_from[to];
                continue;
            }
            g->ordered[--left] = b;
            if (depth-- == 0)
                break;
        }
        g->count = g->n - left;
        memmove(g->ordered, g->ordered + left, g->count * sizeof *g->ordered);
        for (uint32_t i = 0; i < g->count; i++)
            g->place[g->ordered[i]] = i;
    }
    free(stack);
    free(next);
    return done;
}

static bool make_graph(const pti_flow *flow, bool back, graph *g)
{
    g->n = flow->nblocks + back;
    g->root = back ? flow->nblocks : 0;
    ptx_arena_init(&g->arena, SIZE_MAX);
    size_t n = list_edges(flow, back, NULL);
    pair *list = malloc((n + 1) * sizeof *list);
    if (list)
        list_edges(flow, back, list);
    bool done = list && sort_edges(g, list, n, false, &g->first_from, &g->from) && sort_edges(g, list, n, true, &g->first_to, &g->to) && order(g);
    free(list);
    return done;
}

/* ------------------------------------------------------------ the tree */

static uint32_t meet(const graph *g, const uint32_t *parent, uint32_t a, uint32_t b, uint64_t *work)
{
    while (a != b && *work < most_work) {
        while (g->place[a] > g->place[b] && (*work)++ < most_work)
            a = parent[a];
        while (g->place[b] > g->place[a] && (*work)++ < most_work)
            b = parent[b];
    }
    return a;
}

static bool find_parents(const graph *g, uint32_t *parent)
{
    uint64_t work = 0;
    bool changed = true;
    memset(parent, 0xff, ((size_t)g->n + 1) * sizeof *parent);
    parent[g->root] = g->root;
    while (changed && work < most_work) {
        changed = false;
        for (uint32_t i = 1; i < g->count; i++) {
            uint32_t b = g->ordered[i], best = PTI_NONE;
            for (uint32_t k = g->first_to[b]; k < g->first_to[b + 1]; k++, work++) {
                uint32_t p = g->to[k];
                if (g->place[p] != PTI_NONE && parent[p] != PTI_NONE)
                    best = best == PTI_NONE ? p : meet(g, parent, p, best, &work);
            }
            changed |= parent[b] != best;
            parent[b] = best;
        }
    }
    parent[g->root] = PTI_NONE;
    return work < most_work;
}

/* Parents stand before children in the order. */
static void number_tree(const graph *g, pti_dominators *d, uint32_t *used)
{
    for (uint32_t i = g->count; i-- > 0;) {
        uint32_t b = g->ordered[i];
        d->size[b]++;
        if (d->parent[b] != PTI_NONE)
            d->size[d->parent[b]] += d->size[b];
    }
    for (uint32_t i = 1; i < g->count; i++) {
        uint32_t b = g->ordered[i], p = d->parent[b];
        d->enter[b] = d->enter[p] + 1 + used[p];
        used[p] += d->size[b];
    }
}

static pti_status find(const pti_flow *flow, bool back, pti_dominators *out)
{
    graph g = {0};
    *out = (pti_dominators){.n = flow->nblocks};
    ptx_arena_init(&out->arena, SIZE_MAX);
    size_t n = (size_t)flow->nblocks + 1;
    out->parent = pti_take(&out->arena, n, sizeof *out->parent);
    out->enter = pti_take(&out->arena, n, sizeof *out->enter);
    out->size = pti_take(&out->arena, n, sizeof *out->size);
    uint32_t *used = calloc(n, sizeof *used);
    pti_status status = PTI_MEMORY;
    if (out->parent && out->enter && out->size && used && flow->nblocks == 0)
        status = PTI_OK;
    else if (out->parent && out->enter && out->size && used && make_graph(flow, back, &g))
        status = find_parents(&g, out->parent) ? PTI_OK : PTI_LIMIT;
    if (status == PTI_OK && flow->nblocks)
        number_tree(&g, out, used);
    free(used);
    ptx_arena_free(&g.arena);
    return status;
}

pti_status pti_find_dominators(const pti_flow *flow, pti_dominators *out)
{
    return find(flow, false, out);
}

pti_status pti_find_postdominators(const pti_flow *flow, pti_dominators *out)
{
    return find(flow, true, out);
}

void pti_free_dominators(pti_dominators *d)
{
    ptx_arena_free(&d->arena);
    *d = (pti_dominators){0};
}
