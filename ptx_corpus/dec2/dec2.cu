/*
 * cuda_dldn_engine_swin_dec2_kernel: the last decoder stage of a Swin denoiser.
 *
 * One block of (32, 1, 4) threads makes one 8x8 window of output pixels. Warp z owns
 * attention head z, pixel rows 2z and 2z+1, and sub-pixel (z>>1, z&1) of the patch expand.
 * All matrix work is m16n8k32 e4m3 x e4m3 + f16, in 38 phases P1...P38; what happens
 * between phase n and n+1 is called epilogue E(n). Each phase is one uninterrupted run of
 * mma.sync: asm volatile statements keep their order, and everything that a phase needs
 * is in registers before it starts.
 *
 * Names: g = laneid>>2, t = laneid&3. The f16 accumulator of a 16x8 tile is two registers:
 * [0] = row g, columns 2t and 2t+1; [1] = row g+8, same columns.
 *
 * CHOICES. The analysis that this kernel follows leaves these open:
 *  - 512-byte weight blocks (two n-tiles, one k-slice of 32) lie pair of n-tiles by pair,
 *    k-slices innermost: block = pair * slices + slice. Score bias blocks: m-tile by m-tile.
 *  - P11...P13 accumulate onto the phase before (else P10...P12 would be dead).
 *  - Sums of squares and row sums: n-tiles in order 0, 1, 2..., f16x2; then butterflies
 *    1 and 2, f16x2; then low half + high half.
 *  - E38: logits 0...8 are the taps, row by row; value 9 is the gate. Maximum and sum run
 *    over the nine taps; the sum is sequential in f32; tap weights are
 *    f16(f16(e) * f16(1/sum)); taps accumulate in order 0...8 from zero.
 *  - Colour coordinates are (clamped pixel + 0.5) * scale, one f32 add and one f32 multiply;
 *    filter and address mode belong to the texture object (unnormalised, linear, clamp here).
 *  - Reserved parameter bytes are zero and unread.
 */
#include <cuda_fp16.h>

struct Dec2Params {
    uint2 extent;                     /*   0 output pixels */
    const unsigned *low;              /*   8 half-resolution features, 4 planes */
    unsigned long long reserved16;    /*  16 */
    const unsigned *skip;             /*  24 full-resolution features, 3 planes */
    unsigned long long reserved32;    /*  32 */
    const unsigned char *weights;     /*  40 weight image, 212768 bytes */
    unsigned *out;                    /*  48 full-resolution features, 3 planes */
    unsigned long long reserved56[3]; /*  56 */
    ushort2 origin;                   /*  80 window shift */
    unsigned reserved84;              /*  84 */
    cudaTextureObject_t colour;       /*  88 */
    cudaTextureObject_t history;      /*  96 */
    cudaTextureObject_t additive;     /* 104 */
    cudaSurfaceObject_t surface;      /* 112 */
    unsigned long long reserved120[2];
    float2 scale; /* 136 pixel to colour coordinate */
};
static_assert(sizeof(Dec2Params) == 144, "the parameter block is 144 bytes");

/* Offsets into the weight image, in bytes. */
enum : unsigned {
    W_EXPAND_BIAS = 49152,
    W_GAIN1 = 49920,
    W_HEADS = 50112,
    HEAD_STRIDE = 21504,
    HEAD_VALUE = 3072,
    HEAD_SCORE_BIAS = 6144,
    HEAD_OUT = 18432,
    W_ATT_BIAS = 136128,
    W_GAIN2 = 136320,
    W_MLP0 = 136512,
    W_MLP_BIAS2 = 142720,
    W_MLP1 = 142912,
    MLP_STRIDE = 6208,
    MLP_B1 = 3072,
    MLP_W2 = 3136,
    W_HEAD = 211200,
    W_HEAD_BIAS = 212736
};

#define INLINE static __device__ __forceinline__

/* ---- one-instruction wrappers ------------------------------------------------------- */

INLINE unsigned lane_id()
{
    unsigned r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    return r;
}

INLINE void mma(unsigned d[2], const unsigned a[4], const unsigned b[2], unsigned c0, unsigned c1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16\n"
                 "    {%0, %1},\n"
                 "    {%2, %3, %4, %5},\n"
                 "    {%6, %7}, {%8, %9};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c0), "r"(c1));
}

