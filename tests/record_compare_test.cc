// record_compare_test.cc - records of results, comparisons, and the search for the first instruction that differs.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "runtime/comparison.h"
#include "runtime/trace_walk.h"
#if PTXBRIDGE_LLVM
extern const char *xl_planted_fault;   // translator/emit.h
#endif
}

namespace
{

// Loops, branches, guards, a call, a barrier reduction, shared memory and 64-bit values; line 20 is the xor.
const char kernel_text[] = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 calls;
.func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %a<3>;
    ld.param.b32 %a1, [x];
    add.s32 %a2, %a1, %a1;
    st.param.b32 [r], %a2;
    ret;
}
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .b16 %h<3>;
    .shared .align 4 .b8 box[256];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    xor.b32 %r3, %r2, 5;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.s32 %r6, %r4, %r5, %r2;
    mov.u32 %r7, 0;
again:
    add.s32 %r3, %r3, %r7;
    add.s32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r1;
    @%p1 bra again;
    setp.gt.u32 %p2, %r2, 7;
    @%p2 add.s32 %r3, %r3, 1000;
    @!%p2 mul.lo.s32 %r3, %r3, 3;
    mov.u32 %r8, box;
    shl.b32 %r9, %r2, 2;
    add.s32 %r10, %r8, %r9;
    st.shared.u32 [%r10], %r3;
    bar.red.popc.u32 %r11, 0, %p2;
    ld.shared.u32 %r12, [%r10];
    {
        .param .b32 x0; .param .b32 r0;
        st.param.b32 [x0], %r12;
        call.uni (r0), twice, (x0);
        ld.param.b32 %r13, [r0];
    }
    add.s32 %r13, %r13, %r11;
    cvt.u16.u32 %h1, %r13;
    cvt.u32.u16 %r14, %h1;
    mul.wide.u32 %rd2, %r6, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r14;
    setp.eq.u32 %p3, %r6, 0;
    @%p3 st.global.u32 [calls], %r13;
    ret;
}
)";

const char case_text[] = R"({"ptxbridge_case": 1, "ptx": "k.ptx", "entry": "k", "grid": [3], "block": [40],
 "buffers": {"out": {"zeros": {"dtype": "u32", "shape": [12, 10]}}, "idle": {"values": {"dtype": "f32", "data": [1, 2]}}},
 "params": [{"buffer": "out"}, {"u32": 4}]})";

class Compare : public ::testing::Test
{
  protected:
    pxb_context *ctx = nullptr;
    std::string folder;
    std::vector<case_file *> files;
    std::vector<std::unique_ptr<rt_record, void (*)(rt_record *)>> records;

