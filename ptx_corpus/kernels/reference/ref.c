// Inputs, .npy output and small float formats of the corpus reference.
#include "ref.h"
#include <stdio.h>
#include <stdlib.h>

uint64_t splitmix64(uint64_t s)
{
    uint64_t z = s + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double random_unit(uint64_t seed, size_t i) { return (double)(splitmix64(seed + i) >> 11) * 0x1p-53; }

void *zeros(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(2);
    }
    return p;
}

double *rand_f64(uint64_t seed, size_t n, double low, double high)
{
    double *p = zeros(n * sizeof *p);
    for (size_t i = 0; i < n; i++) p[i] = low + (high - low) * random_unit(seed, i);
    return p;
}

float *rand_f32(uint64_t seed, size_t n, double low, double high)
{
    float *p = zeros(n * sizeof *p);
    double *d = rand_f64(seed, n, low, high);
    for (size_t i = 0; i < n; i++) p[i] = (float)d[i];
    return p;
}

uint16_t *rand_f16(uint64_t seed, size_t n, double low, double high)
{
    uint16_t *p = zeros(n * sizeof *p);
    double *d = rand_f64(seed, n, low, high);
    for (size_t i = 0; i < n; i++) p[i] = (uint16_t)encode(&F16, d[i], RN);
    return p;
}

int64_t rand_int(uint64_t seed, size_t i, int64_t low, int64_t high)
{
    return (int64_t)((uint64_t)low + splitmix64(seed + i) % (uint64_t)(high - low));
}

#define RAND(name, type)                                                          \
    type *name(uint64_t seed, size_t n, int64_t low, int64_t high)                \
    {                                                                             \
        type *p = zeros(n * sizeof *p);                                           \
        for (size_t i = 0; i < n; i++) p[i] = (type)rand_int(seed, i, low, high); \
        return p;                                                                 \
    }
RAND(rand_s32, int32_t)
RAND(rand_u32, uint32_t)
RAND(rand_s16, int16_t)
RAND(rand_u16, uint16_t)
RAND(rand_s8, int8_t)
RAND(rand_u8, uint8_t)

void npy_write(const char *name, const char *descr, const void *data, const size_t *shape)
{
    char path[128], header[256], dims[128] = "";
    size_t count = 1;
    for (int i = 0; shape[i]; i++) {
        snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%zu,%s", shape[i], shape[i + 1] ? " " : "");
        count *= shape[i];
    }
    if (shape[0] && shape[1]) dims[strlen(dims) - 1] = 0; // numpy writes (2, 3) but (2,)
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims);
    size_t length = strlen(header), total = (10 + length + 1 + 63) / 64 * 64 - 10;
    snprintf(path, sizeof path, "%s.npy", name);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(2);
    }
    unsigned char start[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(total & 255), (unsigned char)(total >> 8)};
    fwrite(start, 1, 10, f);
    fprintf(f, "%-*s\n", (int)total - 1, header);
    fwrite(data, (size_t)(descr[2] - '0'), count, f);
    if (ferror(f) | fclose(f)) {
        perror(path);
        exit(2);
    }
}

const struct format F16 = {5, 10, 15, 0x7fff, 0x7c00, false, 0x7bff};
const struct format BF16 = {8, 7, 127, 0x7fff, 0x7f80, false, 0x7f7f};
const struct format E4M3 = {4, 3, 7, 0x7f, 0x7e, true, 0x7e};
const struct format E5M2 = {5, 2, 15, 0x7f, 0x7b, true, 0x7b};

double decode(const struct format *f, uint32_t bits)
{
    uint32_t man = bits & ((1u << f->man_bits) - 1);
    int exp = (int)(bits >> f->man_bits & ((1u << f->exp_bits) - 1));
    bool negative = bits >> (f->man_bits + f->exp_bits) & 1;
    double v;
    if (f == &E4M3) {
        if (exp == 15 && man == 7) return NAN;
    } else if (exp == (1 << f->exp_bits) - 1) {
        v = man ? NAN : INFINITY;
        return negative ? -v : v;
    }
    if (exp == 0) v = ldexp(man, 1 - f->bias - f->man_bits);
    else v = ldexp(man + (1u << f->man_bits), exp - f->bias - f->man_bits);
    return negative ? -v : v;
}

uint32_t encode(const struct format *f, double x, enum rounding mode)
{
    if (x != x) return f->nan;
    uint32_t sign = (signbit(x) ? 1u : 0u) << (f->man_bits + f->exp_bits);
    double a = fabs(x);
    if (isinf(a)) return sign | f->inf;
    if (a == 0) return sign;
    int e;
    frexp(a, &e);
    e -= 1; // a = 1.xxx * 2^e
    if (e < 1 - f->bias) e = 1 - f->bias;
    double scaled = ldexp(a, f->man_bits - e), whole = floor(scaled), rest = scaled - whole;
    bool up = mode == RN   ? rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1)
              : mode == RZ ? false
              : mode == RD ? sign && rest > 0
                           : !sign && rest > 0;
    // Counting encodings: a carry out of the significand steps into the next exponent by itself.
    double code = whole + up + ldexp(e + f->bias - 1, f->man_bits);
    if (code > f->largest) {
        if (f->saturate) return sign | f->largest;
        bool to_inf = mode == RN || (mode == RD && sign) || (mode == RU && !sign);
        return sign | (to_inf ? f->inf : f->largest);
    }
    return sign | (uint32_t)code;
}
