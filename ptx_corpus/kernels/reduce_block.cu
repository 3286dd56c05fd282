// Block sum of f32: shfl.bfly inside a warp, shared memory between warps, a fixed addition order.
extern "C" __global__ void reduce_block(const float *x, int n, float *sums)
{
    __shared__ float partial[8];
    int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    if (i + (int)blockDim.x < n)
        v = __fadd_rn(v, x[i + blockDim.x]);
    for (int d = 16; d > 0; d >>= 1)
        v = __fadd_rn(v, __shfl_xor_sync(0xffffffffu, v, d));
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (int)(blockDim.x >> 5) ? partial[lane] : 0.0f;
        for (int d = 4; d > 0; d >>= 1)
            v = __fadd_rn(v, __shfl_down_sync(0xffffffffu, v, d, 8));
        if (lane == 0)
            sums[blockIdx.x] = v;
    }
}
