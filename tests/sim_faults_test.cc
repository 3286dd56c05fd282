// sim_faults_test.cc - what goes wrong in kernels goes wrong in the same way on the CPU and on simulated GPUs: texts that are too long,
// barriers that cannot complete, stacks and arrays that are overrun, functions that cannot be called.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#include "include/ptxbridge.h"

namespace {

std::string name_of(const testing::TestParamInfo<const char *> &info)
{
    std::string name = info.param;
    for (char &c : name)
        if (c == ':') c = '_';
    return name;
}

class SimFaults : public testing::TestWithParam<const char *>
{
protected:
    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&context), PXB_OK);
        ASSERT_EQ(pxb_device_open(context, GetParam(), &device), PXB_OK) << message();
        ASSERT_EQ(pxb_memory_alloc(device, 4096, &memory), PXB_OK) << message();
        ASSERT_EQ(pxb_memory_set(device, memory, 0, 4096), PXB_OK) << message();
    }
    void TearDown() override { pxb_context_destroy(context); }

    bool is_cpu() const { return !strcmp(GetParam(), "cpu"); }
    const pxb_error *last() { return pxb_last_error(context); }
    const char *message() { return last()->message; }

    // The text of a module behind its head.
    pxb_status load(const std::string &body, const std::string &version = "8.7", const std::string &target = "sm_90")
    {
        text = ".version " + version + "\n.target " + target + "\n.address_size 64\n" + body;
        pxb_module_free(module);
        return pxb_module_load_text(context, text.c_str(), text.size(), "faults.ptx", &module);
    }
    // Number of the line in which `part` stands first.
    uint32_t line_of(const char *part)
    {
        size_t at = text.find(part);
        EXPECT_NE(at, std::string::npos) << part;
        return 1 + (uint32_t)std::count(text.begin(), text.begin() + (long)std::min(at, text.size()), '\n');
    }
    pxb_status run(const char *name, uint32_t threads, uint32_t grid = 1, uint32_t timeout_ms = 20000)
    {
        pxb_kernel *kernel;
        pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
        o.grid[0] = grid;
        o.block[0] = threads;
        o.timeout_ms = timeout_ms;
        o.print = [](void *user, const char *data, size_t n) { static_cast<std::string *>(user)->append(data, n); };
        o.print_user = &printed;
        const void *params[] = {&memory};
        pxb_status status = pxb_kernel_get(device, module, name, &kernel);
        return status ? status : pxb_launch(kernel, &o, params, 1);
    }
    uint32_t word(uint32_t i)
    {
        uint32_t v = 0;
        EXPECT_EQ(pxb_memory_read(device, &v, memory + i * 4, 4), PXB_OK) << message();
        return v;
    }

    pxb_context *context = nullptr;
    pxb_device *device = nullptr;
    pxb_module *module = nullptr;
    pxb_address memory = 0;
    std::string text, printed;
};

INSTANTIATE_TEST_SUITE_P(Devices, SimFaults, testing::Values("cpu", "sim:gfx1100", "sim:gfx1201", "sim:gfx942"), name_of);

// ------------------------------------------------------------ printf

// A kernel in which every thread prints `times` times what the format says of its last `arguments` arguments of 5.
std::string prints(const std::string &name, const std::string &format, uint32_t times)
{
    std::string bytes;
    for (char c : format) bytes += std::to_string((int)c) + ", ";
    return ".global .align 1 .b8 " + name + "_format[] = {" + bytes + R"(0};
.visible .entry )" + name + R"((.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %i, %q;
    .reg .b64 %f, %a;
    .local .align 8 .b8 arguments[40];
    mov.u64 %f, )" + name + R"(_format;
    cvta.global.u64 %f, %f;
    mov.u64 %a, arguments;
    cvta.local.u64 %a, %a;
    mov.u32 %i, 0;
AGAIN:
    {
    .param .b64 p0; .param .b64 p1; .param .b32 q;
    st.param.b64 [p0], %f;
    st.param.b64 [p1], %a;
    call.uni (q), vprintf, (p0, p1);
    }
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, )" + std::to_string(times) + R"(;
    @%p bra AGAIN;
    ret;
}
)";
}

