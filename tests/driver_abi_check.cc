// driver_abi_check.cc - compares runtime/cuda/cuda_types.h and runtime/driver/api.def with NVIDIA's headers at compile time: numbers, sizes and
// offsets of structures, and the parameters of every function that libcuda.so.1 serves. Compiled where cuda.h is installed; that it
// compiles is the test.
#define __CUDA_API_VERSION_INTERNAL        // every version of a function under its symbol's own name
#include <cuda.h>
#include <cudaProfiler.h>
#include <cstddef>
#include <cstdio>
#include <type_traits>
#include "runtime/cuda/cuda_types.h"

#define SAME_NUMBER(name, value) static_assert(static_cast<long>(name) == (value), #name);
CUDA_RESULTS(SAME_NUMBER)
#if CUDA_VERSION >= 13000                  // the newest numbers
CUDA_MORE_NUMBERS(SAME_NUMBER)
#endif

// ---------------------------------------------------------------- structures

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs);
#define SAME(ours, a, theirs, b)                                                                                       \
    static_assert(offsetof(ours, a) == offsetof(theirs, b), #theirs "." #b);                                           \
    static_assert(sizeof(static_cast<ours *>(nullptr)->a) == sizeof(static_cast<theirs *>(nullptr)->b), #theirs "." #b " size");

SAME_SIZE(cu_uuid, CUuuid)
SAME_SIZE(cu_ipc, CUipcMemHandle)
SAME_SIZE(cu_ipc, CUipcEventHandle)
SAME_SIZE(cu_devprop, CUdevprop)
SAME(cu_devprop, max_block, CUdevprop, maxThreadsDim)
SAME(cu_devprop, max_grid, CUdevprop, maxGridSize)
SAME(cu_devprop, shared_bytes, CUdevprop, sharedMemPerBlock)
SAME(cu_devprop, constant_bytes, CUdevprop, totalConstantMemory)
SAME(cu_devprop, warp_size, CUdevprop, SIMDWidth)
SAME(cu_devprop, max_pitch, CUdevprop, memPitch)
SAME(cu_devprop, registers, CUdevprop, regsPerBlock)
SAME(cu_devprop, clock_khz, CUdevprop, clockRate)
SAME(cu_devprop, texture_alignment, CUdevprop, textureAlign)

#if CUDA_VERSION >= 12050
SAME_SIZE(cu_context_params, CUctxCreateParams)
SAME(cu_context_params, affinity_count, CUctxCreateParams, numExecAffinityParams)
SAME(cu_context_params, graphics, CUctxCreateParams, cigParams)
#endif

#if CUDA_VERSION >= 12080
SAME_SIZE(cu_copy_attributes, CUmemcpyAttributes)
SAME(cu_copy_attributes, target, CUmemcpyAttributes, dstLocHint)
SAME_SIZE(cu_batch_end, CUmemcpy3DOperand)
SAME(cu_batch_end, of.pointer.row_length, CUmemcpy3DOperand, op.ptr.rowLength)
SAME(cu_batch_end, of.pointer.layer_height, CUmemcpy3DOperand, op.ptr.layerHeight)
SAME(cu_batch_end, of.array.x, CUmemcpy3DOperand, op.array.offset.x)
SAME_SIZE(cu_batch_copy, CUDA_MEMCPY3D_BATCH_OP)
SAME(cu_batch_copy, target, CUDA_MEMCPY3D_BATCH_OP, dst)
SAME(cu_batch_copy, width, CUDA_MEMCPY3D_BATCH_OP, extent.width)
SAME(cu_batch_copy, order, CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder)
#endif

SAME_SIZE(cu_array_desc, CUDA_ARRAY_DESCRIPTOR)
SAME(cu_array_desc, format, CUDA_ARRAY_DESCRIPTOR, Format)
SAME(cu_array_desc, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels)

SAME_SIZE(cu_memcpy2d, CUDA_MEMCPY2D)
#define SAME_END(end, prefix)                                                                                          \
    SAME(cu_memcpy2d, end.x_bytes, CUDA_MEMCPY2D, prefix##XInBytes)                                                    \
    SAME(cu_memcpy2d, end.y, CUDA_MEMCPY2D, prefix##Y)                                                                 \
    SAME(cu_memcpy2d, end.memory_type, CUDA_MEMCPY2D, prefix##MemoryType)                                              \
    SAME(cu_memcpy2d, end.host, CUDA_MEMCPY2D, prefix##Host)                                                           \
    SAME(cu_memcpy2d, end.device, CUDA_MEMCPY2D, prefix##Device)                                                       \
    SAME(cu_memcpy2d, end.array, CUDA_MEMCPY2D, prefix##Array)                                                         \
    SAME(cu_memcpy2d, end.pitch, CUDA_MEMCPY2D, prefix##Pitch)
SAME_END(source, src)
SAME_END(target, dst)
SAME(cu_memcpy2d, width_bytes, CUDA_MEMCPY2D, WidthInBytes)
SAME(cu_memcpy2d, height, CUDA_MEMCPY2D, Height)

SAME_SIZE(cu_memcpy3d_peer, CUDA_MEMCPY3D_PEER)
SAME(cu_memcpy3d_peer, source.reserved, CUDA_MEMCPY3D_PEER, srcContext)
SAME(cu_memcpy3d_peer, source.pitch, CUDA_MEMCPY3D_PEER, srcPitch)
SAME(cu_memcpy3d_peer, target.reserved, CUDA_MEMCPY3D_PEER, dstContext)
SAME(cu_memcpy3d_peer, target.height, CUDA_MEMCPY3D_PEER, dstHeight)
SAME(cu_memcpy3d_peer, depth, CUDA_MEMCPY3D_PEER, Depth)

SAME_SIZE(cu_resource, CUDA_RESOURCE_DESC)
SAME(cu_resource, of.mipmap, CUDA_RESOURCE_DESC, res.mipmap.hMipmappedArray)
SAME(cu_resource, of.linear.address, CUDA_RESOURCE_DESC, res.linear.devPtr)
SAME(cu_resource, of.linear.format, CUDA_RESOURCE_DESC, res.linear.format)
SAME(cu_resource, of.linear.channels, CUDA_RESOURCE_DESC, res.linear.numChannels)
SAME(cu_resource, of.linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes)
SAME(cu_resource, of.pitched.width, CUDA_RESOURCE_DESC, res.pitch2D.width)
SAME(cu_resource, of.pitched.height, CUDA_RESOURCE_DESC, res.pitch2D.height)
SAME(cu_resource, of.pitched.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes)

SAME_SIZE(cu_view_desc, CUDA_RESOURCE_VIEW_DESC)
SAME(cu_view_desc, width, CUDA_RESOURCE_VIEW_DESC, width)
SAME(cu_view_desc, first_level, CUDA_RESOURCE_VIEW_DESC, firstMipmapLevel)
SAME(cu_view_desc, last_layer, CUDA_RESOURCE_VIEW_DESC, lastLayer)

SAME_SIZE(cu_launch_value, CUlaunchAttributeValue)
SAME(cu_launch_value, cooperative, CUlaunchAttributeValue, cooperative)
SAME(cu_launch_value, cluster, CUlaunchAttributeValue, clusterDim)
SAME(cu_launch_value, priority, CUlaunchAttributeValue, priority)
SAME(cu_launch_value, event.event, CUlaunchAttributeValue, programmaticEvent.event)
SAME(cu_launch_value, event.flags, CUlaunchAttributeValue, programmaticEvent.flags)
SAME_SIZE(cu_launch_attribute, CUlaunchAttribute)
SAME(cu_launch_attribute, value, CUlaunchAttribute, value)
SAME_SIZE(cu_launch_config, CUlaunchConfig)
SAME(cu_launch_config, grid[0], CUlaunchConfig, gridDimX)
SAME(cu_launch_config, block[0], CUlaunchConfig, blockDimX)
SAME(cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes)
SAME(cu_launch_config, stream, CUlaunchConfig, hStream)
SAME(cu_launch_config, attributes, CUlaunchConfig, attrs)
SAME(cu_launch_config, attribute_count, CUlaunchConfig, numAttrs)

SAME_SIZE(cu_kernel_node, CUDA_KERNEL_NODE_PARAMS)
SAME(cu_kernel_node, grid[0], CUDA_KERNEL_NODE_PARAMS, gridDimX)
SAME(cu_kernel_node, block[0], CUDA_KERNEL_NODE_PARAMS, blockDimX)
SAME(cu_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS, sharedMemBytes)
SAME(cu_kernel_node, params, CUDA_KERNEL_NODE_PARAMS, kernelParams)
SAME(cu_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS, extra)
SAME(cu_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS, kern)
SAME(cu_kernel_node, context, CUDA_KERNEL_NODE_PARAMS, ctx)
static_assert(CUABI_KERNEL_NODE_V1_BYTES == sizeof(CUDA_KERNEL_NODE_PARAMS_v1), "CUDA_KERNEL_NODE_PARAMS_v1");
SAME_SIZE(cu_memset_node, CUDA_MEMSET_NODE_PARAMS_v2)
SAME(cu_memset_node, pitch, CUDA_MEMSET_NODE_PARAMS_v2, pitch)
SAME(cu_memset_node, value, CUDA_MEMSET_NODE_PARAMS_v2, value)
SAME(cu_memset_node, element_bytes, CUDA_MEMSET_NODE_PARAMS_v2, elementSize)
SAME(cu_memset_node, width, CUDA_MEMSET_NODE_PARAMS_v2, width)
SAME(cu_memset_node, context, CUDA_MEMSET_NODE_PARAMS_v2, ctx)
static_assert(CUABI_MEMSET_NODE_V1_BYTES == sizeof(CUDA_MEMSET_NODE_PARAMS_v1), "CUDA_MEMSET_NODE_PARAMS_v1");
SAME_SIZE(cu_host_node, CUDA_HOST_NODE_PARAMS)
SAME(cu_host_node, user, CUDA_HOST_NODE_PARAMS, userData)

SAME_SIZE(cu_location, CUmemLocation)
SAME_SIZE(cu_pool_props, CUmemPoolProps)
SAME(cu_pool_props, location, CUmemPoolProps, location)
SAME(cu_pool_props, max_bytes, CUmemPoolProps, maxSize)
SAME_SIZE(cu_access_desc, CUmemAccessDesc)
SAME_SIZE(cu_alloc_prop, CUmemAllocationProp)
SAME(cu_alloc_prop, handle_types, CUmemAllocationProp, requestedHandleTypes)
SAME(cu_alloc_prop, location, CUmemAllocationProp, location)
SAME(cu_alloc_prop, flags.usage, CUmemAllocationProp, allocFlags.usage)
SAME_SIZE(cu_alloc_node, CUDA_MEM_ALLOC_NODE_PARAMS_v2)
SAME(cu_alloc_node, bytes, CUDA_MEM_ALLOC_NODE_PARAMS_v2, bytesize)
SAME(cu_alloc_node, address, CUDA_MEM_ALLOC_NODE_PARAMS_v2, dptr)
SAME_SIZE(cu_conditional_node, CUDA_CONDITIONAL_NODE_PARAMS)
SAME(cu_conditional_node, size, CUDA_CONDITIONAL_NODE_PARAMS, size)
SAME(cu_conditional_node, bodies, CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out)
SAME(cu_conditional_node, context, CUDA_CONDITIONAL_NODE_PARAMS, ctx)
SAME_SIZE(cu_batch_node, CUDA_BATCH_MEM_OP_NODE_PARAMS)
SAME(cu_batch_node, operations, CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray)
SAME_SIZE(cu_edge_data, CUgraphEdgeData)
SAME_SIZE(cu_node_params, CUgraphNodeParams)
SAME(cu_node_params, of.kernel.params, CUgraphNodeParams, kernel.kernelParams)
SAME(cu_node_params, of.copy.context, CUgraphNodeParams, memcpy.copyCtx)
SAME(cu_node_params, of.copy.copy, CUgraphNodeParams, memcpy.copyParams)
SAME(cu_node_params, of.set, CUgraphNodeParams, memset)
SAME(cu_node_params, of.child.graph, CUgraphNodeParams, graph.graph)
SAME(cu_node_params, of.event, CUgraphNodeParams, eventRecord.event)
SAME(cu_node_params, of.alloc, CUgraphNodeParams, alloc)
SAME(cu_node_params, of.free, CUgraphNodeParams, free.dptr)
SAME_SIZE(cu_instantiate_params, CUDA_GRAPH_INSTANTIATE_PARAMS)
SAME(cu_instantiate_params, error_node, CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out)
SAME(cu_instantiate_params, result, CUDA_GRAPH_INSTANTIATE_PARAMS, result_out)
SAME_SIZE(cu_update_info, CUgraphExecUpdateResultInfo)
SAME_SIZE(cu_mem_op, CUstreamBatchMemOpParams)
SAME(cu_mem_op, value.address, CUstreamBatchMemOpParams, waitValue.address)
SAME(cu_mem_op, value.value, CUstreamBatchMemOpParams, waitValue.value64)
SAME(cu_mem_op, value.flags, CUstreamBatchMemOpParams, writeValue.flags)

// ---------------------------------------------------------------- functions

namespace
{

// How a value is passed: its size, and whether it is a pointer, a number or a floating-point number.
template <class A, class B> constexpr bool passed_alike()
{
    return sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

template <class A, class B> struct alike : std::false_type {};
template <class... A, class... B> struct alike<cu_result(A...), CUresult(B...)> {
    static constexpr bool check()
    {
        if constexpr (sizeof...(A) != sizeof...(B))
            return false;
        else
            return (passed_alike<A, B>() && ...);
    }
    static constexpr bool value = check();
};

} // namespace

// Handles are pointers in both; a pointer to a handle and a pointer to anything pass alike.
#define DRIVER_FUNCTION(symbol, params) static_assert(alike<cu_result params, decltype(symbol)>::value, #symbol ": other parameters");
#include "driver_functions.inc"
#undef DRIVER_FUNCTION

int main()
{
    const int functions = 0
#define DRIVER_FUNCTION(symbol, params) +1
#include "driver_functions.inc"
        ;
    std::printf("cuda_types.h and api.def agree with cuda.h of CUDA %d.%d: %d functions\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10,
                functions);
    return functions > 300 ? 0 : 1;
}
