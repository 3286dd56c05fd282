// A loop that lanes leave one by one, with a ballot and a shuffle among those still inside.
extern "C" __global__ void div_mask_loop(const int *x, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i] % 20, sum = 0;
    unsigned in = __ballot_sync(0xffffffffu, v > 0);
    if (v > 0) {
        for (;;) {
            int leader = __ffs(in) - 1;
            sum += __shfl_sync(in, v, leader) * 10 + __popc(in);
            v--;
            unsigned still = __ballot_sync(in, v > 0);
            if (v == 0)
                break;
            in = still;
        }
    }
    __syncwarp();
    out[i] = sum + 100000 * (__shfl_xor_sync(0xffffffffu, sum, 1) & 0xff) + 0 * lane;
}
