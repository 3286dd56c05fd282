/* mma in `fast` mode: PTX translated for matrix cores and run on the simulator, against products computed here in double and
 * against the exact mode. Two warps carry different data; on gfx9 they share a wavefront. Largest differences are printed. */
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "ptx/module.h"
#include "runtime/sim/sim.h"
#include "translator/translator.h"
}

namespace {

struct Mma {
    uint32_t k;
    const char *d, *a, *b;                                                 /* c has d's type */
    bool satfinite;
    uint32_t bits(const char *type) const
    {
        const std::string t = type;
        return t == "tf32" ? 32 : t == "f16" || t == "bf16" ? 16 : t == "s4" || t == "u4" ? 4 : 8;
    }
    uint32_t slabs() const { return k * bits(a) / 128; }
    uint32_t results() const { return std::string(d) == "f16" ? 2 : 4; }
    bool integer() const { return d[0] == 's'; }
    std::string name() const { return "m16n8k" + std::to_string(k) + (satfinite ? "_satfinite_" : "_") + d + "_" + a + "_" + b; }
};

const Mma kMmas[] = {
    {16, "f32", "f16", "f16", false},   {8, "f32", "f16", "f16", false},    {16, "f16", "f16", "f16", false},   {8, "f16", "f16", "f16", false},
    {16, "f32", "bf16", "bf16", false}, {8, "f32", "bf16", "bf16", false},  {32, "f16", "e4m3", "e4m3", false}, {32, "f32", "e4m3", "e4m3", false},
    {32, "f32", "e5m2", "e4m3", false}, {32, "f16", "e4m3", "e5m2", false}, {32, "f32", "e5m2", "e5m2", false}, {16, "f32", "e4m3", "e4m3", false},
    {32, "s32", "s8", "s8", false},     {16, "s32", "s8", "s8", false},     {32, "s32", "u8", "s8", false},     {32, "s32", "s8", "s8", true},
    {64, "s32", "s4", "s4", false},     {32, "s32", "u4", "s4", false},     {8, "f32", "tf32", "tf32", false},  {4, "f32", "tf32", "tf32", false},
};

std::string registers(const char *prefix, uint32_t first, uint32_t n)
{
    std::string s = "{";
    for (uint32_t k = 0; k < n; k++) s += (k ? ", " : "") + std::string(prefix) + std::to_string(first + k);
    return s + "}";
}

/* Entry `name`: thread's A at 0, B at 16, C at 32 of its 64 bytes; D to its 16 bytes. With `lanes`, threads from there on leave first. */
std::string entry(const Mma &m, size_t number, uint32_t lanes = 0)
{
    const std::string f = std::string(m.d) == "f32" ? "%f" : "%r";
    std::string s = ".visible .entry e" + std::to_string(number) + "(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n"
                    ".reg .b64 %rd<8>;\n.reg .pred %p;\nld.param.u64 %rd1, [in];\nld.param.u64 %rd2, [out];\nmov.u32 %r30, %tid.x;\n";
    if (lanes) s += "setp.ge.u32 %p, %r30, " + std::to_string(lanes) + ";\n@%p exit;\n";
    s += "mad.wide.u32 %rd1, %r30, 64, %rd1;\nmad.wide.u32 %rd2, %r30, 16, %rd2;\n";
    for (uint32_t k = 0; k < 2 * m.slabs(); k++) s += "ld.global.b32 %r" + std::to_string(k) + ", [%rd1+" + std::to_string(4 * k) + "];\n";
    for (uint32_t k = 0; k < m.slabs(); k++) s += "ld.global.b32 %r" + std::to_string(4 + k) + ", [%rd1+" + std::to_string(16 + 4 * k) + "];\n";
    for (uint32_t k = 0; k < m.results(); k++) s += "ld.global.b32 " + f + std::to_string(8 + k) + ", [%rd1+" + std::to_string(32 + 4 * k) + "];\n";
    s += "mma.sync.aligned.m16n8k" + std::to_string(m.k) + ".row.col" + (m.satfinite ? ".satfinite" : "") + "." + m.d + "." + m.a + "." + m.b + "." + m.d + " " +
         registers(f.c_str(), 12, m.results()) + ", " + registers("%r", 0, 2 * m.slabs()) + ", " + registers("%r", 4, m.slabs()) + ", " +
         registers(f.c_str(), 8, m.results()) + ";\n";
    for (uint32_t k = 0; k < m.results(); k++) s += "st.global.b32 [%rd2+" + std::to_string(4 * k) + "], " + f + std::to_string(12 + k) + ";\n";
    return s + "ret;\n}\n";
}

struct Case { uint32_t in[64][16], out[64][4]; };

/* The kernels of a target, translated once in each mode. */
class Program {
  public:
    Program(const char *target, const std::string &text, bool fast)
    {
        ptx_module *module = ptx_parse(text.data(), text.size(), "fast.ptx");
        EXPECT_EQ(module->nerrors, 0u) << (module->ndiagnostics ? module->diagnostics[0].message : "");
        xl_options options = {};
        options.target = target;
        options.emit = XL_EMIT_HSACO;
        options.mma_fast = fast;
        xl_result result;
        const bool ok = xl_translate(module, &options, &result);
        EXPECT_TRUE(ok) << result.message;
        char text_of_notes[4096];
        xl_mma_notes(module, target, text_of_notes, sizeof text_of_notes);
        notes = text_of_notes;
        sim_options so = {};
        so.target = target;
        so.threads = 1;
        sim_error error;
        device_ = sim_open(&so, &error);
        if (ok && device_) module_ = sim_module_load(device_, result.data, result.size, &error);
        EXPECT_NE(module_, nullptr) << error.reason;
        free(result.data);
        ptx_module_free(module);
    }
    Program(const Program &) = delete;
    ~Program()
    {
        if (module_) sim_module_unload(module_);
        if (device_) sim_close(device_);
    }
    void run(size_t number, Case &c, uint32_t threads = 64)
    {
        ASSERT_NE(module_, nullptr);
        sim_error error = {};
        sim_kernel *kernel = sim_kernel_get(module_, ("e" + std::to_string(number)).c_str(), &error);
        ASSERT_NE(kernel, nullptr) << error.reason;
        uint64_t pointers[2] = {sim_alloc(device_, sizeof c.in), sim_alloc(device_, sizeof c.out)};
        sim_write(device_, pointers[0], c.in, sizeof c.in);
        sim_launch launch = {};
        for (uint32_t k = 0; k < 3; k++) launch.grid[k] = launch.block[k] = 1;
        launch.block[0] = threads;
        launch.kernarg = pointers;
        launch.kernarg_bytes = sizeof pointers;
        launch.counts = &counts;
        EXPECT_EQ(sim_run(kernel, &launch, &error), SIM_OK) << error.instruction << ": " << error.reason;
        sim_read(device_, c.out, pointers[1], sizeof c.out);
        for (const uint64_t p : pointers) sim_free(device_, p);
    }
    std::string notes;
    sim_counts counts = {};

