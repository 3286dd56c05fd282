/* wmma.c - wmma.load, wmma.mma and wmma.store as one case. PTX leaves fragments opaque, so matrices come from memory and go there.
 *
 * A warp's sources are A, B and C one after another; its results D. The layouts of A and B are the instruction's; those of C and D, the state
 * space and the strides vary from case to case, so that every load and store is met. Gaps between rows hold noise that must
 * stay out, and in D stay.
 */
#include "conformance/wmma.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "conformance/mma_inputs.h"
#include "conformance/parallel.h"
#include "conformance/reference/ref_wmma.h"

enum { A, B, C, D, MATRICES };
enum { PARTS = 64, ALIGN = 32, NOISE = 0xa5 };

typedef struct plan {
    ref_mma_shape shape;
    ref_wmma_matrix matrix[MATRICES];
    size_t in, out;              /* bytes of a warp */
    const char *space;           /* "", ".global", ".shared" */
    bool strided;                /* the stride is written, and larger than a row */
} plan;

static bool is_row(const conform_case *c, const char *group, bool otherwise)
{
    const char *layout = isa_choice(c->form, &c->tuple, group);
    return layout ? !strcmp(layout, "row") : otherwise;
}

static void place(plan *p, int which, ref_mma_type type, int rows, int columns, bool row_major, size_t *at)
{
    const int line = row_major ? columns : rows, step = 128 / ref_mma_type_bits(type);   /* rows begin at 16 bytes */
    ref_wmma_matrix *m = &p->matrix[which];
    *m = (ref_wmma_matrix){type, rows, columns, row_major, p->strided ? (line + step - 1) / step * step + step : line, *at};
    *at = (*at + ref_wmma_bytes(m) + ALIGN - 1) / ALIGN * ALIGN;
}

static plan plan_of(const conform_case *c)
{
    static const char *const spaces[] = {".global", ".shared", ""};
    plan p = {.in = 0};
    ref_wmma_shape_of(c->meaning, &p.shape);
    const ref_mma_shape *s = &p.shape;
    const bool a_row = is_row(c, "la", true), b_row = is_row(c, "lb", false);
    /* Another space and layout of C for each layout of A and B and, where there is one only, for each instruction. */
    const uint32_t turn = (uint32_t)(2 * a_row + b_row) + (uint32_t)strlen(c->name);
    p.space = spaces[turn % 3];
    p.strided = turn % 4 != 0;
    const bool c_row = turn & 1;
    place(&p, A, s->a, s->m, s->k, a_row, &p.in);
    place(&p, B, s->b, s->k, s->n, b_row, &p.in);
    place(&p, C, s->c, s->m, s->n, c_row, &p.in);
    place(&p, D, s->d, s->m, s->n, !c_row, &p.out);
    return p;
}

/* ------------------------------------------------------------ PTX */

/* Bytes of shared memory that the kernel needs. */
uint32_t conform_wmma_shared(const conform_case *c)
{
    const plan p = plan_of(c);
    return strcmp(p.space, ".shared") ? 0 : (uint32_t)(p.in + p.out) * (CONFORM_BLOCK / CONFORM_LANES);
}

static void add_fragment(conform_text *t, uint32_t first, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        conform_add(t, "%s%%e%u", k ? ", " : "{", first + k);
    conform_add(t, "}");
}

static void add_access(conform_text *t, const plan *p, int which, uint32_t first, uint32_t count)
{
    static const char names[] = "abcd";
    const ref_wmma_matrix *m = &p->matrix[which];
    conform_add(t, "    wmma.%s.%c.sync.aligned.%s.m%dn%dk%d%s.%s ", which == D ? "store" : "load", names[which], m->row_major ? "row" : "col",
                p->shape.m, p->shape.n, p->shape.k, p->space, ref_mma_type_name(m->type));
    if (which != D) add_fragment(t, first, count);
    conform_add(t, "%s[%%%s+%zu]", which == D ? "" : ", ", which == D ? "mine" : "own", m->offset);
    if (which == D) {
        conform_add(t, ", ");
        add_fragment(t, first, count);
    }
    if (p->strided) conform_add(t, ", %d", m->stride);
    conform_add(t, ";\n");
}

