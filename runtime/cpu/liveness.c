/* liveness.c - where each value is live, as one interval of positions.
 *
 * Exact liveness over basic blocks for the values that more than one block uses (bit sets over those only;
 * most values live inside one block), widened to one interval of the linear order. A definition under a guard
 * does not end liveness above it: lanes whose guard is false keep the old value.
 *
 * What is live at the entry may be read without having been written. PTX leaves its value open; here it is 0, on every
 * device, so that a program's result never depends on what used a slot before.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/draft.h"

typedef struct block { uint32_t first, end, nsuccessors; uint32_t successors[2]; const cpu_jump_table *table; } block;

typedef struct flow {
    cpu_decoder *d;
    uint32_t nblocks, nshared, words;
    block *blocks;
    uint32_t *block_of;            /* by draft, for leaders */
    uint32_t *shared;              /* by value: number among shared values, or CPU_NO_VALUE */
    uint32_t *values;              /* the reverse */
    uint64_t *gen, *kill, *in, *out;
} flow;

static void touch(cpu_value *v, uint32_t position)
{
    if (position < v->first)
        v->first = position;
    if (position > v->last)
        v->last = position;
}

static bool ends_block(const cpu_draft *x)
{
    return x->kind == CPU_K_BRANCH || x->kind == CPU_K_BRX || x->kind == CPU_K_RET || x->kind == CPU_K_EXIT;
}

/* PTX targets become draft numbers. */
static void resolve_targets(cpu_decoder *d)
{
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        cpu_draft *x = &d->drafts[k];
        if (x->kind == CPU_K_BRANCH)
            x->target = d->starts[x->target];
        else if (x->kind == CPU_K_BRX) {
            const cpu_jump_table *t = x->extra;
            for (uint32_t n = 0; n < t->count; n++)
                ((uint32_t *)t->targets)[n] = d->starts[t->targets[n]];
        }
    }
}

static bool find_blocks(flow *f)
{
    cpu_decoder *d = f->d;
    uint32_t n = d->ndrafts;
    uint8_t *leader = calloc(n + 1, 1);
    f->block_of = malloc((n + 1) * sizeof *f->block_of);
    if (!leader || !f->block_of) {
        free(leader);
        return false;
    }
    leader[0] = 1;
    for (uint32_t k = 0; k < n; k++) {
        const cpu_draft *x = &d->drafts[k];
        if (ends_block(x))
            leader[k + 1] = 1;
        if (x->kind == CPU_K_BRANCH)
            leader[x->target] = 1;
        else if (x->kind == CPU_K_BRX) {
            const cpu_jump_table *t = x->extra;
            for (uint32_t j = 0; j < t->count; j++)
                leader[t->targets[j]] = 1;
        }
    }
    for (uint32_t k = 0; k < n; k++)
        f->nblocks += leader[k];
    f->blocks = calloc(f->nblocks + 1, sizeof *f->blocks);
    if (f->blocks) {
        uint32_t b = 0;
        for (uint32_t k = 0; k < n; k++) {
            if (leader[k])
                f->blocks[b++].first = k;
            f->blocks[b - 1].end = k + 1;
            f->block_of[k] = b - 1;
        }
        f->block_of[n] = CPU_NO_VALUE;
    }
    free(leader);
    return f->blocks != NULL;
}

static void find_successors(flow *f)
{
    const cpu_decoder *d = f->d;
    for (uint32_t b = 0; b < f->nblocks; b++) {
        block *x = &f->blocks[b];
        const cpu_draft *last = &d->drafts[x->end - 1];
        bool falls = !ends_block(last) || last->guard != CPU_NO_VALUE;
        if (falls && x->end < d->ndrafts)
            x->successors[x->nsuccessors++] = f->block_of[x->end];
        if (last->kind == CPU_K_BRANCH && last->target < d->ndrafts)
            x->successors[x->nsuccessors++] = f->block_of[last->target];
        if (last->kind == CPU_K_BRX)
            x->table = last->extra;
    }
}

/* Which values a block reads before it certainly wrote them. */
static bool find_shared(flow *f)
{
    cpu_decoder *d = f->d;
    uint32_t *written = malloc((d->nvalues + 1) * sizeof *written);
    f->shared = malloc((d->nvalues + 1) * sizeof *f->shared);
    f->values = malloc((d->nvalues + 1) * sizeof *f->values);
    if (!written || !f->shared || !f->values) {
        free(written);
        return false;
    }
    memset(written, 0xff, d->nvalues * sizeof *written);
    memset(f->shared, 0xff, d->nvalues * sizeof *f->shared);
    for (uint32_t b = 0; b < f->nblocks; b++)
        for (uint32_t k = f->blocks[b].first; k < f->blocks[b].end; k++) {
            const cpu_draft *x = &d->drafts[k];
            const cpu_operand *o = &d->operands[x->operands];
            for (uint32_t n = 0; n <= x->n; n++) {
                uint32_t v = n == x->n ? x->guard : o[n].role == CPU_R_USE ? o[n].value : CPU_NO_VALUE;
                if (v != CPU_NO_VALUE && d->values[v].kind == CPU_V_REGISTER && written[v] != b && f->shared[v] == CPU_NO_VALUE) {
                    f->shared[v] = f->nshared;
                    f->values[f->nshared++] = v;
                }
            }
            for (uint32_t n = 0; n < x->n && x->guard == CPU_NO_VALUE; n++)
                if (o[n].role == CPU_R_DEF)
                    written[o[n].value] = b;
        }
    free(written);
    return true;
}

