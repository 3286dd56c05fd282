/* flow_values.c - values of registers: definitions, phis, and who reads them.
 *
 * One register after the other. Its uses that no definition in their block precedes need a value at the start of the block, and
 * so do the blocks before that one up to definitions: these are the blocks where the register is live. In reverse postorder each of
 * them takes the value of its predecessors when that is one, else it gets a phi; rounds are repeated until nothing changes. Phis that
 * turn out to have one operand beside themselves are taken out again (Braun et al. 2013 call them trivial).
 */
#include "ptx/inspect/flow_internal.h"
#include "ptx/trace.h"

#include <stdlib.h>

enum { MAX_READ = 1200 };              /* registers of one instruction: the parser takes 1024 values a statement */
enum { MOST_LIVE = 1 << 25 };          /* blocks where registers are live, summed over the registers */

/* Codes of values at the start of a block while a register is worked on; others are numbers of values. */
#define CODE_PHI   0x80000000u         /* | block: the phi of that block */
#define CODE_ENTRY 0x7fffffffu
#define CODE_TOP   PTI_NONE            /* not known yet */

typedef struct events { uint32_t *first, *list; } events;   /* of each register, in order: place in uses << 1, or value << 1 | 1 */

typedef struct maker {
    pti_flow *flow;
    events events;
    uint32_t *in, *out;                /* value of the register at start and end of each block */
    uint32_t *live, *defined, *phi;    /* blocks marked with register + 1; the phi's value */
    uint32_t *blocks, nlive;           /* where it is live */
    uint32_t entry;                    /* its value at entry, PTI_NONE when there is none yet */
    uint32_t room;                     /* of flow->values */
    uint64_t live_sum;
    pti_status status;
} maker;

static uint32_t registers_written(const ptx_insn *i, uint32_t *registers)
{
    uint32_t n = ptx_written(i, registers);
    for (uint32_t r = 0; r < i->nreturns && n < MAX_READ; r++)
        if (i->returns[r].kind == PTX_VALUE_REG)
            registers[n++] = i->returns[r].reg;
    return n;
}

/* ------------------------------------------------------------ definitions and uses, by instruction and by register */

static bool count_all(pti_flow *flow)
{
    const ptx_function *f = flow->function;
    uint32_t registers[MAX_READ];
    flow->first_def = pti_take(&flow->arena, (size_t)f->ninsns + 1, sizeof(uint32_t));
    flow->first_use = pti_take(&flow->arena, (size_t)f->ninsns + 1, sizeof(uint32_t));
    if (!flow->first_def || !flow->first_use)
        return false;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        flow->first_def[i + 1] = flow->first_def[i] + registers_written(&f->insns[i], registers);
        flow->first_use[i + 1] = flow->first_use[i] + ptx_read(&f->insns[i], registers, MAX_READ);
    }
    flow->nvalues = flow->first_def[f->ninsns];
    flow->uses = pti_take(&flow->arena, flow->first_use[f->ninsns], sizeof *flow->uses);
    return flow->uses != NULL;
}

static void fill_insn(pti_flow *flow, uint32_t i)
{
    const ptx_insn *insn = &flow->function->insns[i];
    uint32_t registers[MAX_READ], n = ptx_read(insn, registers, MAX_READ);
    for (uint32_t k = 0; k < n; k++)
        flow->uses[flow->first_use[i] + k] = (pti_use){registers[k], PTI_NONE};
    n = registers_written(insn, registers);
    for (uint32_t k = 0; k < n; k++)
        flow->values[flow->first_def[i] + k] =
            (pti_value){.kind = PTI_VALUE_INSN, .partial = insn->guarded, .reg = registers[k], .at = i, .previous = PTI_NONE};
}

static bool list_events(maker *m)
{
    pti_flow *flow = m->flow;
    const ptx_function *f = flow->function;
    uint32_t nuses = flow->first_use[f->ninsns], n = f->nregisters;
    uint32_t *first = m->events.first = calloc((size_t)n + 2, sizeof(uint32_t));
    m->events.list = calloc((size_t)nuses + flow->nvalues + 1, sizeof(uint32_t));
    if (!first || !m->events.list)
        return false;
    for (uint32_t u = 0; u < nuses; u++)
        first[flow->uses[u].reg + 2]++;
    for (uint32_t v = 0; v < flow->nvalues; v++)
        first[flow->values[v].reg + 2]++;
    for (uint32_t r = 2; r < n + 2; r++)
        first[r] += first[r - 1];
    for (uint32_t i = 0; i < f->ninsns; i++) {
        for (uint32_t u = flow->first_use[i]; u < flow->first_use[i + 1]; u++)
            m->events.list[first[flow->uses[u].reg + 1]++] = u << 1;
        for (uint32_t v = flow->first_def[i]; v < flow->first_def[i + 1]; v++)
            m->events.list[first[flow->values[v].reg + 1]++] = v << 1 | 1;
    }
    return true;
}

