/* mma_lane.h - elements of a matrix product for one lane, by f32 multiplications: mma_dot.h's bits in a fraction of its instructions.
 *
 * At width 1, for fp8, f16, bf16 and tf32. A lane has one row or two, and two columns. A product of two significands is exact in f32
 * (22 bits at most). A step finds E for its elements, then cuts each product by a multiplication by 2^(F - E), exact as well, and a
 * conversion toward zero; sums are those of integers. Steps with NaN or infinity go to mma_dot.h.
 *
 * fp8 and f16: E comes from whole registers, whose bytes or halves are added as one integer. Values are taken as pairs of halves:
 * e4m3 shifted to f16's places is 2^8 times too small, subnormals included, and e5m2 is an f16's upper byte. bf16 and tf32, whose
 * exponents f32 cannot multiply, are split into significand and exponent.
 */
#ifndef PXL_MMA_LANE_H
#define PXL_MMA_LANE_H

#include "ptx/lib/mma_dot.h"

typedef uint16_t pxl_u16x2 __attribute__((ext_vector_type(2)));

/* What GPUs have an instruction for, and what is the same in all lanes though it is passed as if it were not. */
#if defined(__AMDGCN__)
PXL_INLINE uint32_t pxl_uniform(uint32_t x) { return (uint32_t)__builtin_amdgcn_readfirstlane((int)x); }
PXL_INLINE float pxl_scale_by(float x, int32_t e) { return __builtin_ldexpf(x, e); }
PXL_INLINE uint32_t pxl_half_from(float x) { const _Float16 h = (_Float16)x; uint16_t u; __builtin_memcpy(&u, &h, 2); return u; }
PXL_INLINE float pxl_half_value(uint32_t bits) { const uint16_t u = (uint16_t)bits; _Float16 h; __builtin_memcpy(&h, &u, 2); return (float)h; }
#else
PXL_INLINE uint32_t pxl_uniform(uint32_t x) { return x; }
PXL_INLINE float pxl_scale_by(float x, int32_t e) { return (float)((double)x * pxl_power_of_two(e < -1000 ? -1000 : e > 1000 ? 1000 : e)); }
PXL_INLINE uint32_t pxl_half_from(float x) { return pxl_f16_from_f32(x); }
PXL_INLINE float pxl_half_value(uint32_t bits) { return pxl_f32_from_f16(bits); }
#endif

PXL_INLINE bool pxl_is_wide(int type) { return type == MMA_BF16 || type == MMA_TF32; }

/* What a lane multiplies: a[row][slab], b[column][slab], and the elements of C and D, by rows. */
typedef struct pxl_lane_block {
    pxl_u32x4 a[2][2], b[2][2];
    uint32_t c[4];
} pxl_lane_block;

/* One step for element i, whatever its operands. */
PXL_NOINLINE uint32_t pxl_any_step(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t slabs, uint32_t c, bool f32,
                                   int32_t fraction, int32_t keep)
{
    const pxl_mma_span span = {slabs, 0, (uint32_t)pxl_mma_elements(ta)};
    const pxl_mma_rule rule = {fraction, keep, false, false, 0, MMA_NO_EXPONENT};
    return pxl_dot_step(pxl_format_of(ta), pxl_format_of(tb), a0, b0, a1, b1, span, c, f32, rule);
}

/* ------------------------------------------------------------ fp8, f16: exponents */

/* A number in each byte or half of a register; and the bit above all but the sign. */
PXL_INLINE uint32_t pxl_each(int type, uint32_t x) { return type == MMA_F16 ? x * 0x00010001u : x * 0x01010101u; }
PXL_INLINE uint32_t pxl_top_bit(int type) { return type == MMA_F16 ? 0x8000u : 0x80u; }
/* Where an element of these is at least `least`, its top bit. */
PXL_INLINE uint32_t pxl_at_least(int type, uint32_t bodies, uint32_t least) { return bodies + pxl_each(type, pxl_top_bit(type) - least); }
PXL_INLINE uint32_t pxl_bodies(int type, uint32_t word) { return word & pxl_each(type, pxl_top_bit(type) - 1); }

