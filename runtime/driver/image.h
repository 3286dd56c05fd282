/* image.h - PTX out of images: what image.c and link.c share with tests. */
#ifndef DRIVER_IMAGE_H
#define DRIVER_IMAGE_H

#include "runtime/driver/driver.h"

/* The text of one unit, parsed; the JIT's log gets what the parser says. */
cu_result dr_parse(const char *text, size_t length, const char *name, dr_jit *jit, ptx_module **out);
/* One block of LZ4's format. Bytes written, 0 when it is damaged or does not fit. */
size_t dr_lz4_block(const unsigned char *from, size_t bytes, unsigned char *to, size_t room);
/* Can so many bytes be read from there? */
bool dr_readable(const void *from, size_t bytes);

#endif
