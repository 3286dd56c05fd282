/* case_output.c - what a case's launches left on the device. */
#include "runtime/case_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/module.h"

/* ------------------------------------------------------------ results */

static bool wanted(const case_live *r, const case_array *a)
{
    if (a->kind == CASE_TEXTURE || a->image.of)
        return false;
    bool judged = false;
    if (r->options->all && !a->heap)
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
    if (a->heap)               /* it may be free, and then holds what the device's heap wants */
        return false;
    return !judged && a->kind != CASE_GLOBAL;
}

static pxb_status name_pointers(const case_live *r, const case_pointers *pointers, const case_output *out)
{
    pxb_status status = case_check_pointers(r->ctx, r->file, pointers, out->name, out->array.bytes);
    for (uint32_t i = 0; i < pointers->count && !status; i++) {
        pxb_address address;
        status = case_pointer_address(r, &pointers->list[i], &address);
        if (!status)
            case_name_pointer(r->file, &pointers->list[i], address, out->array.data);
    }
    return status;
}

/* Addresses in what was read, where the case or an expectation knows of them, become what they mean. */
static pxb_status name_all_pointers(const case_live *r, const case_array *a, const case_output *out)
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
static pxb_status note_change(const case_live *r, const case_array *a, const void *before, case_output *out)
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

static pxb_status read_output(case_live *r, const case_resident *x, case_output *out)
{
    out->kind = x->array->kind;
    out->name = rt_pool_strdup(&r->result->pool, x->array->name);
    if (!out->name)
        return rt_no_memory(r->ctx);
    const rt_array *i = &x->initial;
    pxb_status status = rt_array_make(r->ctx, &out->array, i->dtype, i->ndim, i->shape);
    if (!status && x->image)
        status = pxb_image_read(x->image, out->array.data, i->bytes);
    else if (!status && x->array->heap)
        status = case_heap_read(r, out->array.data, x->address, i->bytes);
    else if (!status)
        status = pxb_memory_read(r->device, out->array.data, x->address, i->bytes);
    if (!status)
        status = name_all_pointers(r, x->array, out);
    return status ? status : note_change(r, x->array, i->data, out);
}

/* A variable of the module as bytes; an expectation gives it a dtype. */
static pxb_status read_global(case_live *r, const char *name, case_output *out)
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

static pxb_status read_wanted_globals(case_live *r)
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
static bool initial_bytes(const case_live *r, const ptx_variable *v, const void **out)
{
    const case_array *a = case_find(r->file, CASE_GLOBAL, v->name);
    *out = a ? case_resident_of(r, a)->initial.data : v->init;
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
static pxb_status read_changed_globals(case_live *r)
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
static pxb_status keep_counters(case_live *r)
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

static pxb_status keep_properties(case_live *r)
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

pxb_status case_read_outputs(case_live *r)
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
        fprintf(stderr, "ptxbridge: of what the kernels printed %zu bytes beyond the limit of %d are lost\n", r->printed.lost, CASE_MAX_PRINTED);
    result->printed = rt_pool_strdup(&result->pool, r->printed.length ? r->printed.text : "");
    return status || result->printed ? status : rt_no_memory(r->ctx);
}

