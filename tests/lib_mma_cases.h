/* lib_mma_cases.h - every mma meaning with its reference shape: CASE(meaning, m, n, k, d, a, b, c, satfinite, and, a column, b row). */
#define CASE_FP8(a, b, A, B) \
    CASE(mma_m16n8k32_f16_##a##_##b##_f16, 16, 8, 32, F16, A, B, F16, 0, 0, 0, 0) \
    CASE(mma_m16n8k32_f32_##a##_##b##_f32, 16, 8, 32, F32, A, B, F32, 0, 0, 0, 0) \
    CASE(mma_m16n8k16_f16_##a##_##b##_f16, 16, 8, 16, F16, A, B, F16, 0, 0, 0, 0) \
    CASE(mma_m16n8k16_f32_##a##_##b##_f32, 16, 8, 16, F32, A, B, F32, 0, 0, 0, 0)
#define CASE_BYTES(a, b, A, B) \
    CASE(mma_m8n8k16_s32_##a##_##b##_s32, 8, 8, 16, S32, A, B, S32, 0, 0, 0, 0) \
    CASE(mma_m16n8k16_s32_##a##_##b##_s32, 16, 8, 16, S32, A, B, S32, 0, 0, 0, 0) \
    CASE(mma_m16n8k32_s32_##a##_##b##_s32, 16, 8, 32, S32, A, B, S32, 0, 0, 0, 0) \
    CASE(mma_m8n8k16_satfinite_s32_##a##_##b##_s32, 8, 8, 16, S32, A, B, S32, 1, 0, 0, 0) \
    CASE(mma_m16n8k16_satfinite_s32_##a##_##b##_s32, 16, 8, 16, S32, A, B, S32, 1, 0, 0, 0) \
    CASE(mma_m16n8k32_satfinite_s32_##a##_##b##_s32, 16, 8, 32, S32, A, B, S32, 1, 0, 0, 0)
#define CASE_NIBBLES(a, b, A, B) \
    CASE(mma_m8n8k32_s32_##a##_##b##_s32, 8, 8, 32, S32, A, B, S32, 0, 0, 0, 0) \
    CASE(mma_m16n8k32_s32_##a##_##b##_s32, 16, 8, 32, S32, A, B, S32, 0, 0, 0, 0) \
    CASE(mma_m16n8k64_s32_##a##_##b##_s32, 16, 8, 64, S32, A, B, S32, 0, 0, 0, 0) \
    CASE(mma_m8n8k32_satfinite_s32_##a##_##b##_s32, 8, 8, 32, S32, A, B, S32, 1, 0, 0, 0) \
    CASE(mma_m16n8k32_satfinite_s32_##a##_##b##_s32, 16, 8, 32, S32, A, B, S32, 1, 0, 0, 0) \
    CASE(mma_m16n8k64_satfinite_s32_##a##_##b##_s32, 16, 8, 64, S32, A, B, S32, 1, 0, 0, 0)
#define CASE_BITS(op, is_and) \
    CASE(mma_m8n8k128##op##_popc_s32_b1_b1_s32, 8, 8, 128, S32, B1, B1, S32, 0, is_and, 0, 0) \
    CASE(mma_m16n8k128##op##_popc_s32_b1_b1_s32, 16, 8, 128, S32, B1, B1, S32, 0, is_and, 0, 0) \
    CASE(mma_m16n8k256##op##_popc_s32_b1_b1_s32, 16, 8, 256, S32, B1, B1, S32, 0, is_and, 0, 0)
#define CASE_VOLTA(la, lb, LA, LB) \
    CASE(mma_m8n8k4_##la##_##lb##_f16_f16_f16_f16, 8, 8, 4, F16, F16, F16, F16, 0, 0, LA, LB) \
    CASE(mma_m8n8k4_##la##_##lb##_f32_f16_f16_f16, 8, 8, 4, F32, F16, F16, F16, 0, 0, LA, LB) \
    CASE(mma_m8n8k4_##la##_##lb##_f32_f16_f16_f32, 8, 8, 4, F32, F16, F16, F32, 0, 0, LA, LB)

CASE_FP8(e4m3, e4m3, E4M3, E4M3) CASE_FP8(e4m3, e5m2, E4M3, E5M2) CASE_FP8(e5m2, e4m3, E5M2, E4M3) CASE_FP8(e5m2, e5m2, E5M2, E5M2)
CASE(mma_m16n8k16_f16_f16_f16_f16, 16, 8, 16, F16, F16, F16, F16, 0, 0, 0, 0)
CASE(mma_m16n8k16_f32_f16_f16_f32, 16, 8, 16, F32, F16, F16, F32, 0, 0, 0, 0)
CASE(mma_m16n8k8_f16_f16_f16_f16, 16, 8, 8, F16, F16, F16, F16, 0, 0, 0, 0)
CASE(mma_m16n8k8_f32_f16_f16_f32, 16, 8, 8, F32, F16, F16, F32, 0, 0, 0, 0)
CASE(mma_m16n8k16_f32_bf16_bf16_f32, 16, 8, 16, F32, BF16, BF16, F32, 0, 0, 0, 0)
CASE(mma_m16n8k8_f32_bf16_bf16_f32, 16, 8, 8, F32, BF16, BF16, F32, 0, 0, 0, 0)
CASE(mma_m16n8k8_f32_tf32_tf32_f32, 16, 8, 8, F32, TF32, TF32, F32, 0, 0, 0, 0)
CASE(mma_m16n8k4_f32_tf32_tf32_f32, 16, 8, 4, F32, TF32, TF32, F32, 0, 0, 0, 0)
CASE_VOLTA(row, col, 0, 0) CASE_VOLTA(row, row, 0, 1) CASE_VOLTA(col, col, 1, 0) CASE_VOLTA(col, row, 1, 1)
CASE(mma_m8n8k4_f64_f64_f64_f64, 8, 8, 4, F64, F64, F64, F64, 0, 0, 0, 0)
CASE(mma_m16n8k4_f64_f64_f64_f64, 16, 8, 4, F64, F64, F64, F64, 0, 0, 0, 0)
CASE(mma_m16n8k8_f64_f64_f64_f64, 16, 8, 8, F64, F64, F64, F64, 0, 0, 0, 0)
CASE(mma_m16n8k16_f64_f64_f64_f64, 16, 8, 16, F64, F64, F64, F64, 0, 0, 0, 0)
CASE_BYTES(u8, u8, U8, U8) CASE_BYTES(u8, s8, U8, S8) CASE_BYTES(s8, u8, S8, U8) CASE_BYTES(s8, s8, S8, S8)
CASE_NIBBLES(u4, u4, U4, U4) CASE_NIBBLES(u4, s4, U4, S4) CASE_NIBBLES(s4, u4, S4, U4) CASE_NIBBLES(s4, s4, S4, S4)
CASE_BITS(_xor, 0) CASE_BITS(_and, 1)

#undef CASE_FP8
#undef CASE_BYTES
#undef CASE_NIBBLES
#undef CASE_BITS
#undef CASE_VOLTA
#undef CASE
