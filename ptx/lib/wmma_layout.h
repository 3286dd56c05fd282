/* wmma_layout.h - where the elements of a wmma fragment lie: the one place that knows (wmma.load, wmma.store and
 * wmma.mma on every device follow it).
 *
 * PTX leaves the distribution open (PTX ISA, "Matrix Fragments for WMMA"). This one strings together the
 * fragments of mma.m16n8 and mma.m8n8 (PTX ISA, "Matrix Fragments for mma"), so that wmma.mma is a few of
 * those: with g = lane / 4, t = lane % 4 and E elements in a register,
 *   A  tiles of 16 rows (8 where m is 8): register (k chunk, row half): row 8·half + g, columns 4E·chunk + tE …
 *   B  tiles of 8 columns: register k chunk: rows 4E·chunk + tE …, column g
 *   C, D  tiles of 16 or 8 rows by 8 columns: row 8·half + g, columns 2t and 2t + 1, two f16 to a register
 * tiles following each other, rows of tiles first. Where PTX asks for more registers than a matrix fills, the
 * others repeat it.
 */
#ifndef PXL_WMMA_LAYOUT_H
#define PXL_WMMA_LAYOUT_H

#include <stdint.h>

typedef struct pxl_wmma_shape {
    uint8_t m, n, k;
    uint8_t bits;              /* of an element: 1 4 8 16 32 64 */
    char matrix;               /* 'a' 'b' 'c' ('d' is as 'c') */
} pxl_wmma_shape;

typedef struct pxl_wmma_place { uint32_t row, column; } pxl_wmma_place;

/* Elements in one register. */
static inline uint32_t pxl_wmma_elements(pxl_wmma_shape s) { return s.bits >= 32 ? 1 : 32u / s.bits; }

/* Place in the matrix (A: m × k, B: k × n, C: m × n) of element `i` of register `r` in `lane`. */
static inline pxl_wmma_place pxl_wmma_at(pxl_wmma_shape s, uint32_t lane, uint32_t r, uint32_t i)
{
    uint32_t g = lane >> 2, t = lane & 3, e = pxl_wmma_elements(s);
    uint32_t halves = s.m >= 16 ? 2 : 1, chunks = s.k / (4 * e);
    pxl_wmma_place p;
    if (s.matrix == 'a') {
        uint32_t per_tile = halves * chunks, tiles = s.m / (8 * halves);
        r %= per_tile * tiles;
        uint32_t tile = r / per_tile, chunk = r % per_tile / halves, half = r % halves;
        p.row = tile * 16 + half * 8 + g;
        p.column = chunk * 4 * e + t * e + i;
    } else if (s.matrix == 'b') {
        r %= chunks * (s.n / 8u);
        p.row = r % chunks * 4 * e + t * e + i;
        p.column = r / chunks * 8 + g;
    } else {
        uint32_t per_row = e == 2 ? 1 : 2, per_tile = per_row * halves, columns = s.n / 8u;
        uint32_t tile = r / per_tile, in_tile = r % per_tile;
        p.row = tile / columns * 16 + in_tile / per_row * 8 + g;
        p.column = tile % columns * 8 + 2 * t + (e == 2 ? i : in_tile % per_row);
    }
    return p;
}

#endif