/* Words between global and shared memory; a lane has every 32nd. */
static void add_copy(conform_text *t, const char *label, const char *to, const char *from, const char *to_space, const char *from_space, size_t bytes)
{
    conform_add(t, "    mov.u32 %%at, %%laneid;\n    shl.b32 %%at, %%at, 2;\n%s:\n    cvt.u64.u32 %%wide, %%at;\n", label);
    conform_add(t, "    add.u64 %%x, %%%s, %%wide;\n    ld.%s.b32 %%w, [%%x];\n", from, from_space);
    conform_add(t, "    add.u64 %%x, %%%s, %%wide;\n    st.%s.b32 [%%x], %%w;\n", to, to_space);
    conform_add(t, "    add.u32 %%at, %%at, 128;\n    setp.lt.u32 %%more, %%at, %zu;\n    @%%more bra %s;\n    bar.warp.sync -1;\n", bytes, label);
}

void conform_add_wmma(conform_text *t, const conform_case *c)
{
    const plan p = plan_of(c);
    const bool shared = !strcmp(p.space, ".shared");
    uint32_t first[4], count[4], e = 0;
    for (uint32_t i = 0; i < 4; i++) {   /* D A B C */
        const int which = i == 0 ? D : (int)i - 1;
        first[which] = e;
        e += count[which] = isa_operand_count(c->form, &c->tuple, i);
    }
    conform_add(t, "    .reg .b64 %%in, %%out, %%own, %%mine, %%x, %%wide;\n    .reg .b32 %%i, %%w, %%at;\n    .reg .pred %%more;\n");
    conform_add(t, "    ld.param.u64 %%in, [sources];\n    ld.param.u64 %%out, [results];\n");
    conform_add(t, "    mov.u32 %%w, %%ctaid.x;\n    mov.u32 %%at, %%tid.x;\n    mad.lo.u32 %%i, %%w, %d, %%at;\n    shr.u32 %%i, %%i, 5;\n", CONFORM_BLOCK);
    conform_add(t, "    mul.wide.u32 %%x, %%i, %zu;\n    add.u64 %%in, %%in, %%x;\n    mul.wide.u32 %%x, %%i, %zu;\n    add.u64 %%out, %%out, %%x;\n", p.in, p.out);
    if (shared) {
        conform_add(t, "    shr.u32 %%at, %%at, 5;\n    mul.wide.u32 %%x, %%at, %zu;\n    mov.u64 %%own, conform_shared;\n", p.in + p.out);
        conform_add(t, "    add.u64 %%own, %%own, %%x;\n    add.u64 %%mine, %%own, %zu;\n", p.in);
        add_copy(t, "IN", "own", "in", "shared", "global", p.in);
        add_copy(t, "NOISE", "mine", "out", "shared", "global", p.out);
    } else
        conform_add(t, "    mov.u64 %%own, %%in;\n    mov.u64 %%mine, %%out;\n");
    for (int which = A; which <= C; which++)
        add_access(t, &p, which, first[which], count[which]);
    conform_add_instruction(t, c, NULL);
    add_access(t, &p, D, first[D], count[D]);
    if (shared) {
        conform_add(t, "    bar.warp.sync -1;\n");
        add_copy(t, "OUT", "out", "mine", "global", "shared", p.out);
    }
}

/* ------------------------------------------------------------ running */

typedef struct product {
    conform_runner *r;
    pxb_kernel *kernel;
    const conform_case *c;
    plan p;
    conform_result *out;
    uint32_t warps;
    pxb_mma_model model;
    conform_result parts[PARTS];
} product;

static void fill_warp(const product *x, uint8_t *memory, int theme, conform_random *r)
{
    for (size_t i = 0; i < x->p.in; i++)
        memory[i] = (uint8_t)conform_next(r);
    for (int which = A; which <= C; which++) {
        const ref_wmma_matrix *m = &x->p.matrix[which];
        for (int i = 0; i < m->rows; i++)
            for (int k = 0; k < m->columns; k++)
                ref_wmma_put(m, memory, i, k, conform_mma_element(m->type, theme, (ref_mma_matrix)which, r));
    }
}

