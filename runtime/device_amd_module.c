/* device_amd_module.c - modules of AMD devices: variables, code objects, kernels. See device_amd.h for how they belong together. */
#include <stdlib.h>
#include <string.h>
#include "ptx/lib/fault.h"
#include "runtime/device_amd.h"

/* ------------------------------------------------------------ what a module needs */

static bool insn_takes_address(const ptx_insn *insn)
{
    for (uint32_t k = 0; k < insn->noperands; k++) {
        const ptx_operand *o = &insn->operands[k];
        if (o->kind == ISA_OPERAND_FUNCTION && !o->callee)
            return true;                     /* an indirect call */
        for (uint32_t v = 0; v < o->nvalues; v++)
            if (o->values[v].kind == PTX_VALUE_FUNCTION)
                return true;
    }
    for (uint32_t v = 0; v < insn->nargs; v++)
        if (insn->args[v].kind == PTX_VALUE_FUNCTION)
            return true;
    return false;
}

static bool relocates_function(const ptx_variable *v)
{
    for (uint32_t i = 0; i < v->nrelocations; i++)
        if (v->relocations[i].function)
            return true;
    return false;
}

static bool takes_addresses(const ptx_module *m)
{
    for (uint32_t i = 0; i < m->nvariables; i++)
        if (relocates_function(m->variables[i]))
            return true;
    for (uint32_t f = 0; f < m->nfunctions; f++) {
        for (uint32_t i = 0; i < m->functions[f]->nvariables; i++)
            if (relocates_function(m->functions[f]->variables[i]))
                return true;
        for (uint32_t i = 0; i < m->functions[f]->ninsns; i++)
            if (insn_takes_address(&m->functions[f]->insns[i]))
                return true;
    }
    return false;
}

/* Does anything in the module depend on the mma model? Per module, for it is cheap to be wrong in one direction. */
static bool uses_model(const ptx_module *m)
{
    for (uint32_t f = 0; f < m->nfunctions; f++)
        for (uint32_t i = 0; i < m->functions[f]->ninsns; i++) {
            const ptx_insn *insn = &m->functions[f]->insns[i];
            for (uint32_t k = 0; insn->form && k < insn->form->noperands; k++)
                if (insn->form->operands[k].kind == ISA_OPERAND_MODEL)
                    return true;
        }
    return false;
}

/* ------------------------------------------------------------ variables */

static void walk_variables(const ptx_module *m, void (*visit)(void *user, const ptx_variable *v), void *user)
{
    for (uint32_t i = 0; i < m->nvariables; i++)
        visit(user, m->variables[i]);
    for (uint32_t f = 0; f < m->nfunctions; f++)
        for (uint32_t i = 0; i < m->functions[f]->nvariables; i++)
            visit(user, m->functions[f]->variables[i]);
}

typedef struct placing { amd_module *m; pxb_status status; uint32_t slot; } placing;

/* Is called in the order of the slots. */
static void place(void *user, const ptx_variable *v)
{
    placing *p = user;
    amd_module *m = p->m;
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST && v->space != PTX_SPACE_TEX)
        return;
    uint32_t slot = p->slot++;
    if (p->status || v->linkage == PTX_LINK_EXTERN)
        return;                              /* what another module would define has no address */
    uint64_t align = v->align > 256 ? v->align : 1, size = v->size ? v->size : 8;
    const size_t bytes = (size_t)(size + align - 1);
    const bool shared = v->managed && amd_of(m->device)->backend->alloc_shared;
    p->status = shared ? amd_alloc_shared(m->device, bytes, true, &m->allocations[slot]) : amd_alloc(m->device, bytes, &m->allocations[slot]);
    amd_hold(m->device, m->allocations[slot]);
    m->slots[slot] = (m->allocations[slot] + align - 1) / align * align;
    if (!p->status)
        p->status = amd_set(m->device, m->slots[slot], 0, (size_t)size);
}

static pxb_address address_of(const amd_module *m, const ptx_variable *v)
{
    uint32_t slot = xl_variable_slot(m->ptx, v);
    return slot == UINT32_MAX ? 0 : m->slots[slot];
}

