/* lower_bulk.c - bulk copies and reductions, st.bulk, st.async, red.async, cluster launch control.
 *
 * Copies are complete at once, in the lane that issues them, and are then counted at the mbarrier; so bulk groups are always
 * complete. A cluster is one block, so shared::cluster is LDS.
 */
#include <string.h>
#include "ptx/lib/fault.h"
#include "ptx/lib/mbarrier.h"
#include "translator/l_llvm.h"

static const char *choice(const ptx_insn *insn, const char *group) { return isa_choice(insn->form, &insn->tuple, group); }

/* The nth written operand of a kind, or NULL. */
static const ptx_operand *operand(const ptx_insn *insn, isa_operand_kind kind, uint32_t nth)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == kind && insn->operands[i].nvalues + (kind == ISA_OPERAND_ADDRESS) && nth-- == 0) return &insn->operands[i];
    return NULL;
}

/* Address operand as a pointer into `as`. */
static LLVMValueRef pointer(xl_emitter *x, const ptx_operand *o, ptx_space space, unsigned as)
{
    unsigned is;
    LLVMValueRef p = xl_address(x, &o->address, space, &is);
    return is == as ? p : l_spacecast(x, xl_generic(x, p, is), as);
}

static void complete(xl_emitter *x, const ptx_operand *barrier, ptx_space space, LLVMValueRef v_bytes)
{
    LLVMValueRef args[3] = {pointer(x, barrier, space, AS_LDS), l_i32(x, PXL_MBARRIER_COMPLETE_TX), l_zext(x, v_bytes, 64)};
    xl_call_helper(x, "pxl_mbarrier", args, 3);
}

static LLVMValueRef address_bits(xl_emitter *x, LLVMValueRef p, unsigned as)
{
    return as == AS_LDS ? l_zext(x, l_ptrtoint(x, p, 32), 64) : l_ptrtoint(x, p, 64);
}

/* ------------------------------------------------------------ cp.async.bulk, cp.reduce.async.bulk */

typedef struct bulk {
    unsigned to_space, from_space;
    LLVMValueRef p_to, p_from, v_size, v_word[3], v_mask;      /* v_word: size, ignored on the left and right */
} bulk;

