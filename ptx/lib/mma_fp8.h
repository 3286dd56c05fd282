/* mma_fp8.h - fp8 products by fused multiply-adds of f32 (AVX2): with F = 13 (Ada's rule), and under the ieee model.
 *
 * The rule cuts every product toward zero to a multiple of u = 2^(E - 13) and adds exactly. Here one instruction
 * multiplies, cuts and adds: a product of two fp8 values is exact in f32, and an accumulator that starts at
 * 1.5 * 2^(E + 10) has u as its last place and stays in its binade (the 16 products sum to less than 2^(E + 6)).
 * Rounding toward zero, the accumulator being positive, takes the floor of each product in units of u.
 *
 * Floor and cut differ by one, for the products that are negative and no multiple of u. Those are
 * counted, bytewise. An fp8 value is odd * 2^l; odd numbers have odd products, so the lowest bit of a product
 * is exactly 2^(l_a + l_b), and it is no multiple of u when l_a + l_b < E - 13. The bytes hold l in seven bits and the sign
 * in the eighth: the sum of two has the product's sign on top, since the lower bits never carry into it, and one signed
 * comparison finds "negative and too low" together.
 *
 * Eight lanes are the columns of D; 32 bytes are four rows of eight columns. The bytes of A are spread out so that they can be added
 * straight from memory, which takes as long as a good part of a product; so the A of a thread's last mma is kept. Kernels
 * multiply one A by several B, and the CPU engine brings those together (runtime/cpu/schedule.c). Whether A is the
 * one kept is decided by comparing its bits. The values of A are not spread: that would fill half of a 32 KB cache.
 * Loops over k are not unrolled: the code of a product would not fit the processor's store of decoded instructions.
 */
#ifndef PXL_MMA_FP8_H
#define PXL_MMA_FP8_H

#include "ptx/lib/mma_wide.h"

#if defined(__AVX2__) && defined(__F16C__) && defined(__FMA__)

enum {
    FP8_ZERO = -44,   /* exponent of a zero: below every product (-28) even when added to the largest (15) */
    FP8_BIAS = 15,    /* added to the exponents of products and c; B's are its fields, and A's make up for the difference */
    FP8_TOP = 50,     /* E is clamped to it for the products; they are cut to nothing long before */
    FP8_LOWEST = 16,  /* added to l, so that it is not negative: -16 to 15 is its range */
    FP8_NO_BIT = 63,  /* instead of l for a zero: no sum with it is below a threshold, and none has more than seven bits */
};

/* One slab of A. Bytes 8 to 15 of [k][g] belong to row 4g + 2, 16 to 23 to row 4g + 1: in this order f16 are packed to bytes. */
typedef struct pxl_fp8_a {
    _Alignas(64) float value[16][16];              /* [row][k] */
    __m256i exponent[16][4], lowest[16][4];
} pxl_fp8_a;
/* One slab of B: [k][column]. An e4m3's value is short of the real one by 2^8, which A makes up for. */
typedef struct pxl_fp8_b {
    _Alignas(32) __m128i value[16];                /* f16 */
    uint64_t exponent[16], lowest[16];
} pxl_fp8_b;

typedef struct pxl_fp8_bytes {
    __m256i exponent, lowest;
} pxl_fp8_bytes;

/* What an fp8 mma needs; the registers of one mma. */
typedef struct pxl_fp8_job {
    const uint32_t *a[4], *b[2];
    uint32_t slabs;
    bool a_e5m2, b_e5m2;
    bool ieee;        /* only values are needed */
} pxl_fp8_job;

/* A byte shuffle that is the same in both halves. */
#define PXL_BYTES(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

