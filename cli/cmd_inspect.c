/* cmd_inspect.c - `ptxbridge inspect`: what a PTX file holds, and how a kernel of it is built. */
#include <stdlib.h>
#include <string.h>
#include "cli/inspect.h"
#include "cli/inspect_phases.h"

typedef enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_MARKDOWN, OUTPUT_HTML } output;

typedef struct inspect_arguments {
    output output;
    const char *entry, *param, *slice;
    bool phases, no_branches;
    uint64_t phase;                /* 0: none was named */
    pti_launch launch;
} inspect_arguments;

/* ------------------------------------------------------------ the file */

static int inspect_file(pxb_module *module, bool json)
{
    histogram h;
    if (!make_histogram(module->ptx, &h)) {
        free_histogram(&h);
        return usage_error(&command_inspect, "out of memory");
    }
    if (json)
        print_json(json_of_inspection(module, &h));
    else
        print_inspection(module, &h);
    bool all_run = module->ptx->nerrors == 0 && h.not_lowered == 0;
    free_histogram(&h);
    return all_run ? EXIT_DONE : EXIT_NO;
}

/* ------------------------------------------------------------ functions of it */

static bool wants_analysis(const inspect_arguments *a)
{
    return a->entry || a->phases || a->phase || a->param || a->slice || a->launch.block[0] || a->output == OUTPUT_MARKDOWN ||
           a->output == OUTPUT_HTML;
}

static bool wants_everything(const inspect_arguments *a)
{
    return !a->phases && !a->phase && !a->param && !a->slice;
}

static json_t *json_of_function(const inspection *x)
{
    const ptx_function *f = x->function;
    json_t *j = json_object();
    json_object_set_new(j, "name", json_text(f->name));
    json_object_set_new(j, "entry", json_boolean(f->is_entry));
    json_object_set_new(j, "line", json_integer(f->at.line));
    json_object_set_new(j, "statements", json_integer(x->statements.count));
    json_object_set_new(j, "instructions", json_integer(f->ninsns));
    json_object_set_new(j, "broken", f->why ? json_text(f->why->message) : json_null());
    return j;
}

static void report_function(report *r, const inspection *x)
{
    const ptx_function *f = x->function;
    report_heading(r, 2, "%s %s", f->is_entry ? "Entry" : "Function", f->name);
    report_paragraph(r, "Line %u of %s; %u statements, %u instructions, %u registers. sN are statements counted from 1, where a { } block, a label and "
                        "an instruction of several lines are one each; LN are physical lines.",
                     f->at.line, x->module->file ? x->module->file : "the file", x->statements.count, f->ninsns, f->nregisters);
    if (f->why)
        report_paragraph(r, "It cannot be run: line %u: %s. Statements that were not understood take no part in what follows.", f->why->at.line,
                         f->why->message);
}

/* Adds the members of `more` to `to`. */
static void merge(json_t *to, json_t *more)
{
    json_object_update(to, more);
    json_decref(more);
}

/* A named phase with its epilogue. */
static int tell_phase(report *r, const inspection *x, uint64_t number, json_t *json)
{
    if (number > x->phases.count)
        return usage_error(&command_inspect, "%s has %u phases, there is no phase %llu", x->function->name, x->phases.count,
                           (unsigned long long)number);
    uint32_t p = (uint32_t)number - 1;
    if (json) {
        json_object_set_new(json, "phase", json_of_phase(x, p));
        json_object_set_new(json, "epilogue", json_of_epilogue(x, p + 1));
    } else {
        report_phase(r, x, p);
    }
    return EXIT_DONE;
}

/* --param and --slice, which tell for themselves what is wrong with their value. */
static int tell_part(report *r, const inspection *x, const char *spec, const char *key, json_t *json,
                     int (*tell)(report *, const inspection *, const char *, json_t **))
{
    json_t *part = NULL;
    int status = tell(r, x, spec, json ? &part : NULL);
    if (part)
        json_object_set_new(json, key, part);
    return status;
}