    void SetUp() override
    {
        setenv("PTXBRIDGE_CACHE", "0", 1);   // planted code must not outlive its test
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        char name[] = "/tmp/ptxbridge_compare_XXXXXX";
        folder = mkdtemp(name);
        write("k.ptx", kernel_text);
        write("k.json", case_text);
    }
    void TearDown() override
    {
        records.clear();
        for (case_file *f : files)
            case_free(f);
        pxb_context_destroy(ctx);
        ASSERT_EQ(system(("rm -rf " + folder).c_str()), 0);
    }
    std::string path(const std::string &name) const { return folder + "/" + name; }
    std::string error() const { return pxb_last_error(ctx)->message; }
    void write(const std::string &name, const std::string &text) const
    {
        std::ofstream(path(name), std::ios::binary) << text;
    }
    std::string read(const std::string &name) const
    {
        std::ifstream in(path(name), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    const case_file *open(const std::string &file)
    {
        case_file *f = nullptr;
        EXPECT_EQ(case_read(ctx, file.c_str(), &f), PXB_OK) << error();
        files.push_back(f);
        return f;
    }
    rt_record *record()
    {
        records.emplace_back(new rt_record(), [](rt_record *r) { rt_record_free(r); delete r; });
        return records.back().get();
    }
    // A record lives as long as the test; one for each run, since a record's cases move when it grows.
    const rt_record_case *run(const std::string &file, const case_file *f, const char *device = "cpu",
                              pxb_mma_model model = PXB_MMA_ADA)
    {
        const rt_record_case *c = nullptr;
        case_options o = {};
        o.device = device;
        o.has_model = true;
        o.model = model;
        o.repeat = 1;
        EXPECT_EQ(rt_record_run(ctx, record(), file.c_str(), f, &o, &c), PXB_OK) << error();
        return c;
    }
};

// A finding with what it points into.
struct Trace {
    std::unique_ptr<rt_finding> f{new rt_finding()};
    rt_trace_keep *keep = nullptr;
    pxb_status status;
    Trace(pxb_context *ctx, const case_file *file, const char *a, const char *b, pxb_mma_model ma = PXB_MMA_ADA,
          pxb_mma_model mb = PXB_MMA_ADA, rt_trace_options options = {})
    {
        rt_trace_side sides[2] = {{a, true, ma, false}, {b, true, mb, false}};
        status = rt_trace_case(ctx, file, sides, &options, f.get(), &keep);
    }
    Trace(const Trace &) = delete;
    ~Trace() { rt_trace_keep_free(keep); }
    std::string insn() const
    {
        char text[512] = "";
        if (f->insn[0])
            ptx_format_insn(rt_trace_module(keep), f->insn[0], text, sizeof text);
        return text;
    }
};

std::string value(const rt_trace_value &v, int side)
{
    char text[128];
    return rt_trace_text(&v, side, text, sizeof text);
}

// ---------------------------------------------------------------- digests

TEST_F(Compare, DigestIsSha256)
{
    char text[RT_DIGEST_TEXT];
    ASSERT_EQ(rt_digest_of(ctx, "abc", 3, text), PXB_OK);   // FIPS 180-4's example
    EXPECT_STREQ(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(Compare, DigestOfInputsSeesEveryPart)
{
    std::vector<std::string> texts = {case_text};
    const std::pair<const char *, const char *> changes[] = {
        {"[3]", "[4]"}, {"[40]", "[41]"}, {"\"u32\": 4", "\"u32\": 5"}, {"[40]", "[40], \"cooperative\": true"}, {"[1, 2]", "[1, 3]"}, {"\"f32\"", "\"u32\""},
        {"[12, 10]", "[10, 12]"}, {"{\"buffer\": \"out\"}", "{\"buffer\": \"idle\"}"},
        {"{\"buffer\": \"out\"}", "{\"global\": \"out\"}"}, {"{\"buffer\": \"out\"}", "{\"global\": \"out\", \"offset\": 4}"},
        {"[12, 10]}", "[12, 10]}, \"pointers\": [{\"offset\": 8, \"buffer\": \"idle\"}]"},
        {"[12, 10]}", "[12, 10]}, \"pointers\": [{\"offset\": 8, \"buffer\": \"idle\", \"buffer_offset\": 4}]"},
        {"[12, 10]}", "[12, 10]}, \"pointers\": [{\"offset\": 8, \"function\": \"idle\"}]"}, {"[12, 10]}", "[12, 10]}, \"heap\": true"}};
    const char *const textures[] = {
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]})", R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "kind": "cube")",
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "kind": "2d_layered")",
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "read": "normalized_float")",
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "read": "normalized_float", "srgb": true)",
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "border": [0, 0, 1, 0])",
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "mipmap_filter": "linear")", R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "lod_bias": 1)",
        R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "min_lod": 1)", R"("zeros": {"dtype": "u8", "shape": [6, 4, 4, 1]}, "max_lod": 1)",
        R"("zeros": {"dtype": "u8", "shape": [21, 1]}, "shape": [4, 4, 1], "levels": 3)",
        R"("zeros": {"dtype": "u8", "shape": [20, 1]}, "shape": [4, 4, 1], "levels": 2)", R"("image": "s")", R"("image": "s2")",
        R"("image": "s", "first_layer": 1)", R"("image": "s", "last_layer": 1)", R"("image": "s", "first_level": 1)", R"("image": "s", "last_level": 1)",
        R"("image": "s", "format": "s8")", R"("image": "s", "channels": 2)", R"("buffer": "idle", "format": "u8", "shape": [4, 1])",
        R"("buffer": "idle", "format": "u8", "shape": [2, 2, 1])", R"("buffer": "idle", "format": "s8", "shape": [4, 1])",
        R"("buffer": "idle", "format": "u8", "shape": [4, 1], "buffer_offset": 4)", R"("buffer": "idle", "format": "u8", "shape": [4, 1], "pitch": 8)"};
    for (const char *t : textures)
        texts.push_back("{\"surfaces\": {\"s\": {\"zeros\": {\"dtype\": \"u8\", \"shape\": [4, 1]}}, \"s2\": {\"zeros\": {\"dtype\": \"u8\", \"shape\": [4, 1]}}}, "
                        "\"textures\": {\"t\": {" + std::string(t) + "}}, " + std::string(strchr(case_text, '{') + 1));
    for (auto &c : changes) {
        std::string s = case_text;
        s.replace(s.find(c.first), strlen(c.first), c.second);
        texts.push_back(s);
    }
    std::vector<std::string> digests;
    for (auto &t : texts) {
        char digest[RT_DIGEST_TEXT];
        write("x.json", t);
        ASSERT_EQ(rt_digest_inputs(ctx, open(path("x.json")), digest), PXB_OK) << error();
        for (auto &d : digests)
            EXPECT_NE(d, digest) << t;
        digests.push_back(digest);
    }
}

// ---------------------------------------------------------------- records

