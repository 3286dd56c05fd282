/* sources.c - backward slices that stop at memory and at the results of mma. */
#include "ptx/inspect/sources.h"

#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/flow_internal.h"

/* All searches of a function together visit at most this many values for each instruction of it. */
enum { VISITS_PER_INSTRUCTION = 64 };

bool pti_begin_search(const pti_flow *flow, const pti_phases *phases, const pti_opcodes *opcodes, ptx_arena *arena, pti_search *out)
{
    *out = (pti_search){.flow = flow, .phases = phases, .opcodes = opcodes, .arena = arena};
    out->budget = VISITS_PER_INSTRUCTION * ((uint64_t)flow->function->ninsns + 1000);
    ptx_arena_init(&out->own, SIZE_MAX);
    out->stamp = pti_take(&out->own, flow->nvalues, sizeof *out->stamp);
    out->stack = pti_take(&out->own, flow->nvalues, sizeof *out->stack);
    out->seen = pti_take(&out->own, flow->nvalues, sizeof *out->seen);
    return out->stamp && out->stack && out->seen;
}

void pti_end_search(pti_search *s)
{
    ptx_arena_free(&s->own);
}

static void push(pti_search *s, uint32_t value)
{
    if (value == PTI_NONE || s->stamp[value] == s->now)
        return;
    s->stamp[value] = s->now;
    s->stack[s->depth++] = value;
}

static bool is_memory(pti_work w)
{
    return w == PTI_WORK_LOAD || w == PTI_WORK_TEXTURE || w == PTI_WORK_SURFACE || w == PTI_WORK_ATOMIC || w == PTI_WORK_ASYNC;
}

static bool reads_special(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        for (uint32_t j = 0; j < insn->operands[i].nvalues; j++)
            if (insn->operands[i].values[j].kind == PTX_VALUE_SPECIAL)
                return true;
    return false;
}

/* A root, when the search ends here. */
static bool root_of(const pti_search *s, uint32_t value, pti_root *out)
{
    const pti_value *v = &s->flow->values[value];
    if (v->kind == PTI_VALUE_ENTRY) {
        *out = (pti_root){PTI_ORIGIN_UNWRITTEN, v->reg};
        return true;
    }
    if (v->kind == PTI_VALUE_PHI)
        return false;
    const ptx_insn *insn = &s->flow->function->insns[v->at];
    if (s->phases->of_insn[v->at] != PTI_NONE)
        *out = (pti_root){PTI_ORIGIN_PHASE, s->phases->of_insn[v->at]};
    else if (is_memory(s->opcodes->list[s->opcodes->of_insn[v->at]].work))
        *out = (pti_root){PTI_ORIGIN_LOAD, v->at};
    else if (s->flow->first_use[v->at] == s->flow->first_use[v->at + 1])
        *out = (pti_root){reads_special(insn) ? PTI_ORIGIN_SPECIAL : PTI_ORIGIN_CONSTANT, v->at};
    else
        return false;
    return true;
}

static void visit(pti_search *s, uint32_t value)
{
    const pti_value *v = &s->flow->values[value];
    pti_root root;
    s->seen[s->nseen++] = value;
    push(s, v->previous);
    if (root_of(s, value, &root))
        return;
    for (uint32_t i = 0; v->kind == PTI_VALUE_PHI && i < v->noperands; i++)
        push(s, v->operands[i]);
    for (uint32_t u = s->flow->first_use[v->at]; v->kind == PTI_VALUE_INSN && u < s->flow->first_use[v->at + 1]; u++)
        push(s, s->flow->uses[u].value);
}

static int by_root(const void *a, const void *b)
{
    const pti_root *x = a, *y = b;
    return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : (x->at > y->at) - (x->at < y->at);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Each element once; the array is sorted. */
static uint32_t unique(void *array, uint32_t n, size_t size)
{
    char *a = array;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || memcmp(a + (kept - 1) * size, a + i * size, size) != 0)
            memmove(a + kept++ * size, a + i * size, size);
    return kept;
}

static bool collect(pti_search *s, pti_sources *out)
{
    out->roots = ptx_arena_alloc(s->arena, (s->nseen + 1) * sizeof *out->roots, 8);
    out->through = ptx_arena_alloc(s->arena, (s->nseen + 1) * sizeof *out->through, 8);
    if (!out->roots || !out->through)
        return false;
    for (uint32_t i = 0; i < s->nseen; i++) {
        const pti_value *v = &s->flow->values[s->seen[i]];
        if (root_of(s, s->seen[i], &out->roots[out->nroots]))
            out->nroots++;
        else if (v->kind == PTI_VALUE_INSN && s->opcodes->list[s->opcodes->of_insn[v->at]].work != PTI_WORK_MOVE)
            out->through[out->nthrough++] = v->at;
    }
    qsort(out->roots, out->nroots, sizeof *out->roots, by_root);
    qsort(out->through, out->nthrough, sizeof *out->through, by_number);
    out->nroots = unique(out->roots, out->nroots, sizeof *out->roots);
    out->nthrough = unique(out->through, out->nthrough, sizeof *out->through);
    out->direct = out->nthrough == 0;
    return true;
}

bool pti_find_sources(pti_search *s, const uint32_t *values, uint32_t n, pti_sources *out)
{
    *out = (pti_sources){0};
    s->now++;
    s->depth = s->nseen = 0;
    for (uint32_t i = 0; i < n; i++)
        push(s, values[i]);
    while (s->depth && s->budget) {
        s->budget--;
        visit(s, s->stack[--s->depth]);
    }
    out->cut = s->depth > 0;
    return collect(s, out);
}

bool pti_sources_of_phase(pti_search *s, uint32_t phase, int role, pti_sources *out)
{
    const pti_phase *p = &s->phases->list[phase];
    uint32_t n = 0, room = 0, *values;
    for (uint32_t i = 0; i < p->nmma; i++)
        room += s->flow->function->insns[p->mma[i].insn].operands[1 + role].nvalues;
    values = malloc((room + 1) * sizeof *values);
    if (!values)
        return false;
    for (uint32_t i = 0; i < p->nmma; i++) {
        const ptx_operand *o = &s->flow->function->insns[p->mma[i].insn].operands[1 + role];
        for (uint32_t j = 0; j < o->nvalues; j++)
            if (o->values[j].kind == PTX_VALUE_REG && (role != PTI_ROLE_C || p->mma[i].step == 0))
                values[n++] = pti_value_read(s->flow, p->mma[i].insn, o->values[j].reg);
    }
    bool ok = pti_find_sources(s, values, n, out);
    free(values);
    return ok;
}
