// errors.cu - what goes wrong, and how: refused launches leave the device well, faults of kernels stick until a reset.
#include <cstring>
#include <thread>
#include "check.h"

__global__ void nothing()
{
}

__global__ void store(int *where)
{
    *where = 1;
}

int main()
{
    int *data, host = 0;
    CHECK(cudaMalloc(&data, 1024));
    nothing<<<1, 2048>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<0, 32>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    nothing<<<1, 32, 10 << 20>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaLaunchKernel((const void *)&host, dim3(1), dim3(1), nullptr, 0, 0) != cudaSuccess);
    EXPECT(cudaGetLastError() != cudaSuccess);
    EXPECT(cudaSetDevice(99) == cudaErrorInvalidDevice);
    EXPECT(cudaFree((void *)16) == cudaErrorInvalidValue);
    void *huge;
    EXPECT(cudaMalloc(&huge, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    EXPECT(huge == nullptr);
    CHECK(cudaMalloc(&huge, 0));
    EXPECT(huge == nullptr);
    CHECK(cudaFree(nullptr));
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered") == 0);
    EXPECT(std::strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code") == 0);
    store<<<1, 1>>>(data);
    CHECK(cudaDeviceSynchronize());

    store<<<1, 1>>>((int *)64);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    store<<<1, 1>>>(data);               // the context is lost
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMemcpy(&host, data, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&huge, 16) == cudaErrorIllegalAddress);
    EXPECT(cudaFree(nullptr) == cudaErrorIllegalAddress);
    cudaDeviceReset();
    cudaGetLastError();

    CHECK(cudaMalloc(&data, 1024));      // a new context
    store<<<1, 1>>>(data);
    CHECK(cudaMemcpy(&host, data, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 1);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamDestroy(stream));
    nothing<<<1, 1, 0, stream>>>();      // the stream is wrong, not the kernel
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
    EXPECT(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield) == cudaErrorInvalidValue);

    std::thread([] { cudaDeviceReset(); }).join();
    CHECK(cudaMalloc(&data, 1024));      // a reset by another thread is no end of this one's
    store<<<1, 1>>>(data);
    CHECK(cudaDeviceSynchronize());
    std::printf("errors: ok\n");
}
