/* cuda_library.c - finding, opening and initialising the NVIDIA driver's library.
 *
 * ptxbridge brings a libcuda.so.1 of its own, which would lead back here: it exports `pxb_shim`, and such a library
 * is passed over. What is open stays open: the driver has threads and exit handlers that must not lose their code.
 */
#include "runtime/cuda/cuda_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* dlopen's own search first. The folders where drivers install come second: they matter when the search
 * finds our own library, and on WSL, where the driver is outside the search path. */
static const char *const places[] = {
    "libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_library *libraries; /* opened and initialised */

const char *cuda_result_text(const cuda_library *cu, cu_result result, char *buffer, size_t size)
{
    const char *name = NULL, *text = NULL;
    if (cu->cuGetErrorName(result, &name) || !name)
        name = "unknown CUDA error";
    if (cu->cuGetErrorString(result, &text) || !text)
        text = "no description";
    snprintf(buffer, size, "%s (%d): %s", name, result, text);
    return buffer;
}

/* ------------------------------------------------------------ functions */

/* The name that cuGetProcAddress knows: without the version suffix, which the version number stands for. */
static void base_name(const char *symbol, char out[64])
{
    snprintf(out, 64, "%s", symbol);
    size_t n = strlen(out);
    if (n > 3 && out[n - 3] == '_' && out[n - 2] == 'v')
        out[n - 3] = '\0';
}

/* The exported symbol says its parameters by its suffix, so it comes first; cuGetProcAddress is for a driver that no longer
 * exports an old one. */
static void *find_symbol(void *handle, const char *symbol, int version)
{
    void *function = dlsym(handle, symbol);
    if (function)
        return function;
    char name[64];
    base_name(symbol, name);
    cu_get_proc_v2 newer = (cu_get_proc_v2)dlsym(handle, "cuGetProcAddress_v2");
    cu_get_proc_v1 older = (cu_get_proc_v1)dlsym(handle, "cuGetProcAddress");
    int32_t status = 0;
    if (newer && newer(name, &function, version, CUABI_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) == CUABI_SUCCESS)
        return function;
    if (older && older(name, &function, version, CUABI_CU_GET_PROC_ADDRESS_LEGACY_STREAM) == CUABI_SUCCESS)
        return function;
    return NULL;
}

/* The name of the first function that is missing, or NULL. */
static const char *find_functions(cuda_library *cu, void *handle)
{
    void *function;
#define CUDA_FIND(symbol, version, params)                                                                             \
    function = find_symbol(handle, #symbol, version);                                                                  \
    if (!function)                                                                                                     \
        return #symbol;                                                                                                \
    memcpy(&cu->symbol, &function, sizeof function);
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
    return NULL;
}

/* ------------------------------------------------------------ opening */

static bool initialise(const cuda_library *cu, char *why, size_t size)
{
    char text[256];
    int count = 0;
    cu_result result = cu->cuInit(0);
    if (result == CUABI_SUCCESS)
        result = cu->cuDeviceGetCount(&count);
    if (result == CUABI_CUDA_ERROR_STUB_LIBRARY)
        snprintf(why, size, "%s is the stub for linking that comes with the CUDA toolkit, not a driver", cu->path);
    else if (result == CUABI_CUDA_ERROR_NO_DEVICE || (result == CUABI_SUCCESS && count == 0))
        snprintf(why, size, "the NVIDIA driver (%s) is here, but it sees no GPU", cu->path);
    else if (result != CUABI_SUCCESS)
        snprintf(why, size, "the NVIDIA driver (%s) does not start: %s", cu->path,
                 cuda_result_text(cu, result, text, sizeof text));
    return result == CUABI_SUCCESS && count > 0;
}

static void free_library(cuda_library *cu)
{
    free(cu->path);
    free(cu);
}

static cuda_library *make_library(void *handle, const char *path, char *why, size_t size)
{
    cuda_library *cu = calloc(1, sizeof *cu);
    if (cu)
        cu->path = strdup(path);
    if (!cu || !cu->path) {
        snprintf(why, size, "out of memory");
        free(cu);
        return NULL;
    }
    const char *missing = find_functions(cu, handle);
    if (missing)
        snprintf(why, size, "%s has no function %s: the driver is too old, or this is no NVIDIA driver", path, missing);
    if (missing || !initialise(cu, why, size)) {
        free_library(cu);
        return NULL;
    }
    return cu;
}

static cuda_library *known_library(const char *path)
{
    for (cuda_library *cu = libraries; cu; cu = cu->next)
        if (strcmp(cu->path, path) == 0)
            return cu;
    return NULL;
}

static cuda_library *open_at(const char *path, char *why, size_t size)
{
    cuda_library *cu = known_library(path);
    if (cu)
        return cu;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        if (!why[0]) /* the first place speaks for all */
            snprintf(why, size, "there is no NVIDIA driver: %s", reason ? reason : path);
        return NULL;
    }
    if (dlsym(handle, "pxb_shim")) {
        dlclose(handle);
        snprintf(why, size, "there is no NVIDIA driver: %s is ptxbridge's own library in its place", path);
        return NULL;
    }
    cu = make_library(handle, path, why, size);
    if (!cu)
        return NULL;
    cu->next = libraries;
    libraries = cu;
    return cu;
}

const cuda_library *cuda_library_open(char *why, size_t size)
{
    const char *chosen = getenv("PTXBRIDGE_CUDA_LIBRARY");
    cuda_library *cu = NULL;
    why[0] = '\0';
    pthread_mutex_lock(&lock);
    if (chosen && chosen[0])
        cu = open_at(chosen, why, size);
    else
        for (size_t i = 0; i < sizeof places / sizeof *places && !cu; i++)
            cu = open_at(places[i], why, size);
    pthread_mutex_unlock(&lock);
    return cu;
}
