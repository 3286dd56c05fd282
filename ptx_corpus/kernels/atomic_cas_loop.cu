// Compare-and-swap loops: f32 maximum, saturating add, u16 CAS, per-lane retry counts.
__device__ void max_f32(unsigned *at, float v)
{
    unsigned seen = *at;
    while (__uint_as_float(seen) < v) {
        unsigned got = atomicCAS(at, seen, __float_as_uint(v));
        if (got == seen)
            break;
        seen = got;
    }
}
extern "C" __global__ void atomic_cas_loop(const float *x, int n, unsigned *w, unsigned short *half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    max_f32(&w[0], x[i]);
    unsigned old = w[1], want;
    do {
        want = old;
        unsigned next = want > 0xffffffffu - 77u ? 0xffffffffu : want + 77u;
        old = atomicCAS(&w[1], want, next);
    } while (old != want);
    unsigned short was = half[i & 1], now;
    do {
        now = was;
        was = atomicCAS(&half[i & 1], now, (unsigned short)(now + 3));
    } while (was != now);
}
