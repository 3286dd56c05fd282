/* copy.c - cuMemcpy… and cuMemset…: every form becomes one dr_copy of rows and slices, or one dr_set.
 *
 * A call that waits copies at once when nothing is before it. A call that does not wait still reads ordinary (pageable) memory of
 * the host before it returns, and has written it when it returns: the CUDA API promises both ("API synchronization behavior").
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/array.h"
#include "runtime/driver/driver.h"
#include "runtime/driver/limits.h"
#include "runtime/driver/spy.h"

enum { MOST_STAGED = 1 << 20 };

/* ------------------------------------------------------------ running */

/* One row or one piece without gaps. */
static pxb_status copy_piece(const dr_end *to, uint64_t to_address, const dr_end *from, uint64_t from_address, uint64_t bytes)
{
    pxb_device view;
    if (!to->device && !from->device) {
        memmove((void *)(uintptr_t)to_address, (const void *)(uintptr_t)from_address, bytes);
        return PXB_OK;
    }
    dr_device *owner = from->device ? from->owner : to->owner;
    dr_device_view(owner, dr_thread_errors(), &view);
    const rt_device_ops *ops = owner->device->ops;
    if (!from->device)
        return ops->write(&view, to_address, (const void *)(uintptr_t)from_address, bytes);
    if (!to->device)
        return ops->read(&view, (void *)(uintptr_t)to_address, from_address, bytes);
    if (to->owner == from->owner)
        return ops->copy(&view, to_address, from_address, bytes);
    /* Between two devices, by way of the host. */
    void *between = malloc(bytes);
    if (!between)
        return PXB_OUT_OF_MEMORY;
    pxb_status status = ops->read(&view, between, from_address, bytes);
    dr_device_view(to->owner, dr_thread_errors(), &view);
    if (!status)
        status = to->owner->device->ops->write(&view, to_address, between, bytes);
    free(between);
    return status;
}

static pxb_status copy_rows(const dr_copy *c)
{
    bool rows_touch = c->height == 1 || (c->from.pitch == c->width && c->to.pitch == c->width);
    bool slices_touch = rows_touch && (c->depth == 1 || (c->from.slice == c->width * c->height && c->to.slice == c->width * c->height));
    if (slices_touch)
        return copy_piece(&c->to, c->to.address, &c->from, c->from.address, c->width * c->height * c->depth);
    for (uint64_t z = 0; z < c->depth; z++) {
        uint64_t to = c->to.address + z * c->to.slice, from = c->from.address + z * c->from.slice;
        pxb_status status = PXB_OK;
        if (rows_touch)
            status = copy_piece(&c->to, to, &c->from, from, c->width * c->height);
        for (uint64_t y = 0; !rows_touch && y < c->height && !status; y++)
            status = copy_piece(&c->to, to + y * c->to.pitch, &c->from, from + y * c->from.pitch, c->width);
        if (status)
            return status;
    }
    return PXB_OK;
}

static void lock_owner(const dr_end *end, bool lock)
{
    if (!end->device || end->owner->concurrent)
        return;
    if (lock)
        pthread_mutex_lock(&end->owner->lock);
    else
        pthread_mutex_unlock(&end->owner->lock);
}

cu_result dr_copy_run(const dr_copy *c)
{
    /* Two devices are locked in the order of their numbers. */
    bool two = c->from.device && c->to.device && c->from.owner != c->to.owner;
    bool swap = two && c->to.owner->ordinal < c->from.owner->ordinal;
    const dr_end *first = swap ? &c->to : &c->from, *second = swap ? &c->from : &c->to;
    bool both = second->device && (!first->device || first->owner != second->owner);
    if (c->width == 0 || c->height == 0 || c->depth == 0)
        return CUABI_SUCCESS;
    bool held = dr_spying && dr_spy_hold();
    lock_owner(first, true);
    if (both)
        lock_owner(second, true);
    pxb_status status = copy_rows(c);
    if (both)
        lock_owner(second, false);
    lock_owner(first, false);
    dr_spy_release(held);
    return dr_fail_pxb(dr_thread_errors(), status, "copy");
}

