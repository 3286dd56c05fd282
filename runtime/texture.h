/* texture.h - textures and surfaces of every kind: what pxb_image and pxb_sampler make, and layers, cubes, samples, levels, and rows with gaps. */
#ifndef RUNTIME_TEXTURE_H
#define RUNTIME_TEXTURE_H

#include "runtime/device.h"

enum { RT_LEVELS = 16 };

/* Texels lie in device memory; the members mean what those of ptx/lib/texture.h do. */
typedef struct rt_texture {
    uint32_t width, height, depth, layers, levels, samples, channels;
    pxb_texel texel;
    bool cube, surface, srgb;
    pxb_sampler sampler;
    pxb_filter level_filter;
    float lod_bias, lod_min, lod_max;
    uint32_t border[4];
    uint64_t offset[RT_LEVELS], pitch[RT_LEVELS], slice[RT_LEVELS];     /* bytes, from the texels' address */
} rt_texture;

/* Makes a handle; PXB_UNSUPPORTED where textures are the device's own objects. */
pxb_status rt_texture_create(pxb_device *device, const rt_texture *texture, pxb_address texels, pxb_handle *out);
void rt_texture_destroy(pxb_device *device, pxb_handle handle);

#endif
