// translator_test.cc - every kernel of the corpus becomes verified IR and an object for two kinds of AMD GPU.
//
// xl_translate verifies the module itself; these tests check that it works for every file, that output is
// deterministic, that the object holds the kernel with the argument layout of the PTX, and that errors are errors.
#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>
extern "C" {
#include "ptx/module.h"
#include "translator/translator.h"
void LLVMParseCommandLineOptions(int count, const char *const *words, const char *overview);   // llvm-c/Support.h
}

namespace fs = std::filesystem;

static std::string read(const fs::path &path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream s;
    s << in.rdbuf();
    return s.str();
}

struct Module {
    ptx_module *m;
    explicit Module(const std::string &text, const char *name = "test.ptx") { m = ptx_parse(text.data(), text.size(), name); }
    ~Module() { ptx_module_free(m); }
};

struct Output {
    xl_result r{};
    bool ok;
    Output(const ptx_module *m, const char *target, xl_emit emit, const char *entry = nullptr, bool unoptimised = false,
           bool trace = false)
    {
        xl_options o{};
        o.trace = trace;
        o.target = target;
        o.emit = emit;
        o.entry = entry;
        o.unoptimised = unoptimised;
        ok = xl_translate(m, &o, &r);
    }
    ~Output() { free(r.data); }
    std::string text() const { return std::string(r.data ? r.data : "", r.size); }
    Output(const Output &) = delete;
};

static std::vector<std::string> corpus()
{
    std::vector<std::string> files;
    for (const char *folder : {"/ptx_corpus/kernels", "/ptx_corpus/dec2"})
        if (fs::exists(std::string(PTXB_SOURCE_DIR) + folder))
            for (const auto &e : fs::directory_iterator(std::string(PTXB_SOURCE_DIR) + folder))
                if (e.path().extension() == ".ptx") files.push_back(e.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

class Corpus : public testing::TestWithParam<std::tuple<std::string, const char *>> {};

TEST_P(Corpus, BecomesAnObject)
{
    const auto &[file, target] = GetParam();
    std::string text = read(file);
    Module module(text, file.c_str());
    ASSERT_EQ(module.m->nerrors, 0u) << (module.m->ndiagnostics ? module.m->diagnostics[0].message : "");
    Output object(module.m, target, XL_EMIT_OBJECT);
    ASSERT_TRUE(object.ok) << file << ":" << object.r.at.line << ": " << object.r.message;
    EXPECT_EQ(memcmp(object.r.data, "\177ELF", 4), 0);
    std::string bytes = object.text();
    for (uint32_t i = 0; i < module.m->nfunctions; i++)
        if (module.m->functions[i]->is_entry) {
            std::string descriptor = std::string(module.m->functions[i]->name) + ".kd";     // kernel descriptor's symbol
            EXPECT_NE(bytes.find(descriptor), std::string::npos) << descriptor;
        }
}

static std::string name_of(const testing::TestParamInfo<Corpus::ParamType> &info)
{
    std::string s = fs::path(std::get<0>(info.param)).stem().string() + "_" + std::get<1>(info.param);
    for (char &c : s)
        if (!isalnum((unsigned char)c)) c = '_';
    return s;
}
INSTANTIATE_TEST_SUITE_P(AllKernels, Corpus, testing::Combine(testing::ValuesIn(corpus()), testing::Values("gfx1030")), name_of);   // gfx1100, gfx1201 and gfx942 are executed: hip.cmake

static const char *const small = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u8 flag, .param .align 16 .b8 block[32])
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [block+4];
    mov.u32 %r2, %tid.x;
    add.s32 %r3, %r1, %r2;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r3;
    ret;
}
)";

TEST(Translator, KernelArgumentsLieAsPtxLaysOutParam)
{
    Module module(small);
    Output ir(module.m, "gfx1100", XL_EMIT_LLVM);
    ASSERT_TRUE(ir.ok) << ir.r.message;
    // u64 at 0, u8 at 8, the block at 16 to 48: one by-reference argument of 48 bytes, the word at 20 read.
    EXPECT_NE(ir.text().find("byref([48 x i8]) align 16"), std::string::npos) << ir.text();
    EXPECT_NE(ir.text().find("i64 20"), std::string::npos) << ir.text();
    EXPECT_EQ(ir.text().find("alloca"), std::string::npos) << "a register was left in memory\n" << ir.text();
}

