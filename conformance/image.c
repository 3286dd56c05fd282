/* image.c - see image.h.
 *
 * Half of the images that the public API can describe are made by it; the others, and all with layers, faces, samples or levels, by a descriptor. Bytes
 * between rows, slices and levels hold noise, which a wrong access reads.
 */
#include "conformance/image.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/texture.h"

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void pick_shape(rt_texture *t, ref_geometry g, bool any, conform_random *r)
{
    const uint32_t n = conform_below(r, 4) == 0 ? 3 : 24;
    *t = (rt_texture){.width = 1 + conform_below(r, n), .height = 1, .depth = 1, .layers = 1, .levels = 1, .samples = conform_below(r, 2)};
    if (any && conform_below(r, 6) == 0)
        g = (ref_geometry)conform_below(r, REF_ACUBE + 1);
    if (g != REF_1D && g != REF_A1D)
        t->height = 1 + conform_below(r, n);
    if (g == REF_3D)
        t->depth = 1 + conform_below(r, n / 2 + 1);
    if (g == REF_A1D || g == REF_A2D)
        t->layers = 1 + conform_below(r, 5);
    if (any && (g == REF_2D || g == REF_A2D) && conform_below(r, 3) == 0) {
        t->samples = 1u << conform_below(r, 4);
        t->layers = t->layers * t->samples + (conform_below(r, 8) == 0);     /* a rest that is no image */
    }
    if (g == REF_CUBE || g == REF_ACUBE) {
        t->cube = true;
        t->height = t->width;
        t->layers = 6 * (g == REF_ACUBE ? 1 + conform_below(r, 3) : 1);
    }
}

static uint32_t bits_of(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }

static void pick_sampler(rt_texture *t, conform_random *r)
{
    t->sampler.normalized_coords = conform_below(r, 2);
    t->sampler.filter = conform_below(r, 3) ? PXB_FILTER_LINEAR : PXB_FILTER_POINT;
    t->sampler.read = conform_below(r, 2) ? PXB_READ_NORMALIZED_FLOAT : PXB_READ_ELEMENT;
    t->level_filter = conform_below(r, 2) ? PXB_FILTER_LINEAR : PXB_FILTER_POINT;
    t->srgb = conform_below(r, 4) == 0;
    for (int i = 0; i < 3; i++)
        t->sampler.address[i] = (pxb_address_mode)conform_below(r, 4);
    for (int i = 0; i < 4; i++)
        t->border[i] = conform_below(r, 2) ? 0 : bits_of((float)conform_below(r, 100) / 4);
    t->lod_bias = conform_below(r, 2) ? 0 : (float)conform_below(r, 64) / 16 - 2;
    t->lod_min = conform_below(r, 2) ? 0 : (float)conform_below(r, 40) / 16;
    t->lod_max = conform_below(r, 2) ? 16 : (float)conform_below(r, 80) / 16;
}

/* What the public API refuses is changed; border colour, levels and the rest are what it has. */
static void make_public(rt_texture *t, int dims)
{
    const bool is_float = t->texel == PXB_TEXEL_F16 || t->texel == PXB_TEXEL_F32;
    for (int i = 0; i < 3; i++)
        if (i >= dims || (!t->sampler.normalized_coords && t->sampler.address[i] != PXB_ADDRESS_BORDER))
            t->sampler.address[i] = PXB_ADDRESS_CLAMP;
    if (rt_texel_bytes(t->texel) > 2)
        t->sampler.read = PXB_READ_ELEMENT;
    if (!is_float && t->sampler.read == PXB_READ_ELEMENT)
        t->sampler.filter = PXB_FILTER_POINT;
    if (t->surface)
        t->sampler = (pxb_sampler){{PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP}, PXB_FILTER_POINT, PXB_READ_ELEMENT, false};
    t->level_filter = PXB_FILTER_POINT;
    t->srgb = false;
    memset(t->border, 0, sizeof t->border);
    t->lod_bias = t->lod_min = 0;
    t->lod_max = RT_LEVELS;
    t->samples = 1;
}

/* Lays the levels out, with or without gaps. Returns the bytes up to the end of the last texel. */
static size_t lay_out(rt_texture *t, bool gaps, conform_random *r)
{
    const uint64_t texel = (uint64_t)rt_texel_bytes(t->texel) * t->channels;
    uint64_t at = 0;
    for (uint32_t l = 0; l < t->levels; l++) {
        const uint64_t w = larger(1, t->width >> l), h = larger(1, t->height >> l), d = (uint64_t)larger(1, t->depth >> l) * t->layers;
        t->pitch[l] = w * texel + (gaps ? conform_below(r, 6) * texel : 0);
        t->slice[l] = t->pitch[l] * (h + (gaps ? conform_below(r, 3) : 0));
        t->offset[l] = at;
        at += l == t->levels - 1 ? t->slice[l] * (d - 1) + t->pitch[l] * (h - 1) + w * texel : (t->slice[l] * d + 15) / 16 * 16;
    }
    return (size_t)at;
}

