/* fragment_map.h - how the fragments of PTX's mma m16n8 lie in the operands of AMD's 16 × 16 matrix instructions.
 *
 * PTX (PTX ISA, "Matrix Fragments for mma.m16n8k16" and its likes): lane 4g + t holds word t of a row of 16 bytes: of rows g and
 * g + 8 of A in registers b + 2z (b: upper row; z: second 16 bytes), of column g of B in register z, and of D columns 2t and 2t + 1
 * (p) of rows g and g + 8 in elements 2b + p.
 *
 * AMD: the product is made transposed. B's columns are the rows (M) of the instruction and A's rows its columns (N): then the
 * results of one lane belong to one row of PTX's D. The order of k is free as long as both operands share it; words are put where the
 * fewest lanes have to be read. M has 16 places for 8 columns: on RDNA half of them are copies whose results nobody reads.
 * On CDNA the two warps of a wavefront share them: two instructions, one for rows g (x = 0) and one for rows g + 8 of
 * both warps; a result whose row and column are of different warps is not read either. Every result that is read comes from
 * its own row and column alone, so that infinities and NaN of one warp never reach the other.
 *
 * A map is data: each bit of a source is a bit of the reading lane (L), of the slot (S), x, or 0. tests/fragment_map_test.cc
 * proves the maps with the simulator's layouts.
 */
#ifndef XL_FRAGMENT_MAP_H
#define XL_FRAGMENT_MAP_H

#include <stdint.h>

typedef enum xl_core { XL_CORE_WMMA11, XL_CORE_WMMA12, XL_CORE_MFMA, XL_CORE_COUNT } xl_core;
typedef enum xl_part { XL_PART_M, XL_PART_N, XL_PART_D, XL_PART_COUNT } xl_part;

typedef enum xl_bit { XL_0, XL_L0, XL_L1, XL_L2, XL_L3, XL_L4, XL_L5, XL_S0, XL_S1, XL_S2, XL_X } xl_bit;

/* Where the reader of `slot` in `lane` gets its word. Part M and N: from PTX's B and A. D: from the instruction's result. */
typedef struct xl_fragment_map {
    uint8_t slots;             /* for two words z; the upper half is not there with one */
    uint8_t lane[6], reg[3];   /* xl_bit of each bit of the source's lane and register */
} xl_fragment_map;

extern const xl_fragment_map xl_fragment_maps[XL_CORE_COUNT][XL_PART_COUNT];

uint32_t xl_fragment_bits(const uint8_t *bits, uint32_t nbits, uint32_t lane, uint32_t slot, uint32_t x);

#endif
