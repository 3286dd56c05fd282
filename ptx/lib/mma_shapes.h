/* mma_shapes.h - part of mma.c: integer and one-bit products, f64, and the four 8x8x4 products of m8n8k4.f16. */

/* ------------------------------------------------------------ integers */

#if PXL_WIDTH == 32

#define INT_TILE(op, ta, tb, sat) pxl_int_tile(ta, tb, j, &t, sat)
#define BIT_TILE(op, ta, tb, sat) pxl_bit_tile(ta, j, &t)
/* One function per types, called by all shapes. */
#define INT_RUN(name, run, ta, tb, sat) \
    PXL_NOINLINE void pxl_int_run_##name(const pxl_mma_job *j, const L_s32 *const c[4], L_s32 *const d[4]) \
    { \
        pxl_tile t; \
        for (uint32_t h = 0; h < j->rows / 8; h++) pxl_tile_from_columns(&t, h, c[2 * h], c[2 * h + 1]); \
        run(name, ta, tb, sat); \
        for (uint32_t h = 0; h < j->rows / 8; h++) pxl_tile_to_columns(&t, h, d[2 * h], d[2 * h + 1]); \
    }
#define INT_BODY_8(name, ta, tb, sat) \
    const pxl_mma_job j = {.slabs = 1, .rows = 8, .a = {WORDS(a0)}, .b = {WORDS(b0)}}; \
    pxl_int_run_##name(&j, (const L_s32 *const[4]){c0, c1, 0, 0}, (L_s32 *const[4]){d0, d1, 0, 0});
#define INT_BODY_16(name, ta, tb, sat, n, ...) \
    const pxl_mma_job j = {.slabs = n, .rows = 16, __VA_ARGS__}; \
    pxl_int_run_##name(&j, (const L_s32 *const[4]){c0, c1, c2, c3}, (L_s32 *const[4]){d0, d1, d2, d3});

#else

#define INT_RUN(name, run, ta, tb, sat) \
    PXL_NOINLINE int32_t pxl_int_dot_##name(pxl_u32x4 a, pxl_u32x4 b) { return pxl_int_dot(ta, tb, a, b); }
#define INT_BODY_8(name, ta, tb, sat) \
    const uint32_t C0 = (uint32_t)*c0, C1 = (uint32_t)*c1; \
    const pxl_u32x4 g = pxl_row_words(*a0), p = pxl_column_words(*b0, 0), q = pxl_column_words(*b0, 1); \
    *d0 = (int32_t)pxl_add_sum(pxl_int_dot_##name(g, p), C0, sat); \
    *d1 = (int32_t)pxl_add_sum(pxl_int_dot_##name(g, q), C1, sat);
#define INT_BODY_16(name, ta, tb, sat, n, ...) \
    const uint32_t words[] = {__VA_ARGS__}; \
    const uint32_t C0 = (uint32_t)*c0, C1 = (uint32_t)*c1, C2 = (uint32_t)*c2, C3 = (uint32_t)*c3; \
    const pxl_u32x4 g0 = pxl_row_words(words[0]), h0 = pxl_row_words(words[1]), p0 = pxl_column_words(words[4], 0), q0 = pxl_column_words(words[4], 1); \
    int32_t s0 = pxl_int_dot_##name(g0, p0), s1 = pxl_int_dot_##name(g0, q0), s2 = pxl_int_dot_##name(h0, p0), s3 = pxl_int_dot_##name(h0, q0); \
    if (n == 2) { \
        const pxl_u32x4 g1 = pxl_row_words(words[2]), h1 = pxl_row_words(words[3]), p1 = pxl_column_words(words[5], 0), q1 = pxl_column_words(words[5], 1); \
        s0 += pxl_int_dot_##name(g1, p1); s1 += pxl_int_dot_##name(g1, q1); s2 += pxl_int_dot_##name(h1, p1); s3 += pxl_int_dot_##name(h1, q1); \
    } \
    *d0 = (int32_t)pxl_add_sum(s0, C0, sat); *d1 = (int32_t)pxl_add_sum(s1, C1, sat); \
    *d2 = (int32_t)pxl_add_sum(s2, C2, sat); *d3 = (int32_t)pxl_add_sum(s3, C3, sat);

#endif

#define INT_8(shape, name, ta, tb, sat) \
    PXL_INLINE void mma_##shape##name(L_s32 *d0, L_s32 *d1, const L_u32 *a0, const L_u32 *b0, const L_s32 *c0, const L_s32 *c1) \
    { INT_BODY_8(name, ta, tb, sat) }
#define INT_16_1(shape, name, ta, tb, sat) \
    PXL_INLINE void mma_##shape##name(L_s32 *d0, L_s32 *d1, L_s32 *d2, L_s32 *d3, const L_u32 *a0, const L_u32 *a1, const L_u32 *b0, \
                                      const L_s32 *c0, const L_s32 *c1, const L_s32 *c2, const L_s32 *c3) \
    { INT_BODY_16(name, ta, tb, sat, 1, SLABS_1) }
#define INT_16_2(shape, name, ta, tb, sat) \
    PXL_INLINE void mma_##shape##name(L_s32 *d0, L_s32 *d1, L_s32 *d2, L_s32 *d3, const L_u32 *a0, const L_u32 *a1, const L_u32 *a2, const L_u32 *a3, \
                                      const L_u32 *b0, const L_u32 *b1, const L_s32 *c0, const L_s32 *c1, const L_s32 *c2, const L_s32 *c3) \
    { INT_BODY_16(name, ta, tb, sat, 2, SLABS_2) }

