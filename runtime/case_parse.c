/* case_parse.c - a case file's text becomes a case_file. Everything that the text alone can tell is checked here. */
#include "runtime/case_json.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CASE_BYTES = 16 << 20, MAX_LIST = 4096 };

/* Texel formats in the order of pxb_texel. */
static const rt_dtype texel_dtypes[] = {RT_U8, RT_S8, RT_U16, RT_S16, RT_U32, RT_S32, RT_F16, RT_F32};
enum { TEXELS = sizeof texel_dtypes / sizeof *texel_dtypes };
_Static_assert(TEXELS == PXB_TEXEL_F32 + 1, "one dtype per texel format");

bool case_texel_of_dtype(rt_dtype dtype, pxb_texel *out)
{
    for (int i = 0; i < TEXELS; i++) {
        if (texel_dtypes[i] == dtype) {
            *out = (pxb_texel)i;
            return true;
        }
    }
    return false;
}

rt_dtype case_dtype_of_texel(pxb_texel texel)
{
    return texel_dtypes[texel];
}

bool case_texel_from_name(const char *name, pxb_texel *out)
{
    rt_dtype dtype;
    return rt_dtype_from_name(name, strlen(name), &dtype) && case_texel_of_dtype(dtype, out);
}

const char *case_array_kind_name(case_array_kind kind)
{
    static const char *const names[] = {"buffer", "texture", "surface", "global"};
    return names[kind];
}

const case_array *case_find(const case_file *file, case_array_kind kind, const char *name)
{
    for (uint32_t i = 0; i < file->narrays; i++)
        if (file->arrays[i].kind == kind && strcmp(file->arrays[i].name, name) == 0)
            return &file->arrays[i];
    return NULL;
}

/* ------------------------------------------------------------ arrays */

static pxb_status parse_array(const case_parser *p, const case_node *n, case_array *out)
{
    static const char *const buffer_keys[] = {"npy", "npz", "member", "raw", "png", "random", "zeros", "values", "dtype", "pointers", "heap", NULL};
    static const char *const global_keys[] = {"npy", "npz", "member", "raw", "png", "random", "zeros", "values", "dtype", "pointers", NULL};
    case_node heap = case_member(n, "heap");
    pxb_status status = case_want(p, n, JSON_OBJECT, "an object");
    if (status)
        return status;
    if (out->kind == CASE_TEXTURE || out->kind == CASE_SURFACE)
        return case_parse_image(p, n, out);
    status = case_check_keys(p, n, out->kind == CASE_BUFFER ? buffer_keys : global_keys);
    if (!status && heap.json)
        status = case_bool(p, &heap, &out->heap);
    return status ? status : case_parse_source(p, n, &out->source);
}

static const char *const sections[] = {"buffers", "textures", "surfaces", "globals"};

static pxb_status parse_arrays(const case_parser *p, const case_node *root)
{
    size_t total = 0;
    for (int k = CASE_BUFFER; k <= CASE_GLOBAL; k++) {
        case_node section = case_member(root, sections[k]);
        pxb_status status = section.json ? case_want(p, &section, JSON_OBJECT, "an object of named arrays") : PXB_OK;
        if (status)
            return status;
        total += json_object_size(section.json);
    }
    case_array *arrays = rt_pool_alloc(p->pool, total, sizeof *arrays);
    if (!arrays)
        return rt_no_memory(p->ctx);
    p->file->arrays = arrays;
    for (int k = CASE_BUFFER; k <= CASE_GLOBAL; k++) {
        case_node section = case_member(root, sections[k]);
        const char *key;
        json_t *value;
        json_object_foreach(section.json, key, value)
        {
            case_node n = {{&section.step, key, 0}, value};
            case_array *a = &arrays[p->file->narrays];
            a->kind = (case_array_kind)k;
            a->name = rt_pool_strdup(p->pool, key);
            if (!a->name)
                return rt_no_memory(p->ctx);
            pxb_status status = parse_array(p, &n, a);
            if (status)
                return status;
            p->file->narrays++;
        }
    }
    return PXB_OK;
}

/* These may lead to arrays that come later. */
static pxb_status parse_references(const case_parser *p, const case_node *root)
{
    pxb_status status = PXB_OK;
    for (uint32_t i = 0; i < p->file->narrays && !status; i++) {
        case_array *a = (case_array *)&p->file->arrays[i];
        case_node section = case_member(root, sections[a->kind]), n = case_member(&section, a->name), list = case_member(&n, "pointers");
        if (a->kind == CASE_TEXTURE || a->kind == CASE_SURFACE)
            status = case_parse_image_source(p, &n, a);
        else if (list.json)
            status = case_parse_pointers(p, &list, false, &a->pointers);
    }
    return status;
}

