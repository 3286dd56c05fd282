/* matrix_list.h - the matrix instructions of gfx90a, gfx942, gfx950, gfx11 and gfx12, as rows that the includer defines:
 * ROW(name, family, m, n, k, blocks, type of A, of B, of D, sparse, scaled, broadcast).
 *
 * Names come from the ISA documents; gfx90a writes the input type without an underscore and has no word for the number of
 * blocks. Where both names denote one instruction, both rows stand here. No include guard: it is included twice.
 */
#define MFMA(name, m, n, k, blocks, a, b, d, broadcast) ROW("v_mfma_" name, MFMA, m, n, k, blocks, a, b, d, false, false, broadcast)
#define MFMA_SCALE(name, m, n, k) ROW("v_mfma_scale_" name, MFMA, m, n, k, 1, M_F8F6F4, M_F8F6F4, M_F32, false, true, false)
#define SMFMAC(name, m, n, k, a, b, d) ROW("v_smfmac_" name, MFMA, m, n, k, 1, a, b, d, true, false, false)
#define WMMA11(name, k, a, d) ROW("v_wmma_" name, WMMA11, 16, 16, k, 1, a, a, d, false, false, false)
#define WMMA12(name, k, a, b, d) ROW("v_wmma_" name, WMMA12, 16, 16, k, 1, a, b, d, false, false, false)
#define SWMMAC(name, k, a, b, d) ROW("v_swmmac_" name, WMMA12, 16, 16, k, 1, a, b, d, true, false, false)
/* the four combinations of fp8 and bf8 */
#define MFMA_FP8(name, m, n, k) \
    MFMA(name "_fp8_fp8", m, n, k, 1, M_FP8, M_FP8, M_F32, false), MFMA(name "_fp8_bf8", m, n, k, 1, M_FP8, M_BF8, M_F32, false), \
    MFMA(name "_bf8_fp8", m, n, k, 1, M_BF8, M_FP8, M_F32, false), MFMA(name "_bf8_bf8", m, n, k, 1, M_BF8, M_BF8, M_F32, false)
#define SMFMAC_FP8(name, m, n, k) \
    SMFMAC(name "_fp8_fp8", m, n, k, M_FP8, M_FP8, M_F32), SMFMAC(name "_fp8_bf8", m, n, k, M_FP8, M_BF8, M_F32), \
    SMFMAC(name "_bf8_fp8", m, n, k, M_BF8, M_FP8, M_F32), SMFMAC(name "_bf8_bf8", m, n, k, M_BF8, M_BF8, M_F32)
