/* The dec2 layers. See reference.h; the orders of rounded sums are stated at each sum. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

/* ---- weight image -------------------------------------------------------------------- */

/* Offset of W[n][k] in a matrix of `slices` k-slices: blocks of 512 bytes, pair of n-tiles by
 * pair, slices innermost; in a block, 16 bytes a lane: b0, b1 of one n-tile, then of the next. */
static int fragment_offset(int n, int k, int slices)
{
    int block = (n >> 4) * slices + (k >> 5), position = ref_position(k & 31);
    int lane = 4 * (n & 7) + (position >> 2 & 3), word = 2 * (n >> 3 & 1) + (position >> 4);
    return 512 * block + 16 * lane + 4 * word + (position & 3);
}

/* Offset of the score bias of query r and key c, in C fragments, m-tile by m-tile. */
static int bias_offset(int r, int c)
{
    int tile = 12 * (r >> 4) + (c >> 3), lane = 4 * (r & 7) + ((c & 7) >> 1);
    return 512 * (tile >> 1) + 16 * lane + 4 * (2 * (tile & 1) + (r >> 3 & 1)) + 2 * (c & 1);
}

enum transfer { TO_IMAGE, FROM_IMAGE };

static void move_byte(enum transfer way, uint8_t *image, e4m3 *v)
{
    if (way == TO_IMAGE) *image = *v;
    else *v = *image;
}

/* The image is little-endian. */
static void move_f16(enum transfer way, uint8_t *image, f16 *v)
{
    if (way == TO_IMAGE) {
        image[0] = (uint8_t)(*v & 255);
        image[1] = (uint8_t)(*v >> 8);
    } else *v = (f16)(image[0] | image[1] << 8);
}

static void move_matrix(enum transfer way, uint8_t *image, int rows, int k, e4m3 *v)
{
    for (int n = 0; n < rows; n++) {
        for (int i = 0; i < k; i++) move_byte(way, image + fragment_offset(n, i, k / 32), v + n * k + i);
    }
}

/* A 32 x 96 projection is stored as three k-slices of 1024 bytes, one after the other. */
static void move_projection(enum transfer way, uint8_t *image, e4m3 v[][REF_CHANNELS])
{
    for (int n = 0; n < REF_HEAD_WIDTH; n++) {
        for (int i = 0; i < REF_CHANNELS; i++)
            move_byte(way, image + 1024 * (i / 32) + fragment_offset(n, i & 31, 1), &v[n][i]);
    }
}

static void move_table(enum transfer way, uint8_t *image, int n, f16 *v)
{
    for (int i = 0; i < n; i++) move_f16(way, image + 2 * i, v + i);
}

static void move_head(enum transfer way, uint8_t *image, struct ref_head *h)
{
    move_projection(way, image, h->query_key);
    move_projection(way, image + 3072, h->value);
    for (int r = 0; r < REF_QUERIES; r++) {
        for (int c = 0; c < REF_TOKENS; c++) move_f16(way, image + 6144 + bias_offset(r, c), &h->score_bias[r][c]);
    }
    move_matrix(way, image + 18432, REF_CHANNELS, REF_HEAD_WIDTH, h->out[0]);
}

static void move_weights(enum transfer way, uint8_t *image, struct ref_weights *w)
{
    for (int s = 0; s < 4; s++) {
        move_matrix(way, image + 12288 * s, REF_CHANNELS, REF_LOW_CHANNELS, w->expand[s][0]);
        move_table(way, image + 49152 + 192 * s, REF_CHANNELS, w->expand_bias[s]);
    }
    move_table(way, image + 49920, REF_CHANNELS, w->gain1);
    for (int h = 0; h < REF_HEADS; h++) move_head(way, image + 50112 + 21504 * h, &w->head[h]);
    move_table(way, image + 136128, REF_CHANNELS, w->attention_bias);
    move_table(way, image + 136320, REF_CHANNELS, w->gain2);
    for (int c = 0; c < REF_CHUNKS; c++) {
        uint8_t *at = image + (c ? 142912 + 6208 * (c - 1) : 136512);
        move_matrix(way, at, 32, REF_CHANNELS, w->chunk[c].w1[0]);
        move_table(way, at + 3072, 32, w->chunk[c].b1);
        move_matrix(way, at + 3136, REF_CHANNELS, 32, w->chunk[c].w2[0]);
    }
    move_table(way, image + 142720, REF_CHANNELS, w->b2);
    move_matrix(way, image + 211200, 16, REF_CHANNELS, w->tail[0]);
    move_table(way, image + 212736, 16, w->tail_bias);
}

