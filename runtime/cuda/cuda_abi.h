/* cuda_abi.h - what this program has to know of the CUDA driver's binary interface.
 *
 * Facts only, under names of our own: sizes, field orders, numbers, and the parameters of the functions that we call,
 * as the CUDA Driver API reference describes them. tests/cuda_abi_check.cc compares every one with NVIDIA's cuda.h where
 * one is installed; nobody needs CUDA to build. Functions have the name of the symbol that is looked up, with its version
 * suffix: an exported symbol never changes its parameters, a changed function gets a new suffix.
 */
#ifndef RUNTIME_CUDA_ABI_H
#define RUNTIME_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cu_result;
typedef int32_t cu_device;
typedef uint64_t cu_address;                 /* CUdeviceptr, texture and surface objects are 64 bits as well */
typedef uint64_t cu_object;
typedef void *cu_context, *cu_module, *cu_function, *cu_stream, *cu_event, *cu_array;

/* ------------------------------------------------------------ results */

#define CUDA_RESULTS(X)                                                                                                \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                                     \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                                     \
    X(CUDA_ERROR_NOT_INITIALIZED, 3)                                                                                   \
    X(CUDA_ERROR_DEINITIALIZED, 4)                                                                                     \
    X(CUDA_ERROR_PROFILER_DISABLED, 5)                                                                                 \
    X(CUDA_ERROR_PROFILER_NOT_INITIALIZED, 6)                                                                          \
    X(CUDA_ERROR_PROFILER_ALREADY_STARTED, 7)                                                                          \
    X(CUDA_ERROR_PROFILER_ALREADY_STOPPED, 8)                                                                          \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                                                                                     \
    X(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, 36)                                                                       \
    X(CUDA_ERROR_DEVICE_UNAVAILABLE, 46)                                                                               \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                                       \
    X(CUDA_ERROR_INVALID_DEVICE, 101)                                                                                  \
    X(CUDA_ERROR_DEVICE_NOT_LICENSED, 102)                                                                             \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                                                                   \
    X(CUDA_ERROR_INVALID_CONTEXT, 201)                                                                                 \
    X(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, 202)                                                                         \
    X(CUDA_ERROR_MAP_FAILED, 205)                                                                                      \
    X(CUDA_ERROR_UNMAP_FAILED, 206)                                                                                    \
    X(CUDA_ERROR_ARRAY_IS_MAPPED, 207)                                                                                 \
    X(CUDA_ERROR_ALREADY_MAPPED, 208)                                                                                  \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                                               \
    X(CUDA_ERROR_ALREADY_ACQUIRED, 210)                                                                                \
    X(CUDA_ERROR_NOT_MAPPED, 211)                                                                                      \
    X(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, 212)                                                                             \
    X(CUDA_ERROR_NOT_MAPPED_AS_POINTER, 213)                                                                           \
    X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)                                                                               \
    X(CUDA_ERROR_UNSUPPORTED_LIMIT, 215)                                                                               \
    X(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, 216)                                                                          \
    X(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217)                                                                         \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                                     \
    X(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, 219)                                                                        \
    X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)                                                                            \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                                          \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                                         \
    X(CUDA_ERROR_JIT_COMPILATION_DISABLED, 223)                                                                        \
    X(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, 224)                                                                       \
    X(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, 225)                                                                        \
    X(CUDA_ERROR_CONTAINED, 226)                                                                                       \
    X(CUDA_ERROR_INVALID_SOURCE, 300)                                                                                  \
    X(CUDA_ERROR_FILE_NOT_FOUND, 301)                                                                                  \
    X(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302)                                                                  \
    X(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, 303)                                                                       \
    X(CUDA_ERROR_OPERATING_SYSTEM, 304)                                                                                \
    X(CUDA_ERROR_INVALID_HANDLE, 400)                                                                                  \
    X(CUDA_ERROR_ILLEGAL_STATE, 401)                                                                                   \
    X(CUDA_ERROR_LOSSY_QUERY, 402)                                                                                     \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                                       \
    X(CUDA_ERROR_NOT_READY, 600)                                                                                       \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                                                 \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                                         \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                                                  \
    X(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703)                                                                   \
    X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704)                                                                     \
    X(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705)                                                                         \
    X(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708)                                                                          \
    X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)                                                                            \
    X(CUDA_ERROR_ASSERT, 710)                                                                                          \
    X(CUDA_ERROR_TOO_MANY_PEERS, 711)                                                                                  \
    X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712)                                                                  \
    X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713)                                                                      \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                                            \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                                                             \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                                                              \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                                                           \
    X(CUDA_ERROR_INVALID_PC, 718)                                                                                      \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                                                                                   \
    X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                                                    \
    X(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)                                                                              \
    X(CUDA_ERROR_NOT_PERMITTED, 800)                                                                                   \
    X(CUDA_ERROR_NOT_SUPPORTED, 801)                                                                                   \
    X(CUDA_ERROR_SYSTEM_NOT_READY, 802)                                                                                \
    X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                                                          \
    X(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                                                                  \
    X(CUDA_ERROR_MPS_CONNECTION_FAILED, 805)                                                                           \
    X(CUDA_ERROR_MPS_RPC_FAILURE, 806)                                                                                 \
    X(CUDA_ERROR_MPS_SERVER_NOT_READY, 807)                                                                            \
    X(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808)                                                                         \
    X(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809)                                                                     \
    X(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)                                                                           \
    X(CUDA_ERROR_CDP_NOT_SUPPORTED, 811)                                                                               \
    X(CUDA_ERROR_CDP_VERSION_MISMATCH, 812)                                                                            \
    X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                                                                      \
    X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                                                                      \
    X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902)                                                                            \
    X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903)                                                                        \
    X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904)                                                                         \
    X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905)                                                                        \
    X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)                                                                         \
    X(CUDA_ERROR_CAPTURED_EVENT, 907)                                                                                  \
    X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                                                                     \
    X(CUDA_ERROR_TIMEOUT, 909)                                                                                         \
    X(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910)                                                                       \
    X(CUDA_ERROR_EXTERNAL_DEVICE, 911)                                                                                 \
    X(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912)                                                                            \
    X(CUDA_ERROR_FUNCTION_NOT_LOADED, 913)                                                                             \
    X(CUDA_ERROR_INVALID_RESOURCE_TYPE, 914)                                                                           \
    X(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, 915)                                                                  \
    X(CUDA_ERROR_KEY_ROTATION, 916)                                                                                    \
    X(CUDA_ERROR_UNKNOWN, 999)

