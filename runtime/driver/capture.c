/* capture.c - streams whose work becomes a graph: cuStreamBeginCapture and what goes with it.
 *
 * A stream that takes part has a set of nodes behind which its next work comes. An event that is recorded in it takes the set along, and
 * another stream that waits for the event takes part from then on (CUDA Programming Guide, "Cross-stream Dependencies and Events").
 */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"

struct dr_capture {
    uint64_t id;
    dr_graph *graph;
    dr_stream *origin;
    dr_context *context;
    int32_t mode;
    pthread_t thread;
    bool invalid, theirs;              /* theirs: the graph is the program's own */
    struct dr_capture *next;
};

static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static dr_capture *captures;
static _Atomic uint32_t strict;        /* captures in a mode that forbids unsafe calls somewhere */
static uint64_t last_capture;
static _Thread_local int32_t thread_mode;

/* Sets of nodes. */
static bool set_nodes(dr_node ***to, uint32_t *count, dr_node *const *from, uint32_t n)
{
    dr_node **copy = malloc((n + 1) * sizeof(*copy));
    if (!copy)
        return false;
    if (n)
        memcpy(copy, from, n * sizeof(*copy));
    free(*to);
    *to = copy;
    *count = n;
    return true;
}

static bool add_nodes(dr_node ***to, uint32_t *count, dr_node *const *from, uint32_t n)
{
    dr_node **more = realloc(*to, (*count + n + 1) * sizeof(*more));
    if (!more)
        return false;
    *to = more;
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < *count && !known; k++)
            known = more[k] == from[i];
        if (!known)
            more[(*count)++] = from[i];
    }
    return true;
}

static bool joins(dr_stream *s, dr_capture *c)
{
    if (!set_nodes(&s->nodes, &s->nnodes, NULL, 0))
        return false;
    if (s->blocking)
        atomic_fetch_add(&s->context->captures, 1);
    atomic_store_explicit(&s->capture, c, memory_order_release);
    return true;
}

static void leaves(dr_stream *s)
{
    if (s->blocking)
        atomic_fetch_sub(&s->context->captures, 1);
    atomic_store_explicit(&s->capture, NULL, memory_order_release);
    free(s->nodes);
    s->nodes = NULL;
    s->nnodes = 0;
}