void ref_weights_unpack(struct ref_weights *w, const uint8_t image[REF_WEIGHT_BYTES])
{
    uint8_t *copy = malloc(REF_WEIGHT_BYTES);

    if (!copy) exit(2);
    memcpy(copy, image, REF_WEIGHT_BYTES);
    move_weights(FROM_IMAGE, copy, w);
    free(copy);
}

void ref_weights_pack(const struct ref_weights *w, uint8_t image[REF_WEIGHT_BYTES])
{
    struct ref_weights *copy = malloc(sizeof *copy);

    if (!copy) exit(2);
    *copy = *w;
    move_weights(TO_IMAGE, image, copy);
    free(copy);
}

size_t ref_arena_offset(int width, int height, int x, int y, int c)
{
    size_t plane = 32 * (size_t)width * (size_t)height;
    return (size_t)(c / 32) * plane + 32 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)ref_position(c % 32);
}

/* ---- one window ---------------------------------------------------------------------- */

struct window {
    const struct ref_scene *scene;
    const struct ref_options *options;
    const struct ref_weights *weights;
    int x0, y0;
    e4m3 low[REF_EXPAND_TOKENS][REF_LOW_CHANNELS];
    e4m3 patch[10][10][REF_CHANNELS]; /* expanded, by position in the 10x10 neighbourhood */
    f16 tokens[REF_TOKENS][REF_CHANNELS];
    e4m3 normed[REF_TOKENS][REF_CHANNELS];
    f16 query_key[REF_TOKENS][REF_HEAD_WIDTH], value[REF_TOKENS][REF_HEAD_WIDTH];
    f16 score[REF_QUERIES][REF_TOKENS];
    e4m3 attended[REF_HEADS][REF_QUERIES][REF_HEAD_WIDTH];
    f16 d[REF_QUERIES][REF_CHANNELS]; /* the residual stream after attention */
    f16 tail[REF_QUERIES][16];
};

/* A phase: d += a b, then zeros if it is the phase to be knocked out. */
static void phase(const struct window *w, int number, int m, int n, int k, const e4m3 *a, const e4m3 *b, f16 *d)
{
    if (w->options->zero_phase == number) memset(d, 0, sizeof *d * (size_t)m * (size_t)n);
    else ref_mma(w->options->model, m, n, k, a, b, d);
}

static void pack(const f16 *from, e4m3 *to, int n)
{
    for (int i = 0; i < n; i++) to[i] = e4m3_from_f16(from[i]);
}

static int clamp_index(int v, int extent) { return v < 0 ? 0 : v >= extent ? extent - 1 : v; }

/* Floor of v/2: the kernel shifts arithmetically. Window origins are even. */
static int half_down(int v) { return v >= 0 ? v / 2 : -((1 - v) / 2); }

/* P1: each of the 6x6 low-resolution tokens makes four pixels. */
static void patch_expand(struct window *w)
{
    int lw = (w->scene->width + 1) / 2, lh = (w->scene->height + 1) / 2;
    f16 d[REF_EXPAND_TOKENS][REF_CHANNELS];

    for (int i = 0; i < REF_EXPAND_TOKENS; i++) {
        int x = clamp_index(half_down(w->x0) - 1 + i % 6, lw), y = clamp_index(half_down(w->y0) - 1 + i / 6, lh);
        for (int c = 0; c < REF_LOW_CHANNELS; c++) w->low[i][c] = w->scene->low[ref_arena_offset(lw, lh, x, y, c)];
    }
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < REF_EXPAND_TOKENS; i++) memcpy(d[i], w->weights->expand_bias[s], sizeof d[i]);
        phase(w, 1, REF_EXPAND_TOKENS, REF_CHANNELS, REF_LOW_CHANNELS, w->low[0], w->weights->expand[s][0], d[0]);
        for (int i = 0; i < REF_EXPAND_TOKENS; i++) {
            int hy = 2 * (i / 6) + s / 2 - 1, hx = 2 * (i % 6) + s % 2 - 1;
            if (hy >= 0 && hy <= 9 && hx >= 0 && hx <= 9) pack(d[i], w->patch[hy][hx], REF_CHANNELS);
        }
    }
}

