// printf (vprintf): integers, 64-bit, floats, strings, characters, pointers to local argument buffers.
#include <cstdio>
extern "C" __global__ void printf_lines(const int *x, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    if (i % 2 == 0)
        printf("lane %d value %5d hex %#06x\n", i, x[i], x[i]);
    else
        printf("%s %c %lld %.3f %e%%\n", i % 3 ? "odd" : "three", 'a' + i, x[i] * 10000000000ll,
               x[i] / 8.0, (double)x[i]);
    if (i == n - 1)
        printf("done\n");
}
