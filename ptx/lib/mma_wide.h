/* mma_wide.h - a whole tile of a floating matrix product at width 32, for every format and model.
 *
 * At width 32 a register of A is a row-major matrix of 8 rows by 16 bytes and a register of B one
 * of 8 columns by 16 bytes (PTX ISA, "Matrix Fragments for mma"), so fragments need no shuffles.
 * A "slab" is the part of k that one register pair of A (rows 0-7 and 8-15) and one register of B
 * hold. Operands are taken apart once (signed significand, exponent); then each row of A is
 * multiplied by the eight columns of B at a time, eight 32-bit lanes being the columns of D.
 * Significands are shifted up before the product so that it stands in units of 2^(e - F).
 * Tiles with a NaN or an infinity go through mma_dot.h instead.
 */
#ifndef PXL_MMA_WIDE_H
#define PXL_MMA_WIDE_H

#include "ptx/lib/mma_sparse.h"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef int32_t pxl_v8s __attribute__((ext_vector_type(8)));
typedef uint32_t pxl_v8u __attribute__((ext_vector_type(8)));
typedef float pxl_v8f __attribute__((ext_vector_type(8)));
typedef double pxl_v8d __attribute__((ext_vector_type(8)));
typedef int64_t pxl_v8l __attribute__((ext_vector_type(8)));
typedef _Float16 pxl_v8h __attribute__((ext_vector_type(8)));
typedef uint16_t pxl_v8w __attribute__((ext_vector_type(8)));

enum { PXL_ZERO_EXPONENT = MMA_NO_EXPONENT };  /* of a zero operand, so that it never sets E */

/* D or C as bits: f16 or f32 in the low bits, by row and column. */
typedef struct pxl_tile {
    _Alignas(64) uint32_t at[16][8];
} pxl_tile;

/* A row by row, k in the order (slab, element of a register, register word); B column-parallel in the same order. */
typedef struct pxl_mma_operands {
    _Alignas(64) int32_t a_m[16][32];
    int32_t a_e[16][32];
    pxl_v8s b_m[64], b_e[64];
    pxl_v8s special;
    uint8_t chosen[16][32];           /* sparse: which element of B an element of A meets */
} pxl_mma_operands;

/* An mma as the meanings describe it. A sparse one has twice as many registers of B as of slabs. */
typedef struct pxl_mma_job {
    int ta, tb;
    uint32_t slabs, rows;             /* rows is 8 or 16 */
    bool f32;                         /* type of C and D */
    const uint32_t *a[4], *b[4];      /* a[2 · slab + (row ≥ 8)], or a[slab] when rows is 8 */
    const pxl_sparse *sparse;         /* or NULL */
    const int32_t *scale_a, *scale_b; /* of 16 rows and 8 columns (see pxl_scale_ue8m0), or NULL */
} pxl_mma_job;

PXL_INLINE uint32_t pxl_b_registers(const pxl_mma_job *j) { return j->sparse ? 2 * j->slabs : j->slabs; }

PXL_INLINE pxl_v8u pxl_load8(const void *p) { pxl_v8u v; __builtin_memcpy(&v, p, sizeof v); return v; }
PXL_INLINE void pxl_store8(void *p, pxl_v8u v) { __builtin_memcpy(p, &v, sizeof v); }
PXL_INLINE void pxl_store4(void *p, pxl_u32x4 v) { __builtin_memcpy(p, &v, sizeof v); }

/* Shifts right; 0 from 32 on. */
PXL_INLINE pxl_v8u pxl_shift_right(pxl_v8u x, pxl_v8s by)
{
#if defined(__AVX2__)
    return (pxl_v8u)_mm256_srlv_epi32((__m256i)x, (__m256i)by);
#else
    const pxl_v8u n = (pxl_v8u)by;
    return n > 31 ? (pxl_v8u)0 : x >> (n & 31);
#endif
}
/* Product of two signed 16-bit numbers, b's upper half being zero. */
PXL_INLINE pxl_v8s pxl_multiply16(pxl_v8s a, pxl_v8s b)
{
#if defined(__AVX2__)
    return (pxl_v8s)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    return a * (b << 16 >> 16);
#endif
}
/* x where by ≥ 0, -x where by < 0; x is 0 where by is 0. */
PXL_INLINE pxl_v8s pxl_with_sign(pxl_v8s x, pxl_v8s by)
{
#if defined(__AVX2__)
    return (pxl_v8s)_mm256_sign_epi32((__m256i)x, (__m256i)by);
#else
    return (x ^ (by >> 31)) - (by >> 31);
#endif
}

/* The 8-column words of a B register: out[w] holds word w of every column. */
PXL_INLINE void pxl_transpose_b(const uint32_t *b, pxl_v8u out[4])
{
    const pxl_v8u x0 = pxl_load8(b), x1 = pxl_load8(b + 8), x2 = pxl_load8(b + 16), x3 = pxl_load8(b + 24);
    const pxl_v8u lo0 = __builtin_shufflevector(x0, x1, 0, 4, 8, 12, 1, 5, 9, 13), lo1 = __builtin_shufflevector(x2, x3, 0, 4, 8, 12, 1, 5, 9, 13);
    const pxl_v8u hi0 = __builtin_shufflevector(x0, x1, 2, 6, 10, 14, 3, 7, 11, 15), hi1 = __builtin_shufflevector(x2, x3, 2, 6, 10, 14, 3, 7, 11, 15);
    out[0] = __builtin_shufflevector(lo0, lo1, 0, 1, 2, 3, 8, 9, 10, 11);
    out[1] = __builtin_shufflevector(lo0, lo1, 4, 5, 6, 7, 12, 13, 14, 15);
    out[2] = __builtin_shufflevector(hi0, hi1, 0, 1, 2, 3, 8, 9, 10, 11);
    out[3] = __builtin_shufflevector(hi0, hi1, 4, 5, 6, 7, 12, 13, 14, 15);
}

