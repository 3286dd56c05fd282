/* internal.h - what the files of the runtime library share.
 *
 * The runtime is a layer over the driver's public functions: handles of streams, events, arrays, graphs, pools, kernels and libraries are
 * the driver's own, and numbers of errors agree. What is kept here: per thread the device and the last error, per process the registered
 * images, functions and variables.
 */
#ifndef RUNTIME_CUDART_INTERNAL_H
#define RUNTIME_CUDART_INTERNAL_H

#include <stdbool.h>
#include "runtime/cudart/cudart_abi.h"
#include "runtime/cudart/driver_calls.h"

#define API __attribute__((visibility("default")))

/* ------------------------------------------------------------ driver.c */

/* The driver's functions by the names of their symbols. One that the driver lacks returns CUDA_ERROR_NOT_SUPPORTED. */
typedef struct driver_functions {
#define DRIVER_MEMBER(name, params) cu_result(*name) params;
    DRIVER_CALLS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
} driver_functions;
extern driver_functions driver;

/* Loads and initialises the driver once. Every entry into the library begins with this or with enter(). */
cudart_error start_driver(void);
/* exit() has begun: images are not unloaded any more, which would wait for their kernels. */
extern bool process_ends;

/* ------------------------------------------------------------ state.c */

enum { NESTED_LAUNCHES = 16, MOST_DEVICES = 64 };

typedef struct launch_setup { cudart_dim3 grid, block; size_t shared_bytes; cudart_stream stream; } launch_setup;

typedef struct thread_state {
    int device;
    uint32_t resets;                     /* cudaDeviceReset() of any thread, as far as this one has heard */
    cudart_error last;
    uint32_t nsetups;                    /* a launch's arguments may contain a launch */
    launch_setup setups[NESTED_LAUNCHES];
} thread_state;
extern __thread thread_state thread;

/* Makes sure that a context is current on this thread: the one that the program chose, else the primary one of its device. */
cudart_error enter(void);
cudart_error use_device(int device);
/* For a call that has nothing to do: the error that ended the current context, which every call answers with. */
cudart_error sound(void);
/* The device of the current context. */
cudart_error current_device(int *device);
/* The primary context of a device, made if need be; the thread's own stays current. */
cudart_error primary_of(int device, cu_context *context);
/* Forgets the primary context of a device that was reset. */
void forget_device(int device);

/* Remembers an error for cudaGetLastError(); returns it. */
static inline cudart_error record(cudart_error error)
{
    if (error)
        thread.last = error;
    return error;
}

/* A call of the driver as the whole of a function. */
#define CALL(expression)                                                                                               \
    ({                                                                                                                 \
        cudart_error entered_ = enter();                                                                               \
        record(entered_ ? entered_ : (expression));                                                                    \
    })
#define TRY(expression)                                                                                                \
    do {                                                                                                               \
        cudart_error tried_ = (expression);                                                                            \
        if (tried_)                                                                                                    \
            return tried_;                                                                                             \
    } while (0)

/* Programs compiled with --default-stream per-thread call …_ptsz, for which stream 0 is the thread's own. */
#define STREAM_LEGACY ((cudart_stream)1)
#define STREAM_PER_THREAD ((cudart_stream)2)
#define PTSZ(name, params, args)                                                                                       \
    API cudart_error name##_ptsz params                                                                                \
    {                                                                                                                  \
        if (!stream)                                                                                                   \
            stream = STREAM_PER_THREAD;                                                                                \
        return name args;                                                                                              \
    }

/* ------------------------------------------------------------ registry.c */

/* The kernel of a host stub or of a handle, with its image loaded. */
cudart_error kernel_of(const void *function, cu_kernel *kernel);
/* Address and size of a __device__, __constant__ or __managed__ variable by the address of its host shadow. */
cudart_error variable_of(const void *symbol, cu_address *address, size_t *bytes);
/* What the driver answers for a kernel that is none. */
cudart_error kernel_error(cu_result result);

/* ------------------------------------------------------------ array.c, copy.c, texture.c */

/* The driver's format of channels; false when there is none. */
bool format_of(const cudart_channels *channels, uint32_t *format, uint32_t *count);
void channels_of(uint32_t format, uint32_t count, cudart_channels *channels);
uint32_t element_bytes(uint32_t format, uint32_t channels);
/* The driver's form of a copy. */
cudart_error convert_copy(const cudart_copy3d *from, cu_memcpy3d *to);

#endif
