/* scalar_float.c - the SALU's floating point of gfx11.5 and gfx12 (RDNA4 ISA, 16.1 to 16.5).
 *
 * MODE's rounding and denormal fields count as they do for the vector ALU; NaN results follow valu.h.
 */
#include <math.h>
#include "runtime/sim/salu.h"
#include "runtime/sim/valu.h"
#include "runtime/sim/valu_minmax.h"

/* ------------------------------------------------------------ sources and results */

static uint32_t in_f32(const sim_wave *w, uint32_t a)
{
    return !(w->mode & MODE_FLUSH_IN_32) && f32_is_denormal(a) ? a & 0x80000000u : a;
}

static uint32_t in_f16(const sim_wave *w, uint32_t a)
{
    a &= 0xffff;
    return !(w->mode & MODE_FLUSH_IN_64) && f16_is_denormal(a) ? a & 0x8000u : a;
}

static uint32_t out_f32(const sim_wave *w, uint32_t d)
{
    return !(w->mode & MODE_FLUSH_OUT_32) && f32_is_denormal(d) ? d & 0x80000000u : d;
}

static uint32_t out_f16(const sim_wave *w, uint32_t d)
{
    return !(w->mode & MODE_FLUSH_OUT_64) && f16_is_denormal(d) ? d & 0x8000u : d;
}

static uint32_t a32(const sim_wave *w, const sim_insn *i, uint32_t k) { return in_f32(w, sim_read_s32(w, &i->operands[k])); }
static uint32_t a16(const sim_wave *w, const sim_insn *i, uint32_t k) { return in_f16(w, sim_read_s32(w, &i->operands[k])); }

/* x, y, z: bits of the sources; a, b, c: their values. Two-source forms have z = y. */
#define FLOAT32(name, third, value)                                                                                   \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint32_t x = a32(w, i, 1), y = a32(w, i, 2), z = third;                                                 \
        const volatile float a = sim_float(x), b = sim_float(y), c = sim_float(z);                                    \
        valu_host_round(mode_round_32(w));                                                                            \
        const volatile float r = (value);                                                                             \
        valu_host_round(ROUND_NEAREST_EVEN);                                                                          \
        (void)c;                                                                                                      \
        PUT32(out_f32(w, r != r ? valu_nan_f32(x, y, z) : sim_float_bits(r)));                                        \
    }
#define FLOAT16(name, third, value)                                                                                   \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint32_t x = a16(w, i, 1), y = a16(w, i, 2), z = third;                                                 \
        const float a = f16_to_f32(x), b = f16_to_f32(y), c = f16_to_f32(z);                                          \
        const double r = (value);                                                                                     \
        (void)c;                                                                                                      \
        PUT32(out_f16(w, r != r ? valu_nan_f16(x, y, z) : f16_round(r, mode_round_64(w), mode_fp16_clamp(w))));       \
    }

FLOAT32(add_f32, y, a + b)
FLOAT32(sub_f32, y, a - b)
FLOAT32(mul_f32, y, a * b)
FLOAT32(fma_f32, a32(w, i, 3), fmaf(a, b, c))
FLOAT32(fmac_f32, a32(w, i, 0), fmaf(a, b, c))
FLOAT16(add_f16, y, sim_sum(a, b, mode_round_64(w)))
FLOAT16(sub_f16, y, sim_sum(a, -b, mode_round_64(w)))
FLOAT16(mul_f16, y, (double)a * (double)b)
FLOAT16(fmac_f16, a16(w, i, 0), sim_fma_odd(a, b, c, mode_round_64(w)))

/* ------------------------------------------------------------ least and greatest */

static minmax_rule rule(const sim_wave *w)
{
    return (minmax_rule){.gfx12 = w->target->generation >= SIM_GFX12, .ieee = mode_ieee(w)};
}

#define MINMAX32(name, value)                                                                                         \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint32_t x = a32(w, i, 1), y = a32(w, i, 2);                                                            \
        PUT32(out_f32(w, value));                                                                                     \
    }
