// case_test.cc - arrays, .npy, .npz and PNG files, comparison, and the strict reading of case files.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

extern "C" {
#include "runtime/case.h"
#include "runtime/json_path.h"
}

namespace
{

class Context : public ::testing::Test
{
  protected:
    pxb_context *ctx = nullptr;
    std::string folder;
    void SetUp() override
    {
        ASSERT_EQ(pxb_context_create(&ctx), PXB_OK);
        char name[] = "/tmp/ptxbridge_case_XXXXXX";
        folder = mkdtemp(name);
    }
    void TearDown() override
    {
        pxb_context_destroy(ctx);
        std::string command = "rm -rf " + folder;
        ASSERT_EQ(system(command.c_str()), 0);
    }
    std::string path(const char *name) const { return folder + "/" + name; }
    std::string error() const { return pxb_last_error(ctx)->message; }

    rt_array make(rt_dtype dtype, std::vector<uint64_t> shape, uint64_t seed = 1)
    {
        rt_array a;
        EXPECT_EQ(rt_array_make(ctx, &a, dtype, (uint32_t)shape.size(), shape.data()), PXB_OK);
        for (size_t i = 0; i < a.bytes; i++)
            ((uint8_t *)a.data)[i] = (uint8_t)rt_splitmix64(seed + i);
        return a;
    }
};

bool same(const rt_array &a, const rt_array &b)
{
    return a.dtype == b.dtype && a.ndim == b.ndim && memcmp(a.shape, b.shape, a.ndim * sizeof *a.shape) == 0 &&
           a.bytes == b.bytes && memcmp(a.data, b.data, a.bytes) == 0;
}

// ---------------------------------------------------------------- arrays

TEST(Splitmix, KnownValues)
{
    // First outputs of the generator with state 0 (Steele et al.; the value every implementation is checked with).
    EXPECT_EQ(rt_splitmix64(0), 0xE220A8397B1DCDAFull);
    EXPECT_EQ(rt_splitmix64(0x9E3779B97F4A7C15ull), 0x6E789E6AA1B965F4ull);
}

TEST(F16, EveryValueRoundTrips)
{
    for (uint32_t h = 0; h < 65536; h++) {
        double v = rt_f16_to_f64((uint16_t)h);
        if (std::isnan(v))
            EXPECT_EQ(rt_f64_to_f16(v), 0x7fff);
        else
            ASSERT_EQ(rt_f64_to_f16(v), h);
    }
}

TEST(F16, RoundsToNearestEvenOnce)
{
    for (uint32_t h = 0; h < 0x7bff; h++) {
        double low = rt_f16_to_f64((uint16_t)h), high = rt_f16_to_f64((uint16_t)(h + 1)), middle = (low + high) / 2;
        uint32_t even = h & 1 ? h + 1 : h;
        ASSERT_EQ(rt_f64_to_f16(middle), even) << h;
        ASSERT_EQ(rt_f64_to_f16(std::nextafter(middle, low)), h);
        ASSERT_EQ(rt_f64_to_f16(std::nextafter(middle, high)), h + 1);
    }
    EXPECT_EQ(rt_f64_to_f16(65519.99), 0x7bff);
    EXPECT_EQ(rt_f64_to_f16(65520), 0x7c00);
    EXPECT_EQ(rt_f64_to_f16(-1e300), 0xfc00);
    EXPECT_EQ(rt_f64_to_f16(0x1p-25), 0);
    EXPECT_EQ(rt_f64_to_f16(-0.0), 0x8000);
}

TEST_F(Context, RandomFollowsItsDescription)
{
    rt_array a = make(RT_F32, {100}), b = make(RT_S16, {100});
    rt_array_random(&a, 7, -1, 1, 0, 0);
    rt_array_random(&b, 9, 0, 0, -5, 10);
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t z = rt_splitmix64(7 + i);
        EXPECT_EQ(((float *)a.data)[i], (float)(-1 + 2 * ((double)(z >> 11) * 0x1p-53)));
        EXPECT_EQ(((int16_t *)b.data)[i], -5 + (int)(rt_splitmix64(9 + i) % 10));
    }
    rt_array_free(&a);
    rt_array_free(&b);
}

