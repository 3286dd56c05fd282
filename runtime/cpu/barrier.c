/* barrier.c - barriers of a block (PTX ISA, "bar, barrier", "barrier.cluster").
 *
 * A barrier keeps the lanes that arrived, by warp. A warp arrives as a whole, when all of its lanes that have not exited are there,
 * and counts as 32 threads, since counts are multiples of the warp size. A barrier is complete when as many threads as it counts have
 * arrived; or when every lane that has not exited has, and the block has as many threads as it counts: nobody waits for exited threads.
 */
#include <string.h>
#include "runtime/cpu/internal.h"

typedef uint32_t word __attribute__((may_alias));

static uint32_t threads_arrived(const cpu_context *c, const cpu_barrier_state *b)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->nwarps; k++)
        n += b->arrived[k] && !(c->warps[k].alive & ~b->arrived[k]) ? CPU_LANES : 0;
    return n;
}

static bool is_complete(const cpu_context *c, const cpu_barrier_state *b)
{
    if (b->expected && threads_arrived(c, b) >= b->expected)
        return true;
    for (uint32_t k = 0; k < c->nwarps; k++)
        if (c->warps[k].alive & ~b->arrived[k])
            return false;
    return b->expected <= c->nwarps * CPU_LANES;
}

/* Writes the result of a reduction in the lanes of a waiting split. */
static void deliver(cpu_warp *w, const cpu_split *s, const cpu_barrier_state *b)
{
    const cpu_insn *i = &s->frame->code->insns[s->pc - 1];
    const cpu_barrier_insn *info = i->extra;
    char *to = s->frame->r + i->o[3];
    if (info->op == CPU_BAR_POPC) {
        for (uint32_t k = 0; k < CPU_LANES; k++)
            ((word *)w->scratch)[k] = b->popc;
        w->ops->blend[CPU_CLASS_32](to, w->scratch, s->mask);
    } else if (info->op == CPU_BAR_AND || info->op == CPU_BAR_OR) {
        bool set = info->op == CPU_BAR_AND ? b->all : b->any;
        *(word *)to = set ? *(word *)to | s->mask : *(word *)to & ~s->mask;
    }
    if (w->context->worker->job->launch->trace && i->ndst)
        cpu_trace(w, s->frame, i, s->mask);
}

static void complete(cpu_context *c, uint32_t id)
{
    cpu_barrier_state *b = &c->barriers[id];
    for (uint32_t k = 0; k < c->nwarps; k++) {
        cpu_warp *w = &c->warps[k];
        for (uint32_t n = 0; n < w->nsplits; n++) {
            cpu_split *s = &w->splits[n];
            if (s->state != CPU_S_BARRIER || s->barrier != id)
                continue;
            deliver(w, s, b);
            s->state = CPU_S_READY;
            s->round = 0;
            if (w->state == CPU_WARP_BLOCKED)
                w->state = CPU_WARP_READY;
        }
    }
    memset(b, 0, sizeof *b);
    b->all = 1;
    c->barriers_used &= ~(1u << id);
    c->progress++;
}

void cpu_barriers_recheck(cpu_context *c)
{
    for (uint32_t used = c->barriers_used; used; used &= used - 1) {
        uint32_t id = (uint32_t)__builtin_ctz(used);
        if (is_complete(c, &c->barriers[id]))
            complete(c, id);
    }
}

/* A scalar operand: the same in all executing lanes, or it is an error that the first lane's value hides. */
static uint32_t scalar(const cpu_split *s, uint32_t offset)
{
    return ((const word *)(s->frame->r + offset))[__builtin_ctz(s->mask)];
}

static void count_predicates(cpu_barrier_state *b, const cpu_split *s, const cpu_insn *i, bool negated)
{
    uint32_t p = *(const word *)(s->frame->r + i->o[2]);
    p = (negated ? ~p : p) & s->mask;
    b->popc += (uint32_t)__builtin_popcount(p);
    b->any |= p != 0;
    b->all &= p == s->mask;
}

void cpu_barrier_arrive(cpu_warp *w, const cpu_insn *i)
{
    const cpu_barrier_insn *info = i->extra;
    cpu_split *s = &w->splits[w->current];
    cpu_context *c = w->context;
    bool cluster = info->op == CPU_BAR_CLUSTER_ARRIVE || info->op == CPU_BAR_CLUSTER_WAIT;
    uint32_t id = cluster ? CPU_CLUSTER_BARRIER : info->has_id ? scalar(s, i->o[0]) : 0;
    if (!cluster && id >= CPU_CLUSTER_BARRIER)
        cpu_raise(w, CPU_FAULT_DEADLOCK, (uint32_t)__builtin_ctz(s->mask), 0, "there is no barrier %u", id);
    cpu_barrier_state *b = &c->barriers[id];
    if (info->op == CPU_BAR_CLUSTER_WAIT) {
        /* Completion cleared the marks of this warp's lanes. */
        if (b->arrived[w->index] & s->mask) {
            s->state = CPU_S_BARRIER;
            s->barrier = (uint8_t)id;
        }
        return;
    }
    uint32_t expected = info->has_count ? scalar(s, i->o[1]) : 0;
    if (expected % CPU_LANES)
        cpu_raise(w, CPU_FAULT_DEADLOCK, (uint32_t)__builtin_ctz(s->mask), 0,
                  "the thread count %u of a barrier is not a multiple of the warp size", expected);
    if (c->barriers_used >> id & 1 && b->expected != expected)
        cpu_raise(w, CPU_FAULT_DEADLOCK, (uint32_t)__builtin_ctz(s->mask), 0,
                  "barrier %u is waited for with different thread counts, %u and %u", id, b->expected, expected);
    b->expected = expected;
    b->arrived[w->index] |= s->mask;
    c->barriers_used |= 1u << id;
    if (info->op == CPU_BAR_POPC || info->op == CPU_BAR_AND || info->op == CPU_BAR_OR)
        count_predicates(b, s, i, info->negated);
    if (info->op != CPU_BAR_ARRIVE && info->op != CPU_BAR_CLUSTER_ARRIVE) {
        s->state = CPU_S_BARRIER;
        s->barrier = (uint8_t)id;
    }
    if (is_complete(c, b))
        complete(c, id);
}
