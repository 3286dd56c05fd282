/* valu_div.c - the three instructions of an exact division: v_div_scale, v_div_fmas, v_div_fixup.
 *
 * The pseudo-code of the ISA documents, with these departures, each where the text would give wrong quotients:
 *   v_div_scale: when both 1/denominator and the quotient are denormal the denominator is scaled by 2^-64
 *   (2^-128 for f64); the text says 2^64, which overflows. v_div_fmas: the text multiplies by 2^32 (2^64)
 *   whenever VCC is set; but VCC is set for quotients scaled down and up. The third source, the scaled quotient,
 *   tells them apart: the factor is 2^64 (2^128) when it is 2 or more, else 2^-64 (2^-128).
 *   v_div_fixup: a NaN quotient that no operand explains is an overflow.
 */
#include <math.h>
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ v_div_scale */

typedef struct scale_limits {
    int far, step, tiny;   /* exponents apart for an overflow near; the scale; exponents of tiny numerators */
} scale_limits;

typedef struct scaled { int step; bool flag, nan; } scaled;

/* How source 0 is scaled, for denominator s1 and numerator s2. Exponents are the fields. */
static scaled div_scale(bool zero, bool denormal1, bool denormal_reciprocal, bool denormal_quotient, int e1, int e2, bool is1, bool is2,
                        scale_limits k)
{
    if (zero) return (scaled){ 0, false, true };
    if (e2 - e1 >= k.far) return (scaled){ is1 ? k.step : 0, true, false };
    if (denormal1) return (scaled){ k.step, false, false };
    if (denormal_reciprocal && denormal_quotient) return (scaled){ is1 ? -k.step : 0, true, false };
    if (denormal_reciprocal) return (scaled){ -k.step, false, false };
    if (denormal_quotient) return (scaled){ is2 ? k.step : 0, true, false };
    return (scaled){ e2 <= k.tiny ? k.step : 0, false, false };
}

/* Not 0, and below the least normal number. */
static bool below(double value, double least) { return value != 0 && fabs(value) < least; }

VALU_HEAD(v_div_scale_f32)
{
    valu_lanes space0, space1, space2;
    const valu_source s0 = valu_get(w, i, 2, 0, VALU_F32, &space0), s1 = valu_get(w, i, 3, 1, VALU_F32, &space1);
    const valu_source s2 = valu_get(w, i, 4, 2, VALU_F32, &space2);
    const uint64_t exec = valu_exec(w, i);
    uint64_t flags = 0;
    uint32_t d[SIM_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) {
        const float a = VL_F32(s0), b = VL_F32(s1), c = VL_F32(s2);
        const int e1 = (int)(s1.lo[l] >> 23 & 0xff), e2 = (int)(s2.lo[l] >> 23 & 0xff);
        const scaled r = div_scale(b == 0 || c == 0, f32_is_denormal(s1.lo[l]), below(1.0 / (double)b, 0x1p-126),
                                   below((double)(c / b), 0x1p-126), e1, e2, a == b, a == c, (scale_limits){ 96, 64, 23 });
        d[l] = r.nan ? 0x7fc00000u : r.step ? sim_float_bits(ldexpf(a, r.step)) : s0.lo[l];
        flags |= (uint64_t)r.flag << l;
    }
    valu_put_32(w, i, d, exec);
    sim_write_mask(w, &i->operands[1], flags & exec);
}

VALU_HEAD(v_div_scale_f64)
{
    valu_lanes space0, space1, space2, d;
    const valu_source s0 = valu_get(w, i, 2, 0, VALU_F64, &space0), s1 = valu_get(w, i, 3, 1, VALU_F64, &space1);
    const valu_source s2 = valu_get(w, i, 4, 2, VALU_F64, &space2);
    const uint64_t exec = valu_exec(w, i);
    uint64_t flags = 0;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const double a = VL_F64(s0), b = VL_F64(s1), c = VL_F64(s2);
        const int e1 = (int)(s1.hi[l] >> 20 & 0x7ff), e2 = (int)(s2.hi[l] >> 20 & 0x7ff);
        const scaled r = div_scale(b == 0 || c == 0, f64_is_denormal(VL_U64(s1)), below(1.0 / b, 0x1p-1022), below(c / b, 0x1p-1022), e1, e2,
                                   a == b, a == c, (scale_limits){ 768, 128, 53 });
        VS_U64(r.nan ? 0x7ff8000000000000ull : r.step ? sim_double_bits(ldexp(a, r.step)) : VL_U64(s0));
        flags |= (uint64_t)r.flag << l;
    }
    valu_put_64(w, i, &d, exec);
    sim_write_mask(w, &i->operands[1], flags & exec);
}

