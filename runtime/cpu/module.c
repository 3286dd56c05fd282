/* module.c - a module on a device: variables and their initial values, addresses of functions, kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/cpu/internal.h"

/* ------------------------------------------------------------ function addresses */

enum { FUNCTION_STEP = 16, MOST_FUNCTIONS = 1 << 20 };

uint64_t cpu_address_of_function(cpu_module *m, const ptx_function *function)
{
    return m->device->code_window + (uint64_t)(m->function_base + function->index) * FUNCTION_STEP;
}

cpu_module *cpu_function_of(cpu_device *d, uint64_t address, const ptx_function **function)
{
    uint64_t number = (address - d->code_window) / FUNCTION_STEP;
    cpu_module *module = NULL;
    pthread_mutex_lock(&d->lock);
    if (address >= d->code_window && address % FUNCTION_STEP == 0 && number < d->nfunctions) {
        module = d->functions[number].module;
        *function = d->functions[number].function;
    }
    pthread_mutex_unlock(&d->lock);
    return module;
}

/* Numbers are not used again: a stale pointer to a function stays an error. */
static bool number_functions(cpu_device *d, cpu_module *m)
{
    bool room = true;
    pthread_mutex_lock(&d->lock);
    uint32_t need = d->nfunctions + m->ptx->nfunctions;
    if (need > MOST_FUNCTIONS)
        room = false;
    else if (need > d->function_capacity) {
        uint32_t capacity = d->function_capacity * 2 > need ? d->function_capacity * 2 : need;
        void *grown = realloc(d->functions, capacity * sizeof *d->functions);
        room = grown != NULL;
        if (room) {
            d->functions = grown;
            d->function_capacity = capacity;
        }
    }
    if (room) {
        m->function_base = d->nfunctions;
        for (uint32_t k = 0; k < m->ptx->nfunctions; k++) {
            d->functions[m->function_base + k].module = m;
            d->functions[m->function_base + k].function = m->ptx->functions[k];
        }
        d->nfunctions = need;
    }
    pthread_mutex_unlock(&d->lock);
    return room;
}

/* ------------------------------------------------------------ variables */

static bool in_memory(const ptx_variable *v)
{
    return (v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST || v->space == PTX_SPACE_TEX) && v->linkage != PTX_LINK_EXTERN;
}

/* All variables that have an address: those of the module and those that functions declare. */
typedef struct place { const ptx_variable *variable; uint64_t address; } place;

static int by_pointer(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const place *)a)->variable, y = (uintptr_t)((const place *)b)->variable;
    return x < y ? -1 : x > y;
}

uint64_t cpu_address_of_variable(cpu_module *m, const ptx_variable *variable)
{
    place key = {variable, 0};
    const place *found = m->nplaces ? bsearch(&key, m->places, m->nplaces, sizeof key, by_pointer) : NULL;
    return found ? found->address : 0;
}

static uint64_t align_of(const ptx_variable *v)
{
    return v->align > 256 ? v->align : v->align < 1 ? 1 : v->align;
}

/* A pass over the variables of one space; the second time addresses are known from `base`. */
static uint64_t lay_out(cpu_module *m, bool constant, uint64_t base, cpu_extent *extents, uint32_t *count)
{
    uint64_t at = 0;
    for (uint32_t k = 0; k < m->nplaces; k++) {
        place *p = &m->places[k];
        if ((p->variable->space == PTX_SPACE_CONST) != constant)
            continue;
        uint64_t align = align_of(p->variable), bytes = p->variable->size ? p->variable->size : 8;
        at = (at + align - 1) / align * align;
        p->address = base + at;
        if (extents)
            extents[(*count)++] = (cpu_extent){p->address, bytes, p->address, bytes};
        at += bytes;
    }
    return at;
}

