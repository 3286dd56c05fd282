// peers.cu - every device there is: a kernel on each, copies from one to the next, whole and by rows, and copies in batches.
#include <vector>
#include "check.h"

__device__ int launches;

__global__ void fill(int *data, int n, int seed)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = seed + i;
    if (threadIdx.x == 0)
        launches++;
}

int main()
{
    const int n = 600, width = 30, height = 20;
    int count, device;
    CHECK(cudaGetDeviceCount(&count));
    std::vector<int *> data(count);
    std::vector<int> host(n);
    for (int d = 0; d < count; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&data[d], n * sizeof(int)));
        fill<<<1, 64>>>(data[d], n, 1000 * d);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        cudaPointerAttributes attributes;
        CHECK(cudaPointerGetAttributes(&attributes, data[d]));
        EXPECT(attributes.device == d);
        int launched;                    // each device has a variable of its own
        CHECK(cudaMemcpyFromSymbol(&launched, launches, sizeof launched));
        EXPECT(launched == 1);
    }
    for (int d = 0; d < count; d++) {
        int next = (d + 1) % count, *copy, access;
        CHECK(cudaSetDevice(next));
        CHECK(cudaDeviceCanAccessPeer(&access, next, d));
        CHECK(cudaMalloc(&copy, n * sizeof(int)));
        CHECK(cudaMemcpyPeer(copy, next, data[d], d, n * sizeof(int)));
        CHECK(cudaMemcpy(host.data(), copy, n * sizeof(int), cudaMemcpyDefault));
        for (int i = 0; i < n; i++)
            EXPECT(host[i] == 1000 * d + i);
        // Half of each row.
        CHECK(cudaMemset(copy, 0, n * sizeof(int)));
        cudaMemcpy3DPeerParms rows = {};
        rows.srcPtr = make_cudaPitchedPtr(data[d], width * sizeof(int), width, height);
        rows.dstPtr = make_cudaPitchedPtr(copy, width * sizeof(int), width, height);
        rows.srcDevice = d;
        rows.dstDevice = next;
        rows.extent = make_cudaExtent(width / 2 * sizeof(int), height, 1);
        CHECK(cudaMemcpy3DPeer(&rows));
        CHECK(cudaGetDevice(&device));
        EXPECT(device == next);
        CHECK(cudaMemcpy(host.data(), copy, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            EXPECT(host[i] == (i % width < width / 2 ? 1000 * d + i : 0));
        CHECK(cudaFree(copy));
    }
    CHECK(cudaSetDevice(0));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int first[10], last[10];
    const void *from[] = {data[0], data[0] + n - 10};
    void *to[] = {first, last};
    size_t sizes[] = {sizeof first, sizeof last}, index = 0;
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &index, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 10; i++)
        EXPECT(first[i] == i && last[i] == n - 10 + i);
    std::printf("peers: ok\n");
}
