/* lanes_level.h - the vector helpers of one instruction-set level: included by lanes.c once a level.
 *
 * LEVEL(name) makes a level's own name, TARGET is its target attribute. Vectors are those of GCC and clang,
 * of 32 elements; the compiler splits them into what the level has.
 */

TARGET static inline __attribute__((always_inline)) V32 LEVEL(bits32)(uint32_t mask)
{
    return (V32)(((LANE_BITS & mask) != 0));
}

TARGET static void LEVEL(blend8)(char *to, const char *from, uint32_t mask)
{
    for (uint32_t i = 0; i < 32; i++)
        to[i] = (mask >> i & 1) ? from[i] : to[i];
}

TARGET static void LEVEL(blend16)(char *to, const char *from, uint32_t mask)
{
    V16 keep = __builtin_convertvector(LEVEL(bits32)(mask), V16);
    *(V16 *)to = (*(const V16 *)from & keep) | (*(V16 *)to & ~keep);
}

TARGET static void LEVEL(blend32)(char *to, const char *from, uint32_t mask)
{
    V32 keep = LEVEL(bits32)(mask);
    *(V32 *)to = (*(const V32 *)from & keep) | (*(V32 *)to & ~keep);
}

TARGET static void LEVEL(blend64)(char *to, const char *from, uint32_t mask)
{
    V64 keep = (V64)__builtin_convertvector((S32)LEVEL(bits32)(mask), S64);
    *(V64 *)to = (*(const V64 *)from & keep) | (*(V64 *)to & ~keep);
}

TARGET static void LEVEL(blend_pred)(char *to, const char *from, uint32_t mask)
{
    *(W32 *)to = (*(const W32 *)from & mask) | (*(W32 *)to & ~mask);
}

/* Four addresses at a time, which is one register where it matters. */
typedef struct LEVEL(sums) { F64 apart, differ; } LEVEL(sums);

TARGET INLINE void LEVEL(four)(uint64_t *out, const F64 *address, const F64 *lanes, uint64_t first, LEVEL(sums) *s)
{
    F64 from_first = *address - first;
    s->differ |= from_first;
    s->apart |= from_first ^ *lanes;
    *(F64 *)out = *address;
}

TARGET INLINE uint64_t LEVEL(any)(const F64 *v)
{
    return (*v)[0] | (*v)[1] | (*v)[2] | (*v)[3];
}

TARGET __attribute__((noinline)) static uint32_t LEVEL(name_bad_lanes)(const uint64_t *out, const cpu_address_query *q)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < 32; i++)
        bad |= (uint32_t)(out[i] - q->low > q->limit || (out[i] & q->align_mask)) << i;
    return bad;
}

/* The arena lies below 2^63, so an unsigned comparison becomes a sign: x > limit exactly when x or limit - x has its top bit set. */
TARGET INLINE uint32_t LEVEL(bad_lanes)(const uint64_t *out, const cpu_address_query *q)
{
    F64 outside = {0}, astray = {0};
    for (uint32_t i = 0; i < 32; i += 4) {
        F64 a = *(const F64 *)(out + i), inside = a - q->low;
        outside |= inside | (q->limit - inside);
        astray |= a;
    }
    F64 wrong = (outside & (1ull << 63)) | (astray & q->align_mask);
    return LEVEL(any)(&wrong) ? LEVEL(name_bad_lanes)(out, q) : 0;
}

/* What follows the loop over lanes: the shape, the lanes outside, and the lane part of local addresses. */
TARGET INLINE cpu_pattern LEVEL(shape)(uint64_t *out, const cpu_address_query *q, const LEVEL(sums) *s, uint32_t *bad)
{
    bool dense = LEVEL(any)(&s->apart) == 0, uniform = LEVEL(any)(&s->differ) == 0;
    /* A row without gaps is inside when its ends are. */
    bool good = (dense || uniform) && out[0] - q->low <= q->limit && out[31] - q->low <= q->limit && ((out[0] | q->step) & q->align_mask) == 0;
    *bad = good ? 0 : LEVEL(bad_lanes)(out, q);
    if (q->lane_stride) {
        for (uint32_t i = 0; i < 32; i++)
            out[i] += i * q->lane_stride;
        return CPU_PATTERN_ANY;
    }
    return dense ? CPU_PATTERN_DENSE : uniform ? CPU_PATTERN_UNIFORM : CPU_PATTERN_ANY;
}

