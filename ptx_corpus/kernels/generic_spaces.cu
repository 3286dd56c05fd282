// Generic addresses of global, shared, local and constant memory: cvta, isspacep, mixed pointers.
__device__ int in_global = 1000;
__constant__ int in_const[2] = {2000, 2001};
extern "C" __global__ void generic_spaces(const int *x, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, a[4];
    s[t] = t * 2;
    for (int j = 0; j < 4; j++)
        a[j] = 300 + j + t;
    __syncthreads();
    const int *p;
    switch (i % 5) {
    case 0: p = &in_global; break;
    case 1: p = &s[63 - t]; break;
    case 2: p = &a[t & 3]; break;
    case 3: p = &in_const[t & 1]; break;
    default: p = &x[i % n]; break;
    }
    int space = __isGlobal(p) + 2 * __isShared(p) + 4 * __isLocal(p) + 8 * __isConstant(p);
    int v = *p;
    if (i % 5 == 2)
        *(int *)p = -1;
    out[i] = v * 16 + space + (a[t & 3] < 0 ? 1000000 : 0);
}
