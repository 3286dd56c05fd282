// A cooperative grid: five rounds over a ring, each of which needs the whole one before (grid.sync); ranks of blocks and threads.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void coop_grid(int *a, int *b, int *ranks, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int rank = (int)grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        for (int i = rank; i < n; i += (int)grid.size())
            b[i] = a[i] + 3 * a[(i + 1) % n];
        grid.sync();
        int *t = a;
        a = b;
        b = t;
    }
    ranks[rank] = (int)grid.block_rank() * 10000 + (int)grid.num_blocks() * 1000 + grid.is_valid() * 500 + (int)grid.num_threads();
}
