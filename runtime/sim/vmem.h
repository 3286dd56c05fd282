/* vmem.h - what flat and buffer instructions share: the names of accesses in all generations, as rows of a table.
 *
 * Users define ROW(name, handler, aux).
 */
#ifndef SIM_VMEM_H
#define SIM_VMEM_H

#include "runtime/sim/internal.h"

/* Whether an f32 atomic add in memory flushes subnormals on this target. */
bool sim_memory_add_flushes(const sim_wave *w);
/* Write-backs, invalidations and prefetches. */
void sim_cache_operation(sim_wave *w, const sim_insn *i);

#define SIM_LOAD_NAMES(p, run, s) \
    ROW(p "b32", run, 4 | (s)), ROW(p "b64", run, 8 | (s)), ROW(p "b96", run, 12 | (s)), ROW(p "b128", run, 16 | (s)), \
    ROW(p "dword", run, 4 | (s)), ROW(p "dwordx2", run, 8 | (s)), ROW(p "dwordx3", run, 12 | (s)), ROW(p "dwordx4", run, 16 | (s)), \
    ROW(p "u8", run, 1 | (s)), ROW(p "i8", run, 1 | ACCESS_SIGNED | (s)), ROW(p "u16", run, 2 | (s)), ROW(p "i16", run, 2 | ACCESS_SIGNED | (s)), \
    ROW(p "ubyte", run, 1 | (s)), ROW(p "sbyte", run, 1 | ACCESS_SIGNED | (s)), \
    ROW(p "ushort", run, 2 | (s)), ROW(p "sshort", run, 2 | ACCESS_SIGNED | (s)), \
    ROW(p "d16_u8", run, 1 | ACCESS_D16 | (s)), ROW(p "d16_hi_u8", run, 1 | ACCESS_D16 | ACCESS_HIGH | (s)), \
    ROW(p "d16_i8", run, 1 | ACCESS_SIGNED | ACCESS_D16 | (s)), ROW(p "d16_hi_i8", run, 1 | ACCESS_SIGNED | ACCESS_D16 | ACCESS_HIGH | (s)), \
    ROW(p "d16_b16", run, 2 | ACCESS_D16 | (s)), ROW(p "d16_hi_b16", run, 2 | ACCESS_D16 | ACCESS_HIGH | (s)), \
    ROW(p "ubyte_d16", run, 1 | ACCESS_D16 | (s)), ROW(p "ubyte_d16_hi", run, 1 | ACCESS_D16 | ACCESS_HIGH | (s)), \
    ROW(p "sbyte_d16", run, 1 | ACCESS_SIGNED | ACCESS_D16 | (s)), ROW(p "sbyte_d16_hi", run, 1 | ACCESS_SIGNED | ACCESS_D16 | ACCESS_HIGH | (s)), \
    ROW(p "short_d16", run, 2 | ACCESS_D16 | (s)), ROW(p "short_d16_hi", run, 2 | ACCESS_D16 | ACCESS_HIGH | (s))

#define SIM_STORE_NAMES(p, run, s) \
    ROW(p "b8", run, 1 | (s)), ROW(p "b16", run, 2 | (s)), ROW(p "b32", run, 4 | (s)), ROW(p "b64", run, 8 | (s)), ROW(p "b96", run, 12 | (s)), \
    ROW(p "b128", run, 16 | (s)), ROW(p "d16_hi_b8", run, 1 | ACCESS_HIGH | (s)), ROW(p "d16_hi_b16", run, 2 | ACCESS_HIGH | (s)), \
    ROW(p "byte", run, 1 | (s)), ROW(p "short", run, 2 | (s)), ROW(p "dword", run, 4 | (s)), ROW(p "dwordx2", run, 8 | (s)), \
    ROW(p "dwordx3", run, 12 | (s)), ROW(p "dwordx4", run, 16 | (s)), ROW(p "byte_d16_hi", run, 1 | ACCESS_HIGH | (s)), \
    ROW(p "short_d16_hi", run, 2 | ACCESS_HIGH | (s))

