/* mma_wmma.h - part of mma.c: wmma.mma as a few m16n8 or m8n8 products, over the fragments of wmma_layout.h.
 *
 * Tile (i, j) of C and D is made of tile i of A's rows and tile j of B's columns. Where C and D have different types
 * the product is computed with an f32 accumulator; an f16 result is rounded once more.
 * .satfinite of floating products: elements of D that are infinite become the largest number, NaN becomes +0 (CUDA C++ Programming
 * Guide, mma_sync's satf). Not what a step of k leaves: for sm_75 ptxas sets the saturating bit on the last HMMA alone.
 */

enum { WMMA_MAX = 8 };

/* What a wmma is made of, all constant. */
typedef struct pxl_wmma_kind {
    int ta, tb;
    uint32_t m, n, slabs;
    bool d32, c32;             /* f32 or s32 registers, else pairs of f16 */
    bool integer, satfinite;
} pxl_wmma_kind;

#if PXL_WIDTH == 32

PXL_INLINE void pxl_wmma_load_c(pxl_tile *t, const uint32_t *const *c, uint32_t halves, bool c32)
{
    for (uint32_t h = 0; h < halves; h++) {
        if (c32) {
            pxl_tile_from_columns(t, h, c[2 * h], c[2 * h + 1]);
            continue;
        }
        for (uint32_t r = 0; r < 8; r++)
            for (uint32_t n = 0; n < 8; n++)
                t->at[8 * h + r][n] = ((const uint16_t *)c[h])[8 * r + n];
    }
}
PXL_INLINE void pxl_wmma_store_d(const pxl_tile *t, uint32_t *const *d, uint32_t halves, bool d32)
{
    for (uint32_t h = 0; h < halves; h++) {
        if (d32) {
            pxl_tile_to_columns(t, h, d[2 * h], d[2 * h + 1]);
            continue;
        }
        for (uint32_t r = 0; r < 8; r++)
            for (uint32_t n = 0; n < 8; n++)
                ((uint16_t *)d[h])[8 * r + n] = (uint16_t)t->at[8 * h + r][n];
    }
}
PXL_INLINE pxl_v8u pxl_row_satfinite(pxl_v8u bits, bool f32)
{
    const uint32_t inf = f32 ? F32_INF : 0x7c00u, size_bits = f32 ? 0x7fffffffu : 0x7fffu;
    const pxl_v8u size = bits & size_bits;
    return size > inf ? (pxl_v8u)0 : size == inf ? bits - 1 : bits;
}
PXL_INLINE void pxl_wmma_product(const pxl_wmma_kind *k, const pxl_mma_job *j, pxl_tile *t, uint32_t model)
{
    if (k->integer) {
        pxl_int_tile(k->ta, k->tb, j, t, k->satfinite);
        return;
    }
    const bool f32 = k->d32 || k->c32;
    pxl_tile c = *t;
    for (uint32_t r = 0; f32 && !k->c32 && r < j->rows; r++)
        pxl_set_tile_row(&c, r, true, pxl_f16_row(pxl_load8(c.at[r])));
    pxl_mma_tile(j, &c, t, model);
    for (uint32_t r = 0; f32 && !k->d32 && r < j->rows; r++)
        pxl_store8(t->at[r], pxl_row_f16((pxl_v8f)pxl_load8(t->at[r])));
    for (uint32_t r = 0; k->satfinite && r < j->rows; r++)
        pxl_store8(t->at[r], pxl_row_satfinite(pxl_load8(t->at[r]), k->d32));
}
/* Results are stored at the end: D may share registers with A, B or C. */
PXL_NOINLINE void pxl_wmma(const pxl_wmma_kind *k, uint32_t *const d[WMMA_MAX], const uint32_t *const a[WMMA_MAX],
                         const uint32_t *const b[WMMA_MAX], const uint32_t *const c[WMMA_MAX], uint32_t model)
{
    const uint32_t halves = k->m >= 16 ? 2 : 1, columns = k->n / 8, tiles = k->m / (8 * halves) * columns;
    const uint32_t c_regs = halves * (k->c32 ? 2 : 1), d_regs = halves * (k->d32 ? 2 : 1);
    pxl_tile t[4];
    for (uint32_t i = 0; i < tiles; i++) {
        pxl_mma_job j = {.ta = k->ta, .tb = k->tb, .slabs = k->slabs, .rows = 8 * halves, .f32 = k->d32 || k->c32};
        for (uint32_t s = 0; s < k->slabs; s++) {
            for (uint32_t h = 0; h < halves; h++)
                j.a[s * halves + h] = a[i / columns * halves * k->slabs + s * halves + h];
            j.b[s] = b[i % columns * k->slabs + s];
        }
        pxl_wmma_load_c(&t[i], c + i * c_regs, halves, k->c32);
        pxl_wmma_product(k, &j, &t[i], model);
    }
    for (uint32_t i = 0; i < tiles; i++)
        pxl_wmma_store_d(&t[i], d + i * d_regs, halves, k->d32);
}
#define WMMA_RUN(name, TA, TB, m, n, slabs, d32, c32, integer, sat) \
    PXL_NOINLINE void pxl_run_##name(uint32_t *const d[WMMA_MAX], const uint32_t *const a[WMMA_MAX], const uint32_t *const b[WMMA_MAX], \
                                     const uint32_t *const c[WMMA_MAX], uint32_t model) \
    { \
        static const pxl_wmma_kind k = {TA, TB, m, n, slabs, d32, c32, integer, sat}; \
        pxl_wmma(&k, d, a, b, c, model); \
    }
