/* lower_memory.c - ld, st, ldu, prefetch, address conversion, stack.
 *
 * Cache operators and eviction hints do not change values and are dropped.
 * .volatile becomes volatile; .relaxed, .acquire and .release become LLVM atomics
 * of the scope, or volatile accesses with fences where an access is a vector.
 */
#include <string.h>
#include "ptx/lib/fault.h"
#include "translator/l_llvm.h"

static const char *choice(const ptx_insn *insn, const char *group) { return isa_choice(insn->form, &insn->tuple, group); }

ptx_space xl_space(const ptx_insn *insn)
{
    const char *s = choice(insn, "space");
    if (!s) return PTX_SPACE_GENERIC;
    if (!strncmp(s, "shared", 6)) return PTX_SPACE_SHARED;
    if (!strncmp(s, "param", 5)) return PTX_SPACE_PARAM;
    if (!strcmp(s, "global")) return PTX_SPACE_GLOBAL;
    if (!strcmp(s, "local")) return PTX_SPACE_LOCAL;
    return PTX_SPACE_CONST;
}

/* LLVM's synchronisation scopes of the AMDGPU backend. A cluster is one block. */
const char *xl_scope(const ptx_insn *insn)
{
    const char *s = choice(insn, "scope");
    if (!s || !strcmp(s, "gpu")) return "agent";
    return !strcmp(s, "sys") ? "" : "workgroup";
}

static LLVMTypeRef access_type(xl_emitter *x, const ptx_operand *o, unsigned *bytes)
{
    unsigned each = ptx_type_bytes(o->values[0].type);
    *bytes = each * o->nvalues;
    LLVMTypeRef t = l_int(x, each * 8);
    return o->nvalues > 1 ? LLVMVectorType(t, o->nvalues) : t;
}

/* Gives an access its ordering; returns the fence that must follow a load or precede a store, if any. */
static void set_order(xl_emitter *x, const ptx_insn *insn, LLVMValueRef access, bool scalar)
{
    const char *sem = choice(insn, "sem"), *cop = choice(insn, "cop");
    if (cop && !strcmp(cop, "cv")) LLVMSetVolatile(access, true);
    if (!sem || !strcmp(sem, "weak")) return;
    if (!strcmp(sem, "volatile") || !scalar) { LLVMSetVolatile(access, true); return; }
    LLVMSetOrdering(access, !strcmp(sem, "acquire") ? LLVMAtomicOrderingAcquire
                          : !strcmp(sem, "release") ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingMonotonic);
    l_scope(x, access, xl_scope(insn));
}

static bool vector_needs_fence(const ptx_insn *insn, bool scalar, const char *which)
{
    const char *sem = choice(insn, "sem");
    return !scalar && sem && !strcmp(sem, which);
}

/* The argument segment is followed by what is not the kernel's: an address in a register has to lie inside. (The checker has seen to constant
 * ones.) */
static void check_parameter(xl_emitter *x, LLVMValueRef p, unsigned bytes)
{
    const uint64_t size = x->ptx->param_size;
    LLVMValueRef v_address = l_ptrtoint(x, p, 64), v_base = size ? l_ptrtoint(x, LLVMGetParam(x->fn, 0), 64) : v_address;
    LLVMBasicBlockRef b_outside = l_block(x, "outside"), b_inside = l_block(x, "inside");
    l_cond_br(x, l_icmp(x, LLVMIntULT, l_sub(x, v_address, v_base), l_i64(x, size >= bytes ? size - bytes + 1 : 0)), b_inside, b_outside);
    l_here(x, b_outside);
    xl_fault(x, PXL_FAULT_PARAM, v_address, l_i64(x, bytes), l_i64(x, 0));
    l_br(x, b_inside);
    l_here(x, b_inside);
}

static void lower_ld(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *d = &insn->operands[0], *a = &insn->operands[1];
    unsigned as, bytes;
    LLVMValueRef p = xl_address(x, &a->address, xl_space(insn), &as);
    LLVMTypeRef type = access_type(x, d, &bytes);
    if (xl_space(insn) == PTX_SPACE_PARAM && x->ptx->is_entry && a->address.base != PTX_BASE_VARIABLE) check_parameter(x, p, bytes);
    bool scalar = d->nvalues == 1 && bytes <= 8;
    LLVMValueRef v = l_load(x, type, p);
    LLVMSetAlignment(v, bytes);
    set_order(x, insn, v, scalar);
    if (vector_needs_fence(insn, scalar, "acquire")) l_fence(x, LLVMAtomicOrderingAcquire, xl_scope(insn));
    for (uint32_t i = 0; i < d->nvalues; i++) xl_write(x, &d->values[i], d->nvalues > 1 ? l_element(x, v, i) : v);
}

