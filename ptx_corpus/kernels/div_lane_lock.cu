// Forward progress between lanes of one warp: a spin lock that every lane takes in turn.
extern "C" __global__ void div_lane_lock(unsigned *lock, volatile unsigned *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    while (atomicCAS(lock, 0u, 1u) != 0u)
        ;
    __threadfence();
    total[0] = total[0] + i;
    total[1] = total[1] + 1;
    __threadfence();
    atomicExch(lock, 0u);
}
