/* compare_json.c - comparisons for programs; docs/compare.schema.json describes the text. */
#include <math.h>
#include <string.h>
#include "cli/compare.h"
#include "runtime/device.h"

static json_t *text_or_null(const char *text)
{
    return text ? json_text(text) : json_null();
}

static json_t *json_of_side(const compared_case *k, int side)
{
    static const char *const states[] = {"done", "fault", "error"};
    const rt_record_case *r = k->comparison.sides[side];
    json_t *j = json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:f}", "device", json_text(r->device), "device_name",
                          text_or_null(rt_record_property(r, "name")), "driver", text_or_null(rt_record_property(r, "driver")),
                          "mma_model", rt_mma_model_on(r->device, r->model), "date", text_or_null(r->date), "recorded_in",
                          text_or_null(k->sources[side]), "state", states[r->state], "run_ms", r->run_ms);
    json_object_set_new(j, "mma", json_string(r->mma_fast ? "fast" : "exact"));
    if (r->state != RT_RECORD_DONE) {
        const char *name = rt_fault_name(r->status);
        json_object_set_new(j, "status", json_string(name ? name : pxb_status_name(r->status)));
        json_object_set_new(j, "text", text_or_null(r->fault_text));
    }
    return j;
}

/* ------------------------------------------------------------ outputs */

static json_t *json_of_index(const rt_array *a, uint64_t flat)
{
    json_t *index = json_array();
    for (uint32_t d = a->ndim; d-- > 0;) {
        uint64_t n = a->shape[d] ? a->shape[d] : 1;
        json_array_insert_new(index, 0, json_integer((json_int_t)(flat % n)));
        flat /= n;
    }
    return index;
}

static json_t *json_of_element(const rt_compared *o, uint64_t i)
{
    char a[96], b[96];
    return json_pack("{s:I, s:o, s:s, s:s}", "flat", (json_int_t)i, "index", json_of_index(&o->a, i), "a",
                     rt_format_text(&o->a, i, o->format, a, sizeof a), "b", rt_format_text(&o->b, i, o->format, b, sizeof b));
}

static json_t *json_of_histogram(const rt_statistics *s)
{
    json_t *bins = json_array();
    for (uint32_t i = 0; i < s->nbins; i++)
        json_array_append_new(bins, json_integer((json_int_t)s->bins[i]));
    return json_pack("{s:I, s:o, s:I}", "bits_only", (json_int_t)s->bits_only, "powers_of_two", bins, "nan",
                     (json_int_t)s->nan);
}

static json_t *json_of_output(const rt_compared *o)
{
    char text[128];
    const rt_difference *d = &o->statistics.difference;
    json_t *j = json_pack("{s:s, s:o, s:b, s:b, s:o}", "kind", case_array_kind_name(o->kind), "name", json_text(o->name), "changed",
                          o->changed, "equal", o->equal, "tolerance", json_text(o->tolerance_text));
    if (o->problem) {
        json_object_set_new(j, "not_compared", json_text(o->problem));
        return j;
    }
    json_object_set_new(j, "array", json_string(rt_array_describe(&o->a, text, sizeof text)));
    json_object_set_new(j, "elements", json_integer((json_int_t)d->elements));
    json_object_set_new(j, "differing", json_integer((json_int_t)d->differing));
    json_object_set_new(j, "outside_tolerance", json_integer((json_int_t)d->failing));
    json_object_set_new(j, "median_ulp", json_ulp(d, o->statistics.median_ulp));
    json_object_set_new(j, "max_ulp", json_ulp(d, d->max_ulp));
    json_object_set_new(j, "max_abs", isfinite(d->max_abs) ? json_real(d->max_abs) : json_null());
    json_object_set_new(j, "histogram", json_of_histogram(&o->statistics));
    if (d->differing) {
        json_object_set_new(j, "first", json_of_element(o, d->first));
        json_object_set_new(j, "worst", json_of_element(o, d->worst));
    }
    return j;
}

/* ------------------------------------------------------------ trace */

static json_t *json_of_values(const rt_trace_value *values, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const rt_trace_value *v = &values[i];
        char a[128], b[128];
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:o, s:b}", "name", json_text(v->name), "type",
                                              ptx_type_name(v->type), "a",
                                              v->known[0] ? json_string(rt_trace_text(v, 0, a, sizeof a)) : json_null(), "b",
                                              v->known[1] ? json_string(rt_trace_text(v, 1, b, sizeof b)) : json_null(),
                                              "differs", v->differs));
    }
    return list;
}

