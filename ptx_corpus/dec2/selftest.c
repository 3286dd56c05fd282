/*
 * dec2_selftest: holds the reference against plain statements of the same things, and checks
 * that the data exercise it: each of the 38 phases, zeroed, changes the outputs; the picture
 * gets better; the accumulator models can be told apart. Prints one line a check; exit 1 on a failure.
 */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t seed = 2024;
static int failures;

static void check(int ok, const char *what, double detail)
{
    printf("%s %s (%g)\n", ok ? "ok  " : "FAIL", what, detail);
    failures += !ok;
}

static void *make(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) exit(2);
    return p;
}

/* ---- numbers ------------------------------------------------------------------------- */

/* Every f16 survives the trip; every f16 packs to a nearest e4m3, the even one of two. */
static void check_conversions(void)
{
    int trips = 0, packs = 0;

    for (int i = 0; i < 65536; i++) {
        f16 v = (f16)i;
        double x = f16_to_double(v), best = INFINITY;
        int nearest = 0, ties = 0;
        e4m3 got = e4m3_from_f16(v);
        if (f16_is_nan(v)) {
            packs += got != 0x7F;
            continue;
        }
        trips += f16_from_double(x) != v;
        for (int b = 0; b < 0x7F; b++) {
            double distance = fabs(e4m3_to_double((e4m3)b) - fmin(fabs(x), 448));
            ties = distance == best ? 1 : distance < best ? 0 : ties;
            nearest = distance < best || (ties && distance == best && b % 2 == 0) ? b : nearest;
            best = fmin(best, distance);
        }
        packs += got != (nearest | (v >> 8 & 0x80));
    }
    check(trips == 0, "f16 to double and back, all", trips);
    check(packs == 0, "f16 to e4m3 against a search of all values", packs);
}

/* Witnesses: roads through f32 round twice and get these wrong. */
static void check_double_rounding(void)
{
    f16 a = f16_from_double(1 + 0x1p-10), b = f16_from_double(1 - 0x1p-10);
    /* 2051 - 2^-20 lies below the tie of 2050 and 2052; in f32 it becomes the tie. */
    check(f16_fma(a, b, f16_from_double(2050)) == f16_from_double(2050), "fma rounds once", 2050);
    check(f16_from_double(2049 + 0x1p-28) == f16_from_double(2050), "double to f16 rounds once", 2050);
    check(f16_from_double(2049) == f16_from_double(2048), "a tie goes to even", 2048);
}

/* The models once more, in doubles and with division instead of shifts. */
static double cut(double v, double unit) { return trunc(v / unit) * unit; }
static f16 plain_step(int fraction_bits, int n, const e4m3 *a, const e4m3 *b, f16 c)
{
    double exponent[33], value[33], sum = 0;
    int top = -1000;

    for (int i = 0; i <= n; i++) {
        if (i < n) {
            int ea = a[i] >> 3 & 15, eb = b[i] >> 3 & 15;
            exponent[i] = (ea ? ea : 1) + (eb ? eb : 1) - 14;
            value[i] = e4m3_to_double(a[i]) * e4m3_to_double(b[i]);
        } else {
            exponent[i] = (c >> 10 & 31) ? (c >> 10 & 31) - 15 : -14;
            value[i] = f16_to_double(c);
        }
        if (value[i] != 0 && exponent[i] > top) top = (int)exponent[i];
    }
    for (int i = 0; i <= n && top > -1000; i++) sum += cut(value[i], ldexp(1, top - fraction_bits));
    return sum == 0 ? 0 : f16_from_double(sum);
}

static void check_mma(void)
{
    int bad = 0, trials = 4000;

    for (int i = 0; i < trials; i++) {
        e4m3 a[32], b[32], pa[32], pb[32];
        f16 c, got;
        enum ref_mma_model model = (enum ref_mma_model)(i % REF_IEEE);
        for (int k = 0; k < 32; k++) {
            uint64_t r = picture_hash((uint64_t)(i * 64 + k));
            unsigned narrow = i & 4 ? 0x87 : 0xFF, base = i & 4 ? 0x38 : 0;
            a[k] = (e4m3)(((r & narrow) | base) % 255);
            b[k] = (e4m3)(((r >> 8 & narrow) | base) % 255);
            a[k] = (a[k] & 0x7F) == 0x7F || (i & 8 && r >> 16 & 1) ? 0 : a[k];
            b[k] = (b[k] & 0x7F) == 0x7F ? 0 : b[k];
        }
        for (int p = 0; p < 32; p++) pa[p] = a[ref_channel(p)], pb[p] = b[ref_channel(p)];
        c = got = (f16)(picture_hash((uint64_t)i << 32) & 0xBBFF);
        ref_mma(model, 1, 1, 32, a, b, &got);
        int step = ref_mma_table[model].k_step;
        for (int k = 0; k < 32; k += step)
            c = (c & 0x7C00) == 0x7C00 ? c : plain_step(ref_mma_table[model].fraction_bits, step, pa + k, pb + k, c);
        bad += got != c;
    }
    check(bad == 0, "mma models against doubles", bad);
}

