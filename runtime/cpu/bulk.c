/* bulk.c - bulk copies and reductions, st.bulk, st.async, red.async, clusterlaunchcontrol (PTX ISA, "cp.async.bulk",
 * "cp.reduce.async.bulk", "st.bulk", "st.async", "red.async", "clusterlaunchcontrol").
 *
 * Like cp.async all of it is done at once, by each executing lane in ascending order, and then counted at the mbarrier, so bulk
 * groups are always complete. A cluster is one block, so shared::cluster is the block's own memory. What the ISA leaves undefined
 * (sizes, alignment, blocks that do not exist) is a fault.
 */
#include <string.h>
#include "ptx/lib/mbarrier.h"
#include "runtime/cpu/memory.h"

typedef uint64_t wide __attribute__((may_alias));

/* complete-tx of `bytes` at the mbarrier of each lane. */
static void complete(cpu_warp *w, const cpu_insn *i, const cpu_place *barrier, uint32_t operand, uint32_t mask, uint32_t bytes)
{
    cpu_addresses(w, i, barrier, operand, 8, 8, mask);
    CPU_FOR_LANES(lane, mask) {
        wide *p = (wide *)(uintptr_t)w->addresses[lane];
        *p = pxl_mbarrier_next(PXL_MBARRIER_COMPLETE_TX, *p, bytes);
    }
}

/* Address of `bytes` bytes of one lane, aligned to 16; the first `skip` are not read and may lie outside. */
static uint64_t range(cpu_warp *w, const cpu_insn *i, const cpu_place *place, uint32_t operand, uint32_t lane, uint32_t skip, uint32_t bytes)
{
    const bool check = w->check;
    cpu_place p = *place;
    p.offset += skip;
    w->check = check && bytes;
    cpu_addresses(w, i, &p, operand, bytes, 1, 1u << lane);
    w->check = check;
    w->addresses[lane] -= skip;
    w->align = 16;
    if (w->addresses[lane] % 16)
        cpu_raise_address(w, i, 1u << lane);
    return w->addresses[lane];
}

static uint32_t word_of(const cpu_warp *w, const cpu_insn *i, uint32_t operand, cpu_class class, uint32_t lane)
{
    return (uint32_t)cpu_get(w->frame->r + i->o[operand], class, lane);
}

static void reduce(cpu_warp *w, const cpu_atomic *x, uint64_t to, uint64_t from, uint32_t bytes)
{
    bool shared = to - w->shared_base < w->shared_bytes;
    for (uint32_t at = 0; at < bytes; at += x->bytes) {
        uint64_t v = 0;
        memcpy(&v, (const void *)(uintptr_t)(from + at), x->bytes);
        cpu_atomic_update(x, shared, to + at, v, 0);
    }
}

static void copy_bytes(uint64_t to, uint64_t from, uint32_t bytes, uint32_t byte_mask)
{
    for (uint32_t k = 0; k < bytes; k++)
        if (byte_mask >> k % 16 & 1)
            *(char *)(uintptr_t)(to + k) = *(const char *)(uintptr_t)(from + k);
}

static void bulk_lane(cpu_warp *w, const cpu_insn *i, const cpu_bulk *x, uint32_t lane)
{
    uint32_t bytes = word_of(w, i, 2, CPU_CLASS_32, lane), left = 0, right = 0, mask = 0xffff;
    if (bytes % 16)
        cpu_raise(w, CPU_FAULT_MISALIGNED, lane, 0, "a bulk copy of %u bytes, which is not a multiple of 16", bytes);
    if (x->has_blocks || x->has_byte_mask)
        mask = word_of(w, i, 4, CPU_CLASS_16, lane);
    if (x->has_blocks && mask > 1)
        cpu_raise(w, CPU_FAULT_ADDRESS, lane, 0, "ctaMask 0x%x names blocks that are not in the cluster: a cluster is one block here", mask);
    if (x->has_blocks && !mask)
        return;
    if (x->ignores) {
        left = word_of(w, i, 5, CPU_CLASS_32, lane);
        right = word_of(w, i, 6, CPU_CLASS_32, lane);
        if (left > 15 || right > 15)
            cpu_raise(w, CPU_FAULT_ADDRESS, lane, 0, "%u and %u bytes to ignore: at most 15 may be", left, right);
    }
    uint32_t read = bytes > left + right ? bytes - left - right : 0;
    uint64_t from = range(w, i, &x->from, 1, lane, left, read), to = range(w, i, &x->to, 0, lane, 0, bytes);
    if (x->reduces)
        reduce(w, &x->element, to, from, bytes);
    else if (x->has_byte_mask)
        copy_bytes(to, from, bytes, mask);
    else if (read)
        memmove((void *)(uintptr_t)(to + left), (const void *)(uintptr_t)(from + left), read);
    if (x->has_barrier)
        complete(w, i, &x->barrier, 3, 1u << lane, bytes);
}

void cpu_op_bulk(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    CPU_FOR_LANES(lane, mask)
        bulk_lane(w, i, i->extra, lane);
}

/* A generic address lies in shared memory (PTX ISA, "st.bulk"). */
void cpu_op_bulk_zero(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_bulk_zero *x = i->extra;
    CPU_FOR_LANES(lane, mask) {
        uint64_t bytes = cpu_get(w->frame->r + i->o[1], CPU_CLASS_64, lane);
        cpu_addresses(w, i, &x->to, 0, 0, 8, 1u << lane);
        uint64_t to = w->addresses[lane];
        if (bytes % 8)
            cpu_raise(w, CPU_FAULT_MISALIGNED, lane, to, "st.bulk of %llu bytes, which is not a multiple of 8", (unsigned long long)bytes);
        if (to - w->shared_base > w->shared_bytes || bytes > w->shared_bytes - (to - w->shared_base))
            cpu_raise(w, CPU_FAULT_ADDRESS, lane, to, "st.bulk of %llu bytes outside of shared memory", (unsigned long long)bytes);
        memset((void *)(uintptr_t)to, 0, bytes);
    }
}

void cpu_op_async_store(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_async_store *x = i->extra;
    _Static_assert(offsetof(cpu_async_store, store) == 0, "cpu_op_store finds its own part");
    cpu_op_store(w, i, mask);
    complete(w, i, &x->barrier, x->barrier_operand, mask, x->bytes);
}

void cpu_op_async_atomic(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_async_atomic *x = i->extra;
    _Static_assert(offsetof(cpu_async_atomic, atomic) == 0, "cpu_op_atomic finds its own part");
    cpu_op_atomic(w, i, mask);
    complete(w, i, &x->barrier, x->barrier_operand, mask, x->atomic.bytes);
}

/* Every block of the grid is running or will: the answer is always that nothing was cancelled, 16 zero bytes. */
void cpu_op_try_cancel(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_try_cancel *x = i->extra;
    cpu_addresses(w, i, &x->to, 0, 16, 16, mask);
    CPU_FOR_LANES(lane, mask)
        memset((void *)(uintptr_t)w->addresses[lane], 0, 16);
    complete(w, i, &x->barrier, 1, mask, 16);
}
