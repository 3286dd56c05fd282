// shfl.sync idx/up/down/bfly with sub-warp widths, out-of-range predicates and a partial mask.
extern "C" __global__ void shuffles(const int *x, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    int *o = out + i * 12, r, p;
    asm volatile("{ .reg .pred q; shfl.sync.up.b32 %0|q, %2, 3, 0x1000, 0xffffffff; "
                 "selp.s32 %1, 1, 0, q; }"
                 : "=r"(r), "=r"(p)
                 : "r"(v));
    o[0] = r, o[1] = p;
    asm volatile("{ .reg .pred q; shfl.sync.down.b32 %0|q, %2, 5, 0x181f, 0xffffffff; "
                 "selp.s32 %1, 1, 0, q; }"
                 : "=r"(r), "=r"(p)
                 : "r"(v));
    o[2] = r, o[3] = p;
    asm volatile("{ .reg .pred q; shfl.sync.idx.b32 %0|q, %2, %3, 0x1c1f, 0xffffffff; "
                 "selp.s32 %1, 1, 0, q; }"
                 : "=r"(r), "=r"(p)
                 : "r"(v), "r"(lane * 3));
    o[4] = r, o[5] = p;
    asm volatile("{ .reg .pred q; shfl.sync.bfly.b32 %0|q, %2, 12, 0x180f, 0xffffffff; "
                 "selp.s32 %1, 1, 0, q; }"
                 : "=r"(r), "=r"(p)
                 : "r"(v));
    o[6] = r, o[7] = p;
    o[8] = __shfl_sync(0xffffffffu, v, v);
    double d = __shfl_xor_sync(0xffffffffu, (double)v, 17);
    o[9] = (int)d;
    o[10] = o[11] = -1;
    if (lane >= 6 && lane < 27)
        o[10] = __shfl_sync(0x07ffffc0u, v * 2, 6 + (lane * 5) % 21);
    else
        o[11] = __shfl_down_sync(0xf800003fu, v * 3, lane < 5 || (lane > 26 && lane < 31) ? 1 : 0);
}
