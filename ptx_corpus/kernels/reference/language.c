// References of calls, pointers, memory spaces, initialised globals, printf inputs and struct parameters.
#include "ref.h"
#include <stdlib.h>

static int32_t mix(int32_t a, int16_t b, uint8_t c) { return a * 31 + b * 7 + c; }

static void noinline_call(void)
{
    enum { N = 75 };
    int32_t *x = rand_s32(7000000, N, -1000, 1000);
    int64_t out[3 * N];
    for (int i = 0; i < N; i++) {
        int32_t a = x[i], b = x[(i + 5) % N], lo = a < b ? a : b, hi = a < b ? b : a;
        out[3 * i] = (int64_t)((uint64_t)(int64_t)hi << 32 | (uint32_t)mix(lo, (int16_t)i, (uint8_t)(i * 3)));
        out[3 * i + 1] = i;
        out[3 * i + 2] = (int64_t)(((float)lo + (float)mix(i, -3, 250)) * 0.5f);
    }
    OUT_S64("noinline_call_out", out, 3 * N);
}

static int32_t operation(int op, int32_t a, int32_t b)
{
    switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a ^ (b * 3);
    default: return b & 1 ? a + 1000 : a - 1000;
    }
}

static void function_pointers(void)
{
    enum { N = 75, BLOCK = 32 };
    int32_t *x = rand_s32(7010000, N, -1000, 1000), out[2 * N];
    for (int i = 0; i < N; i++) {
        int32_t r = operation(x[i] & 3, x[i], i);
        out[2 * i] = r;
        out[2 * i + 1] = operation(i % 5 == 0 ? 1 : i / BLOCK & 3, r, x[i]);
    }
    OUT_S32("function_pointers_out", out, 2 * N);
}

