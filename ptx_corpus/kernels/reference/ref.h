// The plain C reference of the kernel corpus: inputs, outputs and small float formats.
// It shares nothing with the engine; every kernel's meaning is written a second time here.
// Arrays live until the program ends.
#ifndef REF_H
#define REF_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Inputs: the case format's "random" generator (splitmix64 of seed + i), and plain zeros.
uint64_t splitmix64(uint64_t s);
double random_unit(uint64_t seed, size_t i);
float *rand_f32(uint64_t seed, size_t n, double low, double high);
double *rand_f64(uint64_t seed, size_t n, double low, double high);
uint16_t *rand_f16(uint64_t seed, size_t n, double low, double high);
int64_t rand_int(uint64_t seed, size_t i, int64_t low, int64_t high);
int32_t *rand_s32(uint64_t seed, size_t n, int64_t low, int64_t high);
uint32_t *rand_u32(uint64_t seed, size_t n, int64_t low, int64_t high);
int16_t *rand_s16(uint64_t seed, size_t n, int64_t low, int64_t high);
uint16_t *rand_u16(uint64_t seed, size_t n, int64_t low, int64_t high);
uint8_t *rand_u8(uint64_t seed, size_t n, int64_t low, int64_t high);
int8_t *rand_s8(uint64_t seed, size_t n, int64_t low, int64_t high);
void *zeros(size_t bytes);

// Outputs: NAME.npy in the current folder; descr is numpy's ("<f4", "|u1", …); shape ends with 0.
void npy_write(const char *name, const char *descr, const void *data, const size_t *shape);
#define NPY(name, descr, data, ...) npy_write(name, descr, data, (const size_t[]){__VA_ARGS__, 0})
#define OUT_F32(name, data, n) NPY(name, "<f4", data, n)
#define OUT_F64(name, data, n) NPY(name, "<f8", data, n)
#define OUT_F16(name, data, n) NPY(name, "<f2", data, n)
#define OUT_U8(name, data, n) NPY(name, "|u1", data, n)
#define OUT_S8(name, data, n) NPY(name, "|i1", data, n)
#define OUT_U16(name, data, n) NPY(name, "<u2", data, n)
#define OUT_S16(name, data, n) NPY(name, "<i2", data, n)
#define OUT_U32(name, data, n) NPY(name, "<u4", data, n)
#define OUT_S32(name, data, n) NPY(name, "<i4", data, n)
#define OUT_U64(name, data, n) NPY(name, "<u8", data, n)
#define OUT_S64(name, data, n) NPY(name, "<i8", data, n)

// Bits of f32 and f64.
static inline uint32_t bits_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static inline float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static inline double double_of(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}
// PTX's canonical f32 NaN; every other value as it is.
static inline float canon(float x) { return x != x ? float_of(0x7fffffffu) : x; }

// Small float formats. Encoding rounds once from an exact f64; NaN encodes to `nan`.
enum rounding { RN, RZ, RD, RU };
struct format {
    int exp_bits, man_bits, bias;
    uint32_t nan, inf; // inf == largest finite for formats that saturate
    bool saturate;
    uint32_t largest; // the largest finite encoding
};
extern const struct format F16, BF16, E4M3, E5M2;
double decode(const struct format *f, uint32_t bits);
uint32_t encode(const struct format *f, double x, enum rounding mode);

// The groups of kernels, one file each.
void ref_basic(void);
void ref_models(void);
void ref_image(void);
void ref_matrix(void);
void ref_blocks(void);
void ref_warp(void);
void ref_language(void);
void ref_integer(void);
void ref_floating(void);
void ref_convert(void);
void ref_divergence(void);

#endif
