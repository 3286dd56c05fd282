/* parser.h - what the files of the front end share; nobody else includes it.
 *
 * The parser makes one pass. Statements of a body are read into `raw` operands (syntax and names
 * resolved, types not yet judged), which check.c fits to the readings of the opcode in the
 * instruction table. Faults are reported where they are found and make the statement's function return
 * false; the statement loop then goes on after the next `;`. Only exhausted memory leaves by longjmp.
 *
 * Names. Symbols are interned; each has a stack of bindings, innermost scope first. `.reg .b32 %r<9>`
 * is one binding of the symbol "%r" whatever its size: a register gets its number in
 * function->registers at its first use, so that declared but unused registers cost nothing.
 */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include "ptx/arena.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

enum {
    PTX_MAX_DEPTH = 256,            /* nested { } scopes, and nested parentheses of an expression */
    PTX_MAX_DIMENSIONS = 16,
    PTX_MAX_REGISTERS = 1 << 22,    /* declared in one function */
    PTX_MAX_NUMBERED = 1 << 17,     /* variables x<n> and labels L<n> of a module; registers %r<n> cost nothing until they are used */
    PTX_MAX_VALUES = 1024,          /* written in one statement */
    PTX_MAX_DIAGNOSTICS = 100,
};
#define PTX_MAX_VARIABLE ((uint64_t)1 << 40)   /* bytes of one variable */
#define PTX_MAX_INIT ((uint64_t)256 << 20)     /* bytes of all initialised variables of a module */

/* ------------------------------------------------------------ names */

typedef enum ptx_bind_kind {
    PTX_BIND_REGISTER, PTX_BIND_VARIABLE, PTX_BIND_FUNCTION, PTX_BIND_LABEL, PTX_BIND_TARGETS, PTX_BIND_PROTOTYPE
} ptx_bind_kind;

typedef struct ptx_symbol ptx_symbol;

typedef struct ptx_binding {
    ptx_bind_kind kind;
    bool is_range;                  /* REGISTER: bound to the name before the number */
    uint8_t vector;                 /* REGISTER: 1, 2, 4 */
    uint16_t depth;
    ptx_type type;                  /* REGISTER */
    uint32_t count, slot;           /* REGISTER: numbers 0 … count-1, first of its slots */
    ptx_symbol *symbol;
    struct ptx_binding *outer;      /* the same name further out */
    struct ptx_binding *previous;   /* declared before it in the same scope */
    ptx_location at;
    union {
        ptx_variable *variable;
        ptx_function *function;
        uint32_t target;            /* LABEL: index of an instruction */
        ptx_label_list *targets;
        ptx_prototype *prototype;
    } as;
} ptx_binding;

struct ptx_symbol {
    const char *name;
    uint32_t length, hash;
    uint16_t special;               /* 1 + index in the table of special registers */
    bool numbered;                  /* names of this symbol + digits were declared singly */
    ptx_binding *binding;           /* the whole name */
    ptx_binding *range;             /* the name before a register's number */
};

typedef struct ptx_scope {
    ptx_binding *bindings;
    uint32_t first_pending;         /* label references made inside */
    uint64_t param_offset;          /* of the .param block when the scope began */
} ptx_scope;

typedef struct ptx_pending {
    const ptx_symbol *symbol;
    uint32_t *target;
    ptx_location at;
} ptx_pending;

/* ------------------------------------------------------------ operands as written */

typedef enum ptx_raw_kind {
    PTX_RAW_REG,
    PTX_RAW_INT,
    PTX_RAW_FLOAT,
    PTX_RAW_SPECIAL,
    PTX_RAW_VARIABLE,
    PTX_RAW_FUNCTION,
    PTX_RAW_NAME,
    PTX_RAW_SINK
} ptx_raw_kind;

typedef struct ptx_raw_value {
    ptx_raw_kind kind;
    bool negated;                   /* !x */
    bool minus;                     /* -x of a register */
    bool sum;                       /* x + imm of a register */
    bool is_single;                 /* FLOAT: as in ptx_token */
    uint8_t vector;                 /* a whole vector register or special register; else 1 */
    ptx_type type;                  /* REG, SPECIAL */
    uint32_t reg;                   /* REG; SPECIAL: index in the table */
    ptx_special special;
    uint64_t imm;                   /* INT, FLOAT bits; VARIABLE: offset; sum: what is added */
    const ptx_symbol *symbol;       /* of a plain name, whatever it is bound to */
    const ptx_binding *binding;
    const char *suffix;             /* .b0 .h1 .b3210 of video instructions */
    uint32_t suffix_length;
    ptx_location at;
} ptx_raw_value;

typedef enum ptx_raw_shape {
    PTX_SHAPE_SCALAR, PTX_SHAPE_PAIR, PTX_SHAPE_VECTOR, PTX_SHAPE_VECTOR_PRED, PTX_SHAPE_ADDRESS, PTX_SHAPE_TEXTURE
} ptx_raw_shape;

