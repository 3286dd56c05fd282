/* run_warps.c - cases of whole warps: collectives, and mma under each model. */
#include "conformance/runner.h"

#include <stdio.h>
#include <string.h>
#include "conformance/mma_inputs.h"
#include "conformance/parallel.h"

/* ------------------------------------------------------------ collectives: inputs */

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
    const uint32_t sources = conform_count_role(c, ISA_ROLE_SRC);
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

static void fill_warp(const conform_runner *r, const conform_case *c, uint32_t warp, uint32_t n, conform_random *random)
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

/* ------------------------------------------------------------ judgement */

static void judge_warp(const conform_runner *r, const conform_case *c, uint32_t warp, uint32_t n, pxb_mma_model model, const char *where,
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
            conform_judge_lane(r, c, one, warp * CONFORM_LANES + lane, n, where, out);
    }
}

/* Warps of one launch, compared in parts by several threads. */
enum { PARTS = 64 };
typedef struct comparison {
    const conform_runner *r;
    const conform_case *c;
    uint32_t warps;
    pxb_mma_model model;
    const char *where;
    conform_result parts[PARTS];
} comparison;

static void compare_part(void *user, uint32_t part)
{
    comparison *x = user;
    x->parts[part] = (conform_result){.c = x->c, .digest = CONFORM_DIGEST_START};
    for (uint32_t w = x->warps * part / PARTS; w < x->warps * (part + 1) / PARTS; w++)
        judge_warp(x->r, x->c, w, x->warps * CONFORM_LANES, x->model, x->where, &x->parts[part]);
}

static void compare_warps(const conform_runner *r, const conform_case *c, uint32_t warps, pxb_mma_model model, const char *where, conform_result *out)
{
    comparison x = {.r = r, .c = c, .warps = warps, .model = model, .where = where};
    conform_parallel(r->threads, PARTS, compare_part, &x);
    for (uint32_t i = 0; i < PARTS; i++)
        conform_merge(out, &x.parts[i]);
}

pxb_status conform_run_warps(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    const uint64_t eighth = r->options->random / 8;
    const uint32_t total = (uint32_t)(eighth < 64 ? 64 : eighth > 1 << 20 ? 1 << 20 : eighth), most = conform_launch_size(r, c) / CONFORM_LANES;
    conform_random random = {r->options->seed * 77 + strlen(c->name)};
    out->inputs = total;
    for (uint32_t done = 0; done < total;) {
        const uint32_t warps = total - done < most ? total - done : most, n = warps * CONFORM_LANES;
        for (uint32_t w = 0; w < warps; w++)
            fill_warp(r, c, w, n, &random);
        pxb_status status = conform_launch(r, kernel, c, n, PXB_MMA_ADA);
        if (status)
            return status;
        compare_warps(r, c, warps, PXB_MMA_ADA, "", out);
        done += warps;
    }
    return PXB_OK;
}

/* ------------------------------------------------------------ mma */

/* Results of an mma case under one model in a long run. */
static const uint32_t long_run = 1000000;

typedef struct product {
    conform_runner *r;
    pxb_kernel *kernel;
    const conform_case *c;
    ref_mma_shape shape;
    conform_result *out;
} product;

static bool depends_on_model(const ref_mma_shape *s)
{
    return s->c != REF_S32 && s->c != REF_F64;
}

/* The .kinds of sm_120 have one rule, and ieee's. */
static bool is_repetition(const ref_mma_shape *s, pxb_mma_model model)
{
    return s->f8f6f4 && model != PXB_MMA_ADA && model != PXB_MMA_IEEE;
}

static uint32_t warps_wanted(const product *p)
{
    const uint32_t elements = (uint32_t)(p->shape.m * p->shape.n), quick = (uint32_t)(p->r->options->random * (p->shape.f8f6f4 ? 1 : 4) / elements + 14);
    const uint32_t most = (long_run + elements - 1) / elements;
    return p->r->options->exhaustive && quick < most ? most : quick;
}

static pxb_status run_model(void *user, pxb_mma_model model)
{
    product *p = user;
    conform_runner *r = p->r;
    const conform_case *c = p->c;
    const uint32_t wanted = warps_wanted(p), ns = conform_count_role(c, ISA_ROLE_SRC), most = conform_launch_size(r, c) / CONFORM_LANES;
    const bool ordered = strstr(c->name, "ordered_metadata") != NULL;
    conform_random random = {r->options->seed + strlen(c->name) * 1000 + (uint32_t)model};
    char where[64];
    if (!r->options->models && is_repetition(&p->shape, model))
        return PXB_OK;
    snprintf(where, sizeof where, "model %s: ", pxb_mma_model_name(model));
    for (uint32_t done = 0; done < wanted;) {
        const uint32_t warps = wanted - done < most ? wanted - done : most, n = warps * CONFORM_LANES;
        for (uint32_t w = 0; w < warps; w++) {
            uint64_t registers[ISA_MAX_ELEMS][CONFORM_LANES];
            conform_mma_warp(&p->shape, (int)((done + w) % (uint32_t)conform_mma_themes()), ordered, &random, registers);
            for (uint32_t k = 0; k < ns; k++)
                memcpy(&r->sources[(size_t)k * n + w * CONFORM_LANES], registers[k], sizeof registers[k]);
        }
        pxb_status status = conform_launch(r, p->kernel, c, n, model);
        if (status)
            return status;
        compare_warps(r, c, warps, model, where, p->out);
        done += warps;
        p->out->inputs += (uint64_t)warps * (uint32_t)(p->shape.m * p->shape.n);
    }
    return PXB_OK;
}

pxb_status conform_run_mma(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    product p = {.r = r, .kernel = kernel, .c = c, .out = out};
    ref_mma_shape_of(c->meaning, &p.shape);
    return conform_each_model(r, depends_on_model(&p.shape), run_model, &p);
}
