/* module.c - modules of PTX, their functions and variables, and launches.
 *
 * A module is parsed once for its context; it comes to a device when the first kernel or variable is asked for there.
 */
#include "runtime/module.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/device.h"

enum { MAX_MODULE_BYTES = 1 << 30, MAX_THREADS = 1024, MAX_SHARED = 227 << 10 };

static const ptx_diagnostic *first_error(const ptx_module *m)
{
    for (uint32_t i = 0; i < m->ndiagnostics; i++)
        if (m->diagnostics[i].severity == PTX_ERROR)
            return &m->diagnostics[i];
    return NULL;
}

pxb_status pxb_module_load_text(pxb_context *context, const char *text, size_t length, const char *name,
                                pxb_module **out)
{
    *out = NULL;
    if (length > MAX_MODULE_BYTES)
        return rt_fail(context, PXB_UNSUPPORTED, "a module has at most 1 GiB of text");
    if (length && rt_need(context, text, "the text"))
        return PXB_BAD_ARGUMENT;
    double started = rt_now_ms();
    ptx_module *ptx = ptx_parse(text, length, name);
    if (!ptx)
        return rt_no_memory(context);
    rt_debug_phase(context, RT_DEBUG_PARSE, name ? name : "module", started);
    if (ptx->nerrors && ptx->nfunctions == 0) {
        const ptx_diagnostic *d = first_error(ptx);
        pxb_status status = d ? rt_fail_diagnostic(context, ptx, d) : rt_fail(context, PXB_BAD_INPUT, "malformed PTX");
        ptx_module_free(ptx);
        return status;
    }
    pxb_status status = rt_module_wrap(context, ptx, true, out);
    if (status)
        ptx_module_free(ptx);
    return status;
}

pxb_status rt_module_wrap(pxb_context *context, ptx_module *ptx, bool owns, pxb_module **out)
{
    pxb_module *module = calloc(1, sizeof *module);
    *out = module;
    if (!module)
        return rt_no_memory(context);
    module->context = context;
    module->ptx = ptx;
    module->owns_ptx = owns;
    module->next = context->modules;
    context->modules = module;
    return PXB_OK;
}

pxb_status pxb_module_load_file(pxb_context *context, const char *path, pxb_module **out)
{
    char *text;
    size_t length;
    *out = NULL;
    if (rt_need(context, path, "the path"))
        return PXB_BAD_ARGUMENT;
    pxb_status status = rt_read_file(context, path, MAX_MODULE_BYTES, &text, &length);
    if (!status)
        status = pxb_module_load_text(context, text, length, path, out);
    free(text);
    return status;
}

static void free_residence(rt_residence *r)
{
    while (r->kernels) {
        pxb_kernel *next = r->kernels->next;
        free(r->kernels);
        r->kernels = next;
    }
    r->device->ops->module_unload(r->device, r->state);
    free(r);
}

void pxb_module_free(pxb_module *module)
{
    if (!module)
        return;
    while (module->residences) {
        rt_residence *next = module->residences->next;
        free_residence(module->residences);
        module->residences = next;
    }
    for (pxb_module **p = &module->context->modules; *p; p = &(*p)->next) {
        if (*p == module) {
            *p = module->next;
            break;
        }
    }
    if (module->owns_ptx)
        ptx_module_free(module->ptx);
    free(module->diagnostic_text);
    free(module);
}

void rt_modules_leave_device(pxb_device *device)
{
    for (pxb_module *m = device->context->modules; m; m = m->next) {
        rt_residence **p = &m->residences;
        while (*p) {
            rt_residence *r = *p;
            if (r->device != device) {
                p = &r->next;
                continue;
            }
            *p = r->next;
            free_residence(r);
        }
    }
}

/* ------------------------------------------------------------ what is in a module */

uint32_t pxb_module_diagnostic_count(const pxb_module *module, uint32_t *errors)
{
    if (errors)
        *errors = module->ptx->nerrors;
    return module->ptx->ndiagnostics;
}

pxb_status pxb_module_diagnostic(pxb_module *module, uint32_t index, pxb_diagnostic *out)
{
    memset(out, 0, sizeof *out);
    if (index >= module->ptx->ndiagnostics)
        return rt_fail(module->context, PXB_BAD_ARGUMENT, "the module has %u diagnostics", module->ptx->ndiagnostics);
    const ptx_diagnostic *d = &module->ptx->diagnostics[index];
    size_t n = ptx_format_diagnostic(module->ptx, d, NULL, 0) + 1;
    char *text = realloc(module->diagnostic_text, n);
    if (!text)
        return rt_no_memory(module->context);
    module->diagnostic_text = text;
    ptx_format_diagnostic(module->ptx, d, text, n);
    out->severity = d->severity == PTX_ERROR ? PXB_ERROR : d->severity == PTX_WARNING ? PXB_WARNING : PXB_NOTE;
    if (d->severity == PTX_ERROR)
        out->status = d->reason == PTX_REASON_NONE ? PXB_BAD_INPUT : rt_status_of_reason(d->reason);
    out->line = d->at.line;
    out->column = d->at.column;
    out->function = d->function;
    out->message = d->message;
    out->text = text;
    return PXB_OK;
}

