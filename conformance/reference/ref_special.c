/* ref_special.c - reference of rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh and div in their approximate forms. */
#include "ref_special.h"
#include <mpfr.h>
#include <string.h>

typedef struct layout { int fraction, exponent; uint64_t nan; } layout;
static const layout F16 = {10, 5, 0x7fff}, BF16 = {7, 8, 0x7fff}, F32 = {23, 8, 0x7fffffff};
static const layout F64 = {52, 11, 0x7ff8000000000000u}, GROSS = {20, 11, 0x7ff80000};

static uint64_t infinity_of(const layout *f) { return ((1ull << f->exponent) - 1) << f->fraction; }
static uint64_t sign_of(const layout *f) { return 1ull << (f->fraction + f->exponent); }

static void to_mpfr(mpfr_t x, const layout *f, uint64_t bits)
{
    const uint64_t field = (bits & infinity_of(f)) >> f->fraction, part = bits & ((1ull << f->fraction) - 1);
    const int bias = (1 << (f->exponent - 1)) - 1;
    const bool negative = bits & sign_of(f);
    if (field == (1ull << f->exponent) - 1) {
        if (part) mpfr_set_nan(x);
        else mpfr_set_inf(x, negative ? -1 : 1);
        return;
    }
    mpfr_set_ui_2exp(x, field ? part | 1ull << f->fraction : part, (mpfr_exp_t)(field ? field : 1) - bias - f->fraction, MPFR_RNDN);
    mpfr_setsign(x, x, negative, MPFR_RNDN);
}
/* Rounds to nearest even, with subnormals. */
static uint64_t from_mpfr(mpfr_t x, const layout *f)
{
    if (mpfr_nan_p(x))
        return f->nan;
    const uint64_t sign = mpfr_signbit(x) ? sign_of(f) : 0;
    if (mpfr_inf_p(x))
        return sign | infinity_of(f);
    if (mpfr_zero_p(x))
        return sign;
    const int bias = (1 << (f->exponent - 1)) - 1;
    mpfr_exp_t e = mpfr_get_exp(x) - 1;
    if (e > bias)
        return sign | infinity_of(f);
    if (e < 1 - bias)
        e = 1 - bias;
    mpfr_t y;
    mpfr_init2(y, 400);
    mpfr_mul_2si(y, x, f->fraction - e, MPFR_RNDN);
    mpfr_abs(y, y, MPFR_RNDN);
    mpfr_rint(y, y, MPFR_RNDN);
    const uint64_t m = mpfr_get_ui(y, MPFR_RNDN);
    mpfr_clear(y);
    /* m may carry into the next binade, and the sum comes out right by itself. */
    return sign | (((uint64_t)(e + bias - 1) << f->fraction) + m);
}
static uint64_t flush(const layout *f, uint64_t bits)
{
    return bits & infinity_of(f) ? bits : bits & sign_of(f);
}

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static bool compute(const char *m, mpfr_t r, mpfr_t x, mpfr_t y)
{
    if (starts(m, "rcp")) mpfr_ui_div(r, 1, x, MPFR_RNDN);
    else if (starts(m, "sqrt")) mpfr_sqrt(r, x, MPFR_RNDN);
    else if (starts(m, "rsqrt")) {
        mpfr_rec_sqrt(r, x, MPFR_RNDN);
        if (mpfr_zero_p(x)) mpfr_setsign(r, r, mpfr_signbit(x), MPFR_RNDN);      /* MPFR gives +inf for -0, PTX -inf */
    }
    else if (starts(m, "sin")) mpfr_sin(r, x, MPFR_RNDN);
    else if (starts(m, "cos")) mpfr_cos(r, x, MPFR_RNDN);
    else if (starts(m, "lg2")) mpfr_log2(r, x, MPFR_RNDN);
    else if (starts(m, "ex2")) mpfr_exp2(r, x, MPFR_RNDN);
    else if (starts(m, "tanh")) mpfr_tanh(r, x, MPFR_RNDN);
    else if (starts(m, "div")) mpfr_div(r, x, y, MPFR_RNDN);
    else return false;
    return true;
}

/* "div.approx": for 2^126 < |b| < 2^128 the result is 0, or NaN when a is infinite. */
static bool beyond_approx(uint64_t a, uint64_t b, uint64_t *d)
{
    const uint64_t size = b & 0x7fffffff;
    if (size <= 0x7e800000 || size >= 0x7f800000)
        return false;
    *d = (a & 0x7fffffff) >= 0x7f800000 ? 0x7fffffff : (a ^ b) & 0x80000000u;
    return true;
}

bool ref_special_eval(const char *meaning, uint64_t a, uint64_t b, uint64_t *d)
{
    const bool ftz = strstr(meaning, "_ftz") != NULL, f64 = strstr(meaning, "f64") != NULL;
    const layout *f = strstr(meaning, "bf16") ? &BF16 : strstr(meaning, "f16") ? &F16 : f64 ? &F64 : &F32;
    const int shift = f64 && ftz ? 32 : 0;
    if (shift) {             /* only the upper word counts, and comes out */
        f = &GROSS;
        a >>= 32;
    }
    if (ftz) {
        a = flush(f, a);
        b = flush(f, b);
    }
    if (starts(meaning, "div_approx") && beyond_approx(a, b, d))
        return true;
    mpfr_t x, y, r;
    mpfr_inits2(400, x, y, r, (mpfr_ptr)0);
    to_mpfr(x, f, a);
    to_mpfr(y, f, b);
    const bool known = compute(meaning, r, x, y);
    *d = from_mpfr(r, f);
    if (ftz)
        *d = flush(f, *d);
    *d <<= shift;
    mpfr_clears(x, y, r, (mpfr_ptr)0);
    return known;
}
