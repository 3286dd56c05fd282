/* library.c - cuLibrary… and cuKernel…: code that belongs to no context. A library is parsed once; in each context in which one of
 * its kernels or variables is used it is a module over the same parsed text. */
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"
#include "runtime/driver/image.h"
#include "runtime/driver/library.h"

struct dr_library {
    dr_object head;
    ptx_module *ptx;
    dr_kernel **kernels;           /* by function index, made when asked for */
    dr_module *modules;            /* by context; chained by next_of_library */
};

/* One thread at a time brings a library into a context. */
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

static dr_module *module_in(struct dr_library *l, const dr_context *c)
{
    pthread_mutex_lock(&dr_lock);
    dr_module *m = l->modules;
    while (m && m->context != c)
        m = m->next_of_library;
    pthread_mutex_unlock(&dr_lock);
    return m;
}

static cu_result library_module(struct dr_library *l, dr_context *c, dr_module **out)
{
    cu_result result = CUABI_SUCCESS;
    *out = module_in(l, c);
    if (*out)
        return result;
    pthread_mutex_lock(&library_lock);
    *out = module_in(l, c);
    if (!*out)
        result = dr_module_new(c, l->ptx, false, out);
    if (*out && !(*out)->library) {
        pthread_mutex_lock(&dr_lock);
        (*out)->library = l;
        (*out)->next_of_library = l->modules;
        l->modules = *out;
        pthread_mutex_unlock(&dr_lock);
    }
    pthread_mutex_unlock(&library_lock);
    return result;
}

void dr_library_lose(dr_module *m)
{
    for (dr_module **p = &m->library->modules; *p; p = &(*p)->next_of_library) {
        if (*p == m) {
            *p = m->next_of_library;
            break;
        }
    }
}

cu_result dr_kernel_function(dr_kernel *k, dr_context *c, dr_function **out)
{
    dr_module *m;
    cu_result result = library_module(k->library, c, &m);
    if (result)
        return result;
    *out = atomic_load_explicit(&m->functions[k->ptx->index], memory_order_acquire);
    if (*out)
        return CUABI_SUCCESS;
    result = dr_module_function(m, k->ptx->name, out);
    for (int32_t i = 0; i < 16 && !result; i++)
        if (k->set >> i & 1)
            dr_function_set_attribute(*out, i, k->attributes[i]);
    return result;
}

/* ------------------------------------------------------------ cuLibrary… */

static cu_result load(cu_library *library, const void *code, size_t bytes, int32_t *options, void **values, uint32_t count)
{
    dr_jit jit;
    cu_result result = dr_ready();
    if (!result)
        result = dr_jit_read(&jit, count, options, values);
    if (result)
        return result;
    dr_context *c = dr_context_current();
    struct dr_library *l = dr_object_new(DR_LIBRARY, sizeof *l);
    if (!l)
        return DR_ERROR(OUT_OF_MEMORY);
    result = dr_image_parse(code, bytes, c ? c->device->capability : dr_device_at(0)->capability, &jit, &l->ptx);
    if (!result) {
        l->kernels = calloc(l->ptx->nfunctions + 1, sizeof(*l->kernels));
        if (!l->kernels) {
            ptx_module_free(l->ptx);
            result = DR_ERROR(OUT_OF_MEMORY);
        }
    }
    if (result)
        dr_object_free(l, DR_LIBRARY);
    else
        *library = l;
    return result;
}

cu_result impl_cuLibraryLoadData(cu_library *library, const void *code, int32_t *jit_options, void **jit_options_values,
                                 uint32_t num_jit_options, int32_t *library_options, void **library_option_values,
                                 uint32_t num_library_options)
{
    DR_NEED(library && code && (!num_library_options || library_options));
    (void)library_option_values;   /* tables of host functions, and leave to keep the caller's image: the text is copied */
    return load(library, code, 0, jit_options, jit_options_values, num_jit_options);
}

