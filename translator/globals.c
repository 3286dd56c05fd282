/* globals.c - module variables: .global and .const as device globals, .shared in LDS.
 *
 * A variable keeps its PTX name, so that the runtime finds it by name in the code
 * object. Dynamic shared memory follows a kernel's static LDS.
 */
#include <stdlib.h>
#include <string.h>
#include "translator/l_llvm.h"

static LLVMValueRef bytes_constant(xl_emitter *x, const uint8_t *data, uint64_t size)
{
    return LLVMConstStringInContext2(x->context, (const char *)data, size, true);
}

static LLVMValueRef relocation_value(xl_emitter *x, const ptx_variable *v, const ptx_relocation *r)
{
    if (r->bytes != 8 || r->shift)
        xl_fail(x, PTX_REASON_UNSUPPORTED, "the initialiser of '%s' takes a part of an address, which no AMD relocation expresses", v->name);
    LLVMValueRef v_target = NULL;
    if (r->function) v_target = x->functions[r->function->index].value;
    else if (r->variable && !r->variable->owner && (r->variable->space == PTX_SPACE_GLOBAL || r->variable->space == PTX_SPACE_CONST))
        v_target = x->variables[r->variable->index];
    if (!v_target) xl_fail(x, PTX_REASON_UNSUPPORTED, "the initialiser of '%s' names something that has no address in global memory", v->name);
    LLVMValueRef v_int = LLVMConstPtrToInt(v_target, l_int(x, 64));
    return r->addend ? LLVMConstAdd(v_int, l_i64(x, (uint64_t)r->addend)) : v_int;
}

static int by_offset(const void *a, const void *b)
{
    const ptx_relocation *const *p = a, *const *q = b;
    return (*p)->offset < (*q)->offset ? -1 : (*p)->offset > (*q)->offset;
}

static const ptx_relocation **sorted_relocations(xl_emitter *x, const ptx_variable *v)
{
    const ptx_relocation **sorted = xl_alloc(x, v->nrelocations * sizeof *sorted);
    for (uint32_t i = 0; i < v->nrelocations; i++) sorted[i] = &v->relocations[i];
    qsort(sorted, v->nrelocations, sizeof *sorted, by_offset);
    return sorted;
}

/* Bytes between relocations and the relocated words, as a packed structure. */
static LLVMValueRef relocated_constant(xl_emitter *x, const ptx_variable *v)
{
    uint32_t n = v->nrelocations, k = 0;
    const ptx_relocation **sorted = sorted_relocations(x, v);
    LLVMValueRef *parts = xl_alloc(x, (2 * (size_t)n + 1) * sizeof *parts);
    uint64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (sorted[i]->offset > at) parts[k++] = bytes_constant(x, v->init + at, sorted[i]->offset - at);
        parts[k++] = relocation_value(x, v, sorted[i]);
        at = sorted[i]->offset + 8u;
    }
    if (at < v->size) parts[k++] = bytes_constant(x, v->init + at, v->size - at);
    return LLVMConstStructInContext(x->context, parts, k, true);
}

static LLVMTypeRef variable_type(xl_emitter *x, const ptx_variable *v)
{
    if (!v->nrelocations) return LLVMArrayType2(l_int(x, 8), v->size);
    uint64_t at = 0;
    LLVMTypeRef *parts = xl_alloc(x, (2 * (size_t)v->nrelocations + 1) * sizeof *parts);
    const ptx_relocation **sorted = sorted_relocations(x, v);
    uint32_t k = 0;
    for (uint32_t i = 0; i < v->nrelocations; i++) {
        if (sorted[i]->offset > at) parts[k++] = LLVMArrayType2(l_int(x, 8), sorted[i]->offset - at);
        parts[k++] = l_int(x, 64);
        at = sorted[i]->offset + 8u;
    }
    if (at < v->size) parts[k++] = LLVMArrayType2(l_int(x, 8), v->size - at);
    return LLVMStructTypeInContext(x->context, parts, k, true);
}

LLVMValueRef xl_declare_variable(xl_emitter *x, const ptx_variable *v, const char *name)
{
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(x->llvm, variable_type(x, v), name, AS_GLOBAL);
    LLVMSetAlignment(g, v->align ? v->align : 1);
    if (v->linkage == PTX_LINK_EXTERN) return g;          /* defined by another module */
    LLVMSetExternallyInitialized(g, true);                /* the host may write it by name before a launch */
    LLVMSetVisibility(g, LLVMProtectedVisibility);
    return g;
}

void xl_define_variable(xl_emitter *x, const ptx_variable *v, LLVMValueRef g)
{
    if (v->linkage == PTX_LINK_EXTERN) return;
    if (!v->init) LLVMSetInitializer(g, LLVMConstNull(LLVMGlobalGetValueType(g)));
    else if (v->nrelocations) LLVMSetInitializer(g, relocated_constant(x, v));
    else LLVMSetInitializer(g, bytes_constant(x, v->init, v->size));
}

/* Each .shared variable is an LDS global of its own: LLVM lays out, for every kernel, those that it reaches. */
LLVMValueRef xl_declare_shared(xl_emitter *x, const ptx_variable *v, const char *name)
{
    if (v->linkage == PTX_LINK_EXTERN) return x->dynamic_lds;          /* all of them start at the same place */
    LLVMTypeRef type = LLVMArrayType2(l_int(x, 8), v->size);
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(x->llvm, type, name, AS_LDS);
    LLVMSetInitializer(g, LLVMGetUndef(type));
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetAlignment(g, v->align > 16 ? v->align : 16);                /* vector accesses to narrower arrays are common */
    return g;
}

void xl_declare_variables(xl_emitter *x)
{
    x->dynamic_lds = LLVMAddGlobalInAddressSpace(x->llvm, LLVMArrayType2(l_int(x, 8), 0), "pxb.dynamic_shared", AS_LDS);
    LLVMSetAlignment(x->dynamic_lds, 16);
    for (uint32_t i = 0; i < x->module->nvariables; i++) {
        const ptx_variable *v = x->module->variables[i];
        if (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_TEX)
            x->variables[i] = xl_declare_variable(x, v, v->name);
        else if (v->space == PTX_SPACE_SHARED)
            x->variables[i] = xl_declare_shared(x, v, v->name);
    }
}

/* After the functions are declared, since initialisers may hold their addresses. */
void xl_define_variables(xl_emitter *x)
{
    for (uint32_t i = 0; i < x->module->nvariables; i++)
        if (x->variables[i] && x->module->variables[i]->space != PTX_SPACE_SHARED) xl_define_variable(x, x->module->variables[i], x->variables[i]);
}
