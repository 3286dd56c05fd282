/* Matrix instructions of the simulator. Layouts are checked as bijections and, at chosen places, against figures of AMD's
 * documents; products against a plain multiplication of matrices whose results are exact in every model; models of rounding
 * against published witnesses. */
#include <algorithm>
#include <cmath>
#include <random>
#include <memory>
#include "tests/sim_harness.h"

extern "C" {
#include "runtime/sim/matrix.h"
}

namespace {

bool is_gfx9(const sim_matrix &m) { return m.family == MATRIX_MFMA; }

std::vector<uint32_t> lanes_of(const sim_matrix &m) { return is_gfx9(m) ? std::vector<uint32_t>{64} : std::vector<uint32_t>{32, 64}; }

/* ------------------------------------------------------------ layouts */

/* No two elements share a bit, and the bits that elements take fill whole lanes' registers. */
class Cover {
  public:
    void add(matrix_place p, uint32_t bits)
    {
        ASSERT_LT(p.lane, 64u);
        ASSERT_LE(p.bit + bits, kBits);
        for (uint32_t k = p.bit; k < p.bit + bits; k++) {
            EXPECT_FALSE(seen_[p.lane * kBits + k]) << "lane " << p.lane << " bit " << k;
            seen_[p.lane * kBits + k] = true;
        }
        most_ = std::max(most_, p.bit + bits);
    }
    /* Every one of so many lanes, from bit 0 on. */
    void expect_full(uint32_t lanes) const
    {
        for (uint32_t lane = 0; lane < 64; lane++)
            for (uint32_t k = 0; k < kBits; k++) ASSERT_EQ(seen_[lane * kBits + k], lane < lanes && k < most_) << "lane " << lane << " bit " << k;
    }

