/* reference.c - names, formats and rounding that the families of the reference share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "ref_internal.h"

/* ---- names ---- */

static void parse_name(const char *text, ref_name *name)
{
    name->count = 0;
    while (*text && name->count < REF_MAX_WORDS) {
        size_t n = strcspn(text, "_"), keep = n < REF_WORD - 1 ? n : REF_WORD - 1;
        memcpy(name->word[name->count], text, keep);
        name->word[name->count++][keep] = 0;
        text += n + (text[n] == '_');
    }
}

bool ref_has(const ref_name *name, const char *word)
{
    for (int i = 0; i < name->count; i++)
        if (!strcmp(name->word[i], word))
            return true;
    return false;
}

const char *ref_last(const ref_name *name, int from_end)
{
    return from_end < name->count ? name->word[name->count - 1 - from_end] : "";
}

bool ref_is(const ref_name *name, int i, const char *word)
{
    return i < name->count && !strcmp(name->word[i], word);
}

ref_type ref_parse_type(const char *word)
{
    ref_type t = {0, 0, 1};
    if (!strcmp(word, "pred"))
        return (ref_type){'p', 1, 1};
    const char *digits = word + strspn(word, "bfus");
    size_t letters = (size_t)(digits - word);
    bool brain = letters == 2 && word[0] == 'b' && word[1] == 'f';
    if ((letters != 1 && !brain) || *digits < '1' || *digits > '9')
        return t;
    char *end;
    t.bits = (int)strtol(digits, &end, 10);
    if (*end == 'x')
        t.lanes = (int)strtol(end + 1, &end, 10);
    t.class = *end ? 0 : brain ? 'B' : word[0];
    return t;
}

uint64_t ref_mask(int bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

int64_t ref_sext(uint64_t x, int bits)
{
    uint64_t top = 1ull << (bits - 1);
    x &= ref_mask(bits);
    return (int64_t)((x ^ top) - top);
}

__int128 ref_integer(uint64_t x, ref_type t)
{
    return t.class == 's' ? (__int128)ref_sext(x, t.bits) : (__int128)(x & ref_mask(t.bits));
}

typedef bool family(const ref_name *, const uint64_t *, uint64_t *);

bool ref_eval(const char *meaning, const uint64_t *src, uint64_t *dst)
{
    static family *const families[] = {ref_compare, ref_video, ref_cvt, ref_move, ref_logic, ref_half, ref_float, ref_int};
    /* Of names that were met: their words and families, which do not depend on the values. */
    typedef struct entry { char text[128]; ref_name name; family *known; } entry;
    static _Thread_local entry seen[64];
    uint32_t hash = 0;
    for (const char *p = meaning; *p; p++)
        hash = hash * 31 + (uint8_t)*p;
    entry *const s = &seen[hash % 64];
    if (strcmp(s->text, meaning)) {
        if (strlen(meaning) >= sizeof s->text)
            return false;
        strcpy(s->text, meaning);
        parse_name(meaning, &s->name);
        s->known = NULL;
    }
    if (s->known)
        return s->known(&s->name, src, dst);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (families[i](&s->name, src, dst)) {
            s->known = families[i];
            return true;
        }
    return false;
}

/* ---- formats ---- */

static const ref_format formats[] = {
    {"f16", 5, 10, 15, false, 0x7fff, 0x7bff},
    {"bf16", 8, 7, 127, false, 0x7fff, 0x7f7f},
    {"f32", 8, 23, 127, false, 0x7fffffff, 0x7f7fffff},
    {"f64", 11, 52, 1023, false, 0x7ff8000000000000, 0x7fefffffffffffff},
    {"tf32", 8, 10, 127, false, 0x3ffff, 0x3fbff}, /* without the 13 low bits of its register */
    {"e4m3", 4, 3, 7, true, 0x7f, 0x7e},
    {"e5m2", 5, 2, 15, false, 0x7f, 0x7b},
    {"e2m3", 2, 3, 1, true, 0, 0x1f},
    {"e3m2", 3, 2, 3, true, 0, 0x1f},
    {"e2m1", 2, 1, 1, true, 0, 0x07},
};

const ref_format *ref_find_format(const char *name, int length)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if ((int)strlen(formats[i].name) == length && !strncmp(formats[i].name, name, (size_t)length))
            return &formats[i];
    return NULL;
}

