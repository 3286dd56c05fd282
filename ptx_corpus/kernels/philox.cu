// Philox 4x32-10 counter-based random numbers: mul.hi/mul.lo pairs, uint4 stores.
extern "C" __global__ void philox(uint4 *out, float *unit, int n, unsigned key0, unsigned key1)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 c = make_uint4(i, i * 7, 0x12345678u, 42u);
#pragma unroll 2
    for (int r = 0; r < 10; r++) {
        unsigned h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
        unsigned h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = make_uint4(h1 ^ c.y ^ key0, l1, h0 ^ c.w ^ key1, l0);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    out[i] = c;
    unit[i] = __fmul_rn(__uint2float_rn(c.x), 0x1p-32f);
}
