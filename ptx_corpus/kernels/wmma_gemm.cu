// The wmma API: m16n16k16 f16 to f32, fragments loaded from and stored to global memory.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_gemm(const __half *a, const __half *bt, float *c, int k, int lda,
                                     int ldb, int ldc)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    float *pc = c + blockIdx.y * 16 * ldc + blockIdx.x * 16;
    wmma::load_matrix_sync(fc, pc, ldc, wmma::mem_row_major);
    for (int k0 = 0; k0 < k; k0 += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * lda + k0, lda);
        wmma::load_matrix_sync(fb, bt + blockIdx.x * 16 * ldb + k0, ldb);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2.0f;
    wmma::store_matrix_sync(pc, fc, ldc, wmma::mem_row_major);
}
