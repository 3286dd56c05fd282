/* node.c - what the nodes of a graph do: cuGraphAdd…Node, cuGraph…Node…Params. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"
#include "runtime/driver/launch.h"

/* ------------------------------------------------------------ copies of work */

cu_result dr_work_clone(const dr_work *from, dr_work *to)
{
    *to = *from;
    if (from->kind == DR_WORK_LAUNCH && from->of.launch.params) {
        size_t bytes = (size_t)from->of.launch.function->ptx->param_size;
        to->of.launch.params = malloc(bytes);
        if (!to->of.launch.params)
            return DR_ERROR(OUT_OF_MEMORY);
        memcpy(to->of.launch.params, from->of.launch.params, bytes);
    }
    return CUABI_SUCCESS;
}

void dr_node_clear(dr_node *n)
{
    dr_work_free(&n->work);
    n->work = (dr_work){0};
    free(n->params);
    n->params = NULL;
    if (n->type == CUABI_CU_GRAPH_NODE_TYPE_GRAPH && n->of.child)
        dr_graph_free(n->of.child);
    if (n->type == CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL)
        dr_conditional_clear(n);
    if (n->type == CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        free(n->of.batch.operations);
    memset(&n->of, 0, sizeof n->of);
}

/* What cuGraphKernelNodeGetParams gives: pointers into the node's own parameter block. */
static cu_result describe_kernel(dr_node *n)
{
    const dr_launch *l = &n->work.of.launch;
    const ptx_prototype *p = &l->function->ptx->prototype;
    cu_kernel_node k = {.function = l->function, .shared_bytes = l->shared_bytes, .context = n->context};
    memcpy(k.grid, l->grid, sizeof k.grid);
    memcpy(k.block, l->block, sizeof k.block);
    free(n->params);
    n->params = calloc(p->nparams + 1, sizeof(*n->params));
    if (!n->params)
        return DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < p->nparams; i++)
        n->params[i] = (char *)l->params + p->params[i]->offset;
    k.params = p->nparams ? n->params : NULL;
    n->of.kernel = k;
    return CUABI_SUCCESS;
}

cu_result dr_node_copy(dr_node *to, const dr_node *from)
{
    if (from->type == CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "a graph with conditional nodes is not cloned");
    cu_result result = dr_work_clone(&from->work, &to->work);
    to->context = from->context;
    to->priority = from->priority;
    to->of = from->of;
    if (from->type == CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        to->of.batch.operations = NULL;
        if (!result && from->of.batch.operations)
            result = dr_node_set_batch(to, &from->of.batch);
    }
    if (!result && from->type == CUABI_CU_GRAPH_NODE_TYPE_KERNEL)
        result = describe_kernel(to);
    if (from->type == CUABI_CU_GRAPH_NODE_TYPE_GRAPH) {
        to->of.child = NULL;
        if (!result)
            result = dr_graph_clone(from->of.child, &to->of.child);
        if (!result)
            to->of.child->owned = true;
    }
    return result;
}

/* ------------------------------------------------------------ setting */

/* Replaces a node's work and description once the new ones are known to be right. */
static void replace(dr_node *n, const dr_work *work, dr_context *context)
{
    dr_work_free(&n->work);
    n->work = *work;
    if (context)
        n->context = context;
}

cu_result dr_node_set_kernel(dr_node *n, const cu_kernel_node *p, bool v1)
{
    const void *handle = p->function;
    dr_context *c = dr_context_current();
    if (!v1 && !handle)
        handle = p->kernel;
    if (!v1 && p->context)
        c = dr_object_of(p->context, DR_CONTEXT);
    dr_function *f = dr_object_of(handle, DR_FUNCTION);
    if (f)
        c = f->module->context;
    if (!c)
        return DR_ERROR(INVALID_CONTEXT);
    bool cooperative = n->work.kind == DR_WORK_LAUNCH && n->work.of.launch.cooperative;
    dr_work work = {.kind = DR_WORK_LAUNCH};
    cu_result result = dr_launch_make(c, handle, p->grid, p->block, p->shared_bytes, cooperative, p->params, p->extra, &work.of.launch);
    if (result)
        return result;
    replace(n, &work, c);
    return describe_kernel(n);
}

