// A bulk copy of a size that is no multiple of 16, by one thread of the second block.
extern "C" __global__ void fault_bulk_size(unsigned *out)
{
    __shared__ __align__(128) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 33)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + blockIdx.x * 64),
                     "r"((unsigned)__cvta_generic_to_shared(tile)), "r"(blockIdx.x == 1 ? 40 : 64) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
