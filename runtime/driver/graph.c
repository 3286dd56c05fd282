/* graph.c - the structure of graphs: nodes, edges, clones, user objects. */
#include "runtime/driver/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Graphs are not to be used by two threads at once (CUDA Driver API, "Graph object thread safety"); what protects them is the
 * program. */

/* ------------------------------------------------------------ user objects */

typedef struct dr_user_object {
    dr_object head;
    cu_host_fn destroy;
    void *address;
    _Atomic int64_t count;
} dr_user_object;

static void release_object(dr_user_object *o, uint32_t count)
{
    if (atomic_fetch_sub(&o->count, count) > count)
        return;
    o->destroy(o->address);
    dr_object_free(o, DR_USER_OBJECT);
}

cu_result impl_cuUserObjectCreate(cu_user_object *object_out, void *address, cu_host_fn destroy, uint32_t initial_refcount, uint32_t flags)
{
    DR_NEED(object_out && destroy && initial_refcount && initial_refcount <= INT32_MAX && flags == 1);
    dr_user_object *o = dr_object_new(DR_USER_OBJECT, sizeof *o);
    if (!o)
        return DR_ERROR(OUT_OF_MEMORY);
    o->destroy = destroy;
    o->address = address;
    o->count = initial_refcount;
    *object_out = o;
    return CUABI_SUCCESS;
}

cu_result impl_cuUserObjectRetain(cu_user_object object, uint32_t count)
{
    dr_user_object *o = dr_object_of(object, DR_USER_OBJECT);
    DR_NEED(o && count);
    atomic_fetch_add(&o->count, count);
    return CUABI_SUCCESS;
}

cu_result impl_cuUserObjectRelease(cu_user_object object, uint32_t count)
{
    dr_user_object *o = dr_object_of(object, DR_USER_OBJECT);
    DR_NEED(o && count);
    release_object(o, count);
    return CUABI_SUCCESS;
}

static cu_result keep(dr_graph *g, dr_user_object *o, uint32_t count)
{
    struct dr_kept *k = malloc(sizeof *k);
    if (!k)
        return DR_ERROR(OUT_OF_MEMORY);
    *k = (struct dr_kept){o, count, g->kept};
    g->kept = k;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphRetainUserObject(cu_graph graph, cu_user_object object, uint32_t count, uint32_t flags)
{
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    dr_user_object *o = dr_object_of(object, DR_USER_OBJECT);
    DR_NEED(g && o && count && (flags & ~1u) == 0);
    cu_result result = keep(g, o, count);
    if (!result && !(flags & 1))       /* CU_GRAPH_USER_OBJECT_MOVE takes the caller's references */
        atomic_fetch_add(&o->count, count);
    return result;
}

cu_result impl_cuGraphReleaseUserObject(cu_graph graph, cu_user_object object, uint32_t count)
{
    dr_graph *g = dr_object_of(graph, DR_GRAPH);
    DR_NEED(g && count);
    for (struct dr_kept **p = &g->kept; *p; p = &(*p)->next) {
        struct dr_kept *k = *p;
        if (k->object != object || k->count < count)
            continue;
        k->count -= count;
        release_object(k->object, count);
        if (k->count == 0) {
            *p = k->next;
            free(k);
        }
        return CUABI_SUCCESS;
    }
    return DR_ERROR(INVALID_VALUE);
}

/* ------------------------------------------------------------ nodes and edges */

dr_graph *dr_graph_new(void)
{
    return dr_object_new(DR_GRAPH, sizeof(dr_graph));
}

bool dr_nodes_belong(const dr_graph *g, const cu_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const dr_node *n = dr_object_of(nodes[i], DR_NODE);
        if (!n || n->graph != g)
            return false;
    }
    return true;
}

/* One more edge to a node; twice is a mistake of the program's. */
static cu_result add_edge(dr_node *to, dr_node *from)
{
    for (uint32_t i = 0; i < to->nbefore; i++)
        if (to->before[i] == from)
            return DR_ERROR(INVALID_VALUE);
    dr_node **more = realloc(to->before, (to->nbefore + 1) * sizeof(*more));
    if (!more)
        return DR_ERROR(OUT_OF_MEMORY);
    to->before = more;
    to->before[to->nbefore++] = from;
    return CUABI_SUCCESS;
}