typedef struct pxl_parts {
    pxl_v8s m, e, special;
} pxl_parts;

/* Element i of eight registers: signed significand shifted up by `up`, exponent, and -1 where NaN or infinite. */
PXL_INLINE pxl_parts pxl_take_apart(int type, pxl_v8u word, uint32_t i, uint32_t up)
{
    const uint32_t fraction = (uint32_t)pxl_mma_fraction(type), ones = (1u << pxl_mma_exponent_bits(type)) - 1;
    const pxl_v8u bits = word >> pxl_mma_shift(type, i);
    const pxl_v8s x = (pxl_v8s)(bits >> fraction & ones), f = (pxl_v8s)(bits & ((1u << fraction) - 1));
    const pxl_v8s m = f | ((x != 0) & (1 << fraction));
    const pxl_v8s sign = (pxl_v8s)(bits << (31 - fraction - (uint32_t)pxl_mma_exponent_bits(type))) >> 31;
    pxl_parts p;
    p.e = __builtin_elementwise_max(x, (pxl_v8s)1) - (int32_t)(ones >> 1);
    p.e = m == 0 ? (pxl_v8s)PXL_ZERO_EXPONENT : p.e;
    p.special = pxl_mma_is_narrow(type) ? (pxl_v8s)0 : x == (int32_t)ones;
    if (type == MMA_E4M3)
        p.special &= f == 7;
    p.m = ((m << up) ^ sign) - sign;
    return p;
}

#define PXL_TAKE_APART(name, type) \
    PXL_NOINLINE void pxl_take_a_##name(pxl_mma_operands *o, const pxl_mma_job *j, uint32_t up) \
    { \
        const uint32_t n = (uint32_t)pxl_mma_elements(type), halves = j->rows / 8; \
        for (uint32_t r = 0; r < j->slabs * halves; r++) \
            for (uint32_t v = 0; v < 4; v++) { \
                const pxl_v8u word = pxl_load8(j->a[r] + 8 * v); \
                const uint32_t row = 8 * (r % halves) + 2 * v, k = r / halves * 4 * n; \
                for (uint32_t i = 0; i < n; i++) { \
                    const pxl_parts p = pxl_take_apart(type, word, i, up); \
                    pxl_store4(&o->a_m[row][k + 4 * i], (pxl_u32x4)p.m.lo); \
                    pxl_store4(&o->a_m[row + 1][k + 4 * i], (pxl_u32x4)p.m.hi); \
                    pxl_store4(&o->a_e[row][k + 4 * i], (pxl_u32x4)p.e.lo); \
                    pxl_store4(&o->a_e[row + 1][k + 4 * i], (pxl_u32x4)p.e.hi); \
                    o->special |= p.special; \
                } \
            } \
    } \
    PXL_NOINLINE void pxl_take_b_##name(pxl_mma_operands *o, const pxl_mma_job *j, uint32_t up) \
    { \
        const uint32_t n = (uint32_t)pxl_mma_elements(type); \
        for (uint32_t s = 0; s < pxl_b_registers(j); s++) { \
            pxl_v8u word[4]; \
            pxl_transpose_b(j->b[s], word); \
            for (uint32_t i = 0; i < n; i++) \
                for (uint32_t w = 0; w < 4; w++) { \
                    const pxl_parts p = pxl_take_apart(type, word[w], i, up); \
                    o->b_m[(s * n + i) * 4 + w] = p.m & 0xffff; \
                    o->b_e[(s * n + i) * 4 + w] = p.e; \
                    o->special |= p.special; \
                } \
        } \
    }
PXL_TAKE_APART(e4m3, MMA_E4M3)
PXL_TAKE_APART(e5m2, MMA_E5M2)
PXL_TAKE_APART(f16, MMA_F16)
PXL_TAKE_APART(bf16, MMA_BF16)
PXL_TAKE_APART(tf32, MMA_TF32)
PXL_TAKE_APART(e3m2, MMA_E3M2)
PXL_TAKE_APART(e2m3, MMA_E2M3)
PXL_TAKE_APART(e2m1, MMA_E2M1)

