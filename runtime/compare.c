/* compare.c - element-wise comparison; see compare.h. */
#include "runtime/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A sign-magnitude float format: the magnitude of infinity; all above are NaN. */
typedef struct layout {
    uint32_t bits;
    uint64_t infinity;
} layout;

static bool float_layout(rt_dtype dtype, rt_format format, layout *out)
{
    switch (format) {
    case RT_AS_BF16: *out = (layout){16, 0x7f80}; return true;
    /* e4m3 has no infinity; S.1111.111 alone is NaN, so that the value below stands where infinity would. */
    case RT_AS_E4M3: *out = (layout){8, 0x7e}; return true;
    case RT_AS_E5M2: *out = (layout){8, 0x7c}; return true;
    case RT_AS_DTYPE: break;
    }
    switch (dtype) {
    case RT_F16: *out = (layout){16, 0x7c00}; return true;
    case RT_F32: *out = (layout){32, 0x7f800000}; return true;
    case RT_F64: *out = (layout){64, 0x7ff0000000000000}; return true;
    default: return false;
    }
}

bool rt_reads_floats(rt_dtype dtype, rt_format format)
{
    layout l;
    return float_layout(dtype, format, &l);
}

static uint64_t distance_float(uint64_t a, uint64_t b, const layout *l)
{
    uint64_t sign = (uint64_t)1 << (l->bits - 1), ma = a & (sign - 1), mb = b & (sign - 1);
    bool nan_a = ma > l->infinity, nan_b = mb > l->infinity;
    if (nan_a || nan_b)
        return nan_a && nan_b ? 0 : UINT64_MAX;
    if ((a & sign) == (b & sign))
        return ma > mb ? ma - mb : mb - ma;
    return ma + mb; /* both below 2^63: no overflow */
}

static uint64_t distance_integer(uint64_t a, uint64_t b, rt_dtype dtype)
{
    int shift = 64 - 8 * (int)rt_dtype_bytes(dtype);
    if (rt_dtype_is_signed(dtype)) {
        int64_t sa = (int64_t)(a << shift) >> shift, sb = (int64_t)(b << shift) >> shift;
        return sa > sb ? (uint64_t)sa - (uint64_t)sb : (uint64_t)sb - (uint64_t)sa;
    }
    return a > b ? a - b : b - a;
}

uint64_t rt_distance(const rt_array *a, const rt_array *b, uint64_t i, rt_format format)
{
    layout l;
    uint64_t x = rt_array_bits(a, i), y = rt_array_bits(b, i);
    return float_layout(a->dtype, format, &l) ? distance_float(x, y, &l) : distance_integer(x, y, a->dtype);
}

double rt_format_value(const rt_array *a, uint64_t i, rt_format format)
{
    uint64_t bits = rt_array_bits(a, i);
    uint32_t wide = (uint32_t)bits << 16;
    float f;
    switch (format) {
    case RT_AS_BF16: memcpy(&f, &wide, 4); return f;
    case RT_AS_E5M2: return rt_f16_to_f64((uint16_t)(bits << 8));
    case RT_AS_E4M3: {
        int exponent = (int)(bits >> 3 & 15), fraction = (int)(bits & 7);
        double v = (bits & 0x7f) == 0x7f ? (double)NAN
                   : exponent            ? ldexp(8 + fraction, exponent - 10)
                                         : ldexp(fraction, -9);
        return bits & 0x80 ? -v : v;
    }
    case RT_AS_DTYPE: break;
    }
    return rt_array_get(a, i);
}

static bool within(double got, double want, uint64_t ulp, const rt_tolerance *t)
{
    if (t->kind == RT_ULP)
        return ulp <= t->ulp;
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    if (isinf(got) || isinf(want))
        return got == want;
    return fabs(got - want) <= t->abs + t->rel * fabs(want);
}

static double abs_error(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return 0;
    double e = fabs(got - want);
    return isinf(e) ? (double)NAN : e;
}

void rt_compare(const rt_array *got, const rt_array *want, rt_format format, const rt_tolerance *tolerance,
                rt_difference *out)
{
    layout l = {0, 0};
    bool is_float = float_layout(got->dtype, format, &l), found_failing = false, found_differing = false;
    memset(out, 0, sizeof *out);
    out->elements = got->count;
    out->is_float = is_float;
    for (uint64_t i = 0; i < got->count; i++) {
        uint64_t a = rt_array_bits(got, i), b = rt_array_bits(want, i);
        if (a == b)
            continue;
        out->differing++;
        uint64_t ulp = is_float ? distance_float(a, b, &l) : distance_integer(a, b, got->dtype);
        double vg = rt_format_value(got, i, format), vw = rt_format_value(want, i, format), e = abs_error(vg, vw);
        if (ulp > out->max_ulp || !found_differing) {
            out->max_ulp = ulp;
            out->worst = i;
        }
        if (isnan(e) || e > out->max_abs) /* once NaN it stays NaN */
            out->max_abs = e;
        bool fails = tolerance->kind == RT_EXACT || !within(vg, vw, ulp, tolerance);
        out->failing += fails;
        if ((fails && !found_failing) || (!found_differing && !found_failing))
            out->first = i;
        found_failing = found_failing || fails;
        found_differing = true;
    }
}

const char *rt_index_text(const rt_array *a, uint64_t i, char *buffer, size_t size)
{
    uint64_t index[RT_MAX_DIMS];
    for (uint32_t d = a->ndim; d-- > 0;) {
        index[d] = a->shape[d] ? i % a->shape[d] : 0;
        i /= a->shape[d] ? a->shape[d] : 1;
    }
    size_t used = (size_t)snprintf(buffer, size, "[");
    for (uint32_t d = 0; d < a->ndim && used < size; d++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%" PRIu64, d ? "," : "", index[d]);
    if (used < size)
        snprintf(buffer + used, size - used, "]");
    return buffer;
}

const char *rt_format_text(const rt_array *a, uint64_t i, rt_format format, char *buffer, size_t size)
{
    char number[64];
    layout l = {0, 0};
    if (format == RT_AS_DTYPE)
        rt_array_text(a, i, number, sizeof number);
    else
        snprintf(number, sizeof number, "%.6g", rt_format_value(a, i, format));
    if (float_layout(a->dtype, format, &l))
        snprintf(buffer, size, "%s (0x%0*" PRIx64 ")", number, (int)l.bits / 4, rt_array_bits(a, i));
    else
        snprintf(buffer, size, "%s", number);
    return buffer;
}