/* The two columns that a lane holds of two neighbouring n-tiles make one word of four fp8:
 * this is the channel order of every plane arena and of every A operand. */
INLINE unsigned short pack(unsigned h2)
{
    unsigned short r;
    asm volatile("{ cvt.rn.satfinite.e4m3x2.f16x2 %0, %1; }" : "=h"(r) : "r"(h2));
    return r;
}
INLINE unsigned pack2(unsigned lo, unsigned hi)
{
    unsigned r;
    unsigned short a = pack(lo), b = pack(hi);
    asm volatile("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"(a), "h"(b));
    return r;
}
INLINE __half2 unpack(unsigned short e4m3x2)
{
    unsigned r;
    asm volatile("{ cvt.rn.f16x2.e4m3x2 %0, %1; }" : "=r"(r) : "h"(e4m3x2));
    return *reinterpret_cast<__half2 *>(&r);
}

INLINE unsigned transpose8x8(unsigned v)
{
    unsigned r;
    asm volatile("movmatrix.sync.trans.aligned.m8n8.b16 %0, %1;" : "=r"(r) : "r"(v));
    return r;
}

INLINE unsigned bits(__half2 v) { return *reinterpret_cast<unsigned *>(&v); }
INLINE __half2 half2_of(unsigned v) { return *reinterpret_cast<__half2 *>(&v); }

/* A constant in both halves, converted twice as the original does. */
INLINE __half2 halves(float c) { return __halves2half2(__float2half_rn(c), __float2half_rn(c)); }

/* 512 bytes of weights: b0 and b1 of two n-tiles for every lane. */
INLINE void load_block(unsigned b[4], const unsigned char *w, unsigned offset, unsigned lane)
{
    unsigned long long p = __cvta_generic_to_global(w) + 16ull * lane + offset;
    asm volatile("ld.weak.global.ca.v4.u32 { %0, %1, %2, %3},[%4];"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "l"(p));
}
template <int BLOCKS>
INLINE void load_blocks(unsigned b[BLOCKS][4], const unsigned char *w, unsigned offset, unsigned lane)
{
#pragma unroll
    for (int i = 0; i < BLOCKS; i++) load_block(b[i], w, offset + 512u * i, lane);
}

/* Columns 2t, 2t+1 of n-tile n of a table of f16. */
INLINE const unsigned char *table(const unsigned char *w, unsigned lane)
{
    return w + static_cast<unsigned long long>((lane << 2) & 12u);
}
INLINE unsigned table_word(const unsigned char *tab, unsigned offset, int n)
{
    return *reinterpret_cast<const unsigned *>(tab + offset + 16 * n);
}
INLINE __half2 table_half2(const unsigned char *tab, unsigned offset, int n)
{
    ushort2 v = *reinterpret_cast<const ushort2 *>(tab + offset + 16 * n);
    return __halves2half2(__ushort_as_half(v.x), __ushort_as_half(v.y));
}

INLINE void table_columns(__half2 v[12], const unsigned char *tab, unsigned offset)
{
#pragma unroll
    for (int n = 0; n < 12; n++) v[n] = table_half2(tab, offset, n);
}

INLINE unsigned clamp_index(int v, unsigned extent) { return min(static_cast<unsigned>(max(v, 0)), extent - 1u); }

/* ---- layer pieces ------------------------------------------------------------------- */

/* y = x * (gain / sqrt(sum of squares + 2^-13)) over 96 channels; no mean, no 1/N. */
INLINE void rms_norm(unsigned y[12][2], const unsigned x[12][2], const __half2 gain[12])
{
    __half ss[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        __half2 acc;
#pragma unroll
        for (int n = 0; n < 12; n++) {
            __half2 v = half2_of(x[n][h]);
            __half lo = __low2half(v), hi = __high2half(v);
            __half2 sq = __halves2half2(__hmul(lo, lo), __hmul(hi, hi));
            acc = n ? __hadd2(acc, sq) : sq;
        }
        acc = __hadd2(acc, __shfl_xor_sync(0xffffffffu, acc, 1));
        acc = __hadd2(acc, __shfl_xor_sync(0xffffffffu, acc, 2));
        ss[h] = __hadd(__low2half(acc), __high2half(acc));
    }
#pragma unroll
    for (int n = 0; n < 12; n++) {
        __half2 gn = gain[n];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            __half2 v = half2_of(x[n][h]);
            __half il = hrsqrt(__hadd(ss[h], __double2half(0x1p-13)));
            __half ih = hrsqrt(__hadd(ss[h], __double2half(0x1p-13)));
            __half lo = __hmul(__low2half(v), __hmul(il, __low2half(gn)));
            __half hi = __hmul(__high2half(v), __hmul(ih, __high2half(gn)));
            y[n][h] = bits(__halves2half2(lo, hi));
        }
    }
}

