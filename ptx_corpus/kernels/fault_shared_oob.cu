// A shared-memory load far outside the block's shared window, by one lane.
extern "C" __global__ void fault_shared_oob(const unsigned *where, unsigned *out)
{
    __shared__ unsigned s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned v, at = (unsigned)__cvta_generic_to_shared(s) + where[threadIdx.x];
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
    out[threadIdx.x] = v;
}
