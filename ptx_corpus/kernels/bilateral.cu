// Bilateral filter over a texture object: point-filtered tex2D with clamping, __expf weights.
extern "C" __global__ void bilateral(cudaTextureObject_t src, float *out, int w, int h,
                                     float inv_space, float inv_range)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float centre = tex2D<float>(src, x + 0.5f, y + 0.5f), sum = 0.0f, total = 0.0f;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            float v = tex2D<float>(src, x + dx + 0.5f, y + dy + 0.5f), d = v - centre;
            float weight = __expf(-(dx * dx + dy * dy) * inv_space - d * d * inv_range);
            sum += weight * v;
            total += weight;
        }
    out[y * w + x] = sum / total;
}
