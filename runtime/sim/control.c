/* control.c - branches, calls, barriers, waits, messages, hardware registers, and dual issue.
 *
 * Every access is complete when its instruction is, so a wait has nothing to wait for (RDNA3 ISA, 4.3 "Program Control", 4.4 "Data
 * dependency resolution"; RDNA4 ISA, the same sections). But the order that code makes with it must hold on hosts that reorder
 * plain accesses, since other blocks run on other threads. Hints do nothing.
 * A wave that signals a barrier notes the block's phase; the phase advances when every wave that has not ended has signalled.
 */
#include <stdatomic.h>
#include <time.h>
#include "runtime/sim/internal.h"

/* ------------------------------------------------------------ branches */

static void branch(sim_wave *w, const sim_insn *i)
{
    w->at = (uint32_t)((int64_t)w->at + (int16_t)(i->encoding & 0xffff));
}

static void run_branch(sim_wave *w, const sim_insn *i) { branch(w, i); }

static uint64_t vcc(const sim_wave *w) { return w->lanes == 64 ? sim_pair(w, SIM_VCC) : w->sgpr[SIM_VCC]; }

static void run_scc0(sim_wave *w, const sim_insn *i) { if (!w->scc) branch(w, i); }
static void run_scc1(sim_wave *w, const sim_insn *i) { if (w->scc) branch(w, i); }
static void run_vccz(sim_wave *w, const sim_insn *i) { if (!vcc(w)) branch(w, i); }
static void run_vccnz(sim_wave *w, const sim_insn *i) { if (vcc(w)) branch(w, i); }
static void run_execz(sim_wave *w, const sim_insn *i) { if (!sim_exec(w)) branch(w, i); }
static void run_execnz(sim_wave *w, const sim_insn *i) { if (sim_exec(w)) branch(w, i); }

static uint64_t next_address(const sim_wave *w) { return sim_text_base(w) + (uint64_t)w->at * 4; }

static void jump(sim_wave *w, uint64_t address)
{
    uint64_t offset = address - sim_text_base(w);
    if (offset % 4 || offset / 4 >= sim_text_words(w))
        sim_fault_address(w, SIM_FAULT_CALL, -1, address, "jump out of the code object's text");
    w->at = (uint32_t)(offset / 4);
}

static void run_getpc(sim_wave *w, const sim_insn *i) { sim_write_s64(w, &i->operands[0], next_address(w)); }
static void run_setpc(sim_wave *w, const sim_insn *i) { jump(w, sim_read_s64(w, &i->operands[0])); }

static void run_swappc(sim_wave *w, const sim_insn *i)
{
    uint64_t to = sim_read_s64(w, &i->operands[1]);
    sim_write_s64(w, &i->operands[0], next_address(w));
    jump(w, to);
}

static void run_call(sim_wave *w, const sim_insn *i)
{
    sim_write_s64(w, &i->operands[0], next_address(w));
    branch(w, i);
}

/* ------------------------------------------------------------ barriers and the end */

static void complete_barrier(sim_block *b)
{
    for (uint32_t k = 0; k < b->nwaves; k++)
        if (b->waves[k].state != WAVE_ENDED && !b->waves[k].signalled) return;
    b->phase++;
    for (uint32_t k = 0; k < b->nwaves; k++) {
        b->waves[k].signalled = false;
        if (b->waves[k].state == WAVE_BARRIER) b->waves[k].state = WAVE_READY;
    }
}

static void signal_barrier(sim_wave *w)
{
    w->signalled = true;
    w->phase = w->block->phase;
    complete_barrier(w->block);
}

static void wait_barrier(sim_wave *w)
{
    if (w->block->phase != w->phase) return;
    w->state = WAVE_BARRIER;
    sim_end_turn(w);
}

static void run_barrier(sim_wave *w, const sim_insn *i)
{
    (void)i;
    signal_barrier(w);
    wait_barrier(w);
}

/* Barrier -1 is the workgroup's (RDNA4 ISA, 4.6 "Work-group barriers"); named ones do not exist on these targets. */
static void check_barrier(sim_wave *w, const sim_insn *i)
{
    const sim_operand *o = &i->operands[0];
    if (o->kind != SIM_OP_CONST || (uint32_t)o->value != UINT32_MAX)
        sim_fault(w, SIM_UNSUPPORTED, -1, "only the barrier of the workgroup is simulated");
}

