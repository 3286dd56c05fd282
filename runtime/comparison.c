/* comparison.c - see comparison.h. */
#include "runtime/comparison.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/device.h"

static void note(rt_comparison *c, const char *text)
{
    if (text && c->nnotes < sizeof c->notes / sizeof *c->notes)
        c->notes[c->nnotes++] = text;
}

static const rt_record_output *find_output(const rt_record_case *c, case_array_kind kind, const char *name)
{
    for (uint32_t i = 0; i < c->noutputs; i++)
        if (c->outputs[i].kind == kind && strcmp(c->outputs[i].name, name) == 0)
            return &c->outputs[i];
    return NULL;
}

static const case_expect *find_expectation(const case_file *file, case_array_kind kind, const char *name)
{
    for (uint32_t i = 0; i < file->nexpects; i++) {
        const case_expect *e = &file->expects[i];
        bool global = kind == CASE_GLOBAL;
        if (e->kind == CASE_EXPECT_ARRAY && (global ? e->global && strcmp(e->global, name) == 0
                                                    : e->array && e->array->kind == kind && strcmp(e->array->name, name) == 0))
            return e;
    }
    return NULL;
}

/* ------------------------------------------------------------ arrays */

/* The contents of an output: the record's, or those that the case gave and nothing changed. */
static pxb_status contents(pxb_context *ctx, const case_file *file, const rt_record_output *o, rt_array *out)
{
    char digest[RT_DIGEST_TEXT];
    if (o->has_data)
        return rt_array_copy(ctx, out, &o->array);
    const case_array *a = case_find(file, o->kind, o->name);
    if (!a)
        return rt_fail(ctx, PXB_BAD_INPUT, "the case has no %s \"%.80s\", whose contents the record leaves to it",
                       case_array_kind_name(o->kind), o->name);
    pxb_status status = case_load_array(ctx, a, out);
    if (!status)
        status = case_check_pointers(ctx, file, &a->pointers, a->name, out->bytes);
    if (!status)
        case_name_pointers(file, &a->pointers, out->data);
    if (!status)
        status = rt_digest_array(ctx, out, digest);
    if (!status && strcmp(digest, o->sha256) != 0)
        status = rt_fail(ctx, PXB_BAD_INPUT, "%s \"%.80s\" of the case is not what was recorded as unchanged",
                         case_array_kind_name(o->kind), o->name);
    return status;
}

/* Module variables and raw files are bytes; the case's expectation knows what they are. */
static pxb_status give_dtype(pxb_context *ctx, const case_file *file, rt_compared *o, const case_expect *e)
{
    const case_array *a = case_find(file, o->kind, o->name);
    bool untyped = o->kind == CASE_GLOBAL || (a && case_is_untyped(&a->source));
    rt_array want;
    if (!e || !untyped || case_is_untyped(&e->source))
        return PXB_OK;
    pxb_status status = case_load_source(ctx, &e->source, &want);
    if (!status && want.bytes == o->a.bytes) {
        rt_array *both[2] = {&o->a, &o->b};
        for (int i = 0; i < 2; i++) {
            void *data = both[i]->data;
            *both[i] = want;
            both[i]->data = data;
        }
    }
    rt_array_free(&want);
    return status;
}

static void set_tolerance(rt_comparison *c, rt_compared *o, const case_expect *e, rt_equality equality, uint64_t ulp)
{
    o->tolerance = (rt_tolerance){.kind = RT_EXACT};
    if (equality == RT_EQUAL_CASE && e)
        o->tolerance = e->tolerance;
    else if (equality == RT_EQUAL_ULP && ulp)
        o->tolerance = (rt_tolerance){.kind = RT_ULP, .ulp = ulp};
    switch (o->tolerance.kind) {
    case RT_EXACT: o->tolerance_text = "equal bits"; break;
    case RT_ULP: o->tolerance_text = rt_pool_printf(&c->pool, "%" PRIu64 " ulp", o->tolerance.ulp); break;
    case RT_ABS_REL: o->tolerance_text = rt_pool_printf(&c->pool, "abs %g rel %g", o->tolerance.abs, o->tolerance.rel); break;
    }
    if (!o->tolerance_text)
        o->tolerance_text = "";
}

