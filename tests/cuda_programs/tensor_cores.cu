// tensor_cores.cu - nvcuda::wmma with half inputs, and half arithmetic.
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>
#include "check.h"

using namespace nvcuda;

__global__ void multiply(const half *a, const half *b, float *c, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += 16) {
        wmma::load_matrix_sync(fa, a + step, k);
        wmma::load_matrix_sync(fb, b + step, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

__global__ void to_half(const float *in, half *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __hadd(__float2half(in[i]), __float2half(1.0f));
}

int main()
{
    const int k = 64;
    std::vector<float> a(16 * k), b(16 * k), c(256);
    for (int i = 0; i < 16 * k; i++) {
        a[i] = (float)(i % 9 - 4);
        b[i] = (float)(i % 7 - 3);
    }
    float *in, *out;
    half *ha, *hb;
    CHECK(cudaMalloc(&in, 16 * k * sizeof(float)));
    CHECK(cudaMalloc(&out, 256 * sizeof(float)));
    CHECK(cudaMalloc(&ha, 16 * k * sizeof(half)));
    CHECK(cudaMalloc(&hb, 16 * k * sizeof(half)));
    CHECK(cudaMemcpy(in, a.data(), 16 * k * sizeof(float), cudaMemcpyHostToDevice));
    to_half<<<k / 8, 128>>>(in, ha, 16 * k);
    CHECK(cudaMemcpy(in, b.data(), 16 * k * sizeof(float), cudaMemcpyHostToDevice));
    to_half<<<k / 8, 128>>>(in, hb, 16 * k);
    multiply<<<1, 32>>>(ha, hb, out, k);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), out, 256 * sizeof(float), cudaMemcpyDeviceToHost));
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            float sum = 0;               // small integers are exact
            for (int i = 0; i < k; i++)
                sum += (a[row * k + i] + 1) * (b[column * k + i] + 1);
            EXPECT(c[row * 16 + column] == sum);
        }
    std::printf("tensor_cores: ok\n");
}
