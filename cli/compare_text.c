/* compare_text.c - comparisons for people. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "cli/compare.h"
#include "runtime/device.h"

const char *ulp_text(uint64_t ulp, bool nan, char *buffer, size_t size)
{
    if (nan)
        snprintf(buffer, size, "NaN");
    else
        snprintf(buffer, size, "%" PRIu64, ulp);
    return buffer;
}

const char *bin_text(uint32_t bin, char *buffer, size_t size)
{
    uint64_t low = (uint64_t)1 << bin;
    if (bin == 0)
        snprintf(buffer, size, "1");
    else if (bin < 20)
        snprintf(buffer, size, "%" PRIu64 "-%" PRIu64, low, 2 * low - 1);
    else
        snprintf(buffer, size, "2^%u-", bin);
    return buffer;
}

const char *place_text(const rt_comparison *c, int side, char *buffer, size_t size)
{
    const ptx_insn *insn = c->finding->insn[side];
    const char *file = c->module->file ? c->module->file : "", *slash = strrchr(file, '/');
    snprintf(buffer, size, "%s:%u", slash ? slash + 1 : file, insn ? insn->at.line : 0);
    return buffer;
}

const char *insn_text(const rt_comparison *c, int side, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (c->finding->insn[side])
        ptx_format_insn(c->module, c->finding->insn[side], buffer, size);
    return buffer;
}

/* ------------------------------------------------------------ head */

static void print_side(const compared_case *c, int side)
{
    const rt_record_case *r = c->comparison.sides[side];
    const char *name = rt_record_property(r, "name"), *driver = rt_record_property(r, "driver");
    printf("  %c  %s", "AB"[side], r->device);
    if (name)
        printf(", %s", name);
    if (driver)
        printf(", driver %s", driver);
    printf(", mma model %s%s", rt_mma_model_on(r->device, r->model), r->mma_fast ? " (fast)" : "");
    if (c->sources[side])
        printf(", recorded %s in %s", r->date, c->sources[side]);
    printf("\n");
    if (r->state == RT_RECORD_ERROR)
        printf("     did not run: %s\n", r->fault_text ? r->fault_text : "");
    if (r->state == RT_RECORD_FAULT)
        printf("     stopped by a fault (%s): %s\n", pxb_status_name(r->status), r->fault_text ? r->fault_text : "");
}

/* ------------------------------------------------------------ outputs */

static void print_spread(const rt_compared *o)
{
    const rt_statistics *s = &o->statistics;
    char text[64], index[128], a[96], b[96];
    if (s->difference.differing == 0)
        return;
    printf("  %s %s\n    differences in ulp:", case_array_kind_name(o->kind), o->name);
    if (s->bits_only)
        printf("  bits only: %" PRIu64, s->bits_only);
    for (uint32_t i = 0; i < s->nbins; i++)
        if (s->bins[i])
            printf("  %s: %" PRIu64, bin_text(i, text, sizeof text), s->bins[i]);
    if (s->nan)
        printf("  NaN: %" PRIu64, s->nan);
    printf("\n    first at %s: A %s, B %s\n", rt_index_text(&o->a, s->difference.first, index, sizeof index),
           rt_format_text(&o->a, s->difference.first, o->format, a, sizeof a),
           rt_format_text(&o->b, s->difference.first, o->format, b, sizeof b));
    if (s->difference.worst != s->difference.first)
        printf("    worst at %s: A %s, B %s\n", rt_index_text(&o->a, s->difference.worst, index, sizeof index),
               rt_format_text(&o->a, s->difference.worst, o->format, a, sizeof a),
               rt_format_text(&o->b, s->difference.worst, o->format, b, sizeof b));
}

static void print_outputs(const rt_comparison *c)
{
    table t;
    uint32_t unchanged = 0;
    table_start(&t, 8, "<<>>>><<");
    table_row(&t, (const char *[]){"output", "array", "differing", "median ulp", "max ulp", "max abs", "tolerance", "result"});
    for (uint32_t i = 0; i < c->noutputs; i++) {
        const rt_compared *o = &c->outputs[i];
        const rt_difference *d = &o->statistics.difference;
        char name[160], array[128] = "", differing[64] = "", median[32] = "", most[32] = "", abs[32] = "";
        if (!o->changed) {
            unchanged++;
            continue;
        }
        snprintf(name, sizeof name, "%s %s", case_array_kind_name(o->kind), o->name);
        if (!o->problem) {
            rt_array_describe(&o->a, array, sizeof array);
            snprintf(differing, sizeof differing, "%" PRIu64 " of %" PRIu64, d->differing, d->elements);
            if (d->differing) {
                ulp_text(o->statistics.median_ulp, rt_is_nan_distance(d, o->statistics.median_ulp), median, sizeof median);
                ulp_text(d->max_ulp, rt_is_nan_distance(d, d->max_ulp), most, sizeof most);
                snprintf(abs, sizeof abs, "%.3g", d->max_abs);
            }
        }
        const char *result = o->problem ? o->problem : d->differing == 0 ? "equal" : o->equal ? "within tolerance" : "DIFFERENT";
        table_row(&t, (const char *[]){name, array, differing, median, most, abs, o->tolerance_text, result});
    }
    if (unchanged < c->noutputs)
        table_print(&t, stdout, 2);
    else
        table_free(&t);
    if (unchanged)
        printf("  %u array%s that neither side changed\n", unchanged, unchanged > 1 ? "s" : "");
    for (uint32_t i = 0; i < c->noutputs; i++)
        print_spread(&c->outputs[i]);
}