TEST_F(Context, ArrayLimitIsAnError)
{
    rt_array a;
    uint64_t huge[3] = {1ull << 40, 1ull << 40, 1ull << 40}, empty[3] = {1ull << 63, 0, 1ull << 63};
    EXPECT_EQ(rt_array_make(ctx, &a, RT_F32, 3, huge), PXB_BAD_INPUT);
    EXPECT_EQ(rt_array_make(ctx, &a, RT_F32, 3, empty), PXB_OK);
    EXPECT_EQ(a.bytes, 0u);
    rt_array_free(&a);
}

// ---------------------------------------------------------------- .npy

TEST_F(Context, NpyRoundTrip)
{
    std::vector<std::vector<uint64_t>> shapes = {{}, {0}, {7}, {3, 5}, {2, 3, 4}, {1, 0, 2}, {2, 1, 2, 1, 2, 1, 2, 1}};
    for (int d = 0; d < RT_DTYPE_COUNT; d++) {
        for (auto &shape : shapes) {
            rt_array a = make((rt_dtype)d, shape, (uint64_t)d), b;
            ASSERT_EQ(rt_npy_write(ctx, path("a.npy").c_str(), &a), PXB_OK);
            ASSERT_EQ(rt_npy_read(ctx, path("a.npy").c_str(), &b), PXB_OK) << error();
            EXPECT_TRUE(same(a, b));
            rt_array_free(&a);
            rt_array_free(&b);
        }
    }
}

std::string npy(const std::string &header, const std::string &data, char version = 1)
{
    std::string text = "\x93NUMPY";
    text += version;
    text += '\0';
    text += (char)(header.size() & 255);
    text += (char)(header.size() >> 8);
    if (version > 1)
        text += std::string(2, '\0');
    return text + header + data;
}

TEST_F(Context, NpyForms)
{
    rt_array a;
    std::string big =
        npy("{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", std::string("\x01\x02\x03\x04", 4), 2);
    ASSERT_EQ(rt_npy_parse(ctx, "big", big.data(), big.size(), &a), PXB_OK) << error();
    EXPECT_EQ(((uint16_t *)a.data)[0], 0x0102);
    EXPECT_EQ(((uint16_t *)a.data)[1], 0x0304);
    rt_array_free(&a);
    // columns 1 2 3 | 4 5 6 in memory are rows (1 4) (2 5) (3 6)
    std::string fortran =
        npy("{\"shape\":(3,2),'fortran_order':True,'descr':'|u1'}  \n", std::string("\1\2\3\4\5\6", 6));
    ASSERT_EQ(rt_npy_parse(ctx, "f", fortran.data(), fortran.size(), &a), PXB_OK) << error();
    EXPECT_EQ(memcmp(a.data, "\1\4\2\5\3\6", 6), 0);
    rt_array_free(&a);
    std::string three =
        npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2,2,2)}", std::string("\0\1\2\3\4\5\6\7", 8));
    ASSERT_EQ(rt_npy_parse(ctx, "f3", three.data(), three.size(), &a), PXB_OK) << error();
    EXPECT_EQ(memcmp(a.data, "\0\4\2\6\1\5\3\7", 8), 0);
    rt_array_free(&a);
}

TEST_F(Context, NpyRefusals)
{
    const char *headers[] = {
        "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }",
        "{'descr': '<f4', 'fortran_order': False, }",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
        "",
        "{",
        "{'",
        "{'descr",
        "{'descr'",
        "{'descr':",
        "{'descr':'",
        "[]",
    };
    for (const char *header : headers) {
        std::string text = npy(header, "abcd");
        rt_array a;
        EXPECT_EQ(rt_npy_parse(ctx, "x.npy", text.data(), text.size(), &a), PXB_BAD_INPUT) << header;
        EXPECT_NE(error().find("x.npy"), std::string::npos);
    }
    std::string cut = "\x93NUMPY\x01";
    rt_array a;
    EXPECT_EQ(rt_npy_parse(ctx, "x", cut.data(), cut.size(), &a), PXB_BAD_INPUT);
    EXPECT_EQ(rt_npy_read(ctx, path("none.npy").c_str(), &a), PXB_IO);
    EXPECT_EQ(rt_npy_read(ctx, folder.c_str(), &a), PXB_IO);
}

// ---------------------------------------------------------------- .npz

