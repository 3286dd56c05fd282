/* Writers for the case data: .npz (zip of .npy, deflate, byte-for-byte reproducible) and PNG. */
#ifndef DEC2_FILES_H
#define DEC2_FILES_H

#include <stdint.h>
#include <stdio.h>

struct npz;

/* NULL when the file cannot be made. */
struct npz *npz_create(const char *path);
/* One member: dtype "|u1" or "<f2" (host must be little-endian), up to 4 dimensions, 0-terminated. */
int npz_add(struct npz *z, const char *name, const char *dtype, const int shape[4], const void *data);
/* 0 when everything was written. */
int npz_close(struct npz *z);

/* 8-bit RGB. 0 when written. */
int png_write(const char *path, int width, int height, const uint8_t *rgb);

#endif
