/* symbols_insn.c - formulas of what instructions write, in reverse postorder, so that operands come before results. */
#include "ptx/inspect/symbols_internal.h"
#include "ptx/inspect/flow_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_STEP = 64 };            /* instructions from a phi round its loop */

/* An instruction with the formulas of its sources; `done` is false where it is not understood. */
typedef struct work {
    pti_symbols *s;
    const ptx_insn *insn;
    uint32_t index;
    ptx_type type;                     /* of its first source */
    uint32_t n;
    pti_poly in[4];
    bool assumed, known;
    bool lost;                         /* a value of 64 bits that may not be in its range */
} work;

static ptx_type type_of(uint32_t bits, bool is_signed)
{
    switch (bits) {
    case 8: return is_signed ? PTX_TYPE_S8 : PTX_TYPE_U8;
    case 16: return is_signed ? PTX_TYPE_S16 : PTX_TYPE_U16;
    case 32: return is_signed ? PTX_TYPE_S32 : PTX_TYPE_U32;
    default: return is_signed ? PTX_TYPE_S64 : PTX_TYPE_U64;
    }
}

static bool is_signed(ptx_type t)
{
    return ptx_type_class(t) == 's';
}

/* Types whose values are integers or bits that may be indices. */
static bool is_index(ptx_type t)
{
    char class = ptx_type_class(t);
    return (class == 'u' || class == 's' || class == 'b' || class == 'p') && ptx_type_bits(t) <= 64;
}

static void range_of_type(pti_atom *a)
{
    uint32_t n = ptx_type_bits(a->type);
    bool wide = n >= 64;
    a->low = is_signed(a->type) ? (wide ? INT64_MIN : -((int64_t)1 << (n - 1))) : 0;
    a->high = wide ? INT64_MAX : is_signed(a->type) ? ((int64_t)1 << (n - 1)) - 1 : ((int64_t)1 << n) - 1;
}

static pti_atom atom_of(pti_atom_kind kind, ptx_type type, uint32_t number, uint32_t depends)
{
    pti_atom a = {.kind = kind, .type = type, .number = number, .arg = {PTI_NONE, PTI_NONE, PTI_NONE}, .depends = depends};
    if (type != PTX_TYPE_NONE)
        range_of_type(&a);
    return a;
}

/* ------------------------------------------------------------ leaves */

static pti_poly special(pti_symbols *s, ptx_special sr)
{
    pti_atom a = atom_of(PTI_ATOM_SPECIAL, PTX_TYPE_U32, (uint32_t)sr, PTI_ON_OTHER);
    const uint32_t *block = s->launch.block;
    if (sr >= PTX_SR_TID_X && sr <= PTX_SR_TID_Z) {
        a.depends = PTI_ON_THREAD;
        a.high = block[0] ? block[sr - PTX_SR_TID_X] - 1 : sr == PTX_SR_TID_Z ? 63 : 1023;
    } else if (sr >= PTX_SR_NTID_X && sr <= PTX_SR_NTID_Z) {
        if (block[0])
            return pti_constant(s, block[sr - PTX_SR_NTID_X]);
        a.low = 1;
        a.high = sr == PTX_SR_NTID_Z ? 64 : 1024;
    } else if (sr >= PTX_SR_CTAID_X && sr <= PTX_SR_NCTAID_Z) {
        a.depends = PTI_ON_BLOCK;
        a.high = INT32_MAX;
    } else if (sr == PTX_SR_LANEID) {
        a.depends = PTI_ON_LANE;
        a.high = 31;
    } else if (sr == PTX_SR_WARPID) {
        a.high = 63;
    }
    if (a.depends == PTI_ON_THREAD && a.high == 0)
        return pti_constant(s, 0);
    return pti_atom_poly(s, a);
}

static pti_poly symbol(pti_symbols *s, const ptx_variable *v)
{
    pti_atom a = atom_of(PTI_ATOM_SYMBOL, PTX_TYPE_U64, 0, PTI_ON_SYMBOL);
    a.variable = v;
    return pti_atom_poly(s, a);
}

static pti_poly opaque(pti_symbols *s, uint32_t value)
{
    ptx_type type = s->flow->function->registers[s->flow->values[value].reg].type;
    pti_atom a = atom_of(PTI_ATOM_VALUE, is_index(type) ? type : PTX_TYPE_NONE, value, PTI_ON_VALUE);
    if (a.type == PTX_TYPE_NONE || a.type == PTX_TYPE_PRED) {
        a.low = a.type == PTX_TYPE_PRED ? 0 : INT64_MIN;
        a.high = a.type == PTX_TYPE_PRED ? 1 : INT64_MAX;
    }
    return pti_atom_poly(s, a);
}

