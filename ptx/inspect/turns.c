/* turns.c - formulas at a point: the turns of some loops are given, and each thread's value is computed. */
#include "ptx/inspect/loops.h"
#include "ptx/inspect/flow_internal.h"
#include "ptx/inspect/symbols_internal.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 48, MOST_POINTS = 1 << 16, MOST_GUARDS = 8 };
static const uint64_t most_work = UINT64_C(1) << 28;       /* formulas times threads */

/* ------------------------------------------------------------ values at a point */

void pti_change_turns(pti_loops *l)
{
    l->now++;
}

static bool grow(pti_loops *l)
{
    uint32_t n = l->s->natoms, room = n + n / 2 + 64;
    if (n <= l->room)
        return true;
    uint32_t *stamp = realloc(l->stamp, room * sizeof *stamp);
    l->stamp = stamp ? stamp : l->stamp;
    int64_t **values = stamp ? realloc(l->values, room * sizeof *values) : NULL;
    l->values = values ? values : l->values;
    if (!stamp || !values)
        return false;
    for (uint32_t i = l->room; i < room; i++) {
        stamp[i] = 0;
        values[i] = NULL;
    }
    l->room = room;
    return true;
}

static bool in_range(ptx_type type, const int64_t *v, uint32_t n)
{
    uint32_t bits = ptx_type_bits(type);
    bool negative = ptx_type_class(type) == 's';
    if (bits >= 64 || bits == 0)
        return true;
    int64_t high = negative ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1, low = negative ? -high - 1 : 0;
    for (uint32_t i = 0; i < n; i++)
        if (v[i] < low || v[i] > high)
            return false;
    return true;
}

static const pti_state *state_of(const pti_loops *l, uint32_t atom, uint32_t *loop)
{
    const pti_atom *a = &l->s->atoms[atom];
    const pti_value *v = &l->s->flow->values[a->number];
    *loop = v->kind == PTI_VALUE_PHI ? l->at_head[v->at] : PTI_NONE;
    for (uint32_t i = 0; *loop != PTI_NONE && i < l->list[*loop].nstates; i++)
        if (l->list[*loop].states[i].atom == atom)
            return &l->list[*loop].states[i];
    return NULL;
}

/* turn(head), or a state of the loop: here, or where each thread has left it. */
static bool at_turn(const pti_loops *l, uint32_t loop, const pti_state *s, int64_t *out)
{
    int64_t turn = loop == PTI_NONE ? -1 : l->turn[loop];
    if (turn == -1 || (s && turn >= (int64_t)s->rows))
        return false;
    for (uint32_t t = 0; t < l->s->nthreads; t++) {
        int64_t mine = turn >= 0 ? turn : l->list[loop].last[t] < 0 ? 0 : l->list[loop].last[t];
        if (s && mine >= s->rows)
            return false;
        out[t] = s ? s->table[(size_t)mine * l->s->nthreads + t] : mine;
    }
    return true;
}

static bool sum_at(pti_loops *l, pti_poly p, int64_t *out, int depth);

static bool operation_at(pti_loops *l, const pti_atom *a, int64_t *out, int depth)
{
    uint32_t n = l->s->nthreads;
    int64_t *in = malloc(3 * (size_t)n * sizeof *in);
    bool done = in != NULL;
    for (int k = 0; done && k < 3; k++) {
        if (a->arg[k] == PTI_NONE)
            memset(in + (size_t)k * n, 0, n * sizeof *in);
        else
            done = sum_at(l, a->arg[k], in + (size_t)k * n, depth - 1) && (a->kind != PTI_ATOM_COMPARE || in_range(a->type, in + (size_t)k * n, n));
    }
    for (uint32_t t = 0; done && t < n; t++)
        out[t] = pti_operate(a, in[t], in[n + t], in[2 * (size_t)n + t]);
    free(in);
    return done;
}

static const int64_t *atom_at(pti_loops *l, uint32_t atom, int depth)
{
    pti_symbols *s = l->s;
    const pti_atom *a = &s->atoms[atom];
    uint32_t loop = PTI_NONE;
    if (s->values[atom])
        return s->values[atom];
    if (l->stamp[atom] == l->now)
        return l->values[atom];
    if (!l->values[atom] && !(l->values[atom] = ptx_arena_alloc(&l->arena, (s->nthreads + 1) * sizeof(int64_t), 8)))
        return NULL;
    l->work += s->nthreads;
    bool done = false;
    if (depth == 0 || l->work > most_work)
        return NULL;
    if (a->kind == PTI_ATOM_TURN) {
        done = at_turn(l, l->at_head[a->number], NULL, l->values[atom]);
    } else if (a->kind == PTI_ATOM_VALUE) {
        const pti_state *state = state_of(l, atom, &loop);
        done = state && at_turn(l, loop, state, l->values[atom]);
    } else if (pti_is_operation(a->kind)) {
        done = operation_at(l, a, l->values[atom], depth);
    }
    if (done)
        l->stamp[atom] = l->now;
    return done ? l->values[atom] : NULL;
}

