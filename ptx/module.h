/* module.h - a parsed and checked PTX module.
 *
 * Everything lives in the module's arena; nothing is freed singly. A module is
 * immutable once ptx_parse returns and may be read from several threads.
 */
#ifndef PTX_MODULE_H
#define PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ptx/isa.h"
#include "ptx/types.h"

typedef struct ptx_module ptx_module;
typedef struct ptx_function ptx_function;

typedef struct ptx_location { uint32_t line, column; } ptx_location;   /* 1-based; 0 = unknown */

/* PTX ISA, "Kernel Function Parameters": bytes of an entry's parameters, from version 8.1 on sm_70. */
enum { PTX_MAX_PARAMS = 32764 };

/* ------------------------------------------------------------ diagnostics */

typedef enum ptx_severity { PTX_NOTE, PTX_WARNING, PTX_ERROR } ptx_severity;

/* Why something cannot be used; the three classes are different answers to a user. */
typedef enum ptx_reason {
    PTX_REASON_NONE,
    PTX_REASON_MALFORMED,      /* not PTX */
    PTX_REASON_UNSUPPORTED,    /* valid PTX that this program does not run */
    PTX_REASON_NO_PTX,         /* nothing to parse in this image */
    PTX_REASON_LIMIT,          /* a stated limit of this program (nesting, size) */
    PTX_REASON_MEMORY
} ptx_reason;

typedef struct ptx_diagnostic {
    ptx_severity severity;
    ptx_reason reason;
    ptx_location at;
    const char *function;      /* name of the enclosing function or NULL */
    const char *message;       /* one line, no newline */
} ptx_diagnostic;

/* ------------------------------------------------------------ variables */

typedef enum ptx_linkage {
    PTX_LINK_NONE, PTX_LINK_EXTERN, PTX_LINK_VISIBLE, PTX_LINK_WEAK, PTX_LINK_COMMON
} ptx_linkage;

typedef struct ptx_variable ptx_variable;

/* A relocation inside an initialiser: `offset` bytes into the variable goes the
 * address of variable or function, + addend; generic when written generic(x). */
typedef struct ptx_relocation {
    uint32_t offset;
    uint32_t bytes;            /* 8, or 1, 2, 4 for mask(...) forms */
    uint32_t shift;            /* bits that the address is shifted right first (mask forms) */
    bool generic;
    const ptx_variable *variable;
    const ptx_function *function;
    int64_t addend;
} ptx_relocation;

struct ptx_variable {
    const char *name;
    ptx_space space;           /* GLOBAL CONST SHARED LOCAL PARAM (TEX handles: space GLOBAL, type texref…) */
    ptx_linkage linkage;
    ptx_type type;             /* element */
    uint32_t vector;           /* 1, 2, 4, 8 */
    uint32_t align;            /* bytes */
    uint64_t size;             /* bytes; 0 for an extern array of unknown length (dynamic shared) */
    uint64_t count;            /* elements, all dimensions multiplied */
    bool is_array;
    bool managed;
    const uint8_t *init;       /* `size` bytes or NULL = zeros */
    const ptx_relocation *relocations;
    uint32_t nrelocations;
    uint64_t offset;           /* params: offset in the parameter block; shared/local: offset in the function's or module's block */
    uint32_t index;            /* position in its owner's list */
    uint8_t part, parts;       /* a parameter that is one of the components of a vector register; parts 0 elsewhere */
    bool is_pointer;           /* `.param .u64 .ptr …` */
    const ptx_function *owner; /* NULL = module scope */
    ptx_location at;
};

/* ------------------------------------------------------------ code */

typedef struct ptx_register {
    const char *name;          /* "%r12" */
    ptx_type type;
    uint32_t vector;           /* 1; 2 or 4 for .v2/.v4 registers (each component is then its own register, see below) */
} ptx_register;