/* ------------------------------------------------------------ describing */

/* Memory at an address, of the kind that a program says or that the address tells. */
static cu_result memory_end(uint64_t address, uint32_t type, dr_context *c, dr_end *out)
{
    dr_range range;
    bool known = dr_range_find(address, &range) && !range.hidden;
    out->address = address;
    out->device = type == CUABI_CU_MEMORYTYPE_DEVICE ||
                  (type == CUABI_CU_MEMORYTYPE_UNIFIED && known && range.kind != DR_MEMORY_HOST && range.kind != DR_MEMORY_REGISTERED);
    /* Registered, mapped and plain pinned memory is the process's own, whatever the program calls it. */
    if (out->device && known &&
        (range.kind == DR_MEMORY_REGISTERED || range.kind == DR_MEMORY_MAPPED || (range.kind == DR_MEMORY_HOST && !range.on_device)))
        out->device = false;
    out->owner = known ? range.device : c->device;
    return address ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* Does an extent that begins at an end stay inside its allocation? Memory that the table does not know is asked when it runs. */
static bool fits(const dr_end *end, const dr_copy *c)
{
    dr_range range;
    if (!dr_range_find(end->address, &range) || (!end->device && range.kind != DR_MEMORY_MAPPED) || !c->width || !c->height || !c->depth)
        return true;
    if (range.read_only && end == &c->to)
        return false;
    uint64_t room = range.bytes - (end->address - range.base);
    uint64_t slices = c->depth - 1, rows = c->height - 1;
    if ((slices && end->slice > room / slices) || (rows && end->pitch > room / rows))
        return false;
    uint64_t last = slices * end->slice + rows * end->pitch;
    return last <= room && c->width <= room - last;
}

static cu_result describe_end(const cu_copy_end *e, const cu_memcpy3d *copy, dr_context *c, dr_end *out)
{
    dr_context *other = dr_object_of(e->reserved, DR_CONTEXT);     /* cuMemcpy3DPeer */
    dr_context *context = other ? other : c;
    if (e->memory_type == CUABI_CU_MEMORYTYPE_ARRAY)
        return dr_array_end(e, copy, out);
    bool host = e->memory_type == CUABI_CU_MEMORYTYPE_HOST;
    if (!host && e->memory_type != CUABI_CU_MEMORYTYPE_DEVICE && e->memory_type != CUABI_CU_MEMORYTYPE_UNIFIED)
        return DR_ERROR(INVALID_VALUE);
    out->pitch = e->pitch ? e->pitch : e->x_bytes + copy->width_bytes;
    out->slice = out->pitch * (e->height ? e->height : e->y + copy->height);
    if (out->pitch < e->x_bytes + copy->width_bytes || (e->height && e->height < e->y + copy->height) || e->lod)
        return DR_ERROR(INVALID_VALUE);    /* cuda.h, cuMemcpy3D: what is specified is at least what is copied */
    uint64_t base = host ? (uint64_t)(uintptr_t)e->host.from : e->device;
    uint64_t address = base + e->x_bytes + e->y * out->pitch + e->z * out->slice;
    return base ? memory_end(address, e->memory_type, context, out) : DR_ERROR(INVALID_VALUE);
}

cu_result dr_copy_describe(const cu_memcpy3d *copy, dr_copy *out)
{
    dr_context *c = dr_context_current();
    memset(out, 0, sizeof *out);
    out->width = copy->width_bytes;
    out->height = copy->height;
    out->depth = copy->depth;
    if (!out->width || !out->height || !out->depth)
        return CUABI_SUCCESS;
    cu_result result = describe_end(&copy->source, copy, c, &out->from);
    if (!result)
        result = describe_end(&copy->target, copy, c, &out->to);
    if (!result && (!fits(&out->from, out) || !fits(&out->to, out)))
        result = dr_fail(DR_ERROR(INVALID_VALUE), "a copy of %zu x %zu x %zu bytes does not stay inside one allocation that may be used so", copy->width_bytes,
                         copy->height, copy->depth);
    return result;
}

/* ------------------------------------------------------------ submitting */

/* Ordinary memory of the host, which the program may change as soon as the call returns. */
static bool is_pageable(const dr_end *end)
{
    dr_range range;
    return !end->device && !dr_range_find(end->address, &range);
}

/* Reads the source now. False: it is too much, or there is no memory for it. */
static bool stage(dr_copy *c)
{
    uint64_t bytes = c->width * c->height * c->depth;
    if (bytes > MOST_STAGED || (c->staged = malloc(bytes)) == NULL)
        return false;
    dr_copy in = *c;
    in.to = (dr_end){.address = (uint64_t)(uintptr_t)c->staged, .pitch = c->width, .slice = c->width * c->height};
    if (dr_copy_run(&in)) {
        free(c->staged);
        c->staged = NULL;
        return false;
    }
    c->from = in.to;
    return true;
}

/* WHEN_CALLED: the source is read before the call returns, out of the stream's order where that is easier. */
typedef enum when { WHEN_ORDERED, WHEN_CALLED, WHEN_WAITED } when;

static cu_result submit_when(const cu_memcpy3d *described, cu_stream handle, when when)
{
    const bool wait = when == WHEN_WAITED;
    DR_USE(c);
    dr_work work = {.kind = DR_WORK_COPY};
    dr_stream *stream;
    cu_result result = dr_stream_of(c, handle, &stream);
    if (!result)
        result = dr_copy_describe(described, &work.of.copy);
    if (result)
        return result;
    dr_copy *copy = &work.of.copy;
    if (dr_stream_captured(stream))
        return wait ? DR_ERROR(STREAM_CAPTURE_IMPLICIT) : dr_capture_add(stream, &work);
    if (wait) {
        result = dr_capture_forbids(c);
        return result ? result : dr_stream_do(stream, &work);
    }
    if (is_pageable(&copy->to) || ((when == WHEN_CALLED || is_pageable(&copy->from)) && !stage(copy)))
        return dr_stream_do(stream, &work);
    return dr_stream_submit(stream, &work, NULL, NULL);
}

static cu_result submit(const cu_memcpy3d *described, cu_stream handle, bool wait)
{
    return submit_when(described, handle, wait ? WHEN_WAITED : WHEN_ORDERED);
}

static cu_memcpy3d linear_copy(uint64_t to, uint32_t to_type, uint64_t from, uint32_t from_type, size_t bytes)
{
    cu_memcpy3d copy = {.width_bytes = bytes, .height = 1, .depth = 1};
    copy.source.memory_type = from_type;
    copy.source.host.from = (const void *)(uintptr_t)from;
    copy.source.device = from;
    copy.target.memory_type = to_type;
    copy.target.host.to = (void *)(uintptr_t)to;
    copy.target.device = to;
    return copy;
}

static cu_result linear(uint64_t to, uint32_t to_type, uint64_t from, uint32_t from_type, size_t bytes, cu_stream stream, bool wait)
{
    const cu_memcpy3d copy = linear_copy(to, to_type, from, from_type, bytes);
    return submit(&copy, stream, wait);
}

#define HOST CUABI_CU_MEMORYTYPE_HOST
#define DEVICE CUABI_CU_MEMORYTYPE_DEVICE
#define UNIFIED CUABI_CU_MEMORYTYPE_UNIFIED
#define NUMBER(pointer) ((uint64_t)(uintptr_t)(pointer))

cu_result impl_cuMemcpy(cu_address to, cu_address from, size_t bytes)
{
    return linear(to, UNIFIED, from, UNIFIED, bytes, NULL, true);
}

cu_result impl_cuMemcpyAsync(cu_address to, cu_address from, size_t bytes, cu_stream stream)
{
    return linear(to, UNIFIED, from, UNIFIED, bytes, stream, false);
}

cu_result impl_cuMemcpyHtoD_v2(cu_address to, const void *from, size_t bytes)
{
    return linear(to, DEVICE, NUMBER(from), HOST, bytes, NULL, true);
}

cu_result impl_cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t bytes, cu_stream stream)
{
    return linear(to, DEVICE, NUMBER(from), HOST, bytes, stream, false);
}