TEST_F(Compare, RecordComesBackFromItsFile)
{
    const case_file *f = open(path("k.json"));
    rt_record *r = record();
    const rt_record_case *c;
    case_options o = {};
    o.repeat = 1;
    ASSERT_EQ(rt_record_run(ctx, r, "a/k.json", f, &o, &c), PXB_OK) << error();
    ASSERT_EQ(rt_record_write(ctx, path("r.npz").c_str(), r), PXB_OK) << error();
    rt_record *back = record();
    ASSERT_EQ(rt_record_read(ctx, path("r.npz").c_str(), back), PXB_OK) << error();
    ASSERT_EQ(back->ncases, 1u);
    const rt_record_case &a = r->cases[0], &b = back->cases[0];
    EXPECT_STREQ(b.name, "k");
    EXPECT_STREQ(b.device, "cpu");
    EXPECT_STREQ(b.entries, "k");
    EXPECT_STREQ(b.ptx, "k.ptx");
    EXPECT_STREQ(a.inputs_sha256, b.inputs_sha256);
    EXPECT_STREQ(a.ptx_sha256, b.ptx_sha256);
    EXPECT_STREQ(a.date, b.date);
    EXPECT_EQ(b.model, PXB_MMA_ADA);
    EXPECT_EQ(b.state, RT_RECORD_DONE);
    EXPECT_EQ(a.nproperties, b.nproperties);
    ASSERT_EQ(b.noutputs, 3u);   // out, idle, and the variable that changed
    for (uint32_t i = 0; i < 3; i++) {
        const rt_record_output &x = a.outputs[i], &y = b.outputs[i];
        EXPECT_STREQ(x.name, y.name);
        EXPECT_STREQ(x.sha256, y.sha256);
        EXPECT_EQ(y.has_data, std::string(y.name) != "idle");
        if (y.has_data) {
            EXPECT_EQ(memcmp(x.array.data, y.array.data, x.array.bytes), 0);
        }
    }
}

TEST_F(Compare, SameCaseDeviceAndModelAreReplaced)
{
    const case_file *f = open(path("k.json"));
    rt_record *r = record();
    const rt_record_case *c;
    case_options o = {};
    o.repeat = 1;
    ASSERT_EQ(rt_record_run(ctx, r, "k.json", f, &o, &c), PXB_OK);
    ASSERT_EQ(rt_record_run(ctx, r, "k.json", f, &o, &c), PXB_OK);
    EXPECT_EQ(r->ncases, 1u);
    o.has_model = true;
    o.model = PXB_MMA_IEEE;
    ASSERT_EQ(rt_record_run(ctx, r, "k.json", f, &o, &c), PXB_OK);
    EXPECT_EQ(r->ncases, 2u);
    EXPECT_EQ(rt_record_find(r, "k", nullptr, &c), 2u);
    EXPECT_EQ(rt_record_find(r, "k", "hip", &c), 0u);
}

TEST_F(Compare, WhatCannotRunIsRecordedWithItsReason)
{
    write("bad.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; ret; }\n");
    write("bad.json", R"({"ptxbridge_case": 1, "ptx": "bad.ptx", "entry": "k", "grid": [1], "block": [1]})");
    const rt_record_case *c = run("bad.json", open(path("bad.json")));
    EXPECT_EQ(c->state, RT_RECORD_ERROR);
    EXPECT_NE(std::string(c->fault_text).find("frobnicate"), std::string::npos) << c->fault_text;
    write("trap.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { trap; ret; }\n");
    write("trap.json", R"({"ptxbridge_case": 1, "ptx": "trap.ptx", "entry": "k", "grid": [1], "block": [1]})");
    rt_record *r = record();
    case_options o = {};
    o.repeat = 1;
    ASSERT_EQ(rt_record_run(ctx, r, "trap.json", open(path("trap.json")), &o, &c), PXB_OK);
    EXPECT_EQ(c->state, RT_RECORD_FAULT);
    EXPECT_EQ(c->status, PXB_FAULT_TRAP);
    ASSERT_EQ(rt_record_write(ctx, path("r.npz").c_str(), r), PXB_OK);
    rt_record *back = record();
    ASSERT_EQ(rt_record_read(ctx, path("r.npz").c_str(), back), PXB_OK) << error();
    EXPECT_EQ(back->cases[0].status, PXB_FAULT_TRAP);
}

TEST_F(Compare, DamagedFilesAreErrors)
{
    rt_record *r = record();
    const rt_record_case *c;
    case_options o = {};
    o.repeat = 1;
    ASSERT_EQ(rt_record_run(ctx, r, "k.json", open(path("k.json")), &o, &c), PXB_OK);
    ASSERT_EQ(rt_record_write(ctx, path("r.npz").c_str(), r), PXB_OK);
    const std::string whole = read("r.npz");
    for (size_t i = 0; i < whole.size(); i += 1 + whole.size() / 400) {
        std::string cut = whole.substr(0, i), flipped = whole;
        flipped[i] = (char)(flipped[i] ^ (1 << i % 8));
        for (const std::string &text : {cut, flipped}) {
            rt_record back;
            write("d.npz", text);
            pxb_status status = rt_record_read(ctx, path("d.npz").c_str(), &back);
            EXPECT_TRUE(status || text != cut) << i;
            rt_record_free(&back);
        }
    }
}

