/* ref_mma.c - reference of mma: slow, and independent of ptx/lib.
 *
 * Fragments become dense matrices by the index formulas of the PTX ISA. A product under a named
 * model is summed over integers in units of 2^-320 held in 640 bits, so that nothing can be lost but
 * what the model cuts off (products of bf16 and tf32 reach from 2^-272 to 2^256): a term is cut
 * by clearing the bits below 2^(E-F).
 */
#include "ref_mma_number.h"
#include "ref_mma_block.h"
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------ the models */

typedef struct rule {
    int fraction;     /* F */
    int kept;         /* fraction bits of an f32 result */
    int parts;        /* k is split in this many steps */
} rule;

static bool is_fp8(ref_mma_type t) { return t == REF_E4M3 || t == REF_E5M2; }

static rule rule_of(const ref_mma_shape *s, ref_mma_model model)
{
    rule r = {24, 23, 1};
    if (s->f8f6f4)
        return (rule){25, 23, 1};
    const int whole = is_fp8(s->a) ? 16 : s->a == REF_TF32 ? 4 : 8;     /* what older units take at once */
    r.parts = s->k > whole ? s->k / whole : 1;
    if (is_fp8(s->a)) {
        r.fraction = 13;
        r.kept = 13;
    } else if (model == REF_VOLTA) {
        r.fraction = 23;
    }
    if (model == REF_HOPPER || model == REF_BLACKWELL) {
        r.fraction = 25;
        r.kept = 23;
        r.parts = 1;
    }
    return r;
}

/* One fused step over n products. */
static uint32_t fused_step(const ref_operand *a, const ref_operand *b, int n, ref_operand c, bool f32, rule r)
{
    bool nan = c.nan, plus = c.inf && !c.negative, minus = c.inf && c.negative, any = !ref_operand_is_zero(c);
    int top = c.exponent;
    for (int i = 0; i < n; i++) {
        const bool negative = a[i].negative != b[i].negative;
        if (a[i].nan || b[i].nan || (a[i].inf && ref_operand_is_zero(b[i])) || (b[i].inf && ref_operand_is_zero(a[i]))) {
            nan = true;
        } else if (a[i].inf || b[i].inf) {
            if (negative) minus = true; else plus = true;
        } else if (!ref_operand_is_zero(a[i]) && !ref_operand_is_zero(b[i])) {
            const int e = a[i].exponent + b[i].exponent;
            if (!any || e > top)
                top = e;
            any = true;
        }
    }
    if (nan || (plus && minus))
        return f32 ? 0x7fffffffu : 0x7fffu;
    if (plus || minus)
        return f32 ? (plus ? 0x7f800000u : 0xff800000u) : (plus ? 0x7c00u : 0xfc00u);
    ref_fixed sum = ref_fixed_of(c.negative, c.significand, c.scale);
    ref_fixed_cut_below(&sum, top - r.fraction);
    for (int i = 0; i < n; i++) {
        ref_fixed term = ref_fixed_of(a[i].negative != b[i].negative, a[i].significand * b[i].significand, a[i].scale + b[i].scale);
        ref_fixed_cut_below(&term, top - r.fraction);
        ref_fixed_add(&sum, &term);
    }
    if (!f32)
        return ref_fixed_encode(&sum, 10, 5, true);
    return ref_fixed_encode(&sum, r.kept, 8, false) << (23 - r.kept);
}

