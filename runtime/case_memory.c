/* case_memory.c - a case's arrays on the device: making them, writing them, and where they are. */
#include "runtime/case_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/module.h"

pxb_status case_make_residents(case_live *r)
{
    r->residents = calloc((size_t)r->file->narrays + 1, sizeof *r->residents);
    if (!r->residents)
        return rt_no_memory(r->ctx);
    for (uint32_t i = 0; i < r->file->narrays; i++) {
        case_resident *x = &r->residents[r->nresidents++];
        x->array = &r->file->arrays[i];
        case_progress(r, "load", i, r->file->narrays);
        pxb_status status = x->array->image.of ? PXB_OK : case_load_array(r->ctx, x->array, &x->initial);
        if (!status && x->array->kind == CASE_BUFFER && !x->array->heap)
            status = pxb_memory_alloc(r->device, x->initial.bytes ? x->initial.bytes : 1, &x->address);
        if (status)
            return status;
    }
    return case_make_images(r);
}

/* The device is closed afterwards, with its memory and images. */
void case_free_residents(case_live *r)
{
    for (uint32_t i = 0; i < r->nresidents; i++) {
        case_resident *x = &r->residents[i];
        if (x->made)
            r->device->ops->handle_destroy(r->device, x->handle);
        rt_array_free(&x->initial);
    }
    free(r->residents);
    r->residents = NULL;
    r->nresidents = 0;
}

const case_resident *case_resident_of(const case_live *r, const case_array *array)
{
    return &r->residents[array - r->file->arrays];
}

pxb_status case_variable_address(const case_live *r, const char *name, uint64_t offset, pxb_address *out)
{
    size_t bytes = 0;
    pxb_status status = pxb_global_get(r->device, r->module, name, out, &bytes);
    if (status)
        return status;
    *out += offset;
    return offset <= bytes ? PXB_OK
                           : rt_fail(r->ctx, PXB_BAD_INPUT, "offset %" PRIu64 " is outside global \"%.80s\" of %zu bytes", offset, name, bytes);
}

pxb_status case_placed(const case_live *r, uint32_t line, uint32_t column, pxb_status status)
{
    char reason[512];
    if (!status)
        return status;
    snprintf(reason, sizeof reason, "%s", pxb_last_error(r->ctx)->message);
    return rt_fail_at(r->ctx, status, r->file->path, line, column, "%s", reason);
}

pxb_status case_pointer_address(const case_live *r, const case_pointer *p, pxb_address *out)
{
    *out = 0;
    if (p->heap)
        return PXB_OK;
    if (p->global)
        return case_placed(r, p->line, p->column, case_variable_address(r, p->global, p->target_offset, out));
    if (p->function)
        return case_placed(r, p->line, p->column, pxb_function_address(r->device, r->module, p->function, out));
    const case_resident *x = case_resident_of(r, p->array);
    *out = x->handle;
    if (p->array->kind != CASE_BUFFER)
        return PXB_OK;
    if (p->target_offset > x->initial.bytes)
        return rt_fail_at(r->ctx, PXB_BAD_INPUT, r->file->path, p->line, p->column, "offset %" PRIu64 " is outside buffer \"%.80s\" of %zu bytes",
                          p->target_offset, p->array->name, x->initial.bytes);
    *out = x->address + p->target_offset;
    return PXB_OK;
}

static pxb_status put(case_live *r, const case_resident *x, pxb_address to, const void *from)
{
    return x->array->heap ? case_heap_write(r, to, from, x->initial.bytes) : pxb_memory_write(r->device, to, from, x->initial.bytes);
}

/* First contents of a buffer or variable, with the addresses that it holds here. */
static pxb_status write_memory(case_live *r, const case_resident *x, pxb_address to)
{
    const case_pointers *pointers = &x->array->pointers;
    if (!pointers->count)
        return put(r, x, to, x->initial.data);
    pxb_status status = case_check_pointers(r->ctx, r->file, pointers, x->array->name, x->initial.bytes);
    unsigned char *copy = malloc(x->initial.bytes + 1);
    if (!copy)
        return rt_no_memory(r->ctx);
    memcpy(copy, x->initial.data, x->initial.bytes);
    for (uint32_t i = 0; i < pointers->count && !status; i++) {
        pxb_address address = 0;
        status = case_pointer_address(r, &pointers->list[i], &address);
        memcpy(copy + (status ? 0 : pointers->list[i].offset), &address, status ? 0 : sizeof address);
    }
    if (!status)
        status = put(r, x, to, copy);
    free(copy);
    return status;
}

static pxb_status write_global(case_live *r, const case_resident *x)
{
    pxb_address address;
    size_t bytes = 0;
    pxb_status status = case_placed(r, 0, 0, pxb_global_get(r->device, r->module, x->array->name, &address, &bytes));
    if (status)
        return status;
    if (bytes != x->initial.bytes)
        return rt_fail(r->ctx, PXB_BAD_INPUT, "global \"%.80s\" has %zu bytes in the module, and %zu in the case",
                       x->array->name, bytes, x->initial.bytes);
    return write_memory(r, x, address);
}

pxb_status case_write_residents(case_live *r)
{
    pxb_status status = case_heap_make(r);
    for (uint32_t i = 0; i < r->nresidents && !status; i++) {
        case_resident *x = &r->residents[i];
        if (x->array->image.of)
            continue;
        if (x->array->kind == CASE_GLOBAL)
            status = write_global(r, x);
        else if (x->image)
            status = pxb_image_write(x->image, x->initial.data, x->initial.bytes);
        else
            status = write_memory(r, x, x->address);
    }
    return status;
}

