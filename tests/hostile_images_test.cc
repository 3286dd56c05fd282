// hostile_images_test.cc - mutated case files, .npy, .npz and PNG images: anything may be refused, nothing may crash.
//
// Mutations are seeded, so that a failure is repeatable: the seed is printed. Meant to run under ASan and UBSan as well,
// where a bad access or an overflow ends the test.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
#include "runtime/case.h"
}

namespace
{

// Enough to reach every branch many times over, and a second or two of time under sanitizers.
constexpr int rounds = 4000;

class Hostile : public ::testing::Test
{
  protected:
    pxb_context *ctx = nullptr;
    std::string folder;
    uint64_t state = 0;
    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        ctx->array_limit = 1 << 20; // so that accepted sizes do not cost seconds
        char name[] = "/tmp/ptxbridge_hostile_XXXXXX";
        folder = mkdtemp(name);
    }
    void TearDown() override
    {
        pxb_context_destroy(ctx);
        std::string command = "rm -rf " + folder;
        ASSERT_EQ(system(command.c_str()), 0);
    }
    uint64_t random(uint64_t below) { return rt_splitmix64(state++) % below; }

    std::string read(const std::string &path)
    {
        std::ifstream in(path, std::ios::binary);
        return std::string((std::istreambuf_iterator<char>(in)), {});
    }

    // One to four small changes: a flipped bit, a byte or number that is likely to hurt, a cut, a doubled or moved piece.
    std::string mutate(std::string s, const std::vector<std::string> &words)
    {
        static const char interesting[] = {0, 1, 0x7f, -128, -1, '"', '{', '}', '[', ']', ',', '-', '9', '\\', '\''};
        for (uint64_t n = 1 + random(4); n-- > 0 && !s.empty();) {
            size_t at = random(s.size()), length = std::min<size_t>(1 + random(16), s.size() - at);
            switch (random(8)) {
            case 0: s[at] = (char)(s[at] ^ 1 << random(8)); break;
            case 1: s[at] = interesting[random(sizeof interesting)]; break;
            case 2: s.resize(at); break;
            case 3: s.erase(at, length); break;
            case 4: s.insert(random(s.size()), s.substr(at, length)); break;
            case 5:
                for (size_t i = 0; i < 4 && at + i < s.size(); i++)
                    s[at + i] = (char)(random(2) ? 0xff : 0);
                break;
            case 6: s.replace(at, length, words[random(words.size())]); break;
            case 7: s.insert(at, words[random(words.size())]); break;
            }
        }
        return s;
    }

    // Replaces one or two whole values or words, so that most results are still JSON.
    std::string mutate_tokens(std::string s, const std::vector<std::string> &words)
    {
        auto inside = [](char c) { return isalnum((unsigned char)c) || c == '"' || c == '-' || c == '_' || c == '.'; };
        for (uint64_t n = 1 + random(2); n > 0;) {
            size_t from = random(s.size()), to;
            if (!inside(s[from]))
                continue;
            for (to = from; to < s.size() && inside(s[to]);)
                to++;
            while (from > 0 && inside(s[from - 1]))
                from--;
            if (to < s.size() && s[to] == ':')
                continue; // a key: the other mutations see to those
            s.replace(from, to - from, words[random(words.size())]);
            n--;
        }
        return s;
    }

    // What is accepted must be whole: the data have the size that shape and dtype say, and are readable to the end.
    void use(rt_array *a, pxb_status status)
    {
        if (status) {
            EXPECT_NE(pxb_last_error(ctx)->message[0], '\0');
            EXPECT_EQ(a->data, nullptr);
        } else {
            ASSERT_EQ(a->bytes, a->count * rt_dtype_bytes(a->dtype));
            ASSERT_LE(a->bytes, ctx->array_limit);
            volatile uint8_t sum = 0;
            for (size_t i = 0; i < a->bytes; i++)
                sum = (uint8_t)(sum + ((uint8_t *)a->data)[i]);
        }
        rt_array_free(a);
    }
};

