/* lib_mma_kinds_test.cc - sparse mma and the .kinds of sm_120, at every level and at width 1, against conformance/reference.
 *
 * Every such meaning of the instruction table is taken. Beside the matrices of `conform` (conformance/mma_inputs.c) there are random
 * bits, NaN and infinities among them, with metadata and selectors that the ISA calls undefined too: what ptxbridge makes of
 * those is written down in ptx/lib/mma_sparse.h and mma_kinds.h. The places of metadata and scales, and what the models do, are
 * also tried on products that can be worked out by hand.
 */
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>
#include "lib_levels.h"
#include "lib_width1.h"

extern "C" {
#include "conformance/mma_inputs.h"
#include "conformance/reference/ref_mma.h"
#include "ptx/isa.h"
#if defined(__x86_64__)
extern const lib_handler pxl_handlers_v2[], pxl_handlers_v3[], pxl_handlers_v4[];
#else
extern const lib_handler pxl_handlers_generic[];
#endif
extern const lib_handler pxl_handlers_width1[];
}

namespace {

#if defined(__x86_64__)
const lib_handler *const handlers[] = {pxl_handlers_v2, pxl_handlers_v3, pxl_handlers_v4};
#else
const lib_handler *const handlers[] = {pxl_handlers_generic};
#endif
const char *const model_names[] = {"ada", "hopper", "blackwell", "ampere", "turing", "volta", "ieee"};

struct meaning { std::string name; ref_mma_shape shape; };
std::vector<meaning> all_meanings()
{
    std::vector<meaning> v;
    for (uint32_t id = 1; id <= isa_meaning_count; id++) {
        ref_mma_shape s;
        if (ref_mma_shape_of(isa_meaning_names[id], &s) && (s.sparse || s.f8f6f4))
            v.push_back({isa_meaning_names[id], s});
    }
    return v;
}
const std::vector<meaning> &meanings()
{
    static const std::vector<meaning> v = all_meanings();
    return v;
}

/* The sources of a warp, in the order of the instruction. */
struct warp {
    ref_mma_shape s;
    uint32_t selector = 0;
    uint64_t r[ISA_MAX_ELEMS][32] = {};

