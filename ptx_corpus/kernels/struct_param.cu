// One struct passed by value: mixed fields, an embedded array indexed at run time, pointers.
struct args {
    unsigned w, h;
    const float *in;
    float *out;
    unsigned short origin[2];
    signed char sign;
    float gain[5];
    double bias;
};
extern "C" __global__ void struct_param(const args p)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= p.w || y >= p.h)
        return;
    float v = p.in[y * p.w + x];
    v = __fmul_rn(v, p.gain[(x + p.origin[0]) % 5]);
    v = __fadd_rn(v, (float)(p.sign * (int)(y + p.origin[1])));
    p.out[y * p.w + x] = (float)__dadd_rn((double)v, p.bias);
}
