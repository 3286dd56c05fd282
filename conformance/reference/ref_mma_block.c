/* ref_mma_block.c - see ref_mma_block.h. Numbers are exact sums over integers, as in ref_mma.c. */
#include "ref_mma_block.h"

#include "ref_mma_number.h"

/* ------------------------------------------------------------ which elements */

/* How a type's metadata is laid out: the figures "Sparse MMA metadata example" and those of the fragments. */
typedef struct storage {
    int chunk, stored;         /* elements of a chunk of a row, and how many of them are there */
    int pair;                  /* elements that one index chooses together */
    int chunks;                /* of a row in one thread's metadata */
    bool halves;               /* rows g and g + 8 share a thread's metadata; else the next thread has those of row g + 8 */
} storage;

static storage storage_of(ref_mma_type a)
{
    switch (a) {
    case REF_F16: case REF_BF16: return (storage){4, 2, 1, 4, true};
    case REF_TF32: return (storage){2, 1, 1, 4, true};
    case REF_U4: case REF_S4: case REF_E2M1X2: return (storage){8, 4, 2, 8, false};
    default: return (storage){4, 2, 1, 8, false};
    }
}

int ref_mma_sparse_k(const ref_mma_shape *s, const ref_mma_extra *x, int row, int stored)
{
    const storage t = storage_of(s->a);
    const int chunk = stored / t.stored, in = stored % t.stored, threads = t.halves ? 1 : 2;
    /* Threads that hold a row's metadata in all; the selector counts groups of those that take part. */
    const int taking = s->k / t.chunk / t.chunks * threads, first = (int)x->selector * taking;
    const int thread = first + chunk / t.chunks * threads + (!t.halves && row >= 8);
    const int bit = chunk % t.chunks * 4 + (t.halves && row >= 8 ? 16 : 0);
    const uint32_t index = (uint32_t)(x->metadata[row % 8 * 4 + thread] >> bit) & 15;
    if (t.stored == 1)                                      /* tf32: 0b0100 is the first, 0b1110 the second */
        return chunk * 2 + (int)(index >> 1 & 1);
    return chunk * t.chunk + (int)(index >> 2 * (in / t.pair) & 3) * t.pair + in % t.pair;
}

static uint32_t scale_byte(const ref_mma_shape *s, uint64_t word, uint64_t byte, int chunk)
{
    const int first = s->scales == 1 ? (int)(byte & 3) : s->scales == 2 ? (int)(byte & 2) : 0;
    return (uint32_t)(word >> 8 * (first + chunk)) & 255;
}
uint32_t ref_mma_scale_a(const ref_mma_shape *s, const ref_mma_extra *x, int row, int chunk)
{
    const int pair = (int)(x->thread_a[0] & 1);
    return scale_byte(s, x->scale_a[row % 8 * 4 + pair * 2 + row / 8], x->byte_a[0], chunk);
}
uint32_t ref_mma_scale_b(const ref_mma_shape *s, const ref_mma_extra *x, int column, int chunk)
{
    return scale_byte(s, x->scale_b[column * 4 + (int)(x->thread_b[0] & 3)], x->byte_b[0], chunk);
}

/* ------------------------------------------------------------ scaled products */

/* A scale: m · 2^exponent / 2^fraction. */
typedef struct scale {
    bool nan;
    uint64_t m;
    int exponent, fraction;
} scale;

static scale scale_of(bool ue4m3, uint32_t byte)
{
    if (!ue4m3)
        return (scale){byte == 255, 1, (int)byte - 127, 0};
    const ref_operand o = ref_operand_of(REF_E4M3, byte & 127);
    return (scale){o.nan, o.significand, o.exponent, 3};
}

/* One product with its scales. */
typedef struct term {
    bool negative, nan, inf, zero;
    uint64_t significand;
    int unit, exponent;        /* significand · 2^unit; the exponent that counts for E */
} term;

static term term_of(ref_operand a, ref_operand b, scale p, scale q)
{
    term t = {.negative = a.negative != b.negative};
    t.nan = p.nan || q.nan || a.nan || b.nan || (a.inf && ref_operand_is_zero(b)) || (b.inf && ref_operand_is_zero(a));
    t.inf = !t.nan && (a.inf || b.inf);
    t.significand = a.significand * b.significand * p.m * q.m;
    t.zero = t.significand == 0;
    t.exponent = a.exponent + b.exponent + p.exponent + q.exponent;
    t.unit = a.scale + b.scale + p.exponent - p.fraction + q.exponent - q.fraction;
    return t;
}

