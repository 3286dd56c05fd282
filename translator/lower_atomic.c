/* lower_atomic.c - atom and red.
 *
 * Integer operations are LLVM's atomicrmw. Floating-point ones are a loop of
 * compare-and-swap around the meaning of the plain instruction, so that rounding,
 * subnormals and NaN are the ISA's: atom.add.f32 flushes subnormals in global memory
 * and keeps them in shared memory (PTX ISA, "atom", floating-point add).
 */
#include <stdio.h>
#include <string.h>
#include "translator/l_llvm.h"

static const char *choice(const ptx_insn *insn, const char *group) { return isa_choice(insn->form, &insn->tuple, group); }

static LLVMAtomicOrdering ordering(const ptx_insn *insn)
{
    const char *s = choice(insn, "sem");
    if (!s || !strcmp(s, "relaxed")) return LLVMAtomicOrderingMonotonic;
    if (!strcmp(s, "acquire")) return LLVMAtomicOrderingAcquire;
    return !strcmp(s, "release") ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquireRelease;
}

static bool rmw_of(const char *op, char type_class, LLVMAtomicRMWBinOp *out)
{
    bool is_signed = type_class == 's';
    if (!strcmp(op, "exch")) *out = LLVMAtomicRMWBinOpXchg;
    else if (type_class == 'f' || type_class == 'x') return false;
    else if (!strcmp(op, "add")) *out = LLVMAtomicRMWBinOpAdd;
    else if (!strcmp(op, "and")) *out = LLVMAtomicRMWBinOpAnd;
    else if (!strcmp(op, "or")) *out = LLVMAtomicRMWBinOpOr;
    else if (!strcmp(op, "xor")) *out = LLVMAtomicRMWBinOpXor;
    else if (!strcmp(op, "min")) *out = is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    else if (!strcmp(op, "max")) *out = is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    else return false;
    return true;
}

/* inc: old >= b ? 0 : old + 1; dec: old == 0 || old > b ? b : old - 1. */
static LLVMValueRef step(xl_emitter *x, const char *op, LLVMValueRef v_old, LLVMValueRef v_b)
{
    LLVMValueRef v_zero = l_i32(x, 0), v_one = l_i32(x, 1);
    if (!strcmp(op, "inc")) return l_select(x, l_icmp(x, LLVMIntUGE, v_old, v_b), v_zero, l_add(x, v_old, v_one));
    LLVMValueRef v_wraps = l_or(x, l_icmp(x, LLVMIntEQ, v_old, v_zero), l_icmp(x, LLVMIntUGT, v_old, v_b));
    return l_select(x, v_wraps, v_b, l_sub(x, v_old, v_one));
}

static LLVMValueRef call_meaning2(xl_emitter *x, const char *meaning, ptx_type type, LLVMValueRef v_a, LLVMValueRef v_b)
{
    char name[96];
    snprintf(name, sizeof name, "pxl_%s_%s", meaning, ptx_type_name(type));
    LLVMTypeRef t = xl_element_type(x, type);
    LLVMValueRef args[2] = {l_bitcast(x, v_a, t), l_bitcast(x, v_b, t)};
    return l_bitcast(x, xl_call_helper(x, name, args, 2), LLVMTypeOf(v_a));
}

/* The new value of one round of the loop. `v_is_shared`: 1-bit value, or NULL where the space is not generic. */
static LLVMValueRef combine(xl_emitter *x, const char *op, ptx_type type, unsigned as, LLVMValueRef p, LLVMValueRef v_old, LLVMValueRef v_b)
{
    if (!strcmp(op, "inc") || !strcmp(op, "dec")) return step(x, op, v_old, v_b);
    if (type != PTX_TYPE_F32 || strcmp(op, "add")) {
        bool add = !strcmp(op, "add");
        return call_meaning2(x, add ? "add_rn" : op, type, v_old, v_b);
    }
    if (as == AS_LDS) return call_meaning2(x, "add_rn", type, v_old, v_b);
    LLVMValueRef v_flushed = call_meaning2(x, "add_rn_ftz", type, v_old, v_b);
    if (as != AS_GENERIC) return v_flushed;
    LLVMValueRef v_shared = l_intrinsic(x, "llvm.amdgcn.is.shared", NULL, 0, &p, 1);
    return l_select(x, v_shared, call_meaning2(x, "add_rn", type, v_old, v_b), v_flushed);
}

