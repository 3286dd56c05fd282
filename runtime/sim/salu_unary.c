/* salu_unary.c - SOP1: moves, bit counting, saveexec, and moves by M0.
 *
 * Meanings: AMD "RDNA3 Instruction Set Architecture", 16.3; "RDNA4 …", 16.3; "AMD Instinct MI300 …", 12.3.
 */
#include "runtime/sim/salu.h"

/* ------------------------------------------------------------ moves and bits */

UNARY_KEEP(mov_b32, 32, 32, a)
UNARY_KEEP(mov_b64, 64, 64, a)
UNARY(not_b32, 32, 32, ~a, d != 0)
UNARY(not_b64, 64, 64, ~a, d != 0)
UNARY_KEEP(sext_i8, 32, 32, (int32_t)(int8_t)a)
UNARY_KEEP(sext_i16, 32, 32, (int32_t)(int16_t)a)
UNARY(abs_i32, 32, 32, (int32_t)a < 0 ? 0u - a : a, d != 0)

static void cmov_b32(sim_wave *w, const sim_insn *i) { if (w->scc) PUT32(SRC32(1)); }
static void cmov_b64(sim_wave *w, const sim_insn *i) { if (w->scc) PUT64(SRC64(1)); }

static uint64_t reverse(uint64_t v, uint32_t bits)
{
    uint64_t r = 0;
    for (uint32_t k = 0; k < bits; k++)
        r |= (v >> k & 1) << (bits - 1 - k);
    return r;
}

UNARY_KEEP(brev_b32, 32, 32, reverse(a, 32))
UNARY_KEEP(brev_b64, 64, 64, reverse(a, 64))

/* A quad's four bits: any of them as one bit, or spread over all four. */
static uint64_t quads(uint64_t v)
{
    uint64_t r = 0;
    for (uint32_t q = 0; q < 16; q++)
        r |= (uint64_t)((v >> 4 * q & 15) != 0) << q;
    return r;
}

static uint64_t whole_quads(uint64_t v)
{
    uint64_t r = 0;
    for (uint32_t q = 0; q < 16; q++)
        if (v >> 4 * q & 15) r |= (uint64_t)15 << 4 * q;
    return r;
}

UNARY(quadmask_b32, 32, 32, quads(a), d != 0)
UNARY(quadmask_b64, 64, 64, quads(a), d != 0)
UNARY(wqm_b32, 32, 32, whole_quads(a), d != 0)
UNARY(wqm_b64, 64, 64, whole_quads(a), d != 0)

static uint64_t double_bits(uint32_t v)
{
    uint64_t r = 0;
    for (uint32_t k = 0; k < 32; k++)
        r |= (v >> k & 1 ? (uint64_t)3 : 0) << 2 * k;
    return r;
}

UNARY_KEEP(bitreplicate, 32, 64, double_bits(a))

/* ------------------------------------------------------------ counting; -1 where there is nothing to find */

static uint32_t first_one(uint64_t v) { return v ? (uint32_t)__builtin_ctzll(v) : UINT32_MAX; }
static uint32_t leading_zeros(uint64_t v, uint32_t bits) { return v ? (uint32_t)__builtin_clzll(v) - (64 - bits) : UINT32_MAX; }

/* Bits below the sign that equal it, and the sign itself; all equal: -1. */
static uint32_t sign_run(uint64_t v, uint32_t bits)
{
    if (bits == 32) v = (uint64_t)(int64_t)(int32_t)v;
    return leading_zeros((int64_t)v < 0 ? ~v : v, 64) == UINT32_MAX ? UINT32_MAX
                                                                    : leading_zeros((int64_t)v < 0 ? ~v : v, 64) - (64 - bits);
}

UNARY(bcnt0_b32, 32, 32, 32 - __builtin_popcount(a), d != 0)
UNARY(bcnt1_b32, 32, 32, __builtin_popcount(a), d != 0)
UNARY(bcnt0_b64, 64, 32, 64 - __builtin_popcountll(a), d != 0)
UNARY(bcnt1_b64, 64, 32, __builtin_popcountll(a), d != 0)
UNARY_KEEP(ff0_b32, 32, 32, first_one((uint32_t)~a))
UNARY_KEEP(ff0_b64, 64, 32, first_one(~a))
UNARY_KEEP(ff1_b32, 32, 32, first_one(a))
UNARY_KEEP(ff1_b64, 64, 32, first_one(a))
UNARY_KEEP(flbit_b32, 32, 32, leading_zeros(a, 32))
UNARY_KEEP(flbit_b64, 64, 32, leading_zeros(a, 64))
UNARY_KEEP(flbit_i32, 32, 32, sign_run(a, 32))
UNARY_KEEP(flbit_i64, 64, 32, sign_run(a, 64))