cu_result impl_cuLibraryLoadFromFile(cu_library *library, const char *file_name, int32_t *jit_options, void **jit_options_values,
                                     uint32_t num_jit_options, int32_t *library_options, void **library_option_values,
                                     uint32_t num_library_options)
{
    DR_NEED(library && file_name && (!num_library_options || library_options));
    (void)library_option_values;
    char *image;
    size_t bytes;
    cu_result result = dr_read_file(file_name, &image, &bytes);
    if (result)
        return result;
    result = bytes ? load(library, image, bytes, jit_options, jit_options_values, num_jit_options) : DR_ERROR(INVALID_IMAGE);
    free(image);
    return result;
}

#define USE_LIBRARY(l, handle)                                                                                         \
    struct dr_library *l = dr_object_of(handle, DR_LIBRARY);                                                           \
    if (!l)                                                                                                            \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE)

cu_result impl_cuLibraryUnload(cu_library library)
{
    USE_LIBRARY(l, library);
    while (l->modules) {
        dr_context_wait(l->modules->context);
        dr_module_free(l->modules);
    }
    for (uint32_t i = 0; i < l->ptx->nfunctions; i++)
        dr_object_free(l->kernels[i], DR_KERNEL);
    free(l->kernels);
    ptx_module_free(l->ptx);
    dr_object_free(l, DR_LIBRARY);
    return CUABI_SUCCESS;
}

static cu_result kernel_at(struct dr_library *l, const ptx_function *f, dr_kernel **out)
{
    pthread_mutex_lock(&dr_lock);
    dr_kernel **place = &l->kernels[f->index];
    if (!*place && (*place = dr_object_new(DR_KERNEL, sizeof **place)) != NULL) {
        (*place)->library = l;
        (*place)->ptx = f;
    }
    *out = *place;
    pthread_mutex_unlock(&dr_lock);
    return *out ? CUABI_SUCCESS : DR_ERROR(OUT_OF_MEMORY);
}

cu_result impl_cuLibraryGetKernel(cu_kernel *kernel, cu_library library, const char *name)
{
    DR_NEED(kernel && name);
    USE_LIBRARY(l, library);
    const ptx_function *f = ptx_find_function(l->ptx, name);
    dr_kernel *k;
    if (!f || !f->is_entry || f->is_declaration)
        return dr_fail(DR_ERROR(NOT_FOUND), "there is no kernel \"%.300s\" in this library", name);
    cu_result result = kernel_at(l, f, &k);
    if (!result)
        *kernel = k;
    return result;
}

cu_result impl_cuLibraryGetKernelCount(uint32_t *count, cu_library library)
{
    DR_NEED(count);
    USE_LIBRARY(l, library);
    *count = 0;
    for (uint32_t i = 0; i < l->ptx->nfunctions; i++)
        *count += l->ptx->functions[i]->is_entry && !l->ptx->functions[i]->is_declaration;
    return CUABI_SUCCESS;
}

cu_result impl_cuLibraryEnumerateKernels(cu_kernel *kernels, uint32_t num_kernels, cu_library library)
{
    DR_NEED(kernels);
    USE_LIBRARY(l, library);
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->ptx->nfunctions && n < num_kernels; i++) {
        const ptx_function *f = l->ptx->functions[i];
        dr_kernel *k;
        cu_result result = f->is_entry && !f->is_declaration ? kernel_at(l, f, &k) : DR_ERROR(NOT_FOUND);
        if (result == DR_ERROR(OUT_OF_MEMORY))
            return result;
        if (!result)
            kernels[n++] = k;
    }
    return CUABI_SUCCESS;
}

cu_result impl_cuLibraryGetModule(cu_module *module, cu_library library)
{
    DR_NEED(module);
    DR_USE(c);
    USE_LIBRARY(l, library);
    dr_module *m;
    cu_result result = library_module(l, c, &m);
    if (!result)
        *module = m;
    return result;
}

cu_result impl_cuLibraryGetGlobal(cu_address *address, size_t *bytes, cu_library library, const char *name)
{
    DR_NEED(name && (address || bytes));
    DR_USE(c);
    USE_LIBRARY(l, library);
    dr_module *m;
    uint64_t at = 0, size = 0;
    cu_result result = library_module(l, c, &m);
    if (!result)
        result = dr_module_variable(m, name, &at, &size);
    if (result)
        return result;
    if (address)
        *address = at;
    if (bytes)
        *bytes = size;
    return CUABI_SUCCESS;
}

