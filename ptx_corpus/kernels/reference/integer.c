// References of integer arithmetic: 64 and 128 bits, bytes, video and bit instructions, atomics.
#include "ref.h"

typedef unsigned __int128 u128;

static uint64_t random64(uint64_t seed, int i)
{
    // Every magnitude gets its turn.
    uint64_t v = splitmix64(seed + (uint64_t)i) >> (i * 5 % 64);
    return i % 3 == 2 ? 0 - v : v;
}

static void int64(void)
{
    enum { N = 80 };
    int64_t a[N], b[N], out[N * 14];
    for (int i = 0; i < N; i++) {
        a[i] = (int64_t)random64(8000000, i);
        b[i] = (int64_t)random64(8010000, i * 7 + 1);
        if (i == 5) a[i] = b[i] = 77;
        if (i == 6) a[i] = INT64_MIN, b[i] = 3;
        if (b[i] == 0) b[i] = 1;
        int64_t x = a[i], y = b[i], *o = out + i * 14;
        uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
        o[0] = (int64_t)(ux * uy);
        o[1] = (int64_t)((__int128)x * y >> 64);
        o[2] = (int64_t)((u128)ux * uy >> 64);
        o[3] = x / y;
        o[4] = x % y;
        o[5] = (int64_t)(ux / uy);
        o[6] = (int64_t)(ux % uy);
        o[7] = x >> (uy & 63);
        o[8] = (int64_t)(ux >> (uy & 63));
        o[9] = (int64_t)(ux << (uy & 63));
        o[10] = (int64_t)((uint64_t)(x > y ? x : y) - (ux < uy ? ux : uy));
        o[11] = (x < y) + 2 * (ux < uy) + 4 * (x == y);
        o[12] = (int64_t)(x < 0 ? 0 - ux : ux) ^ (int32_t)y;
        o[13] = (int64_t)((uint64_t)((int64_t)(int32_t)x * (int32_t)y) + (uint64_t)(uint32_t)x * (uint32_t)y);
    }
    OUT_S64("int64_a", a, N);
    OUT_S64("int64_b", b, N);
    OUT_S64("int64_out", out, N * 14);
}

static void carry128(void)
{
    enum { N = 130 };
    uint64_t a[2 * N], b[2 * N], *out = zeros(N * 10 * 8);
    uint32_t *words = zeros(N * 12 * 4);
    for (int i = 0; i < N; i++) {
        for (int h = 0; h < 2; h++) {
            a[2 * i + h] = random64(8020000, 2 * i + h);
            b[2 * i + h] = random64(8030000, 3 * i + h);
        }
        if (i % 9 == 0) b[2 * i] = 0 - a[2 * i]; // a carry that runs through
        u128 x = (u128)a[2 * i + 1] << 64 | a[2 * i], y = (u128)b[2 * i + 1] << 64 | b[2 * i];
        u128 r[5] = {x + y, x - y, x * y, x >> (i % 128), x << (i % 128)};
        memcpy(out + i * 10, r, sizeof r);
        uint64_t p = a[2 * i], q = b[2 * i], low = p + q, diff = p - q;
        uint32_t *w = words + i * 12;
        memcpy(w, &low, 8);
        w[2] = low < p;
        memcpy(w + 3, &diff, 8);
        w[5] = 0 - (uint32_t)(p < q);
        u128 product = (u128)p * q;
        memcpy(w + 6, &product, 16);
        w[10] = (uint32_t)(low >> 32);
        w[11] = low < p;
    }
    OUT_U64("carry128_a", a, 2 * N);
    OUT_U64("carry128_b", b, 2 * N);
    OUT_U64("carry128_out", out, N * 10);
    OUT_U32("carry128_words", words, N * 12);
}

