/* valu.c - sources, results and modifiers of vector ALU instructions.
 *
 * DPP: AMD "RDNA3 Instruction Set Architecture", section 7.7; for gfx9 "AMD Instinct MI300 Instruction Set
 * Architecture", section 6.4. SDWA: the latter, section 6.3.
 */
#include <fenv.h>
#include <math.h>
#include "runtime/sim/valu.h"

void valu_host_round(sim_round mode)
{
    static const int host[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    fesetround(host[mode]);
}

/* ------------------------------------------------------------ scalars and rows */

static uint32_t scalar_word(const sim_wave *w, const sim_operand *o, uint32_t word)
{
    if (o->kind == SIM_OP_CONST) return (uint32_t)(o->value >> 32 * word);
    if (o->kind == SIM_OP_SGPR) return o->index == SIM_NULL ? 0 : w->sgpr[o->index + word];
    return word ? 0 : sim_read_s32(w, o);
}

const uint32_t *valu_row(sim_wave *w, const sim_operand *o, uint32_t word, uint32_t *space)
{
    if (o->kind == SIM_OP_VGPR || o->kind == SIM_OP_AGPR) return sim_row(w, o, word);
    valu_spread(space, scalar_word(w, o, word), SIM_LANES);
    return space;
}

/* ------------------------------------------------------------ DPP */

/* The lane that `lane` reads, or -1: outside. */
static int dpp_lane(const sim_dpp *d, uint32_t lane, uint32_t lanes)
{
    const uint32_t row = lane & ~15u, at = lane & 15;
    const int last = (int)lanes - 1, n = d->amount;
    switch (d->kind) {
    case DPP_QUAD_PERM: return (int)((lane & ~3u) + (d->select[lane & 3] & 3));
    case DPP_8: return (int)((lane & ~7u) + (d->select[lane & 7] & 7));
    case DPP_ROW_SHL: return at + (uint32_t)n < 16 ? (int)lane + n : -1;
    case DPP_ROW_SHR: return at >= (uint32_t)n ? (int)lane - n : -1;
    case DPP_ROW_ROR: return (int)(row + ((at - (uint32_t)n) & 15));
    case DPP_ROW_MIRROR: return (int)(row + 15 - at);
    case DPP_ROW_HALF_MIRROR: return (int)((lane & ~7u) + 7 - (lane & 7));
    case DPP_ROW_SHARE:
    case DPP_ROW_NEWBCAST: return (int)row + n;
    case DPP_ROW_XMASK: return (int)(row + (at ^ (uint32_t)n));
    /* bcast:15 gives each row the last lane of the row before; bcast:31 gives rows 2 and 3 lane 31. */
    case DPP_ROW_BCAST: return n == 15 ? (row ? (int)row - 1 : -1) : lane >= 32 ? 31 : -1;
    case DPP_WAVE_SHL: return (int)lane < last ? (int)lane + 1 : -1;
    case DPP_WAVE_ROL: return (int)lane < last ? (int)lane + 1 : 0;
    case DPP_WAVE_SHR: return (int)lane - 1;
    case DPP_WAVE_ROR: return lane ? (int)lane - 1 : last;
    default: return (int)lane;
    }
}

/* Does the lane read a value, that is, one of an active lane or, with fi, of any lane? */
static bool dpp_reads(const sim_wave *w, const sim_dpp *d, uint32_t lane, uint64_t exec)
{
    const int from = dpp_lane(d, lane, w->lanes);
    return from >= 0 && (d->fi || (exec >> from & 1));
}

/* A lane without a source is not written, unless bound_ctrl makes its source 0. DPP8 always gives 0. */
uint64_t valu_dpp_exec(const sim_wave *w, const sim_insn *i)
{
    const uint64_t exec = sim_exec(w);
    const sim_dpp *d = &i->dpp;
    uint64_t result = 0;
    if (d->kind == DPP_8) return exec;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const bool masked = !(d->row_mask >> (l >> 4) & 1) || !(d->bank_mask >> (l >> 2 & 3) & 1);
        if (!masked && (d->bound_ctrl || dpp_reads(w, d, l, exec))) result |= 1ull << l;
    }
    return result & exec;
}

