/* valu.h - the frame of a vector ALU instruction: sources to lane arrays, a loop over lanes, results under EXEC.
 *
 * A family of instructions is a list valu_<family>.def of rows; including it defines the handlers, declares
 * them, or makes the rows of a table, by what VALU_LIST says:
 *     VALU_LIST_HANDLERS  functions sim_run_<name>
 *     VALU_LIST_NAMES     their declarations
 *     VALU_LIST_ROWS      rows of a sim_op table
 * A row is  KIND(name, result type, source types…, value, first generation, last generation).
 * In the value a, b, c are the sources of the lane, `clamp` is the modifier, w and i wave and instruction.
 *
 * Handlers compute all lanes, active or not, and store under the mask: values of inactive lanes are
 * garbage that has no effect. Sources are read before anything is written, so a result may be a source.
 *
 * Floating point, by MODE (AMD "RDNA3 Instruction Set Architecture", section 3.3): sources of float types
 * are flushed when the mode says so, results are rounded by the mode's rounding, flushed, multiplied (omod), clamped.
 * omod is ignored when denormal results are allowed or IEEE is set, and makes -0 to +0. A NaN result is the
 * first NaN among the sources, quieted; without one it is the negative quiet NaN of payload 0, which is
 * the NaN that v_div_fixup's description names. The documents do not say which NaN arithmetic returns.
 */
#ifndef SIM_VALU_H
#define SIM_VALU_H

#include "runtime/sim/internal.h"
#include "runtime/sim/valu_float.h"

/* ------------------------------------------------------------ levels */

/* The files valu*.c are compiled once for each level of host instructions that the build has, under names of their own;
 * decode.c chooses a level's tables. Without SIM_LEVEL: what every processor has. */
#ifndef SIM_LEVEL
#define SIM_LEVEL base
#endif
#define VALU_PASTE(name, level) name##_##level
#define VALU_EXPAND(name, level) VALU_PASTE(name, level)
#define VALU_LEVEL(name) VALU_EXPAND(name, SIM_LEVEL)
#define valu_host_round VALU_LEVEL(valu_host_round)
#define valu_read VALU_LEVEL(valu_read)
#define valu_row VALU_LEVEL(valu_row)
#define valu_dpp_exec VALU_LEVEL(valu_dpp_exec)
#define valu_store VALU_LEVEL(valu_store)
#define valu_put_sdwa VALU_LEVEL(valu_put_sdwa)
#define valu_put_16 VALU_LEVEL(valu_put_16)
#define valu_end_f32 VALU_LEVEL(valu_end_f32)
#define valu_end_f64 VALU_LEVEL(valu_end_f64)
#define valu_end_f16 VALU_LEVEL(valu_end_f16)
#define valu_nan_f32 VALU_LEVEL(valu_nan_f32)
#define valu_nan_f64 VALU_LEVEL(valu_nan_f64)
#define valu_nan_f16 VALU_LEVEL(valu_nan_f16)
#define valu_fma_f32 VALU_LEVEL(valu_fma_f32)
#define sim_valu_tables VALU_LEVEL(sim_valu_tables)
#define sim_valu_compare_ops VALU_LEVEL(sim_valu_compare_ops)
#define sim_valu_lane_ops VALU_LEVEL(sim_valu_lane_ops)
#define sim_valu_scale_ops VALU_LEVEL(sim_valu_scale_ops)

extern const sim_op sim_valu_compare_ops[];
extern const sim_op sim_valu_lane_ops[];  /* readlane, permlane, mbcnt, … */
extern const sim_op sim_valu_scale_ops[]; /* gfx950: v_cvt_scalef32_… */

/* ------------------------------------------------------------ MODE */

enum { MODE_FLUSH_IN_32 = 0x10, MODE_FLUSH_OUT_32 = 0x20, MODE_FLUSH_IN_64 = 0x40, MODE_FLUSH_OUT_64 = 0x80,   /* clear: flush */
       MODE_DX10_CLAMP = 0x100, MODE_IEEE = 0x200, MODE_FP16_OVFL = 1 << 23 };

static inline sim_round mode_round_32(const sim_wave *w) { return (sim_round)(w->mode & 3); }
static inline sim_round mode_round_64(const sim_wave *w) { return (sim_round)(w->mode >> 2 & 3); }
static inline bool mode_fp16_clamp(const sim_wave *w) { return w->mode & MODE_FP16_OVFL; }
/* gfx12 has neither bit: signalling NaNs are always quieted by min and max, clamp always maps NaN to 0. */
static inline bool mode_ieee(const sim_wave *w) { return w->target->generation >= SIM_GFX12 || (w->mode & MODE_IEEE); }
static inline bool mode_dx10_clamp(const sim_wave *w) { return w->target->generation >= SIM_GFX12 || (w->mode & MODE_DX10_CLAMP); }

