/* mma_values.h - a tile under an NVIDIA model by f32 multiplications, at width 32.
 *
 * The product of two operands is exact in f32 (22 bits at most), and so is its product with 2^(F - E): a conversion toward zero to
 * an integer then is the model's cut to F bits below 2^E. E itself is the largest sum of two exponents as they stand in the
 * operands, found in 16-bit halves of lanes, two k at once.
 *
 * It holds while no product or scale leaves f32's range. f16 and smaller formats never do; for bf16 and tf32 the exponents are
 * looked at, and what is outside, as also NaN, infinities, sparse and scaled products, is left to mma_wide.h.
 */
#ifndef PXL_MMA_VALUES_H
#define PXL_MMA_VALUES_H

#include "ptx/lib/mma_wide.h"

typedef int16_t pxl_v16w __attribute__((ext_vector_type(16)));

enum {
    VALUES_BIAS = 127,           /* of the exponents kept: f32's own field */
    VALUES_ZERO = -4096,         /* the exponent of a zero: below every other, also when added to the largest */
    VALUES_UP = 19,              /* bf16 and tf32 are multiplied by 2^19, so that small ones have more room than large ones: */
    VALUES_LOW = 127 - 70,       /* products are at least 2^-102 then, and 2^(25 + 102) is finite, */
    VALUES_HIGH = 127 + 43,      /* and below 2^126 */
};

/* Order of k as in pxl_mma_operands: neighbours are words of registers. b_e holds the exponents of k in lower and of k + 1 in upper halves. */
typedef struct pxl_mma_values {
    _Alignas(64) float a[16][32];
    _Alignas(64) int16_t a_e[16][32];
    pxl_v8f b[32];
    pxl_v8u b_e[16];
    pxl_v8s outside;             /* -1 where an operand is out of range */
} pxl_mma_values;

PXL_INLINE int32_t pxl_value_up(int type) { return type == MMA_BF16 || type == MMA_TF32 ? VALUES_UP : 0; }
PXL_INLINE pxl_v8f pxl_value_raised(int type, pxl_v8f v) { return pxl_value_up(type) ? v * 0x1p19f : v; }
/* The exponent that a format gives a value (subnormals have its least). */
PXL_INLINE pxl_v8s pxl_value_exponent(int type, pxl_v8f v, pxl_v8s *outside)
{
    const pxl_v8s size = (pxl_v8s)v & 0x7fffffff, field = size >> 23;
    if (type == MMA_BF16 || type == MMA_TF32)
        *outside |= (field > VALUES_HIGH) | ((field < VALUES_LOW) & (size != 0));
    return size == 0 ? (pxl_v8s)VALUES_ZERO : __builtin_elementwise_max(field, (pxl_v8s)(VALUES_BIAS + 1 - pxl_mma_bias(type)));
}

#define PXL_SPLIT_VALUES(name, type) \
    PXL_NOINLINE bool pxl_split_a_##name(pxl_mma_values *o, const pxl_mma_job *j) \
    { \
        const uint32_t n = (uint32_t)pxl_mma_elements(type), halves = j->rows / 8; \
        bool special = false; \
        for (uint32_t r = 0; r < j->slabs * halves; r++) { \
            const uint32_t *a = j->a[r], first = 8 * (r % halves), k = r / halves * 4 * n; \
            special |= pxl_has_special(type, pxl_load8(a), pxl_load8(a + 8), pxl_load8(a + 16), pxl_load8(a + 24)); \
            for (uint32_t v = 0; v < 4; v++) \
                for (uint32_t i = 0; i < n; i++) { \
                    const uint32_t row = first + 2 * v, at = k + 4 * i; \
                    const pxl_v8f x = pxl_value8(type, pxl_load8(a + 8 * v), i, false); \
                    const pxl_v8w e = __builtin_convertvector(pxl_value_exponent(type, x, &o->outside), pxl_v8w); \
                    const pxl_v8f raised = pxl_value_raised(type, x); \
                    __builtin_memcpy(&o->a[row][at], &raised, 16); \
                    __builtin_memcpy(&o->a[row + 1][at], (const char *)&raised + 16, 16); \
                    __builtin_memcpy(&o->a_e[row][at], &e, 8); \
                    __builtin_memcpy(&o->a_e[row + 1][at], (const char *)&e + 8, 8); \
                } \
        } \
        return special; \
    } \
    PXL_NOINLINE bool pxl_split_b_##name(pxl_mma_values *o, const pxl_mma_job *j) \
    { \
        const uint32_t n = (uint32_t)pxl_mma_elements(type); \
        bool special = false; \
        for (uint32_t s = 0; s < j->slabs; s++) { \
            pxl_v8u word[4]; \
            pxl_transpose_b(j->b[s], word); \
            special |= pxl_has_special(type, word[0], word[1], word[2], word[3]); \
            for (uint32_t i = 0; i < n; i++) \
                for (uint32_t w = 0; w < 4; w += 2) { \
                    const uint32_t at = (s * n + i) * 4 + w; \
                    const pxl_v8f x = pxl_value8(type, word[w], i, false), y = pxl_value8(type, word[w + 1], i, false); \
                    o->b[at] = pxl_value_raised(type, x); \
                    o->b[at + 1] = pxl_value_raised(type, y); \
                    const pxl_v8s e = pxl_value_exponent(type, x, &o->outside), next = pxl_value_exponent(type, y, &o->outside); \
                    o->b_e[at / 2] = ((pxl_v8u)e & 0xffff) | (pxl_v8u)next << 16; \
                } \
        } \
        return special; \
    }
