/* module.c - modules and their functions: cuModule…, cuFunc…. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/image.h"
#include "runtime/driver/library.h"
#include "runtime/driver/limits.h"

/* ------------------------------------------------------------ making and ending */

cu_result dr_module_new(dr_context *c, ptx_module *ptx, bool owns, dr_module **out)
{
    dr_module *m = dr_object_new(DR_MODULE, sizeof *m);
    *out = NULL;
    if (m) {
        m->functions = calloc(ptx->nfunctions + 1, sizeof(*m->functions));
        m->variables = calloc(ptx->nvariables + 1, sizeof(*m->variables));
    }
    pthread_mutex_lock(&c->device->lock);
    pxb_status status = m && m->functions && m->variables ? rt_module_wrap(c->device->pxb, ptx, owns, &m->pxb) : PXB_OUT_OF_MEMORY;
    pthread_mutex_unlock(&c->device->lock);
    if (status) {
        if (m) {
            free(m->functions);
            free(m->variables);
        }
        dr_object_free(m, DR_MODULE);
        if (owns)
            ptx_module_free(ptx);
        return dr_result(status);
    }
    m->context = c;
    m->device = c->device;
    m->ptx = ptx;
    pthread_mutex_lock(&dr_lock);
    m->next = c->modules;
    c->modules = m;
    pthread_mutex_unlock(&dr_lock);
    *out = m;
    return CUABI_SUCCESS;
}

static void free_function(dr_function *f)
{
    if (!f)
        return;
    free(f->old_params);
    dr_object_free(f, DR_FUNCTION);
}

void dr_module_free(dr_module *m)
{
    pthread_mutex_lock(&dr_lock);
    for (dr_module **p = &m->context->modules; *p; p = &(*p)->next) {
        if (*p == m) {
            *p = m->next;
            break;
        }
    }
    if (m->library)
        dr_library_lose(m);
    pthread_mutex_unlock(&dr_lock);
    dr_texrefs_free(m);
    for (uint32_t i = 0; i < m->nvariables; i++)
        dr_range_remove(m->variables[i]);
    for (uint32_t i = 0; i < m->ptx->nfunctions; i++)
        free_function(m->functions[i]);
    free(m->functions);
    free(m->variables);
    free(m->dump_path);
    pthread_mutex_lock(&m->device->lock);
    pxb_module_free(m->pxb);
    pthread_mutex_unlock(&m->device->lock);
    dr_object_free(m, DR_MODULE);
}

/* ------------------------------------------------------------ shared memory of a kernel */

typedef struct usage { const ptx_module *module; bool *functions, *variables; uint64_t bytes; } usage;

static void use_variable(usage *u, const ptx_variable *v)
{
    if (!v || v->space != PTX_SPACE_SHARED || v->size == 0)
        return;
    if (!v->owner) {
        if (u->variables[v->index])
            return;
        u->variables[v->index] = true;
    }
    uint64_t align = v->align ? v->align : 1;
    u->bytes = (u->bytes + align - 1) / align * align + v->size;
}

static void use_function(usage *u, const ptx_function *f);

static void use_operand(usage *u, const ptx_operand *o)
{
    for (uint32_t i = 0; i < o->nvalues; i++) {
        if (o->values[i].kind == PTX_VALUE_VARIABLE && o->values[i].variable && !o->values[i].variable->owner)
            use_variable(u, o->values[i].variable);
        if (o->values[i].kind == PTX_VALUE_FUNCTION && o->values[i].function)
            use_function(u, o->values[i].function);
    }
    if ((o->kind == ISA_OPERAND_ADDRESS || o->kind == ISA_OPERAND_TEXTURE) && o->address.base == PTX_BASE_VARIABLE && o->address.variable &&
        !o->address.variable->owner)
        use_variable(u, o->address.variable);
    if (o->kind == ISA_OPERAND_FUNCTION && o->callee)
        use_function(u, o->callee);
}

static void use_function(usage *u, const ptx_function *f)
{
    if (u->functions[f->index])
        return;
    u->functions[f->index] = true;
    for (uint32_t i = 0; i < f->nvariables; i++)
        use_variable(u, f->variables[i]);
    for (uint32_t i = 0; i < f->ninsns; i++)
        for (uint8_t k = 0; k < f->insns[i].noperands; k++)
            use_operand(u, &f->insns[i].operands[k]);
}

static uint64_t static_shared(const ptx_module *m, const ptx_function *f)
{
    usage u = {.module = m, .functions = calloc(m->nfunctions + 1, 1), .variables = calloc(m->nvariables + 1, 1)};
    if (u.functions && u.variables)
        use_function(&u, f);
    free(u.functions);
    free(u.variables);
    return u.bytes;
}

/* ------------------------------------------------------------ functions */

