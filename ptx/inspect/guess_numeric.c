/* guess_numeric.c - rules that look at arithmetic: softmax, norms, gates and activations. */
#include "ptx/inspect/guess_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool passes(const guesser *g, uint32_t insn)
{
    return work_of_insn(g, insn) == PTI_WORK_CONVERT || work_of_insn(g, insn) == PTI_WORK_UNPACK ||
           (work_of_insn(g, insn) == PTI_WORK_MOVE && g->flow->function->insns[insn].noperands == 2);
}

uint32_t leaf_of(const guesser *g, uint32_t value)
{
    value = pti_origin(g->flow, value);
    for (int i = 0; i < 16 && value != PTI_NONE; i++) {
        const pti_value *v = &g->flow->values[value];
        if (v->kind != PTI_VALUE_INSN || !passes(g, v->at) || g->flow->first_use[v->at] == g->flow->first_use[v->at + 1])
            return value;
        value = pti_origin(g->flow, g->flow->uses[g->flow->first_use[v->at]].value);      /* the first register that it reads */
    }
    return value;
}

uint32_t computed_by(const guesser *g, uint32_t value)
{
    value = leaf_of(g, value);
    const pti_value *v = value == PTI_NONE ? NULL : &g->flow->values[value];
    return v && v->kind == PTI_VALUE_INSN && !passes(g, v->at) ? v->at : PTI_NONE;
}

static bool is_float_opcode(const char *opcode)
{
    ptx_type t = pti_opcode_type(opcode);
    return ptx_type_class(t) == 'f' || t == PTX_TYPE_F16X2 || t == PTX_TYPE_BF16X2;
}

/* ex2, or the bits of a floating value shifted into its exponent (Schraudolph 1999). */
static bool is_exponential(const guesser *g, uint32_t insn)
{
    uint64_t by;
    if (is_mnemonic(g, insn, "ex2"))
        return true;
    if (!is_mnemonic(g, insn, "shl") || !source_constant(g, insn, 1, &by))
        return false;
    uint32_t from = pti_origin(g->flow, source_value(g, insn, 0));
    if (from == PTI_NONE || g->flow->values[from].kind != PTI_VALUE_INSN)
        return false;
    uint32_t at = g->flow->values[from].at;
    return work_of_insn(g, at) == PTI_WORK_FLOAT && is_float_opcode(opcode_text(g, at));
}

/* 2^n of the whole part, by shifting bits, that the exponential of the fraction is multiplied by: the two are one. */
static bool is_half_of_one(const guesser *g, uint32_t shift)
{
    uint64_t bits;
    for (uint32_t i = shift + 1; i < g->end && i < shift + 16 && !is_mnemonic(g, shift, "ex2"); i++) {
        if (!is_mnemonic(g, i, "mul") && !is_mnemonic(g, i, "fma"))
            continue;
        uint32_t a = computed_by(g, source_value(g, i, 0)), b = computed_by(g, source_value(g, i, 1));
        uint32_t other = a == shift ? b : b == shift ? a : PTI_NONE;
        if (other != PTI_NONE && !source_constant(g, i, 0, &bits) && is_mnemonic(g, other, "ex2"))
            return true;
    }
    return false;
}

static bool both_marked(const guesser *g, uint32_t insn)
{
    for (uint32_t i = 0; i < 2; i++)
        if (!is_marked(g, source_value(g, insn, i)))
            return false;
    return true;
}

static uint32_t count_marked(const guesser *g, pti_work work, const char *mnemonic)
{
    uint32_t n = 0;
    for (uint32_t i = g->first; i < g->end; i++)
        n += g->mark[i] && (mnemonic ? is_mnemonic(g, i, mnemonic) : work_of_insn(g, i) == work);
    return n;
}

/* Does what exponentials read come through a maximum of two unknowns? */
static bool subtracts_maximum(guesser *g)
{
    pti_sources found;
    uint32_t values[256], n = 0;
    for (uint32_t i = g->first; i < g->end && n < 256; i++)
        if (g->mark[i] == 3)
            values[n++] = source_value(g, i, 0);
    if (!pti_find_sources(&g->search, values, n, &found)) {
        g->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < found.nthrough; i++) {
        uint64_t bits;
        uint32_t at = found.through[i];
        if (is_mnemonic(g, at, "max") && is_float_opcode(opcode_text(g, at)) && !source_constant(g, at, 0, &bits) &&
            !source_constant(g, at, 1, &bits))
            return true;
    }
    return false;
}