static void dpp_row(const sim_wave *w, const sim_insn *i, const uint32_t *from, uint32_t *to)
{
    const uint64_t exec = sim_exec(w);
    uint32_t copy[SIM_LANES];
    memcpy(copy, from, w->lanes * 4);
    for (uint32_t l = 0; l < w->lanes; l++)
        to[l] = dpp_reads(w, &i->dpp, l, exec) ? copy[dpp_lane(&i->dpp, l, w->lanes)] : 0;
}

/* ------------------------------------------------------------ SDWA */

static uint32_t sdwa_pick(uint32_t value, sim_sdwa_select select, bool sext)
{
    if (select == SDWA_DWORD) return value;
    const bool word = select >= SDWA_WORD_0;
    const uint32_t shift = word ? (select - SDWA_WORD_0) * 16 : (select - SDWA_BYTE_0) * 8, bits = word ? 16 : 8;
    const uint32_t field = value >> shift & ((1u << bits) - 1);
    return sext && (field >> (bits - 1)) ? field | ~0u << bits : field;
}

static uint32_t sdwa_merge(uint32_t old, uint32_t value, const sim_sdwa *s)
{
    if (s->dst == SDWA_DWORD) return value;
    const bool word = s->dst >= SDWA_WORD_0;
    const uint32_t shift = word ? (s->dst - SDWA_WORD_0) * 16 : (s->dst - SDWA_BYTE_0) * 8, bits = word ? 16 : 8;
    const uint32_t mask = (1u << bits) - 1, field = value & mask;
    if (s->unused == SDWA_PRESERVE) return (old & ~(mask << shift)) | field << shift;
    if (s->unused == SDWA_SEXT && (field >> (bits - 1))) return (field | ~0u << bits) << shift;
    return field << shift;
}

void valu_put_sdwa(sim_wave *w, const sim_insn *i, const uint32_t *d, uint64_t exec)
{
    uint32_t *row = sim_row(w, &i->operands[0], 0);
    for (uint32_t l = 0; l < w->lanes; l++)
        if (exec >> l & 1) row[l] = sdwa_merge(row[l], d[l], &i->sdwa);
}

/* ------------------------------------------------------------ sources */

static bool source_is_high(const sim_insn *i, const sim_operand *o, uint32_t source)
{
    if (o->kind == SIM_OP_CONST || i->sdwa.used) return false;
    return o->half ? o->half == 2 : i->op_sel >> source & 1;
}

/* From `row` to x, which may be the same: the half at bit `shift` of a 16-bit kind, modifiers, flush. */
static void modify_32(const sim_wave *w, const sim_operand *o, valu_kind kind, const uint32_t *row, uint32_t shift, uint32_t *x)
{
    const bool half = kind == VALU_B16 || kind == VALU_F16;
    const uint32_t top = half ? 0x8000u : 0x80000000u;
    const bool flush = (kind == VALU_F32 && !(w->mode & MODE_FLUSH_IN_32)) || (kind == VALU_F16 && !(w->mode & MODE_FLUSH_IN_64));
    const uint32_t keep = (half ? 0xffffu : ~0u) & (o->abs ? ~top : ~0u), flip = o->neg ? top : 0;
    VALU_EACH_LANE x[l] = (row[l] >> shift & keep) ^ flip;
    if (!flush) return;
    VALU_EACH_LANE if (half ? f16_is_denormal(x[l]) : f32_is_denormal(x[l])) x[l] &= top;
}

static void modify_64(const sim_wave *w, const sim_operand *o, valu_kind kind, valu_lanes *x)
{
    const uint32_t keep = o->abs ? 0x7fffffffu : ~0u, flip = o->neg ? 0x80000000u : 0;
    VALU_EACH_LANE x->hi[l] = (x->hi[l] & keep) ^ flip;
    if (kind != VALU_F64 || (w->mode & MODE_FLUSH_IN_64)) return;
    for (uint32_t l = 0; l < w->lanes; l++)
        if (f64_is_denormal(x->lo[l] | (uint64_t)x->hi[l] << 32)) {
            x->lo[l] = 0;
            x->hi[l] &= 0x80000000u;
        }
}

/* One word of the source: a register where it is, or in space. */
static const uint32_t *read_word(sim_wave *w, const sim_insn *i, const sim_operand *o, uint32_t source, uint32_t word, uint32_t *space)
{
    const uint32_t *row = valu_row(w, o, word, space);
    if (!i->moves || !i->dpp.kind || source) return row;
    dpp_row(w, i, row, space);
    return space;
}

