/* abi_module.c - modules, functions, launches and events. */
#include "abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct function {
    struct function *next;
    pxb_kernel *kernel;
    pxb_module *module;
    uint32_t index;                /* in the module */
    size_t param_bytes;
    int dynamic_shared;            /* allowed */
} function;

typedef struct abi_module {
    struct abi_module *next;
    pxb_module *module;
    function *functions;
} module;

/* ------------------------------------------------------------ loading */

/* Writes a log as ptxas does. */
static void write_log(pxb_module *m, char *log, size_t size)
{
    uint32_t count = m ? pxb_module_diagnostic_count(m, NULL) : 0;
    size_t used = 0;
    for (uint32_t i = 0; i < count && used < size; i++) {
        pxb_diagnostic d;
        if (pxb_module_diagnostic(m, i, &d) == PXB_OK && d.severity == PXB_ERROR)
            used += (size_t)snprintf(log + used, size - used, "ptxas application ptx input, line %u; error   : %s\n", d.line,
                                     d.message);
    }
    if (used < size)
        snprintf(log + used, size - used, "ptxas fatal   : Ptx assembly aborted due to errors\n");
}

static char *log_of(uint32_t count, const int32_t *options, void **values, size_t *size)
{
    char *log = NULL;
    *size = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (options[i] == CUABI_CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        if (options[i] == CUABI_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            *size = (size_t)(uintptr_t)values[i];
    }
    return log;
}

cu_result cuModuleLoadDataEx(cu_module *out, const void *image, uint32_t count, int32_t *options, void **values)
{
    ABI_BEGIN_IN(cuModuleLoadDataEx, c);
    size_t size;
    char *log = log_of(count, options, values, &size);
    uint32_t errors = 1;
    module *m = calloc(1, sizeof *m);
    if (!m)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    pxb_status status = pxb_module_load_text(c->pxb, image, strlen(image), NULL, &m->module);
    if (!status)
        pxb_module_diagnostic_count(m->module, &errors);
    if (errors) { /* a driver loads a module as a whole or not at all */
        if (log && size)
            write_log(m->module, log, size);
        pxb_module_free(m->module);
        free(m);
        return CUABI_CUDA_ERROR_INVALID_PTX;
    }
    m->next = c->modules;
    c->modules = m;
    *out = m;
    return CUABI_SUCCESS;
}

static void free_module(module *m)
{
    while (m->functions) {
        function *next = m->functions->next;
        free(m->functions);
        m->functions = next;
    }
    pxb_module_free(m->module);
    free(m);
}

void abi_free_modules(abi_context *c)
{
    while (c->modules) {
        module *next = c->modules->next;
        free_module(c->modules);
        c->modules = next;
    }
}

cu_result cuModuleUnload(cu_module handle)
{
    ABI_BEGIN_IN(cuModuleUnload, c);
    for (module **p = &c->modules; *p; p = &(*p)->next) {
        module *m = *p;
        if (m != handle)
            continue;
        *p = m->next;
        free_module(m);
        return CUABI_SUCCESS;
    }
    return CUABI_CUDA_ERROR_INVALID_HANDLE;
}

cu_result cuModuleGetGlobal_v2(cu_address *address, size_t *bytes, cu_module handle, const char *name)
{
    ABI_BEGIN_IN(cuModuleGetGlobal_v2, c);
    return abi_result(pxb_global_get(c->device, ((module *)handle)->module, name, address, bytes));
}

static size_t param_bytes(pxb_module *m, const char *name, uint32_t *index)
{
    pxb_function_info info;
    for (*index = 0; pxb_module_function(m, *index, &info) == PXB_OK; ++*index)
        if (strcmp(info.name, name) == 0)
            return info.param_bytes;
    return 0;
}

cu_result cuModuleGetFunction(cu_function *out, cu_module handle, const char *name)
{
    ABI_BEGIN_IN(cuModuleGetFunction, c);
    module *m = handle;
    pxb_kernel *kernel;
    pxb_status status = pxb_kernel_get(c->device, m->module, name, &kernel);
    if (status)
        return abi_result(status);
    function *f = calloc(1, sizeof *f);
    if (!f)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    *f = (function){.next = m->functions, .kernel = kernel, .module = m->module, .dynamic_shared = 48 << 10};
    f->param_bytes = param_bytes(m->module, name, &f->index);
    m->functions = f;
    *out = f;
    return CUABI_SUCCESS;
}

cu_result cuFuncGetAttribute(int *value, int32_t attribute, cu_function handle)
{
    ABI_BEGIN_IN(cuFuncGetAttribute, c);
    (void)handle;
    *value = 0; /* static shared memory is not told by the public API: none */
    return attribute == CUABI_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE;
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cu_function handle, int threads, size_t shared_bytes)
{
    ABI_BEGIN_IN(cuOccupancyMaxActiveBlocksPerMultiprocessor, c);
    *blocks = shared_bytes <= (size_t)((function *)handle)->dynamic_shared ? ABI_BLOCKS_AT_ONCE : 0;
    return threads > 0 ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE;
}

cu_result cuFuncSetAttribute(cu_function handle, int32_t attribute, int value)
{
    ABI_BEGIN_IN(cuFuncSetAttribute, c);
    if (attribute != CUABI_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > 99 << 10)
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    ((function *)handle)->dynamic_shared = value;
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ launching */

typedef struct launch {
    abi_context *context;
    function *function;
    pxb_launch_options options;
    unsigned char params[];
} launch;

static void collect(void *user, const char *text, size_t length)
{
    abi_context *c = user;
    char *more = realloc(c->printed, c->nprinted + length);
    if (!more)
        return;
    memcpy(more + c->nprinted, text, length);
    c->printed = more;
    c->nprinted += length;
}

static void *run(void *argument)
{
    launch *l = argument;
    abi_context *c = l->context;
    pxb_status status = pxb_launch_packed(l->function->kernel, &l->options, l->params, l->function->param_bytes);
    while (status == PXB_FAULT_DEADLOCK)
        pause(); /* a GPU does not notice */
    cu_result ordered = abi_ordered("kernel");
    if (status || ordered)
        c->sticky = ordered ? ordered : abi_result(status);
    free(l);
    c->finished = true;
    return NULL;
}

void abi_wait(abi_context *c)
{
    if (!c->busy)
        return;
    pthread_join(c->worker, NULL);
    c->busy = false;
}

/* { 1, block, 2, &size, 0 } */
static bool packed(void **extra, const void **block, size_t *bytes)
{
    *block = NULL;
    *bytes = 0;
    if (!extra)
        return true;
    for (int i = 0; extra[i] != CUABI_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CUABI_LAUNCH_PARAM_BUFFER_POINTER)
            *block = extra[i + 1];
        else if (extra[i] == CUABI_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(size_t *)extra[i + 1];
        else
            return false;
    }
    return *block && *bytes;
}

static launch *make_launch(abi_context *c, function *f, const uint32_t grid[3], const uint32_t block[3], uint32_t shared_bytes)
{
    launch *l = calloc(1, sizeof *l + f->param_bytes);
    if (!l)
        return NULL;
    l->context = c;
    l->function = f;
    l->options = (pxb_launch_options)PXB_LAUNCH_OPTIONS_INIT;
    memcpy(l->options.grid, grid, sizeof l->options.grid);
    memcpy(l->options.block, block, sizeof l->options.block);
    l->options.shared_bytes = shared_bytes;
    l->options.print = collect;
    l->options.print_user = c;
    return l;
}

static cu_result start(launch *l)
{
    abi_context *c = l->context;
    c->finished = false;
    if (pthread_create(&c->worker, NULL, run, l)) {
        free(l);
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    }
    c->busy = true;
    return CUABI_SUCCESS;
}

cu_result cuLaunchKernel(cu_function handle, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                         uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params,
                         void **extra)
{
    ABI_BEGIN_IN(cuLaunchKernel, c);
    function *f = handle;
    const void *block;
    size_t bytes;
    if (stream || params || !packed(extra, &block, &bytes) || bytes != f->param_bytes ||
        shared_bytes > (uint32_t)f->dynamic_shared)
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    launch *l = make_launch(c, f, (uint32_t[]){grid_x, grid_y, grid_z}, (uint32_t[]){block_x, block_y, block_z}, shared_bytes);
    if (!l)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes)
        memcpy(l->params, block, bytes);
    return start(l);
}

cu_result cuLaunchCooperativeKernel(cu_function handle, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                                    uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, cu_stream stream, void **params)
{
    ABI_BEGIN_IN(cuLaunchCooperativeKernel, c);
    function *f = handle;
    pxb_param_info p;
    if (stream || (f->param_bytes && !params) || shared_bytes > (uint32_t)f->dynamic_shared)
        return CUABI_CUDA_ERROR_INVALID_VALUE;
    if ((uint64_t)grid_x * grid_y * grid_z > ABI_BLOCKS_AT_ONCE)
        return CUABI_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    launch *l = make_launch(c, f, (uint32_t[]){grid_x, grid_y, grid_z}, (uint32_t[]){block_x, block_y, block_z}, shared_bytes);
    if (!l)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; pxb_module_param(f->module, f->index, i, &p) == PXB_OK; i++)
        memcpy(l->params + p.offset, params[i], p.bytes);
    l->options.cooperative = true;
    return start(l);
}

