/* mma_fp8.h - fp8 products with F = 13 (Ada's rule) in 16-bit lanes of AVX2.
 *
 * A product of two fp8 significands has at most 8 bits, so with 14 fractional bits it fits 16
 * bits unsigned, and cutting it to 13 bits below 2^E is a right shift by 1 + E - e in
 * 16-bit lanes. AVX2 has no such shift; it is a multiplication by 2^(15 - (E - e)), of which the
 * upper half is kept. The bytes of that power of two are looked up by e - E + 15, an index
 * below zero reading as zero, and interleaved.
 *
 * A dword holds two neighbouring k of one column, eight dwords the columns of D. A register has two such pairs,
 * bytes 0 and 1 and bytes 2 and 3. Exponents stay bytes: in each 128-bit half those of pair 0 of four columns, then
 * those of pair 1, so that interleaving makes the two dwords. The signs of two k of A choose among four
 * variants of B's signs, which a multiply-add of 16-bit pairs applies.
 */
#ifndef PXL_MMA_FP8_H
#define PXL_MMA_FP8_H

#include "ptx/lib/mma_wide.h"

#if defined(__AVX2__) && defined(__F16C__)

enum {
    FP8_ZERO = -44,   /* exponent of a zero: below every product (-28) even when added to the largest (15) */
    FP8_TOP = 50,     /* E is clamped to it for the products; they are cut to nothing long before */
};

/* One slab of A: by register word, pair and row. */
typedef struct pxl_fp8_a {
    _Alignas(64) uint8_t exponent[4][16][16];      /* [word][row]: both pairs four times */
    uint32_t significand[2][16][4];                /* [pair][row][word] */
    uint16_t sign[16][4][2];                       /* [row][word][pair]: offset of the variant of B's signs */
} pxl_fp8_a;
/* One slab of B: eight columns in each vector. */
typedef struct pxl_fp8_b {
    __m256i exponent[4], significand[2][4];
    __m256i sign[2][4][4];                         /* [pair][variant][word] */
} pxl_fp8_b;

typedef struct pxl_fp8_parts {
    __m256i exponent, significand;
} pxl_fp8_parts;

/* A byte shuffle that is the same in both halves. */
#define PXL_BYTES(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))
enum { Z = -128 };   /* a zero byte */

