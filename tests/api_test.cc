// api_test.cc - the public C API as a program uses it: lifetimes, errors, launches, faults, variables, images.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include "include/ptxbridge.h"

namespace
{

const char *const module_text = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 8 .b8 table[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

.visible .entry add_one(.param .u64 .ptr.global.align 4 out, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 ret;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    add.s32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
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
    ld.global.u32 %r1, [%rd1];
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry forever()
{
again:
    bra again;
}

.visible .entry sized() .reqntid 32, 2
{
    ret;
}

.visible .entry bounded() .maxntid 64
{
    ret;
}

.visible .entry packed(.param .align 8 .b8 s[24], .param .u64 out)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [s];
    ld.param.u64 %rd2, [s+16];
    add.s64 %rd1, %rd1, %rd2;
    ld.param.u64 %rd3, [out];
    st.global.u64 [%rd3], %rd1;
    ret;
}

)"
#include "cooperative_ptx.inc"
    ;

// Line of the module's text that holds `piece`.
uint32_t line_of(const char *piece)
{
    const char *at = strstr(module_text, piece);
    return (uint32_t)std::count(module_text, at, '\n') + 1;
}

class Api : public ::testing::Test
{
  protected:
    pxb_context *ctx = nullptr;
    pxb_device *dev = nullptr;
    pxb_module *mod = nullptr;
    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        ASSERT_EQ(pxb_device_open(ctx, nullptr, &dev), PXB_OK) << error();
        ASSERT_EQ(pxb_module_load_text(ctx, module_text, strlen(module_text), "api.ptx", &mod), PXB_OK) << error();
    }
    void TearDown() override { pxb_context_destroy(ctx); }
    std::string error() const { return pxb_last_error(ctx)->message; }
    pxb_kernel *kernel(const char *name)
    {
        pxb_kernel *k = nullptr;
        EXPECT_EQ(pxb_kernel_get(dev, mod, name, &k), PXB_OK) << error();
        return k;
    }
    static pxb_launch_options shape(uint32_t grid, uint32_t block)
    {
        pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
        o.grid[0] = grid;
        o.block[0] = block;
        return o;
    }
};

TEST(Version, IsTheHeaders)
{
    std::string want = std::to_string(PXB_VERSION_MAJOR) + "." + std::to_string(PXB_VERSION_MINOR) + "." +
                       std::to_string(PXB_VERSION_PATCH);
    EXPECT_EQ(pxb_version(), want);
#ifdef PTXBRIDGE_VERSION
    EXPECT_EQ(want, PTXBRIDGE_VERSION);
#endif
}

TEST(Names, OfStatusesAndModels)
{
    for (int s = -1; s < 64; s++)
        EXPECT_NE(pxb_status_name((pxb_status)s), nullptr);
    EXPECT_STREQ(pxb_status_name(PXB_FAULT_TRAP), "trap");
    for (int m = PXB_MMA_ADA; m <= PXB_MMA_IEEE; m++) {
        pxb_mma_model back;
        ASSERT_TRUE(pxb_mma_model_from_name(pxb_mma_model_name((pxb_mma_model)m), &back));
        EXPECT_EQ(back, m);
    }
    pxb_mma_model unused;
    EXPECT_EQ(pxb_mma_model_name((pxb_mma_model)99), nullptr);
    EXPECT_FALSE(pxb_mma_model_from_name("pascal", &unused));
    EXPECT_FALSE(pxb_mma_model_from_name(nullptr, &unused));
}

TEST_F(Api, Devices)
{
    pxb_device_info info;
    pxb_device *none;
    pxb_property p;
    ASSERT_GE(pxb_device_kind_count(), 1u);
    ASSERT_EQ(pxb_device_kind(ctx, 0, &info), PXB_OK);
    EXPECT_STREQ(info.name, "cpu");
    EXPECT_TRUE(info.available);
    EXPECT_EQ(pxb_device_kind(ctx, 99, &info), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_device_open(ctx, "abacus", &none), PXB_NO_DEVICE);
    EXPECT_EQ(none, nullptr);
    EXPECT_NE(error().find("known: cpu"), std::string::npos) << error();
    uint32_t n = 0;
    while (pxb_device_property(dev, n, &p) == PXB_OK) {
        EXPECT_NE(p.name, nullptr);
        EXPECT_NE(p.value, nullptr);
        n++;
    }
    EXPECT_GT(n, 0u);
}

