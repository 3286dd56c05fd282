/* guess.c - rules that look at data movement: requantisation, residuals, operands of later phases, exchange, stores. */
#include "ptx/inspect/guess.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/flow_internal.h"
#include "ptx/inspect/guess_internal.h"

/* ------------------------------------------------------------ helpers */

static const char *keep_text(guesser *g, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = ptx_arena_alloc(&g->epilogues->arena, n, 1);
    g->failed = g->failed || !copy;
    return copy ? memcpy(copy, text, n) : "";
}

void add_guess(guesser *g, const char *name, const char *format, ...)
{
    char evidence[MAX_EVIDENCE];
    va_list args;
    va_start(args, format);
    vsnprintf(evidence, sizeof evidence, format, args);
    va_end(args);
    if (g->e->nguesses < MAX_GUESSES)
        g->found[g->e->nguesses++] = (pti_guess){keep_text(g, name), keep_text(g, evidence)};
}

void append(char *text, size_t size, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, size - n, format, args);
    va_end(args);
}

const char *opcode_text(const guesser *g, uint32_t insn)
{
    return g->opcodes->list[g->opcodes->of_insn[insn]].text;
}

pti_work work_of_insn(const guesser *g, uint32_t insn)
{
    return g->opcodes->list[g->opcodes->of_insn[insn]].work;
}

bool is_mnemonic(const guesser *g, uint32_t insn, const char *mnemonic)
{
    const ptx_insn *i = &g->flow->function->insns[insn];
    return i->form && strcmp(i->form->mnemonic, mnemonic) == 0;
}

static const ptx_value *source_of(const guesser *g, uint32_t insn, uint32_t i)
{
    const ptx_insn *x = &g->flow->function->insns[insn];
    return i + 1 < x->noperands && x->operands[i + 1].nvalues == 1 ? &x->operands[i + 1].values[0] : NULL;
}

uint32_t source_value(const guesser *g, uint32_t insn, uint32_t i)
{
    const ptx_value *v = source_of(g, insn, i);
    return v && v->kind == PTX_VALUE_REG ? pti_value_read(g->flow, insn, v->reg) : PTI_NONE;
}

bool source_constant(const guesser *g, uint32_t insn, uint32_t i, uint64_t *bits)
{
    const ptx_value *v = source_of(g, insn, i);
    return v && pti_fold_operand(g->flow, g->opcodes, insn, v, bits);
}

enum { MAX_PHIS = 1000, VALUES_PER_INSTRUCTION = 64 };      /* searches of one function together */

/* Phis remember; one that is being looked at has no mark yet, which ends cycles. */
static bool is_marked_within(const guesser *g, uint32_t value, int depth)
{
    if (value == PTI_NONE)
        return false;
    const pti_value *v = &g->flow->values[value];
    if (v->kind == PTI_VALUE_INSN)
        return v->at >= g->first && v->at < g->end && g->mark[v->at];
    if (v->kind == PTI_VALUE_ENTRY || depth == MAX_PHIS || g->marked[value] == g->rule || g->visited[value] == g->pass)
        return v->kind == PTI_VALUE_PHI && g->marked[value] == g->rule;
    g->visited[value] = g->pass;
    for (uint32_t k = 0; k < v->noperands; k++)
        if (v->operands[k] != value && is_marked_within(g, v->operands[k], depth + 1)) {
            g->marked[value] = g->rule;
            return true;
        }
    return false;
}

bool is_marked(const guesser *g, uint32_t value)
{
    return is_marked_within(g, value, 0);
}

void clear_marks(guesser *g)
{
    memset(g->mark + g->first, 0, g->end - g->first);
    g->rule++;
    g->pass++;
}

static bool spread_once(guesser *g)
{
    bool changed = false;
    g->pass++;
    for (uint32_t i = g->first; i < g->end; i++) {
        bool reads = false;
        for (uint32_t u = g->flow->first_use[i]; u < g->flow->first_use[i + 1] && !reads; u++)
            reads = is_marked(g, g->flow->uses[u].value);
        uint8_t mark = (uint8_t)(g->mark[i] == 1 ? 3 : g->mark[i] == 0 && reads ? 2 : g->mark[i]);
        changed = changed || mark != g->mark[i];
        g->mark[i] = mark;
    }
    return changed;
}

/* Definitions stand before uses in the text, save round loops: a few passes take marks round those. */
void spread(guesser *g)
{
    for (int pass = 0; pass < 4 && spread_once(g); pass++)
        ;
}

