/* lives.c - see lives.h. */
#include "ptx/inspect/lives.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

/* A loop by the text: instructions [start, end) from its head to the last branch back to it. */
typedef struct loop { uint32_t start, end, parent; } loop;

typedef struct finder {
    const pti_statements *s;
    const pti_flow *flow;
    const pti_phases *phases;
    pti_lives *out;
    uint32_t *parent;                  /* of values that meet; later the number of their life */
    loop *loops;
    uint32_t nloops;
    uint32_t *inner;                   /* for each block the innermost loop that it is in, PTI_NONE for none */
} finder;

/* ------------------------------------------------------------ values that meet */

static uint32_t find(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a);
    b = find(parent, b);
    parent[a < b ? b : a] = a < b ? a : b;
}

static void join_all(const pti_flow *flow, uint32_t *parent)
{
    for (uint32_t v = 0; v < flow->nvalues; v++)
        parent[v] = v;
    for (uint32_t v = 0; v < flow->nvalues; v++) {
        const pti_value *x = &flow->values[v];
        if (x->previous != PTI_NONE)
            join(parent, v, x->previous);
        for (uint32_t k = 0; k < x->noperands; k++)
            join(parent, v, x->operands[k]);
    }
}

/* ------------------------------------------------------------ loops */

static uint32_t end_of_loop(const pti_flow *flow, uint32_t head)
{
    const pti_block *h = &flow->blocks[head];
    uint32_t end = 0;
    for (uint32_t k = 0; k < h->npredecessors; k++) {
        const pti_block *p = h->predecessors[k] == PTI_NONE ? NULL : &flow->blocks[h->predecessors[k]];
        if (p && p->order >= h->order && p->end > end)
            end = p->end;
    }
    return end > h->first ? end : 0;
}

/* Loops that overlap without one being inside the other are made so. */
static bool find_loops(finder *f)
{
    const pti_flow *flow = f->flow;
    f->loops = calloc((size_t)flow->nblocks + 1, sizeof *f->loops);
    f->inner = calloc((size_t)flow->nblocks + 1, sizeof *f->inner);
    if (!f->loops || !f->inner)
        return false;
    for (uint32_t b = 0, top = PTI_NONE; b < flow->nblocks; b++) {
        uint32_t first = flow->blocks[b].first, end = end_of_loop(flow, b);
        while (top != PTI_NONE && f->loops[top].end <= first)
            top = f->loops[top].parent;
        if (end) {
            f->loops[f->nloops] = (loop){first, end, top};
            for (uint32_t l = top; l != PTI_NONE && f->loops[l].end < end; l = f->loops[l].parent)
                f->loops[l].end = end;
            top = f->nloops++;
        }
        f->inner[b] = top;
    }
    return true;
}

/* A use at `use` of what is defined at `definition`: it is needed until the end of each loop that the definition is outside of. */
static uint32_t last_need(const finder *f, uint32_t definition, uint32_t use)
{
    uint32_t last = use;
    for (uint32_t l = f->inner[f->flow->block_of[use]]; l != PTI_NONE && definition < f->loops[l].start; l = f->loops[l].parent)
        last = f->loops[l].end - 1 > last ? f->loops[l].end - 1 : last;
    return last;
}

/* ------------------------------------------------------------ lives */

static bool is_constant(const ptx_insn *i)
{
    return i->form && strcmp(i->form->mnemonic, "mov") == 0 && i->noperands == 2 && i->operands[1].nvalues == 1 &&
           i->operands[1].values[0].kind != PTX_VALUE_REG;
}

static void extend(const finder *f, pti_life *l, const pti_value *v)
{
    const pti_block *b = v->kind == PTI_VALUE_PHI ? &f->flow->blocks[v->at] : NULL;
    uint32_t definition = b ? b->first : v->kind == PTI_VALUE_INSN ? v->at : 0;
    if (v->kind != PTI_VALUE_PHI) {
        l->ndefinitions += v->kind == PTI_VALUE_INSN;
        l->first = definition < l->first ? definition : l->first;
        l->at_entry |= v->kind == PTI_VALUE_ENTRY;
        l->constant &= v->kind == PTI_VALUE_INSN && is_constant(&f->flow->function->insns[v->at]);
    }
    l->last = definition > l->last ? definition : l->last;
    for (uint32_t u = 0; u < v->nusers; u++) {
        if (v->users[u] & PTI_BY_VALUE)
            continue;
        uint32_t last = last_need(f, definition, v->users[u]);
        l->nuses++;
        l->last = last > l->last ? last : l->last;
    }
    uint32_t end = b ? end_of_loop(f->flow, v->at) : 0;
    if (end) {
        l->round_loop = true;
        l->first = b->first < l->first ? b->first : l->first;
        l->last = end - 1 > l->last ? end - 1 : l->last;
    }
}

