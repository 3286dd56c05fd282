/* isa.h - the instruction table, as the rest of the program sees it.
 *
 * isa.def holds one row per instruction FORM. A form is a mnemonic with a
 * grammar of modifiers, an operand shape, and the name of its meaning. Choosing
 * one alternative in every modifier group gives a TUPLE, e.g. the form
 *
 *     I(float, "add{.rnd=rn|rz|rm|rp}{.ftz}{.sat}.f32", "D(f32) S(f32) S(f32)",
 *       "add{rnd=rn}{ftz}{sat}_f32", ...)
 *
 * holds add.f32, add.rn.f32, add.rz.ftz.f32 and so on. isa_gen expands the rows
 * at build time into isa_table.inc (forms), isa_meanings.inc (one entry per
 * distinct meaning), the wrappers of ptx/lib and docs/isa.md.
 *
 * Row syntax
 *   pattern   mnemonic (the word before the first dot), then modifier groups in the
 *             order the ISA prints them.
 *             `.x`           required literal            (group named "x")
 *             `{.x}`         optional literal            (group named "x")
 *             `.N=a|b|c`     required choice, group N
 *             `{.N=a|b|c}`   optional choice, group N
 *             Alternatives may hold `::` (shared::cta, L2::128B). `lo~lt` is an
 *             alternative written `lo` whose name in the meaning is `lt`.
 *   operands  blank-separated list in the order in which they are written.
 *             D(t)      destination register of element type t
 *             S(t)      source: register, immediate or special register (mov: address of a symbol too)
 *             B(t)      register that is read and written
 *             P         destination predicate         Q  source predicate (S(pred) likewise), `!` and immediates allowed
 *             D(t)|P    destination with an optional predicate after `|`
 *             P|P       two predicates, the second optional
 *             DV(t,n) SV(t,n)  braces of n registers; n = number or $group
 *                              (group values v2 x4 3d and the n of m64n96k16 count as numbers; absent = 1,
 *                              and for 1 braces are optional); `$group*2`, `$group/4` scale it
 *             DV(t,n)|P        the same with a predicate after `|`, which must be written; `|P?` it may be left out
 *             DM(t)     destination with an optional byte or half-word suffix (%r1.h0), followed
 *                       in the signature by an immediate that holds it, see isa_selector
 *             SB(t)     source, likewise
 *             A         address  [reg], [reg+imm], [sym+imm], [imm]
 *             L         label    F  function name  G  list of labels or prototype
 *             T(n,t)    texture, surface or tensor address [handle, {n coordinates}], also
 *                       [handle, sampler, {...}]; T(1+n,t): a u32 index (layer or sample) and then n
 *                       coordinates of type t. Braces may hold ignored elements up to 2 or 4. T(0,t): [handle]
 *             I(t)      immediate only; I(t,lo,hi) with its least and greatest value
 *             X         not written in PTX: the mask of executing lanes, passed to the meaning
 *             M         not written in PTX: the launch's mma model, passed to the meaning
 *             CI CO     not written in PTX: the carry flag CC.CF, read or written
 *             K(sum)    not written in PTX: a number, passed to the meaning as an immediate; the sum has
 *                       numbers and at most one $group or $group*n, which counts as the number of the
 *                       choice from 1 (0 when it is absent): K(-1+$clamp), K(9+512)
 *             Z(t,n)    not written in PTX: n zeros, so that forms with fewer operands share a meaning
 *             t is a type name (pred b8 … f64 e4m3x2 …) or $group: the type that
 *             the group chose; `$group*2` doubles its width (mul.wide). `$group:b` is checked as
 *             the chosen type but passed to the meaning as bits, `$group:u` likewise
 *             when it is a signed integer: so selp.f32 and selp.s32 share selp_b32.
 *             `?` after an operand: it may be left out (optional operands end the list).
 *             `@group` after an operand: it is there exactly when the group is chosen.
 *   meaning   name of a C function of ptx/lib: `{g}` is "_choice" of group g or
 *             nothing when it is absent, `{g=x}` puts "_x" when it is absent, `{g:b}` is the
 *             untyped type of the same size; choices are written in lower case and `::` becomes `_`.
 *             "@name" is an operation that each target writes itself (memory, control,
 *             barriers). "" has no lowering.
 */
#ifndef PTX_ISA_H
#define PTX_ISA_H

#include <stdbool.h>
#include <stdint.h>
#include "ptx/types.h"

enum { ISA_MAX_GROUPS = 14, ISA_MAX_OPERANDS = 12, ISA_MAX_ELEMS = 40 };

