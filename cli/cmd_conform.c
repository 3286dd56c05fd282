/* cmd_conform.c - `ptxbridge conform`: every lowered instruction against its reference. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "conformance/conform.h"
#include "conformance/mutations.h"
#include "conformance/report.h"
#include "conformance/torture.h"

static const char usage[];

typedef struct arguments {
    conform_options options;
    const char *filter, *json, *junit, *html, *digests;
    bool list, uncovered, mutations;
    uint32_t programs;                   /* --torture */
    const char *devices[8];              /* all that --device named */
    uint32_t ndevices;
    pxb_mma_model models[PXB_MMA_IEEE + 1];
} arguments;

static bool parse_shard(const char *text, conform_options *o)
{
    unsigned i, n;
    int used = 0;
    if (sscanf(text, "%u/%u%n", &i, &n, &used) != 2 || text[used] || i < 1 || i > n)
        return false;
    o->shard = i - 1;
    o->shards = n;
    return true;
}

static const struct option options[] = {
    {"device", required_argument, NULL, 'd'},   {"filter", required_argument, NULL, 'f'}, {"exhaustive", no_argument, NULL, 'x'},
    {"random", required_argument, NULL, 'r'},   {"seed", required_argument, NULL, 's'},   {"shard", required_argument, NULL, 'p'},
    {"mma-model", required_argument, NULL, 'm'}, {"state", required_argument, NULL, 't'},  {"json", required_argument, NULL, 'j'},
    {"junit", required_argument, NULL, 'u'},    {"html", required_argument, NULL, 'w'},   {"digests", required_argument, NULL, 'g'},
    {"list", no_argument, NULL, 'l'},           {"list-uncovered", no_argument, NULL, 'n'}, {"mutations", no_argument, NULL, 'k'},
    {"torture", required_argument, NULL, 'o'},  {"jobs", required_argument, NULL, 'i'}, {"help", no_argument, NULL, 'h'}, {0}};

/* A number from 1 to `most`. */
static bool take_number(uint64_t most, uint64_t *out)
{
    return parse_number(optarg, most, out) && *out;
}

static int take_option(arguments *a, int c)
{
    uint64_t number = 0;
    switch (c) {
    case 'd':
        if (a->ndevices == sizeof a->devices / sizeof *a->devices)
            return usage_error(&command_conform, "too many devices");
        a->devices[a->ndevices++] = a->options.device = optarg;
        return EXIT_DONE;
    case 'o':
        if (!take_number(100000000, &number))
            return usage_error(&command_conform, "--torture takes a number of programs, not \"%s\"", optarg);
        a->programs = (uint32_t)number;
        return EXIT_DONE;
    case 'r':
        return take_number(1u << 30, &a->options.random) ? EXIT_DONE
                                                         : usage_error(&command_conform, "--random takes a number from 1 to 2^30, not \"%s\"", optarg);
    case 's':
        return parse_number(optarg, UINT64_MAX, &a->options.seed) ? EXIT_DONE : usage_error(&command_conform, "--seed takes a number, not \"%s\"", optarg);
    case 'p':
        return parse_shard(optarg, &a->options) ? EXIT_DONE : usage_error(&command_conform, "--shard takes i/n with 1 <= i <= n, not \"%s\"", optarg);
    case 'm':
        if (a->options.nmodels > PXB_MMA_IEEE || !pxb_mma_model_from_name(optarg, &a->models[a->options.nmodels]))
            return usage_error(&command_conform, "\"%s\" is not an mma model", optarg);
        a->options.nmodels++;
        return EXIT_DONE;
    case 'i':
        if (!take_number(64, &number))
            return usage_error(&command_conform, "--jobs takes a number from 1 to 64, not \"%s\"", optarg);
        a->options.jobs = (uint32_t)number;
        return EXIT_DONE;
    case 'f': a->filter = optarg; break;
    case 'x': a->options.exhaustive = true; break;
    case 't': a->options.state = optarg; break;
    case 'j': a->json = optarg; break;
    case 'u': a->junit = optarg; break;
    case 'w': a->html = optarg; break;
    case 'g': a->digests = optarg; break;
    case 'l': a->list = true; break;
    case 'n': a->uncovered = true; break;
    case 'k': a->mutations = true; break;
    }
    return EXIT_DONE;
}

