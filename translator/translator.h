/* translator.h - a checked PTX module to LLVM IR, assembly or a relocatable object for an AMD GPU.
 *
 * Works on a module that ptx_parse made; knows nothing of devices. Every call has
 * its own LLVM context, so calls may run in parallel. Output is deterministic.
 */
#ifndef XL_TRANSLATOR_H
#define XL_TRANSLATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ptx/module.h"

typedef enum xl_emit { XL_EMIT_LLVM, XL_EMIT_ASM, XL_EMIT_OBJECT } xl_emit;

typedef struct xl_options {
    const char *target;        /* "gfx1100", … one of xl_targets() */
    const char *entry;         /* translate this entry and what it calls; NULL = every entry that is not broken */
    xl_emit emit;
    uint32_t mma_model;        /* number of pxb_mma_model */
    bool unoptimised;          /* XL_EMIT_LLVM: the IR before LLVM's passes, meanings still called */
} xl_options;

typedef struct xl_result {
    char *data;                /* malloc'ed, NUL-terminated text for LLVM and ASM; free with free() */
    size_t size;
    double emit_ms, optimise_ms, codegen_ms;
    ptx_reason reason;         /* NONE when it worked */
    ptx_location at;           /* of the instruction that could not be lowered */
    char message[512];
} xl_result;

/* False: result->message says why, data is NULL. */
bool xl_translate(const ptx_module *module, const xl_options *options, xl_result *result);

/* NULL-terminated list of the targets that this build knows. */
const char *const *xl_targets(void);

/* "LLVM 22.1.8": part of the cache's key. */
const char *xl_llvm_version(void);

#endif
