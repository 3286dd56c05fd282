// Recursion entered by some lanes only and to different depths, then a shuffle of the results.
__device__ __noinline__ int walk(int v, int depth, int *calls)
{
    (*calls)++;
    if (depth == 0 || v < 2)
        return v;
    if (v & 1)
        return walk(v / 2, depth - 1, calls) + walk(v / 3, depth - 1, calls);
    return 1 + walk(v - v / 4 - 1, depth - 1, calls);
}
extern "C" __global__ void div_recursion(const int *x, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, calls = 0, r = -5;
    if (x[i] % 3)
        r = walk(x[i] * 10, i % 7, &calls);
    __syncwarp();
    out[2 * i] = r * 1000 + calls;
    out[2 * i + 1] = __shfl_down_sync(0xffffffffu, r, 1);
}
