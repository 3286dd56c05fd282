// vote.sync all/any/uni/ballot under full and partial masks, activemask inside a branch.
extern "C" __global__ void votes(const int *x, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = i < n ? x[i] : -1;
    unsigned *o = out + i * 8;
    o[0] = __ballot_sync(0xffffffffu, v & 1);
    o[1] = __all_sync(0xffffffffu, v < 90) + 2 * __any_sync(0xffffffffu, v > 97);
    int u;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 3; vote.sync.uni.pred q, p, 0xffffffff; "
                 "selp.s32 %0, 1, 0, q; }"
                 : "=r"(u)
                 : "r"(v));
    o[2] = u;
    o[3] = o[4] = o[5] = 0;
    if (v % 3 == 0)
        o[3] = __activemask();
    __syncwarp();
    if (lane < 11)
        o[4] = __ballot_sync(0x000007ffu, v & 2);
    else
        o[4] = __ballot_sync(0xfffff800u, !(v & 2));
    if (lane & 1)
        o[5] = 1 + __any_sync(0xaaaaaaaau, v == 50) + 4 * __all_sync(0xaaaaaaaau, v != 50);
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 40; vote.sync.ballot.b32 %0, !p, 0xffffffff; }"
                 : "=r"(o[6])
                 : "r"(v));
    o[7] = __popc(o[0] & ((1u << lane) - 1));
}
