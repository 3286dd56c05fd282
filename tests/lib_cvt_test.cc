/* lib_cvt_test.cc - the conversions against conformance/reference, and the reference's two ways of rounding against each other. */
#include <cmath>
#include "lib_harness.h"

TEST(lib_cvt, every_meaning_equals_its_reference)
{
    lib_check_family("cvt", 120);
}

/* MPFR's rounding and the search among all codes of the format, for each number of f16 and for f32 numbers of every exponent. */
static void compare_references(const char *name, const std::vector<double> &inputs)
{
    const ref_format *f = ref_find_format(name, (int)strlen(name));
    ASSERT_NE(f, nullptr);
    for (ref_rounding rounding : {REF_RN, REF_RZ, REF_RM, REF_RP})
        for (double x : inputs)
            ASSERT_EQ(ref_round_by_mpfr(f, x, rounding), ref_round_by_search(f, x, rounding)) << name << " " << x << " rounding " << rounding;
}

TEST(lib_cvt, references_agree_over_every_f16)
{
    const ref_format *f16 = ref_find_format("f16", 3);
    std::vector<double> inputs;
    for (uint64_t code = 0; code < 0x10000; code++)
        inputs.push_back(ref_value(f16, code));
    for (const char *name : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "f16", "bf16"})
        compare_references(name, inputs);
}

TEST(lib_cvt, references_agree_over_f32)
{
    const ref_format *f32 = ref_find_format("f32", 3);
    std::vector<double> inputs;
    for (uint64_t top = 0; top < 0x10000; top += 3)          /* every sign and exponent, a third of the upper fractions */
        for (uint64_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
            inputs.push_back(ref_value(f32, top << 16 | low));
    for (const char *name : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "f16", "bf16"})
        compare_references(name, inputs);
}

/* f64 numbers at and around the ties of f16, where rounding by way of f32 goes wrong. */
TEST(lib_cvt, f64_to_f16_rounds_once)
{
    const ref_format *f16 = ref_find_format("f16", 3);
    for (uint64_t code = 0; code < 0x7bff; code++) {
        double tie = (ref_value(f16, code) + ref_value(f16, code + 1)) / 2;
        for (double x : {tie, std::nextafter(tie, 0), std::nextafter(tie, 1e9)}) {
            uint64_t bits, d = 0;
            memcpy(&bits, &x, 8);
            ASSERT_TRUE(ref_eval("cvt_rn_f16_f64", &bits, &d));
            ASSERT_EQ(d, x < tie ? code : x > tie ? code + 1 : code + (code & 1));
        }
    }
}
