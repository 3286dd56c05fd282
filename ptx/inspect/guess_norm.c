/* guess_norm.c - roots of sums of squares, and norms: what was squared is multiplied by the root's inverse.
 *
 * Each root is looked at by itself. Backwards from it, through additions, scaling, conversions, shuffles, loops and shared memory, stand the
 * squares that it is the root of; forwards, through conversions, scaling and inversion, the multiplications by it. It is a norm if a factor
 * of these is one of the values that were squared for it. A square or a root elsewhere in the epilogue proves nothing.
 */
#include "ptx/inspect/guess_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one root is taken of, and what becomes of it. */
typedef struct root {
    uint32_t insn;
    uint32_t nsquares, first_square, nshuffles, nscaled;
    uint32_t base;                     /* the parameter that what was squared is loaded through, PTI_NONE: none, or not known */
    uint32_t nlist;                    /* squares, shuffles and multiplications, in g->list */
    bool across;                       /* what is added up is of several lanes, or of the turns of a loop */
    bool moments;                      /* a square is subtracted: the mean's */
    bool stored;                       /* what is stored to shared memory has been followed */
} root;

/* ------------------------------------------------------------ squares */

static bool is_float(const guesser *g, uint32_t insn)
{
    ptx_type t = pti_opcode_type(opcode_text(g, insn));
    return ptx_type_class(t) == 'f' || t == PTX_TYPE_F16X2 || t == PTX_TYPE_BF16X2;
}

/* Source `i` as a value, negation apart. */
static uint32_t factor(const guesser *g, uint32_t insn, uint32_t i, bool *negative)
{
    uint32_t value = pti_origin(g->flow, source_value(g, insn, i));
    const pti_value *v = value == PTI_NONE ? NULL : &g->flow->values[value];
    if (v && v->kind == PTI_VALUE_INSN && !v->partial && is_mnemonic(g, v->at, "neg")) {
        *negative = !*negative;
        value = pti_origin(g->flow, source_value(g, v->at, 0));
    }
    return value;
}

static bool is_square(const guesser *g, uint32_t insn, bool *negative)
{
    *negative = false;
    if (!(is_mnemonic(g, insn, "mul") || is_mnemonic(g, insn, "fma")) || !is_float(g, insn))
        return false;
    uint32_t a = factor(g, insn, 0, negative);
    return a != PTI_NONE && a == factor(g, insn, 1, negative);
}

/* What is squared: x; x less a scaled sum, its mean; or x less something else, a distance. */
typedef enum squared { SQUARED_VALUE, SQUARED_DEVIATION, SQUARED_DIFFERENCE } squared;

static squared what_is_squared(const guesser *g, uint32_t insn)
{
    uint32_t at = computed_by(g, source_value(g, insn, 0));
    if (at == PTI_NONE || !is_mnemonic(g, at, "sub"))
        return SQUARED_VALUE;
    uint32_t mean = computed_by(g, source_value(g, at, 1));
    bool scaled = mean != PTI_NONE && (is_mnemonic(g, mean, "mul") || is_mnemonic(g, mean, "div") || is_mnemonic(g, mean, "fma"));
    return scaled ? SQUARED_DEVIATION : SQUARED_DIFFERENCE;
}

