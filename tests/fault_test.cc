/* fault_test.cc - faults of kernels are errors of their launch, with line, block and thread; the device goes on. */
#include <algorithm>
#include <csignal>
#include "tests/engine_harness.h"

/* After a fault the same device runs a kernel. */
static void expect_alive()
{
    Ptx p(entry("k", "st.global.u32 [%out], 3; ret;"));
    Buffer<uint32_t> out(64);
    ASSERT_EQ(p.run("k", 2, 32, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(out.read()[63], 3u);
}

static void expect_place(const Ptx &p, const char *instruction, uint32_t block, uint32_t thread)
{
    EXPECT_EQ(p.error.line, p.line_of(instruction)) << p.message();
    EXPECT_NE(std::string(p.error.instruction).find(instruction), std::string::npos) << p.error.instruction;
    EXPECT_STREQ(p.error.kernel, "k");
    EXPECT_STREQ(p.error.file, "test.ptx");
    ASSERT_TRUE(p.error.has_thread);
    EXPECT_EQ(p.error.block[0], block) << p.message();
    EXPECT_EQ(p.error.thread[0], thread) << p.message();
}

TEST(Fault, NullPointer)
{
    Ptx p(entry("k", "setp.ne.u32 %p1, %gid, 107;\n@%p1 ret;\nmov.u64 %rd1, 8;\nst.global.u32 [%rd1], %r1;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 4, 50, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    expect_place(p, "st.global.u32 [%rd1], %r1", 2, 7);
    EXPECT_EQ(p.error.address, 8u);
    expect_alive();
}

TEST(Fault, BehindAnAllocationMeetsTheGuard)
{
    Ptx p(entry("k", "mul.wide.u32 %rd1, %gid, 64;\nadd.s64 %rd1, %rd1, %outbase;\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\nret;"));
    Buffer<uint32_t> out(1024);
    EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(p.run("k", 3, 64, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    expect_place(p, "ld.global.u32 %r1, [%rd1]", 1, 0);
    EXPECT_EQ(p.error.address, out.address + 4096);
    expect_alive();
}

/* Windows are rounded up in the arena; `check` knows where they end, and whose local memory is whose. */
TEST(Fault, CheckedWindowsAreExact)
{
    const char *shared = ".shared .align 8 .b8 s[64];\n", *local = ".local .align 8 .b8 mine[64];\n";
    struct { const char *space; uint64_t offset; cpu_status status; } const cases[] = {
        {"shared", 56, CPU_OK}, {"shared", 64, CPU_FAULT_ADDRESS}, {"local", 56, CPU_OK}, {"local", 64, CPU_FAULT_ADDRESS}};
    for (auto &c : cases) {
        bool is_shared = !strcmp(c.space, "shared");
        Ptx p((is_shared ? shared : "") + entry("k", std::string("mov.u64 %rd1, ") + (is_shared ? "s" : "mine") + "; cvta." + c.space + ".u64 %rd1, %rd1;\nst.u64 [%rd1+" + std::to_string(c.offset) + "], %rd2;\nret;", is_shared ? "" : local));
        Buffer<uint32_t> out(1);
        p.launch.check = true;
        EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), c.status) << c.space << c.offset << p.message();
    }
    expect_alive();
}

/* The part of a copy that its size leaves out is not read. */
TEST(Fault, CheckedCopiesReadOnlyTheirSize)
{
    for (uint32_t size : {4u, 8u}) {
        Ptx p(".shared .align 16 .b8 s[16];\n" +
              entry("k", "mov.u64 %rd1, s;\nmov.u32 %r1, " + std::to_string(size) + ";\ncp.async.ca.shared.global [%rd1], [%outbase], 16, %r1;\ncp.async.wait_all;\nret;"));
        Buffer<uint32_t> out(1);
        p.launch.check = true;
        EXPECT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), size == 4 ? CPU_OK : CPU_FAULT_ADDRESS) << p.message();
    }
}

TEST(Fault, AddressesNameTheirWindow)
{
    struct { const char *access, *text; } const cases[] = {
        {"ld.local.u64 %rd2, [%rd1+-16]", "outside the local memory of its thread"}, {"st.shared.u64 [%rd1+-16], %rd2", "outside the shared memory of its block"},
        {"ld.param.u32 %r1, [%rd1+16]", "outside the parameters"}};
    for (auto &c : cases) {
        Ptx p(".shared .align 8 .b8 s[64];\n" + entry("k", std::string("mov.u64 %rd1, 0;\n") + c.access + ";\nret;", ".local .align 8 .b8 mine[64];\n"));
        Buffer<uint32_t> out(1);
        EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_ADDRESS) << c.access << p.problems;
        EXPECT_NE(p.message().find(c.text), std::string::npos) << p.message();
    }
}

TEST(Fault, FreedMemory)
{
    Ptx p(entry("k", "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%in];\nst.global.u32 [%out], %r1;\nret;"));
    Buffer<uint32_t> out(64);
    uint64_t gone = cpu_alloc(test_device(), 4096);
    ASSERT_TRUE(cpu_free(test_device(), gone));
    EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(gone)), CPU_FAULT_ADDRESS);
    EXPECT_EQ(p.error.line, p.line_of("ld.global.v4")) << p.message();
    expect_alive();
}

