/* exec.c - instantiated graphs: cuGraphInstantiate…, cuGraphLaunch, cuGraphExec…. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"

typedef struct dr_exec {
    dr_object head;
    struct dr_exec_run *run;
    uint64_t flags;
    dr_point last;                 /* of the last launch: an exec does not overlap itself */
} dr_exec;

/* ------------------------------------------------------------ running */

static cu_result run_values(dr_context *c, dr_stream *stream, const dr_step *s)
{
    cu_result result = CUABI_SUCCESS;
    for (uint32_t i = 0; i < s->nvalues && !result; i++)
        result = dr_work_run(c, stream, &s->values[i]);
    return result;
}

cu_result dr_step_run(dr_context *c, dr_stream *stream, const dr_step *s)
{
    if (s->disabled)
        return CUABI_SUCCESS;
    if (s->child)
        return dr_exec_run(c, stream, s->child);
    if (s->bodies && s->type == CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return dr_conditional_run(c, stream, s);
    if (s->values && s->type == CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && s->nvalues)
        return run_values(s->context ? s->context : c, stream, s);
    if (s->type == CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        dr_event_stamp(s->event);
        return CUABI_SUCCESS;
    }
    if (s->type == CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
        dr_point point = dr_event_point(s->event);
        if (point.stream != stream)        /* what is in this stream came before */
            dr_point_wait(point);
        return CUABI_SUCCESS;
    }
    return dr_work_run(s->context ? s->context : c, stream, &s->work);
}

/* Events that the run will record are not done until it is. */
static void promise_events(const struct dr_exec_run *run, dr_point point)
{
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->steps[i].type == CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            dr_event_promise(run->steps[i].event, point);
        if (run->steps[i].child)
            promise_events(run->steps[i].child, point);
    }
}

/* ------------------------------------------------------------ cuGraphInstantiate…, cuGraphLaunch */

static cu_result instantiate(cu_exec *exec, cu_graph graph, uint64_t flags, dr_node **wrong)
{
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    DR_NEED(exec);
    DR_USE(c);
    if (!g)
        return DR_ERROR(INVALID_VALUE);
    /* AUTO_FREE_ON_LAUNCH, UPLOAD and USE_NODE_PRIORITY change nothing here. */
    if (flags & ~(uint64_t)(1 | 2 | 8))
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "graphs that kernels launch");
    dr_exec *e = dr_object_new(DR_EXEC, sizeof *e);
    if (!e)
        return DR_ERROR(OUT_OF_MEMORY);
    e->flags = flags;
    cu_result result = dr_exec_run_make(g, &e->run, wrong);
    if (result)
        dr_object_free(e, DR_EXEC);
    else
        *exec = e;
    return result;
}

cu_result impl_cuGraphInstantiateWithFlags(cu_exec *exec, cu_graph graph, uint64_t flags)
{
    return instantiate(exec, graph, flags, NULL);
}

cu_result impl_cuGraphInstantiate(cu_exec *exec, cu_graph graph, cu_node *error_node, char *log_buffer, size_t buffer_size)
{
    dr_node *wrong = NULL;
    cu_result result = instantiate(exec, graph, 0, &wrong);
    if (error_node)
        *error_node = wrong;
    if (log_buffer && buffer_size)
        log_buffer[0] = '\0';
    return result;
}

cu_result impl_cuGraphInstantiate_v2(cu_exec *exec, cu_graph graph, cu_node *error_node, char *log_buffer, size_t buffer_size)
{
    return impl_cuGraphInstantiate(exec, graph, error_node, log_buffer, buffer_size);
}

cu_result impl_cuGraphInstantiateWithParams(cu_exec *exec, cu_graph graph, cu_instantiate_params *instantiate_params)
{
    DR_NEED(instantiate_params);
    dr_node *wrong = NULL;
    cu_result result = instantiate(exec, graph, instantiate_params->flags, &wrong);
    instantiate_params->error_node = wrong;
    instantiate_params->result = result ? 1 : 0;       /* CUDA_GRAPH_INSTANTIATE_ERROR, _SUCCESS */
    return result;
}

