/* opcodes.h - the instructions of a function by opcode, and what kind of work an opcode is. */
#ifndef PTX_INSPECT_OPCODES_H
#define PTX_INSPECT_OPCODES_H

#include "ptx/arena.h"
#include "ptx/inspect/statements.h"

typedef enum pti_work {
    PTI_WORK_OTHER,
    PTI_WORK_MMA,
    PTI_WORK_PACK,                 /* conversions to fp8, fp6, fp4: requantisation */
    PTI_WORK_UNPACK,               /* and back */
    PTI_WORK_CONVERT,
    PTI_WORK_LOAD,                 /* also ldmatrix and wmma.load */
    PTI_WORK_STORE,
    PTI_WORK_ATOMIC,
    PTI_WORK_ASYNC,                /* copies that run beside the thread */
    PTI_WORK_SHUFFLE,              /* also votes, matches, redux */
    PTI_WORK_TRANSPOSE,            /* movmatrix */
    PTI_WORK_BARRIER,              /* also fences */
    PTI_WORK_APPROXIMATE,          /* ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh, approximate division */
    PTI_WORK_TEXTURE,
    PTI_WORK_SURFACE,
    PTI_WORK_FLOAT,                /* arithmetic in f16 to f64 */
    PTI_WORK_INTEGER,
    PTI_WORK_COMPARE,
    PTI_WORK_MOVE,
    PTI_WORK_CONTROL,
    PTI_WORKS
} pti_work;

/* "pack", "load". */
const char *pti_work_name(pti_work work);

typedef struct pti_opcode {
    const char *text;              /* as written: "ld.global.v4.u32" */
    pti_work work;
    ptx_space space;               /* LOAD STORE ATOMIC; PTX_SPACE_GENERIC where none is written */
    uint32_t bytes;                /* LOAD STORE: of one thread */
    uint32_t count;
} pti_opcode;

typedef struct pti_opcodes {
    uint32_t count;
    pti_opcode *list;              /* in the order of their first use */
    uint32_t *of_insn;
    ptx_arena arena;
} pti_opcodes;

/* False when memory is exhausted. Free it whatever the answer. */
bool pti_find_opcodes(const ptx_module *m, const ptx_function *f, pti_opcodes *out);
void pti_free_opcodes(pti_opcodes *o);

#endif
