/* inspect_memory_values.c - sections on shared memory between barriers, constants, and the lives of registers. */
#include "cli/inspect_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CARRIED = 40, MOST_REUSED = 20, MOST_SHOWN = 24 };

/* ------------------------------------------------------------ shared memory */

static const char *ranges_text(const pti_ranges *g, char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (uint32_t i = 0; i < g->count && i < PTI_MAX_RANGES; i++)
        append_text(buffer, size, "%s%" PRId64 "…%" PRId64, i ? ", " : "", g->list[i].from, g->list[i].to);
    if (g->count > PTI_MAX_RANGES)
        append_text(buffer, size, " … (%u runs, %" PRIu64 " bytes)", g->count, g->bytes);
    return buffer;
}

static void report_intervals(report *r, const inspection *x)
{
    static const char *const heads[] = {"from", "writes", "written", "reads", "read", "open", "conflicts"};
    const pti_shared *s = &x->memory->shared;
    report_table(r, "<><><>>", heads, 7);
    for (uint32_t i = 0; i < s->nintervals; i++) {
        const pti_interval *in = &s->intervals[i];
        char from[48], writes[24], reads[24], open[24], conflicts[24], written[256], read[256];
        snprintf(writes, sizeof writes, "%u", in->nwrites);
        snprintf(reads, sizeof reads, "%u", in->nreads);
        snprintf(open, sizeof open, "%u", in->nopen);
        snprintf(conflicts, sizeof conflicts, "%u", in->nconflicts);
        const char *cells[] = {in->barrier == PTI_NONE ? "entry" : insn_place_line(x, in->barrier, from), writes,
                               ranges_text(&in->written, written, sizeof written), reads, ranges_text(&in->read, read, sizeof read), open,
                               s->decided ? conflicts : "?"};
        report_row(r, cells);
    }
    report_table_end(r);
}

static void report_conflicts(report *r, const inspection *x)
{
    const pti_shared *s = &x->memory->shared;
    const pti_access *list = x->memory->addresses.list;
    for (uint32_t i = 0; i < s->nconflicts && i < MOST_SHOWN; i++) {
        const pti_conflict *c = &s->conflicts[i];
        char a[48], b[48];
        report_item(r, "%s: %s by warp %u and %s by warp %u %s byte %" PRId64 " with no barrier between them.",
                    c->both_write ? "Two writes" : "A read and a write", insn_place_line(x, list[c->a].insn, a), c->warp_a,
                    insn_place_line(x, list[c->b].insn, b), c->warp_b, c->uncertain ? "may touch" : "touch", c->byte);
    }
    if (s->nconflicts > MOST_SHOWN || s->more_conflicts)
        report_item(r, "… %s%u pairs of accesses in all.", s->more_conflicts ? "more than " : "", s->nconflicts);
    report_end(r);
}

static void report_barriers(report *r, const inspection *x)
{
    static const char *const heads[] = {"barrier", "verdict", "orders, for one"};
    static const char *const verdicts[] = {"needed", "redundant for shared memory", "not decided"};
    const pti_shared *s = &x->memory->shared;
    const pti_access *list = x->memory->addresses.list;
    report_table(r, "<<<", heads, 3);
    for (uint32_t i = 0; i < s->nbarriers; i++) {
        const pti_barrier *b = &s->barriers[i];
        char place[48], why[128] = "", one[48];
        if (b->verdict == PTI_NEEDED) {
            append_text(why, sizeof why, "%s", insn_place_line(x, list[b->before].insn, one));
            append_text(why, sizeof why, " before %s", insn_place_line(x, list[b->behind].insn, one));
        }
        const char *cells[] = {insn_place_line(x, b->insn, place), verdicts[b->verdict], why};
        report_row(r, cells);
    }
    report_table_end(r);
}

