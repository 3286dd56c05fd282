/* lib_special_test.cc - the approximate functions against MPFR: every exponent and sign with many fractions, all 16-bit operands,
 * and the special values. The results are to be the correctly rounded ones, without exception. */
#include <gtest/gtest.h>
#include <cstring>
#include "conformance/reference/ref_special.h"
#include "lib_levels.h"
#include "lib_width1.h"

#define SPECIAL_F32(X) \
    X(rcp_approx_f32, 1) X(rcp_approx_ftz_f32, 1) X(sqrt_approx_f32, 1) X(sqrt_approx_ftz_f32, 1) X(rsqrt_approx_f32, 1) X(rsqrt_approx_ftz_f32, 1) \
    X(ex2_approx_f32, 1) X(ex2_approx_ftz_f32, 1) X(lg2_approx_f32, 1) X(lg2_approx_ftz_f32, 1) X(sin_approx_f32, 1) X(sin_approx_ftz_f32, 1) \
    X(cos_approx_f32, 1) X(cos_approx_ftz_f32, 1) X(tanh_approx_f32, 1) \
    X(div_approx_f32, 2) X(div_approx_ftz_f32, 2) X(div_full_f32, 2) X(div_full_ftz_f32, 2)
#define SPECIAL_16(X) X(ex2_approx_f16, 1) X(tanh_approx_f16, 1) X(ex2_approx_ftz_bf16, 1) X(tanh_approx_bf16, 1)
#define SPECIAL_PAIR(X) X(ex2_approx_f16x2, 1) X(tanh_approx_f16x2, 1) X(ex2_approx_ftz_bf16x2, 1) X(tanh_approx_bf16x2, 1)
#define SPECIAL_F64(X) X(rcp_approx_ftz_f64, 1) X(rsqrt_approx_ftz_f64, 1) X(rsqrt_approx_f64, 1)

#define DECLARE(name, n) LIB_DECLARE(name)
SPECIAL_F32(DECLARE) SPECIAL_16(DECLARE) SPECIAL_PAIR(DECLARE) SPECIAL_F64(DECLARE)

namespace {

struct special_case { const char *name; int sources; lib_handler handlers[LIB_LEVEL_COUNT], width1; };
#define ENTRY(name, n) {#name, n, LIB_HANDLERS(name), pxl_width1_##name},
const special_case f32_cases[] = {SPECIAL_F32(ENTRY)};
const special_case half_cases[] = {SPECIAL_16(ENTRY)};
const special_case pair_cases[] = {SPECIAL_PAIR(ENTRY)};
const special_case f64_cases[] = {SPECIAL_F64(ENTRY)};

/* Level -1 is width 1. */
template <class T> void call(const special_case &c, int level, const T a[32], const T b[32], T d[32])
{
    lib_slots s;
    const uint32_t out = s.add(sizeof(T)), x = s.add(sizeof(T)), y = s.add(sizeof(T));
    memcpy(s.at<T>(x), a, 32 * sizeof(T));
    memcpy(s.at<T>(y), b, 32 * sizeof(T));
    if (level < 0) lib_width1::call(c.width1, s);
    else c.handlers[level](s.base, s.offset);
    memcpy(d, s.at<T>(out), 32 * sizeof(T));
}
template <class T> void check(const special_case &c, const T a[32], const T b[32], unsigned allowed = 0)
{
    uint64_t want[32];
    for (int i = 0; i < 32; i++)
        ASSERT_TRUE(ref_special_eval(c.name, a[i], b[i], &want[i]));
    for (int level = c.width1 ? -1 : 0; level < LIB_LEVEL_COUNT; level++) {
        if (level >= 0 && !lib_level_runs(level))
            continue;
        const char *which = level < 0 ? "width 1" : lib_level_names[level];
        T d[32];
        call(c, level, a, b, d);
        for (int i = 0; i < 32; i++) {
            const uint64_t apart = d[i] > want[i] ? d[i] - want[i] : want[i] - d[i];
            ASSERT_LE(apart, allowed) << c.name << " " << which << std::hex << " of 0x" << (uint64_t)a[i] << ", 0x" << (uint64_t)b[i]
                                      << " is 0x" << (uint64_t)d[i] << ", not 0x" << want[i];
        }
    }
}

class Special32 : public ::testing::TestWithParam<size_t> {};
TEST_P(Special32, IsCorrectlyRounded)
{
    const special_case &c = f32_cases[GetParam()];
    lib_random r(GetParam());
    static const uint32_t ends[] = {0, 1, 2, 0x7fffff, 0x7ffffe, 0x400000, 0x3fffff, 0x400001, 0x3504f3, 0x3504f4, 0x490fdb, 0x490fda};
    for (uint32_t exponent = 0; exponent < 256; exponent++)
        for (uint32_t round = 0; round < 24; round++) {
            uint32_t a[32], b[32];
            for (uint32_t i = 0; i < 32; i++) {
                const uint32_t fraction = round == 0 && i < 24 ? ends[i / 2] : (uint32_t)r.next() & 0x7fffff;
                a[i] = (i & 1) << 31 | exponent << 23 | fraction;
                b[i] = round % 3 == 0 ? (uint32_t)r.next() : (uint32_t)(r.next() & 0x807fffff) | ((exponent + r.below(60) + 226) & 255) << 23;
                if (round == 1)
                    b[i] = (i & 2) << 30 | (250 + i / 4 % 6) << 23 | (i < 16 ? ends[i / 2] : fraction);
            }
            check(c, a, b);
            if (HasFatalFailure())
                return;
        }
}
/* Where the value near which the function is delicate: logarithms near 1, powers near 0, angles near multiples of π/2. */
TEST_P(Special32, IsCorrectlyRoundedAtDelicatePlaces)
{
    const special_case &c = f32_cases[GetParam()];
    lib_random r(GetParam() + 1000);
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t a[32], b[32];
        for (uint32_t i = 0; i < 32; i++) {
            const float f = (float)((double)(r.next() >> 40) * (round & 1 ? 1.5707963267948966 : 3.1415926535897932 / 4));
            const float g = i & 1 ? (float)r.below(1000) * 1.57079632f : f;
            memcpy(&a[i], &g, 4);
            if (round % 4 == 0)
                a[i] = 0x3f800000u + r.below(2000) - 1000;
            if (round % 4 == 2)
                a[i] = (uint32_t)r.next() >> 1 | (i & 1) << 31;
            a[i] += r.below(5) - 2;
            b[i] = (uint32_t)r.next();
        }
        check(c, a, b);
        if (HasFatalFailure())
            return;
    }
}
/* Arguments of ex2, sin and cos whose value is so near the middle of two f32 that a sum in f64 rounds to it. */
TEST_P(Special32, IsCorrectlyRoundedBesideTheMiddle)
{
    static const uint32_t hard[4] = {0x3b429d37, 0x3cf3a937, 0x46199998, 0x5f18b878};
    uint32_t a[32], b[32];
    for (uint32_t i = 0; i < 32; i++) {
        a[i] = ((i < 28 ? hard[i / 8] : 0x6115cb11) + (i / 2 % 4 == 3 ? 1 : 0)) | i << 31;
        b[i] = 0x3f800000;
    }
    check(f32_cases[GetParam()], a, b);
}
INSTANTIATE_TEST_SUITE_P(All, Special32, ::testing::Range((size_t)0, sizeof f32_cases / sizeof *f32_cases),
                         [](const ::testing::TestParamInfo<size_t> &i) { return std::string(f32_cases[i.param].name); });

