/* dispatch.c - lanes that wait for each other: a dispatcher in front of a function's code.
 *
 * A lane that has to wait does not stand still: it notes in `state` where it wants to go on and goes to the dispatcher, a loop
 * that all lanes of the wavefront pass together. There each goes to the case of its state, which asks whether what it waits for has
 * come about, and goes on or back to the dispatcher. So other lanes of the wavefront run in the meantime, in turn, as far as they get.
 * Every way around a loop in which lanes may wait leads over the dispatcher as well (plan.c), and so does every way to the end: code
 * from which no way led back would lie behind the dispatcher's loop, and LLVM lets a wavefront leave a loop only as a whole.
 *
 * What all lanes of a warp come to as one (plan.c) needs none of this, and is done where it stands.
 *
 * Collectives meet there, from whatever place their lanes come: one case holds the call for all instructions with the same meaning, with
 * arguments and results in memory (of which LLVM makes registers). Barriers are counters in LDS (pxl_barrier_… in
 * ptx/lib/amdgcn_barrier.c): the hardware's would hold the whole wavefront.
 */
#include "ptx/lib/fault.h"
#include "translator/plan.h"

enum { MEETING_ARGUMENTS = 8, MEETINGS = 32, STATE_FIRST = 0, STATE_ENDED = 1 };

/* The case of a meaning. */
typedef struct meeting {
    LLVMValueRef fn, arguments[MEETING_ARGUMENTS], results[MEETING_ARGUMENTS];
    LLVMValueRef v_switch;     /* to where each lane goes on */
    LLVMBasicBlockRef b_case;
} meeting;

typedef struct xl_dispatch {
    LLVMValueRef state, alive, v_switch;       /* alive: lanes of this warp that have not ended */
    LLVMBasicBlockRef b_dispatch, b_turn;      /* b_turn: where every way back to the dispatcher comes together */
    uint32_t states;
    meeting meetings[MEETINGS];
    uint32_t nmeetings;
} xl_dispatch;

bool xl_waits_for_lanes(const xl_emitter *x) { return x->dispatch && !x->plan->together[x->insn - x->ptx->insns]; }

LLVMValueRef xl_entry_alloca(xl_emitter *x, LLVMTypeRef type)
{
    LLVMBasicBlockRef b_now = LLVMGetInsertBlock(x->b), b_entry = LLVMGetEntryBasicBlock(x->fn);
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(x->b);
    LLVMPositionBuilderBefore(x->b, LLVMGetFirstInstruction(b_entry));
    LLVMValueRef v = l_alloca(x, type);
    l_here(x, b_now);
    LLVMSetCurrentDebugLocation2(x->b, line);
    return v;
}

LLVMValueRef xl_lanes_here(xl_emitter *x)
{
    LLVMValueRef v_true = l_i1(x, true);
    return xl_call_helper(x, "pxl_lane_ballot", &v_true, 1);
}

/* A new state whose case is `b_case`. */
static LLVMValueRef new_state(xl_emitter *x, LLVMBasicBlockRef b_case)
{
    LLVMValueRef v = l_i32(x, ++x->dispatch->states);
    LLVMAddCase(x->dispatch->v_switch, v, b_case);
    return v;
}

/* Ends the current block. */
static void go(xl_emitter *x, LLVMValueRef v_state)
{
    l_store(x, v_state, x->dispatch->state);
    l_br(x, x->dispatch->b_turn);
}

void xl_open_dispatch(xl_emitter *x)
{
    xl_dispatch *d = x->dispatch = xl_alloc(x, sizeof *d);
    d->state = xl_entry_alloca(x, l_int(x, 32));
    d->alive = xl_entry_alloca(x, l_int(x, 32));
    d->b_dispatch = l_block(x, "dispatch");
    LLVMBasicBlockRef b_first = l_block(x, "first");
    l_store(x, l_i32(x, STATE_FIRST), d->state);
    l_br(x, d->b_dispatch);
    l_here(x, d->b_dispatch);
    l_intrinsic0(x, "llvm.amdgcn.wave.barrier");           /* no code; LLVM may not go around or double this block */
    LLVMValueRef v_state = l_load(x, l_int(x, 32), d->state), v_lives = l_icmp(x, LLVMIntNE, v_state, l_i32(x, STATE_ENDED));
    l_store(x, xl_call_helper(x, "pxl_lane_ballot", &v_lives, 1), d->alive);
    d->v_switch = LLVMBuildSwitch(x->b, v_state, b_first, 16);
    /* With several edges back LLVM would make loops inside the loop, which lanes leave one by one, and who is asked for would be elsewhere. */
    d->b_turn = l_block(x, "turn");
    l_here(x, d->b_turn);
    l_intrinsic0(x, "llvm.amdgcn.wave.barrier");           /* keeps the block */
    l_br(x, d->b_dispatch);
    l_here(x, b_first);
    d->states = STATE_ENDED;
}

LLVMBasicBlockRef xl_end_dispatch(xl_emitter *x, bool cells)
{
    LLVMBasicBlockRef b_end = l_block(x, "ended");
    l_here(x, x->b_return);
    if (cells) xl_leave_barriers(x);                       /* here: behind the loop it would be too late */
    go(x, l_i32(x, STATE_ENDED));
    LLVMAddCase(x->dispatch->v_switch, l_i32(x, STATE_ENDED), b_end);
    return b_end;
}

LLVMBasicBlockRef xl_hop(xl_emitter *x, LLVMBasicBlockRef b_target)
{
    LLVMBasicBlockRef b_now = LLVMGetInsertBlock(x->b), b_hop = l_block(x, "hop");
    l_here(x, b_hop);
    go(x, new_state(x, b_target));
    l_here(x, b_now);
    return b_hop;
}