static void run_barrier_signal(sim_wave *w, const sim_insn *i)
{
    check_barrier(w, i);
    signal_barrier(w);
}

static void run_barrier_signal_isfirst(sim_wave *w, const sim_insn *i)
{
    bool first = true;
    check_barrier(w, i);
    for (uint32_t k = 0; k < w->block->nwaves; k++)
        if (w->block->waves[k].signalled) first = false;
    w->scc = first;
    signal_barrier(w);
}

static void run_barrier_wait(sim_wave *w, const sim_insn *i)
{
    if ((i->encoding & 0xffff) != 0xffff) sim_fault(w, SIM_UNSUPPORTED, -1, "only the barrier of the workgroup is simulated");
    wait_barrier(w);
}

static void run_endpgm(sim_wave *w, const sim_insn *i)
{
    (void)i;
    w->state = WAVE_ENDED;
    sim_end_turn(w);
    complete_barrier(w->block);
}

/* ------------------------------------------------------------ traps and messages */

/* Trap 2 is llvm.trap; 3, llvm.debugtrap, does nothing when no debugger is there ("Trap Handler ABI"). */
static void run_trap(sim_wave *w, const sim_insn *i)
{
    if ((i->encoding & 0xff) != 3) sim_fault(w, SIM_FAULT_TRAP, -1, "trap %u", (unsigned)(i->encoding & 0xff));
}

static void run_sethalt(sim_wave *w, const sim_insn *i)
{
    if (i->encoding & 1) sim_fault(w, SIM_FAULT_TRAP, -1, "the wave was halted");
}

static uint64_t clock_ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 100000000u + (uint64_t)t.tv_nsec / 10;      /* the constant clock of 100 MHz */
}

static uint64_t cycles(const sim_wave *w) { return w->executed + (uint64_t)(w->turn - w->budget); }

/* The message is SSRC0's encoding itself (RDNA3 ISA, "S_SENDMSG_RTN_B32"). There is no doorbell to ring and no trap handler. */
static uint64_t message_answer(sim_wave *w, const sim_insn *i)
{
    switch (i->encoding & 0xff) {
    case 128: case 129: case 130: case 133: return 0;       /* doorbell, draw id, TMA, TBA */
    case 131: return clock_ticks();
    default: sim_fault(w, SIM_UNSUPPORTED, -1, "message %u is not simulated", (unsigned)(i->encoding & 0xff));
    }
}

static void run_message_b32(sim_wave *w, const sim_insn *i) { sim_write_s32(w, &i->operands[0], (uint32_t)message_answer(w, i)); }
static void run_message_b64(sim_wave *w, const sim_insn *i) { sim_write_s64(w, &i->operands[0], message_answer(w, i)); }
static void run_memtime(sim_wave *w, const sim_insn *i) { sim_write_s64(w, &i->operands[0], cycles(w)); }
static void run_realtime(sim_wave *w, const sim_insn *i) { sim_write_s64(w, &i->operands[0], clock_ticks()); }

/* Another wave's turn: it may be the one that is waited for. */
static void run_sleep(sim_wave *w, const sim_insn *i)
{
    (void)i;
    sim_end_turn(w);
}

static void run_nothing(sim_wave *w, const sim_insn *i) { (void)w, (void)i; }

/* What came before is seen by others before what comes after, and the reverse. */
static void run_wait(sim_wave *w, const sim_insn *i)
{
    (void)w, (void)i;
    atomic_thread_fence(memory_order_acq_rel);
}

/* ------------------------------------------------------------ hardware registers */

enum { HW_MODE = 1, HW_STATUS = 2, HW_TRAPSTS = 3, HW_ID_GFX9 = 4, HW_GPR_ALLOC = 5, HW_LDS_ALLOC = 6, HW_SH_MEM_BASES = 15,
       HW_XCC_ID = 20, HW_ID1 = 23, HW_ID2 = 24, HW_CYCLES_LOW = 29, HW_CYCLES_HIGH = 30 };