/* ------------------------------------------------------------ values */

static uint32_t add_value(maker *m, pti_value v)
{
    pti_flow *flow = m->flow;
    if (flow->nvalues >= PTI_MAX_VALUES) {
        m->status = PTI_LIMIT;
        return PTI_NONE;
    }
    if (flow->nvalues == m->room) {
        size_t size = sizeof *flow->values, room = m->room + m->room / 2 + 1024;
        void *moved = ptx_arena_resize(&flow->arena, flow->values, m->room * size, room * size);
        if (!moved) {
            m->status = PTI_MEMORY;
            return PTI_NONE;
        }
        flow->values = moved;
        m->room = (uint32_t)room;
    }
    flow->values[flow->nvalues] = v;
    return flow->nvalues++;
}

static void need(maker *m, uint32_t block, uint32_t reg)
{
    if (block == PTI_NONE || m->live[block] == reg + 1)
        return;
    m->live[block] = reg + 1;
    m->in[block] = CODE_TOP;
    m->blocks[m->nlive++] = block;
}

/* Where the register is live at the start of a block, and its value at the end of those that define it. */
static void find_live(maker *m, uint32_t reg)
{
    const pti_flow *flow = m->flow;
    for (uint32_t e = m->events.first[reg]; e < m->events.first[reg + 1]; e++) {
        uint32_t at = m->events.list[e] >> 1, insn = 0;
        bool definition = m->events.list[e] & 1;
        if (definition)
            insn = flow->values[at].at;
        else
            insn = flow->uses[at].value;      /* put there by solve_register */
        uint32_t block = flow->block_of[insn];
        if (m->defined[block] != reg + 1 && (!definition || flow->values[at].partial))
            need(m, block, reg);
        if (definition) {
            m->defined[block] = reg + 1;
            m->out[block] = at;
        }
    }
    for (uint32_t i = 0; i < m->nlive; i++) {
        const pti_block *b = &flow->blocks[m->blocks[i]];
        for (uint32_t p = 0; p < b->npredecessors; p++)
            if (b->predecessors[p] != PTI_NONE && m->defined[b->predecessors[p]] != reg + 1)
                need(m, b->predecessors[p], reg);
    }
}

static uint32_t resolved(const maker *m, uint32_t code)
{
    while (code != CODE_TOP && code & CODE_PHI && m->in[code & ~CODE_PHI] != code)
        code = m->in[code & ~CODE_PHI];
    return code;
}

static uint32_t code_from(const maker *m, uint32_t reg, uint32_t predecessor)
{
    if (predecessor == PTI_NONE)
        return CODE_ENTRY;
    return m->defined[predecessor] == reg + 1 ? m->out[predecessor] : resolved(m, m->in[predecessor]);
}

/* What all predecessors agree on; the block's phi when they do not. Its own phi and what is not known yet agree with all. */
static uint32_t meet(const maker *m, uint32_t reg, uint32_t block)
{
    const pti_block *b = &m->flow->blocks[block];
    uint32_t all = b->npredecessors ? CODE_TOP : CODE_ENTRY;
    for (uint32_t p = 0; p < b->npredecessors; p++) {
        uint32_t code = code_from(m, reg, b->predecessors[p]);
        if (code == CODE_TOP || code == (CODE_PHI | block) || code == all)
            continue;
        if (all != CODE_TOP)
            return CODE_PHI | block;
        all = code;
    }
    return all;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* m->blocks in their order: as places in it, ascending, then as blocks again; or, where they are many, all blocks are looked at. */
static void sort_live(maker *m, uint32_t reg)
{
    if (m->nlive > m->flow->nblocks / 8) {
        for (uint32_t i = 0, n = 0; n < m->nlive; i++)
            if (m->live[m->flow->ordered[i]] == reg + 1)
                m->blocks[n++] = m->flow->ordered[i];
        return;
    }
    for (uint32_t i = 0; i < m->nlive; i++)
        m->blocks[i] = m->flow->blocks[m->blocks[i]].order;
    qsort(m->blocks, m->nlive, sizeof *m->blocks, compare_numbers);
    for (uint32_t i = 0; i < m->nlive; i++)
        m->blocks[i] = m->flow->ordered[m->blocks[i]];
}

static void place_phis(maker *m, uint32_t reg)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < m->nlive; i++) {
            uint32_t b = m->blocks[i], code = m->in[b] == (CODE_PHI | b) ? m->in[b] : meet(m, reg, b);
            changed |= code != m->in[b];
            m->in[b] = code;
        }
    }
    for (changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < m->nlive; i++) {
            uint32_t b = m->blocks[i];
            if (m->in[b] != (CODE_PHI | b))
                continue;
            m->in[b] = meet(m, reg, b);
            changed |= m->in[b] != (CODE_PHI | b);
        }
    }
}