valu_source valu_read(sim_wave *w, const sim_insn *i, uint32_t operand, uint32_t source, valu_kind kind, valu_lanes *space)
{
    const sim_operand *o = &i->operands[operand];
    const bool wide = kind == VALU_B64 || kind == VALU_F64, half = kind == VALU_B16 || kind == VALU_F16;
    const uint32_t *row = read_word(w, i, o, source, 0, space->lo);
    if (wide) {
        if (row != space->lo) memcpy(space->lo, row, w->lanes * 4);
        row = space->hi;
        if (o->kind == SIM_OP_SCC || o->kind == SIM_OP_VCCZ || o->kind == SIM_OP_EXECZ) memset(space->hi, 0, sizeof space->hi);
        else row = read_word(w, i, o, source, 1, space->hi);
        if (row != space->hi) memcpy(space->hi, row, w->lanes * 4);
        modify_64(w, o, kind, space);
        return (valu_source){ space->lo, space->hi };
    }
    if (i->moves && i->sdwa.used && source < 2) {
        VALU_EACH_LANE space->lo[l] = sdwa_pick(row[l], i->sdwa.src[source], o->sext);
        row = space->lo;
    }
    modify_32(w, o, kind, row, half && source_is_high(i, o, source) ? 16 : 0, space->lo);
    return (valu_source){ space->lo, NULL };
}

/* ------------------------------------------------------------ results */

void valu_store(uint32_t *row, const uint32_t *d, uint64_t exec, uint32_t lanes)
{
    for (size_t half = 0; half < lanes; half += 32) {
        const uint32_t mask = (uint32_t)(exec >> half);
        if (mask == ~0u) {
            memcpy(row + half, d + half, 32 * 4);
            continue;
        }
        for (size_t l = 0; l < 32; l++) {
            const uint32_t take = 0u - (mask >> l & 1);
            row[half + l] = (row[half + l] & ~take) | (d[half + l] & take);
        }
    }
}

void valu_put_16(sim_wave *w, const sim_insn *i, const uint32_t *d, uint64_t exec, uint32_t sources)
{
    if (i->sdwa.used) {
        valu_put_sdwa(w, i, d, exec);
        return;
    }
    const sim_operand *o = &i->operands[0];
    const bool high = o->half ? o->half == 2 : i->op_sel >> sources & 1;
    const bool keep = high || w->target->generation >= SIM_GFX10 || (i->op->aux & VALU_KEEP_HALF);
    const uint32_t shift = high ? 16 : 0, old = keep ? high ? 0x0000ffffu : 0xffff0000u : 0;
    uint32_t *row = sim_row(w, o, 0), merged[SIM_LANES];
    for (uint32_t l = 0; l < w->lanes; l++)
        merged[l] = (row[l] & old) | (d[l] & 0xffffu) << shift;
    valu_store(row, merged, exec, w->lanes);
}

/* ------------------------------------------------------------ the end of float results */

uint32_t valu_nan_f32(uint32_t a, uint32_t b, uint32_t c)
{
    return (f32_is_nan(a) ? a : f32_is_nan(b) ? b : f32_is_nan(c) ? c : 0xffc00000u) | 0x00400000u;
}

uint64_t valu_nan_f64(uint64_t a, uint64_t b, uint64_t c)
{
    return (f64_is_nan(a) ? a : f64_is_nan(b) ? b : f64_is_nan(c) ? c : 0xfff8000000000000ull) | 1ull << 51;
}

uint32_t valu_nan_f16(uint32_t a, uint32_t b, uint32_t c)
{
    return (f16_is_nan(a) ? a : f16_is_nan(b) ? b : f16_is_nan(c) ? c : 0xfe00u) | 0x0200u;
}

static float omod_factor(const sim_insn *i) { return i->omod == 1 ? 2.0f : i->omod == 2 ? 4.0f : 0.5f; }

/* RDNA3 ISA, section 7.2.2 "Output modifiers". */
static bool omod_counts(const sim_wave *w, const sim_insn *i, uint32_t denormals)
{
    const bool ieee = w->target->generation < SIM_GFX12 && (w->mode & MODE_IEEE);
    return i->omod && !(w->mode & denormals) && !ieee;
}