TEST_F(Api, Memory)
{
    pxb_address a, b, none;
    std::vector<uint8_t> out(300), in(300);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (uint8_t)(i * 7);
    ASSERT_EQ(pxb_memory_alloc(dev, 300, &a), PXB_OK);
    ASSERT_EQ(pxb_memory_alloc(dev, 300, &b), PXB_OK);
    EXPECT_EQ(a % 256, 0u);
    ASSERT_EQ(pxb_memory_write(dev, a, in.data(), 300), PXB_OK);
    ASSERT_EQ(pxb_memory_set(dev, b, 0xaa, 300), PXB_OK);
    ASSERT_EQ(pxb_memory_copy(dev, b + 100, a, 200), PXB_OK);
    ASSERT_EQ(pxb_memory_read(dev, out.data(), b, 300), PXB_OK);
    EXPECT_TRUE(std::all_of(out.begin(), out.begin() + 100, [](uint8_t v) { return v == 0xaa; }));
    EXPECT_EQ(memcmp(&out[100], in.data(), 200), 0);
    ASSERT_EQ(pxb_memory_copy(dev, a + 1, a, 299), PXB_OK); // overlapping
    ASSERT_EQ(pxb_memory_read(dev, out.data(), a, 300), PXB_OK);
    EXPECT_EQ(memcmp(&out[1], in.data(), 299), 0);
    EXPECT_EQ(pxb_memory_write(dev, a, in.data(), 301), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, out.data(), a + 299, 2), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, out.data(), 16, 1), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, out.data(), a, SIZE_MAX), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_write(dev, 0, nullptr, 0), PXB_OK);
    EXPECT_EQ(pxb_memory_alloc(dev, 0, &none), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_alloc(dev, (size_t)1 << 60, &none), PXB_OUT_OF_MEMORY);
    EXPECT_EQ(none, 0u);
    EXPECT_EQ(pxb_memory_free(dev, a), PXB_OK);
    EXPECT_EQ(pxb_memory_free(dev, a), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_free(dev, b + 4), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_free(dev, 0), PXB_OK);
}

TEST_F(Api, Launch)
{
    std::vector<uint32_t> v(1000);
    for (uint32_t i = 0; i < 1000; i++)
        v[i] = i;
    pxb_address a;
    uint32_t n = 990;
    ASSERT_EQ(pxb_memory_alloc(dev, 4000, &a), PXB_OK);
    ASSERT_EQ(pxb_memory_write(dev, a, v.data(), 4000), PXB_OK);
    const void *params[] = {&a, &n};
    pxb_kernel *k = kernel("add_one");
    pxb_launch_options o = shape(8, 128);
    ASSERT_EQ(pxb_launch(k, &o, params, 2), PXB_OK) << error();
    EXPECT_EQ(kernel("add_one"), k);
    struct {
        uint64_t out;
        uint32_t n;
    } block = {a, 500};
    ASSERT_EQ(pxb_launch_packed(k, &o, &block, 12), PXB_OK) << error();
    ASSERT_EQ(pxb_memory_read(dev, v.data(), a, 4000), PXB_OK);
    for (uint32_t i = 0; i < 1000; i++)
        ASSERT_EQ(v[i], i + (i < 990) + (i < 500)) << i;
}

TEST_F(Api, StructParameterAndBytesBetween)
{
    pxb_address out;
    uint64_t s[3] = {1000, 99, 234}, result = 0;
    ASSERT_EQ(pxb_memory_alloc(dev, 8, &out), PXB_OK);
    const void *params[] = {s, &out};
    pxb_launch_options o = shape(1, 1);
    ASSERT_EQ(pxb_launch(kernel("packed"), &o, params, 2), PXB_OK) << error();
    ASSERT_EQ(pxb_memory_read(dev, &result, out, 8), PXB_OK);
    EXPECT_EQ(result, 1234u);
}

TEST_F(Api, LaunchesThatAreRefused)
{
    pxb_address a = 0;
    uint32_t n = 0;
    const void *params[] = {&a, &n};
    pxb_kernel *k = kernel("add_one");
    pxb_launch_options o = shape(1, 1);
    EXPECT_EQ(pxb_launch(k, &o, params, 1), PXB_BAD_ARGUMENT);
    EXPECT_NE(error().find("takes 2 parameters, not 1"), std::string::npos);
    EXPECT_EQ(pxb_launch_packed(k, &o, params, 16), PXB_BAD_ARGUMENT);
    for (auto change : std::vector<void (*)(pxb_launch_options &)>{
             [](pxb_launch_options &x) { x.struct_size = 4; }, [](pxb_launch_options &x) { x.grid[1] = 0; },
             [](pxb_launch_options &x) { x.block[0] = 1025; }, [](pxb_launch_options &x) { x.block[2] = 65; },
             [](pxb_launch_options &x) { x.block[0] = x.block[1] = 33; },
             [](pxb_launch_options &x) { x.grid[1] = 65536; }, [](pxb_launch_options &x) { x.shared_bytes = 1 << 20; },
             [](pxb_launch_options &x) { x.mma_model = (pxb_mma_model)7; }}) {
        pxb_launch_options bad = shape(1, 1);
        change(bad);
        EXPECT_EQ(pxb_launch(k, &bad, params, 2), PXB_BAD_ARGUMENT);
    }
    pxb_launch_options sized = shape(1, 32), bounded = shape(1, 65);
    EXPECT_EQ(pxb_launch(kernel("sized"), &sized, nullptr, 0), PXB_BAD_ARGUMENT);
    EXPECT_NE(error().find("32x2x1"), std::string::npos) << error();
    sized.block[1] = 2;
    EXPECT_EQ(pxb_launch(kernel("sized"), &sized, nullptr, 0), PXB_OK) << error();
    EXPECT_EQ(pxb_launch(kernel("bounded"), &bounded, nullptr, 0), PXB_BAD_ARGUMENT);
    bounded.block[0] = 64;
    EXPECT_EQ(pxb_launch(kernel("bounded"), &bounded, nullptr, 0), PXB_OK) << error();
}

