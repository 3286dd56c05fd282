// Ray marching through a 3-D texture with linear filtering; a maximum along each ray.
extern "C" __global__ void volume_sample(cudaTextureObject_t vol, float *peak, float *sample, int w,
                                         int h, int steps)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float px = x * 0.5625f - 0.25f, py = y * 0.4375f, pz = 0.1875f, best = 0.0f;
    for (int s = 0; s < steps; s++) {
        float v = tex3D<float>(vol, px, py, pz);
        best = fmaxf(best, v);
        if (s == steps / 2)
            sample[y * w + x] = v;
        if (v > 230.0f)
            break;
        px += 0.1875f;
        py += 0.0625f;
        pz += 0.3125f;
    }
    peak[y * w + x] = best;
}
