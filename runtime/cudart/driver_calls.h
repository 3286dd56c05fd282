/* driver_calls.h - the driver's functions that the runtime calls, by symbol: facts of the CUDA Driver API reference.
 *
 * tests/cudart_abi_check.cc compares them with NVIDIA's cuda.h where one is installed.
 */
#ifndef RUNTIME_CUDART_DRIVER_CALLS_H
#define RUNTIME_CUDART_DRIVER_CALLS_H

#include "runtime/cuda/cuda_types.h"


/* Came with CUDA 13; a runtime of CUDA 12 does without. */
#if CUDART_MAJOR >= 13
#define DRIVER_CALLS_13(X)                                                                                             \
    X(cuMemcpyBatchAsync_v2, (cu_address *dsts, cu_address *srcs, size_t *sizes, size_t count,                         \
      cu_copy_attributes *attrs, size_t *attrs_idxs, size_t num_attrs, cu_stream stream))                              \
    X(cuMemcpy3DBatchAsync_v2, (size_t num_ops, cu_batch_copy *op_list, uint64_t flags, cu_stream stream))             \
    X(cuMemPrefetchBatchAsync, (cu_address *dptrs, size_t *sizes, size_t count, cu_location *locs, size_t *loc_idxs,   \
      size_t num_locs, uint64_t flags, cu_stream stream))                                                              \
    X(cuMemDiscardBatchAsync, (cu_address *dptrs, size_t *sizes, size_t count, uint64_t flags, cu_stream stream))      \
    X(cuMemDiscardAndPrefetchBatchAsync, (cu_address *dptrs, size_t *sizes, size_t count, cu_location *locs,           \
      size_t *loc_idxs, size_t num_locs, uint64_t flags, cu_stream stream))                                            \
    X(cuMemGetDefaultMemPool, (cu_pool *pool, cu_location *location, int32_t type))                                    \
    X(cuMemGetMemPool, (cu_pool *pool, cu_location *location, int32_t type))                                           \
    X(cuMemSetMemPool, (cu_location *location, int32_t type, cu_pool pool))
#else
#define DRIVER_CALLS_13(X)
#endif