TEST_F(Api, CooperativeGrids)
{
    enum { BLOCKS = 300 };
    pxb_address counter, left, out;
    std::vector<uint32_t> sums(BLOCKS), nothing(BLOCKS);
    struct {
        uint64_t address;
        uint32_t bytes;
    } workspace = {};
    for (pxb_address *a : {&counter, &left, &out}) {
        ASSERT_EQ(pxb_memory_alloc(dev, 4 * BLOCKS, a), PXB_OK);
        ASSERT_EQ(pxb_memory_write(dev, *a, nothing.data(), 4 * BLOCKS), PXB_OK);
    }
    const void *params[] = {&counter, &left, &out};
    pxb_launch_options o = shape(BLOCKS, 1);
    EXPECT_FALSE(o.cooperative);
    o.cooperative = true;
    ASSERT_EQ(pxb_launch(kernel("meet"), &o, params, 3), PXB_OK) << error();
    ASSERT_EQ(pxb_memory_read(dev, sums.data(), out, 4 * BLOCKS), PXB_OK);
    for (uint32_t i = 0, k = 1; i < BLOCKS; i++, k = (i + 1) % BLOCKS)
        ASSERT_EQ(sums[i], (i + 1) * (i + 1) + (k + 1) * (k + 1)) << i;
    for (bool cooperative : {true, false, true}) {
        o = shape(1, 1);
        o.cooperative = o.check = cooperative;
        ASSERT_EQ(pxb_launch(kernel("workspace"), &o, &params[2], 1), PXB_OK) << error();
        ASSERT_EQ(pxb_memory_read(dev, &workspace, out, 12), PXB_OK);
        EXPECT_EQ(workspace.address != 0, cooperative);
        EXPECT_EQ(workspace.bytes, cooperative ? 4096u : 0u);
    }
    o = shape(1 << 20, 1);
    o.cooperative = true;
    EXPECT_EQ(pxb_launch(kernel("meet"), &o, params, 3), PXB_BAD_ARGUMENT);
    EXPECT_NE(error().find("1048576 blocks of a cooperative launch; at most "), std::string::npos) << error();
    EXPECT_EQ(pxb_memory_read(dev, sums.data(), counter, 4), PXB_OK);
    EXPECT_EQ(sums[0], (uint32_t)BLOCKS) << "nothing of it ran";
}

TEST_F(Api, NullsAreRefused)
{
    pxb_address a = 0;
    const void *params[] = {&a, nullptr};
    pxb_kernel *k = kernel("add_one");
    pxb_launch_options o = shape(1, 1);
    EXPECT_EQ(pxb_launch(k, nullptr, params, 2), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_launch(k, &o, nullptr, 2), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_launch(k, &o, params, 2), PXB_BAD_ARGUMENT);
    EXPECT_NE(error().find("parameter 1"), std::string::npos) << error();
    EXPECT_EQ(pxb_launch_packed(k, &o, nullptr, 12), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_kernel_get(dev, mod, nullptr, &k), PXB_BAD_ARGUMENT);
    EXPECT_EQ(k, nullptr);
    EXPECT_EQ(pxb_global_get(dev, mod, nullptr, &a, nullptr), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_function_address(dev, mod, nullptr, &a), PXB_BAD_ARGUMENT);
    pxb_module *none;
    EXPECT_EQ(pxb_module_load_file(ctx, nullptr, &none), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_module_load_text(ctx, nullptr, 5, nullptr, &none), PXB_BAD_ARGUMENT);
    EXPECT_EQ(none, nullptr);
    ASSERT_EQ(pxb_memory_alloc(dev, 64, &a), PXB_OK);
    EXPECT_EQ(pxb_memory_write(dev, a, nullptr, 4), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_read(dev, nullptr, a, 4), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_memory_write(dev, a, nullptr, 0), PXB_OK);
    pxb_image *image;
    EXPECT_EQ(pxb_image_create(dev, nullptr, &image), PXB_BAD_ARGUMENT);
    pxb_image_desc desc = {1, 4, 1, 1, 1, PXB_TEXEL_U8};
    pxb_handle t;
    ASSERT_EQ(pxb_image_create(dev, &desc, &image), PXB_OK) << error();
    EXPECT_EQ(pxb_texture_create(image, nullptr, &t), PXB_BAD_ARGUMENT);
}

