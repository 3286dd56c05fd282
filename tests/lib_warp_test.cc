/* lib_warp_test.cc - exchanges between lanes against conformance/reference/ref_warp.c: whole warps, and warps split in groups
 * with masks of their own; segments, clamps and distances of all kinds. */
#include <gtest/gtest.h>
#include <cstring>
#include "conformance/reference/ref_warp.h"
#include "lib_levels.h"
#include "lib_width1.h"

/* Shape of a meaning: d destination (w 64-bit source), p predicate result, a b c sources, s predicate source, m mask, x executing lanes. */
#define WARP_MEANINGS(X) \
    X(shfl_up_b32, "dpabcm") X(shfl_down_b32, "dpabcm") X(shfl_bfly_b32, "dpabcm") X(shfl_idx_b32, "dpabcm") \
    X(shfl_up_nosync_b32, "dpabc") X(shfl_down_nosync_b32, "dpabc") X(shfl_bfly_nosync_b32, "dpabc") X(shfl_idx_nosync_b32, "dpabc") \
    X(vote_all_pred, "psm") X(vote_any_pred, "psm") X(vote_uni_pred, "psm") X(vote_ballot_b32, "dsm") \
    X(vote_all_nosync_pred, "psx") X(vote_any_nosync_pred, "psx") X(vote_uni_nosync_pred, "psx") X(vote_ballot_nosync_b32, "dsx") \
    X(match_any_b32, "dam") X(match_any_b64, "dwm") X(match_all_b32, "dpam") X(match_all_b64, "dpwm") \
    X(redux_add_u32, "dam") X(redux_add_s32, "dam") X(redux_min_u32, "dam") X(redux_min_s32, "dam") X(redux_max_u32, "dam") X(redux_max_s32, "dam") \
    X(redux_and_b32, "dam") X(redux_or_b32, "dam") X(redux_xor_b32, "dam") \
    X(redux_min_f32, "dam") X(redux_max_f32, "dam") X(redux_min_abs_f32, "dam") X(redux_max_abs_f32, "dam") \
    X(redux_min_nan_f32, "dam") X(redux_max_nan_f32, "dam") X(redux_min_abs_nan_f32, "dam") X(redux_max_abs_nan_f32, "dam") \
    X(activemask_b32, "dx") X(elect, "dpmx") X(movmatrix_m8n8_trans_b16, "da")

#define DECLARE(name, shape) LIB_DECLARE(name)
WARP_MEANINGS(DECLARE)

namespace {

struct warp_case { const char *name, *shape; lib_handler handlers[LIB_LEVEL_COUNT], width1; };
const warp_case cases[] = {
#define ENTRY(name, shape) {#name, shape, LIB_HANDLERS(name), pxl_width1_##name},
    WARP_MEANINGS(ENTRY)
};

/* Operands: uniform parameters half of the time, as programs have them; values from a small set, so that lanes match. */
ref_warp make(lib_random &r, int round, bool floats)
{
    static const uint32_t numbers[] = {0, 0x80000000u, 0x3f800000u, 0xbf800000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00001u, 1, 0x80000001u, 0x7f7fffffu};
    ref_warp w = {};
    const uint32_t split = round & 1 ? (uint32_t)r.next() : 0xffffffffu;
    w.executing = round % 3 == 2 ? (uint32_t)r.next() | 1u << r.below(32) : 0xffffffffu;
    const uint32_t ub = r.below(40), uc = r.below(4) ? 31u | (32u - (1u << r.below(6))) << 8 : (uint32_t)r.next(), kinds = 1 + r.below(6);
    for (int i = 0; i < 32; i++) {
        w.a[i] = floats ? numbers[r.below(r.below(2) ? 11 : 6)] : r.below(2) ? r.next() : (uint64_t)r.below(kinds) * 0x100000001u;
        if (!floats && round % 5 == 0)
            w.a[i] = round % 2 ? 0x1234567890abcdefu : r.below(kinds) + (r.next() << 32);
        w.b[i] = round & 2 ? ub : (uint32_t)r.next() & 0x3f;
        w.c[i] = round & 4 ? uc : (uint32_t)r.next();
        if (round & 8) w.c[i] = 31;
        w.mask[i] = (split >> i & 1 ? split : ~split) & w.executing;
        w.p[i] = round % 7 == 0 ? true : round % 7 == 1 ? false : r.next() & 1;
    }
    return w;
}

/* Level -1 is width 1. */
void call(const warp_case &c, int level, const ref_warp &w, ref_warp *out)
{
    lib_slots s;
    uint32_t d = 64, p = 64;
    for (const char *k = c.shape; *k; k++) {
        uint32_t e = 0;
        switch (*k) {
        case 'd': d = s.add(4); break;
        case 'p': p = s.add_predicate(); break;
        case 'a': e = s.add(4); for (int i = 0; i < 32; i++) s.at<uint32_t>(e)[i] = (uint32_t)w.a[i]; break;
        case 'w': e = s.add(8); for (int i = 0; i < 32; i++) s.at<uint64_t>(e)[i] = w.a[i]; break;
        case 'b': e = s.add(4); for (int i = 0; i < 32; i++) s.at<uint32_t>(e)[i] = w.b[i]; break;
        case 'c': e = s.add(4); for (int i = 0; i < 32; i++) s.at<uint32_t>(e)[i] = w.c[i]; break;
        case 'm': e = s.add(4); for (int i = 0; i < 32; i++) s.at<uint32_t>(e)[i] = w.mask[i]; break;
        case 's': e = s.add_predicate(); *s.at<uint32_t>(e) = 0; for (int i = 0; i < 32; i++) *s.at<uint32_t>(e) |= (uint32_t)w.p[i] << i; break;
        case 'x': e = s.add_predicate(); *s.at<uint32_t>(e) = w.executing; break;
        }
    }
    if (level < 0) lib_width1::call(c.width1, s);
    else c.handlers[level](s.base, s.offset);
    for (int i = 0; i < 32; i++) {
        if (d < 64) out->d[i] = s.at<uint32_t>(d)[i];
        if (p < 64) out->q[i] = *s.at<uint32_t>(p) >> i & 1;
    }
}

class Warp : public ::testing::TestWithParam<size_t> {};

TEST_P(Warp, EqualsReference)
{
    const warp_case &c = cases[GetParam()];
    lib_random r(GetParam());
    for (int round = 0; round < 20000; round++) {
        ref_warp w = make(r, round, strstr(c.name, "f32") != nullptr), got = w;
        ASSERT_TRUE(ref_warp_eval(c.name, &w));
        for (int level = c.width1 && round < 200 ? -1 : 0; level < LIB_LEVEL_COUNT; level++) {
            if (level >= 0 && !lib_level_runs(level))
                continue;
            const char *which = level < 0 ? "width 1" : lib_level_names[level];
            call(c, level, got, &got);
            for (int i = 0; i < 32; i++) {
                if (!(w.executing >> i & 1))
                    continue;
                if (strchr(c.shape, 'd') && !w.undefined[i]) {
                    ASSERT_EQ(got.d[i], w.d[i]) << c.name << " " << which << " round " << round << " lane " << i;
                }
                if (strchr(c.shape, 'p')) {
                    ASSERT_EQ(got.q[i], w.q[i]) << c.name << " " << which << " round " << round << " lane " << i;
                }
            }
        }
    }
}
INSTANTIATE_TEST_SUITE_P(All, Warp, ::testing::Range((size_t)0, sizeof cases / sizeof *cases),
                         [](const ::testing::TestParamInfo<size_t> &i) { return std::string(cases[i.param].name); });

} // namespace
