/* ref_compare.c - setp, set, selp, slct: comparisons of values, integers over 128 bits, floats as doubles. */
#include <math.h>
#include <string.h>
#include "ref_internal.h"

static int order_of(__int128 a, __int128 b) { return a < b ? -1 : a > b; }

/* The relation of -1, 0, 1 under a comparison of six. */
static bool related(const char *cmp, int order)
{
    switch (cmp[0] << 8 | cmp[1]) {
    case 'e' << 8 | 'q': return order == 0;
    case 'n' << 8 | 'e': return order != 0;
    case 'l' << 8 | 't': return order < 0;
    case 'l' << 8 | 'e': return order <= 0;
    case 'g' << 8 | 't': return order > 0;
    default:             return order >= 0;
    }
}

static bool compare(const char *cmp, ref_type t, bool ftz, uint64_t a, uint64_t b)
{
    if (t.class != 'f' && t.class != 'B')
        return related(cmp, order_of(ref_integer(a, t), ref_integer(b, t)));
    const ref_format *f = t.class == 'B' ? ref_find_format("bf16", 4) : t.bits == 16 ? ref_find_format("f16", 3)
                        : ref_find_format(t.bits == 32 ? "f32" : "f64", 3);
    double x = ref_value(f, ftz ? ref_flush(f, a) : a), y = ref_value(f, ftz ? ref_flush(f, b) : b);
    bool nan = isnan(x) || isnan(y);
    if (!strcmp(cmp, "num"))
        return !nan;
    if (!strcmp(cmp, "nan"))
        return nan;
    if (nan)
        return strlen(cmp) == 3; /* equ neu ltu leu gtu geu */
    return related(cmp, x < y ? -1 : x > y);
}

static uint64_t combine(const ref_name *name, uint64_t t, uint64_t c)
{
    return ref_is(name, 2, "and") ? t & c : ref_is(name, 2, "or") ? t | c : ref_is(name, 2, "xor") ? t ^ c : t;
}

static uint64_t set_value(ref_type d, bool t, int bits)
{
    if (!t)
        return 0;
    if (d.class == 'f')
        return d.bits == 32 ? 0x3f800000 : 0x3c00;
    return d.class == 'B' ? 0x3f80 : ref_mask(bits);
}

bool ref_compare(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0];
    ref_type t = ref_parse_type(ref_last(name, 0));
    if (!strcmp(op, "selp")) {
        *dst = src[2] ? src[0] : src[1];
        return true;
    }
    if (!strcmp(op, "slct")) {
        const ref_format *f = ref_find_format("f32", 3);
        uint64_t c = ref_has(name, "ftz") ? ref_flush(f, src[2]) : src[2];
        *dst = (t.class == 's' ? ref_sext(c, 32) >= 0 : ref_value(f, c) >= 0) ? src[0] : src[1];
        return true;
    }
    bool setp = !strcmp(op, "setp");
    if (!setp && strcmp(op, "set"))
        return false;
    const char *cmp = name->word[1];
    bool ftz = ref_has(name, "ftz");
    if (t.lanes == 1) {
        uint64_t r = compare(cmp, t, ftz, src[0], src[1]);
        if (setp) {
            dst[0] = combine(name, r, src[2]);
            dst[1] = combine(name, !r, src[2]);
        } else {
            ref_type d = ref_parse_type(ref_last(name, 1));
            dst[0] = set_value(d, combine(name, r, src[2]), d.bits);
        }
        return true;
    }
    dst[0] = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t r = combine(name, compare(cmp, t, ftz, src[0] >> (16 * k) & 0xffff, src[1] >> (16 * k) & 0xffff), src[2]);
        if (setp)
            dst[k] = r;
        else
            dst[0] |= set_value(ref_parse_type(ref_last(name, 1)), r, 16) << (16 * k);
    }
    return true;
}
