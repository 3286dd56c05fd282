/* lower_values.c - PTX values as IR values: registers, immediates, special registers, addresses of symbols. */
#include <string.h>
#include "translator/l_llvm.h"

static unsigned element_bits(ptx_type type) { return type == PTX_TYPE_PRED ? 1 : ptx_type_bytes(type) * 8; }

LLVMTypeRef xl_element_type(const xl_emitter *x, ptx_type type)
{
    switch (type) {
    case PTX_TYPE_F16: return LLVMHalfTypeInContext(x->context);
    case PTX_TYPE_F32: return LLVMFloatTypeInContext(x->context);
    case PTX_TYPE_F64: return LLVMDoubleTypeInContext(x->context);
    default: return l_int(x, element_bits(type));
    }
}

/* An integer at another width: cut, or extended with zeros or the sign. */
static LLVMValueRef resize(xl_emitter *x, LLVMValueRef v, unsigned to, bool is_signed)
{
    unsigned from = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    if (from == to) return v;
    if (from > to) return l_trunc(x, v, to);
    return is_signed ? l_sext(x, v, to) : l_zext(x, v, to);
}

LLVMValueRef xl_read_register(xl_emitter *x, uint32_t reg)
{
    return l_load(x, l_int(x, element_bits(x->ptx->registers[reg].type)), x->registers[reg]);
}

/* The address of a symbol in its own space, as mov gives it. */
static LLVMValueRef symbol_bits(xl_emitter *x, const ptx_value *value, unsigned bits)
{
    unsigned as;
    LLVMValueRef v_p = xl_variable_address(x, value->variable, &as);
    LLVMValueRef v = l_ptrtoint(x, v_p, as == AS_LDS || as == AS_PRIVATE ? 32 : 64);
    if (value->imm) v = l_add(x, v, l_const(x, LLVMGetIntTypeWidth(LLVMTypeOf(v)), value->imm));
    return resize(x, v, bits, false);
}

/* A b128 register is two elements of 64 bits to a meaning; imm says which (ptx_flatten). */
static bool is_half(const xl_emitter *x, const ptx_value *value)
{
    return element_bits(x->ptx->registers[value->reg].type) == 128 && element_bits(value->type) == 64;
}

LLVMValueRef xl_read_bits(xl_emitter *x, const ptx_value *value, unsigned bits)
{
    LLVMValueRef v;
    switch (value->kind) {
    case PTX_VALUE_REG:
        v = xl_read_register(x, value->reg);
        if (is_half(x, value)) v = l_lshr(x, v, l_const(x, 128, 64 * value->imm));
        v = resize(x, v, bits, false);
        return value->negated ? l_not(x, v) : v;
    case PTX_VALUE_IMM: return l_const(x, bits, value->imm);
    case PTX_VALUE_SPECIAL: return xl_special(x, value->special, bits);
    case PTX_VALUE_VARIABLE: return symbol_bits(x, value, bits);
    case PTX_VALUE_FUNCTION: {
        xl_function *f = &x->functions[value->function->index];
        if (xl_stand_in(x, value->function)) return l_const(x, bits, xl_stand_in(x, value->function));
        if (!f->value) xl_fail(x, PTX_REASON_UNSUPPORTED, "the address of '%s', which is declared but not defined, is taken", value->function->name);
        if (f->may_exit) xl_fail(x, PTX_REASON_UNSUPPORTED, "the address of '%s', which may execute exit, cannot be taken on this target", f->ptx->name);
        return resize(x, l_ptrtoint(x, f->value, 64), bits, false);
    }
    case PTX_VALUE_EXEC: return l_i1(x, true);       /* at width 1 whoever executes is executing */
    case PTX_VALUE_MODEL: return l_const(x, bits, x->options->mma_model);
    case PTX_VALUE_SINK: break;
    }
    return LLVMGetUndef(l_int(x, bits));
}

