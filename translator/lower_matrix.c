/* lower_matrix.c - matrix loads and stores, asynchronous copies.
 *
 * ldmatrix and stmatrix (PTX ISA, "ldmatrix"): matrix i of eight rows of 16 bytes has its row
 * addresses in lanes 8i to 8i+7; lane l holds the words of row l/4, columns 2(l%4) and the next.
 * Transposed, it holds column l/4 of rows 2(l%4) and the next.
 */
#include <stdio.h>
#include <string.h>
#include "ptx/lib/matrix_layout.h"
#include "translator/plan.h"

static const char *choice(const ptx_insn *insn, const char *group) { return isa_choice(insn->form, &insn->tuple, group); }

static LLVMValueRef shared_offset(xl_emitter *x, const ptx_address *a, ptx_space space)
{
    unsigned as;
    LLVMValueRef p = xl_address(x, a, space, &as);
    if (as == AS_GENERIC) p = l_spacecast(x, p, AS_LDS);
    return l_ptrtoint(x, p, 32);
}

/* Row addresses as this lane needs them, with the lane's place in a row added. */
typedef struct row_places { LLVMValueRef v_address, v_row, v_column; } row_places;

static row_places places(xl_emitter *x, const ptx_insn *insn, const ptx_operand *a, bool trans)
{
    row_places r;
    LLVMValueRef v_lane = xl_call_helper(x, "pxl_lane_id", NULL, 0);
    LLVMValueRef v_group = l_lshr(x, v_lane, l_i32(x, 2)), v_in_group = l_and(x, v_lane, l_i32(x, 3));
    r.v_address = shared_offset(x, &a->address, xl_space(insn));
    r.v_row = trans ? l_shl(x, v_in_group, l_i32(x, 1)) : v_group;
    r.v_column = trans ? l_shl(x, v_group, l_i32(x, 1)) : l_shl(x, v_in_group, l_i32(x, 2));   /* bytes */
    return r;
}

/* Where this lane's half `half` (transposed) or word of matrix `i` lies. */
static LLVMValueRef place(xl_emitter *x, const row_places *r, uint32_t i, uint32_t half)
{
    LLVMValueRef args[2] = {r->v_address, l_add(x, r->v_row, l_i32(x, 8 * i + half))};
    LLVMValueRef v = xl_call_helper(x, "pxl_lane_read", args, 2);
    return l_inttoptr(x, l_add(x, v, r->v_column), AS_LDS);
}

/* The shapes of bytes (ptx/lib/matrix_layout.h); false for m8n8. */
static bool byte_shape(const ptx_insn *insn, uint32_t *shape, uint32_t *bits)
{
    const char *name = choice(insn, "shape"), *packed = choice(insn, "from");
    *bits = packed ? (uint32_t)(packed[1] - '0') : 8;
    *shape = !strcmp(name, "m16n16") ? PXL_MATRIX_M16N16 : !strcmp(name, "m8n16") ? PXL_MATRIX_M8N16 : PXL_MATRIX_M16N8;
    return strcmp(name, "m8n8") != 0;
}

static void lower_ldmatrix(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *d = &insn->operands[0];
    uint32_t shape, bits;
    if (byte_shape(insn, &shape, &bits)) {
        LLVMValueRef v_address = shared_offset(x, &insn->operands[1].address, xl_space(insn)), words[4];
        for (uint32_t i = 0; i < d->nvalues; i++) {
            LLVMValueRef args[4] = {v_address, l_i32(x, shape), l_i32(x, bits), l_i32(x, i)};
            words[i] = xl_call_helper(x, "pxl_load_matrix_bytes", args, 4);
        }
        for (uint32_t i = 0; i < d->nvalues; i++) xl_write(x, &d->values[i], words[i]);
        return;
    }
    bool trans = choice(insn, "trans") != NULL;
    row_places r = places(x, insn, &insn->operands[1], trans);
    LLVMValueRef values[8];
    for (uint32_t i = 0; i < d->nvalues; i++) {
        values[i] = l_load(x, l_int(x, trans ? 16 : 32), place(x, &r, i, 0));
        if (!trans) continue;
        LLVMValueRef v_high = l_zext(x, l_load(x, l_int(x, 16), place(x, &r, i, 1)), 32);
        values[i] = l_or(x, l_zext(x, values[i], 32), l_shl(x, v_high, l_i32(x, 16)));
    }
    for (uint32_t i = 0; i < d->nvalues; i++) xl_write(x, &d->values[i], values[i]);
}

