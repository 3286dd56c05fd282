// symbols.cu - __constant__ and __device__ variables, function pointers, initialisers.
#include <cstring>
#include "check.h"

__constant__ float coefficients[8];
__constant__ int offset = 3;
__device__ unsigned long long total = 100;
__device__ int matrix[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

typedef int (*operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
__device__ operation operations[2] = {plus, times};

__global__ void evaluate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 7; k >= 0; k--)
        sum = sum * x[i] + coefficients[k];
    y[i] = sum + offset;
    atomicAdd(&total, (unsigned long long)i);
}

__global__ void apply(int which, int *out)
{
    out[threadIdx.x] = operations[which](matrix[threadIdx.x / 4][threadIdx.x % 4], (int)threadIdx.x);
}

int main()
{
    const int n = 64;
    float host[8] = {1, -1, 2, 0, 0.5f, 0, 0, 0}, x[n], y[n];
    CHECK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    float changed = 4;
    CHECK(cudaMemcpyToSymbol(coefficients, &changed, sizeof changed, 3 * sizeof(float)));
    host[3] = changed;
    for (int i = 0; i < n; i++)
        x[i] = (i - 32) / 8.0f;
    float *dx, *dy;
    CHECK(cudaMalloc(&dx, sizeof x));
    CHECK(cudaMalloc(&dy, sizeof y));
    CHECK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    evaluate<<<2, 32>>>(dx, dy, n);
    CHECK(cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        double sum = 0;                  // exact for these numbers
        for (int k = 7; k >= 0; k--)
            sum = sum * x[i] + host[k];
        EXPECT(y[i] == (float)(sum + 3));
    }
    unsigned long long got;
    CHECK(cudaMemcpyFromSymbol(&got, total, sizeof got));
    EXPECT(got == 100 + n * (n - 1) / 2);
    int rows[3][4], *where;
    size_t bytes;
    CHECK(cudaMemcpyFromSymbol(rows, matrix, sizeof rows));
    EXPECT(rows[2][3] == 12);
    CHECK(cudaGetSymbolAddress((void **)&where, matrix));
    CHECK(cudaGetSymbolSize(&bytes, matrix));
    EXPECT(bytes == sizeof rows);
    int nine = 9, results[12], *out;
    CHECK(cudaMemcpy(where + 1, &nine, sizeof nine, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&out, sizeof results));
    apply<<<1, 12>>>(1, out);
    CHECK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 12; i++)
        EXPECT(results[i] == (i == 1 ? 9 : i + 1) * i);
    apply<<<1, 12>>>(0, out);
    CHECK(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    EXPECT(results[11] == 12 + 11);
    // Not a variable; beyond a variable's end.
    EXPECT(cudaMemcpyToSymbol((const void *)&nine, &nine, sizeof nine) == cudaErrorInvalidSymbol);
    EXPECT(cudaMemcpyToSymbol(offset, rows, sizeof rows) == cudaErrorInvalidValue);
    cudaGetLastError();
    std::printf("symbols: ok\n");
}
