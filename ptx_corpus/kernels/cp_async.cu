// cp.async of 4, 8 and 16 bytes (ca, cg, zero-filled source size), commit and wait groups.
extern "C" __global__ void cp_async(const unsigned *in, unsigned *out, int blocks)
{
    __shared__ __align__(16) unsigned s[2][3][48 * 4];
    int t = threadIdx.x;
    unsigned base = __cvta_generic_to_shared(s);
    for (int b = 0; b <= blocks; b++) {
        if (b < blocks) {
            const unsigned *src = in + b * 192;
            unsigned dst = base + (b & 1) * 3 * 768;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst + t * 16),
                         "l"(src + t * 4));
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(dst + 768 + t * 8),
                         "l"(src + t * 2));
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(dst + 768 + 384 + t * 4),
                         "l"(src + t));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst + 1536 + t * 16),
                         "l"(src + t * 4), "r"(t % 17));
            asm volatile("cp.async.commit_group;");
        }
        if (b > 0) {
            if (b < blocks)
                asm volatile("cp.async.wait_group 1;" ::: "memory");
            else
                asm volatile("cp.async.wait_all;" ::: "memory");
            __syncthreads();
            const unsigned *q = &s[(b - 1) & 1][0][0];
            for (int j = 0; j < 4; j++)
                out[(b - 1) * 48 * 9 + j * 48 + t] = q[(t * 4 + j) * 7 % 192];
            for (int j = 0; j < 2; j++)
                out[(b - 1) * 48 * 9 + (4 + j) * 48 + t] = q[192 + (j ? 96 + t : t * 2 + 1)];
            for (int j = 0; j < 3; j++)
                out[(b - 1) * 48 * 9 + (6 + j) * 48 + t] = q[384 + t * 4 + j];
            __syncthreads();
        }
    }
}