static bool remove_edge(dr_node *to, const dr_node *from)
{
    for (uint32_t i = 0; i < to->nbefore; i++)
        if (to->before[i] == from) {
            memmove(&to->before[i], &to->before[i + 1], (to->nbefore - i - 1) * sizeof(*to->before));
            to->nbefore--;
            return true;
        }
    return false;
}

cu_result dr_node_new(dr_graph *g, int32_t type, dr_node *const *before, size_t count, dr_node **out)
{
    *out = NULL;
    if (count > UINT32_MAX / 2 || (count && !before))
        return DR_ERROR(INVALID_VALUE);
    if (g->count == g->capacity) {
        uint32_t capacity = g->capacity ? 2 * g->capacity : 16;
        dr_node **more = realloc(g->nodes, capacity * sizeof(*more));
        if (!more)
            return DR_ERROR(OUT_OF_MEMORY);
        g->nodes = more;
        g->capacity = capacity;
    }
    dr_node *n = dr_object_new(DR_NODE, sizeof *n);
    if (!n)
        return DR_ERROR(OUT_OF_MEMORY);
    n->graph = g;
    n->type = type;
    n->context = dr_context_current();
    n->index = g->count;
    cu_result result = CUABI_SUCCESS;
    for (size_t i = 0; i < count && !result; i++)
        result = add_edge(n, before[i]);
    if (result) {
        free(n->before);
        dr_object_free(n, DR_NODE);
        return result;
    }
    g->nodes[g->count++] = n;
    *out = n;
    return CUABI_SUCCESS;
}

static void free_node(dr_node *n)
{
    dr_node_clear(n);
    free(n->before);
    dr_object_free(n, DR_NODE);
}

void dr_node_remove(dr_node *n)
{
    dr_graph *g = n->graph;
    memmove(&g->nodes[n->index], &g->nodes[n->index + 1], (g->count - n->index - 1) * sizeof(*g->nodes));
    g->count--;
    for (uint32_t i = 0; i < g->count; i++) {
        g->nodes[i]->index = i;
        remove_edge(g->nodes[i], n);
    }
    free_node(n);
}

void dr_graph_free(dr_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        free_node(g->nodes[i]);
    for (struct dr_kept *k = g->kept, *next; k; k = next) {
        next = k->next;
        release_object(k->object, k->count);
        free(k);
    }
    free(g->nodes);
    free(g->conditions);
    dr_object_free(g, DR_GRAPH);
}

cu_result dr_graph_clone(const dr_graph *from, dr_graph **out)
{
    dr_graph *g = dr_graph_new();
    cu_result result = g ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < from->count && !result; i++) {
        dr_node *n;
        result = dr_node_new(g, from->nodes[i]->type, NULL, 0, &n);
        if (result)
            break;
        n->original = from->nodes[i];
        result = dr_node_copy(n, from->nodes[i]);
    }
    /* Edges may lead forward: all nodes are there now. */
    for (uint32_t i = 0; i < from->count && !result; i++)
        for (uint32_t k = 0; k < from->nodes[i]->nbefore && !result; k++)
            result = add_edge(g->nodes[i], g->nodes[from->nodes[i]->before[k]->index]);
    for (struct dr_kept *k = from->kept; k && !result; k = k->next) {
        result = keep(g, k->object, k->count);
        if (!result)
            atomic_fetch_add(&k->object->count, k->count);
    }
    if (result && g)
        dr_graph_free(g);
    *out = result ? NULL : g;
    return result;
}

/* ------------------------------------------------------------ cuGraph… */

#define USE_GRAPH(g, handle)                                                                                           \
    dr_graph *g = dr_object_of(handle, DR_GRAPH);                                                                      \
    if (!g)                                                                                                            \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE)
#define USE_NODE(n, handle)                                                                                            \
    dr_node *n = dr_object_of(handle, DR_NODE);                                                                        \
    if (!n)                                                                                                            \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_VALUE)

cu_result impl_cuGraphCreate(cu_graph *graph, uint32_t flags)
{
    DR_NEED(graph && flags == 0);
    if (dr_ready())
        return dr_ready();
    *graph = dr_graph_new();
    return *graph ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
}

