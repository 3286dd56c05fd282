/* split.c - which lanes of a warp run next.
 *
 * A warp is a list of splits: (frame, pc, lanes). The next to run is, among those that can, the one of
 * the lowest round, then of the deepest frame, then of the lowest pc. Deepest first finishes calls before
 * their callers go on; lowest pc first lets lanes that went ahead wait where the others come by, which
 * reconverges at the earliest point without knowing the structure of the program. Rounds count
 * quanta that a split used up while others waited, so that a lane that spins on another one's
 * progress does not keep it from running (PTX ISA, "Independent Thread Scheduling" guarantees progress).
 */
#include "runtime/cpu/collective.h"

void cpu_split_add(cpu_warp *w, cpu_frame *frame, uint32_t pc, uint32_t mask, uint32_t round)
{
    /* Joining a ready split at the same place saves a merge later; never more splits than lanes. */
    for (uint32_t k = 0; k < w->nsplits; k++) {
        cpu_split *s = &w->splits[k];
        if (s->frame == frame && s->pc == pc && s->state == CPU_S_READY && k != w->current) {
            s->mask |= mask;
            s->round = s->round < round ? s->round : round;
            return;
        }
    }
    w->splits[w->nsplits++] = (cpu_split){.frame = frame, .pc = pc, .mask = mask, .round = round, .state = CPU_S_READY};
}

void cpu_split_remove(cpu_warp *w, uint32_t index)
{
    uint32_t last = --w->nsplits;
    if (index == last)
        return;
    w->splits[index] = w->splits[last];
    if (w->current == last)
        w->current = index;
}

/* Lanes at the current split's place join it. A split that waits in a collective there will ask again. */
void cpu_split_merge(cpu_warp *w)
{
    for (uint32_t k = 0; k < w->nsplits;) {
        cpu_split *s = &w->splits[w->current], *other = &w->splits[k];
        bool waits = other->state != CPU_S_READY && other->state != CPU_S_SYNC;
        if (k == w->current || waits || other->frame != s->frame || other->pc != s->pc) {
            k++;
            continue;
        }
        s->mask |= other->mask;
        s->round = s->round < other->round ? s->round : other->round;
        cpu_split_remove(w, k);
    }
    if (w->nsplits == 1)
        w->splits[0].round = 0;
}

uint32_t cpu_split_stop(const cpu_warp *w)
{
    const cpu_split *current = &w->splits[w->current];
    uint32_t stop = UINT32_MAX;
    for (uint32_t k = 0; k < w->nsplits; k++) {
        const cpu_split *s = &w->splits[k];
        if (k != w->current && s->frame == current->frame && s->pc > current->pc && s->pc < stop &&
            (s->state == CPU_S_READY || s->state == CPU_S_SYNC))
            stop = s->pc;
    }
    return stop;
}

/* Lanes that exited are waited for no longer. */
void cpu_split_wake(cpu_warp *w)
{
    uint32_t together = 0;
    for (uint32_t k = 0; k < w->nsplits; k++) {
        cpu_split *s = &w->splits[k];
        if (s->state == CPU_S_WARP_SYNC)
            together |= s->mask;
        if (s->state == CPU_S_SYNC && (s->need & w->alive & ~s->mask) == 0)
            s->state = CPU_S_READY;
    }
    for (uint32_t k = 0; k < w->nsplits; k++) {
        cpu_split *s = &w->splits[k];
        if (s->state == CPU_S_WARP_SYNC && (s->need & w->alive & ~together) == 0)
            s->state = CPU_S_READY;
    }
}

static bool runs_before(const cpu_split *a, const cpu_split *b)
{
    if (a->round != b->round)
        return a->round < b->round;
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static uint32_t best_ready(const cpu_warp *w)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < w->nsplits; k++)
        if (w->splits[k].state == CPU_S_READY && (best == UINT32_MAX || runs_before(&w->splits[k], &w->splits[best])))
            best = k;
    return best;
}

bool cpu_split_choose(cpu_warp *w)
{
    cpu_split_wake(w);
    uint32_t best = best_ready(w);
    if (best == UINT32_MAX && cpu_collective_meet(w))
        best = best_ready(w);
    if (best == UINT32_MAX)
        return false;
    w->current = best;
    cpu_split_merge(w);
    return true;
}
