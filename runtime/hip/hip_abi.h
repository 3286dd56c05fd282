/* hip_abi.h - the part of HIP's binary interface that is used: facts of AMD's public hip_runtime_api.h, ROCm 5 to 7.
 *
 * No HIP header is needed to build. tests/hip_test.cc compares this page with the installed headers where there are any.
 * Structures whose layout changed between releases are avoided; see hip_architecture in hip_library.h for the one that is not.
 */
#ifndef HIP_HIP_ABI_H
#define HIP_HIP_ABI_H

#include <stddef.h>

typedef int hip_error;                       /* hipError_t */
enum {
    HIP_SUCCESS = 0,
    HIP_INVALID_VALUE = 1,
    HIP_OUT_OF_MEMORY = 2,
    HIP_NOT_INITIALIZED = 3,
    HIP_INVALID_CONFIGURATION = 9,
    HIP_NO_DEVICE = 100,
    HIP_INVALID_DEVICE = 101,
    HIP_INVALID_IMAGE = 200,
    HIP_NO_BINARY_FOR_GPU = 209,
    HIP_INVALID_HANDLE = 400,
    HIP_NOT_FOUND = 500,
    HIP_NOT_READY = 600,
    HIP_ILLEGAL_ADDRESS = 700,
    HIP_LAUNCH_OUT_OF_RESOURCES = 701,
    HIP_LAUNCH_TIME_OUT = 702,
    HIP_ASSERT = 710,
    HIP_LAUNCH_FAILURE = 719,
    HIP_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    HIP_NOT_SUPPORTED = 801,
    HIP_UNKNOWN = 999
};

enum { HIP_HOST_TO_DEVICE = 1, HIP_DEVICE_TO_HOST = 2, HIP_DEVICE_TO_DEVICE = 3 };   /* hipMemcpyKind */

/* hipDeviceAttribute_t */
enum {
    HIP_ATTRIBUTE_CLOCK_RATE = 5,
    HIP_ATTRIBUTE_COOPERATIVE_LAUNCH = 10,
    HIP_ATTRIBUTE_MULTIPROCESSOR_COUNT = 63,
    HIP_ATTRIBUTE_SHARED_PER_BLOCK = 74,
    HIP_ATTRIBUTE_WARP_SIZE = 87
};

enum { HIP_LIMIT_STACK_SIZE = 0 };           /* hipLimit_t */

/* Flags of hipHostMalloc, hipHostRegister and hipMallocManaged. */
enum { HIP_HOST_PORTABLE = 1, HIP_HOST_MAPPED = 2, HIP_HOST_COHERENT = 0x40000000, HIP_REGISTER_MAPPED = 2, HIP_ATTACH_GLOBAL = 1 };

/* Handles are pointers; a device is its number. */
typedef void *hip_module, *hip_function, *hip_stream, *hip_event, *hip_pointer;

/* Words of hipModuleLaunchKernel's `extra`. */
#define HIP_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_PARAM_END ((void *)3)

/* X(name, result, parameters): the functions that must be there. */
#define HIP_FUNCTIONS(X)                                                                                                      \
    X(hipInit, hip_error, (unsigned flags))                                                                                   \
    X(hipRuntimeGetVersion, hip_error, (int *version))                                                                        \
    X(hipGetDeviceCount, hip_error, (int *count))                                                                             \
    X(hipSetDevice, hip_error, (int device))                                                                                  \
    X(hipDeviceGetName, hip_error, (char *name, int length, int device))                                                      \
    X(hipDeviceGetAttribute, hip_error, (int *value, int attribute, int device))                                              \
    X(hipMalloc, hip_error, (hip_pointer *pointer, size_t bytes))                                                             \
    X(hipFree, hip_error, (hip_pointer pointer))                                                                              \
    X(hipMallocManaged, hip_error, (hip_pointer *pointer, size_t bytes, unsigned flags))                                      \
    X(hipHostMalloc, hip_error, (void **pointer, size_t bytes, unsigned flags))                                               \
    X(hipHostFree, hip_error, (void *pointer))                                                                                \
    X(hipHostRegister, hip_error, (void *pointer, size_t bytes, unsigned flags))                                              \
    X(hipHostUnregister, hip_error, (void *pointer))                                                                          \
    X(hipHostGetDevicePointer, hip_error, (hip_pointer *pointer, void *host, unsigned flags))                                 \
    X(hipDeviceReset, hip_error, (void))                                                                                      \
    X(hipMemcpy, hip_error, (void *to, const void *from, size_t bytes, int kind))                                             \
    X(hipMemset, hip_error, (hip_pointer to, int value, size_t bytes))                                                        \
    X(hipMemGetInfo, hip_error, (size_t *free, size_t *total))                                                                \
    X(hipModuleLoadData, hip_error, (hip_module *module, const void *image))                                                  \
    X(hipModuleUnload, hip_error, (hip_module module))                                                                        \
    X(hipModuleGetFunction, hip_error, (hip_function *function, hip_module module, const char *name))                         \
    X(hipModuleGetGlobal, hip_error, (hip_pointer *pointer, size_t *bytes, hip_module module, const char *name))              \
    X(hipModuleLaunchKernel, hip_error,                                                                                       \
      (hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,          \
       unsigned block_z, unsigned shared, hip_stream stream, void **params, void **extra))                                    \
    X(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, hip_error,                                                          \
      (int *blocks, hip_function function, int threads, size_t dynamic_shared))                                               \
    X(hipStreamCreate, hip_error, (hip_stream *stream))                                                                       \
    X(hipStreamDestroy, hip_error, (hip_stream stream))                                                                       \
    X(hipStreamSynchronize, hip_error, (hip_stream stream))                                                                   \
    X(hipEventCreate, hip_error, (hip_event *event))                                                                          \
    X(hipEventDestroy, hip_error, (hip_event event))                                                                          \
    X(hipEventRecord, hip_error, (hip_event event, hip_stream stream))                                                        \
    X(hipEventQuery, hip_error, (hip_event event))                                                                            \
    X(hipEventElapsedTime, hip_error, (float *ms, hip_event start, hip_event stop))                                           \
    X(hipGetLastError, hip_error, (void))                                                                                     \
    X(hipGetErrorName, const char *, (hip_error error))                                                                       \
    X(hipGetErrorString, const char *, (hip_error error))

/* The functions that may be missing. hipGetDeviceProperties is the layout of ROCm 5; with ROCm 6 the second name appeared for
 * the new layout. The first pointer is hipDeviceProp_t. */
#define HIP_OPTIONAL_FUNCTIONS(X)                                                                                             \
    X(hipGetDeviceProperties, hip_error, (void *properties, int device))                                                      \
    X(hipGetDevicePropertiesR0600, hip_error, (void *properties, int device))                                                 \
    X(hipDeviceSetLimit, hip_error, (int limit, size_t value))                                                                \
    X(hipModuleLaunchCooperativeKernel, hip_error,                                                                            \
      (hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,          \
       unsigned block_z, unsigned shared, hip_stream stream, void **params))

#endif
