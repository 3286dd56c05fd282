/* ref_mma_number.h - exact numbers for the references of matrix products: operands taken apart, and sums of 640 bits. */
#ifndef REF_MMA_NUMBER_H
#define REF_MMA_NUMBER_H

#include "ref_mma.h"

enum { REF_FIXED_LIMBS = 20, REF_FIXED_POINT = 320 };   /* value = (-1)^negative · limbs · 2^-POINT */

typedef struct ref_fixed {
    bool negative;
    uint32_t limb[REF_FIXED_LIMBS];
} ref_fixed;

/* The significand has at most 32 bits. */
ref_fixed ref_fixed_of(bool negative, uint64_t significand, int exponent);
void ref_fixed_add(ref_fixed *sum, const ref_fixed *x);
/* Clears what is below 2^exponent. */
void ref_fixed_cut_below(ref_fixed *f, int exponent);
/* Encodes with `fraction` fraction bits and exponent range of `xbits` bits; rounds to nearest even or cuts. */
uint32_t ref_fixed_encode(const ref_fixed *f, int fraction, int xbits, bool nearest);

typedef struct ref_operand {
    bool negative, nan, inf;
    uint64_t significand;
    int scale;            /* value = significand · 2^scale */
    int exponent;         /* that of the significand's unit place, before any normalising */
} ref_operand;

ref_operand ref_operand_of(ref_mma_type type, uint64_t bits);
bool ref_operand_is_zero(ref_operand o);

#endif
