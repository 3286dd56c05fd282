/* Inputs of the dec2 cases. See scene.h. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct case_spec case_specs[CASES] = {
    {"dec2",
     "Swin decoder stage on a 256x256 picture: 1024 windows, colour at output resolution",
     {256, 0, 0, 256, 256, 0},
     0,
     0,
     1.0,
     0,
     400},
    {"dec2-small",
     "32x32 pixels, windows shifted by (4, 4), colour texture at half resolution",
     {96, 24, 40, 32, 32, 0},
     4,
     4,
     0.5,
     0,
     400},
    {"dec2-window", "one 8x8 window", {96, 37, 54, 8, 8, 0}, 0, 0, 1.0, 0, 400},
    {"dec2-ragged",
     "21x13 pixels, windows shifted by (2, 6), colour at 3/4 resolution, NaN by channel",
     {96, 30, 48, 21, 13, 0},
     2,
     6,
     0.75,
     1,
     400},
};

static void *make(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) exit(2);
    return p;
}

static int clamp_to(int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; }
static e4m3 quantised(double v, double step)
{
    return e4m3_from_f16(f16_from_double(rint(v / step) * step + 0.0)); /* no -0 */
}
static double luminance(const double *rgb) { return 0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]; }

/* What is measured at a pixel, before it becomes features. */
struct sources {
    const struct case_spec *spec;
    int width, height;
    struct guide *guides, *before; /* now, and when the history was made */
    double *noisy, *clean, *history, *history_clean;
    double *invalid; /* 1 where the history shows something else */
};

/* Mean luminance over 3x3. */
static double blurred(const struct sources *s, const double *rgb, int x, int y)
{
    double sum = 0;
    for (int j = -1; j <= 1; j++) {
        for (int i = -1; i <= 1; i++)
            sum += luminance(rgb + 3 * (clamp_to(y + j, s->height) * s->width + clamp_to(x + i, s->width)));
    }
    return sum / 9;
}

static void measure(struct sources *s, const struct case_spec *spec, uint64_t seed)
{
    struct view now = spec->view, then = now;
    size_t n = (size_t)now.width * (size_t)now.height;

    then.time = now.time - 1;
    *s = (struct sources){.spec = spec, .width = now.width, .height = now.height};
    s->guides = make(n, sizeof *s->guides);
    s->before = make(n, sizeof *s->before);
    s->noisy = make(3 * n, sizeof(double));
    s->clean = make(3 * n, sizeof(double));
    s->history = make(3 * n, sizeof(double));
    s->history_clean = make(3 * n, sizeof(double));
    s->invalid = make(n, sizeof(double));
    picture_guides(&now, s->guides);
    picture_guides(&then, s->before);
    picture_render(&now, seed + 1, 1, s->noisy);
    picture_render(&now, seed + 2, spec->clean_samples, s->clean);
    picture_render(&then, seed + 3, 8, s->history);
    picture_render(&then, seed + 4, spec->clean_samples / 4, s->history_clean);
    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width; x++) {
            int i = y * s->width + x;
            double a = blurred(s, s->clean, x, y), b = blurred(s, s->history_clean, x, y);
            s->invalid[i] = s->guides[i].id != s->before[i].id || fabs(a - b) > 0.12 * (a + b) / 2 + 0.01;
        }
    }
}

static void measure_free(struct sources *s)
{
    free(s->guides);
    free(s->before);
    free(s->noisy);
    free(s->clean);
    free(s->history);
    free(s->history_clean);
    free(s->invalid);
}

/* ---- features ------------------------------------------------------------------------ */

/* Logit of a neighbour: 0 for the same surface, less the more its guides differ. */
static double affinity(const struct guide *a, const struct guide *b)
{
    double colour = 0, turn = 1, plane = 0;

    for (int c = 0; c < 3; c++) {
        colour += fabs(a->albedo[c] - b->albedo[c]);
        turn -= a->normal[c] * b->normal[c];
        plane += a->normal[c] * (a->position[c] - b->position[c]);
    }
    double l = -14 * fmax(0, colour - 0.04) - 10 * turn - 6 * fmax(0, fabs(plane) - 0.03) - (a->id != b->id ? 4 : 0);
    return fmax(l, -6);
}

/* Codes 0...31 of a guide: cosines along random directions, in steps of 1/2. */
static double code(const struct guide *g, int i)
{
    double phase = 0;

    for (int c = 0; c < 7; c++) {
        double w = (double)(picture_hash((uint64_t)(1000 + 16 * i + c)) & 255) / 127.5 - 1;
        phase += w * (c < 3 ? 2.2 * g->albedo[c] : c < 6 ? 1.6 * g->normal[c - 3] : 0.12 * g->depth);
    }
    return cos(phase + i);
}

