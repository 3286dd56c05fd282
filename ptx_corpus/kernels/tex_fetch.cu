// Integer coordinates and integer texels by inline PTX: tex.1d/2d/3d .s32, .u32, tex.level, v4.f16.
extern "C" __global__ void tex_fetch(cudaTextureObject_t u16x2, cudaTextureObject_t s8x1,
                                     cudaTextureObject_t u32line, cudaTextureObject_t cube,
                                     cudaTextureObject_t halves, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = i % 9, y = i / 9 % 7, z = i % 5;
    unsigned a, b, c, d, *o = out + i * 16;
    asm volatile("tex.2d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(u16x2), "r"(x), "r"(y));
    o[0] = a, o[1] = b;
    asm volatile("tex.2d.v4.s32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(s8x1), "f"(x + 0.25f), "f"(y + 0.75f));
    o[2] = a;
    asm volatile("tex.1d.v4.u32.s32 {%0,%1,%2,%3}, [%4, {%5}];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(u32line), "r"(i % 13));
    o[3] = a, o[4] = b, o[5] = c, o[6] = d;
    float f, g, h, k;
    asm volatile("tex.3d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}];"
                 : "=f"(f), "=f"(g), "=f"(h), "=f"(k)
                 : "l"(cube), "r"(x), "r"(y), "r"(z));
    o[7] = __float_as_int(f);
    asm volatile("tex.level.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], %7;"
                 : "=f"(f), "=f"(g), "=f"(h), "=f"(k)
                 : "l"(halves), "f"(x + 0.5f), "f"(y + 0.5f), "f"(0.0f));
    o[8] = __float_as_int(f), o[9] = __float_as_int(g);
    o[10] = __float_as_int(h), o[11] = __float_as_int(k);
    unsigned short p, q, r, s;
    asm volatile("tex.base.2d.v4.f16.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];"
                 : "=h"(p), "=h"(q), "=h"(r), "=h"(s)
                 : "l"(halves), "f"(x + 0.5f), "f"(y + 0.5f));
    o[12] = p | q << 16, o[13] = r | s << 16;
    asm volatile("tex.base.2d.v4.f16.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];"
                 : "=h"(p), "=h"(q), "=h"(r), "=h"(s)
                 : "l"(halves), "r"(x), "r"(y));
    o[14] = p | q << 16, o[15] = r | s << 16;
}
