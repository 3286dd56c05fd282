// streams.cu - copies and kernels of several streams at once, ordered by events, with host functions between them.
#include <atomic>
#include <cstring>
#include "check.h"

__global__ void scale(float *data, int n, float factor)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] *= factor;
}

__global__ void combine(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] - b[i];
}

static std::atomic<int> calls;
static void CUDART_CB count(void *by)
{
    calls += *(int *)by;
}

static void CUDART_CB old_style(cudaStream_t, cudaError_t status, void *by)
{
    calls += status == cudaSuccess ? *(int *)by : 1000000;
}

int main()
{
    const int streams = 4, n = 20000;
    cudaStream_t stream[streams], low;
    cudaEvent_t done[streams], untimed;
    float *host, *device;
    int one = 1, ten = 10, least, greatest;
    CHECK(cudaMallocHost(&host, streams * n * sizeof(float)));
    CHECK(cudaMalloc(&device, streams * n * sizeof(float)));
    for (int i = 0; i < streams * n; i++)
        host[i] = (float)i;
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&done[s]));
    }
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    for (int s = 0; s < streams; s++) {
        float *part = device + s * n;
        CHECK(cudaMemcpyAsync(part, host + s * n, n * sizeof(float), cudaMemcpyHostToDevice, stream[s]));
        scale<<<8, 128, 0, stream[s]>>>(part, n, (float)(s + 2));
        CHECK(cudaGetLastError());
        CHECK(cudaLaunchHostFunc(stream[s], count, &one));
        CHECK(cudaStreamAddCallback(stream[s], old_style, &ten, 0));
        CHECK(cudaEventRecord(done[s], stream[s]));
    }
    // The difference of the first two parts, once both are there and nobody uses the third.
    CHECK(cudaStreamWaitEvent(low, done[0], 0));
    CHECK(cudaStreamWaitEvent(low, done[1], 0));
    CHECK(cudaStreamWaitEvent(low, done[2], 0));
    combine<<<(n + 127) / 128, 128, 0, low>>>(device, device + n, device + 2 * n, n);
    // Its own stream reads the third part when that is done.
    CHECK(cudaEventRecord(untimed, low));
    CHECK(cudaStreamWaitEvent(stream[2], untimed, 0));
    for (int s = 0; s < streams; s++)
        CHECK(cudaMemcpyAsync(host + s * n, device + s * n, n * sizeof(float), cudaMemcpyDeviceToHost, stream[s]));
    for (int s = 0; s < streams; s++)
        CHECK(cudaStreamSynchronize(stream[s]));
    CHECK(cudaStreamQuery(low));
    CHECK(cudaEventQuery(done[3]));
    EXPECT(calls == streams * 11);
    for (int i = 0; i < n; i++) {
        EXPECT(host[i] == i * 2.0f);
        EXPECT(host[n + i] == (float)(n + i) * 3.0f);
        EXPECT(host[2 * n + i] == i * 2.0f - (float)(n + i) * 3.0f);
        EXPECT(host[3 * n + i] == (float)(3 * n + i) * 5.0f);
    }
    float ms;
    CHECK(cudaEventElapsedTime(&ms, done[0], done[0]));
    EXPECT(ms == 0);
    EXPECT(cudaEventElapsedTime(&ms, untimed, done[0]) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    unsigned flags = 0;
    int priority;
    CHECK(cudaStreamGetFlags(stream[0], &flags));
    CHECK(cudaStreamGetPriority(low, &priority));
    EXPECT(flags == cudaStreamNonBlocking && priority == least);
    for (int s = 0; s < streams; s++) {
        CHECK(cudaStreamDestroy(stream[s]));
        CHECK(cudaEventDestroy(done[s]));
    }
    CHECK(cudaStreamDestroy(low));
    CHECK(cudaEventDestroy(untimed));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    std::printf("streams: ok\n");
}
