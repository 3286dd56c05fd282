// hip_test.cc - devices that run AMD code, through the public API: HIP on a library over the simulator, and the simulator itself.
//
// What a corpus case cannot say is tested here: opening and its errors, variables that several code objects share, function
// pointers, faults with their place in the PTX, printf, the heap, time limits, counters.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#include "include/ptxbridge.h"
extern "C" {
#include "runtime/hip/hip_library.h"
}

namespace
{

const char *const module_text = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 8 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
.global .align 8 .u64 where = counter;
.global .align 512 .u32 aligned[4];

.visible .entry bump()
{
    .reg .b32 %r<2>;
    atom.global.add.u32 %r1, [counter], 1;
    ret;
}

.visible .entry bump_through_pointer(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.global.u64 %rd1, [where];
    ld.global.u32 %r1, [%rd1];
    add.s32 %r1, %r1, 100;
    st.global.u32 [%rd1], %r1;
    ld.const.u32 %r2, [table+4];
    ld.param.u64 %rd2, [out];
    st.global.u32 [%rd2], %r2;
    ret;
}

.visible .entry broken(.param .u32 n)
{
    .reg .b32 %r<3>;
    frobnicate.u32 %r1, %r2;
    ret;
}

.visible .entry traps()
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 37;
    @%p1 ret;
    trap;
    ret;
}

.visible .entry strays(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.volatile.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry forever(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
}

.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
    .reg .f32 %f<5>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, 1;
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];
    st.global.f32 [%rd2], %f1;
    ret;
}

)"
#include "cooperative_ptx.inc"
    ;

const char *const pointer_text = R"(.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) twice(.param .b32 a)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}
.func (.param .b32 r) square(.param .b32 a)
{
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    mul.lo.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}
.global .align 8 .u64 functions[2] = {twice, square};
.visible .entry call_table(.param .u64 out, .param .u32 which)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u32 %r1, [which];
    mul.wide.u32 %rd1, %r1, 8;
    mov.u64 %rd2, functions;
    add.u64 %rd2, %rd2, %rd1;
    ld.global.u64 %rd3, [%rd2];
    ld.param.u64 %rd4, [out];
    { .param .b32 a; .param .b32 r;
    st.param.b32 [a], 7;
    p: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), %rd3, (a), p;
    ld.param.b32 %r2, [r]; }
    st.global.u32 [%rd4], %r2;
    ret;
}
.visible .entry call_given(.param .u64 out, .param .u64 f)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd3, [f];
    ld.param.u64 %rd4, [out];
    { .param .b32 a; .param .b32 r;
    st.param.b32 [a], 9;
    p: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), %rd3, (a), p;
    ld.param.b32 %r2, [r]; }
    st.global.u32 [%rd4], %r2;
    ret;
}
.visible .entry bad()
{
    .reg .b32 %r<2>;
    mov.u32 %r1, %envreg3;
    st.global.u32 [functions], %r1;
    ret;
}
)";

// Line of the module in which `text` stands first.
uint32_t line_of(const char *text)
{
    const char *at = strstr(module_text, text);
    EXPECT_NE(at, nullptr) << text;
    return at ? 1 + (uint32_t)std::count(module_text, at, '\n') : 0;
}

// A device "hip" over a simulated GPU, or a device of the simulator.
class Device : public testing::TestWithParam<const char *>
{
protected:
    pxb_context *ctx = nullptr;
    pxb_device *dev = nullptr;
    pxb_module *mod = nullptr;