    explicit warp(const ref_mma_shape &shape) : s(shape) {}
    int na() const { return ref_mma_registers(&s, REF_MATRIX_A, false); }
    int nb() const { return ref_mma_registers(&s, REF_MATRIX_B, false); }
    int nc() const { return ref_mma_registers(&s, REF_MATRIX_C, false); }
    uint64_t (*a())[32] { return r; }
    uint64_t (*b())[32] { return r + na(); }
    uint64_t (*c())[32] { return b() + nb(); }
    uint64_t *metadata() { return c()[nc()]; }
    uint64_t *scale(int side, int what) { return c()[nc() + s.sparse + 3 * side + what]; }      /* what: data, byte, thread */
    int sources() const { return na() + nb() + nc() + s.sparse + (s.scales ? 6 : 0); }
};

/* Calls one build of a meaning; level -1 is width 1. */
void call(const char *name, warp &w, int level, uint32_t model, uint64_t (*d)[32])
{
    lib_slots slots;
    const uint32_t id = isa_meaning_id(name);
    const int nd = ref_mma_registers(&w.s, REF_MATRIX_C, true), before = w.na() + w.nb() + w.nc() + w.s.sparse;
    for (int i = 0; i < nd; i++)
        slots.add(4);
    for (int i = 0; i < w.sources(); i++) {
        const bool selector = i >= before && (i - before) % 3 != 0;
        const uint32_t e = slots.add(selector ? 2 : 4);
        for (int lane = 0; lane < 32; lane++) {
            if (selector) slots.at<uint16_t>(e)[lane] = (uint16_t)w.r[i][lane];
            else slots.at<uint32_t>(e)[lane] = (uint32_t)w.r[i][lane];
        }
        if (w.s.sparse && i + 1 == before)
            slots.add_value(w.selector);
    }
    slots.add_value(model);
    if (level < 0) lib_width1::call(pxl_handlers_width1[id], slots);
    else handlers[level][id](slots.base, slots.offset);
    for (int i = 0; i < nd; i++)
        for (int lane = 0; lane < 32; lane++)
            d[i][lane] = slots.at<uint32_t>((uint32_t)i)[lane];
}
void expect(warp &w, uint32_t model, uint64_t (*d)[32])
{
    ref_mma_extra x = {w.s.sparse ? w.metadata() : nullptr, w.selector, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    if (w.s.scales)
        x = {x.metadata, w.selector, w.scale(0, 0), w.scale(0, 1), w.scale(0, 2), w.scale(1, 0), w.scale(1, 1), w.scale(1, 2)};
    ref_mma(&w.s, d, w.a(), w.b(), w.c(), &x, (ref_mma_model)model);
}

/* How many values the selector of a sparse product has. */
uint32_t selectors(const ref_mma_shape &s)
{
    const int bits = s.a == REF_F16 || s.a == REF_BF16 ? 16 : s.a == REF_TF32 ? 32 : s.a == REF_U4 || s.a == REF_S4 || s.a == REF_E2M1X2 ? 4 : 8;
    const int row = s.k * bits / 256;      /* 16 for 16 bits of k 256, …: 1, 2 or 4 threads hold the metadata */
    return bits >= 16 ? (row == 1 ? 4 : 2) : row == 1 ? 2 : 1;
}

enum { RAW, UNDEFINED, THEMES };
void make(warp &w, int mode, conform_random *r)
{
    if (mode >= THEMES) {
        conform_mma_warp(&w.s, mode - THEMES, false, r, w.r);
    } else {
        conform_mma_warp(&w.s, 0, false, r, w.r);
        for (int i = 0; i < w.na() + w.nb() + w.nc(); i++)
            for (int lane = 0; lane < 32; lane++) {
                const uint64_t any = conform_next(r) & 0xffffffff;
                w.r[i][lane] = conform_below(r, 4) ? any & 0xbfbfbfbf : any;
            }
        if (mode == UNDEFINED && w.s.sparse)
            for (int lane = 0; lane < 32; lane++)
                w.metadata()[lane] = conform_next(r) & 0xffffffff;
        for (int side = 0; mode == UNDEFINED && w.s.scales && side < 2; side++)
            for (int what = 1; what < 3; what++)
                for (int lane = 0; lane < 32; lane++)
                    w.scale(side, what)[lane] = conform_next(r) & 0xffff;
    }
    w.selector = w.s.sparse ? conform_below(r, selectors(w.s)) : 0;
}

class MmaKinds : public ::testing::TestWithParam<size_t> {};
TEST_P(MmaKinds, EqualsReference)
{
    const meaning &m = meanings()[GetParam()];
    const bool integer = m.shape.d == REF_S32;
    conform_random r = {GetParam() * 977 + 5};
    for (uint32_t model = 0; model < (integer ? 1 : 7); model++)
        for (int round = 0; round < 2 * (THEMES + conform_mma_themes()); round++) {
            if (m.shape.f8f6f4 && model != REF_ADA && model != REF_IEEE && round > 2)
                break;
            warp w(m.shape);
            uint64_t want[8][32], got[8][32];
            make(w, round % (THEMES + conform_mma_themes()), &r);
            expect(w, model, want);
            for (int level = pxl_handlers_width1[isa_meaning_id(m.name.c_str())] && round < 6 ? -1 : 0; level < LIB_LEVEL_COUNT; level++) {
                if (level >= 0 && !lib_level_runs(level))
                    continue;
                call(m.name.c_str(), w, level, model, got);
                for (int i = 0; i < ref_mma_registers(&m.shape, REF_MATRIX_C, true); i++)
                    for (int lane = 0; lane < 32; lane++)
                        ASSERT_EQ(got[i][lane], want[i][lane]) << m.name << (level < 0 ? " width 1" : lib_level_names[level]) << " model " << model_names[model]
                                                               << " round " << round << ": register " << i << " lane " << lane;
            }
        }
}
INSTANTIATE_TEST_SUITE_P(All, MmaKinds, ::testing::Range((size_t)0, all_meanings().size()),
                         [](const ::testing::TestParamInfo<size_t> &i) { return meanings()[i.param].name.substr(4); });

TEST(MmaKinds, NoneIsForgotten)
{
    /* 8 floating and 8 fp8 sparse forms, 32 of integers, 25 pairs of f8f6f4 in six forms, 3 of fp4 in two. */
    EXPECT_EQ(meanings().size(), 8u + 8 + 32 + 150 + 6);
}

/* ---- by hand ---- */

double f32(uint64_t bits) { const uint32_t b = (uint32_t)bits; float f; memcpy(&f, &b, 4); return f; }
uint32_t bits(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
warp find(const char *name)
{
    for (const meaning &m : meanings())
        if (m.name == name)
            return warp(m.shape);
    ADD_FAILURE() << name;
    return warp(meanings()[0].shape);
}
/* D, 16 by 8, as every build gives it. */
typedef double matrix[16][8];
void product(const char *name, warp &w, uint32_t model, matrix d)
{
    uint64_t first[8][32], other[8][32];
    call(name, w, 0, model, first);
    for (int level = pxl_handlers_width1[isa_meaning_id(name)] ? -1 : 0; level < LIB_LEVEL_COUNT; level++)
        if (level < 0 || lib_level_runs(level)) {
            call(name, w, level, model, other);
            EXPECT_EQ(memcmp(first, other, sizeof first[0] * (size_t)ref_mma_registers(&w.s, REF_MATRIX_C, true)), 0) << name << " level " << level;
        }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            d[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2] = w.s.d == REF_S32 ? (double)(int32_t)first[i][lane] : f32(first[i][lane]);
}

/* A of ones meets a B that is 0 but for the last element of each chunk, q + 1 in chunk q: with indices 0 and 1 everywhere but in one nibble, which
 * has 2 and 3, one row of D is larger by what that chunk adds. thread and nibble give row and chunk as the figures of the ISA
 * show them; ptxas 13.0 reads metadata in the same places where it emulates mma.sp (fp8 for sm_90, .sp for sm_120). */
struct place { uint32_t selector; int thread, nibble, row, chunk; };
void try_places(const char *name, const std::vector<place> &places, uint32_t one, int element_bits, const std::vector<uint32_t> &codes)
{
    warp w = find(name);
    const int per = 32 / element_bits;
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < w.na(); i++)
            for (int e = 0; e < per; e++)
                w.a()[i][lane] |= (uint64_t)one << (e * element_bits);
        for (int i = 0; i < w.nb(); i++)
            for (int e = 0; e < per; e++)
                w.b()[i][lane] |= (uint64_t)codes[(size_t)(i * 4 + lane % 4) * (size_t)per + (size_t)e] << (e * element_bits);
    }
    for (const place &p : places) {
        matrix plain, changed;
        w.selector = p.selector;
        for (int lane = 0; lane < 32; lane++) w.metadata()[lane] = 0x44444444;
        product(name, w, REF_ADA, plain);
        for (int lane = p.thread; lane < 32; lane += 4)
            if (lane / 4 == p.row % 8)
                w.metadata()[lane] = 0x44444444u ^ (0xau << (4 * p.nibble));       /* 0xe */
        product(name, w, REF_ADA, changed);
        for (int row = 0; row < 16; row++)
            for (int n = 0; n < 8; n++)
                EXPECT_EQ(changed[row][n] - plain[row][n], row == p.row ? p.chunk + 1 : 0) << name << " thread " << p.thread << " nibble " << p.nibble << " row " << row;
    }
}
/* That B, as codes. */
std::vector<uint32_t> climbing(int k, int chunk, uint32_t (*code)(int))
{
    std::vector<uint32_t> v;
    for (int i = 0; i < k; i++)
        v.push_back(i % chunk == chunk - 1 ? code(i / chunk + 1) : code(0));
    return v;
}
uint32_t f16_code(int n) { return n ? (uint32_t)(((15 + ilogb(n)) << 10) + (int)ldexp(n, 10 - ilogb(n)) - 1024) : 0; }
uint32_t tf32_code(int n) { return bits((float)n); }
uint32_t byte_code(int n) { return (uint32_t)n; }

TEST(MmaKinds, MetadataOfSixteenBits)
{
    std::vector<place> one, two;
    for (uint32_t f = 0; f < 4; f++)
        for (int i = 0; i < 8; i++)
            one.push_back({f, (int)f, i, i % 2 + 8 * (i / 4), i % 4});
    for (uint32_t f = 0; f < 2; f++)
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < 8; i++)
                two.push_back({f, (int)f * 2 + t, i, 5 - t + 8 * (i / 4), t * 4 + i % 4});
    try_places("mma_sp_m16n8k16_f32_f16_f16_f32", one, 0x3c00, 16, climbing(16, 4, f16_code));
    try_places("mma_sp_m16n8k32_f32_f16_f16_f32", two, 0x3c00, 16, climbing(32, 4, f16_code));
    try_places("mma_sp_m16n8k8_f32_tf32_tf32_f32", one, 0x3f800000, 32, climbing(8, 2, tf32_code));
    try_places("mma_sp_m16n8k16_f32_tf32_tf32_f32", two, 0x3f800000, 32, climbing(16, 2, tf32_code));
}
TEST(MmaKinds, MetadataOfBytes)
{
    std::vector<place> pair, all;
    for (uint32_t f = 0; f < 2; f++)
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < 8; i++)
                pair.push_back({f, (int)f * 2 + t, i, 3 + 8 * t, i});
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 8; i++)
            all.push_back({0, t, i, 6 + 8 * (t % 2), t / 2 * 8 + i});
    try_places("mma_sp_m16n8k32_s32_s8_s8_s32", pair, 1, 8, climbing(32, 4, byte_code));
    try_places("mma_sp_m16n8k64_s32_u8_s8_s32", all, 1, 8, climbing(64, 4, byte_code));
    /* Chunks of eight; up to 15 fits in four bits. */
    std::vector<place> fifteen(all.begin(), all.end());
    fifteen.erase(std::remove_if(fifteen.begin(), fifteen.end(), [](const place &p) { return p.chunk == 15; }), fifteen.end());
    std::vector<uint32_t> nibbles = climbing(128, 8, byte_code);
    nibbles.back() = 0;
    try_places("mma_sp_m16n8k64_s32_u4_u4_s32", pair, 1, 4, climbing(64, 8, byte_code));
    try_places("mma_sp_m16n8k128_s32_u4_u4_s32", fifteen, 1, 4, nibbles);
}

