/* cmd_run.c - `ptxbridge run`: runs case files, or one launch described by options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli/cli.h"

enum { MAX_REPEAT = 100000 };

/* "NAME=FILE" */
static bool add_named(named_file **list, uint32_t *count, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1] || strcmp(equals + 1, "-") == 0) /* what is said of the case goes there */
        return false;
    named_file *more = realloc(*list, (*count + 1) * sizeof *more);
    if (!more)
        return false;
    *list = more;
    *equals = '\0';
    more[(*count)++] = (named_file){text, equals + 1};
    return true;
}

static bool add_arg(run_arguments *a, char *text)
{
    char **more = realloc(a->args, (a->nargs + 1) * sizeof *more);
    if (!more)
        return false;
    a->args = more;
    more[a->nargs++] = text;
    return true;
}

/* ------------------------------------------------------------ output files */

static const case_output *find_output(const case_result *result, const char *name)
{
    for (uint32_t i = 0; i < result->noutputs; i++)
        if (strcmp(result->outputs[i].name, name) == 0)
            return &result->outputs[i];
    return NULL;
}

static pxb_status write_named(pxb_context *ctx, const run_arguments *a, const case_result *result)
{
    pxb_status status = PXB_OK;
    if (result->fault && result->noutputs == 0 && a->npng + a->nnpy > 0)
        return rt_fail(ctx, result->fault, "there are no arrays to write: the device's memory was lost with the fault");
    for (uint32_t i = 0; i < a->npng && !status; i++)
        status = rt_png_write(ctx, a->png[i].path, &find_output(result, a->png[i].name)->array);
    for (uint32_t i = 0; i < a->nnpy && !status; i++)
        status = rt_npy_write(ctx, a->npy[i].path, &find_output(result, a->npy[i].name)->array);
    return status;
}

static int write_folder(pxb_context *ctx, const char *folder, const case_result *result)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return usage_error(&command_run, "folder \"%s\" cannot be made: %s", folder, strerror(errno));
    for (uint32_t i = 0; i < result->noutputs; i++) {
        const case_output *o = &result->outputs[i];
        char path[4096];
        if (!o->changed)
            continue;
        if (strchr(o->name, '/') || snprintf(path, sizeof path, "%s/%s.npy", folder, o->name) >= (int)sizeof path)
            return usage_error(&command_run, "\"%s\" is no file name", o->name);
        if (rt_npy_write(ctx, path, &o->array))
            return report_error(ctx);
    }
    return EXIT_DONE;
}

/* ------------------------------------------------------------ running */

/* In JSON a case that could not be run has its reason in place of results. */
static int could_not_run(pxb_context *ctx, const char *title, json_t *list)
{
    json_array_append_new(list, json_pack("{s:o, s:b, s:o}", "case", json_text(title), "passed", false, "error",
                                          json_text(pxb_last_error(ctx)->message)));
    return report_error(ctx);
}

/* Runs one case and reports it. With --json the report is appended to `list`. */
static int run_one(pxb_context *ctx, const char *title, const case_file *file, const run_arguments *a, json_t *list)
{
    case_result result;
    pxb_status status = case_run(ctx, file, &a->options, &result);
    clear_progress();
    int exit_status = EXIT_DONE;
    if (status) {
        exit_status = could_not_run(ctx, title, list);
    } else {
        if (a->json)
            json_array_append_new(list, json_of_case(title, file, a, &result));
        else
            report_case(title, file, a, &result);
        if (write_named(ctx, a, &result))
            exit_status = report_error(ctx);
        if (!exit_status && a->out_dir)
            exit_status = write_folder(ctx, a->out_dir, &result);
        if (!exit_status && !result.passed)
            exit_status = EXIT_NO;
    }
    case_result_free(&result);
    return exit_status;
}

static int run_cases(pxb_context *ctx, const run_arguments *a, int count, char **paths)
{
    json_t *list = json_array();
    int exit_status = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        case_file *file;
        int one = case_read(ctx, paths[i], &file) ? could_not_run(ctx, paths[i], list) : run_one(ctx, paths[i], file, a, list);
        case_free(file);
        exit_status = graver(exit_status, one);
    }
    if (a->json)
        print_json(json_pack("{s:b, s:o}", "passed", exit_status == EXIT_DONE, "cases", list));
    else
        json_decref(list);
    return exit_status;
}

