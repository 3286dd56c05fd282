// Surface reductions by many threads and blocks at one place (sured.b, sured.p), and formatted stores (sust.p) to f16, u8, s16 and f32.
extern "C" __global__ void surface_reduce(cudaSurfaceObject_t u32, cudaSurfaceObject_t s32, cudaSurfaceObject_t u64, cudaSurfaceObject_t bits,
                                          cudaSurfaceObject_t f16, cudaSurfaceObject_t u8, cudaSurfaceObject_t s16, cudaSurfaceObject_t f32)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % 7, y = i / 7 % 3;
    unsigned hash = i * 2654435761u;
    unsigned long long wide = hash * 0x100000001ull;
    asm volatile("sured.b.add.2d.u32.trap [%0, {%1,%2}], %3;" ::"l"(u32), "r"(4 * x), "r"(y), "r"(hash) : "memory");
    asm volatile("sured.b.min.2d.s32.zero [%0, {%1,%2}], %3;" ::"l"(s32), "r"(4 * x - 4), "r"(0), "r"(hash) : "memory");
    asm volatile("sured.b.max.2d.u32.clamp [%0, {%1,%2}], %3;" ::"l"(s32), "r"(4 * x), "r"(1), "r"(hash) : "memory");
    asm volatile("sured.p.max.2d.b32.trap [%0, {%1,%2}], %3;" ::"l"(s32), "r"(x), "r"(2), "r"(hash) : "memory");
    asm volatile("sured.b.add.1d.u64.trap [%0, {%1}], %2;" ::"l"(u64), "r"(0), "l"(wide) : "memory");
    asm volatile("sured.b.max.1d.u64.trap [%0, {%1}], %2;" ::"l"(u64), "r"(8), "l"(wide) : "memory");
    asm volatile("sured.b.min.1d.s64.trap [%0, {%1}], %2;" ::"l"(u64), "r"(16), "l"(wide) : "memory");
    asm volatile("sured.b.or.1d.b32.trap [%0, {%1}], %2;" ::"l"(bits), "r"(4 * (i >> 5)), "r"(1u << (i & 31)) : "memory");
    asm volatile("sured.p.and.1d.b32.trap [%0, {%1}], %2;" ::"l"(bits), "r"(40 + (i >> 5)), "r"(1u << (i & 31)) : "memory");
    float v = (float)(i - 300) / 4;
    if (i < 300) {
        int px = i % 20, py = i / 20;
        asm volatile("sust.p.2d.v4.b32.zero [%0, {%1,%2}], {%3,%4,%5,%6};" ::"l"(f16), "r"(px - 1), "r"(py), "f"(v * 1000), "f"(v), "f"(v / 1024), "f"(1.0f) : "memory");
        asm volatile("sust.p.2d.v4.b32.trap [%0, {%1,%2}], {%3,%4,%5,%6};" ::"l"(u8), "r"(px), "r"(py), "r"(i), "r"(-i), "r"(i / 2), "r"(hash) : "memory");
        asm volatile("sust.p.2d.v2.b32.trap [%0, {%1,%2}], {%3,%4};" ::"l"(s16), "r"(px), "r"(py), "r"((i - 150) * 400), "r"(hash) : "memory");
        asm volatile("sust.p.2d.b32.clamp [%0, {%1,%2}], %3;" ::"l"(f32), "r"(px == 19 ? 1000 : px), "r"(py), "f"(v) : "memory");
    }
}
