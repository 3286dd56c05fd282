/* vmem.c - FLAT, GLOBAL and SCRATCH instructions, and the operations on caches (AMD "RDNA3 Instruction Set Architecture", "Flat,
 * Scratch and Global"; the MI300 document's "Flat Memory Instructions"; LLVM's "User Guide for AMDGPU Backend").
 *
 * Names of all generations: global_load_dword and global_load_b32, global_atomic_umax_x2 and global_atomic_max_u64. Loads and
 * stores need no alignment (HSA runs with unaligned access on), atomics need natural alignment. f32 atomic add in memory
 * flushes subnormals where LLVM's target description has no "denormal support" for it: everywhere but on gfx942, gfx950 and
 * gfx12. Caches are not modelled: a write-back or invalidation is a fence.
 */
#include "runtime/sim/access.h"
#include "runtime/sim/atomic.h"
#include "runtime/sim/vmem.h"

typedef enum segment { SEGMENT_FLAT, SEGMENT_GLOBAL, SEGMENT_SCRATCH } segment;

/* Where lanes go: base + low[lane] + high[lane] << 32; NULL rows count as 0. */
typedef struct place {
    segment segment;
    uint64_t base;
    const uint32_t *low, *high;
} place;

/* The address operand and, but for flat, the scalar one after it. */
static place place_of(sim_wave *w, const sim_insn *i, uint32_t vector, uint32_t scalar)
{
    place a = {(segment)(i->op->aux >> ACCESS_SEGMENT), (uint64_t)(int64_t)i->offset, NULL, NULL};
    const sim_operand *v = &i->operands[vector], *s = scalar < i->noperands ? &i->operands[scalar] : NULL;
    const bool has_scalar = s && s->kind == SIM_OP_SGPR && s->index != SIM_NULL;
    if (v->kind == SIM_OP_VGPR) a.low = sim_row(w, v, 0);
    if (a.segment == SEGMENT_SCRATCH) {
        if (has_scalar) a.base += sim_read_s32(w, s);
    } else if (has_scalar) {
        a.base += sim_read_s64(w, s);
    } else if (a.low) {
        a.high = sim_row(w, v, 1);
    }
    return a;
}

static inline uint64_t place_address(const place *a, uint32_t lane)
{
    uint64_t address = a->base;
    if (a->low) address += a->low[lane];
    if (a->high) address += (uint64_t)a->high[lane] << 32;
    return address;
}

static uint8_t *place_pointer(sim_wave *w, const place *a, uint32_t lane, uint32_t bytes)
{
    const uint64_t address = place_address(a, lane);
    if (a->segment == SEGMENT_SCRATCH) return sim_scratch(w, lane, (uint32_t)address, bytes);
    /* the allocation that was met last saves the search */
    if (address - w->range_base < w->range_bytes && bytes <= w->range_bytes - (address - w->range_base)) return (uint8_t *)(uintptr_t)address;
    return a->segment == SEGMENT_FLAT ? sim_flat(w, lane, address, bytes) : sim_global(w, lane, address, bytes);
}

static void vmem_load(sim_wave *w, const sim_insn *i)
{
    const uint32_t aux = i->op->aux, bytes = access_bytes(i);
    const place a = place_of(w, i, 1, 2);
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane) access_load(row, lane, place_pointer(w, &a, lane, bytes), aux);
}

static void vmem_store(sim_wave *w, const sim_insn *i)
{
    const uint32_t aux = i->op->aux | (i->operands[1].half == 2 ? ACCESS_HIGH : 0), bytes = access_bytes(i);
    const place a = place_of(w, i, 0, 2);
    const uint32_t *row = sim_row(w, &i->operands[1], 0);
    SIM_EACH_LANE(w, lane) access_store(row, lane, place_pointer(w, &a, lane, bytes), aux);
}

bool sim_memory_add_flushes(const sim_wave *w)
{
    const char *name = w->target->name;
    return w->target->generation != SIM_GFX12 && strcmp(name, "gfx942") && strcmp(name, "gfx950");
}

