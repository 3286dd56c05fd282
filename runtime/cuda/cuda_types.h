/* cuda_types.h - the rest of the CUDA driver's binary interface: what a library that stands in its place has to know.
 *
 * cuda_abi.h is what this program needs to call a driver, this is what it needs to be one. The same rules: facts under names of
 * our own, compared with NVIDIA's cuda.h by tests/driver_abi_check.cc where one is installed.
 */
#ifndef RUNTIME_CUDA_TYPES_H
#define RUNTIME_CUDA_TYPES_H

#include "runtime/cuda/cuda_abi.h"

typedef void *cu_mipmap, *cu_texref, *cu_surfref, *cu_library, *cu_kernel, *cu_graph, *cu_node, *cu_exec, *cu_pool, *cu_link,
    *cu_user_object;
typedef uint64_t cu_memory_handle;
typedef void (*cu_host_fn)(void *user);
typedef void (*cu_stream_callback)(cu_stream stream, cu_result status, void *user);
typedef size_t (*cu_shared_fn)(int block);   /* dynamic shared bytes of a block of so many threads */

/* ------------------------------------------------------------ numbers */

#define CUDA_MORE_NUMBERS(X)                                                                                           \
    X(CU_CTX_SCHED_MASK, 7) X(CU_CTX_MAP_HOST, 8) X(CU_CTX_FLAGS_MASK, 255)                                            \
    X(CU_STREAM_NON_BLOCKING, 1) X(CU_EVENT_BLOCKING_SYNC, 1) X(CU_EVENT_INTERPROCESS, 4)                              \
    X(CU_EVENT_RECORD_EXTERNAL, 1)                                                                                     \
    X(CU_MEMORYTYPE_DEVICE, 2) X(CU_MEMORYTYPE_UNIFIED, 4)                                                             \
    X(CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, 1) X(CU_RESOURCE_TYPE_LINEAR, 2) X(CU_RESOURCE_TYPE_PITCH2D, 3)                \
    X(CU_TRSF_SRGB, 16) X(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, 32) X(CU_TRSF_SEAMLESS_CUBEMAP, 64)                  \
    X(CUDA_ARRAY3D_LAYERED, 1) X(CUDA_ARRAY3D_CUBEMAP, 4) X(CUDA_ARRAY3D_TEXTURE_GATHER, 8)                            \
    X(CU_AD_FORMAT_UNORM_INT8X1, 0xc0) X(CU_AD_FORMAT_SNORM_INT16X4, 0xcb)                                             \
    X(CU_LIMIT_MALLOC_HEAP_SIZE, 2) X(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 3)                                              \
    X(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4) X(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 5)                            \
    X(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 6)                                                                            \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) X(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2)                             \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3) X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4) X(CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)      \
    X(CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6) X(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, 7)                                       \
    X(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9) X(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 10)         \
    X(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 11) X(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 13)                    \
    X(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)                                                         \
    X(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, 15) X(CU_FUNC_ATTRIBUTE_MAX, 16)                         \
    X(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 2) X(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                                  \
    X(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, 7) X(CU_LAUNCH_ATTRIBUTE_PRIORITY, 8)                                    \
    X(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, 12) X(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, 13)         \
    X(CU_JIT_WALL_TIME, 2) X(CU_JIT_INFO_LOG_BUFFER, 3) X(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                        \
    X(CU_JIT_INPUT_CUBIN, 0) X(CU_JIT_INPUT_PTX, 1) X(CU_JIT_INPUT_FATBINARY, 2) X(CU_JIT_INPUT_OBJECT, 3)             \
    X(CU_JIT_INPUT_LIBRARY, 4) X(CU_JIT_INPUT_NVVM, 5)                                                                 \
    X(CU_MEMHOSTALLOC_PORTABLE, 1) X(CU_MEMHOSTALLOC_DEVICEMAP, 2) X(CU_MEMHOSTALLOC_WRITECOMBINED, 4)                 \
    X(CU_MEMHOSTREGISTER_PORTABLE, 1) X(CU_MEMHOSTREGISTER_DEVICEMAP, 2) X(CU_MEMHOSTREGISTER_IOMEMORY, 4)             \
    X(CU_MEMHOSTREGISTER_READ_ONLY, 8) X(CU_MEM_ATTACH_GLOBAL, 1) X(CU_MEM_ATTACH_HOST, 2) X(CU_MEM_ATTACH_SINGLE, 4)  \
    X(CU_POINTER_ATTRIBUTE_CONTEXT, 1) X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                                          \
    X(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 3) X(CU_POINTER_ATTRIBUTE_HOST_POINTER, 4)                                  \
    X(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 6) X(CU_POINTER_ATTRIBUTE_BUFFER_ID, 7) X(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)  \
    X(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9) X(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, 10)                   \
    X(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11) X(CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12)                                \
    X(CU_POINTER_ATTRIBUTE_MAPPED, 13) X(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, 14)                                \
    X(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, 15) X(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, 16)                    \
    X(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 17) X(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, 18)                                \
    X(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, 19) X(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, 20)                          \
    X(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4) X(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)                                 \
    X(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 7) X(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 8)                                         \
    X(CU_STREAM_CAPTURE_STATUS_NONE, 0) X(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                                          \
    X(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2) X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                    \
    X(CU_STREAM_SET_CAPTURE_DEPENDENCIES, 1)                                                                           \
    X(CU_GRAPH_NODE_TYPE_KERNEL, 0) X(CU_GRAPH_NODE_TYPE_MEMCPY, 1) X(CU_GRAPH_NODE_TYPE_MEMSET, 2)                    \
    X(CU_GRAPH_NODE_TYPE_HOST, 3) X(CU_GRAPH_NODE_TYPE_GRAPH, 4) X(CU_GRAPH_NODE_TYPE_EMPTY, 5)                        \
    X(CU_GRAPH_NODE_TYPE_WAIT_EVENT, 6) X(CU_GRAPH_NODE_TYPE_EVENT_RECORD, 7)                                          \
    X(CU_GRAPH_NODE_TYPE_MEM_ALLOC, 10) X(CU_GRAPH_NODE_TYPE_MEM_FREE, 11) X(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, 12)      \
    X(CU_GRAPH_NODE_TYPE_CONDITIONAL, 13) X(CU_GRAPH_COND_TYPE_IF, 0) X(CU_GRAPH_COND_TYPE_WHILE, 1)                   \
    X(CU_GRAPH_COND_TYPE_SWITCH, 2) X(CU_GRAPH_COND_ASSIGN_DEFAULT, 1)                                                 \
    X(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, 0) X(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 1)                                     \
    X(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, 2) X(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, 3)                             \
    X(CU_GRAPH_EXEC_UPDATE_SUCCESS, 0) X(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, 2)                               \
    X(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, 3) X(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, 5)             \
    X(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, 7) X(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, 8)   \
    X(CU_STREAM_MEM_OP_WAIT_VALUE_32, 1) X(CU_STREAM_MEM_OP_WRITE_VALUE_32, 2)                                         \
    X(CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 3) X(CU_STREAM_MEM_OP_WAIT_VALUE_64, 4)                                    \
    X(CU_STREAM_MEM_OP_WRITE_VALUE_64, 5) X(CU_STREAM_MEM_OP_BARRIER, 6)                                               \
    X(CU_STREAM_WAIT_VALUE_GEQ, 0) X(CU_STREAM_WAIT_VALUE_EQ, 1) X(CU_STREAM_WAIT_VALUE_AND, 2)                        \
    X(CU_STREAM_WAIT_VALUE_NOR, 3) X(CU_MEM_LOCATION_TYPE_DEVICE, 1) X(CU_MEM_LOCATION_TYPE_HOST, 2)                   \
    X(CU_MEM_ADVISE_SET_READ_MOSTLY, 1) X(CU_MEM_ADVISE_UNSET_READ_MOSTLY, 2) X(CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 3) \
    X(CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 4) X(CU_MEM_ADVISE_SET_ACCESSED_BY, 5) X(CU_MEM_ADVISE_UNSET_ACCESSED_BY, 6) \
    X(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, 1) X(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, 2)                           \
    X(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, 3) X(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, 4)                       \
    X(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, 5) X(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, 6)            \
    X(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, 7) X(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, 8)    \
    X(CU_MEMCPY_OPERAND_TYPE_POINTER, 1) X(CU_MEMCPY_OPERAND_TYPE_ARRAY, 2) X(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 1)    \
    X(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL, 2) X(CU_MEMCPY_SRC_ACCESS_ORDER_ANY, 3)                              \
    X(CU_MEM_ALLOCATION_TYPE_PINNED, 1) X(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)                                 \
    X(CU_MEM_ACCESS_FLAGS_PROT_NONE, 0) X(CU_MEM_ACCESS_FLAGS_PROT_READ, 1) X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)   \
    X(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)                                                    \
    X(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)                                            \
    X(CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 125) X(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, 1)                           \
    X(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, 2) X(CU_GET_PROC_ADDRESS_SUCCESS, 0)                              \
    X(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1) X(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)                        \
    X(CU_RES_VIEW_FORMAT_NONE, 0) X(CU_RES_VIEW_FORMAT_FLOAT_4X32, 24)                                                 \
    X(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 1) X(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 2)                      \
    X(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 3) X(CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED, 4)

enum { CUDA_MORE_NUMBERS(CUABI_NUMBER) CUABI_MORE_NUMBER_END };

/* Stream handles that are numbers. */
#define CUABI_STREAM_LEGACY ((cu_stream)1)
#define CUABI_STREAM_PER_THREAD ((cu_stream)2)

/* ------------------------------------------------------------ structures */

typedef struct cu_uuid { unsigned char bytes[16]; } cu_uuid;

/* CUipcMemHandle and CUipcEventHandle, which are passed by value. */
typedef struct cu_ipc { char reserved[64]; } cu_ipc;

/* CUdevprop */
typedef struct cu_devprop {
    int max_threads, max_block[3], max_grid[3], shared_bytes, constant_bytes, warp_size, max_pitch, registers, clock_khz,
        texture_alignment;
} cu_devprop;

/* CUctxCreateParams */
typedef struct cu_context_params { void *affinities; int affinity_count; void *graphics; } cu_context_params;

/* CUDA_ARRAY_DESCRIPTOR */
typedef struct cu_array_desc { size_t width, height; uint32_t format, channels; } cu_array_desc;

typedef struct cu_copy2d_end {
    size_t x_bytes, y;
    uint32_t memory_type;
    union { const void *from; void *to; } host;
    cu_address device;
    cu_array array;
    size_t pitch;
} cu_copy2d_end;

/* CUDA_MEMCPY2D */
typedef struct cu_memcpy2d { cu_copy2d_end source, target; size_t width_bytes, height; } cu_memcpy2d;

/* CUDA_MEMCPY3D_PEER is CUDA_MEMCPY3D with contexts in the reserved places. */
typedef cu_memcpy3d cu_memcpy3d_peer;

/* CUDA_RESOURCE_DESC with all its kinds; the same size as cu_resource_desc. */
typedef struct cu_resource {
    uint32_t type;
    union {
        cu_array array;
        cu_mipmap mipmap;
        struct { cu_address address; uint32_t format, channels; size_t bytes; } linear;
        struct { cu_address address; uint32_t format, channels; size_t width, height, pitch; } pitched;
        int32_t reserved[32];
    } of;
    uint32_t flags;
} cu_resource;

/* CUDA_RESOURCE_VIEW_DESC */
typedef struct cu_view_desc {
    uint32_t format;
    size_t width, height, depth;
    uint32_t first_level, last_level, first_layer, last_layer, reserved[16];
} cu_view_desc;

/* CUlaunchAttributeValue */
typedef union cu_launch_value {
    char pad[64];
    int cooperative, priority;
    struct { uint32_t x, y, z; } cluster;
    struct { cu_event event; int flags, at_start; } event;
} cu_launch_value;

/* CUlaunchAttribute */
typedef struct cu_launch_attribute { int32_t id; char pad[4]; cu_launch_value value; } cu_launch_attribute;

/* CUlaunchConfig */
typedef struct cu_launch_config {
    uint32_t grid[3], block[3], shared_bytes;
    cu_stream stream;
    cu_launch_attribute *attributes;
    uint32_t attribute_count;
} cu_launch_config;

/* CUDA_LAUNCH_PARAMS */
typedef struct cu_launch_params {
    cu_function function;
    uint32_t grid[3], block[3], shared_bytes;
    cu_stream stream;
    void **params;
} cu_launch_params;

/* CUDA_KERNEL_NODE_PARAMS: version 1 ends before `kernel`. */
typedef struct cu_kernel_node {
    cu_function function;
    uint32_t grid[3], block[3], shared_bytes;
    void **params, **extra;
    cu_kernel kernel;
    cu_context context;
} cu_kernel_node;
#define CUABI_KERNEL_NODE_V1_BYTES offsetof(cu_kernel_node, kernel)

/* CUDA_MEMSET_NODE_PARAMS: version 1 ends before `context`. */
typedef struct cu_memset_node {
    cu_address to;
    size_t pitch;
    uint32_t value, element_bytes;
    size_t width, height;
    cu_context context;
} cu_memset_node;
#define CUABI_MEMSET_NODE_V1_BYTES offsetof(cu_memset_node, context)

/* CUDA_HOST_NODE_PARAMS */
typedef struct cu_host_node { cu_host_fn callback; void *user; } cu_host_node;

/* CUmemLocation, CUmemPoolProps, CUmemAccessDesc */
typedef struct cu_location { int32_t type, id; } cu_location;

/* CUmemcpyAttributes; CUmemcpy3DOperand, whose lengths and offsets are elements; CUDA_MEMCPY3D_BATCH_OP. The runtime's are the same. */
typedef struct cu_copy_attributes { int32_t order; cu_location source, target; uint32_t flags; } cu_copy_attributes;
typedef struct cu_batch_end {
    int32_t type;
    union {
        struct { cu_address address; size_t row_length, layer_height; cu_location hint; } pointer;
        struct { cu_array array; size_t x, y, z; } array;
    } of;
} cu_batch_end;
typedef struct cu_batch_copy { cu_batch_end source, target; size_t width, height, depth; int32_t order; uint32_t flags; } cu_batch_copy;
typedef struct cu_pool_props {
    int32_t allocation_type, handle_types;
    cu_location location;
    void *security;
    size_t max_bytes;
    uint16_t usage;
    unsigned char reserved[54];
} cu_pool_props;
typedef struct cu_access_desc { cu_location location; int32_t flags; } cu_access_desc;

/* CUmemAllocationProp */
typedef struct cu_alloc_prop {
    int32_t type, handle_types;
    cu_location location;
    void *security;
    struct { unsigned char compression, rdma; uint16_t usage; unsigned char reserved[4]; } flags;
} cu_alloc_prop;

/* CUDA_MEM_ALLOC_NODE_PARAMS */
typedef struct cu_alloc_node {
    cu_pool_props pool;
    const cu_access_desc *access;
    size_t access_count, bytes;
    cu_address address;
} cu_alloc_node;

/* CUgraphEdgeData */
typedef struct cu_edge_data { unsigned char from_port, to_port, type, reserved[5]; } cu_edge_data;

/* CUDA_CONDITIONAL_NODE_PARAMS */
typedef struct cu_conditional_node {
    uint64_t handle;
    int32_t type;
    uint32_t size;
    cu_graph *bodies;
    cu_context context;
} cu_conditional_node;

/* CUstreamBatchMemOpParams */
typedef union cu_mem_op {
    int32_t operation;
    struct { int32_t operation; cu_address address; uint64_t value; uint32_t flags; cu_address alias; } value;
    uint64_t pad[6];
} cu_mem_op;

/* CUDA_BATCH_MEM_OP_NODE_PARAMS */
typedef struct cu_batch_node { cu_context context; uint32_t count; cu_mem_op *operations; uint32_t flags; } cu_batch_node;

/* CUgraphNodeParams, with the kinds that are served. */
typedef struct cu_node_params {
    int32_t type, reserved0[3];
    union {
        int64_t reserved1[29];
        cu_kernel_node kernel;
        struct { int32_t flags, reserved; cu_context context; cu_memcpy3d copy; } copy;
        cu_memset_node set;
        cu_host_node host;
        struct { cu_graph graph; int32_t ownership; } child;
        cu_event event;
        cu_alloc_node alloc;
        cu_address free;
        cu_conditional_node conditional;
        cu_batch_node batch;
    } of;
    int64_t reserved2;
} cu_node_params;

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
typedef struct cu_instantiate_params { uint64_t flags; cu_stream upload; cu_node error_node; int32_t result; } cu_instantiate_params;

/* CUgraphExecUpdateResultInfo */
typedef struct cu_update_info { int32_t result; cu_node error_node, error_from; } cu_update_info;

#endif
