// SHA-256 of one 52-byte message per thread: funnel shifts, lop3, byte swaps, unrolled rounds.
__constant__ unsigned round_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__device__ unsigned rotr(unsigned x, int n)
{
    return __funnelshift_r(x, x, n);
}
__device__ unsigned lop3_choose(unsigned a, unsigned b, unsigned c)
{
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
__device__ unsigned lop3_majority(unsigned a, unsigned b, unsigned c)
{
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
extern "C" __global__ void sha256(const unsigned *msg, unsigned *digest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int t = 0; t < 13; t++)
        w[t] = __byte_perm(msg[i * 13 + t], 0, 0x0123);
    w[13] = 0x80000000u;
    w[14] = 0;
    w[15] = 52 * 8;
    unsigned a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll 1
    for (int r = 0; r < 64; r += 16) {
#pragma unroll
        for (int t = 0; t < 16; t++) {
            unsigned t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + lop3_choose(e, f, g) +
                          round_k[r + t] + w[t];
            unsigned t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + lop3_majority(a, b, c);
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
#pragma unroll
        for (int t = 0; t < 16; t++) {
            unsigned x = w[(t + 1) & 15], y = w[(t + 14) & 15];
            w[t] += (rotr(x, 7) ^ rotr(x, 18) ^ (x >> 3)) + w[(t + 9) & 15] +
                    (rotr(y, 17) ^ rotr(y, 19) ^ (y >> 10));
        }
    }
    unsigned v[8] = {a, b, c, d, e, f, g, h};
    for (int t = 0; t < 8; t++)
        digest[i * 8 + t] = s[t] + v[t];
}
