// managed.cu - memory that both sides see, and a managed variable.
#include "check.h"

__managed__ int counter = 5;
__managed__ float table[4] = {1, 2, 3, 4};

struct node {
    node *next;
    int value;
};

__global__ void walk(const node *list, int *sum)
{
    for (; list; list = list->next)
        *sum += list->value;
    atomicAdd(&counter, 10);
    table[threadIdx.x] *= 2;
}

int main()
{
    EXPECT(counter == 5 && table[3] == 4);
    node *nodes;
    int *sum;
    const int n = 100;
    CHECK(cudaMallocManaged(&nodes, n * sizeof(node)));
    CHECK(cudaMallocManaged(&sum, sizeof(int)));
    for (int i = 0; i < n; i++)
        nodes[i] = {i + 1 < n ? &nodes[i + 1] : nullptr, i};
    *sum = 0;
    counter = 7;
    walk<<<1, 1>>>(nodes, sum);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == n * (n - 1) / 2);
    EXPECT(counter == 17 && table[0] == 2 && table[1] == 2);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, nodes));
    EXPECT(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == nodes && attributes.hostPointer == nodes);
    void *address;
    CHECK(cudaGetSymbolAddress(&address, counter));
    EXPECT(address == &counter);
    // What the runtime knows of other pointers.
    int on_stack = 0, *pinned, *device;
    CHECK(cudaMallocHost(&pinned, sizeof(int)));
    CHECK(cudaMalloc(&device, sizeof(int)));
    CHECK(cudaPointerGetAttributes(&attributes, &on_stack));
    EXPECT(attributes.type == cudaMemoryTypeUnregistered);
    CHECK(cudaPointerGetAttributes(&attributes, pinned));
    EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
    CHECK(cudaPointerGetAttributes(&attributes, device));
    EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device && attributes.device == 0);
#if CUDART_VERSION >= 13000
    // Advice for several ranges at once; what is discarded may be anything until it is written.
    cudaStream_t stream;
    void *ranges[] = {nodes, sum};
    size_t sizes[] = {n * sizeof(node), sizeof(int)}, firsts[] = {0, 1};
    cudaMemLocation places[2] = {};
    places[0].type = cudaMemLocationTypeDevice;
    places[1].type = cudaMemLocationTypeHost;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 2, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(*sum == n * (n - 1) / 2);
    CHECK(cudaMemDiscardBatchAsync(ranges + 1, sizes + 1, 1, 0, stream));
    CHECK(cudaMemDiscardAndPrefetchBatchAsync(ranges + 1, sizes + 1, 1, places, firsts, 1, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    *sum = 0;
    walk<<<1, 1>>>(nodes, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == n * (n - 1) / 2);
    ranges[1] = device;
    EXPECT(cudaMemPrefetchBatchAsync(ranges, sizes, 2, places, firsts, 2, 0, stream) == cudaErrorInvalidValue);
#endif
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(sum));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    std::printf("managed: ok\n");
}
