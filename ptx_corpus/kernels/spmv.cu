// Sparse CSR matrix times vector, one warp per row: per-lane trip counts, shuffle reduction.
extern "C" __global__ void spmv(const int *row_ptr, const int *col, const float *val,
                                const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float acc = 0.0f;
    for (int j = row_ptr[row] + lane; j < row_ptr[row + 1]; j += 32)
        acc = __fmaf_rn(val[j], __ldg(&x[col[j]]), acc);
    for (int d = 16; d > 0; d >>= 1)
        acc = __fadd_rn(acc, __shfl_down_sync(0xffffffffu, acc, d));
    if (lane == 0)
        y[row] = acc;
}