/* Scales: A and B of ones, a power of two in the byte of one thread. */
TEST(MmaKinds, PlacesOfScales)
{
    const char *name = "mma_mxf8f6f4_m16n8k32_f32_e4m3_e4m3_f32_ue8m0";
    warp w = find(name);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) w.a()[i][lane] = 0x38383838;
        for (int i = 0; i < 2; i++) w.b()[i][lane] = 0x38383838;
    }
    for (int lane = 0; lane < 32; lane++)
        for (uint64_t byte = 0; byte < 4; byte++)
            for (int side = 0; side < 2; side++) {
                for (int l = 0; l < 32; l++)
                    for (int s = 0; s < 2; s++) {
                        w.scale(s, 0)[l] = s == side && l == lane ? 0x7f7f7f7fu + (3u << (8 * byte)) : 0x7f7f7f7fu;
                        w.scale(s, 1)[l] = s == side ? byte : (byte + 1) % 4;
                        w.scale(s, 2)[l] = s == side ? (uint64_t)(side == 0 ? lane % 4 / 2 : lane % 4) : 0;
                    }
                matrix d;
                product(name, w, REF_ADA, d);
                for (int row = 0; row < 16; row++)
                    for (int n = 0; n < 8; n++) {
                        const bool in = side == 0 ? row == lane / 4 + 8 * (lane % 2) : n == lane / 4;
                        EXPECT_EQ(d[row][n], in ? 256 : 32) << "side " << side << " lane " << lane << " byte " << byte << " row " << row << " column " << n;
                    }
            }
}
/* fp4: which k a scale is of. A is one in one place of k only, so D is the product of the scales there. */
void try_chunks(const char *name, int vec, int chunk, uint32_t first, uint64_t byte)
{
    for (int k = 0; k < 64; k += 7) {
        warp w = find(name);
        for (int row = 0; row < 8; row++) {
            w.a()[k / 32 * 2][row * 4 + k % 32 / 8] = 0x2u << (4 * (k % 8));
            w.a()[k / 32 * 2 + 1][row * 4 + k % 32 / 8] = 0x2u << (4 * (k % 8));
        }
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < w.nb(); i++) w.b()[i][lane] = 0x22222222;
            if (w.s.sparse) w.metadata()[lane] = 0x94e84c8d;
            w.scale(0, 0)[lane] = first;
            w.scale(1, 0)[lane] = 0x38383838u + (w.s.ue4m3 ? 0 : 0x47474747u);
            w.scale(0, 1)[lane] = w.scale(1, 1)[lane] = byte;
        }
        matrix d;
        product(name, w, REF_ADA, d);
        const uint32_t code = first >> (8 * (byte + (uint32_t)(k / chunk))) & 255;
        const double want = w.s.ue4m3 ? ldexp(8 + (code & 7), (int)(code >> 3) - 10) : ldexp(1, (int)code - 127);
        for (int row = 0; row < 16; row++)
            EXPECT_EQ(d[row][row % 8], want) << name << " k " << k << " vec " << vec;
    }
}
TEST(MmaKinds, ScalesOfFp4)
{
    try_chunks("mma_mxf4nvf4_m16n8k64_2x_f32_e2m1_e2m1_f32_ue8m0", 2, 32, 0x7e828179, 0);
    try_chunks("mma_mxf4nvf4_m16n8k64_2x_f32_e2m1_e2m1_f32_ue8m0", 2, 32, 0x7e828179, 2);
    try_chunks("mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue8m0", 4, 16, 0x7e828179, 0);
    try_chunks("mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue4m3", 4, 16, 0x35471c4b, 0);
    try_chunks("mma_sp_mxf4nvf4_m16n8k128_2x_f32_e2m1_e2m1_f32_ue8m0", 2, 32, 0x7e828179, 2);
    try_chunks("mma_sp_mxf4nvf4_m16n8k128_4x_f32_e2m1_e2m1_f32_ue4m3", 4, 16, 0x35471c4b, 0);
}

