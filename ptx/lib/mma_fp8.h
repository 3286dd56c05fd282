/* mma_fp8.h - fp8 products with F = 13 (Ada's rule) in 16-bit lanes of AVX2.
 *
 * A product of two fp8 significands has at most 8 bits, so with 14 fractional bits it fits 16
 * bits unsigned, and cutting it to 13 bits below 2^E is a right shift by 1 + E - e in
 * 16-bit lanes. AVX2 has no such shift; it is a multiplication by 2^(15 - (E - e)), of which the
 * upper half is kept. That power of two comes from one byte shuffle: every exponent is held in
 * both bytes of its 16-bit lane, subtracting (E - 15, E - 7) bytewise turns it into two table
 * indices, and an index below zero reads as zero.
 *
 * A dword holds two k of one column: bytes 0 and 2 of a register ("even"), or 1 and 3 ("odd").
 * Eight dwords are the columns of D. The signs of two neighbouring k of A choose among four
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

/* One slab of A: [even, odd][row][dword]. */
typedef struct pxl_fp8_a {
    _Alignas(64) uint32_t exponent[2][16][4], significand[2][16][4], sign[2][16][4];
} pxl_fp8_a;
/* One slab of B: eight columns in each vector. */
typedef struct pxl_fp8_b {
    __m256i exponent[8], significand[8], sign[8][4];
} pxl_fp8_b;

typedef struct pxl_fp8_parts {
    __m256i exponent, significand;
} pxl_fp8_parts;

PXL_INLINE __m256i pxl_even_bytes(__m256i x) { return _mm256_and_si256(x, _mm256_set1_epi16(0xff)); }
PXL_INLINE __m256i pxl_odd_bytes(__m256i x) { return _mm256_srli_epi16(x, 8); }

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
/* The even or odd bytes, each in both bytes of its 16-bit lane. */
PXL_INLINE __m256i pxl_twice_even(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_setr_epi8(0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14,
                                                   0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14));
}
PXL_INLINE __m256i pxl_twice_odd(__m256i x)
{
    return _mm256_shuffle_epi8(x, _mm256_setr_epi8(1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15,
                                                   1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15));
}
/* Where the sign variant for two k lies: 32 bytes for a negative first one, 64 for a second; in the low half of each dword. */
PXL_INLINE __m256i pxl_sign_offset(__m256i x, int odd)
{
    const __m256i bits = _mm256_and_si256(x, _mm256_set1_epi32(odd ? (int)0x80008000 : 0x00800080));
    return _mm256_or_si256(_mm256_srli_epi32(bits, 2 + 8 * odd), _mm256_srli_epi32(bits, 17 + 8 * odd));
}

PXL_INLINE __m256i pxl_fp8_take_a(pxl_fp8_a *o, bool e5m2, const uint32_t *top, const uint32_t *bottom, uint32_t up)
{
    __m256i largest = _mm256_setzero_si256();
    const __m128i shift = _mm_cvtsi32_si128((int)up);
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < 16; r += 2) {
        const __m256i x = _mm256_load_si256((const __m256i *)(r < 8 ? top + 4 * r : bottom + 4 * (r - 8)));
        const pxl_fp8_parts p = pxl_fp8_take_apart(e5m2, x, &largest);
        _mm256_store_si256((__m256i *)o->exponent[0][r], pxl_twice_even(p.exponent));
        _mm256_store_si256((__m256i *)o->exponent[1][r], pxl_twice_odd(p.exponent));
        _mm256_store_si256((__m256i *)o->significand[0][r], _mm256_sll_epi16(pxl_even_bytes(p.significand), shift));
        _mm256_store_si256((__m256i *)o->significand[1][r], _mm256_sll_epi16(pxl_odd_bytes(p.significand), shift));
        _mm256_store_si256((__m256i *)o->sign[0][r], pxl_sign_offset(x, 0));
        _mm256_store_si256((__m256i *)o->sign[1][r], pxl_sign_offset(x, 1));
    }
    return _mm256_cmpgt_epi8(largest, _mm256_set1_epi8(e5m2 ? 0x7b : 0x7e));
}
/* ±1 in 16-bit lanes whose bit 7 is the sign, in the four variants. */
PXL_INLINE void pxl_sign_variants(__m256i to[4], __m256i x)
{
    const __m256i sign = _mm256_or_si256(_mm256_srai_epi16(_mm256_slli_epi16(x, 8), 15), _mm256_set1_epi16(1));
    to[0] = sign;
    to[1] = _mm256_sign_epi16(sign, _mm256_set1_epi32(0x0001ffff));
    to[2] = _mm256_sign_epi16(sign, _mm256_set1_epi32((int)0xffff0001));
    to[3] = _mm256_sub_epi16(_mm256_setzero_si256(), sign);
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
        o->exponent[w] = pxl_twice_even(p.exponent);
        o->exponent[w + 4] = pxl_twice_odd(p.exponent);
        o->significand[w] = pxl_even_bytes(p.significand);
        o->significand[w + 4] = pxl_odd_bytes(p.significand);
        pxl_sign_variants(o->sign[w], x);
        pxl_sign_variants(o->sign[w + 4], _mm256_srli_epi16(x, 8));
    }
    return _mm256_cmpgt_epi8(largest, _mm256_set1_epi8(e5m2 ? 0x7b : 0x7e));
}

