/* driver_heap.c - kernels that leave blocks of malloc and addresses of functions in memory, for the next launch to use and to free; beside a
 * copy in another stream, to the other half of the same allocation, while a kernel runs; and a grid whose blocks wait for each other.
 */
#include "cuda_subset.h"

static const char *const text =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b64 block) malloc (.param .b64 bytes);\n.extern .func free (.param .b64 block);\n"
    ".visible .func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %r<3>; ld.param.b32 %r1, [in]; add.u32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret; }\n"
    ".visible .func (.param .b32 out) square(.param .b32 in) { .reg .b32 %r<3>; ld.param.b32 %r1, [in]; mul.lo.u32 %r2, %r1, %r1; st.param.b32 [out], %r2; ret; }\n"
    /* list[i] = {block of 8 words, function}; every block leads to the first word of the one before */
    ".visible .entry make(.param .u64 list, .param .u32 count)\n{\n"
    " .reg .b64 %d<12>; .reg .b32 %r<8>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [list]; ld.param.u32 %r1, [count]; mov.u32 %r2, 0; mov.u64 %d2, 0;\n"
    "L: mov.u64 %d3, 32;\n {\n .param .b64 size; .param .b64 block; st.param.b64 [size], %d3; call.uni (block), malloc, (size); ld.param.b64 %d4, [block];\n }\n"
    " add.u32 %r3, %r2, 7; st.u32 [%d4], %r3; st.u64 [%d4+8], %d2; mov.u64 %d2, %d4;\n"
    " and.b32 %r4, %r2, 1; setp.eq.u32 %p, %r4, 0; mov.u64 %d5, twice; mov.u64 %d6, square; selp.u64 %d5, %d5, %d6, %p;\n"
    " mul.wide.u32 %d7, %r2, 16; add.u64 %d7, %d1, %d7; st.global.u64 [%d7], %d4; st.global.u64 [%d7+8], %d5;\n"
    " add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1;\n @%p bra L;\n ret;\n}\n"
    /* out[i] = list[i].function(block's word) + the word of the block before; the blocks change, and every other one is freed */
    ".visible .entry use(.param .u64 list, .param .u32 count, .param .u64 out)\n{\n"
    " .reg .b64 %d<12>; .reg .b32 %r<12>; .reg .pred %p<3>;\n"
    " p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    " ld.param.u64 %d1, [list]; ld.param.u32 %r1, [count]; ld.param.u64 %d9, [out]; mov.u32 %r2, %r1;\n"
    "L: sub.u32 %r2, %r2, 1; mul.wide.u32 %d7, %r2, 16; add.u64 %d7, %d1, %d7; ld.global.u64 %d4, [%d7]; ld.global.u64 %d5, [%d7+8];\n"
    " ld.u32 %r3, [%d4]; ld.u64 %d6, [%d4+8]; mov.u32 %r4, 0; setp.ne.u64 %p1, %d6, 0;\n @%p1 ld.u32 %r4, [%d6];\n"
    " {\n .param .b32 in; .param .b32 result; st.param.b32 [in], %r3; call (result), %d5, (in), p; ld.param.b32 %r5, [result];\n }\n"
    " add.u32 %r5, %r5, %r4; mul.wide.u32 %d8, %r2, 4; add.u64 %d8, %d9, %d8; st.global.u32 [%d8], %r5; st.u32 [%d4+16], %r5;\n"
    " and.b32 %r6, %r2, 1; setp.eq.u32 %p2, %r6, 0;\n @%p2 bra M;\n {\n .param .b64 block; st.param.b64 [block], %d4; call.uni free, (block);\n }\n"
    "M: setp.ne.u32 %p1, %r2, 0;\n @%p1 bra L;\n ret;\n}\n"
    ".visible .entry slow(.param .u64 data, .param .u32 rounds)\n{\n"
    " .reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [data]; ld.param.u32 %r1, [rounds]; mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2;\n"
    "L: ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%d1], %r3; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0;\n"
    " @%p bra L;\n ret;\n}\n"
    /* each block adds its number, waits for all, and takes the sum */
    ".visible .entry meet(.param .u64 data, .param .f32 zero)\n{\n"
    " .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p;\n"
    " ld.param.u64 %d1, [data]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; add.u32 %r3, %r1, 1;\n"
    " atom.global.add.u32 %r4, [%d1], %r3; membar.gl; atom.global.add.u32 %r4, [%d1+4], 1;\n"
    "L: ld.volatile.global.u32 %r5, [%d1+4]; setp.lt.u32 %p, %r5, %r2;\n @%p bra L;\n"
    " membar.gl; ld.volatile.global.u32 %r6, [%d1]; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; st.global.u32 [%d2+8], %r6;\n"
    " ld.param.b32 %r7, [zero]; st.global.u32 [%d1+40], %r7;\n ret;\n}\n";

