// Normalised coordinates: wrap, clamp, mirror and border of one u8x4 texture read as floats.
extern "C" __global__ void tex_modes(cudaTextureObject_t wrap, cudaTextureObject_t clamp,
                                     cudaTextureObject_t mirror, cudaTextureObject_t border,
                                     const float2 *uv, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 c = uv[i];
    out[i] = tex2D<float4>(wrap, c.x, c.y);
    out[n + i] = tex2D<float4>(clamp, c.x, c.y);
    out[2 * n + i] = tex2D<float4>(mirror, c.x, c.y);
    out[3 * n + i] = tex2D<float4>(border, c.x, c.y);
}