  private:
    static constexpr uint32_t kBits = 1024;
    std::vector<bool> seen_ = std::vector<bool>(64 * kBits);
    uint32_t most_ = 0;
};

void check_layout(const sim_matrix &m, matrix_type a, matrix_type b, uint32_t lanes)
{
    SCOPED_TRACE(std::string(m.name) + " " + std::to_string(lanes) + " " + std::to_string(a));
    Cover ca, cb, cd, ci;
    const uint32_t ks = m.sparse ? m.k / 2 : m.k;
    for (uint32_t block = 0; block < m.blocks; block++) {
        for (uint32_t i = 0; i < m.m; i++)
            for (uint32_t k = 0; k < ks; k++) {
                ca.add(sim_matrix_place_a(&m, a, lanes, i, k, block), sim_matrix_bits(a));
                if (m.sparse) ci.add(sim_matrix_place_index(&m, lanes, i, k), 2);
            }
        for (uint32_t j = 0; j < m.n; j++)
            for (uint32_t k = 0; k < m.k; k++) cb.add(sim_matrix_place_b(&m, b, lanes, k, j, block), sim_matrix_bits(b));
        for (uint32_t i = 0; i < m.m; i++)
            for (uint32_t j = 0; j < m.n; j++) {
                /* 16-bit results of gfx11 have a register each */
                const bool apart = m.family == MATRIX_WMMA11 && sim_matrix_bits(m.d) == 16;
                cd.add(sim_matrix_place_d(&m, lanes, i, j, block), apart ? 32 : sim_matrix_bits(m.d));
            }
    }
    /* in wave64, operands of at most a register per 16 lanes leave half of the lanes alone */
    const auto in_use = [&](uint32_t elements, uint32_t bits) {
        if (m.family == MATRIX_WMMA11) return 16u;
        return lanes == 64 && !is_gfx9(m) && elements * bits / 64 < 32 ? 32 : lanes;
    };
    ca.expect_full(in_use(m.m * ks, sim_matrix_bits(a)));
    cb.expect_full(in_use(m.n * m.k, sim_matrix_bits(b)));
    cd.expect_full(lanes);
    if (m.sparse) ci.expect_full(in_use(m.m * ks, sim_matrix_bits(a)));
}

TEST(SimMatrixLayout, EveryOneIsABijection)
{
    for (uint32_t k = 0; k < sim_matrix_count(); k++) {
        const sim_matrix &m = *sim_matrix_at(k);
        for (const uint32_t lanes : lanes_of(m)) {
            if (m.a != M_F8F6F4) check_layout(m, m.a, m.b, lanes);
            else
                for (const matrix_type type : {M_FP8, M_BF8, M_FP6, M_BF6, M_FP4}) check_layout(m, type, type, lanes);
        }
    }
}

const sim_matrix &find(const std::string &name, matrix_family family)
{
    for (uint32_t k = 0; k < sim_matrix_count(); k++)
        if (sim_matrix_at(k)->name == name && sim_matrix_at(k)->family == family) return *sim_matrix_at(k);
    ADD_FAILURE() << name;
    return *sim_matrix_at(0);
}

/* Lane, register, lowest bit. */
void expect_place(matrix_place p, uint32_t lane, uint32_t reg, uint32_t bit)
{
    EXPECT_EQ(p.lane, lane);
    EXPECT_EQ(p.bit / 32, reg);
    EXPECT_EQ(p.bit % 32, bit);
}

/* Figures of the documents. */
TEST(SimMatrixLayout, KnownPlaces)
{
    const sim_matrix &f16 = find("v_mfma_f32_16x16x16_f16", MATRIX_MFMA);
    expect_place(sim_matrix_place_a(&f16, M_F16, 64, 5, 7, 0), 21, 1, 16);
    expect_place(sim_matrix_place_b(&f16, M_F16, 64, 12, 3, 0), 51, 0, 0);
    expect_place(sim_matrix_place_d(&f16, 64, 6, 9, 0), 25, 2, 0);
    const sim_matrix &wide = find("v_mfma_f32_32x32x2_f32", MATRIX_MFMA);
    expect_place(sim_matrix_place_a(&wide, M_F32, 64, 4, 1, 0), 36, 0, 0);
    expect_place(sim_matrix_place_d(&wide, 64, 13, 2, 0), 34, 5, 0);
    const sim_matrix &fp8 = find("v_mfma_f32_32x32x16_fp8_fp8", MATRIX_MFMA);
    expect_place(sim_matrix_place_a(&fp8, M_FP8, 64, 3, 13, 0), 35, 1, 8);
    const sim_matrix &f64 = find("v_mfma_f64_16x16x4_f64", MATRIX_MFMA);
    expect_place(sim_matrix_place_d(&f64, 64, 6, 9, 0), 41, 2, 0);
    const sim_matrix &small = find("v_mfma_f32_4x4x4_16b_f16", MATRIX_MFMA);
    expect_place(sim_matrix_place_a(&small, M_F16, 64, 2, 3, 7), 30, 1, 16);
    expect_place(sim_matrix_place_d(&small, 64, 3, 1, 7), 29, 3, 0);
    const sim_matrix &g11 = find("v_wmma_f32_16x16x16_f16", MATRIX_WMMA11);
    expect_place(sim_matrix_place_a(&g11, M_F16, 32, 6, 11, 0), 6, 5, 16);
    expect_place(sim_matrix_place_d(&g11, 32, 7, 2, 0), 18, 3, 0);           /* odd rows in the upper lanes */
    const sim_matrix &g12 = find("v_wmma_f32_16x16x16_f16", MATRIX_WMMA12);
    expect_place(sim_matrix_place_a(&g12, M_F16, 32, 6, 13, 0), 22, 2, 16);
    expect_place(sim_matrix_place_d(&g12, 32, 10, 2, 0), 18, 2, 0);
    const sim_matrix &g12f8 = find("v_wmma_f32_16x16x16_fp8_fp8", MATRIX_WMMA12);
    expect_place(sim_matrix_place_b(&g12f8, M_FP8, 32, 13, 4, 0), 20, 1, 8);
    const sim_matrix &scaled = find("v_mfma_scale_f32_32x32x64_f8f6f4", MATRIX_MFMA);
    expect_place(sim_matrix_place_a(&scaled, M_FP8, 64, 1, 16, 0), 33, 0, 0);   /* two runs of 16 */
    expect_place(sim_matrix_place_a(&scaled, M_FP8, 64, 1, 32, 0), 1, 4, 0);
    expect_place(sim_matrix_place_a(&scaled, M_FP4, 64, 1, 32, 0), 33, 0, 0);
}

/* ------------------------------------------------------------ products that are exact in every model */

/* Encodings of small numbers that every format of the type holds. */
struct Number { double value; uint64_t bits; };

uint64_t encode(matrix_type type, bool fnuz, double v)
{
    if (type == M_F64) {
        uint64_t b;
        memcpy(&b, &v, 8);
        return b;
    }
    if (type == M_F32 || type == M_XF32) {
        const float f = static_cast<float>(v);
        uint32_t b;
        memcpy(&b, &f, 4);
        return b;
    }
    const int32_t whole = static_cast<int32_t>(v);
    if (type == M_I8 || type == M_IU8) return static_cast<uint8_t>(whole);
    if (type == M_IU4) return static_cast<uint8_t>(whole) & 15;
    if (type == M_I32) return static_cast<uint32_t>(whole);
    struct { int exponent, fraction, bias; } f = {5, 10, 15};
    if (type == M_BF16) f = {8, 7, 127};
    if (type == M_FP8) f = {4, 3, fnuz ? 8 : 7};
    if (type == M_BF8) f = {5, 2, fnuz ? 16 : 15};
    if (type == M_FP6) f = {2, 3, 1};
    if (type == M_BF6) f = {3, 2, 3};
    if (type == M_FP4) f = {2, 1, 1};
    if (v == 0) return 0;
    int e;
    const double m = std::frexp(std::fabs(v), &e) * 2;                       /* in [1, 2) */
    e += f.bias - 1;
    uint64_t bits = e > 0 ? static_cast<uint64_t>(e) << f.fraction | static_cast<uint64_t>((m - 1) * (1 << f.fraction))
                          : static_cast<uint64_t>(std::ldexp(m, f.fraction + e - 1));
    return bits | (v < 0 ? 1ull << (f.exponent + f.fraction) : 0);
}

/* Values that the type holds exactly and whose sums of products stay exact in f32, and in f16 and bf16 where D is that. */
double draw(matrix_type type, matrix_type d, std::mt19937 &random, bool is_signed)
{
    const int r = static_cast<int>(random() % 5) - 2;                          /* −2…2 */
    switch (type) {
    case M_I8: return static_cast<int>(random() % 256) - 128;
    case M_IU8: return is_signed ? static_cast<int>(random() % 256) - 128 : static_cast<int>(random() % 256);
    case M_IU4: return is_signed ? static_cast<int>(random() % 16) - 8 : static_cast<int>(random() % 16);
    case M_FP4: return r * 0.5;
    default: return d == M_BF16 ? r / 2 : d == M_F16 ? r : r * (random() % 2 ? 0.5 : 1);
    }
}

void put_bits(Snippet &s, uint32_t row, uint32_t lane, uint32_t bit, uint32_t width, uint64_t value)
{
    for (uint32_t k = 0; k < width; k++) {
        uint32_t &r = s.v(row + (bit + k) / 32, lane);
        r = (r & ~(1u << (bit + k) % 32)) | static_cast<uint32_t>(value >> k & 1) << (bit + k) % 32;
    }
}

uint64_t get_bits(Snippet &s, uint32_t row, uint32_t lane, uint32_t bit, uint32_t width)
{
    uint64_t v = 0;
    for (uint32_t k = 0; k < width; k++) v |= static_cast<uint64_t>(s.v(row + (bit + k) / 32, lane) >> (bit + k) % 32 & 1) << k;
    return v;
}

std::string regs(uint32_t first, uint32_t bits)
{
    const uint32_t n = (bits + 31) / 32;
    return n <= 1 ? "v" + std::to_string(first) : "v[" + std::to_string(first) + ":" + std::to_string(first + n - 1) + "]";
}

enum { A_ROW = 0, B_ROW = 32, C_ROW = 64, D_ROW = 128, INDEX_ROW = 200, SCALE_ROW = 204 };

uint32_t bits_per_lane(const sim_matrix &m, uint32_t elements, uint32_t bits, uint32_t lanes)
{
    if (m.family == MATRIX_WMMA11) return elements * bits / 16;
    const uint32_t each = elements * bits / lanes;
    return each < 32 && lanes == 64 && !is_gfx9(m) ? elements * bits / 32 : each;
}

/* Text of the instruction with operands where the test puts them. */
std::string instruction(const sim_matrix &m, matrix_type a, matrix_type b, uint32_t lanes, const std::string &modifiers)
{
    const uint32_t ks = m.sparse ? m.k / 2 : m.k, dbits = m.family == MATRIX_WMMA11 ? 32 : sim_matrix_bits(m.d);
    const uint32_t d = m.m * m.n * m.blocks * dbits / lanes;
    std::string text = std::string(m.name) + " " + regs(m.sparse ? C_ROW : D_ROW, d) + ", " +
                       regs(A_ROW, bits_per_lane(m, m.m * ks * m.blocks, sim_matrix_bits(a), lanes)) + ", " +
                       regs(B_ROW, bits_per_lane(m, m.n * m.k * m.blocks, sim_matrix_bits(b), lanes)) + ", ";
    text += m.sparse ? "v" + std::to_string(INDEX_ROW) : regs(C_ROW, d);
    if (m.scaled) text += ", v" + std::to_string(SCALE_ROW) + ", v" + std::to_string(SCALE_ROW + 1);
    return text + modifiers;
}

/* One product on random exact numbers, against the sum over k of A[i][k] B[k][j]. */
class Product {
  public:
    Product(const char *target, const sim_matrix &m, matrix_type a, matrix_type b, const std::string &modifiers = "", bool sa = true, bool sb = true)
        : m_(m), at_(a), bt_(b), s_(target, instruction(m, a, b, is_gfx9(m) ? 64 : 32, modifiers)), signed_a_(sa), signed_b_(sb)
    {
        random_.seed(static_cast<uint32_t>(std::hash<std::string>()(m.name)));
        fnuz_ = s_.wave->target->fnuz;
    }
    Snippet &snippet() { return s_; }
    void run()
    {
        SCOPED_TRACE(m_.name);
        for (uint32_t block = 0; block < m_.blocks; block++) fill(block);
        s_.go();
        for (uint32_t block = 0; block < m_.blocks; block++)
            for (uint32_t i = 0; i < m_.m; i++)
                for (uint32_t j = 0; j < m_.n; j++) check(block, i, j);
    }