    bool is_hip() const { return strncmp(GetParam(), "hip", 3) == 0; }
    void SetUp() override
    {
        setenv("PTXBRIDGE_HIP_LIBRARY", PTXB_HIP_6, 1);
        setenv("HIP_OVER_SIM", "gfx1100,gfx942", 1);
        setenv("HIP_OVER_SIM_LIMIT_MS", "5000", 1);
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        ASSERT_EQ(pxb_device_open(ctx, GetParam(), &dev), PXB_OK) << error();
        load(module_text);
    }
    void TearDown() override { pxb_context_destroy(ctx); }
    std::string error() const { return pxb_last_error(ctx)->message; }
    void load(const char *text)
    {
        pxb_module_free(mod);
        ASSERT_EQ(pxb_module_load_text(ctx, text, strlen(text), "test.ptx", &mod), PXB_OK) << error();
    }
    pxb_status run(const char *name, std::vector<const void *> params, uint32_t threads = 1, uint32_t timeout = 60000,
                   uint32_t cooperative_blocks = 0)
    {
        pxb_kernel *k;
        pxb_status status = pxb_kernel_get(dev, mod, name, &k);
        if (status) return status;
        pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
        o.block[0] = threads;
        o.timeout_ms = timeout;
        o.cooperative = cooperative_blocks != 0;
        o.grid[0] = cooperative_blocks ? cooperative_blocks : 1;
        o.print = [](void *user, const char *text, size_t n) { static_cast<std::string *>(user)->append(text, n); };
        o.print_user = &printed;
        return pxb_launch(k, &o, params.data(), (uint32_t)params.size());
    }
    uint32_t word(pxb_address at)
    {
        uint32_t v = 0;
        EXPECT_EQ(pxb_memory_read(dev, &v, at, 4), PXB_OK) << error();
        return v;
    }
    std::string printed;
};

TEST_P(Device, KernelsOfOneModuleShareItsVariables)
{
    pxb_address counter, out, aligned;
    size_t bytes;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &out), PXB_OK);
    ASSERT_EQ(pxb_global_get(dev, mod, "counter", &counter, &bytes), PXB_OK) << error();
    EXPECT_EQ(bytes, 4u);
    EXPECT_EQ(word(counter), 5u);
    ASSERT_EQ(pxb_global_get(dev, mod, "aligned", &aligned, &bytes), PXB_OK) << error();
    EXPECT_EQ(aligned % 512, 0u);
    ASSERT_EQ(run("bump", {}, 64), PXB_OK) << error();
    EXPECT_EQ(word(counter), 69u);
    ASSERT_EQ(run("bump_through_pointer", {&out}), PXB_OK) << error();    // another code object, a relocated address
    EXPECT_EQ(word(counter), 169u);
    EXPECT_EQ(word(out), 0x08070605u);
    uint32_t one = 1;
    ASSERT_EQ(pxb_memory_write(dev, counter, &one, 4), PXB_OK);
    ASSERT_EQ(run("bump", {}, 3), PXB_OK) << error();
    EXPECT_EQ(word(counter), 4u);
}

TEST_P(Device, AFunctionHasOneAddress)
{
    load(pointer_text);
    pxb_address out, square;
    uint32_t which = 0;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &out), PXB_OK);
    ASSERT_EQ(run("call_table", {&out, &which}), PXB_OK) << error();
    EXPECT_EQ(word(out), 14u);
    which = 1;
    ASSERT_EQ(run("call_table", {&out, &which}), PXB_OK) << error();
    EXPECT_EQ(word(out), 49u);
    ASSERT_EQ(pxb_function_address(dev, mod, "square", &square), PXB_OK) << error();
    ASSERT_EQ(run("call_given", {&out, &square}), PXB_OK) << error();
    EXPECT_EQ(word(out), 81u);
    pxb_address functions, second;
    ASSERT_EQ(pxb_global_get(dev, mod, "functions", &functions, nullptr), PXB_OK);
    ASSERT_EQ(pxb_memory_read(dev, &second, functions + 8, 8), PXB_OK);
    EXPECT_EQ(second, square);
}

