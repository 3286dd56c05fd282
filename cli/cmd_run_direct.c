/* cmd_run_direct.c - a launch described by options becomes the same case_file as one read from JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"

typedef struct builder {
    pxb_context *ctx;
    case_file *file;
    case_array *arrays; /* at most one per argument */
} builder;

static bool no_memory(void)
{
    usage_error(&command_run, "out of memory");
    return false;
}

static bool has_suffix(const char *text, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);
    return length > n && memcmp(text + length - n, suffix, n) == 0;
}

/* "4", "4,2", "4x2x1" */
static bool parse_extent(const char *what, const char *text, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    const char *p = text ? text : "1";
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long v = *p >= '0' && *p <= '9' ? strtoul(p, &end, 10) : 0;
        if (v == 0 || v > INT32_MAX)
            break;
        out[i] = (uint32_t)v;
        if (*end == '\0')
            return true;
        if (*end != ',' && *end != 'x')
            break;
        p = end + 1;
    }
    usage_error(&command_run, "--%s is 1 to 3 numbers, e.g. 16,16,1, not \"%s\"", what, text);
    return false;
}

/* "f32[64,64]" */
static bool parse_array_type(const char *text, case_source *out)
{
    const char *bracket = strchr(text, '['), *p = bracket;
    if (!bracket || !rt_dtype_from_name(text, (size_t)(bracket - text), &out->dtype))
        return false;
    out->kind = CASE_ZEROS;
    for (out->ndim = 0; out->ndim < RT_MAX_DIMS;) {
        char *end;
        p++;
        if (*p < '0' || *p > '9')
            return false;
        errno = 0;
        out->shape[out->ndim++] = strtoull(p, &end, 10);
        if (errno)
            return false;
        p = end;
        if (*p == ']')
            return p[1] == '\0';
        if (*p != ',')
            return false;
    }
    return false;
}

static bool parse_scalar(rt_dtype dtype, const char *text, uint64_t *bits)
{
    char *end;
    errno = 0;
    if (*text == '\0' || *text == ' ')
        return false;
    if (rt_dtype_is_float(dtype)) {
        double v = strtod(text, &end);
        *bits = case_float_bits(dtype, v);
        return *end == '\0';
    }
    bool negative = text[0] == '-';
    const char *digits = text + negative;
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    if (*digits < '0' || *digits > '9')
        return false;
    unsigned long long v = strtoull(digits, &end, hex ? 16 : 10);
    if (*end || errno)
        return false;
    if (dtype == RT_U64 && !negative) {
        *bits = v;
        return true;
    }
    if (v > (unsigned long long)INT64_MAX + negative)
        return false;
    int64_t value = negative ? (int64_t)(0 - v) : (int64_t)v;
    return case_integer_bits(dtype, value, bits);
}

/* The name of a buffer from its file: "data/in.npy" is "in". */
static const char *stem(rt_pool *pool, const char *path, size_t length)
{
    const char *start = path;
    for (size_t i = 0; i < length; i++)
        if (path[i] == '/')
            start = path + i + 1;
    size_t n = length - (size_t)(start - path);
    for (size_t i = n; i-- > 1;)
        if (start[i] == '.') {
            n = i;
            break;
        }
    return rt_pool_printf(pool, "%.*s", (int)n, start);
}

static bool file_source(builder *b, const char *text, case_array *a)
{
    rt_pool *pool = &b->file->pool;
    const char *colon = strrchr(text, ':');
    case_source *s = &a->source;
    size_t n = strlen(text);
    if (colon && has_suffix(text, (size_t)(colon - text), ".npz")) {
        s->kind = CASE_NPZ;
        s->member = colon + 1;
        s->path = rt_pool_printf(pool, "%.*s", (int)(colon - text), text);
        if (!a->name)
            a->name = s->member;
    } else {
        s->kind = has_suffix(text, n, ".npy") ? CASE_NPY : has_suffix(text, n, ".png") ? CASE_PNG : CASE_RAW;
        s->path = text;
    }
    if (!a->name)
        a->name = stem(pool, text, n);
    return (s->path && a->name) || no_memory();
}