cu_result impl_cuMemcpyDtoH_v2(void *to, cu_address from, size_t bytes)
{
    return linear(NUMBER(to), HOST, from, DEVICE, bytes, NULL, true);
}

cu_result impl_cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t bytes, cu_stream stream)
{
    return linear(NUMBER(to), HOST, from, DEVICE, bytes, stream, false);
}

cu_result impl_cuMemcpyDtoD_v2(cu_address to, cu_address from, size_t bytes)
{
    return linear(to, DEVICE, from, DEVICE, bytes, NULL, true);
}

cu_result impl_cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t bytes, cu_stream stream)
{
    return linear(to, DEVICE, from, DEVICE, bytes, stream, false);
}

static bool are_contexts(cu_context a, cu_context b)
{
    return dr_object_of(a, DR_CONTEXT) && dr_object_of(b, DR_CONTEXT);
}

cu_result impl_cuMemcpyPeer(cu_address to, cu_context dst_context, cu_address from, cu_context src_context, size_t bytes)
{
    return are_contexts(dst_context, src_context) ? linear(to, DEVICE, from, DEVICE, bytes, NULL, true) : DR_ERROR(INVALID_CONTEXT);
}

cu_result impl_cuMemcpyPeerAsync(cu_address to, cu_context dst_context, cu_address from, cu_context src_context, size_t bytes,
                                 cu_stream stream)
{
    return are_contexts(dst_context, src_context) ? linear(to, DEVICE, from, DEVICE, bytes, stream, false) : DR_ERROR(INVALID_CONTEXT);
}