/* ------------------------------------------------------------ v_div_fmas */

static uint64_t vcc_mask(const sim_wave *w) { return w->lanes == 64 ? sim_pair(w, SIM_VCC) : w->sgpr[SIM_VCC]; }

/* fma(a, b, c) * 2^step with one rounding. To nearest: the exact product plus c is rounded to odd, then once. In
 * the other modes two roundings in one direction are one. */
static float fmas_f32(float a, float b, float c, int step, sim_round mode)
{
    if (!step) return fmaf(a, b, c);
    const double x = (double)a, y = (double)b, z = (double)c;
    return (float)ldexp(mode ? fma(x, y, z) : sim_add_odd(x * y, z), step);
}

/* The exact a * b + c less its rounded value r; the sign is right (Boldo and Muller, "Exact and approximated error of the
 * FMA", IEEE Trans. Comput. 60, 2011). The host rounds to nearest. */
static double fma_error_f64(double a, double b, double c, double r)
{
    const double high = a * b, low = fma(a, b, -high);
    const double t = c + low, tl = (c - (t - (t - c))) + (low - (t - c));
    const double v = high + t, vl = (high - (v - (v - high))) + (t - (v - high));
    return ((v - r) + vl) + tl;
}

/* fma(a, b, c) * 2^step with one rounding. Two are one unless the first one lands in the middle between two denormals;
 * then its error decides. */
static double fmas_f64(double a, double b, double c, int step, sim_round mode)
{
    const double r = fma(a, b, c);
    if (!step) return r;
    const double scaled = ldexp(r, step);
    if (mode || !(fabs(scaled) < 0x1.8p-1022)) return scaled;
    const double apart = r - ldexp(scaled, -step), half = ldexp(0.5, -1074 - step);
    const double error = fabs(apart) == half ? fma_error_f64(a, b, c, r) : 0;
    if (apart > 0 && error > 0) return scaled + 0x1p-1074;
    if (apart < 0 && error < 0) return scaled - 0x1p-1074;
    return scaled;
}

VALU_HEAD(v_div_fmas_f32)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, F32);
    VALU_SOURCE(2, 3, F32);
    const valu_source s[3] = { s0, s1, s2 };
    const uint64_t vcc = vcc_mask(w);
    VALU_F_BEGIN;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const int step = !(vcc >> l & 1) ? 0 : (s2.lo[l] >> 23 & 0xff) > 127 ? 64 : -64;
        VALU_F_LANE(fmas_f32(VL_F32(s0), VL_F32(s1), VL_F32(s2), step, mode_round_32(w)));
    }
    VALU_F_END(3, 3);
}

VALU_HEAD(v_div_fmas_f64)
{
    VALU_SOURCE(0, 1, F64);
    VALU_SOURCE(1, 2, F64);
    VALU_SOURCE(2, 3, F64);
    const valu_source s[3] = { s0, s1, s2 };
    const uint64_t vcc = vcc_mask(w);
    VALU_D_BEGIN;
    for (uint32_t l = 0; l < w->lanes; l++) {
        const int step = !(vcc >> l & 1) ? 0 : (s2.hi[l] >> 20 & 0x7ff) > 1023 ? 128 : -128;
        VALU_D_LANE(fmas_f64(VL_F64(s0), VL_F64(s1), VL_F64(s2), step, mode_round_64(w)));
    }
    VALU_D_END(3, 3);
}

/* ------------------------------------------------------------ v_div_fixup */

/* Bits of a format, for what the three widths have in common. */
typedef struct fixup_format { uint64_t sign, infinity, quiet; } fixup_format;

