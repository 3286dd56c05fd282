// cuda_test.cc - the NVIDIA device over a library with the driver's binary interface (tests/cuda_abi_library), which runs
// the kernels on the CPU: opening, memory, modules, launches, faults, time limits, printf, images, and every driver call failing.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>
#include "include/ptxbridge.h"
#include "runtime/cuda/cuda_abi.h"

namespace
{

const char *const module_text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[4] = {104, 105, 10, 0};

.func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}

.func (.param .b32 r) thrice(.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    mul.lo.s32 %r2, %r1, 3;
    st.param.b32 [r], %r2;
    ret;
}

.visible .global .align 8 .u64 table[2] = {0, twice};

.visible .entry fill(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %tid.x;
    add.s32 %r3, %r1, %r2;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}

.visible .entry bump()
{
    .reg .b32 %r<2>;
    ld.global.u32 %r1, [counter];
    add.s32 %r1, %r1, 1;
    st.global.u32 [counter], %r1;
    ret;
}

.visible .entry through(.param .u64 out, .param .u64 f)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [f];
    {
        .param .b32 p0;
        .param .b32 q0;
        mov.u32 %r1, 21;
        st.param.b32 [p0], %r1;
        proto: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (q0), %rd2, (p0), proto;
        ld.param.b32 %r2, [q0];
    }
    st.global.u32 [%rd1], %r2;
    ret;
}

.visible .entry spin()
{
loop:
    bra loop;
}

.visible .entry traps()
{
    trap;
    ret;
}

.visible .entry say()
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    mov.u64 %rd1, text;
    cvta.global.u64 %rd2, %rd1;
    {
        .param .b64 p0;
        .param .b64 p1;
        .param .b32 q0;
        st.param.b64 [p0], %rd2;
        mov.u64 %rd1, 0;
        st.param.b64 [p1], %rd1;
        call.uni (q0), vprintf, (p0, p1);
        ld.param.b32 %r1, [q0];
    }
    ret;
}

// Every block waits until all have counted, and adds what it and its neighbour have left before.
.visible .entry meet(.param .u8 add, .param .u64 counter, .param .u16 square, .param .u64 left, .param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<10>;
    ld.param.u8 %r8, [add];
    ld.param.u64 %rd1, [counter];
    ld.param.u16 %r9, [square];
    ld.param.u64 %rd2, [left];
    ld.param.u64 %rd3, [out];
    mov.u32 %r10, %envreg1;
    mov.u32 %r11, %envreg2;
    or.b32 %r10, %r10, %r11;
    setp.eq.u32 %p1, %r10, 0;
    @%p1 trap;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd5, %rd2, %rd4;
    add.s32 %r3, %r1, 1;
    mad.lo.s32 %r4, %r3, %r9, %r8;
    st.global.u32 [%rd5], %r4;
    fence.acq_rel.gpu;
    red.relaxed.gpu.global.add.u32 [%rd1], 1;
wait:
    ld.acquire.gpu.global.u32 %r5, [%rd1];
    setp.lt.u32 %p1, %r5, %r2;
    @%p1 bra wait;
    setp.eq.s32 %p2, %r3, %r2;
    selp.b32 %r6, 0, %r3, %p2;
    mul.wide.u32 %rd6, %r6, 4;
    add.s64 %rd7, %rd2, %rd6;
    ld.global.u32 %r7, [%rd7];
    add.s32 %r7, %r7, %r4;
    add.s64 %rd8, %rd3, %rd4;
    st.global.u32 [%rd8], %r7;
    ret;
}

.visible .entry big(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, dynamic;
    mov.u32 %r2, 77;
    st.shared.u32 [%r1+65532], %r2;
    ld.shared.u32 %r2, [%r1+65532];
    st.global.u32 [%rd1], %r2;
    ret;
}

.visible .entry sample(.param .u64 t, .param .u64 s)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [s];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 1;
    tex.2d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd1, {%r1, %r2}];
    add.s32 %r3, %r3, 100;
    mul.lo.s32 %r7, %r1, 4;
    sust.b.2d.b32.trap [%rd2, {%r7, %r2}], {%r3};
    ret;
}
)";

// A module of which nothing traps: 719 is then an access outside shared or local memory.
const char *const calm_text = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry nothing()
{
    ret;
}
)";

class Cuda : public ::testing::Test
{
protected:
    pxb_context *ctx = nullptr;
    pxb_device *dev = nullptr;
    pxb_module *mod = nullptr;

