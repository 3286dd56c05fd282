/* mma_fp4.h - products of e2m1, two to a byte, with block scales: .kind::mxf4 and .kind::mxf4nvf4.
 *
 * As MMA-Sim (arXiv 2511.10909, RTX Blackwell) has it: each group of 16 elements is summed exactly, the significands of its two scales multiply
 * the sum, and their exponents are the term's exponent, whatever the size of the sum. Terms and c are cut toward zero to 35 bits below the
 * largest exponent and added exactly; the result is cut to f32. A zero c has the exponent -126; so has, in effect, a zero scale.
 */
#ifndef PXL_MMA_FP4_H
#define PXL_MMA_FP4_H

#include "ptx/lib/mma_int.h"
#include "ptx/lib/mma_sparse.h"

enum { FP4_FRACTION = 35, FP4_GROUPS = 4 };
/* The number and the format of the scales of a row or column: bytes of one word. */
typedef enum pxl_fp4_kind { FP4_2X_UE8M0, FP4_4X_UE8M0, FP4_4X_UE4M3 } pxl_fp4_kind;

/* m eighths of 2^e; e is MMA_SCALE_NAN for NaN. */
typedef struct pxl_fp4_scale {
    int32_t m, e;
} pxl_fp4_scale;

PXL_INLINE pxl_fp4_scale pxl_fp4_scale_of(pxl_fp4_kind kind, uint32_t scales, uint32_t group)
{
    const uint32_t byte = scales >> (8 * (kind == FP4_2X_UE8M0 ? group / 2 : group)) & 0xff;
    if (kind != FP4_4X_UE4M3)
        return (pxl_fp4_scale){8, pxl_scale_ue8m0(byte)};
    const pxl_number n = pxl_number_of(pxl_format_of(MMA_E4M3), byte & 0x7f, 0);      /* the sign does not count */
    return (pxl_fp4_scale){(int32_t)n.m, n.nan ? MMA_SCALE_NAN : n.e};
}
/* The product of two scales: 64ths of 2^e, no exponent when it is zero. */
PXL_INLINE pxl_fp4_scale pxl_fp4_both(pxl_fp4_scale a, pxl_fp4_scale b)
{
    pxl_fp4_scale r = {a.m * b.m, a.e + b.e};
    if (a.e == MMA_SCALE_NAN || b.e == MMA_SCALE_NAN)
        r.e = MMA_SCALE_NAN;
    else if (r.m == 0)
        r.e = MMA_NO_EXPONENT;
    return r;
}
/* Twice the value of an e2m1: 0, 1, 2, 3, 4, 6, 8, 12. */
PXL_INLINE int32_t pxl_fp4_twice(uint32_t code)
{
    const uint32_t f = code & 1, x = code >> 1 & 3, m = x ? (f | 2) << (x - 1) : f;
    return code & 8 ? -(int32_t)m : (int32_t)m;
}
/* The sum of the products of eight elements, in quarters. */
PXL_INLINE int32_t pxl_fp4_word(uint32_t a, uint32_t b)
{
    int32_t sum = 0;
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < 8; i++) {
        sum += pxl_fp4_twice(a) * pxl_fp4_twice(b);
        a >>= 4;
        b >>= 4;
    }
    return sum;
}
/* ±m · 2^(e - fraction), cut to F bits below 2^top. */
PXL_INLINE int64_t pxl_cut_wide(uint64_t m, int32_t e, int32_t fraction, bool negative, int32_t top)
{
    const int32_t s = top - e;
    const uint64_t t = s > 63 ? 0 : m << (FP4_FRACTION - fraction) >> s;
    return negative ? -(int64_t)t : (int64_t)t;
}

