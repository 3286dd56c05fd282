/* conform.h - conformance: every lowered instruction as a small kernel, its inputs, its reference, and what came out.
 *
 * A case is one meaning of the instruction table reached through one form, with its modifiers, types and
 * immediates. Cases are made from the table alone (expand.c), so that an instruction cannot be forgotten:
 * what is lowered and has no case is listed by conform_uncovered. Kernels are PTX text (kernel_text.c) that
 * any device runs through the public API; expected results come from conformance/reference.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "include/ptxbridge.h"
#include "ptx/isa.h"
#include "conformance/reference/reference.h"

enum { CONFORM_NAME = 160, CONFORM_LANES = 32 };

/* How a case is run and judged. */
typedef enum conform_kind {
    CONFORM_LANE,            /* one lane at a time: ref_eval or ref_special_eval */
    CONFORM_WARP,            /* a warp at a time: ref_warp_eval */
    CONFORM_MMA,             /* a warp and an mma model: ref_mma */
    CONFORM_WMMA,            /* matrices in memory: ref_wmma (wmma.c) */
    CONFORM_TEXTURE,         /* images: ref_texture (texture.c) */
    CONFORM_MEMORY,          /* loads, stores, atomics (memory.c) */
    CONFORM_SNIPPET,         /* operations that a few instructions show (snippets.c) */
    CONFORM_KINDS
} conform_kind;

typedef struct conform_case {
    char name[CONFORM_NAME];             /* opcode, and immediates where it has some: "lop3.b32 0x96" */
    char meaning[CONFORM_NAME];
    const isa_form *form;
    isa_tuple tuple;
    conform_kind kind;
    uint32_t nelems;
    isa_elem elems[ISA_MAX_ELEMS];       /* the signature; immediates have their value in imm */
    uint32_t imm[ISA_MAX_ELEMS];
    uint32_t variant;                    /* CONFORM_MEMORY: where a generic address lies; CONFORM_SNIPPET: which */
} conform_case;

typedef struct conform_list {
    conform_case *cases;
    uint32_t count, room;
} conform_list;

/* Every case that `filter` selects (NULL: all): a list of beginnings of names, separated by '|', in which '*' is any text; with any other character
 * of an extended regular expression that is what it is, and a name must hold a match. False: the expression is wrong, or no memory; `why` says so. */
bool conform_expand(const char *filter, conform_list *out, char *why, size_t size);
void conform_free(conform_list *list);

/* Lowered instructions that have no case: name of form and reason, one a call. Returns their number. */
uint32_t conform_uncovered(void (*visit)(void *user, const char *pattern, const char *why), void *user);

/* Elements of the signature that operand `i` has. */
uint32_t conform_operand_elements(const isa_form *form, const isa_tuple *tuple, uint32_t i);

/* ------------------------------------------------------------ expected results (expect.c) */

/* 1 when ref_special_eval has the meaning, 2 when it has it for each half of a packed one, else 0. */
int conform_special_halves(const conform_case *c);
/* One lane: `values` holds sources and immediates by element; results are filled in. */
void conform_expect_lane(const conform_case *c, uint64_t values[ISA_MAX_ELEMS]);
/* A warp of which the lanes in `executing` execute the instruction: values[element][lane]. Lanes whose results the ISA leaves
 * undefined get their bit in *undefined. */
void conform_expect_warp(const conform_case *c, uint64_t values[ISA_MAX_ELEMS][CONFORM_LANES], uint32_t executing,
                         pxb_mma_model model, uint32_t *undefined);

/* ------------------------------------------------------------ PTX */

/* Module text with one entry for each case, "conform_0" and so on; parameters are the address of the sources, of the
 * results and the number of threads, a multiple of the warp. Source k of thread i lies in 8 bytes at sources + (k * threads + i) * 8,
 * results likewise. A kernel with a mask (CONFORM_WARP, CONFORM_TEXTURE) has one source more, the lanes of the warp that execute the
 * instruction; the others give zeros. Freed with free(); NULL: no memory. */
char *conform_module(const conform_case *const *cases, uint32_t count);
bool conform_has_mask(const conform_case *c);
/* Cases of one era make a module: CURRENT; of a PTX version after 9.0, which toolkits in use do not know yet; what sm_70 and later no
 * longer have; what PTX ISA 6.5 and later no longer have. */