static bool format_fits(rt_format format, rt_dtype dtype)
{
    return format == RT_AS_DTYPE || (format == RT_AS_BF16 ? dtype == RT_U16 : dtype == RT_U8);
}

static pxb_status compare_output(pxb_context *ctx, const case_file *file, rt_comparison *c, rt_compared *o,
                                 const rt_record_output *a, const rt_record_output *b, rt_equality equality, uint64_t ulp)
{
    const case_expect *e = find_expectation(file, o->kind, o->name);
    char text[128], other[128];
    set_tolerance(c, o, e, equality, ulp);
    pxb_status status = contents(ctx, file, a, &o->a);
    if (!status)
        status = contents(ctx, file, b, &o->b);
    if (status)
        return status;
    if (o->a.dtype != o->b.dtype || o->a.count != o->b.count) {
        o->problem = rt_pool_printf(&c->pool, "%s on one side, %s on the other",
                                    rt_array_describe(&o->a, text, sizeof text),
                                    rt_array_describe(&o->b, other, sizeof other));
        return o->problem ? PXB_OK : rt_no_memory(ctx);
    }
    status = give_dtype(ctx, file, o, e);
    if (!status) {
        o->format = e && format_fits(e->format, o->a.dtype) ? e->format : RT_AS_DTYPE;
        status = rt_compare_statistics(ctx, &o->b, &o->a, o->format, &o->tolerance, &o->statistics);
    }
    o->equal = !status && o->statistics.difference.failing == 0;
    return status;
}

/* An array that one side alone has. A module variable is recorded when it changed, so that is a difference. */
static void lone_output(rt_comparison *c, rt_compared *o, int side)
{
    const rt_record_case *other = c->sides[!side];
    o->tolerance_text = "";
    if (o->kind == CASE_GLOBAL && other->state == RT_RECORD_DONE)
        for (uint32_t i = 0; i < other->nmissing; i++)
            if (strcmp(other->missing[i], o->name) == 0) {
                o->problem = rt_pool_printf(&c->pool, "side %c could not read it back", "AB"[!side]);
                o->equal = true; /* not known to differ */
                return;
            }
    if (other->state == RT_RECORD_FAULT && other->noutputs == 0) {
        o->problem = rt_pool_printf(&c->pool, "side %c lost its memory with the fault", "AB"[!side]);
        o->equal = true;
        return;
    }
    o->problem = o->kind == CASE_GLOBAL ? rt_pool_printf(&c->pool, "changed on side %c only", "AB"[side])
                                        : rt_pool_printf(&c->pool, "side %c has none", "AB"[!side]);
}

static pxb_status compare_outputs(pxb_context *ctx, const case_file *file, rt_comparison *c, rt_equality equality,
                                  uint64_t ulp)
{
    const rt_record_case *a = c->sides[0], *b = c->sides[1];
    c->outputs = calloc((size_t)a->noutputs + b->noutputs + 1, sizeof *c->outputs);
    pxb_status status = c->outputs ? PXB_OK : rt_no_memory(ctx);
    for (uint32_t i = 0; i < a->noutputs && !status; i++) {
        const rt_record_output *x = &a->outputs[i], *y = find_output(b, x->kind, x->name);
        rt_compared *o = &c->outputs[c->noutputs++];
        o->kind = x->kind;
        o->name = x->name;
        o->changed = x->changed || !y || y->changed;
        if (y)
            status = compare_output(ctx, file, c, o, x, y, equality, ulp);
        else
            lone_output(c, o, 0);
    }
    for (uint32_t i = 0; i < b->noutputs && !status; i++) {
        const rt_record_output *y = &b->outputs[i];
        if (find_output(a, y->kind, y->name))
            continue;
        rt_compared *o = &c->outputs[c->noutputs++];
        o->kind = y->kind;
        o->name = y->name;
        o->changed = true;
        lone_output(c, o, 1);
    }
    return status;
}

