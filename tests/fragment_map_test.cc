/* The maps between PTX's mma fragments and AMD's matrix operands, proved with the simulator's layouts: for every element of
 * D that is read, the words of k that the instruction pairs are the same word of the right row and the right column, each
 * once. That is a bijection between PTX's words and those of the operands that count. */
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <tuple>

extern "C" {
#include "runtime/sim/matrix.h"
#include "translator/fragment_map.h"
}

namespace {

struct Word { uint32_t warp, row, t, z; };                                /* of A's row or B's column */
bool operator<(const Word &a, const Word &b) { return std::tie(a.warp, a.row, a.t, a.z) < std::tie(b.warp, b.row, b.t, b.z); }

struct Core { xl_core core; matrix_family family; const char *instruction; uint32_t lanes, k, words, bits; };

const Core cores[] = {
    {XL_CORE_WMMA11, MATRIX_WMMA11, "v_wmma_f32_16x16x16_f16", 32, 16, 2, 16}, {XL_CORE_WMMA11, MATRIX_WMMA11, "v_wmma_i32_16x16x16_iu8", 32, 16, 1, 8},
    {XL_CORE_WMMA12, MATRIX_WMMA12, "v_wmma_f32_16x16x16_bf16", 32, 16, 2, 16}, {XL_CORE_WMMA12, MATRIX_WMMA12, "v_wmma_f32_16x16x16_fp8_bf8", 32, 16, 1, 8},
    {XL_CORE_WMMA12, MATRIX_WMMA12, "v_wmma_i32_16x16x32_iu4", 32, 32, 1, 4}, {XL_CORE_MFMA, MATRIX_MFMA, "v_mfma_f32_16x16x16_f16", 64, 16, 2, 16},
    {XL_CORE_MFMA, MATRIX_MFMA, "v_mfma_f32_16x16x32_fp8_fp8", 64, 32, 2, 8}, {XL_CORE_MFMA, MATRIX_MFMA, "v_mfma_f32_16x16x8_xf32", 64, 8, 2, 32},
    {XL_CORE_MFMA, MATRIX_MFMA, "v_mfma_i32_16x16x16i8", 64, 16, 1, 8}, {XL_CORE_MFMA, MATRIX_MFMA, "v_mfma_f32_16x16x4_f32", 64, 4, 1, 32},
};

const sim_matrix &find(const Core &c)
{
    for (uint32_t k = 0; k < sim_matrix_count(); k++)
        if (sim_matrix_at(k)->family == c.family && std::string(sim_matrix_at(k)->name) == c.instruction) return *sim_matrix_at(k);
    ADD_FAILURE() << c.instruction;
    return *sim_matrix_at(0);
}

/* The word that the map puts at a place of operand M or N of instruction x: whose lane and register it is, as PTX names them. */
Word word_at(const Core &c, xl_part part, const matrix_place &p, uint32_t x)
{
    const xl_fragment_map &map = xl_fragment_maps[c.core][part];
    const uint32_t slot = p.bit / 32, lane = xl_fragment_bits(map.lane, 6, p.lane, slot, x), reg = xl_fragment_bits(map.reg, 3, p.lane, slot, x);
    EXPECT_LT(slot, map.slots);
    EXPECT_LT(lane, c.lanes);
    const bool a = part == XL_PART_N;                                      /* A's registers are b + 2z, B's z */
    EXPECT_LT(reg, a ? 4u : 2u);
    return {lane / 32, lane % 32 / 4 + (a ? reg % 2 * 8 : 0), lane % 4, a ? reg / 2 : reg};
}

class Maps : public testing::TestWithParam<Core> {};

TEST_P(Maps, EveryResultIsOfItsRowAndColumn)
{
    const Core &c = GetParam();
    const sim_matrix &m = find(c);
    const xl_fragment_map &map = xl_fragment_maps[c.core][XL_PART_D];
    const bool mfma = c.core == XL_CORE_MFMA;
    const uint32_t per_word = 32 / c.bits;
    for (uint32_t lane = 0; lane < c.lanes; lane++)
        for (uint32_t element = 0; element < 4; element++) {
            const uint32_t x = mfma ? element / 2 : 0, slot = mfma ? element % 2 : element;
            const uint32_t from = xl_fragment_bits(map.lane, 6, lane, slot, x), reg = xl_fragment_bits(map.reg, 3, lane, slot, x);
            uint32_t found = 0;
            for (uint32_t row = 0; row < 16; row++)                        /* the instruction's row and column of that place */
                for (uint32_t column = 0; column < 16; column++) {
                    const matrix_place d = sim_matrix_place_d(&m, c.lanes, row, column, 0);
                    if (d.lane != from || d.bit / 32 != reg) continue;
                    found++;
                    std::set<Word> seen;
                    for (uint32_t k = 0; k < c.k; k += per_word) {
                        const matrix_place pm = sim_matrix_place_a(&m, m.a, c.lanes, row, k, 0), pn = sim_matrix_place_b(&m, m.b, c.lanes, k, column, 0);
                        EXPECT_EQ(pm.bit % 32, 0u);
                        EXPECT_EQ(pn.bit % 32, 0u);
                        const Word b = word_at(c, XL_PART_M, pm, x), a = word_at(c, XL_PART_N, pn, x);
                        EXPECT_EQ(a.warp, lane / 32);
                        EXPECT_EQ(b.warp, lane / 32);
                        EXPECT_EQ(a.row, lane % 32 / 4 + element / 2 * 8);
                        EXPECT_EQ(b.row, lane % 4 * 2 + element % 2);
                        EXPECT_EQ(a.t, b.t);
                        EXPECT_EQ(a.z, b.z);
                        EXPECT_TRUE(seen.insert(a).second);
                    }
                    EXPECT_EQ(seen.size(), 4 * c.words);
                }
            EXPECT_EQ(found, 1u);
        }
}

/* No two elements of D are read from one place. */
TEST_P(Maps, ResultsAreReadOnce)
{
    const Core &c = GetParam();
    const xl_fragment_map &map = xl_fragment_maps[c.core][XL_PART_D];
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
    for (uint32_t x = 0; x < (c.core == XL_CORE_MFMA ? 2 : 1); x++)
        for (uint32_t lane = 0; lane < c.lanes; lane++)
            for (uint32_t slot = 0; slot < map.slots; slot++)
                EXPECT_TRUE(seen.insert({x, xl_fragment_bits(map.lane, 6, lane, slot, x), xl_fragment_bits(map.reg, 3, lane, slot, x)}).second);
    EXPECT_EQ(seen.size(), c.lanes * 4u);
}

INSTANTIATE_TEST_SUITE_P(Cores, Maps, testing::ValuesIn(cores), [](const testing::TestParamInfo<Core> &i) { return std::string(i.param.instruction); });

}  // namespace
