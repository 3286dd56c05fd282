// Cooperative groups: block and tile ranks, tiled_partition of 4 and 16, coalesced threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void coop_tiles(const int *x, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * block.size() + block.thread_rank();
    int v = i < n ? x[i] : 0;
    auto tile16 = cg::tiled_partition<16>(block);
    auto tile4 = cg::tiled_partition<4>(tile16);
    int *o = out + i * 8;
    o[0] = cg::reduce(tile16, v, cg::plus<int>());
    o[1] = cg::reduce(tile4, v, cg::greater<int>());
    o[2] = tile4.shfl(v, 3) + 1000 * tile4.thread_rank();
    o[3] = tile16.ballot(v & 1);
    o[4] = tile16.meta_group_rank() * 100 + tile16.meta_group_size();
    o[5] = tile16.shfl_down(v, 5);
    o[6] = o[7] = -1;
    if (v % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        o[6] = g.thread_rank() * 100 + g.size();
        o[7] = g.shfl(v, 0);
    }
    block.sync();
}