// One kernel that cannot be translated does not spoil the others, even where a module is one code object.
TEST_P(Device, WhatCannotBeTranslatedFailsAlone)
{
    pxb_kernel *k;
    EXPECT_EQ(pxb_kernel_get(dev, mod, "broken", &k), PXB_BAD_INPUT);
    EXPECT_EQ(pxb_last_error(ctx)->line, line_of("frobnicate")) << error();
    load(pointer_text);
    EXPECT_EQ(pxb_kernel_get(dev, mod, "bad", &k), PXB_UNSUPPORTED);
    EXPECT_NE(error().find("%envreg3"), std::string::npos) << error();
    EXPECT_EQ(pxb_kernel_get(dev, mod, "call_table", &k), PXB_OK) << error();
}

TEST_P(Device, ATrapNamesItsPlace)
{
    ASSERT_EQ(run("traps", {}, 64), PXB_FAULT_TRAP);
    const pxb_error *e = pxb_last_error(ctx);
    EXPECT_EQ(e->line, line_of("trap;")) << e->message;
    EXPECT_STREQ(e->instruction, "trap");
    EXPECT_STREQ(e->kernel, "traps");
    ASSERT_TRUE(e->has_thread);
    EXPECT_EQ(e->thread[0], 37u);
    ASSERT_EQ(run("bump", {}), PXB_OK) << error();                        // and the device is still there
    ASSERT_EQ(run("traps", {}, 32), PXB_OK) << error();                   // no thread 37
}

TEST_P(Device, AStrayAccessIsAFault)
{
    pxb_address nowhere = 0x1000;
    ASSERT_EQ(run("strays", {&nowhere}), PXB_FAULT_ADDRESS);
    const pxb_error *e = pxb_last_error(ctx);
    EXPECT_STREQ(e->kernel, "strays");
    if (is_hip()) return;                                                // HIP does not say where
    EXPECT_EQ(e->line, line_of("ld.volatile.global.u32 %r1, [%rd1];\n    st.global")) << e->message;
    EXPECT_EQ(e->address, nowhere);
    EXPECT_TRUE(e->has_thread);
    EXPECT_NE(std::string(e->message).find("global_load_"), std::string::npos) << e->message;   // the machine instruction
}

TEST_P(Device, AHandleThatDoesNotExistIsAFault)
{
    pxb_address out;
    pxb_image *image;
    pxb_handle texture, wrong = 4096;
    pxb_image_desc desc = {1, 4, 1, 1, 1, PXB_TEXEL_F32};
    pxb_sampler sampler = {{PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP}, PXB_FILTER_POINT, PXB_READ_ELEMENT, false};
    float texels[4] = {1, 2.5f, 3, 4}, got = 0;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &out), PXB_OK);
    ASSERT_EQ(pxb_image_create(dev, &desc, &image), PXB_OK) << error();
    ASSERT_EQ(pxb_image_write(image, texels, sizeof texels), PXB_OK);
    ASSERT_EQ(pxb_texture_create(image, &sampler, &texture), PXB_OK) << error();
    ASSERT_EQ(run("fetch", {&texture, &out}), PXB_OK) << error();
    ASSERT_EQ(pxb_memory_read(dev, &got, out, 4), PXB_OK);
    EXPECT_EQ(got, 2.5f);
    EXPECT_EQ(run("fetch", {&wrong, &out}), PXB_FAULT_HANDLE);
    EXPECT_EQ(pxb_last_error(ctx)->line, line_of("tex.1d")) << error();
    wrong = texture + 64;
    EXPECT_EQ(run("fetch", {&wrong, &out}), PXB_FAULT_HANDLE);
    ASSERT_EQ(pxb_handle_destroy(image, texture), PXB_OK);
    EXPECT_EQ(run("fetch", {&texture, &out}), PXB_FAULT_HANDLE) << "a destroyed texture";
}