// Code object version 5: block counts are u32 at 0, 4, 8 of the hidden arguments, block sizes u16 at 12, 14, 16.
TEST(Translator, LaunchSizesComeFromTheirHiddenArguments)
{
    struct { const char *name; int offset; const char *load; } cases[] = {
        {"%ntid.x", 12, "load i16"}, {"%ntid.y", 14, "load i16"}, {"%ntid.z", 16, "load i16"},
        {"%nctaid.y", 4, "load i32"}, {"%nctaid.z", 8, "load i32"}, {"%dynamic_smem_size", 120, "load i32"},
    };
    for (const auto &c : cases) {
        std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n .reg .b64 %rd<2>;\n"
                           " .reg .b32 %r<2>;\n ld.param.u64 %rd1, [p];\n mov.u32 %r1, " + std::string(c.name) +
                           ";\n st.global.u32 [%rd1], %r1;\n ret;\n}\n";
        Module module(text);
        Output ir(module.m, "gfx1100", XL_EMIT_LLVM);
        ASSERT_TRUE(ir.ok) << c.name << ": " << ir.r.message;
        std::string out = ir.text();
        EXPECT_NE(out.find("i64 " + std::to_string(c.offset) + "\n"), std::string::npos) << c.name << "\n" << out;
        EXPECT_NE(out.find(c.load), std::string::npos) << c.name << "\n" << out;
    }
}

// The cycle counter of gfx11 has 20 bits: a kernel that waits for more would wait for ever.
TEST(Translator, CyclesHaveManyBits)
{
    Module module(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n .reg .b64 %rd<3>;\n"
                  " ld.param.u64 %rd1, [p];\n mov.u64 %rd2, %clock64;\n st.global.u64 [%rd1], %rd2;\n ret;\n}\n");
    struct { const char *target, *reads; } cases[] = {
        {"gfx942", "s_memtime"}, {"gfx1030", "s_memtime"}, {"gfx1100", "MSG_RTN_GET_REALTIME"}, {"gfx1151", "MSG_RTN_GET_REALTIME"},
        {"gfx1201", "HW_REG_SHADER_CYCLES_HI"},
    };
    for (const auto &c : cases) {
        Output assembly(module.m, c.target, XL_EMIT_ASM);
        ASSERT_TRUE(assembly.ok) << assembly.r.message;
        EXPECT_NE(assembly.text().find(c.reads), std::string::npos) << c.target << "\n" << assembly.text();
    }
}

TEST(Translator, AtomicsKeepPtxsRounding)
{
    auto ir_of = [](const char *space) {
        std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 s[4];\n.visible .entry k(.param .u64 p)\n{\n"
                           " .reg .b64 %rd<2>;\n .reg .f32 %f<2>;\n ld.param.u64 %rd1, [p];\n atom." + std::string(space) +
                           ".add.f32 %f1, [" + (std::string(space) == "shared" ? "s" : "%rd1") + "], 0f3F800000;\n st.global.f32 [%rd1], %f1;\n ret;\n}\n";
        Module module(text);
        Output ir(module.m, "gfx1100", XL_EMIT_LLVM, nullptr, true);
        EXPECT_TRUE(ir.ok) << ir.r.message;
        return ir.text();
    };
    // PTX ISA, "atom": f32 add flushes subnormals in global memory and keeps them in shared memory.
    EXPECT_NE(ir_of("global").find("@pxl_add_rn_ftz_f32("), std::string::npos);
    EXPECT_EQ(ir_of("shared").find("@pxl_add_rn_ftz_f32("), std::string::npos);
    EXPECT_NE(ir_of("shared").find("@pxl_add_rn_f32("), std::string::npos);
}

// A zero for a register that nothing reads unwritten makes LLVM's promotion quadratic: minutes, for the records of a long kernel.
TEST(Translator, RegistersAreClearedOnlyWhereTheyMayBeReadUnwritten)
{
    const char *text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b16 %rs<5>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u16 %rs1, [%rd1];
    setp.lt.u16 %p1, %rs1, 7;
    @%p1 bra LOW;
    add.u16 %rs2, %rs1, 1;
    st.global.u16 [%rd1], %rs2;
    ret;
LOW:
    sub.u16 %rs2, %rs1, 1;
    @%p1 mul.lo.u16 %rs3, %rs2, %rs2;
    @%p1 mul.lo.u16 %rs4, %rs2, 3;
    st.global.u16 [%rd1], %rs3;
    ret;
}
)";
    Module module(text);
    for (bool trace : {false, true}) {
        Output ir(module.m, "gfx1100", XL_EMIT_LLVM, nullptr, true, trace);
        ASSERT_TRUE(ir.ok) << ir.r.message;
        std::string out = ir.text();
        size_t cleared = 0;
        for (size_t at = 0; (at = out.find("store i16 0", at)) != std::string::npos; at++) cleared++;
        EXPECT_EQ(cleared, 1u) << "only %rs3 may be read unwritten\n" << out;
    }
}

