/* npy.c - NumPy's array files, versions 1 to 3.
 *
 * Format: NumPy Enhancement Proposal 1. The header is the text of a Python dictionary with exactly the keys
 * descr, fortran_order and shape; we read that one form and nothing else of Python. Big-endian data are
 * swapped, Fortran order is turned into C order, bool is read as u8. Structured dtypes are refused.
 */
#include "runtime/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    rt_dtype dtype;
    bool swap, fortran;
    uint32_t ndim;
    uint64_t shape[RT_MAX_DIMS];
} header;

/* ------------------------------------------------------------ the header's text */

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_blanks(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool take(cursor *c, char ch)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != ch)
        return false;
    c->at++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_string(cursor *c, char *out, size_t size)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t n = 0;
    while (c->at < c->end && *c->at != quote) {
        if (n + 1 >= size || *c->at == '\\')
            return false;
        out[n++] = *c->at++;
    }
    out[n] = '\0';
    return take(c, quote);
}

static bool take_number(cursor *c, uint64_t *out)
{
    skip_blanks(c);
    uint64_t v = 0;
    const char *start = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (v > (UINT64_MAX - 9) / 10)
            return false;
        v = v * 10 + (uint64_t)(*c->at - '0');
    }
    *out = v;
    return c->at > start;
}

static bool take_shape(cursor *c, header *h)
{
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        if (h->ndim == RT_MAX_DIMS || !take_number(c, &h->shape[h->ndim]))
            return false;
        h->ndim++;
        if (!take(c, ','))
            return take(c, ')');
    }
    return true;
}

/* "<f4": byte order, kind, size. */
static bool dtype_of_descr(const char *descr, header *h)
{
    static const struct {
        const char *text;
        rt_dtype dtype;
    } known[] = {
        {"u1", RT_U8},  {"b1", RT_U8},  {"i1", RT_S8},  {"u2", RT_U16}, {"i2", RT_S16}, {"u4", RT_U32},
        {"i4", RT_S32}, {"u8", RT_U64}, {"i8", RT_S64}, {"f2", RT_F16}, {"f4", RT_F32}, {"f8", RT_F64},
    };
    if (!descr[0] || !strchr("<>|=", descr[0]))
        return false;
    h->swap = descr[0] == '>';
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(descr + 1, known[i].text) == 0) {
            h->dtype = known[i].dtype;
            return true;
        }
    }
    return false;
}

static const char *parse_dictionary(cursor *c, header *h, char descr[64])
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
    unsigned seen = 0;
    char key[16];
    if (!take(c, '{'))
        return "its header is no dictionary";
    while (!take(c, '}')) {
        if (!take_string(c, key, sizeof key) || !take(c, ':'))
            return "its header is no dictionary";
        unsigned bit = strcmp(key, "descr") == 0           ? DESCR
                       : strcmp(key, "fortran_order") == 0 ? ORDER
                       : strcmp(key, "shape") == 0         ? SHAPE
                                                           : 0;
        if (bit == 0 || (seen & bit))
            return "its header has an unknown or repeated key";
        seen |= bit;
        if (bit == DESCR && !take_string(c, descr, 64))
            return "its dtype is not one plain type";
        if (bit == ORDER && !(h->fortran = take_word(c, "True")) && !take_word(c, "False"))
            return "its fortran_order is neither True nor False";
        if (bit == SHAPE && !take_shape(c, h))
            return "its shape is no list of up to 8 numbers";
        if (!take(c, ',')) {
            if (!take(c, '}'))
                return "its header is no dictionary";
            break;
        }
    }
    return seen == (DESCR | ORDER | SHAPE) ? NULL : "its header lacks descr, fortran_order or shape";
}

/* ------------------------------------------------------------ data */

static void swap_bytes(rt_array *a)
{
    uint32_t n = rt_dtype_bytes(a->dtype);
    unsigned char *p = a->data;
    for (uint64_t i = 0; i < a->count; i++, p += n) {
        for (uint32_t j = 0; j < n / 2; j++) {
            unsigned char t = p[j];
            p[j] = p[n - 1 - j];
            p[n - 1 - j] = t;
        }
    }
}

/* Walks the array in C order with a counter of indices and takes each element from its place in Fortran order. */
static void from_fortran(rt_array *a, const unsigned char *from)
{
    uint64_t index[RT_MAX_DIMS] = {0}, stride[RT_MAX_DIMS], s = 1, offset = 0;
    uint32_t n = rt_dtype_bytes(a->dtype);
    for (uint32_t i = 0; i < a->ndim; i++) {
        stride[i] = s;
        s *= a->shape[i];
    }
    for (uint64_t k = 0; k < a->count; k++) {
        memcpy((char *)a->data + k * n, from + offset * n, n);
        for (uint32_t i = a->ndim; i-- > 0;) {
            offset += stride[i];
            if (++index[i] < a->shape[i])
                break;
            offset -= stride[i] * a->shape[i];
            index[i] = 0;
        }
    }
}