TEST_F(Hostile, Npy)
{
    uint64_t shape[3] = {3, 4, 5};
    rt_array a;
    void *data;
    size_t length;
    ASSERT_EQ(rt_array_make(ctx, &a, RT_F32, 3, shape), PXB_OK);
    ASSERT_EQ(rt_npy_format(ctx, &a, &data, &length), PXB_OK);
    rt_array_free(&a);
    std::string good((char *)data, length);
    free(data);
    int accepted = 0;
    for (int i = 0; i < rounds; i++) {
        SCOPED_TRACE(i);
        state = (uint64_t)i << 20;
        std::string bad = mutate(
            good, {"True", "(", ")", "18446744073709551616", "4294967296", "'shape'", "<f8", ">i2", "|b1", "()"});
        pxb_status status = rt_npy_parse(ctx, "bad.npy", bad.data(), bad.size(), &a);
        accepted += status == PXB_OK;
        use(&a, status);
    }
    EXPECT_GT(accepted, 0); // otherwise the mutations never get past the magic bytes
    EXPECT_LT(accepted, rounds / 2);
}

TEST_F(Hostile, Npz)
{
    uint64_t shape[2] = {40, 10};
    rt_array a, b;
    ASSERT_EQ(rt_array_make(ctx, &a, RT_F32, 2, shape), PXB_OK);
    const char *names[] = {"one", "two"};
    const rt_array *arrays[] = {&a, &a};
    std::string path = folder + "/a.npz";
    ASSERT_EQ(rt_npz_write(ctx, path.c_str(), 2, names, arrays), PXB_OK);
    rt_array_free(&a);
    std::string good = read(path);
    int accepted = 0;
    for (int i = 0; i < rounds; i++) {
        SCOPED_TRACE(i);
        state = (uint64_t)i << 20;
        std::string bad = mutate(
            good, {"PK\1\2", "PK\3\4", "PK\5\6", std::string("PK\6\6", 4), std::string("\1\0\x18\0", 4), "two.npy"});
        pxb_status status = rt_npz_parse(ctx, "bad.npz", bad.data(), bad.size(), i % 2 ? "one" : "two", &b);
        accepted += status == PXB_OK;
        use(&b, status);
    }
    EXPECT_GT(accepted, 0);
}

// A member that claims to be huge, and one that inflates to more than it claims.
TEST_F(Hostile, NpzBombs)
{
    uint64_t shape[1] = {200000};
    rt_array a, b;
    ASSERT_EQ(rt_array_make(ctx, &a, RT_F32, 1, shape), PXB_OK);
    const char *names[] = {"a"};
    const rt_array *arrays[] = {&a};
    std::string path = folder + "/a.npz";
    ASSERT_EQ(rt_npz_write(ctx, path.c_str(), 1, names, arrays), PXB_OK);
    rt_array_free(&a);
    std::string good = read(path);
    size_t central = good.rfind("PK\1\2");
    for (uint32_t size : {0u, 1u, 100u, 800000u, 0x7fffffffu, 0xfffffffeu, 0xffffffffu}) {
        std::string bad = good;
        memcpy(&bad[central + 24], &size, 4);
        EXPECT_NE(rt_npz_parse(ctx, "bomb", bad.data(), bad.size(), "a", &b), PXB_OK) << size;
        rt_array_free(&b);
    }
}

TEST_F(Hostile, Png)
{
    for (uint64_t channels : {1, 2, 3, 4}) {
        uint64_t shape[3] = {9, 11, channels};
        rt_array a, b;
        ASSERT_EQ(rt_array_make(ctx, &a, channels % 2 ? RT_U8 : RT_U16, 3, shape), PXB_OK);
        std::string path = folder + "/a.png";
        ASSERT_EQ(rt_png_write(ctx, path.c_str(), &a), PXB_OK);
        rt_array_free(&a);
        std::string good = read(path);
        for (int i = 0; i < rounds / 4; i++) {
            SCOPED_TRACE(i);
            state = (uint64_t)i << 20;
            std::string bad =
                mutate(good, {"IHDR", "IDAT", "IEND", "tRNS", "PLTE", "zTXt", std::string("\0\1\0\0", 4)});
            use(&b, rt_png_parse(ctx, "bad.png", bad.data(), bad.size(), &b));
        }
    }
}