static dr_capture *capture_with(uint64_t id)
{
    dr_capture *c = captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

/* ------------------------------------------------------------ what calls that wait ask */

void dr_capture_invalidate(dr_context *context)
{
    pthread_mutex_lock(&capture_lock);
    for (dr_capture *c = captures; c; c = c->next)
        if (c->context == context)
            c->invalid = true;
    pthread_mutex_unlock(&capture_lock);
}

cu_result dr_capture_forbids(dr_context *context)
{
    if (!atomic_load_explicit(&context->captures, memory_order_relaxed))
        return CUABI_SUCCESS;
    dr_capture_invalidate(context);
    return DR_ERROR(STREAM_CAPTURE_IMPLICIT);
}

cu_result dr_capture_forbids_waiting(dr_context *context)
{
    cu_result result = CUABI_SUCCESS;
    pthread_mutex_lock(&capture_lock);
    for (dr_capture *c = captures; c; c = c->next)
        if (c->context == context) {
            c->invalid = true;
            result = DR_ERROR(STREAM_CAPTURE_UNSUPPORTED);
        }
    pthread_mutex_unlock(&capture_lock);
    return result;
}

/* Does this capture forbid unsafe calls to this thread? See cuThreadExchangeStreamCaptureMode in cuda.h. */
static bool is_strict_here(const dr_capture *c)
{
    const int32_t global = 0, relaxed = CUABI_CU_STREAM_CAPTURE_MODE_RELAXED;
    if (thread_mode == relaxed || c->mode == relaxed)
        return false;
    return pthread_equal(c->thread, pthread_self()) || (thread_mode == global && c->mode == global);
}

cu_result dr_capture_forbids_unsafe(void)
{
    cu_result result = CUABI_SUCCESS;
    if (!atomic_load_explicit(&strict, memory_order_relaxed))
        return result;
    pthread_mutex_lock(&capture_lock);
    for (dr_capture *c = captures; c; c = c->next)
        if (is_strict_here(c)) {
            c->invalid = true;
            result = DR_ERROR(STREAM_CAPTURE_UNSUPPORTED);
        }
    pthread_mutex_unlock(&capture_lock);
    return result ? dr_fail(result, "a call that may disturb a capture, while a stream is captured") : result;
}

cu_result dr_capture_spoil(dr_stream *s)
{
    pthread_mutex_lock(&capture_lock);
    if (s->capture)
        s->capture->invalid = true;
    pthread_mutex_unlock(&capture_lock);
    return DR_ERROR(STREAM_CAPTURE_UNSUPPORTED);
}

cu_result dr_capture_spoil_event(dr_event *e)
{
    pthread_mutex_lock(&capture_lock);
    dr_capture *c = capture_with(e->capture_id);
    if (c)
        c->invalid = true;
    pthread_mutex_unlock(&capture_lock);
    return DR_ERROR(CAPTURED_EVENT);
}

/* ------------------------------------------------------------ recording */

/* A node behind the stream's set, which becomes just it. Under the lock. */
static cu_result append(dr_stream *s, int32_t type, dr_node **out)
{
    dr_capture *c = s->capture;
    if (c->invalid)
        return DR_ERROR(STREAM_CAPTURE_INVALIDATED);
    cu_result result = dr_node_new(c->graph, type, s->nodes, s->nnodes, out);
    if (!result && !set_nodes(&s->nodes, &s->nnodes, out, 1))
        result = DR_ERROR(OUT_OF_MEMORY);
    if (result)
        c->invalid = true;
    return result;
}

static int32_t type_of(dr_work_kind kind)
{
    switch (kind) {
    case DR_WORK_LAUNCH: return CUABI_CU_GRAPH_NODE_TYPE_KERNEL;
    case DR_WORK_COPY: return CUABI_CU_GRAPH_NODE_TYPE_MEMCPY;
    case DR_WORK_SET: return CUABI_CU_GRAPH_NODE_TYPE_MEMSET;
    case DR_WORK_HOST: return CUABI_CU_GRAPH_NODE_TYPE_HOST;
    case DR_WORK_FREE: return CUABI_CU_GRAPH_NODE_TYPE_MEM_FREE;
    case DR_WORK_WAIT_VALUE:
    case DR_WORK_WRITE_VALUE: return CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    default: return -1;
    }
}

cu_result dr_capture_add(dr_stream *s, const dr_work *work)
{
    int32_t type = type_of(work->kind);
    dr_node *n;
    cu_result result = DR_ERROR(STREAM_CAPTURE_UNSUPPORTED);
    pthread_mutex_lock(&capture_lock);
    if (dr_stream_captured(s) && type >= 0)
        result = append(s, type, &n);
    if (!result)
        result = dr_node_set_work(n, s->context, work);
    else {
        if (s->capture)
            s->capture->invalid = true;
        dr_work lost = *work;
        dr_work_free(&lost);
    }
    pthread_mutex_unlock(&capture_lock);
    return result;
}

cu_result dr_capture_child(dr_stream *s, dr_graph *child)
{
    dr_node *n;
    pthread_mutex_lock(&capture_lock);
    cu_result result = dr_stream_captured(s) ? append(s, CUABI_CU_GRAPH_NODE_TYPE_GRAPH, &n) : DR_ERROR(STREAM_CAPTURE_INVALIDATED);
    if (!result)
        n->of.child = child;
    pthread_mutex_unlock(&capture_lock);
    if (result)
        dr_graph_free(child);
    return result;
}

cu_result dr_capture_alloc(dr_stream *s, size_t bytes, cu_address *address)
{
    dr_node *n;
    cu_result result = dr_graph_alloc(s->context, bytes, address);
    if (result)
        return result;
    pthread_mutex_lock(&capture_lock);
    result = dr_stream_captured(s) ? append(s, CUABI_CU_GRAPH_NODE_TYPE_MEM_ALLOC, &n) : DR_ERROR(STREAM_CAPTURE_INVALIDATED);
    if (!result) {
        n->of.alloc.bytes = bytes;
        n->of.alloc.address = *address;
    }
    pthread_mutex_unlock(&capture_lock);
    if (result)
        dr_memory_free(*address, false);
    return result;
}

cu_result dr_capture_record(dr_stream *s, dr_event *e, uint32_t flags)
{
    cu_result result = CUABI_SUCCESS;
    dr_node *n;
    pthread_mutex_lock(&capture_lock);
    dr_capture *c = s->capture;
    if (!c || c->invalid)
        result = DR_ERROR(STREAM_CAPTURE_INVALIDATED);
    else if ((flags & CUABI_CU_EVENT_RECORD_EXTERNAL) && e->shared)
        result = dr_fail(DR_ERROR(NOT_SUPPORTED), "events of several processes in graphs");
    else if (flags & CUABI_CU_EVENT_RECORD_EXTERNAL) {
        result = append(s, CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD, &n);
        if (!result)
            n->of.event = e;
    } else if (set_nodes(&e->nodes, &e->nnodes, s->nodes, s->nnodes)) {
        pthread_mutex_lock(&dr_lock);
        e->capture_id = c->id;
        pthread_mutex_unlock(&dr_lock);
    } else
        result = DR_ERROR(OUT_OF_MEMORY);
    pthread_mutex_unlock(&capture_lock);
    return result;
}

/* A captured stream waits for an event, or a stream for a captured event. Under the lock. */
static cu_result wait_for(dr_stream *s, dr_event *e, bool external)
{
    dr_capture *c = capture_with(e->capture_id), *mine = s->capture;
    dr_node *n;
    if (external && mine && e->shared)
        return dr_fail(DR_ERROR(NOT_SUPPORTED), "events of several processes in graphs");
    if (external && mine) {
        cu_result result = append(s, CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT, &n);
        if (!result)
            n->of.event = e;
        return result;
    }
    if (!c && !mine)
        return DR_ERROR(CAPTURED_EVENT);   /* its capture is over, and with it what the event meant */
    if (mine && mine->invalid)
        return DR_ERROR(STREAM_CAPTURE_INVALIDATED);
    if (!c) {
        mine->invalid = true;
        return DR_ERROR(STREAM_CAPTURE_ISOLATION);
    }
    if (mine && mine != c) {
        mine->invalid = c->invalid = true;
        return DR_ERROR(STREAM_CAPTURE_MERGE);
    }
    if (s == s->context->legacy)
        return DR_ERROR(STREAM_CAPTURE_IMPLICIT);
    if (!mine && !joins(s, c))
        return DR_ERROR(OUT_OF_MEMORY);
    return add_nodes(&s->nodes, &s->nnodes, e->nodes, e->nnodes) ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
}

cu_result dr_capture_wait(dr_stream *s, dr_event *e, uint32_t flags)
{
    pthread_mutex_lock(&capture_lock);
    cu_result result = wait_for(s, e, flags & CUABI_CU_EVENT_RECORD_EXTERNAL);
    pthread_mutex_unlock(&capture_lock);
    return result;
}

/* ------------------------------------------------------------ beginning and ending */

static cu_result begin(cu_stream stream, int32_t mode, dr_graph *theirs, const cu_node *nodes, size_t count)
{
    DR_NEED(mode >= 0 && mode <= CUABI_CU_STREAM_CAPTURE_MODE_RELAXED);
    DR_USE(c);
    dr_stream *s;
    cu_result result = dr_stream_of(c, stream, &s);
    if (result)
        return result;
    if (s == s->context->legacy)
        return DR_ERROR(STREAM_CAPTURE_UNSUPPORTED);
    dr_capture *capture = calloc(1, sizeof *capture);
    dr_graph *g = theirs ? theirs : dr_graph_new();
    if (!capture || !g) {
        free(capture);
        return DR_ERROR(OUT_OF_MEMORY);
    }
    pthread_mutex_lock(&capture_lock);
    *capture = (dr_capture){.id = last_capture + 1, .graph = g, .origin = s, .context = s->context, .mode = mode, .thread = pthread_self(),
                            .theirs = theirs != NULL, .next = captures};
    if (dr_stream_captured(s))
        result = DR_ERROR(ILLEGAL_STATE);
    else if (!joins(s, capture) || !set_nodes(&s->nodes, &s->nnodes, (dr_node *const *)nodes, (uint32_t)count))
        result = DR_ERROR(OUT_OF_MEMORY);
    if (!result) {
        last_capture++;
        captures = capture;
        strict += mode != CUABI_CU_STREAM_CAPTURE_MODE_RELAXED;
    }
    pthread_mutex_unlock(&capture_lock);
    if (result) {
        if (!theirs)
            dr_graph_free(g);
        free(capture);
    }
    return result;
}

cu_result impl_cuStreamBeginCapture_v2(cu_stream stream, int32_t mode)
{
    return begin(stream, mode, NULL, NULL, 0);
}

cu_result impl_cuStreamBeginCapture(cu_stream stream)
{
    return begin(stream, 0, NULL, NULL, 0);
}

cu_result impl_cuStreamBeginCaptureToGraph(cu_stream stream, cu_graph graph, const cu_node *dependencies, const cu_edge_data *dependency_data,
                                           size_t num_dependencies, int32_t mode)
{
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    (void)dependency_data;
    DR_NEED(g && (dependencies || !num_dependencies));
    if (!dr_nodes_belong(g, dependencies, num_dependencies))
        return DR_ERROR(INVALID_VALUE);
    return begin(stream, mode, g, dependencies, num_dependencies);
}

/* Does something in the graph come behind the node, or does the origin's next work? */
static bool is_joined(const dr_capture *c, const dr_node *n)
{
    for (uint32_t i = 0; i < c->origin->nnodes; i++)
        if (c->origin->nodes[i] == n)
            return true;
    for (uint32_t i = 0; i < c->graph->count; i++)
        for (uint32_t k = 0; k < c->graph->nodes[i]->nbefore; k++)
            if (c->graph->nodes[i]->before[k] == n)
                return true;
    return false;
}

/* All streams leave; false when one of them has work that the origin does not wait for. */
static bool end_all(dr_capture *c)
{
    bool joined = true;
    for (dr_stream *s = c->context->streams; s; s = s->next) {
        if (s->capture != c || s == c->origin)
            continue;
        for (uint32_t i = 0; i < s->nnodes; i++)
            joined &= is_joined(c, s->nodes[i]);
        leaves(s);
    }
    leaves(c->origin);
    for (dr_capture **p = &captures; *p; p = &(*p)->next) {
        if (*p == c) {
            *p = c->next;
            strict -= c->mode != CUABI_CU_STREAM_CAPTURE_MODE_RELAXED;
            break;
        }
    }
    return joined;
}

cu_result impl_cuStreamEndCapture(cu_stream stream, cu_graph *graph)
{
    DR_USE(context);
    dr_stream *s;
    cu_result result = dr_stream_of(context, stream, &s);
    if (result)
        return result;
    if (graph)
        *graph = NULL;
    pthread_mutex_lock(&capture_lock);
    dr_capture *c = s->capture;
    if (!c)
        result = DR_ERROR(ILLEGAL_STATE);
    else if (!graph && !c->theirs)         /* nobody would have the graph */
        result = DR_ERROR(INVALID_VALUE);
    else if (c->origin != s)
        result = DR_ERROR(STREAM_CAPTURE_UNMATCHED);
    else if (c->mode != CUABI_CU_STREAM_CAPTURE_MODE_RELAXED && !pthread_equal(c->thread, pthread_self()))
        result = DR_ERROR(STREAM_CAPTURE_WRONG_THREAD);
    if (result) {
        pthread_mutex_unlock(&capture_lock);
        return result;
    }
    pthread_mutex_lock(&dr_lock);
    bool joined = end_all(c);
    pthread_mutex_unlock(&dr_lock);
    pthread_mutex_unlock(&capture_lock);
    result = c->invalid ? DR_ERROR(STREAM_CAPTURE_INVALIDATED) : joined ? CUABI_SUCCESS : DR_ERROR(STREAM_CAPTURE_UNJOINED);
    if (!result && graph)
        *graph = c->graph;
    else if (result && !c->theirs)
        dr_graph_free(c->graph);
    free(c);
    return result;
}

void dr_capture_abandon(dr_stream *s)
{
    if (!dr_stream_captured(s))
        return;
    pthread_mutex_lock(&capture_lock);
    dr_capture *c = s->capture;
    bool ends = c && c->origin == s;
    if (ends) {
        pthread_mutex_lock(&dr_lock);
        end_all(c);
        pthread_mutex_unlock(&dr_lock);
    } else if (c) {
        /* What others wait for already does not need it. */
        for (uint32_t i = 0; i < s->nnodes; i++)
            c->invalid |= !is_joined(c, s->nodes[i]);
        leaves(s);
    }
    pthread_mutex_unlock(&capture_lock);
    if (ends) {
        if (!c->theirs)
            dr_graph_free(c->graph);
        free(c);
    }
}

/* ------------------------------------------------------------ questions */

cu_result impl_cuStreamGetCaptureInfo_v3(cu_stream stream, int32_t *capture_status_out, uint64_t *id_out, cu_graph *graph_out,
                                         const cu_node **dependencies_out, const cu_edge_data **edge_data_out, size_t *num_dependencies_out)
{
    DR_NEED(capture_status_out);
    DR_USE(context);
    dr_stream *s;
    cu_result result = dr_stream_of(context, stream, &s);
    if (result)
        return result;
    if (s == s->context->legacy && atomic_load(&s->context->captures))
        return DR_ERROR(STREAM_CAPTURE_IMPLICIT);
    pthread_mutex_lock(&capture_lock);
    dr_capture *c = s->capture;
    *capture_status_out = !c ? CUABI_CU_STREAM_CAPTURE_STATUS_NONE
                             : c->invalid ? CUABI_CU_STREAM_CAPTURE_STATUS_INVALIDATED : CUABI_CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (c && id_out)
        *id_out = c->id;
    if (c && graph_out)
        *graph_out = c->graph;
    if (c && dependencies_out)
        *dependencies_out = (const cu_node *)s->nodes;
    if (edge_data_out)
        *edge_data_out = NULL;
    if (c && num_dependencies_out)
        *num_dependencies_out = s->nnodes;
    pthread_mutex_unlock(&capture_lock);
    return CUABI_SUCCESS;
}

cu_result impl_cuStreamGetCaptureInfo_v2(cu_stream stream, int32_t *capture_status_out, uint64_t *id_out, cu_graph *graph_out,
                                         const cu_node **dependencies_out, size_t *num_dependencies_out)
{
    return impl_cuStreamGetCaptureInfo_v3(stream, capture_status_out, id_out, graph_out, dependencies_out, NULL, num_dependencies_out);
}

cu_result impl_cuStreamGetCaptureInfo(cu_stream stream, int32_t *capture_status_out, uint64_t *id_out)
{
    return impl_cuStreamGetCaptureInfo_v3(stream, capture_status_out, id_out, NULL, NULL, NULL, NULL);
}

cu_result impl_cuStreamIsCapturing(cu_stream stream, int32_t *capture_status)
{
    return impl_cuStreamGetCaptureInfo_v3(stream, capture_status, NULL, NULL, NULL, NULL, NULL);
}

cu_result impl_cuStreamUpdateCaptureDependencies(cu_stream stream, cu_node *dependencies, size_t num_dependencies, uint32_t flags)
{
    DR_NEED((dependencies || !num_dependencies) && flags <= 1);
    DR_USE(context);
    dr_stream *s;
    cu_result result = dr_stream_of(context, stream, &s);
    if (result)
        return result;
    pthread_mutex_lock(&capture_lock);
    dr_capture *c = s->capture;
    dr_node *const *nodes = (dr_node *const *)dependencies;
    if (!c)
        result = DR_ERROR(ILLEGAL_STATE);
    else if (c->invalid || !dr_nodes_belong(c->graph, dependencies, num_dependencies))
        result = c->invalid ? DR_ERROR(STREAM_CAPTURE_INVALIDATED) : DR_ERROR(INVALID_VALUE);
    else if (!(flags & CUABI_CU_STREAM_SET_CAPTURE_DEPENDENCIES ? set_nodes(&s->nodes, &s->nnodes, nodes, (uint32_t)num_dependencies)
                                                                : add_nodes(&s->nodes, &s->nnodes, nodes, (uint32_t)num_dependencies)))
        result = DR_ERROR(OUT_OF_MEMORY);
    pthread_mutex_unlock(&capture_lock);
    return result;
}

cu_result impl_cuStreamUpdateCaptureDependencies_v2(cu_stream stream, cu_node *dependencies, const cu_edge_data *dependency_data,
                                                    size_t num_dependencies, uint32_t flags)
{
    (void)dependency_data;
    return impl_cuStreamUpdateCaptureDependencies(stream, dependencies, num_dependencies, flags);
}

cu_result impl_cuThreadExchangeStreamCaptureMode(int32_t *mode)
{
    DR_NEED(mode && *mode >= 0 && *mode <= CUABI_CU_STREAM_CAPTURE_MODE_RELAXED);
    int32_t before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUABI_SUCCESS;
}