static void count_opcode(char *text, size_t size, uint32_t count, const char *opcode)
{
    append(text, size, "%s%u %s", *text ? ", " : "", count, opcode);
}

/* "72 ld.global.u32, 6 ld.shared.v4.u32": what of the epilogue is of one kind of work, and of one space unless it is PTX_SPACE_REG. */
static uint32_t list_opcodes(const guesser *g, pti_work work, ptx_space space, char *text, size_t size)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->e->nops; i++) {
        const pti_opcode *o = &g->opcodes->list[g->e->ops[i].opcode];
        if (o->work != work || (space != PTX_SPACE_REG && o->space != space))
            continue;
        n += g->e->ops[i].count;
        count_opcode(text, size, g->e->ops[i].count, o->text);
    }
    return n;
}

/* ------------------------------------------------------------ where packs go */

static void find_uses_of_packs(guesser *g)
{
    for (uint32_t p = 0; p < g->phases->count * PTI_ROLES; p++)
        for (uint32_t i = 0; i < g->sources[p].nthrough; i++) {
            uint32_t insn = g->sources[p].through[i];
            if (work_of_insn(g, insn) == PTI_WORK_PACK && !g->goes_to[insn])
                g->goes_to[insn] = p + 1;
        }
}

static void find_stored_packs(guesser *g)
{
    uint32_t *values = NULL, room = 0;
    for (uint32_t i = 0; i < g->flow->function->ninsns && !g->failed; i++) {
        const ptx_insn *insn = &g->flow->function->insns[i];
        pti_sources found;
        uint32_t n = 0;
        if (work_of_insn(g, i) != PTI_WORK_STORE)
            continue;
        for (uint32_t k = 0; k < insn->noperands; k++)
            for (uint32_t j = 0; insn->operands[k].kind != ISA_OPERAND_ADDRESS && j < insn->operands[k].nvalues; j++) {
                if (n == room) {
                    room += 64;
                    uint32_t *more = realloc(values, room * sizeof *values);
                    if (!more) {
                        g->failed = true;
                        free(values);
                        return;
                    }
                    values = more;
                }
                if (insn->operands[k].values[j].kind == PTX_VALUE_REG)
                    values[n++] = pti_value_read(g->flow, i, insn->operands[k].values[j].reg);
            }
        g->failed = g->failed || !pti_find_sources(&g->search, values, n, &found);
        for (uint32_t j = 0; !g->failed && j < found.nthrough; j++)
            if (work_of_insn(g, found.through[j]) == PTI_WORK_PACK)
                g->stored[found.through[j]] |= (uint8_t)(1u << g->opcodes->list[g->opcodes->of_insn[i]].space);
    }
    free(values);
}

/* "P14's A" of a number in goes_to. */
static void append_role(char *text, size_t size, uint32_t number, uint32_t count)
{
    append(text, size, "%s", *text ? ", " : "");
    if (count)
        append(text, size, "%u for ", count);
    append(text, size, "P%u's %c", number / PTI_ROLES + 1, "ABC"[number % PTI_ROLES]);
}

static bool is_result_of(const guesser *g, uint32_t value, uint32_t phase)
{
    value = pti_origin(g->flow, value);
    return value != PTI_NONE && g->flow->values[value].kind == PTI_VALUE_INSN && g->phases->of_insn[g->flow->values[value].at] == phase;
}

static void guess_requantise(guesser *g)
{
    char opcodes[256] = "", to[256] = "";
    uint32_t n = list_opcodes(g, PTI_WORK_PACK, PTX_SPACE_REG, opcodes, sizeof opcodes), spaces = 0, nroles = 0, plain = 0;
    struct { uint32_t number, count; } roles[8];
    if (!n)
        return;
    for (uint32_t i = g->first; i < g->end; i++) {
        if (work_of_insn(g, i) != PTI_WORK_PACK)
            continue;
        spaces |= g->stored[i];
        plain += is_result_of(g, source_value(g, i, 0), g->index - 1);
        uint32_t k = 0;
        while (g->goes_to[i] && k < nroles && roles[k].number != g->goes_to[i] - 1)
            k++;
        if (!g->goes_to[i] || k == 8)
            continue;
        if (k == nroles)
            roles[nroles].number = g->goes_to[i] - 1, roles[nroles++].count = 0;
        roles[k].count++;
    }
    for (uint32_t k = 0; k < nroles; k++)
        append_role(to, sizeof to, roles[k].number, roles[k].count);
    if (g->index && plain)
        append(to, sizeof to, "%sof P%u's D as it is: %u", *to ? "; " : "", g->index, plain);
    char name[320] = "requantise";
    if (spaces)
        append(name, sizeof name, " and store (%s%s%s)", spaces & 1u << PTX_SPACE_SHARED ? "shared" : "",
               (spaces & 1u << PTX_SPACE_SHARED) && (spaces & 1u << PTX_SPACE_GLOBAL) ? ", " : "", spaces & 1u << PTX_SPACE_GLOBAL ? "global" : "");
    if (nroles) {
        append(name, sizeof name, " →");
        for (uint32_t k = 0; k < nroles; k++)
            append(name, sizeof name, "%s P%u's %c", k ? "," : "", roles[k].number / PTI_ROLES + 1, "ABC"[roles[k].number % PTI_ROLES]);
    }
    add_guess(g, name, "%s%s%s", opcodes, *to ? ": " : "", to);
}