static void lower_stmatrix(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *s = &insn->operands[1];
    uint32_t shape, bits;
    if (byte_shape(insn, &shape, &bits)) {
        LLVMValueRef v_address = shared_offset(x, &insn->operands[0].address, xl_space(insn));
        for (uint32_t i = 0; i < s->nvalues; i++) {
            LLVMValueRef args[4] = {v_address, l_i32(x, shape), l_i32(x, i), xl_read_bits(x, &s->values[i], 32)};
            xl_call_helper(x, "pxl_store_matrix_bytes", args, 4);
        }
        return;
    }
    bool trans = choice(insn, "trans") != NULL;
    row_places r = places(x, insn, &insn->operands[0], trans);
    for (uint32_t i = 0; i < s->nvalues; i++) {
        LLVMValueRef v = xl_read(x, &s->values[i]);
        if (!trans) { l_store(x, v, place(x, &r, i, 0)); continue; }
        l_store(x, l_trunc(x, v, 16), place(x, &r, i, 0));
        l_store(x, l_trunc(x, l_lshr(x, v, l_i32(x, 16)), 16), place(x, &r, i, 1));
    }
}

/* ------------------------------------------------------------ wmma.load, wmma.store (the layout is in ptx/lib/wmma_layout.h) */

typedef struct fragment {
    uint32_t m, n, k, bits, count;      /* count: elements in a register */
    char matrix;
    bool by_rows;                       /* .row: consecutive columns are adjacent in memory */
    LLVMValueRef p, v_stride;
} fragment;

static fragment fragment_of(xl_emitter *x, const ptx_insn *insn, const ptx_operand *a, const ptx_operand *stride, char matrix)
{
    fragment f = {.matrix = matrix};
    unsigned as;
    sscanf(choice(insn, "shape"), "m%un%uk%u", &f.m, &f.n, &f.k);
    ptx_type type = ptx_type_from_name(choice(insn, "type"), (uint32_t)strlen(choice(insn, "type")));
    f.bits = ptx_type_bits(type);
    f.count = f.bits >= 32 ? 1 : 32 / f.bits;
    f.by_rows = !strcmp(choice(insn, "layout"), "row");
    f.p = xl_address(x, &a->address, xl_space(insn), &as);
    uint32_t leading = matrix == 'a' ? (f.by_rows ? f.k : f.m) : matrix == 'b' ? (f.by_rows ? f.n : f.k) : (f.by_rows ? f.n : f.m);
    bool written = stride && stride->kind != ISA_OPERAND_NONE && stride->nvalues;
    f.v_stride = written ? xl_read_bits(x, &stride->values[0], 32) : l_i32(x, leading);
    return f;
}

static LLVMValueRef element_address(xl_emitter *x, const fragment *f, uint32_t r, uint32_t i)
{
    LLVMValueRef args[9] = {l_i32(x, f->m), l_i32(x, f->n), l_i32(x, f->k), l_i32(x, f->bits), l_i32(x, (uint32_t)f->matrix),
                            l_i1(x, f->by_rows), f->v_stride, l_i32(x, r), l_i32(x, i)};
    return l_offset(x, f->p, xl_call_helper(x, "pxl_wmma_offset", args, 9));
}

/* Elements of a register that lie side by side in memory move as one word. */
static bool adjacent(const fragment *f) { return f->count == 1 || f->by_rows == (f->matrix != 'b'); }

