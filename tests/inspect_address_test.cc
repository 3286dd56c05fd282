// inspect_address_test.cc - formulas of addresses: their text, and their values against a plain interpretation of the same program.
#include "inspect_harness.h"
#include <cstring>
#include <functional>

namespace {

std::string global_offset(const std::string &body)
{
    Analysis a(given + body);
    EXPECT_EQ(a.addresses.count, 1u);
    EXPECT_EQ(a.base(0), "p");
    return a.offset(0);
}

}  // namespace

TEST(InspectAddress, SumsOfWhatAThreadIsGiven)
{
    EXPECT_EQ(global_offset("mad.lo.s32 %r10, %r4, 128, %r1; mul.wide.u32 %d3, %r10, 4; add.s64 %d4, %d2, %d3; ld.global.u32 %r11, [%d4+8];"),
              "512*ctaid.x + 4*tid.x + 8");
    EXPECT_EQ(global_offset("mul.lo.s32 %r10, %r2, 12288; cvt.u64.u32 %d3, %r10; add.s64 %d4, %d2, %d3; mul.wide.u32 %d5, %r3, 16;"
                            "add.s64 %d6, %d5, %d4; ld.global.u32 %r11, [%d6];"), "12288*tid.z + 16*laneid");
    EXPECT_EQ(global_offset("mad.lo.s32 %r10, %r4, %r5, %r1; shl.b32 %r12, %r10, 1; mul.wide.s32 %d3, %r12, 2; add.s64 %d4, %d2, %d3; ld.global.u32 %r11, [%d4];"),
              "4*ctaid.x*n + 4*tid.x");
}

TEST(InspectAddress, MasksShiftsAndDivisionsByMultiplication)
{
    EXPECT_EQ(global_offset("shl.b32 %r10, %r3, 2; cvt.u64.u32 %d3, %r10; and.b64 %d4, %d3, 12; add.s64 %d5, %d2, %d4; ld.global.u32 %r11, [%d5+49920];"),
              "4*(laneid & 3) + 49920");
    EXPECT_EQ(global_offset("shr.u32 %r10, %r3, 2; mul.wide.u32 %d3, %r3, -1431655765; shr.u64 %d4, %d3, 36; cvt.u32.u64 %r12, %d4;"
                            "mad.lo.s32 %r13, %r12, -6, %r10; mul.wide.u32 %d5, %r13, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r11, [%d6];"),
              "-24*(laneid / 24) + 4*(laneid >> 2)");
    EXPECT_EQ(global_offset("and.b32 %r10, %r3, 3; shl.b32 %r12, %r4, 3; or.b32 %r13, %r12, %r10; or.b32 %r14, %r13, 4;"
                            "mul.wide.u32 %d5, %r14, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r11, [%d6];"),
              "32*ctaid.x + 4*(laneid & 3) + 16");
    EXPECT_EQ(global_offset("and.b32 %r10, %r3, 3; bfi.b32 %r13, %r4, %r10, 3, 29; mul.wide.u32 %d5, %r13, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r11, [%d6];"),
              "32*ctaid.x + 4*(laneid & 3)");
    EXPECT_EQ(global_offset("and.b32 %r10, %r3, -8; shl.b32 %r12, %r10, 1; and.b32 %r13, %r12, 255; mul.wide.u32 %d5, %r13, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r11, [%d6];"),
              "64*(laneid >> 3)");
    EXPECT_EQ(global_offset("min.u32 %r10, %r3, 35; add.s32 %r12, %r6, -1; min.u32 %r13, %r4, %r12; mad.lo.s32 %r14, %r13, 8, %r10;"
                            "mul.wide.u32 %d5, %r14, 4; add.s64 %d6, %d2, %d5; ld.global.u32 %r11, [%d6];"), "32*min(ctaid.x, m - 1) + 4*laneid");
}

