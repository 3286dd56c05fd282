/* stored.c - from loads of shared memory back to the stores, by barriers and variables. */
#include "ptx/inspect/stored.h"

#include <stdlib.h>
#include <string.h>
#include "ptx/inspect/flow_internal.h"

/* All searches of a function look at most at this many stores for each instruction of it. */
enum { STORES_PER_INSTRUCTION = 64 };

static bool is_barrier(const ptx_insn *insn)
{
    return insn->operation && (strcmp(insn->operation, "bar") == 0 || strcmp(insn->operation, "bar_warp") == 0);
}

bool pti_find_exchange(const ptx_function *f, const pti_addresses *addresses, const pti_opcodes *opcodes, pti_exchange *out)
{
    *out = (pti_exchange){.addresses = addresses, .opcodes = opcodes, .budget = STORES_PER_INSTRUCTION * (uint64_t)f->ninsns};
    ptx_arena_init(&out->arena, SIZE_MAX);
    out->stores = pti_take(&out->arena, addresses->count, sizeof *out->stores);
    out->taken = pti_take(&out->arena, addresses->count, 1);
    out->barriers = pti_take(&out->arena, f->ninsns, sizeof *out->barriers);
    if (!out->stores || !out->taken || !out->barriers)
        return false;
    for (uint32_t i = 0; i < addresses->count; i++)
        if (addresses->list[i].space == PTX_SPACE_SHARED && addresses->list[i].writes)
            out->stores[out->nstores++] = i;
    for (uint32_t i = 0; i < f->ninsns; i++)
        if (is_barrier(&f->insns[i]))
            out->barriers[out->nbarriers++] = i;
    return true;
}

void pti_free_exchange(pti_exchange *x)
{
    ptx_arena_free(&x->arena);
    *x = (pti_exchange){0};
}

/* How many barriers stand before an instruction: the number of its interval. */
static uint32_t interval_of(const pti_exchange *x, uint32_t insn)
{
    uint32_t low = 0, high = x->nbarriers;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->barriers[middle] < insn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many stores stand before an instruction. */
static uint32_t stores_before(const pti_exchange *x, uint32_t insn)
{
    uint32_t low = 0, high = x->nstores;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (x->addresses->list[x->stores[middle]].insn < insn)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool may_meet(const pti_access *store, const pti_access *load)
{
    if (store->base != load->base)
        return false;
    return !store->computed || !load->computed || (store->low < load->high && load->low < store->high);
}

/* Marks the stores that a load reads. Those of its own interval count only when there is no barrier before it. */
static bool mark_stores(pti_exchange *x, const pti_access *load)
{
    uint32_t own = interval_of(x, load->insn), found = PTI_NONE;
    uint32_t i = stores_before(x, own ? x->barriers[own - 1] : load->insn);
    for (; i-- > 0 && x->budget; x->budget--) {
        const pti_access *store = &x->addresses->list[x->stores[i]];
        uint32_t interval = interval_of(x, store->insn);
        if (found != PTI_NONE && interval != found)
            break;
        if (!may_meet(store, load))
            continue;
        x->taken[i] = 1;
        found = interval;
    }
    return found != PTI_NONE;
}

/* The registers that a store takes its data from. */
static uint32_t data_of(const pti_flow *flow, uint32_t insn, uint32_t *values, uint32_t n)
{
    const ptx_insn *i = &flow->function->insns[insn];
    for (uint32_t k = 0; k < i->noperands; k++)
        for (uint32_t j = 0; i->operands[k].kind != ISA_OPERAND_ADDRESS && j < i->operands[k].nvalues; j++)
            if (i->operands[k].values[j].kind == PTX_VALUE_REG)
                values[n++] = pti_value_read(flow, insn, i->operands[k].values[j].reg);
    return n;
}

static uint32_t count_data(const pti_flow *flow, uint32_t insn)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < flow->function->insns[insn].noperands; k++)
        n += flow->function->insns[insn].operands[k].nvalues;
    return n;
}

/* Copies are loads of what is stored, beside the roots of the data. */
static bool add_copies(pti_exchange *x, pti_search *search, pti_stored *out)
{
    uint32_t n = out->data.nroots, more = 0;
    for (uint32_t i = 0; i < out->nstores; i++)
        more += x->opcodes->list[x->opcodes->of_insn[out->stores[i]]].work == PTI_WORK_ASYNC;
    if (!more)
        return true;
    pti_root *roots = ptx_arena_alloc(search->arena, (n + more) * sizeof *roots, 8);
    if (!roots)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < out->nstores; i++)
        if (x->opcodes->list[x->opcodes->of_insn[out->stores[i]]].work == PTI_WORK_ASYNC)
            roots[at++] = (pti_root){PTI_ORIGIN_LOAD, out->stores[i]};
    memcpy(roots + at, out->data.roots, n * sizeof *roots);
    out->data.roots = roots;
    out->data.nroots = n + at;
    return true;
}

static bool find_data(pti_exchange *x, pti_search *search, pti_stored *out)
{
    size_t room = 0;
    uint32_t n = 0, *values;
    for (uint32_t i = 0; i < out->nstores; i++)
        room += count_data(search->flow, out->stores[i]);
    if (!(values = malloc((room + 1) * sizeof *values)))
        return false;
    for (uint32_t i = 0; i < out->nstores; i++)
        if (x->opcodes->list[x->opcodes->of_insn[out->stores[i]]].work != PTI_WORK_ASYNC)
            n = data_of(search->flow, out->stores[i], values, n);
    bool ok = pti_find_sources(search, values, n, &out->data) && add_copies(x, search, out);
    free(values);
    return ok;
}

bool pti_find_stored(pti_exchange *x, pti_search *search, const pti_sources *from, pti_stored *out)
{
    *out = (pti_stored){0};
    if (!x->nstores)
        return true;
    for (uint32_t i = 0; i < from->nroots; i++) {
        uint32_t access = from->roots[i].kind == PTI_ORIGIN_LOAD ? pti_access_of_insn(x->addresses, from->roots[i].at) : PTI_NONE;
        if (access != PTI_NONE && x->addresses->list[access].space == PTX_SPACE_SHARED && x->addresses->list[access].reads)
            out->nloads += mark_stores(x, &x->addresses->list[access]);
    }
    if (!out->nloads)
        return true;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->nstores; i++)
        n += x->taken[i];
    x->budget -= x->budget < x->nstores ? x->budget : x->nstores;
    if (!(out->stores = ptx_arena_alloc(search->arena, n * sizeof *out->stores, 8)))
        return false;
    for (uint32_t i = 0; i < x->nstores; i++) {
        uint32_t insn = x->addresses->list[x->stores[i]].insn;
        if (x->taken[i] && (out->nstores == 0 || out->stores[out->nstores - 1] != insn))
            out->stores[out->nstores++] = insn;
        x->taken[i] = 0;
    }
    return find_data(x, search, out);
}
