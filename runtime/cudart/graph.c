/* graph.c - graphs: made by hand, inspected, instantiated, launched. Handles and node types are the driver's; parameters are converted. */
#include <string.h>
#include "runtime/cudart/internal.h"

/* Nodes of copies and sets belong to a context. */
static cu_context context_now(void)
{
    cu_context context = NULL;
    driver.cuCtxGetCurrent(&context);
    return context;
}

/* ------------------------------------------------------------ parameters of nodes */

static cudart_error convert_kernel(const cudart_kernel_node *from, cu_kernel_node *to)
{
    cu_kernel kernel;
    if (!from)
        return RT_cudaErrorInvalidValue;
    TRY(kernel_of(from->function, &kernel));
    *to = (cu_kernel_node){.grid = {from->grid.x, from->grid.y, from->grid.z}, .block = {from->block.x, from->block.y, from->block.z},
                           .shared_bytes = from->shared_bytes, .params = from->params, .extra = from->extra, .kernel = kernel};
    return RT_cudaSuccess;
}

/* The runtime's set knows elements of 1, 2 and 4 bytes, as the driver's. */
static cudart_error convert_set(const cudart_memset_node *from, cu_memset_node *to)
{
    if (!from)
        return RT_cudaErrorInvalidValue;
    *to = (cu_memset_node){.to = (cu_address)(uintptr_t)from->target, .pitch = from->pitch, .value = from->value,
                           .element_bytes = from->element, .width = from->width, .height = from->height};
    return RT_cudaSuccess;
}

static void give_end(const cu_copy_end *from, cu_array *array, cudart_pos *pos, cudart_pitched *memory, size_t element)
{
    *array = NULL;
    *pos = (cudart_pos){from->x_bytes, from->y, from->z};
    *memory = (cudart_pitched){0};
    if (from->memory_type == CUABI_CU_MEMORYTYPE_ARRAY) {
        *array = from->array;
        pos->x /= element;
    } else {
        memory->ptr = from->memory_type == CUABI_CU_MEMORYTYPE_HOST ? from->host.to : (void *)(uintptr_t)from->device;
        memory->pitch = from->pitch;
        memory->ysize = from->height;
    }
}

static size_t element_of(const cu_copy_end *end)
{
    cu_array3d_desc desc;
    if (end->memory_type != CUABI_CU_MEMORYTYPE_ARRAY || driver.cuArray3DGetDescriptor_v2(&desc, end->array))
        return 1;
    uint32_t bytes = element_bytes(desc.format, desc.channels);
    return bytes ? bytes : 1;
}

static void give_copy(const cu_memcpy3d *from, cudart_copy3d *to)
{
    size_t source = element_of(&from->source), target = element_of(&from->target), element = source > 1 ? source : target;
    bool host_source = from->source.memory_type == CUABI_CU_MEMORYTYPE_HOST;
    bool host_target = from->target.memory_type == CUABI_CU_MEMORYTYPE_HOST;
    bool unknown = from->source.memory_type == CUABI_CU_MEMORYTYPE_UNIFIED || from->target.memory_type == CUABI_CU_MEMORYTYPE_UNIFIED;
    give_end(&from->source, &to->source_array, &to->source_pos, &to->source, source);
    give_end(&from->target, &to->target_array, &to->target_pos, &to->target, target);
    to->extent = (cudart_extent){from->width_bytes / element, from->height, from->depth};
    to->kind = unknown       ? RT_cudaMemcpyDefault
               : host_source ? (host_target ? RT_cudaMemcpyHostToHost : RT_cudaMemcpyHostToDevice)
               : host_target ? RT_cudaMemcpyDeviceToHost
                             : RT_cudaMemcpyDeviceToDevice;
}

/* A copy of one piece as a box of one row. */
static cudart_copy3d flat_copy(void *to, const void *from, size_t bytes, int32_t kind)
{
    return (cudart_copy3d){.source = {(void *)(uintptr_t)from, bytes, bytes, 1}, .target = {to, bytes, bytes, 1},
                           .extent = {bytes, 1, 1}, .kind = kind};
}

/* ------------------------------------------------------------ graphs and their nodes */

API cudart_error cudaGraphCreate(cu_graph *graph, uint32_t flags)
{
    return CALL(driver.cuGraphCreate(graph, flags));
}

API cudart_error cudaGraphDestroy(cu_graph graph)
{
    return CALL(driver.cuGraphDestroy(graph));
}

API cudart_error cudaGraphClone(cu_graph *clone, cu_graph graph)
{
    return CALL(driver.cuGraphClone(clone, graph));
}

