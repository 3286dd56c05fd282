/* ds.c - LDS instructions (AMD "RDNA3 Instruction Set Architecture", "Data Share Operations"; the MI300 document's "Local Data
 * Share Instructions").
 *
 * Both generations' names are here: ds_read_b32 and ds_load_b32, ds_write2st64 and ds_store_2addr_stride64. Loads and stores
 * need no alignment (HSA runs with unaligned access on), atomics need natural alignment. An address outside the block's LDS
 * is a fault, where hardware would read zero and drop stores. Float atomics follow MODE's denormal bits. Global data share is
 * not modelled.
 */
#include "runtime/sim/access.h"
#include "runtime/sim/atomic.h"

static void no_gds(sim_wave *w, const sim_insn *i)
{
    if (i->gds) sim_fault(w, SIM_UNSUPPORTED, -1, "global data share is not simulated");
}

/* Bytes added to a lane's address for its first (0) or second (1) access. */
static uint32_t offset_of(const sim_insn *i, uint32_t second)
{
    const uint32_t aux = i->op->aux;
    if (!(aux & ACCESS_PAIR)) return (uint32_t)i->offset;
    const uint32_t units = (uint32_t)(second ? i->offset1 : i->offset) & 0xff;
    return units * access_bytes(i) * (aux & ACCESS_STRIDE ? 64 : 1);
}

static void ds_load(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    const uint32_t aux = i->op->aux, bytes = access_bytes(i), offset = offset_of(i, 0), offset1 = offset_of(i, 1);
    const uint32_t *address = sim_row(w, &i->operands[1], 0);
    uint32_t *row = sim_row(w, &i->operands[0], 0), *row1 = row + bytes / 4 * SIM_LANES;
    SIM_EACH_LANE(w, lane) {
        const uint8_t *p = sim_lds(w, lane, address[lane] + offset, bytes);
        const uint8_t *q = aux & ACCESS_PAIR ? sim_lds(w, lane, address[lane] + offset1, bytes) : NULL;
        access_load(row, lane, p, aux);
        if (q) access_load(row1, lane, q, aux);
    }
}

static const uint32_t *data_row(sim_wave *w, const sim_operand *o) { return sim_row(w, o, 0); }

static void ds_store(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    const uint32_t aux = i->op->aux | (i->operands[1].half == 2 ? ACCESS_HIGH : 0), bytes = access_bytes(i);
    const uint32_t *address = sim_row(w, &i->operands[0], 0), *row = data_row(w, &i->operands[1]);
    const uint32_t *row1 = aux & ACCESS_PAIR ? data_row(w, &i->operands[2]) : NULL;
    SIM_EACH_LANE(w, lane) {
        access_store(row, lane, sim_lds(w, lane, address[lane] + offset_of(i, 0), bytes), aux);
        if (row1) access_store(row1, lane, sim_lds(w, lane, address[lane] + offset_of(i, 1), bytes), aux);
    }
}

static uint8_t *atomic_place(sim_wave *w, uint32_t lane, uint32_t address, uint32_t bytes)
{
    if (address % bytes) sim_fault_address(w, SIM_FAULT_MISALIGNED, (int32_t)lane, address, "LDS atomic");
    return sim_lds(w, lane, address, bytes);
}

/* [vdst,] address, data [, data] */
static void ds_atomic(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    const uint32_t aux = i->op->aux, bytes = access_bytes(i), first = aux & ACCESS_RETURN ? 1 : 0;
    const sim_atomic op = (sim_atomic)(aux >> ACCESS_OP & 0xff);
    const bool flush = !(w->mode >> 4 & 3) && op == ATOMIC_FADD && bytes == 4;
    const uint32_t *address = sim_row(w, &i->operands[first], 0), *data = sim_row(w, &i->operands[first + 1], 0);
    const uint32_t *second = aux & ACCESS_TWO ? sim_row(w, &i->operands[first + 2], 0) : data;
    uint32_t *row = first ? sim_row(w, &i->operands[0], 0) : NULL;
    if (aux & ACCESS_COMPARE_FIRST) {
        const uint32_t *swap = data;
        data = second;
        second = swap;
    }
    SIM_EACH_LANE(w, lane) {
        uint8_t *p = atomic_place(w, lane, address[lane] + (uint32_t)i->offset, bytes);
        const uint64_t old = sim_atomic_exchange(p, bytes, op, access_value(data, lane, bytes), access_value(second, lane, bytes), flush);
        if (row) access_put(row, lane, bytes, old);
    }
}

