/* case_params.c - the parameters of a launch: scalars, buffers, textures, surfaces, functions and by-value structs. */
#include "runtime/case_json.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_PARAMS = 4096, MAX_SCALARS = 1 << 16 };

static const char *const kinds[] = {"buffer", "texture", "surface", "null", "function", "global", "u8",  "s8",  "u16", "s16",
                                    "u32",    "s32",     "u64",     "s64",  "f16",      "f32", "f64", NULL};

static pxb_status parse_scalars(const case_parser *p, const case_node *n, case_field *out)
{
    bool list = json_is_array(n->json);
    size_t count = list ? json_array_size(n->json) : 1;
    if (count == 0 || count > MAX_SCALARS)
        return case_fail(p, n, "1 to %d numbers are wanted here", MAX_SCALARS);
    uint64_t *bits = rt_pool_alloc(p->pool, count, sizeof *bits);
    if (!bits)
        return rt_no_memory(p->ctx);
    pxb_status status = PXB_OK;
    for (size_t i = 0; i < count && !status; i++) {
        case_node e = list ? case_element(n, i) : *n;
        status = case_element_bits(p, &e, out->dtype, &bits[i]);
    }
    out->kind = CASE_SCALARS;
    out->count = (uint32_t)count;
    out->bits = bits;
    return status;
}

static pxb_status parse_reference(const case_parser *p, const case_node *n, case_array_kind kind, case_field *out)
{
    const char *name = NULL;
    pxb_status status = case_string(p, n, &name);
    if (status)
        return status;
    out->kind = kind == CASE_BUFFER ? CASE_ADDRESS : CASE_HANDLE;
    out->array = case_find(p->file, kind, name);
    return out->array ? PXB_OK
                      : case_fail(p, n, "there is no %s \"%.80s\" in this case", case_array_kind_name(kind), name);
}

/* The one key of n that says what the value is; `offset_key` is the key of an offset into a buffer. */
static pxb_status parse_value(const case_parser *p, const case_node *n, const char *offset_key, case_field *out)
{
    case_node at = {0}, offset = case_member(n, offset_key);
    int found = 0;
    for (int i = 0; kinds[i]; i++) {
        case_node candidate = case_member(n, kinds[i]);
        if (candidate.json) {
            at = candidate;
            found++;
        }
    }
    if (found != 1)
        return case_fail(p, n,
                         "exactly one of buffer, texture, surface, null, function, global, struct or a type (u32, f16, …) is "
                         "wanted here, not %d",
                         found);
    const char *key = at.step.key;
    bool variable = strcmp(key, "global") == 0;
    if (offset.json && strcmp(key, "buffer") != 0 && !variable)
        return case_fail(p, &offset, "\"%s\" goes with \"buffer\" or \"global\"", offset_key);
    if (rt_dtype_from_name(key, strlen(key), &out->dtype))
        return parse_scalars(p, &at, out);
    if (strcmp(key, "texture") == 0)
        return parse_reference(p, &at, CASE_TEXTURE, out);
    if (strcmp(key, "surface") == 0)
        return parse_reference(p, &at, CASE_SURFACE, out);
    if (strcmp(key, "null") == 0) {
        out->kind = CASE_NULL;
        return json_is_true(at.json) ? PXB_OK : case_fail(p, &at, "null is written {\"null\": true}");
    }
    if (strcmp(key, "function") == 0) {
        out->kind = CASE_FUNCTION;
        return case_string(p, &at, &out->function);
    }
    pxb_status status = variable ? case_string(p, &at, &out->function) : parse_reference(p, &at, CASE_BUFFER, out);
    if (variable)
        out->kind = CASE_VARIABLE;
    if (!status && offset.json)
        status = case_unsigned(p, &offset, UINT64_MAX / 2, &out->array_offset);
    return status;
}

static uint64_t field_bytes(const case_field *f)
{
    return f->kind == CASE_SCALARS ? (uint64_t)f->count * rt_dtype_bytes(f->dtype) : 8;
}

