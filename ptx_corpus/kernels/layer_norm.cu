// Layer normalisation, one warp per row: mean and variance by shuffles, rsqrtf, gain and bias.
extern "C" __global__ void layer_norm(const float *in, const float *gain, const float *bias,
                                      float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f, var = 0.0f;
    for (int j = lane; j < cols; j += 32)
        sum += in[row * cols + j];
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    float mean = sum / cols;
    for (int j = lane; j < cols; j += 32) {
        float t = in[row * cols + j] - mean;
        var += t * t;
    }
    for (int d = 16; d > 0; d >>= 1)
        var += __shfl_xor_sync(0xffffffffu, var, d);
    float r = rsqrtf(var / cols + 1e-5f);
    for (int j = lane; j < cols; j += 32)
        out[row * cols + j] = (in[row * cols + j] - mean) * r * gain[j] + bias[j];
}
