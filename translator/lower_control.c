/* lower_control.c - branches, calls, returns. PTX's control flow graph goes over one to one;
 * AMD's backend makes the execution masks.
 */
#include <string.h>
#include "ptx/lib/fault.h"
#include "translator/plan.h"

static const ptx_operand *find_operand(const ptx_insn *insn, isa_operand_kind kind)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == kind) return &insn->operands[i];
    return NULL;
}

/* A guarded jump: to b_taken where the guard holds, otherwise on to the next instruction. */
static void jump(xl_emitter *x, const ptx_insn *insn, uint32_t index, LLVMBasicBlockRef b_taken)
{
    if (x->dispatch && x->plan->hops[index]) b_taken = xl_hop(x, b_taken);
    if (!insn->guarded) { l_br(x, b_taken); return; }
    LLVMBasicBlockRef b_next = x->blocks[index + 1];
    if (!b_next) b_next = l_block(x, "");
    l_cond_br(x, xl_guard(x, insn), b_taken, b_next);
    l_here(x, b_next);
}

static void lower_bra(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    const ptx_operand *o = find_operand(insn, ISA_OPERAND_LABEL);
    jump(x, insn, index, x->blocks[o->label]);
}

/* brx.idx: an index outside the list is undefined in PTX; here it is a fault, as on the CPU. */
static void lower_brx(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    const ptx_operand *list_operand = find_operand(insn, ISA_OPERAND_LIST);
    const ptx_label_list *list = list_operand ? list_operand->list : NULL;
    if (!list || !list->count) xl_fail(x, PTX_REASON_MALFORMED, "brx.idx without a list of targets");
    LLVMBasicBlockRef b_next = NULL;
    if (insn->guarded) {
        LLVMBasicBlockRef b_do = l_block(x, "switch");
        jump(x, insn, index, b_do);
        b_next = LLVMGetInsertBlock(x->b);
        l_here(x, b_do);
    }
    LLVMValueRef v_index = xl_read_bits(x, &insn->operands[0].values[0], 32);
    bool hops = x->dispatch && x->plan->hops[index];
    LLVMBasicBlockRef b_first = x->blocks[list->targets[0]];
    LLVMBasicBlockRef b_outside = l_block(x, "outside");
    LLVMValueRef v_switch = LLVMBuildSwitch(x->b, v_index, b_outside, list->count);
    LLVMBasicBlockRef b_now = LLVMGetInsertBlock(x->b);
    l_here(x, b_outside);
    xl_fault(x, PXL_FAULT_BRX, l_zext(x, v_index, 64), l_i64(x, list->count), l_i64(x, 0));
    l_br(x, hops ? xl_hop(x, b_first) : b_first);
    l_here(x, b_now);
    for (uint32_t i = 0; i < list->count; i++) {
        LLVMBasicBlockRef b_target = x->blocks[list->targets[i]];
        LLVMAddCase(v_switch, l_i32(x, i), hops ? xl_hop(x, b_target) : b_target);
    }
    if (b_next) l_here(x, b_next);
}

/* ------------------------------------------------------------ calls */

static LLVMValueRef call_argument(xl_emitter *x, const ptx_value *value, const ptx_variable *param)
{
    LLVMTypeRef type = xl_param_type(x, param);
    if (value->kind == PTX_VALUE_VARIABLE && value->variable->space == PTX_SPACE_PARAM) {
        unsigned as;
        return l_load(x, type, xl_variable_address(x, value->variable, &as));
    }
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind) xl_fail(x, PTX_REASON_MALFORMED, "a scalar is passed where the function takes an array");
    return xl_read_bits(x, value, LLVMGetIntTypeWidth(type));
}

static void store_result(xl_emitter *x, const ptx_value *value, LLVMValueRef v)
{
    if (value->kind == PTX_VALUE_VARIABLE) {
        unsigned as;
        l_store(x, v, xl_variable_address(x, value->variable, &as));
    } else if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind) {
        xl_write(x, value, v);
    }
}

/* A callee may have exited for this lane: then so do we. */
static void leave_if_exited(xl_emitter *x, LLVMValueRef v_exited)
{
    LLVMBasicBlockRef b_leave = l_block(x, "exited"), b_stay = l_block(x, "");
    l_cond_br(x, v_exited, b_leave, b_stay);
    l_here(x, b_leave);
    if (x->return_flag) l_store(x, l_i1(x, true), x->return_flag);
    l_br(x, x->b_return);
    l_here(x, b_stay);
}

