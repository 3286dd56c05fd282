// trap executed by one lane of the second block only.
extern "C" __global__ void fault_trap(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
    if (i == 45)
        __trap();
}