cu_result dr_node_set_copy(dr_node *n, const cu_memcpy3d *copy, dr_context *context)
{
    dr_work work = {.kind = DR_WORK_COPY};
    cu_result result = dr_copy_describe(copy, &work.of.copy);
    if (result)
        return result;
    replace(n, &work, context);
    n->of.copy = *copy;
    return CUABI_SUCCESS;
}

cu_result dr_node_set_set(dr_node *n, const cu_memset_node *set, dr_context *context)
{
    dr_work work = {.kind = DR_WORK_SET};
    dr_context *c = context ? context : dr_context_current();
    if (!c)
        return DR_ERROR(INVALID_CONTEXT);
    cu_result result = dr_set_describe(c, set->to, set->pitch, set->value, set->element_bytes, set->width, set->height, &work.of.set);
    if (result)
        return result;
    replace(n, &work, c);
    memcpy(&n->of.set, set, CUABI_MEMSET_NODE_V1_BYTES);
    n->of.set.context = c;
    return CUABI_SUCCESS;
}

cu_result dr_node_set_host(dr_node *n, const cu_host_node *host)
{
    DR_NEED(host->callback);
    dr_work work = {.kind = DR_WORK_HOST, .of.host = {host->callback, host->user}};
    replace(n, &work, NULL);
    n->of.host = *host;
    return CUABI_SUCCESS;
}

/* An end of a captured copy as cuGraphMemcpyNodeGetParams tells it; arrays have become plain addresses. */
static cu_copy_end end_of(const dr_end *e)
{
    cu_copy_end end = {.memory_type = e->device ? CUABI_CU_MEMORYTYPE_DEVICE : CUABI_CU_MEMORYTYPE_HOST, .pitch = e->pitch,
                       .height = e->pitch ? e->slice / e->pitch : 0};
    if (e->device)
        end.device = e->address;
    else
        end.host.from = (const void *)(uintptr_t)e->address;
    return end;
}

cu_result dr_node_set_work(dr_node *n, dr_context *context, const dr_work *work)
{
    n->work = *work;
    n->context = context;
    switch (work->kind) {
    case DR_WORK_LAUNCH: return describe_kernel(n);
    case DR_WORK_COPY: {
        const dr_copy *c = &work->of.copy;
        n->of.copy = (cu_memcpy3d){.source = end_of(&c->from), .target = end_of(&c->to), .width_bytes = c->width, .height = c->height,
                                   .depth = c->depth};
        break;
    }
    case DR_WORK_SET: {
        const dr_set *s = &work->of.set;
        n->of.set = (cu_memset_node){s->address, s->pitch, s->value, s->element, s->width, s->height, context};
        break;
    }
    case DR_WORK_HOST: n->of.host = (cu_host_node){work->of.host.call, work->of.host.user}; break;
    case DR_WORK_FREE:             /* the memory stays for the next launch: see set_alloc */
        n->of.free = work->of.address;
        n->work.kind = DR_WORK_NONE;
        break;
    default: break;
    }
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ cuGraphAdd… */

static cu_result add(cu_node *out, cu_graph graph, const cu_node *before, size_t count, int32_t type, dr_node **node)
{
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    *node = NULL;
    if (!out || !g || (count && !before) || !dr_nodes_belong(g, before, count))
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE);
    return dr_node_new(g, type, (dr_node *const *)before, count, node);
}

/* A node whose contents are wrong is not added. */
static cu_result done(cu_node *out, dr_node *node, cu_result result)
{
    if (result)
        dr_node_remove(node);
    else
        *out = node;
    return result;
}

