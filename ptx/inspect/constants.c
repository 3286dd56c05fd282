/* constants.c - see constants.h. */
#include "ptx/inspect/constants.h"
#include "ptx/inspect/flow_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------ formats */

typedef struct format { uint32_t exponent_bits, fraction_bits; } format;

static format format_of(ptx_type type)
{
    switch (type) {
    case PTX_TYPE_F16: return (format){5, 10};
    case PTX_TYPE_BF16: return (format){8, 7};
    case PTX_TYPE_F32: return (format){8, 23};
    default: return (format){11, 52};
    }
}

double pti_float_value(ptx_type type, uint64_t bits)
{
    format f = format_of(type);
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    uint64_t fraction = bits & ((UINT64_C(1) << f.fraction_bits) - 1);
    int exponent = (int)(bits >> f.fraction_bits & ((1u << f.exponent_bits) - 1));
    bool negative = bits >> (f.exponent_bits + f.fraction_bits) & 1;
    double v;
    if (exponent == (1 << f.exponent_bits) - 1)
        v = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        v = ldexp((double)fraction, 1 - bias - (int)f.fraction_bits);
    else
        v = ldexp((double)(fraction | UINT64_C(1) << f.fraction_bits), exponent - bias - (int)f.fraction_bits);
    return negative ? -v : v;
}

uint64_t pti_round_float(ptx_type type, double value)
{
    format f = format_of(type);
    int bias = (1 << (f.exponent_bits - 1)) - 1, exponent;
    uint64_t sign = signbit(value) ? UINT64_C(1) << (f.exponent_bits + f.fraction_bits) : 0;
    uint64_t infinity = ((UINT64_C(1) << f.exponent_bits) - 1) << f.fraction_bits;
    if (isnan(value))                  /* PTX ISA: conversions give the canonical NaN */
        return type == PTX_TYPE_F64 ? UINT64_C(0x7ff8000000000000) : (UINT64_C(1) << (f.exponent_bits + f.fraction_bits)) - 1;
    value = fabs(value);
    if (value == 0 || isinf(value))
        return sign | (value == 0 ? 0 : infinity);
    frexp(value, &exponent);           /* value = m * 2^exponent, 0.5 <= m < 1 */
    int unit = exponent - 1 < 1 - bias ? 1 - bias - (int)f.fraction_bits : exponent - 1 - (int)f.fraction_bits;
    double scaled = ldexp(value, -unit), whole = floor(scaled), rest = scaled - whole;      /* scaled < 2^53: exact */
    uint64_t n = (uint64_t)whole;
    n += rest > 0.5 || (rest == 0.5 && (n & 1));
    /* The fraction's carry goes into the exponent by itself. */
    uint64_t bits = exponent - 1 < 1 - bias ? n : ((uint64_t)(exponent - 1 + bias - 1) << f.fraction_bits) + n;
    return sign | (bits > infinity ? infinity : bits);
}

/* ------------------------------------------------------------ literals */

typedef struct finder {
    const pti_flow *flow;
    pti_constants *out;
    uint32_t *slots, mask;
    bool failed;
} finder;

static bool is_float(ptx_type t)
{
    return t == PTX_TYPE_F16 || t == PTX_TYPE_BF16 || t == PTX_TYPE_F32 || t == PTX_TYPE_F64;
}

static pti_literal *literal_of(finder *f, ptx_type type, uint64_t bits)
{
    uint64_t h = (bits ^ type) * 0x9e3779b97f4a7c15u;
    uint32_t slot = (uint32_t)(h >> 32) & f->mask;
    for (; f->slots[slot]; slot = (slot + 1) & f->mask) {
        pti_literal *l = &f->out->list[f->slots[slot] - 1];
        if (l->type == type && l->bits == bits)
            return l;
    }
    pti_literal *l = &f->out->list[f->out->count++];
    f->slots[slot] = f->out->count;
    *l = (pti_literal){.type = type, .bits = bits, .first_definition = PTI_NONE, .first_use = PTI_NONE, .last_use = PTI_NONE};
    return l;
}

static void use(pti_literal *l, uint32_t insn)
{
    l->nuses++;
    l->first_use = l->first_use == PTI_NONE || insn < l->first_use ? insn : l->first_use;
    l->last_use = l->last_use == PTI_NONE || insn > l->last_use ? insn : l->last_use;
}

