/* lower_barrier.c - barriers, fences, mbarrier, and small things that order or wait.
 *
 * A barrier that the whole block joins is the hardware's, which also counts ended
 * waves as arrived. Barriers with a thread count are counters in LDS
 * (ptx/lib/amdgcn_barrier.c), zeroed at the entry of kernels that use them.
 */
#include <string.h>
#include "ptx/lib/fault.h"
#include "ptx/lib/mbarrier.h"
#include "translator/plan.h"

static const char *choice(const ptx_insn *insn, const char *group) { return isa_choice(insn->form, &insn->tuple, group); }

static const ptx_value *operand(const ptx_insn *insn, unsigned i)
{
    bool written = i < insn->noperands && insn->operands[i].kind != ISA_OPERAND_NONE && insn->operands[i].nvalues;
    return written ? &insn->operands[i].values[0] : NULL;
}

/* ------------------------------------------------------------ bar, barrier */

typedef struct bar_operands { const ptx_value *d, *id, *count, *pred; } bar_operands;

static bar_operands bar_operands_of(const ptx_insn *insn)
{
    bool red = !strcmp(choice(insn, "op"), "red");
    unsigned i = 0;
    bar_operands o = {0};
    if (red) o.d = operand(insn, i++);
    o.id = operand(insn, i++);
    if (!red) { o.count = operand(insn, i); return o; }
    if (insn->noperands > i + 1) o.count = operand(insn, i++);
    o.pred = operand(insn, i);
    return o;
}

static void hardware_barrier(xl_emitter *x)
{
    l_fence(x, LLVMAtomicOrderingRelease, "workgroup");
    l_intrinsic0(x, "llvm.amdgcn.s.barrier");
    l_fence(x, LLVMAtomicOrderingAcquire, "workgroup");
}

static LLVMValueRef barrier_cells(xl_emitter *x)
{
    if (x->barriers) return x->barriers;
    LLVMTypeRef type = LLVMArrayType2(l_int(x, 32), PXL_CELLS);    /* what is in them: ptx/lib/fault.h */
    x->barriers = LLVMAddGlobalInAddressSpace(x->llvm, type, "pxb.barriers", AS_LDS);
    LLVMSetInitializer(x->barriers, LLVMGetUndef(type));
    LLVMSetLinkage(x->barriers, LLVMInternalLinkage);
    LLVMSetAlignment(x->barriers, 16);
    return x->barriers;
}

static void join(xl_emitter *x, const bar_operands *o, bool wait)
{
    if (!o->count && wait && !x->several_barriers && (!x->dispatch || x->plan->plain_barriers)) {
        if (xl_waits_for_lanes(x)) xl_rendezvous(x, NULL);
        hardware_barrier(x);
        return;
    }
    LLVMValueRef args[7] = {barrier_cells(x), xl_read_bits(x, o->id, 32), o->count ? xl_read_bits(x, o->count, 32) : l_i32(x, 0), l_i1(x, wait),
                            xl_special(x, PTX_SR_WARPID, 32), l_i32(x, x->insn->at.line), l_i32(x, x->insn->at.column)};
    if (!wait || !x->dispatch) { xl_call_helper(x, x->dispatch ? "pxl_barrier_arrive" : "pxl_warp_barrier", args, 7); return; }
    l_fence(x, LLVMAtomicOrderingRelease, "workgroup");
    xl_call_helper(x, "pxl_barrier_arrive", args, 7);
    xl_wait_barrier(x, barrier_cells(x), o->id);
}

static LLVMValueRef reduction_cell(xl_emitter *x, const bar_operands *o)
{
    LLVMValueRef v_id = l_and(x, xl_read_bits(x, o->id, 32), l_i32(x, 15));
    return l_offset(x, barrier_cells(x), l_shl(x, l_add(x, v_id, l_i32(x, PXL_CELL_REDUCE)), l_i32(x, 2)));
}

/* Every thread adds 65536 + predicate, reads the sum between two barriers, and takes its own part back:
 * each thread's subtraction comes before it arrives at the next barrier, so a later sum is clean. What is needed behind a
 * barrier is kept in memory, since the way there may lead over the dispatcher. */