/* What MMA-Sim says of RTX Blackwell. */
TEST(MmaKinds, WhatTheModelsCut)
{
    const char *name = "mma_mxf4nvf4_m16n8k64_4x_f32_e2m1_e2m1_f32_ue8m0";
    warp w = find(name);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) w.a()[i][lane] = 0x2a2a2a2a;                   /* 1, -1: every group sums to 0 */
        for (int i = 0; i < 2; i++) w.b()[i][lane] = 0x22222222;
        for (int i = 0; i < 4; i++) w.c()[i][lane] = bits(1.0f + 0x1p-20f);
        w.scale(0, 0)[lane] = 0x7f7f7f7f;
        w.scale(1, 0)[lane] = 0x7f7f7f7f;
    }
    matrix d;
    product(name, w, REF_ADA, d);
    EXPECT_EQ(d[3][4], 1 + 0x1p-20);
    for (int lane = 0; lane < 32; lane++) w.scale(0, 0)[lane] = 0x7f977f7f;        /* 2^24: the grid is 2^(24 - 35) */
    product(name, w, REF_ADA, d);
    EXPECT_EQ(d[3][4], 1);
    product(name, w, REF_IEEE, d);
    EXPECT_NE(d[3][4], 1 + 0x1p-20);                                                /* ±2^24 passed through the accumulator */
    for (int lane = 0; lane < 32; lane++) w.scale(0, 0)[lane] = 0x7fa37f7f;        /* 2^36 */
    product(name, w, REF_ADA, d);
    EXPECT_EQ(d[3][4], 0);

    /* mxf8f6f4: 25 bits below the largest product, which the scales move. */
    const char *bytes = "mma_mxf8f6f4_m16n8k32_f32_e5m2_e2m1_f32_ue8m0";
    warp v = find(bytes);
    for (int lane = 0; lane < 32; lane++) {
        v.a()[0][lane] = lane % 4 == 0 ? 0xbc3c : 0;                                /* 1, -1 */
        v.b()[0][lane] = 0x08080808;                                                /* 1 in the middle of its byte */
        for (int i = 0; i < 4; i++) v.c()[i][lane] = bits(1.0f + 0x1p-20f);
        v.scale(0, 0)[lane] = 0x7f + 10;
        v.scale(1, 0)[lane] = 0x7f;
    }
    product(bytes, v, REF_ADA, d);
    EXPECT_EQ(d[3][4], 1);
    for (int lane = 0; lane < 32; lane++) v.scale(0, 0)[lane] = 0x7f + 5;
    product(bytes, v, REF_ADA, d);
    EXPECT_EQ(d[3][4], 1 + 0x1p-20);
    /* NaN in a row's scale makes the row NaN, and no other. */
    v.scale(0, 0)[4] = 0xff;
    product(bytes, v, REF_HOPPER, d);
    EXPECT_TRUE(std::isnan(d[1][0]) && std::isnan(d[1][7]));
    EXPECT_EQ(d[0][0], 1 + 0x1p-20);
}
/* The grid is never below that of the smallest normal f32: 32 products of 0.75 · 2^-151 are each cut to nothing. */
TEST(MmaKinds, TheSmallestGrid)
{
    const char *name = "mma_mxf8f6f4_m16n8k32_f32_e5m2_e3m2_f32_ue8m0";
    warp w = find(name);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) w.a()[i][lane] = 0x3e3e3e3e;                   /* 1.5 */
        for (int i = 0; i < 2; i++) w.b()[i][lane] = 0x0c0c0c0c;                   /* 1 */
        w.scale(0, 0)[lane] = 127 - 100;
        w.scale(1, 0)[lane] = 127 - 52;
    }
    matrix d;
    product(name, w, REF_ADA, d);
    EXPECT_EQ(d[9][5], 0);
    for (int lane = 0; lane < 32; lane++) w.scale(1, 0)[lane] = 127 - 51;
    product(name, w, REF_ADA, d);
    EXPECT_EQ(d[9][5], 32 * 0x1p-151);                                              /* 1.5 of them, cut to one, each */
    /* Zeros with a sign: only the chain keeps it. */
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) w.a()[i][lane] = 0x80808080;
        for (int i = 0; i < 4; i++) w.c()[i][lane] = 0x80000000;
    }
    product(name, w, REF_ADA, d);
    EXPECT_FALSE(std::signbit(d[9][5]));
    product(name, w, REF_IEEE, d);
    EXPECT_TRUE(std::signbit(d[9][5]));
}

/* Products of -0 of e2m1 likewise. */
TEST(MmaKinds, ZerosOfFp4KeepTheirSign)
{
    const char *name = "mma_mxf4nvf4_m16n8k64_2x_f32_e2m1_e2m1_f32_ue8m0";
    warp w = find(name);
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) w.a()[i][lane] = 0x88888888;
        for (int i = 0; i < 2; i++) w.b()[i][lane] = 0x22222222;
        for (int i = 0; i < 4; i++) w.c()[i][lane] = 0x80000000;
        w.scale(0, 0)[lane] = 0x7f7f;
        w.scale(1, 0)[lane] = 0x7f7f;
    }
    matrix d;
    product(name, w, REF_IEEE, d);
    EXPECT_TRUE(std::signbit(d[9][5]));
}

} // namespace
