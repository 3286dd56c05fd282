/* cache.h - the disk cache: blobs by 32-byte key (internal; the public part is pxb_cache_…).
 *
 * Every failure of the cache is a miss or an entry not kept, never an error of the caller: what it holds can be made again.
 */
#ifndef RUNTIME_CACHE_H
#define RUNTIME_CACHE_H

#include "runtime/internal.h"

enum { RT_KEY_BYTES = 32 };

/* Looks an entry up; on a hit *data is freed by the caller and the entry counts as used now. A damaged entry is removed
 * and is a miss. */
bool rt_cache_get(pxb_context *ctx, const uint8_t key[RT_KEY_BYTES], void **data, size_t *bytes);

/* Keeps a copy; `label` says in one line what it is. Then drops the least recently used entries beyond the size limit. */
void rt_cache_put(pxb_context *ctx, const uint8_t key[RT_KEY_BYTES], const char *label, const void *data, size_t bytes);

/* The size limit that a value of PTXBRIDGE_CACHE_MB means (NULL: not set); false, and the default, when it is no number. */
bool rt_cache_limit(const char *text, uint64_t *bytes);

#endif