PXL_INLINE void pxl_take_a(pxl_mma_operands *o, const pxl_mma_job *j, uint32_t up)
{
    switch (j->ta) {
    case MMA_E4M3: pxl_take_a_e4m3(o, j, up); break;
    case MMA_E5M2: pxl_take_a_e5m2(o, j, up); break;
    case MMA_F16:  pxl_take_a_f16(o, j, up); break;
    case MMA_BF16: pxl_take_a_bf16(o, j, up); break;
    case MMA_E3M2: pxl_take_a_e3m2(o, j, up); break;
    case MMA_E2M3: pxl_take_a_e2m3(o, j, up); break;
    case MMA_E2M1: pxl_take_a_e2m1(o, j, up); break;
    default:       pxl_take_a_tf32(o, j, up); break;
    }
}
PXL_INLINE void pxl_take_b(pxl_mma_operands *o, const pxl_mma_job *j, uint32_t up)
{
    switch (j->tb) {
    case MMA_E4M3: pxl_take_b_e4m3(o, j, up); break;
    case MMA_E5M2: pxl_take_b_e5m2(o, j, up); break;
    case MMA_F16:  pxl_take_b_f16(o, j, up); break;
    case MMA_BF16: pxl_take_b_bf16(o, j, up); break;
    case MMA_E3M2: pxl_take_b_e3m2(o, j, up); break;
    case MMA_E2M3: pxl_take_b_e2m3(o, j, up); break;
    case MMA_E2M1: pxl_take_b_e2m1(o, j, up); break;
    default:       pxl_take_b_tf32(o, j, up); break;
    }
}

/* f64 to f32 toward zero; infinity from 2^128. */
PXL_INLINE pxl_v8u pxl_cut_to_f32(pxl_v8d v, pxl_v8l *inexact)
{
    pxl_v8f f = __builtin_convertvector(v, pxl_v8f);
    const pxl_v8d back = __builtin_convertvector(f, pxl_v8d), size = __builtin_elementwise_abs(v);
    const pxl_v8l over = (__builtin_elementwise_abs(back) > size) & (size < 0x1p128);
    *inexact = back != v;
    return (pxl_v8u)f + __builtin_convertvector(over, pxl_v8u);
}
/* sum · 2^(top - F), rounded or cut as the rule says; |sum| < 2^53. */
PXL_INLINE pxl_v8u pxl_finish(pxl_v8d sum, pxl_v8s top, bool f32, pxl_mma_rule rule)
{
    const pxl_v8l exponent = __builtin_convertvector(__builtin_elementwise_max(top, (pxl_v8s)-500) + (1023 - rule.fraction), pxl_v8l);
    const pxl_v8d v = sum * (pxl_v8d)(exponent << 52);
    pxl_v8l inexact;
    const pxl_v8u f = pxl_cut_to_f32(v, &inexact);
    if (f32)
        return f & (0xffffffffu << (23 - rule.keep));
    /* The sticky bit keeps the second rounding from going wrong (24 ≥ 11 + 2); an infinity needs none. */
    const pxl_v8u odd = f | ((pxl_v8u)__builtin_convertvector(inexact, pxl_v8s) & 1u & (pxl_v8u)((f & 0x7fffffffu) < 0x7f800000u));
#if defined(__F16C__) || defined(__aarch64__)
    return __builtin_convertvector((pxl_v8w)__builtin_convertvector((pxl_v8f)odd, pxl_v8h), pxl_v8u);
#else
    pxl_v8u r;
    for (uint32_t i = 0; i < 8; i++)
        r[i] = pxl_f16_from_f32(pxl_bits_f32(odd[i]));
    return r;
#endif
}

/* The same from 32-bit sums of two slabs, without f64 where neither the sum nor the result can leave its range. */
PXL_INLINE pxl_v8u pxl_finish_sums(pxl_v8s s0, pxl_v8s s1, bool two, pxl_v8s top, bool f32, pxl_mma_rule rule)
{
#if defined(__F16C__) || defined(__aarch64__)
    const pxl_v8s sum = (pxl_v8s)((pxl_v8u)s0 + (pxl_v8u)s1), size = __builtin_elementwise_abs(sum), exponent = top - rule.fraction;
    const pxl_v8s low = __builtin_elementwise_max(exponent, (pxl_v8s)-126);
    pxl_v8s odd = (size > 0x7fffff00) | (exponent > 127) | ((low != exponent) & (sum != 0));
    if (two)
        odd |= __builtin_elementwise_max(__builtin_elementwise_abs(s0), __builtin_elementwise_abs(s1)) > 0x3fffffff;
    if (__builtin_expect(__builtin_reduce_or(odd) == 0, 1)) {
        /* To nearest, one step back where that is away from zero; the scaling is exact, and beyond 2^128 gives infinity. */
        const pxl_v8f nearest = __builtin_convertvector(size, pxl_v8f);
        const pxl_v8s back = __builtin_convertvector(nearest, pxl_v8s);
        pxl_v8u cut = (pxl_v8u)nearest + (pxl_v8u)(back > size);
        if (!f32)
            cut |= (pxl_v8u)(back != size) & 1u;                /* sticky: the rounding to f16 is then right */
        const pxl_v8f scale = (pxl_v8f)((pxl_v8u)(low + 127) << 23), v = (pxl_v8f)(cut | ((pxl_v8u)sum & 0x80000000u)) * scale;
        const pxl_v8u r = sum == 0 ? (pxl_v8u)0 : (pxl_v8u)v;
        if (f32)
            return r & (0xffffffffu << (23 - rule.keep));
        return __builtin_convertvector((pxl_v8w)__builtin_convertvector((pxl_v8f)r, pxl_v8h), pxl_v8u);
    }
#endif
    pxl_v8d total = __builtin_convertvector(s0, pxl_v8d);
    if (two)
        total += __builtin_convertvector(s1, pxl_v8d);
    return pxl_finish(total, top, f32, rule);
}