PXL_INLINE int pxl_fp8_bias(bool e5m2) { return e5m2 ? 15 : 7; }
/* Exponents, with `added`, and lowest bits of 32 operands. */
PXL_INLINE pxl_fp8_bytes pxl_fp8_take_apart(bool e5m2, __m256i x, int added)
{
    const __m256i body = _mm256_and_si256(x, _mm256_set1_epi8(0x7f)), is_zero = _mm256_cmpeq_epi8(body, _mm256_setzero_si256());
    const int fraction = e5m2 ? 2 : 3, bias = pxl_fp8_bias(e5m2) - added;
    const __m256i field = _mm256_and_si256(_mm256_srli_epi16(x, fraction), _mm256_set1_epi8(e5m2 ? 31 : 15));
    const __m256i exponent = _mm256_sub_epi8(_mm256_max_epi8(field, _mm256_set1_epi8(1)), _mm256_set1_epi8((char)bias));
    /* l is the exponent of the last place, plus the zeros at the end of the significand (which the hidden bit ends). */
    const __m256i zeros = e5m2 ? PXL_BYTES(2, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0) : PXL_BYTES(3, 0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0);
    const __m256i ended = _mm256_shuffle_epi8(_mm256_add_epi8(zeros, _mm256_set1_epi8((char)(FP8_LOWEST - fraction - added))), body);
    const __m256i lowest = _mm256_or_si256(_mm256_add_epi8(exponent, ended), _mm256_xor_si256(x, body));
    return (pxl_fp8_bytes){_mm256_blendv_epi8(exponent, _mm256_set1_epi8((char)(FP8_ZERO + added)), is_zero),
                           _mm256_blendv_epi8(lowest, _mm256_set1_epi8(FP8_NO_BIT), is_zero)};
}
/* The f16 of a byte's bits at the top is an e5m2 itself, and 2^-8 of an e4m3 whose exponent moves down by one bit. */
PXL_INLINE __m256i pxl_fp8_halves(bool e5m2, __m256i at_top)
{
    return e5m2 ? at_top : _mm256_and_si256(_mm256_srai_epi16(at_top, 1), _mm256_set1_epi16((short)0xbfff));
}
/* The values of 32 operands as f16. Sixteen bytes of each half become sixteen f16 in the order of bytes: 0-7, 16-23, 8-15, 24-31. */
PXL_INLINE void pxl_fp8_values(bool e5m2, __m256i x, __m256i out[2])
{
    const __m256i zero = _mm256_setzero_si256();
    out[0] = pxl_fp8_halves(e5m2, _mm256_unpacklo_epi8(zero, x));
    out[1] = pxl_fp8_halves(e5m2, _mm256_unpackhi_epi8(zero, x));
}
/* Whether any magnitude is that of NaN or an infinity. */
PXL_INLINE bool pxl_fp8_is_special(bool e5m2, __m256i largest)
{
    const __m256i special = _mm256_cmpgt_epi8(largest, _mm256_set1_epi8(e5m2 ? 0x7b : 0x7e));
    return !_mm256_testz_si256(special, special);
}