/* ------------------------------------------------------------ launches */

static pxb_status parse_extent(const case_parser *p, const case_node *n, uint32_t out[3])
{
    pxb_status status = case_want(p, n, JSON_ARRAY, "a list of 1 to 3 numbers");
    if (status)
        return status;
    if (json_array_size(n->json) < 1 || json_array_size(n->json) > 3)
        return case_fail(p, n, "a list of 1 to 3 numbers is wanted here");
    for (size_t i = 0; i < 3; i++) {
        case_node e = case_element(n, i);
        uint64_t v = 1;
        status = e.json ? case_unsigned(p, &e, 0x7fffffff, &v) : PXB_OK;
        if (status)
            return status;
        if (v == 0)
            return case_fail(p, &e, "an extent must be at least 1");
        out[i] = (uint32_t)v;
    }
    return PXB_OK;
}

static pxb_status parse_launch(const case_parser *p, const case_node *n, case_launch *out)
{
    case_node entry = case_member(n, "entry"), grid = case_member(n, "grid"), block = case_member(n, "block");
    case_node shared = case_member(n, "shared"), cooperative = case_member(n, "cooperative"), params = case_member(n, "params");
    uint64_t bytes = 0;
    pxb_status status = case_string(p, &entry, &out->entry);
    if (!status)
        status = parse_extent(p, &grid, out->grid);
    if (!status)
        status = parse_extent(p, &block, out->block);
    if (!status && shared.json)
        status = case_unsigned(p, &shared, UINT32_MAX, &bytes);
    if (!status && cooperative.json)
        status = case_bool(p, &cooperative, &out->cooperative);
    if (!status)
        status = case_parse_params(p, &params, out);
    out->shared = (uint32_t)bytes;
    case_position(p, &entry, &out->line, &out->column);
    return status;
}

static pxb_status parse_launches(const case_parser *p, const case_node *root)
{
    static const char *const keys[] = {"entry", "grid", "block", "shared", "cooperative", "params", NULL};
    case_node list = case_member(root, "launches");
    size_t count = 1;
    if (list.json) {
        for (int i = 0; keys[i]; i++) {
            case_node n = case_member(root, keys[i]);
            if (n.json)
                return case_fail(p, &n, "\"%s\" stands either here or in \"launches\"", keys[i]);
        }
        pxb_status status = case_want(p, &list, JSON_ARRAY, "a list of launches");
        if (status)
            return status;
        count = json_array_size(list.json);
        if (count < 1 || count > MAX_LIST)
            return case_fail(p, &list, "1 to %d launches are possible", MAX_LIST);
    }
    case_launch *launches = rt_pool_alloc(p->pool, count, sizeof *launches);
    if (!launches)
        return rt_no_memory(p->ctx);
    p->file->launches = launches;
    p->file->nlaunches = (uint32_t)count;
    if (!list.json)
        return parse_launch(p, root, &launches[0]);
    for (size_t i = 0; i < count; i++) {
        case_node n = case_element(&list, i);
        pxb_status status = case_want(p, &n, JSON_OBJECT, "an object");
        if (!status)
            status = case_check_keys(p, &n, keys);
        if (!status)
            status = parse_launch(p, &n, &launches[i]);
        if (status)
            return status;
    }
    return PXB_OK;
}

/* ------------------------------------------------------------ expectations */

static pxb_status parse_tolerance(const case_parser *p, const case_node *n, rt_tolerance *out)
{
    static const char *const keys[] = {"ulp", "abs", "rel", NULL};
    case_node ulp = case_member(n, "ulp"), abs = case_member(n, "abs"), rel = case_member(n, "rel");
    if (!n->json)
        return PXB_OK;
    pxb_status status = case_want(p, n, JSON_OBJECT, "an object");
    if (!status)
        status = case_check_keys(p, n, keys);
    if (status)
        return status;
    if (ulp.json && (abs.json || rel.json))
        return case_fail(p, n, "either ulp, or abs and rel");
    if (ulp.json) {
        status = case_unsigned(p, &ulp, INT64_MAX, &out->ulp);
        out->kind = out->ulp ? RT_ULP : RT_EXACT;
        return status;
    }
    out->kind = abs.json || rel.json ? RT_ABS_REL : RT_EXACT;
    if (abs.json)
        status = case_real(p, &abs, &out->abs);
    if (!status && rel.json)
        status = case_real(p, &rel, &out->rel);
    if (!status && (out->abs < 0 || out->rel < 0))
        status = case_fail(p, n, "a tolerance is not negative");
    return status;
}

