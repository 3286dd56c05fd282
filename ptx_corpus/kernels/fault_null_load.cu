// A load through a null pointer.
extern "C" __global__ void fault_null_load(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x & 1];
}
