/* node.c - nodes of any kind by cudaGraphNodeParams. */
#include <string.h>
#include "runtime/cudart/internal.h"

static cudart_error convert_node(const cudart_node *from, cu_node_params *to)
{
    *to = (cu_node_params){.type = from->type};
    switch (from->type) {
    case RT_cudaGraphNodeTypeKernel: {
        cu_kernel kernel;
        const cudart_kernel_node *k = &from->of.kernel;
        TRY(kernel_of(k->function, &kernel));
        to->of.kernel = (cu_kernel_node){.grid = {k->grid.x, k->grid.y, k->grid.z}, .block = {k->block.x, k->block.y, k->block.z},
                                         .shared_bytes = k->shared_bytes, .params = k->params, .extra = k->extra, .kernel = kernel};
        return RT_cudaSuccess;
    }
    case RT_cudaGraphNodeTypeMemcpy:
        return convert_copy(&from->of.copy.copy, &to->of.copy.copy);
    case RT_cudaGraphNodeTypeMemset:
        to->of.set = (cu_memset_node){.to = (cu_address)(uintptr_t)from->of.memset.target, .pitch = from->of.memset.pitch,
                                      .value = from->of.memset.value, .element_bytes = from->of.memset.element,
                                      .width = from->of.memset.width, .height = from->of.memset.height};
        return RT_cudaSuccess;
    case RT_cudaGraphNodeTypeEmpty:
        return RT_cudaSuccess;
    case RT_cudaGraphNodeTypeHost:
    case RT_cudaGraphNodeTypeGraph:
    case RT_cudaGraphNodeTypeWaitEvent:
    case RT_cudaGraphNodeTypeEventRecord:
    case RT_cudaGraphNodeTypeMemAlloc:
    case RT_cudaGraphNodeTypeMemFree:    /* the same fields in both */
        memcpy(to->of.reserved1, from->of.room, sizeof to->of.reserved1);
        return RT_cudaSuccess;
    case RT_cudaGraphNodeTypeConditional:    /* in the current context */
        to->of.conditional = (cu_conditional_node){.handle = from->of.conditional.handle, .type = from->of.conditional.type,
                                                   .size = from->of.conditional.size};
        return RT_cudaSuccess;
    default:
        return RT_cudaErrorNotSupported;
    }
}

static cudart_error add_node(cu_node *node, cu_graph graph, const cu_node *after, const cu_edge_data *edges, size_t count,
                             cudart_node *params)
{
    cu_node_params converted;
    if (!params)
        return RT_cudaErrorInvalidValue;
    TRY(enter());
    TRY(convert_node(params, &converted));
    TRY(driver.cuGraphAddNode_v2(node, graph, after, edges, count, &converted));
    if (params->type == RT_cudaGraphNodeTypeMemAlloc)
        params->of.alloc.address = (void *)(uintptr_t)converted.of.alloc.address;
    if (params->type == RT_cudaGraphNodeTypeConditional)
        params->of.conditional.bodies = converted.of.conditional.bodies;
    return RT_cudaSuccess;
}

#if CUDART_MAJOR >= 13
API cudart_error cudaGraphAddNode(cu_node *node, cu_graph graph, const cu_node *after, const cu_edge_data *edges, size_t count,
                                  cudart_node *params)
#else
API cudart_error cudaGraphAddNode(cu_node *node, cu_graph graph, const cu_node *after, size_t count, cudart_node *params)
{
    return record(add_node(node, graph, after, NULL, count, params));
}

API cudart_error cudaGraphAddNode_v2(cu_node *node, cu_graph graph, const cu_node *after, const cu_edge_data *edges, size_t count,
                                     cudart_node *params)
#endif
{
    return record(add_node(node, graph, after, edges, count, params));
}

API cudart_error cudaGraphConditionalHandleCreate(uint64_t *handle, cu_graph graph, unsigned value, unsigned flags)
{
    return CALL(driver.cuGraphConditionalHandleCreate(handle, graph, NULL, value, flags));
}

static cudart_error set_node(cu_exec exec, cu_node node, const cudart_node *params)
{
    cu_node_params converted;
    if (!params)
        return RT_cudaErrorInvalidValue;
    TRY(enter());
    TRY(convert_node(params, &converted));
    return exec ? driver.cuGraphExecNodeSetParams(exec, node, &converted) : driver.cuGraphNodeSetParams(node, &converted);
}

API cudart_error cudaGraphNodeSetParams(cu_node node, cudart_node *params)
{
    return record(set_node(NULL, node, params));
}

API cudart_error cudaGraphExecNodeSetParams(cu_exec exec, cu_node node, cudart_node *params)
{
    return record(exec ? set_node(exec, node, params) : RT_cudaErrorInvalidValue);
}
