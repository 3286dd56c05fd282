/* matrix_math.c - the arithmetic of matrix instructions.
 *
 * AMD does not publish it. What is implemented:
 *
 * - gfx90a, gfx942: the models of "MMA-Sim" (arXiv 2511.10909), which its authors found to equal MI200 and MI300 bit for bit.
 *   gfx90a, f16 and bf16: products and a binary tree of f32 sums over 4 products (2 for the bf16 instructions without _1k), added to c;
 *   subnormal inputs and results become zero. gfx942, f16, bf16, xf32 and fp8: products of a group (8, for xf32 4, for fp8 16) are cut
 *   toward zero at 24 bits below the largest exponent and summed exactly; that sum is kept to 31 bits and c to 24 below the larger
 *   exponent, both rounded DOWN; the total is rounded to the nearest f32. For fp8 products of even and odd k are summed apart, then
 *   added rounding down, and a c more than 25 places below is dropped. f32 and f64 are fma chains in k order on both.
 * - gfx950: the rules of gfx942 (a guess: nobody has measured it), OCP fp8.
 * - gfx11, gfx12 (a guess as well): f32 fma after fma in k order with subnormals kept; f16 and bf16 results are rounded once at the end.
 *   This is the model that the project calls `ieee`.
 * - Sparse products: as dense ones over the stored elements (a guess).
 *
 * NaN results are 0x7fc00000.
 */
#include <math.h>
#include "runtime/sim/matrix.h"

/* ------------------------------------------------------------ formats */

static float f32_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

typedef struct format { uint32_t exponent, fraction; int32_t bias; enum { NO_SPECIALS, IEEE, LAST_IS_NAN, FNUZ } specials; } format;

static format format_of(matrix_type type, bool fnuz)
{
    switch (type) {
    case M_F16: return (format){5, 10, 15, IEEE};
    case M_BF16: return (format){8, 7, 127, IEEE};
    case M_FP8: return fnuz ? (format){4, 3, 8, FNUZ} : (format){4, 3, 7, LAST_IS_NAN};
    case M_BF8: return fnuz ? (format){5, 2, 16, FNUZ} : (format){5, 2, 15, IEEE};
    case M_FP6: return (format){2, 3, 1, NO_SPECIALS};
    case M_BF6: return (format){3, 2, 3, NO_SPECIALS};
    case M_FP4: return (format){2, 1, 1, NO_SPECIALS};
    default: return (format){8, 23, 127, IEEE};
    }
}

matrix_number sim_matrix_decode(matrix_type type, bool fnuz, uint32_t bits)
{
    const format f = format_of(type, fnuz);
    if (type == M_XF32) bits &= ~(uint32_t)0x1fff;
    const uint32_t ones = (1u << f.exponent) - 1, e = bits >> f.fraction & ones, m = bits & ((1u << f.fraction) - 1);
    const bool sign = bits >> (f.exponent + f.fraction) & 1;
    matrix_number x = {MATRIX_FINITE, sign, m, 1 - f.bias, (int32_t)f.fraction, 0};
    if (e) {
        x.significand |= 1u << f.fraction;
        x.exponent = (int32_t)e - f.bias;
    }
    if (!x.significand) {
        x.kind = MATRIX_ZERO;
        x.exponent = -126;                 /* a zero takes part in finding the largest exponent so */
        if (f.specials == FNUZ && sign) x.kind = MATRIX_NAN;
    }
    if (f.specials == IEEE && e == ones) x.kind = m ? MATRIX_NAN : MATRIX_INFINITE;
    if (f.specials == LAST_IS_NAN && e == ones && m + 1 == 1u << f.fraction) x.kind = MATRIX_NAN;
    if (type == M_XF32) {                  /* 10 bits of fraction are left */
        x.significand >>= 13;
        x.fraction = 10;
    }
    x.value = ldexpf((float)x.significand, x.exponent - x.fraction);
    if (x.kind == MATRIX_ZERO) x.value = 0;
    if (x.kind == MATRIX_INFINITE) x.value = INFINITY;
    if (x.kind == MATRIX_NAN) x.value = NAN;
    if (sign) x.value = -x.value;
    return x;
}

matrix_number sim_matrix_scale(matrix_number x, int32_t power)
{
    if (x.kind != MATRIX_FINITE) return x;
    x.exponent += power;
    x.value = ldexpf(x.value, power);
    return x;
}

