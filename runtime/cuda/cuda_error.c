/* cuda_error.c - the driver's results as errors of this program, and contexts that are lost.
 *
 * The CUDA Driver API calls the errors 700 to 719 that a kernel causes "sticky": every later call in the context
 * answers with the same one, and its memory cannot be read any more. So such a fault ends the device; it has to be
 * closed and opened again, which makes a new context.
 */
#include "runtime/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

pxb_status cuda_enter(pxb_device *device)
{
    cuda_state *s = cuda_state_of(device);
    if (s->hung)
        return rt_fail(device->context, PXB_NO_DEVICE,
                       "device \"cuda:%d\" is still occupied by kernel \"%s\", which ran past its time limit: a GPU's "
                       "kernel cannot be stopped from outside, it ends with this process",
                       s->ordinal, s->lost_by);
    if (s->lost)
        return rt_fail(device->context, PXB_NO_DEVICE,
                       "device \"cuda:%d\" is lost with its memory since kernel \"%s\" faulted (%s): close it and open it "
                       "again",
                       s->ordinal, s->lost_by, pxb_status_name(s->lost));
    cu_result result = s->cu->cuCtxPushCurrent_v2(s->context);
    return result ? cuda_fail(device, result, "making the context current") : PXB_OK;
}

void cuda_leave(pxb_device *device)
{
    cu_context popped;
    cuda_state_of(device)->cu->cuCtxPopCurrent_v2(&popped);
}

pxb_status cuda_status(cu_result result)
{
    switch (result) {
    case CUABI_CUDA_ERROR_INVALID_VALUE:
    case CUABI_CUDA_ERROR_INVALID_HANDLE:
    case CUABI_CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUABI_CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: return PXB_BAD_ARGUMENT;
    case CUABI_CUDA_ERROR_OUT_OF_MEMORY: return PXB_OUT_OF_MEMORY;
    case CUABI_CUDA_ERROR_NO_DEVICE:
    case CUABI_CUDA_ERROR_INVALID_DEVICE: return PXB_NO_DEVICE;
    case CUABI_CUDA_ERROR_INVALID_IMAGE:
    case CUABI_CUDA_ERROR_INVALID_PTX:
    case CUABI_CUDA_ERROR_INVALID_SOURCE: return PXB_BAD_INPUT;
    case CUABI_CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUABI_CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUABI_CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUABI_CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUABI_CUDA_ERROR_NOT_SUPPORTED: return PXB_UNSUPPORTED;
    case CUABI_CUDA_ERROR_NOT_FOUND: return PXB_NOT_FOUND;
    default: return PXB_INTERNAL;
    }
}

pxb_status cuda_fail(pxb_device *device, cu_result result, const char *doing)
{
    char text[256];
    return rt_fail(device->context, cuda_status(result), "%s: %s", doing,
                   cuda_result_text(cuda_state_of(device)->cu, result, text, sizeof text));
}

/* What a kernel did, as far as the driver says. 719 is said of traps and of accesses outside shared or local memory
 * alike, so the kernel's module decides: without a trap instruction it was not a trap. */
static pxb_status fault_of(const cuda_kernel *kernel, cu_result result)
{
    switch (result) {
    case CUABI_CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUABI_CUDA_ERROR_INVALID_ADDRESS_SPACE: return PXB_FAULT_ADDRESS;
    case CUABI_CUDA_ERROR_MISALIGNED_ADDRESS: return PXB_FAULT_MISALIGNED;
    case CUABI_CUDA_ERROR_ASSERT:
    case CUABI_CUDA_ERROR_ILLEGAL_INSTRUCTION: return PXB_FAULT_TRAP;
    case CUABI_CUDA_ERROR_LAUNCH_FAILED: return kernel->owner->traps ? PXB_FAULT_TRAP : PXB_FAULT_ADDRESS;
    case CUABI_CUDA_ERROR_LAUNCH_TIMEOUT: return PXB_FAULT_TIMEOUT;
    case CUABI_CUDA_ERROR_HARDWARE_STACK_ERROR: return PXB_FAULT_STACK;
    case CUABI_CUDA_ERROR_INVALID_PC: return PXB_FAULT_CALL;
    default: return PXB_OK;
    }
}

/* True for the errors that no kernel is to blame for, but after which the context is gone as well. */
static bool ends_context(cu_result result)
{
    return result == CUABI_CUDA_ERROR_ECC_UNCORRECTABLE || result == CUABI_CUDA_ERROR_UNKNOWN;
}

pxb_status cuda_fault(pxb_device *device, const cuda_kernel *kernel, cu_result result)
{
    cuda_state *s = cuda_state_of(device);
    char text[256], reason[320];
    pxb_status status = fault_of(kernel, result);
    if (status || ends_context(result)) {
        s->lost = status ? status : PXB_INTERNAL;
        snprintf(s->lost_by, sizeof s->lost_by, "%.*s", (int)sizeof s->lost_by - 1, kernel->ptx->name);
    }
    snprintf(reason, sizeof reason, "the driver reports %s", cuda_result_text(s->cu, result, text, sizeof text));
    pxb_error e = {
        .status = status ? status : cuda_status(result),
        .reason = reason,
        .file = kernel->owner->ptx->file,
        .kernel = kernel->ptx->name,
    };
    return rt_fail_with(device->context, &e);
}
