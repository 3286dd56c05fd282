/* mma.c - warp-wide matrix products (PTX ISA, "Matrix multiply-accumulate operation using mma instruction").
 *
 * A lane (g = lane / 4, t = lane % 4) holds columns 2t and 2t + 1 of rows g and g + 8 of C and D. In
 * A and B it holds the 32-bit word t of a row or column of 16 bytes: of rows g and g + 8 of A and of
 * column g of B. Every m16n8 and integer m8n8 shape is of this kind, whatever its types.
 *
 * At width 32 the registers are dense matrices and mma_wide.h, mma_fp8.h and mma_int.h multiply
 * whole tiles; at width 1 a lane reads the words of its two rows and two columns from the others and
 * computes its elements with mma_dot.h. Both give the same bits.
 */
#include "ptx/lib/f64_exact.h"
#if PXL_WIDTH == 32
#include "ptx/lib/mma_fp8.h"
#include "ptx/lib/mma_values.h"
#else
#define PXL_NOINLINE static __attribute__((noinline, unused))
#include "ptx/lib/mma_lane.h"
#endif
#include "ptx/lib/mma_fp4.h"

#if PXL_WIDTH == 32

/* ------------------------------------------------------------ width 32: tiles */

PXL_INLINE void pxl_tile_from_pairs(pxl_tile *t, const L_u32 *c0, const L_u32 *c1)
{
    const uint16_t *c[2] = {(const uint16_t *)c0, (const uint16_t *)c1};
    for (uint32_t r = 0; r < 16; r++) {
        pxl_v8w v;
        __builtin_memcpy(&v, c[r / 8] + r % 8 * 8, sizeof v);
        pxl_store8(t->at[r], __builtin_convertvector(v, pxl_v8u));
    }
}
PXL_INLINE void pxl_tile_to_pairs(const pxl_tile *t, L_u32 *d0, L_u32 *d1)
{
    uint16_t *d[2] = {(uint16_t *)d0, (uint16_t *)d1};
    for (uint32_t r = 0; r < 16; r++) {
        const pxl_v8w v = __builtin_convertvector(pxl_load8(t->at[r]), pxl_v8w);
        __builtin_memcpy(d[r / 8] + r % 8 * 8, &v, sizeof v);
    }
}
/* Rows 8h to 8h + 7 from the register of the even columns and that of the odd ones. */
PXL_INLINE void pxl_tile_from_columns(pxl_tile *t, uint32_t h, const void *even, const void *odd)
{
    for (uint32_t r = 0; r < 8; r++) {
        pxl_u32x4 x, y;
        __builtin_memcpy(&x, (const uint32_t *)even + 4 * r, 16);
        __builtin_memcpy(&y, (const uint32_t *)odd + 4 * r, 16);
        pxl_store8(t->at[8 * h + r], __builtin_shufflevector(x, y, 0, 4, 1, 5, 2, 6, 3, 7));
    }
}
PXL_INLINE void pxl_tile_to_columns(const pxl_tile *t, uint32_t h, void *even, void *odd)
{
    for (uint32_t r = 0; r < 8; r++) {
        const pxl_v8u v = pxl_load8(t->at[8 * h + r]);
        pxl_store4((uint32_t *)even + 4 * r, v.even);
        pxl_store4((uint32_t *)odd + 4 * r, v.odd);
    }
}

PXL_INLINE void pxl_mma_tile(const pxl_mma_job *j, const pxl_tile *c, pxl_tile *d, uint32_t model)
{
    if (model == MODEL_IEEE)
        pxl_mma_ieee(j, c, d);
    else if (!pxl_mma_by_values(j, c, d, model))
        pxl_mma_exact(j, c, d, model);
}
/* Any floating product, whatever its types. */
PXL_NOINLINE void pxl_tile_f16(const pxl_mma_job *j, const L_u32 *c0, const L_u32 *c1, L_u32 *d0, L_u32 *d1, uint32_t model)
{
    pxl_tile c, d;
    pxl_tile_from_pairs(&c, c0, c1);
    pxl_mma_tile(j, &c, &d, model);
    pxl_tile_to_pairs(&d, d0, d1);
}
PXL_NOINLINE void pxl_tile_f32(const pxl_mma_job *j, const L_f32 *const c[4], L_f32 *const d[4], uint32_t model)
{
    pxl_tile ct, dt;
    pxl_tile_from_columns(&ct, 0, c[0], c[1]);
    pxl_tile_from_columns(&ct, 1, c[2], c[3]);
    pxl_mma_tile(j, &ct, &dt, model);
    pxl_tile_to_columns(&dt, 0, d[0], d[1]);
    pxl_tile_to_columns(&dt, 1, d[2], d[3]);
}