// A file whose checksums are right and whose "meta" lies.
TEST_F(Compare, HostileMetaIsAnError)
{
    const std::string good = R"({"ptxbridge_record":1,"cases":[{"case":"k","entries":"k","ptx":"k.ptx","device":"cpu","date":"d",
        "ptxbridge":"0","mma_model":"ada","state":"done","run_ms":1,"outputs":[{"kind":"buffer","name":"out","dtype":"u8",
        "shape":[4],"changed":true,"sha256":"","member":"m"}],"not_read_back":[],"properties":{}}]})";
    const std::pair<const char *, const char *> changes[] = {
        {"\"ptxbridge_record\":1", "\"ptxbridge_record\":2"}, {"\"cases\":[", "\"cases\":7,\"x\":["}, {"\"case\":\"k\"", "\"case\":7"},
        {"\"ada\"", "\"adas\""}, {"\"done\"", "\"fault\""}, {"\"done\"", "\"gone\""}, {"\"run_ms\":1", "\"run_ms\":\"1\""},
        {"\"buffer\"", "\"texture\""}, {"\"u8\"", "\"u9\""}, {"[4]", "[5]"}, {"[4]", "[-4]"}, {"[4]", "[9223372036854775807,9223372036854775807]"},
        {"[4]", "[1,1,1,1,1,1,1,1,1]"}, {"\"changed\":true", "\"changed\":1"}, {"\"sha256\":\"\"", "\"sha256\":\"00\""},
        {"\"member\":\"m\"", "\"member\":\"n\""}, {"\"member\":\"m\"", "\"member\":\"meta\""}, {"\"member\":\"m\"", "\"member\":[]"},
        {"\"not_read_back\":[]", "\"not_read_back\":{}"}, {"\"properties\":{}", "\"properties\":[]"},
        {"\"properties\":{}", "\"properties\":{\"a\":1}"}, {"{\"ptxbridge_record\"", "{\"a\":1,\"a\":2,\"ptxbridge_record\""},
        {"\"entries\"", "\"entry\""}, {"}]}", "}]"}};
    unsigned char bytes[4] = {1, 2, 3, 4};
    auto attempt = [&](const std::string &meta) {
        rt_array m = {}, t = {};
        m.dtype = t.dtype = RT_U8;
        m.ndim = t.ndim = 1;
        m.shape[0] = m.count = m.bytes = meta.size();
        t.shape[0] = t.count = t.bytes = 4;
        m.data = const_cast<char *>(meta.data());
        t.data = bytes;
        const char *names[] = {"meta", "m"};
        const rt_array *arrays[] = {&m, &t};
        EXPECT_EQ(rt_npz_write(ctx, path("h.npz").c_str(), 2, names, arrays), PXB_OK);
        rt_record back;
        pxb_status status = rt_record_read(ctx, path("h.npz").c_str(), &back);
        rt_record_free(&back);
        return status;
    };
    char digest[RT_DIGEST_TEXT];
    rt_array t = {};
    t.dtype = RT_U8;
    t.ndim = 1;
    t.shape[0] = t.count = t.bytes = 4;
    t.data = bytes;
    ASSERT_EQ(rt_digest_array(ctx, &t, digest), PXB_OK);
    std::string right = good;
    right.replace(right.find("\"sha256\":\"\""), 11, std::string("\"sha256\":\"") + digest + "\"");
    EXPECT_EQ(attempt(right), PXB_OK) << error();
    EXPECT_EQ(attempt(good), PXB_BAD_INPUT) << "without its digest an array proves nothing";
    for (auto &c : changes) {
        std::string s = std::string(c.first) == "\"sha256\":\"\"" ? good : right;
        ASSERT_NE(s.find(c.first), std::string::npos) << c.first;
        s.replace(s.find(c.first), strlen(c.first), c.second);
        pxb_status status = attempt(s);
        EXPECT_TRUE(status == PXB_BAD_INPUT || status == PXB_NOT_FOUND) << c.second << ": " << status;
    }
    EXPECT_EQ(attempt("[]"), PXB_BAD_INPUT);
    EXPECT_EQ(attempt(""), PXB_BAD_INPUT);
    EXPECT_NE(attempt(std::string(100000, '[')), PXB_OK);
}

// Deflate makes a large array small, and outputs may share one: all of them together are bounded.
TEST_F(Compare, ManyOutputsOfOneLargeArrayAreAnError)
{
    std::vector<char> zeros(1 << 16);
    char digest[RT_DIGEST_TEXT];
    rt_array m = {}, t = {};
    m.dtype = t.dtype = RT_U8;
    m.ndim = t.ndim = 1;
    t.shape[0] = t.count = t.bytes = zeros.size();
    t.data = zeros.data();
    ASSERT_EQ(rt_digest_array(ctx, &t, digest), PXB_OK);
    ctx->array_limit = 100000;
    for (uint32_t n : {1u, 2u}) {
        std::string meta = R"({"ptxbridge_record":1,"cases":[{"case":"k","entries":"k","ptx":"k.ptx","device":"cpu","date":"d",
            "ptxbridge":"0","mma_model":"ada","state":"done","run_ms":1,"not_read_back":[],"properties":{},"outputs":[)";
        for (uint32_t i = 0; i < n; i++)
            meta += std::string(i ? "," : "") + R"({"kind":"buffer","name":"out","dtype":"u8","shape":[65536],"changed":true,"member":"m","sha256":")" +
                    digest + "\"}";
        meta += "]}]}";
        m.shape[0] = m.count = m.bytes = meta.size();
        m.data = meta.data();
        const char *names[] = {"meta", "m"};
        const rt_array *arrays[] = {&m, &t};
        ASSERT_EQ(rt_npz_write(ctx, path("h.npz").c_str(), 2, names, arrays), PXB_OK);
        rt_record back;
        EXPECT_EQ(rt_record_read(ctx, path("h.npz").c_str(), &back), n == 1 ? PXB_OK : PXB_BAD_INPUT) << error();
        if (n == 1) {
            EXPECT_EQ(rt_record_write(ctx, path("w.npz").c_str(), &back), PXB_OK) << error();
            ctx->array_limit = 60000;
            EXPECT_EQ(rt_record_write(ctx, path("w.npz").c_str(), &back), PXB_UNSUPPORTED) << "it could not be read";
            ctx->array_limit = 100000;
        }
        rt_record_free(&back);
    }
}

