/* loops.c - which loops there are, and when they end. */
#include "ptx/inspect/loops.h"
#include "ptx/inspect/flow_internal.h"
#include "ptx/inspect/symbols_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TESTS = 4, MOST_STATES = 8 };
static const uint64_t most_blocks = UINT64_C(1) << 26;     /* looked at to find which are in which loop */
static const uint64_t most_work = UINT64_C(1) << 26;       /* formulas times threads; then no more loops are bounded */
static const uint64_t most_table = UINT64_C(1) << 22;      /* numbers in tables of states */

/* ------------------------------------------------------------ loops */

bool pti_in_loop(const pti_loops *l, uint32_t block, uint32_t loop)
{
    uint32_t in = l->of_block[block];
    return in != PTI_NONE && loop != PTI_NONE && l->list[in].number - l->list[loop].number < l->list[loop].inside;
}

static bool is_back_edge(const pti_loops *l, uint32_t from, uint32_t head)
{
    return from != PTI_NONE && pti_dominates(&l->dominators, head, from);
}

/* Marks the blocks of a loop backwards from its ends; inner loops are marked after outer ones. */
static void mark_blocks(pti_loops *l, uint32_t loop, uint32_t *stack)
{
    const pti_flow *flow = l->s->flow;
    uint32_t head = l->list[loop].head, depth = 0;
    l->of_block[head] = loop;
    stack[depth++] = head;
    while (depth) {
        const pti_block *b = &flow->blocks[stack[--depth]];
        bool at_head = b == &flow->blocks[head];
        l->work++;
        for (uint32_t k = 0; k < b->npredecessors; k++) {
            uint32_t p = b->predecessors[k];
            if (p == PTI_NONE || (at_head && !is_back_edge(l, p, head)) || l->of_block[p] == loop || !pti_dominates(&l->dominators, head, p))
                continue;
            l->of_block[p] = loop;
            stack[depth++] = p;
        }
    }
    for (uint32_t k = 0; k < flow->blocks[head].npredecessors; k++) {
        uint32_t p = flow->blocks[head].predecessors[k];
        if (is_back_edge(l, p, head) && flow->blocks[p].end - 1 > l->list[loop].last_insn)
            l->list[loop].last_insn = flow->blocks[p].end - 1;
    }
}

static bool find_heads(pti_loops *l)
{
    const pti_flow *flow = l->s->flow;
    for (uint32_t i = 0; i < flow->nblocks; i++) {
        uint32_t b = flow->ordered[i];
        for (uint32_t k = 0; k < flow->blocks[b].npredecessors && l->at_head[b] == PTI_NONE; k++)
            if (flow->blocks[b].reached && is_back_edge(l, flow->blocks[b].predecessors[k], b))
                l->at_head[b] = l->count++;
    }
    l->list = pti_take(&l->arena, l->count, sizeof *l->list);
    for (uint32_t b = 0; l->list && b < flow->nblocks; b++)
        if (l->at_head[b] != PTI_NONE)
            l->list[l->at_head[b]] = (pti_loop){.head = b, .parent = PTI_NONE, .turn = PTI_NONE, .first_block = PTI_NONE, .test = PTI_NONE, .most = -1, .count = PTI_NONE};
    return l->list != NULL;
}

/* Numbers in the tree of loops, so that a question takes no time. Parents stand before children. */
static bool number_loops(pti_loops *l)
{
    uint32_t *used = calloc((size_t)l->count + 1, sizeof *used), top = 0;
    for (uint32_t i = l->count; used && i-- > 0;) {
        l->list[i].inside++;
        if (l->list[i].parent != PTI_NONE)
            l->list[l->list[i].parent].inside += l->list[i].inside;
    }
    for (uint32_t i = 0; used && i < l->count; i++) {
        uint32_t p = l->list[i].parent;
        l->list[i].number = p == PTI_NONE ? top : l->list[p].number + 1 + used[p];
        *(p == PTI_NONE ? &top : &used[p]) += l->list[i].inside;
    }
    bool done = used != NULL;
    free(used);
    return done;
}

