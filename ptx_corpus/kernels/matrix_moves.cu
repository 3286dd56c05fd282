// ldmatrix x1/x2/x4 plain and .trans, stmatrix x1/x2/x4 plain and .trans, movmatrix.
extern "C" __global__ void matrix_moves(const unsigned short *in, unsigned *frag,
                                        unsigned short *out)
{
    __shared__ __align__(16) unsigned short s[256], t[7 * 64];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        s[i] = in[i];
    __syncwarp();
    unsigned p = __cvta_generic_to_shared(s), r[7], u;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(p + lane * 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(r[1]), "=r"(r[2])
                 : "r"(p + (lane ^ 1) * 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6])
                 : "r"(p + (lane ^ 3) * 16));
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(u) : "r"(r[3]));
    for (int i = 0; i < 7; i++)
        frag[i * 32 + lane] = r[i];
    frag[7 * 32 + lane] = u;
    unsigned w = __cvta_generic_to_shared(t);
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(w + lane * 16),
                 "r"(r[0])
                 : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(w + 128 + lane * 16),
                 "r"(r[1]), "r"(r[2])
                 : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                     w + 384 + (lane ^ 1) * 16),
                 "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 7 * 64; i += 32)
        out[i] = t[i];
}