static void reduce(xl_emitter *x, const ptx_insn *insn, const bar_operands *o)
{
    LLVMValueRef mine = xl_entry_alloca(x, l_int(x, 32)), sum = xl_entry_alloca(x, l_int(x, 32));
    LLVMValueRef v_mine = l_add(x, l_zext(x, xl_read_bits(x, o->pred, 1), 32), l_i32(x, 0x10000));
    l_store(x, v_mine, mine);
    l_atomic_rmw(x, LLVMAtomicRMWBinOpAdd, reduction_cell(x, o), v_mine, LLVMAtomicOrderingMonotonic, "workgroup");
    join(x, o, true);
    LLVMValueRef v_sum = l_load(x, l_int(x, 32), reduction_cell(x, o));
    LLVMSetOrdering(v_sum, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(v_sum, 4);
    l_scope(x, v_sum, "workgroup");
    l_store(x, v_sum, sum);
    join(x, o, true);
    l_atomic_rmw(x, LLVMAtomicRMWBinOpSub, reduction_cell(x, o), l_load(x, l_int(x, 32), mine), LLVMAtomicOrderingMonotonic, "workgroup");
    v_sum = l_load(x, l_int(x, 32), sum);
    LLVMValueRef v_set = l_and(x, v_sum, l_i32(x, 0xffff)), v_all = l_lshr(x, v_sum, l_i32(x, 16));
    const char *how = choice(insn, "red");
    if (!strcmp(how, "popc")) xl_write(x, o->d, v_set);
    else if (!strcmp(how, "and")) xl_write(x, o->d, l_icmp(x, LLVMIntEQ, v_set, v_all));
    else xl_write(x, o->d, l_icmp(x, LLVMIntNE, v_set, l_i32(x, 0)));
}

static void lower_bar(xl_emitter *x, const ptx_insn *insn)
{
    const char *op = choice(insn, "op");
    bar_operands o = bar_operands_of(insn);
    if (!strcmp(op, "red")) reduce(x, insn, &o);
    else join(x, &o, !strcmp(op, "sync"));
}

/* At the top of an entry that may reach barriers in memory or reductions: thread 0 zeroes the cells. */
void xl_clear_barriers(xl_emitter *x)
{
    LLVMValueRef v_zero = xl_special(x, PTX_SR_WARPID, 32), v_lane = xl_special(x, PTX_SR_LANEID, 32);
    LLVMBasicBlockRef b_clear = l_block(x, "clear"), b_next = l_block(x, "cleared");
    l_cond_br(x, l_icmp(x, LLVMIntEQ, l_or(x, v_zero, v_lane), l_i32(x, 0)), b_clear, b_next);
    l_here(x, b_clear);
    LLVMBuildMemSet(x->b, barrier_cells(x), l_const(x, 8, 0), l_i64(x, 4 * PXL_CELLS), 16);
    LLVMValueRef v_threads = l_mul(x, l_mul(x, xl_special(x, PTX_SR_NTID_X, 32), xl_special(x, PTX_SR_NTID_Y, 32)), xl_special(x, PTX_SR_NTID_Z, 32));
    LLVMValueRef v_whole = l_and(x, l_add(x, v_threads, l_i32(x, 31)), l_i32(x, ~31u));
    l_store(x, v_threads, l_offset_k(x, barrier_cells(x), 4 * PXL_CELL_THREADS));
    l_store(x, v_whole, l_offset_k(x, barrier_cells(x), 4 * PXL_CELL_LIVING));
    l_store(x, v_whole, l_offset_k(x, barrier_cells(x), 4 * PXL_CELL_TOTAL));
    l_br(x, b_next);
    l_here(x, b_next);
    hardware_barrier(x);
    LLVMValueRef args[2] = {barrier_cells(x), xl_special(x, PTX_SR_WARPID, 32)};
    xl_call_helper(x, "pxl_barrier_enter", args, 2);
}

/* Where the threads of such an entry end: barriers wait for them no longer. */
void xl_leave_barriers(xl_emitter *x)
{
    LLVMValueRef args[2] = {barrier_cells(x), xl_special(x, PTX_SR_WARPID, 32)};
    xl_call_helper(x, "pxl_barrier_leave", args, 2);
}

/* Whether functions of the module name more than one barrier: the hardware has one. */
bool xl_names_several_barriers(const xl_emitter *x)
{
    uint64_t named = UINT64_MAX;
    for (uint32_t i = 0; i < x->module->nfunctions; i++) {
        const ptx_function *f = x->module->functions[i];
        for (uint32_t k = 0; x->functions[i].value && k < f->ninsns; k++) {
            if (!xl_is_barrier(&f->insns[k])) continue;
            const ptx_value *id = xl_is_cluster_barrier(&f->insns[k]) ? NULL : bar_operands_of(&f->insns[k]).id;
            uint64_t number = !id ? PXL_CLUSTER_BARRIER : id->kind == PTX_VALUE_IMM ? id->imm : UINT64_MAX - 1;     /* a register may hold any */
            if (number == UINT64_MAX - 1 || (named != UINT64_MAX && named != number)) return true;
            named = number;
        }
    }
    return false;
}

bool xl_needs_barrier_cells(const ptx_function *f)
{
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const ptx_insn *insn = &f->insns[i];
        if (!xl_is_barrier(insn) || xl_is_cluster_barrier(insn)) continue;
        if (xl_is_counted_barrier(insn) || !strcmp(choice(insn, "op"), "red")) return true;
    }
    return false;
}

