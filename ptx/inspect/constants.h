/* constants.h - float literals: where they are made, what conversions make of them, where they are used. */
#ifndef PTX_INSPECT_CONSTANTS_H
#define PTX_INSPECT_CONSTANTS_H

#include "ptx/inspect/flow.h"

typedef struct pti_converted {
    ptx_type type;                     /* f16, bf16, f32, f64 */
    uint64_t bits;                     /* exact, or rounded to nearest even */
    uint32_t count;                    /* conversions */
} pti_converted;

enum { PTI_MAX_CONVERTED = 4 };

typedef struct pti_literal {
    ptx_type type;                     /* F16 BF16 F32 F64 */
    uint64_t bits;
    uint32_t ndefinitions;             /* mov of it into a register */
    uint32_t first_definition;         /* instruction; PTI_NONE: it stands in other instructions alone */
    uint32_t reg;                      /* of the first definition */
    uint32_t nuses;                    /* reads of those registers, and instructions that hold the literal themselves */
    uint32_t first_use, last_use;      /* instructions; PTI_NONE when there is none */
    uint32_t nconverted;
    pti_converted converted[PTI_MAX_CONVERTED];   /* by conversions of its registers; others than to nearest even are not among them */
} pti_literal;

typedef struct pti_constants {
    uint32_t count;
    pti_literal *list;                 /* in the order of their first appearance */
    ptx_arena arena;
} pti_constants;

/* False when memory is exhausted. Free it whatever the answer. */
bool pti_find_constants(const pti_flow *flow, pti_constants *out);
void pti_free_constants(pti_constants *c);

/* The value of f16, bf16, f32 or f64 bits, exact. */
double pti_float_value(ptx_type type, uint64_t bits);
/* The nearest f16, bf16, f32 or f64, ties to even, as bits. */
uint64_t pti_round_float(ptx_type type, double value);

#endif
