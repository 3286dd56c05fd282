/* valu_lane.c - instructions that move data between lanes, scalars and registers chosen at run time. */
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ lanes and scalars */

static uint32_t lane_select(sim_wave *w, const sim_operand *o) { return sim_read_s32(w, o) & (w->lanes - 1); }

static const uint32_t *source_row(sim_wave *w, const sim_insn *i, uint32_t operand, uint32_t *space)
{
    return valu_row(w, &i->operands[operand], 0, space);
}

static void run_readlane(sim_wave *w, const sim_insn *i)
{
    uint32_t space[SIM_LANES];
    sim_write_s32(w, &i->operands[0], source_row(w, i, 1, space)[lane_select(w, &i->operands[2])]);
}

/* The first active lane; lane 0 when none is. */
static void run_readfirstlane(sim_wave *w, const sim_insn *i)
{
    uint32_t space[SIM_LANES];
    const uint64_t exec = sim_exec(w);
    sim_write_s32(w, &i->operands[0], source_row(w, i, 1, space)[exec ? __builtin_ctzll(exec) : 0]);
}

/* Writes whatever EXEC is. */
static void run_writelane(sim_wave *w, const sim_insn *i)
{
    const uint32_t value = sim_read_s32(w, &i->operands[1]), lane = lane_select(w, &i->operands[2]);
    sim_row(w, &i->operands[0], 0)[lane] = value;
}

/* ------------------------------------------------------------ counts of lanes below */

static void mbcnt(sim_wave *w, const sim_insn *i, bool high)
{
    VALU_SOURCE(0, 1, U32);
    VALU_SOURCE(1, 2, U32);
    const uint64_t exec = valu_exec(w, i);
    uint32_t d[SIM_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) {
        const uint64_t below = (1ull << l) - 1;
        d[l] = s1.lo[l] + (uint32_t)__builtin_popcount(s0.lo[l] & (uint32_t)(high ? below >> 32 : below));
    }
    valu_put_32(w, i, d, exec);
}

static void run_mbcnt_lo(sim_wave *w, const sim_insn *i) { mbcnt(w, i, false); }
static void run_mbcnt_hi(sim_wave *w, const sim_insn *i) { mbcnt(w, i, true); }

/* ------------------------------------------------------------ permutations */

/* op_sel[0] is fi: inactive lanes can be read; op_sel[1] is bound_ctrl: a lane that cannot read gets 0, else it
 * keeps its value (RDNA3 ISA, V_PERMLANE16_B32). */
static void permute(sim_wave *w, const sim_insn *i, const uint8_t *from)
{
    uint32_t space[SIM_LANES], d[SIM_LANES];
    const uint32_t *x = source_row(w, i, 1, space);
    const uint64_t exec = sim_exec(w);
    uint64_t write = exec;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const bool reads = (i->op_sel & 1) || (exec >> from[l] & 1);
        d[l] = reads ? x[from[l]] : 0;
        if (!reads && !(i->op_sel & 2)) write &= ~(1ull << l);
    }
    valu_store(sim_row(w, &i->operands[0], 0), d, write, w->lanes);
}

/* `across`: into the other row of 16 of a pair. */
static void permlane16(sim_wave *w, const sim_insn *i, uint32_t across)
{
    const uint64_t select = sim_read_s32(w, &i->operands[2]) | (uint64_t)sim_read_s32(w, &i->operands[3]) << 32;
    uint8_t from[SIM_LANES];
    for (uint32_t l = 0; l < w->lanes; l++)
        from[l] = (uint8_t)(((l & ~15u) ^ across) + (select >> (l & 15) * 4 & 15));
    permute(w, i, from);
}

static void permlane16_var(sim_wave *w, const sim_insn *i, uint32_t across)
{
    uint32_t space[SIM_LANES];
    uint8_t from[SIM_LANES];
    const uint32_t *select = source_row(w, i, 2, space);
    for (uint32_t l = 0; l < w->lanes; l++)
        from[l] = (uint8_t)(((l & ~15u) ^ across) + (select[l] & 15));
    permute(w, i, from);
}