/* The offset of the parameter that a load's address is computed from, by additions alone. */
static uint32_t pointer_of(const guesser *g, uint32_t load)
{
    uint32_t stack[32], depth = 0;
    for (uint32_t u = g->flow->first_use[load]; u < g->flow->first_use[load + 1] && depth < 8; u++)
        stack[depth++] = g->flow->uses[u].value;
    for (int steps = 0; depth && steps < 64; steps++) {
        const pti_value *v = &g->flow->values[pti_origin(g->flow, stack[--depth])];
        for (uint32_t k = 0; k < v->noperands && depth < 24; k++)
            stack[depth++] = v->operands[k];
        if (v->kind != PTI_VALUE_INSN || ptx_type_bits(g->flow->function->registers[v->reg].type) != 64)
            continue;
        const ptx_insn *insn = &g->flow->function->insns[v->at];
        if (work_of_insn(g, v->at) == PTI_WORK_LOAD && insn->noperands > 1 && insn->operands[1].kind == ISA_OPERAND_ADDRESS &&
            insn->operands[1].address.base == PTX_BASE_VARIABLE && insn->operands[1].address.variable &&
            insn->operands[1].address.variable->space == PTX_SPACE_PARAM)
            return (uint32_t)(insn->operands[1].address.variable->offset + (uint64_t)insn->operands[1].address.offset);
        for (uint32_t u = g->flow->first_use[v->at]; u < g->flow->first_use[v->at + 1] && depth < 24; u++)
            if (is_mnemonic(g, v->at, "add") || is_mnemonic(g, v->at, "cvta"))
                stack[depth++] = g->flow->uses[u].value;
    }
    return PTI_NONE;
}

/* ------------------------------------------------------------ backwards */

static void push(guesser *g, uint32_t value)
{
    value = pti_origin(g->flow, value);
    if (value == PTI_NONE || g->visited[value] == g->pass || !g->budget)
        return;
    g->budget--;
    g->visited[value] = g->pass;
    g->stack[g->depth++] = value;
}

static void push_sources(guesser *g, uint32_t insn)
{
    for (uint32_t u = g->flow->first_use[insn]; u < g->flow->first_use[insn + 1]; u++)
        push(g, g->flow->uses[u].value);
}

static void note(guesser *g, root *r, uint32_t insn)
{
    if (r->nlist < 2 * g->flow->function->ninsns)
        g->list[r->nlist++] = insn;
}

static void take_square(guesser *g, root *r, uint32_t insn, bool negative)
{
    if (negative) {
        r->moments = true;
        return;
    }
    r->first_square = r->nsquares++ && r->first_square < insn ? r->first_square : insn;
    uint32_t at = computed_by(g, source_value(g, insn, 0));
    if (what_is_squared(g, insn) == SQUARED_DEVIATION)
        g->marked[leaf_of(g, source_value(g, at, 1))] = g->rule;
    else
        g->marked[leaf_of(g, source_value(g, insn, 0))] = g->rule;
    if (at != PTI_NONE && work_of_insn(g, at) == PTI_WORK_LOAD)
        r->base = pointer_of(g, at);
    note(g, r, insn);
}

/* A scale: a constant or a parameter. */
static bool is_scale(const guesser *g, uint32_t insn, uint32_t i)
{
    uint64_t bits;
    uint32_t at = computed_by(g, source_value(g, insn, i));
    return source_constant(g, insn, i, &bits) || (at != PTI_NONE && work_of_insn(g, at) == PTI_WORK_LOAD &&
                                                  g->opcodes->list[g->opcodes->of_insn[at]].space == PTX_SPACE_PARAM);
}

/* What warps exchange: anything that the epilogue stores to shared memory. */
static void follow_shared(guesser *g, root *r)
{
    if (r->stored)
        return;
    r->stored = true;
    for (uint32_t i = g->first; i < g->end; i++) {
        const ptx_insn *insn = &g->flow->function->insns[i];
        if (work_of_insn(g, i) != PTI_WORK_STORE || g->opcodes->list[g->opcodes->of_insn[i]].space != PTX_SPACE_SHARED)
            continue;
        for (uint32_t k = 0; k < insn->noperands; k++)
            for (uint32_t j = 0; insn->operands[k].kind != ISA_OPERAND_ADDRESS && j < insn->operands[k].nvalues; j++)
                if (insn->operands[k].values[j].kind == PTX_VALUE_REG)
                    push(g, pti_value_read(g->flow, i, insn->operands[k].values[j].reg));
    }
}