/* f32 multiply-adds in the order of k, each with its scaled product: exact in f64 before the addition. */
PXL_INLINE uint32_t pxl_fp4_ieee(pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, const pxl_fp4_scale scale[FP4_GROUPS])
{
    float sum = pxl_bits_f32(c);
    pxl_u32x4 a = a0, b = b0;
#pragma clang loop unroll(disable)
    for (uint32_t w = 0; w < 8; w++) {
        if (w == 4) { a = a1; b = b1; }
        const pxl_fp4_scale s = scale[w / 2];
        const double unit = s.m ? (double)s.m * pxl_power_of_two(s.e - 8) : 0;
        uint32_t x = a.x, y = b.x;
#pragma clang loop unroll(disable)
        for (uint32_t i = 0; i < 8; i++) {
            const double size = (double)(pxl_fp4_twice(x & 7) * pxl_fp4_twice(y & 7)) * unit;
            sum = pxl_add_once((x ^ y) & 8 ? -size : size, sum);   /* a product of -0 keeps its sign: it decides that of a sum of zeros */
            x >>= 4;
            y >>= 4;
        }
        a = a.yzwx;
        b = b.yzwx;
    }
    return pxl_f32_bits(sum);
}

/* One element of D. a0, a1 and b0, b1: 32 elements each of a row and a column. */
PXL_NOINLINE uint32_t pxl_fp4_dot(pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, uint32_t scales_a, uint32_t scales_b,
                                  uint32_t kind, bool ieee)
{
    const pxl_number n = pxl_number_of(pxl_format_of_c(true), c, 0);
    pxl_fp4_scale scale[FP4_GROUPS];
    int32_t top = n.m ? n.e : -126;
    bool nan = n.nan;
#pragma clang loop unroll(full)
    for (uint32_t g = 0; g < FP4_GROUPS; g++) {
        scale[g] = pxl_fp4_both(pxl_fp4_scale_of((pxl_fp4_kind)kind, scales_a, g), pxl_fp4_scale_of((pxl_fp4_kind)kind, scales_b, g));
        nan |= scale[g].e == MMA_SCALE_NAN;
        top = scale[g].e > top ? scale[g].e : top;
    }
    if (nan)
        return MMA_NAN32;
    if (n.infinite)
        return c;
    if (ieee)
        return pxl_fp4_ieee(a0, b0, a1, b1, c, scale);
    const int32_t sums[FP4_GROUPS] = {pxl_fp4_word(a0.x, b0.x) + pxl_fp4_word(a0.y, b0.y), pxl_fp4_word(a0.z, b0.z) + pxl_fp4_word(a0.w, b0.w),
                                      pxl_fp4_word(a1.x, b1.x) + pxl_fp4_word(a1.y, b1.y), pxl_fp4_word(a1.z, b1.z) + pxl_fp4_word(a1.w, b1.w)};
    int64_t sum = pxl_cut_wide(n.m, n.e, 23, n.negative, top);
#pragma clang loop unroll(full)
    for (uint32_t g = 0; g < FP4_GROUPS; g++) {
        const uint32_t size = (uint32_t)(sums[g] < 0 ? -sums[g] : sums[g]);
        sum += pxl_cut_wide(size * (uint32_t)scale[g].m, scale[g].e, 8, sums[g] < 0, top);
    }
    return pxl_cut_f32(sum, top - FP4_FRACTION, 23);
}

#if PXL_WIDTH == 32

/* The same by way of pxl_fp4_dot. */
PXL_NOINLINE void pxl_fp4_plain(const pxl_mma_job *j, const uint32_t scales_a[16], const uint32_t scales_b[8], pxl_fp4_kind kind, const pxl_tile *c,
                                pxl_tile *d, bool ieee)
{
    for (uint32_t r = 0; r < 16; r++)
        for (uint32_t n = 0; n < 8; n++) {
            pxl_u32x4 a[2], b[2];
            pxl_mma_words(j, r, n, a, b);
            d->at[r][n] = pxl_fp4_dot(a[0], b[0], a[1], b[1], c->at[r][n], scales_a[r], scales_b[n], kind, ieee);
        }
}

typedef struct pxl_fp4_columns {
    pxl_v8s m[FP4_GROUPS], e[FP4_GROUPS];
    bool nan;
} pxl_fp4_columns;