enum { COUNT = 6, HALF = 1 << 20 };

static void lists(CUmodule module)
{
    CUfunction make, use;
    CUdeviceptr list, out;
    uint32_t count = COUNT, got[COUNT];
    CHECK(cuModuleGetFunction(&make, module, "make"));
    CHECK(cuModuleGetFunction(&use, module, "use"));
    CHECK(cuMemAlloc(&list, 16 * COUNT));
    CHECK(cuMemAlloc(&out, sizeof got));
    CHECK(cuLaunchKernel(make, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&list, &count}, NULL));
    CHECK(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&list, &count, &out}, NULL));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    for (uint32_t i = 0; i < COUNT; i++)
        EXPECT(got[i] == (i & 1 ? (i + 7) * (i + 7) : 2 * (i + 7)) + (i ? i + 6 : 0));
}

static void overlap(CUmodule module)
{
    CUfunction slow;
    CUdeviceptr data;
    CUstream streams[2];
    uint32_t rounds = 100000, got[32], *half = malloc(HALF);
    CHECK(cuModuleGetFunction(&slow, module, "slow"));
    CHECK(cuMemAlloc(&data, 2 * HALF));
    for (int i = 0; i < HALF / 4; i++)
        half[i] = (uint32_t)i;
    CHECK(cuMemcpyHtoD(data, half, HALF));
    CHECK(cuMemcpyHtoD(data + HALF, half, HALF));
    for (int i = 0; i < HALF / 4; i++)
        half[i] += 0x10000;
    for (int i = 0; i < 2; i++)
        CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CHECK(cuLaunchKernel(slow, 1, 1, 1, 32, 1, 1, 0, streams[0], (void *[]){&data, &rounds}, NULL));
    for (int i = 0; i < 64; i++)
        CHECK(cuMemcpyHtoDAsync(data + HALF + i * (HALF / 64), (char *)half + i * (HALF / 64), HALF / 64, streams[1]));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(got, data, sizeof got));
    for (uint32_t i = 0; i < 32; i++)
        EXPECT(got[i] == i + rounds);
    CHECK(cuMemcpyDtoH(got, data + 2 * HALF - sizeof got, sizeof got));
    EXPECT(got[31] == 0x10000 + HALF / 4 - 1);
    free(half);
}

static void meet(CUmodule module)
{
    CUfunction f;
    CUdeviceptr data;
    uint32_t got[11] = {0};
    float zero = -0.0f;            /* whose sign is lost where a case calls it 0 */
    CHECK(cuModuleGetFunction(&f, module, "meet"));
    CHECK(cuMemAlloc(&data, sizeof got));
    CHECK(cuMemcpyHtoD(data, got, sizeof got));
    CHECK(cuLaunchCooperativeKernel(f, 8, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&data, &zero}));
    CHECK(cuMemcpyDtoH(got, data, sizeof got));
    for (int i = 0; i < 8; i++)
        EXPECT(got[2 + i] == 36);
    EXPECT(got[10] == 0x80000000u);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, text));
    lists(module);
    overlap(module);
    meet(module);
    printf("driver_heap: ok\n");
    return 0;
}