/* Exchange at two addresses: vdst, address, data, data. */
static void ds_exchange_pair(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    const uint32_t bytes = access_bytes(i);
    const uint32_t *address = sim_row(w, &i->operands[1], 0);
    const uint32_t *data[2] = {sim_row(w, &i->operands[2], 0), sim_row(w, &i->operands[3], 0)};
    SIM_EACH_LANE(w, lane) {
        uint64_t old[2];
        const uint32_t base = address[lane];
        for (uint32_t k = 0; k < 2; k++)
            old[k] = sim_atomic_exchange(atomic_place(w, lane, base + offset_of(i, k), bytes), bytes, ATOMIC_SWAP,
                                         access_value(data[k], lane, bytes), 0, false);
        for (uint32_t k = 0; k < 2; k++) access_put(sim_row(w, &i->operands[0], k * bytes / 4), lane, bytes, old[k]);
    }
}

/* A counter shared by the wave: adds or subtracts the number of executing lanes; all of them get the old value. */
static void ds_append(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    const uint64_t exec = sim_exec(w);
    if (!exec) return;
    const uint32_t lane0 = (uint32_t)__builtin_ctzll(exec), address = (w->sgpr[SIM_M0] & 0xffff) + (uint32_t)i->offset;
    const sim_atomic op = (sim_atomic)(i->op->aux >> ACCESS_OP & 0xff);
    const uint64_t old = sim_atomic_exchange(atomic_place(w, lane0, address, 4), 4, op, (uint64_t)__builtin_popcountll(exec), 0, false);
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane) row[lane] = (uint32_t)old;
}

/* Address from M0, the offset and the lane's number alone. */
static void ds_load_addtid(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane)
        access_load(row, lane, sim_lds(w, lane, (w->sgpr[SIM_M0] & 0xffff) + (uint32_t)i->offset + lane * 4, 4), 4);
}

static void ds_store_addtid(sim_wave *w, const sim_insn *i)
{
    no_gds(w, i);
    const uint32_t *row = sim_row(w, &i->operands[0], 0);
    SIM_EACH_LANE(w, lane)
        access_store(row, lane, sim_lds(w, lane, (w->sgpr[SIM_M0] & 0xffff) + (uint32_t)i->offset + lane * 4, 4), 4);
}

/* ------------------------------------------------------------ between lanes, no memory */

/* Pull: each lane names the lane that it reads; one that does not execute gives 0, or its value in the _fi form. */
static void ds_bpermute(sim_wave *w, const sim_insn *i)
{
    const uint32_t *address = sim_row(w, &i->operands[1], 0), *data = sim_row(w, &i->operands[2], 0);
    const uint64_t from = i->op->aux ? ~(uint64_t)0 : sim_exec(w);
    uint32_t *row = sim_row(w, &i->operands[0], 0), result[SIM_LANES];
    SIM_EACH_LANE(w, lane) {
        const uint32_t source = (address[lane] + (uint32_t)i->offset) / 4 % w->lanes;
        result[lane] = from >> source & 1 ? data[source] : 0;
    }
    SIM_EACH_LANE(w, lane) row[lane] = result[lane];
}

/* Push: each lane names the lane that it writes; the highest writer wins, a lane that nobody writes gets 0. */
static void ds_permute(sim_wave *w, const sim_insn *i)
{
    const uint32_t *address = sim_row(w, &i->operands[1], 0), *data = sim_row(w, &i->operands[2], 0);
    uint32_t *row = sim_row(w, &i->operands[0], 0), result[SIM_LANES] = {0};
    SIM_EACH_LANE(w, lane) result[(address[lane] + (uint32_t)i->offset) / 4 % w->lanes] = data[lane];
    SIM_EACH_LANE(w, lane) row[lane] = result[lane];
}