/* D tile of 16 x 8*NT, packed: k-slices of 32 as A fragments. */
template <int SLICES> INLINE void pack_a(unsigned a[SLICES][4], const unsigned d[4 * SLICES][2])
{
#pragma unroll
    for (int k = 0; k < SLICES; k++) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int n = 4 * k + 2 * (q >> 1);
            a[k][q] = pack2(d[n][q & 1], d[n + 1][q & 1]);
        }
    }
}

/* x * (0.5 + y * (0.412 - 0.081 |y|)), y = clamp(x, -2, 2): a smooth gate. */
INLINE unsigned activate(unsigned bits_x)
{
    __half2 x = half2_of(bits_x);
    __half2 c0 = __float2half2_rn(0.4121621549129486f), c1 = __float2half2_rn(0.0810810774564743f);
    __half2 half = __float2half2_rn(0.5f), two = __float2half2_rn(2.0f);
    __half2 y = __hmin2(__hmax2(x, __hneg2(two)), two);
    __half2 g = __hadd2(half, __hmul2(y, __hsub2(c0, __hmul2(c1, __habs2(y)))));
    return bits(__hmul2(x, g));
}

/* About 2^(x/2), 2^-14...2^8: a clamped cubic whose bits, shifted into the exponent, are the value. */
INLINE unsigned cubic_exp(unsigned bits_x)
{
    __half2 lo = __halves2half2(__double2half(-0.55615234375), __double2half(-0.55615234375));
    __half2 hi = __halves2half2(__double2half(0.55615234375), __double2half(0.55615234375));
    __half2 m = __hmul2(half2_of(bits_x), __float2half2_rn(0.017186790704727173f));
    m = __hmin2(__hmax2(m, lo), hi);
    __half2 a = __habs2(m);
    __half2 q = __hfma2(__hneg2(a), a, halves(0.92724609375f));
    __half2 u = __hfma2(m, q, halves(1.375f));
    return (bits(u) << 5) & 0x7FE07FE0u;
}

/* Twelve mma of an even MLP phase: 16x32 = T (16x96) * W1 + b1. */
INLINE void mma_w1(unsigned d[4][2], const unsigned a[3][4], const unsigned b[6][4], const unsigned bias[4])
{
#pragma unroll
    for (int p = 0; p < 2; p++) {
#pragma unroll
        for (int k = 0; k < 3; k++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                int n = 2 * p + j;
                mma(d[n], a[k], &b[3 * p + k][2 * j], k ? d[n][0] : bias[n], k ? d[n][1] : bias[n]);
            }
        }
    }
}

/* Twelve mma of one k-slice: 16x96 += A (16x32) * W. */
INLINE void mma_row(unsigned d[12][2], const unsigned a[4], const unsigned b[6][4])
{
#pragma unroll
    for (int n = 0; n < 12; n++) mma(d[n], a, &b[n >> 1][2 * (n & 1)], d[n][0], d[n][1]);
}

/* One k-slice of a 96x32 projection. */
template <bool FIRST>
INLINE void mma_project(unsigned d[6][4][2], const unsigned a[6][3][4], int k, const unsigned b[2][4])
{
#pragma unroll
    for (int m = 0; m < 6; m++) {
#pragma unroll
        for (int n = 0; n < 4; n++)
            mma(d[m][n], a[m][k], &b[n >> 1][2 * (n & 1)], FIRST ? 0u : d[m][n][0], FIRST ? 0u : d[m][n][1]);
    }
}

/* ---- the layers --------------------------------------------------------------------- */

/* One guarded store of the patch expand. As in the original, each works out its own place: a
 * lane id read anew keeps the compiler from sharing the guards. Rows 36...47 repeat token 35;
 * their hy is above 9, so the guard drops them. */
