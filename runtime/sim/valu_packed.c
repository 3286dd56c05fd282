/* valu_packed.c - VOP3P: two halves of 16 bits in a register, two f32 in a pair, and the mixed-precision fma.
 *
 * op_sel says which half of each source makes the low result, op_sel_hi the high one; neg_lo and neg_hi go with them
 * (AMD "RDNA3 Instruction Set Architecture", section 7.2; for pairs of f32 "AMD Instinct MI300 Instruction Set Architecture", section 6.2).
 */
#include <math.h>
#include "runtime/sim/valu_minmax.h"
#include "runtime/sim/valu.h"

static inline uint16_t sat_u16(int64_t x) { return x < 0 ? 0 : x > 0xffff ? 0xffff : (uint16_t)x; }
static inline int16_t sat_i16(int64_t x) { return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : (int16_t)x; }

static minmax_rule rule_of(const sim_wave *w)
{
    const sim_generation g = w->target->generation;
    return (minmax_rule){ g == SIM_GFX9, g == SIM_GFX12, mode_ieee(w) };
}

/* ------------------------------------------------------------ halves */

/* The halves of source `source` for the low (0) or high (1) result. */
static void pick_half(const sim_wave *w, const sim_insn *i, const uint32_t *x, uint32_t source, uint32_t part, bool is_float, uint32_t *out)
{
    const uint32_t shift = (part ? i->op_sel_hi : i->op_sel) >> source & 1 ? 16 : 0;
    const uint32_t flip = is_float && ((part ? i->neg_hi : i->neg_lo) >> source & 1) ? 0x8000u : 0;
    for (uint32_t l = 0; l < w->lanes; l++)
        out[l] = (x[l] >> shift & 0xffffu) ^ flip;
    if (is_float && !(w->mode & MODE_FLUSH_IN_64))
        for (uint32_t l = 0; l < w->lanes; l++)
            if (f16_is_denormal(out[l])) out[l] &= 0x8000u;
}

#define PF_U16 false
#define PF_I16 false
#define PF_F16 true
#define PF_H16 true

/* Results of a half: integers as they are; floats rounded and ended; bits of floats ended but for the NaN. */
#define PV_U16(value) d[part][l] = (uint16_t)(value)
#define PV_I16(value) d[part][l] = (uint16_t)(value)
#define PV_F16(value) d[part][l] = f16_round(value, round, limit)
#define PV_H16(value) d[part][l] = (uint16_t)(value)
#define PE_U16(n)
#define PE_I16(n)
#define PE_F16(n) valu_end_f16(w, i, d[part], s, n);
#define PE_H16(n) if (i->clamp || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f16(w, i, d[part], s, 0);

#define PACKED_BEGIN                                                                                                  \
    uint32_t d[2][SIM_LANES];                                                                                         \
    const uint64_t exec = valu_exec(w, i);                                                                            \
    const sim_round round = mode_round_64(w);                                                                         \
    const bool limit = mode_fp16_clamp(w), clamp = i->clamp;                                                          \
    const minmax_rule rule = rule_of(w);                                                                              \
    (void)round, (void)limit, (void)clamp, (void)rule
#define PACKED_END                                                                                                    \
    VALU_EACH_LANE d[0][l] |= d[1][l] << 16;                                                                          \
    valu_put_32(w, i, d[0], exec)
#define PACKED_PICK(k, T) uint32_t half##k[SIM_LANES]; pick_half(w, i, s##k.lo, k, part, PF_##T, half##k); const valu_source t##k = { half##k, NULL }

#define P2(name, T, value, ...)                                                                                       \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, U32); VALU_SOURCE(1, 2, U32); PACKED_BEGIN;                                   \
        for (uint32_t part = 0; part < 2; part++) {                                                                   \
            PACKED_PICK(0, T); PACKED_PICK(1, T); const valu_source s[2] = { t0, t1 }; (void)s;                       \
            VALU_EACH_LANE { const VT_##T a = VL_##T(t0), b = VL_##T(t1); PV_##T(value); }                            \
            PE_##T(2)                                                                                                 \
        }                                                                                                             \
        PACKED_END; }
