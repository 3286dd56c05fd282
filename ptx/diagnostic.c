/* diagnostic.c - how faults are kept and printed.
 *
 * At most PTX_MAX_DIAGNOSTICS are kept in the module; all are counted. Beside these, the first fault of
 * every function is kept as the reason that its loading fails.
 */
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

bool ptx_worth_reporting(const ptx_parser *p)
{
    return p->ndiagnostics < PTX_MAX_DIAGNOSTICS;
}

static bool marks_function(const ptx_parser *p, ptx_severity severity, ptx_reason reason)
{
    if (!p->function || reason == PTX_REASON_NONE)
        return false;
    /* A fault says more than an instruction that is merely not supported. */
    return p->function->broken == PTX_REASON_NONE ||
           (severity == PTX_ERROR && p->function->broken == PTX_REASON_UNSUPPORTED && reason != PTX_REASON_UNSUPPORTED);
}

const ptx_diagnostic *ptx_report(ptx_parser *p, ptx_severity severity, ptx_reason reason, ptx_location at,
                                 const char *format, ...)
{
    if (severity == PTX_ERROR)
        p->module->nerrors++;
    else if (severity == PTX_WARNING)
        p->module->nwarnings++;
    bool marks = marks_function(p, severity, reason), kept = p->ndiagnostics < PTX_MAX_DIAGNOSTICS;
    if (!marks && !kept)
        return NULL;
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    ptx_diagnostic d = {.severity = severity, .reason = reason, .at = at,
                        .function = p->function ? p->function->name : NULL,
                        .message = ptx_copy(p, message, (uint32_t)strlen(message))};
    const ptx_diagnostic *answer = NULL;
    if (kept) {
        PTX_GROW(p, p->diagnostics, p->diagnostic_room, p->ndiagnostics + 1);
        p->diagnostics[p->ndiagnostics++] = d;
    }
    ptx_diagnostic *own = PTX_NEW(p, ptx_diagnostic, 1);
    *own = d;
    answer = own;
    if (marks) {
        p->function->broken = reason;
        p->function->why = answer;
    }
    return answer;
}

/* ------------------------------------------------------------ printing */

typedef struct printer { char *buffer; size_t size, length; } printer;

static void put(printer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++, out->length++)
        if (out->length + 1 < out->size)
            out->buffer[out->length] = text[i];
}

static void put_text(printer *out, const char *text)
{
    put(out, text, strlen(text));
}

static void put_number(printer *out, uint32_t number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", number);
    put_text(out, digits);
}

enum { WIDEST_LINE = 160 };

/* The source line around the column, and a caret below it. Tabs stay tabs, so that the caret is in place. */
static void put_source(printer *out, const ptx_module *module, ptx_location at)
{
    const ptx_store *store = (const ptx_store *)module;
    if (at.line == 0 || at.line > store->nlines)
        return;
    const char *start = module->text + store->line_starts[at.line - 1], *end = module->text + module->length;
    const char *eol = memchr(start, '\n', (size_t)(end - start));
    size_t length = (size_t)((eol ? eol : end) - start), column = at.column ? at.column - 1 : 0;
    if (length && start[length - 1] == '\r')
        length--;
    if (column > length)
        column = length;
    size_t skip = column > WIDEST_LINE * 3 / 4 ? column - WIDEST_LINE / 2 : 0;
    size_t shown = length - skip < WIDEST_LINE ? length - skip : WIDEST_LINE;
    put_text(out, "\n    ");
    for (size_t i = 0; i < shown; i++) {
        char c = start[skip + i];
        put(out, (unsigned char)c < ' ' && c != '\t' ? "?" : &c, 1);
    }
    put_text(out, "\n    ");
    for (size_t i = skip; i < column; i++)
        put(out, start[i] == '\t' ? "\t" : " ", 1);
    put(out, "^", 1);
}

size_t ptx_format_diagnostic(const ptx_module *module, const ptx_diagnostic *d, char *buffer, size_t size)
{
    static const char *const severities[] = {"note", "warning", "error"};
    printer out = {buffer, size, 0};
    put_text(&out, module->file ? module->file : "<ptx>");
    if (d->at.line) {
        put(&out, ":", 1);
        put_number(&out, d->at.line);
        put(&out, ":", 1);
        put_number(&out, d->at.column);
    }
    put_text(&out, ": ");
    put_text(&out, severities[d->severity]);
    put_text(&out, ": ");
    put_text(&out, d->message);
    if (d->function) {
        put_text(&out, " (in ");
        put_text(&out, d->function);
        put(&out, ")", 1);
    }
    put_source(&out, module, d->at);
    if (size)
        buffer[out.length < size ? out.length : size - 1] = 0;
    return out.length;
}
