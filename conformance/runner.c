/* runner.c - see runner.h. */
#include "conformance/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance/bounds.h"
#include "runtime/device.h"

enum { TIMEOUT_MS = 120000, VALUES = 1 << 20, MOST_THREADS = 1 << 16, QUICK_THREADS = 1 << 13, LOOPED_BLOCKS = 64 };

pxb_status conform_runner_open(conform_runner *r, pxb_context *ctx, const conform_options *options, uint32_t threads)
{
    *r = (conform_runner){.ctx = ctx, .options = options, .threads = threads, .room = VALUES};
    pxb_status status = pxb_device_open(ctx, options->device, &r->device);
    if (status)
        return status;
    if (options->prepare && (status = options->prepare(options->prepare_user, r->device)) != PXB_OK)
        return status;
    r->native = options->device && !strncmp(options->device, "cuda", 4);
    r->sources = malloc(r->room * 8);
    r->results = malloc(r->room * 8);
    if (!r->sources || !r->results)
        return rt_no_memory(ctx);
    status = pxb_memory_alloc(r->device, r->room * 8, &r->d_sources);
    return status ? status : pxb_memory_alloc(r->device, r->room * 8, &r->d_results);
}

void conform_runner_close(conform_runner *r)
{
    if (r->d_results)
        pxb_memory_free(r->device, r->d_results);
    if (r->d_sources)
        pxb_memory_free(r->device, r->d_sources);
    pxb_device_close(r->device);
    free(r->sources);
    free(r->results);
}

/* ------------------------------------------------------------ launches */

uint32_t conform_count_role(const conform_case *c, isa_role role)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < c->nelems; e++)
        n += c->elems[e].role == role;
    return n;
}

uint32_t conform_launch_size(const conform_runner *r, const conform_case *c)
{
    const uint32_t ns = conform_count_role(c, ISA_ROLE_SRC) + 1, nd = conform_count_role(c, ISA_ROLE_DST), most = ns > nd ? ns : nd;
    uint32_t n = r->options->exhaustive ? MOST_THREADS : QUICK_THREADS;
    while ((size_t)n * most > r->room)
        n /= 2;
    return n;
}

pxb_status conform_launch_bytes(conform_runner *r, pxb_kernel *kernel, size_t in, size_t out, bool prepared, uint32_t n, bool loops,
                                pxb_mma_model model)
{
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    o.block[0] = CONFORM_BLOCK;
    o.grid[0] = (n + CONFORM_BLOCK - 1) / CONFORM_BLOCK;
    if (loops && o.grid[0] > LOOPED_BLOCKS)
        o.grid[0] = LOOPED_BLOCKS;
    o.mma_model = model;
    o.timeout_ms = TIMEOUT_MS;
    const void *params[] = {&r->d_sources, &r->d_results, &n};
    pxb_status status = in ? pxb_memory_write(r->device, r->d_sources, r->sources, in) : PXB_OK;
    /* What was never stored must not look like the last launch's results. */
    if (!status && out)
        status = prepared ? pxb_memory_write(r->device, r->d_results, r->results, out) : pxb_memory_set(r->device, r->d_results, 0, out);
    if (!status)
        status = pxb_launch(kernel, &o, params, 3);
    return status || !out ? status : pxb_memory_read(r->device, r->results, r->d_results, out);
}

pxb_status conform_launch(conform_runner *r, pxb_kernel *kernel, const conform_case *c, uint32_t n, pxb_mma_model model)
{
    const size_t ns = conform_count_role(c, ISA_ROLE_SRC) + conform_has_mask(c), nd = conform_count_role(c, ISA_ROLE_DST);
    return conform_launch_bytes(r, kernel, ns * n * 8, nd * n * 8, false, n, c->kind == CONFORM_LANE, model);
}

pxb_status conform_each_model(conform_runner *r, bool matters, pxb_status (*run)(void *user, pxb_mma_model model), void *user)
{
    /* A device that translates makes code of its own for each model: all of them in a long run only. */
    const bool all = r->options->models == NULL && (r->options->exhaustive || rt_device_cpu_engine(r->device));
    const bool listed = r->options->models != NULL;
    const uint32_t count = !matters ? 1 : listed ? r->options->nmodels : all ? PXB_MMA_IEEE + 1 : 1;
    pxb_status status = PXB_OK;
    for (uint32_t i = 0; !status && i < count; i++)
        status = run(user, listed ? r->options->models[i] : (pxb_mma_model)i);
    return status;
}

/* ------------------------------------------------------------ judgement */

uint64_t conform_type_mask(ptx_type type)
{
    const uint32_t bits = type == PTX_TYPE_PRED ? 1 : ptx_type_bytes(type) * 8;
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

static void describe_difference(const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t element, uint64_t got,
                                const char *where, conform_result *out)
{
    int n = snprintf(out->message, sizeof out->message, "%sresult %u is 0x%" PRIx64 ", not 0x%" PRIx64 ", of", where, element, got,
                     values[element]);
    for (uint32_t e = 0; e < c->nelems && n < (int)sizeof out->message - 24; e++)
        if (c->elems[e].role == ISA_ROLE_SRC)
            n += snprintf(out->message + n, sizeof out->message - (size_t)n, " 0x%" PRIx64, values[e]);
}

void conform_judge(const conform_runner *r, const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t e, uint64_t got, const char *where,
                   conform_result *out)
{
    const uint64_t mask = conform_type_mask(c->elems[e].type), want = values[e] & mask;
    got &= mask;
    out->digest = conform_digest(out->digest, got);
    if (got == want)
        return;
    const conform_bound *bound = conform_bound_of(c->meaning);
    if (bound) {
        const double apart = conform_ulps(c, e, got, want);
        if (apart > out->largest_ulp) {
            out->largest_ulp = apart;
            for (uint32_t k = 0; k < c->nelems; k++)
                if (c->elems[k].role == ISA_ROLE_SRC) {
                    out->largest_at = values[k];
                    break;
                }
        }
        if ((r->native || bound->everywhere) && conform_within(bound, c, e, got, want))
            return;
    }
    if (out->differing++ == 0)
        describe_difference(c, values, e, got, where, out);
}

void conform_judge_lane(const conform_runner *r, const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t i, uint32_t n, const char *where,
                        conform_result *out)
{
    uint32_t k = 0;
    for (uint32_t e = 0; e < c->nelems; e++)
        if (c->elems[e].role == ISA_ROLE_DST)
            conform_judge(r, c, values, e, r->results[(size_t)k++ * n + i], where, out);
}

void conform_merge(conform_result *all, const conform_result *part)
{
    all->digest = conform_digest(all->digest, part->digest);
    if (part->largest_ulp > all->largest_ulp) {
        all->largest_ulp = part->largest_ulp;
        all->largest_at = part->largest_at;
    }
    if (part->message[0] && !all->message[0])
        memcpy(all->message, part->message, sizeof all->message);
    all->differing += part->differing;
    if (part->verdict == CONFORM_BROKEN)
        all->verdict = CONFORM_BROKEN;
}