/* Many loops, each around all others, would take the square of the text. */
static bool mark_all(pti_loops *l)
{
    uint32_t *stack = malloc(((size_t)l->s->flow->nblocks + 1) * sizeof *stack);
    for (uint32_t i = 0; stack && i < l->count && l->work < most_blocks; i++) {
        l->list[i].parent = l->of_block[l->list[i].head];
        mark_blocks(l, i, stack);
    }
    free(stack);
    return stack != NULL;
}

/* ------------------------------------------------------------ periods */

static uint32_t least_multiple(uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;
    while (y) {
        uint32_t r = x % y;
        x = y;
        y = r;
    }
    return a / x * b > PTI_MAX_PERIOD ? 0 : a / x * b;
}

static uint32_t period_of_sum(const pti_loops *l, pti_poly p, uint32_t turn, uint32_t modulus, int depth);

static uint32_t period_of_atom(const pti_loops *l, uint32_t atom, uint32_t turn, int depth)
{
    const pti_atom *a = &l->s->atoms[atom];
    uint32_t period = 1;
    bool low = a->kind == PTI_ATOM_LOW_BITS && a->number <= 6;
    for (int k = 0; k < 3 && a->kind != PTI_ATOM_LITERAL && a->arg[k] != PTI_NONE && period; k++) {
        uint32_t part = depth ? period_of_sum(l, a->arg[k], turn, low ? 1u << a->number : 0, depth - 1) : 0;
        period = part ? least_multiple(period, part) : 0;
    }
    return period;
}

/* Modulo 2^n a turn repeats itself; elsewhere it may stand only inside of such parts. */
static uint32_t period_of_sum(const pti_loops *l, pti_poly p, uint32_t turn, uint32_t modulus, int depth)
{
    const pti_sum *sum = &l->s->sums[p];
    uint32_t period = 1;
    if (!(sum->depends & (PTI_ON_TURN | PTI_ON_VALUE)))
        return 1;
    for (uint32_t i = 0; i < sum->nterms; i++)
        for (uint32_t k = 0; k < sum->terms[i].natoms && period; k++) {
            uint32_t atom = sum->terms[i].atoms[k];
            uint32_t part = atom == turn ? modulus : period_of_atom(l, atom, turn, depth);
            period = part ? least_multiple(period, part) : 0;
        }
    return period;
}

uint32_t pti_turns_of(const pti_loops *l, pti_poly p, uint32_t loop)
{
    const pti_loop *x = &l->list[loop];
    if (x->last)
        return x->most < 0 ? 1 : (uint32_t)x->most + 1;
    return period_of_sum(l, p, x->turn, 0, 16);
}

/* ------------------------------------------------------------ states */

static bool outside_value(const pti_loops *l, const pti_value *v, uint32_t loop, bool inside, pti_poly *p)
{
    const pti_block *b = &l->s->flow->blocks[v->at];
    *p = PTI_NONE;
    for (uint32_t k = 0; k < v->noperands; k++) {
        bool in = b->predecessors[k] != PTI_NONE && pti_in_loop(l, b->predecessors[k], loop);
        if (in != inside)
            continue;
        pti_poly one = l->s->of_value[v->operands[k]];
        if (one == PTI_NONE || (*p != PTI_NONE && *p != one))
            return false;
        *p = one;
    }
    return *p != PTI_NONE;
}