#define WMMA_IN(x) ((const uint32_t *)(x))
#define WMMA_OUT(x) ((uint32_t *)(x))
typedef const uint32_t *const pxl_wmma_in[WMMA_MAX];
typedef uint32_t *const pxl_wmma_out[WMMA_MAX];
#define WMMA_CALL(name, d, a, b, c, model) pxl_run_##name((pxl_wmma_out){d}, (pxl_wmma_in){a}, (pxl_wmma_in){b}, (pxl_wmma_in){c}, model)

#else

PXL_INLINE uint32_t pxl_satfinite(uint32_t bits, bool f32)
{
    const uint32_t inf = f32 ? F32_INF : 0x7c00u, size = bits & (f32 ? 0x7fffffffu : 0x7fffu);
    return size > inf ? 0 : size == inf ? bits - 1 : bits;
}
/* The two elements of a row; integers in pairs too. */
PXL_INLINE pxl_u32x2 pxl_wmma_int_row(const pxl_wmma_kind *k, pxl_u32x4 a, pxl_u32x4 even, pxl_u32x4 odd, pxl_u32x2 c)
{
    const bool s8 = k->ta == MMA_S8;
    return (pxl_u32x2){pxl_add_sum(s8 ? pxl_int_dot__s32_s8_s8_s32(a, even) : pxl_int_dot__s32_u8_u8_s32(a, even), c.x, k->satfinite),
                       pxl_add_sum(s8 ? pxl_int_dot__s32_s8_s8_s32(a, odd) : pxl_int_dot__s32_u8_u8_s32(a, odd), c.y, k->satfinite)};
}
PXL_INLINE pxl_u32x2 pxl_wmma_row(const pxl_wmma_kind *k, const pxl_u32x4 a[2], const pxl_u32x4 even[2], const pxl_u32x4 odd[2], pxl_u32x2 c, uint32_t model)
{
    const bool f32 = k->d32 || k->c32;
    if (f32 && !k->c32)
        c = (pxl_u32x2){pxl_f32_bits(pxl_f32_from_f16(c.x)), pxl_f32_bits(pxl_f32_from_f16(c.y))};
    pxl_u32x2 d = k->ta == MMA_F16 ? pxl_row_f16_f16(a, even, odd, k->slabs, c, f32, model)
                : k->ta == MMA_BF16 ? pxl_row_bf16_bf16(a, even, odd, k->slabs, c, f32, model)
                                    : pxl_row_tf32_tf32(a, even, odd, k->slabs, c, f32, model);
    if (f32 && !k->d32)
        d = (pxl_u32x2){pxl_f16_from_f32(pxl_bits_f32(d.x)), pxl_f16_from_f32(pxl_bits_f32(d.y))};
    return k->satfinite ? (pxl_u32x2){pxl_satfinite(d.x, k->d32), pxl_satfinite(d.y, k->d32)} : d;
}
/* Element (row half h, column parity p) of a tile in its registers. */
PXL_INLINE uint32_t pxl_wmma_get(const uint32_t *c, uint32_t h, uint32_t p, bool c32)
{
    return c32 ? c[2 * h + p] : c[h] >> (16 * p) & 0xffff;
}
PXL_INLINE void pxl_wmma_lane(pxl_wmma_kind k, uint32_t d[WMMA_MAX], const uint32_t a[WMMA_MAX], const uint32_t b[WMMA_MAX],
                              const uint32_t c[WMMA_MAX], uint32_t model)
{
    const uint32_t halves = k.m >= 16 ? 2 : 1, columns = k.n / 8, tiles = k.m / (8 * halves) * columns;
    const uint32_t c_regs = halves * (k.c32 ? 2 : 1), d_regs = halves * (k.d32 ? 2 : 1);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < tiles; i++)