// What does not fit is lost and counted, and nothing of an earlier launch appears in its place.
TEST_P(SimFaults, TooMuchTextIsCutAndCounted)
{
    if (!is_cpu() && strcmp(GetParam(), "sim:gfx1100")) GTEST_SKIP() << "the code and the buffer are the same for all targets";
    const std::string vprintf = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n";
    const uint32_t times = is_cpu() ? 6 : 1400;
    const std::string wide = is_cpu() ? "%50000d%d%d%d\n" : "%d%d%d%d\n";
    ASSERT_EQ(load(vprintf + prints("narrow", "%d.\n", times) + prints("wide", wide, times)), PXB_OK) << message();
    testing::internal::CaptureStderr();
    ASSERT_EQ(run("narrow", 256), PXB_OK) << message();
    ASSERT_EQ(run("narrow", 32), PXB_OK) << message();
    printed.clear();
    testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    ASSERT_EQ(run("wide", 256), PXB_OK) << message();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(printed.find('.'), std::string::npos);
    EXPECT_EQ(said.find("printf of kernel \"wide\""), strlen("ptxbridge: ")) << said;
    const size_t number = said.find_first_of("0123456789", said.find(is_cpu() ? "wide" : "the last"));
    ASSERT_NE(number, std::string::npos) << said;
    const uint64_t lost = std::stoull(said.substr(number)), each = is_cpu() ? 50004 : 5, all = 256 * times;
    EXPECT_EQ(is_cpu() ? printed.size() + lost : printed.size() / each + lost, is_cpu() ? all * each : all);
    EXPECT_GT(lost, 0u);
    testing::internal::CaptureStderr();
    ASSERT_EQ(run("narrow", 1), PXB_OK) << message();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// ------------------------------------------------------------ barriers

const char *const barriers_text = R"(.visible .entry too_many(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t;
    mov.u32 %t, %tid.x;
    bar.sync 1, 96;
    ret;
}
.visible .entry too_many_divided(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 16;
    @%p bra A;
    barrier.sync 1, 96;
    bra B;
A:  barrier.sync 1, 96;
B:  ret;
}
.visible .entry exited(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    setp.gt.u32 %p, %t, 40;
    @%p bra E;
    bar.sync 0, 64;
    st.global.u32 [%a], 7;
E:  ret;
}
.visible .entry exited_warp(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    setp.ge.u32 %p, %t, 32;
    @%p bra E;
    bar.sync 0, 64;
    st.global.u32 [%a], 7;
E:  ret;
}
.visible .entry no_barrier(.param .u64 out)
{
    .reg .b32 %t;
    mov.u32 %t, %ntid.x;
    barrier.sync %t;
    ret;
}
.visible .entry odd_count(.param .u64 out)
{
    .reg .b32 %t;
    mov.u32 %t, %ntid.x;
    sub.u32 %t, %t, 5;
    barrier.sync 2, %t;
    ret;
}
.visible .entry cluster_divided(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t,%v; .reg .b64 %a, %i;
    .shared .align 4 .b32 s[64];
    .reg .b32 %s;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    mov.u32 %s, s;
    mad.lo.u32 %s, %t, 4, %s;
    st.shared.u32 [%s], %t;
    and.b32 %v, %t, 1;
    setp.eq.u32 %p, %v, 0;
    @%p bra A;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    bra B;
A:  add.u32 %v, %v, 2;
    barrier.cluster.arrive;
    barrier.cluster.wait;
B:  xor.b32 %v, %t, 63;
    mov.u32 %s, s;
    mad.lo.u32 %s, %v, 4, %s;
    ld.shared.u32 %v, [%s];
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry cluster_split(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t,%v; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    barrier.cluster.arrive;
    setp.lt.u32 %p, %t, 32;
    @%p bra A;
    barrier.cluster.wait;
    st.volatile.global.u32 [%a], 5;
    bra B;
A:  ld.volatile.global.u32 %v, [%a];
    setp.eq.u32 %p, %v, 0;
    @%p bra A;
    barrier.cluster.wait;
B:  ret;
}
.visible .entry rest_leaves(.param .u64 out)
{
    .reg .pred %p, %q; .reg .b32 %t,%v; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    setp.lt.u32 %p, %t, 10;
    @%p bra A;
    mov.u32 %v, 100;
L:  sub.u32 %v, %v, 1;
    setp.ne.u32 %q, %v, 0;
    @%q bra L;
    ret;
A:  barrier.sync 3, 32;
    st.global.u32 [%a], 9;
    ret;
}
.visible .entry producer(.param .u64 out)
{
    .reg .pred %p, %q; .reg .b32 %t,%v; .reg .b64 %a, %i;
    .shared .align 4 .b32 s[32];
    .reg .b32 %s;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    setp.ge.u32 %p, %t, 32;
    and.b32 %v, %t, 31;
    mov.u32 %s, s;
    mad.lo.u32 %s, %v, 4, %s;
    @%p bra C;
    st.shared.u32 [%s], %t;
    bar.arrive 4, 64;
    ret;
C:  bar.sync 4, 64;
    ld.shared.u32 %v, [%s];
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry reduce(.param .u64 out)
{
    .reg .pred %p, %q; .reg .b32 %t,%v; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    setp.ge.u32 %p, %t, 50;
    @%p bra E;
    setp.ge.u32 %q, %t, 20;
    bar.red.popc.u32 %v, 3, 64, %q;
    st.global.u32 [%a], %v;
E:  ret;
}
.visible .entry exited_96(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    setp.gt.u32 %p, %t, 40;
    @%p bra E;
    bar.sync 0, 96;
E:  ret;
}
.visible .entry different(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    and.b32 %t, %t, 32;
    add.u32 %t, %t, 64;
    bar.sync 0, %t;
    ret;
}
.visible .entry cluster_and_bar(.param .u64 out)
{
    .reg .pred %p; .reg .b32 %t; .reg .b64 %a, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %a, [out];
    mul.wide.u32 %i, %t, 4; add.u64 %a, %a, %i;
    barrier.cluster.arrive.aligned;
    bar.sync 0;
    barrier.cluster.wait.aligned;
    barrier.cluster.arrive.aligned;
    bar.sync 0;
    barrier.cluster.wait.aligned;
    barrier.cluster.wait.aligned;
    st.global.u32 [%a], 3;
    ret;
}
)";

// A warp arrives as a whole, and nobody waits for what has ended (PTX ISA, "bar, barrier").
TEST_P(SimFaults, BarriersCountWarpsAndNotThreads)
{
    struct { const char *kernel; uint32_t expected; uint32_t threads; } const cases[] = {
        {"exited", 7, 41}, {"exited_warp", 7, 32}, {"rest_leaves", 9, 10}, {"reduce", 30, 50}, {"cluster_and_bar", 3, 64}, {"cluster_split", 5, 1}};
    ASSERT_EQ(load(barriers_text), PXB_OK) << message();
    for (auto &c : cases) {
        ASSERT_EQ(pxb_memory_set(device, memory, 0, 4096), PXB_OK);
        EXPECT_EQ(run(c.kernel, 64), PXB_OK) << message();
        for (uint32_t i = 0; i < 64; i++) EXPECT_EQ(word(i), i < c.threads ? c.expected : 0) << c.kernel << i;
    }
    EXPECT_EQ(run("cluster_divided", 64), PXB_OK) << message();
    for (uint32_t i = 0; i < 64; i++) EXPECT_EQ(word(i), 63 - i);
    EXPECT_EQ(run("producer", 64), PXB_OK) << message();
    for (uint32_t i = 0; i < 32; i++) EXPECT_EQ(word(32 + i), i);
}

TEST_P(SimFaults, BarriersThatCannotComplete)
{
    struct { const char *kernel, *line, *why; } const cases[] = {
        {"too_many", "bar.sync 1, 96", "can never complete"}, {"too_many_divided", nullptr, "can never complete"},
        {"exited_96", "bar.sync 0, 96", "can never complete"}, {"no_barrier", "barrier.sync %t", "there is no barrier 64"},
        {"odd_count", "barrier.sync 2, %t", "59 of a barrier is not a multiple"}, {"different", "bar.sync 0, %t", "barrier 0"}};
    ASSERT_EQ(load(barriers_text), PXB_OK) << message();
    for (auto &c : cases) {
        EXPECT_EQ(run(c.kernel, 64), PXB_FAULT_DEADLOCK) << c.kernel;
        if (c.line) { EXPECT_EQ(last()->line, line_of(c.line)) << message(); }         // else: one of two
        EXPECT_NE(std::string(message()).find(c.why), std::string::npos) << message();
    }
}

// ------------------------------------------------------------ functions that cannot be called

const char *const functions_text = R"(.func (.param .b32 r) fine(.param .b32 a)
{
    st.param.b32 [r], 5;
    ret;
}
.func (.param .b32 r) bad(.param .b32 a)
{
    .reg .b32 %r;
    frobnicate.u32 %r, %r;
    st.param.b32 [r], %r;
    ret;
}
.func (.param .b32 r) calls_bad(.param .b32 a)
{
    .reg .b32 %r;
    call (%r), bad, (7); // directly
    st.param.b32 [r], %r;
    ret;
}
.extern .func (.param .b32 r) elsewhere(.param .b32 a);
.func (.param .b32 r) unlowered(.param .b32 a)
{
    .reg .b32 %r;
    mov.b32 %r, %envreg3;
    st.param.b32 [r], %r;
    ret;
}
.global .align 8 .u64 functions[5] = {fine, bad, calls_bad, elsewhere, unlowered};
.visible .entry by_table(.param .u64 out)
{
    .reg .b32 %r;
    .reg .b64 %f, %i, %out;
    ld.param.u64 %out, [out];
    ld.global.u32 %r, [%out];
    mul.wide.u32 %i, %r, 8;
    mov.u64 %f, functions;
    add.u64 %f, %f, %i;
    ld.global.u64 %f, [%f];
    p: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (%r), %f, (7), p; // by table
    st.global.u32 [%out], %r;
    ret;
}
.visible .entry by_move(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %r;
    .reg .b64 %f, %out;
    ld.param.u64 %out, [out];
    ld.global.u32 %r, [%out];
    setp.eq.u32 %p, %r, 0;
    mov.u64 %f, bad;
    @%p mov.u64 %f, fine;
    p: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (%r), %f, (7), p; // by move
    st.global.u32 [%out], %r;
    ret;
}
.visible .entry by_null(.param .u64 out)
{
    .reg .b32 %r;
    .reg .b64 %f;
    ld.param.u64 %f, [out];
    ld.global.u64 %f, [%f+64];
    p: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (%r), %f, (7), p; // by null
    ret;
}
.visible .entry directly(.param .u64 out)
{
    .reg .b32 %r;
    call (%r), calls_bad, (7);
    ret;
}
)";