  private:
    uint32_t ks() const { return m_.sparse ? m_.k / 2 : m_.k; }
    void put_copies(uint32_t row, matrix_place p, uint32_t bits, uint64_t value)
    {
        for (uint32_t copy = 0; copy < (m_.family == MATRIX_WMMA11 ? s_.lanes() / 16 : 1); copy++) put_bits(s_, row, p.lane + 16 * copy, p.bit, bits, value);
    }
    void fill(uint32_t block)
    {
        for (uint32_t i = 0; i < m_.m; i++)
            for (uint32_t k = 0; k < ks(); k++) {
                const double v = a_[block][i][k] = draw(at_, m_.d, random_, signed_a_);
                put_copies(A_ROW, sim_matrix_place_a(&m_, at_, s_.lanes(), i, k, block), sim_matrix_bits(at_), encode(at_, fnuz_, v));
                index_[i][k] = k;
                if (!m_.sparse) continue;
                const uint32_t chosen = k % 2 ? 1 + (i + k) % 3 : (i + k) % 2 * (k % 4 == 2);   /* two of four, in rising order mostly */
                index_[i][k] = k / 2 * 4 + chosen;
                const matrix_place p = sim_matrix_place_index(&m_, s_.lanes(), i, k);
                put_bits(s_, INDEX_ROW, p.lane, p.bit, 2, chosen);
            }
        for (uint32_t j = 0; j < m_.n; j++)
            for (uint32_t k = 0; k < m_.k; k++) {
                const double v = b_[block][k][j] = draw(bt_, m_.d, random_, signed_b_);
                put_copies(B_ROW, sim_matrix_place_b(&m_, bt_, s_.lanes(), k, j, block), sim_matrix_bits(bt_), encode(bt_, fnuz_, v));
            }
        for (uint32_t i = 0; i < m_.m; i++)
            for (uint32_t j = 0; j < m_.n; j++) {
                const double v = c_[block][i][j] = static_cast<int>(random_() % 17) - 8;
                const matrix_place p = sim_matrix_place_d(&m_, s_.lanes(), i, j, block);
                put_bits(s_, C_ROW, p.lane, p.bit, sim_matrix_bits(m_.d), encode(m_.d, false, v));
            }
        for (uint32_t lane = 0; lane < s_.lanes() && m_.scaled; lane++) {         /* A: 2^(lane % 3), B: 2^-1 */
            s_.v(SCALE_ROW, lane) = 127 + lane % 3;
            s_.v(SCALE_ROW + 1, lane) = 126;
        }
    }
    double scale(uint32_t i, uint32_t k) const { return m_.scaled ? std::ldexp(0.5, static_cast<int>((k / 32 * m_.m + i) % 3)) : 1; }
    void check(uint32_t block, uint32_t i, uint32_t j)
    {
        double sum = c_[block][i][j];
        for (uint32_t k = 0; k < ks(); k++) sum += a_[block][i][k] * b_[block][index_[i][k]][j] * scale(i, index_[i][k]);
        const matrix_place p = sim_matrix_place_d(&m_, s_.lanes(), i, j, block);
        EXPECT_EQ(get_bits(s_, m_.sparse ? C_ROW : D_ROW, p.lane, p.bit, sim_matrix_bits(m_.d)), encode(m_.d, false, sum)) << "block " << block << " " << i << "," << j;
    }