    void SetUp() override
    {
        use(PTXB_CUDA_ABI);
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
    }
    void TearDown() override
    {
        pxb_context_destroy(ctx);
        for (const char *name : {"PTXBRIDGE_CUDA_LIBRARY", "PTXB_ABI_FAIL", "PTXB_ABI_DEVICES", "PTXB_ABI_CAPABILITY", "PTXB_ABI_COOPERATIVE"})
            unsetenv(name);
    }
    static void use(const char *library) { setenv("PTXBRIDGE_CUDA_LIBRARY", library, 1); }
    static void order(const std::string &failure) { setenv("PTXB_ABI_FAIL", failure.c_str(), 1); }

    void open(const char *text = module_text)
    {
        ASSERT_EQ(pxb_device_open(ctx, "cuda", &dev), PXB_OK) << message();
        ASSERT_EQ(pxb_module_load_text(ctx, text, strlen(text), "test.ptx", &mod), PXB_OK) << message();
    }
    std::string message() { return pxb_last_error(ctx)->message; }
    bool says(const char *text) { return message().find(text) != std::string::npos; }
    pxb_status launch(const char *name, std::vector<const void *> params = {}, uint32_t threads = 1, uint32_t shared = 0,
                      uint32_t timeout_ms = 0, pxb_print_fn print = nullptr, void *user = nullptr, uint32_t cooperative_blocks = 0)
    {
        pxb_kernel *kernel;
        pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
        o.block[0] = threads;
        o.cooperative = cooperative_blocks != 0;
        o.grid[0] = cooperative_blocks ? cooperative_blocks : 1;
        o.shared_bytes = shared;
        o.timeout_ms = timeout_ms;
        o.print = print;
        o.print_user = user;
        pxb_status status = pxb_kernel_get(dev, mod, name, &kernel);
        return status ? status : pxb_launch(kernel, &o, params.data(), (uint32_t)params.size());
    }
};

// ---------------------------------------------------------------- opening

TEST_F(Cuda, opens_by_name)
{
    setenv("PTXB_ABI_DEVICES", "2", 1);
    for (const char *name : {"cuda", "cuda:0", "cuda:1"}) {
        ASSERT_EQ(pxb_device_open(ctx, name, &dev), PXB_OK) << message();
        pxb_property p;
        ASSERT_EQ(pxb_device_property(dev, 0, &p), PXB_OK);
        EXPECT_STREQ(p.name, "name");
        EXPECT_STREQ(p.value, strcmp(name, "cuda:1") ? "CPU as GPU 0" : "CPU as GPU 1");
        pxb_device_close(dev);
    }
    for (const char *name : {"cuda:2", "cuda:-1", "cuda:x", "cuda:", "cuda:1x", "cuda:99999999999999999999"}) {
        EXPECT_EQ(pxb_device_open(ctx, name, &dev), PXB_NO_DEVICE) << name;
        EXPECT_TRUE(says("this machine has 2 NVIDIA GPUs")) << message();
    }
}

TEST_F(Cuda, tells_its_properties)
{
    ASSERT_EQ(pxb_device_open(ctx, "cuda", &dev), PXB_OK) << message();
    std::string all;
    pxb_property p;
    for (uint32_t i = 0; pxb_device_property(dev, i, &p) == PXB_OK; i++)
        all += std::string(p.name) + "=" + p.value + "\n";
    EXPECT_NE(all.find("compute capability=12.0\n"), std::string::npos) << all;
    EXPECT_NE(all.find("mma model=native\n"), std::string::npos) << all;
    EXPECT_NE(all.find("CUDA 13.0"), std::string::npos) << all;
}

pxb_device_info cuda_info(pxb_context *ctx)
{
    pxb_device_info info = {};
    for (uint32_t i = 0; i < pxb_device_kind_count(); i++)
        if (pxb_device_kind(ctx, i, &info) == PXB_OK && strcmp(info.name, "cuda") == 0)
            return info;
    ADD_FAILURE() << "there is no kind cuda";
    return info;
}

TEST_F(Cuda, lists_its_gpus)
{
    setenv("PTXB_ABI_DEVICES", "3", 1);
    pxb_device_info info = cuda_info(ctx);
    ASSERT_TRUE(info.available);
    EXPECT_STREQ(info.choices, "0 1 2");
}