// ---------------------------------------------------------------- statistics

TEST_F(Compare, StatisticsOfDifferences)
{
    const uint32_t a[] = {0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0, 0x7fc00000, 0x3f800000, 0x7fc00000};
    const uint32_t b[] = {0x3f800000, 0x3f800001, 0x3f800003, 0x3f800008, 0x80000000, 0x3f800000, 0x3f800001, 0x7fc00001};
    rt_array x = {}, y = {};
    x.dtype = y.dtype = RT_F32;
    x.ndim = y.ndim = 1;
    x.shape[0] = x.count = y.shape[0] = y.count = 8;
    x.bytes = y.bytes = 32;
    x.data = const_cast<uint32_t *>(a);
    y.data = const_cast<uint32_t *>(b);
    rt_statistics s;
    rt_tolerance exact = {};
    ASSERT_EQ(rt_compare_statistics(ctx, &y, &x, RT_AS_DTYPE, &exact, &s), PXB_OK);
    EXPECT_EQ(s.difference.differing, 7u);
    EXPECT_EQ(s.difference.first, 1u);
    EXPECT_EQ(s.bits_only, 2u);       // -0 against 0, another NaN
    EXPECT_EQ(s.nan, 1u);
    EXPECT_EQ(s.bins[0], 2u);         // 1, 1
    EXPECT_EQ(s.bins[1], 1u);         // 3
    EXPECT_EQ(s.bins[3], 1u);         // 8
    EXPECT_EQ(s.nbins, 4u);
    EXPECT_EQ(s.median_ulp, 1u);      // 0 0 1 1 3 8 NaN
    EXPECT_EQ(s.difference.max_ulp, UINT64_MAX);
    EXPECT_TRUE(rt_is_nan_distance(&s.difference, s.difference.max_ulp));
}

// Integers can be as far apart as a NaN is from a number.
TEST_F(Compare, StatisticsOfIntegersFarApart)
{
    const uint64_t a[] = {0, 0, 5}, b[] = {UINT64_MAX, UINT64_MAX, 6};
    rt_array x = {}, y = {};
    x.dtype = y.dtype = RT_U64;
    x.ndim = y.ndim = 1;
    x.shape[0] = x.count = y.shape[0] = y.count = 3;
    x.bytes = y.bytes = 24;
    x.data = const_cast<uint64_t *>(a);
    y.data = const_cast<uint64_t *>(b);
    rt_statistics s;
    rt_tolerance exact = {};
    ASSERT_EQ(rt_compare_statistics(ctx, &y, &x, RT_AS_DTYPE, &exact, &s), PXB_OK);
    EXPECT_EQ(s.nan, 0u);
    EXPECT_EQ(s.bins[63], 2u);
    EXPECT_EQ(s.bins[0], 1u);
    EXPECT_EQ(s.nbins, 64u);
    EXPECT_EQ(s.median_ulp, UINT64_MAX);
    EXPECT_FALSE(rt_is_nan_distance(&s.difference, s.median_ulp));
}

// ---------------------------------------------------------------- comparisons

TEST_F(Compare, TwoRunsAreEqual)
{
    const case_file *f = open(path("k.json"));
    rt_comparison c;
    ASSERT_EQ(rt_compare_records(ctx, f, run("k.json", f), run("k.json", f), RT_EQUAL_BITS, 0, &c), PXB_OK) << error();
    EXPECT_TRUE(c.ran && c.comparable && c.equal);
    EXPECT_EQ(c.noutputs, 3u);
    rt_comparison_free(&c);
}

TEST_F(Compare, OtherInputsAreNotComparable)
{
    std::string other = case_text;
    other.replace(other.find("\"u32\": 4"), 8, "\"u32\": 5");
    write("other.json", other);
    const case_file *f = open(path("k.json"));
    rt_comparison c;
    ASSERT_EQ(rt_compare_records(ctx, f, run("k.json", f), run("k.json", open(path("other.json"))), RT_EQUAL_BITS, 0, &c), PXB_OK);
    EXPECT_TRUE(c.ran);
    EXPECT_FALSE(c.comparable);
    EXPECT_FALSE(c.equal);
    rt_comparison_free(&c);
}

TEST_F(Compare, AnotherPtxIsNotedAndItsDifferenceFound)
{
    const case_file *f = open(path("k.json"));
    const rt_record_case *a = run("k.json", f);
    std::string other = kernel_text;
    other.replace(other.find("%r3, %r2, 5"), 11, "%r3, %r2, 4");
    write("k.ptx", other);
    rt_comparison c;
    ASSERT_EQ(rt_compare_records(ctx, f, a, run("k.json", f), RT_EQUAL_BITS, 0, &c), PXB_OK);
    EXPECT_FALSE(c.equal);
    ASSERT_EQ(c.nnotes, 1u);
    for (uint32_t i = 0; i < c.noutputs; i++) {
        const rt_compared &o = c.outputs[i];
        if (std::string(o.name) != "out")
            continue;
        EXPECT_EQ(o.statistics.difference.differing, 120u);
        EXPECT_EQ(o.statistics.difference.first, 0u);
    }
    rt_comparison_free(&c);
}