static pti_poly of_register(pti_symbols *s, uint32_t insn, uint32_t reg, bool *assumed)
{
    uint32_t value = pti_value_read(s->flow, insn, reg);
    if (value == PTI_NONE)             /* cannot be: it reads it */
        return 0;
    if (s->of_value[value] == PTI_NONE)
        s->of_value[value] = opaque(s, value);
    *assumed |= s->assumed[value];
    return s->of_value[value];
}

/* A literal of a float type is no integer: its bits, kept as an atom. */
static pti_poly literal(pti_symbols *s, uint64_t bits, ptx_type type)
{
    pti_atom a = {.kind = PTI_ATOM_LITERAL, .type = type, .number = (uint32_t)bits, .low = INT64_MIN, .high = INT64_MAX,
                  .arg = {pti_constant(s, (int64_t)(bits >> 32)), PTI_NONE, PTI_NONE}, .depends = PTI_ON_OTHER};
    return pti_atom_poly(s, a);
}

static pti_poly immediate(pti_symbols *s, const ptx_value *v)
{
    uint32_t n = ptx_type_bits(v->type);
    if (ptx_type_class(v->type) == 'f')
        return literal(s, v->imm, v->type);
    if (n >= 64 || v->type == PTX_TYPE_PRED)
        return pti_constant(s, (int64_t)v->imm);
    return pti_constant(s, (int64_t)(v->imm << (64 - n)) >> (64 - n));     /* sign-extended: wraps anyway */
}

pti_poly pti_poly_of(pti_symbols *s, uint32_t insn, const ptx_value *v, bool *assumed)
{
    pti_poly p = 0;
    switch (v->kind) {
    case PTX_VALUE_REG: p = of_register(s, insn, v->reg, assumed); break;
    case PTX_VALUE_IMM: return immediate(s, v);
    case PTX_VALUE_SPECIAL: p = special(s, v->special); break;
    case PTX_VALUE_VARIABLE: p = pti_add(s, symbol(s, v->variable), pti_constant(s, (int64_t)v->imm)); break;
    default: break;
    }
    return v->negated ? pti_add(s, pti_constant(s, 1), pti_scale(s, p, -1)) : p;
}

pti_poly pti_poly_of_address(pti_symbols *s, uint32_t insn, const ptx_address *a, bool *assumed)
{
    pti_poly p = pti_constant(s, 0);
    if (a->base == PTX_BASE_REG)
        p = of_register(s, insn, a->reg, assumed);
    else if (a->base == PTX_BASE_VARIABLE && a->variable)
        p = symbol(s, a->variable);
    return pti_add(s, p, pti_constant(s, a->offset));
}

/* ------------------------------------------------------------ instructions */

static const char *choice(const work *w, const char *group)
{
    return isa_choice(w->insn->form, &w->insn->tuple, group);
}

static bool chosen(const work *w, const char *group, const char *what)
{
    const char *c = choice(w, group);
    return c && strcmp(c, what) == 0;
}

static pti_poly cut(work *w, uint32_t i, ptx_type type)
{
    pti_poly p = pti_cut(w->s, w->in[i], type, &w->assumed);
    w->lost |= p == PTI_NONE;
    return p == PTI_NONE ? w->in[i] : p;
}

static pti_poly negative(work *w, pti_poly a)
{
    return pti_scale(w->s, a, -1);
}

static pti_poly do_move(work *w) { return w->in[0]; }
static pti_poly do_add(work *w) { return pti_add(w->s, w->in[0], w->in[1]); }
static pti_poly do_sub(work *w) { return pti_add(w->s, w->in[0], negative(w, w->in[1])); }
static pti_poly do_neg(work *w) { return negative(w, w->in[0]); }
static pti_poly do_not(work *w)
{
    return w->type == PTX_TYPE_PRED ? pti_add(w->s, pti_constant(w->s, 1), negative(w, w->in[0]))
                                    : pti_xor(w->s, w->in[0], pti_constant(w->s, -1), w->type);
}

/* .lo is a product modulo 2^n, .wide the whole one, .hi its upper half. */
static pti_poly do_mul(work *w)
{
    if (chosen(w, "m", "lo"))
        return pti_multiply(w->s, w->in[0], w->in[1]);
    pti_poly product = pti_multiply(w->s, cut(w, 0, w->type), cut(w, 1, w->type));
    if (!chosen(w, "m", "hi"))
        return product;
    w->known = ptx_type_bits(w->type) <= 32;
    return pti_shift_right(w->s, product, ptx_type_bits(w->type));
}

