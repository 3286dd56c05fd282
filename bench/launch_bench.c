/* launch_bench.c - what a launch through libcuda.so.1 costs: an empty kernel on one stream, from four threads, and the first one of a
 * module. Prints one line of JSON; times are the least of five rounds, because everything else is other people's work.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include "tests/cuda_programs/cuda_subset.h"

enum { LAUNCHES = 20000, THREADS = 4, ROUNDS = 5 };

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";

static CUcontext context;
static CUfunction empty;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void launch_many(CUstream stream, int count)
{
    for (int i = 0; i < count; i++)
        CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
}

/* Seconds for one launch and its end, each waited for. */
static double one_by_one(CUstream stream)
{
    double start = now();
    for (int i = 0; i < LAUNCHES / 10; i++)
        launch_many(stream, 1);
    return (now() - start) / (LAUNCHES / 10);
}

static void *work(void *stream)
{
    CHECK(cuCtxSetCurrent(context));
    launch_many(stream, LAUNCHES / THREADS);
    return NULL;
}

static double from_threads(CUstream *streams)
{
    pthread_t threads[THREADS];
    double start = now();
    for (int t = 0; t < THREADS; t++)
        EXPECT(pthread_create(&threads[t], NULL, work, streams[t]) == 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    return LAUNCHES / (now() - start);
}

/* From the text to the end of its first kernel. */
static double first_launch(CUstream stream)
{
    CUmodule module;
    CUfunction f;
    double start = now();
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&f, module, "empty"));
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    CHECK(cuStreamSynchronize(stream));
    double took = now() - start;
    CHECK(cuModuleUnload(module));
    return took;
}

int main(void)
{
    CUdevice device;
    CUmodule module;
    CUstream streams[THREADS];
    double queued = 1e9, waited = 1e9, rate = 0, first = 1e9;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    for (int t = 0; t < THREADS; t++)
        CHECK(cuStreamCreate(&streams[t], CU_STREAM_NON_BLOCKING));
    double cold = first_launch(streams[0]);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        launch_many(streams[0], LAUNCHES);
        double each = (now() - start) / LAUNCHES, single = one_by_one(streams[0]), many = from_threads(streams);
        double again = first_launch(streams[0]);
        queued = each < queued ? each : queued;
        waited = single < waited ? single : waited;
        rate = many > rate ? many : rate;
        first = again < first ? again : first;
    }
    printf("{\"launch_us\": %.3f, \"launch_and_wait_us\": %.3f, \"launches_per_second_4_threads\": %.0f, \"first_launch_ms\": %.3f, "
           "\"first_launch_of_process_ms\": %.3f}\n",
           queued * 1e6, waited * 1e6, rate, first * 1e3, cold * 1e3);
    CHECK(cuCtxDestroy(context));
    return 0;
}
