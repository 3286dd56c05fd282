// A loop that never ends, in one warp, reading a flag that nobody sets.
extern "C" __global__ void fault_infinite(volatile int *flag, int *out)
{
    int i = threadIdx.x;
    out[i] = i;
    if (i < 32)
        while (flag[0] == 0)
            ;
    out[i] = -i;
}