/* Address of a function for memory and the host: what cannot be run has a number, see PXL_NO_FUNCTION. */
static pxb_address function_address(const amd_module *m, const ptx_function *f)
{
    pxb_address address = m->functions ? m->functions[f->index] : 0, number = 16 * ((pxb_address)f->index + 1);
    return address ? address : number < PXL_NO_FUNCTION ? number : 1;
}

static void relocate(const amd_module *m, const ptx_variable *v, uint8_t *bytes)
{
    for (uint32_t k = 0; k < v->nrelocations; k++) {
        const ptx_relocation *r = &v->relocations[k];
        uint64_t address = r->function ? function_address(m, r->function) : 0;
        if (r->variable)
            address = r->variable->space == PTX_SPACE_SHARED || r->variable->space == PTX_SPACE_LOCAL ? r->variable->offset
                                                                                                   : address_of(m, r->variable);
        address = (address + (uint64_t)r->addend) >> r->shift;
        if (r->bytes <= 8 && r->offset + (uint64_t)r->bytes <= v->size)
            memcpy(bytes + r->offset, &address, r->bytes);
    }
}

/* Initial values, once all addresses are known. */
static void initialise(void *user, const ptx_variable *v)
{
    placing *p = user;
    amd_module *m = p->m;
    pxb_address address = address_of(m, v);
    if (p->status || !address || !v->size || (!v->init && !v->nrelocations))
        return;
    uint8_t *bytes = calloc(1, (size_t)v->size);
    if (!bytes) {
        p->status = rt_no_memory(m->device->context);
        return;
    }
    if (v->init)
        memcpy(bytes, v->init, (size_t)v->size);
    relocate(m, v, bytes);
    p->status = amd_write(m->device, address, bytes, (size_t)v->size);
    free(bytes);
}

/* ------------------------------------------------------------ code objects */

static pxb_status give_pointer(pxb_device *device, amd_object *o, const char *symbol, bool *has)
{
    const amd_backend *b = amd_of(device)->backend;
    pxb_address at = b->symbol(device, o->loaded, symbol), address;
    if (has)
        *has = at != 0;
    if (!at)
        return PXB_OK;
    pxb_status status = amd_support(device, symbol, &address);
    return status ? status : b->write(device, at, &address, sizeof address);
}

/* Fills in what the object expects of the host. */
static pxb_status connect(amd_module *m, amd_object *o)
{
    pxb_device *device = m->device;
    const amd_backend *b = amd_of(device)->backend;
    pxb_status status = give_pointer(device, o, "pxb_printf_buffer", &o->prints);
    if (!status)
        status = give_pointer(device, o, "pxb_fault_record", &o->faults);
    if (!status)
        status = give_pointer(device, o, "pxb_heap", NULL);
    if (!status)
        status = give_pointer(device, o, "pxb_textures", NULL);
    pxb_address table = status ? 0 : b->symbol(device, o->loaded, "pxb_variables");
    return table ? b->write(device, table, m->slots, m->nslots * sizeof *m->slots) : status;
}

static void free_object(pxb_device *device, amd_object *o)
{
    if (o->loaded)
        amd_of(device)->backend->unload(device, o->loaded);
    pxb_blob_free(&o->code);
    free(o);
}

/* Takes the blob over. */
static pxb_status load_object(amd_module *m, pxb_blob *code, amd_object **out)
{
    amd_object *o = calloc(1, sizeof *o);
    if (!o) {
        pxb_blob_free(code);
        return rt_no_memory(m->device->context);
    }
    o->code = *code;
    pxb_status status = amd_of(m->device)->backend->load(m->device, o->code.data, o->code.bytes, &o->loaded);
    if (!status)
        status = connect(m, o);
    if (status) {
        free_object(m->device, o);
        return status;
    }
    o->next = m->objects;
    m->objects = o;
    *out = o;
    return PXB_OK;
}