static pti_poly do_mad(work *w)
{
    return pti_add(w->s, do_mul(w), w->in[2]);
}

static pti_poly do_shl(work *w)
{
    int64_t c;
    w->known = pti_is_constant(w->s, w->in[1], &c) && c >= 0 && c < 63;
    return w->known ? c >= ptx_type_bits(w->type) ? pti_constant(w->s, 0) : pti_scale(w->s, w->in[0], (int64_t)1 << c) : 0;
}

static pti_poly do_shr(work *w)
{
    int64_t c;
    ptx_type type = type_of(ptx_type_bits(w->type), is_signed(w->type));
    w->known = pti_is_constant(w->s, w->in[1], &c) && c >= 0 && c < 64;
    return w->known ? pti_shift_right(w->s, cut(w, 0, type), (uint32_t)c) : 0;
}

/* Division truncates, which is the floor where nothing is negative. */
static pti_poly do_div(work *w)
{
    int64_t c;
    pti_poly a = cut(w, 0, w->type);
    w->known = pti_is_constant(w->s, w->in[1], &c) && c > 0 && c <= INT32_MAX && w->s->sums[a].low >= 0;
    return !w->known ? 0 : (c & (c - 1)) == 0 ? pti_shift_right(w->s, a, (uint32_t)__builtin_ctzll((uint64_t)c))
                                              : pti_divide(w->s, a, (uint32_t)c);
}

static pti_poly do_rem(work *w)
{
    int64_t c;
    pti_poly quotient = do_div(w);
    if (!w->known)
        return 0;
    pti_is_constant(w->s, w->in[1], &c);
    return pti_add(w->s, cut(w, 0, w->type), pti_scale(w->s, quotient, -c));
}

static pti_poly extreme(work *w, bool least)
{
    pti_poly a = cut(w, 0, w->type), b = cut(w, 1, w->type);
    const pti_sum *x = &w->s->sums[a], *y = &w->s->sums[b];
    if (a == b || (least ? x->high <= y->low : x->low >= y->high))
        return a;
    if (least ? y->high <= x->low : y->low >= x->high)
        return b;
    pti_atom m = {.kind = least ? PTI_ATOM_MIN : PTI_ATOM_MAX, .type = w->type, .arg = {a, b, PTI_NONE}};
    m.low = least == (x->low < y->low) ? x->low : y->low;
    m.high = least == (x->high < y->high) ? x->high : y->high;
    return pti_atom_poly(w->s, m);
}

static pti_poly do_min(work *w) { return extreme(w, true); }
static pti_poly do_max(work *w) { return extreme(w, false); }
static pti_poly do_and(work *w) { return pti_and(w->s, w->in[0], w->in[1], w->type); }
static pti_poly do_or(work *w)
{
    return pti_or(w->s, w->in[0], w->in[1], w->type);
}
static pti_poly do_xor(work *w) { return pti_xor(w->s, w->in[0], w->in[1], w->type); }

/* bfi f, a, b, pos, len: a into b. Either part may go over the edge of the word. */
static pti_poly do_bfi(work *w)
{
    int64_t at, length;
    uint32_t n = ptx_type_bits(w->type);
    w->known = pti_is_constant(w->s, w->in[2], &at) && pti_is_constant(w->s, w->in[3], &length) && at >= 0 && length >= 0 && at < n;
    if (!w->known || length == 0)
        return w->in[1];
    int64_t end = at + length > n ? n : at + length;
    pti_poly field = end >= n ? w->in[0] : pti_low_bits(w->s, w->in[0], (uint32_t)(end - at));
    pti_poly out = pti_add(w->s, pti_scale(w->s, field, (int64_t)1 << at), pti_low_bits(w->s, w->in[1], (uint32_t)at));
    if (end < n)
        out = pti_add(w->s, out, pti_mask(w->s, w->in[1], ~(((uint64_t)1 << end) - 1), w->type));
    return out;
}

static pti_poly do_bfe(work *w)
{
    int64_t at, length;
    w->known = !is_signed(w->type) && pti_is_constant(w->s, w->in[1], &at) && pti_is_constant(w->s, w->in[2], &length) &&
               at >= 0 && length > 0 && at + length <= ptx_type_bits(w->type);
    return w->known ? pti_low_bits(w->s, pti_shift_right(w->s, cut(w, 0, w->type), (uint32_t)at), (uint32_t)length) : 0;
}

