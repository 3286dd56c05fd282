/* symbols_internal.h - used by symbols*.c and turns.c. */
#ifndef PTX_INSPECT_SYMBOLS_INTERNAL_H
#define PTX_INSPECT_SYMBOLS_INTERNAL_H

#include "ptx/inspect/symbols.h"

/* Values of a new atom for each thread, and its exact range; range of a new sum likewise. */
void pti_compute_atom(pti_symbols *s, uint32_t atom);
void pti_compute_sum(pti_symbols *s, pti_sum *sum);

/* pti_find_symbols, once. */
pti_status pti_make_symbols(const pti_flow *flow, const pti_launch *launch, const int64_t *turn_most, pti_symbols *out);

/* Is an atom of this kind made of its arguments alone, and what it is of them. */
bool pti_is_operation(pti_atom_kind kind);
int64_t pti_operate(const pti_atom *a, int64_t x, int64_t y, int64_t z);

#endif