TEST_F(Context, NpzRoundTrip)
{
    rt_array a = make(RT_F32, {100, 3}), b = make(RT_U8, {0}), got;
    memset(a.data, 0, a.bytes / 2); // something that deflates
    const char *names[] = {"first", "b"};
    const rt_array *arrays[] = {&a, &b};
    std::string file = path("x.npz");
    ASSERT_EQ(rt_npz_write(ctx, file.c_str(), 2, names, arrays), PXB_OK) << error();
    ASSERT_EQ(rt_npz_read(ctx, file.c_str(), "first", &got), PXB_OK) << error();
    EXPECT_TRUE(same(a, got));
    rt_array_free(&got);
    ASSERT_EQ(rt_npz_read(ctx, file.c_str(), "b.npy", &got), PXB_OK) << error();
    EXPECT_TRUE(same(b, got));
    rt_array_free(&got);
    EXPECT_EQ(rt_npz_read(ctx, file.c_str(), "c", &got), PXB_NOT_FOUND);
    EXPECT_NE(error().find("first.npy, b.npy"), std::string::npos) << error();
    rt_array_free(&a);
    rt_array_free(&b);
}

TEST_F(Context, NpzDamageIsFound)
{
    rt_array a = make(RT_U32, {64}), got;
    const char *names[] = {"a"};
    const rt_array *arrays[] = {&a};
    std::string file = path("x.npz");
    ASSERT_EQ(rt_npz_write(ctx, file.c_str(), 1, names, arrays), PXB_OK);
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    int undamaged = 0;
    for (size_t i = 0; i < bytes.size(); i++) {
        std::string copy = bytes;
        copy[i] = (char)(copy[i] ^ 0x10);
        if (rt_npz_parse(ctx, "x", copy.data(), copy.size(), "a", &got) == PXB_OK) {
            EXPECT_TRUE(same(a, got)) << i; // a date or a version that nobody reads
            undamaged++;
        }
        rt_array_free(&got);
    }
    EXPECT_LT(undamaged, 100);
    rt_array_free(&a);
}

// ---------------------------------------------------------------- PNG

TEST_F(Context, PngRoundTrip)
{
    std::string file = path("a.png");
    for (rt_dtype d : {RT_U8, RT_U16}) {
        for (uint64_t c : {1, 2, 4}) {
            rt_array a = make(d, {5, 7, c}), b;
            ASSERT_EQ(rt_png_write(ctx, file.c_str(), &a), PXB_OK) << error();
            ASSERT_EQ(rt_png_read(ctx, file.c_str(), &b), PXB_OK) << error();
            EXPECT_TRUE(same(a, b)) << d << " " << c;
            rt_array_free(&a);
            rt_array_free(&b);
        }
    }
    rt_array rgb = make(RT_U8, {4, 3, 3}), rgba;
    ASSERT_EQ(rt_png_write(ctx, file.c_str(), &rgb), PXB_OK);
    ASSERT_EQ(rt_png_read(ctx, file.c_str(), &rgba), PXB_OK);
    ASSERT_EQ(rgba.shape[2], 4u);
    for (int i = 0; i < 12; i++) {
        EXPECT_EQ(memcmp((char *)rgb.data + 3 * i, (char *)rgba.data + 4 * i, 3), 0);
        EXPECT_EQ(((uint8_t *)rgba.data)[4 * i + 3], 255);
    }
    rt_array_free(&rgb);
    rt_array_free(&rgba);
}

TEST_F(Context, PngOfFloatsAndRefusals)
{
    std::string file = path("a.png");
    uint64_t shape[2] = {1, 5};
    rt_array a, b, wrong = make(RT_U32, {2, 2});
    ASSERT_EQ(rt_array_make(ctx, &a, RT_F32, 2, shape), PXB_OK);
    float values[5] = {-1, 0.5f, 2, NAN, 1};
    memcpy(a.data, values, sizeof values);
    ASSERT_EQ(rt_png_write(ctx, file.c_str(), &a), PXB_OK) << error();
    ASSERT_EQ(rt_png_read(ctx, file.c_str(), &b), PXB_OK) << error();
    EXPECT_EQ(memcmp(b.data, "\x00\x80\xff\x00\xff", 5), 0);
    EXPECT_EQ(rt_png_write(ctx, file.c_str(), &wrong), PXB_BAD_ARGUMENT);
    EXPECT_EQ(rt_png_write(ctx, (folder + "/no/such.png").c_str(), &a), PXB_IO);
    rt_array_free(&a);
    rt_array_free(&b);
    rt_array_free(&wrong);
}

// ---------------------------------------------------------------- comparison

template <typename T> rt_array view(rt_dtype dtype, std::vector<T> &v)
{
    rt_array a = {};
    a.dtype = dtype;
    a.ndim = 1;
    a.shape[0] = a.count = v.size();
    a.bytes = v.size() * sizeof(T);
    a.data = v.data();
    return a;
}

