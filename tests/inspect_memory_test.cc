// inspect_memory_test.cc - parameters, textures, constants, lives, slices and shared memory of small kernels with known answers.
#include "inspect_harness.h"
#include <cmath>
#include <cstring>

// ------------------------------------------------------------ parameters and textures

static uint32_t uses_of(const Analysis &a, uint64_t offset)
{
    for (uint32_t i = 0; i < a.params.count; i++)
        if (a.params.list[i].offset == offset) return a.params.list[i].uses;
    return 0;
}

TEST(InspectParams, EachByteAndWhatItBecomes)
{
    Analysis a(std::string(given) + "mov.b64 %d3, s; ld.param.v2.u32 {%r10, %r11}, [s+8]; add.s64 %d4, %d3, 16; ld.param.u64 %d5, [%d4]; ld.param.f32 %f1, [%d4+8];"
               "mad.lo.s32 %r12, %r5, %r1, %r10; mul.wide.s32 %d6, %r12, 4; add.s64 %d7, %d2, %d6; ld.global.f32 %f2, [%d7];"
               "setp.ge.s32 %p1, %r1, %r6; @%p1 bra E; mul.f32 %f3, %f2, %f1; cvta.to.global.u64 %d8, %d5; st.global.f32 [%d8], %f3; st.global.u32 [%d8+4], %r11; E:");
    ASSERT_EQ(a.params.count, 7u);
    EXPECT_EQ(uses_of(a, 0), (uint32_t)(PTI_AS_POINTER | PTI_IN_ADDRESS));
    EXPECT_EQ(uses_of(a, 8), (uint32_t)PTI_IN_ADDRESS);
    EXPECT_EQ(uses_of(a, 12), (uint32_t)(PTI_IN_COMPARISON | PTI_IN_BRANCH));
    EXPECT_EQ(uses_of(a, 24), (uint32_t)PTI_IN_ADDRESS);
    EXPECT_EQ(uses_of(a, 28), (uint32_t)PTI_IN_STORE);
    EXPECT_EQ(uses_of(a, 32), (uint32_t)(PTI_AS_POINTER | PTI_IN_ADDRESS));
    EXPECT_EQ(uses_of(a, 40), (uint32_t)(PTI_IN_FLOAT | PTI_IN_STORE));
    EXPECT_EQ(a.base(a.params.list[5].base), "s+16");
    EXPECT_EQ(a.addresses.bases[a.params.list[5].base].nwrites, 2u);
}

TEST(InspectParams, TexturesWithHandleAndCoordinates)
{
    Analysis a(std::string(given) + "ld.param.u64 %d3, [s+24]; ld.param.f32 %f1, [s+4]; cvt.rn.f32.s32 %f2, %r1; mul.f32 %f3, %f2, %f1; add.f32 %f4, %f3, 0f3F000000;"
               "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%d3, {%f4, %f2}]; shl.b32 %r10, %r4, 3; ld.param.u64 %d4, [p];"
               "sust.b.2d.b32.zero [%d4, {%r10, %r1}], {%r3};");
    ASSERT_EQ(a.params.ntextures, 2u);
    const pti_texture &t = a.params.textures[0], &u = a.params.textures[1];
    EXPECT_FALSE(t.surface);
    EXPECT_EQ(a.params.list[t.param].offset, 40u);
    ASSERT_EQ(t.ncoordinates, 2u);
    EXPECT_EQ(a.formula(t.coordinates[0]), "add_rn_f32(mul_rn_f32(cvt_rn_f32_s32(tid.x), [s+4]), 0.5)");
    EXPECT_TRUE(u.surface);
    EXPECT_TRUE(u.writes);
    EXPECT_EQ(a.params.list[u.param].offset, 0u);
    EXPECT_EQ(a.formula(u.coordinates[0]), "8*ctaid.x");
    EXPECT_EQ(uses_of(a, 40), (uint32_t)PTI_AS_TEXTURE);
    EXPECT_EQ(uses_of(a, 20), (uint32_t)(PTI_IN_COORDINATE | PTI_IN_FLOAT));
}

// ------------------------------------------------------------ constants