void report_shared(report *r, const inspection *x)
{
    const pti_shared *s = &x->memory->shared;
    if (s->naccesses == 0 && s->nbarriers == 0)
        return;
    report_heading(r, 3, "Shared memory between barriers");
    report_paragraph(r, "%" PRIu64 " bytes are allocated; %u accesses, the addresses of %u of them are not known for each thread.", s->size,
                     s->naccesses, s->nopen);
    report_intervals(r, x);
    for (uint32_t i = 0; i < s->noverruns && i < MOST_SHOWN; i++) {
        char place[48], name[CELL];
        const pti_access *a = &x->memory->addresses.list[s->overruns[i].access];
        report_item(r, "%s %s over %s: bytes %" PRId64 "…%" PRId64 " of %" PRIu64 "%s.", insn_place_line(x, a->insn, place),
                    s->overruns[i].uncertain ? "may go" : "goes", name_of_base(x, a->base, name, sizeof name), s->overruns[i].low,
                    s->overruns[i].high, s->overruns[i].size,
                    s->overruns[i].uncertain ? ", if branches that depend on more than the thread let all threads and turns there" : "");
    }
    report_end(r);
    if (s->noverruns == 0)
        report_paragraph(r, "No known access goes over its variable.");
    if (!s->decided) {
        report_paragraph(r, "Conflicts and the need for barriers are not decided: %s.", s->why_not);
        return;
    }
    report_conflicts(r, x);
    if (s->nconflicts == 0)
        report_paragraph(r, "No two warps touch a byte between barriers with one of them writing, as far as addresses are known.");
    if (s->nbarriers)
        report_barriers(r, x);
}

/* ------------------------------------------------------------ constants */

/* "0.5"; f64 literals that are powers of two as such. */
static const char *value_text(ptx_type type, uint64_t bits, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.17g", pti_float_value(type, bits));
    return buffer;
}

static const char *bits_text(ptx_type type, uint64_t bits, char *buffer, size_t size)
{
    int digits = (int)ptx_type_bits(type) / 4;
    const char *prefix = type == PTX_TYPE_F32 ? "0f" : type == PTX_TYPE_F64 ? "0d" : "0x";
    snprintf(buffer, size, "%s%0*" PRIX64, prefix, digits, bits);
    return buffer;
}

static const char *converted_text(const pti_literal *l, char *buffer, size_t size)
{
    buffer[0] = '\0';
    for (uint32_t i = 0; i < l->nconverted; i++) {
        char value[48], bits[32];
        append_text(buffer, size, "%s%s %s = %s", i ? "; " : "", ptx_type_name(l->converted[i].type),
                    bits_text(l->converted[i].type, l->converted[i].bits, bits, sizeof bits),
                    value_text(l->converted[i].type, l->converted[i].bits, value, sizeof value));
    }
    return buffer;
}

static const char *use_text(const inspection *x, const pti_literal *l, char *buffer, size_t size)
{
    char span[64], from[24], to[24];
    buffer[0] = '\0';
    if (l->nuses == 0)
        return "";
    append_text(buffer, size, "%s", span_text(x, l->first_use, l->last_use, span));
    if (x->phases.count) {
        append_text(buffer, size, ", %s", part_text(x, l->first_use, from));
        if (strcmp(from, part_text(x, l->last_use, to)) != 0)
            append_text(buffer, size, "…%s", to);
    }
    return buffer;
}

void report_constants(report *r, const inspection *x)
{
    static const char *const heads[] = {"register", "definition", "literal", "value", "after conversion", "uses", "where"};
    const pti_constants *c = &x->memory->constants;
    if (c->count == 0)
        return;
    report_heading(r, 3, "Constants");
    report_table(r, "<<<<<><", heads, 7);
    for (uint32_t i = 0; i < c->count; i++) {
        const pti_literal *l = &c->list[i];
        char reg[CELL] = "", place[64] = "", literal[32], value[48], converted[256], uses[24], where[160];
        if (l->ndefinitions) {
            snprintf(reg, sizeof reg, "%s", x->function->registers[l->reg].name);
            insn_place_line(x, l->first_definition, place);
            if (l->ndefinitions > 1)
                append_text(place, sizeof place, " +%u", l->ndefinitions - 1);
        }
        snprintf(uses, sizeof uses, "%u", l->nuses);
        const char *cells[] = {reg, place, bits_text(l->type, l->bits, literal, sizeof literal), value_text(l->type, l->bits, value, sizeof value),
                               converted_text(l, converted, sizeof converted), uses, use_text(x, l, where, sizeof where)};
        report_row(r, cells);
    }
    report_table_end(r);
}

/* ------------------------------------------------------------ lives */