static pti_poly select_of(pti_symbols *s, pti_poly p, pti_poly a, pti_poly b, ptx_type type)
{
    int64_t c;
    if (a == b || (pti_is_constant(s, p, &c) && c))
        return a;
    if (pti_is_constant(s, p, &c))
        return b;
    const pti_sum *x = &s->sums[a], *y = &s->sums[b];
    return pti_atom_poly(s, (pti_atom){.kind = PTI_ATOM_SELECT, .type = type, .arg = {p, a, b},
                                       .bits = pti_bits_of(s, a) | pti_bits_of(s, b),
                                       .low = x->low < y->low ? x->low : y->low, .high = x->high > y->high ? x->high : y->high});
}

static pti_poly do_selp(work *w)
{
    return select_of(w->s, w->in[2], w->in[0], w->in[1], w->type);
}

static pti_poly logic_of_predicates(pti_symbols *s, const char *name, pti_poly a, pti_poly b)
{
    return strcmp(name, "and") == 0 ? pti_and(s, a, b, PTX_TYPE_PRED)
         : strcmp(name, "or") == 0  ? pti_or(s, a, b, PTX_TYPE_PRED)
                                    : pti_xor(s, a, b, PTX_TYPE_PRED);
}

/* True, false, or -1: a range decides it. */
static int decided(const pti_sum *a, const pti_sum *b, pti_comparison how)
{
    switch (how) {
    case PTI_LT: return a->high < b->low ? 1 : a->low >= b->high ? 0 : -1;
    case PTI_LE: return a->high <= b->low ? 1 : a->low > b->high ? 0 : -1;
    case PTI_GT: return decided(b, a, PTI_LT);
    case PTI_GE: return decided(b, a, PTI_LE);
    case PTI_EQ: return a->high < b->low || b->high < a->low ? 0 : a->low == a->high && b->low == b->high ? 1 : -1;
    default: return decided(a, b, PTI_EQ) < 0 ? -1 : !decided(a, b, PTI_EQ);
    }
}

static pti_poly do_setp(work *w)
{
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
    static const uint8_t what[] = {PTI_EQ, PTI_NE, PTI_LT, PTI_LE, PTI_GT, PTI_GE, PTI_LT, PTI_LE, PTI_GT, PTI_GE};
    const char *name = choice(w, "cmp"), *combine = choice(w, "bool");
    uint32_t i = 0;
    while (i < 10 && strcmp(names[i], name) != 0)
        i++;
    /* The second predicate is the opposite, which is left out here. */
    w->known = i < 10 && w->insn->operands[0].nvalues <= 2;
    if (!w->known)
        return 0;
    ptx_type type = type_of(ptx_type_bits(w->type), is_signed(w->type));
    pti_poly a = cut(w, 0, type), b = cut(w, 1, type), p;
    int64_t c, d;
    if (pti_is_constant(w->s, b, &c) && !__builtin_sub_overflow(c, w->s->sums[a].constant, &d)) {      /* x + 4 == 5 is x == 1 */
        a = pti_without_constant(w->s, a);
        b = pti_constant(w->s, d);
    }
    int answer = decided(&w->s->sums[a], &w->s->sums[b], (pti_comparison)what[i]);
    p = answer >= 0 ? pti_constant(w->s, answer)
                    : pti_atom_poly(w->s, (pti_atom){.kind = PTI_ATOM_COMPARE, .type = type, .number = what[i],
                                                     .arg = {a, b, PTI_NONE}, .low = 0, .high = 1});
    return combine ? logic_of_predicates(w->s, combine, p, w->in[2]) : p;
}

/* Between integers: the source in its range, then the destination's. */
static pti_poly do_cvt(work *w)
{
    ptx_type to = w->insn->operands[0].values[0].type;
    w->known = is_index(to) && is_index(w->type) && !choice(w, "sat");
    if (!w->known)
        return 0;
    pti_poly a = ptx_type_bits(to) > ptx_type_bits(w->type) ? cut(w, 0, w->type) : w->in[0];
    if (ptx_type_bits(to) >= 32 || is_signed(to))
        return ptx_type_bits(to) < 32 ? pti_cut(w->s, a, to, &w->assumed) : a;
    return pti_fits(w->s, a, to) ? a : pti_low_bits(w->s, a, ptx_type_bits(to));
}

