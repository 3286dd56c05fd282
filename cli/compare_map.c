/* compare_map.c - where the elements of an output differ, as a picture in a "data:" URL. */
#include <stdlib.h>
#include <string.h>
#include "cli/compare.h"

enum { MOST_DOTS = 512 };          /* on an edge */

/* An output as planes of dots: up to four trailing values are channels of a dot, the two dimensions before them make a
 * plane, and planes stand in rows, which makes a picture of about the shape of a square. */
typedef struct view { uint64_t height, width, channels, planes, columns; } view;

static bool view_of(const rt_array *a, view *out)
{
    if (a->ndim < 2 || a->count == 0)
        return false;
    bool has_channels = a->ndim > 2 && a->shape[a->ndim - 1] <= 4;
    out->channels = has_channels ? a->shape[a->ndim - 1] : 1;
    out->width = a->shape[a->ndim - (has_channels ? 2 : 1)];
    out->height = a->shape[a->ndim - (has_channels ? 3 : 2)];
    out->planes = a->count / out->height / out->width / out->channels;
    out->columns = 1;
    while (out->columns < out->planes && out->columns * out->width < (out->planes + out->columns - 1) / out->columns * out->height)
        out->columns++;
    return true;
}

static uint64_t rows_of(const view *v)
{
    return (v->planes + v->columns - 1) / v->columns * v->height;
}

static uint64_t columns_of(const view *v)
{
    return v->columns * v->width;
}

/* Equal light grey, nothing at all white; then from yellow over red to violet; a NaN against a number black. */
static void color_of(int bin, unsigned char rgb[3])
{
    static const unsigned char stops[][3] = {{0xf2, 0xd1, 0x3b}, {0xf0, 0x8c, 0x22}, {0xd9, 0x3a, 0x2b}, {0xa0, 0x1f, 0x6b}, {0x4b, 0x19, 0x8a}};
    enum { LAST = 4, BINS_TO_LAST = 16 };
    static const unsigned char nothing[3] = {255, 255, 255}, equal[3] = {0xec, 0xec, 0xec}, nan[3] = {0, 0, 0};
    if (bin < 0 || bin >= RT_BINS) {
        memcpy(rgb, bin < -1 ? nothing : bin < 0 ? equal : nan, 3);
        return;
    }
    double at = bin >= BINS_TO_LAST ? LAST : (double)bin * LAST / BINS_TO_LAST;
    int low = at >= LAST ? LAST - 1 : (int)at;
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned char)(stops[low][i] + (stops[low + 1][i] - stops[low][i]) * (at - low) + 0.5);
}

const char *map_color(int bin, char buffer[8])
{
    unsigned char rgb[3];
    color_of(bin, rgb);
    snprintf(buffer, 8, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
    return buffer;
}

static int bin_of(const rt_compared *o, uint64_t i)
{
    if (rt_array_bits(&o->a, i) == rt_array_bits(&o->b, i))
        return -1;
    uint64_t distance = rt_distance(&o->b, &o->a, i, o->format);
    return distance == UINT64_MAX && rt_reads_floats(o->a.dtype, o->format) ? RT_BINS : distance == 0 ? 0 : 63 - __builtin_clzll(distance);
}

/* A dot shows the worst of the elements under it. */
static void paint(const rt_compared *o, const view *v, uint32_t scale, rt_array *picture, int8_t *worst)
{
    uint64_t width = picture->shape[1], dots = picture->shape[0] * width;
    memset(worst, -2, (size_t)dots);
    for (uint64_t i = 0; i < o->a.count; i++) {
        uint64_t pixel = i / v->channels, x = pixel % v->width, y = pixel / v->width % v->height;
        uint64_t plane = pixel / v->width / v->height;
        y += plane / v->columns * v->height;
        x += plane % v->columns * v->width;
        uint64_t dot = y / scale * width + x / scale;
        int bin = bin_of(o, i);
        if (bin > worst[dot])
            worst[dot] = (int8_t)bin;
    }
    for (uint64_t i = 0; i < dots; i++)
        color_of(worst[i], (unsigned char *)picture->data + 3 * i);
}

static char *data_url(const unsigned char *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", head[] = "data:image/png;base64,";
    char *url = malloc(sizeof head + (n + 2) / 3 * 4), *to = url;
    if (!url)
        return NULL;
    to += strlen(strcpy(to, head));
    for (size_t i = 0; i < n; i += 3) {
        uint32_t left = n - i > 3 ? 3 : (uint32_t)(n - i), word = 0;
        for (uint32_t k = 0; k < 3; k++)
            word = word << 8 | (k < left ? data[i + k] : 0);
        for (uint32_t k = 0; k < 4; k++)
            *to++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    *to = '\0';
    return url;
}

pxb_status difference_map(pxb_context *ctx, const rt_compared *o, char **out, uint32_t *width, uint32_t *height, uint32_t *scale)
{
    view v;
    rt_array picture;
    void *png = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (o->problem || !view_of(&o->a, &v))
        return PXB_OK;
    uint64_t height_all = rows_of(&v), width_all = columns_of(&v), longest = width_all > height_all ? width_all : height_all;
    *scale = (uint32_t)((longest + MOST_DOTS - 1) / MOST_DOTS);
    uint64_t shape[3] = {(height_all + *scale - 1) / *scale, (width_all + *scale - 1) / *scale, 3};
    *width = (uint32_t)shape[1];
    *height = (uint32_t)shape[0];
    pxb_status status = rt_array_make(ctx, &picture, RT_U8, 3, shape);
    if (status)
        return status;
    int8_t *worst = malloc((size_t)(shape[0] * shape[1]));
    if (worst) {
        paint(o, &v, *scale, &picture, worst);
        status = rt_png_format(ctx, o->name, &picture, &png, &bytes);
        *out = status ? NULL : data_url(png, bytes);
    }
    if (!status && !*out)
        status = rt_no_memory(ctx);
    free(worst);
    free(png);
    rt_array_free(&picture);
    return status;
}