/* The three shapes of one pair of types; the functions that do the work are named by what follows the shape. */
#define INT_SHAPES(s8, s16, s16x2, run, name, ta, tb, sat) \
    INT_RUN(name, run, ta, tb, sat) \
    INT_8(s8, name, ta, tb, sat) \
    INT_16_1(s16, name, ta, tb, sat) \
    INT_16_2(s16x2, name, ta, tb, sat)
#define INT_BYTES(a, b, A, B) \
    INT_SHAPES(m8n8k16, m16n8k16, m16n8k32, INT_TILE, _s32_##a##_##b##_s32, A, B, false) \
    INT_SHAPES(m8n8k16, m16n8k16, m16n8k32, INT_TILE, _satfinite_s32_##a##_##b##_s32, A, B, true)
#define INT_NIBBLES(a, b, A, B) \
    INT_SHAPES(m8n8k32, m16n8k32, m16n8k64, INT_TILE, _s32_##a##_##b##_s32, A, B, false) \
    INT_SHAPES(m8n8k32, m16n8k32, m16n8k64, INT_TILE, _satfinite_s32_##a##_##b##_s32, A, B, true)
INT_BYTES(u8, u8, MMA_U8, MMA_U8)
INT_BYTES(u8, s8, MMA_U8, MMA_S8)
INT_BYTES(s8, u8, MMA_S8, MMA_U8)
INT_BYTES(s8, s8, MMA_S8, MMA_S8)
INT_NIBBLES(u4, u4, MMA_U4, MMA_U4)
INT_NIBBLES(u4, s4, MMA_U4, MMA_S4)
INT_NIBBLES(s4, u4, MMA_S4, MMA_U4)
INT_NIBBLES(s4, s4, MMA_S4, MMA_S4)
INT_SHAPES(m8n8k128, m16n8k128, m16n8k256, BIT_TILE, _xor_popc_s32_b1_b1_s32, MMA_XOR, MMA_XOR, false)
INT_SHAPES(m8n8k128, m16n8k128, m16n8k256, BIT_TILE, _and_popc_s32_b1_b1_s32, MMA_AND, MMA_AND, false)

/* ------------------------------------------------------------ f64: a chain of fma in k order, each rounded, whatever the model */

PXL_INLINE L_f64 pxl_read_f64(L_f64 x, L_u32 from)
{
    const L_u64 bits = as_u64(x);
    const L_u32 lo = lane_read(CONVERT(L_u32, bits & 0xffffffffu), from), hi = lane_read(CONVERT(L_u32, bits >> 32), from);
    return as_f64(CONVERT(L_u64, lo) | CONVERT(L_u64, hi) << 32);
}
/* d[0], d[1]: row g; d[2], d[3]: row g + 8. A register holds four k of a row of A (lane 4 · row + k) or a column of B. */
PXL_INLINE void pxl_f64_chain(L_f64 *const *d, const L_f64 *const *a, const L_f64 *const *b, const L_f64 *const *c, uint32_t slabs, uint32_t halves,
                              enum pxl_rounding rounding)
{
    const L_u32 row = lane_id() & ~SPLAT(L_u32, 3), column = (lane_id() & 3u) * 8u;
    L_f64 sum[4];
    for (uint32_t i = 0; i < 2 * halves; i++)
        sum[i] = *c[i];
    for (uint32_t s = 0; s < slabs; s++)
        for (uint32_t k = 0; k < 4; k++) {
            const L_f64 p = pxl_read_f64(*b[s], column + k), q = pxl_read_f64(*b[s], column + (k + 4));
            for (uint32_t h = 0; h < halves; h++) {
                const L_f64 x = pxl_read_f64(*a[s * halves + h], row + k);
                sum[2 * h] = f64_fma(x, p, sum[2 * h], rounding);
                sum[2 * h + 1] = f64_fma(x, q, sum[2 * h + 1], rounding);
            }
        }
    for (uint32_t i = 0; i < 2 * halves; i++)
        *d[i] = f64_canonical(sum[i]);
}
PXL_SHARED void pxl_f64_tile(L_f64 *const *d, const L_f64 *const *a, const L_f64 *const *b, const L_f64 *const *c, uint32_t slabs, uint32_t halves)
{
    pxl_f64_chain(d, a, b, c, slabs, halves, PXL_rn);
}
typedef const L_f64 *const pxl_f64_in[];
typedef L_f64 *const pxl_f64_out[];

PXL_INLINE void mma_m8n8k4_f64_f64_f64_f64(L_f64 *d0, L_f64 *d1, const L_f64 *a0, const L_f64 *b0, const L_f64 *c0, const L_f64 *c1)
{
    pxl_f64_tile((pxl_f64_out){d0, d1}, (pxl_f64_in){a0}, (pxl_f64_in){b0}, (pxl_f64_in){c0, c1}, 1, 1);
}
PXL_INLINE void mma_m16n8k4_f64_f64_f64_f64(L_f64 *d0, L_f64 *d1, L_f64 *d2, L_f64 *d3, const L_f64 *a0, const L_f64 *a1, const L_f64 *b0,
                                            const L_f64 *c0, const L_f64 *c1, const L_f64 *c2, const L_f64 *c3)
{
    pxl_f64_tile((pxl_f64_out){d0, d1, d2, d3}, (pxl_f64_in){a0, a1}, (pxl_f64_in){b0}, (pxl_f64_in){c0, c1, c2, c3}, 1, 2);
}
PXL_INLINE void mma_m16n8k8_f64_f64_f64_f64(L_f64 *d0, L_f64 *d1, L_f64 *d2, L_f64 *d3, const L_f64 *a0, const L_f64 *a1, const L_f64 *a2,
                                            const L_f64 *a3, const L_f64 *b0, const L_f64 *b1, const L_f64 *c0, const L_f64 *c1, const L_f64 *c2, const L_f64 *c3)
{
    pxl_f64_tile((pxl_f64_out){d0, d1, d2, d3}, (pxl_f64_in){a0, a1, a2, a3}, (pxl_f64_in){b0, b1}, (pxl_f64_in){c0, c1, c2, c3}, 2, 2);
}
PXL_INLINE void mma_m16n8k16_f64_f64_f64_f64(L_f64 *d0, L_f64 *d1, L_f64 *d2, L_f64 *d3, const L_f64 *a0, const L_f64 *a1, const L_f64 *a2,
                                             const L_f64 *a3, const L_f64 *a4, const L_f64 *a5, const L_f64 *a6, const L_f64 *a7, const L_f64 *b0,
                                             const L_f64 *b1, const L_f64 *b2, const L_f64 *b3, const L_f64 *c0, const L_f64 *c1, const L_f64 *c2, const L_f64 *c3)
{
    pxl_f64_tile((pxl_f64_out){d0, d1, d2, d3}, (pxl_f64_in){a0, a1, a2, a3, a4, a5, a6, a7}, (pxl_f64_in){b0, b1, b2, b3}, (pxl_f64_in){c0, c1, c2, c3}, 4, 2);
}

/* ------------------------------------------------------------ m8n8k4.f16: four products, one for each pair of quads
 *
 * Quads q and q + 4 (lanes 4q… and 16 + 4q…) multiply an 8x4 by a 4x8 matrix (PTX ISA, "Matrix Fragments for mma.m8n8k4 with
 * .f16 floating point type"). In the layout where a lane holds a whole row of A or column of B, that is lane q, m % 4, of the quad m / 4;
 * in the other one, lane k holds element m of its quad's four.
 */
PXL_INLINE L_u32 pxl_quad_lane(L_u32 half, L_u32 j)
{
    return (lane_id() & 12u) | (half << 4) | j;
}
/* Row (or column) m of the operand in x0, x1 as four f16 in two words. */
PXL_INLINE void pxl_quad_vector(L_u32 x0, L_u32 x1, L_u32 m, bool whole, L_u32 out[2])
{
    const L_u32 half = m >> 2, low = m & 3u;
    if (whole) {
        out[0] = lane_read(x0, pxl_quad_lane(half, low));
        out[1] = lane_read(x1, pxl_quad_lane(half, low));
        return;
    }
    L_u32 e[4];
    for (uint32_t k = 0; k < 4; k++) {
        const L_u32 from = pxl_quad_lane(half, SPLAT(L_u32, k)), y0 = lane_read(x0, from), y1 = lane_read(x1, from);
        const L_u32 word = SEL(low >= 2u, y1, y0);
        e[k] = (word >> ((low & 1u) * 16u)) & 0xffffu;
    }
    out[0] = e[0] | e[1] << 16;
    out[1] = e[2] | e[3] << 16;
}
/* One element in every lane; c and the result are f16 or f32 bits. k beyond 4 adds +0 · -0, which changes nothing. */
PXL_INLINE L_u32 pxl_quad_dot(const L_u32 a[2], const L_u32 b[2], L_u32 c, bool f32, uint32_t model)
{
    L_u32 d;
    FOR_LANES(i) {
        const pxl_u32x4 x = {LANE(a[0], i), LANE(a[1], i), 0, 0}, y = {LANE(b[0], i), LANE(b[1], i), 0x80008000u, 0x80008000u};
        LANE(d, i) = pxl_dot(MMA_F16, MMA_F16, x, y, x, y, 1, LANE(c, i), f32, model);
    }
    return d;
}
/* Row and column of element i of C and D. */
PXL_INLINE L_u32 pxl_quad_row(uint32_t i, bool f32)
{
    const L_u32 l = lane_id(), lower = (l >> 4) << 2;
    return f32 ? ((l & 1u) | (i & 2u)) + lower : (l & 3u) + lower;
}
PXL_INLINE L_u32 pxl_quad_column(uint32_t i, bool f32)
{
    return f32 ? (lane_id() & 2u) + ((i & 4u) | (i & 1u)) : SPLAT(L_u32, i);
}
PXL_NOINLINE L_u32 pxl_quad_element(L_u32 a0, L_u32 a1, L_u32 b0, L_u32 b1, L_u32 row, L_u32 column, bool a_row, bool b_col, L_u32 c, bool f32, uint32_t model)
{
    L_u32 a[2], b[2];
    pxl_quad_vector(a0, a1, row, a_row, a);
    pxl_quad_vector(b0, b1, column, b_col, b);
    return pxl_quad_dot(a, b, c, f32, model);
}
PXL_INLINE L_u32 pxl_half_of(L_u32 word, uint32_t i) { return i & 1 ? word >> 16 : word & 0xffffu; }
PXL_INLINE L_u32 pxl_widen_f16(L_u32 h)
{
    L_u32 r;
    FOR_LANES(i) { const float f = pxl_f32_from_f16(LANE(h, i)); LANE(r, i) = pxl_f32_bits(f); }
    return r;
}

#define M8N8K4_OPERANDS const L_u32 *a0, const L_u32 *a1, const L_u32 *b0, const L_u32 *b1
#define M8N8K4_F32_RESULTS L_f32 *d0, L_f32 *d1, L_f32 *d2, L_f32 *d3, L_f32 *d4, L_f32 *d5, L_f32 *d6, L_f32 *d7
#define M8N8K4_PAIRS const L_u32 *c0, const L_u32 *c1, const L_u32 *c2, const L_u32 *c3
#define M8N8K4_ALL(la, lb, f32, c_of) \
    L_u32 r[8]; \
    for (uint32_t i = 0; i < 8; i++) \
        r[i] = pxl_quad_element(*a0, *a1, *b0, *b1, pxl_quad_row(i, f32), pxl_quad_column(i, f32), la, lb, c_of, f32, M);
#define M8N8K4_STORE_F32 \
    *d0 = as_f32(r[0]); *d1 = as_f32(r[1]); *d2 = as_f32(r[2]); *d3 = as_f32(r[3]); \
    *d4 = as_f32(r[4]); *d5 = as_f32(r[5]); *d6 = as_f32(r[6]); *d7 = as_f32(r[7]);
#define M8N8K4(a, b, la, lb) \
    PXL_INLINE void mma_m8n8k4_##a##_##b##_f16_f16_f16_f16(L_u32 *d0, L_u32 *d1, L_u32 *d2, L_u32 *d3, M8N8K4_OPERANDS, M8N8K4_PAIRS, uint32_t M) \
    { \
        const L_u32 c[4] = {*c0, *c1, *c2, *c3}; \
        M8N8K4_ALL(la, lb, false, pxl_half_of(c[i / 2], i)) \
        *d0 = r[0] | r[1] << 16; *d1 = r[2] | r[3] << 16; *d2 = r[4] | r[5] << 16; *d3 = r[6] | r[7] << 16; \
    } \
    PXL_INLINE void mma_m8n8k4_##a##_##b##_f32_f16_f16_f32(M8N8K4_F32_RESULTS, M8N8K4_OPERANDS, const L_f32 *c0, const L_f32 *c1, const L_f32 *c2, \
        const L_f32 *c3, const L_f32 *c4, const L_f32 *c5, const L_f32 *c6, const L_f32 *c7, uint32_t M) \
    { \
        const L_u32 c[8] = {as_u32(*c0), as_u32(*c1), as_u32(*c2), as_u32(*c3), as_u32(*c4), as_u32(*c5), as_u32(*c6), as_u32(*c7)}; \
        M8N8K4_ALL(la, lb, true, c[i]) \
        M8N8K4_STORE_F32 \
    }
/* An f32 result with an f16 accumulator: c lies as f16 accumulators do (its row and column are not d's), so it is fetched from its lane. */
PXL_INLINE L_u32 pxl_quad_c(const L_u32 c[4], L_u32 row, L_u32 column)
{
    const L_u32 from = pxl_quad_lane(row >> 2, row & 3u);
    L_u32 word = lane_read(c[0], from);
    for (uint32_t k = 1; k < 4; k++) {
        const L_u32 other = lane_read(c[k], from);
        word = SEL((column >> 1) == k, other, word);
    }
    return pxl_widen_f16((word >> ((column & 1u) * 16u)) & 0xffffu);
}
#define M8N8K4_MIXED(a, b, la, lb) \
    PXL_INLINE void mma_m8n8k4_##a##_##b##_f32_f16_f16_f16(M8N8K4_F32_RESULTS, M8N8K4_OPERANDS, M8N8K4_PAIRS, uint32_t M) \
    { \
        const L_u32 c[4] = {*c0, *c1, *c2, *c3}; \
        M8N8K4_ALL(la, lb, true, pxl_quad_c(c, pxl_quad_row(i, true), pxl_quad_column(i, true))) \
        M8N8K4_STORE_F32 \
    }
M8N8K4(row, col, true, true)
M8N8K4(row, row, true, false)
M8N8K4(col, col, false, true)
M8N8K4(col, row, false, false)
M8N8K4_MIXED(row, col, true, true)
M8N8K4_MIXED(row, row, true, false)
M8N8K4_MIXED(col, col, false, true)
M8N8K4_MIXED(col, row, false, false)
