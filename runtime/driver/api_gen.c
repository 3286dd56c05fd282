/* api_gen.c - makes everything that follows from api.def: `api_gen api.def DIRECTORY` writes
 *
 *     driver_api.h        prototypes of the implementations, impl_<symbol>, and numbers of rows, DR_ROW_<symbol>
 *     driver_exports.c    the exported functions and the table that cuGetProcAddress reads
 *     driver_functions.inc  DRIVER_FUNCTION(symbol, parameters) of what is served, for the comparison with cuda.h
 *     cuda_api.md         what is served and what is not, for docs/
 *
 * An exported function calls its implementation at once. Only when dr_mode is not 0 does it go by way of the trace or of a real
 * driver. Functions that are not served are one jump each: their parameters are unknown here, so the same registers go on.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000, MOST_PARAMS = 16 };

typedef struct param { char type[48], name[48]; } param;
typedef struct row {
    char symbol[80], base[80], chapter[64], suffix[8];
    int version, suffix_version, nparams;
    bool served;
    char params[512];
    param list[MOST_PARAMS];
} row;

static row rows[MOST_ROWS];
static int nrows;

static void fail(int line, const char *why)
{
    fprintf(stderr, "api.def:%d: %s\n", line, why);
    exit(1);
}

static FILE *create(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

/* ------------------------------------------------------------ reading */

/* "const void *from" becomes {"const void *", "from"}. */
static void read_param(row *r, const char *text, size_t length, int line)
{
    if (r->nparams == MOST_PARAMS)
        fail(line, "too many parameters");
    param *p = &r->list[r->nparams++];
    while (length && isspace((unsigned char)*text))
        text++, length--;
    size_t name = length;
    while (name && (isalnum((unsigned char)text[name - 1]) || text[name - 1] == '_'))
        name--;
    if (name == 0 || name == length || name >= sizeof p->type || length - name >= sizeof p->name)
        fail(line, "a parameter is a type and a name");
    snprintf(p->type, sizeof p->type, "%.*s", (int)name, text);
    snprintf(p->name, sizeof p->name, "%.*s", (int)(length - name), text + name);
    for (size_t n = strlen(p->type); n && p->type[n - 1] == ' '; n--)
        p->type[n - 1] = '\0';
}

static void read_params(row *r, const char *text, int line)
{
    size_t n = strlen(text);
    if (n < 2 || text[n - 1] != ')' || n >= sizeof r->params)
        fail(line, "parameters end with ')'");
    snprintf(r->params, sizeof r->params, "%s", text);
    r->served = true;
    if (strcmp(text, "(void)") == 0)
        return;
    const char *from = text + 1, *end = text + n - 1;
    while (from < end) {
        const char *comma = memchr(from, ',', (size_t)(end - from)), *to = comma ? comma : end;
        read_param(r, from, (size_t)(to - from), line);
        from = to + 1;
    }
}

static void read_row(char *text, const char *chapter, int line)
{
    if (nrows == MOST_ROWS)
        fail(line, "too many rows");
    row *r = &rows[nrows++];
    bool absent = text[0] == '-';
    char *params = strchr(text, '(');
    char suffix[8] = "";
    int used = 0;
    if (sscanf(text + 2 * absent, "%79s %d%n", r->symbol, &r->version, &used) != 2)
        fail(line, "a row is: symbol version [suffix:version] (parameters)");
    sscanf(text + 2 * absent + used, " %4[ptdsz]:%d", suffix, &r->suffix_version);
    snprintf(r->suffix, sizeof r->suffix, "%s", r->suffix_version ? suffix : "");
    snprintf(r->chapter, sizeof r->chapter, "%s", chapter);
    memcpy(r->base, r->symbol, sizeof r->base);
    size_t n = strlen(r->base);
    if (n > 3 && strncmp(r->base + n - 3, "_v", 2) == 0 && isdigit((unsigned char)r->base[n - 1]))
        r->base[n - 3] = '\0';
    if (absent != !params)
        fail(line, "what is served has parameters, what is not has none");
    if (params)
        read_params(r, params, line);
    for (int i = 0; i < nrows - 1; i++)
        if (strcmp(rows[i].symbol, r->symbol) == 0)
            fail(line, "this symbol is there twice");
}

static void read_table(const char *path)
{
    char text[1024], chapter[64] = "";
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(1);
    }
    for (int line = 1; fgets(text, sizeof text, f); line++) {
        text[strcspn(text, "\n")] = '\0';
        if (text[0] == '#' || text[0] == '\0')
            continue;
        if (text[0] == '[')
            snprintf(chapter, sizeof chapter, "%.*s", (int)strcspn(text + 1, "]"), text + 1);
        else
            read_row(text, chapter, line);
    }
    fclose(f);
}

