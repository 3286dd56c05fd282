/* inspect_phases.h - phases and epilogues of an analysed function, for people and for programs. */
#ifndef CLI_INSPECT_PHASES_H
#define CLI_INSPECT_PHASES_H

#include "cli/inspect_analysis.h"

/* Loads of one opcode whose addresses differ in a constant alone. */
typedef struct load_group {
    uint32_t opcode, count;
    uint32_t first_insn, last_insn;
    uint32_t pattern;              /* PTI_NONE: the address is not of the kind that addresses.h knows */
    int64_t least, most;           /* constants of the offset */
    uint32_t bytes;                /* of one */
} load_group;

/* The loads among the roots, grouped, at most `room` groups; returns how many there are. */
uint32_t group_loads(const inspection *x, const pti_sources *s, load_group *groups, uint32_t room);
enum { ADDRESS_TEXT = 400 };
/* Of "param_0+40 + 12288*tid.z + 16*laneid" the base, the index, and the whole; "" when it is not known. */
const char *base_text(const inspection *x, const load_group *g, char *buffer, size_t size);
const char *index_text(const inspection *x, const load_group *g, char *buffer, size_t size);
const char *pattern_text(const inspection *x, const load_group *g, char *buffer, size_t size);
/* "0…11788": the first and the last word of a group; a word is 4 bytes, or less where less is loaded. */
const char *words_text(const load_group *g, char *buffer, size_t size);

/* What an operand is made of, in a line: "P13's D and 12 ld.global.v2.u16 […] through 48 add.f16". */
const char *source_text(const inspection *x, const pti_sources *s, char *buffer, size_t size);
/* What was stored where an operand is loaded from shared memory: "stored at s8019–s8058 by 4 st.shared.v4.u32: P9's D through …". */
const char *stored_text(const inspection *x, const pti_stored *s, char *buffer, size_t size);
/* The same as source_text for a table: "P6's D, packed". */
const char *short_source_text(const inspection *x, const pti_sources *s, char *buffer, size_t size);
/* Only where an operand is loaded from, for tables: "param_0+40 + 16*laneid: 50112…50636". */
const char *range_of_source(const inspection *x, uint32_t p, int role, char *buffer, size_t size);

/* Loads, stores and atomics of an epilogue by space and bytes of one thread (0: not known); at most `room` kinds. */
typedef struct memory_count { pti_work work; ptx_space space; uint32_t bytes, count; } memory_count;
uint32_t count_memory(const inspection *x, const pti_epilogue *q, memory_count *counts, uint32_t room);

/* "RMS norm; requantise → P14's A" */
const char *epilogue_name(const inspection *x, uint32_t e, char *buffer, size_t size);
const char *phase_opcode(const inspection *x, uint32_t p);

void report_phases(report *r, const inspection *x);                 /* the phase table and the products over several phases */
void report_epilogues(report *r, const inspection *x);              /* the table, and what speaks for each name */
void report_phase(report *r, const inspection *x, uint32_t p);      /* one phase and its epilogue in full */
json_t *json_of_phases(const inspection *x);                        /* {"phases", "groups", "joins", "epilogues"} */
json_t *json_of_phase(const inspection *x, uint32_t p);
json_t *json_of_epilogue(const inspection *x, uint32_t e);

/* inspect_html.c: a page of all that is known of some functions. */
void write_inspection_page(FILE *f, const inspection *list, uint32_t n);

#endif