#pragma clang loop unroll(full)
        for (uint32_t h = 0; h < halves; h++) {
            const uint32_t at = i / columns * halves * k.slabs + h, bt = i % columns * k.slabs;
            pxl_u32x4 x[2], y[2][2];
            for (uint32_t s = 0; s < 2; s++) {
                x[s] = s < k.slabs ? pxl_row_words(a[at + s * halves]) : x[0];
                y[0][s] = s < k.slabs ? pxl_column_words(b[bt + s], 0) : y[0][0];
                y[1][s] = s < k.slabs ? pxl_column_words(b[bt + s], 1) : y[1][0];
            }
            const pxl_u32x2 from = {pxl_wmma_get(c + i * c_regs, h, 0, k.c32), pxl_wmma_get(c + i * c_regs, h, 1, k.c32)};
            const pxl_u32x2 r = k.integer ? pxl_wmma_int_row(&k, x[0], y[0][0], y[1][0], from) : pxl_wmma_row(&k, x, y[0], y[1], from, model);
            if (k.d32) {
                d[i * d_regs + 2 * h] = r.x;
                d[i * d_regs + 2 * h + 1] = r.y;
            } else {
                d[i * d_regs + h] = r.x | r.y << 16;
            }
        }
}
#define WMMA_RUN(name, TA, TB, m, n, slabs, d32, c32, integer, sat) \
    PXL_INLINE void pxl_run_##name(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t model) \
    { pxl_wmma_lane((pxl_wmma_kind){TA, TB, m, n, slabs, d32, c32, integer, sat}, d, a, b, c, model); }
#define WMMA_IN(x) as_u32(*x)
#define WMMA_OUT(x) 0
#define WMMA_CALL(name, d, a, b, c, model) \
    const uint32_t A_[WMMA_MAX] = {a}, B_[WMMA_MAX] = {b}, C_[WMMA_MAX] = {c}; \
    uint32_t D_[WMMA_MAX] = {d}; \
    pxl_run_##name(D_, A_, B_, C_, model)

#endif

#if PXL_WIDTH == 32
#define WMMA_STORE(type, i)
#else
#define WMMA_STORE(type, i) *d##i = as_##type(D_[i]);
#endif