TEST_F(Cuda, says_why_it_is_not_available)
{
    struct {
        const char *library, *why;
    } const cases[] = {{"/nowhere/libcuda.so.1", "there is no NVIDIA driver: /nowhere/libcuda.so.1"},
                       {PTXB_CUDA_SHIM, "ptxbridge's own library"},
                       {PTXB_NO_DRIVER, "has no function cuInit"}};
    for (auto &c : cases) {
        use(c.library);
        pxb_device_info info = cuda_info(ctx);
        EXPECT_FALSE(info.available) << c.library;
        EXPECT_NE(std::string(info.reason).find(c.why), std::string::npos) << info.reason;
        EXPECT_EQ(pxb_device_open(ctx, "cuda", &dev), PXB_NO_DEVICE);
        EXPECT_TRUE(says(c.why)) << message();
    }
}

// A library is remembered once it works, so each of these has to be seen by a new path.
TEST_F(Cuda, says_that_there_is_no_gpu)
{
    struct {
        const char *failure, *why;
    } const cases[] = {{"cuInit@1=100", "sees no GPU"},
                       {"cuInit@1=34", "stub for linking"},
                       {"cuInit@1=803", "does not start: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"},
                       {"cuDeviceGetCount@1=999", "does not start: CUDA_ERROR_UNKNOWN (999)"}};
    std::string path = std::string("/tmp/ptxb_cuda_") + std::to_string(getpid()) + ".so";
    ASSERT_EQ(symlink(PTXB_CUDA_ABI, path.c_str()), 0);
    use(path.c_str());
    for (auto &c : cases) {
        order(c.failure);
        pxb_device_info info = cuda_info(ctx);
        EXPECT_FALSE(info.available);
        EXPECT_NE(std::string(info.reason ? info.reason : "").find(c.why), std::string::npos) << info.reason;
    }
    unsetenv("PTXB_ABI_FAIL");
    setenv("PTXB_ABI_DEVICES", "0", 1);
    EXPECT_NE(std::string(cuda_info(ctx).reason).find("sees no GPU"), std::string::npos);
    unlink(path.c_str());
}

// ---------------------------------------------------------------- memory

TEST_F(Cuda, holds_memory_to_exact_bounds)
{
    open();
    pxb_address a, b;
    std::vector<unsigned char> in(100), out(100);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (unsigned char)(i * 7);
    ASSERT_EQ(pxb_memory_alloc(dev, 100, &a), PXB_OK);
    ASSERT_EQ(pxb_memory_alloc(dev, 100, &b), PXB_OK);
    ASSERT_EQ(pxb_memory_write(dev, a, in.data(), 100), PXB_OK);
    ASSERT_EQ(pxb_memory_copy(dev, b, a, 100), PXB_OK) << message();
    ASSERT_EQ(pxb_memory_copy(dev, b + 10, b, 50), PXB_OK) << message(); // overlapping
    ASSERT_EQ(pxb_memory_set(dev, b + 99, 255, 1), PXB_OK);
    ASSERT_EQ(pxb_memory_read(dev, out.data(), b, 100), PXB_OK);
    memmove(&in[10], &in[0], 50);
    in[99] = 255;
    EXPECT_EQ(in, out);
    EXPECT_EQ(pxb_memory_write(dev, a + 1, in.data(), 100), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, out.data(), a + 100, 1), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_copy(dev, a, b + 1, 100), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_copy(dev, a + 1, b, 100), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_set(dev, 12345, 0, 1), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_free(dev, a + 4), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_free(dev, a), PXB_OK);
    EXPECT_EQ(pxb_memory_free(dev, a), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, out.data(), a, 1), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_alloc(dev, (size_t)1 << 60, &a), PXB_OUT_OF_MEMORY);
    EXPECT_EQ(a, 0u);
}

// ---------------------------------------------------------------- modules

