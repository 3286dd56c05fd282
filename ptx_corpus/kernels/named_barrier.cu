// Named barriers: a producer warp and a consumer warp with bar.arrive and bar.sync 1,64 and 2,64.
extern "C" __global__ void named_barrier(const int *x, int *out, int rounds)
{
    __shared__ int slot[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, sum = 0;
    if (warp == 0) {
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            slot[lane] = x[(blockIdx.x * rounds + r) * 32 + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else if (warp == 1) {
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum = sum * 3 + slot[31 - lane];
        }
        out[blockIdx.x * 32 + lane] = sum;
    }
}