TEST_F(Compare, ToleranceDecidesAndBitsAreStillCounted)
{
    std::string k = std::string(PTXB_SOURCE_DIR) + "/ptx_corpus/kernels/bf16_mma.json";
    const case_file *f = open(k);
    const rt_record_case *a = run(k, f), *b = run(k, f, "cpu", PXB_MMA_IEEE);
    rt_comparison c;
    ASSERT_EQ(rt_compare_records(ctx, f, a, b, RT_EQUAL_BITS, 0, &c), PXB_OK);
    EXPECT_FALSE(c.equal);
    rt_comparison_free(&c);
    ASSERT_EQ(rt_compare_records(ctx, f, a, b, RT_EQUAL_ULP, 1 << 20, &c), PXB_OK);
    EXPECT_TRUE(c.equal);
    uint64_t differing = 0;
    for (uint32_t i = 0; i < c.noutputs; i++)
        differing += c.outputs[i].statistics.difference.differing;
    EXPECT_GT(differing, 0u);
    rt_comparison_free(&c);
}

// ---------------------------------------------------------------- traces

TEST_F(Compare, TraceOfEqualSidesFindsNothing)
{
    Trace t(ctx, open(path("k.json")), "cpu", "cpu");
    ASSERT_EQ(t.status, PXB_OK) << error();
    EXPECT_EQ(t.f->kind, RT_FOUND_NOTHING) << t.insn();
    EXPECT_EQ(t.f->threads, 120u);
    EXPECT_GT(t.f->excused, 0u);      // the buffer's address
    EXPECT_EQ(t.f->left, 0u);
}

TEST_F(Compare, TraceNamesTheModelsFirstMma)
{
    std::string k = std::string(PTXB_SOURCE_DIR) + "/ptx_corpus/kernels/bf16_mma.json";
    Trace t(ctx, open(k), "cpu", "cpu", PXB_MMA_ADA, PXB_MMA_IEEE);
    ASSERT_EQ(t.status, PXB_OK) << error();
    ASSERT_EQ(t.f->kind, RT_FOUND_RESULT);
    EXPECT_STREQ(t.f->insn[0]->form->mnemonic, "mma");
    EXPECT_EQ(t.f->cause, RT_CAUSE_MMA_MODEL);
    EXPECT_EQ(t.f->noperands, 10u);   // four of A, two of B, four of C
    EXPECT_EQ(t.f->nresults, 4u);
    for (uint32_t i = 0; i < t.f->noperands; i++)
        EXPECT_TRUE(t.f->operands[i].known[0] && t.f->operands[i].known[1] && !t.f->operands[i].differs);
}

// Little memory: several chunks and windows, and a second run for the operands.
TEST_F(Compare, TraceInManyPassesFindsTheSame)
{
    std::string k = std::string(PTXB_SOURCE_DIR) + "/ptx_corpus/kernels/bf16_mma.json";
    const case_file *f = open(k);
    rt_trace_options little = {};
    little.memory = 1 << 13;
    Trace t(ctx, f, "cpu", "cpu", PXB_MMA_ADA, PXB_MMA_IEEE), u(ctx, f, "cpu", "cpu", PXB_MMA_ADA, PXB_MMA_IEEE, little);
    ASSERT_EQ(t.status, PXB_OK) << error();
    ASSERT_EQ(u.status, PXB_OK) << error();
    ASSERT_EQ(u.f->kind, RT_FOUND_RESULT);
    EXPECT_EQ(t.f->record, u.f->record);
    EXPECT_EQ(t.f->insn[0]->at.line, u.f->insn[0]->at.line);
    EXPECT_EQ(t.f->lane, u.f->lane);
    ASSERT_EQ(t.f->noperands, u.f->noperands);
    for (uint32_t i = 0; i < t.f->noperands; i++)
        EXPECT_EQ(value(t.f->operands[i], 0), value(u.f->operands[i], 0)) << t.f->operands[i].name;
}

TEST_F(Compare, TraceCoversTheBlocksThatAreAskedFor)
{
    rt_trace_options one = {};
    one.first_block = 1;
    one.nblocks = 1;
    Trace t(ctx, open(path("k.json")), "cpu", "cpu", PXB_MMA_ADA, PXB_MMA_ADA, one);
    ASSERT_EQ(t.status, PXB_OK) << error();
    EXPECT_EQ(t.f->blocks, 1u);
    EXPECT_EQ(t.f->blocks_of, 3u);
    EXPECT_EQ(t.f->threads, 40u);
}

// More memory than 32 bits count parts of, and blocks from the second on.
TEST_F(Compare, TraceOptionsAtTheirEnds)
{
    rt_trace_options o = {};
    std::vector<std::pair<uint32_t, uint32_t>> progress;
    o.memory = UINT64_MAX;
    o.first_block = 1;
    o.progress = [](void *user, const char *, uint32_t done, uint32_t of) { static_cast<decltype(progress) *>(user)->push_back({done, of}); };
    o.progress_user = &progress;
    Trace t(ctx, open(path("k.json")), "cpu", "cpu", PXB_MMA_ADA, PXB_MMA_ADA, o);
    ASSERT_EQ(t.status, PXB_OK) << error();
    EXPECT_EQ(t.f->blocks, 2u);
    ASSERT_FALSE(progress.empty());
    EXPECT_EQ(progress[0], std::make_pair(0u, 2u));
}