/* Position of a token in the 10x10 neighbourhood, whose corners are no tokens. */
static void token_position(int token, int *hy, int *hx)
{
    int i = token - REF_QUERIES;
    if (i < 0) *hy = 1 + token / 8, *hx = 1 + token % 8;
    else if (i < 16) *hy = i < 8 ? 0 : 9, *hx = 1 + i % 8;
    else *hy = 1 + i % 8, *hx = i < 24 ? 0 : 9;
}

/* tokens = patch + skip. */
static void add_skip(struct window *w)
{
    int width = w->scene->width, height = w->scene->height;

    for (int i = 0; i < REF_TOKENS; i++) {
        int hy, hx;
        token_position(i, &hy, &hx);
        int x = clamp_index(w->x0 - 1 + hx, width), y = clamp_index(w->y0 - 1 + hy, height);
        for (int c = 0; c < REF_CHANNELS; c++) {
            e4m3 skip = w->scene->skip[ref_arena_offset(width, height, x, y, c)];
            w->tokens[i][c] = f16_add(e4m3_to_f16(w->patch[hy][hx][c]), e4m3_to_f16(skip));
        }
    }
}

/*
 * Sum of 96 f16 values, every addition rounded. Values c with the same (c mod 8)/2 and the
 * same parity are added in order of c: eight sums. Pairs of columns 2t, 2t+1 then combine
 * over t as (t=0 + t=1) + (t=2 + t=3), for even and odd columns apart; then even + odd.
 */
static f16 row_sum(const f16 v[96])
{
    f16 part[8], parity[2];

    for (int i = 0; i < 8; i++) {
        part[i] = v[i];
        for (int n = 1; n < 12; n++) part[i] = f16_add(part[i], v[8 * n + i]);
    }
    for (int b = 0; b < 2; b++) parity[b] = f16_add(f16_add(part[b], part[2 + b]), f16_add(part[4 + b], part[6 + b]));
    return f16_add(parity[0], parity[1]);
}

static f16 f16_from_float(float v) { return f16_from_double((double)v); }
static float f16_to_float(f16 v) { return (float)f16_to_double(v); }

/* y = x (gain / sqrt(sum x^2 + 2^-13)), each step rounded. */
static void rms_norm(const f16 x[REF_CHANNELS], const f16 gain[REF_CHANNELS], e4m3 y[REF_CHANNELS])
{
    f16 square[REF_CHANNELS];

    for (int c = 0; c < REF_CHANNELS; c++) square[c] = f16_mul(x[c], x[c]);
    f16 sum = f16_add(row_sum(square), f16_from_double(0x1p-13));
    f16 inverse = f16_from_float(ref_rsqrt(f16_to_float(sum)));
    for (int c = 0; c < REF_CHANNELS; c++) y[c] = e4m3_from_f16(f16_mul(x[c], f16_mul(inverse, gain[c])));
}

/* P2, P4, P6 or P3, P5, P7: k-slice by k-slice, so that each can be knocked out. */
static void project(struct window *w, int first, const e4m3 weights[REF_HEAD_WIDTH][REF_CHANNELS],
                    f16 d[REF_TOKENS][REF_HEAD_WIDTH])
{
    e4m3 a[REF_TOKENS][32], b[REF_HEAD_WIDTH][32];

    memset(d, 0, sizeof(f16) * REF_TOKENS * REF_HEAD_WIDTH);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < REF_TOKENS; i++) memcpy(a[i], w->normed[i] + 32 * k, 32);
        for (int n = 0; n < REF_HEAD_WIDTH; n++) memcpy(b[n], weights[n] + 32 * k, 32);
        phase(w, first + 2 * k, REF_TOKENS, REF_HEAD_WIDTH, 32, a[0], b[0], d[0]);
    }
}

/* f16 with bits (u << 5) & 0x7FE0, u = 1.375 + m (0.927 - m^2), m the clamped scaled score. */
static f16 cubic_exp(f16 x)
{
    const f16 bound = f16_from_double(0.55615234375);
    f16 m = f16_mul(x, f16_from_double(0.017186790704727173));

    m = f16_min(f16_max(m, (f16)(bound | 0x8000)), bound);
    f16 a = m & 0x7FFF;
    f16 q = f16_fma((f16)(a | 0x8000), a, f16_from_double(0.92724609375));
    f16 u = f16_fma(m, q, f16_from_double(1.375));
    return (f16)(u << 5 & 0x7FE0);
}

