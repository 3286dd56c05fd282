// Linear filtering in 1-D, 2-D (clamp and border) and f16 data; weights are exact in 8 bits.
extern "C" __global__ void tex_linear(cudaTextureObject_t line, cudaTextureObject_t clamp,
                                      cudaTextureObject_t border, cudaTextureObject_t half2x,
                                      const float2 *xy, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 c = xy[i];
    out[i] = tex1D<float>(line, c.x);
    out[n + i] = tex2D<float>(clamp, c.x, c.y);
    out[2 * n + i] = tex2D<float>(border, c.x, c.y);
    float4 v = tex2D<float4>(half2x, c.x, c.y);
    out[3 * n + i] = v.x;
    out[4 * n + i] = v.y;
    out[5 * n + i] = v.z;
    out[6 * n + i] = v.w;
}
