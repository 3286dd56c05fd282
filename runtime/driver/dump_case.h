/* dump_case.h - the case that is being made: what dump.c and dump_image.c share. One at a time, under the lock of spy.c. */
#ifndef DRIVER_DUMP_CASE_H
#define DRIVER_DUMP_CASE_H

#include <stdio.h>
#include "runtime/array.h"
#include "runtime/driver/dump.h"

enum { DUMP_MOST_PIECES = 4096, DUMP_MOST_POINTERS = 100000, DUMP_MOST_IMAGES = 1024 };

/* An allocation or variable that goes into the case, as it was before the launch. */
typedef struct dump_piece {
    uint64_t base, bytes;
    const char *variable;
    const ptx_variable *addresses; /* that variable, where initial values of it are addresses; else NULL */
    bool fixed;                    /* such a one with what the case cannot name: it has what the loader gives it */
    bool heap;                     /* a block of the heap of kernels' malloc */
    rt_dtype dtype;                /* of its elements, with `typed` and without `several` */
    bool typed, integers, several; /* the kernel says one; it may also be a float's; it says different ones */
    unsigned char *before;
} dump_piece;

/* An array or mipmapped array of texels, as it was before. */
typedef struct dump_image {
    cu_array array;                /* or */
    cu_mipmap mipmap;
    cu_array3d_desc desc;
    uint32_t format, channels, levels;     /* format: pxl_texel */
    uint64_t bytes;
    unsigned char *before;         /* NULL: it became part of a mipmapped array */
} dump_image;

/* A texture or surface of the case. */
typedef struct dump_entry {
    uint64_t handle;
    const char *reference;         /* the variable that is a texture or surface reference, else NULL */
    dr_dump_object of;
    int image, piece;              /* where its texels are; the other one is -1 */
    uint32_t first_level, last_level, first_layer, last_layer;     /* of the image */
    uint32_t format, channels;     /* as it sees them */
    bool normalised;               /* read as [0, 1] or [-1, 1] whatever the sampler says */
} dump_entry;

typedef struct dump_case {
    const dr_dump_source *source;
    const char *folder;
    uint64_t number;               /* the case's */
    dump_piece pieces[DUMP_MOST_PIECES];
    dump_image images[DUMP_MOST_IMAGES];
    dump_entry entries[DUMP_MOST_IMAGES];
    int npieces, nimages, nentries, npointers;
    const char *fault;             /* what stopped the launch, or NULL */
    char lost[256];                /* why the case is not whole, or "" */
} dump_case;

extern dump_case dump_now;

/* dump.c. The first reason is the one that is told. */
void dump_lose(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool dump_write_file(const char *name, const void *data, size_t bytes);
/* Index of the piece that holds an address, where an allocation that is met for the first time becomes one; -1: nothing does. */
int dump_piece_of(uint64_t address);
/* The same without a new one. */
int dump_known_piece(uint64_t address);

/* dump_type.c: elements of the pieces. */
void dump_find_types(void);

/* dump_image.c: index of the entry for a handle, -1: there is none; in dump_entry_of, one that is met for the first time becomes one. */
int dump_known_entry(uint64_t handle);
int dump_entry_of(uint64_t handle);
/* The references of the module. */
void dump_take_references(void);
/* A number that gives the same bits again, or "inf", "-inf", "nan". */
void dump_print_real(FILE *f, float value);
/* "texture": "t1" */
void dump_print_entry(FILE *f, int entry);
void dump_print_images(FILE *f);
/* Variables that are references, as entries of "globals"; comma as below. */
void dump_print_references(FILE *f, const char **comma);
/* Expectations of images that the launch changed; *comma is what comes before the next one. */
void dump_print_image_expectations(FILE *f, const char **comma);
void dump_free_images(void);

#endif