/* Parameter and argument lists of 1, 2, 4 and 8 registers. */
#define P1(t, x) const L_##t *x##0
#define P2(t, x) P1(t, x), const L_##t *x##1
#define P4(t, x) P2(t, x), const L_##t *x##2, const L_##t *x##3
#define P8(t, x) P4(t, x), const L_##t *x##4, const L_##t *x##5, const L_##t *x##6, const L_##t *x##7
#define O4(t) L_##t *d0, L_##t *d1, L_##t *d2, L_##t *d3
#define O8(t) O4(t), L_##t *d4, L_##t *d5, L_##t *d6, L_##t *d7
#define A1(x) WMMA_IN(x##0)
#define A2_(x) A1(x), WMMA_IN(x##1)
#define A4(x) A2_(x), WMMA_IN(x##2), WMMA_IN(x##3)
#define A8(x) A4(x), WMMA_IN(x##4), WMMA_IN(x##5), WMMA_IN(x##6), WMMA_IN(x##7)
#define D4 WMMA_OUT(d0), WMMA_OUT(d1), WMMA_OUT(d2), WMMA_OUT(d3)
#define D8 D4, WMMA_OUT(d4), WMMA_OUT(d5), WMMA_OUT(d6), WMMA_OUT(d7)
#define S4(t) WMMA_STORE(t, 0) WMMA_STORE(t, 1) WMMA_STORE(t, 2) WMMA_STORE(t, 3)
#define S8(t) S4(t) WMMA_STORE(t, 4) WMMA_STORE(t, 5) WMMA_STORE(t, 6) WMMA_STORE(t, 7)

