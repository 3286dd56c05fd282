/* cuda_module.c - PTX modules on the NVIDIA device. The text goes to the driver as it is.
 *
 * The driver's compiler writes a log; what it says of a line becomes an error of this program with file and line.
 */
#include "runtime/cuda/cuda.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 16 << 10, PRINTF_BYTES = 16 << 20, STACK_BYTES = 8 << 10 };

/* ------------------------------------------------------------ what does not fit this GPU */

/* PTX ISA, ".target": code for sm_N runs on N and later; with suffix `a` on that one architecture, with `f` on
 * later ones of the same family. */
static bool fits(const cuda_state *s, const ptx_module *m)
{
    uint32_t gpu = (uint32_t)(s->major * 10 + s->minor);
    if (m->sm_suffix == 'a')
        return m->sm == gpu;
    if (m->sm_suffix == 'f')
        return m->sm <= gpu && m->sm / 10u == (uint32_t)s->major;
    return m->sm <= gpu;
}

static pxb_status check_target(pxb_device *device, const ptx_module *m)
{
    const cuda_state *s = cuda_state_of(device);
    char suffix[2] = {m->sm_suffix, '\0'};
    return fits(s, m) ? PXB_OK
                      : rt_fail_at(device->context, PXB_UNSUPPORTED, m->file, 0, 0,
                                   "not for this GPU: the module is for sm_%u%s, and the GPU is sm_%d%d", m->sm, suffix,
                                   s->major, s->minor);
}

/* ------------------------------------------------------------ the compiler's log */

/* "ptxas application ptx input, line 12; error   : text" → line and text, which ends with its line. */
static bool parse_line(const char *log, uint32_t *line, const char **text, size_t *length)
{
    for (const char *at = strstr(log, ", line "); at; at = strstr(at + 1, ", line ")) {
        char *end;
        unsigned long n = strtoul(at + strlen(", line "), &end, 10);
        if (*end != ';' || n == 0 || n > UINT32_MAX)
            continue;
        const char *class = end + 1 + strspn(end + 1, " ");
        if (strncmp(class, "error", 5) != 0 && strncmp(class, "fatal", 5) != 0)
            continue;
        const char *from = class + 5 + strspn(class + 5, " :");
        *line = (uint32_t)n;
        *text = from;
        *length = strcspn(from, "\n");
        return true;
    }
    return false;
}

/* "ptxas fatal   : text", or the whole first line of a log that looks otherwise. */
static void parse_text(const char *log, const char **text, size_t *length)
{
    const char *from = strstr(log, "fatal");
    if (!from)
        from = strstr(log, "error");
    from = from ? from + 5 + strspn(from + 5, " :") : log;
    *text = from;
    *length = strcspn(from, "\n");
}

