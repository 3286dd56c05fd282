/* valu_dot.c - handlers of valu_dot.def.
 *
 * Float sums follow the ISA documents' pseudo-code: from the accumulator on, one product after another,
 * each product exact, each sum rounded to nearest even. Hardware may differ by an ulp (it may add with more bits).
 */
#include <math.h>
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ integers */

static inline int64_t field(uint32_t x, uint32_t at, uint32_t bits, bool is_signed)
{
    const uint32_t f = x << (32 - bits - at);
    return is_signed ? (int64_t)((int32_t)f >> (32 - bits)) : (int64_t)(f >> (32 - bits));
}

/* The sum is exact, then wraps, or saturates by the range of the accumulator, which is signed as a is. */
static inline int64_t dot_sum(uint32_t a, uint32_t b, int64_t c, uint32_t bits, bool sa, bool sb)
{
    for (uint32_t at = 0; at < 32; at += bits)
        c += field(a, at, bits, sa) * field(b, at, bits, sb);
    return c;
}

static inline uint32_t clamp_sum(int64_t sum, bool is_signed, bool clamp)
{
    if (!clamp) return (uint32_t)sum;
    if (is_signed) return (uint32_t)(sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum);
    return sum > 0xffffffffll ? 0xffffffffu : (uint32_t)sum;
}

static inline uint32_t dot_int(uint32_t a, uint32_t b, int64_t c, uint32_t bits, bool sa, bool sb, bool clamp)
{
    return clamp_sum(dot_sum(a, b, c, bits, sa, sb), sa, clamp);
}

static inline uint32_t dot_mixed(uint32_t a, uint32_t b, int64_t c, uint32_t bits, uint32_t signs, bool clamp)
{
    return clamp_sum(dot_sum(a, b, c, bits, signs & 1, signs >> 1 & 1), true, clamp);
}

/* ------------------------------------------------------------ halves and signs as VOP3P's modifiers choose them */

static inline uint32_t pair(const sim_insn *i, uint32_t x, uint32_t source)
{
    const uint32_t low = x >> (i->op_sel >> source & 1 ? 16 : 0) & 0xffffu, high = x >> (i->op_sel_hi >> source & 1 ? 16 : 0) & 0xffffu;
    return (low ^ (uint32_t)(i->neg_lo >> source & 1) << 15) | (high ^ (uint32_t)(i->neg_hi >> source & 1) << 15) << 16;
}

static inline float third(const sim_insn *i, float c) { return i->neg_lo & 4 ? -c : c; }

/* ------------------------------------------------------------ floats */

static inline float half_of(const sim_wave *w, uint32_t h)
{
    return f16_to_f32(!(w->mode & MODE_FLUSH_IN_64) && f16_is_denormal(h) ? h & 0x8000u : h);
}

static inline float dot2_f16(const sim_wave *w, uint32_t a, uint32_t b, float c)
{
    c += half_of(w, a & 0xffff) * half_of(w, b & 0xffff);
    return c + half_of(w, a >> 16) * half_of(w, b >> 16);
}

/* The product of two bf16 has 16 bits: exact but for f32's range, so fma is the sum of the text. */
static inline float dot2_bf16(uint32_t a, uint32_t b, float c)
{
    c = fmaf(bf16_to_f32(a & 0xffff), bf16_to_f32(b & 0xffff), c);
    return fmaf(bf16_to_f32(a >> 16), bf16_to_f32(b >> 16), c);
}

static inline float dot4_f8(uint32_t a, uint32_t b, float c, const sim_small *fa, const sim_small *fb)
{
    for (uint32_t at = 0; at < 32; at += 8)
        c += sim_small_to_f32(a >> at & 0xff, fa) * sim_small_to_f32(b >> at & 0xff, fb);
    return c;
}

/* One lane through the end of a result; of several NaNs the default one is given. */
static uint32_t end_f32(const sim_wave *w, const sim_insn *i, float r)
{
    uint32_t x = sim_float_bits(r);
    if (f32_is_nan(x)) x = valu_nan_f32(0, 0, 0);
    if (!(w->mode & MODE_FLUSH_OUT_32) && f32_is_denormal(x)) x &= 0x80000000u;
    if (!i->clamp) return x;
    if (f32_is_nan(x)) return mode_dx10_clamp(w) ? 0 : x;
    return x >> 31 ? 0 : x > 0x3f800000u ? 0x3f800000u : x;
}

/* The accumulator is an f16 that is rounded after each term. */
static uint32_t dot2_half(const sim_wave *w, uint32_t a, uint32_t b, uint32_t c)
{
    const bool limit = mode_fp16_clamp(w);
    for (uint32_t at = 0; at < 32; at += 16)
        c = f16_round(sim_fma_odd(half_of(w, a >> at & 0xffff), half_of(w, b >> at & 0xffff), f16_to_f32(c), ROUND_NEAREST_EVEN), ROUND_NEAREST_EVEN, limit);
    if (!(w->mode & MODE_FLUSH_OUT_64) && f16_is_denormal(c)) c &= 0x8000u;
    return f16_is_nan(c) ? 0xfe00u : c;
}

static uint32_t dot2_bf16_half(uint32_t a, uint32_t b, uint32_t c)
{
    for (uint32_t at = 0; at < 32; at += 16)
        c = bf16_round(sim_fma_odd(bf16_to_f32(a >> at & 0xffff), bf16_to_f32(b >> at & 0xffff), bf16_to_f32(c), ROUND_NEAREST_EVEN), ROUND_NEAREST_EVEN);
    return (c & 0x7fffu) > 0x7f80u ? 0xffc0u : c;
}

#define VALU_LIST_HANDLERS
#include "runtime/sim/valu_list.h"
#include "runtime/sim/valu_dot.def"
#undef VALU_LIST_HANDLERS
