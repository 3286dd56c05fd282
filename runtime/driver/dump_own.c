/* dump_own.c - what a dump asks about a launch on our own devices. */
#include <string.h>
#include "runtime/driver/array.h"
#include "runtime/driver/dump.h"
#include "runtime/driver/library.h"
#include "runtime/driver/spy.h"
#include "runtime/driver/texture.h"

/* One dump is made at a time (spy.c). */
static struct {
    dr_dump_source source;
    dr_module *module;
    dr_device *device;
    uint64_t heap, heap_bytes;     /* of kernels' malloc */
} now;

/* The device's operation with errors of this thread, alone where the device wants that. */
#define ON_DEVICE(statement)                                                                                           \
    do {                                                                                                               \
        pxb_device view;                                                                                               \
        dr_device_view(now.device, dr_thread_errors(), &view);                                                         \
        if (!now.device->concurrent)                                                                                   \
            pthread_mutex_lock(&now.device->lock);                                                                     \
        statement;                                                                                                     \
        if (!now.device->concurrent)                                                                                   \
            pthread_mutex_unlock(&now.device->lock);                                                                   \
    } while (0)

static dr_dump_place place(const dr_dump_source *s, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    dr_range r;
    (void)s;
    if (address - now.heap < now.heap_bytes) {
        bool live;
        ON_DEVICE(live = view.ops->heap_block(&view, address, base, bytes));
        *bytes = live ? *bytes : 0;
        return DR_DUMP_HEAP;
    }
    if (!dr_range_find(address, &r) || r.hidden || r.device != now.device)
        return DR_DUMP_NOWHERE;
    if ((r.kind == DR_MEMORY_HOST || r.kind == DR_MEMORY_REGISTERED) && !r.on_device)
        return DR_DUMP_NOWHERE;
    *base = r.base;
    *bytes = r.bytes;
    return r.kind == DR_MEMORY_VARIABLE ? DR_DUMP_VARIABLE : DR_DUMP_MEMORY;
}

static bool read_memory(const dr_dump_source *s, void *to, uint64_t from, uint64_t bytes)
{
    dr_range r;
    (void)s;
    const bool heap = from - now.heap < now.heap_bytes && now.device->host_addresses;
    if (heap || (dr_range_find(from, &r) && (r.kind == DR_MEMORY_REGISTERED || r.kind == DR_MEMORY_MAPPED))) {
        memcpy(to, (const void *)(uintptr_t)from, bytes);
        return true;
    }
    pxb_status status;
    ON_DEVICE(status = view.ops->read(&view, to, from, bytes));
    return status == PXB_OK;
}

static bool find_variable(const dr_dump_source *s, const ptx_variable *v, uint64_t *base, uint64_t *bytes)
{
    (void)s;
    return dr_module_variable(now.module, v->name, base, bytes) == CUABI_SUCCESS;
}

static bool names_function(const ptx_insn *insn)
{
    for (uint32_t o = 0; o < insn->noperands; o++)
        for (uint32_t v = 0; v < insn->operands[o].nvalues; v++)
            if (insn->operands[o].values[v].kind == PTX_VALUE_FUNCTION)
                return true;
    return false;
}

/* Does anything in a module name a function's address, so that memory can hold it? */
static bool takes_addresses(const ptx_module *m)
{
    for (uint32_t i = 0; i < m->nvariables; i++)
        for (uint32_t k = 0; k < m->variables[i]->nrelocations; k++)
            if (m->variables[i]->relocations[k].function)
                return true;
    for (uint32_t i = 0; i < m->nfunctions; i++)
        for (uint32_t k = 0; k < m->functions[i]->ninsns; k++)
            if (names_function(&m->functions[i]->insns[k]))
                return true;
    return false;
}

/* 0 where the device has none for it. */
static pxb_address address_of(const ptx_function *f)
{
    pxb_address at = 0;
    pxb_status status = PXB_NOT_FOUND;
    if (!f->is_entry && !f->is_declaration && !f->broken) {
        pthread_mutex_lock(&now.device->lock);
        status = pxb_function_address(now.device->device, now.module->pxb, f->name, &at);
        pthread_mutex_unlock(&now.device->lock);
    }
    return status ? 0 : at;
}