// What others have not done yet is no wrong result: the xor behind it is.
TEST_F(Compare, WaitingIsPassedOverForWhatComesAfterIt)
{
    const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
    .reg .pred %p<2>; .reg .b32 %r<4>;
    .shared .align 8 .b64 bar;
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
    activemask.b32 %r1;
    xor.b32 %r2, %r3, 5;
    ret;
}
)";
    std::unique_ptr<ptx_module, void (*)(ptx_module *)> m(ptx_parse(text.data(), text.size(), "t.ptx"), ptx_module_free);
    ASSERT_EQ(m->ndiagnostics, 0u);
    uint32_t base = 0, one = 1u << PTX_TRACE_NUMBER_BITS;
    uint32_t words[2][6] = {{1 | one, 0, 2 | one, 0xffffffff, 3 | one, 4}, {1 | one, 1, 2 | one, 0xffff, 3 | one, 4}};
    for (uint32_t differs : {0u, 1u}) {
        walker w = {};
        w.module = m.get();
        w.register_bases = &base;
        w.nregisters = m->functions[0]->nregisters;
        walk_thread t = {};
        walk_difference d = {};
        words[1][5] = 4 + differs;
        walk_stream s[2] = {{words[0], 6, 3}, {words[1], 6, 3}};
        EXPECT_EQ(walk_thread_compare(&w, &t, s, 0, 3, &d), differs == 1);
        EXPECT_EQ(d.number[0], 3 * differs);
        EXPECT_TRUE(t.raced);
        EXPECT_EQ(t.raced_number, 1u) << "the answer when there is none behind it";
        free(t.flags);
    }
}

// What one lane got from an atomic operation comes to the others through a shuffle, where it says nothing of the shuffle.
TEST_F(Compare, RacesSpreadThroughCollectives)
{
    const std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<2>;
    @%p1 atom.global.add.u32 %r1, [%rd1], 1;
    shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;
    bar.red.popc.u32 %r3, 0, %p1;
    ret;
}
)";
    std::unique_ptr<ptx_module, void (*)(ptx_module *)> m(ptx_parse(text.data(), text.size(), "t.ptx"), ptx_module_free);
    ASSERT_EQ(m->ndiagnostics, 0u);
    uint32_t base = 0, one = 1u << PTX_TRACE_NUMBER_BITS;
    const uint32_t leader[2][6] = {{1 | one, 5, 2 | one, 5, 3 | one, 1}, {1 | one, 7, 2 | one, 7, 3 | one, 1}};
    const uint32_t other[2][4] = {{2 | one, 5, 3 | one, 1}, {2 | one, 7, 3 | one, 2}};
    walker w = {};
    w.module = m.get();
    w.register_bases = &base;
    w.nregisters = m->functions[0]->nregisters;
    const walk_stream led[2] = {{leader[0], 6, 3}, {leader[1], 6, 3}}, followed[2] = {{other[0], 4, 2}, {other[1], 4, 2}};
    EXPECT_TRUE(walk_thread_races(&w, led));
    EXPECT_FALSE(walk_thread_races(&w, followed));
    const struct { bool warp, block; uint32_t found; } rows[] = {{false, false, 2}, {false, true, 2}, {true, false, 3}, {true, true, 0}};
    for (const auto &row : rows) {
        walk_thread t = {};
        walk_difference d = {};
        t.warp_raced = row.warp;
        t.block_raced = row.block;
        EXPECT_EQ(walk_thread_compare(&w, &t, followed, 0, 2, &d), row.found != 0);
        EXPECT_EQ(d.number[0], row.found);
        EXPECT_FALSE(t.raced) << "the atomic operation is the answer";
        free(t.flags);
    }
}

#if PTXBRIDGE_LLVM

class Planted : public Compare, public ::testing::WithParamInterface<const char *>
{
  protected:
    void TearDown() override
    {
        xl_planted_fault = nullptr;
        Compare::TearDown();
    }
};

TEST_P(Planted, SoundCodeGivesTheSameRecords)
{
    Trace t(ctx, open(path("k.json")), "cpu", GetParam());
    ASSERT_EQ(t.status, PXB_OK) << error();
    EXPECT_EQ(t.f->kind, RT_FOUND_NOTHING) << t.insn();
    EXPECT_EQ(t.f->threads, 120u);
    EXPECT_EQ(t.f->left, 0u);
}