// One bad function spoils itself alone, and says why.
TEST_F(Api, BrokenFunctionKeepsItsSymbol)
{
    pxb_kernel *k;
    EXPECT_NE(pxb_kernel_get(dev, mod, "broken", &k), PXB_OK);
    EXPECT_EQ(k, nullptr);
    const pxb_error *e = pxb_last_error(ctx);
    EXPECT_STREQ(e->file, "api.ptx");
    EXPECT_EQ(e->line, line_of("frobnicate"));
    EXPECT_NE(error().find("frobnicate"), std::string::npos) << error();
    EXPECT_NE(error().find("^"), std::string::npos) << error();
    pxb_launch_options o = shape(1, 1);
    EXPECT_EQ(pxb_launch(kernel("bump"), &o, nullptr, 0), PXB_OK);
    EXPECT_EQ(pxb_kernel_get(dev, mod, "nothing", &k), PXB_NOT_FOUND);
}

// A function that misses a variable says why there is none.
TEST_F(Api, CauseOutsideTheFunctionIsNamed)
{
    const char *text = ".version 8.0\n.target sm_80\n.address_size 64\n.const .u64 table[2] = {later, 0};\n"
                       ".func later() { ret; }\n.visible .entry k() { .reg .b64 %rd; ld.const.u64 %rd, [table]; ret; }\n";
    pxb_module *m;
    pxb_kernel *k;
    ASSERT_EQ(pxb_module_load_text(ctx, text, strlen(text), "t.ptx", &m), PXB_OK) << error();
    EXPECT_EQ(pxb_kernel_get(dev, m, "k", &k), PXB_BAD_INPUT);
    EXPECT_EQ(pxb_last_error(ctx)->line, 6u);
    EXPECT_NE(error().find("'table' is not declared"), std::string::npos) << error();
    EXPECT_NE(error().find("t.ptx:4:"), std::string::npos) << error();
}

TEST_F(Api, ModuleDescription)
{
    pxb_function_info f;
    pxb_param_info p;
    uint32_t errors = 0;
    ASSERT_EQ(pxb_module_function_count(mod), 11u);
    ASSERT_EQ(pxb_module_function(mod, 0, &f), PXB_OK);
    EXPECT_STREQ(f.name, "add_one");
    EXPECT_TRUE(f.is_entry);
    EXPECT_EQ(f.params, 2u);
    EXPECT_EQ(f.param_bytes, 12u);
    ASSERT_EQ(pxb_module_param(mod, 0, 0, &p), PXB_OK);
    EXPECT_STREQ(p.name, "out");
    EXPECT_STREQ(p.type, "u64");
    EXPECT_TRUE(p.is_pointer);
    ASSERT_EQ(pxb_module_param(mod, 0, 1, &p), PXB_OK);
    EXPECT_EQ(p.offset, 8u);
    EXPECT_EQ(p.bytes, 4u);
    EXPECT_EQ(pxb_module_param(mod, 0, 2, &p), PXB_BAD_ARGUMENT);
    EXPECT_EQ(pxb_module_function(mod, 11, &f), PXB_BAD_ARGUMENT);
    ASSERT_EQ(pxb_module_function(mod, 2, &f), PXB_OK);
    EXPECT_NE(f.status, PXB_OK);
    ASSERT_EQ(pxb_module_function(mod, 6, &f), PXB_OK);
    EXPECT_EQ(f.required_block[1], 2u);
    ASSERT_EQ(pxb_module_diagnostic_count(mod, &errors), 1u);
    EXPECT_EQ(errors, 1u);
    pxb_diagnostic d;
    ASSERT_EQ(pxb_module_diagnostic(mod, 0, &d), PXB_OK);
    EXPECT_EQ(d.severity, PXB_ERROR);
    EXPECT_STREQ(d.function, "broken");
    EXPECT_NE(std::string(d.text).find("api.ptx:" + std::to_string(line_of("frobnicate")) + ":"), std::string::npos)
        << d.text;
    EXPECT_EQ(pxb_module_diagnostic(mod, 1, &d), PXB_BAD_ARGUMENT);
}

