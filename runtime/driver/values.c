/* values.c - streams that wait for a value in memory, and write one: cuStreamWaitValue32 and what goes with it. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"

/* Work on a value, checked. The stream's thread reads and writes the memory itself. */
static cu_result describe(dr_context *c, dr_work_kind kind, cu_address address, uint64_t value, bool wide, uint32_t flags, dr_work *out)
{
    dr_range range;
    uint64_t bytes = wide ? 8 : 4;
    const uint32_t known = kind == DR_WORK_WAIT_VALUE ? 3u | 1u << 30 : 1u;    /* a comparison and FLUSH; NO_MEMORY_BARRIER */
    if (flags & ~known || !address || address % bytes || !dr_range_find(address, &range) || bytes > range.bytes - (address - range.base))
        return DR_ERROR(INVALID_VALUE);
    if (!c->device->host_addresses && (range.kind == DR_MEMORY_DEVICE || range.kind == DR_MEMORY_VARIABLE))
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "values in the memory of \"%s\"", c->device->choice);
    *out = (dr_work){.kind = kind, .of.value = {.address = address, .value = value, .flags = flags, .wide = wide}};
    return CUABI_SUCCESS;
}

static cu_result submit(cu_stream handle, dr_work_kind kind, cu_address address, uint64_t value, bool wide, uint32_t flags)
{
    DR_USE(c);
    dr_stream *s;
    dr_work work;
    cu_result result = dr_stream_of(c, handle, &s);
    if (!result)
        result = describe(s->context, kind, address, value, wide, flags, &work);
    return result ? result : dr_stream_submit(s, &work, NULL, NULL);
}

#define VALUES(bits, type)                                                                                             \
    cu_result impl_cuStreamWaitValue##bits(cu_stream stream, cu_address address, type value, uint32_t flags)           \
    {                                                                                                                  \
        return submit(stream, DR_WORK_WAIT_VALUE, address, value, bits == 64, flags);                                  \
    }                                                                                                                  \
    cu_result impl_cuStreamWaitValue##bits##_v2(cu_stream stream, cu_address address, type value, uint32_t flags)      \
    {                                                                                                                  \
        return submit(stream, DR_WORK_WAIT_VALUE, address, value, bits == 64, flags);                                  \
    }                                                                                                                  \
    cu_result impl_cuStreamWriteValue##bits(cu_stream stream, cu_address address, type value, uint32_t flags)          \
    {                                                                                                                  \
        return submit(stream, DR_WORK_WRITE_VALUE, address, value, bits == 64, flags);                                 \
    }                                                                                                                  \
    cu_result impl_cuStreamWriteValue##bits##_v2(cu_stream stream, cu_address address, type value, uint32_t flags)     \
    {                                                                                                                  \
        return submit(stream, DR_WORK_WRITE_VALUE, address, value, bits == 64, flags);                                 \
    }
VALUES(32, uint32_t)
VALUES(64, uint64_t)

/* One operation of a list as work; of kind NONE where there is nothing to do: memory is one, and work of a stream is in order. */
static cu_result describe_one(dr_context *c, const cu_mem_op *op, dr_work *out)
{
    bool wide = op->operation == CUABI_CU_STREAM_MEM_OP_WAIT_VALUE_64 || op->operation == CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_64;
    uint64_t value = wide ? op->value.value : (uint32_t)op->value.value;
    switch (op->operation) {
    case CUABI_CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CUABI_CU_STREAM_MEM_OP_WAIT_VALUE_64: return describe(c, DR_WORK_WAIT_VALUE, op->value.address, value, wide, op->value.flags, out);
    case CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_64: return describe(c, DR_WORK_WRITE_VALUE, op->value.address, value, wide, op->value.flags, out);
    case CUABI_CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CUABI_CU_STREAM_MEM_OP_BARRIER: *out = (dr_work){.kind = DR_WORK_NONE}; return CUABI_SUCCESS;
    }
    return DR_ERROR(INVALID_VALUE);
}

static cu_result submit_one(cu_stream handle, const cu_mem_op *op)
{
    DR_USE(c);
    dr_stream *s;
    dr_work work;
    cu_result result = dr_stream_of(c, handle, &s);
    if (!result)
        result = describe_one(s->context, op, &work);
    return result || work.kind == DR_WORK_NONE ? result : dr_stream_submit(s, &work, NULL, NULL);
}

cu_result impl_cuStreamBatchMemOp(cu_stream stream, uint32_t count, cu_mem_op *param_array, uint32_t flags)
{
    DR_NEED((param_array || !count) && flags == 0);
    cu_result result = CUABI_SUCCESS;
    for (uint32_t i = 0; i < count && !result; i++)
        result = submit_one(stream, &param_array[i]);
    return result;
}

cu_result impl_cuStreamBatchMemOp_v2(cu_stream stream, uint32_t count, cu_mem_op *param_array, uint32_t flags)
{
    return impl_cuStreamBatchMemOp(stream, count, param_array, flags);
}

/* ------------------------------------------------------------ nodes of graphs */

cu_result dr_values_make(const cu_batch_node *batch, dr_work **out, uint32_t *count)
{
    dr_context *c = batch->context ? dr_object_of(batch->context, DR_CONTEXT) : dr_context_current();
    cu_result result = c ? CUABI_SUCCESS : DR_ERROR(INVALID_CONTEXT);
    dr_work *list = calloc(batch->count + 1, sizeof *list);
    if (!list)
        return DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < batch->count && !result; i++)
        result = describe_one(c, &batch->operations[i], &list[i]);
    if (result) {
        free(list);
        return result;
    }
    *out = list;
    *count = batch->count;
    return CUABI_SUCCESS;
}

cu_result dr_node_set_batch(dr_node *n, const cu_batch_node *batch)
{
    dr_work *list;
    uint32_t count;
    DR_NEED(batch->operations && batch->count && batch->count <= 256 && batch->flags == 0);
    cu_result result = dr_values_make(batch, &list, &count);
    if (result)
        return result;
    free(list);
    cu_mem_op *copy = malloc(count * sizeof *copy);
    if (!copy)
        return DR_ERROR(OUT_OF_MEMORY);
    memcpy(copy, batch->operations, count * sizeof *copy);
    free(n->of.batch.operations);
    n->of.batch = *batch;
    n->of.batch.operations = copy;
    if (batch->context)
        n->context = batch->context;
    n->work = (dr_work){.kind = DR_WORK_NONE};
    return CUABI_SUCCESS;
}