/* X(symbol, parameters) */
#define DRIVER_CALLS(X)                                                                                                \
    X(cuArray3DCreate_v2, (cu_array *handle, const cu_array3d_desc *desc))                                             \
    X(cuArray3DGetDescriptor_v2, (cu_array3d_desc *array_descriptor, cu_array array))                                  \
    X(cuArrayDestroy, (cu_array array))                                                                                \
    X(cuArrayGetMemoryRequirements, (void *memory_requirements, cu_array array, cu_device device))                     \
    X(cuArrayGetPlane, (cu_array *plane_array, cu_array array, uint32_t plane_idx))                                    \
    X(cuArrayGetSparseProperties, (void *sparse_properties, cu_array array))                                           \
    X(cuCtxDisablePeerAccess, (cu_context peer_context))                                                               \
    X(cuCtxEnablePeerAccess, (cu_context peer_context, uint32_t flags))                                                \
    X(cuCtxGetCacheConfig, (int32_t *pconfig))                                                                         \
    X(cuCtxGetCurrent, (cu_context *context))                                                                          \
    X(cuCtxGetDevice, (cu_device *device))                                                                             \
    X(cuCtxGetFlags, (uint32_t *flags))                                                                                \
    X(cuCtxGetLimit, (size_t *value, int32_t limit))                                                                   \
    X(cuCtxGetSharedMemConfig, (int32_t *config))                                                                      \
    X(cuCtxGetApiVersion, (cu_context context, uint32_t *version))                                                     \
    X(cuCtxGetStreamPriorityRange, (int *least_priority, int *greatest_priority))                                      \
    X(cuCtxResetPersistingL2Cache, (void))                                                                             \
    X(cuCtxSetCacheConfig, (int32_t config))                                                                           \
    X(cuCtxSetCurrent, (cu_context context))                                                                           \
    X(cuCtxSetLimit, (int32_t limit, size_t value))                                                                    \
    X(cuCtxSetSharedMemConfig, (int32_t config))                                                                       \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuDeviceCanAccessPeer, (int *can_access_peer, cu_device device, cu_device peer_dev))                             \
    X(cuDeviceGetAttribute, (int *value, int32_t attribute, cu_device device))                                         \
    X(cuDeviceGetByPCIBusId, (cu_device *device, const char *pci_bus_id))                                              \
    X(cuDeviceGetCount, (int *count))                                                                                  \
    X(cuDeviceGetDefaultMemPool, (cu_pool *pool_out, cu_device device))                                                \
    X(cuDeviceGetGraphMemAttribute, (cu_device device, int32_t attr, void *value))                                     \
    X(cuDeviceGetMemPool, (cu_pool *pool, cu_device device))                                                           \
    X(cuDeviceGetName, (char *name, int size, cu_device device))                                                       \
    X(cuDeviceGetP2PAttribute, (int *value, int32_t attribute, cu_device from, cu_device to))                          \
    X(cuDeviceGetPCIBusId, (char *pci_bus_id, int size, cu_device device))                                             \
    X(cuDeviceGetTexture1DLinearMaxWidth, (size_t *max_width_in_elements, int32_t format, uint32_t num_channels,       \
      cu_device device))                                                                                               \
    X(cuDeviceGetUuid_v2, (cu_uuid *uuid, cu_device device))                                                           \
    X(cuDeviceGraphMemTrim, (cu_device device))                                                                        \
    X(cuDevicePrimaryCtxReset_v2, (cu_device device))                                                                  \
    X(cuDevicePrimaryCtxRetain, (cu_context *context, cu_device device))                                               \
    X(cuDevicePrimaryCtxSetFlags_v2, (cu_device device, uint32_t flags))                                               \
    X(cuDeviceSetGraphMemAttribute, (cu_device device, int32_t attr, void *value))                                     \
    X(cuDeviceSetMemPool, (cu_device device, cu_pool pool))                                                            \
    X(cuDeviceTotalMem_v2, (size_t *bytes, cu_device device))                                                          \
    X(cuDriverGetVersion, (int *driver_version))                                                                       \
    X(cuEventCreate, (cu_event *event, uint32_t flags))                                                                \
    X(cuEventDestroy_v2, (cu_event event))                                                                             \
    X(cuEventElapsedTime, (float *milliseconds, cu_event start, cu_event end))                                         \
    X(cuEventQuery, (cu_event event))                                                                                  \
    X(cuEventRecord, (cu_event event, cu_stream stream))                                                               \
    X(cuEventRecordWithFlags, (cu_event event, cu_stream stream, uint32_t flags))                                      \
    X(cuEventSynchronize, (cu_event event))                                                                            \
    X(cuFlushGPUDirectRDMAWrites, (int32_t target, int32_t scope))                                                     \
    X(cuGetProcAddress_v2, (const char *symbol, void **out, int cuda_version, uint64_t flags, int32_t *symbol_status)) \
    X(cuGraphAddChildGraphNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t                    \
      num_dependencies, cu_graph child_graph))                                                                         \
    X(cuGraphConditionalHandleCreate, (uint64_t *handle_out, cu_graph graph, cu_context context, uint32_t              \
      default_launch_value, uint32_t flags))                                                                           \
    X(cuGraphAddDependencies, (cu_graph graph, const cu_node *from, const cu_node *to, size_t num_dependencies))       \
    X(cuGraphAddDependencies_v2, (cu_graph graph, const cu_node *from, const cu_node *to, const cu_edge_data           \
      *edge_data, size_t num_dependencies))                                                                            \
    X(cuGraphAddEmptyNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies))      \
    X(cuGraphAddEventRecordNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t                   \
      num_dependencies, cu_event event))                                                                               \
    X(cuGraphAddEventWaitNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,   \
      cu_event event))                                                                                                 \
    X(cuGraphAddHostNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,        \
      const cu_host_node *node_params))                                                                                \
    X(cuGraphAddKernelNode_v2, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,   \
      const cu_kernel_node *node_params))                                                                              \
    X(cuGraphAddMemAllocNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,    \
      cu_alloc_node *node_params))                                                                                     \
    X(cuGraphAddMemFreeNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,     \
      cu_address address))                                                                                             \
    X(cuGraphAddMemcpyNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,      \
      const cu_memcpy3d *copy_params, cu_context context))                                                             \
    X(cuGraphAddMemsetNode, (cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,      \
      const cu_memset_node *memset_params, cu_context context))                                                        \
    X(cuGraphAddNode_v2, (cu_node *node, cu_graph graph, const cu_node *dependencies, const cu_edge_data               \
      *dependency_data, size_t num_dependencies, cu_node_params *node_params))                                         \
    X(cuGraphChildGraphNodeGetGraph, (cu_node node, cu_graph *graph))                                                  \
    X(cuGraphClone, (cu_graph *graph_clone, cu_graph original_graph))                                                  \
    X(cuGraphCreate, (cu_graph *graph, uint32_t flags))                                                                \
    X(cuGraphDebugDotPrint, (cu_graph graph, const char *path, uint32_t flags))                                        \
    X(cuGraphDestroy, (cu_graph graph))                                                                                \
    X(cuGraphDestroyNode, (cu_node node))                                                                              \
    X(cuGraphEventRecordNodeGetEvent, (cu_node node, cu_event *event_out))                                             \
    X(cuGraphEventRecordNodeSetEvent, (cu_node node, cu_event event))                                                  \
    X(cuGraphEventWaitNodeGetEvent, (cu_node node, cu_event *event_out))                                               \
    X(cuGraphEventWaitNodeSetEvent, (cu_node node, cu_event event))                                                    \
    X(cuGraphExecChildGraphNodeSetParams, (cu_exec exec, cu_node node, cu_graph child_graph))                          \
    X(cuGraphExecDestroy, (cu_exec exec))                                                                              \
    X(cuGraphExecEventRecordNodeSetEvent, (cu_exec exec, cu_node node, cu_event event))                                \
    X(cuGraphExecEventWaitNodeSetEvent, (cu_exec exec, cu_node node, cu_event event))                                  \
    X(cuGraphExecGetFlags, (cu_exec exec, uint64_t *flags))                                                            \
    X(cuGraphExecHostNodeSetParams, (cu_exec exec, cu_node node, const cu_host_node *node_params))                     \
    X(cuGraphExecKernelNodeSetParams_v2, (cu_exec exec, cu_node node, const cu_kernel_node *node_params))              \
    X(cuGraphExecMemcpyNodeSetParams, (cu_exec exec, cu_node node, const cu_memcpy3d *copy_params, cu_context          \
      context))                                                                                                        \
    X(cuGraphExecMemsetNodeSetParams, (cu_exec exec, cu_node node, const cu_memset_node *memset_params, cu_context     \
      context))                                                                                                        \
    X(cuGraphExecNodeSetParams, (cu_exec exec, cu_node node, cu_node_params *node_params))                             \
    X(cuGraphExecUpdate_v2, (cu_exec exec, cu_graph graph, cu_update_info *result_info))                               \
    X(cuGraphGetEdges, (cu_graph graph, cu_node *from, cu_node *to, size_t *num_edges))                                \
    X(cuGraphGetEdges_v2, (cu_graph graph, cu_node *from, cu_node *to, cu_edge_data *edge_data, size_t *num_edges))    \
    X(cuGraphGetNodes, (cu_graph graph, cu_node *nodes, size_t *num_nodes))                                            \
    X(cuGraphGetRootNodes, (cu_graph graph, cu_node *root_nodes, size_t *num_root_nodes))                              \
    X(cuGraphHostNodeGetParams, (cu_node node, cu_host_node *node_params))                                             \
    X(cuGraphHostNodeSetParams, (cu_node node, const cu_host_node *node_params))                                       \
    X(cuGraphInstantiateWithFlags, (cu_exec *exec, cu_graph graph, uint64_t flags))                                    \
    X(cuGraphInstantiateWithParams, (cu_exec *exec, cu_graph graph, cu_instantiate_params *instantiate_params))        \
    X(cuGraphKernelNodeCopyAttributes, (cu_node to, cu_node from))                                                     \
    X(cuGraphKernelNodeGetAttribute, (cu_node node, int32_t attr, cu_launch_value *value_out))                         \
    X(cuGraphKernelNodeGetParams_v2, (cu_node node, cu_kernel_node *node_params))                                      \
    X(cuGraphKernelNodeSetAttribute, (cu_node node, int32_t attr, const cu_launch_value *value))                       \
    X(cuGraphKernelNodeSetParams_v2, (cu_node node, const cu_kernel_node *node_params))                                \
    X(cuGraphLaunch, (cu_exec exec, cu_stream stream))                                                                 \
    X(cuGraphMemAllocNodeGetParams, (cu_node node, cu_alloc_node *params_out))                                         \
    X(cuGraphMemFreeNodeGetParams, (cu_node node, cu_address *dptr_out))                                               \
    X(cuGraphMemcpyNodeGetParams, (cu_node node, cu_memcpy3d *node_params))                                            \
    X(cuGraphMemcpyNodeSetParams, (cu_node node, const cu_memcpy3d *node_params))                                      \
    X(cuGraphMemsetNodeGetParams, (cu_node node, cu_memset_node *node_params))                                         \
    X(cuGraphMemsetNodeSetParams, (cu_node node, const cu_memset_node *node_params))                                   \
    X(cuGraphNodeFindInClone, (cu_node *node, cu_node original_node, cu_graph cloned_graph))                           \
    X(cuGraphNodeGetDependencies, (cu_node node, cu_node *dependencies, size_t *num_dependencies))                     \
    X(cuGraphNodeGetDependencies_v2, (cu_node node, cu_node *dependencies, cu_edge_data *edge_data, size_t             \
      *num_dependencies))                                                                                              \
    X(cuGraphNodeGetDependentNodes, (cu_node node, cu_node *dependent_nodes, size_t *num_dependent_nodes))             \
    X(cuGraphNodeGetDependentNodes_v2, (cu_node node, cu_node *dependent_nodes, cu_edge_data *edge_data, size_t        \
      *num_dependent_nodes))                                                                                           \
    X(cuGraphNodeGetEnabled, (cu_exec exec, cu_node node, uint32_t *is_enabled))                                       \
    X(cuGraphNodeGetType, (cu_node node, int32_t *type))                                                               \
    X(cuGraphNodeSetEnabled, (cu_exec exec, cu_node node, uint32_t is_enabled))                                        \
    X(cuGraphNodeSetParams, (cu_node node, cu_node_params *node_params))                                               \
    X(cuGraphReleaseUserObject, (cu_graph graph, cu_user_object object, uint32_t count))                               \
    X(cuGraphRemoveDependencies, (cu_graph graph, const cu_node *from, const cu_node *to, size_t num_dependencies))    \
    X(cuGraphRemoveDependencies_v2, (cu_graph graph, const cu_node *from, const cu_node *to, const cu_edge_data        \
      *edge_data, size_t num_dependencies))                                                                            \
    X(cuGraphRetainUserObject, (cu_graph graph, cu_user_object object, uint32_t count, uint32_t flags))                \
    X(cuGraphUpload, (cu_exec exec, cu_stream stream))                                                                 \
    X(cuInit, (uint32_t flags))                                                                                        \
    X(cuIpcCloseMemHandle, (cu_address address))                                                                       \
    X(cuIpcGetEventHandle, (cu_ipc *handle, cu_event event))                                                           \
    X(cuIpcGetMemHandle, (cu_ipc *handle, cu_address address))                                                         \
    X(cuIpcOpenEventHandle, (cu_event *event, cu_ipc handle))                                                          \
    X(cuIpcOpenMemHandle_v2, (cu_address *pdptr, cu_ipc handle, uint32_t flags))                                       \
    X(cuKernelGetAttribute, (int *value, int32_t attribute, cu_kernel kernel, cu_device device))                       \
    X(cuKernelGetFunction, (cu_function *func, cu_kernel kernel))                                                      \
    X(cuFuncGetName, (const char **name, cu_function function))                                                        \
    X(cuKernelGetName, (const char **name, cu_kernel function))                                                        \
    X(cuKernelGetParamInfo, (cu_kernel kernel, size_t param_index, size_t *param_offset, size_t *param_size))          \
    X(cuKernelSetAttribute, (int32_t attribute, int val, cu_kernel kernel, cu_device device))                          \
    X(cuKernelSetCacheConfig, (cu_kernel kernel, int32_t config, cu_device device))                                    \
    X(cuLaunchCooperativeKernel, (cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t    \
      block_x, uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params))            \
    X(cuLaunchHostFunc, (cu_stream stream, cu_host_fn callback, void *user_data))                                      \
    X(cuLaunchKernel, (cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,      \
      uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params, void **extra))       \
    X(cuLaunchKernelEx, (const cu_launch_config *config, cu_function function, void **params, void **extra))           \
    X(cuLibraryEnumerateKernels, (cu_kernel *kernels, uint32_t num_kernels, cu_library lib))                           \
    X(cuLibraryGetGlobal, (cu_address *address, size_t *bytes, cu_library library, const char *name))                  \
    X(cuLibraryGetKernel, (cu_kernel *kernel, cu_library library, const char *name))                                   \
    X(cuLibraryGetKernelCount, (uint32_t *count, cu_library lib))                                                      \
    X(cuLibraryGetManaged, (cu_address *address, size_t *bytes, cu_library library, const char *name))                 \
    X(cuLibraryGetUnifiedFunction, (void **fptr, cu_library library, const char *symbol))                              \
    X(cuLibraryLoadData, (cu_library *library, const void *code, int32_t *jit_options, void **jit_options_values,      \
      uint32_t num_jit_options, int32_t *library_options, void **library_option_values, uint32_t                       \
      num_library_options))                                                                                            \
    X(cuLibraryLoadFromFile, (cu_library *library, const char *file_name, int32_t *jit_options, void                   \
      **jit_options_values, uint32_t num_jit_options, int32_t *library_options, void **library_option_values,          \
      uint32_t num_library_options))                                                                                   \
    X(cuLibraryUnload, (cu_library library))                                                                           \
    X(cuMemAdvise_v2, (cu_address dev_ptr, size_t count, int32_t advice, cu_location location))                        \
    X(cuMemAllocAsync, (cu_address *address, size_t bytes, cu_stream stream))                                          \
    X(cuMemAllocFromPoolAsync, (cu_address *address, size_t bytes, cu_pool pool, cu_stream stream))                    \
    X(cuMemAllocManaged, (cu_address *address, size_t bytes, uint32_t flags))                                          \
    X(cuMemAllocPitch_v2, (cu_address *address, size_t *pitch, size_t width_in_bytes, size_t height, uint32_t          \
      element_size_bytes))                                                                                             \
    X(cuMemAlloc_v2, (cu_address *address, size_t bytes))                                                              \
    X(cuMemFreeAsync, (cu_address address, cu_stream stream))                                                          \
    X(cuMemFreeHost, (void *p))                                                                                        \
    X(cuMemFree_v2, (cu_address address))                                                                              \
    X(cuMemGetInfo_v2, (size_t *free, size_t *total))                                                                  \
    X(cuMemHostAlloc, (void **pointer, size_t bytes, uint32_t flags))                                                  \
    X(cuMemHostGetDevicePointer_v2, (cu_address *pdptr, void *p, uint32_t flags))                                      \
    X(cuMemHostGetFlags, (uint32_t *flags, void *p))                                                                   \
    X(cuMemHostRegister_v2, (void *p, size_t bytes, uint32_t flags))                                                   \
    X(cuMemHostUnregister, (void *p))                                                                                  \
    X(cuMemPoolCreate, (cu_pool *pool, const cu_pool_props *pool_props))                                               \
    X(cuMemPoolDestroy, (cu_pool pool))                                                                                \
    X(cuMemPoolGetAccess, (int32_t *flags, cu_pool mem_pool, cu_location *location))                                   \
    X(cuMemPoolGetAttribute, (cu_pool pool, int32_t attr, void *value))                                                \
    X(cuMemPoolSetAccess, (cu_pool pool, const cu_access_desc *map, size_t count))                                     \
    X(cuMemPoolSetAttribute, (cu_pool pool, int32_t attr, void *value))                                                \
    X(cuMemPoolTrimTo, (cu_pool pool, size_t min_bytes_to_keep))                                                       \
    X(cuMemPrefetchAsync_v2, (cu_address dev_ptr, size_t count, cu_location location, uint32_t flags, cu_stream        \
      stream))                                                                                                         \
    X(cuMemRangeGetAttribute, (void *data, size_t data_size, int32_t attribute, cu_address dev_ptr, size_t count))     \
    X(cuMemRangeGetAttributes, (void **data, size_t *data_sizes, int32_t *attributes, size_t num_attributes,           \
      cu_address dev_ptr, size_t count))                                                                               \
    X(cuMemcpy, (cu_address to, cu_address from, size_t bytes))                                                        \
    X(cuMemcpy3DAsync_v2, (const cu_memcpy3d *copy, cu_stream stream))                                                 \
    X(cuMemcpy3D_v2, (const cu_memcpy3d *copy))                                                                        \
    X(cuMemcpyAsync, (cu_address to, cu_address from, size_t bytes, cu_stream stream))                                 \
    X(cuMemcpyDtoDAsync_v2, (cu_address to, cu_address from, size_t bytes, cu_stream stream))                          \
    X(cuMemcpyDtoD_v2, (cu_address to, cu_address from, size_t bytes))                                                 \
    X(cuMemcpyDtoHAsync_v2, (void *to, cu_address from, size_t bytes, cu_stream stream))                               \
    X(cuMemcpyDtoH_v2, (void *to, cu_address from, size_t bytes))                                                      \
    X(cuMemcpyHtoDAsync_v2, (cu_address to, const void *from, size_t bytes, cu_stream stream))                         \
    X(cuMemcpyHtoD_v2, (cu_address to, const void *from, size_t bytes))                                                \
    X(cuMemcpyPeer, (cu_address to, cu_context dst_context, cu_address from, cu_context src_context, size_t bytes))    \
    X(cuMemcpyPeerAsync, (cu_address to, cu_context dst_context, cu_address from, cu_context src_context, size_t       \
      bytes, cu_stream stream))                                                                                        \
    X(cuMemsetD2D8Async, (cu_address to, size_t pitch, uint8_t value, size_t width, size_t height, cu_stream stream))  \
    X(cuMemsetD2D8_v2, (cu_address to, size_t pitch, uint8_t value, size_t width, size_t height))                      \
    X(cuMemsetD8Async, (cu_address to, uint8_t value, size_t count, cu_stream stream))                                 \
    X(cuMemsetD8_v2, (cu_address to, uint8_t value, size_t count))                                                     \
    X(cuMipmappedArrayCreate, (cu_mipmap *handle, const cu_array3d_desc *mipmapped_array_desc, uint32_t                \
      num_mipmap_levels))                                                                                              \
    X(cuMipmappedArrayDestroy, (cu_mipmap mipmapped_array))                                                            \
    X(cuMipmappedArrayGetLevel, (cu_array *level_array, cu_mipmap mipmapped_array, uint32_t level))                    \
    X(cuMipmappedArrayGetMemoryRequirements, (void *memory_requirements, cu_mipmap mipmap, cu_device device))          \
    X(cuMipmappedArrayGetSparseProperties, (void *sparse_properties, cu_mipmap mipmap))                                \
    X(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *dynamic_smem_size, cu_function function, int num_blocks, int   \
      block_size))                                                                                                     \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *num_blocks, cu_function function, int block_size, size_t      \
      dynamic_smem_size))                                                                                              \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *num_blocks, cu_function function, int block_size,    \
      size_t dynamic_smem_size, uint32_t flags))                                                                       \
    X(cuOccupancyMaxActiveClusters, (int *num_clusters, cu_function function, const cu_launch_config *config))         \
    X(cuOccupancyMaxPotentialClusterSize, (int *cluster_size, cu_function function, const cu_launch_config *config))   \
    X(cuPointerGetAttributes, (uint32_t num_attributes, int32_t *attributes, void **data, cu_address ptr))             \
    X(cuMemcpy3DPeer, (const cu_memcpy3d_peer *copy))                                                                  \
    X(cuMemcpy3DPeerAsync, (const cu_memcpy3d_peer *copy, cu_stream stream))                                           \
    X(cuMemcpyBatchAsync, (cu_address *dsts, cu_address *srcs, size_t *sizes, size_t count,                            \
      cu_copy_attributes *attrs, size_t *attrs_idxs, size_t num_attrs, size_t *fail_idx, cu_stream stream))            \
    X(cuMemcpy3DBatchAsync, (size_t num_ops, cu_batch_copy *op_list, size_t *fail_idx, uint64_t flags, cu_stream       \
      stream))                                                                                                         \
    X(cuProfilerStart, (void))                                                                                         \
    X(cuProfilerStop, (void))                                                                                          \
    X(cuStreamAddCallback, (cu_stream stream, cu_stream_callback callback, void *user_data, uint32_t flags))           \
    X(cuStreamAttachMemAsync, (cu_stream stream, cu_address address, size_t length, uint32_t flags))                   \
    X(cuStreamBeginCaptureToGraph, (cu_stream stream, cu_graph graph, const cu_node *dependencies, const               \
      cu_edge_data *dependency_data, size_t num_dependencies, int32_t mode))                                           \
    X(cuStreamBeginCapture_v2, (cu_stream stream, int32_t mode))                                                       \
    X(cuStreamCopyAttributes, (cu_stream to, cu_stream from))                                                          \
    X(cuStreamCreate, (cu_stream *stream, uint32_t flags))                                                             \
    X(cuStreamCreateWithPriority, (cu_stream *stream, uint32_t flags, int priority))                                   \
    X(cuStreamDestroy_v2, (cu_stream stream))                                                                          \
    X(cuStreamEndCapture, (cu_stream stream, cu_graph *graph))                                                         \
    X(cuStreamGetAttribute, (cu_stream stream, int32_t attr, cu_launch_value *value_out))                              \
    X(cuStreamGetCaptureInfo_v3, (cu_stream stream, int32_t *capture_status_out, uint64_t *id_out, cu_graph            \
      *graph_out, const cu_node **dependencies_out, const cu_edge_data **edge_data_out, size_t                         \
      *num_dependencies_out))                                                                                          \
    X(cuStreamGetDevice, (cu_stream stream, cu_device *device))                                                        \
    X(cuStreamGetFlags, (cu_stream stream, uint32_t *flags))                                                           \
    X(cuStreamGetId, (cu_stream stream, uint64_t *stream_id))                                                          \
    X(cuStreamGetPriority, (cu_stream stream, int *priority))                                                          \
    X(cuStreamIsCapturing, (cu_stream stream, int32_t *capture_status))                                                \
    X(cuStreamQuery, (cu_stream stream))                                                                               \
    X(cuStreamSetAttribute, (cu_stream stream, int32_t attr, const cu_launch_value *value))                            \
    X(cuStreamSynchronize, (cu_stream stream))                                                                         \
    X(cuStreamUpdateCaptureDependencies_v2, (cu_stream stream, cu_node *dependencies, const cu_edge_data               \
      *dependency_data, size_t num_dependencies, uint32_t flags))                                                      \
    X(cuStreamWaitEvent, (cu_stream stream, cu_event event, uint32_t flags))                                           \
    X(cuSurfObjectCreate, (cu_object *surface, const cu_resource_desc *resource))                                      \
    X(cuSurfObjectDestroy, (cu_object surface))                                                                        \
    X(cuSurfObjectGetResourceDesc, (cu_resource_desc *resource, cu_object surface))                                    \
    X(cuTexObjectCreate, (cu_object *texture, const cu_resource_desc *resource, const cu_texture_desc *desc, const     \
      cu_view_desc *view))                                                                                             \
    X(cuTexObjectDestroy, (cu_object texture))                                                                         \
    X(cuTexObjectGetResourceDesc, (cu_resource_desc *resource, cu_object texture))                                     \
    X(cuTexObjectGetResourceViewDesc, (cu_view_desc *view, cu_object texture))                                         \
    X(cuTexObjectGetTextureDesc, (cu_texture_desc *desc, cu_object texture))                                           \
    X(cuThreadExchangeStreamCaptureMode, (int32_t *mode))                                                              \
    X(cuUserObjectCreate, (cu_user_object *object_out, void *ptr, cu_host_fn destroy, uint32_t initial_refcount,       \
      uint32_t flags))                                                                                                 \
    X(cuUserObjectRelease, (cu_user_object object, uint32_t count))                                                    \
    X(cuUserObjectRetain, (cu_user_object object, uint32_t count))                                                     \
    DRIVER_CALLS_13(X)

#endif
