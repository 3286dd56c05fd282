/* valu_arith.c - handlers of valu_arith.def but division. */
#include <math.h>
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ pieces of the rows */

/* To nearest even in every rounding mode. */
static inline float nearest_f32(float a)
{
    const float magnitude = fabsf(a);
    if (!(magnitude < 0x1p23f)) return a;
    const float whole = floorf(magnitude), rest = magnitude - whole;
    const bool odd = (uint32_t)whole & 1;
    return copysignf(whole + (rest > 0.5f || (rest == 0.5f && odd) ? 1.0f : 0.0f), a);
}

static inline double nearest_f64(double a)
{
    const double magnitude = fabs(a);
    if (!(magnitude < 0x1p52)) return a;
    const double whole = floor(magnitude), rest = magnitude - whole;
    const bool odd = (uint64_t)whole & 1;
    return copysign(whole + (rest > 0.5 || (rest == 0.5 && odd) ? 1.0 : 0.0), a);
}

/* x - floor(x), below 1 also where that rounds up to 1 (LLVM relies on it: its fract is the least of this and the
 * number below 1). An infinity gives NaN. */
static inline float fract_f32(float a)
{
    const float r = a - floorf(a);
    return r >= 1.0f ? 0x1.fffffep-1f : r;
}

static inline double fract_f64(double a)
{
    const double r = a - floor(a);
    return r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
}

static inline double fract_f16(float a)
{
    const double r = (double)a - (double)floorf(a);
    return r > 0x1.ffcp-1 ? 0x1.ffcp-1 : r;
}

/* In [0.5, 1); zeros, infinities and NaN are themselves. */
static inline float frexp_mantissa_f32(float a)
{
    int exponent;
    return frexpf(a, &exponent);
}

static inline double frexp_mantissa_f64(double a)
{
    int exponent;
    return frexp(a, &exponent);
}

static inline int32_t frexp_exponent(double a)
{
    int exponent = 0;
    if (!isfinite(a)) return 0;
    frexp(a, &exponent);
    return exponent;
}

static inline float mullit(float a, float b, float c)
{
    return !(b > -0x1.fffffep127f) || !(c > 0) ? -0x1.fffffep127f : a * b;
}

/* a * b rounded to f16, for the instructions that round twice. */
static inline float half_product(float a, float b, sim_round round, bool limit)
{
    return f16_to_f32(f16_round((double)a * (double)b, round, limit));
}

/* ------------------------------------------------------------ cube maps (ISA, V_CUBE…_F32) */

typedef enum cube_major { MAJOR_X, MAJOR_Y, MAJOR_Z } cube_major;

static inline cube_major cube_major_axis(float x, float y, float z)
{
    if (fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y)) return MAJOR_Z;
    return fabsf(y) >= fabsf(x) ? MAJOR_Y : MAJOR_X;
}

static inline float cube_axis(float x, float y, float z)
{
    const cube_major major = cube_major_axis(x, y, z);
    return major == MAJOR_Z ? z : major == MAJOR_Y ? y : x;
}

static inline float cube_face(float x, float y, float z)
{
    return 2.0f * (float)cube_major_axis(x, y, z) + (cube_axis(x, y, z) < 0 ? 1.0f : 0.0f);
}

static inline float cube_s(float x, float y, float z)
{
    const cube_major major = cube_major_axis(x, y, z);
    if (major == MAJOR_Z) return z < 0 ? -x : x;
    return major == MAJOR_Y ? x : x < 0 ? z : -z;
}

static inline float cube_t(float x, float y, float z)
{
    if (cube_major_axis(x, y, z) != MAJOR_Y) return -y;
    return y < 0 ? -z : z;
}

/* ------------------------------------------------------------ bits of 2/pi */

/* The first 1216 bits of 2/pi after the point. */
static const uint32_t two_over_pi[38] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0,
    0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4,
    0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

/* 53 bits of the first 1201, from bit `segment` * 53 on, further right for great arguments (ISA, V_TRIG_PREOP_F64). */
static double trig_preop(double a, uint32_t segment)
{
    const int exponent = (int)(sim_double_bits(a) >> 52 & 0x7ff);
    int shift = (int)(segment & 31) * 53;
    if (exponent > 1077) shift += exponent - 1077;
    uint64_t bits = 0;
    for (int k = shift; k < shift + 53; k++)
        bits = bits << 1 | (k < 1201 ? two_over_pi[k / 32] >> (31 - k % 32) & 1 : 0);
    return ldexp((double)bits, -53 - shift + (exponent >= 1968 ? 128 : 0));
}

#define VALU_LIST_HANDLERS
#include "runtime/sim/valu_list.h"
#include "runtime/sim/valu_arith.def"
#undef VALU_LIST_HANDLERS

/* ------------------------------------------------------------ fma, with vectors */

static void fma_f32(sim_wave *w, const sim_insn *i, uint32_t third)
{
    VALU_SOURCE(0, 1, F32);
    VALU_SOURCE(1, 2, F32);
    VALU_SOURCE(2, third, F32);
    const valu_source s[3] = { s0, s1, s2 };
    VALU_F_BEGIN;
    valu_fma_f32(d.lo, s0.lo, s1.lo, s2.lo, w->lanes);
    VALU_EACH_LANE nan |= f32_is_nan(d.lo[l]);
    VALU_F_END(3, 3);
}

VALU_HEAD(v_fma_f32) { fma_f32(w, i, 3); }
VALU_HEAD(v_fmac_f32) { fma_f32(w, i, 0); }