PXL_SPLIT_VALUES(e4m3, MMA_E4M3)
PXL_SPLIT_VALUES(e5m2, MMA_E5M2)
PXL_SPLIT_VALUES(f16, MMA_F16)
PXL_SPLIT_VALUES(bf16, MMA_BF16)
PXL_SPLIT_VALUES(tf32, MMA_TF32)
PXL_SPLIT_VALUES(e3m2, MMA_E3M2)
PXL_SPLIT_VALUES(e2m3, MMA_E2M3)
PXL_SPLIT_VALUES(e2m1, MMA_E2M1)

/* Both return whether an operand may be NaN or infinite. */
PXL_INLINE bool pxl_split_a(pxl_mma_values *o, const pxl_mma_job *j)
{
    switch (j->ta) {
    case MMA_E4M3: return pxl_split_a_e4m3(o, j);
    case MMA_E5M2: return pxl_split_a_e5m2(o, j);
    case MMA_F16:  return pxl_split_a_f16(o, j);
    case MMA_BF16: return pxl_split_a_bf16(o, j);
    case MMA_E3M2: return pxl_split_a_e3m2(o, j);
    case MMA_E2M3: return pxl_split_a_e2m3(o, j);
    case MMA_E2M1: return pxl_split_a_e2m1(o, j);
    default:       return pxl_split_a_tf32(o, j);
    }
}
PXL_INLINE bool pxl_split_b(pxl_mma_values *o, const pxl_mma_job *j)
{
    switch (j->tb) {
    case MMA_E4M3: return pxl_split_b_e4m3(o, j);
    case MMA_E5M2: return pxl_split_b_e5m2(o, j);
    case MMA_F16:  return pxl_split_b_f16(o, j);
    case MMA_BF16: return pxl_split_b_bf16(o, j);
    case MMA_E3M2: return pxl_split_b_e3m2(o, j);
    case MMA_E2M3: return pxl_split_b_e2m3(o, j);
    case MMA_E2M1: return pxl_split_b_e2m1(o, j);
    default:       return pxl_split_b_tf32(o, j);
    }
}

/* Row by row, for one step: the largest exponent, 2^(F - E) and the sums. Each is a pass over the rows, so that rows overlap in the processor. */
typedef struct pxl_values_state {
    pxl_v8s top[16], sum[2][16];
    pxl_v8f scale[16];
} pxl_values_state;

/* Where a part's k begin in a row of A: constants beside `first`. */
#define PXL_EACH_K(s, k, by) \
    _Pragma("clang loop unroll(full)") \
    for (uint32_t s = 0; s < slabs; s++) \
        _Pragma("clang loop unroll(full)") \
        for (uint32_t k = 0; k < n; k += by)

PXL_INLINE void pxl_values_tops(const pxl_mma_values *o, uint32_t first, uint32_t n, uint32_t slabs, uint32_t stride, uint32_t rows,
                                const pxl_tile *c, bool f32, pxl_mma_rule rule, int32_t up, pxl_values_state *state)
{
    const pxl_v8u *b_e = o->b_e + first / 2;
    for (uint32_t r = 0; r < rows; r++) {
        const int16_t *a_e = o->a_e[r] + first;
        pxl_v16w most = 2 * VALUES_ZERO;
        PXL_EACH_K(s, k, 2) {
            uint32_t pair;
            __builtin_memcpy(&pair, a_e + s * stride + k, 4);
            most = __builtin_elementwise_max(most, (pxl_v16w)(pxl_v8u)pair + (pxl_v16w)b_e[(s * stride + k) / 2]);
        }
        const pxl_v8s products = __builtin_elementwise_max((pxl_v8s)most << 16 >> 16, (pxl_v8s)most >> 16) - 2 * VALUES_BIAS;
        const pxl_v8u bits = pxl_load8(c->at[r]);
        const pxl_parts p = pxl_take_c(bits, f32);
        const pxl_v8s top = __builtin_elementwise_max(p.e, products), field = 127 + rule.fraction - up - top;
        /* Above the largest field all products are zero; below the least, c is so large that they are cut to nothing. */
        state->scale[r] = (pxl_v8f)(__builtin_elementwise_max(__builtin_elementwise_min(field, (pxl_v8s)254), (pxl_v8s)0) << 23);
        state->top[r] = top;
        state->sum[0][r] = pxl_cut_c(bits, p, top, f32, rule.fraction);
    }
}
PXL_INLINE void pxl_values_sums(const pxl_mma_values *o, uint32_t first, uint32_t n, uint32_t slabs, uint32_t stride, uint32_t rows, pxl_values_state *state)
{
    const pxl_v8f *b = o->b + first;
    for (uint32_t r = 0; r < rows; r++) {
        const float *a = o->a[r] + first;
        const pxl_v8f scale = state->scale[r];
        pxl_v8s sum[2] = {state->sum[0][r], 0};
        PXL_EACH_K(s, k, 1)
            sum[s] += __builtin_convertvector(a[s * stride + k] * b[s * stride + k] * scale, pxl_v8s);
        state->sum[0][r] = sum[0];
        state->sum[1][r] = sum[1];
    }
}
/* One step of a model over the tile, as pxl_step_rows. */
PXL_INLINE void pxl_values_rows(const pxl_mma_values *o, uint32_t first, uint32_t n, uint32_t slabs, uint32_t stride, const pxl_tile *c,
                                pxl_tile *d, uint32_t rows, bool f32, pxl_mma_rule rule, int32_t up)
{
    pxl_values_state state;
    pxl_values_tops(o, first, n, slabs, stride, rows, c, f32, rule, up, &state);
    pxl_values_sums(o, first, n, slabs, stride, rows, &state);
    for (uint32_t r = 0; r < rows; r++)
        pxl_store8(d->at[r], pxl_finish_sums(state.sum[0][r], state.sum[1][r], slabs == 2, state.top[r], f32, rule));
}
#define PXL_VALUES_STEP(n, slabs, stride) \
    PXL_NOINLINE void pxl_values_##n##x##slabs##_of_##stride(const pxl_mma_values *o, uint32_t first, const pxl_tile *c, pxl_tile *d, \
                                                             uint32_t rows, bool f32, pxl_mma_rule rule, int32_t up) \
    { \
        if (f32) \
            pxl_values_rows(o, first, n, slabs, stride, c, d, rows, true, rule, up); \
        else \
            pxl_values_rows(o, first, n, slabs, stride, c, d, rows, false, rule, up); \
    }
