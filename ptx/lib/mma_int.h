/* mma_int.h - integer matrix products: u8, s8, u4, s4 (exact sums, wrapping or saturated once at the end) and b1.
 *
 * One register of A holds 16 bytes of each row, whatever the element, as mma_wide.h explains.
 * A 4-bit register is treated as two of bytes, the low and the high halves of its bytes.
 */
#ifndef PXL_MMA_INT_H
#define PXL_MMA_INT_H

#include "ptx/lib/mma_dot.h"

enum { MMA_U8, MMA_S8, MMA_U4, MMA_S4, MMA_XOR, MMA_AND, MMA_FP4 };

/* d = dot + c modulo 2^32, or clamped; |dot| is far below 2^31. */
PXL_INLINE uint32_t pxl_add_sum(int32_t dot, uint32_t c, bool satfinite)
{
    int32_t r;
    if (satfinite && __builtin_add_overflow(dot, (int32_t)c, &r))
        return dot < 0 ? 0x80000000u : 0x7fffffffu;
    return (uint32_t)dot + c;
}
/* Element i of a register. */
PXL_INLINE int32_t pxl_int_element(int type, uint32_t word, uint32_t i)
{
    switch (type) {
    case MMA_U8: return (int32_t)(word >> (8 * i) & 0xff);
    case MMA_S8: return (int8_t)(word >> (8 * i));
    case MMA_U4: return (int32_t)(word >> (4 * i) & 15);
    default:     return (int32_t)((word >> (4 * i) & 15) ^ 8) - 8;
    }
}
PXL_INLINE int32_t pxl_int_word(int ta, int tb, uint32_t a, uint32_t b)
{
    if (ta == MMA_XOR)
        return __builtin_popcount(a ^ b);
    if (ta == MMA_AND)
        return __builtin_popcount(a & b);
    int32_t sum = 0;
    const uint32_t n = ta == MMA_U8 || ta == MMA_S8 ? 4 : 8;
    for (uint32_t i = 0; i < n; i++)
        sum += pxl_int_element(ta, a, i) * pxl_int_element(tb, b, i);
    return sum;
}
/* The dot product of four registers of a row and a column. */
PXL_INLINE int32_t pxl_int_dot(int ta, int tb, pxl_u32x4 a, pxl_u32x4 b)
{
    return pxl_int_word(ta, tb, a.x, b.x) + pxl_int_word(ta, tb, a.y, b.y) + pxl_int_word(ta, tb, a.z, b.z) + pxl_int_word(ta, tb, a.w, b.w);
}

#if PXL_WIDTH == 32

#include "ptx/lib/mma_wide.h"

typedef int16_t pxl_v16s __attribute__((ext_vector_type(16)));
typedef uint16_t pxl_v16u __attribute__((ext_vector_type(16)));
typedef int8_t pxl_v32b __attribute__((ext_vector_type(32)));

/* Sums of the products of neighbouring 16-bit lanes. */
PXL_INLINE pxl_v8s pxl_multiply_pairs(pxl_v8s a, pxl_v8s b)
{
#if defined(__AVX2__)
    return (pxl_v8s)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}
/* Bytes 0 and 2, or 1 and 3, of each register as 16-bit numbers. */
PXL_INLINE pxl_v8s pxl_byte_pairs(bool is_signed, pxl_v8u x, uint32_t odd)
{
    if (is_signed)
        return (pxl_v8s)((odd ? (pxl_v16s)x : (pxl_v16s)((pxl_v16u)x << 8)) >> 8);
    return (pxl_v8s)(odd ? (pxl_v16u)x >> 8 : (pxl_v16u)x & 0xff);
}
/* The low or high halves of the bytes, widened to bytes. */
PXL_INLINE pxl_v8u pxl_nibbles(int type, pxl_v8u x, uint32_t high)
{
    if (type == MMA_U8 || type == MMA_S8)
        return x;
    const pxl_v8u n = (high ? x >> 4 : x) & 0x0f0f0f0fu;
    return type == MMA_U4 ? n : (pxl_v8u)((pxl_v32b)(n ^ 0x08080808u) - (int8_t)8);
}

