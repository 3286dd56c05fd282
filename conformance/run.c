/* run.c - cases on a device, in modules of some dozens, compared with the reference.
 *
 * A module holds many cases because a device may spend long on each module (a translation and a link) and little on
 * one more kernel. Inputs and expected results are made chunk by chunk, so that memory does not grow with a sweep.
 */
#include "conformance/conform.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "conformance/bounds.h"
#include "conformance/mma_inputs.h"
#include "runtime/device.h"

enum { BATCH = 48, CHUNK = 32768, BLOCK = 128, TIMEOUT_MS = 120000 };

typedef struct runner {
    pxb_context *ctx;
    const conform_options *options;
    pxb_device *device;
    bool native;                 /* NVIDIA's own hardware: approximate functions have a bound, not one right answer */
    uint64_t *sources, *results; /* CHUNK elements of each operand */
    pxb_address d_sources, d_results;
} runner;

static uint32_t count_role(const conform_case *c, isa_role role)
{
    uint32_t n = 0;
    for (uint32_t e = 0; e < c->nelems; e++)
        n += c->elems[e].role == role;
    return n;
}

static uint64_t mask_of(ptx_type type)
{
    const uint32_t bits = type == PTX_TYPE_PRED ? 1 : ptx_type_bytes(type) * 8;
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

/* ------------------------------------------------------------ one launch */

static pxb_status launch(runner *r, pxb_kernel *kernel, const conform_case *c, uint32_t n, pxb_mma_model model)
{
    const uint32_t ns = count_role(c, ISA_ROLE_SRC) + (c->kind == CONFORM_WARP), nd = count_role(c, ISA_ROLE_DST);
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    o.grid[0] = (n + BLOCK - 1) / BLOCK;
    o.block[0] = BLOCK;
    o.mma_model = model;
    o.timeout_ms = TIMEOUT_MS;
    const void *params[] = {&r->d_sources, &r->d_results, &n};
    pxb_status status = ns ? pxb_memory_write(r->device, r->d_sources, r->sources, (size_t)ns * n * 8) : PXB_OK;
    if (!status)
        status = pxb_memory_set(r->device, r->d_results, 0, (size_t)nd * n * 8);
    if (!status)
        status = pxb_launch(kernel, &o, params, 3);
    return status ? status : pxb_memory_read(r->device, r->results, r->d_results, (size_t)nd * n * 8);
}

/* ------------------------------------------------------------ judging */

static void describe_difference(const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t element, uint64_t got,
                                const char *where, conform_result *out)
{
    int n = snprintf(out->message, sizeof out->message, "%sresult %u is 0x%" PRIx64 ", not 0x%" PRIx64 ", of", where, element, got,
                     values[element]);
    for (uint32_t e = 0; e < c->nelems && n < (int)sizeof out->message - 24; e++)
        if (c->elems[e].role == ISA_ROLE_SRC)
            n += snprintf(out->message + n, sizeof out->message - (size_t)n, " 0x%" PRIx64, values[e]);
}

static void digest(conform_result *out, uint64_t value)
{
    for (int i = 0; i < 8; i++)          /* FNV-1a */
        out->digest = (out->digest ^ (value >> (8 * i) & 255)) * 0x100000001b3u;
}

/* Compares one result; `values` are those of its lane. */
static void judge(runner *r, const conform_case *c, const uint64_t values[ISA_MAX_ELEMS], uint32_t e, uint64_t got, const char *where,
                  conform_result *out)
{
    const uint64_t mask = mask_of(c->elems[e].type), want = values[e] & mask;
    got &= mask;
    digest(out, got);
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

static void judge_lane(runner *r, const conform_case *c, uint64_t values[ISA_MAX_ELEMS], uint32_t i, uint32_t n, const char *where,
                       conform_result *out)
{
    uint32_t k = 0;
    for (uint32_t e = 0; e < c->nelems; e++)
        if (c->elems[e].role == ISA_ROLE_DST)
            judge(r, c, values, e, r->results[(size_t)k++ * n + i], where, out);
}

/* ------------------------------------------------------------ kinds */

static pxb_status run_lanes(runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    conform_inputs in;
    conform_inputs_start(&in, c, r->options->random, r->options->exhaustive, r->options->seed);
    out->inputs = conform_inputs_total(&in);
    out->swept = in.exhaustive == out->inputs && in.exhaustive > 0;
    if (in.nsources == 0)
        out->inputs = in.random = 1;
    for (uint64_t done = 0; done < out->inputs;) {
        const uint64_t left = out->inputs - done;
        const uint32_t n = left < CHUNK ? (uint32_t)(left + CONFORM_LANES - 1) / CONFORM_LANES * CONFORM_LANES : CHUNK;
        const uint32_t fresh = conform_inputs_next(&in, r->sources, n);
        pxb_status status = launch(r, kernel, c, n, PXB_MMA_ADA);
        if (status)
            return status;
        for (uint32_t i = 0; i < fresh; i++) {
            uint64_t values[ISA_MAX_ELEMS];
            for (uint32_t e = 0; e < c->nelems; e++)
                values[e] = c->imm[e];
            for (uint32_t k = 0; k < in.nsources; k++)
                values[in.sources[k]] = r->sources[(size_t)k * n + i];
            conform_expect_lane(c, values);
            judge_lane(r, c, values, i, n, "", out);
        }
        done += fresh;
    }
    return PXB_OK;
}

/* Which lanes execute: all, none but one, ragged and regular sets. */
static uint32_t pick_mask(const conform_case *c, uint32_t warp, conform_random *r)
{
    static const uint32_t masks[] = {0xffffffff, 0x0000ffff, 0xffff0000, 0x55555555, 1, 0x80000000, 0x7fffffff, 0xfffffffe};
    if (!strncmp(c->meaning, "movmatrix", 9))
        return ~0u;                      /* .aligned: the whole warp */
    const uint32_t any = (uint32_t)conform_next(r);
    return warp % 3 == 0 ? masks[warp / 3 % 8] : any ? any : 1;
}

static uint64_t warp_source(const conform_case *c, uint32_t e, uint32_t place, uint32_t mask, uint32_t warp, conform_random *r)
{
    const bool shuffle = !strcmp(c->form->mnemonic, "shfl");
    const uint32_t sources = count_role(c, ISA_ROLE_SRC);
    const bool sync = strstr(c->meaning, "nosync") == NULL && strncmp(c->meaning, "movmatrix", 9) != 0;
    if (c->elems[e].type == PTX_TYPE_PRED)
        return warp % 4 == 0 ? warp / 4 & 1 : conform_next(r) & 1;
    if (sync && place + 1 == sources)
        return mask;                     /* membermask */
    if (shuffle && place == 1)
        return warp % 5 == 0 ? conform_next(r) & 0xffffffff : conform_below(r, 33);
    if (shuffle && place == 2) {
        static const uint32_t segments[] = {0, 16, 24, 28, 30, 31};
        return warp % 5 == 1 ? conform_next(r) & 0xffffffff : segments[warp % 6] << 8 | (strstr(c->meaning, "up") ? 0 : 31);
    }
    conform_shape s = conform_shape_of(c->elems[e].type);
    if (!strcmp(c->form->mnemonic, "match") && warp % 2)
        return conform_below(r, 3) * 0x100000001u;   /* equal values, and some that differ in the upper word only */
    return conform_value(&s, r);
}

static void fill_warp(runner *r, const conform_case *c, uint32_t warp, uint32_t n, conform_random *random)
{
    const uint32_t mask = pick_mask(c, warp, random);
    uint32_t place = 0;
    for (uint32_t e = 0; e < c->nelems; e++) {
        if (c->elems[e].role != ISA_ROLE_SRC)
            continue;
        const bool one_for_all = !strcmp(c->form->mnemonic, "match") && warp % 4 == 0 && place == 0;
        uint64_t first = 0;
        for (uint32_t lane = 0; lane < CONFORM_LANES; lane++) {
            uint64_t v = warp_source(c, e, place, mask, warp, random);
            if (lane == 0) first = v;
            r->sources[(size_t)place * n + warp * CONFORM_LANES + lane] = one_for_all ? first : v;
        }
        place++;
    }
    for (uint32_t lane = 0; lane < CONFORM_LANES; lane++)
        r->sources[(size_t)place * n + warp * CONFORM_LANES + lane] = mask;
}

static void judge_warp(runner *r, const conform_case *c, uint32_t warp, uint32_t n, pxb_mma_model model, const char *where,
                       conform_result *out)
{
    uint64_t values[ISA_MAX_ELEMS][CONFORM_LANES];
    uint32_t place = 0, undefined = 0, executing = ~0u;
    for (uint32_t e = 0; e < c->nelems; e++)
        for (uint32_t lane = 0, k = c->elems[e].role == ISA_ROLE_SRC ? place++ : 0; lane < CONFORM_LANES; lane++)
            values[e][lane] = c->elems[e].role == ISA_ROLE_SRC ? r->sources[(size_t)k * n + warp * CONFORM_LANES + lane] : c->imm[e];
    if (c->kind == CONFORM_WARP)
        executing = (uint32_t)r->sources[(size_t)place * n + warp * CONFORM_LANES];
    conform_expect_warp(c, values, executing, model, &undefined);
    for (uint32_t lane = 0; lane < CONFORM_LANES; lane++) {
        uint64_t one[ISA_MAX_ELEMS];
        for (uint32_t e = 0; e < c->nelems; e++)
            one[e] = values[e][lane];
        /* What a lane reads from one that does not take part is undefined; the other results of the lane are not. */
        if (!(undefined & executing & 1u << lane))
            judge_lane(r, c, one, warp * CONFORM_LANES + lane, n, where, out);
    }
}

static pxb_status run_warps(runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    const uint32_t total = (uint32_t)(r->options->random / 8 < 64 ? 64 : r->options->random / 8 > 1 << 20 ? 1 << 20 : r->options->random / 8);
    conform_random random = {r->options->seed * 77 + strlen(c->name)};
    out->inputs = total;
    for (uint32_t done = 0; done < total;) {
        const uint32_t warps = total - done < CHUNK / CONFORM_LANES ? total - done : CHUNK / CONFORM_LANES, n = warps * CONFORM_LANES;
        for (uint32_t w = 0; w < warps; w++)
            fill_warp(r, c, w, n, &random);
        pxb_status status = launch(r, kernel, c, n, PXB_MMA_ADA);
        if (status)
            return status;
        for (uint32_t w = 0; w < warps; w++)
            judge_warp(r, c, w, n, PXB_MMA_ADA, "", out);
        done += warps;
    }
    return PXB_OK;
}

static bool depends_on_model(const ref_mma_shape *s)
{
    return s->c != REF_S32 && s->c != REF_F64;
}

static pxb_status run_mma_model(runner *r, pxb_kernel *kernel, const conform_case *c, const ref_mma_shape *s, pxb_mma_model model,
                                conform_result *out)
{
    const uint32_t elements = (uint32_t)(s->m * s->n), wanted = (uint32_t)(r->options->random * 4 / elements + 14);
    const uint32_t ns = count_role(c, ISA_ROLE_SRC);
    const bool ordered = strstr(c->name, "ordered_metadata") != NULL;
    conform_random random = {r->options->seed + strlen(c->name) * 1000 + (uint32_t)model};
    char where[64];
    snprintf(where, sizeof where, "model %s: ", pxb_mma_model_name(model));
    for (uint32_t done = 0; done < wanted;) {
        const uint32_t warps = wanted - done < CHUNK / CONFORM_LANES ? wanted - done : CHUNK / CONFORM_LANES, n = warps * CONFORM_LANES;
        for (uint32_t w = 0; w < warps; w++) {
            uint64_t registers[ISA_MAX_ELEMS][CONFORM_LANES];
            conform_mma_warp(s, (int)((done + w) % (uint32_t)conform_mma_themes()), ordered, &random, registers);
            for (uint32_t k = 0; k < ns; k++)
                memcpy(&r->sources[(size_t)k * n + w * CONFORM_LANES], registers[k], sizeof registers[k]);
        }
        pxb_status status = launch(r, kernel, c, n, model);
        if (status)
            return status;
        for (uint32_t w = 0; w < warps; w++)
            judge_warp(r, c, w, n, model, where, out);
        done += warps;
        out->inputs += (uint64_t)warps * elements;
    }
    return PXB_OK;
}

/* The .kinds of sm_120 have one rule, and ieee's. */
static bool is_repetition(const ref_mma_shape *s, uint32_t model)
{
    return s->f8f6f4 && model != PXB_MMA_ADA && model != PXB_MMA_IEEE;
}

static pxb_status run_mma(runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    ref_mma_shape s;
    ref_mma_shape_of(c->meaning, &s);
    /* A device that translates makes code of its own for each model: all of them in a long run only. */
    const bool all = r->options->models == NULL && (r->options->exhaustive || rt_device_cpu_engine(r->device));
    const bool listed = r->options->models != NULL;
    const uint32_t count = !depends_on_model(&s) ? 1 : listed ? r->options->nmodels : all ? PXB_MMA_IEEE + 1 : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (!listed && is_repetition(&s, i))
            continue;
        pxb_status status = run_mma_model(r, kernel, c, &s, listed ? r->options->models[i] : (pxb_mma_model)i, out);
        if (status)
            return status;
    }
    return PXB_OK;
}

/* ------------------------------------------------------------ batches */

static void run_case(runner *r, pxb_module *module, uint32_t number, conform_result *out)
{
    static pxb_status (*const kinds[CONFORM_KINDS])(runner *, pxb_kernel *, const conform_case *, conform_result *) = {
        run_lanes, run_warps, run_mma};
    char name[32];
    pxb_kernel *kernel;
    const double start = rt_now_ms();
    snprintf(name, sizeof name, "conform_%u", number);
    out->digest = 0xcbf29ce484222325u;
    pxb_status status = pxb_kernel_get(r->device, module, name, &kernel);
    if (!status)
        status = kinds[out->c->kind](r, kernel, out->c, out);
    out->verdict = status ? CONFORM_BROKEN : out->differing ? CONFORM_FAILED : CONFORM_PASSED;
    if (status)
        snprintf(out->message, sizeof out->message, "%s", pxb_last_error(r->ctx)->message);
    out->ms = rt_now_ms() - start;
}

static void all_broken(runner *r, conform_result *results, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        results[i].verdict = CONFORM_BROKEN;
        snprintf(results[i].message, sizeof results[i].message, "%s", pxb_last_error(r->ctx)->message);
    }
}