/* Our names: CUABI_CUDA_ERROR_…, so that cuda.h can be included beside this header. */
#define CUABI_NUMBER(name, value) CUABI_##name = value,
enum { CUABI_SUCCESS = 0, CUDA_RESULTS(CUABI_NUMBER) CUABI_RESULT_END };

/* ------------------------------------------------------------ other numbers */

#define CUDA_NUMBERS(X)                                                                                                \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                                               \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                                    \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                                \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                                \
    X(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95)                                                                      \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                       \
    X(CU_LIMIT_STACK_SIZE, 0)                                                                                          \
    X(CU_LIMIT_PRINTF_FIFO_SIZE, 1)                                                                                    \
    X(CU_EVENT_DISABLE_TIMING, 2)                                                                                      \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                                                                      \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                                           \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                          \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                              \
    X(CU_AD_FORMAT_UNSIGNED_INT8, 1)                                                                                   \
    X(CU_AD_FORMAT_UNSIGNED_INT16, 2)                                                                                  \
    X(CU_AD_FORMAT_UNSIGNED_INT32, 3)                                                                                  \
    X(CU_AD_FORMAT_SIGNED_INT8, 8)                                                                                     \
    X(CU_AD_FORMAT_SIGNED_INT16, 9)                                                                                    \
    X(CU_AD_FORMAT_SIGNED_INT32, 10)                                                                                   \
    X(CU_AD_FORMAT_HALF, 16)                                                                                           \
    X(CU_AD_FORMAT_FLOAT, 32)                                                                                          \
    X(CU_MEMORYTYPE_HOST, 1)                                                                                           \
    X(CU_MEMORYTYPE_ARRAY, 3)                                                                                          \
    X(CU_RESOURCE_TYPE_ARRAY, 0)                                                                                       \
    X(CU_TR_ADDRESS_MODE_WRAP, 0)                                                                                      \
    X(CU_TR_ADDRESS_MODE_CLAMP, 1)                                                                                     \
    X(CU_TR_ADDRESS_MODE_MIRROR, 2)                                                                                    \
    X(CU_TR_ADDRESS_MODE_BORDER, 3)                                                                                    \
    X(CU_TR_FILTER_MODE_POINT, 0)                                                                                      \
    X(CU_TR_FILTER_MODE_LINEAR, 1)                                                                                     \
    X(CU_TRSF_READ_AS_INTEGER, 1)                                                                                      \
    X(CU_TRSF_NORMALIZED_COORDINATES, 2)                                                                               \
    X(CUDA_ARRAY3D_SURFACE_LDST, 2)                                                                                    \
    X(CU_GET_PROC_ADDRESS_LEGACY_STREAM, 1)

enum { CUDA_NUMBERS(CUABI_NUMBER) CUABI_NUMBER_END };

/* Marks of a packed parameter block in cuLaunchKernel's `extra`. */
#define CUABI_LAUNCH_PARAM_END ((void *)0)
#define CUABI_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CUABI_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

/* ------------------------------------------------------------ structures */

/* CUDA_ARRAY3D_DESCRIPTOR. Dimensions that an array lacks are 0. */
typedef struct cu_array3d_desc {
    size_t width, height, depth;
    uint32_t format, channels, flags;
} cu_array3d_desc;

typedef struct cu_copy_end {
    size_t x_bytes, y, z, lod;
    uint32_t memory_type;
    union {
        const void *from;
        void *to;
    } host;
    cu_address device;
    cu_array array;
    void *reserved;
    size_t pitch, height;
} cu_copy_end;

/* CUDA_MEMCPY3D: source, destination, extent. */
typedef struct cu_memcpy3d {
    cu_copy_end source, target;
    size_t width_bytes, height, depth;
} cu_memcpy3d;