INLINE void store_patch(unsigned *smem, int row, int q, unsigned z, unsigned word)
{
    unsigned lane = lane_id();
    int i = row + static_cast<int>(lane >> 2), r = i / 6, c = i - 6 * r;
    unsigned hy = 2 * r + (z >> 1) - 1, hx = 2 * c + (z & 1) - 1;
    if (hy <= 9u && hx <= 9u)
        smem[1200 * (hx & 1) + 400 * (q >> 1) + 40 * hy + 8 * (hx >> 1) + ((lane & 3) | (q & 1) << 2)] = word;
}

/* P1 and the first part of E1: low-resolution tokens to shared [hx&1][plane][hy][hx>>1][word]. */
INLINE void patch_expand(const Dec2Params &p, unsigned *smem, int x0, int y0, unsigned z, unsigned lane)
{
    unsigned lw = (p.extent.x + 1u) >> 1, lh = (p.extent.y + 1u) >> 1;
    int g = lane >> 2, t = lane & 3;
    unsigned a[3][4][4], b[24][4], bias[12], d[3][12][2];
#pragma unroll
    for (int m = 0; m < 3; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int i = min(16 * m + g + 8 * h, 35), r = i / 6, c = i - 6 * r;
            unsigned at = 8u * (clamp_index((y0 >> 1) - 1 + r, lh) * lw + clamp_index((x0 >> 1) - 1 + c, lw));
#pragma unroll
            for (int k = 0; k < 4; k++) {
                a[m][k][h] = p.low[at + 8u * lw * lh * k + t];
                a[m][k][2 + h] = p.low[at + 8u * lw * lh * k + (t | 4)];
            }
        }
    }
    load_blocks<24>(b, p.weights + 12288u * z, 0, lane);
    const unsigned char *tab = table(p.weights + 192u * z, lane);
#pragma unroll
    for (int n = 0; n < 12; n++) bias[n] = table_word(tab, W_EXPAND_BIAS, n);
#pragma unroll
    for (int n = 0; n < 12; n++) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
#pragma unroll
            for (int m = 0; m < 3; m++)
                mma(d[m][n], a[m][k], &b[4 * (n >> 1) + k][2 * (n & 1)], k ? d[m][n][0] : bias[n],
                    k ? d[m][n][1] : bias[n]);
        }
    }
    unsigned w[3][2][6];
#pragma unroll
    for (int m = 0; m < 3; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int q = 0; q < 6; q++) w[m][h][q] = pack2(d[m][2 * q][h], d[m][2 * q + 1][h]);
        }
    }
#pragma unroll
    for (int m = 0; m < 3; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int q = 0; q < 6; q++) store_patch(smem, 16 * m + 8 * h, q, z, w[m][h][q]);
        }
    }
}

/* Position in the 10x10 neighbourhood of row g + 8h of a tile: 0...3 the window, two pixel
 * rows each; 4 the row above and the row below; 5 the column left and the column right. */
INLINE void tile_position(int tile, int g, int h, int &hy, int &hx)
{
    hy = tile < 4 ? 1 + 2 * tile + h : tile == 4 ? 9 * h : 1 + g;
    hx = tile < 5 ? 1 + g : 9 * h;
}

/* Rest of E1: x = patch + skip, one tile of 16 tokens. Every gather works out its own place. */
INLINE void load_residual(unsigned x[12][2], const Dec2Params &p, const unsigned *smem, int tile, int x0, int y0)
{
    unsigned stride = 8u * p.extent.x, plane = stride * p.extent.y;
    ushort2 patch[6][2], skip[6][2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
        for (int q = 0; q < 6; q++) {
            unsigned lane = lane_id(), word = (lane & 3) | (q & 1) << 2;
            int hy, hx;
            tile_position(tile, lane >> 2, h, hy, hx);
            patch[q][h] = *reinterpret_cast<const ushort2 *>(
                &smem[1200 * (hx & 1) + 400 * (q >> 1) + 40 * hy + 8 * (hx >> 1) + word]);
        }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
        for (int q = 0; q < 6; q++) {
            unsigned lane = lane_id(), word = (lane & 3) | (q & 1) << 2;
            int hy, hx;
            tile_position(tile, lane >> 2, h, hy, hx);
            unsigned at = clamp_index(y0 - 1 + hy, p.extent.y) * stride + clamp_index(x0 - 1 + hx, p.extent.x) * 8u;
            skip[q][h] = *reinterpret_cast<const ushort2 *>(&p.skip[at + plane * (q >> 1) + word]);
        }
    }
#pragma unroll
    for (int n = 0; n < 12; n++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            __half2 a = unpack(n & 1 ? patch[n >> 1][h].y : patch[n >> 1][h].x);
            __half2 b = unpack(n & 1 ? skip[n >> 1][h].y : skip[n >> 1][h].x);
            x[n][h] =
                bits(__halves2half2(__hadd(__low2half(a), __low2half(b)), __hadd(__high2half(a), __high2half(b))));
        }
    }
}