// LLVM ends the process when it cannot go on; here that is an error like others. An unknown pass is such a thing, and an option can ask for it.
TEST(Translator, FatalErrorsOfLlvmAreErrors)
{
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "what LLVM was at is lost, which the address sanitizer takes for a leak";
#endif
    Module module(small);
    { Output first(module.m, "gfx1100", XL_EMIT_OBJECT); ASSERT_TRUE(first.ok); }
    const char *const wrong[] = {"test", "-stop-after=no-such-pass"}, *const none[] = {"test", "-stop-after="};
    LLVMParseCommandLineOptions(2, wrong, "");
    {
        Output broken(module.m, "gfx1100", XL_EMIT_OBJECT);
        EXPECT_FALSE(broken.ok);
        EXPECT_NE(std::string(broken.r.message).find("no-such-pass"), std::string::npos) << broken.r.message;
        EXPECT_EQ(broken.r.data, nullptr);
    }
    LLVMParseCommandLineOptions(2, none, "");
    Output again(module.m, "gfx1100", XL_EMIT_OBJECT);
    EXPECT_TRUE(again.ok) << again.r.message;
}

TEST(Translator, OutputIsDeterministic)
{
    Module module(small);
    for (const char *target : {"gfx1100", "gfx942"}) {
        Output a(module.m, target, XL_EMIT_OBJECT), b(module.m, target, XL_EMIT_OBJECT);
        ASSERT_TRUE(a.ok && b.ok);
        EXPECT_EQ(a.text(), b.text());
    }
}

TEST(Translator, EveryTargetMakesAnObject)
{
    Module module(small);
    for (const char *const *t = xl_targets(); *t; t++) {
        Output o(module.m, *t, XL_EMIT_OBJECT);
        EXPECT_TRUE(o.ok) << *t << ": " << o.r.message;
        Output text(module.m, *t, XL_EMIT_ASM);
        EXPECT_NE(text.text().find(std::string("amdgcn-amd-amdhsa--") + *t), std::string::npos) << *t;
    }
}

// A trap in the middle of a kernel makes LLVM for gfx1100 and gfx1101 leave what follows half selected, and end the process: .trap must not become one.
TEST(Translator, SurfaceAccessesAtKnownPlaces)
{
    Module module(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 s)
{
    .reg .b64 %d; .reg .b32 %v, %w;
    ld.param.u64 %d, [s];
    mov.u32 %v, 7;
    suld.b.2d.b32.trap %w, [%d, {0, 0}];
    sust.b.a2d.b32.trap [%d, {2, 4, 1, 1}], {%v};
    sust.b.2d.b32.trap [%d, {4, 1}], {%w};
    ret;
}
)");
    for (const char *const *t = xl_targets(); *t; t++) {
        Output o(module.m, *t, XL_EMIT_OBJECT);
        EXPECT_TRUE(o.ok) << *t << ": " << o.r.message;
    }
}

TEST(Translator, UnoptimisedIrCallsTheMeanings)
{
    Module module(small);
    Output ir(module.m, "gfx1100", XL_EMIT_LLVM, nullptr, true);
    ASSERT_TRUE(ir.ok) << ir.r.message;
    EXPECT_NE(ir.text().find("@pxl_add_s32"), std::string::npos);
}

TEST(Translator, UnknownTargetAndEntryAreErrors)
{
    Module module(small);
    Output target(module.m, "gfx1", XL_EMIT_OBJECT);
    EXPECT_FALSE(target.ok);
    EXPECT_NE(strstr(target.r.message, "unknown target 'gfx1'"), nullptr) << target.r.message;
    Output entry(module.m, "gfx1100", XL_EMIT_OBJECT, "nobody");
    EXPECT_FALSE(entry.ok);
    EXPECT_NE(strstr(entry.r.message, "nobody"), nullptr);
}

TEST(Translator, ABrokenEntrySpoilsOnlyItself)
{
    std::string text = small;
    text += ".visible .entry bad()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n";
    Module module(text);
    Output good(module.m, "gfx1100", XL_EMIT_OBJECT);
    EXPECT_TRUE(good.ok) << good.r.message;
    Output bad(module.m, "gfx1100", XL_EMIT_OBJECT, "bad");
    EXPECT_FALSE(bad.ok);
    EXPECT_EQ(bad.r.at.line, 19u) << bad.r.message;
    EXPECT_NE(strstr(bad.r.message, "frobnicate"), nullptr) << bad.r.message;
}

