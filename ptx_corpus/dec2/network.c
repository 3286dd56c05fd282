/*
 * The weights of the dec2 cases: not trained but written down, each layer with a task.
 *
 *   patch expand  brings the low-resolution mask, variance and codes to full resolution
 *   attention     head 0 pools the history mask over alike pixels, heads 1 to 3 pool codes
 *                 over the same surface, along rows and along columns
 *   MLP           chunks 0 to 8 sharpen one tap logit each, 9 the gate, 10 and 11 the rest
 *   head          logits and gate come from their own channels
 *
 * Besides, every layer mixes some channels with small random weights, so that each phase
 * carries data of its own. scene.h names the channels.
 */
#include "scene.h"

#include <string.h>

static e4m3 weight(double v) { return e4m3_from_f16(f16_from_double(v)); }

/* Fair random number below n for (seed, a, b, c). */
static unsigned draw(uint64_t seed, int a, int b, int c, unsigned n)
{
    return (unsigned)(picture_hash(seed + picture_hash((uint64_t)a << 40 | (uint64_t)b << 20 | (uint64_t)c)) % n);
}

/* One weight in `sparse` is a random number of either sign, scale/4 to 2*scale; the rest are zero. */
static double sprinkle(uint64_t seed, int a, int b, int c, unsigned sparse, double scale)
{
    unsigned r = draw(seed, a, b, c, sparse * 48); /* 48: sign, power of two, three bits below it */
    double v = scale / (1 << (r >> 1) % 3) * (8 + (r >> 1) / 3) / 8;

    return r >= 48 ? 0 : r & 1 ? -v : v;
}

static void build_expand(struct ref_weights *w, uint64_t seed)
{
    for (int s = 0; s < 4; s++) {
        for (int o = 0; o < REF_CHANNELS; o++) {
            e4m3 *row = w->expand[s][o];
            for (int k = 0; k < REF_LOW_CHANNELS; k++) /* a quarter differs between sub-pixels */
                row[k] = o < CH_ALBEDO ? 0 : weight(sprinkle(seed, k % 4 ? 0 : s, o, k, 3, 0.0625));
            w->expand_bias[s][o] = f16_from_double(o < CH_ALBEDO ? 0 : (draw(seed, 9, s, o, 5) - 2.0) / 32);
        }
        w->expand[s][CH_GATE][LOW_INVALID] = weight(1.5);
        w->expand[s][CH_TAP + 4][LOW_VARIANCE] = weight(-0.25);
        w->expand[s][CH_TAP + 4][LOW_EDGE] = weight(0.25);
        w->expand[s][CH_VARIANCE][LOW_VARIANCE] = weight(0.5);
        for (int c = 0; c < 6; c++) w->expand[s][CH_ALBEDO + c][LOW_ALBEDO + c] = weight(0.25);
        for (int j = 0; j < 9; j++) { /* taps inside the same low-resolution token are nearer */
            int x = s % 2 + j % 3 - 1, y = s / 2 + j / 3 - 1;
            if (x >= 0 && x < 2 && y >= 0 && y < 2) w->expand[s][CH_TAP + j][LOW_ONE] = weight(0.125);
        }
    }
}

/* Position of a token in the 10x10 neighbourhood. */
static void place(int token, int *x, int *y)
{
    int i = token - REF_QUERIES;
    *x = i < 0 ? token % 8 : i < 16 ? i % 8 : i < 24 ? -1 : 8;
    *y = i < 0 ? token / 8 : i < 8 ? -1 : i < 16 ? 8 : i % 8;
}

/* Wider or narrower, round, along rows, or along columns. */
static double position_bias(int head, int query, int key)
{
    int qx, qy, kx, ky;

    place(query, &qx, &qy);
    place(key, &kx, &ky);
    double dx = (qx - kx) * (qx - kx), dy = (qy - ky) * (qy - ky);
    static const double across[REF_HEADS] = {1.5, 0.25, 0.25, 2.0}, down[REF_HEADS] = {1.5, 0.25, 2.0, 0.25};
    double b = -4 - across[head] * dx - down[head] * dy;
    return b < -28 ? -28 : b;
}