/* rows · 8 elements of D = A · B + C; the layouts are pxl_mma_job's. */
PXL_INLINE void pxl_int_tile(int ta, int tb, const pxl_mma_job *j, pxl_tile *t, bool satfinite)
{
    const uint32_t parts = ta == MMA_U4 || ta == MMA_S4 ? 2 : 1, halves = j->rows / 8;
    const bool sa = ta == MMA_S8 || ta == MMA_S4, sb = tb == MMA_S8 || tb == MMA_S4;
    _Alignas(64) uint32_t a[16][32];
    pxl_v8s b[32];
#pragma clang loop unroll(disable)
    for (uint32_t i = 0; i < j->slabs * parts; i++) {
        const uint32_t s = i / parts, part = i % parts, k = 8 * i;
        pxl_v8u word[4];
        pxl_transpose_b(j->b[s], word);
        for (uint32_t w = 0; w < 4; w++) {
            b[k + w] = pxl_byte_pairs(sb, pxl_nibbles(tb, word[w], part), 0);
            b[k + 4 + w] = pxl_byte_pairs(sb, pxl_nibbles(tb, word[w], part), 1);
        }
        for (uint32_t r = 0; r < j->rows; r += 2) {
            const pxl_v8u x = pxl_nibbles(ta, pxl_load8(j->a[s * halves + r / 8] + r % 8 * 4), part);
            const pxl_v8u even = (pxl_v8u)pxl_byte_pairs(sa, x, 0), odd = (pxl_v8u)pxl_byte_pairs(sa, x, 1);
            pxl_store4(&a[r][k], even.lo);
            pxl_store4(&a[r + 1][k], even.hi);
            pxl_store4(&a[r][k + 4], odd.lo);
            pxl_store4(&a[r + 1][k + 4], odd.hi);
        }
    }
    for (uint32_t r = 0; r < j->rows; r++) {
        pxl_v8s sum = 0;
        for (uint32_t i = 0; i < j->slabs * parts; i++)
#pragma clang loop unroll(full)
            for (uint32_t k = 0; k < 8; k++)
                sum += pxl_multiply_pairs((pxl_v8s)(pxl_v8u)a[r][8 * i + k], b[8 * i + k]);
        const pxl_v8s c = (pxl_v8s)pxl_load8(t->at[r]);
        const pxl_v8s d = satfinite ? __builtin_elementwise_add_sat(sum, c) : (pxl_v8s)((pxl_v8u)sum + (pxl_v8u)c);
        pxl_store8(t->at[r], (pxl_v8u)d);
    }
}
PXL_INLINE void pxl_bit_tile(int op, const pxl_mma_job *j, pxl_tile *t)
{
    const uint32_t halves = j->rows / 8;
    for (uint32_t r = 0; r < j->rows; r++)
        for (uint32_t n = 0; n < 8; n++)
            for (uint32_t s = 0; s < j->slabs; s++)
                for (uint32_t w = 0; w < 4; w++)
                    t->at[r][n] += (uint32_t)pxl_int_word(op, op, j->a[s * halves + r / 8][r % 8 * 4 + w], j->b[s][4 * n + w]);
}

/* ------------------------------------------------------------ products by bytes, where rows may choose what they meet
 *
 * Each byte of a register becomes two 16-bit numbers: an 8-bit number and 0, two 4-bit numbers, or twice the values of two e2m1. Places are
 * those of pxl_choose_of. */
typedef struct pxl_pairs {
    _Alignas(64) uint32_t a[16][32];
    pxl_v8s b[64];
    uint8_t chosen[16][32];
} pxl_pairs;

