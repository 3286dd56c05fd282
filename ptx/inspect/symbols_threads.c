/* symbols_threads.c - where branches on formulas that depend on the thread alone let threads go. */
#include "ptx/inspect/symbols.h"
#include "ptx/inspect/flow_internal.h"

#include <string.h>

/* ------------------------------------------------------------ reach */

/* Threads for which the guard holds; all of them where that is not known. False: all, for want of knowledge. */
static bool guard_set(const pti_threads *t, uint32_t insn, int64_t *values, uint64_t *set)
{
    const ptx_insn *i = &t->s->flow->function->insns[insn];
    bool assumed = false;
    memset(set, 0xff, t->words * sizeof *set);
    if (!i->guarded)
        return true;
    ptx_value guard = {.kind = PTX_VALUE_REG, .reg = i->guard};
    if (!pti_evaluate(t->s, pti_poly_of(t->s, insn, &guard, &assumed), values))
        return false;
    for (uint32_t k = 0; k < t->count; k++)
        if ((values[k] != 0) == i->guard_negated)
            set[k / 64] &= ~(UINT64_C(1) << k % 64);
    return true;
}

typedef struct spread { pti_threads *t; int64_t *values; uint64_t *taken, *rest; bool changed; } spread;

static void flow_into(spread *p, uint32_t block, const uint64_t *set)
{
    uint64_t *to = p->t->reach + (size_t)block * p->t->words;
    for (uint32_t w = 0; w < p->t->words; w++) {
        p->changed |= (set[w] & ~to[w]) != 0;
        to[w] |= set[w];
    }
}

static bool is_named(const ptx_insn *i, const char *name)
{
    return i->operation && strcmp(i->operation, name) == 0;
}

/* Guarded exits inside the block are its last instruction, as flow.c cuts it. */
static void leave(spread *p, uint32_t block)
{
    pti_threads *t = p->t;
    const pti_block *b = &t->s->flow->blocks[block];
    const ptx_insn *last = &t->s->flow->function->insns[b->end - 1];
    const uint64_t *here = t->reach + (size_t)block * t->words;
    bool known = guard_set(t, b->end - 1, p->values, p->taken);
    bool end = is_named(last, "ret") || is_named(last, "exit") || is_named(last, "trap");
    bool branch = is_named(last, "bra") || is_named(last, "brx");
    for (uint32_t w = 0; w < t->words; w++) {
        p->rest[w] = here[w] & (known && (end || branch) && last->guarded ? ~p->taken[w] : UINT64_MAX);
        p->taken[w] &= here[w];
    }
    for (uint32_t k = 0; k < b->nsuccessors; k++) {
        bool next = b->end < t->s->flow->function->ninsns && b->successors[k] == t->s->flow->block_of[b->end];
        bool falls = next && k + 1 == b->nsuccessors && (!branch || last->guarded);
        flow_into(p, b->successors[k], branch && !falls ? p->taken : p->rest);
    }
}

static bool spread_threads(pti_threads *t)
{
    const pti_flow *flow = t->s->flow;
    t->words = (t->count + 63) / 64;
    t->reach = pti_take(&t->arena, (size_t)flow->nblocks * t->words, sizeof *t->reach);
    spread p = {.t = t, .values = pti_take(&t->arena, t->count, sizeof *p.values),
                .taken = pti_take(&t->arena, t->words, sizeof *p.taken), .rest = pti_take(&t->arena, t->words, sizeof *p.rest)};
    if (!t->reach || !p.values || !p.taken || !p.rest)
        return false;
    for (uint32_t i = 0; flow->nblocks && i < t->count; i++)
        t->reach[i / 64] |= UINT64_C(1) << i % 64;
    do {
        p.changed = false;
        for (uint32_t i = 0; i < flow->nblocks; i++)
            leave(&p, flow->ordered[i]);
    } while (p.changed);
    return true;
}

void pti_threads_at(const pti_threads *t, uint32_t insn, uint64_t *set)
{
    const uint64_t *here = t->reach + (size_t)t->s->flow->block_of[insn] * t->words;
    int64_t values[PTI_MAX_THREADS];
    guard_set(t, insn, values, set);
    for (uint32_t w = 0; w < t->words; w++)
        set[w] &= here[w];
}

pti_status pti_find_threads(pti_symbols *s, pti_threads *out)
{
    *out = (pti_threads){.s = s, .count = s->nthreads};
    ptx_arena_init(&out->arena, SIZE_MAX);
    return s->nthreads == 0 ? PTI_LIMIT : spread_threads(out) ? PTI_OK : PTI_MEMORY;
}

void pti_free_threads(pti_threads *t)
{
    ptx_arena_free(&t->arena);
    *t = (pti_threads){0};
}