static void run_permlane16(sim_wave *w, const sim_insn *i) { permlane16(w, i, 0); }
static void run_permlanex16(sim_wave *w, const sim_insn *i) { permlane16(w, i, 16); }
static void run_permlane16_var(sim_wave *w, const sim_insn *i) { permlane16_var(w, i, 0); }
static void run_permlanex16_var(sim_wave *w, const sim_insn *i) { permlane16_var(w, i, 16); }

/* The halves of a wave of 64 swap, read whether active or not; nothing in wave32. */
static void run_permlane64(sim_wave *w, const sim_insn *i)
{
    uint32_t space[SIM_LANES], d[SIM_LANES];
    if (w->lanes != 64) return;
    const uint32_t *x = source_row(w, i, 1, space);
    for (uint32_t l = 0; l < 64; l++)
        d[l] = x[l ^ 32];
    valu_store(sim_row(w, &i->operands[0], 0), d, sim_exec(w), w->lanes);
}

/* Rows of `size` lanes: the odd ones of the destination swap with the even ones of the source (gfx950). A lane is
 * written when it is active; fi and bound_ctrl say what comes from an inactive one, as for DPP. */
static void swap_rows(sim_wave *w, const sim_insn *i, uint32_t size)
{
    uint32_t *d = sim_row(w, &i->operands[0], 0), *s = sim_row(w, &i->operands[1], 0), old_d[SIM_LANES], old_s[SIM_LANES];
    const uint64_t exec = sim_exec(w), readable = i->dpp.fi || (i->op_sel & 1) ? ~0ull : exec;
    const bool zero = i->dpp.bound_ctrl || (i->op_sel & 2);
    memcpy(old_d, d, w->lanes * 4);
    memcpy(old_s, s, w->lanes * 4);
    for (uint32_t l = 0; l < w->lanes; l++) {
        const bool odd = l & size;
        uint32_t *to = odd ? &d[l] : &s[l];
        const uint32_t from = l ^ size, value = odd ? old_s[from] : old_d[from];
        if (!(exec >> l & 1)) continue;
        if (readable >> from & 1) *to = value;
        else if (zero) *to = 0;
    }
}

static void run_permlane16_swap(sim_wave *w, const sim_insn *i) { swap_rows(w, i, 16); }
static void run_permlane32_swap(sim_wave *w, const sim_insn *i) { swap_rows(w, i, 32); }

/* ------------------------------------------------------------ swaps, and registers chosen by M0 */

static void swap_registers(sim_wave *w, uint32_t *a, uint32_t *b)
{
    const uint64_t exec = sim_exec(w);
    uint32_t copy[SIM_LANES];
    memcpy(copy, a, w->lanes * 4);
    valu_store(a, b, exec, w->lanes);
    valu_store(b, copy, exec, w->lanes);
}

static void run_swap(sim_wave *w, const sim_insn *i)
{
    swap_registers(w, sim_row(w, &i->operands[0], 0), sim_row(w, &i->operands[1], 0));
}

static void run_swap_16(sim_wave *w, const sim_insn *i)
{
    uint32_t *a = sim_row(w, &i->operands[0], 0), *b = sim_row(w, &i->operands[1], 0);
    const uint32_t sa = i->operands[0].half == 2 ? 16 : 0, sb = i->operands[1].half == 2 ? 16 : 0;
    const uint64_t exec = sim_exec(w);
    for (uint32_t l = 0; l < w->lanes; l++) {
        if (!(exec >> l & 1)) continue;
        const uint32_t x = a[l] >> sa & 0xffff, y = b[l] >> sb & 0xffff;
        a[l] = (a[l] & ~(0xffffu << sa)) | y << sa;
        b[l] = (b[l] & ~(0xffffu << sb)) | x << sb;
    }
}

/* Row of the register that is `by` after the operand's. */
static uint32_t *relative_row(sim_wave *w, const sim_operand *o, uint32_t by)
{
    if (o->index + by >= 256) sim_fault(w, SIM_FAULT_ADDRESS, -1, "relative register v%u is out of range", (unsigned)(o->index + by));
    return w->vgpr[o->index + by];
}

static uint32_t m0_source(const sim_wave *w) { return w->sgpr[SIM_M0] & 0x3ff; }
static uint32_t m0_destination(const sim_wave *w) { return w->sgpr[SIM_M0] >> 16 & 0x3ff; }

