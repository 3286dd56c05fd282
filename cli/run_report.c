/* run_report.c - the results of a case as a table for people and as JSON for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "runtime/device.h"

enum { SHOWN = 8 }; /* first elements of an output that nothing was expected of */

/* ------------------------------------------------------------ times */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Least and median of n times. */
static void summarise(const double *times, uint32_t n, double *least, double *median)
{
    double *sorted = malloc(n * sizeof *sorted);
    *least = *median = times[0];
    if (!sorted)
        return;
    memcpy(sorted, times, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    *least = sorted[0];
    *median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
}

static void print_times(const case_result *r, bool all)
{
    double least[3], median[3];
    summarise(r->parse_ms, r->repeat, &least[0], &median[0]);
    summarise(r->decode_ms, r->repeat, &least[1], &median[1]);
    summarise(r->run_ms, r->repeat, &least[2], &median[2]);
    if (!all) {
        printf("  parse %.2f ms, decode %.2f ms, run %.2f ms\n", least[0], least[1], least[2]);
        return;
    }
    printf("  of %u runs, least (median): parse %.2f (%.2f) ms, decode %.2f (%.2f) ms, run %.2f (%.2f) ms\n", r->repeat,
           least[0], median[0], least[1], median[1], least[2], median[2]);
}

/* ------------------------------------------------------------ text */

static void print_counters(const case_result *r)
{
    for (uint32_t i = 0; i < r->ncounters; i++)
        printf("%s%s %" PRIu64, i ? ", " : "  ", r->counters[i].name, r->counters[i].value);
    if (r->ncounters)
        putchar('\n');
}

static const char *model_name(const case_file *file, const run_arguments *a)
{
    return rt_mma_model_on(a->options.device, a->options.has_model ? a->options.model : file->model);
}

static const char *ulp_text(const rt_difference *d, char *buffer, size_t size)
{
    if (rt_is_nan_distance(d, d->max_ulp))
        snprintf(buffer, size, "NaN");
    else
        snprintf(buffer, size, "%" PRIu64, d->max_ulp);
    return buffer;
}

static void print_verdicts(const case_result *r, bool failures_only)
{
    table t;
    bool any = false;
    table_start(&t, 7, "<<<>>><");
    table_row(&t, (const char *[]){"output", "array", "tolerance", "differing", "max ulp", "max abs", "result"});
    for (uint32_t i = 0; i < r->nverdicts; i++) {
        const case_verdict *v = &r->verdicts[i];
        char name[128], differing[32] = "", ulp[32] = "", abs[32] = "";
        if (failures_only && v->passed)
            continue;
        any = true;
        snprintf(name, sizeof name, "%s %s", v->kind, v->name);
        if (v->expect->kind == CASE_EXPECT_ARRAY) {
            snprintf(differing, sizeof differing, "%" PRIu64, v->difference.differing);
            ulp_text(&v->difference, ulp, sizeof ulp);
            snprintf(abs, sizeof abs, "%.3g", v->difference.max_abs);
        }
        table_row(&t, (const char *[]){name, v->array_text, v->tolerance_text, differing, ulp, abs,
                                       v->passed ? "pass" : "FAIL"});
    }
    if (any)
        table_print(&t, stdout, 2);
    for (uint32_t i = 0; i < r->nverdicts; i++)
        if (r->verdicts[i].detail && !r->verdicts[i].passed)
            printf("  %s %s: %s\n", r->verdicts[i].kind, r->verdicts[i].name, r->verdicts[i].detail);
}

static void element_range(const rt_array *a, double *low, double *high)
{
    *low = (double)INFINITY;
    *high = -(double)INFINITY;
    for (uint64_t i = 0; i < a->count; i++) {
        double v = rt_array_get(a, i);
        if (v < *low)
            *low = v;
        if (v > *high)
            *high = v;
    }
}

/* An output that nothing was expected of: its range and first elements. */
static void print_output(table *t, const case_output *o)
{
    char array[128], low_text[32], high_text[32], first[512] = "";
    double low, high;
    char name[128];
    snprintf(name, sizeof name, "%s %s", case_array_kind_name(o->kind), o->name);
    element_range(&o->array, &low, &high);
    /* Nothing, or nothing but NaN, has no range. */
    const char *none = o->array.count ? "nan" : "-";
    snprintf(low_text, sizeof low_text, "%.6g", low);
    snprintf(high_text, sizeof high_text, "%.6g", high);
    for (uint64_t i = 0; i < o->array.count && i < SHOWN; i++) {
        char element[64];
        size_t used = strlen(first);
        snprintf(first + used, sizeof first - used, "%s%s", i ? " " : "",
                 rt_array_text(&o->array, i, element, sizeof element));
    }
    if (o->array.count > SHOWN)
        snprintf(first + strlen(first), sizeof first - strlen(first), " …");
    table_row(t, (const char *[]){name, rt_array_describe(&o->array, array, sizeof array), o->changed ? "yes" : "no",
                                  low <= high ? low_text : none, low <= high ? high_text : none, first});
}

static void print_outputs(const case_result *r)
{
    table t;
    table_start(&t, 6, "<<<>><");
    table_row(&t, (const char *[]){"output", "array", "changed", "least", "largest", "first elements"});
    for (uint32_t i = 0; i < r->noutputs; i++)
        print_output(&t, &r->outputs[i]);
    table_print(&t, stdout, 2);
}

/* Is there an array among the expectations? Otherwise the outputs themselves are shown. */
static bool judges_arrays(const case_result *r)
{
    for (uint32_t i = 0; i < r->nverdicts; i++)
        if (r->verdicts[i].expect->kind == CASE_EXPECT_ARRAY)
            return true;
    return false;
}

static bool judges_printf(const case_result *r)
{
    for (uint32_t i = 0; i < r->nverdicts; i++)
        if (r->verdicts[i].expect->kind == CASE_EXPECT_PRINTF ||
            r->verdicts[i].expect->kind == CASE_EXPECT_PRINTF_SORTED)
            return true;
    return false;
}

void report_case(const char *title, const case_file *file, const run_arguments *a, const case_result *r)
{
    if (a->quiet && r->passed)
        return;
    const char *answer = !r->passed ? "FAILED" : r->nverdicts ? "passed" : "done";
    printf("%s: %s", title, file->launches[0].entry);
    if (file->nlaunches > 1)
        printf(" and %u more launches", file->nlaunches - 1);
    printf(", device %s, mma model %s%s: %s\n", a->options.device ? a->options.device : "cpu", model_name(file, a),
           a->options.mma_fast ? " (fast)" : "", answer);
    if (r->nverdicts)
        print_verdicts(r, a->quiet);
    if (!judges_arrays(r) && r->noutputs && !a->quiet)
        print_outputs(r);
    if (r->printed[0] && (!judges_printf(r) || !r->passed))
        printf("  printf:\n%s%s", r->printed, r->printed[strlen(r->printed) - 1] == '\n' ? "" : "\n");
    if (r->fault_text)
        printf("%s%s\n", r->passed ? "  as expected: " : "  ", r->fault_text);
    if (a->quiet)
        return;
    print_counters(r);
    print_times(r, a->timing);
}

/* ------------------------------------------------------------ JSON */

static json_t *json_of_verdict(const case_verdict *v)
{
    json_t *j = json_pack("{s:s, s:o, s:b}", "kind", v->kind, "name", json_text(v->name), "passed", v->passed);
    if (v->expect->kind == CASE_EXPECT_ARRAY) {
        const rt_difference *d = &v->difference;
        json_object_set_new(j, "array", json_string(v->array_text));
        json_object_set_new(j, "tolerance", json_string(v->tolerance_text));
        json_object_set_new(j, "elements", json_integer((json_int_t)d->elements));
        json_object_set_new(j, "differing", json_integer((json_int_t)d->differing));
        json_object_set_new(j, "outside_tolerance", json_integer((json_int_t)d->failing));
        json_object_set_new(j, "max_ulp", json_ulp(d, d->max_ulp));
        json_object_set_new(j, "max_abs", isfinite(d->max_abs) ? json_real(d->max_abs) : json_null());
        if (d->differing) {
            json_object_set_new(j, "first", json_integer((json_int_t)d->first));
            json_object_set_new(j, "worst", json_integer((json_int_t)d->worst));
        }
    }
    if (v->detail && !v->passed)
        json_object_set_new(j, "detail", json_text(v->detail));
    return j;
}

static json_t *json_of_output(const case_output *o)
{
    char text[128];
    json_t *shape = json_array();
    for (uint32_t i = 0; i < o->array.ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)o->array.shape[i]));
    return json_pack("{s:s, s:o, s:s, s:o, s:b}", "kind", case_array_kind_name(o->kind), "name", json_text(o->name),
                     "array", rt_array_describe(&o->array, text, sizeof text), "shape", shape, "changed", o->changed);
}

