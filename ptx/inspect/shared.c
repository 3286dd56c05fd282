/* shared.c - see shared.h. */
#include "ptx/inspect/shared_internal.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_MEMBERS = 1 << 22, MOST_WALK = 1 << 26 };

typedef struct finder {
    pti_symbols *s;
    const pti_flow *flow;
    const pti_addresses *a;
    pti_shared *out;
    pti_byte_map map;
    uint32_t *barrier_of;              /* for each instruction: its number among barriers + 1, or 0 */
    uint8_t *is_shared;                /* for each access */
    uint32_t *seen_block, *seen_access, round;
    uint32_t *stack;
    uint32_t *found;                   /* accesses of one walk */
    uint32_t nfound;
    uint64_t walked;
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
    f->seen_access = calloc((size_t)f->a->count + 1, sizeof(uint32_t));
    f->found = calloc((size_t)f->a->count + 1, sizeof(uint32_t));
    f->seen_block = calloc((size_t)f->flow->nblocks + 1, sizeof(uint32_t));
    f->stack = calloc((size_t)f->flow->nblocks + 1, sizeof(uint32_t));
    if (!f->barrier_of || !f->is_shared || !f->seen_access || !f->found || !f->seen_block || !f->stack)
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
    return out->barriers != NULL;
}

/* ------------------------------------------------------------ walks between barriers */

static void take_accesses(finder *f, uint32_t insn)
{
    for (uint32_t x = pti_access_of_insn(f->a, insn); x != PTI_NONE && x < f->a->count && f->a->list[x].insn == insn; x++) {
        if (!f->is_shared[x] || f->seen_access[x] == f->round)
            continue;
        f->seen_access[x] = f->round;
        f->found[f->nfound++] = x;
    }
}

static void push(finder *f, uint32_t block, uint32_t *depth)
{
    if (block == PTI_NONE || f->seen_block[block] == f->round)
        return;
    f->seen_block[block] = f->round;
    f->stack[(*depth)++] = block;
}

/* Instructions [from, end) forward until a barrier; true when the end is reached. */
static bool walk_forward(finder *f, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++, f->walked++) {
        if (f->barrier_of[i])
            return false;
        take_accesses(f, i);
    }
    return true;
}

static bool walk_backward(finder *f, uint32_t first, uint32_t from)
{
    for (uint32_t i = from; i-- > first; f->walked++) {
        if (f->barrier_of[i])
            return false;
        take_accesses(f, i);
    }
    return true;
}