/* 32 operands taken apart, bytewise; `largest` gathers the largest magnitude, to find NaN and infinities. */
PXL_INLINE pxl_fp8_parts pxl_fp8_take_apart(bool e5m2, __m256i x, __m256i *largest)
{
    const __m256i body = _mm256_and_si256(x, _mm256_set1_epi8(0x7f)), zero = _mm256_setzero_si256();
    pxl_fp8_parts p;
    if (e5m2) {
        const __m256i field = _mm256_and_si256(_mm256_srli_epi16(x, 2), _mm256_set1_epi8(31));
        const __m256i subnormal = _mm256_cmpeq_epi8(field, zero);
        p.significand = _mm256_or_si256(_mm256_and_si256(x, _mm256_set1_epi8(3)), _mm256_andnot_si256(subnormal, _mm256_set1_epi8(4)));
        /* field - 15, a subnormal's being one more. */
        p.exponent = _mm256_sub_epi8(_mm256_sub_epi8(field, subnormal), _mm256_set1_epi8(15));
    } else {
        const __m256i field = _mm256_and_si256(_mm256_srli_epi16(x, 3), _mm256_set1_epi8(15));
        const __m256i hidden = _mm256_setr_epi8(0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8);
        const __m256i exponent = _mm256_setr_epi8(-6, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, -6, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8);
        p.significand = _mm256_or_si256(_mm256_and_si256(x, _mm256_set1_epi8(7)), _mm256_shuffle_epi8(hidden, field));
        p.exponent = _mm256_shuffle_epi8(exponent, field);
    }
    p.exponent = _mm256_blendv_epi8(p.exponent, _mm256_set1_epi8(FP8_ZERO), _mm256_cmpeq_epi8(body, zero));
    *largest = _mm256_max_epu8(*largest, body);
    return p;
}
PXL_INLINE __m256i pxl_fp8_take_a(pxl_fp8_a *o, bool e5m2, const uint32_t *top, const uint32_t *bottom, int up)
{
    __m256i largest = _mm256_setzero_si256();
    const __m128i shift = _mm_cvtsi32_si128(up - 8);
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < 16; r += 2) {
        const __m256i x = _mm256_load_si256((const __m256i *)(r < 8 ? top + 4 * r : bottom + 4 * (r - 8)));
        const pxl_fp8_parts p = pxl_fp8_take_apart(e5m2, x, &largest);
        _mm256_store_si256((__m256i *)o->exponent[0][r], _mm256_shuffle_epi8(p.exponent, PXL_BYTES(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3)));
        _mm256_store_si256((__m256i *)o->exponent[1][r], _mm256_shuffle_epi8(p.exponent, PXL_BYTES(4, 5, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 6, 7)));
        _mm256_store_si256((__m256i *)o->exponent[2][r], _mm256_shuffle_epi8(p.exponent, PXL_BYTES(8, 9, 8, 9, 8, 9, 8, 9, 10, 11, 10, 11, 10, 11, 10, 11)));
        _mm256_store_si256((__m256i *)o->exponent[3][r], _mm256_shuffle_epi8(p.exponent, PXL_BYTES(12, 13, 12, 13, 12, 13, 12, 13, 14, 15, 14, 15, 14, 15, 14, 15)));
        const __m256i s0 = _mm256_shuffle_epi8(p.significand, PXL_BYTES(Z, 0, Z, 1, Z, 4, Z, 5, Z, 8, Z, 9, Z, 12, Z, 13));
        const __m256i s1 = _mm256_shuffle_epi8(p.significand, PXL_BYTES(Z, 2, Z, 3, Z, 6, Z, 7, Z, 10, Z, 11, Z, 14, Z, 15));
        _mm256_store_si256((__m256i *)o->significand[0][r], _mm256_sll_epi16(s0, shift));
        _mm256_store_si256((__m256i *)o->significand[1][r], _mm256_sll_epi16(s1, shift));
        /* 128 for a negative first k, 256 for a negative second. */
        const __m256i negative = _mm256_and_si256(x, _mm256_set1_epi8(-128));
        _mm256_store_si256((__m256i *)o->sign[r], _mm256_maddubs_epi16(negative, _mm256_set1_epi16(0x0201)));
    }
    return _mm256_cmpgt_epi8(largest, _mm256_set1_epi8(e5m2 ? 0x7b : 0x7e));
}
/* ±1 by the signs of 16-bit lanes, in the four variants. */
PXL_INLINE void pxl_sign_variants(__m256i to[4][4], uint32_t w, __m256i x)
{
    const __m256i sign = _mm256_or_si256(_mm256_srai_epi16(x, 15), _mm256_set1_epi16(1));
    to[0][w] = sign;
    to[1][w] = _mm256_sign_epi16(sign, _mm256_set1_epi32(0x0001ffff));
    to[2][w] = _mm256_sign_epi16(sign, _mm256_set1_epi32((int)0xffff0001));
    to[3][w] = _mm256_sub_epi16(_mm256_setzero_si256(), sign);
}
PXL_INLINE __m256i pxl_fp8_take_b(pxl_fp8_b *o, bool e5m2, const uint32_t *b)
{
    pxl_v8u word[4];
    pxl_transpose_b(b, word);
    __m256i largest = _mm256_setzero_si256();
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4; w++) {
        const __m256i x = (__m256i)word[w];
        const pxl_fp8_parts p = pxl_fp8_take_apart(e5m2, x, &largest);
        const __m256i pair0 = PXL_BYTES(Z, 0, Z, 1, Z, 4, Z, 5, Z, 8, Z, 9, Z, 12, Z, 13), pair1 = PXL_BYTES(Z, 2, Z, 3, Z, 6, Z, 7, Z, 10, Z, 11, Z, 14, Z, 15);
        o->exponent[w] = _mm256_shuffle_epi8(p.exponent, PXL_BYTES(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
        o->significand[0][w] = _mm256_shuffle_epi8(p.significand, PXL_BYTES(0, Z, 1, Z, 4, Z, 5, Z, 8, Z, 9, Z, 12, Z, 13, Z));
        o->significand[1][w] = _mm256_shuffle_epi8(p.significand, PXL_BYTES(2, Z, 3, Z, 6, Z, 7, Z, 10, Z, 11, Z, 14, Z, 15, Z));
        pxl_sign_variants(o->sign[0], w, _mm256_shuffle_epi8(x, pair0));
        pxl_sign_variants(o->sign[1], w, _mm256_shuffle_epi8(x, pair1));
    }
    return _mm256_cmpgt_epi8(largest, _mm256_set1_epi8(e5m2 ? 0x7b : 0x7e));
}

/* Hides how x was made: otherwise clang subtracts `top` and adds the constant anew for every word. */
PXL_INLINE __m256i pxl_opaque(__m256i x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}
/* Keeps clang from loading B before the loop over rows, only to spill it. */
PXL_INLINE void pxl_load_again(void)
{
    __asm__ volatile("" ::: "memory");
}

/* The exponents of row r's products. Returns the largest of each column, in both bytes of 16-bit lanes: in each half those of its
 * four columns twice. */
PXL_INLINE __m256i pxl_fp8_exponents(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t r, __m256i e[4])
{
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4; w++)
        e[w] = _mm256_add_epi8(_mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)a->exponent[w][r])), b->exponent[w]);
    const __m256i m = _mm256_max_epi8(_mm256_max_epi8(e[0], e[1]), _mm256_max_epi8(e[2], e[3]));
    const __m256i n = _mm256_max_epi8(m, _mm256_shuffle_epi8(m, PXL_BYTES(1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)));
    return _mm256_max_epi8(n, _mm256_shuffle_epi32(n, 0x4e));
}
/* Those as the upper bytes of the columns' dwords. */
PXL_INLINE __m256i pxl_fp8_columns(__m256i top)
{
    return _mm256_shuffle_epi8(top, PXL_BYTES(Z, Z, Z, 0, Z, Z, Z, 2, Z, Z, Z, 4, Z, Z, Z, 6));
}
/* The cut products of row r, added to `sum`; `base` is E - 15 in every byte. */
PXL_INLINE __m256i pxl_fp8_products(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t r, const __m256i e[4], __m256i base, __m256i sum)
{
    const __m256i low = PXL_BYTES(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), high = PXL_BYTES(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128);
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4; w++) {
        const __m256i index = _mm256_sub_epi8(e[w], base), l = _mm256_shuffle_epi8(low, index), h = _mm256_shuffle_epi8(high, index);
        const __m256i power[2] = {_mm256_unpacklo_epi8(l, h), _mm256_unpackhi_epi8(l, h)};
#pragma clang loop unroll(full)
        for (uint32_t p = 0; p < 2; p++) {
            const __m256i product = _mm256_mullo_epi16(_mm256_set1_epi32((int)a->significand[p][r][w]), b->significand[p][w]);
            const __m256i *sign = (const __m256i *)((const char *)&b->sign[p][0][w] + a->sign[r][w][p]);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_mulhi_epu16(product, power[p]), *sign));
        }
    }
    return sum;
}