typedef enum conform_era { CONFORM_CURRENT, CONFORM_NEWEST, CONFORM_DEPRECATED, CONFORM_WITHDRAWN } conform_era;
conform_era conform_era_of(const conform_case *c);

/* ------------------------------------------------------------ inputs (inputs.c) */

/* How a value of a type is made of numbers: `count` of `bits` bits every `step` bits; format when they are floats. */
typedef struct conform_shape {
    int bits, step, count;
    bool is_signed;
    const ref_format *format;
} conform_shape;

conform_shape conform_shape_of(ptx_type type);

typedef struct conform_random { uint64_t state; } conform_random;
uint64_t conform_next(conform_random *r);
uint32_t conform_below(conform_random *r, uint32_t limit);

enum { CONFORM_MAX_SPECIALS = 40 };
/* Zeros, ones, borders, infinities and NaNs of a number's format. Returns how many. */
uint32_t conform_specials(const conform_shape *s, uint64_t out[CONFORM_MAX_SPECIALS]);
/* A register with numbers of every sort: special ones, any bits, moderate sizes, few significant bits. */
uint64_t conform_value(const conform_shape *s, conform_random *r);

/* The inputs of one case, in the order: all values where they are few, special values against each other, random ones. */
typedef struct conform_inputs {
    const conform_case *c;
    uint32_t sources[ISA_MAX_ELEMS], nsources;   /* indices of the elements that vary */
    conform_shape shape[ISA_MAX_ELEMS];
    uint64_t exhaustive, crossed, random;        /* how many of each */
    uint64_t crossed_limit;                      /* of special values against each other; more are spread over the whole product */
    bool by_parts;                               /* all values of each number of one packed operand, not of the whole */
    bool dense;                                  /* at most two sources, all of whose bits count */
    uint64_t first_mask;                         /* of the first one then */
    uint64_t at;
    conform_random r;
} conform_inputs;

/* `random`: number of random inputs; `all`: sweep operands of up to 32 bits together completely, and take more of the others. */
void conform_inputs_start(conform_inputs *in, const conform_case *c, uint64_t random, bool all, uint64_t seed);
uint64_t conform_inputs_total(const conform_inputs *in);
/* Fills sources[k * n + i] for the next `n` threads; repeats the last inputs to fill n. Returns how many are new. */
uint32_t conform_inputs_next(conform_inputs *in, uint64_t *sources, uint32_t n);
/* Input `index` < exhaustive, source k to sources[k * n]; for several threads at once. */
void conform_inputs_at(const conform_inputs *in, uint64_t index, uint64_t *sources, uint32_t n);

/* ------------------------------------------------------------ running (run.c) */

typedef struct conform_options {
    const char *device;                  /* NULL: cpu */
    uint64_t random;                     /* random inputs of a case; 0: 4096 */
    bool exhaustive;
    uint64_t seed;
    const pxb_mma_model *models;         /* NULL: all */
    uint32_t nmodels;
    uint32_t shard, shards;              /* this one of so many; 0 0: everything */
    uint32_t jobs;                       /* threads; 0: as many as there are processors */
    const char *state;                   /* file of finished cases, to resume from; NULL: none */
    void (*progress)(void *user, const char *name, uint32_t done, uint32_t of);
    void *progress_user;
    /* Called once with the open device; NULL: nothing to do. */
    pxb_status (*prepare)(void *user, pxb_device *device);
    void *prepare_user;
    /* Changes the PTX of cases (allocated with malloc) before it is loaded; NULL: it stays. False: it cannot. */
    bool (*rewrite)(void *user, char **text);
    void *rewrite_user;
} conform_options;

typedef enum conform_verdict { CONFORM_PASSED, CONFORM_FAILED, CONFORM_BROKEN } conform_verdict;

typedef struct conform_result {
    const conform_case *c;
    conform_verdict verdict;             /* BROKEN: it could not be run; `message` says why */
    uint64_t inputs, differing;
    bool swept;                          /* every value of its operands was tried */
    uint64_t digest;                     /* of all results in order, when swept */
    double largest_ulp;                  /* of approximate functions */
    uint64_t largest_at;                 /* input where it was seen */
    char message[400];                   /* the first difference, or the error */
    double ms;
} conform_result;

/* One result for each case of the list (of the shard), in its order; PXB_OK also when cases failed. results has list->count places;
 * *nresults says how many were filled. */
pxb_status conform_run(pxb_context *ctx, const conform_list *list, const conform_options *options, conform_result *results,
                       uint32_t *nresults);

#endif
