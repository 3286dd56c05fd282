// Causal attention as FlashAttention has it: f16 mma m16n8k16, ldmatrix, tiles by cp.async in two buffers, an online softmax.
#include <cuda_fp16.h>
#define DIM 64
#define TILE 32        // queries of a block, 16 for each of its two warps, and keys of a turn
#define ROW (DIM + 8)  // 16 bytes more, so that the eight rows of a matrix lie in different banks

static __device__ float ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Rows from seq on are zero.
static __device__ void copy_tile(__half (*tile)[ROW], const __half *from, int first, int seq)
{
    for (int i = threadIdx.x; i < TILE * DIM / 8; i += 64) {
        int r = i / 8, c = i % 8 * 8;
        bool in = first + r < seq;
        unsigned to = __cvta_generic_to_shared(&tile[r][c]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :
                     : "r"(to), "l"(in ? from + (first + r) * DIM + c : from), "r"(in ? 16 : 0));
    }
}

static __device__ void load_matrices(unsigned r[4], const __half *at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(at)));
}

static __device__ void load_transposed(unsigned r[4], const __half *at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(at)));
}

static __device__ void mma(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                 "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ unsigned pack(float low, float high)
{
    __half2 h = __floats2half2_rn(low, high);
    return *(unsigned *)&h;
}

// q, k, v, out: [head][seq][DIM]; scale: log2(e) / sqrt(DIM).
extern "C" __global__ void flash_attention(const __half *q, const __half *k, const __half *v,
                                           __half *out, int seq, float scale)
{
    __shared__ __align__(16) __half tq[TILE][ROW], tk[2][TILE][ROW], tv[2][TILE][ROW];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = blockIdx.x * TILE;
    int row = first + warp * 16 + lane / 4, head = blockIdx.y * seq * DIM;
    float o[DIM / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, total[2] = {};
    unsigned a[DIM / 16][4], b[4];
    copy_tile(tq, q + head, first, seq);
    copy_tile(tk[0], k + head, 0, seq);
    copy_tile(tv[0], v + head, 0, seq);
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    for (int i = 0; i < DIM / 16; i++)
        load_matrices(a[i], &tq[warp * 16 + (lane & 15)][i * 16 + (lane >> 4) * 8]);
    for (int j = 0; j <= blockIdx.x; j++) {
        if (j < blockIdx.x) {
            copy_tile(tk[(j + 1) & 1], k + head, (j + 1) * TILE, seq);
            copy_tile(tv[(j + 1) & 1], v + head, (j + 1) * TILE, seq);
        }
        asm volatile("cp.async.commit_group;");
        float s[TILE / 8][4] = {};
        for (int i = 0; i < DIM / 16; i++)
            for (int n = 0; n < TILE / 8; n += 2) {
                load_matrices(b, &tk[j & 1][n * 8 + (lane >> 4) * 8 + (lane & 7)][i * 16 + (lane & 8)]);
                mma(s[n], a[i], b[0], b[1]);
                mma(s[n + 1], a[i], b[2], b[3]);
            }
        if (j == blockIdx.x)  // the diagonal
            for (int n = 0; n < TILE / 8; n++)
                for (int e = 0; e < 4; e++)
                    if (j * TILE + n * 8 + lane % 4 * 2 + (e & 1) > row + (e >> 1) * 8)
                        s[n][e] = -INFINITY;
        for (int h = 0; h < 2; h++) {
            float m = most[h], sum = 0;
            for (int n = 0; n < TILE / 8; n++)
                m = fmaxf(m, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
            m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 1));
            m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 2));
            float old = ex2((most[h] - m) * scale);
            for (int n = 0; n < TILE / 8; n++)
                for (int e = 2 * h; e < 2 * h + 2; e++)
                    sum += s[n][e] = ex2(s[n][e] * scale - m * scale);
            for (int n = 0; n < DIM / 8; n++)
                o[n][2 * h] *= old, o[n][2 * h + 1] *= old;
            total[h] = total[h] * old + sum;
            most[h] = m;
        }
        for (int i = 0; i < TILE / 16; i++) {
            unsigned p[4] = {pack(s[2 * i][0], s[2 * i][1]), pack(s[2 * i][2], s[2 * i][3]),
                             pack(s[2 * i + 1][0], s[2 * i + 1][1]), pack(s[2 * i + 1][2], s[2 * i + 1][3])};
            for (int n = 0; n < DIM / 8; n += 2) {
                load_transposed(b, &tv[j & 1][i * 16 + (lane & 15)][n * 8 + (lane >> 4) * 8]);
                mma(o[n], p, b[0], b[1]);
                mma(o[n + 1], p, b[2], b[3]);
            }
        }
        asm volatile("cp.async.wait_group 0;");
        __syncthreads();
    }
    for (int h = 0; h < 2; h++) {
        float sum = total[h];
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        float inverse = 1 / sum;
        if (row + h * 8 < seq)
            for (int n = 0; n < DIM / 8; n++)
                *(unsigned *)&out[head + (row + h * 8) * DIM + n * 8 + lane % 4 * 2] =
                    pack(o[n][2 * h] * inverse, o[n][2 * h + 1] * inverse);
    }
}
