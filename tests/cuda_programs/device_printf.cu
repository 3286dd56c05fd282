// device_printf.cu - printf in kernels; the test compares what the program prints.
#include "check.h"

__global__ void report(const char *unit, double scale)
{
    if (threadIdx.x == 0)
        printf("block %d of %u: %s %.3f %c %5d|%-5d| %llx %%\n", blockIdx.x, gridDim.x, unit, scale * blockIdx.x, 'A' + (int)blockIdx.x,
               -12, 34, 0xdeadbeef12345678ull);
}

int main()
{
    char *unit;
    CHECK(cudaMalloc(&unit, 16));
    CHECK(cudaMemcpy(unit, "metres", 7, cudaMemcpyHostToDevice));
    std::printf("before\n");
    std::fflush(stdout);
    for (int i = 0; i < 3; i++) {
        report<<<1, 32>>>(unit, 1.5 + i);
        CHECK(cudaDeviceSynchronize());
    }
    std::printf("device_printf: ok\n");
}