TEST_F(Api, ModulesThatDoNotLoad)
{
    pxb_module *m;
    std::string elf = std::string("\x7f"
                                  "ELF\2\1\1",
                                  7) +
                      std::string(100, '\0');
    EXPECT_EQ(pxb_module_load_text(ctx, elf.data(), elf.size(), "image", &m), PXB_NO_PTX);
    EXPECT_EQ(m, nullptr);
    EXPECT_EQ(pxb_module_load_text(ctx, "hello", 5, "text", &m), PXB_BAD_INPUT);
    EXPECT_NE(error().find("text:1:"), std::string::npos) << error();
    EXPECT_EQ(pxb_module_load_text(ctx, "", 0, nullptr, &m), PXB_NO_PTX);
    EXPECT_EQ(pxb_module_load_file(ctx, "/no/such.ptx", &m), PXB_IO);
    EXPECT_EQ(pxb_module_load_file(ctx, "/", &m), PXB_IO);
}

TEST_F(Api, Variables)
{
    pxb_address counter, table;
    size_t bytes = 0;
    uint32_t value = 0;
    uint8_t constants[16];
    pxb_launch_options o = shape(1, 1);
    ASSERT_EQ(pxb_launch(kernel("bump"), &o, nullptr, 0), PXB_OK) << error();
    ASSERT_EQ(pxb_global_get(dev, mod, "counter", &counter, &bytes), PXB_OK);
    EXPECT_EQ(bytes, 4u);
    ASSERT_EQ(pxb_memory_read(dev, &value, counter, 4), PXB_OK);
    EXPECT_EQ(value, 6u);
    value = 100;
    ASSERT_EQ(pxb_memory_write(dev, counter, &value, 4), PXB_OK);
    ASSERT_EQ(pxb_launch(kernel("bump"), &o, nullptr, 0), PXB_OK);
    ASSERT_EQ(pxb_memory_read(dev, &value, counter, 4), PXB_OK);
    EXPECT_EQ(value, 101u);
    ASSERT_EQ(pxb_global_get(dev, mod, "table", &table, nullptr), PXB_OK);
    ASSERT_EQ(pxb_memory_read(dev, constants, table, 16), PXB_OK);
    EXPECT_EQ(constants[15], 16);
    EXPECT_EQ(pxb_global_get(dev, mod, "none", &table, nullptr), PXB_NOT_FOUND);
}

// A module's variables can be read and written, but are not the caller's to free.
TEST_F(Api, VariablesAreNotFreed)
{
    for (const char *name : {"cpu", "sim:gfx1100"}) {
        pxb_device *other;
        pxb_address variable, memory;
        uint32_t value = 77;
        if (pxb_device_open(ctx, name, &other)) {
            EXPECT_EQ(pxb_last_error(ctx)->status, PXB_NO_DEVICE) << name;
            continue;
        }
        for (const char *which : {"counter", "table"}) {
            ASSERT_EQ(pxb_global_get(other, mod, which, &variable, nullptr), PXB_OK) << name;
            EXPECT_EQ(pxb_memory_free(other, variable), PXB_BAD_ARGUMENT) << name << " " << which;
        }
        ASSERT_EQ(pxb_global_get(other, mod, "counter", &variable, nullptr), PXB_OK);
        ASSERT_EQ(pxb_memory_write(other, variable, &value, 4), PXB_OK) << error();
        ASSERT_EQ(pxb_memory_alloc(other, 256, &memory), PXB_OK);
        EXPECT_NE(memory, variable) << name;
        EXPECT_EQ(pxb_memory_free(other, memory), PXB_OK) << name;
        pxb_device_close(other);
    }
}

// Text without a name: errors have a place all the same, and so has what is wrong with a kernel as a whole.
TEST_F(Api, ErrorsHaveAPlace)
{
    const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    const std::string store = head + ".visible .entry k()\n{\n.reg .b64 %a;\nmov.u64 %a, 0;\nst.global.u32 [%a], 1;\nret;\n}\n";
    const std::string wide = head + "\n.visible .entry k()\n{\n.shared .b8 s[2000000];\n.reg .b32 %r;\nld.shared.u32 %r, [s];\nret;\n}\n";
    pxb_module *nameless;
    pxb_kernel *k;
    pxb_launch_options o = shape(1, 1);
    ASSERT_EQ(pxb_module_load_text(ctx, store.data(), store.size(), nullptr, &nameless), PXB_OK);
    ASSERT_EQ(pxb_kernel_get(dev, nameless, "k", &k), PXB_OK);
    EXPECT_EQ(pxb_launch(k, &o, nullptr, 0), PXB_FAULT_ADDRESS);
    EXPECT_EQ(error().find("<ptx>:8:"), 0u) << error();
    EXPECT_TRUE(pxb_last_error(ctx)->has_address);
    EXPECT_EQ(pxb_last_error(ctx)->address, 0u);
    ASSERT_EQ(pxb_module_load_text(ctx, wide.data(), wide.size(), nullptr, &nameless), PXB_OK);
    ASSERT_EQ(pxb_kernel_get(dev, nameless, "k", &k), PXB_OK);
    EXPECT_NE(pxb_launch(k, &o, nullptr, 0), PXB_OK);
    EXPECT_EQ(error().find("<ptx>:5:"), 0u) << error();
}

