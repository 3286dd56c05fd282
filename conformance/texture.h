/* texture.h - cases of texture and surface instructions, over images that the runner makes. */
#ifndef CONFORM_TEXTURE_H
#define CONFORM_TEXTURE_H

#include "conformance/runner.h"

/* Completes a case's name, where forms with and without a predicate, an offset or a depth have the same opcode; and makes immediates of the
 * elements that PTX does not write. */
void conform_texture_case(conform_case *c);
pxb_status conform_run_texture(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out);

#endif
