// f64 mma m8n8k4: an fma chain in k order, from a non-zero accumulator.
extern "C" __global__ void dmma_f64(const double *a, const double *bt, double *c, int n, int k)
{
    int g = threadIdx.x / 4, q = threadIdx.x % 4;
    const double *pa = a + (blockIdx.y * 8 + g) * k + q, *pb = bt + (blockIdx.x * 8 + g) * k + q;
    double *pc = c + (blockIdx.y * 8 + g) * n + blockIdx.x * 8 + q * 2, d0 = pc[0], d1 = pc[1];
    for (int k0 = 0; k0 < k; k0 += 4)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d0), "+d"(d1)
                     : "d"(pa[k0]), "d"(pb[k0]));
    pc[0] = d0;
    pc[1] = d1;
}