static void emit_call(xl_emitter *x, const ptx_insn *insn, const ptx_prototype *p, LLVMTypeRef type, LLVMValueRef callee, bool may_exit)
{
    if (insn->nargs != p->nparams || insn->nreturns != p->nreturns)
        xl_fail(x, PTX_REASON_MALFORMED, "the call's parameters do not match the function's");
    LLVMValueRef *args = xl_alloc(x, (insn->nargs + 1u) * sizeof *args);
    for (uint32_t i = 0; i < insn->nargs; i++) args[i] = call_argument(x, &insn->args[i], p->params[i]);
    xl_trace_suspend(x);
    LLVMValueRef v = LLVMBuildCall2(x->b, type, callee, args, insn->nargs, "");
    xl_trace_resume(x);
    bool structure = may_exit || p->nreturns > 1;
    for (uint32_t i = 0; i < p->nreturns; i++)
        store_result(x, &insn->returns[i], structure ? l_extract(x, v, i + may_exit) : v);
    if (may_exit) leave_if_exited(x, l_extract(x, v, 0));
}

static void call_direct(xl_emitter *x, const ptx_insn *insn, const ptx_function *callee)
{
    if (callee->is_declaration && xl_lower_builtin(x, insn)) return;
    if (callee->is_declaration) xl_fail(x, PTX_REASON_UNSUPPORTED, "function '%s' is declared but not defined in this module", callee->name);
    xl_function *f = &x->functions[callee->index];
    if (x->options->function_table && xl_stand_in(x, callee)) {
        xl_fault(x, PXL_FAULT_CALL, l_i64(x, xl_stand_in(x, callee)), l_i64(x, 0), l_i64(x, 0));
        return;
    }
    if (callee->is_entry) xl_fail(x, PTX_REASON_UNSUPPORTED, "a call of the entry '%s'", callee->name);
    emit_call(x, insn, &callee->prototype, f->type, f->value, f->may_exit);
}

static void call_indirect(xl_emitter *x, const ptx_insn *insn, const ptx_operand *o)
{
    const ptx_operand *g = find_operand(insn, ISA_OPERAND_LIST);
    const ptx_prototype *p = g ? g->list : NULL;
    if (!p) xl_fail(x, PTX_REASON_MALFORMED, "an indirect call without a prototype");
    LLVMValueRef v_target = xl_read_bits(x, &o->values[0], 64);
    LLVMValueRef args[3] = {v_target, l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
    xl_call_helper(x, "pxl_check_call", args, 3);
    LLVMValueRef callee = l_inttoptr(x, v_target, AS_GENERIC);
    emit_call(x, insn, p, xl_function_type(x, p, false), callee, false);
}

static void lower_call(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *o = find_operand(insn, ISA_OPERAND_FUNCTION);
    LLVMBasicBlockRef b_next = NULL;
    if (insn->guarded) {
        LLVMBasicBlockRef b_do = l_block(x, "call");
        b_next = l_block(x, "");
        l_cond_br(x, xl_guard(x, insn), b_do, b_next);
        l_here(x, b_do);
    }
    if (o->callee) call_direct(x, insn, o->callee);
    else call_indirect(x, insn, o);
    if (!b_next) return;
    if (l_open(x)) l_br(x, b_next);
    l_here(x, b_next);
}

/* ------------------------------------------------------------ the end of threads */

static void lower_exit(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    if (!x->return_flag) { jump(x, insn, index, x->b_return); return; }
    LLVMBasicBlockRef b_exit = l_block(x, "exit"), b_here = LLVMGetInsertBlock(x->b);
    l_here(x, b_exit);
    l_store(x, l_i1(x, true), x->return_flag);
    l_br(x, x->b_return);
    l_here(x, b_here);
    jump(x, insn, index, b_exit);
}

static void lower_trap(xl_emitter *x, const ptx_insn *insn)
{
    LLVMBasicBlockRef b_next = NULL;
    if (insn->guarded) {
        LLVMBasicBlockRef b_do = l_block(x, "trap");
        b_next = l_block(x, "");
        l_cond_br(x, xl_guard(x, insn), b_do, b_next);
        l_here(x, b_do);
    }
    xl_fault(x, PXL_FAULT_TRAP, l_i64(x, 0), l_i64(x, 0), l_i64(x, 0));
    if (!b_next) return;                                /* execution may go on in IR; the hardware does not */
    l_br(x, b_next);
    l_here(x, b_next);
}

bool xl_lower_control(xl_emitter *x, const ptx_insn *insn, uint32_t index)
{
    const char *op = insn->operation;
    if (!strcmp(op, "bra")) lower_bra(x, insn, index);
    else if (!strcmp(op, "brx")) lower_brx(x, insn, index);
    else if (!strcmp(op, "call")) lower_call(x, insn);
    else if (!strcmp(op, "ret")) jump(x, insn, index, x->b_return);
    else if (!strcmp(op, "exit")) lower_exit(x, insn, index);
    else if (!strcmp(op, "trap")) lower_trap(x, insn);
    else return false;
    return true;
}