#define USE_EXEC(e, handle)                                                                                            \
    dr_exec *e = dr_object_of(handle, DR_EXEC);                                                                        \
    if (!e)                                                                                                            \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE)

cu_result impl_cuGraphExecGetFlags(cu_exec exec, uint64_t *flags)
{
    DR_NEED(flags);
    USE_EXEC(e, exec);
    *flags = e->flags;
    return CUABI_SUCCESS;
}

static cu_result graph_of(const struct dr_exec_run *run, dr_graph **out);

/* What a step does now becomes a node's, and behind it more nodes where it has several operations on values. *n is the last of them. */
static cu_result fill_node(dr_graph *g, const dr_step *s, dr_node **n)
{
    dr_work work;
    cu_result result = CUABI_SUCCESS;
    if ((*n)->type == CUABI_CU_GRAPH_NODE_TYPE_GRAPH) {
        result = graph_of(s->child, &(*n)->of.child);
        if (!result)
            (*n)->of.child->owned = true;
        return result;
    }
    if (s->event)
        (*n)->of.event = s->event;
    else if (!s->nvalues)
        result = dr_work_clone(&s->work, &work);
    if (!result && !s->event && !s->nvalues)
        result = dr_node_set_work(*n, s->context, &work);
    for (uint32_t i = 0; i < s->nvalues && !result; i++) {
        dr_node *previous = *n;
        if (i)
            result = dr_node_new(g, s->type, &previous, 1, n);
        if (!result)
            result = dr_node_set_work(*n, s->context, &s->values[i]);
    }
    return result;
}

static cu_result add_step(dr_graph *g, const dr_step *s, dr_node *const *last, dr_node **out)
{
    const bool memory = s->type == CUABI_CU_GRAPH_NODE_TYPE_MEM_ALLOC || s->type == CUABI_CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (memory || s->type == CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "a graph with %s nodes launched in a stream that is captured", memory ? "memory" : "conditional");
    dr_node **before = calloc(s->nbefore + 1, sizeof(*before));
    if (!before)
        return DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t k = 0; k < s->nbefore; k++)
        before[k] = last[s->before[k]];
    cu_result result = dr_node_new(g, s->disabled ? CUABI_CU_GRAPH_NODE_TYPE_EMPTY : s->type, before, s->nbefore, out);
    free(before);
    return result || s->disabled ? result : fill_node(g, s, out);
}

/* A graph of what a run does. An exec keeps none, since it changes without one. */
static cu_result graph_of(const struct dr_exec_run *run, dr_graph **out)
{
    dr_graph *g = dr_graph_new();
    dr_node **last = calloc(run->count + 1, sizeof(*last));
    cu_result result = g && last ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < run->count && !result; i++)
        result = add_step(g, &run->steps[run->order[i]], last, &last[run->order[i]]);
    free(last);
    *out = g;
    if (result && g) {
        dr_graph_free(g);
        *out = NULL;
    }
    return result;
}

/* In a stream that is captured a launch is a child of the graph that becomes. */
static cu_result capture_launch(const dr_exec *e, dr_stream *s)
{
    dr_graph *child;
    cu_result result = graph_of(e->run, &child);
    if (result)
        return result;
    child->owned = true;
    return dr_capture_child(s, child);
}

cu_result impl_cuGraphLaunch(cu_exec exec, cu_stream stream)
{
    DR_USE(c);
    USE_EXEC(e, exec);
    dr_stream *s;
    cu_result result = dr_stream_of(c, stream, &s);
    if (result)
        return result;
    if (dr_stream_captured(s))
        return capture_launch(e, s);
    atomic_fetch_add(&e->run->users, 1);
    dr_work work = {.kind = DR_WORK_EXEC, .of.run = e->run};
    dr_point before = e->last;
    result = dr_stream_submit(s, &work, &before, &e->last);
    if (!result)
        promise_events(e->run, e->last);
    return result;
}

cu_result impl_cuGraphUpload(cu_exec exec, cu_stream stream)
{
    DR_USE(c);
    USE_EXEC(e, exec);
    dr_stream *s;
    return dr_stream_of(c, stream, &s);
}