static void gen_and_kill(flow *f)
{
    const cpu_decoder *d = f->d;
    for (uint32_t b = 0; b < f->nblocks; b++) {
        uint64_t *gen = f->gen + (size_t)b * f->words, *kill = f->kill + (size_t)b * f->words;
        for (uint32_t k = f->blocks[b].first; k < f->blocks[b].end; k++) {
            const cpu_draft *x = &d->drafts[k];
            const cpu_operand *o = &d->operands[x->operands];
            for (uint32_t n = 0; n <= x->n; n++) {
                uint32_t v = n == x->n ? x->guard : o[n].role == CPU_R_USE ? o[n].value : CPU_NO_VALUE;
                uint32_t s = v == CPU_NO_VALUE ? CPU_NO_VALUE : f->shared[v];
                if (s != CPU_NO_VALUE && !(kill[s / 64] >> s % 64 & 1))
                    gen[s / 64] |= 1ull << s % 64;
            }
            for (uint32_t n = 0; n < x->n && x->guard == CPU_NO_VALUE; n++)
                if (o[n].role == CPU_R_DEF && f->shared[o[n].value] != CPU_NO_VALUE)
                    kill[f->shared[o[n].value] / 64] |= 1ull << f->shared[o[n].value] % 64;
        }
    }
}

static void join(uint64_t *out, const flow *f, uint32_t successor)
{
    const uint64_t *in = f->in + (size_t)successor * f->words;
    for (uint32_t k = 0; k < f->words; k++)
        out[k] |= in[k];
}

static void solve(flow *f)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t b = f->nblocks; b-- > 0;) {
            const block *x = &f->blocks[b];
            uint64_t *in = f->in + (size_t)b * f->words, *out = f->out + (size_t)b * f->words;
            const uint64_t *gen = f->gen + (size_t)b * f->words, *kill = f->kill + (size_t)b * f->words;
            for (uint32_t k = 0; k < x->nsuccessors; k++)
                join(out, f, x->successors[k]);
            for (uint32_t k = 0; x->table && k < x->table->count; k++)
                if (x->table->targets[k] < f->d->ndrafts)
                    join(out, f, f->block_of[x->table->targets[k]]);
            for (uint32_t k = 0; k < f->words; k++) {
                uint64_t v = gen[k] | (out[k] & ~kill[k]);
                changed |= v != in[k];
                in[k] = v;
            }
        }
    }
}

static void touch_set(flow *f, const uint64_t *set, uint32_t position)
{
    for (uint32_t k = 0; k < f->words; k++)
        for (uint64_t rest = set[k]; rest; rest &= rest - 1)
            touch(&f->d->values[f->values[k * 64 + (uint32_t)__builtin_ctzll(rest)]], position);
}

static void mark_unwritten(flow *f)
{
    for (uint32_t k = 0; k < f->nshared; k++)
        if (f->in[k / 64] >> k % 64 & 1)
            f->d->values[f->values[k]].unwritten = true;
}

static bool touch_shared(flow *f)
{
    f->words = (f->nshared + 63) / 64;
    size_t size = (size_t)f->words * f->nblocks;
    if (size == 0)
        return true;
    uint64_t *sets = calloc(size * 4, sizeof *sets);
    if (!sets)
        return false;
    f->gen = sets;
    f->kill = sets + size;
    f->in = sets + 2 * size;
    f->out = sets + 3 * size;
    gen_and_kill(f);
    solve(f);
    mark_unwritten(f);
    for (uint32_t b = 0; b < f->nblocks; b++) {
        touch_set(f, f->in + (size_t)b * f->words, 2 * f->blocks[b].first);
        touch_set(f, f->out + (size_t)b * f->words, 2 * (f->blocks[b].end - 1) + 1);
    }
    free(sets);
    return true;
}

static void touch_operands(cpu_decoder *d)
{
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        const cpu_draft *x = &d->drafts[k];
        const cpu_operand *o = &d->operands[x->operands];
        if (x->guard != CPU_NO_VALUE)
            touch(&d->values[x->guard], 2 * k);
        for (uint32_t n = 0; n < x->n; n++)
            if (o[n].role == CPU_R_USE || o[n].role == CPU_R_DEF)
                touch(&d->values[o[n].value], 2 * k + (o[n].role == CPU_R_DEF));
    }
    /* Registers in which parameters and results are passed stay put. */
    for (uint32_t k = 0; k < d->code->nparams + d->code->nreturns; k++) {
        const cpu_passed *p = k < d->code->nparams ? &d->code->params[k] : &d->code->returns[k - d->code->nparams];
        if (p->in_register) {
            touch(&d->values[p->index], 0);
            touch(&d->values[p->index], 2 * d->ndrafts);
            d->values[p->index].unwritten = k >= d->code->nparams;
        }
    }
}

bool cpu_liveness(cpu_decoder *d)
{
    flow f = {.d = d};
    resolve_targets(d);
    touch_operands(d);
    bool done = d->ndrafts == 0 || find_blocks(&f);
    if (done && f.nblocks) {
        find_successors(&f);
        done = find_shared(&f) && touch_shared(&f);
    }
    free(f.blocks);
    free(f.block_of);
    free(f.shared);
    free(f.values);
    if (!done)
        cpu_decode_fail(d, CPU_NO_MEMORY, "out of memory while decoding");
    return done;
}