cu_result cuCtxSynchronize(void)
{
    cu_result result;
    ABI_BEGIN(cuCtxSynchronize);
    abi_context *c = abi_current_busy(&result);
    if (!c)
        return result;
    abi_wait(c);
    if (c->nprinted)
        fwrite(c->printed, 1, c->nprinted, stdout);
    c->nprinted = 0;
    return c->sticky;
}

/* ------------------------------------------------------------ events: one for all, at the end of what runs */

cu_result cuEventCreate(cu_event *event, uint32_t flags)
{
    ABI_BEGIN_IN(cuEventCreate, c);
    *event = c;
    return flags == CUABI_CU_EVENT_DISABLE_TIMING ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE;
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
    cu_result result;
    ABI_BEGIN(cuEventRecord);
    abi_context *c = abi_current_busy(&result);
    return c ? c == event && !stream ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_HANDLE : result;
}

cu_result cuEventQuery(cu_event event)
{
    cu_result result;
    ABI_BEGIN(cuEventQuery);
    abi_context *c = abi_current_busy(&result);
    if (!c || c != event)
        return c ? CUABI_CUDA_ERROR_INVALID_HANDLE : result;
    if (c->busy && !c->finished)
        return CUABI_CUDA_ERROR_NOT_READY;
    abi_wait(c);
    return c->sticky;
}