    const sim_matrix &m_;
    matrix_type at_, bt_;
    Snippet s_;
    bool signed_a_, signed_b_, fnuz_ = false;
    std::mt19937 random_;
    double a_[16][32][128], b_[16][128][32], c_[16][32][32];
    uint32_t index_[32][128];
};

/* Whether the target has the instruction: by the names that its assembler knows. */
void check_products(const char *target, matrix_family family, const std::vector<std::string> &names)
{
    for (const std::string &name : names) {
        const sim_matrix &m = find(name, family);
        SCOPED_TRACE(target + (": " + name));
        const bool narrow = m.a == M_IU8 || m.a == M_IU4;
        auto product = std::make_unique<Product>(target, m, m.a, m.b, narrow ? " neg_lo:[1,1,0]" : "");
        product->run();
    }
}

TEST(SimMatrix, ProductsOfGfx90a)
{
    check_products("gfx90a", MATRIX_MFMA,
                   {"v_mfma_f32_32x32x1f32", "v_mfma_f32_16x16x1f32", "v_mfma_f32_4x4x1f32", "v_mfma_f32_32x32x2f32", "v_mfma_f32_16x16x4f32",
                    "v_mfma_f32_32x32x4f16", "v_mfma_f32_16x16x4f16", "v_mfma_f32_4x4x4f16", "v_mfma_f32_32x32x8f16", "v_mfma_f32_16x16x16f16",
                    "v_mfma_f32_32x32x2bf16", "v_mfma_f32_16x16x8bf16", "v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_4x4x4bf16_1k",
                    "v_mfma_i32_32x32x4i8", "v_mfma_i32_16x16x4i8", "v_mfma_i32_4x4x4i8", "v_mfma_i32_32x32x8i8", "v_mfma_i32_16x16x16i8",
                    "v_mfma_f64_16x16x4f64", "v_mfma_f64_4x4x4f64"});
}

TEST(SimMatrix, ProductsOfGfx942)
{
    check_products("gfx942", MATRIX_MFMA,
                   {"v_mfma_f32_16x16x8_xf32", "v_mfma_f32_32x32x4_xf32", "v_mfma_f32_32x32x2_f32", "v_mfma_f32_16x16x4_4b_f16", "v_mfma_f32_16x16x16_f16",
                    "v_mfma_f32_32x32x8_bf16", "v_mfma_i32_32x32x16_i8", "v_mfma_i32_16x16x32_i8", "v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64",
                    "v_mfma_f32_16x16x32_fp8_fp8", "v_mfma_f32_16x16x32_fp8_bf8", "v_mfma_f32_32x32x16_bf8_fp8", "v_mfma_f32_32x32x16_bf8_bf8",
                    "v_smfmac_f32_16x16x32_f16", "v_smfmac_f32_32x32x16_bf16", "v_smfmac_i32_16x16x64_i8", "v_smfmac_i32_32x32x32_i8",
                    "v_smfmac_f32_16x16x64_fp8_bf8", "v_smfmac_f32_32x32x32_bf8_fp8"});
}

TEST(SimMatrix, ProductsOfGfx950)
{
    check_products("gfx950", MATRIX_MFMA,
                   {"v_mfma_f32_16x16x32_f16", "v_mfma_f32_32x32x16_bf16", "v_mfma_i32_16x16x64_i8", "v_mfma_i32_32x32x32_i8", "v_mfma_f32_16x16x32_fp8_bf8",
                    "v_smfmac_f32_16x16x64_f16", "v_smfmac_f32_32x32x32_bf16", "v_smfmac_i32_16x16x128_i8", "v_smfmac_f32_16x16x128_fp8_bf8"});
    struct Formats { matrix_type a, b; const char *text; };
    for (const char *name : {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4", "v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4"})
        for (const Formats &f : {Formats{M_FP8, M_FP8, ""}, Formats{M_BF8, M_FP4, " cbsz:1 blgp:4"}, Formats{M_FP6, M_BF6, " cbsz:2 blgp:3"}}) {
            const sim_matrix &m = find(name, MATRIX_MFMA);
            std::string modifiers = m.scaled ? std::string(" op_sel_hi:[0,0,0]") + f.text : f.text;
            auto product = std::make_unique<Product>("gfx950", m, f.a, f.b, modifiers);
            product->run();
        }
}

TEST(SimMatrix, ProductsOfGfx11)
{
    check_products("gfx1100", MATRIX_WMMA11,
                   {"v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16", "v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16", "v_wmma_i32_16x16x16_iu8",
                    "v_wmma_i32_16x16x16_iu4"});
}

TEST(SimMatrix, ProductsOfGfx12)
{
    check_products("gfx1201", MATRIX_WMMA12,
                   {"v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16", "v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16", "v_wmma_i32_16x16x16_iu8",
                    "v_wmma_i32_16x16x16_iu4", "v_wmma_i32_16x16x32_iu4", "v_wmma_f32_16x16x16_fp8_fp8", "v_wmma_f32_16x16x16_fp8_bf8",
                    "v_wmma_f32_16x16x16_bf8_fp8", "v_wmma_f32_16x16x16_bf8_bf8", "v_swmmac_f32_16x16x32_f16", "v_swmmac_f32_16x16x32_bf16",
                    "v_swmmac_f16_16x16x32_f16", "v_swmmac_bf16_16x16x32_bf16", "v_swmmac_i32_16x16x32_iu8", "v_swmmac_i32_16x16x32_iu4",
                    "v_swmmac_i32_16x16x64_iu4", "v_swmmac_f32_16x16x32_fp8_fp8", "v_swmmac_f32_16x16x32_bf8_fp8"});
}

TEST(SimMatrix, UnsignedOperands)
{
    for (const bool sa : {false, true}) {
        const sim_matrix &m = find("v_wmma_i32_16x16x16_iu8", MATRIX_WMMA11);
        auto product = std::make_unique<Product>("gfx1100", m, M_IU8, M_IU8, sa ? " neg_lo:[1,0,0]" : " neg_lo:[0,1,0]", sa, !sa);
        product->run();
    }
}

/* ------------------------------------------------------------ modifiers */

float f32(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

TEST(SimMatrix, IntegerOverflow)
{
    for (const bool clamp : {false, true}) {
        Snippet s("gfx1100", std::string("v_wmma_i32_16x16x16_iu8 v[8:15], v[0:3], v[4:7], v[8:15] neg_lo:[1,1,0]") + (clamp ? " clamp" : ""));
        for (uint32_t lane = 0; lane < 32; lane++) {
            for (uint32_t r = 0; r < 8; r++) s.v(r, lane) = 0x7f7f7f7f;
            for (uint32_t r = 8; r < 16; r++) s.v(r, lane) = 0x7fffffff;
        }
        s.go();
        EXPECT_EQ(s.v(9, 20), clamp ? 0x7fffffffu : 0x7fffffffu + 16 * 127 * 127);
    }
}

TEST(SimMatrix, HalvesAndSignsOfGfx11)
{
    /* D goes to the upper halves and the lower stay; C is negated after its sign is dropped; even k of A are negated */
    Snippet s("gfx1100", "v_wmma_f16_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23] op_sel:[0,0,1] neg_lo:[1,0,1] neg_hi:[0,0,1]");
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t r = 0; r < 8; r++) {
            s.v(r, lane) = 0x3c004000;                                     /* 2 at even k, 1 at odd */
            s.v(8 + r, lane) = 0x3c003c00;
        }
        for (uint32_t r = 16; r < 24; r++) s.v(r, lane) = 0xc4001234;      /* C = −4 */
    }
    s.go();
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t r = 16; r < 24; r++) EXPECT_EQ(s.v(r, lane), 0xca001234u);   /* 8·(−2) + 8·1 − 4 = −12 */
}

TEST(SimMatrix, ConstantC)
{
    Snippet s("gfx942", "v_mfma_f32_16x16x16_f16 v[8:11], v[0:1], v[2:3], 1.0\nv_mfma_i32_16x16x32_i8 v[12:15], v[0:1], v[2:3], 5");
    s.go();
    EXPECT_EQ(s.vf(9, 33), 1.0f);
    EXPECT_EQ(s.v(13, 3), 5u);
}

/* Blocks of A sent to several, lanes of B permuted. */
TEST(SimMatrix, Broadcasts)
{
    Snippet s("gfx90a", "v_mfma_f32_16x16x1f32 v[16:31], v0, v1, 0 cbsz:1 abid:1\nv_mfma_f32_16x16x1f32 v[32:47], v0, v1, 0 blgp:3\n"
                        "v_mfma_f32_16x16x1f32 v[48:63], v0, v1, 0 blgp:6");
    for (uint32_t lane = 0; lane < 64; lane++) {
        s.set_vf(0, lane, 1.0f + static_cast<float>(lane / 16));           /* A of block b: 1 + b */
        s.set_vf(1, lane, static_cast<float>(10 + lane / 16));
    }
    s.go();
    for (uint32_t block = 0; block < 4; block++) {
        EXPECT_EQ(s.vf(16 + 4 * block, 0), static_cast<float>((1 + (block / 2 * 2 + 1)) * (10 + block)));
        EXPECT_EQ(s.vf(32 + 4 * block, 0), static_cast<float>((1 + block) * (10 + (block + 1) % 4)));
        EXPECT_EQ(s.vf(48 + 4 * block, 0), static_cast<float>((1 + block) * 12));
    }
}

TEST(SimMatrix, SetsOfIndices)
{
    /* abid 1 takes the second byte of the index register */
    Snippet s("gfx942", "v_smfmac_f32_16x16x32_f16 v[8:11], v[0:1], v[2:5], v6 abid:1");
    for (uint32_t lane = 0; lane < 64; lane++) {
        s.v(0, lane) = s.v(1, lane) = 0x3c003c00;
        for (uint32_t r = 0; r < 4; r++) s.v(2 + r, lane) = r % 2 ? 0x44004200 : 0x40003c00;   /* B at k % 4: 1, 2, 3, 4 */
        s.v(6, lane) = 0x0000eeee & 0xff00;                                /* 2 and 3 */
    }
    s.go();
    EXPECT_EQ(s.vf(8, 17), 8 * (3.0f + 4.0f));
    Snippet t("gfx1201", "v_swmmac_f32_16x16x32_f16 v[8:15], v[0:3], v[16:23], v6 index_key:1");
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t r = 0; r < 4; r++) t.v(r, lane) = 0x3c003c00;
        for (uint32_t r = 0; r < 8; r++) t.v(16 + r, lane) = r % 2 ? 0x44004200 : 0x40003c00;
        t.v(6, lane) = 0x4444e4e4 & 0xffff0000;                            /* 0 and 1 */
    }
    t.go();
    EXPECT_EQ(t.vf(8, 5), 8 * (1.0f + 2.0f));
}

