// threads.cu - eight host threads with default streams of their own (compiled with --default-stream per-thread).
#include <thread>
#include <vector>
#include "check.h"

__global__ void work(unsigned *data, int n, unsigned seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 1664525u + seed;
}

static void one(unsigned seed)
{
    const int n = 3000;
    std::vector<unsigned> host(n), expected(n);
    unsigned *device;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&device, n * sizeof(unsigned)));
    for (int i = 0; i < n; i++)
        host[i] = expected[i] = i ^ seed;
    for (int round = 0; round < 10; round++) {
        CHECK(cudaMemcpyAsync(device, host.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
        for (int k = 0; k < 3; k++)
            work<<<(n + 127) / 128, 128>>>(device, n, seed + k);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(host.data(), device, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 3; k++)
                expected[i] = expected[i] * 1664525u + seed + k;
            EXPECT(host[i] == expected[i]);
        }
    }
    // The last error is a thread's own.
    EXPECT(cudaMemcpy(host.data(), device, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGetLastError() == cudaSuccess);
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaFree(device));
}

int main()
{
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; t++)
        threads.emplace_back(one, t * 977 + 1);
    for (auto &t : threads)
        t.join();
    EXPECT(cudaGetLastError() == cudaSuccess);
    std::printf("threads: ok\n");
}