void dr_function_init(dr_function *f, dr_module *m, const ptx_function *ptx)
{
    memset((char *)f + sizeof f->head, 0, sizeof *f - sizeof f->head);
    f->module = m;
    f->ptx = ptx;
    f->carveout = -1;
    f->static_shared = static_shared(m->ptx, ptx);
    f->max_dynamic_shared = f->static_shared < DR_SHARED_DEFAULT ? (int32_t)(DR_SHARED_DEFAULT - f->static_shared) : 0;
}

cu_result dr_module_function(dr_module *m, const char *name, dr_function **out)
{
    const ptx_function *ptx = ptx_find_function(m->ptx, name);
    *out = NULL;
    if (!ptx || !ptx->is_entry || ptx->is_declaration)
        return dr_fail(DR_ERROR(NOT_FOUND), "there is no kernel \"%.300s\" in this module", name);
    *out = atomic_load_explicit(&m->functions[ptx->index], memory_order_acquire);
    if (*out)
        return CUABI_SUCCESS;
    dr_function *made = dr_object_new(DR_FUNCTION, sizeof *made), *first = NULL;
    if (!made)
        return DR_ERROR(OUT_OF_MEMORY);
    dr_function_init(made, m, ptx);
    if (!atomic_compare_exchange_strong(&m->functions[ptx->index], &first, made)) {
        dr_object_free(made, DR_FUNCTION);     /* another thread was first */
        made = first;
    }
    *out = made;
    return CUABI_SUCCESS;
}

cu_result dr_function_load(dr_function *f)
{
    if (atomic_load_explicit(&f->kernel, memory_order_acquire))
        return CUABI_SUCCESS;
    dr_device *d = f->module->device;
    pxb_kernel *kernel = NULL;
    pthread_mutex_lock(&d->lock);
    pxb_status status = pxb_kernel_get(d->device, f->module->pxb, f->ptx->name, &kernel);
    cu_result result = dr_fail_pxb(d->pxb, status, "kernel");
    pthread_mutex_unlock(&d->lock);
    if (!result)
        atomic_store_explicit(&f->kernel, kernel, memory_order_release);
    return result;
}

cu_result dr_function_of(const void *handle, dr_context *c, dr_function **out)
{
    *out = NULL;
    if (!handle)
        return DR_ERROR(INVALID_HANDLE);
    dr_kind kind = dr_kind_of(handle);
    if (kind == DR_KERNEL)
        return dr_kernel_function((struct dr_kernel *)(uintptr_t)handle, c, out);
    if (kind != DR_FUNCTION)
        return DR_ERROR(INVALID_HANDLE);
    *out = (dr_function *)(uintptr_t)handle;
    return CUABI_SUCCESS;
}

cu_result dr_module_variable(dr_module *m, const char *name, uint64_t *address, uint64_t *bytes)
{
    dr_device *d = m->device;
    const ptx_variable *v = ptx_find_variable(m->ptx, name);
    size_t size = 0;
    if (!v || (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST))
        return dr_fail(DR_ERROR(NOT_FOUND), "there is no variable \"%.300s\" in this module", name);
    pthread_mutex_lock(&d->lock);
    pxb_status status = pxb_global_get(d->device, m->pxb, name, address, &size);
    cu_result result = dr_fail_pxb(d->pxb, status, "variable");
    pthread_mutex_unlock(&d->lock);
    if (result)
        return result;
    *bytes = size;
    /* From now on it is memory that the program knows. */
    dr_range range = {.base = *address, .bytes = size, .kind = DR_MEMORY_VARIABLE, .context = m->context, .device = d,
                      .flags = v->managed, .on_device = true}, known;
    if (size && !dr_range_find(*address, &known) && dr_range_add(&range) == CUABI_SUCCESS) {
        pthread_mutex_lock(&dr_lock);
        m->variables[m->nvariables++] = *address;
        pthread_mutex_unlock(&dr_lock);
    }
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ cuModule… */

static cu_result load(cu_module *module, const void *image, size_t bytes, dr_jit *jit)
{
    DR_NEED(module && image);
    DR_USE(c);
    ptx_module *ptx;
    dr_module *m;
    cu_result result = dr_image_parse(image, bytes, c->device->capability, jit, &ptx);
    if (!result)
        result = dr_module_new(c, ptx, true, &m);
    if (!result)
        *module = m;
    return result;
}

cu_result impl_cuModuleLoadData(cu_module *module, const void *image)
{
    return load(module, image, 0, NULL);
}

cu_result impl_cuModuleLoadFatBinary(cu_module *module, const void *image)
{
    return load(module, image, 0, NULL);
}

cu_result impl_cuModuleLoadDataEx(cu_module *module, const void *image, uint32_t option_count, int32_t *options, void **values)
{
    dr_jit jit;
    cu_result result = dr_jit_read(&jit, option_count, options, values);
    return result ? result : load(module, image, 0, &jit);
}

/* A whole file, with a NUL behind it. */
cu_result dr_read_file(const char *path, char **out, size_t *bytes)
{
    pxb_context *errors = dr_thread_errors();
    pxb_status status = rt_read_file(errors, path, (uint64_t)1 << 30, out, bytes);
    return status ? dr_fail(DR_ERROR(FILE_NOT_FOUND), "%s", pxb_last_error(errors)->message) : CUABI_SUCCESS;
}

cu_result impl_cuModuleLoad(cu_module *module, const char *path)
{
    char *image;
    size_t bytes;
    DR_NEED(module && path);
    cu_result result = dr_read_file(path, &image, &bytes);
    if (result)
        return result;
    result = bytes ? load(module, image, bytes, NULL) : DR_ERROR(INVALID_IMAGE);
    free(image);
    return result;
}

cu_result impl_cuModuleUnload(cu_module module)
{
    dr_module *m = dr_object_of(module, DR_MODULE);
    if (!m)
        return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE);
    if (m->library)
        return DR_ERROR(NOT_PERMITTED);
    dr_context_wait(m->context);
    dr_module_free(m);
    return CUABI_SUCCESS;
}

