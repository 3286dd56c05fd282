/* emit.h - what the emitters of this folder share: the module being made and the function being lowered.
 *
 * PTX registers are allocas of integers of their width (mem2reg makes SSA of
 * them); a value is cast to the type that an instruction asks for at its use.
 * Control flow goes over one to one. Locals named v_* are IR values, b_* blocks.
 */
#ifndef XL_EMIT_H
#define XL_EMIT_H

#include <setjmp.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include "ptx/module.h"
#include "translator/translator.h"

/* LLVM's address spaces for AMD GPUs (LLVM, "User Guide for AMDGPU Backend", Address Spaces). */
enum { AS_GENERIC = 0, AS_GLOBAL = 1, AS_LDS = 3, AS_CONSTANT = 4, AS_PRIVATE = 5 };

/* A PTX function in the LLVM module. */
typedef struct xl_function {
    const ptx_function *ptx;
    LLVMValueRef value;
    LLVMTypeRef type;
    bool may_exit;             /* `exit` inside it or below it: it returns a flag in front of its results */
} xl_function;

typedef struct xl_emitter {
    const ptx_module *module;
    const xl_options *options;
    xl_result *result;
    jmp_buf fail;              /* the one failing road: xl_fail */
    struct xl_block *memory;   /* what xl_alloc gave */
    char diagnostic[400];      /* first error that LLVM reported through its context */
    bool abandoned;            /* LLVM left in the middle of something: its objects are not touched again */
    uint32_t wave;             /* 32 or 64 lanes in a wavefront */

    LLVMContextRef context;
    LLVMModuleRef llvm;
    LLVMTargetMachineRef machine;
    LLVMBuilderRef b;
    LLVMModuleRef meanings;    /* bitcode of ptx/lib, read lazily, linked at the end; NULL after linking */

    xl_function *functions;    /* parallel to module->functions; value NULL = not wanted */
    LLVMValueRef *variables;   /* parallel to module->variables */
    LLVMValueRef table;        /* host_variables: the array pxb_variables */
    struct xl_lines *lines;    /* lines.c; NULL without a line table */
    LLVMValueRef dynamic_lds;
    LLVMValueRef barriers;     /* LDS cells of counted barriers; NULL until one is met */
    bool several_barriers;     /* the functions name more than one: all of them are in LDS */

    struct xl_trace *trace;    /* trace.c; NULL without a trace */
    struct xl_dispatch *dispatch;   /* dispatch.c; NULL where the function needs none */
    const struct xl_plan *plan;     /* plan.c; what it says matters with a dispatcher only */

    /* The function being lowered. */
    const ptx_function *ptx;
    const ptx_insn *insn;
    LLVMValueRef fn;
    LLVMValueRef *registers;   /* alloca of each PTX register */
    LLVMValueRef *locals;      /* alloca or argument pointer of each ptx->variables entry of space LOCAL or PARAM */
    LLVMValueRef *params;      /* address of each parameter: kernel argument block or alloca */
    LLVMBasicBlockRef *blocks; /* block that starts at an instruction, or NULL */
    LLVMBasicBlockRef b_return;
    LLVMValueRef return_flag;  /* alloca of i1: exited (may_exit functions) */
    LLVMValueRef *returns;     /* allocas of the return parameters */
} xl_emitter;