TEST(SimMatrix, SignsOfDoubles)
{
    Snippet s("gfx942", "v_mfma_f64_4x4x4_4b_f64 v[8:9], v[0:1], v[2:3], v[4:5] neg:[1,0,1]");
    const double three = 3.0, two = 2.0;
    uint64_t a, b;
    memcpy(&a, &three, 8);
    memcpy(&b, &two, 8);
    for (uint32_t lane = 0; lane < 64; lane++) {
        s.set_v64(0, lane, a);
        s.set_v64(2, lane, b);
        s.set_v64(4, lane, b);
    }
    s.go();
    const uint64_t d = s.v64(8, 7);
    double result;
    memcpy(&result, &d, 8);
    EXPECT_EQ(result, -4 * 6.0 - 2.0);
}

TEST(SimMatrix, ExecMask)
{
    Snippet mfma("gfx942", "v_mfma_f32_16x16x4_f32 v[8:11], v0, v1, 1.0");
    mfma.set_exec(1);
    mfma.go();
    EXPECT_EQ(mfma.vf(8, 40), 1.0f);                                       /* every lane is written */
    Snippet wmma("gfx1100", "v_wmma_f32_16x16x16_f16 v[8:15], v[0:7], v[0:7], 0");
    wmma.set_exec(0xffff);
    EXPECT_FALSE(wmma.run());
    EXPECT_EQ(wmma.error.status, SIM_UNSUPPORTED);
}