#define FP8_12(row, name, k) \
    row(name "_fp8_fp8", k, M_FP8, M_FP8, M_F32), row(name "_fp8_bf8", k, M_FP8, M_BF8, M_F32), \
    row(name "_bf8_fp8", k, M_BF8, M_FP8, M_F32), row(name "_bf8_bf8", k, M_BF8, M_BF8, M_F32)

    /* gfx90a */
    MFMA("f32_32x32x1f32", 32, 32, 1, 2, M_F32, M_F32, M_F32, true), MFMA("f32_16x16x1f32", 16, 16, 1, 4, M_F32, M_F32, M_F32, true),
    MFMA("f32_4x4x1f32", 4, 4, 1, 16, M_F32, M_F32, M_F32, true), MFMA("f32_32x32x2f32", 32, 32, 2, 1, M_F32, M_F32, M_F32, true),
    MFMA("f32_16x16x4f32", 16, 16, 4, 1, M_F32, M_F32, M_F32, true),
    MFMA("f32_32x32x4f16", 32, 32, 4, 2, M_F16, M_F16, M_F32, true), MFMA("f32_16x16x4f16", 16, 16, 4, 4, M_F16, M_F16, M_F32, true),
    MFMA("f32_4x4x4f16", 4, 4, 4, 16, M_F16, M_F16, M_F32, true), MFMA("f32_32x32x8f16", 32, 32, 8, 1, M_F16, M_F16, M_F32, true),
    MFMA("f32_16x16x16f16", 16, 16, 16, 1, M_F16, M_F16, M_F32, true),
    MFMA("f32_32x32x2bf16", 32, 32, 2, 2, M_BF16, M_BF16, M_F32, true), MFMA("f32_16x16x2bf16", 16, 16, 2, 4, M_BF16, M_BF16, M_F32, true),
    MFMA("f32_4x4x2bf16", 4, 4, 2, 16, M_BF16, M_BF16, M_F32, true), MFMA("f32_32x32x4bf16", 32, 32, 4, 1, M_BF16, M_BF16, M_F32, true),
    MFMA("f32_16x16x8bf16", 16, 16, 8, 1, M_BF16, M_BF16, M_F32, true),
    MFMA("f32_32x32x4bf16_1k", 32, 32, 4, 2, M_BF16, M_BF16, M_F32, true), MFMA("f32_16x16x4bf16_1k", 16, 16, 4, 4, M_BF16, M_BF16, M_F32, true),
    MFMA("f32_4x4x4bf16_1k", 4, 4, 4, 16, M_BF16, M_BF16, M_F32, true), MFMA("f32_32x32x8bf16_1k", 32, 32, 8, 1, M_BF16, M_BF16, M_F32, true),
    MFMA("f32_16x16x16bf16_1k", 16, 16, 16, 1, M_BF16, M_BF16, M_F32, true),
    MFMA("i32_32x32x4i8", 32, 32, 4, 2, M_I8, M_I8, M_I32, true), MFMA("i32_16x16x4i8", 16, 16, 4, 4, M_I8, M_I8, M_I32, true),
    MFMA("i32_4x4x4i8", 4, 4, 4, 16, M_I8, M_I8, M_I32, true), MFMA("i32_32x32x8i8", 32, 32, 8, 1, M_I8, M_I8, M_I32, true),
    MFMA("i32_16x16x16i8", 16, 16, 16, 1, M_I8, M_I8, M_I32, true),
    MFMA("f64_16x16x4f64", 16, 16, 4, 1, M_F64, M_F64, M_F64, false), MFMA("f64_4x4x4f64", 4, 4, 4, 4, M_F64, M_F64, M_F64, false),
    /* gfx942, gfx950 */
    MFMA("f32_16x16x8_xf32", 16, 16, 8, 1, M_XF32, M_XF32, M_F32, false), MFMA("f32_32x32x4_xf32", 32, 32, 4, 1, M_XF32, M_XF32, M_F32, false),
    MFMA("f32_16x16x8xf32", 16, 16, 8, 1, M_XF32, M_XF32, M_F32, false), MFMA("f32_32x32x4xf32", 32, 32, 4, 1, M_XF32, M_XF32, M_F32, false),
    MFMA("f32_32x32x1_2b_f32", 32, 32, 1, 2, M_F32, M_F32, M_F32, true), MFMA("f32_16x16x1_4b_f32", 16, 16, 1, 4, M_F32, M_F32, M_F32, true),
    MFMA("f32_4x4x1_16b_f32", 4, 4, 1, 16, M_F32, M_F32, M_F32, true), MFMA("f32_32x32x2_f32", 32, 32, 2, 1, M_F32, M_F32, M_F32, true),
    MFMA("f32_16x16x4_f32", 16, 16, 4, 1, M_F32, M_F32, M_F32, true),
    MFMA("f32_32x32x4_2b_f16", 32, 32, 4, 2, M_F16, M_F16, M_F32, true), MFMA("f32_16x16x4_4b_f16", 16, 16, 4, 4, M_F16, M_F16, M_F32, true),
    MFMA("f32_4x4x4_16b_f16", 4, 4, 4, 16, M_F16, M_F16, M_F32, true), MFMA("f32_32x32x8_f16", 32, 32, 8, 1, M_F16, M_F16, M_F32, false),
    MFMA("f32_16x16x16_f16", 16, 16, 16, 1, M_F16, M_F16, M_F32, false),
    MFMA("f32_32x32x4_2b_bf16", 32, 32, 4, 2, M_BF16, M_BF16, M_F32, true), MFMA("f32_16x16x4_4b_bf16", 16, 16, 4, 4, M_BF16, M_BF16, M_F32, true),
    MFMA("f32_4x4x4_16b_bf16", 4, 4, 4, 16, M_BF16, M_BF16, M_F32, true), MFMA("f32_32x32x8_bf16", 32, 32, 8, 1, M_BF16, M_BF16, M_F32, false),
    MFMA("f32_16x16x16_bf16", 16, 16, 16, 1, M_BF16, M_BF16, M_F32, false),
    MFMA("i32_32x32x4_2b_i8", 32, 32, 4, 2, M_I8, M_I8, M_I32, true), MFMA("i32_16x16x4_4b_i8", 16, 16, 4, 4, M_I8, M_I8, M_I32, true),
    MFMA("i32_4x4x4_16b_i8", 4, 4, 4, 16, M_I8, M_I8, M_I32, true), MFMA("i32_32x32x16_i8", 32, 32, 16, 1, M_I8, M_I8, M_I32, false),
    MFMA("i32_16x16x32_i8", 16, 16, 32, 1, M_I8, M_I8, M_I32, false), MFMA("i32_32x32x16i8", 32, 32, 16, 1, M_I8, M_I8, M_I32, false),
    MFMA("i32_16x16x32i8", 16, 16, 32, 1, M_I8, M_I8, M_I32, false),
    MFMA("f64_16x16x4_f64", 16, 16, 4, 1, M_F64, M_F64, M_F64, false), MFMA("f64_4x4x4_4b_f64", 4, 4, 4, 4, M_F64, M_F64, M_F64, false),
    MFMA_FP8("f32_16x16x32", 16, 16, 32), MFMA_FP8("f32_32x32x16", 32, 32, 16),
    SMFMAC("f32_16x16x32_f16", 16, 16, 32, M_F16, M_F16, M_F32), SMFMAC("f32_32x32x16_f16", 32, 32, 16, M_F16, M_F16, M_F32),
    SMFMAC("f32_16x16x32_bf16", 16, 16, 32, M_BF16, M_BF16, M_F32), SMFMAC("f32_32x32x16_bf16", 32, 32, 16, M_BF16, M_BF16, M_F32),
    SMFMAC("i32_16x16x64_i8", 16, 16, 64, M_I8, M_I8, M_I32), SMFMAC("i32_32x32x32_i8", 32, 32, 32, M_I8, M_I8, M_I32),
    SMFMAC_FP8("f32_16x16x64", 16, 16, 64), SMFMAC_FP8("f32_32x32x32", 32, 32, 32),
    /* gfx950 alone */
    MFMA("f32_16x16x32_f16", 16, 16, 32, 1, M_F16, M_F16, M_F32, false), MFMA("f32_32x32x16_f16", 32, 32, 16, 1, M_F16, M_F16, M_F32, false),
    MFMA("f32_16x16x32_bf16", 16, 16, 32, 1, M_BF16, M_BF16, M_F32, false), MFMA("f32_32x32x16_bf16", 32, 32, 16, 1, M_BF16, M_BF16, M_F32, false),
    MFMA("i32_16x16x64_i8", 16, 16, 64, 1, M_I8, M_I8, M_I32, false), MFMA("i32_32x32x32_i8", 32, 32, 32, 1, M_I8, M_I8, M_I32, false),
    MFMA("f32_16x16x128_f8f6f4", 16, 16, 128, 1, M_F8F6F4, M_F8F6F4, M_F32, false),
    MFMA("f32_32x32x64_f8f6f4", 32, 32, 64, 1, M_F8F6F4, M_F8F6F4, M_F32, false),
    MFMA_SCALE("f32_16x16x128_f8f6f4", 16, 16, 128),
    MFMA_SCALE("f32_32x32x64_f8f6f4", 32, 32, 64),
    SMFMAC("f32_16x16x64_f16", 16, 16, 64, M_F16, M_F16, M_F32), SMFMAC("f32_32x32x32_f16", 32, 32, 32, M_F16, M_F16, M_F32),
    SMFMAC("f32_16x16x64_bf16", 16, 16, 64, M_BF16, M_BF16, M_F32), SMFMAC("f32_32x32x32_bf16", 32, 32, 32, M_BF16, M_BF16, M_F32),
    SMFMAC("i32_16x16x128_i8", 16, 16, 128, M_I8, M_I8, M_I32), SMFMAC("i32_32x32x64_i8", 32, 32, 64, M_I8, M_I8, M_I32),
    SMFMAC_FP8("f32_16x16x128", 16, 16, 128), SMFMAC_FP8("f32_32x32x64", 32, 32, 64),
    /* gfx11 */
    WMMA11("f32_16x16x16_f16", 16, M_F16, M_F32), WMMA11("f32_16x16x16_bf16", 16, M_BF16, M_F32), WMMA11("f16_16x16x16_f16", 16, M_F16, M_F16),
    WMMA11("bf16_16x16x16_bf16", 16, M_BF16, M_BF16), WMMA11("i32_16x16x16_iu8", 16, M_IU8, M_I32), WMMA11("i32_16x16x16_iu4", 16, M_IU4, M_I32),
    /* gfx12 */
    WMMA12("f32_16x16x16_f16", 16, M_F16, M_F16, M_F32), WMMA12("f32_16x16x16_bf16", 16, M_BF16, M_BF16, M_F32),
    WMMA12("f16_16x16x16_f16", 16, M_F16, M_F16, M_F16), WMMA12("bf16_16x16x16_bf16", 16, M_BF16, M_BF16, M_BF16),
    WMMA12("i32_16x16x16_iu8", 16, M_IU8, M_IU8, M_I32), WMMA12("i32_16x16x16_iu4", 16, M_IU4, M_IU4, M_I32),
    WMMA12("i32_16x16x32_iu4", 32, M_IU4, M_IU4, M_I32), FP8_12(WMMA12, "f32_16x16x16", 16),
    SWMMAC("f32_16x16x32_f16", 32, M_F16, M_F16, M_F32), SWMMAC("f32_16x16x32_bf16", 32, M_BF16, M_BF16, M_F32),
    SWMMAC("f16_16x16x32_f16", 32, M_F16, M_F16, M_F16), SWMMAC("bf16_16x16x32_bf16", 32, M_BF16, M_BF16, M_BF16),
    SWMMAC("i32_16x16x32_iu8", 32, M_IU8, M_IU8, M_I32), SWMMAC("i32_16x16x32_iu4", 32, M_IU4, M_IU4, M_I32),
    SWMMAC("i32_16x16x64_iu4", 64, M_IU4, M_IU4, M_I32), FP8_12(SWMMAC, "f32_16x16x32", 32),

#undef MFMA
#undef MFMA_SCALE
#undef SMFMAC
#undef WMMA11
#undef WMMA12
#undef SWMMAC
#undef MFMA_FP8
#undef SMFMAC_FP8
#undef FP8_12
