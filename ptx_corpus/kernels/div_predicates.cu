// Guarded instructions and predicate logic without branches: @p/@!p, setp with a combine, selp, not.
extern "C" __global__ void div_predicates(const int *x, const int *y, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, r;
    if (i >= n)
        return;
    asm volatile("{ .reg .pred p, q, r, s; .reg .b32 t;\n\t"
                 "setp.lt.s32 p|q, %1, %2;\n\t"
                 "setp.gt.or.u32 r, %1, 50, p;\n\t"
                 "setp.ne.xor.s32 s, %2, 7, !r;\n\t"
                 "mov.u32 t, 1;\n\t"
                 "@p add.s32 t, t, 10;\n\t"
                 "@!q add.s32 t, t, 100;\n\t"
                 "@r mul.lo.s32 t, t, 3;\n\t"
                 "@s st.global.u32 [%3+4], t;\n\t"
                 "@!s ld.global.u32 t, [%4];\n\t"
                 "and.pred p, p, s; or.pred q, q, r; xor.pred r, p, q; not.pred s, r;\n\t"
                 "mov.pred p, s;\n\t"
                 "selp.s32 %0, t, -1, p; }"
                 : "=r"(r)
                 : "r"(x[i]), "r"(y[i]), "l"(out + 2 * i), "l"(x + i)
                 : "memory");
    out[2 * i] = r;
}
