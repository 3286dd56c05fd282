/* matrix_layout.h - where the elements of ldmatrix and stmatrix with 8-bit elements lie, on every device.
 *
 * m16n16 (ldmatrix, transposed): register 2j + h of lane l has in byte e row 4(l % 4) + e, column l/4 + 8h of matrix j, whose
 *   row addresses lanes 16j to 16j + 15 hold.
 * m8n16 (ldmatrix): register j has row l/4, column 4(l % 4) + e of matrix j; row addresses in lanes 8j to 8j + 7.
 * m16n8 (stmatrix, transposed): register j's byte e goes to row 2(l % 4) + e % 2, column l/4 + 8(e / 2) of the 8 × 16 bytes that
 *   lanes 8j to 8j + 7 have the row addresses of: c0 to c3 of mma.m16n8, column by column.
 * Rows are 16 bytes; elements of 6 and 4 bits fill the first 12 or 8 of them and come to the low bits of their byte.
 * (PTX ISA, "ldmatrix", "stmatrix" and their figures; CUTLASS, copy_traits_sm100.hpp, tells which byte is which.)
 */
#ifndef PXL_MATRIX_LAYOUT_H
#define PXL_MATRIX_LAYOUT_H

#include <stdint.h>

typedef enum pxl_matrix_shape { PXL_MATRIX_M16N16, PXL_MATRIX_M8N16, PXL_MATRIX_M16N8 } pxl_matrix_shape;

/* The lane that has the address of the row, and the element's index in it. */
typedef struct pxl_matrix_place { uint32_t lane, column; } pxl_matrix_place;

static inline pxl_matrix_place pxl_matrix_at(uint32_t shape, uint32_t lane, uint32_t r, uint32_t e)
{
    uint32_t g = lane >> 2, t = lane & 3;
    pxl_matrix_place p;
    if (shape == PXL_MATRIX_M16N16) {
        p.lane = (r >> 1) * 16 + 4 * t + e;
        p.column = g + 8 * (r & 1);
    } else if (shape == PXL_MATRIX_M8N16) {
        p.lane = r * 8 + g;
        p.column = 4 * t + e;
    } else {
        p.lane = r * 8 + 2 * t + (e & 1);
        p.column = g + 8 * (e >> 1);
    }
    return p;
}

#endif
