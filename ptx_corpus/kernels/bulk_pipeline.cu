// Bulk copies: tiles come by cp.async.bulk through two buffers with an mbarrier each, and go out by bulk groups.
extern "C" __global__ void bulk_pipeline(const unsigned *in, unsigned *out, int tiles)
{
    constexpr int T = 96;
    __shared__ __align__(128) unsigned from[2][T], to[2][T];
    __shared__ __align__(8) unsigned long long bar[2];
    int t = threadIdx.x;
    unsigned b0 = (unsigned)__cvta_generic_to_shared(bar), f0 = (unsigned)__cvta_generic_to_shared(from), t0 = (unsigned)__cvta_generic_to_shared(to);
    in += blockIdx.x * tiles * T;
    out += blockIdx.x * tiles * T;
    auto fetch = [&](int tile) {
        unsigned b = b0 + tile % 2 * 8;
        asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1;}" ::"r"(b), "r"(T * 4) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(f0 + tile % 2 * T * 4),
                     "l"(in + tile * T), "r"(T * 4), "r"(b) : "memory");
    };
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; mbarrier.init.shared::cta.b64 [%0+8], 1;" ::"r"(b0) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t == 0)
        fetch(0);
    for (int k = 0; k < tiles; k++) {
        if (t == 0 && k + 1 < tiles)
            fetch(k + 1);
        unsigned done;
        do
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(b0 + k % 2 * 8), "r"(k / 2 & 1) : "memory");
        while (!done);
        if (t == 0)
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        to[k % 2][t] = from[k % 2][T - 1 - t] * 3 + from[k % 2][t];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + k * T), "r"(t0 + k % 2 * T * 4), "r"(T * 4) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