/* ------------------------------------------------------------ residuals, operands, exchange, stores */

/* The accumulator of the next phase is a sum of something loaded or computed before. */
static void guess_residual(guesser *g)
{
    uint32_t adds = 0, here = 0, far = 0, nphases = 0;
    char phases[96] = "", name[64];
    if (g->index >= g->phases->count)
        return;
    const pti_sources *c = &g->sources[g->index * PTI_ROLES + PTI_ROLE_C];
    for (uint32_t i = 0; i < c->nthrough; i++) {
        bool add = is_mnemonic(g, c->through[i], "add") || is_mnemonic(g, c->through[i], "sub");
        if (!add && work_of_insn(g, c->through[i]) != PTI_WORK_CONVERT && work_of_insn(g, c->through[i]) != PTI_WORK_UNPACK)
            return;
        adds += add && c->through[i] >= g->first && c->through[i] < g->end;
    }
    for (uint32_t i = 0; i < c->nroots; i++) {
        if (c->roots[i].kind == PTI_ORIGIN_PHASE && nphases++ < 8)
            append(phases, sizeof phases, "%sP%u", *phases ? ", " : "", c->roots[i].at + 1);
        here += c->roots[i].kind == PTI_ORIGIN_LOAD && c->roots[i].at >= g->first && c->roots[i].at < g->end;
        far += c->roots[i].kind == PTI_ORIGIN_LOAD && c->roots[i].at < g->first;
    }
    if (!adds || nphases + here + far < 2)
        return;
    snprintf(name, sizeof name, "residual add → P%u's C", g->index + 1);
    add_guess(g, name, "additions: %u; of %s%s%sloads here: %u%s", adds, nphases ? "D of " : "", phases, nphases ? ", " : "", here,
              far ? ", and of values carried from earlier loads" : "");
}

/* Values that lanes exchange and combine: sums, maxima … over lanes. */
static void guess_reduction(guesser *g)
{
    static const char *const ways[] = {"add", "max", "min", "mul", "and", "or", "xor"};
    uint32_t counts[7] = {0}, example[7] = {0};
    char text[256] = "";
    for (uint32_t i = g->first; i < g->end; i++)
        for (uint32_t w = 0; w < 7; w++) {
            uint32_t at[2];
            if (!is_mnemonic(g, i, ways[w]))
                continue;
            for (uint32_t k = 0; k < 2; k++)
                at[k] = computed_by(g, source_value(g, i, k));
            for (uint32_t k = 0; k < 2; k++)
                if (at[k] != PTI_NONE && is_mnemonic(g, at[k], "shfl") &&
                    leaf_of(g, source_value(g, at[k], 0)) == leaf_of(g, source_value(g, i, 1 - k))) {
                    example[w] = i;
                    counts[w]++;
                    break;
                }
        }
    for (uint32_t w = 0; w < 7; w++)
        if (counts[w])
            count_opcode(text, sizeof text, counts[w], opcode_text(g, example[w]));
    if (*text)
        add_guess(g, "reduction over lanes", "of a value and what another lane has of it: %s", text);
}

/* Additions of two values that come from memory through conversions only. */
static void guess_sums(guesser *g)
{
    uint32_t adds = 0;
    bool several = false;
    const char *opcode = "", *from[2] = {"", ""};
    for (uint32_t i = g->first; i < g->end; i++) {
        uint32_t at[2];
        if (!is_mnemonic(g, i, "add") || work_of_insn(g, i) != PTI_WORK_FLOAT)
            continue;
        for (uint32_t k = 0; k < 2; k++)
            at[k] = computed_by(g, source_value(g, i, k));
        if (at[0] == PTI_NONE || at[1] == PTI_NONE || at[0] == at[1] || work_of_insn(g, at[0]) != PTI_WORK_LOAD ||
            work_of_insn(g, at[1]) != PTI_WORK_LOAD)
            continue;
        several |= adds++ && strcmp(opcode, opcode_text(g, i)) != 0;
        opcode = opcode_text(g, i);
        from[0] = opcode_text(g, at[0]), from[1] = opcode_text(g, at[1]);
    }
    if (adds)
        add_guess(g, "sum of two inputs", "%u %s%s of %s and %s", adds, opcode, several ? " and others" : "", from[0], from[1]);
}