static bool sum_at(pti_loops *l, pti_poly p, int64_t *out, int depth)
{
    const pti_sum *sum = &l->s->sums[p];
    uint32_t n = l->s->nthreads;
    if (sum->depends & ~(uint32_t)(PTI_ON_LANE | PTI_ON_THREAD | PTI_ON_TURN | PTI_ON_VALUE) || depth == 0)
        return false;
    l->work += (uint64_t)n * (1 + sum->nterms);
    for (uint32_t t = 0; t < n; t++)
        out[t] = sum->constant;
    for (uint32_t i = 0; i < sum->nterms; i++) {
        const pti_term *term = &sum->terms[i];
        const int64_t *values[PTI_MAX_DEGREE];
        for (uint32_t k = 0; k < term->natoms; k++)
            if (!(values[k] = atom_at(l, term->atoms[k], depth)))
                return false;
        for (uint32_t t = 0; t < n; t++) {
            uint64_t product = (uint64_t)term->factor;
            for (uint32_t k = 0; k < term->natoms; k++)
                product *= (uint64_t)values[k][t];
            out[t] = (int64_t)((uint64_t)out[t] + product);
        }
    }
    return true;
}

bool pti_evaluate_turn(pti_loops *l, pti_poly p, int64_t *out)
{
    return l->s->nthreads && grow(l) && sum_at(l, p, out, DEEPEST);
}

/* ------------------------------------------------------------ loops of a formula */

/* Calls visit with each loop that a formula depends on; false when it depends on what cannot be computed. */
static bool each_loop(const pti_loops *l, pti_poly p, bool (*visit)(void *, uint32_t), void *user, int depth)
{
    const pti_sum *sum = &l->s->sums[p];
    uint32_t loop;
    if (sum->depends & ~(uint32_t)(PTI_ON_LANE | PTI_ON_THREAD | PTI_ON_TURN | PTI_ON_VALUE) || depth == 0)
        return false;
    for (uint32_t i = 0; i < sum->nterms; i++)
        for (uint32_t k = 0; k < sum->terms[i].natoms; k++) {
            uint32_t atom = sum->terms[i].atoms[k];
            const pti_atom *a = &l->s->atoms[atom];
            if (l->s->values[atom])
                continue;
            if (a->kind == PTI_ATOM_TURN) {
                if (l->at_head[a->number] == PTI_NONE || !visit(user, l->at_head[a->number]))
                    return false;
            } else if (a->kind == PTI_ATOM_VALUE) {
                if (!state_of(l, atom, &loop) || !visit(user, loop))
                    return false;
            } else if (!pti_is_operation(a->kind)) {
                return false;
            }
            for (int j = 0; j < 3 && pti_is_operation(a->kind) && a->arg[j] != PTI_NONE; j++)
                if (!each_loop(l, a->arg[j], visit, user, depth - 1))
                    return false;
        }
    return true;
}

/* A loop around the instruction is run through; one that it stands behind has ended. */
static bool take_loop(void *user, uint32_t loop)
{
    pti_turns *t = user;
    pti_loops *l = t->l;
    if (l->turn[loop] != -1)
        return true;
    if (!pti_in_loop(l, l->s->flow->block_of[t->insn], loop)) {
        if (!l->list[loop].last || !l->list[loop].single)
            return false;
        l->turn[loop] = -2;
        t->ended_loop[t->nended++] = loop;
        return t->nended < PTI_MAX_NEST;
    }
    uint32_t turns = pti_turns_of(l, t->p, loop);
    if (t->nloops == PTI_MAX_NEST || turns == 0)
        return false;
    t->loop[t->nloops] = loop;
    t->end[t->nloops++] = turns;
    l->turn[loop] = 0;
    return true;
}

/* ------------------------------------------------------------ branches on the way */

/* In a loop whose turns are not all run through, a condition says something only if it repeats itself as often as the formula. */
static bool holds_in_all_turns(const pti_turns *t, pti_poly condition)
{
    const pti_loops *l = t->l;
    for (uint32_t j = 0; j < t->nloops; j++) {
        uint32_t turns = l->list[t->loop[j]].last ? 1 : pti_turns_of(l, condition, t->loop[j]);
        if (turns == 0 || turns > t->end[j])
            return false;
    }
    return !t->ngiven || t->exact || l->list[t->given].last || pti_turns_of(l, condition, t->given) == 1;
}

static void add_guard(pti_turns *t, uint32_t insn, bool taken)
{
    bool assumed = false;
    ptx_value guard = {.kind = PTX_VALUE_REG, .reg = t->l->s->flow->function->insns[insn].guard};
    pti_poly condition = t->nguards < MOST_GUARDS ? pti_poly_of(t->l->s, insn, &guard, &assumed) : PTI_NONE;
    if (condition == PTI_NONE || !holds_in_all_turns(t, condition)) {
        t->uncertain = true;
        return;
    }
    t->guard[t->nguards] = condition;
    t->holds[t->nguards++] = taken != t->l->s->flow->function->insns[insn].guard_negated;
}

