// References of warp collectives, barriers, asynchronous copies and special registers.
#include "ref.h"

#define POPC __builtin_popcount

static void votes(void)
{
    enum { N = 120, ALL = 128 };
    int32_t *x = rand_s32(6000000, N, 0, 100);
    uint32_t *out = zeros(ALL * 8 * 4);
    for (int w = 0; w < ALL; w += 32) {
        int v[32];
        uint32_t odd = 0, two = 0, three = 0, big = 0, fifty = 0;
        bool below = true, above = false, first = false, uni = true;
        for (int l = 0; l < 32; l++) {
            v[l] = w + l < N ? x[w + l] : -1;
            odd |= (uint32_t)(v[l] & 1) << l;
            two |= (uint32_t)(v[l] >> 1 & 1) << l;
            three |= (uint32_t)(v[l] % 3 == 0) << l;
            big |= (uint32_t)(v[l] > 40) << l;
            fifty |= (uint32_t)(v[l] == 50) << l;
            below &= v[l] < 90;
            above |= v[l] > 97;
            first = l ? first : v[0] > 3;
            uni &= (v[l] > 3) == first;
        }
        for (int l = 0; l < 32; l++) {
            uint32_t *o = out + (w + l) * 8;
            o[0] = odd;
            o[1] = below + 2u * above;
            o[2] = uni;
            o[3] = three >> l & 1 ? three : 0;
            o[4] = l < 11 ? two & 0x7ff : ~two & 0xfffff800;
            if (l & 1) o[5] = 1 + ((fifty & 0xaaaaaaaa) != 0) + 4 * ((fifty & 0xaaaaaaaa) == 0);
            o[6] = ~big;
            o[7] = (uint32_t)POPC(odd & ((1u << l) - 1));
        }
    }
    OUT_U32("votes_out", out, ALL * 8);
}

static void match_any_all(void)
{
    enum { ALL = 128 };
    uint32_t *x = rand_u32(6010000, ALL, 0, 8), *out = zeros(ALL * 6 * 4);
    for (int i = 0; i < ALL; i++) {
        uint32_t *o = out + i * 6, v = x[i];
        int w = i & ~31, shift = i / 64 ? 2 : 20;
        bool all = true, part = true;
        for (int l = 0; l < 32; l++) {
            uint32_t u = x[w + l];
            bool in = l % 3;
            o[0] |= (uint32_t)(u == v) << l;
            o[1] |= (uint32_t)((u & 3) == (v & 3)) << l;
            all &= u == v;
            if (in) {
                o[4] |= (uint32_t)((u & 3) == (v & 3)) << l;
                part &= u >> shift == v >> shift;
            }
        }
        if (i < 64) all = true;
        o[2] = all ? ~0u : 0;
        o[3] = all;
        o[5] = part ? 0xb6db6db6u + 1 : 0;
        if (i % 32 % 3 == 0) o[4] = o[5] = 0xdead;
    }
    OUT_U32("match_any_all_out", out, ALL * 6);
}

static void redux(void)
{
    enum { ALL = 128 };
    int32_t *x = rand_s32(6020000, ALL, -1000, 1000), *out = zeros(ALL * 8 * 4);
    for (int i = 0; i < ALL; i++) {
        int32_t *o = out + i * 8;
        const int32_t *v = x + (i & ~31);
        bool low = i % 32 < 13;
        uint32_t umax = 0, umin = ~0u, or = 0, and = ~0u;
        int32_t smin = INT32_MAX, smax = INT32_MIN;
        for (int l = 0; l < 32; l++) {
            uint32_t u = (uint32_t)v[l];
            o[0] += v[l];
            smin = v[l] < smin ? v[l] : smin;
            umax = u > umax ? u : umax;
            o[3] ^= v[l];
            o[6] += v[l] * 3;
            if (l < 13) {
                and &= u | 0xff;
                smax = v[l] > smax ? v[l] : smax;
            } else {
                or |= u & 0xff0ff;
                umin = u < umin ? u : umin;
            }
        }
        o[1] = smin;
        o[2] = (int32_t)umax;
        o[4] = (int32_t)(low ? and : or);
        o[5] = low ? smax : (int32_t)umin;
        o[7] = i % 32;
    }
    OUT_S32("redux_out", out, ALL * 8);
}