/* P2...P7: X = Y Wqk (used as queries and keys) and V = Y Wv, k-slices interleaved. */
INLINE void projections(unsigned x[6][4][2], unsigned v[6][4][2], const unsigned *smem, const unsigned char *w,
                        unsigned z, unsigned lane)
{
    unsigned a[6][3][4], b[2][4];
#pragma unroll
    for (int m = 0; m < 6; m++) {
#pragma unroll
        for (int k = 0; k < 3; k++) {
            uint4 q = *reinterpret_cast<const uint4 *>(&smem[384 * m + 128 * k + 4 * lane]);
            a[m][k][0] = q.x, a[m][k][1] = q.y, a[m][k][2] = q.z, a[m][k][3] = q.w;
        }
    }
    const unsigned char *head = w + HEAD_STRIDE * z;
    load_blocks<2>(b, head, W_HEADS, lane_id());
    mma_project<true>(x, a, 0, b);
    load_blocks<2>(b, head, W_HEADS + HEAD_VALUE, lane_id());
    mma_project<true>(v, a, 0, b);
    load_blocks<2>(b, head, W_HEADS + 1024, lane_id());
    mma_project<false>(x, a, 1, b);
    load_blocks<2>(b, head, W_HEADS + HEAD_VALUE + 1024, lane_id());
    mma_project<false>(v, a, 1, b);
    load_blocks<2>(b, head, W_HEADS + 2048, lane_id());
    mma_project<false>(x, a, 2, b);
    load_blocks<2>(b, head, W_HEADS + HEAD_VALUE + 2048, lane_id());
    mma_project<false>(v, a, 2, b);
}

/* E7 and P8: scores of the 64 window tokens against all 96, on top of the position bias. */
INLINE void scores(unsigned s[4][12][2], const unsigned x[6][4][2], const unsigned char *w, unsigned z, unsigned lane)
{
    unsigned c[24][4], a[4][4], b[12][2];
    load_blocks<24>(c, w + HEAD_STRIDE * z, W_HEADS + HEAD_SCORE_BIAS, lane);
#pragma unroll
    for (int n = 0; n < 12; n++) {
        b[n][0] = pack2(x[n >> 1][0][n & 1], x[n >> 1][1][n & 1]);
        b[n][1] = pack2(x[n >> 1][2][n & 1], x[n >> 1][3][n & 1]);
    }
#pragma unroll
    for (int m = 0; m < 4; m++) pack_a<1>(&a[m], x[m]);
#pragma unroll
    for (int m = 0; m < 4; m++) {
#pragma unroll
        for (int n = 0; n < 12; n++) {
            const unsigned *seed = &c[(12 * m + n) >> 1][2 * (n & 1)];
            mma(s[m][n], a[m], b[n], seed[0], seed[1]);
        }
    }
}

/* E8: rows of s become probabilities. No maximum: cubic_exp is bounded. */
INLINE void softmax(unsigned s[4][12][2])
{
#pragma unroll
    for (int m = 0; m < 4; m++) {
#pragma unroll
        for (int n = 0; n < 12; n++) {
#pragma unroll
            for (int h = 0; h < 2; h++) s[m][n][h] = cubic_exp(s[m][n][h]);
        }
    }
    __half2 sum[4][2];
#pragma unroll
    for (int m = 0; m < 4; m++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            __half2 acc = half2_of(s[m][0][h]);
#pragma unroll
            for (int n = 1; n < 12; n++) acc = __hadd2(acc, half2_of(s[m][n][h]));
            acc = __hadd2(acc, __shfl_xor_sync(0xffffffffu, acc, 1));
            acc = __hadd2(acc, __shfl_xor_sync(0xffffffffu, acc, 2));
            sum[m][h] = __half2half2(__hadd(__low2half(acc), __high2half(acc)));
        }
    }