/* P8, E8, P9 for one head. */
static void attention(struct window *w, int head)
{
    static const f16 zero[REF_QUERIES][REF_HEAD_WIDTH];
    e4m3 qk[REF_TOKENS][REF_HEAD_WIDTH], p[REF_QUERIES][REF_TOKENS], vt[REF_HEAD_WIDTH][REF_TOKENS];
    f16 o[REF_QUERIES][REF_HEAD_WIDTH];

    pack(w->query_key[0], qk[0], REF_TOKENS * REF_HEAD_WIDTH);
    memcpy(w->score, w->weights->head[head].score_bias, sizeof w->score);
    phase(w, 8, REF_QUERIES, REF_TOKENS, REF_HEAD_WIDTH, qk[0], qk[0], w->score[0]);
    for (int r = 0; r < REF_QUERIES; r++) {
        for (int c = 0; c < REF_TOKENS; c++) w->score[r][c] = cubic_exp(w->score[r][c]);
        f16 inverse = f16_from_float(ref_rcp(f16_to_float(row_sum(w->score[r]))));
        for (int c = 0; c < REF_TOKENS; c++) p[r][c] = e4m3_from_f16(f16_mul(w->score[r][c], inverse));
    }
    for (int i = 0; i < REF_TOKENS; i++) {
        for (int n = 0; n < REF_HEAD_WIDTH; n++) vt[n][i] = e4m3_from_f16(w->value[i][n]);
    }
    memcpy(o, zero, sizeof o);
    phase(w, 9, REF_QUERIES, REF_HEAD_WIDTH, REF_TOKENS, p[0], vt[0], o[0]);
    pack(o[0], w->attended[head][0], REF_QUERIES * REF_HEAD_WIDTH);
}

/* P2...P13. */
static void attention_block(struct window *w)
{
    const struct ref_weights *k = w->weights;

    for (int i = 0; i < REF_TOKENS; i++) rms_norm(w->tokens[i], k->gain1, w->normed[i]);
    for (int h = 0; h < REF_HEADS; h++) {
        project(w, 2, k->head[h].query_key, w->query_key);
        project(w, 3, k->head[h].value, w->value);
        attention(w, h);
    }
    for (int i = 0; i < REF_QUERIES; i++) {
        for (int c = 0; c < REF_CHANNELS; c++) w->d[i][c] = f16_add(w->tokens[i][c], k->attention_bias[c]);
    }
    for (int h = 0; h < REF_HEADS; h++)
        phase(w, 10 + h, REF_QUERIES, REF_CHANNELS, REF_HEAD_WIDTH, w->attended[h][0], k->head[h].out[0], w->d[0]);
}

/* x (0.5 + y (0.412 - 0.081 |y|)), y = clamp(x, -2, 2), each step rounded. */
static f16 activate(f16 x)
{
    const f16 c0 = f16_from_double(0.4121621549129486), c1 = f16_from_double(0.0810810774564743);
    f16 y = f16_min(f16_max(x, f16_from_double(-2.0)), f16_from_double(2.0));
    f16 ramp = f16_mul(y, f16_sub(c0, f16_mul(c1, y & 0x7FFF)));
    return f16_mul(x, f16_add(f16_from_double(0.5), ramp));
}

/* P14...P37. b2 enters with the first chunk. */
static void mlp_block(struct window *w)
{
    const struct ref_weights *k = w->weights;
    e4m3 t[REF_QUERIES][REF_CHANNELS], a[REF_QUERIES][32];
    f16 hidden[REF_QUERIES][32];

    for (int i = 0; i < REF_QUERIES; i++) {
        rms_norm(w->d[i], k->gain2, t[i]);
        for (int c = 0; c < REF_CHANNELS; c++) w->d[i][c] = f16_add(w->d[i][c], k->b2[c]);
    }
    for (int c = 0; c < REF_CHUNKS; c++) {
        for (int i = 0; i < REF_QUERIES; i++) memcpy(hidden[i], k->chunk[c].b1, sizeof hidden[i]);
        phase(w, 14 + 2 * c, REF_QUERIES, 32, REF_CHANNELS, t[0], k->chunk[c].w1[0], hidden[0]);
        for (int i = 0; i < REF_QUERIES; i++) {
            for (int n = 0; n < 32; n++) a[i][n] = e4m3_from_f16(activate(hidden[i][n]));
        }
        phase(w, 15 + 2 * c, REF_QUERIES, REF_CHANNELS, 32, a[0], k->chunk[c].w2[0], w->d[0]);
    }
}

