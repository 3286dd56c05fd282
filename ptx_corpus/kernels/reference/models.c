// References of kernels with approximate functions, in f64; the cases hold them to a tolerance.
#include "matrix.h"

static void softmax(void)
{
    enum { ROWS = 6, COLS = 77 };
    float *x = rand_f32(2000000, ROWS * COLS, -5, 5), out[ROWS * COLS];
    for (int r = 0; r < ROWS; r++) {
        double m = -INFINITY, sum = 0;
        for (int j = 0; j < COLS; j++) m = fmax(m, x[r * COLS + j]);
        for (int j = 0; j < COLS; j++) sum += exp(x[r * COLS + j] - m);
        for (int j = 0; j < COLS; j++) out[r * COLS + j] = (float)(exp(x[r * COLS + j] - m) / sum);
    }
    OUT_F32("softmax_out", out, ROWS * COLS);
}

static void layer_norm(void)
{
    enum { ROWS = 7, COLS = 100 };
    float *x = rand_f32(2100000, ROWS * COLS, -3, 5), *gain = rand_f32(2200000, COLS, 0, 2);
    float *bias = rand_f32(2300000, COLS, -1, 1), out[ROWS * COLS];
    for (int r = 0; r < ROWS; r++) {
        double mean = 0, var = 0;
        for (int j = 0; j < COLS; j++) mean += x[r * COLS + j] / (double)COLS;
        for (int j = 0; j < COLS; j++) var += (x[r * COLS + j] - mean) * (x[r * COLS + j] - mean) / COLS;
        for (int j = 0; j < COLS; j++)
            out[r * COLS + j] = (float)((x[r * COLS + j] - mean) / sqrt(var + 1e-5) * gain[j] + bias[j]);
    }
    OUT_F32("layer_norm_out", out, ROWS * COLS);
}

static void attention(void)
{
    enum { HEADS = 2, SEQ = 19, DIM = 16, ALL = HEADS * SEQ * DIM };
    float *q = rand_f32(2400000, ALL, -2, 2), *k = rand_f32(2500000, ALL, -2, 2);
    float *v = rand_f32(2600000, ALL, -1, 1), out[ALL];
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < SEQ; i++) {
            const int at = h * SEQ * DIM;
            double p[SEQ], sum = 0;
            for (int j = 0; j <= i; j++) {
                double s = 0;
                for (int d = 0; d < DIM; d++) s += (double)q[at + i * DIM + d] * k[at + j * DIM + d];
                sum += p[j] = exp(s * 0.25);
            }
            for (int d = 0; d < DIM; d++) {
                double o = 0;
                for (int j = 0; j <= i; j++) o += p[j] / sum * v[at + j * DIM + d];
                out[at + i * DIM + d] = (float)o;
            }
        }
    OUT_F32("attention_out", out, ALL);
}

// Fragments, tiles and the online sum are left out: rounding of the weights to f16 is within the case's tolerance.
static void flash_attention(void)
{
    enum { HEADS = 2, SEQ = 77, DIM = 64, ALL = HEADS * SEQ * DIM };
    uint16_t *q = rand_f16(2410000, ALL, -3, 3), *k = rand_f16(2510000, ALL, -3, 3), *v = rand_f16(2610000, ALL, -1, 1);
    uint16_t out[ALL];
    for (int row = 0; row < HEADS * SEQ; row++) {
        const int first = row / SEQ * SEQ;
        double s[SEQ], most = -INFINITY, sum = 0;
        for (int j = first; j <= row; j++) {
            s[j - first] = 0;
            for (int d = 0; d < DIM; d++) s[j - first] += decode(&F16, q[row * DIM + d]) * decode(&F16, k[j * DIM + d]) / 8;
            most = fmax(most, s[j - first]);
        }
        for (int j = 0; j <= row - first; j++) sum += s[j] = exp(s[j] - most);
        for (int d = 0; d < DIM; d++) {
            double o = 0;
            for (int j = first; j <= row; j++) o += s[j - first] / sum * decode(&F16, v[j * DIM + d]);
            out[row * DIM + d] = (uint16_t)encode(&F16, o, RN);
        }
    }
    OUT_F16("flash_attention_out", out, ALL);
}

