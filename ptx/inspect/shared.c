/* shared.c - see shared.h. */
#include "ptx/inspect/shared_internal.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_MEMBERS = 1 << 22 };

typedef struct finder {
    pti_symbols *s;
    const pti_flow *flow;
    pti_loops *loops;
    const pti_addresses *a;
    pti_shared *out;
    pti_byte_map map;
    pti_walk walk;
    uint32_t *barrier_of;              /* for each instruction: its number among barriers + 1, or 0 */
    uint8_t *is_shared;                /* for each access */
    uint32_t interval;                 /* being mapped */
    pti_barrier *barrier;              /* being judged */
} finder;

/* ------------------------------------------------------------ accesses and barriers */

/* Also a generic address that is no parameter's: it may be one of shared memory, of which nothing is known then. */
static bool is_shared(const finder *f, const pti_access *x)
{
    const pti_base_info *b = &f->a->bases[x->base];
    bool param = b->atom != PTI_NONE && f->s->atoms[b->atom].kind == PTI_ATOM_PARAM;
    return x->space == PTX_SPACE_SHARED || b->space == PTX_SPACE_SHARED ||
           (x->space == PTX_SPACE_GENERIC && b->space == PTX_SPACE_GENERIC && !param);
}

/* An access whose place in shared memory is known for each thread. */
static bool is_known(const finder *f, const pti_access *x)
{
    uint32_t atom = f->a->bases[x->base].atom;
    return x->computed && atom != PTI_NONE && f->s->atoms[atom].kind == PTI_ATOM_SYMBOL && f->s->atoms[atom].variable->space == PTX_SPACE_SHARED;
}

static bool is_operation(const ptx_insn *i, const char *name)
{
    return i->operation && strcmp(i->operation, name) == 0;
}

/* All threads of the block wait there: no count, a constant number, no guard. */
static bool is_full_barrier(const ptx_insn *i)
{
    if (!is_operation(i, "bar") || i->guarded)
        return false;
    const char *op = isa_choice(i->form, &i->tuple, "op");
    uint32_t numbers = 0;
    for (uint32_t o = 0; o < i->noperands; o++) {
        if (i->operands[o].kind != ISA_OPERAND_SRC)
            continue;
        if (i->operands[o].values[0].kind != PTX_VALUE_IMM)
            return false;
        numbers++;
    }
    return op && strcmp(op, "arrive") != 0 && numbers == 1;
}

/* Synchronisation that is not understood; NULL for none. */
static const char *other_synchronisation(const ptx_insn *i)
{
    if (is_operation(i, "bar") && !is_full_barrier(i))
        return "it has barriers of parts of the block";
    if (is_operation(i, "mbarrier") || is_operation(i, "cp_async_bulk"))
        return "it synchronises by mbarrier";
    if (is_operation(i, "barrier_cluster"))
        return "it has cluster barriers";
    if (is_operation(i, "call"))
        return "it calls functions";
    return NULL;
}

static bool collect(finder *f)
{
    const ptx_function *fn = f->flow->function;
    pti_shared *out = f->out;
    f->barrier_of = calloc((size_t)fn->ninsns + 1, sizeof *f->barrier_of);
    f->is_shared = calloc((size_t)f->a->count + 1, 1);
    if (!f->barrier_of || !f->is_shared)
        return false;
    for (uint32_t i = 0; i < f->a->count; i++) {
        f->is_shared[i] = is_shared(f, &f->a->list[i]);
        out->naccesses += f->is_shared[i];
        out->nopen += f->is_shared[i] && !is_known(f, &f->a->list[i]);
    }
    for (uint32_t i = 0; i < fn->ninsns; i++) {
        if (is_full_barrier(&fn->insns[i]))
            f->barrier_of[i] = ++out->nbarriers;
        else if (!out->why_not)
            out->why_not = other_synchronisation(&fn->insns[i]);
    }
    out->barriers = pti_take(&out->arena, out->nbarriers, sizeof *out->barriers);
    for (uint32_t i = 0; out->barriers && i < fn->ninsns; i++)
        if (f->barrier_of[i])
            out->barriers[f->barrier_of[i] - 1] = (pti_barrier){i, PTI_UNDECIDED, PTI_NONE, PTI_NONE};
    f->walk = (pti_walk){.flow = f->flow, .a = f->a, .loops = f->loops, .barrier_of = f->barrier_of, .is_shared = f->is_shared};
    return out->barriers && pti_open_walk(&f->walk);
}

/* ------------------------------------------------------------ intervals */

static int compare_members(const void *a, const void *b)
{
    const pti_member *x = a, *y = b;
    if (x->access != y->access)
        return x->access < y->access ? -1 : 1;
    return (int)x->way - (int)y->way;
}