TEST_F(Cuda, runs_kernels)
{
    open();
    pxb_address x, at;
    uint32_t value = 40, host[8], counter = 0;
    size_t bytes;
    ASSERT_EQ(pxb_memory_alloc(dev, sizeof host, &x), PXB_OK);
    ASSERT_EQ(launch("fill", {&x, &value}, 8), PXB_OK) << message();
    ASSERT_EQ(pxb_memory_read(dev, host, x, sizeof host), PXB_OK);
    for (uint32_t i = 0; i < 8; i++)
        EXPECT_EQ(host[i], 40 + i);
    ASSERT_EQ(launch("bump"), PXB_OK) << message();
    ASSERT_EQ(launch("bump"), PXB_OK);
    ASSERT_EQ(pxb_global_get(dev, mod, "counter", &at, &bytes), PXB_OK);
    EXPECT_EQ(bytes, 4u);
    ASSERT_EQ(pxb_memory_read(dev, &counter, at, 4), PXB_OK) << message();
    EXPECT_EQ(counter, 7u);
    EXPECT_EQ(pxb_memory_read(dev, host, at, 8), PXB_BAD_ARGUMENT);
    pxb_module_free(mod);
    EXPECT_EQ(pxb_memory_read(dev, &counter, at, 4), PXB_BAD_ARGUMENT) << "the variable went with its module";
}

TEST_F(Cuda, reads_a_functions_address_where_the_module_keeps_it)
{
    open();
    pxb_address x, f;
    uint32_t result = 0;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &x), PXB_OK);
    ASSERT_EQ(pxb_function_address(dev, mod, "twice", &f), PXB_OK) << message();
    ASSERT_EQ(launch("through", {&x, &f}), PXB_OK) << message();
    ASSERT_EQ(pxb_memory_read(dev, &result, x, 4), PXB_OK);
    EXPECT_EQ(result, 42u);
    EXPECT_EQ(pxb_function_address(dev, mod, "thrice", &f), PXB_UNSUPPORTED);
    EXPECT_EQ(f, 0u);
    EXPECT_TRUE(says("does not tell the address of function \"thrice\"")) << message();
}

TEST_F(Cuda, names_the_line_that_the_drivers_compiler_refuses)
{
    const char *const text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry good()\n{\n    ret;\n}\n"
                             ".visible .entry bad()\n{\n    frobnicate.u32;\n    ret;\n}\n";
    open(text);
    EXPECT_EQ(launch("good"), PXB_BAD_INPUT) << "a driver takes a module as a whole";
    EXPECT_EQ(pxb_last_error(ctx)->line, 10u) << message();
    EXPECT_STREQ(pxb_last_error(ctx)->file, "test.ptx");
    EXPECT_TRUE(says("the driver's compiler says: ")) << message();
}

TEST_F(Cuda, says_what_does_not_fit_this_gpu_or_driver)
{
    setenv("PTXB_ABI_CAPABILITY", "75", 1);
    open();
    EXPECT_EQ(launch("bump"), PXB_UNSUPPORTED);
    EXPECT_TRUE(says("test.ptx: error: not for this GPU: the module is for sm_80, and the GPU is sm_75")) << message();
    pxb_device_close(dev);
    struct {
        const char *target, *capability;
        bool fits;
    } const cases[] = {{"sm_90a", "90", true},   {"sm_90a", "100", false}, {"sm_100f", "103", true},
                       {"sm_100f", "120", false}, {"sm_70", "120", true},   {"sm_120", "103", false}};
    for (auto &c : cases) {
        std::string text = std::string(".version 9.0\n.target ") + c.target + "\n.address_size 64\n.visible .entry k() { ret; }\n";
        setenv("PTXB_ABI_CAPABILITY", c.capability, 1);
        open(text.c_str());
        EXPECT_EQ(launch("k"), c.fits ? PXB_OK : PXB_UNSUPPORTED) << c.target << " on " << c.capability << ": " << message();
        pxb_device_close(dev);
    }
    open();
    order("cuModuleLoadDataEx@1=222");
    EXPECT_EQ(launch("bump"), PXB_UNSUPPORTED);
}

TEST_F(Cuda, says_that_the_driver_is_too_old_for_the_ptx)
{
    open(calm_text);
    order("cuModuleLoadDataEx@1=222");
    EXPECT_EQ(launch("nothing"), PXB_UNSUPPORTED);
    EXPECT_TRUE(says("not for this driver: PTX 7.0 is newer than what it takes (CUDA 13.0)")) << message();
    EXPECT_EQ(launch("nothing"), PXB_OK) << message();
}

// ---------------------------------------------------------------- launches

TEST_F(Cuda, asks_for_large_shared_memory)
{
    open();
    pxb_address x;
    uint32_t result = 0;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &x), PXB_OK);
    ASSERT_EQ(launch("big", {&x}, 1, 64 << 10), PXB_OK) << message();
    ASSERT_EQ(pxb_memory_read(dev, &result, x, 4), PXB_OK);
    EXPECT_EQ(result, 77u);
    EXPECT_EQ(launch("big", {&x}, 1, 200 << 10), PXB_BAD_ARGUMENT);
    EXPECT_TRUE(says("this GPU gives a block at most 101376")) << message();
}

