// device_malloc.cu - malloc, free and new in kernels, kept from one launch to the next.
#include "check.h"

struct item {
    int *values;
    int count;
};

__global__ void make(item *items)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    items[i].count = 1 + i % 7;
    items[i].values = (int *)malloc(items[i].count * sizeof(int));
    for (int k = 0; items[i].values && k < items[i].count; k++)
        items[i].values[k] = i * 10 + k;
}

__global__ void take(item *items, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = -1;
    if (!items[i].values)
        return;
    int *copy = new int[items[i].count];
    int sum = 0;
    for (int k = 0; k < items[i].count; k++)
        copy[k] = items[i].values[k];
    for (int k = 0; k < items[i].count; k++)
        sum += copy[k];
    delete[] copy;
    free(items[i].values);
    sums[i] = sum;
}

int main()
{
    const int n = 96;
    item *items;
    int *sums, host[n];
    size_t limit;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    EXPECT(limit >= 4 << 20);
    CHECK(cudaMalloc(&items, n * sizeof(item)));
    CHECK(cudaMalloc(&sums, n * sizeof(int)));
    for (int round = 0; round < 3; round++) {
        make<<<3, 32>>>(items);
        take<<<3, 32>>>(items, sums);
        CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) {
            int count = 1 + i % 7;
            EXPECT(host[i] == count * i * 10 + count * (count - 1) / 2);
        }
    }
    std::printf("device_malloc: ok\n");
}