static LLVMValueRef swap_loop(xl_emitter *x, const ptx_insn *insn, const char *op, ptx_type type, LLVMValueRef p, unsigned as, LLVMValueRef v_b)
{
    LLVMTypeRef t = LLVMTypeOf(v_b);
    LLVMValueRef v_first = l_load(x, t, p);
    LLVMSetAlignment(v_first, ptx_type_bytes(type));
    LLVMSetOrdering(v_first, LLVMAtomicOrderingMonotonic);
    LLVMBasicBlockRef b_from = LLVMGetInsertBlock(x->b), b_loop = l_block(x, "swap"), b_done = l_block(x, "swapped");
    l_br(x, b_loop);
    l_here(x, b_loop);
    LLVMValueRef v_old = LLVMBuildPhi(x->b, t, "");
    LLVMValueRef v_pair = l_cmpxchg(x, p, v_old, combine(x, op, type, as, p, v_old, v_b), ordering(insn), xl_scope(insn));
    LLVMValueRef v_seen = l_extract(x, v_pair, 0);
    LLVMValueRef values[2] = {v_first, v_seen};
    LLVMBasicBlockRef blocks[2] = {b_from, LLVMGetInsertBlock(x->b)};
    LLVMAddIncoming(v_old, values, blocks, 2);
    l_cond_br(x, l_extract(x, v_pair, 1), b_done, b_loop);
    l_here(x, b_done);
    return v_seen;
}

LLVMValueRef xl_atomic_element(xl_emitter *x, const ptx_insn *insn, LLVMValueRef p, unsigned as, ptx_type type, LLVMValueRef v_b)
{
    const char *op = choice(insn, "op");
    LLVMAtomicRMWBinOp rmw;
    if (rmw_of(op, ptx_type_class(type), &rmw)) return l_atomic_rmw(x, rmw, p, v_b, ordering(insn), xl_scope(insn));
    return swap_loop(x, insn, op, type, p, as, v_b);
}

static LLVMValueRef compare_and_swap(xl_emitter *x, const ptx_insn *insn, LLVMValueRef p)
{
    LLVMValueRef v_pair = l_cmpxchg(x, p, xl_read(x, &insn->operands[2].values[0]), xl_read(x, &insn->operands[3].values[0]), ordering(insn), xl_scope(insn));
    return l_extract(x, v_pair, 0);
}

bool xl_lower_atomic(xl_emitter *x, const ptx_insn *insn)
{
    bool is_red = !strcmp(insn->operation, "red") || !strcmp(insn->operation, "red_async");
    if (!is_red && strcmp(insn->operation, "atom")) return false;
    const ptx_operand *d = is_red ? NULL : &insn->operands[0];
    const ptx_operand *a = &insn->operands[!is_red], *b = &insn->operands[!is_red + 1];
    if (ptx_type_bytes(b->values[0].type) == 16)
        xl_fail(x, PTX_REASON_UNSUPPORTED, "128-bit atomics do not exist on AMD GPUs ('%s')", insn->form->pattern);
    unsigned as;
    LLVMValueRef p = xl_address(x, &a->address, xl_space(insn), &as);
    if (!strcmp(choice(insn, "op"), "cas")) {
        xl_write(x, &d->values[0], compare_and_swap(x, insn, p));
        return true;
    }
    for (uint32_t i = 0; i < b->nvalues; i++) {
        LLVMValueRef p_one = l_offset_k(x, p, (uint64_t)i * ptx_type_bytes(b->values[i].type));
        LLVMValueRef v = xl_atomic_element(x, insn, p_one, as, b->values[i].type, xl_read(x, &b->values[i]));
        if (d) xl_write(x, &d->values[i], v);
    }
    return true;
}
