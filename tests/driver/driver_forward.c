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

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry twice(.param .u64 out)\n{\n .reg .b64 %d<2>; .reg .b32 %r<3>;\n"
    " ld.param.u64 %d1, [out]; ld.global.u32 %r1, [%d1+8]; add.u32 %r2, %r1, %r1; st.global.u32 [%d1], %r2; ret;\n}\n";

/* A launch as that driver takes it; the address leads into the middle of an allocation. */
static int launch(void)
{
    cu_module module;
    cu_function function;
    cu_address p, at;
    size_t bytes = sizeof at;
    uint32_t got = 0;
    EXPECT(cuModuleLoadDataEx(&module, text, 0, NULL, NULL) == 0)
    EXPECT(cuModuleGetFunction(&function, module, "twice") == 0)
    EXPECT(cuMemAlloc_v2(&p, 64) == 0 && cuMemsetD8_v2(p, 0x11, 64) == 0)
    at = p + 16;
    void *extra[] = {CUABI_LAUNCH_PARAM_BUFFER_POINTER, &at, CUABI_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CUABI_LAUNCH_PARAM_END};
    EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra) == 0)
    EXPECT(cuMemcpyDtoH_v2(&got, at, 4) == 0 && got == 0x22222222)
    EXPECT(cuMemFree_v2(p) == 0)
    return 0;
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
    /* a form that this library does not know, for those who ask for its version alone */
    cu_result (*allocate)(cu_address *, size_t), (*allocate_cleared)(cu_address *, size_t, uint8_t);
    unsigned char got = 0;
    EXPECT(cuGetProcAddress_v2("cuMemAlloc", &pointer, 13000, CUABI_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) == 0)
    memcpy(&allocate, &pointer, sizeof allocate);
    EXPECT(allocate(&p, 16) == 0 && cuMemFree_v2(p) == 0)
    EXPECT(cuGetProcAddress_v2("cuMemAlloc", &pointer, 13010, CUABI_CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) == 0)
    memcpy(&allocate_cleared, &pointer, sizeof allocate_cleared);
    EXPECT(allocate_cleared(&p, 16, 9) == 0 && cuMemcpyDtoH_v2(&got, p + 15, 1) == 0 && got == 9 && cuMemFree_v2(p) == 0)
    EXPECT(launch() == 0)
    EXPECT(cuStreamCreate(&stream, 0) == CUABI_CUDA_ERROR_NOT_SUPPORTED)       /* it has none: ours does not fill in */
    EXPECT(cuMulticastCreate(&handle, name) == CUABI_CUDA_ERROR_NOT_SUPPORTED)
    EXPECT(cuCtxDestroy_v2(context) == 0)
    printf("forwarded\n");
    return 0;
}
