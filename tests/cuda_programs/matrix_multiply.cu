// matrix_multiply.cu - tiles in shared memory, two-dimensional grids, pitched memory and 2D copies.
#include <vector>
#include "check.h"

enum { TILE = 16 };

__global__ void multiply(const float *a, size_t a_pitch, const float *b, size_t b_pitch, float *c, size_t c_pitch, int m, int n, int k)
{
    __shared__ float at[TILE][TILE], bt[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int step = 0; step < k; step += TILE) {
        int ak = step + threadIdx.x, bk = step + threadIdx.y;
        at[threadIdx.y][threadIdx.x] = row < m && ak < k ? ((const float *)((const char *)a + row * a_pitch))[ak] : 0;
        bt[threadIdx.y][threadIdx.x] = bk < k && column < n ? ((const float *)((const char *)b + bk * b_pitch))[column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += at[threadIdx.y][i] * bt[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        ((float *)((char *)c + row * c_pitch))[column] = sum;
}

int main()
{
    const int m = 61, n = 83, k = 47;
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = (float)((int)(i * 7 % 13) - 6);
    for (size_t i = 0; i < b.size(); i++)
        b[i] = (float)((int)(i * 5 % 11) - 5);
    float *da, *db, *dc;
    size_t pa, pb, pc;
    CHECK(cudaMallocPitch(&da, &pa, k * sizeof(float), m));
    CHECK(cudaMallocPitch(&db, &pb, n * sizeof(float), k));
    CHECK(cudaMallocPitch(&dc, &pc, n * sizeof(float), m));
    EXPECT(pa >= k * sizeof(float) && pb >= n * sizeof(float) && pc >= n * sizeof(float));
    CHECK(cudaMemset2D(dc, pc, 0xff, n * sizeof(float), m));
    CHECK(cudaMemcpy2D(da, pa, a.data(), k * sizeof(float), k * sizeof(float), m, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2D(db, pb, b.data(), n * sizeof(float), n * sizeof(float), k, cudaMemcpyDefault));
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, block>>>(da, pa, db, pb, dc, pc, m, n, k);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(c.data(), n * sizeof(float), dc, pc, n * sizeof(float), m, cudaMemcpyDeviceToHost));
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;               // small integers: any order gives the same
            for (int i = 0; i < k; i++)
                sum += a[y * k + i] * b[i * n + x];
            EXPECT(c[y * n + x] == sum);
        }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    std::printf("matrix_multiply: ok\n");
}
