/* case_run.c - loads, launches and reads back what a case file says.
 *
 * Device memory is made once; every repetition parses the PTX anew, takes the kernels anew, writes all initial contents
 * again and launches, so that repeated times are those of the first run and results do not pile up.
 */
#include "runtime/case.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/device.h"
#include "runtime/module.h"

enum { MAX_PTX_BYTES = 1 << 30, MAX_PRINTED = 64 << 20 };

/* An array of the case on the host and on the device. */
typedef struct resident {
    const case_array *array;
    rt_array initial;
    pxb_address address; /* buffers */
    pxb_image *image;    /* textures and surfaces */
    pxb_handle handle;
} resident;

typedef struct printed {
    char *text;
    size_t length, room;
    size_t lost;
} printed;

typedef struct run {
    pxb_context *ctx;
    const case_file *file;
    const case_options *options;
    case_result *result;
    pxb_device *device;
    pxb_module *module;
    char *ptx;
    size_t ptx_length;
    uint32_t nresidents;
    resident *residents;
    printed printed;
} run;

static void on_print(void *user, const char *text, size_t length)
{
    printed *p = user;
    if (p->lost || length > MAX_PRINTED - p->length) {
        p->lost += length;
        return;
    }
    if (p->room - p->length < length + 1) {
        size_t room = (p->length + length) * 2 + 256;
        char *more = realloc(p->text, room);
        if (!more) {
            p->lost += length;
            return;
        }
        p->text = more;
        p->room = room;
    }
    memcpy(p->text + p->length, text, length);
    p->length += length;
    p->text[p->length] = '\0';
}

static void progress(const run *r, const char *phase, uint32_t done, uint32_t of)
{
    if (r->options->progress)
        r->options->progress(r->options->progress_user, phase, done, of);
}

/* ------------------------------------------------------------ arrays on the device */

/* (W,C), (H,W,C) or (D,H,W,C). */
static pxb_status image_desc(pxb_context *ctx, const case_array *a, const rt_array *data, pxb_image_desc *out)
{
    char text[128];
    const char *kind = case_array_kind_name(a->kind);
    pxb_texel texel;
    if (data->ndim < 2 || data->ndim > 4)
        return rt_fail(ctx, PXB_BAD_INPUT, "%s \"%.80s\" is %s; it needs a shape (W,C), (H,W,C) or (D,H,W,C)", kind,
                       a->name, rt_array_describe(data, text, sizeof text));
    if (!case_texel_of_dtype(data->dtype, &texel))
        return rt_fail(ctx, PXB_BAD_INPUT, "%s \"%.80s\" is %s; texels are u8 s8 u16 s16 u32 s32 f16 or f32", kind,
                       a->name, rt_array_describe(data, text, sizeof text));
    if (a->has_format && a->format != texel)
        return rt_fail(ctx, PXB_BAD_INPUT, "%s \"%.80s\" is %s, which its format does not match", kind, a->name,
                       rt_array_describe(data, text, sizeof text));
    uint32_t extent[4] = {1, 1, 1, 1}; /* C, W, H, D */
    for (uint32_t i = 0; i < data->ndim; i++) {
        uint64_t n = data->shape[data->ndim - 1 - i];
        extent[i] = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    }
    *out = (pxb_image_desc){.dims = data->ndim - 1,
                            .width = extent[1],
                            .height = extent[2],
                            .depth = extent[3],
                            .channels = extent[0],
                            .texel = texel};
    return PXB_OK;
}

static pxb_status make_image(run *r, resident *x)
{
    pxb_image_desc desc;
    pxb_status status = image_desc(r->ctx, x->array, &x->initial, &desc);
    if (!status)
        status = pxb_image_create(r->device, &desc, &x->image);
    if (status)
        return status;
    return x->array->kind == CASE_TEXTURE ? pxb_texture_create(x->image, &x->array->sampler, &x->handle)
                                          : pxb_surface_create(x->image, &x->handle);
}