TEST_F(Cuda, launches_cooperative_grids)
{
    enum { BLOCKS = 8 };
    open();
    pxb_address counter, left, out;
    uint32_t sums[BLOCKS], count = 0;
    const uint8_t add = 200;
    const uint16_t factor = 3000;
    for (pxb_address *a : {&counter, &left, &out}) {
        ASSERT_EQ(pxb_memory_alloc(dev, 4 * BLOCKS, a), PXB_OK);
        ASSERT_EQ(pxb_memory_set(dev, *a, 0, 4 * BLOCKS), PXB_OK);
    }
    const auto meet = [&](uint32_t blocks, uint32_t shared = 0) {
        return launch("meet", {&add, &counter, &factor, &left, &out}, 1, shared, 60000, nullptr, nullptr, blocks);
    };
    ASSERT_EQ(meet(BLOCKS, 50 << 10), PXB_OK) << message();
    ASSERT_EQ(pxb_memory_read(dev, sums, out, sizeof sums), PXB_OK);
    for (uint32_t i = 0; i < BLOCKS; i++)
        EXPECT_EQ(sums[i], 2 * add + factor * (i + 1 + (i + 1) % BLOCKS + 1)) << i;
    EXPECT_EQ(launch("bump", {}, 1, 0, 0, nullptr, nullptr, 1), PXB_OK) << "without parameters: " << message();
    EXPECT_EQ(meet(BLOCKS + 1), PXB_BAD_ARGUMENT);
    EXPECT_TRUE(says("9 blocks of a cooperative launch; at most 8 can run at once")) << message();
    ASSERT_EQ(pxb_memory_read(dev, &count, counter, 4), PXB_OK);
    EXPECT_EQ(count, (uint32_t)BLOCKS) << "nothing of it ran";
    order("cuLaunchCooperativeKernel@1=720");
    EXPECT_EQ(meet(1), PXB_BAD_ARGUMENT) << message();
    order("");
    EXPECT_EQ(meet(0), PXB_FAULT_TRAP) << "an ordinary launch has no workspace";
}

TEST_F(Cuda, says_that_a_gpu_has_no_cooperative_grids)
{
    setenv("PTXB_ABI_COOPERATIVE", "0", 1);
    setenv("PTXB_ABI_CAPABILITY", "52", 1);
    open(calm_text);
    pxb_kernel *kernel;
    pxb_module *old;
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    const char *const text = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n";
    ASSERT_EQ(pxb_module_load_text(ctx, text, strlen(text), "old.ptx", &old), PXB_OK);
    ASSERT_EQ(pxb_kernel_get(dev, old, "k", &kernel), PXB_OK) << message();
    ASSERT_EQ(pxb_launch(kernel, &o, nullptr, 0), PXB_OK) << message();
    o.cooperative = true;
    EXPECT_EQ(pxb_launch(kernel, &o, nullptr, 0), PXB_UNSUPPORTED);
    EXPECT_TRUE(says("device \"cuda\" cannot run all blocks of a grid at once: the driver says that this GPU, of compute capability 5.2"))
        << message();
}

TEST_F(Cuda, does_not_pretend_to_check)
{
    open();
    pxb_kernel *kernel;
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    o.check = true;
    ASSERT_EQ(pxb_kernel_get(dev, mod, "bump", &kernel), PXB_OK);
    EXPECT_EQ(pxb_launch(kernel, &o, nullptr, 0), PXB_UNSUPPORTED);
}

void append(void *user, const char *text, size_t length)
{
    static_cast<std::string *>(user)->append(text, length);
}

TEST_F(Cuda, captures_what_kernels_print)
{
    open();
    std::string text;
    ASSERT_EQ(launch("say", {}, 3, 0, 0, append, &text), PXB_OK) << message();
    EXPECT_EQ(text, "hi\nhi\nhi\n");
    text.clear();
    ASSERT_EQ(launch("say", {}, 1, 0, 1000, append, &text), PXB_OK) << message();
    EXPECT_EQ(text, "hi\n");
    testing::internal::CaptureStdout();
    ASSERT_EQ(launch("say"), PXB_OK);
    fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "hi\n");
}

