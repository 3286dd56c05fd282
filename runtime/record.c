/* record.c - see record.h. */
#include "runtime/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *rt_record_name(rt_pool *pool, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = rt_pool_strdup(pool, slash ? slash + 1 : path);
    size_t n = name ? strlen(name) : 0;
    if (n > 5 && strcmp(name + n - 5, ".json") == 0)
        name[n - 5] = '\0';
    return name;
}

const char *rt_record_property(const rt_record_case *c, const char *name)
{
    for (uint32_t i = 0; i < c->nproperties; i++)
        if (strcmp(c->properties[2 * i], name) == 0)
            return c->properties[2 * i + 1];
    return NULL;
}

uint32_t rt_record_find(const rt_record *r, const char *name, const char *device, const rt_record_case **out)
{
    uint32_t n = 0;
    *out = NULL;
    for (uint32_t i = 0; i < r->ncases; i++) {
        const rt_record_case *c = &r->cases[i];
        if (strcmp(c->name, name) == 0 && (!device || strcmp(c->device, device) == 0)) {
            *out = c;
            n++;
        }
    }
    return n;
}

static void free_case(rt_record_case *c)
{
    for (uint32_t i = 0; i < c->noutputs; i++)
        rt_array_free(&c->outputs[i].array);
    free(c->outputs);
}

void rt_record_free(rt_record *r)
{
    for (uint32_t i = 0; i < r->ncases; i++)
        free_case(&r->cases[i]);
    free(r->cases);
    rt_pool_free(&r->pool);
    memset(r, 0, sizeof *r);
}

/* ------------------------------------------------------------ from results */

/* The record of the same case, device and model; NULL when there is none. */
static rt_record_case *find_same(rt_record *r, const rt_record_case *of)
{
    for (uint32_t i = 0; i < r->ncases; i++) {
        rt_record_case *c = &r->cases[i];
        if (strcmp(c->name, of->name) == 0 && strcmp(c->device, of->device) == 0 && c->model == of->model && c->mma_fast == of->mma_fast)
            return c;
    }
    return NULL;
}

/* Takes the record over. Returns where it lies now; NULL: no memory, and it is freed. */
static rt_record_case *put(rt_record *r, rt_record_case *c)
{
    rt_record_case *old = find_same(r, c);
    if (old && c->state == RT_RECORD_ERROR && old->state != RT_RECORD_ERROR) {
        free_case(c);
        c->outputs = NULL;
        c->noutputs = 0;
        r->rejected = *c;
        return &r->rejected;
    }
    if (!old) {
        rt_record_case *more = realloc(r->cases, (r->ncases + 1) * sizeof *more);
        if (!more) {
            free_case(c);
            return NULL;
        }
        r->cases = more;
        old = &more[r->ncases++];
    } else {
        free_case(old);
    }
    *old = *c;
    return old;
}