static int tell_function(report *r, const inspection *x, const inspect_arguments *a, json_t *json)
{
    int status = EXIT_DONE;
    if (!json && (a->phases || wants_everything(a)))
        report_function(r, x);
    if (json && (a->phases || wants_everything(a)))
        merge(json, json_of_phases(x));
    else if (a->phases || wants_everything(a))
        report_phases(r, x), report_epilogues(r, x);
    if (json && wants_everything(a))
        merge(json, json_of_memory(x));
    else if (wants_everything(a))
        report_memory(r, x);
    if (a->phase)
        status = tell_phase(r, x, a->phase, json);
    if (a->param && status == EXIT_DONE)
        status = tell_part(r, x, a->param, "param", json, report_param);
    if (a->slice && status == EXIT_DONE)
        status = tell_part(r, x, a->slice, "slice", json, report_slice);
    report_end(r);
    return status;
}

static int tell(const inspection *list, uint32_t n, const inspect_arguments *a)
{
    report r = {.f = stdout, .style = a->output == OUTPUT_MARKDOWN ? REPORT_MARKDOWN : REPORT_TEXT};
    json_t *json = a->output == OUTPUT_JSON ? json_object() : NULL, *functions = json_array();
    int status = EXIT_DONE;
    if (a->output == OUTPUT_HTML) {
        write_inspection_page(stdout, list, n);
        json_decref(functions);
        return EXIT_DONE;
    }
    if (a->output == OUTPUT_MARKDOWN && (a->phases || wants_everything(a)))
        report_heading(&r, 1, "%s", list[0].module->file ? list[0].module->file : "PTX");
    for (uint32_t i = 0; i < n && status == EXIT_DONE; i++) {
        json_t *j = json ? json_of_function(&list[i]) : NULL;
        status = tell_function(&r, &list[i], a, j);
        if (j)
            json_array_append_new(functions, j);
    }
    if (json && status == EXIT_DONE) {
        json_object_set_new(json, "file", json_text(list[0].module->file));
        json_object_set(json, "functions", functions);
        print_json(json_incref(json));
    }
    json_decref(functions);
    json_decref(json);
    return status;
}

static bool is_chosen(const ptx_function *f, const inspect_arguments *a)
{
    return !f->is_declaration && (a->entry ? strcmp(f->name, a->entry) == 0 : f->is_entry);
}

static int analysis_error(const ptx_function *f, pti_status status)
{
    return status == PTI_LIMIT ? usage_error(&command_inspect, "%s is too large to be analysed", f->name)
                               : usage_error(&command_inspect, "out of memory");
}

static int inspect_functions(const ptx_module *m, const inspect_arguments *a)
{
    inspection *list = calloc((size_t)m->nfunctions + 1, sizeof *list);
    uint32_t n = 0;
    int status = EXIT_DONE;
    bool broken = false;
    if (!list)
        return usage_error(&command_inspect, "out of memory");
    for (uint32_t i = 0; i < m->nfunctions && status == EXIT_DONE; i++) {
        const ptx_function *f = m->functions[i];
        if (!is_chosen(f, a))
            continue;
        pti_status found = analyse(m, f, &a->launch, &list[n]);
        list[n++].no_branches = a->no_branches;
        status = found == PTI_OK ? EXIT_DONE : analysis_error(f, found);
        broken = broken || f->broken != PTX_REASON_NONE;
    }
    if (status == EXIT_DONE && n == 0)
        status = a->entry ? usage_error(&command_inspect, "there is no function \"%s\" with a body in %s", a->entry, m->file)
                          : usage_error(&command_inspect, "there is no entry with a body in %s", m->file);
    else if (status == EXIT_DONE && n > 1 && (a->phase || a->param || a->slice))
        status = usage_error(&command_inspect, "%s has %u entries: choose one by --entry", m->file, n);
    if (status == EXIT_DONE)
        status = tell(list, n, a);
    for (uint32_t i = 0; i < n; i++)
        free_analysis(&list[i]);
    free(list);
    return status == EXIT_DONE && broken ? EXIT_NO : status;
}

static int inspect(pxb_context *ctx, const char *path, const inspect_arguments *a)
{
    pxb_module *module;
    if (pxb_module_load_file(ctx, path, &module))
        return report_error(ctx);
    return wants_analysis(a) ? inspect_functions(module->ptx, a) : inspect_file(module, a->output == OUTPUT_JSON);
}

/* ------------------------------------------------------------ options */

