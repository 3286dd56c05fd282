// Histogram of bytes: shared-memory atomics, then global atomics; a grid-stride loop.
extern "C" __global__ void histogram(const unsigned char *x, int n, unsigned *bins)
{
    __shared__ unsigned local[64];
    for (int b = threadIdx.x; b < 64; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[x[i] >> 2], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 64; b += blockDim.x)
        if (local[b])
            atomicAdd(&bins[b], local[b]);
}