TARGET static cpu_pattern LEVEL(address64)(uint64_t *out, const char *base, const cpu_address_query *q, uint32_t *bad)
{
    LEVEL(sums) s = {{0}, {0}};
    F64 lanes = (F64){0, 1, 2, 3} * q->step;
    uint64_t first = *(const D64 *)base + q->add;
    const cpu_address_query k = *q;     /* which no store can change */
    for (uint32_t i = 0; i < 32; i += 4, lanes += 4 * k.step) {
        F64 a = *(const F64 *)(base + 8 * i) + k.add;
        LEVEL(four)(out + i, &a, &lanes, first, &s);
    }
    return LEVEL(shape)(out, q, &s, bad);
}

TARGET static cpu_pattern LEVEL(address32)(uint64_t *out, const char *base, const cpu_address_query *q, uint32_t *bad)
{
    LEVEL(sums) s = {{0}, {0}};
    F64 lanes = (F64){0, 1, 2, 3} * q->step;
    uint64_t first = (uint32_t)(*(const W32 *)base + q->add32) + q->add;
    const cpu_address_query k = *q;
    for (uint32_t i = 0; i < 32; i += 4, lanes += 4 * k.step) {
        F64 a = __builtin_convertvector(*(const Q32 *)(base + 4 * i) + k.add32, F64) + k.add;
        LEVEL(four)(out + i, &a, &lanes, first, &s);
    }
    return LEVEL(shape)(out, q, &s, bad);
}

TARGET static void LEVEL(splat8)(char *to, uint64_t v) { *(V8 *)to = (V8){0} + (uint8_t)v; }
TARGET static void LEVEL(splat16)(char *to, uint64_t v) { *(V16 *)to = (V16){0} + (uint16_t)v; }
TARGET static void LEVEL(splat32)(char *to, uint64_t v) { *(V32 *)to = (V32){0} + (uint32_t)v; }
TARGET static void LEVEL(splat64)(char *to, uint64_t v) { *(V64 *)to = (V64){0} + v; }

#define CONVERT_ONE(name, from, to) \
    TARGET static void LEVEL(name)(char *r, const uint32_t *o) \
    { \
        const from *s = (const from *)(r + o[1]); \
        to *d = (to *)(r + o[0]); \
        *d = (to)__builtin_convertvector(*s, to); \
    }
CONVERT_ONE(u8_u16, V8, V16)
CONVERT_ONE(u8_u32, V8, V32)
CONVERT_ONE(u8_u64, V8, V64)
CONVERT_ONE(s8_s16, S8, S16)
CONVERT_ONE(s8_s32, S8, S32)
CONVERT_ONE(s8_s64, S8, S64)
CONVERT_ONE(u16_u8, V16, V8)
CONVERT_ONE(u16_u32, V16, V32)
CONVERT_ONE(u16_u64, V16, V64)
CONVERT_ONE(s16_s32, S16, S32)
CONVERT_ONE(s16_s64, S16, S64)
CONVERT_ONE(u32_u8, V32, V8)
CONVERT_ONE(u32_u16, V32, V16)
CONVERT_ONE(u32_u64, V32, V64)
CONVERT_ONE(s32_s64, S32, S64)
CONVERT_ONE(u64_u8, V64, V8)
CONVERT_ONE(u64_u16, V64, V16)
CONVERT_ONE(u64_u32, V64, V32)
#undef CONVERT_ONE

/* Four lanes of four words each, transposed. */
#define TRANSPOSE4(a, b, c, d) do { \
        Q32 t0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), t1 = __builtin_shufflevector(a, b, 2, 6, 3, 7); \
        Q32 t2 = __builtin_shufflevector(c, d, 0, 4, 1, 5), t3 = __builtin_shufflevector(c, d, 2, 6, 3, 7); \
        a = __builtin_shufflevector(t0, t2, 0, 1, 4, 5); \
        b = __builtin_shufflevector(t0, t2, 2, 3, 6, 7); \
        c = __builtin_shufflevector(t1, t3, 0, 1, 4, 5); \
        d = __builtin_shufflevector(t1, t3, 2, 3, 6, 7); \
    } while (0)