static void shuffles(void)
{
    enum { ALL = 128 };
    int32_t *x = rand_s32(6030000, ALL, -1000, 1000), *out = zeros(ALL * 12 * 4);
    for (int i = 0; i < ALL; i++) {
        int32_t *o = out + i * 12;
        const int32_t *v = x + (i & ~31);
        int l = i % 32, from;
        from = l % 16 >= 3 ? l - 3 : l; // up by 3 inside 16 lanes
        o[0] = v[from];
        o[1] = l % 16 >= 3;
        from = l % 8 + 5 < 8 ? l + 5 : l; // down by 5 inside 8 lanes
        o[2] = v[from];
        o[3] = l % 8 + 5 < 8;
        o[4] = v[(l & ~3) | (l * 3 & 3)]; // idx inside 4 lanes is always in range
        o[5] = 1;
        // bfly 12, clamp 15, segments of 8: the limit is (lane & 24) | 7
        from = l ^ 12;
        o[7] = from <= ((l & 24) | 7);
        o[6] = v[o[7] ? from : l];
        o[8] = v[v[l] & 31];
        o[9] = v[l ^ 17];
        o[10] = o[11] = -1;
        if (l >= 6 && l < 27) o[10] = v[6 + l * 5 % 21] * 2;
        else o[11] = v[l == 5 || l == 31 ? l : l + 1] * 3;
    }
    OUT_S32("shuffles_out", out, ALL * 12);
}

static void warp_aggregate(void)
{
    enum { N = 300, KEYS = 5, CAP = 128 };
    uint32_t *keys = rand_u32(6040000, N, 0, KEYS), count[KEYS] = {0}, taken[KEYS * CAP] = {0};
    for (int i = 0; i < N; i++) taken[keys[i] * CAP + count[keys[i]]++]++;
    OUT_U32("warp_aggregate_count", count, KEYS);
    OUT_U32("warp_aggregate_taken", taken, KEYS * CAP);
}

static void coop_tiles(void)
{
    enum { N = 150, BLOCK = 96, ALL = 192 };
    int32_t *x = rand_s32(6050000, N, 0, 100), v[ALL], out[ALL * 8];
    for (int i = 0; i < ALL; i++) v[i] = i < N ? x[i] : 0;
    for (int i = 0; i < ALL; i++) {
        int32_t *o = out + i * 8, rank = i % BLOCK;
        int t16 = i & ~15, t4 = i & ~3, w = i & ~31, size = 0, before = 0, first = -1;
        o[0] = o[3] = 0;
        o[1] = INT32_MIN;
        for (int l = 0; l < 16; l++) {
            o[0] += v[t16 + l];
            o[3] |= (v[t16 + l] & 1) << l;
        }
        for (int l = 0; l < 4; l++) o[1] = v[t4 + l] > o[1] ? v[t4 + l] : o[1];
        o[2] = v[t4 + 3] + 1000 * (i & 3);
        o[4] = rank / 16 * 100 + BLOCK / 16;
        o[5] = i % 16 + 5 < 16 ? v[i + 5] : v[i];
        o[6] = o[7] = -1;
        for (int l = w; l < w + 32; l++)
            if (v[l] % 3 == 1) {
                first = first < 0 ? l : first;
                size++;
                before += l < i;
            }
        if (v[i] % 3 == 1) {
            o[6] = before * 100 + size;
            o[7] = v[first];
        }
    }
    OUT_S32("coop_tiles_out", out, ALL * 8);
}

// Round r has the binomial sum of round 0: C(r, k) 3^k of what stands k places on. Round 5 is in b, round 4 in a.
static void coop_grid(void)
{
    enum { N = 1000, BLOCKS = 6, T = 50 };
    static const int32_t weights[2][6] = {{1, 12, 54, 108, 81}, {1, 15, 90, 270, 405, 243}};
    int32_t *x = rand_s32(6150000, N, -1000, 1000), out[2][N], ranks[BLOCKS * T];
    for (int i = 0; i < 2 * N; i++) {
        out[i / N][i % N] = 0;
        for (int k = 0; k < 6; k++) out[i / N][i % N] += weights[i / N][k] * x[(i + k) % N];
    }
    for (int i = 0; i < BLOCKS * T; i++) ranks[i] = i / T * 10000 + BLOCKS * 1000 + 500 + BLOCKS * T;
    OUT_S32("coop_grid_a", out[0], N);
    OUT_S32("coop_grid_b", out[1], N);
    OUT_S32("coop_grid_ranks", ranks, BLOCKS * T);
}