TEST(InspectAddress, LoopsCountTheirTurns)
{
    Analysis a(std::string(given) + "mov.u32 %r10, %r1; mov.u64 %d3, %d2; L: add.s64 %d3, %d3, 64; mad.lo.s32 %r11, %r10, 4, %r7; st.shared.u32 [%r11], %r10;"
               "ld.global.u32 %r12, [%d3+-64]; mov.u32 %r13, %ntid.x; add.s32 %r10, %r10, %r13; setp.lt.s32 %p1, %r10, %r5; @%p1 bra L;");
    ASSERT_EQ(a.addresses.count, 2u);
    EXPECT_EQ(a.base(0), "mem");
    EXPECT_EQ(a.offset(0), "128*turn(s13) + 4*tid.x");
    EXPECT_EQ(a.base(1), "p");
    EXPECT_EQ(a.offset(1), "64*turn(s13)");
}

TEST(InspectAddress, LoopsCountDown)
{
    Analysis a(std::string(given) + "add.s32 %r10, %r7, 2048; mov.u32 %r12, 4; L: sub.s32 %r10, %r10, 64; mad.lo.s32 %r11, %r3, 4, %r10; st.shared.u32 [%r11], %r1;"
               "sub.s32 %r10, %r10, %r12; add.s32 %r9, %r9, 1; setp.lt.s32 %p1, %r9, %r5; @%p1 bra L;");
    EXPECT_EQ(a.offset(0), "-68*turn(s13) + 4*laneid + 1984");
    // What is subtracted from comes round, not what is subtracted.
    Analysis b(std::string(given) + "mov.u32 %r10, 64; L: sub.s32 %r10, %r7, %r10; st.shared.u32 [%r10], %r1; setp.lt.s32 %p1, %r9, %r5; @%p1 bra L;");
    EXPECT_FALSE(b.addresses.list[0].computed);
}

TEST(InspectAddress, WhatIsNotUnderstoodIsShown)
{
    Analysis a(std::string(given) + "ld.global.u32 %r10, [%d2]; mul.wide.u32 %d3, %r10, 4; add.s64 %d4, %d2, %d3; ld.global.u64 %d5, [%d4]; ld.global.u32 %r12, [%d5+16];");
    ASSERT_EQ(a.addresses.count, 3u);
    EXPECT_EQ(a.offset(1), "4*%r10@s10");
    EXPECT_EQ(a.base(1), "%d5@s13");
    EXPECT_EQ(a.offset(2), "16");
    EXPECT_EQ(a.addresses.bases[0].nopen, 1u);
    EXPECT_EQ(a.addresses.bases[0].open_on & PTI_ON_VALUE, (uint32_t)PTI_ON_VALUE);
}

TEST(InspectAddress, ExtentsFollowThreadsAndBranches)
{
    // 128 threads store 4 bytes each, but only those with tid.x < 8; the second store is for z = 3 alone.
    Analysis a(std::string(given) + "mad.lo.s32 %r10, %r2, 256, %r7; mad.lo.s32 %r11, %r1, 4, %r10; setp.gt.u32 %p1, %r1, 7; @%p1 bra E;"
               "st.shared.u32 [%r11], %r1; setp.eq.s32 %p2, %r2, 3; @%p2 st.shared.u32 [%r11+2048], %r1; E:");
    ASSERT_EQ(a.addresses.count, 2u);
    EXPECT_EQ(a.addresses.list[0].low, 0);
    EXPECT_EQ(a.addresses.list[0].high, 3 * 256 + 32);
    EXPECT_EQ(a.addresses.list[1].low, 2048 + 768);
    EXPECT_EQ(a.addresses.list[1].high, 2048 + 768 + 32);
    const pti_base_info &b = a.addresses.bases[0];
    EXPECT_EQ(b.touched, 5u * 32);
    EXPECT_EQ(b.ngaps, 4u);
    EXPECT_EQ(b.gaps[0].from, 32);
    EXPECT_EQ(b.gaps[0].to, 256);
    EXPECT_EQ(b.repeated, 0u);
}

TEST(InspectAddress, WithoutABlockTidStaysOpen)
{
    Analysis a(std::string(given) + "mad.lo.s32 %r10, %r3, 16, %r7; st.shared.u32 [%r10], %r1; mad.lo.s32 %r11, %r2, 512, %r10; st.shared.u32 [%r11], %r1;", {{0, 0, 0}});
    EXPECT_EQ(a.threads.count, 32u);
    EXPECT_TRUE(a.addresses.list[0].computed);
    EXPECT_EQ(a.addresses.list[0].high, 31 * 16 + 4);
    EXPECT_FALSE(a.addresses.list[1].computed);
    EXPECT_EQ(a.offset(1), "512*tid.z + 16*laneid");
}