/* ------------------------------------------------------------ writing */

static void write_header(FILE *f)
{
    fprintf(f, "/* made by api_gen from runtime/driver/api.def */\n#ifndef DRIVER_API_H\n#define DRIVER_API_H\n\n"
               "#include \"runtime/cuda/cuda_types.h\"\n\n"
               "enum { DR_API_ROWS = %d };\nenum {\n", nrows);
    for (int i = 0; i < nrows; i++)
        fprintf(f, "    DR_ROW_%s,\n", rows[i].symbol);
    fprintf(f, "};\n\n");
    for (int i = 0; i < nrows; i++)
        if (rows[i].served)
            fprintf(f, "cu_result impl_%s%s;\n", rows[i].symbol, rows[i].params);
    fprintf(f, "\n#endif\n");
}

/* How the trace prints a parameter: dr_trace_<this>(call, name, value). */
static const char *printer_of(const param *p)
{
    size_t n = strlen(p->type);
    if (strcmp(p->type, "const char *") == 0)
        return "text";
    if (n && p->type[n - 1] == '*') {
        /* What a call gives back is printed when it ended well. */
        static const char *const out[] = {"cu_address *", "size_t *", "int *", "cu_context *", "cu_module *", "cu_function *",
                                          "cu_stream *", "cu_event *", "cu_array *", "cu_object *", "void **", "uint32_t *",
                                          "int32_t *", "cu_device *", "cu_library *", "cu_kernel *", "cu_graph *", "cu_node *",
                                          "cu_exec *", "cu_pool *", "cu_mipmap *", "uint64_t *", "const char **"};
        static const char *const how[] = {"out64", "out64", "out32", "out64", "out64", "out64", "out64", "out64", "out64", "out64",
                                          "pointer", "out32", "out32", "out32", "out64", "out64", "out64", "out64", "out64", "out64",
                                          "out64", "out64", "out_text"};
        for (size_t i = 0; i < sizeof out / sizeof *out; i++)
            if (strcmp(p->type, out[i]) == 0)
                return how[i];
        return "pointer";
    }
    if (strcmp(p->type, "float") == 0)
        return "real";
    if (strcmp(p->type, "cu_address") == 0 || strcmp(p->type, "cu_object") == 0)
        return "address";
    if (strcmp(p->type, "int") == 0 || strcmp(p->type, "int32_t") == 0 || strcmp(p->type, "cu_device") == 0 ||
        strcmp(p->type, "cu_result") == 0)
        return "number";
    if (strncmp(p->type, "uint", 4) == 0 || strcmp(p->type, "size_t") == 0 || strcmp(p->type, "cu_memory_handle") == 0)
        return "count";
    if (strcmp(p->type, "cu_location") == 0)
        return "location";
    if (strcmp(p->type, "cu_ipc") == 0)
        return "ipc";
    return "pointer";
}

static void write_names(FILE *f, const row *r)
{
    for (int k = 0; k < r->nparams; k++)
        fprintf(f, "%s%s", k ? ", " : "", r->list[k].name);
}

/* Copies and sets of one thread have to keep out of the case that is made of another one's launch. */
static bool changes_memory(const row *r)
{
    return strncmp(r->symbol, "cuMemcpy", 8) == 0 || strncmp(r->symbol, "cuMemset", 8) == 0;
}

/* `suffixed`: the form whose default stream is the calling thread's. */
static void write_served(FILE *f, int index, bool suffixed)
{
    const row *r = &rows[index];
    fprintf(f, "DR_EXPORT cu_result %s%s%s%s;\n", r->symbol, suffixed ? "_" : "", suffixed ? r->suffix : "", r->params);
    fprintf(f, "DR_EXPORT cu_result %s%s%s%s\n{\n", r->symbol, suffixed ? "_" : "", suffixed ? r->suffix : "", r->params);
    fprintf(f, "    cu_result result;\n");
    if (suffixed)
        fprintf(f, "    dr_per_thread = true;\n");
    fprintf(f, "    if (__builtin_expect(dr_mode != 0, 0)) {\n        dr_call call;\n        void *real = dr_call_begin(&call, %d, %s);\n",
            index, suffixed ? "true" : "false");
    if (changes_memory(r))
        fprintf(f, "        bool held = real && (dr_mode & DR_MODE_SPY) && dr_spy_hold();\n");
    fprintf(f, "        result = real ? ((cu_result(*)%s)real)(", r->params);
    write_names(f, r);
    fprintf(f, ") : impl_%s(", r->symbol);
    write_names(f, r);
    fprintf(f, ");\n%s        if (call.traced) {\n            dr_trace_result(&call, result);\n", changes_memory(r) ? "        dr_spy_release(held);\n" : "");
    for (int k = 0; k < r->nparams; k++)
        fprintf(f, "            dr_trace_%s(&call, \"%s\", %s);\n", printer_of(&r->list[k]), r->list[k].name, r->list[k].name);
    fprintf(f, "            dr_call_end(&call);\n        }\n    } else\n        result = impl_%s(", r->symbol);
    write_names(f, r);
    fprintf(f, ");\n");
    if (suffixed)
        fprintf(f, "    dr_per_thread = false;\n");
    fprintf(f, "    return result;\n}\n\n");
}

