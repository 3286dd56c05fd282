/* valu_trans.c - transcendental instructions: handlers of valu_trans.def.
 *
 * f32 and f16: the correctly rounded value (to nearest even in every mode) of the real function. Hardware is within
 * 1 ulp of that (ISA documents; LLVM, "User Guide for AMDGPU Backend"), and 2^-20.5 absolute for sin and cos, so code that is right for
 * any value within those bounds is right here. Two limits of the hardware that code has to respect are kept:
 *   v_exp_f32 and v_log_f32 know no denormals: a denormal source is 0, a denormal result becomes 0.
 *   v_rcp_f64, v_rsq_f64, v_sqrt_f64 are documented with an error up to 2^29 ulp: their results
 *   have the 24 leading bits of the value only, rounded, so that a missing refinement step shows.
 * v_rcp, v_rsq, v_sqrt, v_sin and v_cos of f32 treat denormals by MODE. v_sin and v_cos take turns, not radians; beyond 256 turns sin is 0 and
 * cos 1 (AMD "Graphics Core Next Architecture, Generation 3", V_SIN_F32; later documents say nothing).
 *
 * Correct rounding: the function in double, accepted when every real value within 2^-50 rounds
 * to the same f32; else it is computed in long double, which no f32 argument of these functions defeats.
 */
#include <math.h>
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ f32 */

/* True when the double stands for a real value that may lie on either side of a rounding boundary of f32. */
static bool uncertain(double r)
{
    const double slack = fabs(r) * 0x1p-50;
    return (float)(r - slack) != (float)(r + slack);
}

static float flush(float a) { return f32_is_denormal(sim_float_bits(a)) ? copysignf(0.0f, a) : a; }

/* Constants are exact in range: 2^-126 and above gives normal numbers, 2^128 infinity. */
static float exp2_f32(float x)
{
    const float a = flush(x);
    const double r = exp2((double)a);
    return flush((float)(uncertain(r) ? (double)exp2l((long double)a) : r));
}

static float log2_f32(float x)
{
    const float a = flush(x);
    const double r = log2((double)a);
    return uncertain(r) ? (float)log2l((long double)a) : (float)r;
}

static float rcp_f32(float a) { return 1.0f / a; }
static float sqrt_f32(float a) { return sqrtf(a); }

static float rsq_f32(float a)
{
    const double r = 1.0 / sqrt((double)a);
    return uncertain(r) ? (float)(1.0L / sqrtl((long double)a)) : (float)r;
}

/* ------------------------------------------------------------ turns */

/* x - nearest integer, exact, in [-0.5, 0.5]; then to one eighth of a turn by symmetry. */
static double sin_turns(double a)
{
    if (fabs(a) > 256.0) return isinf(a) ? a - a : 0.0;
    double x = a - rint(a);
    if (fabs(x) == 0.5) return copysign(0.0, a);
    if (x > 0.25) x = 0.5 - x;
    if (x < -0.25) x = -0.5 - x;
    return x == 0 ? copysign(0.0, a) : fabs(x) <= 0.125 ? sin(x * 0x1.921fb54442d18p2) : copysign(cos((0.25 - fabs(x)) * 0x1.921fb54442d18p2), x);
}

static double cos_turns(double a)
{
    if (fabs(a) > 256.0) return isinf(a) ? a - a : 1.0;
    const double x = fabs(a - rint(a));
    if (x == 0.25) return 0.0;
    if (x > 0.375) return -cos((0.5 - x) * 0x1.921fb54442d18p2);
    return x <= 0.125 ? cos(x * 0x1.921fb54442d18p2) : sin((0.25 - x) * 0x1.921fb54442d18p2);
}

#define TURN_L (2.0L * 3.14159265358979323846264338327950288L)

static float sin_f32(float a)
{
    const double r = sin_turns((double)a);
    if (!uncertain(r) || r == 0) return (float)r;
    const long double x = (long double)a - rintl((long double)a);
    return (float)sinl(x * TURN_L);
}

static float cos_f32(float a)
{
    const double r = cos_turns((double)a);
    if (!uncertain(r) || r == 0) return (float)r;
    const long double x = fabsl((long double)a - rintl((long double)a));
    return (float)(x > 0.125L && x < 0.375L ? sinl((0.25L - x) * TURN_L) : cosl(x * TURN_L));
}

/* ------------------------------------------------------------ f64 */

/* The 24 leading bits, rounded to nearest even. */
static double coarse(double a)
{
    const uint64_t bits = sim_double_bits(a);
    if ((bits >> 52 & 0x7ff) == 0x7ff || (bits >> 52 & 0x7ff) == 0) return a;
    const uint64_t half = 1ull << 28, odd = bits >> 29 & 1;
    return sim_double((bits + half - 1 + odd) & ~((1ull << 29) - 1));
}

/* ------------------------------------------------------------ handlers: active lanes only, as functions are slow */

#define EACH_ACTIVE(exec) for (uint64_t m = exec; m; m &= m - 1)
#define LANE_OF(m) const uint32_t l = (uint32_t)__builtin_ctzll(m)

#define T32(name, value, ...)                                                                                         \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, F32); const valu_source s[1] = { s0 }; const uint64_t exec = valu_exec(w, i); uint32_t d[SIM_LANES] = { 0 };  \
        EACH_ACTIVE(exec) { LANE_OF(m); const float a = VL_F32(s0); d[l] = sim_float_bits(value); }                   \
        valu_end_f32(w, i, d, s, 1); valu_put_32(w, i, d, exec); }
#define T64(name, value, ...)                                                                                         \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, F64); const valu_source s[1] = { s0 }; const uint64_t exec = valu_exec(w, i); valu_lanes d = { { 0 }, { 0 } };  \
        EACH_ACTIVE(exec) { LANE_OF(m); const double a = VL_F64(s0); VS_U64(sim_double_bits(value)); }                \
        valu_end_f64(w, i, &d, s, 1); valu_put_64(w, i, &d, exec); }
#define T16(name, value, ...)                                                                                         \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, F16); const valu_source s[1] = { s0 }; const uint64_t exec = valu_exec(w, i); uint32_t d[SIM_LANES] = { 0 };  \
        EACH_ACTIVE(exec) { LANE_OF(m); const double a = (double)VL_F16(s0); d[l] = f16_round(value, ROUND_NEAREST_EVEN, mode_fp16_clamp(w)); }  \
        valu_end_f16(w, i, d, s, 1); valu_put_16(w, i, d, exec, 1); }

/* The scalar forms of gfx12: source and result are SGPRs; the modifiers are those of a lane. */
static void put_scalar(sim_wave *w, const sim_insn *i, uint32_t d) { sim_write_s32(w, &i->operands[0], d); }

#define S32(name, value)                                                                                              \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, F32); const valu_source s[1] = { s0 }; uint32_t d[SIM_LANES] = { 0 };         \
        const float a = sim_float(s0.lo[0]); d[0] = sim_float_bits(value); valu_end_f32(w, i, d, s, 1); put_scalar(w, i, d[0]); }
#define S16(name, value)                                                                                              \
    VALU_HEAD(name) { VALU_SOURCE(0, 1, F16); const valu_source s[1] = { s0 }; uint32_t d[SIM_LANES] = { 0 };         \
        const double a = (double)f16_to_f32(s0.lo[0]); d[0] = f16_round(value, ROUND_NEAREST_EVEN, mode_fp16_clamp(w));       \
        valu_end_f16(w, i, d, s, 1); put_scalar(w, i, d[0]); }
#include "runtime/sim/valu_trans.def"
