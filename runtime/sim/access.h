/* access.h - one lane's access to memory, common to LDS and vector memory instructions.
 *
 * A table row's `aux` describes the access. Parts of a register pair or quad are moved as whole words, so that a
 * value of 4 or 8 aligned bytes is never seen half written by another block (the amount that the memory model of LLVM's
 * "User Guide for AMDGPU Backend" needs).
 */
#ifndef SIM_ACCESS_H
#define SIM_ACCESS_H

#include "runtime/sim/internal.h"

enum {
    ACCESS_BYTES = 0xff,                 /* mask: size in memory */
    ACCESS_SIGNED = 1 << 8,              /* a narrow value is sign-extended */
    ACCESS_D16 = 1 << 9,                 /* loads write one half of the register and keep the other */
    ACCESS_HIGH = 1 << 10,               /* loads: that half is the upper one; stores: data comes from bits 31:16 */
    ACCESS_RETURN = 1 << 11,             /* LDS atomics: the form that returns the old value */
    ACCESS_PAIR = 1 << 12,               /* LDS: two addresses in units of the size */
    ACCESS_STRIDE = 1 << 13,             /* … of 64 times the size */
    ACCESS_TWO = 1 << 14,                /* LDS atomics with two data operands */
    ACCESS_COMPARE_FIRST = 1 << 15,      /* … whose first is what memory is compared with */
    ACCESS_OP = 16,                      /* shift: sim_atomic */
    ACCESS_SEGMENT = 24                  /* shift */
};

static inline uint32_t access_bytes(const sim_insn *i) { return i->op->aux & ACCESS_BYTES; }

#define SIM_EACH_LANE(w, lane) \
    for (uint64_t mask_ = sim_exec(w); mask_; mask_ &= mask_ - 1) \
        for (uint32_t lane = (uint32_t)__builtin_ctzll(mask_), once_ = 1; once_; once_ = 0)

static inline uint32_t access_load32(const uint8_t *p)
{
    uint32_t v;
    if ((uintptr_t)p % 4 == 0) return __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_RELAXED);
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t access_load16(const uint8_t *p)
{
    uint16_t v;
    if ((uintptr_t)p % 2 == 0) return __atomic_load_n((const uint16_t *)(const void *)p, __ATOMIC_RELAXED);
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void access_store32(uint8_t *p, uint32_t v)
{
    if ((uintptr_t)p % 4 == 0) __atomic_store_n((uint32_t *)(void *)p, v, __ATOMIC_RELAXED);
    else memcpy(p, &v, sizeof v);
}

static inline void access_store16(uint8_t *p, uint16_t v)
{
    if ((uintptr_t)p % 2 == 0) __atomic_store_n((uint16_t *)(void *)p, v, __ATOMIC_RELAXED);
    else memcpy(p, &v, sizeof v);
}

/* The register after a load of at most 4 bytes. */
static inline uint32_t access_narrow(const uint8_t *p, uint32_t aux, uint32_t before)
{
    uint32_t v;
    switch (aux & ACCESS_BYTES) {
    case 1:
        v = __atomic_load_n(p, __ATOMIC_RELAXED);
        if (aux & ACCESS_SIGNED) v = (uint32_t)(int32_t)(int8_t)v;
        break;
    case 2:
        v = access_load16(p);
        if (aux & ACCESS_SIGNED) v = (uint32_t)(int32_t)(int16_t)v;
        break;
    default: return access_load32(p);
    }
    if (!(aux & ACCESS_D16)) return v;
    return aux & ACCESS_HIGH ? (before & 0xffff) | v << 16 : (before & 0xffff0000) | (v & 0xffff);
}

/* Memory at p to register row + 64 k, k = 0… */
static inline void access_load(uint32_t *row, uint32_t lane, const uint8_t *p, uint32_t aux)
{
    const uint32_t bytes = aux & ACCESS_BYTES;
    uint32_t k = 0;
    if (bytes <= 4) {
        row[lane] = access_narrow(p, aux, row[lane]);
        return;
    }
    for (; k + 8 <= bytes && (uintptr_t)p % 8 == 0; k += 8) {
        const uint64_t v = __atomic_load_n((const uint64_t *)(const void *)(p + k), __ATOMIC_RELAXED);
        row[k / 4 * SIM_LANES + lane] = (uint32_t)v;
        row[(k / 4 + 1) * SIM_LANES + lane] = (uint32_t)(v >> 32);
    }
    for (; k < bytes; k += 4) row[k / 4 * SIM_LANES + lane] = access_load32(p + k);
}

static inline void access_store(const uint32_t *row, uint32_t lane, uint8_t *p, uint32_t aux)
{
    const uint32_t bytes = aux & ACCESS_BYTES;
    const uint32_t low = aux & ACCESS_HIGH ? row[lane] >> 16 : row[lane];
    uint32_t k = 0;
    if (bytes == 1) __atomic_store_n(p, (uint8_t)low, __ATOMIC_RELAXED);
    if (bytes == 2) access_store16(p, (uint16_t)low);
    if (bytes < 4) return;
    for (; k + 8 <= bytes && (uintptr_t)p % 8 == 0; k += 8)
        __atomic_store_n((uint64_t *)(void *)(p + k), row[k / 4 * SIM_LANES + lane] | (uint64_t)row[(k / 4 + 1) * SIM_LANES + lane] << 32,
                         __ATOMIC_RELAXED);
    for (; k < bytes; k += 4) access_store32(p + k, row[k / 4 * SIM_LANES + lane]);
}

/* A lane's 32 or 64 bits of a register operand. */
static inline uint64_t access_value(const uint32_t *row, uint32_t lane, uint32_t bytes)
{
    return bytes == 8 ? row[lane] | (uint64_t)row[SIM_LANES + lane] << 32 : row[lane];
}

static inline void access_put(uint32_t *row, uint32_t lane, uint32_t bytes, uint64_t value)
{
    row[lane] = (uint32_t)value;
    if (bytes == 8) row[SIM_LANES + lane] = (uint32_t)(value >> 32);
}

#endif
