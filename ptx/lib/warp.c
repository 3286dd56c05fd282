/* warp.c - exchanges between the lanes of a warp (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", "vote.sync",
 * "match.sync", "redux.sync", "activemask", "elect.sync", "movmatrix").
 *
 * The engine sees to it that all lanes of a membermask execute together; here a mask says
 * which lanes count, each lane going by its own. Where the ISA leaves a result undefined (a shuffle from a lane
 * that takes no part), the value is whatever that lane's register holds.
 */
#include "ptx/lib/lane.h"

/* ------------------------------------------------------------ shfl */

/* Source lane and validity for lane arithmetic as the ISA gives it; clamp is bits 0-4 of c, the segment mask its bits 8-12. */
#define SHFL_BOUNDS \
    const L_u32 lane = lane_id(), segment = (*c >> 8) & 31u, bound = *c & 31u, by = *b & 31u; \
    const L_s32 last = as_s32((lane & segment) | (bound & ~segment)); \
    const L_u32 value = *a;
#define SHFL_READ(valid) \
    *p = PRED(valid); \
    *d = lane_read(value, SEL(valid, as_u32(j), lane));

PXL_INLINE void shfl_up_nosync_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *b, const L_u32 *c)
{
    SHFL_BOUNDS
    const L_s32 j = as_s32(lane) - as_s32(by);
    SHFL_READ(j >= last)
}
PXL_INLINE void shfl_down_nosync_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *b, const L_u32 *c)
{
    SHFL_BOUNDS
    const L_s32 j = as_s32(lane + by);
    SHFL_READ(j <= last)
}
PXL_INLINE void shfl_idx_nosync_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *b, const L_u32 *c)
{
    SHFL_BOUNDS
    const L_s32 j = as_s32((lane & segment) | (by & ~segment));
    SHFL_READ(j <= last)
}
#if PXL_WIDTH == 32
/* The same in every lane? */
PXL_INLINE bool pxl_uniform(L_u32 x)
{
    return __builtin_reduce_or(x ^ SPLAT(L_u32, x[0])) == 0;
}
/* A butterfly over the whole warp by one distance moves groups of eight lanes and permutes inside them. */
PXL_INLINE L_u32 pxl_butterfly(const L_u32 *a, uint32_t by)
{
    typedef uint32_t v8 __attribute__((ext_vector_type(8), aligned(32), may_alias));
    const v8 *s = (const v8 *)a, index = (v8){0, 1, 2, 3, 4, 5, 6, 7} ^ (by & 7);
    L_u32 r;
    v8 *d = (v8 *)&r;
    for (uint32_t i = 0; i < 4; i++) {
        const v8 x = s[i ^ (by >> 3 & 3)];
#if defined(__AVX2__)
        d[i] = (v8)__builtin_ia32_permvarsi256((__attribute__((__vector_size__(32))) int)x, (__attribute__((__vector_size__(32))) int)index);
#else
        for (uint32_t k = 0; k < 8; k++)
            d[i][k] = x[index[k]];
#endif
    }
    return r;
}
#endif
PXL_INLINE void shfl_bfly_nosync_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *b, const L_u32 *c)
{
#if PXL_WIDTH == 32
    if (__builtin_expect((*c)[0] == 31u && __builtin_reduce_or((*c ^ SPLAT(L_u32, 31)) | (*b ^ SPLAT(L_u32, (*b)[0]))) == 0, 1)) {
        *d = pxl_butterfly(a, (*b)[0]);
        *p = 0xffffffffu;
        return;
    }
#endif
    SHFL_BOUNDS
    const L_s32 j = as_s32(lane ^ by);
    SHFL_READ(j <= last)
}
#define SHFL_SYNC(m) \
    PXL_INLINE void shfl_##m##_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *b, const L_u32 *c, const L_u32 *membermask) \
    { (void)membermask; shfl_##m##_nosync_b32(d, p, a, b, c); }
SHFL_SYNC(up)
SHFL_SYNC(down)
SHFL_SYNC(bfly)
SHFL_SYNC(idx)

/* ------------------------------------------------------------ vote, activemask, elect */

PXL_INLINE void vote_ballot_b32(L_u32 *d, const L_pred *a, const L_u32 *membermask)
{
    *d = lane_ballot(*a) & *membermask;
}
PXL_INLINE void vote_all_pred(L_pred *d, const L_pred *a, const L_u32 *membermask)
{
    const L_u32 mask = *membermask, set = lane_ballot(*a) & mask;
    *d = PRED(set == mask);
}
PXL_INLINE void vote_any_pred(L_pred *d, const L_pred *a, const L_u32 *membermask)
{
    const L_u32 set = lane_ballot(*a) & *membermask;
    *d = PRED(set != 0);
}
PXL_INLINE void vote_uni_pred(L_pred *d, const L_pred *a, const L_u32 *membermask)
{
    const L_u32 mask = *membermask, set = lane_ballot(*a) & mask;
    *d = PRED((set == mask) | (set == 0));
}
/* The deprecated forms vote among the lanes that execute. */
#define VOTE_NOSYNC(name, type) \
    PXL_INLINE void vote_##name##_nosync_##type(VOTE_OUT_##type *d, const L_pred *a, L_pred X) \
    { const L_u32 mask = lane_ballot(X); vote_##name##_##type(d, a, &mask); }
#define VOTE_OUT_pred L_pred
#define VOTE_OUT_b32 L_u32
VOTE_NOSYNC(ballot, b32)
VOTE_NOSYNC(all, pred)
VOTE_NOSYNC(any, pred)
VOTE_NOSYNC(uni, pred)

PXL_INLINE void activemask_b32(L_u32 *d, L_pred X)
{
    *d = lane_ballot(X);
}
/* The lowest lane of a mask; 32 for none. */
PXL_INLINE L_u32 pxl_first_lane(L_u32 mask)
{
    return __builtin_elementwise_popcount((mask & (0u - mask)) - 1u);
}
/* The ISA leaves the choice open, but deterministic: the lowest lane of the mask. */
PXL_INLINE void elect(L_u32 *d, L_pred *p, const L_u32 *membermask, L_pred X)
{
    (void)X;
    const L_u32 first = pxl_first_lane(*membermask);
    *d = first;
    *p = PRED(first == lane_id());
}

/* ------------------------------------------------------------ match */

PXL_INLINE L_u64 pxl_read_u64(L_u64 x, L_u32 from)
{
    const L_u32 lo = lane_read(CONVERT(L_u32, x & 0xffffffffull), from), hi = lane_read(CONVERT(L_u32, x >> 32), from);
    return CONVERT(L_u64, lo) | CONVERT(L_u64, hi) << 32;
}
PXL_INLINE void match_any_b32(L_u32 *d, const L_u32 *a, const L_u32 *membermask)
{
    const L_u32 value = *a, mask = *membermask;
    L_u32 r = SPLAT(L_u32, 0);
    for (uint32_t k = 0; k < 32; k++)
        r |= SEL(lane_read(value, SPLAT(L_u32, k)) == value, SPLAT(L_u32, 1u << k), SPLAT(L_u32, 0));
    *d = r & mask;
}
PXL_INLINE void match_any_b64(L_u32 *d, const L_u64 *a, const L_u32 *membermask)
{
    const L_u32 lo = CONVERT(L_u32, *a & 0xffffffffull), hi = CONVERT(L_u32, *a >> 32);
    L_u32 x, y;
    match_any_b32(&x, &lo, membermask);
    match_any_b32(&y, &hi, membermask);
    *d = x & y;
}
PXL_INLINE void match_all_b32(L_u32 *d, L_pred *p, const L_u32 *a, const L_u32 *membermask)
{
    const L_u32 value = *a, mask = *membermask;
    const L_u32 first = lane_read(value, pxl_first_lane(mask));
    /* Each lane compares with the first lane of its own mask, so the votes of lanes with another mask do not mix. */
    const L_u32 equal = lane_ballot(PRED(value == first)) & mask;
    *p = PRED(equal == mask);
    *d = SEL(equal == mask, mask, SPLAT(L_u32, 0));
}
PXL_INLINE void match_all_b64(L_u32 *d, L_pred *p, const L_u64 *a, const L_u32 *membermask)
{
    const L_u32 lo = CONVERT(L_u32, *a & 0xffffffffull), hi = CONVERT(L_u32, *a >> 32), mask = *membermask;
    L_u32 x, y;
    L_pred q;
    match_all_b32(&x, &q, &lo, &mask);
    match_all_b32(&y, &q, &hi, &mask);
    *d = x & y;
    *p = PRED((x & y) == mask);
}

/* ------------------------------------------------------------ redux */

#define REDUX(name, type, identity, combine) \
    PXL_INLINE void redux_##name(type *d, const type *a, const L_u32 *membermask) \
    { \
        const type value = *a; \
        const L_u32 mask = *membermask; \
        type x = SPLAT(type, identity); \
        for (uint32_t k = 0; k < 32; k++) { \
            const type y = (type)lane_read((L_u32)value, SPLAT(L_u32, k)); \
            x = SEL((mask & (1u << k)) != 0, combine, x); \
        } \
        *d = x; \
    }
REDUX(add_u32, L_u32, 0, x + y)
REDUX(min_u32, L_u32, 0xffffffffu, SEL(y < x, y, x))
REDUX(max_u32, L_u32, 0, SEL(y > x, y, x))
REDUX(min_s32, L_s32, 0x7fffffff, SEL(y < x, y, x))
REDUX(max_s32, L_s32, -0x7fffffff - 1, SEL(y > x, y, x))
REDUX(and_b32, L_u32, 0xffffffffu, x & y)
REDUX(or_b32, L_u32, 0, x | y)
REDUX(xor_b32, L_u32, 0, x ^ y)
PXL_INLINE void redux_add_s32(L_s32 *d, const L_s32 *a, const L_u32 *membermask)
{
    const L_u32 value = as_u32(*a);
    L_u32 sum;
    redux_add_u32(&sum, &value, membermask);
    *d = as_s32(sum);
}

/* f32 in the order of the numbers, -0 before +0, as signed integers; and back. */
PXL_INLINE L_s32 pxl_order(L_u32 bits) { const L_s32 b = as_s32(bits); return b ^ ((b >> 31) & 0x7fffffff); }
/* Without .NaN a NaN takes no part, and all NaN gives the canonical one; with .NaN one is enough. */
PXL_INLINE void pxl_redux_f32(L_f32 *d, const L_f32 *a, const L_u32 *membermask, bool abs, bool nan, bool max)
{
    const L_u32 bits = abs ? as_u32(*a) & 0x7fffffffu : as_u32(*a), mask = *membermask;
    const L_u32 is_nan = SEL((bits & 0x7fffffffu) > 0x7f800000u, SPLAT(L_u32, 1), SPLAT(L_u32, 0));
    const L_u32 numbers = lane_ballot(PRED(is_nan == 0)) & mask;
    const L_s32 key = max ? pxl_order(bits) : ~pxl_order(bits);
    L_s32 best;
    const L_u32 taking_part = numbers;
    redux_max_s32(&best, &key, &taking_part);
    const L_u32 result = as_u32(pxl_order(as_u32(max ? best : ~best)));
    *d = as_f32(SEL(nan ? numbers != mask : numbers == 0, SPLAT(L_u32, 0x7fffffffu), result));
}
#define REDUX_F32(name, abs, nan) \
    PXL_INLINE void redux_min##name##_f32(L_f32 *d, const L_f32 *a, const L_u32 *membermask) { pxl_redux_f32(d, a, membermask, abs, nan, false); } \
    PXL_INLINE void redux_max##name##_f32(L_f32 *d, const L_f32 *a, const L_u32 *membermask) { pxl_redux_f32(d, a, membermask, abs, nan, true); }
REDUX_F32(, false, false)
REDUX_F32(_abs, true, false)
REDUX_F32(_nan, false, true)
REDUX_F32(_abs_nan, true, true)

/* ------------------------------------------------------------ movmatrix */

/* Lane 4r + t holds columns 2t and 2t + 1 of row r of an 8x8 matrix, before and after. */
PXL_INLINE void movmatrix_m8n8_trans_b16(L_u32 *d, const L_u32 *a)
{
    const L_u32 lane = lane_id(), row = lane >> 2, from = ((lane & 3u) << 3) + (row >> 1), value = *a;
    const L_u32 x = lane_read(value, from), y = lane_read(value, from + 4u);
    *d = SEL((row & 1u) != 0, (x >> 16) | (y & 0xffff0000u), (x & 0xffffu) | (y << 16));
}

#include "gen/isa_wrap_warp.h"