TEST(SimMatrix, CopiesMustAgree)
{
    Snippet s("gfx1100", "v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[8:15], 0");
    s.v(3, 18) = 1;
    EXPECT_FALSE(s.run());
    EXPECT_TRUE(s.error.has_thread);
    EXPECT_EQ(s.error.thread[0], 18u);
}

/* ------------------------------------------------------------ formats and models */

TEST(SimMatrixMath, EveryByte)
{
    for (const matrix_type type : {M_FP8, M_BF8})
        for (const bool fnuz : {false, true})
            for (uint32_t bits = 0; bits < 256; bits++) {
                const matrix_number x = sim_matrix_decode(type, fnuz, bits);
                const int fraction = type == M_FP8 ? 3 : 2, bias = (type == M_FP8 ? 7 : 15) + fnuz, e = bits >> fraction & (type == M_FP8 ? 15 : 31);
                const int m = bits & ((1 << fraction) - 1), last = type == M_FP8 ? 15 : 31;
                double v = e ? std::ldexp(1 + std::ldexp(m, -fraction), e - bias) : std::ldexp(m, 1 - bias - fraction);
                if (bits & 0x80) v = -v;
                if (fnuz && bits == 0x80) v = NAN;
                if (!fnuz && type == M_FP8 && e == last && m == 7) v = NAN;
                if (!fnuz && type == M_BF8 && e == last) v = m ? NAN : bits & 0x80 ? -INFINITY : INFINITY;
                EXPECT_TRUE(std::isnan(v) ? std::isnan(x.value) : static_cast<double>(x.value) == v) << bits;
                EXPECT_TRUE(x.kind != MATRIX_FINITE || std::ldexp(x.significand, x.exponent - x.fraction) == std::fabs(v)) << bits;
            }
}

