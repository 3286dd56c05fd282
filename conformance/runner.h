/* runner.h - a device with room for the operands of many threads, and the judgement of what kernels leave there. */
#ifndef CONFORM_RUNNER_H
#define CONFORM_RUNNER_H

#include "conformance/conform.h"

enum { CONFORM_BLOCK = 128 };

typedef struct conform_runner {
    pxb_context *ctx;
    const conform_options *options;
    pxb_device *device;
    bool native;                 /* NVIDIA's own hardware: approximate functions have a bound, not one right answer */
    uint32_t threads;            /* that fill inputs and compare results */
    size_t room;                 /* values of 8 bytes in each of the following */
    uint64_t *sources, *results;
    pxb_address d_sources, d_results;
} conform_runner;

pxb_status conform_runner_open(conform_runner *r, pxb_context *ctx, const conform_options *options, uint32_t threads);
void conform_runner_close(conform_runner *r);

uint32_t conform_count_role(const conform_case *c, isa_role role);
/* Threads of a launch of this case: a power of two, a multiple of the block. */
uint32_t conform_launch_size(const conform_runner *r, const conform_case *c);

/* Runs the kernel with `n` threads over what lies in sources; results are in results afterwards. */
pxb_status conform_launch(conform_runner *r, pxb_kernel *kernel, const conform_case *c, uint32_t n, pxb_mma_model model);
/* The same in bytes: `in` of sources go to the device, `out` of results come back, which start as what `results` holds if that is
 * prepared, and as zeros otherwise. `loops`: the kernel's threads take several inputs each. */
pxb_status conform_launch_bytes(conform_runner *r, pxb_kernel *kernel, size_t in, size_t out, bool prepared, uint32_t n, bool loops,
                                pxb_mma_model model);

/* ------------------------------------------------------------ judgement */

/* Digests follow the order of results, and those of parts that of the parts. */
#define CONFORM_DIGEST_START 0xcbf29ce484222325u
static inline uint64_t conform_digest(uint64_t digest, uint64_t value)
{
    digest = (digest ^ value) * 0x9e3779b97f4a7c15u;      /* both steps can be undone, so that one changed value changes all */
    return digest ^ digest >> 29;
}
/* The bits of a result that count. */
uint64_t conform_type_mask(ptx_type type);

/* Compares result `e` of a lane whose values are `values`. */
void conform_judge(const conform_runner *r, const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t e, uint64_t got, const char *where,
                   conform_result *out);
/* Compares all results of thread `i` of `n`. */
void conform_judge_lane(const conform_runner *r, const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t i, uint32_t n, const char *where,
                        conform_result *out);
/* Adds what a part of a case has shown; parts in their order. */
void conform_merge(conform_result *all, const conform_result *part);

/* ------------------------------------------------------------ kinds: run_lanes.c, run_warps.c, … */

pxb_status conform_run_lanes(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out);
pxb_status conform_run_warps(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out);
pxb_status conform_run_mma(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out);

/* Calls run for each mma model that the options ask for; `matters`: whether the results depend on it. */
pxb_status conform_each_model(conform_runner *r, bool matters, pxb_status (*run)(void *user, pxb_mma_model model), void *user);

#endif
