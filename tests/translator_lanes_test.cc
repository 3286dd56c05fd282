// translator_lanes_test.cc - lanes that wait for each other in AMD code (translator/plan.c, dispatch.c), held to what a loop over the lanes computes.
#include <gtest/gtest.h>
#include <cstring>
#include <string>
#include <vector>
#include "include/ptxbridge.h"

namespace
{

class Lanes : public testing::TestWithParam<const char *>
{
protected:
    pxb_context *ctx = nullptr;
    pxb_device *dev = nullptr;

    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        ASSERT_EQ(pxb_device_open(ctx, GetParam(), &dev), PXB_OK) << pxb_last_error(ctx)->message;
    }
    void TearDown() override { pxb_context_destroy(ctx); }

    // A kernel whose first parameter is the address of an output, one word for each thread of one block.
    std::vector<uint32_t> run(const std::string &body, uint32_t threads, std::vector<uint32_t> more = {})
    {
        std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out";
        for (size_t i = 0; i < more.size(); i++) text += ", .param .u32 p" + std::to_string(i);
        text += ")\n{\n.reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<8>;\n.shared .align 4 .b32 flags[4];\n.shared .align 4 .b32 table[128];\n"
                "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5;\n" + body +
                "ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r10; ret;\n}\n";
        pxb_module *mod = nullptr;
        pxb_kernel *k = nullptr;
        pxb_address out = 0;
        std::vector<uint32_t> got(threads);
        EXPECT_EQ(pxb_module_load_text(ctx, text.data(), text.size(), "lanes.ptx", &mod), PXB_OK) << pxb_last_error(ctx)->message;
        EXPECT_EQ(pxb_kernel_get(dev, mod, "k", &k), PXB_OK) << pxb_last_error(ctx)->message;
        EXPECT_EQ(pxb_memory_alloc(dev, threads * 4, &out), PXB_OK);
        std::vector<const void *> params = {&out};
        for (uint32_t &v : more) params.push_back(&v);
        pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
        o.block[0] = threads;
        o.timeout_ms = 20000;
        EXPECT_EQ(pxb_launch(k, &o, params.data(), (uint32_t)params.size()), PXB_OK) << pxb_last_error(ctx)->message;
        EXPECT_EQ(pxb_memory_read(dev, got.data(), out, threads * 4), PXB_OK);
        return got;
    }
};

// Lane 0 of each warp waits for what lane 31 writes, which structured control flow would run later.
const char *const spin =
    "shl.b32 %r4, %r3, 2; mov.u32 %r5, flags; add.u32 %r4, %r5, %r4; st.shared.u32 [%r4], 0; bar.sync 0;\n"
    "setp.ne.u32 %p1, %r2, 0; @%p1 bra WRITE;\n"
    "SPIN: ld.volatile.shared.u32 %r6, [%r4]; setp.eq.u32 %p2, %r6, 0; @%p2 bra SPIN;\n"
    "bra JOIN;\n"
    "WRITE: setp.ne.u32 %p3, %r2, 31; @%p3 bra JOIN; st.volatile.shared.u32 [%r4], 1;\n"
    "JOIN:\n";

// The first collective behind the loop waits for lane 0; those after it, in a loop too, stand where all lanes are together, and lanes that
// divide and join between them change nothing.
TEST_P(Lanes, CollectivesBehindALoopThatWaits)
{
    auto v = run(std::string(spin) +
                 "mul.lo.u32 %r10, %r1, 7; mov.u32 %r11, -1; mov.u32 %r12, 0;\n"
                 "shfl.sync.bfly.b32 %r10, %r10, 1, 31, %r11;\n"
                 "LOOP: and.b32 %r13, %r2, 1; setp.eq.u32 %p4, %r13, 0; @%p4 bra EVEN;\n"
                 "mad.lo.u32 %r10, %r10, 3, %r12; bra NEXT;\n"
                 "EVEN: add.u32 %r10, %r10, 5;\n"
                 "NEXT: shfl.sync.bfly.b32 %r14, %r10, 2, 31, %r11; add.u32 %r10, %r10, %r14;\n"
                 "add.u32 %r12, %r12, 1; setp.lt.u32 %p5, %r12, 4; @%p5 bra LOOP;\n"
                 "vote.sync.ballot.b32 %r15, %p4, -1; xor.b32 %r10, %r10, %r15;\n", 64);
    std::vector<uint32_t> x(64), y(64);
    for (uint32_t i = 0; i < 64; i++) x[i] = (i ^ 1) * 7;
    for (uint32_t n = 0; n < 4; n++) {
        for (uint32_t i = 0; i < 64; i++) y[i] = i & 1 ? x[i] * 3 + n : x[i] + 5;
        for (uint32_t i = 0; i < 64; i++) x[i] = y[i] + y[i ^ 2];
    }
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(v[i], x[i] ^ 0x55555555u) << i;
}