static void write_absent(FILE *f, int index, bool suffixed)
{
    const row *r = &rows[index];
    fprintf(f, "DR_ABSENT(%s%s%s, %d, %d)\n", r->symbol, suffixed ? "_" : "", suffixed ? r->suffix : "", index, suffixed);
}

static void write_exports(FILE *f)
{
    fprintf(f, "/* made by api_gen from runtime/driver/api.def */\n#include \"runtime/driver/export.h\"\n\n");
    for (int i = 0; i < nrows; i++) {
        for (int suffixed = 0; suffixed <= (rows[i].suffix[0] != '\0'); suffixed++) {
            if (rows[i].served)
                write_served(f, i, suffixed);
            else
                write_absent(f, i, suffixed);
        }
    }
    fprintf(f, "\nconst dr_api_row dr_api[DR_API_ROWS] = {\n");
    for (int i = 0; i < nrows; i++) {
        const row *r = &rows[i];
        fprintf(f, "    {\"%s\", \"%s\", %d, %d, (dr_any_fn)%s, ", r->symbol, r->base, r->version, r->suffix_version, r->symbol);
        if (r->suffix[0])
            fprintf(f, "(dr_any_fn)%s_%s, \"_%s\", ", r->symbol, r->suffix, r->suffix);
        else
            fprintf(f, "NULL, \"\", ");
        fprintf(f, "%s},\n", r->served ? "true" : "false");
    }
    fprintf(f, "};\n");
}

static void write_functions(FILE *f)
{
    fprintf(f, "/* made by api_gen from runtime/driver/api.def */\n");
    for (int i = 0; i < nrows; i++)
        if (rows[i].served)
            fprintf(f, "#if CUDA_VERSION >= %d\nDRIVER_FUNCTION(%s, %s)\n#endif\n", rows[i].version, rows[i].symbol, rows[i].params);
}

static void write_list(FILE *f, const char *chapter, bool served)
{
    int n = 0;
    for (int i = 0; i < nrows; i++)
        if (rows[i].served == served && strcmp(rows[i].chapter, chapter) == 0)
            fprintf(f, "%s`%s`", n++ ? ", " : served ? "Served: " : "Not served: ", rows[i].symbol);
    if (n)
        fprintf(f, "\n\n");
}

static void write_page(FILE *f)
{
    int served = 0;
    for (int i = 0; i < nrows; i++)
        served += rows[i].served;
    fprintf(f, "<!-- made by api_gen from runtime/driver/api.def -->\n# The CUDA driver API in libcuda.so.1\n\n"
               "%d of %d functions are served. The others are exported as well and answer `CUDA_ERROR_NOT_SUPPORTED` (801).\n"
               "What a served function does not do is in [cuda_programs.md](cuda_programs.md).\n\n", served, nrows);
    for (int i = 0; i < nrows; i++) {
        if (i && strcmp(rows[i].chapter, rows[i - 1].chapter) == 0)
            continue;
        fprintf(f, "## %s\n\n", rows[i].chapter);
        write_list(f, rows[i].chapter, true);
        write_list(f, rows[i].chapter, false);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: api_gen api.def DIRECTORY\n");
        return 2;
    }
    read_table(argv[1]);
    static const struct { const char *name; void (*write)(FILE *f); } files[] = {
        {"driver_api.h", write_header}, {"driver_exports.c", write_exports}, {"driver_functions.inc", write_functions},
        {"cuda_api.md", write_page}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *f = create(argv[2], files[i].name);
        files[i].write(f);
        if (ferror(f) | fclose(f)) {
            perror(files[i].name);
            return 1;
        }
    }
    return 0;
}