static void visit_product(guesser *g, root *r, uint32_t insn)
{
    bool negative, fma = is_mnemonic(g, insn, "fma");
    if (is_square(g, insn, &negative))
        take_square(g, r, insn, negative);
    else if (is_scale(g, insn, 0) || is_scale(g, insn, 1))
        push(g, source_value(g, insn, is_scale(g, insn, 0)));
    if (fma)
        push(g, source_value(g, insn, 2));
}

static void visit_addend(guesser *g, root *r, uint32_t insn)
{
    pti_work work = work_of_insn(g, insn);
    if (is_mnemonic(g, insn, "mul") || is_mnemonic(g, insn, "fma")) {
        visit_product(g, r, insn);
    } else if (is_mnemonic(g, insn, "div")) {
        push(g, source_value(g, insn, 0));
    } else if (is_mnemonic(g, insn, "sub") && is_float(g, insn)) {
        bool negative;
        uint32_t at = computed_by(g, source_value(g, insn, 1));
        r->moments |= at != PTI_NONE && is_square(g, at, &negative) && !negative;
        push(g, source_value(g, insn, 0));
    } else if (work == PTI_WORK_SHUFFLE) {
        r->across = true;
        r->nshuffles++;
        note(g, r, insn);
        push(g, source_value(g, insn, 0));
    } else if (work == PTI_WORK_LOAD && g->opcodes->list[g->opcodes->of_insn[insn]].space == PTX_SPACE_SHARED) {
        r->across = true;
        follow_shared(g, r);
    } else if (work == PTI_WORK_CONVERT || work == PTI_WORK_UNPACK || work == PTI_WORK_MOVE || is_mnemonic(g, insn, "selp") ||
               (is_float(g, insn) && (is_mnemonic(g, insn, "add") || is_mnemonic(g, insn, "max") || is_mnemonic(g, insn, "min")))) {
        push_sources(g, insn);
    }
}

static bool comes_round(const guesser *g, const pti_value *phi)
{
    const pti_block *b = &g->flow->blocks[phi->at];
    for (uint32_t k = 0; k < b->npredecessors; k++)
        if (b->predecessors[k] != PTI_NONE && g->flow->blocks[b->predecessors[k]].order >= b->order)
            return true;
    return false;
}

static void find_squares(guesser *g, root *r)
{
    g->rule++;
    g->pass++;
    g->depth = 0;
    push(g, source_value(g, r->insn, 0));
    while (g->depth) {
        const pti_value *v = &g->flow->values[g->stack[--g->depth]];
        push(g, v->previous);
        for (uint32_t k = 0; k < v->noperands; k++)
            push(g, v->operands[k]);
        bool here = v->kind == PTI_VALUE_INSN && v->at >= g->first && v->at < g->end && g->visited_insn[v->at] != g->pass;
        r->across |= v->kind == PTI_VALUE_PHI && comes_round(g, v);
        if (!here)
            continue;
        g->visited_insn[v->at] = g->pass;
        visit_addend(g, r, v->at);
    }
}

/* ------------------------------------------------------------ forwards */

static bool has_mark(const guesser *g, uint32_t value)
{
    uint32_t leaf = leaf_of(g, value);
    return leaf != PTI_NONE && g->marked[leaf] == g->rule;
}

static bool is_loaded_again(const guesser *g, const root *r, uint32_t insn)
{
    uint32_t base = work_of_insn(g, insn) == PTI_WORK_LOAD ? pointer_of(g, insn) : PTI_NONE;
    return r->across && base != PTI_NONE && base == r->base;
}

/* It was itself; or it is loaded once more, from the same array; or it is what the same mean is subtracted from. */
static bool was_squared(const guesser *g, const root *r, uint32_t value)
{
    uint32_t at = computed_by(g, value);
    if (has_mark(g, value) || (at != PTI_NONE && is_loaded_again(g, r, at)))
        return true;
    return at != PTI_NONE && is_mnemonic(g, at, "sub") && (has_mark(g, source_value(g, at, 0)) || has_mark(g, source_value(g, at, 1)));
}

static void push_results(guesser *g, uint32_t insn)
{
    for (uint32_t v = g->flow->first_def[insn]; v < g->flow->first_def[insn + 1]; v++)
        push(g, v);
}

