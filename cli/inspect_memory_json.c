/* inspect_memory_json.c - what inspect_memory.c finds, for programs. */
#include "cli/inspect_memory.h"

#include <stdlib.h>

static json_t *json_of_formula(const inspection *x, pti_poly p)
{
    const memory_analysis *m = x->memory;
    char text[FORMULA];
    pti_poly_text(&m->symbols, &m->plain, p, text, sizeof text);
    return json_text(text);
}

/* Factors and what they are factors of: the strides. */
static json_t *json_of_terms(const inspection *x, pti_poly p)
{
    memory_analysis *m = x->memory;
    const pti_sum sum = m->symbols.sums[p];
    json_t *list = json_array();
    for (uint32_t i = 0; i < sum.nterms; i++) {
        json_t *j = json_object(), *of = json_array();
        for (uint32_t a = 0; a < sum.terms[i].natoms; a++) {
            pti_term one = {1, 1, {sum.terms[i].atoms[a]}};
            json_array_append_new(of, json_of_formula(x, pti_sum_of(&m->symbols, 0, &one, 1)));
        }
        json_object_set_new(j, "stride", json_integer(sum.terms[i].factor));
        json_object_set_new(j, "of", of);
        json_array_append_new(list, j);
    }
    return list;
}

json_t *json_of_insn(const inspection *x, uint32_t insn)
{
    char text[512];
    json_t *j = json_object();
    ptx_format_insn(x->module, &x->function->insns[insn], text, sizeof text);
    json_object_set_new(j, "statement", json_integer(pti_statement_of_insn(&x->statements, insn) + 1));
    json_object_set_new(j, "line", json_integer(x->function->insns[insn].at.line));
    json_object_set_new(j, "text", json_text(text));
    return j;
}

static json_t *json_of_place(const inspection *x, uint32_t insn)
{
    return insn == PTI_NONE ? json_null() : json_integer(pti_statement_of_insn(&x->statements, insn) + 1);
}

/* ------------------------------------------------------------ parameters and textures */

json_t *json_of_param(const inspection *x, const pti_param *p)
{
    json_t *j = json_object(), *loads = json_array();
    char name[CELL], uses[CELL];
    pti_param_name(x->function, p->offset, name, sizeof name);
    for (uint32_t i = 0; i < p->nloads; i++)
        json_array_append_new(loads, json_of_insn(x, p->loads[i]));
    json_object_set_new(j, "name", json_text(name));
    json_object_set_new(j, "offset", json_integer((json_int_t)p->offset));
    json_object_set_new(j, "type", json_string(ptx_type_name(p->type)));
    json_object_set_new(j, "becomes", json_text(param_uses_text(x, p, uses, sizeof uses)));
    json_object_set_new(j, "base", p->base == PTI_NONE ? json_null() : json_integer(p->base));
    json_object_set_new(j, "loads", loads);
    return j;
}

static json_t *json_of_params(const inspection *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->memory->params.count; i++)
        json_array_append_new(list, json_of_param(x, &x->memory->params.list[i]));
    return list;
}

static json_t *json_of_textures(const inspection *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->memory->params.ntextures; i++) {
        const pti_texture *t = &x->memory->params.textures[i];
        json_t *j = json_of_insn(x, t->insn), *coordinates = json_array();
        for (uint32_t c = 0; c < t->ncoordinates; c++)
            json_array_append_new(coordinates, json_of_formula(x, t->coordinates[c]));
        json_object_set_new(j, "instruction", json_text(opcode_of_insn(x, t->insn)));
        json_object_set_new(j, "surface", json_boolean(t->surface));
        json_object_set_new(j, "writes", json_boolean(t->writes));
        char handle[FORMULA];
        json_object_set_new(j, "handle", json_text(handle_text(x, t, handle, sizeof handle)));
        json_object_set_new(j, "param_offset", t->param == PTI_NONE ? json_null()
                            : json_integer((json_int_t)x->memory->params.list[t->param].offset));
        json_object_set_new(j, "coordinates", coordinates);
        json_array_append_new(list, j);
    }
    return list;
}

/* ------------------------------------------------------------ addresses */

static json_t *json_of_pattern(const inspection *x, const pti_pattern *p)
{
    const pti_addresses *a = &x->memory->addresses;
    json_t *j = json_object(), *accesses = json_array();
    bool assumed = false;
    for (uint32_t i = p->first; i < p->first + p->count; i++) {
        const pti_access *q = &a->list[a->by_base[i]];
        assumed |= q->assumed;
        json_array_append_new(accesses, json_pack("{s:o, s:I}", "statement", json_of_place(x, q->insn), "offset",
                                                  (json_int_t)x->memory->symbols.sums[q->offset].constant));
    }
    json_object_set_new(j, "formula", json_of_formula(x, p->form));
    json_object_set_new(j, "terms", json_of_terms(x, p->form));
    json_object_set_new(j, "reads", json_boolean(p->reads));
    json_object_set_new(j, "writes", json_boolean(p->writes));
    json_object_set_new(j, "bytes", json_integer(p->bytes));
    json_object_set_new(j, "least", json_integer(p->least));
    json_object_set_new(j, "most", json_integer(p->most));
    json_object_set_new(j, "step", json_integer(p->step));
    json_object_set_new(j, "assumes_no_wrap", json_boolean(assumed));
    json_object_set_new(j, "accesses", accesses);
    return j;
}

