/* case_expect.c - judges what came out of a case against what was expected. */
#include "runtime/case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const case_output *output_of(const case_result *result, const case_expect *e)
{
    case_array_kind kind = e->array ? e->array->kind : CASE_GLOBAL;
    const char *name = e->array ? e->array->name : e->global;
    for (uint32_t i = 0; i < result->noutputs; i++)
        if (result->outputs[i].kind == kind && strcmp(result->outputs[i].name, name) == 0)
            return &result->outputs[i];
    return NULL;
}

static const char *tolerance_text(rt_pool *pool, const rt_tolerance *t)
{
    switch (t->kind) {
    case RT_EXACT: return "exact";
    case RT_ULP: return rt_pool_printf(pool, "%" PRIu64 " ulp", t->ulp);
    case RT_ABS_REL: return rt_pool_printf(pool, "abs %g rel %g", t->abs, t->rel);
    }
    return "";
}

/* Views an output with the expectation's dtype and shape. Untyped bytes (a .bin file, a module variable) take the other
 * side's dtype; otherwise both must agree, so that a mistake in a case file is not a silent reinterpretation. */
static bool agree(const case_output *output, const case_expect *e, rt_array *got, rt_array *want)
{
    bool got_untyped = output->kind == CASE_GLOBAL || (e->array && case_is_untyped(&e->array->source));
    if (got->bytes != want->bytes)
        return false;
    if (case_is_untyped(&e->source)) {
        void *data = want->data;
        *want = *got;
        want->data = data;
    } else if (got_untyped) {
        void *data = got->data;
        *got = *want;
        got->data = data;
    }
    return got->dtype == want->dtype && got->count == want->count;
}

static bool format_fits(rt_format format, rt_dtype dtype)
{
    switch (format) {
    case RT_AS_DTYPE: return true;
    case RT_AS_BF16: return dtype == RT_U16;
    case RT_AS_E4M3:
    case RT_AS_E5M2: return dtype == RT_U8;
    }
    return false;
}

static const char *describe_failure(rt_pool *pool, const rt_array *got, const rt_array *want, const case_expect *e,
                                    const rt_difference *d)
{
    char index[128], a[64], b[64];
    return rt_pool_printf(
        pool, "%" PRIu64 " of %" PRIu64 " elements outside the tolerance; first at %s: got %s, expected %s", d->failing,
        d->elements, rt_index_text(want, d->first, index, sizeof index),
        rt_format_text(got, d->first, e->format, a, sizeof a), rt_format_text(want, d->first, e->format, b, sizeof b));
}

static pxb_status judge_array(pxb_context *ctx, const case_file *file, case_result *result, const case_expect *e,
                              case_verdict *v)
{
    const case_output *output = output_of(result, e);
    char text[128], other[128];
    rt_array want;
    v->kind = case_array_kind_name(e->array ? e->array->kind : CASE_GLOBAL);
    v->name = e->array ? e->array->name : e->global;
    v->tolerance_text = tolerance_text(&result->pool, &e->tolerance);
    if (!output && result->fault) {
        v->detail = "the device's memory was lost with the fault";
        return PXB_OK;
    }
    if (!output)
        return rt_fail(ctx, PXB_INTERNAL, "%s \"%.80s\" was not read back", v->kind, v->name);
    pxb_status status = case_load_source(ctx, &e->source, &want);
    if (status)
        return status;
    rt_array got = output->array;
    const case_array *array = e->array ? e->array : case_find(file, CASE_GLOBAL, e->global);
    const case_pointers *pointers = e->pointers.given || !array ? &e->pointers : &array->pointers;
    status = case_check_pointers(ctx, file, pointers, v->name, want.bytes);
    if (status) {
        rt_array_free(&want);
        return status;
    }
    case_name_pointers(file, pointers, want.data);
    if (!agree(output, e, &got, &want)) {
        status = rt_fail_at(ctx, PXB_BAD_INPUT, file->path, e->line, e->column,
                            "%s \"%.80s\" is %s, but %s is expected", v->kind, v->name,
                            rt_array_describe(&got, text, sizeof text), rt_array_describe(&want, other, sizeof other));
    } else if (!format_fits(e->format, got.dtype)) {
        status =
            rt_fail_at(ctx, PXB_BAD_INPUT, file->path, e->line, e->column,
                       "%s is no array of bf16 (u16), e4m3 or e5m2 (u8)", rt_array_describe(&got, text, sizeof text));
    } else {
        rt_compare(&got, &want, e->format, &e->tolerance, &v->difference);
        v->array_text = rt_pool_strdup(&result->pool, rt_array_describe(&got, text, sizeof text));
        v->passed = v->difference.failing == 0;
        if (!v->array_text)
            status = rt_no_memory(ctx);
        else if (!v->passed)
            v->detail = describe_failure(&result->pool, &got, &want, e, &v->difference);
    }
    rt_array_free(&want);
    return status;
}