template <typename T>
rt_difference compare(rt_dtype dtype, std::vector<T> got, std::vector<T> want, rt_tolerance t,
                      rt_format f = RT_AS_DTYPE)
{
    rt_array g = view(dtype, got), w = view(dtype, want);
    rt_difference d;
    rt_compare(&g, &w, f, &t, &d);
    return d;
}

const rt_tolerance exact = {RT_EXACT, 0, 0, 0};
rt_tolerance ulp(uint64_t n)
{
    return {RT_ULP, n, 0, 0};
}

TEST(Compare, FloatDistances)
{
    float one = 1, next = std::nextafter(1.f, 2.f), nan = NAN, inf = INFINITY,
          tiny = std::numeric_limits<float>::denorm_min();
    rt_difference d = compare<float>(RT_F32, {one, next, 3}, {one, one, 3}, exact);
    EXPECT_EQ(d.differing, 1u);
    EXPECT_EQ(d.failing, 1u);
    EXPECT_EQ(d.max_ulp, 1u);
    EXPECT_EQ(d.first, 1u);
    EXPECT_EQ(compare<float>(RT_F32, {next}, {one}, ulp(1)).failing, 0u);
    EXPECT_EQ(compare<float>(RT_F32, {-0.f}, {0.f}, ulp(1)).failing, 0u);
    EXPECT_EQ(compare<float>(RT_F32, {-0.f}, {0.f}, exact).failing, 1u);
    EXPECT_EQ(compare<float>(RT_F32, {tiny}, {-tiny}, exact).max_ulp, 2u);
    EXPECT_EQ(compare<float>(RT_F32, {nan}, {one}, ulp(1000000)).failing, 1u);
    EXPECT_EQ(compare<float>(RT_F32, {nan}, {one}, exact).max_ulp, UINT64_MAX);
    EXPECT_TRUE(std::isnan(compare<float>(RT_F32, {nan}, {one}, exact).max_abs));
    EXPECT_EQ(compare<uint32_t>(RT_F32, {0x7fffffff}, {0x7fc00000}, ulp(1)).failing, 0u);
    EXPECT_EQ(compare<uint32_t>(RT_F32, {0x7fffffff}, {0x7fc00000}, exact).failing, 1u);
    EXPECT_EQ(compare<float>(RT_F32, {inf}, {std::numeric_limits<float>::max()}, ulp(1)).failing, 0u);
    rt_tolerance near = {RT_ABS_REL, 0, 0.1, 0.01};
    EXPECT_EQ(compare<float>(RT_F32, {101.05f, 101.2f, inf, -inf}, {100, 100, inf, inf}, near).failing, 2u);
    EXPECT_EQ(compare<double>(RT_F64, {-1e300}, {1e300}, exact).max_ulp, 2 * 0x7E37E43C8800759Cull);
}

TEST(Compare, NarrowFormatsAndIntegers)
{
    EXPECT_EQ(compare<uint16_t>(RT_F16, {0x3c00}, {0x3c05}, exact).max_ulp, 5u);
    EXPECT_EQ(compare<uint16_t>(RT_U16, {0x3f80}, {0x3f82}, exact, RT_AS_BF16).max_ulp, 2u);
    EXPECT_EQ(compare<uint16_t>(RT_U16, {0x3f80}, {0x4000}, exact, RT_AS_BF16).max_abs, 1);
    EXPECT_EQ(compare<uint8_t>(RT_U8, {0x01}, {0x82}, exact, RT_AS_E4M3).max_ulp, 3u);
    EXPECT_EQ(compare<uint8_t>(RT_U8, {0x7e}, {0x7f}, exact, RT_AS_E4M3).max_ulp, UINT64_MAX);
    EXPECT_EQ(compare<uint8_t>(RT_U8, {0x7f}, {0xff}, ulp(1), RT_AS_E4M3).failing, 0u);
    EXPECT_EQ(compare<uint8_t>(RT_U8, {0x3c}, {0x3d}, exact, RT_AS_E5M2).max_abs, 0.25);
    EXPECT_EQ(compare<int8_t>(RT_S8, {-128}, {127}, exact).max_ulp, 255u);
    EXPECT_EQ(compare<uint64_t>(RT_U64, {UINT64_MAX}, {0}, exact).max_ulp, UINT64_MAX);
    EXPECT_EQ(compare<int64_t>(RT_S64, {INT64_MIN}, {0}, exact).max_ulp, 1ull << 63);
}

