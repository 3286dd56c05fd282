/* case_live.h - a case that is on a device: what case_run.c, case_memory.c, case_texture.c and case_output.c share. */
#ifndef RUNTIME_CASE_LIVE_H
#define RUNTIME_CASE_LIVE_H

#include "ptx/lib/texture.h"
#include "runtime/case.h"
#include "runtime/device.h"

/* An array of the case on the host and on the device. */
typedef struct case_resident {
    const case_array *array;
    rt_array initial;              /* empty for images of another's texels */
    pxb_address address;           /* of a buffer, or of texels in the layout that `texels` describes */
    pxb_image *image;              /* texels in an image of the public interface; the first one's, for images of its texels */
    pxb_handle handle;             /* textures and surfaces */
    pxl_texture texels;            /* textures and surfaces without `image` */
    bool made;                     /* `handle` was made by the device's own operation */
} case_resident;

enum { CASE_MAX_PRINTED = 64 << 20 };      /* bytes of what kernels print are kept */

typedef struct case_printed {
    char *text;
    size_t length, room;
    size_t lost;
} case_printed;

typedef struct case_live {
    pxb_context *ctx;
    const case_file *file;
    const case_options *options;
    case_result *result;
    pxb_device *device;
    pxb_module *module;
    char *ptx;
    size_t ptx_length;
    uint32_t nresidents;
    case_resident *residents;
    case_printed printed;
    struct case_heap *heap;        /* NULL: no buffer is in the heap */
} case_live;

void case_progress(const case_live *r, const char *phase, uint32_t done, uint32_t of);

/* case_memory.c: memory and images for all arrays; and their first contents, in memory and in variables of the module. */
pxb_status case_make_residents(case_live *r);
pxb_status case_write_residents(case_live *r);
void case_free_residents(case_live *r);
const case_resident *case_resident_of(const case_live *r, const case_array *array);
/* An error of a name that the case gives is told at that place of the case. */
pxb_status case_placed(const case_live *r, uint32_t line, uint32_t column, pxb_status status);
/* The address of a module's variable and of a byte in it; and what a pointer in memory is on this device. */
pxb_status case_variable_address(const case_live *r, const char *name, uint64_t offset, pxb_address *out);
pxb_status case_pointer_address(const case_live *r, const case_pointer *p, pxb_address *out);

/* case_heap.c: buffers that kernels' malloc gives: new ones for all of them; copies from and to them; and what that needed, back. */
pxb_status case_heap_make(case_live *r);
pxb_status case_heap_write(case_live *r, pxb_address to, const void *from, size_t bytes);
pxb_status case_heap_read(case_live *r, void *to, pxb_address from, size_t bytes);
void case_heap_free(case_live *r);

/* case_texture.c: texels and handles of all textures and surfaces. Their sources are loaded, and buffers have addresses. */
pxb_status case_make_images(case_live *r);

/* case_output.c: everything that is wanted becomes outputs of the result. */
pxb_status case_read_outputs(case_live *r);

#endif