/* A row of the accumulator: significand in units of 2^(e - F), signed; returns whether any is NaN or infinite. */
PXL_INLINE pxl_parts pxl_take_c(pxl_v8u c, bool f32)
{
    const uint32_t fraction = f32 ? 23 : 10, ones = f32 ? 255 : 31;
    const pxl_v8s x = (pxl_v8s)(c >> fraction & ones), f = (pxl_v8s)(c & ((1u << fraction) - 1));
    pxl_parts p;
    p.m = f | ((x != 0) & (1 << fraction));
    p.e = __builtin_elementwise_max(x, (pxl_v8s)1) - (int32_t)(ones >> 1);
    p.e = p.m == 0 ? (pxl_v8s)(2 * PXL_ZERO_EXPONENT) : p.e;
    p.special = x == (int32_t)ones;
    return p;
}
PXL_INLINE pxl_v8s pxl_cut_c(pxl_v8u c, pxl_parts p, pxl_v8s top, bool f32, int32_t F)
{
    const int32_t up = F - (f32 ? 23 : 10);
    const pxl_v8u m = up >= 0 ? (pxl_v8u)p.m << up : (pxl_v8u)p.m >> -up;
    const pxl_v8s t = (pxl_v8s)pxl_shift_right(m, top - p.e), sign = (pxl_v8s)(f32 ? c : c << 16) >> 31;
    return (t ^ sign) - sign;
}

/* The k that one step takes: n of them from `first` in each slab, slabs being `stride` apart. */
typedef struct pxl_mma_part {
    uint32_t first, n, slabs, stride;
} pxl_mma_part;

/* One step of a model over the tile. n is a multiple of 4, at most 16. */
PXL_INLINE pxl_v8s pxl_step_rows(const pxl_mma_operands *o, pxl_mma_part part, uint32_t n, uint32_t slabs, const pxl_tile *c,
                                 pxl_tile *d, uint32_t rows, bool f32, pxl_mma_rule rule)
{
    pxl_v8s special = 0;
    const pxl_v8s *b_m = o->b_m + part.first, *b_e = o->b_e + part.first;
    for (uint32_t r = 0; r < rows; r++) {
        const pxl_v8u bits = pxl_load8(c->at[r]);
        const pxl_parts p = pxl_take_c(bits, f32);
        const int32_t *a_m = o->a_m[r] + part.first, *a_e = o->a_e[r] + part.first;
        pxl_v8s top = __builtin_elementwise_max(p.e, (pxl_v8s)rule.least), e[32];
#pragma clang loop unroll(full)
        for (uint32_t s = 0; s < slabs; s++)
#pragma clang loop unroll(full)
            for (uint32_t k = 0; k < n; k++) {
                e[s * n + k] = a_e[s * part.stride + k] + b_e[s * part.stride + k];
                top = __builtin_elementwise_max(top, e[s * n + k]);
            }
        pxl_v8s sum[2] = {pxl_cut_c(bits, p, top, f32, rule.fraction), 0};
#pragma clang loop unroll(full)
        for (uint32_t s = 0; s < slabs; s++)
#pragma clang loop unroll(full)
            for (uint32_t k = 0; k < n; k++) {
                const pxl_v8s product = pxl_multiply16((pxl_v8s)a_m[s * part.stride + k], b_m[s * part.stride + k]);
                const pxl_v8u cut = pxl_shift_right((pxl_v8u)__builtin_elementwise_abs(product), top - e[s * n + k]);
                sum[s] += pxl_with_sign((pxl_v8s)cut, product);
            }
        pxl_store8(d->at[r], pxl_finish_sums(sum[0], sum[1], slabs == 2, top, f32, rule));
        special |= p.special;
    }
    return special;
}
#define PXL_STEP(n, slabs) \
    PXL_NOINLINE pxl_v8s pxl_step_##n##x##slabs(const pxl_mma_operands *o, pxl_mma_part part, const pxl_tile *c, pxl_tile *d, \
                                                uint32_t rows, bool f32, pxl_mma_rule rule) \
    { \
        return f32 ? pxl_step_rows(o, part, n, slabs, c, d, rows, true, rule) : pxl_step_rows(o, part, n, slabs, c, d, rows, false, rule); \
    }
PXL_STEP(4, 1)
PXL_STEP(4, 2)
PXL_STEP(8, 1)
PXL_STEP(8, 2)
PXL_STEP(16, 1)
PXL_STEP(16, 2)