TEST(Compare, E4m3ValuesAreTheFormats)
{
    std::vector<uint8_t> all(256);
    for (int i = 0; i < 256; i++)
        all[(size_t)i] = (uint8_t)i;
    rt_array a = view(RT_U8, all);
    EXPECT_EQ(rt_format_value(&a, 0x7e, RT_AS_E4M3), 448);
    EXPECT_EQ(rt_format_value(&a, 0x01, RT_AS_E4M3), 0x1p-9);
    EXPECT_EQ(rt_format_value(&a, 0xb8, RT_AS_E4M3), -1);
    EXPECT_EQ(rt_format_value(&a, 0x7b, RT_AS_E5M2), 57344);
    EXPECT_TRUE(std::isinf(rt_format_value(&a, 0x7c, RT_AS_E5M2)));
    char text[64];
    uint64_t shape[3] = {4, 8, 8};
    memcpy(a.shape, shape, sizeof shape);
    a.ndim = 3;
    EXPECT_STREQ(rt_index_text(&a, 100, text, sizeof text), "[1,4,4]");
    EXPECT_STREQ(rt_format_text(&a, 0x38, RT_AS_E4M3, text, sizeof text), "1 (0x38)");
}

// ---------------------------------------------------------------- positions

TEST(JsonPath, FindsValuesAndKeys)
{
    std::string text = "{\n  \"a\\\"\": [1, {\"b\": \"}]\"}],\n  \"c\": {\n    \"d\": [10, [2, 3],\n  true]}\n}";
    json_step root = {nullptr, nullptr, 0}, c = {&root, "c", 0}, d = {&c, "d", 0}, e = {&d, nullptr, 2},
              none = {&c, "x", 0};
    uint32_t line, column;
    char path[64];
    ASSERT_TRUE(json_path_locate(text.data(), text.size(), &e, false, &line, &column));
    EXPECT_EQ(line, 5u);
    EXPECT_EQ(column, 3u);
    ASSERT_TRUE(json_path_locate(text.data(), text.size(), &d, true, &line, &column));
    EXPECT_EQ(line, 4u);
    EXPECT_EQ(column, 5u);
    EXPECT_FALSE(json_path_locate(text.data(), text.size(), &none, false, &line, &column));
    EXPECT_STREQ(json_path_text(&e, path, sizeof path), "$.c.d[2]");
    EXPECT_STREQ(json_path_text(&root, path, sizeof path), "$");
}

// ---------------------------------------------------------------- case files

const char *const good = R"({
  "ptxbridge_case": 1,
  "description": "all there is",
  "ptx": "k.ptx",
  "entry": "k",
  "grid": [4], "block": [32, 2],
  "shared": 64, "cooperative": true,
  "mma_model": "hopper",
  "timeout_ms": 500,
  "buffers": {
    "x": {"npy": "x.npy"}, "w": {"npz": "/d/d.npz", "member": "w"}, "b": {"raw": "b.bin"},
    "r": {"random": {"seed": 7, "dtype": "f32", "shape": [16], "low": -1, "high": 1.5}},
    "y": {"zeros": {"dtype": "f16", "shape": [2, 3]}},
    "v": {"values": {"dtype": "f32", "data": [1, 2.5, "nan", "-inf", "0x7f800001"]}}
  },
  "textures": {"t": {"png": "t.png", "format": "u8", "address": ["wrap", "mirror"], "filter": "linear", "normalized_coords": true,
                     "read": "normalized_float"}},
  "surfaces": {"s": {"zeros": {"dtype": "f16", "shape": [4, 4, 4]}}},
  "params": [{"buffer": "x"}, {"buffer": "y", "offset": 16}, {"u32": 7}, {"s64": -1}, {"f32": 1.5}, {"f16": 1.0},
             {"texture": "t"}, {"surface": "s"}, {"null": true}, {"function": "f"}, {"u64": "0xffffffffffffffff"},
             {"struct": {"size": 144, "fields": [{"offset": 0, "u32": [256, 256]}, {"offset": 8, "buffer": "x", "buffer_offset": 4},
                                                 {"offset": 88, "texture": "t"}]}}],
  "globals": {"table": {"npy": "t.npy"}},
  "expect": [{"buffer": "y", "npy": "y.npy", "tolerance": {"ulp": 3}}, {"surface": "s", "npz": "d.npz", "member": "out"},
             {"global": "counter", "values": {"dtype": "u32", "data": [5]}, "tolerance": {"abs": 0.5}},
             {"buffer": "b", "raw": "b.out", "as": "e4m3"},
             {"printf": "hello\n"}, {"printf_sorted_lines": "a\nb\n"}, {"fault": "trap"}]
})";