uint64_t ref_sign_bit(const ref_format *f) { return 1ull << (f->exponent + f->fraction); }

bool ref_is_nan(const ref_format *f, uint64_t code)
{
    uint64_t size = code & (ref_sign_bit(f) - 1);
    if (f->finite)
        return f->nan && size == f->nan;
    return size > (ref_mask(f->exponent) << f->fraction);
}

double ref_value(const ref_format *f, uint64_t code)
{
    uint64_t part = code & ref_mask(f->fraction), e = code >> f->fraction & ref_mask(f->exponent);
    double x;
    if (ref_is_nan(f, code))
        return NAN;
    if (!f->finite && e == ref_mask(f->exponent))
        x = INFINITY;
    else
        x = ldexp((double)(e ? part + (1ull << f->fraction) : part), (int)(e ? e : 1) - f->bias - f->fraction);
    return code & ref_sign_bit(f) ? -x : x;
}

/* The code of a number that the format holds exactly. */
static uint64_t exact_code(const ref_format *f, double x)
{
    uint64_t sign = signbit(x) ? ref_sign_bit(f) : 0;
    if (isnan(x))
        return f->nan ? f->nan : f->largest;
    x = fabs(x);
    if (isinf(x))
        return sign | (ref_mask(f->exponent) << f->fraction);
    if (x == 0)
        return sign;
    int e;
    frexp(x, &e);
    e += f->bias - 1; /* biased exponent of the leading bit */
    if (e < 1)
        return sign | (uint64_t)ldexp(x, f->bias - 1 + f->fraction);
    uint64_t significand = (uint64_t)ldexp(x, f->bias + f->fraction - e);
    return sign | (((uint64_t)(e - 1) << f->fraction) + significand);
}

/* ---- rounding by MPFR ---- */

mpfr_rnd_t ref_mpfr_rounding(ref_rounding r)
{
    return r == REF_RZ ? MPFR_RNDZ : r == REF_RM ? MPFR_RNDD : r == REF_RP ? MPFR_RNDU : MPFR_RNDN;
}

/* Scratch numbers of a thread: NUMBERS of 64 bits, and one of each precision that was asked for. */
enum { NUMBERS = 6, PRECISIONS = 64 };
static _Thread_local mpfr_t numbers[NUMBERS], results[PRECISIONS];
static _Thread_local bool numbers_ready, result_ready[PRECISIONS];

mpfr_ptr ref_number(int i)
{
    for (int k = 0; !numbers_ready && k < NUMBERS; k++)
        mpfr_init2(numbers[k], 64);
    numbers_ready = true;
    return numbers[i];
}

mpfr_ptr ref_result(const ref_format *f)
{
    int p = f->fraction + 1;
    if (!result_ready[p])
        mpfr_init2(results[p], p);
    result_ready[p] = true;
    return results[p];
}

void ref_thread_end(void)
{
    for (int k = 0; numbers_ready && k < NUMBERS; k++)
        mpfr_clear(numbers[k]);
    for (int p = 0; p < PRECISIONS; p++)
        if (result_ready[p])
            mpfr_clear(results[p]);
    numbers_ready = false;
    memset(result_ready, 0, sizeof result_ready);
    mpfr_free_cache();
}

