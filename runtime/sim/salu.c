/* salu.c - scalar operands and the integer SALU: SOP2, SOPC, SOPK (SOP1 is salu_unary.c).
 *
 * Meanings: AMD "RDNA3 Instruction Set Architecture", 16.1 to 16.4; "RDNA4 …", the same chapter; "AMD Instinct MI300
 * …", 12.1 to 12.4. gfx11 and gfx12 renamed many of gfx9's instructions; both names lead to one handler.
 */
#include "runtime/sim/salu.h"

/* ------------------------------------------------------------ operands */

static uint64_t read_special(const sim_wave *w, const sim_operand *o)
{
    uint64_t vcc = w->lanes == 64 ? sim_pair(w, SIM_VCC) : w->sgpr[SIM_VCC];
    switch (o->kind) {
    case SIM_OP_CONST: return o->value;
    case SIM_OP_SCC: return w->scc;
    case SIM_OP_VCCZ: return !vcc;
    case SIM_OP_EXECZ: return !sim_exec(w);
    default: return 0;
    }
}

uint32_t sim_read_s32(const sim_wave *w, const sim_operand *o)
{
    if (o->kind != SIM_OP_SGPR) return (uint32_t)read_special(w, o);
    return o->index == SIM_NULL ? 0 : w->sgpr[o->index];
}

uint64_t sim_read_s64(const sim_wave *w, const sim_operand *o)
{
    if (o->kind != SIM_OP_SGPR) return read_special(w, o);
    return o->index == SIM_NULL ? 0 : sim_pair(w, o->index);
}

void sim_write_s32(sim_wave *w, const sim_operand *o, uint32_t value)
{
    if (o->kind == SIM_OP_SGPR && o->index != SIM_NULL) w->sgpr[o->index] = value;
}

void sim_write_s64(sim_wave *w, const sim_operand *o, uint64_t value)
{
    if (o->kind == SIM_OP_SGPR && o->index != SIM_NULL) sim_set_pair(w, o->index, value);
}

/* ------------------------------------------------------------ sums and products */

BINARY32(add_u32, a + b, d < a)
BINARY32(sub_u32, a - b, a < b)
BINARY32(add_i32, a + b, (~(a ^ b) & (a ^ d)) >> 31)
BINARY32(sub_i32, a - b, ((a ^ b) & (a ^ d)) >> 31)
BINARY32(min_i32, (int32_t)a < (int32_t)b ? a : b, (int32_t)a < (int32_t)b)
BINARY32(max_i32, (int32_t)a >= (int32_t)b ? a : b, (int32_t)a >= (int32_t)b)
BINARY32(min_u32, a < b ? a : b, a < b)
BINARY32(max_u32, a >= b ? a : b, a >= b)
BINARY32(absdiff_i32, (int32_t)(a - b) < 0 ? b - a : a - b, d != 0)
BINARY32(lshl1_add, (a << 1) + b, ((uint64_t)a << 1) + b > UINT32_MAX)
BINARY32(lshl2_add, (a << 2) + b, ((uint64_t)a << 2) + b > UINT32_MAX)
BINARY32(lshl3_add, (a << 3) + b, ((uint64_t)a << 3) + b > UINT32_MAX)
BINARY32(lshl4_add, (a << 4) + b, ((uint64_t)a << 4) + b > UINT32_MAX)
BINARY32_KEEP(mul_lo, a * b)
BINARY32_KEEP(mul_hi_u32, (uint64_t)a * b >> 32)
BINARY32_KEEP(mul_hi_i32, (uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32)
BINARY64_KEEP(add_u64, a + b)
BINARY64_KEEP(sub_u64, a - b)
BINARY64_KEEP(mul_u64, a * b)

static void addc_u32(sim_wave *w, const sim_insn *i)
{
    uint64_t sum = (uint64_t)SRC32(1) + SRC32(2) + w->scc;
    w->scc = sum >> 32;
    PUT32((uint32_t)sum);
}

static void subb_u32(sim_wave *w, const sim_insn *i)
{
    uint64_t difference = (uint64_t)SRC32(1) - SRC32(2) - w->scc;
    w->scc = difference >> 63;
    PUT32((uint32_t)difference);
}

/* ------------------------------------------------------------ logic, shifts, fields */

BINARY32(and_b32, a & b, d != 0)
BINARY32(or_b32, a | b, d != 0)
BINARY32(xor_b32, a ^ b, d != 0)
BINARY32(nand_b32, ~(a & b), d != 0)
BINARY32(nor_b32, ~(a | b), d != 0)
BINARY32(xnor_b32, ~(a ^ b), d != 0)
BINARY32(andn2_b32, a & ~b, d != 0)
BINARY32(orn2_b32, a | ~b, d != 0)
BINARY64(and_b64, a & b, d != 0)
BINARY64(or_b64, a | b, d != 0)
BINARY64(xor_b64, a ^ b, d != 0)
BINARY64(nand_b64, ~(a & b), d != 0)
BINARY64(nor_b64, ~(a | b), d != 0)
BINARY64(xnor_b64, ~(a ^ b), d != 0)
BINARY64(andn2_b64, a & ~b, d != 0)
BINARY64(orn2_b64, a | ~b, d != 0)

BINARY32(lshl_b32, a << (b & 31), d != 0)
BINARY32(lshr_b32, a >> (b & 31), d != 0)
BINARY32(ashr_i32, (int32_t)a >> (b & 31), d != 0)
SHIFT64(lshl_b64, a << (b & 63))
SHIFT64(lshr_b64, a >> (b & 63))
SHIFT64(ashr_i64, (int64_t)a >> (b & 63))

BINARY32_KEEP(bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))
BINARY32_KEEP(pack_ll, (a & 0xffff) | b << 16)
BINARY32_KEEP(pack_lh, (a & 0xffff) | (b & 0xffff0000))
BINARY32_KEEP(pack_hl, a >> 16 | b << 16)
BINARY32_KEEP(pack_hh, a >> 16 | (b & 0xffff0000))

