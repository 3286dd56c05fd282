/* Bulk copies and reductions, st.async, red.async, st.bulk, matrices of bytes, cluster launch control: on the CPU device, against
 * results computed here; and their faults. */
#include <cmath>
#include <random>
#include "engine_harness.h"

static const char kShared[] = ".shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n";

/* Thread 0 sets the barrier up. */
static std::string setup(const std::string &count = "1")
{
    return "setp.eq.u32 %p1, %tid0, 0; @%p1 mbarrier.init.shared::cta.b64 [bar], " + count + "; bar.sync 0;\n";
}

/* Thread 0 expects `bytes` and issues `what`; all wait for the phase. */
static std::string issue(const std::string &bytes, const std::string &what)
{
    return "@!%p1 bra WAIT;\nmbarrier.arrive.expect_tx.shared::cta.b64 %rd20, [bar], " + bytes + ";\n" + what +
           "\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT;\n";
}

static std::string text(const std::string &body) { return kShared + entry("k", body); }

static std::vector<uint32_t> numbers(size_t n)
{
    std::vector<uint32_t> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (uint32_t)(i * 2654435761u ^ i << 7);
    return v;
}

/* Every thread stores word tid of the tile to out. */
static const char kDump[] = "mov.u32 %r1, tile; shl.b32 %r2, %tid0, 2; add.u32 %r1, %r1, %r2; ld.shared.u32 %r3, [%r1]; st.global.u32 [%out], %r3;\n";
static const char kLoad[] = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";

TEST(Bulk, GlobalToShared)
{
    const std::string load = kLoad, forms[] = {
        load + " [tile], [%in], 256, [bar];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%in], %r5, [bar];",
        load + ".L2::cache_hint [tile], [%in], %r5, [bar], %rd9;",
        "mov.u16 %h1, 1; " + load + ".multicast::cluster [tile], [%in], %r5, [bar], %h1;",
        "mov.u16 %h1, 1; " + load + ".multicast::cluster.L2::cache_hint [tile], [%in], %r5, [bar], %h1, %rd9;",
    };
    for (const std::string &form : forms) {
        Ptx p(text(setup() + "mov.u32 %r5, 256;\n" + issue("256", form) + kDump), "sm_90", "8.6");
        std::vector<uint32_t> data = numbers(64);
        Buffer<uint32_t> in(data), out(64);
        ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
        EXPECT_EQ(out.read(), data) << form;
    }
}

TEST(Bulk, IgnoredBytesAreNotRead)
{
    const std::string form = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [tile], ";
    std::vector<uint32_t> data = numbers(64);
    Buffer<uint32_t> in(data), out(64);
    /* 15 of the 16 bytes before the allocation are ignored: the last one is read. */
    Ptx p(text(setup() + "sub.u64 %in, %in, 16;\n" + issue("272", form + "[%in], 272, 15, 0, [bar];")), "sm_90", "9.2");
    p.launch.check = true;
    EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_FAULT_ADDRESS);
    Ptx q(text(setup() + issue("256", form + "[%in], 256, 3, 5, [bar];") + kDump), "sm_90", "9.2");
    ASSERT_EQ(q.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << q.message() << q.problems;
    std::vector<uint32_t> v = out.read();
    EXPECT_EQ(v[0] >> 24, data[0] >> 24);
    for (int i = 1; i < 62; i++)
        EXPECT_EQ(v[i], data[i]) << i;
    EXPECT_EQ(v[62] & 0xffffff, data[62] & 0xffffff);
    Ptx r(text(setup() + issue("256", form + "[%in], 256, 3, 16, [bar];")), "sm_90", "9.2");
    EXPECT_EQ(r.run("k", 1, 64, Params().add(out).add(in)), CPU_FAULT_ADDRESS);
    EXPECT_NE(r.message().find("at most 15"), std::string::npos) << r.message();
}