cu_result impl_cuGraphDestroy(cu_graph graph)
{
    USE_GRAPH(g, graph);
    if (g->owned)
        return DR_ERROR(INVALID_VALUE);
    dr_graph_free(g);
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphClone(cu_graph *graph_clone, cu_graph original_graph)
{
    DR_NEED(graph_clone);
    USE_GRAPH(g, original_graph);
    dr_graph *copy;
    cu_result result = dr_graph_clone(g, &copy);
    if (!result)
        *graph_clone = copy;
    return result;
}

cu_result impl_cuGraphNodeFindInClone(cu_node *node, cu_node original_node, cu_graph cloned_graph)
{
    DR_NEED(node);
    USE_GRAPH(g, cloned_graph);
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i]->original == original_node) {
            *node = g->nodes[i];
            return CUABI_SUCCESS;
        }
    return DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuGraphNodeGetType(cu_node node, int32_t *type)
{
    DR_NEED(type);
    USE_NODE(n, node);
    *type = n->type;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphDestroyNode(cu_node node)
{
    USE_NODE(n, node);
    dr_node_remove(n);
    return CUABI_SUCCESS;
}

/* The convention of all lists: without an array the number is the answer; with one it is filled, the rest with NULL. */
typedef struct list { cu_node *at; size_t room, count; } list;

static void put(list *l, dr_node *n)
{
    if (l->at && l->count < l->room)
        l->at[l->count] = n;
    l->count++;
}

static cu_result end_list(list *l, size_t *count)
{
    for (size_t i = l->count; l->at && i < l->room; i++)
        l->at[i] = NULL;
    *count = l->at && l->count > l->room ? l->room : l->count;
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphGetNodes(cu_graph graph, cu_node *nodes, size_t *num_nodes)
{
    DR_NEED(num_nodes);
    USE_GRAPH(g, graph);
    list l = {nodes, *num_nodes, 0};
    for (uint32_t i = 0; i < g->count; i++)
        put(&l, g->nodes[i]);
    return end_list(&l, num_nodes);
}

cu_result impl_cuGraphGetRootNodes(cu_graph graph, cu_node *root_nodes, size_t *num_root_nodes)
{
    DR_NEED(num_root_nodes);
    USE_GRAPH(g, graph);
    list l = {root_nodes, *num_root_nodes, 0};
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i]->nbefore == 0)
            put(&l, g->nodes[i]);
    return end_list(&l, num_root_nodes);
}

cu_result impl_cuGraphGetEdges(cu_graph graph, cu_node *from, cu_node *to, size_t *num_edges)
{
    DR_NEED(num_edges && !from == !to);
    USE_GRAPH(g, graph);
    list l = {from, *num_edges, 0}, m = {to, *num_edges, 0};
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < g->nodes[i]->nbefore; k++) {
            put(&l, g->nodes[i]->before[k]);
            put(&m, g->nodes[i]);
        }
    end_list(&m, num_edges);
    return end_list(&l, num_edges);
}

/* Edges carry no data here: ports and programmatic launches are not served. */
static void no_data(cu_edge_data *data, size_t count)
{
    if (data)
        memset(data, 0, count * sizeof *data);
}

static bool has_data(const cu_edge_data *data, size_t count)
{
    for (size_t i = 0; data && i < count; i++)
        if (data[i].from_port || data[i].to_port || data[i].type)
            return true;
    return false;
}

cu_result impl_cuGraphGetEdges_v2(cu_graph graph, cu_node *from, cu_node *to, cu_edge_data *edge_data, size_t *num_edges)
{
    cu_result result = impl_cuGraphGetEdges(graph, from, to, num_edges);
    if (!result && from)
        no_data(edge_data, *num_edges);
    return result;
}

cu_result impl_cuGraphNodeGetDependencies(cu_node node, cu_node *dependencies, size_t *num_dependencies)
{
    DR_NEED(num_dependencies);
    USE_NODE(n, node);
    list l = {dependencies, *num_dependencies, 0};
    for (uint32_t i = 0; i < n->nbefore; i++)
        put(&l, n->before[i]);
    return end_list(&l, num_dependencies);
}

cu_result impl_cuGraphNodeGetDependencies_v2(cu_node node, cu_node *dependencies, cu_edge_data *edge_data, size_t *num_dependencies)
{
    cu_result result = impl_cuGraphNodeGetDependencies(node, dependencies, num_dependencies);
    if (!result && dependencies)
        no_data(edge_data, *num_dependencies);
    return result;
}

