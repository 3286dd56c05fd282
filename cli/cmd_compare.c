/* cmd_compare.c - `ptxbridge compare`: two devices, or a device and a record, over the same cases. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "cli/compare.h"

typedef struct arguments {
    char *devices;                 /* "A,B": cut at the comma */
    const char *device[2];
    const char *models;
    bool has_model[2];
    pxb_mma_model model[2];
    const char *mma;               /* "M,N": a device can be compared with itself */
    bool mma_fast[2];
    const char *against[2];
    uint32_t nagainst;
    const char *recorded;          /* device of the record that is meant */
    rt_equality equality;
    uint64_t ulp;
    bool json, quiet, trace, check;
    const char *html;
    bool page;                     /* html goes to the standard output, which then holds nothing else */
    bool has_timeout;
    uint32_t timeout_ms;
    rt_trace_options tracing;
} arguments;

typedef struct state {
    pxb_context *ctx;
    const arguments *a;
    rt_record files[2];            /* of --against */
    rt_record ran[2];              /* what ran here, by side */
    comparison_report report;
    int exit_status;
} state;

/* ------------------------------------------------------------ sides */

/* Which --against a side comes from, -1 for none. */
static int file_of(const arguments *a, int side)
{
    return side < (int)a->nagainst ? side : -1;
}

static case_options options_of(const state *s, int side)
{
    const arguments *a = s->a;
    return (case_options){.device = a->device[side], .has_model = a->has_model[side], .model = a->model[side],
                          .mma_fast = a->mma_fast[side],
                          .check = a->check, .has_timeout = a->has_timeout, .timeout_ms = a->timeout_ms, .repeat = 1, .remark = show_remark};
}

/* The record of a case in a file. */
static pxb_status recorded_side(state *s, int side, const char *path, const rt_record_case **out)
{
    rt_pool pool = {0};
    const char *name = rt_record_name(&pool, path), *file = s->a->against[side], *device = s->a->recorded;
    const rt_record *r = &s->files[side];
    uint32_t n = name ? rt_record_find(r, name, device, out) : 0;
    pxb_status status = name ? PXB_OK : rt_no_memory(s->ctx);
    if (!status && n == 0) {
        status = rt_fail_at(s->ctx, PXB_NOT_FOUND, file, 0, 0, "holds no record of %.200s%s%.100s", name,
                            device ? " on device " : "", device ? device : "");
    } else if (n > 1) {
        char all[512] = "";
        for (uint32_t i = 0; i < r->ncases; i++)
            if (strcmp(r->cases[i].name, name) == 0)
                snprintf(all + strlen(all), sizeof all - strlen(all), " %.60s (%s)", r->cases[i].device,
                         pxb_mma_model_name(r->cases[i].model));
        status = rt_fail_at(s->ctx, PXB_BAD_ARGUMENT, file, 0, 0,
                            "holds %u records of %.200s; --recorded DEVICE says which is meant:%s", n, name, all);
    }
    rt_pool_free(&pool);
    return status;
}

static pxb_status find_sides(state *s, compared_case *k, const rt_record_case *sides[2])
{
    pxb_status status = PXB_OK;
    for (int side = 0; side < 2 && !status; side++) {
        case_options o = options_of(s, side);
        if (file_of(s->a, side) >= 0) {
            k->sources[side] = s->a->against[side];
            status = recorded_side(s, side, k->title, &sides[side]);
        } else {
            status = rt_record_run(s->ctx, &s->ran[side], k->title, k->file, &o, &sides[side]);
        }
        clear_progress();
    }
    return status;
}

/* ------------------------------------------------------------ a case */

static bool differs(const rt_comparison *c)
{
    bool any = !c->same_end || !c->same_printed;
    for (uint32_t i = 0; i < c->noutputs; i++)
        any = any || c->outputs[i].statistics.difference.differing || (c->outputs[i].problem && !c->outputs[i].equal);
    return any;
}

static pxb_status trace_case(state *s, compared_case *k)
{
    rt_comparison *c = &k->comparison;
    rt_trace_side sides[2];
    for (int side = 0; side < 2; side++)
        sides[side] = (rt_trace_side){s->a->device[side], true, c->sides[side]->model, c->sides[side]->mma_fast};
    c->finding = calloc(1, sizeof *c->finding);
    if (!c->finding)
        return rt_no_memory(s->ctx);
    pxb_status status = rt_trace_case(s->ctx, k->file, sides, &s->a->tracing, c->finding, &k->keep);
    clear_progress();
    if (status == PXB_UNSUPPORTED) {
        /* The comparison stands; the trace is what this device or kernel cannot give. */
        c->trace_problem = rt_pool_strdup(&c->pool, pxb_last_error(s->ctx)->message);
        return PXB_OK;
    }
    if (status)
        return status;
    c->traced = true;
    c->module = rt_trace_module(k->keep);
    return PXB_OK;
}