static bool collect(cpu_module *m)
{
    uint32_t n = 0;
    const ptx_module *x = m->ptx;
    for (uint32_t k = 0; k < x->nvariables; k++)
        n += in_memory(x->variables[k]);
    for (uint32_t f = 0; f < x->nfunctions; f++)
        for (uint32_t k = 0; k < x->functions[f]->nvariables; k++)
            n += in_memory(x->functions[f]->variables[k]);
    m->places = calloc(n + 1, sizeof *m->places);
    if (!m->places)
        return false;
    for (uint32_t k = 0; k < x->nvariables; k++)
        if (in_memory(x->variables[k]))
            m->places[m->nplaces++].variable = x->variables[k];
    for (uint32_t f = 0; f < x->nfunctions; f++)
        for (uint32_t k = 0; k < x->functions[f]->nvariables; k++)
            if (in_memory(x->functions[f]->variables[k]))
                m->places[m->nplaces++].variable = x->functions[f]->variables[k];
    return true;
}

static void relocate(cpu_module *m, const place *p)
{
    const ptx_variable *v = p->variable;
    for (uint32_t k = 0; k < v->nrelocations; k++) {
        const ptx_relocation *r = &v->relocations[k];
        uint64_t address = r->function ? cpu_address_of_function(m, r->function) : 0;
        if (r->variable)
            address = r->variable->space == PTX_SPACE_SHARED || r->variable->space == PTX_SPACE_LOCAL ? r->variable->offset
                                                                                                 : cpu_address_of_variable(m, r->variable);
        address = (address + (uint64_t)r->addend) >> r->shift;
        if (r->offset + (uint64_t)r->bytes <= v->size && r->bytes <= 8)
            memcpy((char *)(uintptr_t)p->address + r->offset, &address, r->bytes);
    }
}

static bool place_space(cpu_module *m, bool constant, cpu_extent *extents, uint32_t *count)
{
    cpu_device *d = m->device;
    uint64_t bytes = lay_out(m, constant, 0, NULL, NULL), *base = constant ? &m->constants : &m->globals;
    if (bytes == 0)
        return true;
    /* 256 more, so that the base can be aligned to what a variable asks for above the 256 of allocations. */
    uint64_t most = 256;
    for (uint32_t k = 0; k < m->nplaces; k++)
        most = align_of(m->places[k].variable) > most ? align_of(m->places[k].variable) : most;
    pthread_mutex_lock(&d->lock);
    *base = cpu_region_alloc(constant ? &d->constant : &d->global, most > 256 ? bytes + most : bytes);
    pthread_mutex_unlock(&d->lock);
    if (*base == 0)
        return false;
    lay_out(m, constant, (*base + most - 1) / most * most, extents, count);
    return true;
}

static bool place_variables(cpu_module *m)
{
    uint32_t count = 0;
    if (!collect(m))
        return false;
    cpu_extent *extents = calloc(m->nplaces + 1, sizeof *extents);
    bool done = extents && place_space(m, false, extents, &count);
    if (done) {
        done = cpu_variables_add(m->device, extents, count);
        count = 0;
        done = done && place_space(m, true, extents, &count) && cpu_variables_add(m->device, extents, count);
    }
    free(extents);
    if (!done)
        return false;
    qsort(m->places, m->nplaces, sizeof *m->places, by_pointer);
    for (uint32_t k = 0; k < m->nplaces; k++) {
        const ptx_variable *v = m->places[k].variable;
        if (v->init && v->size)
            memcpy((void *)(uintptr_t)m->places[k].address, v->init, v->size);
        relocate(m, &m->places[k]);
    }
    return true;
}

/* ------------------------------------------------------------ modules */

cpu_module *cpu_module_load(cpu_device *d, const ptx_module *ptx, cpu_error *error)
{
    cpu_module *m = calloc(1, sizeof *m);
    if (!m) {
        cpu_error_set(error, CPU_NO_MEMORY, "out of memory");
        return NULL;
    }
    m->device = d;
    m->ptx = ptx;
    pthread_mutex_init(&m->lock, NULL);
    m->codes = calloc(2 * ptx->nfunctions + 1, sizeof *m->codes);
    m->kernels = calloc(ptx->nfunctions + 1, sizeof *m->kernels);
    if (m->codes && m->kernels && number_functions(d, m) && place_variables(m))
        return m;
    cpu_error_set(error, CPU_NO_MEMORY, "no room for the variables of %s", ptx->file ? ptx->file : "the module");
    cpu_module_unload(m);
    return NULL;
}