#define MINMAX16(name, value)                                                                                         \
    static void name(sim_wave *w, const sim_insn *i)                                                                  \
    {                                                                                                                 \
        const uint16_t x = (uint16_t)a16(w, i, 1), y = (uint16_t)a16(w, i, 2);                                        \
        PUT32(out_f16(w, value));                                                                                     \
    }

MINMAX32(min_f32, minmax_f32(x, y, false, rule(w)))
MINMAX32(max_f32, minmax_f32(x, y, true, rule(w)))
MINMAX32(minimum_32, minimum_f32(x, y, false))
MINMAX32(maximum_32, minimum_f32(x, y, true))
MINMAX16(min_f16, minmax_f16(x, y, false, rule(w)))
MINMAX16(max_f16, minmax_f16(x, y, true, rule(w)))
MINMAX16(minimum_16, minimum_f16(x, y, false))
MINMAX16(maximum_16, minimum_f16(x, y, true))

/* ------------------------------------------------------------ whole numbers and conversions */

static double nearest(double a)
{
    double whole = floor(a), rest = a - whole;
    if (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) != 0)) whole += 1;
    return copysign(whole, a);
}

#define WHOLE(name, function)                                                                                         \
    static void name##_f32(sim_wave *w, const sim_insn *i)                                                            \
    {                                                                                                                 \
        const uint32_t x = a32(w, i, 1);                                                                              \
        const float r = (float)function((double)sim_float(x));                                                        \
        PUT32(r != r ? valu_nan_f32(x, x, x) : sim_float_bits(r));                                                    \
    }                                                                                                                 \
    static void name##_f16(sim_wave *w, const sim_insn *i)                                                            \
    {                                                                                                                 \
        const uint32_t x = a16(w, i, 1);                                                                              \
        const double r = function((double)f16_to_f32(x));                                                             \
        PUT32(r != r ? valu_nan_f16(x, x, x) : f16_round(r, ROUND_NEAREST_EVEN, false));                              \
    }

WHOLE(ceil, ceil)
WHOLE(floor, floor)
WHOLE(trunc, trunc)
WHOLE(rndne, nearest)

static void put_rounded(sim_wave *w, const sim_insn *i, double exact)
{
    const volatile double value = exact;
    valu_host_round(mode_round_32(w));
    const volatile float r = (float)value;
    valu_host_round(ROUND_NEAREST_EVEN);
    PUT32(sim_float_bits(r));
}

static void cvt_f32_i32(sim_wave *w, const sim_insn *i) { put_rounded(w, i, (double)(int32_t)SRC32(1)); }
static void cvt_f32_u32(sim_wave *w, const sim_insn *i) { put_rounded(w, i, (double)SRC32(1)); }

static void cvt_i32_f32(sim_wave *w, const sim_insn *i)
{
    PUT32((uint32_t)sim_to_int((double)sim_float(a32(w, i, 1)), INT32_MIN, INT32_MAX));
}

static void cvt_u32_f32(sim_wave *w, const sim_insn *i)
{
    PUT32((uint32_t)sim_to_int((double)sim_float(a32(w, i, 1)), 0, UINT32_MAX));
}

static uint32_t half_of(const sim_wave *w, uint32_t x, sim_round round)
{
    return out_f16(w, f16_round((double)sim_float(x), round, mode_fp16_clamp(w)));
}

static void cvt_f16_f32(sim_wave *w, const sim_insn *i) { PUT32(half_of(w, a32(w, i, 1), mode_round_64(w))); }

static void cvt_pk_rtz(sim_wave *w, const sim_insn *i)
{
    PUT32(half_of(w, a32(w, i, 1), ROUND_ZERO) | half_of(w, a32(w, i, 2), ROUND_ZERO) << 16);
}

static void put_half_as_f32(sim_wave *w, const sim_insn *i, uint32_t half)
{
    uint32_t d = f16_to_f32_bits(in_f16(w, half));
    PUT32(f32_is_nan(d) ? valu_nan_f32(d, d, d) : d);
}

static void cvt_f32_f16(sim_wave *w, const sim_insn *i) { put_half_as_f32(w, i, SRC32(1)); }
static void cvt_hi_f32_f16(sim_wave *w, const sim_insn *i) { put_half_as_f32(w, i, SRC32(1) >> 16); }

