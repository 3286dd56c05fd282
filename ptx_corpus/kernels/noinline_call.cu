// Calls that stay calls: scalar, struct by value, 64-bit and pointer parameters and results.
struct pair {
    int lo, hi;
    double scale;
};
__device__ __noinline__ int mix(int a, short b, unsigned char c)
{
    return a * 31 + b * 7 + c;
}
__device__ __noinline__ pair order(pair p, int k)
{
    pair r;
    r.lo = p.lo < p.hi ? p.lo : p.hi;
    r.hi = p.lo < p.hi ? p.hi : p.lo;
    r.scale = __dmul_rn(p.scale, (double)k);
    return r;
}
__device__ __noinline__ void store(long long *out, int i, long long v)
{
    out[i] = v;
}
__device__ __noinline__ float nested(float x, int depth)
{
    float y = __fadd_rn(x, (float)mix(depth, -3, 250));
    return __fmul_rn(y, 0.5f);
}
extern "C" __global__ void noinline_call(const int *x, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    pair p = {x[i], x[(i + 5) % n], 0.25};
    p = order(p, i);
    long long v = (long long)p.hi << 32 | (unsigned)mix(p.lo, (short)i, (unsigned char)(i * 3));
    store(out, 3 * i, v);
    store(out, 3 * i + 1, (long long)(p.scale * 4.0));
    store(out, 3 * i + 2, __float2ll_rz(nested((float)p.lo, i)));
}