void valu_end_f32(const sim_wave *w, const sim_insn *i, uint32_t *d, const valu_source *s, uint32_t n)
{
    const bool flush = !(w->mode & MODE_FLUSH_OUT_32), omod = omod_counts(w, i, MODE_FLUSH_OUT_32);
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint32_t x = d[l];
        if (n && f32_is_nan(x)) x = valu_nan_f32(s[0].lo[l], s[n > 1].lo[l], s[n - 1].lo[l]);
        if (flush && f32_is_denormal(x)) x &= 0x80000000u;
        if (omod) {
            x = sim_float_bits(sim_float(x) * omod_factor(i));
            if (f32_is_denormal(x) || x == 0x80000000u) x = 0;
        }
        if (i->clamp) {
            if (f32_is_nan(x)) x = mode_dx10_clamp(w) ? 0 : x;
            else x = x >> 31 ? 0 : x > 0x3f800000u ? 0x3f800000u : x;
        }
        d[l] = x;
    }
}

void valu_end_f64(const sim_wave *w, const sim_insn *i, valu_lanes *d, const valu_source *s, uint32_t n)
{
    const bool flush = !(w->mode & MODE_FLUSH_OUT_64), omod = omod_counts(w, i, MODE_FLUSH_OUT_64);
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint64_t x = d->lo[l] | (uint64_t)d->hi[l] << 32, y[3] = { 0, 0, 0 };
        for (uint32_t k = 0; k < n; k++)
            y[k] = s[k].lo[l] | (uint64_t)s[k].hi[l] << 32;
        if (n && f64_is_nan(x)) x = valu_nan_f64(y[0], y[1], y[2]);
        if (flush && f64_is_denormal(x)) x &= 1ull << 63;
        if (omod) {
            x = sim_double_bits(sim_double(x) * (double)omod_factor(i));
            if (f64_is_denormal(x) || x == 1ull << 63) x = 0;
        }
        if (i->clamp) {
            if (f64_is_nan(x)) x = mode_dx10_clamp(w) ? 0 : x;
            else x = x >> 63 ? 0 : x > 0x3ff0000000000000ull ? 0x3ff0000000000000ull : x;
        }
        d->lo[l] = (uint32_t)x;
        d->hi[l] = (uint32_t)(x >> 32);
    }
}

void valu_end_f16(const sim_wave *w, const sim_insn *i, uint32_t *d, const valu_source *s, uint32_t n)
{
    const bool flush = !(w->mode & MODE_FLUSH_OUT_64), omod = omod_counts(w, i, MODE_FLUSH_OUT_64);
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint32_t x = d[l];
        if (n && f16_is_nan(x)) x = valu_nan_f16(s[0].lo[l] & 0xffff, s[n > 1].lo[l] & 0xffff, s[n - 1].lo[l] & 0xffff);
        if (flush && f16_is_denormal(x)) x &= 0x8000u;
        if (omod) {
            x = f16_round((double)f16_to_f32(x) * (double)omod_factor(i), mode_round_64(w), mode_fp16_clamp(w));
            if (f16_is_denormal(x) || x == 0x8000u) x = 0;
        }
        if (i->clamp) {
            if (f16_is_nan(x)) x = mode_dx10_clamp(w) ? 0 : x;
            else x = x >> 15 ? 0 : x > 0x3c00u ? 0x3c00u : x;
        }
        d[l] = x;
    }
}

/* ------------------------------------------------------------ fma */

static void fma_plain(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t lanes)
{
    for (size_t l0 = 0; l0 < lanes; l0 += 32)
        for (size_t l = l0; l < l0 + 32; l++)
            d[l] = sim_float_bits(fmaf(sim_float(a[l]), sim_float(b[l]), sim_float(c[l])));
}

#if defined __x86_64__ && !defined __FMA__
__attribute__((target("avx2,fma"))) static void fma_vector(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t lanes)
{
    for (size_t l0 = 0; l0 < lanes; l0 += 32)
        for (size_t l = l0; l < l0 + 32; l++)
            d[l] = sim_float_bits(__builtin_fmaf(sim_float(a[l]), sim_float(b[l]), sim_float(c[l])));
}
#endif

void valu_fma_f32(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t lanes)
{
#if defined __x86_64__ && !defined __FMA__
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
        fma_vector(d, a, b, c, lanes);
        return;
    }
#endif
    fma_plain(d, a, b, c, lanes);
}