TEST(Special16, AllOperands)
{
    for (size_t k = 0; k < 4; k++)
        for (uint32_t base = 0; base < 65536; base += 32) {
            uint16_t a[32];
            for (uint32_t i = 0; i < 32; i++)
                a[i] = (uint16_t)(base + i);
            check(half_cases[k], a, a);
            if (HasFatalFailure())
                return;
        }
}
/* The halves of a pair differ, and each gives what the single form gives. */
TEST(Special16, Pairs)
{
    for (size_t k = 0; k < 4; k++)
        for (int level = 0; level < LIB_LEVEL_COUNT; level++)
            for (uint32_t base = 0; lib_level_runs(level) && base < 65536; base += 32) {
                uint16_t lo[32], hi[32], dl[32], dh[32];
                uint32_t a[32], d[32];
                for (uint32_t i = 0; i < 32; i++) {
                    lo[i] = (uint16_t)(base + i);
                    hi[i] = (uint16_t)(lo[i] * 40503u);
                    a[i] = lo[i] | (uint32_t)hi[i] << 16;
                }
                call(half_cases[k], level, lo, lo, dl);
                call(half_cases[k], level, hi, hi, dh);
                call(pair_cases[k], level, a, a, d);
                for (uint32_t i = 0; i < 32; i++)
                    ASSERT_EQ(d[i], dl[i] | (uint32_t)dh[i] << 16) << pair_cases[k].name << " of " << std::hex << a[i];
            }
}
TEST(Special64, AllExponents)
{
    for (const special_case &c : f64_cases) {
        lib_random r(64);
        /* rsqrt.approx.f64 is two correctly rounded operations: within one unit of the last place. */
        const unsigned allowed = strcmp(c.name, "rsqrt_approx_f64") ? 0 : 1;
        for (uint64_t exponent = 0; exponent < 2048; exponent++)
            for (int round = 0; round < 4; round++) {
                uint64_t a[32];
                for (uint64_t i = 0; i < 32; i++) {
                    const uint64_t part = r.next() >> 12;
                    a[i] = (i & 1) << 63 | exponent << 52 | (i < 4 ? 0 : i < 6 ? ~0ull >> 12 : i < 8 ? 1 : part);
                }
                check(c, a, a, allowed);
                if (HasFatalFailure())
                    return;
            }
    }
}

} // namespace
