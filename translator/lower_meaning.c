/* lower_meaning.c - instructions whose meaning is a function of ptx/lib: a call, its operands cast to the function's types.
 *
 * A guard on an instruction without side effects becomes a select per result:
 * straight-line code that LLVM can schedule. Meanings that touch memory or look at
 * other lanes (they carry the executing mask, or belong to the families warp, mma
 * and texture) are branched around instead, since lanes outside the guard must not take part.
 */
#include <stdio.h>
#include <string.h>
#include "ptx/lib/texture.h"
#include "translator/plan.h"

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

/* ------------------------------------------------------------ textures and surfaces: what is tested before the meaning */

/* The handle of a texture variable is what the variable holds. */
static LLVMValueRef handle_bits(xl_emitter *x, const ptx_value *value)
{
    if (value->kind != PTX_VALUE_VARIABLE) return xl_read_bits(x, value, 64);
    unsigned as;
    LLVMValueRef v = l_load(x, l_int(x, 64), xl_variable_address(x, value->variable, &as));
    LLVMSetAlignment(v, 8);
    return v;
}

/* Where the operands of an instruction hold the handle; n when it takes none. */
static uint32_t handle_place(const ptx_insn *insn, const isa_elem *signature, uint32_t n)
{
    bool takes = false;
    for (uint32_t i = 0; i < insn->form->noperands; i++) takes |= insn->form->operands[i].kind == ISA_OPERAND_TEXTURE;
    for (uint32_t i = 0; i < n && takes; i++)
        if (signature[i].role == ISA_ROLE_SRC) return i;      /* the first source */
    return n;
}

typedef struct surface_geometry { const char *name; pxl_geometry geometry; uint32_t dims; } surface_geometry;
static const surface_geometry geometries[] = {{"1d", PXL_1D, 1}, {"2d", PXL_2D, 2}, {"3d", PXL_3D, 3}, {"a1d", PXL_A1D, 1}, {"a2d", PXL_A2D, 2}};

