/* statements.h - the statements of a function as an analyst counts them, and their lines.
 *
 * Statements are numbered from 0 here and from 1 where they are printed (s1 is the first of a body): an instruction, a label, or
 * a whole { } block is one; directives are none. Lines are physical lines of the file, from 1.
 */
#ifndef PTX_INSPECT_STATEMENTS_H
#define PTX_INSPECT_STATEMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "ptx/module.h"

typedef struct pti_statement {
    ptx_statement_kind kind;
    uint32_t first_line, last_line;
    uint32_t first_insn, ninsns;   /* in function->insns; a label: its target and 0 */
} pti_statement;

typedef struct pti_statements {
    const ptx_module *module;
    const ptx_function *function;
    uint32_t count;
    pti_statement *list;
} pti_statements;

enum { PTI_NONE = UINT32_MAX };    /* no statement, no instruction */

/* False when memory is exhausted. */
bool pti_find_statements(const ptx_module *module, const ptx_function *f, pti_statements *out);
void pti_free_statements(pti_statements *s);

/* The statement that an instruction is part of, and the first one that covers a line (PTI_NONE: there is none). */
uint32_t pti_statement_of_insn(const pti_statements *s, uint32_t insn);
uint32_t pti_statement_of_line(const pti_statements *s, uint32_t line);

/* The statement's text with white space folded, blocks and labels included; as snprintf in length and result. */
size_t pti_statement_text(const pti_statements *s, uint32_t statement, char *buffer, size_t size);

#endif