/* ------------------------------------------------------------ printf */

typedef struct line { const char *text; size_t length; } line;

static int by_line(const void *x, const void *y)
{
    const line *a = x, *b = y;
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static line *sorted_lines(const char *text, size_t *count)
{
    size_t n = 0;
    for (const char *p = text; *p; p++)
        n += *p == '\n';
    line *lines = calloc(n + 1, sizeof *lines);
    *count = 0;
    for (const char *p = text; lines && *p;) {
        size_t length = strcspn(p, "\n");
        lines[(*count)++] = (line){p, length};
        p += length + (p[length] == '\n');
    }
    if (lines)
        qsort(lines, *count, sizeof *lines, by_line);
    return lines;
}

static pxb_status compare_printed(pxb_context *ctx, rt_comparison *c)
{
    const char *a = c->sides[0]->printed, *b = c->sides[1]->printed;
    c->same_printed = c->same_printed_order = strcmp(a, b) == 0;
    if (c->same_printed)
        return PXB_OK;
    size_t na, nb;
    line *x = sorted_lines(a, &na), *y = sorted_lines(b, &nb);
    c->same_printed = x && y && na == nb;
    for (size_t i = 0; i < na && c->same_printed; i++)
        c->same_printed = by_line(&x[i], &y[i]) == 0;
    bool room = x && y;
    free(x);
    free(y);
    return room ? PXB_OK : rt_no_memory(ctx);
}

/* ------------------------------------------------------------ all */

static bool same_digest(const char *a, const char *b)
{
    return a[0] && b[0] && strcmp(a, b) == 0;
}

static void compare_heads(rt_comparison *c)
{
    const rt_record_case *a = c->sides[0], *b = c->sides[1];
    c->ran = a->state != RT_RECORD_ERROR && b->state != RT_RECORD_ERROR;
    c->comparable = same_digest(a->inputs_sha256, b->inputs_sha256);
    if (!c->ran)
        return;
    if (!c->comparable)
        note(c, "the two sides had different inputs (launches, parameters or initial arrays)");
    if (!same_digest(a->ptx_sha256, b->ptx_sha256))
        note(c, "the two sides ran different PTX texts");
    const char *model[2] = {rt_mma_model_on(a->device, a->model), rt_mma_model_on(b->device, b->model)};
    if (strcmp(model[0], model[1]) != 0)
        note(c, rt_pool_printf(&c->pool, "the mma models differ: %s on side A, %s on side B", model[0], model[1]));
    if (a->mma_fast != b->mma_fast)
        note(c, rt_pool_printf(&c->pool, "side %c computes its mma on matrix cores (--mma fast), with no model's bits",
                               "AB"[b->mma_fast]));
    c->same_end = a->state == b->state && a->status == b->status;
}

pxb_status rt_compare_records(pxb_context *ctx, const case_file *file, const rt_record_case *a, const rt_record_case *b,
                              rt_equality equality, uint64_t ulp, rt_comparison *out)
{
    memset(out, 0, sizeof *out);
    out->sides[0] = a;
    out->sides[1] = b;
    compare_heads(out);
    if (!out->ran || !out->comparable)
        return PXB_OK;
    pxb_status status = compare_printed(ctx, out);
    if (!status)
        status = compare_outputs(ctx, file, out, equality, ulp);
    out->equal = !status && out->same_end && out->same_printed;
    for (uint32_t i = 0; i < out->noutputs; i++)
        out->equal = out->equal && out->outputs[i].equal;
    return status;
}

void rt_comparison_free(rt_comparison *c)
{
    for (uint32_t i = 0; i < c->noutputs; i++) {
        rt_array_free(&c->outputs[i].a);
        rt_array_free(&c->outputs[i].b);
    }
    free(c->outputs);
    rt_pool_free(&c->pool);
    memset(c, 0, sizeof *c);
}