static bool comes_from_shared(guesser *g, uint32_t value)
{
    pti_sources found;
    if (value == PTI_NONE || !pti_find_sources(&g->search, &value, 1, &found))
        return false;
    for (uint32_t i = 0; i < found.nroots; i++)
        if (found.roots[i].kind == PTI_ORIGIN_LOAD && g->opcodes->list[g->opcodes->of_insn[found.roots[i].at]].space == PTX_SPACE_SHARED)
            return true;
    return false;
}

/* Inverses of sums that warps exchange: what is marked is stored to shared memory, and what is divided by is loaded from there. */
static uint32_t count_exchanged_inverses(guesser *g)
{
    uint32_t n = 0;
    bool stored = false;
    for (uint32_t i = g->first; i < g->end && !stored; i++)
        stored = g->mark[i] && work_of_insn(g, i) == PTI_WORK_STORE && g->opcodes->list[g->opcodes->of_insn[i]].space == PTX_SPACE_SHARED;
    for (uint32_t i = g->first; i < g->end && stored; i++) {
        bool div = is_mnemonic(g, i, "div");
        n += (div || is_mnemonic(g, i, "rcp")) && comes_from_shared(g, source_value(g, i, div));
    }
    return n;
}

/* The formula of the first exponential, with the mask that follows a shift. */
static void append_exponential(const guesser *g, uint32_t insn, char *text, size_t size)
{
    pti_formula f;
    uint32_t value = g->flow->first_def[insn];
    for (uint32_t i = insn + 1; i < g->end && i < insn + 8 && !is_mnemonic(g, insn, "ex2"); i++)
        if (is_mnemonic(g, i, "and") && pti_origin(g->flow, source_value(g, i, 0)) == value)
            value = g->flow->first_def[i];
    if (pti_find_formula(g->flow, g->phases, g->opcodes, value, 0, &f) && f.nnodes > 1)
        append(text, size, ": %s", f.text);
}

/* 1 - 2 / (1 + e), of an inverse: a hyperbolic tangent. */
static bool becomes_tanh(const guesser *g, uint32_t inverse)
{
    const pti_value *v = &g->flow->values[g->flow->first_def[inverse]];
    for (uint32_t k = 0; k < v->nusers && k < 64; k++) {
        uint32_t i = v->users[k];
        uint64_t bits;
        double scale, one;
        if (i & PTI_BY_VALUE || !is_mnemonic(g, i, "fma"))
            continue;
        ptx_type type = pti_opcode_type(opcode_text(g, i));
        bool scaled = (source_constant(g, i, 0, &bits) || source_constant(g, i, 1, &bits)) && pti_number(bits, type, &scale) && fabs(scale) == 2;
        if (scaled && source_constant(g, i, 2, &bits) && pti_number(bits, type, &one) && fabs(one) == 1)
            return true;
    }
    return false;
}

/* 1 / (1 + e); *tanhs of them become hyperbolic tangents. */
static uint32_t count_sigmoids(const guesser *g, uint32_t *tanhs)
{
    uint32_t n = 0;
    uint64_t bits;
    double one;
    *tanhs = 0;
    for (uint32_t i = g->first; i < g->end; i++) {
        bool div = is_mnemonic(g, i, "div");
        if (!g->mark[i] || !(div || is_mnemonic(g, i, "rcp")))
            continue;
        uint32_t sum = computed_by(g, source_value(g, i, div)), e = PTI_NONE;
        for (uint32_t k = 0; sum != PTI_NONE && is_mnemonic(g, sum, "add") && k < 2; k++)
            if (source_constant(g, sum, k, &bits) && pti_number(bits, pti_opcode_type(opcode_text(g, sum)), &one) && one == 1)
                e = computed_by(g, source_value(g, sum, 1 - k));
        if (e == PTI_NONE || !is_exponential(g, e))
            continue;
        *tanhs += becomes_tanh(g, i);
        n++;
    }
    return n;
}

/* Additions of two of them; of a running sum, fma(sum, scale, e). */
static uint32_t count_sums(guesser *g)
{
    uint32_t n = 0;
    for (uint32_t i = g->first; i < g->end; i++) {
        bool adds = g->mark[i] && is_float_opcode(opcode_text(g, i));
        uint32_t addend = adds && is_mnemonic(g, i, "fma") ? computed_by(g, source_value(g, i, 2)) : PTI_NONE;
        bool running = addend != PTI_NONE && addend >= g->first && addend < g->end && g->mark[addend] == 3 && both_marked(g, i);
        g->other[i] = running || (adds && is_mnemonic(g, i, "add") && both_marked(g, i));
        n += g->other[i];
    }
    return n;
}

