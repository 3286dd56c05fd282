/* bitcode.c - the meanings of ptx/lib, embedded as LLVM bitcode.
 *
 * The bitcode holds thousands of functions and a kernel uses a hundred, so it is
 * read lazily: every function becomes linkonce before linking, and LLVM's linker
 * then reads only the bodies that are reachable from what the kernel calls.
 */
#include <stdio.h>
#include <string.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include "translator/l_llvm.h"

extern const char pxl_bitcode_wave32[], pxl_bitcode_wave32_end[];
extern const char pxl_bitcode_wave64[], pxl_bitcode_wave64_end[];

void xl_open_meanings(xl_emitter *x)
{
    const char *begin = x->wave == 32 ? pxl_bitcode_wave32 : pxl_bitcode_wave64;
    const char *end = x->wave == 32 ? pxl_bitcode_wave32_end : pxl_bitcode_wave64_end;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(begin, (size_t)(end - begin), "meanings", false);
    if (LLVMGetBitcodeModuleInContext2(x->context, buffer, &x->meanings))   /* takes the buffer */
        xl_fail(x, PTX_REASON_UNSUPPORTED, "the embedded bitcode cannot be read by this LLVM (built with another version?)");
}

/* What named the processor when the bitcode was made must not bind the kernel. */
static void drop_target_attributes(LLVMValueRef fn)
{
    static const char *const keys[] = {"target-cpu", "target-features", "tune-cpu", "amdgpu-waves-per-eu",
                                       "uniform-work-group-size", "denormal-fp-math", "denormal-fp-math-f32"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        LLVMRemoveStringAttributeAtIndex(fn, LLVMAttributeFunctionIndex, keys[i], (unsigned)strlen(keys[i]));
}

void xl_link_meanings(xl_emitter *x)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(x->meanings); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage) LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    for (LLVMValueRef g = LLVMGetFirstGlobal(x->meanings); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetLinkage(g) == LLVMExternalLinkage) LLVMSetLinkage(g, LLVMLinkOnceODRLinkage);
    LLVMModuleRef meanings = x->meanings;
    x->meanings = NULL;                                                    /* the linker destroys it */
    if (LLVMLinkModules2(x->llvm, meanings)) xl_fail(x, PTX_REASON_UNSUPPORTED, "the meanings cannot be linked into the kernel: %s", x->diagnostic);
    for (LLVMValueRef g = LLVMGetFirstGlobal(x->llvm); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetLinkage(g) == LLVMLinkOnceODRLinkage) LLVMSetLinkage(g, LLVMExternalLinkage);   /* the host sets these */
    for (LLVMValueRef f = LLVMGetFirstFunction(x->llvm); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) {
            const char *name = LLVMGetValueName(f);
            if (strncmp(name, "llvm.", 5) != 0)
                xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: helper '%s' is not in the bitcode of ptx/lib", name);
        } else if (LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage) {
            LLVMSetLinkage(f, LLVMInternalLinkage);
        }
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(x->llvm); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        drop_target_attributes(f);
        l_attribute(x, f, "target-cpu", x->options->target);
        l_attribute(x, f, "denormal-fp-math", "ieee,ieee");
        l_attribute(x, f, "denormal-fp-math-f32", "ieee,ieee");
    }
}

LLVMValueRef xl_helper(xl_emitter *x, const char *name)
{
    LLVMValueRef fn = LLVMGetNamedFunction(x->llvm, name);
    if (fn) return fn;
    LLVMValueRef source = LLVMGetNamedFunction(x->meanings, name);
    if (!source) xl_fail(x, PTX_REASON_UNSUPPORTED, "internal: '%s' is not in the bitcode of ptx/lib", name);
    return LLVMAddFunction(x->llvm, name, LLVMGlobalGetValueType(source));
}

LLVMValueRef xl_call_helper(xl_emitter *x, const char *name, LLVMValueRef *args, unsigned nargs)
{
    LLVMValueRef fn = xl_helper(x, name);
    return LLVMBuildCall2(x->b, LLVMGlobalGetValueType(fn), fn, args, nargs, "");
}