static double mark(int id, int i) { return (double)(picture_hash((uint64_t)(64 * id + i + 7)) % 5) / 2 - 1; }

static void skip_pixel(const struct sources *s, int x, int y, double f[REF_CHANNELS])
{
    const struct guide *g = s->guides + y * s->width + x;
    const double *history = s->history + 3 * (y * s->width + x);
    double l = fmin(blurred(s, s->history, x, y), 2.0);

    for (int j = 0; j < 9; j++) {
        int at = clamp_to(y + j / 3 - 1, s->height) * s->width + clamp_to(x + j % 3 - 1, s->width);
        f[CH_TAP + j] = affinity(g, s->guides + at);
    }
    f[CH_GATE] = s->invalid[y * s->width + x] > 0 ? 4 : 0;
    for (int c = 0; c < 3; c++) {
        f[CH_ALBEDO + c] = g->albedo[c];
        f[CH_NORMAL + c] = g->normal[c];
    }
    f[CH_DEPTH] = g->depth / 8;
    f[CH_LUMINANCE] = l;
    f[CH_VARIANCE] = fabs(luminance(history) - l);
    f[CH_ONE] = 1;
    for (int i = 0; i < 8; i++) f[CH_ID + i] = (g->id & 7) == i ? (g->id > 7 ? -1.5 : 1.5) : 0;
    for (int i = 0; i < 4; i++) { /* opposite taps: 3 and 5, 1 and 7, 0 and 8, 2 and 6 */
        static const int tap[4] = {3, 1, 0, 2};
        f[CH_EDGE + i] = -(f[tap[i]] + f[8 - tap[i]]) / 4;
    }
    for (int i = 0; i < 32; i++) f[CH_CODE + i] = code(g, i);
    for (int i = 0; i < 16; i++) {
        f[CH_MARK + i] = mark(g->id, i);
        f[CH_LIGHT + i] = fmax(-1, fmin(1, 3 * l - 0.3 * i - 0.5));
    }
}

/* Step to which a skip channel is rounded: coarse, so that the data compress. */
static double skip_step(int c) { return c < 10 ? 0.5 : c < 16 ? 0.125 : c < 20 ? 0.25 : 0.5; }

static void low_token(const struct sources *s, int x, int y, double f[REF_LOW_CHANNELS])
{
    memset(f, 0, sizeof *f * REF_LOW_CHANNELS);
    double square = 0;

    for (int i = 0; i < 4; i++) {
        int px = clamp_to(2 * x + i % 2, s->width), py = clamp_to(2 * y + i / 2, s->height), at = py * s->width + px;
        const struct guide *g = s->guides + at;
        double l = fmin(luminance(s->noisy + 3 * at), 4.0);
        for (int c = 0; c < 3; c++) {
            f[LOW_ALBEDO + c] += g->albedo[c] / 4;
            f[LOW_NORMAL + c] += g->normal[c] / 4;
        }
        f[LOW_LUMINANCE] += l / 4;
        square += l * l / 4;
        f[LOW_INVALID] += s->invalid[at] / 4;
        f[LOW_EDGE] -=
            affinity(g, s->guides + (clamp_to(py + 1, s->height) * s->width + clamp_to(px + 1, s->width))) / 8;
        f[LOW_DEPTH] += g->depth / 32;
        f[LOW_ID + (g->id & 7)] += g->id > 7 ? -0.25 : 0.25;
        for (int k = LOW_CODE; k < REF_LOW_CHANNELS; k++) f[k] += (k < 84 ? code(g, k) : mark(g->id, k)) / 4;
    }
    f[LOW_VARIANCE] = sqrt(fmax(0, square - f[LOW_LUMINANCE] * f[LOW_LUMINANCE]));
    f[LOW_ONE] = 1;
}

static void build_features(struct scene *out, const struct sources *s)
{
    int lw = (s->width + 1) / 2, lh = (s->height + 1) / 2;
    double f[REF_LOW_CHANNELS];

    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width; x++) {
            skip_pixel(s, x, y, f);
            for (int c = 0; c < REF_CHANNELS; c++)
                out->skip[ref_arena_offset(s->width, s->height, x, y, c)] = quantised(f[c], skip_step(c));
        }
    }
    for (int y = 0; y < lh; y++) {
        for (int x = 0; x < lw; x++) {
            low_token(s, x, y, f);
            for (int c = 0; c < REF_LOW_CHANNELS; c++)
                out->low[ref_arena_offset(lw, lh, x, y, c)] = quantised(f[c], c < LOW_LUMINANCE ? 0.125 : 0.5);
        }
    }
}