/* Bytes of two rows each to [k][g], each eight times. */
PXL_INLINE void pxl_fp8_spread_bytes(const __m256i rows[8], __m256i out[16][4])
{
#pragma clang loop unroll(disable)
    for (uint32_t g = 0; g < 4; g++) {
        /* Bytes of rows 4g and 4g + 2 in turn, and in the upper half of rows 4g + 1 and 4g + 3. */
        const __m256i low = _mm256_unpacklo_epi8(rows[2 * g], rows[2 * g + 1]), high = _mm256_unpackhi_epi8(rows[2 * g], rows[2 * g + 1]);
#pragma clang loop unroll(full)
        for (uint32_t k = 0; k < 8; k++) {
            const __m256i each = _mm256_add_epi8(PXL_BYTES(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1), _mm256_set1_epi8((char)(2 * k)));
            out[k][g] = _mm256_shuffle_epi8(low, each);
            out[8 + k][g] = _mm256_shuffle_epi8(high, each);
        }
    }
}
/* Returns whether any operand is NaN or infinite. Exponents are added to and values multiplied, as B needs it. */
PXL_NOINLINE bool pxl_fp8_take_a(pxl_fp8_a *o, bool e5m2, bool ieee, int added, float scale, const uint32_t *top, const uint32_t *bottom)
{
    __m256i exponent[8], lowest[8], largest = _mm256_setzero_si256();
#pragma clang loop unroll(disable)
    for (uint32_t r = 0; r < 8; r++) {
        const __m256i x = _mm256_load_si256((const __m256i *)(r < 4 ? top + 8 * r : bottom + 8 * (r - 4)));
        const pxl_fp8_bytes p = e5m2 ? pxl_fp8_take_apart(true, x, added) : pxl_fp8_take_apart(false, x, added);
        __m256i value[2];
        exponent[r] = p.exponent;
        lowest[r] = p.lowest;
        largest = _mm256_max_epu8(largest, _mm256_and_si256(x, _mm256_set1_epi8(0x7f)));
        if (e5m2)
            pxl_fp8_values(true, x, value);
        else
            pxl_fp8_values(false, x, value);
        for (uint32_t i = 0; i < 2; i++) {
            const __m256 row = _mm256_cvtph_ps(_mm256_castsi256_si128(value[i])), next = _mm256_cvtph_ps(_mm256_extracti128_si256(value[i], 1));
            _mm256_store_ps(&o->value[2 * r][8 * i], _mm256_mul_ps(row, _mm256_set1_ps(scale)));
            _mm256_store_ps(&o->value[2 * r + 1][8 * i], _mm256_mul_ps(next, _mm256_set1_ps(scale)));
        }
    }
    if (!ieee) {
        pxl_fp8_spread_bytes(exponent, o->exponent);
        pxl_fp8_spread_bytes(lowest, o->lowest);
    }
    return pxl_fp8_is_special(e5m2, largest);
}
/* Columns c and c + 4 of a register of B. */
PXL_INLINE __m256i pxl_fp8_columns(const uint32_t *b, uint32_t c)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128((const __m128i *)(b + 4 * c))), _mm_load_si128((const __m128i *)(b + 4 * c + 16)), 1);
}
/* Returns whether any operand is NaN or infinite. */
PXL_INLINE bool pxl_fp8_take_b(pxl_fp8_b *o, bool e5m2, bool ieee, const uint32_t *b)
{
    const __m256i x0 = pxl_fp8_columns(b, 0), x1 = pxl_fp8_columns(b, 1), x2 = pxl_fp8_columns(b, 2), x3 = pxl_fp8_columns(b, 3);
    const __m256i p = _mm256_unpacklo_epi8(x0, x1), q = _mm256_unpackhi_epi8(x0, x1), r = _mm256_unpacklo_epi8(x2, x3), t = _mm256_unpackhi_epi8(x2, x3);
    /* Dwords: columns 0 to 3 of four k, then columns 4 to 7 of them. */
    const __m256i four[4] = {_mm256_unpacklo_epi16(p, r), _mm256_unpackhi_epi16(p, r), _mm256_unpacklo_epi16(q, t), _mm256_unpackhi_epi16(q, t)};
    __m256i largest = _mm256_setzero_si256();
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4; w++) {
        const __m256i x = _mm256_permutevar8x32_epi32(four[w], _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        largest = _mm256_max_epu8(largest, _mm256_and_si256(x, _mm256_set1_epi8(0x7f)));
        __m256i value[2];
        pxl_fp8_values(e5m2, x, value);
        /* Columns of k and of k + 2, of k + 1 and of k + 3. */
        o->value[4 * w] = _mm256_castsi256_si128(value[0]);
        o->value[4 * w + 1] = _mm256_castsi256_si128(value[1]);
        o->value[4 * w + 2] = _mm256_extracti128_si256(value[0], 1);
        o->value[4 * w + 3] = _mm256_extracti128_si256(value[1], 1);
        if (!ieee) {
            const pxl_fp8_bytes apart = pxl_fp8_take_apart(e5m2, x, pxl_fp8_bias(e5m2));
            _mm256_storeu_si256((__m256i *)(o->exponent + 4 * w), apart.exponent);
            _mm256_storeu_si256((__m256i *)(o->lowest + 4 * w), apart.lowest);
        }
    }
    return pxl_fp8_is_special(e5m2, largest);
}

/* The A of this thread's last fp8 mma; `kind` is 0 where nothing is kept. */
typedef struct pxl_fp8_kept {
    pxl_fp8_a a[2];
    _Alignas(64) uint32_t from[4][32];
    uint32_t kind;
} pxl_fp8_kept;
static _Thread_local pxl_fp8_kept pxl_fp8_last;