/* [vdst,] address, data [, scalar address]: the old value is wanted exactly when vdst is there. */
static void vmem_atomic(sim_wave *w, const sim_insn *i)
{
    const uint32_t bytes = access_bytes(i), first = i->returns ? 1 : 0;
    const sim_atomic op = (sim_atomic)(i->op->aux >> ACCESS_OP & 0xff);
    const bool flush = op == ATOMIC_FADD && bytes == 4 && sim_memory_add_flushes(w), compares = op == ATOMIC_CMPSWAP || op == ATOMIC_FCMPSWAP;
    const place a = place_of(w, i, first, first + 2);
    const uint32_t *data = sim_row(w, &i->operands[first + 1], 0);
    const uint32_t *second = compares ? sim_row(w, &i->operands[first + 1], bytes / 4) : data;    /* new value, then the one to compare with */
    uint32_t *row = first ? sim_row(w, &i->operands[0], 0) : NULL;
    SIM_EACH_LANE(w, lane) {
        const uint64_t address = place_address(&a, lane);
        if (address % bytes) sim_fault_address(w, SIM_FAULT_MISALIGNED, (int32_t)lane, address, "atomic");
        uint8_t *p = place_pointer(w, &a, lane, bytes);
        const uint64_t old = sim_atomic_exchange(p, bytes, op, access_value(data, lane, bytes), access_value(second, lane, bytes), flush);
        if (row) access_put(row, lane, bytes, old);
    }
}

/* Memory to LDS without registers: a lane's words go to M0 + offset + its number times the size (at least 4 bytes). */
static void vmem_load_lds(sim_wave *w, const sim_insn *i)
{
    const uint32_t aux = i->op->aux, bytes = access_bytes(i), step = bytes < 4 ? 4 : bytes;
    const place a = place_of(w, i, 0, 1);
    SIM_EACH_LANE(w, lane) {
        uint32_t words[4 * SIM_LANES];
        access_load(words, lane, place_pointer(w, &a, lane, bytes), aux);
        access_store(words, lane, sim_lds(w, lane, (w->sgpr[SIM_M0] & 0xffff) + (uint32_t)i->offset + lane * step, step), step);
    }
}

/* Address: scalar base, offset and four bytes a lane. */
static void vmem_addtid(sim_wave *w, const sim_insn *i)
{
    const bool store = i->op->aux & ACCESS_RETURN;
    const sim_operand *s = &i->operands[1];
    const uint64_t base = (s->kind == SIM_OP_SGPR ? sim_read_s64(w, s) : 0) + (uint64_t)(int64_t)i->offset;
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane) {
        uint8_t *p = sim_global(w, lane, base + lane * 4, 4);
        if (store) access_store(row, lane, p, 4);
        else access_load(row, lane, p, 4);
    }
}

void sim_cache_operation(sim_wave *w, const sim_insn *i)
{
    (void)w;
    (void)i;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------ table */

#define WIDE {T_WIDE, T_WIDE, T_WIDE, T_WIDE}
#define ROW(name, run, aux) {name, run, SIM_CLASS_VMEM, WIDE, aux, 0, 0}
#define IN(segment) ((uint32_t)SEGMENT_##segment << ACCESS_SEGMENT)
#define LOADS(prefix, s) \
    SIM_LOAD_NAMES(prefix "_load_", vmem_load, IN(s))
#define STORES(prefix, s) \
    SIM_STORE_NAMES(prefix "_store_", vmem_store, IN(s))
#define ATOMICS(prefix, s) SIM_ATOMIC_NAMES(prefix "_atomic_", vmem_atomic, IN(s))
#define LDS_LOADS(prefix, s) \
    ROW(prefix "_load_lds_dword", vmem_load_lds, 4 | IN(s)), ROW(prefix "_load_lds_ubyte", vmem_load_lds, 1 | IN(s)), \
    ROW(prefix "_load_lds_sbyte", vmem_load_lds, 1 | ACCESS_SIGNED | IN(s)), ROW(prefix "_load_lds_ushort", vmem_load_lds, 2 | IN(s)), \
    ROW(prefix "_load_lds_sshort", vmem_load_lds, 2 | ACCESS_SIGNED | IN(s)), ROW(prefix "_load_lds_dwordx3", vmem_load_lds, 12 | IN(s)), \
    ROW(prefix "_load_lds_dwordx4", vmem_load_lds, 16 | IN(s))
#define NOTHING(name) {name, sim_cache_operation, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0}

const sim_op sim_vmem_ops[] = {
    LOADS("flat", FLAT), LOADS("global", GLOBAL), LOADS("scratch", SCRATCH),
    STORES("flat", FLAT), STORES("global", GLOBAL), STORES("scratch", SCRATCH),
    ATOMICS("flat", FLAT), ATOMICS("global", GLOBAL),
    LDS_LOADS("global", GLOBAL), LDS_LOADS("scratch", SCRATCH),
    ROW("global_load_dword_addtid", vmem_addtid, 4), ROW("global_load_addtid_b32", vmem_addtid, 4),
    ROW("global_store_dword_addtid", vmem_addtid, 4 | ACCESS_RETURN), ROW("global_store_addtid_b32", vmem_addtid, 4 | ACCESS_RETURN),
    NOTHING("global_inv"), NOTHING("global_wb"), NOTHING("global_wbinv"),
    NOTHING("global_prefetch_b8"), NOTHING("flat_prefetch_b8"),
    {0},
};
