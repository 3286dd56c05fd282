/* ref_wmma.h - reference of wmma: whole matrices in memory, multiplied element by element. It knows nothing of fragments. */
#ifndef REF_WMMA_H
#define REF_WMMA_H

#include <stddef.h>
#include "ref_mma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The shape that a meaning's name says ("wmma_m16n16k16_f16_f32": d and c, where a and b are f16); false when it is no wmma.mma. */
bool ref_wmma_shape_of(const char *meaning, ref_mma_shape *out);

const char *ref_mma_type_name(ref_mma_type t);
int ref_mma_type_bits(ref_mma_type t);

/* A matrix in memory. Elements of fewer than 8 bits are packed, the first one lowest. */
typedef struct ref_wmma_matrix {
    ref_mma_type type;
    int rows, columns;
    bool row_major;
    int stride;                 /* elements from row to row, or from column to column */
    size_t offset;              /* bytes from the memory's begin */
} ref_wmma_matrix;

/* Bytes from its begin to the end of its last element. */
size_t ref_wmma_bytes(const ref_wmma_matrix *m);
uint64_t ref_wmma_get(const ref_wmma_matrix *m, const uint8_t *memory, int row, int column);
void ref_wmma_put(const ref_wmma_matrix *m, uint8_t *memory, int row, int column, uint64_t value);
/* Element of D = A B + C. */
uint64_t ref_wmma_element(const ref_mma_shape *s, const ref_wmma_matrix *a, const ref_wmma_matrix *b, const ref_wmma_matrix *c, const uint8_t *memory,
                          int row, int column, ref_mma_model model);

#ifdef __cplusplus
}
#endif
#endif