static pxb_status make_residents(run *r)
{
    r->residents = calloc((size_t)r->file->narrays + 1, sizeof *r->residents);
    if (!r->residents)
        return rt_no_memory(r->ctx);
    for (uint32_t i = 0; i < r->file->narrays; i++) {
        resident *x = &r->residents[r->nresidents++];
        x->array = &r->file->arrays[i];
        progress(r, "load", i, r->file->narrays);
        pxb_status status = case_load_source(r->ctx, &x->array->source, &x->initial);
        if (!status && x->array->kind == CASE_BUFFER)
            status = pxb_memory_alloc(r->device, x->initial.bytes ? x->initial.bytes : 1, &x->address);
        else if (!status && x->array->kind != CASE_GLOBAL)
            status = make_image(r, x);
        if (status)
            return status;
    }
    return PXB_OK;
}

static const resident *resident_of(const run *r, const case_array *array)
{
    return &r->residents[array - r->file->arrays];
}

/* The address of a module's variable and of a byte in it. */
static pxb_status variable_address(const run *r, const char *name, uint64_t offset, pxb_address *out)
{
    size_t bytes = 0;
    pxb_status status = pxb_global_get(r->device, r->module, name, out, &bytes);
    if (status)
        return status;
    *out += offset;
    return offset <= bytes ? PXB_OK
                           : rt_fail(r->ctx, PXB_BAD_INPUT, "offset %" PRIu64 " is outside global \"%.80s\" of %zu bytes", offset, name, bytes);
}

static pxb_status pointer_address(const run *r, const case_pointer *p, pxb_address *out)
{
    if (p->global)
        return variable_address(r, p->global, p->target_offset, out);
    const resident *x = resident_of(r, p->buffer);
    if (p->target_offset > x->initial.bytes)
        return rt_fail_at(r->ctx, PXB_BAD_INPUT, r->file->path, p->line, p->column, "offset %" PRIu64 " is outside buffer \"%.80s\" of %zu bytes",
                          p->target_offset, p->buffer->name, x->initial.bytes);
    *out = x->address + p->target_offset;
    return PXB_OK;
}

/* First contents of a buffer or variable, with the addresses that it holds here. */
static pxb_status write_memory(run *r, const resident *x, pxb_address to)
{
    const case_pointers *pointers = &x->array->pointers;
    if (!pointers->count)
        return pxb_memory_write(r->device, to, x->initial.data, x->initial.bytes);
    pxb_status status = case_check_pointers(r->ctx, r->file, pointers, x->array->name, x->initial.bytes);
    unsigned char *copy = malloc(x->initial.bytes + 1);
    if (!copy)
        return rt_no_memory(r->ctx);
    memcpy(copy, x->initial.data, x->initial.bytes);
    for (uint32_t i = 0; i < pointers->count && !status; i++) {
        pxb_address address = 0;
        status = pointer_address(r, &pointers->list[i], &address);
        memcpy(copy + (status ? 0 : pointers->list[i].offset), &address, status ? 0 : sizeof address);
    }
    if (!status)
        status = pxb_memory_write(r->device, to, copy, x->initial.bytes);
    free(copy);
    return status;
}

static pxb_status write_global(run *r, const resident *x)
{
    pxb_address address;
    size_t bytes = 0;
    pxb_status status = pxb_global_get(r->device, r->module, x->array->name, &address, &bytes);
    if (status)
        return status;
    if (bytes != x->initial.bytes)
        return rt_fail(r->ctx, PXB_BAD_INPUT, "global \"%.80s\" has %zu bytes in the module, and %zu in the case",
                       x->array->name, bytes, x->initial.bytes);
    return write_memory(r, x, address);
}

static pxb_status write_residents(run *r)
{
    pxb_status status = PXB_OK;
    for (uint32_t i = 0; i < r->nresidents && !status; i++) {
        resident *x = &r->residents[i];
        if (x->array->kind == CASE_GLOBAL)
            status = write_global(r, x);
        else if (x->image)
            status = pxb_image_write(x->image, x->initial.data, x->initial.bytes);
        else
            status = write_memory(r, x, x->address);
    }
    return status;
}

/* ------------------------------------------------------------ parameters */

static pxb_status bad_param(const run *r, const case_param *p, const ptx_variable *v, const char *format, ...)
    RT_PRINTF(4, 5);

static pxb_status bad_param(const run *r, const case_param *p, const ptx_variable *v, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return rt_fail_at(r->ctx, PXB_BAD_INPUT, r->file->path, p->line, p->column, "parameter %s: %s", v->name, reason);
}

