/* valu_float.h - the number formats of the vector ALU: bits to values and back, with one rounding.
 *
 * All functions are exact or round once, in software, by the rounding mode that is passed in; the host's
 * rounding mode must be to nearest when they are called, unless a comment says otherwise.
 */
#ifndef SIM_VALU_FLOAT_H
#define SIM_VALU_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Values of a MODE.FP_ROUND field (AMD "RDNA3 Instruction Set Architecture", section 3.3). */
typedef enum sim_round { ROUND_NEAREST_EVEN, ROUND_UP, ROUND_DOWN, ROUND_ZERO } sim_round;

static inline float sim_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t sim_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double sim_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t sim_double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ------------------------------------------------------------ classes of bit patterns */

static inline bool f32_is_nan(uint32_t a) { return (a & 0x7fffffffu) > 0x7f800000u; }
static inline bool f32_is_snan(uint32_t a) { return f32_is_nan(a) && !(a & 0x00400000u); }
static inline bool f32_is_denormal(uint32_t a) { return (a & 0x7fffffffu) - 1u < 0x007fffffu; }
static inline bool f64_is_nan(uint64_t a) { return (a & ~(1ull << 63)) > 0x7ff0000000000000ull; }
static inline bool f64_is_snan(uint64_t a) { return f64_is_nan(a) && !(a & 1ull << 51); }
static inline bool f64_is_denormal(uint64_t a) { return (a & ~(1ull << 63)) - 1u < (1ull << 52) - 1u; }
static inline bool f16_is_nan(uint32_t a) { return (a & 0x7fffu) > 0x7c00u; }
static inline bool f16_is_snan(uint32_t a) { return f16_is_nan(a) && !(a & 0x200u); }
static inline bool f16_is_denormal(uint32_t a) { return (a & 0x7fffu) - 1u < 0x3ffu; }

/* ------------------------------------------------------------ f16, bf16 to f32 (exact; a NaN keeps its payload) */

static inline uint32_t f16_to_f32_bits(uint32_t h)
{
    const uint32_t sign = (h & 0x8000u) << 16, magnitude = h & 0x7fffu;
    /* The exponent is moved by a multiplication with 2^112, which normalises denormals too. */
    const uint32_t scaled = sim_float_bits(sim_float(magnitude << 13) * 0x1p112f);
    return sign | (magnitude >= 0x7c00u ? 0x7f800000u | (magnitude & 0x3ffu) << 13 : scaled);
}

static inline float f16_to_f32(uint32_t h) { return sim_float(f16_to_f32_bits(h)); }
static inline float bf16_to_f32(uint32_t h) { return sim_float(h << 16); }

/* ------------------------------------------------------------ to a narrower format */

/* One step up of a truncated magnitude? `rest` is the part cut off, in units of 2^-64 of the last place. */
static inline bool sim_round_away(uint64_t kept, uint64_t rest, bool sign, sim_round mode)
{
    switch (mode) {
    case ROUND_NEAREST_EVEN: return rest > 1ull << 63 || (rest == 1ull << 63 && (kept & 1));
    case ROUND_UP: return rest && !sign;
    case ROUND_DOWN: return rest && sign;
    default: return false;
    }
}

/* |value| cut to a format with `mantissa` fraction bits and least normal exponent 1 - bias: the exponent
 * and fraction fields as one number, the exponent unbounded above; *rest gets what was cut off, in units of
 * 2^-64 of the last place (never 0 when something was cut). value is finite and not 0. */
static inline uint64_t sim_cut(double value, int mantissa, int bias, uint64_t *rest)
{
    const uint64_t bits = sim_double_bits(value) & ~(1ull << 63);
    int exponent = (int)(bits >> 52);
    uint64_t significand = bits & ((1ull << 52) - 1);
    if (exponent) {
        significand |= 1ull << 52;
    } else {
        exponent = 1;
    }
    exponent -= 1023;
    const int least = 1 - bias, low = exponent < least;
    const int shift = 52 - mantissa + (low ? least - exponent : 0);
    if (shift >= 64) {
        *rest = 1;
        return 0;
    }
    const uint64_t cut = significand & ((1ull << shift) - 1);
    *rest = shift ? cut << (64 - shift) : 0;
    const uint64_t kept = significand >> shift;
    /* A normal number's kept part has its leading one, which counts as one step of the exponent field. */
    return low ? kept : ((uint64_t)(exponent - least) << mantissa) + kept;
}