uint64_t ref_finish(const ref_format *f, mpfr_t r, int ternary, mpfr_rnd_t rounding)
{
    mpfr_exp_t old_min = mpfr_get_emin(), old_max = mpfr_get_emax();
    bool was_inf = mpfr_inf_p(r) != 0;
    /* the formats without infinity have numbers in the top exponent */
    int top = (int)ref_mask(f->exponent) - (f->finite ? 0 : 1);
    mpfr_set_emin(2 - f->bias - f->fraction);
    mpfr_set_emax(top - f->bias + 1);
    ternary = mpfr_check_range(r, ternary, rounding);
    mpfr_subnormalize(r, ternary, rounding);
    mpfr_set_emin(old_min);
    mpfr_set_emax(old_max);
    double x = mpfr_get_d(r, MPFR_RNDN);
    if (f->finite && !isnan(x)) {
        uint64_t sign = signbit(x) ? ref_sign_bit(f) : 0;
        uint64_t code = isinf(x) || was_inf ? f->largest : exact_code(f, fabs(x));
        return sign | (code > f->largest ? f->largest : code);
    }
    return exact_code(f, x);
}

uint64_t ref_round_by_mpfr(const ref_format *f, double x, ref_rounding rounding)
{
    mpfr_rnd_t rnd = ref_mpfr_rounding(rounding);
    mpfr_set_d(ref_number(0), x, MPFR_RNDN);
    mpfr_ptr r = ref_result(f);
    int ternary = mpfr_set(r, ref_number(0), rnd);
    return ref_finish(f, r, ternary, rnd);
}

/* ---- rounding by search ---- */

uint64_t ref_round_by_search(const ref_format *f, double x, ref_rounding rounding)
{
    uint64_t sign = signbit(x) ? ref_sign_bit(f) : 0, low = 0, high = f->largest;
    if (isnan(x))
        return f->nan ? f->nan : f->largest;
    double size = fabs(x);
    if (isinf(x))
        return sign | (f->finite ? f->largest : f->largest + 1);
    bool outward = rounding == REF_RM ? signbit(x) != 0 : rounding == REF_RP ? signbit(x) == 0 : false;
    if (size > ref_value(f, high)) {
        /* beyond the largest: the next step would be `over`, which stands for infinity */
        double largest = ref_value(f, high), over = largest + (largest - ref_value(f, high - 1));
        bool up = rounding == REF_RZ ? false : rounding == REF_RM || rounding == REF_RP ? outward : size - largest >= over - size;
        return sign | (up && !f->finite ? high + 1 : high);
    }
    while (high - low > 1) { /* value(low) <= size <= value(high) */
        uint64_t middle = low + (high - low) / 2;
        if (ref_value(f, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    double below = size - ref_value(f, low), above = ref_value(f, high) - size;
    if (below == 0)
        return sign | low;
    if (above == 0)
        return sign | high;
    if (rounding == REF_RN)
        return sign | (below < above || (below == above && !(low & 1)) ? low : high);
    if (rounding == REF_RNA)
        return sign | (below < above ? low : high);
    return sign | (outward ? high : low);
}

/* ---- modifiers ---- */

ref_rounding ref_name_rounding(const ref_name *name)
{
    return ref_has(name, "rz") ? REF_RZ : ref_has(name, "rm") ? REF_RM : ref_has(name, "rp") ? REF_RP : ref_has(name, "rna") ? REF_RNA : REF_RN;
}

uint64_t ref_flush(const ref_format *f, uint64_t code)
{
    bool subnormal = !(code >> f->fraction & ref_mask(f->exponent));
    return subnormal ? code & ref_sign_bit(f) : code;
}

uint64_t ref_saturate(const ref_format *f, uint64_t code)
{
    double x = ref_value(f, code);
    return !(x > 0) ? 0 : x > 1 ? exact_code(f, 1) : code;
}

uint64_t ref_relu(const ref_format *f, uint64_t code)
{
    return !ref_is_nan(f, code) && (code & ref_sign_bit(f)) ? 0 : code;
}

uint64_t ref_satfinite(const ref_format *f, uint64_t code)
{
    uint64_t sign = code & ref_sign_bit(f), size = code - sign;
    return size == f->largest + 1 && !f->finite ? sign | f->largest : code;
}