void cpu_module_unload(cpu_module *m)
{
    if (!m)
        return;
    cpu_device *d = m->device;
    pthread_mutex_lock(&d->launch_lock);
    cpu_variables_remove(d, false, m->globals);
    cpu_variables_remove(d, true, m->constants);
    pthread_mutex_lock(&d->lock);
    if (m->globals)
        cpu_region_free(&d->global, m->globals);
    if (m->constants)
        cpu_region_free(&d->constant, m->constants);
    for (uint32_t k = 0; k < d->nfunctions; k++)
        if (d->functions[k].module == m)
            d->functions[k].module = NULL;
    pthread_mutex_unlock(&d->lock);
    for (uint32_t k = 0; m->codes && k < 2 * m->ptx->nfunctions; k++)
        cpu_code_free(m->codes[k]);
    free(m->codes);
    free(m->kernels);
    free(m->places);
    pthread_mutex_unlock(&d->launch_lock);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

uint64_t cpu_variable(cpu_module *m, const char *name, uint64_t *bytes)
{
    const ptx_variable *v = ptx_find_variable(m->ptx, name);
    uint64_t address = v ? cpu_address_of_variable(m, v) : 0;
    if (address && bytes)
        *bytes = v->size;
    return address;
}

uint64_t cpu_function_address(cpu_module *m, const char *name)
{
    const ptx_function *f = ptx_find_function(m->ptx, name);
    return f ? cpu_address_of_function(m, f) : 0;
}

/* ------------------------------------------------------------ kernels */

/* Decodes a function and what it calls directly, so that what cannot run is found before a launch. */
static cpu_code *decode_closure(cpu_module *m, const ptx_function *f, uint8_t *seen, cpu_error *error)
{
    cpu_code *code = cpu_code_of(m, f, false, error);
    if (!code || seen[f->index])
        return code;
    seen[f->index] = 1;
    for (uint32_t k = 0; k < code->ninsns; k++) {
        if (code->insns[k].kind != CPU_K_CALL)
            continue;
        const cpu_call *call = code->insns[k].extra;
        if (call->callee && !call->builtin && !decode_closure(m, call->callee, seen, error))
            return NULL;
    }
    return code;
}

cpu_kernel *cpu_kernel_get(cpu_module *m, const char *name, cpu_error *error)
{
    const ptx_function *f = ptx_find_function(m->ptx, name);
    cpu_error unused;
    if (!error)
        error = &unused;
    if (!f || !f->is_entry) {
        cpu_error_set(error, CPU_NOT_FOUND, f ? "%s is a function, not an entry" : "there is no entry %s", name);
        return NULL;
    }
    cpu_kernel *kernel = &m->kernels[f->index];
    uint8_t *seen = calloc(m->ptx->nfunctions + 1, 1);
    cpu_code *code = NULL;
    if (seen)
        code = decode_closure(m, f, seen, error);
    else
        cpu_error_set(error, CPU_NO_MEMORY, "out of memory");
    free(seen);
    if (!code) {
        snprintf(error->kernel, sizeof error->kernel, "%s", name);
        return NULL;
    }
    pthread_mutex_lock(&m->lock);
    kernel->module = m;
    kernel->function = f;
    kernel->code = code;
    bool itself;
    kernel->static_shared = ptx_shared_of(m->ptx, f, f, &itself);
    kernel->shared_end = ptx_shared_end(m->ptx, f);
    pthread_mutex_unlock(&m->lock);
    return kernel;
}

void cpu_kernel_describe(const cpu_kernel *k, cpu_kernel_info *info)
{
    *info = (cpu_kernel_info){.param_bytes = k->function->param_size, .static_shared = k->module->ptx->shared_size,
                              .local_bytes = k->code->local_bytes, .instructions = k->code->ninsns, .slot_bytes = k->code->file_bytes,
                              .constant_bytes = k->code->constant_bytes, .decode_ms = k->code->decode_ms};
}
