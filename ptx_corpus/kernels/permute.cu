// lop3, shf.l/shf.r wrap and clamp, prmt in all its modes with per-lane selectors.
#define PRMT(k, mode) asm("prmt.b32" mode " %0, %1, %2, %3;" : "=r"(o[k]) : "r"(x), "r"(y), "r"(z))
extern "C" __global__ void permute(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i], z = a[(i + 3) % n], *o = out + i * 16;
    PRMT(0, "");
    PRMT(1, ".f4e");
    PRMT(2, ".b4e");
    PRMT(3, ".rc8");
    PRMT(4, ".ecl");
    PRMT(5, ".ecr");
    PRMT(6, ".rc16");
    o[7] = __byte_perm(x, y, 0x6172);
    o[8] = __funnelshift_l(x, y, z);
    o[9] = __funnelshift_lc(x, y, z & 63);
    o[10] = __funnelshift_r(x, y, z);
    o[11] = __funnelshift_rc(x, y, z & 63);
    asm("lop3.b32 %0, %1, %2, %3, 0x1e;" : "=r"(o[12]) : "r"(x), "r"(y), "r"(z));
    asm("lop3.b32 %0, %1, %2, %3, 0xd4;" : "=r"(o[13]) : "r"(x), "r"(y), "r"(z));
    unsigned p;
    asm("{ .reg .pred p, q; setp.lt.u32 q, %2, %3; lop3.or.b32 %0|p, %2, %3, %4, 0x80, q; "
        "selp.u32 %1, 1, 0, p; }"
        : "=r"(o[14]), "=r"(p)
        : "r"(x), "r"(y), "r"(z & 0xff));
    o[15] = p;
}