TEST(InspectConstants, LiteralsAndTheirConversions)
{
    Analysis a("mov.f32 %f1, 0f3C8CCB50; mov.f64 %fd1, 0dBFE1CC0000000000; cvt.rn.f16.f32 %h1, %f1; cvt.rn.f16.f64 %h2, %fd1; cvt.rz.f16.f32 %h3, %f1;"
               "cvt.f64.f32 %fd2, %f1; mul.f32 %f2, %f1, 0f3FB8AA3B; mul.f32 %f3, %f2, 0f3FB8AA3B;");
    ASSERT_EQ(a.constants.count, 3u);
    const pti_literal &f = a.constants.list[0], &d = a.constants.list[1], &e = a.constants.list[2];
    EXPECT_EQ(f.bits, 0x3C8CCB50u);
    EXPECT_EQ(f.ndefinitions, 1u);
    EXPECT_EQ(f.nuses, 4u);
    ASSERT_EQ(f.nconverted, 2u);
    EXPECT_EQ(f.converted[0].bits, 0x2466u);
    EXPECT_EQ(f.converted[1].type, PTX_TYPE_F64);
    EXPECT_EQ(d.converted[0].bits, 0xB873u);
    EXPECT_EQ(e.first_definition, (uint32_t)PTI_NONE);
    EXPECT_EQ(e.nuses, 2u);
    EXPECT_EQ(e.first_use, 6u);
}

TEST(InspectConstants, AllHalvesComeBack)
{
    for (uint32_t h = 0; h < 65536; h++) {
        _Float16 x;
        uint16_t bits = (uint16_t)h;
        std::memcpy(&x, &bits, 2);
        double v = pti_float_value(PTX_TYPE_F16, h);
        if (v != v) continue;
        EXPECT_EQ(v, (double)x) << h;
        EXPECT_EQ(pti_round_float(PTX_TYPE_F16, v), h) << h;
    }
}

TEST(InspectConstants, RoundingAgreesWithTheCompiler)
{
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t u = (uint32_t)(seed >> 32);
        float f;
        std::memcpy(&f, &u, 4);
        if (f != f) continue;
        _Float16 h = (_Float16)f;
        uint16_t want;
        std::memcpy(&want, &h, 2);
        ASSERT_EQ(pti_round_float(PTX_TYPE_F16, f), want) << u;
        ASSERT_EQ(pti_round_float(PTX_TYPE_F32, f), u);
        ASSERT_EQ(pti_float_value(PTX_TYPE_F32, u), (double)f);
        double d;
        std::memcpy(&d, &seed, 8);
        if (d != d) continue;
        float g = (float)d;
        std::memcpy(&u, &g, 4);
        ASSERT_EQ(pti_round_float(PTX_TYPE_F32, d), u);
        ASSERT_EQ(pti_round_float(PTX_TYPE_F64, d), seed);
    }
    EXPECT_EQ(pti_round_float(PTX_TYPE_F16, 65519.9), 0x7bffu);
    EXPECT_EQ(pti_round_float(PTX_TYPE_F16, 65520.0), 0x7c00u);
    EXPECT_EQ(pti_round_float(PTX_TYPE_F16, -std::ldexp(1.0, -25)), 0x8000u);
    EXPECT_EQ(pti_round_float(PTX_TYPE_BF16, 1.00390625), 0x3f80u);
}

// ------------------------------------------------------------ lives and slices

static std::vector<std::pair<uint32_t, uint32_t>> lives_of(const Analysis &a, const std::string &name)
{
    std::vector<std::pair<uint32_t, uint32_t>> out;
    uint32_t r = a.reg(name);
    for (uint32_t i = a.lives.of_reg[r]; i < a.lives.of_reg[r + 1]; i++) out.push_back({a.lives.list[i].first, a.lives.list[i].last});
    return out;
}