/* CUDA_RESOURCE_DESC of an array. */
typedef struct cu_resource_desc {
    uint32_t type;
    union {
        cu_array array;
        int32_t reserved[32];
    } resource;
    uint32_t flags;
} cu_resource_desc;

/* CUDA_TEXTURE_DESC. */
typedef struct cu_texture_desc {
    uint32_t address[3], filter, flags, max_anisotropy, mip_filter;
    float mip_bias, mip_min, mip_max, border[4];
    int32_t reserved[12];
} cu_texture_desc;

/* ------------------------------------------------------------ functions */

/* X(symbol, CUDA version that brought these parameters, parameters). Every function returns a cu_result. */
#define CUDA_FUNCTIONS(X)                                                                                              \
    X(cuInit, 2000, (uint32_t flags))                                                                                  \
    X(cuDriverGetVersion, 2020, (int *version))                                                                        \
    X(cuGetErrorName, 6000, (cu_result error, const char **name))                                                      \
    X(cuGetErrorString, 6000, (cu_result error, const char **text))                                                    \
    X(cuDeviceGetCount, 2000, (int *count))                                                                            \
    X(cuDeviceGet, 2000, (cu_device *device, int ordinal))                                                             \
    X(cuDeviceGetName, 2000, (char *name, int size, cu_device device))                                                 \
    X(cuDeviceGetAttribute, 2000, (int *value, int32_t attribute, cu_device device))                                   \
    X(cuDeviceTotalMem_v2, 3020, (size_t *bytes, cu_device device))                                                    \
    X(cuCtxCreate_v2, 3020, (cu_context *context, uint32_t flags, cu_device device))                                   \
    X(cuCtxDestroy_v2, 4000, (cu_context context))                                                                     \
    X(cuCtxPushCurrent_v2, 4000, (cu_context context))                                                                 \
    X(cuCtxPopCurrent_v2, 4000, (cu_context *context))                                                                 \
    X(cuCtxSetLimit, 3010, (int32_t limit, size_t value))                                                              \
    X(cuCtxSynchronize, 2000, (void))                                                                                  \
    X(cuMemGetInfo_v2, 3020, (size_t *left, size_t *total))                                                            \
    X(cuMemAlloc_v2, 3020, (cu_address *address, size_t bytes))                                                        \
    X(cuMemFree_v2, 3020, (cu_address address))                                                                        \
    X(cuMemcpyHtoD_v2, 3020, (cu_address to, const void *from, size_t bytes))                                          \
    X(cuMemcpyDtoH_v2, 3020, (void *to, cu_address from, size_t bytes))                                                \
    X(cuMemcpyDtoD_v2, 3020, (cu_address to, cu_address from, size_t bytes))                                           \
    X(cuMemsetD8_v2, 3020, (cu_address to, uint8_t value, size_t bytes))                                               \
    X(cuModuleLoadDataEx, 2010,                                                                                        \
      (cu_module * module, const void *image, uint32_t count, int32_t *options, void **values))                        \
    X(cuModuleUnload, 2000, (cu_module module))                                                                        \
    X(cuModuleGetFunction, 2000, (cu_function * function, cu_module module, const char *name))                         \
    X(cuModuleGetGlobal_v2, 3020, (cu_address *address, size_t *bytes, cu_module module, const char *name))            \
    X(cuFuncGetAttribute, 2020, (int *value, int32_t attribute, cu_function function))                                 \
    X(cuFuncSetAttribute, 9000, (cu_function function, int32_t attribute, int value))                                  \
    X(cuLaunchKernel, 4000,                                                                                            \
      (cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,    \
       uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params, void **extra))                        \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                                               \
      (int *blocks, cu_function function, int threads, size_t shared_bytes))                                           \
    X(cuLaunchCooperativeKernel, 9000,                                                                                 \
      (cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,    \
       uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params))                                      \
    X(cuEventCreate, 2000, (cu_event * event, uint32_t flags))                                                         \
    X(cuEventRecord, 2000, (cu_event event, cu_stream stream))                                                         \
    X(cuEventQuery, 2000, (cu_event event))                                                                            \
    X(cuArray3DCreate_v2, 3020, (cu_array * array, const cu_array3d_desc *desc))                                       \
    X(cuArrayDestroy, 2000, (cu_array array))                                                                          \
    X(cuMemcpy3D_v2, 3020, (const cu_memcpy3d *copy))                                                                  \
    X(cuTexObjectCreate, 5000,                                                                                         \
      (cu_object * texture, const cu_resource_desc *resource, const cu_texture_desc *desc, const void *view))          \
    X(cuTexObjectDestroy, 5000, (cu_object texture))                                                                   \
    X(cuSurfObjectCreate, 5000, (cu_object * surface, const cu_resource_desc *resource))                               \
    X(cuSurfObjectDestroy, 5000, (cu_object surface))

/* The two generations of the driver's own look-up. */
typedef cu_result (*cu_get_proc_v1)(const char *symbol, void **function, int version, uint64_t flags);
typedef cu_result (*cu_get_proc_v2)(const char *symbol, void **function, int version, uint64_t flags, int32_t *status);

#endif
