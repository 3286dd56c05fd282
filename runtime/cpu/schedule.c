/* schedule.c - brings mma instructions that multiply the same A together.
 *
 * The meanings of ptx/lib prepare A for the multiplication and keep the A of the last one (mma_fp8.h); what
 * lies between two mma with the same A decides whether it is prepared once or each time. Kernels often have such
 * instructions far apart, because they vary A fastest. So a run of neighbouring mma is put into another order that keeps
 * every dependence between its values: nothing else is moved, no control flow can enter or leave inside, none of them has
 * a guard, and none can fault. That two A are the same value is a hint only; the meaning compares what they hold.
 * Code for traces keeps the order of the PTX.
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/draft.h"

enum { MOST = 256, WORDS = MOST / 64 };

/* A run of drafts. */
typedef struct run {
    cpu_decoder *d;
    uint32_t first, n;
    uint64_t after[MOST][WORDS];       /* which earlier ones of the run each has to follow */
    uint64_t done[WORDS];
} run;

static const cpu_operand *operands_of(const cpu_decoder *d, const cpu_draft *x)
{
    return &d->operands[x->operands];
}

/* The value of A's first register. */
static uint32_t value_of_a(const cpu_decoder *d, const cpu_draft *x)
{
    const cpu_operand *o = operands_of(d, x);
    for (uint32_t n = 0; n < x->n; n++)
        if (o[n].role == CPU_R_USE)
            return o[n].value;
    return CPU_NO_VALUE;
}

static bool touches(const cpu_decoder *d, const cpu_draft *x, uint32_t value)
{
    const cpu_operand *o = operands_of(d, x);
    for (uint32_t n = 0; n < x->n; n++)
        if ((o[n].role == CPU_R_USE || o[n].role == CPU_R_DEF) && o[n].value == value)
            return true;
    return false;
}

/* Does one of them write what the other reads or writes? */
static bool depend(const cpu_decoder *d, const cpu_draft *x, const cpu_draft *y)
{
    const cpu_operand *o = operands_of(d, x), *p = operands_of(d, y);
    for (uint32_t n = 0; n < x->n; n++)
        if (o[n].role == CPU_R_DEF && touches(d, y, o[n].value))
            return true;
    for (uint32_t n = 0; n < y->n; n++)
        if (p[n].role == CPU_R_DEF && touches(d, x, p[n].value))
            return true;
    return false;
}

static bool is_ready(const run *r, uint32_t k)
{
    for (uint32_t w = 0; w < WORDS; w++)
        if (r->after[k][w] & ~r->done[w])
            return false;
    return !(r->done[k / 64] >> k % 64 & 1);
}

/* The first that may come next and has this A; if there is none, the first that may come next. */
static uint32_t choose(const run *r, uint32_t a)
{
    uint32_t any = MOST;
    for (uint32_t k = 0; k < r->n; k++)
        if (is_ready(r, k)) {
            if (value_of_a(r->d, &r->d->drafts[r->first + k]) == a)
                return k;
            if (any == MOST)
                any = k;
        }
    return any;
}

static void reorder(run *r)
{
    cpu_draft ordered[MOST], *drafts = r->d->drafts + r->first;
    memset(r->after, 0, sizeof r->after);
    memset(r->done, 0, sizeof r->done);
    for (uint32_t k = 0; k < r->n; k++)
        for (uint32_t j = 0; j < k; j++)
            if (depend(r->d, &drafts[j], &drafts[k]))
                r->after[k][j / 64] |= 1ull << j % 64;
    uint32_t a = CPU_NO_VALUE;
    for (uint32_t n = 0; n < r->n; n++) {
        uint32_t k = choose(r, a);
        ordered[n] = drafts[k];
        r->done[k / 64] |= 1ull << k % 64;
        a = value_of_a(r->d, &drafts[k]);
    }
    memcpy(drafts, ordered, r->n * sizeof *drafts);
}

static bool may_move(const cpu_decoder *d, const cpu_draft *x)
{
    return x->kind == CPU_K_COLLECTIVE && x->guard == CPU_NO_VALUE && x->member == 255 &&
           strcmp(d->function->insns[x->ptx].form->mnemonic, "mma") == 0;
}

/* Marks the drafts that branches go to. */
static void mark_targets(const cpu_decoder *d, uint8_t *target)
{
    for (uint32_t k = 0; k < d->ndrafts; k++) {
        const cpu_draft *x = &d->drafts[k];
        if (x->kind == CPU_K_BRANCH)
            target[d->starts[x->target]] = 1;
        else if (x->kind == CPU_K_BRX) {
            const cpu_jump_table *t = x->extra;
            for (uint32_t n = 0; n < t->count; n++)
                target[d->starts[t->targets[n]]] = 1;
        }
    }
}

bool cpu_schedule(cpu_decoder *d)
{
    uint8_t *target = calloc(d->ndrafts + 1, 1);
    run *r = malloc(sizeof *r);
    if (target && r) {
        mark_targets(d, target);
        r->d = d;
        for (uint32_t k = 0; k < d->ndrafts; k += r->n ? r->n : 1) {
            r->first = k;
            r->n = 0;
            while (r->n < MOST && k + r->n < d->ndrafts && may_move(d, &d->drafts[k + r->n]) && (r->n == 0 || !target[k + r->n]))
                r->n++;
            if (r->n > 2)
                reorder(r);
        }
    } else
        cpu_decode_fail(d, CPU_NO_MEMORY, "out of memory while decoding");
    bool done = target && r;
    free(target);
    free(r);
    return done;
}