/* The exit status that a comparison stands for. */
static int outcome(const rt_comparison *c)
{
    int status = EXIT_DONE;
    for (int side = 0; side < 2; side++)
        if (c->sides[side]->state == RT_RECORD_ERROR)
            status = graver(status, exit_of(c->sides[side]->status) == EXIT_DEVICE ? EXIT_DEVICE : EXIT_USAGE);
    if (!c->ran)
        return status;
    return !c->comparable ? EXIT_USAGE : c->equal ? EXIT_DONE : EXIT_NO;
}

static int compare_case(state *s, compared_case *k)
{
    const rt_record_case *sides[2] = {NULL, NULL};
    const arguments *a = s->a;
    rt_comparison *c = &k->comparison;
    pxb_status status = case_read(s->ctx, k->title, &k->file);
    if (!status) {
        k->entries = k->file->launches[0].entry;
        status = find_sides(s, k, sides);
    }
    if (!status)
        status = rt_compare_records(s->ctx, k->file, sides[0], sides[1], a->equality, a->ulp, c);
    if (!status && a->trace && c->ran && c->comparable && differs(c))
        status = trace_case(s, k);
    if (status) {
        int exit_status = report_error(s->ctx);
        k->problem = rt_pool_strdup(&c->pool, pxb_last_error(s->ctx)->message);
        return exit_status == EXIT_NO ? EXIT_USAGE : exit_status;
    }
    if (!a->json && !a->page && (!a->quiet || !c->equal))
        print_comparison(k, &s->report);
    return outcome(c);
}

static void free_case(compared_case *k)
{
    free(k->comparison.finding);
    rt_comparison_free(&k->comparison);
    rt_trace_keep_free(k->keep);
    case_free(k->file);
}

/* ------------------------------------------------------------ all cases */

/* Records that run here are kept by value in a growing list, so each case has lists of its own. */
static int compare_cases(state *s, int count, char **paths)
{
    rt_record *lists = calloc(2 * (size_t)count, sizeof *lists);
    compared_case *cases = calloc((size_t)count, sizeof *cases);
    if (!lists || !cases) {
        free(lists);
        free(cases);
        return usage_error(&command_compare, "out of memory");
    }
    s->report.cases = cases;
    for (int i = 0; i < count; i++) {
        compared_case *k = &cases[s->report.ncases];
        k->title = paths[i];
        k->entries = "";
        show_progress(NULL, "case", (uint32_t)i, (uint32_t)count);
        int status = compare_case(s, k);
        s->exit_status = graver(s->exit_status, status);
        lists[2 * i] = s->ran[0];
        lists[2 * i + 1] = s->ran[1];
        memset(s->ran, 0, sizeof s->ran);
        s->report.ncases++;
    }
    s->report.equal = s->exit_status == EXIT_DONE;
    if (s->a->html && write_html(s->ctx, s->a->html, &s->report))
        s->exit_status = graver(s->exit_status, report_error(s->ctx));
    if (s->a->json)
        print_json(json_of_comparison(&s->report));
    for (uint32_t i = 0; i < s->report.ncases; i++)
        free_case(&cases[i]);
    for (int i = 0; i < 2 * count; i++)
        rt_record_free(&lists[i]);
    free(lists);
    free(cases);
    return s->exit_status;
}

static int run_comparison(pxb_context *ctx, const arguments *a, int count, char **paths)
{
    static char ulps[48];
    state s = {.ctx = ctx, .a = a, .report = {.trace = a->trace}};
    snprintf(ulps, sizeof ulps, "%llu ulp", (unsigned long long)a->ulp);
    s.report.tolerance = a->equality == RT_EQUAL_BITS ? "equal bits" : a->equality == RT_EQUAL_CASE ? "as the cases say" : ulps;
    int status = EXIT_DONE;
    for (uint32_t i = 0; i < a->nagainst && !status; i++)
        if (rt_record_read(ctx, a->against[i], &s.files[i]))
            status = report_error(ctx);
    if (!status)
        status = compare_cases(&s, count, paths);
    rt_record_free(&s.files[0]);
    rt_record_free(&s.files[1]);
    return status;
}

/* ------------------------------------------------------------ options */

enum {
    OPT_AGAINST = 256, OPT_RECORDED, OPT_DEVICES, OPT_MODELS, OPT_MMA, OPT_TOLERANCE, OPT_JSON, OPT_HTML, OPT_TRACE, OPT_BLOCKS,
    OPT_MEMORY, OPT_TIMEOUT, OPT_CHECK, OPT_QUIET
};