static int32_t ackermann(int32_t m, int32_t n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static int32_t tree_sum(const int32_t *v, int node, int n)
{
    return node >= n ? 0 : v[node] + 2 * tree_sum(v, 2 * node + 1, n) - tree_sum(v, 2 * node + 2, n);
}

static void recursion(void)
{
    enum { N = 40, ALL = 96 };
    int32_t *v = rand_s32(7020000, N, -100, 100), out[2 * ALL];
    for (int i = 0; i < ALL; i++) {
        out[2 * i] = ackermann(i % 3, i % 5);
        out[2 * i + 1] = tree_sum(v, i, N);
    }
    OUT_S32("recursion_out", out, 2 * ALL);
}

static void dyn_shared(void)
{
    enum { N = 150, BLOCK = 80 };
    int32_t *x = rand_s32(7030000, N, -1000, 1000);
    double out[N];
    for (int i = 0; i < N; i++) {
        int t = i % BLOCK, b = i - t, m = b + (t + 13) % BLOCK, r = b + BLOCK - 1 - t;
        int km = m < N ? x[m] : 0, kr = r < N ? x[r] : 0, f = t % 7;
        out[i] = 0.5 * km + kr + (f * f - 10);
    }
    OUT_F64("dyn_shared_out", out, N);
}

static void const_globals(void)
{
    enum { T = 37 };
    static const int first[5] = {1, 2, 3, 4, 5}, second[3] = {-7, -8, -9};
    static const int weights[6] = {-1, 2, -3, 4, -5, 6};
    static const char text[] = "PTX \"text\"\n";
    int32_t out[2 * T];
    double w[T];
    for (int t = 0; t < T; t++) {
        int v = (int[]){1, -8, 77, 5}[t & 3];
        v = v * 100 + weights[t % 6] + text[t % 11];
        v += (int32_t)(uint32_t)(0x1122334455667788ull >> (t & 31));
        out[2 * t] = v;
        if (t & 1) out[2 * t + 1] = 'b' * 1000 + 60 + first[2 + 1];
        else out[2 * t + 1] = 'a' * 1000 - 50 + second[0];
        w[t] = (t & 1 ? -2.5 : 0.125) * t;
    }
    OUT_S32("const_globals_out", out, 2 * T);
    OUT_F64("const_globals_w", w, T);
}

static void local_array(void)
{
    enum { N = 75 };
    int32_t *x = rand_s32(7040000, N, 0, 1000), out[2 * N];
    for (int i = 0; i < N; i++) {
        int32_t a[11];
        bool seen[13] = {false};
        for (int j = 0; j < 11; j++) // rotated left by i % 4
            a[j] = x[(i + (j + i % 4) % 11 * ((j + i % 4) % 11)) % N];
        int at = 0, steps = 0;
        while (!seen[at]) {
            seen[at] = true;
            at = a[at % 11] % 13;
            steps++;
        }
        a[i % 11] += steps;
        out[2 * i] = steps * 100 + at;
        out[2 * i + 1] = a[x[i] % 11];
    }
    OUT_S32("local_array_out", out, 2 * N);
}

static void vector_memory(void)
{
    enum { N = 50 };
    uint32_t *in = rand_u32(7050000, N * 4, 0, 0x100000000);
    uint8_t *out = zeros(N * 64);
    for (int i = 0; i < N; i++) {
        const uint8_t *p = (const uint8_t *)(in + 4 * i);
        uint8_t *o = out + 64 * i;
        memcpy(o, p + 12, 4);
        memcpy(o + 4, p, 12);
        memcpy(o + 16, p + 14, 2); // h3, h0, h1, h2 of the four u16 at byte 8
        memcpy(o + 18, p + 8, 2);
        memcpy(o + 20, p + 10, 2);
        memcpy(o + 22, p + 12, 2);
        memcpy(o + 24, p + 8, 8);
        for (int k = 0; k < 4; k++) {
            int32_t v = (int8_t)p[8 + k];
            memcpy(o + 32 + 4 * k, &v, 4);
        }
        o[48] = p[15];
        o[49] = p[14];
        memcpy(o + 50, p + 2, 2);
        float f = (float)i;
        memcpy(o + 52, &f, 4);
        memcpy(o + 56, p, 8);
    }
    OUT_U32("vector_memory_out", out, N * 16);
}

static void generic_spaces(void)
{
    enum { N = 100, ALL = 128 };
    int32_t *x = rand_s32(7060000, N, 0, 1000), out[ALL];
    for (int i = 0; i < ALL; i++) {
        int t = i % 64;
        switch (i % 5) {
        case 0: out[i] = 1000 * 16 + 1; break;
        case 1: out[i] = (63 - t) * 2 * 16 + 2; break;
        case 2: out[i] = (300 + (t & 3) + t) * 16 + 4 + 1000000; break;
        case 3: out[i] = (2000 + (t & 1)) * 16 + 8; break;
        default: out[i] = x[i % N] * 16 + 1;
        }
    }
    OUT_S32("generic_spaces_out", out, ALL);
}

static void device_malloc(void)
{
    enum { N = 40 };
    int32_t *x = rand_s32(7070000, N, -1000, 1000), out[N];
    for (int i = 0; i < N; i++) {
        out[i] = 0;
        for (int j = i % 4, weight = 1; j >= 0; j--, weight++) out[i] += weight * (x[i] + j * 10);
    }
    OUT_S32("device_malloc_out", out, N);
}

static void struct_param(void)
{
    enum { W = 19, H = 7 };
    static const float gain[5] = {0.5f, -1.25f, 3.0f, 0.1f, 7.75f};
    float *in = rand_f32(7080000, W * H, -10, 10), out[W * H];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float v = in[y * W + x] * gain[(x + 3) % 5];
            v += (float)(-2 * (y + 500));
            out[y * W + x] = (float)((double)v + 0.3);
        }
    OUT_F32("struct_param_out", out, W * H);
}

void ref_language(void)
{
    noinline_call();
    function_pointers();
    recursion();
    dyn_shared();
    const_globals();
    local_array();
    vector_memory();
    generic_spaces();
    device_malloc();
    struct_param();
}
