/* ref_mma.h - reference of the warp matrix products: fragments to dense matrices, then each model over exact integers. */
#ifndef REF_MMA_H
#define REF_MMA_H

#include <stdbool.h>
#include <stdint.h>
#include "reference.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ref_mma_type {
    REF_E4M3, REF_E5M2, REF_F16, REF_BF16, REF_TF32, REF_F32, REF_F64, REF_U8, REF_S8, REF_U4, REF_S4, REF_B1, REF_S32,
    /* In bytes; the last one two to a byte. */
    REF_E3M2, REF_E2M3, REF_E2M1, REF_E2M1X2
} ref_mma_type;

typedef enum ref_mma_model { REF_ADA, REF_HOPPER, REF_BLACKWELL, REF_AMPERE, REF_TURING, REF_VOLTA, REF_IEEE } ref_mma_model;

typedef enum ref_mma_matrix { REF_MATRIX_A, REF_MATRIX_B, REF_MATRIX_C } ref_mma_matrix;

typedef struct ref_mma_shape {
    int m, n, k;                /* k of B: a sparse A holds half of it */
    ref_mma_type a, b, c, d;
    bool satfinite;             /* of a floating D: infinities to the largest number, NaN to +0 */
    bool and_popc;              /* b1: AND in place of XOR */
    bool a_column, b_row;       /* m8n8k4.f16 only: the layouts that are not .row.col */
    bool sparse;
    bool f8f6f4;                /* a .kind of sm_120: whatever the model, unless it is ieee, Blackwell's */
    int scales;                 /* block scales of a row: 1, 2, 4; 0 when there are none */
    bool ue4m3;                 /* their type is not ue8m0 */
    ref_rounding rounding;      /* of each multiply-add of f64 */
} ref_mma_shape;

/* What sparse and scaled products have beside A, B and C; each pointer is to 32 lanes. Selectors of scales are those of lane 0. */
typedef struct ref_mma_extra {
    const uint64_t *metadata;
    uint32_t selector;
    const uint64_t *scale_a, *byte_a, *thread_a, *scale_b, *byte_b, *thread_b;
} ref_mma_extra;

/* The shape that a meaning's name says ("mma_m16n8k32_f16_e4m3_e5m2_f16"); false when it is no mma.sync. */
bool ref_mma_shape_of(const char *meaning, ref_mma_shape *out);

/* Registers that a lane holds of a matrix (f64: 64-bit registers), and elements in a register. */
int ref_mma_registers(const ref_mma_shape *s, ref_mma_matrix matrix, bool result);
int ref_mma_per_register(const ref_mma_shape *s, ref_mma_matrix matrix, bool result);

/* Where element i of a lane lies (PTX ISA, "Matrix Fragments for mma..."). m8n8k4.f16 has four products: `product` says which. */
void ref_mma_place(const ref_mma_shape *s, ref_mma_matrix matrix, bool result, int lane, int i, int *row, int *column, int *product);

/* One element of D from a row of A, a column of B (k elements each) and an element of C; wmma.mma too. Where C is f32 and D is f16, the f32
 * result is rounded. */
uint64_t ref_mma_element(const ref_mma_shape *s, const uint64_t *a, const uint64_t *b, uint64_t c, ref_mma_model model);

/* d, a, b, c are [register][lane]; 32-bit registers are in the low half. `extra` may be NULL where there is nothing of it. */
void ref_mma(const ref_mma_shape *s, uint64_t (*d)[32], const uint64_t (*a)[32], const uint64_t (*b)[32], const uint64_t (*c)[32],
             const ref_mma_extra *extra, ref_mma_model model);

#ifdef __cplusplus
}
#endif
#endif