static const struct option options[] = {
    {"against", required_argument, NULL, OPT_AGAINST},
    {"recorded", required_argument, NULL, OPT_RECORDED},
    {"devices", required_argument, NULL, OPT_DEVICES},
    {"models", required_argument, NULL, OPT_MODELS},
    {"mma", required_argument, NULL, OPT_MMA},
    {"tolerance", required_argument, NULL, OPT_TOLERANCE},
    {"json", no_argument, NULL, OPT_JSON},
    {"html", required_argument, NULL, OPT_HTML},
    {"trace", no_argument, NULL, OPT_TRACE},
    {"trace-blocks", required_argument, NULL, OPT_BLOCKS},
    {"trace-memory", required_argument, NULL, OPT_MEMORY},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"check", no_argument, NULL, OPT_CHECK},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* The part before a comma; false when it is too long. */
static bool first_part(const char *text, char first[32], size_t *length)
{
    size_t n = strcspn(text, ",");
    if (n >= 32)
        return false;
    memcpy(first, text, n);
    first[n] = '\0';
    *length = n;
    return true;
}

/* "A" or "A,B"; one is both sides'. */
static bool take_mma(arguments *a, const char *text)
{
    char first[32];
    size_t n;
    a->mma = text;
    return first_part(text, first, &n) && parse_mma(first, &a->mma_fast[0]) &&
           parse_mma(text[n] ? text + n + 1 : first, &a->mma_fast[1]);
}

/* Likewise. */
static bool take_models(arguments *a, const char *text)
{
    char first[32];
    size_t n;
    if (!first_part(text, first, &n))
        return false;
    a->models = text;
    a->has_model[0] = a->has_model[1] = true;
    return pxb_mma_model_from_name(first, &a->model[0]) &&
           pxb_mma_model_from_name(text[n] ? text + n + 1 : first, &a->model[1]);
}

/* "FIRST" or "FIRST,COUNT" */
static bool take_blocks(arguments *a, const char *text)
{
    char first[32];
    size_t n;
    a->tracing.nblocks = 1;
    if (!first_part(text, first, &n))
        return false;
    return parse_number(first, UINT64_MAX, &a->tracing.first_block) &&
           (!text[n] || (parse_number(text + n + 1, UINT64_MAX, &a->tracing.nblocks) && a->tracing.nblocks));
}

static bool take_tolerance(arguments *a, const char *text)
{
    a->equality = RT_EQUAL_BITS;
    if (strcmp(text, "bits") == 0)
        return true;
    a->equality = strcmp(text, "case") == 0 ? RT_EQUAL_CASE : RT_EQUAL_ULP;
    return a->equality == RT_EQUAL_CASE || parse_number(text, UINT64_MAX, &a->ulp);
}

static bool take_option(arguments *a, int c)
{
    uint64_t number;
    switch (c) {
    case OPT_AGAINST:
        if (a->nagainst == 2)
            return false;
        a->against[a->nagainst++] = optarg;
        return true;
    case OPT_RECORDED: a->recorded = optarg; return true;
    case OPT_DEVICES: a->devices = optarg; return true;
    case OPT_MODELS: return take_models(a, optarg);
    case OPT_MMA: return take_mma(a, optarg);
    case OPT_TOLERANCE: return take_tolerance(a, optarg);
    case OPT_JSON: return a->json = true;
    case OPT_HTML: a->html = optarg; return true;
    case OPT_TRACE: return a->trace = true;
    case OPT_BLOCKS: return take_blocks(a, optarg);
    case OPT_MEMORY:
        if (!parse_number(optarg, 1 << 20, &number) || number == 0)
            return false;
        a->tracing.memory = number << 20;
        return true;
    case OPT_TIMEOUT:
        a->has_timeout = a->tracing.has_timeout = true;
        if (!parse_number(optarg, UINT32_MAX, &number))
            return false;
        a->tracing.timeout_ms = a->timeout_ms = (uint32_t)number;
        return true;
    case OPT_CHECK: return a->check = true;
    case OPT_QUIET: return a->quiet = true;
    }
    return false;
}

