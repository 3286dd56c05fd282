/* mma_probe_test.cc - sums that tell tensor cores apart by one number: how many bits below the largest term they keep.
 *
 * 1 · 1 + 2^-12 · 2^(12-p) - 1 is 2^-p where a term keeps p fractional bits, else 0 (MMA-Sim, arXiv 2511.10909: 23 on Volta, 24 up to Ada, 25 from Hopper
 * on). The expected numbers stand here, so that neither the meanings nor the references of mma have a say.
 */
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include "include/ptxbridge.h"

namespace {

const char text[] = R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 out, .param .u32 a, .param .u32 b)
{
    .reg .b32 %r<3>;
    .reg .f32 %f<9>;
    .reg .b64 %d;
    .reg .pred %p;
    mov.u32 %r0, %laneid;
    setp.ne.u32 %p, %r0, 0;
    ld.param.u32 %r1, [a];
    ld.param.u32 %r2, [b];
    mov.f32 %f4, 0fBF800000;
    @%p mov.b32 %r1, 0;
    @%p mov.b32 %r2, 0;
    @%p mov.f32 %f4, 0f00000000;
    mov.f32 %f5, 0f00000000;
    mov.b32 %r0, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r0, %r0, %r0}, {%r2, %r0}, {%f4, %f5, %f5, %f5};
    ld.param.u64 %d, [out];
    @!%p st.global.f32 [%d], %f0;
    ret;
}
)";

class probe : public ::testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        ASSERT_EQ(pxb_device_open(ctx, "cpu", &device), PXB_OK) << pxb_last_error(ctx)->message;
        ASSERT_EQ(pxb_module_load_text(ctx, text, strlen(text), "probe.ptx", &module), PXB_OK) << pxb_last_error(ctx)->message;
        ASSERT_EQ(pxb_kernel_get(device, module, "probe", &kernel), PXB_OK) << pxb_last_error(ctx)->message;
        ASSERT_EQ(pxb_memory_alloc(device, 4, &memory), PXB_OK);
    }
    void TearDown() override { pxb_context_destroy(ctx); }

    float run(pxb_mma_model model, int p)
    {
        const uint32_t one = 15 << 10, a = one | (15 - 12) << 26, b = one | (uint32_t)(15 + 12 - p) << 26;
        const void *params[] = {&memory, &a, &b};
        pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
        o.block[0] = 32;
        o.mma_model = model;
        float result = NAN;
        EXPECT_EQ(pxb_launch(kernel, &o, params, 3), PXB_OK) << pxb_last_error(ctx)->message;
        EXPECT_EQ(pxb_memory_read(device, &result, memory, 4), PXB_OK);
        return result;
    }

    pxb_context *ctx = nullptr;
    pxb_device *device = nullptr;
    pxb_module *module = nullptr;
    pxb_kernel *kernel = nullptr;
    pxb_address memory = 0;
};

} // namespace

TEST_F(probe, bits_below_the_largest_term)
{
    const struct { pxb_mma_model model; int kept; } models[] = {{PXB_MMA_VOLTA, 23}, {PXB_MMA_TURING, 24}, {PXB_MMA_AMPERE, 24}, {PXB_MMA_ADA, 24},
                                                                {PXB_MMA_HOPPER, 25}, {PXB_MMA_BLACKWELL, 25}, {PXB_MMA_IEEE, 26}};
    for (const auto &m : models)
        for (int p = 20; p <= 26; p++)
            EXPECT_EQ(run(m.model, p), p <= m.kept ? ldexpf(1, -p) : 0.0f) << pxb_mma_model_name(m.model) << ", 2^-" << p;
}
