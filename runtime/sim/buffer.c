/* buffer.c - BUFFER instructions with plain data (AMD "RDNA2 Instruction Set Architecture", "Vector Memory Buffer Instructions"; the MI300
 * document's "Buffer Addressing"), and the cache operations that carry the name.
 *
 * Text: data, address (off, or the index and/or offset registers), resource, scalar offset. A resource without
 * swizzle is a range of memory: bytes outside give zero and drop stores. One that adds the lane's number is the private
 * segment, as compilers for gfx9 and gfx10 use it: the lane's own scratch, where the scalar offset counts for
 * the whole wave. Other swizzles, formats and texels stop the launch.
 */
#include "runtime/sim/access.h"
#include "runtime/sim/atomic.h"
#include "runtime/sim/vmem.h"

typedef struct resource {
    uint64_t base;
    uint32_t stride, records;
    bool swizzle, add_lane;
} resource;

static resource resource_of(const sim_wave *w, const sim_operand *o)
{
    const uint32_t *s = &w->sgpr[o->index];
    return (resource){s[0] | (uint64_t)(s[1] & 0xffff) << 32, s[1] >> 16 & 0x3fff, s[2], s[1] >> 30 != 0, (s[3] >> 23 & 1) != 0};
}

typedef struct place {
    resource resource;
    const uint32_t *index, *offset;      /* rows; NULL where the text has none */
    uint32_t scalar, immediate;
} place;

static place place_of(sim_wave *w, const sim_insn *i)
{
    const sim_operand *v = &i->operands[1], *r = &i->operands[2], *s = &i->operands[3];
    if (i->noperands < 4 || r->kind != SIM_OP_SGPR) sim_fault(w, SIM_UNSUPPORTED, -1, "unknown form of a buffer instruction");
    place a = {.resource = resource_of(w, r), .scalar = sim_read_s32(w, s), .immediate = (uint32_t)i->offset};
    uint32_t k = 0;
    if (i->idxen) a.index = sim_row(w, v, k++);
    if (i->offen) a.offset = sim_row(w, v, k);
    if (a.resource.swizzle && !a.resource.add_lane) sim_fault(w, SIM_UNSUPPORTED, -1, "swizzled buffers are not simulated");
    return a;
}

/* NULL: outside the buffer. */
static uint8_t *place_pointer(sim_wave *w, const place *a, uint32_t lane, uint32_t bytes)
{
    const uint64_t offset = (uint64_t)(a->offset ? a->offset[lane] : 0) + a->immediate, index = a->index ? a->index[lane] : 0;
    if (a->resource.add_lane) return sim_scratch(w, lane, (uint32_t)offset + a->scalar / w->lanes, bytes);
    if (a->index && a->resource.stride) {
        if (index >= a->resource.records || offset + bytes > a->resource.stride) return NULL;
    } else if (offset + bytes > a->resource.records) {
        return NULL;
    }
    return sim_global(w, lane, a->resource.base + index * a->resource.stride + offset + a->scalar, bytes);
}

static void buffer_load(sim_wave *w, const sim_insn *i)
{
    static const uint8_t zeros[16];
    if (i->lds) sim_fault(w, SIM_UNSUPPORTED, -1, "buffer loads into LDS are not simulated");
    const uint32_t aux = i->op->aux, bytes = access_bytes(i);
    const place a = place_of(w, i);
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane) {
        const uint8_t *p = place_pointer(w, &a, lane, bytes);
        access_load(row, lane, p ? p : zeros, aux);
    }
}

static void buffer_store(sim_wave *w, const sim_insn *i)
{
    const uint32_t aux = i->op->aux, bytes = access_bytes(i);
    const place a = place_of(w, i);
    const uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane) {
        uint8_t *p = place_pointer(w, &a, lane, bytes);
        if (p) access_store(row, lane, p, aux);
    }
}

static void buffer_atomic(sim_wave *w, const sim_insn *i)
{
    const uint32_t bytes = access_bytes(i);
    const sim_atomic op = (sim_atomic)(i->op->aux >> ACCESS_OP & 0xff);
    const bool compares = op == ATOMIC_CMPSWAP || op == ATOMIC_FCMPSWAP, flush = op == ATOMIC_FADD && bytes == 4 && sim_memory_add_flushes(w);
    const place a = place_of(w, i);
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    const uint32_t *second = compares ? sim_row(w, &i->operands[0], bytes / 4) : row;
    SIM_EACH_LANE(w, lane) {
        uint8_t *p = place_pointer(w, &a, lane, bytes);
        uint64_t old = 0;
        if (p && (uintptr_t)p % bytes) sim_fault_address(w, SIM_FAULT_MISALIGNED, (int32_t)lane, (uint64_t)(uintptr_t)p, "atomic");
        if (p) old = sim_atomic_exchange(p, bytes, op, access_value(row, lane, bytes), access_value(second, lane, bytes), flush);
        if (i->returns) access_put(row, lane, bytes, old);
    }
}

/* ------------------------------------------------------------ table */

#define WIDE {T_WIDE, T_WIDE, T_WIDE, T_B32}
#define ROW(name, run, aux) {name, run, SIM_CLASS_VMEM, WIDE, aux, 0, 0}
#define NOTHING(name) {name, sim_cache_operation, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0}

const sim_op sim_buffer_ops[] = {
    SIM_LOAD_NAMES("buffer_load_", buffer_load, 0),
    SIM_STORE_NAMES("buffer_store_", buffer_store, 0),
    SIM_ATOMIC_NAMES("buffer_atomic_", buffer_atomic, 0),
    NOTHING("buffer_inv"), NOTHING("buffer_wbl2"), NOTHING("buffer_invl2"), NOTHING("buffer_gl0_inv"), NOTHING("buffer_gl1_inv"),
    NOTHING("buffer_wbinvl1"), NOTHING("buffer_wbinvl1_vol"), NOTHING("buffer_wbinvl1_sc"),
    {0},
};
