// One k-means step: nearest centre per point, counts and fixed-point sums by shared/global atomics.
extern "C" __global__ void kmeans_step(const float2 *pts, int n, const float2 *centres, int k,
                                       int *label, unsigned *count, unsigned long long *sum)
{
    __shared__ float2 c[8];
    __shared__ unsigned cnt[8];
    if (threadIdx.x < 8) {
        cnt[threadIdx.x] = 0;
        if ((int)threadIdx.x < k)
            c[threadIdx.x] = centres[threadIdx.x];
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 p = pts[i];
        float best = __int_as_float(0x7f800000);
        int arg = -1;
        for (int j = 0; j < k; j++) {
            float dx = __fsub_rn(p.x, c[j].x), dy = __fsub_rn(p.y, c[j].y);
            float d = __fmaf_rn(dx, dx, __fmul_rn(dy, dy));
            if (d < best) {
                best = d;
                arg = j;
            }
        }
        label[i] = arg;
        atomicAdd(&cnt[arg], 1u);
        atomicAdd(&sum[2 * arg], (unsigned long long)(long long)__float2int_rn(p.x * 65536.0f));
        atomicAdd(&sum[2 * arg + 1], (unsigned long long)(long long)__float2int_rn(p.y * 65536.0f));
    }
    __syncthreads();
    if ((int)threadIdx.x < k && cnt[threadIdx.x])
        atomicAdd(&count[threadIdx.x], cnt[threadIdx.x]);
}
