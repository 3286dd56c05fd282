// References of mma, wmma and the matrix moves: the published Ada model over exact integers.
//
// One step adds K' exact products to the accumulator (MMA-Sim, arXiv 2511.10909): every term is
// cut toward zero to F fractional bits under the largest exponent, the cut terms are summed, and
// the sum is rounded once (f16: to nearest even; f32: cut to 23 bits, or 13 for fp8 operands).
#include "matrix.h"

static const struct format TF32 = {8, 10, 127, 0, 0, false, 0};
static const struct format F32 = {8, 23, 127, 0, 0, false, 0};

struct term {
    int64_t sig; // signed significand, an integer
    int exp;     // exponent that takes part in the maximum
    int frac;    // value = sig * 2^(exp - frac)
};

const struct model F16_F32 = {&F16, &F16, 8, 24, 23};
static const struct model F16_F16 = {&F16, &F16, 8, 24, 0};
static const struct model BF16_F32 = {&BF16, &BF16, 8, 24, 23}, TF32_F32 = {&TF32, &TF32, 4, 24, 23};
static const struct model E4M3_F16 = {&E4M3, &E4M3, 16, 13, 0}, E4M3_F32 = {&E4M3, &E4M3, 16, 13, 13};
static const struct model E5M2_F32 = {&E5M2, &E4M3, 16, 13, 13};

static struct term operand(const struct format *f, uint32_t bits)
{
    int exp = (int)(bits >> f->man_bits & ((1u << f->exp_bits) - 1));
    int64_t sig = bits & ((1u << f->man_bits) - 1);
    if (exp) sig |= 1ll << f->man_bits;
    bool negative = bits >> (f->man_bits + f->exp_bits) & 1;
    return (struct term){negative ? -sig : sig, (exp ? exp : 1) - f->bias, f->man_bits};
}

static int64_t cut(struct term t, int max_exp, int frac_bits)
{
    int shift = t.exp - t.frac - max_exp + frac_bits;
    int64_t m = t.sig < 0 ? -t.sig : t.sig;
    m = shift >= 0 ? m << shift : shift < -62 ? 0 : m >> -shift;
    return t.sig < 0 ? -m : m;
}

static float truncated(int64_t sum, int scale, int keep)
{
    uint64_t m = sum < 0 ? (uint64_t)-sum : (uint64_t)sum;
    if (m == 0) return 0.0f;
    int top = 63 - __builtin_clzll(m), exp = top + scale;
    int drop = (exp < -126 ? -126 : exp) - keep - scale; // bits of m below the last kept one
    if (drop > 0) m = m >> drop << drop;
    double v = ldexp((double)m, scale);
    return (float)(sum < 0 ? -v : v);
}

// One accumulation step; acc holds f32 bits, or f16 bits when keep is 0.
uint32_t matrix_step(const struct model *m, const uint32_t *a, const uint32_t *b, uint32_t acc)
{
    struct term t[17];
    int n = m->k_step, max_exp = -10000;
    for (int i = 0; i < n; i++) {
        struct term x = operand(m->a, a[i]), y = operand(m->b, b[i]);
        t[i] = (struct term){x.sig * y.sig, x.exp + y.exp, x.frac + y.frac};
    }
    t[n] = operand(m->keep ? &F32 : &F16, acc);
    for (int i = 0; i <= n; i++)
        if (t[i].sig && t[i].exp > max_exp) max_exp = t[i].exp;
    int64_t sum = 0;
    for (int i = 0; i <= n; i++)
        if (t[i].sig) sum += cut(t[i], max_exp, m->frac_bits);
    int scale = max_exp - m->frac_bits;
    if (m->keep) return bits_f32(truncated(sum, scale, m->keep));
    return encode(&F16, sum ? ldexp((double)sum, scale) : 0.0, RN);
}

// acc[i][j] += sum over k of a[i][k] * bt[j][k], k a multiple of the step; operands are bits.
static void gemm(const struct model *mod, const uint32_t *a, const uint32_t *bt, uint32_t *acc, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int s = 0; s < k; s += mod->k_step)
                acc[i * n + j] = matrix_step(mod, a + i * k + s, bt + j * k + s, acc[i * n + j]);
}

