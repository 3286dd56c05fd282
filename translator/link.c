/* link.c - a relocatable object becomes a code object that a device can load.
 *
 * By ld.lld, run as a program on temporary files; where there is none, by AMD's Code Object Manager (libamd_comgr, loaded
 * at run time; the few declarations that are needed are AMD's public interface of version 2). PTXBRIDGE_LLD names another
 * linker, and turns the search off; empty, it leaves only the Code Object Manager.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <llvm/Config/llvm-config.h>
#include "translator/translator.h"

extern char **environ;

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

typedef struct job {
    const char *target, *object;
    size_t size;
    char **out;
    size_t *out_size;
    char *message;
    size_t message_size;
} job;

static bool fail(const job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(const job *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->message, j->message_size, format, args);
    va_end(args);
    return false;
}

/* On failure *out is NULL. */
static bool read_all(const char *path, char **out, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;
    *out = NULL;
    if (fd < 0) return false;
    char *data = fstat(fd, &s) == 0 ? malloc((size_t)s.st_size + 1) : NULL;
    size_t got = 0;
    while (data && got < (size_t)s.st_size) {
        ssize_t n = read(fd, data + got, (size_t)s.st_size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            free(data);
            data = NULL;
        } else {
            got += (size_t)n;
        }
    }
    close(fd);
    if (!data) return false;
    data[got] = 0;
    *out = data;
    *size = got;
    return true;
}

static bool write_all(const char *path, const char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    for (size_t put = 0; put < size;) {
        ssize_t n = write(fd, data + put, size - put);
        if (n < 0) {
            close(fd);
            return false;
        }
        put += (size_t)n;
    }
    return close(fd) == 0;
}

/* ------------------------------------------------------------ ld.lld */

enum { NAMES = 6, NAME_SIZE = 512 };

/* Where a linker may be, best first; returns their number. */
static unsigned linkers(char names[NAMES][NAME_SIZE])
{
    const char *chosen = getenv("PTXBRIDGE_LLD"), *rocm = getenv("ROCM_PATH");
    unsigned n = 0;
    if (chosen) {
        if (*chosen) snprintf(names[n++], NAME_SIZE, "%s", chosen);
        return n;
    }
    snprintf(names[n++], NAME_SIZE, "ld.lld-" TEXT(LLVM_VERSION_MAJOR));
    snprintf(names[n++], NAME_SIZE, "/usr/lib/llvm-" TEXT(LLVM_VERSION_MAJOR) "/bin/ld.lld");
    snprintf(names[n++], NAME_SIZE, "ld.lld");
    if (rocm && *rocm) snprintf(names[n++], NAME_SIZE, "%s/llvm/bin/ld.lld", rocm);
    snprintf(names[n++], NAME_SIZE, "/opt/rocm/llvm/bin/ld.lld");
    return n;
}

static const char *named_by(void)
{
    const char *chosen = getenv("PTXBRIDGE_LLD");
    return chosen && *chosen ? " (named by PTXBRIDGE_LLD)" : "";
}

/* Starts one linker with its messages going to a file; -1 with errno ENOENT when it is not there. */
static int run_linker(const char *name, char *const in, char *const out, const char *log)
{
    char *argv[] = {(char *)name, "-shared", "--no-undefined", "-o", out, in, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions)) return -1;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    int error = posix_spawnp(&child, name, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno == ECHILD) return 0;       /* the process ignores SIGCHLD: what the linker left says how it went */
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

typedef struct files { char folder[256], in[300], out[300], log[300]; } files;

static bool make_folder(files *f)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(f->folder, sizeof f->folder, "%s/ptxbridge-XXXXXX", base && *base ? base : "/tmp");
    if (n < 0 || n >= (int)sizeof f->folder || !mkdtemp(f->folder)) return false;
    snprintf(f->in, sizeof f->in, "%s/in.o", f->folder);
    snprintf(f->out, sizeof f->out, "%s/out", f->folder);
    snprintf(f->log, sizeof f->log, "%s/log", f->folder);
    return true;
}

static void remove_folder(const files *f)
{
    unlink(f->in);
    unlink(f->out);
    unlink(f->log);
    rmdir(f->folder);
}

/* An ELF file of 64 bits whose section headers lie inside: a linker that was stopped leaves less. */
static bool is_code_object(const char *data, size_t size)
{
    uint64_t sections;
    uint16_t entry, count;
    if (size < 64 || memcmp(data, "\177ELF\2", 5) != 0) return false;
    memcpy(&sections, data + 40, 8);
    memcpy(&entry, data + 58, 2);
    memcpy(&count, data + 60, 2);
    return sections <= size && (uint64_t)entry * count <= size - sections;
}

/* True when the attempt has an outcome, good or bad (*worked); false when this linker is not there. */
static bool try_linker(const job *j, files *f, const char *name, bool *worked)
{
    int code = run_linker(name, f->in, f->out, f->log);
    if (code < 0) {
        if (errno == ENOENT || errno == EACCES || errno == ENOTDIR) return false;
        *worked = fail(j, "%s%s cannot be started: %s", name, named_by(), strerror(errno));
        return true;
    }
    if (code == 0 && read_all(f->out, j->out, j->out_size)) {
        *worked = is_code_object(*j->out, *j->out_size);
        if (*worked) return true;
        free(*j->out);
        *j->out = NULL;
        *worked = fail(j, "what %s%s wrote is no code object", name, named_by());
        return true;
    }
    char *log = NULL;
    size_t size = 0;
    read_all(f->log, &log, &size);
    while (log && size && log[size - 1] == '\n') log[--size] = 0;
    *worked = fail(j, "%s%s failed: %s", name, named_by(), log && *log ? log : "it gave no output");
    free(log);
    return true;
}

