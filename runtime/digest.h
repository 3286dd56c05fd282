/* digest.h - SHA-256 of things that go from one machine to another. */
#ifndef RUNTIME_DIGEST_H
#define RUNTIME_DIGEST_H

#include "runtime/case.h"

enum { RT_DIGEST_TEXT = 65 };      /* 64 hexadecimal digits and a NUL */

typedef struct rt_digest rt_digest;

rt_digest *rt_digest_start(void);  /* NULL: no memory */
void rt_digest_add(rt_digest *d, const void *data, size_t bytes);
/* A part with its length before it, so that no two lists of parts give the same bytes. */
void rt_digest_part(rt_digest *d, const void *data, size_t bytes);
void rt_digest_text(rt_digest *d, const char *text);
void rt_digest_number(rt_digest *d, uint64_t number);
/* Frees d. False when the digest could not be made: out is "" then. */
bool rt_digest_end(rt_digest *d, char out[RT_DIGEST_TEXT]);

pxb_status rt_digest_of(pxb_context *ctx, const void *data, size_t bytes, char out[RT_DIGEST_TEXT]);
/* dtype, shape and bytes of an array. */
pxb_status rt_digest_array(pxb_context *ctx, const rt_array *a, char out[RT_DIGEST_TEXT]);
/* All that goes into a case but its PTX: launches with parameters, arrays with their contents, samplers, the mma model
 * left out, since it may be chosen. Files are read. */
pxb_status rt_digest_inputs(pxb_context *ctx, const case_file *file, char out[RT_DIGEST_TEXT]);

#endif
