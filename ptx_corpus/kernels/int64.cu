// 64-bit integers: mul lo/hi, div and rem signed and unsigned, shifts, min/max, comparisons, abs.
extern "C" __global__ void int64(const long long *a, const long long *b, long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long x = a[i], y = b[i], *o = out + i * 14;
    unsigned long long ux = x, uy = y;
    o[0] = x * y;
    o[1] = __mul64hi(x, y);
    o[2] = __umul64hi(ux, uy);
    o[3] = x / y;
    o[4] = x % y;
    o[5] = ux / uy;
    o[6] = ux % uy;
    o[7] = x >> (y & 63);
    o[8] = ux >> (y & 63);
    o[9] = x << (y & 63);
    o[10] = max(x, y) - min(ux, uy);
    o[11] = (x < y) + 2 * (ux < uy) + 4 * (x == y);
    o[12] = llabs(x) ^ (long long)(int)y;
    o[13] = (long long)(int)x * (int)y + (unsigned)x * (unsigned long long)(unsigned)y;
}