/* 2^(13 - E) in f32, for E in -113 to 126, from E in the upper byte (and zeros). */
PXL_INLINE __m256 pxl_to_units(__m256i top)
{
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32((127 + 13) << 23), _mm256_srai_epi32(top, 1)));
}
/* The reciprocal of such a power of two. */
PXL_INLINE __m256 pxl_from_units(__m256 units)
{
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(254 << 23), _mm256_castps_si256(units)));
}

/* E of a row's columns, where its c have the exponents ec. */
PXL_INLINE __m256i pxl_fp8_row_top(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t row, const uint16_t ec[8], __m256i e[4])
{
    const __m256i spread = _mm256_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14, 8, 8, 10, 10, 12, 12, 14, 14);
    const __m256i c = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)ec)), spread);
    return _mm256_max_epi8(pxl_fp8_exponents(a, b, row, e), c);
}

/* f16 accumulators: c and d are 8 rows of 8 f16. Returns nonzero lanes where c is NaN or infinite.
 * c is cut by the conversion to integer: it is exact in f32 in units of 2^(E-13). */
PXL_INLINE __m256i pxl_fp8_rows_f16(const pxl_fp8_a *a, const pxl_fp8_b *b, bool low_exponents, uint32_t row, const uint16_t *c, uint16_t *d)
{
    __m256i special = _mm256_setzero_si256();
    _Alignas(32) uint16_t exponent[8][8];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < 8; r += 2) {
        const __m256i x = _mm256_and_si256(_mm256_load_si256((const __m256i *)(c + 8 * r)), _mm256_set1_epi16(0x7fff));
        special = _mm256_or_si256(special, _mm256_cmpgt_epi16(x, _mm256_set1_epi16(0x7bff)));
        __m256i e = _mm256_max_epi16(_mm256_srli_epi16(x, 10), _mm256_set1_epi16(1));
        e = _mm256_sub_epi8(e, _mm256_set1_epi16(15));
        /* A zero may not set E. Unless products reach below 2^-14 the field of 0 does no harm. */
        if (low_exponents)
            e = _mm256_blendv_epi8(e, _mm256_set1_epi16(2 * FP8_ZERO), _mm256_cmpeq_epi16(x, _mm256_setzero_si256()));
        _mm256_store_si256((__m256i *)exponent[r], e);
    }
    /* A row's products wait for its largest exponent: that of the next row is found beforehand, or they would fill the processor's queues. */
    __m256i e[4], top = pxl_fp8_row_top(a, b, row, exponent[0], e);
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < 8; r++) {
        pxl_load_again();
        const uint32_t after = (r + 1) & 7;
        __m256i next[4];
        __m256i next_top = pxl_fp8_row_top(a, b, row + after, exponent[after], next);
        __asm__ volatile("" : "+x"(next_top), "+x"(next[0]), "+x"(next[1]), "+x"(next[2]), "+x"(next[3]));     /* not later than this */
        const __m256 units = pxl_to_units(pxl_fp8_columns(top));
        const __m256 cf = _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(c + 8 * r)));
        const __m256i sum = pxl_fp8_products(a, b, row + r, e, pxl_opaque(_mm256_sub_epi8(top, _mm256_set1_epi8(15))), _mm256_cvttps_epi32(_mm256_mul_ps(cf, units)));
        _mm_store_si128((__m128i *)(d + 8 * r), _mm256_cvtps_ph(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), pxl_from_units(units)), 0));
        top = next_top;
        for (uint32_t w = 0; w < 4; w++)
            e[w] = next[w];
    }
    return special;
}