/* Inverses of what comes from the instructions in g->other: their results are what is divided by. */
static uint32_t count_inverses(guesser *g)
{
    uint32_t n = 0;
    clear_marks(g);
    memcpy(g->mark + g->first, g->other + g->first, g->end - g->first);
    spread(g);
    for (uint32_t i = g->first; i < g->end; i++)
        n += (is_mnemonic(g, i, "rcp") && is_marked(g, source_value(g, i, 0))) || (is_mnemonic(g, i, "div") && is_marked(g, source_value(g, i, 1)));
    return n;
}

/* Does an instruction hand on a sum, as it is, scaled, or with more added? */
static bool keeps_sum(const guesser *g, uint32_t insn)
{
    pti_work work = work_of_insn(g, insn);
    bool sum = is_mnemonic(g, insn, "add") || is_mnemonic(g, insn, "mul") || is_mnemonic(g, insn, "fma") || is_mnemonic(g, insn, "selp");
    return sum || work == PTI_WORK_CONVERT || work == PTI_WORK_UNPACK || work == PTI_WORK_MOVE || work == PTI_WORK_SHUFFLE;
}

static void push_value(guesser *g, uint32_t value)
{
    if (g->visited[value] == g->pass || !g->budget)
        return;
    g->budget--;
    g->visited[value] = g->pass;
    g->stack[g->depth++] = value;
}

/* Inverses of the sums in g->other that stand in other epilogues: behind a loop, say. They are kept for those. */
static uint32_t count_inverses_elsewhere(guesser *g)
{
    uint32_t n = 0;
    g->pass++;
    g->depth = 0;
    for (uint32_t i = g->first; i < g->end; i++)
        for (uint32_t v = g->flow->first_def[i]; g->other[i] && v < g->flow->first_def[i + 1]; v++)
            push_value(g, v);
    while (g->depth) {
        const pti_value *v = &g->flow->values[g->stack[--g->depth]];
        for (uint32_t k = 0; k < v->nusers; k++) {
            uint32_t i = v->users[k];
            if (i & PTI_BY_VALUE) {
                push_value(g, i & ~(uint32_t)PTI_BY_VALUE);
                continue;
            }
            bool div = is_mnemonic(g, i, "div");
            if ((div && &g->flow->values[pti_origin(g->flow, source_value(g, i, 1))] == v) || is_mnemonic(g, i, "rcp")) {
                n += g->inverse_of[i] != g->index + 1;
                g->inverse_of[i] = g->index + 1;
            }
            for (uint32_t d = g->flow->first_def[i]; keeps_sum(g, i) && d < g->flow->first_def[i + 1]; d++)
                push_value(g, d);
        }
    }
    return n;
}

/* Products of an exponential and what a loop brings round: as its maximum grows, an online softmax scales what it has summed up. */
static uint32_t count_online(const guesser *g)
{
    uint32_t n = 0;
    for (uint32_t i = g->first; i < g->end; i++) {
        bool product = (is_mnemonic(g, i, "mul") || is_mnemonic(g, i, "fma")) && is_float_opcode(opcode_text(g, i));
        for (uint32_t k = 0; product && k < 2; k++) {
            uint32_t e = computed_by(g, source_value(g, i, k)), other = leaf_of(g, source_value(g, i, 1 - k));
            if (e == PTI_NONE || other == PTI_NONE || !is_exponential(g, e) || g->flow->values[other].kind != PTI_VALUE_PHI)
                continue;
            n++;
            break;
        }
    }
    return n;
}

static void report_softmax(guesser *g, const char *text, uint32_t sums, uint32_t shuffles, uint32_t inverses, uint32_t elsewhere)
{
    bool maximum = subtracts_maximum(g);
    char more[160] = "";
    uint32_t online = maximum ? count_online(g) : 0;
    if (online)
        append(more, sizeof more, "; online: multiplications of what the loop brings round by one: %u", online);
    if (elsewhere)
        append(more, sizeof more, "; the inverses stand in other epilogues");
    add_guess(g, maximum ? "softmax with maximum" : "softmax without maximum", "%s; additions of them: %u, shuffles: %u, inverses: %u; %s%s", text, sums,
              shuffles, inverses + elsewhere, maximum ? "a maximum is subtracted first" : "no maximum of two unknowns before them", more);
}

static void report_gates(guesser *g, uint32_t gates, uint32_t tanhs, const char *text)
{
    if (gates > tanhs)
        add_guess(g, "sigmoid", "1 / (1 + e): %u%s%s", gates - tanhs, *text ? "; " : "", text);
    if (tanhs)
        add_guess(g, "hyperbolic tangent", "1 − 2 / (1 + e): %u%s%s", tanhs, *text ? "; " : "", text);
}

