/* ref_cvt.c - conversions: integers exactly, floats by MPFR, small formats by search among their codes.
 *
 * NaN to integer: "Zero if source is not .f64 and destination is not .s64, .u64. Otherwise 1 << (BitWidth(dst) - 1)".
 * Float to integer clamps. Random bits of .rs are added at the top of the bits that are cut off; the ISA gives which bits belong to
 * which source: a and b the upper half, e and f the lower one, for e2m1 the bytes of the halves.
 */
#include <math.h>
#include <string.h>
#include "ref_internal.h"

static bool is_int(ref_type t) { return (t.class == 'u' || t.class == 's') && t.lanes == 1; }
static const ref_format *format_of(const char *word) { return ref_find_format(word, (int)strcspn(word, "x")); }

static __int128 clamp_to(__int128 x, ref_type t)
{
    __int128 most = ((__int128)1 << (t.class == 's' ? t.bits - 1 : t.bits)) - 1, least = t.class == 's' ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

/* rni rzi rmi rpi of a double, in double: the values that are not integers are small. */
static double round_integral(const ref_name *name, double x)
{
    mpfr_ptr a = ref_number(0), r = ref_number(1);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_rint(r, a, ref_has(name, "rzi") ? MPFR_RNDZ : ref_has(name, "rmi") ? MPFR_RNDD : ref_has(name, "rpi") ? MPFR_RNDU : MPFR_RNDN);
    return mpfr_get_d(r, MPFR_RNDN);
}

static bool has_integral(const ref_name *name)
{
    return ref_has(name, "rni") || ref_has(name, "rzi") || ref_has(name, "rmi") || ref_has(name, "rpi");
}

static uint64_t to_integer(const ref_name *name, double x, ref_type d, bool from_f64)
{
    if (isnan(x))
        return from_f64 || d.bits == 64 ? 1ull << (d.bits - 1) : 0;
    x = round_integral(name, x);
    __int128 v = x >= 0x1p100 ? (__int128)1 << 100 : x <= -0x1p100 ? -((__int128)1 << 100) : (__int128)x;
    return (uint64_t)clamp_to(v, d) & ref_mask(d.bits);
}

static uint64_t from_integer(const ref_name *name, uint64_t a, ref_type s, const ref_format *f)
{
    mpfr_rnd_t rnd = ref_mpfr_rounding(ref_name_rounding(name));
    mpfr_ptr x = ref_number(0), r = ref_result(f);
    if (s.class == 's')
        mpfr_set_sj(x, ref_sext(a, s.bits), MPFR_RNDN);
    else
        mpfr_set_uj(x, a & ref_mask(s.bits), MPFR_RNDN);
    int t = mpfr_set(r, x, rnd);
    return ref_finish(f, r, t, rnd);
}

/* A number into a scalar float format, with its modifiers. Formats of 16 bits and less are searched for ... */
static uint64_t to_float(const ref_name *name, double x, const ref_format *f)
{
    ref_rounding rounding = ref_name_rounding(name);
    uint64_t r = f->exponent + f->fraction < 16 ? ref_round_by_search(f, x, rounding) : ref_round_by_mpfr(f, x, rounding);
    if (f->fraction == 10 && f->exponent == 8) { /* ... and tf32 by its integer value, for the sake of .rna */
        double ulp = 0;
        if (rounding == REF_RNA && isfinite(x)) {
            int e;
            frexp(x, &e);
            ulp = ldexp(1, (e < -125 ? -125 : e) - 11);
            double q = floor(fabs(x) / ulp + 0.5) * ulp;
            r = ref_round_by_mpfr(f, copysign(q, x), REF_RN);
        }
    }
    r = ref_has(name, "satfinite") ? ref_satfinite(f, r) : r;
    r = ref_has(name, "sat") ? ref_saturate(f, r) : r;
    return ref_has(name, "relu") ? ref_relu(f, r) : r;
}

/* The f32 code with `random`, of `count` bits, added to the bits that the format cuts off. */
static uint64_t to_float_random(const ref_name *name, uint64_t code, const ref_format *f, uint64_t random, int count)
{
    double x = ref_value(ref_find_format("f32", 3), code);
    uint64_t sign = signbit(x) ? ref_sign_bit(f) : 0, r;
    if (isnan(x)) {
        r = f->nan ? f->nan : f->largest;
    } else if (isinf(x)) {
        r = sign | (f->finite ? f->largest : f->largest + 1);
    } else {
        int e;
        frexp(x, &e);
        int least = 2 - f->bias, ulp = (e < least || x == 0 ? least : e) - 1 - f->fraction; /* exponent of the last place */
        mpfr_t steps, part;
        mpfr_init2(steps, 400);
        mpfr_init2(part, 400);
        mpfr_set_d(steps, fabs(x), MPFR_RNDN);
        mpfr_mul_2si(steps, steps, -ulp, MPFR_RNDN);
        mpfr_set_uj_2exp(part, random, -count, MPFR_RNDN);
        mpfr_add(steps, steps, part, MPFR_RNDN);
        mpfr_floor(steps, steps);
        mpfr_mul_2si(steps, steps, ulp, MPFR_RNDN);
        double y = mpfr_get_d(steps, MPFR_RNDN);
        mpfr_clear(steps);
        mpfr_clear(part);
        r = sign | (y > ref_value(f, f->largest) ? f->largest + (f->finite ? 0 : 1) : ref_round_by_search(f, y, REF_RZ));
    }
    r = ref_has(name, "satfinite") ? ref_satfinite(f, r) : r;
    return ref_has(name, "relu") ? ref_relu(f, r) : r;
}

/* Powers of two, up (.rp) or down; the sign does not count. 255 is NaN, and infinity without .satfinite. */
static uint64_t to_ue8m0(const ref_name *name, double x)
{
    if (isnan(x))
        return 255;
    x = fabs(x);
    if (x <= 0x1p-127)
        return 0;
    int e = 0, code;
    double m = isinf(x) ? 0.5 : frexp(x, &e); /* x = m * 2^e, m in [1/2, 1) */
    code = isinf(x) ? 255 : e - 1 + 127;
    if (ref_has(name, "rp") && m != 0.5)
        code++;
    return (uint64_t)(ref_has(name, "satfinite") && code > 254 ? 254 : code);
}

static bool pack(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    ref_type t = ref_parse_type(name->word[3]);
    uint64_t a = (uint64_t)clamp_to(ref_sext(src[0], 32), t) & ref_mask(t.bits), b = (uint64_t)clamp_to(ref_sext(src[1], 32), t) & ref_mask(t.bits);
    *dst = a << t.bits | b;
    if (t.bits < 16)
        *dst = (*dst | src[2] << (2 * t.bits)) & 0xffffffff;
    return true;
}

/* Destination of several numbers from f32 sources, the first one on top. */
static bool packed_from_f32(const ref_name *name, const ref_format *f, int lanes, const uint64_t *src, uint64_t *dst)
{
    const ref_format *f32 = ref_find_format("f32", 3);
    int width = f->exponent + f->fraction + 1, step = width > 8 ? 16 : width > 4 ? 8 : 4;
    bool random = ref_has(name, "rs");
    *dst = 0;
    for (int i = 0; i < lanes; i++) {
        uint64_t code, bits = random ? src[lanes] : 0, upper = bits >> 16, lower = bits & 0xffff;
        if (!random)
            code = to_float(name, ref_value(f32, src[i]), f);
        else if (lanes == 2)
            code = to_float_random(name, src[i], f, (i ? lower : upper) & (f->fraction == 10 ? 0x1fff : 0xffff), f->fraction == 10 ? 13 : 16);
        else if (step == 8)
            code = to_float_random(name, src[i], f, i < 2 ? upper : lower, 16);
        else
            code = to_float_random(name, src[i], f, (i % 2 ? lower : upper) >> (i < 2 ? 8 : 0) & 0xff, 8);
        *dst |= code << ((lanes - 1 - i) * step);
    }
    return true;
}

/* One packed register into another, number by number. */
static bool packed_to_packed(const ref_name *name, const ref_format *to, const ref_format *from, const uint64_t *src, uint64_t *dst)
{
    int width_to = to->exponent + to->fraction + 1, width_from = from->exponent + from->fraction + 1;
    int step_to = width_to > 8 ? 16 : width_to > 4 ? 8 : 4, step_from = width_from > 8 ? 16 : width_from > 4 ? 8 : 4;
    *dst = 0;
    for (int i = 0; i < 2; i++)
        *dst |= to_float(name, ref_value(from, src[0] >> (i * step_from) & ref_mask(width_from)), to) << (i * step_to);
    return true;
}

static bool ue8m0(const ref_name *name, const char *from, const uint64_t *src, uint64_t *dst)
{
    if (ref_has(name, "bf16x2") && !strcmp(from, "ue8m0x2")) {
        *dst = 0;
        for (int i = 0; i < 2; i++) {
            uint64_t code = src[0] >> (8 * i) & 0xff;
            *dst |= (code == 255 ? 0x7fff : ref_round_by_search(ref_find_format("bf16", 4), ldexp(1, (int)code - 127), REF_RN)) << (16 * i);
        }
        return true;
    }
    const ref_format *f32 = ref_find_format("f32", 3), *bf16 = ref_find_format("bf16", 4);
    bool two = !strcmp(from, "f32");
    double high = two ? ref_value(f32, src[0]) : ref_value(bf16, src[0] >> 16 & 0xffff), low = two ? ref_value(f32, src[1]) : ref_value(bf16, src[0] & 0xffff);
    *dst = to_ue8m0(name, high) << 8 | to_ue8m0(name, low);
    return true;
}

/* s2f6: a byte that counts 64ths. a / scale on the way there, a * scale on the way back; scales are powers of two or NaN. The
 * largest size is 127/64 in both directions: ".satfinite: sign-preserving MAX_NORM"; NaN becomes it too. */
static uint64_t to_s2f6(const ref_name *name, double x, uint64_t scale)
{
    if (isnan(x) || scale == 255)
        return 127;
    double q = ldexp(x, 127 + 6 - (int)scale), down = floor(q), part = q - down;
    if (fabs(q) < 1000 && (part > 0.5 || (part == 0.5 && fmod(down, 2) != 0)))
        down++;
    int n = down > 127 ? 127 : down < -127 ? -127 : (int)down;
    return (uint64_t)(n < 0 && ref_has(name, "relu") ? 0 : n) & 0xff;
}

static bool s2f6(const ref_name *name, const char *from, const uint64_t *src, uint64_t *dst)
{
    const ref_format *f32 = ref_find_format("f32", 3), *bf16 = ref_find_format("bf16", 4);
    bool two = !strcmp(from, "f32"), back = !strcmp(from, "s2f6x2");
    uint64_t scales = ref_has(name, "scaled") ? src[two ? 2 : 1] : 0x7f7f;
    *dst = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t scale = scales >> (8 * i) & 0xff;
        if (back) {
            double x = ldexp((double)ref_sext(src[0] >> (8 * i) & 0xff, 8), (int)scale - 127 - 6);
            *dst |= (scale == 255 ? 0x7fff : to_float(name, x, bf16)) << (16 * i);
        } else
            *dst |= to_s2f6(name, two ? ref_value(f32, src[1 - i]) : ref_value(bf16, src[0] >> (16 * i) & 0xffff), scale) << (8 * i);
    }
    return true;
}

