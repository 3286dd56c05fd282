// Special registers: tid, ntid, ctaid, nctaid in 3-D, laneid, lane masks, shared size, clocks.
extern "C" __global__ void special_registers(unsigned *out)
{
    extern __shared__ unsigned dyn[];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned *o = out + (b * blockDim.x * blockDim.y * blockDim.z + t) * 12, r, c0, c1;
    long long g0, g1;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(c0));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0));
    dyn[t] = t;
    o[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    o[1] = blockDim.x | blockDim.y << 8 | blockDim.z << 16;
    o[2] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    o[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    o[4] = r;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
    o[5] = r;
    asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(r));
    o[6] = r;
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(r));
    o[7] = r;
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(r));
    o[8] = r;
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(r));
    o[9] = r;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r));
    o[10] = r;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(c1));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1));
    o[11] = (int)(c1 - c0) >= 0 && g1 >= g0 && dyn[t] == t;
}