/* f32 accumulators, in the four registers of C and D: `even` columns and `odd` ones. */
PXL_INLINE __m256i pxl_fp8_rows_f32(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t row, const float *even, const float *odd,
                                    float *d_even, float *d_odd)
{
    __m256i special = _mm256_setzero_si256();
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < 8; r++) {
        const __m128i c0 = _mm_load_si128((const __m128i *)(even + 4 * r)), c1 = _mm_load_si128((const __m128i *)(odd + 4 * r));
        const __m256i x = _mm256_set_m128i(_mm_unpackhi_epi32(c0, c1), _mm_unpacklo_epi32(c0, c1));
        const __m256i field = _mm256_and_si256(_mm256_srli_epi32(x, 23), _mm256_set1_epi32(255));
        const __m256i zero = _mm256_cmpeq_epi32(_mm256_add_epi32(x, x), _mm256_setzero_si256());
        const __m256i ec = _mm256_sub_epi32(_mm256_max_epi16(field, _mm256_set1_epi32(1)), _mm256_set1_epi32(127));
        __m256i e[4];
        __m256i top = _mm256_srai_epi32(pxl_fp8_columns(pxl_fp8_exponents(a, b, row + r, e)), 24);
        /* No product at all: only c counts. */
        top = _mm256_blendv_epi8(top, _mm256_set1_epi32(-1000), _mm256_cmpgt_epi32(_mm256_set1_epi32(-28), top));
        top = _mm256_max_epi32(top, ec);
        const __m256i clamped = _mm256_max_epi32(_mm256_min_epi32(top, _mm256_set1_epi32(FP8_TOP)), _mm256_set1_epi32(2 * FP8_ZERO));
        const __m256i base = pxl_opaque(_mm256_sub_epi8(_mm256_shuffle_epi8(clamped, PXL_BYTES(0, 0, 4, 4, 8, 8, 12, 12, 0, 0, 4, 4, 8, 8, 12, 12)), _mm256_set1_epi8(15)));
        /* Below 2^-100 the result may be subnormal, which the scaling would round: left to the plain form, like NaN. */
        special = _mm256_or_si256(special, _mm256_cmpeq_epi32(field, _mm256_set1_epi32(255)));
        special = _mm256_or_si256(special, _mm256_andnot_si256(zero, _mm256_cmpgt_epi32(_mm256_set1_epi32(-100), top)));
        const __m256i limited = _mm256_max_epi32(_mm256_min_epi32(top, _mm256_set1_epi32(126)), _mm256_set1_epi32(-100));
        const __m256 units = pxl_to_units(_mm256_slli_epi32(limited, 24));
        const __m256i sum = pxl_fp8_products(a, b, row + r, e, base, _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_castsi256_ps(x), units)));
        const __m256 keep = _mm256_castsi256_ps(_mm256_set1_epi32(~0x3ff));
        const __m256 v = _mm256_mul_ps(_mm256_and_ps(_mm256_cvtepi32_ps(sum), keep), pxl_from_units(units));
        const __m128 lo = _mm256_castps256_ps128(v), hi = _mm256_extractf128_ps(v, 1);
        _mm_store_ps(d_even + 4 * r, _mm_shuffle_ps(lo, hi, 0x88));
        _mm_store_ps(d_odd + 4 * r, _mm_shuffle_ps(lo, hi, 0xdd));
    }
    return special;
}