TEST_F(Context, CaseFileIsRead)
{
    case_file *f;
    ASSERT_EQ(case_parse(ctx, "dir/case.json", good, strlen(good), &f), PXB_OK) << error();
    EXPECT_STREQ(f->ptx, "dir/k.ptx");
    EXPECT_TRUE(f->has_model);
    EXPECT_EQ(f->model, PXB_MMA_HOPPER);
    EXPECT_EQ(f->timeout_ms, 500u);
    ASSERT_EQ(f->nlaunches, 1u);
    const case_launch *l = f->launches;
    EXPECT_EQ(l->grid[0], 4u);
    EXPECT_EQ(l->grid[1], 1u);
    EXPECT_EQ(l->block[1], 2u);
    EXPECT_EQ(l->shared, 64u);
    EXPECT_TRUE(l->cooperative);
    ASSERT_EQ(l->nparams, 12u);
    EXPECT_EQ(l->params[1].fields->array_offset, 16u);
    EXPECT_EQ(l->params[3].fields->bits[0], UINT64_MAX);
    EXPECT_EQ(l->params[5].fields->bits[0], 0x3c00u);
    EXPECT_EQ(l->params[10].fields->bits[0], UINT64_MAX);
    EXPECT_EQ(l->params[11].size, 144u);
    EXPECT_EQ(l->params[11].fields[0].count, 2u);
    EXPECT_EQ(l->params[11].fields[1].array_offset, 4u);
    EXPECT_EQ(l->params[0].line, 19u);
    const case_array *w = case_find(f, CASE_BUFFER, "w"), *v = case_find(f, CASE_BUFFER, "v"),
                     *t = case_find(f, CASE_TEXTURE, "t");
    EXPECT_STREQ(w->source.path, "/d/d.npz");
    EXPECT_EQ(v->source.bits[1], 0x40200000u);
    EXPECT_EQ(v->source.bits[2], 0x7fc00000u & v->source.bits[2]);
    EXPECT_EQ(v->source.bits[3], 0xff800000u);
    EXPECT_EQ(v->source.bits[4], 0x7f800001u);
    EXPECT_EQ(t->image.sampler.address[0], PXB_ADDRESS_WRAP);
    EXPECT_EQ(t->image.sampler.address[1], PXB_ADDRESS_MIRROR);
    EXPECT_TRUE(t->image.sampler.normalized_coords);
    ASSERT_EQ(f->nexpects, 7u);
    EXPECT_EQ(f->expects[0].tolerance.ulp, 3u);
    EXPECT_EQ(f->expects[2].tolerance.kind, RT_ABS_REL);
    EXPECT_EQ(f->expects[3].format, RT_AS_E4M3);
    EXPECT_EQ(f->expects[6].fault, PXB_FAULT_TRAP);
    case_free(f);
}

