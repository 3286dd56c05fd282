/* atomic.h - the read-modify-write operations of LDS and memory instructions.
 *
 * The arithmetic is a function of the old value and one or two data values; the exchange with memory is a
 * host atomic, since blocks of one launch run in several threads.
 */
#ifndef SIM_ATOMIC_H
#define SIM_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

typedef enum sim_atomic {
    ATOMIC_SWAP, ATOMIC_CMPSWAP, ATOMIC_FCMPSWAP, ATOMIC_ADD, ATOMIC_SUB, ATOMIC_RSUB, ATOMIC_INC, ATOMIC_DEC,
    ATOMIC_SMIN, ATOMIC_SMAX, ATOMIC_UMIN, ATOMIC_UMAX, ATOMIC_FMIN, ATOMIC_FMAX, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR,
    ATOMIC_MSKOR, ATOMIC_FADD, ATOMIC_PK_FADD_F16, ATOMIC_PK_FADD_BF16,
    ATOMIC_SUB_CLAMP,                    /* stops at 0 */
    ATOMIC_COND_SUB,                     /* only if the result is not below 0 */
    ATOMIC_WRAP, ATOMIC_CONDXCHG32
} sim_atomic;

/* `data` and `second` as sim_atomic_exchange takes them; flush: subnormal f32 terms and results of FADD to zero. */
uint64_t sim_atomic_apply(sim_atomic op, uint32_t bytes, uint64_t old, uint64_t data, uint64_t second, bool flush);

/* Replaces the value of 4 or 8 bytes at p and returns the old one. CMPSWAP: data is the new value, second what it is
 * compared with; MSKOR: data is the mask, second the bits; WRAP: data is subtracted, second added. */
uint64_t sim_atomic_exchange(void *p, uint32_t bytes, sim_atomic op, uint64_t data, uint64_t second, bool flush);

#endif
