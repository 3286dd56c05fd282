// Break and continue out of nested loops at lane-dependent points, then a full-mask shuffle.
extern "C" __global__ void div_nested_break(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, target = x[i], visits = 0, found = -1;
#pragma unroll 1
    for (int a = 1; a < 12; a++) {
        if (a == (i & 7))
            continue;
#pragma unroll 1
        for (int b = a; b < 12; b++) {
            visits++;
            if (a * b == target) {
                found = a * 100 + b;
                goto out_of_both;
            }
            if (a * b > target)
                break;
        }
        if (visits > 30 + (i & 15))
            break;
    }
out_of_both:
    __syncwarp();
    out[2 * i] = visits * 10000 + found;
    out[2 * i + 1] = __shfl_xor_sync(0xffffffffu, visits, 5);
}
