/* hip_library.h - libamdhip64, loaded at run time. */
#ifndef HIP_HIP_LIBRARY_H
#define HIP_HIP_LIBRARY_H

#include <stdbool.h>
#include "runtime/hip/hip_abi.h"

typedef struct hip_library {
    void *handle;
    char path[256];
#define HIP_MEMBER(name, result, parameters) result (*name) parameters;
    HIP_FUNCTIONS(HIP_MEMBER)
    HIP_OPTIONAL_FUNCTIONS(HIP_MEMBER)
#undef HIP_MEMBER
    int devices, version;
} hip_library;

/* Loads the library and counts its devices. False: `why` says what is missing. The library is never unloaded: the runtime
 * in it has threads. PTXBRIDGE_HIP_LIBRARY names another file. */
bool hip_load(hip_library *hip, char *why, size_t size);

/* "gfx1100" of a device, without the features behind a colon. False when the library does not say. */
bool hip_architecture(const hip_library *hip, int device, char *name, size_t size);
/* Finds the name in a hipDeviceProp_t of any layout: the text that starts a string and reads gfx and digits. */
bool hip_find_architecture(const char *properties, size_t bytes, char *name, size_t size);

#endif