static LLVMValueRef load_register(xl_emitter *x, const fragment *f, uint32_t r, unsigned bits)
{
    if (adjacent(f)) return l_load(x, l_int(x, bits), element_address(x, f, r, 0));
    LLVMValueRef v = l_const(x, bits, 0);
    for (uint32_t i = 0; i < f->count; i++) {
        LLVMValueRef v_one = l_zext(x, l_load(x, l_int(x, f->bits), element_address(x, f, r, i)), bits);
        v = l_or(x, v, l_shl(x, v_one, l_const(x, bits, i * f->bits)));
    }
    return v;
}

static void lower_wmma_load(xl_emitter *x, const ptx_insn *insn)
{
    const char *matrix = choice(insn, "matrix");
    const ptx_operand *d = &insn->operands[0];
    fragment f = fragment_of(x, insn, &insn->operands[1], insn->noperands > 2 ? &insn->operands[2] : NULL, matrix[0]);
    for (uint32_t r = 0; r < d->nvalues; r++) xl_write(x, &d->values[r], load_register(x, &f, r, ptx_type_bytes(d->values[r].type) * 8));
}

static void lower_wmma_store(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *s = &insn->operands[1];
    fragment f = fragment_of(x, insn, &insn->operands[0], insn->noperands > 2 ? &insn->operands[2] : NULL, 'c');
    for (uint32_t r = 0; r < s->nvalues; r++) {
        LLVMValueRef v = xl_read(x, &s->values[r]);
        if (adjacent(&f)) { l_store(x, v, element_address(x, &f, r, 0)); continue; }
        for (uint32_t i = 0; i < f.count; i++)
            l_store(x, l_trunc(x, l_lshr(x, v, l_i32(x, i * f.bits)), f.bits), element_address(x, &f, r, i));
    }
}

/* ------------------------------------------------------------ cp.async: copied at once, so that groups are always complete */

static void lower_cp_async(xl_emitter *x, const ptx_insn *insn)
{
    unsigned as;
    LLVMValueRef p_to = l_inttoptr(x, shared_offset(x, &insn->operands[0].address, PTX_SPACE_SHARED), AS_LDS);
    LLVMValueRef p_from = xl_address(x, &insn->operands[1].address, PTX_SPACE_GLOBAL, &as);
    uint32_t size = (uint32_t)insn->operands[2].values[0].imm;
    LLVMValueRef v_source = l_i32(x, size);
    const ptx_operand *more = insn->noperands > 3 ? &insn->operands[3] : NULL;
    bool policy = choice(insn, "L2::cache_hint") != NULL && insn->noperands == 4;
    if (more && !policy && more->nvalues && more->kind == ISA_OPERAND_SRC_PRED)
        v_source = l_select(x, xl_read_bits(x, &more->values[0], 1), l_i32(x, 0), v_source);        /* ignore-src */
    else if (more && !policy && more->nvalues)
        v_source = xl_read_bits(x, &more->values[0], 32);
    LLVMValueRef args[4] = {p_to, p_from, l_i32(x, size), v_source};
    xl_call_helper(x, "pxl_cp_async", args, 4);
}

bool xl_lower_matrix(xl_emitter *x, const ptx_insn *insn)
{
    const char *op = insn->operation;
    if (xl_waits_for_lanes(x) && xl_is_collective(insn)) xl_rendezvous(x, NULL);     /* all of them are .aligned: every lane of the warp comes */
    if (!strcmp(op, "ldmatrix")) lower_ldmatrix(x, insn);
    else if (!strcmp(op, "stmatrix")) lower_stmatrix(x, insn);
    else if (!strcmp(op, "wmma_load")) lower_wmma_load(x, insn);
    else if (!strcmp(op, "wmma_store")) lower_wmma_store(x, insn);
    else if (!strcmp(op, "cp_async")) lower_cp_async(x, insn);
    else return !strcmp(op, "cp_async_commit") || !strcmp(op, "cp_async_wait");
    return true;
}