static void int8_16(void)
{
    enum { N = 150 };
    int8_t *a = rand_s8(8040000, N, -128, 128), o8[2 * N];
    uint8_t *b = rand_u8(8050000, N, 0, 256), u8[2 * N];
    int16_t *c = rand_s16(8060000, N, -32768, 32768), o16[4 * N];
    uint16_t u16[3 * N];
    for (int i = 0; i < N; i++) {
        int x = a[i], y = b[i], z = c[i], w = y * 257;
        o8[2 * i] = (int8_t)(x + y);
        o8[2 * i + 1] = (int8_t)(x / (int8_t)(y | 1) - x % 7);
        u8[2 * i] = (uint8_t)(y * x) ^ (uint8_t)(y >> 3);
        u8[2 * i + 1] = (uint8_t)(y < (uint8_t)x ? y : (uint8_t)x);
        o16[4 * i] = (int16_t)(z * x);
        o16[4 * i + 1] = (int16_t)(z >> (y & 15));
        o16[4 * i + 2] = (int16_t)(z > -x ? z : -x);
        o16[4 * i + 3] = (int16_t)(z * (int16_t)(x * 200) >> 16);
        u16[3 * i] = (uint16_t)(w / (y | 3));
        u16[3 * i + 1] = (uint16_t)(w % 1000 + (uint16_t)z);
        u16[3 * i + 2] = (uint16_t)((uint32_t)~w << (x & 7));
    }
    OUT_S8("int8_16_o8", o8, 2 * N);
    OUT_U8("int8_16_u8", u8, 2 * N);
    OUT_S16("int8_16_o16", o16, 4 * N);
    OUT_U16("int8_16_u16", u16, 3 * N);
}

enum simd { ADD, SUB, ABSDIFF, MIN, MAX, AVERAGE, GREATER, LESS_EQUAL, LESS };

