// occupancy.cu - launches whose shape comes from the occupancy calls; attributes of functions and devices.
#include <cstring>
#include "check.h"

__global__ void __launch_bounds__(256) bounded(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

__global__ void shared_hungry(int *out, int words)
{
    extern __shared__ int buffer[];
    __shared__ int fixed[32];
    fixed[threadIdx.x % 32] = 1;
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        buffer[i] = i;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = buffer[words - 1] + fixed[0];
}

__global__ void increment(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i]++;
}

struct shared_of {
    __host__ __device__ size_t operator()(int block) const { return block * sizeof(int); }
};

int main()
{
    cudaDeviceProp prop;
    int devices, device, value;
    CHECK(cudaGetDeviceCount(&devices));
    EXPECT(devices >= 1);
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&prop, device));
    EXPECT(std::strlen(prop.name) > 0 && prop.warpSize == 32 && prop.maxThreadsPerBlock >= 1024 && prop.multiProcessorCount > 0);
    EXPECT(prop.totalGlobalMem > 0 && prop.sharedMemPerBlock >= 48 << 10 && prop.major >= 5 && prop.maxGridSize[0] == 2147483647);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
    EXPECT(value == prop.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, device));
    EXPECT(value == prop.major);

    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.maxThreadsPerBlock == 256 && attributes.binaryVersion > 0 && attributes.ptxVersion > 0);
    CHECK(cudaFuncGetAttributes(&attributes, shared_hungry));
    EXPECT(attributes.sharedSizeBytes == 32 * sizeof(int));

    int grid, block, blocks;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, increment, 0, 0));
    EXPECT(block > 0 && block <= 1024 && block % 32 == 0 && grid > 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, increment, block, 0));
    EXPECT(blocks > 0);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0));
    EXPECT(block > 0 && block <= 256);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, shared_hungry, shared_of()));
    EXPECT(block > 0);

    const int n = 10000;
    int *data, host[n];
    CHECK(cudaMalloc(&data, sizeof host));
    CHECK(cudaMemset(data, 0, sizeof host));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, increment, 0, 0));
    increment<<<(n + block - 1) / block, block>>>(data, n);
    CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == 1);

    // More dynamic shared memory than a launch may have without asking.
    const int words = 60000 / 4;
    CHECK(cudaFuncSetAttribute(shared_hungry, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4));
    shared_hungry<<<1, 64, words * 4>>>(data, words);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, data, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(host[0] == words);
    std::printf("occupancy: ok\n");
}
