// Exact references of the basic parallel kernels: reductions, scans, sorting, matrix product, hashes.
#include "ref.h"
#include <stdlib.h>

static void saxpy(void)
{
    enum { N = 1000 };
    float *x = rand_f32(100000, N, -1, 1), *y = rand_f32(200000, N, -1, 1);
    for (int i = 0; i < N; i++) y[i] = fmaf(0.7f, x[i], y[i]);
    OUT_F32("saxpy_y", y, N);
}

static void reduce_block(void)
{
    enum { N = 1100, BLOCK = 160, GRID = 4 };
    float *x = rand_f32(300000, N, -10, 10), sums[GRID];
    for (int b = 0; b < GRID; b++) {
        float v[BLOCK], partial[32] = {0};
        for (int t = 0; t < BLOCK; t++) {
            int i = b * 2 * BLOCK + t;
            v[t] = i < N ? x[i] : 0.0f;
            if (i + BLOCK < N) v[t] += x[i + BLOCK];
        }
        for (int w = 0; w < BLOCK / 32; w++) {
            for (int d = 16; d; d >>= 1) {
                float next[32];
                for (int l = 0; l < 32; l++) next[l] = v[w * 32 + l] + v[w * 32 + (l ^ d)];
                memcpy(v + w * 32, next, sizeof next);
            }
            partial[w] = v[w * 32];
        }
        for (int d = 4; d; d >>= 1) {
            float next[8];
            for (int l = 0; l < 8; l++) next[l] = partial[l] + partial[l + d < 8 ? l + d : l];
            memcpy(partial, next, sizeof next);
        }
        sums[b] = partial[0];
    }
    OUT_F32("reduce_block_sums", sums, GRID);
}

static void scan_block(void)
{
    enum { N = 700, BLOCK = 160, GRID = 5 };
    uint32_t *x = rand_u32(400000, N, 0, 1000), out[N], totals[GRID];
    for (int b = 0; b < GRID; b++) {
        uint32_t sum = 0;
        for (int i = b * BLOCK; i < (b + 1) * BLOCK && i < N; i++) out[i] = sum += x[i];
        totals[b] = sum;
    }
    OUT_U32("scan_block_out", out, N);
    OUT_U32("scan_block_totals", totals, GRID);
}

static void transpose(void)
{
    enum { W = 70, H = 45 };
    float *in = rand_f32(500000, W * H, -1, 1), *out = zeros(W * H * 4);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) out[x * H + y] = in[y * W + x];
    OUT_F32("transpose_out", out, W * H);
}

static void histogram(void)
{
    enum { N = 5000 };
    uint8_t *x = rand_u8(600000, N, 0, 256);
    uint32_t bins[64] = {0};
    for (int i = 0; i < N; i++) bins[x[i] >> 2]++;
    OUT_U32("histogram_bins", bins, 64);
}

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void bitonic_sort(void)
{
    int32_t *x = rand_s32(700000, 600, -1000000, 1000000);
    for (int b = 0; b < 3; b++) qsort(x + b * 200, 200, 4, by_value);
    OUT_S32("bitonic_sort_out", x, 600);
}

static void matmul_tiled(void)
{
    enum { M = 37, N = 45, K = 29 };
    float *a = rand_f32(800000, M * K, -1, 1), *b = rand_f32(900000, K * N, -1, 1), c[M * N];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float acc = 0;
            for (int k = 0; k < K; k++) acc = fmaf(a[i * K + k], b[k * N + j], acc);
            c[i * N + j] = acc;
        }
    OUT_F32("matmul_tiled_c", c, M * N);
}

static void scan_shuffle(void)
{
    enum { N = 555 };
    int32_t *x = rand_s32(1000000, N, -1000000, 1000000), out32[N];
    int64_t out64[N];
    for (int i = 0; i < N; i++) {
        int64_t w = (int64_t)x[i] * 0x100000001;
        out32[i] = i % 32 ? out32[i - 1] + x[i] : x[i];
        out64[i] = i % 32 ? out64[i - 1] + w : w;
    }
    OUT_S32("scan_shuffle_out32", out32, N);
    OUT_S64("scan_shuffle_out64", out64, N);
}

