// Bitonic sort of s32 in shared memory: data-dependent exchanges between barriers.
extern "C" __global__ void bitonic_sort(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int base = blockIdx.x * n;
    for (int t = threadIdx.x; t < 256; t += blockDim.x)
        s[t] = t < n ? in[base + t] : 0x7fffffff;
#pragma unroll 1
    for (int k = 2; k <= 256; k <<= 1)
#pragma unroll 1
        for (int j = k >> 1; j > 0; j >>= 1) {
            __syncthreads();
            for (int t = threadIdx.x; t < 256; t += blockDim.x) {
                int p = t ^ j;
                if (p > t) {
                    int a = s[t], b = s[p];
                    if (((t & k) == 0) == (a > b)) {
                        s[t] = b;
                        s[p] = a;
                    }
                }
            }
        }
    __syncthreads();
    for (int t = threadIdx.x; t < n; t += blockDim.x)
        out[base + t] = s[t];
}