// Every refusal names file, line, column and path.
TEST_F(Context, CaseRefusals)
{
    struct {
        const char *from, *to, *says;
    } changes[] = {
        {"\"shared\": 64", "\"shard\": 64", "case.json:7:3: error: $.shard: unknown key \"shard\""},
        {"\"ptxbridge_case\": 1", "\"ptxbridge_case\": 2", "case.json:2:21: error: $.ptxbridge_case: version 2"},
        {"\"entry\": \"k\",", "", "case.json:1:1: error: $: key \"entry\" is missing"},
        {"\"grid\": [4]", "\"grid\": [0]", "case.json:6:12: error: $.grid[0]: an extent must be at least 1"},
        {"\"grid\": [4]", "\"grid\": [1,1,1,1]", "$.grid: a list of 1 to 3 numbers"},
        {"\"grid\": [4]", "\"grid\": [4.5]", "an integer is wanted here, not a number with a fraction"},
        {"\"shared\": 64", "\"shared\": -1", "$.shared: -1 is out of range"},
        {"\"cooperative\": true", "\"cooperative\": 1", "$.cooperative: "},
        {"\"entry\": \"k\",\n  \"grid\": [4], \"block\": [32, 2],\n  \"shared\": 64,", "\"launches\": [],", "\"cooperative\" stands either here or in \"launches\""},
        {"\"hopper\"", "\"pascal\"", "$.mma_model: \"pascal\" is no mma model"},
        {"\"member\": \"w\"", "\"membr\": \"w\"", "$.buffers.w.membr: unknown key"},
        {"{\"npy\": \"x.npy\"}", "{}", "$.buffers.x: exactly one of npy"},
        {"{\"npy\": \"x.npy\"}", "{\"npy\": \"x.npy\", \"raw\": \"y\"}", "exactly one of npy"},
        {"{\"npy\": \"x.npy\"}", "{\"npy\": \"\"}", "the path is empty"},
        {"\"high\": 1.5", "\"high\": -2", "low must not be above high"},
        {"\"dtype\": \"f16\", \"shape\": [2, 3]", "\"dtype\": \"f8\", \"shape\": [2, 3]",
         "$.buffers.y.zeros.dtype: unknown dtype \"f8\""},
        {"\"shape\": [2, 3]", "\"shape\": [1000000, 1000000]", "would be larger than the limit"},
        {"\"shape\": [2, 3]", "\"shape\": [1,1,1,1,1,1,1,1,1]", "at most 8 dimensions"},
        {"[1, 2.5, ", "[1, true, ", "$.buffers.v.values.data[1]: a number is wanted here"},
        {"\"nan\"", "\"Nan\"", "\"Nan\" is neither"},
        {"\"0x7f800001\"", "\"0x17f800001\"", "is no 32-bit pattern"},
        {"\"mirror\"", "\"reflect\"", "$.textures.t.address[1]: \"reflect\" is no address mode"},
        {"{\"u32\": 7}", "{\"u32\": -7}", "$.params[2].u32: -7 does not fit u32"},
        {"{\"u32\": 7}", "{\"u32\": 7, \"f32\": 7}", "exactly one of buffer"},
        {"{\"u32\": 7}", "{\"u32\": 7.5}", "an integer is wanted here"},
        {"{\"u32\": 7}", "{\"u32\": 7, \"offset\": 1}", "\"offset\" goes with \"buffer\""},
        {"{\"buffer\": \"x\"}", "{\"buffer\": \"z\"}", "$.params[0].buffer: there is no buffer \"z\""},
        {"{\"null\": true}", "{\"null\": false}", "null is written"},
        {"\"offset\": 88", "\"offset\": 140", "do not fit a struct of 144"},
        {"\"size\": 144", "\"size\": 40000", "40000 is out of range"},
        {"{\"ulp\": 3}", "{\"ulp\": 3, \"abs\": 1}", "either ulp, or abs and rel"},
        {"{\"ulp\": 3}", "{\"ulps\": 3}", "$.expect[0].tolerance.ulps: unknown key"},
        {"{\"abs\": 0.5}", "{\"abs\": -0.5}", "a tolerance is not negative"},
        {"\"as\": \"e4m3\"", "\"as\": \"e3m4\"", "\"e3m4\" is no format"},
        {"{\"fault\": \"trap\"}", "{\"fault\": \"oops\"}", "\"oops\" is no fault"},
        {"{\"fault\": \"trap\"}", "{\"fault\": \"trap\", \"npy\": \"x\"}", "unknown key \"npy\""},
        {"{\"fault\": \"trap\"}", "{}", "exactly one of buffer, surface"},
        {"\"entry\": \"k\"", "\"launches\": [], \"entry\": \"k\"", "\"entry\" stands either here or in \"launches\""},
        {"\"description\": \"all there is\",", "\"entry\": \"k\",", "duplicate object key"},
        {"\"all there is\"", "\"all there is", "case.json:3"},
    };
    for (auto &change : changes) {
        std::string text = good;
        size_t at = text.find(change.from);
        ASSERT_NE(at, std::string::npos) << change.from;
        text.replace(at, strlen(change.from), change.to);
        case_file *f;
        EXPECT_EQ(case_parse(ctx, "case.json", text.data(), text.size(), &f), PXB_BAD_INPUT) << change.to;
        EXPECT_EQ(f, nullptr);
        EXPECT_NE(error().find(change.says), std::string::npos) << error() << "\n  wanted: " << change.says;
        case_free(f);
    }
}