static void bfm_b64(sim_wave *w, const sim_insn *i)
{
    PUT64((((uint64_t)1 << (SRC32(1) & 63)) - 1) << (SRC32(2) & 63));
}

/* Offset in bits 5:0 of the second source (4:0 for 32 bits), width in 22:16. */
static uint64_t field(uint64_t v, uint32_t where, uint32_t bits, bool sign)
{
    uint32_t offset = where & (bits - 1), width = where >> 16 & 127;
    if (!width) return 0;
    if (width > bits - offset) width = bits - offset;
    v = v << (64 - offset - width);
    return sign ? (uint64_t)((int64_t)v >> (64 - width)) : v >> (64 - width);
}

BINARY32(bfe_u32, field(a, b, 32, false), d != 0)
BINARY32(bfe_i32, field(a, b, 32, true), d != 0)
SHIFT64(bfe_u64, field(a, b, 64, false))
SHIFT64(bfe_i64, field(a, b, 64, true))

static void cselect_b32(sim_wave *w, const sim_insn *i) { PUT32(w->scc ? SRC32(1) : SRC32(2)); }
static void cselect_b64(sim_wave *w, const sim_insn *i) { PUT64(w->scc ? SRC64(1) : SRC64(2)); }

/* ------------------------------------------------------------ comparisons */

COMPARE(cmp_eq, 32, a == b)
COMPARE(cmp_lg, 32, a != b)
COMPARE(cmp_gt_i, 32, (int32_t)a > (int32_t)b)
COMPARE(cmp_ge_i, 32, (int32_t)a >= (int32_t)b)
COMPARE(cmp_lt_i, 32, (int32_t)a < (int32_t)b)
COMPARE(cmp_le_i, 32, (int32_t)a <= (int32_t)b)
COMPARE(cmp_gt_u, 32, a > b)
COMPARE(cmp_ge_u, 32, a >= b)
COMPARE(cmp_lt_u, 32, a < b)
COMPARE(cmp_le_u, 32, a <= b)
COMPARE(cmp_eq64, 64, a == b)
COMPARE(cmp_lg64, 64, a != b)
COMPARE(bitcmp0, 32, !(a >> (b & 31) & 1))
COMPARE(bitcmp1, 32, a >> (b & 31) & 1)

static void bitcmp0_b64(sim_wave *w, const sim_insn *i) { w->scc = !(SRC64(0) >> (SRC32(1) & 63) & 1); }
static void bitcmp1_b64(sim_wave *w, const sim_insn *i) { w->scc = SRC64(0) >> (SRC32(1) & 63) & 1; }