/* Is it an array? Fills *a. */
static bool parse_array(builder *b, const char *text, case_array *a, bool *is_array)
{
    rt_pool *pool = &b->file->pool;
    size_t n = strlen(text);
    const char *equals = strchr(text, '='), *colon = strchr(text, ':');
    *is_array = true;
    if (equals && equals > text && equals[1]) {
        a->name = rt_pool_printf(pool, "%.*s", (int)(equals - text), text);
        return a->name ? file_source(b, equals + 1, a) : no_memory();
    }
    if (colon && colon > text && parse_array_type(colon + 1, &a->source)) {
        a->name = rt_pool_printf(pool, "%.*s", (int)(colon - text), text);
        return a->name != NULL || no_memory();
    }
    const char *last = strrchr(text, ':');
    if (has_suffix(text, n, ".npy") || has_suffix(text, n, ".png") ||
        (last && has_suffix(text, (size_t)(last - text), ".npz")))
        return file_source(b, text, a);
    *is_array = false;
    return true;
}

static bool bad_arg(const char *text)
{
    usage_error(&command_run, "--arg \"%s\" is neither a file, NAME=FILE, NAME:f32[64], a value like u32:7, nor null",
                text);
    return false;
}

static bool parse_value(builder *b, const char *text, case_field *f)
{
    const char *colon = strchr(text, ':');
    if (strcmp(text, "null") == 0) {
        f->kind = CASE_NULL;
        return true;
    }
    if (!colon || !rt_dtype_from_name(text, (size_t)(colon - text), &f->dtype))
        return bad_arg(text);
    uint64_t *bits = rt_pool_alloc(&b->file->pool, 1, sizeof *bits);
    if (!bits)
        return no_memory();
    if (!parse_scalar(f->dtype, colon + 1, bits)) {
        usage_error(&command_run, "--arg \"%s\": \"%s\" is no %s", text, colon + 1, rt_dtype_name(f->dtype));
        return false;
    }
    f->kind = CASE_SCALARS;
    f->count = 1;
    f->bits = bits;
    return true;
}

static bool add_param(builder *b, const char *text, case_param *param)
{
    case_field *f = rt_pool_alloc(&b->file->pool, 1, sizeof *f);
    if (!f)
        return no_memory();
    param->nfields = 1;
    param->fields = f;
    bool is_array;
    case_array *a = &b->arrays[b->file->narrays];
    if (!parse_array(b, text, a, &is_array))
        return false;
    if (!is_array)
        return parse_value(b, text, f);
    f->kind = CASE_ADDRESS;
    const case_array *same = case_find(b->file, CASE_BUFFER, a->name);
    if (same) {
        usage_error(&command_run, "--arg \"%s\": there are two buffers \"%s\"; give one a name with NAME=FILE", text,
                    a->name);
        return false;
    }
    f->array = a;
    b->file->narrays++;
    return true;
}

static bool build(builder *b, const char *ptx, const run_arguments *a)
{
    rt_pool *pool = &b->file->pool;
    case_launch *l = rt_pool_alloc(pool, 1, sizeof *l);
    case_param *params = rt_pool_alloc(pool, a->nargs, sizeof *params);
    b->arrays = rt_pool_alloc(pool, (size_t)a->nargs + 1, sizeof *b->arrays);
    if (!l || !params || !b->arrays)
        return no_memory();
    b->file->ptx = ptx;
    b->file->arrays = b->arrays;
    b->file->launches = l;
    b->file->nlaunches = 1;
    l->entry = a->entry;
    l->shared = (uint32_t)a->shared;
    l->cooperative = a->cooperative;
    l->params = params;
    l->nparams = a->nargs;
    if (!parse_extent("grid", a->grid, l->grid) || !parse_extent("block", a->block, l->block))
        return false;
    for (uint32_t i = 0; i < a->nargs; i++)
        if (!add_param(b, a->args[i], &params[i]))
            return false;
    return true;
}

case_file *direct_case(pxb_context *ctx, const char *ptx, const run_arguments *a)
{
    builder b = {.ctx = ctx, .file = calloc(1, sizeof *b.file)};
    if (!b.file) {
        no_memory();
        return NULL;
    }
    if (build(&b, ptx, a))
        return b.file;
    case_free(b.file);
    return NULL;
}