/* Special registers, e.g. %tid.x; see ptx_special_name. */
typedef enum ptx_special {
    PTX_SR_NONE,
    PTX_SR_TID_X, PTX_SR_TID_Y, PTX_SR_TID_Z, PTX_SR_NTID_X, PTX_SR_NTID_Y, PTX_SR_NTID_Z,
    PTX_SR_CTAID_X, PTX_SR_CTAID_Y, PTX_SR_CTAID_Z, PTX_SR_NCTAID_X, PTX_SR_NCTAID_Y, PTX_SR_NCTAID_Z,
    PTX_SR_LANEID, PTX_SR_WARPID, PTX_SR_NWARPID, PTX_SR_SMID, PTX_SR_NSMID, PTX_SR_GRIDID,
    PTX_SR_LANEMASK_EQ, PTX_SR_LANEMASK_LE, PTX_SR_LANEMASK_LT, PTX_SR_LANEMASK_GE, PTX_SR_LANEMASK_GT,
    PTX_SR_CLOCK, PTX_SR_CLOCK_HI, PTX_SR_CLOCK64, PTX_SR_GLOBALTIMER, PTX_SR_GLOBALTIMER_LO, PTX_SR_GLOBALTIMER_HI,
    PTX_SR_PM,                 /* %pm0…%pm7 and _64 forms: read as zero */
    PTX_SR_ENVREG0, PTX_SR_ENVREG1, PTX_SR_ENVREG2, PTX_SR_ENVREG31 = PTX_SR_ENVREG0 + 31,
    PTX_SR_TOTAL_SMEM_SIZE, PTX_SR_DYNAMIC_SMEM_SIZE, PTX_SR_AGGR_SMEM_SIZE,
    PTX_SR_RESERVED_SMEM_OFFSET_BEGIN, PTX_SR_RESERVED_SMEM_OFFSET_END, PTX_SR_RESERVED_SMEM_OFFSET_CAP,
    PTX_SR_RESERVED_SMEM_OFFSET_0, PTX_SR_RESERVED_SMEM_OFFSET_1,
    PTX_SR_CLUSTERID_X, PTX_SR_CLUSTERID_Y, PTX_SR_CLUSTERID_Z, PTX_SR_NCLUSTERID_X, PTX_SR_NCLUSTERID_Y, PTX_SR_NCLUSTERID_Z,
    PTX_SR_CLUSTER_CTAID_X, PTX_SR_CLUSTER_CTAID_Y, PTX_SR_CLUSTER_CTAID_Z,
    PTX_SR_CLUSTER_NCTAID_X, PTX_SR_CLUSTER_NCTAID_Y, PTX_SR_CLUSTER_NCTAID_Z,
    PTX_SR_CLUSTER_CTARANK, PTX_SR_CLUSTER_NCTARANK, PTX_SR_IS_EXPLICIT_CLUSTER, PTX_SR_CURRENT_GRAPH_EXEC,
    PTX_SR_COUNT
} ptx_special;
const char *ptx_special_name(ptx_special sr);

/* One scalar value that an instruction reads or writes. */
typedef enum ptx_value_kind {
    PTX_VALUE_SINK,            /* `_`, or an optional destination that is not written */
    PTX_VALUE_REG,             /* reg = index into function->registers */
    PTX_VALUE_IMM,             /* imm = bits, already in the operand's element type */
    PTX_VALUE_SPECIAL,         /* special */
    PTX_VALUE_VARIABLE,        /* address of variable + imm (mov of a symbol), in the variable's own space */
    PTX_VALUE_FUNCTION,        /* address of function */
    PTX_VALUE_EXEC,            /* mask of executing lanes (X) */
    PTX_VALUE_MODEL            /* mma model (M) */
} ptx_value_kind;

typedef struct ptx_value {
    ptx_value_kind kind : 8;
    ptx_type type : 8;         /* element type that the instruction gives it (may be narrower than the register: ld, st, cvt) */
    bool negated : 1;          /* !%p */
    union {
        uint32_t reg;          /* REG */
        ptx_special special;   /* SPECIAL */
    };
    uint64_t imm;              /* IMM; VARIABLE: added to the address; REG of type b64 from ptx_flatten: half of a b128 register */
    union {
        const ptx_variable *variable;
        const ptx_function *function;
    };
} ptx_value;

/* [base + offset] */
typedef enum ptx_base { PTX_BASE_NONE, PTX_BASE_REG, PTX_BASE_VARIABLE, PTX_BASE_FUNCTION } ptx_base;
typedef struct ptx_address {
    ptx_base base;
    uint32_t reg;
    const ptx_variable *variable;
    int64_t offset;
} ptx_address;

typedef struct ptx_operand {
    isa_operand_kind kind;     /* as in the form; ISA_OPERAND_NONE = not written and not hidden either */
    uint32_t nvalues;          /* D S P Q I: 1; D|P, P|P: 2; vectors: n (and the predicate of DV|P); T: handle, then coordinates;
                                  DM, SB: the register, then its selector; X M CI CO: 1 */
    const ptx_value *values;
    ptx_location at;
    union {
        ptx_address address;   /* A, and T's handle: [reg] or [variable] */
        uint32_t label;        /* L: index of the target instruction in function->insns (ninsns: the end of the body) */
        const ptx_function *callee;/* F: NULL when indirect (then values[0] is the register) */
        const void *list;      /* G: ptx_label_list* for brx.idx, ptx_prototype* for call */
    };
} ptx_operand;

typedef struct ptx_label_list { const char *name; uint32_t count; const uint32_t *targets; } ptx_label_list;

/* Parameters of a function or prototype, in order; values of a call likewise. */
typedef struct ptx_prototype {
    const char *name;
    uint32_t nreturns, nparams;
    const ptx_variable *const *returns, *const *params;
    bool noreturn;
} ptx_prototype;

typedef struct ptx_insn {
    const isa_form *form;      /* NULL: this statement could not be understood; diagnostics say why */
    isa_tuple tuple;
    uint32_t meaning;          /* number in isa_meaning_names, 0 = none or "@…" */
    const char *operation;     /* "ld" for a meaning "@ld", else NULL */
    bool guarded, guard_negated;
    uint32_t guard;            /* register of the guard predicate */
    uint8_t noperands;
    const ptx_operand *operands;
    ptx_location at;
    uint32_t statement;        /* index in function->statements: a `{ }` block counts one */
    /* call only */
    uint32_t nreturns, nargs;
    const ptx_value *returns;  /* registers, or VARIABLE for a .param variable of this function */
    const ptx_value *args;
} ptx_insn;