/* Everything runs as wave k of a block on the first unit of the device. */
static uint32_t read_hardware(sim_wave *w, uint32_t id)
{
    bool gfx9 = w->target->generation == SIM_GFX9, gfx12 = w->target->generation == SIM_GFX12;
    switch (id) {
    case HW_MODE: return w->mode;
    case HW_STATUS: return (uint32_t)w->scc;
    case HW_TRAPSTS: return 0;
    case HW_ID_GFX9: if (gfx9) return w->index & 15; break;
    case HW_GPR_ALLOC: return 0;
    case HW_LDS_ALLOC: return w->block->lds_bytes / 256 << 12;
    case HW_SH_MEM_BASES: if (!gfx12) return (uint32_t)(SIM_SHARED_BASE >> 48 << 16 | SIM_PRIVATE_BASE >> 48); break;
    case HW_XCC_ID: if (gfx9) return 0; break;
    case HW_ID1: if (!gfx9) return w->index & 31; break;
    case HW_ID2: if (!gfx9) return 0; break;
    case HW_CYCLES_LOW: if (!gfx9) return (uint32_t)cycles(w); break;
    case HW_CYCLES_HIGH: if (gfx12) return (uint32_t)(cycles(w) >> 32); break;
    }
    sim_fault(w, SIM_UNSUPPORTED, -1, "hardware register %u is not simulated", id);
}

/* SIMM16: size - 1 in 15:11, offset in 10:6, register in 5:0. */
static uint32_t field_mask(uint32_t simm) { return UINT32_MAX >> (31 - (simm >> 11 & 31)); }

static void run_getreg(sim_wave *w, const sim_insn *i)
{
    uint32_t simm = (uint32_t)i->encoding & 0xffff;
    sim_write_s32(w, &i->operands[0], read_hardware(w, simm & 63) >> (simm >> 6 & 31) & field_mask(simm));
}

static void set_hardware(sim_wave *w, const sim_insn *i, uint32_t value)
{
    uint32_t simm = (uint32_t)i->encoding & 0xffff, shift = simm >> 6 & 31, mask = field_mask(simm) << shift;
    if ((simm & 63) != HW_MODE) sim_fault(w, SIM_UNSUPPORTED, -1, "writing hardware register %u is not simulated", simm & 63);
    w->mode = (w->mode & ~mask) | (value << shift & mask);
}

static void run_setreg(sim_wave *w, const sim_insn *i) { set_hardware(w, i, sim_read_s32(w, &i->operands[1])); }
static void run_setreg_imm(sim_wave *w, const sim_insn *i) { set_hardware(w, i, (uint32_t)(i->encoding >> 32)); }
static void run_round_mode(sim_wave *w, const sim_insn *i) { w->mode = (w->mode & ~15u) | (i->encoding & 15); }
static void run_denorm_mode(sim_wave *w, const sim_insn *i) { w->mode = (w->mode & ~0xf0u) | (i->encoding & 15) << 4; }

/* ------------------------------------------------------------ dual issue */

static void count_second(sim_wave *w, const sim_insn *i) { w->counts.executed[i->second->group]++; }

/* VOPD: both halves read before either writes. In order they do so when the second reads nothing that the first writes. */
void sim_run_dual(sim_wave *w, const sim_insn *i)
{
    count_second(w, i);
    i->op->run(w, i);
    i->second->op->run(w, i->second);
}

/* Here it does: the first one's result is put aside while the second reads the old value. */
void sim_run_dual_overlap(sim_wave *w, const sim_insn *i)
{
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    uint32_t before[SIM_LANES], after[SIM_LANES];
    count_second(w, i);
    memcpy(before, row, sizeof before);
    i->op->run(w, i);
    memcpy(after, row, sizeof after);
    memcpy(row, before, sizeof before);
    i->second->op->run(w, i->second);
    memcpy(row, after, sizeof after);
}

/* ------------------------------------------------------------ rows */

#define SALU(name, run, ...) {name, run, SIM_CLASS_SALU, {__VA_ARGS__}, 0, 0, 0}
#define WAIT(name) {name, run_wait, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0}
#define OTHER(name) {name, run_nothing, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0}