uint32_t sim_matrix_narrow(matrix_type type, float f)
{
    const uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000;
    const float a = fabsf(f);
    if (type == M_BF16) return isnan(f) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    if (isnan(f)) return 0x7e00;
    if (a >= 65520.0f) return sign | 0x7c00;
    if (a < 0x1p-14f) return sign | (uint32_t)nearbyintf(a * 0x1p24f);
    const uint32_t rebased = bits_of(a) - (112u << 23);
    return sign | (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
}

/* ------------------------------------------------------------ rules */

matrix_rule sim_matrix_rule(const sim_matrix *s, const sim_target_info *target)
{
    const bool half = s->a == M_F16 || s->a == M_BF16;
    if (s->family != MATRIX_MFMA || s->a == M_F32) return (matrix_rule){MATRIX_CHAIN, 1};
    if (!strcmp(target->name, "gfx90a")) return (matrix_rule){MATRIX_PAIRWISE, s->a == M_BF16 && !strstr(s->name, "_1k") ? 2 : 4};
    if (half) return (matrix_rule){MATRIX_FUSED, 8};
    return s->a == M_XF32 ? (matrix_rule){MATRIX_FUSED, 4} : (matrix_rule){MATRIX_FUSED_FP8, 16};
}

static float flushed(float f) { return fpclassify(f) == FP_SUBNORMAL ? copysignf(0.0f, f) : f; }

/* A subnormal of the element's own format counts as zero. */
static float pairwise_input(const matrix_number *x)
{
    return x->kind == MATRIX_FINITE && x->significand >> x->fraction == 0 ? 0.0f : x->value;
}

static float pairwise_sum(const matrix_number *a, const matrix_number *b, uint32_t n)
{
    if (n == 1) return flushed(pairwise_input(a) * pairwise_input(b));
    return flushed(pairwise_sum(a, b, n / 2) + pairwise_sum(a + n / 2, b + n / 2, n - n / 2));
}

/* ------------------------------------------------------------ fused dot-add */

/* An exact sum: units × 2^(exponent − 24). */
typedef struct fused_sum { int64_t units; int32_t exponent; } fused_sum;

static int64_t cut(int64_t magnitude, int32_t places)
{
    if (places <= 0) return magnitude << -places;
    return places > 62 ? 0 : magnitude >> places;
}

static int64_t down(int64_t v, int32_t places) { return v >> (places > 62 ? 62 : places); }

static bool too_large(const matrix_number *a, const matrix_number *b) { return fabs((double)a->value * b->value) >= 0x1p128; }

/* Products of every `step`-th element from `first` on. */
static fused_sum sum_of_products(const matrix_number *a, const matrix_number *b, uint32_t n, uint32_t first, uint32_t step)
{
    fused_sum s = {0, INT32_MIN};
    for (uint32_t k = first; k < n; k += step)
        if (!too_large(&a[k], &b[k]) && a[k].exponent + b[k].exponent > s.exponent) s.exponent = a[k].exponent + b[k].exponent;
    for (uint32_t k = first; k < n; k += step) {
        if (too_large(&a[k], &b[k])) continue;
        const int32_t places = s.exponent - a[k].exponent - b[k].exponent + a[k].fraction + b[k].fraction - 24;
        const int64_t term = cut((int64_t)a[k].significand * b[k].significand, places);
        s.units += a[k].negative != b[k].negative ? -term : term;
    }
    return s;
}

static fused_sum add_down(fused_sum x, fused_sum y)
{
    const int32_t e = x.exponent > y.exponent ? x.exponent : y.exponent;
    return (fused_sum){down(x.units, e - x.exponent) + down(y.units, e - y.exponent), e};
}

/* NaN, or an infinity, that inputs or products too large for f32 bring about; 0 if there is none. */
static float special_result(const matrix_number *a, const matrix_number *b, uint32_t n, float c)
{
    double sum = c;
    bool plus = false, minus = false;
    for (uint32_t k = 0; k < n; k++) {
        const double p = (double)a[k].value * b[k].value;
        sum += p;
        plus |= p >= 0x1p128;
        minus |= p <= -0x1p128;
    }
    if (isnan(sum) || (isfinite(sum) && plus && minus)) return NAN;
    if (isinf(sum)) return (float)sum;
    return plus ? INFINITY : minus ? -INFINITY : 0.0f;
}

static float fused_step(const matrix_number *a, const matrix_number *b, uint32_t n, float c, bool fp8)
{
    const float special = special_result(a, b, n, c);
    if (special != 0) return special;
    const matrix_number z = sim_matrix_decode(M_F32, false, bits_of(c));
    fused_sum s;
    if (fp8 && n > 1) s = add_down(sum_of_products(a, b, n, 0, 2), sum_of_products(a, b, n, 1, 2));
    else s = sum_of_products(a, b, n, 0, 1);
    const int32_t e = s.exponent > z.exponent ? s.exponent : z.exponent;
    int64_t addend = (int64_t)z.significand * 2;
    if (z.negative) addend = -addend;
    addend = fp8 && z.exponent < e - 25 ? 0 : down(addend, e - z.exponent);
    return (float)ldexp((double)(down(s.units * 128, e - s.exponent) + addend * 128), e - 31);
}

float sim_matrix_dot(matrix_rule rule, const matrix_number *a, const matrix_number *b, uint32_t k, float c)
{
    float sum = rule.model == MATRIX_PAIRWISE ? flushed(c) : c;
    for (uint32_t at = 0; at < k; at += rule.group) {
        const uint32_t n = k - at < rule.group ? k - at : rule.group;
        switch (rule.model) {
        case MATRIX_CHAIN: sum = fmaf(a[at].value, b[at].value, sum); break;
        case MATRIX_PAIRWISE: sum = flushed(sum + pairwise_sum(a + at, b + at, n)); break;
        case MATRIX_FUSED: sum = fused_step(a + at, b + at, n, sum, false); break;
        case MATRIX_FUSED_FP8: sum = fused_step(a + at, b + at, n, sum, true); break;
        }
    }
    return isnan(sum) ? f32_of(0x7fc00000) : sum;
}