/* Hides how x was made: otherwise clang subtracts `top` and adds the constant anew for every k. */
PXL_INLINE __m256i pxl_opaque(__m256i x)
{
    __asm__("" : "+x"(x));
    return x;
}
/* 2^(15 - s) in 16-bit lanes from the byte pair (15 - s, 7 - s); 0 where that is no power of two below 2^16. */
PXL_INLINE __m256i pxl_power(__m256i index)
{
    return _mm256_shuffle_epi8(_mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0,
                                                1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), index);
}

/* The exponents of row r's products and the largest of each column, in all four bytes of its dword. */
PXL_INLINE __m256i pxl_fp8_exponents(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t r, __m256i e[8])
{
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 8; k++)
        e[k] = _mm256_add_epi8(_mm256_set1_epi32((int)a->exponent[k / 4][r][k % 4]), b->exponent[k]);
    const __m256i m0 = _mm256_max_epi8(_mm256_max_epi8(e[0], e[1]), _mm256_max_epi8(e[2], e[3]));
    const __m256i m1 = _mm256_max_epi8(_mm256_max_epi8(e[4], e[5]), _mm256_max_epi8(e[6], e[7]));
    const __m256i m = _mm256_max_epi8(m0, m1);
    return _mm256_max_epi8(m, _mm256_shuffle_epi8(m, _mm256_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,
                                                                      2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)));
}
/* The cut products of row r, summed; `base` is (E - 15, E - 7) in every 16-bit lane. */
PXL_INLINE __m256i pxl_fp8_products(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t r, const __m256i e[8], __m256i base, __m256i sum)
{
#pragma clang loop unroll(full)
    for (uint32_t k = 0; k < 8; k++) {
        const __m256i product = _mm256_mullo_epi16(_mm256_set1_epi32((int)a->significand[k / 4][r][k % 4]), b->significand[k]);
        const __m256i cut = _mm256_mulhi_epu16(product, pxl_power(_mm256_sub_epi8(e[k], base)));
        const __m256i *sign = (const __m256i *)((const char *)b->sign[k] + (uint16_t)a->sign[k / 4][r][k % 4]);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(cut, *sign));
    }
    return sum;
}

/* 2^(13 - E) in f32, for E in -113 to 126. */
PXL_INLINE __m256 pxl_to_units(__m256i top)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_sub_epi32(_mm256_set1_epi32(127 + 13), top), 23));
}
/* The reciprocal of such a power of two. */
PXL_INLINE __m256 pxl_from_units(__m256 units)
{
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(254 << 23), _mm256_castps_si256(units)));
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
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < 8; r++) {
        __m256i e[8];
        __m256i top = pxl_fp8_exponents(a, b, row + r, e);
        const __m256i ec = _mm256_cvtepu16_epi32(_mm_load_si128((const __m128i *)exponent[r]));
        const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12,
                                                0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        top = _mm256_max_epi8(top, _mm256_shuffle_epi8(ec, spread));
        const __m256i base = pxl_opaque(_mm256_sub_epi8(top, _mm256_set1_epi16(0x070f)));
        const __m256 units = pxl_to_units(_mm256_srai_epi32(top, 24));
        const __m256 from = pxl_from_units(units);
        const __m256 cf = _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(c + 8 * r)));
        const __m256i sum = pxl_fp8_products(a, b, row + r, e, base, _mm256_cvttps_epi32(_mm256_mul_ps(cf, units)));
        _mm_store_si128((__m128i *)(d + 8 * r), _mm256_cvtps_ph(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), from), 0));
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
        __m256i e[8];
        __m256i top = _mm256_srai_epi32(pxl_fp8_exponents(a, b, row + r, e), 24);
        /* No product at all: only c counts. */
        top = _mm256_blendv_epi8(top, _mm256_set1_epi32(-1000), _mm256_cmpgt_epi32(_mm256_set1_epi32(-28), top));
        top = _mm256_max_epi32(top, ec);
        const __m256i clamped = _mm256_max_epi32(_mm256_min_epi32(top, _mm256_set1_epi32(FP8_TOP)), _mm256_set1_epi32(2 * FP8_ZERO));
        const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12,
                                                0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        const __m256i base = pxl_opaque(_mm256_sub_epi8(_mm256_shuffle_epi8(clamped, spread), _mm256_set1_epi16(0x070f)));
        /* Below 2^-100 the result may be subnormal, which the scaling would round: left to the plain form, like NaN. */
        special = _mm256_or_si256(special, _mm256_cmpeq_epi32(field, _mm256_set1_epi32(255)));
        special = _mm256_or_si256(special, _mm256_andnot_si256(zero, _mm256_cmpgt_epi32(_mm256_set1_epi32(-100), top)));
        const __m256 units = pxl_to_units(_mm256_max_epi32(_mm256_min_epi32(top, _mm256_set1_epi32(126)), _mm256_set1_epi32(-100)));
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
    const uint32_t up = 14 - (j->a_e5m2 ? 2 : 3) - (j->b_e5m2 ? 2 : 3);
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