// Operands of a format: small integers, or uniform in [-range, range).
uint32_t *matrix_operands(const struct format *f, uint64_t seed, int n, bool ints, double range)
{
    uint32_t *w = zeros((size_t)n * 4);
    for (int i = 0; i < n; i++) {
        double v = ints ? (double)rand_int(seed, (size_t)i, -2, 3) : -range + 2 * range * random_unit(seed, (size_t)i);
        w[i] = encode(f, v, RN);
    }
    return w;
}

void matrix_write16(const char *name, const char *descr, const uint32_t *w, size_t n)
{
    uint16_t *p = zeros(n * 2);
    for (size_t i = 0; i < n; i++) p[i] = (uint16_t)w[i];
    NPY(name, descr, p, n);
}

void matrix_write8(const char *name, const uint32_t *w, size_t n)
{
    uint8_t *p = zeros(n);
    for (size_t i = 0; i < n; i++) p[i] = (uint8_t)w[i];
    OUT_U8(name, p, n);
}

const char *matrix_named(const char *base, bool ints, const char *what)
{
    static char text[4][64];
    static int at;
    char *s = text[at++ & 3], *end = s;
    for (const char *part[] = {base, ints ? "_int_" : "_", what, NULL}, **p = part; *p; p++)
        for (const char *c = *p; *c; c++) *end++ = *c;
    *end = 0;
    return s;
}

static void hgemm_mma(bool ints)
{
    enum { M = 41, N = 37, K = 40 };
    uint32_t *a = matrix_operands(&F16, 4000000, M * K, ints, 1), *b = matrix_operands(&F16, 4100000, K * N, ints, 1);
    uint32_t bt[N * K], *c = zeros(M * N * 4);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) bt[j * K + k] = b[k * N + j];
    gemm(&F16_F32, a, bt, c, M, N, K);
    matrix_write16(matrix_named("hgemm_mma", ints, "a"), "<f2", a, M * K);
    matrix_write16(matrix_named("hgemm_mma", ints, "b"), "<f2", b, K * N);
    OUT_F32(matrix_named("hgemm_mma", ints, "c"), c, M * N);
}

static void hgemm_f16acc(const char *name, uint64_t seed, int k, bool start, bool ints)
{
    enum { M = 32, N = 24 };
    uint32_t *a = matrix_operands(&F16, seed, M * k, ints, 2), *bt = matrix_operands(&F16, seed + 10000, N * k, ints, 2);
    uint32_t *c = zeros(M * N * 4);
    if (start) {
        c = matrix_operands(&F16, seed + 20000, M * N, ints, 8);
        matrix_write16(matrix_named(name, ints, "start"), "<f2", c, M * N);
    }
    gemm(&F16_F16, a, bt, c, M, N, k);
    matrix_write16(matrix_named(name, ints, "a"), "<f2", a, (size_t)(M * k));
    matrix_write16(matrix_named(name, ints, "bt"), "<f2", bt, (size_t)(N * k));
    matrix_write16(matrix_named(name, ints, "c"), "<f2", c, M * N);
}

// The second accumulator of bf16_mma and tf32_mma starts at 1, 2, 3, 4 by fragment register.
static void start_1234(uint32_t *c, int m, int n)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) c[i * n + j] = bits_f32((float)(1 + (j & 1) + 2 * (i % 16 >= 8)));
}

static void bf16_mma(bool ints)
{
    enum { M = 32, N = 24, K = 48 };
    uint32_t *a = matrix_operands(&BF16, 4200000, M * K, ints, 1), *bt = matrix_operands(&BF16, 4300000, N * K, ints, 1);
    uint32_t *c = zeros(M * N * 4), *c8 = zeros(M * N * 4);
    gemm(&BF16_F32, a, bt, c, M, N, K);
    start_1234(c8, M, N);
    gemm(&BF16_F32, a, bt, c8, M, N, K);
    matrix_write16(matrix_named("bf16_mma", ints, "a"), "<u2", a, M * K);
    matrix_write16(matrix_named("bf16_mma", ints, "bt"), "<u2", bt, N * K);
    OUT_F32(matrix_named("bf16_mma", ints, "c"), c, M * N);
    OUT_F32(matrix_named("bf16_mma", ints, "c8"), c8, M * N);
}

static uint32_t *tf32_of(const float *x, int n)
{
    uint32_t *w = zeros((size_t)n * 4);
    for (int i = 0; i < n; i++) w[i] = (bits_f32(x[i]) + 0x1000) >> 13; // cvt.rna: to nearest, ties away from zero
    return w;
}

