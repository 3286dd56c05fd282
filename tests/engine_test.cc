/* engine_test.cc - the CPU engine: registers, memory spaces, calls, atomics, barriers, launches. */
#include <algorithm>
#include <cmath>
#include <csignal>
#include <numeric>
#include <thread>
#include "tests/engine_harness.h"
#if defined(__SSE__)
#include <immintrin.h>
#endif

/* ------------------------------------------------------------ arithmetic and registers */

TEST(Engine, EveryThreadOfEveryBlockRunsOnce)
{
    Ptx p(entry("k", "atom.global.add.u32 %r1, [%out], 1;\nret;"));
    Buffer<uint32_t> out(77 * 97);
    ASSERT_EQ(p.run("k", 77, 97, Params().add(out).add(out)), CPU_OK) << p.message();
    for (uint32_t v : out.read())
        ASSERT_EQ(v, 1u);
}

#if defined(__SSE__)
/* A launch of one block runs on the caller's thread, the others on workers, which begin as their maker was. */
TEST(Engine, TheHostsRoundingAndFlushingStayItsOwn)
{
    enum { FLUSH = 0x8040, ROUND_UP = 0x4000, CONTROL = 0xffc0 };
    unsigned before = _mm_getcsr(), changed = (before & ~0x6000u) | FLUSH | ROUND_UP;
    _mm_setcsr(changed);
    /* Twice: once from memory, once of constants, which are computed when the kernel is decoded. */
    Ptx p(entry("k", "ld.global.f32 %f1, [%in]; mul.rn.f32 %f2, %f1, 0f3F000000; ld.global.f32 %f3, [%in+4]; add.rn.f32 %f4, %f3, 0f33000000;\n"
                     "mov.b32 %f5, 0x00400000; mul.rn.f32 %f6, %f5, 0f3F000000; mov.b32 %f7, 0x3f800000; add.rn.f32 %f8, %f7, 0f33000000;\n"
                     "mov.b32 %r1, %f2; mov.b32 %r2, %f4; xor.b32 %r1, %r1, %r2; mov.b32 %r3, %f6; mov.b32 %r4, %f8; xor.b32 %r3, %r3, %r4;\n"
                     "setp.eq.u32 %p1, %r1, %r3; selp.b32 %r1, %r1, 0, %p1; st.global.u32 [%out], %r1;\nret;"));
    Buffer<uint32_t> in(std::vector<uint32_t>{0x00400000u, 0x3f800000u});
    for (uint32_t blocks : {1u, 40u}) {
        Buffer<uint32_t> out(blocks * 32);
        ASSERT_EQ(p.run("k", blocks, 32, Params().add(out).add(in)), CPU_OK) << p.message();
        for (uint32_t v : out.read())
            ASSERT_EQ(v, 0x00200000u ^ 0x3f800000u) << blocks;
        EXPECT_EQ(_mm_getcsr() & CONTROL, changed & CONTROL);
    }
    _mm_setcsr(before);
}
#endif

static volatile uint32_t *waited_for;
static void end_waiting(int) { waited_for[1] = 1; }

/* A launch of one block runs on the caller's thread: the kernel begins, the signal comes, and only its handler lets the kernel end. */
TEST(Engine, AUserEndsAKernelThatDoesNotEnd)
{
    Ptx p(entry("k", "mov.u32 %r1, 1; st.volatile.global.u32 [%outbase], %r1;\nL: ld.volatile.global.u32 %r2, [%outbase+4]; setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nret;"));
    Buffer<uint32_t> out(2);
    waited_for = reinterpret_cast<volatile uint32_t *>(static_cast<uintptr_t>(out.address));
    const pthread_t launching = pthread_self();
    const auto before = signal(SIGTERM, end_waiting);
    std::thread user([launching] {
        while (!waited_for[0])
            std::this_thread::yield();
        pthread_kill(launching, SIGTERM);
    });
    EXPECT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    user.join();
    signal(SIGTERM, before);
}

TEST(Engine, ThreeDimensionsNumberThreadsXFirst)
{
    Ptx p(entry("k", "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
                     "mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;\n"
                     "mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y; mov.u32 %r9, %ctaid.z;\n"
                     "mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y;\n"
                     "mad.lo.s32 %r12, %r3, %r5, %r2; mad.lo.s32 %r12, %r12, %r4, %r1;\n"
                     "mad.lo.s32 %r13, %r9, %r11, %r8; mad.lo.s32 %r13, %r13, %r10, %r7;\n"
                     "mul.lo.s32 %r14, %r4, %r5; mul.lo.s32 %r14, %r14, %r6; mad.lo.s32 %r14, %r13, %r14, %r12;\n"
                     "mul.wide.u32 %rd1, %r14, 4; add.s64 %rd2, %outbase, %rd1;\n"
                     "shl.b32 %r15, %r1, 20; shl.b32 %r16, %r2, 16; shl.b32 %r17, %r3, 12; shl.b32 %r18, %r7, 8; shl.b32 %r19, %r8, 4;\n"
                     "or.b32 %r15, %r15, %r16; or.b32 %r15, %r15, %r17; or.b32 %r15, %r15, %r18; or.b32 %r15, %r15, %r19; or.b32 %r15, %r15, %r9;\n"
                     "st.global.u32 [%rd2], %r15;\nret;"));
    Buffer<uint32_t> out(5 * 3 * 4 * 2 * 3 * 4, 0xffffffff);
    cpu_kernel *k = p.kernel("k");
    ASSERT_TRUE(k);
    uint32_t block[3] = {5, 3, 4}, grid[3] = {2, 3, 4};
    memcpy(p.launch.block, block, sizeof block);
    memcpy(p.launch.grid, grid, sizeof grid);
    Params params;
    params.add(out).add(out);
    ASSERT_EQ(p.run(k, params), CPU_OK) << p.message();
    auto v = out.read();
    size_t i = 0;
    for (uint32_t bz = 0; bz < 4; bz++)
        for (uint32_t by = 0; by < 3; by++)
            for (uint32_t bx = 0; bx < 2; bx++)
                for (uint32_t z = 0; z < 4; z++)
                    for (uint32_t y = 0; y < 3; y++)
                        for (uint32_t x = 0; x < 5; x++, i++)
                            ASSERT_EQ(v[i], x << 20 | y << 16 | z << 12 | bx << 8 | by << 4 | bz) << i;
}

TEST(Engine, NarrowElementsExtendIntoWiderRegisters)
{
    /* ld.s8/u8 into 16- and 32-bit registers, st.u8 of them, cvt between widths. */
    Ptx p(entry("k", "cvt.u64.u32 %rd1, %gid; add.s64 %rd2, %in, %rd1;\n"
                     "ld.global.s8 %r1, [%rd2]; ld.global.u8 %r2, [%rd2]; ld.global.s8 %h1, [%rd2]; ld.global.s8 %rd3, [%rd2];\n"
                     "cvt.s32.s16 %r3, %h1; cvt.u32.u64 %r4, %rd3; shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r5, %rd4;\n"
                     "cvt.s32.s8 %r6, %r2; cvt.u16.u8 %h2, %r1; cvt.u32.u16 %r7, %h2;\n"
                     "sub.s32 %r1, %r1, %r3; sub.s32 %r4, %r4, %r3; sub.s32 %r6, %r6, %r3; sub.s32 %r7, %r7, %r2; shr.s32 %r8, %r3, 31; sub.s32 %r5, %r5, %r8;\n"
                     "or.b32 %r1, %r1, %r4; or.b32 %r1, %r1, %r5; or.b32 %r1, %r1, %r6; or.b32 %r1, %r1, %r7;\n"
                     "shl.b32 %r1, %r1, 8; or.b32 %r1, %r1, %r2; st.global.u32 [%out], %r1;\n"
                     "add.s64 %rd5, %rd2, 256; st.global.u8 [%rd5], %r3; add.s64 %rd5, %rd5, 256; st.global.u8 [%rd5], %h1; ret;"));
    std::vector<uint8_t> bytes(768);
    for (int i = 0; i < 256; i++)
        bytes[(size_t)i] = (uint8_t)i;
    Buffer<uint8_t> in(bytes);
    Buffer<uint32_t> out(256);
    ASSERT_EQ(p.run("k", 2, 128, Params().add(out).add(in)), CPU_OK) << p.message();
    auto v = out.read();
    auto b = in.read();
    for (uint32_t i = 0; i < 256; i++) {
        ASSERT_EQ(v[i], i) << "all extensions agree, so only the byte is left";
        ASSERT_EQ(b[256 + i], i);
        ASSERT_EQ(b[512 + i], i);
    }
}