/* ------------------------------------------------------------ fences */

static void lower_fence(xl_emitter *x, const ptx_insn *insn)
{
    const char *sem = choice(insn, "sem"), *level = choice(insn, "level"), *scope = choice(insn, "scope");
    const char *where = level ? (!strcmp(level, "cta") ? "workgroup" : !strcmp(level, "gl") ? "agent" : "")
                      : scope ? xl_scope(insn) : "";
    LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
    if (sem && !strcmp(sem, "acquire")) order = LLVMAtomicOrderingAcquire;
    else if (sem && !strcmp(sem, "release")) order = LLVMAtomicOrderingRelease;
    else if (!sem || strcmp(sem, "sc")) order = LLVMAtomicOrderingAcquireRelease;
    if (level) order = LLVMAtomicOrderingSequentiallyConsistent;       /* membar is fence.sc (PTX ISA, "membar") */
    l_fence(x, order, where);
}

/* The lanes of a warp run together; what is needed is that neither compiler nor memory reorders across. */
static void lower_bar_warp(xl_emitter *x, const ptx_insn *insn)
{
    LLVMValueRef v_mask = xl_read_bits(x, &insn->operands[0].values[0], 32);
    l_fence(x, LLVMAtomicOrderingRelease, "wavefront");
    if (xl_waits_for_lanes(x)) xl_meet(x, NULL, &v_mask, 1, 0, 0, NULL);
    l_intrinsic0(x, "llvm.amdgcn.wave.barrier");
    l_fence(x, LLVMAtomicOrderingAcquire, "wavefront");
}

/* A cluster is one block. Where it is the only barrier and no lanes wait apart, the wait is the hardware's whole barrier, and arriving
 * only orders memory. */
static void lower_barrier_cluster(xl_emitter *x, const ptx_insn *insn)
{
    bool waits = !strcmp(choice(insn, "op"), "wait");
    if (!x->several_barriers && !x->dispatch) {
        if (waits) hardware_barrier(x);
        else l_fence(x, LLVMAtomicOrderingRelease, "workgroup");
        return;
    }
    LLVMValueRef v_warp = xl_special(x, PTX_SR_WARPID, 32), v_line = l_i32(x, insn->at.line), v_column = l_i32(x, insn->at.column);
    LLVMValueRef arrive[2] = {barrier_cells(x), v_warp};
    LLVMValueRef wait[4] = {barrier_cells(x), v_warp, v_line, v_column};
    l_fence(x, waits ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingRelease, "workgroup");
    if (!waits) xl_call_helper(x, x->dispatch ? "pxl_cluster_arrive" : "pxl_warp_cluster_arrive", arrive, 2);
    else if (!x->dispatch) xl_call_helper(x, "pxl_warp_cluster_wait", wait, 4);
    else {
        xl_call_helper(x, "pxl_cluster_await", arrive, 2);
        xl_wait_barrier(x, barrier_cells(x), NULL);
    }
    if (waits) l_fence(x, LLVMAtomicOrderingAcquire, "workgroup");
}

/* ------------------------------------------------------------ mbarrier (the state's layout is in ptx/lib/mbarrier.h) */