/* ------------------------------------------------------------ numbers for codes */

static uint32_t value_of(maker *m, uint32_t reg, uint32_t code)
{
    code = resolved(m, code);
    if (code == CODE_ENTRY || code == CODE_TOP) {      /* TOP: in a loop that nothing enters */
        if (m->entry == PTI_NONE)
            m->entry = add_value(m, (pti_value){.kind = PTI_VALUE_ENTRY, .reg = reg, .previous = PTI_NONE});
        return m->entry;
    }
    return code & CODE_PHI ? m->phi[code & ~CODE_PHI] : code;
}

static void make_phis(maker *m, uint32_t reg)
{
    pti_flow *flow = m->flow;
    for (uint32_t i = 0; i < m->nlive; i++) {
        uint32_t b = m->blocks[i];
        if (m->in[b] == (CODE_PHI | b))
            m->phi[b] = add_value(m, (pti_value){.kind = PTI_VALUE_PHI, .reg = reg, .at = b, .previous = PTI_NONE});
    }
    for (uint32_t i = 0; i < m->nlive && m->status == PTI_OK; i++) {
        uint32_t b = m->blocks[i], n = flow->blocks[b].npredecessors;
        if (m->in[b] != (CODE_PHI | b))
            continue;
        uint32_t *operands = ptx_arena_alloc(&flow->arena, n * sizeof *operands, sizeof *operands);
        if (!operands) {
            m->status = PTI_MEMORY;
            return;
        }
        for (uint32_t p = 0; p < n; p++)
            operands[p] = value_of(m, reg, code_from(m, reg, flow->blocks[b].predecessors[p]));
        flow->values[m->phi[b]].noperands = n;
        flow->values[m->phi[b]].operands = operands;
    }
}

/* Uses and partial definitions get the value before them in their block, or the one at its start. */
static void bind_uses(maker *m, uint32_t reg)
{
    pti_flow *flow = m->flow;
    uint32_t block = PTI_NONE, current = PTI_NONE;
    for (uint32_t e = m->events.first[reg]; e < m->events.first[reg + 1] && m->status == PTI_OK; e++) {
        uint32_t at = m->events.list[e] >> 1;
        bool definition = m->events.list[e] & 1;
        uint32_t b = flow->block_of[definition ? flow->values[at].at : flow->uses[at].value];
        if (b != block)
            current = PTI_NONE;
        block = b;
        if (current == PTI_NONE && (!definition || flow->values[at].partial))
            current = value_of(m, reg, m->in[b]);
        if (!definition) {
            flow->uses[at].value = current;
            continue;
        }
        if (flow->values[at].partial)
            flow->values[at].previous = current;
        current = at;
    }
}

static void solve_register(maker *m, uint32_t reg)
{
    m->nlive = 0;
    m->entry = PTI_NONE;
    find_live(m, reg);
    if ((m->live_sum += m->nlive) > MOST_LIVE) {
        m->status = PTI_LIMIT;
        return;
    }
    sort_live(m, reg);
    place_phis(m, reg);
    make_phis(m, reg);
    if (m->status == PTI_OK)
        bind_uses(m, reg);
}

/* ------------------------------------------------------------ users */

static void count_user(pti_flow *flow, uint32_t value, uint32_t user, bool fill)
{
    pti_value *v = &flow->values[value];
    if (fill)
        ((uint32_t *)v->users)[v->nusers] = user;
    v->nusers++;
}

static void each_user(pti_flow *flow, bool fill)
{
    for (uint32_t i = 0; i < flow->function->ninsns; i++)
        for (uint32_t u = flow->first_use[i]; u < flow->first_use[i + 1]; u++)
            count_user(flow, flow->uses[u].value, i, fill);
    for (uint32_t v = 0; v < flow->nvalues; v++) {
        for (uint32_t k = 0; k < flow->values[v].noperands; k++)
            count_user(flow, flow->values[v].operands[k], PTI_BY_VALUE | v, fill);
        if (flow->values[v].previous != PTI_NONE)
            count_user(flow, flow->values[v].previous, PTI_BY_VALUE | v, fill);
    }
}

static bool list_users(pti_flow *flow)
{
    size_t total = 0;
    each_user(flow, false);
    for (uint32_t v = 0; v < flow->nvalues; v++)
        total += flow->values[v].nusers;
    uint32_t *users = pti_take(&flow->arena, total, sizeof *users);
    if (!users)
        return false;
    for (uint32_t v = 0; v < flow->nvalues; v++) {
        flow->values[v].users = users;
        users += flow->values[v].nusers;
        flow->values[v].nusers = 0;
    }
    each_user(flow, true);
    return true;
}

