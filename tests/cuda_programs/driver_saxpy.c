/* driver_saxpy.c - the driver API in C over PTX text: modules, parameters as pointers and as a packed buffer, globals, errors. */
#include <string.h>
#include "cuda_subset.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .f32 bias = 0f40000000;\n"
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)\n"
    "{\n"
    "    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .b64 %rd<8>;\n"
    "    ld.param.u64 %rd1, [x];\n    ld.param.u64 %rd2, [y];\n    ld.param.f32 %f1, [a];\n    ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n    mov.u32 %r4, %tid.x;\n    mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "    setp.ge.u32 %p1, %r5, %r1;\n    @%p1 bra DONE;\n"
    "    mul.wide.u32 %rd3, %r5, 4;\n    add.u64 %rd4, %rd1, %rd3;\n    add.u64 %rd5, %rd2, %rd3;\n"
    "    ld.global.f32 %f2, [%rd4];\n    ld.global.f32 %f3, [%rd5];\n    ld.global.f32 %f4, [bias];\n"
    "    fma.rn.f32 %f5, %f1, %f2, %f3;\n    add.f32 %f5, %f5, %f4;\n    st.global.f32 [%rd5], %f5;\n"
    "DONE:\n    ret;\n}\n";

enum { N = 5000 };

static void launch_both_ways(CUfunction f, CUdeviceptr x, CUdeviceptr y, CUstream stream)
{
    float a = 3;
    unsigned n = N;
    void *params[] = {&x, &y, &a, &n};
    CHECK(cuLaunchKernel(f, (N + 127) / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    struct { CUdeviceptr x, y; float a; unsigned n; } packed = {x, y, 0.5f, N};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(f, (N + 127) / 128, 1, 1, 128, 1, 1, 0, stream, NULL, extra));
    memset(&packed, 0xff, sizeof packed);        /* parameters are read before the call returns */
    a = -1e30f;
}

static void check_errors(CUmodule module)
{
    CUfunction f;
    CUmodule bad;
    char log[2000] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    EXPECT(cuModuleGetFunction(&f, module, "no_such_kernel") == CUABI_CUDA_ERROR_NOT_FOUND);
    EXPECT(cuModuleLoadDataEx(&bad, ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { frobnicate; }\n", 2, options, values) ==
           CUABI_CUDA_ERROR_INVALID_PTX);
    EXPECT(strstr(log, "frobnicate"));
    EXPECT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) != CUDA_SUCCESS);
    EXPECT(cuMemFree(12345) == CUABI_CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    static float x[N], y[N], expected[N];
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction f;
    CUdeviceptr dx, dy, bias;
    CUstream stream;
    size_t bytes;
    int threads;
    /* A driver that calls are forwarded to was tried before the first of them, and is initialised. */
    EXPECT(getenv("PTXBRIDGE_CUDA_LIBRARY") || cuCtxGetCurrent(&context) == CUABI_CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&f, module, "saxpy"));
    CHECK(cuFuncGetAttribute(&threads, 0, f));
    EXPECT(threads >= 512);
    CHECK(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
    EXPECT(bytes == 4);
    float one = 1;
    CHECK(cuMemcpyHtoD(bias, &one, 4));
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 100);
        y[i] = (float)(i % 7);
        expected[i] = (3 * x[i] + y[i] + 1) + 0.5f * x[i] + 1;
    }
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&dx, sizeof x));
    CHECK(cuMemAlloc(&dy, sizeof y));
    CHECK(cuMemcpyHtoDAsync(dx, x, sizeof x, stream));
    CHECK(cuMemcpyHtoDAsync(dy, y, sizeof y, stream));
    launch_both_ways(f, dx, dy, stream);
    CHECK(cuMemcpyDtoHAsync(y, dy, sizeof y, stream));
    CHECK(cuStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        EXPECT(y[i] == expected[i]);
    check_errors(module);
    CHECK(cuMemFree(dx));
    CHECK(cuMemFree(dy));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    printf("driver_saxpy: ok\n");
    return 0;
}
