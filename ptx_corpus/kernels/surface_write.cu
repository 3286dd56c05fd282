// Surfaces: u8x4 .trap, f32 .clamp, f16x4 .zero and 3-D u8 stores; a read-back by suld.
extern "C" __global__ void surface_write(cudaSurfaceObject_t rgba, cudaSurfaceObject_t f32,
                                         cudaSurfaceObject_t half4, cudaSurfaceObject_t bytes3d,
                                         uchar4 *copy, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    uchar4 c = make_uchar4(x, y, x ^ y, 255 - x);
    surf2Dwrite(c, rgba, x * 4, y, cudaBoundaryModeTrap);
    surf2Dwrite((float)(x * 100 + y), f32, (x - 3) * 4, y - 2, cudaBoundaryModeZero);
    if (x == w - 1)
        surf2Dwrite((float)(x + y) + 0.5f, f32, (w + 5) * 4, y == h - 1 ? h + 4 : y,
                    cudaBoundaryModeClamp);
    ushort4 v = make_ushort4(0x3c00 + x, 0x4000 + y, 0xbc00, 0x1234);
    surf2Dwrite(v, half4, (x - 2) * 8, y - 1, cudaBoundaryModeZero);
    for (int z = 0; z < 3; z++)
        surf3Dwrite((unsigned char)(x + 2 * y + 50 * z), bytes3d, x, y, z, cudaBoundaryModeTrap);
    __syncthreads();
    copy[y * w + x] = surf2Dread<uchar4>(rgba, x * 4, y, cudaBoundaryModeTrap);
}
