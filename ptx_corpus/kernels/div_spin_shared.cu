// Forward progress between warps: one warp spins with nanosleep on a shared flag set by another.
extern "C" __global__ void div_spin_shared(const int *x, int *out)
{
    __shared__ volatile int flag, data[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (warp == 0) {
        while (flag != 3)
            __nanosleep(100);
        __threadfence_block();
        out[blockIdx.x * 32 + lane] = data[31 - lane];
    } else {
        while (flag != warp - 1)
            __nanosleep(20);
        data[lane] = warp == 1 ? x[blockIdx.x * 32 + lane] : data[lane] * warp + lane;
        __threadfence_block();
        __syncwarp();
        if (lane == 0)
            flag = warp;
    }
}
