// separate_main.cu - relocatable device code: a kernel that calls functions and uses variables of other units.
#include "check.h"
#include "separate.h"

void fill_weights();                     // in separate_data.cu

__global__ void run(accumulator *out)
{
    accumulator mine = {0, 0};
    for (int i = 0; i < 4; i++)
        accumulate(&mine, weighted(i) * (threadIdx.x + 1));
    out[threadIdx.x] = mine;
}

#if CUDART_VERSION >= 13000
__global__ void count_to_five(int *n, cudaGraphConditionalHandle handle)
{
    if (++*n >= 5)
        cudaGraphSetConditional(handle, 0);
}

// A graph whose body runs until its kernel says no more: the function that it calls comes from NVIDIA's device library.
void run_while_counting()
{
    int *n, host = -1;
    cudaGraph_t graph;
    cudaGraphNode_t node, kernel;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    CHECK(cudaMalloc(&n, sizeof *n));
    CHECK(cudaMemset(n, 0, sizeof *n));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    void *arguments[] = {&n, &handle};
    cudaKernelNodeParams launch = {};
    launch.func = reinterpret_cast<void *>(count_to_five);
    launch.gridDim = launch.blockDim = dim3(1);
    launch.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, params.conditional.phGraph_out[0], nullptr, 0, &launch));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaMemcpy(&host, n, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host == 5);
}
#else
void run_while_counting() {}
#endif

int main()
{
    const int n = 32;
    accumulator *out, host[n];
    int counted;
    fill_weights();
    CHECK(cudaMalloc(&out, sizeof host));
    run<<<1, n>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(host[i].sum == (0.5 + 1.5 + 2.5 + 3.5) * (i + 1) && host[i].count == 4);
    CHECK(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
    EXPECT(counted == n * 4);
    run_while_counting();
    std::printf("separate: ok\n");
}
