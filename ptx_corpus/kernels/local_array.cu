// Local arrays: dynamic indexing, a generic pointer to local memory passed to a function.
__device__ __noinline__ void rotate(int *a, int n, int k)
{
    for (int j = 0; j < k; j++) {
        int first = a[0];
        for (int i = 0; i + 1 < n; i++)
            a[i] = a[i + 1];
        a[n - 1] = first;
    }
}
extern "C" __global__ void local_array(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, a[11];
    unsigned char seen[13];
    if (i >= n)
        return;
    for (int j = 0; j < 11; j++)
        a[j] = x[(i + j * j) % n];
    for (int j = 0; j < 13; j++)
        seen[j] = 0;
    rotate(a, 11, i % 4);
    int at = 0, steps = 0;
    while (!seen[at]) {
        seen[at] = 1;
        at = (unsigned)a[at % 11] % 13;
        steps++;
    }
    a[i % 11] += steps;
    out[2 * i] = steps * 100 + at;
    out[2 * i + 1] = a[x[i] % 11];
}
