// inspect_loops_test.cc - loops: turns, bounded addresses, shared memory turn by turn; against plain interpretations and known answers.
#include "inspect_harness.h"
#include <algorithm>
#include <cstdlib>
#include <unordered_set>

namespace {

// One warp of threads along x, 4 along z: thread t has tid.x = t % 32 and tid.z = t / 32.
const std::string head = std::string(given) + "mad.lo.s32 %r50, %r2, 32, %r1;\n";       // %r50 = 0 … 127

std::string turns(const Analysis &a, uint32_t loop)
{
    const pti_loop &l = a.loops.list[loop];
    if (l.count == PTI_NONE) return "?";
    return a.formula(l.count) + (l.divisor == 1 ? "" : " / " + std::to_string(l.divisor));
}

struct Random {
    uint32_t seed;
    uint32_t operator()(uint32_t n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; }
};

// A loop over %r60 with a store in it, as text and as a function.
struct Loop {
    std::string text;
    int32_t a, b, step, bound, scale;
    uint32_t how, shape, update, guard;
    explicit Loop(Random &r)
    {
        static const char *const names[] = {"lt", "le", "gt", "ge", "ne"};
        static const int32_t steps[] = {1, 2, 3, 16, 64, -1, -2, -5};
        a = (int32_t)r(4) - 1, b = (int32_t)r(60), step = steps[r(8)], bound = (int32_t)r(200) - 20, scale = 4 * (1 + (int32_t)r(3));
        how = r(5), shape = r(3), update = r(5), guard = r(4);
        if (update == 3) b += 1;
        const std::string test = std::string("setp.") + names[how] + ".s32 %p1, %r60, " + std::to_string(bound) + ";\n";
        const std::string advance = update == 3 ? "shl.b32 %r60, %r60, 1;\n" : update == 4 ? "shr.u32 %r60, %r60, 1;\n" : "add.s32 %r60, %r60, " + std::to_string(step) + ";\n";
        std::string body = "mul.lo.s32 %r61, %r60, " + std::to_string(scale) + ";\nadd.s32 %r62, %r61, %r7;\n";
        if (guard == 1) body += "and.b32 %r63, %r60, 1;\nsetp.eq.s32 %p2, %r63, 1;\n@%p2 bra SKIP;\n";
        if (guard == 2) body += "setp.lt.s32 %p2, %r50, %r60;\n@%p2 bra SKIP;\n";
        body += guard == 3 ? "setp.gt.s32 %p2, %r60, 40;\n@%p2 st.shared.u32 [%r62], %r50;\n" : "st.shared.u32 [%r62], %r50;\n";
        text = "mul.lo.s32 %r59, %r50, " + std::to_string(a) + ";\nadd.s32 %r60, %r59, " + std::to_string(b) + ";\n";
        if (shape == 0) text += "L:\n" + test + "@!%p1 bra E;\n" + body + "SKIP:\n" + advance + "bra L;\nE:\n";
        if (shape == 1) text += "L:\n" + body + "SKIP:\n" + advance + test + "@%p1 bra L;\n";
        if (shape == 2) text += test + "@!%p1 bra E;\nL:\n" + body + "SKIP:\n" + advance + test + "@%p1 bra L;\nE:\n";
    }
    bool holds(int32_t i) const { return how == 0 ? i < bound : how == 1 ? i <= bound : how == 2 ? i > bound : how == 3 ? i >= bound : i != bound; }
    // The values of %r60 that are stored at; false when it does not end soon.
    bool run(int32_t thread, std::unordered_set<int32_t> &stored) const
    {
        int32_t i = a * thread + b;
        if (shape == 2 && !holds(i)) return true;
        for (int turn = 0; turn < 3000; turn++) {
            if (shape == 0 && !holds(i)) return true;
            bool stores = guard == 1 ? !(i & 1) : guard == 2 ? !(thread < i) : guard == 3 ? i > 40 : true;
            if (stores) stored.insert(i);
            if (llabs((int64_t)i) > 100000000) return false;
            i = update == 3 ? (int32_t)((uint32_t)i << 1) : update == 4 ? (int32_t)((uint32_t)i >> 1) : i + step;
            if (shape != 0 && !holds(i)) return true;
        }
        return false;
    }
};

}  // namespace