static int run_direct(pxb_context *ctx, const run_arguments *a, const char *path)
{
    json_t *list = json_array();
    case_file *file = direct_case(ctx, path, a);
    int exit_status = file ? run_one(ctx, path, file, a, list) : EXIT_USAGE;
    if (a->json && file)
        print_json(json_pack("{s:b, s:o}", "passed", exit_status == EXIT_DONE, "cases", list));
    else
        json_decref(list);
    case_free(file);
    return exit_status;
}

/* ------------------------------------------------------------ options */

enum {
    OPT_PNG = 256,
    OPT_NPY,
    OPT_JSON,
    OPT_DEVICE,
    OPT_MODEL,
    OPT_MMA,
    OPT_CHECK,
    OPT_TIMEOUT,
    OPT_REPEAT,
    OPT_ENTRY,
    OPT_GRID,
    OPT_BLOCK,
    OPT_SHARED,
    OPT_COOPERATIVE,
    OPT_ARG,
    OPT_OUT_DIR,
    OPT_QUIET
};

static const struct option options[] = {
    {"png", required_argument, NULL, OPT_PNG},
    {"npy", required_argument, NULL, OPT_NPY},
    {"json", no_argument, NULL, OPT_JSON},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"mma-model", required_argument, NULL, OPT_MODEL},
    {"mma", required_argument, NULL, OPT_MMA},
    {"check", no_argument, NULL, OPT_CHECK},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"entry", required_argument, NULL, OPT_ENTRY},
    {"grid", required_argument, NULL, OPT_GRID},
    {"block", required_argument, NULL, OPT_BLOCK},
    {"shared", required_argument, NULL, OPT_SHARED},
    {"cooperative", no_argument, NULL, OPT_COOPERATIVE},
    {"arg", required_argument, NULL, OPT_ARG},
    {"out-dir", required_argument, NULL, OPT_OUT_DIR},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* Takes one option into *a; false when its value is wrong (the caller names the option). */
static bool take_option(run_arguments *a, int c)
{
    uint64_t number = 0;
    switch (c) {
    case OPT_PNG: return add_named(&a->png, &a->npng, optarg);
    case OPT_NPY: return add_named(&a->npy, &a->nnpy, optarg);
    case OPT_JSON: return a->json = true;
    case OPT_QUIET: return a->quiet = true;
    case OPT_DEVICE: a->options.device = optarg; return true;
    case OPT_MODEL: a->options.has_model = true; return pxb_mma_model_from_name(optarg, &a->options.model);
    case OPT_MMA: return parse_mma(optarg, &a->options.mma_fast);
    case OPT_CHECK: return a->options.check = true;
    case OPT_TIMEOUT:
        a->options.has_timeout = true;
        if (!parse_number(optarg, UINT32_MAX, &number))
            return false;
        a->options.timeout_ms = (uint32_t)number;
        return true;
    case OPT_REPEAT:
        if (!parse_number(optarg, MAX_REPEAT, &number) || number == 0)
            return false;
        a->options.repeat = (uint32_t)number;
        return a->timing = true;
    case OPT_ENTRY: a->entry = optarg; return true;
    case OPT_GRID: a->grid = optarg; return true;
    case OPT_BLOCK: a->block = optarg; return true;
    case OPT_SHARED: return parse_number(optarg, UINT32_MAX, &a->shared);
    case OPT_COOPERATIVE: return a->cooperative = true;
    case OPT_ARG: return add_arg(a, optarg);
    case OPT_OUT_DIR: a->out_dir = optarg; return true;
    }
    return false;
}

/* The arrays that --png and --npy name must be read back. */
static bool want_named(run_arguments *a)
{
    const char **wanted = calloc((size_t)a->npng + a->nnpy + 1, sizeof *wanted);
    if (!wanted)
        return false;
    for (uint32_t i = 0; i < a->npng; i++)
        wanted[a->options.nwanted++] = a->png[i].name;
    for (uint32_t i = 0; i < a->nnpy; i++)
        wanted[a->options.nwanted++] = a->npy[i].name;
    a->options.wanted = wanted;
    return true;
}