TEST_F(Cuda, captures_also_where_standard_output_is_closed)
{
    open();
    std::string text;
    pxb_kernel *kernel;
    ASSERT_EQ(pxb_kernel_get(dev, mod, "say", &kernel), PXB_OK);
    fflush(stdout);
    int saved = dup(1);
    close(1);
    pxb_status status = launch("say", {}, 1, 0, 0, append, &text);
    dup2(saved, 1);
    close(saved);
    EXPECT_EQ(status, PXB_OK) << message();
    EXPECT_EQ(launch("say", {}, 1, 0, 0, append, &text), PXB_OK) << message();
    EXPECT_EQ(text, "hi\nhi\n");
}

// ---------------------------------------------------------------- faults

TEST_F(Cuda, is_lost_after_a_fault_and_opens_again)
{
    open();
    pxb_address x;
    pxb_image *image;
    pxb_handle texture;
    pxb_image_desc d = {2, 4, 4, 1, 1, PXB_TEXEL_U32};
    pxb_sampler s = {};
    uint32_t word = 0;
    ASSERT_EQ(pxb_memory_alloc(dev, 4, &x), PXB_OK);
    ASSERT_EQ(pxb_image_create(dev, &d, &image), PXB_OK) << message();
    ASSERT_EQ(pxb_texture_create(image, &s, &texture), PXB_BAD_ARGUMENT) << "wrap needs normalised coordinates";
    s.address[0] = s.address[1] = PXB_ADDRESS_CLAMP;
    ASSERT_EQ(pxb_texture_create(image, &s, &texture), PXB_OK) << message();
    EXPECT_EQ(launch("traps"), PXB_FAULT_TRAP);
    EXPECT_STREQ(pxb_last_error(ctx)->kernel, "traps");
    EXPECT_TRUE(says("CUDA_ERROR_LAUNCH_FAILED (719)")) << message();
    EXPECT_EQ(pxb_memory_read(dev, &word, x, 4), PXB_NO_DEVICE);
    EXPECT_TRUE(says("lost with its memory since kernel \"traps\" faulted (trap): close it and open it again")) << message();
    EXPECT_EQ(launch("bump"), PXB_NO_DEVICE);
    EXPECT_EQ(pxb_memory_free(dev, x), PXB_OK);
    EXPECT_EQ(pxb_handle_destroy(image, texture), PXB_OK);
    pxb_device_close(dev);
    ASSERT_EQ(pxb_device_open(ctx, "cuda", &dev), PXB_OK);
    EXPECT_EQ(launch("bump"), PXB_OK) << message();
}

TEST_F(Cuda, translates_every_fault_of_the_driver)
{
    struct {
        int code;
        pxb_status calm, traps; // of modules without and with a trap instruction
        bool lost;
    } const cases[] = {{700, PXB_FAULT_ADDRESS, PXB_FAULT_ADDRESS, true},
                       {716, PXB_FAULT_MISALIGNED, PXB_FAULT_MISALIGNED, true},
                       {717, PXB_FAULT_ADDRESS, PXB_FAULT_ADDRESS, true},
                       {715, PXB_FAULT_TRAP, PXB_FAULT_TRAP, true},
                       {710, PXB_FAULT_TRAP, PXB_FAULT_TRAP, true},
                       {719, PXB_FAULT_ADDRESS, PXB_FAULT_TRAP, true},
                       {702, PXB_FAULT_TIMEOUT, PXB_FAULT_TIMEOUT, true},
                       {714, PXB_FAULT_STACK, PXB_FAULT_STACK, true},
                       {718, PXB_FAULT_CALL, PXB_FAULT_CALL, true},
                       {214, PXB_INTERNAL, PXB_INTERNAL, true},
                       {999, PXB_INTERNAL, PXB_INTERNAL, true}};
    for (auto &c : cases) {
        for (bool traps : {false, true}) {
            open(traps ? module_text : calm_text);
            order("kernel@1=" + std::to_string(c.code));
            EXPECT_EQ(launch(traps ? "bump" : "nothing"), traps ? c.traps : c.calm) << c.code << ": " << message();
            order("");
            EXPECT_EQ(launch(traps ? "bump" : "nothing"), c.lost ? PXB_NO_DEVICE : PXB_OK) << c.code << ": " << message();
            pxb_device_close(dev);
        }
    }
    open(calm_text);
    order("cuLaunchKernel@1=701");
    EXPECT_EQ(launch("nothing"), PXB_BAD_ARGUMENT);
    EXPECT_TRUE(says("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)")) << message();
    EXPECT_EQ(launch("nothing"), PXB_OK) << "a launch that never began leaves the device as it was: " << message();
}