typedef struct ptx_raw_operand {
    ptx_raw_shape shape;
    uint32_t first, count;          /* values; TEXTURE: handle, sampler if any, coordinates */
    bool has_sampler;
    int64_t offset;                 /* ADDRESS: values[first] + offset */
    ptx_location at;
} ptx_raw_operand;

/* ------------------------------------------------------------ opcodes met so far */

/* RELAXED: registers may be wider. SPECIALS, SYMBOLS: may be sources. SINK: the result may be `_`.
 * GENERIC: an address without a state space is generic, so it has 64 bits. NO_CONSTANTS: outside
 * braces, registers only. SPACED: a symbol must be in the state space that the modifiers name. */
enum {
    PTX_FLAG_RELAXED = 1,
    PTX_FLAG_SPECIALS = 2,
    PTX_FLAG_SYMBOLS = 4,
    PTX_FLAG_SINK = 8,
    PTX_FLAG_GENERIC = 16,
    PTX_FLAG_NO_CONSTANTS = 32,
    PTX_FLAG_SPACED = 64
};

typedef struct ptx_reading {
    const isa_form *form;
    isa_tuple tuple;
    uint32_t meaning;
    const char *operation;
    uint8_t flags;
    uint8_t nwritten, nleast;       /* operands that may and that must be written */
    uint8_t nspaces;
    uint8_t spaces[4];              /* state spaces among the modifiers, in order */
    uint8_t types[ISA_MAX_OPERANDS], counts[ISA_MAX_OPERANDS];
    bool written[ISA_MAX_OPERANDS];
} ptx_reading;

typedef struct ptx_opcode {
    const char *text;
    uint32_t length, hash;
    uint32_t nreadings;
    bool is_call;
    ptx_reading *readings;
} ptx_opcode;

/* ------------------------------------------------------------ the parser */

typedef struct ptx_store {
    ptx_module module;              /* first: the public pointer is this one */
    ptx_arena arena;
    uint32_t *line_starts;          /* offsets in module.text */
    uint32_t nlines;
    ptx_diagnostic last_resort;     /* when there is no memory for another */
} ptx_store;

typedef struct ptx_register_use { ptx_register reg; uint32_t slot; const ptx_value *last; } ptx_register_use;

typedef struct ptx_parser {
    ptx_store *store;
    ptx_module *module;
    ptx_arena *arena;
    jmp_buf failed;                 /* the road of exhausted memory */
    ptx_lexer lexer;
    ptx_token token;                /* the next token, not yet taken */

    ptx_symbol **symbols;           /* hash table */
    uint32_t symbol_slots, nsymbols;
    uint64_t seed;
    ptx_opcode **opcodes;           /* hash table */
    uint32_t opcode_slots, nopcodes;
    uint32_t nnumbered;             /* see PTX_MAX_NUMBERED */

    ptx_scope scopes[PTX_MAX_DEPTH + 4];
    uint32_t depth;                 /* 0 = module */

    /* Growing scratch, kept from function to function. */
    ptx_pending *pending; uint32_t npending, pending_room;
    ptx_register_use *registers; uint32_t nregisters, register_room;
    uint32_t *slots; uint32_t nslots, slot_room;   /* slot -> number of the register + 1 */
    ptx_insn *insns; uint32_t ninsns, insn_room;
    ptx_label *labels; uint32_t nlabels, label_room;
    ptx_statement *statements; uint32_t nstatements, statement_room;
    const ptx_variable **locals; uint32_t nlocals, local_room;
    ptx_function **functions; uint32_t nfunctions, function_room;
    ptx_variable **variables; uint32_t nvariables, variable_room;
    ptx_diagnostic *diagnostics; uint32_t ndiagnostics, diagnostic_room;
    ptx_raw_value *values; uint32_t nvalues, value_room;
    ptx_relocation *relocations; uint32_t nrelocations, relocation_room;
    uint8_t *init_scratch; uint32_t init_room;
    struct ptx_alias *aliases;
    ptx_raw_operand operands[ISA_MAX_OPERANDS + 1];
    uint32_t noperands;

    ptx_function *function;         /* whose header or body is being read, else NULL */
    uint32_t block_statement;       /* of the outermost { } that we are in */
    uint32_t carry;                 /* number of "%cc" + 1 in this function */
    uint64_t param_offset, param_top, local_offset;
    uint64_t shared_offset, shared_align, init_bytes;
    uint64_t entry_shared, entry_shared_most;   /* .shared variables inside entries */
    uint32_t expression_depth;
    bool version_seen, target_seen, address_size_seen;
    const ptx_diagnostic *module_unsupported;   /* why no function of the module can run */
} ptx_parser;