static pti_poly do_ld(work *w);

static const struct instruction { const char *mnemonic; pti_poly (*run)(work *); uint8_t n; } instructions[] = {
    {"mov", do_move, 1}, {"cvta", do_move, 1}, {"add", do_add, 2}, {"sub", do_sub, 2}, {"neg", do_neg, 1}, {"not", do_not, 1},
    {"mul", do_mul, 2}, {"mad", do_mad, 3}, {"shl", do_shl, 2}, {"shr", do_shr, 2}, {"div", do_div, 2}, {"rem", do_rem, 2},
    {"min", do_min, 2}, {"max", do_max, 2}, {"and", do_and, 2}, {"or", do_or, 2}, {"xor", do_xor, 2}, {"bfi", do_bfi, 4},
    {"bfe", do_bfe, 3}, {"selp", do_selp, 3}, {"setp", do_setp, 2}, {"cvt", do_cvt, 1}, {"ld", do_ld, 0}};

enum { NINSTRUCTIONS = sizeof instructions / sizeof *instructions };

/* A parameter of an entry, at a constant place of the block; anything else that is loaded is not known. */
static pti_poly load(work *w, uint32_t component)
{
    const ptx_operand *at = &w->insn->operands[1];
    const ptx_function *f = w->s->flow->function;
    const ptx_value *v = &w->insn->operands[0].values[component];
    w->known = false;
    if (!f->is_entry || at->kind != ISA_OPERAND_ADDRESS || !(is_index(v->type) || ptx_type_class(v->type) == 'f'))
        return 0;
    pti_poly p = pti_poly_of_address(w->s, w->index, &at->address, &w->assumed);
    const pti_sum *sum = &w->s->sums[p];
    if (sum->nterms != 1 || sum->terms[0].natoms != 1 || sum->terms[0].factor != 1)
        return 0;
    const pti_atom *base = &w->s->atoms[sum->terms[0].atoms[0]];
    if (base->kind != PTI_ATOM_SYMBOL || base->variable->space != PTX_SPACE_PARAM)
        return 0;
    int64_t offset = (int64_t)base->variable->offset + sum->constant + component * ptx_type_bytes(v->type);
    w->known = offset >= 0 && offset + ptx_type_bytes(v->type) <= (int64_t)f->param_size;
    pti_atom a = atom_of(PTI_ATOM_PARAM, v->type, (uint32_t)offset, PTI_ON_PARAM);
    if (!is_index(v->type)) {
        a.low = INT64_MIN;
        a.high = INT64_MAX;
    }
    return w->known ? pti_atom_poly(w->s, a) : 0;
}

static pti_poly do_ld(work *w)
{
    return load(w, 0);
}

/* ------------------------------------------------------------ operands and results */

/* Sources as the forms above list them: one value each. */
static bool take_sources(work *w, uint32_t want)
{
    const ptx_insn *insn = w->insn;
    for (uint32_t o = 0; o < insn->noperands; o++) {
        const ptx_operand *x = &insn->operands[o];
        if (x->kind == ISA_OPERAND_SRC || x->kind == ISA_OPERAND_SRC_PRED || x->kind == ISA_OPERAND_IMMEDIATE) {
            if (w->n == 4)
                return false;
            w->in[w->n++] = pti_poly_of(w->s, w->index, &x->values[0], &w->assumed);
            if (w->n == 1)
                w->type = x->values[0].type;
        } else if (o > 0 && x->kind != ISA_OPERAND_NONE) {
            return false;              /* carries, packs, what is not written */
        }
    }
    return w->n == want || (want == 2 && w->n == 3 && strcmp(insn->form->mnemonic, "setp") == 0);
}

static const struct instruction *find_instruction(const ptx_insn *insn)
{
    for (uint32_t i = 0; i < NINSTRUCTIONS; i++)
        if (strcmp(instructions[i].mnemonic, insn->form->mnemonic) == 0)
            return &instructions[i];
    return NULL;
}