// tid ^ 5 and tid | 5 agree in thread 0 and no further.
TEST_P(Planted, WrongLoweringIsFoundAndNamed)
{
    xl_planted_fault = "xor_b32=or_b32";
    const case_file *f = open(path("k.json"));
    rt_comparison c;
    ASSERT_EQ(rt_compare_records(ctx, f, run("k.json", f), run("k.json", f, GetParam()), RT_EQUAL_BITS, 0, &c), PXB_OK);
    EXPECT_TRUE(c.ran) << c.sides[1]->fault_text;
    EXPECT_FALSE(c.equal);
    rt_comparison_free(&c);
    Trace t(ctx, f, "cpu", GetParam());
    ASSERT_EQ(t.status, PXB_OK) << error();
    ASSERT_EQ(t.f->kind, RT_FOUND_RESULT);
    EXPECT_EQ(t.insn().substr(0, 7), "xor.b32");
    EXPECT_EQ(t.f->insn[0]->at.line, 20u);
    EXPECT_STREQ(t.f->function[0]->name, "k");
    EXPECT_EQ(t.f->block[0], 0u);
    EXPECT_EQ(t.f->thread[0], 1u);
    EXPECT_EQ(t.f->lane, 1u);
    EXPECT_EQ(t.f->cause, RT_CAUSE_UNKNOWN);
    ASSERT_EQ(t.f->noperands, 2u);
    EXPECT_STREQ(t.f->operands[0].name, "%r2");
    EXPECT_EQ(t.f->operands[0].words[0][0], 1u);
    EXPECT_FALSE(t.f->operands[0].differs);
    ASSERT_EQ(t.f->nresults, 1u);
    EXPECT_EQ(t.f->results[0].words[0][0], 4u);
    EXPECT_EQ(t.f->results[0].words[1][0], 5u);
}

// In a called function, behind a loop and a barrier; its results come through memory.
TEST_P(Planted, WrongLoweringInACalledFunction)
{
    write("f.ptx", std::string(kernel_text).replace(std::string(kernel_text).find("add.s32 %a2, %a1, %a1"), 21, "min.s32 %a2, %a1, 6666"));
    std::string j = case_text;
    write("f.json", j.replace(j.find("k.ptx"), 5, "f.ptx"));
    xl_planted_fault = "min_s32=max_s32";
    Trace t(ctx, open(path("f.json")), "cpu", GetParam());
    ASSERT_EQ(t.status, PXB_OK) << error();
    ASSERT_EQ(t.f->kind, RT_FOUND_RESULT);
    EXPECT_EQ(t.insn().substr(0, 7), "min.s32");
    EXPECT_STREQ(t.f->function[0]->name, "twice");
    EXPECT_EQ(t.f->insn[0]->at.line, 9u);
    EXPECT_EQ(t.f->thread[0], 0u);
}

// Threads of a grid that waits for all of its blocks, and traps where it was not launched so. The workspace lies elsewhere on each side.
class PlantedGrid : public Planted {};

TEST_P(PlantedGrid, IsTraced)
{
    write("g.ptx", R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 count, .param .u64 out)
{
    .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.b64 %rd1, {%r2, %r1};
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 trap;
    ld.global.u32 %r3, [%rd1];
    ld.param.u64 %rd2, [count];
    ld.param.u64 %rd3, [out];
    mov.u32 %r4, %tid.x;
    mov.u32 %r5, %nctaid.x;
    setp.ne.u32 %p2, %r4, 0;
    bar.sync 0;
    @%p2 bra behind;
    red.release.gpu.global.add.u32 [%rd2], 1;
wait:
    ld.acquire.gpu.global.u32 %r6, [%rd2];
    setp.lt.u32 %p3, %r6, %r5;
    @%p3 bra wait;
behind:
    bar.sync 0;
    xor.b32 %r7, %r4, 5;
    add.s32 %r7, %r7, %r3;
    mov.u32 %r8, %ctaid.x;
    mov.u32 %r9, %ntid.x;
    mad.lo.s32 %r8, %r8, %r9, %r4;
    mul.wide.u32 %rd4, %r8, 4;
    add.s64 %rd5, %rd3, %rd4;
    st.global.u32 [%rd5], %r7;
    ret;
}
)");
    write("g.json", R"({"ptxbridge_case": 1, "ptx": "g.ptx", "entry": "k", "grid": [6], "block": [40], "cooperative": true,
 "buffers": {"count": {"zeros": {"dtype": "u32", "shape": [1]}}, "out": {"zeros": {"dtype": "u32", "shape": [240]}}},
 "params": [{"buffer": "count"}, {"buffer": "out"}]})");
    const case_file *f = open(path("g.json"));
    {
        Trace t(ctx, f, "cpu", GetParam());
        ASSERT_EQ(t.status, PXB_OK) << error();
        EXPECT_TRUE(t.f->kind == RT_FOUND_NOTHING || t.insn() == "ld.acquire.gpu.global.u32 %r6, [%rd2]") << t.insn();
        EXPECT_EQ(t.f->threads, 240u);
        EXPECT_LE(t.f->left, 6u) << "only the threads that spin may go different ways";
    }
    xl_planted_fault = "xor_b32=or_b32";
    Trace t(ctx, f, "cpu", GetParam());
    ASSERT_EQ(t.status, PXB_OK) << error();
    ASSERT_EQ(t.f->kind, RT_FOUND_RESULT);
    EXPECT_EQ(t.insn(), "xor.b32 %r7, %r4, 5");
    EXPECT_EQ(t.f->thread[0], 1u);
}

INSTANTIATE_TEST_SUITE_P(Simulators, Planted, ::testing::Values("sim:gfx1100", "sim:gfx1201", "sim:gfx942"));
INSTANTIATE_TEST_SUITE_P(Simulators, PlantedGrid, ::testing::Values("sim:gfx1100"));

#endif

} // namespace