/* Mostly numbers that tell texels apart, sometimes any bits. */
static void fill(conform_image *i, pxb_texel texel, conform_random *r)
{
    const bool any = conform_below(r, 3) == 0;
    for (size_t k = 0; k < i->size; k += 4) {
        uint32_t u = (uint32_t)conform_next(r);
        if (!any && texel == PXB_TEXEL_F16)
            u = (u & 0x8fff8fffu) | 0x30003000u;
        if (!any && texel == PXB_TEXEL_F32)
            u = (u & 0x80ffffffu) | 0x3f000000u;
        memcpy(i->bytes + k, &u, i->size - k < 4 ? i->size - k : 4);
    }
}

static void set_reference(conform_image *i, const rt_texture *t)
{
    ref_texture *f = &i->reference;
    *f = (ref_texture){.width = (int)t->width, .height = (int)t->height, .depth = (int)t->depth, .layers = (int)t->layers, .levels = (int)t->levels,
                       .samples = (int)t->samples, .texel = (ref_texel)t->texel, .channels = (int)t->channels,
                       .linear = t->sampler.filter == PXB_FILTER_LINEAR, .mip_linear = t->level_filter == PXB_FILTER_LINEAR,
                       .normalized_coords = t->sampler.normalized_coords, .read_normalized = t->sampler.read == PXB_READ_NORMALIZED_FLOAT,
                       .srgb = t->srgb, .cube = t->cube, .lod_bias = t->lod_bias, .lod_min = t->lod_min, .lod_max = t->lod_max};
    for (int k = 0; k < 3; k++)
        f->address[k] = (ref_address)t->sampler.address[k];
    memcpy(f->border, t->border, sizeof f->border);
    for (uint32_t l = 0; l < t->levels; l++)
        f->level[l] = (ref_level){i->bytes + t->offset[l], t->pitch[l], t->slice[l]};
}

static pxb_status create_public(conform_runner *r, const rt_texture *t, conform_image *i, uint32_t dims)
{
    const pxb_image_desc desc = {dims, t->width, t->height, t->depth, t->channels, t->texel};
    pxb_status status = pxb_image_create(r->device, &desc, &i->image);
    if (!status)
        status = pxb_image_write(i->image, i->bytes, i->size);
    if (!status)
        status = t->surface ? pxb_surface_create(i->image, &i->handle) : pxb_texture_create(i->image, &t->sampler, &i->handle);
    return status;
}

static pxb_status create_described(conform_runner *r, const rt_texture *t, conform_image *i)
{
    pxb_status status = pxb_memory_alloc(r->device, i->size, &i->texels);
    if (!status)
        status = pxb_memory_write(r->device, i->texels, i->bytes, i->size);
    return status ? status : rt_texture_create(r->device, t, i->texels, &i->handle);
}

pxb_status conform_image_make(conform_runner *r, ref_geometry geometry, bool surface, bool any, bool levels, conform_random *random, conform_image *out)
{
    static const uint8_t channels[] = {1, 2, 4};
    static const uint8_t dims[] = {[REF_1D] = 1, [REF_2D] = 2, [REF_3D] = 3, [REF_ACUBE] = 0};
    rt_texture t;
    levels &= !r->native;
    const bool is_public = dims[geometry] && (r->native || conform_below(random, 2)) && !levels;
    pick_shape(&t, geometry, any && !is_public, random);
    if (levels) {
        t.width += 3;
        t.height = t.cube ? t.width : t.height;
    }
    t.texel = (pxb_texel)conform_below(random, PXB_TEXEL_F32 + 1);
    t.channels = channels[conform_below(random, 3)];
    t.surface = surface;
    pick_sampler(&t, random);
    uint32_t most = 1;
    for (uint32_t n = larger(t.width, larger(t.height, t.depth)); n > 1; n /= 2)
        most++;
    if (levels)
        t.levels = 2 + conform_below(random, most - 1);
    else if (!is_public && any && conform_below(random, 3) == 0)
        t.levels = 1 + conform_below(random, most);
    if (is_public)
        make_public(&t, dims[geometry]);
    *out = (conform_image){.surface = surface, .size = lay_out(&t, !is_public && conform_below(random, 2), random)};
    out->bytes = malloc(out->size + 8);
    if (!out->bytes)
        return rt_no_memory(r->ctx);
    fill(out, t.texel, random);
    set_reference(out, &t);
    return is_public ? create_public(r, &t, out, dims[geometry]) : create_described(r, &t, out);
}

pxb_status conform_image_read(conform_runner *r, const conform_image *i, uint8_t *to)
{
    return i->image ? pxb_image_read(i->image, to, i->size) : pxb_memory_read(r->device, to, i->texels, i->size);
}

void conform_image_free(conform_runner *r, conform_image *i)
{
    if (i->image)
        pxb_image_destroy(i->image);
    else
        rt_texture_destroy(r->device, i->handle);
    if (i->texels)
        pxb_memory_free(r->device, i->texels);
    free(i->bytes);
    *i = (conform_image){.bytes = NULL};
}
