// wmma m32n8k16 (f16 sums, column-major store) and m8n32k16 s8 (A row, B row), shared memory.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_shapes(const __half *a, const __half *b, __half *ct,
                                       const signed char *ia, const signed char *ib, int *ic)
{
    __shared__ __align__(32) __half sa[32 * 16];
    for (int i = threadIdx.x; i < 512; i += 32)
        sa[i] = a[i];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __half, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, __half> fc;
    wmma::fill_fragment(fc, __float2half(0.5f));
    wmma::load_matrix_sync(fa, sa, 32);
    wmma::load_matrix_sync(fb, b, 8);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(ct, fc, 32, wmma::mem_col_major);
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> ga;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> gb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> gc;
    wmma::fill_fragment(gc, 100);
    wmma::load_matrix_sync(ga, ia, 16);
    wmma::load_matrix_sync(gb, ib, 32);
    wmma::mma_sync(gc, ga, gb, gc);
    wmma::store_matrix_sync(ic, gc, 32, wmma::mem_row_major);
}