static void judge_warp(const product *x, uint32_t warp, conform_result *part)
{
    const uint8_t *in = (const uint8_t *)x->r->sources + warp * x->p.in;
    uint8_t *got = (uint8_t *)x->r->results + warp * x->p.out;
    const ref_wmma_matrix *m = &x->p.matrix[D];
    for (int i = 0; i < m->rows; i++)
        for (int k = 0; k < m->columns; k++) {
            const uint64_t want = ref_wmma_element(&x->p.shape, &x->p.matrix[A], &x->p.matrix[B], &x->p.matrix[C], in, i, k, (ref_mma_model)x->model);
            const uint64_t is = ref_wmma_get(m, got, i, k);
            if (is != want && part->differing++ == 0)
                snprintf(part->message, sizeof part->message, "model %s: element %d,%d of product %u is 0x%" PRIx64 ", not 0x%" PRIx64,
                         pxb_mma_model_name(x->model), i, k, warp, is, want);
            ref_wmma_put(m, got, i, k, NOISE * 0x0101010101010101u);
        }
    /* Without its elements the memory is as it was. */
    for (size_t i = 0; i < x->p.out; i++)
        if (got[i] != NOISE && part->differing++ == 0)
            snprintf(part->message, sizeof part->message, "byte %zu of the result, which is no element of it, was changed", i);
}

static void judge_part(void *user, uint32_t part)
{
    product *x = user;
    x->parts[part] = (conform_result){.c = x->c, .digest = CONFORM_DIGEST_START};
    for (uint32_t w = x->warps * part / PARTS; w < x->warps * (part + 1) / PARTS; w++)
        judge_warp(x, w, &x->parts[part]);
}

static pxb_status run_model(void *user, pxb_mma_model model)
{
    product *x = user;
    conform_runner *r = x->r;
    const uint32_t elements = (uint32_t)(x->p.shape.m * x->p.shape.n), themes = (uint32_t)conform_mma_themes();
    const uint32_t wanted = r->options->exhaustive ? (1000000 + elements - 1) / elements : themes * (r->options->random >= 4096 ? 2 : 1);
    const size_t most = r->room * 8 / (x->p.in + x->p.out) / 4 * 4;
    conform_random random = {r->options->seed + strlen(x->c->name) * 1000 + (uint32_t)model};
    x->model = model;
    for (uint32_t done = 0; done < wanted; done += x->warps) {
        x->warps = wanted - done < most ? wanted - done : (uint32_t)most;
        const uint32_t whole = (x->warps + 3) / 4 * 4;   /* blocks have four warps */
        for (uint32_t w = 0; w < whole; w++)
            fill_warp(x, (uint8_t *)r->sources + w * x->p.in, (int)((done + w) % themes), &random);
        memset(r->results, NOISE, whole * x->p.out);
        pxb_status status = conform_launch_bytes(r, x->kernel, whole * x->p.in, whole * x->p.out, true, whole * CONFORM_LANES, false, model);
        if (status)
            return status;
        conform_parallel(r->threads, PARTS, judge_part, x);
        for (uint32_t i = 0; i < PARTS; i++)
            conform_merge(x->out, &x->parts[i]);
        x->out->inputs += (uint64_t)x->warps * elements;
    }
    return PXB_OK;
}

pxb_status conform_run_wmma(conform_runner *r, pxb_kernel *kernel, const conform_case *c, conform_result *out)
{
    product x = {.r = r, .kernel = kernel, .c = c, .p = plan_of(c), .out = out};
    const ref_mma_shape *s = &x.p.shape;
    /* How matrices lie in memory has nothing to do with the model: all of these with one layout only. */
    const bool first = is_row(c, "la", true) && !is_row(c, "lb", false);
    return conform_each_model(r, first && s->c != REF_S32 && s->c != REF_F64, run_model, &x);
}