/* A conversion between float types that rounds to nearest even or not at all. */
static void convert(pti_literal *l, const ptx_insn *i)
{
    if (!i->form || strcmp(i->form->mnemonic, "cvt") != 0 || i->noperands < 2 || i->operands[0].nvalues != 1)
        return;
    const char *rounding = isa_choice(i->form, &i->tuple, "rnd");
    ptx_type to = i->operands[0].values[0].type;
    if (!is_float(to) || i->operands[1].values[0].type != l->type || (rounding && strcmp(rounding, "rn") != 0) ||
        isa_choice(i->form, &i->tuple, "sat") || isa_choice(i->form, &i->tuple, "relu"))
        return;
    uint64_t bits = pti_round_float(to, pti_float_value(l->type, l->bits));
    uint32_t k = 0;
    while (k < l->nconverted && l->converted[k].type != to)
        k++;
    if (k == PTI_MAX_CONVERTED)
        return;
    l->nconverted += k == l->nconverted;
    l->converted[k].type = to;
    l->converted[k].bits = bits;
    l->converted[k].count++;
}

/* Reads of a register that holds the literal, also where it meets other values of its name. */
static void follow(finder *f, pti_literal *l, uint32_t value)
{
    const pti_value *v = &f->flow->values[value];
    for (uint32_t u = 0; u < v->nusers; u++) {
        if (v->users[u] & PTI_BY_VALUE)
            continue;
        use(l, v->users[u]);
        convert(l, &f->flow->function->insns[v->users[u]]);
    }
}

static void look_at(finder *f, uint32_t insn)
{
    const ptx_insn *i = &f->flow->function->insns[insn];
    const ptx_function *fn = f->flow->function;
    bool mov = strcmp(i->form->mnemonic, "mov") == 0 && i->noperands == 2 && i->operands[0].nvalues == 1;
    for (uint32_t o = 0; o < i->noperands; o++)
        for (uint32_t v = 0; v < i->operands[o].nvalues; v++) {
            const ptx_value *x = &i->operands[o].values[v], *d = &i->operands[0].values[0];
            bool written = i->operands[o].kind == ISA_OPERAND_SRC || i->operands[o].kind == ISA_OPERAND_SRC_VECTOR;
            if (x->kind != PTX_VALUE_IMM || !written)
                continue;
            ptx_type type = mov && d->kind == PTX_VALUE_REG && is_float(fn->registers[d->reg].type) ? fn->registers[d->reg].type : x->type;
            if (!is_float(type))
                continue;
            pti_literal *l = literal_of(f, type, x->imm);
            if (!mov || d->kind != PTX_VALUE_REG) {
                use(l, insn);
                continue;
            }
            if (l->ndefinitions++ == 0) {
                l->first_definition = insn;
                l->reg = d->reg;
            }
            follow(f, l, pti_value_written(f->flow, insn, d->reg));
        }
}

static uint32_t most_literals(const ptx_function *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->ninsns; i++)
        for (uint32_t o = 0; o < f->insns[i].noperands; o++)
            for (uint32_t v = 0; v < f->insns[i].operands[o].nvalues; v++)
                n += f->insns[i].operands[o].values[v].kind == PTX_VALUE_IMM;
    return n;
}

bool pti_find_constants(const pti_flow *flow, pti_constants *out)
{
    *out = (pti_constants){0};
    ptx_arena_init(&out->arena, SIZE_MAX);
    uint32_t most = most_literals(flow->function), slots = 64;
    while (slots < 2 * (uint64_t)most && slots < UINT32_C(1) << 31)
        slots *= 2;
    finder f = {.flow = flow, .out = out, .slots = calloc(slots, sizeof *f.slots), .mask = slots - 1};
    out->list = pti_take(&out->arena, most, sizeof *out->list);
    bool done = f.slots && out->list;
    for (uint32_t i = 0; done && i < flow->function->ninsns; i++)
        if (flow->function->insns[i].form)
            look_at(&f, i);
    free(f.slots);
    return done;
}

void pti_free_constants(pti_constants *c)
{
    ptx_arena_free(&c->arena);
    *c = (pti_constants){0};
}