LLVMValueRef xl_read(xl_emitter *x, const ptx_value *value) { return xl_read_bits(x, value, element_bits(value->type)); }

void xl_write(xl_emitter *x, const ptx_value *value, LLVMValueRef v_bits)
{
    if (value->kind != PTX_VALUE_REG) return;        /* `_` */
    unsigned bits = element_bits(x->ptx->registers[value->reg].type);
    if (is_half(x, value)) {
        LLVMValueRef v_other = l_const(x, 128, 64 * (1 - value->imm)), v_place = l_const(x, 128, 64 * value->imm);
        LLVMValueRef v_kept = l_zext(x, l_trunc(x, l_lshr(x, xl_read_register(x, value->reg), v_other), 64), 128);
        v_bits = l_or(x, l_shl(x, v_kept, v_other), l_shl(x, resize(x, v_bits, 128, false), v_place));
    }
    l_store(x, resize(x, v_bits, bits, ptx_type_class(value->type) == 's'), x->registers[value->reg]);
}

LLVMValueRef xl_guard(xl_emitter *x, const ptx_insn *insn)
{
    LLVMValueRef v = xl_read_register(x, insn->guard);
    return insn->guard_negated ? l_not(x, v) : v;
}

/* ------------------------------------------------------------ special registers */

/* Hidden arguments of code object version 5 (LLVM, "AMDGPU Code Object V5 Kernel Argument Metadata"):
 * block counts are u32 at 0, 4, 8; block sizes u16 at 12, 14, 16; dynamic LDS size u32 at 120. */
static LLVMValueRef hidden(xl_emitter *x, unsigned offset, unsigned bits)
{
    LLVMValueRef v_p = l_intrinsic0(x, "llvm.amdgcn.implicitarg.ptr");
    LLVMValueRef v = l_load(x, l_int(x, bits), l_offset_k(x, v_p, offset));
    LLVMSetAlignment(v, bits / 8);
    return resize(x, v, 32, false);
}

static LLVMValueRef block_size(xl_emitter *x, unsigned dimension) { return hidden(x, 12 + 2 * dimension, 16); }

static LLVMValueRef thread_id(xl_emitter *x, unsigned dimension)
{
    static const char *const names[] = {"llvm.amdgcn.workitem.id.x", "llvm.amdgcn.workitem.id.y", "llvm.amdgcn.workitem.id.z"};
    return l_intrinsic0(x, names[dimension]);
}

static LLVMValueRef block_id(xl_emitter *x, unsigned dimension)
{
    static const char *const names[] = {"llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workgroup.id.y", "llvm.amdgcn.workgroup.id.z"};
    return l_intrinsic0(x, names[dimension]);
}

/* The hidden argument is there only in kernels that use dynamic LDS (LLVM, metadata of code object version 5): this makes
 * the kernel one, without code. */
