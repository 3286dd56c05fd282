/* mma_kinds.h - part of mma.c: sparse products, and those of sm_120 with .kind: f8f6f4, mxf8f6f4, mxf4, mxf4nvf4.
 *
 * Registers are described at run time (types, slabs, what is chosen), so that all of these meanings share a few functions at width 32, and
 * at width 1 one for each kind of product.
 */

/* The registers of one product; metadata and selector when it is sparse. */
typedef struct pxl_kind {
    int ta, tb;
    uint32_t slabs;
    bool sparse, f8f6f4;                /* the latter: only Blackwell has it, so every model but ieee is Blackwell's */
    int unit;                           /* of a sparse one */
    const L_u32 *a[4], *b[4], *metadata;
    uint32_t selector;
} pxl_kind;

/* Block scales with the selectors of their bytes and threads. Undefined when lanes disagree: lane 0's are taken. */
typedef struct pxl_scaled {
    uint32_t vec;                       /* scales for a row: 1, 2 or 4 */
    const L_u32 *a, *b;
    const L_u16 *byte_a, *thread_a, *byte_b, *thread_b;
} pxl_scaled;

PXL_INLINE uint32_t pxl_of_lane_0(const L_u16 *x)
{
#if PXL_WIDTH == 32
    return (*x)[0];
#else
    return lane_read(*x, 0);
#endif
}
/* The lane of a quad that has the scales of row g or, `lower`, g + 8: one of a pair (PTX ISA, "Block Scaling for mma.sync"). */
PXL_INLINE uint32_t pxl_scale_thread_a(const pxl_scaled *s, uint32_t lower) { return (pxl_of_lane_0(s->thread_a) & 1) * 2 + lower; }
PXL_INLINE uint32_t pxl_scale_thread_b(const pxl_scaled *s) { return pxl_of_lane_0(s->thread_b) & 3; }
/* How far down the scales lie in a lane's word. */
PXL_INLINE uint32_t pxl_scale_shift(const pxl_scaled *s, const L_u16 *byte)
{
    return s->vec == 4 ? 0 : 8 * (pxl_of_lane_0(byte) & (s->vec == 2 ? 2 : 3));
}

PXL_INLINE uint32_t pxl_kind_model(const pxl_kind *k, uint32_t model)
{
    return k->f8f6f4 && model != MODEL_IEEE ? MODEL_BLACKWELL : model;
}

#if PXL_WIDTH == 32

#define PXL_RUN PXL_NOINLINE

PXL_INLINE pxl_mma_job pxl_job_of(const pxl_kind *k, const pxl_sparse *sparse, bool f32)
{
    pxl_mma_job j = {.ta = k->ta, .tb = k->tb, .slabs = k->slabs, .rows = 16, .f32 = f32, .sparse = k->sparse ? sparse : 0};
    for (uint32_t i = 0; i < 4; i++) {
        j.a[i] = WORDS(k->a[i]);
        j.b[i] = WORDS(k->b[i]);
    }
    return j;
}
PXL_INLINE pxl_sparse pxl_sparse_of(const pxl_kind *k) { return (pxl_sparse){k->unit, k->slabs, k->selector, WORDS(k->metadata)}; }

PXL_RUN void pxl_kind_f16(const pxl_kind *k, L_u32 *d0, L_u32 *d1, const L_u32 *c0, const L_u32 *c1, uint32_t model)
{
    const pxl_sparse sparse = pxl_sparse_of(k);
    const pxl_mma_job j = pxl_job_of(k, &sparse, false);
    pxl_tile_f16(&j, c0, c1, d0, d1, pxl_kind_model(k, model));
}
PXL_RUN void pxl_kind_f32(const pxl_kind *k, L_f32 *const d[4], const L_f32 *const c[4], uint32_t model)
{
    const pxl_sparse sparse = pxl_sparse_of(k);
    const pxl_mma_job j = pxl_job_of(k, &sparse, true);
    pxl_tile_f32(&j, c, d, pxl_kind_model(k, model));
}
PXL_RUN void pxl_kind_s32(const pxl_kind *k, L_s32 *const d[4], const L_s32 *const c[4], bool satfinite)
{
    const pxl_sparse sparse = pxl_sparse_of(k);
    const pxl_mma_job j = pxl_job_of(k, &sparse, false);
    pxl_tile t;
    for (uint32_t h = 0; h < 2; h++) pxl_tile_from_columns(&t, h, c[2 * h], c[2 * h + 1]);
    pxl_int_sparse_tile(&j, &t, satfinite);
    for (uint32_t h = 0; h < 2; h++) pxl_tile_to_columns(&t, h, d[2 * h], d[2 * h + 1]);
}