// A function that cannot be run may be passed around; the call is what goes wrong, and it says why.
TEST_P(SimFaults, AFunctionThatCannotBeRunFaultsWhereItIsCalled)
{
    struct { const char *kernel; uint32_t which; const char *line, *why; } const cases[] = {
        {"by_table", 1, "// by table", "call of bad: 'frobnicate' is not an instruction"}, {"by_table", 2, "// directly", "call of bad: 'frobnicate'"},
        {"by_table", 3, "// by table", "call of elsewhere"}, {"by_move", 1, "// by move", "call of bad: 'frobnicate'"},
        {"by_null", 0, "// by null", "indirect call to 0x0, which is no function"},
        {"by_table", 4, "// by table", "call of unlowered: special register %envreg3"}};
    ASSERT_EQ(load(functions_text), PXB_OK) << message();
    for (auto &c : cases) {
        if (is_cpu() && c.which == 4) continue;                          // it has that register
        ASSERT_EQ(pxb_memory_write(device, memory, &c.which, 4), PXB_OK);
        EXPECT_EQ(run(c.kernel, 1), PXB_FAULT_CALL) << c.kernel << c.which;
        EXPECT_EQ(last()->line, line_of(c.line)) << message();
        EXPECT_NE(std::string(message()).find(c.why), std::string::npos) << message();
    }
    for (const char *kernel : {"by_table", "by_move"}) {
        ASSERT_EQ(pxb_memory_set(device, memory, 0, 4), PXB_OK);
        EXPECT_EQ(run(kernel, 1), PXB_OK) << message();
        EXPECT_EQ(word(0), 5u) << kernel;
    }
    EXPECT_EQ(run("directly", 1), PXB_BAD_INPUT) << message();
    EXPECT_EQ(last()->line, line_of("frobnicate.u32")) << message();
}