/* ------------------------------------------------------------ SOPK: SIMM16 is in the encoding */

static uint32_t simm(const sim_insn *i) { return (uint32_t)(int32_t)(int16_t)(i->encoding & 0xffff); }

#define COMPARE_K(name, condition)                                                                                    \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint32_t a = SRC32(0), k = simm(i), u = k & 0xffff;                                                     \
        (void)u;                                                                                                      \
        w->scc = (condition);                                                                                         \
    }

COMPARE_K(cmpk_eq_i, a == k)
COMPARE_K(cmpk_lg_i, a != k)
COMPARE_K(cmpk_gt_i, (int32_t)a > (int32_t)k)
COMPARE_K(cmpk_ge_i, (int32_t)a >= (int32_t)k)
COMPARE_K(cmpk_lt_i, (int32_t)a < (int32_t)k)
COMPARE_K(cmpk_le_i, (int32_t)a <= (int32_t)k)
COMPARE_K(cmpk_eq_u, a == u)
COMPARE_K(cmpk_lg_u, a != u)
COMPARE_K(cmpk_gt_u, a > u)
COMPARE_K(cmpk_ge_u, a >= u)
COMPARE_K(cmpk_lt_u, a < u)
COMPARE_K(cmpk_le_u, a <= u)

static void movk_i32(sim_wave *w, const sim_insn *i) { PUT32(simm(i)); }
static void mulk_i32(sim_wave *w, const sim_insn *i) { PUT32(SRC32(0) * simm(i)); }

static void cmovk_i32(sim_wave *w, const sim_insn *i)
{
    if (w->scc) PUT32(simm(i));
}

static void addk_i32(sim_wave *w, const sim_insn *i)
{
    uint32_t a = SRC32(0), k = simm(i), d = a + k;
    w->scc = (~(a ^ k) & (a ^ d)) >> 31;
    PUT32(d);
}

/* ------------------------------------------------------------ rows */

#define ROW32(name, run) SALU_ROW(name, run, T_B32, T_B32, T_B32)
#define ROW64(name, run) SALU_ROW(name, run, T_B64, T_B64, T_B64)
#define ROWSHIFT(name, run) SALU_ROW(name, run, T_B64, T_B64, T_B32)
#define ROWCMP(name, run) SALU_ROW(name, run, T_B32, T_B32)