/* ------------------------------------------------------------ trace */

static void print_values(const char *what, const rt_trace_value *values, uint32_t n)
{
    table t;
    table_start(&t, 4, "<<<<");
    table_row(&t, (const char *[]){what, "A", "B", ""});
    for (uint32_t i = 0; i < n; i++) {
        char a[128], b[128];
        table_row(&t, (const char *[]){values[i].name, rt_trace_text(&values[i], 0, a, sizeof a),
                                       rt_trace_text(&values[i], 1, b, sizeof b), values[i].differs ? "differs" : ""});
    }
    if (n)
        table_print(&t, stdout, 4);
    else
        table_free(&t);
}

static void print_extent(const rt_finding *f)
{
    printf("    compared %" PRIu64 " records of %" PRIu64 " threads in %" PRIu64 " of %" PRIu64 " blocks", f->records, f->threads,
           f->blocks, f->blocks_of);
    if (f->excused)
        printf("; %" PRIu64 " results that are addresses, clocks or races, or made of them, were passed over", f->excused);
    if (f->left)
        printf("; %" PRIu64 " threads were left when such a value steered them", f->left);
    printf("\n");
}

static void print_trace(const rt_comparison *c)
{
    const rt_finding *f = c->finding;
    char place[256], text[512];
    if (c->trace_problem)
        printf("  trace: %s\n", c->trace_problem);
    if (!c->traced)
        return;
    if (f->kind == RT_FOUND_NOTHING) {
        printf("  trace: no instruction with another result was found\n");
        print_extent(f);
        return;
    }
    if (f->kind == RT_FOUND_END && !f->insn[0] && !f->insn[1]) {
        printf("  trace: no result differs until one side stops: %s\n", f->note ? f->note : "");
        print_extent(f);
        return;
    }
    int side = f->insn[0] ? 0 : 1;
    printf("  trace: the first %s is at %s in %s\n    %s\n", f->kind == RT_FOUND_RESULT ? "result that differs" : "parting of ways",
           place_text(c, side, place, sizeof place), f->function[side]->name, insn_text(c, side, text, sizeof text));
    if (f->kind != RT_FOUND_RESULT) {
        if (f->insn[!side])
            printf("    where side B executes %s: %s\n", place_text(c, !side, place, sizeof place),
                   insn_text(c, !side, text, sizeof text));
        else
            printf("    where side %c has ended\n", "AB"[!side]);
    }
    printf("    launch %u, block (%u,%u,%u), thread (%u,%u,%u), warp %u, lane %u, record %" PRIu64 " of the thread\n", f->launch,
           f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2], f->warp, f->lane, f->record);
    print_values("operand", f->operands, f->noperands);
    print_values("result", f->results, f->nresults);
    if (f->kind == RT_FOUND_RESULT)
        printf("    cause: %s%s%s\n", rt_cause_text(f->cause), f->note && f->note[0] ? "; " : "", f->note ? f->note : "");
    print_extent(f);
}

/* ------------------------------------------------------------ a case */

static const char *answer(const rt_comparison *c)
{
    if (!c->ran)
        return "NOT COMPARED";
    if (!c->comparable)
        return "NOT COMPARABLE";
    if (!c->equal)
        return "DIFFERENT";
    for (uint32_t i = 0; i < c->noutputs; i++)
        if (c->outputs[i].statistics.difference.differing)
            return "equal within the tolerance";
    return "equal";
}

void print_comparison(const compared_case *k, const comparison_report *r)
{
    const rt_comparison *c = &k->comparison;
    (void)r;
    printf("%s: %s: %s\n", k->title, k->entries, answer(c));
    print_side(k, 0);
    print_side(k, 1);
    for (uint32_t i = 0; i < c->nnotes; i++)
        printf("  note: %s\n", c->notes[i]);
    if (!c->ran || !c->comparable)
        return;
    if (!c->same_end)
        printf("  the launches ended differently\n");
    if (!c->same_printed)
        printf("  printf: DIFFERENT (%zu and %zu bytes)\n", strlen(c->sides[0]->printed), strlen(c->sides[1]->printed));
    else if (!c->same_printed_order)
        printf("  printf: the same lines in another order\n");
    print_outputs(c);
    print_trace(c);
}