/* Every path to `to` goes over this edge: others come from behind it only. */
static bool is_only_way(const pti_loops *l, uint32_t from, uint32_t to)
{
    const pti_block *b = &l->s->flow->blocks[to];
    for (uint32_t k = 0; k < b->npredecessors; k++)
        if (b->predecessors[k] != from && (b->predecessors[k] == PTI_NONE || !pti_dominates(&l->dominators, to, b->predecessors[k])))
            return false;
    return true;
}

/* Blocks that dominate the instruction and end in a branch one way of which it depends on. */
static void find_guards(pti_turns *t)
{
    const pti_loops *l = t->l;
    const pti_flow *flow = l->s->flow;
    uint32_t below = flow->block_of[t->insn], steps = 0;
    for (uint32_t b = l->dominators.parent[below]; b != PTI_NONE && steps < 64; b = l->dominators.parent[b], steps++) {
        const pti_block *from = &flow->blocks[b];
        const ptx_insn *last = &flow->function->insns[from->end - 1];
        bool found = false, branch = last->guarded && last->operation && strcmp(last->operation, "bra") == 0 && from->nsuccessors == 2;
        for (uint32_t k = 0; branch && k < 2; k++) {
            uint32_t to = from->successors[k];
            if (to == from->successors[1 - k] || !pti_dominates(&l->dominators, to, below) || !is_only_way(l, b, to))
                continue;
            add_guard(t, from->end - 1, k == 0);
            found = true;
        }
        t->uncertain |= !found && from->nsuccessors + last->guarded > 1 && !pti_dominates(&l->postdominators, below, b);
    }
    t->uncertain |= steps == 64;
    if (flow->function->insns[t->insn].guarded)
        add_guard(t, t->insn, true);
}

static void restrict_set(pti_turns *t, uint64_t *set, int64_t *values)
{
    pti_loops *l = t->l;
    for (uint32_t g = 0; g < t->nguards; g++) {
        if (!pti_evaluate_turn(l, t->guard[g], values)) {
            t->uncertain = true;
            continue;
        }
        for (uint32_t k = 0; k < l->s->nthreads; k++)
            if ((values[k] != 0) != t->holds[g])
                set[k / 64] &= ~(UINT64_C(1) << k % 64);
    }
    for (uint32_t j = 0; j < t->nloops + t->ngiven; j++) {
        uint32_t loop = j < t->nloops ? t->loop[j] : t->given;
        const pti_loop *x = &l->list[loop];
        t->uncertain |= !x->last || !x->single;
        for (uint32_t k = 0; x->last && k < l->s->nthreads; k++)
            if (l->turn[loop] > x->last[k])
                set[k / 64] &= ~(UINT64_C(1) << k % 64);
    }
}

/* ------------------------------------------------------------ all points */

static void leave(pti_turns *t)
{
    pti_loops *l = t->l;
    for (uint32_t j = 0; j < t->nloops; j++)
        l->turn[t->loop[j]] = -1;
    for (uint32_t j = 0; j < t->nended; j++)
        l->turn[t->ended_loop[j]] = -1;
    if (t->ngiven)
        l->turn[t->given] = -1;
    pti_change_turns(l);
    t->ended = true;
}

bool pti_begin_turns(pti_loops *l, uint32_t insn, pti_poly p, const pti_given *given, pti_turns *out)
{
    *out = (pti_turns){.l = l, .insn = insn, .p = p};
    if (!l->threads || !l->s->nthreads || l->work > most_work)
        return false;
    if (given && given->loop != PTI_NONE) {
        out->given = given->loop;
        out->exact = given->exact;
        out->ngiven = 1;
        l->turn[given->loop] = given->turn;
    }
    uint64_t points = 1;
    bool known = each_loop(l, p, take_loop, out, DEEPEST);
    for (uint32_t j = 0; j < out->nloops; j++)
        points *= out->end[j];
    if (!known || points > MOST_POINTS) {
        leave(out);
        return false;
    }
    find_guards(out);
    return true;
}

/* The turns as digits, the first loop's the fastest. */
static bool advance(pti_turns *t)
{
    for (uint32_t j = 0; j < t->nloops; j++) {
        if (++t->at[j] < t->end[j])
            return true;
        t->at[j] = 0;
    }
    return false;
}

bool pti_next_turn(pti_turns *t, int64_t *values, uint64_t *set)
{
    pti_loops *l = t->l;
    if (t->ended)
        return false;
    if (t->begun && !advance(t)) {
        leave(t);
        return false;
    }
    t->begun = true;
    for (uint32_t j = 0; j < t->nloops; j++)
        l->turn[t->loop[j]] = t->at[j];
    pti_change_turns(l);
    pti_threads_at(l->threads, t->insn, set);
    restrict_set(t, set, values);
    if (!pti_evaluate_turn(l, t->p, values)) {
        leave(t);
        t->failed = true;
        return false;
    }
    return true;
}
