// A formatted store and a reduction inside a surface, then a reduction (.trap) one sample past the end of its row, by one lane.
extern "C" __global__ void fault_surface(cudaSurfaceObject_t surface)
{
    int i = threadIdx.x;
    asm volatile("sust.p.2d.b32.trap [%0, {%1,%2}], %1;" ::"l"(surface), "r"(i), "r"(1) : "memory");
    asm volatile("sured.p.add.2d.b32.trap [%0, {%1,%2}], %1;" ::"l"(surface), "r"(i), "r"(0) : "memory");
    asm volatile("sured.p.add.2d.b32.trap [%0, {%1,%2}], %1;" ::"l"(surface), "r"(i + (i == 31)), "r"(2) : "memory");
}