/* What an fp8 mma with F = 13 needs; the registers of one mma. */
typedef struct pxl_fp8_job {
    const uint32_t *a[4], *b[2];
    uint32_t slabs;
    bool a_e5m2, b_e5m2;
} pxl_fp8_job;

/* Takes A and B apart; returns whether any operand is NaN or infinite. */
PXL_INLINE bool pxl_fp8_operands(const pxl_fp8_job *j, pxl_fp8_a a[2], pxl_fp8_b b[2])
{
    const int up = 14 - (j->a_e5m2 ? 2 : 3) - (j->b_e5m2 ? 2 : 3);
    __m256i nan = _mm256_setzero_si256();
#pragma clang loop unroll(disable)
    for (uint32_t s = 0; s < j->slabs; s++) {
        nan = _mm256_or_si256(nan, pxl_fp8_take_a(&a[s], j->a_e5m2, j->a[2 * s], j->a[2 * s + 1], up));
        nan = _mm256_or_si256(nan, pxl_fp8_take_b(&b[s], j->b_e5m2, j->b[s]));
    }
    return !_mm256_testz_si256(nan, nan);
}
/* d holds two registers of f16 pairs; false where the plain form has to do it. c and d are distinct. */
PXL_INLINE bool pxl_fp8_f16(const pxl_fp8_job *j, const uint16_t *const c[2], uint16_t *const d[2])
{
    pxl_fp8_a a[2];
    pxl_fp8_b b[2];
    if (pxl_fp8_operands(j, a, b))
        return false;
    __m256i special = _mm256_setzero_si256();
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < 2 * j->slabs; i++) {
        const uint32_t s = i >> 1, h = i & 1;
        special = _mm256_or_si256(special, pxl_fp8_rows_f16(&a[s], &b[s], j->a_e5m2 || j->b_e5m2, 8 * h, s ? d[h] : c[h], d[h]));
    }
    return _mm256_testz_si256(special, special);
}
PXL_INLINE bool pxl_fp8_f32(const pxl_fp8_job *j, const float *const c[4], float *const d[4])
{
    pxl_fp8_a a[2];
    pxl_fp8_b b[2];
    if (pxl_fp8_operands(j, a, b))
        return false;
    __m256i special = _mm256_setzero_si256();
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < 2 * j->slabs; i++) {
        const uint32_t s = i >> 1, h = i & 1;
        special = _mm256_or_si256(special, pxl_fp8_rows_f32(&a[s], &b[s], 8 * h, s ? d[2 * h] : c[2 * h], s ? d[2 * h + 1] : c[2 * h + 1],
                                                            d[2 * h], d[2 * h + 1]));
    }
    return _mm256_testz_si256(special, special);
}

#endif
#endif