const sim_op sim_control_ops[] = {
    SALU("s_branch", run_branch, T_NONE),
    SALU("s_cbranch_scc0", run_scc0, T_NONE),
    SALU("s_cbranch_scc1", run_scc1, T_NONE),
    SALU("s_cbranch_vccz", run_vccz, T_NONE),
    SALU("s_cbranch_vccnz", run_vccnz, T_NONE),
    SALU("s_cbranch_execz", run_execz, T_NONE),
    SALU("s_cbranch_execnz", run_execnz, T_NONE),
    SALU("s_getpc_b64", run_getpc, T_B64),
    SALU("s_setpc_b64", run_setpc, T_B64),
    SALU("s_swappc_b64", run_swappc, T_B64, T_B64),
    SALU("s_call_b64", run_call, T_B64, T_B32),
    SALU("s_getreg_b32", run_getreg, T_B32, T_B32),
    SALU("s_setreg_b32", run_setreg, T_B32, T_B32),
    SALU("s_setreg_imm32_b32", run_setreg_imm, T_NONE),
    SALU("s_round_mode", run_round_mode, T_NONE),
    SALU("s_denorm_mode", run_denorm_mode, T_NONE),
    SALU("s_sendmsg_rtn_b32", run_message_b32, T_B32, T_B32),
    SALU("s_sendmsg_rtn_b64", run_message_b64, T_B64, T_B32),
    {"s_memtime", run_memtime, SIM_CLASS_SMEM, {T_B64}, 0, 0, 0},
    {"s_memrealtime", run_realtime, SIM_CLASS_SMEM, {T_B64}, 0, 0, 0},
    {"s_barrier", run_barrier, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0},
    {"s_barrier_signal", run_barrier_signal, SIM_CLASS_OTHER, {T_B32}, 0, 0, 0},
    {"s_barrier_signal_isfirst", run_barrier_signal_isfirst, SIM_CLASS_OTHER, {T_B32}, 0, 0, 0},
    {"s_barrier_wait", run_barrier_wait, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0},
    {"s_endpgm", run_endpgm, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0},
    {"s_trap", run_trap, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0},
    {"s_sethalt", run_sethalt, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0},
    {"s_sleep", run_sleep, SIM_CLASS_OTHER, {T_NONE}, 0, 0, 0},
    OTHER("s_sendmsg"), OTHER("s_nop"), OTHER("s_delay_alu"), OTHER("s_clause"), OTHER("s_setprio"), OTHER("s_wakeup"),
    OTHER("s_icache_inv"), OTHER("s_dcache_inv"), OTHER("s_dcache_wb"), OTHER("s_gl1_inv"), OTHER("s_inst_prefetch"),
    OTHER("s_set_inst_prefetch_distance"), OTHER("s_version"), OTHER("s_code_end"), OTHER("s_ttracedata"),
    OTHER("s_ttracedata_imm"), OTHER("s_incperflevel"), OTHER("s_decperflevel"), OTHER("s_singleuse_vdst"),
    OTHER("s_prefetch_inst"), OTHER("s_prefetch_inst_pc_rel"), OTHER("s_prefetch_data"), OTHER("s_prefetch_data_pc_rel"),
    OTHER("s_buffer_prefetch_data"),
    WAIT("s_waitcnt"), WAIT("s_waitcnt_depctr"), WAIT("s_waitcnt_vscnt"), WAIT("s_waitcnt_vmcnt"), WAIT("s_waitcnt_expcnt"),
    WAIT("s_waitcnt_lgkmcnt"), WAIT("s_wait_idle"), WAIT("s_wait_event"), WAIT("s_wait_alu"), WAIT("s_wait_loadcnt"),
    WAIT("s_wait_storecnt"), WAIT("s_wait_samplecnt"), WAIT("s_wait_bvhcnt"), WAIT("s_wait_expcnt"), WAIT("s_wait_dscnt"),
    WAIT("s_wait_kmcnt"), WAIT("s_wait_loadcnt_dscnt"), WAIT("s_wait_storecnt_dscnt"),
    {0},
};