// Header fields of a PNG with a right checksum, so that they get past libpng's first look.
TEST_F(Hostile, PngHeaders)
{
    auto crc = [](const std::string &s) {
        uint32_t c = 0xffffffff;
        for (char ch : s) {
            c ^= (uint8_t)ch;
            for (int k = 0; k < 8; k++)
                c = c & 1 ? c >> 1 ^ 0xEDB88320 : c >> 1;
        }
        return c ^ 0xffffffff;
    };
    auto big = [](uint32_t v) { return std::string{(char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v}; };
    auto chunk = [&](const std::string &name, const std::string &data) {
        return big((uint32_t)data.size()) + name + data + big(crc(name + data));
    };
    rt_array b;
    for (uint32_t w : {0u, 1u, 1000u, 1048576u, 0x7fffffffu, 0xffffffffu})
        for (uint32_t h : {0u, 1u, 1000u, 1048576u, 0x7fffffffu})
            for (int depth : {0, 1, 2, 4, 8, 16, 32})
                for (int type = 0; type < 8; type++)
                    for (int interlace : {0, 1, 2}) {
                        std::string header =
                            big(w) + big(h) + std::string{(char)depth, (char)type, 0, 0, (char)interlace};
                        std::string file = std::string("\x89PNG\r\n\x1a\n", 8) + chunk("IHDR", header) +
                                           (type == 3 ? chunk("PLTE", "abcdef") : "") +
                                           chunk("IDAT", "x\x9c\x03\x00\x00\x00\x00\x01") + chunk("IEND", "");
                        use(&b, rt_png_parse(ctx, "bad.png", file.data(), file.size(), &b));
                    }
}

const char *const seed_case =
    R"({"ptxbridge_case": 1, "ptx": "k.ptx", "entry": "k", "grid": [4, 1], "block": [32], "shared": 16,
 "buffers": {"x": {"zeros": {"dtype": "f32", "shape": [4, 2]}}, "v": {"values": {"dtype": "s16", "data": [1, -2, "0xff"], "shape": [3]}},
   "r": {"random": {"seed": 3, "dtype": "u8", "shape": [10], "low": 0, "high": 256}}, "n": {"npz": "a.npz", "member": "m"}},
 "textures": {"t": {"png": "t.png", "format": "u8", "address": ["wrap"], "filter": "linear", "normalized_coords": true, "read": "normalized_float"}},
 "surfaces": {"s": {"zeros": {"dtype": "f16", "shape": [4, 4, 4]}}},
 "params": [{"buffer": "x", "offset": 4}, {"f32": 1.5}, {"texture": "t"}, {"struct": {"size": 16, "fields": [{"offset": 8, "u32": [1, 2]}]}}],
 "globals": {"g": {"values": {"dtype": "f64", "data": [1e300, "nan"]}}},
 "expect": [{"buffer": "x", "npy": "x.npy", "tolerance": {"abs": 0.1, "rel": 1e-3}, "as": "bf16"}, {"printf": "a\u00e9b"}, {"fault": "trap"}]})";

TEST_F(Hostile, CaseFiles)
{
    int accepted = 0;
    for (int i = 0; i < rounds; i++) {
        SCOPED_TRACE(i);
        state = (uint64_t)i << 20;
        std::string bad =
            mutate(seed_case,
                   {"null", "true", "1e999", "-1", "18446744073709551616", "9223372036854775807", "\"x\"", "{}", "[]",
                    "[[[[[[[[", "\"launches\":", "\"buffer\":", "\"struct\":", "\"fields\":", "\xff\xfe", "\\u0000"});
        case_file *file;
        if (case_parse(ctx, i % 3 ? "case.json" : "/no/such/folder/case.json", bad.data(), bad.size(), &file) ==
            PXB_OK) {
            accepted++;
            for (uint32_t k = 0; k < file->narrays; k++) {
                rt_array a;
                use(&a, case_load_source(ctx, &file->arrays[k].source, &a));
            }
        } else {
            EXPECT_NE(pxb_last_error(ctx)->message[0], '\0');
        }
        case_free(file);
    }
    EXPECT_GT(accepted, 0);
}