static void run_batch(runner *r, conform_result *results, uint32_t count)
{
    const conform_case *cases[BATCH];
    for (uint32_t i = 0; i < count; i++)
        cases[i] = results[i].c;
    char *text = conform_module(cases, count);
    pxb_module *module = NULL;
    pxb_status status = text ? pxb_module_load_text(r->ctx, text, strlen(text), "conform.ptx", &module) : rt_no_memory(r->ctx);
    if (status)
        all_broken(r, results, count);
    for (uint32_t i = 0; !status && i < count; i++)
        run_case(r, module, i, &results[i]);
    pxb_module_free(module);
    free(text);
}

/* How many of the next results go into one module. */
static uint32_t batch_length(const conform_result *results, uint32_t left)
{
    uint32_t n = 1;
    while (n < left && n < BATCH && conform_is_legacy(results[n].c) == conform_is_legacy(results[0].c) &&
           conform_is_newest(results[n].c) == conform_is_newest(results[0].c))
        n++;
    return n;
}

/* ------------------------------------------------------------ resuming */

/* The state file begins with what the results depend on, and has a line "passed inputs digest swept ulp at name" for each case
 * that passed; failures are tried again. */
static void state_head(const conform_options *o, char *out, size_t size)
{
    int n = snprintf(out, size, "ptxbridge conform %s device %s random %" PRIu64 " exhaustive %d seed %" PRIu64 " models", pxb_version(),
                     o->device ? o->device : "cpu", o->random, o->exhaustive, o->seed);
    for (uint32_t i = 0; o->models && i < o->nmodels && n < (int)size; i++)
        n += snprintf(out + n, size - (size_t)n, " %s", pxb_mma_model_name(o->models[i]));
}

