/* guess_internal.h - shared by guess*.c. */
#ifndef PTX_INSPECT_GUESS_INTERNAL_H
#define PTX_INSPECT_GUESS_INTERNAL_H

#include "ptx/inspect/guess.h"

enum { MAX_GUESSES = 24, MAX_EVIDENCE = 1200 };

typedef struct guesser {
    const pti_statements *s;
    const pti_flow *flow;
    const pti_phases *phases;
    const pti_opcodes *opcodes;
    const pti_sources *sources;
    pti_epilogues *epilogues;
    uint32_t *goes_to;             /* of a pack: the first phase and role that its result goes into, phase * PTI_ROLES + role + 1 */
    uint8_t *stored;               /* of a pack: 1 << space of a store of its result */
    uint32_t *inverse_of;          /* of an instruction that inverts a softmax's sum: the epilogue that sums up, + 1 */
    uint8_t *mark, *other;         /* of instructions, for one rule at a time */
    uint32_t *marked, rule;        /* phis that have a mark in this rule */
    uint32_t *visited, pass;       /* phis that were looked at in this pass over the epilogue */
    uint32_t *visited_insn;        /* likewise, instructions */
    uint32_t *stack, depth;        /* values still to be looked at */
    uint32_t *list;                /* instructions, of one search */
    uint64_t budget;               /* values that searches may still look at */
    pti_search search;
    bool failed;                   /* memory is exhausted */
    /* the epilogue that is looked at */
    pti_epilogue *e;
    uint32_t index, first, end;    /* instructions [first, end) */
    pti_guess found[MAX_GUESSES];
} guesser;

void add_guess(guesser *g, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *opcode_text(const guesser *g, uint32_t insn);
pti_work work_of_insn(const guesser *g, uint32_t insn);
bool is_mnemonic(const guesser *g, uint32_t insn, const char *mnemonic);
/* Value of source operand `i` (0 is the first source) of an arithmetic instruction, PTI_NONE for a constant. */
uint32_t source_value(const guesser *g, uint32_t insn, uint32_t i);
bool source_constant(const guesser *g, uint32_t insn, uint32_t i, uint64_t *bits);
/* Appends to a text of `size` bytes. */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Marks what is computed in this epilogue from instructions that are marked 1: they become 2, the seeds 3. */
void spread(guesser *g);
void clear_marks(guesser *g);
bool is_marked(const guesser *g, uint32_t value);

/* guess_numeric.c */
/* The instruction that computes a value, conversions, moves and unpacking apart; PTI_NONE for a phi and the like. */
uint32_t computed_by(const guesser *g, uint32_t value);
/* The value behind conversions, moves and unpacking. */
uint32_t leaf_of(const guesser *g, uint32_t value);
void guess_softmax(guesser *g);
void guess_division(guesser *g);
void guess_activation(guesser *g);

/* guess_norm.c */
void guess_norm(guesser *g);

#endif
