// Mandelbrot iteration counts: per-lane loop exits, exactly rounded f32 arithmetic.
extern "C" __global__ void mandelbrot(unsigned *out, int w, int h, float x0, float y0, float step,
                                      int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float cr = __fmaf_rn((float)x, step, x0), ci = __fmaf_rn((float)y, step, y0);
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    while (n < limit) {
        float rr = __fmul_rn(zr, zr), ii = __fmul_rn(zi, zi);
        if (__fadd_rn(rr, ii) > 4.0f)
            break;
        float t = __fmul_rn(zr, zi);
        zr = __fadd_rn(__fsub_rn(rr, ii), cr);
        zi = __fmaf_rn(2.0f, t, ci);
        n++;
    }
    out[y * w + x] = n;
}
