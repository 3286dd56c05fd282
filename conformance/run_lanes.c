/* run_lanes.c - cases of single lanes: inputs chunk by chunk, each chunk in slices that several threads fill and compare.
 *
 * A table of 2^32 inputs is compared with the fast reference where that is certain, with the slow one elsewhere, and with both in
 * every 4096th place.
 */
#include "conformance/runner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "conformance/parallel.h"
#include "conformance/reference/ref_fast.h"

/* A slice's length is part of what a digest means. */
enum { SLICE = 4096, SLICES = 64, BOTH = 4096 };
static const uint64_t large = 1 << 20;   /* inputs from which on the fast reference is worth its tables */

typedef struct sweep {
    conform_runner *r;
    const conform_case *c;
    conform_inputs *in;
    uint32_t n, fresh;                   /* threads of the launch, and those that have an input of their own */
    uint64_t done;                       /* inputs before this chunk */
    const ref_fast *fast;                /* NULL: none */
    conform_result parts[SLICES];
} sweep;

static uint32_t slice_end(const sweep *s, uint32_t slice)
{
    const uint32_t end = (slice + 1) * SLICE;
    return end < s->n ? end : s->n;
}

static void fill_slice(void *user, uint32_t slice)
{
    const sweep *s = user;
    for (uint32_t i = slice * SLICE, end = slice_end(s, slice); i < end; i++)
        conform_inputs_at(s->in, s->done + (i < s->fresh ? i : s->fresh - 1), &s->r->sources[i], s->n);
}

/* Values of thread `i`: its sources, and what the slow reference expects. */
static void expect(const sweep *s, uint32_t i, uint64_t values[ISA_MAX_ELEMS])
{
    const conform_inputs *in = s->in;
    for (uint32_t e = 0; e < s->c->nelems; e++)
        values[e] = s->c->imm[e];
    for (uint32_t k = 0; k < in->nsources; k++)
        values[in->sources[k]] = s->r->sources[(size_t)k * s->n + i];
    conform_expect_lane(s->c, values);
}

static void compare_slice(void *user, uint32_t slice)
{
    sweep *s = user;
    conform_result *part = &s->parts[slice];
    uint64_t values[ISA_MAX_ELEMS];
    *part = (conform_result){.c = s->c, .digest = CONFORM_DIGEST_START};
    for (uint32_t i = slice * SLICE, end = slice_end(s, slice); i < end && i < s->fresh; i++) {
        expect(s, i, values);
        conform_judge_lane(s->r, s->c, values, i, s->n, "", part);
    }
}

/* The same with the fast reference. Its instructions have one result and at most two sources. */
static void compare_slice_fast(void *user, uint32_t slice)
{
    sweep *s = user;
    conform_result *part = &s->parts[slice];
    const uint64_t *a = s->r->sources, *b = a + (s->in->nsources > 1 ? s->n : 0), mask = conform_type_mask(s->c->elems[0].type);
    uint64_t values[ISA_MAX_ELEMS], digest = CONFORM_DIGEST_START;
    *part = (conform_result){.c = s->c};
    for (uint32_t i = slice * SLICE, end = slice_end(s, slice); i < end && i < s->fresh; i++) {
        const uint64_t src[2] = {a[i], b[i]}, got = s->r->results[i] & mask, place = s->done + i;
        uint64_t want = 0;
        const bool certain = ref_fast_eval(s->fast, src, &want), both = place % BOTH == place / BOTH % BOTH;    /* another place in each row */
        if (certain && !both && got == want) {
            digest = conform_digest(digest, got);
            continue;
        }
        expect(s, i, values);
        if (certain && values[0] != want) {
            part->verdict = CONFORM_BROKEN;
            snprintf(part->message, sizeof part->message, "the references disagree on 0x%" PRIx64, a[i]);
            return;
        }
        part->digest = digest;
        conform_judge(s->r, s->c, values, 0, got, "", part);
        digest = part->digest;
    }
    part->digest = digest;
}

static uint32_t slices_of(uint32_t n)
{
    return (n + SLICE - 1) / SLICE;
}

static pxb_status run_chunk(sweep *s, pxb_kernel *kernel, conform_result *out)
{
    conform_runner *r = s->r;
    if (s->done + s->fresh <= s->in->exhaustive)
        conform_parallel(r->threads, slices_of(s->n), fill_slice, s);
    else
        conform_inputs_next(s->in, r->sources, s->n);
    s->in->at = s->done + s->fresh;
    pxb_status status = conform_launch(r, kernel, s->c, s->n, PXB_MMA_ADA);
    if (status)
        return status;
    conform_parallel(r->threads, slices_of(s->fresh), s->fast ? compare_slice_fast : compare_slice, s);
    for (uint32_t i = 0; i < slices_of(s->fresh) && out->verdict != CONFORM_BROKEN; i++)
        conform_merge(out, &s->parts[i]);
    return PXB_OK;
}

static void slow_lane(void *user, const uint64_t *src, uint64_t *dst)
{
    const conform_case *c = user;
    uint64_t values[ISA_MAX_ELEMS];
    for (uint32_t e = 0, k = 0; e < c->nelems; e++)
        values[e] = c->elems[e].role == ISA_ROLE_SRC ? src[k++] : c->imm[e];
    conform_expect_lane(c, values);
    *dst = values[0];
}

/* How far a long case is, in thousandths; only one worker runs those. */
static void show_share(const conform_runner *r, const conform_case *c, uint64_t done, uint64_t of)
{
    if (r->options->progress && of >= large)
        r->options->progress(r->options->progress_user, c->name, (uint32_t)(done * 1000 / of), 1000);
}

pxb_status conform_run_lanes(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    conform_inputs in;
    ref_fast fast;
    conform_inputs_start(&in, c, r->options->random, r->options->exhaustive, r->options->seed);
    out->inputs = conform_inputs_total(&in);
    out->swept = in.exhaustive == out->inputs && in.exhaustive > 0;
    if (in.nsources == 0)
        out->inputs = in.random = 1;
    const uint32_t most = conform_launch_size(r, c);
    const bool is_fast = out->swept && conform_count_role(c, ISA_ROLE_DST) == 1 && c->elems[0].role == ISA_ROLE_DST &&
                         out->inputs >= large && ref_fast_start(&fast, c->meaning, slow_lane, (void *)c);
    sweep s = {.r = r, .c = c, .in = &in, .fast = is_fast ? &fast : NULL};
    pxb_status status = PXB_OK;
    while (!status && s.done < out->inputs && out->verdict != CONFORM_BROKEN) {
        const uint64_t left = out->inputs - s.done;
        s.n = left < most ? (uint32_t)(left + CONFORM_LANES - 1) / CONFORM_LANES * CONFORM_LANES : most;
        s.fresh = left < most ? (uint32_t)left : most;
        status = run_chunk(&s, kernel, out);
        s.done += s.fresh;
        show_share(r, c, s.done, out->inputs);
    }
    if (is_fast)
        ref_fast_end(&fast);
    return status;
}
