/* cmd_record.c - `ptxbridge record`: runs case files and keeps what came out, to be compared elsewhere. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "runtime/device.h"
#include "runtime/record.h"

typedef struct arguments {
    case_options options;
    const char *output;
    bool append, json, quiet;
} arguments;

static const char *state_text(const rt_record_case *c)
{
    switch (c->state) {
    case RT_RECORD_DONE: return "recorded";
    case RT_RECORD_FAULT: return "fault";
    case RT_RECORD_ERROR: break;
    }
    return "NOT RUN";
}

static bool expects_fault(const case_file *file, pxb_status status)
{
    for (uint32_t i = 0; i < file->nexpects; i++)
        if (file->expects[i].kind == CASE_EXPECT_FAULT && file->expects[i].fault == status)
            return true;
    return false;
}

/* What did not go as it should is told at once, on stderr. */
static int outcome(const rt_record_case *c, const case_file *file)
{
    if (c->state == RT_RECORD_DONE || (c->state == RT_RECORD_FAULT && expects_fault(file, c->status)))
        return EXIT_DONE;
    fprintf(stderr, "ptxbridge record: %s: %s\n", c->name, c->fault_text ? c->fault_text : "");
    return exit_of(c->status);
}

static int record_one(pxb_context *ctx, const arguments *a, const char *path, rt_record *r)
{
    case_file *file;
    const rt_record_case *c = NULL;
    int status;
    if (case_read(ctx, path, &file)) {
        status = report_error(ctx);
        if (rt_record_unread(ctx, r, path, &a->options))
            status = graver(status, report_error(ctx));
        case_free(file);
        return status;
    }
    if (rt_record_run(ctx, r, path, file, &a->options, &c))
        status = report_error(ctx);
    else
        status = outcome(c, file);
    clear_progress();
    case_free(file);
    return status;
}

/* ------------------------------------------------------------ reports */

static void print_table(const rt_record *r, uint32_t first)
{
    table t;
    table_start(&t, 6, "<<<>><");
    table_row(&t, (const char *[]){"case", "device", "mma model", "outputs", "ms", "result"});
    for (uint32_t i = first; i < r->ncases; i++) {
        const rt_record_case *c = &r->cases[i];
        char outputs[16], ms[32];
        snprintf(outputs, sizeof outputs, "%u", c->noutputs);
        snprintf(ms, sizeof ms, "%.2f", c->run_ms);
        table_row(&t, (const char *[]){c->name, c->device, rt_mma_model_on(c->device, c->model), outputs, ms, state_text(c)});
    }
    table_print(&t, stdout, 0);
    for (uint32_t i = first; i < r->ncases; i++)
        for (uint32_t k = 0; k < r->cases[i].nmissing; k++)
            printf("%s: variable %s could not be read back and is not in the record\n", r->cases[i].name,
                   r->cases[i].missing[k]);
}

static json_t *json_of_record(const rt_record_case *c)
{
    json_t *outputs = json_array(), *missing = json_array();
    for (uint32_t i = 0; i < c->noutputs; i++) {
        const rt_record_output *o = &c->outputs[i];
        char text[128];
        json_array_append_new(outputs, json_pack("{s:s, s:o, s:s, s:b, s:s}", "kind", case_array_kind_name(o->kind), "name",
                                                 json_text(o->name), "array", rt_array_describe(&o->array, text, sizeof text),
                                                 "changed", o->changed, "sha256", o->sha256));
    }
    for (uint32_t i = 0; i < c->nmissing; i++)
        json_array_append_new(missing, json_text(c->missing[i]));
    json_t *j = json_pack("{s:o, s:o, s:s, s:s, s:s, s:s, s:s, s:f, s:o, s:o}", "case", json_text(c->name), "device",
                          json_text(c->device), "mma_model", rt_mma_model_on(c->device, c->model), "state", state_text(c),
                          "inputs_sha256", c->inputs_sha256, "ptx_sha256", c->ptx_sha256, "date", c->date ? c->date : "",
                          "run_ms", c->run_ms, "outputs", outputs, "not_read_back", missing);
    if (c->state != RT_RECORD_DONE)
        json_object_set_new(j, "text", json_text(c->fault_text));
    return j;
}

static void report(const arguments *a, const rt_record *r, int exit_status)
{
    if (a->json) {
        json_t *list = json_array();
        for (uint32_t i = 0; i < r->ncases; i++)
            json_array_append_new(list, json_of_record(&r->cases[i]));
        print_json(json_pack("{s:s, s:b, s:o}", "file", a->output, "complete", exit_status == EXIT_DONE, "cases", list));
    } else if (!a->quiet) {
        print_table(r, 0);
        printf("%s holds %u record%s\n", a->output, r->ncases, r->ncases == 1 ? "" : "s");
    }
}

/* ------------------------------------------------------------ the command */