/* An option that does nothing is a mistake: those that each of the other ways to run takes. `given` has a bit for each letter. */
static int check_ways(const arguments *a, uint32_t given)
{
    const struct {
        bool chosen;
        const char *name, *takes;
    } ways[] = {{a->uncovered, "--list-uncovered", "n"}, {a->mutations, "--mutations", "kd"}, {a->programs != 0, "--torture", "osd"}, {a->list, "--list", "lf"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (const struct option *o = options; ways[i].chosen && o->name; o++)
            if (given >> (o->val - 'a') & 1 && !strchr(ways[i].takes, o->val))
                return usage_error(&command_conform, "%s does not take --%s", ways[i].name, o->name);
    }
    return EXIT_DONE;
}

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int parse(int argc, char **argv, arguments *a)
{
    uint32_t given = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return option_error(&command_conform, c, argv);
        if (c == 'h') {
            print_usage(&command_conform);
            return -1;
        }
        given |= UINT32_C(1) << (c - 'a');
        int status = take_option(a, c);
        if (status)
            return status;
    }
    if (optind < argc)
        return usage_error(&command_conform, "no argument is expected, but \"%s\" is given", argv[optind]);
    if (a->ndevices > 1 && !a->programs)
        return usage_error(&command_conform, "one --device at a time (only --torture takes several)");
    if (is_stdout(a->json) + is_stdout(a->junit) + is_stdout(a->html) + is_stdout(a->digests) > 1)
        return usage_error(&command_conform, "one report at most can go to standard output");
    if (a->options.nmodels)
        a->options.models = a->models;
    return check_ways(a, given);
}

static void print_uncovered(void *user, const char *name, const char *why)
{
    (void)user;
    printf("%s: %s\n", name, why);
}

typedef bool (*writer)(const conform_summary *s, FILE *to);

/* "-" is standard output. */
static bool write_report(const char *path, writer write, const conform_summary *s)
{
    if (!path)
        return true;
    const bool to_stdout = is_stdout(path);
    FILE *f = to_stdout ? stdout : fopen(path, "w");
    bool good = f && write(s, f);
    if (f && !to_stdout && fclose(f) != 0)
        good = false;
    if (!good)
        fprintf(stderr, "ptxbridge: \"%s\" cannot be written: %s\n", path, strerror(errno));
    return good;
}

static int run_cases(pxb_context *ctx, const arguments *a, const conform_list *list)
{
    conform_result *results = calloc(list->count + 1, sizeof *results);
    uint32_t count = 0;
    if (!results) {
        fprintf(stderr, "ptxbridge: out of memory\n");
        return EXIT_USAGE;
    }
    pxb_status status = conform_run(ctx, list, &a->options, results, &count);
    clear_progress();
    if (status) {
        free(results);
        return report_error(ctx);
    }
    conform_summary s;
    conform_summarise(&s, a->options.device, results, count);
    if (!is_stdout(a->json) && !is_stdout(a->junit) && !is_stdout(a->html) && !is_stdout(a->digests))
        conform_print_text(&s, stdout);
    bool good = write_report(a->json, conform_write_json, &s);
    good = write_report(a->junit, conform_write_junit, &s) && good;
    good = write_report(a->html, conform_write_html, &s) && good;
    good = write_report(a->digests, conform_write_digests, &s) && good;
    free(results);
    return !good ? EXIT_USAGE : s.failed || s.broken ? EXIT_NO : EXIT_DONE;
}

/* The wrong lowerings, and what found each; a Markdown table. */
static int run_mutations(pxb_context *ctx, const arguments *a)
{
    uint32_t missed = 0, planted = 0;
    printf("| wrong lowering | of | found by | with |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < conform_mutation_count(); i++) {
        conform_mutation_result m;
        if (!conform_mutation_is_for(i, a->options.device))
            continue;
        if (conform_mutation_run(ctx, i, a->options.device, &m))
            return report_error(ctx);
        printf("| %s | `%s` | %s%s%s | %s |\n", m.name, m.meaning, m.found ? "`" : "", m.found ? m.found_by : "**nothing**", m.found ? "`" : "",
               m.message);
        planted++;
        missed += !m.found;
    }
    printf("\n%u of %u found\n", planted - missed, planted);
    return missed ? EXIT_NO : EXIT_DONE;
}

