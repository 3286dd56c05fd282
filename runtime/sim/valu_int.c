/* valu_int.c - handlers of valu_int.def. */
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ pieces of the rows */

#define LEAST(x, y) ((x) < (y) ? (x) : (y))
#define MOST(x, y) ((x) > (y) ? (x) : (y))
#define MIDDLE(x, y, z) MOST(LEAST(x, y), LEAST(MOST(x, y), z))

static inline uint32_t sat_u32(int64_t x) { return x < 0 ? 0 : x > 0xffffffffll ? 0xffffffffu : (uint32_t)x; }
static inline int32_t sat_i32(int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x; }
static inline uint16_t sat_u16(int64_t x) { return x < 0 ? 0 : x > 0xffff ? 0xffff : (uint16_t)x; }
static inline int16_t sat_i16(int64_t x) { return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : (int16_t)x; }
static inline uint8_t sat_u8(int32_t x) { return x < 0 ? 0 : x > 0xff ? 0xff : (uint8_t)x; }
static inline int8_t sat_i8(int32_t x) { return x < -128 ? -128 : x > 127 ? 127 : (int8_t)x; }

static inline uint32_t u24(uint32_t x) { return x & 0xffffffu; }
static inline int32_t i24(uint32_t x) { return (int32_t)(x << 8) >> 8; }

static inline uint32_t bfe_signed(int32_t a, uint32_t offset, uint32_t width)
{
    if (!width) return 0;
    const uint32_t field = (uint32_t)(a >> offset) & ((1u << width) - 1);
    return (field ^ 1u << (width - 1)) - (1u << (width - 1));
}

static inline uint32_t reverse_bits(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}

/* Leading bits equal to the sign, -1 when all are. */
static inline uint32_t leading_signs(uint32_t a)
{
    const uint32_t other = a ^ (uint32_t)((int32_t)a >> 31);
    return other ? (uint32_t)__builtin_clz(other) : ~0u;
}

static inline uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

/* Selectors above 7 give the sign of bytes 1, 3, 5, 7; 12 gives 0; above, 0xff. */
static inline uint32_t permute_byte(uint64_t data, uint32_t select)
{
    if (select >= 13) return 0xff;
    if (select == 12) return 0;
    if (select >= 8) return data >> ((select - 8) * 16 + 15) & 1 ? 0xff : 0;
    return data >> select * 8 & 0xff;
}

static inline uint32_t permute_bytes(uint64_t data, uint32_t select)
{
    uint32_t r = 0;
    for (uint32_t k = 0; k < 32; k += 8)
        r |= permute_byte(data, select >> k & 0xff) << k;
    return r;
}

/* `masked`: a zero byte of b takes no part. */
static inline uint32_t sad_bytes(uint32_t a, uint32_t b, bool masked)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 32; k += 8) {
        const uint32_t x = a >> k & 0xff, y = b >> k & 0xff;
        if (!masked || y) sum += x > y ? x - y : y - x;
    }
    return sum;
}

static inline uint32_t sad_words(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 32; k += 16) {
        const uint32_t x = a >> k & 0xffff, y = b >> k & 0xffff;
        sum += x > y ? x - y : y - x;
    }
    return sum;
}

static inline uint32_t sad_end(uint32_t c, uint64_t sum, bool clamp)
{
    return clamp ? sat_u32((int64_t)(c + sum)) : (uint32_t)(c + sum);
}

static inline uint64_t qsad_pk(uint64_t a, uint32_t b, uint64_t c, bool masked, bool clamp)
{
    uint64_t r = 0;
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t sum = (uint32_t)(c >> 16 * k & 0xffff) + sad_bytes((uint32_t)(a >> 8 * k), b, masked);
        r |= (uint64_t)(clamp ? sat_u16(sum) : (uint16_t)sum) << 16 * k;
    }
    return r;
}

