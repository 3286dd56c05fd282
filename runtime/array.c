/* array.c - arrays: making them, reading and writing elements, the seeded generator. */
#include "runtime/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes;
    bool is_float, is_signed;
} dtypes[RT_DTYPE_COUNT] = {
    [RT_U8] = {"u8", 1, false, false},   [RT_S8] = {"s8", 1, false, true},    [RT_U16] = {"u16", 2, false, false},
    [RT_S16] = {"s16", 2, false, true},  [RT_U32] = {"u32", 4, false, false}, [RT_S32] = {"s32", 4, false, true},
    [RT_U64] = {"u64", 8, false, false}, [RT_S64] = {"s64", 8, false, true},  [RT_F16] = {"f16", 2, true, true},
    [RT_F32] = {"f32", 4, true, true},   [RT_F64] = {"f64", 8, true, true},
};

const char *rt_dtype_name(rt_dtype dtype)
{
    return dtypes[dtype].name;
}

bool rt_dtype_from_name(const char *name, size_t length, rt_dtype *out)
{
    for (int i = 0; i < RT_DTYPE_COUNT; i++) {
        if (strlen(dtypes[i].name) == length && memcmp(dtypes[i].name, name, length) == 0) {
            *out = (rt_dtype)i;
            return true;
        }
    }
    return false;
}

uint32_t rt_dtype_bytes(rt_dtype dtype)
{
    return dtypes[dtype].bytes;
}

bool rt_dtype_is_float(rt_dtype dtype)
{
    return dtypes[dtype].is_float;
}

bool rt_dtype_is_signed(rt_dtype dtype)
{
    return dtypes[dtype].is_signed;
}

pxb_status rt_array_make(pxb_context *ctx, rt_array *a, rt_dtype dtype, uint32_t ndim, const uint64_t *shape)
{
    memset(a, 0, sizeof *a);
    if (ndim > RT_MAX_DIMS)
        return rt_fail(ctx, PXB_BAD_INPUT, "an array has at most %d dimensions, not %u", RT_MAX_DIMS, ndim);
    uint64_t count = 1, most = ctx->array_limit / dtypes[dtype].bytes;
    bool empty = false;
    for (uint32_t i = 0; i < ndim; i++)
        empty = empty || shape[i] == 0;
    for (uint32_t i = 0; i < ndim && !empty; i++) {
        if (shape[i] > most / count)
            return rt_fail(ctx, PXB_BAD_INPUT, "the array would be larger than the limit of %" PRIu64 " bytes",
                           ctx->array_limit);
        count *= shape[i];
    }
    a->dtype = dtype;
    a->ndim = ndim;
    for (uint32_t i = 0; i < ndim; i++)
        a->shape[i] = shape[i];
    a->count = empty ? 0 : count;
    a->bytes = (size_t)a->count * dtypes[dtype].bytes;
    a->data = calloc(1, a->bytes ? a->bytes : 1);
    return a->data ? PXB_OK : rt_no_memory(ctx);
}

void rt_array_free(rt_array *a)
{
    free(a->data);
    memset(a, 0, sizeof *a);
}

pxb_status rt_array_copy(pxb_context *ctx, rt_array *to, const rt_array *from)
{
    *to = *from;
    to->data = malloc(from->bytes ? from->bytes : 1);
    if (!to->data)
        return rt_no_memory(ctx);
    memcpy(to->data, from->data, from->bytes);
    return PXB_OK;
}

const char *rt_array_describe(const rt_array *a, char *buffer, size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "%s[", dtypes[a->dtype].name);
    for (uint32_t i = 0; i < a->ndim && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%" PRIu64, i ? "," : "", a->shape[i]);
    if (used < size)
        snprintf(buffer + used, size - used, "]");
    return buffer;
}

/* ------------------------------------------------------------ elements */

double rt_f16_to_f64(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else
        value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -value : value;
}

/* One rounding, to nearest even, from the double: rint of the value in units of the result's last place. */
uint16_t rt_f64_to_f16(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return 0x7fff; /* canonical NaN of PTX */
    double a = fabs(value);
    if (a >= 65520) /* half way between 65504 and 2^16 */
        return sign | 0x7c00;
    int e = a < 0x1p-14 ? -14 : ilogb(a);
    double units = rint(ldexp(a, 10 - e)); /* up to 2048; a carry moves into the exponent by itself */
    uint32_t bits = e == -14 && units < 1024 ? (uint32_t)units : ((uint32_t)(e + 15) << 10) + (uint32_t)units - 1024;
    return sign | (uint16_t)bits;
}

uint64_t rt_array_bits(const rt_array *a, uint64_t i)
{
    uint64_t bits = 0;
    uint32_t n = dtypes[a->dtype].bytes;
    memcpy(&bits, (const char *)a->data + i * n, n);
    return bits;
}

static int64_t signed_bits(const rt_array *a, uint64_t i)
{
    int shift = 64 - 8 * dtypes[a->dtype].bytes;
    return (int64_t)(rt_array_bits(a, i) << shift) >> shift;
}

double rt_array_get(const rt_array *a, uint64_t i)
{
    uint64_t bits = rt_array_bits(a, i);
    float f;
    double d;
    switch (a->dtype) {
    case RT_F16: return rt_f16_to_f64((uint16_t)bits);
    case RT_F32: memcpy(&f, (const char *)a->data + i * 4, 4); return f;
    case RT_F64: memcpy(&d, &bits, 8); return d;
    default: return dtypes[a->dtype].is_signed ? (double)signed_bits(a, i) : (double)bits;
    }
}

static void put_bits(rt_array *a, uint64_t i, uint64_t bits)
{
    uint32_t n = dtypes[a->dtype].bytes;
    memcpy((char *)a->data + i * n, &bits, n);
}

void rt_array_put(rt_array *a, uint64_t i, double value)
{
    float f = (float)value;
    switch (a->dtype) {
    case RT_F16: put_bits(a, i, rt_f64_to_f16(value)); break;
    case RT_F32: memcpy((char *)a->data + i * 4, &f, 4); break;
    case RT_F64: memcpy((char *)a->data + i * 8, &value, 8); break;
    default: put_bits(a, i, value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value);
    }
}

const char *rt_array_text(const rt_array *a, uint64_t i, char *buffer, size_t size)
{
    switch (a->dtype) {
    case RT_F16: snprintf(buffer, size, "%.5g", rt_array_get(a, i)); break;
    case RT_F32: snprintf(buffer, size, "%.9g", rt_array_get(a, i)); break;
    case RT_F64: snprintf(buffer, size, "%.17g", rt_array_get(a, i)); break;
    default:
        if (dtypes[a->dtype].is_signed)
            snprintf(buffer, size, "%" PRId64, signed_bits(a, i));
        else
            snprintf(buffer, size, "%" PRIu64, rt_array_bits(a, i));
    }
    return buffer;
}

/* ------------------------------------------------------------ random */

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014). */
uint64_t rt_splitmix64(uint64_t s)
{
    uint64_t z = s + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void rt_array_random(rt_array *a, uint64_t seed, double low, double high, int64_t low_i, uint64_t span)
{
    bool is_float = dtypes[a->dtype].is_float;
    for (uint64_t i = 0; i < a->count; i++) {
        uint64_t z = rt_splitmix64(seed + i);
        if (is_float)
            rt_array_put(a, i, low + (high - low) * ((double)(z >> 11) * 0x1p-53));
        else
            put_bits(a, i, (uint64_t)low_i + z % span);
    }
}
