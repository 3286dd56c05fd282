// Indirect calls: a global table of function addresses, and a pointer passed as a parameter.
typedef int (*op)(int, int);
extern "C" __device__ __noinline__ int op_add(int a, int b)
{
    return a + b;
}
extern "C" __device__ __noinline__ int op_sub(int a, int b)
{
    return a - b;
}
extern "C" __device__ __noinline__ int op_xor(int a, int b)
{
    return a ^ b * 3;
}
extern "C" __device__ __noinline__ int op_pick(int a, int b)
{
    return b & 1 ? op_add(a, 1000) : op_sub(a, 1000);
}
__device__ op table[4] = {op_add, op_sub, op_xor, op_pick};
extern "C" __global__ void function_pointers(const int *x, int *out, int n, op extra)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int r = table[x[i] & 3](x[i], i);
    out[2 * i] = r;
    out[2 * i + 1] = (i % 5 == 0 ? extra : table[blockIdx.x & 3])(r, x[i]);
}
