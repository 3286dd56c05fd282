// Floating atomics whose sums are exact in any order: f32, f64, f16x2, bf16x2, shared and global.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void float_atomics(const int *x, int n, float *f, double *d, __half2 *h,
                                         __nv_bfloat162 *b)
{
    __shared__ float s;
    __shared__ double t;
    if (threadIdx.x == 0)
        s = 0.0f, t = 0.0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = x[i];
        atomicAdd(f + (k & 3), k * 0.25f);
        atomicAdd(d + (k & 1), k * 1048576.125);
        atomicAdd(h, __floats2half2_rn((float)(k & 1), k & 2 ? -0.5f : 0.5f));
        atomicAdd(b, __floats2bfloat162_rn(k & 4 ? 1.0f : 0.0f, (float)(k & 8 ? -1 : 0)));
        atomicAdd(&s, k * 0.5f);
        atomicAdd(&t, (double)k);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        f[4 + blockIdx.x] = s;
        d[2 + blockIdx.x] = t;
    }
}