static void guess_operands(guesser *g)
{
    char text[MAX_EVIDENCE] = "", name[320] = "operands:";
    uint32_t most = g->phases->count < g->index + 64 ? g->phases->count : g->index + 64, nroles = 0;
    for (uint32_t p = g->index * PTI_ROLES; p < most * PTI_ROLES; p++) {
        uint32_t n = 0, insn = PTI_NONE;
        for (uint32_t i = 0; g->sources[p].direct && i < g->sources[p].nroots; i++) {
            const pti_root *r = &g->sources[p].roots[i];
            if (r->kind == PTI_ORIGIN_LOAD && r->at >= g->first && r->at < g->end)
                n++, insn = r->at;
        }
        if (!n)
            continue;
        append(text, sizeof text, "%s%u %s → P%u's %c", *text ? "; " : "", n, opcode_text(g, insn), p / PTI_ROLES + 1, "ABC"[p % PTI_ROLES]);
        if (nroles++ < 6)
            append(name, sizeof name, "%s P%u's %c", nroles > 1 ? "," : "", p / PTI_ROLES + 1, "ABC"[p % PTI_ROLES]);
    }
    if (nroles > 6)
        append(name, sizeof name, "…");
    if (nroles)
        add_guess(g, name, "loaded as they are used: %s", text);
}

/* Is any of the asynchronous work more than closing groups and waiting for them? */
static bool has_copies(const guesser *g)
{
    for (uint32_t i = g->first; i < g->end; i++) {
        const char *text = opcode_text(g, i);
        if (work_of_insn(g, i) == PTI_WORK_ASYNC && !strstr(text, "_group") && !strstr(text, "wait"))
            return true;
    }
    return false;
}

static void guess_shared(guesser *g)
{
    char stores[256] = "", loads[256] = "", bars[128] = "", copies[256] = "";
    uint32_t nstores = list_opcodes(g, PTI_WORK_STORE, PTX_SPACE_SHARED, stores, sizeof stores);
    uint32_t nloads = list_opcodes(g, PTI_WORK_LOAD, PTX_SPACE_SHARED, loads, sizeof loads);
    list_opcodes(g, PTI_WORK_BARRIER, PTX_SPACE_REG, bars, sizeof bars);
    list_opcodes(g, PTI_WORK_ASYNC, PTX_SPACE_REG, copies, sizeof copies);
    if (*copies)
        add_guess(g, has_copies(g) ? "asynchronous copies" : "waits for asynchronous copies", "%s", copies);
    if (nstores && nloads)
        add_guess(g, "exchange through shared memory", "%s; %s; %s", stores, *bars ? bars : "no barrier", loads);
    else if (nstores || nloads)
        add_guess(g, nstores ? "stores to shared memory" : "reads shared memory", "%s%s%s%s", stores, loads, *bars ? "; " : "", bars);
}

static void guess_global(guesser *g)
{
    char stores[256] = "", surfaces[256] = "", textures[256] = "", unpacks[256] = "", matrix[128] = "", atomics[256] = "";
    list_opcodes(g, PTI_WORK_TEXTURE, PTX_SPACE_REG, textures, sizeof textures);
    list_opcodes(g, PTI_WORK_SURFACE, PTX_SPACE_REG, surfaces, sizeof surfaces);
    list_opcodes(g, PTI_WORK_STORE, PTX_SPACE_GLOBAL, stores, sizeof stores);
    list_opcodes(g, PTI_WORK_UNPACK, PTX_SPACE_REG, unpacks, sizeof unpacks);
    list_opcodes(g, PTI_WORK_TRANSPOSE, PTX_SPACE_REG, matrix, sizeof matrix);
    list_opcodes(g, PTI_WORK_ATOMIC, PTX_SPACE_REG, atomics, sizeof atomics);
    if (*matrix)
        add_guess(g, "transpose by movmatrix", "%s", matrix);
    if (*unpacks)
        add_guess(g, "unpack", "%s", unpacks);
    if (*textures)
        add_guess(g, "texture reads", "%s", textures);
    if (*surfaces)
        add_guess(g, strstr(surfaces, "sust") ? "surface store" : "surface access", "%s", surfaces);
    if (*stores)
        add_guess(g, "store to global memory", "%s", stores);
    if (*atomics)
        add_guess(g, "atomics", "%s", atomics);
}

