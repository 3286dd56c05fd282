// ldmatrix of 8-, 6- and 4-bit elements (m16n16, m8n16), stmatrix m16n8.b8, st.bulk, a masked bulk copy, cluster launch control.
extern "C" __global__ void matrix_bytes(const uint4 *in, unsigned *frag, unsigned char *back, unsigned char *masked, unsigned *answer)
{
    __shared__ __align__(128) uint4 rows[32], copy[32];
    __shared__ __align__(16) uint4 response;
    __shared__ __align__(8) unsigned long long bar;
    int l = threadIdx.x;
    rows[l] = in[l];
    copy[l] = make_uint4(l, l, l, l);
    unsigned a = (unsigned)__cvta_generic_to_shared(rows + l), c = (unsigned)__cvta_generic_to_shared(copy + l), d[4];
    unsigned r = (unsigned)__cvta_generic_to_shared(&bar), q = (unsigned)__cvta_generic_to_shared(&response);
    __syncthreads();
    if (l == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(r) : "memory");
        asm volatile("st.bulk.weak.shared::cta [%0], 256, 0;" ::"r"(c) : "memory");
    }
    __syncthreads();
#define LOAD4(form, at) \
    asm volatile("ldmatrix.sync.aligned." form " {%0, %1, %2, %3}, [%4];" : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(a)); \
    for (int i = 0; i < 4; i++) frag[(at + i) * 32 + l] = d[i];
    LOAD4("m16n16.x2.trans.shared.b8", 0)
    LOAD4("m16n16.x2.trans.shared.b8x16.b6x16_p32", 4)
    LOAD4("m16n16.x2.trans.shared.b8x16.b4x16_p64", 8)
    LOAD4("m8n16.x4.shared.b8x16.b6x16_p32", 12)
    LOAD4("m8n16.x4.shared.b8x16.b4x16_p64", 16)
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];" : "=r"(d[0]), "=r"(d[1]) : "r"(a));
    frag[20 * 32 + l] = d[0] ^ d[1];
    // c0 to c3 of two 16 x 8 matrices, into rows 8 to 23 of copy.
    asm volatile("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0], {%1, %2};" ::"r"(c + 128), "r"(l * 0x01010101u + 0x03020100u), "r"(d[0]) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (l == 0) {
        asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 16;}" ::"r"(r) : "memory");
        asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(q), "r"(r) : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], 512, %2;" ::"l"(masked), "r"(c), "h"((unsigned short)0xa5f0) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
    ((uint4 *)back)[l] = copy[l];
    unsigned done, cancelled;
    do
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(r) : "memory");
    while (!done);
    asm volatile("{.reg .pred p; .reg .b128 q; ld.shared.b128 q, [%1]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q; selp.u32 %0, 1, 0, p;}"
                 : "=r"(cancelled) : "r"(q) : "memory");
    answer[l] = cancelled + 10;
}