/* What an operand of a form may be (the letters of the row syntax). */
typedef enum isa_operand_kind {
    ISA_OPERAND_NONE,
    ISA_OPERAND_DST,        /* D  */
    ISA_OPERAND_SRC,        /* S  */
    ISA_OPERAND_BOTH,       /* B  */
    ISA_OPERAND_DST_PRED,   /* P  */
    ISA_OPERAND_SRC_PRED,   /* Q  */
    ISA_OPERAND_DST_AND_PRED, /* D(t)|P */
    ISA_OPERAND_PRED_PAIR,  /* P|P */
    ISA_OPERAND_DST_VECTOR, /* DV */
    ISA_OPERAND_SRC_VECTOR, /* SV */
    ISA_OPERAND_ADDRESS,    /* A  */
    ISA_OPERAND_LABEL,      /* L  */
    ISA_OPERAND_FUNCTION,   /* F  */
    ISA_OPERAND_LIST,       /* G  */
    ISA_OPERAND_TEXTURE,    /* T  */
    ISA_OPERAND_IMMEDIATE,  /* I  */
    ISA_OPERAND_EXEC,       /* X  */
    ISA_OPERAND_MODEL,      /* M  */
    ISA_OPERAND_CARRY_IN,   /* CI */
    ISA_OPERAND_CARRY_OUT,  /* CO */
    ISA_OPERAND_DST_MASKED, /* DM */
    ISA_OPERAND_SRC_SELECTED, /* SB */
    ISA_OPERAND_CONSTANT,   /* K  */
    ISA_OPERAND_ZERO,       /* Z  */
} isa_operand_kind;

/* The immediate that follows a DM or SB operand in a signature. Scalar video
 * instructions: one of these. SIMD video instructions (vadd2, vadd4…): a mask has bit i
 * for lane i (.h10 = 3, .b3210 = 15); a selector has lane i's source in nibble i (.h32 = 0x32,
 * .b7654 = 0x7654). What is not written has the ISA's default: NONE; all lanes; .h10 or
 * .b3210 for the first source and .h32 or .b7654 for the second. */
typedef enum isa_selector {
    ISA_SELECTOR_NONE, ISA_SELECTOR_B0, ISA_SELECTOR_B1, ISA_SELECTOR_B2, ISA_SELECTOR_B3,
    ISA_SELECTOR_H0, ISA_SELECTOR_H1,
    ISA_SELECTOR_MINUS = 16            /* flag: the operand is written -a (vmad) */
} isa_selector;

typedef struct isa_group {
    const char *name;
    bool optional;
    uint8_t count;                 /* number of alternatives */
    const char *const *choices;    /* as written in PTX */
    const char *const *names;      /* as written in the names of meanings */
    const uint16_t *words;         /* numbers of the choices, see isa_word_id */
    const uint8_t *types;          /* ptx_type of each choice, PTX_TYPE_NONE when it is not a type */
    const uint16_t *numbers;       /* number in each choice (v4 = 4), 0 when there is none */
    uint32_t stride;               /* in isa_meaning_of's table, 0 when the meaning does not depend on it */
} isa_group;

/* How an element type is passed to a meaning. */
typedef enum isa_type_map { ISA_MAP_NONE, ISA_MAP_BITS, ISA_MAP_UNSIGNED } isa_type_map;

typedef struct isa_operand {
    isa_operand_kind kind;
    bool optional;
    ptx_type type;                 /* fixed type, or PTX_TYPE_NONE when taken from a group */
    int8_t type_group;             /* index of the group that chooses the type, -1 for none */
    uint8_t type_scale;            /* 1, or 2 for $g*2 */
    uint8_t count;                 /* vector length, 0 when taken from a group */
    int8_t count_group;            /* index of the group that chooses the length, -1 for none */
    uint8_t count_mul, count_div;  /* scale of a length taken from a group */
    int8_t when_group;             /* `@group`: index of the group that must be chosen, -1 for none */
    bool with_pred;                /* DV(t,n)|P */
    bool pred_optional;            /* DV(t,n)|P? */
    bool with_index;               /* T(1+n,t): the first of `count` coordinates is a u32 index */
    isa_type_map map;              /* how isa_signature changes the type */
    bool ranged;                   /* I(t,lo,hi) */
    int32_t low, high;             /* K: low is the sum of the numbers, count_group and count_mul the group's part */
} isa_operand;

