// Initialised globals and constants: arrays, a string, structs, a table of global addresses.
struct item {
    char tag;
    short id;
    double w;
    const int *list;
};
__device__ int first[5] = {1, 2, 3, 4, 5};
__device__ int second[3] = {-7, -8, -9};
__device__ unsigned long long counter = 0x1122334455667788ull;
__device__ float untouched[4];
__device__ const char text[] = "PTX \"text\"\n";
__constant__ short weights[6] = {-1, 2, -3, 4, -5, 6};
__device__ int *tables[4] = {first, second + 1, nullptr, first + 4};
__device__ item items[2] = {{'a', -5, 0.125, second}, {'b', 6, -2.5, first + 2}};
__constant__ const float *zero_ptr = untouched;
extern "C" __global__ void const_globals(int *out, double *w)
{
    int t = threadIdx.x;
    const int *p = tables[t & 3];
    int v = p ? p[0] : 77;
    v = v * 100 + weights[t % 6] + text[t % 11];
    v += (int)(counter >> (t & 31)) + (int)zero_ptr[t & 3];
    const item *it = &items[t & 1];
    out[2 * t] = v;
    out[2 * t + 1] = it->tag * 1000 + it->id * 10 + it->list[t & 1];
    w[t] = it->w * t;
    __syncthreads();
    if (t < 5)
        first[t] += 10 * t;
    if (t == 0)
        counter += 1;
}
