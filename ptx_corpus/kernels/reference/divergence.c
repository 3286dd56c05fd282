// References of the divergence set: each lane is followed alone, collectives in lock step by rank.
#include "ref.h"

static void div_trip_counts(void)
{
    enum { N = 150 };
    uint32_t out[3 * N];
    for (int i = 0; i < N; i++) {
        uint64_t v = (uint64_t)i + 1, peak = 0;
        uint32_t steps = 0, h = 17;
        for (; v != 1; steps++) {
            v = v & 1 ? 3 * v + 1 : v / 2;
            peak = v > peak ? v : peak;
        }
        for (uint32_t k = 0; k < steps % 7; k++)
            for (uint32_t j = k; j < (uint32_t)(i & 3); j++) h = h * 33 + j + k;
        out[3 * i] = steps;
        out[3 * i + 1] = (uint32_t)peak;
        out[3 * i + 2] = h;
    }
    OUT_U32("div_trip_counts_out", out, 3 * N);
}

static int search(int i, int target, int *visits)
{
    for (int a = 1; a < 12; a++) {
        if (a == (i & 7)) continue;
        for (int b = a; b < 12; b++) {
            ++*visits;
            if (a * b == target) return a * 100 + b;
            if (a * b > target) break;
        }
        if (*visits > 30 + (i & 15)) break;
    }
    return -1;
}

static void div_nested_break(void)
{
    enum { N = 128 };
    int32_t *x = rand_s32(9000000, N, 1, 100), out[2 * N];
    int visits[N] = {0};
    for (int i = 0; i < N; i++) {
        int found = search(i, x[i], &visits[i]);
        out[2 * i] = visits[i] * 10000 + found;
    }
    for (int i = 0; i < N; i++) out[2 * i + 1] = visits[i ^ 5];
    OUT_S32("div_nested_break_out", out, 2 * N);
}

static void div_ret_barrier(void)
{
    enum { N = 75, GRID = 2 };
    int32_t *x = rand_s32(9010000, GRID * 128, -1000, 1000), *out = zeros(GRID * 128 * 4);
    for (int b = 0; b < GRID; b++) {
        int32_t s[128], w[128];
        for (int t = 0; t < 128; t++) s[t] = t < N ? x[b * 128 + 127 - t] + 1 : x[b * 128 + t];
        for (int t = 0; t < N; t++) w[t] = s[(t + 1) % N] + s[t * 7 % N];
        for (int t = 0; t < N; t++)
            if (t % 3 != 2) out[b * 128 + t] = w[t - t % 3];
    }
    OUT_S32("div_ret_barrier_out", out, GRID * 128);
}

static void div_ret_shuffle(void)
{
    enum { N = 128 };
    int32_t *x = rand_s32(9020000, N, 0, 100), *out = zeros(3 * N * 4);
    for (int w = 0; w < N; w += 32) {
        int stay[32], count = 0, got[32];
        for (int l = 0; l < 32; l++)
            if (x[w + l] % 4) stay[count++] = l;
        uint32_t more = 0;
        for (int r = 0; r < count; r++) {
            got[r] = x[w + stay[(r + 1) % count]];
            more |= (uint32_t)(got[r] > x[w + stay[r]]) << stay[r];
        }
        for (int r = 0; r < count; r++) {
            int32_t *o = out + 3 * (w + stay[r]);
            uint32_t same = 0;
            for (int q = 0; q < count; q++) same |= (uint32_t)(x[w + stay[q]] % 4 == x[w + stay[r]] % 4) << stay[q];
            o[0] = got[r] * 100 + r;
            o[1] = (int32_t)more;
            o[2] = (int32_t)same;
        }
    }
    OUT_S32("div_ret_shuffle_out", out, 3 * N);
}

static void div_barrier_loop(void)
{
    enum { T = 70, GRID = 3 };
    int32_t *x = rand_s32(9030000, GRID * T, -50, 50), out[GRID * T];
    for (int b = 0; b < GRID; b++) {
        uint32_t from[T], to[T];
        for (int t = 0; t < T; t++) from[t] = (uint32_t)x[b * T + t];
        for (uint32_t r = 0; r < 5 + (uint32_t)b; r++) {
            for (uint32_t t = 0; t < T; t++) {
                uint32_t v = from[(t + 1) % T];
                if ((t + r) % 3 == 0) {
                    // the trip count is taken anew from v in every iteration
                    for (uint32_t k = 0; k < (v & 3); k++) v = v * 3 + k;
                } else if (t & 1) {
                    v -= from[t];
                }
                to[t] = v;
            }
            memcpy(from, to, sizeof from);
        }
        memcpy(out + b * T, from, sizeof from);
    }
    OUT_S32("div_barrier_loop_out", out, GRID * T);
}