/* A pure function of one result: what it is applied to is kept, so that its text can be shown and equal ones are equal. */
static pti_poly apply(work *w)
{
    const ptx_value *d = &w->insn->operands[0].values[0];
    bool pure = w->insn->meaning && w->n > 0 && w->n <= 3 && !w->insn->guarded && strcmp(w->insn->form->family, "warp") != 0;
    if (!pure || w->insn->operands[0].nvalues != 1 || w->insn->operands[0].kind == ISA_OPERAND_BOTH)
        return PTI_NONE;
    pti_atom a = atom_of(PTI_ATOM_APPLY, is_index(d->type) ? d->type : PTX_TYPE_NONE, w->insn->meaning, 0);
    for (uint32_t i = 0; i < w->n; i++)
        a.arg[i] = w->in[i];
    if (a.type == PTX_TYPE_NONE || a.type == PTX_TYPE_PRED) {
        a.low = a.type == PTX_TYPE_PRED ? 0 : INT64_MIN;
        a.high = a.type == PTX_TYPE_PRED ? 1 : INT64_MAX;
    }
    a.depends = PTI_ON_OTHER;          /* no thread's value is computed from it */
    return pti_atom_poly(w->s, a);
}

/* mov passes bits, whatever their type; the register says what an immediate is. */
static pti_poly moved(work *w)
{
    const ptx_value *v = &w->insn->operands[1].values[0];
    ptx_type type = w->s->flow->function->registers[w->insn->operands[0].values[0].reg].type;
    return v->kind == PTX_VALUE_IMM && ptx_type_class(type) == 'f' ? literal(w->s, v->imm, type) : w->in[0];
}

static pti_poly result(work *w, const struct instruction *how)
{
    bool sources = take_sources(w, how ? how->n : w->n + 1);
    if (how && how->run == do_move && sources && w->insn->operands[0].values[0].kind == PTX_VALUE_REG)
        return moved(w);
    if (!how || (how->n && !sources) || !(how->n == 0 || is_index(w->type)))
        return PTI_NONE;
    w->known = true;
    pti_poly p = how->run(w);
    return w->known && !w->lost ? p : PTI_NONE;
}

static void store_value(work *w, uint32_t value, pti_poly p)
{
    pti_symbols *s = w->s;
    const pti_value *v = &s->flow->values[value];
    if (p == PTI_NONE)
        p = opaque(s, value);
    if (v->partial && s->of_value[v->previous] != PTI_NONE) {
        ptx_value guard = {.kind = PTX_VALUE_REG, .reg = w->insn->guard, .negated = w->insn->guard_negated};
        pti_poly g = pti_poly_of(s, w->index, &guard, &w->assumed);
        w->assumed |= s->assumed[v->previous];
        p = select_of(s, g, p, s->of_value[v->previous], PTX_TYPE_NONE);
    } else if (v->partial) {
        p = opaque(s, value);
    }
    s->of_value[value] = p;
    s->assumed[value] = w->assumed;
}

static void do_insn(pti_symbols *s, uint32_t index)
{
    const ptx_insn *insn = &s->flow->function->insns[index];
    uint32_t first = s->flow->first_def[index], end = s->flow->first_def[index + 1];
    if (first == end || !insn->form)
        return;
    work w = {.s = s, .insn = insn, .index = index};
    const struct instruction *how = find_instruction(insn);
    if (how && how->run == do_ld && insn->noperands >= 2) {
        uint32_t value = first;        /* in the order of the operand's values, without sinks and repetitions */
        for (uint32_t c = 0; c < insn->operands[0].nvalues && value < end; c++)
            if (insn->operands[0].values[c].kind == PTX_VALUE_REG &&
                insn->operands[0].values[c].reg == s->flow->values[value].reg) {
                pti_poly p = load(&w, c);
                store_value(&w, value++, w.known ? p : PTI_NONE);
            }
        return;
    }
    pti_poly p = end - first == 1 && insn->noperands ? result(&w, how) : PTI_NONE;
    if (p == PTI_NONE && end - first == 1 && insn->noperands)
        p = apply(&w);
    for (uint32_t v = first; v < end; v++)
        store_value(&w, v, v == first ? p : PTI_NONE);
}

/* ------------------------------------------------------------ phis */

static void do_insn(pti_symbols *s, uint32_t index);

/* What a loop adds may be made inside of it: a mov of a constant or of %ntid.x. */
static void make_early(pti_symbols *s, uint32_t value)
{
    const pti_value *v = value == PTI_NONE ? NULL : &s->flow->values[value];
    if (!v || s->of_value[value] != PTI_NONE || v->kind != PTI_VALUE_INSN || v->partial)
        return;
    const ptx_insn *insn = &s->flow->function->insns[v->at];
    if (insn->form && strcmp(insn->form->mnemonic, "mov") == 0 && insn->noperands == 2 && insn->operands[1].nvalues == 1 &&
        insn->operands[1].values[0].kind != PTX_VALUE_REG)
        do_insn(s, v->at);
}

