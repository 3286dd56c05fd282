/* conditional.c - conditional nodes: graphs inside of a graph that run if, while, or as a value says, which kernels set.
 *
 * A handle is the address of a word on the device; what kernels call (cudaGraphSetConditional) is a store, which link.c adds to texts that
 * use it. As with CUDA, a graph with such nodes is neither cloned nor a child (Driver API, cuGraphConditionalHandleCreate).
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"

enum { MOST_BODIES = 4096 };

static dr_context *context_of(cu_context handle)
{
    return handle ? dr_object_of(handle, DR_CONTEXT) : dr_context_current();
}

static cu_result move_value(dr_context *c, uint64_t cell, uint32_t *value, bool write)
{
    dr_device *d = c->device;
    pxb_device view;
    dr_device_view(d, dr_thread_errors(), &view);
    if (!d->concurrent)
        pthread_mutex_lock(&d->lock);
    pxb_status status = write ? view.ops->write(&view, cell, value, sizeof *value) : view.ops->read(&view, value, cell, sizeof *value);
    if (!d->concurrent)
        pthread_mutex_unlock(&d->lock);
    return dr_fail_pxb(dr_thread_errors(), status, "condition");
}

cu_result impl_cuGraphConditionalHandleCreate(uint64_t *handle_out, cu_graph graph, cu_context context, uint32_t default_launch_value,
                                              uint32_t flags)
{
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    DR_NEED(handle_out && g && flags <= CUABI_CU_GRAPH_COND_ASSIGN_DEFAULT);
    dr_context *c = context_of(context);
    if (!c)
        return DR_ERROR(INVALID_CONTEXT);
    dr_condition *more = realloc(g->conditions, (g->nconditions + 1) * sizeof *more);
    if (!more)
        return DR_ERROR(OUT_OF_MEMORY);
    g->conditions = more;
    dr_condition *k = &more[g->nconditions];
    *k = (dr_condition){.context = c, .value = default_launch_value, .assign = flags != 0};
    /* The word may outlive the graph in an exec: it stays as long as the context. */
    cu_result result = dr_memory_new(c, sizeof k->value, DR_MEMORY_DEVICE, 0, true, &k->cell);
    if (!result)
        result = move_value(c, k->cell, &k->value, true);
    if (!result) {
        g->nconditions++;
        *handle_out = k->cell;
    }
    return result;
}

/* ------------------------------------------------------------ nodes */

static bool size_fits(const cu_conditional_node *p)
{
    switch (p->type) {
    case CUABI_CU_GRAPH_COND_TYPE_IF: return p->size == 1 || p->size == 2;
    case CUABI_CU_GRAPH_COND_TYPE_WHILE: return p->size == 1;
    case CUABI_CU_GRAPH_COND_TYPE_SWITCH: return p->size > 0 && p->size <= MOST_BODIES;
    default: return false;
    }
}

void dr_conditional_clear(dr_node *n)
{
    dr_graph **bodies = (dr_graph **)n->of.conditional.bodies;
    for (uint32_t i = 0; bodies && i < n->of.conditional.size; i++)
        if (bodies[i])
            dr_graph_free(bodies[i]);
    free(bodies);
    n->of.conditional.bodies = NULL;
}

/* The bodies are empty graphs that the program fills. */
cu_result dr_node_set_conditional(dr_node *n, cu_conditional_node *p)
{
    dr_range range;
    if (!size_fits(p) || !dr_range_find(p->handle, &range) || !range.hidden || range.base != p->handle)
        return DR_ERROR(INVALID_VALUE);
    n->of.conditional = *p;
    n->of.conditional.context = range.context;
    n->context = range.context;
    dr_graph **bodies = calloc(p->size, sizeof(*bodies));
    n->of.conditional.bodies = (cu_graph *)bodies;
    if (!bodies)
        return DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < p->size; i++) {
        bodies[i] = dr_graph_new();
        if (!bodies[i])
            return DR_ERROR(OUT_OF_MEMORY);
        bodies[i]->owned = true;
    }
    p->bodies = n->of.conditional.bodies;
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ running */

cu_result dr_conditions_start(const struct dr_exec_run *run)
{
    cu_result result = CUABI_SUCCESS;
    for (uint32_t i = 0; i < run->nconditions && !result; i++) {
        uint32_t value = run->conditions[i].value;
        if (run->conditions[i].assign)
            result = move_value(run->conditions[i].context, run->conditions[i].cell, &value, true);
    }
    return result;
}

cu_result dr_conditional_run(dr_context *c, dr_stream *stream, const dr_step *s)
{
    for (;;) {
        uint32_t value;
        if (atomic_load(&c->sticky))
            return atomic_load(&c->sticky);
        cu_result result = move_value(s->context, s->cell, &value, false);
        if (result)
            return result;
        uint32_t body = s->condition == CUABI_CU_GRAPH_COND_TYPE_SWITCH ? value : value == 0;
        if (body < s->nbodies)
            result = dr_exec_run(c, stream, s->bodies[body]);
        if (result || s->condition != CUABI_CU_GRAPH_COND_TYPE_WHILE || value == 0)
            return result;
    }
}
