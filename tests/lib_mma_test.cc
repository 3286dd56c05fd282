/* lib_mma_test.cc - the mma meanings, at every level that the CPU runs, against conformance/reference/ref_mma.c.
 *
 * Each tuple under each model sees at least 10^5 elements: random bits, values of one size, cancellation, one large
 * product among small ones, accumulators far above and below, subnormals, signed zeros, NaN and infinities.
 */
#include <gtest/gtest.h>
#include <cstring>
#include <set>
#include <tuple>
#include "conformance/reference/ref_mma.h"
#include "lib_levels.h"
#include "lib_width1.h"

#include "ptx/lib/wmma_layout.h"

#define CASE(name, ...) LIB_DECLARE(name)
#include "lib_mma_cases.h"

/* wmma.mma: meaning, m, n, k, types of D, A (and B) and C, saturation, registers of A and B. */
#define WMMA_F16(X, shape, m, n, sat) \
    X(wmma_##shape##_f16_f16, m, n, 16, F16, F16, F16, sat, 8, 8) X(wmma_##shape##_f16_f32, m, n, 16, F16, F16, F32, sat, 8, 8) \
    X(wmma_##shape##_f32_f16, m, n, 16, F32, F16, F16, sat, 8, 8) X(wmma_##shape##_f32_f32, m, n, 16, F32, F16, F32, sat, 8, 8)
#define WMMA_BYTES(X, t, T) \
    X(wmma_m16n16k16_s32_##t##_##t##_s32, 16, 16, 16, S32, T, S32, 0, 2, 2) X(wmma_m16n16k16_satfinite_s32_##t##_##t##_s32, 16, 16, 16, S32, T, S32, 1, 2, 2) \
    X(wmma_m8n32k16_s32_##t##_##t##_s32, 8, 32, 16, S32, T, S32, 0, 1, 4) X(wmma_m8n32k16_satfinite_s32_##t##_##t##_s32, 8, 32, 16, S32, T, S32, 1, 1, 4) \
    X(wmma_m32n8k16_s32_##t##_##t##_s32, 32, 8, 16, S32, T, S32, 0, 4, 1) X(wmma_m32n8k16_satfinite_s32_##t##_##t##_s32, 32, 8, 16, S32, T, S32, 1, 4, 1)
#define WMMA_CASES(X) \
    WMMA_F16(X, m16n16k16, 16, 16, 0) WMMA_F16(X, m8n32k16, 8, 32, 0) WMMA_F16(X, m32n8k16, 32, 8, 0) \
    WMMA_F16(X, m16n16k16_satfinite, 16, 16, 1) WMMA_F16(X, m8n32k16_satfinite, 8, 32, 1) WMMA_F16(X, m32n8k16_satfinite, 32, 8, 1) \
    X(wmma_m16n16k16_f32_bf16_bf16_f32, 16, 16, 16, F32, BF16, F32, 0, 4, 4) X(wmma_m8n32k16_f32_bf16_bf16_f32, 8, 32, 16, F32, BF16, F32, 0, 2, 8) \
    X(wmma_m32n8k16_f32_bf16_bf16_f32, 32, 8, 16, F32, BF16, F32, 0, 8, 2) X(wmma_m16n16k8_f32_tf32_tf32_f32, 16, 16, 8, F32, TF32, F32, 0, 4, 4) \
    WMMA_BYTES(X, u8, U8) WMMA_BYTES(X, s8, S8)
#define DECLARE_WMMA(name, ...) LIB_DECLARE(name)
WMMA_CASES(DECLARE_WMMA)

namespace {

struct mma_case {
    const char *name;
    ref_mma_shape shape;
    lib_handler handlers[LIB_LEVEL_COUNT], width1;
};
const mma_case cases[] = {
#define CASE(name, m, n, k, d, a, b, c, sat, both, ac, br) \
    {#name, {m, n, k, REF_##a, REF_##b, REF_##c, REF_##d, sat != 0, both != 0, ac != 0, br != 0, false, false, 0, false, REF_RN}, LIB_HANDLERS(name), pxl_width1_##name},
#include "lib_mma_cases.h"
};
const char *const model_names[] = {"ada", "hopper", "blackwell", "ampere", "turing", "volta", "ieee"};

bool is_float(ref_mma_type t) { return t <= REF_F32; }
bool has_model(const ref_mma_shape &s) { return is_float(s.a); }
int width_of(ref_mma_type t) { return t == REF_F64 ? 8 : 4; }

struct format { int fraction, exponent; };
format format_of(ref_mma_type t)
{
    switch (t) {
    case REF_E4M3: return {3, 4};
    case REF_E5M2: return {2, 5};
    case REF_F16:  return {10, 5};
    case REF_BF16: return {7, 8};
    case REF_F64:  return {52, 11};
    default:       return {23, 8};       /* f32, and tf32 with 13 bits that do not count */
    }
}

enum mode { RANDOM, UNIT, CANCEL, ONE_LARGE, TINY_C, HUGE_C, SUBNORMAL, SPECIAL, BORDERS, BEYOND, LOW_A, LOW_B, LOW_ALL, MODES };

/* Bits of one element of a floating matrix under a mode. */
uint64_t floating(ref_mma_type t, mode m, ref_mma_matrix which, lib_random &r)
{
    const format f = format_of(t);
    const bool c = which == REF_MATRIX_C;
    const uint64_t ones = (1ull << f.exponent) - 1, bias = ones >> 1, sign = r.next() & 1;
    uint64_t part = r.next() & ((1ull << f.fraction) - 1), field = r.next() & ones;
    switch (m) {
    case UNIT:      field = bias - r.below(4); break;
    case CANCEL:    field = bias - r.below(3); part &= ~0ull << r.below((uint32_t)f.fraction); break;
    case ONE_LARGE: field = r.below(8) ? bias - r.below((uint32_t)bias) : bias + bias / 2; break;
    case TINY_C:    field = c ? r.below(3) : bias + r.below((uint32_t)bias / 2 + 1); break;
    case HUGE_C:    field = c ? ones - 1 - r.below(3) : bias - r.below((uint32_t)bias); break;
    case SUBNORMAL: field = r.below(3) ? 0 : bias - r.below(3); part = r.below(3) ? part : 0; break;
    case SPECIAL:   if (r.below(24) == 0) { field = ones; part = r.below(2) ? 0 : (1ull << f.fraction) - 1 - r.below(2); }
                    else { field = bias - r.below(6); }
                    break;
    case BORDERS:   /* exponents of bf16 and tf32 at the ends of what mma_values.h takes, and now and then a little further; c of all sizes, or 0 */
    case BEYOND:
        if (f.exponent == 8 && !c) {
            const uint64_t further = m == BEYOND && r.below(64) == 0;
            field = r.below(3) ? bias - 70 - further : bias + 43 + further * (1 + r.below(9));
            if (r.below(4) == 0) { field = 0; part = 0; }
        }
        if (c && r.below(4) == 0) { field = 0; part = 0; }
        break;
    case LOW_A:     /* the least exponents, on both sides of the least normal number, meet all: that of a subnormal counts */
    case LOW_B:
    case LOW_ALL:
        if (c || m == LOW_ALL || which == (m == LOW_A ? REF_MATRIX_A : REF_MATRIX_B)) field = r.below(3);
        break;
    default:        break;
    }
    if (m != SPECIAL) {
        if (t == REF_E4M3) { if (field == ones && part == 7) part = 6; }
        else if (field == ones) field--;
    }
    return sign << (f.fraction + f.exponent) | field << f.fraction | part;
}
uint64_t element(ref_mma_type t, mode m, ref_mma_matrix which, lib_random &r)
{
    if (is_float(t) || t == REF_F64)
        return floating(t, m, which, r);
    if (t == REF_S32 && m >= TINY_C)
        return (m & 1 ? 0x7fffffffu : 0x80000000u) + r.below(4000) - 2000;
    return m == HUGE_C ? ~0ull : r.next();
}

struct operands {
    uint64_t a[8][32], b[4][32], c[8][32];
};
void fill(const ref_mma_shape &s, ref_mma_matrix which, ref_mma_type t, mode m, uint64_t (*to)[32], lib_random &r)
{
    const int per = ref_mma_per_register(&s, which, false), bits = 32 / per;
    for (int i = 0; i < ref_mma_registers(&s, which, false); i++)
        for (int lane = 0; lane < 32; lane++) {
            to[i][lane] = 0;
            for (int e = 0; e < per; e++) {
                const uint64_t v = element(t, m, which, r);
                to[i][lane] |= per == 1 ? v : (v & ((1ull << bits) - 1)) << (e * bits);
            }
            if (t != REF_F64)
                to[i][lane] &= 0xffffffffu;
        }
}
/* Neighbouring k of opposite products: the sum is what is left over by the rounding and by a few changed bits. */
void cancel(const ref_mma_shape &s, operands *o, lib_random &r)
{
    const int per = ref_mma_per_register(&s, REF_MATRIX_A, false), bits = 32 / per;
    if (per == 1)
        return;
    const uint64_t low = (1ull << bits) - 1, sign = 1ull << (bits - 1);
    for (int i = 0; i < ref_mma_registers(&s, REF_MATRIX_A, false); i++)
        for (int lane = 0; lane < 32; lane++)
            for (int e = 0; e < per; e += 2) {
                const uint64_t v = o->a[i][lane] >> (e * bits) & low;
                o->a[i][lane] = (o->a[i][lane] & ~(low << ((e + 1) * bits))) | (v ^ sign) << ((e + 1) * bits);
            }
    for (int i = 0; i < ref_mma_registers(&s, REF_MATRIX_B, false); i++)
        for (int lane = 0; lane < 32; lane++)
            for (int e = 0; e < per; e += 2) {
                const uint64_t v = (o->b[i][lane] >> (e * bits) & low) ^ (r.below(4) == 0);
                o->b[i][lane] = (o->b[i][lane] & ~(low << ((e + 1) * bits))) | v << ((e + 1) * bits);
            }
}
operands make(const ref_mma_shape &s, mode m, lib_random &r)
{
    operands o;
    fill(s, REF_MATRIX_A, s.a, m, o.a, r);
    fill(s, REF_MATRIX_B, s.b, m, o.b, r);
    fill(s, REF_MATRIX_C, s.c, m, o.c, r);
    if (m == CANCEL && is_float(s.a))
        cancel(s, &o, r);
    return o;
}

/* Calls one build of a meaning; level -1 is width 1. */
void call(const mma_case &c, int level, const operands &o, uint64_t (*d)[32], uint32_t model)
{
    lib_slots slots;
    const ref_mma_shape &s = c.shape;
    const int nd = ref_mma_registers(&s, REF_MATRIX_C, true), wd = width_of(s.d), ws = width_of(s.a);
    for (int i = 0; i < nd; i++)
        slots.add((uint32_t)wd);
    const auto put = [&](const uint64_t (*from)[32], int n) {
        for (int i = 0; i < n; i++) {
            const uint32_t e = slots.add((uint32_t)ws);
            for (int lane = 0; lane < 32; lane++) {
                if (ws == 8) slots.at<uint64_t>(e)[lane] = from[i][lane];
                else slots.at<uint32_t>(e)[lane] = (uint32_t)from[i][lane];
            }
        }
    };
    put(o.a, ref_mma_registers(&s, REF_MATRIX_A, false));
    put(o.b, ref_mma_registers(&s, REF_MATRIX_B, false));
    put(o.c, ref_mma_registers(&s, REF_MATRIX_C, false));
    slots.add_value(model);
    if (level < 0) lib_width1::call(c.width1, slots);
    else c.handlers[level](slots.base, slots.offset);
    for (int i = 0; i < nd; i++)
        for (int lane = 0; lane < 32; lane++)
            d[i][lane] = wd == 8 ? slots.at<uint64_t>((uint32_t)i)[lane] : slots.at<uint32_t>((uint32_t)i)[lane];
}

::testing::AssertionResult same(const mma_case &c, const uint64_t (*want)[32], const uint64_t (*got)[32], const char *what, int model, int m, int round)
{
    for (int i = 0; i < ref_mma_registers(&c.shape, REF_MATRIX_C, true); i++)
        for (int lane = 0; lane < 32; lane++)
            if (want[i][lane] != got[i][lane])
                return ::testing::AssertionFailure() << c.name << " " << what << " model " << model_names[model] << " mode " << m << " round " << round
                                                     << ": register " << i << " lane " << lane << std::hex << " is 0x" << got[i][lane] << ", not 0x" << want[i][lane];
    return ::testing::AssertionSuccess();
}

/* ---- wmma ---- */

struct wmma_case { const char *name; ref_mma_shape shape; int na, nb; lib_handler handlers[LIB_LEVEL_COUNT], width1; };
const wmma_case wmma_cases[] = {
#define ENTRY_WMMA(name, m, n, k, d, a, c, sat, na, nb) \
    {#name, {m, n, k, REF_##a, REF_##a, REF_##c, REF_##d, sat != 0, false, false, false, false, false, 0, false, REF_RN}, na, nb, LIB_HANDLERS(name), pxl_width1_##name},
    WMMA_CASES(ENTRY_WMMA)
};
int bits_of(ref_mma_type t) { return t == REF_U8 || t == REF_S8 ? 8 : t == REF_F16 || t == REF_BF16 ? 16 : 32; }

/* A matrix in registers, as wmma.load leaves it. */
void spread(lib_slots &s, const ref_mma_shape &h, char matrix, ref_mma_type t, uint32_t registers, const uint64_t (*m)[32])
{
    const int bits = bits_of(t);
    const pxl_wmma_shape w = {(uint8_t)h.m, (uint8_t)h.n, (uint8_t)h.k, (uint8_t)bits, matrix};
    for (uint32_t r = 0; r < registers; r++) {
        const uint32_t e = s.add(4);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t v = 0;
            for (uint32_t i = 0; i < pxl_wmma_elements(w); i++) {
                const pxl_wmma_place p = pxl_wmma_at(w, lane, r, i);
                v |= (uint32_t)(m[p.row][p.column] & (bits == 32 ? 0xffffffffu : (1u << bits) - 1)) << (i * (uint32_t)bits % 32);
            }
            s.at<uint32_t>(e)[lane] = v;
        }
    }
}
class Wmma : public ::testing::TestWithParam<size_t> {};
TEST_P(Wmma, EqualsReference)
{
    const wmma_case &c = wmma_cases[GetParam()];
    const ref_mma_shape &h = c.shape;
    const uint32_t nd = h.d == REF_F16 ? 4 : 8, nc = h.c == REF_F16 ? 4 : 8;
    const int models = has_model(h) ? 7 : 1;
    lib_random r(GetParam() + 77);
    for (int round = 0; round < models * MODES * 3; round++) {
        const mode m = (mode)(round / models % MODES);
        const uint32_t model = (uint32_t)(round % models);
        uint64_t a[32][32] = {}, b[32][32] = {}, cc[32][32] = {};
        for (int i = 0; i < 32; i++)
            for (int k = 0; k < 32; k++) {
                a[i][k] = element(h.a, m, REF_MATRIX_A, r);
                b[i][k] = element(h.b, m, REF_MATRIX_B, r);
                cc[i][k] = element(h.c, m, REF_MATRIX_C, r);
            }
        for (int level = c.width1 && round < 2 * models ? -1 : 0; level < LIB_LEVEL_COUNT; level++) {
            if (level >= 0 && !lib_level_runs(level))
                continue;
            lib_slots s;
            for (uint32_t i = 0; i < nd; i++) s.add(4);
            spread(s, h, 'a', h.a, (uint32_t)c.na, a);
            spread(s, h, 'b', h.b, (uint32_t)c.nb, b);
            spread(s, h, 'c', h.c, nc, cc);
            s.add_value(model);
            if (level < 0) lib_width1::call(c.width1, s);
            else c.handlers[level](s.base, s.offset);
            const pxl_wmma_shape w = {(uint8_t)h.m, (uint8_t)h.n, (uint8_t)h.k, (uint8_t)bits_of(h.d), 'd'};
            for (uint32_t i = 0; i < nd; i++)
                for (uint32_t lane = 0; lane < 32; lane++)
                    for (uint32_t e = 0; e < pxl_wmma_elements(w); e++) {
                        const pxl_wmma_place p = pxl_wmma_at(w, lane, i, e);
                        uint64_t row[16], column[16];
                        for (int k = 0; k < h.k; k++) { row[k] = a[p.row][k]; column[k] = b[k][p.column]; }
                        const uint32_t want = (uint32_t)ref_mma_element(&h, row, column, cc[p.row][p.column], (ref_mma_model)model);
                        const uint32_t got = s.at<uint32_t>(i)[lane] >> (e * 16) & (h.d == REF_F16 ? 0xffffu : 0xffffffffu);
                        ASSERT_EQ(got, want) << c.name << " level " << level << " model " << model_names[model] << " mode " << m << " row " << p.row << " column " << p.column;
                    }
        }
    }
}
INSTANTIATE_TEST_SUITE_P(All, Wmma, ::testing::Range((size_t)0, sizeof wmma_cases / sizeof *wmma_cases),
                         [](const ::testing::TestParamInfo<size_t> &i) { return std::string(wmma_cases[i.param].name + 5); });

class Mma : public ::testing::TestWithParam<size_t> {};

TEST_P(Mma, EqualsReference)
{
    const mma_case &c = cases[GetParam()];
    const int elements = c.shape.m * c.shape.n * (c.shape.m == 8 && c.shape.a == REF_F16 ? 4 : 1);
    const int rounds = 100000 / elements / MODES + 1;
    for (int model = 0; model < (has_model(c.shape) ? 7 : 1); model++)
        for (int m = 0; m < MODES; m++) {
            lib_random r(GetParam() * 1000 + (size_t)model * 10 + (size_t)m);
            for (int round = 0; round < rounds; round++) {
                const operands o = make(c.shape, (mode)m, r);
                uint64_t want[8][32], got[8][32];
                ref_mma(&c.shape, want, o.a, o.b, o.c, nullptr, (ref_mma_model)model);
                for (int level = 0; level < LIB_LEVEL_COUNT; level++)
                    if (lib_level_runs(level)) {
                        call(c, level, o, got, (uint32_t)model);
                        ASSERT_TRUE(same(c, want, got, lib_level_names[level], model, m, round));
                    }
                if (round % 8 == 0 && c.width1) {
                    call(c, -1, o, got, (uint32_t)model);
                    ASSERT_TRUE(same(c, want, got, "width 1", model, m, round));
                }
            }
        }
}
INSTANTIATE_TEST_SUITE_P(All, Mma, ::testing::Range((size_t)0, sizeof cases / sizeof *cases),
                         [](const ::testing::TestParamInfo<size_t> &i) { return std::string(cases[i.param].name + 4); });

TEST(MmaFragments, EveryElementHasOnePlace)
{
    for (const mma_case &c : cases)
        for (int which = 0; which < 4; which++) {
            const ref_mma_matrix m = (ref_mma_matrix)(which < 2 ? which : 2);
            const bool result = which == 3;
            std::set<std::tuple<int, int, int>> seen;
            const int n = ref_mma_registers(&c.shape, m, result) * ref_mma_per_register(&c.shape, m, result);
            for (int lane = 0; lane < 32; lane++)
                for (int i = 0; i < n; i++) {
                    int row, column, product;
                    ref_mma_place(&c.shape, m, result, lane, i, &row, &column, &product);
                    EXPECT_TRUE(row >= 0 && column >= 0 && row < (which == 1 ? c.shape.k : c.shape.m) && column < (which == 0 ? c.shape.k : c.shape.n)) << c.name;
                    EXPECT_TRUE(seen.insert({row, column, product}).second) << c.name << " matrix " << which << " " << row << "," << column;
                }
            const int products = c.shape.m == 8 && c.shape.a == REF_F16 ? 4 : 1;
            EXPECT_EQ(seen.size(), (size_t)(products * (which == 0 ? c.shape.m * c.shape.k : which == 1 ? c.shape.k * c.shape.n : c.shape.m * c.shape.n))) << c.name;
        }
}

} // namespace
