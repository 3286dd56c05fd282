// A 4-byte load at an odd address, by one lane.
extern "C" __global__ void fault_misaligned(const unsigned char *in, unsigned *out)
{
    int i = threadIdx.x;
    out[i] = *(const unsigned *)(in + 4 * i + (i == 7));
}