static pxb_status refused(pxb_device *device, const ptx_module *m, cu_result result, const char *log)
{
    const cuda_state *s = cuda_state_of(device);
    char what[256];
    const char *text;
    size_t length;
    uint32_t line = 0;
    pxb_status status = cuda_status(result);
    cuda_result_text(s->cu, result, what, sizeof what);
    if (result == CUABI_CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        return rt_fail_at(device->context, status, m->file, 0, 0,
                          "not for this driver: PTX %u.%u is newer than what it takes (CUDA %d.%d); a newer driver is "
                          "needed",
                          m->version / 10u, m->version % 10u, s->driver / 1000, s->driver % 1000 / 10);
    if (parse_line(log, &line, &text, &length))
        return rt_fail_at(device->context, status, m->file, line, 0, "the driver's compiler says: %.*s", (int)length,
                          text);
    parse_text(log, &text, &length);
    if (length == 0)
        return rt_fail_at(device->context, status, m->file, 0, 0, "the driver does not load the module: %s", what);
    return rt_fail_at(device->context, status, m->file, 0, 0, "the driver does not load the module: %s: %.*s", what,
                      (int)length, text);
}

/* ------------------------------------------------------------ loading */

static bool has(const ptx_function *f, const char *operation)
{
    for (uint32_t i = 0; i < f->ninsns; i++)
        if (f->insns[i].operation && strcmp(f->insns[i].operation, operation) == 0)
            return true;
    return false;
}

static void look_through(cuda_loaded *loaded)
{
    const ptx_module *m = loaded->ptx;
    loaded->prints = ptx_find_function(m, "vprintf") != NULL;
    for (uint32_t i = 0; i < m->nfunctions; i++) {
        loaded->traps = loaded->traps || has(m->functions[i], "trap");
        loaded->nests = loaded->nests || (!m->functions[i]->is_entry && has(m->functions[i], "call"));
    }
}

/* How much text the driver keeps between two synchronisations, and how much stack a thread has where the compiler cannot
 * tell the need (recursion; 1 KiB by default). The driver must know before the first such module; where it refuses, its
 * defaults stay. */
static void set_limits(const cuda_state *s, const cuda_loaded *loaded)
{
    if (loaded->prints)
        s->cu->cuCtxSetLimit(CUABI_CU_LIMIT_PRINTF_FIFO_SIZE, PRINTF_BYTES);
    if (loaded->nests)
        s->cu->cuCtxSetLimit(CUABI_CU_LIMIT_STACK_SIZE, STACK_BYTES);
}

static pxb_status load(pxb_device *device, const ptx_module *m, cu_module *out)
{
    const cuda_state *s = cuda_state_of(device);
    char *log = calloc(1, LOG_BYTES);
    if (!log)
        return rt_no_memory(device->context);
    int32_t options[] = {CUABI_CU_JIT_ERROR_LOG_BUFFER, CUABI_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    cu_result result = s->cu->cuModuleLoadDataEx(out, m->text, 2, options, values);
    pxb_status status = result ? refused(device, m, result, log) : PXB_OK;
    free(log);
    return status;
}

pxb_status cuda_module_load(pxb_device *device, const ptx_module *module, void **out)
{
    cuda_state *s = cuda_state_of(device);
    pxb_status status = check_target(device, module);
    if (status)
        return status;
    cuda_loaded *loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return rt_no_memory(device->context);
    loaded->ptx = module;
    look_through(loaded);
    status = cuda_enter(device);
    if (!status) {
        set_limits(s, loaded);
        status = load(device, module, &loaded->module);
        cuda_leave(device);
    }
    if (status)
        free(loaded);
    else
        *out = loaded;
    return status;
}

void cuda_module_unload(pxb_device *device, void *module)
{
    cuda_loaded *loaded = module;
    cuda_state *s = cuda_state_of(device);
    while (loaded->kernels) {
        cuda_kernel *next = loaded->kernels->next;
        free(loaded->kernels);
        loaded->kernels = next;
    }
    cuda_drop_module_ranges(device, loaded);
    if (!s->lost && s->cu->cuCtxPushCurrent_v2(s->context) == CUABI_SUCCESS) {
        s->cu->cuModuleUnload(loaded->module);
        cuda_leave(device);
    }
    free(loaded);
}

/* ------------------------------------------------------------ names */

pxb_status cuda_global(pxb_device *device, void *module, const ptx_variable *variable, pxb_address *out)
{
    cuda_loaded *loaded = module;
    const cuda_state *s = cuda_state_of(device);
    size_t bytes = 0;
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_result result = s->cu->cuModuleGetGlobal_v2(out, &bytes, loaded->module, variable->name);
    cuda_leave(device);
    if (result == CUABI_CUDA_ERROR_NOT_FOUND)
        return rt_fail(device->context, PXB_NOT_FOUND,
                       "variable \"%.200s\" is not on the device: the driver keeps a variable only if it is .visible or "
                       "some kernel uses it",
                       variable->name);
    return result ? cuda_fail(device, result, "cuModuleGetGlobal") : cuda_add_range(device, *out, bytes, loaded);
}

/* A module variable that is initialised with the function's address. */
static const ptx_variable *holder(const ptx_module *m, const ptx_function *function, uint32_t *offset)
{
    for (uint32_t i = 0; i < m->nvariables; i++) {
        const ptx_variable *v = m->variables[i];
        bool readable = v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
        for (uint32_t j = 0; readable && j < v->nrelocations; j++) {
            const ptx_relocation *r = &v->relocations[j];
            if (r->function == function && r->bytes == 8 && r->shift == 0 && r->addend == 0) {
                *offset = r->offset;
                return v;
            }
        }
    }
    return NULL;
}

/* The driver has no call for a device function's address. Where the module itself keeps it in a variable, it can be read
 * from there. */
pxb_status cuda_function_address(pxb_device *device, void *module, const ptx_function *function, pxb_address *out)
{
    cuda_loaded *loaded = module;
    uint32_t offset = 0;
    pxb_address at = 0, address = 0;
    const ptx_variable *v = holder(loaded->ptx, function, &offset);
    if (!v)
        return rt_fail(device->context, PXB_UNSUPPORTED,
                       "the CUDA driver does not tell the address of function \"%.200s\": on this device an address can "
                       "be had only if a .global or .const variable of the module is initialised with it",
                       function->name);
    pxb_status status = cuda_global(device, module, v, &at);
    if (!status)
        status = device->ops->read(device, &address, at + offset, sizeof address);
    if (!status)
        *out = address;
    return status;
}

pxb_status cuda_get_kernel(pxb_device *device, void *module, const ptx_function *function, void **out)
{
    cuda_loaded *loaded = module;
    const cuda_state *s = cuda_state_of(device);
    pxb_status status = cuda_enter(device);
    if (status)
        return status;
    cu_function found = NULL;
    cu_result result = s->cu->cuModuleGetFunction(&found, loaded->module, function->name);
    cuda_leave(device);
    if (result)
        return cuda_fail(device, result, "cuModuleGetFunction");
    cuda_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return rt_no_memory(device->context);
    *kernel = (cuda_kernel){.next = loaded->kernels, .owner = loaded, .ptx = function, .function = found};
    loaded->kernels = kernel;
    *out = kernel;
    return PXB_OK;
}