API cudart_error cudaGraphDestroyNode(cu_node node)
{
    return CALL(driver.cuGraphDestroyNode(node));
}

API cudart_error cudaGraphNodeFindInClone(cu_node *node, cu_node original, cu_graph clone)
{
    return CALL(driver.cuGraphNodeFindInClone(node, original, clone));
}

API cudart_error cudaGraphNodeGetType(cu_node node, int32_t *type)
{
    return CALL(driver.cuGraphNodeGetType(node, type));
}

API cudart_error cudaGraphGetNodes(cu_graph graph, cu_node *nodes, size_t *count)
{
    return CALL(driver.cuGraphGetNodes(graph, nodes, count));
}

API cudart_error cudaGraphGetRootNodes(cu_graph graph, cu_node *nodes, size_t *count)
{
    return CALL(driver.cuGraphGetRootNodes(graph, nodes, count));
}

API cudart_error cudaGraphDebugDotPrint(cu_graph graph, const char *path, uint32_t flags)
{
    return CALL(driver.cuGraphDebugDotPrint(graph, path, flags));
}

API cudart_error cudaGraphAddEmptyNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count)
{
    return CALL(driver.cuGraphAddEmptyNode(node, graph, after, count));
}

API cudart_error cudaGraphAddChildGraphNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, cu_graph child)
{
    return CALL(driver.cuGraphAddChildGraphNode(node, graph, after, count, child));
}

API cudart_error cudaGraphChildGraphNodeGetGraph(cu_node node, cu_graph *child)
{
    return CALL(driver.cuGraphChildGraphNodeGetGraph(node, child));
}

/* ------------------------------------------------------------ kernels */

API cudart_error cudaGraphAddKernelNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count,
                                        const cudart_kernel_node *params)
{
    cu_kernel_node converted;
    cudart_error error = convert_kernel(params, &converted);
    return record(error ? error : kernel_error(driver.cuGraphAddKernelNode_v2(node, graph, after, count, &converted)));
}

/* The function comes back as the driver's handle, which every call that takes a function takes as well. */
API cudart_error cudaGraphKernelNodeGetParams(cu_node node, cudart_kernel_node *params)
{
    cu_kernel_node got = {0};
    cudart_error error = CALL(driver.cuGraphKernelNodeGetParams_v2(node, &got));
    if (!error)
        *params = (cudart_kernel_node){.function = got.kernel ? got.kernel : got.function,
                                       .grid = {got.grid[0], got.grid[1], got.grid[2]},
                                       .block = {got.block[0], got.block[1], got.block[2]}, .shared_bytes = got.shared_bytes,
                                       .params = got.params, .extra = got.extra};
    return error;
}

API cudart_error cudaGraphKernelNodeSetParams(cu_node node, const cudart_kernel_node *params)
{
    cu_kernel_node converted;
    cudart_error error = convert_kernel(params, &converted);
    return record(error ? error : kernel_error(driver.cuGraphKernelNodeSetParams_v2(node, &converted)));
}

API cudart_error cudaGraphExecKernelNodeSetParams(cu_exec exec, cu_node node, const cudart_kernel_node *params)
{
    cu_kernel_node converted;
    cudart_error error = convert_kernel(params, &converted);
    return record(error ? error : kernel_error(driver.cuGraphExecKernelNodeSetParams_v2(exec, node, &converted)));
}

/* The two releases have the parameters in opposite order. */
#if CUDART_MAJOR >= 13
API cudart_error cudaGraphKernelNodeCopyAttributes(cu_node to, cu_node from)
#else
API cudart_error cudaGraphKernelNodeCopyAttributes(cu_node from, cu_node to)
#endif
{
    return CALL(driver.cuGraphKernelNodeCopyAttributes(to, from));
}

API cudart_error cudaGraphKernelNodeGetAttribute(cu_node node, int32_t attribute, cu_launch_value *value)
{
    return CALL(driver.cuGraphKernelNodeGetAttribute(node, attribute, value));
}

API cudart_error cudaGraphKernelNodeSetAttribute(cu_node node, int32_t attribute, const cu_launch_value *value)
{
    return CALL(driver.cuGraphKernelNodeSetAttribute(node, attribute, value));
}

/* ------------------------------------------------------------ copies */

static cudart_error add_copy(cu_node *node, cu_graph graph, const cu_node *after, size_t count, const cudart_copy3d *copy)
{
    cu_memcpy3d converted;
    TRY(enter());
    TRY(convert_copy(copy, &converted));
    return driver.cuGraphAddMemcpyNode(node, graph, after, count, &converted, context_now());
}