static pxb_status put_field(const run *r, const case_param *p, const ptx_variable *v, const case_field *f,
                            unsigned char *to)
{
    uint64_t word = 0;
    if (f->kind == CASE_SCALARS) {
        uint32_t n = rt_dtype_bytes(f->dtype);
        for (uint32_t i = 0; i < f->count; i++)
            memcpy(to + (size_t)i * n, &f->bits[i], n);
        return PXB_OK;
    }
    if (f->kind == CASE_FUNCTION) {
        pxb_status status = pxb_function_address(r->device, r->module, f->function, &word);
        if (status)
            return status;
    } else if (f->kind == CASE_VARIABLE) {
        pxb_status status = variable_address(r, f->function, f->array_offset, &word);
        if (status)
            return status;
    } else if (f->kind != CASE_NULL) {
        const resident *x = resident_of(r, f->array);
        if (f->kind == CASE_ADDRESS && f->array_offset > x->initial.bytes)
            return bad_param(r, p, v, "offset %" PRIu64 " is outside buffer \"%.80s\" of %zu bytes", f->array_offset,
                             f->array->name, x->initial.bytes);
        word = f->kind == CASE_ADDRESS ? x->address + f->array_offset : x->handle;
    }
    memcpy(to, &word, sizeof word);
    return PXB_OK;
}

static pxb_status put_param(const run *r, const case_param *p, const ptx_variable *v, unsigned char *block)
{
    uint64_t size = p->size;
    if (!p->is_struct)
        size = p->fields->kind == CASE_SCALARS ? (uint64_t)p->fields->count * rt_dtype_bytes(p->fields->dtype) : 8;
    if (size != v->size)
        return bad_param(r, p, v, "the entry declares %" PRIu64 " bytes (.%s), the case gives %" PRIu64, v->size,
                         ptx_type_name(v->type), size);
    for (uint32_t i = 0; i < p->nfields; i++) {
        pxb_status status = put_field(r, p, v, &p->fields[i], block + v->offset + p->fields[i].offset);
        if (status)
            return status;
    }
    return PXB_OK;
}

static pxb_status pack_params(const run *r, const case_launch *l, const ptx_function *f, unsigned char **out)
{
    if (l->nparams != f->prototype.nparams)
        return rt_fail_at(r->ctx, PXB_BAD_INPUT, r->file->path, l->line, l->column,
                          "entry \"%.200s\" takes %u parameters, %u are given", f->name, f->prototype.nparams,
                          l->nparams);
    *out = calloc(1, (size_t)f->param_size + 1);
    if (!*out)
        return rt_no_memory(r->ctx);
    for (uint32_t i = 0; i < l->nparams; i++) {
        pxb_status status = put_param(r, &l->params[i], f->prototype.params[i], *out);
        if (status)
            return status;
    }
    return PXB_OK;
}

/* ------------------------------------------------------------ launches */

static pxb_status launch_one(run *r, const case_launch *l, pxb_kernel *kernel, struct rt_trace *trace)
{
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    memcpy(o.grid, l->grid, sizeof o.grid);
    memcpy(o.block, l->block, sizeof o.block);
    o.shared_bytes = l->shared;
    o.mma_model = r->options->has_model ? r->options->model : r->file->model;
    o.mma_fast = r->options->mma_fast;
    o.check = r->options->check;
    o.timeout_ms = r->options->has_timeout ? r->options->timeout_ms : r->file->timeout_ms;
    o.print = on_print;
    o.print_user = &r->printed;
    unsigned char *block = NULL;
    pxb_status status = pack_params(r, l, kernel->function, &block);
    if (!status)
        status = rt_launch(kernel, &o, block, (size_t)kernel->function->param_size, trace);
    free(block);
    return status ? rt_place_error(r->ctx, status, r->file->path, l->line, l->column) : PXB_OK;
}

static pxb_status note_fault(run *r, pxb_status status)
{
    const pxb_error *e = pxb_last_error(r->ctx);
    r->result->fault = status;
    r->result->fault_line = e->line;
    r->result->fault_text = rt_pool_strdup(&r->result->pool, e->message);
    return r->result->fault_text ? PXB_OK : rt_no_memory(r->ctx);
}