/* "32,1,4", "128". */
static bool parse_block(const char *text, pti_launch *out)
{
    uint64_t v, threads = 1;
    char copy[64], *rest = copy;
    if (strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    *out = (pti_launch){{1, 1, 1}};
    for (int i = 0; i < 3 && rest; i++) {
        char *part = rest, *comma = strchr(rest, ',');
        rest = comma ? comma + 1 : NULL;
        if (comma)
            *comma = '\0';
        if (!parse_number(part, 1024, &v) || v == 0)
            return false;
        out->block[i] = (uint32_t)v;
        threads *= v;
    }
    return rest == NULL && threads <= 1024;
}

static bool set_output(inspect_arguments *a, output o)
{
    bool free_yet = a->output == OUTPUT_TEXT || a->output == o;
    a->output = o;
    return free_yet;
}

static int run_inspect(pxb_context *ctx, int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},        {"markdown", no_argument, NULL, 'm'},    {"html", no_argument, NULL, 'H'},
        {"entry", required_argument, NULL, 'e'}, {"phases", no_argument, NULL, 'P'},      {"phase", required_argument, NULL, 'n'},
        {"param", required_argument, NULL, 'p'}, {"slice", required_argument, NULL, 's'}, {"block", required_argument, NULL, 'b'},
        {"no-branches", no_argument, NULL, 'N'}, {"help", no_argument, NULL, 'h'},        {0}};
    inspect_arguments a = {0};
    bool one = true;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        switch (c) {
        case 'j': one = set_output(&a, OUTPUT_JSON) && one; break;
        case 'm': one = set_output(&a, OUTPUT_MARKDOWN) && one; break;
        case 'H': one = set_output(&a, OUTPUT_HTML) && one; break;
        case 'e': a.entry = optarg; break;
        case 'P': a.phases = true; break;
        case 'p': a.param = optarg; break;
        case 's': a.slice = optarg; break;
        case 'N': a.no_branches = true; break;
        case 'n':
            if (!parse_number(optarg, UINT32_MAX, &a.phase) || a.phase == 0)
                return usage_error(&command_inspect, "\"%s\" is not the number of a phase", optarg);
            break;
        case 'b':
            if (!parse_block(optarg, &a.launch))
                return usage_error(&command_inspect, "\"%s\" is not a block of at most 1024 threads", optarg);
            break;
        case 'h': return print_usage(&command_inspect);
        default: return option_error(&command_inspect, c, argv);
        }
    }
    if (argc - optind != 1)
        return usage_error(&command_inspect, "one PTX file is expected");
    if (!one)
        return usage_error(&command_inspect, "of --json, --markdown and --html only one can be given");
    if (a.output == OUTPUT_HTML && !wants_everything(&a))
        return usage_error(&command_inspect, "--html shows everything: --phases, --phase, --param and --slice do not go with it");
    if (a.no_branches && !a.slice)
        return usage_error(&command_inspect, "--no-branches goes with --slice");
    return inspect(ctx, argv[optind], &a);
}

const command command_inspect = {
    "inspect",
    "shows what a PTX file holds, and how a kernel of it is built",
    "Usage: ptxbridge inspect FILE [--json]\n"
    "       ptxbridge inspect FILE [--entry NAME] [--phases] [--phase N] [--param NAME+OFFSET] [--slice REGISTER@LINE]\n"
    "                         [--block X,Y,Z] [--json | --markdown | --html]\n\n"
    "The first form shows entries and functions with their parameters and directives, variables, how often each instruction\n"
    "occurs, which instructions have no lowering, with their lines, and the parser's remarks. Exit status 1 when there are\n"
    "errors or instructions without a lowering.\n\n"
    "The second form shows how a function is built:\n"
    "  --entry NAME    of this function; without it of every entry\n"
    "  --phases        runs of mma and what each multiplies, and the epilogues between them\n"
    "  --phase N       one phase and its epilogue in full\n"
    "  --param NAME+OFFSET   a place in the parameter block: who reads it, and what becomes of it\n"
    "  --slice REGISTER@LINE the statements that the register's value at that line comes from, and the branches that\n"
    "                  decide; --no-branches leaves these out\n"
    "  --block X,Y,Z   the threads of a block, where the kernel does not say (.reqntid): extents become exact\n"
    "  --markdown, --html, --json   the form of the answer; without another option they tell all that is known: phases,\n"
    "                  epilogues, addresses, parameters, textures, constants, registers, shared memory\n"
    "Exit status 1 when a function that is shown cannot be run.\n",
    run_inspect,
};
