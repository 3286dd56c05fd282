// References of sparse and block-scaled products. Sparse A is unfolded by its indices; sums are of doubles, which hold them exactly.
#include "matrix.h"

// ---------------------------------------------------------------- sparse

// Positions of two of four neighbours: the lower index in the lower bits, rising unless `mixed`.
static uint32_t pair_of(uint64_t seed, size_t i, bool mixed)
{
    static const int first[6] = {0, 0, 0, 1, 1, 2}, second[6] = {1, 2, 3, 2, 3, 3};
    int p = (int)rand_int(seed, i, 0, mixed ? 12 : 6);
    return p < 6 ? (uint32_t)(first[p] | second[p] << 2) : (uint32_t)(second[p - 6] | first[p - 6] << 2);
}

// 32 bits say it of eight chunks.
static uint32_t *pairs(uint64_t seed, int words, bool mixed)
{
    uint32_t *e = zeros((size_t)words * 4);
    for (int i = 0; i < words * 8; i++) e[i / 8] |= pair_of(seed, (size_t)i, mixed) << i % 8 * 4;
    return e;
}

static void sparse_hgemm(bool ints)
{
    enum { M = 53, N = 20, K = 96 };
    uint32_t *a = matrix_operands(&F16, 6000000, M * K / 2, ints, 1), *bt = matrix_operands(&F16, 6010000, N * K, ints, 1);
    uint32_t *e = pairs(6020000, M * K / 32, false), c[M * N];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            uint32_t acc = 0, x[8], y[8];
            for (int s = 0; s < K / 2; s++) { // the unit takes eight products, 16 of the full k
                uint32_t two = e[i * (K / 32) + s / 16] >> s % 16 * 2 & 3;
                x[s % 8] = a[i * (K / 2) + s];
                y[s % 8] = bt[j * K + s / 2 * 4 + (int)two];
                if (s % 8 == 7) acc = matrix_step(&F16_F32, x, y, acc);
            }
            c[i * N + j] = acc;
        }
    matrix_write16(matrix_named("sparse_hgemm", ints, "a"), "<f2", a, M * K / 2);
    matrix_write16(matrix_named("sparse_hgemm", ints, "bt"), "<f2", bt, N * K);
    OUT_U32(matrix_named("sparse_hgemm", ints, "e"), e, M * K / 32);
    OUT_F32(matrix_named("sparse_hgemm", ints, "c"), c, M * N);
}

static int nibble(const uint32_t *row, int k) { return (int)(row[k / 8] >> k % 8 * 4 & 15); }
static int signed_nibble(const uint32_t *row, int k) { return nibble(row, k) - (nibble(row, k) > 7 ? 16 : 0); }
static int byte(const uint32_t *row, int k) { return (int)(row[k / 4] >> k % 4 * 8 & 255); }

static void sparse_imma(void)
{
    uint32_t *a = rand_u32(6100000, 16 * 8, 0, 0x100000000), *bt = rand_u32(6110000, 8 * 16, 0, 0x100000000);
    uint32_t *e = pairs(6120000, 16 * 2, true), e32[16] = {0};
    static const int64_t start[2][4] = {{1, -2, 3, -4}, {2147483647, -2147483648ll, 2147483000, -2147483000}};
    int32_t out[2][16][8];
    float a32[16][8], b32[8][16], out32[16][8] = {0};
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int64_t bytes = start[0][(j & 1) + i / 8 * 2], nibbles = start[1][(j & 1) + i / 8 * 2];
            for (int s = 0; s < 32; s++) {
                int two = (int)(e[i * 2 + s / 16] >> s % 16 * 2 & 3), x = byte(a + i * 8, s);
                bytes += (x > 127 ? x - 256 : x) * byte(bt + j * 16, s / 2 * 4 + two);
                // Of 4-bit elements an index chooses two neighbours.
                for (int p = 0; p < 2; p++)
                    nibbles += signed_nibble(a + i * 8, 2 * s + p) * signed_nibble(bt + j * 16, s / 2 * 8 + two * 2 + p);
            }
            out[0][i][j] = (int32_t)bytes;
            out[1][i][j] = (int32_t)(nibbles > INT32_MAX ? INT32_MAX : nibbles < INT32_MIN ? INT32_MIN : nibbles);
        }
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 8; k++) {
            a32[i][k] = (float)rand_int(6130000, (size_t)(i * 8 + k), -9, 10);
            e32[i] |= (rand_int(6140000, (size_t)(i * 8 + k), 0, 2) ? 14u : 4u) << 4 * k;
        }
    for (int j = 0; j < 8; j++)
        for (int k = 0; k < 16; k++) b32[j][k] = (float)rand_int(6150000, (size_t)(j * 16 + k), -9, 10);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 8; k++) out32[i][j] += a32[i][k] * b32[j][2 * k + ((e32[i] >> 4 * k & 15) == 14)];
    OUT_U32("sparse_imma_e", e, 32);
    OUT_U32("sparse_imma_e32", e32, 16);
    OUT_F32("sparse_imma_a32", a32, 128);
    OUT_F32("sparse_imma_bt32", b32, 128);
    OUT_S32("sparse_imma_out", out, 256);
    OUT_F32("sparse_imma_out32", out32, 128);
}

