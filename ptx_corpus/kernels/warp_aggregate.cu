// Warp-aggregated atomics: match.any groups, one atomic per group, slots handed out by shfl.
extern "C" __global__ void warp_aggregate(const unsigned *keys, int n, unsigned *count,
                                          unsigned *taken, int cap)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (i >= n)
        return;
    unsigned key = keys[i], active = __activemask();
    unsigned group = __match_any_sync(active, key);
    int leader = __ffs(group) - 1;
    unsigned slot = 0;
    if (lane == leader)
        slot = atomicAdd(&count[key], (unsigned)__popc(group));
    slot = __shfl_sync(group, slot, leader) + __popc(group & ((1u << lane) - 1));
    atomicAdd(&taken[key * cap + slot], 1u);
}