static pxb_status parse_field(const case_parser *p, const case_node *n, uint64_t size, case_field *out)
{
    static const char *const keys[] = {
        "offset", "buffer_offset", "buffer", "texture", "surface", "null", "function", "global", "u8",  "s8", "u16",
        "s16",    "u32",           "s32",    "u64",     "s64",     "f16",  "f32",      "f64", NULL};
    pxb_status status = case_want(p, n, JSON_OBJECT, "an object");
    if (!status)
        status = case_check_keys(p, n, keys);
    case_node offset = case_member(n, "offset");
    if (!status)
        status = case_unsigned(p, &offset, PTX_MAX_PARAMS, &out->offset);
    if (!status)
        status = parse_value(p, n, "buffer_offset", out);
    if (!status && out->offset + field_bytes(out) > size)
        status = case_fail(p, n, "%" PRIu64 " bytes at offset %" PRIu64 " do not fit a struct of %" PRIu64,
                           field_bytes(out), out->offset, size);
    return status;
}

static pxb_status parse_struct(const case_parser *p, const case_node *n, case_param *out)
{
    static const char *const keys[] = {"size", "fields", NULL};
    case_node size = case_member(n, "size"), fields = case_member(n, "fields");
    out->is_struct = true;
    pxb_status status = case_want(p, n, JSON_OBJECT, "an object");
    if (!status)
        status = case_check_keys(p, n, keys);
    if (!status)
        status = case_unsigned(p, &size, PTX_MAX_PARAMS, &out->size);
    if (!status)
        status = case_want(p, &fields, JSON_ARRAY, "a list of fields");
    if (status)
        return status;
    size_t count = json_array_size(fields.json);
    if (count > MAX_PARAMS)
        return case_fail(p, &fields, "at most %d fields are possible", MAX_PARAMS);
    case_field *list = rt_pool_alloc(p->pool, count, sizeof *list);
    if (!list)
        return rt_no_memory(p->ctx);
    out->fields = list;
    out->nfields = (uint32_t)count;
    for (size_t i = 0; i < count && !status; i++) {
        case_node e = case_element(&fields, i);
        status = parse_field(p, &e, out->size, &list[i]);
    }
    return status;
}

static pxb_status parse_param(const case_parser *p, const case_node *n, case_param *out)
{
    static const char *const keys[] = {"struct", "offset", "buffer", "texture", "surface", "null", "function", "global",
                                       "u8",     "s8",     "u16",    "s16",     "u32",     "s32",  "u64",
                                       "s64",    "f16",    "f32",    "f64",     NULL};
    pxb_status status = case_want(p, n, JSON_OBJECT, "an object");
    if (!status)
        status = case_check_keys(p, n, keys);
    if (status)
        return status;
    case_node structure = case_member(n, "struct");
    case_position(p, n, &out->line, &out->column);
    if (structure.json && json_object_size(n->json) != 1)
        return case_fail(p, n, "\"struct\" stands alone");
    if (structure.json)
        return parse_struct(p, &structure, out);
    case_field *field = rt_pool_alloc(p->pool, 1, sizeof *field);
    if (!field)
        return rt_no_memory(p->ctx);
    out->fields = field;
    out->nfields = 1;
    return parse_value(p, n, "offset", field);
}

pxb_status case_parse_params(const case_parser *p, const case_node *n, case_launch *launch)
{
    if (!n->json)
        return PXB_OK; /* an entry without parameters */
    pxb_status status = case_want(p, n, JSON_ARRAY, "a list of parameters");
    if (status)
        return status;
    size_t count = json_array_size(n->json);
    if (count > MAX_PARAMS)
        return case_fail(p, n, "at most %d parameters are possible", MAX_PARAMS);
    case_param *params = rt_pool_alloc(p->pool, count, sizeof *params);
    if (!params)
        return rt_no_memory(p->ctx);
    launch->params = params;
    launch->nparams = (uint32_t)count;
    for (size_t i = 0; i < count && !status; i++) {
        case_node e = case_element(n, i);
        status = parse_param(p, &e, &params[i]);
    }
    return status;
}