/* Random programs on the CPU, with and without --check and at its lowest level, and on every device that was named. */
static int run_torture(pxb_context *ctx, const arguments *a)
{
    const char *devices[11] = {"cpu", "cpu:check", "cpu:lowest"};
    torture_options o = {devices, 3, a->options.seed, a->programs, show_progress, NULL};
    torture_report r;
    for (uint32_t i = 0; i < a->ndevices; i++)
        if (strcmp(a->devices[i], "cpu") != 0 && o.ndevices < sizeof devices / sizeof *devices)
            devices[o.ndevices++] = a->devices[i];
    if (torture_run(ctx, &o, &r))
        return report_error(ctx);
    clear_progress();
    if (r.failed)
        printf("program of seed %llu: %s and the interpreter differ: %s\n\n%s\n", (unsigned long long)r.seed, r.device, r.message, r.text ? r.text : "");
    printf("%u programs of %llu statements on %u devices%s\n", r.programs, (unsigned long long)r.instructions, o.ndevices,
           r.failed ? "" : ": all results equal");
    free(r.text);
    return r.failed ? EXIT_NO : EXIT_DONE;
}

static int run_conform(pxb_context *ctx, int argc, char **argv)
{
    arguments a = {.options.progress = show_progress};
    char why[300];
    int status = parse(argc, argv, &a);
    if (status)
        return status < 0 ? EXIT_DONE : status;
    if (a.uncovered)
        return conform_uncovered(print_uncovered, NULL) ? EXIT_NO : EXIT_DONE;
    if (a.mutations)
        return run_mutations(ctx, &a);
    if (a.programs)
        return run_torture(ctx, &a);
    conform_list list;
    if (!conform_expand(a.filter, &list, why, sizeof why))
        return usage_error(&command_conform, "%s", why);
    if (list.count == 0)
        status = usage_error(&command_conform, "no case has a name that matches \"%s\" (--list prints the names)", a.filter);
    for (uint32_t i = 0; a.list && i < list.count; i++)
        printf("%s\n", list.cases[i].name);
    if (!a.list && !status)
        status = run_cases(ctx, &a, &list);
    conform_free(&list);
    return status;
}

static const char usage[] =
    "Usage: ptxbridge conform [--device D] [--filter WHICH] [--exhaustive] [--random N] [--seed N] [--jobs N] [--mma-model M]…\n"
    "                         [--shard I/N] [--state FILE] [--json FILE] [--junit FILE] [--html FILE] [--digests FILE]\n"
    "       ptxbridge conform --list [--filter WHICH]\n"
    "       ptxbridge conform --list-uncovered\n"
    "       ptxbridge conform --mutations [--device D]\n"
    "       ptxbridge conform --torture N [--seed N] [--device D]…\n\n"
    "Runs every lowered instruction as a small kernel on a device, and compares the results with an independent reference.\n\n"
    "  --device D        the device (default cpu)\n"
    "  --filter WHICH    only cases whose name begins so: 'cvt.*e4m3|ex2', where * is any text; with other characters of\n"
    "                    regular expressions it is an extended one, which a name must hold: '^add.f16$'\n"
    "  --exhaustive      all values of operands that have up to 32 bits together (up to 16 bits: always)\n"
    "  --random N        random inputs of a case that is not complete (default 4096)\n"
    "  --jobs N          threads (default: as many as there are processors)\n"
    "  --mma-model M     this model only; may be repeated (default: all)\n"
    "  --shard I/N       the I-th of N parts\n"
    "  --state FILE      keeps what has passed, and skips it when started again\n"
    "  --json, --junit, --html, --digests FILE   reports; \"-\" is standard output\n"
    "  --list            prints the names of the cases\n"
    "  --list-uncovered  prints what is lowered and has no case\n"
    "  --mutations       plants wrong lowerings one at a time, and prints what found each: on the CPU device all, on others those of operations\n"
    "  --torture N       N random programs: the CPU, with and without exact bounds and at its lowest level, and the devices\n"
    "                    against a scalar interpreter; one that differs is reduced and printed\n\n"
    "Exit status: 0 all passed, 1 a case failed or could not be run, 2 wrong use, 3 the device is not available.\n";

const command command_conform = {"conform", "compares every instruction with its reference", usage, run_conform};