#pragma unroll
    for (int m = 0; m < 4; m++) {
#pragma unroll
        for (int n = 0; n < 12; n++) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                __half2 e = half2_of(s[m][n][h]), r = h2rcp(sum[m][h]);
                s[m][n][h] =
                    bits(__halves2half2(__hmul(__low2half(e), __low2half(r)), __hmul(__high2half(e), __high2half(r))));
            }
        }
    }
}

/* Rest of E8, and P9: P V. Two 8-token tiles share a word, which permutes k in P and V alike. */
INLINE void attend(unsigned o[4][4][2], const unsigned s[4][12][2], const unsigned v[6][4][2])
{
    unsigned vt[12][4], a[4][3][4], b[3][4][2];
#pragma unroll
    for (int m = 0; m < 6; m++) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
            vt[2 * m][n] = transpose8x8(v[m][n][0]);
            vt[2 * m + 1][n] = transpose8x8(v[m][n][1]);
        }
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
            b[k][n][0] = pack2(vt[4 * k][n], vt[4 * k + 1][n]);
            b[k][n][1] = pack2(vt[4 * k + 2][n], vt[4 * k + 3][n]);
        }
    }
#pragma unroll
    for (int m = 0; m < 4; m++) pack_a<3>(a[m], s[m]);
#pragma unroll
    for (int m = 0; m < 4; m++) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
            for (int k = 0; k < 3; k++) mma(o[m][n], a[m][k], b[k][n], k ? o[m][n][0] : 0u, k ? o[m][n][1] : 0u);
        }
    }
}

/* d = base + column table, scalar adds. */
INLINE void add_table(unsigned d[12][2], const unsigned base[12][2], const unsigned char *tab, unsigned offset)
{
    __half2 tv[12];
    table_columns(tv, tab, offset);
#pragma unroll
    for (int n = 0; n < 12; n++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            __half2 v = half2_of(base[n][h]);
            d[n][h] = bits(
                __halves2half2(__hadd(__low2half(v), __low2half(tv[n])), __hadd(__high2half(v), __high2half(tv[n]))));
        }
    }
}

/* E9...E12, P10...P13: heads change places through shared memory; warp z goes on with its own rows. */
INLINE void output_projection(unsigned d[12][2], const unsigned o[4][4][2], const unsigned res[12][2], unsigned *smem,
                              const unsigned char *w, unsigned z, unsigned lane)
{
    unsigned a[4], b[6][4];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 4; m++) {
        pack_a<1>(&a, o[m]);
        *reinterpret_cast<uint4 *>(&smem[512 * z + 128 * m + 4 * lane]) = make_uint4(a[0], a[1], a[2], a[3]);
    }
    __syncthreads();
#pragma unroll
    for (int head = 0; head < 4; head++) {
        uint4 q = *reinterpret_cast<const uint4 *>(&smem[512 * head + 128 * z + 4 * lane]);
        a[0] = q.x, a[1] = q.y, a[2] = q.z, a[3] = q.w;
        load_blocks<6>(b, w, W_HEADS + HEAD_STRIDE * head + HEAD_OUT, lane_id());
        if (head == 0) add_table(d, res, table(w, lane_id()), W_ATT_BIAS);
        mma_row(d, a, b);
    }
}

/* P14...P37: 96 -> 384 -> 96 in twelve chunks of 32 hidden units, accumulated onto the residual. */
INLINE void mlp(unsigned d[12][2], const unsigned char *w, unsigned lane)
{
    unsigned y[12][2], a[3][4], hid[1][4], b[6][4], bias[4], h[4][2];
    __half2 gain[12];
    table_columns(gain, table(w, lane), W_GAIN2);
    rms_norm(y, d, gain);
#pragma unroll
    for (int c = 0; c < 12; c++) {
        unsigned at = c ? W_MLP1 + MLP_STRIDE * (c - 1) : W_MLP0;
        load_blocks<6>(b, w, at, lane_id());
        const unsigned char *tab = table(w, lane_id());
#pragma unroll
        for (int n = 0; n < 4; n++) bias[n] = table_word(tab, at + MLP_B1, n);
        pack_a<3>(a, y);
        mma_w1(h, a, b, bias);
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
            for (int r = 0; r < 2; r++) h[n][r] = activate(h[n][r]);
        }
        load_blocks<6>(b, w, at + MLP_W2, lane_id());
        if (c == 0) add_table(d, d, tab, W_MLP_BIAS2);
        pack_a<1>(hid, h);
        mma_row(d, hid[0], b);
    }
}

