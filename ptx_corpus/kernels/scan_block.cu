// Inclusive scan of u32 in shared memory (doubling steps, two barriers each) and the block totals.
extern "C" __global__ void scan_block(const unsigned *x, int n, unsigned *out, unsigned *totals)
{
    __shared__ unsigned s[160];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? x[i] : 0u;
    __syncthreads();
    for (int d = 1; d < (int)blockDim.x; d <<= 1) {
        unsigned v = t >= d ? s[t - d] : 0u;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < n)
        out[i] = s[t];
    if (t == (int)blockDim.x - 1)
        totals[blockIdx.x] = s[t];
}
