/* case_source.c - where a case's arrays come from: parsing the description, and making the array. */
#include "runtime/case_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static pxb_status parse_dtype(const case_parser *p, const case_node *n, rt_dtype *out)
{
    case_node at = case_member(n, "dtype");
    const char *name = NULL;
    pxb_status status = case_string(p, &at, &name);
    if (status)
        return status;
    if (!rt_dtype_from_name(name, strlen(name), out))
        return case_fail(p, &at, "unknown dtype \"%.40s\"; possible: u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64", name);
    return PXB_OK;
}

static pxb_status parse_shape(const case_parser *p, const case_node *n, case_source *out)
{
    case_node at = case_member(n, "shape");
    pxb_status status = case_want(p, &at, JSON_ARRAY, "a list of extents");
    if (status)
        return status;
    if (json_array_size(at.json) > RT_MAX_DIMS)
        return case_fail(p, &at, "at most %d dimensions are possible", RT_MAX_DIMS);
    uint64_t bytes = rt_dtype_bytes(out->dtype);
    for (out->ndim = 0; out->ndim < json_array_size(at.json); out->ndim++) {
        case_node e = case_element(&at, out->ndim);
        status = case_unsigned(p, &e, (uint64_t)1 << 40, &out->shape[out->ndim]);
        if (status)
            return status;
        uint64_t extent = out->shape[out->ndim] ? out->shape[out->ndim] : 1;
        if (bytes > p->ctx->array_limit / extent)
            return case_fail(p, &e, "the array would be larger than the limit of %" PRIu64 " bytes",
                             p->ctx->array_limit);
        bytes *= extent;
    }
    return PXB_OK;
}

static pxb_status parse_values(const case_parser *p, const case_node *n, case_source *out)
{
    static const char *const keys[] = {"dtype", "data", "shape", NULL};
    case_node data = case_member(n, "data"), shape = case_member(n, "shape");
    pxb_status status = case_check_keys(p, n, keys);
    if (!status)
        status = parse_dtype(p, n, &out->dtype);
    if (!status)
        status = case_want(p, &data, JSON_ARRAY, "a list of elements");
    if (status)
        return status;
    out->count = json_array_size(data.json);
    uint64_t *bits = rt_pool_alloc(p->pool, out->count, sizeof *bits);
    if (!bits)
        return rt_no_memory(p->ctx);
    out->bits = bits;
    for (size_t i = 0; i < out->count && !status; i++) {
        case_node e = case_element(&data, i);
        status = case_element_bits(p, &e, out->dtype, &bits[i]);
    }
    if (status)
        return status;
    if (!shape.json) {
        out->ndim = 1;
        out->shape[0] = out->count;
        return PXB_OK;
    }
    status = parse_shape(p, n, out);
    uint64_t product = 1;
    for (uint32_t i = 0; i < out->ndim; i++)
        product *= out->shape[i];
    if (!status && product != out->count)
        status = case_fail(p, &shape, "the shape has %" PRIu64 " elements, data has %" PRIu64, product, out->count);
    return status;
}

/* Bounds of integers are integers, so that nothing is rounded. */
static pxb_status parse_bounds(const case_parser *p, const case_node *n, case_source *out)
{
    case_node low = case_member(n, "low"), high = case_member(n, "high");
    pxb_status status;
    if (rt_dtype_is_float(out->dtype)) {
        status = case_real(p, &low, &out->low);
        if (!status)
            status = case_real(p, &high, &out->high);
        if (!status && !(out->low <= out->high && isfinite(out->high - out->low)))
            status = case_fail(p, &high, "low must not be above high");
        return status;
    }
    status = case_want(p, &low, JSON_INTEGER, "an integer");
    if (!status)
        status = case_want(p, &high, JSON_INTEGER, "an integer");
    if (status)
        return status;
    int64_t l = json_integer_value(low.json), h = json_integer_value(high.json);
    uint64_t unused;
    if (l >= h)
        return case_fail(p, &high, "low must be below high");
    if (!case_integer_bits(out->dtype, l, &unused))
        return case_fail(p, &low, "%" PRId64 " does not fit %s", l, rt_dtype_name(out->dtype));
    if (!case_integer_bits(out->dtype, h - 1, &unused))
        return case_fail(p, &high, "%" PRId64 " - 1 does not fit %s", h, rt_dtype_name(out->dtype));
    out->low_i = l;
    out->span = (uint64_t)h - (uint64_t)l;
    return PXB_OK;
}

static pxb_status parse_random(const case_parser *p, const case_node *n, case_source *out)
{
    static const char *const keys[] = {"seed", "dtype", "shape", "low", "high", NULL};
    case_node seed = case_member(n, "seed");
    pxb_status status = case_check_keys(p, n, keys);
    if (!status)
        status = case_want(p, &seed, JSON_INTEGER, "an integer");
    if (!status)
        status = parse_dtype(p, n, &out->dtype);
    if (!status)
        status = parse_shape(p, n, out);
    if (!status)
        status = parse_bounds(p, n, out);
    if (!status)
        out->seed = (uint64_t)json_integer_value(seed.json);
    return status;
}

