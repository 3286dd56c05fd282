/* record_file.c - records as .npz files.
 *
 * The member "meta" is a u8 array that holds JSON text; the arrays are members of their own, which it names. So NumPy
 * reads all of it: json.loads(bytes(numpy.load(f)["meta"])).
 */
#include "runtime/record.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, MAX_CASES = 4096, MAX_OUTPUTS = 4096, MAX_LIST = 4096 };

static const char *const state_names[] = {"done", "fault", "error"};

/* ------------------------------------------------------------ writing */

typedef struct writer {
    pxb_context *ctx;
    rt_pool pool;
    uint32_t count, room;
    const char **names;
    const rt_array **arrays;
} writer;

static bool add_member(writer *w, const char *name, const rt_array *array)
{
    if (w->count == w->room) {
        uint32_t room = w->room * 2 + 16;
        const char **names = realloc(w->names, room * sizeof *names);
        if (names)
            w->names = names;
        const rt_array **arrays = realloc(w->arrays, room * sizeof *arrays);
        if (arrays)
            w->arrays = arrays;
        if (!names || !arrays)
            return false;
        w->room = room;
    }
    w->names[w->count] = name;
    w->arrays[w->count++] = array;
    return name && array;
}

/* Text as bytes: what kernels print need not be UTF-8. The array lives in the pool and has no data of its own. */
static bool add_text(writer *w, const char *name, const char *text)
{
    rt_array *a = rt_pool_alloc(&w->pool, 1, sizeof *a);
    size_t n = strlen(text);
    if (!a)
        return false;
    *a = (rt_array){.dtype = RT_U8, .ndim = 1, .shape = {n}, .count = n, .bytes = n, .data = (void *)text};
    return add_member(w, name, a);
}

/* jansson takes UTF-8 only; other bytes become '?'. NULL: no memory, which makes what it is part of incomplete. */
static json_t *text_or_null(const char *text)
{
    if (!text)
        return json_null();
    json_t *j = json_string(text);
    if (j)
        return j;
    char *copy = strdup(text);
    for (char *p = copy; p && *p; p++)
        if (*p & 0x80)
            *p = '?';
    j = copy ? json_string(copy) : NULL;
    free(copy);
    return j;
}

static json_t *json_of_output(writer *w, const rt_record_output *o, uint32_t c, uint32_t i)
{
    json_t *shape = json_array();
    for (uint32_t d = 0; d < o->array.ndim; d++)
        json_array_append_new(shape, json_integer((json_int_t)o->array.shape[d]));
    json_t *j = json_pack("{s:s, s:o, s:s, s:o, s:b, s:s}", "kind", case_array_kind_name(o->kind), "name",
                          text_or_null(o->name), "dtype", rt_dtype_name(o->array.dtype), "shape", shape, "changed",
                          o->changed, "sha256", o->sha256);
    if (!o->has_data)
        return j;
    const char *member = rt_pool_printf(&w->pool, "case%u.out%u", c, i);
    if (!add_member(w, member, &o->array)) {
        json_decref(j);
        return NULL;
    }
    json_object_set_new(j, "member", json_string(member));
    return j;
}

static json_t *json_of_properties(const rt_record_case *c)
{
    json_t *j = json_object();
    bool complete = j != NULL;
    for (uint32_t i = 0; i < c->nproperties && complete; i++)
        complete = json_object_set_new(j, c->properties[2 * i], text_or_null(c->properties[2 * i + 1])) == 0;
    if (complete)
        return j;
    json_decref(j);
    return NULL;
}

