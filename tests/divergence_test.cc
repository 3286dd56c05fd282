/* divergence_test.cc - lanes of a warp that go different ways, meet again, and wait for each other. */
#include <algorithm>
#include "tests/engine_harness.h"

static std::vector<uint32_t> run(const std::string &body, uint32_t grid, uint32_t block, const std::string &more = "", const std::string &before = "")
{
    Ptx p(before + entry("k", body, more));
    Buffer<uint32_t> out(grid * block + 64), in(64);
    EXPECT_EQ(p.run("k", grid, block, Params().add(out).add(in)), CPU_OK) << p.message();
    return out.read();
}

TEST(Divergence, LoopsWithTripCountsByLane)
{
    auto v = run("mov.u32 %r1, 0; mov.u32 %r2, 0; rem.u32 %r3, %gid, 17;\nL: setp.ge.u32 %p1, %r1, %r3; @%p1 bra E; mad.lo.s32 %r2, %r1, %r1, %r2; add.s32 %r1, %r1, 1; bra L;\nE: st.global.u32 [%out], %r2; ret;", 3, 70);
    for (uint32_t i = 0; i < 210; i++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < i % 17; k++)
            sum += k * k;
        ASSERT_EQ(v[i], sum) << i;
    }
}

TEST(Divergence, BreakOutOfNestedLoops)
{
    auto v = run("mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
                 "A: mov.u32 %r3, 0;\nB: add.s32 %r2, %r2, 1; mad.lo.s32 %r4, %r1, 5, %r3; setp.eq.u32 %p1, %r4, %tid0; @%p1 bra OUT; add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5; @%p2 bra B;\n"
                 "add.s32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 5; @%p3 bra A;\nOUT: mad.lo.s32 %r2, %r2, 100, %r4; st.global.u32 [%out], %r2; ret;", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        ASSERT_EQ(v[i], i < 25 ? (i + 1) * 100 + i : 2500u + 24) << i;
}

TEST(Divergence, SlotsOfWaitingLanesAreNotOverwritten)
{
    /* Both sides use many values of different widths while the other side's lanes wait with theirs alive. */
    auto v = run("and.b32 %r1, %gid, 1; setp.eq.u32 %p1, %r1, 0; mul.lo.s32 %r10, %gid, 3; cvt.u64.u32 %rd10, %gid; mul.lo.s64 %rd10, %rd10, 5; @%p1 bra EVEN;\n"
                 "add.s32 %r2, %r10, 1; add.s32 %r3, %r2, 1; add.s32 %r4, %r3, %r2; cvt.u32.u64 %r5, %rd10; add.s32 %r4, %r4, %r5; bra JOIN;\n"
                 "EVEN: cvt.u64.u32 %rd1, %r10; add.s64 %rd2, %rd1, %rd10; add.s64 %rd3, %rd2, %rd1; cvt.u32.u64 %r4, %rd3; cvt.u16.u32 %h1, %r4; cvt.u32.u16 %r6, %h1; add.s32 %r4, %r4, %r6;\n"
                 "JOIN: cvt.u32.u64 %r7, %rd10; add.s32 %r4, %r4, %r7; add.s32 %r4, %r4, %r10; st.global.u32 [%out], %r4; ret;", 2, 64);
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t t = i & 1 ? (3 * i + 1) + (3 * i + 2) + 5 * i : 2 * (3 * i + 5 * i + 3 * i);
        ASSERT_EQ(v[i], t + 5 * i + 3 * i) << i;
    }
}