static bool by_linker(const job *j, bool *worked)
{
    char names[NAMES][NAME_SIZE];
    unsigned n = linkers(names);
    files f;
    if (!n) return false;
    if (!make_folder(&f)) {
        *worked = fail(j, "no temporary folder can be made for the linker: %s", strerror(errno));
        return true;
    }
    bool tried = false;
    if (write_all(f.in, j->object, j->size)) {
        for (unsigned i = 0; i < n && !tried; i++) tried = try_linker(j, &f, names[i], worked);
    } else {
        *worked = fail(j, "the object cannot be written for the linker: %s", strerror(errno));
        tried = true;
    }
    remove_folder(&f);
    return tried;
}

/* ------------------------------------------------------------ comgr */

typedef struct handle { uint64_t value; } handle;      /* every object of the interface is one 64-bit handle, passed by value */
enum { DATA_LOG = 5, DATA_RELOCATABLE = 7, DATA_EXECUTABLE = 8, ACTION_LINK_RELOCATABLE_TO_EXECUTABLE = 9 };

typedef struct comgr {
    int (*create_data)(int kind, handle *data);
    int (*release_data)(handle data);
    int (*set_data)(handle data, size_t size, const char *bytes);
    int (*set_data_name)(handle data, const char *name);
    int (*get_data)(handle data, size_t *size, char *bytes);
    int (*create_data_set)(handle *set);
    int (*destroy_data_set)(handle set);
    int (*data_set_add)(handle set, handle data);
    int (*create_action_info)(handle *info);
    int (*destroy_action_info)(handle info);
    int (*set_isa_name)(handle info, const char *name);
    int (*set_logging)(handle info, bool logging);
    int (*do_action)(int kind, handle info, handle input, handle result);
    int (*data_count)(handle set, int kind, size_t *count);
    int (*data_get)(handle set, int kind, size_t index, handle *data);
} comgr;

static bool open_comgr(comgr *c)
{
    static const char *const libraries[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "/opt/rocm/lib/libamd_comgr.so.3",
                                            "/opt/rocm/lib/libamd_comgr.so.2"};
    static const char *const names[] = {
        "create_data", "release_data", "set_data", "set_data_name", "get_data", "create_data_set", "destroy_data_set", "data_set_add",
        "create_action_info", "destroy_action_info", "action_info_set_isa_name", "action_info_set_logging", "do_action",
        "action_data_count", "action_data_get_data"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !library; i++) library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    _Static_assert(sizeof(comgr) == sizeof names / sizeof *names * sizeof(void *), "a name for each function");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char symbol[80];
        snprintf(symbol, sizeof symbol, "amd_comgr_%s", names[i]);
        void *function = dlsym(library, symbol);
        if (!function) return false;
        memcpy((char *)c + i * sizeof function, &function, sizeof function);
    }
    return true;                                       /* the library stays loaded: LLVM inside it does not like to leave */
}

/* Contents of the first datum of a kind in a set, malloc'ed and NUL-terminated; NULL if there is none. */
static char *contents(const comgr *c, handle set, int kind, size_t *size)
{
    size_t count = 0;
    handle data;
    char *bytes = NULL;
    if (c->data_count(set, kind, &count) || !count || c->data_get(set, kind, 0, &data)) return NULL;
    if (!c->get_data(data, size, NULL) && (bytes = calloc(1, *size + 1)) != NULL && c->get_data(data, size, bytes)) {
        free(bytes);
        bytes = NULL;
    }
    c->release_data(data);
    return bytes;
}

static bool link_set(const job *j, const comgr *c, handle info, handle input, handle result)
{
    char isa[80];
    snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%s", j->target);
    c->set_logging(info, true);
    if (c->set_isa_name(info, isa)) return fail(j, "libamd_comgr does not know the target %s, and no ld.lld was found", j->target);
    int error = c->do_action(ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, info, input, result);
    if (!error && (*j->out = contents(c, result, DATA_EXECUTABLE, j->out_size)) != NULL) return true;
    size_t size = 0;
    char *log = contents(c, result, DATA_LOG, &size);
    fail(j, "libamd_comgr cannot link the object: %s", log && *log ? log : "it gives no reason");
    free(log);
    return false;
}

static bool by_comgr(const job *j, bool *worked)
{
    comgr c;
    handle object, input, result, info;
    if (!open_comgr(&c)) return false;
    *worked = false;
    fail(j, "libamd_comgr cannot make its objects");
    if (c.create_data(DATA_RELOCATABLE, &object)) return true;
    if (!c.create_data_set(&input)) {
        if (!c.create_data_set(&result)) {
            if (!c.create_action_info(&info)) {
                if (!c.set_data(object, j->size, j->object) && !c.set_data_name(object, "kernels.o") && !c.data_set_add(input, object))
                    *worked = link_set(j, &c, info, input, result);
                c.destroy_action_info(info);
            }
            c.destroy_data_set(result);
        }
        c.destroy_data_set(input);
    }
    c.release_data(object);
    return true;
}

bool xl_link(const char *target, const char *object, size_t size, char **out, size_t *out_size, char *message, size_t message_size)
{
    job j = {target, object, size, out, out_size, message, message_size};
    bool worked = false;
    if (by_linker(&j, &worked) || by_comgr(&j, &worked)) return worked;
    if (*named_by()) return fail(&j, "PTXBRIDGE_LLD names the linker \"%.200s\", which cannot be started; and there is no libamd_comgr", getenv("PTXBRIDGE_LLD"));
    return fail(&j, "a code object needs ld.lld (of LLVM " TEXT(LLVM_VERSION_MAJOR) " or ROCm) or libamd_comgr, and neither was found; "
                    "PTXBRIDGE_LLD may name the linker");
}