// A fault is an error of its launch: the next launch on the device works.
TEST_F(Api, Faults)
{
    pxb_launch_options o = shape(3, 64);
    EXPECT_EQ(pxb_launch(kernel("traps"), &o, nullptr, 0), PXB_FAULT_TRAP);
    const pxb_error *e = pxb_last_error(ctx);
    EXPECT_STREQ(e->kernel, "traps");
    EXPECT_STREQ(e->file, "api.ptx");
    EXPECT_EQ(e->line, line_of("trap;")) << error();
    ASSERT_TRUE(e->has_thread);
    EXPECT_EQ(e->block[0], 0u);
    EXPECT_EQ(e->thread[0], 37u);
    EXPECT_TRUE(pxb_is_fault(e->status));

    pxb_address bad = 64, good;
    const void *params[] = {&bad};
    EXPECT_EQ(pxb_launch(kernel("strays"), &o, params, 1), PXB_FAULT_ADDRESS);
    EXPECT_TRUE(pxb_last_error(ctx)->has_address);
    EXPECT_EQ(pxb_last_error(ctx)->address, 64u);
    EXPECT_EQ(pxb_last_error(ctx)->line, line_of("ld.global.u32 %r1, [%rd1]")) << error();
    ASSERT_EQ(pxb_memory_alloc(dev, 16, &good), PXB_OK);
    bad = good + 2;
    EXPECT_EQ(pxb_launch(kernel("strays"), &o, params, 1), PXB_FAULT_MISALIGNED);
    bad = good + 16;
    o.check = true;
    EXPECT_EQ(pxb_launch(kernel("strays"), &o, params, 1), PXB_FAULT_ADDRESS);
    o.check = false;
    o.timeout_ms = 50;
    EXPECT_EQ(pxb_launch(kernel("forever"), &o, nullptr, 0), PXB_FAULT_TIMEOUT);
    bad = good;
    EXPECT_EQ(pxb_launch(kernel("strays"), &o, params, 1), PXB_OK) << error();
}

TEST_F(Api, LifetimesInAnyOrder)
{
    kernel("bump");
    pxb_device *second;
    pxb_kernel *k;
    ASSERT_EQ(pxb_device_open(ctx, "cpu", &second), PXB_OK);
    ASSERT_EQ(pxb_kernel_get(second, mod, "bump", &k), PXB_OK);
    pxb_device_close(second);
    pxb_launch_options o = shape(1, 1);
    EXPECT_EQ(pxb_launch(kernel("bump"), &o, nullptr, 0), PXB_OK);
    pxb_module_free(mod);
    ASSERT_EQ(pxb_module_load_text(ctx, module_text, strlen(module_text), "again.ptx", &mod), PXB_OK);
    kernel("bump");
    pxb_device_close(dev);
    ASSERT_EQ(pxb_device_open(ctx, "cpu", &dev), PXB_OK);
    kernel("bump");
    pxb_device_close(nullptr);
    pxb_module_free(nullptr);
    pxb_image_destroy(nullptr);
    pxb_context_destroy(nullptr);
    // A module of another context is refused.
    pxb_context *other;
    pxb_device *foreign;
    ASSERT_EQ(pxb_context_create(&other), PXB_OK);
    ASSERT_EQ(pxb_device_open(other, nullptr, &foreign), PXB_OK);
    EXPECT_EQ(pxb_kernel_get(foreign, mod, "bump", &k), PXB_BAD_ARGUMENT);
    pxb_context_destroy(other);
}

TEST_F(Api, ErrorsOutliveWhatTheyAreAbout)
{
    pxb_kernel *k;
    EXPECT_NE(pxb_kernel_get(dev, mod, "broken", &k), PXB_OK);
    std::string before = error();
    pxb_module_free(mod);
    EXPECT_EQ(error(), before);
    EXPECT_STREQ(pxb_last_error(ctx)->file, "api.ptx");
}