/* Takes all kernels first, so that decode and run times are apart. A fault ends the list. */
static pxb_status run_launches(run *r, uint32_t repetition)
{
    uint32_t n = r->file->nlaunches;
    pxb_kernel **kernels = calloc(n, sizeof *kernels);
    if (!kernels)
        return rt_no_memory(r->ctx);
    pxb_status status = PXB_OK;
    double started = rt_now_ms();
    for (uint32_t i = 0; i < n && !status; i++)
        status = pxb_kernel_get(r->device, r->module, r->file->launches[i].entry, &kernels[i]);
    r->result->decode_ms[repetition] = rt_now_ms() - started;
    if (!status)
        status = write_residents(r);
    started = rt_now_ms();
    for (uint32_t i = 0; i < n && !status; i++) {
        progress(r, "run", repetition * n + i, r->result->repeat * n);
        status = launch_one(r, &r->file->launches[i], kernels[i], NULL);
    }
    r->result->run_ms[repetition] = rt_now_ms() - started;
    free(kernels);
    return pxb_is_fault(status) ? note_fault(r, status) : status;
}

static pxb_status repeat_once(run *r, uint32_t repetition)
{
    pxb_module_free(r->module);
    r->module = NULL;
    r->printed.length = r->printed.lost = 0;
    double started = rt_now_ms();
    pxb_status status = pxb_module_load_text(r->ctx, r->ptx, r->ptx_length, r->file->ptx, &r->module);
    r->result->parse_ms[repetition] = rt_now_ms() - started;
    if (!status && repetition == 0 && r->options->remark) {
        char *text = rt_module_remarks(r->module->ptx);
        if (text)
            r->options->remark(text);
        free(text);
    }
    return status ? status : run_launches(r, repetition);
}

/* ------------------------------------------------------------ results */

static bool wanted(const run *r, const case_array *a)
{
    if (a->kind == CASE_TEXTURE)
        return false;
    bool judged = false;
    if (r->options->all)
        return a->kind != CASE_GLOBAL;
    for (uint32_t i = 0; i < r->file->nexpects; i++) {
        const case_expect *e = &r->file->expects[i];
        judged = judged || e->kind == CASE_EXPECT_ARRAY;
        if (e->array == a)
            return true;
    }
    for (uint32_t i = 0; i < r->options->nwanted; i++)
        if (strcmp(r->options->wanted[i], a->name) == 0)
            return true;
    return !judged && a->kind != CASE_GLOBAL;
}

static pxb_status name_pointers(const run *r, const case_pointers *pointers, const case_output *out)
{
    pxb_status status = case_check_pointers(r->ctx, r->file, pointers, out->name, out->array.bytes);
    for (uint32_t i = 0; i < pointers->count && !status; i++) {
        pxb_address address;
        status = pointer_address(r, &pointers->list[i], &address);
        if (!status)
            case_name_pointer(r->file, &pointers->list[i], address, out->array.data);
    }
    return status;
}

/* Addresses in what was read, where the case or an expectation knows of them, become what they mean. */
static pxb_status name_all_pointers(const run *r, const case_array *a, const case_output *out)
{
    pxb_status status = a ? name_pointers(r, &a->pointers, out) : PXB_OK;
    for (uint32_t i = 0; i < r->file->nexpects && !status; i++) {
        const case_expect *e = &r->file->expects[i];
        if (e->array ? e->array == a : e->global && out->kind == CASE_GLOBAL && strcmp(e->global, out->name) == 0)
            status = name_pointers(r, &e->pointers, out);
    }
    return status;
}

/* Are the bytes those of before the launches? */
static pxb_status note_change(const run *r, const case_array *a, const void *before, case_output *out)
{
    if (!a || !a->pointers.count) {
        out->changed = memcmp(out->array.data, before, out->array.bytes) != 0;
        return PXB_OK;
    }
    void *copy = malloc(out->array.bytes);
    if (!copy)
        return rt_no_memory(r->ctx);
    memcpy(copy, before, out->array.bytes);
    case_name_pointers(r->file, &a->pointers, copy);
    out->changed = memcmp(out->array.data, copy, out->array.bytes) != 0;
    free(copy);
    return PXB_OK;
}

static pxb_status read_output(run *r, const resident *x, case_output *out)
{
    out->kind = x->array->kind;
    out->name = rt_pool_strdup(&r->result->pool, x->array->name);
    if (!out->name)
        return rt_no_memory(r->ctx);
    const rt_array *i = &x->initial;
    pxb_status status = rt_array_make(r->ctx, &out->array, i->dtype, i->ndim, i->shape);
    if (!status && x->image)
        status = pxb_image_read(x->image, out->array.data, i->bytes);
    else if (!status)
        status = pxb_memory_read(r->device, out->array.data, x->address, i->bytes);
    if (!status)
        status = name_all_pointers(r, x->array, out);
    return status ? status : note_change(r, x->array, i->data, out);
}