static xl_options options_of(const amd_module *m, uint32_t way, const char *entry)
{
    return (xl_options){.target = amd_of(m->device)->target,
                        .entry = entry,
                        .emit = XL_EMIT_HSACO,
                        .mma_model = way % AMD_FAST,
                        .mma_fast = way >= AMD_FAST,
                        .host_variables = true,
                        .lines = true,
                        .every_line = amd_of(m->device)->backend->names_instructions};
}

static pxb_status read_functions(amd_module *m)
{
    const amd_backend *b = amd_of(m->device)->backend;
    pxb_address table = b->symbol(m->device, m->whole->loaded, "pxb_functions");
    m->functions = calloc((size_t)m->ptx->nfunctions + 1, sizeof *m->functions);
    if (!m->functions)
        return rt_no_memory(m->device->context);
    return table ? b->read(m->device, m->functions, table, m->ptx->nfunctions * sizeof *m->functions) : PXB_OK;
}

static bool calls_left_out(const amd_module *m, const ptx_function *f, uint8_t *seen)
{
    if (m->left_out[f->index] || seen[f->index])
        return m->left_out[f->index];
    seen[f->index] = 1;
    for (uint32_t i = 0; i < f->ninsns; i++)
        for (uint32_t k = 0; k < f->insns[i].noperands; k++) {
            const ptx_operand *o = &f->insns[i].operands[k];
            if (o->kind == ISA_OPERAND_FUNCTION && o->callee && calls_left_out(m, o->callee, seen))
                return true;
        }
    return false;
}

/* A function that cannot be translated. An entry that calls it is left out as well, for its launch is to fail before it begins; another
 * function that calls it faults there, and so does who calls its address (xl_stand_in). */
static pxb_status leave_out(amd_module *m, const ptx_function *f, const char *why)
{
    m->left_out[f->index] = 1;
    m->why[f->index] = strdup(why);
    uint8_t *seen = malloc((size_t)m->ptx->nfunctions + 1);
    for (uint32_t i = 0; i < m->ptx->nfunctions && seen; i++) {
        if (!m->ptx->functions[i]->is_entry || m->left_out[i])
            continue;
        memset(seen, 0, m->ptx->nfunctions);
        if (calls_left_out(m, m->ptx->functions[i], seen))
            m->left_out[i] = 1;
    }
    bool complete = seen && m->why[f->index];
    free(seen);
    return complete ? PXB_OK : rt_no_memory(m->device->context);
}

static pxb_status leave_out_broken(amd_module *m)
{
    if (m->left_out)
        return PXB_OK;
    m->left_out = calloc((size_t)m->ptx->nfunctions + 1, 1);
    m->why = calloc((size_t)m->ptx->nfunctions + 1, sizeof *m->why);
    pxb_status status = m->left_out && m->why ? PXB_OK : rt_no_memory(m->device->context);
    for (uint32_t i = 0; i < m->ptx->nfunctions && !status; i++) {
        const ptx_function *f = m->ptx->functions[i];
        if (f->broken)
            status = leave_out(m, f, f->why ? f->why->message : "the function has errors");
    }
    return status;
}

const char *amd_why_not_called(const amd_module *m, uint64_t target, const char **name)
{
    uint64_t index = target / 16 - 1;
    if (target % 16 || index >= m->ptx->nfunctions || !m->left_out)
        return NULL;
    const ptx_function *f = m->ptx->functions[index];
    *name = f->name;
    if (f->is_declaration)
        return "it is declared, but has no body in this module";
    return m->why[index] ? m->why[index] : "its address cannot be taken on this device, because it may execute exit";
}

/* The whole module as one code object. What cannot be translated is left out and the rest tried again; such an entry fails
 * when it is asked for. */