/* Of each element: its exponent (the field, that of subnormals being 1) less one; and half the top bit where it is not zero. */
PXL_INLINE uint32_t pxl_keys(int type, uint32_t bodies)
{
    const uint32_t fraction = (uint32_t)pxl_mma_fraction(type), top = pxl_top_bit(type), bits = (uint32_t)pxl_mma_bits(type);
    const uint32_t field = bodies >> fraction & pxl_each(type, (1u << pxl_mma_exponent_bits(type)) - 1);
    const uint32_t normal = pxl_at_least(type, bodies, 1u << fraction) >> (bits - 1) & pxl_each(type, 1);
    return field - normal + (pxl_at_least(type, bodies, 1) >> 1 & pxl_each(type, top >> 1));
}
/* Top bits where there is a NaN or an infinity, among others. */
PXL_INLINE uint32_t pxl_specials(int type, uint32_t bodies)
{
    return pxl_at_least(type, bodies, type == MMA_E4M3 ? 0x7f : type == MMA_E5M2 ? 0x7c : 0x7c00);
}
PXL_INLINE pxl_u16x2 pxl_u16_pair(uint32_t word) { pxl_u16x2 v; __builtin_memcpy(&v, &word, 4); return v; }
PXL_INLINE pxl_u16x2 pxl_larger(pxl_u16x2 x, uint32_t y) { return __builtin_elementwise_max(x, pxl_u16_pair(y)); }

/* E of the products of each element, and whether there is a NaN or an infinity. */
PXL_INLINE bool pxl_block_exponents(int ta, int tb, uint32_t rows, uint32_t slabs, const pxl_lane_block *o, int32_t top[4])
{
    pxl_u16x2 largest[4] = {0};
    uint32_t special = 0;
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4 * slabs; w++) {
        uint32_t keys[2][2];
        for (uint32_t i = 0; i < 2; i++) {
            const uint32_t a = pxl_bodies(ta, o->a[i][w / 4][w % 4]), b = pxl_bodies(tb, o->b[i][w / 4][w % 4]);
            keys[0][i] = i < rows ? pxl_keys(ta, a) : 0;
            keys[1][i] = pxl_keys(tb, b);
            special |= (i < rows ? pxl_specials(ta, a) : 0) | pxl_specials(tb, b);
        }
        for (uint32_t i = 0; i < 2 * rows; i++) {
            const uint32_t sum = keys[0][i / 2] + keys[1][i % 2];
            if (ta != MMA_F16)
                largest[i] = pxl_larger(largest[i], sum >> 8 & 0x00ff00ffu);
            largest[i] = pxl_larger(largest[i], ta == MMA_F16 ? sum : sum & 0x00ff00ffu);
        }
    }
    for (uint32_t i = 0; i < 2 * rows; i++) {
        const int32_t key = largest[i].x > largest[i].y ? largest[i].x : largest[i].y, both = (int32_t)pxl_top_bit(ta);
        top[i] = key >= both ? key - both + 2 - pxl_mma_bias(ta) - pxl_mma_bias(tb) : MMA_NO_EXPONENT;
    }
    return (special & pxl_each(ta, pxl_top_bit(ta))) != 0;
}

/* ------------------------------------------------------------ fp8, f16: values */

/* Pairs of halves in a register; pair p; and by what power of two its values are too small. */
PXL_INLINE uint32_t pxl_pairs(int type) { return type == MMA_F16 ? 1 : 2; }
PXL_INLINE uint32_t pxl_pair(int type, uint32_t word, uint32_t p)
{
    if (type == MMA_F16)
        return word;
    const uint32_t x = p ? (word >> 8 & 0xff00u) | (word & 0xff000000u) : (word << 8 & 0xff00u) | (word << 16 & 0xff000000u);
    return type == MMA_E5M2 ? x : (x & 0x80008000u) | (x >> 1 & 0x3f803f80u);
}
PXL_INLINE int32_t pxl_pair_scale(int type) { return type == MMA_E4M3 ? 8 : 0; }

