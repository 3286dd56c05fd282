/* snippets.h - cases of the operations that a single instruction does not show: short pieces of PTX, each with what it should give. */
#ifndef CONFORM_SNIPPETS_H
#define CONFORM_SNIPPETS_H

#include "conformance/runner.h"
#include "conformance/text.h"

/* Snippet `index` as a case; false after the last one. */
bool conform_snippet(uint32_t index, conform_case *out);
/* Who else tests an operation ("@trap") that no snippet has; NULL: nobody. */
const char *conform_tested_elsewhere(const char *operation);

void conform_add_snippet(conform_text *t, const conform_case *c);
/* What snippets call, before the entries. */
void conform_add_snippet_functions(conform_text *t);
enum { CONFORM_SNIPPET_SHARED = 64 * CONFORM_BLOCK };
pxb_status conform_run_snippet(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out);

#endif
