// Vector and qualified accesses: ld/st .v2 .v4 of several types, .nc, .volatile, cache operators.
extern "C" __global__ void vector_memory(const uint4 *in, uint4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned *p = (const unsigned *)(in + i);
    unsigned a, b, c, d, *o = (unsigned *)(out + i * 4);
    unsigned short h0, h1, h2, h3;
    double x, y;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(o), "r"(d), "r"(a), "r"(b), "r"(c)
                 : "memory");
    asm volatile("ld.global.nc.v4.u16 {%0,%1,%2,%3}, [%4+4];"
                 : "=h"(h0), "=h"(h1), "=h"(h2), "=h"(h3)
                 : "l"((const char *)p + 4));
    asm volatile("st.global.cg.v2.u16 [%0+16], {%1,%2};" ::"l"(o), "h"(h3), "h"(h0) : "memory");
    asm volatile("st.global.wt.u16 [%0+20], %1;" ::"l"(o), "h"(h1) : "memory");
    asm volatile("st.volatile.global.u16 [%0+22], %1;" ::"l"(o), "h"(h2) : "memory");
    asm volatile("ld.global.cv.v2.f64 {%0,%1}, [%2];" : "=d"(x), "=d"(y) : "l"(p));
    asm volatile("st.global.cs.f64 [%0+24], %1;" ::"l"(o), "d"(y) : "memory");
    asm volatile("ld.global.L1::no_allocate.v4.s8 {%0,%1,%2,%3}, [%4+8];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(p));
    asm volatile("st.global.v4.u32 [%0+32], {%1,%2,%3,%4};" ::"l"(o), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
    asm volatile("ld.global.ca.v2.u8 {%0,%1}, [%2+14];" : "=r"(a), "=r"(b) : "l"(p));
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=d"(x) : "l"(p));
    asm volatile("ld.acquire.sys.global.s16 %0, [%1+2];" : "=h"(h0) : "l"(p));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
    asm volatile("st.global.v2.u8 [%0+48], {%1,%2};" ::"l"(o), "r"(b), "r"(a) : "memory");
    asm volatile("st.release.gpu.global.u16 [%0+50], %1;" ::"l"(o), "h"(h0) : "memory");
    asm volatile("st.global.b32 [%0+52], %1;" ::"l"(o), "f"((float)i) : "memory");
    asm volatile("st.global.f64 [%0+56], %1;" ::"l"(o), "d"(x) : "memory");
}