TEST_F(Cuda, reports_a_kernel_that_runs_too_long)
{
    open();
    EXPECT_EQ(launch("bump", {}, 1, 0, 60000), PXB_OK) << message();
    EXPECT_EQ(launch("spin", {}, 1, 0, 30), PXB_FAULT_TIMEOUT);
    EXPECT_TRUE(says("cannot be stopped from outside")) << message();
    pxb_address x;
    EXPECT_EQ(pxb_memory_alloc(dev, 4, &x), PXB_NO_DEVICE);
    EXPECT_TRUE(says("still occupied by kernel \"spin\"")) << message();
    pxb_device_close(dev);
    EXPECT_EQ(pxb_device_open(ctx, "cuda", &dev), PXB_OK) << "another context on the same GPU: " << message();
    EXPECT_EQ(launch("bump"), PXB_OK) << message();
}

// ---------------------------------------------------------------- images

TEST_F(Cuda, keeps_images_as_arrays)
{
    open();
    pxb_image *in, *out;
    pxb_image_desc d = {2, 4, 3, 1, 1, PXB_TEXEL_U32};
    pxb_sampler s = {{PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP}, PXB_FILTER_POINT, PXB_READ_ELEMENT, false};
    pxb_handle t, t2, u;
    uint32_t texels[12], got[12];
    for (uint32_t i = 0; i < 12; i++)
        texels[i] = i * i + 1;
    ASSERT_EQ(pxb_image_create(dev, &d, &in), PXB_OK) << message();
    ASSERT_EQ(pxb_image_create(dev, &d, &out), PXB_OK);
    memset(got, 1, sizeof got);
    ASSERT_EQ(pxb_image_read(out, got, sizeof got), PXB_OK) << message();
    for (uint32_t g : got)
        EXPECT_EQ(g, 0u) << "a new image is zeros";
    ASSERT_EQ(pxb_image_write(in, texels, sizeof texels), PXB_OK) << message();
    EXPECT_EQ(pxb_image_write(in, texels, 4), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_image_read(in, nullptr, sizeof texels), PXB_BAD_ARGUMENT);
    ASSERT_EQ(pxb_texture_create(in, &s, &t), PXB_OK) << message();
    ASSERT_EQ(pxb_texture_create(in, &s, &t2), PXB_OK);
    ASSERT_EQ(pxb_surface_create(out, &u), PXB_OK) << message();
    EXPECT_EQ(pxb_handle_destroy(in, t2), PXB_OK);
    EXPECT_EQ(pxb_handle_destroy(in, t2), PXB_NOT_FOUND);
    EXPECT_EQ(pxb_handle_destroy(out, t), PXB_NOT_FOUND);
    ASSERT_EQ(launch("sample", {&t, &u}, 4), PXB_OK) << message();
    ASSERT_EQ(pxb_image_read(out, got, sizeof got), PXB_OK);
    for (uint32_t x = 0; x < 4; x++)
        EXPECT_EQ(got[4 + x], texels[4 + x] + 100) << x;
    EXPECT_EQ(got[0], 0u);
    pxb_image_destroy(in);
}

TEST_F(Cuda, makes_images_of_every_kind)
{
    open();
    for (uint32_t dims = 1; dims <= 3; dims++) {
        for (uint32_t channels : {1u, 2u, 4u}) {
            for (int texel = PXB_TEXEL_U8; texel <= PXB_TEXEL_F32; texel++) {
                pxb_image_desc d = {dims, 5, dims > 1 ? 3u : 1, dims > 2 ? 2u : 1, channels, (pxb_texel)texel};
                pxb_image *image;
                ASSERT_EQ(pxb_image_create(dev, &d, &image), PXB_OK) << message();
                std::vector<unsigned char> in(pxb_image_bytes(image)), out(in.size());
                for (size_t i = 0; i < in.size(); i++)
                    in[i] = (unsigned char)(i * 31 + 5);
                ASSERT_EQ(pxb_image_write(image, in.data(), in.size()), PXB_OK) << message();
                ASSERT_EQ(pxb_image_read(image, out.data(), out.size()), PXB_OK) << message();
                EXPECT_EQ(in, out);
                pxb_image_destroy(image);
            }
        }
    }
}