typedef struct ptx_label { const char *name; uint32_t target; ptx_location at; } ptx_label;

/* The linearisation of a body that `inspect` shows: an instruction with its guard, a label, or a whole { } block is one
 * statement; directives are none. */
typedef enum ptx_statement_kind { PTX_STATEMENT_INSN, PTX_STATEMENT_LABEL, PTX_STATEMENT_BLOCK } ptx_statement_kind;
typedef struct ptx_statement {
    ptx_statement_kind kind;
    uint32_t insn;             /* its first instruction; a label's target; a block without instructions: the next one */
    ptx_location at;
} ptx_statement;

struct ptx_function {
    const char *name;
    bool is_entry;
    bool is_declaration;       /* .extern or forward: no body */
    ptx_linkage linkage;
    ptx_location at;
    ptx_prototype prototype;
    uint64_t param_size;       /* bytes of the parameter block: an entry's parameters; a function's returns and parameters */
    uint64_t param_frame;      /* the same with the .param variables of the body behind it; those of disjoint scopes overlap */
    uint32_t nregisters;
    const ptx_register *registers;
    uint32_t ninsns;
    const ptx_insn *insns;
    uint32_t nlabels;
    const ptx_label *labels;
    uint32_t nstatements;
    const ptx_statement *statements;
    uint32_t nvariables;       /* .shared .local .param .const… declared inside */
    const ptx_variable *const *variables;
    uint64_t local_size;       /* bytes of .local variables of one thread, laid out by offset */
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg, maxnctapersm;   /* 0 = not given */
    uint32_t reqnctapercluster[3], maxclusterrank;
    bool explicit_cluster, blocks_are_clusters;
    bool noreturn;
    /* Why this function cannot be loaded (PTX_REASON_NONE = it can): the first error inside it. */
    ptx_reason broken;
    const ptx_diagnostic *why;
    uint32_t index;
};

struct ptx_module {
    const char *file;          /* name for messages */
    const char *text;          /* the source, NUL-terminated, owned by the module */
    size_t length;
    uint16_t version;          /* 10*major + minor of .version */
    uint16_t sm;               /* number in .target sm_NN */
    char sm_suffix;            /* 'a', 'f' or 0 */
    const char *const *targets; uint32_t ntargets;   /* further words of .target */
    uint32_t address_size;     /* 64 (32 is an error of class UNSUPPORTED) */
    uint32_t nfunctions;
    ptx_function *const *functions;                  /* forward declarations are merged into their definition */
    uint32_t nvariables;
    ptx_variable *const *variables;                  /* module scope */
    uint64_t shared_size;      /* bytes of static .shared variables, module scope and of all functions, offsets assigned.
                                  Extern (dynamic) shared variables all have offset = shared_size rounded to 16. */
    uint32_t nwarnings, nerrors;                     /* all found, also those beyond the cap */
    uint32_t ndiagnostics;     /* kept: at most 100 */
    const ptx_diagnostic *diagnostics;
    uint64_t statements;
};

/* Parses and checks. Always returns a module (NULL only when memory is exhausted), however bad the
 * text: functions that cannot be run have `broken` set, and module-level faults are diagnostics.
 * The text is copied. `file` may be NULL. */
ptx_module *ptx_parse(const char *text, size_t length, const char *file);
void ptx_module_free(ptx_module *module);

/* NULL if there is none. */
const ptx_function *ptx_find_function(const ptx_module *module, const char *name);
const ptx_variable *ptx_find_variable(const ptx_module *module, const char *name);

/* Bytes of the static .shared variables that an entry uses: its own, and those of what it calls or takes the address of. *reaches:
 * whether `other` is among that. */
uint64_t ptx_shared_of(const ptx_module *module, const ptx_function *entry, const ptx_function *other, bool *reaches);
/* Where the last of them and of the module's own variables ends, in the module's offsets. */
uint64_t ptx_shared_end(const ptx_module *module, const ptx_function *entry);

/* "file:line:column: error: message", the source line and a caret, as compilers print it.
 * Returns the length that was or would be written, as snprintf does. */
size_t ptx_format_diagnostic(const ptx_module *module, const ptx_diagnostic *d, char *buffer, size_t size);

/* Where a location is in module->text; module->length for one that is unknown. */
size_t ptx_text_offset(const ptx_module *module, ptx_location at);

/* The instruction's text as it stands in the source, white space folded; for messages and traces. */
size_t ptx_format_insn(const ptx_module *module, const ptx_insn *insn, char *buffer, size_t size);

/* Flattens the operands of an instruction into the order of isa_signature(form, tuple); returns their number.
 * Addresses, labels, functions and lists (operations, "@…") are not included. Immediates that stand
 * for a wider element keep the element's type. */
uint32_t ptx_flatten(const ptx_insn *insn, ptx_value out[ISA_MAX_ELEMS]);

#endif