TEST(Engine, ManyRegistersAliveAtOnceKeepTheirValues)
{
    /* 600 values alive together, then 600 short ones: slots are shared only where lives do not overlap. */
    std::string body, sum = "mov.u32 %acc, 0;\n";
    for (int i = 0; i < 600; i++)
        body += "mad.lo.s32 %a" + std::to_string(i) + ", %gid, " + std::to_string(i + 1) + ", " + std::to_string(7 * i) + ";\n";
    for (int i = 0; i < 600; i++) {
        body += "xor.b32 %b" + std::to_string(i) + ", %a" + std::to_string(i) + ", " + std::to_string(i * 977) + ";\n";
        sum += "mad.lo.s32 %acc, %acc, 31, %b" + std::to_string(i) + ";\n";
    }
    Ptx p(entry("k", body + sum + "st.global.u32 [%out], %acc; ret;", ".reg .b32 %a<600>; .reg .b32 %b<600>; .reg .b32 %acc;\n"));
    Buffer<uint32_t> out(64);
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t g = 0; g < 64; g++) {
        uint32_t acc = 0;
        for (uint32_t i = 0; i < 600; i++)
            acc = acc * 31 + ((g * (i + 1) + 7 * i) ^ i * 977);
        ASSERT_EQ(v[g], acc) << g;
    }
}

TEST(Engine, SlotsAreReused)
{
    std::string body = "mov.u32 %a0, %gid;\n";
    for (int i = 1; i < 3000; i++)
        body += "add.s32 %a" + std::to_string(i) + ", %a" + std::to_string(i - 1) + ", %gid;\n";
    Ptx p(entry("k", body + "st.global.u32 [%out], %a2999; ret;", ".reg .b32 %a<3000>;\n"));
    Buffer<uint32_t> out(32);
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(out.read()[5], 5u * 3000);
    cpu_kernel_info info;
    cpu_kernel_describe(p.kernel("k"), &info);
    EXPECT_LT(info.slot_bytes, 8192u) << "3000 chained values need a handful of slots";
}

TEST(Engine, CopiesAndSumsAreReadThroughOnlyWhileTheyHold)
{
    /* Values swapped round a loop; a sum whose base moves on before it is used, in the block and round the loop;
     * a copy under a guard; a constant that one path overwrites. */
    Ptx p(entry("k", "mov.u32 %r1, %gid; mov.u32 %r2, 1000; mov.u32 %r3, 0; mov.u64 %rd1, %in; mov.u64 %rd4, %in; mov.u32 %r8, 0; mov.u32 %r9, 5;\n"
                     "L: mov.u32 %r4, %r1; mov.u32 %r1, %r2; mov.u32 %r2, %r4; add.s32 %r1, %r1, 3;\n"
                     "add.s64 %rd2, %rd1, 8; add.s64 %rd1, %rd1, 4; ld.global.u32 %r5, [%rd2]; ld.global.u32 %r6, [%rd4+4]; add.s64 %rd4, %rd2, 0; add.s32 %r8, %r8, %r5; mad.lo.s32 %r8, %r6, 100, %r8;\n"
                     "and.b32 %r7, %r3, 1; setp.eq.u32 %p1, %r7, 0; @%p1 mov.u32 %r9, %r3; add.s32 %r8, %r8, %r9; add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5; @%p2 bra L;\n"
                     "mov.u32 %r10, 7; setp.eq.u32 %p3, %gid, 3; @!%p3 bra J; mov.u32 %r10, 9;\nJ: mov.u32 %r11, %r10; mov.u32 %r10, 1; add.s32 %r11, %r11, %r10; shl.b32 %r12, %r11, 24;\n"
                     "mad.lo.s32 %r8, %r8, 3, %r1; mad.lo.s32 %r8, %r2, 5, %r8; xor.b32 %r8, %r8, %r12; st.global.u32 [%out], %r8; ret;"));
    std::vector<uint32_t> data(32);
    for (uint32_t i = 0; i < 32; i++)
        data[i] = i * i + 1;
    Buffer<uint32_t> in(data), out(64);
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t g = 0; g < 64; g++) {
        uint32_t a = g, b = 1000, sum = 0, c = 5, at = 0, at4 = 0;
        for (uint32_t k = 0; k < 5; k++) {
            std::swap(a, b);
            a += 3;
            uint32_t at2 = at + 2;
            at += 1;
            sum += data[at2] + 100 * data[at4 + 1];
            at4 = at2;
            if (!(k & 1))
                c = k;
            sum += c;
        }
        uint32_t expect = (sum * 3 + a + b * 5) ^ ((g == 3 ? 10u : 8u) << 24);
        ASSERT_EQ(v[g], expect) << g;
    }
}

TEST(Engine, PredicatesAndNegatedOnes)
{
    Ptx p(entry("k", "and.b32 %r1, %gid, 1; and.b32 %r2, %gid, 2; setp.ne.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r2, 0;\n"
                     "mov.u32 %r3, 0; and.pred %p3, %p1, %p2; or.pred %p4, %p1, %p2; xor.pred %p5, %p1, %p2; not.pred %p6, %p1;\n"
                     "@%p3 add.s32 %r3, %r3, 1; @!%p3 add.s32 %r3, %r3, 2; @%p4 add.s32 %r3, %r3, 4; @%p5 add.s32 %r3, %r3, 8; @%p6 add.s32 %r3, %r3, 16;\n"
                     "selp.b32 %r4, 32, 0, %p2; add.s32 %r3, %r3, %r4; @%p1 st.global.u32 [%out], %r3; @!%p1 st.global.u32 [%out+256], %r3; ret;"));
    Buffer<uint32_t> out(128, 9999);
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 64; i++) {
        bool a = i & 1, b = i & 2;
        uint32_t expect = (a && b ? 1u : 2u) + (a || b ? 4u : 0u) + (a != b ? 8u : 0u) + (a ? 0u : 16u) + (b ? 32u : 0u);
        ASSERT_EQ(v[i], a ? expect : 9999u) << i;
        ASSERT_EQ(v[64 + i], a ? 9999u : expect) << i;
    }
}

TEST(Engine, WholeAndPartialWarpsAgree)
{
    Ptx p(entry("k", "setp.lt.u32 %p1, %tid0, 20; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; add.s32 %r1, %r1, %gid; st.global.u32 [%out], %r1; ret;"));
    for (uint32_t block : {1u, 7u, 31u, 32u, 33u, 40u, 64u, 1000u}) {
        Buffer<uint32_t> out(3 * block + 32, 77);
        ASSERT_EQ(p.run("k", 3, block, Params().add(out).add(out)), CPU_OK) << p.message();
        auto v = out.read();
        for (uint32_t i = 0; i < 3 * block; i++)
            ASSERT_EQ(v[i], i + (i % block < 20 ? 2 : 1)) << block << " " << i;
        for (uint32_t i = 3 * block; i < 3 * block + 32; i++)
            ASSERT_EQ(v[i], 77u) << "threads that do not exist stored";
    }
}

