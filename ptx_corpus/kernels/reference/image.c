// References of the texture and surface kernels. Filter weights are exact in 8 bits by choice.
#include "ref.h"

static int clampi(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

static void bilateral(void)
{
    enum { W = 37, H = 29 };
    float *src = rand_f32(3100000, W * H, 0, 1), out[W * H];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double sum = 0, total = 0, centre = src[y * W + x];
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++) {
                    double v = src[clampi(y + dy, 0, H - 1) * W + clampi(x + dx, 0, W - 1)];
                    double d = v - centre;
                    double w = exp(-(dx * dx + dy * dy) * (double)0.2f - d * d * (double)8.0f);
                    sum += w * v;
                    total += w;
                }
            out[y * W + x] = (float)(sum / total);
        }
    NPY("bilateral_src", "<f4", src, H, W, 1);
    OUT_F32("bilateral_out", out, W * H);
}

// One texel index of an address mode; -1 is the border.
static int address(char mode, int i, int n)
{
    int m;
    switch (mode) {
    case 'w': return ((i % n) + n) % n;
    case 'm': m = ((i % (2 * n)) + 2 * n) % (2 * n); return m < n ? m : 2 * n - 1 - m;
    case 'c': return clampi(i, 0, n - 1);
    default: return i < 0 || i >= n ? -1 : i;
    }
}

static void tex_modes(void)
{
    enum { W = 16, H = 8, N = 100 };
    uint8_t *t = rand_u8(3200000, W * H * 4, 0, 256);
    float uv[N * 2], *out = zeros(4 * N * 4 * sizeof *out);
    static const char mode[4] = {'w', 'c', 'm', 'b'};
    for (int i = 0; i < N; i++) {
        int x = (int)rand_int(3210000, (size_t)i, -24, 40);
        int y = (int)rand_int(3220000, (size_t)i, -12, 20);
        uv[2 * i] = ((float)x + 0.5f) / W; // texel centres: exact
        uv[2 * i + 1] = ((float)y + 0.5f) / H;
        for (int m = 0; m < 4; m++) {
            int tx = address(mode[m], x, W), ty = address(mode[m], y, H);
            for (int c = 0; c < 4; c++)
                out[(m * N + i) * 4 + c] = tx < 0 || ty < 0 ? 0.0f : (float)(t[(ty * W + tx) * 4 + c] / 255.0);
        }
    }
    NPY("tex_modes_image", "|u1", t, H, W, 4);
    OUT_F32("tex_modes_uv", uv, N * 2);
    OUT_F32("tex_modes_out", out, 4 * N * 4);
}

// Linear filtering of up to three dimensions; unused ones have extent 1 and coordinate 0.5.
static double linear(const double *t, int channels, int c, const int extent[3], const double at[3], char mode)
{
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int index[3];
        bool border = false;
        for (int a = 0; a < 3; a++) {
            double b = at[a] - 0.5, low = floor(b), frac = b - low;
            int up = corner >> a & 1;
            weight *= up ? frac : 1 - frac;
            index[a] = address(mode, (int)low + up, extent[a]);
            border |= index[a] < 0;
        }
        if (weight != 0 && !border)
            sum += weight * t[((index[2] * extent[1] + index[1]) * extent[0] + index[0]) * channels + c];
    }
    return sum;
}

static double *texels_f32(const char *name, uint64_t seed, int d, int h, int w)
{
    size_t n = (size_t)(d ? d : 1) * (size_t)(h ? h : 1) * (size_t)w;
    double *v = zeros(n * sizeof *v);
    float *f = zeros(n * sizeof *f);
    for (size_t i = 0; i < n; i++) v[i] = f[i] = (float)rand_int(seed, i, 0, 250);
    if (d) NPY(name, "<f4", f, (size_t)d, (size_t)h, (size_t)w, 1);
    else if (h) NPY(name, "<f4", f, (size_t)h, (size_t)w, 1);
    else NPY(name, "<f4", f, (size_t)w, 1);
    return v;
}

static void tex_linear(void)
{
    enum { N = 150 };
    double *line = texels_f32("tex_linear_line", 3300000, 0, 0, 13);
    double *plane = texels_f32("tex_linear_plane", 3310000, 0, 9, 11), half[6 * 7 * 4];
    uint16_t bits[6 * 7 * 4];
    for (size_t i = 0; i < 6 * 7 * 4; i++) {
        half[i] = (double)rand_int(3320000, i, -100, 100);
        bits[i] = (uint16_t)encode(&F16, half[i], RN);
    }
    NPY("tex_linear_half", "<f2", bits, 6, 7, 4);
    float xy[N * 2], out[7 * N];
    for (int i = 0; i < N; i++) {
        double x = (i * 37 % 240) / 16.0 - 2, y = (i * 53 % 200) / 16.0 - 2;
        xy[2 * i] = (float)x;
        xy[2 * i + 1] = (float)y;
        out[i] = (float)linear(line, 1, 0, (int[]){13, 1, 1}, (double[]){x, 0.5, 0.5}, 'c');
        for (int m = 0; m < 2; m++)
            out[(1 + m) * N + i] = (float)linear(plane, 1, 0, (int[]){11, 9, 1}, (double[]){x, y, 0.5}, m ? 'b' : 'c');
        for (int c = 0; c < 4; c++)
            out[(3 + c) * N + i] = (float)linear(half, 4, c, (int[]){7, 6, 1}, (double[]){x, y, 0.5}, 'c');
    }
    OUT_F32("tex_linear_xy", xy, N * 2);
    OUT_F32("tex_linear_out", out, 7 * N);
}

