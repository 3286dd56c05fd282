/* inspect_memory.h - what an analysed function does to memory, parameters, textures, constants and registers; for its printers. */
#ifndef CLI_INSPECT_MEMORY_H
#define CLI_INSPECT_MEMORY_H

#include "cli/inspect_analysis.h"
#include "ptx/inspect/constants.h"
#include "ptx/inspect/lives.h"
#include "ptx/inspect/params.h"
#include "ptx/inspect/shared.h"

typedef struct memory_analysis {
    pti_symbols symbols;
    pti_threads threads;
    bool has_threads;              /* the block has at most 1024 */
    pti_loops loops;
    pti_addresses addresses;
    pti_params params;
    pti_constants constants;
    pti_lives lives;
    pti_shared shared;
    pti_names names;               /* with named parts, for tables of formulas */
    pti_names plain;               /* without */
} memory_analysis;

enum { CELL = 1024, FORMULA = 1200 };

void append_text(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "s12", of an instruction; with its line "s12 (L34)". */
const char *insn_place(const inspection *x, uint32_t insn, char buffer[32]);
const char *insn_place_line(const inspection *x, uint32_t insn, char buffer[48]);
/* "s12–s40" of two instructions. */
const char *span_text(const inspection *x, uint32_t first, uint32_t last, char buffer[64]);
/* "E7", or "P8" for an instruction that is one of its mma. */
const char *part_text(const inspection *x, uint32_t insn, char buffer[24]);
const char *opcode_of_insn(const inspection *x, uint32_t insn);

/* "param_0+40", "smem": a base by name. */
const char *name_of_base(const inspection *x, uint32_t base, char *buffer, size_t size);
/* "pointer, 341 reads; bound" */
const char *param_uses_text(const inspection *x, const pti_param *p, char *buffer, size_t size);
/* "param_0+88": the handle of a texture instruction. */
const char *handle_text(const inspection *x, const pti_texture *t, char *buffer, size_t size);
/* "param, block": what a formula depends on beside the thread. */
const char *depends_text(uint32_t depends, char *buffer, size_t size);

void report_params(report *r, const inspection *x);
void report_addresses(report *r, const inspection *x);
void report_loops(report *r, const inspection *x);
void report_textures(report *r, const inspection *x);
void report_constants(report *r, const inspection *x);
void report_lives(report *r, const inspection *x);
void report_shared(report *r, const inspection *x);

json_t *json_of_param(const inspection *x, const pti_param *p);
json_t *json_of_loops(const inspection *x);
json_t *json_of_insn(const inspection *x, uint32_t insn);    /* {"statement", "line", "text"} */

#endif
