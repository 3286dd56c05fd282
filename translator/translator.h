/* translator.h - a checked PTX module to LLVM IR, assembly, a relocatable object or a code object for an AMD GPU.
 *
 * Works on a module that ptx_parse made; knows nothing of devices. Every call has
 * its own LLVM context, so calls may run in parallel. Output is deterministic.
 *
 * There are two forms of code. The whole form keeps a module's variables as symbols of the code object. The form for
 * a device (host_variables) has none: kernels are translated one by one when they are first used, yet share one set of
 * variables, so the host places these and writes their addresses into the table pxb_variables of each code object.
 */
#ifndef XL_TRANSLATOR_H
#define XL_TRANSLATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ptx/module.h"

/* HSACO is an object linked by lld or comgr: what a device loads. */
typedef enum xl_emit { XL_EMIT_LLVM, XL_EMIT_ASM, XL_EMIT_OBJECT, XL_EMIT_HSACO } xl_emit;

typedef struct xl_options {
    const char *target;        /* "gfx1100", … one of xl_targets() */
    const char *entry;         /* translate this entry and what it calls; NULL = every entry that is not broken */
    xl_emit emit;
    uint32_t mma_model;        /* number of pxb_mma_model */
    bool unoptimised;          /* XL_EMIT_LLVM: the IR before LLVM's passes, meanings still called */
    bool host_variables;       /* addresses of variables come from the table pxb_variables: see xl_variable_slot */
    bool function_table;       /* the code object has pxb_functions: a 64-bit address for each function of the module, 0 for entries
                                  and for functions that have none; every function is translated then */
    const uint8_t *left_out;   /* by function index: what is not translated though `entry` is NULL. Its address, and that of what has no
                                  body, becomes a number, and a call of it a fault (PXL_NO_FUNCTION). NULL: such a use is an error */
    bool trace;                /* code records what each instruction writes in the buffer at pxb_trace: see ptx/trace.h */
    bool mma_fast;             /* mma on matrix cores where the processor has them: bounded differences instead of a model's bits */
    bool lines;                /* a line table (DWARF) from code to lines of the PTX */
    bool every_line;           /* no s_clause, which groups memory instructions for speed: LLVM gives a group one row of the table */
} xl_options;

typedef struct xl_result {
    char *data;                /* malloc'ed, NUL-terminated text for LLVM and ASM; free with free() */
    size_t size;
    double emit_ms, optimise_ms, codegen_ms;
    ptx_reason reason;         /* NONE when it worked */
    ptx_location at;           /* of the instruction that could not be lowered */
    const ptx_function *in;    /* the function that holds it, or NULL */
    char message[512];
} xl_result;

/* False: result->message says why, data is NULL. */
bool xl_translate(const ptx_module *module, const xl_options *options, xl_result *result);

/* NULL-terminated list of the targets that this build knows. */
const char *const *xl_targets(void);

/* The matrix instruction that mma_fast takes for an mma, by the name of its meaning; NULL where it stays exact. */
const char *xl_matrix_core(const char *target, const char *meaning);
/* A line for each kind of mma in the module: its meaning, and that instruction or that it stays exact. */
void xl_mma_notes(const ptx_module *module, const char *target, char *text, size_t size);

/* "LLVM 22.1.8": part of the cache's key. */
const char *xl_llvm_version(void);

/* Where a variable of space .global or .const, of the module or of a function, has its address in pxb_variables: the
 * variables of the module in order, then those of each function. UINT32_MAX for variables of other spaces. */
uint32_t xl_variable_slots(const ptx_module *module);
uint32_t xl_variable_slot(const ptx_module *module, const ptx_variable *variable);

/* Links a relocatable object into a code object (link.c): *out is malloc'ed. False: `message` says why. */
bool xl_link(const char *target, const char *object, size_t size, char **out, size_t *out_size, char *message, size_t message_size);

#endif