static void tex_fetch(void)
{
    enum { N = 150 };
    uint16_t *u16 = rand_u16(3400000, 7 * 9 * 2, 0, 65536);
    int8_t *s8 = rand_s8(3410000, 5 * 6, -128, 128);
    uint32_t *u32 = rand_u32(3420000, 13 * 4, 0, 0x100000000), out[N * 16];
    double *cube = texels_f32("tex_fetch_cube", 3430000, 5, 7, 9);
    uint16_t *half = rand_f16(3440000, 7 * 9 * 4, -4, 4);
    NPY("tex_fetch_u16", "<u2", u16, 7, 9, 2);
    NPY("tex_fetch_s8", "|i1", s8, 5, 6, 1);
    NPY("tex_fetch_u32", "<u4", u32, 13, 4);
    NPY("tex_fetch_half", "<f2", half, 7, 9, 4);
    for (int i = 0; i < N; i++) {
        int x = i % 9, y = i / 9 % 7, z = i % 5;
        uint32_t *o = out + i * 16;
        const uint16_t *h = half + (y * 9 + x) * 4;
        o[0] = u16[(y * 9 + x) * 2];
        o[1] = u16[(y * 9 + x) * 2 + 1];
        o[2] = (uint32_t)(int32_t)s8[clampi(y, 0, 4) * 6 + clampi(x, 0, 5)];
        memcpy(o + 3, u32 + i % 13 * 4, 16);
        o[7] = bits_f32((float)cube[(z * 7 + y) * 9 + x]);
        for (int c = 0; c < 4; c++) o[8 + c] = bits_f32((float)decode(&F16, h[c]));
        memcpy(o + 12, h, 8);
        memcpy(o + 14, h, 8);
    }
    OUT_U32("tex_fetch_out", out, N * 16);
}

static void volume_sample(void)
{
    enum { W = 13, H = 11, STEPS = 20 };
    double *vol = texels_f32("volume_sample_vol", 3500000, 6, 8, 10);
    float peak[W * H], sample[W * H] = {0};
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double p[3] = {x * 0.5625 - 0.25, y * 0.4375, 0.1875}, best = 0;
            for (int s = 0; s < STEPS; s++) {
                double v = linear(vol, 1, 0, (int[]){10, 8, 6}, p, 'c');
                best = fmax(best, v);
                if (s == STEPS / 2) sample[y * W + x] = (float)v;
                if (v > 230) break;
                p[0] += 0.1875;
                p[1] += 0.0625;
                p[2] += 0.3125;
            }
            peak[y * W + x] = (float)best;
        }
    OUT_F32("volume_sample_peak", peak, W * H);
    OUT_F32("volume_sample_sample", sample, W * H);
}

static void surface_write(void)
{
    enum { W = 21, H = 13 };
    static uint8_t rgba[H][W][4], bytes[3][H][W];
    static float f32[H][W];
    static uint16_t half[H][W][4];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            uint8_t c[4] = {(uint8_t)x, (uint8_t)y, (uint8_t)(x ^ y), (uint8_t)(255 - x)};
            uint16_t v[4] = {(uint16_t)(0x3c00 + x), (uint16_t)(0x4000 + y), 0xbc00, 0x1234};
            memcpy(rgba[y][x], c, 4);
            if (x >= 3 && y >= 2) f32[y - 2][x - 3] = (float)(x * 100 + y);
            if (x == W - 1) f32[y][W - 1] = (float)(x + y) + 0.5f;
            if (x >= 2 && y >= 1) memcpy(half[y - 1][x - 2], v, 8);
            for (int z = 0; z < 3; z++) bytes[z][y][x] = (uint8_t)(x + 2 * y + 50 * z);
        }
    NPY("surface_write_rgba", "|u1", rgba, H, W, 4);
    NPY("surface_write_f32", "<f4", f32, H, W, 1);
    NPY("surface_write_half", "<f2", half, H, W, 4);
    NPY("surface_write_bytes", "|u1", bytes, 3, H, W, 1);
    OUT_U8("surface_write_copy", rgba, H * W * 4);
}

