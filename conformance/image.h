/* image.h - images of random shape, format and sampler, on a device and as the reference sees them. */
#ifndef CONFORM_IMAGE_H
#define CONFORM_IMAGE_H

#include "conformance/reference/ref_texture.h"
#include "conformance/runner.h"

typedef struct conform_image {
    ref_texture reference;           /* its texels are in `bytes` */
    uint8_t *bytes;
    size_t size;
    bool surface;
    pxb_image *image;                /* made by the public API; NULL: texels in memory, and a descriptor */
    pxb_address texels;
    pxb_handle handle;
} conform_image;

/* An image for instructions of that geometry; `any`: sometimes of another kind than they expect; `levels`: with several, where descriptors are ours. */
pxb_status conform_image_make(conform_runner *r, ref_geometry geometry, bool surface, bool any, bool levels, conform_random *random, conform_image *out);
/* The device's texels. */
pxb_status conform_image_read(conform_runner *r, const conform_image *i, uint8_t *to);
void conform_image_free(conform_runner *r, conform_image *i);

#endif
