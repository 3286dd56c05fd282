/* texture.c - see texture.h. */
#include "runtime/texture.h"

#include <string.h>
#include "ptx/lib/texture.h"

_Static_assert((int)RT_LEVELS == PXL_TEXTURE_LEVELS, "a descriptor has as many levels");

pxb_status rt_texture_create(pxb_device *device, const rt_texture *x, pxb_address texels, pxb_handle *out)
{
    pxl_texture t = pxl_texture_describe(texels, x->width, x->height, x->depth, x->texel, x->channels);
    *out = 0;
    if (!device->ops->descriptor)
        return rt_fail(device->context, PXB_UNSUPPORTED, "the device \"%s\" makes textures of 1D, 2D and 3D images only", device->ops->name);
    t.layers = x->layers;
    t.levels = x->levels;
    t.samples = x->samples;
    t.cube = x->cube;
    t.surface = x->surface;
    t.srgb = x->srgb;
    for (int i = 0; i < 3; i++)
        t.address[i] = x->sampler.address[i];
    t.filter = x->sampler.filter;
    t.read = x->sampler.read;
    t.normalized = x->sampler.normalized_coords;
    t.mip_filter = x->level_filter;
    t.lod_bias = x->lod_bias;
    t.lod_min = x->lod_min;
    t.lod_max = x->lod_max;
    memcpy(t.border, x->border, sizeof t.border);
    memcpy(t.offset, x->offset, sizeof t.offset);
    memcpy(t.pitch, x->pitch, sizeof t.pitch);
    memcpy(t.slice, x->slice, sizeof t.slice);
    return device->ops->descriptor(device, &t, out);
}

void rt_texture_destroy(pxb_device *device, pxb_handle handle)
{
    if (handle)
        device->ops->handle_destroy(device, handle);
}