PXL_INLINE bool pxl_fp8_is_kept(const pxl_fp8_job *j, const pxl_fp8_kept *kept, uint32_t kind)
{
    __m256i differing = _mm256_setzero_si256();
    if (kept->kind != kind)
        return false;
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < 2 * j->slabs; i++)
#pragma clang loop unroll(full)
        for (uint32_t k = 0; k < 32; k += 8)
            differing = _mm256_or_si256(differing, _mm256_xor_si256(_mm256_load_si256((const __m256i *)(j->a[i] + k)), _mm256_load_si256((const __m256i *)(kept->from[i] + k))));
    return _mm256_testz_si256(differing, differing);
}
/* The spread A of a job; NULL where an operand is NaN or infinite. */
PXL_INLINE const pxl_fp8_a *pxl_fp8_a_of(const pxl_fp8_job *j)
{
    pxl_fp8_kept *kept = &pxl_fp8_last;
    const uint32_t kind = 16 * j->slabs + (j->b_e5m2 ? 8 : 0) + (j->a_e5m2 ? 4 : 0) + (j->ieee ? 2 : 0) + 1;
    if (pxl_fp8_is_kept(j, kept, kind))
        return kept->a;
    kept->kind = 0;
    const float scale = (float)((j->a_e5m2 ? 1 : 1 << 8) * (j->b_e5m2 ? 1 : 1 << 8));
    bool special = false;
    for (uint32_t s = 0; s < j->slabs; s++)
        special |= pxl_fp8_take_a(&kept->a[s], j->a_e5m2, j->ieee, FP8_BIAS - pxl_fp8_bias(j->b_e5m2), scale, j->a[2 * s], j->a[2 * s + 1]);
    if (special)
        return 0;
    for (uint32_t i = 0; i < 2 * j->slabs; i++)
        __builtin_memcpy(kept->from[i], j->a[i], sizeof kept->from[i]);
    kept->kind = kind;
    return kept->a;
}
/* ------------------------------------------------------------ F = 13 */

/* Rounding toward zero from here on; returns what to restore. Accumulators pass through pxl_fp8_opaque when the stretch
 * begins and ends, which keeps the multiply-adds inside: volatile statements stay in order. */
PXL_INLINE uint32_t pxl_round_toward_zero(void)
{
    uint32_t before, during;
    __asm__ volatile("stmxcsr %0" : "=m"(before));
    during = before | 0x6000;
    __asm__ volatile("ldmxcsr %0" : : "m"(during));
    return before;
}
PXL_INLINE void pxl_round_restore(uint32_t before)
{
    __asm__ volatile("ldmxcsr %0" : : "m"(before));
}
PXL_INLINE __m256 pxl_fp8_opaque(__m256 x)
{
    __asm__ volatile("" : "+x"(x));
    return x;
}

