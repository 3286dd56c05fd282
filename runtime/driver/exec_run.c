/* exec_run.c - the steps of an instantiated graph: made of its nodes, in an order, and copied before they are changed. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/graph.h"

void dr_exec_run_free(struct dr_exec_run *run)
{
    if (!run || atomic_fetch_sub(&run->users, 1) > 1)
        return;
    for (uint32_t i = 0; i < run->count; i++) {
        dr_work_free(&run->steps[i].work);
        free(run->steps[i].before);
        free(run->steps[i].after);
        dr_exec_run_free(run->steps[i].child);
        for (uint32_t k = 0; k < run->steps[i].nbodies; k++)
            dr_exec_run_free(run->steps[i].bodies[k]);
        free(run->steps[i].bodies);
        free(run->steps[i].values);
    }
    free(run->conditions);
    free(run->steps);
    free(run->order);
    free(run);
}

static struct dr_exec_run *make_run(uint32_t count)
{
    struct dr_exec_run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->users = 1;
    run->count = count;
    run->order = calloc(count + 1, sizeof *run->order);
    run->steps = calloc(count + 1, sizeof *run->steps);
    if (run->order && run->steps)
        return run;
    dr_exec_run_free(run);
    return NULL;
}

static cu_result fill_conditional(dr_step *s, const cu_conditional_node *k, dr_node **wrong)
{
    cu_result result = CUABI_SUCCESS;
    s->condition = k->type;
    s->cell = k->handle;
    s->bodies = calloc(k->size, sizeof(*s->bodies));
    if (!s->bodies)
        return DR_ERROR(OUT_OF_MEMORY);
    for (; s->nbodies < k->size && !result; s->nbodies += !result)
        result = dr_exec_run_make(k->bodies[s->nbodies], &s->bodies[s->nbodies], wrong);
    return result;
}

static cu_result fill_step(dr_step *s, dr_node *n, dr_node **wrong)
{
    s->node = n;
    s->type = n->type;
    s->context = n->context;
    cu_result result = dr_work_clone(&n->work, &s->work);
    if (result)
        s->work.kind = DR_WORK_NONE;
    if (!result && n->type == CUABI_CU_GRAPH_NODE_TYPE_GRAPH)
        result = dr_exec_run_make(n->of.child, &s->child, wrong);
    if (!result && n->type == CUABI_CU_GRAPH_NODE_TYPE_CONDITIONAL)
        result = fill_conditional(s, &n->of.conditional, wrong);
    if (!result && n->type == CUABI_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && n->of.batch.operations)
        result = dr_values_make(&n->of.batch, &s->values, &s->nvalues);
    if (n->type == CUABI_CU_GRAPH_NODE_TYPE_EVENT_RECORD || n->type == CUABI_CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        s->event = n->of.event;
    s->nbefore = n->nbefore;
    s->before = calloc(n->nbefore + 1, sizeof *s->before);
    if (!s->before)
        return DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < n->nbefore; i++)
        s->before[i] = n->before[i]->index;
    return result;
}

/* The edges the other way round. */
static cu_result find_after(struct dr_exec_run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        for (uint32_t k = 0; k < run->steps[i].nbefore; k++)
            run->steps[run->steps[i].before[k]].nafter++;
    for (uint32_t i = 0; i < run->count; i++) {
        dr_step *s = &run->steps[i];
        s->after = malloc((s->nafter + 1) * sizeof *s->after);
        if (!s->after)
            return DR_ERROR(OUT_OF_MEMORY);
        s->nafter = 0;
    }
    for (uint32_t i = 0; i < run->count; i++)
        for (uint32_t k = 0; k < run->steps[i].nbefore; k++) {
            dr_step *s = &run->steps[run->steps[i].before[k]];
            s->after[s->nafter++] = i;
        }
    return CUABI_SUCCESS;
}

static bool comes_before(const dr_step *s, uint32_t other)
{
    for (uint32_t k = 0; k < s->nbefore; k++)
        if (s->before[k] == other)
            return true;
    return false;
}

