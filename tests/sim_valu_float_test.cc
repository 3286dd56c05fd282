/* sim_valu_float_test.cc - float arithmetic of the simulator's vector ALU against MPFR: every rounding and denormal
 * mode, NaN choice, modifiers, least and greatest, rounding to integers, and the division sequence. */
#include "tests/sim_harness.h"
#include "tests/sim_valu_float.h"

namespace {

using u32 = uint32_t;
using u64 = uint64_t;

enum Op { ADD, SUB, SUBREV, MUL, FMA, FMAC };

u64 flush(u64 x, const Format &f, bool on) { return on && f.is_denormal(x) ? x & f.sign() : x; }

/* The rule of valu.h, in terms of MPFR. */
u64 arithmetic(Op op, const Format &f, u64 a, u64 b, u64 c, u32 round, bool flush_in, bool flush_out)
{
    bool three = op == FMA || op == FMAC;
    a = flush(a, f, flush_in), b = flush(b, f, flush_in), c = flush(c, f, flush_in);
    if (f.is_nan(a)) return a | f.quiet();
    if (f.is_nan(b)) return b | f.quiet();
    if (three && f.is_nan(c)) return c | f.quiet();
    Real x, y, z, r;
    set_bits(x, a, f), set_bits(y, b, f), set_bits(z, c, f);
    mpfr_rnd_t mode = mode_rounding[round];
    switch (op) {
    case ADD: mpfr_add(r.x, x.x, y.x, mode); break;
    case SUB: mpfr_sub(r.x, x.x, y.x, mode); break;
    case SUBREV: mpfr_sub(r.x, y.x, x.x, mode); break;
    case MUL: mpfr_mul(r.x, x.x, y.x, mode); break;
    default: mpfr_fma(r.x, x.x, y.x, z.x, mode); break;
    }
    return flush(round_bits(r, f, mode), f, flush_out);
}

struct Line { const char *text; Op op; };
struct Family { const Format *format; const char *target; std::vector<Line> lines; };

void put(Snippet &t, u32 row, u32 lane, u64 x, const Format &f)
{
    if (f.bits == 64) t.set_v64(row, lane, x);
    else t.v(row, lane) = static_cast<u32>(x);
}

u64 got(Snippet &t, u32 row, u32 lane, const Format &f)
{
    return f.bits == 64 ? t.v64(row, lane) : f.bits == 16 ? t.v(row, lane) & 0xffff : t.v(row, lane);
}

/* Sources v0, v2, v4; results from v10 on, two registers each. */
TEST(SimValuFloat, Arithmetic)
{
    const Family families[] = {
        {&f32_format, "gfx1100", {{"v_add_f32_e32 v10, v0, v2", ADD}, {"v_sub_f32_e32 v12, v0, v2", SUB}, {"v_subrev_f32_e32 v14, v0, v2", SUBREV},
                                  {"v_mul_f32_e32 v16, v0, v2", MUL}, {"v_fma_f32 v18, v0, v2, v4", FMA}, {"v_fmac_f32_e32 v20, v0, v2", FMAC}}},
        {&f32_format, "gfx942", {{"v_add_f32_e32 v10, v0, v2", ADD}, {"v_sub_f32_e64 v12, v0, v2", SUB}, {"v_subrev_f32_e32 v14, v0, v2", SUBREV},
                                 {"v_mul_f32_e64 v16, v0, v2", MUL}, {"v_fma_f32 v18, v0, v2, v4", FMA}, {"v_fmac_f32_e64 v20, v0, v2", FMAC}}},
        {&f64_format, "gfx942", {{"v_add_f64 v[10:11], v[0:1], v[2:3]", ADD}, {"v_add_f64 v[12:13], v[0:1], -v[2:3]", SUB}, {"v_add_f64 v[14:15], -v[0:1], v[2:3]", SUBREV},
                                 {"v_mul_f64 v[16:17], v[0:1], v[2:3]", MUL}, {"v_fma_f64 v[18:19], v[0:1], v[2:3], v[4:5]", FMA}, {"v_fmac_f64_e32 v[20:21], v[0:1], v[2:3]", FMAC}}},
        {&f16_format, "gfx1201", {{"v_add_f16_e32 v10, v0, v2", ADD}, {"v_sub_f16_e32 v12, v0, v2", SUB}, {"v_subrev_f16_e32 v14, v0, v2", SUBREV},
                                  {"v_mul_f16_e32 v16, v0, v2", MUL}, {"v_fma_f16 v18, v0, v2, v4", FMA}, {"v_fmac_f16_e32 v20, v0, v2", FMAC}}},
    };
    std::mt19937_64 random(11);
    for (const Family &family : families) {
        const Format &f = *family.format;
        std::string text;
        for (const Line &l : family.lines) text += std::string(l.text) + "\n";
        Snippet t(family.target, text);
        for (u32 round = 0; round < 4; round++)
            for (u32 denormals = 0; denormals < 4; denormals++)
                for (int repeat = 0; repeat < 8; repeat++) {
                    bool wide = f.bits != 32;
                    /* The other pair of fields says something else. */
                    t.wave->mode = 0x300 | (wide ? round << 2 | denormals << 6 | (3 - round) : round | denormals << 4 | (3 - round) << 2);
                    for (u32 l = 0; l < t.lanes(); l++) {
                        for (u32 k = 0; k < 6; k += 2) put(t, k, l, odd_number(random, f), f);
                        put(t, 20, l, got(t, 4, l, f), f);
                    }
                    t.go();
                    for (u32 l = 0; l < t.lanes(); l++)
                        for (u32 k = 0; k < family.lines.size(); k++) {
                            u64 a = got(t, 0, l, f), b = got(t, 2, l, f), c = got(t, 4, l, f);
                            u64 want = arithmetic(family.lines[k].op, f, a, b, c, round, !(denormals & 1), !(denormals & 2));
                            u64 have = got(t, 10 + 2 * k, l, f);
                            /* v_add_f64 with a negated NaN gives the negated NaN. */
                            if (f.bits == 64 && f.is_nan(want) && f.is_nan(have)) continue;
                            ASSERT_EQ(have, want) << family.target << " " << family.lines[k].text << " round " << round << " denormals " << denormals << std::hex
                                                  << " of " << a << " " << b << " " << c;
                        }
                }
    }
}

/* Where rounding to double first and then to f16 goes wrong. */
TEST(SimValuFloat, HalfFmaRoundsOnce)
{
    Snippet t("gfx1100", "v_fma_f16 v3, v0, v1, v2\nv_pk_fma_f16 v4, v0, v1, v2");
    std::mt19937_64 random(12);
    for (int round = 0; round < 300; round++) {
        for (u32 l = 0; l < 32; l++) {
            t.v(0, l) = static_cast<u32>(0x3c00 + random() % 1024), t.v(1, l) = static_cast<u32>(0x0400 * (1 + random() % 8) + random() % 1024);
            t.v(2, l) = static_cast<u32>(0x7800 - random() % 0x800) | (random() & 1 ? 0x8000 : 0);
        }
        t.go();
        for (u32 l = 0; l < 32; l++) {
            u64 want = arithmetic(FMA, f16_format, t.v(0, l), t.v(1, l), t.v(2, l), 0, false, false);
            ASSERT_EQ(t.v(3, l), want);
            ASSERT_EQ(t.v(4, l) & 0xffff, want);
        }
    }
}

TEST(SimValuFloat, Modifiers)
{
    Snippet t("gfx1100", "v_add_f32_e64 v2, |v0|, -v1\nv_add_f32_e64 v3, v0, v1 clamp\nv_add_f32_e64 v4, v0, v1 mul:4\nv_mul_f32_e64 v5, v0, -|v1| div:2\n"
                         "v_max_f32_e64 v6, v0, v0 clamp\nv_fma_f32 v7, v0, v1, -v0 clamp\nv_add_f16_e64 v8.l, |v0.h|, -v1.h clamp");
    t.wave->mode = 0xc0 | 0x100;         /* f32 flushed, IEEE off: omod counts */
    t.set_vf(0, 0, -3), t.set_vf(1, 0, 5), t.set_vf(0, 1, 0.25), t.set_vf(1, 1, 0.5), t.v(0, 2) = 0x7fc00001, t.set_vf(1, 2, 1), t.set_vf(0, 3, 1), t.set_vf(1, 3, -1);
    t.go();
    EXPECT_EQ(t.vf(2, 0), -2);
    EXPECT_EQ(t.vf(3, 0), 1);
    EXPECT_EQ(t.vf(4, 0), 8);
    EXPECT_EQ(t.vf(5, 0), 7.5);
    EXPECT_EQ(t.v(6, 0), 0u);
    EXPECT_EQ(t.vf(3, 1), 0.75);
    EXPECT_EQ(t.vf(4, 1), 3);
    EXPECT_EQ(t.vf(5, 1), -0.0625);
    EXPECT_EQ(t.vf(6, 1), 0.25);
    EXPECT_EQ(t.v(7, 1), 0u);
    EXPECT_EQ(t.v(3, 2), 0u);
    EXPECT_EQ(t.v(6, 2), 0u);
    EXPECT_EQ(t.v(2, 2), 0x7fc00001u);
    EXPECT_EQ(t.v(4, 3), 0u) << "omod makes -0 to +0";
    t.wave->mode = 0xc0;                 /* DX10_CLAMP off: NaN stays */
    t.go();
    EXPECT_EQ(t.v(3, 2), 0x7fc00001u);
    t.wave->mode = 0x1f0;                /* denormals allowed: omod does not count */
    t.go();
    EXPECT_EQ(t.vf(4, 0), 2);
    t.wave->mode = 0x3c0;                /* IEEE: nor here */
    t.go();
    EXPECT_EQ(t.vf(4, 0), 2);
}

struct MinMax { u32 a, b, min_ieee, max_ieee, min, max; };

TEST(SimValuFloat, LeastAndGreatest)
{
    /* Results with MODE.IEEE and without, as RDNA3's pseudo-code gives them. */
    const MinMax rows[] = {
        {0x00000000, 0x80000000, 0x80000000, 0x00000000, 0x80000000, 0x00000000}, {0x80000000, 0x00000000, 0x80000000, 0x00000000, 0x80000000, 0x00000000},
        {0x3f800000, 0xc0000000, 0xc0000000, 0x3f800000, 0xc0000000, 0x3f800000}, {0x7fc00001, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000},
        {0x3f800000, 0xffc00001, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000}, {0x7f800001, 0x3f800000, 0x7fc00001, 0x7fc00001, 0x3f800000, 0x3f800000},
        {0x3f800000, 0x7f800002, 0x7fc00002, 0x7fc00002, 0x3f800000, 0x3f800000}, {0x7fc00005, 0x7fc00006, 0x7fc00005, 0x7fc00005, 0x7fc00005, 0x7fc00005},
        {0xff800000, 0x7f800000, 0xff800000, 0x7f800000, 0xff800000, 0x7f800000}, {0x00000001, 0x80000001, 0x80000001, 0x00000001, 0x80000001, 0x00000001},
    };
    Snippet rdna3("gfx1100", "v_min_f32_e32 v2, v0, v1\nv_max_f32_e32 v3, v0, v1"), cdna3("gfx942", "v_min_f32_e32 v2, v0, v1\nv_max_f32_e32 v3, v0, v1");
    Snippet rdna4("gfx1201", "v_min_num_f32_e32 v2, v0, v1\nv_max_num_f32_e32 v3, v0, v1\nv_minimum_f32 v4, v0, v1\nv_maximum_f32 v5, v0, v1");
    for (const MinMax &r : rows) {
        for (Snippet *t : {&rdna3, &cdna3, &rdna4}) t->v(0, 0) = r.a, t->v(1, 0) = r.b;
        rdna3.wave->mode = 0x3f0, rdna3.go();
        EXPECT_EQ(rdna3.v(2, 0), r.min_ieee) << std::hex << r.a << " " << r.b;
        EXPECT_EQ(rdna3.v(3, 0), r.max_ieee) << std::hex << r.a << " " << r.b;
        rdna3.wave->mode = 0x1f0, rdna3.go();
        EXPECT_EQ(rdna3.v(2, 0), r.min);
        EXPECT_EQ(rdna3.v(3, 0), r.max);
        bool both = f32_format.is_nan(r.a) && f32_format.is_nan(r.b);
        cdna3.wave->mode = 0x3f0, cdna3.go();
        EXPECT_EQ(cdna3.v(2, 0), both ? r.b : r.min_ieee);
        rdna4.go();
        EXPECT_EQ(rdna4.v(2, 0), both ? r.a : r.min);
        EXPECT_EQ(rdna4.v(3, 0), both ? r.a : r.max);
        u32 nan = f32_format.is_nan(r.a) ? r.a : f32_format.is_nan(r.b) ? r.b : 0;
        EXPECT_EQ(rdna4.v(4, 0), nan ? nan | 0x400000 : r.min);
        EXPECT_EQ(rdna4.v(5, 0), nan ? nan | 0x400000 : r.max);
    }
    Snippet three("gfx1100", "v_min3_f32 v3, v0, v1, v2\nv_max3_f32 v4, v0, v1, v2\nv_med3_f32 v5, v0, v1, v2\nv_minmax_f32 v6, v0, v1, v2\nv_maxmin_f32 v7, v0, v1, v2\n"
                             "v_med3_f16 v8.l, v0.h, v1.h, v2.h");
    float x[] = {-1, 5, 2};
    for (u32 l = 0; l < 6; l++) {        /* all orders */
        u32 a = l / 2, b = (a + 1 + l % 2) % 3;
        three.set_vf(0, l, x[a]), three.set_vf(1, l, x[b]), three.set_vf(2, l, x[3 - a - b]);
    }
    three.set_vf(0, 6, 3), three.v(1, 6) = 0x7fc00000, three.set_vf(2, 6, 1);
    three.go();
    for (u32 l = 0; l < 6; l++) {
        EXPECT_EQ(three.vf(3, l), -1);
        EXPECT_EQ(three.vf(4, l), 5);
        EXPECT_EQ(three.vf(5, l), 2);
        float a = three.vf(0, l), b = three.vf(1, l), c = three.vf(2, l);
        EXPECT_EQ(three.vf(6, l), std::fmax(std::fmin(a, b), c));
        EXPECT_EQ(three.vf(7, l), std::fmin(std::fmax(a, b), c));
        EXPECT_EQ(three.v(8, l), 0x4000u);
    }
    EXPECT_EQ(three.vf(5, 6), 1);
}

TEST(SimValuFloat, ToIntegral)
{
    const char *text = "v_trunc_f32_e32 v1, v0\nv_ceil_f32_e32 v2, v0\nv_floor_f32_e32 v3, v0\nv_rndne_f32_e32 v4, v0\nv_fract_f32_e32 v5, v0\n"
                       "v_frexp_mant_f32_e32 v6, v0\nv_frexp_exp_i32_f32_e32 v7, v0\nv_cvt_f64_f32_e32 v[8:9], v0\nv_trunc_f64_e32 v[10:11], v[8:9]\n"
                       "v_ceil_f64_e32 v[12:13], v[8:9]\nv_floor_f64_e32 v[14:15], v[8:9]\nv_rndne_f64_e32 v[16:17], v[8:9]\nv_fract_f64_e32 v[18:19], v[8:9]\n"
                       "v_frexp_mant_f64_e32 v[20:21], v[8:9]\nv_frexp_exp_i32_f64_e32 v22, v[8:9]";
    std::mt19937_64 random(13);
    for (const char *target : {"gfx1100", "gfx942"}) {
        Snippet t(target, text);
        for (u32 mode : {0x1f0u, 0x1f0u | 5u, 0x1f0u | 10u, 0x1f0u | 15u})
            for (int round = 0; round < 50; round++) {
                t.wave->mode = mode;
                for (u32 l = 0; l < t.lanes(); l++) {
                    u32 x = static_cast<u32>(odd_number(random, f32_format));
                    if (l % 4 == 0) x = bits_of(static_cast<float>(static_cast<int>(random() % 64) - 32) / 4);
                    t.v(0, l) = f32_format.is_nan(x) ? 0x7fc00000 : x;
                }
                t.go();
                for (u32 l = 0; l < t.lanes(); l++) {
                    double a = static_cast<double>(t.vf(0, l)), d;
                    auto check = [&](u32 row, u32 wide, double want) {
                        if (std::isnan(want)) {
                            EXPECT_TRUE(std::isnan(t.vf(row, l)));
                            return;
                        }
                        EXPECT_EQ(t.v(row, l), bits_of(static_cast<float>(want))) << row << " of " << a;
                        EXPECT_EQ(t.v64(wide, l), bits_of(want)) << wide << " of " << a;
                    };
                    check(1, 10, std::trunc(a)), check(2, 12, std::ceil(a)), check(3, 14, std::floor(a)), check(4, 16, std::nearbyint(a));
                    d = std::isinf(a) ? NAN : a - std::floor(a);
                    if (std::isnan(d)) {
                        EXPECT_TRUE(std::isnan(t.vf(5, l)));
                    } else {
                        EXPECT_LT(t.vf(5, l), 1.0f);
                        EXPECT_NEAR(t.vf(5, l), d, 0x1p-23);
                    }
                    int e = 0;
                    double m = std::isfinite(a) ? std::frexp(a, &e) : a;
                    check(6, 20, m);
                    EXPECT_EQ(t.v(7, l), static_cast<u32>(e));
                    EXPECT_EQ(t.v(22, l), static_cast<u32>(e));
                }
            }
    }
}

TEST(SimValuFloat, Scale)
{
    Snippet t("gfx1100", "v_ldexp_f32 v4, v0, v3\nv_ldexp_f64 v[6:7], v[8:9], v3\nv_ldexp_f16_e32 v5.l, v0.h, v3.l");
    std::mt19937_64 random(14);
    for (u32 round = 0; round < 4; round++)
        for (int repeat = 0; repeat < 50; repeat++) {
            t.wave->mode = 0x1f0 | round * 5;
            for (u32 l = 0; l < 32; l++) {
                t.v(0, l) = static_cast<u32>(odd_number(random, f32_format)), t.set_v64(8, l, odd_number(random, f64_format));
                t.v(3, l) = static_cast<u32>(static_cast<int>(random() % 600) - 300) * (l % 5 == 0 ? 7 : 1);
            }
            t.go();
            for (u32 l = 0; l < 32; l++) {
                struct { u64 x, r; const Format &f; } rows[] = {{t.v(0, l), t.v(4, l), f32_format}, {t.v64(8, l), t.v64(6, l), f64_format}, {t.v(0, l) >> 16, t.v(5, l) & 0xffff, f16_format}};
                for (auto &row : rows) {
                    if (row.f.is_nan(row.x)) continue;
                    Real r;
                    set_bits(r, row.x, row.f);
                    mpfr_mul_2si(r.x, r.x, static_cast<int32_t>(t.v(3, l)), MPFR_RNDN);
                    EXPECT_EQ(row.r, round_bits(r, row.f, mode_rounding[round])) << std::hex << row.x << " " << t.v(3, l);
                }
            }
        }
}

/* The sequence that LLVM emits gives correctly rounded quotients for every pair of numbers, save where the divisor's significand is
 * all ones (Markstein's theorem excludes these; ptx/lib treats them apart). */
TEST(SimValuFloat, Division)
{
    const char *const f32_text =
        "v_div_scale_f32 v2, vcc_lo, v1, v1, v0\nv_div_scale_f32 v3, vcc_lo, v0, v1, v0\nv_rcp_f32_e32 v4, v2\nv_fma_f32 v5, -v2, v4, 1.0\nv_fmac_f32_e32 v4, v5, v4\n"
        "v_mul_f32_e32 v5, v3, v4\nv_fma_f32 v6, -v2, v5, v3\nv_fmac_f32_e32 v5, v6, v4\nv_fma_f32 v2, -v2, v5, v3\nv_div_fmas_f32 v2, v2, v4, v5\nv_div_fixup_f32 v2, v2, v1, v0";
    const char *const f64_text =
        "v_div_scale_f64 v[4:5], s[2:3], v[2:3], v[2:3], v[0:1]\nv_div_scale_f64 v[10:11], vcc, v[0:1], v[2:3], v[0:1]\nv_rcp_f64_e32 v[6:7], v[4:5]\n"
        "v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0\nv_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]\nv_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0\nv_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]\n"
        "v_mul_f64 v[8:9], v[10:11], v[6:7]\nv_fma_f64 v[4:5], -v[4:5], v[8:9], v[10:11]\nv_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[8:9]\n"
        "v_div_fixup_f64 v[4:5], v[4:5], v[2:3], v[0:1]";
    std::mt19937_64 random(15);
    Snippet t("gfx1100", f32_text), d("gfx942", f64_text);
    for (int round = 0; round < 2000; round++) {
        for (u32 l = 0; l < 32; l++)
            for (u32 k = 0; k < 2; k++) t.v(k, l) = static_cast<u32>(odd_number(random, f32_format));
        for (u32 l = 0; l < 64; l++)
            for (u32 k = 0; k < 2; k++) d.set_v64(2 * k, l, odd_number(random, f64_format));
        t.go(), d.go();
        for (u32 l = 0; l < 32; l++) {
            volatile float a = t.vf(0, l), b = t.vf(1, l);
            volatile float q = a / b;
            if ((~t.v(1, l) & 0x7fffff) == 0) continue;
            if (std::isnan(q)) {
                ASSERT_TRUE(std::isnan(t.vf(2, l)));
            } else {
                ASSERT_EQ(t.v(2, l), bits_of(+q)) << a << " / " << b;
            }
        }
        for (u32 l = 0; l < 64; l++) {
            double a, b;
            u64 x = d.v64(0, l), y = d.v64(2, l);
            memcpy(&a, &x, 8), memcpy(&b, &y, 8);
            volatile double p = a, n = b;
            volatile double q = p / n;
            if ((~y & 0xfffffffffffff) == 0) continue;
            if (std::isnan(q)) {
                ASSERT_TRUE(f64_format.is_nan(d.v64(4, l)));
            } else {
                ASSERT_EQ(d.v64(4, l), bits_of(+q)) << a << " / " << b;
            }
        }
    }
}

TEST(SimValuFloat, DivisionSteps)
{
    Snippet t("gfx1100", "v_div_scale_f32 v3, s2, v0, v1, v2\nv_div_fmas_f32 v4, v0, v1, v2\nv_div_fixup_f32 v5, v0, v1, v2");
    auto scale = [&](float s0, float s1, float s2) { t.set_vf(0, 0, s0), t.set_vf(1, 0, s1), t.set_vf(2, 0, s2), t.go(); return t.vf(3, 0); };
    t.set_exec(1);
    EXPECT_EQ(scale(3, 3, 2), 3);
    EXPECT_EQ(t.s(2), 0u);
    EXPECT_EQ(scale(2, 3, 2), 2);
    EXPECT_EQ(t.s(2), 0u);
    EXPECT_EQ(scale(0x1p-20f, 0x1p-20f, 0x1p100f), 0x1p44f);
    EXPECT_EQ(t.s(2), 1u);
    EXPECT_EQ(scale(0x1p100f, 0x1p-20f, 0x1p100f), 0x1p100f);
    EXPECT_EQ(t.s(2), 1u);
    EXPECT_EQ(scale(0x1p-140f, 0x1p-140f, 1), 0x1p-76f);
    EXPECT_EQ(scale(0x1p-60f, 0x1p80f, 0x1p-60f), 0x1p4f);
    EXPECT_EQ(t.s(2), 1u);
    EXPECT_EQ(scale(0x1p-120f, 2, 0x1p-120f), 0x1p-56f);
    EXPECT_EQ(t.s(2), 0u);
    EXPECT_TRUE(std::isnan(scale(1, 0, 1)));
    t.s(SIM_VCC) = 1;
    scale(1, 1, 2);
    EXPECT_EQ(t.vf(4, 0), 3 * 0x1p64f);
    scale(2, 3, 1);
    EXPECT_EQ(t.vf(4, 0), 7 * 0x1p-64f);
    t.s(SIM_VCC) = 0;
    scale(2, 3, 1);
    EXPECT_EQ(t.vf(4, 0), 7);
    scale(7, 0, 0);
    EXPECT_EQ(t.v(5, 0), 0xffc00000u);
    scale(7, -0.0f, 2);
    EXPECT_EQ(t.vf(5, 0), -INFINITY);
    scale(7, INFINITY, -2);
    EXPECT_EQ(t.v(5, 0), 0x80000000u);
    scale(7, -3, -2);
    EXPECT_EQ(t.vf(5, 0), 7);
    scale(NAN, 0x1p-100f, 0x1p100f);
    EXPECT_EQ(t.vf(5, 0), INFINITY);
}

TEST(SimValuFloat, Legacy)
{
    Snippet t("gfx1100", "v_mul_dx9_zero_f32_e32 v3, v0, v1\nv_fma_dx9_zero_f32 v4, v0, v1, v2\nv_mullit_f32 v5, v0, v1, v2\nv_cubeid_f32 v6, v0, v1, v2\n"
                         "v_cubema_f32 v7, v0, v1, v2\nv_cubesc_f32 v8, v0, v1, v2\nv_cubetc_f32 v9, v0, v1, v2");
    t.set_vf(0, 0, 0), t.set_vf(1, 0, INFINITY), t.set_vf(2, 0, 3);
    t.set_vf(0, 1, 1), t.set_vf(1, 1, -4), t.set_vf(2, 1, 2);
    t.set_vf(0, 2, 2), t.set_vf(1, 2, 3), t.set_vf(2, 2, -5);
    t.go();
    EXPECT_EQ(t.vf(3, 0), 0);
    EXPECT_EQ(t.vf(4, 0), 3);
    EXPECT_EQ(t.vf(3, 1), -4);
    EXPECT_EQ(t.vf(4, 1), -2);
    EXPECT_EQ(t.vf(5, 1), -4);
    EXPECT_EQ(t.vf(6, 1), 3);
    EXPECT_EQ(t.vf(7, 1), -8);
    EXPECT_EQ(t.vf(8, 1), 1);
    EXPECT_EQ(t.vf(9, 1), -2);
    EXPECT_EQ(t.vf(5, 2), -0x1.fffffep127f);
    EXPECT_EQ(t.vf(6, 2), 5);
    EXPECT_EQ(t.vf(7, 2), -10);
    EXPECT_EQ(t.vf(8, 2), -2);
    EXPECT_EQ(t.vf(9, 2), -3);
    Snippet mad("gfx90a", "v_mad_f32 v3, v0, v1, v2\nv_fma_f32 v4, v0, v1, v2");
    mad.set_vf(0, 0, 1 + 0x1p-12f), mad.set_vf(1, 0, 1 + 0x1p-12f), mad.set_vf(2, 0, -1);
    mad.go();
    EXPECT_EQ(mad.vf(3, 0), 0x1p-11f);
    EXPECT_EQ(mad.vf(4, 0), 0x1p-11f + 0x1p-24f);
}

/* Parts of 2/pi: three segments hold its first 159 bits. */
TEST(SimValuFloat, TrigPreop)
{
    Snippet t("gfx1100", "v_trig_preop_f64 v[2:3], v[0:1], 0\nv_trig_preop_f64 v[4:5], v[0:1], 1\nv_trig_preop_f64 v[6:7], v[0:1], 2");
    for (double argument : {1.0, 0x1p60, 0x1p300, 0x1p1000}) {
        t.set_v64(0, 0, bits_of(argument)), t.go();
        Real pi, sum, part;
        mpfr_const_pi(pi.x, MPFR_RNDN), mpfr_ui_div(pi.x, 2, pi.x, MPFR_RNDN);
        for (u32 row : {2u, 4u, 6u}) {
            u64 bits = t.v64(row, 0);
            double d;
            memcpy(&d, &bits, 8);
            mpfr_add_d(sum.x, sum.x, d, MPFR_RNDN);
        }
        int exponent = std::ilogb(argument) + 1023, dropped = exponent > 1077 ? exponent - 1077 : 0, extra = exponent >= 1968 ? 128 : 0;
        /* sum * 2^-extra is the fraction of 2/pi * 2^dropped, times 2^-dropped, cut to 159 bits. */
        mpfr_mul_2si(pi.x, pi.x, dropped, MPFR_RNDN), mpfr_frac(pi.x, pi.x, MPFR_RNDN), mpfr_mul_2si(pi.x, pi.x, 159, MPFR_RNDN), mpfr_trunc(pi.x, pi.x);
        mpfr_mul_2si(sum.x, sum.x, 159 + dropped - extra, MPFR_RNDN);
        EXPECT_TRUE(mpfr_equal_p(pi.x, sum.x)) << argument;
    }
}

} // namespace
