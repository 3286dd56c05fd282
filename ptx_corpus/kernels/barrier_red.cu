// bar.red popc/and/or through __syncthreads_count, _and, _or; three warps, one of them partial.
extern "C" __global__ void barrier_red(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? x[i] : 0;
    int c = __syncthreads_count(v & 1);
    int a = __syncthreads_and(v < 95);
    int o = __syncthreads_or(v == 42);
    int p;
    asm volatile("{ .reg .pred q; setp.gt.s32 q, %1, 50; barrier.red.popc.u32 %0, 3, !q; }"
                 : "=r"(p)
                 : "r"(v));
    out[i] = c + 1000 * a + 2000 * o + 10000 * p;
}