static float as_float(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static uint32_t float_bits(float f) { uint32_t b; memcpy(&b, &f, 4); return isnan(f) ? 0x7fffffffu : b; }
static float value_of(ref_mma_type type, uint64_t bits)
{
    const ref_operand o = ref_operand_of(type, bits);
    const float size = o.nan ? NAN : o.inf ? INFINITY : ldexpf((float)o.significand, o.scale);
    return o.negative ? -size : size;
}
static uint32_t half_bits(float f)
{
    if (isnan(f))
        return 0x7fff;
    const ref_operand o = ref_operand_of(REF_F32, float_bits(f));
    if (o.inf)
        return o.negative ? 0xfc00 : 0x7c00;
    if (o.significand == 0)
        return o.negative ? 0x8000 : 0;
    const ref_fixed x = ref_fixed_of(o.negative, o.significand, o.scale);
    const uint32_t h = ref_fixed_encode(&x, 10, 5, true);
    return h;
}

/* ptxas widens fp8 to f16 for sm_90: bytes 0 and 1 of each register, then 2 and 3, from zero, and c is added at the end. */
static uint32_t hopper_fp8(const ref_operand *a, const ref_operand *b, int k, uint32_t c, bool f32, rule r)
{
    uint32_t d = 0;
    for (int half = 0; half < 2; half++) {
        ref_operand x[32], y[32];
        int n = 0;
        for (int i = 0; i < k; i++)
            if (i % 4 / 2 == half) {
                x[n] = a[i];
                y[n++] = b[i];
            }
        d = fused_step(x, y, n, ref_operand_of(f32 ? REF_F32 : REF_F16, d), f32, r);
    }
    return f32 ? float_bits(as_float(c) + as_float(d)) : half_bits(value_of(REF_F16, c) + value_of(REF_F16, d));
}

static uint32_t float_element(const ref_mma_shape *s, const uint64_t *a, const uint64_t *b, uint32_t c, ref_mma_model model)
{
    const bool f32 = s->d == REF_F32;
    if (model == REF_IEEE) {
        float sum = value_of(s->c, c);
        for (int k = 0; k < s->k; k++)
            sum = fmaf(value_of(s->a, a[k]), value_of(s->b, b[k]), sum);
        return f32 ? float_bits(sum) : half_bits(sum);
    }
    ref_operand x[32], y[32];
    for (int k = 0; k < s->k; k++) {
        x[k] = ref_operand_of(s->a, a[k]);
        y[k] = ref_operand_of(s->b, b[k]);
    }
    const rule r = rule_of(s, model);
    if (f32 && s->c == REF_F16)
        c = float_bits(value_of(REF_F16, c));
    if (model == REF_HOPPER && is_fp8(s->a) && !s->f8f6f4)
        return hopper_fp8(x, y, s->k, c, f32, r);
    const int n = s->k / r.parts;
    for (int p = 0; p < r.parts; p++)
        c = fused_step(x + p * n, y + p * n, n, ref_operand_of(f32 ? REF_F32 : REF_F16, c), f32, r);
    return c;
}
/* The other roundings by MPFR. */
static uint64_t f64_directed(const uint64_t *a, const uint64_t *b, uint64_t c, int k, ref_rounding rounding)
{
    const char *const fma_name = rounding == REF_RZ ? "fma_rz_f64" : rounding == REF_RM ? "fma_rm_f64" : "fma_rp_f64";
    for (int i = 0; i < k; i++) {
        const uint64_t sources[] = {a[i], b[i], c};
        ref_eval(fma_name, sources, &c);
    }
    return c;
}
static uint64_t f64_element(const uint64_t *a, const uint64_t *b, uint64_t c, int k)
{
    double sum;
    memcpy(&sum, &c, 8);
    for (int i = 0; i < k; i++) {
        double x, y;
        memcpy(&x, &a[i], 8);
        memcpy(&y, &b[i], 8);
        sum = fma(x, y, sum);
    }
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    return isnan(sum) ? 0x7ff8000000000000u : bits;
}
static int64_t integer_of(ref_mma_type t, uint64_t bits)
{
    switch (t) {
    case REF_U8: return (int64_t)(bits & 255);
    case REF_S8: return (int64_t)(bits & 255) - (bits & 128 ? 256 : 0);
    case REF_U4: return (int64_t)(bits & 15);
    case REF_S4: return (int64_t)(bits & 15) - (bits & 8 ? 16 : 0);
    default:     return (int64_t)(bits & 1);
    }
}
static uint32_t integer_element(const ref_mma_shape *s, const uint64_t *a, const uint64_t *b, uint32_t c)
{
    int64_t sum = (int32_t)c;
    for (int k = 0; k < s->k; k++) {
        const int64_t x = integer_of(s->a, a[k]), y = integer_of(s->b, b[k]);
        sum += s->a == REF_B1 ? (s->and_popc ? (x & y) : (x ^ y)) : x * y;
    }
    if (s->satfinite)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)sum;
}

