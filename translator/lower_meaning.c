/* lower_meaning.c - instructions whose meaning is a function of ptx/lib: a call, its operands cast to the function's types.
 *
 * A guard on an instruction without side effects becomes a select per result:
 * straight-line code that LLVM can schedule. Meanings that touch memory or look at
 * other lanes (they carry the executing mask, or belong to the families warp, mma
 * and texture) are branched around instead, since lanes outside the guard must not take part.
 */
#include <stdio.h>
#include <string.h>
#include "translator/l_llvm.h"

static bool needs_branch(const ptx_insn *insn, const isa_elem *signature, uint32_t n)
{
    const char *family = insn->form->family;
    if (!strcmp(family, "warp") || !strcmp(family, "mma") || !strcmp(family, "texture")) return true;
    for (uint32_t i = 0; i < n; i++)
        if (signature[i].role == ISA_ROLE_EXEC) return true;
    return false;
}

static LLVMValueRef argument(xl_emitter *x, const ptx_value *value, LLVMTypeRef want)
{
    if (value->kind == PTX_VALUE_MODEL) return l_i32(x, x->options->mma_model);
    LLVMTypeKind kind = LLVMGetTypeKind(want);
    if (kind == LLVMIntegerTypeKind) return xl_read_bits(x, value, LLVMGetIntTypeWidth(want));
    return l_bitcast(x, xl_read(x, value), want);
}

static LLVMValueRef as_bits(xl_emitter *x, LLVMValueRef v, ptx_type type)
{
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind) return v;
    return l_bitcast(x, v, l_int(x, ptx_type_bytes(type) * 8));
}

/* Results go to their registers, kept where a guard (NULL = none) is false. */
static void write_result(xl_emitter *x, const ptx_value *value, LLVMValueRef v, LLVMValueRef v_guard)
{
    if (value->kind != PTX_VALUE_REG) return;
    LLVMValueRef v_old = v_guard ? xl_read_register(x, value->reg) : NULL;
    xl_write(x, value, as_bits(x, v, value->type));
    if (v_guard) {
        LLVMValueRef v_new = xl_read_register(x, value->reg);
        l_store(x, l_select(x, v_guard, v_new, v_old), x->registers[value->reg]);
    }
}

/* Temporaries live in the entry block, where mem2reg can remove them. */
static LLVMValueRef entry_alloca(xl_emitter *x, LLVMTypeRef type)
{
    LLVMBasicBlockRef b_now = LLVMGetInsertBlock(x->b), b_entry = LLVMGetEntryBasicBlock(x->fn);
    LLVMPositionBuilderBefore(x->b, LLVMGetFirstInstruction(b_entry));
    LLVMValueRef v = l_alloca(x, type);
    l_here(x, b_now);
    return v;
}

static void call_meaning(xl_emitter *x, const ptx_insn *insn, const isa_elem *signature, const ptx_value *values, uint32_t n, LLVMValueRef v_guard)
{
    char name[160];
    snprintf(name, sizeof name, "pxl_%s", isa_meaning_names[insn->meaning]);
    LLVMValueRef fn = xl_helper(x, name);
    LLVMTypeRef type = LLVMGlobalGetValueType(fn), result = LLVMGetReturnType(type);
    LLVMTypeRef wanted[ISA_MAX_ELEMS];
    LLVMValueRef args[ISA_MAX_ELEMS];
    unsigned nwanted = LLVMCountParamTypes(type), nargs = 0;
    if (nwanted > ISA_MAX_ELEMS) xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: '%s' has too many parameters", name);
    LLVMGetParamTypes(type, wanted);

    bool pointers = LLVMGetTypeKind(result) == LLVMVoidTypeKind;      /* several results: leading out-pointers */
    for (uint32_t i = 0; i < n && pointers; i++)
        if (signature[i].role == ISA_ROLE_DST) args[nargs++] = entry_alloca(x, xl_element_type(x, signature[i].type));
    for (uint32_t i = 0; i < n; i++)
        if (signature[i].role != ISA_ROLE_DST && nargs < nwanted) {
            args[nargs] = argument(x, &values[i], wanted[nargs]);
            nargs++;
        }
    if (nargs != nwanted) xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: '%s' takes %u values, the instruction gives %u", name, nwanted, nargs);
    LLVMValueRef v = LLVMBuildCall2(x->b, type, fn, args, nargs, "");

    unsigned k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (signature[i].role != ISA_ROLE_DST) continue;
        LLVMValueRef v_one = v;
        if (pointers) v_one = l_load(x, xl_element_type(x, signature[i].type), args[k]);
        else if (LLVMGetTypeKind(result) == LLVMVectorTypeKind) v_one = l_element(x, v, k);
        write_result(x, &values[i], v_one, v_guard);
        k++;
    }
}

void xl_lower_meaning(xl_emitter *x, const ptx_insn *insn)
{
    isa_elem signature[ISA_MAX_ELEMS];
    ptx_value values[ISA_MAX_ELEMS];
    uint32_t n = isa_signature(insn->form, &insn->tuple, signature);
    ptx_flatten(insn, values);
    if (!insn->guarded) { call_meaning(x, insn, signature, values, n, NULL); return; }
    LLVMValueRef v_guard = xl_guard(x, insn);
    if (!needs_branch(insn, signature, n)) { call_meaning(x, insn, signature, values, n, v_guard); return; }
    LLVMBasicBlockRef b_do = l_block(x, "do"), b_next = l_block(x, "next");
    l_cond_br(x, v_guard, b_do, b_next);
    l_here(x, b_do);
    call_meaning(x, insn, signature, values, n, NULL);
    l_br(x, b_next);
    l_here(x, b_next);
}