static void tf32_mma(bool ints)
{
    enum { M = 32, N = 24, K = 24 };
    float *a = rand_f32(4400000, M * K, -1, 1), *bt = rand_f32(4500000, N * K, -1, 1);
    for (int i = 0; i < M * K && ints; i++) a[i] = floorf(a[i] * 4);
    for (int i = 0; i < N * K && ints; i++) bt[i] = floorf(bt[i] * 4);
    uint32_t *c = zeros(M * N * 4), *c4 = zeros(M * N * 4);
    gemm(&TF32_F32, tf32_of(a, M * K), tf32_of(bt, N * K), c, M, N, K);
    start_1234(c4, M, N);
    gemm(&TF32_F32, tf32_of(a, M * K), tf32_of(bt, N * K), c4, M, N, K);
    OUT_F32(matrix_named("tf32_mma", ints, "a"), a, M * K);
    OUT_F32(matrix_named("tf32_mma", ints, "bt"), bt, N * K);
    OUT_F32(matrix_named("tf32_mma", ints, "c"), c, M * N);
    OUT_F32(matrix_named("tf32_mma", ints, "c4"), c4, M * N);
}

static void fp8_gemm_f16(bool ints)
{
    enum { M = 40, N = 24, K = 96 };
    uint32_t *a = matrix_operands(&E4M3, 4600000, M * K, ints, 4), *bt = matrix_operands(&E4M3, 4700000, N * K, ints, 4);
    uint32_t *c = zeros(M * N * 4);
    gemm(&E4M3_F16, a, bt, c, M, N, K);
    matrix_write8(matrix_named("fp8_gemm_f16", ints, "a"), a, M * K);
    matrix_write8(matrix_named("fp8_gemm_f16", ints, "bt"), bt, N * K);
    matrix_write16(matrix_named("fp8_gemm_f16", ints, "c"), "<f2", c, M * N);
}

static void fp8_gemm_f32(bool ints)
{
    enum { M = 32, N = 24, K = 64 };
    uint32_t *a = matrix_operands(&E4M3, 4800000, M * K, ints, 4), *bt = matrix_operands(&E4M3, 4900000, N * K, ints, 4);
    uint32_t *c = zeros(M * N * 4), *c52 = zeros(M * N * 4);
    gemm(&E4M3_F32, a, bt, c, M, N, K);
    gemm(&E5M2_F32, a, bt, c52, M, N, K);
    matrix_write8(matrix_named("fp8_gemm_f32", ints, "a"), a, M * K);
    matrix_write8(matrix_named("fp8_gemm_f32", ints, "bt"), bt, N * K);
    OUT_F32(matrix_named("fp8_gemm_f32", ints, "c"), c, M * N);
    OUT_F32(matrix_named("fp8_gemm_f32", ints, "c52"), c52, M * N);
}

static void wmma_gemm(bool ints)
{
    enum { M = 32, N = 32, K = 48, LDA = 56, LDB = 64, LDC = 40 };
    uint32_t *a = matrix_operands(&F16, 5000000, M * LDA, ints, 1), *bt = matrix_operands(&F16, 5100000, N * LDB, ints, 1);
    float *c = rand_f32(5200000, M * LDC, -4, 4);
    for (int i = 0; i < M * LDC && ints; i++) c[i] = floorf(c[i]);
    OUT_F32(matrix_named("wmma_gemm", ints, "start"), c, M * LDC);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            uint32_t acc = bits_f32(c[i * LDC + j]);
            gemm(&F16_F32, a + i * LDA, bt + j * LDB, &acc, 1, 1, K);
            c[i * LDC + j] = float_of(acc) * 2.0f;
        }
    matrix_write16(matrix_named("wmma_gemm", ints, "a"), "<f2", a, M * LDA);
    matrix_write16(matrix_named("wmma_gemm", ints, "bt"), "<f2", bt, N * LDB);
    OUT_F32(matrix_named("wmma_gemm", ints, "c"), c, M * LDC);
}