static int run_files(pxb_context *ctx, run_arguments *a, int count, char **paths)
{
    if (count < 1)
        return usage_error(&command_run, "a case file, or a PTX file with --entry, is expected");
    if (count > 1 && (a->npng || a->nnpy || a->entry))
        return usage_error(&command_run, "--png, --npy and --entry go with one file");
    size_t n = strlen(paths[0]);
    bool is_ptx = n > 4 && strcmp(paths[0] + n - 4, ".ptx") == 0;
    if (is_ptx && !a->entry)
        return usage_error(&command_run, "--entry is missing: it names the kernel of \"%s\" to launch", paths[0]);
    if (!a->entry && (a->grid || a->block || a->nargs || a->shared || a->cooperative))
        return usage_error(&command_run, "--grid, --block, --shared, --cooperative and --arg go with --entry");
    if (!want_named(a))
        return usage_error(&command_run, "out of memory");
    return a->entry ? run_direct(ctx, a, paths[0]) : run_cases(ctx, a, count, paths);
}

static int run_run(pxb_context *ctx, int argc, char **argv)
{
    run_arguments a = {.options = {.repeat = 1, .progress = show_progress, .remark = show_remark}};
    int status = EXIT_DONE;
    bool done = false;
    for (int c; !done && (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == 'h') {
            status = print_usage(&command_run);
            done = true;
        } else if (c == '?' || c == ':') {
            status = option_error(&command_run, c, argv);
            done = true;
        } else if (!take_option(&a, c)) {
            status = value_error(&command_run, options, c);
            done = true;
        }
    }
    if (!done && a.options.mma_fast && !has_matrix_cores(a.options.device)) {
        status = usage_error(&command_run, "--mma fast is of AMD devices; \"%s\" has no matrix cores", a.options.device ? a.options.device : "cpu");
        done = true;
    }
    if (!done)
        status = run_files(ctx, &a, argc - optind, argv + optind);
    free((void *)a.options.wanted);
    free(a.png);
    free(a.npy);
    free(a.args);
    return status;
}

const command command_run = {
    "run",
    "runs a case file or a kernel",
    "Usage: ptxbridge run CASE.json… [OPTIONS]\n"
    "       ptxbridge run K.ptx --entry K --grid 4 --block 128 [--shared BYTES] [--cooperative] [--arg ARG]… [OPTIONS]\n\n"
    "Runs the launches of case files (docs/case_files.md) and compares the results with what they expect, or runs one\n"
    "launch given by options. Exit status 1 when an expectation fails or the kernel faults.\n\n"
    "  --device NAME       device to run on: cpu, hip, hip:1, sim:gfx1100, … (cpu); \"ptxbridge devices\" lists them\n"
    "  --mma-model M       ada, hopper, blackwell, ampere, turing, volta, ieee; overrides the case file\n"
    "  --mma fast|exact    on AMD devices fast uses matrix cores (WMMA, MFMA): bounded differences, no model's bits (exact)\n"
    "  --check             test each access against exact allocation bounds\n"
    "  --timeout-ms N      stop a launch after N ms; overrides the case file; 0 = no limit\n"
    "  --repeat N          run N times and print least and median times to parse, decode and run\n"
    "  --png NAME=FILE     write a buffer or surface as a picture\n"
    "  --npy NAME=FILE     write a buffer, surface or module variable as .npy\n"
    "  --json              print the results as JSON\n"
    "  --quiet             print failures only\n\n"
    "A launch by options:\n"
    "  --entry NAME        kernel\n"
    "  --grid X[,Y[,Z]]    blocks (1)\n"
    "  --block X[,Y[,Z]]   threads of a block (1)\n"
    "  --shared BYTES      dynamic shared memory\n"
    "  --cooperative       all blocks run at once, so that they may wait for each other (grid.sync)\n"
    "  --arg ARG           next parameter:\n"
    "       FILE.npy           a buffer with the file's contents, named after the file\n"
    "       FILE.npz:MEMBER    the same from an .npz file, named after the member\n"
    "       NAME=FILE          the same with a name; any other file gives its bytes (u8)\n"
    "       NAME:f32[64,64]    a buffer of zeros\n"
    "       u32:7  f32:1.5     a value: u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64\n"
    "       null               a null pointer\n"
    "  --out-dir DIR       write each buffer that changed to DIR/NAME.npy\n",
    run_run,
};
