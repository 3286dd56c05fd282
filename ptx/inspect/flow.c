/* flow.c - basic blocks: where they begin, their edges, their order. The values are made in flow_values.c. */
#include "ptx/inspect/flow_internal.h"

#include <string.h>

void *pti_take(ptx_arena *arena, size_t count, size_t size)
{
    return ptx_arena_zeroed(arena, (count + 1) * size);
}

static bool is_operation(const ptx_insn *i, const char *name)
{
    return i->operation && strcmp(i->operation, name) == 0;
}

/* A thread does not go on to the next instruction. */
static bool is_end(const ptx_insn *i)
{
    return is_operation(i, "ret") || is_operation(i, "exit") || is_operation(i, "trap");
}

static bool is_branch(const ptx_insn *i)
{
    return is_operation(i, "bra") || is_operation(i, "brx");
}

static bool falls_through(const ptx_insn *i)
{
    return i->guarded || !(is_end(i) || is_branch(i));
}

/* Calls visit with each target of a branch. */
static void each_target(const ptx_insn *i, void (*visit)(void *, uint32_t), void *user)
{
    for (uint32_t o = 0; is_branch(i) && o < i->noperands; o++) {
        const ptx_label_list *list = i->operands[o].list;
        if (i->operands[o].kind == ISA_OPERAND_LABEL)
            visit(user, i->operands[o].label);
        else if (i->operands[o].kind == ISA_OPERAND_LIST && list)
            for (uint32_t t = 0; t < list->count; t++)
                visit(user, list->targets[t]);
    }
}

/* ------------------------------------------------------------ leaders */

typedef struct marks { uint8_t *leader; uint32_t n; } marks;

static void mark(void *user, uint32_t target)
{
    marks *m = user;
    if (target < m->n)
        m->leader[target] = 1;
}

/* Labels begin blocks whether they are branched to or not: brx by register may not be all that reaches them. */
static bool find_leaders(const ptx_function *f, marks *m)
{
    if (!m->leader)
        return false;
    mark(m, 0);
    for (uint32_t i = 0; i < f->nlabels; i++)
        mark(m, f->labels[i].target);
    for (uint32_t i = 0; i < f->ninsns; i++) {
        each_target(&f->insns[i], mark, m);
        if (is_branch(&f->insns[i]) || is_end(&f->insns[i]))
            mark(m, i + 1);
    }
    return true;
}

static bool cut_blocks(pti_flow *flow, const marks *m)
{
    const ptx_function *f = flow->function;
    for (uint32_t i = 0; i < f->ninsns; i++)
        flow->nblocks += m->leader[i];
    flow->blocks = pti_take(&flow->arena, flow->nblocks, sizeof *flow->blocks);
    flow->block_of = pti_take(&flow->arena, f->ninsns, sizeof *flow->block_of);
    if (!flow->blocks || !flow->block_of)
        return false;
    for (uint32_t i = 0, b = PTI_NONE; i < f->ninsns; i++) {
        if (m->leader[i])
            flow->blocks[++b].first = i;
        flow->blocks[b].end = i + 1;
        flow->block_of[i] = b;
    }
    return true;
}

/* ------------------------------------------------------------ edges */

typedef struct edges {
    const pti_flow *flow;
    uint32_t from, n;
    uint32_t *list;                /* pairs from, to; NULL while counting */
} edges;

static void edge(void *user, uint32_t target)
{
    edges *e = user;
    if (target >= e->flow->function->ninsns)
        return;                        /* the end of the body */
    if (e->list) {
        e->list[2 * e->n] = e->from;
        e->list[2 * e->n + 1] = e->flow->block_of[target];
    }
    e->n++;
}

static void each_edge(edges *e)
{
    const pti_flow *flow = e->flow;
    for (e->n = 0, e->from = 0; e->from < flow->nblocks; e->from++) {
        const ptx_insn *last = &flow->function->insns[flow->blocks[e->from].end - 1];
        each_target(last, edge, e);
        if (falls_through(last))
            edge(e, flow->blocks[e->from].end);
    }
}

static bool list_successors(pti_flow *flow, edges *e)
{
    each_edge(e);
    e->list = pti_take(&flow->arena, 2 * (size_t)e->n, sizeof *e->list);
    uint32_t *out = pti_take(&flow->arena, e->n, sizeof *out);
    if (!e->list || !out)
        return false;
    each_edge(e);                      /* in the order of the blocks that they leave */
    for (uint32_t i = 0; i < e->n; i++) {
        pti_block *from = &flow->blocks[e->list[2 * i]];
        if (from->nsuccessors++ == 0)
            from->successors = out + i;
        out[i] = e->list[2 * i + 1];
    }
    return true;
}