/* The quotient's bits when operands decide it; false: they do not. p, a, b: quotient, denominator, numerator. */
static bool fixup_special(uint64_t p, uint64_t a, uint64_t b, const fixup_format *f, uint64_t *r)
{
    const uint64_t ma = a & (f->sign - 1), mb = b & (f->sign - 1), sign = (a ^ b) & f->sign;
    if (mb > f->infinity) *r = b | f->quiet;
    else if (ma > f->infinity) *r = a | f->quiet;
    else if ((!ma && !mb) || (ma == f->infinity && mb == f->infinity)) *r = f->sign | f->infinity | f->quiet;
    else if (!ma || mb == f->infinity) *r = sign | f->infinity;
    else if (ma == f->infinity || !mb) *r = sign;
    else {
        *r = sign | (p & (f->sign - 1));
        return false;
    }
    return true;
}

static const fixup_format f32_format = { 1u << 31, 0x7f800000u, 1u << 22 };
static const fixup_format f64_format = { 1ull << 63, 0x7ff0000000000000ull, 1ull << 51 };
static const fixup_format f16_format = { 1u << 15, 0x7c00u, 1u << 9 };

/* Below the least denormal: zero, or that denormal where the rounding mode goes away from zero. */
static uint64_t underflow(uint64_t sign, sim_round mode) { return sign | (mode == (sign ? ROUND_DOWN : ROUND_UP)); }

static uint64_t overflow(uint64_t sign, sim_round mode, const fixup_format *f)
{
    return sign | (f->infinity - sim_overflow_is_finite(sign != 0, mode));
}

VALU_HEAD(v_div_fixup_f32)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, F32);
    VALU_SOURCE(2, 3, F32);
    const uint64_t exec = valu_exec(w, i);
    uint32_t d[SIM_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint64_t r;
        const uint32_t a = s1.lo[l], b = s2.lo[l];
        if (!fixup_special(s0.lo[l], a, b, &f32_format, &r)) {
            const uint64_t sign = (a ^ b) & f32_format.sign;
            if ((int)(b >> 23 & 0xff) - (int)(a >> 23 & 0xff) < -150) r = underflow(sign, mode_round_32(w));
            else if (f32_is_nan(s0.lo[l])) r = overflow(sign, mode_round_32(w), &f32_format);
        }
        d[l] = (uint32_t)r;
    }
    if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_32)) valu_end_f32(w, i, d, NULL, 0);
    valu_put_32(w, i, d, exec);
}

VALU_HEAD(v_div_fixup_f64)
{
    VALU_SOURCE(0, 1, F64);
    VALU_SOURCE(1, 2, F64);
    VALU_SOURCE(2, 3, F64);
    const uint64_t exec = valu_exec(w, i);
    valu_lanes d;
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint64_t r;
        const uint64_t a = VL_U64(s1), b = VL_U64(s2), p = VL_U64(s0);
        if (!fixup_special(p, a, b, &f64_format, &r)) {
            const uint64_t sign = (a ^ b) & f64_format.sign;
            if ((int)(b >> 52 & 0x7ff) - (int)(a >> 52 & 0x7ff) < -1075) r = underflow(sign, mode_round_64(w));
            else if (f64_is_nan(p)) r = overflow(sign, mode_round_64(w), &f64_format);
        }
        VS_U64(r);
    }
    if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f64(w, i, &d, NULL, 0);
    valu_put_64(w, i, &d, exec);
}

VALU_HEAD(v_div_fixup_f16)
{
    VALU_SOURCE(0, 1, H16);
    VALU_SOURCE(1, 2, H16);
    VALU_SOURCE(2, 3, H16);
    const uint64_t exec = valu_exec(w, i);
    uint32_t d[SIM_LANES];
    for (uint32_t l = 0; l < w->lanes; l++) {
        uint64_t r;
        fixup_special(s0.lo[l], s1.lo[l], s2.lo[l], &f16_format, &r);
        d[l] = (uint32_t)r;
    }
    if (i->clamp || i->omod || !(w->mode & MODE_FLUSH_OUT_64)) valu_end_f16(w, i, d, NULL, 0);
    valu_put_16(w, i, d, exec, 3);
}
