// Dynamic shared memory beside a static array: one extern array cut into two types.
extern __shared__ __align__(16) unsigned char pool[];
extern "C" __global__ void dyn_shared(const int *x, int n, double *out)
{
    __shared__ int fixed[7];
    double *d = (double *)pool;
    int *k = (int *)(pool + blockDim.x * sizeof(double));
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 7)
        fixed[t] = t * t - 10;
    k[t] = i < n ? x[i] : 0;
    d[t] = 0.5 * k[t];
    __syncthreads();
    int m = (t + 13) % blockDim.x;
    double r = d[m] + k[blockDim.x - 1 - t] + fixed[t % 7];
    if (i < n)
        out[i] = r;
}