/* The words of scales of the rows and columns, those that count lowest. */
PXL_INLINE void pxl_scale_words(const pxl_scaled *s, uint32_t a[16], uint32_t b[8])
{
    const uint32_t down_a = pxl_scale_shift(s, s->byte_a), down_b = pxl_scale_shift(s, s->byte_b), thread_b = pxl_scale_thread_b(s);
    for (uint32_t r = 0; r < 16; r++)
        a[r] = WORDS(s->a)[r % 8 * 4 + pxl_scale_thread_a(s, r / 8)] >> down_a;
    for (uint32_t n = 0; n < 8; n++)
        b[n] = WORDS(s->b)[n * 4 + thread_b] >> down_b;
}
PXL_RUN void pxl_kind_mxf8(const pxl_kind *k, const pxl_scaled *s, L_f32 *const d[4], const L_f32 *const c[4], uint32_t model)
{
    const pxl_sparse sparse = pxl_sparse_of(k);
    pxl_mma_job j = pxl_job_of(k, &sparse, true);
    uint32_t a[16], b[8];
    int32_t scale_a[16], scale_b[8];
    pxl_scale_words(s, a, b);
    for (uint32_t r = 0; r < 16; r++) scale_a[r] = pxl_scale_ue8m0(a[r]);
    for (uint32_t n = 0; n < 8; n++) scale_b[n] = pxl_scale_ue8m0(b[n]);
    j.scale_a = scale_a;
    j.scale_b = scale_b;
    pxl_tile_f32(&j, c, d, pxl_kind_model(k, model));
}
PXL_RUN void pxl_kind_mxf4(const pxl_kind *k, const pxl_scaled *s, pxl_fp4_kind kind, L_f32 *const d[4], const L_f32 *const c[4], uint32_t model)
{
    const pxl_sparse sparse = pxl_sparse_of(k);
    const pxl_mma_job j = pxl_job_of(k, &sparse, true);
    uint32_t a[16], b[8];
    pxl_tile ct, dt;
    pxl_scale_words(s, a, b);
    for (uint32_t h = 0; h < 2; h++) pxl_tile_from_columns(&ct, h, c[2 * h], c[2 * h + 1]);
    pxl_fp4_tile(&j, a, b, kind, &ct, &dt, model == MODEL_IEEE);
    for (uint32_t h = 0; h < 2; h++) pxl_tile_to_columns(&dt, h, d[2 * h], d[2 * h + 1]);
}

#else

#define PXL_RUN PXL_INLINE

/* What a lane multiplies: two rows, and with each its two columns. */
typedef struct pxl_lane_words {
    pxl_u32x4 a[2][2], b[2][2][2];      /* a[row half][slab], b[row half][column][slab] */
} pxl_lane_words;

