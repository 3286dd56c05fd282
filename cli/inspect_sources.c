/* inspect_sources.c - what operands of phases are made of, as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "cli/inspect_memory.h"
#include "cli/inspect_phases.h"

/* ------------------------------------------------------------ loads */

static load_group group_of(const inspection *x, uint32_t insn)
{
    load_group g = {.opcode = x->opcodes.of_insn[insn], .count = 1, .first_insn = insn, .last_insn = insn, .pattern = PTI_NONE};
    uint32_t access = x->addresses ? pti_access_of_insn(x->addresses, insn) : PTI_NONE;
    if (access != PTI_NONE) {
        const pti_access *a = &x->addresses->list[access];
        while (!a->reads && a + 1 < x->addresses->list + x->addresses->count && a[1].insn == insn)     /* a copy: where from */
            a++;
        g.pattern = a->pattern;
        g.least = g.most = x->symbols->sums[a->offset].constant;
        g.bytes = a->bytes;
    }
    return g;
}

static uint32_t group_loads_from(const inspection *x, const pti_sources *s, uint32_t from, load_group *groups, uint32_t room)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nroots; i++) {
        uint32_t k = 0;
        if (s->roots[i].kind != PTI_ORIGIN_LOAD || s->roots[i].at < from)
            continue;
        load_group g = group_of(x, s->roots[i].at);
        while (k < n && k < room && (groups[k].opcode != g.opcode || groups[k].pattern != g.pattern || groups[k].bytes != g.bytes))
            k++;
        if (k >= room) {
            n++;
            continue;
        }
        if (k == n) {
            groups[n++] = g;
            continue;
        }
        groups[k].count++;
        groups[k].least = g.least < groups[k].least ? g.least : groups[k].least;
        groups[k].most = g.most > groups[k].most ? g.most : groups[k].most;
        groups[k].last_insn = g.last_insn;
    }
    return n;
}

uint32_t group_loads(const inspection *x, const pti_sources *s, load_group *groups, uint32_t room)
{
    return group_loads_from(x, s, 0, groups, room);
}

/* A text that snprintf had to cut ends in "…", not inside a character. */
static void mark_cut(char *buffer, size_t size, size_t needed)
{
    size_t end = size - 1 - strlen("…");
    if (needed < size || size < 8)
        return;
    while (end && ((unsigned char)buffer[end] & 0xc0) == 0x80)
        end--;
    strcpy(buffer + end, "…");
}

const char *base_text(const inspection *x, const load_group *g, char *buffer, size_t size)
{
    pti_names names = {.statements = &x->statements};
    buffer[0] = '\0';
    if (g->pattern == PTI_NONE)
        return buffer;
    uint32_t base = x->addresses->bases[x->addresses->patterns[g->pattern].base].atom;
    if (base != PTI_NONE)
        mark_cut(buffer, size, pti_atom_text(x->symbols, &names, base, buffer, size));
    return buffer;
}

const char *index_text(const inspection *x, const load_group *g, char *buffer, size_t size)
{
    pti_names names = {.statements = &x->statements};
    int64_t zero;
    buffer[0] = '\0';
    if (g->pattern == PTI_NONE || pti_is_constant(x->symbols, x->addresses->patterns[g->pattern].form, &zero))
        return buffer;
    mark_cut(buffer, size, pti_poly_text(x->symbols, &names, x->addresses->patterns[g->pattern].form, buffer, size));
    return buffer;
}

const char *pattern_text(const inspection *x, const load_group *g, char *buffer, size_t size)
{
    char index[ADDRESS_TEXT];
    base_text(x, g, buffer, size);
    index_text(x, g, index, sizeof index);
    size_t n = strlen(buffer);
    if (*index)
        mark_cut(buffer, size, n + (size_t)snprintf(buffer + n, size - n, "%s%s", n ? " + " : "", index));
    return buffer;
}

const char *words_text(const load_group *g, char *buffer, size_t size)
{
    int64_t word = g->bytes < 4 ? g->bytes : 4, last = g->most + (int64_t)g->bytes - word;
    if (last == g->least)
        snprintf(buffer, size, "%" PRId64, g->least);
    else
        snprintf(buffer, size, "%" PRId64 "…%" PRId64, g->least, last);
    return buffer;
}

/* Of an operand that is computed only what is loaded after the phase before. */
const char *range_of_source(const inspection *x, uint32_t p, int role, char *buffer, size_t size)
{
    const pti_sources *s = &x->sources[p * PTI_ROLES + (uint32_t)role];
    load_group groups[3];
    char pattern[ADDRESS_TEXT], words[64];
    uint32_t from = 0, n;
    if (!s->direct && x->epilogues.list[p].first < x->statements.count)
        from = x->statements.list[x->epilogues.list[p].first].first_insn;
    n = group_loads_from(x, s, from, groups, 3);
    buffer[0] = '\0';
    for (uint32_t i = 0; i < n && i < 3; i++)
        if (*pattern_text(x, &groups[i], pattern, sizeof pattern))
            append_text(buffer, size, "%s%s: %s", *buffer ? "; " : "", pattern, words_text(&groups[i], words, sizeof words));
    if (n > 3)
        append_text(buffer, size, "; …");
    return buffer;
}