#define USE_MODULE(m, handle)                                                                                          \
    DR_USE(m##_context_);                                                                                              \
    dr_module *m = dr_object_of(handle, DR_MODULE);                                                                    \
    if (!m)                                                                                                            \
    return DR_ERROR(INVALID_HANDLE)

cu_result impl_cuModuleGetFunction(cu_function *function, cu_module module, const char *name)
{
    DR_NEED(function && name);
    USE_MODULE(m, module);
    dr_function *f;
    cu_result result = dr_module_function(m, name, &f);
    if (!result && f->ptx->broken != PTX_REASON_NONE)
        result = dr_function_load(f);  /* says why */
    if (!result)
        *function = f;
    return result;
}

cu_result impl_cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module module, const char *name)
{
    DR_NEED(name && (address || bytes));
    USE_MODULE(m, module);
    uint64_t at, size;
    cu_result result = dr_module_variable(m, name, &at, &size);
    if (result)
        return result;
    if (address)
        *address = at;
    if (bytes)
        *bytes = size;
    return CUABI_SUCCESS;
}

cu_result impl_cuModuleGetLoadingMode(int32_t *mode)
{
    DR_NEED(mode);
    *mode = 2;                         /* lazy: kernels are prepared when they are first launched */
    return dr_ready();
}

cu_result impl_cuModuleGetFunctionCount(uint32_t *count, cu_module module)
{
    DR_NEED(count);
    USE_MODULE(m, module);
    *count = 0;
    for (uint32_t i = 0; i < m->ptx->nfunctions; i++)
        *count += m->ptx->functions[i]->is_entry && !m->ptx->functions[i]->is_declaration;
    return CUABI_SUCCESS;
}

cu_result impl_cuModuleEnumerateFunctions(cu_function *functions, uint32_t num_functions, cu_module module)
{
    DR_NEED(functions);
    USE_MODULE(m, module);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->ptx->nfunctions && n < num_functions; i++) {
        const ptx_function *f = m->ptx->functions[i];
        dr_function *made;
        if (!f->is_entry || f->is_declaration)
            continue;
        cu_result result = dr_module_function(m, f->name, &made);
        if (result)
            return result;
        functions[n++] = made;
    }
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ cuFunc… */