/* False: the file is of another run. */
static bool take_over(const conform_options *o, conform_result *results, uint32_t count, bool *done, bool *is_new)
{
    FILE *f = o->state ? fopen(o->state, "r") : NULL;
    char head[512], line[512], name[CONFORM_NAME];
    state_head(o, head, sizeof head);
    *is_new = true;
    bool same = true;
    if (f && fgets(line, sizeof line, f)) {
        *is_new = false;
        line[strcspn(line, "\n")] = 0;
        same = strcmp(line, head) == 0;
    }
    while (f && same && fgets(line, sizeof line, f)) {
        conform_result r = {0};
        int swept, at = 0;
        if (!strchr(line, '\n') || sscanf(line, "passed %" SCNu64 " %" SCNx64 " %d %lf %" SCNx64 " %n", &r.inputs, &r.digest, &swept, &r.largest_ulp,
                                          &r.largest_at, &at) != 5 || !at)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line + at, "\n"), line + at);
        for (uint32_t i = 0; i < count; i++)
            if (!done[i] && !strcmp(results[i].c->name, name)) {
                r.c = results[i].c;
                r.swept = swept;
                results[i] = r;
                done[i] = true;
                break;
            }
    }
    if (f)
        fclose(f);
    return same;
}

static void keep(FILE *f, const conform_result *results, uint32_t count)
{
    for (uint32_t i = 0; f && i < count; i++)
        if (results[i].verdict == CONFORM_PASSED)
            fprintf(f, "passed %" PRIu64 " %" PRIx64 " %d %.17g %" PRIx64 " %s\n", results[i].inputs, results[i].digest, results[i].swept,
                    results[i].largest_ulp, results[i].largest_at, results[i].c->name);
    if (f)
        fflush(f);
}

