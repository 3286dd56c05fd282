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
    std::printf("separate: ok\n");
}