static json_t *json_of_times(const double *times, uint32_t n)
{
    double least, median;
    json_t *all = json_array();
    summarise(times, n, &least, &median);
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(all, json_real(times[i]));
    return json_pack("{s:f, s:f, s:o}", "least", least, "median", median, "all", all);
}

json_t *json_of_case(const char *title, const case_file *file, const run_arguments *a, const case_result *r)
{
    json_t *verdicts = json_array(), *outputs = json_array();
    for (uint32_t i = 0; i < r->nverdicts; i++)
        json_array_append_new(verdicts, json_of_verdict(&r->verdicts[i]));
    for (uint32_t i = 0; i < r->noutputs; i++)
        json_array_append_new(outputs, json_of_output(&r->outputs[i]));
    json_t *j =
        json_pack("{s:o, s:o, s:s, s:s, s:b, s:o, s:o}", "case", json_text(title), "entry",
                  json_text(file->launches[0].entry), "device", a->options.device ? a->options.device : "cpu",
                  "mma_model", model_name(file, a), "passed", r->passed, "expectations", verdicts, "outputs", outputs);
    if (a->options.mma_fast)
        json_object_set_new(j, "mma", json_string("fast"));
    if (r->fault) {
        json_object_set_new(j, "fault", json_string(rt_fault_name(r->fault) ? rt_fault_name(r->fault) : "other"));
        json_object_set_new(j, "fault_line", json_integer(r->fault_line));
        json_object_set_new(j, "fault_text", json_text(r->fault_text));
    }
    json_object_set_new(j, "printf", json_text(r->printed));
    json_t *counters = json_object();
    for (uint32_t i = 0; i < r->ncounters; i++)
        json_object_set_new(counters, r->counters[i].name, json_integer((json_int_t)r->counters[i].value));
    json_object_set_new(j, "counters", counters);
    json_object_set_new(j, "parse_ms", json_of_times(r->parse_ms, r->repeat));
    json_object_set_new(j, "decode_ms", json_of_times(r->decode_ms, r->repeat));
    json_object_set_new(j, "run_ms", json_of_times(r->run_ms, r->repeat));
    return j;
}