/* The same where each row of A meets elements of B of its own. */
PXL_NOINLINE pxl_v8s pxl_step_sparse(const pxl_mma_operands *o, pxl_mma_part part, const pxl_tile *c, pxl_tile *d, uint32_t rows, bool f32,
                                     pxl_mma_rule rule)
{
    pxl_v8s special = 0;
    for (uint32_t r = 0; r < rows; r++) {
        const pxl_v8u bits = pxl_load8(c->at[r]);
        const pxl_parts p = pxl_take_c(bits, f32);
        pxl_v8s top = __builtin_elementwise_max(p.e, (pxl_v8s)rule.least), e[32];
        for (uint32_t s = 0; s < part.slabs; s++)
            for (uint32_t k = 0; k < part.n; k++) {
                const uint32_t at = part.first + s * part.stride + k;
                const pxl_v8s x = o->a_e[r][at] + o->b_e[o->chosen[r][at]];
                e[s * part.n + k] = x;
                top = __builtin_elementwise_max(top, x);
            }
        pxl_v8s sum[2] = {pxl_cut_c(bits, p, top, f32, rule.fraction), 0};
        for (uint32_t s = 0; s < part.slabs; s++)
            for (uint32_t k = 0; k < part.n; k++) {
                const uint32_t at = part.first + s * part.stride + k;
                const pxl_v8s product = pxl_multiply16((pxl_v8s)o->a_m[r][at], o->b_m[o->chosen[r][at]]);
                const pxl_v8u cut = pxl_shift_right((pxl_v8u)__builtin_elementwise_abs(product), top - e[s * part.n + k]);
                sum[s] += pxl_with_sign((pxl_v8s)cut, product);
            }
        pxl_store8(d->at[r], pxl_finish_sums(sum[0], sum[1], part.slabs == 2, top, f32, rule));
        special |= p.special;
    }
    return special;
}

PXL_INLINE pxl_v8s pxl_step(const pxl_mma_operands *o, pxl_mma_part part, const pxl_tile *c, pxl_tile *d, uint32_t rows, bool f32,
                            pxl_mma_rule rule)
{
    switch (part.n * 2 + (part.slabs - 1)) {
    case 8:  return pxl_step_4x1(o, part, c, d, rows, f32, rule);
    case 9:  return pxl_step_4x2(o, part, c, d, rows, f32, rule);
    case 16: return pxl_step_8x1(o, part, c, d, rows, f32, rule);
    case 17: return pxl_step_8x2(o, part, c, d, rows, f32, rule);
    case 32: return pxl_step_16x1(o, part, c, d, rows, f32, rule);
    default: return pxl_step_16x2(o, part, c, d, rows, f32, rule);
    }
}


PXL_INLINE bool pxl_any(pxl_v8s v) { return __builtin_reduce_or(v) != 0; }

PXL_INLINE pxl_v8f pxl_f16_row(pxl_v8u bits)
{
#if defined(__F16C__) || defined(__aarch64__)
    return __builtin_convertvector((pxl_v8h)__builtin_convertvector(bits, pxl_v8w), pxl_v8f);
#else
    pxl_v8f f;
    for (uint32_t i = 0; i < 8; i++)
        f[i] = pxl_f32_from_f16(bits[i]);
    return f;
#endif
}
PXL_INLINE pxl_v8u pxl_row_f16(pxl_v8f f)
{
#if defined(__F16C__) || defined(__aarch64__)
    const pxl_v8u r = __builtin_convertvector((pxl_v8w)__builtin_convertvector(f, pxl_v8h), pxl_v8u);
    return f != f ? (pxl_v8u)MMA_NAN16 : r;
#else
    pxl_v8u r;
    for (uint32_t i = 0; i < 8; i++)
        r[i] = pxl_f16_from_f32(f[i]);
    return r;
#endif
}
PXL_INLINE pxl_v8f pxl_tile_row(const pxl_tile *t, uint32_t r, bool f32)
{
    return f32 ? (pxl_v8f)pxl_load8(t->at[r]) : pxl_f16_row(pxl_load8(t->at[r]));
}
PXL_INLINE void pxl_set_tile_row(pxl_tile *t, uint32_t r, bool f32, pxl_v8f v)
{
    pxl_store8(t->at[r], !f32 ? pxl_row_f16(v) : v != v ? (pxl_v8u)MMA_NAN32 : (pxl_v8u)v);
}

/* The words of a row and a column that mma_dot.h multiplies. */
PXL_INLINE void pxl_mma_words(const pxl_mma_job *j, uint32_t r, uint32_t n, pxl_u32x4 a[2], pxl_u32x4 b[2])
{
    const uint32_t halves = j->rows / 8;
    pxl_u32x4 words[4];
    for (uint32_t s = 0; s < pxl_b_registers(j); s++)
        __builtin_memcpy(&words[s], j->b[s] + n * 4, 16);
    for (uint32_t s = 0; s < 2; s++) {
        const uint32_t slab = s < j->slabs ? s : 0;
        __builtin_memcpy(&a[s], j->a[slab * halves + r / 8] + r % 8 * 4, 16);
        b[s] = j->sparse ? pxl_sparse_slab(j->sparse->unit, words[2 * slab], words[2 * slab + 1], pxl_sparse_bits(j->sparse, r, slab)) : words[slab];
    }
}

/* Any tile by way of mma_dot.h: for NaN and infinities. */
PXL_NOINLINE void pxl_mma_plain(const pxl_mma_job *j, const pxl_tile *c, pxl_tile *d, uint32_t model)
{
    for (uint32_t r = 0; r < j->rows; r++)
        for (uint32_t n = 0; n < 8; n++) {
            pxl_u32x4 a[2], b[2];
            pxl_mma_words(j, r, n, a, b);
            const uint32_t v = c->at[r][n];
            if (j->scale_a)
                d->at[r][n] = pxl_scaled_dot(j->ta, j->tb, a[0], b[0], a[1], b[1], v, j->scale_a[r], j->scale_b[n], model == MODEL_IEEE);
            else
                d->at[r][n] = pxl_dot(j->ta, j->tb, a[0], b[0], a[1], b[1], j->slabs, v, j->f32, model);
        }
}