TEST_F(Api, ContextsInSeveralThreads)
{
    std::vector<std::thread> threads;
    std::vector<int> good(4);
    for (size_t t = 0; t < good.size(); t++) {
        threads.emplace_back([t, &good] {
            pxb_context *c;
            pxb_device *d;
            pxb_module *m;
            pxb_kernel *k;
            pxb_address a;
            uint32_t n = 256;
            std::vector<uint32_t> v(256, (uint32_t)t);
            if (pxb_context_create(&c))
                return;
            pxb_launch_options o = PXB_LAUNCH_OPTIONS_INIT;
            o.grid[0] = 4;
            o.block[0] = 64;
            const void *params[] = {&a, &n};
            bool ok = !pxb_device_open(c, nullptr, &d) &&
                      !pxb_module_load_text(c, module_text, strlen(module_text), "t", &m) &&
                      !pxb_kernel_get(d, m, "add_one", &k) && !pxb_memory_alloc(d, 1024, &a) &&
                      !pxb_memory_write(d, a, v.data(), 1024);
            for (int i = 0; ok && i < 20; i++)
                ok = !pxb_launch(k, &o, params, 2);
            ok = ok && !pxb_memory_read(d, v.data(), a, 1024);
            good[t] = ok && std::all_of(v.begin(), v.end(), [t](uint32_t x) { return x == t + 20; });
            pxb_context_destroy(c);
        });
    }
    for (auto &t : threads)
        t.join();
    EXPECT_EQ(good, std::vector<int>({1, 1, 1, 1}));
}

TEST_F(Api, Images)
{
    pxb_image_desc desc = {2, 5, 3, 1, 2, PXB_TEXEL_U16};
    pxb_image *image, *none;
    pxb_sampler sampler = {
        {PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP, PXB_ADDRESS_CLAMP}, PXB_FILTER_POINT, PXB_READ_ELEMENT, false};
    pxb_handle t, s;
    ASSERT_EQ(pxb_image_create(dev, &desc, &image), PXB_OK) << error();
    EXPECT_EQ(pxb_image_bytes(image), 60u);
    std::vector<uint16_t> in(30), out(30, 1);
    ASSERT_EQ(pxb_image_read(image, out.data(), 60), PXB_OK);
    EXPECT_EQ(in, out); // a new image is zero
    for (uint16_t i = 0; i < 30; i++)
        in[i] = i;
    ASSERT_EQ(pxb_image_write(image, in.data(), 60), PXB_OK);
    ASSERT_EQ(pxb_image_read(image, out.data(), 60), PXB_OK);
    EXPECT_EQ(in, out);
    EXPECT_EQ(pxb_image_write(image, in.data(), 59), PXB_BAD_ARGUMENT);
    ASSERT_EQ(pxb_texture_create(image, &sampler, &t), PXB_OK) << error();
    ASSERT_EQ(pxb_surface_create(image, &s), PXB_OK) << error();
    EXPECT_NE(t, s);
    EXPECT_EQ(pxb_handle_destroy(image, t), PXB_OK);
    EXPECT_EQ(pxb_handle_destroy(image, t), PXB_NOT_FOUND);
    EXPECT_EQ(pxb_handle_destroy(image, 0), PXB_OK);
    for (auto change :
         std::vector<void (*)(pxb_sampler &)>{[](pxb_sampler &x) { x.address[1] = PXB_ADDRESS_WRAP; },
                                              [](pxb_sampler &x) { x.filter = PXB_FILTER_LINEAR; },
                                              [](pxb_sampler &x) { x.filter = (pxb_filter)7; },
                                              [](pxb_sampler &x) { x.read = (pxb_read_mode)7; },
                                              [](pxb_sampler &x) { x.address[0] = (pxb_address_mode)9; }}) {
        pxb_sampler bad = sampler;
        change(bad);
        EXPECT_EQ(pxb_texture_create(image, &bad, &t), PXB_BAD_ARGUMENT);
        EXPECT_EQ(t, 0u);
    }
    for (auto change : std::vector<void (*)(pxb_image_desc &)>{
             [](pxb_image_desc &x) { x.dims = 0; }, [](pxb_image_desc &x) { x.dims = 4; },
             [](pxb_image_desc &x) { x.channels = 3; }, [](pxb_image_desc &x) { x.width = 0; },
             [](pxb_image_desc &x) { x.depth = 2; }, [](pxb_image_desc &x) { x.texel = (pxb_texel)77; },
             [](pxb_image_desc &x) { x.width = 0xffffffff; }, [](pxb_image_desc &x) { x.dims = 1; }}) {
        pxb_image_desc bad = desc;
        change(bad);
        EXPECT_EQ(pxb_image_create(dev, &bad, &none), PXB_BAD_ARGUMENT);
        EXPECT_EQ(none, nullptr);
    }
    pxb_image_desc huge = {3, 1 << 26, 1 << 26, 1 << 26, 4, PXB_TEXEL_F32};
    EXPECT_NE(pxb_image_create(dev, &huge, &none), PXB_OK);
}

