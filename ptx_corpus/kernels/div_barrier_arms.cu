// bar.sync 0 reached at different places by different warps, and barrier.sync inside a split warp.
extern "C" __global__ void div_barrier_arms(const int *x, int *out)
{
    __shared__ int s[96], u[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    if (t < 32) {
        s[t] = x[i] * 2;
        asm volatile("bar.sync 0;" ::: "memory");
    } else if (t < 64) {
        s[t] = x[i] * 3;
        asm volatile("bar.sync 0;" ::: "memory");
    } else {
        s[t] = x[i] * 5;
        asm volatile("bar.sync 0;" ::: "memory");
    }
    int v = s[(t + 40) % 96];
    if (t & 1) {
        u[t] = v + 1;
        asm volatile("barrier.sync 1;" ::: "memory");
        v = u[95 - t];
    } else {
        u[t] = v + 2;
        asm volatile("barrier.sync 1;" ::: "memory");
        v = u[95 - t] * 10;
    }
    out[i] = v;
}