uint32_t pxb_module_function_count(const pxb_module *module)
{
    return module->ptx->nfunctions;
}

pxb_status pxb_module_function(const pxb_module *module, uint32_t index, pxb_function_info *out)
{
    memset(out, 0, sizeof *out);
    if (index >= module->ptx->nfunctions)
        return rt_fail(module->context, PXB_BAD_ARGUMENT, "the module has %u functions", module->ptx->nfunctions);
    const ptx_function *f = module->ptx->functions[index];
    out->name = f->name;
    out->is_entry = f->is_entry;
    out->is_declaration = f->is_declaration;
    out->status = rt_status_of_reason(f->broken);
    out->line = f->at.line;
    out->params = f->prototype.nparams;
    out->param_bytes = (size_t)f->param_size;
    out->local_bytes = (size_t)f->local_size;
    for (int i = 0; i < 3; i++) {
        out->required_block[i] = f->reqntid[i];
        out->max_block[i] = f->maxntid[i];
    }
    out->instructions = f->ninsns;
    return PXB_OK;
}

pxb_status pxb_module_param(const pxb_module *module, uint32_t function, uint32_t index, pxb_param_info *out)
{
    memset(out, 0, sizeof *out);
    const ptx_module *m = module->ptx;
    if (function >= m->nfunctions || index >= m->functions[function]->prototype.nparams)
        return rt_fail(module->context, PXB_BAD_ARGUMENT, "there is no parameter %u of function %u", index, function);
    const ptx_variable *v = m->functions[function]->prototype.params[index];
    out->name = v->name;
    out->type = ptx_type_name(v->type);
    out->offset = (size_t)v->offset;
    out->bytes = (size_t)v->size;
    out->align = v->align;
    out->is_pointer = v->is_pointer;
    return PXB_OK;
}

static bool spoils_a_function(const ptx_module *m, const ptx_diagnostic *d)
{
    const ptx_function *f = d->function ? ptx_find_function(m, d->function) : NULL;
    return f && f->broken != PTX_REASON_NONE;
}

char *rt_module_remarks(const ptx_module *m)
{
    char *text = NULL;
    size_t used = 0;
    for (uint32_t i = 0; i < m->ndiagnostics; i++) {
        ptx_diagnostic d = m->diagnostics[i];
        if (d.severity != PTX_ERROR || spoils_a_function(m, &d))
            continue;
        d.severity = PTX_WARNING;
        size_t n = ptx_format_diagnostic(m, &d, NULL, 0);
        char *longer = realloc(text, used + n + 2);
        if (!longer)
            break;
        text = longer;
        ptx_format_diagnostic(m, &d, text + used, n + 1);
        used += n;
        text[used++] = '\n';
        text[used] = '\0';
    }
    return text;
}

/* ------------------------------------------------------------ on a device */

static pxb_status load_on(pxb_device *device, pxb_module *module, rt_residence **out)
{
    if (device->context != module->context)
        return rt_fail(device->context, PXB_BAD_ARGUMENT, "device and module belong to different contexts");
    for (rt_residence *r = module->residences; r; r = r->next) {
        if (r->device == device) {
            *out = r;
            return PXB_OK;
        }
    }
    rt_residence *r = calloc(1, sizeof *r);
    if (!r)
        return rt_no_memory(device->context);
    r->device = device;
    r->module = module;
    pxb_status status = device->ops->module_load(device, module->ptx, &r->state);
    if (status) {
        free(r);
        return status;
    }
    r->next = module->residences;
    module->residences = r;
    *out = r;
    return PXB_OK;
}

static pxb_status find_function(pxb_module *module, const char *name, const ptx_function **out)
{
    if (rt_need(module->context, name, "the name"))
        return PXB_BAD_ARGUMENT;
    *out = ptx_find_function(module->ptx, name);
    return *out ? PXB_OK
                : rt_fail_at(module->context, PXB_NOT_FOUND, module->ptx->file, 0, 0, "there is no function \"%.200s\"",
                             name);
}

pxb_status rt_why_broken(pxb_module *module, const ptx_function *f)
{
    if (f->why)
        return rt_fail_diagnostic(module->context, module->ptx, f->why);
    return rt_fail_at(module->context, rt_status_of_reason(f->broken), module->ptx->file, f->at.line, f->at.column,
                      "function \"%.200s\" cannot be run", f->name);
}