/* 2^e, or what does no harm where there are no products. */
PXL_INLINE float pxl_cut_scale(int32_t e) { return pxl_bits_f32((uint32_t)((e < 100 ? e : 100) + 127) << 23); }

/* Adds the products of a slab, times scale[i] and cut, to the sums: 16 terms at most, each below 2^27. */
PXL_INLINE void pxl_block_products(int ta, int tb, uint32_t rows, uint32_t slab, const pxl_lane_block *o, const float scale[4], int64_t sum[4])
{
    int32_t part[4] = {0};
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4; w++)
        for (uint32_t p = 0; p < pxl_pairs(ta); p++) {
            uint32_t a[2], b[2];
            for (uint32_t i = 0; i < 2; i++) {
                a[i] = i < rows ? pxl_pair(ta, o->a[i][slab][w], p) : 0;
                b[i] = pxl_pair(tb, o->b[i][slab][w], p);
            }
            for (uint32_t i = 0; i < 2 * rows; i++) {
                const float low = pxl_half_value(a[i / 2] & 0xffffu) * pxl_half_value(b[i % 2] & 0xffffu);
                const float high = pxl_half_value(a[i / 2] >> 16) * pxl_half_value(b[i % 2] >> 16);
                part[i] += (int32_t)(low * scale[i]) + (int32_t)(high * scale[i]);
            }
        }
    for (uint32_t i = 0; i < 2 * rows; i++)
        sum[i] += part[i];
}

/* ------------------------------------------------------------ bf16, tf32 */

typedef struct pxl_wide_number {
    float significand;            /* below 2; times 2^(exponent - 127), and the sign */
    int32_t exponent;
    bool zero, special;
} pxl_wide_number;
/* Of the f32 with the value of element i. */
PXL_INLINE pxl_wide_number pxl_wide_of(int type, uint32_t word, uint32_t i)
{
    const uint32_t bits = type == MMA_TF32 ? word & 0xffffe000u : i ? word & 0xffff0000u : word << 16;
    const uint32_t x = bits >> 23 & 0xff, size = bits & 0x7fffffffu;
    const float f = pxl_bits_f32((bits & 0x7fffffu) | 0x3f800000u), magnitude = x ? f : f - 1;
    return (pxl_wide_number){bits >> 31 ? -magnitude : magnitude, (int32_t)(x ? x : 1), size == 0, size >= 0x7f800000u};
}
/* The products of one element: E and, cut to the grid 2^(E - F), their sum; E is `top` at least. false: NaN or infinity. */
PXL_INLINE bool pxl_wide_products(int type, uint32_t slabs, const pxl_u32x4 a[2], const pxl_u32x4 b[2], int32_t fraction, int32_t *top, int64_t *sum)
{
    float product[16];
    int32_t exponent[16], n = 0;
    bool special = false;
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4 * slabs; w++)
        for (uint32_t k = 0; k < (uint32_t)pxl_mma_elements(type); k++, n++) {
            const pxl_wide_number x = pxl_wide_of(type, a[w / 4][w % 4], k), y = pxl_wide_of(type, b[w / 4][w % 4], k);
            product[n] = x.significand * y.significand;
            exponent[n] = x.exponent + y.exponent - 2 * 127;
            special |= x.special || y.special;
            if (!x.zero && !y.zero && exponent[n] > *top)
                *top = exponent[n];
        }
    int32_t part = 0;             /* 16 terms at most, each below 2^27 */
#pragma clang loop unroll(full)
    for (int32_t i = 0; i < n; i++)
        part += (int32_t)pxl_scale_by(product[i], fraction - *top + exponent[i]);
    *sum = part;
    return !special;
}

/* ------------------------------------------------------------ steps */