static inline uint32_t lerp_bytes(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (uint32_t k = 0; k < 32; k += 8)
        r |= ((a >> k & 0xff) + (b >> k & 0xff) + (c >> k & 1)) >> 1 << k;
    return r;
}

#define VALU_LIST_HANDLERS
#include "runtime/sim/valu_list.h"
#include "runtime/sim/valu_int.def"
#undef VALU_LIST_HANDLERS

/* ------------------------------------------------------------ lane masks as sources and results */

/* VOP2 in VOPD has VCC unnamed. */
static uint64_t select_mask(const sim_wave *w, const sim_insn *i, uint32_t operand)
{
    if (i->noperands > operand) return sim_read_mask(w, &i->operands[operand]);
    return w->lanes == 64 ? sim_pair(w, SIM_VCC) : w->sgpr[SIM_VCC];
}

VALU_HEAD(v_cndmask_b32)
{
    VALU_SOURCE(0, 1, X32);
    VALU_SOURCE(1, 2, X32);
    const uint64_t mask = select_mask(w, i, 3), exec = valu_exec(w, i);
    uint32_t d[SIM_LANES];
    for (size_t l0 = 0; l0 < w->lanes; l0 += 32) {
        const uint32_t part = (uint32_t)(mask >> l0);
        for (size_t l = 0; l < 32; l++) {
            const uint32_t take = 0u - (part >> l & 1);
            d[l0 + l] = (s0.lo[l0 + l] & ~take) | (s1.lo[l0 + l] & take);
        }
    }
    valu_put_32(w, i, d, exec);
}

VALU_HEAD(v_cndmask_b16)
{
    VALU_SOURCE(0, 1, XH16);
    VALU_SOURCE(1, 2, XH16);
    const uint64_t mask = select_mask(w, i, 3), exec = valu_exec(w, i);
    uint32_t d[SIM_LANES];
    VALU_EACH_LANE d[l] = mask >> l & 1 ? s1.lo[l] : s0.lo[l];
    valu_put_16(w, i, d, exec, 2);
}

/* x + y + carry, or x - y - carry. Bits of inactive lanes in the carry mask become 0, as for compares. */
static void add_carry(sim_wave *w, const sim_insn *i, bool subtract, bool reverse, bool carry_in)
{
    valu_lanes space0, space1;
    const valu_source s0 = valu_get(w, i, 2, 0, VALU_B32, &space0), s1 = valu_get(w, i, 3, 1, VALU_B32, &space1);
    const uint32_t *x = reverse ? s1.lo : s0.lo, *y = reverse ? s0.lo : s1.lo;
    const uint64_t exec = valu_exec(w, i), in = carry_in ? select_mask(w, i, 4) : 0;
    uint32_t d[SIM_LANES];
    uint8_t flags[SIM_LANES];
    for (size_t l0 = 0; l0 < w->lanes; l0 += 32)
        for (size_t l = 0; l < 32; l++) {
            const uint32_t a = x[l0 + l], b = y[l0 + l], c = (uint32_t)(in >> l0) >> l & 1, sum = subtract ? a - b - c : a + b + c;
            /* The carry out of bit 31 is the majority of the terms' top bits and the carry into it. */
            const uint32_t carry = subtract ? (~a & b) | ((~a | b) & sum) : (a & b) | ((a | b) & ~sum);
            d[l0 + l] = sum;
            flags[l0 + l] = (uint8_t)(carry >> 31);
        }
    if (i->clamp) VALU_EACH_LANE if (flags[l]) d[l] = subtract ? 0 : ~0u;
    valu_put_32(w, i, d, exec);
    sim_write_mask(w, &i->operands[1], valu_mask(w, flags) & exec);
}

VALU_HEAD(v_add_co_u32) { add_carry(w, i, false, false, false); }
VALU_HEAD(v_sub_co_u32) { add_carry(w, i, true, false, false); }
VALU_HEAD(v_subrev_co_u32) { add_carry(w, i, true, true, false); }
VALU_HEAD(v_add_co_ci_u32) { add_carry(w, i, false, false, true); }
VALU_HEAD(v_sub_co_ci_u32) { add_carry(w, i, true, false, true); }
VALU_HEAD(v_subrev_co_ci_u32) { add_carry(w, i, true, true, true); }