static pxb_status bad(pxb_context *ctx, const char *name, const char *why)
{
    return rt_fail_at(ctx, PXB_BAD_INPUT, name, 0, 0, "is no .npy file that can be read: %s", why);
}

pxb_status rt_npy_parse(pxb_context *ctx, const char *name, const void *data, size_t length, rt_array *out)
{
    const unsigned char *p = data;
    memset(out, 0, sizeof *out);
    if (length < 10 || memcmp(p, "\x93NUMPY", 6) != 0)
        return bad(ctx, name, "the magic bytes are missing");
    if (p[6] < 1 || p[6] > 3)
        return bad(ctx, name, "its version is not 1, 2 or 3");
    size_t start = p[6] == 1 ? 10 : 12;
    if (length < start)
        return bad(ctx, name, "it is cut short");
    uint64_t n = p[8] | (uint64_t)p[9] << 8;
    if (start == 12)
        n |= (uint64_t)p[10] << 16 | (uint64_t)p[11] << 24;
    if (n > length - start)
        return bad(ctx, name, "its header is longer than the file");
    header h = {0};
    char descr[64] = "";
    cursor c = {(const char *)p + start, (const char *)p + start + n};
    const char *why = parse_dictionary(&c, &h, descr);
    if (why)
        return bad(ctx, name, why);
    if (!dtype_of_descr(descr, &h))
        return rt_fail_at(ctx, PXB_BAD_INPUT, name, 0, 0,
                          "dtype \"%s\" cannot be read (bool, u1 to u8, i1 to i8, f2, f4, f8 can)", descr);
    pxb_status status = rt_array_make(ctx, out, h.dtype, h.ndim, h.shape);
    if (status)
        return rt_fail_at(ctx, status, name, 0, 0, "%s", pxb_last_error(ctx)->reason);
    size_t have = length - start - (size_t)n;
    if (out->bytes != have) {
        status =
            rt_fail_at(ctx, PXB_BAD_INPUT, name, 0, 0, "has %zu bytes of data; its shape needs %zu", have, out->bytes);
        rt_array_free(out);
        return status;
    }
    const unsigned char *from = p + start + n;
    if (h.fortran && h.ndim > 1)
        from_fortran(out, from);
    else
        memcpy(out->data, from, out->bytes);
    if (h.swap)
        swap_bytes(out);
    return PXB_OK;
}

pxb_status rt_npy_read(pxb_context *ctx, const char *path, rt_array *out)
{
    char *data;
    size_t length;
    memset(out, 0, sizeof *out);
    pxb_status status = rt_read_file(ctx, path, ctx->array_limit + 65536, &data, &length);
    if (!status)
        status = rt_npy_parse(ctx, path, data, length, out);
    free(data);
    return status;
}

/* ------------------------------------------------------------ writing */

static const char *descr_of(rt_dtype dtype)
{
    static const char *const text[RT_DTYPE_COUNT] = {
        [RT_U8] = "|u1",  [RT_S8] = "|i1",  [RT_U16] = "<u2", [RT_S16] = "<i2", [RT_U32] = "<u4", [RT_S32] = "<i4",
        [RT_U64] = "<u8", [RT_S64] = "<i8", [RT_F16] = "<f2", [RT_F32] = "<f4", [RT_F64] = "<f8",
    };
    return text[dtype];
}

pxb_status rt_npy_format(pxb_context *ctx, const rt_array *a, void **data, size_t *length)
{
    char text[512];
    size_t n =
        (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(a->dtype));
    for (uint32_t i = 0; i < a->ndim; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%" PRIu64, i ? ", " : "", a->shape[i]);
    n += (size_t)snprintf(text + n, sizeof text - n, "%s), }", a->ndim == 1 ? "," : "");
    /* The data begin at a multiple of 64; the header ends in a newline. */
    size_t total = (10 + n + 1 + 63) / 64 * 64;
    *length = total + a->bytes;
    char *p = *data = malloc(*length);
    if (!p)
        return rt_no_memory(ctx);
    memset(p, ' ', total);
    memcpy(p, "\x93NUMPY\x01\x00", 8);
    p[8] = (char)((total - 10) & 255);
    p[9] = (char)((total - 10) >> 8);
    memcpy(p + 10, text, n);
    p[total - 1] = '\n';
    memcpy(p + total, a->data, a->bytes);
    return PXB_OK;
}

pxb_status rt_npy_write(pxb_context *ctx, const char *path, const rt_array *a)
{
    void *data = NULL;
    size_t length;
    pxb_status status = rt_npy_format(ctx, a, &data, &length);
    if (!status)
        status = rt_write_file(ctx, path, data, length);
    free(data);
    return status;
}
