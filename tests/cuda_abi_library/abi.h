/* abi.h - a library with the CUDA driver's binary interface whose "GPU" is the CPU device of libptxbridge.
 *
 * The tests load it as runtime/cuda/ loads NVIDIA's. It behaves as a driver does where a program can tell: a call needs a
 * context, launches are asynchronous, a fault appears at the next synchronisation and sticks, printf text goes
 * to standard output then, a kernel that never ends cannot be stopped. Settings come from the environment, and are read
 * again at each call:
 *   PTXB_ABI_DEVICES=N          number of GPUs (1)
 *   PTXB_ABI_CAPABILITY=MM      compute capability (120)
 *   PTXB_ABI_COOPERATIVE=0|1    can all blocks of a grid run at once? (1)
 *   PTXB_ABI_FAIL=SYMBOL@N=C    the N-th call of SYMBOL from now on answers C; SYMBOL "kernel" is the end of the N-th launch
 */
#ifndef CUDA_ABI_LIBRARY_H
#define CUDA_ABI_LIBRARY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "include/ptxbridge.h"
#include "runtime/cuda/cuda_abi.h"

#define ABI_EXPORT __attribute__((visibility("default")))

typedef struct abi_context {
    struct abi_context *below;     /* on the thread's stack of current contexts */
    pxb_context *pxb;
    pxb_device *device;
    cu_result sticky;
    pthread_t worker;              /* runs the launch */
    bool busy;
    atomic_bool finished;
    char *printed;
    size_t nprinted;
    struct abi_block *blocks;      /* what is left to free */
    struct abi_array *arrays;
    struct abi_module *modules;
} abi_context;

void abi_free_blocks(abi_context *c);
void abi_free_arrays(abi_context *c);
void abi_free_modules(abi_context *c);

/* 0, or what this call has to answer at once: not initialised, or an ordered failure. */
cu_result abi_begin(const char *symbol);
/* The failure ordered for `symbol`, counted. */
cu_result abi_ordered(const char *symbol);
/* The current context when it is idle and sound; else *result says why not. Waits for a running launch. */
abi_context *abi_current(cu_result *result);
abi_context *abi_current_busy(cu_result *result);
void abi_wait(abi_context *c);
cu_result abi_result(pxb_status status);
int abi_capability(void);

/* The GPU has one multiprocessor, which holds so many blocks of any kernel. */
enum { ABI_BLOCKS_AT_ONCE = 8 };

#define ABI_BEGIN(symbol)                                                                                              \
    do {                                                                                                               \
        cu_result ordered_ = abi_begin(#symbol);                                                                       \
        if (ordered_)                                                                                                  \
            return ordered_;                                                                                           \
    } while (0)

/* The same for a call that needs a context, which becomes `c`. */
#define ABI_BEGIN_IN(symbol, c)                                                                                        \
    ABI_BEGIN(symbol);                                                                                                 \
    cu_result c##_result_;                                                                                             \
    abi_context *c = abi_current(&c##_result_);                                                                        \
    if (!c)                                                                                                            \
    return c##_result_

/* Prototypes of what is exported. */
#define ABI_PROTOTYPE(symbol, version, params) ABI_EXPORT cu_result symbol params;
CUDA_FUNCTIONS(ABI_PROTOTYPE) /* cuCtxCreate_v2 is declared and not defined: see create_context */
ABI_EXPORT cu_result cuMemGetAddressRange_v2(cu_address *base, size_t *size, cu_address address);
ABI_EXPORT cu_result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int32_t *status);

#endif
