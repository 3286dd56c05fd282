// Attention in windows of 8 x 4 tokens as Swin blocks have it: e4m3 mma m16n8k32, a table of biases, softmax without a maximum.
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#define HEADS 2
#define DIM 32
#define TOKEN (3 * HEADS * DIM)  // bytes of a token: q, k, v of each head
#define ROW 36                   // bytes of a row of the transposed v

static __device__ void mma(float d[4], const unsigned a[4], const unsigned b[2])
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ unsigned pack2(float low, float high)
{
    return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE, __NV_E4M3);
}

// qkv: e4m3 [height][width][3][HEADS][DIM]; bias: [HEADS][7][15] by the distances of query and key, in powers of two;
// out: [height][width][HEADS][DIM]; scale: log2(e) / sqrt(DIM). One warp for each head.
extern "C" __global__ void __launch_bounds__(64)
    window_attention(const unsigned char *qkv, const float *bias, __half *out, int width, float scale)
{
    __shared__ __align__(16) unsigned char vt[HEADS][DIM][ROW];
    int lane = threadIdx.x, head = threadIdx.y, g = lane / 4, q = lane % 4;
    int corner = blockIdx.y * 4 * width + blockIdx.x * 8;
    qkv += head * DIM;
    bias += head * 105;
    // Key t stands where the accumulators of the first product put it in the second one's A: two of tile 0, two of tile 1, …
    uint4 v[2];
    for (int i = 0; i < 2; i++)
        v[i] = *(const uint4 *)&qkv[(corner + lane / 8 * width + lane % 8) * TOKEN + 2 * HEADS * DIM + 16 * i];
    for (int d = 0; d < DIM; d++) {
        unsigned word = ((const unsigned *)v)[d / 4];
        vt[head][d][lane / 16 * 16 + lane % 8 / 2 * 4 + lane / 8 % 2 * 2 + lane % 2] = word >> d % 4 * 8;
    }
    __syncwarp();
    unsigned a[2][4], b[2];
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 4; i++)
            a[m][i] = *(const unsigned *)&qkv[(corner + (2 * m + i % 2) * width + g) * TOKEN + i / 2 * 16 + 4 * q];
    float s[2][4][4] = {}, sum[2][2] = {}, o[2][4][4] = {};
    for (int n = 0; n < 4; n++) {
        for (int i = 0; i < 2; i++)
            b[i] = *(const unsigned *)&qkv[(corner + n * width + g) * TOKEN + HEADS * DIM + i * 16 + 4 * q];
        for (int m = 0; m < 2; m++)
            mma(s[m][n], a[m], b);
    }
    for (int m = 0; m < 2; m++) {
        for (int n = 0; n < 4; n++)
            for (int e = 0; e < 4; e++) {
                float x = s[m][n][e] * scale + bias[(2 * m + e / 2 - n + 3) * 15 + g - 2 * q - e % 2 + 7];
                s[m][n][e] = exp2f(fminf(x, 8.0f));
                sum[m][e / 2] += s[m][n][e];
            }
        for (int h = 0; h < 2; h++) {
            sum[m][h] += __shfl_xor_sync(0xffffffff, sum[m][h], 1);
            sum[m][h] += __shfl_xor_sync(0xffffffff, sum[m][h], 2);
            sum[m][h] = __fdividef(1.0f, sum[m][h]);
        }
        for (int i = 0; i < 4; i++)
            a[m][i] = pack2(s[m][i / 2 * 2][i % 2 * 2], s[m][i / 2 * 2][i % 2 * 2 + 1]) |
                      pack2(s[m][i / 2 * 2 + 1][i % 2 * 2], s[m][i / 2 * 2 + 1][i % 2 * 2 + 1]) << 16;
    }
    for (int n = 0; n < 4; n++) {
        for (int i = 0; i < 2; i++)
            b[i] = *(const unsigned *)&vt[head][n * 8 + g][16 * i + 4 * q];
        for (int m = 0; m < 2; m++)
            mma(o[m][n], a[m], b);
    }
    for (int m = 0; m < 2; m++)
        for (int h = 0; h < 2; h++)
            for (int n = 0; n < 4; n++)
                *(__half2 *)&out[((corner + (2 * m + h) * width + g) * HEADS + head) * DIM + n * 8 + 2 * q] =
                    __floats2half2_rn(o[m][n][2 * h] * sum[m][h], o[m][n][2 * h + 1] * sum[m][h]);
}