/* The coordinates follow the handle; a layer comes first. */
static void check_surface(xl_emitter *x, const ptx_insn *insn, const ptx_value *values, uint32_t handle, const surface_geometry *g)
{
    const char *vec = isa_choice(insn->form, &insn->tuple, "vec"), *type = isa_choice(insn->form, &insn->tuple, "t");
    bool layered = g->geometry == PXL_A1D || g->geometry == PXL_A2D;
    uint32_t at_x = handle + 1 + layered, at_y = g->dims > 1 ? at_x + 1 : at_x, at_z = layered ? handle + 1 : g->dims > 2 ? at_x + 2 : at_x;
    uint32_t bytes = ptx_type_bytes(ptx_type_from_name(type, (uint32_t)strlen(type))) * (vec ? (uint32_t)(vec[1] - '0') : 1);
    if (isa_choice(insn->form, &insn->tuple, "p"))        /* x counts samples; those of sust.p are texels */
        bytes = 0x80000000u | (strcmp(insn->form->mnemonic, "sust") ? bytes : 0);
    LLVMValueRef args[8] = {handle_bits(x, &values[handle]), l_i32(x, g->geometry), xl_read_bits(x, &values[at_x], 32),
                            xl_read_bits(x, &values[at_y], 32), xl_read_bits(x, &values[at_z], 32), l_i32(x, bytes),
                            l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
    xl_call_helper(x, "pxl_check_surface", args, 8);
}

static void check_handle(xl_emitter *x, const ptx_insn *insn, const ptx_value *values, uint32_t handle)
{
    LLVMValueRef args[3] = {handle_bits(x, &values[handle]), l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
    xl_call_helper(x, "pxl_check_handle", args, 3);
    const char *clamp = isa_choice(insn->form, &insn->tuple, "clamp");
    if (!clamp || strcmp(clamp, "trap") || !isa_choice(insn->form, &insn->tuple, "t")) return;
    for (size_t k = 0; k < sizeof geometries / sizeof *geometries; k++)
        if (isa_choice(insn->form, &insn->tuple, geometries[k].name)) check_surface(x, insn, values, handle, &geometries[k]);
}

const char *xl_planted_fault;

/* The name of the function for a meaning; see xl_planted_fault. */
static const char *function_of(uint32_t meaning)
{
    const char *name = isa_meaning_names[meaning];
    size_t n = strlen(name);
    bool planted = xl_planted_fault && !strncmp(xl_planted_fault, name, n) && xl_planted_fault[n] == '=';
    return planted ? xl_planted_fault + n + 1 : name;
}

/* Among the arguments of a collective that names its lanes, the mask: the last source. */
static unsigned mask_place(const isa_elem *signature, uint32_t n)
{
    unsigned place = 0, at = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (signature[i].role == ISA_ROLE_SRC) place = at;
        at++;                                              /* results come first: as pointers, or counted off by the caller */
    }
    return place;
}

static void call_meaning(xl_emitter *x, const ptx_insn *insn, const isa_elem *signature, const ptx_value *values, uint32_t n, LLVMValueRef v_guard)
{
    char name[160];
    bool collective = xl_is_collective(insn), meets = collective && xl_waits_for_lanes(x);
    bool masked = collective && !strcmp(insn->form->family, "warp") && !strstr(insn->form->pattern, ".aligned"), named = meets && masked;
    if (meets && !named) xl_rendezvous(x, NULL);           /* .aligned: the whole warp comes here */
    if (x->options->mma_fast && xl_lower_matrix_core(x, isa_meaning_names[insn->meaning], signature, values, n)) return;
    snprintf(name, sizeof name, "pxl_%s", function_of(insn->meaning));
    uint32_t handle = handle_place(insn, signature, n);
    if (handle < n) check_handle(x, insn, values, handle);
    LLVMValueRef fn = xl_helper(x, name);
    LLVMTypeRef type = LLVMGlobalGetValueType(fn), result = LLVMGetReturnType(type);
    LLVMTypeRef wanted[ISA_MAX_ELEMS];
    LLVMValueRef args[ISA_MAX_ELEMS];
    unsigned nwanted = LLVMCountParamTypes(type), nargs = 0;
    if (nwanted > ISA_MAX_ELEMS) xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: '%s' has too many parameters", name);
    LLVMGetParamTypes(type, wanted);

    bool asks = !strcmp(insn->form->mnemonic, "istypep");            /* any number may be asked about */
    bool pointers = LLVMGetTypeKind(result) == LLVMVoidTypeKind;      /* several results: leading out-pointers */
    for (uint32_t i = 0; i < n && pointers; i++)
        if (signature[i].role == ISA_ROLE_DST) args[nargs++] = xl_entry_alloca(x, xl_element_type(x, signature[i].type));
    for (uint32_t i = 0; i < n; i++)
        if (signature[i].role != ISA_ROLE_DST && nargs < nwanted) {
            args[nargs] = i == handle ? handle_bits(x, &values[i]) : argument(x, &values[i], wanted[nargs]);
            if (asks && signature[i].role == ISA_ROLE_SRC) args[nargs] = xl_call_helper(x, "pxl_known_handle", &args[nargs], 1);
            nargs++;
        }
    if (nargs != nwanted) xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: '%s' takes %u values, the instruction gives %u", name, nwanted, nargs);
    LLVMValueRef v = NULL, met[ISA_MAX_ELEMS];
    unsigned nresults = 0;
    for (uint32_t i = 0; i < n; i++) nresults += signature[i].role == ISA_ROLE_DST;
    unsigned mask = masked ? mask_place(signature, n) - (pointers ? 0 : nresults) : 0;
    if (named) {
        unsigned npointers = pointers ? nresults : 0;
        xl_meet(x, fn, args, nargs, npointers, mask, met);
        v = met[0];
    } else {
        if (masked) args[mask] = l_and(x, args[mask], xl_lanes_here(x));   /* "non-exited threads corresponding to membermask" */
        v = LLVMBuildCall2(x->b, type, fn, args, nargs, "");
    }

    unsigned k = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (signature[i].role != ISA_ROLE_DST) continue;
        LLVMValueRef v_one = v;
        if (pointers && named) v_one = met[k];
        else if (pointers) v_one = l_load(x, xl_element_type(x, signature[i].type), args[k]);
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