static json_t *json_of_insn(const rt_comparison *c, int side)
{
    const rt_finding *f = c->finding;
    char text[512];
    if (!f->insn[side])
        return json_null();
    const char *file = c->module->file ? c->module->file : "", *slash = strrchr(file, '/');
    return json_pack("{s:o, s:i, s:o, s:o}", "file", json_text(slash ? slash + 1 : file), "line", (int)f->insn[side]->at.line,
                     "function", json_text(f->function[side]->name), "text", json_text(insn_text(c, side, text, sizeof text)));
}

static json_t *json_of_trace(const rt_comparison *c)
{
    static const char *const kinds[] = {"nothing", "result", "flow", "end"};
    const rt_finding *f = c->finding;
    if (c->trace_problem)
        return json_pack("{s:o}", "problem", json_text(c->trace_problem));
    if (!c->traced)
        return json_null();
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "found", kinds[f->kind], "records", (json_int_t)f->records,
                          "threads", (json_int_t)f->threads, "blocks", (json_int_t)f->blocks, "blocks_of",
                          (json_int_t)f->blocks_of, "excused", (json_int_t)f->excused, "threads_left", (json_int_t)f->left);
    if (f->note && f->note[0])
        json_object_set_new(j, "note", json_text(f->note));
    if (!f->insn[0] && !f->insn[1])
        return j;
    json_object_set_new(j, "launch", json_integer(f->launch));
    json_object_set_new(j, "block", json_pack("[i,i,i]", (int)f->block[0], (int)f->block[1], (int)f->block[2]));
    json_object_set_new(j, "thread", json_pack("[i,i,i]", (int)f->thread[0], (int)f->thread[1], (int)f->thread[2]));
    json_object_set_new(j, "warp", json_integer(f->warp));
    json_object_set_new(j, "lane", json_integer(f->lane));
    json_object_set_new(j, "record", json_integer((json_int_t)f->record));
    json_object_set_new(j, "instruction", json_of_insn(c, f->insn[0] ? 0 : 1));
    if (f->kind != RT_FOUND_RESULT)
        json_object_set_new(j, "other_instruction", json_of_insn(c, f->insn[0] ? 1 : 0));
    json_object_set_new(j, "operands", json_of_values(f->operands, f->noperands));
    json_object_set_new(j, "results", json_of_values(f->results, f->nresults));
    if (f->kind == RT_FOUND_RESULT) {
        json_object_set_new(j, "cause", json_string(rt_cause_name(f->cause)));
        json_object_set_new(j, "cause_text", json_text(rt_cause_text(f->cause)));
    }
    return j;
}

/* ------------------------------------------------------------ all */

static json_t *json_of_compared(const compared_case *k, bool trace)
{
    const rt_comparison *c = &k->comparison;
    if (k->problem)
        return json_pack("{s:o, s:b, s:o}", "case", json_text(k->title), "equal", false, "problem", json_text(k->problem));
    json_t *notes = json_array(), *outputs = json_array();
    for (uint32_t i = 0; i < c->nnotes; i++)
        json_array_append_new(notes, json_text(c->notes[i]));
    for (uint32_t i = 0; i < c->noutputs; i++)
        json_array_append_new(outputs, json_of_output(&c->outputs[i]));
    json_t *j = json_pack("{s:o, s:o, s:b, s:b, s:b, s:[o,o], s:o, s:o}", "case", json_text(k->title), "entries",
                          json_text(k->entries), "ran", c->ran, "comparable", c->comparable, "equal", c->equal, "sides",
                          json_of_side(k, 0), json_of_side(k, 1), "notes", notes, "outputs", outputs);
    if (!c->ran || !c->comparable)
        return j;
    json_object_set_new(j, "same_end", json_boolean(c->same_end));
    json_object_set_new(j, "printf", json_string(c->same_printed_order ? "equal" : c->same_printed ? "another order" : "different"));
    if (trace)
        json_object_set_new(j, "trace", json_of_trace(c));
    return j;
}

json_t *json_of_comparison(const comparison_report *r)
{
    json_t *cases = json_array();
    for (uint32_t i = 0; i < r->ncases; i++)
        json_array_append_new(cases, json_of_compared(&r->cases[i], r->trace));
    return json_pack("{s:b, s:s, s:s, s:o}", "equal", r->equal, "tolerance", r->tolerance, "ptxbridge", pxb_version(), "cases",
                     cases);
}
