/* video.c - scalar and SIMD video instructions (PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions").
 *
 * Scalar operands are parts of registers, extended by their type; the operation is exact (the ISA's
 * 34-bit intermediate fits 64 bits), then saturated, combined with c, or merged into c. SIMD
 * operands are picks of 2 half-words or 4 bytes from both source registers. Selectors and masks are
 * immediates as ptx/isa.h describes them (isa_selector).
 */
#include "lane.h"
#include "float_bits.h"

/* isa_selector: 0 none, 1-4 bytes, 5-6 half-words */
enum { SELECT_BYTE_0 = 1, SELECT_HALF_0 = 5 };

PXL_INLINE L_s64 part_u32(L_u32 x, uint32_t selector)
{
    if (selector == 0)
        return CONVERT(L_s64, x);
    if (selector >= SELECT_HALF_0)
        return CONVERT(L_s64, (x >> (16 * (selector - SELECT_HALF_0))) & 0xffff);
    return CONVERT(L_s64, (x >> (8 * (selector - SELECT_BYTE_0))) & 0xff);
}

PXL_INLINE L_s64 part_s32(L_u32 x, uint32_t selector)
{
    if (selector == 0)
        return CONVERT(L_s64, as_s32(x));
    if (selector >= SELECT_HALF_0)
        return CONVERT(L_s64, as_s32(x << (16 * (SELECT_HALF_0 + 1 - selector))) >> 16);
    return CONVERT(L_s64, as_s32(x << (8 * (SELECT_BYTE_0 + 3 - selector))) >> 24);
}

PXL_INLINE L_s64 clamp_s64(L_s64 x, int64_t least, int64_t most)
{
    L_s64 r = SEL(x < least, SPLAT(L_s64, least), x);
    return SEL(r > most, SPLAT(L_s64, most), r);
}

/* To the range of the destination's type and part. */
PXL_INLINE L_s64 video_saturate(L_s64 x, bool is_signed, uint32_t selector)
{
    int bits = selector == 0 ? 32 : selector >= SELECT_HALF_0 ? 16 : 8;
    int64_t most = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
    return clamp_s64(x, is_signed ? -most - 1 : 0, most);
}

PXL_INLINE L_u32 video_merge(L_s64 x, uint32_t selector, L_u32 c)
{
    L_u32 low = CONVERT(L_u32, as_u64(x));
    if (selector == 0)
        return low;
    uint32_t shift = selector >= SELECT_HALF_0 ? 16 * (selector - SELECT_HALF_0) : 8 * (selector - SELECT_BYTE_0);
    uint32_t mask = (selector >= SELECT_HALF_0 ? 0xffffu : 0xffu) << shift;
    return ((low << shift) & mask) | (c & ~mask);
}

#define LESSER64(x, y) SEL((x) < (y), x, y)
#define GREATER64(x, y) SEL((x) > (y), x, y)
PXL_INLINE L_s64 video_vadd(L_s64 a, L_s64 b) { return a + b; }
PXL_INLINE L_s64 video_vsub(L_s64 a, L_s64 b) { return a - b; }
PXL_INLINE L_s64 video_vmin(L_s64 a, L_s64 b) { return LESSER64(a, b); }
PXL_INLINE L_s64 video_vmax(L_s64 a, L_s64 b) { return GREATER64(a, b); }
PXL_INLINE L_s64 video_vabsdiff(L_s64 a, L_s64 b) { return SEL(a < b, b - a, a - b); }

/* Amounts are at most 32. By 32 only the sign counts, which keeps the shift within 64 bits. */
PXL_INLINE L_s64 video_vshl(L_s64 a, L_s64 n)
{
    L_s64 one = SPLAT(L_s64, 1), sign = SEL(a > 0, one, SEL(a < 0, SPLAT(L_s64, -1), SPLAT(L_s64, 0)));
    return as_s64(as_u64(SEL(n == 32, sign, a)) << as_u64(n));
}
PXL_INLINE L_s64 video_vshr(L_s64 a, L_s64 n) { return a >> n; }
PXL_INLINE L_s64 amount_clamp(L_s64 n) { return SEL(n > 32, SPLAT(L_s64, 32), n); }
PXL_INLINE L_s64 amount_wrap(L_s64 n) { return n & 31; }

