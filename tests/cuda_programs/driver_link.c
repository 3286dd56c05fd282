/* driver_link.c - two pieces of PTX joined by the linker, one calling a function and using a variable of the other. */
#include <string.h>
#include "cuda_subset.h"

static char user[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) twice(.param .b32 v);\n"
    ".extern .global .align 4 .u32 offset;\n"
    ".visible .entry run(.param .u64 out)\n{\n"
    "    .reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, %tid.x;\n"
    "    { .param .b32 v; .param .b32 r; st.param.b32 [v], %r1; call (r), twice, (v); ld.param.b32 %r2, [r]; }\n"
    "    ld.global.u32 %r3, [offset];\n    add.u32 %r4, %r2, %r3;\n"
    "    mul.wide.u32 %rd2, %r1, 4;\n    add.u64 %rd3, %rd1, %rd2;\n    st.global.u32 [%rd3], %r4;\n    ret;\n}\n";

static char library[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 offset = 1000;\n"
    ".visible .func (.param .b32 r) twice(.param .b32 v)\n{\n"
    "    .reg .b32 %r<3>;\n    ld.param.b32 %r1, [v];\n    shl.b32 %r2, %r1, 1;\n    st.param.b32 [r], %r2;\n    ret;\n}\n";

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUlinkState link;
    CUmodule module;
    CUfunction f;
    CUdeviceptr out;
    void *image;
    size_t size;
    unsigned host[32];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));

    /* One piece alone misses something. */
    CHECK(cuLinkCreate(0, NULL, NULL, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, user, sizeof user, "user.ptx", 0, NULL, NULL));
    EXPECT(cuLinkComplete(link, &image, &size) != CUDA_SUCCESS);
    CHECK(cuLinkDestroy(link));

    CHECK(cuLinkCreate(0, NULL, NULL, &link));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, user, sizeof user, "user.ptx", 0, NULL, NULL));
    CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, library, sizeof library, "library.ptx", 0, NULL, NULL));
    CHECK(cuLinkComplete(link, &image, &size));
    EXPECT(size > 0);
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(link));
    CHECK(cuModuleGetFunction(&f, module, "run"));
    CHECK(cuMemAlloc(&out, sizeof host));
    void *params[] = {&out};
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cuMemcpyDtoH(host, out, sizeof host));
    for (unsigned i = 0; i < 32; i++)
        EXPECT(host[i] == 2 * i + 1000);
    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    printf("driver_link: ok\n");
    return 0;
}