/* An instruction that reads the root or what is made of it; `inverse` tells which of the two that is by now. True: it inverts. */
static bool visit_use(guesser *g, root *r, uint32_t insn, uint32_t value, bool inverse)
{
    pti_work work = work_of_insn(g, insn);
    uint64_t bits;
    bool mul = is_mnemonic(g, insn, "mul") || is_mnemonic(g, insn, "fma");
    if (is_mnemonic(g, insn, "rcp"))
        return true;
    if (is_mnemonic(g, insn, "div") && pti_origin(g->flow, source_value(g, insn, 1)) == value) {
        if (source_constant(g, insn, 0, &bits))
            return true;
        if (!inverse && was_squared(g, r, source_value(g, insn, 0))) {
            r->nscaled++;
            note(g, r, insn);
        }
        return false;
    }
    if (mul && is_float(g, insn)) {
        uint32_t other = pti_origin(g->flow, source_value(g, insn, 0)) == value;
        if (inverse && was_squared(g, r, source_value(g, insn, other))) {
            r->nscaled++;
            note(g, r, insn);
        }
        if (is_mnemonic(g, insn, "mul"))
            push_results(g, insn);
    } else if (work == PTI_WORK_CONVERT || work == PTI_WORK_UNPACK || work == PTI_WORK_MOVE || work == PTI_WORK_SHUFFLE ||
               (is_mnemonic(g, insn, "add") && is_float(g, insn) && (source_constant(g, insn, 0, &bits) || source_constant(g, insn, 1, &bits)))) {
        push_results(g, insn);
    }
    return false;
}

/* From one value; instructions that invert it are put in `inverting`. */
static uint32_t follow_root(guesser *g, root *r, uint32_t from, bool inverse, uint32_t *inverting, uint32_t room)
{
    uint32_t n = 0;
    g->pass++;
    g->depth = 0;
    push(g, from);
    while (g->depth) {
        uint32_t value = g->stack[--g->depth];
        const pti_value *v = &g->flow->values[value];
        for (uint32_t k = 0; k < v->nusers; k++) {
            if (v->users[k] & PTI_BY_VALUE) {
                push(g, v->users[k] & ~(uint32_t)PTI_BY_VALUE);
                continue;
            }
            uint32_t i = v->users[k];
            if (i < g->first || i >= g->end || g->visited_insn[i] == g->pass)
                continue;
            g->visited_insn[i] = g->pass;
            bool copy = is_mnemonic(g, i, "mov");       /* which push passes over */
            for (uint32_t d = g->flow->first_def[i]; copy && d < g->flow->first_def[i + 1]; d++)
                if (g->visited[d] != g->pass && g->budget) {
                    g->visited[d] = g->pass;
                    g->budget--;
                    g->stack[g->depth++] = d;
                }
            if (!copy && visit_use(g, r, i, pti_origin(g->flow, value), inverse) && n < room)
                inverting[n++] = i;
        }
    }
    return n;
}

static void find_scaled(guesser *g, root *r)
{
    uint32_t inverting[8], none;
    bool inverse = is_mnemonic(g, r->insn, "rsqrt");
    uint32_t n = follow_root(g, r, g->flow->first_def[r->insn], inverse, inverting, 8);
    for (uint32_t i = 0; i < n && !inverse; i++)
        follow_root(g, r, g->flow->first_def[inverting[i]], true, &none, 0);
}

/* ------------------------------------------------------------ all */

