/* values.c - streams that wait for a value in memory, and write one: cuStreamWaitValue32 and what goes with it. */
#include <string.h>
#include "runtime/driver/driver.h"

/* Work on a value, checked. The stream's thread reads and writes the memory itself. */
static cu_result describe(dr_context *c, dr_work_kind kind, cu_address address, uint64_t value, bool wide, uint32_t flags, dr_work *out)
{
    dr_range range;
    uint64_t bytes = wide ? 8 : 4;
    if (!address || address % bytes || !dr_range_find(address, &range) || bytes > range.bytes - (address - range.base))
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

static cu_result submit_one(cu_stream stream, const cu_mem_op *op)
{
    switch (op->operation) {
    case CUABI_CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return submit(stream, DR_WORK_WAIT_VALUE, op->value.address, (uint32_t)op->value.value, false, op->value.flags);
    case CUABI_CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return submit(stream, DR_WORK_WAIT_VALUE, op->value.address, op->value.value, true, op->value.flags);
    case CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return submit(stream, DR_WORK_WRITE_VALUE, op->value.address, (uint32_t)op->value.value, false, op->value.flags);
    case CUABI_CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return submit(stream, DR_WORK_WRITE_VALUE, op->value.address, op->value.value, true, op->value.flags);
    case CUABI_CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CUABI_CU_STREAM_MEM_OP_BARRIER: return CUABI_SUCCESS;   /* memory is one, and work of a stream is in order */
    }
    return DR_ERROR(INVALID_VALUE);
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