static uint64_t satfinite(ref_mma_type type, uint64_t bits)
{
    const ref_operand o = ref_operand_of(type, bits);
    if (o.nan)
        return 0;
    if (!o.inf)
        return bits;
    return type == REF_F16 ? (o.negative ? 0xfbff : 0x7bff) : o.negative ? 0xff7fffff : 0x7f7fffff;
}

uint64_t ref_mma_element(const ref_mma_shape *s, const uint64_t *a, const uint64_t *b, uint64_t c, ref_mma_model model)
{
    if (s->satfinite && s->d != REF_S32) {
        ref_mma_shape open = *s;
        open.satfinite = false;
        return satfinite(s->d, ref_mma_element(&open, a, b, c, model));
    }
    if (s->a == REF_F64)
        return s->rounding == REF_RN ? f64_element(a, b, c, s->k) : f64_directed(a, b, c, s->k, s->rounding);
    if (s->d == REF_S32)
        return integer_element(s, a, b, (uint32_t)c);
    if (s->c == REF_F32 && s->d == REF_F16) {
        ref_mma_shape wide = *s;
        wide.d = REF_F32;
        return half_bits(as_float(float_element(&wide, a, b, (uint32_t)c, model)));
    }
    return float_element(s, a, b, (uint32_t)c, model);
}

/* ------------------------------------------------------------ fragments */

static int bits_of(ref_mma_type t)
{
    switch (t) {
    case REF_E4M3: case REF_E5M2: case REF_E3M2: case REF_E2M3: case REF_E2M1: case REF_U8: case REF_S8: return 8;
    case REF_U4: case REF_S4: case REF_E2M1X2: return 4;
    case REF_B1: return 1;
    case REF_F16: case REF_BF16: return 16;
    case REF_F64: return 64;
    default: return 32;
    }
}
static ref_mma_type type_of(const ref_mma_shape *s, ref_mma_matrix m, bool result)
{
    return m == REF_MATRIX_A ? s->a : m == REF_MATRIX_B ? s->b : result ? s->d : s->c;
}
static bool is_volta(const ref_mma_shape *s) { return s->m == 8 && s->k == 4 && s->a == REF_F16; }

int ref_mma_per_register(const ref_mma_shape *s, ref_mma_matrix m, bool result)
{
    const int bits = bits_of(type_of(s, m, result));
    return bits >= 32 ? 1 : 32 / bits;
}
int ref_mma_registers(const ref_mma_shape *s, ref_mma_matrix m, bool result)
{
    if (is_volta(s))
        return m != REF_MATRIX_C ? 2 : type_of(s, m, result) == REF_F16 ? 4 : 8;
    const int size = m == REF_MATRIX_A ? s->m * s->k / (s->sparse ? 2 : 1) : m == REF_MATRIX_B ? s->k * s->n : s->m * s->n;
    return size / 32 / ref_mma_per_register(s, m, result);
}

static void place_volta(const ref_mma_shape *s, ref_mma_matrix m, bool f32, int lane, int i, int *row, int *column)
{
    const int upper = lane < 16 ? 0 : 4;
    if (m == REF_MATRIX_A) {
        *row = (s->a_column ? i : lane % 4) + upper;
        *column = s->a_column ? lane % 4 : i;
    } else if (m == REF_MATRIX_B) {
        *row = s->b_row ? lane % 4 : i;
        *column = (s->b_row ? i : lane % 4) + upper;
    } else if (f32) {
        *row = (lane & 1) + (i & 2) + upper;
        *column = (i & 4) + (lane & 2) + (i & 1);
    } else {
        *row = lane % 4 + upper;
        *column = i;
    }
}
void ref_mma_place(const ref_mma_shape *s, ref_mma_matrix m, bool result, int lane, int i, int *row, int *column, int *product)
{
    const int group = lane >> 2, t = lane % 4;
    *product = 0;
    if (is_volta(s)) {
        *product = lane / 4 % 4;
        place_volta(s, m, type_of(s, m, result) == REF_F32, lane, i, row, column);
        return;
    }
    if (m == REF_MATRIX_C) {
        *row = group + (i < 2 ? 0 : 8);
        *column = t * 2 + (i & 1);
        return;
    }
    const int per = ref_mma_per_register(s, m, result);
    const int in = i % per, reg = i / per;
    if (m == REF_MATRIX_A) {
        const int tall = s->m == 16 ? 2 : 1;
        *row = group + (reg % tall ? 8 : 0);
        *column = t * per + in + reg / tall * 4 * per;
    } else {
        *row = t * per + in + reg * 4 * per;
        *column = group;
    }
}