/* Integer registers that loops bring round and that are no sums. */
static bool find_states(pti_loops *l)
{
    const pti_flow *flow = l->s->flow;
    for (uint32_t v = flow->first_def[flow->function->ninsns]; v < flow->nvalues; v++) {
        const pti_value *value = &flow->values[v];
        uint32_t loop = value->kind == PTI_VALUE_PHI ? l->at_head[value->at] : PTI_NONE;
        uint32_t atom = loop != PTI_NONE && l->s->of_value[v] != PTI_NONE ? pti_single_atom(l->s, l->s->of_value[v]) : PTI_NONE;
        const pti_atom *a = atom == PTI_NONE ? NULL : &l->s->atoms[atom];
        if (!a || a->kind != PTI_ATOM_VALUE || a->number != v || a->type == PTX_TYPE_NONE || a->type == PTX_TYPE_PRED)
            continue;
        pti_loop *x = &l->list[loop];
        pti_state s = {.atom = atom};
        if (!x->states && !(x->states = pti_take(&l->arena, MOST_STATES, sizeof *x->states)))
            return false;
        if (x->nstates < MOST_STATES && outside_value(l, value, loop, false, &s.init) && outside_value(l, value, loop, true, &s.update))
            x->states[x->nstates++] = s;
    }
    return true;
}

static void find_turn_atoms(pti_loops *l)
{
    for (uint32_t a = 0; a < l->s->natoms; a++)
        if (l->s->atoms[a].kind == PTI_ATOM_TURN && l->at_head[l->s->atoms[a].number] != PTI_NONE)
            l->list[l->at_head[l->s->atoms[a].number]].turn = a;
}

