// Inclusive prefix sums inside each warp with shfl.up, for s32 and (as two shuffles) s64.
extern "C" __global__ void scan_shuffle(const int *x, int n, int *out32, long long *out64)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = i < n ? x[i] : 0;
    long long w = (long long)v * 0x100000001ll;
    for (int d = 1; d < 32; d <<= 1) {
        int a = __shfl_up_sync(0xffffffffu, v, d);
        long long b = __shfl_up_sync(0xffffffffu, w, d);
        if (lane >= d) {
            v += a;
            w += b;
        }
    }
    if (i < n) {
        out32[i] = v;
        out64[i] = w;
    }
}
