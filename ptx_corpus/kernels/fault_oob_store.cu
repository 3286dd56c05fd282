// A store far outside every buffer, by one lane.
extern "C" __global__ void fault_oob_store(int *out)
{
    int i = threadIdx.x;
    long long at = i == 13 ? (1ll << 44) : i;
    out[at] = i;
}