#define PACKED_3(name, T, third, value)                                                                               \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, U32); VALU_SOURCE(1, 2, U32); VALU_SOURCE(2, third, U32); PACKED_BEGIN;       \
        for (uint32_t part = 0; part < 2; part++) {                                                                   \
            PACKED_PICK(0, T); PACKED_PICK(1, T); PACKED_PICK(2, T); const valu_source s[3] = { t0, t1, t2 }; (void)s;        \
            VALU_EACH_LANE { const VT_##T a = VL_##T(t0), b = VL_##T(t1), c = VL_##T(t2); PV_##T(value); }            \
            PE_##T(3)                                                                                                 \
        }                                                                                                             \
        PACKED_END; }
#define P3(name, T, value, ...) PACKED_3(name, T, 3, value)
#define P2A(name, T, value, ...) PACKED_3(name, T, 0, value)
#define PROW(...)
#include "runtime/sim/valu_packed.def"

/* ------------------------------------------------------------ pairs of f32 */

/* One word of each source for the low (0) or high (1) result. */
static const uint32_t *pick_word(sim_wave *w, const sim_insn *i, uint32_t source, uint32_t part, uint32_t *space)
{
    const uint32_t word = (part ? i->op_sel_hi : i->op_sel) >> source & 1;
    const uint32_t flip = (part ? i->neg_hi : i->neg_lo) >> source & 1 ? 0x80000000u : 0;
    const uint32_t *x = valu_row(w, &i->operands[1 + source], word, space);
    if (!flip && (w->mode & MODE_FLUSH_IN_32)) return x;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const uint32_t y = x[l] ^ flip;
        space[l] = !(w->mode & MODE_FLUSH_IN_32) && f32_is_denormal(y) ? y & 0x80000000u : y;
    }
    return space;
}

typedef enum pair_op { PAIR_ADD, PAIR_MUL, PAIR_FMA } pair_op;

static void pair(sim_wave *w, const sim_insn *i, pair_op op)
{
    valu_lanes d;
    const uint64_t exec = valu_exec(w, i);
    const uint32_t n = op == PAIR_FMA ? 3 : 2;
    for (uint32_t part = 0; part < 2; part++) {
        uint32_t space[3][SIM_LANES], *r = part ? d.hi : d.lo;
        valu_source s[3] = { { NULL, NULL } };
        for (uint32_t k = 0; k < n; k++)
            s[k].lo = pick_word(w, i, k, part, space[k]);
        if (mode_round_32(w)) valu_host_round(mode_round_32(w));
        if (op == PAIR_FMA) valu_fma_f32(r, s[0].lo, s[1].lo, s[2].lo, w->lanes);
        else if (op == PAIR_MUL) VALU_EACH_LANE r[l] = sim_float_bits(sim_float(s[0].lo[l]) * sim_float(s[1].lo[l]));
        else VALU_EACH_LANE r[l] = sim_float_bits(sim_float(s[0].lo[l]) + sim_float(s[1].lo[l]));
        valu_host_round_back(w, mode_round_32(w));
        valu_end_f32(w, i, r, s, n);
    }
    valu_put_64(w, i, &d, exec);
}

VALU_HEAD(v_pk_add_f32) { pair(w, i, PAIR_ADD); }
VALU_HEAD(v_pk_mul_f32) { pair(w, i, PAIR_MUL); }
VALU_HEAD(v_pk_fma_f32) { pair(w, i, PAIR_FMA); }

/* Low: the word of source 0 that op_sel[0] says; high: of source 1, by op_sel[1]. */
VALU_HEAD(v_pk_mov_b32)
{
    valu_lanes d;
    uint32_t space[SIM_LANES];
    memcpy(d.lo, valu_row(w, &i->operands[1], i->op_sel & 1, space), w->lanes * 4);
    memcpy(d.hi, valu_row(w, &i->operands[2], i->op_sel >> 1 & 1, space), w->lanes * 4);
    valu_put_64(w, i, &d, sim_exec(w));
}