static pxb_status parse_zeros(const case_parser *p, const case_node *n, case_source *out)
{
    static const char *const keys[] = {"dtype", "shape", NULL};
    pxb_status status = case_check_keys(p, n, keys);
    if (!status)
        status = parse_dtype(p, n, &out->dtype);
    return status ? status : parse_shape(p, n, out);
}

pxb_status case_parse_source(const case_parser *p, const case_node *n, case_source *out)
{
    static const struct {
        const char *key;
        case_source_kind kind;
    } kinds[] = {
        {"npy", CASE_NPY},       {"npz", CASE_NPZ},     {"raw", CASE_RAW},       {"png", CASE_PNG},
        {"random", CASE_RANDOM}, {"zeros", CASE_ZEROS}, {"values", CASE_VALUES},
    };
    case_node at = {0};
    int found = 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        case_node candidate = case_member(n, kinds[i].key);
        if (candidate.json) {
            at = candidate;
            out->kind = kinds[i].kind;
            found++;
        }
    }
    if (found != 1)
        return case_fail(p, n, "exactly one of npy, npz, raw, png, random, zeros and values is wanted here, not %d",
                         found);
    case_node dtype = case_member(n, "dtype");
    out->dtype = RT_U8;
    if (dtype.json) {
        pxb_status status = out->kind == CASE_RAW ? parse_dtype(p, n, &out->dtype) : case_fail(p, &dtype, "\"dtype\" goes with \"raw\"");
        if (status)
            return status;
        out->typed = true;
    }
    case_node member = case_member(n, "member");
    if (member.json && out->kind != CASE_NPZ)
        return case_fail(p, &member, "\"member\" goes with \"npz\"");
    pxb_status status = PXB_OK;
    if (out->kind >= CASE_NPY)
        status = case_path(p, &at, &out->path);
    else
        status = case_want(p, &at, JSON_OBJECT, "an object");
    if (!status && out->kind == CASE_NPZ)
        status = case_string(p, &member, &out->member);
    if (!status && out->kind == CASE_RANDOM)
        status = parse_random(p, &at, out);
    if (!status && out->kind == CASE_ZEROS)
        status = parse_zeros(p, &at, out);
    if (!status && out->kind == CASE_VALUES)
        status = parse_values(p, &at, out);
    return status;
}

/* ------------------------------------------------------------ making the array */

static pxb_status read_raw(pxb_context *ctx, const char *path, rt_dtype dtype, rt_array *out)
{
    char *data;
    size_t length;
    pxb_status status = rt_read_file(ctx, path, ctx->array_limit, &data, &length);
    const uint32_t n = rt_dtype_bytes(dtype);
    uint64_t shape[1] = {length / n};
    if (!status && length % n)
        status = rt_fail_at(ctx, PXB_BAD_INPUT, path, 0, 0, "%zu bytes are no whole number of %s", length, rt_dtype_name(dtype));
    if (!status)
        status = rt_array_make(ctx, out, dtype, 1, shape);
    if (!status)
        memcpy(out->data, data, length);
    free(data);
    return status;
}

pxb_status case_load_source(pxb_context *ctx, const case_source *s, rt_array *out)
{
    memset(out, 0, sizeof *out);
    switch (s->kind) {
    case CASE_NPY: return rt_npy_read(ctx, s->path, out);
    case CASE_NPZ: return rt_npz_read(ctx, s->path, s->member, out);
    case CASE_PNG: return rt_png_read(ctx, s->path, out);
    case CASE_RAW: return read_raw(ctx, s->path, s->dtype, out);
    case CASE_ZEROS:
    case CASE_VALUES:
    case CASE_RANDOM: break;
    }
    pxb_status status = rt_array_make(ctx, out, s->dtype, s->ndim, s->shape);
    if (status)
        return status;
    if (s->kind == CASE_RANDOM)
        rt_array_random(out, s->seed, s->low, s->high, s->low_i, s->span);
    uint32_t n = rt_dtype_bytes(s->dtype);
    for (uint64_t i = 0; s->kind == CASE_VALUES && i < out->count; i++)
        memcpy((char *)out->data + i * n, &s->bits[i], n);
    return PXB_OK;
}

/* Bytes become what the text says that they are, where there are as many. */
static void give_type(const case_image *x, rt_array *a)
{
    const rt_dtype dtype = case_dtype_of_texel(x->format);
    const uint32_t n = rt_dtype_bytes(dtype), channels = x->shape[x->ndim - 1];
    uint64_t count = 1;
    for (uint32_t i = 0; i < x->ndim && count <= a->bytes; i++)
        count *= x->shape[i];
    if (x->levels > 1 ? a->bytes % ((uint64_t)n * channels) != 0 : count > a->bytes || count * n != a->bytes)
        return;
    a->dtype = dtype;
    a->count = a->bytes / n;
    a->ndim = x->levels > 1 ? 2 : x->ndim;
    for (uint32_t i = 0; i < x->ndim; i++)
        a->shape[i] = x->shape[i];
    if (x->levels > 1) {
        a->shape[0] = a->count / channels;
        a->shape[1] = channels;
    }
}

pxb_status case_load_array(pxb_context *ctx, const case_array *array, rt_array *out)
{
    pxb_status status = case_load_source(ctx, &array->source, out);
    if (!status && array->source.kind == CASE_RAW && array->image.has_format && array->image.ndim)
        give_type(&array->image, out);
    return status;
}