static void tex_options(void)
{
    enum { W = 11, H = 9, N = 300 };
    double *plane = texels_f32("tex_options_plane", 3600000, 0, H, W), passes[W * H];
    uint16_t *half = rand_f16(3610000, W * H * 4, -4, 4);
    float xy[N * 2];
    uint32_t *out = zeros(N * 16 * sizeof *out);
    NPY("tex_options_half", "<f2", half, H, W, 4);
    for (int i = 0; i < W * H; i++) passes[i] = plane[i] >= 125;
    for (int i = 0; i < N; i++) {
        double x = (i * 37 % 240) / 16.0 - 2, y = (i * 53 % 200) / 16.0 - 2;
        int left = (int)floor(x - 0.5), top = (int)floor(y - 0.5), dx = i % 16 - 8, dy = i / 16 % 16 - 8;
        uint32_t *o = out + i * 16;
        xy[2 * i] = (float)x;
        xy[2 * i + 1] = (float)y;
        for (int k = 0; k < 4; k++) { // counter-clockwise from the lower left texel
            int tx = left + (k == 1 || k == 2), ty = top + (k < 2), bx = address('b', tx + dx, W), by = address('b', ty + dy, H);
            o[k] = bits_f32((float)plane[clampi(ty, 0, H - 1) * W + clampi(tx, 0, W - 1)]);
            o[12] |= (uint32_t)(bx >= 0 && by >= 0 && passes[by * W + bx] != 0) << k;
        }
        o[4] = bits_f32((float)linear(plane, 1, 0, (int[]){W, H, 1}, (double[]){x, y, 0.5}, 'c'));
        o[5] = 1;
        o[6] = bits_f32((float)linear(plane, 1, 0, (int[]){W, H, 1}, (double[]){x + dx, y + dy, 0.5}, 'c'));
        o[7] = bits_f32((float)linear(passes, 1, 0, (int[]){W, H, 1}, (double[]){x + dx, y + dy, 0.5}, 'b'));
        int px = address('b', (int)floor(x), W), py = address('b', (int)floor(y), H);
        if (px >= 0 && py >= 0) memcpy(o + 8, half + (py * W + px) * 4, 8);
        o[10] = 1;
        o[11] = bits_f32((float)plane[clampi(i % 9 + dy, 0, H - 1) * W + clampi(i % 11 + dx, 0, W - 1)]);
        o[13] = i % 4 == 0;
        o[14] = i % 4 == 1;
    }
    OUT_F32("tex_options_xy", xy, N * 2);
    OUT_U32("tex_options_out", out, N * 16);
}

static void surface_reduce(void)
{
    enum { N = 1280, W = 20, H = 15 };
    static uint32_t u32[3][7], bits[80], start[80];
    static int32_t s32[3][7];
    static uint64_t wide[3];
    static uint16_t f16[H][W][4];
    static uint8_t u8[H][W][4];
    static int16_t s16[H][W][2];
    static float f32[H][W];
    for (int i = 40; i < 80; i++) bits[i] = start[i] = (uint32_t)rand_int(3700000, (size_t)i, 0, 0x100000000);
    NPY("surface_reduce_start", "<u4", start, 80, 1);
    for (int i = 0; i < N; i++) {
        int x = i % 7, y = i / 7 % 3;
        uint32_t hash = (uint32_t)i * 2654435761u;
        int32_t sign = (int32_t)hash;
        uint64_t value = (uint64_t)hash << 32 | hash;
        u32[y][x] += hash;
        if (x > 0 && sign < s32[0][x - 1]) s32[0][x - 1] = sign;
        if (hash > (uint32_t)s32[1][x]) s32[1][x] = sign;
        if (sign > s32[2][x]) s32[2][x] = sign;
        wide[0] += value;
        if (value > wide[1]) wide[1] = value;
        if ((int64_t)value < (int64_t)wide[2]) wide[2] = value;
        bits[i >> 5] |= 1u << (i & 31);
        bits[40 + (i >> 5)] &= 1u << (i & 31);
        if (i >= 300) continue;
        int px = i % 20, py = i / 20;
        double v = (i - 300) / 4.0, halves[4] = {v * 1000, v, v / 1024, 1};
        for (int c = 0; px > 0 && c < 4; c++) f16[py][px - 1][c] = (uint16_t)encode(&F16, halves[c], RN);
        uint32_t bytes[4] = {(uint32_t)i, (uint32_t)-i, (uint32_t)i / 2, hash};
        for (int c = 0; c < 4; c++) u8[py][px][c] = (uint8_t)(bytes[c] > 255 ? 255 : bytes[c]);
        s16[py][px][0] = (int16_t)clampi((i - 150) * 400, -32768, 32767);
        s16[py][px][1] = (int16_t)clampi(sign, -32768, 32767);
        f32[py][px] = (float)v;
    }
    NPY("surface_reduce_u32", "<u4", u32, 3, 7, 1);
    NPY("surface_reduce_s32", "<i4", s32, 3, 7, 1);
    NPY("surface_reduce_u64", "<u4", wide, 3, 2);
    NPY("surface_reduce_bits", "<u4", bits, 80, 1);
    NPY("surface_reduce_f16", "<f2", f16, H, W, 4);
    NPY("surface_reduce_u8", "|u1", u8, H, W, 4);
    NPY("surface_reduce_s16", "<i2", s16, H, W, 2);
    NPY("surface_reduce_f32", "<f4", f32, H, W, 1);
}

void ref_image(void)
{
    bilateral();
    tex_modes();
    tex_linear();
    tex_fetch();
    volume_sample();
    surface_write();
    tex_options();
    surface_reduce();
}