TEST(Bulk, SharedToSharedAndToGlobal)
{
    const std::string fill = "mov.u32 %r1, tile; shl.b32 %r2, %tid0, 2; add.u32 %r1, %r1, %r2; mad.lo.u32 %r3, %tid0, 77, 5; st.shared.u32 [%r1], %r3;\n"
                             "fence.proxy.async; bar.sync 0;\n";
    Buffer<uint32_t> out(64), in(64), to(64, 9);
    Ptx p(text(setup() + fill + issue("128", "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [tile+1024], [tile+128], 128, [bar];") +
               "ld.shared.u32 %r3, [%r1+1024]; st.global.u32 [%out], %r3;\n"));
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
    for (uint32_t i = 0; i < 32; i++)
        EXPECT_EQ(out.read()[i], (i + 32) * 77 + 5);
    Ptx g(text(setup() + fill + "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%outbase], [tile], 240;\n"
                                "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\n"));
    ASSERT_EQ(g.run("k", 1, 64, Params().add(to).add(in)), CPU_OK) << g.message() << g.problems;
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(to.read()[i], i < 60 ? i * 77 + 5 : 9u) << i;
    Ptx m(text(setup() + fill + "mov.u16 %h1, 0x8421; @%p1 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%outbase], [tile], 64, %h1;\n"), "sm_100", "8.6");
    Buffer<uint8_t> bytes(256, 0xee);
    ASSERT_EQ(m.run("k", 1, 64, Params().add(bytes).add(in)), CPU_OK) << m.message() << m.problems;
    for (uint32_t i = 0; i < 256; i++) {
        bool copied = i < 64 && (0x8421 >> i % 16 & 1);
        EXPECT_EQ(bytes.read()[i], copied ? (uint8_t)((i / 4 * 77 + 5) >> i % 4 * 8) : 0xee) << i;
    }
}

TEST(Bulk, EachLaneItsOwn)
{
    /* 32 lanes copy 16 or 32 bytes each and count at one barrier. */
    Ptx p(text(setup("32") + "mul.wide.u32 %rd3, %tid0, 32; add.u64 %rd4, %in, %rd3; and.b32 %r4, %tid0, 1; shl.b32 %r4, %r4, 4; add.u32 %r4, %r4, 16;\n"
               "mov.u32 %r6, tile; shl.b32 %r7, %tid0, 5; add.u32 %r6, %r6, %r7; mbarrier.arrive.expect_tx.shared::cta.b64 %rd20, [bar], %r4;\n" + kLoad +
               " [%r6], [%rd4], %r4, [bar];\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT;\n"
               "ld.shared.u32 %r8, [%r6]; ld.shared.u32 %r9, [%r6+16]; add.u32 %r8, %r8, %r9; st.global.u32 [%out], %r8;\n"));
    std::vector<uint32_t> data = numbers(256);
    Buffer<uint32_t> in(data), out(32);
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
    for (uint32_t i = 1; i < 32; i += 2)
        EXPECT_EQ(out.read()[i], data[8 * i] + data[8 * i + 4]);
}

/* ------------------------------------------------------------ reductions */

static double half_value(uint16_t h, bool bf16)
{
    int fraction = bf16 ? 7 : 10, bias = bf16 ? 127 : 15, e = (h & 0x7fff) >> fraction, m = h & ((1 << fraction) - 1);
    double x = e ? std::ldexp((1 << fraction) + m, e - bias - fraction) : std::ldexp(m, 1 - bias - fraction);
    return h & 0x8000 ? -x : x;
}

/* The half nearest to x, ties to even, by search. */
static uint16_t half_nearest(double x, bool bf16)
{
    uint16_t top = bf16 ? 0x7f80 : 0x7c00, low = 0, high = top;
    double size = std::fabs(x);
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        (half_value(middle, bf16) <= size ? low : high) = middle;
    }
    double below = size - half_value(low, bf16), above = (high == top ? std::ldexp(1, bf16 ? 128 : 16) : half_value(high, bf16)) - size;
    uint16_t r = below < above || (below == above && !(low & 1)) ? low : high;
    return (uint16_t)(r | (std::signbit(x) ? 0x8000 : 0));
}

static uint64_t reduced(const std::string &op, const std::string &type, uint64_t a, uint64_t b)
{
    if (type == "f32") {
        float x, y;
        memcpy(&x, &a, 4), memcpy(&y, &b, 4);
        x += y;
        a = 0;
        memcpy(&a, &x, 4);
        return a;
    }
    if (type == "f64") {
        double x, y;
        memcpy(&x, &a, 8), memcpy(&y, &b, 8);
        x += y;
        memcpy(&a, &x, 8);
        return a;
    }
    if (type == "f16" || type == "bf16") {
        bool bf16 = type == "bf16";
        double x = half_value((uint16_t)a, bf16), y = half_value((uint16_t)b, bf16);
        return op == "add.noftz" ? half_nearest(x + y, bf16) : (op == "min") == (x < y) ? a : b;
    }
    bool is64 = type[1] == '6', sign = type[0] == 's';
    int64_t sa = is64 ? (int64_t)a : (int32_t)a, sb = is64 ? (int64_t)b : (int32_t)b;
    bool less = sign ? sa < sb : a < b;
    uint64_t r = op == "add" ? a + b : op == "and" ? (a & b) : op == "or" ? (a | b) : op == "xor" ? (a ^ b) : op == "min" ? (less ? a : b)
               : op == "max" ? (less ? b : a) : op == "inc" ? (a >= b ? 0 : a + 1) : (a == 0 || a > b ? b : a - 1);
    return is64 ? r : (uint32_t)r;
}

