/* log.c - results, their names and texts, and what PTXBRIDGE_LOG asks to be told on stderr. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/driver/driver.h"

cu_result dr_result(pxb_status status)
{
    switch (status) {
    case PXB_OK: return CUABI_SUCCESS;
    case PXB_BAD_ARGUMENT: return DR_ERROR(INVALID_VALUE);
    case PXB_OUT_OF_MEMORY: return DR_ERROR(OUT_OF_MEMORY);
    case PXB_NOT_FOUND: return DR_ERROR(NOT_FOUND);
    case PXB_NO_DEVICE: return DR_ERROR(NO_DEVICE);
    case PXB_NO_PTX: return DR_ERROR(NO_BINARY_FOR_GPU);
    case PXB_BAD_INPUT: return DR_ERROR(INVALID_PTX);
    case PXB_UNSUPPORTED: return DR_ERROR(NOT_SUPPORTED);
    case PXB_IO: return DR_ERROR(FILE_NOT_FOUND);
    case PXB_FAULT_ADDRESS:
    case PXB_FAULT_HANDLE: return DR_ERROR(ILLEGAL_ADDRESS);
    case PXB_FAULT_MISALIGNED: return DR_ERROR(MISALIGNED_ADDRESS);
    case PXB_FAULT_TRAP:
    case PXB_FAULT_DEADLOCK: return DR_ERROR(LAUNCH_FAILED);
    case PXB_FAULT_TIMEOUT: return DR_ERROR(LAUNCH_TIMEOUT);
    case PXB_FAULT_STACK: return DR_ERROR(HARDWARE_STACK_ERROR);
    case PXB_FAULT_CALL: return DR_ERROR(INVALID_PC);
    case PXB_NO:
    case PXB_INTERNAL: break;
    }
    return DR_ERROR(UNKNOWN);
}

const char *dr_error_name(cu_result result)
{
    switch (result) {
    case CUABI_SUCCESS: return "CUDA_SUCCESS";
#define NAME(name, value) case value: return #name;
    CUDA_RESULTS(NAME)
#undef NAME
    }
    return NULL;
}

/* Programs print these, and are compared by what they print: the wording is part of the interface. */
static const struct { int result; const char *text; } texts[] = {
    {0, "no error"},
    {1, "invalid argument"},
    {2, "out of memory"},
    {3, "initialization error"},
    {4, "driver shutting down"},
    {5, "profiler disabled while using external profiling tool"},
    {34, "CUDA driver is a stub library"},
    {100, "no CUDA-capable device is detected"},
    {101, "invalid device ordinal"},
    {200, "device kernel image is invalid"},
    {201, "invalid device context"},
    {205, "mapping of buffer object failed"},
    {206, "unmapping of buffer object failed"},
    {207, "array is mapped"},
    {208, "resource already mapped"},
    {209, "no kernel image is available for execution on the device"},
    {210, "resource already acquired"},
    {211, "resource not mapped"},
    {212, "resource not mapped as array"},
    {213, "resource not mapped as pointer"},
    {214, "uncorrectable ECC error encountered"},
    {215, "limit is not supported on this architecture"},
    {216, "exclusive-thread device already in use by a different thread"},
    {217, "peer access is not supported between these two devices"},
    {218, "a PTX JIT compilation failed"},
    {219, "invalid OpenGL or DirectX context"},
    {220, "uncorrectable NVLink error detected during the execution"},
    {221, "PTX JIT compiler library not found"},
    {222, "the provided PTX was compiled with an unsupported toolchain."},
    {223, "PTX JIT compilation was disabled"},
    {224, "the provided execution affinity is not supported"},
    {300, "device kernel image is invalid"},
    {301, "file not found"},
    {302, "shared object symbol not found"},
    {303, "shared object initialization failed"},
    {304, "OS call failed or operation not supported on this OS"},
    {400, "invalid resource handle"},
    {401, "the operation cannot be performed in the present state"},
    {500, "named symbol not found"},
    {600, "device not ready"},
    {700, "an illegal memory access was encountered"},
    {701, "too many resources requested for launch"},
    {702, "the launch timed out and was terminated"},
    {703, "launch uses incompatible texturing mode"},
    {704, "peer access is already enabled"},
    {705, "peer access has not been enabled"},
    {708, "cannot set while device is active in this process"},
    {709, "context is destroyed"},
    {710, "device-side assert triggered"},
    {711, "peer mapping resources exhausted"},
    {712, "part or all of the requested memory range is already mapped"},
    {713, "pointer does not correspond to a registered memory region"},
    {714, "hardware stack error"},
    {715, "an illegal instruction was encountered"},
    {716, "misaligned address"},
    {717, "operation not supported on global/shared address space"},
    {718, "invalid program counter"},
    {719, "unspecified launch failure"},
    {720, "too many blocks in cooperative launch"},
    {800, "operation not permitted"},
    {801, "operation not supported"},
    {802, "system not yet initialized"},
    {803, "system has unsupported display driver / cuda driver combination"},
    {900, "operation not permitted when stream is capturing"},
    {901, "operation failed due to a previous error during capture"},
    {902, "operation would result in a merge of separate capture sequences"},
    {903, "capture was not ended in the same stream as it began"},
    {904, "capturing stream has unjoined work"},
    {905, "dependency created on uncaptured work in another stream"},
    {906, "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "operation not permitted on an event last recorded in a capturing stream"},
    {908, "attempt to terminate a thread-local capture sequence from another thread"},
    {909, "wait operation timed out"},
    {910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"},
    {912, "cluster misconfiguration"},
    {913, "function not loaded"},
    {999, "unknown error"},
};

const char *dr_error_text(cu_result result)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].result == result)
            return texts[i].text;
    return dr_error_name(result) ? "unrecognized error code" : NULL;
}

cu_result impl_cuGetErrorName(cu_result error, const char **text)
{
    DR_NEED(text);
    *text = dr_error_name(error);
    return *text ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

cu_result impl_cuGetErrorString(cu_result error, const char **text)
{
    DR_NEED(text);
    *text = dr_error_text(error);
    return *text ? CUABI_SUCCESS : DR_ERROR(INVALID_VALUE);
}

/* ------------------------------------------------------------ the log */

bool dr_logging(void)
{
    return (dr_mode & DR_MODE_LOG) != 0;
}

static void put(const char *format, va_list list)
{
    char text[4096];
    int n = vsnprintf(text, sizeof text - 1, format, list);
    if (n < 0)
        return;
    size_t length = strlen(text);
    text[length] = '\n';
    /* One write, so that lines of several threads do not mix. */
    fwrite(text, 1, length + 1, stderr);
}

void dr_log(const char *format, ...)
{
    va_list list;
    if (!dr_logging())
        return;
    va_start(list, format);
    put(format, list);
    va_end(list);
}

cu_result dr_fail(cu_result result, const char *format, ...)
{
    if (!dr_logging())
        return result;
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *name = dr_error_name(result);
    dr_log("ptxbridge: %s (%d): %s", name ? name : "error", result, text);
    return result;
}

cu_result dr_fail_pxb(pxb_context *pxb, pxb_status status, const char *what)
{
    return status ? dr_fail(dr_result(status), "%s: %s", what, pxb_last_error(pxb)->message) : CUABI_SUCCESS;
}