#define USE_FUNCTION(f, handle)                                                                                        \
    DR_USE(f##_context_);                                                                                              \
    dr_function *f;                                                                                                    \
    cu_result f##_result_ = dr_function_of(handle, f##_context_, &f);                                                  \
    if (f##_result_)                                                                                                   \
    return f##_result_

uint32_t dr_function_max_threads(const dr_function *f)
{
    const uint32_t *most = f->ptx->reqntid[0] ? f->ptx->reqntid : f->ptx->maxntid;
    uint64_t n = 1;
    if (!most[0])
        return DR_MAX_THREADS;
    for (int i = 0; i < 3; i++)
        n *= most[i] ? most[i] : 1;
    return n < DR_MAX_THREADS ? (uint32_t)n : DR_MAX_THREADS;
}

/* The engines have no register files that limit; a number that compilers often reach keeps occupancy plausible. */
uint32_t dr_function_registers(const dr_function *f)
{
    uint32_t most = f->ptx->maxnreg ? f->ptx->maxnreg : 64, threads = dr_function_max_threads(f);
    uint32_t some = f->ptx->nregisters < 16 ? 16 : f->ptx->nregisters;
    some = some > 40 ? 40 : (some + 7) & ~7u;
    while (some > 16 && (uint64_t)some * threads > DR_REGISTERS)
        some -= 8;
    return some < most ? some : most;
}

cu_result dr_function_attribute(const dr_function *f, int32_t attribute, int *value)
{
    const ptx_function *p = f->ptx;
    switch (attribute) {
    case CUABI_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)dr_function_max_threads(f); break;
    case CUABI_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)f->static_shared; break;
    case CUABI_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < f->module->ptx->nvariables; i++)
            bytes += f->module->ptx->variables[i]->space == PTX_SPACE_CONST ? f->module->ptx->variables[i]->size : 0;
        *value = (int)bytes;
        break;
    }
    case CUABI_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)p->local_size; break;
    case CUABI_CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)dr_function_registers(f); break;
    case CUABI_CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = f->module->ptx->sm; break;
    case CUABI_CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = f->module->device->capability; break;
    case CUABI_CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CUABI_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = f->max_dynamic_shared; break;
    case CUABI_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CUABI_CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = p->explicit_cluster && !p->reqnctapercluster[0]; break;
    case CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + 1:
    case CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        int i = attribute - CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
        *value = p->reqnctapercluster[i] ? (int)p->reqnctapercluster[i] : f->cluster[i];
        break;
    }
    case CUABI_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->cluster_any; break;
    case CUABI_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = f->cluster_policy; break;
    default: return DR_ERROR(INVALID_VALUE);
    }
    return CUABI_SUCCESS;
}

cu_result dr_function_set_attribute(dr_function *f, int32_t attribute, int value)
{
    switch (attribute) {
    case CUABI_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (uint64_t)value + f->static_shared > DR_SHARED_OPTIN)
            return DR_ERROR(INVALID_VALUE);
        f->max_dynamic_shared = value;
        break;
    case CUABI_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return DR_ERROR(INVALID_VALUE);
        f->carveout = value;
        break;
    case CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + 1:
    case CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (value < 0)
            return DR_ERROR(INVALID_VALUE);
        f->cluster[attribute - CUABI_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = value;
        break;
    case CUABI_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->cluster_any = value != 0; break;
    case CUABI_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: f->cluster_policy = value; break;
    default: return DR_ERROR(INVALID_VALUE);
    }
    return CUABI_SUCCESS;
}

cu_result dr_function_param(const ptx_function *f, size_t index, size_t *offset, size_t *size)
{
    if (index >= f->prototype.nparams)
        return DR_ERROR(INVALID_VALUE);
    if (offset)
        *offset = (size_t)f->prototype.params[index]->offset;
    if (size)
        *size = (size_t)f->prototype.params[index]->size;
    return CUABI_SUCCESS;
}

cu_result impl_cuFuncGetAttribute(int *value, int32_t attribute, cu_function function)
{
    DR_NEED(value);
    USE_FUNCTION(f, function);
    return dr_function_attribute(f, attribute, value);
}

cu_result impl_cuFuncSetAttribute(cu_function function, int32_t attribute, int value)
{
    USE_FUNCTION(f, function);
    return dr_function_set_attribute(f, attribute, value);
}

cu_result impl_cuFuncSetCacheConfig(cu_function function, int32_t config)
{
    USE_FUNCTION(f, function);
    return config < 0 || config > 3 ? DR_ERROR(INVALID_VALUE) : CUABI_SUCCESS;
}

cu_result impl_cuFuncSetSharedMemConfig(cu_function function, int32_t config)
{
    USE_FUNCTION(f, function);
    return config < 0 || config > 2 ? DR_ERROR(INVALID_VALUE) : CUABI_SUCCESS;
}

cu_result impl_cuFuncGetModule(cu_module *module, cu_function function)
{
    DR_NEED(module);
    USE_FUNCTION(f, function);
    *module = f->module;
    return CUABI_SUCCESS;
}

cu_result impl_cuFuncGetName(const char **name, cu_function function)
{
    DR_NEED(name);
    USE_FUNCTION(f, function);
    *name = f->ptx->name;
    return CUABI_SUCCESS;
}

cu_result impl_cuFuncGetParamInfo(cu_function function, size_t param_index, size_t *param_offset, size_t *param_size)
{
    DR_NEED(param_offset);
    USE_FUNCTION(f, function);
    return dr_function_param(f->ptx, param_index, param_offset, param_size);
}

cu_result impl_cuFuncIsLoaded(int32_t *state, cu_function function)
{
    DR_NEED(state);
    USE_FUNCTION(f, function);
    *state = atomic_load(&f->kernel) != NULL;
    return CUABI_SUCCESS;
}

cu_result impl_cuFuncLoad(cu_function function)
{
    USE_FUNCTION(f, function);
    return dr_function_load(f);
}