/* An edge from where no path comes does not count where paths do come. */
static bool counts(const pti_flow *flow, const uint32_t *pair)
{
    return flow->blocks[pair[0]].reached || !flow->blocks[pair[1]].reached;
}

static bool list_predecessors(pti_flow *flow, const edges *e)
{
    uint32_t *in = pti_take(&flow->arena, (size_t)e->n + 1, sizeof *in);
    if (!in)
        return false;
    for (uint32_t i = 0; i < e->n; i++)
        flow->blocks[e->list[2 * i + 1]].npredecessors += counts(flow, e->list + 2 * i);
    for (uint32_t b = 0; b < flow->nblocks; b++) {
        pti_block *block = &flow->blocks[b];
        bool entered = b == 0 && block->npredecessors > 0;
        block->predecessors = in;
        if (entered)
            *in++ = PTI_NONE;
        in += block->npredecessors;
        block->npredecessors = entered;
    }
    for (uint32_t i = 0; i < e->n; i++) {
        pti_block *to = &flow->blocks[e->list[2 * i + 1]];
        if (counts(flow, e->list + 2 * i))
            ((uint32_t *)to->predecessors)[to->npredecessors++] = e->list[2 * i];
    }
    return true;
}

/* ------------------------------------------------------------ order */

typedef struct order {
    pti_flow *flow;
    uint8_t *seen;
    uint32_t *stack, *next;        /* a path of blocks, and the successor of each that comes next */
    uint32_t left;                 /* places not yet given, from the end */
} order;

/* Depth first without recursion, since paths are as long as the text. */
static void walk_from(order *o, uint32_t root)
{
    uint32_t depth = 0;
    o->stack[0] = root;
    o->next[0] = 0;
    o->seen[root] = 1;
    for (;;) {
        const pti_block *b = &o->flow->blocks[o->stack[depth]];
        if (o->next[depth] < b->nsuccessors) {
            /* from the last successor, so that what falls through comes later in time and earlier in order */
            uint32_t s = b->successors[o->next[depth]++];
            if (o->seen[s])
                continue;
            o->seen[s] = 1;
            o->stack[++depth] = s;
            o->next[depth] = 0;
            continue;
        }
        o->flow->ordered[--o->left] = o->stack[depth];
        if (depth-- == 0)
            return;
    }
}

/* What no path reaches is walked too, so that each of its values is well defined, and put behind. */
static bool order_blocks(pti_flow *flow)
{
    uint32_t n = flow->nblocks;
    order o = {flow, pti_take(&flow->arena, n, 1), pti_take(&flow->arena, n, sizeof(uint32_t)),
               pti_take(&flow->arena, n, sizeof(uint32_t)), n};
    flow->ordered = pti_take(&flow->arena, n, sizeof *flow->ordered);
    if (!o.seen || !o.stack || !o.next || !flow->ordered)
        return false;
    walk_from(&o, 0);
    uint32_t reached = n - o.left;
    memmove(flow->ordered, flow->ordered + o.left, reached * sizeof *flow->ordered);
    for (uint32_t i = 0; i < reached; i++)
        flow->blocks[flow->ordered[i]].reached = true;
    for (uint32_t b = 0, place = reached; b < n; b++) {
        if (o.seen[b])
            continue;
        o.left = n;
        uint32_t *behind = flow->ordered;
        walk_from(&o, b);              /* fills the end of the array, then moves to its place */
        uint32_t count = n - o.left;
        memmove(behind + place, behind + o.left, count * sizeof *behind);
        place += count;
    }
    for (uint32_t i = 0; i < n; i++)
        flow->blocks[flow->ordered[i]].order = i;
    return true;
}

pti_status pti_find_flow(const ptx_function *f, pti_flow *out)
{
    *out = (pti_flow){.function = f};
    ptx_arena_init(&out->arena, SIZE_MAX);
    marks m = {pti_take(&out->arena, f->ninsns, 1), f->ninsns};
    if (!find_leaders(f, &m) || !cut_blocks(out, &m))
        return PTI_MEMORY;
    edges e = {.flow = out};
    if (out->nblocks && !(list_successors(out, &e) && order_blocks(out) && list_predecessors(out, &e)))
        return PTI_MEMORY;
    return pti_find_values(out);
}

void pti_free_flow(pti_flow *flow)
{
    ptx_arena_free(&flow->arena);
    *flow = (pti_flow){0};
}