/* ------------------------------------------------------------ comparisons; the N forms are true for NaN */

#define COMPARISON(name, condition)                                                                                   \
    static void cmp_##name##_f32(sim_wave *w, const sim_insn *i)                                                      \
    {                                                                                                                 \
        const float a = sim_float(a32(w, i, 0)), b = sim_float(a32(w, i, 1));                                         \
        w->scc = (condition);                                                                                         \
    }                                                                                                                 \
    static void cmp_##name##_f16(sim_wave *w, const sim_insn *i)                                                      \
    {                                                                                                                 \
        const float a = f16_to_f32(a16(w, i, 0)), b = f16_to_f32(a16(w, i, 1));                                       \
        w->scc = (condition);                                                                                         \
    }

COMPARISON(lt, a < b)
COMPARISON(eq, a == b)
COMPARISON(le, a <= b)
COMPARISON(gt, a > b)
COMPARISON(lg, a < b || a > b)
COMPARISON(ge, a >= b)
COMPARISON(o, a == a && b == b)
COMPARISON(u, a != a || b != b)
COMPARISON(nge, !(a >= b))
COMPARISON(nlg, !(a < b || a > b))
COMPARISON(ngt, !(a > b))
COMPARISON(nle, !(a <= b))
COMPARISON(neq, !(a == b))
COMPARISON(nlt, !(a < b))

/* ------------------------------------------------------------ rows */

#define ROW2(name, run, type) SALU_ROW(name, run, type, type, type)
#define ROW1(name, run, to, from) SALU_ROW(name, run, to, from)
#define BOTH2(name, run) ROW2(name "_f32", run##_f32, T_F32), ROW2(name "_f16", run##_f16, T_F16)
#define BOTH1(name, run) ROW1(name "_f32", run##_f32, T_F32, T_F32), ROW1(name "_f16", run##_f16, T_F16, T_F16)
#define CMP(name) SALU_ROW("s_cmp_" #name "_f32", cmp_##name##_f32, T_F32, T_F32), SALU_ROW("s_cmp_" #name "_f16", cmp_##name##_f16, T_F16, T_F16)

const sim_op sim_scalar_float_ops[] = {
    BOTH2("s_add", add), BOTH2("s_sub", sub), BOTH2("s_mul", mul), BOTH2("s_fmac", fmac),
    SALU_ROW("s_fmaak_f32", fma_f32, T_F32, T_F32, T_F32, T_F32), SALU_ROW("s_fmamk_f32", fma_f32, T_F32, T_F32, T_F32, T_F32),
    BOTH2("s_min", min), BOTH2("s_max", max), BOTH2("s_min_num", min), BOTH2("s_max_num", max),
    ROW2("s_minimum_f32", minimum_32, T_F32), ROW2("s_maximum_f32", maximum_32, T_F32),
    ROW2("s_minimum_f16", minimum_16, T_F16), ROW2("s_maximum_f16", maximum_16, T_F16),
    BOTH1("s_ceil", ceil), BOTH1("s_floor", floor), BOTH1("s_trunc", trunc), BOTH1("s_rndne", rndne),
    ROW1("s_cvt_f32_i32", cvt_f32_i32, T_F32, T_B32), ROW1("s_cvt_f32_u32", cvt_f32_u32, T_F32, T_B32),
    ROW1("s_cvt_i32_f32", cvt_i32_f32, T_B32, T_F32), ROW1("s_cvt_u32_f32", cvt_u32_f32, T_B32, T_F32),
    ROW1("s_cvt_f16_f32", cvt_f16_f32, T_F16, T_F32), ROW1("s_cvt_f32_f16", cvt_f32_f16, T_F32, T_F16),
    ROW1("s_cvt_hi_f32_f16", cvt_hi_f32_f16, T_F32, T_B32), SALU_ROW("s_cvt_pk_rtz_f16_f32", cvt_pk_rtz, T_B32, T_F32, T_F32),
    CMP(lt), CMP(eq), CMP(le), CMP(gt), CMP(lg), CMP(ge), CMP(o), CMP(u), CMP(nge), CMP(nlg), CMP(ngt), CMP(nle), CMP(neq), CMP(nlt),
    {0},
};