/* Devices go to the sides that are not recorded: both, or B. */
static int settle_devices(arguments *a)
{
    char *comma = a->devices ? strchr(a->devices, ',') : NULL;
    if (comma)
        *comma = '\0';
    if (a->nagainst == 2)
        return a->devices ? usage_error(&command_compare, "with two records nothing runs; --devices has no place") : EXIT_DONE;
    if (a->nagainst == 1) {
        a->device[1] = a->devices ? a->devices : "cpu";
        return comma ? usage_error(&command_compare, "with a record one device runs, not two") : EXIT_DONE;
    }
    bool two_ways = (a->models && strchr(a->models, ',')) || (a->mma && strchr(a->mma, ','));
    if (!a->devices || (!comma && !two_ways))
        return usage_error(&command_compare, "two sides are wanted: --devices A,B, or --against FILE.npz");
    a->device[0] = a->devices;
    a->device[1] = comma ? comma + 1 : a->devices;
    if (!*a->device[0] || !*a->device[1] || strchr(a->device[1], ','))
        return usage_error(&command_compare, "--devices names two devices: A,B");
    return EXIT_DONE;
}

/* One word for both sides means those that have matrix cores; a word of a side's own has to fit. */
static int settle_fast(arguments *a)
{
    bool asked = a->mma_fast[0] || a->mma_fast[1], each = a->mma && strchr(a->mma, ',');
    for (int side = 0; side < 2; side++) {
        if (!a->mma_fast[side] || !a->device[side] || has_matrix_cores(a->device[side]))
            continue;
        if (each)
            return usage_error(&command_compare, "--mma fast is of AMD devices; \"%s\" has no matrix cores", a->device[side]);
        a->mma_fast[side] = false;
    }
    if (asked && !a->mma_fast[0] && !a->mma_fast[1])
        return usage_error(&command_compare, "--mma fast is of AMD devices; neither side has matrix cores");
    return EXIT_DONE;
}

static int run_compare(pxb_context *ctx, int argc, char **argv)
{
    arguments a = {.tracing = {.progress = show_progress}};
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == 'h')
            return print_usage(&command_compare);
        if (c == '?' || c == ':')
            return option_error(&command_compare, c, argv);
        if (!take_option(&a, c))
            return value_error(&command_compare, options, c);
    }
    if (optind == argc)
        return usage_error(&command_compare, "a case file is expected");
    if (a.trace && a.nagainst)
        return usage_error(&command_compare, "--trace needs both sides to run: --devices A,B");
    if (!a.trace && (a.tracing.nblocks || a.tracing.memory))
        return usage_error(&command_compare, "--trace-blocks and --trace-memory go with --trace");
    if (a.html && strcmp(a.html, "-") == 0) {
        if (a.json)
            return usage_error(&command_compare, "--json and --html - cannot share the standard output");
        a.page = true;
    }
    if (a.recorded && !a.nagainst)
        return usage_error(&command_compare, "--recorded goes with --against");
    int status = settle_devices(&a);
    if (!status)
        status = settle_fast(&a);
    return status ? status : run_comparison(ctx, &a, argc - optind, argv + optind);
}

const command command_compare = {
    "compare",
    "compares two devices, or a device and a record",
    "Usage: ptxbridge compare CASE.json… --devices A,B [OPTIONS]\n"
    "       ptxbridge compare CASE.json… --against FILE.npz [--devices B] [OPTIONS]\n"
    "       ptxbridge compare CASE.json… --against A.npz --against B.npz [OPTIONS]\n\n"
    "Runs case files on two devices, or takes one or both sides from records (\"ptxbridge record\"), and says of each output\n"
    "how many elements differ, by how much and where. Exit status 0 when all is equal within the tolerance, 1 when it is\n"
    "not, 2 for wrong use, bad input and sides with different inputs, 3 when a device is not available.\n\n"
    "  --devices A,B       the devices; one name will do with two models or ways of mma\n"
    "  --models M[,N]      mma models of the sides; otherwise the case file's\n"
    "  --mma M[,N]         fast or exact (the default): mma on the matrix cores of an AMD device, or by a model\n"
    "  --against FILE.npz  side A is a record; given twice, side B as well\n"
    "  --recorded DEVICE   which record of the case is meant where the file has several\n"
    "  --tolerance T       bits (the default): equal bits; case: what each case allows its outputs; a number: of ulp\n"
    "  --trace             name the first PTX instruction whose result differs, with operands and cause\n"
    "  --trace-blocks F[,N]   only N blocks (1) from linear number F on\n"
    "  --trace-memory MIB  memory for records (512; at most 2048 are used)\n"
    "  --json              print the comparison as JSON (docs/compare.schema.json)\n"
    "  --html FILE         write one HTML file with tables and plots; - is the standard output, in place of the text\n"
    "  --check             test each access against exact allocation bounds\n"
    "  --timeout-ms N      stop a launch after N ms; overrides the case files; 0 = no limit\n"
    "  --quiet             print cases that differ only\n",
    run_compare,
};
