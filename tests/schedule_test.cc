/* schedule_test.cc - runs of mma that the decoder reorders (runtime/cpu/schedule.c), against the order of the PTX, which
 * traced launches keep. The programs are random over few registers, so that results, multiplicands and accumulators
 * depend on each other in every way; some have a branch into the middle of a run, some guards. */
#include "engine_harness.h"
#include <set>

namespace {

enum { REGISTERS = 24, LANES = 32 };

struct Random {
    uint64_t state;
    uint32_t next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (uint32_t)(state >> 33);
    }
    uint32_t below(uint32_t n) { return next() % n; }
};

std::string reg(uint32_t n) { return "%m" + std::to_string(n); }

/* One of three A mostly, so that there is something to bring together. */
std::string mma(Random &r, bool guards, uint32_t types_of, uint32_t length)
{
    static const char *const types[] = {"e4m3.e4m3", "e5m2.e4m3"};
    uint32_t a = r.below(4 + length / 4) ? 4 * r.below(3) : r.below(REGISTERS - 3);
    std::string text;
    if (guards && r.below(5) == 0)
        text += r.below(2) ? "@%p2 " : "@!%p2 ";
    text += std::string("mma.sync.aligned.m16n8k32.row.col.f16.") + types[types_of] + ".f16 {";
    uint32_t d = r.below(6 + length / 4) ? 12 + 2 * r.below(6) : 2 * r.below(12);
    text += reg(d) + ", " + reg(d + 1) + "}, {" + reg(a) + ", " + reg(a + 1) + ", " + reg(a + 2) + ", " + reg(a + 3) + "}, {";
    uint32_t b = r.below(4 + length / 4) ? r.below(7) : r.below(REGISTERS), c = r.below(2) ? d : 2 * r.below(12);
    return text + reg(b) + ", " + reg((b + 5) % REGISTERS) + "}, {" + reg(c) + ", " + reg(c + 1) + "};\n";
}

std::string program(Random &r, uint32_t length, bool branch, bool guards)
{
    std::string body = "ld.global.u32 %r2, [%in+" + std::to_string(4 * REGISTERS * LANES) + "];\nsetp.ne.u32 %p1, %r2, 0;\nsetp.gt.u32 %p2, %r2, 1;\n"
                       "add.s64 %rd1, %in, %wide;\n";
    for (uint32_t k = 0; k < REGISTERS; k++)
        body += "ld.global.u32 " + reg(k) + ", [%rd1+" + std::to_string(4 * LANES * k) + "];\n";
    if (branch)
        body += "@%p1 bra MIDDLE;\n";
    for (uint32_t k = 0; k < length; k++) {
        if (branch && k == length / 2)
            body += "MIDDLE:\n";
        body += mma(r, guards, k % 7 == 6, length);
    }
    for (uint32_t k = 0; k < REGISTERS; k++)
        body += "st.global.u32 [%out+" + std::to_string(4 * LANES * k) + "], " + reg(k) + ";\n";
    return entry("k", body + "ret;", ".reg .b32 %m<24>;\n");
}

std::vector<uint32_t> run(const std::string &text, const std::vector<uint32_t> &in, bool traced, uint32_t model)
{
    Ptx p(text, "sm_89", "8.7");
    Buffer<uint32_t> out(REGISTERS * LANES), input(in);
    p.launch.mma_model = model;
    if (traced)
        p.launch.trace = [](void *, const cpu_trace_event *) {};
    EXPECT_EQ(p.run("k", 1, LANES, Params().add(out).add(input)), CPU_OK) << p.message() << p.problems;
    return out.read();
}

void compare(uint32_t length, bool branch, bool guards)
{
    for (uint32_t seed = 1; seed <= 12; seed++) {
        Random r = {seed * 7919 + length};
        const std::string text = program(r, length, branch, guards);
        std::vector<uint32_t> in(REGISTERS * LANES + 1);
        for (uint32_t &x : in)
            x = (r.next() << 16 ^ r.next()) & 0xafafafafu;         /* small numbers of both signs */
        in.back() = seed % 3;
        for (uint32_t model : {0u, 6u}) {
            const std::vector<uint32_t> got = run(text, in, false, model), wanted = run(text, in, true, model);
            EXPECT_EQ(got, wanted) << "seed " << seed << " model " << model;
            EXPECT_GT(std::set<uint32_t>(wanted.begin(), wanted.end()).size(), 100u) << "the results say little";
        }
    }
}

TEST(Schedule, ShortRuns) { compare(6, false, false); }
TEST(Schedule, LongRuns) { compare(60, false, false); }
TEST(Schedule, RunsLongerThanAreReorderedAtOnce) { compare(300, false, false); }
TEST(Schedule, ABranchIntoARun) { compare(40, true, false); }
TEST(Schedule, Guards) { compare(40, false, true); }
TEST(Schedule, GuardsAndABranch) { compare(40, true, true); }

}  // namespace
