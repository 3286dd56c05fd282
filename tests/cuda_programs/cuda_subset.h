/* cuda_subset.h - the few declarations of cuda.h that the driver-API programs of this folder use, for machines where CUDA is not installed.
 * Names and values are those of the CUDA Driver API reference; the functions come from the list that libcudart is made of, which
 * tests/cudart_abi_check.cc compares with NVIDIA's header.
 */
#ifndef CUDA_SUBSET_H
#define CUDA_SUBSET_H

#include "runtime/cudart/driver_calls.h"

typedef cu_result CUresult;
typedef cu_device CUdevice;
typedef cu_address CUdeviceptr;
typedef cu_context CUcontext;
typedef cu_module CUmodule;
typedef cu_function CUfunction;
typedef cu_stream CUstream;
typedef cu_event CUevent;
typedef cu_link CUlinkState;
#define CUDA_SUCCESS CUABI_SUCCESS

#define DECLARE(name, params) cu_result name params;
DRIVER_CALLS(DECLARE)
#undef DECLARE

/* Used by programs only. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent_v2(CUcontext *context);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function);
CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *link);
CUresult cuLinkAddData_v2(CUlinkState link, int type, void *data, size_t size, const char *name, unsigned count, int *options,
                          void **values);
CUresult cuLinkComplete(CUlinkState link, void **image, size_t *size);
CUresult cuLinkDestroy(CUlinkState link);

#define cuCtxCreate cuCtxCreate_v2
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2
#define CU_LAUNCH_PARAM_END CUABI_LAUNCH_PARAM_END
#define CU_LAUNCH_PARAM_BUFFER_POINTER CUABI_LAUNCH_PARAM_BUFFER_POINTER
#define CU_LAUNCH_PARAM_BUFFER_SIZE CUABI_LAUNCH_PARAM_BUFFER_SIZE
#define CU_JIT_ERROR_LOG_BUFFER CUABI_CU_JIT_ERROR_LOG_BUFFER
#define CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES CUABI_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
#define CU_JIT_INPUT_PTX CUABI_CU_JIT_INPUT_PTX
#define CU_STREAM_NON_BLOCKING CUABI_CU_STREAM_NON_BLOCKING

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult result_ = (call);                                                                                     \
        if (result_ != CUDA_SUCCESS) {                                                                                 \
            const char *name_ = "?";                                                                                   \
            cuGetErrorName(result_, &name_);                                                                           \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
