/* ref_float.c - f32, f64, f32x2 and mixed arithmetic.
 *
 * .ftz flushes operands and the rounded result. .sat after that. NaN results are canonical, save
 * those of abs, neg and copysign, which touch the sign bit only ("Future implementations may comply with
 * the IEEE 754 standard by preserving payload and modifying only the sign bit").
 */
#include <math.h>
#include <string.h>
#include "ref_internal.h"

/* One correctly rounded operation of up to three operands given as numbers. */
static uint64_t operate(const char *op, const ref_format *f, double a, double b, double c, mpfr_rnd_t rnd)
{
    mpfr_ptr x = ref_number(0), y = ref_number(1), z = ref_number(2), r = ref_result(f);
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_set_d(y, b, MPFR_RNDN);
    mpfr_set_d(z, c, MPFR_RNDN);
    int t;
    if (!strcmp(op, "add"))
        t = mpfr_add(r, x, y, rnd);
    else if (!strcmp(op, "sub"))
        t = mpfr_sub(r, x, y, rnd);
    else if (!strcmp(op, "mul"))
        t = mpfr_mul(r, x, y, rnd);
    else if (!strcmp(op, "div"))
        t = mpfr_div(r, x, y, rnd);
    else if (!strcmp(op, "rcp"))
        t = mpfr_ui_div(r, 1, x, rnd);
    else if (!strcmp(op, "sqrt"))
        t = mpfr_sqrt(r, x, rnd);
    else
        t = mpfr_fma(r, x, y, z, rnd);
    return ref_finish(f, r, t, rnd);
}

static bool is_operation(const char *op)
{
    static const char *const ops[] = {"add", "sub", "mul", "div", "rcp", "sqrt", "fma"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i], op))
            return true;
    return false;
}

/* min and max: -0 < +0; a NaN operand loses, or wins with .NaN. */
static uint64_t lesser(const ref_format *f, uint64_t a, uint64_t b, bool greater, bool nan)
{
    bool a_nan = ref_is_nan(f, a), b_nan = ref_is_nan(f, b);
    if ((a_nan && b_nan) || (nan && (a_nan || b_nan)))
        return f->nan;
    if (a_nan || b_nan)
        return a_nan ? b : a;
    double x = ref_value(f, a), y = ref_value(f, b);
    bool a_less = x < y || (x == y && (a & ref_sign_bit(f)));
    return a_less != greater ? a : b;
}

static uint64_t minmax(const ref_name *name, const ref_format *f, const uint64_t *src)
{
    bool greater = name->word[0][1] == 'a', nan = ref_has(name, "nan"), three = strchr(name->word[0], '3') != NULL;
    uint64_t s[3] = {src[0], src[1], three ? src[2] : 0}, signs = 0;
    for (int i = 0; i < 2 + three; i++) {
        s[i] = ref_has(name, "ftz") ? ref_flush(f, s[i]) : s[i];
        signs ^= s[i] & ref_sign_bit(f);
        if (ref_has(name, "abs"))
            s[i] &= ~ref_sign_bit(f);
    }
    uint64_t r = lesser(f, s[0], s[1], greater, nan);
    if (three)
        r = lesser(f, r, s[2], greater, nan);
    return ref_has(name, "xorsign") && !ref_is_nan(f, r) ? r | signs : r;
}

static bool testp(const ref_name *name, const ref_format *f, uint64_t a)
{
    double x = ref_value(f, a), least = ldexp(1, 1 - f->bias);
    if (ref_has(name, "finite"))
        return isfinite(x);
    if (ref_has(name, "infinite"))
        return isinf(x);
    if (ref_has(name, "number"))
        return !isnan(x);
    if (ref_has(name, "notanumber"))
        return isnan(x);
    if (ref_has(name, "subnormal"))
        return x != 0 && fabs(x) < least;
    return x == 0 || (isfinite(x) && fabs(x) >= least);
}

static uint64_t arithmetic(const ref_name *name, const ref_format *f, const uint64_t *src, int sources)
{
    double v[3] = {0, 0, 0};
    for (int i = 0; i < sources; i++)
        v[i] = ref_value(f, ref_has(name, "ftz") ? ref_flush(f, src[i]) : src[i]);
    uint64_t r = operate(name->word[0], f, v[0], v[1], v[2], ref_mpfr_rounding(ref_name_rounding(name)));
    r = ref_has(name, "ftz") ? ref_flush(f, r) : r;
    return ref_has(name, "sat") ? ref_saturate(f, r) : r;
}

static int operands(const char *op)
{
    return !strcmp(op, "fma") ? 3 : !strcmp(op, "rcp") || !strcmp(op, "sqrt") ? 1 : 2;
}

/* add.f32.f16 d, a, c: the narrow operands are numbers like any other. */
static bool mixed(const ref_name *name, const ref_format *narrow, const uint64_t *src, uint64_t *dst)
{
    const ref_format *f32 = ref_find_format("f32", 3);
    int n = operands(name->word[0]);
    double v[3] = {0, 0, 0};
    for (int i = 0; i < n; i++)
        v[i] = ref_value(i == n - 1 ? f32 : narrow, src[i]);
    uint64_t r = operate(name->word[0], f32, v[0], v[1], v[2], ref_mpfr_rounding(ref_name_rounding(name)));
    *dst = ref_has(name, "sat") ? ref_saturate(f32, r) : r;
    return true;
}

bool ref_float(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    const char *op = name->word[0], *type = ref_last(name, 0);
    ref_type t = ref_parse_type(type);
    if (is_operation(op) && !strcmp(ref_last(name, 1), "f32") && (!strcmp(type, "f16") || !strcmp(type, "bf16")))
        return mixed(name, ref_find_format(type, (int)strlen(type)), src, dst);
    if (t.class != 'f' || (t.bits != 32 && t.bits != 64))
        return false;
    const ref_format *f = ref_find_format(t.bits == 32 ? "f32" : "f64", 3);
    if (is_operation(op)) {
        int n = operands(op);
        *dst = 0;
        for (int k = 0; k < t.lanes; k++) {
            uint64_t s[3];
            for (int i = 0; i < n; i++)
                s[i] = src[i] >> (k * t.bits) & ref_mask(t.bits);
            *dst |= arithmetic(name, f, s, n) << (k * t.bits);
        }
        return true;
    }
    uint64_t sign = ref_sign_bit(f), a = ref_has(name, "ftz") ? ref_flush(f, src[0]) : src[0];
    if (!strncmp(op, "min", 3) || !strncmp(op, "max", 3))
        *dst = minmax(name, f, src);
    else if (!strcmp(op, "abs"))
        *dst = a & ~sign;
    else if (!strcmp(op, "neg"))
        *dst = a ^ sign;
    else if (!strcmp(op, "copysign"))
        *dst = (src[0] & sign) | (src[1] & ~sign);
    else if (!strcmp(op, "testp"))
        *dst = testp(name, f, src[0]);
    else
        return false;
    return true;
}