static void bitset0_b32(sim_wave *w, const sim_insn *i) { PUT32(SRC32(0) & ~(1u << (SRC32(1) & 31))); }
static void bitset1_b32(sim_wave *w, const sim_insn *i) { PUT32(SRC32(0) | 1u << (SRC32(1) & 31)); }
static void bitset0_b64(sim_wave *w, const sim_insn *i) { PUT64(SRC64(0) & ~((uint64_t)1 << (SRC32(1) & 63))); }
static void bitset1_b64(sim_wave *w, const sim_insn *i) { PUT64(SRC64(0) | (uint64_t)1 << (SRC32(1) & 63)); }

/* ------------------------------------------------------------ EXEC: the old one to d, or the new one (wrexec) */

static void set_exec64(sim_wave *w, const sim_insn *i, uint64_t exec, bool save)
{
    uint64_t old = sim_pair(w, SIM_EXEC);
    sim_set_pair(w, SIM_EXEC, exec);
    w->scc = exec != 0;
    PUT64(save ? old : exec);
}

static void set_exec32(sim_wave *w, const sim_insn *i, uint32_t exec, bool save)
{
    uint32_t old = w->sgpr[SIM_EXEC];
    w->sgpr[SIM_EXEC] = exec;
    w->scc = exec != 0;
    PUT32(save ? old : exec);
}

#define EXEC_OP(name, value, save)                                                                                    \
    static void name##_b32(sim_wave *w, const sim_insn *i)                                                            \
    {                                                                                                                 \
        const uint32_t a = SRC32(1), e = w->sgpr[SIM_EXEC];                                                           \
        set_exec32(w, i, (value), save);                                                                              \
    }                                                                                                                 \
    static void name##_b64(sim_wave *w, const sim_insn *i)                                                            \
    {                                                                                                                 \
        const uint64_t a = SRC64(1), e = sim_pair(w, SIM_EXEC);                                                       \
        set_exec64(w, i, (value), save);                                                                              \
    }

EXEC_OP(and_save, a & e, true)
EXEC_OP(or_save, a | e, true)
EXEC_OP(xor_save, a ^ e, true)
EXEC_OP(nand_save, ~(a & e), true)
EXEC_OP(nor_save, ~(a | e), true)
EXEC_OP(xnor_save, ~(a ^ e), true)
EXEC_OP(andn1_save, ~a & e, true)
EXEC_OP(orn1_save, ~a | e, true)
EXEC_OP(andn2_save, a & ~e, true)
EXEC_OP(orn2_save, a | ~e, true)
EXEC_OP(andn1_write, ~a & e, false)
EXEC_OP(andn2_write, a & ~e, false)

/* ------------------------------------------------------------ registers by M0 */

/* The operand that lies M0 registers further. */
static sim_operand relative(sim_wave *w, const sim_operand *o, uint32_t distance, uint32_t count)
{
    sim_operand r = *o;
    uint64_t index = (uint64_t)o->index + distance;
    if (o->kind != SIM_OP_SGPR || index + count > SIM_VCC) sim_fault(w, SIM_FAULT_ADDRESS, -1, "scalar register out of range");
    r.index = (uint16_t)index;
    return r;
}

static void movrels_b32(sim_wave *w, const sim_insn *i)
{
    sim_operand from = relative(w, &i->operands[1], w->sgpr[SIM_M0], 1);
    PUT32(sim_read_s32(w, &from));
}

static void movrels_b64(sim_wave *w, const sim_insn *i)
{
    sim_operand from = relative(w, &i->operands[1], w->sgpr[SIM_M0], 2);
    PUT64(sim_read_s64(w, &from));
}

static void movreld_b32(sim_wave *w, const sim_insn *i)
{
    sim_operand to = relative(w, &i->operands[0], w->sgpr[SIM_M0], 1);
    sim_write_s32(w, &to, SRC32(1));
}

static void movreld_b64(sim_wave *w, const sim_insn *i)
{
    sim_operand to = relative(w, &i->operands[0], w->sgpr[SIM_M0], 2);
    sim_write_s64(w, &to, SRC64(1));
}

/* Source index in M0's bits 9:0, destination's in 25:16. */
static void movrelsd_2_b32(sim_wave *w, const sim_insn *i)
{
    uint32_t m0 = w->sgpr[SIM_M0];
    sim_operand from = relative(w, &i->operands[1], m0 & 0x3ff, 1), to = relative(w, &i->operands[0], m0 >> 16 & 0x3ff, 1);
    sim_write_s32(w, &to, sim_read_s32(w, &from));
}