/* One function: there are eight calls in a product, and dozens of products. */
PXL_NOINLINE pxl_u32x4 pxl_chosen_bytes(pxl_u32x4 first, pxl_u32x4 second, uint32_t bits) { return pxl_sparse_slab(SPARSE_BYTES, first, second, bits); }
PXL_INLINE pxl_u32x4 pxl_chosen(int unit, pxl_u32x4 first, pxl_u32x4 second, uint32_t bits)
{
    return unit == SPARSE_BYTES ? pxl_chosen_bytes(first, second, bits) : pxl_sparse_slab(unit, first, second, bits);
}
PXL_INLINE pxl_lane_words pxl_words_of(const pxl_kind *k)
{
    pxl_lane_words o;
    pxl_u32x4 column[2][4];
    const uint32_t registers = k->sparse ? 2 * k->slabs : k->slabs, quad = lane_id() & ~3u;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 2 * registers; i++)
        column[i % 2][i / 2] = pxl_column_words(*k->b[i / 2], i % 2);
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 2 * k->slabs; i++) {
        const uint32_t h = i % 2, s = i / 2;
        o.a[h][s] = pxl_row_words(*k->a[i]);
        if (!k->sparse) {
            o.b[h][0][s] = column[0][s];
            o.b[h][1][s] = column[1][s];
            continue;
        }
        const uint32_t metadata = lane_read(*k->metadata, quad + pxl_sparse_thread(k->unit, k->slabs, k->selector, h, s));
        const uint32_t bits = pxl_sparse_row_bits(k->unit, metadata, h);
        o.b[h][0][s] = pxl_chosen(k->unit, column[0][2 * s], column[0][2 * s + 1], bits);
        o.b[h][1][s] = pxl_chosen(k->unit, column[1][2 * s], column[1][2 * s + 1], bits);
    }
    for (uint32_t h = 0; h < 2 && k->slabs == 1; h++) {      /* not looked at, but not undefined */
        o.a[h][1] = o.a[h][0];
        o.b[h][0][1] = o.b[h][0][0];
        o.b[h][1][1] = o.b[h][1][0];
    }
    return o;
}
PXL_NOINLINE uint32_t pxl_dot_f8f6f4(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, bool f32, bool ieee)
{
    return pxl_f8f6f4_dot(ta, tb, a0, b0, a1, b1, c, f32, ieee);
}
PXL_NOINLINE uint32_t pxl_dot_mxf8f6f4(int ta, int tb, pxl_u32x4 a0, pxl_u32x4 b0, pxl_u32x4 a1, pxl_u32x4 b1, uint32_t c, int32_t scale_a,
                                       int32_t scale_b, bool ieee)
{
    return pxl_scaled_dot(ta, tb, a0, b0, a1, b1, c, scale_a, scale_b, ieee);
}
/* The two elements of row half h; what `k` says is constant here. */
PXL_INLINE pxl_u32x2 pxl_kind_row(const pxl_kind *k, const pxl_lane_words *o, uint32_t h, pxl_u32x2 c, bool f32, uint32_t model)
{
    const pxl_u32x4 *const a = o->a[h], *const even = o->b[h][0], *const odd = o->b[h][1];
    if (k->f8f6f4)
        return (pxl_u32x2){pxl_dot_f8f6f4(k->ta, k->tb, a[0], even[0], a[1], even[1], c.x, f32, model == MODEL_IEEE),
                           pxl_dot_f8f6f4(k->ta, k->tb, a[0], odd[0], a[1], odd[1], c.y, f32, model == MODEL_IEEE)};
    switch (k->ta) {
    case MMA_F16:  return pxl_row_f16_f16(a, even, odd, k->slabs, c, f32, model);
    case MMA_BF16: return pxl_row_bf16_bf16(a, even, odd, k->slabs, c, f32, model);
    case MMA_TF32: return pxl_row_tf32_tf32(a, even, odd, k->slabs, c, f32, model);
    case MMA_E4M3: return k->tb == MMA_E4M3 ? pxl_row_e4m3_e4m3(a, even, odd, k->slabs, c, f32, model)
                                            : pxl_row_e4m3_e5m2(a, even, odd, k->slabs, c, f32, model);
    default:       return k->tb == MMA_E4M3 ? pxl_row_e5m2_e4m3(a, even, odd, k->slabs, c, f32, model)
                                            : pxl_row_e5m2_e5m2(a, even, odd, k->slabs, c, f32, model);
    }
}
PXL_INLINE int32_t pxl_kind_int_dot(const pxl_kind *k, pxl_u32x4 a, pxl_u32x4 b)
{
    switch (k->ta * 8 + k->tb) {
    case MMA_U8 * 8 + MMA_U8: return pxl_int_dot__s32_u8_u8_s32(a, b);
    case MMA_U8 * 8 + MMA_S8: return pxl_int_dot__s32_u8_s8_s32(a, b);
    case MMA_S8 * 8 + MMA_U8: return pxl_int_dot__s32_s8_u8_s32(a, b);
    case MMA_S8 * 8 + MMA_S8: return pxl_int_dot__s32_s8_s8_s32(a, b);
    case MMA_U4 * 8 + MMA_U4: return pxl_int_dot__s32_u4_u4_s32(a, b);
    case MMA_U4 * 8 + MMA_S4: return pxl_int_dot__s32_u4_s4_s32(a, b);
    case MMA_S4 * 8 + MMA_U4: return pxl_int_dot__s32_s4_u4_s32(a, b);
    default:                  return pxl_int_dot__s32_s4_s4_s32(a, b);
    }
}

