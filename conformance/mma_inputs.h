/* mma_inputs.h - matrices for mma cases. */
#ifndef CONFORM_MMA_INPUTS_H
#define CONFORM_MMA_INPUTS_H

#include "conformance/conform.h"
#include "conformance/reference/ref_mma.h"

/* Themes are numbered from 0; see mma_inputs.c. */
int conform_mma_themes(void);
/* One element's code. */
uint64_t conform_mma_element(ref_mma_type type, int theme, ref_mma_matrix which, conform_random *r);
/* The source registers of a warp, A then B then C, then metadata and scales with their selectors: registers[k][lane]. */
void conform_mma_warp(const ref_mma_shape *s, int theme, bool ordered, conform_random *r, uint64_t (*registers)[CONFORM_LANES]);

#endif
