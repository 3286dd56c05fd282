/* statements.c - statements and lines, both ways. The parser has numbered the statements; here their ends are found. */
#include "ptx/inspect/statements.h"

#include <stdlib.h>
#include <string.h>

/* A walk over the text of one statement that skips comments and strings. */
typedef struct walk { const char *c, *end; uint32_t lines; } walk;

static void step(walk *w)
{
    w->lines += *w->c == '\n';
    w->c++;
}

static void skip_to(walk *w, char a, char b)
{
    while (w->c < w->end && !(w->c[0] == a && (b == 0 || (w->c + 1 < w->end && w->c[1] == b))))
        step(w);
}

/* A string ends with its line at the latest, as in the lexer. */
static void skip_string(walk *w)
{
    for (w->c++; w->c < w->end && *w->c != '"' && *w->c != '\n'; w->c++)
        if (*w->c == '\\' && w->c + 1 < w->end && w->c[1] != '\n')
            w->c++;
    if (w->c < w->end && *w->c == '"')
        w->c++;
}

/* Moves over what is no code; false when there is nothing of it here. */
static bool skip_other(walk *w)
{
    bool two = w->c + 1 < w->end;
    if (two && w->c[0] == '/' && w->c[1] == '/') {
        skip_to(w, '\n', 0);
    } else if (two && w->c[0] == '/' && w->c[1] == '*') {
        w->c += 2;
        skip_to(w, '*', '/');
        w->c = w->end - w->c < 2 ? w->end : w->c + 2;
    } else if (*w->c == '"') {
        skip_string(w);
    } else {
        return false;
    }
    return true;
}

/* Behind the end of a statement: the `;` of an instruction, the `:` of a label, the `}` of a block. */
static void to_end(walk *w, ptx_statement_kind kind)
{
    uint32_t depth = 0;
    while (w->c < w->end) {
        if (skip_other(w))
            continue;
        char c = *w->c;
        if (kind == PTX_STATEMENT_BLOCK && c == '{')
            depth++;
        bool last = kind == PTX_STATEMENT_BLOCK ? c == '}' && --depth == 0 : c == (kind == PTX_STATEMENT_LABEL ? ':' : ';');
        step(w);
        if (last)
            return;
    }
}

/* A statement in error may have no end of its own: it ends where the next one begins. */
static walk walk_of(const pti_statements *s, uint32_t i)
{
    const ptx_function *f = s->function;
    size_t from = ptx_text_offset(s->module, f->statements[i].at);
    size_t to = i + 1 < f->nstatements ? ptx_text_offset(s->module, f->statements[i + 1].at) : s->module->length;
    return (walk){s->module->text + from, s->module->text + (to < from ? from : to), 0};
}

bool pti_find_statements(const ptx_module *module, const ptx_function *f, pti_statements *out)
{
    *out = (pti_statements){module, f, f->nstatements, malloc((f->nstatements + 1) * sizeof *out->list)};
    if (!out->list)
        return false;
    for (uint32_t i = 0; i < f->nstatements; i++) {
        const ptx_statement *p = &f->statements[i];
        uint32_t next = i + 1 < f->nstatements ? f->statements[i + 1].insn : f->ninsns;
        walk w = walk_of(out, i);
        to_end(&w, p->kind);
        out->list[i] = (pti_statement){p->kind, p->at.line, p->at.line + w.lines, p->insn, next - p->insn};
    }
    return true;
}

void pti_free_statements(pti_statements *s)
{
    free(s->list);
    *s = (pti_statements){0};
}

uint32_t pti_statement_of_insn(const pti_statements *s, uint32_t insn)
{
    return insn < s->function->ninsns ? s->function->insns[insn].statement : PTI_NONE;
}

uint32_t pti_statement_of_line(const pti_statements *s, uint32_t line)
{
    uint32_t low = 0, high = s->count;
    while (low < high) {               /* the first statement that does not end before the line */
        uint32_t middle = low + (high - low) / 2;
        if (s->list[middle].last_line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->list[low].first_line <= line ? low : PTI_NONE;
}

size_t pti_statement_text(const pti_statements *s, uint32_t statement, char *buffer, size_t size)
{
    walk w = walk_of(s, statement), end = w;
    size_t n = 0;
    bool blank = false;
    to_end(&end, s->function->statements[statement].kind);
    while (w.c < end.c) {
        const char *from = w.c;
        bool string = *w.c == '"';
        if (skip_other(&w) && !string) {
            blank = true;
            continue;
        }
        if (w.c == from && (unsigned char)*w.c <= ' ') {
            blank = true;
            w.c++;
            continue;
        }
        if (w.c == from)
            w.c++;
        if (blank && n++ < size)
            buffer[n - 1] = ' ';
        for (blank = false; from < w.c; from++)
            if (n++ < size)
                buffer[n - 1] = *from;
    }
    if (size)
        buffer[n < size ? n : size - 1] = '\0';
    return n;
}