static uint32_t mbarrier_op(const ptx_insn *insn)
{
    const char *op = choice(insn, "op");
    bool expect = choice(insn, "expect_tx") != NULL, parity = choice(insn, "parity") != NULL;
    if (!strcmp(op, "init")) return PXL_MBARRIER_INIT;
    if (!strcmp(op, "inval")) return PXL_MBARRIER_INVAL;
    if (!strcmp(op, "expect_tx")) return PXL_MBARRIER_EXPECT_TX;
    if (!strcmp(op, "complete_tx")) return PXL_MBARRIER_COMPLETE_TX;
    if (!strcmp(op, "arrive")) return expect ? PXL_MBARRIER_ARRIVE_EXPECT_TX : PXL_MBARRIER_ARRIVE;
    if (!strcmp(op, "arrive_drop")) return expect ? PXL_MBARRIER_ARRIVE_DROP_EXPECT_TX : PXL_MBARRIER_ARRIVE_DROP;
    if (!strcmp(op, "pending_count")) return PXL_MBARRIER_PENDING;
    return parity ? PXL_MBARRIER_WAIT_PARITY : PXL_MBARRIER_WAIT;
}

static void lower_mbarrier(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_value *d = NULL, *s = NULL;
    const ptx_operand *a = NULL;
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ptx_operand *o = &insn->operands[i];
        if (o->kind == ISA_OPERAND_ADDRESS) a = o;
        else if ((o->kind == ISA_OPERAND_DST || o->kind == ISA_OPERAND_DST_PRED) && !a) d = &o->values[0];
        else if (o->kind == ISA_OPERAND_SRC && !s) s = &o->values[0];
    }
    uint32_t op = mbarrier_op(insn);
    if (op == PXL_MBARRIER_PENDING) {
        xl_write(x, d, l_trunc(x, l_and(x, xl_read_bits(x, s, 64), l_i64(x, PXL_MBARRIER_COUNT)), 32));
        return;
    }
    unsigned as;
    LLVMValueRef p = xl_address(x, &a->address, xl_space(insn), &as);
    if (as == AS_GENERIC) p = l_spacecast(x, p, AS_LDS);
    LLVMValueRef args[3] = {p, l_i32(x, op), s ? xl_read_bits(x, s, 64) : l_i64(x, 1)};
    LLVMValueRef v = xl_call_helper(x, "pxl_mbarrier", args, 3);
    if (!d) return;
    bool waits = op == PXL_MBARRIER_WAIT || op == PXL_MBARRIER_WAIT_PARITY;
    xl_write(x, d, waits ? l_trunc(x, v, 1) : v);
}

/* Copies are complete at once: the asynchronous arrival happens now. Without .noinc the pending count first
 * goes up by one, so nothing changes. */
static void lower_cp_async_mbarrier(xl_emitter *x, const ptx_insn *insn)
{
    if (!choice(insn, "noinc")) return;
    unsigned as;
    LLVMValueRef p = xl_address(x, &insn->operands[0].address, xl_space(insn), &as);
    if (as == AS_GENERIC) p = l_spacecast(x, p, AS_LDS);
    LLVMValueRef args[3] = {p, l_i32(x, PXL_MBARRIER_ARRIVE), l_i64(x, 1)};
    xl_call_helper(x, "pxl_mbarrier", args, 3);
}

static void lower_nanosleep(xl_emitter *x)
{
    LLVMValueRef v = l_i32(x, 1);                        /* any time in [0, 2t] is right (PTX ISA, "nanosleep") */
    l_intrinsic(x, "llvm.amdgcn.s.sleep", NULL, 0, &v, 1);
}

bool xl_lower_barrier(xl_emitter *x, const ptx_insn *insn)
{
    const char *op = insn->operation;
    if (!strcmp(op, "bar")) lower_bar(x, insn);
    else if (!strcmp(op, "fence")) lower_fence(x, insn);
    else if (!strcmp(op, "bar_warp")) lower_bar_warp(x, insn);
    else if (!strcmp(op, "barrier_cluster")) lower_barrier_cluster(x, insn);
    else if (!strcmp(op, "mbarrier")) lower_mbarrier(x, insn);
    else if (!strcmp(op, "cp_async_mbarrier")) lower_cp_async_mbarrier(x, insn);
    else if (!strcmp(op, "nanosleep")) lower_nanosleep(x);
    else if (!strcmp(op, "brkpt")) xl_fault(x, PXL_FAULT_TRAP, l_i64(x, 0), l_i64(x, 0), l_i64(x, 0));
    else if (!strcmp(op, "mapa")) xl_write(x, &insn->operands[0].values[0], xl_read(x, &insn->operands[1].values[0]));
    else if (!strcmp(op, "getctarank")) xl_write(x, &insn->operands[0].values[0], l_i32(x, 0));
    /* Performance hints and launch chaining: nothing to do where every launch runs alone. */
    else return !strcmp(op, "pmevent") || !strcmp(op, "setmaxnreg") || !strcmp(op, "griddepcontrol");
    return true;
}