static bool find_intervals(finder *f)
{
    pti_shared *out = f->out;
    pti_walk *w = &f->walk;
    uint32_t room = 0, used = 0;
    out->intervals = pti_take(&out->arena, (size_t)out->nbarriers + 1, sizeof *out->intervals);
    if (!out->intervals)
        return false;
    for (uint32_t i = 0; i <= out->nbarriers && f->flow->nblocks; i++) {
        pti_walk_from(w, i ? out->barriers[i - 1].insn : PTI_NONE, false);
        if (w->walked > PTI_MOST_WALK || used + w->nfound > MOST_MEMBERS) {
            out->why_not = "it has too many barriers";
            return true;
        }
        if (used + w->nfound > room) {
            uint32_t more = used + w->nfound + room;
            void *moved = ptx_arena_resize(&out->arena, out->members, room * sizeof *out->members, more * sizeof *out->members);
            if (!moved)
                return false;
            out->members = moved;
            room = more;
        }
        qsort(w->found, w->nfound, sizeof *w->found, compare_members);
        if (w->nfound)
            memcpy(out->members + used, w->found, w->nfound * sizeof *w->found);
        out->intervals[out->nintervals++] = (pti_interval){.barrier = i ? out->barriers[i - 1].insn : PTI_NONE, .first = used,
                                                           .count = w->nfound};
        used += w->nfound;
    }
    return true;
}

/* ------------------------------------------------------------ turns of a barrier's loop */

/* How many turns of its loop are different for some accesses: the more of what each says, since periods are powers of two. */
static uint32_t turns_of(const finder *f, const pti_member *members, uint32_t n)
{
    uint32_t turns = 1;
    for (uint32_t i = 0; i < n; i++) {
        const pti_access *x = &f->a->list[members[i].access];
        bool related = members[i].way == PTI_SAME_TURN || members[i].way == PTI_NEXT_TURN;
        uint32_t more = related && is_known(f, x) ? pti_turns_of(f->loops, x->offset, members[i].loop) : 1;
        turns = more > turns ? more : turns;
    }
    return turns;
}

/* Enters an access at the turn of the barrier's loop, or tries it. */
static void map_member(finder *f, const pti_member *m, int64_t turn, bool back, bool entering, pti_on_conflict found)
{
    pti_given given = {PTI_NONE, 0, false};
    if (!is_known(f, &f->a->list[m->access]))
        return;
    if (m->way != PTI_ANY_TURN)
        given = (pti_given){m->loop, m->way == PTI_FIRST_TURN ? 0 : m->way == PTI_SAME_TURN ? turn : back ? turn - 1 : turn + 1,
                            m->way == PTI_FIRST_TURN};
    const pti_loop *l = given.loop == PTI_NONE ? NULL : &f->loops->list[given.loop];
    if (given.turn >= 0 && !(l && l->last && given.turn > l->most))
        pti_map_access(&f->map, m->access, &given, entering, found, f);
}

/* ------------------------------------------------------------ what they touch */

static bool add_conflict(void *user, uint32_t before, uint32_t behind, int64_t byte, uint32_t warp_a, uint32_t warp_b)
{
    finder *f = user;
    pti_shared *out = f->out;
    pti_interval *in = &out->intervals[f->interval];
    for (uint32_t i = 0; i < in->nconflicts && i < out->nconflicts; i++) {
        const pti_conflict *c = &out->conflicts[out->nconflicts - 1 - i];
        if (c->a == before && c->b == behind)
            return true;
    }
    if (out->nconflicts == PTI_MAX_CONFLICTS) {
        out->more_conflicts = true;
        return false;
    }
    in->nconflicts++;
    bool both = f->a->list[before].writes && f->a->list[behind].writes;
    out->conflicts[out->nconflicts++] = (pti_conflict){f->interval, before, behind, byte, warp_a, warp_b, both,
                                                          f->map.uncertain[before] || f->map.uncertain[behind]};
    return true;
}

static void find_ranges(finder *f, pti_interval *in, const pti_member *members)
{
    for (uint32_t i = 0; i < in->count; i++) {
        const pti_access *x = &f->a->list[members[i].access];
        if (i && members[i].access == members[i - 1].access)
            continue;
        in->nreads += x->reads;
        in->nwrites += x->writes;
        in->nopen += !is_known(f, x);
        pti_member any = {members[i].access, members[i].way == PTI_FIRST_TURN ? PTI_FIRST_TURN : PTI_ANY_TURN, members[i].loop};
        map_member(f, &any, 0, false, true, NULL);
    }
    pti_ranges_of_map(&f->map, false, &in->read);
    pti_ranges_of_map(&f->map, true, &in->written);
    pti_clear_map(&f->map);
}

static void map_interval(finder *f, uint32_t number)
{
    pti_interval *in = &f->out->intervals[number];
    const pti_member *members = f->out->members + in->first;
    f->interval = number;
    find_ranges(f, in, members);
    uint32_t turns = f->out->decided ? turns_of(f, members, in->count) : 0;
    for (uint32_t turn = 0; turn < turns && !pti_map_is_spent(&f->map); turn++) {
        for (uint32_t i = 0; i < in->count; i++)
            map_member(f, &members[i], turn, false, true, add_conflict);
        pti_clear_map(&f->map);
    }
}

static bool first_conflict(void *user, uint32_t before, uint32_t behind, int64_t byte, uint32_t warp_a, uint32_t warp_b)
{
    finder *f = user;
    (void)byte, (void)warp_a, (void)warp_b;
    f->barrier->verdict = PTI_NEEDED;
    f->barrier->before = before;
    f->barrier->behind = behind;
    return false;
}

