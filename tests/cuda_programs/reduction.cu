// reduction.cu - templates, warp shuffles, dynamic shared memory, atomics, votes.
#include <cstdint>
#include <vector>
#include "check.h"

template <typename T> __device__ T warp_sum(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

template <typename T> __global__ void sum(const T *in, size_t n, T *out)
{
    extern __shared__ unsigned char raw[];
    T *partial = reinterpret_cast<T *>(raw);
    T value = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        value += in[i];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : T(0);
        value = warp_sum(value);
        if (threadIdx.x == 0)
            atomicAdd(out, value);
    }
}

__global__ void histogram(const uint8_t *in, int n, unsigned *bins, unsigned *odd)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i]], 1u);
        unsigned active = __activemask(), votes = __ballot_sync(active, in[i] & 1);
        if ((threadIdx.x & 31) == (unsigned)(__ffs(active) - 1))
            atomicAdd(odd, __popc(votes));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

template <typename T> static T device_sum(const std::vector<T> &in)
{
    T *data, *out, host = 0;
    CHECK(cudaMalloc(&data, in.size() * sizeof(T)));
    CHECK(cudaMalloc(&out, sizeof(T)));
    CHECK(cudaMemcpy(data, in.data(), in.size() * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, sizeof(T)));
    sum<T><<<7, 192, 192 / 32 * sizeof(T)>>>(data, in.size(), out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, out, sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(data));
    CHECK(cudaFree(out));
    return host;
}

int main()
{
    const int n = 54321;
    std::vector<int> ints(n);
    std::vector<unsigned long long> longs(n);
    std::vector<double> reals(n);
    long long expected_int = 0;
    unsigned long long expected_long = 0;
    double expected_real = 0;
    for (int i = 0; i < n; i++) {
        ints[i] = (i * 37) % 1001 - 500;
        longs[i] = (unsigned long long)i * 0x123456789ull;
        reals[i] = (i % 1024) * 0.125;
        expected_int += ints[i];
        expected_long += longs[i];
        expected_real += reals[i];
    }
    EXPECT(device_sum(ints) == (int)expected_int);
    EXPECT(device_sum(longs) == expected_long);
    EXPECT(device_sum(reals) == expected_real);

    std::vector<uint8_t> bytes(n);
    std::vector<unsigned> expected(256), bins(256);
    unsigned odd = 0, counted;
    for (int i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(i * i >> 3);
        expected[bytes[i]]++;
        odd += bytes[i] & 1;
    }
    uint8_t *data;
    unsigned *device_bins;
    CHECK(cudaMalloc(&data, n));
    CHECK(cudaMalloc(&device_bins, 257 * sizeof(unsigned)));
    CHECK(cudaMemset(device_bins, 0, 257 * sizeof(unsigned)));
    CHECK(cudaMemcpy(data, bytes.data(), n, cudaMemcpyHostToDevice));
    histogram<<<5, 160>>>(data, n, device_bins, device_bins + 256);
    CHECK(cudaMemcpy(bins.data(), device_bins, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&counted, device_bins + 256, sizeof counted, cudaMemcpyDeviceToHost));
    EXPECT(bins == expected);
    EXPECT(counted == odd);
    std::printf("reduction: ok\n");
}