static cudart_error set_copy(cu_exec exec, cu_node node, const cudart_copy3d *copy)
{
    cu_memcpy3d converted;
    TRY(enter());
    TRY(convert_copy(copy, &converted));
    return exec ? driver.cuGraphExecMemcpyNodeSetParams(exec, node, &converted, context_now())
                : driver.cuGraphMemcpyNodeSetParams(node, &converted);
}

/* A copy to or from a variable as a flat one. */
static cudart_error copy_with_variable(const void *symbol, size_t offset, size_t bytes, char **at)
{
    cu_address address;
    size_t size;
    TRY(variable_of(symbol, &address, &size));
    if (offset > size || bytes > size - offset)
        return RT_cudaErrorInvalidValue;
    *at = (char *)(uintptr_t)address + offset;
    return RT_cudaSuccess;
}

API cudart_error cudaGraphAddMemcpyNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, const cudart_copy3d *copy)
{
    return record(add_copy(node, graph, after, count, copy));
}

API cudart_error cudaGraphAddMemcpyNode1D(cu_node *node, cu_graph graph, const cu_node *after, size_t count, void *to,
                                          const void *from, size_t bytes, int32_t kind)
{
    cudart_copy3d copy = flat_copy(to, from, bytes, kind);
    return record(add_copy(node, graph, after, count, &copy));
}

API cudart_error cudaGraphAddMemcpyNodeToSymbol(cu_node *node, cu_graph graph, const cu_node *after, size_t count, const void *symbol,
                                                const void *from, size_t bytes, size_t offset, int32_t kind)
{
    char *at = NULL;
    cudart_error error = copy_with_variable(symbol, offset, bytes, &at);
    cudart_copy3d copy = flat_copy(at, from, bytes, kind);
    return record(error ? error : add_copy(node, graph, after, count, &copy));
}

API cudart_error cudaGraphAddMemcpyNodeFromSymbol(cu_node *node, cu_graph graph, const cu_node *after, size_t count, void *to,
                                                  const void *symbol, size_t bytes, size_t offset, int32_t kind)
{
    char *at = NULL;
    cudart_error error = copy_with_variable(symbol, offset, bytes, &at);
    cudart_copy3d copy = flat_copy(to, at, bytes, kind);
    return record(error ? error : add_copy(node, graph, after, count, &copy));
}

API cudart_error cudaGraphMemcpyNodeGetParams(cu_node node, cudart_copy3d *copy)
{
    cu_memcpy3d got = {0};
    cudart_error error = CALL(driver.cuGraphMemcpyNodeGetParams(node, &got));
    if (!error)
        give_copy(&got, copy);
    return error;
}

API cudart_error cudaGraphMemcpyNodeSetParams(cu_node node, const cudart_copy3d *copy)
{
    return record(set_copy(NULL, node, copy));
}

API cudart_error cudaGraphMemcpyNodeSetParams1D(cu_node node, void *to, const void *from, size_t bytes, int32_t kind)
{
    cudart_copy3d copy = flat_copy(to, from, bytes, kind);
    return record(set_copy(NULL, node, &copy));
}

API cudart_error cudaGraphMemcpyNodeSetParamsToSymbol(cu_node node, const void *symbol, const void *from, size_t bytes, size_t offset,
                                                      int32_t kind)
{
    char *at = NULL;
    cudart_error error = copy_with_variable(symbol, offset, bytes, &at);
    return error ? record(error) : cudaGraphMemcpyNodeSetParams1D(node, at, from, bytes, kind);
}

API cudart_error cudaGraphMemcpyNodeSetParamsFromSymbol(cu_node node, void *to, const void *symbol, size_t bytes, size_t offset,
                                                        int32_t kind)
{
    char *at = NULL;
    cudart_error error = copy_with_variable(symbol, offset, bytes, &at);
    return error ? record(error) : cudaGraphMemcpyNodeSetParams1D(node, to, at, bytes, kind);
}

API cudart_error cudaGraphExecMemcpyNodeSetParams(cu_exec exec, cu_node node, const cudart_copy3d *copy)
{
    return record(exec ? set_copy(exec, node, copy) : RT_cudaErrorInvalidValue);
}

