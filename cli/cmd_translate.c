/* cmd_translate.c - `ptxbridge translate`: PTX to LLVM IR, assembly or an object for an AMD GPU. */
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "runtime/module.h"

typedef struct arguments {
    pxb_translate_options options;
    const char *output;
} arguments;

static bool parse_emit(const char *text, pxb_emit *out)
{
    static const char *const names[] = {"llvm", "asm", "obj", "hsaco"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (pxb_emit)i;
            return true;
        }
    }
    return false;
}

static int print_targets(void)
{
    for (uint32_t i = 0; pxb_translate_target(i); i++)
        printf("%s\n", pxb_translate_target(i));
    if (!pxb_translate_target(0))
        fprintf(stderr, "ptxbridge: this build has no translator\n");
    return EXIT_DONE;
}

static int write_output(pxb_context *ctx, const pxb_blob *blob, const arguments *a)
{
    if (a->output && strcmp(a->output, "-") != 0)
        return rt_write_file(ctx, a->output, blob->data, blob->bytes) ? report_error(ctx) : EXIT_DONE;
    fwrite(blob->data, 1, blob->bytes, stdout);
    return EXIT_DONE;
}

static int translate(pxb_context *ctx, const char *path, const arguments *a)
{
    pxb_module *module;
    pxb_blob blob;
    if (pxb_module_load_file(ctx, path, &module))
        return report_error(ctx);
    char *remarks = rt_module_remarks(module->ptx);
    fputs(remarks ? remarks : "", stderr);
    free(remarks);
    if (pxb_translate(module, &a->options, &blob))
        return report_error(ctx);
    if (blob.left_out)
        fprintf(stderr, "%s", blob.left_out);
    char notes[4096];
    if (a->options.mma_fast && pxb_translate_mma_notes(module, a->options.target, notes, sizeof notes) == PXB_OK)
        fputs(notes, stderr);
    int status = write_output(ctx, &blob, a);
    pxb_blob_free(&blob);
    return status;
}

static int run_translate(pxb_context *ctx, int argc, char **argv)
{
    static const struct option options[] = {
        {"target", required_argument, NULL, 't'},
        {"emit", required_argument, NULL, 'e'},
        {"entry", required_argument, NULL, 'n'},
        {"mma-model", required_argument, NULL, 'm'},
        {"mma", required_argument, NULL, 'f'},
        {"unoptimised", no_argument, NULL, 'u'},
        {"targets", no_argument, NULL, 'l'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    arguments a = {.options = PXB_TRANSLATE_OPTIONS_INIT};
    for (int c; (c = getopt_long(argc, argv, ":ho:", options, NULL)) != -1;) {
        switch (c) {
        case 't': a.options.target = optarg; break;
        case 'n': a.options.entry = optarg; break;
        case 'o': a.output = optarg; break;
        case 'u': a.options.unoptimised = true; break;
        case 'l': return print_targets();
        case 'h': return print_usage(&command_translate);
        case 'e':
            if (!parse_emit(optarg, &a.options.emit))
                return usage_error(&command_translate, "--emit is llvm, asm, obj or hsaco, not \"%s\"", optarg);
            break;
        case 'm':
            if (!pxb_mma_model_from_name(optarg, &a.options.mma_model))
                return usage_error(&command_translate, "there is no mma model \"%s\"", optarg);
            break;
        case 'f':
            if (!parse_mma(optarg, &a.options.mma_fast))
                return usage_error(&command_translate, "--mma is fast or exact, not \"%s\"", optarg);
            break;
        default: return option_error(&command_translate, c, argv);
        }
    }
    if (argc - optind != 1)
        return usage_error(&command_translate, "one PTX file is expected");
    if (!a.options.target)
        return usage_error(&command_translate, "--target is missing, e.g. --target gfx1100");
    if (a.options.unoptimised && a.options.emit != PXB_EMIT_LLVM)
        return usage_error(&command_translate, "--unoptimised goes with --emit llvm");
    if (!a.output && a.options.emit >= PXB_EMIT_OBJECT)
        return usage_error(&command_translate,
                           "-o is missing: an object is not written to the standard output unless -o - is given");
    return translate(ctx, argv[optind], &a);
}

const command command_translate = {
    "translate",
    "translates PTX for an AMD GPU",
    "Usage: ptxbridge translate FILE --target gfx… [--emit llvm|asm|obj|hsaco] [-o OUT] [--entry ENTRY]\n\n"
    "  --target T       AMD target; --targets lists those of this build\n"
    "  --emit KIND      llvm and asm are text, obj (the default) a relocatable ELF object, hsaco the object linked\n"
    "                   by ld.lld or libamd_comgr into the code object that HIP loads (PTXBRIDGE_LLD names another linker)\n"
    "  -o, --output OUT file to write; - is the standard output, the default for text\n"
    "  --entry E        only this entry and what it calls; otherwise every entry that can be run\n"
    "  --mma-model M    ada (default), hopper, blackwell, ampere, turing, volta, ieee\n"
    "  --mma fast|exact fast: mma by WMMA or MFMA where the target has it; which way each kind went goes to stderr (exact)\n"
    "  --unoptimised    with --emit llvm: the IR before LLVM's passes\n"
    "Results are kept in the disk cache: see \"ptxbridge cache --help\".\n",
    run_translate,
};