// The weights that v is multiplied by are e4m3, those that are added up are not. A weight beside a rounding boundary may fall
// on its other side, which the case's tolerance allows for.
static void window_attention(void)
{
    enum { WIDTH = 16, HEIGHT = 8, HEADS = 2, DIM = 32, TOKENS = WIDTH * HEIGHT, TOKEN = 3 * HEADS * DIM };
    uint32_t *qkv = matrix_operands(&E4M3, 2620000, TOKENS * TOKEN, false, 1.5);
    float *bias = rand_f32(2630000, HEADS * 7 * 15, -2, 2);
    uint16_t out[TOKENS * HEADS * DIM];
    for (int head = 0; head < HEADS; head++)
        for (int i = 0; i < TOKENS; i++) {
            const int y = i / WIDTH, x = i % WIDTH;
            double sum = 0, o[DIM] = {0};
            for (int j = 0; j < TOKENS; j++) {
                const int dy = y - j / WIDTH, dx = x - j % WIDTH;
                if (j / WIDTH / 4 != y / 4 || j % WIDTH / 8 != x / 8) continue;
                const uint32_t *q = qkv + i * TOKEN + head * DIM, *k = qkv + j * TOKEN + (HEADS + head) * DIM, *v = k + HEADS * DIM;
                double s = 0;
                for (int d = 0; d < DIM; d++) s += decode(&E4M3, q[d]) * decode(&E4M3, k[d]);
                double p = exp2(fmin(s / (sqrt(DIM) * log(2)) + bias[head * 105 + (dy + 3) * 15 + dx + 7], 8));
                sum += p;
                for (int d = 0; d < DIM; d++) o[d] += decode(&E4M3, encode(&E4M3, p, RN)) * decode(&E4M3, v[d]);
            }
            for (int d = 0; d < DIM; d++) out[(i * HEADS + head) * DIM + d] = (uint16_t)encode(&F16, o[d] / sum, RN);
        }
    matrix_write8("window_attention_qkv", qkv, TOKENS * TOKEN);
    OUT_F16("window_attention_out", out, TOKENS * HEADS * DIM);
}

static void nbody(void)
{
    enum { N = 70 };
    float *p = rand_f32(2700000, N * 4, -1, 1), out[N * 4];
    for (int i = 0; i < N; i++) {
        double a[3] = {0};
        for (int j = 0; j < N; j++) {
            double d[3], r2 = (double)0.01f;
            for (int c = 0; c < 3; c++) {
                d[c] = (double)p[4 * j + c] - p[4 * i + c];
                r2 += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++) a[c] += d[c] * p[4 * j + 3] / (r2 * sqrt(r2));
        }
        for (int c = 0; c < 4; c++) out[4 * i + c] = c < 3 ? (float)a[c] : 0.0f;
    }
    OUT_F32("nbody_acc", out, N * 4);
}

// The polynomial of the kernel, so that only rounding differs.
static double cnd(double d)
{
    double k = 1 / (1 + 0.2316419 * fabs(d));
    double p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    p *= 0.39894228 * exp(-0.5 * d * d);
    return d > 0 ? 1 - p : p;
}

static void black_scholes(void)
{
    enum { N = 200 };
    float *spot = rand_f32(2800000, N, 5, 30), *strike = rand_f32(2900000, N, 1, 100);
    float *years = rand_f32(3000000, N, 0.25, 10), call[N], put[N];
    double rate = 0.02f, vol = 0.3f;
    for (int i = 0; i < N; i++) {
        double root = sqrt(years[i]);
        double d1 = (log((double)spot[i] / strike[i]) + (rate + 0.5 * vol * vol) * years[i]) / (vol * root);
        double d2 = d1 - vol * root, pv = exp(-rate * years[i]) * strike[i];
        call[i] = (float)(spot[i] * cnd(d1) - pv * cnd(d2));
        put[i] = (float)(pv * (1 - cnd(d2)) - spot[i] * (1 - cnd(d1)));
    }
    OUT_F32("black_scholes_call", call, N);
    OUT_F32("black_scholes_put", put, N);
}

void ref_models(void)
{
    softmax();
    layer_norm();
    attention();
    flash_attention();
    window_attention();
    nbody();
    black_scholes();
}
