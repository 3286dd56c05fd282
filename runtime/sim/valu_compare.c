/* valu_compare.c - VOPC: v_cmp_<condition>_<type>, v_cmpx_…, v_cmp_class_….
 *
 * Bits of inactive lanes of the result are 0. On gfx9 v_cmpx writes its mask and EXEC, later EXEC alone, and then it has
 * no mask operand. Denormal sources are flushed by MODE, but not by class.
 */
#include "runtime/sim/valu.h"

/* ------------------------------------------------------------ results */

static void put_mask(sim_wave *w, const sim_insn *i, uint64_t mask)
{
    sim_write_mask(w, &i->operands[0], mask & valu_exec(w, i));
}

static void put_exec(sim_wave *w, const sim_insn *i, uint64_t mask)
{
    const uint64_t result = mask & valu_exec(w, i);
    if (w->target->generation == SIM_GFX9) sim_write_mask(w, &i->operands[0], result);
    w->sgpr[SIM_EXEC] = (uint32_t)result;
    if (w->lanes == 64) w->sgpr[SIM_EXEC + 1] = (uint32_t)(result >> 32);
}

/* ------------------------------------------------------------ classes */

static bool class_bits(bool negative, bool nan, bool quiet, bool infinite, bool normal, bool zero, uint32_t classes)
{
    uint32_t bit;
    if (nan) bit = quiet ? 1 : 0;
    else if (infinite) bit = negative ? 2 : 9;
    else if (normal) bit = negative ? 3 : 8;
    else if (!zero) bit = negative ? 4 : 7;
    else bit = negative ? 5 : 6;
    return classes >> bit & 1;
}

static bool class_of_f32(uint32_t a, uint32_t classes)
{
    const uint32_t m = a & 0x7fffffffu;
    return class_bits(a >> 31, m > 0x7f800000u, a & 0x00400000u, m == 0x7f800000u, m >= 0x00800000u, !m, classes);
}

static bool class_of_f64(uint64_t a, uint32_t classes)
{
    const uint64_t m = a & ~(1ull << 63);
    return class_bits(a >> 63, m > 0x7ffull << 52, a >> 51 & 1, m == 0x7ffull << 52, m >> 52, !m, classes);
}

static bool class_of_f16(uint32_t a, uint32_t classes)
{
    const uint32_t m = a & 0x7fffu;
    return class_bits(a >> 15, m > 0x7c00u, a & 0x200u, m == 0x7c00u, m >= 0x400u, !m, classes);
}

/* ------------------------------------------------------------ handlers */

/* The first source is operand 1, or 0 where there is no mask operand. */
#define COMPARE_BODY(A, B, condition)                                                                                 \
    const uint32_t first = i->noperands - 2;                                                                          \
    valu_lanes space0, space1;                                                                                        \
    const valu_source s0 = valu_get(w, i, first, 0, VK_##A, &space0), s1 = valu_get(w, i, first + 1, 1, VK_##B, &space1);     \
    uint8_t flags[SIM_LANES];                                                                                         \
    VALU_EACH_LANE { const VT_##A a = VL_##A(s0); const VT_##B b = VL_##B(s1); (void)a; (void)b; flags[l] = (condition); }     \
    const uint64_t mask = valu_mask(w, flags)

#define COMPARE(name, A, B, condition)                                                                                \
    static void cmp_##name(sim_wave *w, const sim_insn *i) { COMPARE_BODY(A, B, condition); put_mask(w, i, mask); }   \
    static void cmpx_##name(sim_wave *w, const sim_insn *i) { COMPARE_BODY(A, B, condition); put_exec(w, i, mask); }

/* X(suffix, type, condition) for all conditions of a float type; n… are true for NaN. */
#define FLOAT_CONDITIONS(X, t, T)                                                                                     \
    X(f_##t, T, false) X(lt_##t, T, a < b) X(eq_##t, T, a == b) X(le_##t, T, a <= b) X(gt_##t, T, a > b)              \
    X(lg_##t, T, a < b || a > b) X(ge_##t, T, a >= b) X(o_##t, T, a == a && b == b) X(u_##t, T, a != a || b != b)     \
    X(nge_##t, T, !(a >= b)) X(nlg_##t, T, !(a < b || a > b)) X(ngt_##t, T, !(a > b)) X(nle_##t, T, !(a <= b))        \
    X(neq_##t, T, !(a == b)) X(nlt_##t, T, !(a < b)) X(tru_##t, T, true) X(t_##t, T, true)
#define INT_CONDITIONS(X, t, T)                                                                                       \
    X(f_##t, T, false) X(lt_##t, T, a < b) X(eq_##t, T, a == b) X(le_##t, T, a <= b) X(gt_##t, T, a > b)              \
    X(ne_##t, T, a != b) X(ge_##t, T, a >= b) X(t_##t, T, true)
#define ALL_CONDITIONS(X)                                                                                             \
    FLOAT_CONDITIONS(X, f32, F32) FLOAT_CONDITIONS(X, f64, F64) FLOAT_CONDITIONS(X, f16, F16)                         \
    INT_CONDITIONS(X, i32, I32) INT_CONDITIONS(X, u32, U32) INT_CONDITIONS(X, i64, I64) INT_CONDITIONS(X, u64, U64)   \
    INT_CONDITIONS(X, i16, I16) INT_CONDITIONS(X, u16, U16)

#define X_HANDLER(name, T, condition) COMPARE(name, T, T, condition)
ALL_CONDITIONS(X_HANDLER)
COMPARE(class_f32, U32, U32, class_of_f32(a, b))
COMPARE(class_f64, U64, U32, class_of_f64(a, b))
COMPARE(class_f16, U16, U16, class_of_f16(a, b))

/* ------------------------------------------------------------ table */

#define COMPARE_ROWS(name, TA, TB)                                                                                    \
    { "v_cmp_" #name, cmp_##name, SIM_CLASS_VALU, { T_MASK, TA, TB }, 0, 0, 0 },                                      \
    { "v_cmpx_" #name, cmpx_##name, SIM_CLASS_VALU, { T_MASK, TA, TB }, 0, SIM_GFX9, SIM_GFX9 },                      \
    { "v_cmpx_" #name, cmpx_##name, SIM_CLASS_VALU, { TA, TB }, 0, SIM_GFX10, SIM_GFX12 },
#define X_ROWS(name, T, condition) COMPARE_ROWS(name, VR_##T, VR_##T)

const sim_op sim_valu_compare_ops[] = {
    ALL_CONDITIONS(X_ROWS)
    COMPARE_ROWS(class_f32, T_F32, T_B32)
    COMPARE_ROWS(class_f64, T_F64, T_B32)
    COMPARE_ROWS(class_f16, T_F16, T_B16)
    { 0 },
};
