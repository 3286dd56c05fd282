/*
 * The scene of the dec2 cases: a small path tracer (disk light, sky, one bounce, mirror),
 * deterministic in (seed, pixel, sample), that also gives the noise-free guides a denoiser gets.
 */
#ifndef DEC2_PICTURE_H
#define DEC2_PICTURE_H

#include <stdint.h>

/* splitmix64's output for state s. */
uint64_t picture_hash(uint64_t s);

struct guide {
    double albedo[3], normal[3], position[3];
    double depth; /* along the ray, mirrors included, at most 32 */
    int id;       /* surface, 0 is the sky; what a mirror shows is 8 + its id */
};

struct view {
    int full; /* the whole picture is full x full pixels */
    int x, y; /* the part that is rendered */
    int width, height;
    double time; /* moves one sphere */
};

enum { PICTURE_IDS = 16 };

/* width*height*3 linear values, mean of `samples` paths a pixel. */
void picture_render(const struct view *view, uint64_t seed, int samples, double *rgb);
/* width*height guides. */
void picture_guides(const struct view *view, struct guide *guides);
/* The lamp's glow at a pixel of the part; it lies over the picture and is no part of render. */
void picture_glow(const struct view *view, int x, int y, double rgb[3]);

#endif