/* The four elements of a lane; c and the results are f16 or f32 bits. */
PXL_INLINE pxl_u32x4 pxl_kind_lane(const pxl_kind *k, pxl_u32x4 c, bool f32, uint32_t model)
{
    const pxl_lane_words o = pxl_words_of(k);
    const pxl_u32x2 upper = pxl_kind_row(k, &o, 0, c.xy, f32, model), lower = pxl_kind_row(k, &o, 1, c.zw, f32, model);
    return (pxl_u32x4){upper.x, upper.y, lower.x, lower.y};
}
/* The same for whatever types of .kind::f8f6f4: one function serves dozens of meanings, and takes and gives values. */
#define VALUES_OF(vector) {vector.x, vector.y, vector.z, vector.w}
#define POINTERS_TO(x) {&x[0], &x[1], &x[2], &x[3]}
#define KIND_OF_VALUES(is_sparse) \
    const uint32_t A[4] = VALUES_OF(a), B[4] = VALUES_OF(b); \
    const pxl_kind k = {ta, tb, 2, is_sparse, true, SPARSE_BYTES, POINTERS_TO(A), POINTERS_TO(B), &metadata, 0};
PXL_NOINLINE pxl_u32x4 pxl_lane_f8f6f4(int ta, int tb, pxl_u32x4 a, pxl_u32x4 b, pxl_u32x4 c, bool f32, uint32_t model)
{
    const uint32_t metadata = 0;
    KIND_OF_VALUES(false)
    return pxl_kind_lane(&k, c, f32, model);
}
PXL_NOINLINE pxl_u32x4 pxl_lane_sp_f8f6f4(int ta, int tb, pxl_u32x4 a, pxl_u32x4 b, pxl_u32x4 c, uint32_t metadata, bool f32, uint32_t model)
{
    KIND_OF_VALUES(true)
    return pxl_kind_lane(&k, c, f32, model);
}
PXL_INLINE pxl_u32x4 pxl_kind_values(const L_u32 *const x[4]) { return (pxl_u32x4){*x[0], *x[1], *x[2], *x[3]}; }
PXL_INLINE pxl_u32x4 pxl_kind_any(const pxl_kind *k, pxl_u32x4 c, bool f32, uint32_t model)
{
    if (!k->f8f6f4)
        return pxl_kind_lane(k, c, f32, model);
    const pxl_u32x4 a = pxl_kind_values(k->a), b = pxl_kind_values(k->b);
    return k->sparse ? pxl_lane_sp_f8f6f4(k->ta, k->tb, a, b, c, *k->metadata, f32, model) : pxl_lane_f8f6f4(k->ta, k->tb, a, b, c, f32, model);
}

