/* valu_fp8.c - conversions between f32 and the 8-bit formats: E4M3 ("fp8") and E5M2 ("bf8").
 *
 * gfx942 has the FNUZ kinds, gfx950 and gfx12 the OCP ones (valu_float.h). Rounding is to nearest even in
 * every mode, or stochastic: the ISA adds random bits below the last place. It lets that addition wrap in the
 * fraction; here it carries into the exponent, as rounding up must. Overflow gives NaN or infinity, with MODE.FP16_OVFL the largest number.
 */
#include "runtime/sim/valu.h"

static const sim_small *fp8_of(const sim_wave *w) { return w->target->fnuz ? &SIM_FP8_FNUZ : &SIM_FP8_OCP; }
static const sim_small *bf8_of(const sim_wave *w) { return w->target->fnuz ? &SIM_BF8_FNUZ : &SIM_BF8_OCP; }

/* ------------------------------------------------------------ to f32 */

/* The byte is chosen by byte_sel (gfx12) or by SDWA (gfx9); one of a true16 half counts from there. */
static void to_f32(sim_wave *w, const sim_insn *i, const sim_small *f)
{
    VALU_SOURCE(0, 1, U32);
    const uint64_t exec = valu_exec(w, i);
    const uint32_t shift = i->byte_sel * 8u + (i->operands[1].half == 2 ? 16 : 0);
    uint32_t d[SIM_LANES];
    VALU_EACH_LANE d[l] = sim_float_bits(sim_small_to_f32(s0.lo[l] >> shift & 0xff, f));
    if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_32)) valu_end_f32(w, i, d, NULL, 0);
    valu_put_32(w, i, d, exec);
}

VALU_HEAD(v_cvt_f32_fp8) { to_f32(w, i, fp8_of(w)); }
VALU_HEAD(v_cvt_f32_bf8) { to_f32(w, i, bf8_of(w)); }

static void pair_to_f32(sim_wave *w, const sim_insn *i, const sim_small *f)
{
    valu_lanes space, d;
    const valu_source s0 = valu_get(w, i, 1, 0, i->sdwa.used ? VALU_B32 : VALU_B16, &space);
    const uint64_t exec = valu_exec(w, i);
    VALU_EACH_LANE {
        d.lo[l] = sim_float_bits(sim_small_to_f32(s0.lo[l] & 0xff, f));
        d.hi[l] = sim_float_bits(sim_small_to_f32(s0.lo[l] >> 8 & 0xff, f));
    }
    valu_put_64(w, i, &d, exec);
}

VALU_HEAD(v_cvt_pk_f32_fp8) { pair_to_f32(w, i, fp8_of(w)); }
VALU_HEAD(v_cvt_pk_f32_bf8) { pair_to_f32(w, i, bf8_of(w)); }

/* ------------------------------------------------------------ from f32 */

static void pair_from_f32(sim_wave *w, const sim_insn *i, const sim_small *f)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, F32);
    const uint64_t exec = valu_exec(w, i);
    const bool clamp = mode_fp16_clamp(w);
    uint32_t d[SIM_LANES];
    VALU_EACH_LANE d[l] = sim_small_from((double)VL_F32(s0), f, false, 0, clamp) | sim_small_from((double)VL_F32(s1), f, false, 0, clamp) << 8;
    valu_put_16(w, i, d, exec, 2);
}

VALU_HEAD(v_cvt_pk_fp8_f32) { pair_from_f32(w, i, fp8_of(w)); }
VALU_HEAD(v_cvt_pk_bf8_f32) { pair_from_f32(w, i, bf8_of(w)); }

/* Into one byte: op_sel[3:2] on gfx9, byte_sel on gfx12. The others stay. */
static void stochastic_from_f32(sim_wave *w, const sim_insn *i, const sim_small *f)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, U32);
    const uint64_t exec = valu_exec(w, i);
    const bool clamp = mode_fp16_clamp(w);
    const uint32_t shift = (w->target->generation == SIM_GFX9 ? i->op_sel >> 2 & 3 : i->byte_sel & 3u) * 8;
    uint32_t *row = sim_row(w, &i->operands[0], 0), d[SIM_LANES];
    VALU_EACH_LANE d[l] = (row[l] & ~(0xffu << shift)) | sim_small_from((double)VL_F32(s0), f, true, s1.lo[l], clamp) << shift;
    valu_store(row, d, exec, w->lanes);
}

VALU_HEAD(v_cvt_sr_fp8_f32) { stochastic_from_f32(w, i, fp8_of(w)); }
VALU_HEAD(v_cvt_sr_bf8_f32) { stochastic_from_f32(w, i, bf8_of(w)); }