#define ADD(type)                                                                                                      \
    dr_node *n;                                                                                                        \
    cu_result added_ = add(node, graph, dependencies, num_dependencies, CUABI_CU_GRAPH_NODE_TYPE_##type, &n);          \
    if (added_)                                                                                                        \
    return added_

cu_result impl_cuGraphAddKernelNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                    const cu_kernel_node *node_params)
{
    DR_NEED(node_params);
    ADD(KERNEL);
    return done(node, n, dr_node_set_kernel(n, node_params, true));
}

cu_result impl_cuGraphAddKernelNode_v2(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                       const cu_kernel_node *node_params)
{
    DR_NEED(node_params);
    ADD(KERNEL);
    return done(node, n, dr_node_set_kernel(n, node_params, false));
}

cu_result impl_cuGraphAddMemcpyNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                    const cu_memcpy3d *copy_params, cu_context context)
{
    DR_NEED(copy_params);
    ADD(MEMCPY);
    return done(node, n, dr_node_set_copy(n, copy_params, dr_object_of(context, DR_CONTEXT)));
}

cu_result impl_cuGraphAddMemsetNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                    const cu_memset_node *memset_params, cu_context context)
{
    DR_NEED(memset_params);
    ADD(MEMSET);
    return done(node, n, dr_node_set_set(n, memset_params, dr_object_of(context, DR_CONTEXT)));
}

cu_result impl_cuGraphAddHostNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                  const cu_host_node *node_params)
{
    DR_NEED(node_params);
    ADD(HOST);
    return done(node, n, dr_node_set_host(n, node_params));
}

static cu_result copy_child(cu_graph child, dr_graph **copy)
{
    dr_graph *g = dr_object_of(child, DR_GRAPH);
    cu_result result = g ? dr_graph_clone(g, copy) : dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE);
    if (!result)
        (*copy)->owned = true;
    return result;
}

static cu_result set_child(dr_node *n, cu_graph child)
{
    dr_graph *copy;
    cu_result result = copy_child(child, &copy);
    if (result)
        return result;
    dr_graph_free(n->of.child);
    n->of.child = copy;
    return CUABI_SUCCESS;
}

/* The child is copied before its node is there: a graph may become a child of itself. */
cu_result impl_cuGraphAddChildGraphNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                        cu_graph child_graph)
{
    dr_graph *copy;
    dr_node *n;
    cu_result result = copy_child(child_graph, &copy);
    if (result)
        return result;
    result = add(node, graph, dependencies, num_dependencies, CUABI_CU_GRAPH_NODE_TYPE_GRAPH, &n);
    if (result) {
        dr_graph_free(copy);
        return result;
    }
    n->of.child = copy;
    return done(node, n, CUABI_SUCCESS);
}

cu_result impl_cuGraphAddEmptyNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies)
{
    ADD(EMPTY);
    return done(node, n, CUABI_SUCCESS);
}

static cu_result set_event(dr_node *n, cu_event event)
{
    dr_event *e = dr_object_of(event, DR_EVENT);
    if (!e)
        return DR_ERROR(INVALID_HANDLE);
    if (e->shared)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "events of several processes in graphs");
    n->of.event = e;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphAddEventRecordNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies, cu_event event)
{
    ADD(EVENT_RECORD);
    return done(node, n, set_event(n, event));
}

cu_result impl_cuGraphAddEventWaitNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies, cu_event event)
{
    ADD(WAIT_EVENT);
    return done(node, n, set_event(n, event));
}

cu_result dr_graph_alloc(dr_context *c, size_t bytes, cu_address *address)
{
    cu_result result = dr_memory_new(c, bytes, DR_MEMORY_DEVICE, 0, false, address);
    if (!result) {
        dr_range_set_graph(*address);
        atomic_fetch_add(&c->device->graph_memory, bytes);
    }
    return result;
}

/* The address has to be known now and be the same in every launch, so the memory is there from now on. */
static cu_result set_alloc(dr_node *n, cu_alloc_node *params)
{
    DR_USE(c);
    cu_result result = dr_graph_alloc(c, params->bytes, &params->address);
    n->of.alloc = *params;
    n->of.alloc.access = NULL;
    n->of.alloc.access_count = 0;
    return result;
}

cu_result impl_cuGraphAddMemAllocNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                      cu_alloc_node *node_params)
{
    DR_NEED(node_params);
    ADD(MEM_ALLOC);
    return done(node, n, set_alloc(n, node_params));
}

cu_result impl_cuGraphAddMemFreeNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies, cu_address address)
{
    dr_range range;
    ADD(MEM_FREE);
    n->of.free = address;
    return done(node, n, dr_range_find(address, &range) && range.base == address ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE));
}

cu_result impl_cuGraphAddBatchMemOpNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies,
                                        const cu_batch_node *node_params)
{
    DR_NEED(node_params);
    ADD(BATCH_MEM_OP);
    return done(node, n, dr_node_set_batch(n, node_params));
}

cu_result impl_cuGraphAddNode(cu_node *node, cu_graph graph, const cu_node *dependencies, size_t num_dependencies, cu_node_params *node_params)
{
    DR_NEED(node_params);
    cu_node_params *p = node_params;
    switch (p->type) {
    case CUABI_CU_GRAPH_NODE_TYPE_KERNEL:
        return impl_cuGraphAddKernelNode_v2(node, graph, dependencies, num_dependencies, &p->of.kernel);
    case CUABI_CU_GRAPH_NODE_TYPE_MEMCPY:
        return impl_cuGraphAddMemcpyNode(node, graph, dependencies, num_dependencies, &p->of.copy.copy, p->of.copy.context);
    case CUABI_CU_GRAPH_NODE_TYPE_MEMSET:
        return impl_cuGraphAddMemsetNode(node, graph, dependencies, num_dependencies, &p->of.set, p->of.set.context);
    case CUABI_CU_GRAPH_NODE_TYPE_HOST: return impl_cuGraphAddHostNode(node, graph, dependencies, num_dependencies, &p->of.host);
    case CUABI_CU_GRAPH_NODE_TYPE_GRAPH:
        return impl_cuGraphAddChildGraphNode(node, graph, dependencies, num_dependencies, p->of.child.graph);
    case CUABI_CU_GRAPH_NODE_TYPE_EMPTY: return impl_cuGraphAddEmptyNode(node, graph, dependencies, num_dependencies);
    case CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return impl_cuGraphAddEventRecordNode(node, graph, dependencies, num_dependencies, p->of.event);
    case CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return impl_cuGraphAddEventWaitNode(node, graph, dependencies, num_dependencies, p->of.event);
    case CUABI_CU_GRAPH_NODE_TYPE_MEM_ALLOC: return impl_cuGraphAddMemAllocNode(node, graph, dependencies, num_dependencies, &p->of.alloc);
    case CUABI_CU_GRAPH_NODE_TYPE_MEM_FREE: return impl_cuGraphAddMemFreeNode(node, graph, dependencies, num_dependencies, p->of.free);
    case CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return impl_cuGraphAddBatchMemOpNode(node, graph, dependencies, num_dependencies, &p->of.batch);
    case CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL: {
        ADD(CONDITIONAL);
        return done(node, n, dr_node_set_conditional(n, &p->of.conditional));
    }
    }
    return dr_fail(DR_ERROR(NOT_SUPPORTED), "graph nodes of type %d", p->type);
}

cu_result impl_cuGraphAddNode_v2(cu_node *node, cu_graph graph, const cu_node *dependencies, const cu_edge_data *dependency_data,
                                 size_t num_dependencies, cu_node_params *node_params)
{
    for (size_t i = 0; dependency_data && i < num_dependencies; i++)
        if (dependency_data[i].from_port || dependency_data[i].to_port || dependency_data[i].type)
            return DR_ERROR(NOT_SUPPORTED);
    return impl_cuGraphAddNode(node, graph, dependencies, num_dependencies, node_params);
}