PXL_RUN void pxl_kind_f16(const pxl_kind *k, L_u32 *d0, L_u32 *d1, const L_u32 *c0, const L_u32 *c1, uint32_t model)
{
    const pxl_u32x4 d = pxl_kind_any(k, (pxl_u32x4){*c0 & 0xffff, *c0 >> 16, *c1 & 0xffff, *c1 >> 16}, false, model);
    *d0 = d.x | d.y << 16;
    *d1 = d.z | d.w << 16;
}
PXL_INLINE pxl_u32x4 pxl_f32_values(const L_f32 *const c[4]) { return (pxl_u32x4){as_u32(*c[0]), as_u32(*c[1]), as_u32(*c[2]), as_u32(*c[3])}; }
PXL_INLINE void pxl_store_f32(L_f32 *const d[4], pxl_u32x4 x)
{
    const uint32_t v[4] = VALUES_OF(x);
    for (uint32_t i = 0; i < 4; i++)
        *d[i] = as_f32(v[i]);
}
PXL_RUN void pxl_kind_f32(const pxl_kind *k, L_f32 *const d[4], const L_f32 *const c[4], uint32_t model)
{
    pxl_store_f32(d, pxl_kind_any(k, pxl_f32_values(c), true, model));
}
PXL_RUN void pxl_kind_s32(const pxl_kind *k, L_s32 *const d[4], const L_s32 *const c[4], bool satfinite)
{
    const pxl_lane_words o = pxl_words_of(k);
    const uint32_t x[4] = {(uint32_t)*c[0], (uint32_t)*c[1], (uint32_t)*c[2], (uint32_t)*c[3]};
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; i++) {
        int32_t sum = pxl_kind_int_dot(k, o.a[i / 2][0], o.b[i / 2][i % 2][0]);
        if (k->slabs == 2)
            sum += pxl_kind_int_dot(k, o.a[i / 2][1], o.b[i / 2][i % 2][1]);
        *d[i] = (int32_t)pxl_add_sum(sum, x[i], satfinite);
    }
}
/* The words of scales of a lane's two rows and two columns, those that count lowest. */
PXL_INLINE pxl_u32x4 pxl_scale_words(const pxl_scaled *s)
{
    const uint32_t down_a = pxl_scale_shift(s, s->byte_a), down_b = pxl_scale_shift(s, s->byte_b);
    const uint32_t quad = lane_id() & ~3u, column = (lane_id() & 3u) * 8 + pxl_scale_thread_b(s);
    return (pxl_u32x4){lane_read(*s->a, quad + pxl_scale_thread_a(s, 0)) >> down_a, lane_read(*s->a, quad + pxl_scale_thread_a(s, 1)) >> down_a,
                       lane_read(*s->b, column) >> down_b, lane_read(*s->b, column + 4) >> down_b};
}
PXL_INLINE pxl_u32x4 pxl_mxf8_lane(const pxl_kind *k, pxl_u32x4 c, pxl_u32x4 scales, uint32_t model)
{
    const pxl_lane_words o = pxl_words_of(k);
    pxl_u32x4 d;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; i++)
        d[i] = pxl_dot_mxf8f6f4(k->ta, k->tb, o.a[i / 2][0], o.b[i / 2][i % 2][0], o.a[i / 2][1], o.b[i / 2][i % 2][1], c[i],
                                pxl_scale_ue8m0(scales[i / 2]), pxl_scale_ue8m0(scales[2 + i % 2]), model == MODEL_IEEE);
    return d;
}
PXL_NOINLINE pxl_u32x4 pxl_lane_mxf8f6f4(int ta, int tb, pxl_u32x4 a, pxl_u32x4 b, pxl_u32x4 c, pxl_u32x4 scales, uint32_t model)
{
    const uint32_t metadata = 0;
    KIND_OF_VALUES(false)
    return pxl_mxf8_lane(&k, c, scales, model);
}
PXL_NOINLINE pxl_u32x4 pxl_lane_sp_mxf8f6f4(int ta, int tb, pxl_u32x4 a, pxl_u32x4 b, pxl_u32x4 c, uint32_t metadata, pxl_u32x4 scales, uint32_t model)
{
    KIND_OF_VALUES(true)
    return pxl_mxf8_lane(&k, c, scales, model);
}
PXL_RUN void pxl_kind_mxf8(const pxl_kind *k, const pxl_scaled *s, L_f32 *const d[4], const L_f32 *const c[4], uint32_t model)
{
    const pxl_u32x4 a = pxl_kind_values(k->a), b = pxl_kind_values(k->b), x = pxl_f32_values(c), scales = pxl_scale_words(s);
    pxl_store_f32(d, k->sparse ? pxl_lane_sp_mxf8f6f4(k->ta, k->tb, a, b, x, *k->metadata, scales, model)
                               : pxl_lane_mxf8f6f4(k->ta, k->tb, a, b, x, scales, model));
}
PXL_RUN void pxl_kind_mxf4(const pxl_kind *k, const pxl_scaled *s, pxl_fp4_kind kind, L_f32 *const d[4], const L_f32 *const c[4], uint32_t model)
{
    const pxl_lane_words o = pxl_words_of(k);
    const pxl_u32x4 x = pxl_f32_values(c), scales = pxl_scale_words(s);
    pxl_u32x4 r;
#pragma clang loop unroll(full)
    for (uint32_t i = 0; i < 4; i++)
        r[i] = pxl_fp4_dot(o.a[i / 2][0], o.b[i / 2][i % 2][0], o.a[i / 2][1], o.b[i / 2][i % 2][1], x[i], scales[i / 2], scales[2 + i % 2], kind,
                           model == MODEL_IEEE);
    pxl_store_f32(d, r);
}