/* ------------------------------------------------------------ memory */

TEST(Engine, VectorLoadsAndStoresDenseUniformAndScattered)
{
    Ptx p(entry("k", "mul.wide.u32 %rd1, %gid, 16; add.s64 %rd2, %in, %rd1; ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd2];\n"
                     "ld.global.v4.u32 {%r5,_,%r7,%r8}, [%in+32];\n"
                     "xor.b32 %r9, %gid, 21; mul.wide.u32 %rd3, %r9, 16; add.s64 %rd4, %in, %rd3; ld.global.v2.u64 {%rd5,%rd6}, [%rd4];\n"
                     "cvt.u32.u64 %r10, %rd5; cvt.u32.u64 %r11, %rd6; add.s32 %r1, %r1, %r5; add.s32 %r2, %r2, %r10; add.s32 %r3, %r3, %r11; add.s32 %r4, %r4, %r8;\n"
                     "mul.wide.u32 %rd1, %gid, 16; add.s64 %rd7, %outbase, %rd1; st.global.v4.u32 [%rd7], {%r1,%r2,%r3,%r4};\n"
                     "add.s64 %rd8, %outbase, 1024; mul.wide.u32 %rd9, %r9, 8; add.s64 %rd8, %rd8, %rd9; st.global.v2.f32 [%rd8], {%r1, %r3}; ret;"));
    std::vector<uint32_t> data(256);
    for (uint32_t i = 0; i < 256; i++)
        data[i] = i * i + 5;
    Buffer<uint32_t> in(data), out(256 + 128);
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t g = 0; g < 64; g++) {
        uint32_t x = g ^ 21;
        uint32_t a = data[4 * g] + data[8], b = data[4 * g + 1] + data[4 * x], c = data[4 * g + 2] + data[4 * x + 2], d = data[4 * g + 3] + data[11];
        ASSERT_EQ(v[4 * g], a);
        ASSERT_EQ(v[4 * g + 1], b);
        ASSERT_EQ(v[4 * g + 2], c);
        ASSERT_EQ(v[4 * g + 3], d);
        ASSERT_EQ(v[256 + 2 * x], a);
        ASSERT_EQ(v[256 + 2 * x + 1], c);
    }
}

TEST(Engine, AllSizesOfElementsAndVectors)
{
    /* Copies through every type and vector length that the ISA has. */
    struct { const char *type, *reg; int bytes; } types[] = {{"u8", "%h", 1}, {"s8", "%r", 1}, {"b16", "%h", 2}, {"u16", "%r", 2},
        {"b32", "%r", 4}, {"f32", "%f", 4}, {"u32", "%rd", 4}, {"b64", "%rd", 8}, {"f64", "%fd", 8}};
    for (auto &t : types)
        for (int n : {1, 2, 4}) {
            if (n * t.bytes > 16)
                continue;
            std::string list = n > 1 ? "{" : "", suffix = n > 1 ? ".v" + std::to_string(n) : "";
            for (int i = 0; i < n; i++)
                list += (i ? "," : "") + std::string(t.reg) + std::to_string(i + 1);
            list += n > 1 ? "}" : "";
            std::string size = std::to_string(n * t.bytes);
            /* First densely, then with lanes reversed. */
            Ptx p(entry("k", "mul.wide.u32 %rd20, %gid, " + size + "; add.s64 %rd21, %in, %rd20; add.s64 %rd22, %outbase, %rd20;\n"
                             "ld.global" + suffix + "." + t.type + " " + list + ", [%rd21]; st.global" + suffix + "." + t.type + " [%rd22], " + list + ";\n"
                             "sub.s32 %r20, 63, %gid; mul.wide.u32 %rd20, %r20, " + size + "; add.s64 %rd21, %in, %rd20; add.s64 %rd22, %outbase, %rd20;\n"
                             "ld.global" + suffix + "." + t.type + " " + list + ", [%rd21+1024]; st.global" + suffix + "." + t.type + " [%rd22+1024], " + list + "; ret;"));
            std::vector<uint8_t> data(2048);
            for (size_t i = 0; i < data.size(); i++)
                data[i] = (uint8_t)(i * 37 + (i >> 8) * 11 + 1);
            Buffer<uint8_t> in(data), out(2048);
            ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << t.type << n << p.message();
            auto v = out.read();
            for (size_t i = 0; i < (size_t)(64 * n * t.bytes); i++) {
                ASSERT_EQ(v[i], data[i]) << t.type << " v" << n << " byte " << i;
                ASSERT_EQ(v[1024 + i], data[1024 + i]) << t.type << " v" << n << " byte " << i;
            }
        }
}

TEST(Engine, SharedMemoryBelongsToTheBlock)
{
    Ptx p(".shared .align 4 .b32 buffer[256];\n" +
          entry("k", "mov.u32 %r1, buffer; shl.b32 %r2, %tid0, 2; add.s32 %r3, %r1, %r2; st.shared.u32 [%r3], %gid; bar.sync 0;\n"
                     "sub.s32 %r4, 255, %tid0; shl.b32 %r4, %r4, 2; add.s32 %r4, %r1, %r4; ld.shared.u32 %r5, [%r4]; st.global.u32 [%out], %r5; ret;"));
    Buffer<uint32_t> out(256 * 20);
    ASSERT_EQ(p.run("k", 20, 256, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 256 * 20; i++)
        ASSERT_EQ(v[i], i / 256 * 256 + 255 - i % 256) << i;
}

TEST(Engine, DynamicSharedMemoryFollowsTheStatic)
{
    Ptx p(".extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b32 fixed[3];\n" +
          entry("k", "mov.u32 %r1, dyn; mov.u32 %r2, fixed; mov.u32 %r3, %dynamic_smem_size; st.global.v4.u32 [%outbase], {%r1, %r2, %r3, %tid0};\n"
                     "shl.b32 %r4, %tid0, 2; add.s32 %r4, %r4, %r1; st.shared.u32 [%r4], 7; ret;"));
    Buffer<uint32_t> out(4);
    p.launch.dynamic_shared = 128;
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    EXPECT_EQ(v[0] % 16, 0u);
    EXPECT_GE(v[0], v[1] + 12);
    EXPECT_EQ(v[2], 128u);
    p.launch.dynamic_shared = 124;
    EXPECT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_FAULT_ADDRESS);
    EXPECT_EQ(p.error.thread[0], 31u);
}

