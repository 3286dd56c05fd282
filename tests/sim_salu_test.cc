/* Scalar ALU of the AMD simulator: each instruction over edge values and random ones, against expectations written
 * here from the ISA documents, with the names of gfx9, gfx11 and gfx12. */
#include "tests/sim_harness.h"
#include <cmath>
#include <functional>
#include <random>

namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

struct Op {
    const char *gfx9, *gfx11, *gfx12; /* names; NULL: does not exist */
    int d, a, b;                      /* widths; b 0: one source; d 0: a comparison */
    /* Result; *scc holds SCC before and after. */
    std::function<u64(u64 a, u64 b, bool *scc)> expected;
};

std::string reg(u32 first, int width)
{
    return width == 32 ? "s" + std::to_string(first) : "s[" + std::to_string(first) + ":" + std::to_string(first + 1) + "]";
}

std::vector<u64> values(int width, std::mt19937_64 &random)
{
    std::vector<u64> v = {0, 1, 2, 5, 31, 32, 33, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x12345678, 0x00050003, 0x00200000,
                          0x00400010, 0x0008001c, 0x007f0020};
    if (width == 64)
        for (u64 x : {0x7fffffffffffffffull, 0x8000000000000000ull, 0xffffffffffffffffull, 0x100000000ull, 0xf0f0000000000001ull})
            v.push_back(x);
    for (int k = 0; k < 8; k++)
        v.push_back(width == 64 ? random() : static_cast<u32>(random()));
    return v;
}

const char *name_for(const Op &op, const std::string &target)
{
    return target == "gfx942" ? op.gfx9 : target == "gfx1100" ? op.gfx11 : op.gfx12;
}

/* One code object holds a function for each instruction. */
void check(const std::string &target, const std::vector<Op> &ops)
{
    std::string text = "s_endpgm\n";
    for (size_t k = 0; k < ops.size(); k++) {
        const Op &op = ops[k];
        if (!name_for(op, target))
            continue;
        std::string f = "f" + std::to_string(k);
        text += ".globl " + f + "\n.type " + f + ",@function\n" + f + ":\n" + name_for(op, target) + " ";
        if (op.d)
            text += reg(6, op.d) + ", ";
        text += reg(2, op.a) + (op.b ? ", " + reg(4, op.b) : "") + "\ns_endpgm\n";
    }
    Snippet s(target, text);
    ASSERT_NE(s.module, nullptr);
    std::mt19937_64 random(7);
    for (size_t k = 0; k < ops.size(); k++) {
        const Op &op = ops[k];
        if (!name_for(op, target))
            continue;
        int failures = 0;
        for (u64 a : values(op.a, random))
            for (u64 b : op.b ? values(op.b, random) : std::vector<u64>{0})
                for (bool before : {false, true}) {
                    if (failures > 3)
                        continue;
                    const u64 old = 0x1111222233334444;
                    s.set_s64(2, a);
                    s.set_s64(4, b);
                    s.set_s64(6, old);
                    s.wave->scc = before;
                    ASSERT_EQ(sim_run_snippet(s.module, ("f" + std::to_string(k)).c_str(), s.wave, &s.error), SIM_OK)
                        << s.error.instruction << ": " << s.error.reason;
                    bool scc = before;
                    u64 want = op.expected(a, b, &scc);
                    if (op.d == 32)
                        want = (want & 0xffffffff) | (old & 0xffffffff00000000);
                    if (!op.d)
                        want = old;
                    EXPECT_EQ(s.s64(6), want) << name_for(op, target) << " " << std::hex << a << " " << b;
                    EXPECT_EQ(s.wave->scc, scc) << name_for(op, target) << " SCC " << std::hex << a << " " << b;
                    failures += s.s64(6) != want || s.wave->scc != scc;
                }
    }
}

Op same(const char *name, int d, int a, int b, std::function<u64(u64, u64, bool *)> f) { return {name, name, name, d, a, b, f}; }

/* Sets SCC when the result is not 0. */
template <class F> std::function<u64(u64, u64, bool *)> nonzero(F f, u64 mask)
{
    return [f, mask](u64 a, u64 b, bool *scc) {
        u64 d = f(a, b) & mask;
        *scc = d != 0;
        return d;
    };
}
template <class F> std::function<u64(u64, u64, bool *)> keep(F f)
{
    return [f](u64 a, u64 b, bool *) { return static_cast<u64>(f(a, b)); };
}

const u64 M32 = 0xffffffff, M64 = ~0ull;

i64 s32(u64 x) { return static_cast<i32>(x); }

u64 ref_bfe(u64 v, u32 where, int bits, bool sign)
{
    u32 offset = where & static_cast<u32>(bits - 1), width = where >> 16 & 0x7f;
    u64 r = 0;
    bool last = false;
    for (u32 k = 0; k < 64; k++) {
        if (k < width && offset + k < static_cast<u32>(bits)) {
            last = v >> (offset + k) & 1;
            r |= static_cast<u64>(last) << k;
        } else if (sign && width) {
            r |= static_cast<u64>(last) << k;
        }
    }
    return r;
}

