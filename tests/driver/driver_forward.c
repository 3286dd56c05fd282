/* driver_forward.c - a program on a machine whose NVIDIA driver works: its calls reach that driver, whichever way it found them. */
#include <stdio.h>
#include <string.h>
#include "runtime/cuda/cuda_types.h"

#define CUDA_VERSION 1000000
#define DRIVER_FUNCTION(symbol, params) cu_result symbol params;
#include "driver_functions.inc"
cu_result cuMulticastCreate(uint64_t *handle, const void *props);

#define EXPECT(what)                                                                                                   \
    if (!(what)) {                                                                                                     \
        printf("not true: %s\n", #what);                                                                               \
        return 1;                                                                                                      \
    }

int main(void)
{
    char name[64] = "";
    cu_context context = NULL;
    cu_address p = 0;
    cu_stream stream;
    int32_t status;
    uint64_t handle = 0;
    void *pointer = NULL;
    cu_result (*create)(cu_context *, uint32_t, cu_device);
    EXPECT(cuInit(0) == 0)
    EXPECT(cuDeviceGetName(name, sizeof name, 0) == 0 && strncmp(name, "CPU as GPU", 10) == 0)
    /* exported by nobody there, known to its own look-up */
    EXPECT(cuGetProcAddress_v2("cuCtxCreate", &pointer, 3020, CUABI_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) == 0 && pointer)
    memcpy(&create, &pointer, sizeof create);
    EXPECT(create(&context, 0, 0) == 0)
    EXPECT(cuMemAlloc_v2(&p, 16) == 0)
    EXPECT(cuMemsetD8_v2(p, 7, 16) == 0)
    EXPECT(cuMemFree_v2(p) == 0)
    EXPECT(cuStreamCreate(&stream, 0) == CUABI_CUDA_ERROR_NOT_SUPPORTED)       /* it has none: ours does not fill in */
    EXPECT(cuMulticastCreate(&handle, name) == CUABI_CUDA_ERROR_NOT_SUPPORTED)
    EXPECT(cuCtxDestroy_v2(context) == 0)
    printf("forwarded\n");
    return 0;
}
