// Two warps wait for each other at two different named barriers: neither can complete.
extern "C" __global__ void fault_barrier_cross(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