/* fp8 under F = 13 and ieee: false where mma_wide.h has to do it. */
#if defined(__AVX2__) && defined(__F16C__) && defined(__FMA__)
#define PXL_FP8_FAST(ta, tb, A5, B5) \
    PXL_NOINLINE bool pxl_fast_f16_##ta##_##tb(const pxl_mma_job *j, const L_u32 *c0, const L_u32 *c1, L_u32 *d0, L_u32 *d1, bool ieee) \
    { \
        const pxl_fp8_job job = {{j->a[0], j->a[1], j->a[2], j->a[3]}, {j->b[0], j->b[1]}, j->slabs, A5, B5, ieee}; \
        const uint16_t *const c[2] = {(const uint16_t *)c0, (const uint16_t *)c1}; \
        L_u32 x, y; \
        uint16_t *const d[2] = {(uint16_t *)&x, (uint16_t *)&y}; \
        const bool done = ieee ? pxl_fp8_chain_f16(&job, c, d) : pxl_fp8_f16(&job, c, d); \
        if (done) { *d0 = x; *d1 = y; } \
        return done; \
    } \
    PXL_NOINLINE bool pxl_fast_f32_##ta##_##tb(const pxl_mma_job *j, const L_f32 *const c[4], L_f32 *const d[4], bool ieee) \
    { \
        const pxl_fp8_job job = {{j->a[0], j->a[1], j->a[2], j->a[3]}, {j->b[0], j->b[1]}, j->slabs, A5, B5, ieee}; \
        const float *const from[4] = {(const float *)c[0], (const float *)c[1], (const float *)c[2], (const float *)c[3]}; \
        L_f32 x[4]; \
        float *const to[4] = {(float *)&x[0], (float *)&x[1], (float *)&x[2], (float *)&x[3]}; \
        const bool done = ieee ? pxl_fp8_chain_f32(&job, from, to) : pxl_fp8_f32(&job, from, to); \
        for (uint32_t i = 0; done && i < 4; i++) *d[i] = x[i]; \
        return done; \
    }
PXL_INLINE bool pxl_fp8_rule(uint32_t model) { return model == MODEL_IEEE || pxl_mma_rule_of(true, model).fraction == 13; }
#else
#define PXL_FP8_FAST(ta, tb, A5, B5) PXL_NOT_FAST(ta, tb)
PXL_INLINE bool pxl_fp8_rule(uint32_t model) { (void)model; return false; }
#endif
#define PXL_NOT_FAST(ta, tb) \
    PXL_INLINE bool pxl_fast_f16_##ta##_##tb(const pxl_mma_job *j, const L_u32 *c0, const L_u32 *c1, L_u32 *d0, L_u32 *d1, bool ieee) \
    { (void)j; (void)c0; (void)c1; (void)d0; (void)d1; (void)ieee; return false; } \
    PXL_INLINE bool pxl_fast_f32_##ta##_##tb(const pxl_mma_job *j, const L_f32 *const c[4], L_f32 *const d[4], bool ieee) \
    { (void)j; (void)c; (void)d; (void)ieee; return false; }
PXL_FP8_FAST(e4m3, e4m3, false, false)
PXL_FP8_FAST(e4m3, e5m2, false, true)
PXL_FP8_FAST(e5m2, e4m3, true, false)
PXL_FP8_FAST(e5m2, e5m2, true, true)
PXL_NOT_FAST(f16, f16)
PXL_NOT_FAST(bf16, bf16)
PXL_NOT_FAST(tf32, tf32)