/* ------------------------------------------------------------ two and three dimensions */

static cu_copy_end end_of(const cu_copy2d_end *e)
{
    return (cu_copy_end){.x_bytes = e->x_bytes, .y = e->y, .memory_type = e->memory_type, .host = {e->host.from}, .device = e->device,
                         .array = e->array, .pitch = e->pitch};
}

static cu_result submit2d(const cu_memcpy2d *copy, cu_stream stream, bool wait)
{
    DR_NEED(copy);
    cu_memcpy3d c = {.source = end_of(&copy->source), .target = end_of(&copy->target), .width_bytes = copy->width_bytes,
                     .height = copy->height, .depth = 1};
    return submit(&c, stream, wait);
}

cu_result impl_cuMemcpy2D_v2(const cu_memcpy2d *copy) { return submit2d(copy, NULL, true); }
cu_result impl_cuMemcpy2DUnaligned_v2(const cu_memcpy2d *copy) { return submit2d(copy, NULL, true); }
cu_result impl_cuMemcpy2DAsync_v2(const cu_memcpy2d *copy, cu_stream stream) { return submit2d(copy, stream, false); }

static cu_result submit3d(const cu_memcpy3d *copy, cu_stream stream, bool wait, bool peer)
{
    DR_NEED(copy);
    cu_memcpy3d c = *copy;
    if (!peer)
        c.source.reserved = c.target.reserved = NULL;
    return submit(&c, stream, wait);
}

cu_result impl_cuMemcpy3D_v2(const cu_memcpy3d *copy) { return submit3d(copy, NULL, true, false); }
cu_result impl_cuMemcpy3DAsync_v2(const cu_memcpy3d *copy, cu_stream stream) { return submit3d(copy, stream, false, false); }
cu_result impl_cuMemcpy3DPeer(const cu_memcpy3d_peer *copy) { return submit3d(copy, NULL, true, true); }
cu_result impl_cuMemcpy3DPeerAsync(const cu_memcpy3d_peer *copy, cu_stream stream) { return submit3d(copy, stream, false, true); }

/* ------------------------------------------------------------ arrays of one dimension, by bytes */

