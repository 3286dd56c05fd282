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

/* Of a value, in a run: the last one that wrote it, and the head of the list of those that have read it since; 0: none, else 1 more. */
typedef struct touch { uint16_t writer, readers; } touch;
typedef struct reader { uint16_t member, next; } reader;

/* A run of drafts. */
typedef struct run {
    cpu_decoder *d;
    uint32_t first, n;
    touch *touches;                    /* of every value; all zero between runs */
    uint32_t a[MOST];                  /* the value of A's first register */
    uint64_t after[MOST][WORDS];       /* which earlier ones of the run each has to follow */
    uint64_t done[WORDS];
    uint32_t nreaders;
    reader readers[MOST * UINT8_MAX];  /* a draft has at most 255 operands */
} run;

static const cpu_operand *operands_of(const cpu_decoder *d, const cpu_draft *x)
{
    return &d->operands[x->operands];
}

static uint32_t value_of_a(const cpu_decoder *d, const cpu_draft *x)
{
    const cpu_operand *o = operands_of(d, x);
    for (uint32_t n = 0; n < x->n; n++)
        if (o[n].role == CPU_R_USE)
            return o[n].value;
    return CPU_NO_VALUE;
}

static void follow(run *r, uint32_t k, uint32_t earlier)
{
    if (earlier != k)                  /* its own operands */
        r->after[k][earlier / 64] |= 1ull << earlier % 64;
}

/* A read follows the last write; a write follows that too, and the reads since. What is further back follows from these. */
static void use(run *r, uint32_t k, uint32_t value)
{
    touch *t = &r->touches[value];
    if (t->writer)
        follow(r, k, t->writer - 1u);
    r->readers[r->nreaders++] = (reader){(uint16_t)k, t->readers};
    t->readers = (uint16_t)r->nreaders;
}

static void define(run *r, uint32_t k, uint32_t value)
{
    touch *t = &r->touches[value];
    if (t->writer)
        follow(r, k, t->writer - 1u);
    for (uint32_t at = t->readers; at; at = r->readers[at - 1].next)
        follow(r, k, r->readers[at - 1].member);
    *t = (touch){(uint16_t)(k + 1), 0};
}

/* All reads of a draft come before its writes. */
static void find_dependences(run *r)
{
    const cpu_draft *drafts = r->d->drafts + r->first;
    memset(r->after, 0, sizeof r->after);
    r->nreaders = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        const cpu_operand *o = operands_of(r->d, &drafts[k]);
        for (uint32_t i = 0; i < drafts[k].n; i++)
            if (o[i].role == CPU_R_USE)
                use(r, k, o[i].value);
        for (uint32_t i = 0; i < drafts[k].n; i++)
            if (o[i].role == CPU_R_DEF)
                define(r, k, o[i].value);
        r->a[k] = value_of_a(r->d, &drafts[k]);
    }
    for (uint32_t k = 0; k < r->n; k++)
        for (uint32_t i = 0; i < drafts[k].n; i++) {
            const cpu_operand *o = &operands_of(r->d, &drafts[k])[i];
            if (o->role == CPU_R_USE || o->role == CPU_R_DEF)
                r->touches[o->value] = (touch){0, 0};
        }
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
            if (r->a[k] == a)
                return k;
            if (any == MOST)
                any = k;
        }
    return any;
}

static void reorder(run *r)
{
    cpu_draft ordered[MOST], *drafts = r->d->drafts + r->first;
    find_dependences(r);
    memset(r->done, 0, sizeof r->done);
    uint32_t a = CPU_NO_VALUE;
    for (uint32_t n = 0; n < r->n; n++) {
        uint32_t k = choose(r, a);
        ordered[n] = drafts[k];
        r->done[k / 64] |= 1ull << k % 64;
        a = r->a[k];
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
    touch *touches = calloc(d->nvalues + 1, sizeof *touches);
    if (target && r && touches) {
        mark_targets(d, target);
        r->d = d;
        r->touches = touches;
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
    bool done = target && r && touches;
    free(target);
    free(r);
    free(touches);
    return done;
}