static void stencil(void)
{
    enum { W = 53, H = 37 };
    float *in = rand_f32(1100000, W * H, -1, 1), *out = zeros(W * H * 4);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const float *p = in + y * W + x;
            float v = *p;
            if (x > 0 && y > 0 && x < W - 1 && y < H - 1) {
                float row = p[-1] + p[1], col = p[-W] + p[W], s = row + col, c = 0.6f * v;
                v = fmaf(0.1f, s, c);
            }
            out[y * W + x] = v;
        }
    OUT_F32("stencil_out", out, W * H);
}

static void conv1d_const(void)
{
    enum { N = 300 };
    static const float taps[9] = {0.05f, -0.1f, 0.15f, 0.2f, 0.3f, 0.25f, -0.2f, 0.125f, 0.025f};
    float *in = rand_f32(1200000, N, -1, 1), out[N];
    for (int i = 0; i < N; i++) {
        float acc = 0;
        for (int t = 0; t < 9; t++) {
            int j = i + t - 4;
            acc = fmaf(taps[t], j >= 0 && j < N ? in[j] : 0.0f, acc);
        }
        out[i] = acc;
    }
    OUT_F32("conv1d_const_out", out, N);
}

static void life_bytes(void)
{
    enum { W = 45, H = 33 };
    uint8_t *in = rand_u8(1300000, W * H, 0, 2), out[W * H];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int count = -in[y * W + x];
            for (int dy = 0; dy < 3; dy++)
                for (int dx = 0; dx < 3; dx++) count += in[(y + dy + H - 1) % H * W + (x + dx + W - 1) % W];
            out[y * W + x] = count == 3 || (count == 2 && in[y * W + x]);
        }
    OUT_U8("life_bytes_out", out, W * H);
}

static void spmv(void)
{
    enum { ROWS = 37, COLS = 90 };
    int32_t ptr[ROWS + 1] = {0};
    for (int r = 0; r < ROWS; r++) ptr[r + 1] = ptr[r] + r * 7 % 80;
    int nnz = ptr[ROWS];
    int32_t *col = rand_s32(1400000, (size_t)nnz, 0, COLS);
    float *val = rand_f32(1500000, (size_t)nnz, -1, 1), *x = rand_f32(1600000, COLS, -1, 1), y[ROWS];
    for (int r = 0; r < ROWS; r++) {
        float acc[32] = {0};
        for (int j = ptr[r]; j < ptr[r + 1]; j++) {
            float *a = &acc[(j - ptr[r]) % 32];
            *a = fmaf(val[j], x[col[j]], *a);
        }
        for (int d = 16; d; d >>= 1)
            for (int l = 0; l < d; l++) acc[l] += acc[l + d];
        y[r] = acc[0];
    }
    OUT_S32("spmv_row_ptr", ptr, ROWS + 1);
    OUT_F32("spmv_y", y, ROWS);
}

static void kmeans_step(void)
{
    enum { N = 333, K = 5 };
    static const float c[K][2] = {{-2, -2}, {2, -2}, {0, 0.5f}, {-2.5f, 2}, {3, 3}};
    float *p = rand_f32(1700000, N * 2, -4, 4);
    int32_t label[N];
    uint32_t count[K] = {0};
    uint64_t sum[2 * K] = {0};
    for (int i = 0; i < N; i++) {
        float best = INFINITY;
        for (int j = 0; j < K; j++) {
            float dx = p[2 * i] - c[j][0], dy = p[2 * i + 1] - c[j][1], yy = dy * dy;
            float d = fmaf(dx, dx, yy);
            if (d < best) {
                best = d;
                label[i] = j;
            }
        }
        count[label[i]]++;
        for (int a = 0; a < 2; a++) sum[2 * label[i] + a] += (uint64_t)llrintf(p[2 * i + a] * 65536.0f);
    }
    OUT_S32("kmeans_step_label", label, N);
    OUT_U32("kmeans_step_count", count, K);
    OUT_U64("kmeans_step_sum", sum, 2 * K);
}