/* Scales, as exponents: added to those of the operands. */
PXL_INLINE void pxl_apply_scales(pxl_mma_operands *o, const pxl_mma_job *j)
{
    pxl_v8s columns;
    __builtin_memcpy(&columns, j->scale_b, sizeof columns);
    o->special |= columns == MMA_SCALE_NAN;
    for (uint32_t r = 0; r < j->rows; r++) {
        o->special |= (pxl_v8s)(j->scale_a[r] == MMA_SCALE_NAN);
        for (uint32_t k = 0; k < 32; k++)
            o->a_e[r][k] += j->scale_a[r];
    }
    for (uint32_t k = 0; k < pxl_b_registers(j) * 16; k++)
        o->b_e[k] += columns;
}

PXL_INLINE uint32_t pxl_mma_steps(const pxl_mma_job *j, pxl_mma_rule rule) { return rule.halves ? 2 : rule.split ? j->slabs : 1; }
/* Step i, a slab having n of k. */
PXL_INLINE pxl_mma_part pxl_mma_part_of(const pxl_mma_job *j, pxl_mma_rule rule, uint32_t n, uint32_t i)
{
    return (pxl_mma_part){rule.halves ? 8 * i : i * n, rule.halves ? 8 : n, rule.split ? 1 : j->slabs, n};
}
/* Adds c to a tile that was started from zero; -1 where c is NaN or infinite. */
PXL_INLINE pxl_v8s pxl_add_c(const pxl_mma_job *j, const pxl_tile *c, pxl_tile *d)
{
    pxl_v8s special = 0;
    for (uint32_t r = 0; r < j->rows; r++) {
        special |= pxl_take_c(pxl_load8(c->at[r]), j->f32).special;
        pxl_set_tile_row(d, r, j->f32, pxl_tile_row(c, r, j->f32) + pxl_tile_row(d, r, j->f32));
    }
    return special;
}

/* D = A · B + C under an NVIDIA model. */
PXL_NOINLINE void pxl_mma_exact(const pxl_mma_job *j, const pxl_tile *c, pxl_tile *d, uint32_t model)
{
    pxl_mma_rule rule = pxl_mma_rule_of(pxl_mma_is_fp8(j->ta), model);
    const int32_t fa = pxl_mma_fraction(j->ta), up = rule.fraction - fa - pxl_mma_fraction(j->tb);
    const int32_t up_a = up < 14 - fa ? up : 14 - fa;
    pxl_mma_operands o;
    o.special = 0;
    pxl_take_a(&o, j, (uint32_t)up_a);
    pxl_take_b(&o, j, (uint32_t)(up - up_a));
    if (j->sparse)
        pxl_choose(j->sparse, j->rows, o.chosen);
    if (j->scale_a) {
        pxl_apply_scales(&o, j);
        rule.least = -126;
    }
    const uint32_t n = 4 * (uint32_t)pxl_mma_elements(j->ta), steps = pxl_mma_steps(j, rule);
    static const pxl_tile zero;
    for (uint32_t i = 0; i < steps; i++) {
        const pxl_mma_part part = pxl_mma_part_of(j, rule, n, i);
        const pxl_tile *from = i ? d : rule.halves ? &zero : c;
        o.special |= j->sparse ? pxl_step_sparse(&o, part, from, d, j->rows, j->f32, rule) : pxl_step(&o, part, from, d, j->rows, j->f32, rule);
    }
    if (rule.halves)
        o.special |= pxl_add_c(j, c, d);
    if (pxl_any(o.special))
        pxl_mma_plain(j, c, d, model);
}

/* Multiplicands as f32, for the ieee model. */
typedef struct pxl_mma_floats {
    _Alignas(64) float a[16][32];
    pxl_v8f b[64];
    uint8_t chosen[16][32];
} pxl_mma_floats;

typedef uint16_t pxl_v8w2 __attribute__((ext_vector_type(16)));
typedef uint8_t pxl_v8b4 __attribute__((ext_vector_type(32)));

