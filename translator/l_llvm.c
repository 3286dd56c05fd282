/* l_llvm.c - the few helpers of l_llvm.h that are longer than a line, and differences between LLVM versions. */
#include <string.h>
#include <llvm/Config/llvm-config.h>
#include "translator/l_llvm.h"

LLVMValueRef l_intrinsic(xl_emitter *x, const char *name, LLVMTypeRef *overloads, unsigned noverloads, LLVMValueRef *args, unsigned nargs)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) xl_fail(x, PTX_REASON_UNSUPPORTED, "this LLVM has no intrinsic %s", name);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(x->llvm, id, overloads, noverloads);
    return LLVMBuildCall2(x->b, LLVMGlobalGetValueType(fn), fn, args, nargs, "");
}

void l_fence(xl_emitter *x, LLVMAtomicOrdering ordering, const char *scope)
{
#if LLVM_VERSION_MAJOR >= 20
    LLVMBuildFenceSyncScope(x->b, ordering, LLVMGetSyncScopeID(x->context, scope, strlen(scope)), "");
#else
    (void)scope;                                   /* before 20 the C API only knows the whole system, which is stronger */
    LLVMBuildFence(x->b, ordering, false, "");
#endif
}

LLVMValueRef l_atomic_rmw(xl_emitter *x, LLVMAtomicRMWBinOp op, LLVMValueRef p, LLVMValueRef v, LLVMAtomicOrdering ordering, const char *scope)
{
#if LLVM_VERSION_MAJOR >= 20
    return LLVMBuildAtomicRMWSyncScope(x->b, op, p, v, ordering, LLVMGetSyncScopeID(x->context, scope, strlen(scope)));
#else
    (void)scope;
    return LLVMBuildAtomicRMW(x->b, op, p, v, ordering, false);
#endif
}

LLVMValueRef l_cmpxchg(xl_emitter *x, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef desired, LLVMAtomicOrdering ordering, const char *scope)
{
    LLVMAtomicOrdering on_failure = ordering == LLVMAtomicOrderingRelease ? LLVMAtomicOrderingMonotonic
                                  : ordering == LLVMAtomicOrderingAcquireRelease ? LLVMAtomicOrderingAcquire : ordering;
#if LLVM_VERSION_MAJOR >= 20
    return LLVMBuildAtomicCmpXchgSyncScope(x->b, p, expected, desired, ordering, on_failure, LLVMGetSyncScopeID(x->context, scope, strlen(scope)));
#else
    (void)scope;
    return LLVMBuildAtomicCmpXchg(x->b, p, expected, desired, ordering, on_failure, false);
#endif
}

void l_scope(xl_emitter *x, LLVMValueRef access, const char *scope)
{
#if LLVM_VERSION_MAJOR >= 20
    LLVMSetAtomicSyncScopeID(access, LLVMGetSyncScopeID(x->context, scope, strlen(scope)));
#else
    (void)x; (void)access; (void)scope;
#endif
}

void l_attribute(const xl_emitter *x, LLVMValueRef fn, const char *key, const char *value)
{
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(x->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value)));
}

void l_enum_attribute(const xl_emitter *x, LLVMValueRef fn, LLVMAttributeIndex at, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, at, LLVMCreateEnumAttribute(x->context, kind, value));
}