// A barrier behind the loop, and one behind a collective of a few lanes only.
TEST_P(Lanes, BarriersBehindALoopThatWaits)
{
    auto v = run(std::string(spin) +
                 "shl.b32 %r16, %r1, 2; mov.u32 %r17, table; add.u32 %r18, %r17, %r16;\n"
                 "mul.lo.u32 %r10, %r1, 11; st.shared.u32 [%r18], %r10; bar.sync 0;\n"
                 "sub.u32 %r19, 63, %r1; shl.b32 %r19, %r19, 2; add.u32 %r19, %r17, %r19; ld.shared.u32 %r10, [%r19]; bar.sync 0;\n"
                 "setp.ge.u32 %p6, %r2, 8; @%p6 bra OVER; shfl.sync.bfly.b32 %r10, %r10, 4, 31, 0xff; add.u32 %r10, %r10, 1;\n"
                 "OVER: st.shared.u32 [%r18], %r10; bar.sync 0;\n"
                 "xor.b32 %r20, %r16, 128; add.u32 %r20, %r17, %r20; ld.shared.u32 %r10, [%r20];\n"
                 "shfl.sync.bfly.b32 %r21, %r10, 16, 31, -1; mad.lo.u32 %r10, %r21, 1000, %r10;\n", 64);
    std::vector<uint32_t> x(64), y(64);
    for (uint32_t i = 0; i < 64; i++) x[i] = (63 - i) * 11;
    for (uint32_t i = 0; i < 64; i++) y[i] = i % 32 < 8 ? x[i ^ 4] + 1 : x[i];
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(v[i], y[i ^ 32 ^ 16] * 1000 + y[i ^ 32]) << i;
}

// One shuffle names half of the warp, in a loop that lanes leave one by one, another all of it: "waits until all non-exited threads
// corresponding to membermask have executed [it] with the same […] membermask value" (PTX ISA, "shfl.sync").
TEST_P(Lanes, WhoNamesOtherLanesIsWaitedFor)
{
    auto v = run("ld.param.u32 %r20, [p0]; ld.param.u32 %r21, [p1]; shr.u32 %r5, %r2, 4; add.u32 %r5, %r5, 5; mov.u32 %r6, 0;\n"
                 "mul.lo.u32 %r10, %r1, 7; setp.ge.u32 %p1, %r2, 16; @%p1 bra AFTER;\n"
                 "LOOP: shfl.sync.bfly.b32 %r7, %r10, 1, 31, %r20; mad.lo.u32 %r10, %r7, 3, %r6; add.u32 %r6, %r6, 1;\n"
                 "setp.lt.u32 %p2, %r6, %r5; @%p2 bra LOOP;\n"
                 "AFTER: shfl.sync.bfly.b32 %r10, %r10, 16, 31, %r21;\n", 64, {0xffffu, 0xffffffffu});
    std::vector<uint32_t> x(64), y(64);
    for (uint32_t i = 0; i < 64; i++) x[i] = 7 * i;
    for (uint32_t n = 0; n < 5; n++) {
        y = x;
        for (uint32_t i = 0; i < 64; i++)
            if (i % 32 < 16) x[i] = y[i ^ 1] * 3 + n;
    }
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(v[i], x[i ^ 16]) << i;
}

// Lanes that end early are not waited for, wherever the others are.
TEST_P(Lanes, LanesThatEndBehindALoopThatWaits)
{
    auto v = run(std::string(spin) +
                 "mov.u32 %r10, %r1; setp.ge.u32 %p4, %r2, 24; @%p4 bra LAST;\n"
                 "shfl.sync.bfly.b32 %r10, %r10, 3, 31, 0x00ffffff; bar.sync 0; bra STORE;\nLAST: add.u32 %r10, %r10, 100; bra STORE2;\n"
                 "STORE2: ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r10; ret;\nSTORE:\n", 64);
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(v[i], i % 32 < 24 ? i ^ 3 : i + 100) << i;
}

// A counter is the same in all lanes that are still in a loop, and differs behind it (translator/codegen.c, switch_off_passes).
TEST_P(Lanes, CountersBehindALoopThatLanesLeaveOneByOne)
{
    auto v = run("and.b32 %r4, %r1, 7; mov.u32 %r10, 0; mov.u32 %r11, 5; mov.u32 %r5, table; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6;\n"
                 "setp.eq.u32 %p1, %r1, 3; @%p1 bra SKIP;\n"
                 "LOOP: add.u32 %r10, %r10, 1; add.u32 %r11, %r11, 3; prmt.b32 %r9, %r10, %r11, %r1; st.volatile.shared.u32 [%r6], %r9;\n"
                 "setp.lt.u32 %p2, %r10, %r4; @%p2 bra LOOP;\nSKIP:\n", 64);
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(v[i], i == 3 ? 0 : i % 8 ? i % 8 : 1) << i;
}

INSTANTIATE_TEST_SUITE_P(Devices, Lanes, testing::Values("cpu", "sim:gfx1100", "sim:gfx1201", "sim:gfx942"),
                         [](const auto &i) { std::string n = i.param; for (char &c : n) if (c == ':') c = '_'; return n; });

} // namespace