static void mandelbrot(void)
{
    enum { W = 61, H = 43 };
    uint32_t out[W * H];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float cr = fmaf((float)x, 0.05f, -2.0f), ci = fmaf((float)y, 0.05f, -1.05f);
            float zr = 0, zi = 0;
            uint32_t n = 0;
            for (; n < 100; n++) {
                float rr = zr * zr, ii = zi * zi, norm = rr + ii, t = zr * zi, re = rr - ii;
                if (norm > 4.0f) break;
                zr = re + cr;
                zi = fmaf(2.0f, t, ci);
            }
            out[y * W + x] = n;
        }
    OUT_U32("mandelbrot_out", out, W * H);
}

static void crc32(void)
{
    enum { N = 50 };
    int32_t start[N + 1] = {0};
    for (int i = 0; i < N; i++) start[i + 1] = start[i] + i * 11 % 37;
    uint8_t *data = rand_u8(1800000, (size_t)start[N], 0, 256);
    uint32_t out[N];
    for (int i = 0; i < N; i++) {
        uint32_t crc = ~0u;
        for (int p = start[i]; p < start[i + 1]; p++) {
            crc ^= data[p];
            for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
        out[i] = ~crc;
    }
    OUT_S32("crc32_start", start, N + 1);
    OUT_U32("crc32_out", out, N);
}

// The constants of FIPS 180-4 from their definition: fractions of cube roots of the first primes.
static void sha_constants(uint32_t k[64])
{
    for (int n = 0, p = 2; n < 64; p++) {
        bool prime = true;
        for (int d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (prime) {
            long double root = cbrtl(p);
            k[n++] = (uint32_t)((root - floorl(root)) * 0x1p32L);
        }
    }
}

static uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256_block(const uint8_t block[64], uint32_t h[8])
{
    uint32_t k[64], w[64], s[8];
    sha_constants(k);
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = 16; t < 64; t++)
        w[t] = (rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10) + w[t - 7] +
               (rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 16];
    memcpy(s, h, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t1 = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[t] + w[t];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}

static void sha256(void)
{
    enum { N = 37 };
    uint32_t *msg = rand_u32(1900000, N * 13, 0, 0x100000000), out[N * 8];
    for (int i = 0; i < N; i++) {
        uint8_t block[64] = {0};
        uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        memcpy(block, msg + i * 13, 52);
        block[52] = 0x80;
        block[62] = 52 * 8 >> 8;
        block[63] = 52 * 8 & 255;
        sha256_block(block, h);
        memcpy(out + i * 8, h, sizeof h);
    }
    OUT_U32("sha256_digest", out, N * 8);
}

static void philox(void)
{
    enum { N = 75 };
    uint32_t out[N * 4];
    float unit[N];
    for (uint32_t i = 0; i < N; i++) {
        uint32_t c[4] = {i, i * 7, 0x12345678, 42}, key[2] = {0xdeadbeef, 0x12345};
        for (int r = 0; r < 10; r++) {
            uint64_t p = (uint64_t)0xd2511f53 * c[0], q = (uint64_t)0xcd9e8d57 * c[2];
            c[0] = (uint32_t)(q >> 32) ^ c[1] ^ key[0];
            c[1] = (uint32_t)q;
            c[2] = (uint32_t)(p >> 32) ^ c[3] ^ key[1];
            c[3] = (uint32_t)p;
            key[0] += 0x9e3779b9;
            key[1] += 0xbb67ae85;
        }
        memcpy(out + 4 * i, c, sizeof c);
        unit[i] = (float)c[0] * 0x1p-32f;
    }
    OUT_U32("philox_out", out, N * 4);
    OUT_F32("philox_unit", unit, N);
}

void ref_basic(void)
{
    saxpy();
    reduce_block();
    scan_block();
    transpose();
    histogram();
    bitonic_sort();
    matmul_tiled();
    scan_shuffle();
    stencil();
    conv1d_const();
    life_bytes();
    spmv();
    kmeans_step();
    mandelbrot();
    crc32();
    sha256();
    philox();
}