static inline uint64_t sim_narrow(double value, int mantissa, int bias, sim_round mode)
{
    uint64_t rest;
    const uint64_t kept = sim_cut(value, mantissa, bias, &rest);
    return kept + sim_round_away(kept, rest, sim_double_bits(value) >> 63, mode);
}

/* Does an overflow in this direction give the largest number and not infinity? */
static inline bool sim_overflow_is_finite(bool sign, sim_round mode)
{
    return mode == ROUND_ZERO || (mode == ROUND_UP && sign) || (mode == ROUND_DOWN && !sign);
}

/* f16 of an exact value, or of one that was rounded to odd with at least 13 bits. With `clamp` (MODE.FP16_OVFL)
 * an overflow gives the largest number; true infinities stay. A NaN gives the quiet NaN of its sign. */
static inline uint32_t f16_round(double value, sim_round mode, bool clamp)
{
    const uint64_t bits = sim_double_bits(value);
    const bool sign = bits >> 63;
    const uint32_t s = (uint32_t)sign << 15;
    const uint64_t magnitude = bits & ~(1ull << 63);
    if (magnitude >= 0x7ff0000000000000ull)
        return magnitude > 0x7ff0000000000000ull ? s | 0x7e00u | (uint32_t)(bits >> 42 & 0x1ff) : s | 0x7c00u;
    if (!magnitude) return s;
    const uint64_t r = sim_narrow(value, 10, 15, mode);
    if (r >= 0x7c00u) return s | (clamp || sim_overflow_is_finite(sign, mode) ? 0x7bffu : 0x7c00u);
    return s | (uint32_t)r;
}

static inline uint32_t bf16_round(double value, sim_round mode)
{
    const uint64_t bits = sim_double_bits(value);
    const bool sign = bits >> 63;
    const uint32_t s = (uint32_t)sign << 15;
    const uint64_t magnitude = bits & ~(1ull << 63);
    if (magnitude >= 0x7ff0000000000000ull)
        return magnitude > 0x7ff0000000000000ull ? s | 0x7fc0u | (uint32_t)(bits >> 45 & 0x3f) : s | 0x7f80u;
    if (!magnitude) return s;
    const uint64_t r = sim_narrow(value, 7, 127, mode);
    if (r >= 0x7f80u) return s | (sim_overflow_is_finite(sign, mode) ? 0x7f7fu : 0x7f80u);
    return s | (uint32_t)r;
}

/* a + b, rounded to odd: a later rounding to at most 51 bits gives what one rounding of the exact sum
 * gives (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE ToC 57, 2008). */