/* Element i of eight registers; `special` where one of them may be NaN or infinite. */
PXL_INLINE pxl_v8f pxl_value8(int type, pxl_v8u word, uint32_t i, bool special)
{
    if (type == MMA_TF32)
        return (pxl_v8f)(word & 0xffffe000u);
    if (type == MMA_BF16)
        return (pxl_v8f)(i ? word & 0xffff0000u : word << 16);
    /* The element at the top, shifted down with its sign: the sign, exponent and fraction stand in f32's places, and one exact
     * multiplication mends the bias (subnormals too). */
    const uint32_t bits = (uint32_t)pxl_mma_bits(type), fraction = (uint32_t)pxl_mma_fraction(type), exponent = (uint32_t)pxl_mma_exponent_bits(type);
    const uint32_t used = pxl_mma_is_narrow(type) ? 6 : bits;        /* the narrow formats end at the sixth bit of their byte */
    const pxl_v8s x = (pxl_v8s)(word << (32 - used - bits * i)) >> (8 - exponent);
    const uint32_t places = ((1u << (exponent + fraction)) - 1) << (23 - fraction);
    const uint32_t least = (((1u << exponent) - 1) << 23) | (type == MMA_E4M3 ? 7u << 20 : 0);     /* the first code that is no number */
    const pxl_v8f v = (pxl_v8f)((pxl_v8u)x & (0x80000000u | places)) * pxl_bits_f32((uint32_t)(254 - pxl_mma_bias(type)) << 23);
    return special && !pxl_mma_is_narrow(type) ? (pxl_v8f)((pxl_v8u)v | ((pxl_v8u)(((pxl_v8u)x & places) >= least) & 0x7f800000u)) : v;
}
/* Whether any element of these registers has the exponent of NaN and infinity (a superset will do). */
PXL_INLINE bool pxl_has_special(int type, pxl_v8u a, pxl_v8u b, pxl_v8u c, pxl_v8u d)
{
    if (type == MMA_TF32 || type == MMA_BF16 || pxl_mma_is_narrow(type))
        return false;
    if (type == MMA_F16) {
        const pxl_v8w2 inf = 0x7c00, x = (pxl_v8w2)a & inf, y = (pxl_v8w2)b & inf, z = (pxl_v8w2)c & inf, w = (pxl_v8w2)d & inf;
        return __builtin_reduce_or((x == inf) | (y == inf) | (z == inf) | (w == inf)) != 0;
    }
    const pxl_v8b4 top = type == MMA_E4M3 ? 0x7f : 0x7c, x = (pxl_v8b4)a & top, y = (pxl_v8b4)b & top, z = (pxl_v8b4)c & top, w = (pxl_v8b4)d & top;
    return __builtin_reduce_or((x == top) | (y == top) | (z == top) | (w == top)) != 0;
}
#define PXL_TAKE_VALUES(name, type) \
    PXL_INLINE void pxl_values_a_of_##name(pxl_mma_floats *o, const uint32_t *a, uint32_t row, uint32_t k, bool special) \
    { \
        const uint32_t n = (uint32_t)pxl_mma_elements(type); \
        for (uint32_t v = 0; v < 4; v++) \
            for (uint32_t i = 0; i < n; i++) { \
                const pxl_v8u x = (pxl_v8u)pxl_value8(type, pxl_load8(a + 8 * v), i, special); \
                pxl_store4(&o->a[row + 2 * v][k + 4 * i], x.lo); \
                pxl_store4(&o->a[row + 2 * v + 1][k + 4 * i], x.hi); \
            } \
    } \
    PXL_NOINLINE void pxl_values_a_##name(pxl_mma_floats *o, const pxl_mma_job *j) \
    { \
        const uint32_t n = (uint32_t)pxl_mma_elements(type), halves = j->rows / 8; \
        for (uint32_t r = 0; r < j->slabs * halves; r++) { \
            const uint32_t *a = j->a[r], row = 8 * (r % halves), k = r / halves * 4 * n; \
            if (pxl_has_special(type, pxl_load8(a), pxl_load8(a + 8), pxl_load8(a + 16), pxl_load8(a + 24))) \
                pxl_values_a_of_##name(o, a, row, k, true); \
            else \
                pxl_values_a_of_##name(o, a, row, k, false); \
        } \
    } \
    PXL_INLINE void pxl_values_b_of_##name(pxl_v8f *b, const pxl_v8u word[4], bool special) \
    { \
        for (uint32_t i = 0; i < (uint32_t)pxl_mma_elements(type); i++) \
            for (uint32_t w = 0; w < 4; w++) \
                b[4 * i + w] = pxl_value8(type, word[w], i, special); \
    } \
    PXL_NOINLINE void pxl_values_b_##name(pxl_mma_floats *o, const pxl_mma_job *j) \
    { \
        for (uint32_t s = 0; s < pxl_b_registers(j); s++) { \
            pxl_v8u word[4]; \
            pxl_transpose_b(j->b[s], word); \
            pxl_v8f *b = o->b + s * (uint32_t)pxl_mma_elements(type) * 4; \
            if (pxl_has_special(type, word[0], word[1], word[2], word[3])) \
                pxl_values_b_of_##name(b, word, true); \
            else \
                pxl_values_b_of_##name(b, word, false); \
        } \
    }
PXL_TAKE_VALUES(e4m3, MMA_E4M3)
PXL_TAKE_VALUES(e5m2, MMA_E5M2)
PXL_TAKE_VALUES(f16, MMA_F16)
PXL_TAKE_VALUES(bf16, MMA_BF16)
PXL_TAKE_VALUES(tf32, MMA_TF32)
PXL_TAKE_VALUES(e3m2, MMA_E3M2)
PXL_TAKE_VALUES(e2m3, MMA_E2M3)
PXL_TAKE_VALUES(e2m1, MMA_E2M1)

PXL_INLINE pxl_v8f pxl_fma8(float a, pxl_v8f b, pxl_v8f c)
{
#if defined(__FMA__) || defined(__aarch64__)
    return __builtin_elementwise_fma((pxl_v8f)a, b, c);
#else
    for (uint32_t i = 0; i < 8; i++)
        c[i] = pxl_mma_fma(a, b[i], c[i]);
    return c;
#endif
}
/* Eight rows at a time hide the latency of the chain. */
PXL_INLINE void pxl_chain(const pxl_mma_floats *o, uint32_t row, uint32_t slabs, uint32_t n, const pxl_tile *c, pxl_tile *d, bool f32)
{
    pxl_v8f sum[8];
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < 8; r++)
        sum[r] = pxl_tile_row(c, row + r, f32);
    for (uint32_t w = 0; w < 4 * slabs; w++)
