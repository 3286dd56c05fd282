/* abi.c - initialisation, devices, contexts, errors, and failures made to order. */
#include "abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool initialised;
static _Thread_local abi_context *current;

/* ------------------------------------------------------------ settings */

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

int abi_capability(void)
{
    return (int)setting("PTXB_ABI_CAPABILITY", 120);
}

cu_result abi_ordered(const char *symbol)
{
    static char seen[128];
    static long calls;
    const char *order = getenv("PTXB_ABI_FAIL");
    if (!order)
        order = "";
    if (strcmp(order, seen) != 0) {
        snprintf(seen, sizeof seen, "%s", order);
        calls = 0;
    }
    const char *at = strchr(order, '@'), *equals = at ? strchr(at, '=') : NULL;
    if (!equals || (size_t)(at - order) != strlen(symbol) || strncmp(order, symbol, (size_t)(at - order)) != 0)
        return CUABI_SUCCESS;
    return ++calls == strtol(at + 1, NULL, 10) ? (cu_result)strtol(equals + 1, NULL, 10) : CUABI_SUCCESS;
}

cu_result abi_begin(const char *symbol)
{
    return initialised ? abi_ordered(symbol) : CUABI_CUDA_ERROR_NOT_INITIALIZED;
}

/* ------------------------------------------------------------ errors */

cu_result abi_result(pxb_status status)
{
    switch (status) {
    case PXB_OK: return CUABI_SUCCESS;
    case PXB_BAD_ARGUMENT: return CUABI_CUDA_ERROR_INVALID_VALUE;
    case PXB_OUT_OF_MEMORY: return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    case PXB_NOT_FOUND: return CUABI_CUDA_ERROR_NOT_FOUND;
    case PXB_BAD_INPUT:
    case PXB_UNSUPPORTED:
    case PXB_NO_PTX: return CUABI_CUDA_ERROR_INVALID_PTX;
    case PXB_FAULT_ADDRESS:
    case PXB_FAULT_HANDLE: return CUABI_CUDA_ERROR_ILLEGAL_ADDRESS;
    case PXB_FAULT_MISALIGNED: return CUABI_CUDA_ERROR_MISALIGNED_ADDRESS;
    case PXB_FAULT_TRAP: return CUABI_CUDA_ERROR_LAUNCH_FAILED;
    case PXB_FAULT_STACK: return CUABI_CUDA_ERROR_HARDWARE_STACK_ERROR;
    case PXB_FAULT_CALL: return CUABI_CUDA_ERROR_INVALID_PC;
    default: return CUABI_CUDA_ERROR_UNKNOWN;
    }
}

#define NAME_CASE(name, value)                                                                                         \
    case value: return #name;

static const char *name_of(cu_result error)
{
    switch (error) {
    case CUABI_SUCCESS: return "CUDA_SUCCESS";
        CUDA_RESULTS(NAME_CASE)
    }
    return NULL;
}

cu_result cuGetErrorName(cu_result error, const char **name)
{
    *name = name_of(error);
    return *name ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE;
}

cu_result cuGetErrorString(cu_result error, const char **text)
{
    *text = name_of(error) ? "as the CPU says" : NULL;
    return *text ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------ devices */

cu_result cuInit(uint32_t flags)
{
    cu_result ordered = abi_ordered("cuInit");
    if (ordered)
        return ordered;
    initialised = true;
    return flags ? CUABI_CUDA_ERROR_INVALID_VALUE : CUABI_SUCCESS;
}

cu_result cuDriverGetVersion(int *version)
{
    *version = 13000;
    return abi_ordered("cuDriverGetVersion");
}

cu_result cuDeviceGetCount(int *count)
{
    ABI_BEGIN(cuDeviceGetCount);
    *count = (int)setting("PTXB_ABI_DEVICES", 1);
    return CUABI_SUCCESS;
}

cu_result cuDeviceGet(cu_device *device, int ordinal)
{
    ABI_BEGIN(cuDeviceGet);
    *device = ordinal;
    return ordinal >= 0 && ordinal < setting("PTXB_ABI_DEVICES", 1) ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_DEVICE;
}

cu_result cuDeviceGetName(char *name, int size, cu_device device)
{
    ABI_BEGIN(cuDeviceGetName);
    snprintf(name, (size_t)size, "CPU as GPU %d", device);
    return CUABI_SUCCESS;
}

cu_result cuDeviceGetAttribute(int *value, int32_t attribute, cu_device device)
{
    ABI_BEGIN(cuDeviceGetAttribute);
    (void)device;
    switch (attribute) {
    case CUABI_CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case CUABI_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 1; break;
    case CUABI_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = abi_capability() / 10; break;
    case CUABI_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = abi_capability() % 10; break;
    case CUABI_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: *value = (int)setting("PTXB_ABI_COOPERATIVE", 1); break;
    case CUABI_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 99 << 10; break;
    default: return CUABI_CUDA_ERROR_INVALID_VALUE;
    }
    return CUABI_SUCCESS;
}

cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device)
{
    ABI_BEGIN(cuDeviceTotalMem_v2);
    (void)device;
    *bytes = (size_t)8 << 30;
    return CUABI_SUCCESS;
}