/* The host's rounding mode for f32 and f64 arithmetic; back to nearest after `mode`. */
void valu_host_round(sim_round mode);
static inline void valu_host_round_back(const sim_wave *w, sim_round mode)
{
    (void)w;
    if (mode) valu_host_round(ROUND_NEAREST_EVEN);
}

/* ------------------------------------------------------------ sources */

/* How a source is read: 16-bit kinds give the selected half in the low bits; F kinds flush denormals. */
typedef enum valu_kind { VALU_B32, VALU_F32, VALU_B16, VALU_F16, VALU_B64, VALU_F64 } valu_kind;

typedef struct valu_source { const uint32_t *lo, *hi; } valu_source;        /* hi: of 64-bit kinds only */
typedef struct valu_lanes { uint32_t lo[SIM_LANES], hi[SIM_LANES]; } valu_lanes;

/* Source number `source` of the instruction (0: DPP's, the first of op_sel), which is operand `operand`. */
valu_source valu_read(sim_wave *w, const sim_insn *i, uint32_t operand, uint32_t source, valu_kind kind, valu_lanes *space);

/* A register row, or a scalar spread over the lanes: 32 bits, without any modifier. */
const uint32_t *valu_row(sim_wave *w, const sim_operand *o, uint32_t word, uint32_t *space);

static inline void valu_spread(uint32_t *space, uint32_t value, uint32_t lanes)
{
    for (size_t l0 = 0; l0 < lanes; l0 += 32)
        for (size_t l = 0; l < 32; l++)
            space[l0 + l] = value;
}

/* Registers without modifiers are read where they are, and scalars spread; the rest is valu_read's. */
static inline valu_source valu_get(sim_wave *w, const sim_insn *i, uint32_t operand, uint32_t source, valu_kind kind, valu_lanes *space)
{
    const sim_operand *o = &i->operands[operand];
    const bool narrow = kind == VALU_B32 || (kind == VALU_F32 && (w->mode & MODE_FLUSH_IN_32));
    const bool wide = kind == VALU_B64 || (kind == VALU_F64 && (w->mode & MODE_FLUSH_IN_64));
    if ((narrow || wide) && o->direct == SIM_DIRECT_ROW) return (valu_source){ sim_row(w, o, 0), wide ? sim_row(w, o, 1) : NULL };
    if ((narrow || wide) && o->direct != SIM_DIRECT_NOT) {
        const bool constant = o->direct == SIM_DIRECT_CONST;
        valu_spread(space->lo, constant ? (uint32_t)o->value : w->sgpr[o->index], w->lanes);
        if (wide) valu_spread(space->hi, constant ? (uint32_t)(o->value >> 32) : w->sgpr[o->index + 1], w->lanes);
        return (valu_source){ space->lo, wide ? space->hi : NULL };
    }
    return valu_read(w, i, operand, source, kind, space);
}

/* ------------------------------------------------------------ results */

/* The mask of lanes whose flag is 1, not 0: eight flags at a time. */
static inline uint64_t valu_mask(const sim_wave *w, const uint8_t *flags)
{
    uint64_t r = 0;
    for (uint32_t l = 0; l < w->lanes; l += 8) {
        uint64_t eight;
        memcpy(&eight, flags + l, 8);
        r |= (eight * 0x0102040810204080ull) >> 56 << l;
    }
    return r;
}

/* Lanes that the instruction writes: EXEC, less what DPP's masks and bounds turn off. */
uint64_t valu_dpp_exec(const sim_wave *w, const sim_insn *i);

static inline uint64_t valu_exec(const sim_wave *w, const sim_insn *i)
{
    return i->moves && i->dpp.kind ? valu_dpp_exec(w, i) : sim_exec(w);
}

static inline uint64_t valu_all(const sim_wave *w) { return w->lanes == 64 ? ~0ull : 0xffffffffull; }

void valu_store(uint32_t *row, const uint32_t *d, uint64_t exec, uint32_t lanes);
void valu_put_sdwa(sim_wave *w, const sim_insn *i, const uint32_t *d, uint64_t exec);
/* A 16-bit result, in the low bits of d: the half that op_sel's bit `sources` or the operand names. The other half
 * stays on gfx10 and later; on gfx9 it becomes zero, save for instructions of VOP3 with op_sel (aux
 * VALU_KEEP_HALF; LLVM, GCNSubtarget::zeroesHigh16BitsOfDest). */
void valu_put_16(sim_wave *w, const sim_insn *i, const uint32_t *d, uint64_t exec, uint32_t sources);

enum { VALU_KEEP_HALF = 1 };

static inline void valu_put_row(uint32_t *row, const uint32_t *d, uint64_t exec, uint32_t lanes)
{
    if (lanes == 32 && (uint32_t)exec == ~0u) memcpy(row, d, 32 * 4);
    else if (exec == ~0ull) memcpy(row, d, 64 * 4);
    else valu_store(row, d, exec, lanes);
}