/* Ends the translation: the message gets the place of the current instruction. */
_Noreturn void xl_fail(xl_emitter *x, ptx_reason reason, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Zeroed memory that lives until the translation ends; never NULL. */
void *xl_alloc(xl_emitter *x, size_t size);

/* ------------------------------------------------------------ values (lower_values.c) */

/* Integer type of `bits`, and the type in which a meaning takes an element (half, float, double, iN, i1). */
LLVMTypeRef xl_element_type(const xl_emitter *x, ptx_type type);
/* A PTX value as an integer of the width of its element type; wider registers are truncated, narrower ones zero-extended. */
LLVMValueRef xl_read(xl_emitter *x, const ptx_value *value);
/* The same as an integer of `bits`. */
LLVMValueRef xl_read_bits(xl_emitter *x, const ptx_value *value, unsigned bits);
/* Writes an integer, extended to the register's width by the sign of `value->type` when it is narrower. */
void xl_write(xl_emitter *x, const ptx_value *value, LLVMValueRef v_bits);
LLVMValueRef xl_read_register(xl_emitter *x, uint32_t reg);
LLVMValueRef xl_guard(xl_emitter *x, const ptx_insn *insn);
LLVMValueRef xl_special(xl_emitter *x, ptx_special special, unsigned bits);
/* Declares (once) a function of the bitcode, and calls it. */
LLVMValueRef xl_helper(xl_emitter *x, const char *name);
LLVMValueRef xl_call_helper(xl_emitter *x, const char *name, LLVMValueRef *args, unsigned nargs);
/* Ends the wave with a fault of the current instruction on record (pxl_fault in ptx/lib/amdgcn.c, codes in ptx/lib/fault.h). */
void xl_fault(xl_emitter *x, uint32_t code, LLVMValueRef v_detail0, LLVMValueRef v_detail1, LLVMValueRef v_detail2);

/* ------------------------------------------------------------ emitters, one file per family */

void xl_lower_meaning(xl_emitter *x, const ptx_insn *insn);                 /* lower_meaning.c */
bool xl_lower_memory(xl_emitter *x, const ptx_insn *insn);                  /* lower_memory.c */
bool xl_lower_atomic(xl_emitter *x, const ptx_insn *insn);                  /* lower_atomic.c */
/* One element's atomic operation, as the instruction's modifiers say; gives the old value. */
LLVMValueRef xl_atomic_element(xl_emitter *x, const ptx_insn *insn, LLVMValueRef p, unsigned as, ptx_type type, LLVMValueRef v_b);
bool xl_lower_bulk(xl_emitter *x, const ptx_insn *insn);                    /* lower_bulk.c: before memory and atomic */
bool xl_lower_control(xl_emitter *x, const ptx_insn *insn, uint32_t index); /* lower_control.c */
bool xl_lower_barrier(xl_emitter *x, const ptx_insn *insn);                 /* lower_barrier.c */
bool xl_needs_barrier_cells(const ptx_function *f);
bool xl_names_several_barriers(const xl_emitter *x);
void xl_clear_barriers(xl_emitter *x);
void xl_leave_barriers(xl_emitter *x);
bool xl_lower_matrix(xl_emitter *x, const ptx_insn *insn);                  /* lower_matrix.c */
/* lower_matrix_core.c: an mma of options->mma_fast; false where the processor has nothing for it. */
bool xl_lower_matrix_core(xl_emitter *x, const char *meaning, const isa_elem *signature, const ptx_value *values, uint32_t n);
/* A number in place of the address of a function that is left out or has no body (ptx/lib/fault.h); 0 when the function is there. */
uint64_t xl_stand_in(const xl_emitter *x, const ptx_function *f);
bool xl_lower_builtin(xl_emitter *x, const ptx_insn *insn);                 /* lower_builtin.c: vprintf, malloc, … */

/* ------------------------------------------------------------ addresses (address.c) */

LLVMValueRef xl_variable_address(xl_emitter *x, const ptx_variable *variable, unsigned *as);
/* An integer as a pointer into a PTX space; *as gets the address space. */
LLVMValueRef xl_pointer(xl_emitter *x, LLVMValueRef v_bits, ptx_space space, unsigned *as);
/* [base + offset]; an address that names a variable lies in the variable's space whatever `space` says. */
LLVMValueRef xl_address(xl_emitter *x, const ptx_address *address, ptx_space space, unsigned *as);
LLVMValueRef xl_generic(xl_emitter *x, LLVMValueRef p, unsigned as);
/* State space and LLVM synchronisation scope that an instruction's modifiers name. */
ptx_space xl_space(const ptx_insn *insn);
const char *xl_scope(const ptx_insn *insn);

/* ------------------------------------------------------------ module level */

LLVMTypeRef xl_param_type(xl_emitter *x, const ptx_variable *v);            /* lower_function.c */
LLVMTypeRef xl_function_type(xl_emitter *x, const ptx_prototype *p, bool may_exit);
void xl_declare_functions(xl_emitter *x);
void xl_lower_function(xl_emitter *x, xl_function *f);
void xl_declare_variables(xl_emitter *x);                                   /* globals.c */
void xl_define_variables(xl_emitter *x);
LLVMValueRef xl_declare_shared(xl_emitter *x, const ptx_variable *v, const char *name);
LLVMValueRef xl_declare_variable(xl_emitter *x, const ptx_variable *v, const char *name);
void xl_define_variable(xl_emitter *x, const ptx_variable *v, LLVMValueRef g);
LLVMValueRef xl_table_address(xl_emitter *x, const ptx_variable *v);        /* host_variables: the address at run time */
void xl_define_functions(xl_emitter *x);                                    /* the table pxb_functions */
/* For tests of the comparison alone: "add_rn_f32=sub_rn_f32" lowers the first meaning as the second. NULL in every product. */
extern const char *xl_planted_fault;
/* trace.c: nothing without options->trace. Suspend and resume stand around calls of PTX functions and before returns. */
void xl_trace_enter(xl_emitter *x);
void xl_trace_suspend(xl_emitter *x);
void xl_trace_resume(xl_emitter *x);
void xl_trace_before(xl_emitter *x, const ptx_insn *insn);
void xl_trace_after(xl_emitter *x, const ptx_insn *insn, uint32_t index);
void xl_open_lines(xl_emitter *x);                                          /* lines.c */
void xl_function_line(xl_emitter *x);
void xl_insn_line(xl_emitter *x, const ptx_insn *insn);
void xl_close_lines(xl_emitter *x);
void xl_dispose_lines(xl_emitter *x);
void xl_open_meanings(xl_emitter *x);                                       /* bitcode.c */
void xl_link_meanings(xl_emitter *x);
void xl_open_machine(xl_emitter *x);                                        /* codegen.c: target and data layout */
void xl_generate(xl_emitter *x);                                            /* codegen.c: passes and output */

#endif