/* What the exponentials of the epilogue are, and the marks of what is computed from them. */
static uint32_t find_exponentials(guesser *g, uint32_t *first)
{
    uint32_t n = 0;
    clear_marks(g);
    for (uint32_t i = g->first; i < g->end; i++) {
        if (!is_exponential(g, i))
            continue;
        g->mark[i] = 1;
        if (!is_half_of_one(g, i))
            *first = n++ ? *first : i;
    }
    if (n)
        spread(g);
    return n;
}

void guess_softmax(guesser *g)
{
    uint32_t first = PTI_NONE, exponentials = find_exponentials(g, &first), tanhs;
    char text[700] = "";
    if (!exponentials)
        return;
    uint32_t sums = count_sums(g), gates = count_sigmoids(g, &tanhs), shuffles = count_marked(g, PTI_WORK_SHUFFLE, NULL);
    uint32_t exchanged = sums ? count_exchanged_inverses(g) : 0, inverses = sums ? count_inverses(g) : 0;
    inverses = inverses ? inverses : exchanged;
    uint32_t elsewhere = sums && !inverses ? count_inverses_elsewhere(g) : 0;
    bool softmax = sums && inverses + elsewhere;
    append(text, sizeof text, "exponentials: %u by %s", softmax ? exponentials - gates : exponentials,
           is_mnemonic(g, first, "ex2") ? opcode_text(g, first) : "bits shifted into the exponent");
    append_exponential(g, first, text, sizeof text);
    if (softmax) {
        find_exponentials(g, &first);      /* the marks that counting inverses took away */
        report_softmax(g, text, sums, shuffles, inverses, elsewhere);
    } else if (!gates) {
        add_guess(g, "exponentials", "%s", text);
    }
    report_gates(g, gates, tanhs, softmax ? "" : text);
}

/* Inverses of a softmax's sums whose exponentials stand in another epilogue. */
void guess_division(guesser *g)
{
    uint32_t n = 0, of = 0, scaled = 0;
    clear_marks(g);
    for (uint32_t i = g->first; i < g->end; i++)
        if (g->inverse_of[i] && g->inverse_of[i] != g->index + 1) {
            of = g->inverse_of[i] - 1;
            g->mark[i] = 1;
            n++;
        }
    if (!n)
        return;
    spread(g);
    for (uint32_t i = g->first; i < g->end; i++)
        scaled += g->mark[i] == 2 && is_mnemonic(g, i, "mul");
    add_guess(g, "division by a softmax's sum", "inverses of what E%u sums up: %u, multiplications by them: %u", of, n, scaled);
}

/* ------------------------------------------------------------ activations */

typedef struct family { char text[PTI_FORMULA_TEXT]; uint32_t count, phase; } family;

static void note_formula(const guesser *g, uint32_t value, family *families, uint32_t *n)
{
    pti_formula f;
    uint32_t k = 0;
    if (value == PTI_NONE || !pti_find_formula(g->flow, g->phases, g->opcodes, value, 0, &f) || !f.bends || !f.nconstants || !f.nfloats)
        return;
    const pti_value *leaf = &g->flow->values[f.leaf];
    uint32_t phase = leaf->kind == PTI_VALUE_INSN ? g->phases->of_insn[leaf->at] : PTI_NONE;
    while (k < *n && (strcmp(families[k].text, f.text) != 0 || families[k].phase != phase))
        k++;
    if (k == 4)
        return;
    if (k == *n) {
        memcpy(families[k].text, f.text, sizeof f.text);
        families[k].count = 0, families[k].phase = phase;
        (*n)++;
    }
    families[k].count++;
}

/* The values that leave: what packs read, what is stored, what goes into the next phase as it is. */
static void note_results(const guesser *g, family *families, uint32_t *n)
{
    for (uint32_t i = g->first; i < g->end; i++) {
        const ptx_insn *insn = &g->flow->function->insns[i];
        pti_work w = work_of_insn(g, i);
        if (w == PTI_WORK_PACK)
            note_formula(g, source_value(g, i, 0), families, n);
        for (uint32_t k = 0; w == PTI_WORK_STORE && k < insn->noperands; k++)
            for (uint32_t j = 0; insn->operands[k].kind == ISA_OPERAND_SRC_VECTOR && j < insn->operands[k].nvalues; j++)
                if (insn->operands[k].values[j].kind == PTX_VALUE_REG)
                    note_formula(g, pti_value_read(g->flow, i, insn->operands[k].values[j].reg), families, n);
    }
}

void guess_activation(guesser *g)
{
    family families[4];
    uint32_t n = 0;
    note_results(g, families, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (families[i].phase == PTI_NONE)
            add_guess(g, "function of one value", "%s; results: %u", families[i].text, families[i].count);
        else
            add_guess(g, "activation", "%s with x of P%u's D; results: %u", families[i].text, families[i].phase + 1, families[i].count);
    }
}
