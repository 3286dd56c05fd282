/* inspect_analysis.h - what the analyses of `ptxbridge inspect` share: the analysed function, and a writer for reports. */
#ifndef CLI_INSPECT_ANALYSIS_H
#define CLI_INSPECT_ANALYSIS_H

#include "cli/cli.h"
#include "ptx/inspect/addresses.h"
#include "ptx/inspect/epilogues.h"
#include "ptx/inspect/flow.h"
#include "ptx/inspect/phases.h"
#include "ptx/inspect/statements.h"
#include "ptx/inspect/stored.h"

/* ------------------------------------------------------------ the writer */

typedef enum report_style { REPORT_TEXT, REPORT_MARKDOWN, REPORT_HTML } report_style;

/* Headings, paragraphs and tables in one of three styles. Texts are given plain; the writer escapes. */
typedef struct report {
    FILE *f;
    report_style style;
    table table;                   /* TEXT: the rows so far */
    uint32_t ncols;
    const char *align;
    bool in_list;
} report;

void report_heading(report *r, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void report_paragraph(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_item(report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));   /* of a list */
/* Statements of code, one a line. */
void report_code(report *r, const char *const *lines, uint32_t nlines);

/* A table: heads, rows, end. A '>' at a column's place in `align` means numbers. `align` must live until the end. */
void report_table(report *r, const char *align, const char *const *heads, uint32_t ncols);
void report_row(report *r, const char *const *cells);
void report_table_end(report *r);
/* Closes what is open at the end of a report. */
void report_end(report *r);

/* "s12–s34", "s12": statements as they are printed, from 1. `last` is the last one. */
const char *range_text(uint32_t first, uint32_t last, char buffer[32]);

/* ------------------------------------------------------------ one function */

typedef struct inspection {
    const ptx_module *module;
    const ptx_function *function;
    pti_statements statements;
    pti_flow flow;
    pti_phases phases;
    pti_opcodes opcodes;
    pti_epilogues epilogues;
    pti_sources *sources;              /* PTI_ROLES for each phase: what A, B and C are made of */
    pti_stored *stored;                /* likewise: what was stored to shared memory where they are loaded from there */
    ptx_arena arena;
    pti_launch launch;                 /* --block X,Y,Z */
    bool no_branches;                  /* --no-branches: slices follow values only */
    struct memory_analysis *memory;    /* inspect_memory.c: addresses, parameters, textures, constants, registers, shared memory */
    pti_symbols *symbols;              /* of it, and */
    const pti_addresses *addresses;
} inspection;

/* inspect_memory.c. analyse_memory fills x->memory, x->symbols and x->addresses from the rest; PTI_MEMORY when memory is exhausted. */
pti_status analyse_memory(inspection *x);
void free_memory_analysis(inspection *x);
void report_memory(report *r, const inspection *x);                  /* all its sections, at heading level 3 */
json_t *json_of_memory(const inspection *x);                         /* an object with a key for each section */
/* --param NAME+OFF and --slice REG@LINE: EXIT_DONE, or EXIT_USAGE after a message on stderr. *json is set when it is not NULL, and
 * nothing is reported then. */
int report_param(report *r, const inspection *x, const char *spec, json_t **json);
int report_slice(report *r, const inspection *x, const char *spec, json_t **json);

/* Free it whatever the answer. */
pti_status analyse(const ptx_module *m, const ptx_function *f, const pti_launch *launch, inspection *out);
void free_analysis(inspection *x);

#endif