TARGET static void LEVEL(split4)(char *d0, char *d1, char *d2, char *d3, const char *memory)
{
    for (uint32_t i = 0; i < 32; i += 4) {
        Q32 a = *(const U32 *)(memory + 16 * i), b = *(const U32 *)(memory + 16 * i + 16);
        Q32 c = *(const U32 *)(memory + 16 * i + 32), d = *(const U32 *)(memory + 16 * i + 48);
        TRANSPOSE4(a, b, c, d);
        *(Q32 *)(d0 + 4 * i) = a;
        *(Q32 *)(d1 + 4 * i) = b;
        *(Q32 *)(d2 + 4 * i) = c;
        *(Q32 *)(d3 + 4 * i) = d;
    }
}

TARGET static void LEVEL(join4)(char *memory, const char *s0, const char *s1, const char *s2, const char *s3)
{
    for (uint32_t i = 0; i < 32; i += 4) {
        Q32 a = *(const Q32 *)(s0 + 4 * i), b = *(const Q32 *)(s1 + 4 * i);
        Q32 c = *(const Q32 *)(s2 + 4 * i), d = *(const Q32 *)(s3 + 4 * i);
        TRANSPOSE4(a, b, c, d);
        *(U32 *)(memory + 16 * i) = a;
        *(U32 *)(memory + 16 * i + 16) = b;
        *(U32 *)(memory + 16 * i + 32) = c;
        *(U32 *)(memory + 16 * i + 48) = d;
    }
}

TARGET static void LEVEL(split2)(char *d0, char *d1, const char *memory)
{
    for (uint32_t i = 0; i < 32; i += 4) {
        Q32 a = *(const U32 *)(memory + 8 * i), b = *(const U32 *)(memory + 8 * i + 16);
        *(Q32 *)(d0 + 4 * i) = __builtin_shufflevector(a, b, 0, 2, 4, 6);
        *(Q32 *)(d1 + 4 * i) = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
}

TARGET static void LEVEL(join2)(char *memory, const char *s0, const char *s1)
{
    for (uint32_t i = 0; i < 32; i += 4) {
        Q32 a = *(const Q32 *)(s0 + 4 * i), b = *(const Q32 *)(s1 + 4 * i);
        *(U32 *)(memory + 8 * i) = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        *(U32 *)(memory + 8 * i + 16) = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    }
}
#undef TRANSPOSE4

static const cpu_lane_ops LEVEL(ops) = {
    .level = LEVEL_TEXT,
    .blend = {LEVEL(blend8), LEVEL(blend16), LEVEL(blend32), LEVEL(blend64), LEVEL(blend_pred)},
    .splat = {LEVEL(splat8), LEVEL(splat16), LEVEL(splat32), LEVEL(splat64)},
    .address64 = LEVEL(address64),
    .address32 = LEVEL(address32),
    .convert = {
        {{0}, {LEVEL(u8_u16), LEVEL(s8_s16)}, {LEVEL(u8_u32), LEVEL(s8_s32)}, {LEVEL(u8_u64), LEVEL(s8_s64)}},
        {{LEVEL(u16_u8), LEVEL(u16_u8)}, {0}, {LEVEL(u16_u32), LEVEL(s16_s32)}, {LEVEL(u16_u64), LEVEL(s16_s64)}},
        {{LEVEL(u32_u8), LEVEL(u32_u8)}, {LEVEL(u32_u16), LEVEL(u32_u16)}, {0}, {LEVEL(u32_u64), LEVEL(s32_s64)}},
        {{LEVEL(u64_u8), LEVEL(u64_u8)}, {LEVEL(u64_u16), LEVEL(u64_u16)}, {LEVEL(u64_u32), LEVEL(u64_u32)}, {0}},
    },
    .split2 = LEVEL(split2),
    .split4 = LEVEL(split4),
    .join2 = LEVEL(join2),
    .join4 = LEVEL(join4),
    .meanings = LEVEL_MEANINGS,
};