/* parser.c: memory and tokens */
_Noreturn void ptx_out_of_memory(ptx_parser *p);
static inline void *ptx_new(ptx_parser *p, size_t size, size_t align)
{
    void *block = ptx_arena_alloc(p->arena, size, align);
    if (!block)
        ptx_out_of_memory(p);
    return block;
}
#define PTX_NEW(p, type, n) ((type *)ptx_new((p), sizeof(type) * (n), _Alignof(type)))
void ptx_grow(ptx_parser *p, void *array, uint32_t *room, uint32_t needed, size_t element);
#define PTX_GROW(p, array, room, needed) \
    do { if ((needed) > (room)) ptx_grow((p), &(array), &(room), (needed), sizeof *(array)); } while (0)
char *ptx_copy(ptx_parser *p, const char *text, uint32_t length);
static inline void ptx_advance(ptx_parser *p) { ptx_lexer_next(&p->lexer, &p->token); }
static inline bool ptx_at(const ptx_parser *p, int kind) { return (int)p->token.kind == kind; }
static inline bool ptx_accept(ptx_parser *p, int kind)
{
    if (!ptx_at(p, kind))
        return false;
    ptx_advance(p);
    return true;
}
bool ptx_expect(ptx_parser *p, int kind, const char *what);      /* "expected <what>" */
static inline bool ptx_token_is(const ptx_token *token, const char *text)
{
    size_t length = strlen(text);
    return token->length == length && memcmp(token->start, text, length) == 0;
}
static inline bool ptx_at_word(const ptx_parser *p, const char *text)
{
    return ptx_at(p, PTX_TOKEN_WORD) && ptx_token_is(&p->token, text);
}
bool ptx_accept_word(ptx_parser *p, const char *text);
bool ptx_unexpected(ptx_parser *p, const char *expected);        /* reports; always false */
void ptx_skip_statement(ptx_parser *p);
bool ptx_skip_block(ptx_parser *p);                              /* at `{`: to behind the matching `}` */

/* diagnostic.c */
const ptx_diagnostic *ptx_report(ptx_parser *p, ptx_severity severity, ptx_reason reason, ptx_location at,
                                 const char *format, ...) __attribute__((format(printf, 5, 6)));
static inline bool ptx_not(const ptx_diagnostic *reported) { (void)reported; return false; }
#define PTX_FAULT(p, at, ...) ptx_not(ptx_report((p), PTX_ERROR, PTX_REASON_MALFORMED, (at), __VA_ARGS__))
#define PTX_LIMIT(p, at, ...) ptx_not(ptx_report((p), PTX_ERROR, PTX_REASON_LIMIT, (at), __VA_ARGS__))
#define PTX_UNSUPPORTED(p, at, ...) ptx_not(ptx_report((p), PTX_ERROR, PTX_REASON_UNSUPPORTED, (at), __VA_ARGS__))
#define PTX_WARN(p, at, ...) ((void)ptx_report((p), PTX_WARNING, PTX_REASON_NONE, (at), __VA_ARGS__))
bool ptx_worth_reporting(const ptx_parser *p);                   /* false beyond the cap: no hints then */

/* parser_name.c: symbols, scopes, registers */
uint64_t ptx_hash(const ptx_parser *p, const char *text, uint32_t length);
void ptx_names_init(ptx_parser *p);
ptx_symbol *ptx_intern(ptx_parser *p, const char *text, uint32_t length);
ptx_symbol *ptx_find_symbol(const ptx_parser *p, const char *text, uint32_t length);
bool ptx_open_scope(ptx_parser *p, ptx_location at);
void ptx_close_scope(ptx_parser *p);
ptx_binding *ptx_bind(ptx_parser *p, const ptx_token *name, ptx_bind_kind kind);   /* NULL: declared twice, reported */
ptx_binding *ptx_bind_range(ptx_parser *p, const ptx_token *name, uint32_t count);
uint32_t ptx_register_of(ptx_parser *p, const ptx_binding *binding, uint32_t number, uint32_t component);
/* Behind a name: `<n>`, for n names that end in a number from 0. */
bool ptx_parse_count(ptx_parser *p, uint32_t *count);
/* `name` with a number behind it, in a buffer with the padding that names need. */
enum { PTX_NUMBERED_NAME = 256 };
bool ptx_number_name(ptx_parser *p, const ptx_token *name, uint32_t number, char buffer[PTX_NUMBERED_NAME + PTX_TEXT_PADDING], ptx_token *out);
uint32_t ptx_carry_register(ptx_parser *p);
/* A register that the text does not have, with a name for traces. */
uint32_t ptx_new_register(ptx_parser *p, const char *name, ptx_type type);
void ptx_refer_label(ptx_parser *p, const ptx_symbol *symbol, uint32_t *target, ptx_location at);
void ptx_lookup(ptx_parser *p, const ptx_token *name, ptx_raw_value *out); /* fills kind and what belongs to it */