/* The largest exponents of the products, of zeros far below -28. */
PXL_INLINE void pxl_fp8_largest(const pxl_fp8_a *a, const pxl_fp8_b *b, __m256i top[4])
{
    __m256i m[4];
    for (uint32_t g = 0; g < 4; g++)
        m[g] = _mm256_set1_epi8(-128);
#pragma clang loop unroll_count(4)
    for (uint32_t k = 0; k < 16; k++) {
        const __m256i x = _mm256_set1_epi64x((long long)b->exponent[k]);
#pragma clang loop unroll(full)
        for (uint32_t g = 0; g < 4; g++)
            m[g] = _mm256_max_epi8(m[g], _mm256_add_epi8(a->exponent[k][g], x));
    }
    for (uint32_t g = 0; g < 4; g++)
        top[g] = m[g];
}
/* Minus the number of products that are negative and no multiple of 2^(E - 13). */
PXL_INLINE void pxl_fp8_uneven(const pxl_fp8_a *a, const pxl_fp8_b *b, const __m256i top[4], __m256i out[4])
{
    __m256i threshold[4], found[4];
    /* Below, the sum has its sign bit: -128 + (E - 13 + 2 FP8_LOWEST), no less than -128, where nothing is below it, and no more
     * than lets zeros stay above it. */
    for (uint32_t g = 0; g < 4; g++) {
        const __m256i lowest = _mm256_subs_epi8(top[g], _mm256_set1_epi8(FP8_BIAS + 13 - 2 * FP8_LOWEST));
        threshold[g] = _mm256_min_epi8(_mm256_adds_epi8(lowest, _mm256_set1_epi8(-128)), _mm256_set1_epi8(-128 + FP8_NO_BIT));
        found[g] = _mm256_setzero_si256();
    }
#pragma clang loop unroll_count(4)
    for (uint32_t k = 0; k < 16; k++) {
        const __m256i x = _mm256_set1_epi64x((long long)b->lowest[k]);
#pragma clang loop unroll(full)
        for (uint32_t g = 0; g < 4; g++)
            found[g] = _mm256_add_epi8(found[g], _mm256_cmpgt_epi8(threshold[g], _mm256_add_epi8(a->lowest[k][g], x)));
    }
    for (uint32_t g = 0; g < 4; g++)
        out[g] = found[g];
}
/* The eight columns of one of eight rows as 32-bit lanes. */
PXL_INLINE __m256i pxl_fp8_row(const __m256i bytes[2], uint32_t row)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)((const char *)bytes + 32 * (row / 4) + 16 * (row % 2) + 8 * (row / 2 % 2))));
}
/* Adds the products of eight rows, from `row`, in the order of k. */
PXL_INLINE void pxl_fp8_multiply(const pxl_fp8_a *a, const pxl_fp8_b *b, uint32_t row, __m256 sum[8])
{
    const float (*v)[16] = &a->value[row];
    __m256 s[8];
    for (uint32_t r = 0; r < 8; r++)
        s[r] = sum[r];
#pragma clang loop unroll(disable)
    for (uint32_t k = 0; k < 16; k++) {
        const __m256 x = _mm256_cvtph_ps(b->value[k]);
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++)
            s[r] = _mm256_fmadd_ps(_mm256_broadcast_ss(&v[r][k]), x, s[r]);
    }
    for (uint32_t r = 0; r < 8; r++)
        sum[r] = s[r];
}

/* 2^(13 - E) in f32, for E in -113 to 126. */
PXL_INLINE __m256 pxl_fp8_units(__m256i e)
{
    return _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32((127 + 13 + FP8_BIAS) << 23), _mm256_slli_epi32(e, 23)));
}
/* The bits of what an accumulator starts with. */
PXL_INLINE __m256i pxl_fp8_start(__m256i e)
{
    return _mm256_add_epi32(_mm256_slli_epi32(e, 23), _mm256_set1_epi32(((127 + 10 - FP8_BIAS) << 23) + (1 << 22)));
}

/* The exponents of four rows of f16 accumulators, and the largest fields in *largest. A zero may not set E; unless products reach
 * below 2^-14, the -14 that its field gives does no harm. */
