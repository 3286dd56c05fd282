/* cuda_library.h - the NVIDIA driver's library, opened at run time. */
#ifndef RUNTIME_CUDA_LIBRARY_H
#define RUNTIME_CUDA_LIBRARY_H

#include "runtime/cuda/cuda_abi.h"

#define CUDA_MEMBER(symbol, version, params) cu_result(*symbol) params;

typedef struct cuda_library {
    struct cuda_library *next;
    char *path;                    /* as it was opened */
    CUDA_FUNCTIONS(CUDA_MEMBER)
} cuda_library;

/* Opens PTXBRIDGE_CUDA_LIBRARY, or else the libcuda.so.1 of the system, and initialises it. NULL with a reason in `why`
 * when there is none, or none that can be used. A library stays open until the process ends. */
const cuda_library *cuda_library_open(char *why, size_t size);

/* "CUDA_ERROR_X (n): text". */
const char *cuda_result_text(const cuda_library *cu, cu_result result, char *buffer, size_t size);

#endif
