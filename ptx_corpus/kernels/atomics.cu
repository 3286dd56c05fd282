// Atomics with order-free results: every u32/s32 operation, 64-bit ones, exch, inc/dec, red, shared.
extern "C" __global__ void atomics(const int *x, int n, int *w, unsigned long long *v, unsigned *old)
{
    __shared__ unsigned s[4];
    __shared__ unsigned long long s64[2];
    if (threadIdx.x == 0) {
        s[0] = 0, s[1] = ~0u, s[2] = 0, s[3] = 0;
        s64[0] = 0, s64[1] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = x[i];
        atomicAdd(&w[0], k);
        atomicSub(&w[1], k);
        atomicMin(&w[2], k);
        atomicMax(&w[3], k);
        atomicMin((unsigned *)&w[4], (unsigned)k);
        atomicMax((unsigned *)&w[5], (unsigned)k);
        atomicAnd(&w[6], k | 0x10000);
        atomicOr(&w[7], k);
        atomicXor(&w[8], k);
        unsigned turn = atomicInc((unsigned *)&w[9], 99u);
        atomicAdd(&old[turn], 1u);
        atomicDec((unsigned *)&w[10], 49u);
        atomicExch(&w[11 + i], k + 1);
        atomicAdd(&v[0], (unsigned long long)(long long)k * 0x100000001ull);
        atomicMax(&v[1], (unsigned long long)k << 20);
        atomicMin((long long *)&v[2], (long long)k << 33);
        atomicXor(&v[3], (unsigned long long)k << 30);
        unsigned long long was = atomicCAS(&v[4], 5ull, 5ull);
        atomicAnd(&v[5], was | (unsigned long long)k << 32);
        asm volatile("red.relaxed.gpu.global.add.u32 [%0], 2;" ::"l"(&w[11 + n]) : "memory");
        atomicAdd(&s[0], (unsigned)k);
        atomicMin(&s[1], (unsigned)k);
        atomicOr(&s[2], 1u << (k & 31));
        atomicAdd_block(&s[3], 3u);
        atomicAdd(&s64[0], (unsigned long long)k << 16);
        atomicMax(&s64[1], (unsigned long long)k << 35);
    }
    __syncthreads();
    if (threadIdx.x < 4)
        w[12 + n + blockIdx.x * 8 + threadIdx.x] = s[threadIdx.x];
    else if (threadIdx.x < 6)
        *(unsigned long long *)&w[12 + n + blockIdx.x * 8 + 4 + (threadIdx.x - 4) * 2] =
            s64[threadIdx.x - 4];
}