PXL_INLINE pxl_fp4_columns pxl_fp4_take_scales(pxl_fp4_kind kind, const uint32_t scales[8])
{
    pxl_fp4_columns o = {.nan = false};
    for (uint32_t g = 0; g < FP4_GROUPS; g++)
        for (uint32_t n = 0; n < 8; n++) {
            const pxl_fp4_scale s = pxl_fp4_scale_of(kind, scales[n], g);
            o.m[g][n] = s.m;
            o.e[g][n] = s.e;
            o.nan |= s.e == MMA_SCALE_NAN;
        }
    return o;
}
/* x · 2^by toward zero; |x| < 2^32. */
PXL_INLINE pxl_v8d pxl_scale_and_cut(pxl_v8s x, pxl_v8s by)
{
    const pxl_v8l exponent = __builtin_convertvector(__builtin_elementwise_max(by, (pxl_v8s)-200) + 1023, pxl_v8l);
    return __builtin_elementwise_trunc(__builtin_convertvector(x, pxl_v8d) * (pxl_v8d)(exponent << 52));
}
/* A row of D: sums are those of its groups, in quarters. */
PXL_INLINE pxl_v8u pxl_fp4_row(const pxl_v8s sums[FP4_GROUPS], const pxl_fp4_scale scale[FP4_GROUPS], const pxl_fp4_columns *columns, pxl_v8u c)
{
    const pxl_parts p = pxl_take_c(c, true);
    pxl_v8s top = __builtin_elementwise_max(p.e, (pxl_v8s)-126), e[FP4_GROUPS], m[FP4_GROUPS];
    for (uint32_t g = 0; g < FP4_GROUPS; g++) {
        m[g] = columns->m[g] * scale[g].m;
        e[g] = m[g] == 0 ? (pxl_v8s)MMA_NO_EXPONENT : columns->e[g] + scale[g].e;
        top = __builtin_elementwise_max(top, e[g]);
    }
    const pxl_v8s sign = (pxl_v8s)c >> 31;
    pxl_v8d sum = pxl_scale_and_cut((p.m ^ sign) - sign, p.e - top + (FP4_FRACTION - 23));
    for (uint32_t g = 0; g < FP4_GROUPS; g++)
        sum += pxl_scale_and_cut(sums[g] * m[g], e[g] - top + (FP4_FRACTION - 8));
    const pxl_mma_rule rule = {.fraction = FP4_FRACTION, .keep = 23};
    return pxl_finish(sum, top, true, rule);
}

/* The ieee chain over f32: a number times its scale is exact in it, unless the scale is 2^126 or 2^127. */
typedef struct pxl_fp4_floats {
    pxl_mma_floats of[2];               /* the low and the high nibbles of bytes */
} pxl_fp4_floats;