static pxb_status runnable_entry(pxb_module *module, const char *name, const ptx_function **out)
{
    pxb_status status = find_function(module, name, out);
    if (status)
        return status;
    const ptx_function *f = *out;
    if (f->broken != PTX_REASON_NONE)
        return rt_why_broken(module, f);
    if (!f->is_entry || f->is_declaration)
        return rt_fail_at(module->context, PXB_NOT_FOUND, module->ptx->file, f->at.line, f->at.column,
                          "\"%.200s\" is %s, not an entry with a body", name,
                          f->is_entry ? "a declaration" : "a device function");
    return PXB_OK;
}

/* What a device says without a place is about the kernel as a whole: its sizes, the device's memory. */
static pxb_status place_in_kernel(const pxb_kernel *k, pxb_status status)
{
    const ptx_module *m = k->residence->module->ptx;
    return rt_place_error(k->residence->device->context, status, m->file ? m->file : "<ptx>", k->function->at.line, k->function->at.column);
}

pxb_status pxb_kernel_get(pxb_device *device, pxb_module *module, const char *name, pxb_kernel **out)
{
    *out = NULL;
    const ptx_function *f;
    rt_residence *r;
    pxb_status status = runnable_entry(module, name, &f);
    if (!status)
        status = load_on(device, module, &r);
    if (status)
        return status;
    for (pxb_kernel *k = r->kernels; k; k = k->next) {
        if (k->function == f) {
            *out = k;
            return PXB_OK;
        }
    }
    pxb_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return rt_no_memory(device->context);
    kernel->residence = r;
    kernel->function = f;
    double started = rt_now_ms();
    status = device->ops->kernel(device, r->state, f, &kernel->state);
    if (status) {
        place_in_kernel(kernel, status);
        free(kernel);
        return status;
    }
    rt_debug_phase(device->context, RT_DEBUG_DECODE, name, started);
    kernel->next = r->kernels;
    r->kernels = kernel;
    *out = kernel;
    return PXB_OK;
}

pxb_status pxb_global_get(pxb_device *device, pxb_module *module, const char *name, pxb_address *out, size_t *bytes)
{
    *out = 0;
    if (rt_need(module->context, name, "the name"))
        return PXB_BAD_ARGUMENT;
    const ptx_variable *v = ptx_find_variable(module->ptx, name);
    if (!v || (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST))
        return rt_fail_at(module->context, PXB_NOT_FOUND, module->ptx->file, 0, 0,
                          "there is no .global or .const variable \"%.200s\"", name);
    rt_residence *r;
    pxb_status status = load_on(device, module, &r);
    if (!status)
        status = device->ops->global(device, r->state, v, out);
    if (!status && bytes)
        *bytes = (size_t)v->size;
    return status;
}

pxb_status pxb_function_address(pxb_device *device, pxb_module *module, const char *name, pxb_address *out)
{
    *out = 0;
    const ptx_function *f;
    rt_residence *r;
    pxb_status status = find_function(module, name, &f);
    if (!status && f->broken != PTX_REASON_NONE)
        status = rt_why_broken(module, f);
    if (!status)
        status = load_on(device, module, &r);
    return status ? status : device->ops->function(device, r->state, f, out);
}

/* ------------------------------------------------------------ launches */

static pxb_status check_extent(pxb_context *ctx, const char *what, const uint32_t n[3], const uint32_t most[3])
{
    for (int i = 0; i < 3; i++)
        if (n[i] < 1 || n[i] > most[i])
            return rt_fail(ctx, PXB_BAD_ARGUMENT, "%s size %u in %c; it must be from 1 to %u", what, n[i], "xyz"[i],
                           most[i]);
    return PXB_OK;
}

static uint64_t volume(const uint32_t n[3])
{
    uint64_t v = 1;
    for (int i = 0; i < 3; i++)
        v *= n[i] ? n[i] : 1;
    return v;
}

/* The kernel's own limits: PTX ISA, "Performance-Tuning Directives" (.maxntid bounds the product of a block's
 * extents, .reqntid fixes each of them). */
static pxb_status check_block(pxb_context *ctx, const ptx_function *f, const uint32_t block[3])
{
    if (f->reqntid[0]) {
        for (int i = 0; i < 3; i++) {
            uint32_t need = f->reqntid[i] ? f->reqntid[i] : 1;
            if (block[i] != need)
                return rt_fail(ctx, PXB_BAD_ARGUMENT,
                               "kernel \"%.200s\" needs blocks of %ux%ux%u threads (.reqntid), not %ux%ux%u", f->name,
                               f->reqntid[0], f->reqntid[1] ? f->reqntid[1] : 1, f->reqntid[2] ? f->reqntid[2] : 1,
                               block[0], block[1], block[2]);
        }
    }
    if (f->maxntid[0] && volume(block) > volume(f->maxntid))
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "kernel \"%.200s\" allows %llu threads a block (.maxntid), not %llu",
                       f->name, (unsigned long long)volume(f->maxntid), (unsigned long long)volume(block));
    return PXB_OK;
}