/* What is added, and multiplied, just before a root is taken. */
static void append_epsilon(const guesser *g, uint32_t insn, char *text, size_t size)
{
    char number[32];
    uint64_t bits;
    double v;
    uint32_t at = computed_by(g, source_value(g, insn, 0));
    for (int depth = 0; at != PTI_NONE && depth < 2; depth++) {
        bool adds = is_mnemonic(g, at, "add"), fuses = is_mnemonic(g, at, "fma"), scales = is_mnemonic(g, at, "mul");
        ptx_type type = pti_opcode_type(opcode_text(g, at));
        uint32_t next = PTI_NONE;
        for (uint32_t i = 0; (adds || fuses || scales) && i < (fuses ? 3u : 2u); i++) {
            if (!source_constant(g, at, i, &bits) || !pti_number(bits, type, &v)) {
                next = next == PTI_NONE ? source_value(g, at, i) : next;
                continue;
            }
            bool sum = adds || (fuses && i == 2);
            append(text, size, "%s%s", sum ? " + " : " · ", pti_number_text(v, type, number));
            int exponent;
            if (v > 0 && frexp(v, &exponent) == 0.5)
                append(text, size, " (2^%d)", exponent - 1);
        }
        if (!adds && !fuses && !scales)
            return;
        at = computed_by(g, next);
    }
}

typedef enum norm { NORM_RMS, NORM_MEAN, NORM_DISTANCE, NORM_LENGTH, NORMS } norm;

/* Roots of one kind. */
typedef struct kind { uint32_t roots, first, squares, shuffles, scaled; squared what; bool moments; } kind;

static norm kind_of(const root *r, squared what)
{
    bool mean = what == SQUARED_DEVIATION || r->moments, many = r->across || r->nsquares > 1;
    if (r->nscaled && many)
        return mean ? NORM_MEAN : what == SQUARED_VALUE ? NORM_RMS : NORM_DISTANCE;
    return what != SQUARED_VALUE ? NORM_DISTANCE : many ? NORM_LENGTH : NORMS;
}

/* Instructions that several roots share count once: g->mark has a bit for each kind. */
static void add_root(guesser *g, const root *r, kind *kinds)
{
    squared what = what_is_squared(g, r->first_square);
    norm number = kind_of(r, what);
    if (number == NORMS)
        return;
    kind *k = &kinds[number];
    if (k->roots++ == 0)
        *k = (kind){.roots = 1, .first = r->insn, .what = what, .moments = r->moments};
    for (uint32_t i = 0; i < r->nlist; i++) {
        uint32_t at = g->list[i];
        bool negative;
        if (g->mark[at] >> number & 1)
            continue;
        g->mark[at] |= (uint8_t)(1u << number);
        if (work_of_insn(g, at) == PTI_WORK_SHUFFLE)
            k->shuffles++;
        else if (is_square(g, at, &negative))
            k->squares++;
        else
            k->scaled++;
    }
}

static void report_kind(guesser *g, norm number, const kind *k)
{
    static const char *const names[] = {"RMS norm", "normalisation with mean", "root of squared differences", "root of a sum of squares"};
    static const char *const terms[] = {"x²", "(x − mean)²", "(x − y)²"};
    char text[256] = "";
    append(text, sizeof text, "%s(Σ%s%s", is_mnemonic(g, k->first, "rsqrt") ? "rsqrt" : "sqrt", terms[k->what], k->moments ? " − mean²" : "");
    append_epsilon(g, k->first, text, sizeof text);
    add_guess(g, names[number], "%s): %u, of squares: %u, shuffles: %u, multiplications by it: %u%s", text, k->roots, k->squares, k->shuffles,
              k->scaled, number == NORM_RMS ? "; no mean is subtracted" : "");
}

void guess_norm(guesser *g)
{
    kind kinds[NORMS] = {{0}};
    clear_marks(g);
    for (uint32_t i = g->first; i < g->end; i++) {
        root r = {.insn = i, .base = PTI_NONE};
        if (!(is_mnemonic(g, i, "rsqrt") || is_mnemonic(g, i, "sqrt")))
            continue;
        find_squares(g, &r);
        if (!r.nsquares)
            continue;
        find_scaled(g, &r);
        add_root(g, &r, kinds);
    }
    clear_marks(g);
    for (norm k = 0; k < NORMS; k++)
        if (kinds[k].roots)
            report_kind(g, k, &kinds[k]);
}
