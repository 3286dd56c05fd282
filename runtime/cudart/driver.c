/* driver.c - the driver library under the runtime: libcuda.so.1 by the loader's search path, so that ours or NVIDIA's may serve. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/cudart/internal.h"

driver_functions driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudart_error outcome;

static cu_result not_served(void)
{
    return CUABI_CUDA_ERROR_NOT_SUPPORTED;
}

/* Handlers run in the opposite order: this one, made by the first call, before those of the program's images, made by its constructors. */
bool process_ends;

static void note_end(void)
{
    process_ends = true;
}

/* A driver without cuLibraryLoadData is older than CUDA 12: too old for this runtime, as NVIDIA's own says. */
static void load(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *log = getenv("PTXBRIDGE_LOG");
        if (log && *log && *log != '0')
            fprintf(stderr, "ptxbridge: no driver library: %s\n", dlerror());
        outcome = RT_cudaErrorInsufficientDriver;
        return;
    }
#define LOOK_UP(name, params)                                                                                 \
    *(void **)&driver.name = dlsym(library, #name);                                                                    \
    if (!driver.name)                                                                                                  \
        *(void **)&driver.name = (void *)not_served;
    DRIVER_CALLS(LOOK_UP)
#undef LOOK_UP
    atexit(note_end);
    if ((void *)driver.cuInit == (void *)not_served || (void *)driver.cuLibraryLoadData == (void *)not_served)
        outcome = RT_cudaErrorInsufficientDriver;
    else
        outcome = driver.cuInit(0);
}

cudart_error start_driver(void)
{
    pthread_once(&once, load);
    return outcome;
}
