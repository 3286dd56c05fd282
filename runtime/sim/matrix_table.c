/* matrix_table.c - matrix instructions as shapes, and as rows for the decoder in the same order. */
#include "runtime/sim/matrix.h"

static const sim_matrix matrices[] = {
#define ROW(name, family, m, n, k, blocks, a, b, d, sparse, scaled, broadcast) {name, MATRIX_##family, m, n, k, blocks, a, b, d, sparse, scaled, broadcast}
#include "runtime/sim/matrix_list.h"
#undef ROW
};

enum { FIRST_MFMA = SIM_GFX9, FIRST_WMMA11 = SIM_GFX11, FIRST_WMMA12 = SIM_GFX12 };
#define C_TYPE(d) ((d) == M_F64 ? T_F64 : (d) == M_F32 ? T_F32 : (d) == M_F16 ? T_F16 : (d) == M_BF16 ? T_BF16 : T_B32)

const sim_op sim_matrix_ops[] = {
#define ROW(name, family, m, n, k, blocks, a, b, d, sparse, scaled, broadcast) \
    {name, sim_matrix_run, SIM_CLASS_MATRIX, {T_WIDE, T_WIDE, T_WIDE, C_TYPE(d), T_B32, T_B32}, 0, FIRST_##family, FIRST_##family}
#include "runtime/sim/matrix_list.h"
#undef ROW
    {0},
};

uint32_t sim_matrix_count(void) { return sizeof matrices / sizeof *matrices; }
const sim_matrix *sim_matrix_at(uint32_t index) { return &matrices[index]; }
const sim_matrix *sim_matrix_of(const sim_insn *i) { return &matrices[i->op - sim_matrix_ops]; }
