/* array.h - dense arrays on the host: what case files, .npy, .npz and PNG files hold.
 *
 * Elements are little-endian and in C order (the last index runs fastest). The hosts that we build for are little-endian.
 */
#ifndef RUNTIME_ARRAY_H
#define RUNTIME_ARRAY_H

#include "runtime/internal.h"

typedef enum rt_dtype {
    RT_U8, RT_S8, RT_U16, RT_S16, RT_U32, RT_S32, RT_U64, RT_S64, RT_F16, RT_F32, RT_F64, RT_DTYPE_COUNT
} rt_dtype;

enum { RT_MAX_DIMS = 8 };

typedef struct rt_array {
    rt_dtype dtype;
    uint32_t ndim;
    uint64_t shape[RT_MAX_DIMS];
    uint64_t count;            /* elements: product of the shape, 1 for ndim 0 */
    size_t bytes;
    void *data;                /* never NULL in a made array, even of 0 bytes */
} rt_array;

const char *rt_dtype_name(rt_dtype dtype);
bool rt_dtype_from_name(const char *name, size_t length, rt_dtype *out);
uint32_t rt_dtype_bytes(rt_dtype dtype);
bool rt_dtype_is_float(rt_dtype dtype);
bool rt_dtype_is_signed(rt_dtype dtype);

/* Sets dtype, shape, count and bytes and allocates zeros. Fails when bytes exceed ctx->array_limit. */
pxb_status rt_array_make(pxb_context *ctx, rt_array *a, rt_dtype dtype, uint32_t ndim, const uint64_t *shape);
void rt_array_free(rt_array *a);
pxb_status rt_array_copy(pxb_context *ctx, rt_array *to, const rt_array *from);

/* "f32[16,4]" into buffer; returns it. */
const char *rt_array_describe(const rt_array *a, char *buffer, size_t size);

/* Element i as a double: exact for all dtypes but u64 and s64 beyond 2^53. */
double rt_array_get(const rt_array *a, uint64_t i);
/* Stores a double, floats rounded to nearest even, integers that must be in range (the caller checks). */
void rt_array_put(rt_array *a, uint64_t i, double value);
/* Bits of element i, zero-extended. */
uint64_t rt_array_bits(const rt_array *a, uint64_t i);
/* Text of element i as people read it (integers in decimal, floats with enough digits). */
const char *rt_array_text(const rt_array *a, uint64_t i, char *buffer, size_t size);

/* The documented generator: uniform in [low, high), see docs/case_files.md. Integers use low_i and high_i - low_i. */
uint64_t rt_splitmix64(uint64_t s);
void rt_array_random(rt_array *a, uint64_t seed, double low, double high, int64_t low_i, uint64_t span);

/* Small float formats. */
double rt_f16_to_f64(uint16_t bits);
uint16_t rt_f64_to_f16(double value);

/* ------------------------------------------------------------ files */

/* `name` stands in messages. Data is checked against the header: sizes, dtype, overflow. */
pxb_status rt_npy_parse(pxb_context *ctx, const char *name, const void *data, size_t length, rt_array *out);
pxb_status rt_npy_read(pxb_context *ctx, const char *path, rt_array *out);
/* The whole file's bytes, freed by the caller. */
pxb_status rt_npy_format(pxb_context *ctx, const rt_array *a, void **data, size_t *length);
pxb_status rt_npy_write(pxb_context *ctx, const char *path, const rt_array *a);

/* A member of an .npz, named with or without ".npy". */
pxb_status rt_npz_parse(pxb_context *ctx, const char *name, const void *data, size_t length, const char *member, rt_array *out);
pxb_status rt_npz_read(pxb_context *ctx, const char *path, const char *member, rt_array *out);
pxb_status rt_npz_write(pxb_context *ctx, const char *path, uint32_t count, const char *const *names, const rt_array *const *arrays);

/* A picture as u8 or u16 (H,W,C), C = 1, 2 or 4 as in the file (RGB gets an opaque alpha). */
pxb_status rt_png_parse(pxb_context *ctx, const char *name, const void *data, size_t length, rt_array *out);
pxb_status rt_png_read(pxb_context *ctx, const char *path, rt_array *out);
/* u8 and u16 as they are; floats in [0, 1] as 8-bit pictures, clamped; (H,W) or (H,W,C), C = 1 to 4. */
pxb_status rt_png_write(pxb_context *ctx, const char *path, const rt_array *a);
/* The same as bytes, freed by the caller; `name` stands in messages. */
pxb_status rt_png_format(pxb_context *ctx, const char *name, const rt_array *a, void **data, size_t *length);

#endif
