/* inspect_report.c - headings, paragraphs, lists and tables as plain text, Markdown or HTML. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cli/inspect_analysis.h"

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Characters that mean something in the style are escaped, save '_' inside a word, where Markdown leaves it; control characters
 * become '?'. */
static void put(const report *r, const char *text)
{
    for (const char *start = text; text && *text; text++) {
        const char *in = NULL;
        bool inside = *text == '_' && text > start && is_word(text[-1]) && is_word(text[1]);
        if (r->style == REPORT_HTML)
            in = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '"' ? "&quot;" : NULL;
        else if (r->style == REPORT_MARKDOWN)
            in = *text == '|' ? "\\|" : *text == '*' ? "\\*" : *text == '_' && !inside ? "\\_" : *text == '<' ? "\\<" : *text == '`' ? "\\`" : NULL;
        if (in)
            fputs(in, r->f);
        else
            fputc((unsigned char)*text < 0x20 ? '?' : *text, r->f);
    }
}

static char *format_text(const char *format, va_list args)
{
    char *text = NULL;
    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

static void end_list(report *r)
{
    if (r->in_list)
        fputs(r->style == REPORT_HTML ? "</ul>\n" : r->style == REPORT_MARKDOWN ? "\n" : "", r->f);
    r->in_list = false;
}

void report_end(report *r)
{
    end_list(r);
}

void report_heading(report *r, int level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    end_list(r);
    if (r->style == REPORT_HTML)
        fprintf(r->f, "<h%d>", level);
    else
        fprintf(r->f, r->style == REPORT_MARKDOWN ? "%.*s " : "\n%.*s", r->style == REPORT_MARKDOWN ? level : 0, "######");
    put(r, text);
    if (r->style == REPORT_HTML)
        fprintf(r->f, "</h%d>", level);
    fputs(r->style == REPORT_MARKDOWN ? "\n\n" : "\n", r->f);
    free(text);
}

void report_paragraph(report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    end_list(r);
    fputs(r->style == REPORT_HTML ? "<p>" : "", r->f);
    put(r, text);
    fputs(r->style == REPORT_HTML ? "</p>\n" : r->style == REPORT_MARKDOWN ? "\n\n" : "\n", r->f);
    free(text);
}

void report_item(report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    if (!r->in_list && r->style == REPORT_HTML)
        fputs("<ul>\n", r->f);
    r->in_list = true;
    fputs(r->style == REPORT_HTML ? "<li>" : r->style == REPORT_MARKDOWN ? "* " : "  ", r->f);
    put(r, text);
    fputs(r->style == REPORT_HTML ? "</li>\n" : "\n", r->f);
    free(text);
}

void report_code(report *r, const char *const *lines, uint32_t nlines)
{
    report plain = *r;
    plain.style = r->style == REPORT_HTML ? REPORT_HTML : REPORT_TEXT;
    end_list(r);
    fputs(r->style == REPORT_HTML ? "<pre>" : r->style == REPORT_MARKDOWN ? "```\n" : "", r->f);
    for (uint32_t i = 0; i < nlines; i++) {
        put(&plain, lines[i]);
        fputc('\n', r->f);
    }
    fputs(r->style == REPORT_HTML ? "</pre>\n" : r->style == REPORT_MARKDOWN ? "```\n\n" : "", r->f);
}

/* ------------------------------------------------------------ tables */

static void put_row(report *r, const char *const *cells, const char *tag)
{
    fputs(r->style == REPORT_HTML ? "<tr>" : "|", r->f);
    for (uint32_t i = 0; i < r->ncols; i++) {
        if (r->style == REPORT_HTML)
            fprintf(r->f, "<%s%s>", tag, r->align[i] == '>' ? " class=n" : "");
        else
            fputc(' ', r->f);
        put(r, cells[i]);
        if (r->style == REPORT_HTML)
            fprintf(r->f, "</%s>", tag);
        else
            fputs(" |", r->f);
    }
    fputs(r->style == REPORT_HTML ? "</tr>\n" : "\n", r->f);
}

void report_table(report *r, const char *align, const char *const *heads, uint32_t ncols)
{
    end_list(r);
    r->ncols = ncols;
    r->align = align;
    if (r->style == REPORT_TEXT) {
        table_start(&r->table, ncols, align);
        table_row(&r->table, heads);
        return;
    }
    fputs(r->style == REPORT_HTML ? "<table><thead>" : "", r->f);
    put_row(r, heads, "th");
    if (r->style == REPORT_HTML) {
        fputs("</thead><tbody>\n", r->f);
        return;
    }
    for (uint32_t i = 0; i < ncols; i++)
        fputs(align[i] == '>' ? "|---:" : "|---", r->f);
    fputs("|\n", r->f);
}

void report_row(report *r, const char *const *cells)
{
    if (r->style == REPORT_TEXT)
        table_row(&r->table, cells);
    else
        put_row(r, cells, "td");
}

void report_table_end(report *r)
{
    if (r->style == REPORT_TEXT)
        table_print(&r->table, r->f, 2);
    else
        fputs(r->style == REPORT_HTML ? "</tbody></table>\n" : "\n", r->f);
}

const char *range_text(uint32_t first, uint32_t last, char buffer[32])
{
    if (first == last)
        snprintf(buffer, 32, "s%u", first + 1);
    else
        snprintf(buffer, 32, "s%u–s%u", first + 1, last + 1);
    return buffer;
}