// The sum s of a column becomes 3 B s + (0 + … + B - 1) each round.
static void grid_barrier(void)
{
    enum { B = 8, T = 40, ROUNDS = 5 };
    uint32_t *x = rand_u32(6160000, B * T, 0, 4294967296), out[2][B][T];
    for (int t = 0; t < T; t++) {
        uint32_t s = 0;
        for (int b = 0; b < B; b++) s += x[b * T + t];
        for (int r = 0; r < ROUNDS; r++) {
            for (uint32_t b = 0; b < B; b++) out[r & 1][b][t] = 3 * s + b;
            s = 3 * B * s + B * (B - 1) / 2;
        }
    }
    NPY("grid_barrier_y", "<u4", out[0], B, T);
    NPY("grid_barrier_x", "<u4", out[1], B, T);
}

static void syncwarp_shared(void)
{
    enum { ALL = 192 };
    int32_t *x = rand_s32(6060000, ALL, -1000, 1000), out[ALL];
    for (int w = 0; w < ALL; w += 32) {
        int32_t s[32], next[32];
        memcpy(s, x + w, sizeof s);
        for (int k = 0; k < 5; k++) {
            for (int l = 0; l < 20; l++) next[l] = s[(l + 1) % 20] + l;
            memcpy(s, next, 20 * sizeof *s);
        }
        for (int l = 20; l < 32; l++) next[l] = x[w + 51 - l] * 2;
        memcpy(s + 20, next + 20, 12 * sizeof *s);
        for (int l = 0; l < 32; l++) out[w + l] = s[l ^ 16];
    }
    OUT_S32("syncwarp_shared_out", out, ALL);
}

static void elect(void)
{
    int32_t out[128];
    for (int i = 0; i < 128; i++) out[i] = 11;
    OUT_S32("elect_out", out, 128);
}

static void barrier_red(void)
{
    enum { N = 150, BLOCK = 80, ALL = 160 };
    int32_t *x = rand_s32(6070000, N, 0, 100), out[ALL];
    for (int b = 0; b < ALL; b += BLOCK) {
        int c = 0, a = 1, o = 0, p = 0;
        for (int i = b; i < b + BLOCK; i++) {
            int v = i < N ? x[i] : 0;
            c += v & 1;
            a &= v < 95;
            o |= v == 42;
            p += v <= 50;
        }
        for (int i = b; i < b + BLOCK; i++) out[i] = c + 1000 * a + 2000 * o + 10000 * p;
    }
    OUT_S32("barrier_red_out", out, ALL);
}

static void named_barrier(void)
{
    enum { ROUNDS = 5, GRID = 2 };
    int32_t *x = rand_s32(6080000, GRID * ROUNDS * 32, -100, 100), out[GRID * 32];
    for (int b = 0; b < GRID; b++)
        for (int l = 0; l < 32; l++) {
            int32_t sum = 0;
            for (int r = 0; r < ROUNDS; r++) sum = sum * 3 + x[(b * ROUNDS + r) * 32 + 31 - l];
            out[b * 32 + l] = sum;
        }
    OUT_S32("named_barrier_out", out, GRID * 32);
}

static void cp_async(void)
{
    enum { BLOCKS = 3, T = 48 };
    uint32_t *in = rand_u32(6090000, BLOCKS * 192, 0, 0x100000000), out[BLOCKS * T * 9];
    for (int b = 0; b < BLOCKS; b++) {
        const uint32_t *src = in + b * 192;
        uint32_t *o = out + b * T * 9, zero_filled[192] = {0};
        for (int t = 0; t < T; t++) memcpy(zero_filled + t * 4, src + t * 4, (size_t)(t % 17));
        for (int t = 0; t < T; t++) {
            for (int j = 0; j < 4; j++) o[j * T + t] = src[(t * 4 + j) * 7 % 192];
            o[4 * T + t] = src[t * 2 + 1];
            o[5 * T + t] = src[t];
            for (int j = 0; j < 3; j++) o[(6 + j) * T + t] = zero_filled[t * 4 + j];
        }
    }
    OUT_U32("cp_async_out", out, BLOCKS * T * 9);
}

static void mbarrier(void)
{
    enum { ROUNDS = 3, T = 80, GRID = 2 };
    int32_t *x = rand_s32(6100000, GRID * ROUNDS * T, -100, 100), out[GRID * T];
    for (int b = 0; b < GRID; b++)
        for (int t = 0; t < T; t++) {
            int32_t sum = 0;
            for (int r = 0; r < ROUNDS; r++) sum = sum * 5 + x[(b * ROUNDS + r) * T + (t + r * 33 + 1) % T];
            out[b * T + t] = sum;
        }
    OUT_S32("mbarrier_out", out, GRID * T);
}

