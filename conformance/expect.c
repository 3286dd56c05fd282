/* expect.c - what a case should give, by conformance/reference. */
#include "conformance/conform.h"

#include <stdio.h>
#include <string.h>
#include "conformance/reference/ref_mma.h"
#include "conformance/reference/ref_special.h"
#include "conformance/reference/ref_warp.h"

uint32_t conform_operand_elements(const isa_form *form, const isa_tuple *tuple, uint32_t i)
{
    const isa_operand *o = &form->operands[i];
    const uint32_t count = isa_operand_count(form, tuple, i);
    const uint32_t parts = ptx_type_bits(isa_operand_type(form, tuple, i)) == 128 ? 2 : 1;
    switch (o->kind) {
    case ISA_OPERAND_NONE: case ISA_OPERAND_ADDRESS: case ISA_OPERAND_LABEL: case ISA_OPERAND_FUNCTION: case ISA_OPERAND_LIST:
        return 0;
    case ISA_OPERAND_BOTH: return 2 * parts;
    case ISA_OPERAND_DST_AND_PRED: return parts + 1;
    case ISA_OPERAND_PRED_PAIR: case ISA_OPERAND_DST_MASKED: case ISA_OPERAND_SRC_SELECTED: return 2;
    case ISA_OPERAND_DST_VECTOR: return count * parts + o->with_pred;
    case ISA_OPERAND_SRC_VECTOR: case ISA_OPERAND_ZERO: return count * parts;
    case ISA_OPERAND_TEXTURE: return 1 + count;
    case ISA_OPERAND_DST: case ISA_OPERAND_SRC: return parts;
    default: return 1;
    }
}

/* ------------------------------------------------------------ approximate functions */

/* "ex2_approx_f16x2" and its like: the name for one half. */
static bool half_name(const char *meaning, char *out, size_t size)
{
    size_t n = strlen(meaning);
    if (n < 3 || strcmp(meaning + n - 2, "x2") != 0)
        return false;
    snprintf(out, size, "%.*s", (int)(n - 2), meaning);
    return true;
}

int conform_special_halves(const conform_case *c)
{
    char half[CONFORM_NAME];
    uint64_t d;
    if (strcmp(c->form->family, "special") != 0)
        return 0;
    if (half_name(c->meaning, half, sizeof half))
        return ref_special_eval(half, 0, 0, &d) ? 2 : 0;
    return ref_special_eval(c->meaning, 0, 0, &d);
}

static uint64_t special(const conform_case *c, uint64_t a, uint64_t b)
{
    char half[CONFORM_NAME];
    uint64_t low = 0, high = 0;
    if (!half_name(c->meaning, half, sizeof half)) {
        ref_special_eval(c->meaning, a, b, &low);
        return low;
    }
    ref_special_eval(half, a & 0xffff, b & 0xffff, &low);
    ref_special_eval(half, a >> 16 & 0xffff, b >> 16 & 0xffff, &high);
    return low | high << 16;
}

void conform_expect_lane(const conform_case *c, uint64_t values[ISA_MAX_ELEMS])
{
    uint64_t sources[ISA_MAX_ELEMS] = {0}, results[ISA_MAX_ELEMS] = {0};
    uint32_t n = 0, k = 0;
    for (uint32_t e = 0; e < c->nelems; e++)
        if (c->elems[e].role == ISA_ROLE_SRC || c->elems[e].role == ISA_ROLE_IMM)
            sources[n++] = values[e];
    /* The approximate functions first: their rules for special values differ from those of the exact instructions. */
    if (conform_special_halves(c))
        results[0] = special(c, sources[0], sources[1]);
    else
        ref_eval(c->meaning, sources, results);
    for (uint32_t e = 0; e < c->nelems; e++)
        if (c->elems[e].role == ISA_ROLE_DST)
            values[e] = results[k++];
}

/* ------------------------------------------------------------ warps */

