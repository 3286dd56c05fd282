/*
 * dec2_generate [directory] [case ...]: makes the data of the dec2 cases (default: all, here).
 *
 * For each case NAME.json and NAME.npz (inputs, and the reference's outputs under the Ada
 * model); dec2-weights.npz, which all share; and dec2.png: noisy, history, output, clean.
 */
#include "display.h"
#include "files.h"
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t seed = 2024;

static void die(const char *what, const char *path)
{
    fprintf(stderr, "dec2_generate: %s %s\n", what, path);
    exit(1);
}

/* ---- pictures ------------------------------------------------------------------------ */

static double psnr(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += pow(displayed(a[i]) - displayed(b[i]), 2);
    return -10 * log10(sum / (double)n);
}

/* Linear rgb of a 4-channel f16 picture, with the additive term unless that is NULL. */
static double *linear(const f16 *texels, const f16 *additive, size_t pixels)
{
    double *rgb = malloc(3 * pixels * sizeof *rgb);
    if (!rgb) exit(2);
    for (size_t i = 0; i < 3 * pixels; i++) {
        size_t at = i / 3 * 4 + i % 3;
        rgb[i] = f16_to_double(texels[at]) + (additive && !f16_is_nan(additive[at]) ? f16_to_double(additive[at]) : 0);
    }
    return rgb;
}

static void write_panels(const char *path, int w, int h, const double *panel[], int n)
{
    uint8_t *rgb = malloc(3 * (size_t)w * (size_t)h * (size_t)n);
    if (!rgb) exit(2);
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < 3 * w * h; i++) {
            int y = i / (3 * w), x = i % (3 * w);
            rgb[(y * n + p) * 3 * w + x] = (uint8_t)lrint(255 * displayed(panel[p][i]));
        }
    }
    if (png_write(path, n * w, h, rgb)) die("cannot write", path);
    free(rgb);
}

/* ---- case files ---------------------------------------------------------------------- */

static void write_texture(FILE *f, const char *npz, const char *name, const char *filter, const char *end)
{
    fprintf(f, "    \"%s\": {\"npz\": \"%s.npz\", \"member\": \"%s\", \"format\": \"f16\", \"address\": \"clamp\",\n",
            name, npz, name);
    fprintf(f, "      \"filter\": \"%s\", \"normalized_coords\": false, \"read\": \"element\"}%s\n", filter, end);
}

static void write_json(const char *path, const struct case_spec *spec, const struct ref_scene *s)
{
    FILE *f = fopen(path, "w");
    const char *n = spec->name;

    if (!f) die("cannot write", path);
    fprintf(f, "{\n  \"ptxbridge_case\": 1,\n  \"description\": \"%s\",\n", spec->description);
    fprintf(f, "  \"ptx\": \"dec2.ptx\",\n  \"entry\": \"cuda_dldn_engine_swin_dec2_kernel\",\n");
    fprintf(f, "  \"grid\": [%d, %d, 1], \"block\": [32, 1, 4],\n  \"mma_model\": \"ada\",\n", s->grid_x, s->grid_y);
    fprintf(f, "  \"buffers\": {\n    \"low\": {\"npz\": \"%s.npz\", \"member\": \"low\"},\n", n);
    fprintf(f, "    \"skip\": {\"npz\": \"%s.npz\", \"member\": \"skip\"},\n", n);
    fprintf(f, "    \"weights\": {\"npz\": \"dec2-weights.npz\", \"member\": \"weights\"},\n");
    fprintf(f, "    \"features\": {\"zeros\": {\"dtype\": \"u8\", \"shape\": [3, %d, %d, 32]}}\n  },\n", s->height,
            s->width);
    fprintf(f, "  \"textures\": {\n");
    write_texture(f, n, "colour", "linear", ",");
    write_texture(f, n, "history", "point", ",");
    write_texture(f, n, "additive", "point", "");
    fprintf(f, "  },\n  \"surfaces\": {\"output\": {\"zeros\": {\"dtype\": \"f16\", \"shape\": [%d, %d, 4]}}},\n",
            s->height, s->width);
    fprintf(f, "  \"params\": [{\"struct\": {\"size\": 144, \"fields\": [\n");
    fprintf(f, "    {\"offset\": 0, \"u32\": [%d, %d]},\n", s->width, s->height);
    fprintf(f, "    {\"offset\": 8, \"buffer\": \"low\"},\n    {\"offset\": 24, \"buffer\": \"skip\"},\n");
    fprintf(f, "    {\"offset\": 40, \"buffer\": \"weights\"},\n    {\"offset\": 48, \"buffer\": \"features\"},\n");
    fprintf(f, "    {\"offset\": 80, \"u16\": [%d, %d]},\n", s->origin_x, s->origin_y);
    fprintf(f, "    {\"offset\": 88, \"texture\": \"colour\"},\n    {\"offset\": 96, \"texture\": \"history\"},\n");
    fprintf(f, "    {\"offset\": 104, \"texture\": \"additive\"},\n    {\"offset\": 112, \"surface\": \"output\"},\n");
    fprintf(f, "    {\"offset\": 136, \"f32\": [%g, %g]}\n  ]}}],\n", (double)s->scale_x, (double)s->scale_y);
    fprintf(f, "  \"expect\": [\n");
    fprintf(
        f, "    {\"surface\": \"output\", \"npz\": \"%s.npz\", \"member\": \"output\", \"tolerance\": {\"ulp\": 0}},\n",
        n);
    fprintf(
        f,
        "    {\"buffer\": \"features\", \"npz\": \"%s.npz\", \"member\": \"features\", \"tolerance\": {\"ulp\": 0}}\n",
        n);
    fprintf(f, "  ]\n}\n");
    if (fclose(f)) die("cannot write", path);
}