/* From a value back to the phi of its loop: how much is added on the way. */
static bool step_to(pti_symbols *s, uint32_t value, uint32_t phi, pti_poly *step, bool *assumed)
{
    const ptx_function *f = s->flow->function;
    *step = pti_constant(s, 0);
    for (uint32_t i = 0; i < LONGEST_STEP && value != phi; i++) {
        const pti_value *v = &s->flow->values[value];
        const ptx_insn *insn = &f->insns[v->at];
        if (v->kind != PTI_VALUE_INSN || v->partial || !insn->form || insn->noperands < 2 || insn->operands[0].nvalues != 1)
            return false;
        bool move = strcmp(insn->form->mnemonic, "mov") == 0, sub = strcmp(insn->form->mnemonic, "sub") == 0;
        if (!move && ((!sub && strcmp(insn->form->mnemonic, "add") != 0) || insn->noperands != 3))
            return false;
        uint32_t next = PTI_NONE;
        pti_poly other = pti_constant(s, 0);
        for (uint32_t o = 1; o < insn->noperands; o++) {
            const ptx_value *x = &insn->operands[o].values[0];
            uint32_t from = x->kind == PTX_VALUE_REG ? pti_value_read(s->flow, v->at, x->reg) : PTI_NONE;
            make_early(s, from);
            bool outside = insn->operands[o].nvalues == 1 && (from == PTI_NONE || s->of_value[from] != PTI_NONE) && from != phi;
            if (!outside && next == PTI_NONE && !(sub && o == 2))
                next = from;
            else if (outside)
                other = pti_poly_of(s, v->at, x, assumed);
            else
                return false;
        }
        if (next == PTI_NONE || !is_index(insn->operands[0].values[0].type))
            return false;
        *step = pti_add(s, *step, pti_scale(s, other, sub ? -1 : 1));
        value = next;
    }
    return value == phi;
}

/* init + step * turn where every way round adds the same. */
static pti_poly induction(pti_symbols *s, uint32_t phi, pti_poly init, bool *assumed)
{
    const pti_value *v = &s->flow->values[phi];
    const pti_block *b = &s->flow->blocks[v->at];
    pti_poly step = PTI_NONE;
    for (uint32_t k = 0; k < v->noperands; k++) {
        uint32_t from = b->predecessors[k];
        pti_poly way;
        if (from == PTI_NONE || s->flow->blocks[from].order < b->order)
            continue;
        if (!step_to(s, v->operands[k], phi, &way, assumed) || (step != PTI_NONE && way != step))
            return PTI_NONE;
        step = way;
    }
    pti_atom turn = atom_of(PTI_ATOM_TURN, PTX_TYPE_NONE, v->at, PTI_ON_TURN);
    turn.high = s->turn_most && s->turn_most[v->at] >= 0 ? s->turn_most[v->at] : INT32_MAX;
    return step == PTI_NONE ? PTI_NONE : pti_add(s, init, pti_multiply(s, step, pti_atom_poly(s, turn)));
}

/* A branch whose condition is a constant goes one way only. */
static bool is_live_edge(pti_symbols *s, uint32_t from, uint32_t to)
{
    const pti_block *b = &s->flow->blocks[from];
    const ptx_insn *last = &s->flow->function->insns[b->end - 1];
    bool branch = last->guarded && last->operation && strcmp(last->operation, "bra") == 0 && b->nsuccessors == 2;
    bool assumed = false;
    int64_t c;
    if (!s->live[from] || !branch || b->successors[0] == b->successors[1])
        return s->live[from];
    ptx_value guard = {.kind = PTX_VALUE_REG, .reg = last->guard};
    if (!pti_is_constant(s, pti_poly_of(s, b->end - 1, &guard, &assumed), &c))
        return true;
    return b->successors[(c != 0) == last->guard_negated] == to;
}

static void find_live(pti_symbols *s, uint32_t block)
{
    const pti_block *b = &s->flow->blocks[block];
    s->live[block] = block == 0;
    for (uint32_t k = 0; k < b->npredecessors && !s->live[block]; k++)
        s->live[block] = b->predecessors[k] == PTI_NONE || (s->flow->blocks[b->predecessors[k]].order < b->order && is_live_edge(s, b->predecessors[k], block));
}

