/* inspect_loops.c - the section on loops. */
#include "cli/inspect_memory.h"

#include <inttypes.h>
#include <string.h>

/* How often the body is executed by the threads that come there. */
static bool turns_of_body(const inspection *x, const pti_loop *l, int64_t *least, int64_t *most)
{
    bool any = false;
    for (uint32_t t = 0; l->last && t < x->memory->symbols.nthreads; t++) {
        int64_t n = l->last[t] < 0 ? -1 : l->test_leads ? l->last[t] : (int64_t)l->last[t] + 1;
        if (n < 0)
            continue;
        *least = !any || n < *least ? n : *least;
        *most = !any || n > *most ? n : *most;
        any = true;
    }
    return any;
}

/* "4", "0…3 by thread", "⌈(param_4 + 31) / 32⌉", "not known"; a loop that is left elsewhere too has at most as many. */
static const char *turns_text(const inspection *x, const pti_loop *l, char *buffer, size_t size)
{
    const memory_analysis *m = x->memory;
    int64_t least, most;
    char count[FORMULA];
    buffer[0] = '\0';
    if (!l->single && (l->last || l->count != PTI_NONE))
        append_text(buffer, size, "at most ");
    if (turns_of_body(x, l, &least, &most)) {
        append_text(buffer, size, least == most ? "%" PRId64 : "%" PRId64 "…", least);
        if (least != most)
            append_text(buffer, size, "%" PRId64 " by thread", most);
    } else if (l->last) {
        snprintf(buffer, size, "no thread comes there");
    } else if (l->count != PTI_NONE) {
        pti_poly_text(&m->symbols, &m->plain, l->count, count, sizeof count);
        bool sum = strchr(count, ' ') != NULL;
        if (l->divisor == 1)
            append_text(buffer, size, "%s", count);
        else
            append_text(buffer, size, sum ? "⌈(%s) / %" PRId64 "⌉" : "⌈%s / %" PRId64 "⌉", count, l->divisor);
    } else {
        snprintf(buffer, size, "not known");
    }
    return buffer;
}

static const char *condition_text(const inspection *x, const pti_loop *l, char *buffer, size_t size)
{
    char text[FORMULA];
    int64_t c;
    if (l->test == PTI_NONE)
        return "?";
    if (pti_is_constant(&x->memory->symbols, l->condition, &c))        /* the bound itself decides it */
        return (c != 0) == l->goes_on_if ? "always" : "never";
    pti_poly_text(&x->memory->symbols, &x->memory->plain, l->condition, text, sizeof text);
    snprintf(buffer, size, l->goes_on_if ? "%s" : "not %s", text);
    return buffer;
}

static uint32_t depth_of(const pti_loops *loops, const pti_loop *l)
{
    uint32_t depth = 1;
    for (uint32_t p = l->parent; p != PTI_NONE; p = loops->list[p].parent)
        depth++;
    return depth;
}

void report_loops(report *r, const inspection *x)
{
    static const char *const heads[] = {"loop", "statements", "inside", "turns", "goes on while", "tested at"};
    const pti_loops *loops = &x->memory->loops;
    if (loops->count == 0)
        return;
    report_heading(r, 3, "Loops");
    report_paragraph(r, "turn(s12) in formulas is how often the loop that begins at s12 has come round. Turns are those of the body.");
    report_table(r, "<<<<<<", heads, 6);
    for (uint32_t i = 0; i < loops->count; i++) {
        const pti_loop *l = &loops->list[i];
        uint32_t first = x->flow.blocks[l->head].first;
        char place[48], span[64], inside[48] = "", turns[2 * FORMULA], condition[2 * FORMULA], test[48] = "";
        if (l->parent != PTI_NONE)
            insn_place(x, x->flow.blocks[loops->list[l->parent].head].first, inside);
        if (l->test != PTI_NONE)
            insn_place(x, l->test, test);
        const char *cells[] = {insn_place_line(x, first, place), span_text(x, first, l->last_insn, span), inside,
                               turns_text(x, l, turns, sizeof turns), condition_text(x, l, condition, sizeof condition), test};
        report_row(r, cells);
    }
    report_table_end(r);
}

json_t *json_of_loops(const inspection *x)
{
    const pti_loops *loops = &x->memory->loops;
    json_t *list = json_array();
    for (uint32_t i = 0; i < loops->count; i++) {
        const pti_loop *l = &loops->list[i];
        char text[2 * FORMULA];
        int64_t least = 0, most = 0;
        bool known = turns_of_body(x, l, &least, &most);
        json_t *j = json_pack("{s:i, s:i, s:i, s:o, s:b}", "first", (int)pti_statement_of_insn(&x->statements, x->flow.blocks[l->head].first) + 1,
                              "last", (int)pti_statement_of_insn(&x->statements, l->last_insn) + 1, "depth", (int)depth_of(loops, l), "turns",
                              json_text(turns_text(x, l, text, sizeof text)), "single_exit", l->single);
        json_object_set_new(j, "least", known ? json_integer(least) : json_null());
        json_object_set_new(j, "most", known ? json_integer(most) : json_null());
        json_object_set_new(j, "condition", l->test == PTI_NONE ? json_null() : json_text(condition_text(x, l, text, sizeof text)));
        json_array_append_new(list, j);
    }
    return list;
}