cu_result impl_cuGraphExecDestroy(cu_exec exec)
{
    USE_EXEC(e, exec);
    dr_exec_run_free(e->run);
    dr_object_free(e, DR_EXEC);
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ changing an exec */

/* The step of a node, in a run that may be changed. */
static cu_result step_of(dr_exec *e, cu_node node, int32_t type, dr_step **out)
{
    cu_result result = dr_exec_run_own(&e->run);
    *out = NULL;
    for (uint32_t i = 0; i < e->run->count && !result; i++)
        if (e->run->steps[i].node == node && (type < 0 || e->run->steps[i].type == type))
            *out = &e->run->steps[i];
    return result ? result : *out ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* A node that is never in a graph carries the new contents. */
typedef cu_result (*change_fn)(dr_node *scratch, const void *params, dr_context *context);

static cu_result change(cu_exec exec, cu_node node, int32_t type, change_fn set, const void *params, cu_context context)
{
    DR_NEED(params);
    USE_EXEC(e, exec);
    dr_step *s;
    cu_result result = step_of(e, node, type, &s);
    if (result)
        return result;
    dr_node scratch = {.type = s->type, .context = s->context};
    if (s->work.kind == DR_WORK_LAUNCH)
        scratch.work = (dr_work){.kind = DR_WORK_LAUNCH, .of.launch = {.function = s->work.of.launch.function,
                                                                        .cooperative = s->work.of.launch.cooperative}};
    dr_context *other = dr_object_of(context, DR_CONTEXT);
    result = set(&scratch, params, other ? other : s->context);
    if (!result) {
        dr_work_free(&s->work);
        s->work = scratch.work;
        s->context = scratch.context;
        if (s->event)
            s->event = scratch.of.event;
        scratch.work = (dr_work){0};
    }
    free(scratch.params);
    dr_work_free(&scratch.work);
    return result;
}

static cu_result set_kernel_v1(dr_node *n, const void *params, dr_context *context)
{
    (void)context;
    return dr_node_set_kernel(n, params, true);
}

static cu_result set_kernel(dr_node *n, const void *params, dr_context *context)
{
    (void)context;
    return dr_node_set_kernel(n, params, false);
}

static cu_result set_copy(dr_node *n, const void *params, dr_context *context)
{
    return dr_node_set_copy(n, params, context);
}

static cu_result set_set(dr_node *n, const void *params, dr_context *context)
{
    return dr_node_set_set(n, params, context);
}

static cu_result set_host(dr_node *n, const void *params, dr_context *context)
{
    (void)context;
    return dr_node_set_host(n, params);
}

static cu_result set_event(dr_node *n, const void *params, dr_context *context)
{
    (void)context;
    dr_event *e = dr_object_of(params, DR_EVENT);
    if (e && e->shared)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "events of several processes in graphs");
    n->of.event = e;
    return e ? CUABI_SUCCESS : DR_ERROR(INVALID_HANDLE);
}

cu_result impl_cuGraphExecKernelNodeSetParams(cu_exec exec, cu_node node, const cu_kernel_node *node_params)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_KERNEL, set_kernel_v1, node_params, NULL);
}

cu_result impl_cuGraphExecKernelNodeSetParams_v2(cu_exec exec, cu_node node, const cu_kernel_node *node_params)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_KERNEL, set_kernel, node_params, NULL);
}

cu_result impl_cuGraphExecMemcpyNodeSetParams(cu_exec exec, cu_node node, const cu_memcpy3d *copy_params, cu_context context)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_MEMCPY, set_copy, copy_params, context);
}

cu_result impl_cuGraphExecMemsetNodeSetParams(cu_exec exec, cu_node node, const cu_memset_node *memset_params, cu_context context)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_MEMSET, set_set, memset_params, context);
}

cu_result impl_cuGraphExecHostNodeSetParams(cu_exec exec, cu_node node, const cu_host_node *node_params)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_HOST, set_host, node_params, NULL);
}

cu_result impl_cuGraphExecEventRecordNodeSetEvent(cu_exec exec, cu_node node, cu_event event)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD, set_event, event, NULL);
}

