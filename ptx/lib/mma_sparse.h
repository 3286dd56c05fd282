/* mma_sparse.h - which elements of B a sparse A meets (PTX ISA, "Sparse matrix storage").
 *
 * A holds half of each row of k. Two bits of metadata for each element that is there say which of four neighbours it is: f16,
 * bf16, bytes. For tf32 four bits say which of two; their only meaningful values, 0b0100 and 0b1110, are the indices of its two halves.
 * For 4-bit types an element is a byte of two neighbours. Seen as registers that is: each word of A meets two neighbouring words of B, of
 * which half are chosen. The chosen ones make a word of a dense product, and the dense product is what is computed.
 *
 * Where the metadata of a row lies is in the ISA's figures. Threads of a quad (g = lane / 4) hold, for 16-bit and wider elements, 16 bits
 * of row g below 16 bits of row g + 8, each for one register of A; for smaller elements a thread of an even number holds 32 bits of row
 * g, the next one those of row g + 8. The selector says which thread, or pair, is the first.
 *
 * Indices that the ISA calls undefined (equal ones; for tf32 other values; with .sp::ordered_metadata falling ones) are taken at
 * their word: an element of B may be chosen twice, and the lower index's upper bit decides for tf32.
 */
#ifndef PXL_MMA_SPARSE_H
#define PXL_MMA_SPARSE_H

#include "ptx/lib/mma_dot.h"

/* What is chosen: bytes or halves out of two words, or one word of two. */
enum { SPARSE_BYTES, SPARSE_HALVES, SPARSE_WORDS };

PXL_INLINE int pxl_sparse_unit(int type)
{
    return pxl_mma_bits(type) == 8 ? SPARSE_BYTES : type == MMA_TF32 ? SPARSE_WORDS : SPARSE_HALVES;
}
/* Bits of metadata for one word of A. */
PXL_INLINE uint32_t pxl_sparse_word_bits(int unit) { return unit == SPARSE_BYTES ? 8 : 4; }

PXL_INLINE uint32_t pxl_nth_byte(uint32_t word, uint32_t n) { return word >> (8 * (n & 3)) & 0xff; }
PXL_INLINE uint32_t pxl_nth_half(uint32_t x, uint32_t y, uint32_t n) { return (n & 2 ? y : x) >> (16 * (n & 1)) & 0xffff; }

/* The word of chosen elements out of x and y. */
PXL_INLINE uint32_t pxl_sparse_word(int unit, uint32_t x, uint32_t y, uint32_t bits)
{
    switch (unit) {
    case SPARSE_BYTES:
        return pxl_nth_byte(x, bits) | pxl_nth_byte(x, bits >> 2) << 8 | pxl_nth_byte(y, bits >> 4) << 16 | pxl_nth_byte(y, bits >> 6) << 24;
    case SPARSE_HALVES:
        return pxl_nth_half(x, y, bits) | pxl_nth_half(x, y, bits >> 2) << 16;
    default:
        return bits & 2 ? y : x;
    }
}
/* The four words that meet a slab of A, out of the eight of two registers of B. */
PXL_INLINE pxl_u32x4 pxl_sparse_slab(int unit, pxl_u32x4 first, pxl_u32x4 second, uint32_t bits)
{
    const uint32_t n = pxl_sparse_word_bits(unit);
    return (pxl_u32x4){pxl_sparse_word(unit, first.x, first.y, bits), pxl_sparse_word(unit, first.z, first.w, bits >> n),
                       pxl_sparse_word(unit, second.x, second.y, bits >> 2 * n), pxl_sparse_word(unit, second.z, second.w, bits >> 3 * n)};
}
/* The lane of a quad that holds the metadata of a slab for the upper or the lower rows. */
PXL_INLINE uint32_t pxl_sparse_thread(int unit, uint32_t slabs, uint32_t selector, uint32_t lower, uint32_t slab)
{
    if (unit == SPARSE_BYTES)
        return (slabs == 1 ? 2 * (selector & 1) : 2 * slab) + lower;
    return slabs == 1 ? selector & 3 : 2 * (selector & 1) + slab;
}
/* That row's bits of the thread's metadata. */
PXL_INLINE uint32_t pxl_sparse_row_bits(int unit, uint32_t metadata, uint32_t lower)
{
    return unit == SPARSE_BYTES ? metadata : metadata >> (16 * lower) & 0xffff;
}

#if PXL_WIDTH == 32

#define PXL_NOINLINE static __attribute__((noinline, unused))

typedef struct pxl_sparse {
    int unit;
    uint32_t slabs, selector;
    const uint32_t *metadata;      /* of 32 lanes */
} pxl_sparse;

PXL_INLINE uint32_t pxl_sparse_bits(const pxl_sparse *s, uint32_t row, uint32_t slab)
{
    const uint32_t lower = row / 8, lane = row % 8 * 4 + pxl_sparse_thread(s->unit, s->slabs, s->selector, lower, slab);
    return pxl_sparse_row_bits(s->unit, s->metadata[lane], lower);
}
/* For each row of A, and each of its elements in the order of pxl_mma_operands (n to a register: slab, element of a register, word), the place in
 * the same order of the element of B that it meets. Elements of four bits count as bytes. */
PXL_INLINE void pxl_choose_of(const pxl_sparse *s, int unit, uint32_t n, uint32_t rows, uint8_t chosen[16][32])
{
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t slab = 0; slab < s->slabs; slab++) {
            const uint32_t bits = pxl_sparse_bits(s, r, slab);
#pragma clang loop unroll(full)
            for (uint32_t k = 0; k < 4 * n; k++) {
                /* k of the full row, counted from that of the slab. */
                const uint32_t full = unit == SPARSE_WORDS ? 2 * k + (bits >> (4 * k + 1) & 1) : k / 2 * 4 + (bits >> 2 * k & 3);
                chosen[r][(slab * n + k % n) * 4 + k / n] = (uint8_t)(((2 * slab + full / (4 * n)) * n + full % n) * 4 + full / n % 4);
            }
        }
}
PXL_NOINLINE void pxl_choose(const pxl_sparse *s, uint32_t rows, uint8_t chosen[16][32])
{
    switch (s->unit) {
    case SPARSE_BYTES:  pxl_choose_of(s, SPARSE_BYTES, 4, rows, chosen); break;
    case SPARSE_HALVES: pxl_choose_of(s, SPARSE_HALVES, 2, rows, chosen); break;
    default:            pxl_choose_of(s, SPARSE_WORDS, 1, rows, chosen); break;
    }
}

#endif
#endif