/* The mask gets bit 64 of the exact sum. clamp saturates. */
static void mad_64(sim_wave *w, const sim_insn *i, bool is_signed)
{
    valu_lanes space0, space1, space2, d;
    const valu_source s0 = valu_get(w, i, 2, 0, VALU_B32, &space0), s1 = valu_get(w, i, 3, 1, VALU_B32, &space1);
    const valu_source s2 = valu_get(w, i, 4, 2, VALU_B64, &space2);
    const uint64_t exec = valu_exec(w, i);
    uint64_t out = 0;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const uint64_t c = VL_U64(s2);
        uint64_t product, r;
        bool over;
        if (is_signed) {
            int64_t sum;
            product = (uint64_t)((int64_t)(int32_t)s0.lo[l] * (int32_t)s1.lo[l]);
            over = __builtin_add_overflow((int64_t)product, (int64_t)c, &sum);
            r = over && i->clamp ? (int64_t)c < 0 ? 1ull << 63 : ~(1ull << 63) : (uint64_t)sum;
            /* Bit 64 of the sum of the sign-extended terms. */
            out |= (uint64_t)(((uint64_t)sum >> 63) ^ over) << l;
        } else {
            product = (uint64_t)s0.lo[l] * s1.lo[l];
            over = __builtin_add_overflow(product, c, &r);
            if (over && i->clamp) r = ~0ull;
            out |= (uint64_t)over << l;
        }
        VS_U64(r);
    }
    valu_put_64(w, i, &d, exec);
    sim_write_mask(w, &i->operands[1], out & exec);
}

VALU_HEAD(v_mad_u64_u32) { mad_64(w, i, false); }
VALU_HEAD(v_mad_i64_i32) { mad_64(w, i, true); }

/* ------------------------------------------------------------ results of four registers, bytes of a register */

VALU_HEAD(v_mqsad_u32_u8)
{
    valu_lanes space0, space1;
    uint32_t d[4][SIM_LANES], space[SIM_LANES];
    const valu_source s0 = valu_get(w, i, 1, 0, VALU_B64, &space0), s1 = valu_get(w, i, 2, 1, VALU_B32, &space1);
    const uint64_t exec = valu_exec(w, i);
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t *c = valu_row(w, &i->operands[3], k, space);
        VALU_EACH_LANE d[k][l] = sad_end(c[l], sad_bytes((uint32_t)(VL_U64(s0) >> 8 * k), s1.lo[l], true), i->clamp);
    }
    for (uint32_t k = 0; k < 4; k++)
        valu_store(sim_row(w, &i->operands[0], k), d[k], exec, w->lanes);
}

static uint32_t put_byte(uint32_t old, uint32_t value, uint32_t at)
{
    return (old & ~(0xffu << at * 8)) | value << at * 8;
}

VALU_HEAD(v_cvt_pk_u8_f32)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, U32);
    VALU_SOURCE(2, 3, U32);
    const uint64_t exec = valu_exec(w, i);
    uint32_t d[SIM_LANES];
    VALU_EACH_LANE d[l] = put_byte(s2.lo[l], (uint32_t)sim_to_int((double)VL_F32(s0), 0, 255), s1.lo[l] & 3);
    valu_put_32(w, i, d, exec);
}

VALU_HEAD(v_cvt_pkaccum_u8_f32)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, U32);
    const uint64_t exec = valu_exec(w, i);
    const uint32_t *old = sim_row(w, &i->operands[0], 0);
    uint32_t d[SIM_LANES];
    VALU_EACH_LANE d[l] = put_byte(old[l], (uint32_t)sim_to_int((double)VL_F32(s0), 0, 255), s1.lo[l] & 3);
    valu_put_32(w, i, d, exec);
}
