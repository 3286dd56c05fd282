/* isa_gen.h - between the parts of isa_gen (a build tool). */
#ifndef PTX_ISA_GEN_H
#define PTX_ISA_GEN_H

#include <stdio.h>
#include "ptx/isa.h"

/* One row of isa.def as written. */
typedef struct isa_row {
    const char *file;
    int line;
    const char *family, *pattern, *operands, *meaning;
    int ptx_version, sm;
    const char *clause;
} isa_row;

/* Reads a row into a form whose parts are allocated and never freed; prints "isa.def:line: …" and exits on a fault. */
isa_form isa_read_row(const isa_row *row);

/* Prints "isa.def:line: message" and exits. */
_Noreturn void isa_row_fault(const isa_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef struct gen_meaning {
    const char *name, *family;
    const isa_row *row;
    uint32_t nelems;
    isa_elem elems[ISA_MAX_ELEMS];
} gen_meaning;

void *gen_allocate(size_t n, size_t size);
FILE *gen_open(const char *directory, const char *name);
void gen_close(FILE *f, const char *name);
const char *gen_family(uint32_t i);
uint32_t gen_family_count(void);

/* Lane type of ptx/lib/lane.h for an element type: "L_f32". */
const char *gen_lane_type(ptx_type type);

/* Writes isa_meanings.inc, isa_handlers.inc and the wrappers of every family. */
void gen_emit_meanings(const char *directory, const gen_meaning *meanings, uint32_t count);

#endif
