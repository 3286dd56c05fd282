/* proc.c - cuGetProcAddress: the newest form of a function that is not newer than what the caller was built for. */
#include <string.h>
#include "runtime/driver/driver.h"

/* Of a real driver's functions those that we do not know, or that it has and we would look up otherwise, come from itself. */
static cu_result ask_driver(const char *symbol, void **out, int cuda_version, uint64_t flags, int32_t *symbol_status)
{
    void *function = dr_real[DR_ROW_cuGetProcAddress_v2][0];
    return function ? ((cu_get_proc_v2)(uintptr_t)function)(symbol, out, cuda_version, flags, symbol_status) : DR_ERROR(NOT_FOUND);
}

/* A driver that is newer than this table may have a form of a function with other parameters, which programs that ask for its version expect. */
static bool is_newer(const char *symbol, int cuda_version, uint64_t flags)
{
    void *known = NULL, *wanted = NULL;
    int32_t status;
    return (dr_mode & DR_MODE_FORWARD) && cuda_version > DR_VERSION && ask_driver(symbol, &known, DR_VERSION, flags, &status) == CUABI_SUCCESS &&
           ask_driver(symbol, &wanted, cuda_version, flags, &status) == CUABI_SUCCESS && known != wanted;
}

static bool driver_has(const dr_api_row *row)
{
    return !(dr_mode & DR_MODE_FORWARD) || dr_real[row - dr_api][0];
}

cu_result impl_cuGetProcAddress_v2(const char *symbol, void **out, int cuda_version, uint64_t flags, int32_t *symbol_status)
{
    DR_NEED(symbol && out && (flags & ~3u) == 0 && flags != 3);
    if (cuda_version > DR_VERSION && !(dr_mode & DR_MODE_FORWARD))
        return dr_fail(DR_ERROR(INVALID_VALUE), "%s of version %d: this is a driver of %d", symbol, cuda_version, DR_VERSION);
    const dr_api_row *best = NULL;
    bool known = false, own = flags & CUABI_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *out = NULL;
    for (int i = 0; i < DR_API_ROWS; i++) {
        const dr_api_row *row = &dr_api[i];
        if (strcmp(row->base, symbol) != 0)
            continue;
        known = true;
        if (row->version <= cuda_version && driver_has(row) && (!best || row->version > best->version))
            best = row;
    }
    if ((!best && (dr_mode & DR_MODE_FORWARD)) || (best && is_newer(symbol, cuda_version, flags)))
        return ask_driver(symbol, out, cuda_version, flags, symbol_status);
    if (symbol_status)
        *symbol_status = best    ? CUABI_CU_GET_PROC_ADDRESS_SUCCESS
                         : known ? CUABI_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                 : CUABI_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (!best)
        return symbol_status ? CUABI_SUCCESS : DR_ERROR(NOT_FOUND);
    dr_any_fn function = own && best->suffixed && best->suffix_version <= cuda_version ? best->suffixed : best->function;
    memcpy(out, &function, sizeof function);
    return CUABI_SUCCESS;
}

cu_result impl_cuGetProcAddress(const char *symbol, void **out, int cuda_version, uint64_t flags)
{
    return impl_cuGetProcAddress_v2(symbol, out, cuda_version, flags, NULL);
}
