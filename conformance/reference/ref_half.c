/* ref_half.c - f16, bf16 and their packed forms: each number by MPFR in its own precision, one rounding.
 *
 * neg and abs give the canonical NaN for a NaN ("NaN inputs yield an unspecified NaN"). fma.oob gives +0 when a
 * or b is the out-of-bounds NaN, whose bits the ISA does not give; all ones here.
 */
#include <string.h>
#include "ref_internal.h"

static uint64_t order(const ref_format *f, uint64_t code)
{
    return code & ref_sign_bit(f) ? ref_sign_bit(f) - 1 - (code & (ref_sign_bit(f) - 1)) : ref_sign_bit(f) + code;
}

static uint64_t minmax(const ref_name *name, const ref_format *f, uint64_t a, uint64_t b)
{
    uint64_t sign = ref_sign_bit(f), signs = (a ^ b) & sign, r;
    if (ref_has(name, "abs"))
        a &= ~sign, b &= ~sign;
    bool a_nan = ref_is_nan(f, a), b_nan = ref_is_nan(f, b), greater = !strcmp(name->word[0], "max");
    if ((a_nan && b_nan) || (ref_has(name, "nan") && (a_nan || b_nan)))
        return f->nan;
    if (a_nan || b_nan)
        r = a_nan ? b : a;
    else
        r = (order(f, a) < order(f, b)) != greater ? a : b;
    return ref_has(name, "xorsign") ? r | signs : r;
}

static uint64_t operate(const ref_name *name, const ref_format *f, const uint64_t *s)
{
    const char *op = name->word[0];
    mpfr_rnd_t rnd = MPFR_RNDN;
    mpfr_ptr x = ref_number(0), y = ref_number(1), z = ref_number(2), r = ref_result(f);
    mpfr_set_d(x, ref_value(f, s[0]), rnd);
    mpfr_set_d(y, ref_value(f, s[1]), rnd);
    int t;
    if (!strcmp(op, "fma")) {
        mpfr_set_d(z, ref_value(f, s[2]), rnd);
        t = mpfr_fma(r, x, y, z, rnd);
    } else {
        t = op[0] == 'a' ? mpfr_add(r, x, y, rnd) : op[0] == 's' ? mpfr_sub(r, x, y, rnd) : mpfr_mul(r, x, y, rnd);
    }
    return ref_finish(f, r, t, rnd);
}

static bool evaluate(const ref_name *name, const ref_format *f, const uint64_t *src, uint64_t *d)
{
    const char *op = name->word[0];
    int n = !strcmp(op, "neg") || !strcmp(op, "abs") ? 1 : !strcmp(op, "fma") ? 3 : 2;
    uint64_t s[3] = {0, 0, 0}, sign = ref_sign_bit(f);
    for (int i = 0; i < n; i++)
        s[i] = ref_has(name, "ftz") ? ref_flush(f, src[i]) : src[i];
    if (n == 1)
        *d = ref_is_nan(f, s[0]) ? f->nan : !strcmp(op, "neg") ? s[0] ^ sign : s[0] & ~sign;
    else if (!strcmp(op, "min") || !strcmp(op, "max"))
        *d = minmax(name, f, s[0], s[1]);
    else if (!strcmp(op, "add") || !strcmp(op, "sub") || !strcmp(op, "mul") || !strcmp(op, "fma"))
        *d = operate(name, f, s);
    else
        return false;
    if (n == 3 && ref_has(name, "oob") && (src[0] == 0xffff || src[1] == 0xffff))
        *d = 0;
    *d = ref_has(name, "ftz") ? ref_flush(f, *d) : *d;
    *d = ref_has(name, "sat") ? ref_saturate(f, *d) : *d;
    *d = ref_has(name, "relu") ? ref_relu(f, *d) : *d;
    return true;
}

bool ref_half(const ref_name *name, const uint64_t *src, uint64_t *dst)
{
    ref_type t = ref_parse_type(ref_last(name, 0));
    if ((t.class != 'f' && t.class != 'B') || t.bits != 16 || !strcmp(ref_last(name, 1), "f32"))
        return false;
    const ref_format *f = t.class == 'f' ? ref_find_format("f16", 3) : ref_find_format("bf16", 4);
    int n = !strcmp(name->word[0], "neg") || !strcmp(name->word[0], "abs") ? 1 : !strcmp(name->word[0], "fma") ? 3 : 2;
    *dst = 0;
    for (int k = 0; k < t.lanes; k++) {
        uint64_t s[3], d;
        for (int i = 0; i < n; i++)
            s[i] = src[i] >> (16 * k) & 0xffff;
        if (!evaluate(name, f, s, &d))
            return false;
        *dst |= d << (16 * k);
    }
    return true;
}
