// redux.sync add/min/max (u32 and s32) and and/or/xor over full and partial masks.
extern "C" __global__ void redux(const int *x, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    int *o = out + i * 8;
    o[0] = __reduce_add_sync(0xffffffffu, v);
    o[1] = __reduce_min_sync(0xffffffffu, v);
    o[2] = __reduce_max_sync(0xffffffffu, (unsigned)v);
    o[3] = __reduce_xor_sync(0xffffffffu, v);
    if (lane < 13) {
        o[4] = __reduce_and_sync(0x1fffu, v | 0xff);
        o[5] = __reduce_max_sync(0x1fffu, v);
    } else {
        o[4] = __reduce_or_sync(0xffffe000u, v & 0xff0ff);
        o[5] = __reduce_min_sync(0xffffe000u, (unsigned)v);
    }
    o[6] = __reduce_add_sync(0xffffffffu, (unsigned)v * 3u);
    o[7] = lane;
}
