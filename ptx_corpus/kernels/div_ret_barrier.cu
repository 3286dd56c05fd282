// Some lanes and one whole warp return before later barriers; the others keep synchronising.
extern "C" __global__ void div_ret_barrier(const int *x, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = x[i];
    __syncthreads();
    if (t >= n)
        return;
    int v = s[127 - t];
    __syncthreads();
    s[t] = v + 1;
    __syncthreads();
    if (t % 3 == 2)
        return;
    int w = s[(t + 1) % n] + s[(t * 7) % n];
    __syncthreads();
    s[t] = w;
    __syncthreads();
    out[i] = s[t - t % 3];
}