static pxb_status load_whole(amd_module *m, uint32_t way)
{
    pxb_status status;
    pxb_blob code;
    const ptx_function *failed;
    if (m->whole && m->functions)
        return PXB_OK;
    if (m->whole)
        return read_functions(m);            /* that failed before */
    status = leave_out_broken(m);
    while (!status) {
        xl_options o = options_of(m, way, NULL);
        o.function_table = true;
        o.left_out = m->left_out;
        status = rt_translate(m->device->context, m->ptx, &o, &code, &failed);
        if (!status || !failed || m->left_out[failed->index])
            break;
        status = leave_out(m, failed, pxb_last_error(m->device->context)->reason);
    }
    if (!status)
        status = load_object(m, &code, &m->whole);
    m->whole_way = way;
    return status ? status : read_functions(m);
}

/* ------------------------------------------------------------ modules */

pxb_status amd_module_load(pxb_device *device, const ptx_module *ptx, void **out)
{
    amd_module *m = calloc(1, sizeof *m);
    if (!m)
        return rt_no_memory(device->context);
    m->device = device;
    m->ptx = ptx;
    m->nslots = xl_variable_slots(ptx);
    m->slots = calloc((size_t)m->nslots + 1, sizeof *m->slots);
    m->allocations = calloc((size_t)m->nslots + 1, sizeof *m->allocations);
    m->takes_addresses = takes_addresses(ptx);
    placing p = {m, m->slots && m->allocations ? PXB_OK : rt_no_memory(device->context), 0};
    if (!p.status)
        walk_variables(ptx, place, &p);
    if (!p.status && m->takes_addresses)
        p.status = load_whole(m, PXB_MMA_ADA);
    if (!p.status)
        walk_variables(ptx, initialise, &p);
    if (p.status) {
        amd_module_unload(device, m);
        return p.status;
    }
    *out = m;
    return PXB_OK;
}

void amd_module_unload(pxb_device *device, void *module)
{
    amd_module *m = module;
    while (m->kernels) {
        amd_kernel *next = m->kernels->next;
        free(m->kernels);
        m->kernels = next;
    }
    while (m->objects) {
        amd_object *next = m->objects->next;
        free_object(device, m->objects);
        m->objects = next;
    }
    for (uint32_t i = 0; m->allocations && i < m->nslots; i++)
        if (m->allocations[i])
            amd_free_held(device, m->allocations[i]);
    free(m->slots);
    free(m->allocations);
    free(m->functions);
    for (uint32_t i = 0; m->why && i < m->ptx->nfunctions; i++)
        free(m->why[i]);
    free(m->why);
    free(m->left_out);
    free(m);
}

pxb_status amd_global(pxb_device *device, void *module, const ptx_variable *variable, pxb_address *out)
{
    *out = address_of(module, variable);
    return *out ? PXB_OK
                : rt_fail(device->context, PXB_NOT_FOUND, "variable \"%.200s\" is not on the device", variable->name);
}

pxb_status amd_function(pxb_device *device, void *module, const ptx_function *function, pxb_address *out)
{
    amd_module *m = module;
    pxb_status status = load_whole(m, PXB_MMA_ADA);
    if (status)
        return status;
    *out = m->functions[function->index];
    if (*out)
        return PXB_OK;
    const char *name, *why = function->is_entry ? "it is an entry" : amd_why_not_called(m, function_address(m, function), &name);
    return rt_fail(device->context, PXB_NOT_FOUND, "function \"%.200s\" has no address on this device: %.400s", function->name,
                   why ? why : "the module has too many functions");
}

/* ------------------------------------------------------------ kernels */

enum { SMALL_MODULE = 20000 };

/* Many small kernels: a translation and a link for each would cost more than all of them at once. */
static bool is_small(const ptx_module *m)
{
    uint32_t entries = 0;
    for (uint32_t i = 0; i < m->nfunctions; i++)
        entries += m->functions[i]->is_entry && !m->functions[i]->broken;
    return entries > 1 && m->statements <= SMALL_MODULE;
}

/* Whether the kernel is to be taken from the code object of the whole module. */
static bool use_whole(amd_kernel *k, uint32_t way)
{
    amd_module *m = k->module;
    if (!is_small(m->ptx) || (k->uses_model && m->whole && m->whole_way != way))
        return false;
    if (m->whole_failed)
        return false;
    /* What goes wrong with the others is not this kernel's matter; it is tried once. */
    m->whole_failed = load_whole(m, way) != PXB_OK;
    return !m->whole_failed && !m->left_out[k->function->index];
}