static int64_t clamp64(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

// A SIMD video instruction over lanes of `bits` bits; sum adds the lanes to c instead of packing.
static uint32_t lanes(enum simd op, int bits, bool is_signed, bool sat, uint32_t x, uint32_t y)
{
    uint32_t r = 0, mask = (1u << bits) - 1;
    for (int s = 0; s < 32; s += bits) {
        int64_t a = x >> s & mask, b = y >> s & mask, half = 1ll << (bits - 1), t = 0;
        if (is_signed) {
            a = (a ^ half) - half;
            b = (b ^ half) - half;
        }
        switch (op) {
        case ADD: t = a + b; break;
        case SUB: t = a - b; break;
        case ABSDIFF: t = a > b ? a - b : b - a; break;
        case MIN: t = a < b ? a : b; break;
        case MAX: t = a > b ? a : b; break;
        case AVERAGE: t = (a + b + (a + b >= 0)) >> 1; break;
        case GREATER: t = a > b; break;
        case LESS_EQUAL: t = a <= b; break;
        case LESS: t = a < b; break;
        }
        if (sat) t = is_signed ? clamp64(t, -half, half - 1) : clamp64(t, 0, mask);
        r |= ((uint32_t)t & mask) << s;
    }
    return r;
}

static void video(void)
{
    enum { N = 75 };
    uint32_t *a = rand_u32(8070000, N, 0, 0x100000000), *b = rand_u32(8080000, N, 0, 0x100000000);
    uint32_t out[N * 28];
    for (int i = 0; i < N; i++) {
        uint32_t x = a[i], y = b[i], z = a[(i + 1) % N], *o = out + i * 28, d;
        o[0] = lanes(ADD, 8, false, false, x, y);
        o[1] = lanes(ADD, 8, true, true, x, y);
        o[2] = lanes(SUB, 8, true, true, x, y);
        d = lanes(ABSDIFF, 8, false, false, x, y);
        o[3] = z + (d & 255) + (d >> 8 & 255) + (d >> 16 & 255) + (d >> 24);
        o[4] = lanes(ABSDIFF, 8, true, false, x, y);
        o[5] = lanes(MIN, 8, true, false, x, y);
        o[6] = lanes(MAX, 8, false, false, x, y);
        o[7] = lanes(AVERAGE, 8, false, false, x, y);
        o[8] = lanes(AVERAGE, 8, true, false, x, y);
        o[9] = lanes(GREATER, 8, false, false, x, y);
        o[10] = lanes(LESS_EQUAL, 8, true, false, x, y);
        o[11] = lanes(ADD, 16, true, true, x, y);
        o[12] = lanes(SUB, 16, false, true, x, y);
        o[13] = lanes(ABSDIFF, 16, true, false, x, y);
        o[14] = lanes(MAX, 16, true, false, x, y);
        o[15] = lanes(MIN, 16, false, false, x, y);
        o[16] = lanes(AVERAGE, 16, false, false, x, y);
        o[17] = lanes(LESS, 16, true, false, x, y);
        int32_t xh0 = (int16_t)x, xh1 = (int16_t)(x >> 16), yh0 = (int16_t)y, yh1 = (int16_t)(y >> 16);
        int32_t xb0 = (int8_t)x, xb1 = (int8_t)(x >> 8), yb2 = (int8_t)(y >> 16);
        o[18] = (x >> 8 & 255) + (uint32_t)yh1;
        o[19] = (x & 0xffff) > y >> 24 ? (x & 0xffff) - (y >> 24) : 0;
        o[20] = (uint32_t)(xb0 > yb2 ? xb0 - yb2 : yb2 - xb0) + z;
        int32_t least = (int32_t)x < (int32_t)y ? (int32_t)x : (int32_t)y;
        o[21] = (uint32_t)(least > (int32_t)z ? least : (int32_t)z);
        o[22] = (y & 255) >= 32 ? 0 : x << (y & 255);
        o[23] = (uint32_t)(xh1 >> (y >> 8 & 31));
        o[24] = (uint32_t)(xb1 * yh0) + z;
        o[25] = (int32_t)(int8_t)(x >> 16) < (int32_t)(y & 0xffff);
        o[26] = (z & 0xff00ffff) | (((x & 255) + (y >> 8 & 255)) & 255) << 16;
        o[27] = (z & 0xffff) | (uint32_t)(xh0 > yh1 ? xh0 : yh1) << 16;
    }
    OUT_U32("video_out", out, N * 28);
}

static uint32_t dp4(uint32_t x, uint32_t y, uint32_t c, bool xs, bool ys)
{
    for (int s = 0; s < 32; s += 8)
        c += (uint32_t)((xs ? (int8_t)(x >> s) : (int)(x >> s & 255)) * (ys ? (int8_t)(y >> s) : (int)(y >> s & 255)));
    return c;
}

static uint32_t dp2(uint32_t x, uint32_t y, uint32_t c, bool xs, bool ys, int upper)
{
    for (int h = 0; h < 2; h++) {
        int32_t p = xs ? (int16_t)(x >> 16 * h) : (int)(x >> 16 * h & 0xffff);
        uint32_t byte = y >> (16 * upper + 8 * h) & 255;
        c += (uint32_t)p * (uint32_t)(ys ? (int8_t)byte : (int)byte);
    }
    return c;
}

static void dot_product(void)
{
    enum { N = 75 };
    uint32_t *a = rand_u32(8090000, N, 0, 0x100000000), *b = rand_u32(8100000, N, 0, 0x100000000);
    uint32_t out[N * 14];
    for (int i = 0; i < N; i++) {
        uint32_t x = a[i], y = b[i], *o = out + i * 14, n = (uint32_t)i;
        o[0] = dp4(x, y, (uint32_t)-5, true, true);
        o[1] = dp4(x, y, 7, false, false);
        o[2] = dp4(x, y, n, false, true);
        o[3] = dp4(x, y, n, true, false);
        o[4] = dp2(x, y, 100, true, true, 0);
        o[5] = dp2(x, y, 100, false, false, 1);
        o[6] = dp2(x, y, n, false, true, 0);
        o[7] = dp2(x, y, n, true, false, 1);
        o[8] = lanes(ADD, 8, false, false, x, y);
        o[9] = lanes(ABSDIFF, 8, false, false, x, y);
        o[10] = lanes(GREATER, 16, true, false, x, y) * 0xffff;
        o[11] = lanes(AVERAGE, 8, false, false, x, y);
        o[12] = (x > y ? x - y : y - x) + 9;
        int64_t d = (int64_t)(int32_t)x - (int32_t)y;
        o[13] = (uint32_t)(d < 0 ? -d : d) + 9;
    }
    OUT_S32("dot_product_out", out, N * 14);
}

static uint64_t extract(uint64_t a, unsigned pos, unsigned len, unsigned width, bool is_signed)
{
    unsigned top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    uint64_t fill = is_signed && len ? a >> top & 1 : 0, d = 0;
    for (unsigned i = 0; i < width; i++) d |= (i < len && pos + i < width ? a >> (pos + i) & 1 : fill) << i;
    return d;
}

static uint64_t insert(uint64_t a, uint64_t b, unsigned pos, unsigned len, unsigned width)
{
    for (unsigned i = 0; i < len && pos + i < width; i++) b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}

static uint32_t highest(uint64_t v) { return v ? 63u - (uint32_t)__builtin_clzll(v) : ~0u; }

static uint32_t nth_set(uint32_t mask, int base, int offset)
{
    if (offset == 0) return mask >> base & 1 ? (uint32_t)base : ~0u;
    int step = offset > 0 ? 1 : -1, left = offset * step;
    for (int at = base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0) return (uint32_t)at;
    return ~0u;
}

// Bits a … a+b-1; clamp: counts of 32 and more reach beyond the word; wrap: both modulo 32.
static uint32_t bit_mask(uint32_t a, uint32_t b, bool clamp)
{
    if (clamp && a >= 32) return 0;
    uint32_t from = a & 31, len = clamp && b >= 32 ? 32 : b & 31, r = 0;
    for (uint32_t i = from; i < from + len && i < 32; i++) r |= 1u << i;
    return r;
}

static uint32_t extend(uint32_t a, uint32_t bits, bool is_signed)
{
    if (bits == 0) return 0;
    if (bits >= 32) return a;
    uint32_t keep = (1u << bits) - 1;
    return (a & keep) | (is_signed && a >> (bits - 1) & 1 ? ~keep : 0);
}

static uint64_t reversed(uint64_t v, int width)
{
    uint64_t r = 0;
    for (int i = 0; i < width; i++) r |= (v >> i & 1) << (width - 1 - i);
    return r;
}

static void bit_ops(void)
{
    enum { N = 150 };
    uint32_t *a = rand_u32(8110000, N, 0, 0x100000000), *b = rand_u32(8120000, N, 0, 0x100000000);
    uint32_t out[N * 24];
    uint64_t wide[N * 6];
    for (int i = 0; i < N; i++) {
        uint32_t x = a[i], y = b[i], *o = out + i * 24;
        int32_t sx = (int32_t)x, sy = (int32_t)y, sh = sx >> (y & 31);
        uint64_t v = (uint64_t)x << 32 | y, *w = wide + i * 6;
        o[0] = (uint32_t)__builtin_popcount(x);
        o[1] = x ? (uint32_t)__builtin_clz(x) : 32;
        o[2] = (uint32_t)reversed(x, 32);
        o[3] = (uint32_t)__builtin_ffs((int)(x & y));
        o[4] = highest(x >> (y & 31));
        o[5] = highest((uint32_t)(sh < 0 ? ~sh : sh));
        uint32_t low = x & y & 0xffff;
        o[6] = low ? 31 - highest(low) : ~0u;
        o[7] = (uint32_t)extract(x, y & 255, y >> 8 & 255, 32, false);
        o[8] = (uint32_t)extract(x, y & 31, y >> 9 & 31, 32, true);
        o[9] = (uint32_t)insert(x, y, y >> 3 & 31, x >> 7 & 31, 32);
        o[10] = nth_set(x, y & 31, (int)(y >> 28) - 7);
        o[11] = bit_mask(x & 63, y & 63, true);
        o[12] = bit_mask(x & 63, y & 63, false);
        o[13] = extend(x, y & 63, true);
        o[14] = extend(x, y & 31, false);
        int64_t p = (int64_t)((int32_t)(x << 8) >> 8) * ((int32_t)(y << 8) >> 8);
        o[15] = (uint32_t)p;
        o[16] = (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16);
        o[17] = (x & 0xffffff) * (y & 0xffffff) + 7;
        int64_t d = (int64_t)sx - sy;
        o[18] = (uint32_t)(d < 0 ? -d : d) + 3;
        o[19] = y > 31 ? 0 : x << y;
        o[20] = (uint32_t)(sx >> (y > 31 ? 31 : y));
        o[21] = (y & 63) > 31 ? 0 : x >> (y & 63);
        o[22] = (x & y & 3) == 0;
        o[23] = sx < 0 ? 0 - x : x;
        w[0] = (uint64_t)__builtin_popcountll(v) * 100 + (v ? (uint64_t)__builtin_clzll(v) : 64);
        w[1] = reversed(v, 64);
        w[2] = (uint64_t)__builtin_ffsll((long long)(v & ~255ull));
        w[3] = extract(v, y & 63, x & 63, 64, false);
        w[4] = insert(v, ~v * 3, x & 63, y & 63, 64);
        w[5] = highest(v >> (x & 63));
    }
    OUT_U32("bit_ops_out", out, N * 24);
    OUT_U64("bit_ops_wide", wide, N * 6);
}

static uint32_t pick_bytes(uint32_t x, uint32_t y, const int index[4])
{
    uint64_t both = (uint64_t)y << 32 | x;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t byte = both >> (index[i] & 7) * 8 & 255;
        if (index[i] & 8) byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * i;
    }
    return r;
}