/* Lane that a lane reads: inside quads, or inside groups of 32 by masks or rotation. */
static uint32_t swizzle_source(uint32_t pattern, uint32_t lane)
{
    const uint32_t group = lane & ~31u, l = lane & 31;
    if (pattern >= 0xe000) return lane;                                   /* FFT: refused before */
    if (pattern >= 0xc000) {
        const uint32_t mask = pattern & 31, amount = pattern >> 5 & 31, moved = pattern & 0x400 ? l - amount : l + amount;
        return group | (l & mask) | (moved & ~mask & 31);
    }
    if (pattern & 0x8000) return (lane & ~3u) | (pattern >> lane % 4 * 2 & 3);
    return group | (((l & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31));
}

static void ds_swizzle(sim_wave *w, const sim_insn *i)
{
    const uint32_t pattern = (uint32_t)i->offset & 0xffff, *data = sim_row(w, &i->operands[1], 0);
    const uint64_t exec = sim_exec(w);
    uint32_t *row = sim_row(w, &i->operands[0], 0), result[SIM_LANES];
    if (pattern >= 0xe000) sim_fault(w, SIM_UNSUPPORTED, -1, "FFT swizzle is not simulated");
    SIM_EACH_LANE(w, lane) {
        const uint32_t source = swizzle_source(pattern, lane);
        result[lane] = exec >> source & 1 ? data[source] : 0;
    }
    SIM_EACH_LANE(w, lane) row[lane] = result[lane];
}

static void ds_nop(sim_wave *w, const sim_insn *i)
{
    (void)w;
    (void)i;
}

/* ------------------------------------------------------------ table */

#define WIDE {T_WIDE, T_WIDE, T_WIDE, T_WIDE}
#define ROW(name, run, aux) {name, run, SIM_CLASS_LDS, WIDE, aux, 0, 0}
#define ATOMIC_OP(op, bytes) ((uint32_t)(op) << ACCESS_OP | (bytes))
#define LOAD2(old, new, aux) ROW("ds_read_" old, ds_load, aux), ROW("ds_load_" new, ds_load, aux)
#define STORE2(old, aux) ROW("ds_write_" old, ds_store, aux), ROW("ds_store_" old, ds_store, aux)
/* name and type apart, since the returning form puts _rtn between them */
#define RMW(name, type, op, bytes, more) \
    ROW("ds_" name "_" type, ds_atomic, ATOMIC_OP(op, bytes) | (more)), ROW("ds_" name "_rtn_" type, ds_atomic, ATOMIC_OP(op, bytes) | ACCESS_RETURN | (more))
#define RMW_INT(name, letter, op) RMW(name, letter "32", op, 4, 0), RMW(name, letter "64", op, 8, 0)
#define RMW_TWO(name, letter, op, more) RMW(name, letter "32", op, 4, ACCESS_TWO | (more)), RMW(name, letter "64", op, 8, ACCESS_TWO | (more))
#define PAIRS(load, stride, more) \
    ROW(load "2" stride "_b32", ds_load, 4 | ACCESS_PAIR | (more)), ROW(load "2" stride "_b64", ds_load, 8 | ACCESS_PAIR | (more))

const sim_op sim_ds_ops[] = {
    LOAD2("b32", "b32", 4), LOAD2("b64", "b64", 8), LOAD2("b96", "b96", 12), LOAD2("b128", "b128", 16),
    LOAD2("u8", "u8", 1), LOAD2("i8", "i8", 1 | ACCESS_SIGNED), LOAD2("u16", "u16", 2), LOAD2("i16", "i16", 2 | ACCESS_SIGNED),
    LOAD2("u8_d16", "u8_d16", 1 | ACCESS_D16), LOAD2("u8_d16_hi", "u8_d16_hi", 1 | ACCESS_D16 | ACCESS_HIGH),
    LOAD2("i8_d16", "i8_d16", 1 | ACCESS_SIGNED | ACCESS_D16), LOAD2("i8_d16_hi", "i8_d16_hi", 1 | ACCESS_SIGNED | ACCESS_D16 | ACCESS_HIGH),
    LOAD2("u16_d16", "u16_d16", 2 | ACCESS_D16), LOAD2("u16_d16_hi", "u16_d16_hi", 2 | ACCESS_D16 | ACCESS_HIGH),
    PAIRS("ds_read", "", 0), PAIRS("ds_read", "st64", ACCESS_STRIDE),
    ROW("ds_load_2addr_b32", ds_load, 4 | ACCESS_PAIR), ROW("ds_load_2addr_b64", ds_load, 8 | ACCESS_PAIR),
    ROW("ds_load_2addr_stride64_b32", ds_load, 4 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_load_2addr_stride64_b64", ds_load, 8 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_read_addtid_b32", ds_load_addtid, 4), ROW("ds_load_addtid_b32", ds_load_addtid, 4),

    STORE2("b8", 1), STORE2("b16", 2), STORE2("b32", 4), STORE2("b64", 8), STORE2("b96", 12), STORE2("b128", 16),
    STORE2("b8_d16_hi", 1 | ACCESS_HIGH), STORE2("b16_d16_hi", 2 | ACCESS_HIGH),
    ROW("ds_write2_b32", ds_store, 4 | ACCESS_PAIR), ROW("ds_write2_b64", ds_store, 8 | ACCESS_PAIR),
    ROW("ds_write2st64_b32", ds_store, 4 | ACCESS_PAIR | ACCESS_STRIDE), ROW("ds_write2st64_b64", ds_store, 8 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_store_2addr_b32", ds_store, 4 | ACCESS_PAIR), ROW("ds_store_2addr_b64", ds_store, 8 | ACCESS_PAIR),
    ROW("ds_store_2addr_stride64_b32", ds_store, 4 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_store_2addr_stride64_b64", ds_store, 8 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_write_addtid_b32", ds_store_addtid, 4), ROW("ds_store_addtid_b32", ds_store_addtid, 4),

    RMW_INT("add", "u", ATOMIC_ADD), RMW_INT("sub", "u", ATOMIC_SUB), RMW_INT("rsub", "u", ATOMIC_RSUB),
    RMW_INT("inc", "u", ATOMIC_INC), RMW_INT("dec", "u", ATOMIC_DEC),
    RMW_INT("min", "i", ATOMIC_SMIN), RMW_INT("max", "i", ATOMIC_SMAX), RMW_INT("min", "u", ATOMIC_UMIN), RMW_INT("max", "u", ATOMIC_UMAX),
    RMW_INT("min", "f", ATOMIC_FMIN), RMW_INT("max", "f", ATOMIC_FMAX),
    RMW_INT("min_num", "f", ATOMIC_FMIN), RMW_INT("max_num", "f", ATOMIC_FMAX),
    RMW_INT("and", "b", ATOMIC_AND), RMW_INT("or", "b", ATOMIC_OR), RMW_INT("xor", "b", ATOMIC_XOR),
    RMW_INT("add", "f", ATOMIC_FADD), RMW("pk_add", "f16", ATOMIC_PK_FADD_F16, 4, 0), RMW("pk_add", "bf16", ATOMIC_PK_FADD_BF16, 4, 0),
    RMW("sub_clamp", "u32", ATOMIC_SUB_CLAMP, 4, 0), RMW("cond_sub", "u32", ATOMIC_COND_SUB, 4, 0),
    RMW_TWO("mskor", "b", ATOMIC_MSKOR, 0),
    /* gfx9, gfx10: compare, swap; from gfx11 on: swap, compare */
    RMW_TWO("cmpst", "b", ATOMIC_CMPSWAP, ACCESS_COMPARE_FIRST), RMW_TWO("cmpst", "f", ATOMIC_FCMPSWAP, ACCESS_COMPARE_FIRST),
    RMW_TWO("cmpstore", "b", ATOMIC_CMPSWAP, 0), RMW_TWO("cmpstore", "f", ATOMIC_FCMPSWAP, 0),
    RMW("wrxchg", "b32", ATOMIC_SWAP, 4, 0), RMW("wrxchg", "b64", ATOMIC_SWAP, 8, 0),
    RMW("storexchg", "b32", ATOMIC_SWAP, 4, 0), RMW("storexchg", "b64", ATOMIC_SWAP, 8, 0),
    ROW("ds_wrap_rtn_b32", ds_atomic, ATOMIC_OP(ATOMIC_WRAP, 4) | ACCESS_RETURN | ACCESS_TWO),
    ROW("ds_condxchg32_rtn_b64", ds_atomic, ATOMIC_OP(ATOMIC_CONDXCHG32, 8) | ACCESS_RETURN),
    ROW("ds_wrxchg2_rtn_b32", ds_exchange_pair, 4 | ACCESS_PAIR), ROW("ds_wrxchg2_rtn_b64", ds_exchange_pair, 8 | ACCESS_PAIR),
    ROW("ds_wrxchg2st64_rtn_b32", ds_exchange_pair, 4 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_wrxchg2st64_rtn_b64", ds_exchange_pair, 8 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_storexchg_2addr_rtn_b32", ds_exchange_pair, 4 | ACCESS_PAIR), ROW("ds_storexchg_2addr_rtn_b64", ds_exchange_pair, 8 | ACCESS_PAIR),
    ROW("ds_storexchg_2addr_stride64_rtn_b32", ds_exchange_pair, 4 | ACCESS_PAIR | ACCESS_STRIDE),
    ROW("ds_storexchg_2addr_stride64_rtn_b64", ds_exchange_pair, 8 | ACCESS_PAIR | ACCESS_STRIDE),

    ROW("ds_append", ds_append, ATOMIC_OP(ATOMIC_ADD, 4)), ROW("ds_consume", ds_append, ATOMIC_OP(ATOMIC_SUB, 4)),
    ROW("ds_bpermute_b32", ds_bpermute, 0), ROW("ds_bpermute_fi_b32", ds_bpermute, 1), ROW("ds_permute_b32", ds_permute, 0),
    ROW("ds_swizzle_b32", ds_swizzle, 0),
    ROW("ds_nop", ds_nop, 0),
    {0},
};