/* An accumulator's exponent, that of subnormals being the least, or MMA_NO_EXPONENT; its value cut to the grid 2^-down. */
PXL_INLINE int32_t pxl_c_exponent(uint32_t c, bool f32)
{
    const uint32_t size = c & (f32 ? 0x7fffffffu : 0x7fffu), x = size >> (f32 ? 23 : 10);
    return size ? (int32_t)(x ? x : 1) - (f32 ? 127 : 15) : MMA_NO_EXPONENT;
}
PXL_INLINE bool pxl_c_special(uint32_t c, bool f32) { return f32 ? (c & 0x7f800000u) == 0x7f800000u : (c & 0x7c00u) == 0x7c00u; }
PXL_INLINE int32_t pxl_c_term(uint32_t c, bool f32, int32_t down) { return (int32_t)pxl_scale_by(f32 ? pxl_bits_f32(c) : pxl_half_value(c), down); }

/* sum · 2^scale as an f16 or f32 that keeps `keep` bits. narrow: |sum| < 2^24. */
PXL_INLINE uint32_t pxl_lane_result(int64_t sum, int32_t scale, bool f32, int32_t keep, bool narrow)
{
    if (!narrow)
        return f32 ? pxl_cut_f32(sum, scale, keep) : pxl_round_f16(sum, scale);
    const float r = pxl_scale_by((float)(int32_t)sum, scale);
    return f32 ? pxl_f32_bits(r) & 0xffffffffu << (23 - keep) : pxl_half_from(r);
}

/* One step (mma_dot.h, pxl_dot_step) for every element of the lane, of one slab or two. */
PXL_INLINE void pxl_block_step(int ta, int tb, uint32_t rows, uint32_t slabs, pxl_lane_block *o, bool f32, pxl_mma_rule rule)
{
    int32_t top[4];
    int64_t sum[4] = {0};
    float scale[4];
    bool special = false;
    if (pxl_is_wide(ta)) {
        for (uint32_t i = 0; i < 2 * rows; i++) {
            top[i] = pxl_c_exponent(o->c[i], f32);
            special |= !pxl_wide_products(ta, slabs, o->a[i / 2], o->b[i % 2], rule.fraction, &top[i], &sum[i]);
        }
    } else {
        special = pxl_block_exponents(ta, tb, rows, slabs, o, top);
    }
    for (uint32_t i = 0; i < 2 * rows; i++)
        special |= pxl_c_special(o->c[i], f32);
    if (special) {
#pragma clang loop unroll(full)
        for (uint32_t i = 0; i < 2 * rows; i++)
            o->c[i] = pxl_any_step(ta, tb, o->a[i / 2][0], o->b[i % 2][0], o->a[i / 2][1], o->b[i % 2][1], slabs, o->c[i], f32, rule.fraction, rule.keep);
        return;
    }
    for (uint32_t i = 0; i < 2 * rows && !pxl_is_wide(ta); i++) {
        const int32_t e = pxl_c_exponent(o->c[i], f32);
        top[i] = e > top[i] ? e : top[i];
        scale[i] = pxl_cut_scale(rule.fraction - top[i] + pxl_pair_scale(ta) + pxl_pair_scale(tb));
    }
    for (uint32_t s = 0; s < slabs && !pxl_is_wide(ta); s++)
        pxl_block_products(ta, tb, rows, s, o, scale, sum);
    for (uint32_t i = 0; i < 2 * rows; i++) {
        sum[i] += pxl_c_term(o->c[i], f32, rule.fraction - top[i]);
        o->c[i] = pxl_lane_result(sum[i], top[i] - rule.fraction, f32, rule.keep, rule.fraction == 13);
    }
}

/* ------------------------------------------------------------ the ieee model */