/* Kahn's algorithm, and whether there is a choice anywhere. INVALID_VALUE for a cycle. */
static cu_result find_order(struct dr_exec_run *run)
{
    uint32_t n = run->count, last = 0;
    uint32_t *waits = malloc((n + 1) * sizeof *waits);
    if (!waits)
        return DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < n; i++) {
        waits[i] = run->steps[i].nbefore;
        if (waits[i] == 0)
            run->order[last++] = i;
    }
    for (uint32_t first = 0; first < last; first++) {
        const dr_step *s = &run->steps[run->order[first]];
        run->branches |= first && !comes_before(s, run->order[first - 1]);
        for (uint32_t k = 0; k < s->nafter; k++)
            if (--waits[s->after[k]] == 0)
                run->order[last++] = s->after[k];
    }
    free(waits);
    return last == n ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

cu_result dr_exec_run_make(const dr_graph *g, struct dr_exec_run **out, dr_node **wrong)
{
    struct dr_exec_run *run = make_run(g->count);
    *out = NULL;
    if (!run)
        return DR_ERROR(OUT_OF_MEMORY);
    cu_result result = CUABI_SUCCESS;
    for (uint32_t i = 0; i < g->count && !result; i++) {
        result = fill_step(&run->steps[i], g->nodes[i], wrong);
        if (result && wrong)
            *wrong = g->nodes[i];
    }
    run->conditions = malloc((g->nconditions + 1) * sizeof *run->conditions);
    if (!run->conditions)
        result = DR_ERROR(OUT_OF_MEMORY);
    if (!result) {
        for (uint32_t i = 0; i < g->nconditions; i++)
            run->conditions[i] = g->conditions[i];
        run->nconditions = g->nconditions;
        result = find_after(run);
    }
    if (!result)
        result = find_order(run);
    if (result)
        dr_exec_run_free(run);
    else
        *out = run;
    return result;
}

static uint32_t *copy_indices(const uint32_t *from, uint32_t count)
{
    uint32_t *copy = malloc((count + 1) * sizeof *copy);
    if (copy && count)
        memcpy(copy, from, count * sizeof *copy);
    return copy;
}

/* Bodies and values of a step, for a copy of it. */
static bool share_bodies(dr_step *to, const dr_step *from)
{
    to->nbodies = 0;
    to->bodies = malloc((from->nbodies + 1) * sizeof(*to->bodies));
    to->values = malloc((from->nvalues + 1) * sizeof *to->values);
    if (!to->bodies || !to->values)
        return false;
    for (uint32_t i = 0; i < from->nbodies; i++) {
        to->bodies[i] = from->bodies[i];
        atomic_fetch_add(&to->bodies[i]->users, 1);
    }
    to->nbodies = from->nbodies;
    if (from->nvalues)
        memcpy(to->values, from->values, from->nvalues * sizeof *to->values);
    return true;
}

/* A run of one's own, for changes: launches that wait keep the old one. */
cu_result dr_exec_run_own(struct dr_exec_run **place)
{
    struct dr_exec_run *from = *place, *run;
    if (atomic_load(&from->users) == 1)
        return CUABI_SUCCESS;
    run = make_run(from->count);
    if (!run)
        return DR_ERROR(OUT_OF_MEMORY);
    cu_result result = CUABI_SUCCESS;
    memcpy(run->order, from->order, from->count * sizeof *run->order);
    run->branches = from->branches;
    run->conditions = malloc((from->nconditions + 1) * sizeof *run->conditions);
    if (run->conditions) {
        memcpy(run->conditions, from->conditions, from->nconditions * sizeof *run->conditions);
        run->nconditions = from->nconditions;
    } else
        result = DR_ERROR(OUT_OF_MEMORY);
    for (uint32_t i = 0; i < from->count && !result; i++) {
        dr_step *to = &run->steps[i], *old = &from->steps[i];
        *to = *old;
        to->before = copy_indices(old->before, old->nbefore);
        to->after = copy_indices(old->after, old->nafter);
        if (to->child)
            atomic_fetch_add(&to->child->users, 1);
        if (!share_bodies(to, old))
            result = DR_ERROR(OUT_OF_MEMORY);
        cu_result cloned = dr_work_clone(&old->work, &to->work);
        if (cloned)
            to->work.kind = DR_WORK_NONE;
        result = result ? result : cloned;
        if (!to->before || !to->after)
            result = DR_ERROR(OUT_OF_MEMORY);
    }
    if (result) {
        dr_exec_run_free(run);
        return result;
    }
    dr_exec_run_free(from);
    *place = run;
    return CUABI_SUCCESS;
}