static json_t *json_of_case(writer *w, const rt_record_case *c, uint32_t number)
{
    json_t *outputs = json_array(), *missing = json_array();
    bool complete = true;
    for (uint32_t i = 0; i < c->noutputs; i++)
        complete = json_array_append_new(outputs, json_of_output(w, &c->outputs[i], number, i)) == 0 && complete;
    for (uint32_t i = 0; i < c->nmissing; i++)
        complete = json_array_append_new(missing, text_or_null(c->missing[i])) == 0 && complete;
    json_t *j = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:f, s:o, s:o}", "case",
                          text_or_null(c->name), "description", text_or_null(c->description), "entries",
                          text_or_null(c->entries), "ptx", text_or_null(c->ptx), "ptx_sha256",
                          c->ptx_sha256[0] ? json_string(c->ptx_sha256) : json_null(), "inputs_sha256",
                          c->inputs_sha256[0] ? json_string(c->inputs_sha256) : json_null(), "device",
                          text_or_null(c->device), "device_name", text_or_null(rt_record_property(c, "name")), "driver",
                          text_or_null(rt_record_property(c, "driver")), "properties", json_of_properties(c), "mma_model",
                          pxb_mma_model_name(c->model), "date", text_or_null(c->date), "ptxbridge",
                          text_or_null(c->version), "state", state_names[c->state], "run_ms", c->run_ms, "outputs", outputs,
                          "not_read_back", missing);
    json_object_set_new(j, "mma", json_string(c->mma_fast ? "fast" : "exact"));
    if (c->state != RT_RECORD_DONE) {
        const char *name = rt_fault_name(c->status);
        json_object_set_new(j, "status", json_string(name ? name : pxb_status_name(c->status)));
        json_object_set_new(j, "status_number", json_integer(c->status));
        json_object_set_new(j, "line", json_integer(c->fault_line));
        complete = json_object_set_new(j, "text", text_or_null(c->fault_text)) == 0 && complete;
    }
    if (c->printed[0]) {
        const char *member = rt_pool_printf(&w->pool, "case%u.printf", number);
        complete = add_text(w, member, c->printed) && complete;
        complete = member && json_object_set_new(j, "printf", json_string(member)) == 0 && complete;
    }
    if (complete)
        return j;
    json_decref(j);
    return NULL;
}

/* As much as is read back. */
static pxb_status check_size(pxb_context *ctx, const rt_record *r)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->ncases; i++)
        for (uint32_t k = 0; k < r->cases[i].noutputs; k++)
            bytes += r->cases[i].outputs[k].has_data ? r->cases[i].outputs[k].array.bytes : 0;
    if (bytes <= ctx->array_limit)
        return PXB_OK;
    return rt_fail(ctx, PXB_UNSUPPORTED, "the arrays of one record have at most %" PRIu64 " bytes together, not %" PRIu64, ctx->array_limit, bytes);
}

