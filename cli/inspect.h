/* inspect.h - what `ptxbridge inspect` finds in a module, for its two printers. */
#ifndef CLI_INSPECT_H
#define CLI_INSPECT_H

#include "cli/cli.h"
#include "runtime/module.h"

/* One kind of instruction: an opcode with its modifiers. */
typedef struct opcode_count {
    char *text;                /* "add.s32" */
    uint32_t count;
    bool lowered;              /* has a meaning or is an operation of the targets */
    const ptx_insn *first;
} opcode_count;

typedef struct histogram {
    uint64_t instructions, not_lowered;
    uint32_t nopcodes;
    opcode_count *opcodes;     /* most frequent first */
} histogram;

/* False when memory is exhausted. */
bool make_histogram(const ptx_module *m, histogram *out);
void free_histogram(histogram *h);

/* Is there a lowering? Statements that could not be understood have none. */
bool is_lowered(const ptx_insn *insn);

void print_inspection(pxb_module *module, const histogram *h);
json_t *json_of_inspection(pxb_module *module, const histogram *h);

#endif