PXL_INLINE float pxl_fp4_factor(pxl_fp4_kind kind, uint32_t scales, uint32_t group, bool *fit)
{
    const pxl_fp4_scale s = pxl_fp4_scale_of(kind, scales, group);
    if (s.e == MMA_SCALE_NAN)
        return pxl_bits_f32(MMA_NAN32);
    *fit &= s.e <= 125;
    return (float)s.m * 0.125f * pxl_scale_float(s.e);
}
/* Nibbles of one side where e2m1 has its bits in a byte. */
PXL_INLINE void pxl_fp4_spread(const pxl_mma_job *j, uint32_t high, pxl_mma_floats *o)
{
    uint32_t words[8][32];
    pxl_mma_job half = *j;
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t *from = i < 4 ? j->a[i] : j->b[i - 4];
        for (uint32_t k = 0; from && k < 32; k++)
            words[i][k] = (from[k] >> 4 * high & 0x0f0f0f0fu) << 2;
        *(i < 4 ? &half.a[i] : &half.b[i - 4]) = words[i];
    }
    pxl_values_a_e2m1(o, &half);
    pxl_values_b_e2m1(o, &half);
}
/* Two words of A's register are a group, and what they meet of B: two words, or four of a sparse product. */
PXL_INLINE bool pxl_fp4_scale_floats(const pxl_mma_job *j, const uint32_t scales_a[16], const uint32_t scales_b[8], pxl_fp4_kind kind, pxl_fp4_floats *o)
{
    bool fit = true;
    for (uint32_t g = 0; g < FP4_GROUPS; g++) {
        pxl_v8f columns;
        for (uint32_t n = 0; n < 8; n++)
            columns[n] = pxl_fp4_factor(kind, scales_b[n], g, &fit);
        for (uint32_t k = 0; k < pxl_b_registers(j) * 16; k++)
            for (uint32_t half = 0; half < 2 && (j->sparse ? k / 16 : k / 16 * 2 + k % 4 / 2) == g; half++)
                o->of[half].b[k] *= columns;
        for (uint32_t r = 0; r < 16; r++) {
            const float row = pxl_fp4_factor(kind, scales_a[r], g, &fit);
            for (uint32_t i = 0; i < 8; i++)
                for (uint32_t half = 0; half < 2; half++)
                    o->of[half].a[r][g / 2 * 16 + i / 2 * 4 + g % 2 * 2 + i % 2] *= row;
        }
    }
    return fit;
}
PXL_INLINE void pxl_fp4_chain(const pxl_fp4_floats *o, const uint8_t chosen[16][32], uint32_t row, const pxl_tile *c, pxl_tile *d)
{
    pxl_v8f sum[8];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < 8; r++)
        sum[r] = pxl_tile_row(c, row + r, true);
    for (uint32_t k = 0; k < 64; k++) {
        /* Slab, word, byte, nibble. */
        const uint32_t at = k / 32 * 16 + k / 2 % 4 * 4 + k / 8 % 4;
        const pxl_mma_floats *x = &o->of[k % 2];
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++)
            sum[r] = pxl_fma8(x->a[row + r][at], x->b[chosen[row + r][at]], sum[r]);
    }
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < 8; r++)
        pxl_set_tile_row(d, row + r, true, sum[r]);
}
PXL_NOINLINE void pxl_fp4_ieee_tile(const pxl_mma_job *j, const uint32_t scales_a[16], const uint32_t scales_b[8], pxl_fp4_kind kind, const pxl_tile *c,
                                    pxl_tile *d)
{
    pxl_fp4_floats o;
    uint8_t chosen[16][32];
    pxl_fp4_spread(j, 0, &o.of[0]);
    pxl_fp4_spread(j, 1, &o.of[1]);
    if (!pxl_fp4_scale_floats(j, scales_a, scales_b, kind, &o)) {
        pxl_fp4_plain(j, scales_a, scales_b, kind, c, d, true);
        return;
    }
    if (j->sparse)
        pxl_choose(j->sparse, 16, chosen);
    for (uint32_t r = 0; r < 16 && !j->sparse; r++)
        for (uint32_t k = 0; k < 32; k++)
            chosen[r][k] = (uint8_t)k;
    pxl_fp4_chain(&o, chosen, 0, c, d);
    pxl_fp4_chain(&o, chosen, 8, c, d);
}

PXL_NOINLINE void pxl_fp4_tile(const pxl_mma_job *j, const uint32_t scales_a[16], const uint32_t scales_b[8], pxl_fp4_kind kind, const pxl_tile *c,
                               pxl_tile *d, bool ieee)
{
    if (ieee) {
        pxl_fp4_ieee_tile(j, scales_a, scales_b, kind, c, d);
        return;
    }
    const pxl_fp4_columns columns = pxl_fp4_take_scales(kind, scales_b);
    pxl_pairs o;
    pxl_v8s special = 0;
    bool nan = columns.nan;
    pxl_take_pairs(&o, j);
    for (uint32_t r = 0; r < 16; r++) {
        pxl_fp4_scale scale[FP4_GROUPS];
        pxl_v8s sums[FP4_GROUPS];
        for (uint32_t g = 0; g < FP4_GROUPS; g++) {
            scale[g] = pxl_fp4_scale_of(kind, scales_a[r], g);
            nan |= scale[g].e == MMA_SCALE_NAN;
            /* 16 elements: two words of a slab, that is every pair (in, word) with two of its four words. */
            sums[g] = 0;
            for (uint32_t k = 0; k < 8; k++)
                sums[g] += pxl_pair_product(&o, r, g / 2 * 16 + k / 2 * 4 + g % 2 * 2 + k % 2);
        }
        const pxl_v8u bits = pxl_load8(c->at[r]);
        special |= pxl_take_c(bits, true).special;
        pxl_store8(d->at[r], pxl_fp4_row(sums, scale, &columns, bits));
    }
    if (nan || pxl_any(special))
        pxl_fp4_plain(j, scales_a, scales_b, kind, c, d, false);
}

#endif
#endif