TEST(InspectAddress, SlotsAndPatterns)
{
    Analysis a(std::string(given) + "mul.wide.u32 %d3, %r3, 16; add.s64 %d4, %d2, %d3; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4]; ld.global.v4.u32 {%r10, _, %r12, %r13}, [%d4+512];"
               "ld.global.u32 %r10, [%d4+4]; st.global.u32 [%d4+4], %r10;");
    const pti_base_info &b = a.addresses.bases[0];
    EXPECT_EQ(b.slots, 8u);
    EXPECT_EQ(b.npatterns, 2u);
    EXPECT_EQ(b.nreads, 3u);
    EXPECT_EQ(b.nwrites, 1u);
    EXPECT_EQ(a.addresses.patterns[0].count, 3u);
    EXPECT_EQ(b.repeated, 128u);
}

// ------------------------------------------------------------ against an interpretation

namespace {

struct Machine { uint32_t r[200]; uint64_t d[80]; uint16_t h[40]; bool p[40]; };

struct Program {
    std::string text;
    std::vector<std::function<void(Machine &)>> steps;
    uint32_t next = 0, seed;
    explicit Program(uint32_t s) : seed(s) {}
    uint32_t random(uint32_t n) { seed = seed * 1664525u + 1013904223u; return (seed >> 8) % n; }
    std::string r(uint32_t i) { return "%r" + std::to_string(i); }