PXL_INLINE __m256i pxl_fp8_exponents_f16(const uint16_t *c, bool low_exponents, __m256i *largest)
{
    const __m256i x = _mm256_slli_epi16(_mm256_load_si256((const __m256i *)c), 1), y = _mm256_slli_epi16(_mm256_load_si256((const __m256i *)(c + 16)), 1);
    const __m256i field = _mm256_packus_epi16(_mm256_srli_epi16(x, 11), _mm256_srli_epi16(y, 11));
    const __m256i e = _mm256_max_epi8(field, _mm256_set1_epi8(1 + FP8_BIAS - 15));
    *largest = _mm256_max_epi8(*largest, field);
    if (!low_exponents)
        return e;
    const __m256i zero = _mm256_setzero_si256();
    const __m256i is_zero = _mm256_packs_epi16(_mm256_cmpeq_epi16(x, zero), _mm256_cmpeq_epi16(y, zero));
    return _mm256_blendv_epi8(e, _mm256_set1_epi8(2 * FP8_ZERO), is_zero);
}
/* One slab with f16 accumulators: the two registers of c and d. Returns nonzero lanes where c is NaN or infinite. */
PXL_INLINE __m256i pxl_fp8_slab_f16(const pxl_fp8_a *a, const pxl_fp8_b *b, bool low_exponents, const uint16_t *const c[2], uint16_t *const d[2])
{
    __m256i largest = _mm256_setzero_si256(), top[4], uneven[4];
    pxl_fp8_largest(a, b, top);
#pragma clang loop unroll(full)
    for (uint32_t g = 0; g < 4; g++)
        top[g] = _mm256_max_epi8(top[g], pxl_fp8_exponents_f16(c[g / 2] + g % 2 * 32, low_exponents, &largest));
    pxl_fp8_uneven(a, b, top, uneven);
#pragma clang loop unroll(disable)
    for (uint32_t h = 0; h < 2; h++) {
        __m256i start[8];
        __m256 sum[8];
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++) {
            const __m256i e = pxl_fp8_row(top + 2 * h, r);
            /* c is cut by the conversion: it is exact in f32 in units of u. */
            const __m256i cut = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_cvtph_ps(_mm_load_si128((const __m128i *)(c[h] + 8 * r))), pxl_fp8_units(e)));
            start[r] = pxl_fp8_start(e);
            sum[r] = pxl_fp8_opaque(_mm256_castsi256_ps(_mm256_sub_epi32(_mm256_add_epi32(start[r], cut), pxl_fp8_row(uneven + 2 * h, r))));
        }
        pxl_fp8_multiply(a, b, 8 * h, sum);
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++) {
            const __m256 v = _mm256_sub_ps(pxl_fp8_opaque(sum[r]), _mm256_castsi256_ps(start[r]));
            _mm_store_si128((__m128i *)(d[h] + 8 * r), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
        }
    }
    return _mm256_cmpeq_epi8(largest, _mm256_set1_epi8(31));
}