static void bulk_pipeline(void)
{
    enum { TILES = 15, T = 96 };
    uint32_t *in = rand_u32(6110000, TILES * T, 0, 0x100000000), out[TILES * T];
    for (int i = 0; i < TILES * T; i++) out[i] = in[i / T * T + T - 1 - i % T] * 3 + in[i];
    OUT_U32("bulk_pipeline_out", out, TILES * T);
}

// Every result is free of the order of the five blocks: sums of small integers are exact, and no inc wraps.
static void bulk_reduce(void)
{
    enum { B = 5, T = 64 };
    uint32_t out[12][T] = {{0}}, local[B][T];
    for (uint32_t t = 0; t < T; t++) {
        float sum = 0, half = 0;
        for (uint32_t b = 0; b < B; b++) {
            uint32_t v = t * 7 + b * 1000 + 5;
            out[0][t] += v;
            if (-(int32_t)v < (int32_t)out[1][t]) out[1][t] = -v;
            if (v > out[2][t]) out[2][t] = v;
            out[3][t] ^= v;
            out[4][t] |= v;
            sum += (float)(int)(t - 20 + b * 3);
            half += t % 2 ? 1 : -2;
        }
        out[7][t] = B;
        out[8][t] = bits_f32(sum);
        out[9][t] = encode(&F16, half, RN) * 0x10001;
        out[10][t] = t % 2 ? 0 : 0xc000c000;
    }
    for (uint32_t t = 0; t < T; t += 2) {
        uint64_t sum = 0, most = 0;
        double total = 0;
        for (uint32_t b = 0; b < B; b++) {
            uint64_t v = t * 7 + b * 1000 + 5 + ((uint64_t)(t * 7 + 7 + b * 1000 + 5) << 32);
            sum += v;
            if (v > most) most = v;
            total += t / 2 + b;
        }
        memcpy(&out[5][t], &sum, 8);
        memcpy(&out[6][t], &most, 8);
        memcpy(&out[11][t], &total, 8);
    }
    for (uint32_t b = 0; b < B; b++)
        for (uint32_t t = 0; t < T; t++) {
            uint32_t v = t * 5 + b, old = t % 3 ? 100 : 7;
            local[b][t] = t < 48 && v > old ? v : old;
            if (t >= 48 && t < 52) local[b][t] = t % 2 ? 22 : 11 + b;
            if (t == 52) local[b][t] = old - 1;      // + 0xffffffff, with a carry
            if (t == 53) local[b][t] = old + 1;
            if (t == 54) local[b][t] = (uint32_t)-5;
            if (t == 55) local[b][t] = old > 90 ? 90 : old - 1;
        }
    OUT_U32("bulk_reduce_out", out, 12 * T);
    OUT_U32("bulk_reduce_local", local, B * T);
}

static void special_registers(void)
{
    enum { GX = 2, GY = 3, GZ = 2, BX = 5, BY = 7, BZ = 2, T = BX * BY * BZ, B = GX * GY * GZ };
    uint32_t *out = zeros(B * T * 12 * 4);
    for (uint32_t i = 0; i < B * T; i++) {
        uint32_t *o = out + i * 12, t = i % T, b = i / T, lane = t % 32, bit = 1u << lane;
        o[0] = t % BX | t / BX % BY << 8 | t / (BX * BY) << 16;
        o[1] = BX | BY << 8 | BZ << 16;
        o[2] = b % GX | b / GX % GY << 8 | b / (GX * GY) << 16;
        o[3] = GX | GY << 8 | GZ << 16;
        o[4] = lane;
        o[5] = bit - 1;
        o[6] = bit | (bit - 1);
        o[7] = ~(bit | (bit - 1));
        o[8] = ~(bit - 1);
        o[9] = bit;
        o[10] = 512;
        o[11] = 1;
    }
    OUT_U32("special_registers_out", out, B * T * 12);
}

void ref_warp(void)
{
    votes();
    match_any_all();
    redux();
    shuffles();
    warp_aggregate();
    coop_tiles();
    coop_grid();
    grid_barrier();
    syncwarp_shared();
    elect();
    barrier_red();
    named_barrier();
    cp_async();
    mbarrier();
    bulk_pipeline();
    bulk_reduce();
    special_registers();
}