PXL_INLINE float pxl_chain_value(int type, uint32_t half)
{
    if (type != MMA_E4M3)
        return pxl_half_value(half);
    return (half & 0x7fffu) > 0x3f00u ? pxl_bits_f32(MMA_NAN32) : pxl_half_value(half) * 256.0f;
}
PXL_INLINE float pxl_lane_chain(int ta, int tb, pxl_u32x4 a, pxl_u32x4 b, float sum)
{
#pragma clang loop unroll(full)
    for (uint32_t w = 0; w < 4; w++)
        for (uint32_t k = 0; k < (uint32_t)pxl_mma_elements(ta); k++) {
            if (pxl_is_wide(ta)) {
                sum = pxl_mma_fma(pxl_mma_value(ta, a[w], k), pxl_mma_value(tb, b[w], k), sum);
                continue;
            }
            const uint32_t x = pxl_pair(ta, a[w], k / 2) >> (16 * (k % 2)), y = pxl_pair(tb, b[w], k / 2) >> (16 * (k % 2));
            sum = pxl_mma_fma(pxl_chain_value(ta, x & 0xffffu), pxl_chain_value(tb, y & 0xffffu), sum);
        }
    return sum;
}
PXL_INLINE void pxl_block_chains(int ta, int tb, uint32_t rows, uint32_t slabs, pxl_lane_block *o, bool f32)
{
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 2 * rows; i++) {
        float sum = f32 ? pxl_bits_f32(o->c[i]) : pxl_half_value(o->c[i]);
        for (uint32_t s = 0; s < slabs; s++)
            sum = pxl_lane_chain(ta, tb, o->a[i / 2][s], o->b[i % 2][s], sum);
        o->c[i] = f32 ? pxl_f32_bits(sum) : pxl_f16_from_f32(sum);
    }
}

/* ------------------------------------------------------------ models */

/* Elements 0 and 1 of every register of four bytes, or 2 and 3. */
PXL_INLINE pxl_u32x4 pxl_half_words(pxl_u32x4 x, uint32_t upper) { return x >> (pxl_u32x4)(16 * upper) & (pxl_u32x4)0xffff; }

/* Hopper's fp8 (pxl_mma_rule_of). */
PXL_INLINE void pxl_block_halves(int ta, int tb, uint32_t rows, uint32_t slabs, pxl_lane_block *o, bool f32, pxl_mma_rule rule)
{
    pxl_lane_block x = *o;
    for (uint32_t i = 0; i < 4; i++)
        x.c[i] = 0;
#pragma clang loop unroll(disable)
    for (uint32_t half = 0; half < 2; half++) {
        for (uint32_t i = 0; i < 2 * slabs; i++) {
            x.a[i % 2][i / 2] = pxl_half_words(o->a[i % 2][i / 2], half);
            x.b[i % 2][i / 2] = pxl_half_words(o->b[i % 2][i / 2], half);
        }
        pxl_block_step(ta, tb, rows, slabs, &x, f32, rule);
    }
    for (uint32_t i = 0; i < 2 * rows; i++)
        o->c[i] = f32 ? pxl_f32_bits(pxl_bits_f32(o->c[i]) + pxl_bits_f32(x.c[i]))
                      : pxl_f16_from_f32(pxl_f32_from_f16(o->c[i]) + pxl_f32_from_f16(x.c[i]));
}
/* The elements of the lane under any model, into c. rows and slabs (1 or 2) and the types are constants. */
PXL_INLINE void pxl_block_dot(int ta, int tb, uint32_t rows, uint32_t slabs, pxl_lane_block *o, bool f32, uint32_t model)
{
    const pxl_mma_rule rule = pxl_mma_rule_of(pxl_mma_is_fp8(ta), model);
    if (model == MODEL_IEEE) {
        pxl_block_chains(ta, tb, rows, slabs, o, f32);
    } else if (pxl_mma_is_fp8(ta) && rule.halves) {
        pxl_block_halves(ta, tb, rows, slabs, o, f32, rule);
    } else if (rule.split && slabs == 2) {
#pragma clang loop unroll(disable)
        for (uint32_t s = 0; s < 2; s++) {
            pxl_block_step(ta, tb, rows, 1, o, f32, rule);
            for (uint32_t i = 0; i < 2; i++) {
                o->a[i][0] = o->a[i][1];
                o->b[i][0] = o->b[i][1];
            }
        }
    } else {
        pxl_block_step(ta, tb, rows, slabs, o, f32, rule);
    }
}

#endif