/* Index of a pixel's word in a plane, -1 where it is not to be stored. */
INLINE int store_index(int x, int y, unsigned lane, uint2 extent, int word)
{
    bool off = y < 0 || y >= static_cast<int>(extent.y) || lane > 63u || x < 0 || x >= static_cast<int>(extent.x);
    return off ? -1 : static_cast<int>(8u * extent.x * y + 8u * x + word);
}

/* E37: features to the output arena; the same packs are P38's A. */
INLINE void store_features(unsigned a[3][4], const unsigned d[12][2], const Dec2Params &p, int x0, int y0, unsigned z)
{
    unsigned lane = lane_id();
    int g = lane >> 2, t = lane & 3;
    unsigned plane = 8u * p.extent.x * p.extent.y;
    pack_a<3>(a, d);
#pragma unroll
    for (int k = 0; k < 3; k++) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int h = q & 1;
            int x = x0 + ((g + 8 * h) & 7), y = y0 + 2 * static_cast<int>(z) + ((g + 8 * h) >> 3);
            int at = store_index(x, y, lane, p.extent, q >> 1 ? t | 4 : t);
            if (at >= 0) p.out[at + plane * k] = a[k][q];
        }
    }
}

/* P38: sixteen values a pixel. */
INLINE void head(unsigned d[2][2], const unsigned a[3][4], const unsigned char *w)
{
    unsigned b[3][4], bias[2];
    load_blocks<3>(b, w, W_HEAD, lane_id());
    const unsigned char *tab = table(w, lane_id());
#pragma unroll
    for (int n = 0; n < 2; n++) bias[n] = table_word(tab, W_HEAD_BIAS, n);
#pragma unroll
    for (int k = 0; k < 3; k++) {
#pragma unroll
        for (int n = 0; n < 2; n++) mma(d[n], a[k], &b[k][2 * n], k ? d[n][0] : bias[n], k ? d[n][1] : bias[n]);
    }
}

struct Texel {
    __half c[4];
};

INLINE Texel sample(cudaTextureObject_t tex, float x, float y)
{
    unsigned short v[4];
    Texel r;
    asm volatile("tex.base.2d.v4.f16.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=h"(v[0]), "=h"(v[1]), "=h"(v[2]), "=h"(v[3])
                 : "l"(tex), "f"(x), "f"(y));
    for (int i = 0; i < 4; i++) r.c[i] = __ushort_as_half(v[i]);
    return r;
}
INLINE Texel fetch(cudaTextureObject_t tex, int x, int y)
{
    unsigned short v[4];
    Texel r;
    asm volatile("tex.base.2d.v4.f16.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=h"(v[0]), "=h"(v[1]), "=h"(v[2]), "=h"(v[3])
                 : "l"(tex), "r"(x), "r"(y));
    for (int i = 0; i < 4; i++) r.c[i] = __ushort_as_half(v[i]);
    return r;
}

/* Softmax of nine taps: max and sum over the taps, exponentials in f32, weights in f16. */
INLINE void tap_weights(__half2 p[5], const unsigned v[5])
{
    const float log2e = 1.4426950216293335f;
    __half2 m2 = __hmax2(__hmax2(half2_of(v[0]), half2_of(v[1])), __hmax2(half2_of(v[2]), half2_of(v[3])));
    __half m = __hmax(__hmax(__low2half(m2), __high2half(m2)), __low2half(half2_of(v[4])));
    float e[10], sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 5; i++) {
        float2 f = __half22float2(__hsub2(half2_of(v[i]), __half2half2(m)));
        e[2 * i] = exp2f(f.x * log2e);
        e[2 * i + 1] = i < 4 ? exp2f(f.y * log2e) : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 9; i++) sum = i ? sum + e[i] : e[i];
    __half2 inv = __float2half2_rn(__fdividef(1.0f, sum));
#pragma unroll
    for (int i = 0; i < 5; i++) p[i] = __hmul2(__floats2half2_rn(e[2 * i], e[2 * i + 1]), inv);
}