/* The image has no gaps and no overlaps: any bytes survive unpacking and packing. */
static void check_image(void)
{
    uint8_t *image = make(1, REF_WEIGHT_BYTES), *back = make(1, REF_WEIGHT_BYTES);
    struct ref_weights *w = make(1, sizeof *w);

    for (int i = 0; i < REF_WEIGHT_BYTES; i++) image[i] = (uint8_t)picture_hash((uint64_t)i);
    ref_weights_unpack(w, image);
    ref_weights_pack(w, back);
    check(memcmp(image, back, REF_WEIGHT_BYTES) == 0, "weight image, 212768 bytes, back and forth", REF_WEIGHT_BYTES);
    free(image);
    free(back);
    free(w);
}

/* ---- the network --------------------------------------------------------------------- */

struct result {
    size_t pixels;
    e4m3 *features;
    f16 *output;
};

static struct result run(const struct scene *s, enum ref_mma_model model, int zero_phase)
{
    const struct ref_options options = {model, zero_phase};
    struct result r = {.pixels = (size_t)s->ref.width * (size_t)s->ref.height};

    r.features = make(r.pixels, REF_CHANNELS);
    r.output = make(4 * r.pixels, sizeof(f16));
    ref_run(&s->ref, &options, r.features, r.output);
    return r;
}

static void release(struct result *r)
{
    free(r->features);
    free(r->output);
}

/* Bytes of the features and values of the surface that differ. */
static int changed(const struct result *a, const struct result *b)
{
    int n = 0;
    for (size_t i = 0; i < REF_CHANNELS * a->pixels; i++) n += a->features[i] != b->features[i];
    for (size_t i = 0; i < 4 * a->pixels; i++) n += a->output[i] != b->output[i];
    return n;
}

static void check_phases(const uint8_t *weights)
{
    struct case_spec spec = case_specs[2];
    struct scene s;

    spec.clean_samples = 16;
    scene_build(&s, &spec, weights, seed);
    struct result whole = run(&s, REF_ADA, 0);
    for (int p = 1; p <= REF_PHASES; p++) {
        char what[64];
        struct result part = run(&s, REF_ADA, p);
        int n = changed(&whole, &part);
        snprintf(what, sizeof what, "zeroing P%d changes the outputs", p);
        check(n > 0, what, n);
        release(&part);
    }
    for (int m = REF_ADA + 1; m < REF_MODELS; m++) {
        char what[64];
        struct result other = run(&s, (enum ref_mma_model)m, 0);
        int n = changed(&whole, &other);
        snprintf(what, sizeof what, "the %s model differs from ada", ref_mma_table[m].name);
        check(n > 0, what, n);
        release(&other);
    }
    release(&whole);
    scene_free(&s);
}

/* Mean square error of what a screen shows, in dB. */
static double decibel(const double *clean, const double *picture, const f16 *output, size_t pixels)
{
    double sum = 0;
    for (size_t i = 0; i < 3 * pixels; i++) {
        double v = output ? f16_to_double(output[i / 3 * 4 + i % 3]) : picture[i];
        sum += pow(pow(fmin(fmax(v, 0), 1), 1 / 2.2) - pow(fmin(fmax(clean[i], 0), 1), 1 / 2.2), 2);
    }
    return -10 * log10(sum / (3 * (double)pixels));
}

static void check_picture(const uint8_t *weights)
{
    struct scene s;
    int alpha = 0;

    scene_build(&s, &case_specs[1], weights, seed);
    struct result r = run(&s, REF_ADA, 0);
    double gain = decibel(s.clean, NULL, r.output, r.pixels) - decibel(s.clean, s.noisy, NULL, r.pixels);
    check(gain > 3, "the 32x32 case gains more than 3 dB", gain);
    for (size_t i = 0; i < r.pixels; i++) alpha += r.output[4 * i + 3] != 0;
    check(alpha == 0, "the fourth channel is zero", alpha);
    release(&r);
    scene_free(&s);
}

int main(void)
{
    struct ref_weights *w = make(1, sizeof *w);
    uint8_t *image = make(1, REF_WEIGHT_BYTES);

    network_build(w, seed);
    ref_weights_pack(w, image);
    check_conversions();
    check_double_rounding();
    check_mma();
    check_image();
    check_phases(image);
    check_picture(image);
    printf("%d failed\n", failures);
    free(w);
    free(image);
    return failures != 0;
}
