/* common.c - errors, usage, tables and progress of the subcommands. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"

int exit_of(pxb_status status)
{
    if (status == PXB_OK)
        return EXIT_DONE;
    if (status == PXB_NO || pxb_is_fault(status))
        return EXIT_NO;
    return status == PXB_NO_DEVICE ? EXIT_DEVICE : EXIT_USAGE;
}

int graver(int a, int b)
{
    static const int weight[] = {[EXIT_DONE] = 0, [EXIT_NO] = 1, [EXIT_DEVICE] = 2, [EXIT_USAGE] = 3};
    return weight[a] > weight[b] ? a : b;
}

int report_error(const pxb_context *ctx)
{
    const pxb_error *e = pxb_last_error(ctx);
    clear_progress();
    fflush(stdout);
    /* A message with a place reads as compilers' do; the others say who speaks. */
    fprintf(stderr, "%s%s\n", e->file ? "" : "ptxbridge: ", e->message);
    return exit_of(e->status);
}

int usage_error(const command *c, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "ptxbridge %s: ", c->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n\"ptxbridge %s --help\" shows how it is used.\n", c->name);
    return EXIT_USAGE;
}

int option_error(const command *c, int result, char **argv)
{
    const char *text = argv[optind - 1];
    return result == ':' ? usage_error(c, "option \"%s\" needs a value", text)
                         : usage_error(c, "there is no option \"%s\"", text);
}

int value_error(const command *c, const struct option *options, int value)
{
    const char *name = "";
    for (int i = 0; options[i].name; i++)
        if (options[i].val == value)
            name = options[i].name;
    return usage_error(c, "--%s cannot be \"%s\"", name, optarg ? optarg : "");
}

bool has_matrix_cores(const char *device)
{
    return device && (strncmp(device, "sim", 3) == 0 || strncmp(device, "hip", 3) == 0);
}

int print_usage(const command *c)
{
    printf("%s", c->usage);
    return EXIT_DONE;
}

bool parse_mma(const char *text, bool *fast)
{
    *fast = strcmp(text, "fast") == 0;
    return *fast || strcmp(text, "exact") == 0;
}

bool parse_number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9')
        return false;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned long long v = strtoull(text, &end, hex ? 16 : 10);
    if (*end || errno || v > most)
        return false;
    *out = v;
    return true;
}

json_t *json_text(const char *text)
{
    json_t *json = json_string(text ? text : "");
    if (json)
        return json;
    char *copy = strdup(text);
    for (char *p = copy; p && *p; p++)
        if (*p & 0x80)
            *p = '?';
    json = copy ? json_string(copy) : json_null();
    free(copy);
    return json;
}

json_t *json_ulp(const rt_difference *d, uint64_t ulp)
{
    if (rt_is_nan_distance(d, ulp))
        return json_null();
    return ulp > INT64_MAX ? json_real((double)ulp) : json_integer((json_int_t)ulp);
}

int print_json(json_t *json)
{
    if (json)
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(json);
    return EXIT_DONE;
}

/* ------------------------------------------------------------ progress */

static bool progress_shown;

void show_progress(void *user, const char *phase, uint32_t done, uint32_t of)
{
    (void)user;
    if (!isatty(STDERR_FILENO) || of < 2)
        return;
    fprintf(stderr, "\r\033[K%s %u/%u", phase, done + 1, of);
    fflush(stderr);
    progress_shown = true;
}

void clear_progress(void)
{
    if (progress_shown)
        fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

void show_remark(const char *text)
{
    static char *last;
    if (last && strcmp(last, text) == 0)
        return;
    free(last);
    last = strdup(text);
    clear_progress();
    fputs(text, stderr);
}

/* ------------------------------------------------------------ tables */

void table_start(table *t, uint32_t ncols, const char *align)
{
    *t = (table){NULL, 0, ncols, align};
}

void table_row(table *t, const char *const *cells)
{
    char ***more = realloc(t->rows, (t->nrows + 1) * sizeof *more);
    if (!more)
        return;
    t->rows = more;
    char **row = calloc(t->ncols, sizeof *row);
    if (!row)
        return;
    for (uint32_t i = 0; i < t->ncols; i++)
        row[i] = strdup(cells[i] ? cells[i] : "");
    t->rows[t->nrows++] = row;
}

/* Columns of a terminal that a UTF-8 text takes: bytes that do not continue a character. */
static int width_of(const char *s)
{
    int n = 0;
    for (; s && *s; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

static int column_width(const table *t, uint32_t c)
{
    int width = 0;
    for (uint32_t r = 0; r < t->nrows; r++)
        width = width_of(t->rows[r][c]) > width ? width_of(t->rows[r][c]) : width;
    return width;
}

/* Blanks are held back until something follows them, so that no line ends in blanks. */
static void print_row(const table *t, char *const *row, const int *widths, FILE *to, int indent)
{
    int pending = indent;
    for (uint32_t c = 0; c < t->ncols; c++) {
        const char *cell = row[c] ? row[c] : "";
        int blanks = widths[c] - width_of(cell);
        if (t->align[c] == '>')
            pending += blanks;
        if (*cell) {
            fprintf(to, "%*s%s", pending, "", cell);
            pending = 0;
        }
        pending += (t->align[c] == '>' ? 0 : blanks) + 2;
    }
    fprintf(to, "\n");
}

void table_print(table *t, FILE *to, int indent)
{
    int *widths = calloc(t->ncols, sizeof *widths);
    for (uint32_t c = 0; widths && c < t->ncols; c++)
        widths[c] = column_width(t, c);
    for (uint32_t r = 0; widths && r < t->nrows; r++)
        print_row(t, t->rows[r], widths, to, indent);
    free(widths);
    table_free(t);
}

void table_free(table *t)
{
    for (uint32_t r = 0; r < t->nrows; r++) {
        for (uint32_t c = 0; c < t->ncols; c++)
            free(t->rows[r][c]);
        free(t->rows[r]);
    }
    free(t->rows);
    *t = (table){0};
}