TEST(Divergence, SlotsOfDifferentWidthsWhileLanesAlternate)
{
    /* A loop in which even and odd lanes take different sides every round, carrying 32-bit values on one side
     * and 64-bit ones on the other. */
    auto v = run("mov.u32 %r1, 0; mov.u32 %r2, %gid; cvt.u64.u32 %rd1, %gid;\n"
                 "L: add.s32 %r3, %r1, %gid; and.b32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra ODD;\n"
                 "cvt.u64.u32 %rd2, %r2; shl.b64 %rd3, %rd2, 32; add.s64 %rd4, %rd3, %rd1; shr.u64 %rd5, %rd4, 32; cvt.u32.u64 %r4, %rd5; xor.b32 %r2, %r4, 21; bra NEXT;\n"
                 "ODD: mul.lo.s32 %r5, %r2, 7; add.s32 %r6, %r5, 3; xor.b32 %r7, %r6, %r5; add.s32 %r2, %r7, %r6; add.s64 %rd1, %rd1, 1;\n"
                 "NEXT: add.s32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra L; cvt.u32.u64 %r8, %rd1; mad.lo.s32 %r2, %r8, 1000003, %r2; st.global.u32 [%out], %r2; ret;", 1, 64);
    for (uint32_t g = 0; g < 64; g++) {
        uint32_t x = g, c = g;
        for (uint32_t k = 0; k < 9; k++)
            if ((k + g) & 1) {
                uint32_t a = x * 7, b = a + 3;
                x = (b ^ a) + b;
                c++;
            } else
                x ^= 21;
        ASSERT_EQ(v[g], c * 1000003 + x) << g;
    }
}

