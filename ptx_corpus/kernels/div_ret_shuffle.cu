// Lanes return early; the rest shuffle, vote and match under the mask of those that stay.
extern "C" __global__ void div_ret_shuffle(const int *x, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    unsigned mask = __ballot_sync(0xffffffffu, v % 4 != 0);
    if (v % 4 == 0)
        return;
    int rank = __popc(mask & ((1u << lane) - 1)), count = __popc(mask);
    int next = __fns(mask, 0, (rank + 1) % count + 1);
    int got = __shfl_sync(mask, v, next);
    out[3 * i] = got * 100 + rank;
    out[3 * i + 1] = __ballot_sync(mask, got > v);
    out[3 * i + 2] = __match_any_sync(mask, v % 4);
}