/* Modulo the register's width. A value that its sign would change ends what is known: formulas may take it either way. */
static bool enter_row(pti_loops *l, pti_state *s, uint32_t row, const int64_t *values)
{
    uint32_t bits = ptx_type_bits(l->s->atoms[s->atom].type), n = l->s->nthreads;
    if ((size_t)row * n >= s->room) {
        size_t room = s->room ? 2 * s->room : 16 * (size_t)n;
        int64_t *moved = room > most_table ? NULL : realloc(s->table, room * sizeof *moved);
        if (!moved)
            return false;
        s->table = moved;
        s->room = room;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = (uint64_t)values[i] & (bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
        if (v >> (bits - 1))
            return false;
        s->table[(size_t)row * n + i] = (int64_t)v;
    }
    s->rows = row + 1;
    return true;
}

static void begin_states(pti_loops *l, pti_loop *x, int64_t *values)
{
    for (uint32_t i = 0; i < x->nstates; i++)
        if (pti_evaluate_turn(l, x->states[i].init, values))
            enter_row(l, &x->states[i], 0, values);
}

static void advance_states(pti_loops *l, pti_loop *x, uint32_t turn, int64_t *values)
{
    for (uint32_t i = 0; i < x->nstates; i++)
        if (x->states[i].rows == turn + 1 && pti_evaluate_turn(l, x->states[i].update, values))
            enter_row(l, &x->states[i], turn + 1, values);
}

/* The rows that are known are kept. */
static bool keep_states(pti_loops *l, pti_loop *x)
{
    bool done = true;
    for (uint32_t i = 0; i < x->nstates; i++) {
        pti_state *s = &x->states[i];
        size_t n = (size_t)s->rows * l->s->nthreads;
        int64_t *kept = x->last ? pti_take(&l->arena, n, sizeof *kept) : NULL;
        if (kept && n)
            memcpy(kept, s->table, n * sizeof *kept);
        done &= kept || !x->last;
        s->rows = kept ? s->rows : 0;
        s->room = 0;
        free(s->table);
        s->table = kept;
    }
    return done;
}

/* ------------------------------------------------------------ tests */

typedef struct test { uint32_t insn; pti_poly condition; bool goes_on_if; } test;

/* A branch on a condition, one way of which leaves the loop, in a block that every turn executes. */
static bool is_test(pti_loops *l, uint32_t loop, uint32_t block, test *out)
{
    const pti_flow *flow = l->s->flow;
    const pti_block *b = &flow->blocks[block], *head = &flow->blocks[l->list[loop].head];
    const ptx_insn *last = &flow->function->insns[b->end - 1];
    if (!last->guarded || !last->operation || strcmp(last->operation, "bra") != 0 || b->nsuccessors != 2)
        return false;
    bool stays = pti_in_loop(l, b->successors[0], loop);       /* where it branches to; the other one is what follows */
    if (stays == pti_in_loop(l, b->successors[1], loop))
        return false;
    for (uint32_t k = 0; k < head->npredecessors; k++)
        if (is_back_edge(l, head->predecessors[k], l->list[loop].head) && !pti_dominates(&l->dominators, block, head->predecessors[k]))
            return false;
    bool assumed = false;
    ptx_value guard = {.kind = PTX_VALUE_REG, .reg = last->guard};
    *out = (test){b->end - 1, pti_poly_of(l->s, b->end - 1, &guard, &assumed), stays != last->guard_negated};
    return true;
}

/* Tests among the blocks that are in no inner loop. */
static uint32_t find_tests(pti_loops *l, uint32_t loop, const uint32_t *next, test *tests)
{
    uint32_t n = 0;
    for (uint32_t b = l->list[loop].first_block; b != PTI_NONE && n < MOST_TESTS; b = next[b])
        n += is_test(l, loop, b, &tests[n]);
    return n;
}

/* Ways out of loops: each edge leaves those around its start that are not around its end. */
static void count_exits(pti_loops *l)
{
    const pti_flow *flow = l->s->flow;
    for (uint32_t b = 0; b < flow->nblocks; b++) {
        const ptx_insn *last = &flow->function->insns[flow->blocks[b].end - 1];
        const char *op = last->operation ? last->operation : "";
        bool ends = strcmp(op, "ret") == 0 || strcmp(op, "exit") == 0 || strcmp(op, "trap") == 0;
        for (uint32_t i = l->of_block[b]; ends && i != PTI_NONE && l->list[i].exits < 2; i = l->list[i].parent)
            l->list[i].exits++;
        for (uint32_t k = 0; k < flow->blocks[b].nsuccessors; k++)
            for (uint32_t i = l->of_block[b]; i != PTI_NONE && !pti_in_loop(l, flow->blocks[b].successors[k], i); i = l->list[i].parent)
                l->list[i].exits++;
    }
}

/* The blocks of each loop, without those of inner ones, in order. */
static uint32_t *list_blocks(pti_loops *l)
{
    const pti_flow *flow = l->s->flow;
    uint32_t *next = malloc(((size_t)flow->nblocks + 1) * sizeof *next);
    for (uint32_t i = flow->nblocks; next && i-- > 0;) {
        uint32_t b = flow->ordered[i];
        if (l->of_block[b] == PTI_NONE)
            continue;
        next[b] = l->list[l->of_block[b]].first_block;
        l->list[l->of_block[b]].first_block = b;
    }
    return next;
}

/* turns = count / divisor, rounded up, from a condition on which the loop goes on: a + s·turn < 0 and its like. */
static void find_count(pti_loops *l, pti_loop *x, const test *t)
{
    static const uint8_t opposite[] = {PTI_NE, PTI_EQ, PTI_GE, PTI_GT, PTI_LE, PTI_LT};
    pti_symbols *s = l->s;
    uint32_t only = pti_single_atom(s, t->condition), turn = x->turn;
    bool goes_on_if = t->goes_on_if;
    if (only == PTI_NONE) {            /* 1 - p */
        only = pti_single_atom(s, pti_add(s, pti_constant(s, 1), pti_scale(s, t->condition, -1)));
        goes_on_if = !goes_on_if;
    }
    if (only == PTI_NONE || s->atoms[only].kind != PTI_ATOM_COMPARE || turn == PTI_NONE)
        return;
    uint32_t how = goes_on_if ? s->atoms[only].number : opposite[s->atoms[only].number];
    pti_poly d = pti_add(s, s->atoms[only].arg[0], pti_scale(s, s->atoms[only].arg[1], -1));
    int64_t step = 0;
    const pti_sum *sum = &s->sums[d];
    for (uint32_t i = 0; i < sum->nterms; i++)
        if (sum->terms[i].natoms == 1 && sum->terms[i].atoms[0] == turn)
            step = sum->terms[i].factor;
    pti_term one = {-step, 1, {turn}};
    pti_poly rest = pti_add(s, d, pti_sum_of(s, 0, &one, step != 0));
    bool up = (how == PTI_LT || how == PTI_LE || how == PTI_NE) && step > 0, down = (how == PTI_GT || how == PTI_GE || how == PTI_NE) && step < 0;
    if (!(up || down) || step == INT64_MIN || period_of_sum(l, rest, turn, 0, 16) != 1)
        return;
    x->divisor = up ? step : -step;
    int64_t more = (how == PTI_LE || how == PTI_GE) + (x->test_leads ? 0 : x->divisor);
    x->count = pti_add(s, up ? pti_scale(s, rest, -1) : rest, pti_constant(s, more));
}

/* ------------------------------------------------------------ turns */

static bool comes_there(const pti_loops *l, const pti_loop *x, uint32_t thread)
{
    return !l->threads || (l->threads->reach[(size_t)x->head * l->threads->words + thread / 64] >> thread % 64 & 1);
}

/* One turn: threads for which a test says so end there. Tests that cannot be computed are dropped. Returns how many threads go on. */
static uint32_t take_turn(pti_loops *l, pti_loop *x, test *tests, uint32_t *ntests, uint32_t turn, int64_t *values)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < *ntests;) {
        if (!pti_evaluate_turn(l, tests[i].condition, values)) {
            memmove(&tests[i], &tests[i + 1], (--*ntests - i) * sizeof *tests);
            continue;
        }
        for (uint32_t t = 0; t < l->s->nthreads; t++)
            if (x->last[t] == INT32_MAX && (values[t] != 0) != tests[i].goes_on_if) {
                x->last[t] = (int32_t)turn;
                x->test = tests[i].insn;
            }
        i++;
    }
    for (uint32_t t = 0; t < l->s->nthreads; t++)
        left += x->last[t] == INT32_MAX;
    return *ntests ? left : l->s->nthreads;
}