PXL_INLINE L_s64 extend_u32(L_u32 c) { return CONVERT(L_s64, c); }
PXL_INLINE L_s64 extend_s32(L_u32 c) { return CONVERT(L_s64, as_s32(c)); }
#define SIGNED_u32 0
#define SIGNED_s32 1

/* What follows the operation, out of line: saturation, then the second operation with c or the merge into c. */
enum video_second { VIDEO_NONE, VIDEO_ADD, VIDEO_MIN, VIDEO_MAX };
#define VIDEO_FINISH(D) \
    PXL_SHARED void video_finish_##D(L_u32 *d, const L_s64 *value, bool sat, uint32_t dsel, enum video_second second, const L_u32 *c) \
    { \
        L_s64 t = *value, with = extend_##D(*c); \
        if (sat) \
            t = video_saturate(t, SIGNED_##D, dsel); \
        if (second == VIDEO_ADD) \
            t = t + with; \
        if (second == VIDEO_MIN) \
            t = LESSER64(t, with); \
        if (second == VIDEO_MAX) \
            t = GREATER64(t, with); \
        *d = video_merge(t, dsel, *c); \
    }
VIDEO_FINISH(u32) VIDEO_FINISH(s32)

/* The three forms of an instruction: result alone, merged into c, combined with c by a second operation. */
#define VIDEO_SECOND(name, D, sat, value, second, how) \
    PXL_INLINE void name##second(L_u32 *d, const L_u32 *a, uint32_t asel, const L_u32 *b, uint32_t bsel, const L_u32 *c) \
    { \
        L_s64 t; \
        value(&t, a, asel, b, bsel); \
        video_finish_##D(d, &t, sat, 0, how, c); \
    }
#define VIDEO_FORMS(name, D, sat, value) \
    PXL_INLINE void name(L_u32 *d, const L_u32 *a, uint32_t asel, const L_u32 *b, uint32_t bsel) \
    { \
        L_s64 t; \
        value(&t, a, asel, b, bsel); \
        video_finish_##D(d, &t, sat, 0, VIDEO_NONE, a); \
    } \
    PXL_INLINE void name##_merge(L_u32 *d, uint32_t dsel, const L_u32 *a, uint32_t asel, const L_u32 *b, uint32_t bsel, const L_u32 *c) \
    { \
        L_s64 t; \
        value(&t, a, asel, b, bsel); \
        video_finish_##D(d, &t, sat, dsel, VIDEO_NONE, c); \
    } \
    VIDEO_SECOND(name, D, sat, value, _add, VIDEO_ADD) VIDEO_SECOND(name, D, sat, value, _min, VIDEO_MIN) VIDEO_SECOND(name, D, sat, value, _max, VIDEO_MAX)

/* The operation on the parts of a and b, out of line. */
#define VIDEO_VALUE(name, A, B, operation) \
    PXL_SHARED void name(L_s64 *t, const L_u32 *pa, uint32_t asel, const L_u32 *pb, uint32_t bsel) \
    { \
        L_s64 a = part_##A(*pa, asel), b = part_##B(*pb, bsel); \
        *t = operation; \
    }

/* X(D, A, B, ...) for the eight combinations of types. */
#define VIDEO_TYPES(X, ...) \
    X(u32, u32, u32, __VA_ARGS__) X(u32, u32, s32, __VA_ARGS__) X(u32, s32, u32, __VA_ARGS__) X(u32, s32, s32, __VA_ARGS__) \
    X(s32, u32, u32, __VA_ARGS__) X(s32, u32, s32, __VA_ARGS__) X(s32, s32, u32, __VA_ARGS__) X(s32, s32, s32, __VA_ARGS__)

#define VIDEO_VALUES(op) \
    VIDEO_VALUE(op##_of_u32_u32, u32, u32, video_##op(a, b)) VIDEO_VALUE(op##_of_u32_s32, u32, s32, video_##op(a, b)) \
    VIDEO_VALUE(op##_of_s32_u32, s32, u32, video_##op(a, b)) VIDEO_VALUE(op##_of_s32_s32, s32, s32, video_##op(a, b))
VIDEO_VALUES(vadd) VIDEO_VALUES(vsub) VIDEO_VALUES(vabsdiff) VIDEO_VALUES(vmin) VIDEO_VALUES(vmax)
#define VIDEO_ARITHMETIC(D, A, B, op) \
    VIDEO_FORMS(op##_##D##_##A##_##B, D, 0, op##_of_##A##_##B) VIDEO_FORMS(op##_##D##_##A##_##B##_sat, D, 1, op##_of_##A##_##B)
VIDEO_TYPES(VIDEO_ARITHMETIC, vadd) VIDEO_TYPES(VIDEO_ARITHMETIC, vsub) VIDEO_TYPES(VIDEO_ARITHMETIC, vabsdiff)
VIDEO_TYPES(VIDEO_ARITHMETIC, vmin) VIDEO_TYPES(VIDEO_ARITHMETIC, vmax)

#define VIDEO_SHIFT_VALUES(op, mode) \
    VIDEO_VALUE(op##_##mode##_of_u32, u32, u32, video_##op(a, amount_##mode(b))) VIDEO_VALUE(op##_##mode##_of_s32, s32, u32, video_##op(a, amount_##mode(b)))
VIDEO_SHIFT_VALUES(vshl, clamp) VIDEO_SHIFT_VALUES(vshl, wrap) VIDEO_SHIFT_VALUES(vshr, clamp) VIDEO_SHIFT_VALUES(vshr, wrap)
#define VIDEO_SHIFT(op, D, A, mode) \
    VIDEO_FORMS(op##_##D##_##A##_u32_##mode, D, 0, op##_##mode##_of_##A) VIDEO_FORMS(op##_##D##_##A##_u32_sat_##mode, D, 1, op##_##mode##_of_##A)
#define VIDEO_SHIFTS(op, mode) VIDEO_SHIFT(op, u32, u32, mode) VIDEO_SHIFT(op, u32, s32, mode) VIDEO_SHIFT(op, s32, u32, mode) VIDEO_SHIFT(op, s32, s32, mode)
VIDEO_SHIFTS(vshl, clamp) VIDEO_SHIFTS(vshl, wrap) VIDEO_SHIFTS(vshr, clamp) VIDEO_SHIFTS(vshr, wrap)

#define ONE64(condition) SEL(condition, SPLAT(L_s64, 1), SPLAT(L_s64, 0))
PXL_INLINE L_s64 video_eq(L_s64 a, L_s64 b) { return ONE64(a == b); }
PXL_INLINE L_s64 video_ne(L_s64 a, L_s64 b) { return ONE64(a != b); }
PXL_INLINE L_s64 video_lt(L_s64 a, L_s64 b) { return ONE64(a < b); }
PXL_INLINE L_s64 video_le(L_s64 a, L_s64 b) { return ONE64(a <= b); }
PXL_INLINE L_s64 video_gt(L_s64 a, L_s64 b) { return ONE64(a > b); }
PXL_INLINE L_s64 video_ge(L_s64 a, L_s64 b) { return ONE64(a >= b); }
#define COMPARISONS(X, ...) X(eq, __VA_ARGS__) X(ne, __VA_ARGS__) X(lt, __VA_ARGS__) X(le, __VA_ARGS__) X(gt, __VA_ARGS__) X(ge, __VA_ARGS__)
#define VIDEO_SET(cmp, A, B) \
    VIDEO_VALUE(vset_of_##A##_##B##_##cmp, A, B, video_##cmp(a, b)) VIDEO_FORMS(vset_##A##_##B##_##cmp, u32, 0, vset_of_##A##_##B##_##cmp)
COMPARISONS(VIDEO_SET, u32, u32) COMPARISONS(VIDEO_SET, u32, s32) COMPARISONS(VIDEO_SET, s32, u32) COMPARISONS(VIDEO_SET, s32, s32)

/* ---- SIMD ---- */

/* Number i of a selection: byte or half-word `place` of [b:a], extended by its type. */
PXL_INLINE L_s32 pick(L_u32 a, L_u32 b, uint32_t selector, int i, int bits, bool is_signed)
{
    uint32_t count = 32u / (uint32_t)bits, place = selector >> (4 * i) & 0xf, at = (place & (count - 1)) * (uint32_t)bits;
    L_u32 word = place >= count ? b : a;
    L_u32 up = word << (32 - (uint32_t)bits - at);
    return is_signed ? as_s32(up) >> (32 - bits) : as_s32(up >> (32 - bits));
}

PXL_INLINE L_s32 simd_vadd(L_s32 a, L_s32 b) { return a + b; }
PXL_INLINE L_s32 simd_vsub(L_s32 a, L_s32 b) { return a - b; }
PXL_INLINE L_s32 simd_vmin(L_s32 a, L_s32 b) { return SEL(a < b, a, b); }
PXL_INLINE L_s32 simd_vmax(L_s32 a, L_s32 b) { return SEL(a > b, a, b); }
PXL_INLINE L_s32 simd_vabsdiff(L_s32 a, L_s32 b) { return SEL(a < b, b - a, a - b); }
/* Halves are rounded away from zero. */
PXL_INLINE L_s32 simd_vavrg(L_s32 a, L_s32 b)
{
    L_s32 sum = a + b;
    return SEL(sum >= 0, sum + 1, sum) >> 1;
}
#define ONE32(condition) SEL(condition, SPLAT(L_s32, 1), SPLAT(L_s32, 0))
PXL_INLINE L_s32 simd_eq(L_s32 a, L_s32 b) { return ONE32(a == b); }
PXL_INLINE L_s32 simd_ne(L_s32 a, L_s32 b) { return ONE32(a != b); }
PXL_INLINE L_s32 simd_lt(L_s32 a, L_s32 b) { return ONE32(a < b); }
PXL_INLINE L_s32 simd_le(L_s32 a, L_s32 b) { return ONE32(a <= b); }
PXL_INLINE L_s32 simd_gt(L_s32 a, L_s32 b) { return ONE32(a > b); }
PXL_INLINE L_s32 simd_ge(L_s32 a, L_s32 b) { return ONE32(a >= b); }

PXL_INLINE L_s32 simd_saturate(L_s32 x, bool is_signed, int bits)
{
    int32_t most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, least = is_signed ? -most - 1 : 0;
    L_s32 r = SEL(x < least, SPLAT(L_s32, least), x);
    return SEL(r > most, SPLAT(L_s32, most), r);
}

/* The operation on all n numbers, out of line. */
#define SIMD_VALUE(name, n, bits, A, B, operation) \
    PXL_SHARED void name(L_s32 *t, const L_u32 *pa, uint32_t asel, const L_u32 *pb, uint32_t bsel) \
    { \
        for (int i = 0; i < n; i++) { \
            L_s32 a = pick(*pa, *pb, asel, i, bits, SIGNED_##A), b = pick(*pa, *pb, bsel, i, bits, SIGNED_##B); \
            t[i] = operation; \
        } \
    }

/* Numbers that the mask leaves out come from c; with .add those it names are summed onto c. */
enum simd_how { SIMD_PLAIN, SIMD_SATURATE, SIMD_ADD };
#define SIMD_FINISH(D, n, bits) \
    PXL_SHARED void simd##n##_finish_##D(L_u32 *d, const L_s32 *t, uint32_t mask, enum simd_how how, const L_u32 *pc) \
    { \
        L_u32 r = *pc; \
        for (int i = 0; i < n; i++) { \
            L_s32 x = how == SIMD_SATURATE ? simd_saturate(t[i], SIGNED_##D, bits) : t[i]; \
            uint32_t taken = mask >> i & 1 ? 0xffffffffu : 0, place = (((1u << bits) - 1) << (i * bits)) & taken; \
            if (how == SIMD_ADD) \
                r += as_u32(x) & taken; \
            else \
                r = (r & ~place) | ((as_u32(x) << (i * bits)) & place); \
        } \
        *d = r; \
    }
SIMD_FINISH(u32, 2, 16) SIMD_FINISH(s32, 2, 16) SIMD_FINISH(u32, 4, 8) SIMD_FINISH(s32, 4, 8)

#define SIMD_FORM(name, n, D, how, value) \
    PXL_INLINE void name(L_u32 *d, uint32_t mask, const L_u32 *a, uint32_t asel, const L_u32 *b, uint32_t bsel, const L_u32 *c) \
    { \
        L_s32 t[n]; \
        value(t, a, asel, b, bsel); \
        simd##n##_finish_##D(d, t, mask, how, c); \
    }
#define SIMD_VALUES(op, n, bits) \
    SIMD_VALUE(op##n##_of_u32_u32, n, bits, u32, u32, simd_##op(a, b)) SIMD_VALUE(op##n##_of_u32_s32, n, bits, u32, s32, simd_##op(a, b)) \
    SIMD_VALUE(op##n##_of_s32_u32, n, bits, s32, u32, simd_##op(a, b)) SIMD_VALUE(op##n##_of_s32_s32, n, bits, s32, s32, simd_##op(a, b))
#define SIMD_ARITHMETIC(D, A, B, op, n) \
    SIMD_FORM(op##n##_##D##_##A##_##B, n, D, SIMD_PLAIN, op##n##_of_##A##_##B) \
    SIMD_FORM(op##n##_##D##_##A##_##B##_sat, n, D, SIMD_SATURATE, op##n##_of_##A##_##B) \
    SIMD_FORM(op##n##_##D##_##A##_##B##_add, n, D, SIMD_ADD, op##n##_of_##A##_##B)
#define SIMD_BOTH(op) \
    SIMD_VALUES(op, 2, 16) SIMD_VALUES(op, 4, 8) VIDEO_TYPES(SIMD_ARITHMETIC, op, 2) VIDEO_TYPES(SIMD_ARITHMETIC, op, 4)
SIMD_BOTH(vadd) SIMD_BOTH(vsub) SIMD_BOTH(vavrg) SIMD_BOTH(vabsdiff) SIMD_BOTH(vmin) SIMD_BOTH(vmax)

#define SIMD_SET(cmp, A, B, n, bits) \
    SIMD_VALUE(vset##n##_of_##A##_##B##_##cmp, n, bits, A, B, simd_##cmp(a, b)) \
    SIMD_FORM(vset##n##_##A##_##B##_##cmp, n, u32, SIMD_PLAIN, vset##n##_of_##A##_##B##_##cmp) \
    SIMD_FORM(vset##n##_##A##_##B##_##cmp##_add, n, u32, SIMD_ADD, vset##n##_of_##A##_##B##_##cmp)
#define SIMD_SETS(n, bits) \
    COMPARISONS(SIMD_SET, u32, u32, n, bits) COMPARISONS(SIMD_SET, u32, s32, n, bits) \
    COMPARISONS(SIMD_SET, s32, u32, n, bits) COMPARISONS(SIMD_SET, s32, s32, n, bits)
SIMD_SETS(2, 16) SIMD_SETS(4, 8)

#include "vmad.h"
#include "gen/isa_wrap_video.h"
