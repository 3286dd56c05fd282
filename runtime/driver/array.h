/* array.h - CUDA arrays: texels in device memory, without gaps, as ptx/lib/texture.h describes an image. */
#ifndef DRIVER_ARRAY_H
#define DRIVER_ARRAY_H

#include "ptx/lib/texture.h"
#include "runtime/driver/driver.h"

struct dr_array {
    dr_object head;
    dr_context *context;
    cu_array3d_desc desc;          /* as it was created */
    uint32_t texel_bytes;
    uint32_t width, height, layers;    /* height at least 1; layers: slices of a 3D array, else layers or faces */
    uint64_t base, pitch, slice;
    struct dr_mipmap *mipmap;      /* that the level belongs to, or NULL */
    uint32_t level;
};

typedef struct dr_mipmap {
    dr_object head;
    dr_context *context;
    cu_array3d_desc desc;
    uint32_t nlevels;
    uint64_t base;
    dr_array *levels[PXL_TEXTURE_LEVELS];
} dr_mipmap;

/* The end of a copy that lies in an array. */
cu_result dr_array_end(const cu_copy_end *e, const cu_memcpy3d *copy, dr_end *out);
/* Bytes of a channel and what a format means to the sampler; false for a format that is not served. `channels` may be fixed by the
 * format (UNORM_INT8X4). */
bool dr_format_of(uint32_t format, uint32_t channels, uint32_t *texel, uint32_t *channels_out, bool *normalised);

#endif