// ------------------------------------------------------------ places

// Of several loads in a row the one that faults is named, though a GPU issues them as one group.
TEST_P(SimFaults, TheFaultIsOfTheLoadThatStrays)
{
    ASSERT_EQ(load(R"(.visible .entry loads(.param .u64 out)
{
    .reg .b32 %x<4>;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.global.u32 %x0, [%a];
    ld.global.u32 %x1, [%a+64];
    ld.global.u32 %x2, [%a+0x100000];
    ld.global.u32 %x3, [%a+128];
    add.u32 %x0, %x0, %x1;
    add.u32 %x2, %x2, %x3;
    add.u32 %x0, %x0, %x2;
    st.global.u32 [%a], %x0;
    ret;
}
)"), PXB_OK) << message();
    EXPECT_EQ(run("loads", 32), PXB_FAULT_ADDRESS) << message();
    EXPECT_EQ(last()->line, line_of("0x100000")) << message();
}

// ------------------------------------------------------------ shared memory

// What %total_smem_size counts is this kernel's, wherever the instruction stands.
TEST_P(SimFaults, SharedSizeIsOfTheKernelAlone)
{
    ASSERT_EQ(load(R"(.shared .align 4 .b8 module_wide[40];
.shared .align 4 .b8 others[400];
.func (.reg .b32 %size) asks()
{
    .shared .align 4 .b8 of_function[100];
    mov.u32 %size, %total_smem_size;
    ret;
}
.visible .entry one(.param .u64 out)
{
    .reg .b64 %a;
    .reg .b32 %r;
    .shared .align 4 .b8 own[6];
    ld.param.u64 %a, [out];
    mov.u32 %r, module_wide;
    mov.u32 %r, %total_smem_size;
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry through_function(.param .u64 out)
{
    .reg .b64 %a;
    .reg .b32 %r;
    .shared .align 4 .b8 own[16];
    ld.param.u64 %a, [out];
    call (%r), asks, ();
    st.global.u32 [%a], %r;
    ret;
}
.visible .entry through_function_too(.param .u64 out)
{
    .reg .b64 %a;
    .reg .b32 %r;
    ld.param.u64 %a, [out];
    call (%r), asks, ();
    st.global.u32 [%a], %r;
    ret;
}
)"), PXB_OK) << message();
    const struct { const char *kernel; uint32_t bytes; } cases[] = {{"one", 46}, {"through_function", 116}, {"through_function_too", 100}};
    for (auto &c : cases) {
        ASSERT_EQ(run(c.kernel, 1), PXB_OK) << message();
        EXPECT_EQ(word(0), c.bytes) << c.kernel;
    }
}

// ------------------------------------------------------------ branches

const char *const branches_text = R"(.visible .entry arms(.param .u64 out)
{
    .reg .pred %p, %q;
    .reg .b32 %t, %x, %y;
    .reg .b64 %a, %i;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %i, %t, 8;
    add.u64 %a, %a, %i;
    and.b32 %x, %t, 3;
    setp.eq.u32 %p, %x, 0;
    setp.lt.u32 %q, %t, 9;
    @%p bra FOURTH;
    shfl.sync.idx.b32 %x, %t, 4, 0x1f, 0xffffffff;
    vote.sync.ballot.b32 %y, %q, 0xffffffff;
    bra DONE;
FOURTH:
    add.u32 %x, %t, 100;
    shfl.sync.idx.b32 %x, %x, 3, 0x1f, 0xffffffff;
    vote.sync.ballot.b32 %y, %q, 0xffffffff;
DONE:
    st.global.u32 [%a], %x;
    st.global.u32 [%a+4], %y;
    ret;
}
.visible .entry behind_loop(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %t, %x, %n;
    .reg .b64 %a, %i;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %i, %t, 8;
    add.u64 %a, %a, %i;
    and.b32 %n, %t, 1;
AGAIN:
    shfl.sync.bfly.b32 %x, %t, 1, 0x1f, 0xffffffff;
    st.global.u32 [%a], %x;
    add.u32 %n, %n, 1;
    setp.lt.u32 %p, %n, 2;
    @%p bra AGAIN;
    shfl.sync.bfly.b32 %x, %t, 1, 0x1f, 0xffffffff;
    st.global.u32 [%a+4], %x;
    ret;
}
.visible .entry outside(.param .u64 out)
{
    .reg .b32 %t;
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    labels: .branchtargets ZERO, ONE, TWO;
    brx.idx %t, labels;
ZERO:
    ret;
ONE:
    ret;
TWO:
    ret;
}
)";

// "The executing thread waits for all of the mask to have executed the same" (PTX ISA, "shfl.sync"), whichever of two instructions it was.
TEST_P(SimFaults, CollectivesMeetFromTwoPlaces)
{
    ASSERT_EQ(load(branches_text), PXB_OK) << message();
    ASSERT_EQ(run("arms", 32), PXB_OK) << message();
    for (uint32_t t = 0; t < 32; t++) {
        EXPECT_EQ(word(2 * t), t % 4 ? 104u : 3u) << t;
        EXPECT_EQ(word(2 * t + 1), 0x1ffu) << t;
    }
    ASSERT_EQ(run("behind_loop", 32), PXB_OK) << message();
    for (uint32_t t = 0; t < 32; t++) EXPECT_EQ(word(2 * t), t ^ 1) << t;
    for (uint32_t t = 1; t < 32; t += 2) EXPECT_EQ(word(2 * t + 1), t ^ 1) << t;
}

TEST_P(SimFaults, AnIndexOutsideOfTheBranchTargets)
{
    ASSERT_EQ(load(branches_text), PXB_OK) << message();
    EXPECT_EQ(run("outside", 3), PXB_OK) << message();
    EXPECT_EQ(run("outside", 4), PXB_FAULT_CALL) << message();
    EXPECT_EQ(last()->line, line_of("brx.idx %t")) << message();
    EXPECT_EQ(last()->thread[0], 3u) << message();
}

// ------------------------------------------------------------ parameters

// A constant address outside of the parameters is refused before anything runs, one in a register where it is used.
TEST_P(SimFaults, AddressesOutsideOfTheParameters)
{
    ASSERT_EQ(load(R"(.visible .entry chosen(.param .u64 out)
{
    .reg .pred %p;
    .reg .b32 %t, %x;
    .reg .b64 %a, %q;
    ld.param.u64 %a, [out];
    mov.u32 %t, %tid.x;
    mov.u64 %q, out;
    mad.wide.u32 %q, %t, 4, %q;
    ld.param.u32 %x, [%q];
    st.global.u32 [%a], %x;
    ret;
}
.visible .entry below(.param .u64 out)
{
    .reg .b64 %a, %q;
    mov.u64 %q, out;
    ld.param.u64 %a, [%q+-8];
    ret;
}
.visible .entry over(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out+4];
    ret;
}
.func (.param .b32 r) called(.param .b32 n)
{
    .reg .b32 %x;
    ld.param.b32 %x, [n];
    st.param.b32 [r+2], %x;
    ret;
}
.visible .entry calls(.param .u64 out)
{
    .reg .b32 %x;
    {
    .param .b32 q; .param .b32 n;
    st.param.b32 [n], 1;
    call.uni (q), called, (n);
    ld.param.b32 %x, [q];
    }
    ret;
}
)"), PXB_OK) << message();
    EXPECT_EQ(run("chosen", 2), PXB_OK) << message();
    EXPECT_EQ(run("chosen", 3), PXB_FAULT_ADDRESS) << message();
    EXPECT_EQ(last()->line, line_of("ld.param.u32 %x, [%q]")) << message();
    EXPECT_EQ(last()->thread[0], 2u) << message();
    EXPECT_NE(strstr(message(), "which is outside the parameters of the kernel"), nullptr) << message();
    EXPECT_EQ(run("below", 1), PXB_FAULT_ADDRESS) << message();
    EXPECT_EQ(run("over", 1), PXB_UNSUPPORTED) << message();
    EXPECT_EQ(last()->line, line_of("ld.param.u64 %a, [out+4]")) << message();
    EXPECT_NE(strstr(message(), "an access of 8 bytes at out+4 is outside the parameters of the kernel, which have 8 bytes"), nullptr) << message();
    EXPECT_EQ(run("calls", 1), PXB_UNSUPPORTED) << message();
    EXPECT_NE(strstr(message(), "an access of 4 bytes at r+2 is outside the parameter, which has 4 bytes"), nullptr) << message();
}

// ------------------------------------------------------------ bulk copies

TEST_P(SimFaults, SizesOfBulkCopies)
{
    ASSERT_EQ(load(R"(.visible .entry ignored(.param .u64 out)
{
    .reg .b32 %s, %b, %n;
    .reg .b64 %a;
    .shared .align 16 .b8 to[64];
    .shared .align 8 .b64 bar;
    ld.param.u64 %a, [out];
    mov.u32 %s, to;
    mov.u32 %b, bar;
    ld.global.u32 %n, [%a];
    mbarrier.init.shared.b64 [%b], 1;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%s], [%a], 32, 0, %n, [%b];
    ret;
}
.visible .entry zeroed(.param .u64 out)
{
    .reg .b64 %a, %s, %n;
    .shared .align 16 .b8 to[64];
    ld.param.u64 %a, [out];
    ld.global.u64 %n, [%a];
    mov.u64 %s, to;
    st.bulk.weak.shared::cta [%s], %n, 0;
    ret;
}
)", "9.2", "sm_100"), PXB_OK) << message();
    const struct { const char *kernel; uint64_t size; pxb_status status; } cases[] = {
        {"ignored", 15, PXB_OK}, {"ignored", 16, PXB_FAULT_ADDRESS}, {"zeroed", 64, PXB_OK}, {"zeroed", 12, PXB_FAULT_MISALIGNED},
        {"zeroed", 0x100000008, PXB_FAULT_ADDRESS}, {"zeroed", 1 << 20, PXB_FAULT_ADDRESS}};
    for (auto &c : cases) {
        ASSERT_EQ(pxb_memory_write(device, memory, &c.size, 8), PXB_OK);
        EXPECT_EQ(run(c.kernel, 1), c.status) << c.kernel << c.size << message();
    }
}

// ------------------------------------------------------------ stacks

const char *const recursion_text = R"(.func (.param .b32 r) deep(.param .b32 n)
{
    .reg .pred %p; .reg .b32 %n, %m, %l; .reg .b64 %a;
    .local .align 4 .b8 frame[64];
    ld.param.u32 %n, [n];
    mov.u64 %a, frame;
    st.local.u32 [%a+8], %n;
    setp.eq.u32 %p, %n, 0;
    mov.u32 %m, 0;
    @%p bra D;
    sub.u32 %m, %n, 1;
    { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %m;
    call (y), deep, (x); // again
    ld.param.b32 %m, [y]; }
    ld.local.u32 %l, [%a+8];
    add.u32 %m, %m, %l;
D:  st.param.b32 [r], %m;
    ret;
}
.visible .entry recursion(.param .u64 out)
{
    .reg .b32 %r; .reg .b64 %a;
    ld.param.u64 %a, [out];
    ld.global.u32 %r, [%a];
    { .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r;
    call (y), deep, (x);
    ld.param.b32 %r, [y]; }
    st.global.u32 [%a], %r;
    ret;
}
)";

TEST_P(SimFaults, RecursionWithoutEndIsAStackOverflow)
{
    ASSERT_EQ(load(recursion_text), PXB_OK) << message();
    uint32_t depth = 100;
    ASSERT_EQ(pxb_memory_write(device, memory, &depth, 4), PXB_OK);
    ASSERT_EQ(run("recursion", 32), PXB_OK) << message();
    EXPECT_EQ(word(0), 5050u);
    depth = 1000000;
    ASSERT_EQ(pxb_memory_write(device, memory, &depth, 4), PXB_OK);
    EXPECT_EQ(run("recursion", 32), PXB_FAULT_STACK) << message();
    EXPECT_EQ(last()->line, line_of("// again")) << message();
}

} // namespace