static void move_rows(sim_wave *w, uint32_t *to, const uint32_t *from)
{
    uint32_t copy[SIM_LANES];
    memcpy(copy, from, w->lanes * 4);
    valu_store(to, copy, sim_exec(w), w->lanes);
}

static void run_movreld(sim_wave *w, const sim_insn *i)
{
    uint32_t space[SIM_LANES];
    const uint32_t *from = source_row(w, i, 1, space);
    move_rows(w, relative_row(w, &i->operands[0], w->sgpr[SIM_M0]), from);
}

static void run_movrels(sim_wave *w, const sim_insn *i)
{
    move_rows(w, sim_row(w, &i->operands[0], 0), relative_row(w, &i->operands[1], w->sgpr[SIM_M0]));
}

static void run_movrelsd(sim_wave *w, const sim_insn *i)
{
    const uint32_t by = w->sgpr[SIM_M0];
    move_rows(w, relative_row(w, &i->operands[0], by), relative_row(w, &i->operands[1], by));
}

static void run_movrelsd_2(sim_wave *w, const sim_insn *i)
{
    move_rows(w, relative_row(w, &i->operands[0], m0_destination(w)), relative_row(w, &i->operands[1], m0_source(w)));
}

static void run_swaprel(sim_wave *w, const sim_insn *i)
{
    swap_registers(w, relative_row(w, &i->operands[0], m0_destination(w)), relative_row(w, &i->operands[1], m0_source(w)));
}

static void run_nop(sim_wave *w, const sim_insn *i)
{
    (void)w;
    (void)i;
}

/* ------------------------------------------------------------ table */

#define LANE(name, handler, first, last, ...) { name, handler, SIM_CLASS_VALU, { __VA_ARGS__ }, 0, first, last },

const sim_op sim_valu_lane_ops[] = {
    LANE("v_readlane_b32", run_readlane, 0, 0, T_B32, T_B32, T_B32)
    LANE("v_readfirstlane_b32", run_readfirstlane, 0, 0, T_B32, T_B32)
    LANE("v_writelane_b32", run_writelane, 0, 0, T_B32, T_B32, T_B32)
    LANE("v_mbcnt_lo_u32_b32", run_mbcnt_lo, 0, 0, T_B32, T_B32, T_B32)
    LANE("v_mbcnt_hi_u32_b32", run_mbcnt_hi, 0, 0, T_B32, T_B32, T_B32)
    LANE("v_permlane16_b32", run_permlane16, 10, 12, T_B32, T_B32, T_B32, T_B32)
    LANE("v_permlanex16_b32", run_permlanex16, 10, 12, T_B32, T_B32, T_B32, T_B32)
    LANE("v_permlane16_var_b32", run_permlane16_var, 12, 12, T_B32, T_B32, T_B32)
    LANE("v_permlanex16_var_b32", run_permlanex16_var, 12, 12, T_B32, T_B32, T_B32)
    LANE("v_permlane64_b32", run_permlane64, 11, 12, T_B32, T_B32)
    LANE("v_permlane16_swap_b32", run_permlane16_swap, 9, 9, T_B32, T_B32)
    LANE("v_permlane32_swap_b32", run_permlane32_swap, 9, 9, T_B32, T_B32)
    LANE("v_swap_b32", run_swap, 0, 0, T_B32, T_B32)
    LANE("v_swap_b16", run_swap_16, 11, 12, T_B16, T_B16)
    LANE("v_movreld_b32", run_movreld, 10, 12, T_B32, T_B32)
    LANE("v_movrels_b32", run_movrels, 10, 12, T_B32, T_B32)
    LANE("v_movrelsd_b32", run_movrelsd, 10, 12, T_B32, T_B32)
    LANE("v_movrelsd_2_b32", run_movrelsd_2, 10, 12, T_B32, T_B32)
    LANE("v_swaprel_b32", run_swaprel, 10, 12, T_B32, T_B32)
    LANE("v_nop", run_nop, 0, 0, T_NONE)
    LANE("v_pipeflush", run_nop, 10, 12, T_NONE)
    { 0 },
};