struct Reduction { const char *op, *type; };
static size_t size_of(const std::string &type) { return type.back() == '4' ? 8 : type == "f16" || type == "bf16" ? 2 : 4; }

/* Random elements; floats of moderate size, halves with subnormals. */
static std::vector<uint8_t> elements(const std::string &type, size_t bytes)
{
    std::mt19937_64 random(7);
    std::vector<uint8_t> v(bytes);
    size_t n = size_of(type);
    for (size_t i = 0; i < bytes; i += n) {
        uint64_t x = random();
        double d = std::ldexp((double)(int64_t)x, -60);
        float f = (float)d;
        if (type[0] == 'f' && n >= 4)
            memcpy(&x, n == 4 ? (void *)&f : (void *)&d, n);
        else if (n == 2)
            x &= 0xbfff;                   /* below 2 in size: finite sums */
        else if (i % 3 == 0)
            x &= 0xf;
        memcpy(&v[i], &x, n);
    }
    return v;
}

static void check_reduction(const Reduction &r, bool global)
{
    const std::string type = r.type, spelled = (global ? "cp.reduce.async.bulk.global.shared::cta.bulk_group." : "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.")
                                               + std::string(r.op) + "." + type;
    /* The first 512 bytes of in are a (the destination), the next 512 are b. */
    std::string body = setup() + "mov.u32 %r1, tile; shl.b32 %r2, %tid0, 2; add.u32 %r1, %r1, %r2; cvt.u64.u32 %rd3, %r2; add.u64 %rd3, %in, %rd3;\n"
                       "ld.global.u32 %r3, [%rd3+512]; st.shared.u32 [%r1], %r3; ld.global.u32 %r3, [%rd3]; st.shared.u32 [%r1+1024], %r3; st.global.u32 [%out], %r3; bar.sync 0;\n";
    if (global)
        body += "@%p1 " + spelled + " [%outbase], [tile], 512; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
    else
        body += issue("512", spelled + " [tile+1024], [tile], 512, [bar];") + "ld.shared.u32 %r3, [%r1+1024]; st.global.u32 [%out], %r3;\n";
    Ptx p(text(body));
    std::vector<uint8_t> in = elements(type, 1024);
    Buffer<uint8_t> source(in), out(512);
    ASSERT_EQ(p.run("k", 1, 128, Params().add(out).add(source)), CPU_OK) << spelled << p.message() << p.problems;
    std::vector<uint8_t> got = out.read();
    for (size_t i = 0, n = size_of(type); i < 512; i += n) {
        uint64_t a = 0, b = 0, v = 0;
        memcpy(&a, &in[i], n), memcpy(&b, &in[512 + i], n), memcpy(&v, &got[i], n);
        ASSERT_EQ(v, reduced(r.op, type, a, b)) << spelled << " of " << std::hex << a << " and " << b;
    }
}

TEST(Bulk, ReductionsInGlobalMemory)
{
    const Reduction all[] = {{"and", "b32"}, {"or", "b32"}, {"xor", "b32"}, {"and", "b64"}, {"or", "b64"}, {"xor", "b64"}, {"add", "u32"}, {"add", "s32"},
                             {"add", "u64"}, {"add", "f32"}, {"add", "f64"}, {"inc", "u32"}, {"dec", "u32"}, {"min", "u32"}, {"min", "s32"}, {"min", "u64"},
                             {"min", "s64"}, {"max", "u32"}, {"max", "s32"}, {"max", "u64"}, {"max", "s64"}, {"min", "f16"}, {"max", "f16"}, {"min", "bf16"},
                             {"max", "bf16"}, {"add.noftz", "f16"}, {"add.noftz", "bf16"}};
    for (const Reduction &r : all)
        check_reduction(r, true);
}

TEST(Bulk, ReductionsInSharedMemory)
{
    const Reduction all[] = {{"and", "b32"}, {"or", "b32"}, {"xor", "b32"}, {"add", "u32"}, {"add", "s32"}, {"add", "u64"}, {"inc", "u32"}, {"dec", "u32"},
                             {"min", "u32"}, {"min", "s32"}, {"max", "u32"}, {"max", "s32"}};
    for (const Reduction &r : all)
        check_reduction(r, false);
}

