// One step of the game of life on a torus of bytes: u8 loads and stores, modulo arithmetic.
extern "C" __global__ void life_bytes(const unsigned char *in, unsigned char *out, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h)
        return;
    int x = i % w, y = i / w, count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx | dy)
                count += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[i] = count == 3 || (count == 2 && in[i]);
}
