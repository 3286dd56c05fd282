// cp.reduce.async.bulk into global memory by many blocks, into shared memory, st.async and red.async at an mbarrier.
#define REDUCE(what, at, bytes) \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." what " [%0], [%1], %2;" ::"l"((char *)out + (at)), "r"(s), "r"(bytes) : "memory")
extern "C" __global__ void bulk_reduce(unsigned *out, unsigned *local)
{
    __shared__ __align__(128) unsigned tile[64], other[64];
    __shared__ __align__(8) unsigned long long bar;
    int t = threadIdx.x, b = blockIdx.x;
    unsigned s = (unsigned)__cvta_generic_to_shared(tile), o = (unsigned)__cvta_generic_to_shared(other), r = (unsigned)__cvta_generic_to_shared(&bar);
    auto fill = [&](unsigned v) {
        __syncthreads();
        tile[t] = v;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
    };
    auto drain = [&] { asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); };
    fill(t * 7 + b * 1000 + 5);
    if (t == 0) {
        REDUCE("add.u32", 0, 256);
        REDUCE("max.u32", 512, 256);
        REDUCE("xor.b32", 768, 256);
        REDUCE("or.b64", 1024, 256);
        REDUCE("add.u64", 1280, 256);
        REDUCE("max.u64", 1536, 256);
        REDUCE("inc.u32", 1792, 256);
        drain();
    }
    fill(-(t * 7 + b * 1000 + 5));
    if (t == 0) {
        REDUCE("min.s32", 256, 256);
        drain();
    }
    fill(__float_as_uint((float)(t - 20 + b * 3)));
    if (t == 0) {
        REDUCE("add.f32", 2048, 256);
        drain();
    }
    unsigned half = t % 2 ? 0x3c00 : 0xc000; // 1 and -2
    fill(half | half << 16);
    if (t == 0) {
        REDUCE("add.noftz.f16", 2304, 256);
        REDUCE("min.f16", 2560, 256);
        drain();
    }
    unsigned long long d = __double_as_longlong((double)(t / 2 + b));
    fill(t % 2 ? (unsigned)(d >> 32) : (unsigned)d);
    if (t == 0) {
        REDUCE("add.f64", 2816, 256);
        drain();
    }
    // The rest stays in the block.
    fill(t * 5 + b);
    other[t] = t % 3 ? 100 : 7;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(r) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 224;}" ::"r"(r) : "memory");
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [%0], [%1], 192, [%2];" ::"r"(o), "r"(s), "r"(r) : "memory");
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %1, %2}, [%3];" ::"r"(o + 192), "r"(11 + b), "r"(22), "r"(r) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" ::"r"(o + 208), "l"(0xffffffffull), "r"(r) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%0], %1, [%2];" ::"r"(o + 216), "r"(-5), "r"(r) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.dec.u32 [%0], %1, [%2];" ::"r"(o + 220), "r"(90), "r"(r) : "memory");
    }
    unsigned done;
    do
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(r) : "memory");
    while (!done);
    local[b * 64 + t] = other[t];
}
