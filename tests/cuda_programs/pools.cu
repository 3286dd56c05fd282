// pools.cu - allocations in stream order, a pool of one's own, pinned and mapped memory, registered memory.
#include <cstdlib>
#include <vector>
#include "check.h"

__global__ void count_up(int *data, int n, int from)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = from + i;
}

int main()
{
    const int n = 5000;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    std::vector<int> host(n);
    for (int round = 0; round < 5; round++) {
        int *data;
        CHECK(cudaMallocAsync(&data, n * sizeof(int), stream));
        count_up<<<1, 128, 0, stream>>>(data, n, round);
        CHECK(cudaMemcpyAsync(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++)
            EXPECT(host[i] == round + i);
    }
    cudaMemPool_t pool, standard;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    unsigned long long threshold = 1 << 20, got = 0;
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &got));
    EXPECT(got == threshold);
    CHECK(cudaMemPoolCreate(&pool, &props));
    int *data;
    CHECK(cudaMallocFromPoolAsync(&data, n * sizeof(int), pool, stream));
    count_up<<<1, 128, 0, stream>>>(data, n, 70);
    CHECK(cudaMemcpyAsync(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(host[n - 1] == 70 + n - 1);
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolDestroy(pool));

    int *mapped, *device_view;
    CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device_view, mapped, 0));
    count_up<<<1, 64>>>(device_view, n, 9);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(mapped[i] == 9 + i);
    CHECK(cudaFreeHost(mapped));

    int *own = (int *)std::malloc(n * sizeof(int));
    CHECK(cudaHostRegister(own, n * sizeof(int), cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device_view, own, 0));
    count_up<<<1, 64>>>(device_view, n, 11);
    CHECK(cudaDeviceSynchronize());
    EXPECT(own[n - 1] == 11 + n - 1);
    CHECK(cudaHostUnregister(own));
    std::free(own);

    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, make_cudaExtent(10 * sizeof(int), 6, 4)));
    CHECK(cudaMemset3D(box, 0x11, make_cudaExtent(10 * sizeof(int), 6, 4)));
    std::vector<int> cube(10 * 6 * 4);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(cube.data(), 10 * sizeof(int), 10, 6);
    copy.extent = make_cudaExtent(10 * sizeof(int), 6, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int v : cube)
        EXPECT(v == 0x11111111);
    size_t left, total;
    CHECK(cudaMemGetInfo(&left, &total));
    EXPECT(left <= total && total > 0);
    CHECK(cudaFree(box.ptr));
    CHECK(cudaStreamDestroy(stream));
    std::printf("pools: ok\n");
}
