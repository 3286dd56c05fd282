// match.any.sync and match.all.sync of 32 and 64 bits, full and partial masks.
extern "C" __global__ void match_any_all(const unsigned *x, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, p, q;
    unsigned v = x[i], *o = out + i * 6;
    o[0] = __match_any_sync(0xffffffffu, v);
    o[1] = __match_any_sync(0xffffffffu, (unsigned long long)(v & 1) << 32 | (v & 2));
    o[2] = __match_all_sync(0xffffffffu, blockIdx.x == 0 ? 7u : v, &p);
    o[3] = p;
    if (lane % 3) {
        o[4] = __match_any_sync(0xb6db6db6u, v & 3);
        o[5] = __match_all_sync(0xb6db6db6u,
                                (unsigned long long)(v >> (blockIdx.x ? 2 : 20)) << 40, &q);
        o[5] += q;
    } else {
        o[4] = o[5] = 0xdead;
    }
}