TEST_F(Hostile, DeepAndLongJson)
{
    case_file *file;
    for (std::string text :
         {std::string(100000, '['), std::string(100000, '{'),
          std::string("{\"ptxbridge_case\":") + std::string(5000, '['),
          std::string("{\"") + std::string(100000, 'k') + "\":1}", std::string(), std::string("\0\0\0", 3)}) {
        EXPECT_EQ(case_parse(ctx, "case.json", text.data(), text.size(), &file), PXB_BAD_INPUT);
        case_free(file);
    }
    // Many members and parameters: time must not grow with their product.
    std::string many =
        "{\"ptxbridge_case\":1,\"ptx\":\"k\",\"entry\":\"k\",\"grid\":[1],\"block\":[1],\"params\":[{\"u32\":1}";
    for (int i = 0; i < 4000; i++)
        many += ",\n{\"u32\":" + std::to_string(i) + "}";
    many += "]}";
    EXPECT_EQ(case_parse(ctx, "case.json", many.data(), many.size(), &file), PXB_OK);
    case_free(file);
}

// Mutated cases that are run to the end: what is accepted may be wrong in any way, and is an error or a fault of the launch.
TEST_F(Hostile, CasesThatRun)
{
    std::ofstream(folder + "/k.ptx")
        << ".version 8.0\n.target sm_80\n.address_size 64\n"
           ".global .align 4 .u32 g;\n.visible .entry k(.param .u64 x, .param .u32 n, .param .align 8 .b8 s[16])\n{\n"
           ".reg .pred %p<2>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [x];\nld.param.u32 %r1, [n];\n"
           "ld.param.u64 %rd3, [s+8];\nmov.u32 %r2, %tid.x;\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 ret;\nmul.wide.u32 %rd2, "
           "%r2, 4;\n"
           "add.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r2;\nst.global.u32 [%rd3], %r2;\nst.global.u32 [g], "
           "%r1;\nret;\n}\n";
    const std::string good =
        R"({"ptxbridge_case": 1, "ptx": "k.ptx", "entry": "k", "grid": [1], "block": [32], "shared": 16,
 "buffers": {"x": {"zeros": {"dtype": "u32", "shape": [32]}}, "y": {"zeros": {"dtype": "f16", "shape": [4, 2]}}},
 "textures": {"t": {"zeros": {"dtype": "u8", "shape": [3, 5, 4]}, "address": "wrap", "filter": "linear", "normalized_coords": true, "read": "normalized_float"}},
 "surfaces": {"s": {"zeros": {"dtype": "f16", "shape": [4, 4, 4]}}},
 "params": [{"buffer": "x"}, {"u32": 30}, {"struct": {"size": 16, "fields": [{"offset": 8, "buffer": "y"}]}}],
 "globals": {"g": {"values": {"dtype": "u32", "data": [1]}}},
 "expect": [{"buffer": "x", "zeros": {"dtype": "u32", "shape": [32]}}, {"surface": "s", "zeros": {"dtype": "f16", "shape": [4, 4, 4]}},
  {"global": "g", "values": {"dtype": "u32", "data": [30]}, "tolerance": {"ulp": 1}}, {"printf": ""}]})";
    int ran = 0;
    for (int i = 0; i < rounds / 2; i++) {
        SCOPED_TRACE(i);
        state = (uint64_t)i << 20;
        std::string bad =
            i ? mutate_tokens(good, {"30",      "31",         "32",     "-1",      "0",     "1",     "1024",
                                     "70000",   "4294967295", "\"x\"",  "\"y\"",   "\"s\"", "\"t\"", "\"g\"",
                                     "\"u32\"", "\"f32\"",    "\"u8\"", "\"f16\"", "true",  "[]",    "1.5"})
              : good;
        case_file *file;
        if (case_parse(ctx, (folder + "/case.json").c_str(), bad.data(), bad.size(), &file) == PXB_OK) {
            case_options options = {};
            case_result result;
            options.has_timeout = true;
            options.timeout_ms = 100;
            ran += case_run(ctx, file, &options, &result) == PXB_OK;
            case_result_free(&result);
        }
        case_free(file);
    }
    EXPECT_GT(ran, 20);
}

} // namespace
