/* symbols.h - the integers that a thread computes, as formulas over what it is given.
 *
 * A POLY is a sum of a constant and of terms, factor * atom * atom…; an ATOM is something that is not a sum: a special register, a
 * parameter, the address of a variable, how often a loop has come round, or an operation (a remainder, a minimum, a comparison) on polys.
 * Both are kept once each, so that equal formulas have equal numbers.
 *
 * A poly stands for the value of a register modulo 2^width. Operations that look at the whole value (a widening, a comparison, a shift to
 * the right) need it in the range of their type. Where the ranges of the atoms prove that, nothing is added; where they do not and
 * the formula depends on the thread alone, the cut stands in the formula (PTI_ATOM_CUT); else, with parameters in it, the analysis
 * ASSUMES that index arithmetic does not wrap, as compilers may for signed indices, and says so with the access.
 */
#ifndef PTX_INSPECT_SYMBOLS_H
#define PTX_INSPECT_SYMBOLS_H

#include "ptx/inspect/flow.h"

typedef uint32_t pti_poly;             /* number of a poly */

enum { PTI_MAX_DEGREE = 3, PTI_MAX_TERMS = 24 };

typedef enum pti_atom_kind {
    PTI_ATOM_SPECIAL,                  /* number: ptx_special */
    PTI_ATOM_PARAM,                    /* number: byte offset in the parameter block; type; a parameter of an entry as loaded */
    PTI_ATOM_SYMBOL,                   /* variable: its address */
    PTI_ATOM_VALUE,                    /* number: a value of the flow that is not understood (loaded, converted from a float, a phi) */
    PTI_ATOM_TURN,                     /* number: block at the head of a loop; how often the loop has come round */
    PTI_ATOM_CUT,                      /* arg[0] in the range of `type` */
    PTI_ATOM_LOW_BITS,                 /* arg[0] modulo 2^number */
    PTI_ATOM_SHIFT,                    /* floor(arg[0] / 2^number) */
    PTI_ATOM_QUOTIENT,                 /* arg[0] / number, arg[0] >= 0 */
    PTI_ATOM_PRODUCT,                  /* arg[0] * arg[1], of a higher degree than polys hold */
    PTI_ATOM_MIN, PTI_ATOM_MAX,        /* in `type` */
    PTI_ATOM_SELECT,                   /* arg[0] ? arg[1] : arg[2] */
    PTI_ATOM_COMPARE,                  /* arg[0] and arg[1] in `type`; number: pti_comparison */
    PTI_ATOM_AND, PTI_ATOM_OR, PTI_ATOM_XOR,   /* of bits, in `type` (also pred) */
    PTI_ATOM_LITERAL,                  /* number: the lower 32 bits of a literal of a float type; arg[0]: the upper ones */
    PTI_ATOM_APPLY                     /* the meaning `number` (isa_meaning_names) on its arguments; only its text is known */
} pti_atom_kind;

typedef enum pti_comparison { PTI_EQ, PTI_NE, PTI_LT, PTI_LE, PTI_GT, PTI_GE } pti_comparison;

/* What a formula depends on. */
enum {
    PTI_ON_LANE = 1, PTI_ON_THREAD = 2, PTI_ON_BLOCK = 4, PTI_ON_PARAM = 8, PTI_ON_VALUE = 16, PTI_ON_TURN = 32, PTI_ON_SYMBOL = 64,
    PTI_ON_OTHER = 128                 /* %clock, %smid … */
};

typedef struct pti_atom {
    pti_atom_kind kind;
    ptx_type type;
    uint32_t number;
    pti_poly arg[3];                   /* PTI_NONE where there is none */
    const ptx_variable *variable;
    int64_t low, high;                 /* its range */
    uint64_t bits;                     /* that may be set; 0: as the range allows */
    uint32_t depends;
    uint32_t next;                     /* with the same hash */
} pti_atom;

typedef struct pti_term { int64_t factor; uint32_t natoms, atoms[PTI_MAX_DEGREE]; } pti_term;   /* atoms ascending */

typedef struct pti_sum {
    int64_t constant;
    uint32_t nterms;
    const pti_term *terms;
    int64_t low, high;                 /* its range; INT64_MIN and INT64_MAX where it has no bound */
    uint64_t bits;                     /* that may be set, where it was computed for each thread; else 0 */
    uint32_t depends;
    uint32_t next;
} pti_sum;

typedef struct pti_launch {
    uint32_t block[3];                 /* threads of a block; block[0] = 0: not known */
} pti_launch;

typedef struct pti_symbols {
    const pti_flow *flow;
    pti_launch launch;
    pti_atom *atoms; uint32_t natoms, room_atoms;
    pti_sum *sums; uint32_t nsums, room_sums;
    uint32_t *atom_hash, *sum_hash, hash_size;
    uint32_t nthreads;                 /* of a block; the 32 lanes of a warp where the block is not known; 0: too many */
    int64_t **values;                  /* of each atom, for each thread; NULL where it depends on more */
    int64_t *scratch;
    uint64_t work;
    pti_poly *of_value;                /* of each value of the flow; PTI_NONE for what is no integer formula */
    const int64_t *turn_most;          /* while they are made: of each block that is a loop's head, how often it comes round at most; -1: not known */
    uint8_t *live;                     /* blocks that branches on constants leave reachable */
    bool *assumed;                     /* for each value: it is right if no index wraps */
    bool failed, limited;              /* memory is exhausted; or there are too many formulas */
    ptx_arena arena;
} pti_symbols;