static bool anything_ran(const rt_record *r)
{
    for (uint32_t i = 0; i < r->ncases; i++)
        if (r->cases[i].state != RT_RECORD_ERROR)
            return true;
    return false;
}

static int record_cases(pxb_context *ctx, const arguments *a, int count, char **paths)
{
    rt_record r = {0};
    int exit_status = EXIT_DONE;
    if (a->append && access(a->output, F_OK) == 0 && rt_record_read(ctx, a->output, &r)) {
        exit_status = report_error(ctx);
        rt_record_free(&r);
        return exit_status;
    }
    for (int i = 0; i < count; i++) {
        show_progress(NULL, "case", (uint32_t)i, (uint32_t)count);
        exit_status = graver(exit_status, record_one(ctx, a, paths[i], &r));
    }
    clear_progress();
    if (!anything_ran(&r))
        fprintf(stderr, "ptxbridge record: no case ran; \"%s\" is not written\n", a->output);
    else if (rt_record_write(ctx, a->output, &r))
        exit_status = graver(exit_status, report_error(ctx));
    else
        report(a, &r, exit_status);
    rt_record_free(&r);
    return exit_status;
}

enum { OPT_DEVICE = 256, OPT_MODEL, OPT_MMA, OPT_APPEND, OPT_TIMEOUT, OPT_CHECK, OPT_JSON, OPT_QUIET };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},        {"device", required_argument, NULL, OPT_DEVICE},
    {"mma-model", required_argument, NULL, OPT_MODEL}, {"mma", required_argument, NULL, OPT_MMA},
    {"append", no_argument, NULL, OPT_APPEND},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT}, {"check", no_argument, NULL, OPT_CHECK},
    {"json", no_argument, NULL, OPT_JSON},           {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},                {0},
};

static bool take_option(arguments *a, int c)
{
    uint64_t number;
    switch (c) {
    case 'o': a->output = optarg; return true;
    case OPT_DEVICE: a->options.device = optarg; return true;
    case OPT_MODEL: a->options.has_model = true; return pxb_mma_model_from_name(optarg, &a->options.model);
    case OPT_MMA: return parse_mma(optarg, &a->options.mma_fast);
    case OPT_APPEND: return a->append = true;
    case OPT_CHECK: return a->options.check = true;
    case OPT_JSON: return a->json = true;
    case OPT_QUIET: return a->quiet = true;
    case OPT_TIMEOUT:
        a->options.has_timeout = true;
        if (!parse_number(optarg, UINT32_MAX, &number))
            return false;
        a->options.timeout_ms = (uint32_t)number;
        return true;
    }
    return false;
}

static int run_record(pxb_context *ctx, int argc, char **argv)
{
    arguments a = {.options = {.repeat = 1, .remark = show_remark}};
    for (int c; (c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;) {
        if (c == 'h')
            return print_usage(&command_record);
        if (c == '?' || c == ':')
            return option_error(&command_record, c, argv);
        if (!take_option(&a, c))
            return value_error(&command_record, options, c);
    }
    if (a.options.mma_fast && !has_matrix_cores(a.options.device))
        return usage_error(&command_record, "--mma fast is of AMD devices; \"%s\" has no matrix cores",
                           a.options.device ? a.options.device : "cpu");
    if (optind == argc)
        return usage_error(&command_record, "a case file is expected");
    if (!a.output)
        return usage_error(&command_record, "-o FILE.npz is missing: it says where the record goes");
    if (strcmp(a.output, "-") == 0)
        return usage_error(&command_record, "-o -: a record goes to a file, not to the standard output");
    return record_cases(ctx, &a, argc - optind, argv + optind);
}

const command command_record = {
    "record",
    "runs case files and keeps the results",
    "Usage: ptxbridge record CASE.json… -o FILE.npz [OPTIONS]\n\n"
    "Runs case files (docs/case_files.md) on a device and writes what came out, with digests of what went in, to a file\n"
    "that \"ptxbridge compare --against\" and NumPy read (docs/compare.md). What could not be run or read back stands in\n"
    "the file with its reason. Exit status 1 when a kernel faulted unexpectedly, 2 when a case could not be run, 3 when\n"
    "the device is not available.\n\n"
    "  -o, --output FILE   the record\n"
    "  --append            keep what FILE has; the same case, device and mma model are replaced\n"
    "  --device NAME       device to run on (cpu); \"ptxbridge devices\" lists them\n"
    "  --mma-model M       ada, hopper, blackwell, ampere, turing, volta, ieee; overrides the case files\n"
    "  --mma fast|exact    on AMD devices fast uses matrix cores: bounded differences, no model's bits (exact)\n"
    "  --check             test each access against exact allocation bounds\n"
    "  --timeout-ms N      stop a launch after N ms; overrides the case files; 0 = no limit\n"
    "  --json              print what was recorded as JSON\n"
    "  --quiet             print failures only\n",
    run_record,
};