#pragma clang loop unroll(full)
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t k = (w / 4 * n + i) * 4 + w % 4;
            const pxl_v8f b = o->b[k];
#pragma clang loop unroll(full)
            for (uint32_t r = 0; r < 8; r++)
                sum[r] = pxl_fma8(o->a[row + r][k], b, sum[r]);
        }
#pragma clang loop unroll(full)
    for (uint32_t r = 0; r < 8; r++)
        pxl_set_tile_row(d, row + r, f32, sum[r]);
}

/* Each row with elements of B of its own. */
PXL_NOINLINE void pxl_chain_sparse(const pxl_mma_floats *o, uint32_t rows, uint32_t slabs, uint32_t n, const pxl_tile *c, pxl_tile *d, bool f32)
{
    for (uint32_t r = 0; r < rows; r++) {
        pxl_v8f sum = pxl_tile_row(c, r, f32);
        for (uint32_t w = 0; w < 4 * slabs; w++)
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t at = (w / 4 * n + i) * 4 + w % 4;
                sum = pxl_fma8(o->a[r][at], o->b[o->chosen[r][at]], sum);
            }
        pxl_set_tile_row(d, r, f32, sum);
    }
}

/* 2^e from -127 to 127, or NaN. */
PXL_INLINE float pxl_scale_float(int32_t e)
{
    return pxl_bits_f32(e == MMA_SCALE_NAN ? MMA_NAN32 : e < -126 ? 1u << 22 : (uint32_t)(e + 127) << 23);
}
/* Scaled numbers are f32 exactly: below by far (e5m2 ends at 2^-16), above up to this scale (e5m2 ends below 2^16). */
enum { MMA_MOST_SCALE = 112 };
PXL_INLINE bool pxl_scales_fit(const pxl_mma_job *j)
{
    bool fit = true;
    for (uint32_t i = 0; i < 16; i++) {
        const int32_t a = j->scale_a[i], b = j->scale_b[i % 8];
        fit &= (a <= MMA_MOST_SCALE || a == MMA_SCALE_NAN) && (b <= MMA_MOST_SCALE || b == MMA_SCALE_NAN);
    }
    return fit;
}
PXL_INLINE void pxl_scale_floats(pxl_mma_floats *o, const pxl_mma_job *j)
{
    pxl_v8f columns;
    for (uint32_t n = 0; n < 8; n++)
        columns[n] = pxl_scale_float(j->scale_b[n]);
    for (uint32_t k = 0; k < pxl_b_registers(j) * 16; k++)
        o->b[k] *= columns;
    for (uint32_t r = 0; r < 16; r++) {
        const float row = pxl_scale_float(j->scale_a[r]);
        for (uint32_t k = 0; k < 32; k++)
            o->a[r][k] *= row;
    }
}

PXL_NOINLINE void pxl_mma_ieee(const pxl_mma_job *j, const pxl_tile *c, pxl_tile *d)
{
    pxl_mma_floats o;
    if (j->scale_a && !pxl_scales_fit(j)) {
        pxl_mma_plain(j, c, d, MODEL_IEEE);
        return;
    }
    switch (j->ta) {
    case MMA_E4M3: pxl_values_a_e4m3(&o, j); break;
    case MMA_E5M2: pxl_values_a_e5m2(&o, j); break;
    case MMA_F16:  pxl_values_a_f16(&o, j); break;
    case MMA_BF16: pxl_values_a_bf16(&o, j); break;
    case MMA_E3M2: pxl_values_a_e3m2(&o, j); break;
    case MMA_E2M3: pxl_values_a_e2m3(&o, j); break;
    case MMA_E2M1: pxl_values_a_e2m1(&o, j); break;
    default:       pxl_values_a_tf32(&o, j); break;
    }
    switch (j->tb) {
    case MMA_E4M3: pxl_values_b_e4m3(&o, j); break;
    case MMA_E5M2: pxl_values_b_e5m2(&o, j); break;
    case MMA_F16:  pxl_values_b_f16(&o, j); break;
    case MMA_BF16: pxl_values_b_bf16(&o, j); break;
    case MMA_E3M2: pxl_values_b_e3m2(&o, j); break;
    case MMA_E2M3: pxl_values_b_e2m3(&o, j); break;
    case MMA_E2M1: pxl_values_b_e2m1(&o, j); break;
    default:       pxl_values_b_tf32(&o, j); break;
    }
    if (j->scale_a)
        pxl_scale_floats(&o, j);
    const uint32_t n = (uint32_t)pxl_mma_elements(j->ta);
    if (j->sparse) {
        pxl_choose(j->sparse, j->rows, o.chosen);
        pxl_chain_sparse(&o, j->rows, j->slabs, n, c, d, j->f32);
        return;
    }
    for (uint32_t row = 0; row < j->rows; row += 8) {
        if (n == 4)
            pxl_chain(&o, row, j->slabs, 4, c, d, j->f32);
        else if (n == 2)
            pxl_chain(&o, row, j->slabs, 2, c, d, j->f32);
        else
            pxl_chain(&o, row, j->slabs, 1, c, d, j->f32);
    }
}

#endif