/* Accesses from behind a barrier (or the entry, PTI_NONE) to the next ones; or from before it back to the ones before. */
static void walk(finder *f, uint32_t barrier, bool back)
{
    const pti_flow *flow = f->flow;
    uint32_t depth = 0, start = barrier == PTI_NONE ? 0 : flow->block_of[barrier];
    const pti_block *b = &flow->blocks[start];
    f->round++;
    f->nfound = 0;
    bool on = back ? walk_backward(f, b->first, barrier) : walk_forward(f, barrier == PTI_NONE ? b->first : barrier + 1, b->end);
    for (;;) {
        uint32_t n = back ? b->npredecessors : b->nsuccessors;
        for (uint32_t k = 0; on && k < n; k++)
            push(f, back ? b->predecessors[k] : b->successors[k], &depth);
        if (depth == 0 || f->walked > MOST_WALK)
            return;
        b = &flow->blocks[f->stack[--depth]];
        on = back ? walk_backward(f, b->first, b->end) : walk_forward(f, b->first, b->end);
    }
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool find_intervals(finder *f)
{
    pti_shared *out = f->out;
    uint32_t room = 0, used = 0;
    out->intervals = pti_take(&out->arena, (size_t)out->nbarriers + 1, sizeof *out->intervals);
    if (!out->intervals)
        return false;
    for (uint32_t i = 0; i <= out->nbarriers && f->flow->nblocks; i++) {
        walk(f, i ? out->barriers[i - 1].insn : PTI_NONE, false);
        if (f->walked > MOST_WALK || used + f->nfound > MOST_MEMBERS) {
            out->why_not = "it has too many barriers";
            return true;
        }
        if (used + f->nfound > room) {
            uint32_t more = used + f->nfound + room;
            void *moved = ptx_arena_resize(&out->arena, out->members, room * sizeof(uint32_t), more * sizeof(uint32_t));
            if (!moved)
                return false;
            out->members = moved;
            room = more;
        }
        qsort(f->found, f->nfound, sizeof *f->found, compare_numbers);
        if (f->nfound)
            memcpy(out->members + used, f->found, f->nfound * sizeof(uint32_t));
        out->intervals[out->nintervals++] = (pti_interval){.barrier = i ? out->barriers[i - 1].insn : PTI_NONE, .first = used,
                                                           .count = f->nfound};
        used += f->nfound;
    }
    return true;
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
    out->conflicts[out->nconflicts++] = (pti_conflict){f->interval, before, behind, byte, warp_a, warp_b, both};
    return true;
}

static void map_interval(finder *f, uint32_t number)
{
    pti_interval *in = &f->out->intervals[number];
    f->interval = number;
    for (uint32_t i = 0; i < in->count; i++) {
        uint32_t x = f->out->members[in->first + i];
        in->nreads += f->a->list[x].reads;
        in->nwrites += f->a->list[x].writes;
        if (is_known(f, &f->a->list[x]))
            pti_map_access(&f->map, x, true, f->out->decided ? add_conflict : NULL, f);
        else
            in->nopen++;
    }
    pti_ranges_of_map(&f->map, false, &in->read);
    pti_ranges_of_map(&f->map, true, &in->written);
    pti_clear_map(&f->map);
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
    bool open = in->nopen > 0;
    walk(f, b->insn, true);
    for (uint32_t i = 0; i < f->nfound; i++) {
        open |= !is_known(f, &f->a->list[f->found[i]]);
        if (is_known(f, &f->a->list[f->found[i]]))
            pti_map_access(&f->map, f->found[i], true, NULL, NULL);
    }
    for (uint32_t i = 0; i < in->count && b->verdict != PTI_NEEDED; i++)
        if (is_known(f, &f->a->list[f->out->members[in->first + i]]))
            pti_map_access(&f->map, f->out->members[in->first + i], false, first_conflict, f);
    if (b->verdict != PTI_NEEDED && !open && !pti_map_is_spent(&f->map) && f->walked <= MOST_WALK)
        b->verdict = PTI_REDUNDANT;
    pti_clear_map(&f->map);
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
            out->overruns[out->noverruns++] = (pti_overrun){i, x->low, x->high, v->size};
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

static void decide(finder *f, const pti_threads *threads)
{
    pti_shared *out = f->out;
    if (!out->why_not && !threads)
        out->why_not = "the block has more than 1024 threads";
    if (!out->why_not && !f->s->launch.block[0])
        out->why_not = "the block is not known";
    if (!out->why_not && threads->count <= 32)
        out->why_not = "the block is one warp";
    if (!out->why_not && highest_byte(f) > MOST_BYTES)
        out->why_not = "it is too large";
    out->decided = !out->why_not;
}

static bool map_all(finder *f, const pti_threads *threads)
{
    pti_shared *out = f->out;
    out->conflicts = pti_take(&out->arena, PTI_MAX_CONFLICTS, sizeof *out->conflicts);
    f->map = (pti_byte_map){.s = f->s, .threads = threads, .a = f->a, .size = highest_byte(f)};
    if (!out->conflicts)
        return false;
    if (!threads || f->map.size > MOST_BYTES)
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
    free(f->barrier_of);
    free(f->is_shared);
    free(f->seen_access);
    free(f->found);
    free(f->seen_block);
    free(f->stack);
}

pti_status pti_find_shared(const ptx_module *m, pti_symbols *s, const pti_threads *threads, const pti_addresses *a, pti_shared *out)
{
    *out = (pti_shared){.size = m->shared_size};
    ptx_arena_init(&out->arena, SIZE_MAX);
    finder f = {.s = s, .flow = s->flow, .a = a, .out = out};
    bool done = collect(&f) && find_intervals(&f) && find_overruns(&f);
    if (done) {
        decide(&f, threads);
        done = map_all(&f, threads);
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