int ref_first(u64 v, int bits, bool one, bool from_top)
{
    for (int k = 0; k < bits; k++)
        if ((v >> (from_top ? bits - 1 - k : k) & 1) == (one ? 1u : 0u))
            return k;
    return -1;
}

int ref_sign_run(u64 v, int bits)
{
    for (int k = 1; k < bits; k++)
        if ((v >> (bits - 1 - k) & 1) != (v >> (bits - 1) & 1))
            return k;
    return -1;
}

int ref_count(u64 v, int bits)
{
    int n = 0;
    for (int k = 0; k < bits; k++)
        n += v >> k & 1;
    return n;
}

std::vector<Op> arithmetic()
{
    auto overflow = [](i64 exact, bool *scc) {
        *scc = exact != static_cast<i32>(exact);
        return static_cast<u64>(exact);
    };
    return {
        {"s_add_u32", "s_add_u32", "s_add_co_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { *c = (a + b) >> 32; return a + b; }},
        {"s_sub_u32", "s_sub_u32", "s_sub_co_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { *c = b > a; return a - b; }},
        {"s_addc_u32", "s_addc_u32", "s_add_co_ci_u32", 32, 32, 32,
         [](u64 a, u64 b, bool *c) { u64 d = a + b + *c; *c = d >> 32; return d; }},
        {"s_subb_u32", "s_subb_u32", "s_sub_co_ci_u32", 32, 32, 32,
         [](u64 a, u64 b, bool *c) { u64 d = a - b - *c; *c = b + *c > a; return d; }},
        {"s_add_i32", "s_add_i32", "s_add_co_i32", 32, 32, 32, [=](u64 a, u64 b, bool *c) { return overflow(s32(a) + s32(b), c); }},
        {"s_sub_i32", "s_sub_i32", "s_sub_co_i32", 32, 32, 32, [=](u64 a, u64 b, bool *c) { return overflow(s32(a) - s32(b), c); }},
        same("s_min_i32", 32, 32, 32, [](u64 a, u64 b, bool *c) { *c = s32(a) < s32(b); return *c ? a : b; }),
        same("s_max_i32", 32, 32, 32, [](u64 a, u64 b, bool *c) { *c = s32(a) >= s32(b); return *c ? a : b; }),
        same("s_min_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { *c = a < b; return *c ? a : b; }),
        same("s_max_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { *c = a >= b; return *c ? a : b; }),
        same("s_mul_i32", 32, 32, 32, keep([](u64 a, u64 b) { return a * b; })),
        same("s_mul_hi_u32", 32, 32, 32, keep([](u64 a, u64 b) { return a * b >> 32; })),
        same("s_mul_hi_i32", 32, 32, 32, keep([](u64 a, u64 b) { return static_cast<u64>(s32(a) * s32(b)) >> 32; })),
        {nullptr, nullptr, "s_add_nc_u64", 64, 64, 64, keep([](u64 a, u64 b) { return a + b; })},
        {nullptr, nullptr, "s_sub_nc_u64", 64, 64, 64, keep([](u64 a, u64 b) { return a - b; })},
        {nullptr, nullptr, "s_mul_u64", 64, 64, 64, keep([](u64 a, u64 b) { return a * b; })},
        same("s_lshl1_add_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { u64 d = 2 * a + b; *c = d > M32; return d; }),
        same("s_lshl2_add_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { u64 d = 4 * a + b; *c = d > M32; return d; }),
        same("s_lshl3_add_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { u64 d = 8 * a + b; *c = d > M32; return d; }),
        same("s_lshl4_add_u32", 32, 32, 32, [](u64 a, u64 b, bool *c) { u64 d = 16 * a + b; *c = d > M32; return d; }),
        same("s_absdiff_i32", 32, 32, 32, nonzero([](u64 a, u64 b) { i32 d = static_cast<i32>(static_cast<u32>(a - b)); return static_cast<u64>(d < 0 ? -static_cast<i64>(d) : d); }, M32)),
        same("s_abs_i32", 32, 32, 0, nonzero([](u64 a, u64) { return static_cast<u64>(std::llabs(s32(a))); }, M32)),
        same("s_sext_i32_i8", 32, 32, 0, keep([](u64 a, u64) { return (a & 0x80 ? a | 0xffffff00 : a & 0x7f); })),
        same("s_sext_i32_i16", 32, 32, 0, keep([](u64 a, u64) { return (a & 0x8000 ? a | 0xffff0000 : a & 0x7fff); })),
    };
}

std::vector<Op> logic()
{
    std::vector<Op> ops;
    struct L { const char *gfx9, *gfx11; u64 (*f)(u64, u64); };
    static const L list[] = {
        {"s_and", "s_and", [](u64 a, u64 b) { return a & b; }},       {"s_or", "s_or", [](u64 a, u64 b) { return a | b; }},
        {"s_xor", "s_xor", [](u64 a, u64 b) { return a ^ b; }},       {"s_nand", "s_nand", [](u64 a, u64 b) { return ~(a & b); }},
        {"s_nor", "s_nor", [](u64 a, u64 b) { return ~(a | b); }},    {"s_xnor", "s_xnor", [](u64 a, u64 b) { return ~(a ^ b); }},
        {"s_andn2", "s_and_not1", [](u64 a, u64 b) { return a & ~b; }}, {"s_orn2", "s_or_not1", [](u64 a, u64 b) { return a | ~b; }}};
    static std::vector<std::string> names; /* keeps the texts */
    names.reserve(64);
    for (const L &l : list)
        for (int width : {32, 64}) {
            std::string suffix = "_b" + std::to_string(width);
            names.push_back(l.gfx9 + suffix);
            const char *n9 = names.back().c_str();
            names.push_back(l.gfx11 + suffix);
            const char *n11 = names.back().c_str();
            ops.push_back({n9, n11, n11, width, width, width, nonzero(l.f, width == 32 ? M32 : M64)});
        }
    return ops;
}

std::vector<Op> bits()
{
    auto spread = [](u64 a, int quads, bool whole) {
        u64 r = 0;
        for (int q = 0; q < quads; q++)
            if (a >> (4 * q) & 15)
                r |= whole ? 15ull << (4 * q) : 1ull << q;
        return r;
    };
    auto flip = [](u64 a, int n) {
        u64 r = 0;
        for (int k = 0; k < n; k++)
            r = r << 1 | (a >> k & 1);
        return r;
    };
    auto as = [](int v) { return static_cast<u64>(static_cast<u32>(v)); };
    return {
        same("s_lshl_b32", 32, 32, 32, nonzero([](u64 a, u64 b) { return a << (b & 31); }, M32)),
        same("s_lshr_b32", 32, 32, 32, nonzero([](u64 a, u64 b) { return a >> (b & 31); }, M32)),
        same("s_ashr_i32", 32, 32, 32, nonzero([](u64 a, u64 b) { return static_cast<u64>(s32(a) >> (b & 31)); }, M32)),
        same("s_lshl_b64", 64, 64, 32, nonzero([](u64 a, u64 b) { return a << (b & 63); }, M64)),
        same("s_lshr_b64", 64, 64, 32, nonzero([](u64 a, u64 b) { return a >> (b & 63); }, M64)),
        same("s_ashr_i64", 64, 64, 32, nonzero([](u64 a, u64 b) { return static_cast<u64>(static_cast<i64>(a) >> (b & 63)); }, M64)),
        same("s_bfm_b32", 32, 32, 32, keep([](u64 a, u64 b) { return ((1ull << (a & 31)) - 1) << (b & 31); })),
        same("s_bfm_b64", 64, 32, 32, keep([](u64 a, u64 b) { return ((1ull << (a & 63)) - 1) << (b & 63); })),
        same("s_bfe_u32", 32, 32, 32, nonzero([](u64 a, u64 b) { return ref_bfe(a, static_cast<u32>(b), 32, false); }, M32)),
        same("s_bfe_i32", 32, 32, 32, nonzero([](u64 a, u64 b) { return ref_bfe(a, static_cast<u32>(b), 32, true); }, M32)),
        same("s_bfe_u64", 64, 64, 32, nonzero([](u64 a, u64 b) { return ref_bfe(a, static_cast<u32>(b), 64, false); }, M64)),
        same("s_bfe_i64", 64, 64, 32, nonzero([](u64 a, u64 b) { return ref_bfe(a, static_cast<u32>(b), 64, true); }, M64)),
        same("s_pack_ll_b32_b16", 32, 32, 32, keep([](u64 a, u64 b) { return (a & 0xffff) | (b & 0xffff) << 16; })),
        same("s_pack_lh_b32_b16", 32, 32, 32, keep([](u64 a, u64 b) { return (a & 0xffff) | (b >> 16) << 16; })),
        {nullptr, "s_pack_hl_b32_b16", "s_pack_hl_b32_b16", 32, 32, 32, keep([](u64 a, u64 b) { return (a >> 16) | (b & 0xffff) << 16; })},
        same("s_pack_hh_b32_b16", 32, 32, 32, keep([](u64 a, u64 b) { return (a >> 16) | (b >> 16) << 16; })),
        same("s_cselect_b32", 32, 32, 32, [](u64 a, u64 b, bool *c) { return *c ? a : b; }),
        same("s_cselect_b64", 64, 64, 64, [](u64 a, u64 b, bool *c) { return *c ? a : b; }),
        same("s_mov_b32", 32, 32, 0, keep([](u64 a, u64) { return a; })),
        same("s_mov_b64", 64, 64, 0, keep([](u64 a, u64) { return a; })),
        same("s_cmov_b32", 32, 32, 0, [](u64 a, u64, bool *c) -> u64 { return *c ? a : 0x33334444; }),
        same("s_cmov_b64", 64, 64, 0, [](u64 a, u64, bool *c) -> u64 { return *c ? a : 0x1111222233334444; }),
        same("s_not_b32", 32, 32, 0, nonzero([](u64 a, u64) { return ~a; }, M32)),
        same("s_not_b64", 64, 64, 0, nonzero([](u64 a, u64) { return ~a; }, M64)),
        same("s_brev_b32", 32, 32, 0, keep([=](u64 a, u64) { return flip(a, 32); })),
        same("s_brev_b64", 64, 64, 0, keep([=](u64 a, u64) { return flip(a, 64); })),
        same("s_quadmask_b32", 32, 32, 0, nonzero([=](u64 a, u64) { return spread(a, 8, false); }, M32)),
        same("s_quadmask_b64", 64, 64, 0, nonzero([=](u64 a, u64) { return spread(a, 16, false); }, M64)),
        same("s_wqm_b32", 32, 32, 0, nonzero([=](u64 a, u64) { return spread(a, 8, true); }, M32)),
        same("s_wqm_b64", 64, 64, 0, nonzero([=](u64 a, u64) { return spread(a, 16, true); }, M64)),
        same("s_bitreplicate_b64_b32", 64, 32, 0, keep([](u64 a, u64) {
                 u64 r = 0;
                 for (int k = 0; k < 64; k++)
                     r |= (a >> (k / 2) & 1) << k;
                 return r;
             })),
        same("s_bcnt0_i32_b32", 32, 32, 0, nonzero([=](u64 a, u64) { return as(32 - ref_count(a, 32)); }, M32)),
        same("s_bcnt1_i32_b32", 32, 32, 0, nonzero([=](u64 a, u64) { return as(ref_count(a, 32)); }, M32)),
        same("s_bcnt0_i32_b64", 32, 64, 0, nonzero([=](u64 a, u64) { return as(64 - ref_count(a, 64)); }, M32)),
        same("s_bcnt1_i32_b64", 32, 64, 0, nonzero([=](u64 a, u64) { return as(ref_count(a, 64)); }, M32)),
        {"s_ff0_i32_b32", nullptr, nullptr, 32, 32, 0, keep([=](u64 a, u64) { return as(ref_first(a, 32, false, false)); })},
        {"s_ff0_i32_b64", nullptr, nullptr, 32, 64, 0, keep([=](u64 a, u64) { return as(ref_first(a, 64, false, false)); })},
        {"s_ff1_i32_b32", "s_ctz_i32_b32", "s_ctz_i32_b32", 32, 32, 0, keep([=](u64 a, u64) { return as(ref_first(a, 32, true, false)); })},
        {"s_ff1_i32_b64", "s_ctz_i32_b64", "s_ctz_i32_b64", 32, 64, 0, keep([=](u64 a, u64) { return as(ref_first(a, 64, true, false)); })},
        {"s_flbit_i32_b32", "s_clz_i32_u32", "s_clz_i32_u32", 32, 32, 0, keep([=](u64 a, u64) { return as(ref_first(a, 32, true, true)); })},
        {"s_flbit_i32_b64", "s_clz_i32_u64", "s_clz_i32_u64", 32, 64, 0, keep([=](u64 a, u64) { return as(ref_first(a, 64, true, true)); })},
        {"s_flbit_i32", "s_cls_i32", "s_cls_i32", 32, 32, 0, keep([=](u64 a, u64) { return as(ref_sign_run(a, 32)); })},
        {"s_flbit_i32_i64", "s_cls_i32_i64", "s_cls_i32_i64", 32, 64, 0, keep([=](u64 a, u64) { return as(ref_sign_run(a, 64)); })},
        same("s_bitset0_b32", 32, 32, 0, keep([](u64 a, u64) { return 0x33334444ull & ~(1ull << (a & 31)); })),
        same("s_bitset1_b32", 32, 32, 0, keep([](u64 a, u64) { return 0x33334444ull | 1ull << (a & 31); })),
        same("s_bitset0_b64", 64, 32, 0, keep([](u64 a, u64) { return 0x1111222233334444ull & ~(1ull << (a & 63)); })),
        same("s_bitset1_b64", 64, 32, 0, keep([](u64 a, u64) { return 0x1111222233334444ull | 1ull << (a & 63); })),
    };
}

std::vector<Op> comparisons()
{
    auto c = [](const char *name, bool (*f)(u64, u64)) {
        return same(name, 0, 32, 32, [f](u64 a, u64 b, bool *scc) { *scc = f(a, b); return 0ull; });
    };
    auto wide = [](const char *name, int b, bool (*f)(u64, u64)) {
        return same(name, 0, 64, b, [f](u64 x, u64 y, bool *scc) { *scc = f(x, y); return 0ull; });
    };
    return {
        c("s_cmp_eq_i32", [](u64 a, u64 b) { return a == b; }),
        c("s_cmp_lg_i32", [](u64 a, u64 b) { return a != b; }),
        c("s_cmp_eq_u32", [](u64 a, u64 b) { return a == b; }),
        c("s_cmp_lg_u32", [](u64 a, u64 b) { return a != b; }),
        c("s_cmp_gt_i32", [](u64 a, u64 b) { return s32(a) > s32(b); }),
        c("s_cmp_ge_i32", [](u64 a, u64 b) { return s32(a) >= s32(b); }),
        c("s_cmp_lt_i32", [](u64 a, u64 b) { return s32(a) < s32(b); }),
        c("s_cmp_le_i32", [](u64 a, u64 b) { return s32(a) <= s32(b); }),
        c("s_cmp_gt_u32", [](u64 a, u64 b) { return a > b; }),
        c("s_cmp_ge_u32", [](u64 a, u64 b) { return a >= b; }),
        c("s_cmp_lt_u32", [](u64 a, u64 b) { return a < b; }),
        c("s_cmp_le_u32", [](u64 a, u64 b) { return a <= b; }),
        wide("s_cmp_eq_u64", 64, [](u64 a, u64 b) { return a == b; }),
        wide("s_cmp_lg_u64", 64, [](u64 a, u64 b) { return a != b; }),
        c("s_bitcmp0_b32", [](u64 a, u64 b) { return (a >> (b & 31) & 1) == 0; }),
        c("s_bitcmp1_b32", [](u64 a, u64 b) { return (a >> (b & 31) & 1) == 1; }),
        wide("s_bitcmp0_b64", 32, [](u64 a, u64 b) { return (a >> (b & 63) & 1) == 0; }),
        wide("s_bitcmp1_b64", 32, [](u64 a, u64 b) { return (a >> (b & 63) & 1) == 1; }),
    };
}

class Salu : public testing::TestWithParam<const char *> {};
std::string only_name(const testing::TestParamInfo<const char *> &i) { return i.param; }
INSTANTIATE_TEST_SUITE_P(Targets, Salu, testing::Values("gfx942", "gfx1100", "gfx1201"), only_name);

TEST_P(Salu, Arithmetic) { check(GetParam(), arithmetic()); }
TEST_P(Salu, Logic) { check(GetParam(), logic()); }
TEST_P(Salu, BitsAndShifts) { check(GetParam(), bits()); }
TEST_P(Salu, Comparisons) { check(GetParam(), comparisons()); }

TEST_P(Salu, ConstantsOfSixteenBits)
{
    bool gfx12 = std::string(GetParam()) == "gfx1201";
    Snippet s(GetParam(), std::string("s_movk_i32 s0, 0xfffb\n"
                                      "s_mov_b32 s1, 10\n"
                                      "s_mulk_i32 s1, 0xfffd\n"
                                      "s_mov_b32 s2, 0x7fffffff\n") +
                              (gfx12 ? "s_addk_co_i32 s2, 1\n" : "s_addk_i32 s2, 1\n") +
                              "s_cselect_b32 s3, 1, 0\n"
                              "s_mov_b32 s4, 7\n"
                              "s_cmp_eq_u32 s4, 8\n"
                              "s_cmovk_i32 s4, 9\n"
                              "s_cmp_eq_u32 s4, 7\n"
                              "s_cmovk_i32 s4, 0x8000\n"
                              "s_mov_b64 s[6:7], -16\n"
                              "s_mov_b64 s[8:9], 0xffffff00\n"
                              "s_mov_b64 s[10:11], 1.0\n"
                              "s_mov_b32 s12, 0.5\n"
                              "s_ashr_i64 s[14:15], 0x80000000, 4\n"
                              "s_mov_b32 s16, 0x3e22f983\n");
    s.go();
    EXPECT_EQ(s.s(0), 0xfffffffbu);
    EXPECT_EQ(s.s(1), static_cast<u32>(-30));
    EXPECT_EQ(s.s(2), 0x80000000u);
    EXPECT_EQ(s.s(3), 1u) << "signed overflow";
    EXPECT_EQ(s.s(4), 0xffff8000u);
    EXPECT_EQ(s.s64(6), static_cast<u64>(-16));
    EXPECT_EQ(s.s64(8), 0xffffff00u) << "a literal is zero-extended";
    EXPECT_EQ(s.s64(10), 0x3ff0000000000000u);
    EXPECT_EQ(s.s(12), 0x3f000000u);
    EXPECT_EQ(s.s64(14), 0xfffffffff8000000u) << "a literal of a signed operand is sign-extended";
    EXPECT_EQ(s.s(16), 0x3e22f983u);
}

TEST_P(Salu, CompareWithSixteenBits)
{
    if (std::string(GetParam()) == "gfx1201")
        GTEST_SKIP() << "gone in gfx12";
    Snippet s(GetParam(), "s_mov_b32 s20, 0xfffffff0\n"
                          "s_cmpk_lg_i32 s20, 0xfff0\n s_cselect_b32 s0, 1, 0\n"
                          "s_cmpk_eq_i32 s20, 0xfff0\n s_cselect_b32 s1, 1, 0\n"
                          "s_cmpk_eq_u32 s20, 0xfff0\n s_cselect_b32 s2, 1, 0\n"
                          "s_cmpk_gt_u32 s20, 0xfff0\n s_cselect_b32 s3, 1, 0\n"
                          "s_cmpk_gt_i32 s20, 0xffff\n s_cselect_b32 s4, 1, 0\n"
                          "s_cmpk_lt_i32 s20, 0xffff\n s_cselect_b32 s5, 1, 0\n"
                          "s_cmpk_ge_i32 s20, 0xfff0\n s_cselect_b32 s6, 1, 0\n"
                          "s_cmpk_le_u32 s20, 0xfff0\n s_cselect_b32 s7, 1, 0\n"
                          "s_cmpk_ge_u32 s20, 0xfff0\n s_cselect_b32 s8, 1, 0\n"
                          "s_cmpk_lt_u32 s20, 0xfff0\n s_cselect_b32 s9, 1, 0\n"
                          "s_cmpk_le_i32 s20, 0xffef\n s_cselect_b32 s10, 1, 0\n"
                          "s_cmpk_lg_u32 s20, 0xfff0\n s_cselect_b32 s11, 1, 0\n");
    s.go();
    const u32 want[] = {0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1};
    for (u32 k = 0; k < 12; k++)
        EXPECT_EQ(s.s(k), want[k]) << k;
}

/* d is the old EXEC (the new one for wrexec), EXEC and SCC are new. */
TEST_P(Salu, SaveExec)
{
    std::string target = GetParam();
    bool gfx9 = target == "gfx942";
    struct E { const char *gfx9, *gfx11; u64 (*f)(u64, u64); bool saves; };
    const E list[] = {
        {"s_and_saveexec", "s_and_saveexec", [](u64 a, u64 e) { return a & e; }, true},
        {"s_or_saveexec", "s_or_saveexec", [](u64 a, u64 e) { return a | e; }, true},
        {"s_xor_saveexec", "s_xor_saveexec", [](u64 a, u64 e) { return a ^ e; }, true},
        {"s_nand_saveexec", "s_nand_saveexec", [](u64 a, u64 e) { return ~(a & e); }, true},
        {"s_nor_saveexec", "s_nor_saveexec", [](u64 a, u64 e) { return ~(a | e); }, true},
        {"s_xnor_saveexec", "s_xnor_saveexec", [](u64 a, u64 e) { return ~(a ^ e); }, true},
        {"s_andn2_saveexec", "s_and_not1_saveexec", [](u64 a, u64 e) { return a & ~e; }, true},
        {"s_orn2_saveexec", "s_or_not1_saveexec", [](u64 a, u64 e) { return a | ~e; }, true},
        {"s_andn1_saveexec", "s_and_not0_saveexec", [](u64 a, u64 e) { return ~a & e; }, true},
        {"s_orn1_saveexec", "s_or_not0_saveexec", [](u64 a, u64 e) { return ~a | e; }, true},
        {"s_andn1_wrexec", "s_and_not0_wrexec", [](u64 a, u64 e) { return ~a & e; }, false},
        {"s_andn2_wrexec", "s_and_not1_wrexec", [](u64 a, u64 e) { return a & ~e; }, false}};
    std::string text = "s_endpgm\n";
    for (size_t k = 0; k < 12; k++)
        for (int width : {32, 64})
            if (!gfx9 || width == 64) {
                std::string f = "f" + std::to_string(k) + "_" + std::to_string(width);
                text += ".globl " + f + "\n.type " + f + ",@function\n" + f + ":\n" + (gfx9 ? list[k].gfx9 : list[k].gfx11) + "_b" +
                        std::to_string(width) + " " + reg(6, width) + ", " + reg(2, width) + "\ns_endpgm\n";
            }
    Snippet s(target, text);
    const u64 pairs[][2] = {{0xf0f0f0f0f0f0f0f0, 0xff00ff00ff00ff00}, {0, ~0ull}, {~0ull, 0}, {0x00000000ffffffff, 0x123456789abcdef0}};
    for (size_t k = 0; k < 12; k++)
        for (int width : {32, 64})
            for (const auto &p : pairs) {
                if (gfx9 && width == 32)
                    continue;
                u64 mask = width == 32 ? M32 : M64, want = list[k].f(p[0], p[1]) & mask;
                s.set_s64(2, p[0]);
                s.set_exec(p[1]);
                ASSERT_EQ(sim_run_snippet(s.module, ("f" + std::to_string(k) + "_" + std::to_string(width)).c_str(), s.wave, &s.error), SIM_OK);
                EXPECT_EQ(s.s64(SIM_EXEC) & mask, want) << list[k].gfx9 << width;
                EXPECT_EQ(s.s64(6) & mask, (list[k].saves ? p[1] : want) & mask) << list[k].gfx9 << width;
                EXPECT_EQ(s.wave->scc, want != 0) << list[k].gfx9 << width;
            }
}

TEST_P(Salu, RegistersByM0)
{
    Snippet s(GetParam(), "s_mov_b32 m0, 3\n"
                          "s_movrels_b32 s0, s10\n"
                          "s_movreld_b32 s20, s11\n"
                          "s_mov_b32 m0, 4\n"
                          "s_movrels_b64 s[2:3], s[10:11]\n"
                          "s_movreld_b64 s[30:31], s[10:11]\n");
    for (u32 k = 10; k < 20; k++)
        s.s(k) = 100 + k;
    s.go();
    EXPECT_EQ(s.s(0), 113u);
    EXPECT_EQ(s.s(23), 111u);
    EXPECT_EQ(s.s64(2), 114u | 115ull << 32);
    EXPECT_EQ(s.s64(34), 110u | 111ull << 32);
    Snippet far(GetParam(), "s_mov_b32 m0, 200\ns_movrels_b32 s0, s10\n");
    EXPECT_FALSE(far.run());
    EXPECT_EQ(far.error.status, SIM_FAULT_ADDRESS);
}

TEST_P(Salu, SpecialOperands)
{
    bool gfx9 = std::string(GetParam()) == "gfx942";
    Snippet s(GetParam(), std::string("s_mov_b32 vcc_lo, 0x55\n s_mov_b32 vcc_hi, 0x66\n s_mov_b64 s[0:1], vcc\n"
                                      "s_mov_b32 m0, 0x77\n s_mov_b32 s2, m0\n"
                                      "s_mov_b64 s[4:5], src_shared_base\n s_mov_b64 s[6:7], src_private_base\n"
                                      "s_mov_b64 s[8:9], src_shared_limit\n"
                                      "s_cmp_eq_u32 s2, s2\n s_mov_b32 s10, src_scc\n"
                                      "s_mov_b32 s11, exec_lo\n s_mov_b64 s[12:13], exec\n\n") +
                              (gfx9 ? "s_mov_b32 s14, src_vccz\n s_mov_b32 s15, src_execz\n" : "s_mov_b32 s16, null\n s_mov_b64 s[18:19], null\n s_mov_b64 null, s[0:1]\n s_mov_b32 s20, exec_lo\n"));
    s.s(16) = s.s(18) = s.s(19) = 9;
    s.go();
    EXPECT_EQ(s.s64(0), 0x6600000055u);
    EXPECT_EQ(s.s(2), 0x77u);
    EXPECT_EQ(s.s64(4), SIM_SHARED_BASE);
    EXPECT_EQ(s.s64(6), SIM_PRIVATE_BASE);
    EXPECT_EQ(s.s64(8), SIM_SHARED_BASE | 0xffffffff);
    EXPECT_EQ(s.s(10), 1u);
    EXPECT_EQ(s.s(11), 0xffffffffu);
    EXPECT_EQ(s.s(12), 0xffffffffu);
    EXPECT_EQ(s.s(14), 0u);
    EXPECT_EQ(s.s(15), 0u);
    if (gfx9)
        return;
    EXPECT_EQ(s.s(16), 0u);
    EXPECT_EQ(s.s64(18), 0u) << "null reads as 0";
    EXPECT_EQ(s.s(20), 0xffffffffu) << "writing null changes no neighbour";
}

/* ------------------------------------------------------------ floating point of gfx12 */

u32 bits_of(float f)
{
    u32 u;
    memcpy(&u, &f, 4);
    return u;
}

float float_of(u32 u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

TEST(SaluFloat, SumsAndProducts)
{
    Snippet s("gfx1201", "s_add_f32 s10, s0, s1\n s_sub_f32 s11, s0, s1\n s_mul_f32 s12, s0, s1\n s_mov_b32 s13, s2\n"
                         "s_fmac_f32 s13, s0, s1\n s_fmaak_f32 s14, s0, s1, 0x40490fdb\n s_fmamk_f32 s15, s0, 0x40490fdb, s1\n"
                         "s_cmp_lt_f32 s0, s1\n s_cselect_b32 s16, 1, 0\n s_cmp_nlt_f32 s0, s1\n s_cselect_b32 s17, 1, 0\n"
                         "s_cmp_u_f32 s0, s1\n s_cselect_b32 s18, 1, 0\n s_cmp_lg_f32 s0, s1\n s_cselect_b32 s19, 1, 0\n"
                         "s_min_num_f32 s20, s0, s1\n s_max_num_f32 s21, s0, s1\n s_minimum_f32 s22, s0, s1\n s_maximum_f32 s23, s0, s1\n");
    const u32 list[] = {0, 0x80000000, bits_of(1.5f), bits_of(-3.25f), 0x00000001, 0x007fffff, 0x7f800000, 0xff800000, 0x7fc00001, bits_of(1e-30f),
                        bits_of(3e38f), bits_of(0x1.000002p0f)};
    for (u32 a : list)
        for (u32 b : list) {
            float x = float_of(a), y = float_of(b), z = 0.75f, pi = float_of(0x40490fdb);
            s.s(0) = a;
            s.s(1) = b;
            s.s(2) = bits_of(z);
            s.go();
            const float want[] = {x + y, x - y, x * y, std::fmaf(x, y, z), std::fmaf(x, y, pi), std::fmaf(x, pi, y)};
            for (u32 k = 0; k < 6; k++) {
                if (want[k] != want[k])
                    EXPECT_GT(s.s(10 + k) & 0x7fffffff, 0x7f800000u) << k;
                else
                    EXPECT_EQ(s.s(10 + k), bits_of(want[k])) << k << " " << x << " " << y;
            }
            EXPECT_EQ(s.s(16), x < y);
            EXPECT_EQ(s.s(17), !(x < y));
            EXPECT_EQ(s.s(18), x != x || y != y);
            EXPECT_EQ(s.s(19), x < y || x > y);
            bool nx = x != x, ny = y != y;
            auto less = [&] { return x < y || (x == y && a >> 31 > b >> 31); };
            if (nx || ny) {
                if (!(nx && ny)) {
                    EXPECT_EQ(s.s(20), nx ? b : a);
                    EXPECT_EQ(s.s(21), nx ? b : a);
                }
                EXPECT_EQ(s.s(22), 0x7fc00001u);
                EXPECT_EQ(s.s(23), 0x7fc00001u);
            } else {
                EXPECT_EQ(s.s(20), less() ? a : b);
                EXPECT_EQ(s.s(21), less() ? b : a);
                EXPECT_EQ(s.s(22), less() ? a : b);
                EXPECT_EQ(s.s(23), less() ? b : a);
            }
        }
}

TEST(SaluFloat, DenormalsAreFlushedByMode)
{
    Snippet s("gfx1201", "s_add_f32 s10, s0, 0\n s_mul_f32 s11, s1, 0.5\n");
    s.s(0) = 0x80000001;
    s.s(1) = 0x00800000;
    s.wave->mode = 0xf0;
    s.go();
    EXPECT_EQ(s.s(10), 0x80000001u);
    EXPECT_EQ(s.s(11), 0x00400000u);
    s.wave->mode = 0xc0;
    s.go();
    EXPECT_EQ(s.s(10) & 0x7fffffff, 0u);
    EXPECT_EQ(s.s(11), 0u);
}

TEST(SaluFloat, Conversions)
{
    Snippet s("gfx1201", "s_cvt_f32_i32 s10, s0\n s_cvt_f32_u32 s11, s0\n s_cvt_i32_f32 s12, s1\n s_cvt_u32_f32 s13, s1\n"
                         "s_ceil_f32 s14, s1\n s_floor_f32 s15, s1\n s_trunc_f32 s16, s1\n s_rndne_f32 s17, s1\n");
    for (u32 n : {0u, 1u, 0xffffffffu, 0x80000000u, 16777217u, 0x7fffffffu})
        for (float f : {0.0f, -0.0f, 0.5f, 1.5f, 2.5f, -2.5f, -0.25f, 3e9f, -3e9f, 5e9f, 123456.7f}) {
            s.s(0) = n;
            s.s(1) = bits_of(f);
            s.go();
            EXPECT_EQ(s.s(10), bits_of(static_cast<float>(static_cast<i32>(n))));
            EXPECT_EQ(s.s(11), bits_of(static_cast<float>(n)));
            EXPECT_EQ(static_cast<i32>(s.s(12)), f >= 2147483648.0f ? INT32_MAX : f <= -2147483648.0f ? INT32_MIN : static_cast<i32>(f));
            EXPECT_EQ(s.s(13), f <= 0 ? 0 : f >= 4294967296.0f ? UINT32_MAX : static_cast<u32>(f));
            EXPECT_EQ(s.s(14), bits_of(std::ceil(f)));
            EXPECT_EQ(s.s(15), bits_of(std::floor(f)));
            EXPECT_EQ(s.s(16), bits_of(std::trunc(f)));
            EXPECT_EQ(s.s(17), bits_of(std::nearbyint(f)));
        }
}

TEST(SaluFloat, Halves)
{
    Snippet s("gfx1201", "s_add_f16 s10, s0, s1\n s_mul_f16 s11, s0, s1\n s_cvt_f32_f16 s12, s0\n s_cvt_hi_f32_f16 s13, s2\n"
                         "s_cvt_f16_f32 s14, s3\n s_cvt_pk_rtz_f16_f32 s15, s3, s4\n s_cmp_gt_f16 s0, s1\n s_cselect_b32 s16, 1, 0\n"
                         "s_mov_b32 s17, 0x3c00\n s_fmac_f16 s17, s0, s1\n s_floor_f16 s18, s0\n");
    s.s(0) = 0x4100; /* 2.5 */
    s.s(1) = 0xb800; /* -0.5 */
    s.s(2) = 0x3c00dead;
    s.s(3) = bits_of(1.0f + 0x1.8p-10f); /* between 0x3c01 and 0x3c02, in the middle */
    s.s(4) = bits_of(-70000.0f);
    s.go();
    EXPECT_EQ(s.s(10), 0x4000u);
    EXPECT_EQ(s.s(11), 0xbd00u);
    EXPECT_EQ(s.s(12), bits_of(2.5f));
    EXPECT_EQ(s.s(13), bits_of(1.0f));
    EXPECT_EQ(s.s(14), 0x3c02u);
    EXPECT_EQ(s.s(15), 0x3c01u | 0xfbffu << 16);
    EXPECT_EQ(s.s(16), 1u);
    EXPECT_EQ(s.s(17), 0xb400u); /* 1 - 1.25 */
    EXPECT_EQ(s.s(18), 0x4000u);
}

} // namespace