using Spans = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(InspectLives, AReusedNameAndAValueThatIsCarried)
{
    Analysis a("mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1; add.s32 %r1, %r2, 7; @%p1 add.s32 %r1, %r1, 9; add.s32 %r3, %r1, %r2; mov.u32 %r1, 3; st.shared.u32 [mem], %r1;");
    EXPECT_EQ(lives_of(a, "%r1"), (Spans{{0, 1}, {2, 4}, {5, 6}}));
    EXPECT_EQ(lives_of(a, "%r2"), (Spans{{1, 4}}));
    EXPECT_EQ(a.lives.nreused, 1u);
    EXPECT_TRUE(a.lives.list[a.lives.of_reg[a.reg("%r1")]].constant);
    EXPECT_FALSE(a.lives.list[a.lives.of_reg[a.reg("%r1")] + 1].constant);
    EXPECT_EQ(a.lives.list[a.lives.of_reg[a.reg("%r1")] + 1].ndefinitions, 2u);
}

TEST(InspectLives, LoopsKeepWhatTheyNeed)
{
    Analysis a("mov.u32 %r1, 0; add.s32 %r2, %r9, 5; L: add.s32 %r3, %r2, %r1; st.shared.u32 [mem], %r3; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; mov.u32 %r4, 1;");
    EXPECT_EQ(lives_of(a, "%r2"), (Spans{{1, 6}}));      // until the branch back, not only its use
    EXPECT_EQ(lives_of(a, "%r1"), (Spans{{0, 6}}));
    EXPECT_EQ(lives_of(a, "%r3"), (Spans{{2, 3}}));
    EXPECT_TRUE(a.lives.list[a.lives.of_reg[a.reg("%r1")]].round_loop);
    EXPECT_TRUE(a.lives.list[a.lives.of_reg[a.reg("%r9")]].at_entry);
}

TEST(InspectLives, ValuesCarriedOverPhases)
{
    const std::string mma = "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%r10, %r11}, {%r12, %r12, %r12, %r12}, {%r13, %r13}, {%r14, %r14};";
    Analysis a(std::string(given) + "add.s32 %r20, %r3, 1; add.s32 %r21, %r3, 2;" + mma + "add.s32 %r30, %r10, %r21;" + mma + "add.s32 %r31, %r10, 1;" + mma +
               "st.shared.u32 [mem], %r20; st.shared.u32 [mem+4], %r31; st.shared.u32 [mem+8], %r30;");
    ASSERT_EQ(a.phases.count, 3u);
    uint32_t n;
    pti_carried *c = pti_carried_lives(&a.lives, 1, &n);
    // The longest ways first. An mma of phase n is in place n - 1, as the epilogue before it is; %r7 is a constant.
    std::vector<std::string> got;
    for (uint32_t i = 0; i < n; i++)
        got.push_back(std::to_string(c[i].from) + "-" + std::to_string(c[i].to) + " " + std::to_string(c[i].count) + " " +
                      a.f->registers[a.lives.list[c[i].first_life].reg].name);
    EXPECT_EQ(got, (std::vector<std::string>{"0-3 1 %r20", "0-2 3 %r12", "1-3 1 %r30", "0-1 2 %r21", "1-2 1 %r10", "2-3 1 %r31"}));
    free(c);
    EXPECT_EQ(a.lives.across[0], 5u);  // %r20 %r21 %r12 %r13 %r14
    EXPECT_EQ(a.lives.across[1], 5u);  // %r20 %r30 %r12 %r13 %r14
    EXPECT_EQ(a.lives.across[2], 6u);
}

static std::vector<uint32_t> slice(const Analysis &a, uint32_t insn, const std::string &name, uint32_t follow = PTI_SLICE_ADDRESSES)
{
    std::vector<uint8_t> marks(a.f->ninsns);
    std::vector<uint32_t> out;
    EXPECT_EQ(pti_backward_slice(&a.flow, pti_value_read(&a.flow, insn, a.reg(name)), follow, marks.data()), PTI_OK);
    for (uint32_t i = 0; i < a.f->ninsns; i++)
        if (marks[i]) out.push_back(i);
    return out;
}