/* ---- textures ------------------------------------------------------------------------ */

static void put_rgb(f16 *to, const double *rgb)
{
    for (int c = 0; c < 3; c++) to[c] = f16_from_double(rgb[c]);
    to[3] = 0x3C00;
}

/* The colour texture: the noisy picture, averaged over each texel's pixels. */
static void build_colour(struct scene *out, const struct sources *s)
{
    double scale = s->spec->colour_scale;
    int tw = out->ref.colour.width, th = out->ref.colour.height;

    for (int y = 0; y < th; y++) {
        for (int x = 0; x < tw; x++) {
            double sum[3] = {0, 0, 0};
            int n = 0;
            for (int j = (int)(y / scale); j == (int)(y / scale) || j + 0.5 < (y + 1) / scale; j++) {
                for (int i = (int)(x / scale); i == (int)(x / scale) || i + 0.5 < (x + 1) / scale; i++, n++) {
                    int at = clamp_to(j, s->height) * s->width + clamp_to(i, s->width);
                    for (int c = 0; c < 3; c++) sum[c] += s->noisy[3 * at + c];
                }
            }
            for (int c = 0; c < 3; c++) sum[c] /= n;
            put_rgb(out->colour + 4 * (y * tw + x), sum);
        }
    }
}

/* The glow, NaN where there is none to speak of; noisy and clean get the same glow. */
static void build_additive(struct scene *out, const struct sources *s, uint64_t seed)
{
    static const f16 nans[4] = {0x7FFF, 0x7E00, 0xFE01, 0x7C01};

    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width; x++) {
            int at = y * s->width + x;
            double rgb[3];
            picture_glow(&s->spec->view, x, y, rgb);
            double peak = fmax(rgb[0], fmax(rgb[1], rgb[2]));
            for (int c = 0; c < 4; c++) {
                uint64_t h = picture_hash(seed + (uint64_t)(4 * at + c));
                int keep = s->spec->scattered_nan ? (h & 1) != 0 : peak > 0.02;
                double v = c == 3 ? 0 : s->spec->scattered_nan ? (double)(h >> 8 & 15) / 32 : rgb[c];
                out->additive[4 * at + c] = keep ? f16_from_double(v) : nans[s->spec->scattered_nan ? h >> 1 & 3 : 0];
                if (keep && c < 3) {
                    out->noisy[3 * at + c] += v;
                    out->clean[3 * at + c] += v;
                }
            }
        }
    }
}

void scene_build(struct scene *out, const struct case_spec *spec, const uint8_t *weights, uint64_t seed)
{
    int w = spec->view.width, h = spec->view.height, lw = (w + 1) / 2, lh = (h + 1) / 2;
    int tw = (int)ceil(w * spec->colour_scale), th = (int)ceil(h * spec->colour_scale);
    size_t n = (size_t)w * (size_t)h;
    struct sources s;

    memset(out, 0, sizeof *out);
    out->skip = make(n, REF_CHANNELS);
    out->low = make((size_t)lw * (size_t)lh, REF_LOW_CHANNELS);
    out->colour = make(4 * (size_t)tw * (size_t)th, sizeof(f16));
    out->history = make(4 * n, sizeof(f16));
    out->additive = make(4 * n, sizeof(f16));
    out->noisy = make(3 * n, sizeof(double));
    out->clean = make(3 * n, sizeof(double));
    out->ref = (struct ref_scene){
        .width = w,
        .height = h,
        .origin_x = spec->origin_x,
        .origin_y = spec->origin_y,
        .grid_x = (w + spec->origin_x + 7) / 8,
        .grid_y = (h + spec->origin_y + 7) / 8,
        .low = out->low,
        .skip = out->skip,
        .weights = weights,
        .colour = {tw, th, out->colour},
        .history = {w, h, out->history},
        .additive = {w, h, out->additive},
        .scale_x = (float)spec->colour_scale,
        .scale_y = (float)spec->colour_scale,
    };
    measure(&s, spec, seed);
    memcpy(out->noisy, s.noisy, 3 * n * sizeof(double));
    memcpy(out->clean, s.clean, 3 * n * sizeof(double));
    build_features(out, &s);
    build_colour(out, &s);
    for (size_t i = 0; i < n; i++) put_rgb(out->history + 4 * i, s.history + 3 * i);
    build_additive(out, &s, seed);
    measure_free(&s);
}

void scene_free(struct scene *s)
{
    free(s->low);
    free(s->skip);
    free(s->colour);
    free(s->history);
    free(s->additive);
    free(s->noisy);
    free(s->clean);
}
