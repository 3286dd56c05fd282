// f32 matrix product with 16x16 shared-memory tiles, an fma chain in k order, ragged sizes.
extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int m, int n,
                                        int k)
{
    __shared__ float ta[16][16], tb[16][16];
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float acc = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 16) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tb[threadIdx.y][threadIdx.x] = kb < k && col < n ? b[kb * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            acc = __fmaf_rn(ta[threadIdx.y][i], tb[i][threadIdx.x], acc);
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = acc;
}