static inline void valu_put_32(sim_wave *w, const sim_insn *i, const uint32_t *d, uint64_t exec)
{
    if (i->moves && i->sdwa.used) {
        valu_put_sdwa(w, i, d, exec);
        return;
    }
    valu_put_row(sim_row(w, &i->operands[0], 0), d, exec, w->lanes);
}

static inline void valu_put_64(sim_wave *w, const sim_insn *i, const valu_lanes *d, uint64_t exec)
{
    valu_put_row(sim_row(w, &i->operands[0], 0), d->lo, exec, w->lanes);
    valu_put_row(sim_row(w, &i->operands[0], 1), d->hi, exec, w->lanes);
}

/* The last steps of float results: NaN choice among the first n sources, flush, omod, clamp. */
void valu_end_f32(const sim_wave *w, const sim_insn *i, uint32_t *d, const valu_source *s, uint32_t n);
void valu_end_f64(const sim_wave *w, const sim_insn *i, valu_lanes *d, const valu_source *s, uint32_t n);
void valu_end_f16(const sim_wave *w, const sim_insn *i, uint32_t *d, const valu_source *s, uint32_t n);

/* One number each: the NaN for operands a, b, c (unused ones repeated). */
uint32_t valu_nan_f32(uint32_t a, uint32_t b, uint32_t c);
uint64_t valu_nan_f64(uint64_t a, uint64_t b, uint64_t c);
uint32_t valu_nan_f16(uint32_t a, uint32_t b, uint32_t c);

/* a * b + c over lanes with one rounding, by the host's rounding mode. */
void valu_fma_f32(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t lanes);

/* ------------------------------------------------------------ types of rows */

#define VT_U32 uint32_t
#define VT_I32 int32_t
#define VT_F32 float
#define VT_X32 float
#define VT_U16 uint16_t
#define VT_I16 int16_t
#define VT_H16 uint16_t
#define VT_F16 float
#define VT_U64 uint64_t
#define VT_I64 int64_t
#define VT_F64 double
#define VT_X64 double
#define VT_XH16 uint16_t
#define VT_PF16 uint32_t
#define VT_PI16 uint32_t
#define VT_PBF16 uint32_t

#define VK_U32 VALU_B32
#define VK_I32 VALU_B32
#define VK_F32 VALU_F32
#define VK_X32 VALU_B32      /* f32 that is not flushed */
#define VK_U16 VALU_B16
#define VK_I16 VALU_B16
#define VK_H16 VALU_F16      /* f16 as bits */
#define VK_XH16 VALU_B16     /* the same, not flushed */
#define VK_PF16 VALU_B32     /* two halves, with the constants of packed f16, integers, bf16 */
#define VK_PI16 VALU_B32
#define VK_PBF16 VALU_B32
#define VK_F16 VALU_F16      /* f16 as a float */
#define VK_U64 VALU_B64
#define VK_I64 VALU_B64
#define VK_F64 VALU_F64
#define VK_X64 VALU_B64

#define VR_U32 T_B32
#define VR_I32 T_B32
#define VR_F32 T_F32
#define VR_X32 T_F32
#define VR_U16 T_B16
#define VR_I16 T_B16
#define VR_H16 T_F16
#define VR_XH16 T_F16
#define VR_PF16 T_PK_F16
#define VR_PI16 T_PK_B16
#define VR_PBF16 T_PK_BF16
#define VR_F16 T_F16
#define VR_U64 T_B64
#define VR_I64 T_I64
#define VR_F64 T_F64
#define VR_X64 T_F64

#define VL_U32(s) ((s).lo[l])
#define VL_I32(s) ((int32_t)(s).lo[l])
#define VL_F32(s) (sim_float((s).lo[l]))
#define VL_X32(s) (sim_float((s).lo[l]))
#define VL_U16(s) ((uint16_t)(s).lo[l])
#define VL_I16(s) ((int16_t)(s).lo[l])
#define VL_H16(s) ((uint16_t)(s).lo[l])
#define VL_XH16(s) ((uint16_t)(s).lo[l])
#define VL_PF16(s) ((s).lo[l])
#define VL_PI16(s) ((s).lo[l])
#define VL_PBF16(s) ((s).lo[l])
#define VL_F16(s) (f16_to_f32((s).lo[l]))
#define VL_U64(s) ((s).lo[l] | (uint64_t)(s).hi[l] << 32)
#define VL_I64(s) ((int64_t)VL_U64(s))
#define VL_F64(s) (sim_double(VL_U64(s)))
#define VL_X64(s) (sim_double(VL_U64(s)))