static const char *find_function(const dr_dump_source *s, uint64_t address)
{
    (void)s;
    for (uint32_t i = 0; i < now.module->ptx->nfunctions; i++)
        if (address && address_of(now.module->ptx->functions[i]) == address)
            return now.module->ptx->functions[i]->name;
    return NULL;
}

static void bound_functions(dr_dump_source *s)
{
    const ptx_module *m = now.module->ptx;
    s->first_function = UINT64_MAX;
    for (uint32_t i = 0; takes_addresses(m) && i < m->nfunctions; i++) {
        pxb_address at = address_of(m->functions[i]);
        s->first_function = at && at < s->first_function ? at : s->first_function;
        s->last_function = at > s->last_function ? at : s->last_function;
    }
}

/* Variables are in the table of ranges once somebody has asked for them. */
static void bound_memory(dr_dump_source *s)
{
    uint64_t base, bytes;
    for (uint32_t i = 0; i < now.module->ptx->nvariables; i++) {
        const ptx_variable *v = now.module->ptx->variables[i];
        if ((v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST) && v->size && v->linkage != PTX_LINK_EXTERN)
            find_variable(s, v, &base, &bytes);
    }
    dr_range_bounds(&s->low, &s->high);
}

static void bound_heap(dr_dump_source *s)
{
    bool has = now.device->device->ops->heap_block != NULL;
    now.heap_bytes = 0;
    if (has)
        ON_DEVICE(has = view.ops->heap_block(&view, 0, &now.heap, &now.heap_bytes));
    if (!has || !now.heap_bytes) {
        now.heap_bytes = 0;
        return;
    }
    s->low = now.heap < s->low ? now.heap : s->low;
    s->high = now.heap + now.heap_bytes > s->high ? now.heap + now.heap_bytes : s->high;
}

static bool find_object(const dr_dump_source *s, uint64_t handle, dr_dump_object *out)
{
    (void)s;
    return dr_texture_object(handle, now.device, out);
}

static bool find_reference(const dr_dump_source *s, const ptx_variable *v, dr_dump_object *out)
{
    (void)s;
    return dr_texref_object(now.module, v, out);
}

static uint32_t count_levels(const dr_dump_source *s, cu_mipmap mipmap)
{
    const dr_mipmap *m = dr_object_of(mipmap, DR_MIPMAP);
    (void)s;
    return m ? m->nlevels : 0;
}

static cu_array find_level(const dr_dump_source *s, cu_mipmap mipmap, uint32_t level)
{
    const dr_mipmap *m = dr_object_of(mipmap, DR_MIPMAP);
    (void)s;
    return m && level < m->nlevels ? (cu_array)m->levels[level] : NULL;
}

static bool describe(const dr_dump_source *s, cu_array array, cu_array3d_desc *out)
{
    const dr_array *a = dr_object_of(array, DR_ARRAY);
    (void)s;
    if (a)
        *out = a->desc;
    return a != NULL;
}

static bool read_texels(const dr_dump_source *s, cu_array array, void *to, uint64_t bytes)
{
    const dr_array *a = dr_object_of(array, DR_ARRAY);
    (void)s;
    if (!a || a->slice * a->layers != bytes)       /* there are no gaps (array.h) */
        return false;
    pxb_status status;
    ON_DEVICE(status = view.ops->read(&view, to, a->base, bytes));
    return status == PXB_OK;
}

const dr_dump_source *dr_dump_own(const dr_launch *l)
{
    dr_module *m = l->function->module;
    now.module = m;
    now.device = m->device;
    now.source = (dr_dump_source){.module = m->ptx, .file = &m->dump_path, .entry = l->function->ptx, .params = l->params,
                                  .shared_bytes = l->shared_bytes, .cooperative = l->cooperative,
                                  .mma_model = pxb_mma_model_name(m->device->mma_model), .place = place, .read = read_memory,
                                  .variable = find_variable, .function = find_function, .object = find_object, .reference = find_reference, .levels = count_levels,
                                  .level = find_level, .describe = describe, .texels = read_texels};
    memcpy(now.source.grid, l->grid, sizeof l->grid);
    memcpy(now.source.block, l->block, sizeof l->block);
    bound_memory(&now.source);
    dr_texture_bounds(&now.source.first_handle, &now.source.last_handle);
    bound_heap(&now.source);
    bound_functions(&now.source);
    return &now.source;
}
