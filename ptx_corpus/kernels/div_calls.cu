// Lanes of one warp call different functions, some of which return early, through nested branches.
__device__ __noinline__ int early(int v)
{
    if (v % 5 == 0)
        return -v;
    int s = 0;
#pragma unroll 1
    for (int k = 1; k < v; k++) {
        if (k * k > v)
            return s + k;
        s += v % k;
    }
    return s;
}
__device__ __noinline__ int other(int v)
{
    return v > 40 ? early(v - 40) * 2 : early(v) + 1;
}
extern "C" __global__ void div_calls(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = x[i], r = 0;
    if (v & 1) {
        r = early(v);
        if (r > 5)
            r += other(r);
    } else if (v & 2) {
        r = other(v);
    }
    out[i] = r;
}