static void judge(finder *f, uint32_t number)
{
    pti_barrier *b = f->barrier = &f->out->barriers[number];
    const pti_interval *in = &f->out->intervals[number + 1];
    const pti_member *behind = f->out->members + in->first, *before = f->walk.found;
    bool open = in->nopen > 0;
    pti_walk_from(&f->walk, b->insn, true);
    for (uint32_t i = 0; i < f->walk.nfound; i++)
        open |= !is_known(f, &f->a->list[before[i].access]);
    uint32_t turns = turns_of(f, behind, in->count), more = turns_of(f, before, f->walk.nfound);
    turns = (more > turns ? more : turns) + 1;         /* in the first turn there is none before */
    for (uint32_t turn = 0; turn < turns && b->verdict != PTI_NEEDED && !pti_map_is_spent(&f->map); turn++) {
        for (uint32_t i = 0; i < f->walk.nfound; i++)
            map_member(f, &before[i], turn, true, true, NULL);
        for (uint32_t i = 0; i < in->count && b->verdict != PTI_NEEDED; i++)
            map_member(f, &behind[i], turn, false, false, first_conflict);
        pti_clear_map(&f->map);
    }
    if (b->verdict != PTI_NEEDED && !open && !pti_map_is_spent(&f->map) && f->walk.walked <= PTI_MOST_WALK)
        b->verdict = PTI_REDUNDANT;
}

/* ------------------------------------------------------------ all */

static bool find_overruns(finder *f)
{
    pti_shared *out = f->out;
    out->overruns = pti_take(&out->arena, out->naccesses, sizeof *out->overruns);
    for (uint32_t i = 0; out->overruns && i < f->a->count; i++) {
        const pti_access *x = &f->a->list[i];
        if (!f->is_shared[i] || !is_known(f, x) || x->low == x->high)
            continue;
        const ptx_variable *v = f->s->atoms[f->a->bases[x->base].atom].variable;
        if (v->size && (x->low < 0 || (uint64_t)x->high > v->size))
            out->overruns[out->noverruns++] = (pti_overrun){i, x->low, x->high, v->size, x->uncertain};
    }
    return out->overruns != NULL;
}

/* The bytes that are touched at all: dynamic shared memory has no size of its own. */
static int64_t highest_byte(const finder *f)
{
    int64_t high = (int64_t)f->out->size;
    for (uint32_t i = 0; i < f->a->count; i++)
        if (f->is_shared[i] && is_known(f, &f->a->list[i])) {
            int64_t end = pti_shared_offset(f->s, f->a, &f->a->list[i]) + f->a->list[i].high;
            high = end > high ? end : high;
        }
    return high;
}

static void decide(finder *f)
{
    pti_shared *out = f->out;
    if (!out->why_not && !f->loops)
        out->why_not = "the block has more than 1024 threads";
    if (!out->why_not && !f->s->launch.block[0])
        out->why_not = "the block is not known";
    if (!out->why_not && f->s->nthreads <= 32)
        out->why_not = "the block is one warp";
    if (!out->why_not && highest_byte(f) > MOST_BYTES)
        out->why_not = "it is too large";
    out->decided = !out->why_not;
}

static bool map_all(finder *f)
{
    pti_shared *out = f->out;
    out->conflicts = pti_take(&out->arena, PTI_MAX_CONFLICTS, sizeof *out->conflicts);
    f->map = (pti_byte_map){.s = f->s, .loops = f->loops, .a = f->a, .size = highest_byte(f)};
    if (!out->conflicts)
        return false;
    if (!f->loops || f->map.size > MOST_BYTES)
        return true;
    if (!pti_open_map(&f->map))
        return false;
    for (uint32_t i = 0; i < out->nintervals; i++)
        map_interval(f, i);
    for (uint32_t i = 0; out->decided && i < out->nbarriers; i++)
        judge(f, i);
    if (out->decided && pti_map_is_spent(&f->map)) {
        out->decided = false;
        out->why_not = "it takes too long";
    }
    return true;
}

static void free_finder(finder *f)
{
    pti_close_map(&f->map);
    pti_close_walk(&f->walk);
    free(f->barrier_of);
    free(f->is_shared);
}

pti_status pti_find_shared(const ptx_module *m, pti_symbols *s, pti_loops *loops, const pti_addresses *a, pti_shared *out)
{
    *out = (pti_shared){.size = m->shared_size};
    ptx_arena_init(&out->arena, SIZE_MAX);
    finder f = {.s = s, .flow = s->flow, .loops = loops, .a = a, .out = out};
    bool done = collect(&f) && find_intervals(&f) && find_overruns(&f);
    if (done) {
        decide(&f);
        done = map_all(&f);
    }
    free_finder(&f);
    if (out->members && !ptx_arena_adopt(&out->arena, out->members)) {
        free(out->members);
        out->members = NULL;
        done = false;
    }
    return done ? PTI_OK : PTI_MEMORY;
}

void pti_free_shared(pti_shared *s)
{
    ptx_arena_free(&s->arena);
    *s = (pti_shared){0};
}