TEST(InspectSlice, BackThroughPhisGuardsAndAddresses)
{
    Analysis a("mov.u32 %r1, %tid.x; mov.u32 %r2, 5; setp.gt.u32 %p1, %r1, 3; mov.u32 %r3, 0; @%p1 bra L; add.s32 %r3, %r2, 1; L: setp.eq.u32 %p2, %r1, 9;"
               "@%p2 mov.u32 %r3, 8; shl.b32 %r4, %r1, 2; ld.shared.u32 %r5, [%r4]; add.s32 %r6, %r3, %r5; st.shared.u32 [mem], %r6;");
    EXPECT_EQ(slice(a, 11, "%r6"), (std::vector<uint32_t>{0, 1, 3, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(slice(a, 11, "%r6", 0), (std::vector<uint32_t>{0, 1, 3, 5, 6, 7, 9, 10}));
    EXPECT_EQ(slice(a, 5, "%r2"), (std::vector<uint32_t>{1}));
}

TEST(InspectSlice, BranchesThatDecide)
{
    const uint32_t all = PTI_SLICE_ADDRESSES | PTI_SLICE_BRANCHES;
    // Which of two values arrives; a branch beside it decides nothing.
    Analysis a("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 3; mov.u32 %r3, 0; @%p1 bra L; mov.u32 %r3, 7; L: setp.eq.u32 %p2, %r1, 9; @%p2 bra M; mov.u32 %r4, 1;"
               "M: st.shared.u32 [mem], %r3;");
    EXPECT_EQ(slice(a, 8, "%r3", all), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(slice(a, 8, "%r3"), (std::vector<uint32_t>{2, 4}));
    EXPECT_EQ(slice(a, 6, "%p2", all), (std::vector<uint32_t>{0, 5}));
    // Both ways come there: no dependence on the branch, but on the early exit before it.
    Analysis b("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 30; @%p1 ret; setp.gt.u32 %p2, %r1, 3; @%p2 bra L; mov.u32 %r2, 7; L: mov.u32 %r3, 5; st.shared.u32 [mem], %r3;");
    EXPECT_EQ(slice(b, 7, "%r3", all), (std::vector<uint32_t>{0, 1, 2, 6}));
    // A loop's condition decides what comes out of it, and so does the one around it.
    Analysis c("mov.u32 %r1, 0; mov.u32 %r9, %tid.x; setp.eq.u32 %p3, %r9, 2; @%p3 bra E; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 8; @%p1 bra L;"
               "E: mov.u32 %r4, 4; st.shared.u32 [mem], %r1; st.shared.u32 [mem], %r4;");
    EXPECT_EQ(slice(c, 8, "%r1", all), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(slice(c, 9, "%r4", all), (std::vector<uint32_t>{7}));
    // An end that is never reached.
    Analysis d("mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; st.shared.u32 [mem], %r1; bra L;");
    EXPECT_EQ(slice(d, 2, "%r1", all), (std::vector<uint32_t>{0, 1}));
    // What loads read is left out, branches are not.
    Analysis e("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 3; shl.b32 %r2, %r9, 2; @%p1 bra L; ld.shared.u32 %r3, [%r2]; L: st.shared.u32 [mem], %r3;");
    EXPECT_EQ(slice(e, 5, "%r3", PTI_SLICE_BRANCHES), (std::vector<uint32_t>{0, 1, 3, 4}));
}

// ------------------------------------------------------------ shared memory

// Each warp writes its row of 128 bytes, then reads the next warp's: z * 128 + 4 * lane.
static const std::string rows = std::string(given) + "mad.lo.s32 %r10, %r3, 4, %r7; mad.lo.s32 %r11, %r2, 128, %r10; add.s32 %r12, %r2, 1; and.b32 %r13, %r12, 3; mad.lo.s32 %r14, %r13, 128, %r10;\n";

TEST(InspectShared, ABarrierThatIsNeededAndOneThatIsNot)
{
    Analysis a(rows + "st.shared.u32 [%r11], %r1; bar.sync 0; ld.shared.u32 %r15, [%r14]; bar.sync 0; ld.shared.u32 %r16, [%r14];");
    EXPECT_TRUE(a.shared.decided);
    EXPECT_EQ(a.shared.nconflicts, 0u);
    ASSERT_EQ(a.shared.nbarriers, 2u);
    EXPECT_EQ(a.shared.barriers[0].verdict, PTI_NEEDED);
    EXPECT_EQ(a.shared.barriers[1].verdict, PTI_REDUNDANT);
    ASSERT_EQ(a.shared.nintervals, 3u);
    EXPECT_EQ(a.shared.intervals[0].written.bytes, 512u);
    EXPECT_EQ(a.shared.intervals[0].read.bytes, 0u);
    EXPECT_EQ(a.shared.intervals[1].read.bytes, 512u);
    EXPECT_EQ(a.shared.intervals[1].read.count, 1u);
}

TEST(InspectShared, AMissingBarrier)
{
    Analysis a(rows + "st.shared.u32 [%r11], %r1; ld.shared.u32 %r15, [%r14];");
    ASSERT_EQ(a.shared.nconflicts, 1u);
    EXPECT_FALSE(a.shared.conflicts[0].both_write);
    EXPECT_NE(a.shared.conflicts[0].warp_a, a.shared.conflicts[0].warp_b);
    // Own rows are no conflict, nor is the same slot for readers alone.
    Analysis own(rows + "st.shared.u32 [%r11], %r1; ld.shared.u32 %r15, [%r11]; ld.shared.u32 %r16, [%r7+2048];");
    EXPECT_EQ(own.shared.nconflicts, 0u);
}

TEST(InspectShared, TwoWritersAndAtomics)
{
    Analysis a(rows + "st.shared.u32 [%r10], %r1;");
    ASSERT_EQ(a.shared.nconflicts, 1u);
    EXPECT_TRUE(a.shared.conflicts[0].both_write);
    Analysis b(rows + "red.shared.add.u32 [%r10], %r1; atom.shared.add.u32 %r15, [%r10], 1;");
    EXPECT_EQ(b.shared.nconflicts, 0u);
    Analysis c(rows + "red.shared.add.u32 [%r10], %r1; ld.shared.u32 %r15, [%r10];");
    EXPECT_EQ(c.shared.nconflicts, 1u);
    // Volatile accesses are meant to meet; a barrier between them still orders them.
    Analysis d(rows + "st.volatile.shared.u32 [%r10], %r1; ld.relaxed.cta.shared.u32 %r15, [%r10];");
    EXPECT_EQ(d.shared.nconflicts, 0u);
    Analysis e(rows + "st.volatile.shared.u32 [%r10], %r1; bar.sync 0; ld.volatile.shared.u32 %r15, [%r10];");
    EXPECT_EQ(e.shared.barriers[0].verdict, PTI_NEEDED);
    Analysis f(rows + "st.volatile.shared.u32 [%r10], %r1; ld.shared.u32 %r15, [%r10];");
    EXPECT_EQ(f.shared.nconflicts, 1u);
}

TEST(InspectShared, ALoopMeetsItselfRoundTheBranch)
{
    // Read the neighbour's row, barrier, write: without a second barrier the next turn's read meets this turn's write.
    Analysis a(rows + "L: ld.shared.u32 %r15, [%r14]; bar.sync 0; st.shared.u32 [%r11], %r15; add.s32 %r16, %r16, 1; setp.lt.u32 %p1, %r16, 9; @%p1 bra L;");
    EXPECT_EQ(a.shared.nconflicts, 1u);
    EXPECT_EQ(a.shared.conflicts[0].interval, 1u);
    Analysis b(rows + "L: ld.shared.u32 %r15, [%r14]; bar.sync 0; st.shared.u32 [%r11], %r15; bar.sync 0; add.s32 %r16, %r16, 1; setp.lt.u32 %p1, %r16, 9; @%p1 bra L;");
    EXPECT_EQ(b.shared.nconflicts, 0u);
    EXPECT_EQ(b.shared.barriers[0].verdict, PTI_NEEDED);
    EXPECT_EQ(b.shared.barriers[1].verdict, PTI_NEEDED);
}

TEST(InspectShared, BranchesKeepThreadsOut)
{
    // Only warp 0 writes and only warp 0 reads: no conflict, and the barrier orders nothing.
    Analysis a(rows + "setp.ne.u32 %p1, %r2, 0; @%p1 bra A; st.shared.u32 [%r10], %r1; A: bar.sync 0; setp.eq.u32 %p2, %r2, 0; @%p2 ld.shared.u32 %r15, [%r10];");
    EXPECT_EQ(a.shared.nconflicts, 0u);
    EXPECT_EQ(a.shared.barriers[0].verdict, PTI_REDUNDANT);
}

TEST(InspectShared, Overruns)
{
    Analysis a(rows + "mad.lo.s32 %r15, %r2, 1024, %r10; st.shared.v4.u32 [%r15+904], {%r1, %r1, %r1, %r1};");
    ASSERT_EQ(a.shared.noverruns, 1u);
    EXPECT_EQ(a.shared.overruns[0].high, 3 * 1024 + 31 * 4 + 904 + 16);
    EXPECT_EQ(a.shared.overruns[0].size, 4096u);
    Analysis b(rows + "mad.lo.s32 %r15, %r2, 1024, %r10; st.shared.v4.u32 [%r15+880], {%r1, %r1, %r1, %r1};");
    EXPECT_EQ(b.shared.noverruns, 0u);
    Analysis c(rows + "add.s32 %r15, %r10, -4; st.shared.u32 [%r15], %r1;");
    ASSERT_EQ(c.shared.noverruns, 1u);
    EXPECT_EQ(c.shared.overruns[0].low, -4);
}

TEST(InspectShared, WhatIsNotKnownIsNotDecided)
{
    Analysis a(rows + "ld.shared.u32 %r15, [%r14]; bar.sync 0; mad.lo.s32 %r16, %r5, 4, %r7; st.shared.u32 [%r16], %r1;");
    EXPECT_EQ(a.shared.nopen, 1u);
    EXPECT_EQ(a.shared.barriers[0].verdict, PTI_UNDECIDED);
    Analysis b(rows + "st.shared.u32 [%r11], %r1; bar.sync 1, 64; ld.shared.u32 %r15, [%r14];");
    EXPECT_FALSE(b.shared.decided);
    EXPECT_STREQ(b.shared.why_not, "it has barriers of parts of the block");
    Analysis c(rows + "st.shared.u32 [%r11], %r1;", {{0, 0, 0}});
    EXPECT_STREQ(c.shared.why_not, "the block is not known");
    Analysis d(rows + "st.shared.u32 [%r11], %r1;", {{32, 1, 1}});
    EXPECT_STREQ(d.shared.why_not, "the block is one warp");
}

// A generic address that was loaded may be one of shared memory; a parameter is taken for global memory.
TEST(InspectShared, GenericAddresses)
{
    Analysis a(rows + "ld.global.u64 %d5, [%d2]; st.u32 [%d5], %r1; bar.sync 0; ld.shared.u32 %r15, [%r7];");
    EXPECT_EQ(a.shared.naccesses, 2u);
    EXPECT_EQ(a.shared.nopen, 1u);
    EXPECT_EQ(a.shared.barriers[0].verdict, PTI_UNDECIDED);
    Analysis b(rows + "st.u32 [%d1], %r1; bar.sync 0; ld.shared.u32 %r15, [%r7];");
    EXPECT_EQ(b.shared.naccesses, 1u);
    EXPECT_EQ(b.shared.barriers[0].verdict, PTI_REDUNDANT);
    // cvta takes the address of mem along: it is known as one of shared memory.
    Analysis c(rows + "cvt.u64.u32 %d5, %r7; cvta.shared.u64 %d6, %d5; st.u32 [%d6+8], %r1; bar.sync 0; ld.shared.u32 %r15, [%r7+8];");
    EXPECT_EQ(c.shared.nopen, 0u);
    EXPECT_EQ(c.shared.barriers[0].verdict, PTI_NEEDED);
}

// ldmatrix takes rows of 16 bytes from the lanes that its number of matrices needs.
TEST(InspectShared, RowsOfMatrices)
{
    Analysis a(rows + "mad.lo.s32 %r15, %r3, 16, %r7; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r16, %r17}, [%r15];");
    EXPECT_EQ(a.addresses.list[0].high, 256);
    Analysis b(rows + "mad.lo.s32 %r15, %r3, 16, %r7; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r16, %r17, %r18, %r19}, [%r15];");
    EXPECT_EQ(b.addresses.list[0].high, 512);
}
