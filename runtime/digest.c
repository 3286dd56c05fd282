/* digest.c - see digest.h. SHA-256 is libcrypto's (OpenSSL 1.1 or later), which machines with an NVIDIA driver and no LLVM
 * have as well; the cache's BLAKE3 comes with LLVM, and a CRC would not tell two recordings apart for certain.
 */
#include "runtime/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct rt_digest {
    EVP_MD_CTX *evp;
    bool failed;
};

rt_digest *rt_digest_start(void)
{
    rt_digest *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->evp = EVP_MD_CTX_new();
    d->failed = !d->evp || EVP_DigestInit_ex(d->evp, EVP_sha256(), NULL) != 1;
    return d;
}

void rt_digest_add(rt_digest *d, const void *data, size_t bytes)
{
    if (!d->failed && bytes)
        d->failed = EVP_DigestUpdate(d->evp, data, bytes) != 1;
}

void rt_digest_number(rt_digest *d, uint64_t number)
{
    rt_digest_add(d, &number, sizeof number); /* hosts are little-endian: see array.h */
}

void rt_digest_part(rt_digest *d, const void *data, size_t bytes)
{
    rt_digest_number(d, bytes);
    rt_digest_add(d, data, bytes);
}

void rt_digest_text(rt_digest *d, const char *text)
{
    rt_digest_part(d, text ? text : "", text ? strlen(text) : 0);
}