PXL_INLINE pxl_v8s pxl_nibble(int type, pxl_v8s x)
{
    if (type == MMA_S4)
        return ((x & 15) ^ 8) - 8;
    if (type == MMA_U4)
        return x & 15;
    const pxl_v8s f = x & 1, e = x >> 1 & 3, m = e == 0 ? f : (f | 2) << ((e - 1) & 3), sign = x << 28 >> 31;
    return (m ^ sign) - sign;
}
PXL_INLINE pxl_v8s pxl_pair(int type, pxl_v8u word, uint32_t i)
{
    const pxl_v8s x = (pxl_v8s)(word >> (8 * i));
    if (type == MMA_U8)
        return x & 0xff;
    if (type == MMA_S8)
        return (x << 24 >> 24) & 0xffff;
    return (pxl_nibble(type, x) & 0xffff) | pxl_nibble(type, x >> 4) << 16;
}
#define PXL_TAKE_PAIRS(type) \
    for (uint32_t r = 0; r < 2 * j->slabs; r++) \
        for (uint32_t v = 0; v < 4; v++) \
            for (uint32_t i = 0; i < 4; i++) { \
                const pxl_v8u p = (pxl_v8u)pxl_pair(type, pxl_load8(j->a[r] + 8 * v), i); \
                pxl_store4(&o->a[8 * (r % 2) + 2 * v][r / 2 * 16 + 4 * i], p.lo); \
                pxl_store4(&o->a[8 * (r % 2) + 2 * v + 1][r / 2 * 16 + 4 * i], p.hi); \
            }
#define PXL_TAKE_PAIRS_B(type) \
    for (uint32_t s = 0; s < pxl_b_registers(j); s++) { \
        pxl_v8u word[4]; \
        pxl_transpose_b(j->b[s], word); \
        for (uint32_t i = 0; i < 4; i++) \
            for (uint32_t w = 0; w < 4; w++) \
                o->b[(s * 4 + i) * 4 + w] = pxl_pair(type, word[w], i); \
    }
PXL_NOINLINE void pxl_take_pairs(pxl_pairs *o, const pxl_mma_job *j)
{
    switch (j->ta) {
    case MMA_U8: PXL_TAKE_PAIRS(MMA_U8) break;
    case MMA_S8: PXL_TAKE_PAIRS(MMA_S8) break;
    case MMA_U4: PXL_TAKE_PAIRS(MMA_U4) break;
    case MMA_S4: PXL_TAKE_PAIRS(MMA_S4) break;
    default:     PXL_TAKE_PAIRS(MMA_FP4) break;
    }
    switch (j->tb) {
    case MMA_U8: PXL_TAKE_PAIRS_B(MMA_U8) break;
    case MMA_S8: PXL_TAKE_PAIRS_B(MMA_S8) break;
    case MMA_U4: PXL_TAKE_PAIRS_B(MMA_U4) break;
    case MMA_S4: PXL_TAKE_PAIRS_B(MMA_S4) break;
    default:     PXL_TAKE_PAIRS_B(MMA_FP4) break;
    }
    if (j->sparse) {
        pxl_choose(j->sparse, 16, o->chosen);
        return;
    }
    for (uint32_t r = 0; r < 16; r++)
        for (uint32_t k = 0; k < 32; k++)
            o->chosen[r][k] = (uint8_t)k;
}
/* The products of a row's place with the eight columns. */
PXL_INLINE pxl_v8s pxl_pair_product(const pxl_pairs *o, uint32_t row, uint32_t place)
{
    return pxl_multiply_pairs((pxl_v8s)(pxl_v8u)o->a[row][place], o->b[o->chosen[row][place]]);
}
PXL_NOINLINE void pxl_int_sparse_tile(const pxl_mma_job *j, pxl_tile *t, bool satfinite)
{
    pxl_pairs o;
    pxl_take_pairs(&o, j);
    for (uint32_t r = 0; r < 16; r++) {
        const pxl_v8s c = (pxl_v8s)pxl_load8(t->at[r]);
        pxl_v8s sum = 0;
        for (uint32_t k = 0; k < 16 * j->slabs; k++)
            sum += pxl_pair_product(&o, r, k);
        pxl_store8(t->at[r], (pxl_v8u)(satfinite ? __builtin_elementwise_add_sat(sum, c) : (pxl_v8s)((pxl_v8u)sum + (pxl_v8u)c)));
    }
}

#endif
#endif