TEST_P(Device, MemoryIsCheckedAgainstAllocations)
{
    pxb_address a, b;
    unsigned char bytes[64], back[64];
    for (int i = 0; i < 64; i++) bytes[i] = (unsigned char)i;
    ASSERT_EQ(pxb_memory_alloc(dev, 64, &a), PXB_OK);
    ASSERT_EQ(pxb_memory_alloc(dev, 100, &b), PXB_OK);
    EXPECT_EQ(a % 256, 0u);
    ASSERT_EQ(pxb_memory_write(dev, a, bytes, 64), PXB_OK);
    ASSERT_EQ(pxb_memory_copy(dev, a + 8, a, 56), PXB_OK);                 // ranges that overlap
    ASSERT_EQ(pxb_memory_read(dev, back, a, 64), PXB_OK);
    EXPECT_EQ(memcmp(back, bytes, 8), 0);
    EXPECT_EQ(memcmp(back + 8, bytes, 56), 0);
    ASSERT_EQ(pxb_memory_set(dev, b + 10, 0x5a, 20), PXB_OK);
    ASSERT_EQ(pxb_memory_copy(dev, a, b + 10, 20), PXB_OK);
    ASSERT_EQ(pxb_memory_read(dev, back, a, 20), PXB_OK);
    EXPECT_EQ(back[0], 0x5a);
    EXPECT_EQ(back[19], 0x5a);
    EXPECT_EQ(pxb_memory_write(dev, a + 1, bytes, 64), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, back, b + 101, 1), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_free(dev, a + 1), PXB_BAD_ARGUMENT);
    ASSERT_EQ(pxb_memory_free(dev, a), PXB_OK);
    EXPECT_EQ(pxb_memory_free(dev, a), PXB_BAD_ARGUMENT);
}

TEST_P(Device, ATimeLimitStopsAKernel)
{
    pxb_address flag;
    uint32_t set = 1;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &flag), PXB_OK);
    ASSERT_EQ(pxb_memory_write(dev, flag, &set, 4), PXB_OK);
    ASSERT_EQ(run("forever", {&flag}), PXB_OK) << error();
    set = 0;
    ASSERT_EQ(pxb_memory_write(dev, flag, &set, 4), PXB_OK);
    ASSERT_EQ(run("forever", {&flag}, 1, 200), PXB_FAULT_TIMEOUT) << error();
    // HIP cannot stop it: the device is lost, and says so.
    pxb_status after = run("bump", {});
    EXPECT_EQ(after, is_hip() ? PXB_NO_DEVICE : PXB_OK) << error();
}

unsigned cooperative_launches()
{
    void *library = dlopen(PTXB_HIP_6, RTLD_LAZY);
    void *count = library ? dlsym(library, "cooperative_launches") : nullptr;
    EXPECT_NE(count, nullptr) << dlerror();
    return count ? *static_cast<unsigned *>(count) : 0;
}

TEST_P(Device, ABlockOfACooperativeGridMayWaitForAll)
{
    enum { BLOCKS = 8 };
    pxb_address counter, left, out;
    uint32_t sums[BLOCKS];
    const unsigned launches = cooperative_launches();
    struct {
        uint64_t address;
        uint32_t bytes;
    } workspace = {};
    for (pxb_address *a : {&counter, &left, &out}) {
        ASSERT_EQ(pxb_memory_alloc(dev, 4 * BLOCKS, a), PXB_OK);
        ASSERT_EQ(pxb_memory_set(dev, *a, 0, 4 * BLOCKS), PXB_OK);
    }
    ASSERT_EQ(run("meet", {&counter, &left, &out}, 1, 60000, BLOCKS), PXB_OK) << error();
    ASSERT_EQ(pxb_memory_read(dev, sums, out, sizeof sums), PXB_OK);
    for (uint32_t i = 0, k = 1; i < BLOCKS; i++, k = (i + 1) % BLOCKS)
        EXPECT_EQ(sums[i], (i + 1) * (i + 1) + (k + 1) * (k + 1)) << i;
    for (uint32_t blocks : {1u, 0u, 1u}) {
        ASSERT_EQ(run("workspace", {&out}, 1, 60000, blocks), PXB_OK) << error();
        ASSERT_EQ(pxb_memory_read(dev, &workspace, out, 12), PXB_OK);
        EXPECT_EQ(workspace.address != 0, blocks == 1);
        EXPECT_EQ(workspace.bytes, blocks ? 4096u : 0u);
    }
    EXPECT_EQ(run("meet", {&counter, &left, &out}, 1, 60000, 1 << 20), PXB_BAD_ARGUMENT);
    EXPECT_NE(error().find("1048576 blocks of a cooperative launch; at most "), std::string::npos) << error();
    if (is_hip()) {
        EXPECT_NE(error().find("at most 8 can"), std::string::npos) << error();
    }
    EXPECT_EQ(word(counter), (uint32_t)BLOCKS) << "nothing of it ran";
    EXPECT_EQ(cooperative_launches() - launches, is_hip() ? 3u : 0u);
}