matrix_number half(double v) { return sim_matrix_decode(M_F16, false, static_cast<uint32_t>(encode(M_F16, false, v))); }

/* One sum, three results: the order of additions and the place of the cut tell the models apart. */
TEST(SimMatrixMath, LargeAndSmallTerms)
{
    const matrix_number a[8] = {half(-8192), half(0.5), half(0.25), half(0.125), half(0), half(0), half(0), half(0)};
    const matrix_number b[8] = {half(1024), half(1), half(1), half(1), half(0), half(0), half(0), half(0)};
    /* c = 2^23, products −2^23, 0.5, 0.25, 0.125: exact 0.875 */
    EXPECT_EQ(sim_matrix_dot({MATRIX_PAIRWISE, 4}, a, b, 4, 0x1p23f), 1.0f);   /* (−2^23 + 0.5) + 0.375 has f32 steps of 0.5 and becomes −2^23 + 1 */
    EXPECT_EQ(sim_matrix_dot({MATRIX_CHAIN, 1}, a, b, 4, 0x1p23f), 0.875f);    /* c and the first product cancel at once */
    EXPECT_EQ(sim_matrix_dot({MATRIX_FUSED, 8}, a, b, 8, 0x1p23f), 0.5f);      /* terms are cut below 2^(23 − 24) */
}

