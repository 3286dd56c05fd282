/* l_llvm.h - LLVM's C API behind one-line helpers, so that emitters read as the IR that they make.
 *
 * The emitter's context comes first. Values are named v_*, blocks b_*. No helper
 * checks for NULL: LLVM's builders do not fail, and the module is verified whole.
 */
#ifndef XL_L_LLVM_H
#define XL_L_LLVM_H

#include <llvm-c/Core.h>
#include "translator/emit.h"

static inline LLVMTypeRef l_int(const xl_emitter *x, unsigned bits) { return LLVMIntTypeInContext(x->context, bits); }
static inline LLVMTypeRef l_ptr(const xl_emitter *x, unsigned space) { return LLVMPointerTypeInContext(x->context, space); }
static inline LLVMValueRef l_const(const xl_emitter *x, unsigned bits, uint64_t k) { return LLVMConstInt(l_int(x, bits), k, false); }
static inline LLVMValueRef l_i32(const xl_emitter *x, uint32_t k) { return l_const(x, 32, k); }
static inline LLVMValueRef l_i64(const xl_emitter *x, uint64_t k) { return l_const(x, 64, k); }
static inline LLVMValueRef l_i1(const xl_emitter *x, bool k) { return l_const(x, 1, k); }

static inline LLVMValueRef l_load(const xl_emitter *x, LLVMTypeRef t, LLVMValueRef p) { return LLVMBuildLoad2(x->b, t, p, ""); }
static inline LLVMValueRef l_store(const xl_emitter *x, LLVMValueRef v, LLVMValueRef p) { return LLVMBuildStore(x->b, v, p); }
static inline LLVMValueRef l_add(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildAdd(x->b, a, b, ""); }
static inline LLVMValueRef l_sub(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildSub(x->b, a, b, ""); }
static inline LLVMValueRef l_mul(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildMul(x->b, a, b, ""); }
static inline LLVMValueRef l_and(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildAnd(x->b, a, b, ""); }
static inline LLVMValueRef l_or(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildOr(x->b, a, b, ""); }
static inline LLVMValueRef l_xor(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildXor(x->b, a, b, ""); }
static inline LLVMValueRef l_not(const xl_emitter *x, LLVMValueRef a) { return LLVMBuildNot(x->b, a, ""); }
static inline LLVMValueRef l_shl(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildShl(x->b, a, b, ""); }
static inline LLVMValueRef l_lshr(const xl_emitter *x, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildLShr(x->b, a, b, ""); }
static inline LLVMValueRef l_icmp(const xl_emitter *x, LLVMIntPredicate p, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildICmp(x->b, p, a, b, ""); }
static inline LLVMValueRef l_select(const xl_emitter *x, LLVMValueRef c, LLVMValueRef a, LLVMValueRef b) { return LLVMBuildSelect(x->b, c, a, b, ""); }
static inline LLVMValueRef l_bitcast(const xl_emitter *x, LLVMValueRef v, LLVMTypeRef t) { return LLVMBuildBitCast(x->b, v, t, ""); }
static inline LLVMValueRef l_zext(const xl_emitter *x, LLVMValueRef v, unsigned bits) { return LLVMBuildZExt(x->b, v, l_int(x, bits), ""); }
static inline LLVMValueRef l_sext(const xl_emitter *x, LLVMValueRef v, unsigned bits) { return LLVMBuildSExt(x->b, v, l_int(x, bits), ""); }
static inline LLVMValueRef l_trunc(const xl_emitter *x, LLVMValueRef v, unsigned bits) { return LLVMBuildTrunc(x->b, v, l_int(x, bits), ""); }
static inline LLVMValueRef l_inttoptr(const xl_emitter *x, LLVMValueRef v, unsigned space) { return LLVMBuildIntToPtr(x->b, v, l_ptr(x, space), ""); }
static inline LLVMValueRef l_ptrtoint(const xl_emitter *x, LLVMValueRef v, unsigned bits) { return LLVMBuildPtrToInt(x->b, v, l_int(x, bits), ""); }
static inline LLVMValueRef l_spacecast(const xl_emitter *x, LLVMValueRef v, unsigned space) { return LLVMBuildAddrSpaceCast(x->b, v, l_ptr(x, space), ""); }
static inline LLVMValueRef l_alloca(const xl_emitter *x, LLVMTypeRef t) { return LLVMBuildAlloca(x->b, t, ""); }
/* p + bytes */
static inline LLVMValueRef l_offset(const xl_emitter *x, LLVMValueRef p, LLVMValueRef bytes) { return LLVMBuildGEP2(x->b, l_int(x, 8), p, &bytes, 1, ""); }
static inline LLVMValueRef l_offset_k(const xl_emitter *x, LLVMValueRef p, uint64_t bytes) { return bytes ? l_offset(x, p, l_const(x, 32, bytes)) : p; }
static inline LLVMValueRef l_extract(const xl_emitter *x, LLVMValueRef v, unsigned i) { return LLVMBuildExtractValue(x->b, v, i, ""); }
static inline LLVMValueRef l_element(const xl_emitter *x, LLVMValueRef v, unsigned i) { return LLVMBuildExtractElement(x->b, v, l_i32(x, i), ""); }
static inline LLVMBasicBlockRef l_block(const xl_emitter *x, const char *name) { return LLVMAppendBasicBlockInContext(x->context, x->fn, name); }
static inline void l_br(const xl_emitter *x, LLVMBasicBlockRef to) { LLVMBuildBr(x->b, to); }
static inline void l_cond_br(const xl_emitter *x, LLVMValueRef c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no) { LLVMBuildCondBr(x->b, c, yes, no); }
static inline void l_here(const xl_emitter *x, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(x->b, block); }
static inline bool l_open(const xl_emitter *x) { return !LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(x->b)); }

/* Calls an LLVM intrinsic; `overloads` are its overloaded types. */
LLVMValueRef l_intrinsic(xl_emitter *x, const char *name, LLVMTypeRef *overloads, unsigned noverloads, LLVMValueRef *args, unsigned nargs);
static inline LLVMValueRef l_intrinsic0(xl_emitter *x, const char *name) { return l_intrinsic(x, name, NULL, 0, NULL, 0); }

/* fence syncscope(scope) ordering; scope "" is the whole system. */
void l_fence(xl_emitter *x, LLVMAtomicOrdering ordering, const char *scope);

/* Atomics with a synchronisation scope ("", "agent", "workgroup", "wavefront"). l_cmpxchg gives {value, i1}. */
LLVMValueRef l_atomic_rmw(xl_emitter *x, LLVMAtomicRMWBinOp op, LLVMValueRef p, LLVMValueRef v, LLVMAtomicOrdering ordering, const char *scope);
LLVMValueRef l_cmpxchg(xl_emitter *x, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef desired, LLVMAtomicOrdering ordering, const char *scope);
/* Gives an atomic load or store its scope. */
void l_scope(xl_emitter *x, LLVMValueRef access, const char *scope);

/* Adds the string attribute to a function. */
void l_attribute(const xl_emitter *x, LLVMValueRef fn, const char *key, const char *value);
void l_enum_attribute(const xl_emitter *x, LLVMValueRef fn, LLVMAttributeIndex at, const char *name, uint64_t value);

#endif
