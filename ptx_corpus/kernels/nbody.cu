// One n-body force step: float4 loads, a shared-memory tile, rsqrtf.
extern "C" __global__ void nbody(const float4 *pos, float4 *acc, int n, float eps)
{
    __shared__ float4 tile[32];
    int i = blockIdx.x * 32 + threadIdx.x;
    float4 p = i < n ? pos[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += 32) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? pos[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int t = 0; t < 32; t++) {
            float4 o = tile[t];
            float dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + eps);
            float s = o.w * r * r * r;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    if (i < n)
        acc[i] = make_float4(ax, ay, az, 0.0f);
}
