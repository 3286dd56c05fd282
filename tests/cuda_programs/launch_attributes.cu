// launch_attributes.cu - cudaLaunchKernelEx, kernels as handles, a library loaded from a file, the driver's functions by name.
#include <cuda.h>
#include <cstring>
#include "check.h"

__global__ void poly(float *out, float a, double b, short c, int3 d)
{
    out[threadIdx.x] = a + (float)b * threadIdx.x + c * d.y + d.z;
}

int main()
{
    float *out, host[32];
    CHECK(cudaMalloc(&out, sizeof host));
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeCooperative;
    attribute[0].val.cooperative = 0;
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.attrs = attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, poly, out, 1.5f, 0.25, (short)-3, make_int3(100, 7, 9)));
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(host[i] == 1.5f + 0.25f * i - 21 + 9);

    const char *name;
    CHECK(cudaFuncGetName(&name, (const void *)poly));
    EXPECT(std::strstr(name, "poly"));
    size_t offset, size;
    CHECK(cudaFuncGetParamInfo((const void *)poly, 2, &offset, &size));
    EXPECT(offset == 16 && size == 8);
    EXPECT(cudaFuncGetParamInfo((const void *)poly, 5, &offset, &size) == cudaErrorInvalidValue);
    cudaGetLastError();

    // The same kernel through the driver API, whose functions are found by name.
    cudaFunction_t function;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)poly));
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &entry, 12000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess && entry);
    auto launch = (CUresult(*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
                               void **))entry;
    float a = 2;
    double b = 1;
    short c = 1;
    int3 d = make_int3(0, 0, 5);
    void *args[] = {&out, &a, &b, &c, &d};
    EXPECT(launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, args, nullptr) == CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        EXPECT(host[i] == 2.0f + i + 5);
    CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &entry, 12000, cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSymbolNotFound);
    int runtime, driver;
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    EXPECT(runtime >= 12000 && driver >= runtime);
    std::printf("launch_attributes: ok\n");
}
