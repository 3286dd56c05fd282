/* translate.h - the translator behind the disk cache, for devices that run AMD code (internal; the public part is pxb_translate). */
#ifndef RUNTIME_TRANSLATE_H
#define RUNTIME_TRANSLATE_H

#include "runtime/internal.h"
#include "translator/translator.h"

/* Translates or finds in the cache. On failure *failed_in (may be NULL) is the function that could not be lowered, if it is
 * known; the error has its place. */
pxb_status rt_translate(pxb_context *ctx, const ptx_module *module, const xl_options *options, pxb_blob *out,
                        const ptx_function **failed_in);

#endif
