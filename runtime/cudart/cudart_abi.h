/* cudart_abi.h - what this program has to know of the CUDA runtime's binary interface.
 *
 * Facts only, under names of our own: sizes, field orders and numbers, as the CUDA Runtime API reference describes them.
 * tests/cudart_abi_check.cc compares every one with NVIDIA's cuda_runtime_api.h where one is installed. CUDART_MAJOR (12 or 13) says
 * whose layouts are meant; the two differ in the device properties and in the parameters of a few functions (versions.c).
 */
#ifndef RUNTIME_CUDART_ABI_H
#define RUNTIME_CUDART_ABI_H

#include <stddef.h>
#include <stdint.h>
#include "runtime/cuda/cuda_abi.h"

typedef int32_t cudart_error;
typedef cu_stream cudart_stream;

/* ------------------------------------------------------------ errors */

/* X(name, number, text). Where the driver has the same condition the number is the driver's. */
#define CUDART_ERRORS(X)                                                                                               \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                                    \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                                                   \
    X(cudaErrorInitializationError, 3, "initialization error")                                                         \
    X(cudaErrorCudartUnloading, 4, "driver shutting down")                                                             \
    X(cudaErrorProfilerDisabled, 5, "profiler disabled")                                                               \
    X(cudaErrorProfilerNotInitialized, 6, "profiler not initialized")                                                  \
    X(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                                                  \
    X(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                                                  \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                              \
    X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                                        \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                             \
    X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                                         \
    X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                                     \
    X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                                        \
    X(cudaErrorInvalidTextureBinding, 19, "invalid texture binding")                                                   \
    X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                             \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction")                                                   \
    X(cudaErrorAddressOfConstant, 22, "address of a constant")                                                         \
    X(cudaErrorTextureFetchFailed, 23, "texture fetch failed")                                                         \
    X(cudaErrorTextureNotBound, 24, "texture not bound")                                                               \
    X(cudaErrorSynchronizationError, 25, "synchronization error")                                                      \
    X(cudaErrorInvalidFilterSetting, 26, "linear filtering of a non-float texture")                                    \
    X(cudaErrorInvalidNormSetting, 27, "normalized float reads of a type that has none")                               \
    X(cudaErrorMixedDeviceExecution, 28, "mixed device execution")                                                     \
    X(cudaErrorNotYetImplemented, 31, "not yet implemented")                                                           \
    X(cudaErrorMemoryValueTooLarge, 32, "memory value too large")                                                      \
    X(cudaErrorStubLibrary, 34, "the driver library is a stub")                                                        \
    X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")                    \
    X(cudaErrorCallRequiresNewerDriver, 36, "the call needs a newer driver")                                           \
    X(cudaErrorInvalidSurface, 37, "invalid surface reference")                                                        \
    X(cudaErrorDuplicateVariableName, 43, "duplicate global variable")                                                 \
    X(cudaErrorDuplicateTextureName, 44, "duplicate texture")                                                          \
    X(cudaErrorDuplicateSurfaceName, 45, "duplicate surface")                                                          \
    X(cudaErrorDevicesUnavailable, 46, "all devices are busy or unavailable")                                          \
    X(cudaErrorIncompatibleDriverContext, 49, "the current driver context is not compatible")                          \
    X(cudaErrorMissingConfiguration, 52, "launch without a configuration")                                             \
    X(cudaErrorPriorLaunchFailure, 53, "an earlier launch failed")                                                     \
    X(cudaErrorLaunchMaxDepthExceeded, 65, "launch would exceed the maximum depth")                                    \
    X(cudaErrorLaunchFileScopedTex, 66, "launch with file-scoped textures")                                            \
    X(cudaErrorLaunchFileScopedSurf, 67, "launch with file-scoped surfaces")                                           \
    X(cudaErrorSyncDepthExceeded, 68, "synchronization would exceed the maximum depth")                                \
    X(cudaErrorLaunchPendingCountExceeded, 69, "too many pending launches")                                            \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                                   \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                                    \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                           \
    X(cudaErrorDeviceNotLicensed, 102, "device without a licence")                                                     \
    X(cudaErrorSoftwareValidityNotEstablished, 103, "integrity checks failed")                                         \
    X(cudaErrorStartupFailure, 127, "the runtime could not start")                                                     \
    X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                                              \
    X(cudaErrorDeviceUninitialized, 201, "invalid device context")                                                     \
    X(cudaErrorMapBufferObjectFailed, 205, "mapping of a buffer object failed")                                        \
    X(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of a buffer object failed")                                    \
    X(cudaErrorArrayIsMapped, 207, "array is mapped")                                                                  \
    X(cudaErrorAlreadyMapped, 208, "resource already mapped")                                                          \
    X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")                \
    X(cudaErrorAlreadyAcquired, 210, "resource already acquired")                                                      \
    X(cudaErrorNotMapped, 211, "resource not mapped")                                                                  \
    X(cudaErrorNotMappedAsArray, 212, "resource not mapped as array")                                                  \
    X(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer")                                              \
    X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                                           \
    X(cudaErrorUnsupportedLimit, 215, "limit is not supported on this device")                                         \
    X(cudaErrorDeviceAlreadyInUse, 216, "another thread uses the device exclusively")                                  \
    X(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")                   \
    X(cudaErrorInvalidPtx, 218, "the PTX cannot be compiled")                                                          \
    X(cudaErrorInvalidGraphicsContext, 219, "invalid graphics context")                                                \
    X(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error")                                                 \
    X(cudaErrorJitCompilerNotFound, 221, "PTX compiler library not found")                                             \
    X(cudaErrorUnsupportedPtxVersion, 222, "the PTX is of an unsupported version")                                     \
    X(cudaErrorJitCompilationDisabled, 223, "PTX compilation is disabled")                                             \
    X(cudaErrorUnsupportedExecAffinity, 224, "this execution affinity is not supported")                               \
    X(cudaErrorUnsupportedDevSideSync, 225, "synchronization on the device is not supported")                          \
    X(cudaErrorContained, 226, "contained error")                                                                      \
    X(cudaErrorInvalidSource, 300, "device kernel image is invalid")                                                   \
    X(cudaErrorFileNotFound, 301, "file not found")                                                                    \
    X(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")                                      \
    X(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")                                     \
    X(cudaErrorOperatingSystem, 304, "call to the operating system failed")                                            \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                                  \
    X(cudaErrorIllegalState, 401, "the operation is not permitted in the object's state")                              \
    X(cudaErrorLossyQuery, 402, "the query would lose information")                                                    \
    X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                          \
    X(cudaErrorNotReady, 600, "device not ready")                                                                      \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                        \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                                   \
    X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                          \
    X(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")                            \
    X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                        \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                          \
    X(cudaErrorSetOnActiveProcess, 708, "cannot be set while the device is active in this process")                    \
    X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                                        \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                                            \
    X(cudaErrorTooManyPeers, 711, "too many peers")                                                                    \
    X(cudaErrorHostMemoryAlreadyRegistered, 712, "this memory is already registered")                                  \
    X(cudaErrorHostMemoryNotRegistered, 713, "this memory is not registered")                                          \
    X(cudaErrorHardwareStackError, 714, "hardware stack error")                                                        \
    X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                                      \
    X(cudaErrorMisalignedAddress, 716, "misaligned address")                                                           \
    X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space")                     \
    X(cudaErrorInvalidPc, 718, "invalid program counter")                                                              \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                       \
    X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                                \
    X(cudaErrorNotPermitted, 800, "operation not permitted")                                                           \
    X(cudaErrorNotSupported, 801, "operation not supported")                                                           \
    X(cudaErrorSystemNotReady, 802, "system not yet initialized")                                                      \
    X(cudaErrorSystemDriverMismatch, 803, "system has unsupported display driver / cuda driver combination")           \
    X(cudaErrorCompatNotSupportedOnDevice, 804, "forward compatibility is not supported on this device")               \
    X(cudaErrorMpsConnectionFailed, 805, "no connection to the MPS server")                                            \
    X(cudaErrorMpsRpcFailure, 806, "MPS call failed")                                                                  \
    X(cudaErrorMpsServerNotReady, 807, "MPS server not ready")                                                         \
    X(cudaErrorMpsMaxClientsReached, 808, "too many MPS clients")                                                      \
    X(cudaErrorMpsMaxConnectionsReached, 809, "too many MPS connections")                                              \
    X(cudaErrorMpsClientTerminated, 810, "MPS client terminated")                                                      \
    X(cudaErrorCdpNotSupported, 811, "launches from the device are not supported")                                     \
    X(cudaErrorCdpVersionMismatch, 812, "launches from the device of two versions")                                    \
    X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")                      \
    X(cudaErrorStreamCaptureInvalidated, 901, "stream capture was invalidated by an earlier error")                    \
    X(cudaErrorStreamCaptureMerge, 902, "two captures would merge")                                                    \
    X(cudaErrorStreamCaptureUnmatched, 903, "capture was not begun in this stream")                                    \
    X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                                       \
    X(cudaErrorStreamCaptureIsolation, 905, "dependency crosses from uncaptured work into a capture")                  \
    X(cudaErrorStreamCaptureImplicit, 906, "implicit dependency on a capturing legacy stream")                         \
    X(cudaErrorCapturedEvent, 907, "operation not permitted on an event last recorded in a capturing stream")          \
    X(cudaErrorStreamCaptureWrongThread, 908, "capture was begun by another thread")                                   \
    X(cudaErrorTimeout, 909, "wait operation timed out")                                                               \
    X(cudaErrorGraphExecUpdateFailure, 910, "the graph update was not performed")                                      \
    X(cudaErrorExternalDevice, 911, "an external device failed")                                                       \
    X(cudaErrorInvalidClusterSize, 912, "invalid cluster size")                                                        \
    X(cudaErrorFunctionNotLoaded, 913, "function not loaded")                                                          \
    X(cudaErrorInvalidResourceType, 914, "invalid resource type")                                                      \
    X(cudaErrorInvalidResourceConfiguration, 915, "invalid resource configuration")                                    \
    X(cudaErrorUnknown, 999, "unknown error")

/* Our names: RT_cudaError…, so that cuda_runtime_api.h can be included beside this header. */
#define CUDART_ERROR_NUMBER(name, value, text) RT_##name = value,
enum { RT_cudaSuccess = 0, CUDART_ERRORS(CUDART_ERROR_NUMBER) RT_cudaErrorEnd };

/* ------------------------------------------------------------ other numbers */

#define CUDART_NUMBERS(X)                                                                                              \
    X(cudaMemcpyHostToHost, 0)                                                                                         \
    X(cudaMemcpyHostToDevice, 1)                                                                                       \
    X(cudaMemcpyDeviceToHost, 2)                                                                                       \
    X(cudaMemcpyDeviceToDevice, 3)                                                                                     \
    X(cudaMemcpyDefault, 4)                                                                                            \
    X(cudaChannelFormatKindSigned, 0)                                                                                  \
    X(cudaChannelFormatKindUnsigned, 1)                                                                                \
    X(cudaChannelFormatKindFloat, 2)                                                                                   \
    X(cudaChannelFormatKindNone, 3)                                                                                    \
    X(cudaMemoryTypeUnregistered, 0)                                                                                   \
    X(cudaMemoryTypeHost, 1)                                                                                           \
    X(cudaMemoryTypeDevice, 2)                                                                                         \
    X(cudaMemoryTypeManaged, 3)                                                                                        \
    X(cudaResourceTypeArray, 0)                                                                                        \
    X(cudaResourceTypeMipmappedArray, 1)                                                                               \
    X(cudaResourceTypeLinear, 2)                                                                                       \
    X(cudaResourceTypePitch2D, 3)                                                                                      \
    X(cudaReadModeElementType, 0)                                                                                      \
    X(cudaReadModeNormalizedFloat, 1)                                                                                  \
    X(cudaGraphNodeTypeKernel, 0)                                                                                      \
    X(cudaGraphNodeTypeMemcpy, 1)                                                                                      \
    X(cudaGraphNodeTypeMemset, 2)                                                                                      \
    X(cudaGraphNodeTypeHost, 3)                                                                                        \
    X(cudaGraphNodeTypeGraph, 4)                                                                                       \
    X(cudaGraphNodeTypeEmpty, 5)                                                                                       \
    X(cudaGraphNodeTypeWaitEvent, 6)                                                                                   \
    X(cudaGraphNodeTypeEventRecord, 7)                                                                                 \
    X(cudaGraphNodeTypeMemAlloc, 10)                                                                                   \
    X(cudaGraphNodeTypeMemFree, 11) X(cudaGraphNodeTypeConditional, 13)                                                \
    X(cudaLaunchAttributeCooperative, 2)

#define CUDART_NUMBER(name, value) RT_##name = value,
enum { CUDART_NUMBERS(CUDART_NUMBER) RT_cudartNumberEnd };

/* ------------------------------------------------------------ structures */

typedef struct cudart_dim3 { uint32_t x, y, z; } cudart_dim3;
typedef struct cudart_extent { size_t width, height, depth; } cudart_extent;
typedef struct cudart_pos { size_t x, y, z; } cudart_pos;
typedef struct cudart_pitched { void *ptr; size_t pitch, xsize, ysize; } cudart_pitched;
typedef struct cudart_channels { int x, y, z, w; int32_t kind; } cudart_channels;
typedef struct cudart_location { int32_t type; int id; } cudart_location;

typedef struct cudart_copy3d {           /* cudaMemcpy3DParms */
    cu_array source_array;
    cudart_pos source_pos;
    cudart_pitched source;
    cu_array target_array;
    cudart_pos target_pos;
    cudart_pitched target;
    cudart_extent extent;
    int32_t kind;
} cudart_copy3d;

typedef struct cudart_copy3d_peer {      /* cudaMemcpy3DPeerParms */
    cu_array source_array;
    cudart_pos source_pos;
    cudart_pitched source;
    int source_device;
    cu_array target_array;
    cudart_pos target_pos;
    cudart_pitched target;
    int target_device;
    cudart_extent extent;
} cudart_copy3d_peer;

typedef struct cudart_function_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout, cluster_must_be_set,
        cluster_width, cluster_height, cluster_depth, cluster_policy, non_portable_cluster, reserved[16];
} cudart_function_attributes;

typedef struct cudart_pointer_attributes {
    int32_t type;
    int device;
    void *device_pointer, *host_pointer;
#if CUDART_MAJOR >= 13
    long reserved[8];
#endif
} cudart_pointer_attributes;

typedef struct cudart_resource {         /* cudaResourceDesc */
    int32_t type;
    union {
        cu_array array;
        cu_array mipmap;
        struct { void *base; cudart_channels channels; size_t bytes; } linear;
        struct { void *base; cudart_channels channels; size_t width, height, pitch; } pitch2d;
#if CUDART_MAJOR >= 13
        int reserved[32];
#endif
    } of;
#if CUDART_MAJOR >= 13
    uint32_t flags;
#endif
} cudart_resource;

typedef struct cudart_texture {          /* cudaTextureDesc */
    int32_t address[3], filter, read;
    int srgb;
    float border[4];
    int normalized;
    uint32_t max_anisotropy;
    int32_t mip_filter;
    float mip_bias, mip_min, mip_max;
    int no_trilinear_optimization, seamless_cubemap;
} cudart_texture;

typedef struct cudart_view {             /* cudaResourceViewDesc */
    int32_t format;
    size_t width, height, depth;
    uint32_t first_level, last_level, first_layer, last_layer;
#if CUDART_MAJOR >= 13
    uint32_t reserved[16];
#endif
} cudart_view;

/* cudaLaunchConfig_t and CUlaunchConfig hold the same attributes. */
typedef struct cudart_launch_config {
    cudart_dim3 grid, block;
    size_t shared_bytes;
    cudart_stream stream;
    void *attributes;
    uint32_t nattributes;
} cudart_launch_config;

typedef struct cudart_kernel_node {      /* cudaKernelNodeParams */
    void *function;
    cudart_dim3 grid, block;
    uint32_t shared_bytes;
    void **params, **extra;
} cudart_kernel_node;

typedef struct cudart_memset_node {      /* cudaMemsetParams */
    void *target;
    size_t pitch;
    uint32_t value, element;
    size_t width, height;
} cudart_memset_node;

typedef struct cudart_host_node { void (*function)(void *); void *user; } cudart_host_node;

typedef struct cudart_pool_props {       /* cudaMemPoolProps = CUmemPoolProps */
    int32_t kind, handles;
    cudart_location location;
    void *security;
    size_t most;
    uint16_t usage;
    uint8_t reserved[54];
} cudart_pool_props;

typedef struct cudart_alloc_node {       /* cudaMemAllocNodeParams = CUDA_MEM_ALLOC_NODE_PARAMS */
    cudart_pool_props pool;
    const void *access;
    size_t naccess, bytes;
    void *address;
} cudart_alloc_node;

/* cudaConditionalNodeParams; what may follow is of the driver's form and not used. */
typedef struct cudart_conditional_node { uint64_t handle; int32_t type; uint32_t size; void **bodies; } cudart_conditional_node;

/* cudaGraphNodeParams: the union of what a node may be. */
typedef struct cudart_node {
    int32_t type, reserved0[3];
    union {
        int64_t room[29];
        cudart_kernel_node kernel;
        struct { int flags, reserved[3]; cudart_copy3d copy; } copy;
        cudart_memset_node memset;
        cudart_host_node host;
        cudart_alloc_node alloc;
        cudart_conditional_node conditional;
        void *object;                    /* child graph, event, or address to free */
    } of;
    int64_t reserved2;
} cudart_node;

typedef struct cudart_edge { uint8_t from_port, to_port, type, reserved[5]; } cudart_edge;

typedef struct cudart_update_result { int32_t result; void *node, *from; } cudart_update_result;

/* cudaDeviceProp. X(field, count, driver attribute) for the integers in order; what has no attribute is 0 and stays 0. */
typedef struct cudart_properties {
    char name[256];
    uint8_t uuid[16];
    char luid[8];
    uint32_t luid_mask;
    size_t total_memory, shared_block;
    int registers_block, warp;
    size_t pitch;
    int threads_block, block_dim[3], grid_dim[3];
#if CUDART_MAJOR < 13
    int clock_rate;
#endif
    size_t const_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
#if CUDART_MAJOR < 13
    int overlap;
#endif
    int multiprocessors;
#if CUDART_MAJOR < 13
    int kernel_timeout;
#endif
    int integrated, map_host;
#if CUDART_MAJOR < 13
    int compute_mode;
#endif
    int texture_1d, texture_1d_mip;
#if CUDART_MAJOR < 13
    int texture_1d_linear;
#endif
    int texture_2d[2], texture_2d_mip[2], texture_2d_linear[3], texture_2d_gather[2], texture_3d[3], texture_3d_alt[3], texture_cube,
        texture_1d_layered[2], texture_2d_layered[3], texture_cube_layered[2], surface_1d, surface_2d[2], surface_3d[3],
        surface_1d_layered[2], surface_2d_layered[3], surface_cube, surface_cube_layered[2];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
#if CUDART_MAJOR < 13
    int memory_clock;
#endif
    int bus_width, l2, l2_persisting, threads_multiprocessor, priorities, global_l1, local_l1;
    size_t shared_multiprocessor;
    int registers_multiprocessor, managed, multi_gpu_board, multi_gpu_group, host_atomics;
#if CUDART_MAJOR < 13
    int double_ratio;
#endif
    int pageable_access, concurrent_managed, preemption, host_pointer, cooperative;
#if CUDART_MAJOR < 13
    int cooperative_multi_device;
#endif
    size_t shared_optin;
    int host_page_tables, direct_managed, blocks_multiprocessor, access_window;
    size_t shared_reserved;
    int host_register, sparse_arrays, host_register_readonly, timeline_semaphores, memory_pools, rdma;
    uint32_t rdma_flush;
    int rdma_ordering;
    uint32_t pool_handles;
    int deferred_arrays, ipc_event, cluster, unified_functions;
#if CUDART_MAJOR < 13
    int reserved2[2], reserved1[1], reserved[60];
#else
    int numa_config, numa_id, mps, host_numa;
    uint32_t pci_device_id, pci_subsystem;
    int numa_ipc, reserved[56];
#endif
} cudart_properties;

#endif
