/* case_run.c - loads, launches and reads back what a case file says.
 *
 * Device memory is made once; every repetition parses the PTX anew, takes the kernels anew, writes all initial contents
 * again and launches, so that repeated times are those of the first run and results do not pile up.
 */
#include "runtime/case_live.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/module.h"

enum { MAX_PTX_BYTES = 1 << 30 };

static void on_print(void *user, const char *text, size_t length)
{
    case_printed *p = user;
    if (p->lost || length > CASE_MAX_PRINTED - p->length) {
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

void case_progress(const case_live *r, const char *phase, uint32_t done, uint32_t of)
{
    if (r->options->progress)
        r->options->progress(r->options->progress_user, phase, done, of);
}

/* ------------------------------------------------------------ parameters */

static pxb_status bad_param(const case_live *r, const case_param *p, const ptx_variable *v, const char *format, ...)
    RT_PRINTF(4, 5);

static pxb_status bad_param(const case_live *r, const case_param *p, const ptx_variable *v, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return rt_fail_at(r->ctx, PXB_BAD_INPUT, r->file->path, p->line, p->column, "parameter %s: %s", v->name, reason);
}

static pxb_status put_field(const case_live *r, const case_param *p, const ptx_variable *v, const case_field *f,
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
        pxb_status status = case_placed(r, p->line, p->column, pxb_function_address(r->device, r->module, f->function, &word));
        if (status)
            return status;
    } else if (f->kind == CASE_VARIABLE) {
        pxb_status status = case_placed(r, p->line, p->column, case_variable_address(r, f->function, f->array_offset, &word));
        if (status)
            return status;
    } else if (f->kind != CASE_NULL) {
        const case_resident *x = case_resident_of(r, f->array);
        if (f->kind == CASE_ADDRESS && f->array_offset > x->initial.bytes)
            return bad_param(r, p, v, "offset %" PRIu64 " is outside buffer \"%.80s\" of %zu bytes", f->array_offset,
                             f->array->name, x->initial.bytes);
        word = f->kind == CASE_ADDRESS ? x->address + f->array_offset : x->handle;
    }
    memcpy(to, &word, sizeof word);
    return PXB_OK;
}

static pxb_status put_param(const case_live *r, const case_param *p, const ptx_variable *v, unsigned char *block)
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

static pxb_status pack_params(const case_live *r, const case_launch *l, const ptx_function *f, unsigned char **out)
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

static pxb_status launch_one(case_live *r, const case_launch *l, pxb_kernel *kernel, struct rt_trace *trace)
{
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    memcpy(o.grid, l->grid, sizeof o.grid);
    memcpy(o.block, l->block, sizeof o.block);
    o.shared_bytes = l->shared;
    o.cooperative = l->cooperative;
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

static pxb_status note_fault(case_live *r, pxb_status status)
{
    const pxb_error *e = pxb_last_error(r->ctx);
    r->result->fault = status;
    r->result->fault_line = e->line;
    r->result->fault_text = rt_pool_strdup(&r->result->pool, e->message);
    return r->result->fault_text ? PXB_OK : rt_no_memory(r->ctx);
}

/* Takes all kernels first, so that decode and run times are apart. A fault ends the list. */
static pxb_status run_launches(case_live *r, uint32_t repetition)
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
        status = case_write_residents(r);
    started = rt_now_ms();
    for (uint32_t i = 0; i < n && !status; i++) {
        case_progress(r, "run", repetition * n + i, r->result->repeat * n);
        status = launch_one(r, &r->file->launches[i], kernels[i], NULL);
    }
    r->result->run_ms[repetition] = rt_now_ms() - started;
    free(kernels);
    return pxb_is_fault(status) ? note_fault(r, status) : status;
}

static pxb_status repeat_once(case_live *r, uint32_t repetition)
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

/* ------------------------------------------------------------ the whole */

static pxb_status prepare(case_live *r)
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
    return status ? status : case_make_residents(r);
}

static void release(case_live *r)
{
    case_heap_free(r);
    case_free_residents(r);
    pxb_module_free(r->module);
    pxb_device_close(r->device); /* with its memory and images */
    free(r->ptx);
    free(r->printed.text);
}

pxb_status case_run(pxb_context *ctx, const case_file *file, const case_options *options, case_result *result)
{
    memset(result, 0, sizeof *result);
    case_live r = {.ctx = ctx, .file = file, .options = options, .result = result};
    pxb_status status = prepare(&r);
    for (uint32_t i = 0; i < result->repeat && !status && !result->fault; i++)
        status = repeat_once(&r, i);
    if (!status)
        status = case_read_outputs(&r);
    if (!status)
        status = case_judge(ctx, file, result);
    release(&r);
    /* What is wrong with the case and not with one of its files; a device that is not there is no fault of the case. */
    return status && status != PXB_NO_DEVICE ? rt_place_error(ctx, status, file->path, 0, 0) : status;
}

/* ------------------------------------------------------------ one launch at a time */

/* The module is loaded once, so its variables have to be set back by hand. */
struct case_session {
    case_live r;
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
    s->r = (case_live){.ctx = ctx, .file = file, .options = options, .result = result};
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
    const case_resident *x = case_resident_of(&s->r, array);
    return array->kind == CASE_BUFFER ? x->address : x->handle;
}

uint64_t case_session_variable(const case_session *s, const char *name)
{
    pxb_address address;
    return pxb_global_get(s->r.device, s->r.module, name, &address, NULL) ? 0 : address;
}

pxb_status case_session_trace(case_session *s, uint32_t launch, struct rt_trace *trace, bool *faulted)
{
    case_live *r = &s->r;
    *faulted = false;
    r->printed.length = r->printed.lost = 0;
    pxb_status status = write_variables(s);
    if (!status)
        status = case_write_residents(r);
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
