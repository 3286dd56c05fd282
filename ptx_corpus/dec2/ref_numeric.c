/* Numbers for the dec2 reference. See ref_numeric.h for what each function promises. */
#include "ref_numeric.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- f16 ----------------------------------------------------------------------------- */

bool f16_is_nan(f16 v) { return (v & 0x7FFF) > 0x7C00; }

double f16_to_double(f16 v)
{
    unsigned e = v >> 10 & 31, m = v & 1023;
    double magnitude;

    if (e == 31) magnitude = m ? (double)NAN : (double)INFINITY;
    else if (e == 0) magnitude = m * 0x1p-24;
    else {
        uint64_t u = (uint64_t)(e - 15 + 1023) << 52 | (uint64_t)m << 42;
        memcpy(&magnitude, &u, sizeof u);
    }
    return v & 0x8000 ? -magnitude : magnitude;
}

f16 f16_from_double(double v)
{
    uint64_t u;
    double a = fabs(v);

    if (isnan(v)) return 0x7FFF;
    memcpy(&u, &v, sizeof u);
    f16 sign = (f16)(u >> 48 & 0x8000);
    if (a < 0x1p-14) return sign | (f16)rint(a * 0x1p24);
    if (a >= 65520.0) return sign | 0x7C00;
    memcpy(&u, &a, sizeof u);
    u += 0x1FFFFFFFFFF + (u >> 42 & 1);
    return sign | (f16)((u >> 42) - ((uint64_t)(1023 - 15) << 10));
}

/* Sums and products of two f16 are exact in double, so one rounding remains. */
f16 f16_add(f16 a, f16 b) { return f16_from_double(f16_to_double(a) + f16_to_double(b)); }
f16 f16_sub(f16 a, f16 b) { return f16_from_double(f16_to_double(a) - f16_to_double(b)); }
f16 f16_mul(f16 a, f16 b) { return f16_from_double(f16_to_double(a) * f16_to_double(b)); }

/* The product is exact; its sum with c may not be, so that is rounded to odd (Boldo and
 * Melquiond, "When double rounding is odd", 2005): then the rounding to f16 is the only one. */
f16 f16_fma(f16 a, f16 b, f16 c)
{
    double p = f16_to_double(a) * f16_to_double(b), q = f16_to_double(c), s = p + q;

    if (isfinite(s)) {
        double bb = s - p, err = (p - (s - bb)) + (q - bb);
        uint64_t u;
        memcpy(&u, &s, sizeof u);
        if (err != 0 && !(u & 1)) s = nextafter(s, err > 0 ? (double)INFINITY : -(double)INFINITY);
    }
    return f16_from_double(s);
}

static f16 pick(f16 a, f16 b, bool larger)
{
    if (f16_is_nan(a)) return f16_is_nan(b) ? 0x7FFF : b;
    if (f16_is_nan(b)) return a;
    double x = f16_to_double(a), y = f16_to_double(b);
    if (x == y) /* orders -0 below +0 */
        return larger == ((a & 0x8000) == 0) ? a : b;
    return larger == (x > y) ? a : b;
}
f16 f16_max(f16 a, f16 b) { return pick(a, b, true); }
f16 f16_min(f16 a, f16 b) { return pick(a, b, false); }

/* ---- e4m3 ---------------------------------------------------------------------------- */

double e4m3_to_double(e4m3 v)
{
    int e = v >> 3 & 15, m = v & 7;
    double magnitude = e ? ldexp(8 + m, e - 10) : ldexp(m, -9);

    if ((v & 0x7F) == 0x7F) return (double)NAN;
    return v & 0x80 ? -magnitude : magnitude;
}

f16 e4m3_to_f16(e4m3 v) { return f16_from_double(e4m3_to_double(v)); }

e4m3 e4m3_from_f16(f16 v)
{
    double a = fabs(f16_to_double(v));
    e4m3 sign = v & 0x8000 ? 0x80 : 0;
    int bits, e;

    if (f16_is_nan(v)) return 0x7F;
    if (a >= 448.0) return sign | 0x7E;
    if (a < 0x1p-6) return sign | (e4m3)rint(a * 0x1p9);
    (void)frexp(a, &e); /* a = f * 2^e, f in [0.5, 1) */
    bits = ((e + 6) << 3) + (int)rint(ldexp(a, 4 - e)) - 8;
    return sign | (e4m3)(bits > 0x7E ? 0x7E : bits);
}

