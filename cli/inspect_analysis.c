/* inspect_analysis.c - runs the analyses of one function. */
#include <stdlib.h>
#include "cli/inspect_analysis.h"
#include "ptx/inspect/guess.h"

static bool find_sources(inspection *x)
{
    pti_search search;
    uint32_t n = x->phases.count * PTI_ROLES;
    x->sources = calloc(n + 1, sizeof *x->sources);
    bool ok = pti_begin_search(&x->flow, &x->phases, &x->opcodes, &x->arena, &search) && x->sources;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = pti_sources_of_phase(&search, i / PTI_ROLES, (int)(i % PTI_ROLES), &x->sources[i]);
    pti_end_search(&search);
    return ok;
}

static pti_status find_stored(inspection *x)
{
    pti_search search;
    pti_exchange exchange;
    uint32_t n = x->phases.count * PTI_ROLES;
    x->stored = calloc(n + 1, sizeof *x->stored);
    bool ok = x->stored && pti_begin_search(&x->flow, &x->phases, &x->opcodes, &x->arena, &search);
    ok = pti_find_exchange(x->function, x->addresses, &x->opcodes, &exchange) && ok;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = pti_find_stored(&exchange, &search, &x->sources[i], &x->stored[i]);
    if (x->stored)
        pti_end_search(&search);
    pti_free_exchange(&exchange);
    return ok ? PTI_OK : PTI_MEMORY;
}

pti_status analyse(const ptx_module *m, const ptx_function *f, const pti_launch *launch, inspection *x)
{
    *x = (inspection){.module = m, .function = f, .launch = *launch};
    ptx_arena_init(&x->arena, SIZE_MAX);
    if (!pti_find_statements(m, f, &x->statements))
        return PTI_MEMORY;
    pti_status status = pti_find_flow(f, &x->flow);
    if (status != PTI_OK)
        return status;
    bool ok = pti_find_phases(&x->statements, &x->flow, &x->phases) && pti_find_opcodes(m, f, &x->opcodes) &&
              pti_find_epilogues(&x->statements, &x->phases, &x->opcodes, &x->epilogues) && find_sources(x) &&
              pti_guess_epilogues(&x->statements, &x->flow, &x->phases, &x->opcodes, x->sources, &x->epilogues);
    status = ok ? analyse_memory(x) : PTI_MEMORY;
    return status == PTI_OK ? find_stored(x) : status;
}

void free_analysis(inspection *x)
{
    free_memory_analysis(x);
    free(x->sources);
    free(x->stored);
    pti_free_epilogues(&x->epilogues);
    pti_free_opcodes(&x->opcodes);
    pti_free_phases(&x->phases);
    pti_free_flow(&x->flow);
    pti_free_statements(&x->statements);
    ptx_arena_free(&x->arena);
}
