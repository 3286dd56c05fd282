// host_only.cpp - a program of the runtime API without a kernel of its own, as tools that only look at devices are.
#include <cuda_runtime.h>
#include <cstdio>

int main()
{
    int count = 0;
    cudaDeviceProp properties;
    if (cudaGetDeviceCount(&count) || count < 1 || cudaGetDeviceProperties(&properties, 0))
        return 1;
    std::printf("host_only: ok\n");
    return 0;
}
