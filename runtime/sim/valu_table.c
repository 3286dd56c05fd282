/* valu_table.c - the tables of vector ALU instructions, but compares and lane operations. */
#include "runtime/sim/valu.h"

#define M2(name, ...) void VALU_LEVEL(sim_run_##name)(sim_wave *w, const sim_insn *i);
#define M3(name, ...) M2(name, )
#define T32(name, ...) M2(name, )
#define T64(name, ...) M2(name, )
#define T16(name, ...) M2(name, )
#define S32(name, ...) M2(name, )
#define S16(name, ...) M2(name, )
#define P2(name, ...) M2(name, )
#define P3(name, ...) M2(name, )
#define P2A(name, ...) M2(name, )
#define PROW(name, ...) M2(name, )
#define MALIAS2(...)
#define MALIAS3(...)
#define VALU_LIST_NAMES
#include "runtime/sim/valu_list.h"
#include "runtime/sim/valu_int.def"
#include "runtime/sim/valu_arith.def"
#include "runtime/sim/valu_convert.def"
#include "runtime/sim/valu_dot.def"
#include "runtime/sim/valu_minmax.def"
#include "runtime/sim/valu_trans.def"
#include "runtime/sim/valu_packed.def"
#undef VALU_LIST_NAMES
#undef M2
#undef M3
#undef T32
#undef T64
#undef T16
#undef S32
#undef S16
#undef P2
#undef P3
#undef P2A
#undef PROW
#undef MALIAS2
#undef MALIAS3

#include "runtime/sim/valu_list.h"

#define M2(name, T, value, first, last) VALU_R(name, name, first, last, 0, VR_##T, VR_##T, VR_##T)
#define M3(name, T, value, first, last) VALU_R(name, name, first, last, VALU_KEEP_HALF, VR_##T, VR_##T, VR_##T, VR_##T)
#define MALIAS2(name, handler, T, first, last) VALU_R(name, handler, first, last, 0, VR_##T, VR_##T, VR_##T)
#define MALIAS3(name, handler, T, first, last) VALU_R(name, handler, first, last, 0, VR_##T, VR_##T, VR_##T, VR_##T)
#define T32(name, value, first, last) VALU_R(name, name, first, last, 0, T_F32, T_F32)
#define T64(name, value, first, last) VALU_R(name, name, first, last, 0, T_F64, T_F64)
#define T16(name, value, first, last) VALU_R(name, name, first, last, 0, T_F16, T_F16)
#define S32(name, value) VALU_R(name, name, SIM_GFX12, SIM_GFX12, 0, T_F32, T_F32)
#define S16(name, value) VALU_R(name, name, SIM_GFX12, SIM_GFX12, 0, T_F16, T_F16)

static const sim_op valu_ops[] = {
#include "runtime/sim/valu_int.def"
#include "runtime/sim/valu_arith.def"
#include "runtime/sim/valu_convert.def"
#include "runtime/sim/valu_minmax.def"
#include "runtime/sim/valu_trans.def"
    { 0 },
};

#define PT_U16 T_PK_B16
#define PT_I16 T_PK_B16
#define PT_F16 T_PK_F16
#define PT_H16 T_PK_F16
#define P2(name, T, value, first, last) VALU_R(name, name, first, last, 0, PT_##T, PT_##T, PT_##T)
#define P2A(name, T, value, first, last) P2(name, T, value, first, last)
#define P3(name, T, value, first, last) VALU_R(name, name, first, last, 0, PT_##T, PT_##T, PT_##T, PT_##T)
#define PROW(name, ...) VALU_R(name, name, 0, 0, 0, __VA_ARGS__)

static const sim_op packed_ops[] = {
#include "runtime/sim/valu_packed.def"
#include "runtime/sim/valu_dot.def"
    { 0 },
};

const sim_op *const sim_valu_tables[] = { valu_ops, sim_valu_compare_ops, packed_ops, sim_valu_lane_ops, sim_valu_scale_ops, NULL };
