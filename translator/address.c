/* address.c - PTX addresses as pointers of AMD's address spaces.
 *
 * A .shared address is an offset in LDS and a .local address an offset in scratch,
 * 32 bits each and held in registers of 32 or 64; .global, .const and generic
 * addresses have 64 bits. An entry's .param block is the kernel argument segment; a
 * device function's parameters are in scratch.
 */
#include <string.h>
#include "translator/l_llvm.h"

static LLVMValueRef param_address(xl_emitter *x, const ptx_variable *v, unsigned *as)
{
    const ptx_prototype *p = &x->ptx->prototype;
    if (v->index < p->nparams && p->params[v->index] == v) {
        *as = x->ptx->is_entry ? AS_CONSTANT : AS_PRIVATE;
        return x->params[v->index];
    }
    *as = AS_PRIVATE;
    if (v->index < p->nreturns && p->returns[v->index] == v) return x->returns[v->index];
    return NULL;
}

static LLVMValueRef local_variable(xl_emitter *x, const ptx_variable *v)
{
    if (v->index < x->ptx->nvariables && x->ptx->variables[v->index] == v) return x->locals[v->index];
    for (uint32_t i = 0; i < x->ptx->nvariables; i++)
        if (x->ptx->variables[i] == v) return x->locals[i];
    return NULL;
}

LLVMValueRef xl_variable_address(xl_emitter *x, const ptx_variable *v, unsigned *as)
{
    LLVMValueRef p = NULL;
    switch (v->space) {
    case PTX_SPACE_SHARED:
        *as = AS_LDS;
        p = v->owner ? local_variable(x, v) : x->variables[v->index];
        break;
    case PTX_SPACE_PARAM:
        p = param_address(x, v, as);
        if (!p) p = local_variable(x, v);
        break;
    case PTX_SPACE_LOCAL:
        *as = AS_PRIVATE;
        p = local_variable(x, v);
        break;
    default:
        *as = AS_GLOBAL;
        p = x->options->host_variables ? xl_table_address(x, v) : v->owner ? local_variable(x, v) : x->variables[v->index];
    }
    if (!p) xl_fail(x, PTX_REASON_UNSUPPORTED, "variable '%s' of space %s cannot be addressed here on this target", v->name, ptx_space_name(v->space));
    return p;
}

/* The address space in which an entry or function sees `space`. */
static unsigned space_of(const xl_emitter *x, ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED: return AS_LDS;
    case PTX_SPACE_LOCAL: return AS_PRIVATE;
    case PTX_SPACE_PARAM: return x->ptx->is_entry ? AS_CONSTANT : AS_PRIVATE;
    case PTX_SPACE_GLOBAL: case PTX_SPACE_CONST: case PTX_SPACE_TEX: return AS_GLOBAL;
    default: return AS_GENERIC;
    }
}

LLVMValueRef xl_pointer(xl_emitter *x, LLVMValueRef v_bits, ptx_space space, unsigned *as)
{
    *as = space_of(x, space);
    unsigned want = *as == AS_LDS || *as == AS_PRIVATE ? 32 : 64, have = LLVMGetIntTypeWidth(LLVMTypeOf(v_bits));
    if (have > want) v_bits = l_trunc(x, v_bits, want);
    if (have < want) v_bits = l_zext(x, v_bits, want);
    return l_inttoptr(x, v_bits, *as);
}

LLVMValueRef xl_address(xl_emitter *x, const ptx_address *a, ptx_space space, unsigned *as)
{
    LLVMValueRef p = NULL;
    switch (a->base) {
    case PTX_BASE_REG: p = xl_pointer(x, xl_read_register(x, a->reg), space, as); break;
    case PTX_BASE_VARIABLE: p = xl_variable_address(x, a->variable, as); break;
    case PTX_BASE_NONE: return xl_pointer(x, l_i64(x, (uint64_t)a->offset), space, as);
    case PTX_BASE_FUNCTION: xl_fail(x, PTX_REASON_UNSUPPORTED, "the code of a function cannot be read");
    }
    if (!a->offset) return p;
    bool narrow = *as == AS_LDS || *as == AS_PRIVATE;
    return l_offset(x, p, l_const(x, narrow ? 32 : 64, (uint64_t)a->offset));
}

/* A pointer of any space as a generic one. The argument segment is ordinary memory. */
LLVMValueRef xl_generic(xl_emitter *x, LLVMValueRef p, unsigned as) { return as == AS_GENERIC ? p : l_spacecast(x, p, AS_GENERIC); }
