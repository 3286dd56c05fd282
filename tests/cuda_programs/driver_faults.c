/* driver_faults.c - faults of kernels: CUDA's code for each kind, the same on every device, sticky until the context ends, after which the
 * device is as good as new. What AMD's hardware allows, or cannot be found on it, is asked of the CPU alone. */
#include <string.h>
#include "cuda_subset.h"

static const char *const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .align 1 .b8 message[6] = {49, 32, 61, 61, 32, 50};\n"
    ".global .align 8 .u64 buffer[4];\n"
    ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
    ".extern .func free (.param .b64 p);\n"
    ".visible .entry fine(.param .u64 out) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 7; ret; }\n"
    ".visible .entry traps(.param .u64 out) { trap; ret; }\n"
    ".visible .entry asserts(.param .u64 out) { .reg .b64 %rd<3>; mov.u64 %rd1, message; cvta.global.u64 %rd2, %rd1;\n"
    "  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;\n"
    "  st.param.b64 [m], %rd2; st.param.b64 [f], %rd2; st.param.b32 [l], 3; st.param.b64 [n], %rd2; st.param.b64 [c], 1;\n"
    "  call.uni __assertfail, (m, f, l, n, c); } ret; }\n"
    ".visible .entry strays(.param .u64 out) { .reg .b64 %rd<2>; mov.u64 %rd1, 64; st.global.u32 [%rd1], 1; ret; }\n"
    ".visible .entry reads_null(.param .u64 out) { .reg .b64 %rd<3>; .reg .b32 %r<2>; mov.u64 %rd1, 0; ld.param.u64 %rd2, [out];\n"
    "  ld.volatile.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1; ret; }\n"
    ".visible .entry frees(.param .u64 out) { .reg .b64 %rd<2>; mov.u64 %rd1, 4660; { .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); } ret; }\n"
    ".visible .entry samples(.param .u64 out) { .reg .b64 %rd<2>; .reg .f32 %f<7>; mov.u64 %rd1, 12345; mov.f32 %f1, 0f00000000;\n"
    "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f1}]; ret; }\n"
    ".visible .entry jumps(.param .u64 out) { .reg .b64 %rd<2>; mov.u64 %rd1, 8; p: .callprototype _ (); call %rd1, (), p; ret; }\n"
    ".visible .entry switches(.param .u64 out) { .reg .b32 %r<2>; mov.u32 %r1, 5; t: .branchtargets A, B; brx.idx %r1, t; A: ret; B: ret; }\n"
    ".visible .entry counts(.param .u64 out) { .reg .b32 %r<2>; mov.u32 %r1, 48; barrier.sync 1, %r1; ret; }\n"
    ".visible .entry misaligns(.param .u64 out) { .reg .b64 %rd<3>; mov.u64 %rd1, buffer; st.global.u32 [%rd1+2], 1; ret; }\n";

static const struct { const char *kernel; int code; int everywhere; } kinds[] = {
    {"traps", CUABI_CUDA_ERROR_LAUNCH_FAILED, 1},    {"asserts", CUABI_CUDA_ERROR_ASSERT, 1},
    {"strays", CUABI_CUDA_ERROR_ILLEGAL_ADDRESS, 1}, {"reads_null", CUABI_CUDA_ERROR_ILLEGAL_ADDRESS, 1},
    {"frees", CUABI_CUDA_ERROR_ILLEGAL_ADDRESS, 1},  {"samples", CUABI_CUDA_ERROR_ILLEGAL_ADDRESS, 1},
    {"jumps", CUABI_CUDA_ERROR_INVALID_PC, 1},       {"switches", CUABI_CUDA_ERROR_INVALID_PC, 1},
    {"counts", CUABI_CUDA_ERROR_LAUNCH_FAILED, 1},   {"misaligns", CUABI_CUDA_ERROR_MISALIGNED_ADDRESS, 0},
};

/* A context of its own for each fault; the kernel's own launch succeeds, what waits for it tells. */
static void fault(CUdevice device, const char *name, int code)
{
    CUcontext context;
    CUmodule module;
    CUfunction f, fine;
    CUdeviceptr out, more;
    unsigned seven = 0;
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&f, module, name));
    CHECK(cuModuleGetFunction(&fine, module, "fine"));
    CHECK(cuMemAlloc(&out, 64));
    void *params[] = {&out};
    CHECK(cuLaunchKernel(fine, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cuMemcpyDtoH(&seven, out, 4));
    EXPECT(seven == 7);
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    const CUresult got = cuCtxSynchronize();
    if (got != (CUresult)code) {
        const char *text_of_got = "?";
        cuGetErrorName(got, &text_of_got);
        fprintf(stderr, "%s: %s (%d), not %d\n", name, text_of_got, got, code);
        exit(1);
    }
    EXPECT(cuLaunchKernel(fine, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL) == (CUresult)code);
    EXPECT(cuMemAlloc(&more, 4) == (CUresult)code);
    EXPECT(cuMemcpyDtoH(&seven, out, 4) == (CUresult)code);
    cuCtxDestroy(context);
}

/* LLVM is loaded for devices that run AMD code, and for no other. */
static int has_llvm(void)
{
    char line[1000];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    EXPECT(f);
    while (fgets(line, sizeof line, f))
        found |= strstr(line, "libLLVM") != NULL;
    fclose(f);
    return found;
}

int main(void)
{
    char name[100];
    CUdevice device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].everywhere || strstr(name, "CPU"))
            fault(device, kinds[i].kernel, kinds[i].code);
    EXPECT(!has_llvm() || !strstr(name, "CPU"));
    printf("driver_faults: ok\n");
    return 0;
}