static const char *now(rt_pool *pool)
{
    char text[32];
    time_t t = time(NULL);
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return rt_pool_strdup(pool, text);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *entries_of(rt_pool *pool, const case_file *file)
{
    char *text = rt_pool_strdup(pool, "");
    for (uint32_t i = 0; i < file->nlaunches && text; i++)
        if (i == 0 || strcmp(file->launches[i].entry, file->launches[i - 1].entry) != 0)
            text = rt_pool_printf(pool, "%s%s%s", text, i ? " " : "", file->launches[i].entry);
    return text;
}

static pxb_status digest_file(pxb_context *ctx, const char *path, char out[RT_DIGEST_TEXT])
{
    char *data;
    size_t length;
    pxb_status status = rt_read_file(ctx, path, (uint64_t)1 << 30, &data, &length);
    if (!status)
        status = rt_digest_of(ctx, data, length, out);
    free(data);
    return status;
}

/* The record takes the arrays over. One that did not change is left to the case file, unless it is a module variable. */
static pxb_status take_outputs(pxb_context *ctx, rt_record *r, rt_record_case *c, case_result *result)
{
    c->outputs = calloc((size_t)result->noutputs + 1, sizeof *c->outputs);
    if (!c->outputs)
        return rt_no_memory(ctx);
    for (uint32_t i = 0; i < result->noutputs; i++) {
        case_output *from = &result->outputs[i];
        rt_record_output *to = &c->outputs[c->noutputs++];
        *to = (rt_record_output){.kind = from->kind, .name = rt_pool_strdup(&r->pool, from->name), .changed = from->changed,
                                 .has_data = from->changed || from->kind == CASE_GLOBAL, .array = from->array};
        memset(&from->array, 0, sizeof from->array);
        pxb_status status = to->name ? rt_digest_array(ctx, &to->array, to->sha256) : rt_no_memory(ctx);
        if (status)
            return status;
        if (!to->has_data) {
            free(to->array.data);
            to->array.data = NULL;
        }
    }
    return PXB_OK;
}

static bool copy_texts(rt_pool *pool, const char ***to, const char *const *from, uint32_t n)
{
    const char **list = rt_pool_alloc(pool, (size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; i < n && list; i++) {
        list[i] = rt_pool_strdup(pool, from[i]);
        if (!list[i])
            return false;
    }
    *to = list;
    return list != NULL;
}

static pxb_status take_result(pxb_context *ctx, rt_record *r, rt_record_case *c, case_result *result)
{
    c->state = result->fault ? RT_RECORD_FAULT : RT_RECORD_DONE;
    c->status = result->fault;
    c->fault_line = result->fault_line;
    c->fault_text = result->fault_text ? rt_pool_strdup(&r->pool, result->fault_text) : NULL;
    c->printed = rt_pool_strdup(&r->pool, result->printed ? result->printed : "");
    c->run_ms = result->run_ms ? result->run_ms[0] : 0;
    c->nproperties = result->nproperties;
    c->nmissing = result->nmissing;
    if (!c->printed || (result->fault_text && !c->fault_text) || !copy_texts(&r->pool, &c->properties, result->properties, 2 * result->nproperties) ||
        !copy_texts(&r->pool, &c->missing, result->missing, result->nmissing))
        return rt_no_memory(ctx);
    return take_outputs(ctx, r, c, result);
}

static void take_error(pxb_context *ctx, rt_record *r, rt_record_case *c, pxb_status status)
{
    c->state = RT_RECORD_ERROR;
    c->status = status;
    c->fault_text = rt_pool_strdup(&r->pool, pxb_last_error(ctx)->message);
    c->fault_line = pxb_last_error(ctx)->line;
    c->printed = "";
}

static bool begin(pxb_context *ctx, rt_record *r, const char *path, const case_options *o, pxb_mma_model model, rt_record_case *c)
{
    const char *name = rt_record_name(&r->pool, path), *device = rt_pool_strdup(&r->pool, o->device ? o->device : "cpu");
    *c = (rt_record_case){.name = name, .device = device, .model = model, .mma_fast = o->mma_fast, .date = now(&r->pool), .version = pxb_version(),
                          .description = "", .entries = "", .ptx = "", .printed = ""};
    if (!name || !device)
        rt_no_memory(ctx);
    return name && device;
}

pxb_status rt_record_run(pxb_context *ctx, rt_record *r, const char *path, const case_file *file,
                         const case_options *options, const rt_record_case **out)
{
    case_options o = *options;
    case_result result = {0};
    rt_record_case c;
    o.all = true;
    o.repeat = 1;
    *out = NULL;
    if (!begin(ctx, r, path, &o, o.has_model ? o.model : file->model, &c))
        return PXB_OUT_OF_MEMORY;
    c.description = rt_pool_strdup(&r->pool, file->description ? file->description : "");
    c.entries = entries_of(&r->pool, file);
    c.ptx = rt_pool_strdup(&r->pool, base_name(file->ptx));
    pxb_status status = rt_digest_inputs(ctx, file, c.inputs_sha256);
    if (!status)
        status = digest_file(ctx, file->ptx, c.ptx_sha256);
    if (!status)
        status = case_run(ctx, file, &o, &result);
    if (status) {
        take_error(ctx, r, &c, status);
        status = PXB_OK;
    } else {
        status = take_result(ctx, r, &c, &result);
    }
    case_result_free(&result);
    if (status) {
        free_case(&c);
        return status;
    }
    *out = put(r, &c);
    return *out ? PXB_OK : rt_no_memory(ctx);
}

pxb_status rt_record_unread(pxb_context *ctx, rt_record *r, const char *path, const case_options *options)
{
    rt_record_case c;
    if (!begin(ctx, r, path, options, options->model, &c))
        return PXB_OUT_OF_MEMORY;
    take_error(ctx, r, &c, pxb_last_error(ctx)->status);
    return put(r, &c) ? PXB_OK : rt_no_memory(ctx);
}