PXL_VALUES_STEP(4, 1, 4)
PXL_VALUES_STEP(4, 2, 4)
PXL_VALUES_STEP(8, 1, 8)
PXL_VALUES_STEP(8, 2, 8)
PXL_VALUES_STEP(8, 2, 16)
PXL_VALUES_STEP(16, 1, 16)
PXL_VALUES_STEP(16, 2, 16)

PXL_INLINE void pxl_values_step(const pxl_mma_values *o, pxl_mma_part part, const pxl_tile *c, pxl_tile *d, uint32_t rows, bool f32,
                                pxl_mma_rule rule, int32_t up)
{
    switch (part.n * 2 + (part.slabs - 1)) {
    case 8:  pxl_values_4x1_of_4(o, part.first, c, d, rows, f32, rule, up); break;
    case 9:  pxl_values_4x2_of_4(o, part.first, c, d, rows, f32, rule, up); break;
    case 16: pxl_values_8x1_of_8(o, part.first, c, d, rows, f32, rule, up); break;
    case 17:
        if (part.stride == 8)
            pxl_values_8x2_of_8(o, part.first, c, d, rows, f32, rule, up);
        else
            pxl_values_8x2_of_16(o, part.first, c, d, rows, f32, rule, up);
        break;
    case 32: pxl_values_16x1_of_16(o, part.first, c, d, rows, f32, rule, up); break;
    default: pxl_values_16x2_of_16(o, part.first, c, d, rows, f32, rule, up); break;
    }
}
/* Whether any element of C is NaN or infinite. */
PXL_INLINE bool pxl_tile_is_special(const pxl_tile *t, uint32_t rows, bool f32)
{
    const uint32_t ones = f32 ? 0x7f800000 : 0x7c00;
    pxl_v8s special = 0;
    for (uint32_t r = 0; r < rows; r++)
        special |= (pxl_load8(t->at[r]) & ones) == ones;
    return pxl_any(special);
}

/* D = A · B + C under an NVIDIA model; false where mma_wide.h has to do it. */
PXL_NOINLINE bool pxl_mma_by_values(const pxl_mma_job *j, const pxl_tile *c, pxl_tile *d, uint32_t model)
{
    const pxl_mma_rule rule = pxl_mma_rule_of(pxl_mma_is_fp8(j->ta), model);
    if (j->sparse || j->scale_a || pxl_tile_is_special(c, j->rows, j->f32))
        return false;
    pxl_mma_values o;
    o.outside = 0;
    if (pxl_split_a(&o, j) || pxl_split_b(&o, j) || pxl_any(o.outside))
        return false;
    const uint32_t n = 4 * (uint32_t)pxl_mma_elements(j->ta), steps = pxl_mma_steps(j, rule);
    const int32_t up = pxl_value_up(j->ta) + pxl_value_up(j->tb);
    static const pxl_tile zero;
    for (uint32_t i = 0; i < steps; i++) {
        if (i && pxl_tile_is_special(d, j->rows, j->f32))     /* a sum that left the format's range is the next step's c */
            return false;
        pxl_values_step(&o, pxl_mma_part_of(j, rule, n, i), i ? d : rule.halves ? &zero : c, d, j->rows, j->f32, rule, up);
    }
    if (rule.halves)
        pxl_add_c(j, c, d);
    return true;
}

#endif