static cu_result with_array(cu_array to_array, size_t to_offset, uint64_t to, uint32_t to_type, cu_array from_array, size_t from_offset,
                            uint64_t from, uint32_t from_type, size_t bytes, cu_stream stream, bool wait)
{
    cu_memcpy3d copy = {.width_bytes = bytes, .height = 1, .depth = 1};
    copy.source = (cu_copy_end){.x_bytes = from_offset, .memory_type = from_type, .host = {(const void *)(uintptr_t)from}, .device = from,
                                .array = from_array};
    copy.target = (cu_copy_end){.x_bytes = to_offset, .memory_type = to_type, .host = {(const void *)(uintptr_t)to}, .device = to,
                                .array = to_array};
    return submit(&copy, stream, wait);
}

#define ARRAY CUABI_CU_MEMORYTYPE_ARRAY

cu_result impl_cuMemcpyDtoA_v2(cu_array to, size_t to_offset, cu_address from, size_t bytes)
{
    return with_array(to, to_offset, 0, ARRAY, NULL, 0, from, DEVICE, bytes, NULL, true);
}

cu_result impl_cuMemcpyAtoD_v2(cu_address to, cu_array from, size_t from_offset, size_t bytes)
{
    return with_array(NULL, 0, to, DEVICE, from, from_offset, 0, ARRAY, bytes, NULL, true);
}

cu_result impl_cuMemcpyHtoA_v2(cu_array to, size_t to_offset, const void *from, size_t bytes)
{
    return with_array(to, to_offset, 0, ARRAY, NULL, 0, NUMBER(from), HOST, bytes, NULL, true);
}

cu_result impl_cuMemcpyAtoH_v2(void *to, cu_array from, size_t from_offset, size_t bytes)
{
    return with_array(NULL, 0, NUMBER(to), HOST, from, from_offset, 0, ARRAY, bytes, NULL, true);
}

cu_result impl_cuMemcpyAtoA_v2(cu_array to, size_t to_offset, cu_array from, size_t from_offset, size_t bytes)
{
    return with_array(to, to_offset, 0, ARRAY, from, from_offset, 0, ARRAY, bytes, NULL, true);
}

cu_result impl_cuMemcpyHtoAAsync_v2(cu_array to, size_t to_offset, const void *from, size_t bytes, cu_stream stream)
{
    return with_array(to, to_offset, 0, ARRAY, NULL, 0, NUMBER(from), HOST, bytes, stream, false);
}

cu_result impl_cuMemcpyAtoHAsync_v2(void *to, cu_array from, size_t from_offset, size_t bytes, cu_stream stream)
{
    return with_array(NULL, 0, NUMBER(to), HOST, from, from_offset, 0, ARRAY, bytes, stream, false);
}

/* ------------------------------------------------------------ many at once */