static void permute(void)
{
    enum { N = 75 };
    // Byte i of the result, i = 0 the lowest, for the low two bits of the selector.
    static const int f4e[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
    static const int b4e[4][4] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
    static const int rc8[4][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
    static const int ecl[4][4] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
    static const int ecr[4][4] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
    static const int rc16[4][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
    uint32_t *a = rand_u32(8130000, N, 0, 0x100000000), *b = rand_u32(8140000, N, 0, 0x100000000);
    uint32_t out[N * 16];
    for (int i = 0; i < N; i++) {
        uint32_t x = a[i], y = b[i], z = a[(i + 3) % N], *o = out + i * 16, s = z & 3;
        uint64_t both = (uint64_t)y << 32 | x;
        o[0] = pick_bytes(x, y, (int[]){z & 15, z >> 4 & 15, z >> 8 & 15, z >> 12 & 15});
        o[1] = pick_bytes(x, y, f4e[s]);
        o[2] = pick_bytes(x, y, b4e[s]);
        o[3] = pick_bytes(x, y, rc8[s]);
        o[4] = pick_bytes(x, y, ecl[s]);
        o[5] = pick_bytes(x, y, ecr[s]);
        o[6] = pick_bytes(x, y, rc16[s]);
        o[7] = pick_bytes(x, y, (int[]){2, 7, 1, 6});
        uint32_t wrap = z & 31, clamp = (z & 63) > 32 ? 32 : z & 63;
        o[8] = (uint32_t)(both << wrap >> 32);
        o[9] = (uint32_t)(both << clamp >> 32);
        o[10] = (uint32_t)(both >> wrap);
        o[11] = (uint32_t)(both >> clamp);
        o[12] = x ^ (y | z);
        uint32_t lut = 0, d4 = 0xd4;
        for (int n = 0; n < 32; n++) lut |= (d4 >> ((x >> n & 1) * 4 + (y >> n & 1) * 2 + (z >> n & 1)) & 1) << n;
        o[13] = lut;
        o[14] = x & y & z & 0xff;
        o[15] = o[14] != 0 || x < y;
    }
    OUT_U32("permute_out", out, N * 16);
}

static void atomics(void)
{
    enum { N = 300, BLOCK = 64, GRID = 5, W = 12 + N + GRID * 8 };
    int32_t *x = rand_s32(8150000, N, 0, 100000), w[W] = {5, 7, INT32_MAX, INT32_MIN, -1, 0, -1, 0, 0x55, 0, 10};
    uint64_t v[6] = {1, 0, INT64_MAX, 3, 5, ~0ull};
    uint32_t old[100];
    OUT_S32("atomics_w_start", w, W);
    OUT_U64("atomics_v_start", v, 6);
    uint64_t s64[GRID][2] = {{0}};
    uint32_t s[GRID][4];
    for (int b = 0; b < GRID; b++) memcpy(s[b], (uint32_t[]){0, ~0u, 0, 0}, 16);
    for (int i = 0; i < N; i++) {
        int32_t k = x[i], b = i / BLOCK;
        uint64_t k64 = (uint64_t)k;
        w[0] += k;
        w[1] -= k;
        w[2] = k < w[2] ? k : w[2];
        w[3] = k > w[3] ? k : w[3];
        w[4] = (uint32_t)k < (uint32_t)w[4] ? k : w[4];
        w[5] = (uint32_t)k > (uint32_t)w[5] ? k : w[5];
        w[6] &= k | 0x10000;
        w[7] |= k;
        w[8] ^= k;
        w[9] = (uint32_t)w[9] >= 99 ? 0 : w[9] + 1;
        w[10] = w[10] == 0 || (uint32_t)w[10] > 49 ? 49 : w[10] - 1;
        w[11 + i] = k + 1;
        w[11 + N] += 2;
        v[0] += k64 * 0x100000001;
        v[1] = k64 << 20 > v[1] ? k64 << 20 : v[1];
        v[2] = (int64_t)(k64 << 33) < (int64_t)v[2] ? k64 << 33 : v[2];
        v[3] ^= k64 << 30;
        v[5] &= 5 | k64 << 32;
        s[b][0] += (uint32_t)k;
        s[b][1] = (uint32_t)k < s[b][1] ? (uint32_t)k : s[b][1];
        s[b][2] |= 1u << (k & 31);
        s[b][3] += 3;
        s64[b][0] += k64 << 16;
        s64[b][1] = k64 << 35 > s64[b][1] ? k64 << 35 : s64[b][1];
    }
    for (int b = 0; b < GRID; b++) {
        memcpy(w + 12 + N + b * 8, s[b], 16);
        memcpy(w + 12 + N + b * 8 + 4, s64[b], 16);
    }
    for (int i = 0; i < 100; i++) old[i] = 3;
    OUT_S32("atomics_w", w, W);
    OUT_U64("atomics_v", v, 6);
    OUT_U32("atomics_old", old, 100);
}

static void atomic_cas_loop(void)
{
    enum { N = 300 };
    float *x = rand_f32(8160000, N, 0, 100), best = 0;
    for (int i = 0; i < N; i++) best = x[i] > best ? x[i] : best;
    uint32_t w[2] = {bits_f32(best), ~0u}; // 300 steps of 77 from 100 steps below the top
    uint16_t half[2] = {10 + 450, (uint16_t)(65400 + 450)};
    OUT_U32("atomic_cas_loop_w", w, 2);
    OUT_U16("atomic_cas_loop_half", half, 2);
}

void ref_integer(void)
{
    int64();
    carry128();
    int8_16();
    video();
    dot_product();
    bit_ops();
    permute();
    atomics();
    atomic_cas_loop();
}