/* Second half of E38, one thread a pixel. */
INLINE void shade(const Dec2Params &p, const unsigned v[5], int x, int y)
{
    __half2 w[5];
    tap_weights(w, v);
    Texel acc;
    for (int c = 0; c < 3; c++) acc.c[c] = __ushort_as_half(0);
#pragma unroll
    for (int j = 0; j < 9; j++) {
        int tx = min(max(x + j % 3 - 1, 0), static_cast<int>(p.extent.x) - 1);
        int ty = min(max(y + j / 3 - 1, 0), static_cast<int>(p.extent.y) - 1);
        Texel s =
            sample(p.colour, (static_cast<float>(tx) + 0.5f) * p.scale.x, (static_cast<float>(ty) + 0.5f) * p.scale.y);
        __half wj = j & 1 ? __high2half(w[j >> 1]) : __low2half(w[j >> 1]);
        for (int c = 0; c < 3; c++) acc.c[c] = __hfma(s.c[c], wj, acc.c[c]);
    }
    Texel hist = fetch(p.history, x, y), add = fetch(p.additive, x, y);
    float gate = __half2float(__high2half(half2_of(v[4])));
    __half sg = __float2half_rn(__fdividef(1.0f, 1.0f + exp2f(gate * -1.4426950216293335f)));
    __half rest = __hsub(__float2half_rn(1.0f), sg);
    unsigned short out[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        __half r = __hfma(hist.c[c], rest, __hmul(acc.c[c], sg));
        if (!__hisnan(add.c[c])) r = __hadd(r, add.c[c]);
        out[c] = __half_as_ushort(r);
    }
    asm volatile("sust.b.2d.v4.b16.zero [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(p.surface), "r"(x << 3), "r"(y),
                 "h"(out[0]), "h"(out[1]), "h"(out[2]), "h"((unsigned short)0)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(128) cuda_dldn_engine_swin_dec2_kernel(const Dec2Params p)
{
    __shared__ unsigned smem[2400];
    int x0 = static_cast<int>(8u * blockIdx.x - p.origin.x), y0 = static_cast<int>(8u * blockIdx.y - p.origin.y);
    unsigned z = threadIdx.z, lane = lane_id();

    patch_expand(p, smem, x0, y0, z, lane);
    __syncthreads();

    unsigned res[2][12][2], y[2][12][2], a[2][3][4];
    load_residual(res[0], p, smem, z, x0, y0);
    load_residual(res[1], p, smem, 4 + (z & 1), x0, y0);
    __half2 gain[12];
    table_columns(gain, table(p.weights, lane), W_GAIN1);
    rms_norm(y[0], res[0], gain);
    rms_norm(y[1], res[1], gain);
    __syncthreads();
    /* Tiles 4 and 5 are made by two warps each, with the same bits. */
#pragma unroll
    for (int i = 0; i < 2; i++) {
        unsigned tile = i ? 4 + (z & 1) : z;
        pack_a<3>(a[i], y[i]);
#pragma unroll
        for (int k = 0; k < 3; k++)
            *reinterpret_cast<uint4 *>(&smem[384 * tile + 128 * k + 4 * lane]) =
                make_uint4(a[i][k][0], a[i][k][1], a[i][k][2], a[i][k][3]);
    }
    __syncthreads();

    unsigned x[6][4][2], v[6][4][2], s[4][12][2], o[4][4][2], d[12][2];
    projections(x, v, smem, p.weights, z, lane);
    scores(s, x, p.weights, z, lane);
    softmax(s);
    attend(o, s, v);
    output_projection(d, o, res[0], smem, p.weights, z, lane);
    mlp(d, p.weights, lane);

    unsigned f[3][4], l[2][2];
    store_features(f, d, p, x0, y0, z);
    head(l, f, p.weights);

    __syncthreads();
#pragma unroll
    for (int h = 0; h < 2; h++) {
        unsigned pixel = 16 * z + (lane >> 2) + 8 * h;
#pragma unroll
        for (int n = 0; n < 2; n++)
            if (pixel < 64u) smem[8 * pixel + 4 * n + (lane & 3)] = l[n][h];
    }
    __syncthreads();
    if (threadIdx.z > 1) return;
    unsigned pixel = 32 * threadIdx.z + threadIdx.x, logits[5];
    int px = x0 + static_cast<int>(pixel & 7), py = y0 + static_cast<int>(pixel >> 3);
    if (px < 0 || px >= static_cast<int>(p.extent.x) || py < 0 || py >= static_cast<int>(p.extent.y)) return;
#pragma unroll
    for (int i = 0; i < 5; i++) logits[i] = smem[8 * pixel + i];
    shade(p, logits, px, py);
}
