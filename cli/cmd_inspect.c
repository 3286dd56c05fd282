/* cmd_inspect.c - `ptxbridge inspect`: what a PTX file holds, and what of it is not lowered. */
#include "cli/inspect.h"

static int inspect(pxb_context *ctx, const char *path, bool json)
{
    pxb_module *module;
    histogram h;
    if (pxb_module_load_file(ctx, path, &module))
        return report_error(ctx);
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

static int run_inspect(pxb_context *ctx, int argc, char **argv)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool json = false;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        switch (c) {
        case 'j': json = true; break;
        case 'h': return print_usage(&command_inspect);
        default: return option_error(&command_inspect, c, argv);
        }
    }
    if (argc - optind != 1)
        return usage_error(&command_inspect, "one PTX file is expected");
    return inspect(ctx, argv[optind], json);
}

const command command_inspect = {
    "inspect",
    "shows what a PTX file holds, and what of it is not lowered",
    "Usage: ptxbridge inspect FILE [--json]\n\n"
    "Shows entries and functions with their parameters and directives, variables, how often each instruction occurs,\n"
    "which instructions have no lowering, with their lines, and the parser's remarks. Exit status 1 when there are\n"
    "errors or instructions without a lowering.\n",
    run_inspect,
};