  private:
    sim_device *device_ = nullptr;
    sim_module *module_ = nullptr;
};

/* ------------------------------------------------------------ numbers */

double small_float(uint32_t bits, int exponent, int fraction, int bias, int specials)
{
    const int e = static_cast<int>(bits >> fraction & ((1u << exponent) - 1)), m = static_cast<int>(bits & ((1u << fraction) - 1));
    const bool sign = bits >> (exponent + fraction) & 1;
    double v = e ? std::ldexp(1 + std::ldexp(m, -fraction), e - bias) : std::ldexp(m, 1 - bias - fraction);
    if (specials == 1 && e == (1 << exponent) - 1) v = m ? NAN : INFINITY;
    if (specials == 2 && e == (1 << exponent) - 1 && m == (1 << fraction) - 1) v = NAN;
    return sign ? -v : v;
}

double value_of(const std::string &type, uint32_t bits)
{
    if (type == "s8") return static_cast<int8_t>(bits);
    if (type == "u8" || type == "u4") return bits;
    if (type == "s4") return bits & 8 ? static_cast<int>(bits) - 16 : static_cast<int>(bits);
    if (type == "s32") return static_cast<int32_t>(bits);
    if (type == "f16") return small_float(bits, 5, 10, 15, 1);
    if (type == "bf16") return small_float(bits, 8, 7, 127, 1);
    if (type == "e4m3") return small_float(bits, 4, 3, 7, 2);
    if (type == "e5m2") return small_float(bits, 5, 2, 15, 1);
    if (type == "tf32") bits &= 0xffffe000;
    return small_float(bits, 8, 23, 127, 1);
}

/* An element: finite, of moderate size, −0 and e4m3's subnormals among them. */
uint32_t draw(const std::string &type, std::mt19937 &random)
{
    const uint32_t r = random(), sign = r >> 31;
    if (r % 11 == 0) return type == "f16" || type == "bf16" ? sign << 15 : type == "tf32" ? sign << 31 : type[0] == 'e' ? sign << 7 : 0;
    if (type == "f16") return sign << 15 | (9 + r % 11) << 10 | (r >> 8 & 0x3ff);
    if (type == "bf16") return sign << 15 | (121 + r % 11) << 7 | (r >> 8 & 0x7f);
    if (type == "tf32") return sign << 31 | (121 + r % 11) << 23 | (r >> 8 & 0x7fe000) | (r & 0x1fff);
    if (type == "e4m3") return sign << 7 | r % 13 << 3 | (r >> 8 & 7);
    if (type == "e5m2") return sign << 7 | (8 + r % 14) << 2 | (r >> 8 & 3);
    if (type == "f32") return sign << 31 | (121 + r % 11) << 23 | (r >> 8 & 0x7fffff);
    return type == "s4" || type == "u4" ? r >> 8 & 15 : type == "s32" ? r >> 12 : r >> 8 & 0xff;
}

uint32_t draw_word(const std::string &type, uint32_t bits, std::mt19937 &random)
{
    uint32_t w = 0;
    for (uint32_t k = 0; k < 32; k += bits) w |= draw(type, random) << k;
    return w;
}

void fill(const Mma &m, Case &c, std::mt19937 &random)
{
    memset(&c, 0, sizeof c);
    for (uint32_t t = 0; t < 64; t++) {
        for (uint32_t k = 0; k < 2 * m.slabs(); k++) c.in[t][k] = draw_word(m.a, m.bits(m.a), random);
        for (uint32_t k = 0; k < m.slabs(); k++) c.in[t][4 + k] = draw_word(m.b, m.bits(m.b), random);
        for (uint32_t k = 0; k < m.results(); k++) c.in[t][8 + k] = draw_word(m.d, m.results() == 2 ? 16 : 32, random);
    }
}

/* A[row][k] and B[k][column] by PTX's fragments: lane 4g + t has word t of rows g, g + 8 and of column g. */
double element_a(const Mma &m, const Case &c, uint32_t warp, uint32_t row, uint32_t k)
{
    const uint32_t bits = m.bits(m.a), word = k * bits / 32;
    const uint32_t w = c.in[warp * 32 + row % 8 * 4 + word % 4][row / 8 + 2 * (word / 4)];
    return value_of(m.a, bits == 32 ? w : w >> k * bits % 32 & ((1u << bits) - 1));
}
double element_b(const Mma &m, const Case &c, uint32_t warp, uint32_t k, uint32_t column)
{
    const uint32_t bits = m.bits(m.b), word = k * bits / 32;
    const uint32_t w = c.in[warp * 32 + column * 4 + word % 4][4 + word / 4];
    return value_of(m.b, bits == 32 ? w : w >> k * bits % 32 & ((1u << bits) - 1));
}

double element_d(const Mma &m, const uint32_t *words, uint32_t e)
{
    return m.results() == 2 ? value_of("f16", words[e / 2] >> e % 2 * 16 & 0xffff) : value_of(m.d, words[e]);
}

/* The wanted value, and the sum of its terms' sizes. */
double wanted(const Mma &m, const Case &c, uint32_t thread, uint32_t e, double *size)
{
    const uint32_t warp = thread / 32, row = thread % 32 / 4 + e / 2 * 8, column = thread % 4 * 2 + e % 2;
    double sum = element_d(m, c.in[thread] + 8, e);
    *size = std::fabs(sum);
    for (uint32_t k = 0; k < m.k; k++) {
        const double p = element_a(m, c, warp, row, k) * element_b(m, c, warp, k, column);
        sum += p;
        *size += std::fabs(p);
    }
    if (m.satfinite) sum = std::min(std::max(sum, -2147483648.0), 2147483647.0);
    return sum;
}

/* Difference between a result and the wanted value beyond what the format has to round; NaN and infinities must agree. */
void compare(const Mma &m, const Case &c, uint32_t threads, double *largest)
{
    for (uint32_t t = 0; t < threads; t++)
        for (uint32_t e = 0; e < 4; e++) {
            double size, got = element_d(m, c.out[t], e), want = wanted(m, c, t, e, &size);
            if (m.integer()) want = static_cast<int32_t>(static_cast<int64_t>(want));
            if (std::isnan(want)) {
                EXPECT_TRUE(std::isnan(got)) << "thread " << t << " element " << e << " " << got;
                continue;
            }
            const bool half = m.results() == 2;
            if (half && std::fabs(want) > 65500) {
                EXPECT_GT(want > 0 ? got : -got, 65400) << "thread " << t;
                continue;
            }
            if (std::isinf(want) || std::isinf(got)) {
                EXPECT_EQ(got, want) << "thread " << t << " element " << e;
                continue;
            }
            const double bound = m.integer() ? 0 : size * 0x1p-19 + (half ? std::fabs(want) * 0x1p-11 + 0x1p-25 : 0);
            EXPECT_LE(std::fabs(got - want), bound) << "thread " << t << " element " << e << " " << got << " is not " << want;
            if (size > 0) *largest = std::max(*largest, std::fabs(got - want) / size);
        }
}

std::string module_text(uint32_t lanes = 0)
{
    std::string text = ".version 8.7\n.target sm_120a\n.address_size 64\n";
    for (size_t k = 0; k < std::size(kMmas); k++) text += entry(kMmas[k], k, lanes);
    return text;
}

class Fast : public testing::TestWithParam<const char *> {};

TEST_P(Fast, ProductsOfEveryKind)
{
    Program fast(GetParam(), module_text(), true), exact(GetParam(), module_text(), false);
    std::mt19937 random(7);
    printf("%s\n%s", GetParam(), fast.notes.c_str());
    for (size_t n = 0; n < std::size(kMmas); n++) {
        const Mma &m = kMmas[n];
        SCOPED_TRACE(m.name());
        double largest = 0, apart = 0;
        for (int round = 0; round < 3; round++) {
            Case a, b;
            fill(m, a, random);
            b = a;
            const uint64_t before = fast.counts.executed[SIM_CLASS_VMEM], waves = std::string(GetParam()).substr(0, 4) == "gfx9" ? 1 : 2;
            fast.run(n, a);
            EXPECT_LE(fast.counts.executed[SIM_CLASS_VMEM] - before, waves * (3 * m.slabs() + 2 * m.results())) << "where all lanes are on, nothing is saved in scratch";
            exact.run(n, b);
            compare(m, a, 64, &largest);
            for (uint32_t t = 0; t < 64; t++)
                for (uint32_t e = 0; e < 4; e++) {
                    double size;
                    wanted(m, a, t, e, &size);
                    const double x = element_d(m, a.out[t], e), y = element_d(m, b.out[t], e);
                    if (std::isfinite(x) && std::isfinite(y) && size > 0) apart = std::max(apart, std::fabs(x - y) / size);
                }
        }
        printf("  %-28s largest error %.3g, from the exact mode (ada) %.3g, of the sum of sizes\n", m.name().c_str(), largest, apart);
    }
    EXPECT_GT(fast.counts.executed[SIM_CLASS_MATRIX], 0u);
    EXPECT_EQ(exact.counts.executed[SIM_CLASS_MATRIX], 0u);
}

/* NaN, infinities and −0 in one warp: they come out there as they must, and the other warp does not see them. */
TEST_P(Fast, SpecialsStayInTheirWarp)
{
    Program fast(GetParam(), module_text(), true);
    std::mt19937 random(11);
    for (size_t n = 0; n < std::size(kMmas); n++) {
        const Mma &m = kMmas[n];
        if (m.integer() || m.bits(m.a) == 32) continue;
        SCOPED_TRACE(m.name());
        Case clean, odd;
        fill(m, clean, random);
        odd = clean;
        const uint32_t bits = m.bits(m.a), count = 32 / bits;
        for (uint32_t t = 32; t < 64; t++)                                 /* A of rows 0, 3 and 6, B of column 5 */
            for (uint32_t k = 0; k < 2 * m.slabs(); k++)
                if (t % 32 / 4 % 3 == 0)
                    for (uint32_t e = 0; e < count; e++) {
                        static const uint32_t f16[] = {0x7c00, 0xfc00, 0x8000, 0x7e00}, bf16[] = {0x7f80, 0xff80, 0x8000, 0x7fc0}, e5m2[] = {0x7c, 0xfc, 0x80, 0x7f},
                                              e4m3[] = {0x7f, 0xff, 0x80, 0x7e};
                        const std::string type = m.a;
                        const uint32_t *from = type == "f16" ? f16 : type == "bf16" ? bf16 : type == "e5m2" ? e5m2 : e4m3, mask = (1u << bits) - 1;
                        if ((t + k + e) % 5 == 0) odd.in[t][k] = (odd.in[t][k] & ~(mask << e * bits)) | from[(t / 4 + k) % 4] << e * bits;
                    }
        fast.run(n, clean);
        fast.run(n, odd);
        double largest = 0;
        compare(m, odd, 64, &largest);
        EXPECT_EQ(memcmp(clean.out, odd.out, sizeof clean.out / 2), 0);
    }
}

/* A block of one warp, and a warp whose neighbour has left: the other half of a gfx9 wavefront does not execute. */
TEST_P(Fast, LoneWarps)
{
    Program whole(GetParam(), module_text(), true), lone(GetParam(), module_text(32), true);
    std::mt19937 random(13);
    for (size_t n = 0; n < std::size(kMmas); n++) {
        SCOPED_TRACE(kMmas[n].name());
        Case both, one, left;
        fill(kMmas[n], both, random);
        one = left = both;
        whole.run(n, both);
        whole.run(n, one, 32);
        lone.run(n, left);
        EXPECT_EQ(memcmp(both.out, one.out, sizeof one.out / 2), 0);
        EXPECT_EQ(memcmp(both.out, left.out, sizeof left.out / 2), 0);
        for (uint32_t t = 32; t < 64; t++) EXPECT_EQ(left.out[t][0], 0u);
    }
}

/* e4m3 in FNUZ: all pairs of bytes, one product each. */
TEST(FastFnuz, EveryPairOfBytes)
{
    const Mma m = {32, "f32", "e4m3", "e4m3", false};
    Program fast("gfx942", ".version 8.7\n.target sm_120a\n.address_size 64\n" + entry(m, 0), true);
    EXPECT_NE(fast.notes.find("mfma.f32.16x16x32.fp8.fp8"), std::string::npos) << fast.notes;
    for (uint32_t first = 0; first < 256; first += 16)                     /* rows: 16 bytes of A; columns: 8 of B in each warp */
        for (uint32_t second = 0; second < 256; second += 16) {
            Case c = {};
            for (uint32_t t = 0; t < 64; t += 4) {
                c.in[t][0] = first + t % 32 / 4;
                c.in[t][1] = first + t % 32 / 4 + 8;
                c.in[t][4] = second + t / 4;
            }
            fast.run(0, c);
            for (uint32_t t = 0; t < 64; t++)
                for (uint32_t e = 0; e < 4; e++) {
                    const double a = value_of("e4m3", first + t % 32 / 4 + e / 2 * 8), b = value_of("e4m3", second + t / 32 * 8 + t % 4 * 2 + e % 2);
                    const double got = element_d(m, c.out[t], e);
                    EXPECT_TRUE(std::isnan(a * b) ? c.out[t][e] == 0x7fffffff : got == a * b) << first << " " << second << " thread " << t << " " << got;
                }
        }
}

/* A processor without matrix cores, and an mma without a form for them, stay exact, work, and say so. */
TEST(FastNotes, WhatStaysExact)
{
    const std::string text = ".version 8.7\n.target sm_120a\n.address_size 64\n" + entry(kMmas[0], 0) + entry({64, "s32", "s4", "s4", false}, 1);
    ptx_module *module = ptx_parse(text.data(), text.size(), "fast.ptx");
    xl_options options = {};
    options.emit = XL_EMIT_LLVM;
    options.mma_fast = true;
    for (const char *target : {"gfx1030", "gfx942"}) {
        const bool has = std::string(target) == "gfx942";
        xl_result result;
        options.target = target;
        ASSERT_TRUE(xl_translate(module, &options, &result)) << result.message;
        EXPECT_EQ(std::string(result.data).find("mfma") != std::string::npos, has);
        free(result.data);
        char notes[1024];
        xl_mma_notes(module, target, notes, sizeof notes);
        EXPECT_EQ(std::string(notes), std::string("mma_m16n8k16_f32_f16_f16_f32: ") + (has ? "mfma.f32.16x16x16f16" : "exact") + "\nmma_m16n8k64_s32_s4_s4_s32: exact\n");
    }
    EXPECT_EQ(xl_matrix_core("gfx1100", "mma_sp_m16n8k32_f32_f16_f16_f32"), nullptr);
    EXPECT_EQ(xl_matrix_core("gfx1100", "wmma_m16n16k16_row_col_f32_f32"), nullptr);
    ptx_module_free(module);
}

INSTANTIATE_TEST_SUITE_P(Targets, Fast, testing::Values("gfx1100", "gfx1201", "gfx90a", "gfx942", "gfx950"));

}  // namespace