/* ------------------------------------------------------------ all registers */

static bool take_scratch(maker *m)
{
    size_t n = (size_t)m->flow->nblocks + 1;
    m->in = calloc(n, sizeof(uint32_t));
    m->out = calloc(n, sizeof(uint32_t));
    m->live = calloc(n, sizeof(uint32_t));
    m->defined = calloc(n, sizeof(uint32_t));
    m->phi = calloc(n, sizeof(uint32_t));
    m->blocks = calloc(n, sizeof(uint32_t));
    return m->in && m->out && m->live && m->defined && m->phi && m->blocks && list_events(m);
}

static void free_scratch(maker *m)
{
    free(m->in);
    free(m->out);
    free(m->live);
    free(m->defined);
    free(m->phi);
    free(m->blocks);
    free(m->events.first);
    free(m->events.list);
}

/* Until a use has its value, the place of it holds the instruction. */
static void note_insns(pti_flow *flow)
{
    for (uint32_t i = 0; i < flow->function->ninsns; i++)
        for (uint32_t u = flow->first_use[i]; u < flow->first_use[i + 1]; u++)
            flow->uses[u].value = i;
}

pti_status pti_find_values(pti_flow *flow)
{
    if (!count_all(flow))
        return PTI_MEMORY;
    if (flow->nvalues > PTI_MAX_VALUES || flow->first_use[flow->function->ninsns] > PTI_BY_VALUE)
        return PTI_LIMIT;
    maker m = {.flow = flow, .room = flow->nvalues + 1};
    flow->values = ptx_arena_resize(&flow->arena, NULL, 0, m.room * sizeof *flow->values);
    if (!flow->values)
        return PTI_MEMORY;
    for (uint32_t i = 0; i < flow->function->ninsns; i++)
        fill_insn(flow, i);
    note_insns(flow);
    m.status = take_scratch(&m) ? PTI_OK : PTI_MEMORY;
    for (uint32_t r = 0; r < flow->function->nregisters && m.status == PTI_OK; r++)
        solve_register(&m, r);
    free_scratch(&m);
    if (m.status == PTI_OK && !list_users(flow))
        m.status = PTI_MEMORY;
    if (!ptx_arena_adopt(&flow->arena, flow->values)) {
        free(flow->values);
        flow->values = NULL;
        m.status = PTI_MEMORY;
    }
    return m.status;
}

/* ------------------------------------------------------------ look-ups */

uint32_t pti_value_read(const pti_flow *flow, uint32_t insn, uint32_t reg)
{
    for (uint32_t u = flow->first_use[insn]; u < flow->first_use[insn + 1]; u++)
        if (flow->uses[u].reg == reg)
            return flow->uses[u].value;
    return PTI_NONE;
}

uint32_t pti_value_written(const pti_flow *flow, uint32_t insn, uint32_t reg)
{
    for (uint32_t v = flow->first_def[insn]; v < flow->first_def[insn + 1]; v++)
        if (flow->values[v].reg == reg)
            return v;
    return PTI_NONE;
}

typedef struct search { const pti_flow *flow; uint8_t *seen; uint32_t *stack, depth; } search;

static void push(search *s, uint32_t value)
{
    if (value == PTI_NONE || s->seen[value])
        return;
    s->seen[value] = 1;
    s->stack[s->depth++] = value;
}

static uint32_t collect(search *s, uint32_t *insns, uint32_t room, bool *entry)
{
    uint32_t n = 0;
    *entry = false;
    while (s->depth) {
        const pti_value *v = &s->flow->values[s->stack[--s->depth]];
        *entry |= v->kind == PTI_VALUE_ENTRY;
        if (v->kind == PTI_VALUE_INSN && n++ < room)
            insns[n - 1] = v->at;
        push(s, v->previous);
        for (uint32_t k = 0; k < v->noperands; k++)
            push(s, v->operands[k]);
    }
    qsort(insns, n < room ? n : room, sizeof *insns, compare_numbers);
    return n;
}

uint32_t pti_reaching(const pti_flow *flow, uint32_t value, uint32_t *insns, uint32_t room, bool *entry)
{
    const pti_value *v = &flow->values[value];
    if (v->kind == PTI_VALUE_INSN && !v->partial) {        /* nearly all */
        *entry = false;
        if (room)
            insns[0] = v->at;
        return 1;
    }
    search s = {flow, calloc(flow->nvalues, 1), malloc(flow->nvalues * sizeof(uint32_t)), 0};
    uint32_t n = PTI_NONE;
    if (s.seen && s.stack) {
        push(&s, value);
        n = collect(&s, insns, room, entry);
    }
    free(s.seen);
    free(s.stack);
    return n;
}