static inline double sim_add_odd(double a, double b)
{
    const double sum = a + b, other = sum - a;
    const double error = (a - (sum - other)) + (b - other);
    const uint64_t bits = sim_double_bits(sum);
    if (error == 0 || error != error || (bits & 1)) return sum;
    /* Even and inexact: the odd neighbour on the error's side. */
    return sim_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* x + y for a result that is rounded by `mode` afterwards: exact for f16, else rounded to odd. Terms that cancel leave -0
 * when rounding down. */
static inline double sim_sum_odd(double x, double y, sim_round mode)
{
    const double sum = sim_add_odd(x, y);
    return sum == 0 && mode == ROUND_DOWN && x == -y && sim_double_bits(x) != sim_double_bits(y) ? -0.0 : sum;
}

static inline double sim_sum(float x, float y, sim_round mode) { return sim_sum_odd((double)x, (double)y, mode); }

/* a * b + c of f16 or bf16 values, fit for one rounding: the product is exact. */
static inline double sim_fma_odd(float a, float b, float c, sim_round mode) { return sim_sum_odd((double)a * (double)b, (double)c, mode); }

/* ------------------------------------------------------------ 8, 6 and 4 bits */

/* A small format. OCP: "OCP 8-bit Floating Point Specification", "OCP Microscaling Formats". FNUZ: the formats of
 * gfx940 (AMD "Instinct MI300 Instruction Set Architecture"): one NaN, 0x80, no infinity, no minus zero. */
typedef struct sim_small {
    uint8_t bits, mantissa, bias;
    uint8_t largest;      /* magnitude of the largest finite number */
    int16_t infinity;     /* its magnitude, or -1 */
    int16_t nan;          /* bits of the NaN that conversions give, or -1: saturates */
    bool fnuz;
} sim_small;

static const sim_small SIM_FP8_OCP = { 8, 3, 7, 0x7e, -1, 0x7f, false };
static const sim_small SIM_BF8_OCP = { 8, 2, 15, 0x7b, 0x7c, 0x7e, false };
static const sim_small SIM_FP8_FNUZ = { 8, 3, 8, 0x7f, -1, 0x80, true };
static const sim_small SIM_BF8_FNUZ = { 8, 2, 16, 0x7f, -1, 0x80, true };
static const sim_small SIM_FP6 = { 6, 3, 1, 0x1f, -1, -1, false };
static const sim_small SIM_BF6 = { 6, 2, 3, 0x1f, -1, -1, false };
static const sim_small SIM_FP4 = { 4, 1, 1, 0x7, -1, -1, false };

/* The value; exact. Also a NaN of the format's sign (quiet, payload 0) or an infinity. */
static inline float sim_small_to_f32(uint32_t code, const sim_small *f)
{
    const uint32_t top = 1u << (f->bits - 1), magnitude = code & (top - 1);
    const uint32_t sign = code & top ? 0x80000000u : 0;
    if (f->fnuz && code == top) return sim_float(0x7fc00000u);
    if (!f->fnuz && f->nan >= 0 && magnitude > f->largest)
        return sim_float((int)magnitude == f->infinity ? sign | 0x7f800000u : sign | 0x7fc00000u);
    const int exponent = (int)(magnitude >> f->mantissa);
    const uint32_t fraction = magnitude & ((1u << f->mantissa) - 1);
    const uint32_t significand = exponent ? fraction | 1u << f->mantissa : fraction;
    const int scale = (exponent ? exponent : 1) - f->bias - f->mantissa;
    return sim_float(sign | sim_float_bits((float)significand * sim_float((uint32_t)(127 + scale) << 23)));
}

/* Rounds to nearest even, or, with `stochastic`, up in magnitude when what is cut off plus random / 2^32 reaches
 * one in the last place (random's leading bits are those that the ISA adds to the mantissa). Overflow, infinities of a format without
 * them: the NaN, or with `clamp` (MODE.FP16_OVFL, or a format without NaN) the largest number. */
static inline uint32_t sim_small_from(double value, const sim_small *f, bool stochastic, uint32_t random, bool clamp)
{
    const uint64_t bits = sim_double_bits(value), magnitude = bits & ~(1ull << 63);
    const uint32_t sign = bits >> 63 ? 1u << (f->bits - 1) : 0;
    const bool saturate = clamp || f->nan < 0;
    if (magnitude > 0x7ff0000000000000ull) return f->nan < 0 ? f->largest : f->fnuz ? (uint32_t)f->nan : sign | (uint32_t)f->nan;
    if (!magnitude) return f->fnuz ? 0 : sign;
    uint64_t r = (uint64_t)f->largest + 1;
    if (magnitude < 0x7ff0000000000000ull) {
        uint64_t rest;
        r = sim_cut(value, f->mantissa, f->bias, &rest);
        r += stochastic ? rest + ((uint64_t)random << 32) < rest : sim_round_away(r, rest, sign != 0, ROUND_NEAREST_EVEN);
    }
    if (r > f->largest) {
        if (f->infinity >= 0 && (!saturate || magnitude == 0x7ff0000000000000ull)) return sign | (uint32_t)f->infinity;
        if (saturate) return sign | f->largest;
        return f->fnuz ? (uint32_t)f->nan : sign | (uint32_t)f->nan;
    }
    return f->fnuz && !r ? 0 : sign | (uint32_t)r;
}

/* ------------------------------------------------------------ to integers: toward zero, clamped, NaN is 0 */

static inline int64_t sim_to_int(double value, int64_t least, int64_t most)
{
    if (value != value) return 0;
    if (value <= (double)least) return least;
    if (value >= (double)most) return most;
    return (int64_t)value;
}

#endif