    void add()
    {
        static const uint32_t masks[] = {3, 7, 12, 0xfffffff8, 0x3ffffff8, 31, 0x55, 0xff00, 1};
        static const int32_t immediates[] = {1, -1, 4, 35, 40, -6, 12288, 2, 9, -8};
        uint32_t a = source(), b = source(), d = 20 + next++, k = 1 + random(5), mask = masks[random(9)];
        int32_t imm = immediates[random(10)];
        std::string D = r(d), A = r(a), B = r(b), K = std::to_string(k), I = std::to_string(imm);
        auto emit = [&](const std::string &t, std::function<void(Machine &)> f) { text += t + ";\n"; steps.push_back(f); };
        switch (random(24)) {
        case 0: emit("add.s32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = m.r[a] + m.r[b]; }); break;
        case 1: emit("sub.s32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = m.r[a] - m.r[b]; }); break;
        case 2: emit("add.s32 " + D + ", " + A + ", " + I, [=](Machine &m) { m.r[d] = m.r[a] + (uint32_t)imm; }); break;
        case 3: emit("mul.lo.s32 " + D + ", " + A + ", " + I, [=](Machine &m) { m.r[d] = m.r[a] * (uint32_t)imm; }); break;
        case 4: emit("mad.lo.s32 " + D + ", " + A + ", " + B + ", " + A, [=](Machine &m) { m.r[d] = m.r[a] * m.r[b] + m.r[a]; }); break;
        case 5: emit("shl.b32 " + D + ", " + A + ", " + K, [=](Machine &m) { m.r[d] = m.r[a] << k; }); break;
        case 6: emit("shr.u32 " + D + ", " + A + ", " + K, [=](Machine &m) { m.r[d] = m.r[a] >> k; }); break;
        case 7: emit("shr.s32 " + D + ", " + A + ", " + K, [=](Machine &m) { m.r[d] = (uint32_t)((int32_t)m.r[a] >> k); }); break;
        case 8: emit("and.b32 " + D + ", " + A + ", " + std::to_string(mask), [=](Machine &m) { m.r[d] = m.r[a] & mask; }); break;
        case 9: emit("and.b32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = m.r[a] & m.r[b]; }); break;
        case 10: emit("or.b32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = m.r[a] | m.r[b]; }); break;
        case 11: emit("xor.b32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = m.r[a] ^ m.r[b]; }); break;
        case 12: emit("min.u32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = std::min(m.r[a], m.r[b]); }); break;
        case 13: emit("max.s32 " + D + ", " + A + ", " + I, [=](Machine &m) { m.r[d] = (uint32_t)std::max((int32_t)m.r[a], imm); }); break;
        case 14: emit("min.s32 " + D + ", " + A + ", " + B, [=](Machine &m) { m.r[d] = (uint32_t)std::min((int32_t)m.r[a], (int32_t)m.r[b]); }); break;
        case 15: emit("bfi.b32 " + D + ", " + A + ", " + B + ", " + K + ", 9", [=](Machine &m) { uint32_t f = 511u << k; m.r[d] = (m.r[b] & ~f) | ((m.r[a] << k) & f); }); break;
        case 16: emit("bfe.u32 " + D + ", " + A + ", " + K + ", 3", [=](Machine &m) { m.r[d] = (m.r[a] >> k) & 7; }); break;
        case 17: emit("setp.gt.u32 %p1, " + A + ", 9;\nselp.b32 " + D + ", " + A + ", " + B + ", %p1", [=](Machine &m) { m.r[d] = m.r[a] > 9 ? m.r[a] : m.r[b]; }); break;
        case 18: emit("setp.lt.s32 %p2, " + A + ", " + B + ";\nselp.b32 " + D + ", 0, " + B + ", %p2", [=](Machine &m) { m.r[d] = (int32_t)m.r[a] < (int32_t)m.r[b] ? 0 : m.r[b]; }); break;
        case 19: emit("cvt.u16.u32 %h1, " + A + ";\nmul.wide.u16 " + D + ", %h1, -21845", [=](Machine &m) { m.r[d] = (m.r[a] & 0xffff) * 43691; }); break;
        case 20: emit("mul.wide.u32 %d10, " + A + ", -1431655765;\nshr.u64 %d11, %d10, 36;\ncvt.u32.u64 " + D + ", %d11", [=](Machine &m) { m.r[d] = (uint32_t)((uint64_t)m.r[a] * 2863311531u >> 36); }); break;
        case 21: emit("mul.hi.u32 " + D + ", " + A + ", 1431655766", [=](Machine &m) { m.r[d] = (uint32_t)((uint64_t)m.r[a] * 1431655766u >> 32); }); break;
        case 22: emit("rem.u32 " + D + ", " + A + ", 6", [=](Machine &m) { m.r[d] = m.r[a] % 6; }); break;
        default: emit("setp.ge.u32 %p3, " + A + ", " + B + ";\nmov.u32 " + D + ", 5;\n@%p3 add.s32 " + D + ", " + A + ", 3", [=](Machine &m) { m.r[d] = m.r[a] >= m.r[b] ? m.r[a] + 3 : 5; }); break;
        }
    }
    uint32_t source() { return next && random(3) ? 20 + (next > 6 && random(2) ? next - 1 - random(6) : random(next)) : 1 + random(3); }
};

}  // namespace

TEST(InspectAddress, RandomProgramsAgainstAnInterpretation)
{
    uint32_t evaluated = 0;
    for (uint32_t round = 0; round < 200; round++) {
        Program p(round + 1);
        for (int i = 0; i < 40; i++) p.add();
        Analysis a(given + p.text);
        std::vector<Machine> machines(128);
        for (uint32_t t = 0; t < 128; t++) {
            std::memset(&machines[t], 0, sizeof(Machine));
            machines[t].r[1] = t % 32;
            machines[t].r[2] = t / 32;
            machines[t].r[3] = t % 32;
            for (auto &step : p.steps) step(machines[t]);
        }
        std::vector<int64_t> values(128);
        for (uint32_t v = 0; v < a.flow.nvalues; v++) {
            const char *name = a.f->registers[a.flow.values[v].reg].name;
            uint32_t number = std::strncmp(name, "%r", 2) == 0 ? (uint32_t)std::stoul(name + 2) : 0;
            // The last value of each register, since the machine keeps only that.
            bool last = number >= 20;
            for (uint32_t w = v + 1; w < a.flow.nvalues; w++) last &= a.flow.values[w].reg != a.flow.values[v].reg;
            if (!last || a.symbols.assumed[v] || !pti_evaluate(&a.symbols, a.symbols.of_value[v], values.data())) continue;
            evaluated++;
            for (uint32_t t = 0; t < 128; t++)
                ASSERT_EQ((uint32_t)values[t], machines[t].r[number]) << "round " << round << " " << name << " thread " << t << "\n" << p.text;
        }
    }
    EXPECT_GT(evaluated, 7000u);       // nearly all of 200 * 40
}
