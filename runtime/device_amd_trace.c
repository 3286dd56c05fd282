/* device_amd_trace.c - records of a launch on devices that run AMD code.
 *
 * The kernel is translated once more, with code that records (translator/trace.c); the records come back in one buffer,
 * whose layout is in ptx/trace.h.
 */
#include "runtime/device_amd.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/trace.h"

/* Parts are addressed with 31 bits. */
static pxb_status check_size(pxb_device *device, const rt_trace *t, size_t *bytes)
{
    uint64_t parts = (uint64_t)t->nblocks * t->nthreads;
    uint64_t all = PTX_TRACE_PARTS + parts * (PTX_TRACE_PART_HEAD + 4 * (uint64_t)t->stride);
    if (all > INT32_MAX)
        return rt_fail(device->context, PXB_UNSUPPORTED, "a trace has at most 2 GiB of records on this device, not %llu bytes",
                       (unsigned long long)all);
    *bytes = (size_t)all;
    return PXB_OK;
}

static pxb_status write_head(pxb_device *device, pxb_address buffer, size_t bytes, const rt_trace *t)
{
    unsigned char head[PTX_TRACE_ASIDE] = {0};
    uint32_t begin = (uint32_t)t->begin, stride = 4 * t->stride + PTX_TRACE_PART_HEAD, capacity = 4 * t->capacity;
    memcpy(head + PTX_TRACE_FIRST_BLOCK, &t->first_block, 8);
    memcpy(head + PTX_TRACE_BLOCKS, &t->nblocks, 4);
    memcpy(head + PTX_TRACE_BEGIN, &begin, 4);
    memcpy(head + PTX_TRACE_STRIDE, &stride, 4);
    memcpy(head + PTX_TRACE_CAPACITY, &capacity, 4);
    pxb_status status = amd_set(device, buffer, 0, bytes);
    return status ? status : amd_write(device, buffer, head, sizeof head);
}

/* A thread that was stopped has no count of its records: those that it wrote are counted. */
static void take_part(rt_trace *t, uint32_t part, const uint32_t *from)
{
    uint32_t at = 0;
    uint64_t records = t->begin;
    const uint32_t *words = from + PTX_TRACE_PART_HEAD / 4;
    while (at < t->capacity && words[at]) {
        at += 1 + (words[at] >> PTX_TRACE_NUMBER_BITS);
        records++;
    }
    t->used[part] = at;
    memcpy(t->words + (size_t)part * t->stride, words, at * sizeof *words);
    t->executed[part] = from[0] ? from[0] : at ? records : 0;
}

static pxb_status take_records(pxb_device *device, pxb_address buffer, rt_trace *t)
{
    size_t stride = t->stride + PTX_TRACE_PART_HEAD / 4;
    uint32_t parts = t->nblocks * t->nthreads;
    uint32_t *part = malloc(stride * sizeof *part);
    pxb_status status = part ? PXB_OK : rt_no_memory(device->context);
    for (uint32_t i = 0; i < parts && !status; i++) {
        status = amd_read(device, part, buffer + PTX_TRACE_PARTS + (uint64_t)i * stride * 4, stride * sizeof *part);
        if (!status)
            take_part(t, i, part);
    }
    free(part);
    return status;
}

static pxb_status run(pxb_device *device, amd_kernel *k, const pxb_launch_options *o, const void *params, pxb_address buffer)
{
    const amd_backend *b = amd_of(device)->backend;
    amd_object *object;
    void *loaded;
    pxb_status status = amd_kernel_traced(k, amd_way(o), &object, &loaded);
    if (status)
        return status;
    pxb_address symbol = b->symbol(device, object->loaded, "pxb_trace");
    if (!symbol)
        return rt_fail(device->context, PXB_INTERNAL, "the traced code of \"%.200s\" has no place for records", k->function->name);
    status = b->write(device, symbol, &buffer, sizeof buffer);
    return status ? status : amd_run_code(device, k, o, params, object, loaded);
}

pxb_status amd_trace(pxb_device *device, void *kernel, const pxb_launch_options *o, const void *params, rt_trace *t)
{
    size_t bytes = 0;
    pxb_address buffer;
    pxb_status status = check_size(device, t, &bytes);
    if (!status)
        status = amd_alloc(device, bytes, &buffer);
    if (status)
        return status;
    status = write_head(device, buffer, bytes, t);
    if (!status)
        status = run(device, kernel, o, params, buffer);
    if (!status)
        status = take_records(device, buffer, t);
    else if (pxb_is_fault(status) && amd_of(device)->backend->survives_faults)
        take_records(device, buffer, t); /* reads of memory that is there; the fault stays the error */
    amd_free(device, buffer);
    return status;
}
