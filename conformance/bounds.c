/* bounds.c - see bounds.h. Figures: PTX ISA 9.0, "Floating Point Instructions" and "Half Precision Floating Point Instructions". */
#include "conformance/bounds.h"

#include <math.h>
#include <string.h>

static const conform_bound bounds[] = {
    {"rcp_approx_ftz_f64", 0, 0x1p-19, 0, false},   /* the upper 32 bits of the operand and the result count */
    {"rsqrt_approx_ftz_f64", 0, 0x1p-18, 0, false},
    {"rsqrt_approx_f64", 1, 0, 0, true},     /* ours: two correctly rounded operations */
    {"rcp_approx", 1, 0, 0, false},
    {"sqrt_approx", 0, 0x1p-22, 0, false},
    {"rsqrt_approx", 0, 0x1.2p-22, 0, false},       /* 2^-22.9 on all of the range */
    {"div_approx", 2, 0, 0, false},
    {"div_full", 2, 0, 0, false},
    {"sin_approx", 0, 0, 0x1.7p-21, false},         /* 2^-20.5 in [-pi, pi]; outside not bounded */
    {"cos_approx", 0, 0, 0x1.7p-21, false},
    {"lg2_approx", 2, 0, 0x1p-22, false},
    {"ex2_approx_f16", 0, 0x1.2p-10, 0, false},     /* 2^-9.9 */
    {"ex2_approx_ftz_bf16", 0, 0x1p-7, 0, false},
    {"ex2_approx", 2, 0x1p-22, 0, false},
    {"tanh_approx_f16", 0, 0, 0x1.03p-11, false},   /* 2^-10.987 */
    {"tanh_approx_bf16", 0, 0, 0x1p-8, false},
    {"tanh_approx_f32", 0, 0x1p-11, 0, false},
};

const conform_bound *conform_bound_of(const char *meaning)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (!strncmp(meaning, bounds[i].prefix, strlen(bounds[i].prefix)))
            return &bounds[i];
    return NULL;
}

static bool is_nan(const ref_format *f, uint64_t code)
{
    return isnan(ref_value(f, code));
}

/* Codes as integers in the order of the numbers. */
static int64_t ordered(const ref_format *f, uint64_t code)
{
    const uint64_t sign = 1ull << (f->exponent + f->fraction);
    return code & sign ? -(int64_t)(code & (sign - 1)) : (int64_t)code;
}

static double ulps_of(const ref_format *f, uint64_t got, uint64_t want)
{
    if (is_nan(f, got) || is_nan(f, want))
        return is_nan(f, got) && is_nan(f, want) ? 0 : INFINITY;
    return fabs((double)((__int128)ordered(f, got) - ordered(f, want)));      /* f64 codes are longer than a double is exact */
}

static bool within_one(const conform_bound *b, const ref_format *f, uint64_t got, uint64_t want)
{
    if (is_nan(f, want) || is_nan(f, got))
        return is_nan(f, want) && is_nan(f, got);
    const double g = ref_value(f, got), w = ref_value(f, want), error = fabs(g - w);
    if (isinf(w) || w == 0)
        return got == want || (w == 0 && error <= b->absolute);
    /* The rounded reference is itself half a unit from the function. */
    const double unit = fabs(w) * ldexp(1, -f->fraction), half = unit / 2;
    return error <= (b->ulp + 0.5) * unit || error <= b->relative * fabs(w) + half || error <= b->absolute + half;
}

double conform_ulps(const conform_case *c, uint32_t e, uint64_t got, uint64_t want)
{
    const conform_shape s = conform_shape_of(c->elems[e].type);
    const uint64_t mask = s.bits == 64 ? ~0ull : (1ull << s.bits) - 1;
    double most = 0;
    for (int i = 0; s.format && i < s.count; i++)
        most = fmax(most, ulps_of(s.format, got >> (i * s.step) & mask, want >> (i * s.step) & mask));
    return s.format ? most : got == want ? 0 : INFINITY;
}

bool conform_within(const conform_bound *b, const conform_case *c, uint32_t e, uint64_t got, uint64_t want)
{
    const conform_shape s = conform_shape_of(c->elems[e].type);
    const uint64_t mask = s.bits == 64 ? ~0ull : (1ull << s.bits) - 1;
    bool all = s.format != NULL;
    for (int i = 0; all && i < s.count; i++)
        all = within_one(b, s.format, got >> (i * s.step) & mask, want >> (i * s.step) & mask);
    return all;
}