/* ------------------------------------------------------------ printf */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text in sorted order, joined again. Changes `text`. */
static char *sort_lines(rt_pool *pool, char *text)
{
    size_t count = 0, length = strlen(text);
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    char **lines = rt_pool_alloc(pool, count + 1, sizeof *lines), *out = rt_pool_alloc(pool, length + 2, 1), *to = out;
    if (!lines || !out)
        return NULL;
    count = 0;
    for (char *line = text; *line;) {
        char *end = line + strcspn(line, "\n"), *next = *end ? end + 1 : end;
        *end = '\0';
        lines[count++] = line;
        line = next;
    }
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(lines[i]);
        memcpy(to, lines[i], n);
        to[n] = '\n';
        to += n + 1;
    }
    return out;
}

static pxb_status judge_printf(pxb_context *ctx, case_result *result, const case_expect *e, case_verdict *v)
{
    rt_pool *pool = &result->pool;
    char *got = rt_pool_strdup(pool, result->printed), *want = rt_pool_strdup(pool, e->text);
    if (got && want && e->kind == CASE_EXPECT_PRINTF_SORTED) {
        got = sort_lines(pool, got);
        want = sort_lines(pool, want);
    }
    if (!got || !want)
        return rt_no_memory(ctx);
    v->kind = "printf";
    v->name = "";
    v->tolerance_text = e->kind == CASE_EXPECT_PRINTF_SORTED ? "sorted lines" : "exact";
    v->passed = strcmp(got, want) == 0;
    if (v->passed)
        return PXB_OK;
    size_t line = 1, start = 0, i = 0;
    for (; got[i] && got[i] == want[i]; i++)
        if (got[i] == '\n')
            line++, start = i + 1;
    v->detail = rt_pool_printf(pool, "line %zu: got \"%.*s\", expected \"%.*s\"", line, (int)strcspn(got + start, "\n"),
                               got + start, (int)strcspn(want + start, "\n"), want + start);
    return PXB_OK;
}

/* ------------------------------------------------------------ all */

static pxb_status judge(pxb_context *ctx, const case_file *file, case_result *result, const case_expect *e,
                        case_verdict *v)
{
    v->expect = e;
    v->array_text = v->tolerance_text = "";
    if (e->kind == CASE_EXPECT_ARRAY)
        return judge_array(ctx, file, result, e, v);
    if (e->kind != CASE_EXPECT_FAULT)
        return judge_printf(ctx, result, e, v);
    v->kind = "fault";
    v->name = e->text;
    v->passed = result->fault == e->fault;
    if (!v->passed && result->fault)
        v->detail = rt_pool_printf(&result->pool, "the launch faulted with %s", pxb_status_name(result->fault));
    else if (!v->passed)
        v->detail = "the launch did not fault";
    return PXB_OK;
}

pxb_status case_judge(pxb_context *ctx, const case_file *file, case_result *result)
{
    bool fault_expected = false;
    result->verdicts = rt_pool_alloc(&result->pool, file->nexpects, sizeof *result->verdicts);
    if (!result->verdicts)
        return rt_no_memory(ctx);
    result->passed = true;
    for (uint32_t i = 0; i < file->nexpects; i++) {
        case_verdict *v = &result->verdicts[result->nverdicts++];
        pxb_status status = judge(ctx, file, result, &file->expects[i], v);
        if (status)
            return status;
        result->passed = result->passed && v->passed;
        fault_expected = fault_expected || file->expects[i].kind == CASE_EXPECT_FAULT;
    }
    if (result->fault && !fault_expected)
        result->passed = false;
    return PXB_OK;
}