// ---------------------------------------------------------------- block scales

// A finite small float: its value, and the exponent that it goes into a product with.
struct small {
    double value;
    int exp;
};
static struct small small_of(int exp_bits, int man_bits, uint32_t code)
{
    int bias = (1 << (exp_bits - 1)) - 1, field = (int)(code >> man_bits & ((1u << exp_bits) - 1));
    int man = (int)(code & ((1u << man_bits) - 1)), exp = (field ? field : 1) - bias;
    double v = ldexp(man + (field ? 1 << man_bits : 0), exp - man_bits);
    return (struct small){code >> (exp_bits + man_bits) & 1 ? -v : v, exp};
}
static int exponent_of(float c) { return c == 0 || fabsf(c) < 0x1p-126f ? -126 : ilogbf(c); }

// x cut toward zero to a multiple of 2^(top - bits).
static double cut_to(double x, int top, int bits) { return ldexp(trunc(ldexp(x, bits - top)), top - bits); }
static float cut_f32(double x)
{
    float f = (float)x;
    return fabs((double)f) > fabs(x) ? nextafterf(f, 0.0f) : f;
}

struct kind {
    int a_exp, a_man, a_shift, b_exp, b_man, b_shift; // formats, and where an element lies in its byte
};

// 32 products under one pair of scales, as RTX Blackwell has them (MMA-Sim): 25 bits below the largest exponent.
static float scaled_step(const struct kind *f, const uint8_t *a, const uint8_t *b, int scale, float c)
{
    double p[32], sum;
    int top = exponent_of(c);
    for (int k = 0; k < 32; k++) {
        struct small x = small_of(f->a_exp, f->a_man, a[k] >> f->a_shift), y = small_of(f->b_exp, f->b_man, b[k] >> f->b_shift);
        p[k] = ldexp(x.value * y.value, scale);
        if (p[k] != 0 && x.exp + y.exp + scale > top) top = x.exp + y.exp + scale;
    }
    sum = cut_to(c, top, 25);
    for (int k = 0; k < 32; k++) sum += cut_to(p[k], top, 25);
    return cut_f32(sum);
}

static void mxfp8_gemm(bool ints)
{
    enum { M = 41, N = 21, K = 256 };
    static const struct kind first = {4, 3, 0, 2, 1, 2}, second = {3, 2, 0, 5, 2, 0};
    uint8_t *a = zeros(M * K), *bt = zeros(N * K);
    uint8_t *sa = rand_u8(6220000, M * K / 32, ints ? 127 : 118, ints ? 129 : 136), *sb = rand_u8(6230000, N * K / 32, ints ? 127 : 118, ints ? 129 : 136);
    float c[M * N], c32[M * N];
    for (int i = 0; i < M * K; i++) {
        // e4m3 but NaN; as e3m2 its lower six bits. Whole numbers: 4, 5, 6, 7 or 0, with a sign.
        uint32_t any = (uint32_t)rand_int(6200000, (size_t)i, 0, 255);
        a[i] = (uint8_t)(ints ? (any & 1 ? 0x48 | (any & 0x86) : 0) : (any & 127) == 127 ? any - 1 : any);
    }
    for (int i = 0; i < N * K; i++) {
        // e5m2 from 1/8 to 14; as e2m1 the four bits in its middle. Whole numbers: ±1.
        uint32_t any = (uint32_t)rand_int(6210000, (size_t)i, 0, 256);
        bt[i] = (uint8_t)(ints ? (any & 0x80) | 0x3c : (any & 0x83) | (12 + (any >> 2 & 31) % 7) << 2);
        if (ints) bt[i] = (uint8_t)(any & 1 ? 0x3c : 0xbc);
    }
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float x = 0, y = 0;
            for (int s = 0; s < K / 32; s++) {
                int scale = sa[i * (K / 32) + s] + sb[j * (K / 32) + s] - 254;
                x = scaled_step(&first, a + i * K + s * 32, bt + j * K + s * 32, scale, x);
                y = scaled_step(&second, a + i * K + s * 32, bt + j * K + s * 32, scale, y);
            }
            c[i * N + j] = x;
            c32[i * N + j] = y;
        }
    OUT_U8(matrix_named("mxfp8_gemm", ints, "a"), a, M * K);
    OUT_U8(matrix_named("mxfp8_gemm", ints, "bt"), bt, N * K);
    OUT_F32(matrix_named("mxfp8_gemm", ints, "c"), c, M * N);
    OUT_F32(matrix_named("mxfp8_gemm", ints, "c32"), c32, M * N);
}