static void write_npz(const char *path, const struct ref_scene *s, const e4m3 *features, const f16 *output)
{
    int w = s->width, h = s->height, tw = s->colour.width, th = s->colour.height;
    struct npz *z = npz_create(path);

    if (!z) die("cannot write", path);
    npz_add(z, "low", "|u1", (int[4]){4, (h + 1) / 2, (w + 1) / 2, 32}, s->low);
    npz_add(z, "skip", "|u1", (int[4]){3, h, w, 32}, s->skip);
    npz_add(z, "colour", "<f2", (int[4]){th, tw, 4, 0}, s->colour.texels);
    npz_add(z, "history", "<f2", (int[4]){h, w, 4, 0}, s->history.texels);
    npz_add(z, "additive", "<f2", (int[4]){h, w, 4, 0}, s->additive.texels);
    npz_add(z, "features", "|u1", (int[4]){3, h, w, 32}, features);
    npz_add(z, "output", "<f2", (int[4]){h, w, 4, 0}, output);
    if (npz_close(z)) die("cannot write", path);
}

/* ---- cases --------------------------------------------------------------------------- */

static void report(const struct case_spec *spec, const struct scene *s, const f16 *output, const char *png)
{
    size_t pixels = (size_t)s->ref.width * (size_t)s->ref.height;
    double *history = linear(s->history, s->additive, pixels), *out = linear(output, NULL, pixels);
    const double *panel[4] = {s->noisy, history, out, s->clean};

    printf("%-12s PSNR to clean, dB: noisy %.2f, history %.2f, output %.2f\n", spec->name,
           psnr(s->noisy, s->clean, 3 * pixels), psnr(history, s->clean, 3 * pixels), psnr(out, s->clean, 3 * pixels));
    if (png) write_panels(png, s->ref.width, s->ref.height, panel, 4);
    free(history);
    free(out);
}

static void make_case(const char *directory, const struct case_spec *spec, const uint8_t *weights)
{
    const struct ref_options options = {REF_ADA, 0};
    struct scene s;
    char path[512];

    scene_build(&s, spec, weights, seed);
    size_t pixels = (size_t)s.ref.width * (size_t)s.ref.height;
    e4m3 *features = calloc(pixels, REF_CHANNELS);
    f16 *output = calloc(4 * pixels, sizeof *output);
    if (!features || !output) exit(2);
    ref_run(&s.ref, &options, features, output);
    snprintf(path, sizeof path, "%s/%s.npz", directory, spec->name);
    write_npz(path, &s.ref, features, output);
    snprintf(path, sizeof path, "%s/%s.json", directory, spec->name);
    write_json(path, spec, &s.ref);
    snprintf(path, sizeof path, "%s/%s.png", directory, spec->name);
    report(spec, &s, output, spec == case_specs ? path : NULL);
    free(features);
    free(output);
    scene_free(&s);
}

int main(int argc, char **argv)
{
    const char *directory = argc > 1 ? argv[1] : ".";
    struct ref_weights *w = malloc(sizeof *w);
    uint8_t *image = calloc(1, REF_WEIGHT_BYTES);
    char path[512];

    if (!w || !image) return 2;
    network_build(w, seed);
    ref_weights_pack(w, image);
    snprintf(path, sizeof path, "%s/dec2-weights.npz", directory);
    struct npz *z = npz_create(path);
    if (!z || npz_add(z, "weights", "|u1", (int[4]){REF_WEIGHT_BYTES, 0, 0, 0}, image) || npz_close(z))
        die("cannot write", path);
    for (int i = 0; i < CASES; i++) {
        int wanted = argc < 3;
        for (int a = 2; a < argc; a++) wanted |= strcmp(argv[a], case_specs[i].name) == 0;
        if (wanted) make_case(directory, &case_specs[i], image);
    }
    free(w);
    free(image);
    return 0;
}