static void do_phi(pti_symbols *s, uint32_t phi)
{
    const pti_value *v = &s->flow->values[phi];
    const pti_block *b = &s->flow->blocks[v->at];
    pti_poly all = PTI_NONE;
    bool same = true, loop = false, assumed = false;
    for (uint32_t k = 0; k < v->noperands; k++) {
        uint32_t from = b->predecessors[k];
        if (from != PTI_NONE && s->flow->blocks[from].order >= b->order) {
            loop = true;
            continue;
        }
        if (from != PTI_NONE && s->live[v->at] && !is_live_edge(s, from, v->at))
            continue;
        pti_poly p = s->of_value[v->operands[k]];
        if (p == PTI_NONE && s->flow->values[v->operands[k]].kind == PTI_VALUE_ENTRY)
            p = s->of_value[v->operands[k]] = opaque(s, v->operands[k]);
        same &= p != PTI_NONE && (all == PTI_NONE || all == p);
        all = p;
        assumed |= s->assumed[v->operands[k]];
    }
    pti_poly p = PTI_NONE;
    if (same && all != PTI_NONE && is_index(s->flow->function->registers[v->reg].type))
        p = loop ? induction(s, phi, all, &assumed) : all;
    s->of_value[phi] = p == PTI_NONE ? opaque(s, phi) : p;
    s->assumed[phi] = p != PTI_NONE && assumed;
}

/* ------------------------------------------------------------ the function */

/* Phis of each block, as a list through `next`. */
static bool do_blocks(pti_symbols *s)
{
    const pti_flow *flow = s->flow;
    uint32_t *first = malloc((flow->nblocks + 1) * sizeof *first), *next = malloc((flow->nvalues + 1) * sizeof *next);
    bool done = first && next;
    for (uint32_t b = 0; done && b < flow->nblocks; b++)
        first[b] = PTI_NONE;
    for (uint32_t v = flow->nvalues; done && v-- > flow->first_def[flow->function->ninsns];)
        if (flow->values[v].kind == PTI_VALUE_PHI) {
            next[v] = first[flow->values[v].at];
            first[flow->values[v].at] = v;
        }
    for (uint32_t i = 0; done && i < flow->nblocks; i++) {
        uint32_t b = flow->ordered[i];
        find_live(s, b);
        for (uint32_t v = first[b]; v != PTI_NONE; v = next[v])
            do_phi(s, v);
        for (uint32_t k = flow->blocks[b].first; k < flow->blocks[b].end && !s->failed; k++)
            do_insn(s, k);
    }
    free(first);
    free(next);
    return done;
}

static bool take_threads(pti_symbols *s)
{
    const uint32_t *block = s->launch.block;
    s->nthreads = 32;
    for (int i = 0; i < 3 && block[0]; i++)
        if (block[i] > PTI_MAX_THREADS || block[i] == 0)
            s->nthreads = 0;
    if (block[0] && s->nthreads)       /* at most 2^30 */
        s->nthreads = block[0] * block[1] * block[2] > PTI_MAX_THREADS ? 0 : block[0] * block[1] * block[2];
    s->scratch = calloc(4 * (size_t)s->nthreads + 1, sizeof *s->scratch);
    return s->scratch != NULL;
}

pti_status pti_make_symbols(const pti_flow *flow, const pti_launch *launch, const int64_t *turn_most, pti_symbols *out)
{
    const ptx_function *f = flow->function;
    *out = (pti_symbols){.flow = flow, .launch = launch ? *launch : (pti_launch){{0}}, .turn_most = turn_most};
    ptx_arena_init(&out->arena, SIZE_MAX);
    for (int i = 0; i < 3 && out->launch.block[0] == 0 && f->reqntid[0]; i++)
        out->launch.block[2 - i] = f->reqntid[2 - i] ? f->reqntid[2 - i] : 1;
    if (!take_threads(out))
        return PTI_MEMORY;
    out->of_value = pti_take(&out->arena, flow->nvalues, sizeof *out->of_value);
    out->assumed = pti_take(&out->arena, flow->nvalues, sizeof *out->assumed);
    out->live = pti_take(&out->arena, flow->nblocks, sizeof *out->live);
    if (!out->of_value || !out->assumed || !out->live || (pti_constant(out, 0), out->failed))
        return PTI_MEMORY;
    memset(out->of_value, 0xff, flow->nvalues * sizeof *out->of_value);
    bool done = do_blocks(out);
    out->turn_most = NULL;
    for (uint32_t v = 0; v < flow->nvalues && done && !out->failed; v++)
        if (out->of_value[v] == PTI_NONE)
            out->of_value[v] = opaque(out, v);
    return done && !out->failed ? PTI_OK : out->limited ? PTI_LIMIT : PTI_MEMORY;
}