static json_t *json_of_gaps(const pti_gap *list, uint32_t n)
{
    json_t *j = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, json_pack("[I, I]", (json_int_t)list[i].from, (json_int_t)list[i].to));
    return j;
}

static json_t *json_of_base(const inspection *x, uint32_t number)
{
    const pti_base_info *b = &x->memory->addresses.bases[number];
    json_t *j = json_object(), *patterns = json_array();
    char name[CELL], on[200];
    for (uint32_t p = b->first_pattern; b->count && p < b->first_pattern + b->npatterns; p++)
        json_array_append_new(patterns, json_of_pattern(x, &x->memory->addresses.patterns[p]));
    json_object_set_new(j, "base", json_text(name_of_base(x, number, name, sizeof name)));
    json_object_set_new(j, "space", json_string(ptx_space_name(b->space)));
    json_object_set_new(j, "reads", json_integer(b->nreads));
    json_object_set_new(j, "writes", json_integer(b->nwrites));
    json_object_set_new(j, "slots", json_integer(b->slots));
    json_object_set_new(j, "open", json_integer(b->nopen));
    json_object_set_new(j, "open_on", json_text(depends_text(b->open_on, on, sizeof on)));
    json_object_set_new(j, "extent", b->low == b->high ? json_null() : json_pack("[I, I]", (json_int_t)b->low, (json_int_t)b->high));
    json_object_set_new(j, "touched", b->mapped ? json_integer((json_int_t)b->touched) : json_null());
    json_object_set_new(j, "by_several", b->mapped ? json_integer((json_int_t)b->repeated) : json_null());
    json_object_set_new(j, "gap_bytes", b->mapped ? json_integer((json_int_t)b->gap_bytes) : json_null());
    json_object_set_new(j, "gaps", json_of_gaps(b->gaps, b->ngaps < PTI_MAX_GAPS ? b->ngaps : PTI_MAX_GAPS));
    json_object_set_new(j, "patterns", patterns);
    return j;
}

static json_t *json_of_bases(const inspection *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->memory->addresses.nbases; i++)
        json_array_append_new(list, json_of_base(x, i));
    return list;
}

/* ------------------------------------------------------------ shared memory */

static json_t *json_of_ranges(const pti_ranges *r)
{
    return json_pack("{s:I, s:o}", "bytes", (json_int_t)r->bytes, "runs",
                     json_of_gaps(r->list, r->count < PTI_MAX_RANGES ? r->count : PTI_MAX_RANGES));
}

static json_t *json_of_intervals(const inspection *x)
{
    const pti_shared *s = &x->memory->shared;
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->nintervals; i++) {
        const pti_interval *in = &s->intervals[i];
        json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:i, s:o, s:o, s:i}", "barrier", json_of_place(x, in->barrier), "reads",
                                              (int)in->nreads, "writes", (int)in->nwrites, "open", (int)in->nopen, "read",
                                              json_of_ranges(&in->read), "written", json_of_ranges(&in->written), "conflicts",
                                              (int)in->nconflicts));
    }
    return list;
}

static json_t *json_of_conflicts(const inspection *x)
{
    const pti_shared *s = &x->memory->shared;
    const pti_access *a = x->memory->addresses.list;
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->nconflicts; i++) {
        const pti_conflict *c = &s->conflicts[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:I, s:[i,i], s:b, s:b, s:i}", "a", json_of_place(x, a[c->a].insn), "b",
                                              json_of_place(x, a[c->b].insn), "byte", (json_int_t)c->byte, "warps", (int)c->warp_a,
                                              (int)c->warp_b, "both_write", c->both_write, "uncertain", c->uncertain, "interval", (int)c->interval));
    }
    return list;
}