#endif

/* ------------------------------------------------------------ the meanings */

/* Registers: of A and B, where there are two, and four, of B. */
#define KIND_2_2 {a0, a1, a0, a1}, {b0, b1, b0, b1}
#define KIND_4_2 {a0, a1, a2, a3}, {b0, b1, b0, b1}
#define KIND_4_4 {a0, a1, a2, a3}, {b0, b1, b2, b3}
#define IN_2_2 P2(u32, a), P2(u32, b)
#define IN_4_2 P4(u32, a), P2(u32, b)
#define IN_4_4 P4(u32, a), P4(u32, b)
#define DENSE(TA, TB, registers, f8f6f4) const pxl_kind k = {TA, TB, 2, false, f8f6f4, 0, KIND_##registers, a0, 0};
#define SPARSE(TA, TB, unit, slabs, registers, f8f6f4) const pxl_kind k = {TA, TB, slabs, true, f8f6f4, unit, KIND_##registers, e, f};
#define SPARSE_IN const L_u32 *e, uint32_t f
#define OF_4(x) {x##0, x##1, x##2, x##3}
#define RUN_F16 pxl_kind_f16(&k, d0, d1, c0, c1, M);
#define RUN_F32 L_f32 *const d[4] = OF_4(d); const L_f32 *const c[4] = OF_4(c); pxl_kind_f32(&k, d, c, M);
#define SCALES_IN const L_u32 *sa, const L_u16 *ba, const L_u16 *ta, const L_u32 *sb, const L_u16 *bb, const L_u16 *tb
#define SCALED_BY(vec) const pxl_scaled s = {vec, sa, sb, ba, ta, bb, tb};
#define RUN_MXF8 SCALED_BY(1) L_f32 *const d[4] = OF_4(d); const L_f32 *const c[4] = OF_4(c); pxl_kind_mxf8(&k, &s, d, c, M);
#define RUN_MXF4(vec, kind) SCALED_BY(vec) L_f32 *const d[4] = OF_4(d); const L_f32 *const c[4] = OF_4(c); pxl_kind_mxf4(&k, &s, kind, d, c, M);

/* Sparse. */
#define SPARSE_F16(name, TA, TB, unit, slabs, registers) \
    PXL_INLINE void mma_sp_##name(L_u32 *d0, L_u32 *d1, IN_##registers, P2(u32, c), SPARSE_IN, uint32_t M) \
    { SPARSE(TA, TB, unit, slabs, registers, false) RUN_F16 }
