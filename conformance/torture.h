/* torture.h - random PTX programs, run on devices and by a scalar interpreter; all must agree bit for bit.
 *
 * A program is a list of items (instructions, branches, loops, exchanges through shared memory, collectives,
 * reductions in global memory) that its seed makes; the text follows from the list, so that a failing program can be
 * reduced by leaving items out.
 */
#ifndef CONFORM_TORTURE_H
#define CONFORM_TORTURE_H

#include "conformance/conform.h"
#include "ptx/module.h"

enum { TORTURE_BLOCK = 64, TORTURE_BLOCKS = 2, TORTURE_THREADS = TORTURE_BLOCK * TORTURE_BLOCKS, TORTURE_CELLS = 16 };
/* Registers of each width, predicates; all are inputs and results of a thread, 8 bytes each. */
enum { TORTURE_PREDS = 6, TORTURE_HALVES = 6, TORTURE_WORDS = 10, TORTURE_WIDES = 6,
       TORTURE_SLOTS = TORTURE_PREDS + TORTURE_HALVES + TORTURE_WORDS + TORTURE_WIDES };

typedef enum torture_kind {
    TORTURE_OP, TORTURE_COLLECTIVE, TORTURE_IF, TORTURE_ELSE, TORTURE_END_IF, TORTURE_LOOP, TORTURE_BREAK, TORTURE_END_LOOP,
    TORTURE_EXCHANGE, TORTURE_REDUCE, TORTURE_STACK, TORTURE_RETURN
} torture_kind;

typedef struct torture_item {
    torture_kind kind;
    const conform_case *c;               /* OP, COLLECTIVE */
    uint8_t registers[ISA_MAX_ELEMS];    /* of its elements; the others use the first ones */
    uint32_t number;                     /* label, or how an exchange and reduction address */
    uint32_t partner;                    /* index of the item that ends a branch or loop */
    bool left_out;
} torture_item;

typedef struct torture_program {
    torture_item *items;
    uint32_t count, room, labels;
    uint64_t seed;
} torture_program;

/* `list` holds the instructions to choose from: conform_expand's. False: no memory. */
bool torture_generate(const conform_list *list, uint64_t seed, torture_program *out);
void torture_free(torture_program *p);
/* PTX of the items that are not left out: entry "torture", parameters sources, results, cells. NULL: no memory. */
char *torture_text(const torture_program *p);

/* What a run reads and gives: sources and results [slot][thread], cells of 32 bits that all threads reduce into. */
typedef struct torture_data {
    uint64_t sources[TORTURE_SLOTS * TORTURE_THREADS], results[TORTURE_SLOTS * TORTURE_THREADS];
    uint32_t cells[TORTURE_CELLS];
} torture_data;
void torture_fill(uint64_t seed, torture_data *data);

/* Runs the text by interpreting the parsed module, a thread at a time between barriers and collectives. False:
 * `why` says what it does not know. */
bool torture_interpret(const ptx_module *module, const conform_list *list, torture_data *data, char *why, size_t size);

typedef struct torture_options {
    const char *const *devices;          /* what is compared with the interpreter: "cpu", "cpu:check" (exact bounds), "cpu:lowest" (instruction-set level), "sim:gfx1100", … */
    uint32_t ndevices;
    uint64_t seed;                       /* of the first program; the next ones count up */
    uint32_t programs;
    void (*progress)(void *user, const char *name, uint32_t done, uint32_t of);
    void *progress_user;
} torture_options;

typedef struct torture_report {
    uint32_t programs;
    uint64_t instructions;               /* of all programs, as written */
    bool failed;
    uint64_t seed;                       /* of the program that failed */
    char device[64], message[500];
    char *text;                          /* the failing program, reduced; freed with free() */
} torture_report;

/* Stops at the first program on which a device and the interpreter differ, and reduces it. */
pxb_status torture_run(pxb_context *ctx, const torture_options *options, torture_report *out);

#endif