TEST(Engine, GenericAddressesReachEverySpace)
{
    Ptx p(".global .align 4 .u32 g = 11;\n.const .align 4 .u32 c = 22;\n.shared .align 4 .u32 s;\n" +
          entry("k", "st.shared.u32 [s], 33; st.local.u32 [l], %gid; cvta.global.u64 %rd1, g; cvta.const.u64 %rd2, c;\n"
                     "mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4; mov.b64 %rd5, out; cvta.param.u64 %rd5, %rd5;\n"
                     "bar.sync 0; ld.u32 %r1, [%rd1]; ld.u32 %r2, [%rd2]; ld.u32 %r3, [%rd3]; ld.u32 %r4, [%rd4]; ld.u64 %rd6, [%rd5];\n"
                     "isspacep.global %p1, %rd1; isspacep.const %p2, %rd2; isspacep.shared %p3, %rd3; isspacep.local %p4, %rd4; isspacep.param %p5, %rd5;\n"
                     "isspacep.shared %p6, %rd1; isspacep.global %p7, %rd3; isspacep.local %p8, %rd3; or.pred %p6, %p6, %p7; or.pred %p6, %p6, %p8;\n"
                     "and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3; and.pred %p1, %p1, %p4; and.pred %p1, %p1, %p5; setp.eq.s64 %p7, %rd6, %outbase; and.pred %p1, %p1, %p7;\n"
                     "@%p6 mov.u32 %r1, 0; selp.u32 %r5, 100000, 0, %p1; mad.lo.s32 %r6, %r1, 10, %r2; mad.lo.s32 %r6, %r6, 10, %r3; add.s32 %r6, %r6, %r4; add.s32 %r6, %r6, %r5;\n"
                     "cvta.to.shared.u64 %rd7, %rd3; mov.u64 %rd8, s; sub.s64 %rd7, %rd7, %rd8; cvt.u32.u64 %r7, %rd7; add.s32 %r6, %r6, %r7; st.global.u32 [%out], %r6; ret;",
                ".local .align 4 .u32 l;\n"));
    Buffer<uint32_t> out(128);
    ASSERT_EQ(p.run("k", 2, 64, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 128; i++)
        ASSERT_EQ(v[i], 101353u + i) << i;
}

TEST(Engine, LocalArraysArePrivateToThreads)
{
    Ptx p(entry("k", "mov.u64 %rd1, array; mov.u32 %r1, 0;\n"
                     "W: mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; mad.lo.s32 %r2, %gid, 100, %r1; st.local.u32 [%rd2], %r2; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 40; @%p1 bra W;\n"
                     "bar.sync 0; rem.u32 %r3, %gid, 40; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd2, %rd2, %rd1; ld.local.u32 %r4, [%rd2]; st.global.u32 [%out], %r4; ret;",
                ".local .align 4 .b32 array[40];\n"));
    Buffer<uint32_t> out(500);
    ASSERT_EQ(p.run("k", 5, 100, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 500; i++)
        ASSERT_EQ(v[i], i * 100 + i % 40) << i;
}

TEST(Engine, GlobalsAreInitialisedAndRelocated)
{
    Ptx p(".global .align 4 .u32 a[3] = {1, 2, 3};\n.global .align 8 .u64 table[2] = {a, a+8};\n.const .align 8 .u64 generic_table[1] = {generic(a)};\n.global .align 4 .u32 zero[4];\n" +
          entry("k", "ld.global.u64 %rd1, [table+8]; ld.global.u32 %r1, [%rd1]; ld.const.u64 %rd2, [generic_table]; ld.u32 %r2, [%rd2+4]; ld.global.u32 %r3, [zero+12];\n"
                     "mad.lo.s32 %r1, %r1, 10, %r2; add.s32 %r1, %r1, %r3; st.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(1);
    ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(out.read()[0], 32u);
    uint64_t bytes = 0, address = cpu_variable(p.loaded(), "a", &bytes);
    ASSERT_NE(address, 0u);
    EXPECT_EQ(bytes, 12u);
    uint32_t three[3];
    ASSERT_TRUE(cpu_read(test_device(), three, address, 12));
    EXPECT_EQ(three[2], 3u);
    three[2] = 9;
    ASSERT_TRUE(cpu_write(test_device(), address, three, 12));
    ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK);
    EXPECT_EQ(out.read()[0], 92u);
    EXPECT_FALSE(cpu_write(test_device(), address, three, 16)) << "a variable ends where it ends";
}

/* ------------------------------------------------------------ atomics */

TEST(Engine, AtomicsOfManyBlocksOnOneWord)
{
    Ptx p(entry("k", "atom.global.add.u32 %r1, [%outbase], 3; red.global.max.s32 [%outbase+4], %gid; red.global.min.u32 [%outbase+8], %gid; red.global.xor.b32 [%outbase+12], %gid;\n"
                     "red.global.or.b32 [%outbase+16], %gid; atom.global.inc.u32 %r2, [%outbase+20], 9; atom.global.dec.u32 %r3, [%outbase+24], 6; mov.f32 %f1, 0f3F000000; red.global.add.f32 [%outbase+28], %f1;\n"
                     "mov.f64 %fd1, 0d3FD0000000000000; red.global.add.f64 [%outbase+32], %fd1; mov.u64 %rd1, 5; atom.global.add.u64 %rd2, [%outbase+40], %rd1; red.global.and.b32 [%outbase+48], 0xfffffff0; ret;"));
    std::vector<uint32_t> zero(16);
    zero[1] = 0x80000000;
    zero[2] = 0xffffffff;
    zero[12] = 0xabcdef77;
    Buffer<uint32_t> out(zero);
    const uint32_t n = 60 * 100;
    ASSERT_EQ(p.run("k", 60, 100, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    uint32_t x = 0, o = 0, inc = 0, dec = 0;
    for (uint32_t i = 0; i < n; i++) {
        x ^= i;
        o |= i;
        inc = inc >= 9 ? 0 : inc + 1;
        dec = dec == 0 || dec > 6 ? 6 : dec - 1;
    }
    float f;
    double d;
    memcpy(&f, &v[7], 4);
    memcpy(&d, &v[8], 8);
    EXPECT_EQ(v[0], 3 * n);
    EXPECT_EQ(v[1], n - 1);
    EXPECT_EQ(v[2], 0u);
    EXPECT_EQ(v[3], x);
    EXPECT_EQ(v[4], o);
    EXPECT_EQ(v[5], inc);
    EXPECT_EQ(v[6], dec);
    EXPECT_EQ(f, n * 0.5f);
    EXPECT_EQ(d, n * 0.25);
    EXPECT_EQ(v[10], 5 * n);
    EXPECT_EQ(v[12], 0xabcdef70);
}

TEST(Engine, AtomicsReturnTheOldValueOnce)
{
    Ptx p(entry("k", "atom.global.add.u32 %r1, [%in], 1; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd1, %outbase; atom.global.exch.b32 %r2, [%rd1], %gid;\n"
                     "setp.ne.u32 %p1, %r2, 0xffffffff; @%p1 trap; ret;"));
    Buffer<uint32_t> out(3000, 0xffffffff), counter(1);
    ASSERT_EQ(p.run("k", 30, 100, Params().add(out).add(counter)), CPU_OK) << p.message();
    auto v = out.read();
    std::sort(v.begin(), v.end());
    for (uint32_t i = 0; i < 3000; i++)
        ASSERT_EQ(v[i], i);
}

TEST(Engine, HalfAtomicsRoundAndKeepHalvesApart)
{
    /* 1 + 2^-11 lies half way between two f16: to even, so 1; a second half of the pair takes other data. */
    Ptx p(entry("k", "mov.b32 %r1, 0x40001000; atom.global.add.noftz.f16x2 %r2, [%outbase], %r1; mov.b32 %r1, 0x3f803b80; atom.global.add.noftz.bf16x2 %r2, [%outbase+4], %r1;\n"
                     "mov.b32 %r3, 0x12345678; atom.global.cas.b32 %r4, [%outbase+8], 5, %r3; atom.global.cas.b32 %r5, [%outbase+8], 6, %gid; st.global.u32 [%outbase+12], %r4; st.global.u32 [%outbase+16], %r5; ret;"));
    Buffer<uint32_t> out(std::vector<uint32_t>{0x3c003c00, 0x3f803f80, 5, 0, 0});
    ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    EXPECT_EQ(v[0], 0x42003c00u) << "1 + 2 = 3 (0x4200); 1 + 2^-11 = 1 (0x3c00)";
    EXPECT_EQ(v[1], 0x40003f80u) << "1 + 1 = 2; 1 + 2^-8 ties to even";
    EXPECT_EQ(v[2], 0x12345678u);
    EXPECT_EQ(v[3], 5u);
    EXPECT_EQ(v[4], 0x12345678u);
}

TEST(Engine, WideAtomics)
{
    Ptx p(entry("k", "mov.b64 %rd1, 1; mov.b64 %rd2, 2; mov.b64 %rd3, 7; mov.b64 %rd4, 8; mov.b128 %q1, {%rd1, %rd2}; mov.b128 %q2, {%rd3, %rd4};\n"
                     "atom.global.cas.b128 %q3, [%outbase], %q1, %q2; mov.b128 {%rd5, %rd6}, %q3; st.global.v2.u64 [%outbase+16], {%rd5, %rd6};\n"
                     "atom.global.exch.b128 %q3, [%outbase+32], %q1; ret;", ".reg .b128 %q<4>;\n"));
    Buffer<uint64_t> out(std::vector<uint64_t>{1, 2, 0, 0, 50, 60});
    ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(out.read(), (std::vector<uint64_t>{7, 8, 1, 2, 1, 2}));
}

/* ------------------------------------------------------------ calls */

static const char *const functions =
    ".func (.param .b32 r) twice(.param .b32 a)\n{ .reg .b32 %x; ld.param.u32 %x, [a]; add.s32 %x, %x, %x; st.param.b32 [r], %x; ret; }\n"
    ".func (.param .b32 r) square(.param .b32 a)\n{ .reg .b32 %x; ld.param.u32 %x, [a]; mul.lo.s32 %x, %x, %x; st.param.b32 [r], %x; ret; }\n"
    ".func (.param .b32 r) fib(.param .b32 a)\n{ .reg .b32 %n, %x, %y; .reg .pred %p; ld.param.u32 %n, [a]; setp.lt.u32 %p, %n, 2; @%p bra BASE;\n"
    "{ .param .b32 p0; .param .b32 q0; sub.s32 %x, %n, 1; st.param.b32 [p0], %x; call (q0), fib, (p0); ld.param.b32 %x, [q0]; }\n"
    "{ .param .b32 p0; .param .b32 q0; sub.s32 %y, %n, 2; st.param.b32 [p0], %y; call (q0), fib, (p0); ld.param.b32 %y, [q0]; }\n"
    "add.s32 %x, %x, %y; st.param.b32 [r], %x; ret;\nBASE: st.param.b32 [r], %n; ret; }\n"
    ".global .align 8 .u64 ops[2] = {twice, square};\n";

TEST(Engine, CallsPassValuesByLane)
{
    Ptx p(std::string(functions) + entry("k", "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %gid; call.uni (q0), square, (p0); ld.param.b32 %r1, [q0]; }\nst.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(100);
    ASSERT_EQ(p.run("k", 2, 50, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 100; i++)
        ASSERT_EQ(v[i], i * i);
}

TEST(Engine, RecursionWithDepthByLane)
{
    Ptx p(std::string(functions) + entry("k", "rem.u32 %r2, %gid, 11; { .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %r2; call (q0), fib, (p0); ld.param.b32 %r1, [q0]; }\nst.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(96);
    ASSERT_EQ(p.run("k", 2, 48, Params().add(out).add(out)), CPU_OK) << p.message();
    const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    auto v = out.read();
    for (uint32_t i = 0; i < 96; i++)
        ASSERT_EQ(v[i], fib[i % 11]) << i;
}

TEST(Engine, IndirectCallsWithDifferentTargetsInOneWarp)
{
    Ptx p(std::string(functions) + entry("k", "and.b32 %r2, %gid, 1; mul.wide.u32 %rd1, %r2, 8; mov.u64 %rd2, ops; add.s64 %rd1, %rd1, %rd2; ld.global.u64 %rd3, [%rd1];\n"
                                     "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %gid; proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (q0), %rd3, (p0), proto; ld.param.b32 %r1, [q0]; }\nst.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(64);
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 64; i++)
        ASSERT_EQ(v[i], i & 1 ? i * i : 2 * i) << i;
}

TEST(Engine, FunctionAddressFromTheHost)
{
    Ptx p(std::string(functions) + entry("k", "{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], %gid; proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (q0), %in, (p0), proto; ld.param.b32 %r1, [q0]; }\nst.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(40);
    uint64_t f = cpu_function_address(p.loaded(), "square");
    ASSERT_NE(f, 0u);
    ASSERT_EQ(p.run("k", 1, 40, Params().add(out).add(f)), CPU_OK) << p.message();
    EXPECT_EQ(out.read()[39], 39u * 39);
}

TEST(Engine, StructParametersAndLocalsOfCallees)
{
    /* The callee indexes its parameter and a local array, so both have addresses; callers' locals stay whole. */
    Ptx p(".func (.param .b32 r) pick(.param .align 8 .b8 s[16], .param .b32 i)\n{ .local .align 4 .b32 copy[4]; .reg .b32 %x, %i; .reg .b64 %a, %b;\n"
          "ld.param.u32 %i, [i]; ld.param.u32 %x, [s+0]; st.local.u32 [copy], %x; ld.param.u32 %x, [s+4]; st.local.u32 [copy+4], %x; ld.param.u32 %x, [s+8]; st.local.u32 [copy+8], %x; ld.param.u32 %x, [s+12]; st.local.u32 [copy+12], %x;\n"
          "mov.u64 %a, copy; cvta.local.u64 %a, %a; mul.wide.u32 %b, %i, 4; add.s64 %a, %a, %b; ld.u32 %x, [%a]; st.param.b32 [r], %x; ret; }\n" +
          entry("k", "st.local.u32 [mine], %gid; add.s32 %r1, %gid, 1000; add.s32 %r2, %gid, 2000; add.s32 %r3, %gid, 3000; and.b32 %r4, %gid, 3;\n"
                     "{ .param .align 8 .b8 p0[16]; .param .b32 p1; .param .b32 q; st.param.v2.b32 [p0], {%gid, %r1}; st.param.b32 [p0+8], %r2; st.param.b32 [p0+12], %r3; st.param.b32 [p1], %r4; call (q), pick, (p0, p1); ld.param.b32 %r5, [q]; }\n"
                     "ld.local.u32 %r6, [mine]; sub.s32 %r6, %r6, %gid; mad.lo.s32 %r5, %r6, 1000000, %r5; st.global.u32 [%out], %r5; ret;", ".local .align 4 .b32 mine;\n"));
    Buffer<uint32_t> out(64);
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 64; i++)
        ASSERT_EQ(v[i], i + i % 4 * 1000) << i;
}

/* ------------------------------------------------------------ barriers between warps */

TEST(Engine, BarrierInALoopOrdersAllWarps)
{
    /* Each round every thread reads its neighbour's value of the round before. */
    Ptx p(".shared .align 4 .b32 s[512];\n" +
          entry("k", "mov.u32 %r1, s; shl.b32 %r2, %tid0, 2; add.s32 %r2, %r2, %r1; add.s32 %r3, %tid0, 1; rem.u32 %r3, %r3, %r0; shl.b32 %r3, %r3, 2; add.s32 %r3, %r3, %r1; st.shared.u32 [%r2], %tid0; mov.u32 %r4, 0;\n"
                     "L: bar.sync 0; ld.shared.u32 %r5, [%r3]; bar.sync 0; st.shared.u32 [%r2], %r5; add.s32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 37; @%p1 bra L; st.global.u32 [%out], %r5; ret;"));
    Buffer<uint32_t> out(4 * 200);
    ASSERT_EQ(p.run("k", 4, 200, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 800; i++)
        ASSERT_EQ(v[i], (i % 200 + 37) % 200) << i;
}

TEST(Engine, BarrierReductions)
{
    Ptx p(entry("k", "setp.lt.u32 %p1, %tid0, 70; bar.red.popc.u32 %r1, 0, %p1; setp.lt.u32 %p2, %tid0, 1000; bar.red.and.pred %p3, 0, %p2; bar.red.and.pred %p4, 0, %p1; bar.red.or.pred %p5, 0, !%p2; bar.red.or.pred %p6, 0, %p1;\n"
                     "selp.u32 %r2, 1000, 0, %p3; selp.u32 %r3, 2000, 0, %p4; selp.u32 %r4, 4000, 0, %p5; selp.u32 %r5, 8000, 0, %p6; add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3; add.s32 %r1, %r1, %r4; add.s32 %r1, %r1, %r5; st.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(100);
    ASSERT_EQ(p.run("k", 1, 100, Params().add(out).add(out)), CPU_OK) << p.message();
    for (uint32_t v : out.read())
        ASSERT_EQ(v, 9070u);
}

TEST(Engine, NamedBarriersOfProducersAndConsumers)
{
    /* Warp 0 produces and only arrives; warp 1 waits for 64 threads. Warp 2 has a barrier of its own. */
    Ptx p(".shared .align 4 .b32 s[32];\n" +
          entry("k", "mov.u32 %r1, s; and.b32 %r2, %tid0, 31; shl.b32 %r2, %r2, 2; add.s32 %r2, %r2, %r1; shr.u32 %r3, %tid0, 5; setp.eq.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r3, 2; @%p1 bra PRODUCE; @%p2 bra OTHER;\n"
                     "bar.sync 1, 64; ld.shared.u32 %r4, [%r2]; st.global.u32 [%out], %r4; ret;\n"
                     "PRODUCE: mul.lo.s32 %r4, %tid0, 3; st.shared.u32 [%r2], %r4; bar.arrive 1, 64; st.global.u32 [%out], 1; ret;\nOTHER: bar.sync 2, 32; st.global.u32 [%out], 2; ret;"));
    Buffer<uint32_t> out(96);
    ASSERT_EQ(p.run("k", 1, 96, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 32; i++) {
        ASSERT_EQ(v[i], 1u);
        ASSERT_EQ(v[32 + i], 3 * i);
        ASSERT_EQ(v[64 + i], 2u);
    }
}

TEST(Engine, ExitedThreadsCountAsArrived)
{
    Ptx p(entry("k", "setp.ge.u32 %p1, %tid0, 45; @%p1 exit; bar.sync 0; st.global.u32 [%out], 5; ret;"));
    Buffer<uint32_t> out(128);
    ASSERT_EQ(p.run("k", 1, 128, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0u), 45u * 5);
}

TEST(Engine, MbarrierPhases)
{
    Ptx p(".shared .align 8 .b64 bar;\n.shared .align 4 .b32 total;\n" +
          entry("k", "setp.eq.u32 %p1, %tid0, 0; @%p1 mbarrier.init.shared.b64 [bar], %r0; @%p1 st.shared.u32 [total], 0; bar.sync 0; mov.u32 %r3, 0;\n"
                     "L: red.shared.add.u32 [total], 1; mbarrier.arrive.shared.b64 %rd1, [bar];\n"
                     "W: mbarrier.test_wait.shared.b64 %p2, [bar], %rd1; @!%p2 bra W; ld.shared.u32 %r4, [total]; mad.lo.s32 %r5, %r3, %r0, %r0; setp.lt.u32 %p3, %r4, %r5; @%p3 trap; add.s32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 5; @%p4 bra L;\n"
                     "st.global.u32 [%out], %r4; ret;"));
    Buffer<uint32_t> out(96);
    ASSERT_EQ(p.run("k", 1, 96, Params().add(out).add(out)), CPU_OK) << p.message();
}

TEST(Engine, AsyncCopiesFillWithZeros)
{
    Ptx p(".shared .align 16 .b8 s[512];\n" +
          entry("k", "mov.u32 %r1, s; shl.b32 %r2, %tid0, 4; add.s32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r2; add.s64 %rd2, %in, %rd1; and.b32 %r4, %tid0, 15; cp.async.cg.shared.global [%r3], [%rd2], 16, %r4; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
                     "ld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r3]; add.s64 %rd3, %outbase, %rd1; st.global.v4.u32 [%rd3], {%r5,%r6,%r7,%r8}; ret;"));
    std::vector<uint8_t> data(512);
    for (size_t i = 0; i < 512; i++)
        data[i] = (uint8_t)(i % 255 + 1);
    Buffer<uint8_t> in(data), out(512);
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(in)), CPU_OK) << p.message();
    auto v = out.read();
    for (size_t i = 0; i < 512; i++)
        ASSERT_EQ(v[i], i % 16 < (i / 16) % 16 ? data[i] : 0) << i;
}

TEST(Engine, LoadMatrixDistributesRowsAndColumns)
{
    for (bool trans : {false, true}) {
        std::string t = trans ? ".trans" : "";
        Ptx p(".shared .align 16 .b8 s[512];\n" +
              entry("k", "mov.u32 %r1, s; shl.b32 %r2, %tid0, 4; add.s32 %r3, %r1, %r2; cvt.u64.u32 %rd1, %r2; add.s64 %rd2, %in, %rd1; ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd2]; st.shared.v4.u32 [%r3], {%r5,%r6,%r7,%r8}; bar.sync 0;\n"
                         "ldmatrix.sync.aligned.m8n8.x4" + t + ".shared.b16 {%r9,%r10,%r11,%r12}, [%r3]; add.s64 %rd3, %outbase, %rd1; st.global.v4.u32 [%rd3], {%r9,%r10,%r11,%r12};\n"
                         "stmatrix.sync.aligned.m8n8.x4" + t + ".shared.b16 [%r3], {%r9,%r10,%r11,%r12}; ld.shared.v4.u32 {%r9,%r10,%r11,%r12}, [%r3]; st.global.v4.u32 [%rd3+512], {%r9,%r10,%r11,%r12}; ret;"));
        std::vector<uint16_t> data(256);
        std::iota(data.begin(), data.end(), (uint16_t)100);
        Buffer<uint16_t> in(data), out(512);
        ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(in)), CPU_OK) << p.message();
        auto v = out.read();
        for (size_t lane = 0; lane < 32; lane++)
            for (size_t j = 0; j < 4; j++)
                for (size_t h = 0; h < 2; h++) {
                    size_t row = lane / 4, column = 2 * (lane % 4) + h;
                    if (trans)
                        std::swap(row, column);
                    ASSERT_EQ(v[lane * 8 + 2 * j + h], data[j * 64 + row * 8 + column]) << trans << lane << j << h;
                }
        for (size_t i = 0; i < 256; i++)
            ASSERT_EQ(v[256 + i], data[i]) << "stmatrix undoes ldmatrix";
    }
}

/* ------------------------------------------------------------ functions of the system */

static const char *const system_functions = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n";

TEST(Engine, PrintfInOrderOfBlocks)
{
    /* "%d: %5.2f %s %llx %c%%\n" */
    Ptx p(std::string(system_functions) + ".global .align 1 .b8 fmt[26] = {37,100,58,32,37,53,46,50,102,32,37,115,32,37,108,108,120,32,37,99,37,37,10,0};\n.global .align 1 .b8 word[4] = {97,98,99,0};\n" +
          entry("k", "st.local.u32 [args], %gid; cvt.rn.f64.s32 %fd1, %gid; mul.f64 %fd1, %fd1, 0d3FD0000000000000; st.local.f64 [args+8], %fd1; cvta.global.u64 %rd1, word; st.local.u64 [args+16], %rd1; mov.u64 %rd2, 0x123456789; st.local.u64 [args+24], %rd2; st.local.u32 [args+32], 90;\n"
                     "setp.ne.u32 %p1, %tid0, 1; @%p1 bra E; mov.u64 %rd3, args; cvta.local.u64 %rd3, %rd3; cvta.global.u64 %rd4, fmt;\n"
                     "{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %rd4; st.param.b64 [p1], %rd3; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }\nE: ret;", ".local .align 8 .b8 args[40];\n"));
    Buffer<uint32_t> out(1);
    ASSERT_EQ(p.run("k", 5, 2, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(p.printed, "1:  0.25 abc 123456789 Z%\n3:  0.75 abc 123456789 Z%\n5:  1.25 abc 123456789 Z%\n7:  1.75 abc 123456789 Z%\n9:  2.25 abc 123456789 Z%\n");
}

TEST(Engine, MallocGivesEachThreadItsOwn)
{
    Ptx p(std::string(system_functions) +
          entry("k", "{ .param .b64 p0; .param .b64 q; st.param.b64 [p0], 24; call.uni (q), malloc, (p0); ld.param.b64 %rd1, [q]; }\nsetp.eq.u64 %p1, %rd1, 0; @%p1 trap; st.u32 [%rd1+20], %gid; bar.sync 0; ld.u32 %r1, [%rd1+20]; st.global.u32 [%out], %r1;\n"
                     "{ .param .b64 p0; st.param.b64 [p0], %rd1; call.uni free, (p0); }\nret;"));
    Buffer<uint32_t> out(600);
    ASSERT_EQ(p.run("k", 6, 100, Params().add(out).add(out)), CPU_OK) << p.message();
    auto v = out.read();
    for (uint32_t i = 0; i < 600; i++)
        ASSERT_EQ(v[i], i);
}

/* Calls malloc for the bytes in %rd1, which then holds the address. */
static const char *const get = "{ .param .b64 p0; .param .b64 q; st.param.b64 [p0], %rd1; call.uni (q), malloc, (p0); ld.param.b64 %rd1, [q]; }\n";

TEST(Engine, MallocOfMoreThanThereIs)
{
    for (const char *bytes : {"-1", "-16", "0x8000000000000000", "0x8000000000"}) {
        Ptx p(std::string(system_functions) + entry("k", std::string("mov.u64 %rd1, ") + bytes + ";\n" + get + "st.global.u64 [%outbase], %rd1; ret;"));
        Buffer<uint64_t> out(1, 1);
        ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
        EXPECT_EQ(out.read()[0], 0u) << bytes;
    }
}

TEST(Engine, WritesAfterFreeDoNotReachTheHost)
{
    for (const char *junk : {"0x1234567890", "-1", "8"}) {
        Ptx p(std::string(system_functions) +
              entry("k", std::string("mov.u64 %rd1, 100;\n") + get + "{ .param .b64 p0; st.param.b64 [p0], %rd1; call.uni free, (p0); }\nst.u64 [%rd1], " + junk +
                             ";\nmov.u64 %rd1, 100;\n" + get + "mov.u64 %rd1, 100;\n" + get + "mov.u64 %rd1, 100;\n" + get + "st.u64 [%rd1], 5; ret;"));
        Buffer<uint32_t> out(1);
        ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    }
}

/* What a kernel prints for one format, with these 32-bit arguments. */
static std::string print_with(const std::string &format, const std::vector<int32_t> &arguments)
{
    std::string bytes, stores;
    for (char c : format)
        bytes += std::to_string((int)c) + ",";
    for (size_t i = 0; i < arguments.size(); i++)
        stores += "st.local.u32 [args+" + std::to_string(4 * i) + "], " + std::to_string(arguments[i]) + ";\n";
    Ptx p(std::string(system_functions) + ".global .align 1 .b8 fmt[" + std::to_string(format.size() + 1) + "] = {" + bytes + "0};\n" +
          entry("k", stores + "mov.u64 %rd3, args; cvta.local.u64 %rd3, %rd3; cvta.global.u64 %rd4, fmt;\n"
                              "{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %rd4; st.param.b64 [p1], %rd3; call.uni (q), vprintf, (p0, p1); }\nret;", ".local .align 8 .b8 args[64];\n"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("k", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    return p.printed;
}

TEST(Engine, PrintfWidthsAndPrecisions)
{
    EXPECT_EQ(print_with("[%5d|%-5d|%05d|%+d|%.3d]", {42, 42, 42, 42, 42}), "[   42|42   |00042|+42|042]");
    EXPECT_EQ(print_with("[%*d|%*d|%.*d]", {4, 7, -4, 7, 2, 7}), "[   7|7   |07]");
    EXPECT_EQ(print_with("%700d", {1}), std::string(699, ' ') + "1");
    EXPECT_EQ(print_with("%.700d", {1}), std::string(699, '0') + "1");
    /* Wider than any output can be: bounded, and at once. */
    EXPECT_LE(print_with("%2000000000d%.2000000000d%99999999999999999999d%*d", {1, 1, 1, INT32_MAX, 1}).size(), 1u << 20);
    /* Nothing is written through %n, and an unfinished conversion ends the text. */
    EXPECT_EQ(print_with("a%nb%", {}), "ab");
    EXPECT_EQ(print_with("a%-+ #0123456789.123456789ll", {}), "a");
}

TEST(Engine, PrintfInAGridTooLargeForATable)
{
    Ptx p(std::string(system_functions) + ".global .align 1 .b8 fmt[2] = {120, 0};\n" +
          entry("k", "setp.gt.u32 %p1, %gid, 1; @%p1 trap;\ncvta.global.u64 %rd4, fmt;\n{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %rd4; st.param.b64 [p1], 0; call.uni (q), vprintf, (p0, p1); }\nret;"));
    cpu_kernel *k = p.kernel("k");
    ASSERT_NE(k, nullptr);
    const uint32_t grid[3] = {0x7fffffff, 65535, 65535};
    memcpy(p.launch.grid, grid, sizeof grid);
    p.launch.block[0] = p.launch.block[1] = p.launch.block[2] = 1;
    EXPECT_EQ(p.run(k, Params().add((uint64_t)0).add((uint64_t)0)), CPU_FAULT_TRAP) << p.message();
    EXPECT_EQ(p.printed, "xx");
}

TEST(Engine, PrintCallbackMayLaunch)
{
    struct again { Ptx kernel{entry("k", "st.global.u32 [%out], 9; ret;")}; Buffer<uint32_t> out{1}; cpu_status status = CPU_NOT_FOUND; } other;
    Ptx p(std::string(system_functions) + ".global .align 1 .b8 fmt[2] = {120, 0};\n" +
          entry("k", "cvta.global.u64 %rd4, fmt;\n{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %rd4; st.param.b64 [p1], 0; call.uni (q), vprintf, (p0, p1); }\nret;"));
    p.launch.print_user = &other;
    p.launch.print = [](void *user, const char *, size_t) {
        again *a = static_cast<again *>(user);
        a->status = a->kernel.run("k", 1, 1, Params().add(a->out).add(a->out));
    };
    ASSERT_EQ(p.run("k", 1, 1, Params().add(other.out).add(other.out)), CPU_OK) << p.message();
    EXPECT_EQ(other.status, CPU_OK);
    EXPECT_EQ(other.out.read()[0], 9u);
}

/* ------------------------------------------------------------ modules and launches */

TEST(Engine, ABrokenEntryDoesNotSpoilTheOthers)
{
    Ptx p(entry("good", "st.global.u32 [%out], 1; ret;") + entry("bad", "frobnicate.u32 %r1, %r2; ret;"));
    Buffer<uint32_t> out(1);
    EXPECT_EQ(p.run("good", 1, 1, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(out.read()[0], 1u);
    cpu_error error;
    EXPECT_EQ(cpu_kernel_get(p.loaded(), "bad", &error), nullptr);
    EXPECT_EQ(error.line, p.line_of("frobnicate"));
    EXPECT_STREQ(error.kernel, "bad");
    EXPECT_EQ(cpu_kernel_get(p.loaded(), "none", &error), nullptr);
    EXPECT_EQ(error.status, CPU_NOT_FOUND);
}

TEST(Engine, LaunchesThatTheKernelDoesNotAllow)
{
    Ptx p(".visible .entry k(.param .u64 a) .reqntid 64, 1, 1\n{ ret; }\n.visible .entry m(.param .u64 a) .maxntid 32, 1, 1\n{ ret; }\n");
    Params params;
    params.add<uint64_t>(0);
    EXPECT_EQ(p.run("k", 1, 64, params), CPU_OK) << p.message();
    EXPECT_EQ(p.run("k", 1, 32, params), CPU_BAD_ARGUMENT);
    EXPECT_EQ(p.run("m", 1, 32, params), CPU_OK) << p.message();
    EXPECT_EQ(p.run("m", 1, 33, params), CPU_BAD_ARGUMENT);
    EXPECT_EQ(p.run("m", 1, 16), CPU_BAD_ARGUMENT) << "no parameters given";
    EXPECT_EQ(p.run("m", 0, 16, params), CPU_BAD_ARGUMENT);
}

// What another kernel of the module declares is neither a kernel's limit nor its memory.
TEST(Engine, SharedMemoryOfOtherKernels)
{
    Ptx p(".visible .entry k(.param .u64 a) { .shared .b8 s[8]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r+4], 1; ret; }\n"
          ".visible .entry beyond(.param .u64 a) { .shared .b8 s[8]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r+8], 1; ret; }\n"
          ".visible .entry large(.param .u64 a) { .shared .b8 s[2000000]; .reg .b32 %r; mov.u32 %r, s; st.shared.u32 [%r+8], 1; ret; }\n");
    Params params;
    params.add<uint64_t>(0);
    EXPECT_EQ(p.run("k", 1, 1, params), CPU_OK) << p.message();
    EXPECT_EQ(p.run("beyond", 1, 1, params), CPU_FAULT_ADDRESS) << p.message();
    EXPECT_EQ(p.run("large", 1, 1, params), CPU_BAD_ARGUMENT);
    p.launch.dynamic_shared = 64;
    EXPECT_EQ(p.run("k", 1, 1, params), CPU_BAD_ARGUMENT);
    EXPECT_NE(p.message().find("other kernels"), std::string::npos) << p.message();
}

TEST(Engine, TraceShowsEveryInstructionWithItsResult)
{
    Ptx p(entry("k", "and.b32 %r1, %tid0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 add.s32 %r2, %tid0, 500; st.global.u32 [%out], %r1; ret;"));
    Buffer<uint32_t> out(32);
    struct Seen { uint32_t adds = 0, mask = 0, lane4 = 0, stores = 0, events = 0; } seen;
    p.launch.trace = [](void *user, const cpu_trace_event *e) {
        Seen *s = static_cast<Seen *>(user);
        char text[200];
        s->events++;
        if (e->insn->operation && std::string(e->insn->operation) == "st")
            s->stores++;
        (void)text;
        if (std::string(e->insn->form->mnemonic) == "add" && e->insn->guarded) {
            s->adds++;
            s->mask = e->mask;
            ASSERT_EQ(e->nresults, 1u);
            ASSERT_EQ(e->results[0].bytes, 4u);
            memcpy(&s->lane4, static_cast<const char *>(e->results[0].lanes) + 16, 4);
        }
    };
    p.launch.trace_user = &seen;
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(seen.adds, 1u);
    EXPECT_EQ(seen.mask, 0x55555555u);
    EXPECT_EQ(seen.lane4, 504u);
    EXPECT_EQ(seen.stores, 1u);
    EXPECT_GT(seen.events, 10u);
}

// Lanes that wait in a collective at different places get its result together, and each place shows its own.
TEST(Engine, TraceShowsCollectivesThatMeetFromTwoPlaces)
{
    Ptx p(entry("k", "and.b32 %r1, %tid0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN; shfl.sync.idx.b32 %r2, %tid0, 4, 31, -1; bra END; "
                     "EVEN: shfl.sync.idx.b32 %r3, %tid0, 7, 31, -1; END: ret;"));
    Buffer<uint32_t> out(32);
    struct Seen { uint32_t lanes = 0, events = 0, lane1 = 0, lane2 = 0; } seen;
    p.launch.trace = [](void *user, const cpu_trace_event *e) {
        Seen *s = static_cast<Seen *>(user);
        if (std::string(e->insn->form->mnemonic) != "shfl") return;
        s->events++;
        EXPECT_EQ(s->lanes & e->mask, 0u);
        s->lanes |= e->mask;
        ASSERT_EQ(e->nresults, 1u);
        memcpy(e->mask & 1 ? &s->lane2 : &s->lane1, static_cast<const char *>(e->results[0].lanes) + (e->mask & 1 ? 8 : 4), 4);
    };
    p.launch.trace_user = &seen;
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(out)), CPU_OK) << p.message();
    EXPECT_EQ(seen.events, 2u);
    EXPECT_EQ(seen.lanes, 0xffffffffu);
    EXPECT_EQ(seen.lane1, 4u);
    EXPECT_EQ(seen.lane2, 7u);
}

TEST(Engine, MemoryOfTheDevice)
{
    uint64_t a = cpu_alloc(test_device(), 1000), b = cpu_alloc(test_device(), 1000);
    ASSERT_NE(a, 0u);
    EXPECT_EQ(a % 256, 0u);
    EXPECT_TRUE(cpu_set(test_device(), a, 0x5a, 1000));
    EXPECT_TRUE(cpu_copy(test_device(), b + 10, a, 990));
    uint8_t bytes[1000];
    EXPECT_TRUE(cpu_read(test_device(), bytes, b, 1000));
    EXPECT_EQ(bytes[9], 0);
    EXPECT_EQ(bytes[10], 0x5a);
    EXPECT_FALSE(cpu_set(test_device(), a, 0, 1001));
    EXPECT_FALSE(cpu_read(test_device(), bytes, a + 999, 2));
    EXPECT_FALSE(cpu_read(test_device(), bytes, 12345, 1));
    EXPECT_FALSE(cpu_free(test_device(), a + 256));
    EXPECT_TRUE(cpu_free(test_device(), a));
    EXPECT_FALSE(cpu_free(test_device(), a));
    EXPECT_TRUE(cpu_free(test_device(), b));
    EXPECT_EQ(cpu_alloc(test_device(), 0), 0u);
    EXPECT_EQ(cpu_alloc(test_device(), 1ull << 50), 0u);
}

TEST(Engine, TheClockHasTheRateThatDevicesClaim)
{
    /* %clock64 read inside two reads of %globaltimer and outside of two others, a million cycles apart: between the two times, up to what steers them. */
    Ptx p(entry("k", "cvta.to.global.u64 %in, %in;\nmov.u64 %rd1, %globaltimer; mov.u64 %rd2, %clock64; mov.u64 %rd3, %globaltimer;\n"
                     "W: mov.u64 %rd4, %globaltimer; mov.u64 %rd5, %clock64; mov.u64 %rd6, %globaltimer; sub.s64 %rd7, %rd5, %rd2; setp.lt.u64 %p1, %rd7, 1000000; @%p1 bra W;\n"
                     "sub.s64 %rd6, %rd6, %rd1; sub.s64 %rd4, %rd4, %rd3; st.global.u64 [%in], %rd7; st.global.u64 [%in+8], %rd6; st.global.u64 [%in+16], %rd4; ret;"));
    Buffer<uint32_t> out(64);
    Buffer<uint64_t> in(8);
    ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(in)), CPU_OK) << p.message();
    auto v = in.read();
    double ns = (double)v[0] * 1e6 / CPU_CLOCK_KHZ;
    EXPECT_GE(v[0], 1000000u);
    EXPECT_LE(ns, 1.01 * (double)v[1]);
    EXPECT_GE(ns, 0.99 * (double)v[2]);
}

TEST(Engine, LevelsOfTheProcessor)
{
    cpu_error error;
    cpu_options options = {};
    options.threads = 1;
    options.arena_bytes = 1ull << 32;
    options.level = "v99";
    EXPECT_EQ(cpu_open(&options, &error), nullptr);
    EXPECT_EQ(error.status, CPU_BAD_ARGUMENT);
    options.level = nullptr;
    cpu_device *d = cpu_open(&options, &error);
    ASSERT_NE(d, nullptr) << error.reason;
    EXPECT_EQ(cpu_threads(d), 1u);
    cpu_close(d);
}