TEST_F(Context, SeveralLaunches)
{
    const char *text = R"({"ptxbridge_case": 1, "ptx": "k.ptx", "launches": [
        {"entry": "a", "grid": [1], "block": [1]}, {"entry": "b", "grid": [2], "block": [3], "cooperative": true, "params": [{"u32": 1}]}]})";
    case_file *f;
    ASSERT_EQ(case_parse(ctx, "case.json", text, strlen(text), &f), PXB_OK) << error();
    ASSERT_EQ(f->nlaunches, 2u);
    EXPECT_STREQ(f->launches[1].entry, "b");
    EXPECT_EQ(f->launches[1].line, 2u);
    EXPECT_FALSE(f->launches[0].cooperative);
    EXPECT_TRUE(f->launches[1].cooperative);
    EXPECT_STREQ(f->ptx, "k.ptx");
    case_free(f);
}

// jansson reads no integer above 2^63 - 1. What looks like one in a string is left alone.
TEST_F(Context, IntegersOf64Bits)
{
    const std::string begin = R"({"ptxbridge_case":1,"ptx":"k.ptx","entry":"9999999999999999999","grid":[1],"block":[1],"buffers":{"\"9999999999999999999":)", end = "}}";
    case_file *f;
    rt_array got;
    std::string text = begin + R"({"values":{"dtype":"u64","data":[18446744073709551615,9223372036854775807, 9223372036854775808,0]}})" + end;
    ASSERT_EQ(case_parse(ctx, path("c.json").c_str(), text.data(), text.size(), &f), PXB_OK) << error();
    EXPECT_STREQ(f->launches[0].entry, "9999999999999999999");
    ASSERT_EQ(case_load_source(ctx, &case_find(f, CASE_BUFFER, "\"9999999999999999999")->source, &got), PXB_OK);
    const uint64_t expected[4] = {UINT64_MAX, INT64_MAX, UINT64_C(1) << 63, 0};
    EXPECT_EQ(memcmp(got.data, expected, sizeof expected), 0);
    rt_array_free(&got);
    case_free(f);
    for (const char *wrong : {R"("s64","data":[9223372036854775808])", R"("u32","data":[9223372036854775808])", R"("u64","data":[18446744073709551616])"}) {
        text = begin + R"({"values":{"dtype":)" + wrong + "}}" + end;
        EXPECT_EQ(case_parse(ctx, path("c.json").c_str(), text.data(), text.size(), &f), PXB_BAD_INPUT) << wrong;
    }
    text = begin + R"({"values":{"dtype":"f32","data":[9223372036854775808]}})" + end;
    EXPECT_EQ(case_parse(ctx, path("c.json").c_str(), text.data(), text.size(), &f), PXB_OK) << error();
    case_free(f);
}

TEST_F(Context, SourcesAreLoaded)
{
    rt_array x = make(RT_U16, {3}), got;
    ASSERT_EQ(rt_npy_write(ctx, path("x.npy").c_str(), &x), PXB_OK);
    std::ofstream(path("raw.bin")) << "abc";
    std::string text = R"({"ptxbridge_case":1,"ptx":"k.ptx","entry":"k","grid":[1],"block":[1],"buffers":{
        "n":{"npy":"x.npy"}, "r":{"raw":"raw.bin"}, "z":{"zeros":{"dtype":"u64","shape":[2,2]}},
        "v":{"values":{"dtype":"s8","data":[-1,2,3,4],"shape":[2,2]}}, "i":{"random":{"seed":-1,"dtype":"u8","shape":[50],"low":250,"high":256}}}})";
    case_file *f;
    ASSERT_EQ(case_parse(ctx, path("c.json").c_str(), text.data(), text.size(), &f), PXB_OK) << error();
    ASSERT_EQ(case_load_source(ctx, &case_find(f, CASE_BUFFER, "n")->source, &got), PXB_OK);
    EXPECT_TRUE(same(x, got));
    rt_array_free(&got);
    rt_array_free(&x);
    ASSERT_EQ(case_load_source(ctx, &case_find(f, CASE_BUFFER, "r")->source, &got), PXB_OK);
    EXPECT_EQ(got.bytes, 3u);
    rt_array_free(&got);
    ASSERT_EQ(case_load_source(ctx, &case_find(f, CASE_BUFFER, "v")->source, &got), PXB_OK);
    EXPECT_EQ(got.ndim, 2u);
    EXPECT_EQ(((int8_t *)got.data)[0], -1);
    rt_array_free(&got);
    ASSERT_EQ(case_load_source(ctx, &case_find(f, CASE_BUFFER, "i")->source, &got), PXB_OK);
    for (int i = 0; i < 50; i++)
        EXPECT_GE(((uint8_t *)got.data)[i], 250);
    rt_array_free(&got);
    case_free(f);
}

} // namespace