/* A row of f32 accumulators, from the registers of the even and of the odd columns, and back. */
PXL_INLINE __m256 pxl_fp8_join(const float *even, const float *odd)
{
    const __m128 x = _mm_load_ps(even), y = _mm_load_ps(odd);
    return _mm256_set_m128(_mm_unpackhi_ps(x, y), _mm_unpacklo_ps(x, y));
}
PXL_INLINE void pxl_fp8_split(__m256 v, float *even, float *odd)
{
    const __m128 lo = _mm256_castps256_ps128(v), hi = _mm256_extractf128_ps(v, 1);
    _mm_store_ps(even, _mm_shuffle_ps(lo, hi, 0x88));
    _mm_store_ps(odd, _mm_shuffle_ps(lo, hi, 0xdd));
}
PXL_INLINE __m256i pxl_fp8_exponent_f32(__m256 c)
{
    const __m256i field = _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(c), 23), _mm256_set1_epi32(255));
    return _mm256_sub_epi32(_mm256_max_epi16(field, _mm256_set1_epi32(1)), _mm256_set1_epi32(127 - FP8_BIAS));
}
/* Four rows of such exponents as bytes, in the order of the rows of pxl_fp8_a. */
PXL_INLINE __m256i pxl_fp8_exponents_f32(const __m256i e[4])
{
    const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(e[0], e[1]), _mm256_packs_epi32(e[2], e[3]));
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
}
/* One slab with f32 accumulators: the four registers of c and d. Returns nonzero lanes where the plain form has to do it. */
PXL_INLINE __m256i pxl_fp8_slab_f32(const pxl_fp8_a *a, const pxl_fp8_b *b, const float *const c[4], float *const d[4])
{
    __m256i special = _mm256_setzero_si256(), products[4], top[4], uneven[4], ec[16];
    pxl_fp8_largest(a, b, products);
    for (uint32_t r = 0; r < 16; r++)
        ec[r] = pxl_fp8_exponent_f32(pxl_fp8_join(c[r / 8 * 2] + r % 8 * 4, c[r / 8 * 2 + 1] + r % 8 * 4));
    for (uint32_t g = 0; g < 4; g++) {
        const __m256i clamped = _mm256_max_epi8(_mm256_min_epi8(pxl_fp8_exponents_f32(ec + 4 * g), _mm256_set1_epi8(FP8_BIAS + FP8_TOP)), _mm256_set1_epi8(2 * FP8_ZERO));
        /* No product at all: only c counts. */
        products[g] = _mm256_blendv_epi8(products[g], _mm256_set1_epi8(-128), _mm256_cmpgt_epi8(_mm256_set1_epi8(FP8_BIAS - 28), products[g]));
        top[g] = _mm256_max_epi8(products[g], clamped);
    }
    pxl_fp8_uneven(a, b, top, uneven);
#pragma clang loop unroll(disable)
    for (uint32_t h = 0; h < 2; h++) {
        __m256i start[8];
        __m256 sum[8], units[8];
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++) {
            const __m256 x = pxl_fp8_join(c[2 * h] + 4 * r, c[2 * h + 1] + 4 * r);
            const __m256i e = _mm256_max_epi32(pxl_fp8_row(products + 2 * h, r), ec[8 * h + r]);
            /* NaN and infinity. Below 2^-100 the result may be subnormal, which the scaling would round. */
            const __m256i zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(_mm256_castps_si256(x), 1), _mm256_setzero_si256());
            special = _mm256_or_si256(special, _mm256_cmpeq_epi32(ec[8 * h + r], _mm256_set1_epi32(FP8_BIAS + 128)));
            special = _mm256_or_si256(special, _mm256_andnot_si256(zero, _mm256_cmpgt_epi32(_mm256_set1_epi32(FP8_BIAS - 100), e)));
            units[r] = pxl_fp8_units(_mm256_max_epi32(_mm256_min_epi32(e, _mm256_set1_epi32(FP8_BIAS + 126)), _mm256_set1_epi32(FP8_BIAS - 100)));
            start[r] = pxl_fp8_start(pxl_fp8_row(top + 2 * h, r));
            const __m256i cut = _mm256_cvttps_epi32(_mm256_mul_ps(x, units[r]));
            sum[r] = pxl_fp8_opaque(_mm256_castsi256_ps(_mm256_sub_epi32(_mm256_add_epi32(start[r], cut), pxl_fp8_row(uneven + 2 * h, r))));
        }
        pxl_fp8_multiply(a, b, 8 * h, sum);
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++) {
            const __m256 from_units = _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_set1_epi32(254 << 23), _mm256_castps_si256(units[r])));
            const __m256 v = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_castps_si256(pxl_fp8_opaque(sum[r])), start[r]));
            pxl_fp8_split(_mm256_mul_ps(_mm256_and_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(~0x3ff))), from_units), d[2 * h] + 4 * r, d[2 * h + 1] + 4 * r);
        }
    }
    return special;
}

/* d holds two registers of f16 pairs; false where the plain form has to do it. c and d are distinct. */
PXL_INLINE bool pxl_fp8_f16(const pxl_fp8_job *j, const uint16_t *const c[2], uint16_t *const d[2])
{
    const pxl_fp8_a *a = pxl_fp8_a_of(j);
    pxl_fp8_b b;
    __m256i special = _mm256_setzero_si256();
    if (!a)
        return false;
    const uint32_t rounding = pxl_round_toward_zero();
#pragma clang loop unroll(disable)
    for (uint32_t s = 0; s < j->slabs && a; s++) {
        if (pxl_fp8_take_b(&b, j->b_e5m2, false, j->b[s]))
            a = 0;
        else
            special = _mm256_or_si256(special, pxl_fp8_slab_f16(a + s, &b, j->a_e5m2 || j->b_e5m2, s ? (const uint16_t *const *)d : c, d));
    }
    pxl_round_restore(rounding);
    return a && _mm256_testz_si256(special, special);
}
PXL_INLINE bool pxl_fp8_f32(const pxl_fp8_job *j, const float *const c[4], float *const d[4])
{
    const pxl_fp8_a *a = pxl_fp8_a_of(j);
    pxl_fp8_b b;
    __m256i special = _mm256_setzero_si256();
    if (!a)
        return false;
    const uint32_t rounding = pxl_round_toward_zero();
#pragma clang loop unroll(disable)
    for (uint32_t s = 0; s < j->slabs && a; s++) {
        if (pxl_fp8_take_b(&b, j->b_e5m2, false, j->b[s]))
            a = 0;
        else
            special = _mm256_or_si256(special, pxl_fp8_slab_f32(a + s, &b, s ? (const float *const *)d : c, d));
    }
    pxl_round_restore(rounding);
    return a && _mm256_testz_si256(special, special);
}

