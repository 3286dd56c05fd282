// Forward progress between blocks: each block waits for the flag of the block before it.
extern "C" __global__ void div_spin_global(volatile unsigned *flag, volatile int *chain, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x == 40) {
        int v = 1;
        if (b > 0) {
            while (flag[b - 1] == 0)
                __nanosleep(50);
            __threadfence();
            v = chain[b - 1] * 3 + b;
        }
        chain[b] = v;
        __threadfence();
        flag[b] = 1;
    }
    __syncthreads();
    out[b * blockDim.x + threadIdx.x] = chain[b] + threadIdx.x;
}