static uint32_t interpret(const uint8_t *code, int len, int i, uint32_t m[4])
{
    int32_t pc = i % 5;
    uint32_t acc = (uint32_t)i, steps = 0;
    while (pc < len && steps < 60) {
        steps++;
        uint32_t c = code[pc++];
        switch (c & 15) {
        case 0: m[0] = acc += 3; break;
        case 1: acc = acc * 5 - (uint32_t)pc; break;
        case 2: m[1] = m[0] + acc; break;
        case 3:
            acc ^= m[1];
            m[2] = steps;
            break;
        case 4: pc += acc & 1 ? 2 : 0; break;
        case 5:
            pc = (int32_t)(acc & 7);
            acc = (uint32_t)((int32_t)acc >> 1);
            break;
        case 6:
            acc = -acc;
            m[3] = (uint32_t)pc;
            break;
        case 7:
            acc += m[3];
            m[0] = 7;
            break;
        case 8: acc = m[2] - acc; break;
        case 9:
            m[1] = c;
            acc += c;
            break;
        case 10: acc = acc << 3 | acc >> 29; break;
        case 11:
            m[2] = acc;
            m[3] = acc + 1;
            break;
        case 12:
            acc = ~acc;
            m[0]++;
            // falls through
        case 13:
            acc -= 11;
            m[1] += 2;
            break;
        default: pc += (int32_t)(c >> 6); m[2] += 5;
        }
    }
    return acc * 64 + steps;
}

static void div_switch(void)
{
    enum { N = 75, LEN = 97 };
    uint8_t *code = rand_u8(9040000, LEN, 0, 256);
    uint32_t *out = zeros(N * 5 * 4);
    for (int i = 0; i < N; i++) out[i] = interpret(code, LEN, i, out + N + i * 4);
    OUT_S32("div_switch_out", out, N * 5);
}

static int32_t walk(int32_t v, int depth, int *calls)
{
    ++*calls;
    if (depth == 0 || v < 2) return v;
    if (v & 1) {
        int32_t half = walk(v / 2, depth - 1, calls);
        return half + walk(v / 3, depth - 1, calls);
    }
    return 1 + walk(v - v / 4 - 1, depth - 1, calls);
}

static void div_recursion(void)
{
    enum { N = 128 };
    int32_t *x = rand_s32(9050000, N, 0, 100), out[2 * N], r[N];
    for (int i = 0; i < N; i++) {
        int calls = 0;
        r[i] = x[i] % 3 ? walk(x[i] * 10, i % 7, &calls) : -5;
        out[2 * i] = r[i] * 1000 + calls;
    }
    for (int i = 0; i < N; i++) out[2 * i + 1] = i % 32 == 31 ? r[i] : r[i + 1];
    OUT_S32("div_recursion_out", out, 2 * N);
}

static int32_t early(int32_t v)
{
    if (v % 5 == 0) return -v;
    int32_t s = 0;
    for (int32_t k = 1; k < v; k++) {
        if (k * k > v) return s + k;
        s += v % k;
    }
    return s;
}

static int32_t other(int32_t v) { return v > 40 ? early(v - 40) * 2 : early(v) + 1; }

static void div_calls(void)
{
    enum { N = 150 };
    int32_t *x = rand_s32(9060000, N, 0, 300), out[N];
    for (int i = 0; i < N; i++) {
        int32_t v = x[i], r = 0;
        if (v & 1) {
            r = early(v);
            if (r > 5) r += other(r);
        } else if (v & 2) {
            r = other(v);
        }
        out[i] = r;
    }
    OUT_S32("div_calls_out", out, N);
}

