// graphs.cu - a graph captured from streams, and one made node by node; launched, changed, launched again.
#include <vector>
#include "check.h"

__global__ void fill(int *data, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = value + i;
}

__global__ void add_to(int *data, const int *other, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] += other[i];
}

static void CUDART_CB bump(void *counter)
{
    ++*(int *)counter;
}

static void captured()
{
    const int n = 500;
    int *a, *b, *host;
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMalloc(&b, n * sizeof(int)));
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    cudaStream_t main_stream, side;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&main_stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamIsCapturing(main_stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaEventRecord(fork, main_stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    fill<<<1, 64, 0, main_stream>>>(a, n, 1);
    fill<<<1, 64, 0, side>>>(b, n, 1000);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main_stream, join, 0));
    add_to<<<1, 64, 0, main_stream>>>(a, b, n);
    CHECK(cudaMemcpyAsync(host, a, n * sizeof(int), cudaMemcpyDeviceToHost, main_stream));
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 4);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++)
            host[i] = 0;
        CHECK(cudaGraphLaunch(exec, main_stream));
        CHECK(cudaStreamSynchronize(main_stream));
        for (int i = 0; i < n; i++)
            EXPECT(host[i] == 1001 + 2 * i);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(main_stream));
    CHECK(cudaStreamDestroy(side));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFreeHost(host));
}

static void by_hand()
{
    int n = 300, value = 5, calls = 0;
    int *a, *b;
    std::vector<int> host(n);
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMalloc(&b, n * sizeof(int)));
    cudaGraph_t graph, clone;
    cudaGraphNode_t set, first, second, copy, call;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams zero = {};
    zero.dst = b;
    zero.elementSize = 4;
    zero.value = 7;
    zero.width = n;
    zero.height = 1;
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
    void *fill_args[] = {&a, &n, &value};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)fill;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(96);
    kernel.kernelParams = fill_args;
    CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
    const int *other = b;
    void *add_args[] = {&a, &other, &n};
    kernel.func = (void *)add_to;
    kernel.kernelParams = add_args;
    cudaGraphNode_t both[] = {set, first};
    CHECK(cudaGraphAddKernelNode(&second, graph, both, 2, &kernel));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, host.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams function = {bump, &calls};
    CHECK(cudaGraphAddHostNode(&call, graph, &copy, 1, &function));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(copy, &type));
    EXPECT(type == cudaGraphNodeTypeMemcpy);
    size_t roots = 0, edges = 0;
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(roots == 2 && edges == 4);
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphDestroy(clone));

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    value = -1;                          // the node has taken the value at its making
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == 5 + i + 7);
    EXPECT(calls == 1);
    // The executable graph with another parameter.
    value = 100;
    kernel.func = (void *)fill;
    kernel.kernelParams = fill_args;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &kernel));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(host[i] == 100 + i + 7);
    EXPECT(calls == 2);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

int main()
{
    captured();
    by_hand();
    std::printf("graphs: ok\n");
}