cu_result impl_cuLibraryGetManaged(cu_address *address, size_t *bytes, cu_library library, const char *name)
{
    DR_NEED(name && (address || bytes));
    USE_LIBRARY(l, library);
    const ptx_variable *v = ptx_find_variable(l->ptx, name);
    return v && v->managed ? impl_cuLibraryGetGlobal(address, bytes, library, name) : DR_ERROR(NOT_FOUND);
}

/* ------------------------------------------------------------ cuKernel… */

#define USE_KERNEL(k, handle)                                                                                          \
    dr_kernel *k = dr_object_of(handle, DR_KERNEL);                                                                    \
    if (!k)                                                                                                            \
    return dr_ready() ? dr_ready() : DR_ERROR(INVALID_HANDLE)

cu_result impl_cuKernelGetFunction(cu_function *function, cu_kernel kernel)
{
    DR_NEED(function);
    DR_USE(c);
    USE_KERNEL(k, kernel);
    dr_function *f;
    cu_result result = dr_kernel_function(k, c, &f);
    if (!result)
        *function = f;
    return result;
}

cu_result impl_cuKernelGetLibrary(cu_library *library, cu_kernel kernel)
{
    DR_NEED(library);
    USE_KERNEL(k, kernel);
    *library = k->library;
    return CUABI_SUCCESS;
}

cu_result impl_cuKernelGetName(const char **name, cu_kernel kernel)
{
    DR_NEED(name);
    USE_KERNEL(k, kernel);
    *name = k->ptx->name;
    return CUABI_SUCCESS;
}

cu_result impl_cuKernelGetParamInfo(cu_kernel kernel, size_t param_index, size_t *param_offset, size_t *param_size)
{
    DR_NEED(param_offset);
    USE_KERNEL(k, kernel);
    return dr_function_param(k->ptx, param_index, param_offset, param_size);
}

/* A function that stands for the kernel on a device, without a context. */
static dr_function *stand_in(const dr_kernel *k, dr_device *d, dr_module *module, dr_function *function)
{
    *module = (dr_module){.device = d, .ptx = k->library->ptx};
    dr_function_init(function, module, k->ptx);
    for (int32_t i = 0; i < 16; i++)
        if (k->set >> i & 1)
            dr_function_set_attribute(function, i, k->attributes[i]);
    return function;
}

cu_result impl_cuKernelGetAttribute(int *value, int32_t attribute, cu_kernel kernel, cu_device device)
{
    DR_NEED(value);
    USE_KERNEL(k, kernel);
    dr_device *d = dr_device_at(device);
    dr_module module;
    dr_function function;
    return d ? dr_function_attribute(stand_in(k, d, &module, &function), attribute, value) : DR_ERROR(INVALID_DEVICE);
}

cu_result impl_cuKernelSetAttribute(int32_t attribute, int value, cu_kernel kernel, cu_device device)
{
    USE_KERNEL(k, kernel);
    dr_device *d = dr_device_at(device);
    dr_module module;
    dr_function function;
    if (!d)
        return DR_ERROR(INVALID_DEVICE);
    if (attribute < 0 || attribute >= 16)
        return DR_ERROR(INVALID_VALUE);
    cu_result result = dr_function_set_attribute(stand_in(k, d, &module, &function), attribute, value);
    if (result)
        return result;
    pthread_mutex_lock(&dr_lock);
    k->attributes[attribute] = value;
    k->set |= (uint16_t)(1u << attribute);
    for (dr_module *m = k->library->modules; m; m = m->next_of_library) {
        dr_function *f = m->functions[k->ptx->index];
        if (m->device == d && f)
            dr_function_set_attribute(f, attribute, value);
    }
    pthread_mutex_unlock(&dr_lock);
    return CUABI_SUCCESS;
}

cu_result impl_cuKernelSetCacheConfig(cu_kernel kernel, int32_t config, cu_device device)
{
    USE_KERNEL(k, kernel);
    return config < 0 || config > 3 ? DR_ERROR(INVALID_VALUE) : dr_device_at(device) ? CUABI_SUCCESS : DR_ERROR(INVALID_DEVICE);
}