static bool run(pti_loops *l, uint32_t loop, test *tests, uint32_t ntests, int64_t *values)
{
    pti_loop *x = &l->list[loop];
    bool done = false;
    if (!(x->last = pti_take(&l->arena, l->s->nthreads, sizeof *x->last)))
        return false;
    for (uint32_t t = 0; t < l->s->nthreads; t++)
        x->last[t] = comes_there(l, x, t) ? INT32_MAX : -1;
    pti_change_turns(l);
    begin_states(l, x, values);
    for (uint32_t turn = 0; ntests && turn < PTI_MAX_TURNS && !done; turn++) {
        l->turn[loop] = turn;
        pti_change_turns(l);
        done = take_turn(l, x, tests, &ntests, turn, values) == 0 && ntests;
        if (!done && ntests)
            advance_states(l, x, turn, values);
    }
    l->turn[loop] = -1;
    pti_change_turns(l);
    for (uint32_t t = 0; done && t < l->s->nthreads; t++)
        x->most = x->last[t] > x->most ? x->last[t] : x->most;
    if (!done)
        x->last = NULL;
    return keep_states(l, x);
}

/* The test comes first: its block is the head, and does nothing else but compute. */
static bool is_leading(const pti_loops *l, const pti_loop *x)
{
    const pti_block *b = &l->s->flow->blocks[x->head];
    bool leads = b->end - 1 == x->test && b->successors[0] != x->head && b->successors[1] != x->head;
    for (uint32_t i = b->first; leads && i < b->end - 1; i++) {
        const ptx_insn *insn = &l->s->flow->function->insns[i];
        leads = !insn->operation && !(insn->form && strcmp(insn->form->family, "mma") == 0);
    }
    return leads;
}

