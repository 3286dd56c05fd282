// cudart_abi_check.cc - compares runtime/cudart/cudart_abi.h and driver_calls.h with NVIDIA's headers where they are installed.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <type_traits>
#define __CUDA_API_VERSION_INTERNAL 1      // declares every symbol under its own name
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_runtime_api.h>
#define CUDART_MAJOR (CUDART_VERSION / 1000)
#include "runtime/cudart/cudart_abi.h"
#include "runtime/cudart/driver_calls.h"

static int failures, checks;

static void expect(const char *what, long long ours, long long theirs)
{
    checks++;
    if (ours != theirs) {
        std::printf("%s: ours is %lld, CUDA's is %lld\n", what, ours, theirs);
        failures++;
    }
}

#define SIZE(ours, theirs) expect("size of " #theirs, sizeof(ours), sizeof(theirs))
#define FIELD(ours, field, theirs, their_field)                                                                        \
    expect("offset of " #theirs "." #their_field, offsetof(ours, field), offsetof(theirs, their_field));               \
    expect("size of " #theirs "." #their_field, sizeof(((ours *)0)->field), sizeof(((theirs *)0)->their_field))

static void check_numbers()
{
#define CHECK(name, value, text) expect(#name, RT_##name, name);
    CUDART_ERRORS(CHECK)
#undef CHECK
#define CHECK(name, value) expect(#name, RT_##name, name);
    CUDART_NUMBERS(CHECK)
#undef CHECK
}

static void check_copies()
{
    SIZE(cudart_dim3, dim3);
    SIZE(cudart_channels, cudaChannelFormatDesc);
    FIELD(cudart_channels, kind, cudaChannelFormatDesc, f);
    SIZE(cudart_copy3d, cudaMemcpy3DParms);
    FIELD(cudart_copy3d, source_pos, cudaMemcpy3DParms, srcPos);
    FIELD(cudart_copy3d, source, cudaMemcpy3DParms, srcPtr);
    FIELD(cudart_copy3d, target_array, cudaMemcpy3DParms, dstArray);
    FIELD(cudart_copy3d, target, cudaMemcpy3DParms, dstPtr);
    FIELD(cudart_copy3d, extent, cudaMemcpy3DParms, extent);
    FIELD(cudart_copy3d, kind, cudaMemcpy3DParms, kind);
    SIZE(cudart_copy3d_peer, cudaMemcpy3DPeerParms);
    FIELD(cudart_copy3d_peer, extent, cudaMemcpy3DPeerParms, extent);
    FIELD(cudart_pitched, xsize, cudaPitchedPtr, xsize);
    SIZE(cudart_location, cudaMemLocation);
#if CUDART_VERSION >= 12080
    SIZE(cu_copy_attributes, cudaMemcpyAttributes);
    SIZE(cu_batch_copy, cudaMemcpy3DBatchOp);
    FIELD(cu_batch_copy, target, cudaMemcpy3DBatchOp, dst);
    FIELD(cu_batch_copy, width, cudaMemcpy3DBatchOp, extent.width);
    FIELD(cu_batch_copy, order, cudaMemcpy3DBatchOp, srcAccessOrder);
    FIELD(cu_batch_end, of.pointer.layer_height, cudaMemcpy3DOperand, op.ptr.layerHeight);
    FIELD(cu_batch_end, of.array.z, cudaMemcpy3DOperand, op.array.offset.z);
#endif
    SIZE(cu_ipc, cudaIpcMemHandle_t);
    SIZE(cu_ipc, cudaIpcEventHandle_t);
    SIZE(cu_uuid, cudaUUID_t);
}

static void check_functions()
{
    SIZE(cudart_function_attributes, cudaFuncAttributes);
    FIELD(cudart_function_attributes, max_threads, cudaFuncAttributes, maxThreadsPerBlock);
    FIELD(cudart_function_attributes, registers, cudaFuncAttributes, numRegs);
    FIELD(cudart_function_attributes, ptx_version, cudaFuncAttributes, ptxVersion);
    FIELD(cudart_function_attributes, max_dynamic_shared, cudaFuncAttributes, maxDynamicSharedSizeBytes);
    FIELD(cudart_function_attributes, non_portable_cluster, cudaFuncAttributes, nonPortableClusterSizeAllowed);
    SIZE(cudart_pointer_attributes, cudaPointerAttributes);
    FIELD(cudart_pointer_attributes, device_pointer, cudaPointerAttributes, devicePointer);
    SIZE(cudart_launch_config, cudaLaunchConfig_t);
    FIELD(cudart_launch_config, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
    FIELD(cudart_launch_config, nattributes, cudaLaunchConfig_t, numAttrs);
    SIZE(cu_launch_attribute, cudaLaunchAttribute);
    SIZE(cu_launch_value, cudaLaunchAttributeValue);
}

static void check_textures()
{
    SIZE(cudart_resource, cudaResourceDesc);
    FIELD(cudart_resource, of.array, cudaResourceDesc, res.array.array);
    FIELD(cudart_resource, of.linear.channels, cudaResourceDesc, res.linear.desc);
    FIELD(cudart_resource, of.linear.bytes, cudaResourceDesc, res.linear.sizeInBytes);
    FIELD(cudart_resource, of.pitch2d.pitch, cudaResourceDesc, res.pitch2D.pitchInBytes);
    SIZE(cudart_texture, cudaTextureDesc);
    FIELD(cudart_texture, read, cudaTextureDesc, readMode);
    FIELD(cudart_texture, srgb, cudaTextureDesc, sRGB);
    FIELD(cudart_texture, border, cudaTextureDesc, borderColor);
    FIELD(cudart_texture, mip_max, cudaTextureDesc, maxMipmapLevelClamp);
    FIELD(cudart_texture, seamless_cubemap, cudaTextureDesc, seamlessCubemap);
    SIZE(cudart_view, cudaResourceViewDesc);
    FIELD(cudart_view, last_layer, cudaResourceViewDesc, lastLayer);
    FIELD(cu_view_desc, last_layer, cudaResourceViewDesc, lastLayer);
}

static void check_graphs()
{
    SIZE(cudart_kernel_node, cudaKernelNodeParams);
    FIELD(cudart_kernel_node, shared_bytes, cudaKernelNodeParams, sharedMemBytes);
    FIELD(cudart_kernel_node, extra, cudaKernelNodeParams, extra);
    SIZE(cudart_memset_node, cudaMemsetParams);
    FIELD(cudart_memset_node, element, cudaMemsetParams, elementSize);
    SIZE(cu_host_node, cudaHostNodeParams);
    SIZE(cudart_alloc_node, cudaMemAllocNodeParams);
    FIELD(cudart_alloc_node, address, cudaMemAllocNodeParams, dptr);
    SIZE(cu_alloc_node, cudaMemAllocNodeParams);
    FIELD(cudart_conditional_node, size, cudaConditionalNodeParams, size);
    FIELD(cudart_conditional_node, bodies, cudaConditionalNodeParams, phGraph_out);
    SIZE(cudart_node, cudaGraphNodeParams);
    FIELD(cudart_node, of.kernel, cudaGraphNodeParams, kernel);
    FIELD(cudart_node, of.copy.copy, cudaGraphNodeParams, memcpy.copyParams);
    SIZE(cu_node_params, cudaGraphNodeParams);
    SIZE(cudart_edge, cudaGraphEdgeData);
    SIZE(cudart_update_result, cudaGraphExecUpdateResultInfo);
    SIZE(cu_instantiate_params, cudaGraphInstantiateParams);
    FIELD(cu_instantiate_params, result, cudaGraphInstantiateParams, result_out);
    SIZE(cudart_pool_props, cudaMemPoolProps);
    FIELD(cudart_pool_props, most, cudaMemPoolProps, maxSize);
}

static void check_properties()
{
    SIZE(cudart_properties, cudaDeviceProp);
#define PROPERTY(ours, theirs) FIELD(cudart_properties, ours, cudaDeviceProp, theirs)
    PROPERTY(total_memory, totalGlobalMem);
    PROPERTY(shared_block, sharedMemPerBlock);
    PROPERTY(registers_block, regsPerBlock);
    PROPERTY(threads_block, maxThreadsPerBlock);
    PROPERTY(block_dim, maxThreadsDim);
    PROPERTY(grid_dim, maxGridSize);
    PROPERTY(const_memory, totalConstMem);
    PROPERTY(major, major);
    PROPERTY(minor, minor);
    PROPERTY(texture_pitch_alignment, texturePitchAlignment);
    PROPERTY(multiprocessors, multiProcessorCount);
    PROPERTY(integrated, integrated);
    PROPERTY(map_host, canMapHostMemory);
    PROPERTY(texture_1d, maxTexture1D);
    PROPERTY(texture_2d, maxTexture2D);
    PROPERTY(texture_2d_gather, maxTexture2DGather);
    PROPERTY(texture_3d_alt, maxTexture3DAlt);
    PROPERTY(texture_cube, maxTextureCubemap);
    PROPERTY(texture_cube_layered, maxTextureCubemapLayered);
    PROPERTY(surface_1d, maxSurface1D);
    PROPERTY(surface_cube_layered, maxSurfaceCubemapLayered);
    PROPERTY(surface_alignment, surfaceAlignment);
    PROPERTY(concurrent_kernels, concurrentKernels);
    PROPERTY(pci_domain, pciDomainID);
    PROPERTY(async_engines, asyncEngineCount);
    PROPERTY(unified_addressing, unifiedAddressing);
    PROPERTY(bus_width, memoryBusWidth);
    PROPERTY(l2_persisting, persistingL2CacheMaxSize);
    PROPERTY(threads_multiprocessor, maxThreadsPerMultiProcessor);
    PROPERTY(shared_multiprocessor, sharedMemPerMultiprocessor);
    PROPERTY(registers_multiprocessor, regsPerMultiprocessor);
    PROPERTY(managed, managedMemory);
    PROPERTY(host_atomics, hostNativeAtomicSupported);
    PROPERTY(pageable_access, pageableMemoryAccess);
    PROPERTY(concurrent_managed, concurrentManagedAccess);
    PROPERTY(cooperative, cooperativeLaunch);
    PROPERTY(shared_optin, sharedMemPerBlockOptin);
    PROPERTY(direct_managed, directManagedMemAccessFromHost);
    PROPERTY(blocks_multiprocessor, maxBlocksPerMultiProcessor);
    PROPERTY(shared_reserved, reservedSharedMemPerBlock);
    PROPERTY(memory_pools, memoryPoolsSupported);
    PROPERTY(pool_handles, memoryPoolSupportedHandleTypes);
    PROPERTY(cluster, clusterLaunch);
    PROPERTY(unified_functions, unifiedFunctionPointers);
}

// Each driver function that the runtime calls has the parameters of cuda.h: their number, and the size and class of each.
template <class T> constexpr int class_of()
{
    using U = std::remove_cv_t<T>;
    if (std::is_pointer_v<U>)
        return 1;
    if (std::is_floating_point_v<U>)
        return 2;
    if (std::is_class_v<U> || std::is_union_v<U>)
        return 3;
    return 0;
}

// Handles of 64 bits are numbers in our header where NVIDIA has pointers or numbers; one register either way.
template <class A, class B> constexpr bool same_parameter()
{
    bool registers = sizeof(A) == sizeof(B) && class_of<A>() < 2 && class_of<B>() < 2;
    return registers || (sizeof(A) == sizeof(B) && class_of<A>() == class_of<B>());
}

template <class F, class G> struct compare;
template <class R, class... A, class S, class... B> struct compare<R(A...), S(B...)> {
    static constexpr bool equal()
    {
        if constexpr (sizeof...(A) != sizeof...(B))
            return false;
        else
            return (same_parameter<A, B>() && ...);
    }
};

#define COMPARE(name, params)                                                                                           \
    expect("parameters of " #name, compare<cu_result params, decltype(name)>::equal(), true);

static void check_calls()
{
    DRIVER_CALLS(COMPARE)
}

int main()
{
    check_numbers();
    check_copies();
    check_functions();
    check_textures();
    check_graphs();
    check_properties();
    check_calls();
    std::printf("%d facts compared with CUDA %d, %d differ\n", checks, CUDART_VERSION, failures);
    return failures != 0;
}
