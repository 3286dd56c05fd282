/* mbarrier.h - the state of an mbarrier and how each operation changes it (PTX ISA, "mbarrier"; the ISA leaves
 * the 64 bits opaque, this layout is ours on every device): bits 0-19 pending arrivals, 20-39 expected arrivals,
 * 40-62 bytes of transactions that are missing, 63 the parity of the phase.
 *
 * Pure functions of one 64-bit state, without lanes: each target does the load and the exchange.
 */
#ifndef PXL_MBARRIER_H
#define PXL_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pxl_mbarrier_op {
    PXL_MBARRIER_INIT, PXL_MBARRIER_INVAL, PXL_MBARRIER_EXPECT_TX, PXL_MBARRIER_COMPLETE_TX,
    PXL_MBARRIER_ARRIVE, PXL_MBARRIER_ARRIVE_DROP, PXL_MBARRIER_ARRIVE_EXPECT_TX, PXL_MBARRIER_ARRIVE_DROP_EXPECT_TX,
    PXL_MBARRIER_WAIT, PXL_MBARRIER_WAIT_PARITY, PXL_MBARRIER_PENDING
} pxl_mbarrier_op;

#define PXL_MBARRIER_COUNT 0xfffffull
#define PXL_MBARRIER_PARITY (1ull << 63)

static inline uint64_t pxl_mbarrier_pending(uint64_t state) { return state & PXL_MBARRIER_COUNT; }

/* The state after an operation that changes it. `argument`: the count of init, arrive and arrive_drop (1 when
 * none is written), the bytes of the others. A phase with no arrivals and no bytes missing ends, and the next begins. */
static inline uint64_t pxl_mbarrier_next(pxl_mbarrier_op op, uint64_t state, uint64_t argument)
{
    uint64_t pending = pxl_mbarrier_pending(state), expected = state >> 20 & PXL_MBARRIER_COUNT;
    uint64_t bytes = state >> 40 & 0x7fffff, parity = state & PXL_MBARRIER_PARITY;
    switch (op) {
    case PXL_MBARRIER_INIT: return (argument & PXL_MBARRIER_COUNT) | (argument & PXL_MBARRIER_COUNT) << 20;
    case PXL_MBARRIER_INVAL: return 0;
    case PXL_MBARRIER_EXPECT_TX: bytes += argument; break;
    case PXL_MBARRIER_COMPLETE_TX: bytes -= argument; break;
    case PXL_MBARRIER_ARRIVE: pending -= argument; break;
    case PXL_MBARRIER_ARRIVE_DROP: pending -= argument; expected -= argument; break;
    case PXL_MBARRIER_ARRIVE_EXPECT_TX: bytes += argument; pending -= 1; break;
    case PXL_MBARRIER_ARRIVE_DROP_EXPECT_TX: bytes += argument; pending -= 1; expected -= 1; break;
    default: return state;
    }
    bytes &= 0x7fffff;
    if (pending == 0 && bytes == 0) {
        pending = expected;
        parity ^= PXL_MBARRIER_PARITY;
    }
    return (pending & PXL_MBARRIER_COUNT) | (expected & PXL_MBARRIER_COUNT) << 20 | bytes << 40 | parity;
}

/* test_wait: has the phase that `argument` names (a state from arrive, or its parity) ended? */
static inline bool pxl_mbarrier_done(pxl_mbarrier_op op, uint64_t state, uint64_t argument)
{
    bool now = state >> 63, then = op == PXL_MBARRIER_WAIT ? argument >> 63 : argument & 1;
    return now != then;
}

#endif