TEST_P(Device, Counters)
{
    pxb_counter c;
    ASSERT_EQ(run("bump", {}, 64), PXB_OK) << error();
    ASSERT_EQ(pxb_device_counter(dev, 0, &c), PXB_OK);
    if (is_hip()) {
        EXPECT_STREQ(c.name, "kernel microseconds");
        return;
    }
    uint64_t all = 0, memory = 0;
    for (uint32_t i = 0; pxb_device_counter(dev, i, &c) == PXB_OK; i++) {
        all += c.value;
        if (strstr(c.name, "VMEM")) memory += c.value;
    }
    EXPECT_GT(all, 5u);
    EXPECT_GE(memory, 1u);
}

INSTANTIATE_TEST_SUITE_P(Amd, Device, testing::Values("sim:gfx1100", "sim:gfx1201", "sim:gfx942", "hip", "hip:1"),
                         [](const auto &info) {
                             std::string s = info.param;
                             for (char &c : s)
                                 if (c == ':') c = '_';
                             return s;
                         });

// ------------------------------------------------------------ opening

std::string open_error(const char *name)
{
    pxb_context *ctx;
    pxb_device *dev;
    EXPECT_EQ(pxb_context_create(&ctx), PXB_OK);
    pxb_status status = pxb_device_open(ctx, name, &dev);
    std::string message = status ? pxb_last_error(ctx)->message : "";
    EXPECT_TRUE(status == PXB_OK || status == PXB_NO_DEVICE) << message;
    pxb_context_destroy(ctx);
    return message;
}

TEST(Open, WithoutTheLibraryItSaysSo)
{
    setenv("PTXBRIDGE_HIP_LIBRARY", "/nonexistent/libamdhip64.so", 1);
    std::string e = open_error("hip");
    EXPECT_NE(e.find("cannot be loaded"), std::string::npos) << e;
    setenv("PTXBRIDGE_HIP_LIBRARY", "libm.so.6", 1);
    e = open_error("hip");
    EXPECT_NE(e.find("has no function hipInit"), std::string::npos) << e;
}

// Death tests, because the library reads its environment once.
TEST(OpenDeathTest, WithoutAGpuItSaysSo)
{
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    setenv("PTXBRIDGE_HIP_LIBRARY", PTXB_HIP_5, 1);
    setenv("HIP_OVER_SIM", "", 1);
    EXPECT_EXIT(
        {
            fprintf(stderr, "%s", open_error("hip").c_str());
            exit(0);
        },
        testing::ExitedWithCode(0), "finds no AMD GPU");
}

