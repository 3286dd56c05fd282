// Texture options: gather, residency, offsets, depth comparison, .v2.f16x2 results, multisample fetches; texref and surfref told apart.
extern "C" __global__ void tex_options(cudaTextureObject_t plane, cudaTextureObject_t half4, cudaTextureObject_t depth,
                                       cudaSurfaceObject_t surface, const float2 *xy, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 at = xy[i];
    unsigned *o = out + i * 16;
    float4 g = tex2Dgather<float4>(plane, at.x, at.y, 0);
    o[0] = __float_as_int(g.x), o[1] = __float_as_int(g.y), o[2] = __float_as_int(g.z), o[3] = __float_as_int(g.w);
    bool resident = false;
    o[4] = __float_as_int(tex2D<float>(plane, at.x, at.y, &resident));
    o[5] = resident;
    float a, b, c, d;
    int dx = i % 16 - 8, dy = i / 16 % 16 - 8;
    asm volatile("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], {%7,%8};"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(plane), "f"(at.x), "f"(at.y), "r"(dx), "r"(dy));
    o[6] = __float_as_int(a);
    asm volatile("tex.level.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}], 0f00000000, {%7,%8}, %9;"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(depth), "f"(at.x), "f"(at.y), "r"(dx), "r"(dy), "f"(125.0f));
    o[7] = __float_as_int(a);
    asm volatile("{.reg .pred p; tex.2d.v2.f16x2.f32 {%0,%1}|p, [%3, {%4,%5}]; selp.u32 %2, 1, 0, p;}"
                 : "=r"(o[8]), "=r"(o[9]), "=r"(o[10])
                 : "l"(half4), "f"(at.x), "f"(at.y));
    asm volatile("tex.2dms.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5,%6,%7,%7}], {%8,%9};"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(plane), "r"(i % 3), "r"(i % 11), "r"(i % 9), "r"(dx), "r"(dy));
    o[11] = __float_as_int(a);
    asm volatile("{.reg .pred p; tld4.r.2d.v4.f32.f32 {%0,%1,%2,%3}|p, [%4, {%5,%6}], {%7,%8}, %9;}"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(depth), "f"(at.x), "f"(at.y), "r"(dx), "r"(dy), "f"(125.0f));
    o[12] = (a != 0) + 2 * (b != 0) + 4 * (c != 0) + 8 * (d != 0);
    unsigned long long any = i % 4 == 0 ? plane : i % 4 == 1 ? surface : i % 4 == 2 ? 0 : 0x123456789ull;
    asm volatile("{.reg .pred p; istypep.texref p, %3; selp.u32 %0, 1, 0, p; istypep.surfref p, %3; selp.u32 %1, 1, 0, p;"
                 " istypep.samplerref p, %3; selp.u32 %2, 1, 0, p;}"
                 : "=r"(o[13]), "=r"(o[14]), "=r"(o[15])
                 : "l"(any));
}