static json_t *json_of_shared(const inspection *x)
{
    static const char *const verdicts[] = {"needed", "redundant", "undecided"};
    const pti_shared *s = &x->memory->shared;
    const pti_access *a = x->memory->addresses.list;
    json_t *barriers = json_array(), *overruns = json_array();
    for (uint32_t i = 0; i < s->nbarriers; i++) {
        const pti_barrier *b = &s->barriers[i];
        bool needed = b->verdict == PTI_NEEDED;
        json_array_append_new(barriers, json_pack("{s:o, s:s, s:o, s:o}", "statement", json_of_place(x, b->insn), "verdict",
                                                  verdicts[b->verdict], "before", json_of_place(x, needed ? a[b->before].insn : PTI_NONE),
                                                  "behind", json_of_place(x, needed ? a[b->behind].insn : PTI_NONE)));
    }
    for (uint32_t i = 0; i < s->noverruns; i++)
        json_array_append_new(overruns, json_pack("{s:o, s:I, s:I, s:I, s:b}", "statement", json_of_place(x, a[s->overruns[i].access].insn), "low",
                                                  (json_int_t)s->overruns[i].low, "high", (json_int_t)s->overruns[i].high, "size",
                                                  (json_int_t)s->overruns[i].size, "uncertain", s->overruns[i].uncertain));
    return json_pack("{s:I, s:i, s:i, s:b, s:o, s:o, s:o, s:b, s:o, s:o}", "bytes", (json_int_t)s->size, "accesses", (int)s->naccesses, "open",
                     (int)s->nopen, "decided", s->decided, "why_not", s->decided || !s->why_not ? json_null() : json_string(s->why_not),
                     "intervals", json_of_intervals(x), "conflicts", json_of_conflicts(x), "more_conflicts", s->more_conflicts, "barriers",
                     barriers, "overruns", overruns);
}

/* ------------------------------------------------------------ constants and registers */

static json_t *json_of_bits(ptx_type type, uint64_t bits)
{
    char hex[24], value[48];
    snprintf(hex, sizeof hex, "0x%0*llX", (int)ptx_type_bits(type) / 4, (unsigned long long)bits);
    snprintf(value, sizeof value, "%.17g", pti_float_value(type, bits));       /* JSON has no infinity */
    return json_pack("{s:s, s:s, s:s}", "type", ptx_type_name(type), "bits", hex, "value", value);
}

static json_t *json_of_constants(const inspection *x)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < x->memory->constants.count; i++) {
        const pti_literal *l = &x->memory->constants.list[i];
        json_t *j = json_of_bits(l->type, l->bits), *converted = json_array();
        for (uint32_t k = 0; k < l->nconverted; k++)
            json_array_append_new(converted, json_of_bits(l->converted[k].type, l->converted[k].bits));
        json_object_set_new(j, "register", l->ndefinitions ? json_text(x->function->registers[l->reg].name) : json_null());
        json_object_set_new(j, "definitions", json_integer(l->ndefinitions));
        json_object_set_new(j, "definition", json_of_place(x, l->first_definition));
        json_object_set_new(j, "uses", json_integer(l->nuses));
        json_object_set_new(j, "first_use", json_of_place(x, l->first_use));
        json_object_set_new(j, "last_use", json_of_place(x, l->last_use));
        json_object_set_new(j, "converted", converted);
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *json_of_life(const inspection *x, const pti_life *l)
{
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:b, s:b, s:b}", "register", json_text(x->function->registers[l->reg].name), "first",
                     l->at_entry ? json_null() : json_of_place(x, l->first), "last", json_of_place(x, l->last), "definitions",
                     (int)l->ndefinitions, "uses", (int)l->nuses, "from", (int)l->from, "to", (int)l->to, "round_loop", l->round_loop,
                     "at_entry", l->at_entry, "constant", l->constant);
}

/* All values that are carried, and all names that are reused; others would repeat the text. */
static json_t *json_of_registers(const inspection *x)
{
    const pti_lives *l = &x->memory->lives;
    json_t *carried = json_array(), *reused = json_array(), *across = json_array();
    for (uint32_t i = 0; i < l->count; i++)
        if (l->list[i].nuses && l->list[i].to - l->list[i].from >= 2)
            json_array_append_new(carried, json_of_life(x, &l->list[i]));
    for (uint32_t r = 0; r < x->function->nregisters; r++) {
        json_t *values = l->of_reg[r + 1] - l->of_reg[r] > 1 ? json_array() : NULL;
        for (uint32_t i = l->of_reg[r]; values && i < l->of_reg[r + 1]; i++)
            json_array_append_new(values, json_of_life(x, &l->list[i]));
        if (values)
            json_array_append_new(reused, values);
    }
    for (uint32_t p = 0; p < l->nphases; p++)
        json_array_append_new(across, json_integer(l->across[p]));
    return json_pack("{s:i, s:i, s:o, s:o, s:o}", "registers", (int)x->function->nregisters, "values", (int)l->count, "carried", carried,
                     "reused", reused, "words_at_phase", across);
}

json_t *json_of_memory(const inspection *x)
{
    const uint32_t *block = x->memory->symbols.launch.block;
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "block",
                     block[0] ? json_pack("[i,i,i]", (int)block[0], (int)block[1], (int)block[2]) : json_null(), "param_bytes",
                     (json_int_t)x->function->param_size, "params", json_of_params(x), "loops", json_of_loops(x), "memory", json_of_bases(x), "textures",
                     json_of_textures(x), "shared", json_of_shared(x), "constants", json_of_constants(x), "registers",
                     json_of_registers(x));
}
