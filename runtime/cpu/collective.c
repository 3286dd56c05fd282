/* collective.c - instructions that read other lanes of their warp: shfl, vote, match, redux, elect, mma, ….
 *
 * "Wait until all non-exited threads corresponding to membermask have executed shfl.sync with the same
 * qualifiers and same membermask value" (PTX ISA, "shfl.sync"; the others likewise): the lanes need not stand at
 * the same instruction. Usually they do, because splits merge; compilers that unroll loops make the other case.
 */
#include "runtime/cpu/collective.h"

typedef uint32_t word __attribute__((may_alias));

uint32_t cpu_collective_members(const char *r, const cpu_insn *i, uint32_t mask, uint32_t alive)
{
    if (i->member == 255)
        return alive;
    const word *m = (const word *)(r + i->o[i->member]);
    uint32_t all = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        all |= m[__builtin_ctz(rest)];
    return all & alive;
}

void cpu_collective_run(const cpu_warp *w, char *r, const cpu_insn *i, uint32_t mask)
{
    if (mask == UINT32_MAX) {
        i->fn.handler(r, i->o);
        return;
    }
    /* Lanes that do not take part hold anything: the meaning must not count them. */
    if (i->member != 255) {
        const word *from = (const word *)(r + i->o[i->member]);
        word *to = (word *)(r + CPU_MEMBER_SLOT);
        for (uint32_t k = 0; k < CPU_LANES; k++)
            to[k] = from[k] & mask;
    }
    const uint32_t *aside = i->o + i->n;
    *(word *)(r + CPU_EXEC_SLOT) = mask;
    i->fn.handler(r, aside);
    for (uint32_t k = 0; k < i->ndst; k++)
        w->ops->blend[i->dst[k].class](r + i->o[i->dst[k].operand], r + aside[i->dst[k].operand], mask);
    *(word *)(r + CPU_EXEC_SLOT) = w->mask;
}

/* ------------------------------------------------------------ lanes at several instructions */

enum { MOST_OPERANDS = 12 };

static const cpu_insn *insn_of(const cpu_split *s)
{
    return &s->frame->code->insns[s->pc];
}

/* Can these two splits meet: the same operation, the same member mask? */
static bool same_collective(const cpu_warp *w, const cpu_split *a, const cpu_split *b)
{
    const cpu_insn *i = insn_of(a), *j = insn_of(b);
    return b->state == CPU_S_SYNC && i->kind == CPU_K_COLLECTIVE && j->kind == CPU_K_COLLECTIVE && i->member != 255 &&
           i->fn.handler == j->fn.handler && i->n <= MOST_OPERANDS &&
           cpu_collective_members(a->frame->r, i, a->mask, w->alive) == cpu_collective_members(b->frame->r, j, b->mask, w->alive);
}

/* Runs the operation once, on operands put together from all splits of `set` (bits: numbers of splits). */
static void run_together(cpu_warp *w, uint32_t set, uint32_t lanes)
{
    _Alignas(64) char file[64 + MOST_OPERANDS * 256];
    uint32_t o[MOST_OPERANDS];
    const cpu_insn *leader = insn_of(&w->splits[__builtin_ctz(set)]);
    for (uint32_t n = 0; n < leader->n; n++) {
        const cpu_operand_class *c = (const cpu_operand_class *)leader->extra + n;
        o[n] = c->exec ? 0 : c->raw ? leader->o[n] : 64 + n * 256;
        for (uint32_t rest = set; rest && c->use; rest &= rest - 1) {
            const cpu_split *s = &w->splits[__builtin_ctz(rest)];
            w->ops->blend[c->class](file + o[n], s->frame->r + insn_of(s)->o[n], s->mask);
        }
    }
    *(word *)file = lanes;
    word *members = (word *)(file + o[leader->member]);
    for (uint32_t k = 0; k < CPU_LANES; k++)
        members[k] &= lanes;
    leader->fn.handler(file, o);
    for (uint32_t rest = set; rest; rest &= rest - 1) {
        cpu_split *s = &w->splits[__builtin_ctz(rest)];
        const cpu_insn *i = insn_of(s);
        for (uint32_t k = 0; k < i->ndst; k++)
            w->ops->blend[i->dst[k].class](s->frame->r + i->o[i->dst[k].operand], file + o[i->dst[k].operand], s->mask);
        if (w->context->worker->job->launch->trace)
            cpu_trace(w, s->frame, i, s->mask);
        s->state = CPU_S_READY;
        s->pc++;
    }
}

bool cpu_collective_meet(cpu_warp *w)
{
    for (uint32_t a = 0; a < w->nsplits; a++) {
        const cpu_split *s = &w->splits[a];
        uint32_t set = 0, lanes = 0;
        if (s->state != CPU_S_SYNC)
            continue;
        for (uint32_t b = 0; b < w->nsplits; b++)
            if (same_collective(w, s, &w->splits[b])) {
                set |= 1u << b;
                lanes |= w->splits[b].mask;
            }
        if (set && (cpu_collective_members(s->frame->r, insn_of(s), s->mask, w->alive) & ~lanes) == 0) {
            run_together(w, set, lanes);
            return true;
        }
    }
    return false;
}
