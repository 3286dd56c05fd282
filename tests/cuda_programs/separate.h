// separate.h - what the three units of `separate` share.
struct accumulator { double sum; int count; };
extern __device__ int calls;
extern __constant__ double weights[4];
__device__ void accumulate(accumulator *to, double value);
__device__ double weighted(int index);
