/* main.c - `ptxbridge`: finds the subcommand and runs it. */
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"

static const command *const commands[] = {&command_run,       &command_record,  &command_compare, &command_translate,
                                          &command_inspect, &command_devices, &command_cache,
#if PTXBRIDGE_EXEC
                                          &command_exec,
#endif
#if PTXBRIDGE_CONFORM
                                          &command_conform,
#endif
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_overview(FILE *to)
{
    fprintf(to, "Usage: ptxbridge COMMAND [ARGUMENTS]\n"
                "       ptxbridge --help | --version\n\n"
                "Runs unmodified PTX kernels on machines that have no NVIDIA GPU.\n\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to,
            "\n\"ptxbridge COMMAND --help\" describes a command.\n"
            "Exit status: 0 done, 1 the answer is \"no\", 2 wrong use or bad input, 3 the device is not available.\n"
            "Environment: PTXBRIDGE_DEBUG=parse,decode,run,cache,translate prints times of phases;\n"
            "             PTXBRIDGE_CACHE=0 turns the disk cache off, PTXBRIDGE_CACHE_MB limits its size.\n");
}

/* What stdio still holds may not reach a disk that is full. */
static int written(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "ptxbridge: the output could not be written\n");
    return EXIT_USAGE;
}

static int run_command(const command *c, int argc, char **argv)
{
    pxb_context *ctx;
    if (pxb_context_create(&ctx) != PXB_OK) {
        fprintf(stderr, "ptxbridge: out of memory\n");
        return EXIT_USAGE;
    }
    char why[256];
    if (!rt_environment_is_understood(why, sizeof why))
        fprintf(stderr, "ptxbridge: warning: %s\n", why);
    int status = c->run(ctx, argc, argv);
    pxb_context_destroy(ctx);
    return written(status);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("ptxbridge %s\n", pxb_version());
        return written(EXIT_DONE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return written(EXIT_DONE);
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, argv[1]) == 0)
            return run_command(commands[i], argc - 1, argv + 1);
    fprintf(stderr, "ptxbridge: there is no command \"%s\"\n\n", argv[1]);
    print_overview(stderr);
    return EXIT_USAGE;
}
