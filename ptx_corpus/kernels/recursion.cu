// Recursion: Ackermann per lane, and a sum down a binary tree, with real stack frames.
__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ int tree_sum(const int *value, int node, int n)
{
    if (node >= n)
        return 0;
    int here = value[node];
    return here + 2 * tree_sum(value, 2 * node + 1, n) - tree_sum(value, 2 * node + 2, n);
}
extern "C" __global__ void recursion(const int *value, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * i] = ackermann(i % 3, i % 5);
    out[2 * i + 1] = tree_sum(value, i, n);
}
