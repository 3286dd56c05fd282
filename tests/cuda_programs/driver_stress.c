/* driver_stress.c - eight threads over two contexts: streams, events, copies, launches, modules, all at once. Each thread checks its own
 * results, and all add to one counter of their context, which loses nothing. Run under ThreadSanitizer as well.
 */
#include <pthread.h>
#include <string.h>
#include "cuda_subset.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry step(.param .u64 data, .param .u32 n, .param .u32 add, .param .u64 counter)\n{\n"
    "    .reg .pred %p<2>; .reg .b32 %r<10>; .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [data];\n    ld.param.u32 %r1, [n];\n    ld.param.u32 %r2, [add];\n    ld.param.u64 %rd5, [counter];\n"
    "    mov.u32 %r3, %ctaid.x;\n    mov.u32 %r4, %ntid.x;\n    mov.u32 %r5, %tid.x;\n    mad.lo.u32 %r6, %r3, %r4, %r5;\n"
    "    setp.ge.u32 %p1, %r6, %r1;\n    @%p1 bra DONE;\n"
    "    mul.wide.u32 %rd3, %r6, 4;\n    add.u64 %rd4, %rd1, %rd3;\n"
    "    ld.global.u32 %r7, [%rd4];\n    mad.lo.u32 %r7, %r7, 5, %r2;\n    st.global.u32 [%rd4], %r7;\n"
    "    atom.global.add.u32 %r8, [%rd5], 1;\n"
    "DONE:\n    ret;\n}\n";

enum { CONTEXTS = 2, THREADS = 8, N = 700, ROUNDS = 12, STEPS = 4 };

static CUcontext contexts[CONTEXTS];
static CUmodule modules[CONTEXTS];
static CUdeviceptr counters[CONTEXTS];
static CUfunction functions[CONTEXTS];

static void one_round(unsigned t, unsigned round, CUstream stream, CUstream other, CUevent event, CUdeviceptr data)
{
    unsigned host[N], expected[N], n = N;
    for (unsigned i = 0; i < N; i++)
        host[i] = expected[i] = i * 31 + t * 7 + round;
    CHECK(cuMemcpyHtoDAsync(data, host, sizeof host, stream));
    for (unsigned s = 0; s < STEPS; s++) {
        unsigned add = t + s;
        void *params[] = {&data, &n, &add, &counters[t % CONTEXTS]};
        CUstream use = s % 2 ? other : stream, next = s % 2 ? stream : other;
        CHECK(cuLaunchKernel(functions[t % CONTEXTS], (N + 63) / 64, 1, 1, 64, 1, 1, 0, use, params, NULL));
        CHECK(cuEventRecord(event, use));
        CHECK(cuStreamWaitEvent(next, event, 0));
        for (unsigned i = 0; i < N; i++)
            expected[i] = expected[i] * 5 + add;
    }
    CHECK(cuMemcpyDtoHAsync(host, data, sizeof host, stream));
    CHECK(cuStreamSynchronize(stream));
    EXPECT(memcmp(host, expected, sizeof host) == 0);
}

static void *work(void *argument)
{
    unsigned t = (unsigned)(uintptr_t)argument;
    CHECK(cuCtxPushCurrent(contexts[t % CONTEXTS]));
    for (unsigned round = 0; round < ROUNDS; round++) {
        CUstream stream, other;
        CUevent event;
        CUdeviceptr data;
        CUmodule own;
        CUfunction f;
        CHECK(cuStreamCreate(&stream, t & 1 ? CU_STREAM_NON_BLOCKING : 0));
        CHECK(cuStreamCreate(&other, 0));
        CHECK(cuEventCreate(&event, 0));
        CHECK(cuMemAlloc(&data, N * sizeof(unsigned)));
        CHECK(cuModuleLoadData(&own, ptx));
        CHECK(cuModuleGetFunction(&f, own, "step"));
        one_round(t, round, stream, other, event, data);
        CHECK(cuModuleUnload(own));
        CHECK(cuMemFree(data));
        CHECK(cuEventDestroy(event));
        CHECK(cuStreamDestroy(stream));
        CHECK(cuStreamDestroy(other));
    }
    CUcontext popped;
    CHECK(cuCtxPopCurrent(&popped));
    EXPECT(popped == contexts[t % CONTEXTS]);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    CUdevice device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    for (int c = 0; c < CONTEXTS; c++) {
        unsigned zero = 0;
        CHECK(cuCtxCreate(&contexts[c], 0, device));
        CHECK(cuModuleLoadData(&modules[c], ptx));
        CHECK(cuModuleGetFunction(&functions[c], modules[c], "step"));
        CHECK(cuMemAlloc(&counters[c], sizeof zero));
        CHECK(cuMemcpyHtoD(counters[c], &zero, sizeof zero));
    }
    for (uintptr_t t = 0; t < THREADS; t++)
        EXPECT(pthread_create(&threads[t], NULL, work, (void *)t) == 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int c = 0; c < CONTEXTS; c++) {
        unsigned count;
        CHECK(cuCtxPushCurrent(contexts[c]));
        CHECK(cuMemcpyDtoH(&count, counters[c], sizeof count));
        EXPECT(count == THREADS / CONTEXTS * ROUNDS * STEPS * N);
        CHECK(cuCtxDestroy(contexts[c]));
    }
    printf("driver_stress: ok\n");
    return 0;
}