static pxb_status parse_expected_array(const case_parser *p, const case_node *n, case_expect *out)
{
    static const char *const formats[] = {"", "bf16", "e4m3", "e5m2", NULL};
    case_node tolerance = case_member(n, "tolerance"), as = case_member(n, "as");
    case_node buffer = case_member(n, "buffer"), surface = case_member(n, "surface"), global = case_member(n, "global");
    case_node *at = buffer.json ? &buffer : surface.json ? &surface : &global;
    const char *name = NULL;
    int format = 0;
    out->kind = CASE_EXPECT_ARRAY;
    pxb_status status = case_string(p, at, &name);
    if (status)
        return status;
    if (at == &global)
        out->global = name;
    else
        out->array = case_find(p->file, at == &buffer ? CASE_BUFFER : CASE_SURFACE, name);
    if (!out->global && !out->array)
        return case_fail(p, at, "there is no %s \"%.80s\" in this case", at->step.key, name);
    if (out->array && out->array->image.of)
        return case_fail(p, at, "surface \"%.80s\" has the texels of \"%.80s\", which are what can be expected", name, out->array->image.of->name);
    status = case_parse_source(p, n, &out->source);
    case_node pointers = case_member(n, "pointers");
    if (!status && pointers.json && at == &surface)
        status = case_fail(p, &pointers, "a surface holds no pointers");
    if (!status && pointers.json)
        status = case_parse_pointers(p, &pointers, true, &out->pointers);
    if (!status)
        status = parse_tolerance(p, &tolerance, &out->tolerance);
    if (!status)
        status = case_choice(p, &as, formats, "format: bf16, e4m3, e5m2", &format);
    if (!status && as.json && format == 0)
        status = case_fail(p, &as, "\"\" is no format: bf16, e4m3, e5m2");
    out->format = (rt_format)format;
    return status;
}

static pxb_status parse_expect(const case_parser *p, const case_node *n, case_expect *out)
{
    static const char *const array_keys[] = {"buffer", "surface", "global", "npy",    "npz",       "member", "raw",
                                             "png",    "random",  "zeros",  "values", "tolerance", "as",     "pointers", "dtype", NULL};
    static const char *const alone[] = {"printf", "printf_sorted_lines", "fault", NULL};
    pxb_status status = case_want(p, n, JSON_OBJECT, "an object");
    if (status)
        return status;
    int subjects = 0;
    for (int i = 0; i < 3; i++)
        subjects += json_object_get(n->json, array_keys[i]) != NULL;
    for (int i = 0; alone[i]; i++)
        subjects += json_object_get(n->json, alone[i]) != NULL;
    if (subjects != 1)
        return case_fail(
            p, n,
            "exactly one of buffer, surface, global, printf, printf_sorted_lines and fault is wanted here, not %d",
            subjects);
    case_position(p, n, &out->line, &out->column);
    case_node exact = case_member(n, alone[0]), sorted = case_member(n, alone[1]), fault = case_member(n, alone[2]);
    if (!exact.json && !sorted.json && !fault.json) {
        status = case_check_keys(p, n, array_keys);
        return status ? status : parse_expected_array(p, n, out);
    }
    status = case_check_keys(p, n, alone);
    if (!status)
        status = case_string(p, exact.json ? &exact : sorted.json ? &sorted : &fault, &out->text);
    out->kind = exact.json ? CASE_EXPECT_PRINTF : sorted.json ? CASE_EXPECT_PRINTF_SORTED : CASE_EXPECT_FAULT;
    if (!status && fault.json && !rt_fault_from_name(out->text, &out->fault))
        status = case_fail(p, &fault,
                           "\"%.40s\" is no fault: trap, illegal_address, misaligned_address, barrier_deadlock, "
                           "timeout, stack, call, handle",
                           out->text);
    return status;
}

static pxb_status parse_expects(const case_parser *p, const case_node *root)
{
    case_node list = case_member(root, "expect");
    if (!list.json)
        return PXB_OK;
    pxb_status status = case_want(p, &list, JSON_ARRAY, "a list of expectations");
    if (status)
        return status;
    size_t count = json_array_size(list.json);
    if (count > MAX_LIST)
        return case_fail(p, &list, "at most %d expectations are possible", MAX_LIST);
    case_expect *expects = rt_pool_alloc(p->pool, count, sizeof *expects);
    if (!expects)
        return rt_no_memory(p->ctx);
    p->file->expects = expects;
    p->file->nexpects = (uint32_t)count;
    for (size_t i = 0; i < count && !status; i++) {
        case_node n = case_element(&list, i);
        status = parse_expect(p, &n, &expects[i]);
    }
    return status;
}

