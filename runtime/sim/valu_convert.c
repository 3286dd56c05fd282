/* valu_convert.c - handlers of valu_convert.def but those of 8-bit formats.
 *
 * A NaN of another width becomes the quiet NaN with the leading bits of its payload.
 */
#include <math.h>
#include "runtime/sim/valu.h"

/* To the nearest multiple of 1/32767 or 1/65535 (even on a tie), clamped; NaN gives 0. */
static inline uint32_t to_norm(float a, double least, double scale)
{
    if (a != a) return 0;
    const double x = ((double)a < least ? least : a > 1.0f ? 1.0 : (double)a) * scale, whole = floor(x), rest = x - whole;
    const bool up = rest > 0.5 || (rest == 0.5 && ((int64_t)whole & 1));
    return (uint32_t)(int32_t)(whole + (up ? 1.0 : 0.0)) & 0xffff;
}

static inline uint32_t to_snorm(float a) { return to_norm(a, -1.0, 32767.0); }
static inline uint32_t to_unorm(float a) { return to_norm(a, 0.0, 65535.0); }

/* The value; a signalling NaN becomes quiet. */
static inline float quiet(float a)
{
    const uint32_t bits = sim_float_bits(a);
    return sim_float(f32_is_nan(bits) ? bits | 0x00400000u : bits);
}

static inline uint32_t half_in_mode(const sim_wave *w, float a, sim_round round)
{
    const uint32_t h = f16_round((double)a, round, mode_fp16_clamp(w));
    return !(w->mode & MODE_FLUSH_OUT_64) && f16_is_denormal(h) ? h & 0x8000u : h;
}

/* Up in magnitude when the part cut off plus the leading bits of `random` reach one in the last place. */
static inline uint32_t stochastic(float a, uint32_t random, int mantissa, int bias, uint32_t infinity)
{
    const uint32_t sign = sim_float_bits(a) >> 31 << 15;
    if (a != a) return sign | infinity | 1u << (mantissa - 1);
    if (a == 0) return sign;
    if (isinf(a)) return sign | infinity;
    uint64_t rest;
    uint64_t r = sim_cut((double)a, mantissa, bias, &rest);
    r += rest + ((uint64_t)random << 32) < rest;
    return sign | (uint32_t)(r > infinity ? infinity : r);
}

static inline uint32_t half_stochastic(float a, uint32_t random) { return stochastic(a, random, 10, 15, 0x7c00); }
static inline uint32_t bf16_stochastic(float a, uint32_t random) { return stochastic(a, random, 7, 127, 0x7f80); }

#define VALU_LIST_HANDLERS
#include "runtime/sim/valu_list.h"
#include "runtime/sim/valu_convert.def"
#undef VALU_LIST_HANDLERS