cu_result impl_cuGraphExecEventWaitNodeSetEvent(cu_exec exec, cu_node node, cu_event event)
{
    return change(exec, node, CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT, set_event, event, NULL);
}

static bool differ(cu_update_info *info, int32_t result, const dr_step *at, const dr_step *from)
{
    *info = (cu_update_info){result, at ? at->node : NULL, from ? from->node : NULL};
    return false;
}

/* The work of a step may have other contents, but not be of another kind: see cuGraphExecUpdate in cuda.h. */
static bool same_work(const dr_step *s, const dr_step *t, cu_update_info *info)
{
    const dr_work *a = &s->work, *b = &t->work;
    if (a->kind == DR_WORK_LAUNCH && b->kind == DR_WORK_LAUNCH) {
        if (a->of.launch.function->module->context != b->of.launch.function->module->context)
            return differ(info, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, t, NULL);
        if (a->of.launch.cooperative != b->of.launch.cooperative)
            return differ(info, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, t, NULL);
    }
    bool same = true;
    if (a->kind == DR_WORK_COPY && b->kind == DR_WORK_COPY)
        same = a->of.copy.from.device == b->of.copy.from.device && a->of.copy.to.device == b->of.copy.to.device;
    if (a->kind == DR_WORK_SET && b->kind == DR_WORK_SET && (a->of.set.height > 1 || b->of.set.height > 1))
        same = a->of.set.width == b->of.set.width && a->of.set.height == b->of.set.height && a->of.set.pitch == b->of.set.pitch &&
               a->of.set.element == b->of.set.element;
    return same || differ(info, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, t, NULL);
}

static bool same_edges(const struct dr_exec_run *b, const dr_step *s, const dr_step *t, cu_update_info *info)
{
    const int32_t changed = CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (s->nbefore != t->nbefore)
        return differ(info, changed, t, NULL);
    for (uint32_t k = 0; k < s->nbefore; k++)
        if (s->before[k] != t->before[k])
            return differ(info, changed, t, &b->steps[t->before[k]]);
    return true;
}

/* Same nodes, same kinds, same edges: what an update may not change. */
static bool same_shape(const struct dr_exec_run *a, const struct dr_exec_run *b, cu_update_info *info)
{
    const int32_t changed = CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (a->count != b->count)
        return differ(info, changed, NULL, NULL);
    for (uint32_t i = 0; i < a->count; i++) {
        const dr_step *s = &a->steps[i], *t = &b->steps[i];
        if (s->type != t->type)
            return differ(info, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, t, NULL);
        if (!same_edges(b, s, t, info) || !same_work(s, t, info))
            return false;
        if (s->nbodies != t->nbodies || s->condition != t->condition)
            return differ(info, CUABI_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, t, NULL);
        for (uint32_t k = 0; k < s->nbodies; k++)
            if (!same_shape(s->bodies[k], t->bodies[k], info))
                return false;
        if (s->child && !same_shape(s->child, t->child, info))
            return false;
    }
    *info = (cu_update_info){0};
    return true;
}

