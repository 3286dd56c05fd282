/* ref_fast.c - see ref_fast.h. */
#include "ref_fast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ref_internal.h"

static uint64_t bits_of(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static double double_of(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }
static uint32_t bits_of_float(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static float float_of(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }

/* ---- rounding a double that was rounded to odd ---- */

/* `error` is what the exact number exceeds x by, less than a unit of its last place. */
static double to_odd(double x, double error)
{
    if (!(error > 0 || error < 0) || !isfinite(x))
        return x;
    uint64_t u = bits_of(x);
    if ((error < 0) != (x < 0))
        u--;                             /* toward zero, where the exact number lies */
    return double_of(u | 1);
}

static inline bool rounds_up(ref_rounding r, bool negative, uint64_t rest, uint64_t half, uint64_t low)
{
    switch (r) {
    case REF_RZ: return false;
    case REF_RM: return negative && rest;
    case REF_RP: return !negative && rest;
    default: return rest > half || (rest == half && (low & 1));
    }
}

/* x is finite, and not a subnormal double. */
static inline uint64_t code_of(const ref_fast *f, double x)
{
    const int fraction = f->format->fraction;
    const uint64_t u = bits_of(x), sign = u >> 63 ? f->sign : 0;
    const int e = (int)(u >> 52 & 0x7ff) - 1023, least = 1 - f->format->bias;
    if (x == 0)
        return sign;
    const uint64_t m = (u & ((1ull << 52) - 1)) | 1ull << 52;
    int shift = 52 - fraction + (e < least ? least - e : 0);
    shift = shift > 60 ? 60 : shift;
    const uint64_t rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
    uint64_t code = m >> shift;
    code += rounds_up(f->rounding, sign != 0, rest, half, code);
    if (e >= least)
        code += (uint64_t)(e - least) << fraction;       /* the leading bit adds one to the exponent */
    if (code >= f->infinity) {                            /* overflow: as the rounding says */
        const bool up = f->rounding == REF_RN || (f->rounding == REF_RM && sign) || (f->rounding == REF_RP && !sign);
        code = up ? f->infinity : f->infinity - 1;
    }
    return sign | code;
}

/* ---- one operation ---- */

static double sum_to_odd(double a, double b)
{
    const double s = a + b, part = s - a;                 /* Knuth's TwoSum */
    return to_odd(s, (a - (s - part)) + (b - part));
}

static double quotient_to_odd(double a, double b)
{
    const double q = a / b, rest = fma(-q, b, a);         /* exact: operands have few bits, and q is no subnormal double */
    return to_odd(q, b < 0 ? -rest : rest);
}

static double root_to_odd(double x)
{
    const double q = sqrt(x);
    return to_odd(q, fma(-q, q, x));
}

static inline uint64_t flushed(const ref_fast *f, uint64_t code)
{
    return f->ftz && !(code & f->infinity) ? code & f->sign : code;
}

static inline double value_of(const ref_fast *f, uint64_t code)
{
    return f->values ? f->values[code & 0xffff] : (double)float_of((uint32_t)flushed(f, code));
}

static bool operate(const ref_fast *f, const uint64_t *src, uint64_t *dst)
{
    const double a = value_of(f, src[0]);
    const bool unary = f->operation == '/' || f->operation == 's';
    const double b = unary ? 0 : value_of(f, src[1]);
    double x;
    switch (f->operation) {
    case '+': x = sum_to_odd(a, b); break;
    case '-': x = sum_to_odd(a, -b); break;
    case '*': x = a * b; break;                           /* exact */
    case '/': x = quotient_to_odd(1, a); break;
    default: x = root_to_odd(a); break;
    }
    if (isnan(x))
        *dst = f->format->nan;
    else if (isinf(x))
        *dst = (x < 0 ? f->sign : 0) | f->infinity;
    else if (x == 0 && f->rounding != REF_RN)
        return false;                                     /* the sign of a sum's zero depends on the rounding */
    else
        *dst = flushed(f, code_of(f, x));
    return true;
}

/* ---- real functions ---- */

static double reciprocal(double x) { return 1 / x; }
static double reciprocal_root(double x) { return 1 / sqrt(x); }

static bool apply(const ref_fast *f, uint64_t a, uint64_t *dst)
{
    const uint64_t code = flushed(f, a), size = code & 0x7fffffff;
    if (size >= 0x7f800000 || size == 0)
        return false;
    const double y = f->function((double)float_of((uint32_t)code));
    if (isnan(y)) {                      /* a negative number under a root or logarithm */
        *dst = f->format->nan;
        return true;
    }
    const float low = (float)(y * (1 - 0x1p-44)), high = (float)(y * (1 + 0x1p-44));
    *dst = flushed(f, bits_of_float(low));
    return bits_of_float(low) == bits_of_float(high);
}

static const struct { const char *name; double (*function)(double); } functions[] = {
    {"rcp_approx", reciprocal}, {"rsqrt_approx", reciprocal_root}, {"sqrt_approx", sqrt}, {"ex2_approx", exp2},
    {"lg2_approx", log2}, {"sin_approx", sin}, {"cos_approx", cos}, {"tanh_approx", tanh},
};

static bool find_function(ref_fast *f, const char *meaning)
{
    const size_t n = strlen(meaning);
    if (n < 4 || strcmp(meaning + n - 4, "_f32") != 0)
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strncmp(meaning, functions[i].name, strlen(functions[i].name))) {
            f->kind = REF_FAST_FUNCTION;
            f->function = functions[i].function;
            f->format = ref_find_format("f32", 3);
            return true;
        }
    return false;
}

/* ---- names ---- */

/* "add_rn_f16", "rcp_rz_ftz_f32": a word more than these, and there is no fast way. */
static bool find_operation(ref_fast *f, const char *meaning)
{
    static const struct { const char *word; char operation; bool f32; } operations[] = {
        {"add", '+', false}, {"sub", '-', false}, {"mul", '*', false}, {"rcp", '/', true}, {"sqrt", 's', true}};
    static const char *const roundings[] = {"rn", "rz", "rm", "rp"};
    char text[128], *rest, *word;
    bool rounded = false;
    f->operation = 0;
    f->format = NULL;
    if (strlen(meaning) >= sizeof text)
        return false;
    strcpy(text, meaning);
    for (word = strtok_r(text, "_", &rest); word; word = strtok_r(NULL, "_", &rest)) {
        bool known = false;
        for (size_t i = 0; i < sizeof operations / sizeof *operations && !f->operation; i++)
            if (!strcmp(word, operations[i].word)) {
                f->operation = operations[i].operation;
                known = true;
            }
        for (int i = 0; i < 4 && !known && !rounded; i++)
            if (!strcmp(word, roundings[i])) {
                f->rounding = (ref_rounding)i;
                rounded = known = true;
            }
        if (!known && !f->ftz && !strcmp(word, "ftz"))
            f->ftz = known = true;
        if (!known && !f->format && (!strcmp(word, "f16") || !strcmp(word, "bf16") || !strcmp(word, "f32"))) {
            f->format = ref_find_format(word, (int)strlen(word));
            known = true;
        }
        if (!known)
            return false;
    }
    if (!f->operation || !f->format)
        return false;
    const bool unary = f->operation == '/' || f->operation == 's', single = f->format->fraction == 23;
    f->kind = REF_FAST_OPERATION;
    return unary == single;              /* two f32 are more than any table holds */
}

static bool make_values(ref_fast *f)
{
    f->sign = ref_sign_bit(f->format);
    f->infinity = ref_mask(f->format->exponent) << f->format->fraction;
    if (f->format->fraction == 23)
        return true;
    f->values = malloc(65536 * sizeof *f->values);
    for (uint64_t code = 0; f->values && code < 65536; code++)
        f->values[code] = ref_value(f->format, flushed(f, code));
    return f->values != NULL;
}

/* ---- halves ---- */

static bool make_halves(ref_fast *f, void (*slow)(void *, const uint64_t *, uint64_t *), void *user)
{
    uint64_t src[1] = {0};
    f->kind = REF_FAST_HALVES;
    slow(user, src, &f->zero);
    for (int half = 0; half < 2; half++) {
        f->halves[half] = malloc(65536 * sizeof *f->halves[half]);
        if (!f->halves[half])
            return false;
        for (uint64_t i = 0; i < 65536; i++) {
            src[0] = i << (16 * half);
            slow(user, src, &f->halves[half][i]);
            f->halves[half][i] ^= f->zero;
        }
    }
    return true;
}

/* One source of two 16-bit numbers, whose results do not mix. */
static bool is_by_halves(const char *meaning)
{
    static const char *const operations[] = {"cvt_", "ex2_", "tanh_", "abs_", "neg_"};
    bool known = false;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        known = known || !strncmp(meaning, operations[i], strlen(operations[i]));
    const size_t n = strlen(meaning);
    return known && !strstr(meaning, "_rs_") && n > 5 && !strcmp(meaning + n - 5, "f16x2");
}

bool ref_fast_start(ref_fast *f, const char *meaning, void (*slow)(void *user, const uint64_t *src, uint64_t *dst), void *user)
{
    *f = (ref_fast){.ftz = false};
    if (find_operation(f, meaning))
        return make_values(f);
    *f = (ref_fast){.ftz = strstr(meaning, "_ftz") != NULL};
    if (find_function(f, meaning))
        return make_values(f);
    if (is_by_halves(meaning) && make_halves(f, slow, user))
        return true;
    ref_fast_end(f);
    return false;
}

void ref_fast_end(ref_fast *f)
{
    free(f->values);
    free(f->halves[0]);
    free(f->halves[1]);
    f->halves[0] = f->halves[1] = NULL;
    f->values = NULL;
}

bool ref_fast_eval(const ref_fast *f, const uint64_t *src, uint64_t *dst)
{
    switch (f->kind) {
    case REF_FAST_FUNCTION: return apply(f, src[0], dst);
    case REF_FAST_OPERATION: return operate(f, src, dst);
    default: *dst = f->zero ^ f->halves[0][src[0] & 0xffff] ^ f->halves[1][src[0] >> 16 & 0xffff]; return true;
    }
}
