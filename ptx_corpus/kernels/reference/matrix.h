// What the references of matrix products share.
#ifndef MATRIX_H
#define MATRIX_H

#include "ref.h"

// How a model computes one mma. keep: fraction bits of an f32 result, 0 for an f16 result.
struct model {
    const struct format *a, *b;
    int k_step, frac_bits, keep;
};
extern const struct model F16_F32;

// One accumulation step; acc holds f32 bits, or f16 bits when keep is 0.
uint32_t matrix_step(const struct model *m, const uint32_t *a, const uint32_t *b, uint32_t acc);
// Operands of a format: small integers, or uniform in [-range, range).
uint32_t *matrix_operands(const struct format *f, uint64_t seed, int n, bool ints, double range);
// "BASE_WHAT" or "BASE_int_WHAT".
const char *matrix_named(const char *base, bool ints, const char *what);
void matrix_write16(const char *name, const char *descr, const uint32_t *w, size_t n);
void matrix_write8(const char *name, const uint32_t *w, size_t n);

#endif