/* ------------------------------------------------------------ the ieee model */

/* f32 multiply-adds in the order of k. Values short by a power of two change no rounding: sums of products of fp8 and f16 stay
 * far from the ends of f32's range, and so does an f32 c between 2^-90 and 2^120. */

/* B of all slabs; false where an operand is NaN or infinite. */
PXL_INLINE bool pxl_fp8_chain_b(const pxl_fp8_job *j, pxl_fp8_b b[2])
{
    bool special = false;
#pragma clang loop unroll(disable)
    for (uint32_t s = 0; s < j->slabs; s++)
        special |= pxl_fp8_take_b(&b[s], j->b_e5m2, true, j->b[s]);
    return !special;
}
PXL_INLINE bool pxl_fp8_chain_f16(const pxl_fp8_job *j, const uint16_t *const c[2], uint16_t *const d[2])
{
    const pxl_fp8_a *a = pxl_fp8_a_of(j);
    pxl_fp8_b b[2];
    __m256i special = _mm256_setzero_si256();
    if (!a || !pxl_fp8_chain_b(j, b))
        return false;
#pragma clang loop unroll(disable)
    for (uint32_t h = 0; h < 2; h++) {
        __m256 sum[8];
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++) {
            const __m256 x = _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(c[h] + 8 * r)));
            const __m256i infinity = _mm256_set1_epi32(0x7f800000), exponent = _mm256_and_si256(_mm256_castps_si256(x), infinity);
            special = _mm256_or_si256(special, _mm256_cmpeq_epi32(exponent, infinity));
            sum[r] = x;
        }
#pragma clang loop unroll(disable)
        for (uint32_t s = 0; s < j->slabs; s++)
            pxl_fp8_multiply(&a[s], &b[s], 8 * h, sum);
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++)
            _mm_store_si128((__m128i *)(d[h] + 8 * r), _mm256_cvtps_ph(sum[r], _MM_FROUND_TO_NEAREST_INT));
    }
    return _mm256_testz_si256(special, special);
}
PXL_INLINE bool pxl_fp8_chain_f32(const pxl_fp8_job *j, const float *const c[4], float *const d[4])
{
    const pxl_fp8_a *a = pxl_fp8_a_of(j);
    pxl_fp8_b b[2];
    __m256i special = _mm256_setzero_si256();
    if (!a || !pxl_fp8_chain_b(j, b))
        return false;
#pragma clang loop unroll(disable)
    for (uint32_t h = 0; h < 2; h++) {
        __m256 sum[8];
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++) {
            const __m256 x = pxl_fp8_join(c[2 * h] + 4 * r, c[2 * h + 1] + 4 * r);
            const __m256i e = pxl_fp8_exponent_f32(x), zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(_mm256_castps_si256(x), 1), _mm256_setzero_si256());
            const __m256i outside = _mm256_or_si256(_mm256_cmpgt_epi32(e, _mm256_set1_epi32(FP8_BIAS + 120)), _mm256_cmpgt_epi32(_mm256_set1_epi32(FP8_BIAS - 90), e));
            special = _mm256_or_si256(special, _mm256_andnot_si256(zero, outside));
            sum[r] = x;
        }
#pragma clang loop unroll(disable)
        for (uint32_t s = 0; s < j->slabs; s++)
            pxl_fp8_multiply(&a[s], &b[s], 8 * h, sum);
#pragma clang loop unroll(full)
        for (uint32_t r = 0; r < 8; r++)
            pxl_fp8_split(sum[r], d[2 * h] + 4 * r, d[2 * h + 1] + 4 * r);
    }
    return _mm256_testz_si256(special, special);
}

#endif
#endif