static void div_barrier_arms(void)
{
    enum { T = 96, GRID = 2 };
    int32_t *x = rand_s32(9070000, GRID * T, -1000, 1000), out[GRID * T];
    for (int b = 0; b < GRID; b++) {
        int32_t u[T];
        for (int t = 0; t < T; t++) {
            int from = (t + 40) % T;
            u[t] = x[b * T + from] * (from < 32 ? 2 : from < 64 ? 3 : 5) + (t & 1 ? 1 : 2);
        }
        for (int t = 0; t < T; t++) out[b * T + t] = u[95 - t] * (t & 1 ? 1 : 10);
    }
    OUT_S32("div_barrier_arms_out", out, GRID * T);
}

static void div_mask_loop(void)
{
    enum { N = 128 };
    int32_t *x = rand_s32(9080000, N, 0, 1000), out[N], sum[N] = {0};
    for (int w = 0; w < N; w += 32) {
        int v[32];
        for (int l = 0; l < 32; l++) v[l] = x[w + l] % 20;
        for (;;) {
            int count = 0, leader = -1;
            for (int l = 31; l >= 0; l--)
                if (v[l] > 0) {
                    count++;
                    leader = l;
                }
            if (!count) break;
            int lead = v[leader];
            for (int l = 0; l < 32; l++)
                if (v[l] > 0) {
                    sum[w + l] += lead * 10 + count;
                    v[l]--;
                }
        }
    }
    for (int i = 0; i < N; i++) out[i] = sum[i] + 100000 * (sum[i ^ 1] & 0xff);
    OUT_S32("div_mask_loop_out", out, N);
}

static void div_spin_shared(void)
{
    enum { GRID = 2 };
    int32_t *x = rand_s32(9090000, GRID * 32, -1000, 1000), out[GRID * 32];
    for (int b = 0; b < GRID; b++)
        for (int l = 0; l < 32; l++) {
            int from = 31 - l;
            out[b * 32 + l] = (x[b * 32 + from] * 2 + from) * 3 + from;
        }
    OUT_S32("div_spin_shared_out", out, GRID * 32);
}

static void div_spin_global(void)
{
    enum { GRID = 5, T = 70 };
    int32_t out[GRID * T], chain = 1;
    for (int b = 0; b < GRID; b++) {
        chain = b ? chain * 3 + b : 1;
        for (int t = 0; t < T; t++) out[b * T + t] = chain + t;
    }
    OUT_S32("div_spin_global_out", out, GRID * T);
}

static void div_predicates(void)
{
    enum { N = 75 };
    int32_t *x = rand_s32(9100000, N, -20, 100), *y = rand_s32(9110000, N, 0, 60), *out = zeros(2 * N * 4);
    for (int i = 0; i < N; i++) {
        bool p = x[i]<y[i], q = !p, r = (uint32_t)x[i]> 50 || p, s = (y[i] != 7) != !r;
        int32_t t = 1;
        if (p) t += 10;
        if (!q) t += 100;
        if (r) t *= 3;
        if (s) out[2 * i + 1] = t;
        else t = x[i];
        p = p && s;
        q = q || r;
        r = p != q;
        s = !r;
        out[2 * i] = s ? t : -1;
    }
    OUT_S32("div_predicates_out", out, 2 * N);
}

static void div_irreducible(void)
{
    enum { N = 150 };
    uint32_t *x = rand_u32(9120000, N, 0, 1000000), out[2 * N];
    for (int i = 0; i < N; i++) {
        uint32_t v = x[i], path = 0;
        int32_t count = (int32_t)(v & 15);
        bool inside = v & 16;
        for (;;) {
            if (!inside) {
                v = v * 3 + 1;
                path++;
                if (v & 8) {
                    path += 1000000;
                    count -= 2;
                    if (count <= 0) break;
                }
            }
            inside = false;
            v ^= (uint32_t)count << 4;
            path += 1000;
            if (--count <= 0) break;
        }
        out[2 * i] = v;
        out[2 * i + 1] = path;
    }
    OUT_U32("div_irreducible_out", out, 2 * N);
}

void ref_divergence(void)
{
    div_trip_counts();
    div_nested_break();
    div_ret_barrier();
    div_ret_shuffle();
    div_barrier_loop();
    div_switch();
    div_recursion();
    div_calls();
    div_barrier_arms();
    div_mask_loop();
    div_spin_shared();
    div_spin_global();
    div_predicates();
    div_irreducible();
}