const char *short_source_text(const inspection *x, const pti_sources *s, char *buffer, size_t size)
{
    enum { MOST = 6 };
    pti_count counts[MOST];
    uint32_t n = 0, phases = 0, packs = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < s->nroots; i++) {
        uint32_t opcode = s->roots[i].kind == PTI_ORIGIN_LOAD ? x->opcodes.of_insn[s->roots[i].at] : 0, k = 0;
        if (s->roots[i].kind == PTI_ORIGIN_PHASE && phases++ < MOST)
            append_text(buffer, size, "%sP%u's D", *buffer ? ", " : "", s->roots[i].at + 1);
        if (s->roots[i].kind != PTI_ORIGIN_LOAD)
            continue;
        while (k < n && counts[k].opcode != opcode)
            k++;
        if (k == n && n < MOST)
            counts[n++] = (pti_count){opcode, 0};
        if (k < MOST)
            counts[k].count++;
    }
    for (uint32_t i = 0; i < n; i++)
        append_text(buffer, size, "%s%u %s", *buffer ? ", " : "", counts[i].count, x->opcodes.list[counts[i].opcode].text);
    if (s->direct)
        return buffer;
    for (uint32_t i = 0; i < s->nthrough; i++)
        packs += x->opcodes.list[x->opcodes.of_insn[s->through[i]]].work == PTI_WORK_PACK;
    append_text(buffer, size, packs == s->nthrough ? ", packed" : ", computed");
    return buffer;
}

/* ------------------------------------------------------------ the whole operand */

static void append_loads(const inspection *x, const pti_sources *s, char *buffer, size_t size)
{
    load_group groups[4];
    char pattern[ADDRESS_TEXT], words[64];
    uint32_t n = group_loads(x, s, groups, 4);
    for (uint32_t i = 0; i < n && i < 4; i++) {
        append_text(buffer, size, "%s%u %s", *buffer ? ", " : "", groups[i].count, x->opcodes.list[groups[i].opcode].text);
        if (*pattern_text(x, &groups[i], pattern, sizeof pattern))
            append_text(buffer, size, " [%s: %s]", pattern, words_text(&groups[i], words, sizeof words));
    }
    if (n > 4)
        append_text(buffer, size, ", loads of %u more kinds", n - 4);
}

/* Constants are named by their value where all of them fold to one. */
static void append_constants(const inspection *x, const pti_sources *s, char *buffer, size_t size)
{
    uint32_t n = 0;
    uint64_t value = 0, bits;
    bool same = true;
    for (uint32_t i = 0; i < s->nroots; i++) {
        if (s->roots[i].kind != PTI_ORIGIN_CONSTANT)
            continue;
        const ptx_insn *insn = &x->function->insns[s->roots[i].at];
        const ptx_value *v = insn->noperands == 2 && insn->operands[1].nvalues == 1 ? &insn->operands[1].values[0] : NULL;
        bool known = v && v->kind == PTX_VALUE_IMM;
        bits = known ? v->imm : 0;
        same = same && known && (n == 0 || bits == value);
        value = bits;
        n++;
    }
    if (!n)
        return;
    if (same)
        append_text(buffer, size, "%sthe constant 0x%" PRIx64, *buffer ? ", " : "", value);
    else
        append_text(buffer, size, "%s%u constants", *buffer ? ", " : "", n);
}

static int by_number(const void *a, const void *b)
{
    const pti_count *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (x->opcode > y->opcode) - (x->opcode < y->opcode);
}

/* Opcodes on the way, most frequent first. */
static void append_through(const inspection *x, const pti_sources *s, char *buffer, size_t size)
{
    pti_count *counts = calloc(x->opcodes.count + 1, sizeof *counts);
    if (!counts || !s->nthrough) {
        free(counts);
        return;
    }
    for (uint32_t i = 0; i < x->opcodes.count; i++)
        counts[i].opcode = i;
    for (uint32_t i = 0; i < s->nthrough; i++)
        counts[x->opcodes.of_insn[s->through[i]]].count++;
    qsort(counts, x->opcodes.count, sizeof *counts, by_number);
    append_text(buffer, size, " through");
    for (uint32_t i = 0; i < x->opcodes.count && counts[i].count && i < 8; i++)
        append_text(buffer, size, "%s %u %s", i ? "," : "", counts[i].count, x->opcodes.list[counts[i].opcode].text);
    if (x->opcodes.count > 8 && counts[8].count)
        append_text(buffer, size, ", …");
    free(counts);
}

const char *source_text(const inspection *x, const pti_sources *s, char *buffer, size_t size)
{
    uint32_t specials = 0, unwritten = 0;
    buffer[0] = '\0';
    for (uint32_t i = 0; i < s->nroots; i++) {
        if (s->roots[i].kind == PTI_ORIGIN_PHASE)
            append_text(buffer, size, "%sP%u's D", *buffer ? ", " : "", s->roots[i].at + 1);
        specials += s->roots[i].kind == PTI_ORIGIN_SPECIAL;
        unwritten += s->roots[i].kind == PTI_ORIGIN_UNWRITTEN;
    }
    append_loads(x, s, buffer, size);
    append_constants(x, s, buffer, size);
    if (specials)
        append_text(buffer, size, "%s%u special registers", *buffer ? ", " : "", specials);
    if (unwritten)
        append_text(buffer, size, "%s%u registers that are not written before", *buffer ? ", " : "", unwritten);
    append_through(x, s, buffer, size);
    if (s->cut)
        append_text(buffer, size, "; the search was cut short");
    return buffer;
}

const char *stored_text(const inspection *x, const pti_stored *s, char *buffer, size_t size)
{
    char data[1600], range[32];
    buffer[0] = '\0';
    if (!s->nstores)
        return buffer;
    append_text(buffer, size, "stored at %s by %u %s", range_text(pti_statement_of_insn(&x->statements, s->stores[0]),
                pti_statement_of_insn(&x->statements, s->stores[s->nstores - 1]), range), s->nstores,
                x->opcodes.list[x->opcodes.of_insn[s->stores[0]]].text);
    append_text(buffer, size, ": %s", source_text(x, &s->data, data, sizeof data));
    return buffer;
}