#define SPARSE_F32(name, TA, TB, unit, slabs, registers) \
    PXL_INLINE void mma_sp_##name(O4(f32), IN_##registers, P4(f32, c), SPARSE_IN, uint32_t M) \
    { SPARSE(TA, TB, unit, slabs, registers, false) RUN_F32 }
#define SPARSE_S32(name, TA, TB, slabs, registers, satfinite) \
    PXL_INLINE void mma_sp_##name(O4(s32), IN_##registers, P4(s32, c), SPARSE_IN) \
    { \
        SPARSE(TA, TB, SPARSE_BYTES, slabs, registers, false) \
        L_s32 *const d[4] = OF_4(d); const L_s32 *const c[4] = OF_4(c); \
        pxl_kind_s32(&k, d, c, satfinite); \
    }
SPARSE_F16(m16n8k16_f16_f16_f16_f16, MMA_F16, MMA_F16, SPARSE_HALVES, 1, 2_2)
SPARSE_F32(m16n8k16_f32_f16_f16_f32, MMA_F16, MMA_F16, SPARSE_HALVES, 1, 2_2)
SPARSE_F16(m16n8k32_f16_f16_f16_f16, MMA_F16, MMA_F16, SPARSE_HALVES, 2, 4_4)
SPARSE_F32(m16n8k32_f32_f16_f16_f32, MMA_F16, MMA_F16, SPARSE_HALVES, 2, 4_4)
SPARSE_F32(m16n8k16_f32_bf16_bf16_f32, MMA_BF16, MMA_BF16, SPARSE_HALVES, 1, 2_2)
SPARSE_F32(m16n8k32_f32_bf16_bf16_f32, MMA_BF16, MMA_BF16, SPARSE_HALVES, 2, 4_4)
SPARSE_F32(m16n8k8_f32_tf32_tf32_f32, MMA_TF32, MMA_TF32, SPARSE_WORDS, 1, 2_2)
SPARSE_F32(m16n8k16_f32_tf32_tf32_f32, MMA_TF32, MMA_TF32, SPARSE_WORDS, 2, 4_4)
#define SPARSE_FP8(a, b, A, B) \
    SPARSE_F16(m16n8k64_f16_##a##_##b##_f16, A, B, SPARSE_BYTES, 2, 4_4) \
    SPARSE_F32(m16n8k64_f32_##a##_##b##_f32, A, B, SPARSE_BYTES, 2, 4_4)
SPARSE_FP8(e4m3, e4m3, MMA_E4M3, MMA_E4M3)
SPARSE_FP8(e4m3, e5m2, MMA_E4M3, MMA_E5M2)
SPARSE_FP8(e5m2, e4m3, MMA_E5M2, MMA_E4M3)
SPARSE_FP8(e5m2, e5m2, MMA_E5M2, MMA_E5M2)
#define SPARSE_INT(shape, shape2, a, b, A, B) \
    SPARSE_S32(shape##_s32_##a##_##b##_s32, A, B, 1, 2_2, false) SPARSE_S32(shape##_satfinite_s32_##a##_##b##_s32, A, B, 1, 2_2, true) \
    SPARSE_S32(shape2##_s32_##a##_##b##_s32, A, B, 2, 4_4, false) SPARSE_S32(shape2##_satfinite_s32_##a##_##b##_s32, A, B, 2, 4_4, true)
SPARSE_INT(m16n8k32, m16n8k64, u8, u8, MMA_U8, MMA_U8)
SPARSE_INT(m16n8k32, m16n8k64, u8, s8, MMA_U8, MMA_S8)
SPARSE_INT(m16n8k32, m16n8k64, s8, u8, MMA_S8, MMA_U8)
SPARSE_INT(m16n8k32, m16n8k64, s8, s8, MMA_S8, MMA_S8)
SPARSE_INT(m16n8k64, m16n8k128, u4, u4, MMA_U4, MMA_U4)
SPARSE_INT(m16n8k64, m16n8k128, u4, s4, MMA_U4, MMA_S4)
SPARSE_INT(m16n8k64, m16n8k128, s4, u4, MMA_S4, MMA_U4)
SPARSE_INT(m16n8k64, m16n8k128, s4, s4, MMA_S4, MMA_S4)

/* fp8, fp6 and fp4 in bytes, with and without scales, dense and sparse. */
#define F8F6F4(a, b, A, B) \
    PXL_INLINE void mma_f8f6f4_m16n8k32_f16_##a##_##b##_f16(L_u32 *d0, L_u32 *d1, IN_4_2, P2(u32, c), uint32_t M) \
    { DENSE(A, B, 4_2, true) RUN_F16 } \
    PXL_INLINE void mma_f8f6f4_m16n8k32_f32_##a##_##b##_f32(O4(f32), IN_4_2, P4(f32, c), uint32_t M) \
    { DENSE(A, B, 4_2, true) RUN_F32 } \
    PXL_INLINE void mma_sp_f8f6f4_m16n8k64_f16_##a##_##b##_f16(L_u32 *d0, L_u32 *d1, IN_4_4, P2(u32, c), SPARSE_IN, uint32_t M) \
    { SPARSE(A, B, SPARSE_BYTES, 2, 4_4, true) RUN_F16 } \
    PXL_INLINE void mma_sp_f8f6f4_m16n8k64_f32_##a##_##b##_f32(O4(f32), IN_4_4, P4(f32, c), SPARSE_IN, uint32_t M) \
    { SPARSE(A, B, SPARSE_BYTES, 2, 4_4, true) RUN_F32 } \
    PXL_INLINE void mma_mxf8f6f4_m16n8k32_f32_##a##_##b##_f32_ue8m0(O4(f32), IN_4_2, P4(f32, c), SCALES_IN, uint32_t M) \
    { DENSE(A, B, 4_2, true) RUN_MXF8 } \
    PXL_INLINE void mma_sp_mxf8f6f4_m16n8k64_f32_##a##_##b##_f32_ue8m0(O4(f32), IN_4_4, P4(f32, c), SPARSE_IN, SCALES_IN, uint32_t M) \
    { SPARSE(A, B, SPARSE_BYTES, 2, 4_4, true) RUN_MXF8 }
#define F8F6F4_WITH(a, A) \
    F8F6F4(a, e4m3, A, MMA_E4M3) F8F6F4(a, e5m2, A, MMA_E5M2) F8F6F4(a, e3m2, A, MMA_E3M2) F8F6F4(a, e2m3, A, MMA_E2M3) F8F6F4(a, e2m1, A, MMA_E2M1)
F8F6F4_WITH(e4m3, MMA_E4M3)
F8F6F4_WITH(e5m2, MMA_E5M2)
F8F6F4_WITH(e3m2, MMA_E3M2)
F8F6F4_WITH(e2m3, MMA_E2M3)
F8F6F4_WITH(e2m1, MMA_E2M1)

/* fp4, two to a byte; .kind::mxf4 is one of .kind::mxf4nvf4. */
#define MXF4(vec, x, stype, kind) \
    PXL_INLINE void mma_mxf4nvf4_m16n8k64_##x##_f32_e2m1_e2m1_f32_##stype(O4(f32), IN_4_2, P4(f32, c), SCALES_IN, uint32_t M) \
    { DENSE(MMA_FP4, MMA_FP4, 4_2, true) RUN_MXF4(vec, kind) } \
    PXL_INLINE void mma_sp_mxf4nvf4_m16n8k128_##x##_f32_e2m1_e2m1_f32_##stype(O4(f32), IN_4_4, P4(f32, c), SPARSE_IN, SCALES_IN, uint32_t M) \
    { SPARSE(MMA_FP4, MMA_FP4, SPARSE_BYTES, 2, 4_4, true) RUN_MXF4(vec, kind) }
MXF4(2, 2x, ue8m0, FP4_2X_UE8M0)
MXF4(4, 4x, ue8m0, FP4_4X_UE8M0)
MXF4(4, 4x, ue4m3, FP4_4X_UE4M3)