/* ---- f32 ----------------------------------------------------------------------------- */

static float flush(float x) { return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x; }
/* Double to f32 and flush: a result that rounds to below the least normal is subnormal. */
static float narrow(double x) { return flush((float)x); }

float ref_rsqrt(float x) { return narrow(1.0 / sqrt((double)flush(x))); }
float ref_rcp(float x) { return narrow(1.0 / (double)flush(x)); }
float ref_ex2(float x) { return narrow(exp2((double)flush(x))); }
float ref_add_ftz(float a, float b) { return narrow((double)flush(a) + (double)flush(b)); }
float ref_mul_ftz(float a, float b) { return narrow((double)flush(a) * (double)flush(b)); }

float ref_div(float a, float b)
{
    double magnitude = fabs((double)b);

    if (magnitude > 0x1p126 && magnitude < 0x1p128 && !isnan(a)) {
        if (isinf(a)) return NAN;
        return copysignf(0.0f, copysignf(1.0f, a) * copysignf(1.0f, b));
    }
    return narrow((double)flush(a) / (double)flush(b));
}

/* ---- mma ----------------------------------------------------------------------------- */

const struct ref_mma_parameters ref_mma_table[REF_MODELS] = {
    [REF_ADA] = {"ada", 13, 16, false},
    [REF_HOPPER] = {"hopper", 13, 32, true},
    [REF_BLACKWELL] = {"blackwell", 25, 32, false},
    [REF_AMPERE] = {"ampere", 24, 16, true},
    [REF_IEEE] = {"ieee", 0, 32, false},
};

int ref_channel(int position)
{
    int word = position >> 2, byte = position & 3;
    return 8 * (2 * (word >> 2) + (byte >> 1)) + 2 * (word & 3) + (byte & 1);
}

int ref_position(int channel)
{
    int tile = channel >> 3, pair = (channel & 7) >> 1;
    return 4 * (4 * (tile >> 1) + pair) + 2 * (tile & 1) + (channel & 1);
}

/* An e4m3 matrix as signed significand (units of 2^-3) and exponent, row by row, k in
 * instruction order. A zero gets an exponent so low that it never is the largest. */
struct decoded {
    int16_t *significand, *exponent;
    float *value;
    bool *has_nan; /* one a row */
};
enum { ZERO_EXPONENT = -100 };

static void decode(struct decoded *d, int rows, int k, const e4m3 *v)
{
    size_t n = (size_t)rows * (size_t)k;

    d->significand = malloc(n * sizeof *d->significand);
    d->exponent = malloc(n * sizeof *d->exponent);
    d->value = malloc(n * sizeof *d->value);
    d->has_nan = calloc((size_t)rows, sizeof *d->has_nan);
    if (!d->significand || !d->exponent || !d->value || !d->has_nan) exit(2);
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < k; i++) {
            e4m3 x = v[r * k + (i & ~31) + ref_channel(i & 31)];
            int e = x >> 3 & 15, m = (e ? 8 : 0) + (x & 7), at = r * k + i;
            d->significand[at] = (int16_t)(x & 0x80 ? -m : m);
            d->exponent[at] = (int16_t)(m == 0 ? ZERO_EXPONENT : e ? e - 7 : -6);
            d->value[at] = (float)e4m3_to_double(x);
            d->has_nan[r] |= (x & 0x7F) == 0x7F;
        }
    }
}

static void release(struct decoded *d)
{
    free(d->significand);
    free(d->exponent);
    free(d->value);
    free(d->has_nan);
}

/* `magnitude` >> `by`, cut toward zero. */
static int cut(int magnitude, int by) { return magnitude >> (by > 31 ? 31 : by); }

