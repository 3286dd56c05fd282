/* texture.h - the descriptor of a texture or surface: what a handle is the device address of, on every device.
 *
 * Host code fills it in and gives it to a device; the meanings in texture.c read it. So it has fixed-width fields
 * only, no padding that the compiler chooses, and compiles as plain C, C++ and device code.
 *
 * A level of an image holds, for each layer (or face, or slice of a 3D image), `slice` bytes apart, rows `pitch` bytes apart of
 * texels one after another. Level l has max(1, extent >> l) texels in each dimension.
 * Layers and slices never occur together. A cube has six layers, in the order +x -x +y -y +z -z; an
 * array of cubes six a cube. Each sample of a multisample image is a layer; an array of such images has
 * its first image's samples first. All texels lie in memory that the device may read, multiples of a component's size.
 */
#ifndef PXL_TEXTURE_H
#define PXL_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#define PXL_TEXTURE_MAGIC UINT64_C(0x3130584554584c50)     /* "PLXTEX01" in memory */
enum { PXL_TEXTURE_LEVELS = 16 };

/* The numbers of pxb_texel, pxb_address_mode, pxb_filter and pxb_read_mode. */
typedef enum pxl_texel { PXL_TEXEL_U8, PXL_TEXEL_S8, PXL_TEXEL_U16, PXL_TEXEL_S16, PXL_TEXEL_U32, PXL_TEXEL_S32, PXL_TEXEL_F16, PXL_TEXEL_F32 } pxl_texel;
typedef enum pxl_address { PXL_ADDRESS_WRAP, PXL_ADDRESS_CLAMP, PXL_ADDRESS_MIRROR, PXL_ADDRESS_BORDER } pxl_address;
typedef enum pxl_filter { PXL_FILTER_POINT, PXL_FILTER_LINEAR } pxl_filter;
typedef enum pxl_read { PXL_READ_ELEMENT, PXL_READ_NORMALIZED } pxl_read;

typedef struct pxl_texture {
    uint64_t magic;                               /* PXL_TEXTURE_MAGIC */
    uint64_t base;                                /* device address from which the levels' offsets count */
    uint32_t width, height, depth;                /* of level 0: 1 … 2^28; 1 for dimensions that the image lacks */
    uint32_t layers;                              /* at least 1; 6 for a cube, 6·n for an array of n cubes; samples·n for n multisample images */
    uint32_t levels;                              /* 1 … PXL_TEXTURE_LEVELS */
    uint32_t channels;                            /* 1, 2 or 4 */
    uint32_t format;                              /* pxl_texel of a component */
    uint32_t address[3];                          /* pxl_address for x, y, z */
    uint32_t filter, mip_filter;                  /* pxl_filter within a level, and between levels */
    uint32_t normalized;                          /* 1: coordinates run from 0 to 1 */
    uint32_t read;                                /* pxl_read: 8- and 16-bit integers as they are, or as [0, 1] and [-1, 1] */
    uint32_t srgb;                                /* 1: normalised reads of u8 decode x, y, z from sRGB */
    uint32_t cube;                                /* 1: layers are faces of cubes */
    uint32_t border[4];                           /* PXL_ADDRESS_BORDER: f32 bits, or integers where reads give integers */
    float lod_bias, lod_min, lod_max;             /* of .level and .grad */
    uint32_t samples;                             /* of a texel; 0 and 1: it is no multisample image */
    uint32_t surface;                             /* 1: what istypep calls a .surfref, else a .texref */
    uint32_t reserved;
    uint64_t offset[PXL_TEXTURE_LEVELS];          /* of a level from base, bytes */
    uint64_t pitch[PXL_TEXTURE_LEVELS];           /* bytes from row to row */
    uint64_t slice[PXL_TEXTURE_LEVELS];           /* bytes from slice to slice, or layer to layer */
} pxl_texture;

/* The geometries of PTX' texture and surface instructions. */
typedef enum pxl_geometry { PXL_1D, PXL_2D, PXL_3D, PXL_A1D, PXL_A2D, PXL_CUBE, PXL_ACUBE } pxl_geometry;

/* Where a descriptor lies, for the code that reads it. */
#if defined(__AMDGCN__)
#define PXL_TEXTURE_SPACE __attribute__((address_space(1)))
#else
#define PXL_TEXTURE_SPACE
#endif

static inline uint32_t pxl_channel_bytes(uint32_t format)
{
    return format <= PXL_TEXEL_S8 ? 1 : format <= PXL_TEXEL_S16 || format == PXL_TEXEL_F16 ? 2 : 4;
}
static inline uint32_t pxl_texel_bytes(uint32_t format, uint32_t channels) { return pxl_channel_bytes(format) * channels; }

/* Describes one level of texels without gaps, with a sampler that reads them as they are: point filter, clamp, texel
 * coordinates. The caller changes what it wants otherwise. */
static inline pxl_texture pxl_texture_describe(uint64_t texels, uint32_t width, uint32_t height, uint32_t depth, uint32_t format, uint32_t channels)
{
    pxl_texture t;
    __builtin_memset(&t, 0, sizeof t);
    t.magic = PXL_TEXTURE_MAGIC;
    t.base = texels;
    t.width = width;
    t.height = height;
    t.depth = depth;
    t.layers = t.levels = t.samples = 1;
    t.channels = channels;
    t.format = format;
    t.address[0] = t.address[1] = t.address[2] = PXL_ADDRESS_CLAMP;
    t.lod_max = PXL_TEXTURE_LEVELS;
    t.pitch[0] = (uint64_t)width * pxl_texel_bytes(format, channels);
    t.slice[0] = t.pitch[0] * height;
    return t;
}

/* Leaves the levels and layers of a range; false when they are not there. Parts of cubes are layers. */
static inline bool pxl_texture_view(pxl_texture *t, uint32_t first_level, uint32_t last_level, uint32_t first_layer, uint32_t last_layer)
{
    if (first_level > last_level || last_level >= t->levels || first_layer > last_layer || last_layer >= t->layers)
        return false;
    t->levels = last_level - first_level + 1;
    t->layers = last_layer - first_layer + 1;
    t->cube = t->cube && t->layers % 6 == 0;
    for (uint32_t i = 0; i < t->levels; i++) {
        uint32_t from = i + first_level;
        t->offset[i] = t->offset[from] + first_layer * t->slice[from];
        t->pitch[i] = t->pitch[from];
        t->slice[i] = t->slice[from];
    }
    t->width = t->width >> first_level ? t->width >> first_level : 1;
    t->height = t->height >> first_level ? t->height >> first_level : 1;
    t->depth = t->depth >> first_level ? t->depth >> first_level : 1;
    return true;
}

/* Whether a surface access of `bytes` bytes lies inside level 0: x in bytes (below 2^40), z the slice or the layer; what the
 * geometry lacks is ignored. This is the test behind .trap, which a device makes before the access. An x that is no
 * multiple of `bytes` is taken down to one, as the access itself does. */
static inline bool pxl_surface_contains(const PXL_TEXTURE_SPACE pxl_texture *t, pxl_geometry geometry, int64_t x, uint32_t y, uint32_t z,
                                        uint32_t bytes)
{
    const int64_t row = (int64_t)t->width * pxl_texel_bytes(t->format, t->channels), at = x & ~(int64_t)(bytes - 1);
    const bool plane = geometry == PXL_2D || geometry == PXL_3D || geometry == PXL_A2D;
    if (x < 0 || at + bytes > row || (plane && y >= t->height))
        return false;
    return geometry == PXL_3D ? z < t->depth : geometry == PXL_A1D || geometry == PXL_A2D ? z < t->layers : true;
}

#endif
