/* memory.h - cases of loads, stores and atomics, which each target writes itself. */
#ifndef CONFORM_MEMORY_H
#define CONFORM_MEMORY_H

#include "conformance/runner.h"
#include "conformance/text.h"

/* Whether the instruction has cases of this kind: ld, ldu, st, atom and red of the spaces and sizes that a single instruction can show. */
bool conform_is_memory(const isa_form *form, const isa_tuple *tuple);
/* In how many spaces its address may lie (three for a generic one), and the name of the variant, " to shared", which completes the case's. */
uint32_t conform_memory_variants(const conform_case *c);
const char *conform_memory_variant_name(const conform_case *c);

/* The body of the kernel, behind the registers of the elements. */
void conform_add_memory(conform_text *t, const conform_case *c);
uint32_t conform_memory_shared(const conform_case *c);
/* Bytes of the module's constant array that the kernel reads. */
uint32_t conform_memory_const(const conform_case *c);
pxb_status conform_run_memory(conform_runner *r, pxb_module *module, pxb_kernel *kernel, const conform_case *c, conform_result *out);

#endif
