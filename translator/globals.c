/* globals.c - module variables: .global and .const as device globals, .shared in LDS.
 *
 * A variable keeps its PTX name, so that the runtime finds it by name in the code
 * object; or, with host_variables, it is a slot of the table pxb_variables that the host fills in
 * before the first launch. Dynamic shared memory follows a kernel's static LDS.
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

/* ------------------------------------------------------------ the host's variables */

static bool in_memory(const ptx_variable *v)
{
    return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_TEX;
}

static uint32_t count_slots(const ptx_variable *const *list, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += in_memory(list[i]);
    return count;
}

uint32_t xl_variable_slots(const ptx_module *m)
{
    uint32_t count = count_slots((const ptx_variable *const *)m->variables, m->nvariables);
    for (uint32_t i = 0; i < m->nfunctions; i++) count += count_slots(m->functions[i]->variables, m->functions[i]->nvariables);
    return count;
}

/* Slots before the variable in its list, or UINT32_MAX when the list does not have it. */
static uint32_t place_in(const ptx_variable *const *list, uint32_t n, const ptx_variable *v)
{
    for (uint32_t i = 0, count = 0; i < n; i++) {
        if (list[i] == v) return count;
        count += in_memory(list[i]);
    }
    return UINT32_MAX;
}

uint32_t xl_variable_slot(const ptx_module *m, const ptx_variable *v)
{
    if (!in_memory(v)) return UINT32_MAX;
    if (!v->owner) return place_in((const ptx_variable *const *)m->variables, m->nvariables, v);
    uint32_t before = count_slots((const ptx_variable *const *)m->variables, m->nvariables);
    for (uint32_t i = 0; i < v->owner->index; i++) before += count_slots(m->functions[i]->variables, m->functions[i]->nvariables);
    uint32_t place = place_in(v->owner->variables, v->owner->nvariables, v);
    return place == UINT32_MAX ? place : before + place;
}

/* The table does not change during a launch: the load is invariant, and uniform, so it becomes a scalar load. */
LLVMValueRef xl_table_address(xl_emitter *x, const ptx_variable *v)
{
    uint32_t slot = xl_variable_slot(x->module, v);
    if (slot == UINT32_MAX) return NULL;
    if (!x->table) {
        LLVMTypeRef type = LLVMArrayType2(l_int(x, 64), xl_variable_slots(x->module));
        x->table = LLVMAddGlobalInAddressSpace(x->llvm, type, "pxb_variables", AS_GLOBAL);
        LLVMSetInitializer(x->table, LLVMConstNull(type));
        LLVMSetExternallyInitialized(x->table, true);
        LLVMSetVisibility(x->table, LLVMProtectedVisibility);
        LLVMSetAlignment(x->table, 8);
    }
    LLVMValueRef v_address = l_load(x, l_ptr(x, AS_GLOBAL), l_offset_k(x, x->table, 8 * (uint64_t)slot));
    LLVMSetAlignment(v_address, 8);
    LLVMSetMetadata(v_address, LLVMGetMDKindIDInContext(x->context, "invariant.load", 14), LLVMMDNodeInContext(x->context, NULL, 0));
    return v_address;
}

/* ------------------------------------------------------------ variables as symbols */

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
        if (in_memory(v)) {
            if (!x->options->host_variables) x->variables[i] = xl_declare_variable(x, v, v->name);
        }
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

/* Indexed as the module's functions. One whose address cannot be taken (it may execute exit) has 0. */
void xl_define_functions(xl_emitter *x)
{
    uint32_t n = x->module->nfunctions;
    LLVMValueRef *parts = xl_alloc(x, ((size_t)n + 1) * sizeof *parts);
    for (uint32_t i = 0; i < n; i++) {
        const xl_function *f = &x->functions[i];
        bool has = f->value && !f->may_exit && !f->ptx->is_entry;
        parts[i] = has ? LLVMConstPtrToInt(f->value, l_int(x, 64)) : l_i64(x, 0);
    }
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(x->llvm, LLVMArrayType2(l_int(x, 64), n), "pxb_functions", AS_GLOBAL);
    LLVMSetInitializer(g, LLVMConstArray2(l_int(x, 64), parts, n));
    LLVMSetExternallyInitialized(g, true);
    LLVMSetVisibility(g, LLVMProtectedVisibility);
    LLVMSetAlignment(g, 8);
}