/* ------------------------------------------------------------ contexts */

/* Not exported: the driver's own look-up is the only way to it. */
static cu_result create_context(cu_context *context, uint32_t flags, cu_device device)
{
    ABI_BEGIN(cuCtxCreate_v2);
    (void)flags, (void)device;
    abi_context *c = calloc(1, sizeof *c);
    if (!c)
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    pxb_status status = pxb_context_create(&c->pxb);
    if (!status)
        status = pxb_device_open(c->pxb, "cpu", &c->device);
    if (status) {
        pxb_context_destroy(c->pxb);
        free(c);
        return CUABI_CUDA_ERROR_OUT_OF_MEMORY;
    }
    c->below = current;
    current = c;
    *context = c;
    return CUABI_SUCCESS;
}

/* A later form of cuMemAlloc, with a parameter more. */
static cu_result allocate_cleared(cu_address *address, size_t bytes, uint8_t value)
{
    cu_result result = cuMemAlloc_v2(address, bytes);
    return result ? result : cuMemsetD8_v2(*address, value, bytes);
}

cu_result cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags, int32_t *status)
{
    bool creates = strcmp(symbol, "cuCtxCreate") == 0 && version >= 3020 && version < 11040;
    bool allocates = strcmp(symbol, "cuMemAlloc") == 0 && version >= 3020;
    bool known = (creates || allocates) && flags == CUABI_CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    *function = NULL;
    if (known)
        *function = creates            ? (void *)(uintptr_t)create_context
                    : version >= 13010 ? (void *)(uintptr_t)allocate_cleared
                                       : (void *)(uintptr_t)cuMemAlloc_v2;
    *status = known ? 0 : 1;
    return known ? CUABI_SUCCESS : CUABI_CUDA_ERROR_NOT_FOUND;
}

cu_result cuCtxDestroy_v2(cu_context context)
{
    ABI_BEGIN(cuCtxDestroy_v2);
    abi_context *c = context;
    abi_wait(c);
    if (current == c)
        current = c->below;
    abi_free_modules(c);
    abi_free_blocks(c);
    abi_free_arrays(c);
    pxb_context_destroy(c->pxb);
    free(c->printed);
    free(c);
    return CUABI_SUCCESS;
}

cu_result cuCtxPushCurrent_v2(cu_context context)
{
    ABI_BEGIN(cuCtxPushCurrent_v2);
    abi_context *c = context;
    c->below = current;
    current = c;
    return CUABI_SUCCESS;
}

cu_result cuCtxPopCurrent_v2(cu_context *context)
{
    ABI_BEGIN(cuCtxPopCurrent_v2);
    if (!current)
        return CUABI_CUDA_ERROR_INVALID_CONTEXT;
    *context = current;
    current = current->below;
    return CUABI_SUCCESS;
}

cu_result cuCtxSetLimit(int32_t limit, size_t value)
{
    ABI_BEGIN_IN(cuCtxSetLimit, c);
    bool known = limit == CUABI_CU_LIMIT_PRINTF_FIFO_SIZE || limit == CUABI_CU_LIMIT_STACK_SIZE;
    return known && value ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_VALUE;
}

abi_context *abi_current_busy(cu_result *result)
{
    *result = current ? CUABI_SUCCESS : CUABI_CUDA_ERROR_INVALID_CONTEXT;
    return current;
}

abi_context *abi_current(cu_result *result)
{
    abi_context *c = abi_current_busy(result);
    if (!c)
        return NULL;
    abi_wait(c);
    *result = c->sticky;
    return c->sticky ? NULL : c;
}
