/*
 * Numbers for the dec2 reference: f16 and e4m3 as bit patterns, approximate f32
 * functions, tensor-core models, a bilinear sampler. Plain, scalar and self-contained.
 */
#ifndef DEC2_REF_NUMERIC_H
#define DEC2_REF_NUMERIC_H

#include <stdbool.h>
#include <stdint.h>

typedef uint16_t f16;
typedef uint8_t e4m3;

double f16_to_double(f16 v);
/* One rounding, to nearest even; NaN becomes 0x7FFF. */
f16 f16_from_double(double v);
f16 f16_add(f16 a, f16 b);
f16 f16_sub(f16 a, f16 b);
f16 f16_mul(f16 a, f16 b);
f16 f16_fma(f16 a, f16 b, f16 c); /* rounds once */
f16 f16_max(f16 a, f16 b);        /* PTX max/min without .NaN: a NaN loses */
f16 f16_min(f16 a, f16 b);
bool f16_is_nan(f16 v);

double e4m3_to_double(e4m3 v);
f16 e4m3_to_f16(e4m3 v);
/* cvt.rn.satfinite: to nearest even, beyond 448 (and infinity) to 448, NaN to 0x7F. */
e4m3 e4m3_from_f16(f16 v);

/*
 * rsqrt/rcp/ex2/div.approx.ftz.f32 as the CPU device defines them: the correctly rounded
 * f32, subnormal inputs and results flushed to signed zero. They are computed in double and
 * rounded to f32, which differs from correct rounding only where the double result lies
 * within its own error of a tie, a chance of about 2^-29 an argument.
 * div adds the ISA's range rule: 2^126 < |b| < 2^128 gives 0 for finite a, NaN for infinite a.
 */
float ref_rsqrt(float x);
float ref_rcp(float x);
float ref_ex2(float x);
float ref_div(float a, float b);
float ref_add_ftz(float a, float b);
float ref_mul_ftz(float a, float b);

/*
 * m16n8k32 e4m3 with f16 accumulator. Ada follows MMA-Sim (arXiv 2511.10909): k in two
 * halves of 16; in each the exact products and the accumulator are cut toward zero to
 * `fraction_bits` below the largest exponent, summed exactly and rounded once to f16.
 * Hopper and Blackwell (no split) and Ampere (which has no fp8 mma: its f16 parameters) are
 * guesses for this instruction: only the Blackwell row of the source names fp8 without wgmma.
 */
enum ref_mma_model { REF_ADA, REF_HOPPER, REF_BLACKWELL, REF_AMPERE, REF_IEEE, REF_MODELS };
struct ref_mma_parameters {
    const char *name;
    int fraction_bits; /* 0: an f32 chain in k order, one final rounding */
    int k_step;        /* products summed at once, 16 or 32 */
    bool guess;
};
extern const struct ref_mma_parameters ref_mma_table[REF_MODELS];

/*
 * d (m x n) = a (m x k) times b (n x k, one output a row) plus d, as k/32 instructions.
 * k is in natural channel order; the k order inside an instruction is ref_channel's.
 */
void ref_mma(enum ref_mma_model model, int m, int n, int k, const e4m3 *a, const e4m3 *b, f16 *d);

/* Natural channel (0...31) at byte `position` of a plane's 32 bytes, and of an mma's k. */
int ref_channel(int position);
int ref_position(int channel);

/* Four f16 channels, unnormalised coordinates, clamp addressing, row by row. */
struct ref_texture {
    int width, height;
    const f16 *texels;
};
/*
 * Linear filter: weights are frac(x - 0.5) and frac(y - 0.5) held in fixed point
 * (8 fractional bits, to nearest); along x first, then along y, each lerp a*(1-w) + b*w in
 * f32; one rounding to f16. With few weight bits, as in this corpus, any order is exact.
 */
void ref_sample(const struct ref_texture *tex, float x, float y, f16 out[4]);
void ref_fetch(const struct ref_texture *tex, int x, int y, f16 out[4]);

#endif
