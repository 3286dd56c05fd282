/* png.c - PNG pictures as arrays, by libpng.
 *
 * Reading: palettes, 1- to 4-bit grey and tRNS are expanded, so that what comes out is u8 or u16 with 1 (grey), 2
 * (grey and alpha) or 4 channels; RGB gets an opaque alpha because textures have 1, 2 or 4 channels.
 * libpng reports errors by longjmp: everything that must be freed lives in a struct outside the jump.
 */
#include "runtime/array.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stream {
    const unsigned char *data; /* reading */
    size_t length, at;
    unsigned char *out; /* writing */
    size_t nout, room;
    char why[128];
    jmp_buf *jump;
} stream;

static void on_error(png_structp png, png_const_charp message)
{
    stream *s = png_get_error_ptr(png);
    snprintf(s->why, sizeof s->why, "%s", message);
    longjmp(*s->jump, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep to, png_size_t n)
{
    stream *s = png_get_io_ptr(png);
    if (n > s->length - s->at)
        png_error(png, "it is cut short");
    memcpy(to, s->data + s->at, n);
    s->at += n;
}

/* Everything between the header and the rows; the array's shape follows from it. */
static void set_transforms(png_structp png, png_infop info)
{
    int type = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY && depth < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(png);
    else if (type == PNG_COLOR_TYPE_RGB || type == PNG_COLOR_TYPE_PALETTE)
        png_set_filler(png, depth == 16 ? 0xffff : 0xff, PNG_FILLER_AFTER);
    if (depth == 16)
        png_set_swap(png); /* PNG is big-endian, arrays are little-endian */
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

static pxb_status make_array(pxb_context *ctx, png_structp png, png_infop info, rt_array *out)
{
    uint64_t shape[3] = {png_get_image_height(png, info), png_get_image_width(png, info), png_get_channels(png, info)};
    bool wide = png_get_bit_depth(png, info) == 16;
    return rt_array_make(ctx, out, wide ? RT_U16 : RT_U8, 3, shape);
}

typedef struct reader {
    png_structp png;
    png_infop info;
    png_bytep *rows;
} reader;

static pxb_status read_rows(pxb_context *ctx, stream *s, reader *r, const char *name, rt_array *out)
{
    jmp_buf jump;
    s->jump = &jump;
    if (setjmp(jump))
        return rt_fail_at(ctx, PXB_BAD_INPUT, name, 0, 0, "is no PNG file that can be read: %s", s->why);
    png_set_read_fn(r->png, s, on_read);
    png_set_user_limits(r->png, 1 << 20, 1 << 20);
    png_set_chunk_malloc_max(r->png, 64 << 20);
    png_read_info(r->png, r->info);
    set_transforms(r->png, r->info);
    pxb_status status = make_array(ctx, r->png, r->info, out);
    if (status)
        return rt_fail_at(ctx, status, name, 0, 0, "%s", pxb_last_error(ctx)->reason);
    size_t pitch = png_get_rowbytes(r->png, r->info);
    if (pitch * out->shape[0] != out->bytes)
        return rt_fail_at(ctx, PXB_BAD_INPUT, name, 0, 0, "has rows of an unexpected size");
    r->rows = malloc((size_t)out->shape[0] * sizeof *r->rows);
    if (!r->rows)
        return rt_no_memory(ctx);
    for (uint64_t y = 0; y < out->shape[0]; y++)
        r->rows[y] = (png_bytep)out->data + y * pitch;
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
    return PXB_OK;
}

pxb_status rt_png_parse(pxb_context *ctx, const char *name, const void *data, size_t length, rt_array *out)
{
    stream s = {.data = data, .length = length};
    reader r = {0};
    memset(out, 0, sizeof *out);
    if (length < 8 || png_sig_cmp(data, 0, 8) != 0)
        return rt_fail_at(ctx, PXB_BAD_INPUT, name, 0, 0, "is no PNG file");
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    pxb_status status = r.info ? read_rows(ctx, &s, &r, name, out) : rt_no_memory(ctx);
    png_destroy_read_struct(r.png ? &r.png : NULL, r.info ? &r.info : NULL, NULL);
    free(r.rows);
    if (status)
        rt_array_free(out);
    return status;
}

pxb_status rt_png_read(pxb_context *ctx, const char *path, rt_array *out)
{
    char *data;
    size_t length;
    memset(out, 0, sizeof *out);
    pxb_status status = rt_read_file(ctx, path, ctx->array_limit, &data, &length);
    if (!status)
        status = rt_png_parse(ctx, path, data, length, out);
    free(data);
    return status;
}

/* ------------------------------------------------------------ writing */

static void on_write(png_structp png, png_bytep from, png_size_t n)
{
    stream *s = png_get_io_ptr(png);
    if (s->room - s->nout < n) {
        size_t room = (s->nout + n) * 3 / 2 + 4096;
        unsigned char *p = realloc(s->out, room);
        if (!p)
            png_error(png, "out of memory");
        s->out = p;
        s->room = room;
    }
    memcpy(s->out + s->nout, from, n);
    s->nout += n;
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool write_rows(stream *s, png_structp png, png_infop info, const rt_array *a, uint32_t w, uint32_t h,
                       uint32_t c)
{
    static const int types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                 PNG_COLOR_TYPE_RGB_ALPHA};
    jmp_buf jump;
    s->jump = &jump;
    if (setjmp(jump))
        return false;
    uint32_t bytes = rt_dtype_bytes(a->dtype);
    png_set_write_fn(png, s, on_write, on_flush);
    png_set_user_limits(png, 1 << 20, 1 << 20);
    png_set_IHDR(png, info, w, h, (int)bytes * 8, types[c], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (bytes == 2)
        png_set_swap(png);
    for (uint32_t y = 0; y < h; y++)
        png_write_row(png, (png_const_bytep)a->data + (size_t)y * w * c * bytes);
    png_write_end(png, info);
    return true;
}

/* Floats become bytes: 0 to 1 is shown as 0 to 255, NaN as 0. */
static pxb_status to_bytes(pxb_context *ctx, const rt_array *a, rt_array *out)
{
    pxb_status status = rt_array_make(ctx, out, RT_U8, a->ndim, a->shape);
    for (uint64_t i = 0; !status && i < a->count; i++) {
        double v = rt_array_get(a, i);
        ((unsigned char *)out->data)[i] = v >= 1 ? 255 : v > 0 ? (unsigned char)lrint(v * 255) : 0;
    }
    return status;
}

pxb_status rt_png_format(pxb_context *ctx, const char *name, const rt_array *a, void **data, size_t *length)
{
    *data = NULL;
    *length = 0;
    uint64_t channels = a->ndim == 3 ? a->shape[2] : 1;
    bool is_float = rt_dtype_is_float(a->dtype);
    if ((a->ndim != 2 && a->ndim != 3) || channels < 1 || channels > 4 || a->count == 0 || a->shape[0] > 1 << 20 ||
        a->shape[1] > 1 << 20 || (!is_float && a->dtype != RT_U8 && a->dtype != RT_U16)) {
        char text[128];
        return rt_fail_at(ctx, PXB_BAD_ARGUMENT, name, 0, 0,
                          "%s is no picture: it needs (H,W) or (H,W,C), C = 1 to 4, of u8, u16 or floats",
                          rt_array_describe(a, text, sizeof text));
    }
    rt_array bytes = {0};
    stream s = {0};
    pxb_status status = is_float ? to_bytes(ctx, a, &bytes) : PXB_OK;
    png_structp png = status ? NULL : png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!status && !info)
        status = rt_no_memory(ctx);
    if (!status && !write_rows(&s, png, info, is_float ? &bytes : a, (uint32_t)a->shape[1], (uint32_t)a->shape[0],
                               (uint32_t)channels))
        status = rt_fail_at(ctx, PXB_IO, name, 0, 0, "cannot be written: %s", s.why);
    png_destroy_write_struct(png ? &png : NULL, info ? &info : NULL);
    rt_array_free(&bytes);
    if (status) {
        free(s.out);
        return status;
    }
    *data = s.out;
    *length = s.nout;
    return PXB_OK;
}

pxb_status rt_png_write(pxb_context *ctx, const char *path, const rt_array *a)
{
    void *data;
    size_t length;
    pxb_status status = rt_png_format(ctx, path, a, &data, &length);
    if (!status)
        status = rt_write_file(ctx, path, data, length);
    free(data);
    return status;
}