static void wmma_shapes(void)
{
    uint16_t *a = rand_f16(5300000, 16 * 32, -1, 1), *b = rand_f16(5310000, 16 * 8, -1, 1);
    uint16_t ct[8 * 32];
    for (int r = 0; r < 32; r++)
        for (int c = 0; c < 8; c++) {
            uint32_t x[16], y[16], acc = 0x3800;
            for (int k = 0; k < 16; k++) {
                x[k] = a[k * 32 + r];
                y[k] = b[k * 8 + c];
            }
            gemm(&F16_F16, x, y, &acc, 1, 1, 16);
            ct[c * 32 + r] = (uint16_t)acc;
        }
    OUT_F16("wmma_shapes_ct", ct, 8 * 32);
    int8_t *ia = rand_s8(5320000, 8 * 16, -128, 128), *ib = rand_s8(5330000, 16 * 32, -128, 128);
    int32_t ic[8 * 32];
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 32; c++) {
            ic[r * 32 + c] = 100;
            for (int k = 0; k < 16; k++) ic[r * 32 + c] += ia[r * 16 + k] * ib[k * 32 + c];
        }
    OUT_S32("wmma_shapes_ic", ic, 8 * 32);
}

static void imma_s8(void)
{
    enum { M = 32, N = 24, K = 64 };
    static const int32_t start[4] = {2147483000, 0, -2147483000, 5};
    int8_t *a = rand_s8(5400000, M * K, -128, 128), *bt = rand_s8(5410000, N * K, -128, 128);
    int32_t c[M * N], sat[M * N], mixed[M * N];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            int64_t wrap = start[(j & 1) + 2 * (i % 16 >= 8)], s = wrap, u = 0;
            for (int k = 0; k < K; k++) {
                int p = a[i * K + k] * bt[j * K + k];
                wrap += p;
                s += p;
                u += (uint8_t)a[i * K + k] * bt[j * K + k];
                if (k % 32 == 31) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
            }
            c[i * N + j] = (int32_t)wrap;
            sat[i * N + j] = (int32_t)s;
            mixed[i * N + j] = (int32_t)u;
        }
    OUT_S32("imma_s8_c", c, M * N);
    OUT_S32("imma_s8_sat", sat, M * N);
    OUT_S32("imma_s8_mixed", mixed, M * N);
}

static void imma_s4_b1(void)
{
    uint32_t *a = rand_u32(5500000, 16 * 8, 0, 0x100000000);
    uint32_t *bt = rand_u32(5510000, 8 * 8, 0, 0x100000000);
    int32_t out[4][16][8] = {0};
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            for (int w = 0; w < 8; w++) {
                uint32_t x = a[i * 8 + w], y = bt[j * 8 + w];
                for (int s = 0; s < 32; s += 4) {
                    int u = x >> s & 15, v = y >> s & 15, su = u > 7 ? u - 16 : u;
                    v = v > 7 ? v - 16 : v;
                    out[0][i][j] += su * v;
                    out[1][i][j] += u * v;
                }
                out[2][i][j] += __builtin_popcount(x & y);
                out[3][i][j] += __builtin_popcount(x ^ y);
            }
    OUT_S32("imma_s4_b1_out", out, 4 * 16 * 8);
}

static void dmma_f64(void)
{
    enum { M = 16, N = 24, K = 20 };
    double *a = rand_f64(5600000, M * K, -1, 1), *bt = rand_f64(5610000, N * K, -1, 1);
    double *c = rand_f64(5620000, M * N, -1, 1);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++) c[i * N + j] = fma(a[i * K + k], bt[j * K + k], c[i * N + j]);
    OUT_F64("dmma_f64_c", c, M * N);
}

// Fragment of lane: row lane/4, columns 2*(lane%4) and one more; the other way round when trans.
static uint32_t fragment(const uint16_t *const row[8], int lane, bool trans)
{
    int r = lane / 4, c = lane % 4 * 2;
    return trans ? row[c][r] | (uint32_t)row[c + 1][r] << 16 : row[r][c] | (uint32_t)row[r][c + 1] << 16;
}

