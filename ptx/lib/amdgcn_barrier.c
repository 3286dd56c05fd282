/* amdgcn_barrier.c - barriers in memory on AMD targets, which the translator calls by name (see amdgcn.c): those with a thread
 * count, several of them in one kernel, and all of them where lanes of a wavefront wait for each other.
 *
 * "barrier{.cta} instruction causes executing thread to wait for all non-exited threads from its warp and marks warps' arrival"
 * (PTX ISA, "bar, barrier"): a warp arrives as a whole and counts as 32 threads, whatever of it has ended or never was. So each
 * warp has a mask of those that came for every barrier, which the lane that completes it turns into one count. Only lanes of one
 * wavefront touch a warp's words, and its lanes are in no other of these functions meanwhile; what warps share is one word for each
 * barrier, changed by exchange: 7 bits of generation, 12 of waiting threads, 12 of threads that arrived.
 *
 * A barrier is complete when as many threads arrived as it counts, or when every warp that has not ended arrived and the block has as
 * many threads as it counts; the second says what threads that have ended are worth.
 */
#if defined(__AMDGCN__)

#include "ptx/lib/fault.h"
#include "ptx/lib/lane.h"

#define PXL_EXPORT __attribute__((visibility("hidden")))
#define LDS __attribute__((address_space(3)))

void pxl_fault(uint32_t code, uint32_t line, uint32_t column, uint64_t detail0, uint64_t detail1, uint64_t detail2);
void pxl_end_after_fault(void);

enum { CELL_COUNT = 0xfff, CELL_WAITER = 0x1000, CELL_GENERATION = 25, WARP = 32, NO_GENERATION = 0xff };

static uint32_t load(const LDS uint32_t *cell) { return __scoped_atomic_load_n(cell, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP); }

static bool exchange(LDS uint32_t *cell, uint32_t *old, uint32_t desired)
{
    return __scoped_atomic_compare_exchange_n(cell, old, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP);
}

static uint32_t next_generation(uint32_t cell) { return ((cell >> CELL_GENERATION) + 1) << CELL_GENERATION; }
static uint32_t waiting(uint32_t cell) { return cell / CELL_WAITER & CELL_COUNT; }
static LDS uint32_t *came(LDS uint32_t *cells, uint32_t id, uint32_t warp) { return &cells[PXL_CELL_CAME + id * PXL_WARPS + warp]; }
/* The generation in which a warp's last arrival was counted. */
static LDS uint8_t *counted(LDS uint32_t *cells, uint32_t id, uint32_t warp) { return (LDS uint8_t *)&cells[PXL_CELL_COUNTED] + id * PXL_WARPS + warp; }

/* expected 0: all threads. */
static bool is_complete(const LDS uint32_t *cells, uint32_t arrived, uint32_t expected)
{
    return (expected && arrived >= expected) || (arrived >= load(&cells[PXL_CELL_LIVING]) && cells[PXL_CELL_TOTAL] >= expected);
}

static void count_warp(LDS uint32_t *cells, uint32_t id, uint32_t warp)
{
    LDS uint32_t *cell = &cells[id];
    uint32_t old = load(cell), desired, arrived;
    *came(cells, id, warp) = 0;
    do {
        arrived = (old & CELL_COUNT) + WARP;
        if (arrived > CELL_COUNT) arrived = CELL_COUNT;
        *counted(cells, id, warp) = (uint8_t)(old >> CELL_GENERATION);
        desired = is_complete(cells, arrived, cells[PXL_CELL_EXPECTED + id]) ? next_generation(old) : (old & ~CELL_COUNT) | arrived;
    } while (!exchange(cell, &old, desired));
}

