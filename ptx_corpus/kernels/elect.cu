// elect.sync (sm_90): exactly one lane of each member mask is chosen, and all lanes agree on it.
extern "C" __global__ void elect(int *out)
{
    int lane = threadIdx.x & 31, leader, chosen;
    unsigned mask = lane < 9 ? 0x1ffu : 0xfffffe00u;
    if (lane < 9)
        asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.s32 %1, 1, 0, p; }"
                     : "=r"(leader), "=r"(chosen)
                     : "r"(mask));
    else
        asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.s32 %1, 1, 0, p; }"
                     : "=r"(leader), "=r"(chosen)
                     : "r"(mask));
    __syncwarp();
    unsigned who = __ballot_sync(0xffffffffu, chosen) & mask;
    out[blockIdx.x * blockDim.x + threadIdx.x] = __popc(who) + 10 * (who == 1u << leader);
}