TEST(Divergence, ReconvergesAtTheEarliestPlace)
{
    /* After an if, all lanes act together again: activemask is full. */
    auto v = run("and.b32 %r1, %tid0, 3; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1; @%p1 bra A; @%p2 bra B; mov.u32 %r2, 3; bra J;\nA: mov.u32 %r2, 1; activemask.b32 %r4; bra J;\nB: mov.u32 %r2, 2;\n"
                 "J: activemask.b32 %r3; @!%p1 mov.u32 %r4, 0x11111111; xor.b32 %r4, %r4, 0x11111111; add.s32 %r3, %r3, %r4; st.global.u32 [%out], %r3; ret;", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        ASSERT_EQ(v[i], 0xffffffffu) << i;
}

TEST(Divergence, EarlyReturnBeforeABarrier)
{
    auto v = run("and.b32 %r1, %tid0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 ret; bar.sync 0; st.global.u32 [%out], 4; ret;", 2, 100);
    for (uint32_t i = 0; i < 200; i++)
        ASSERT_EQ(v[i], i % 100 & 1 ? 4u : 0u);
}

TEST(Divergence, EarlyReturnBeforeAShuffle)
{
    auto v = run("setp.ge.u32 %p1, %tid0, 24; @%p1 ret; shfl.sync.bfly.b32 %r1, %gid, 3, 31, 0xffffffff; st.global.u32 [%out], %r1; ret;", 1, 32);
    for (uint32_t i = 0; i < 24; i++)
        ASSERT_EQ(v[i], i ^ 3) << i;
}

TEST(Divergence, BarrierReachedByLanesOfOneWarpAtDifferentTimes)
{
    auto v = run("setp.lt.u32 %p1, %tid0, 10; mov.u32 %r2, 0; @%p1 bra SLOW; bra J;\nSLOW: add.s32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 20; @%p2 bra SLOW; st.shared.u32 [flag], %r2;\n"
                 "J: barrier.sync 0; ld.shared.u32 %r3, [flag]; st.global.u32 [%out], %r3; ret;", 1, 64, "", ".shared .align 4 .b32 flag;\n");
    for (uint32_t i = 0; i < 64; i++)
        ASSERT_EQ(v[i], 20u) << i;
}

TEST(Divergence, CollectivesWaitForTheLanesOfTheirMask)
{
    /* Lanes come to one shuffle from different paths; warp barriers stand on both sides of an if. */
    auto v = run("setp.lt.u32 %p1, %tid0, 13; mov.u32 %r1, %tid0; @%p1 bra A; add.s32 %r1, %r1, 100; bra J;\nA: add.s32 %r1, %r1, 200;\nJ: shfl.sync.idx.b32 %r2, %r1, 5, 31, 0xffffffff; shfl.sync.idx.b32 %r3, %r1, 20, 31, 0xffffffff;\n"
                 "@%p1 bra C; bar.warp.sync 0xffffffff; bra D;\nC: st.shared.u32 [s], 9; bar.warp.sync 0xffffffff;\nD: ld.shared.u32 %r4, [s]; mad.lo.s32 %r2, %r2, 1000, %r3; mad.lo.s32 %r2, %r4, 1000000, %r2; st.global.u32 [%out], %r2; ret;", 1, 32, "", ".shared .align 4 .b32 s;\n");
    for (uint32_t i = 0; i < 32; i++)
        ASSERT_EQ(v[i], 9205120u) << i;
}

TEST(Divergence, CollectivesAtDifferentInstructionsWithOneMask)
{
    /* The same shuffle and the same ballot on both sides of an if: all lanes of the mask take part. */
    auto v = run("setp.lt.u32 %p1, %tid0, 10; setp.lt.u32 %p2, %tid0, 20; mul.lo.s32 %r1, %tid0, 7; @%p1 bra A;\nshfl.sync.bfly.b32 %r2|%p3, %r1, 16, 31, -1; vote.sync.ballot.b32 %r3, %p2, -1; add.s32 %r2, %r2, 1000; bra J;\n"
                 "A: add.s32 %r9, %r1, 5; shfl.sync.bfly.b32 %r2, %r9, 16, 31, -1; vote.sync.ballot.b32 %r3, %p1, -1;\nJ: xor.b32 %r2, %r2, %r3; st.global.u32 [%out], %r2; ret;", 1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t from = i ^ 16, x = from * 7 + (from < 10 ? 5 : 0);
        ASSERT_EQ(v[i], (x + (i < 10 ? 0u : 1000u)) ^ 0xfffffu) << i;
    }
}

TEST(Divergence, CollectivesOfHalfAWarp)
{
    auto v = run("setp.lt.u32 %p1, %tid0, 16; @%p1 bra A; vote.sync.ballot.b32 %r1, 1, 0xffff0000; bra J;\nA: and.b32 %r2, %tid0, 1; setp.eq.u32 %p2, %r2, 0; vote.sync.ballot.b32 %r1, %p2, 0x0000ffff;\nJ: st.global.u32 [%out], %r1; ret;", 1, 32);
    for (uint32_t i = 0; i < 32; i++)
        ASSERT_EQ(v[i], i < 16 ? 0x5555u : 0xffff0000u) << i;
}

TEST(Divergence, MissingLanesOfAPartialWarpDoNotVote)
{
    auto v = run("setp.ge.u32 %p1, %tid0, 0; vote.sync.ballot.b32 %r1, %p1, 0xffffffff; vote.sync.all.pred %p2, %p1, 0xffffffff; @%p2 add.s32 %r1, %r1, 0x1000000; st.global.u32 [%out], %r1; ret;", 1, 11);
    for (uint32_t i = 0; i < 11; i++)
        ASSERT_EQ(v[i], 0x10007ffu) << i;
}

TEST(Divergence, SwitchThroughAJumpTable)
{
    auto v = run("rem.u32 %r1, %gid, 5; mov.u32 %r2, 0; setp.eq.u32 %p1, %gid, 7; @%p1 bra J;\ntable: .branchtargets L0, L1, L2, L1, L3;\nbrx.idx %r1, table;\n"
                 "L0: add.s32 %r2, %r2, 1; bra J;\nL1: add.s32 %r2, %r2, 10;\nL2: add.s32 %r2, %r2, 100; bra J;\nL3: mul.lo.s32 %r2, %gid, 1000;\nJ: st.global.u32 [%out], %r2; ret;", 1, 64);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t expect[] = {1, 110, 100, 110, i * 1000};
        ASSERT_EQ(v[i], i == 7 ? 0 : expect[i % 5]) << i;
    }
}

TEST(Divergence, IrreducibleFlow)
{
    /* Two entries into one loop. */
    auto v = run("and.b32 %r1, %gid, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, %gid; @%p1 bra B;\n"
                 "A: add.s32 %r2, %r2, 1; sub.s32 %r3, %r3, 1; setp.le.s32 %p2, %r3, 0; @%p2 bra E;\nB: add.s32 %r2, %r2, 100; sub.s32 %r3, %r3, 2; setp.gt.s32 %p3, %r3, 0; @%p3 bra A;\nE: st.global.u32 [%out], %r2; ret;", 1, 64);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t n = 0;
        int32_t left = (int32_t)i;
        bool at_b = !(i & 1);
        for (;;) {
            if (!at_b) {
                n += 1;
                left -= 1;
                if (left <= 0)
                    break;
            }
            at_b = false;
            n += 100;
            left -= 2;
            if (left <= 0)
                break;
        }
        ASSERT_EQ(v[i], n) << i;
    }
}