// 64 products in four groups, each with its scales: the group's sum is exact, and cut to 35 bits below the largest exponent of scales and c.
static float grouped_step(const uint8_t *a, const uint8_t *b, const struct small sa[4], const struct small sb[4], float c)
{
    double sum, group[4];
    int top = exponent_of(c);
    for (int g = 0; g < 4; g++) {
        group[g] = 0;
        for (int k = 16 * g; k < 16 * g + 16; k++)
            group[g] += small_of(2, 1, a[k / 2] >> k % 2 * 4 & 15).value * small_of(2, 1, b[k / 2] >> k % 2 * 4 & 15).value;
        group[g] *= sa[g].value * sb[g].value;
        if (sa[g].value * sb[g].value != 0 && sa[g].exp + sb[g].exp > top) top = sa[g].exp + sb[g].exp;
    }
    sum = cut_to(c, top, 35);
    for (int g = 0; g < 4; g++) sum += cut_to(group[g], top, 35);
    return cut_f32(sum);
}

static void nvfp4_gemm(bool ints)
{
    enum { M = 37, N = 19, K = 256 };
    uint8_t *a = rand_u8(6300000, M * K / 2, 0, 256), *bt = rand_u8(6310000, N * K / 2, 0, 256);
    // ue4m3: whole numbers from 8, or any but NaN. ue8m0 near 1.
    uint8_t *sa = rand_u8(6320000, M * K / 16, ints ? 0x50 : 0, ints ? 0x58 : 127), *sb = rand_u8(6330000, N * K / 16, ints ? 0x50 : 0, ints ? 0x58 : 127);
    uint8_t *xa = rand_u8(6340000, M * K / 32, ints ? 129 : 110, ints ? 131 : 142), *xb = rand_u8(6350000, N * K / 32, ints ? 129 : 110, ints ? 131 : 142);
    float c[M * N], cx[M * N];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float x = 0, y = (float)(1 + (j & 1) + 2 * (i % 16 >= 8));
            for (int k = 0; k < K; k += 64) {
                struct small s[4], t[4], u[4], v[4];
                for (int g = 0; g < 4; g++) {
                    s[g] = small_of(4, 3, sa[i * (K / 16) + k / 16 + g]);
                    t[g] = small_of(4, 3, sb[j * (K / 16) + k / 16 + g]);
                    int p = xa[i * (K / 32) + k / 32 + g / 2] - 127, q = xb[j * (K / 32) + k / 32 + g / 2] - 127;
                    u[g] = (struct small){ldexp(1, p), p};
                    v[g] = (struct small){ldexp(1, q), q};
                }
                const uint8_t *row = a + (i * K + k) / 2, *column = bt + (j * K + k) / 2;
                x = grouped_step(row, column, s, t, x);
                y = grouped_step(row, column, u, v, y);
            }
            c[i * N + j] = x;
            cx[i * N + j] = y;
        }
    OUT_F32(matrix_named("nvfp4_gemm", ints, "c"), c, M * N);
    OUT_F32(matrix_named("nvfp4_gemm", ints, "cx"), cx, M * N);
}

void ref_blocks(void)
{
    for (int ints = 0; ints < 2; ints++) {
        sparse_hgemm(ints);
        mxfp8_gemm(ints);
        nvfp4_gemm(ints);
    }
    sparse_imma();
}