/* Sources by place: shfl d|p a b c mask; vote, match, redux: a mask; elect: mask; movmatrix: a. */
static void to_warp(const conform_case *c, uint64_t values[ISA_MAX_ELEMS][CONFORM_LANES], uint32_t executing, ref_warp *w)
{
    const bool shuffle = !strcmp(c->form->mnemonic, "shfl"), elect = !strcmp(c->form->mnemonic, "elect");
    memset(w, 0, sizeof *w);
    w->executing = executing;
    for (uint32_t lane = 0; lane < CONFORM_LANES; lane++) {
        uint32_t place = elect ? 1 : 0;
        w->mask[lane] = executing;
        for (uint32_t e = 0; e < c->nelems; e++) {
            if (c->elems[e].role != ISA_ROLE_SRC)
                continue;
            const uint64_t v = values[e][lane];
            if (c->elems[e].type == PTX_TYPE_PRED) w->p[lane] = v & 1;
            else if (place == 0) w->a[lane] = v;
            else if (place == 1 && shuffle) w->b[lane] = (uint32_t)v;
            else if (place == 2 && shuffle) w->c[lane] = (uint32_t)v;
            else w->mask[lane] = (uint32_t)v;
            place++;
        }
    }
}

static void from_warp(const conform_case *c, const ref_warp *w, uint64_t values[ISA_MAX_ELEMS][CONFORM_LANES])
{
    for (uint32_t e = 0; e < c->nelems; e++)
        for (uint32_t lane = 0; c->elems[e].role == ISA_ROLE_DST && lane < CONFORM_LANES; lane++) {
            const uint64_t v = c->elems[e].type == PTX_TYPE_PRED ? w->q[lane] : w->d[lane];
            values[e][lane] = w->executing >> lane & 1 ? v : 0;
        }
}

/* Elements are D, A, B, C, then metadata and selector of a sparse product, then scales with their selectors. */
static void expect_mma(const conform_case *c, const ref_mma_shape *shape, uint64_t values[ISA_MAX_ELEMS][CONFORM_LANES],
                       pxb_mma_model model)
{
    const uint32_t nd = (uint32_t)ref_mma_registers(shape, REF_MATRIX_C, true), na = (uint32_t)ref_mma_registers(shape, REF_MATRIX_A, false);
    const uint32_t nb = (uint32_t)ref_mma_registers(shape, REF_MATRIX_B, false), nc = (uint32_t)ref_mma_registers(shape, REF_MATRIX_C, false);
    uint32_t e = nd + na + nb + nc;
    ref_mma_extra x = {0};
    if (shape->sparse) {
        x.metadata = values[e];
        x.selector = c->imm[e + 1];
        e += 2;
    }
    if (shape->scales) {
        x.scale_a = values[e];
        x.byte_a = values[e + 1];
        x.thread_a = values[e + 2];
        x.scale_b = values[e + 3];
        x.byte_b = values[e + 4];
        x.thread_b = values[e + 5];
    }
    ref_mma(shape, values, (const uint64_t (*)[CONFORM_LANES])values + nd, (const uint64_t (*)[CONFORM_LANES])values + nd + na,
            (const uint64_t (*)[CONFORM_LANES])values + nd + na + nb, &x, (ref_mma_model)model);
}

void conform_expect_warp(const conform_case *c, uint64_t values[ISA_MAX_ELEMS][CONFORM_LANES], uint32_t executing,
                         pxb_mma_model model, uint32_t *undefined)
{
    ref_mma_shape shape;
    ref_warp warp;
    *undefined = 0;
    if (ref_mma_shape_of(c->meaning, &shape)) {
        expect_mma(c, &shape, values, model);
        return;
    }
    to_warp(c, values, executing, &warp);
    ref_warp_eval(c->meaning, &warp);
    from_warp(c, &warp, values);
    for (uint32_t lane = 0; lane < CONFORM_LANES; lane++)
        *undefined |= (uint32_t)warp.undefined[lane] << lane;
}