pxb_status rt_record_write(pxb_context *ctx, const char *path, const rt_record *r)
{
    writer w = {.ctx = ctx};
    json_t *cases = json_array();
    bool complete = cases != NULL;
    for (uint32_t i = 0; i < r->ncases && complete; i++)
        complete = json_array_append_new(cases, json_of_case(&w, &r->cases[i], i)) == 0;
    json_t *meta = json_pack("{s:i, s:s, s:o}", "ptxbridge_record", FORMAT, "ptxbridge", pxb_version(), "cases", cases);
    char *text = complete && meta ? json_dumps(meta, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(meta);
    pxb_status status = text && add_text(&w, "meta", text) ? check_size(ctx, r) : rt_no_memory(ctx);
    if (!status && w.count >= UINT16_MAX)
        status = rt_fail(ctx, PXB_UNSUPPORTED, "an .npz file has at most 65534 members, not %u", w.count);
    if (!status)
        status = rt_npz_write(ctx, path, w.count, w.names, w.arrays);
    free(text);
    free(w.names);
    free(w.arrays);
    rt_pool_free(&w.pool);
    return status;
}

/* ------------------------------------------------------------ reading */

typedef struct reader {
    pxb_context *ctx;
    const char *path;
    const char *data;
    size_t length;
    rt_record *out;
    uint64_t bytes;                /* of the arrays so far: a small file may name one large member many times */
    pxb_status status;             /* the first failure; what follows does nothing */
} reader;

static void bad(reader *r, const char *what)
{
    if (!r->status)
        r->status = rt_fail_at(r->ctx, PXB_BAD_INPUT, r->path, 0, 0, "is no record that can be read: %s", what);
}

/* A string that must be there; `what` names it in the message. */
static const char *string_of(reader *r, const json_t *object, const char *key)
{
    const json_t *j = json_object_get(object, key);
    const char *text = json_is_string(j) ? rt_pool_strdup(&r->out->pool, json_string_value(j)) : NULL;
    if (!json_is_string(j)) {
        char why[96];
        snprintf(why, sizeof why, "\"%.60s\" is no string", key);
        bad(r, why);
    } else if (!text && !r->status) {
        r->status = rt_no_memory(r->ctx);
    }
    return text ? text : "";
}

static const char *optional_string(reader *r, const json_t *object, const char *key)
{
    const json_t *j = json_object_get(object, key);
    return !j || json_is_null(j) ? "" : string_of(r, object, key);
}

static bool flag_of(reader *r, const json_t *object, const char *key)
{
    const json_t *j = json_object_get(object, key);
    if (!json_is_boolean(j))
        bad(r, "a flag is neither true nor false");
    return json_is_true(j);
}

static void digest_of(reader *r, const json_t *object, const char *key, char out[RT_DIGEST_TEXT])
{
    const char *text = optional_string(r, object, key);
    size_t n = strlen(text);
    if (n != 0 && (n != RT_DIGEST_TEXT - 1 || strspn(text, "0123456789abcdef") != n))
        bad(r, "a digest has not 64 hexadecimal digits");
    else
        memcpy(out, text, n + 1);
}

static const json_t *list_of(reader *r, const json_t *object, const char *key, size_t most)
{
    const json_t *j = json_object_get(object, key);
    if (!json_is_array(j) || json_array_size(j) > most) {
        bad(r, "a list is missing or too long");
        return NULL;
    }
    return j;
}

static bool kind_of(const char *name, case_array_kind *out)
{
    static const case_array_kind kinds[] = {CASE_BUFFER, CASE_SURFACE, CASE_GLOBAL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(case_array_kind_name(kinds[i]), name) == 0) {
            *out = kinds[i];
            return true;
        }
    return false;
}

/* Extents without data: what the output of an unchanged array is like. */
static void shape_of(reader *r, const json_t *object, rt_array *out)
{
    const json_t *shape = list_of(r, object, "shape", RT_MAX_DIMS);
    const char *dtype = string_of(r, object, "dtype");
    if (r->status)
        return;
    if (!rt_dtype_from_name(dtype, strlen(dtype), &out->dtype)) {
        bad(r, "an output has an unknown dtype");
        return;
    }
    out->ndim = (uint32_t)json_array_size(shape);
    out->count = 1;
    for (uint32_t i = 0; i < out->ndim; i++) {
        const json_t *n = json_array_get(shape, i);
        if (!json_is_integer(n) || json_integer_value(n) < 0) {
            bad(r, "a shape holds something else than a number");
            return;
        }
        out->shape[i] = (uint64_t)json_integer_value(n);
        if (out->shape[i] && out->count > r->ctx->array_limit / out->shape[i]) {
            bad(r, "an output is too large");
            return;
        }
        out->count *= out->shape[i];
    }
    out->bytes = (size_t)(out->count * rt_dtype_bytes(out->dtype));
}

static bool same_extents(const rt_array *a, const rt_array *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim && memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0;
}

static void read_output(reader *r, const json_t *j, rt_record_output *o)
{
    char digest[RT_DIGEST_TEXT];
    o->name = string_of(r, j, "name");
    if (!kind_of(string_of(r, j, "kind"), &o->kind))
        bad(r, "an output is neither buffer, surface nor global");
    o->changed = flag_of(r, j, "changed");
    digest_of(r, j, "sha256", o->sha256);
    shape_of(r, j, &o->array);
    const char *member = optional_string(r, j, "member");
    if (r->status || !member[0])
        return;
    if (o->array.bytes > r->ctx->array_limit - r->bytes) {
        bad(r, "its arrays are too large together");
        return;
    }
    r->bytes += o->array.bytes;
    rt_array array;
    r->status = rt_npz_parse(r->ctx, r->path, r->data, r->length, member, &array);
    if (r->status)
        return;
    if (!same_extents(&array, &o->array)) {
        rt_array_free(&array);
        bad(r, "an array has another shape than its entry says");
        return;
    }
    o->array = array;
    o->has_data = true;
    r->status = rt_digest_array(r->ctx, &o->array, digest);
    if (!r->status && strcmp(digest, o->sha256) != 0)
        bad(r, "an array does not have the digest that was recorded");
}

static void read_outputs(reader *r, const json_t *j, rt_record_case *c)
{
    const json_t *list = list_of(r, j, "outputs", MAX_OUTPUTS);
    size_t n = json_array_size(list);
    c->outputs = calloc(n + 1, sizeof *c->outputs);
    if (!c->outputs && !r->status)
        r->status = rt_no_memory(r->ctx);
    for (size_t i = 0; i < n && !r->status; i++)
        read_output(r, json_array_get(list, i), &c->outputs[c->noutputs++]);
}

static const char **texts_of(reader *r, size_t n)
{
    const char **list = rt_pool_alloc(&r->out->pool, n + 1, sizeof *list);
    if (!list && !r->status)
        r->status = rt_no_memory(r->ctx);
    return list;
}

static void read_lists(reader *r, const json_t *j, rt_record_case *c)
{
    const json_t *missing = list_of(r, j, "not_read_back", MAX_LIST), *value;
    json_t *properties = json_object_get(j, "properties");
    const char *name;
    if (!json_is_object(properties) || json_object_size(properties) > MAX_LIST) {
        bad(r, "\"properties\" is no object");
        return;
    }
    c->missing = texts_of(r, json_array_size(missing));
    c->properties = texts_of(r, 2 * json_object_size(properties));
    for (size_t i = 0; i < json_array_size(missing) && !r->status; i++) {
        const json_t *text = json_array_get(missing, i);
        const char *name_of = json_is_string(text) ? rt_pool_strdup(&r->out->pool, json_string_value(text)) : "";
        if (!name_of)
            r->status = rt_no_memory(r->ctx);
        c->missing[c->nmissing++] = name_of ? name_of : "";
    }
    json_object_foreach(properties, name, value)
    {
        if (r->status)
            return;
        c->properties[2 * c->nproperties] = rt_pool_strdup(&r->out->pool, name);
        c->properties[2 * c->nproperties + 1] = string_of(r, properties, name);
        if (!c->properties[2 * c->nproperties])
            r->status = rt_no_memory(r->ctx);
        c->nproperties++;
    }
}

static void read_state(reader *r, const json_t *j, rt_record_case *c)
{
    const char *state = string_of(r, j, "state");
    const json_t *run_ms = json_object_get(j, "run_ms"), *number = json_object_get(j, "status_number");
    unsigned s = 0;
    while (s < 3 && strcmp(state_names[s], state) != 0)
        s++;
    if (s == 3 || !json_is_number(run_ms)) {
        bad(r, "the state or the time of a case is missing");
        return;
    }
    c->state = (rt_record_state)s;
    c->run_ms = json_number_value(run_ms);
    if (c->state == RT_RECORD_DONE)
        return;
    c->status = (pxb_status)(json_is_integer(number) ? json_integer_value(number) : 0);
    bool fault = c->status <= PXB_FAULT_HANDLE && pxb_is_fault(c->status);
    if (c->state == RT_RECORD_FAULT ? !fault : c->status <= PXB_OK || c->status > PXB_FAULT_HANDLE)
        bad(r, "the status of a case is none that there is");
    c->fault_line = (uint32_t)json_integer_value(json_object_get(j, "line"));
    c->fault_text = string_of(r, j, "text");
}

static void read_printed(reader *r, const json_t *j, rt_record_case *c)
{
    const char *member = optional_string(r, j, "printf");
    rt_array text;
    c->printed = "";
    if (r->status || !member[0])
        return;
    r->status = rt_npz_parse(r->ctx, r->path, r->data, r->length, member, &text);
    if (r->status)
        return;
    char *copy = text.dtype == RT_U8 ? rt_pool_alloc(&r->out->pool, text.bytes + 1, 1) : NULL;
    if (text.dtype != RT_U8)
        bad(r, "the printed text is no array of bytes");
    else if (!copy)
        r->status = rt_no_memory(r->ctx);
    else
        c->printed = memcpy(copy, text.data, text.bytes);
    rt_array_free(&text);
}

static void read_case(reader *r, const json_t *j, rt_record_case *c)
{
    c->name = string_of(r, j, "case");
    c->description = optional_string(r, j, "description");
    c->entries = string_of(r, j, "entries");
    c->ptx = string_of(r, j, "ptx");
    digest_of(r, j, "ptx_sha256", c->ptx_sha256);
    digest_of(r, j, "inputs_sha256", c->inputs_sha256);
    c->device = string_of(r, j, "device");
    c->date = string_of(r, j, "date");
    c->version = string_of(r, j, "ptxbridge");
    if (!pxb_mma_model_from_name(string_of(r, j, "mma_model"), &c->model))
        bad(r, "a case has an unknown mma model");
    const char *mma = optional_string(r, j, "mma");
    c->mma_fast = strcmp(mma, "fast") == 0;
    if (mma[0] && !c->mma_fast && strcmp(mma, "exact") != 0)
        bad(r, "\"mma\" is neither exact nor fast");
    read_state(r, j, c);
    read_lists(r, j, c);
    if (!r->status)
        read_outputs(r, j, c);
    if (!r->status)
        read_printed(r, j, c);
}

static void read_meta(reader *r, const json_t *meta)
{
    const json_t *format = json_object_get(meta, "ptxbridge_record");
    if (!json_is_integer(format) || json_integer_value(format) != FORMAT) {
        bad(r, "\"ptxbridge_record\" is not 1");
        return;
    }
    const json_t *cases = list_of(r, meta, "cases", MAX_CASES);
    size_t n = json_array_size(cases);
    r->out->cases = calloc(n + 1, sizeof *r->out->cases);
    if (!r->out->cases && !r->status)
        r->status = rt_no_memory(r->ctx);
    for (size_t i = 0; i < n && !r->status; i++)
        read_case(r, json_array_get(cases, i), &r->out->cases[r->out->ncases++]);
}

pxb_status rt_record_read(pxb_context *ctx, const char *path, rt_record *out)
{
    reader r = {.ctx = ctx, .path = path, .out = out};
    rt_array meta = {0};
    char *data = NULL;
    memset(out, 0, sizeof *out);
    r.status = rt_read_file(ctx, path, 4 * ctx->array_limit, &data, &r.length);
    r.data = data;
    if (!r.status)
        r.status = rt_npz_parse(ctx, path, data, r.length, "meta", &meta);
    if (!r.status && meta.dtype != RT_U8)
        bad(&r, "\"meta\" is no array of bytes");
    if (!r.status) {
        json_error_t error;
        json_t *json = json_loadb(meta.data, meta.bytes, JSON_REJECT_DUPLICATES, &error);
        if (json)
            read_meta(&r, json);
        else
            bad(&r, "its \"meta\" is no JSON text");
        json_decref(json);
    }
    rt_array_free(&meta);
    free(data);
    return r.status;
}