/* ------------------------------------------------------------ the whole */

static pxb_status parse_root(const case_parser *p, const case_node *root)
{
    static const char *const keys[] = {"ptxbridge_case", "description", "ptx",       "entry",      "grid",
                                       "block",          "shared",      "mma_model", "timeout_ms", "buffers",
                                       "textures",       "surfaces",    "params",    "globals",    "expect",
                                       "launches",       "cooperative", NULL};
    case_node version = case_member(root, "ptxbridge_case"), description = case_member(root, "description");
    case_node ptx = case_member(root, "ptx"), model = case_member(root, "mma_model"),
              timeout = case_member(root, "timeout_ms");
    uint64_t number = 0;
    pxb_status status = case_want(p, root, JSON_OBJECT, "an object");
    /* The version first: a later format may well have keys that are unknown here. */
    if (!status)
        status = case_unsigned(p, &version, INT32_MAX, &number);
    if (!status && number != 1)
        status = case_fail(p, &version, "version %u of the format is not known; this program reads version 1",
                           (unsigned)number);
    if (!status)
        status = case_check_keys(p, root, keys);
    if (!status && description.json)
        status = case_string(p, &description, &p->file->description);
    if (!status)
        status = case_path(p, &ptx, &p->file->ptx);
    if (!status && model.json) {
        const char *name = NULL;
        status = case_string(p, &model, &name);
        if (!status && !pxb_mma_model_from_name(name, &p->file->model))
            status = case_fail(p, &model,
                               "\"%.40s\" is no mma model: ada, hopper, blackwell, ampere, turing, volta, ieee", name);
        p->file->has_model = true;
    }
    number = 0;
    if (!status && timeout.json)
        status = case_unsigned(p, &timeout, UINT32_MAX, &number);
    p->file->timeout_ms = (uint32_t)number;
    if (!status)
        status = parse_arrays(p, root);
    if (!status)
        status = parse_references(p, root);
    if (!status)
        status = parse_launches(p, root);
    return status ? status : parse_expects(p, root);
}

static char *folder_of(rt_pool *pool, const char *path)
{
    const char *slash = strrchr(path, '/');
    return rt_pool_printf(pool, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
}

static pxb_status parse_text(pxb_context *ctx, case_file *file, const char *text, size_t length)
{
    json_error_t error;
    size_t quoted_length;
    char *quoted = case_quote_large(text, length, &quoted_length);
    if (!quoted)
        return rt_no_memory(ctx);
    json_t *json = json_loadb(quoted, quoted_length, JSON_REJECT_DUPLICATES, &error);
    free(quoted);
    if (!json)
        return rt_fail_at(ctx, PXB_BAD_INPUT, file->path, error.line > 0 ? (uint32_t)error.line : 0,
                          error.column > 0 ? (uint32_t)error.column : 0, "%s", error.text);
    case_parser p = {.ctx = ctx, .path = file->path, .text = text, .length = length, .file = file, .pool = &file->pool};
    p.folder = folder_of(&file->pool, file->path);
    case_node root = {{0}, json};
    pxb_status status = p.folder ? parse_root(&p, &root) : rt_no_memory(ctx);
    json_decref(json);
    return status;
}

pxb_status case_parse(pxb_context *ctx, const char *path, const char *text, size_t length, case_file **out)
{
    *out = NULL;
    case_file *file = calloc(1, sizeof *file);
    if (!file)
        return rt_no_memory(ctx);
    file->path = rt_pool_strdup(&file->pool, path);
    pxb_status status = file->path ? parse_text(ctx, file, text, length) : rt_no_memory(ctx);
    if (status) {
        case_free(file);
        return status;
    }
    *out = file;
    return PXB_OK;
}

pxb_status case_read(pxb_context *ctx, const char *path, case_file **out)
{
    char *text;
    size_t length;
    *out = NULL;
    pxb_status status = rt_read_file(ctx, path, MAX_CASE_BYTES, &text, &length);
    if (!status)
        status = case_parse(ctx, path, text, length, out);
    free(text);
    return status;
}

void case_free(case_file *file)
{
    if (!file)
        return;
    rt_pool_free(&file->pool);
    free(file);
}
