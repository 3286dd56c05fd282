// mbarrier in shared memory: init, arrive, test_wait on a state token, try_wait.parity, inval.
extern "C" __global__ void mbarrier(const int *x, int *out, int rounds)
{
    __shared__ unsigned long long bar;
    __shared__ int s[80];
    int t = threadIdx.x, sum = 0;
    unsigned b = __cvta_generic_to_shared(&bar);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(80) : "memory");
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        for (int half = 0; half < 2; half++) {
            if (half == 0)
                s[t] = x[(blockIdx.x * rounds + r) * 80 + t];
            else
                sum = sum * 5 + s[(t + r * 33 + 1) % 80];
            unsigned long long state;
            unsigned done = 0;
            asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
            while (!done)
                if (half == 0)
                    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; "
                                 "selp.u32 %0, 1, 0, p; }"
                                 : "=r"(done)
                                 : "r"(b), "l"(state)
                                 : "memory");
                else
                    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], "
                                 "%2; selp.u32 %0, 1, 0, p; }"
                                 : "=r"(done)
                                 : "r"(b), "r"(1)
                                 : "memory");
        }
    }
    __syncthreads();
    if (t == 0)
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
    out[blockIdx.x * 80 + t] = sum;
}