cu_result impl_cuGraphNodeGetDependentNodes(cu_node node, cu_node *dependent_nodes, size_t *num_dependent_nodes)
{
    DR_NEED(num_dependent_nodes);
    USE_NODE(n, node);
    list l = {dependent_nodes, *num_dependent_nodes, 0};
    for (uint32_t i = 0; i < n->graph->count; i++)
        for (uint32_t k = 0; k < n->graph->nodes[i]->nbefore; k++)
            if (n->graph->nodes[i]->before[k] == n)
                put(&l, n->graph->nodes[i]);
    return end_list(&l, num_dependent_nodes);
}

cu_result impl_cuGraphNodeGetDependentNodes_v2(cu_node node, cu_node *dependent_nodes, cu_edge_data *edge_data, size_t *num_dependent_nodes)
{
    cu_result result = impl_cuGraphNodeGetDependentNodes(node, dependent_nodes, num_dependent_nodes);
    if (!result && dependent_nodes)
        no_data(edge_data, *num_dependent_nodes);
    return result;
}

cu_result impl_cuGraphAddDependencies(cu_graph graph, const cu_node *from, const cu_node *to, size_t num_dependencies)
{
    USE_GRAPH(g, graph);
    DR_NEED(!num_dependencies || (from && to));
    if (!dr_nodes_belong(g, from, num_dependencies) || !dr_nodes_belong(g, to, num_dependencies))
        return DR_ERROR(INVALID_VALUE);
    cu_result result = CUABI_SUCCESS;
    for (size_t i = 0; i < num_dependencies && !result; i++)
        result = from[i] == to[i] ? DR_ERROR(INVALID_VALUE) : add_edge(to[i], from[i]);
    return result;
}

cu_result impl_cuGraphAddDependencies_v2(cu_graph graph, const cu_node *from, const cu_node *to, const cu_edge_data *edge_data,
                                         size_t num_dependencies)
{
    return has_data(edge_data, num_dependencies) ? DR_ERROR(NOT_SUPPORTED) : impl_cuGraphAddDependencies(graph, from, to, num_dependencies);
}

cu_result impl_cuGraphRemoveDependencies(cu_graph graph, const cu_node *from, const cu_node *to, size_t num_dependencies)
{
    USE_GRAPH(g, graph);
    DR_NEED(!num_dependencies || (from && to));
    if (!dr_nodes_belong(g, from, num_dependencies) || !dr_nodes_belong(g, to, num_dependencies))
        return DR_ERROR(INVALID_VALUE);
    for (size_t i = 0; i < num_dependencies; i++)
        if (!remove_edge(to[i], from[i]))
            return DR_ERROR(INVALID_VALUE);
    return CUABI_SUCCESS;
}

cu_result impl_cuGraphRemoveDependencies_v2(cu_graph graph, const cu_node *from, const cu_node *to, const cu_edge_data *edge_data,
                                            size_t num_dependencies)
{
    return has_data(edge_data, num_dependencies) ? DR_ERROR(NOT_SUPPORTED)
                                                 : impl_cuGraphRemoveDependencies(graph, from, to, num_dependencies);
}

/* ------------------------------------------------------------ a picture for dot(1) */

static const char *type_name(int32_t type)
{
    static const char *const names[] = {"kernel", "memcpy", "memset", "host", "graph", "empty", "wait event", "record event", "", "",
                                        "alloc", "free", "values", "conditional"};
    return type >= 0 && type < (int32_t)(sizeof names / sizeof *names) ? names[type] : "node";
}

cu_result impl_cuGraphDebugDotPrint(cu_graph graph, const char *path, uint32_t flags)
{
    DR_NEED(path);
    (void)flags;                       /* how much is told of each node */
    USE_GRAPH(g, graph);
    FILE *f = fopen(path, "w");
    if (!f)
        return DR_ERROR(OPERATING_SYSTEM);
    fprintf(f, "digraph dot {\n");
    for (uint32_t i = 0; i < g->count; i++) {
        const dr_node *n = g->nodes[i];
        bool kernel = n->type == CUABI_CU_GRAPH_NODE_TYPE_KERNEL;
        fprintf(f, "    node_%u [label=\"%u %s%s%s\"];\n", i, i, type_name(n->type), kernel ? " " : "",
                kernel ? n->work.of.launch.function->ptx->name : "");
        for (uint32_t k = 0; k < n->nbefore; k++)
            fprintf(f, "    node_%u -> node_%u;\n", n->before[k]->index, i);
    }
    fprintf(f, "}\n");
    return fclose(f) ? DR_ERROR(OPERATING_SYSTEM) : CUABI_SUCCESS;
}