TEST(Bulk, BlocksAddAtomically)
{
    Ptx p(text("mov.u32 %r1, tile; shl.b32 %r2, %tid0, 2; add.u32 %r1, %r1, %r2; add.u32 %r3, %tid0, 1; st.shared.u32 [%r1], %r3; bar.sync 0;\n"
               "setp.eq.u32 %p1, %tid0, 0; @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%outbase], [tile], 256;\n"));
    Buffer<uint32_t> out(64), in(64);
    ASSERT_EQ(p.run("k", 200, 64, Params().add(out).add(in)), CPU_OK) << p.message();
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(out.read()[i], 200 * (i + 1));
}

/* ------------------------------------------------------------ faults */

static void expect_fault(const std::string &insn, cpu_status status, const std::string &reason, const char *target = "sm_90", const char *version = "8.4")
{
    Ptx p(text(setup() + "mov.u32 %r5, 24; mov.u16 %h1, 3; add.u64 %rd5, %in, 8;\nsetp.ne.u32 %p3, %tid0, 37; @%p3 bra END;\n" + insn + "\nEND: ret;\n"), target, version);
    Buffer<uint32_t> in(64), out(64);
    EXPECT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), status) << insn << p.message() << p.problems;
    EXPECT_NE(p.message().find(reason), std::string::npos) << p.message();
    EXPECT_EQ(p.error.line, p.line_of(insn)) << p.message();
    EXPECT_TRUE(p.error.has_thread);
    EXPECT_EQ(p.error.thread[0], 37u);
}

TEST(Bulk, Faults)
{
    const std::string load = kLoad;
    expect_fault(load + " [tile], [%in], %r5, [bar];", CPU_FAULT_MISALIGNED, "multiple of 16");
    expect_fault(load + " [tile], [%rd5], 32, [bar];", CPU_FAULT_MISALIGNED, "");
    expect_fault(load + " [tile+4], [%in], 32, [bar];", CPU_FAULT_MISALIGNED, "");
    expect_fault(load + " [tile], [%in], 32, [bar+4];", CPU_FAULT_MISALIGNED, "");
    expect_fault(load + " [tile+4096], [%in], 32, [bar];", CPU_FAULT_ADDRESS, "");
    expect_fault(load + ".multicast::cluster [tile], [%in], 32, [bar], %h1;", CPU_FAULT_ADDRESS, "ctaMask 0x3");
    expect_fault("cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 4080;", CPU_FAULT_MISALIGNED, "");
    expect_fault("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%in], [tile], %r5;", CPU_FAULT_MISALIGNED, "multiple of 16");
    expect_fault("st.bulk.shared::cta [tile], 12, 0;", CPU_FAULT_MISALIGNED, "multiple of 8", "sm_100", "8.6");
    expect_fault("st.bulk.shared::cta [tile], 100000, 0;", CPU_FAULT_ADDRESS, "outside of shared", "sm_100", "8.6");
}

/* ------------------------------------------------------------ st.async, red.async, st.bulk, cluster launch control */

