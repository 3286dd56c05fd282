/* cmd_exec.c - `ptxbridge exec`: runs a CUDA program over our libcuda.so.1 and libcudart.so by putting their folder first in its library
 * path. What it may trace, count and dump is done in the library; this only looks at the program before it starts.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cli/program_file.h"

typedef struct exec_arguments {
    const char *device, *dump;
    bool trace, stats, log;
    char **program;
} exec_arguments;

/* ------------------------------------------------------------ where our libraries are */

static bool has_library(const char *folder)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    return access(path, R_OK) == 0;
}

/* Beside the command where it was built, in the library folder where it is installed. */
static bool find_libraries(char *out)
{
    static const char *const places[] = {"lib/cuda", "../" PTXBRIDGE_LIBDIR "/ptxbridge"};
    char self[PATH_MAX], tried[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(tried, sizeof tried, "%s/%s", self, places[i]);
        if (realpath(tried, out) && has_library(out))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------ the program */

/* As execvp() will find it; a path stays what it is. */
static bool find_program(const char *name, char *out)
{
    if (strchr(name, '/'))
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX && access(out, F_OK) == 0;
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
        int length = (int)strcspn(at, ":");
        int n = snprintf(out, PATH_MAX, "%.*s%s%s", length, at, length ? "/" : "", name);
        struct stat status;
        if (n < PATH_MAX && stat(out, &status) == 0 && S_ISREG(status.st_mode) && access(out, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Programs that cannot work are told so before they say it in words of their own. */
static int check_program(const char *path, const exec_arguments *a)
{
    program_file file;
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (folder || access(path, X_OK) != 0) {
        fprintf(stderr, "ptxbridge: %s is %s\n", path, folder ? "a folder" : "not executable");
        return EXIT_USAGE;
    }
    examine_program(path, &file);
    if (file.narrow) {
        fprintf(stderr, "ptxbridge: %s is a 32-bit program; CUDA has 64-bit ones only\n", path);
        return EXIT_USAGE;
    }
    if (file.static_runtime && !(a->device && strcmp(a->device, "cuda") == 0)) {
        fprintf(stderr,
                "ptxbridge: %s is linked with CUDA's static runtime, which works with NVIDIA's own driver only.\n"
                "Link it with the shared runtime: nvcc -cudart shared …, or in CMake CUDA_RUNTIME_LIBRARY Shared.\n",
                path);
        return EXIT_USAGE;
    }
    if (file.runtime[0] && strcmp(file.runtime, "libcudart.so.12") != 0 && strcmp(file.runtime, "libcudart.so.13") != 0) {
        fprintf(stderr, "ptxbridge: %s needs %s; those of CUDA 12 and 13 are served\n", path, file.runtime);
        return EXIT_USAGE;
    }
    if (file.rpath)
        fprintf(stderr, "ptxbridge: %s has DT_RPATH, which goes before the library path: libraries found there are used instead of ours\n",
                path);
    return EXIT_DONE;
}

/* Whether each device of the list is there; "auto" finds one by itself. */
static int check_devices(pxb_context *ctx, const char *list)
{
    if (!list || strcmp(list, "auto") == 0)
        return EXIT_DONE;
    for (const char *at = list; *at;) {
        char name[64];
        size_t length = strcspn(at, ",");
        pxb_device *device;
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (length >= sizeof name || pxb_device_open(ctx, name, &device) != PXB_OK)
            return report_error(ctx);
        pxb_device_close(device);
        at += length + (at[length] == ',');
    }
    return EXIT_DONE;
}

/* ------------------------------------------------------------ the start */

static bool prepend_path(const char *folder)
{
    const char *old = getenv("LD_LIBRARY_PATH");
    size_t room = strlen(folder) + (old ? strlen(old) : 0) + 2;
    char *joined = malloc(room);
    if (!joined)
        return false;
    snprintf(joined, room, "%s%s%s", folder, old && *old ? ":" : "", old ? old : "");
    bool done = setenv("LD_LIBRARY_PATH", joined, 1) == 0;
    free(joined);
    return done;
}

static bool set_environment(const exec_arguments *a, const char *folder)
{
    char dump[PATH_MAX];
    if (a->dump && !realpath(a->dump, dump))
        return false;
    return prepend_path(folder) && (!a->device || setenv("PTXBRIDGE_DEVICE", a->device, 1) == 0) &&
           (!a->trace || setenv("PTXBRIDGE_TRACE", "1", 1) == 0) && (!a->stats || setenv("PTXBRIDGE_STATS", "1", 1) == 0) &&
           (!a->log || setenv("PTXBRIDGE_LOG", "1", 1) == 0) && (!a->dump || setenv("PTXBRIDGE_DUMP", dump, 1) == 0);
}

static bool make_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno != EEXIST || stat(path, &status) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode);
}

static int start(pxb_context *ctx, const exec_arguments *a)
{
    char folder[PATH_MAX], program[PATH_MAX];
    if (!find_libraries(folder)) {
        fprintf(stderr, "ptxbridge: libcuda.so.1 is neither beside this command nor installed with it\n");
        return EXIT_USAGE;
    }
    if (!find_program(a->program[0], program)) {
        fprintf(stderr, "ptxbridge: there is no program \"%s\"\n", a->program[0]);
        return EXIT_USAGE;
    }
    int status = check_program(program, a);
    if (status == EXIT_DONE)
        status = check_devices(ctx, a->device ? a->device : getenv("PTXBRIDGE_DEVICE"));
    if (status != EXIT_DONE)
        return status;
    if (a->dump && !make_folder(a->dump)) {
        fprintf(stderr, "ptxbridge: %s: %s\n", a->dump, strerror(errno));
        return EXIT_USAGE;
    }
    if (!set_environment(a, folder)) {
        fprintf(stderr, "ptxbridge: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    fflush(NULL);
    execv(program, a->program);
    /* The file is there: what is missing is what its first line or its ELF header names. */
    fprintf(stderr, "ptxbridge: %s: %s\n", program, errno == ENOENT ? "its interpreter is missing" : strerror(errno));
    return EXIT_USAGE;
}

static int run_exec(pxb_context *ctx, int argc, char **argv)
{
    enum { DEVICE = 256, TRACE, STATS, DUMP, LOG };
    static const struct option options[] = {
        {"device", required_argument, NULL, DEVICE}, {"trace", no_argument, NULL, TRACE}, {"stats", no_argument, NULL, STATS},
        {"dump", required_argument, NULL, DUMP},     {"log", no_argument, NULL, LOG},     {"help", no_argument, NULL, 'h'},
        {0}};
    exec_arguments a = {0};
    for (int c; (c = getopt_long(argc, argv, "+:h", options, NULL)) != -1;) {
        switch (c) {
        case DEVICE: a.device = optarg; break;
        case TRACE: a.trace = true; break;
        case STATS: a.stats = true; break;
        case DUMP: a.dump = optarg; break;
        case LOG: a.log = true; break;
        case 'h': return print_usage(&command_exec);
        default: return option_error(&command_exec, c, argv);
        }
    }
    if (optind >= argc)
        return usage_error(&command_exec, "a program is needed");
    a.program = argv + optind;
    return start(ctx, &a);
}

const command command_exec = {
    "exec",
    "runs a CUDA program over our libcuda.so.1 and libcudart.so",
    "Usage: ptxbridge exec [--device D] [--trace] [--stats] [--dump DIR] [--log] [--] PROGRAM [ARGUMENTS]\n\n"
    "Runs an unmodified CUDA program: one that uses the driver API, or the runtime API linked with -cudart shared.\n\n"
    "  --device D   cpu, hip, hip:1, sim:gfx1100, cuda, auto, or a list: \"cpu,sim:gfx1100\" is two devices.\n"
    "               auto is the default: NVIDIA's driver where it works, else AMD GPUs, else the CPU\n"
    "  --trace      prints every call of the driver API with its arguments and result\n"
    "  --stats      prints at the end how often each kernel ran, and how long\n"
    "  --dump DIR   saves every PTX image, and every launch as a case for run, compare and inspect\n"
    "  --log        prints why calls failed, with the PTX instruction where a kernel did\n\n"
    "Exit status: the program's own; 2 when it cannot be started, 3 when the device is not available.\n",
    run_exec};