/*
 * Softmax over nine logits: maximum over the nine; exponentials in f32; their sum in f32,
 * sequential from tap 0; weights are f16(f16(e) f16(1/sum)).
 */
static void tap_weights(const f16 logit[9], f16 weight[9])
{
    const float log2e = 1.4426950216293335f;
    f16 top = logit[0];
    float e[9], sum = 0;

    for (int i = 1; i < 9; i++) top = f16_max(top, logit[i]);
    for (int i = 0; i < 9; i++) {
        e[i] = ref_ex2(ref_mul_ftz(f16_to_float(f16_sub(logit[i], top)), log2e));
        sum = i ? ref_add_ftz(sum, e[i]) : e[i];
    }
    f16 inverse = f16_from_float(ref_div(1.0f, sum));
    for (int i = 0; i < 9; i++) weight[i] = f16_mul(f16_from_float(e[i]), inverse);
}

/* Pixel centre to texture coordinate: one addition, one multiplication. */
static float coordinate(int at, int extent, float scale)
{
    return ref_mul_ftz(ref_add_ftz((float)clamp_index(at, extent), 0.5f), scale);
}

/* E38: the taps, added up in order 0...8 from zero, mixed with the history, plus the additive term. */
static void shade(const struct ref_scene *s, const f16 value[16], int x, int y, f16 out[4])
{
    f16 weight[9], acc[4] = {0}, texel[4], history[4], additive[4];

    tap_weights(value, weight);
    for (int j = 0; j < 9; j++) {
        ref_sample(&s->colour, coordinate(x + j % 3 - 1, s->width, s->scale_x),
                   coordinate(y + j / 3 - 1, s->height, s->scale_y), texel);
        for (int c = 0; c < 3; c++) acc[c] = f16_fma(texel[c], weight[j], acc[c]);
    }
    float power = ref_ex2(ref_mul_ftz(f16_to_float(value[9]), -1.4426950216293335f));
    f16 sigma = f16_from_float(ref_div(1.0f, ref_add_ftz(1.0f, power)));
    f16 rest = f16_sub(f16_from_double(1.0), sigma);
    ref_fetch(&s->history, x, y, history);
    ref_fetch(&s->additive, x, y, additive);
    for (int c = 0; c < 3; c++) {
        out[c] = f16_fma(history[c], rest, f16_mul(acc[c], sigma));
        if (!f16_is_nan(additive[c])) out[c] = f16_add(out[c], additive[c]);
    }
    out[3] = 0;
}

/* E37, P38, E38. */
static void tail_block(struct window *w, e4m3 *features, f16 *surface)
{
    const struct ref_scene *s = w->scene;
    e4m3 a[REF_QUERIES][REF_CHANNELS];

    pack(w->d[0], a[0], REF_QUERIES * REF_CHANNELS);
    for (int i = 0; i < REF_QUERIES; i++) memcpy(w->tail[i], w->weights->tail_bias, sizeof w->tail[i]);
    phase(w, 38, REF_QUERIES, 16, REF_CHANNELS, a[0], w->weights->tail[0], w->tail[0]);
    for (int i = 0; i < REF_QUERIES; i++) {
        int x = w->x0 + i % 8, y = w->y0 + i / 8;
        if (x < 0 || x >= s->width || y < 0 || y >= s->height) continue;
        for (int c = 0; c < REF_CHANNELS; c++) features[ref_arena_offset(s->width, s->height, x, y, c)] = a[i][c];
        shade(s, w->tail[i], x, y, surface + 4 * ((size_t)y * (size_t)s->width + (size_t)x));
    }
}

void ref_run(const struct ref_scene *scene, const struct ref_options *options, e4m3 *features, f16 *surface)
{
    struct ref_weights *weights = malloc(sizeof *weights);
    struct window *w = calloc(1, sizeof *w);

    if (!weights || !w) exit(2);
    ref_weights_unpack(weights, scene->weights);
    w->scene = scene;
    w->options = options;
    w->weights = weights;
    for (int by = 0; by < scene->grid_y; by++) {
        for (int bx = 0; bx < scene->grid_x; bx++) {
            w->x0 = 8 * bx - scene->origin_x;
            w->y0 = 8 * by - scene->origin_y;
            patch_expand(w);
            add_skip(w);
            attention_block(w);
            mlp_block(w);
            tail_block(w, features, surface);
        }
    }
    free(w);
    free(weights);
}