static void lower_st(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *a = &insn->operands[0], *s = &insn->operands[1];
    unsigned as, bytes;
    LLVMValueRef p = xl_address(x, &a->address, xl_space(insn), &as);
    LLVMTypeRef type = access_type(x, s, &bytes);
    bool scalar = s->nvalues == 1 && bytes <= 8;
    if (vector_needs_fence(insn, scalar, "release")) l_fence(x, LLVMAtomicOrderingRelease, xl_scope(insn));
    LLVMValueRef v = s->nvalues > 1 ? LLVMGetUndef(type) : xl_read(x, &s->values[0]);
    for (uint32_t i = 0; s->nvalues > 1 && i < s->nvalues; i++)
        v = LLVMBuildInsertElement(x->b, v, xl_read(x, &s->values[i]), l_i32(x, i), "");
    LLVMValueRef v_store = l_store(x, v, p);
    LLVMSetAlignment(v_store, bytes);
    set_order(x, insn, v_store, scalar);
}

/* ------------------------------------------------------------ address conversion */

static LLVMValueRef to_bits64(xl_emitter *x, LLVMValueRef p, unsigned as)
{
    bool narrow = as == AS_LDS || as == AS_PRIVATE;
    LLVMValueRef v = l_ptrtoint(x, p, narrow ? 32 : 64);
    return narrow ? l_zext(x, v, 64) : v;
}

static void lower_cvta(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_value *d = &insn->operands[0].values[0], *s = &insn->operands[1].values[0];
    unsigned as;
    bool to_space = choice(insn, "to") != NULL;
    LLVMValueRef v;
    if (to_space) {
        LLVMValueRef p = xl_pointer(x, xl_read_bits(x, s, 64), PTX_SPACE_GENERIC, &as);
        xl_pointer(x, l_i64(x, 0), xl_space(insn), &as);
        v = to_bits64(x, as == AS_GENERIC ? p : l_spacecast(x, p, as), as);
    } else {
        LLVMValueRef p = xl_pointer(x, xl_read_bits(x, s, 64), xl_space(insn), &as);
        v = to_bits64(x, xl_generic(x, p, as), AS_GENERIC);
    }
    if (ptx_type_bytes(d->type) == 4) v = l_trunc(x, v, 32);
    xl_write(x, d, v);
}

/* base <= address < base + size, as one unsigned comparison. */
static LLVMValueRef inside(xl_emitter *x, LLVMValueRef v_address, LLVMValueRef p_base, unsigned as, uint64_t size)
{
    LLVMValueRef v_base = l_ptrtoint(x, xl_generic(x, p_base, as), 64);
    return l_icmp(x, LLVMIntULT, l_sub(x, v_address, v_base), l_i64(x, size));
}

/* .const variables lie in global memory here, so that space is the set of their ranges. */
static LLVMValueRef in_constants(xl_emitter *x, LLVMValueRef v_address)
{
    LLVMValueRef v = l_i1(x, false);
    for (uint32_t i = 0; i < x->module->nvariables; i++) {
        const ptx_variable *c = x->module->variables[i];
        if (c->space != PTX_SPACE_CONST) continue;
        unsigned as;
        v = l_or(x, v, inside(x, v_address, xl_variable_address(x, c, &as), AS_GLOBAL, c->size));
    }
    return v;
}

static LLVMValueRef in_params(xl_emitter *x, LLVMValueRef v_address)
{
    if (!x->ptx->is_entry || !x->ptx->param_size) return l_i1(x, false);
    return inside(x, v_address, LLVMGetParam(x->fn, 0), AS_CONSTANT, x->ptx->param_size);
}

static void lower_isspacep(xl_emitter *x, const ptx_insn *insn)
{
    LLVMValueRef v_address = xl_read_bits(x, &insn->operands[1].values[0], 64);
    LLVMValueRef p = l_inttoptr(x, v_address, AS_GENERIC), v;
    LLVMValueRef v_shared = l_intrinsic(x, "llvm.amdgcn.is.shared", NULL, 0, &p, 1);
    LLVMValueRef v_local = l_intrinsic(x, "llvm.amdgcn.is.private", NULL, 0, &p, 1);
    switch (xl_space(insn)) {
    case PTX_SPACE_SHARED: v = v_shared; break;
    case PTX_SPACE_LOCAL: v = v_local; break;
    case PTX_SPACE_CONST: v = in_constants(x, v_address); break;
    case PTX_SPACE_PARAM: v = in_params(x, v_address); break;
    default:
        v = l_not(x, l_or(x, l_or(x, v_shared, v_local), l_or(x, in_constants(x, v_address), in_params(x, v_address))));
    }
    xl_write(x, &insn->operands[0].values[0], v);
}

