/* driver_pointers.c - a kernel that walks a list whose nodes lie in allocations of their own, by way of a table of pointers and a variable
 * that holds another one than it had at first; it leaves pointers behind itself.
 */
#include "cuda_subset.h"

static const char *const text =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 8 .u64 met[2];\n.visible .global .align 8 .u64 extra = generic(met);\n"
    ".visible .entry walk(.param .u64 table, .param .u64 out)\n{\n"
    " .reg .b64 %d<12>; .reg .b32 %r<6>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [table]; ld.param.u64 %d2, [out];\n"
    " ld.global.u64 %d3, [%d1+8]; mov.u64 %d4, 0; mov.u32 %r1, 0;\n"
    "L: ld.global.u32 %r2, [%d3+8]; add.u32 %r1, %r1, %r2; mov.u64 %d4, %d3; ld.global.u64 %d3, [%d3];\n"
    " setp.ne.u64 %p, %d3, 0;\n @%p bra L;\n"
    " ld.global.u64 %d5, [extra]; ld.global.u32 %r3, [%d5+8]; add.u32 %r1, %r1, %r3;\n"
    " st.global.u32 [%d2], %r1; add.u64 %d6, %d4, 8; st.global.u64 [%d2+8], %d6;\n"
    " mov.u64 %d7, met; add.u64 %d8, %d7, 8; st.global.u64 [met], %d8; st.global.u64 [met+8], %d2;\n"
    " st.global.u64 [%d1], %d4;\n ret;\n}\n";

typedef struct node { CUdeviceptr next; unsigned value, pad; } node;

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction walk;
    CUdeviceptr nodes[4], table, out, variable;
    size_t bytes;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&walk, module, "walk"));
    for (int i = 3; i >= 0; i--) {
        node n = {i < 2 ? nodes[i + 1] : 0, 1u << (4 * i), 0};     /* 0 -> 1 -> 2, and 3 by itself */
        CHECK(cuMemAlloc(&nodes[i], sizeof n));
        CHECK(cuMemcpyHtoD(nodes[i], &n, sizeof n));
    }
    CHECK(cuMemAlloc(&table, 16));
    CHECK(cuMemcpyHtoD(table + 8, &nodes[0], 8));
    CHECK(cuMemAlloc(&out, 16));
    CHECK(cuModuleGetGlobal(&variable, &bytes, module, "extra"));
    CHECK(cuMemcpyHtoD(variable, &nodes[3], 8));
    void *params[] = {&table, &out};
    CHECK(cuLaunchKernel(walk, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    struct { unsigned sum, pad; CUdeviceptr last; } got;
    CHECK(cuMemcpyDtoH(&got, out, sizeof got));
    if (got.sum != 0x1111 || got.last != nodes[2] + 8)
        return printf("sum 0x%x\n", got.sum), 1;
    printf("driver_pointers: ok\n");
    return 0;
}