/* A variable of the module as bytes; an expectation gives it a dtype. */
static pxb_status read_global(run *r, const char *name, case_output *out)
{
    pxb_address address;
    size_t bytes = 0;
    out->kind = CASE_GLOBAL;
    out->changed = true;
    out->name = rt_pool_strdup(&r->result->pool, name);
    pxb_status status = out->name ? pxb_global_get(r->device, r->module, name, &address, &bytes) : rt_no_memory(r->ctx);
    uint64_t shape[1] = {bytes};
    if (!status)
        status = rt_array_make(r->ctx, &out->array, RT_U8, 1, shape);
    if (!status)
        status = pxb_memory_read(r->device, out->array.data, address, bytes);
    return status ? status : name_all_pointers(r, case_find(r->file, CASE_GLOBAL, name), out);
}

static bool have_global(const case_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->noutputs; i++)
        if (result->outputs[i].kind == CASE_GLOBAL && strcmp(result->outputs[i].name, name) == 0)
            return true;
    return false;
}

static pxb_status read_wanted_globals(run *r)
{
    case_result *result = r->result;
    pxb_status status = PXB_OK;
    for (uint32_t i = 0; i < r->file->nexpects && !status; i++) {
        const char *name = r->file->expects[i].global;
        if (name && !have_global(result, name))
            status = read_global(r, name, &result->outputs[result->noutputs++]);
    }
    for (uint32_t i = 0; i < r->options->nwanted && !status; i++) {
        const char *name = r->options->wanted[i];
        bool is_array = case_find(r->file, CASE_BUFFER, name) || case_find(r->file, CASE_SURFACE, name);
        if (is_array || have_global(result, name))
            continue;
        status = read_global(r, name, &result->outputs[result->noutputs++]);
        if (status == PXB_NOT_FOUND)
            status = rt_fail(r->ctx, PXB_NOT_FOUND,
                             "the case has no buffer or surface \"%.80s\", and its module no such variable", name);
    }
    return status;
}

/* What a variable held before the launches; false when only the device knows (it holds addresses). */
static bool initial_bytes(const run *r, const ptx_variable *v, const void **out)
{
    const case_array *a = case_find(r->file, CASE_GLOBAL, v->name);
    *out = a ? resident_of(r, a)->initial.data : v->init;
    return a || v->nrelocations == 0;
}