static bool scalar(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *to = ref_last(name, 1), *from = ref_last(name, 0);
    ref_type d = ref_parse_type(to), s = ref_parse_type(from);
    if (is_int(d) && is_int(s)) {
        __int128 x = ref_integer(src[0], s);
        *dst = (uint64_t)(ref_has(name, "sat") ? clamp_to(x, d) : x) & ref_mask(d.bits);
        return true;
    }
    if (is_int(s)) {
        const ref_format *f = format_of(to);
        if (!f)
            return false;
        uint64_t r = from_integer(name, src[0], s, f);
        *dst = ref_has(name, "sat") ? ref_saturate(f, r) : r;
        return true;
    }
    const ref_format *g = format_of(from);
    if (!g)
        return false;
    bool ftz = ref_has(name, "ftz");
    double x = ref_value(g, ftz && g->bias == 127 && g->fraction == 23 ? ref_flush(g, src[0]) : src[0]);
    if (is_int(d)) {
        *dst = to_integer(name, x, d, s.bits == 64);
        return true;
    }
    const ref_format *f = format_of(to);
    if (!f)
        return false;
    *dst = to_float(name, has_integral(name) && !isnan(x) ? round_integral(name, x) : x, f);
    if (ftz && d.bits == 32)
        *dst = ref_flush(f, *dst);
    if (f->fraction == 10 && f->exponent == 8)
        *dst = ref_is_nan(f, *dst) ? 0x7fffffff : *dst << 13;
    return true;
}

bool ref_cvt(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    if (strcmp(name->word[0], "cvt"))
        return false;
    if (ref_is(name, 1, "pack"))
        return pack(name, src, dst);
    const char *to = ref_last(name, 1), *from = ref_last(name, 0);
    if (strstr(to, "s2f6") || strstr(from, "s2f6"))
        return s2f6(name, from, src, dst);
    if (strstr(to, "ue8m0") || strstr(from, "ue8m0"))
        return ue8m0(name, from, src, dst);
    const char *x = strchr(to, 'x');
    if (!x)
        return scalar(name, src, dst);
    const ref_format *f = format_of(to), *g = format_of(from);
    if (!f || !g)
        return false;
    return strchr(from, 'x') ? packed_to_packed(name, f, g, src, dst) : packed_from_f32(name, f, x[1] - '0', src, dst);
}