/* ------------------------------------------------------------ reading and changing */

#define USE(n, kind)                                                                                                   \
    dr_node *n = dr_object_of(node, DR_NODE);                                                                          \
    if (!n || n->type != CUABI_CU_GRAPH_NODE_TYPE_##kind)                                                              \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE)

cu_result dr_node_set_params(dr_node *n, const cu_node_params *p)
{
    if (p->type != n->type)
        return DR_ERROR(INVALID_VALUE);
    switch (p->type) {
    case CUABI_CU_GRAPH_NODE_TYPE_KERNEL: return dr_node_set_kernel(n, &p->of.kernel, false);
    case CUABI_CU_GRAPH_NODE_TYPE_MEMCPY: return dr_node_set_copy(n, &p->of.copy.copy, dr_object_of(p->of.copy.context, DR_CONTEXT));
    case CUABI_CU_GRAPH_NODE_TYPE_MEMSET: return dr_node_set_set(n, &p->of.set, dr_object_of(p->of.set.context, DR_CONTEXT));
    case CUABI_CU_GRAPH_NODE_TYPE_HOST: return dr_node_set_host(n, &p->of.host);
    case CUABI_CU_GRAPH_NODE_TYPE_GRAPH: return set_child(n, p->of.child.graph);
    case CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT: return set_event(n, p->of.event);
    case CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return dr_node_set_batch(n, &p->of.batch);
    }
    return DR_ERROR(NOT_SUPPORTED);
}

cu_result impl_cuGraphNodeSetParams(cu_node node, cu_node_params *node_params)
{
    dr_node *n = dr_object_of(node, DR_NODE);
    DR_NEED(n && node_params);
    return dr_node_set_params(n, node_params);
}

cu_result impl_cuGraphKernelNodeGetParams(cu_node node, cu_kernel_node *node_params)
{
    DR_NEED(node_params);
    USE(n, KERNEL);
    memcpy(node_params, &n->of.kernel, CUABI_KERNEL_NODE_V1_BYTES);
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphKernelNodeGetParams_v2(cu_node node, cu_kernel_node *node_params)
{
    DR_NEED(node_params);
    USE(n, KERNEL);
    *node_params = n->of.kernel;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphKernelNodeSetParams(cu_node node, const cu_kernel_node *node_params)
{
    DR_NEED(node_params);
    USE(n, KERNEL);
    return dr_node_set_kernel(n, node_params, true);
}

cu_result impl_cuGraphKernelNodeSetParams_v2(cu_node node, const cu_kernel_node *node_params)
{
    DR_NEED(node_params);
    USE(n, KERNEL);
    return dr_node_set_kernel(n, node_params, false);
}

cu_result impl_cuGraphKernelNodeGetAttribute(cu_node node, int32_t attr, cu_launch_value *value_out)
{
    DR_NEED(value_out);
    USE(n, KERNEL);
    memset(value_out, 0, sizeof *value_out);
    if (attr == CUABI_CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value_out->cooperative = n->work.of.launch.cooperative;
    else if (attr == CUABI_CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value_out->priority = n->priority;
    else if (attr == CUABI_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        value_out->cluster.x = value_out->cluster.y = value_out->cluster.z = 1;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphKernelNodeSetAttribute(cu_node node, int32_t attr, const cu_launch_value *value)
{
    DR_NEED(value);
    USE(n, KERNEL);
    if (attr == CUABI_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && (value->cluster.x > 1 || value->cluster.y > 1 || value->cluster.z > 1))
        return DR_ERROR(NOT_SUPPORTED);
    if (attr == CUABI_CU_LAUNCH_ATTRIBUTE_PRIORITY)
        n->priority = value->priority;
    if (attr != CUABI_CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        return CUABI_SUCCESS;
    dr_launch l = n->work.of.launch;
    l.cooperative = value->cooperative != 0;
    cu_result result = dr_launch_check(l.function, &l);
    if (!result)
        n->work.of.launch.cooperative = l.cooperative;
    return result;
}

cu_result impl_cuGraphKernelNodeCopyAttributes(cu_node to, cu_node from)
{
    dr_node *a = dr_object_of(to, DR_NODE), *b = dr_object_of(from, DR_NODE);
    if (!a || !b || a->type != CUABI_CU_GRAPH_NODE_TYPE_KERNEL || b->type != a->type)
        return DR_ERROR(INVALID_VALUE);
    a->priority = b->priority;
    cu_launch_value value = {.cooperative = b->work.of.launch.cooperative};
    return impl_cuGraphKernelNodeSetAttribute(to, CUABI_CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
}

cu_result impl_cuGraphMemcpyNodeGetParams(cu_node node, cu_memcpy3d *node_params)
{
    DR_NEED(node_params);
    USE(n, MEMCPY);
    *node_params = n->of.copy;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphMemcpyNodeSetParams(cu_node node, const cu_memcpy3d *node_params)
{
    DR_NEED(node_params);
    USE(n, MEMCPY);
    return dr_node_set_copy(n, node_params, NULL);
}

cu_result impl_cuGraphMemsetNodeGetParams(cu_node node, cu_memset_node *node_params)
{
    DR_NEED(node_params);
    USE(n, MEMSET);
    memcpy(node_params, &n->of.set, CUABI_MEMSET_NODE_V1_BYTES);
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphMemsetNodeSetParams(cu_node node, const cu_memset_node *node_params)
{
    DR_NEED(node_params);
    USE(n, MEMSET);
    return dr_node_set_set(n, node_params, n->context);
}

cu_result impl_cuGraphHostNodeGetParams(cu_node node, cu_host_node *node_params)
{
    DR_NEED(node_params);
    USE(n, HOST);
    *node_params = n->of.host;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphHostNodeSetParams(cu_node node, const cu_host_node *node_params)
{
    DR_NEED(node_params);
    USE(n, HOST);
    return dr_node_set_host(n, node_params);
}

/* A captured node has its one operation as work, and nothing to tell. */
cu_result impl_cuGraphBatchMemOpNodeGetParams(cu_node node, cu_batch_node *node_params_out)
{
    DR_NEED(node_params_out);
    USE(n, BATCH_MEM_OP);
    *node_params_out = n->of.batch;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphBatchMemOpNodeSetParams(cu_node node, const cu_batch_node *node_params)
{
    DR_NEED(node_params);
    USE(n, BATCH_MEM_OP);
    return dr_node_set_batch(n, node_params);
}

cu_result impl_cuGraphChildGraphNodeGetGraph(cu_node node, cu_graph *graph)
{
    DR_NEED(graph);
    USE(n, GRAPH);
    *graph = n->of.child;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphEventRecordNodeGetEvent(cu_node node, cu_event *event_out)
{
    DR_NEED(event_out);
    USE(n, EVENT_RECORD);
    *event_out = n->of.event;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphEventRecordNodeSetEvent(cu_node node, cu_event event)
{
    USE(n, EVENT_RECORD);
    return set_event(n, event);
}

cu_result impl_cuGraphEventWaitNodeGetEvent(cu_node node, cu_event *event_out)
{
    DR_NEED(event_out);
    USE(n, WAIT_EVENT);
    *event_out = n->of.event;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphEventWaitNodeSetEvent(cu_node node, cu_event event)
{
    USE(n, WAIT_EVENT);
    return set_event(n, event);
}

cu_result impl_cuGraphMemAllocNodeGetParams(cu_node node, cu_alloc_node *params_out)
{
    DR_NEED(params_out);
    USE(n, MEM_ALLOC);
    *params_out = n->of.alloc;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphMemFreeNodeGetParams(cu_node node, cu_address *dptr_out)
{
    DR_NEED(dptr_out);
    USE(n, MEM_FREE);
    *dptr_out = n->of.free;
    return CUABI_SUCCESS;
}