static void report_carried(report *r, const inspection *x)
{
    static const char *const heads[] = {"defined in", "last used in", "over phases", "values", "for example"};
    const memory_analysis *m = x->memory;
    uint32_t n;
    pti_carried *list = pti_carried_lives(&m->lives, 2, &n);
    if (!list || n == 0) {
        free(list);
        return;
    }
    report_paragraph(r, "Values that are really carried over two phases or more, constants and special registers aside:");
    report_table(r, "<<>><", heads, 5);
    for (uint32_t i = 0; i < n && i < MOST_CARRIED; i++) {
        char from[24], to[24], over[24], count[24], example[CELL] = "", span[64];
        const pti_life *first = &m->lives.list[list[i].first_life];
        for (uint32_t k = 0; k < list[i].count && k < 3; k++) {
            const pti_life *l = &m->lives.list[list[i].example[k]];
            append_text(example, sizeof example, "%s%s %s", k ? ", " : "", x->function->registers[l->reg].name,
                        span_text(x, l->first, l->last, span));
        }
        snprintf(over, sizeof over, "%u", list[i].to - list[i].from);
        snprintf(count, sizeof count, "%u", list[i].count);
        const char *cells[] = {first->at_entry ? "entry" : part_text(x, first->first, from),
                               part_text(x, first->last, to), over, count, example};
        report_row(r, cells);
    }
    report_table_end(r);
    if (n > MOST_CARRIED)
        report_paragraph(r, "… and %u more ways.", n - MOST_CARRIED);
    free(list);
}

/* Names inside one { } block come and go with it; only the others are of interest. */
static bool is_local(const inspection *x, uint32_t reg)
{
    const pti_lives *l = &x->memory->lives;
    uint32_t first = pti_statement_of_insn(&x->statements, l->list[l->of_reg[reg]].first);
    for (uint32_t i = l->of_reg[reg]; i < l->of_reg[reg + 1]; i++)
        if (pti_statement_of_insn(&x->statements, l->list[i].first) != first || pti_statement_of_insn(&x->statements, l->list[i].last) != first)
            return false;
    return true;
}

static void report_reused_name(report *r, const inspection *x, uint32_t reg)
{
    const pti_lives *l = &x->memory->lives;
    uint32_t n = l->of_reg[reg + 1] - l->of_reg[reg];
    char text[CELL] = "", span[64];
    for (uint32_t i = 0; i < n && i < 6; i++) {
        const pti_life *life = &l->list[l->of_reg[reg] + i];
        append_text(text, sizeof text, "%s%s", i ? ", " : "", span_text(x, life->first, life->last, span));
    }
    report_item(r, "%s: %u values, %s%s", x->function->registers[reg].name, n, text, n > 6 ? " …" : "");
}

static void report_reused(report *r, const inspection *x)
{
    const pti_lives *l = &x->memory->lives;
    uint32_t local = 0, shown = 0;
    for (uint32_t reg = 0; reg < x->function->nregisters; reg++)
        local += l->of_reg[reg + 1] - l->of_reg[reg] > 1 && is_local(x, reg);
    report_paragraph(r, "%u names hold several values that have nothing to do with each other%s, and %u more do so inside of one { } block.",
                     l->nreused - local, l->nreused > local ? ", listed below" : "", local);
    for (uint32_t reg = 0; reg < x->function->nregisters && shown < MOST_REUSED; reg++)
        if (l->of_reg[reg + 1] - l->of_reg[reg] > 1 && !is_local(x, reg)) {
            report_reused_name(r, x, reg);
            shown++;
        }
    if (l->nreused - local > shown)
        report_item(r, "… and %u more names", l->nreused - local - shown);
    report_end(r);
}

static void report_across(report *r, const inspection *x)
{
    const pti_lives *l = &x->memory->lives;
    char text[CELL] = "";
    uint32_t most = 0;
    for (uint32_t p = 0; p < l->nphases; p++) {
        most = l->across[p] > l->across[most] ? p : most;
        if (strlen(text) < sizeof text - 32)
            append_text(text, sizeof text, "%sP%u %u", p ? ", " : "", p + 1, l->across[p]);
    }
    if (l->nphases)
        report_paragraph(r, "Words of 32 bits in registers that live where a phase begins: %s. Most: %u at P%u.", text, l->across[most], most + 1);
}

void report_lives(report *r, const inspection *x)
{
    const pti_lives *l = &x->memory->lives;
    report_heading(r, 3, "Registers");
    report_paragraph(r, "%u registers are used, for %u values.", x->function->nregisters, l->count);
    report_across(r, x);
    report_carried(r, x);
    report_reused(r, x);
}
