/* symbols_internal.h - used by symbols.c and symbols_values.c. */
#ifndef PTX_INSPECT_SYMBOLS_INTERNAL_H
#define PTX_INSPECT_SYMBOLS_INTERNAL_H

#include "ptx/inspect/symbols.h"

/* Values of a new atom for each thread, and its exact range; range of a new sum likewise. */
void pti_compute_atom(pti_symbols *s, uint32_t atom);
void pti_compute_sum(pti_symbols *s, pti_sum *sum);

#endif