/* The number of a barrier of the block and its thread count as the ISA allows them. */
static void check(LDS uint32_t *cells, uint32_t id, uint32_t count, uint32_t line, uint32_t column)
{
    if (id >= PXL_CLUSTER_BARRIER) pxl_fault(PXL_FAULT_BARRIER, line, column, id, 0, 0);
    if (count % WARP) pxl_fault(PXL_FAULT_BARRIER, line, column, id, count, 0);
    if ((load(&cells[id]) & CELL_COUNT) && cells[PXL_CELL_EXPECTED + id] != count)
        pxl_fault(PXL_FAULT_BARRIER, line, column, id, count, cells[PXL_CELL_EXPECTED + id]);
}

/* `lanes` of the warp wait from now on, unless the phase is over in which it arrived. After the arrival: whoever sees that all
 * threads wait must see what they wait for. */
static void await(LDS uint32_t *cells, uint32_t id, uint32_t warp, uint32_t lanes)
{
    uint32_t now = load(&cells[id]), waiters = CELL_WAITER * (uint32_t)__builtin_popcount(lanes);
    while (((load(came(cells, id, warp)) & lanes) || now >> CELL_GENERATION == *counted(cells, id, warp)) && !exchange(&cells[id], &now, now + waiters)) {}
}

static void arrive(LDS uint32_t *cells, uint32_t id, uint32_t warp)
{
    uint32_t alive = load(&cells[PXL_CELL_ALIVE + warp]), mine = 1u << lane_id();
    uint32_t old = __scoped_atomic_fetch_or(came(cells, id, warp), mine, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    if ((alive & ~old) && !(alive & ~(old | mine))) count_warp(cells, id, warp);
}

/* The lanes that are here are all that their warp has left (plan.c): the others are on their way to the end, which they may only reach
 * when these go on. */
static void arrive_together(LDS uint32_t *cells, uint32_t id, uint32_t warp, uint32_t here)
{
    uint32_t gone = load(&cells[PXL_CELL_ALIVE + warp]) & ~here;
    __scoped_atomic_fetch_and(&cells[PXL_CELL_ALIVE + warp], here, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    __scoped_atomic_fetch_sub(&cells[PXL_CELL_THREADS], (uint32_t)__builtin_popcount(gone), __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    count_warp(cells, id, warp);
}

static bool first_of(uint32_t lanes) { return (uint32_t)__builtin_ctz(lanes) == lane_id(); }

/* Does every thread that has not ended wait at a barrier that cannot complete? Two equal looks make one moment of many words. */
static bool all_wait(LDS uint32_t *cells)
{
    uint32_t threads = load(&cells[PXL_CELL_THREADS]), n = 0, first = 0, second = 0;
    for (uint32_t i = 0; i < PXL_BARRIERS; i++) {
        uint32_t cell = load(&cells[i]);
        first = first * 31 + cell;
        n += waiting(cell);
        if (waiting(cell) && is_complete(cells, cell & CELL_COUNT, cells[PXL_CELL_EXPECTED + i])) return false;      /* at its next poll */
    }
    for (uint32_t i = 0; i < PXL_BARRIERS; i++) second = second * 31 + load(&cells[i]);
    return n == threads && first == second && load(&cells[PXL_CELL_THREADS]) == threads;
}

/* Is the barrier complete at which this lane arrived? Threads that ended meanwhile may have made it so. */
PXL_EXPORT __attribute__((noinline)) bool pxl_barrier_poll(LDS uint32_t *cells, uint32_t id, uint32_t warp, uint32_t line, uint32_t column)
{
    uint32_t now = load(&cells[id]);
    if (!(load(came(cells, id, warp)) >> lane_id() & 1)) {
        if (now >> CELL_GENERATION != *counted(cells, id, warp)) return true;
        if (is_complete(cells, now & CELL_COUNT, cells[PXL_CELL_EXPECTED + id]) && exchange(&cells[id], &now, next_generation(now))) return true;
    }
    pxl_end_after_fault();
    if (all_wait(cells)) pxl_fault(PXL_FAULT_DEADLOCK, line, column, id, 0, 0);
    __builtin_amdgcn_s_sleep(1);
    return false;
}

/* At the start of a thread, after one of the block has zeroed the cells. */
PXL_EXPORT void pxl_barrier_enter(LDS uint32_t *cells, uint32_t warp)
{
    __scoped_atomic_fetch_or(&cells[PXL_CELL_ALIVE + warp], 1u << lane_id(), __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    for (uint32_t id = 0; id < PXL_BARRIERS; id++) *counted(cells, id, warp) = NO_GENERATION;
}

/* At the end of a thread: its warp may have been waiting for it alone. */
PXL_EXPORT __attribute__((noinline)) void pxl_barrier_leave(LDS uint32_t *cells, uint32_t warp)
{
    uint32_t mine = 1u << lane_id(), old = __scoped_atomic_fetch_and(&cells[PXL_CELL_ALIVE + warp], ~mine, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    uint32_t alive = old & ~mine;
    if (!(old & mine)) return;                             /* arrive_together has known it */
    if (!alive) __scoped_atomic_fetch_sub(&cells[PXL_CELL_LIVING], (uint32_t)WARP, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    for (uint32_t id = 0; id < PXL_BARRIERS; id++) {
        uint32_t here = load(came(cells, id, warp));
        if (here && (old & ~here) && !(alive & ~here)) count_warp(cells, id, warp);
    }
    __scoped_atomic_fetch_sub(&cells[PXL_CELL_THREADS], 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
}

/* ------------------------------------------------------------ lanes that come one by one, and go to the dispatcher to wait */

PXL_EXPORT __attribute__((noinline)) void pxl_barrier_arrive(LDS uint32_t *cells, uint32_t id, uint32_t count, bool wait, uint32_t warp, uint32_t line, uint32_t column)
{
    check(cells, id, count, line, column);
    cells[PXL_CELL_EXPECTED + id] = count;
    arrive(cells, id, warp);
    if (wait) await(cells, id, warp, 1u << lane_id());
}

PXL_EXPORT __attribute__((noinline)) void pxl_cluster_arrive(LDS uint32_t *cells, uint32_t warp) { arrive(cells, PXL_CLUSTER_BARRIER, warp); }
PXL_EXPORT __attribute__((noinline)) void pxl_cluster_await(LDS uint32_t *cells, uint32_t warp) { await(cells, PXL_CLUSTER_BARRIER, warp, 1u << lane_id()); }

/* ------------------------------------------------------------ warps that come as a whole */

PXL_EXPORT __attribute__((noinline)) void pxl_warp_barrier(LDS uint32_t *cells, uint32_t id, uint32_t count, bool wait, uint32_t warp, uint32_t line, uint32_t column)
{
    uint32_t here = lane_ballot(true);
    check(cells, id, count, line, column);
    if (first_of(here)) {
        cells[PXL_CELL_EXPECTED + id] = count;
        arrive_together(cells, id, warp, here);
        if (wait) await(cells, id, warp, here);
    }
    while (wait && !pxl_barrier_poll(cells, id, warp, line, column)) {}
}

PXL_EXPORT __attribute__((noinline)) void pxl_warp_cluster_arrive(LDS uint32_t *cells, uint32_t warp)
{
    uint32_t here = lane_ballot(true);
    if (first_of(here)) arrive_together(cells, PXL_CLUSTER_BARRIER, warp, here);
}

PXL_EXPORT __attribute__((noinline)) void pxl_warp_cluster_wait(LDS uint32_t *cells, uint32_t warp, uint32_t line, uint32_t column)
{
    uint32_t here = lane_ballot(true);
    if (first_of(here)) await(cells, PXL_CLUSTER_BARRIER, warp, here);
    while (!pxl_barrier_poll(cells, PXL_CLUSTER_BARRIER, warp, line, column)) {}
}

#else
typedef int pxl_not_amdgcn_barrier;      /* a translation unit is not empty */
#endif