static uint64_t get(const uint64_t (*r)[32], int lane, int i, int bits)
{
    if (bits == 64)
        return r[i][lane];
    const int per = 32 / bits;
    return r[i / per][lane] >> (i % per * bits) & ((1ull << bits) - 1);
}

/* An element of any kind, at a row and a column; a row of a sparse A is its stored half. */
static uint64_t element(const ref_mma_shape *s, const uint64_t *a, const uint64_t *b, uint64_t c, int row, int column, const ref_mma_extra *extra,
                        ref_mma_model model)
{
    uint64_t met[64];
    uint32_t scale_a[4], scale_b[4];
    ref_mma_shape stored = *s;
    if (s->sparse) {
        stored.k /= 2;
        for (int i = 0; i < stored.k; i++)
            met[i] = b[ref_mma_sparse_k(s, extra, row, i)];
        b = met;
    }
    if (!s->scales)
        return ref_mma_element(&stored, a, b, c, model);
    for (int i = 0; i < s->scales; i++) {
        scale_a[i] = ref_mma_scale_a(s, extra, row, i);
        scale_b[i] = ref_mma_scale_b(s, extra, column, i);
    }
    return ref_mma_scaled_element(s, stored.k, a, b, (uint32_t)c, scale_a, scale_b, model);
}

void ref_mma(const ref_mma_shape *s, uint64_t (*d)[32], const uint64_t (*a)[32], const uint64_t (*b)[32], const uint64_t (*c)[32],
             const ref_mma_extra *extra, ref_mma_model model)
{
    static _Thread_local uint64_t A[4][16][256], B[4][8][256], C[4][16][8];     /* rows of A, columns of B */
    int row, column, product;
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < ref_mma_registers(s, REF_MATRIX_A, false) * ref_mma_per_register(s, REF_MATRIX_A, false); i++) {
            ref_mma_place(s, REF_MATRIX_A, false, lane, i, &row, &column, &product);
            A[product][row][column] = get(a, lane, i, bits_of(s->a));
        }
        for (int i = 0; i < ref_mma_registers(s, REF_MATRIX_B, false) * ref_mma_per_register(s, REF_MATRIX_B, false); i++) {
            ref_mma_place(s, REF_MATRIX_B, false, lane, i, &row, &column, &product);
            B[product][column][row] = get(b, lane, i, bits_of(s->b));
        }
        for (int i = 0; i < ref_mma_registers(s, REF_MATRIX_C, false) * ref_mma_per_register(s, REF_MATRIX_C, false); i++) {
            ref_mma_place(s, REF_MATRIX_C, false, lane, i, &row, &column, &product);
            C[product][row][column] = get(c, lane, i, bits_of(s->c));
        }
    }
    const int n = ref_mma_registers(s, REF_MATRIX_C, true), per = ref_mma_per_register(s, REF_MATRIX_C, true);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < n * per; i++) {
            ref_mma_place(s, REF_MATRIX_C, true, lane, i, &row, &column, &product);
            const uint64_t *x = A[product][row], *y = B[product][column], acc = C[product][row][column];
            const uint64_t v = element(s, x, y, acc, row, column, extra, model);
            if (i % per == 0)
                d[i / per][lane] = 0;
            d[i / per][lane] |= v << (i % per * 16);
        }
}