/* What an order of access to the source asks for; ANY allows what STREAM does. */
static bool when_of(int32_t order, when *out)
{
    *out = order == CUABI_CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? WHEN_CALLED : WHEN_ORDERED;
    return order >= CUABI_CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CUABI_CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* Each attribute is for the copies from its index on. Where memory is better kept does not matter here. */
static cu_result batch(const cu_address *to, const cu_address *from, const size_t *bytes, size_t count, const cu_copy_attributes *attributes,
                       const size_t *firsts, size_t nattributes, size_t *failed, cu_stream stream)
{
    cu_result result = CUABI_SUCCESS;
    DR_NEED(to && from && bytes && count && attributes && firsts && nattributes && nattributes <= count && firsts[0] == 0);
    for (size_t k = 1; k < nattributes; k++)
        DR_NEED(firsts[k] > firsts[k - 1] && firsts[k] < count);
    for (size_t i = 0, k = 0; i < count && !result; i++) {
        when when;
        k += k + 1 < nattributes && firsts[k + 1] == i;
        const cu_memcpy3d copy = linear_copy(to[i], UNIFIED, from[i], UNIFIED, bytes[i]);
        result = when_of(attributes[k].order, &when) ? submit_when(&copy, stream, when) : DR_ERROR(INVALID_VALUE);
        if (result && failed)
            *failed = i;
    }
    return result;
}

cu_result impl_cuMemcpyBatchAsync(cu_address *dsts, cu_address *srcs, size_t *sizes, size_t count, cu_copy_attributes *attrs,
                                  size_t *attrs_idxs, size_t num_attrs, size_t *fail_idx, cu_stream stream)
{
    return batch(dsts, srcs, sizes, count, attrs, attrs_idxs, num_attrs, fail_idx, stream);
}

cu_result impl_cuMemcpyBatchAsync_v2(cu_address *dsts, cu_address *srcs, size_t *sizes, size_t count, cu_copy_attributes *attrs,
                                     size_t *attrs_idxs, size_t num_attrs, cu_stream stream)
{
    return batch(dsts, srcs, sizes, count, attrs, attrs_idxs, num_attrs, NULL, stream);
}

/* Bytes of an element: an array's, which both ends agree on; between pointers 1. 0: they do not agree, or there is no such array. */
static size_t element_of(const cu_batch_copy *op)
{
    size_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        const cu_batch_end *e = i ? &op->target : &op->source;
        if (e->type != CUABI_CU_MEMCPY_OPERAND_TYPE_ARRAY)
            continue;
        const dr_array *a = dr_object_of(e->of.array.array, DR_ARRAY);
        if (!a || (bytes && bytes != a->texel_bytes))
            return 0;
        bytes = a->texel_bytes;
    }
    return bytes ? bytes : 1;
}

/* An end as cuMemcpy3D has it. */
static cu_result batch_end(const cu_batch_end *e, const cu_batch_copy *op, size_t element, cu_copy_end *out)
{
    if (e->type == CUABI_CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        DR_NEED(e->of.array.x <= SIZE_MAX / element);
        *out = (cu_copy_end){.memory_type = ARRAY, .array = e->of.array.array, .x_bytes = e->of.array.x * element, .y = e->of.array.y, .z = e->of.array.z};
        return CUABI_SUCCESS;
    }
    size_t row = e->of.pointer.row_length ? e->of.pointer.row_length : op->width;
    size_t rows = e->of.pointer.layer_height ? e->of.pointer.layer_height : op->height;
    DR_NEED(e->type == CUABI_CU_MEMCPY_OPERAND_TYPE_POINTER && row >= op->width && rows >= op->height && row <= SIZE_MAX / element);
    *out = (cu_copy_end){.memory_type = UNIFIED, .device = e->of.pointer.address, .pitch = row * element, .height = rows};
    return CUABI_SUCCESS;
}

static cu_result submit_batch_copy(const cu_batch_copy *op, cu_stream stream)
{
    when when;
    cu_memcpy3d copy;
    size_t element = element_of(op);
    DR_NEED(element && op->width && op->width <= SIZE_MAX / element && op->height && op->depth && when_of(op->order, &when));
    copy = (cu_memcpy3d){.width_bytes = op->width * element, .height = op->height, .depth = op->depth};
    cu_result result = batch_end(&op->source, op, element, &copy.source);
    if (!result)
        result = batch_end(&op->target, op, element, &copy.target);
    return result ? result : submit_when(&copy, stream, when);
}

cu_result impl_cuMemcpy3DBatchAsync(size_t num_ops, cu_batch_copy *op_list, size_t *fail_idx, uint64_t flags, cu_stream stream)
{
    cu_result result = CUABI_SUCCESS;
    DR_NEED(op_list && num_ops && flags == 0);
    for (size_t i = 0; i < num_ops && !result; i++) {
        result = submit_batch_copy(&op_list[i], stream);
        if (result && fail_idx)
            *fail_idx = i;
    }
    return result;
}

cu_result impl_cuMemcpy3DBatchAsync_v2(size_t num_ops, cu_batch_copy *op_list, uint64_t flags, cu_stream stream)
{
    return impl_cuMemcpy3DBatchAsync(num_ops, op_list, NULL, flags, stream);
}
