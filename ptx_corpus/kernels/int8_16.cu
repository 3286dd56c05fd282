// 8- and 16-bit arithmetic: u8/s8 loads and conversions, u16/s16 add, mul, div, rem, shifts, min/max.
extern "C" __global__ void int8_16(const signed char *a, const unsigned char *b, const short *c,
                                   signed char *o8, unsigned char *u8, short *o16,
                                   unsigned short *u16, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    signed char x = a[i];
    unsigned char y = b[i];
    short z = c[i];
    unsigned short w = (unsigned short)(y * 257);
    o8[2 * i] = x + y;
    o8[2 * i + 1] = x / (signed char)(y | 1) - x % 7;
    u8[2 * i] = (unsigned char)(y * x) ^ (unsigned char)(y >> 3);
    u8[2 * i + 1] = min(y, (unsigned char)x);
    o16[4 * i] = z * x;
    o16[4 * i + 1] = z >> (y & 15);
    o16[4 * i + 2] = max(z, (short)-x);
    short hi;
    asm("mul.hi.s16 %0, %1, %2;" : "=h"(hi) : "h"(z), "h"((short)(x * 200)));
    o16[4 * i + 3] = hi;
    u16[3 * i] = w / (unsigned short)(y | 3);
    u16[3 * i + 1] = w % 1000u + (unsigned short)z;
    u16[3 * i + 2] = ~w << (x & 7);
}