#define WMMA_F16(shape, m, n, sat) \
    WMMA_RUN(shape##_f16_f16, MMA_F16, MMA_F16, m, n, 2, false, false, false, sat) \
    WMMA_RUN(shape##_f16_f32, MMA_F16, MMA_F16, m, n, 2, false, true, false, sat) \
    WMMA_RUN(shape##_f32_f16, MMA_F16, MMA_F16, m, n, 2, true, false, false, sat) \
    WMMA_RUN(shape##_f32_f32, MMA_F16, MMA_F16, m, n, 2, true, true, false, sat) \
    PXL_INLINE void wmma_##shape##_f16_f16(O4(u32), P8(u32, a), P8(u32, b), P4(u32, c), uint32_t M) { WMMA_CALL(shape##_f16_f16, WMMA_LIST(D4), WMMA_LIST(A8(a)), WMMA_LIST(A8(b)), WMMA_LIST(A4(c)), M); S4(u32) } \
    PXL_INLINE void wmma_##shape##_f16_f32(O4(u32), P8(u32, a), P8(u32, b), P8(f32, c), uint32_t M) { WMMA_CALL(shape##_f16_f32, WMMA_LIST(D4), WMMA_LIST(A8(a)), WMMA_LIST(A8(b)), WMMA_LIST(A8(c)), M); S4(u32) } \
    PXL_INLINE void wmma_##shape##_f32_f16(O8(f32), P8(u32, a), P8(u32, b), P4(u32, c), uint32_t M) { WMMA_CALL(shape##_f32_f16, WMMA_LIST(D8), WMMA_LIST(A8(a)), WMMA_LIST(A8(b)), WMMA_LIST(A4(c)), M); S8(f32) } \
    PXL_INLINE void wmma_##shape##_f32_f32(O8(f32), P8(u32, a), P8(u32, b), P8(f32, c), uint32_t M) { WMMA_CALL(shape##_f32_f32, WMMA_LIST(D8), WMMA_LIST(A8(a)), WMMA_LIST(A8(b)), WMMA_LIST(A8(c)), M); S8(f32) }
#define WMMA_LIST(...) __VA_ARGS__
WMMA_F16(m16n16k16, 16, 16, false)
WMMA_F16(m8n32k16, 8, 32, false)
WMMA_F16(m32n8k16, 32, 8, false)
WMMA_F16(m16n16k16_satfinite, 16, 16, true)
WMMA_F16(m8n32k16_satfinite, 8, 32, true)
WMMA_F16(m32n8k16_satfinite, 32, 8, true)

#define WMMA_F32(name, type, TYPE, m, n, pa, pb, aa, ab) \
    WMMA_RUN(name, TYPE, TYPE, m, n, 2, true, true, false, false) \
    PXL_INLINE void wmma_##name(O8(f32), pa, pb, P8(f32, c), uint32_t M) { WMMA_CALL(name, WMMA_LIST(D8), WMMA_LIST(aa), WMMA_LIST(ab), WMMA_LIST(A8(c)), M); S8(f32) }
WMMA_F32(m16n16k16_f32_bf16_bf16_f32, bf16, MMA_BF16, 16, 16, WMMA_LIST(P4(u32, a)), WMMA_LIST(P4(u32, b)), WMMA_LIST(A4(a)), WMMA_LIST(A4(b)))
WMMA_F32(m8n32k16_f32_bf16_bf16_f32, bf16, MMA_BF16, 8, 32, WMMA_LIST(P2(u32, a)), WMMA_LIST(P8(u32, b)), WMMA_LIST(A2_(a)), WMMA_LIST(A8(b)))
WMMA_F32(m32n8k16_f32_bf16_bf16_f32, bf16, MMA_BF16, 32, 8, WMMA_LIST(P8(u32, a)), WMMA_LIST(P2(u32, b)), WMMA_LIST(A8(a)), WMMA_LIST(A2_(b)))
WMMA_F32(m16n16k8_f32_tf32_tf32_f32, tf32, MMA_TF32, 16, 16, WMMA_LIST(P4(u32, a)), WMMA_LIST(P4(u32, b)), WMMA_LIST(A4(a)), WMMA_LIST(A4(b)))

#define WMMA_BYTES(name, TYPE, m, n, sat, pa, pb, aa, ab) \
    WMMA_RUN(name, TYPE, TYPE, m, n, 1, true, true, true, sat) \
    PXL_INLINE void wmma_##name(O8(s32), pa, pb, P8(s32, c)) { WMMA_CALL(name, WMMA_LIST(D8), WMMA_LIST(aa), WMMA_LIST(ab), WMMA_LIST(A8(c)), 0); S8(s32) }
#define WMMA_INTEGER(t, TYPE, satfinite, sat) \
    WMMA_BYTES(m16n16k16##satfinite##_s32_##t##_##t##_s32, TYPE, 16, 16, sat, WMMA_LIST(P2(u32, a)), WMMA_LIST(P2(u32, b)), WMMA_LIST(A2_(a)), WMMA_LIST(A2_(b))) \
    WMMA_BYTES(m8n32k16##satfinite##_s32_##t##_##t##_s32, TYPE, 8, 32, sat, WMMA_LIST(P1(u32, a)), WMMA_LIST(P4(u32, b)), WMMA_LIST(A1(a)), WMMA_LIST(A4(b))) \
    WMMA_BYTES(m32n8k16##satfinite##_s32_##t##_##t##_s32, TYPE, 32, 8, sat, WMMA_LIST(P4(u32, a)), WMMA_LIST(P1(u32, b)), WMMA_LIST(A4(a)), WMMA_LIST(A1(b)))
WMMA_INTEGER(u8, MMA_U8, , false)
WMMA_INTEGER(u8, MMA_U8, _satfinite, true)
WMMA_INTEGER(s8, MMA_S8, , false)
WMMA_INTEGER(s8, MMA_S8, _satfinite, true)

/* The m8n8 shapes are mma's own. */
#define WMMA_SAME(name) \
    PXL_INLINE void wmma_##name(L_s32 *d0, L_s32 *d1, const L_u32 *a0, const L_u32 *b0, const L_s32 *c0, const L_s32 *c1) { mma_##name(d0, d1, a0, b0, c0, c1); }
WMMA_SAME(m8n8k32_s32_u4_u4_s32)
WMMA_SAME(m8n8k32_s32_s4_s4_s32)
WMMA_SAME(m8n8k32_satfinite_s32_u4_u4_s32)
WMMA_SAME(m8n8k32_satfinite_s32_s4_s4_s32)
WMMA_SAME(m8n8k128_xor_popc_s32_b1_b1_s32)
WMMA_SAME(m8n8k128_and_popc_s32_b1_b1_s32)
#define WMMA_F64(rounding) \
    PXL_INLINE void wmma_m8n8k4_##rounding##_f64_f64_f64_f64(L_f64 *d0, L_f64 *d1, const L_f64 *a0, const L_f64 *b0, const L_f64 *c0, const L_f64 *c1) \
    { pxl_f64_chain((pxl_f64_out){d0, d1}, (pxl_f64_in){a0}, (pxl_f64_in){b0}, (pxl_f64_in){c0, c1}, 1, 1, PXL_##rounding); }
WMMA_F64(rn)
WMMA_F64(rz)
WMMA_F64(rm)
WMMA_F64(rp)