API cudart_error cudaGraphExecMemcpyNodeSetParams1D(cu_exec exec, cu_node node, void *to, const void *from, size_t bytes, int32_t kind)
{
    cudart_copy3d copy = flat_copy(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

API cudart_error cudaGraphExecMemcpyNodeSetParamsToSymbol(cu_exec exec, cu_node node, const void *symbol, const void *from,
                                                          size_t bytes, size_t offset, int32_t kind)
{
    char *at = NULL;
    cudart_error error = copy_with_variable(symbol, offset, bytes, &at);
    return error ? record(error) : cudaGraphExecMemcpyNodeSetParams1D(exec, node, at, from, bytes, kind);
}

API cudart_error cudaGraphExecMemcpyNodeSetParamsFromSymbol(cu_exec exec, cu_node node, void *to, const void *symbol, size_t bytes,
                                                            size_t offset, int32_t kind)
{
    char *at = NULL;
    cudart_error error = copy_with_variable(symbol, offset, bytes, &at);
    return error ? record(error) : cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, at, bytes, kind);
}

/* ------------------------------------------------------------ sets */

API cudart_error cudaGraphAddMemsetNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count,
                                        const cudart_memset_node *params)
{
    cu_memset_node converted;
    cudart_error error = convert_set(params, &converted);
    return error ? record(error) : CALL(driver.cuGraphAddMemsetNode(node, graph, after, count, &converted, context_now()));
}

API cudart_error cudaGraphMemsetNodeGetParams(cu_node node, cudart_memset_node *params)
{
    cu_memset_node got = {0};
    cudart_error error = CALL(driver.cuGraphMemsetNodeGetParams(node, &got));
    if (!error)
        *params = (cudart_memset_node){(void *)(uintptr_t)got.to, got.pitch, got.value, got.element_bytes, got.width, got.height};
    return error;
}

API cudart_error cudaGraphMemsetNodeSetParams(cu_node node, const cudart_memset_node *params)
{
    cu_memset_node converted;
    cudart_error error = convert_set(params, &converted);
    return error ? record(error) : CALL(driver.cuGraphMemsetNodeSetParams(node, &converted));
}

API cudart_error cudaGraphExecMemsetNodeSetParams(cu_exec exec, cu_node node, const cudart_memset_node *params)
{
    cu_memset_node converted;
    cudart_error error = convert_set(params, &converted);
    return error ? record(error) : CALL(driver.cuGraphExecMemsetNodeSetParams(exec, node, &converted, context_now()));
}

/* ------------------------------------------------------------ host functions, events, memory */

API cudart_error cudaGraphAddHostNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, const cu_host_node *params)
{
    return CALL(driver.cuGraphAddHostNode(node, graph, after, count, params));
}

API cudart_error cudaGraphHostNodeGetParams(cu_node node, cu_host_node *params)
{
    return CALL(driver.cuGraphHostNodeGetParams(node, params));
}

API cudart_error cudaGraphHostNodeSetParams(cu_node node, const cu_host_node *params)
{
    return CALL(driver.cuGraphHostNodeSetParams(node, params));
}

API cudart_error cudaGraphExecHostNodeSetParams(cu_exec exec, cu_node node, const cu_host_node *params)
{
    return CALL(driver.cuGraphExecHostNodeSetParams(exec, node, params));
}