TEST(Fault, AtomicsAndStoresOutside)
{
    for (const char *what : {"atom.global.add.u32 %r1, [%rd1], 1", "red.global.add.f32 [%rd1], %f1", "st.global.v2.u64 [%rd1], {%rd2, %rd3}", "ld.global.u8 %r1, [%rd1]"}) {
        Ptx p(entry("k", std::string("setp.eq.u32 %p1, %gid, 33;\nmov.u64 %rd1, %outbase;\n@%p1 add.s64 %rd1, %rd1, 0x100000;\n") + what + ";\nret;"));
        Buffer<uint32_t> out(64);
        EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_FAULT_ADDRESS) << what;
        expect_place(p, what, 0, 33);
    }
    expect_alive();
}

TEST(Fault, Misaligned)
{
    Ptx p(entry("k", "add.s64 %rd1, %out, 2;\nsetp.eq.u32 %p1, %tid0, 40;\n@%p1 st.global.u32 [%rd1], 1;\nret;"));
    Buffer<uint32_t> out(256);
    EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_FAULT_MISALIGNED);
    expect_place(p, "st.global.u32 [%rd1], 1", 0, 40);
    Ptx q(entry("k", "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%out];\nret;"));
    EXPECT_EQ(q.run("k", 1, 64, Params().add(out).add(out)), CPU_FAULT_MISALIGNED);
    expect_place(q, "ld.global.v4.u32", 0, 1);
    expect_alive();
}