/* ------------------------------------------------------------ stack */

/* alloca: the size may differ per lane; LLVM reserves the largest. Alignment is the second operand, 8 at least. */
static void lower_alloca(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_value *size = &insn->operands[1].values[0];
    const ptx_operand *align = insn->noperands > 2 && insn->operands[2].kind != ISA_OPERAND_NONE ? &insn->operands[2] : NULL;
    LLVMValueRef v_size = xl_read_bits(x, size, 32);
    LLVMValueRef p = LLVMBuildArrayAlloca(x->b, l_int(x, 8), v_size, "");
    LLVMSetAlignment(p, align && align->values[0].imm > 8 ? (unsigned)align->values[0].imm : 8);
    LLVMValueRef v = l_ptrtoint(x, p, 32);
    if (ptx_type_bytes(insn->operands[0].values[0].type) == 8) v = l_zext(x, v, 64);
    xl_write(x, &insn->operands[0].values[0], v);
}

static LLVMTypeRef stack_pointer(xl_emitter *x)
{
    return LLVMPointerTypeInContext(x->context, AS_PRIVATE);
}

static void lower_stacksave(xl_emitter *x, const ptx_insn *insn)
{
    LLVMTypeRef type = stack_pointer(x);
    LLVMValueRef v = l_ptrtoint(x, l_intrinsic(x, "llvm.stacksave", &type, 1, NULL, 0), 32);
    if (ptx_type_bytes(insn->operands[0].values[0].type) == 8) v = l_zext(x, v, 64);
    xl_write(x, &insn->operands[0].values[0], v);
}

/* The stack pointer is the wavefront's, a PTX thread's its own. So memory is given back only where all lanes are here and mean the same place:
 * elsewhere a lane might lose what it still uses. */
static void lower_stackrestore(xl_emitter *x, const ptx_insn *insn)
{
    LLVMTypeRef type = stack_pointer(x), i64 = l_int(x, 64);
    LLVMTypeRef i32 = l_int(x, 32);
    LLVMValueRef v = xl_read_bits(x, &insn->operands[0].values[0], 32);
    LLVMValueRef v_first = l_intrinsic(x, "llvm.amdgcn.readfirstlane", &i32, 1, &v, 1);
    LLVMValueRef v_same = l_icmp(x, LLVMIntEQ, v, v_first);
    LLVMValueRef v_lanes = l_intrinsic(x, "llvm.amdgcn.ballot", &i64, 1, &v_same, 1);
    LLVMValueRef v_all = x->wave == 64 ? l_i64(x, ~0ull) : l_i64(x, 0xffffffff);
    LLVMBasicBlockRef b_restore = l_block(x, "restore"), b_next = l_block(x, "restored");
    l_cond_br(x, l_icmp(x, LLVMIntEQ, v_lanes, v_all), b_restore, b_next);
    l_here(x, b_restore);
    LLVMValueRef p = l_inttoptr(x, v_first, AS_PRIVATE);
    l_intrinsic(x, "llvm.stackrestore", &type, 1, &p, 1);
    l_br(x, b_next);
    l_here(x, b_next);
}

bool xl_lower_memory(xl_emitter *x, const ptx_insn *insn)
{
    const char *op = insn->operation;
    if (!strcmp(op, "ld")) lower_ld(x, insn);
    else if (!strcmp(op, "st") || !strcmp(op, "st_async")) lower_st(x, insn);
    else if (!strcmp(op, "cvta")) lower_cvta(x, insn);
    else if (!strcmp(op, "isspacep")) lower_isspacep(x, insn);
    else if (!strcmp(op, "alloca")) lower_alloca(x, insn);
    else if (!strcmp(op, "stacksave")) lower_stacksave(x, insn);
    else if (!strcmp(op, "stackrestore")) lower_stackrestore(x, insn);
    else if (!strcmp(op, "createpolicy")) xl_write(x, &insn->operands[0].values[0], l_i64(x, 0));  /* hints change no value */
    else return !strcmp(op, "prefetch");                                                            /* nor does this */
    return true;
}