cu_result impl_cuGraphExecChildGraphNodeSetParams(cu_exec exec, cu_node node, cu_graph child_graph)
{
    USE_EXEC(e, exec);
    dr_graph *g = dr_object_of(child_graph, DR_GRAPH);
    dr_step *s;
    struct dr_exec_run *run;
    cu_update_info what;
    DR_NEED(g);
    cu_result result = step_of(e, node, CUABI_CU_GRAPH_NODE_TYPE_GRAPH, &s);
    if (!result)
        result = dr_exec_run_make(g, &run, NULL);
    if (result)
        return result;
    if (!same_shape(s->child, run, &what)) {
        dr_exec_run_free(run);
        return DR_ERROR(INVALID_VALUE);
    }
    dr_exec_run_free(s->child);
    s->child = run;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphExecBatchMemOpNodeSetParams(cu_exec exec, cu_node node, const cu_batch_node *node_params)
{
    DR_NEED(node_params && node_params->operations);
    USE_EXEC(e, exec);
    dr_step *s;
    dr_work *values;
    uint32_t count;
    cu_result result = step_of(e, node, CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &s);
    if (!result)
        result = dr_values_make(node_params, &values, &count);
    if (result)
        return result;
    free(s->values);
    s->values = values;
    s->nvalues = count;
    s->work.kind = DR_WORK_NONE;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphExecNodeSetParams(cu_exec exec, cu_node node, cu_node_params *node_params)
{
    DR_NEED(node_params);
    switch (node_params->type) {
    case CUABI_CU_GRAPH_NODE_TYPE_KERNEL: return impl_cuGraphExecKernelNodeSetParams_v2(exec, node, &node_params->of.kernel);
    case CUABI_CU_GRAPH_NODE_TYPE_MEMCPY:
        return impl_cuGraphExecMemcpyNodeSetParams(exec, node, &node_params->of.copy.copy, node_params->of.copy.context);
    case CUABI_CU_GRAPH_NODE_TYPE_MEMSET:
        return impl_cuGraphExecMemsetNodeSetParams(exec, node, &node_params->of.set, node_params->of.set.context);
    case CUABI_CU_GRAPH_NODE_TYPE_HOST: return impl_cuGraphExecHostNodeSetParams(exec, node, &node_params->of.host);
    case CUABI_CU_GRAPH_NODE_TYPE_GRAPH: return impl_cuGraphExecChildGraphNodeSetParams(exec, node, node_params->of.child.graph);
    case CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD: return impl_cuGraphExecEventRecordNodeSetEvent(exec, node, node_params->of.event);
    case CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT: return impl_cuGraphExecEventWaitNodeSetEvent(exec, node, node_params->of.event);
    case CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return impl_cuGraphExecBatchMemOpNodeSetParams(exec, node, &node_params->of.batch);
    }
    return DR_ERROR(NOT_SUPPORTED);
}

cu_result impl_cuGraphNodeSetEnabled(cu_exec exec, cu_node node, uint32_t is_enabled)
{
    USE_EXEC(e, exec);
    dr_step *s;
    cu_result result = step_of(e, node, -1, &s);
    if (result)
        return result;
    if (s->type != CUABI_CU_GRAPH_NODE_TYPE_KERNEL && s->type != CUABI_CU_GRAPH_NODE_TYPE_MEMCPY && s->type != CUABI_CU_GRAPH_NODE_TYPE_MEMSET)
        return DR_ERROR(INVALID_VALUE);
    s->disabled = !is_enabled;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphNodeGetEnabled(cu_exec exec, cu_node node, uint32_t *is_enabled)
{
    DR_NEED(is_enabled);
    USE_EXEC(e, exec);
    dr_step *s;
    cu_result result = step_of(e, node, -1, &s);
    if (!result)
        *is_enabled = !s->disabled;
    return result;
}

cu_result impl_cuGraphExecUpdate_v2(cu_exec exec, cu_graph graph, cu_update_info *result_info)
{
    USE_EXEC(e, exec);
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    struct dr_exec_run *run;
    cu_update_info info = {0};
    DR_NEED(g);
    cu_result result = dr_exec_run_make(g, &run, NULL);
    if (result)
        return result;
    if (same_shape(e->run, run, &info)) {
        /* Programs go on naming nodes by the graph that the exec was made from. */
        for (uint32_t i = 0; i < run->count; i++) {
            run->steps[i].node = e->run->steps[i].node;
            run->steps[i].disabled = e->run->steps[i].disabled;
        }
        dr_exec_run_free(e->run);
        e->run = run;
    } else {
        dr_exec_run_free(run);
        result = DR_ERROR(GRAPH_EXEC_UPDATE_FAILURE);
    }
    if (result_info)
        *result_info = info;
    return result;
}

cu_result impl_cuGraphExecUpdate(cu_exec exec, cu_graph graph, cu_node *error_node_out, int32_t *update_result_out)
{
    cu_update_info info = {0};
    cu_result result = impl_cuGraphExecUpdate_v2(exec, graph, &info);
    if (error_node_out)
        *error_node_out = info.error_node;
    if (update_result_out)
        *update_result_out = info.result;
    return result;
}