static LLVMValueRef dynamic_shared_size(xl_emitter *x)
{
    LLVMTypeRef pointer = l_ptr(x, AS_LDS), type = LLVMFunctionType(LLVMVoidTypeInContext(x->context), &pointer, 1, false);
    LLVMValueRef asm_use = LLVMGetInlineAsm(type, "", 0, "v", 1, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(x->b, type, asm_use, &x->dynamic_lds, 1, "");
    return hidden(x, 120, 32);
}

/* A function that several kernels reach must mean the same number in all of them. */
static uint32_t static_shared_size(xl_emitter *x)
{
    uint64_t found = 0;
    bool any = false;
    for (uint32_t i = 0; i < x->module->nfunctions; i++) {
        const ptx_function *entry = x->module->functions[i];
        bool reaches;
        if (!entry->is_entry || !x->functions[i].value) continue;
        uint64_t bytes = ptx_shared_of(x->module, entry, x->ptx, &reaches);
        if (reaches && any && bytes != found) xl_fail(x, PTX_REASON_UNSUPPORTED, "kernels with different amounts of shared memory share this function");
        found = reaches ? bytes : found;
        any = any || reaches;
    }
    return (uint32_t)found;
}

/* Dynamic shared memory begins at a multiple of 16. */
static LLVMValueRef total_shared_size(xl_emitter *x)
{
    uint32_t bytes = static_shared_size(x);
    LLVMValueRef v_dynamic = dynamic_shared_size(x), v_some = l_icmp(x, LLVMIntNE, v_dynamic, l_i32(x, 0));
    return l_add(x, v_dynamic, LLVMBuildSelect(x->b, v_some, l_i32(x, (bytes + 15) & ~15u), l_i32(x, bytes), ""));
}

/* PTX numbers a block's warps by the linear thread number (x fastest), 32 to a warp. */
static LLVMValueRef warp_id(xl_emitter *x)
{
    LLVMValueRef v_zy = l_add(x, l_mul(x, thread_id(x, 2), block_size(x, 1)), thread_id(x, 1));
    LLVMValueRef v_linear = l_add(x, l_mul(x, v_zy, block_size(x, 0)), thread_id(x, 0));
    return l_lshr(x, v_linear, l_i32(x, 5));
}

static LLVMValueRef warp_count(xl_emitter *x)
{
    LLVMValueRef v_threads = l_mul(x, l_mul(x, block_size(x, 0), block_size(x, 1)), block_size(x, 2));
    return l_lshr(x, l_add(x, v_threads, l_i32(x, 31)), l_i32(x, 5));
}

static LLVMValueRef lane_mask(xl_emitter *x, ptx_special special)
{
    LLVMValueRef v_lane = xl_call_helper(x, "pxl_lane_id", NULL, 0);
    LLVMValueRef v_bit = l_shl(x, l_i32(x, 1), v_lane);
    LLVMValueRef v_below = l_sub(x, v_bit, l_i32(x, 1));
    switch (special) {
    case PTX_SR_LANEMASK_EQ: return v_bit;
    case PTX_SR_LANEMASK_LT: return v_below;
    case PTX_SR_LANEMASK_LE: return l_or(x, v_bit, v_below);
    case PTX_SR_LANEMASK_GE: return l_not(x, v_below);
    default: return l_not(x, l_or(x, v_bit, v_below));
    }
}

/* clock registers: the shader clock and the constant-rate clock. LLVM picks the instruction of each processor. On gfx11 that is a cycle
 * counter of 20 bits, which never gets past a kernel's wait for a million cycles: there cycles are made of the constant-rate
 * clock, at the 2 GHz that CUDA programs are told. */
static LLVMValueRef clock_bits(xl_emitter *x, ptx_special special)
{
    bool timer = special == PTX_SR_GLOBALTIMER || special == PTX_SR_GLOBALTIMER_LO || special == PTX_SR_GLOBALTIMER_HI;
    bool steady = timer || !strncmp(x->options->target, "gfx11", 5);
    LLVMValueRef v = l_intrinsic0(x, steady ? "llvm.readsteadycounter" : "llvm.readcyclecounter");
    if (steady) v = l_mul(x, v, l_i64(x, timer ? 10 : 20));        /* 100 MHz on every AMD GPU named in xl_targets */
    if (special == PTX_SR_CLOCK_HI || special == PTX_SR_GLOBALTIMER_HI) v = l_lshr(x, v, l_i64(x, 32));
    return v;
}

/* %envreg1 and 2 are the halves of the workspace's address that cooperative groups keep the grid's barrier in; without a cooperative
 * launch it is 0. What the others mean is up to the driver (PTX ISA, "%envreg<32>"). */
static LLVMValueRef workspace_half(xl_emitter *x, unsigned shift)
{
    return l_trunc(x, l_lshr(x, xl_call_helper(x, "pxl_workspace", NULL, 0), l_i64(x, shift)), 32);
}

LLVMValueRef xl_special(xl_emitter *x, ptx_special special, unsigned bits)
{
    LLVMValueRef v = NULL;
    switch (special) {
    case PTX_SR_TID_X: case PTX_SR_TID_Y: case PTX_SR_TID_Z: v = thread_id(x, special - PTX_SR_TID_X); break;
    case PTX_SR_NTID_X: case PTX_SR_NTID_Y: case PTX_SR_NTID_Z: v = block_size(x, special - PTX_SR_NTID_X); break;
    case PTX_SR_CTAID_X: case PTX_SR_CTAID_Y: case PTX_SR_CTAID_Z: v = block_id(x, special - PTX_SR_CTAID_X); break;
    case PTX_SR_NCTAID_X: case PTX_SR_NCTAID_Y: case PTX_SR_NCTAID_Z: v = hidden(x, 4 * (special - PTX_SR_NCTAID_X), 32); break;
    case PTX_SR_LANEID: v = xl_call_helper(x, "pxl_lane_id", NULL, 0); break;
    case PTX_SR_WARPID: v = warp_id(x); break;
    case PTX_SR_NWARPID: v = warp_count(x); break;
    case PTX_SR_LANEMASK_EQ: case PTX_SR_LANEMASK_LE: case PTX_SR_LANEMASK_LT: case PTX_SR_LANEMASK_GE: case PTX_SR_LANEMASK_GT:
        v = lane_mask(x, special); break;
    case PTX_SR_CLOCK: case PTX_SR_CLOCK_HI: case PTX_SR_CLOCK64:
    case PTX_SR_GLOBALTIMER: case PTX_SR_GLOBALTIMER_LO: case PTX_SR_GLOBALTIMER_HI: v = clock_bits(x, special); break;
    case PTX_SR_DYNAMIC_SMEM_SIZE: v = dynamic_shared_size(x); break;
    case PTX_SR_TOTAL_SMEM_SIZE: case PTX_SR_AGGR_SMEM_SIZE: v = total_shared_size(x); break;
    /* A launch without clusters is a grid of clusters of one block (PTX ISA, "%clusterid"). */
    case PTX_SR_CLUSTERID_X: case PTX_SR_CLUSTERID_Y: case PTX_SR_CLUSTERID_Z: v = block_id(x, special - PTX_SR_CLUSTERID_X); break;
    case PTX_SR_NCLUSTERID_X: case PTX_SR_NCLUSTERID_Y: case PTX_SR_NCLUSTERID_Z: v = hidden(x, 4 * (special - PTX_SR_NCLUSTERID_X), 32); break;
    case PTX_SR_CLUSTER_NCTAID_X: case PTX_SR_CLUSTER_NCTAID_Y: case PTX_SR_CLUSTER_NCTAID_Z: case PTX_SR_CLUSTER_NCTARANK: v = l_i32(x, 1); break;
    case PTX_SR_CLUSTER_CTAID_X: case PTX_SR_CLUSTER_CTAID_Y: case PTX_SR_CLUSTER_CTAID_Z: case PTX_SR_CLUSTER_CTARANK:
    case PTX_SR_IS_EXPLICIT_CLUSTER: v = l_i32(x, 0); break;
    /* Which multiprocessor runs a block may be any constant: the ISA only promises a value below %nsmid. */
    case PTX_SR_SMID: v = l_i32(x, 0); break;
    case PTX_SR_NSMID: v = l_i32(x, 1); break;
    case PTX_SR_GRIDID: case PTX_SR_PM: v = l_i32(x, 0); break;
    case PTX_SR_ENVREG1: v = workspace_half(x, 32); break;
    case PTX_SR_ENVREG2: v = workspace_half(x, 0); break;
    default:
        xl_fail(x, PTX_REASON_UNSUPPORTED, "special register %s is not available on this target", ptx_special_name(special));
    }
    return resize(x, v, bits, false);
}
