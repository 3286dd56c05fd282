/* async.c - cp.async and mbarrier (PTX ISA, "cp.async", "mbarrier").
 *
 * Copies are done at once, so commit and wait groups have nothing to do. All warps of a block run on
 * one thread and an mbarrier belongs to one block, so its updates need not be atomic.
 */
#include <string.h>
#include "ptx/lib/mbarrier.h"
#include "runtime/cpu/memory.h"

typedef uint32_t word __attribute__((may_alias));
typedef uint64_t wide __attribute__((may_alias));

/* Bytes that a lane reads. */
static uint32_t size_of(const cpu_async_copy *x, const char *r, const cpu_insn *i, uint32_t lane)
{
    uint32_t size = x->has_size ? ((const word *)(r + i->o[2]))[lane] : x->bytes;
    return size < x->bytes ? size : x->bytes;
}

void cpu_op_async_copy(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_async_copy *x = i->extra;
    char *r = w->frame->r;
    uint64_t from[CPU_LANES];
    uint32_t ignored = 0;
    if (x->has_ignore) {
        ignored = *(const word *)(r + i->o[3]);
        ignored = (x->ignore_negated ? ~ignored : ignored) & mask;
    }
    /* Lanes that read nothing may hold any source address. */
    uint32_t reading = mask & ~ignored;
    if (x->has_size)
        CPU_FOR_LANES(lane, reading)
            if (((const word *)(r + i->o[2]))[lane] == 0)
                reading &= ~(1u << lane);
    if (reading) {
        /* What a size leaves out is not read, so it may lie outside. */
        const bool check = w->check;
        w->check = check && !x->has_size;
        cpu_addresses(w, i, &x->from, 1, x->bytes, x->bytes, reading);
        w->check = check;
        if (check && x->has_size)
            CPU_FOR_LANES(lane, reading)
                cpu_check_exact(w, i, size_of(x, r, i, lane), 1u << lane);
        memcpy(from, w->addresses, sizeof from);
    }
    cpu_addresses(w, i, &x->to, 0, x->bytes, x->bytes, mask);
    CPU_FOR_LANES(lane, mask) {
        char buffer[16] = {0};
        if (reading >> lane & 1)
            memcpy(buffer, (const void *)(uintptr_t)from[lane], size_of(x, r, i, lane));
        memcpy((void *)(uintptr_t)w->addresses[lane], buffer, x->bytes);
    }
}

/* ------------------------------------------------------------ mbarrier */

static void one(cpu_warp *w, const cpu_insn *i, const cpu_mbarrier *x, uint32_t lane)
{
    char *r = w->frame->r, *result = x->has_result ? r + i->o[1] : NULL;
    wide *p = (wide *)(uintptr_t)w->addresses[lane];
    pxl_mbarrier_op op = (pxl_mbarrier_op)x->op;
    uint64_t argument = op == PXL_MBARRIER_INIT ? 0 : 1;
    if (x->has_argument)
        argument = x->argument_class == CPU_CLASS_64 ? ((const wide *)(r + i->o[2]))[lane] : ((const word *)(r + i->o[2]))[lane];
    if (op == PXL_MBARRIER_PENDING) {
        if (result)
            ((word *)result)[lane] = (uint32_t)pxl_mbarrier_pending(argument);
        return;
    }
    uint64_t before = *p;
    if (op == PXL_MBARRIER_WAIT || op == PXL_MBARRIER_WAIT_PARITY) {
        uint32_t done = pxl_mbarrier_done(op, before, argument);
        *(word *)result = (*(word *)result & ~(1u << lane)) | done << lane;
        return;
    }
    if (op == PXL_MBARRIER_INIT && (argument == 0 || argument > PXL_MBARRIER_COUNT))
        cpu_raise(w, CPU_FAULT_DEADLOCK, lane, w->addresses[lane], "mbarrier count %llu is not in 1 to 1048575",
                  (unsigned long long)argument);
    bool arrives = op >= PXL_MBARRIER_ARRIVE && op <= PXL_MBARRIER_ARRIVE_DROP_EXPECT_TX;
    uint64_t count = op == PXL_MBARRIER_ARRIVE || op == PXL_MBARRIER_ARRIVE_DROP ? argument : 1;
    if (arrives && count > pxl_mbarrier_pending(before))
        cpu_raise(w, CPU_FAULT_DEADLOCK, lane, w->addresses[lane], "%llu arrivals at an mbarrier that waits for %llu",
                  (unsigned long long)count, (unsigned long long)pxl_mbarrier_pending(before));
    *p = pxl_mbarrier_next(op, before, argument);
    if (result)
        ((wide *)result)[lane] = before;
}

void cpu_op_mbarrier(cpu_warp *w, const cpu_insn *i, uint32_t mask)
{
    const cpu_mbarrier *x = i->extra;
    if (x->op != PXL_MBARRIER_PENDING)
        cpu_addresses(w, i, &x->place, 0, 8, 8, mask);
    CPU_FOR_LANES(lane, mask)
        one(w, i, x, lane);
}
