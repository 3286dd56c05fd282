// cooperative.cu - cooperative groups: tiles, and a grid that waits for all of its blocks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
#include "check.h"

namespace cg = cooperative_groups;

// Prefix sums of a ring: each round needs the whole previous one.
__global__ void rounds(int *a, int *b, int n, int count)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < count; r++) {
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
            b[i] = a[i] + a[(i + 1) % n];
        grid.sync();
        int *t = a;
        a = b;
        b = t;
    }
}

__global__ void tiles(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int sum = cg::reduce(tile, (int)block.thread_rank(), cg::plus<int>());
    int neighbour = tile.shfl_xor(sum, 1);
    if (tile.thread_rank() == 0)
        out[block.thread_rank() / 8] = sum + (neighbour == sum ? 0 : 1000000) + (int)tile.meta_group_rank();
}

int main()
{
    int supported, device = 0, n = 1000, count = 6, blocks;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
    std::vector<int> host(8), expected(n), next(n), got(n);
    int *a, *b;
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMalloc(&b, n * sizeof(int)));
    tiles<<<1, 64>>>(a);
    CHECK(cudaMemcpy(host.data(), a, 8 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int t = 0; t < 8; t++)
        EXPECT(host[t] == t * 64 + 28 + t);
    EXPECT(supported);
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 128, 0));
    int grid = blocks * prop.multiProcessorCount;
    EXPECT(grid > 0);
    if (grid > 8)
        grid = 8;
    for (int i = 0; i < n; i++)
        expected[i] = i % 17;
    CHECK(cudaMemcpy(a, expected.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    void *args[] = {&a, &b, &n, &count};
    CHECK(cudaLaunchCooperativeKernel((const void *)rounds, dim3(grid), dim3(128), args, 0, 0));
    CHECK(cudaMemcpy(got.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int r = 0; r < count; r++) {
        for (int i = 0; i < n; i++)
            next[i] = expected[i] + expected[(i + 1) % n];
        expected.swap(next);
    }
    EXPECT(got == expected);
    EXPECT(cudaLaunchCooperativeKernel((const void *)rounds, dim3(1 << 20), dim3(1024), args, 0, 0) == cudaErrorCooperativeLaunchTooLarge);
    std::printf("cooperative: ok\n");
}
