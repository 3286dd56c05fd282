/* graph.h - graphs of work, built by hand or captured, and what they are instantiated to.
 *
 * A node holds its work ready to run, and what the program said about it. An exec is a list of such work with its edges, in a
 * dr_exec_run that launches share and changes replace.
 */
#ifndef DRIVER_GRAPH_H
#define DRIVER_GRAPH_H

#include "runtime/driver/driver.h"

typedef struct dr_graph dr_graph;

typedef struct dr_node {
    dr_object head;
    dr_graph *graph;
    int32_t type;                  /* CU_GRAPH_NODE_TYPE_… */
    uint32_t index;                /* in its graph */
    dr_context *context;
    dr_work work;                  /* of kernels, copies, sets, host functions, values */
    union {
        cu_kernel_node kernel;     /* its params point into work */
        cu_memcpy3d copy;
        cu_memset_node set;
        cu_host_node host;
        cu_alloc_node alloc;
        cu_address free;
        dr_event *event;
        dr_graph *child;           /* owned */
        cu_conditional_node conditional;   /* its bodies are dr_graph *, owned */
        cu_batch_node batch;       /* its operations are owned */
    } of;
    void **params;                 /* of a kernel, owned */
    int priority;
    struct dr_node **before;       /* what it depends on */
    uint32_t nbefore;
    struct dr_node *original;      /* that it was cloned from */
} dr_node;

/* A handle of conditional nodes. */
typedef struct dr_condition { dr_context *context; uint64_t cell; uint32_t value; bool assign; } dr_condition;

struct dr_graph {
    dr_object head;
    dr_node **nodes;
    uint32_t count, capacity;
    bool owned;                    /* by a node: may not be destroyed by the program */
    dr_condition *conditions;      /* handles that were made for it */
    uint32_t nconditions;
    struct dr_kept { struct dr_user_object *object; uint32_t count; struct dr_kept *next; } *kept;
};

typedef struct dr_step {
    dr_node *node;                 /* handle by which programs name it; not looked into */
    int32_t type;
    bool disabled;
    dr_work work;
    dr_event *event;
    dr_context *context;
    struct dr_exec_run *child;
    struct dr_exec_run **bodies;   /* of a conditional node */
    uint32_t nbodies;
    int32_t condition;             /* CU_GRAPH_COND_TYPE_… */
    uint64_t cell;
    dr_work *values;               /* of a node with several operations on values */
    uint32_t nvalues;
    uint32_t *before, nbefore;     /* indices of steps */
    uint32_t *after, nafter;
} dr_step;

struct dr_exec_run {
    _Atomic uint32_t users;
    uint32_t count;
    uint32_t *order;               /* that respects the edges */
    bool branches;                 /* there are others */
    dr_condition *conditions;
    uint32_t nconditions;
    dr_step *steps;                /* in the order of the graph's nodes */
};

/* ------------------------------------------------------------ graph.c */

dr_graph *dr_graph_new(void);
void dr_graph_free(dr_graph *graph);
cu_result dr_graph_clone(const dr_graph *from, dr_graph **out);
/* An empty node behind others. */
cu_result dr_node_new(dr_graph *graph, int32_t type, dr_node *const *before, size_t count, dr_node **out);
void dr_node_remove(dr_node *node);
bool dr_nodes_belong(const dr_graph *graph, const cu_node *nodes, size_t count);

/* ------------------------------------------------------------ node.c: what nodes do */

cu_result dr_node_set_kernel(dr_node *node, const cu_kernel_node *params, bool v1);
cu_result dr_node_set_copy(dr_node *node, const cu_memcpy3d *copy, dr_context *context);
cu_result dr_node_set_set(dr_node *node, const cu_memset_node *set, dr_context *context);
cu_result dr_node_set_host(dr_node *node, const cu_host_node *host);
cu_result dr_node_set_params(dr_node *node, const cu_node_params *params);
/* Captured work becomes a node's; it is taken over. */
cu_result dr_node_set_work(dr_node *node, dr_context *context, const dr_work *work);
cu_result dr_node_copy(dr_node *to, const dr_node *from);
void dr_node_clear(dr_node *node);
cu_result dr_work_clone(const dr_work *from, dr_work *to);

/* A node with a graph, which it takes over, in a stream that is captured. */
cu_result dr_capture_child(dr_stream *stream, dr_graph *child);

/* ------------------------------------------------------------ values.c */

cu_result dr_node_set_batch(dr_node *node, const cu_batch_node *batch);
/* Its operations as work, malloc'ed. */
cu_result dr_values_make(const cu_batch_node *batch, dr_work **out, uint32_t *count);

/* ------------------------------------------------------------ conditional.c */

cu_result dr_node_set_conditional(dr_node *node, cu_conditional_node *params);
void dr_conditional_clear(dr_node *node);
/* Gives conditions their first values. */
cu_result dr_conditions_start(const struct dr_exec_run *run);
cu_result dr_conditional_run(dr_context *context, dr_stream *stream, const dr_step *step);

/* ------------------------------------------------------------ exec.c, exec_run.c, branches.c */

/* Steps from the nodes of a graph, with one user; *wrong is the node that cannot be one, where somebody wants to know. */
cu_result dr_exec_run_make(const dr_graph *graph, struct dr_exec_run **out, dr_node **wrong);
/* Puts a copy in the place of a run that launches share, so that it may be changed. */
cu_result dr_exec_run_own(struct dr_exec_run **place);
cu_result dr_step_run(dr_context *context, dr_stream *stream, const dr_step *step);
cu_result dr_exec_run(dr_context *context, dr_stream *stream, struct dr_exec_run *run);
void dr_exec_run_free(struct dr_exec_run *run);

#endif
