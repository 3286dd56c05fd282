/* matrix_layout.c - where the elements of matrix operands lie in registers.
 *
 * Sources: AMD "RDNA3 Instruction Set Architecture" and "RDNA4 …" (Wave Matrix Multiply Accumulate), "AMD Instinct MI300 Instruction Set
 * Architecture" (Matrix Arithmetic Instructions), AMD's matrix instruction calculator for those, and AMD's article "Matrix Core
 * Programming on AMD CDNA3 and CDNA4 architecture" for the 8-bit operands of the 128-wide instructions.
 *
 * MFMA, wave64: a lane holds K / (64 / (M · blocks)) neighbouring k of one row; D comes in bands of four rows (one for f64).
 * gfx11: every lane of a group of 16 holds all k of its row, the groups are copies; D's rows alternate between the groups.
 * gfx12: no copies; the groups of 16 lanes share out k and the rows of D in runs.
 */
#include "runtime/sim/matrix.h"

uint32_t sim_matrix_bits(matrix_type type)
{
    switch (type) {
    case M_F64: return 64;
    case M_F32: case M_XF32: case M_I32: return 32;
    case M_F16: case M_BF16: return 16;
    case M_FP8: case M_BF8: case M_I8: case M_IU8: case M_F8F6F4: return 8;
    case M_FP6: case M_BF6: return 6;
    case M_FP4: case M_IU4: return 4;
    }
    return 0;
}

/* ------------------------------------------------------------ MFMA */

/* Row (of A) or column (of B) i, of `rows` per block. */
static matrix_place mfma_input(const sim_matrix *s, uint32_t rows, uint32_t ks, uint32_t bits, uint32_t i, uint32_t k, uint32_t block)
{
    const uint32_t blocks = s->blocks, groups = 64 / (rows * blocks), run = ks / groups;
    /* 8-bit operands of the f8f6f4 instructions, 32 to a lane, come as two runs of 16 */
    if (s->a == M_F8F6F4 && bits == 8) return (matrix_place){k / 16 % groups * rows + i, (k / 16 / groups * 16 + k % 16) * bits};
    return (matrix_place){block * rows + k / run * rows * blocks + i, k % run * bits};
}

static matrix_place mfma_output(const sim_matrix *s, uint32_t i, uint32_t j, uint32_t block)
{
    const uint32_t band = s->d == M_F64 ? 1 : 4, bands = 64 / s->n, size = (uint32_t)s->m * s->n;
    /* blocks that lie side by side in one register */
    const uint32_t per_block = size / band, side = per_block >= 64 ? 1 : 64 / per_block, rows = bands / side;
    const uint32_t element = block * size / 64 / band * band + i / (band * rows) * band + i % band;
    return (matrix_place){block % side * s->n + i / band % rows * side * s->n + j, element * (s->d == M_F64 ? 64 : 32)};
}

/* ------------------------------------------------------------ WMMA */

static matrix_place wmma11_output(const sim_matrix *s, uint32_t lanes, uint32_t i, uint32_t j)
{
    (void)s;
    const uint32_t groups = lanes / 16;
    return (matrix_place){i % groups * 16 + j, i / groups * 32};      /* 16-bit results take a register each too */
}

static matrix_place wmma12_output(const sim_matrix *s, uint32_t lanes, uint32_t i, uint32_t j)
{
    const uint32_t bits = sim_matrix_bits(s->d);
    if (lanes == 32) return (matrix_place){i / 8 * 16 + j, i % 8 * bits};
    return (matrix_place){i / 4 % 2 * 32 + i / 8 * 16 + j, i % 4 * bits};
}

/* Dense A and B, or B of a sparse product: groups of lanes take turns in runs of k. */
static matrix_place wmma12_dense(uint32_t lanes, uint32_t ks, uint32_t bits, uint32_t run32, uint32_t i, uint32_t k)
{
    /* run32: neighbouring k in a lane of wave32; two groups of 16 lanes */
    if (lanes == 32) return (matrix_place){k / run32 % 2 * 16 + i, (k / (2 * run32) * run32 + k % run32) * bits};
    /* wave64: the run of one group is halved and lanes 32… take the second part, if that is at least a register */
    const uint32_t per_lane = ks / 2;
    if (per_lane * bits <= 32) return (matrix_place){k / run32 % 2 * 16 + i, k % run32 * bits};
    if (run32 == per_lane) return (matrix_place){k / (run32 / 2) % 2 * 32 + k / run32 * 16 + i, k % (run32 / 2) * bits};
    return (matrix_place){k / (2 * run32) % 2 * 32 + k / run32 % 2 * 16 + i, k % run32 * bits};
}

/* Neighbouring k of a lane in wave32. */
static uint32_t wmma12_run(const sim_matrix *s, bool stored)
{
    const uint32_t bits = sim_matrix_bits(s->a);
    if (bits == 16) return stored || !s->sparse ? 4 : 8;
    return stored ? s->k / 4 : s->k / 2;
}

static matrix_place wmma12_a(const sim_matrix *s, uint32_t lanes, uint32_t bits, uint32_t i, uint32_t k)
{
    if (!s->sparse) return wmma12_dense(lanes, s->k, bits, wmma12_run(s, false), i, k);
    return wmma12_dense(lanes, s->k / 2u, bits, wmma12_run(s, true), i, k);
}

/* ------------------------------------------------------------ both */

matrix_place sim_matrix_place_a(const sim_matrix *s, matrix_type type, uint32_t lanes, uint32_t i, uint32_t k, uint32_t block)
{
    const uint32_t bits = sim_matrix_bits(type);
    if (s->family == MATRIX_MFMA) return mfma_input(s, s->m, s->sparse ? s->k / 2u : s->k, bits, i, k, block);
    if (s->family == MATRIX_WMMA11) return (matrix_place){i, k * bits};
    return wmma12_a(s, lanes, bits, i, k);
}

matrix_place sim_matrix_place_b(const sim_matrix *s, matrix_type type, uint32_t lanes, uint32_t k, uint32_t j, uint32_t block)
{
    const uint32_t bits = sim_matrix_bits(type);
    if (s->family == MATRIX_MFMA) return mfma_input(s, s->n, s->k, bits, j, k, block);
    if (s->family == MATRIX_WMMA11) return (matrix_place){j, k * bits};
    return wmma12_dense(lanes, s->k, bits, wmma12_run(s, false), j, k);
}

matrix_place sim_matrix_place_d(const sim_matrix *s, uint32_t lanes, uint32_t i, uint32_t j, uint32_t block)
{
    if (s->family == MATRIX_MFMA) return mfma_output(s, i, j, block);
    return s->family == MATRIX_WMMA11 ? wmma11_output(s, lanes, i, j) : wmma12_output(s, lanes, i, j);
}

matrix_place sim_matrix_place_index(const sim_matrix *s, uint32_t lanes, uint32_t i, uint32_t k)
{
    /* two bits for each element that the lane stores, in the order of its elements */
    const uint32_t bits = sim_matrix_bits(s->a);
    const matrix_place p = sim_matrix_place_a(s, s->a, lanes, i, k, 0);
    return (matrix_place){p.lane, p.bit / bits * 2};
}

uint32_t sim_matrix_index_bits(const sim_matrix *s, uint32_t lanes)
{
    const uint32_t stored = (uint32_t)s->m * s->k / 2, in_use = lanes == 64 && stored / 64 * sim_matrix_bits(s->a) < 32 ? 32 : lanes;
    return stored / in_use * 2;
}