// ---------------------------------------------------------------- every call failing

// All that a program does; returns its first failure.
pxb_status everything(pxb_context *ctx)
{
    pxb_device *dev = nullptr;
    pxb_module *mod = nullptr;
    pxb_image *image = nullptr;
    pxb_kernel *kernel = nullptr;
    pxb_address a = 0, b = 0;
    pxb_handle t = 0, u = 0;
    pxb_image_desc d = {2, 4, 3, 1, 1, PXB_TEXEL_U32};
    pxb_sampler s = {{PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP}, PXB_FILTER_POINT, PXB_READ_ELEMENT, false};
    pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
    std::string text;
    uint32_t host[16] = {};
    o.timeout_ms = 60000;
    o.shared_bytes = 50 << 10;
    o.print = append;
    o.print_user = &text;
    pxb_launch_options together = o;
    together.cooperative = true;
    pxb_status status = pxb_device_open(ctx, "cuda:0", &dev);
    const auto step = [&](pxb_status next) { status = next; return status == PXB_OK; };
    if (!status)
        (void)(step(pxb_module_load_text(ctx, module_text, strlen(module_text), nullptr, &mod)) &&
               step(pxb_memory_alloc(dev, 64, &a)) && step(pxb_memory_alloc(dev, 64, &b)) &&
               step(pxb_memory_write(dev, a, host, 64)) && step(pxb_memory_set(dev, b, 1, 64)) &&
               step(pxb_memory_copy(dev, b, a, 64)) && step(pxb_memory_copy(dev, b + 4, b, 32)) &&
               step(pxb_image_create(dev, &d, &image)) && step(pxb_image_write(image, host, 48)) &&
               step(pxb_texture_create(image, &s, &t)) && step(pxb_surface_create(image, &u)) &&
               step(pxb_function_address(dev, mod, "twice", &b)) && step(pxb_kernel_get(dev, mod, "say", &kernel)) &&
               step(pxb_launch(kernel, &o, nullptr, 0)) && step(pxb_kernel_get(dev, mod, "bump", &kernel)) &&
               step(pxb_launch(kernel, &together, nullptr, 0)) && step(pxb_image_read(image, host, 48)) &&
               step(pxb_memory_read(dev, host, a, 64)) && step(pxb_memory_free(dev, a)));
    const std::string message = pxb_last_error(ctx)->message;
    EXPECT_EQ(status == PXB_OK, text == "hi\n" && host[0] == 0 && status == PXB_OK);
    pxb_module_free(mod);
    pxb_device_close(dev);
    EXPECT_EQ(message, status ? pxb_last_error(ctx)->message : message) << "cleaning up must not fail again";
    return status;
}

#define SYMBOL(symbol, version, params) #symbol,

TEST_F(Cuda, survives_the_failure_of_each_call)
{
    // Their failure is not one of the device: they only describe or clean up.
    const std::vector<std::string> harmless = {"cuGetErrorName",   "cuGetErrorString",   "cuDeviceGetName", "cuDeviceTotalMem_v2",
                                               "cuMemGetInfo_v2",  "cuCtxPopCurrent_v2", "cuCtxDestroy_v2", "cuModuleUnload",
                                               "cuArrayDestroy",   "cuTexObjectDestroy", "cuCtxSetLimit",   "cuSurfObjectDestroy",
                                               "cuInit"};
    const char *const symbols[] = {
        CUDA_FUNCTIONS(SYMBOL)
    };
    ASSERT_EQ(everything(ctx), PXB_OK) << message();
    for (const char *symbol : symbols) {
        if (std::string(symbol) == "cuCtxPopCurrent_v2" || std::string(symbol) == "cuCtxDestroy_v2")
            continue; // a driver that fails these leaves its context behind: nothing to be had from it
        bool may = std::find(harmless.begin(), harmless.end(), symbol) != harmless.end();
        int failed = 0;
        for (int n = 1; n <= 40; n++) {
            order(std::string(symbol) + "@" + std::to_string(n) + "=2");
            pxb_status status = everything(ctx);
            failed += status != PXB_OK;
            if (status == PXB_OK && n > 3)
                break;
        }
        EXPECT_TRUE(failed || may) << symbol << " was told to fail and nobody noticed";
    }
    order("");
    EXPECT_EQ(everything(ctx), PXB_OK) << message();
}

} // namespace
