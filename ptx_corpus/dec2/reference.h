/*
 * Independent model of cuda_dldn_engine_swin_dec2_kernel, by layers over dense matrices of
 * tokens x channels. It knows no lanes; it rounds where the kernel rounds, in the same order.
 * ref_numeric.h has the arithmetic.
 */
#ifndef DEC2_REFERENCE_H
#define DEC2_REFERENCE_H

#include "ref_numeric.h"

#include <stddef.h>

enum {
    REF_CHANNELS = 96,
    REF_LOW_CHANNELS = 128,
    REF_HEADS = 4,
    REF_HEAD_WIDTH = 32,
    REF_CHUNKS = 12,
    REF_QUERIES = 64,
    REF_TOKENS = 96, /* the window, then the rows above and below, then the columns left and right */
    REF_EXPAND_TOKENS = 36,
    REF_WEIGHT_BYTES = 212768,
    REF_PHASES = 38
};

/* The weight image as matrices: one row an output, channels in natural order. */
struct ref_weights {
    e4m3 expand[4][REF_CHANNELS][REF_LOW_CHANNELS]; /* sub-pixel 2*dy + dx */
    f16 expand_bias[4][REF_CHANNELS];
    f16 gain1[REF_CHANNELS];
    struct ref_head {
        e4m3 query_key[REF_HEAD_WIDTH][REF_CHANNELS];
        e4m3 value[REF_HEAD_WIDTH][REF_CHANNELS];
        f16 score_bias[REF_QUERIES][REF_TOKENS];
        e4m3 out[REF_CHANNELS][REF_HEAD_WIDTH];
    } head[REF_HEADS];
    f16 attention_bias[REF_CHANNELS];
    f16 gain2[REF_CHANNELS];
    struct ref_chunk {
        e4m3 w1[32][REF_CHANNELS];
        f16 b1[32];
        e4m3 w2[REF_CHANNELS][32];
    } chunk[REF_CHUNKS];
    f16 b2[REF_CHANNELS];
    e4m3 tail[16][REF_CHANNELS]; /* nine tap logits, the gate, six unused values */
    f16 tail_bias[16];
};

/* The image is what the kernel reads: B and C fragments. Both directions, exact inverses. */
void ref_weights_unpack(struct ref_weights *w, const uint8_t image[REF_WEIGHT_BYTES]);
void ref_weights_pack(const struct ref_weights *w, uint8_t image[REF_WEIGHT_BYTES]);

/* Byte of channel c of pixel (x, y) in an arena of planes of 32 channels. */
size_t ref_arena_offset(int width, int height, int x, int y, int c);

struct ref_scene {
    int width, height;      /* extent in output pixels */
    int origin_x, origin_y; /* window shift, even, at least 0 */
    int grid_x, grid_y;
    const e4m3 *low;  /* arena, 4 planes of ceil(width/2) x ceil(height/2) */
    const e4m3 *skip; /* arena, 3 planes of width x height */
    const uint8_t *weights;
    struct ref_texture colour, history, additive;
    float scale_x, scale_y;
};

struct ref_options {
    enum ref_mma_model model;
    int zero_phase; /* 1...38: that phase's results are replaced by zeros; 0: none */
};

/* features: arena, 3 planes; surface: height x width x 4 f16. Only pixels of the grid's
 * windows that lie inside the extent are written. */
void ref_run(const struct ref_scene *scene, const struct ref_options *options, e4m3 *features, f16 *surface);

#endif