/* Terms are cut toward zero, but the sum of products and c are rounded down: not symmetric in sign. */
TEST(SimMatrixMath, RoundedDown)
{
    const matrix_number one[8] = {half(1), half(0), half(0), half(0), half(0), half(0), half(0), half(0)};
    const float tiny = 0x1p-30f;
    EXPECT_EQ(sim_matrix_dot({MATRIX_FUSED, 8}, one, one, 8, tiny), 1.0f);
    EXPECT_EQ(sim_matrix_dot({MATRIX_FUSED, 8}, one, one, 8, -tiny), 1.0f - 0x1p-24f);
    EXPECT_EQ(sim_matrix_dot({MATRIX_FUSED_FP8, 16}, one, one, 8, -tiny), 1.0f);   /* more than 25 places below: dropped */
}

TEST(SimMatrixMath, Specials)
{
    const matrix_number big = half(65504), infinite = sim_matrix_decode(M_F16, false, 0x7c00), zero = half(0), nan = sim_matrix_decode(M_F16, false, 0x7e00);
    for (const matrix_rule rule : {matrix_rule{MATRIX_CHAIN, 1}, matrix_rule{MATRIX_PAIRWISE, 4}, matrix_rule{MATRIX_FUSED, 8}, matrix_rule{MATRIX_FUSED_FP8, 16}}) {
        const matrix_number a[4] = {infinite, zero, zero, zero}, b[4] = {big, zero, zero, zero}, z[4] = {zero, zero, zero, zero}, n[4] = {nan, zero, zero, zero};
        EXPECT_EQ(sim_matrix_dot(rule, a, b, 4, 0), INFINITY);
        EXPECT_TRUE(std::isnan(sim_matrix_dot(rule, a, z, 4, 0)));
        EXPECT_TRUE(std::isnan(sim_matrix_dot(rule, a, b, 4, -INFINITY)));
        EXPECT_TRUE(std::isnan(sim_matrix_dot(rule, n, z, 4, 0)));
        EXPECT_EQ(sim_matrix_dot(rule, b, b, 4, 0), 65504.0f * 65504.0f);
    }
    const matrix_number huge = sim_matrix_decode(M_BF16, false, 0x7f00);
    const matrix_number h[4] = {huge, zero, zero, zero};
    EXPECT_EQ(sim_matrix_dot({MATRIX_FUSED, 8}, h, h, 4, 0), INFINITY);
}

/* gfx90a takes subnormal f16 for zero. */
TEST(SimMatrixMath, FlushOfGfx90a)
{
    const matrix_number small = sim_matrix_decode(M_F16, false, 0x0200), big = half(1024);
    EXPECT_EQ(sim_matrix_dot({MATRIX_PAIRWISE, 4}, &small, &big, 1, 0), 0.0f);
    EXPECT_EQ(sim_matrix_dot({MATRIX_FUSED, 8}, &small, &big, 1, 0), 0x1p-5f);
    EXPECT_EQ(f32(0x00000001) > 0, true);
    EXPECT_EQ(sim_matrix_dot({MATRIX_PAIRWISE, 4}, &small, &big, 1, f32(1)), 0.0f);
}

TEST(SimMatrixMath, NarrowResults)
{
    EXPECT_EQ(sim_matrix_narrow(M_F16, 1.0f + 0x1p-11f), 0x3c00u);          /* ties to even */
    EXPECT_EQ(sim_matrix_narrow(M_F16, 1.0f + 0x1.8p-10f), 0x3c02u);
    EXPECT_EQ(sim_matrix_narrow(M_F16, 65520.0f), 0x7c00u);
    EXPECT_EQ(sim_matrix_narrow(M_F16, -65519.0f), 0xfbffu);
    EXPECT_EQ(sim_matrix_narrow(M_F16, 0x1.8p-24f), 0x0002u);
    EXPECT_EQ(sim_matrix_narrow(M_BF16, 1.0f + 0x1p-8f), 0x3f80u);
    EXPECT_EQ(sim_matrix_narrow(M_BF16, 1.0f + 0x1.8p-7f), 0x3f82u);
}

}  // namespace
