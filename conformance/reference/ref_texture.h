/* ref_texture.h - what texture and surface instructions should give, one lane at a time.
 *
 * Written from the CUDA C++ Programming Guide ("Texture Fetching", "Cubemap Textures") and the PTX ISA, over doubles that hold each
 * step exactly or are rounded once to f32. Shares nothing with ptx/lib. Choices where these documents are silent
 * are numbered in ptx/lib/TEXTURES.md.
 */
#ifndef REF_TEXTURE_H
#define REF_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { REF_TEXEL_U8, REF_TEXEL_S8, REF_TEXEL_U16, REF_TEXEL_S16, REF_TEXEL_U32, REF_TEXEL_S32, REF_TEXEL_F16, REF_TEXEL_F32 } ref_texel;
typedef enum { REF_WRAP, REF_CLAMP, REF_MIRROR, REF_BORDER } ref_address;
typedef enum { REF_1D, REF_2D, REF_3D, REF_A1D, REF_A2D, REF_CUBE, REF_ACUBE } ref_geometry;

typedef struct ref_level { const uint8_t *texels; uint64_t row_pitch, slice_pitch; } ref_level;

typedef struct ref_texture {
    int width, height, depth, layers, levels, samples;   /* layers: faces, or samples, of all images one after another */
    ref_texel texel;
    int channels;
    ref_address address[3];
    bool linear, mip_linear, normalized_coords, read_normalized, srgb, cube;
    float lod_bias, lod_min, lod_max;
    uint32_t border[4];
    ref_level level[16];
} ref_texture;

typedef enum { REF_BASE, REF_LOD, REF_GRADIENTS } ref_mode;

typedef struct ref_sample {
    ref_geometry geometry;
    ref_mode mode;
    uint32_t layer, sample;
    bool multisample;
    bool indexed;                  /* texel numbers instead of coordinates; level is then a level's number */
    int32_t index[3], level;
    float at[3], lod, dx[3], dy[3];
    int32_t offset[3];             /* operand e */
    bool compared;                 /* operand f */
    float depth;
} ref_sample;

/* The four components as an instruction with 32-bit results returns them. */
void ref_texture_sample(const ref_texture *t, const ref_sample *s, uint32_t out[4]);
/* The same components as f16. */
void ref_texture_half(const ref_texture *t, const ref_sample *s, const uint32_t in[4], uint16_t out[4]);
/* tld4 */
void ref_texture_gather(const ref_texture *t, const ref_sample *s, int component, uint32_t out[4]);
/* txq, suq by the query's name; false for an unknown one. */
bool ref_texture_query(const ref_texture *t, const char *query, uint32_t level, uint32_t *out);

/* Offset of a surface access of `bytes` bytes from the texels of level 0, −1 when nothing is accessed. at: x in units of
 * `unit` bytes, y, z or layer. */
int64_t ref_surface_offset(const ref_texture *t, ref_geometry g, const char *clamp, const int32_t at[3], int unit, int bytes);
int ref_texel_bytes(const ref_texture *t);
/* sust.p: the texel that the components make; those that the instruction does not give are 0. */
void ref_surface_encode(const ref_texture *t, const uint32_t in[4], uint8_t *texel);
/* sured: op is add, min, max, and, or; type u32 … s64, or b32, b64 where the format tells the sign. */
uint64_t ref_surface_reduce(const ref_texture *t, const char *op, const char *type, uint64_t old, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
