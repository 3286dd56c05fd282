// asserts.cu - a failed assert() in a kernel is cudaErrorAssert.
#include <cassert>
#include "check.h"

__global__ void must_be(const int *value, int expected)
{
    assert(*value == expected);
}

int main()
{
    int *value, seven = 7;
    CHECK(cudaMalloc(&value, sizeof seven));
    CHECK(cudaMemcpy(value, &seven, sizeof seven, cudaMemcpyHostToDevice));
    must_be<<<1, 32>>>(value, 7);
    CHECK(cudaDeviceSynchronize());
    must_be<<<1, 1>>>(value, 8);
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert);
    EXPECT(cudaFree(value) == cudaErrorAssert);
    std::printf("asserts: ok\n");
}
