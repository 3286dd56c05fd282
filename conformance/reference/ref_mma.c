/* ref_mma.c - reference of mma: slow, and independent of ptx/lib.
 *
 * Fragments become dense matrices by the index formulas of the PTX ISA. A product under a named
 * model is summed over integers in units of 2^-320 held in 640 bits, so that nothing can be lost but
 * what the model cuts off (products of bf16 and tf32 reach from 2^-272 to 2^256): a term is cut
 * by clearing the bits below 2^(E-F).
 */
#include "ref_mma.h"
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------ a fixed-point number of 640 bits */

enum { LIMBS = 20, POINT = 320 };   /* value = (-1)^negative · limbs · 2^-POINT */

typedef struct fixed {
    bool negative;
    uint32_t limb[LIMBS];
} fixed;

/* The significand has at most 32 bits. */
static fixed fixed_of(bool negative, uint64_t significand, int exponent)
{
    fixed f;
    memset(&f, 0, sizeof f);
    f.negative = negative;
    const int at = exponent + POINT;
    const uint64_t shifted = significand << at % 32;
    f.limb[at / 32] = (uint32_t)shifted;
    f.limb[at / 32 + 1] = (uint32_t)(shifted >> 32);
    return f;
}
static int fixed_compare(const fixed *a, const fixed *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}
static void fixed_add(fixed *sum, const fixed *x)
{
    if (sum->negative == x->negative) {
        uint64_t carry = 0;
        for (int i = 0; i < LIMBS; i++) {
            carry += (uint64_t)sum->limb[i] + x->limb[i];
            sum->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        return;
    }
    const bool smaller = fixed_compare(sum, x) < 0;
    const fixed big = smaller ? *x : *sum, small = smaller ? *sum : *x;
    int64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        const int64_t v = (int64_t)big.limb[i] - small.limb[i] - borrow;
        borrow = v < 0;
        sum->limb[i] = (uint32_t)v;
    }
    sum->negative = big.negative;
}
static void fixed_cut_below(fixed *f, int exponent)
{
    const int bits = exponent + POINT;
    for (int i = 0; i < LIMBS && i * 32 < bits; i++)
        f->limb[i] &= bits >= i * 32 + 32 ? 0 : 0xffffffffu << (bits - i * 32);
}
/* Exponent of the leading bit; false when zero. */
static bool fixed_leading(const fixed *f, int *exponent)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        for (int bit = 31; f->limb[i] && bit >= 0; bit--)
            if (f->limb[i] >> bit & 1) {
                *exponent = i * 32 + bit - POINT;
                return true;
            }
    return false;
}
static int fixed_bit(const fixed *f, int exponent)
{
    const int bit = exponent + POINT;
    return bit < 0 ? 0 : (int)(f->limb[bit / 32] >> bit % 32 & 1);
}

/* Encodes with `fraction` fraction bits and exponent range of `xbits` bits; rounds to nearest even or cuts. */
static uint32_t fixed_encode(const fixed *f, int fraction, int xbits, bool nearest)
{
    const int bias = (1 << (xbits - 1)) - 1;
    const uint32_t sign = f->negative ? 1u << (fraction + xbits) : 0;
    int lead;
    if (!fixed_leading(f, &lead))
        return 0;
    const int low = (lead < 1 - bias ? 1 - bias : lead) - fraction;    /* weight of the last place */
    uint64_t m = 0;
    for (int e = lead; e >= low; e--)
        m = m << 1 | (uint64_t)fixed_bit(f, e);
    if (nearest && fixed_bit(f, low - 1)) {
        bool more = m & 1;
        for (int e = low - 2; e >= -POINT && !more; e--)
            more = fixed_bit(f, e);
        m += more;
    }
    int field = low + fraction + bias;                                   /* as if normal */
    if (m >> (fraction + 1)) {
        m >>= 1;
        field++;
    }
    if (!(m >> fraction))
        field = 0;                                                         /* subnormal */
    if (field >= 2 * bias + 1)
        return sign | (uint32_t)(2 * bias + 1) << fraction;
    return sign | (uint32_t)field << fraction | (uint32_t)(m & ((1ull << fraction) - 1));
}

/* ------------------------------------------------------------ operands */

typedef struct operand {
    bool negative, nan, inf;
    uint64_t significand;
    int scale;            /* value = significand · 2^scale */
    int exponent;         /* that of the significand's unit place, before any normalising */
} operand;

