/* guess_numeric.c - rules that look at arithmetic: softmax, norms, gates and activations. */
#include "ptx/inspect/guess_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint32_t computed_by(const guesser *g, uint32_t value)
{
    for (int i = 0; i < 16 && value != PTI_NONE; i++) {
        value = pti_origin(g->flow, value);
        const pti_value *v = &g->flow->values[value];
        if (v->kind != PTI_VALUE_INSN)
            return PTI_NONE;
        bool passes = work_of_insn(g, v->at) == PTI_WORK_CONVERT || work_of_insn(g, v->at) == PTI_WORK_UNPACK ||
                      (work_of_insn(g, v->at) == PTI_WORK_MOVE && g->flow->function->insns[v->at].noperands == 2);
        if (!passes)
            return v->at;
        uint32_t next = PTI_NONE;      /* the first register that it reads */
        if (g->flow->first_use[v->at] < g->flow->first_use[v->at + 1])
            next = g->flow->uses[g->flow->first_use[v->at]].value;
        value = next;
    }
    return PTI_NONE;
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

/* 1 / (1 + e). */
static uint32_t count_sigmoids(const guesser *g)
{
    uint32_t n = 0;
    uint64_t bits;
    double one;
    for (uint32_t i = g->first; i < g->end; i++) {
        bool div = is_mnemonic(g, i, "div");
        if (!g->mark[i] || !(div || is_mnemonic(g, i, "rcp")))
            continue;
        uint32_t sum = computed_by(g, source_value(g, i, div)), e = PTI_NONE;
        for (uint32_t k = 0; sum != PTI_NONE && is_mnemonic(g, sum, "add") && k < 2; k++)
            if (source_constant(g, sum, k, &bits) && pti_number(bits, pti_opcode_type(opcode_text(g, sum)), &one) && one == 1)
                e = computed_by(g, source_value(g, sum, 1 - k));
        n += e != PTI_NONE && is_exponential(g, e);
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

void guess_softmax(guesser *g)
{
    uint32_t exponentials = 0, first = PTI_NONE;
    char text[700] = "";
    clear_marks(g);
    for (uint32_t i = g->first; i < g->end; i++)
        if (is_exponential(g, i)) {
            g->mark[i] = 1;
            first = exponentials++ ? first : i;
        }
    if (!exponentials)
        return;
    spread(g);
    uint32_t sums = count_sums(g), gates = count_sigmoids(g), shuffles = count_marked(g, PTI_WORK_SHUFFLE, NULL);
    bool maximum = subtracts_maximum(g);
    uint32_t exchanged = sums ? count_exchanged_inverses(g) : 0, inverses = sums ? count_inverses(g) : 0;
    inverses = inverses ? inverses : exchanged;
    append(text, sizeof text, "exponentials: %u by %s", sums && inverses ? exponentials - gates : exponentials,
           is_mnemonic(g, first, "ex2") ? opcode_text(g, first) : "bits shifted into the exponent");
    append_exponential(g, first, text, sizeof text);
    if (sums && inverses) {
        add_guess(g, maximum ? "softmax with maximum" : "softmax without maximum", "%s; additions of them: %u, shuffles: %u, inverses: %u; %s", text, sums,
                  shuffles, inverses, maximum ? "a maximum is subtracted first" : "no maximum of two unknowns before them");
    } else if (!gates) {
        add_guess(g, "exponentials", "%s", text);
    }
    if (gates)
        add_guess(g, "sigmoid", "1 / (1 + e): %u%s%s", gates, sums && inverses ? "" : "; ", sums && inverses ? "" : text);
}

/* ------------------------------------------------------------ norms */

static bool is_square(const guesser *g, uint32_t insn)
{
    bool product = is_mnemonic(g, insn, "mul") || is_mnemonic(g, insn, "fma");
    if (!product || !is_float_opcode(opcode_text(g, insn)))
        return false;
    uint32_t a = pti_origin(g->flow, source_value(g, insn, 0));
    return a != PTI_NONE && a == pti_origin(g->flow, source_value(g, insn, 1));
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

/* What is added, and multiplied, just before a root is taken. */
static void append_epsilon(const guesser *g, uint32_t root, char *text, size_t size)
{
    char number[32];
    uint64_t bits;
    double v;
    uint32_t at = computed_by(g, source_value(g, root, 0));
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

/* Multiplications by what the roots give; g->other holds what was squared, which a norm multiplies by it. */
static uint32_t count_scaled(guesser *g, bool *values)
{
    uint32_t n = 0;
    clear_marks(g);
    for (uint32_t i = g->first; i < g->end; i++)
        g->mark[i] = is_mnemonic(g, i, "rsqrt") || is_mnemonic(g, i, "sqrt");
    spread(g);
    for (uint32_t i = g->first; i < g->end; i++) {
        bool divides = is_mnemonic(g, i, "div") && is_marked(g, source_value(g, i, 1));
        if (!g->mark[i] || !(is_mnemonic(g, i, "mul") || divides))
            continue;
        n++;
        for (uint32_t k = 0; k < 2 && !*values; k++) {
            uint32_t at = computed_by(g, source_value(g, i, k));
            *values = at != PTI_NONE && g->other[at];
        }
    }
    return n;
}

/* What is squared may be computed before the epilogue. */
static void mark_squared(guesser *g, uint8_t mark)
{
    for (uint32_t i = g->first; i < g->end; i++) {
        uint32_t at = is_square(g, i) ? computed_by(g, source_value(g, i, 0)) : PTI_NONE;
        if (at != PTI_NONE)
            g->other[at] = mark;
    }
}

void guess_norm(guesser *g)
{
    static const char *const names[] = {"RMS norm", "normalisation with mean", "root of squared differences"};
    static const char *const terms[] = {"x", "(x − mean)", "(x − y)"};
    uint32_t squares = 0, first = PTI_NONE, roots = 0, root = PTI_NONE;
    char text[256] = "";
    clear_marks(g);
    for (uint32_t i = g->first; i < g->end; i++)
        if (is_square(g, i)) {
            g->mark[i] = 1;
            first = squares++ ? first : i;
        }
    if (!squares)
        return;
    spread(g);
    for (uint32_t i = g->first; i < g->end; i++)
        if (g->mark[i] && (is_mnemonic(g, i, "rsqrt") || is_mnemonic(g, i, "sqrt")))
            root = roots++ ? root : i;
    if (!roots)
        return;
    squared what = what_is_squared(g, first);
    append(text, sizeof text, "%s(Σ%s²", is_mnemonic(g, root, "rsqrt") ? "rsqrt" : "sqrt", terms[what]);
    append_epsilon(g, root, text, sizeof text);
    uint32_t shuffles = count_marked(g, PTI_WORK_SHUFFLE, NULL);
    bool values = false;
    memset(g->other + g->first, 0, g->end - g->first);
    mark_squared(g, 1);
    uint32_t scaled = count_scaled(g, &values);
    mark_squared(g, 0);
    add_guess(g, what == SQUARED_VALUE && !values ? "root of a sum of squares" : names[what],
              "%s): %u, of squares: %u, shuffles: %u, multiplications by it: %u%s", text, roots, squares, shuffles, scaled,
              what == SQUARED_VALUE && values ? "; no mean is subtracted" : "");
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
        char of[32] = "a value";
        if (families[i].phase != PTI_NONE)
            snprintf(of, sizeof of, "P%u's D", families[i].phase + 1);
        add_guess(g, "activation", "%s with x of %s; results: %u", families[i].text, of, families[i].count);
    }
}
