// separate_code.cu - the function that separate_main.cu calls.
#include "separate.h"

__device__ int calls;

__device__ void accumulate(accumulator *to, double value)
{
    to->sum += value;
    to->count++;
    atomicAdd(&calls, 1);
}
