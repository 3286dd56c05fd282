/* reach.c - what an entry needs of its module: the functions that it calls or whose address it takes, and the shared memory of all of them. */
#include <stdlib.h>
#include "ptx/module.h"

typedef struct walk {
    const ptx_module *m;
    uint8_t *functions, *variables;          /* seen, by index; variables of the module alone */
    const ptx_function **stack;
    uint32_t n;
} walk;

static void see_function(walk *w, const ptx_function *f)
{
    if (!f || w->functions[f->index])
        return;
    w->functions[f->index] = 1;
    w->stack[w->n++] = f;
}

static void see_variable(walk *w, const ptx_variable *v)
{
    if (!v || (!v->owner && v->space == PTX_SPACE_PARAM))
        return;
    if (!v->owner) {
        if (v->index >= w->m->nvariables || w->m->variables[v->index] != v || w->variables[v->index])
            return;
        w->variables[v->index] = 1;
    }
    for (uint32_t i = 0; i < v->nrelocations; i++) {
        see_function(w, v->relocations[i].function);
        if (v->relocations[i].variable != v && !v->owner)
            see_variable(w, v->relocations[i].variable);
    }
}

static void see_values(walk *w, const ptx_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (values[i].kind == PTX_VALUE_FUNCTION)
            see_function(w, values[i].function);
        else if (values[i].kind == PTX_VALUE_VARIABLE)
            see_variable(w, values[i].variable);
    }
}

static void see_body(walk *w, const ptx_function *f)
{
    for (uint32_t i = 0; i < f->nvariables; i++)
        see_variable(w, f->variables[i]);
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const ptx_insn *insn = &f->insns[i];
        see_values(w, insn->args, insn->nargs);
        for (uint32_t k = 0; k < insn->noperands; k++) {
            const ptx_operand *o = &insn->operands[k];
            see_values(w, o->values, o->nvalues);
            if (o->kind == ISA_OPERAND_FUNCTION)
                see_function(w, o->callee);
            if (o->kind == ISA_OPERAND_ADDRESS && o->address.base == PTX_BASE_VARIABLE)
                see_variable(w, o->address.variable);
        }
    }
}

static uint64_t place(uint64_t at, const ptx_variable *v)
{
    if (v->space != PTX_SPACE_SHARED || v->linkage == PTX_LINK_EXTERN)
        return at;
    uint64_t align = v->align ? v->align : 1;
    return (at + align - 1) / align * align + v->size;
}

static uint64_t add_up(const walk *w)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < w->m->nvariables; i++)
        if (w->variables[i])
            bytes = place(bytes, w->m->variables[i]);
    for (uint32_t f = 0; f < w->m->nfunctions; f++)
        for (uint32_t i = 0; w->functions[f] && i < w->m->functions[f]->nvariables; i++)
            bytes = place(bytes, w->m->functions[f]->variables[i]);
    return bytes;
}

/* Behind the last of them, as they lie in the module. */
static uint64_t last_end(const ptx_variable *const *variables, uint32_t n, uint64_t end)
{
    for (uint32_t i = 0; i < n; i++) {
        const ptx_variable *v = variables[i];
        if (v->space == PTX_SPACE_SHARED && v->linkage != PTX_LINK_EXTERN && v->offset + v->size > end)
            end = v->offset + v->size;
    }
    return end;
}

static bool walk_from(walk *w, const ptx_function *entry)
{
    w->functions = calloc((size_t)w->m->nfunctions + 1, 1);
    w->variables = calloc((size_t)w->m->nvariables + 1, 1);
    w->stack = calloc((size_t)w->m->nfunctions + 1, sizeof *w->stack);
    if (!w->functions || !w->variables || !w->stack)
        return false;
    see_function(w, entry);
    while (w->n)
        see_body(w, w->stack[--w->n]);
    return true;
}

static void end_walk(walk *w)
{
    free(w->functions);
    free(w->variables);
    free(w->stack);
}

uint64_t ptx_shared_of(const ptx_module *m, const ptx_function *entry, const ptx_function *other, bool *reaches)
{
    walk w = {.m = m};
    uint64_t bytes = m->shared_size;         /* without memory for the walk: all there is */
    *reaches = true;
    if (walk_from(&w, entry)) {
        bytes = add_up(&w);
        *reaches = w.functions[other->index];
    }
    end_walk(&w);
    return bytes;
}

uint64_t ptx_shared_end(const ptx_module *m, const ptx_function *entry)
{
    walk w = {.m = m};
    uint64_t end = m->shared_size;
    if (walk_from(&w, entry)) {
        end = last_end((const ptx_variable *const *)m->variables, m->nvariables, 0);
        for (uint32_t f = 0; f < m->nfunctions; f++)
            if (w.functions[f])
                end = last_end((const ptx_variable *const *)m->functions[f]->variables, m->functions[f]->nvariables, end);
    }
    end_walk(&w);
    return end;
}
