/* valu_minmax.c - handlers of valu_minmax.def.
 *
 * Inputs are flushed by MODE, and so is a result; the NaN that the rule gives stays as it is.
 */
#include "runtime/sim/valu_minmax.h"
#include "runtime/sim/valu.h"

static minmax_rule rule_of(const sim_wave *w)
{
    const sim_generation g = w->target->generation;
    return (minmax_rule){ g == SIM_GFX9, g == SIM_GFX12, mode_ieee(w) };
}

#define MB_F32 uint32_t
#define MB_F64 uint64_t
#define MB_F16 uint16_t
#define ML_F32(s) VL_U32(s)
#define ML_F64(s) VL_U64(s)
#define ML_F16(s) VL_U16(s)
#define MS_F32(r) VS_U32(r)
#define MS_F64(r) VS_U64(r)
#define MS_F16(r) VS_U16(r)
#define ME_F32(n) if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_32)) valu_end_f32(w, i, d.lo, NULL, 0); valu_put_32(w, i, d.lo, exec)
#define ME_F64(n) if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f64(w, i, &d, NULL, 0); valu_put_64(w, i, &d, exec)
#define ME_F16(n) if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f16(w, i, d.lo, NULL, 0); valu_put_16(w, i, d.lo, exec, n)

#define M2(name, T, value, ...)                                                                                       \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, T); VALU_SOURCE(1, 2, T); const minmax_rule rule = rule_of(w); (void)rule;    \
        const uint64_t exec = valu_exec(w, i); valu_lanes d;                                                          \
        VALU_EACH_LANE { const MB_##T a = ML_##T(s0), b = ML_##T(s1); MS_##T(value); } ME_##T(2); }
#define M3(name, T, value, ...)                                                                                       \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, T); VALU_SOURCE(1, 2, T); VALU_SOURCE(2, 3, T); const minmax_rule rule = rule_of(w); (void)rule;     \
        const uint64_t exec = valu_exec(w, i); valu_lanes d;                                                          \
        VALU_EACH_LANE { const MB_##T a = ML_##T(s0), b = ML_##T(s1), c = ML_##T(s2); MS_##T(value); } ME_##T(3); }
#define MALIAS2(...)
#define MALIAS3(...)
#include "runtime/sim/valu_minmax.def"