/* ------------------------------------------------------------ barriers */

void xl_wait_barrier(xl_emitter *x, LLVMValueRef cells, const ptx_value *id)
{
    LLVMBasicBlockRef b_wait = l_block(x, "wait"), b_done = l_block(x, "");
    go(x, new_state(x, b_wait));
    l_here(x, b_wait);
    LLVMValueRef poll[5] = {cells, id ? xl_read_bits(x, id, 32) : l_i32(x, PXL_CLUSTER_BARRIER), xl_special(x, PTX_SR_WARPID, 32),
                            l_i32(x, x->insn->at.line), l_i32(x, x->insn->at.column)};
    l_cond_br(x, xl_call_helper(x, "pxl_barrier_poll", poll, 5), b_done, x->dispatch->b_turn);
    l_here(x, b_done);
    l_fence(x, LLVMAtomicOrderingAcquire, "workgroup");
}

/* ------------------------------------------------------------ warps */

/* Lanes of the mask that have not ended and are not here. */
static LLVMValueRef missing(xl_emitter *x, LLVMValueRef v_mask, LLVMValueRef v_here)
{
    LLVMValueRef v_alive = l_load(x, l_int(x, 32), x->dispatch->alive);
    return l_and(x, l_and(x, v_mask, v_alive), l_not(x, v_here));
}

void xl_rendezvous(xl_emitter *x, const ptx_value *mask)
{
    LLVMBasicBlockRef b_wait = l_block(x, "meet"), b_done = l_block(x, "");
    go(x, new_state(x, b_wait));
    l_here(x, b_wait);
    LLVMValueRef v_missing = missing(x, mask ? xl_read_bits(x, mask, 32) : l_i32(x, UINT32_MAX), xl_lanes_here(x));
    l_cond_br(x, l_icmp(x, LLVMIntEQ, v_missing, l_i32(x, 0)), b_done, x->dispatch->b_turn);
    l_here(x, b_done);
}

/* Makes the case of a function: waits, calls, and goes to where each lane came from. fn NULL: there is nothing to call. */
static meeting *new_meeting(xl_emitter *x, LLVMValueRef fn, LLVMValueRef *args, unsigned nargs, unsigned npointers, unsigned mask)
{
    xl_dispatch *d = x->dispatch;
    if (d->nmeetings == MEETINGS || nargs > MEETING_ARGUMENTS) xl_fail(x, PTX_REASON_LIMIT, "more than %d kinds of collective in a kernel whose lanes wait for each other", MEETINGS);
    LLVMBasicBlockRef b_now = LLVMGetInsertBlock(x->b), b_call = l_block(x, "met");
    meeting *m = &d->meetings[d->nmeetings++];
    m->fn = fn;
    m->b_case = l_block(x, "meeting");
    LLVMTypeRef types[MEETING_ARGUMENTS];
    LLVMTypeRef type = fn ? LLVMGlobalGetValueType(fn) : NULL;
    LLVMValueRef passed[MEETING_ARGUMENTS];
    for (unsigned i = 0; i < nargs; i++) {
        types[i] = i < npointers ? LLVMGetAllocatedType(args[i]) : LLVMTypeOf(args[i]);
        m->arguments[i] = xl_entry_alloca(x, types[i]);
    }
    l_here(x, m->b_case);
    /* Who names other lanes is at another collective: it comes to this one later. */
    LLVMValueRef v_mask = l_load(x, l_int(x, 32), m->arguments[mask]);
    LLVMValueRef v_missing = missing(x, v_mask, xl_call_helper(x, "pxl_lanes_alike", &v_mask, 1));
    l_cond_br(x, l_icmp(x, LLVMIntEQ, v_missing, l_i32(x, 0)), b_call, d->b_turn);
    l_here(x, b_call);
    for (unsigned i = 0; i < nargs; i++) passed[i] = i < npointers ? m->arguments[i] : l_load(x, types[i], m->arguments[i]);
    passed[mask] = l_and(x, passed[mask], xl_lanes_here(x));   /* lanes that have ended hold anything */
    if (fn) {
        LLVMValueRef v = LLVMBuildCall2(x->b, type, fn, passed, nargs, "");
        if (!npointers) {
            m->results[0] = xl_entry_alloca(x, LLVMGetReturnType(type));
            l_store(x, v, m->results[0]);
        }
    }
    for (unsigned i = 0; i < npointers; i++) m->results[i] = m->arguments[i];
    m->v_switch = LLVMBuildSwitch(x->b, l_load(x, l_int(x, 32), d->state), d->b_turn, 8);
    l_here(x, b_now);
    return m;
}

void xl_meet(xl_emitter *x, LLVMValueRef fn, LLVMValueRef *args, unsigned nargs, unsigned npointers, unsigned mask, LLVMValueRef *results)
{
    xl_dispatch *d = x->dispatch;
    meeting *m = NULL;
    for (uint32_t i = 0; i < d->nmeetings && !m; i++)
        if (d->meetings[i].fn == fn) m = &d->meetings[i];
    if (!m) m = new_meeting(x, fn, args, nargs, npointers, mask);
    LLVMBasicBlockRef b_done = l_block(x, "");
    for (unsigned i = npointers; i < nargs; i++) l_store(x, args[i], m->arguments[i]);
    LLVMValueRef v_state = new_state(x, m->b_case);
    LLVMAddCase(m->v_switch, v_state, b_done);
    go(x, v_state);
    l_here(x, b_done);
    if (!fn) return;
    for (unsigned i = 0; i < (npointers ? npointers : 1); i++)
        results[i] = l_load(x, LLVMGetAllocatedType(m->results[i]), m->results[i]);
}