TEST(Open, BothLayoutsOfTheDevicesProperties)
{
    for (const char *library : {PTXB_HIP_5, PTXB_HIP_6}) {
        setenv("PTXBRIDGE_HIP_LIBRARY", library, 1);
        setenv("HIP_OVER_SIM", "gfx1100,gfx942", 1);
        hip_library hip;
        char why[300] = "", name[32];
        ASSERT_TRUE(hip_load(&hip, why, sizeof why)) << why;
        ASSERT_EQ(hip.devices, 2);
        ASSERT_TRUE(hip_architecture(&hip, 0, name, sizeof name));
        EXPECT_STREQ(name, "gfx1100");
        ASSERT_TRUE(hip_architecture(&hip, 1, name, sizeof name));
        EXPECT_STREQ(name, "gfx942");
    }
}

// A launch that is cooperative, on a device that has none; gives the message.
std::string refused(const char *library, const char *attribute)
{
    setenv("PTXBRIDGE_HIP_LIBRARY", library, 1);
    setenv("HIP_OVER_SIM", "gfx1100,gfx942", 1);
    setenv("HIP_OVER_SIM_COOPERATIVE", attribute, 1);
    pxb_context *ctx;
    pxb_device *dev;
    pxb_module *mod;
    pxb_kernel *kernel;
    pxb_address out = 0;
    const void *params[] = {&out};
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    o.cooperative = true;
    EXPECT_EQ(pxb_context_create(&ctx), PXB_OK);
    pxb_status status = pxb_device_open(ctx, "hip", &dev);
    unsetenv("HIP_OVER_SIM_COOPERATIVE");
    if (!status) status = pxb_module_load_text(ctx, module_text, strlen(module_text), "test.ptx", &mod);
    if (!status) status = pxb_kernel_get(dev, mod, "workspace", &kernel);
    EXPECT_EQ(status, PXB_OK) << pxb_last_error(ctx)->message;
    if (!status) {
        EXPECT_EQ(pxb_launch(kernel, &o, params, 1), PXB_UNSUPPORTED);
    }
    std::string message = pxb_last_error(ctx)->message;
    pxb_context_destroy(ctx);
    return message;
}

TEST(Open, CooperativeGridsNeedReleaseAndGpu)
{
    std::string e = refused(PTXB_HIP_5, "1");
    EXPECT_NE(e.find("device \"hip\" cannot run all blocks of a grid at once: "), std::string::npos) << e;
    EXPECT_NE(e.find("has no function hipModuleLaunchCooperativeKernel"), std::string::npos) << e;
    e = refused(PTXB_HIP_6, "0");
    EXPECT_NE(e.find("at once: HIP says that this GPU does not"), std::string::npos) << e;
}

TEST(Open, TheArchitectureIsFoundWhereverItStands)
{
    char name[16], properties[1472];
    auto put = [&](size_t at, const char *text) {
        memset(properties, 0, sizeof properties);
        strcpy(properties, "AMD gfx Radeon");
        strcpy(properties + at, text);
        return hip_find_architecture(properties, sizeof properties, name, sizeof name);
    };
    EXPECT_TRUE(put(1160, "gfx90a:sramecc+:xnack-"));
    EXPECT_STREQ(name, "gfx90a");
    EXPECT_TRUE(put(396, "gfx1201"));
    EXPECT_STREQ(name, "gfx1201");
    EXPECT_FALSE(put(396, "gfxless"));
    EXPECT_FALSE(put(396, "a gfx1100"));
}

TEST(Open, TheSimulatorNeedsATarget)
{
    std::string e = open_error("sim");
    EXPECT_NE(e.find("sim:gfx1100"), std::string::npos) << e;
    e = open_error("sim:gfx803");
    EXPECT_NE(e.find("gfx942"), std::string::npos) << e;
    setenv("PTXBRIDGE_HIP_LIBRARY", PTXB_HIP_6, 1);
    setenv("HIP_OVER_SIM", "gfx1100,gfx942", 1);
    e = open_error("hip:2");
    EXPECT_NE(e.find("HIP finds 2"), std::string::npos) << e;
    e = open_error("hip:x");
    EXPECT_NE(e.find("hip:x"), std::string::npos) << e;
}

} // namespace