#define SIM_ATOMIC_ROW(name, run, op, bytes, s) ROW(name, run, (uint32_t)(op) << ACCESS_OP | (bytes) | (s))
/* old names: 32 bit bare, 64 bit with _x2; new names: with the type */
#define SIM_ATOMIC_BOTH(p, old, new, t, run, op, s) \
    SIM_ATOMIC_ROW(p old, run, op, 4, s), SIM_ATOMIC_ROW(p old "_x2", run, op, 8, s), \
    SIM_ATOMIC_ROW(p new "_" t "32", run, op, 4, s), SIM_ATOMIC_ROW(p new "_" t "64", run, op, 8, s)

#define SIM_ATOMIC_NAMES(p, run, s) \
    SIM_ATOMIC_BOTH(p, "swap", "swap", "b", run, ATOMIC_SWAP, s), SIM_ATOMIC_BOTH(p, "cmpswap", "cmpswap", "b", run, ATOMIC_CMPSWAP, s), \
    SIM_ATOMIC_BOTH(p, "add", "add", "u", run, ATOMIC_ADD, s), SIM_ATOMIC_BOTH(p, "sub", "sub", "u", run, ATOMIC_SUB, s), \
    SIM_ATOMIC_BOTH(p, "smin", "min", "i", run, ATOMIC_SMIN, s), SIM_ATOMIC_BOTH(p, "umin", "min", "u", run, ATOMIC_UMIN, s), \
    SIM_ATOMIC_BOTH(p, "smax", "max", "i", run, ATOMIC_SMAX, s), SIM_ATOMIC_BOTH(p, "umax", "max", "u", run, ATOMIC_UMAX, s), \
    SIM_ATOMIC_BOTH(p, "and", "and", "b", run, ATOMIC_AND, s), SIM_ATOMIC_BOTH(p, "or", "or", "b", run, ATOMIC_OR, s), \
    SIM_ATOMIC_BOTH(p, "xor", "xor", "b", run, ATOMIC_XOR, s), SIM_ATOMIC_BOTH(p, "inc", "inc", "u", run, ATOMIC_INC, s), \
    SIM_ATOMIC_BOTH(p, "dec", "dec", "u", run, ATOMIC_DEC, s), SIM_ATOMIC_BOTH(p, "fmin", "min", "f", run, ATOMIC_FMIN, s), \
    SIM_ATOMIC_BOTH(p, "fmax", "max", "f", run, ATOMIC_FMAX, s), SIM_ATOMIC_BOTH(p, "fcmpswap", "cmpswap", "f", run, ATOMIC_FCMPSWAP, s), \
    SIM_ATOMIC_ROW(p "min_num_f32", run, ATOMIC_FMIN, 4, s), SIM_ATOMIC_ROW(p "min_num_f64", run, ATOMIC_FMIN, 8, s), \
    SIM_ATOMIC_ROW(p "max_num_f32", run, ATOMIC_FMAX, 4, s), SIM_ATOMIC_ROW(p "max_num_f64", run, ATOMIC_FMAX, 8, s), \
    SIM_ATOMIC_ROW(p "add_f32", run, ATOMIC_FADD, 4, s), SIM_ATOMIC_ROW(p "add_f64", run, ATOMIC_FADD, 8, s), \
    SIM_ATOMIC_ROW(p "pk_add_f16", run, ATOMIC_PK_FADD_F16, 4, s), SIM_ATOMIC_ROW(p "pk_add_bf16", run, ATOMIC_PK_FADD_BF16, 4, s), \
    SIM_ATOMIC_ROW(p "csub", run, ATOMIC_SUB_CLAMP, 4, s), SIM_ATOMIC_ROW(p "csub_u32", run, ATOMIC_SUB_CLAMP, 4, s), \
    SIM_ATOMIC_ROW(p "sub_clamp_u32", run, ATOMIC_SUB_CLAMP, 4, s), SIM_ATOMIC_ROW(p "cond_sub_u32", run, ATOMIC_COND_SUB, 4, s)

#endif