TEST(Fault, SharedAndLocalAreExact)
{
    Ptx p(".shared .align 4 .b32 s[10];\n" + entry("k", "shl.b32 %r1, %tid0, 2;\nst.shared.u32 [%r1], 5;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 10, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    expect_place(p, "st.shared.u32 [%r1], 5", 0, 10);
    Ptx q(entry("k", "mov.u64 %rd1, l;\nmul.wide.u32 %rd2, %tid0, 8;\nadd.s64 %rd1, %rd1, %rd2;\nst.local.u32 [%rd1], 5;\nret;", ".local .align 4 .b32 l[8];\n"));
    EXPECT_EQ(q.run("k", 1, 4, Params().add(out).add(out)), CPU_OK) << q.message();
    EXPECT_EQ(q.run("k", 1, 40, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    expect_place(q, "st.local.u32 [%rd1], 5", 0, 4);
    expect_alive();
}

TEST(Fault, CheckModeFindsWhatGuardPagesMiss)
{
    /* One element past the end of an allocation of 10, inside its page. */
    Ptx p(entry("k", "ld.global.u32 %r1, [%out];\nret;"));
    Buffer<uint32_t> out(10);
    EXPECT_EQ(p.run("k", 1, 11, Params().add(out).add(out)), CPU_OK) << "the guard is further away";
    p.launch.check = true;
    EXPECT_EQ(p.run("k", 1, 10, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(p.run("k", 1, 11, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    expect_place(p, "ld.global.u32 %r1, [%out]", 0, 10);
    expect_alive();
}

TEST(Fault, Trap)
{
    Ptx p(entry("k", "setp.eq.u32 %p1, %gid, 70;\n@%p1 trap;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_OK);
    EXPECT_EQ(p.run("k", 3, 64, Params().add(out).add(out)), CPU_FAULT_TRAP);
    expect_place(p, "trap", 1, 6);
    expect_alive();
}

TEST(Fault, TheLowestBlockIsReported)
{
    Ptx p(entry("k", "mov.u32 %r1, %ctaid.x;\nsetp.ge.u32 %p1, %r1, 5;\n@%p1 trap;\nret;"));
    Buffer<uint32_t> out(1);
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(p.run("k", 40, 64, Params().add(out).add(out)), CPU_FAULT_TRAP);
        EXPECT_EQ(p.error.block[0], 5u);
    }
}

TEST(Fault, FaultInACalleeNamesBoth)
{
    Ptx p(".func f(.param .b64 a)\n{ .reg .b64 %x;\nld.param.u64 %x, [a];\nst.u32 [%x], 1;\nret; }\n" +
          entry("k", "{ .param .b64 a; st.param.b64 [a], 16; call f, (a); }\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    EXPECT_EQ(p.error.line, p.line_of("st.u32 [%x], 1")) << p.message();
    EXPECT_STREQ(p.error.function, "f");
    EXPECT_STREQ(p.error.kernel, "k");
    expect_alive();
}

TEST(Fault, BarrierThatNeverCompletes)
{
    Ptx p(entry("k", "setp.lt.u32 %p1, %tid0, 32;\n@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 2, 64, Params().add(out).add(out)), CPU_FAULT_DEADLOCK);
    EXPECT_TRUE(p.error.line == p.line_of("bar.sync 1, 64")) << p.message();
    EXPECT_NE(std::string(p.error.reason).find("32 threads have arrived of 64"), std::string::npos) << p.error.reason;
    expect_alive();
}

TEST(Fault, CollectiveWhoseLanesNeverCome)
{
    Ptx p(entry("k", "setp.lt.u32 %p1, %tid0, 5;\n@%p1 bra A;\nbar.sync 0;\nret;\nA:\nshfl.sync.idx.b32 %r1, %tid0, 0, 31, 0xffffffff;\nbar.sync 0;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_DEADLOCK);
    expect_place(p, "shfl.sync.idx.b32", 0, 0);
    EXPECT_NE(std::string(p.error.reason).find("0xffffffe0"), std::string::npos) << p.error.reason;
    expect_alive();
}

TEST(Fault, Timeout)
{
    Ptx p(entry("k", "setp.ne.u32 %p1, %gid, 70;\n@%p1 ret;\nL:\nadd.s32 %r1, %r1, 1;\nbra L;"));
    Buffer<uint32_t> out(1);
    p.launch.timeout_ms = 100;
    EXPECT_EQ(p.run("k", 3, 64, Params().add(out).add(out)), CPU_FAULT_TIMEOUT);
    EXPECT_GE(p.error.line, p.line_of("add.s32 %r1, %r1, 1")) << p.message();
    EXPECT_LE(p.error.line, p.line_of("bra L")) << p.message();
    EXPECT_EQ(p.error.block[0], 1u);
    EXPECT_EQ(p.error.thread[0], 6u);
    expect_alive();
}

TEST(Fault, EndlessRecursion)
{
    Ptx p(".func f()\n{ call f; ret; }\n" + entry("k", "call f;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_STACK) << p.message();
    Ptx q(".func g()\n{ .local .align 8 .b8 room[512]; .reg .b64 %x; mov.u64 %x, room; st.local.u32 [room], 1; call g; ret; }\n" + entry("k", "call g;\nret;"));
    EXPECT_EQ(q.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_STACK) << q.message();
    EXPECT_NE(std::string(q.error.reason).find("stack"), std::string::npos) << q.error.reason;
    expect_alive();
}

TEST(Fault, IndirectCallOfNothing)
{
    Ptx p(entry("k", "proto: .callprototype _ ();\ncall %in, (), proto;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add<uint64_t>(12345)), CPU_FAULT_CALL) << p.message();
    expect_alive();
}

TEST(Fault, JumpTableIndexTooLarge)
{
    Ptx p(entry("k", "table: .branchtargets L0, L1;\nbrx.idx %tid0, table;\nL0:\nret;\nL1:\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 2, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_CALL);
    expect_place(p, "brx.idx", 0, 2);
    expect_alive();
}

TEST(Fault, Assertions)
{
    Ptx p(".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n.global .align 1 .b8 m[5] = {120, 62, 48, 0};\n.global .align 1 .b8 file[6] = {97, 46, 99, 117, 0};\n" +
          entry("k", "cvta.global.u64 %rd1, m; cvta.global.u64 %rd2, file;\n{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; st.param.b32 [c], 17; st.param.b64 [d], %rd2; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_TRAP);
    EXPECT_STREQ(p.error.reason, "assertion `x>0` failed (a.cu:17)");
    expect_alive();
}

TEST(Fault, WhatWasPrintedBeforeIsKept)
{
    Ptx p(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 .b8 fmt[4] = {104, 105, 10, 0};\n" +
          entry("k", "cvta.global.u64 %rd1, fmt; { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1; st.param.b64 [b], 0; call.uni (r), vprintf, (a, b); }\ntrap;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_FAULT_TRAP);
    EXPECT_EQ(p.printed, "hi\n");
}

TEST(Fault, WrongHandle)
{
    Ptx p(entry("k", "mov.f32 %f1, 0f00000000;\ntex.2d.v4.f32.f32 {%f2,%f3,%f4,%f5}, [%in, {%f1, %f1}];\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_HANDLE) << p.message();
    expect_place(p, "tex.2d", 0, 0);
    expect_alive();
}

/* The engine reads descriptors without a check of its own, so a kernel must not be able to write them. */
TEST(Fault, DescriptorsAreNotForKernelsToWrite)
{
    const char descriptor[64] = {};
    uint64_t handle = cpu_texture_create(test_device(), descriptor, sizeof descriptor);
    ASSERT_NE(handle, 0u);
    Ptx p(entry("k", "st.u64 [%in], %rd1;\nret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 1, Params().add(out).add(handle)), CPU_FAULT_ADDRESS) << p.message();
    expect_place(p, "st.u64 [%in], %rd1", 0, 0);
    EXPECT_TRUE(cpu_texture_destroy(test_device(), handle));
    expect_alive();
}

/* No warp ever uses up a quantum here: each runs from one barrier to the next. */
TEST(Fault, TimeoutInALoopOverBarriers)
{
    Ptx p(entry("k", "L: bar.sync 0;\nbra L;"));
    Buffer<uint32_t> out(1);
    p.launch.timeout_ms = 100;
    EXPECT_EQ(p.run("k", 2, 96, Params().add(out).add(out)), CPU_FAULT_TIMEOUT) << p.message();
    expect_alive();
}

TEST(Fault, AFaultElsewhereEndsALoopOverBarriers)
{
    Ptx p(entry("k", "setp.lt.u32 %p1, %gid, 64;\n@%p1 trap;\nL: bar.sync 0;\nbra L;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 3, 64, Params().add(out).add(out)), CPU_FAULT_TRAP) << p.message();
    expect_alive();
}

TEST(Fault, IndirectCallWithRegistersOfOtherTypes)
{
    const char *functions = ".func (.reg .b32 r) narrow(.reg .b32 a)\n{ mov.b32 r, a; ret; }\n"
                            ".func (.reg .pred r) truth(.reg .pred a)\n{ mov.pred r, a; ret; }\n";
    for (const char *call : {"proto: .callprototype (.reg .b64 _) _ (.reg .b64 _); mov.u64 %rd1, narrow;\ncall (%rd3), %rd1, (%rd2), proto",
                             "proto: .callprototype (.reg .b32 _) _ (.reg .b32 _); mov.u64 %rd1, truth;\ncall (%r3), %rd1, (%r2), proto"}) {
        Ptx p(functions + entry("k", std::string(call) + ";\nret;"));
        Buffer<uint32_t> out(1);
        EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_CALL) << p.message();
        expect_place(p, "call (", 0, 0);
    }
    expect_alive();
}

/* A fault of the host program itself is not taken for a kernel's. */
TEST(FaultDeathTest, FaultsOfTheHostStayTheirs)
{
    test_device();
    EXPECT_DEATH({ volatile int *nothing = nullptr; *nothing = 1; }, "");
}
