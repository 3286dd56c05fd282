/* memory.h - operations on memory: what decode.c puts into `extra` of their instructions.
 *
 * o[0] is the address register (unused when place.base is NONE). The other operands follow.
 */
#ifndef CPU_MEMORY_H
#define CPU_MEMORY_H

#include "runtime/cpu/internal.h"

/* ld, st: o[1 ... count] are the registers. */
typedef struct cpu_access {
    cpu_place place;
    uint8_t bytes;                 /* of an element in memory: 1, 2, 4, 8 */
    uint8_t count;                 /* elements; a b128 is two of 8 bytes */
    uint8_t class;                 /* of the registers */
    bool sign;                     /* extend the sign into a wider register */
    bool acquire, release;
} cpu_access;

typedef enum cpu_atomic_op {
    CPU_A_ADD, CPU_A_AND, CPU_A_OR, CPU_A_XOR, CPU_A_EXCH, CPU_A_CAS, CPU_A_MIN, CPU_A_MAX, CPU_A_INC, CPU_A_DEC
} cpu_atomic_op;

/* atom, red: o[1 ...] old values (atom only), then `count` values of b, then c of cas. */
typedef struct cpu_atomic {
    cpu_place place;
    uint8_t op, type;              /* ptx_type of an element */
    uint8_t bytes, count, class;
    bool returns;
    bool wide;                     /* b128: every value is two registers */
} cpu_atomic;

/* ldmatrix, stmatrix: o[1 ... count]. bits: 0 for b16; 8, 6 or 4 for the shapes of bytes (ptx/lib/matrix_layout.h), whose `shape` it is. */
typedef struct cpu_matrix { cpu_place place; uint8_t count; bool transposed; uint8_t bits, shape; } cpu_matrix;

/* cp.async: o[0] destination address, o[1] source address, o[2] source size and o[3] ignore predicate when written. */
typedef struct cpu_async_copy { cpu_place to, from; uint8_t bytes; bool has_size, has_ignore, ignore_negated; } cpu_async_copy;

/* mbarrier: o[0] address, o[1] result (state, predicate or count), o[2] argument (count, state, parity, bytes);
 * op is a pxl_mbarrier_op of ptx/lib/mbarrier.h. */
typedef struct cpu_mbarrier { cpu_place place; uint8_t op; bool has_result, has_argument; uint8_t argument_class; } cpu_mbarrier;

/* cp.async.bulk, cp.reduce.async.bulk: o[0] destination address, o[1] source address, o[2] bytes, o[3] address of the mbarrier,
 * o[4] ctaMask or byteMask (16 bits), o[5] and o[6] bytes that are ignored on the left and right; unused ones are 0. */
typedef struct cpu_bulk {
    cpu_place to, from, barrier;
    bool has_barrier, has_blocks, has_byte_mask, ignores, reduces;
    cpu_atomic element;            /* reduces: op, type, bytes */
} cpu_bulk;
/* st.bulk: o[0] address, o[1] bytes (64 bits). */
typedef struct cpu_bulk_zero { cpu_place to; } cpu_bulk_zero;
/* st.async, red.async: as st and red; o[barrier_operand] address of the mbarrier, which counts `bytes`. */
typedef struct cpu_async_store { cpu_access store; cpu_place barrier; uint32_t barrier_operand, bytes; bool has_barrier; } cpu_async_store;
typedef struct cpu_async_atomic { cpu_atomic atomic; cpu_place barrier; uint32_t barrier_operand; } cpu_async_atomic;
/* clusterlaunchcontrol.try_cancel: o[0] where the answer goes, o[1] mbarrier. */
typedef struct cpu_try_cancel { cpu_place to, barrier; } cpu_try_cancel;

/* wmma.load, wmma.store: o[0] address, o[1] stride when written, o[2 ... 1 + count] registers. ptx/lib/wmma_layout.h
 * says which element lies where. */
typedef struct cpu_fragment {
    cpu_place place;
    uint8_t m, n, k, bits;         /* a pxl_wmma_shape */
    char matrix;
    bool columns;                  /* layout is .col */
    bool store, has_stride;
    uint8_t count, class;
} cpu_fragment;

/* o[0] result, o[1] source. to: from generic into the window, else from the window to generic. */
typedef struct cpu_conversion { uint8_t window; bool to; uint8_t class, source_class; } cpu_conversion;

/* Fills w->addresses and checks every executing lane; raises. `bytes` is a power of two, or align is given. */
cpu_pattern cpu_addresses(cpu_warp *w, const cpu_insn *i, const cpu_place *place, uint32_t operand, uint32_t bytes,
                          uint32_t align, uint32_t mask);
/* For launches with `check`: raises unless every lane's w->addresses[lane], generic, lies with `bytes` bytes in one object. */
void cpu_check_exact(cpu_warp *w, const cpu_insn *i, uint64_t bytes, uint32_t mask);

void cpu_op_load(cpu_warp *w, const cpu_insn *i, uint32_t mask);
/* The same for an address without a register, which all lanes share. */
void cpu_op_load_uniform(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_store(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_atomic(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_load_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_store_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_async_copy(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_bulk(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_bulk_zero(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_async_store(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_async_atomic(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_try_cancel(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_load_bytes_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_store_bytes_matrix(cpu_warp *w, const cpu_insn *i, uint32_t mask);
/* atomics.c: one element at an address; gives the old value. */
uint64_t cpu_atomic_update(const cpu_atomic *x, bool shared, uint64_t address, uint64_t b, uint64_t c);
void cpu_op_mbarrier(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_fragment(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_fence(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_cvta(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_isspacep(cpu_warp *w, const cpu_insn *i, uint32_t mask);
/* o[0] result; extra: the special register as cpu_fill_special */
void cpu_op_special(cpu_warp *w, const cpu_insn *i, uint32_t mask);
/* o[0] result of class cpu_frame_address.class = local_base of the frame + offset */
typedef struct cpu_frame_address { uint64_t offset; uint8_t class; } cpu_frame_address;
void cpu_op_frame_address(cpu_warp *w, const cpu_insn *i, uint32_t mask);
/* o[0] result, o[1] bytes (alloca) or pointer (stackrestore) */
typedef struct cpu_stack { uint8_t class, argument_class; uint32_t align; } cpu_stack;
void cpu_op_alloca(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_stack_save(cpu_warp *w, const cpu_insn *i, uint32_t mask);
void cpu_op_stack_restore(cpu_warp *w, const cpu_insn *i, uint32_t mask);

/* Element `lane` of a slot, zero-extended. */
static inline uint64_t cpu_get(const char *slot, cpu_class c, uint32_t lane)
{
    uint64_t v = 0;
    __builtin_memcpy(&v, slot + ((size_t)lane << c), (size_t)1 << c);
    return v;
}

static inline void cpu_put(char *slot, cpu_class c, uint32_t lane, uint64_t v)
{
    __builtin_memcpy(slot + ((size_t)lane << c), &v, (size_t)1 << c);
}

#define CPU_FOR_LANES(lane, mask) \
    for (uint32_t rest_ = (mask), lane; rest_ && ((lane = (uint32_t)__builtin_ctz(rest_)), 1); rest_ &= rest_ - 1)

#endif