// Lanes that wait for each other need the dispatcher, and nothing else may pay for it.
TEST(Translator, OnlyKernelsWhoseLanesWaitGetADispatcher)
{
    struct { const char *kernel; bool wave32, wave64; } cases[] = {
        {"saxpy", false, false}, {"reduce_block", false, false}, {"histogram", false, false}, {"attention", false, false},
        {"div_ret_barrier", false, false}, {"div_barrier_loop", false, false}, {"coop_tiles", false, false}, {"barrier_red", false, false},
        {"div_lane_lock", true, true}, {"div_lock_loop", true, true}, {"div_mask_loop", true, true}, {"div_barrier_arms", true, true}, {"div_spin_shared", true, true},
        {"named_barrier", false, true},
    };
    for (const auto &c : cases) {
        std::string file = std::string(PTXB_SOURCE_DIR) + "/ptx_corpus/kernels/" + c.kernel + ".ptx";
        Module module(read(file), file.c_str());
        for (const char *target : {"gfx1100", "gfx942"}) {
            Output ir(module.m, target, XL_EMIT_LLVM, nullptr, true);
            ASSERT_TRUE(ir.ok) << c.kernel << ": " << ir.r.message;
            bool has = ir.text().find("\ndispatch:") != std::string::npos;
            EXPECT_EQ(has, strcmp(target, "gfx942") ? c.wave32 : c.wave64) << c.kernel << " for " << target;
        }
    }
}

TEST(Translator, ACodeObjectIsLinked)
{
    Module module(small);
    for (const char *const *t = xl_targets(); *t; t++) {
        Output first(module.m, *t, XL_EMIT_HSACO), second(module.m, *t, XL_EMIT_HSACO);
        ASSERT_TRUE(first.ok) << *t << ": " << first.r.message;
        ASSERT_GT(first.r.size, 64u);
        EXPECT_EQ(first.r.data[7], 64) << "OS/ABI is AMDGPU HSA";
        EXPECT_EQ(first.r.data[8], 3) << "ABI version of code object version 5";
        EXPECT_EQ(first.r.data[16], 3) << "a shared object";
        EXPECT_EQ(first.text(), second.text()) << *t;
    }
}

TEST(Translator, WithoutALinkerItSaysSo)
{
    Module module(small);
    setenv("PTXBRIDGE_LLD", "/nonexistent/ld.lld", 1);
    Output none(module.m, "gfx1201", XL_EMIT_HSACO);
    setenv("PTXBRIDGE_LLD", "/bin/false", 1);
    Output fails(module.m, "gfx1201", XL_EMIT_HSACO);
    unsetenv("PTXBRIDGE_LLD");
    if (!none.ok) {                                          // a comgr that knows the target may be there
        EXPECT_NE(std::string(none.r.message).find("ld.lld"), std::string::npos) << none.r.message;
        EXPECT_NE(std::string(none.r.message).find("libamd_comgr"), std::string::npos) << none.r.message;
    }
    if (!none.ok) { EXPECT_NE(std::string(none.r.message).find("PTXBRIDGE_LLD"), std::string::npos) << none.r.message; }
    ASSERT_FALSE(fails.ok);
    EXPECT_NE(std::string(fails.r.message).find("PTXBRIDGE_LLD"), std::string::npos) << fails.r.message;
    EXPECT_NE(std::string(fails.r.message).find("/bin/false (named by PTXBRIDGE_LLD) failed"), std::string::npos) << fails.r.message;
}

// A device's form of code: addresses of variables come from a table, and no variable is a symbol.
TEST(Translator, VariablesOfTheHost)
{
    Module module(".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .u32 a = 1;\n.global .align 4 .u32 b;\n"
                  ".visible .entry k()\n{\n .reg .b32 %r<2>;\n ld.const.u32 %r1, [a];\n st.global.u32 [b], %r1;\n ret;\n}\n");
    xl_options o{};
    o.target = "gfx1100";
    o.emit = XL_EMIT_LLVM;
    o.host_variables = true;
    xl_result r{};
    ASSERT_TRUE(xl_translate(module.m, &o, &r)) << r.message;
    std::string text(r.data, r.size);
    free(r.data);
    EXPECT_NE(text.find("@pxb_variables"), std::string::npos) << text;
    EXPECT_EQ(text.find("@a "), std::string::npos) << text;
    EXPECT_NE(text.find("!invariant.load"), std::string::npos) << text;
    EXPECT_EQ(xl_variable_slots(module.m), 2u);
    EXPECT_EQ(xl_variable_slot(module.m, ptx_find_variable(module.m, "b")), 1u);
}