TEST(Divergence, PredicatedEverything)
{
    auto v = run("and.b32 %r1, %gid, 7; setp.lt.u32 %p1, %r1, 3; setp.ge.u32 %p2, %r1, 6; mov.u32 %r2, 1; @%p1 mad.lo.s32 %r2, %gid, 2, 5; @%p1 setp.gt.u32 %p3, %r2, 9; @!%p1 setp.lt.u32 %p3, %r2, 0; @%p3 add.s32 %r2, %r2, 1000;\n"
                 "@%p2 atom.global.add.u32 %r3, [%out], 50; @!%p2 mov.u32 %r3, 3; @%p2 cvt.u64.u32 %rd1, %r2; @!%p2 mov.u64 %rd1, 8; cvt.u32.u64 %r4, %rd1; add.s32 %r3, %r3, %r4; add.s32 %r2, %r2, %r3; @!%p2 st.global.u32 [%out], %r2; @%p2 red.global.add.u32 [%out], %r2; ret;", 1, 64);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t l = i & 7, x = l < 3 ? 2 * i + 5 : 1;
        if (l < 3 && x > 9)
            x += 1000;
        uint32_t y = l >= 6 ? 0 + x : 3 + 8;
        ASSERT_EQ(v[i], l >= 6 ? 50 + x + y : x + y) << i;
    }
}

TEST(Divergence, SpinLockBetweenLanesOfOneWarp)
{
    auto v = run("cvta.to.global.u64 %in, %in;\nL: atom.global.cas.b32 %r1, [%in], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\n"
                 "ld.volatile.global.u32 %r2, [%in+4]; add.s32 %r2, %r2, 1; st.volatile.global.u32 [%in+4], %r2; membar.gl; atom.global.exch.b32 %r3, [%in], 0; st.global.u32 [%out], %r2; ret;", 2, 64);
    std::vector<uint32_t> seen(v.begin(), v.begin() + 128);
    std::sort(seen.begin(), seen.end());
    for (uint32_t i = 0; i < 128; i++)
        ASSERT_EQ(seen[i], i + 1) << "every lane held the lock alone, once";
}

TEST(Divergence, LaneThatWaitsForAHigherLane)
{
    /* Lane 0 spins at a low pc on what lane 31 writes at a high one. */
    auto v = run("cvta.to.global.u64 %in, %in; setp.ne.u32 %p1, %tid0, 0; @%p1 bra OTHER;\nW: ld.volatile.global.u32 %r1, [%in]; setp.eq.u32 %p2, %r1, 0; @%p2 bra W; bra J;\nOTHER: mov.u32 %r1, 5; setp.eq.u32 %p3, %tid0, 31; @%p3 st.volatile.global.u32 [%in], 77;\nJ: st.global.u32 [%out], %r1; ret;", 1, 32);
    EXPECT_EQ(v[0], 77u);
    EXPECT_EQ(v[31], 5u);
}

TEST(Divergence, WarpThatSpinsOnAnotherWarp)
{
    auto v = run("setp.ge.u32 %p1, %tid0, 32; @%p1 bra OTHER;\nW: ld.volatile.shared.u32 %r1, [f]; setp.ne.u32 %p2, %r1, 77; @%p2 bra W; bra J;\nOTHER: mov.u32 %r1, 5; st.volatile.shared.u32 [f], 77;\nJ: st.global.u32 [%out], %r1; ret;", 1, 64, "", ".shared .align 4 .u32 f;\n");
    EXPECT_EQ(v[0], 77u);
    EXPECT_EQ(v[63], 5u);
}

