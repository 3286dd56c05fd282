/* ref_fast_test.cc - the fast reference against the slow one: special values against each other, random ones, and places where rounding is hard. */
#include <gtest/gtest.h>
#include <cstring>
#include <string>
#include "conformance/reference/ref_fast.h"
#include "conformance/reference/ref_special.h"

namespace {

struct random_bits {
    uint64_t state;
    uint64_t next()
    {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
};

/* As conformance/expect.c evaluates: approximate functions by their own reference, packed ones half by half. */
void slow(void *user, const uint64_t *src, uint64_t *dst)
{
    const std::string name = (const char *)user;
    if (name.find("_approx") == std::string::npos) {
        ASSERT_TRUE(ref_eval(name.c_str(), src, dst)) << name;
        return;
    }
    if (name.substr(name.size() - 2) != "x2") {
        ASSERT_TRUE(ref_special_eval(name.c_str(), src[0], 0, dst)) << name;
        return;
    }
    uint64_t low, high;
    const std::string half = name.substr(0, name.size() - 2);
    ASSERT_TRUE(ref_special_eval(half.c_str(), src[0] & 0xffff, 0, &low) && ref_special_eval(half.c_str(), src[0] >> 16 & 0xffff, 0, &high));
    *dst = low | high << 16;
}

void check(const ref_fast &f, const char *name, uint64_t a, uint64_t b, uint64_t &certain)
{
    const uint64_t src[2] = {a, b};
    uint64_t got = 0, want = 0;
    if (!ref_fast_eval(&f, src, &got))
        return;
    certain++;
    slow((void *)name, src, &want);
    ASSERT_EQ(got, want) << name << std::hex << " of 0x" << a << ", 0x" << b;
}

void check_all(const char *name, bool two, uint64_t mask)
{
    static const uint64_t edges[] = {0, 1, 2, 0x3ff, 0x400, 0x401, 0x7f, 0x80, 0x81, 0x3bff, 0x3c00, 0x3c01, 0x3f80, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80,
                                     0x7fff, 0x8000, 0x8001, 0xfc00, 0xff80, 0xffff, 0x7fffff, 0x800000, 0x800001, 0x3f7fffff, 0x3f800000, 0x3f800001,
                                     0x42fe0000, 0x43000000, 0xc2fc0000, 0xc3150000, 0xc3160000, 0x7e800000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x80000000,
                                     0x80000001, 0xbf800000, 0xff800000, 0xffffffff};
    ref_fast f;
    ASSERT_TRUE(ref_fast_start(&f, name, slow, (void *)name)) << name;
    uint64_t certain = 0, tried = 0;
    for (uint64_t a : edges)
        for (uint64_t b : edges) {
            check(f, name, a & mask, two ? b & mask : 0, certain);
            tried++;
        }
    random_bits r = {strlen(name)};
    for (int i = 0; i < 6000; i++, tried++) {
        const uint64_t x = r.next();
        /* Small differences of exponents, so that sums are rounded; few bits, so that there are ties. */
        const uint64_t y = i % 3 == 0 ? x >> 32 : i % 3 == 1 ? x ^ (r.next() >> 52) : (x >> 32) & ~0x3full;
        check(f, name, x & mask, two ? y & mask : 0, certain);
        if (::testing::Test::HasFatalFailure())
            break;
    }
    ref_fast_end(&f);
    EXPECT_GT(certain * 2, tried) << name << ": the fast reference is hardly ever certain";
}

} // namespace

TEST(ref_fast, real_functions)
{
    for (const char *name : {"rcp_approx_f32", "rcp_approx_ftz_f32", "rsqrt_approx_f32", "rsqrt_approx_ftz_f32", "sqrt_approx_f32", "sqrt_approx_ftz_f32", "ex2_approx_f32",
                             "ex2_approx_ftz_f32", "lg2_approx_f32", "lg2_approx_ftz_f32", "sin_approx_f32", "cos_approx_ftz_f32", "tanh_approx_f32"})
        check_all(name, false, 0xffffffff);
}

TEST(ref_fast, single_operations)
{
    for (const char *name : {"rcp_rn_f32", "rcp_rz_f32", "rcp_rm_f32", "rcp_rp_f32", "rcp_rn_ftz_f32", "rcp_rm_ftz_f32", "sqrt_rn_f32", "sqrt_rz_f32", "sqrt_rm_f32",
                             "sqrt_rp_ftz_f32"})
        check_all(name, false, 0xffffffff);
    for (const char *name : {"add_rn_f16", "sub_rn_f16", "mul_rn_f16", "add_rn_ftz_f16", "mul_rn_ftz_f16", "add_rn_bf16", "sub_rn_bf16", "mul_rn_bf16"})
        check_all(name, true, 0xffff);
}

TEST(ref_fast, halves)
{
    for (const char *name : {"cvt_rn_satfinite_e4m3x2_f16x2", "cvt_rn_satfinite_relu_e5m2x2_bf16x2", "ex2_approx_f16x2"})
        check_all(name, false, 0xffffffff);
}

TEST(ref_fast, others_have_none)
{
    ref_fast f;
    for (const char *name : {"add_rn_f32", "fma_rn_f16", "add_rn_sat_f16", "add_rn_f16x2", "cvt_rs_satfinite_e4m3x4_f32", "popc_b32"})
        EXPECT_FALSE(ref_fast_start(&f, name, slow, (void *)name)) << name;
}