/* Numbers lives by register, then by their first value; values are made register by register, but those of instructions are not. */
static bool number_lives(finder *f)
{
    const pti_flow *flow = f->flow;
    pti_lives *out = f->out;
    uint32_t nregisters = flow->function->nregisters;
    uint32_t *next = calloc((size_t)nregisters + 2, sizeof *next);
    out->of_reg = pti_take(&out->arena, (size_t)nregisters + 1, sizeof(uint32_t));
    if (!next || !out->of_reg) {
        free(next);
        return false;
    }
    for (uint32_t v = 0; v < flow->nvalues; v++)
        if (find(f->parent, v) == v) {
            out->of_reg[flow->values[v].reg + 1]++;
            out->count++;
        }
    for (uint32_t r = 0; r < nregisters; r++) {
        out->nreused += out->of_reg[r + 1] > 1;
        out->of_reg[r + 1] += out->of_reg[r];
        next[r] = out->of_reg[r];
    }
    for (uint32_t v = 0; v < flow->nvalues; v++)
        if (find(f->parent, v) == v)
            out->of_value[v] = next[flow->values[v].reg]++;
    for (uint32_t v = 0; v < flow->nvalues; v++)
        out->of_value[v] = out->of_value[find(f->parent, v)];
    free(next);
    return true;
}

static uint32_t words_of(const finder *f, uint32_t reg)
{
    ptx_type type = f->flow->function->registers[reg].type;
    return type == PTX_TYPE_PRED ? 0 : (ptx_type_bits(type) + 31) / 32;
}

/* Phases whose first mma lies behind the definition and not behind the last use: the differences, then their sums. */
static void count_across(finder *f)
{
    pti_lives *out = f->out;
    uint32_t n = f->phases->count;
    for (uint32_t i = 0; i < out->count; i++) {
        const pti_life *l = &out->list[i];
        uint32_t from = l->from, to = l->to;
        if (from < n && !l->at_entry && f->phases->list[from].mma[0].insn <= l->first)
            from++;
        if (to < n && f->phases->list[to].mma[0].insn <= l->last)
            to++;
        if (l->nuses == 0 || from >= to)
            continue;
        out->across[from] += words_of(f, l->reg);
        out->across[to] -= words_of(f, l->reg);        /* one more element than phases */
    }
    for (uint32_t p = 1; p < n; p++)
        out->across[p] += out->across[p - 1];
}

static uint32_t place_of(const finder *f, uint32_t insn)
{
    return pti_phases_before(f->phases, pti_statement_of_insn(f->s, insn));
}

static bool measure_lives(finder *f)
{
    pti_lives *out = f->out;
    out->list = pti_take(&out->arena, out->count, sizeof *out->list);
    out->across = pti_take(&out->arena, f->phases->count, sizeof *out->across);
    if (!out->list || !out->across)
        return false;
    out->nphases = f->phases->count;
    for (uint32_t i = 0; i < out->count; i++)
        out->list[i] = (pti_life){.first = PTI_NONE, .constant = true};
    for (uint32_t v = 0; v < f->flow->nvalues; v++) {
        out->list[out->of_value[v]].reg = f->flow->values[v].reg;
        extend(f, &out->list[out->of_value[v]], &f->flow->values[v]);
    }
    for (uint32_t i = 0; i < out->count && f->flow->function->ninsns; i++) {
        pti_life *l = &out->list[i];
        l->from = place_of(f, l->first);
        l->to = place_of(f, l->last);
    }
    count_across(f);
    return true;
}

bool pti_find_lives(const pti_statements *s, const pti_flow *flow, const pti_phases *phases, pti_lives *out)
{
    *out = (pti_lives){0};
    ptx_arena_init(&out->arena, SIZE_MAX);
    finder f = {.s = s, .flow = flow, .phases = phases, .out = out};
    f.parent = calloc((size_t)flow->nvalues + 1, sizeof *f.parent);
    out->of_value = pti_take(&out->arena, flow->nvalues, sizeof *out->of_value);
    bool done = f.parent && out->of_value && find_loops(&f);
    if (done) {
        join_all(flow, f.parent);
        done = number_lives(&f) && measure_lives(&f);
    }
    free(f.parent);
    free(f.loops);
    free(f.inner);
    return done;
}

void pti_free_lives(pti_lives *l)
{
    ptx_arena_free(&l->arena);
    *l = (pti_lives){0};
}

/* ------------------------------------------------------------ carried over phases */

static int compare_ways(const void *x, const void *y)
{
    const pti_carried *a = x, *b = y;
    uint32_t da = a->to - a->from, db = b->to - b->from;
    if (da != db)
        return da > db ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->first_life < b->first_life ? -1 : a->first_life > b->first_life;
}

pti_carried *pti_carried_lives(const pti_lives *l, uint32_t distance, uint32_t *n)
{
    uint32_t count = 0, groups = 0;
    pti_carried *list = calloc((size_t)l->count + 1, sizeof *list);
    *n = PTI_NONE;
    if (!list)
        return NULL;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->list[i].nuses && !l->list[i].constant && l->list[i].to - l->list[i].from >= distance)
            list[count++] = (pti_carried){l->list[i].from, l->list[i].to, 1, i, {i}};
    qsort(list, count, sizeof *list, compare_ways);
    for (uint32_t i = 0; i < count; i++) {
        pti_carried *g = groups ? &list[groups - 1] : NULL;
        if (!g || g->from != list[i].from || g->to != list[i].to) {
            list[groups++] = list[i];
            continue;
        }
        if (g->count < 4)
            g->example[g->count] = list[i].first_life;
        g->count++;
    }
    *n = groups;
    return list;
}