/* NaN and infinities: true when they decide. */
static bool specials(const term *t, int n, ref_operand c, uint32_t *out)
{
    bool nan = c.nan, plus = c.inf && !c.negative, minus = c.inf && c.negative;
    for (int i = 0; i < n; i++) {
        nan |= t[i].nan;
        plus |= t[i].inf && !t[i].negative;
        minus |= t[i].inf && t[i].negative;
    }
    *out = nan || (plus && minus) ? 0x7fffffffu : plus ? 0x7f800000u : 0xff800000u;
    return nan || plus || minus;
}

static uint32_t cut_sum(const term *t, int n, ref_operand c, int fraction)
{
    int top = c.exponent;                                  /* of a zero c: -126 */
    for (int i = 0; i < n; i++)
        if (!t[i].zero && t[i].exponent > top)
            top = t[i].exponent;
    ref_fixed sum = ref_fixed_of(c.negative, c.significand, c.scale);
    ref_fixed_cut_below(&sum, top - fraction);
    for (int i = 0; i < n; i++) {
        ref_fixed x = ref_fixed_of(t[i].negative, t[i].significand, t[i].unit);
        ref_fixed_cut_below(&x, top - fraction);
        ref_fixed_add(&sum, &x);
    }
    return ref_fixed_encode(&sum, 23, 8, false);
}

/* f32 multiply-adds in the order of k. */
static uint32_t chain(const term *t, int n, uint32_t c)
{
    for (int i = 0; i < n; i++) {
        const ref_operand o = ref_operand_of(REF_F32, c);
        uint32_t special;
        if (specials(&t[i], 1, o, &special)) {
            c = special;
            continue;
        }
        const bool zeros = t[i].zero && ref_operand_is_zero(o);
        ref_fixed sum = ref_fixed_of(t[i].negative, t[i].significand, t[i].unit);
        const ref_fixed x = ref_fixed_of(o.negative, o.significand, o.scale);
        ref_fixed_add(&sum, &x);
        c = zeros ? (t[i].negative && o.negative ? 0x80000000u : 0) : ref_fixed_encode(&sum, 23, 8, true);
    }
    return c;
}

/* Sixteen products of e2m1 added exactly: in quarters, since such a number is a whole number of halves. */
static term group_of(const term *t, scale p, scale q)
{
    int64_t sum = 0;
    term g = {.nan = t[0].nan};
    for (int i = 0; i < 16; i++) {
        const int64_t size = (int64_t)(t[i].significand << (t[i].exponent));
        sum += t[i].negative ? -size : size;
    }
    g.negative = sum < 0;
    g.significand = (uint64_t)(sum < 0 ? -sum : sum) * p.m * q.m;
    g.zero = p.m * q.m == 0;                               /* a sum of zero still has the exponent of its scales */
    g.exponent = p.exponent + q.exponent;
    g.unit = g.exponent - p.fraction - q.fraction - 2;
    return g;
}

uint32_t ref_mma_scaled_element(const ref_mma_shape *s, int n, const uint64_t *a, const uint64_t *b, uint32_t c, const uint32_t *scale_a,
                                const uint32_t *scale_b, ref_mma_model model)
{
    const scale one = {false, 1, 0, 0};
    const ref_operand o = ref_operand_of(REF_F32, c);
    term t[64], groups[4];
    uint32_t special;
    const bool grouped = s->a == REF_E2M1X2 && model != REF_IEEE;
    for (int i = 0; i < n; i++) {
        const int chunk = i * s->scales / n;
        const scale p = scale_of(s->ue4m3, scale_a[chunk]), q = scale_of(s->ue4m3, scale_b[chunk]);
        const ref_operand x = ref_operand_of(s->a, a[i]), y = ref_operand_of(s->b, b[i]);
        t[i] = grouped ? term_of(x, y, one, one) : term_of(x, y, p, q);
        t[i].nan |= p.nan || q.nan;
        if (grouped && i % 16 == 15) {
            groups[i / 16] = group_of(t + i - 15, p, q);
        }
    }
    if (model == REF_IEEE)
        return chain(t, n, c);
    if (specials(t, n, o, &special))
        return special;
    return grouped ? cut_sum(groups, n / 16, o, 35) : cut_sum(t, n, o, 25);
}