static void guess_rest(guesser *g)
{
    const uint32_t *w = g->e->work;
    char loads[256] = "", special[256] = "";
    for (uint32_t i = 0; i < g->e->nops; i++) {
        const pti_opcode *o = &g->opcodes->list[g->e->ops[i].opcode];
        if (strncmp(o->text, "sin.", 4) == 0 || strncmp(o->text, "cos.", 4) == 0 || strncmp(o->text, "tanh.", 5) == 0 || strncmp(o->text, "lg2.", 4) == 0)
            count_opcode(special, sizeof special, g->e->ops[i].count, o->text);
    }
    if (*special)
        add_guess(g, "approximate functions", "%s", special);
    if (g->e->nguesses)
        return;
    uint32_t n = list_opcodes(g, PTI_WORK_LOAD, PTX_SPACE_REG, loads, sizeof loads);
    if (g->e->first == g->e->end)
        add_guess(g, "nothing", "the phases follow each other");
    else if (n)
        add_guess(g, "loads", "%s", loads);
    else
        add_guess(g, "arithmetic", "%u integer, %u floating, %u moves", w[PTI_WORK_INTEGER], w[PTI_WORK_FLOAT] + w[PTI_WORK_CONVERT], w[PTI_WORK_MOVE]);
}

static void guess_one(guesser *g, uint32_t index)
{
    g->e = &g->epilogues->list[index];
    g->index = index;
    g->first = g->e->first < g->s->count ? g->s->list[g->e->first].first_insn : g->flow->function->ninsns;
    g->end = g->first + g->e->ninsns;
    guess_softmax(g);
    guess_division(g);
    guess_norm(g);
    guess_activation(g);
    guess_reduction(g);
    guess_sums(g);
    guess_residual(g);
    guess_requantise(g);
    guess_global(g);
    guess_shared(g);
    guess_operands(g);
    guess_rest(g);
    g->e->guesses = ptx_arena_alloc(&g->epilogues->arena, (g->e->nguesses + 1) * sizeof *g->found, 8);
    g->failed = g->failed || !g->e->guesses;
    if (!g->failed)
        memcpy(g->e->guesses, g->found, g->e->nguesses * sizeof *g->found);
}

bool pti_guess_epilogues(const pti_statements *s, const pti_flow *flow, const pti_phases *phases, const pti_opcodes *opcodes,
                         const pti_sources *sources, pti_epilogues *epilogues)
{
    guesser g = {.s = s, .flow = flow, .phases = phases, .opcodes = opcodes, .sources = sources, .epilogues = epilogues};
    ptx_arena scratch;
    uint32_t n = flow->function->ninsns;
    ptx_arena_init(&scratch, SIZE_MAX);
    g.goes_to = pti_take(&scratch, n, sizeof *g.goes_to);
    g.stored = pti_take(&scratch, n, 1);
    g.mark = pti_take(&scratch, n, 1);
    g.other = pti_take(&scratch, n, 1);
    g.marked = pti_take(&scratch, flow->nvalues, sizeof *g.marked);
    g.visited = pti_take(&scratch, flow->nvalues, sizeof *g.visited);
    g.visited_insn = pti_take(&scratch, n, sizeof *g.visited_insn);
    g.stack = pti_take(&scratch, flow->nvalues, sizeof *g.stack);
    g.inverse_of = pti_take(&scratch, n, sizeof *g.inverse_of);
    g.list = pti_take(&scratch, 2 * (size_t)n, sizeof *g.list);
    g.budget = VALUES_PER_INSTRUCTION * (uint64_t)n;
    g.failed = !pti_begin_search(flow, phases, opcodes, &scratch, &g.search) || !g.goes_to || !g.stored || !g.mark || !g.other || !g.marked ||
               !g.visited || !g.visited_insn || !g.stack || !g.list ||
               !g.inverse_of;
    if (!g.failed) {
        find_uses_of_packs(&g);
        find_stored_packs(&g);
    }
    for (uint32_t i = 0; i < epilogues->count && !g.failed; i++)
        guess_one(&g, i);
    pti_end_search(&g.search);
    ptx_arena_free(&scratch);
    return !g.failed;
}
