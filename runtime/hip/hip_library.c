/* hip_library.c - finding libamdhip64 and its functions. */
#include "runtime/hip/hip_library.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROPERTY_BYTES = 1 << 14 };           /* far more than any release's hipDeviceProp_t */

static bool fail(char *why, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return false;
}

static bool open_path(hip_library *hip, const char *path)
{
    hip->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (hip->handle)
        snprintf(hip->path, sizeof hip->path, "%s", path);
    return hip->handle != NULL;
}

static bool open_library(hip_library *hip, char *why, size_t size)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"};
    const char *chosen = getenv("PTXBRIDGE_HIP_LIBRARY"), *rocm = getenv("ROCM_PATH");
    char path[sizeof hip->path];
    if (chosen && *chosen)
        return open_path(hip, chosen) || fail(why, size, "%s (PTXBRIDGE_HIP_LIBRARY) cannot be loaded: %s", chosen, dlerror());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (open_path(hip, names[i]))
            return true;
    const char *error = dlerror();
    fail(why, size, "libamdhip64 (ROCm 5 to 7) cannot be loaded: %s", error ? error : "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/lib/%s", rocm && *rocm ? rocm : "/opt/rocm", names[i]);
        if (open_path(hip, path))
            return true;
    }
    return false;
}

/* A data pointer as a function pointer, as POSIX promises for dlsym. */
static bool find(const hip_library *hip, const char *name, void *to)
{
    void *symbol = dlsym(hip->handle, name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool find_functions(hip_library *hip, char *why, size_t size)
{
#define HIP_NEEDED(name, result, parameters)                                                                                  \
    if (!find(hip, #name, &hip->name))                                                                                        \
        return fail(why, size, "%s has no function %s: is it libamdhip64 of ROCm 5 to 7?", hip->path, #name);
    HIP_FUNCTIONS(HIP_NEEDED)
#undef HIP_NEEDED
#define HIP_WANTED(name, result, parameters) find(hip, #name, &hip->name);
    HIP_OPTIONAL_FUNCTIONS(HIP_WANTED)
#undef HIP_WANTED
    return true;
}

bool hip_load(hip_library *hip, char *why, size_t size)
{
    memset(hip, 0, sizeof *hip);
    if (!open_library(hip, why, size) || !find_functions(hip, why, size))
        return false;
    hip_error error = hip->hipInit(0);
    if (!error)
        error = hip->hipGetDeviceCount(&hip->devices);
    /* Without the kernel's driver, ROCm 5 answers that the device is invalid. */
    if (error == HIP_NO_DEVICE || error == HIP_INVALID_DEVICE || (!error && hip->devices <= 0))
        return fail(why, size, "%s is there, but it finds no AMD GPU%s", hip->path,
                    access("/dev/kfd", R_OK | W_OK) ? " (/dev/kfd cannot be opened: no amdgpu driver, or no permission)" : "");
    if (error)
        return fail(why, size, "%s is there, but cannot start: %s (%s)", hip->path, hip->hipGetErrorString(error),
                    hip->hipGetErrorName(error));
    hip->hipRuntimeGetVersion(&hip->version);
    return true;
}

bool hip_find_architecture(const char *properties, size_t bytes, char *name, size_t size)
{
    for (size_t i = 0; i + 4 < bytes; i++) {
        if (memcmp(properties + i, "gfx", 3) || (i && properties[i - 1]))
            continue;
        size_t n = 3;
        while (i + n < bytes && isxdigit((unsigned char)properties[i + n]))
            n++;
        if (n < 6 || n >= size || i + n >= bytes || (properties[i + n] && properties[i + n] != ':'))
            continue;
        memcpy(name, properties + i, n);
        name[n] = 0;
        return true;
    }
    return false;
}

bool hip_architecture(const hip_library *hip, int device, char *name, size_t size)
{
    hip_error (*get)(void *, int) = hip->hipGetDevicePropertiesR0600 ? hip->hipGetDevicePropertiesR0600 : hip->hipGetDeviceProperties;
    char *properties = calloc(1, PROPERTY_BYTES);
    bool found = properties && get && get(properties, device) == HIP_SUCCESS && hip_find_architecture(properties, PROPERTY_BYTES, name, size);
    free(properties);
    return found;
}