/* ------------------------------------------------------------ the whole run */

static pxb_status open_runner(runner *r)
{
    const size_t bytes = (size_t)CHUNK * ISA_MAX_ELEMS * 8;
    pxb_status status = pxb_device_open(r->ctx, r->options->device, &r->device);
    if (status)
        return status;
    if (r->options->prepare && (status = r->options->prepare(r->options->prepare_user, r->device)) != PXB_OK)
        return status;
    r->native = r->options->device && !strncmp(r->options->device, "cuda", 4);
    r->sources = malloc(bytes);
    r->results = malloc(bytes);
    if (!r->sources || !r->results)
        return rt_no_memory(r->ctx);
    status = pxb_memory_alloc(r->device, bytes, &r->d_sources);
    return status ? status : pxb_memory_alloc(r->device, bytes, &r->d_results);
}

static void close_runner(runner *r)
{
    if (r->d_results)
        pxb_memory_free(r->device, r->d_results);
    if (r->d_sources)
        pxb_memory_free(r->device, r->d_sources);
    pxb_device_close(r->device);
    free(r->sources);
    free(r->results);
}

static uint32_t select_cases(const conform_list *list, const conform_options *o, conform_result *results)
{
    uint32_t n = 0;
    memset(results, 0, list->count * sizeof *results);
    for (uint32_t i = 0; i < list->count; i++)
        if (!o->shards || i % o->shards == o->shard)
            results[n++].c = &list->cases[i];
    return n;
}