/* Does a NaN in a source become the result's NaN as it is, in results of F, D, H rows? */
#define VN_F_U32 0
#define VN_F_I32 0
#define VN_F_F32 1
#define VN_F_U16 0
#define VN_F_I16 0
#define VN_F_H16 0
#define VN_F_F16 0
#define VN_F_U64 0
#define VN_F_F64 0
#define VN_D_U32 0
#define VN_D_I32 0
#define VN_D_F32 0
#define VN_D_U16 0
#define VN_D_I16 0
#define VN_D_H16 0
#define VN_D_F16 0
#define VN_D_U64 0
#define VN_D_F64 1
#define VN_H_U32 0
#define VN_H_I32 0
#define VN_H_F32 0
#define VN_H_U16 0
#define VN_H_I16 0
#define VN_H_H16 0
#define VN_H_F16 1
#define VN_H_U64 0
#define VN_H_F64 0

/* Storing the value r of a lane, and the lanes. */
#define VS_U32(r) d.lo[l] = (uint32_t)(r)
#define VS_I32(r) d.lo[l] = (uint32_t)(r)
#define VS_U16(r) d.lo[l] = (uint16_t)(r)
#define VS_I16(r) d.lo[l] = (uint16_t)(r)
#define VS_H16(r) d.lo[l] = (uint16_t)(r)
#define VS_U64(r) do { const uint64_t r64 = (uint64_t)(r); d.lo[l] = (uint32_t)r64; d.hi[l] = (uint32_t)(r64 >> 32); } while (0)
#define VS_I64(r) VS_U64(r)

#define VP_U32(n) valu_put_32(w, i, d.lo, exec)
#define VP_I32(n) valu_put_32(w, i, d.lo, exec)
#define VP_U16(n) valu_put_16(w, i, d.lo, exec, n)
#define VP_I16(n) valu_put_16(w, i, d.lo, exec, n)
#define VP_H16(n) valu_put_16(w, i, d.lo, exec, n)
#define VP_U64(n) valu_put_64(w, i, &d, exec)
#define VP_I64(n) valu_put_64(w, i, &d, exec)

/* Lanes in groups of 32, so that the compiler knows the trip count; size_t, since it does not believe that l0 + 32 in 32 bits never wraps. */
#define VALU_EACH_LANE for (size_t l0 = 0; l0 < w->lanes; l0 += 32) for (size_t l = l0; l < l0 + 32; l++)

#define VALU_HEAD(name)                                                                                               \
    void VALU_LEVEL(sim_run_##name)(sim_wave *w, const sim_insn *i);                                                  \
    void VALU_LEVEL(sim_run_##name)(sim_wave *w, const sim_insn *i)
#define VALU_SOURCE(k, operand, type)                                                                                 \
    valu_lanes space##k;                                                                                              \
    const valu_source s##k = valu_get(w, i, operand, k, VK_##type, &space##k)
#define VALU_ROW(name, types_, aux_, first_, last_)                                                                   \
    { #name, VALU_LEVEL(sim_run_##name), SIM_CLASS_VALU, VALU_TYPES types_, aux_, first_, last_ },
#define VALU_TYPES(...) { __VA_ARGS__ }

/* Around the lanes of float results: rounding mode, NaN found, the end. n sources; the first `fix` give a NaN. */
#define VALU_F_END(n, fix) valu_host_round_back(w, mode_round_32(w));                                                 \
        if (nan || i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_32)) valu_end_f32(w, i, d.lo, s, fix);           \
        valu_put_32(w, i, d.lo, exec)
#define VALU_F_BEGIN valu_lanes d; int nan = 0; const uint64_t exec = valu_exec(w, i); if (mode_round_32(w)) valu_host_round(mode_round_32(w))
#define VALU_F_LANE(value) const float r = (value); d.lo[l] = sim_float_bits(r); nan |= r != r
#define VALU_D_END(n, fix) valu_host_round_back(w, mode_round_64(w));                                                 \
        if (nan || i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f64(w, i, &d, s, fix);             \
        valu_put_64(w, i, &d, exec)
#define VALU_D_BEGIN valu_lanes d; int nan = 0; const uint64_t exec = valu_exec(w, i); if (mode_round_64(w)) valu_host_round(mode_round_64(w))
#define VALU_D_LANE(value) const double r = (value); VS_U64(sim_double_bits(r)); nan |= r != r
#define VALU_H_END(n, fix) if (nan || i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f16(w, i, d.lo, s, fix); \
        valu_put_16(w, i, d.lo, exec, n)
#define VALU_H_BEGIN valu_lanes d; int nan = 0; const uint64_t exec = valu_exec(w, i);                                \
        const sim_round round = mode_round_64(w); const bool limit = mode_fp16_clamp(w)
#define VALU_H_LANE(value) const double r = (value); d.lo[l] = f16_round(r, round, limit); nan |= r != r

#endif