typedef struct isa_form {
    const char *family;            /* file of ptx/lib, translator, conformance, tests */
    const char *mnemonic;
    const char *pattern;           /* as written in isa.def, for messages and docs */
    uint8_t ngroups, noperands;
    uint8_t nrequired;             /* groups that are not optional */
    const isa_group *groups;
    const isa_operand *operands;
    const char *meaning;           /* template of the row */
    uint32_t meaning_base;         /* see isa_meaning_of */
    uint64_t must, may;            /* sets of words (number modulo 64) that an opcode must and may have */
    uint16_t ptx_version;          /* 10*major + minor */
    uint16_t sm;                   /* least architecture number */
    const char *clause;            /* section title of the PTX ISA */
} isa_form;

/* The chosen alternative of every group: 0 = absent, else index + 1. */
typedef struct isa_tuple {
    uint8_t choice[ISA_MAX_GROUPS];
} isa_tuple;

extern const isa_form isa_forms[];
extern const uint32_t isa_form_count;

/* Forms of one mnemonic are adjacent: sets *first and returns their number, 0 if unknown. */
uint32_t isa_forms_of(const char *mnemonic, uint32_t length, uint32_t *first);

/* One dot-separated modifier of an opcode, without its dot; `shared::cta` is one token. */
typedef struct isa_token {
    const char *text;
    uint32_t length;
} isa_token;

/* Every mnemonic and every alternative of the table has a number from 1; 0 is an unknown word. */
uint16_t isa_word_id(const char *text, uint32_t length);

/* Fits modifiers into a form's groups: first in the order of the pattern; else
 * in any order, except that types and matrix layouts keep their order among themselves. */
bool isa_match(const isa_form *form, const isa_token *tokens, uint32_t ntokens, isa_tuple *out);

/* One reading of an opcode. */
typedef struct isa_candidate {
    const isa_form *form;
    isa_tuple tuple;
} isa_candidate;

enum { ISA_MAX_CANDIDATES = 16, ISA_MAX_TOKENS = 24 };

/* All readings of a whole opcode ("add.rn.f32"), in the order of isa.def: forms that fit in the order
 * of their pattern, or when there is none, those that fit in any order. Several readings have
 * different operand shapes (mov.b64 is a move, a pack and an unpack). Returns their number; 0 and
 * *known = false for an unknown mnemonic; 0 and *known = true when no form has these modifiers.
 * It costs about 100 ns to 1 µs: parsers remember the answer for each opcode they meet. */
uint32_t isa_match_opcode(const char *opcode, uint32_t length, isa_candidate out[ISA_MAX_CANDIDATES], bool *known);

/* The choice of group `name` in this tuple, NULL when absent or there is no such group. */
const char *isa_choice(const isa_form *form, const isa_tuple *tuple, const char *name);

/* Whether operand i is written under this tuple (or may be, when it is optional): false for X M CI CO K Z, and
 * for `@group` when the group is absent. */
bool isa_operand_written(const isa_form *form, const isa_tuple *tuple, uint32_t i);

/* Type and count of operand i under this tuple. */
ptx_type isa_operand_type(const isa_form *form, const isa_tuple *tuple, uint32_t i);
uint32_t isa_operand_count(const isa_form *form, const isa_tuple *tuple, uint32_t i);

/* The number of operand i, a K(sum). */
uint32_t isa_operand_constant(const isa_form *form, const isa_tuple *tuple, uint32_t i);

/* Writes the name of the meaning ("add_rn_f32", "@ld", "") into buffer; false if it did not fit. */
bool isa_meaning_name(const isa_form *form, const isa_tuple *tuple, char *buffer, uint32_t size);

/* One flattened element of a meaning's signature: vectors are expanded, optional
 * predicates are always present (a sink when not written). Both the CPU engine and
 * the translator call meanings by this list, in this order. */
typedef enum isa_role { ISA_ROLE_DST, ISA_ROLE_SRC, ISA_ROLE_EXEC, ISA_ROLE_MODEL, ISA_ROLE_IMM } isa_role;
typedef struct isa_elem {
    isa_role role;
    ptx_type type;
} isa_elem;

/* Fills out[] with the signature; returns the number of elements. */
uint32_t isa_signature(const isa_form *form, const isa_tuple *tuple, isa_elem out[ISA_MAX_ELEMS]);

/* Meanings are numbered 1..isa_meaning_count in the sorted order of their names; 0 is none. */
extern const char *const isa_meaning_names[];
extern const uint32_t isa_meaning_count;
uint32_t isa_meaning_id(const char *name);
/* The meaning of this tuple by table: 0 for "@…" and "". */
uint32_t isa_meaning_of(const isa_form *form, const isa_tuple *tuple);
/* "ld" for a form whose meaning is "@ld", else NULL. */
const char *isa_operation(const isa_form *form);

#endif
