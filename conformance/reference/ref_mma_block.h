/* ref_mma_block.h - the parts of the reference that sparse and block-scaled products add. */
#ifndef REF_MMA_BLOCK_H
#define REF_MMA_BLOCK_H

#include "ref_mma.h"

/* k of the full row, for element `stored` of row `row` of a sparse A (PTX ISA, "Sparse matrix storage"). */
int ref_mma_sparse_k(const ref_mma_shape *s, const ref_mma_extra *x, int row, int stored);

/* Scale `chunk` of a row of A or a column of B, as its byte (PTX ISA, "Block Scaling for mma.sync"). */
uint32_t ref_mma_scale_a(const ref_mma_shape *s, const ref_mma_extra *x, int row, int chunk);
uint32_t ref_mma_scale_b(const ref_mma_shape *s, const ref_mma_extra *x, int column, int chunk);

/* One element of a block-scaled product of n elements, those of A that are stored: a and b are codes, scales bytes. */
uint32_t ref_mma_scaled_element(const ref_mma_shape *s, int n, const uint64_t *a, const uint64_t *b, uint32_t c, const uint32_t *scale_a,
                                const uint32_t *scale_b, ref_mma_model model);

#endif