static bulk bulk_of(xl_emitter *x, const ptx_insn *insn)
{
    bulk c = {.to_space = !strcmp(choice(insn, "dst"), "global") ? AS_GLOBAL : AS_LDS,
              .from_space = !strcmp(choice(insn, "src"), "global") ? AS_GLOBAL : AS_LDS};
    const ptx_operand *o;
    uint32_t n = 0;
    c.p_to = pointer(x, operand(insn, ISA_OPERAND_ADDRESS, 0), c.to_space == AS_LDS ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, c.to_space);
    c.p_from = pointer(x, operand(insn, ISA_OPERAND_ADDRESS, 1), c.from_space == AS_LDS ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL, c.from_space);
    for (uint32_t i = 0; (o = operand(insn, ISA_OPERAND_SRC, i)); i++) {
        unsigned bytes = ptx_type_bytes(o->values[0].type);
        if (bytes == 2) c.v_mask = xl_read_bits(x, &o->values[0], 16);
        else if (bytes == 4 && n < 3) c.v_word[n++] = xl_read_bits(x, &o->values[0], 32);
    }
    c.v_size = c.v_word[0];
    if (c.v_mask) c.v_mask = l_zext(x, c.v_mask, 32);
    LLVMValueRef args[5] = {address_bits(x, c.p_to, c.to_space), address_bits(x, c.p_from, c.from_space), c.v_size,
                            l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
    xl_call_helper(x, "pxl_check_bulk", args, 5);
    return c;
}

static void copy(xl_emitter *x, const ptx_insn *insn, const bulk *c)
{
    LLVMValueRef args[5] = {c->p_to, c->p_from, c->v_size, c->v_word[1], c->v_word[2]};
    if (choice(insn, "cp_mask")) {
        args[3] = c->v_mask;
        xl_call_helper(x, "pxl_bulk_store_masked", args, 4);
    } else if (c->v_word[2]) {
        LLVMValueRef check[4] = {c->v_word[1], c->v_word[2], l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
        xl_call_helper(x, "pxl_check_ignored", check, 4);
        xl_call_helper(x, "pxl_bulk_load_part", args, 5);
    } else
        xl_call_helper(x, c->to_space == AS_GLOBAL ? "pxl_bulk_store" : c->from_space == AS_GLOBAL ? "pxl_bulk_load" : "pxl_bulk_move", args, 3);
}

/* for (i = 0; i < size; i += element) to[i] = op(to[i], from[i]) */
static void reduce(xl_emitter *x, const ptx_insn *insn, const bulk *c)
{
    const char *name = choice(insn, "type");
    ptx_type type = ptx_type_from_name(name, (uint32_t)strlen(name));
    unsigned bytes = ptx_type_bytes(type);
    LLVMBasicBlockRef b_from = LLVMGetInsertBlock(x->b), b_loop = l_block(x, "element"), b_body = l_block(x, "reduce"), b_done = l_block(x, "reduced");
    l_br(x, b_loop);
    l_here(x, b_loop);
    LLVMValueRef v_at = LLVMBuildPhi(x->b, l_int(x, 32), "");
    l_cond_br(x, l_icmp(x, LLVMIntULT, v_at, c->v_size), b_body, b_done);
    l_here(x, b_body);
    LLVMValueRef v_b = l_load(x, l_int(x, bytes * 8), l_offset(x, c->p_from, v_at));
    LLVMSetAlignment(v_b, bytes);
    LLVMValueRef v_wide = c->to_space == AS_GLOBAL ? l_zext(x, v_at, 64) : v_at;
    xl_atomic_element(x, insn, l_offset(x, c->p_to, v_wide), c->to_space, type, v_b);
    LLVMValueRef values[2] = {l_i32(x, 0), l_add(x, v_at, l_i32(x, bytes))};
    LLVMBasicBlockRef blocks[2] = {b_from, LLVMGetInsertBlock(x->b)};
    l_br(x, b_loop);
    LLVMAddIncoming(v_at, values, blocks, 2);
    l_here(x, b_done);
}

static void lower_bulk_copy(xl_emitter *x, const ptx_insn *insn, bool reduces)
{
    bulk c = bulk_of(x, insn);
    LLVMBasicBlockRef b_next = NULL;
    if (c.v_mask && !choice(insn, "cp_mask")) {            /* ctaMask */
        LLVMValueRef args[3] = {c.v_mask, l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
        xl_call_helper(x, "pxl_check_cluster", args, 3);
        LLVMBasicBlockRef b_mine = l_block(x, "mine");
        b_next = l_block(x, "");
        l_cond_br(x, l_icmp(x, LLVMIntNE, c.v_mask, l_i32(x, 0)), b_mine, b_next);
        l_here(x, b_mine);
    }
    if (reduces) reduce(x, insn, &c);
    else copy(x, insn, &c);
    const ptx_operand *barrier = operand(insn, ISA_OPERAND_ADDRESS, 2);
    if (barrier) complete(x, barrier, PTX_SPACE_SHARED, c.v_size);
    if (!b_next) return;
    l_br(x, b_next);
    l_here(x, b_next);
}

/* ------------------------------------------------------------ the others */

static void lower_zero(xl_emitter *x, const ptx_insn *insn)
{
    LLVMValueRef args[4] = {pointer(x, &insn->operands[0], xl_space(insn), AS_LDS), xl_read_bits(x, &insn->operands[1].values[0], 64),
                            l_i32(x, insn->at.line), l_i32(x, insn->at.column)};
    xl_call_helper(x, "pxl_bulk_zero", args, 4);
}

/* st.async and red.async: the plain instruction, then its bytes at the mbarrier. */
static void lower_counted(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *s = &insn->operands[1];
    if (!xl_lower_memory(x, insn)) xl_lower_atomic(x, insn);
    complete(x, &insn->operands[2], xl_space(insn), l_i32(x, ptx_type_bytes(s->values[0].type) * s->nvalues));
}

/* Nothing is ever cancelled: every block of the grid runs. The answer is 16 zero bytes. */
static void lower_try_cancel(xl_emitter *x, const ptx_insn *insn)
{
    LLVMValueRef v_store = l_store(x, l_const(x, 128, 0), pointer(x, &insn->operands[0], xl_space(insn), AS_LDS));
    LLVMSetAlignment(v_store, 16);
    complete(x, &insn->operands[1], xl_space(insn), l_i32(x, 16));
}

static void lower_query_cancel(xl_emitter *x, const ptx_insn *insn)
{
    const ptx_operand *d = &insn->operands[0];
    for (uint32_t i = 0; i < d->nvalues; i++) xl_write(x, &d->values[i], l_const(x, d->kind == ISA_OPERAND_DST_PRED ? 1 : 32, 0));
}

bool xl_lower_bulk(xl_emitter *x, const ptx_insn *insn)
{
    const char *op = insn->operation;
    if (!strcmp(op, "cp_async_bulk") || !strcmp(op, "cp_reduce_bulk")) lower_bulk_copy(x, insn, op[3] == 'r');
    else if (!strcmp(op, "st_bulk")) lower_zero(x, insn);
    else if (!strcmp(op, "st_async") || !strcmp(op, "red_async")) lower_counted(x, insn);
    else if (!strcmp(op, "try_cancel")) lower_try_cancel(x, insn);
    else if (!strcmp(op, "query_cancel")) lower_query_cancel(x, insn);
    else return false;
    return true;
}
