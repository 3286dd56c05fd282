// Causal attention with an online softmax: K and V tiles in shared memory, registers as a vector.
#define DIM 16
#define TILE 8
extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *out,
                                     int seq, float scale)
{
    __shared__ float ks[TILE][DIM], vs[TILE][DIM];
    int row = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y * seq * DIM;
    float qr[DIM], acc[DIM], m = -1e30f, l = 0.0f;
    for (int d = 0; d < DIM; d++) {
        qr[d] = row < seq ? q[head + row * DIM + d] : 0.0f;
        acc[d] = 0.0f;
    }
    for (int base = 0; base < seq; base += TILE) {
        for (int t = threadIdx.x; t < TILE * DIM; t += blockDim.x) {
            int r = base + t / DIM;
            ks[t / DIM][t % DIM] = r < seq ? k[head + r * DIM + t % DIM] : 0.0f;
            vs[t / DIM][t % DIM] = r < seq ? v[head + r * DIM + t % DIM] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < TILE; j++) {
            if (base + j > row || base + j >= seq)
                break;
            float s = 0.0f;
            for (int d = 0; d < DIM; d++)
                s += qr[d] * ks[j][d];
            s *= scale;
            float m2 = fmaxf(m, s), old = __expf(m - m2), p = __expf(s - m2);
            l = l * old + p;
            for (int d = 0; d < DIM; d++)
                acc[d] = acc[d] * old + p * vs[j][d];
            m = m2;
        }
        __syncthreads();
    }
    if (row < seq)
        for (int d = 0; d < DIM; d++)
            out[head + row * DIM + d] = acc[d] / l;
}