TEST(InspectLoops, RandomLoopsAgainstAnInterpretation)
{
    Random r = {7};
    uint32_t computed = 0, finite = 0;
    for (int round = 0; round < 200; round++) {
        Loop loop(r);
        std::unordered_set<int32_t> stored;
        bool ends = true;
        for (int t = 0; t < 128 && ends; t++) ends = loop.run(t, stored);
        Analysis a(head + loop.text);
        ASSERT_EQ(a.addresses.count, 1u);
        const pti_access &x = a.addresses.list[0];
        finite += ends;
        if (!x.computed) continue;
        computed += ends;
        if (!ends) continue;
        const pti_base_info &b = a.addresses.bases[0];
        EXPECT_EQ(b.touched, 4 * stored.size()) << loop.text;       /* their places do not overlap */
        if (stored.empty()) continue;
        EXPECT_EQ(x.low, (int64_t)loop.scale * *std::min_element(stored.begin(), stored.end())) << loop.text;
        EXPECT_EQ(x.high, (int64_t)loop.scale * *std::max_element(stored.begin(), stored.end()) + 4) << loop.text;
        EXPECT_FALSE(x.uncertain) << loop.text;
    }
    EXPECT_GT(finite, 80u);
    EXPECT_GT(computed * 10, finite * 9);        // the rest are values that a sign may change
}

