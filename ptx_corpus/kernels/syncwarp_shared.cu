// bar.warp.sync with partial masks: two halves of a warp exchange through shared memory apart.
extern "C" __global__ void syncwarp_shared(const int *x, int *out)
{
    __shared__ int s[96];
    int t = threadIdx.x, lane = t & 31, base = t & ~31;
    int v = x[blockIdx.x * 96 + t];
    s[t] = v;
    if (lane < 20) {
        __syncwarp(0x000fffffu);
        for (int k = 0; k < 5; k++) {
            int w = s[base + (lane + 1) % 20];
            __syncwarp(0x000fffffu);
            s[t] = w + lane;
            __syncwarp(0x000fffffu);
        }
    } else {
        __syncwarp(0xfff00000u);
        int w = s[base + 51 - lane];
        __syncwarp(0xfff00000u);
        s[t] = w * 2;
    }
    __syncwarp();
    out[blockIdx.x * 96 + t] = s[base + (lane ^ 16)];
}