static operand decode(ref_mma_type type, uint64_t bits)
{
    int fraction, xbits;
    switch (type) {
    case REF_E4M3: fraction = 3; xbits = 4; break;
    case REF_E5M2: fraction = 2; xbits = 5; break;
    case REF_F16:  fraction = 10; xbits = 5; break;
    case REF_BF16: fraction = 7; xbits = 8; break;
    case REF_TF32: fraction = 10; xbits = 8; bits >>= 13; break;
    default:       fraction = 23; xbits = 8; break;
    }
    const int field = (int)(bits >> fraction & ((1u << xbits) - 1)), bias = (1 << (xbits - 1)) - 1;
    const uint64_t part = bits & ((1ull << fraction) - 1);
    operand o;
    memset(&o, 0, sizeof o);
    o.negative = bits >> (fraction + xbits) & 1;
    if (type == REF_E4M3) {
        o.nan = (bits & 0x7f) == 0x7f;
    } else if (field == 2 * bias + 1) {
        o.nan = part != 0;
        o.inf = part == 0;
    }
    o.significand = field == 0 ? part : part + (1ull << fraction);
    o.exponent = field == 0 ? 1 - bias : field - bias;
    o.scale = o.exponent - fraction;
    return o;
}
static bool is_zero(operand o) { return !o.nan && !o.inf && o.significand == 0; }

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
static uint32_t fused_step(const operand *a, const operand *b, int n, operand c, bool f32, rule r)
{
    bool nan = c.nan, plus = c.inf && !c.negative, minus = c.inf && c.negative, any = !is_zero(c);
    int top = c.exponent;
    for (int i = 0; i < n; i++) {
        const bool negative = a[i].negative != b[i].negative;
        if (a[i].nan || b[i].nan || (a[i].inf && is_zero(b[i])) || (b[i].inf && is_zero(a[i]))) {
            nan = true;
        } else if (a[i].inf || b[i].inf) {
            if (negative) minus = true; else plus = true;
        } else if (!is_zero(a[i]) && !is_zero(b[i])) {
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
    fixed sum = fixed_of(c.negative, c.significand, c.scale);
    fixed_cut_below(&sum, top - r.fraction);
    for (int i = 0; i < n; i++) {
        fixed term = fixed_of(a[i].negative != b[i].negative, a[i].significand * b[i].significand, a[i].scale + b[i].scale);
        fixed_cut_below(&term, top - r.fraction);
        fixed_add(&sum, &term);
    }
    if (!f32)
        return fixed_encode(&sum, 10, 5, true);
    return fixed_encode(&sum, r.kept, 8, false) << (23 - r.kept);
}

static float as_float(uint32_t bits) { float f; memcpy(&f, &bits, 4); return f; }
static uint32_t float_bits(float f) { uint32_t b; memcpy(&b, &f, 4); return isnan(f) ? 0x7fffffffu : b; }
static float value_of(ref_mma_type type, uint64_t bits)
{
    const operand o = decode(type, bits);
    const float size = o.nan ? NAN : o.inf ? INFINITY : ldexpf((float)o.significand, o.scale);
    return o.negative ? -size : size;
}
static uint32_t half_bits(float f)
{
    if (isnan(f))
        return 0x7fff;
    const operand o = decode(REF_F32, float_bits(f));
    if (o.inf)
        return o.negative ? 0xfc00 : 0x7c00;
    if (o.significand == 0)
        return o.negative ? 0x8000 : 0;
    const fixed x = fixed_of(o.negative, o.significand, o.scale);
    const uint32_t h = fixed_encode(&x, 10, 5, true);
    return h;
}

/* ptxas widens fp8 to f16 for sm_90: bytes 0 and 1 of each register, then 2 and 3, from zero, and c is added at the end. */
static uint32_t hopper_fp8(const operand *a, const operand *b, int k, uint32_t c, bool f32, rule r)
{
    uint32_t d = 0;
    for (int half = 0; half < 2; half++) {
        operand x[32], y[32];
        int n = 0;
        for (int i = 0; i < k; i++)
            if (i % 4 / 2 == half) {
                x[n] = a[i];
                y[n++] = b[i];
            }
        d = fused_step(x, y, n, decode(f32 ? REF_F32 : REF_F16, d), f32, r);
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
    operand x[32], y[32];
    for (int k = 0; k < s->k; k++) {
        x[k] = decode(s->a, a[k]);
        y[k] = decode(s->b, b[k]);
    }
    const rule r = rule_of(s, model);
    if (f32 && s->c == REF_F16)
        c = float_bits(value_of(REF_F16, c));
    if (model == REF_HOPPER && is_fp8(s->a))
        return hopper_fp8(x, y, s->k, c, f32, r);
    const int n = s->k / r.parts;
    for (int p = 0; p < r.parts; p++)
        c = fused_step(x + p * n, y + p * n, n, decode(f32 ? REF_F32 : REF_F16, c), f32, r);
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

uint64_t ref_mma_element(const ref_mma_shape *s, const uint64_t *a, const uint64_t *b, uint64_t c, ref_mma_model model)
{
    if (s->a == REF_F64)
        return f64_element(a, b, c, s->k);
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
    case REF_E4M3: case REF_E5M2: case REF_U8: case REF_S8: return 8;
    case REF_U4: case REF_S4: return 4;
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
    const int size = m == REF_MATRIX_A ? s->m * s->k : m == REF_MATRIX_B ? s->k * s->n : s->m * s->n;
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

void ref_mma(const ref_mma_shape *s, uint64_t (*d)[32], const uint64_t (*a)[32], const uint64_t (*b)[32], const uint64_t (*c)[32],
             ref_mma_model model)
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
            const uint64_t v = ref_mma_element(s, x, y, acc, model);
            if (i % per == 0)
                d[i / per][lane] = 0;
            d[i / per][lane] |= v << (i % per * 16);
        }
}
