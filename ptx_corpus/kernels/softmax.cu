// Row softmax, one block per row: shuffle and shared-memory max and sum, expf, division.
__device__ float block_max(float v, float *s)
{
    for (int d = 16; d > 0; d >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    if ((threadIdx.x & 31) == 0)
        s[threadIdx.x >> 5] = v;
    __syncthreads();
    v = fmaxf(s[0], s[1]);
    __syncthreads();
    return v;
}
__device__ float block_sum(float v, float *s)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0)
        s[threadIdx.x >> 5] = v;
    __syncthreads();
    v = s[0] + s[1];
    __syncthreads();
    return v;
}
extern "C" __global__ void softmax(const float *in, float *out, int cols)
{
    __shared__ float s[2];
    const float *row = in + blockIdx.x * cols;
    float m = __int_as_float(0xff800000), sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        m = fmaxf(m, row[j]);
    m = block_max(m, s);
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        sum += expf(row[j] - m);
    sum = block_sum(sum, s);
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        out[blockIdx.x * cols + j] = expf(row[j] - m) / sum;
}
