// A barrier inside a loop whose body diverges by lane; then one of block-dependent trip count.
extern "C" __global__ void div_barrier_loop(const int *x, int *out)
{
    __shared__ int s[2][70];
    int t = threadIdx.x, i = blockIdx.x * 70 + t;
    s[0][t] = x[i];
    __syncthreads();
#pragma unroll 1
    for (int r = 0; r < 5 + (int)blockIdx.x; r++) {
        int *from = s[r & 1], *to = s[~r & 1], v = from[(t + 1) % 70];
        if ((t + r) % 3 == 0) {
#pragma unroll 1
            for (int k = 0; k < (v & 3); k++)
                v = v * 3 + k;
        } else if (t & 1) {
            v -= from[t];
        }
        to[t] = v;
        __syncthreads();
    }
    out[i] = s[(5 + blockIdx.x) & 1][t];
}