API cudart_error cudaGraphExecChildGraphNodeSetParams(cu_exec exec, cu_node node, cu_graph child)
{
    return CALL(driver.cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

API cudart_error cudaGraphAddEventRecordNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, cu_event event)
{
    return CALL(driver.cuGraphAddEventRecordNode(node, graph, after, count, event));
}

API cudart_error cudaGraphEventRecordNodeGetEvent(cu_node node, cu_event *event)
{
    return CALL(driver.cuGraphEventRecordNodeGetEvent(node, event));
}

API cudart_error cudaGraphEventRecordNodeSetEvent(cu_node node, cu_event event)
{
    return CALL(driver.cuGraphEventRecordNodeSetEvent(node, event));
}

API cudart_error cudaGraphExecEventRecordNodeSetEvent(cu_exec exec, cu_node node, cu_event event)
{
    return CALL(driver.cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

API cudart_error cudaGraphAddEventWaitNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, cu_event event)
{
    return CALL(driver.cuGraphAddEventWaitNode(node, graph, after, count, event));
}

API cudart_error cudaGraphEventWaitNodeGetEvent(cu_node node, cu_event *event)
{
    return CALL(driver.cuGraphEventWaitNodeGetEvent(node, event));
}

API cudart_error cudaGraphEventWaitNodeSetEvent(cu_node node, cu_event event)
{
    return CALL(driver.cuGraphEventWaitNodeSetEvent(node, event));
}

API cudart_error cudaGraphExecEventWaitNodeSetEvent(cu_exec exec, cu_node node, cu_event event)
{
    return CALL(driver.cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

API cudart_error cudaGraphAddMemAllocNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, cu_alloc_node *params)
{
    return CALL(driver.cuGraphAddMemAllocNode(node, graph, after, count, params));
}

API cudart_error cudaGraphMemAllocNodeGetParams(cu_node node, cu_alloc_node *params)
{
    return CALL(driver.cuGraphMemAllocNodeGetParams(node, params));
}

API cudart_error cudaGraphAddMemFreeNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, void *pointer)
{
    return CALL(driver.cuGraphAddMemFreeNode(node, graph, after, count, (cu_address)(uintptr_t)pointer));
}

API cudart_error cudaGraphMemFreeNodeGetParams(cu_node node, void *pointer)
{
    return CALL(driver.cuGraphMemFreeNodeGetParams(node, pointer));
}

API cudart_error cudaDeviceGraphMemTrim(int device)
{
    return CALL(driver.cuDeviceGraphMemTrim(device));
}

API cudart_error cudaDeviceGetGraphMemAttribute(int device, int32_t attribute, void *value)
{
    return CALL(driver.cuDeviceGetGraphMemAttribute(device, attribute, value));
}

API cudart_error cudaDeviceSetGraphMemAttribute(int device, int32_t attribute, void *value)
{
    return CALL(driver.cuDeviceSetGraphMemAttribute(device, attribute, value));
}

/* ------------------------------------------------------------ execution */

/* Flags are the driver's. */
API cudart_error cudaGraphInstantiate(cu_exec *exec, cu_graph graph, uint64_t flags)
{
    return CALL(driver.cuGraphInstantiateWithFlags(exec, graph, flags));
}

API cudart_error cudaGraphInstantiateWithFlags(cu_exec *exec, cu_graph graph, uint64_t flags)
{
    return CALL(driver.cuGraphInstantiateWithFlags(exec, graph, flags));
}

API cudart_error cudaGraphInstantiateWithParams(cu_exec *exec, cu_graph graph, cu_instantiate_params *params)
{
    return CALL(driver.cuGraphInstantiateWithParams(exec, graph, params));
}

API cudart_error cudaGraphInstantiateWithParams_ptsz(cu_exec *exec, cu_graph graph, cu_instantiate_params *params)
{
    if (params && !params->upload)
        params->upload = STREAM_PER_THREAD;
    return cudaGraphInstantiateWithParams(exec, graph, params);
}

API cudart_error cudaGraphExecGetFlags(cu_exec exec, uint64_t *flags)
{
    return CALL(driver.cuGraphExecGetFlags(exec, flags));
}

API cudart_error cudaGraphExecUpdate(cu_exec exec, cu_graph graph, cu_update_info *info)
{
    return CALL(driver.cuGraphExecUpdate_v2(exec, graph, info));
}

API cudart_error cudaGraphNodeSetEnabled(cu_exec exec, cu_node node, uint32_t enabled)
{
    return CALL(driver.cuGraphNodeSetEnabled(exec, node, enabled));
}

API cudart_error cudaGraphNodeGetEnabled(cu_exec exec, cu_node node, uint32_t *enabled)
{
    return CALL(driver.cuGraphNodeGetEnabled(exec, node, enabled));
}

API cudart_error cudaGraphUpload(cu_exec exec, cudart_stream stream)
{
    return CALL(driver.cuGraphUpload(exec, stream));
}
PTSZ(cudaGraphUpload, (cu_exec exec, cudart_stream stream), (exec, stream))

API cudart_error cudaGraphLaunch(cu_exec exec, cudart_stream stream)
{
    return CALL(driver.cuGraphLaunch(exec, stream));
}
PTSZ(cudaGraphLaunch, (cu_exec exec, cudart_stream stream), (exec, stream))

API cudart_error cudaGraphExecDestroy(cu_exec exec)
{
    return CALL(driver.cuGraphExecDestroy(exec));
}

/* ------------------------------------------------------------ objects that graphs keep alive */

API cudart_error cudaUserObjectCreate(cu_user_object *object, void *pointer, cu_host_fn destroy, uint32_t references, uint32_t flags)
{
    return CALL(driver.cuUserObjectCreate(object, pointer, destroy, references, flags));
}

API cudart_error cudaUserObjectRetain(cu_user_object object, uint32_t count)
{
    return CALL(driver.cuUserObjectRetain(object, count));
}

API cudart_error cudaUserObjectRelease(cu_user_object object, uint32_t count)
{
    return CALL(driver.cuUserObjectRelease(object, count));
}

API cudart_error cudaGraphRetainUserObject(cu_graph graph, cu_user_object object, uint32_t count, uint32_t flags)
{
    return CALL(driver.cuGraphRetainUserObject(graph, object, count, flags));
}

API cudart_error cudaGraphReleaseUserObject(cu_graph graph, cu_user_object object, uint32_t count)
{
    return CALL(driver.cuGraphReleaseUserObject(graph, object, count));
}