static void matrix_moves(void)
{
    uint16_t *s = rand_u16(5700000, 256, 0, 65536), out[7][8][8];
    uint32_t frag[8][32];
    for (int m = 0; m < 7; m++) {
        const uint16_t *row[8];
        // x1 reads row l for lane l; x2 row l^1; x4 row l^3; matrix m of an instruction uses lanes 8m...
        for (int r = 0; r < 8; r++)
            row[r] = s + 8 * (m == 0 ? r : m < 3 ? ((m - 1) * 8 + r) ^ 1 : ((m - 3) * 8 + r) ^ 3);
        for (int l = 0; l < 32; l++) frag[m][l] = fragment(row, l, m == 1 || m == 2);
    }
    for (int m = 0; m < 7; m++)
        for (int l = 0; l < 32; l++)
            for (int e = 0; e < 2; e++) {
                uint16_t v = (uint16_t)(frag[m][l] >> 16 * e);
                bool trans = m == 0 || m >= 3;
                int r = trans ? l % 4 * 2 + e : l / 4, c = trans ? l / 4 : l % 4 * 2 + e;
                out[m][m >= 3 ? r ^ 1 : r][c] = v;
            }
    for (int l = 0; l < 32; l++) { // movmatrix of fragment 3: element (r, c) comes from (c, r)
        uint32_t v = 0;
        for (int e = 0; e < 2; e++) {
            int r = l / 4, c = l % 4 * 2 + e, from = c * 4 + r / 2;
            v |= (frag[3][from] >> 16 * (r & 1) & 0xffff) << 16 * e;
        }
        frag[7][l] = v;
    }
    OUT_U32("matrix_moves_frag", frag, 8 * 32);
    OUT_U16("matrix_moves_out", out, 7 * 64);
}

// Element c of a row of 16 bytes that holds elements of so many bits, low bits first.
static uint32_t packed(const uint8_t *row, int c, int bits)
{
    uint32_t v = 0;
    for (int b = bits - 1; b >= 0; b--) v = v << 1 | (row[(c * bits + b) / 8] >> (c * bits + b) % 8 & 1);
    return v;
}

// Fragment word r of form 0 to 4 in lane l, as the figures of ldmatrix show it: four neighbours down a column of a 16 x 16 matrix, or
// along a row of an 8 x 16 one.
static uint32_t word_of(const uint8_t *rows, int form, int r, int l)
{
    static const int bits[5] = {8, 6, 4, 6, 4};
    uint32_t v = 0;
    for (int e = 3; e >= 0; e--) {
        int row = form < 3 ? 16 * (r / 2) + 4 * (l % 4) + e : 8 * r + l / 4, column = form < 3 ? 8 * (r % 2) + l / 4 : 4 * (l % 4) + e;
        v = v << 8 | packed(rows + 16 * row, column, bits[form]);
    }
    return v;
}

static void matrix_bytes(void)
{
    uint32_t *in = rand_u32(5710000, 128, 0, 0x100000000), frag[21][32], answer[32];
    uint8_t rows[512], copy[512], masked[512] = {0};
    memcpy(rows, in, 512);
    for (int l = 0; l < 32; l++) {
        for (int form = 0; form < 5; form++)
            for (int r = 0; r < 4; r++) frag[4 * form + r][l] = word_of(rows, form, r, l);
        frag[20][l] = word_of(rows, 0, 0, l) ^ word_of(rows, 0, 1, l);
        for (int b = 0; b < 16; b++) copy[16 * l + b] = (uint8_t)(l >= 16 && b % 4 == 0 ? l : 0);
        answer[l] = 10;
    }
    // Row n of the stored matrix j is column n of C, 16 x 8: thread (m % 8) * 4 + n / 2 has element (m, n) in byte 2(m / 8) + n % 2.
    for (int j = 0; j < 2; j++)
        for (int m = 0; m < 16; m++)
            for (int n = 0; n < 8; n++) {
                int l = m % 8 * 4 + n / 2, byte = m / 8 * 2 + n % 2;
                uint32_t c = j ? word_of(rows, 0, 0, l) : (uint32_t)l * 0x01010101u + 0x03020100u;
                copy[128 + 128 * j + 16 * n + m] = (uint8_t)(c >> 8 * byte);
            }
    for (int b = 0; b < 512; b++)
        if (0xa5f0 >> b % 16 & 1) masked[b] = copy[b];
    OUT_U32("matrix_bytes_frag", frag, 21 * 32);
    OUT_U8("matrix_bytes_back", copy, 512);
    OUT_U8("matrix_bytes_masked", masked, 512);
    OUT_U32("matrix_bytes_answer", answer, 32);
}

void ref_matrix(void)
{
    for (int ints = 0; ints < 2; ints++) {
        hgemm_mma(ints);
        hgemm_f16acc("hgemm_f16acc", 4010000, 40, false, ints);
        hgemm_f16acc("hgemm_f16acc_k16", 4060000, 48, true, ints);
        bf16_mma(ints);
        tf32_mma(ints);
        fp8_gemm_f16(ints);
        fp8_gemm_f32(ints);
        wmma_gemm(ints);
    }
    wmma_shapes();
    imma_s8();
    imma_s4_b1();
    dmma_f64();
    matrix_moves();
    matrix_bytes();
}