/* .reqntid is taken for the block where the launch gives none. Formulas are made twice where loops turn out to be bounded, since then fewer of them
 * may wrap. Free it whatever the answer. In loops.c. */
pti_status pti_find_symbols(const pti_flow *flow, const pti_launch *launch, pti_symbols *out);
void pti_free_symbols(pti_symbols *s);

/* The formula of a value as an instruction reads it. */
pti_poly pti_poly_of(pti_symbols *s, uint32_t insn, const ptx_value *v, bool *assumed);
/* The formula of an address operand, its offset added. */
pti_poly pti_poly_of_address(pti_symbols *s, uint32_t insn, const ptx_address *a, bool *assumed);

/* ------------------------------------------------------------ arithmetic (symbols.c) */

/* Terms sorted, without equal ones and zeros. */
pti_poly pti_sum_of(pti_symbols *s, int64_t constant, const pti_term *terms, uint32_t n);
pti_poly pti_constant(pti_symbols *s, int64_t c);
pti_poly pti_atom_poly(pti_symbols *s, pti_atom a);
pti_poly pti_add(pti_symbols *s, pti_poly a, pti_poly b);
pti_poly pti_scale(pti_symbols *s, pti_poly a, int64_t factor);
pti_poly pti_multiply(pti_symbols *s, pti_poly a, pti_poly b);
bool pti_is_constant(const pti_symbols *s, pti_poly a, int64_t *c);
/* The one atom that it is, PTI_NONE when it is anything else. */
uint32_t pti_single_atom(const pti_symbols *s, pti_poly a);
/* a without its constant. */
pti_poly pti_without_constant(pti_symbols *s, pti_poly a);

/* ------------------------------------------------------------ bits (symbols_bits.c) */

pti_poly pti_low_bits(pti_symbols *s, pti_poly a, uint32_t n);
pti_poly pti_shift_right(pti_symbols *s, pti_poly a, uint32_t n);
pti_poly pti_mask(pti_symbols *s, pti_poly a, uint64_t mask, ptx_type type);
pti_poly pti_and(pti_symbols *s, pti_poly a, pti_poly b, ptx_type type);
pti_poly pti_or(pti_symbols *s, pti_poly a, pti_poly b, ptx_type type);
pti_poly pti_xor(pti_symbols *s, pti_poly a, pti_poly b, ptx_type type);
pti_poly pti_divide(pti_symbols *s, pti_poly a, uint32_t divisor);
/* Bits that it may have set, in two's complement. */
uint64_t pti_bits_of(const pti_symbols *s, pti_poly a);
/* a in the range of an integer type of 8 to 64 bits; PTI_NONE when that cannot be told, for 64 bits. */
pti_poly pti_cut(pti_symbols *s, pti_poly a, ptx_type type, bool *assumed);
/* Does its range lie in that of the type? */
bool pti_fits(const pti_symbols *s, pti_poly a, ptx_type type);

/* ------------------------------------------------------------ threads (symbols_values.c, symbols_threads.c) */

enum { PTI_MAX_THREADS = 1024 };

/* The value of each of s->nthreads threads; false when it depends on more than the thread. Without a known block formulas with tid in
 * them are not known. */
bool pti_evaluate(const pti_symbols *s, pti_poly p, int64_t *out);

/* Which threads may come to which block of code. */
typedef struct pti_threads {
    pti_symbols *s;
    uint32_t count, words;             /* threads; 64-bit words of a set of them */
    uint64_t *reach;                   /* words for each block of the flow */
    ptx_arena arena;
} pti_threads;

/* PTI_LIMIT: the block has more than PTI_MAX_THREADS threads. Free it whatever the answer. */
pti_status pti_find_threads(pti_symbols *s, pti_threads *out);
void pti_free_threads(pti_threads *t);
/* The threads that may execute an instruction, its guard considered. */
void pti_threads_at(const pti_threads *t, uint32_t insn, uint64_t *set);
/* Warp of a thread. */
static inline uint32_t pti_warp_of(uint32_t thread) { return thread / 32; }

/* ------------------------------------------------------------ text (symbols_text.c) */

/* How formulas name what they are made of: values by their statements, and long parts that stand in several formulas by
 * a letter and a number ("a3"), if `parts` is not NULL. */
typedef struct pti_names {
    const pti_statements *statements;
    uint32_t *parts;                   /* for each atom 0, or its number */
    uint32_t nparts, natoms;
} pti_names;

/* Chooses the parts of these formulas to name; false when memory is exhausted. Atoms made later have no names. */
bool pti_name_parts(const pti_symbols *s, const pti_poly *formulas, size_t n, pti_names *names);
void pti_free_names(pti_names *names);
/* The atom that part `number`, from 1, stands for; parts are made of those with smaller numbers. */
uint32_t pti_named_part(const pti_names *names, uint32_t number);

/* "param_0+40", "param_3": a place in the parameter block; as snprintf. */
size_t pti_param_name(const ptx_function *f, uint64_t offset, char *buffer, size_t size);
/* "12288*tid.z + 16*laneid + 512"; deep formulas are cut with "…". As snprintf. */
size_t pti_poly_text(const pti_symbols *s, const pti_names *names, pti_poly p, char *buffer, size_t size);
/* The atom itself, also where it is a named part. */
size_t pti_atom_text(const pti_symbols *s, const pti_names *names, uint32_t atom, char *buffer, size_t size);

#endif