static bool is_zero(const unsigned char *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* Variables that the launches changed. Those that a device does not have are told of. */
static pxb_status read_changed_globals(run *r)
{
    case_result *result = r->result;
    const ptx_module *m = r->module->ptx;
    result->missing = rt_pool_alloc(&result->pool, (size_t)m->nvariables + 1, sizeof *result->missing);
    if (!result->missing)
        return rt_no_memory(r->ctx);
    for (uint32_t i = 0; i < m->nvariables; i++) {
        const ptx_variable *v = m->variables[i];
        const void *initial;
        if (v->space != PTX_SPACE_GLOBAL || ptx_type_class(v->type) == 'o' || v->size == 0 ||
            have_global(result, v->name) || !initial_bytes(r, v, &initial))
            continue;
        case_output *o = &result->outputs[result->noutputs];
        pxb_status status = read_global(r, v->name, o);
        if (status == PXB_NOT_FOUND) {
            const char *name = rt_pool_strdup(&result->pool, v->name);
            rt_array_free(&o->array);
            if (!name)
                return rt_no_memory(r->ctx);
            result->missing[result->nmissing++] = name;
            continue;
        }
        if (status)
            return result->noutputs++, status;
        o->changed = !initial && !is_zero(o->array.data, v->size);
        status = initial ? note_change(r, case_find(r->file, CASE_GLOBAL, v->name), initial, o) : PXB_OK;
        if (status)
            return result->noutputs++, status;
        if (o->changed)
            result->noutputs++;
        else
            rt_array_free(&o->array);
    }
    return PXB_OK;
}

/* The device was opened for this case, so that its counters are those of the repetitions. */
static pxb_status keep_counters(run *r)
{
    case_result *result = r->result;
    const rt_device_ops *ops = r->device->ops;
    uint32_t n = 0;
    pxb_counter c;
    while (ops->counter && ops->counter(r->device, n, &c))
        n++;
    result->counters = rt_pool_alloc(&result->pool, (size_t)n + 1, sizeof *result->counters);
    for (uint32_t i = 0; result->counters && i < n && ops->counter(r->device, i, &c); i++) {
        c.name = rt_pool_strdup(&result->pool, c.name);
        c.value /= result->repeat;
        if (!c.name)
            return rt_no_memory(r->ctx);
        result->counters[result->ncounters++] = c;
    }
    return result->counters ? PXB_OK : rt_no_memory(r->ctx);
}

static pxb_status keep_properties(run *r)
{
    case_result *result = r->result;
    uint32_t n = 0;
    pxb_property p;
    while (r->device->ops->property(r->device, n, &p))
        n++;
    result->properties = rt_pool_alloc(&result->pool, 2 * (size_t)n + 1, sizeof *result->properties);
    if (!result->properties)
        return rt_no_memory(r->ctx);
    for (uint32_t i = 0; i < n && r->device->ops->property(r->device, i, &p); i++) {
        const char *name = rt_pool_strdup(&result->pool, p.name), *value = rt_pool_strdup(&result->pool, p.value);
        if (!name || !value)
            return rt_no_memory(r->ctx);
        result->properties[2 * i] = name;
        result->properties[2 * i + 1] = value;
        result->nproperties = i + 1;
    }
    return PXB_OK;
}

static pxb_status read_outputs(run *r)
{
    case_result *result = r->result;
    size_t most = (size_t)r->nresidents + r->file->nexpects + r->options->nwanted + 1;
    if (r->options->all)
        most += r->module->ptx->nvariables;
    result->outputs = calloc(most, sizeof *result->outputs);
    if (!result->outputs)
        return rt_no_memory(r->ctx);
    pxb_status status = PXB_OK;
    const bool lost = result->fault && r->device->ops->loses_memory;
    for (uint32_t i = 0; i < r->nresidents && !status && !lost; i++)
        if (r->residents[i].array->kind != CASE_GLOBAL && wanted(r, r->residents[i].array))
            status = read_output(r, &r->residents[i], &result->outputs[result->noutputs++]);
    if (!status && !lost)
        status = read_wanted_globals(r);
    if (!status && r->options->all && !lost)
        status = read_changed_globals(r);
    if (!status)
        status = keep_counters(r);
    if (!status && r->options->all)
        status = keep_properties(r);
    if (r->printed.lost)
        fprintf(stderr, "ptxbridge: of what the kernels printed %zu bytes beyond the limit of %d are lost\n", r->printed.lost, MAX_PRINTED);
    result->printed = rt_pool_strdup(&result->pool, r->printed.length ? r->printed.text : "");
    return status || result->printed ? status : rt_no_memory(r->ctx);
}

/* ------------------------------------------------------------ the whole */

static pxb_status prepare(run *r)
{
    case_result *result = r->result;
    result->repeat = r->options->repeat ? r->options->repeat : 1;
    double *times = rt_pool_alloc(&result->pool, (size_t)result->repeat * 3, sizeof *times);
    if (!times)
        return rt_no_memory(r->ctx);
    result->parse_ms = times;
    result->decode_ms = times + result->repeat;
    result->run_ms = times + 2 * (size_t)result->repeat;
    pxb_status status = rt_read_file(r->ctx, r->file->ptx, MAX_PTX_BYTES, &r->ptx, &r->ptx_length);
    if (!status)
        status = pxb_device_open(r->ctx, r->options->device, &r->device);
    return status ? status : make_residents(r);
}

static void release(run *r)
{
    for (uint32_t i = 0; i < r->nresidents; i++)
        rt_array_free(&r->residents[i].initial);
    pxb_module_free(r->module);
    pxb_device_close(r->device); /* with its memory and images */
    free(r->residents);
    free(r->ptx);
    free(r->printed.text);
}

pxb_status case_run(pxb_context *ctx, const case_file *file, const case_options *options, case_result *result)
{
    memset(result, 0, sizeof *result);
    run r = {.ctx = ctx, .file = file, .options = options, .result = result};
    pxb_status status = prepare(&r);
    for (uint32_t i = 0; i < result->repeat && !status && !result->fault; i++)
        status = repeat_once(&r, i);
    if (!status)
        status = read_outputs(&r);
    if (!status)
        status = case_judge(ctx, file, result);
    release(&r);
    /* What is wrong with the case and not with one of its files; a device that is not there is no fault of the case. */
    return status && status != PXB_NO_DEVICE ? rt_place_error(ctx, status, file->path, 0, 0) : status;
}

/* ------------------------------------------------------------ one launch at a time */

/* The module is loaded once, so its variables have to be set back by hand. */
struct case_session {
    run r;
    void **variables;          /* first contents of each module variable, NULL for those that no kernel can change */
};

static pxb_status keep_variables(case_session *s)
{
    const ptx_module *m = s->r.module->ptx;
    s->variables = calloc((size_t)m->nvariables + 1, sizeof *s->variables);
    pxb_status status = s->variables ? PXB_OK : rt_no_memory(s->r.ctx);
    for (uint32_t i = 0; i < m->nvariables && !status; i++) {
        const ptx_variable *v = m->variables[i];
        pxb_address at;
        if (v->space != PTX_SPACE_GLOBAL || ptx_type_class(v->type) == 'o' || v->size == 0 || v->size > RT_ARRAY_LIMIT ||
            pxb_global_get(s->r.device, s->r.module, v->name, &at, NULL))
            continue;
        s->variables[i] = malloc((size_t)v->size);
        status = s->variables[i] ? pxb_memory_read(s->r.device, s->variables[i], at, (size_t)v->size)
                                 : rt_no_memory(s->r.ctx);
    }
    return status;
}

static pxb_status write_variables(case_session *s)
{
    const ptx_module *m = s->r.module->ptx;
    pxb_status status = PXB_OK;
    for (uint32_t i = 0; i < m->nvariables && !status; i++) {
        pxb_address at;
        if (!s->variables[i])
            continue;
        status = pxb_global_get(s->r.device, s->r.module, m->variables[i]->name, &at, NULL);
        if (!status)
            status = pxb_memory_write(s->r.device, at, s->variables[i], (size_t)m->variables[i]->size);
    }
    return status;
}

pxb_status case_session_open(pxb_context *ctx, const case_file *file, const case_options *options, case_result *result,
                             case_session **out)
{
    case_session *s = calloc(1, sizeof *s);
    memset(result, 0, sizeof *result);
    *out = s;
    if (!s)
        return rt_no_memory(ctx);
    s->r = (run){.ctx = ctx, .file = file, .options = options, .result = result};
    pxb_status status = prepare(&s->r);
    if (!status)
        status = pxb_module_load_text(ctx, s->r.ptx, s->r.ptx_length, file->ptx, &s->r.module);
    return status ? status : keep_variables(s);
}

const ptx_module *case_session_module(const case_session *s)
{
    return s->r.module->ptx;
}

uint64_t case_session_place(const case_session *s, const case_array *array)
{
    const resident *x = resident_of(&s->r, array);
    return array->kind == CASE_BUFFER ? x->address : x->handle;
}

uint64_t case_session_variable(const case_session *s, const char *name)
{
    pxb_address address;
    return pxb_global_get(s->r.device, s->r.module, name, &address, NULL) ? 0 : address;
}

pxb_status case_session_trace(case_session *s, uint32_t launch, struct rt_trace *trace, bool *faulted)
{
    run *r = &s->r;
    *faulted = false;
    r->printed.length = r->printed.lost = 0;
    pxb_status status = write_variables(s);
    if (!status)
        status = write_residents(r);
    for (uint32_t i = 0; i <= launch && !status; i++) {
        pxb_kernel *kernel;
        status = pxb_kernel_get(r->device, r->module, r->file->launches[i].entry, &kernel);
        if (!status)
            status = launch_one(r, &r->file->launches[i], kernel, i == launch ? trace : NULL);
    }
    *faulted = pxb_is_fault(status);
    return *faulted ? note_fault(r, status) : status;
}

void case_session_close(case_session *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->variables && i < s->r.module->ptx->nvariables; i++)
        free(s->variables[i]);
    free(s->variables);
    release(&s->r);
    free(s);
}

void case_result_free(case_result *result)
{
    for (uint32_t i = 0; i < result->noutputs; i++)
        rt_array_free(&result->outputs[i].array);
    free(result->outputs);
    rt_pool_free(&result->pool);
    memset(result, 0, sizeof *result);
}
