/* inspect_phases_json.c - phases and epilogues as JSON. Statements are numbered from 1, as everywhere in what `inspect` prints. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/inspect_phases.h"

static json_t *json_of_load_group(const inspection *x, const load_group *g)
{
    char text[2000];
    json_t *j = json_object();
    json_object_set_new(j, "instruction", json_text(x->opcodes.list[g->opcode].text));
    json_object_set_new(j, "count", json_integer(g->count));
    json_object_set_new(j, "first", json_integer(pti_statement_of_insn(&x->statements, g->first_insn) + 1));
    json_object_set_new(j, "last", json_integer(pti_statement_of_insn(&x->statements, g->last_insn) + 1));
    if (g->pattern == PTI_NONE)
        return j;
    json_object_set_new(j, "base", json_text(base_text(x, g, text, sizeof text)));
    json_object_set_new(j, "index", json_text(index_text(x, g, text, sizeof text)));
    json_object_set_new(j, "least", json_integer(g->least));
    json_object_set_new(j, "most", json_integer(g->most));
    json_object_set_new(j, "bytes", json_integer(g->bytes));
    return j;
}

static json_t *json_of_counts(const inspection *x, const pti_count *counts, uint32_t n)
{
    json_t *j = json_object();
    for (uint32_t i = 0; i < n; i++)
        json_object_set_new(j, x->opcodes.list[counts[i].opcode].text, json_integer(counts[i].count));
    return j;
}

static json_t *json_of_through(const inspection *x, const pti_sources *s)
{
    json_t *j = json_object();
    uint32_t *counts = calloc(x->opcodes.count + 1, sizeof *counts);
    for (uint32_t i = 0; counts && i < s->nthrough; i++)
        counts[x->opcodes.of_insn[s->through[i]]]++;
    for (uint32_t i = 0; counts && i < x->opcodes.count; i++)
        if (counts[i])
            json_object_set_new(j, x->opcodes.list[i].text, json_integer(counts[i]));
    free(counts);
    return j;
}

static json_t *json_of_sources(const inspection *x, const pti_sources *s)
{
    enum { MOST = 64 };
    load_group groups[MOST];
    json_t *j = json_object(), *loads = json_array(), *phases = json_array();
    uint32_t n = group_loads(x, s, groups, MOST), constants = 0, specials = 0, unwritten = 0;
    for (uint32_t i = 0; i < n && i < MOST; i++)
        json_array_append_new(loads, json_of_load_group(x, &groups[i]));
    for (uint32_t i = 0; i < s->nroots; i++) {
        if (s->roots[i].kind == PTI_ORIGIN_PHASE)
            json_array_append_new(phases, json_integer(s->roots[i].at + 1));
        constants += s->roots[i].kind == PTI_ORIGIN_CONSTANT;
        specials += s->roots[i].kind == PTI_ORIGIN_SPECIAL;
        unwritten += s->roots[i].kind == PTI_ORIGIN_UNWRITTEN;
    }
    json_object_set_new(j, "loads", loads);
    json_object_set_new(j, "phases", phases);
    json_object_set_new(j, "constants", json_integer(constants));
    json_object_set_new(j, "special_registers", json_integer(specials));
    json_object_set_new(j, "unwritten", json_integer(unwritten));
    json_object_set_new(j, "through", json_of_through(x, s));
    json_object_set_new(j, "complete", json_boolean(!s->cut && n <= MOST));
    return j;
}

static json_t *json_of_stored(const inspection *x, const pti_stored *s)
{
    json_t *j = json_of_sources(x, &s->data);
    json_object_set_new(j, "stores", json_integer(s->nstores));
    json_object_set_new(j, "first", json_integer(pti_statement_of_insn(&x->statements, s->stores[0]) + 1));
    json_object_set_new(j, "last", json_integer(pti_statement_of_insn(&x->statements, s->stores[s->nstores - 1]) + 1));
    return j;
}

static json_t *json_of_product(const pti_product *q)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "M", (json_int_t)q->M, "N", (json_int_t)q->N, "K", (json_int_t)q->K, "rows",
                     (json_int_t)q->rows, "columns", (json_int_t)q->columns, "slices", (json_int_t)q->slices, "tiles", (json_int_t)q->tiles, "mma",
                     (json_int_t)q->count, "full", q->full);
}

static json_t *json_of_range(const inspection *x, uint32_t first, uint32_t end)
{
    json_t *j = json_object();
    json_object_set_new(j, "statements", json_integer(end - first));
    if (end == first)
        return j;
    json_object_set_new(j, "first", json_integer(first + 1));
    json_object_set_new(j, "last", json_integer(end));
    json_object_set_new(j, "first_line", json_integer(x->statements.list[first].first_line));
    json_object_set_new(j, "last_line", json_integer(x->statements.list[end - 1].last_line));
    return j;
}

static json_t *number_or_null(uint32_t v, uint32_t none)
{
    return v == none ? json_null() : json_integer(v + 1);
}

static json_t *size_or_null(uint32_t v)
{
    return v ? json_integer(v) : json_null();
}

json_t *json_of_phase(const inspection *x, uint32_t p)
{
    static const char *const roles[] = {"A", "B", "C"};
    const pti_phase *q = &x->phases.list[p];
    json_t *j = json_of_range(x, q->first, q->last + 1), *products = json_array(), *list = json_array(), *sources = json_object();
    json_object_set_new(j, "number", json_integer(p + 1));
    json_object_set_new(j, "instruction", json_text(phase_opcode(x, p)));
    json_object_set_new(j, "mixed", json_boolean(q->mixed));
    json_object_set_new(j, "mma", json_integer(q->nmma));
    json_object_set_new(j, "M", size_or_null(q->M));
    json_object_set_new(j, "N", size_or_null(q->N));
    json_object_set_new(j, "K", size_or_null(q->K));
    json_object_set_new(j, "full", json_boolean(q->full));
    json_object_set_new(j, "tiles", json_integer(q->ntiles));
    json_object_set_new(j, "a_fragments", json_integer(q->na));
    json_object_set_new(j, "b_fragments", json_integer(q->nb));
    for (uint32_t i = 0; i < q->nproducts; i++)
        json_array_append_new(products, json_of_product(&q->products[i]));
    json_object_set_new(j, "products", products);
    json_object_set_new(j, "continues", number_or_null(q->continues, PTI_NONE));
    json_object_set_new(j, "loop_from", number_or_null(q->loop_from, PTI_NONE));
    json_object_set_new(j, "group", json_integer(q->group + 1));
    for (uint32_t i = 0; i < PTI_ROLES; i++) {
        json_t *source = json_of_sources(x, &x->sources[p * PTI_ROLES + i]);
        if (x->stored[p * PTI_ROLES + i].nstores)
            json_object_set_new(source, "stored", json_of_stored(x, &x->stored[p * PTI_ROLES + i]));
        json_object_set_new(sources, roles[i], source);
    }
    json_object_set_new(j, "sources", sources);
    for (uint32_t i = 0; i < q->nmma; i++) {
        const pti_mma *m = &q->mma[i];
        json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "statement",
                                              (json_int_t)pti_statement_of_insn(&x->statements, m->insn) + 1, "product", (json_int_t)m->product,
                                              "row", (json_int_t)m->row, "column", (json_int_t)m->column, "slice", (json_int_t)m->slice, "step",
                                              (json_int_t)m->step, "a", (json_int_t)m->a, "b", (json_int_t)m->b));
    }
    json_object_set_new(j, "instructions", list);
    return j;
}

static json_t *json_of_accesses(const inspection *x, const pti_epilogue *q)
{
    memory_count counts[64];
    json_t *list = json_array();
    uint32_t n = count_memory(x, q, counts, 64);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I}", "work", pti_work_name(counts[i].work), "space", ptx_space_name(counts[i].space),
                                              "bytes", (json_int_t)counts[i].bytes, "count", (json_int_t)counts[i].count));
    return list;
}

json_t *json_of_epilogue(const inspection *x, uint32_t e)
{
    const pti_epilogue *q = &x->epilogues.list[e];
    json_t *j = json_of_range(x, q->first, q->end), *guesses = json_array(), *work = json_object();
    char shape[24];
    json_object_set_new(j, "number", json_integer(e));
    json_object_set_new(j, "instruction_count", json_integer(q->ninsns));
    json_object_set_new(j, "labels", json_integer(q->nlabels));
    snprintf(shape, sizeof shape, "%012" PRIx64, q->shape & 0xffffffffffff);
    json_object_set_new(j, "shape", json_string(shape));
    json_object_set_new(j, "like", json_integer(q->like));
    json_object_set_new(j, "operations", json_of_counts(x, q->ops, q->nops));
    for (int i = 0; i < PTI_WORKS; i++)
        if (q->work[i])
            json_object_set_new(work, pti_work_name((pti_work)i), json_integer(q->work[i]));
    json_object_set_new(j, "work", work);
    json_object_set_new(j, "memory", json_of_accesses(x, q));
    for (uint32_t i = 0; i < q->nguesses; i++)
        json_array_append_new(guesses, json_pack("{s:o, s:o}", "name", json_text(q->guesses[i].name), "evidence", json_text(q->guesses[i].evidence)));
    json_object_set_new(j, "guesses", guesses);
    return j;
}

static json_t *json_of_group(const inspection *x, uint32_t g)
{
    const pti_group *q = &x->phases.groups[g];
    json_t *j = json_object(), *phases = json_array();
    for (uint32_t p = q->first; p != PTI_NONE; p = x->phases.list[p].next)
        json_array_append_new(phases, json_integer(p + 1));
    json_object_set_new(j, "phases", phases);
    json_object_set_new(j, "M", size_or_null(q->M));
    json_object_set_new(j, "N", size_or_null(q->N));
    json_object_set_new(j, "K", size_or_null(q->K));
    json_object_set_new(j, "loops", json_boolean(q->loops));
    return j;
}

static json_t *json_of_join(const pti_join *q)
{
    json_t *phases = json_array();
    for (uint32_t i = 0; i < q->nphases; i++)
        json_array_append_new(phases, json_integer(q->phases[i] + 1));
    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:b, s:b}", "phases", phases, "mma", (json_int_t)q->nmma, "M", (json_int_t)q->M, "N", (json_int_t)q->N,
                     "K", (json_int_t)q->K, "full", q->full, "loops", q->loops);
}

json_t *json_of_phases(const inspection *x)
{
    json_t *j = json_object(), *phases = json_array(), *groups = json_array(), *joins = json_array(), *epilogues = json_array();
    for (uint32_t p = 0; p < x->phases.count; p++)
        json_array_append_new(phases, json_of_phase(x, p));
    for (uint32_t g = 0; g < x->phases.ngroups; g++)
        json_array_append_new(groups, json_of_group(x, g));
    for (uint32_t i = 0; i < x->phases.njoins; i++)
        json_array_append_new(joins, json_of_join(&x->phases.joins[i]));
    for (uint32_t e = 0; e < x->epilogues.count; e++)
        json_array_append_new(epilogues, json_of_epilogue(x, e));
    json_object_set_new(j, "phases", phases);
    json_object_set_new(j, "groups", groups);
    json_object_set_new(j, "joins", joins);
    json_object_set_new(j, "epilogues", epilogues);
    return j;
}