static pxb_status check_launch(const pxb_kernel *k, const pxb_launch_options *o)
{
    static const uint32_t grid_most[3] = {0x7fffffff, 65535, 65535}, block_most[3] = {1024, 1024, 64};
    pxb_context *ctx = k->residence->device->context;
    if (rt_need(ctx, o, "the launch options"))
        return PXB_BAD_ARGUMENT;
    if (o->struct_size != sizeof *o)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "launch options of %zu bytes; start from PXB_LAUNCH_OPTIONS_INIT",
                       o->struct_size);
    pxb_status status = check_extent(ctx, "grid", o->grid, grid_most);
    if (!status)
        status = check_extent(ctx, "block", o->block, block_most);
    if (status)
        return status;
    if (volume(o->block) > MAX_THREADS)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "%llu threads a block; at most %d are possible",
                       (unsigned long long)volume(o->block), MAX_THREADS);
    if (o->shared_bytes > MAX_SHARED)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "%u bytes of dynamic shared memory; at most %d are possible",
                       o->shared_bytes, MAX_SHARED);
    if (!pxb_mma_model_name(o->mma_model))
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "unknown mma model %u", (unsigned)o->mma_model);
    const char *why = o->cooperative ? rt_why_not_cooperative(k->residence->device) : NULL;
    if (why)
        return rt_fail(ctx, PXB_UNSUPPORTED, "device \"%s\" cannot run all blocks of a grid at once: %s", k->residence->device->ops->name, why);
    return check_block(ctx, k->function, o->block);
}

pxb_status rt_launch(pxb_kernel *kernel, const pxb_launch_options *options, const void *block, size_t bytes,
                     struct rt_trace *trace)
{
    pxb_device *device = kernel->residence->device;
    const ptx_function *f = kernel->function;
    pxb_status status = check_launch(kernel, options);
    if (status)
        return status;
    if (bytes != f->param_size)
        return rt_fail(device->context, PXB_BAD_ARGUMENT,
                       "kernel \"%.200s\" takes a parameter block of %llu bytes, not %zu", f->name,
                       (unsigned long long)f->param_size, bytes);
    if (bytes && rt_need(device->context, block, "the parameter block"))
        return PXB_BAD_ARGUMENT;
    if (trace && !device->ops->trace)
        return rt_fail(device->context, PXB_UNSUPPORTED,
                       "device \"%s\" cannot trace: its code is not made by this program", device->ops->name);
    double started = rt_now_ms();
    status = trace ? device->ops->trace(device, kernel->state, options, block, trace)
                   : device->ops->launch(device, kernel->state, options, block);
    rt_debug_phase(device->context, RT_DEBUG_RUN, f->name, started);
    return status ? place_in_kernel(kernel, status) : PXB_OK;
}

pxb_status pxb_launch_packed(pxb_kernel *kernel, const pxb_launch_options *options, const void *block, size_t bytes)
{
    return rt_launch(kernel, options, block, bytes, NULL);
}

pxb_status pxb_launch(pxb_kernel *kernel, const pxb_launch_options *options, const void *const *params, uint32_t count)
{
    pxb_context *ctx = kernel->residence->device->context;
    const ptx_function *f = kernel->function;
    if (count != f->prototype.nparams)
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "kernel \"%.200s\" takes %u parameters, not %u", f->name,
                       f->prototype.nparams, count);
    if (count && rt_need(ctx, params, "the list of parameters"))
        return PXB_BAD_ARGUMENT;
    for (uint32_t i = 0; i < count; i++)
        if (!params[i])
            return rt_fail(ctx, PXB_BAD_ARGUMENT, "the pointer to parameter %u of kernel \"%.200s\" must not be NULL", i, f->name);
    /* Bytes between parameters are zero, so that a launch does not depend on what lay in memory. */
    unsigned char *block = calloc(1, (size_t)f->param_size + 1);
    if (!block)
        return rt_no_memory(ctx);
    for (uint32_t i = 0; i < count; i++) {
        const ptx_variable *v = f->prototype.params[i];
        memcpy(block + v->offset, params[i], (size_t)v->size);
    }
    pxb_status status = pxb_launch_packed(kernel, options, block, (size_t)f->param_size);
    free(block);
    return status;
}