/* ------------------------------------------------------------ rows */

#define ROW32(name, run) SALU_ROW(name, run, T_B32, T_B32)
#define ROW64(name, run) SALU_ROW(name, run, T_B64, T_B64)
#define ROW32_64(name, run) SALU_ROW(name, run, T_B32, T_B64)
#define ROWEXEC(name, run) ROW32(name "_b32", run##_b32), ROW64(name "_b64", run##_b64)

const sim_op sim_salu_unary_ops[] = {
    ROW32("s_mov_b32", mov_b32), ROW64("s_mov_b64", mov_b64), ROW32("s_cmov_b32", cmov_b32), ROW64("s_cmov_b64", cmov_b64),
    ROW32("s_not_b32", not_b32), ROW64("s_not_b64", not_b64), ROW32("s_sext_i32_i8", sext_i8), ROW32("s_sext_i32_i16", sext_i16),
    ROW32("s_abs_i32", abs_i32), ROW32("s_brev_b32", brev_b32), ROW64("s_brev_b64", brev_b64),
    ROW32("s_quadmask_b32", quadmask_b32), ROW64("s_quadmask_b64", quadmask_b64), ROW32("s_wqm_b32", wqm_b32),
    ROW64("s_wqm_b64", wqm_b64), SALU_ROW("s_bitreplicate_b64_b32", bitreplicate, T_B64, T_B32),
    ROW32("s_bcnt0_i32_b32", bcnt0_b32), ROW32("s_bcnt1_i32_b32", bcnt1_b32), ROW32_64("s_bcnt0_i32_b64", bcnt0_b64),
    ROW32_64("s_bcnt1_i32_b64", bcnt1_b64), ROW32("s_ff0_i32_b32", ff0_b32), ROW32_64("s_ff0_i32_b64", ff0_b64),
    ROW32("s_ff1_i32_b32", ff1_b32), ROW32_64("s_ff1_i32_b64", ff1_b64), ROW32("s_ctz_i32_b32", ff1_b32),
    ROW32_64("s_ctz_i32_b64", ff1_b64), ROW32("s_flbit_i32_b32", flbit_b32), ROW32_64("s_flbit_i32_b64", flbit_b64),
    ROW32("s_clz_i32_u32", flbit_b32), ROW32_64("s_clz_i32_u64", flbit_b64), ROW32("s_flbit_i32", flbit_i32),
    ROW32_64("s_flbit_i32_i64", flbit_i64), ROW32("s_cls_i32", flbit_i32), ROW32_64("s_cls_i32_i64", flbit_i64),
    ROW32("s_bitset0_b32", bitset0_b32), ROW32("s_bitset1_b32", bitset1_b32),
    SALU_ROW("s_bitset0_b64", bitset0_b64, T_B64, T_B32), SALU_ROW("s_bitset1_b64", bitset1_b64, T_B64, T_B32),
    ROWEXEC("s_and_saveexec", and_save), ROWEXEC("s_or_saveexec", or_save), ROWEXEC("s_xor_saveexec", xor_save),
    ROWEXEC("s_nand_saveexec", nand_save), ROWEXEC("s_nor_saveexec", nor_save), ROWEXEC("s_xnor_saveexec", xnor_save),
    ROWEXEC("s_andn1_saveexec", andn1_save), ROWEXEC("s_and_not0_saveexec", andn1_save),
    ROWEXEC("s_orn1_saveexec", orn1_save), ROWEXEC("s_or_not0_saveexec", orn1_save),
    ROWEXEC("s_andn2_saveexec", andn2_save), ROWEXEC("s_and_not1_saveexec", andn2_save),
    ROWEXEC("s_orn2_saveexec", orn2_save), ROWEXEC("s_or_not1_saveexec", orn2_save),
    ROWEXEC("s_andn1_wrexec", andn1_write), ROWEXEC("s_and_not0_wrexec", andn1_write),
    ROWEXEC("s_andn2_wrexec", andn2_write), ROWEXEC("s_and_not1_wrexec", andn2_write),
    ROW32("s_movrels_b32", movrels_b32), ROW64("s_movrels_b64", movrels_b64), ROW32("s_movreld_b32", movreld_b32),
    ROW64("s_movreld_b64", movreld_b64), ROW32("s_movrelsd_2_b32", movrelsd_2_b32),
    {0},
};