/* One fused step: steps 1 to 4 of the model. An exact sum of zero is +0. */
static f16 dot_add(const struct ref_mma_parameters *p, const int16_t *as, const int16_t *ae, const int16_t *bs,
                   const int16_t *be, f16 c)
{
    int f = p->fraction_bits, ce = c >> 10 & 31, cm = (ce ? 1024 : 0) + (c & 1023);
    int top = cm == 0 ? 2 * ZERO_EXPONENT : ce ? ce - 15 : -14;
    int c_exponent = top;
    int64_t sum = 0;

    for (int i = 0; i < p->k_step; i++) {
        int e = ae[i] + be[i];
        top = e > top ? e : top;
    }
    for (int i = 0; i < p->k_step; i++) {
        int product = as[i] * bs[i];
        int term = cut(abs(product) << (f - 6), top - ae[i] - be[i]);
        sum += product < 0 ? -term : term;
    }
    int term = cut(cm << (f - 10), top - c_exponent);
    sum += c & 0x8000 ? -term : term;
    return sum ? f16_from_double(ldexp((double)sum, top - f)) : 0;
}

static f16 chain_f32(const float *a, const float *b, f16 c)
{
    float acc = (float)f16_to_double(c);

    for (int i = 0; i < 32; i++) /* the product is exact, so this is an fma */
        acc = (float)((double)acc + (double)a[i] * (double)b[i]);
    return f16_from_double((double)acc);
}

static f16 one_element(const struct ref_mma_parameters *p, const struct decoded *a, const struct decoded *b, int ra,
                       int rb, int k, f16 c)
{
    if (a->has_nan[ra] || b->has_nan[rb] || f16_is_nan(c)) return 0x7FFF;
    for (int i = 0; i < k; i += p->k_step) {
        if ((c & 0x7C00) == 0x7C00) /* fp8 products are finite: an infinity stays */
            return c;
        int at = ra * k + i, bt = rb * k + i;
        if (p->fraction_bits == 0) c = chain_f32(a->value + at, b->value + bt, c);
        else c = dot_add(p, a->significand + at, a->exponent + at, b->significand + bt, b->exponent + bt, c);
    }
    return c;
}

void ref_mma(enum ref_mma_model model, int m, int n, int k, const e4m3 *a, const e4m3 *b, f16 *d)
{
    struct decoded da, db;

    decode(&da, m, k, a);
    decode(&db, n, k, b);
    for (int r = 0; r < m; r++) {
        for (int c = 0; c < n; c++) d[r * n + c] = one_element(&ref_mma_table[model], &da, &db, r, c, k, d[r * n + c]);
    }
    release(&da);
    release(&db);
}

/* ---- textures ------------------------------------------------------------------------ */

static int clamp_to(int v, int extent) { return v < 0 ? 0 : v >= extent ? extent - 1 : v; }

void ref_fetch(const struct ref_texture *tex, int x, int y, f16 out[4])
{
    size_t at = (size_t)clamp_to(y, tex->height) * (size_t)tex->width + (size_t)clamp_to(x, tex->width);
    memcpy(out, tex->texels + 4 * at, 4 * sizeof *out);
}

static float lerp(float a, float b, float w)
{
    float left = (float)((double)a * (1.0 - (double)w)), right = (float)((double)b * (double)w);
    return (float)((double)left + (double)right);
}

/* Integer part and 8-bit weight of one coordinate. */
static int split(float coordinate, float *weight)
{
    double at = (double)coordinate - 0.5, whole = floor(at);
    *weight = (float)(floor((at - whole) * 256.0 + 0.5) / 256.0);
    return (int)whole;
}

void ref_sample(const struct ref_texture *tex, float x, float y, f16 out[4])
{
    float wx, wy;
    int ix = split(x, &wx), iy = split(y, &wy);
    f16 t[2][2][4];

    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) ref_fetch(tex, ix + i, iy + j, t[j][i]);
    }
    for (int c = 0; c < 4; c++) {
        float row[2];
        for (int j = 0; j < 2; j++)
            row[j] = lerp((float)f16_to_double(t[j][0][c]), (float)f16_to_double(t[j][1][c]), wx);
        out[c] = f16_from_double((double)lerp(row[0], row[1], wy));
    }
}
