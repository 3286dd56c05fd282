/* matrix.h - matrix instructions: shapes, places of elements in registers, arithmetic.
 *
 * An instruction is a row of a table of sim_matrix (matrix_table.c). Places are computed by matrix_layout.c, dot products by
 * matrix_math.c; matrix.c brings operands in and results out. The layouts are functions of the shape, so that tests can
 * check each of them as a bijection.
 */
#ifndef SIM_MATRIX_H
#define SIM_MATRIX_H

#include "runtime/sim/internal.h"

typedef enum matrix_type {
    M_F64, M_F32, M_XF32, M_F16, M_BF16,
    M_FP8, M_BF8,                        /* OCP, or FNUZ where the target has that */
    M_FP6, M_BF6, M_FP4,                 /* E2M3, E3M2, E2M1 */
    M_I8, M_IU8, M_IU4,                  /* IU: signed or not by the instruction's neg_lo */
    M_I32,
    M_F8F6F4                             /* one of five, by cbsz (A) and blgp (B) */
} matrix_type;

typedef enum matrix_family { MATRIX_MFMA, MATRIX_WMMA11, MATRIX_WMMA12 } matrix_family;

typedef struct sim_matrix {
    const char *name;
    matrix_family family;
    uint8_t m, n, k, blocks;
    matrix_type a, b, d;                 /* C has D's type */
    bool sparse;                         /* A holds two of every four k; src2 is the index, C is the destination */
    bool scaled;
    bool broadcast;                      /* cbsz and abid pick blocks of A; blgp permutes B's lanes */
} sim_matrix;

/* Width in bits of an element in registers. */
uint32_t sim_matrix_bits(matrix_type type);

/* Where an element lies: a bit position in the registers of a lane (register = bit / 32). */
typedef struct matrix_place { uint32_t lane, bit; } matrix_place;

/* A[i][k] of a block; of a sparse A, k counts stored elements (half as many). B[k][j]. C and D [i][j]. For gfx11 the first
 * of the copies in the lanes' halves (the second is 16 lanes later). `type` is the element's actual type. */
matrix_place sim_matrix_place_a(const sim_matrix *s, matrix_type type, uint32_t lanes, uint32_t i, uint32_t k, uint32_t block);
matrix_place sim_matrix_place_b(const sim_matrix *s, matrix_type type, uint32_t lanes, uint32_t k, uint32_t j, uint32_t block);
matrix_place sim_matrix_place_d(const sim_matrix *s, uint32_t lanes, uint32_t i, uint32_t j, uint32_t block);
/* The two bits that say which of its four columns the stored element k of row i is; before abid, cbsz or index_key shift them. */
matrix_place sim_matrix_place_index(const sim_matrix *s, uint32_t lanes, uint32_t i, uint32_t k);
/* Bits that one set of indices takes in a lane's index register. */
uint32_t sim_matrix_index_bits(const sim_matrix *s, uint32_t lanes);

/* ------------------------------------------------------------ arithmetic */

typedef enum matrix_model {
    MATRIX_CHAIN,                        /* fma after fma in k order */
    MATRIX_PAIRWISE,                     /* CDNA2: groups of 4 (2 of the old bf16) as a tree of f32 sums, subnormals flushed */
    MATRIX_FUSED,                        /* CDNA3: fused dot-add, cut at 24 bits, rounded down, then to nearest */
    MATRIX_FUSED_FP8
} matrix_model;

typedef enum matrix_kind { MATRIX_ZERO, MATRIX_FINITE, MATRIX_INFINITE, MATRIX_NAN } matrix_kind;

/* A finite number, not normalised: a subnormal keeps its format's least exponent. */
typedef struct matrix_number {
    matrix_kind kind;
    bool negative;
    uint32_t significand;
    int32_t exponent;                    /* of the leading place: value = significand × 2^(exponent − fraction) */
    int32_t fraction;
    float value;                         /* the same; a format's number always is one */
} matrix_number;

matrix_number sim_matrix_decode(matrix_type type, bool fnuz, uint32_t bits);
/* Times 2^power, as block scales do. */
matrix_number sim_matrix_scale(matrix_number x, int32_t power);

typedef struct matrix_rule { matrix_model model; uint32_t group; } matrix_rule;
matrix_rule sim_matrix_rule(const sim_matrix *s, const sim_target_info *target);
/* c + sum of a[k]·b[k], as a f32 of the rule. */
float sim_matrix_dot(matrix_rule rule, const matrix_number *a, const matrix_number *b, uint32_t k, float c);

/* Bits of f16 or bf16 nearest to f, ties to even. */
uint32_t sim_matrix_narrow(matrix_type type, float f);

const sim_matrix *sim_matrix_at(uint32_t index);
uint32_t sim_matrix_count(void);
const sim_matrix *sim_matrix_of(const sim_insn *i);
void sim_matrix_run(sim_wave *w, const sim_insn *i);

#endif