#define WORDS(p) ((const uint32_t *)(p))
#define MMA_BODY_F16(ta, tb, TA, TB, n, ...) \
    const pxl_mma_job j = {TA, TB, n, 16, false, __VA_ARGS__}; \
    if (!(pxl_mma_is_fp8(TA) && pxl_fp8_rule(M) && pxl_fast_f16_##ta##_##tb(&j, c0, c1, d0, d1, M == MODEL_IEEE))) \
        pxl_tile_f16(&j, c0, c1, d0, d1, M);
#define MMA_BODY_F32(ta, tb, TA, TB, n, ...) \
    const pxl_mma_job j = {TA, TB, n, 16, true, __VA_ARGS__}; \
    const L_f32 *const c[4] = {c0, c1, c2, c3}; \
    L_f32 *const d[4] = {d0, d1, d2, d3}; \
    if (!(pxl_mma_is_fp8(TA) && pxl_fp8_rule(M) && pxl_fast_f32_##ta##_##tb(&j, c, d, M == MODEL_IEEE))) \
        pxl_tile_f32(&j, c, d, M);
#define SLABS_1 .a = {WORDS(a0), WORDS(a1)}, .b = {WORDS(b0)}
#define SLABS_2 .a = {WORDS(a0), WORDS(a1), WORDS(a2), WORDS(a3)}, .b = {WORDS(b0), WORDS(b1)}

#else

/* ------------------------------------------------------------ width 1: one lane's elements */

/* The four words of this lane's row of A, and of column 2t or 2t + 1 of B. */
PXL_INLINE pxl_u32x4 pxl_row_words(uint32_t a)
{
    const uint32_t from = lane_id() & ~3u;
    return (pxl_u32x4){lane_read(a, from), lane_read(a, from + 1), lane_read(a, from + 2), lane_read(a, from + 3)};
}
PXL_INLINE pxl_u32x4 pxl_column_words(uint32_t b, uint32_t odd)
{
    const uint32_t from = (lane_id() & 3u) * 8 + odd * 4;
    return (pxl_u32x4){lane_read(b, from), lane_read(b, from + 1), lane_read(b, from + 2), lane_read(b, from + 3)};
}
typedef uint32_t pxl_u32x2 __attribute__((ext_vector_type(2)));
/* A row and two columns, for products whose rows do not share their columns: two functions per pair of types. */
#define PXL_ROW_DOT(ta, tb, A, B) \
    PXL_NOINLINE pxl_u32x2 pxl_row_##ta##_##tb##_1(pxl_u32x4 row, pxl_u32x4 even, pxl_u32x4 odd, pxl_u32x2 c, uint32_t f32, uint32_t model) \
    { \
        pxl_lane_block o = {.a = {{row}}, .b = {{even}, {odd}}, .c = {c.x, c.y}}; \
        pxl_block_dot(A, B, 1, 1, &o, pxl_uniform(f32), pxl_uniform(model)); \
        return (pxl_u32x2){o.c[0], o.c[1]}; \
    } \
    PXL_NOINLINE pxl_u32x2 pxl_row_##ta##_##tb##_2(pxl_u32x4 row0, pxl_u32x4 row1, pxl_u32x4 even0, pxl_u32x4 even1, pxl_u32x4 odd0, pxl_u32x4 odd1, \
                                                 pxl_u32x2 c, uint32_t f32, uint32_t model) \
    { \
        pxl_lane_block o = {.a = {{row0, row1}}, .b = {{even0, even1}, {odd0, odd1}}, .c = {c.x, c.y}}; \
        pxl_block_dot(A, B, 1, 2, &o, pxl_uniform(f32), pxl_uniform(model)); \
        return (pxl_u32x2){o.c[0], o.c[1]}; \
    } \
    PXL_INLINE pxl_u32x2 pxl_row_##ta##_##tb(const pxl_u32x4 row[2], const pxl_u32x4 even[2], const pxl_u32x4 odd[2], uint32_t slabs, pxl_u32x2 c, \
                                           bool f32, uint32_t model) \
    { \
        return slabs == 2 ? pxl_row_##ta##_##tb##_2(row[0], row[1], even[0], even[1], odd[0], odd[1], c, f32, model) \
                          : pxl_row_##ta##_##tb##_1(row[0], even[0], odd[0], c, f32, model); \
    }
PXL_ROW_DOT(e4m3, e4m3, MMA_E4M3, MMA_E4M3)
PXL_ROW_DOT(e4m3, e5m2, MMA_E4M3, MMA_E5M2)
PXL_ROW_DOT(e5m2, e4m3, MMA_E5M2, MMA_E4M3)
PXL_ROW_DOT(e5m2, e5m2, MMA_E5M2, MMA_E5M2)
PXL_ROW_DOT(f16, f16, MMA_F16, MMA_F16)
PXL_ROW_DOT(bf16, bf16, MMA_BF16, MMA_BF16)
PXL_ROW_DOT(tf32, tf32, MMA_TF32, MMA_TF32)

#define MMA_LANE(TA, TB, n, f32, c0, c1, c2, c3) \
    pxl_lane_block o = {.c = {c0, c1, c2, c3}}; \
    for (uint32_t i = 0; i < 2 * n; i++) { \
        o.a[i % 2][i / 2] = pxl_row_words(words[i]); \
        o.b[i % 2][i / 2] = pxl_column_words(words[4 + i / 2], i % 2); \
    } \
    pxl_block_dot(TA, TB, 2, n, &o, f32, pxl_uniform(M));
#define MMA_BODY_F16(ta, tb, TA, TB, n, ...) \
    const uint32_t words[] = {__VA_ARGS__}; \
    const uint32_t C0 = *c0, C1 = *c1; \
    MMA_LANE(TA, TB, n, false, C0 & 0xffff, C0 >> 16, C1 & 0xffff, C1 >> 16) \
    *d0 = o.c[0] | o.c[1] << 16; \
    *d1 = o.c[2] | o.c[3] << 16;
#define MMA_BODY_F32(ta, tb, TA, TB, n, ...) \
    const uint32_t words[] = {__VA_ARGS__}; \
    MMA_LANE(TA, TB, n, true, as_u32(*c0), as_u32(*c1), as_u32(*c2), as_u32(*c3)) \
    *d0 = as_f32(o.c[0]); *d1 = as_f32(o.c[1]); *d2 = as_f32(o.c[2]); *d3 = as_f32(o.c[3]);
#define SLABS_1 *a0, *a1, 0, 0, *b0, 0
#define SLABS_2 *a0, *a1, *a2, *a3, *b0, *b1

#endif

/* ------------------------------------------------------------ floating products */

#define MMA_1(shape, ta, tb, TA, TB) \
    MMA_1_F16(shape, ta, tb, TA, TB) \
    MMA_1_F32(shape, ta, tb, TA, TB)
#define MMA_1_F16(shape, ta, tb, TA, TB) \
    PXL_INLINE void mma_##shape##_f16_##ta##_##tb##_f16(L_u32 *d0, L_u32 *d1, const L_u32 *a0, const L_u32 *a1, const L_u32 *b0, \
                                                        const L_u32 *c0, const L_u32 *c1, uint32_t M) \
    { MMA_BODY_F16(ta, tb, TA, TB, 1, SLABS_1) }
#define MMA_1_F32(shape, ta, tb, TA, TB) \
    PXL_INLINE void mma_##shape##_f32_##ta##_##tb##_f32(L_f32 *d0, L_f32 *d1, L_f32 *d2, L_f32 *d3, const L_u32 *a0, const L_u32 *a1, \
                                                        const L_u32 *b0, const L_f32 *c0, const L_f32 *c1, const L_f32 *c2, const L_f32 *c3, uint32_t M) \
    { MMA_BODY_F32(ta, tb, TA, TB, 1, SLABS_1) }