static pxb_status make_variant(amd_kernel *k, uint32_t way, amd_object **object)
{
    amd_module *m = k->module;
    pxb_blob code;
    if (m->takes_addresses && !m->left_out[k->function->index]) {
        if (k->uses_model && m->whole_way != way)
            return rt_fail(m->device->context, PXB_UNSUPPORTED,
                           "kernel \"%.200s\" is in a module that takes addresses of functions; it runs with mma model %s%s only on "
                           "this device", k->function->name, pxb_mma_model_name((pxb_mma_model)(m->whole_way % AMD_FAST)),
                           m->whole_way >= AMD_FAST ? " (fast)" : "");
        *object = m->whole;
        return PXB_OK;
    }
    if (use_whole(k, way)) {
        *object = m->whole;
        return PXB_OK;
    }
    xl_options o = options_of(m, way, k->function->name);
    o.left_out = m->left_out;                /* for addresses alone */
    pxb_status status = rt_translate(m->device->context, m->ptx, &o, &code, NULL);
    return status ? status : load_object(m, &code, object);
}

pxb_status amd_kernel_variant(amd_kernel *k, uint32_t way, amd_object **object, void **loaded)
{
    pxb_device *device = k->module->device;
    uint32_t i = k->uses_model ? way : 0;
    pxb_status status = PXB_OK;
    if (!k->variants[i].object)
        status = make_variant(k, k->uses_model ? way : PXB_MMA_ADA, &k->variants[i].object);
    if (!status && !k->variants[i].kernel)
        status = amd_of(device)->backend->kernel(device, k->variants[i].object->loaded, k->function->name, &k->variants[i].kernel);
    *object = k->variants[i].object;
    *loaded = k->variants[i].kernel;
    return status;
}

/* Addresses of functions are those of the code without records: where they are taken there is no traced code. */
pxb_status amd_kernel_traced(amd_kernel *k, uint32_t way, amd_object **object, void **loaded)
{
    amd_module *m = k->module;
    pxb_device *device = m->device;
    uint32_t i = k->uses_model ? way : 0;
    pxb_status status = PXB_OK;
    if (m->takes_addresses && !m->left_out[k->function->index])
        return rt_fail(device->context, PXB_UNSUPPORTED,
                       "kernel \"%.200s\" cannot be traced on this device: its module takes addresses of functions",
                       k->function->name);
    if (!k->traced[i].object) {
        pxb_blob code;
        xl_options o = options_of(m, k->uses_model ? way : PXB_MMA_ADA, k->function->name);
        o.trace = true;
        status = rt_translate(device->context, m->ptx, &o, &code, NULL);
        if (!status)
            status = load_object(m, &code, &k->traced[i].object);
    }
    if (!status && !k->traced[i].kernel)
        status = amd_of(device)->backend->kernel(device, k->traced[i].object->loaded, k->function->name, &k->traced[i].kernel);
    *object = k->traced[i].object;
    *loaded = k->traced[i].kernel;
    return status;
}

/* The code for the default model is made here, so that what cannot be translated is known before the launch. */
pxb_status amd_kernel_get(pxb_device *device, void *module, const ptx_function *function, void **out)
{
    amd_module *m = module;
    amd_object *object;
    void *loaded;
    for (amd_kernel *k = m->kernels; k; k = k->next)
        if (k->function == function) {
            *out = k;
            return PXB_OK;
        }
    amd_kernel *k = calloc(1, sizeof *k);
    if (!k)
        return rt_no_memory(device->context);
    k->module = m;
    k->function = function;
    k->uses_model = uses_model(m->ptx);
    pxb_status status = amd_kernel_variant(k, PXB_MMA_ADA, &object, &loaded);
    if (status) {
        free(k);
        return status;
    }
    k->next = m->kernels;
    m->kernels = k;
    *out = k;
    return PXB_OK;
}