static void build_head(struct ref_head *h, int head, uint64_t seed)
{
    /* What is alike: guides, surface, codes, brightness. */
    static const int first[REF_HEADS] = {CH_ALBEDO, CH_ID, CH_CODE, CH_MARK};
    static const int count[REF_HEADS] = {10, 12, 32, 32};

    for (int n = 0; n < 32; n++) {
        for (int c = 0; c < REF_CHANNELS; c++) {
            h->query_key[n][c] = weight(sprinkle(seed, 10 + head, n, c, 3, 0.0625));
            h->value[n][c] = weight(sprinkle(seed, 20 + head, n, c, 3, 0.125));
        }
        h->query_key[n][first[head] + n % count[head]] = weight(n < count[head] ? 0.75 : 0.25);
        if (n < 10) h->value[n][n] = weight(1);
    }
    for (int q = 0; q < REF_QUERIES; q++) {
        for (int k = 0; k < REF_TOKENS; k++) h->score_bias[q][k] = f16_from_double(position_bias(head, q, k));
    }
    for (int c = 0; c < REF_CHANNELS; c++) {
        for (int n = 0; n < 32; n++)
            h->out[c][n] = c < CH_ALBEDO ? 0 : weight(sprinkle(seed, 30 + head, c, n, 2, 0.0625));
    }
    for (int j = 0; j < 9; j++) h->out[CH_TAP + j][j] = weight(0.0625);
    h->out[CH_GATE][CH_GATE] = weight(head == 0 ? 0.5 : 0.125);
}

static void build_chunk(struct ref_chunk *k, int chunk, uint64_t seed)
{
    for (int n = 0; n < 32; n++) {
        for (int c = 0; c < REF_CHANNELS; c++) {
            k->w1[n][c] = weight(sprinkle(seed, 40 + chunk, n, c, 2, 0.25));
            k->w2[c][n] = c < CH_ALBEDO ? 0 : weight(sprinkle(seed, 60 + chunk, c, n, 2, 0.03125));
        }
        k->b1[n] = f16_from_double((draw(seed, 80, chunk, n, 9) - 4.0) / 16);
    }
    /* Unit 0: on where its channel is far from zero; pushes the channel further. */
    int target = chunk < 10 ? chunk : CH_VARIANCE + chunk - 10;
    memset(k->w1[0], 0, sizeof k->w1[0]);
    k->w1[0][target] = weight(chunk < 9 ? -2 : 2);
    k->b1[0] = f16_from_double(-1);
    k->w2[target][0] = weight(chunk < 9 ? -0.5 : 0.25);
    if (chunk >= 10) /* where it is noisy, the centre counts less */
        k->w2[CH_TAP + 4][0] = weight(-0.0625);
}

static void build_tail(struct ref_weights *w, uint64_t seed)
{
    static const double kernel[9] = {-0.25, 0, -0.25, 0, 0.125, 0, -0.25, 0, -0.25};

    for (int o = 0; o < 16; o++) {
        for (int c = 0; c < REF_CHANNELS; c++)
            w->tail[o][c] = c < CH_ALBEDO ? 0 : weight(sprinkle(seed, 90, o, c, 4, o < 10 ? 0.0078125 : 0.25));
        w->tail[o][o] = weight(1);
        w->tail_bias[o] = f16_from_double(o < 9 ? kernel[o] : 0);
    }
}

void network_build(struct ref_weights *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    build_expand(w, seed);
    for (int c = 0; c < REF_CHANNELS; c++) { /* about sqrt(96): unit rows keep their size */
        w->gain1[c] = f16_from_double(c < CH_ALBEDO ? 6 : 8 + draw(seed, 1, 0, c, 5) / 2.0);
        w->gain2[c] = f16_from_double(c < CH_ALBEDO ? 10 : 7 + draw(seed, 2, 0, c, 5) / 2.0);
        w->attention_bias[c] = f16_from_double(c < CH_ALBEDO ? 0 : (draw(seed, 3, 0, c, 7) - 3.0) / 32);
        w->b2[c] = f16_from_double(c < CH_ALBEDO ? 0 : (draw(seed, 4, 0, c, 7) - 3.0) / 32);
    }
    for (int h = 0; h < REF_HEADS; h++) build_head(&w->head[h], h, seed);
    for (int c = 0; c < REF_CHUNKS; c++) build_chunk(&w->chunk[c], c, seed);
    build_tail(w, seed);
}