#define MMA_2(shape, ta, tb, TA, TB) \
    MMA_2_F16(shape, ta, tb, TA, TB) \
    MMA_2_F32(shape, ta, tb, TA, TB)
#define MMA_2_F16(shape, ta, tb, TA, TB) \
    PXL_INLINE void mma_##shape##_f16_##ta##_##tb##_f16(L_u32 *d0, L_u32 *d1, const L_u32 *a0, const L_u32 *a1, const L_u32 *a2, const L_u32 *a3, \
                                                        const L_u32 *b0, const L_u32 *b1, const L_u32 *c0, const L_u32 *c1, uint32_t M) \
    { MMA_BODY_F16(ta, tb, TA, TB, 2, SLABS_2) }
#define MMA_2_F32(shape, ta, tb, TA, TB) \
    PXL_INLINE void mma_##shape##_f32_##ta##_##tb##_f32(L_f32 *d0, L_f32 *d1, L_f32 *d2, L_f32 *d3, const L_u32 *a0, const L_u32 *a1, const L_u32 *a2, \
                                                        const L_u32 *a3, const L_u32 *b0, const L_u32 *b1, const L_f32 *c0, const L_f32 *c1, \
                                                        const L_f32 *c2, const L_f32 *c3, uint32_t M) \
    { MMA_BODY_F32(ta, tb, TA, TB, 2, SLABS_2) }

MMA_2(m16n8k32, e4m3, e4m3, MMA_E4M3, MMA_E4M3)
MMA_2(m16n8k32, e4m3, e5m2, MMA_E4M3, MMA_E5M2)
MMA_2(m16n8k32, e5m2, e4m3, MMA_E5M2, MMA_E4M3)
MMA_2(m16n8k32, e5m2, e5m2, MMA_E5M2, MMA_E5M2)
MMA_1(m16n8k16, e4m3, e4m3, MMA_E4M3, MMA_E4M3)
MMA_1(m16n8k16, e4m3, e5m2, MMA_E4M3, MMA_E5M2)
MMA_1(m16n8k16, e5m2, e4m3, MMA_E5M2, MMA_E4M3)
MMA_1(m16n8k16, e5m2, e5m2, MMA_E5M2, MMA_E5M2)
MMA_2(m16n8k16, f16, f16, MMA_F16, MMA_F16)
MMA_1(m16n8k8, f16, f16, MMA_F16, MMA_F16)
MMA_2_F32(m16n8k16, bf16, bf16, MMA_BF16, MMA_BF16)
MMA_1_F32(m16n8k8, bf16, bf16, MMA_BF16, MMA_BF16)
MMA_2_F32(m16n8k8, tf32, tf32, MMA_TF32, MMA_TF32)
MMA_1_F32(m16n8k4, tf32, tf32, MMA_TF32, MMA_TF32)

#include "ptx/lib/mma_shapes.h"
#include "ptx/lib/mma_wmma.h"
#include "ptx/lib/mma_kinds.h"
#include "gen/isa_wrap_mma.h"