pxb_status conform_run(pxb_context *ctx, const conform_list *list, const conform_options *options, conform_result *results,
                       uint32_t *nresults)
{
    conform_options o = *options;
    if (!o.random)
        o.random = 4096;
    runner r = {.ctx = ctx, .options = &o};
    const uint32_t count = *nresults = select_cases(list, &o, results);
    bool *done = calloc(count + 1, 1);
    pxb_status status = done ? open_runner(&r) : rt_no_memory(ctx);
    if (status) {
        close_runner(&r);
        free(done);
        return status;
    }
    bool is_new;
    if (!take_over(&o, results, count, done, &is_new)) {
        close_runner(&r);
        free(done);
        return rt_fail(ctx, PXB_BAD_ARGUMENT, "the state file \"%.200s\" is of a run with another device, version or options", o.state);
    }
    FILE *state = o.state ? fopen(o.state, "a") : NULL;
    if (state) {
        char head[512];
        state_head(&o, head, sizeof head);
        fprintf(state, is_new ? "%s\n" : "\n", head);    /* the empty line ends one that was torn */
    }
    if (o.state && !state)
        status = rt_fail(ctx, PXB_IO, "the state file \"%.200s\" cannot be written", o.state);
    for (uint32_t at = 0; !status && at < count;) {
        if (done[at]) {
            at++;
            continue;
        }
        uint32_t left = 0;
        while (at + left < count && !done[at + left])
            left++;
        const uint32_t n = batch_length(results + at, left);
        if (o.progress)
            o.progress(o.progress_user, results[at].c->name, at, count);
        run_batch(&r, results + at, n);
        keep(state, results + at, n);
        at += n;
    }
    if (state)
        fclose(state);
    close_runner(&r);
    free(done);
    return status;
}