bool rt_digest_end(rt_digest *d, char out[RT_DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    bool done = !d->failed && EVP_DigestFinal_ex(d->evp, hash, &length) == 1 && length == (RT_DIGEST_TEXT - 1) / 2;
    for (unsigned i = 0; done && i < length; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[done ? RT_DIGEST_TEXT - 1 : 0] = '\0';
    EVP_MD_CTX_free(d->evp);
    free(d);
    return done;
}

static pxb_status end(pxb_context *ctx, rt_digest *d, char out[RT_DIGEST_TEXT])
{
    return rt_digest_end(d, out) ? PXB_OK : rt_fail(ctx, PXB_INTERNAL, "libcrypto could not compute a SHA-256 digest");
}

pxb_status rt_digest_of(pxb_context *ctx, const void *data, size_t bytes, char out[RT_DIGEST_TEXT])
{
    rt_digest *d = rt_digest_start();
    if (!d)
        return rt_no_memory(ctx);
    rt_digest_add(d, data, bytes);
    return end(ctx, d, out);
}

static void add_array(rt_digest *d, const rt_array *a)
{
    rt_digest_text(d, rt_dtype_name(a->dtype));
    rt_digest_part(d, a->shape, a->ndim * sizeof *a->shape);
    rt_digest_part(d, a->data, a->bytes);
}

pxb_status rt_digest_array(pxb_context *ctx, const rt_array *a, char out[RT_DIGEST_TEXT])
{
    rt_digest *d = rt_digest_start();
    if (!d)
        return rt_no_memory(ctx);
    add_array(d, a);
    return end(ctx, d, out);
}

/* ------------------------------------------------------------ cases */

static void add_field(rt_digest *d, const case_field *f)
{
    rt_digest_number(d, f->offset);
    rt_digest_number(d, f->kind);
    if (f->kind == CASE_SCALARS) {
        rt_digest_text(d, rt_dtype_name(f->dtype));
        rt_digest_part(d, f->bits, f->count * sizeof *f->bits);
    } else if (f->kind == CASE_FUNCTION) {
        rt_digest_text(d, f->function);
    } else if (f->kind == CASE_VARIABLE) {
        rt_digest_text(d, f->function);
        rt_digest_number(d, f->array_offset);
    } else if (f->kind != CASE_NULL) {
        rt_digest_text(d, f->array->name);
        rt_digest_number(d, f->array_offset);
    }
}

static void add_launch(rt_digest *d, const case_launch *l)
{
    rt_digest_text(d, l->entry);
    rt_digest_part(d, l->grid, sizeof l->grid);
    rt_digest_part(d, l->block, sizeof l->block);
    rt_digest_number(d, l->shared);
    rt_digest_number(d, l->nparams);
    for (uint32_t i = 0; i < l->nparams; i++) {
        const case_param *p = &l->params[i];
        rt_digest_number(d, p->is_struct ? p->size : 0);
        rt_digest_number(d, p->nfields);
        for (uint32_t k = 0; k < p->nfields; k++)
            add_field(d, &p->fields[k]);
    }
    /* Only where it is so: recordings of other launches keep their digests. */
    if (l->cooperative)
        rt_digest_text(d, "cooperative");
}

static void add_sampler(rt_digest *d, const case_image *x)
{
    const pxb_sampler *s = &x->sampler;
    for (int i = 0; i < 3; i++)
        rt_digest_number(d, s->address[i]);
    rt_digest_number(d, s->filter);
    rt_digest_number(d, s->read);
    rt_digest_number(d, s->normalized_coords);
    if (!x->extended)
        return;
    rt_digest_number(d, x->srgb);
    rt_digest_number(d, x->level_filter);
    rt_digest_part(d, &x->lod_bias, sizeof x->lod_bias);
    rt_digest_part(d, &x->min_lod, sizeof x->min_lod);
    rt_digest_part(d, &x->max_lod, sizeof x->max_lod);
    rt_digest_part(d, x->border, sizeof x->border);
}

/* What says more than an array does; nothing for an image of which the array says all. */
static void add_image(rt_digest *d, const case_image *x)
{
    if (x->of) {
        rt_digest_text(d, x->of->name);
        rt_digest_number(d, x->channels);
        rt_digest_number(d, x->first_level);
        rt_digest_number(d, x->last_level);
        rt_digest_number(d, x->first_layer);
        rt_digest_number(d, x->last_layer);
        rt_digest_number(d, x->offset);
        rt_digest_number(d, x->pitch);
    }
    if (x->of || x->kind || x->ndim || x->levels > 1) {
        rt_digest_number(d, x->kind);
        rt_digest_part(d, x->shape, x->ndim * sizeof *x->shape);
        rt_digest_number(d, x->levels);
        rt_digest_number(d, x->has_format ? (uint64_t)x->format + 1 : 0);
    }
}

static pxb_status add_contents(pxb_context *ctx, rt_digest *d, const case_array *a)
{
    rt_array contents;
    pxb_status status = case_load_array(ctx, a, &contents);
    if (status)
        return status;
    add_array(d, &contents);
    rt_array_free(&contents);
    return PXB_OK;
}

static pxb_status add_source(pxb_context *ctx, rt_digest *d, const case_array *a)
{
    rt_digest_text(d, case_array_kind_name(a->kind));
    rt_digest_text(d, a->name);
    if (a->kind == CASE_TEXTURE)
        add_sampler(d, &a->image);
    if (a->kind == CASE_TEXTURE || a->kind == CASE_SURFACE)
        add_image(d, &a->image);
    if (a->heap)
        rt_digest_text(d, "heap");
    pxb_status status = a->image.of ? PXB_OK : add_contents(ctx, d, a);
    for (uint32_t i = 0; i < a->pointers.count && !status; i++) {
        const case_pointer *p = &a->pointers.list[i];
        rt_digest_number(d, p->offset);
        if (!p->array || p->array->kind != CASE_BUFFER)
            rt_digest_text(d, p->array ? case_array_kind_name(p->array->kind) : p->global ? "global" : "function");
        rt_digest_text(d, p->array ? p->array->name : p->global ? p->global : p->function);
        rt_digest_number(d, p->target_offset);
    }
    return status;
}

pxb_status rt_digest_inputs(pxb_context *ctx, const case_file *file, char out[RT_DIGEST_TEXT])
{
    rt_digest *d = rt_digest_start();
    pxb_status status = PXB_OK;
    if (!d)
        return rt_no_memory(ctx);
    rt_digest_text(d, "ptxbridge inputs 1");
    rt_digest_number(d, file->nlaunches);
    for (uint32_t i = 0; i < file->nlaunches; i++)
        add_launch(d, &file->launches[i]);
    rt_digest_number(d, file->narrays);
    for (uint32_t i = 0; i < file->narrays && !status; i++)
        status = add_source(ctx, d, &file->arrays[i]);
    if (!status)
        return end(ctx, d, out);
    rt_digest_end(d, out);
    return status;
}
