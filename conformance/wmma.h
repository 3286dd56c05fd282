/* wmma.h - cases of wmma.load, wmma.mma and wmma.store. */
#ifndef CONFORM_WMMA_H
#define CONFORM_WMMA_H

#include "conformance/runner.h"
#include "conformance/text.h"

/* The body of the kernel, behind its registers. */
void conform_add_wmma(conform_text *t, const conform_case *c);
uint32_t conform_wmma_shared(const conform_case *c);
pxb_status conform_run_wmma(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out);

#endif