const sim_op sim_salu_ops[] = {
    ROW32("s_add_u32", add_u32), ROW32("s_add_co_u32", add_u32),
    ROW32("s_sub_u32", sub_u32), ROW32("s_sub_co_u32", sub_u32),
    ROW32("s_add_i32", add_i32), ROW32("s_add_co_i32", add_i32),
    ROW32("s_sub_i32", sub_i32), ROW32("s_sub_co_i32", sub_i32),
    ROW32("s_addc_u32", addc_u32), ROW32("s_add_co_ci_u32", addc_u32),
    ROW32("s_subb_u32", subb_u32), ROW32("s_sub_co_ci_u32", subb_u32),
    ROW32("s_min_i32", min_i32), ROW32("s_max_i32", max_i32), ROW32("s_min_u32", min_u32), ROW32("s_max_u32", max_u32),
    ROW32("s_absdiff_i32", absdiff_i32), ROW32("s_mul_i32", mul_lo), ROW32("s_mul_hi_u32", mul_hi_u32),
    ROW32("s_mul_hi_i32", mul_hi_i32),
    ROW32("s_lshl1_add_u32", lshl1_add), ROW32("s_lshl2_add_u32", lshl2_add), ROW32("s_lshl3_add_u32", lshl3_add),
    ROW32("s_lshl4_add_u32", lshl4_add),
    ROW64("s_add_nc_u64", add_u64), ROW64("s_sub_nc_u64", sub_u64), ROW64("s_mul_u64", mul_u64),

    ROW32("s_and_b32", and_b32), ROW32("s_or_b32", or_b32), ROW32("s_xor_b32", xor_b32), ROW32("s_nand_b32", nand_b32),
    ROW32("s_nor_b32", nor_b32), ROW32("s_xnor_b32", xnor_b32), ROW32("s_andn2_b32", andn2_b32),
    ROW32("s_and_not1_b32", andn2_b32), ROW32("s_orn2_b32", orn2_b32), ROW32("s_or_not1_b32", orn2_b32),
    ROW64("s_and_b64", and_b64), ROW64("s_or_b64", or_b64), ROW64("s_xor_b64", xor_b64), ROW64("s_nand_b64", nand_b64),
    ROW64("s_nor_b64", nor_b64), ROW64("s_xnor_b64", xnor_b64), ROW64("s_andn2_b64", andn2_b64),
    ROW64("s_and_not1_b64", andn2_b64), ROW64("s_orn2_b64", orn2_b64), ROW64("s_or_not1_b64", orn2_b64),

    ROW32("s_lshl_b32", lshl_b32), ROW32("s_lshr_b32", lshr_b32), ROW32("s_ashr_i32", ashr_i32),
    ROWSHIFT("s_lshl_b64", lshl_b64), ROWSHIFT("s_lshr_b64", lshr_b64),
    SALU_ROW("s_ashr_i64", ashr_i64, T_B64, T_I64, T_B32),
    ROW32("s_bfm_b32", bfm_b32), SALU_ROW("s_bfm_b64", bfm_b64, T_B64, T_B32, T_B32),
    ROW32("s_bfe_u32", bfe_u32), ROW32("s_bfe_i32", bfe_i32), ROWSHIFT("s_bfe_u64", bfe_u64),
    SALU_ROW("s_bfe_i64", bfe_i64, T_B64, T_I64, T_B32),
    ROW32("s_pack_ll_b32_b16", pack_ll), ROW32("s_pack_lh_b32_b16", pack_lh), ROW32("s_pack_hl_b32_b16", pack_hl),
    ROW32("s_pack_hh_b32_b16", pack_hh),
    ROW32("s_cselect_b32", cselect_b32), ROW64("s_cselect_b64", cselect_b64),

    ROWCMP("s_cmp_eq_i32", cmp_eq), ROWCMP("s_cmp_eq_u32", cmp_eq), ROWCMP("s_cmp_lg_i32", cmp_lg),
    ROWCMP("s_cmp_lg_u32", cmp_lg), ROWCMP("s_cmp_gt_i32", cmp_gt_i), ROWCMP("s_cmp_ge_i32", cmp_ge_i),
    ROWCMP("s_cmp_lt_i32", cmp_lt_i), ROWCMP("s_cmp_le_i32", cmp_le_i), ROWCMP("s_cmp_gt_u32", cmp_gt_u),
    ROWCMP("s_cmp_ge_u32", cmp_ge_u), ROWCMP("s_cmp_lt_u32", cmp_lt_u), ROWCMP("s_cmp_le_u32", cmp_le_u),
    SALU_ROW("s_cmp_eq_u64", cmp_eq64, T_B64, T_B64), SALU_ROW("s_cmp_lg_u64", cmp_lg64, T_B64, T_B64),
    ROWCMP("s_bitcmp0_b32", bitcmp0), ROWCMP("s_bitcmp1_b32", bitcmp1),
    SALU_ROW("s_bitcmp0_b64", bitcmp0_b64, T_B64, T_B32), SALU_ROW("s_bitcmp1_b64", bitcmp1_b64, T_B64, T_B32),

    ROWCMP("s_cmpk_eq_i32", cmpk_eq_i), ROWCMP("s_cmpk_lg_i32", cmpk_lg_i), ROWCMP("s_cmpk_gt_i32", cmpk_gt_i),
    ROWCMP("s_cmpk_ge_i32", cmpk_ge_i), ROWCMP("s_cmpk_lt_i32", cmpk_lt_i), ROWCMP("s_cmpk_le_i32", cmpk_le_i),
    ROWCMP("s_cmpk_eq_u32", cmpk_eq_u), ROWCMP("s_cmpk_lg_u32", cmpk_lg_u), ROWCMP("s_cmpk_gt_u32", cmpk_gt_u),
    ROWCMP("s_cmpk_ge_u32", cmpk_ge_u), ROWCMP("s_cmpk_lt_u32", cmpk_lt_u), ROWCMP("s_cmpk_le_u32", cmpk_le_u),
    ROWCMP("s_movk_i32", movk_i32), ROWCMP("s_cmovk_i32", cmovk_i32), ROWCMP("s_mulk_i32", mulk_i32),
    ROWCMP("s_addk_i32", addk_i32), ROWCMP("s_addk_co_i32", addk_i32),
    {0},
};