/* parser_special.c */
typedef struct ptx_special_register {
    const char *name;
    ptx_special first;
    ptx_type type;
    uint8_t vector;
    bool half;
} ptx_special_register;
extern const ptx_special_register ptx_special_registers[];
extern const uint32_t ptx_special_register_count;

/* parser_expression.c */
typedef enum ptx_constant_kind { PTX_CONST_INT, PTX_CONST_FLOAT } ptx_constant_kind;
typedef struct ptx_constant {
    ptx_constant_kind kind;
    bool is_unsigned, is_single;
    uint64_t bits;
} ptx_constant;
bool ptx_parse_constant(ptx_parser *p, ptx_constant *out);
bool ptx_parse_integer(ptx_parser *p, uint64_t *out, const char *what);   /* literal or expression, not negative */
bool ptx_parse_offset(ptx_parser *p, int64_t *out);                       /* the sum after `sym +` */
uint64_t ptx_constant_bits(const ptx_constant *c, ptx_type type);         /* wrapped or rounded into the type */

/* parser_declare.c: variables and registers; parser_init.c: initialisers */
typedef struct ptx_declarator {
    ptx_linkage linkage;
    ptx_space space;
    ptx_type type;
    uint32_t vector, align;
    bool managed, is_pointer;
    ptx_location at;
} ptx_declarator;
bool ptx_parse_linkage(ptx_parser *p, ptx_linkage *linkage);
bool ptx_parse_declaration(ptx_parser *p, ptx_linkage linkage,
                           bool managed); /* at the state space word, to behind `;` */
bool ptx_is_space_word(const ptx_token *token);
bool ptx_parse_attributes(ptx_parser *p, bool *managed);
bool ptx_parse_parameter(ptx_parser *p, bool is_entry, bool is_prototype, ptx_variable **out);
bool ptx_parse_initialiser(ptx_parser *p, ptx_variable *variable, const uint64_t *dimensions, uint32_t ndimensions);
void ptx_place_param(ptx_parser *p, ptx_variable *variable);

/* parser_function.c */
bool ptx_parse_function(ptx_parser *p, ptx_linkage linkage);
bool ptx_parse_alias(ptx_parser *p);
void ptx_settle_aliases(ptx_parser *p);
bool ptx_parse_prototype_directive(ptx_parser *p, const ptx_token *name);
bool ptx_parse_calltargets(ptx_parser *p, const ptx_token *name);
bool ptx_parse_pragma(ptx_parser *p);

/* parser_body.c */
void ptx_parse_body(ptx_parser *p);                                       /* behind `{`, to behind its `}` */
bool ptx_parse_debug_directive(ptx_parser *p);                            /* .loc .file .section */

/* parser_operand.c */
bool ptx_parse_operands(ptx_parser *p);
bool ptx_parse_call(ptx_parser *p, ptx_insn *insn, const ptx_opcode *opcode);
bool ptx_parse_raw_value(ptx_parser *p, uint32_t *index);

/* check.c, check_type.c, check_call.c, check_hint.c */
const ptx_opcode *ptx_find_opcode(ptx_parser *p, const char *text, uint32_t length, ptx_location at);
bool ptx_check_insn(ptx_parser *p, ptx_insn *insn, const ptx_opcode *opcode);
bool ptx_type_fits(ptx_type reg, ptx_type type, bool relaxed);
bool ptx_check_value(ptx_parser *p, const ptx_reading *reading, const ptx_raw_value *v, ptx_type type, bool report);
bool ptx_check_address(ptx_parser *p, const ptx_reading *reading, uint32_t ordinal, const ptx_raw_operand *raw,
                       bool report);
void ptx_explain_value(const ptx_raw_value *v, char *buffer, size_t size);
const ptx_value *ptx_make_value(ptx_parser *p, const ptx_raw_value *v, ptx_type type);
void ptx_fill_value(const ptx_raw_value *v, ptx_type type, ptx_value *out);
uint64_t ptx_raw_bits(const ptx_raw_value *v, ptx_type type);
bool ptx_check_call(ptx_parser *p, const ptx_prototype *callee, const char *name, ptx_insn *insn,
                    const ptx_raw_value *returns, uint32_t nreturns, const ptx_raw_value *args, uint32_t nargs);
void ptx_hint_mnemonic(ptx_parser *p, const char *mnemonic, uint32_t length, ptx_location at);
void ptx_hint_modifiers(ptx_parser *p, const char *opcode, uint32_t length, ptx_location at);

/* module.c: the parse with a limit on memory, for tests of exhaustion */
ptx_module *ptx_parse_within(const char *text, size_t length, const char *file, size_t limit);

#endif