TEST(Async, StoresAndReductionsCount)
{
    const std::string store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.";
    Ptx p(text(setup() + issue("44", "mov.b32 %r6, 11; mov.b32 %r7, 22; mov.b64 %rd6, 0x1122334455667788; mov.u32 %r8, tile; mov.u32 %r9, bar;\n" +
               store + "b32 [tile], %r6, [bar];\n" + store + "b64 [tile+8], %rd6, [bar];\n" + store + "v2.u32 [tile+16], {%r6, %r7}, [bar];\n" +
               store + "v4.b32 [%r8+32], {%r7, %r6, %r6, %r7}, [%r9];\n"
               "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r8+8], %rd6, [%r9];\n") + kDump));
    Buffer<uint32_t> in(16), out(16);
    ASSERT_EQ(p.run("k", 1, 16, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
    std::vector<uint32_t> want = {11, 0, 0xaaccef10u, 0x22446688u, 11, 22, 0, 0, 22, 11, 11, 22, 0, 0, 0, 0};
    EXPECT_EQ(out.read(), want);
}

TEST(Async, ReductionsOfEveryKind)
{
    struct Kind { const char *op, *type; uint32_t want; } kinds[] = {{"inc", "u32", 0}, {"dec", "u32", 5}, {"min", "u32", 5}, {"max", "u32", 0xfffffff0u},
                                                                     {"min", "s32", 0xfffffff0u}, {"max", "s32", 5}, {"and", "b32", 0}, {"or", "b32", 0xfffffff5u},
                                                                     {"xor", "b32", 0xfffffff5u}, {"add", "u32", 0xfffffff5u}, {"add", "s32", 0xfffffff5u}};
    for (const Kind &k : kinds) {
        Ptx p(text(setup() + "mov.b32 %r6, 0xfffffff0; @%p1 st.shared.b32 [tile], %r6; bar.sync 0;\n" +
                   issue("4", std::string("mov.b32 %r7, 5; red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.") + k.op + "." + k.type + " [tile], %r7, [bar];") + kDump));
        Buffer<uint32_t> in(1), out(1);
        ASSERT_EQ(p.run("k", 1, 1, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
        EXPECT_EQ(out.read()[0], k.want) << k.op << k.type;
    }
}

TEST(Async, GlobalRelease)
{
    Ptx p(text("st.async.release.gpu.global.u32 [%out], %tid0; red.async.release.sys.global.add.u32 [%out], 100; red.async.release.gpu.add.s64 [%in], -1;\n"
               "red.async.mmio.release.sys.global.max.s32 [%in+8], %tid0; red.async.release.gpu.global.inc.u32 [%in+12], 62; red.async.release.gpu.or.b32 [%in+16], %tid0;\n"), "sm_100", "8.7");
    Buffer<uint32_t> out(64);
    Buffer<uint64_t> in(std::vector<uint64_t>{1000, 0, 0});
    ASSERT_EQ(p.run("k", 1, 64, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(out.read()[i], i + 100);
    EXPECT_EQ(in.read()[0], 936u);
    EXPECT_EQ(in.read()[1], UINT64_C(1) << 32 | 63);           /* 64 times up to 62, from 0: 1 */
    EXPECT_EQ(in.read()[2], 63u);
}

TEST(Async, BulkZero)
{
    for (const char *form : {"st.bulk.weak.shared::cta [tile+8], 24, 0;", "mov.u32 %r7, tile; st.bulk.shared::cta [%r7+8], %rd9, 0;", "cvta.shared.u64 %rd8, %rd7; st.bulk [%rd8], %rd9, 0;"}) {
        Ptx p(text("mov.u32 %r1, tile; shl.b32 %r2, %tid0, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], 7; bar.sync 0;\n"
                   "mov.u64 %rd7, tile; add.u64 %rd7, %rd7, 8; mov.u64 %rd9, 24; setp.ne.u32 %p1, %tid0, 0; @%p1 bra L;\n" + std::string(form) + "\nL: bar.sync 0;\n" + kDump),
              "sm_100", "8.6");
        Buffer<uint32_t> in(1), out(16);
        ASSERT_EQ(p.run("k", 1, 16, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
        for (uint32_t i = 0; i < 16; i++)
            EXPECT_EQ(out.read()[i], i >= 2 && i < 8 ? 0u : 7u) << i;
    }
}

TEST(Async, NothingIsCancelled)
{
    Ptx p(text(setup() + issue("16", "st.shared.u32 [tile], 99; clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [tile], [bar];") +
               ".reg .b128 %q; ld.shared.b128 %q, [tile]; mov.b32 %r3, 5;\n"
               "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p5, %q; @!%p5 add.u32 %r3, %r3, 1;\n"
               "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r10, %r11, %r12, _}, %q;\n"
               "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r13, %q;\nst.global.u32 [%out], %r3;\n"), "sm_100", "8.6");
    Buffer<uint32_t> in(1), out(32);
    ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(in)), CPU_OK) << p.message() << p.problems;
    EXPECT_EQ(out.read(), std::vector<uint32_t>(32, 6));
}

/* ------------------------------------------------------------ matrices of bytes */

static std::vector<uint8_t> some_bytes(size_t n)
{
    std::mt19937 random(3);
    std::vector<uint8_t> v(n);
    for (uint8_t &x : v)
        x = (uint8_t)random();
    return v;
}

/* Loads 512 bytes into shared memory; %r3 is this lane's row, lane * 16. */
static const char kRows[] = "mov.u32 %r1, tile; shl.b32 %r2, %tid0, 4; add.u32 %r3, %r1, %r2; cvt.u64.u32 %rd3, %r2; add.u64 %rd4, %in, %rd3; add.u64 %rd5, %outbase, %rd3;\n"
                            "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd4]; st.shared.v4.u32 [%r3], {%r5,%r6,%r7,%r8}; bar.sync 0;\n"
                            "mov.u32 %r9, 0; mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0;\n";

static uint32_t element(const uint8_t *row, uint32_t column, uint32_t bits)
{
    uint32_t v = 0;
    for (uint32_t b = 0; b < bits; b++)
        v |= (uint32_t)(row[(column * bits + b) / 8] >> (column * bits + b) % 8 & 1) << b;
    return v;
}

TEST(Matrix, LoadsOfBytes)
{
    struct Form { const char *shape, *num, *type; uint32_t bits, registers; bool trans; };
    const Form forms[] = {{"m16n16", "x1", "b8", 8, 2, true}, {"m16n16", "x2", "b8", 8, 4, true}, {"m16n16", "x1", "b8x16.b6x16_p32", 6, 2, true},
                          {"m16n16", "x2", "b8x16.b4x16_p64", 4, 4, true}, {"m8n16", "x1", "b8x16.b4x16_p64", 4, 1, false},
                          {"m8n16", "x2", "b8x16.b6x16_p32", 6, 2, false}, {"m8n16", "x4", "b8x16.b6x16_p32", 6, 4, false},
                          {"m8n16", "x4", "b8x16.b4x16_p64", 4, 4, false}};
    const std::vector<uint8_t> data = some_bytes(512);
    for (const Form &f : forms) {
        const char *names[] = {"", "{%r9}", "{%r9,%r10}", "", "{%r9,%r10,%r11,%r12}"};
        const std::string insn = std::string("ldmatrix.sync.aligned.") + f.shape + "." + f.num + (f.trans ? ".trans" : "") + ".shared::cta." + f.type + " " + names[f.registers] + ", [%r3];";
        Ptx p(text(std::string(kRows) + insn + " st.global.v4.u32 [%rd5], {%r9,%r10,%r11,%r12};\n"), "sm_120a", "8.8");
        Buffer<uint8_t> in(data);
        Buffer<uint32_t> out(128);
        ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(in)), CPU_OK) << insn << p.message() << p.problems;
        std::vector<uint32_t> v = out.read();
        for (uint32_t l = 0; l < 32; l++)
            for (uint32_t r = 0; r < 4; r++) {
                uint32_t want = 0;
                for (uint32_t e = 0; r < f.registers && e < 4; e++) {
                    uint32_t row = f.trans ? r / 2 * 16 + l % 4 * 4 + e : r * 8 + l / 4, column = f.trans ? l / 4 + r % 2 * 8 : l % 4 * 4 + e;
                    want |= element(&data[row * 16], column, f.bits) << 8 * e;
                }
                ASSERT_EQ(v[l * 4 + r], want) << insn << " lane " << l << " register " << r;
            }
    }
}

TEST(Matrix, StoresOfBytes)
{
    const std::vector<uint8_t> data = some_bytes(512);
    for (uint32_t n : {1u, 2u, 4u}) {
        const char *names[] = {"", "{%r5}", "{%r5,%r6}", "", "{%r5,%r6,%r7,%r8}"};
        const std::string insn = "stmatrix.sync.aligned.m16n8.x" + std::to_string(n) + ".trans.shared::cta.b8 [%r3], " + names[n] + ";";
        Ptx p(text(std::string(kRows) + "st.shared.v4.u32 [%r3], {%r9,%r9,%r9,%r9}; bar.sync 0;" + insn +
                   " bar.sync 0; ld.shared.v4.u32 {%r9,%r10,%r11,%r12}, [%r3]; st.global.v4.u32 [%rd5], {%r9,%r10,%r11,%r12};\n"), "sm_120a", "8.8");
        Buffer<uint8_t> in(data), out(512);
        ASSERT_EQ(p.run("k", 1, 32, Params().add(out).add(in)), CPU_OK) << insn << p.message() << p.problems;
        std::vector<uint8_t> v = out.read();
        /* c0 to c3 of a 16 x 8 matrix C: rows g and g + 8, columns 2t and 2t + 1; row c of the memory is column c of C. */
        for (uint32_t j = 0; j < 4; j++)
            for (uint32_t row = 0; row < 16; row++)
                for (uint32_t column = 0; column < 8; column++) {
                    uint32_t lane = row % 8 * 4 + column / 2, byte = row / 8 * 2 + column % 2;
                    ASSERT_EQ(v[(j * 8 + column) * 16 + row], j < n ? data[lane * 16 + j * 4 + byte] : 0) << insn << row << " " << column;
                }
    }
}
