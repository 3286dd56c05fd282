/* inspect_histogram.c - counts a module's instructions by opcode. */
#include <stdlib.h>
#include <string.h>
#include "cli/inspect.h"

bool is_lowered(const ptx_insn *insn)
{
    return insn->form && (insn->meaning || insn->operation);
}

/* The opcode as written: the text up to the first blank behind a guard. */
static char *opcode_text(const ptx_module *m, const ptx_insn *insn)
{
    char text[256];
    ptx_format_insn(m, insn, text, sizeof text);
    char *start = text;
    if (*start == '@') {
        start += strcspn(start, " \t");
        start += strspn(start, " \t");
    }
    start[strcspn(start, " \t;")] = '\0';
    return strdup(start);
}

/* Equal form and modifiers stand together; statements that were not understood stand apart, each for itself. */
static int by_form(const void *a, const void *b)
{
    const ptx_insn *x = *(const ptx_insn *const *)a, *y = *(const ptx_insn *const *)b;
    if (x->form != y->form)
        return (uintptr_t)x->form < (uintptr_t)y->form ? -1 : 1;
    int order = memcmp(&x->tuple, &y->tuple, sizeof x->tuple);
    if (order == 0)
        order = (x->at.line > y->at.line) - (x->at.line < y->at.line);
    return order;
}

static bool same_opcode(const ptx_insn *a, const ptx_insn *b)
{
    return a->form && a->form == b->form && memcmp(&a->tuple, &b->tuple, sizeof a->tuple) == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const opcode_count *)a)->text, ((const opcode_count *)b)->text);
}

static int by_count(const void *a, const void *b)
{
    const opcode_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->text, y->text);
}

/* Two forms may be written alike, with other operands, and spelling differs in the order of modifiers. */
static void merge_equal_texts(histogram *h)
{
    uint32_t n = 0;
    qsort(h->opcodes, h->nopcodes, sizeof *h->opcodes, by_text);
    for (uint32_t i = 0; i < h->nopcodes; i++) {
        opcode_count *last = n ? &h->opcodes[n - 1] : NULL;
        if (last && strcmp(last->text, h->opcodes[i].text) == 0 && last->lowered == h->opcodes[i].lowered) {
            last->count += h->opcodes[i].count;
            if (h->opcodes[i].first->at.line < last->first->at.line)
                last->first = h->opcodes[i].first;
            free(h->opcodes[i].text);
        } else {
            h->opcodes[n++] = h->opcodes[i];
        }
    }
    h->nopcodes = n;
    qsort(h->opcodes, n, sizeof *h->opcodes, by_count);
}

static bool count_sorted(const ptx_module *m, const ptx_insn **all, histogram *h)
{
    for (uint64_t i = 0; i < h->instructions; i++) {
        if (!is_lowered(all[i]))
            h->not_lowered++;
        if (i && same_opcode(all[i - 1], all[i])) {
            h->opcodes[h->nopcodes - 1].count++;
            continue;
        }
        opcode_count *c = &h->opcodes[h->nopcodes];
        *c = (opcode_count){opcode_text(m, all[i]), 1, is_lowered(all[i]), all[i]};
        if (!c->text)
            return false;
        h->nopcodes++;
    }
    return true;
}

bool make_histogram(const ptx_module *m, histogram *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < m->nfunctions; i++)
        out->instructions += m->functions[i]->ninsns;
    const ptx_insn **all = malloc((out->instructions + 1) * sizeof *all);
    out->opcodes = calloc(out->instructions + 1, sizeof *out->opcodes);
    bool ok = all && out->opcodes;
    if (ok) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < m->nfunctions; i++)
            for (uint32_t j = 0; j < m->functions[i]->ninsns; j++)
                all[n++] = &m->functions[i]->insns[j];
        qsort(all, n, sizeof *all, by_form);
        ok = count_sorted(m, all, out);
    }
    free(all);
    if (ok)
        merge_equal_texts(out);
    return ok;
}

void free_histogram(histogram *h)
{
    for (uint32_t i = 0; i < h->nopcodes; i++)
        free(h->opcodes[i].text);
    free(h->opcodes);
}
