// Per-lane trip counts: Collatz steps, then an inner loop whose length depends on the lane.
extern "C" __global__ void div_trip_counts(unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = i + 1, peak = 0;
    int steps = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        peak = v > peak ? v : peak;
        steps++;
    }
    unsigned h = 17;
#pragma unroll 1
    for (int k = 0; k < steps % 7; k++)
#pragma unroll 1
        for (int j = k; j < (i & 3); j++)
            h = h * 33 + j + k;
    out[3 * i] = steps;
    out[3 * i + 1] = (unsigned)peak;
    out[3 * i + 2] = h;
}
