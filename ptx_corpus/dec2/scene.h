/*
 * The inputs of the dec2 cases and the network that goes with them: what the encoder of a
 * denoiser would hand to its last decoder stage, made directly from the noise-free guides.
 */
#ifndef DEC2_SCENE_H
#define DEC2_SCENE_H

#include "picture.h"
#include "reference.h"

/* Channels of the residual stream and of the skip features. */
enum {
    CH_TAP = 0,     /* nine tap logits, row by row: 0 alike, down to -6 across an edge */
    CH_GATE = 9,    /* 4 where the history is of no use */
    CH_ALBEDO = 10, /* three, then the normal, three */
    CH_NORMAL = 13,
    CH_DEPTH = 16,
    CH_LUMINANCE = 17,
    CH_VARIANCE = 18,
    CH_ONE = 19,
    CH_ID = 20,   /* eight: which surface */
    CH_EDGE = 28, /* four: edges across, down, along both diagonals */
    CH_CODE = 32, /* 32: cosines of albedo, normal and depth */
    CH_MARK = 64, /* 16: a random code of the surface */
    CH_LIGHT = 80 /* 16: brightness in steps */
};
/* Channels of the low-resolution features; from LOW_CODE on, codes as in the skip features. */
enum {
    LOW_ALBEDO = 0,
    LOW_NORMAL = 3,
    LOW_LUMINANCE = 6,
    LOW_VARIANCE = 7,
    LOW_INVALID = 8,
    LOW_EDGE = 9,
    LOW_DEPTH = 10,
    LOW_ONE = 11,
    LOW_ID = 12, /* eight */
    LOW_CODE = 20
};

struct case_spec {
    const char *name, *description;
    struct view view;
    int origin_x, origin_y;
    double colour_scale; /* resolution of the colour texture against the output's */
    int scattered_nan;   /* additive term: NaN by channel at random, not by pixel */
    int clean_samples;
};
enum { CASES = 4 };
extern const struct case_spec case_specs[CASES];

struct scene {
    struct ref_scene ref;
    e4m3 *low, *skip;
    f16 *colour, *history, *additive;
    double *noisy, *clean; /* linear, 3 a pixel, with the additive term, for measuring only */
};

/* Everything is a function of the spec and the seed. Exits when memory is out. */
void scene_build(struct scene *s, const struct case_spec *spec, const uint8_t *weights, uint64_t seed);
void scene_free(struct scene *s);

void network_build(struct ref_weights *w, uint64_t seed);

#endif