/* ------------------------------------------------------------ mixed precision */

/* A source is f32, or with its bit of op_sel_hi the f16 in the half that op_sel says. A constant is the number
 * in either case. neg_hi is abs here, which the text writes as |x|. */
static void read_mixed(sim_wave *w, const sim_insn *i, uint32_t source, uint32_t *out)
{
    const sim_operand *o = &i->operands[1 + source];
    valu_lanes space;
    if (!i->has_op_sel_hi || !(i->op_sel_hi >> source & 1) || o->kind == SIM_OP_CONST) {
        memcpy(out, valu_get(w, i, 1 + source, source, VALU_F32, &space).lo, w->lanes * 4);
        return;
    }
    sim_insn bare = *i;                  /* the sign is that of the half, so modifiers come after the choice */
    bare.operands[1 + source].neg = bare.operands[1 + source].abs = false;
    const uint32_t *x = valu_get(w, &bare, 1 + source, source, VALU_B32, &space).lo;
    const uint32_t shift = i->op_sel >> source & 1 ? 16 : 0, keep = o->abs ? 0x7fffffffu : ~0u, flip = o->neg ? 0x80000000u : 0;
    const bool flush = !(w->mode & MODE_FLUSH_IN_64);
    for (uint32_t l = 0; l < w->lanes; l++) {
        const uint32_t h = x[l] >> shift & 0xffffu;
        out[l] = (f16_to_f32_bits(flush && f16_is_denormal(h) ? h & 0x8000u : h) & keep) ^ flip;
    }
}

typedef enum mix_result { MIX_F32, MIX_LOW, MIX_HIGH } mix_result;

/* fma rounds once to f32, mad rounds the product too; a half is then rounded from that f32. */
static void mix(sim_wave *w, const sim_insn *i, bool fused, mix_result result)
{
    uint32_t in[3][SIM_LANES], d[SIM_LANES];
    const uint64_t exec = valu_exec(w, i);
    for (uint32_t k = 0; k < 3; k++)
        read_mixed(w, i, k, in[k]);
    const valu_source s[3] = { { in[0], NULL }, { in[1], NULL }, { in[2], NULL } };
    if (mode_round_32(w)) valu_host_round(mode_round_32(w));
    if (fused) valu_fma_f32(d, in[0], in[1], in[2], w->lanes);
    else VALU_EACH_LANE d[l] = sim_float_bits(sim_float(in[0][l]) * sim_float(in[1][l]) + sim_float(in[2][l]));
    valu_host_round_back(w, mode_round_32(w));
    if (result == MIX_F32) {
        valu_end_f32(w, i, d, s, 3);
        valu_put_32(w, i, d, exec);
        return;
    }
    VALU_EACH_LANE {
        if (f32_is_nan(d[l])) d[l] = valu_nan_f32(in[0][l], in[1][l], in[2][l]);
        d[l] = f16_round((double)sim_float(d[l]), mode_round_64(w), mode_fp16_clamp(w));
    }
    valu_end_f16(w, i, d, NULL, 0);
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    const uint32_t shift = result == MIX_HIGH ? 16 : 0;
    VALU_EACH_LANE d[l] = (row[l] & ~(0xffffu << shift)) | d[l] << shift;
    valu_store(row, d, exec, w->lanes);
}

VALU_HEAD(v_fma_mix_f32) { mix(w, i, true, MIX_F32); }
VALU_HEAD(v_fma_mixlo_f16) { mix(w, i, true, MIX_LOW); }
VALU_HEAD(v_fma_mixhi_f16) { mix(w, i, true, MIX_HIGH); }
VALU_HEAD(v_mad_mix_f32) { mix(w, i, false, MIX_F32); }
VALU_HEAD(v_mad_mixlo_f16) { mix(w, i, false, MIX_LOW); }
VALU_HEAD(v_mad_mixhi_f16) { mix(w, i, false, MIX_HIGH); }