TEST(InspectLoops, TurnsOfParametersAndConstants)
{
    // i = 5, 5 + 16 … while i < n, tested at the end and at the start; down to m; until equal.
    Analysis end(head + "mov.u32 %r60, 5; L: st.shared.u32 [mem], %r60; add.s32 %r60, %r60, 16; setp.lt.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_EQ(turns(end, 0), "n - 5 / 16");
    Analysis start(head + "mov.u32 %r60, 5; L: setp.ge.s32 %p1, %r60, %r5; @%p1 bra E; st.shared.u32 [mem], %r60; add.s32 %r60, %r60, 16; bra L; E:");
    EXPECT_EQ(turns(start, 0), "n - 5 / 16");
    EXPECT_TRUE(start.loops.list[0].test_leads);
    Analysis down(head + "mov.u32 %r60, %r5; L: st.shared.u32 [mem], %r60; add.s32 %r60, %r60, -2; setp.gt.s32 %p1, %r60, %r6; @%p1 bra L;");
    EXPECT_EQ(turns(down, 0), "n - m / 2");
    Analysis equal(head + "mov.u32 %r60, %r5; L: st.shared.u32 [mem], %r60; add.s32 %r60, %r60, -1; setp.ne.s32 %p1, %r60, 0; @%p1 bra L;");
    EXPECT_EQ(turns(equal, 0), "n");
    Analysis inclusive(head + "mov.u32 %r60, 0; L: st.shared.u32 [mem], %r60; add.s32 %r60, %r60, 4; setp.le.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_EQ(turns(inclusive, 0), "n + 1 / 4");
    // The wrong way round it has no such number; and one that memory decides has none.
    Analysis away(head + "mov.u32 %r60, 5; L: st.shared.u32 [mem], %r60; add.s32 %r60, %r60, 16; setp.gt.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_EQ(turns(away, 0), "?");
    Analysis loaded(head + "mov.u32 %r60, 5; L: st.shared.u32 [mem], %r60; add.s32 %r60, %r60, 16; ld.global.u32 %r61, [%d2]; setp.ne.s32 %p1, %r61, 0; @%p1 bra L;");
    EXPECT_EQ(turns(loaded, 0), "?");
    EXPECT_EQ(loaded.loops.list[0].last, nullptr);
    // For each thread: 0 … 127, 64 + …, below 256.
    Analysis threads(head + "mov.u32 %r60, %r50; L: shl.b32 %r61, %r60, 2; add.s32 %r62, %r61, %r7; st.shared.u32 [%r62], %r60; add.s32 %r60, %r60, 100; setp.lt.s32 %p1, %r60, 256; @%p1 bra L;");
    ASSERT_NE(threads.loops.list[0].last, nullptr);
    EXPECT_EQ(threads.loops.list[0].last[0], 2);
    EXPECT_EQ(threads.loops.list[0].last[55], 2);
    EXPECT_EQ(threads.loops.list[0].last[56], 1);
    EXPECT_EQ(threads.addresses.list[0].high, 1024);
    EXPECT_FALSE(threads.addresses.list[0].assumed);         // bounded, 4 * i cannot wrap
    // Two ways out: at most as many.
    Analysis twice(head + "mov.u32 %r60, 0; L: ld.global.u32 %r61, [%d2]; setp.eq.s32 %p2, %r61, 0; @%p2 bra E; add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, 9; @%p1 bra L; E:");
    EXPECT_FALSE(twice.loops.list[0].single);
    EXPECT_EQ(twice.loops.list[0].most, 8);
    // An exit that not every turn comes to bounds nothing.
    Analysis rare(head + "mov.u32 %r60, 0; L: add.s32 %r60, %r60, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra L; setp.lt.s32 %p1, %r60, 9; @%p1 bra L;");
    EXPECT_EQ(rare.loops.list[0].most, -1);
}

TEST(InspectLoops, NestsAndTheirOverruns)
{
    // mem[64 i + 4 j], i < 16, j < 16: 4 bytes too many when j may be 16.
    auto nest = [](int most) {
        return head + "mov.u32 %r60, 0; L: mov.u32 %r61, 0; M: shl.b32 %r62, %r60, 8; shl.b32 %r63, %r61, 4; add.s32 %r64, %r62, %r63; add.s32 %r65, %r64, %r7;"
                      "st.shared.v4.u32 [%r65], {%r1, %r1, %r1, %r1}; add.s32 %r61, %r61, 1; setp.lt.s32 %p1, %r61, " + std::to_string(most) + "; @%p1 bra M;"
                      "add.s32 %r60, %r60, 1; setp.lt.s32 %p2, %r60, 16; @%p2 bra L;";
    };
    Analysis fits(nest(16)), over(nest(17));
    ASSERT_EQ(fits.loops.count, 2u);
    EXPECT_EQ(fits.loops.list[1].parent, 0u);
    EXPECT_EQ(fits.addresses.bases[0].touched, 4096u);
    EXPECT_EQ(fits.shared.noverruns, 0u);
    ASSERT_EQ(over.shared.noverruns, 1u);
    EXPECT_EQ(over.shared.overruns[0].high, 4112);
    EXPECT_FALSE(over.shared.overruns[0].uncertain);
    // A guard on a parameter: it may.
    Analysis maybe(head + "setp.ge.s32 %p1, %r50, %r5; @%p1 bra E; mad.lo.s32 %r60, %r50, 64, %r7; st.shared.u32 [%r60], %r1; E:");
    ASSERT_EQ(maybe.shared.noverruns, 1u);
    EXPECT_TRUE(maybe.shared.overruns[0].uncertain);
    // Either of two conditions: no single branch decides, and still it is not certain.
    Analysis either(head + "setp.ge.s32 %p1, %r50, %r5; @%p1 bra S; setp.ge.s32 %p2, %r50, %r6; @%p2 bra E; S: mad.lo.s32 %r60, %r50, 64, %r7; st.shared.u32 [%r60], %r1; E:");
    ASSERT_EQ(either.shared.noverruns, 1u);
    EXPECT_TRUE(either.shared.overruns[0].uncertain);
    // Behind a loop its counter is what it ended with.
    Analysis behind(head + "mov.u32 %r60, 0; L: add.s32 %r60, %r60, 4; setp.lt.s32 %p1, %r60, 100; @%p1 bra L; mad.lo.s32 %r61, %r60, 1, %r7; st.shared.u32 [%r61], %r1;");
    EXPECT_EQ(behind.addresses.list[0].low, 100);
    EXPECT_EQ(behind.addresses.list[0].high, 104);
    // Unknown turns and no mask: not known, and said to be.
    Analysis open(head + "mov.u32 %r60, 0; L: mad.lo.s32 %r61, %r60, 4, %r7; st.shared.u32 [%r61], %r1; add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_FALSE(open.addresses.list[0].computed);
    EXPECT_EQ(open.addresses.bases[0].open_on & PTI_ON_TURN, (uint32_t)PTI_ON_TURN);
    EXPECT_EQ(open.shared.nopen, 1u);
}

TEST(InspectLoops, BranchesOnConstantsAreNoWays)
{
    // 128 threads, tid + 128 k below 512: four turns for all, so that the loop for what is left over is never entered and its phi is tid.
    Analysis a(head + "sub.s32 %r51, 511, %r50; shr.u32 %r52, %r51, 7; add.s32 %r53, %r52, 1; and.b32 %r54, %r53, 3; mov.u32 %r60, %r50; setp.eq.s32 %p1, %r54, 0; @%p1 bra M;"
                      "L: add.s32 %r60, %r60, 128; sub.s32 %r54, %r54, 1; setp.ne.s32 %p2, %r54, 0; @%p2 bra L; M: mad.lo.s32 %r61, %r60, 4, %r7; st.shared.u32 [%r61], %r1;");
    EXPECT_EQ(a.offset(0), "128*tid.z + 4*tid.x");
    EXPECT_EQ(a.loops.list[0].last[0], -1);
}

namespace {

// Two buffers of 2048 bytes: a turn reads buffer (i + reads) & 1 and writes buffer (i + writes) & 1, other rows than it read.
std::string buffers(int reads, int writes, bool barrier, const char *bound = "%r5")
{
    const std::string place = "and.b32 %r62, %r61, 1; shl.b32 %r63, %r62, 11; add.s32 %r64, %r63, %r7;";
    return head + "sub.s32 %r51, 127, %r50; shl.b32 %r52, %r50, 2; shl.b32 %r53, %r51, 2; add.s32 %r54, %r52, %r7; st.shared.u32 [%r54], %r1; bar.sync 0; mov.u32 %r60, 0;\n"
                  "L: add.s32 %r61, %r60, " + std::to_string(reads) + ";" + place + "add.s32 %r65, %r64, %r53; ld.shared.u32 %r66, [%r65];\n"
                  "add.s32 %r61, %r60, " + std::to_string(writes) + ";" + place + "add.s32 %r67, %r64, %r52; st.shared.u32 [%r67], %r66;\n" +
           (barrier ? "bar.sync 0;\n" : "") + "add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, " + bound + "; @%p1 bra L;\n";
}

}  // namespace

TEST(InspectLoops, TwoBuffersInTurn)
{
    for (const char *bound : {"%r5", "6"}) {
        Analysis right(buffers(0, 1, true, bound));
        EXPECT_TRUE(right.shared.decided);
        EXPECT_EQ(right.shared.nopen, 0u);
        EXPECT_EQ(right.shared.nconflicts, 0u) << bound;
        EXPECT_EQ(right.shared.barriers[0].verdict, PTI_NEEDED);
        EXPECT_EQ(right.shared.barriers[1].verdict, PTI_NEEDED);
        Analysis same(buffers(0, 0, true, bound));           // it writes what it reads
        EXPECT_EQ(same.shared.nconflicts, 2u) << bound;      // behind the first barrier, and behind that of the turn before
        Analysis missing(buffers(0, 1, false, bound));       // the next turn reads what this one writes
        EXPECT_GE(missing.shared.nconflicts, 1u) << bound;
    }
    // One turn: nobody reads what it has written.
    Analysis once(buffers(0, 1, true, "1"));
    EXPECT_EQ(once.shared.barriers[1].verdict, PTI_REDUNDANT);
    EXPECT_EQ(once.shared.nconflicts, 0u);
}

TEST(InspectLoops, AConditionOnTheTurnOfAnUnknownLoop)
{
    // In turn 5 alone all warps write one place: it must not be lost because turn 0 does not.
    Analysis a(head + "mov.u32 %r60, 0; L: setp.ne.s32 %p2, %r60, 5; @%p2 bra S; st.shared.u32 [mem], %r1; S: bar.sync 0; add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_EQ(a.shared.nconflicts, 1u);
    EXPECT_TRUE(a.shared.conflicts[0].uncertain);
    Analysis known(head + "mov.u32 %r60, 0; L: setp.ne.s32 %p2, %r60, 5; @%p2 bra S; st.shared.u32 [mem], %r1; S: bar.sync 0; add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, 9; @%p1 bra L;");
    EXPECT_EQ(known.shared.nconflicts, 1u);                  // not in the first turn, which alone stands before the first barrier
    EXPECT_FALSE(known.shared.conflicts[0].uncertain);
    Analysis never(head + "mov.u32 %r60, 0; L: setp.ne.s32 %p2, %r60, 50; @%p2 bra S; st.shared.u32 [mem], %r1; S: bar.sync 0; add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, 9; @%p1 bra L;");
    EXPECT_EQ(never.shared.nconflicts, 0u);
    // Two turns stand for all of an offset that repeats itself, but not of a condition that does not.
    Analysis once(head + "mov.u32 %r60, 0; L: setp.ne.s32 %p2, %r60, 5; @%p2 bra S; and.b32 %r61, %r60, 1; mad.lo.s32 %r62, %r61, 2048, %r7; st.shared.u32 [%r62], %r1;"
                         "S: add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_TRUE(once.addresses.list[0].computed);
    EXPECT_EQ(once.addresses.list[0].high, 2052);
    EXPECT_TRUE(once.addresses.list[0].uncertain);
    Analysis odd(head + "mov.u32 %r60, 0; L: and.b32 %r61, %r60, 1; setp.eq.s32 %p2, %r61, 0; @%p2 bra S; mad.lo.s32 %r62, %r61, 2048, %r7; st.shared.u32 [%r62], %r1;"
                        "S: add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, %r5; @%p1 bra L;");
    EXPECT_EQ(odd.addresses.list[0].low, 2048);
}

TEST(InspectLoops, AReductionThatHalves)
{
    // s = 64, 32 … 1: thread t < s adds what stands s behind it. Barriers in every turn are needed; without one turns meet.
    auto reduction = [](const char *barrier, const char *less) {
        return head + "shl.b32 %r51, %r50, 2; add.s32 %r52, %r51, %r7; st.shared.u32 [%r52], %r1; bar.sync 0; mov.u32 %r60, 64;\n"
                      "L: setp." + less + ".u32 %p2, %r50, %r60; @!%p2 bra S; shl.b32 %r61, %r60, 2; add.s32 %r62, %r52, %r61; ld.shared.u32 %r63, [%r62]; ld.shared.u32 %r64, [%r52];"
                      "add.s32 %r65, %r63, %r64; st.shared.u32 [%r52], %r65; S: " + barrier + " shr.u32 %r60, %r60, 1; setp.ne.s32 %p1, %r60, 0; @%p1 bra L;";
    };
    Analysis right(reduction("bar.sync 0;", "lt"));
    EXPECT_EQ(right.shared.nopen, 0u);
    EXPECT_EQ(right.shared.nconflicts, 0u);
    EXPECT_EQ(right.loops.list[0].most, 6);
    EXPECT_EQ(right.shared.barriers[1].verdict, PTI_NEEDED);
    Analysis missing(reduction("", "lt"));
    EXPECT_GE(missing.shared.nconflicts, 1u);
    Analysis wrong(reduction("bar.sync 0;", "le"));           // thread s adds what stands at 2 s while thread 0 adds what it writes
    EXPECT_GE(wrong.shared.nconflicts, 1u);
    EXPECT_FALSE(wrong.shared.conflicts[0].uncertain);
}

TEST(InspectLoops, StrangeOnesDoNoHarm)
{
    Analysis irreducible(head + "@%p1 bra M; L: add.s32 %r60, %r60, 1; M: st.shared.u32 [mem], %r60; @%p2 bra L;");
    EXPECT_EQ(irreducible.loops.count, 0u);
    Analysis endless(head + "L: st.shared.u32 [mem], %r60; bra L;");
    EXPECT_EQ(endless.loops.list[0].test, (uint32_t)PTI_NONE);
    Analysis long_one(head + "mov.u32 %r60, 0; L: add.s32 %r60, %r60, 1; setp.lt.s32 %p1, %r60, 1000000; @%p1 bra L;");
    EXPECT_EQ(long_one.loops.list[0].last, nullptr);
    EXPECT_EQ(turns(long_one, 0), "1000000");
    std::string nest = head, ends;
    for (int i = 0; i < 400; i++) {
        nest += "L" + std::to_string(i) + ": mov.u32 %r60, 0;\n";
        ends = "@%p1 bra L" + std::to_string(i) + ";\n" + ends;
    }
    Analysis deep(nest + "st.shared.u32 [mem], %r60;\n" + ends);
    EXPECT_EQ(deep.loops.count, 400u);
}
