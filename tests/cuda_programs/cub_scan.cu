// cub_scan.cu - CUB: device-wide scan, reduction and radix sort, with temporary storage as its users ask for it.
#include <algorithm>
#include <vector>
#include <cub/cub.cuh>
#include "check.h"

int main()
{
    const int n = 30000;
    std::vector<unsigned> host(n), expected(n), got(n);
    unsigned state = 7;
    for (unsigned &v : host)
        v = (state = state * 1664525u + 1013904223u) >> 4;
    unsigned *in, *out;
    void *room = nullptr;
    size_t bytes = 0;
    CHECK(cudaMalloc(&in, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&out, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(in, host.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));

    CHECK(cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n));
    CHECK(cudaMemcpy(got.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        EXPECT(got[i] == sum);
        sum += host[i];
    }
    CHECK(cudaFree(room));

    bytes = 0;
    CHECK(cub::DeviceReduce::Max(nullptr, bytes, in, out, n));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceReduce::Max(room, bytes, in, out, n));
    unsigned most;
    CHECK(cudaMemcpy(&most, out, sizeof most, cudaMemcpyDeviceToHost));
    EXPECT(most == *std::max_element(host.begin(), host.end()));
    CHECK(cudaFree(room));

    bytes = 0;
    CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n));
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cub::DeviceRadixSort::SortKeys(room, bytes, in, out, n));
    CHECK(cudaMemcpy(got.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    expected = host;
    std::sort(expected.begin(), expected.end());
    EXPECT(got == expected);
    CHECK(cudaFree(room));
    std::printf("cub_scan: ok\n");
}
