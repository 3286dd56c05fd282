/* lower_builtin.c - the functions that a CUDA program declares and leaves for the system: vprintf, malloc, free, __assertfail.
 * Their bodies are in ptx/lib/amdgcn.c.
 */
#include <string.h>
#include "ptx/lib/fault.h"
#include "translator/l_llvm.h"

void xl_fault(xl_emitter *x, uint32_t code, LLVMValueRef v_detail0, LLVMValueRef v_detail1, LLVMValueRef v_detail2)
{
    LLVMValueRef args[6] = {l_i32(x, code), l_i32(x, x->insn->at.line), l_i32(x, x->insn->at.column), v_detail0, v_detail1, v_detail2};
    xl_call_helper(x, "pxl_fault", args, 6);
}

static LLVMValueRef argument(xl_emitter *x, const ptx_insn *insn, uint32_t i, unsigned bits)
{
    const ptx_value *v = &insn->args[i];
    if (v->kind != PTX_VALUE_VARIABLE || v->variable->space != PTX_SPACE_PARAM) return xl_read_bits(x, v, bits);
    unsigned as;
    return l_load(x, l_int(x, bits), xl_variable_address(x, v->variable, &as));
}

static void give_result(xl_emitter *x, const ptx_insn *insn, LLVMValueRef v)
{
    if (!insn->nreturns) return;
    const ptx_value *r = &insn->returns[0];
    unsigned as;
    if (r->kind == PTX_VALUE_VARIABLE) l_store(x, v, xl_variable_address(x, r->variable, &as));
    else xl_write(x, r, v);
}

static void lower_vprintf(xl_emitter *x, const ptx_insn *insn)
{
    LLVMValueRef args[2];
    for (uint32_t i = 0; i < 2; i++) args[i] = l_inttoptr(x, argument(x, insn, i, 64), AS_GENERIC);
    give_result(x, insn, xl_call_helper(x, "pxl_vprintf", args, 2));
}

bool xl_lower_builtin(xl_emitter *x, const ptx_insn *insn)
{
    const char *name = insn->operands[0].callee->name;
    LLVMValueRef v;
    if (!strcmp(name, "vprintf") && insn->nargs == 2) { lower_vprintf(x, insn); return true; }
    if (!strcmp(name, "malloc") && insn->nargs == 1) {
        v = argument(x, insn, 0, 64);
        give_result(x, insn, xl_call_helper(x, "pxl_malloc", &v, 1));
        return true;
    }
    if (!strcmp(name, "free") && insn->nargs == 1) {
        LLVMValueRef args[3] = {argument(x, insn, 0, 64), l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
        xl_call_helper(x, "pxl_free", args, 3);
        return true;
    }
    if ((!strcmp(name, "__assertfail") || !strcmp(name, "__assert_fail")) && insn->nargs >= 3) {
        xl_fault(x, PXL_FAULT_ASSERT, argument(x, insn, 0, 64), argument(x, insn, 1, 64), l_zext(x, argument(x, insn, 2, 32), 64));
        return true;
    }
    return false;
}