TEST_F(Api, TranslateArguments)
{
    pxb_translate_options o = PXB_TRANSLATE_OPTIONS_INIT;
    pxb_blob blob;
    EXPECT_NE(pxb_translate(mod, &o, &blob), PXB_OK); // no target
    o.target = "gfx1";
    EXPECT_EQ(pxb_translate(mod, &o, &blob), PXB_UNSUPPORTED);
    EXPECT_EQ(blob.data, nullptr);
    if (!pxb_translate_target(0))
        GTEST_SKIP() << "built without the translator";
    setenv("PTXBRIDGE_CACHE", "0", 1);
    o.target = pxb_translate_target(0);
    o.emit = PXB_EMIT_LLVM;
    o.entry = "nothing";
    EXPECT_EQ(pxb_translate(mod, &o, &blob), PXB_NOT_FOUND);
    o.entry = "broken";
    EXPECT_NE(pxb_translate(mod, &o, &blob), PXB_OK);
    EXPECT_NE(error().find("frobnicate"), std::string::npos) << error();
    o.entry = nullptr;
    ASSERT_EQ(pxb_translate(mod, &o, &blob), PXB_OK) << error();
    ASSERT_NE(blob.left_out, nullptr);
    EXPECT_NE(std::string(blob.left_out).find("entry \"broken\" is left out: 'frobnicate"), std::string::npos) << blob.left_out;
    pxb_blob_free(&blob);
    o.emit = (pxb_emit)4;
    EXPECT_EQ(pxb_translate(mod, &o, &blob), PXB_BAD_ARGUMENT);
    o.emit = PXB_EMIT_LLVM;
    char notes[64];
    EXPECT_EQ(pxb_translate_mma_notes(mod, "gfx1", notes, sizeof notes), PXB_UNSUPPORTED);
    const std::string lost = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry only() { frobnicate; }\n";
    pxb_module *bad;
    ASSERT_EQ(pxb_module_load_text(ctx, lost.data(), lost.size(), "lost.ptx", &bad), PXB_OK);
    EXPECT_EQ(pxb_translate(bad, &o, &blob), PXB_BAD_INPUT); // nothing would be left
    EXPECT_EQ(error().find("lost.ptx:4:26: error: 'frobnicate'"), 0u) << error();
    o.entry = "add_one";
    ASSERT_EQ(pxb_translate(mod, &o, &blob), PXB_OK) << error();
    std::string first((char *)blob.data, blob.bytes);
    EXPECT_NE(first.find("add_one"), std::string::npos);
    pxb_blob_free(&blob);
    EXPECT_EQ(blob.data, nullptr);
    ASSERT_EQ(pxb_translate(mod, &o, &blob), PXB_OK);
    EXPECT_EQ(first, std::string((char *)blob.data, blob.bytes)); // deterministic
    pxb_blob_free(&blob);
    unsetenv("PTXBRIDGE_CACHE");
}

TEST_F(Api, TranslationsAreCached)
{
    if (!pxb_translate_target(0))
        GTEST_SKIP() << "built without the translator";
    char home[] = "/tmp/ptxbridge_api_XXXXXX";
    setenv("XDG_CACHE_HOME", mkdtemp(home), 1);
    pxb_translate_options o = PXB_TRANSLATE_OPTIONS_INIT;
    o.target = pxb_translate_target(0);
    o.entry = "bump";
    o.emit = PXB_EMIT_ASM;
    pxb_blob first, second;
    uint64_t entries = 0;
    ASSERT_EQ(pxb_translate(mod, &o, &first), PXB_OK) << error();
    EXPECT_FALSE(first.from_cache);
    ASSERT_EQ(pxb_translate(mod, &o, &second), PXB_OK);
    EXPECT_TRUE(second.from_cache);
    ASSERT_EQ(first.bytes, second.bytes);
    EXPECT_EQ(memcmp(first.data, second.data, first.bytes), 0);
    pxb_blob_free(&second);
    o.mma_model = PXB_MMA_HOPPER; // another key
    ASSERT_EQ(pxb_translate(mod, &o, &second), PXB_OK);
    EXPECT_FALSE(second.from_cache);
    EXPECT_EQ(pxb_cache_list(ctx, nullptr, nullptr, &entries, nullptr), PXB_OK);
    EXPECT_EQ(entries, 2u);
    EXPECT_EQ(pxb_cache_clear(ctx, nullptr), PXB_OK);
    pxb_blob_free(&first);
    pxb_blob_free(&second);
    ASSERT_EQ(system((std::string("rm -rf ") + home).c_str()), 0);
}

} // namespace