TEST(Divergence, BlockThatSpinsOnLaterBlocks)
{
    /* A barrier of the whole grid: more blocks than workers. */
    auto v = run("cvta.to.global.u64 %in, %in; setp.ne.u32 %p1, %tid0, 0; @%p1 bra J; mov.u32 %r1, %nctaid.x; atom.global.add.u32 %r2, [%in], 1;\nW: ld.acquire.gpu.global.u32 %r3, [%in]; setp.lt.u32 %p2, %r3, %r1; @%p2 bra W;\nJ: bar.sync 0; ld.volatile.global.u32 %r4, [%in]; st.global.u32 [%out], %r4; ret;", 24, 64);
    for (uint32_t i = 0; i < 24 * 64; i++)
        ASSERT_EQ(v[i], 24u) << i;
}

TEST(Divergence, WhoWaitsForTheClockGivesWay)
{
    /* Few turns of a loop that reads the clock: the other warp, and nearly all other blocks, have had theirs when it ends. */
    const char *wait = "mov.u32 %r1, 0;\nW: mov.u32 %r2, %clock; st.shared.u32 [f+4], %r2; add.s32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 100; @%p2 bra W;\n";
    auto v = run("setp.ge.u32 %p1, %tid0, 32; @%p1 bra OTHER;\n" + std::string(wait) + "ld.shared.u32 %r1, [f]; bra J;\nOTHER: mov.u32 %r1, 5; st.shared.u32 [f], 77;\nJ: st.global.u32 [%out], %r1; ret;", 1, 64, "", ".shared .align 4 .b8 f[8];\n");
    EXPECT_EQ(v[0], 77u);
    auto b = run("cvta.to.global.u64 %in, %in; setp.ne.u32 %p1, %tid0, 0; @!%p1 red.global.add.u32 [%in], 1;\n" + std::string(wait) + "ld.global.u32 %r4, [%in]; st.global.u32 [%out], %r4; ret;", 100, 32, "", ".shared .align 4 .b8 f[8];\n");
    EXPECT_GE(b[0], 98u) << "of 100 blocks those may be missing that the two other workers begin just now";
}

TEST(Divergence, BlockThatSpinsOnLaterBlocksOverBarriers)
{
    auto v = run("cvta.to.global.u64 %in, %in; setp.ne.u32 %p1, %tid0, 0; mov.u32 %r1, %nctaid.x; @!%p1 atom.global.add.u32 %r2, [%in], 1;\nW: bar.sync 0; ld.volatile.global.u32 %r4, [%in]; bar.sync 0; setp.lt.u32 %p2, %r4, %r1; @%p2 bra W;\nst.global.u32 [%out], %r4; ret;", 24, 64);
    for (uint32_t i = 0; i < 24 * 64; i++)
        ASSERT_EQ(v[i], 24u) << i;
}

TEST(Divergence, CallsUnderDivergence)
{
    const char *f = ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %x, %y; .reg .pred %p; ld.param.u32 %x, [a]; setp.gt.u32 %p, %x, 50; @%p bra BIG; add.s32 %x, %x, 1; st.param.b32 [r], %x; ret;\nBIG: add.s32 %x, %x, 2; st.param.b32 [r], %x; ret; }\n";
    auto v = run("mov.u32 %r1, %gid; mov.u32 %r3, 0;\nL: and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra S; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r1, [b]; }\nS: add.s32 %r1, %r1, 3; add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 4; @%p2 bra L; activemask.b32 %r5; and.b32 %r5, %r5, 1; st.global.u32 [%out], %r1; ret;", 1, 64, "", f);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t x = i;
        for (int k = 0; k < 4; k++) {
            if (x & 1)
                x += x > 50 ? 2 : 1;
            x += 3;
        }
        ASSERT_EQ(v[i], x) << i;
    }
}

TEST(Divergence, ExitInsideACallee)
{
    const char *f = ".func f(.param .b32 a)\n{ .reg .b32 %x; .reg .pred %p; ld.param.u32 %x, [a]; setp.gt.u32 %p, %x, 20; @%p exit; ret; }\n";
    auto v = run("{ .param .b32 a; st.param.b32 [a], %tid0; call f, (a); }\nbar.sync 0; st.global.u32 [%out], 6; ret;", 1, 64, "", f);
    for (uint32_t i = 0; i < 64; i++)
        ASSERT_EQ(v[i], i > 20 ? 0u : 6u) << i;
}