static bool find_turns(pti_loops *l, uint32_t loop, const uint32_t *next, int64_t *values)
{
    test tests[MOST_TESTS];
    uint32_t n = find_tests(l, loop, next, tests);
    pti_loop *x = &l->list[loop];
    if (n == 0)
        return true;
    test first = tests[0], all[MOST_TESTS];
    memcpy(all, tests, sizeof all);
    x->test = first.insn;
    x->single = x->exits == 1;
    if (l->threads && l->s->nthreads && !run(l, loop, tests, n, values))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (all[i].insn == x->test)
            first = all[i];
    x->test_leads = is_leading(l, x);
    x->condition = first.condition;
    x->goes_on_if = first.goes_on_if;
    find_count(l, x, &first);
    return true;
}

static bool take_all(pti_loops *l)
{
    const pti_flow *flow = l->s->flow;
    l->of_block = pti_take(&l->arena, flow->nblocks, sizeof *l->of_block);
    l->at_head = pti_take(&l->arena, flow->nblocks, sizeof *l->at_head);
    if (!l->of_block || !l->at_head)
        return false;
    memset(l->of_block, 0xff, ((size_t)flow->nblocks + 1) * sizeof *l->of_block);
    memset(l->at_head, 0xff, ((size_t)flow->nblocks + 1) * sizeof *l->at_head);
    if (!find_heads(l) || !mark_all(l) || !number_loops(l) || !find_states(l) || !(l->turn = pti_take(&l->arena, l->count, sizeof *l->turn)))
        return false;
    find_turn_atoms(l);
    l->work = 0;
    int64_t *values = malloc((l->s->nthreads + 1) * sizeof *values);
    uint32_t *next = list_blocks(l);
    bool done = values && next;
    count_exits(l);
    for (uint32_t i = 0; i < l->count; i++)
        l->turn[i] = -1;
    for (uint32_t i = 0; done && i < l->count && l->work < most_work; i++)
        done = find_turns(l, i, next, values);
    l->work = 0;
    free(next);
    free(values);
    return done && !l->s->failed;
}

pti_status pti_find_loops(pti_symbols *s, const pti_threads *threads, pti_loops *out)
{
    *out = (pti_loops){.s = s, .threads = threads};
    ptx_arena_init(&out->arena, SIZE_MAX);
    pti_status status = pti_find_dominators(s->flow, &out->dominators);
    if (status == PTI_OK)
        status = pti_find_postdominators(s->flow, &out->postdominators);
    if (status != PTI_OK)
        return status;
    return take_all(out) ? PTI_OK : s->limited ? PTI_LIMIT : PTI_MEMORY;
}

void pti_free_loops(pti_loops *l)
{
    pti_free_dominators(&l->dominators);
    pti_free_dominators(&l->postdominators);
    free(l->stamp);
    free(l->values);
    ptx_arena_free(&l->arena);
    *l = (pti_loops){0};
}

/* ------------------------------------------------------------ formulas with bounded turns */

/* NULL when no loop is bounded, or for want of memory: then the formulas stay as they are. */
static int64_t *bounds_of(pti_symbols *s)
{
    pti_threads threads;
    pti_loops loops;
    int64_t *most = NULL;
    bool any = false;
    if (pti_find_threads(s, &threads) == PTI_OK) {
        bool found = pti_find_loops(s, &threads, &loops) == PTI_OK;
        for (uint32_t i = 0; found && i < loops.count; i++)
            any |= loops.list[i].most >= 0;
        most = any ? malloc(((size_t)s->flow->nblocks + 1) * sizeof *most) : NULL;
        for (uint32_t b = 0; most && b < s->flow->nblocks; b++)
            most[b] = loops.at_head[b] == PTI_NONE ? -1 : loops.list[loops.at_head[b]].most;
        pti_free_loops(&loops);
    }
    pti_free_threads(&threads);
    return most;
}

pti_status pti_find_symbols(const pti_flow *flow, const pti_launch *launch, pti_symbols *out)
{
    pti_status status = pti_make_symbols(flow, launch, NULL, out);
    int64_t *most = status == PTI_OK ? bounds_of(out) : NULL;
    if (most) {
        pti_free_symbols(out);
        status = pti_make_symbols(flow, launch, most, out);
    }
    free(most);
    return status;
}
